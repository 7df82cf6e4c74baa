"""Steps of the group `figures`: an article's figures in its PDF, and which package figure each one is.

A step takes rows of tables and gives a `StepOutput`: this is what a worker process runs for one article, and what
`pmo article` and a notebook call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.figures.extraction import FigureOptions, extract_figures
from pmo_assets.pipeline.figures.matched import matched_figures
from pmo_assets.pipeline.figures.matching import match_figures
from pmo_assets.pipeline.figures.pictures import decoded, png_bytes
from pmo_assets.records.article import PackageFigure
from pmo_assets.records.figure import PdfFigure
from pmo_assets.records.outcome import StepOutput
from pmo_assets.records.rejections import ArticleError, rejection_from
from pmo_assets.records.stores import ObjectStore, Picture, PixelStore
from pmo_assets.tables.rows import record_of


class FigureNotLocated(ArticleError):
    """A figure that the XML lists was not found in the PDF."""


def locate_pdf_figures(
    article: Mapping[str, Any],
    package_figures: Sequence[Mapping[str, Any]],
    objects: ObjectStore,
    figure_pixels: PixelStore,
    figure_options: FigureOptions,
) -> StepOutput:
    """Find the article's figures in its PDF and render them: rows of `pdf_figures`, pictures in `figure_pixels`.

    Args:
        article: row of `articles` with `pdf`.
        package_figures: its rows of `package_figures`; empty without XML.
        objects: where the PDF and the package's pictures are.
        figure_pixels: where the renderings go, under pdf_figure_id.
        figure_options: limits and resolution.
    """
    article_id = article["article_id"]
    pictures: list[Picture] = []

    def receive(figure: PdfFigure, image: NDArray[np.uint8]) -> None:
        pictures.append(Picture(figure.pdf_figure_id, figure.width, figure.height, png_bytes(image)))

    # Each figure is encoded as soon as it is rendered: all of an article's pixels together can take gigabytes.
    known = [record_of(PackageFigure, row) for row in package_figures]
    files = {row["image_cluster_id"]: row["file"] for row in package_figures if row["file"] is not None}

    def package_image(image_cluster_id: str) -> bytes | None:
        return objects.get(files[image_cluster_id]) if image_cluster_id in files else None

    extraction = extract_figures(objects.get(article["pdf"]), known, figure_options, receive, package_image)
    output = StepOutput()
    for ordinal, figure in enumerate(extraction.figures):
        output.rows.append({"article_id": article_id, "ordinal": ordinal, **asdict(figure)})
    figure_pixels.write(article_id, pictures)
    for miss in extraction.misses:
        reason = FigureNotLocated(f"{miss.label or miss.image_cluster_id}: {miss.reason}")
        output.rejections.append(
            rejection_from(reason, stage="pdf_figures", article_id=article_id, image_cluster_id=miss.image_cluster_id)
        )
    return output


def match_article_figures(
    article_id: int,
    pdf_figures: Sequence[Mapping[str, Any]],
    package_figures: Sequence[Mapping[str, Any]],
    objects: ObjectStore,
    figure_pixels: PixelStore,
) -> StepOutput:
    """Match an article's PDF figures to its package figures: rows of `figure_matches`.

    Args:
        article_id: PMC number.
        pdf_figures: its rows of `pdf_figures`.
        package_figures: its rows of `package_figures`.
        objects: where the package pictures are.
        figure_pixels: where the renderings are.
    """
    if not package_figures:
        return StepOutput()
    figures = [record_of(PdfFigure, row) for row in pdf_figures]
    pictures = figure_pixels.read(article_id)
    renderings = {
        figure.pdf_figure_id: decoded(pictures.get(figure.pdf_figure_id), figure.pdf_figure_id) for figure in figures
    }
    jpegs = {row["image_cluster_id"]: objects.get(row["file"]) for row in package_figures if row["file"] is not None}
    matches = match_figures(figures, renderings, [record_of(PackageFigure, row) for row in package_figures], jpegs)
    return StepOutput(rows=[{"article_id": article_id, **asdict(match)} for match in matches])


def join_article_figures(
    pdf_figures: Sequence[Mapping[str, Any]],
    figure_matches: Sequence[Mapping[str, Any]],
    package_figures: Sequence[Mapping[str, Any]],
) -> StepOutput:
    """Join an article's PDF figures with the package figures they were matched to: rows of `figures`."""
    return StepOutput(matched_figures(pdf_figures, figure_matches, package_figures))
