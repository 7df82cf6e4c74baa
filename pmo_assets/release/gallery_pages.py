"""The gallery of a release: which figures it shows, read from the tables."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from pmo_assets import __version__
from pmo_assets.pipeline.articles.relevance import Specialty
from pmo_assets.pipeline.dataset.licensing import withheld
from pmo_assets.records.figure import PageBox, PageSize
from pmo_assets.records.geometry import as_box
from pmo_assets.release.releases import current_rows
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.pixels import ParquetPixels
from pmo_assets.storage.tables import Tables
from pmo_assets.viewing.gallery import GalleryFigure, GalleryImage, GalleryPanel, write_gallery_folder
from pmo_assets.viewing.gallery.writing import FILES

GALLERY_FOLDER = "release/gallery"
GALLERY_KEY = f"{GALLERY_FOLDER}/index.html"

PMC_ARTICLE = "https://pmc.ncbi.nlm.nih.gov/articles/PMC"


def pdf_url(article_url: str | None) -> str | None:
    """Return the address of an article's PDF; PMC's articles have one, a DOI leads to the publisher's page only."""
    return f"{article_url}pdf/" if article_url is not None and article_url.startswith(PMC_ARTICLE) else None


def gallery_panel(row: Mapping[str, Any], confidence: float | None, forbidden: bool) -> GalleryPanel:
    """Return a dataset row as the gallery's record.

    Args:
        row: of `dataset_rows`.
        confidence: of the panel's subcaption, 0..1.
        forbidden: its licence forbids to show text and pixels.
    """
    position = json.loads(row["position"])
    images = []
    for image in json.loads(row["image_data"]):
        kind, mark = image["imaging_type"], image["mark_status"]["label"]
        images.append(
            GalleryImage(
                box=tuple(image["position"]["predicted_box"]),
                image_type=kind["label"][0] if kind["label"] else None,
                type_score=kind["prediction_score"][0] if kind["prediction_score"] else None,
                marked=None if mark is None else mark == "Marked",
            )
        )
    return GalleryPanel(
        panel_id=row["panel_id"],
        name=None if row["panel_name"] == "None" else row["panel_name"],
        box=tuple(position["predicted_box"]),
        content_box=tuple(position["content_box"]),
        score=position["prediction_score"],
        identifier_boxes=tuple(tuple(i["position"]["predicted_box"]) for i in json.loads(row["identifier_data"])),
        images=tuple(images),
        subcaption=None if forbidden else row["subcaption_text"],
        segments=() if forbidden else tuple((start, end) for start, end in row["subcaption_segments"]),
        assembly=row["assembly"],
        redistributable=not forbidden,
        confidence=confidence,
    )


def _page_boxes(places: Sequence[Mapping[str, Any]]) -> tuple[PageBox, ...]:
    return tuple(PageBox(place["page"], as_box(place["bbox"])) for place in places)


def gallery_figures(
    data_root: DataRoot, tables: Tables, current: Mapping[str, Sequence[int]]
) -> Iterator[GalleryFigure]:
    """Yield every figure of the release with its panels, those of an article in a row.

    Args:
        data_root: where pictures are.
        tables: the tables below it.
        current: see `releases.select_articles`.
    """
    for batch, ids in current.items():
        rows = current_rows(tables, batch, ids)
        figures = {
            (r["article_id"], r["image_cluster_id"]): r for r in tables.read("figures", batch).iter_rows(named=True)
        }
        named = tables.read("articles", batch).select("article_id", pl.coalesce("title", "name"))
        titles = dict(named.iter_rows())
        sure = {
            panel: (confidence, caption)
            for panel, confidence, caption in tables.read("panels", batch)
            .select("panel_id", "confidence", "caption_confidence")
            .iter_rows()
        }
        pixels = ParquetPixels(data_root, "figures", batch)
        read: tuple[int, Mapping[str, Any]] = (0, {})
        for key, part in rows.group_by("article_id", "image_cluster_id", maintain_order=True):
            article_id, cluster = int(str(key[0])), str(key[1])
            figure = figures[article_id, cluster]
            first = part.row(0, named=True)
            forbidden = withheld(first["license"])
            if read[0] != article_id:
                read = article_id, {} if forbidden else pixels.read(article_id)
            picture = read[1].get(figure["pdf_figure_id"])
            yield GalleryFigure(
                article_id=article_id,
                article_title=titles[article_id],
                article_url=first["article_url"],
                image_cluster_id=cluster,
                label=figure["label"] or "",
                caption="" if forbidden else figure["caption"],
                license=first["license"],
                commercial_use=first["commercial_use"],
                attribution=first["attribution"],
                is_multi_page=figure["is_multi_page"],
                image=picture.png if picture is not None else b"",
                width=figure["width"],
                height=figure["height"],
                panels=tuple(
                    gallery_panel(row, sure.get(row["panel_id"], (None, None))[0], forbidden)
                    for row in part.iter_rows(named=True)
                ),
                doi=first["doi"],
                journal=first["journal"],
                year=first["year"],
                caption_confidence=sure.get(first["panel_id"], (None, None))[1],
                page_boxes=_page_boxes(figure["locations"]),
                caption_boxes=_page_boxes(figure["caption_locations"]),
                page_sizes=tuple(
                    PageSize(size["page"], size["width"], size["height"]) for size in figure["page_sizes"]
                ),
                pdf_url=pdf_url(first["article_url"]),
            )


def write_gallery(
    data_root: DataRoot, tables: Tables, current: Mapping[str, Sequence[int]], *, specialty: Specialty
) -> str:
    """Write the gallery of the release and return the key of its page.

    Files of an earlier gallery that this one has not are removed.

    Args:
        data_root: where tables, pictures and the release are.
        tables: the tables below it.
        current: see `releases.select_articles`.
        specialty: what the dataset is about, for the header.
    """
    names = f"{GALLERY_FOLDER}/{FILES}"
    before = data_root.read(names).decode().splitlines() if data_root.exists(names) else []
    written = write_gallery_folder(
        gallery_figures(data_root, tables, current),
        lambda name, content: data_root.write(f"{GALLERY_FOLDER}/{name}", content),
        title=f"{specialty.title} gallery",
        facts={"pmo-assets": __version__},
    )
    for name in sorted(set(before) - set(written.files)):
        data_root.delete(f"{GALLERY_FOLDER}/{name}")
    return GALLERY_KEY
