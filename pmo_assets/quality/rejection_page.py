"""The page of a batch's rejections: what it shows, read from the tables and the pictures of the batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from pmo_assets.pipeline.articles.credit import article_url, pmc_number
from pmo_assets.records.packages import article_words
from pmo_assets.records.stores import ObjectStore, PixelStore, StorageError
from pmo_assets.release.keys import rejection_page_key
from pmo_assets.release.reports import NOT_SHOWN, QUOTING_STAGES, forbidden_articles
from pmo_assets.storage.tables import Tables
from pmo_assets.viewing.overlays import thumbnail
from pmo_assets.viewing.rejections import ShownRejection, rejections_page

MAX_SHOWN: Final = 1_000
"""Rejections on a page: a batch holds about 200 articles; one with more has one cause, which the first ones tell."""

MAX_PICTURES: Final = 100
"""Pictures on a page, at about 15 kB."""

PICTURE_SIDE: Final = 380
"""Longest side in pixels: twice what the page shows."""


@dataclass(frozen=True)
class _Known:
    """Facts about a batch's articles and figures, from its tables."""

    articles: Mapping[int, Mapping[str, Any]]
    labels: Mapping[tuple[int, str], str]
    located: Mapping[tuple[int, str], str]
    files: Mapping[tuple[int, str], str]


def _known(tables: Tables, batch: str) -> _Known:
    def rows(asset: str, *columns: str) -> Iterator[dict[str, Any]]:
        if tables.exists(asset, batch):
            yield from tables.read(asset, batch, columns).iter_rows(named=True)

    articles = {row["article_id"]: {**row, "pmcid": None} for row in rows("article_batch", "article_id", "doi")}
    articles |= {row["article_id"]: row for row in rows("articles", "article_id", "pmcid", "doi")}
    labels, located, files = {}, {}, {}
    for row in rows("package_figures", "article_id", "image_cluster_id", "label", "file"):
        key = (row["article_id"], row["image_cluster_id"])
        labels[key] = row["label"]
        if row["file"]:
            files[key] = row["file"]
    for row in rows("figures", "article_id", "image_cluster_id", "label", "pdf_figure_id"):
        key = (row["article_id"], row["image_cluster_id"])
        labels[key] = row["label"] or labels.get(key, "")
        located[key] = row["pdf_figure_id"]
    return _Known(articles, labels, located, files)


def _picture(key: tuple[int, str], known: _Known, pixels: PixelStore, objects: ObjectStore) -> bytes | None:
    """Return a small picture of a figure: as it was found in the PDF, else as the package has it; None without."""
    try:
        if key in known.located:
            stored = pixels.read(key[0]).get(known.located[key])
            return thumbnail(stored.png, PICTURE_SIDE) if stored is not None else None
        return thumbnail(objects.get(known.files[key]), PICTURE_SIDE) if key in known.files else None
    except (ValueError, StorageError):  # what cannot be decoded may be why it was rejected
        return None


def _shown(
    rejections: pl.DataFrame, known: _Known, forbidden: Set[int], pixels: PixelStore, objects: ObjectStore
) -> Iterator[ShownRejection]:
    pictures: dict[tuple[int, str], bytes | None] = {}
    for number, row in enumerate(rejections.head(MAX_SHOWN).iter_rows(named=True), start=1):
        article_id, cluster = row["article_id"], row["image_cluster_id"]
        article = known.articles.get(article_id, {})
        key = (article_id, cluster)
        hidden = article_id in forbidden
        if cluster is not None and not hidden and key not in pictures and len(pictures) < MAX_PICTURES:
            pictures[key] = _picture(key, known, pixels, objects)
        yield ShownRejection(
            anchor=rejection_anchor(number),
            stage=row["stage"],
            article=article_words(article_id, row["package"]),
            article_url=article_url(pmc_number(article_id, article.get("pmcid")), article.get("doi")),
            figure=" · ".join(dict.fromkeys(part for part in (known.labels.get(key), cluster) if part)),
            error_class=row["error_class"],
            message=NOT_SHOWN if hidden and row["stage"] in QUOTING_STAGES else row["message"],
            traceback="" if hidden else row["traceback_tail"],
            picture=pictures.get(key),
        )


def rejection_anchor(number: int) -> str:
    """Return where on its page the rejection is that comes as `number` (from 1) in the table."""
    return f"r{number}"


def write_rejection_page(
    tables: Tables,
    batch: str,
    rejections: pl.DataFrame,
    *,
    pixels: PixelStore,
    objects: ObjectStore,
    noncommercial: bool,
) -> str:
    """Write the page of a batch's rejections and return its key.

    Text and pictures that may not be passed on are not on it: it may lie on a public host.

    Args:
        tables: the tables below the data root.
        batch: key of the batch.
        rejections: of its stages, in their order (table `rejections`).
        pixels: pictures of its figures.
        objects: pictures of the packages.
        noncommercial: see `release_summary`.
    """
    forbidden = (
        forbidden_articles(tables, batch, noncommercial=noncommercial) if tables.exists("articles", batch) else set()
    )
    articles = rejections.filter(pl.col("image_cluster_id").is_null())["article_id"].n_unique()
    left = rejections.height - MAX_SHOWN
    page = rejections_page(
        f"Rejections of batch {batch}",
        _shown(rejections, _known(tables, batch), forbidden, pixels, objects),
        lead="What could not be processed, and why."
        if rejections.height
        else "Nothing was rejected: every article and figure could be processed.",
        facts=(
            ("rejections", f"{rejections.height:,}"),
            ("articles as a whole", f"{articles:,}"),
            ("of articles", f"{rejections['article_id'].n_unique():,}"),
        ),
        note=f"{left:,} more are in the table {tables.key('rejections', batch)}." if left > 0 else "",
    )
    key = rejection_page_key(batch)
    tables.data_root.write(key, page.encode())
    return key
