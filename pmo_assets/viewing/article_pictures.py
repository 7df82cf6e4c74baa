"""Pictures of what was found in one article: a file per figure, and a page that shows them all.

In a notebook, with the result of `pipeline.article.process_article` and the pixel store that it was given:

    write_article_pictures(Path("pictures"), result, pixels.read(result.article["article_id"]))
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

from markupsafe import Markup
from PIL import Image

from pmo_assets.pictures import decoded
from pmo_assets.records.figure_names import figure_file_name, figure_words
from pmo_assets.records.geometry import as_box
from pmo_assets.records.regions import PanelRegions
from pmo_assets.records.stores import Picture
from pmo_assets.system.aside import write_bytes, write_text
from pmo_assets.tables.regions import regions_by_panel
from pmo_assets.viewing.comparisons import stacked
from pmo_assets.viewing.markup import asset_text, page_templates
from pmo_assets.viewing.overlays import Pixels, draw_detections, draw_legend
from pmo_assets.viewing.region_overlays import MarkedPanel, region_picture

INDEX: Final = "index.html"

MAX_SIDE: Final = 1400


class FoundArticle(Protocol):
    """What the pipeline found in an article: `pipeline.article.ArticleResult`, whose attributes say more."""

    @property
    def article(self) -> Mapping[str, Any]:
        """Row of `articles`."""
        ...

    @property
    def figures(self) -> Sequence[Mapping[str, Any]]:
        """Rows of `figures`."""
        ...

    @property
    def assembled(self) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """Rows of `panel_assembly` by figure."""
        ...

    @property
    def tables(self) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """Rows by table."""
        ...


@dataclass(frozen=True, slots=True)
class FigurePicture:
    """A figure with what was found in it.

    Attributes:
        name: of a file, without suffix: "p3-1" for the first figure on page 3.
        title: for people: "Figure 2".
        panels: number of its panels.
        regions: number of boxes that marks or phrases show in them.
        detections: panels, identifiers and images; (height, width, 3) uint8, RGB.
        regions_picture: marks, regions and the words about them; None where there are none.
    """

    name: str
    title: str
    panels: int
    regions: int
    detections: Pixels
    regions_picture: Pixels | None


def marked_panels(
    panels: Sequence[Mapping[str, Any]], tables: Mapping[str, Sequence[Mapping[str, Any]]]
) -> list[MarkedPanel]:
    """Return panels with their marks, phrases, regions, and the texts that phrases stand in.

    Args:
        panels: rows of `reviewed_panels` or `panel_assembly`, of one figure or more.
        tables: rows of `marks`, `region_phrases`, `regions` and `panel_summaries`; one that was not made is empty.
    """
    regions = regions_by_panel(tables)
    mentions = {_key(row): [cell["text"] for cell in row["mentions"]] for row in tables.get("panel_summaries", ())}
    return [
        MarkedPanel(
            regions.get(_key(row), PanelRegions()),
            row["identifier"],
            (row["subcaption"] or "", *mentions.get(_key(row), ())),
        )
        for row in panels
    ]


def _key(row: Mapping[str, Any]) -> tuple[int, str, int]:
    return row["article_id"], row["image_cluster_id"], row["ordinal"]


def article_pictures(result: FoundArticle, pictures: Mapping[str, Picture]) -> Iterator[FigurePicture]:
    """Yield a picture of every figure of an article.

    Args:
        result: of the pipeline.
        pictures: renderings of the figures, by `pdf_figure_id`.

    Raises:
        PictureUnreadable: if a rendering is missing or damaged.
    """
    for figure in result.figures:
        key = figure["pdf_figure_id"]
        pixels = decoded(pictures.get(key), key)
        rows = result.assembled.get(figure["image_cluster_id"], [])
        panels = marked_panels(rows, result.tables)
        drawn = draw_detections(
            pixels,
            panels=[(as_box(row["content_box"]), row["identifier"]) for row in rows],
            identifiers=[(as_box(item["box"]), item["text"]) for row in rows for item in row["printed_identifiers"]],
            images=[
                (as_box(item["box"]), item["image_type"], item["marked"]) for row in rows for item in row["images"]
            ],
            max_side=MAX_SIDE,
        )
        yield FigurePicture(
            figure_file_name(key),
            figure_words(figure),
            len(rows),
            sum(len(panel.found.regions) for panel in panels),
            stacked([drawn, draw_legend(max(480, drawn.shape[1]))], gap=6),
            region_picture(pixels, panels, max_side=MAX_SIDE),
        )


def write_article_pictures(folder: Path, result: FoundArticle, pictures: Mapping[str, Picture]) -> Path:
    """Write a PNG per figure and a page that shows them, and return the page's path.

    A PNG shows panels, identifiers and images, and below, where there are any, marks, regions and the words about
    them.

    Args:
        folder: is made if it is not there; files of the same names are replaced.
        result: of the pipeline.
        pictures: renderings of the figures, by `pdf_figure_id`.

    Raises:
        OSError: if they cannot be written.
        PictureUnreadable: if a rendering is missing or damaged.
    """
    shown: list[dict[str, Any]] = []
    for figure in article_pictures(result, pictures):
        parts = [figure.detections] if figure.regions_picture is None else [figure.detections, figure.regions_picture]
        picture = Image.fromarray(stacked(parts, gap=24))
        buffer = io.BytesIO()
        picture.save(buffer, "PNG")
        write_bytes(folder / f"{figure.name}.png", buffer.getvalue(), durable=False)
        shown.append({"figure": figure, "width": picture.width, "height": picture.height})
    article = result.article
    page = page_templates().get_template("article_pictures.html.j2").render(
        title=article.get("title") or article["package"],
        figures=shown,
        styles=Markup(asset_text("page.css") + asset_text("article_pictures.css")),
    )  # fmt: skip
    write_text(folder / INDEX, page, durable=False)
    return folder / INDEX
