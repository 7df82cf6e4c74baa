"""The pages of a release: what the gallery and the report show, read from the tables."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from itertools import chain
from typing import Any

import polars as pl

from pmo_assets import __version__
from pmo_assets.pipeline.articles.relevance import Specialty
from pmo_assets.pipeline.dataset.licensing import withheld
from pmo_assets.records.packages import REGISTRATION_STAGE
from pmo_assets.release.selection import Selection, current_rows
from pmo_assets.release.statistics import BATCH_TABLES, NONE_STATED, UNDECIDED, ReleaseStatistics
from pmo_assets.release.statistics_views import (
    COMPARED_HEADER,
    LICENCE_HEADER,
    SPREAD_HEADER,
    TYPE_NAMES,
    compared,
    compared_cells,
    drops,
    journal_cells,
    licence_cells,
    parts_text,
    picture_cells,
    year_counts,
)
from pmo_assets.release.waterfall import Waterfall
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.pixels import ParquetPixels
from pmo_assets.storage.tables import Tables
from pmo_assets.tables.dataset import DatasetRows
from pmo_assets.tables.schemas import empty_table
from pmo_assets.viewing.gallery import GalleryFigure, GalleryImage, GalleryPanel, render_gallery
from pmo_assets.viewing.overlays import thumbnail
from pmo_assets.viewing.palette import image_type_colour
from pmo_assets.viewing.plots import Bar, share_text
from pmo_assets.viewing.report import BarGroup, Headline, RejectionReason, ReportSummary, Way, render_report
from pmo_assets.viewing.report import Table as PageTable

GALLERY_KEY = "release/gallery.html"
REPORT_KEY = "release/report.html"

THUMBNAIL_SIDE = 640
"""Longer side of a figure in the gallery, in pixels: readable, and some 40 kB each."""


def _gallery_panel(row: Mapping[str, Any], forbidden: bool) -> GalleryPanel:
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
    )


def _gallery_figures(
    data_root: DataRoot, tables: Tables, current: Mapping[str, Sequence[int]], keep: int
) -> Iterator[GalleryFigure]:
    """Yield every `keep`-th figure of the release with its panels."""
    count = 0
    for batch, ids in current.items():
        rows = current_rows(tables, batch, ids)
        figures = {
            (r["article_id"], r["image_cluster_id"]): r for r in tables.read("figures", batch).iter_rows(named=True)
        }
        named = tables.read("articles", batch).select("article_id", pl.coalesce("title", "name"))
        titles = dict(named.iter_rows())
        pixels = ParquetPixels(data_root, "figures", batch)
        for key, part in rows.group_by("article_id", "image_cluster_id", maintain_order=True):
            count += 1
            if (count - 1) % keep:
                continue
            article_id, cluster = int(str(key[0])), str(key[1])
            figure = figures[article_id, cluster]
            first = part.row(0, named=True)
            forbidden = withheld(first["license"])
            stored = {} if forbidden else pixels.read(article_id)
            picture = stored.get(figure["pdf_figure_id"])
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
                image=thumbnail(picture.png, THUMBNAIL_SIDE) if picture is not None else b"",
                width=figure["width"],
                height=figure["height"],
                panels=tuple(_gallery_panel(row, forbidden) for row in part.iter_rows(named=True)),
            )


def write_gallery(
    data_root: DataRoot, tables: Tables, current: Mapping[str, Sequence[int]], *, specialty: Specialty, max_panels: int
) -> str:
    """Write the gallery of the release and return its key; a large release is sampled evenly.

    Args:
        data_root: where tables, pictures and the release are.
        tables: the tables below it.
        current: see `releases.select_articles`.
        specialty: what the dataset is about, for the header.
        max_panels: about how many panels the page may show.
    """
    rows = pl.concat(
        [
            empty_table(DatasetRows),
            *(current_rows(tables, batch, ids) for batch, ids in current.items()),
        ]
    )
    keep = max(1, -(-rows.height // max_panels))
    figures = rows.select("article_id", "image_cluster_id").n_unique()
    facts = {
        "articles": f"{rows['article_id'].n_unique():,}",
        "figures": f"{figures:,}",
        "panels": f"{rows.height:,}",
        "licences": ", ".join(rows["license"].fill_null("none stated").unique().sort()),
        "pmo-assets": __version__,
    }
    notes = f"Every {keep}th figure of the release is shown." if keep > 1 else ""
    page = render_gallery(
        _gallery_figures(data_root, tables, current, keep), title=f"{specialty.title} gallery", facts=facts, notes=notes
    )
    data_root.write(GALLERY_KEY, page.encode())
    return GALLERY_KEY


def _bars(counts: Mapping[str, int], *, colours: Callable[[str], str] | None = None) -> tuple[Bar, ...]:
    return tuple(Bar(label, count, colour=colours(label) if colours else None) for label, count in counts.items())


def release_summary(
    tables: Tables,
    selection: Selection,
    statistics: ReleaseStatistics,
    *,
    stages: Sequence[str],
    specialty: Specialty,
) -> ReportSummary:
    """Return what the report says: where things were lost, numbers beside the paper's, composition, rejections.

    Args:
        tables: the tables below the data root.
        selection: see `selection.select_articles`.
        statistics: of the release that it makes.
        stages: assets whose rejections count, in order; those of the registration come before them.
        specialty: what the dataset is about, for the header.
    """
    made, out = statistics.processed, statistics.released
    reasons = _reasons(tables, selection, stages)
    years = year_counts(statistics)
    contains = {TYPE_NAMES[column]: count for column, count in out.contains.items()}
    groups = (
        BarGroup("Panels by what they hold", tuple(
            Bar(f"with {name}", count, share_text(count, out.panels)) for name, count in contains.items()
        ), "A panel may hold images of several types.", shares=False),
        BarGroup("Licences of the panels", tuple(
            Bar(item.code or NONE_STATED, item.panels, "commercial use allowed" if item.commercial_use else "")
            for item in out.licences
        )),
        BarGroup("How the panels' subcaptions were assigned", _bars(out.methods)),
        BarGroup("How sure rules are of subcaptions", _bars(made.sureness), "Of all panels, also those left out."),
        BarGroup("Articles by year", _bars(years), histogram=True),
        BarGroup("Articles by journal", tuple(Bar(*cells) for cells in journal_cells(statistics))),
        BarGroup("Splits", tuple(
            Bar(item.name, item.panels, f"panels of {item.articles:,} articles") for item in out.splits
        )),
        BarGroup("Images found, by type", _bars(made.image_types, colours=_type_colour)),
        BarGroup("Images found, by mark status", _bars(made.marks)),
    )  # fmt: skip
    withheld_panels = sum(item.panels for item in out.licences if withheld(item.code))
    return ReportSummary(
        title=f"{specialty.title} report",
        lead=f"What became of {made.articles:,} articles in {len(statistics.batches):,} batches.",
        facts=(("specialty", specialty.name), ("pmo-assets", __version__)),
        headlines=(
            Headline("panels", out.panels, f"{withheld_panels:,} of them without picture and text for their licence"),
            Headline("figures", out.figures, f"of {made.figures:,} that were found"),
            Headline("articles", out.articles, f"of {made.articles:,} that were looked at"),
            Headline("words per subcaption", out.words.median, f"median; {out.words.mean:.1f} on average"),
            Headline("pixels per panel", out.pixels.median, f"median; {out.width.median:.0f} wide"),
            Headline("rejections", sum(reason.count for reason in reasons)),
        ),
        ways=tuple(report_way(way) for way in statistics.waterfalls),
        compared=PageTable(
            "Beside the paper's dataset",
            COMPARED_HEADER,
            tuple(compared_cells(line) for line in compared(statistics)),
            "Hallitschke, Eickhoff and Berens, arXiv:2605.02720.",
        ),
        groups=tuple(group for group in groups if group.bars),
        rejections=reasons,
        tables=tuple(
            table
            for table in (
                PageTable("Licences and commercial use", LICENCE_HEADER, tuple(licence_cells(statistics))),
                PageTable("Pictures, words, confidence", SPREAD_HEADER, tuple(picture_cells(statistics))),
                batch_table(statistics),
                duplicates_table(selection),
            )
            if table.rows
        ),
    )


def _type_colour(image_type: str) -> str:
    return image_type_colour(None if image_type == UNDECIDED else image_type)


def report_way(way: Waterfall) -> Way:
    """Return a waterfall as the report draws it."""
    return Way(
        title=way.unit.capitalize(),
        start=(f"{way.unit} that came in", way.came_in),
        drops=drops(way),
        end=f"{way.unit} in the release",
        note=parts_text(way),
    )


def duplicates_table(selection: Selection) -> PageTable:
    """Return the packages that are not published because another one is the same article, for a page."""
    rows = tuple(
        (
            row["name"],
            row["duplicate_of_name"] + (" (retracted)" if row["is_retracted"] else ""),
            row["identifier"],
            row["value"]
            if row["shared_with"] == row["duplicate_of_name"]
            else f"{row['value']} ({row['shared_with']})",
        )
        for row in selection.listing().iter_rows(named=True)
    )
    return PageTable("Duplicates", ("package", "the same article as", "by", "shared"), rows)


QUOTING_STAGES = ("subcaptions",)
"""Stages whose messages quote captions; those of articles that may not be passed on are not shown on the page."""

NOT_SHOWN = "not shown: it quotes an article that may not be passed on"


def _reasons(
    tables: Tables, selection: Selection, stages: Sequence[str], examples: int = 5
) -> tuple[RejectionReason, ...]:
    """Return the rejections by stage and error with examples, without text that may not be passed on."""
    counts: dict[tuple[str, str], int] = {}
    shown: dict[tuple[str, str], list[str]] = {}
    registered = tables.registration_rejections()
    parts = chain([(None, registered)], ((batch, tables.read_rejections(stages, batch)) for batch in selection.current))
    for batch, rejections in parts:
        forbidden = _forbidden(tables, batch) if batch is not None and rejections.height else set()
        for row in rejections.iter_rows(named=True):
            key = (row["stage"], row["error_class"])
            counts[key] = counts.get(key, 0) + 1
            if len(lines := shown.setdefault(key, [])) < examples:
                quoting = row["stage"] in QUOTING_STAGES and row["article_id"] in forbidden
                figure = f" {row['image_cluster_id']}" if row["image_cluster_id"] else ""
                lines.append(f"{row['article_id']}{figure}: {NOT_SHOWN if quoting else row['message']}")
    order = {stage: place for place, stage in enumerate((REGISTRATION_STAGE, *stages))}
    return tuple(
        RejectionReason(*key, counts[key], tuple(shown[key]))
        for key in sorted(counts, key=lambda key: (order.get(key[0], len(order)), key))
    )


def _forbidden(tables: Tables, batch: str) -> Set[int]:
    """Return the articles of a batch whose text may not be passed on."""
    codes = tables.read("articles", batch, ("article_id", "license_code")).iter_rows()
    return {article for article, code in codes if withheld(code)}


def batch_table(statistics: ReleaseStatistics) -> PageTable:
    """Return how many rows each batch has, for a page."""
    rows = tuple((batch, *counts) for batch, counts in statistics.batches.items())
    return PageTable("Batches", ("batch", *(name.replace("_", " ") for name in BATCH_TABLES)), rows)


def write_report(
    data_root: DataRoot,
    tables: Tables,
    selection: Selection,
    statistics: ReleaseStatistics,
    *,
    stages: Sequence[str],
    specialty: Specialty,
) -> str:
    """Write the HTML report and return its key; arguments as for `release_summary`."""
    summary = release_summary(tables, selection, statistics, stages=stages, specialty=specialty)
    data_root.write(REPORT_KEY, render_report(summary).encode())
    return REPORT_KEY
