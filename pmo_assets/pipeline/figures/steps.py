"""Steps of the group `figures`: an article's figures in its PDF, and which package figure each one is.

A step takes rows of tables and gives a `StepOutput`. A worker process runs it for one article; `pmo article` and a
notebook call it, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pmo_assets.pictures import decoded, png_bytes
from pmo_assets.pipeline.figures.extraction import FigureOptions, extract_figures
from pmo_assets.pipeline.figures.matched import matched_figures
from pmo_assets.pipeline.figures.matching import match_figures
from pmo_assets.records.article import PackageFigure
from pmo_assets.records.figure import PdfFigure
from pmo_assets.records.rejections import ArticleError, rejection_from
from pmo_assets.records.step_output import StepOutput
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
        objects: store of the PDF and the package's pictures.
        figure_pixels: store that the renderings go into, under pdf_figure_id.
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
            rejection_from(reason, stage="pdf_figures", unit_id=article_id, part=miss.image_cluster_id)
        )
    return output


class FigureNotMatched(ArticleError):
    """A figure of the PDF bears the number of one that the XML lists, and is not that one."""


class FigureUnconfirmed(ArticleError):
    """A figure of a PDF that is not certain to be the XML's article, and is none that the XML lists."""


def match_article_figures(
    article: Mapping[str, Any],
    pdf_figures: Sequence[Mapping[str, Any]],
    package_figures: Sequence[Mapping[str, Any]],
    objects: ObjectStore,
    figure_pixels: PixelStore,
) -> StepOutput:
    """Match an article's PDF figures to its package figures: rows of `figure_matches`.

    A package figure that was located, and in the end is none of the figures found, is rejected: it has no other row.

    Args:
        article: row of `articles`.
        pdf_figures: its rows of `pdf_figures`.
        package_figures: its rows of `package_figures`.
        objects: store of the package pictures.
        figure_pixels: store of the renderings.
    """
    article_id = article["article_id"]
    if not package_figures:
        return StepOutput()
    figures = [record_of(PdfFigure, row) for row in pdf_figures]
    pictures = figure_pixels.read(article_id)
    renderings = {
        figure.pdf_figure_id: decoded(pictures.get(figure.pdf_figure_id), figure.pdf_figure_id) for figure in figures
    }
    jpegs = {row["image_cluster_id"]: objects.get(row["file"]) for row in package_figures if row["file"] is not None}
    packaged = [record_of(PackageFigure, row) for row in package_figures]
    shares_text = "text" in article["identity_evidence"]
    matches = match_figures(figures, renderings, packaged, jpegs, shares_text=shares_text)
    output = StepOutput(rows=[{"article_id": article_id, **asdict(match)} for match in matches])
    lost = {figure.image_cluster_id for figure in figures} - {m.image_cluster_id for m in matches if m.accepted}
    for package in packaged:
        if package.image_cluster_id in lost:
            reason = FigureNotMatched(
                f"{package.label or package.image_cluster_id}: what the PDF shows under this label has neither its "
                "picture nor its caption; if it is the same figure, put its picture into the package"
            )
            output.rejections.append(
                rejection_from(
                    reason,
                    stage="figure_matches",
                    unit_id=article_id,
                    part=package.image_cluster_id,
                )
            )
    return output


def join_article_figures(
    article: Mapping[str, Any],
    pdf_figures: Sequence[Mapping[str, Any]],
    figure_matches: Sequence[Mapping[str, Any]],
    package_figures: Sequence[Mapping[str, Any]],
) -> StepOutput:
    """Join an article's PDF figures with the package figures they were matched to: rows of `figures`.

    If a PDF is not certain to be the XML's article, only figures that the XML lists go on, under its DOI and licence.

    Args:
        article: row of `articles`.
        pdf_figures: its rows of `pdf_figures`.
        figure_matches: its rows of `figure_matches`.
        package_figures: its rows of `package_figures`.
    """
    output = StepOutput()
    is_certain = article["xml"] is None or article["pdf_identity"] == "verified"
    for row in matched_figures(pdf_figures, figure_matches, package_figures):
        if row["matched"] or is_certain:
            output.rows.append(row)
            continue
        reason = FigureUnconfirmed(
            f"{row['label'] or row['pdf_figure_id']}: nothing shows that the PDF is the XML's article, and this figure "
            "has neither picture nor caption of one that the XML lists; put a PDF with text there if it is"
        )
        output.rejections.append(
            rejection_from(
                reason,
                stage="figures",
                unit_id=row["article_id"],
                part=row["image_cluster_id"],
            )
        )
    return output
