"""One article package through the whole pipeline, without Dagster: what `pmo article` runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pmo_assets.pipeline.articles.relevance import Specialty
from pmo_assets.pipeline.articles.steps import read_article, read_package_figures
from pmo_assets.pipeline.assembly.reading.text_readers import ReadingOptions
from pmo_assets.pipeline.assembly.steps import assemble_article, caption_article_panels
from pmo_assets.pipeline.assembly.vision.look import FigureReader
from pmo_assets.pipeline.assembly.vision.steps import refine_assembly
from pmo_assets.pipeline.captions.cascade import Cascade
from pmo_assets.pipeline.captions.steps import reread_captions, split_article_captions
from pmo_assets.pipeline.detection.steps import DetectionOptions, detect_article_images, detect_article_panels
from pmo_assets.pipeline.figures.extraction import FigureOptions
from pmo_assets.pipeline.figures.steps import join_article_figures, locate_pdf_figures, match_article_figures
from pmo_assets.records.outcome import Row, StepOutput, rows_by_figure
from pmo_assets.records.rejections import ArticleError, Rejection, rejection_from
from pmo_assets.records.stores import ObjectStore, Picture, PixelStore


@dataclass
class MemoryObjects:
    """`ObjectStore` in memory, for one article."""

    contents: dict[str, bytes]

    def put(self, content: bytes, suffix: str, md5: str | None = None) -> str:
        """Store bytes under a running number."""
        key = f"{len(self.contents)}{suffix}"
        self.contents[key] = content
        return key

    def find(self, md5: str, suffix: str) -> str | None:
        """Return None: one article's files are each read once."""
        return None

    def size(self, key: str) -> int:
        """Return the number of bytes under a key."""
        return len(self.contents[key])

    def get(self, key: str) -> bytes:
        """Return the bytes under a key."""
        return self.contents[key]


@dataclass
class MemoryPixels:
    """`PixelStore` in memory, for one article."""

    pictures: dict[int, dict[str, Picture]]

    def write(self, article_id: int, pictures: Sequence[Picture]) -> None:
        """Replace the article's pictures."""
        self.pictures[article_id] = {picture.key: picture for picture in pictures}

    def read(self, article_id: int) -> dict[str, Picture]:
        """Return the article's pictures by key."""
        return self.pictures.get(article_id, {})


@dataclass(frozen=True)
class ArticleResult:
    """Everything the pipeline made of one article: table rows by asset, and what it could not process."""

    article: Row
    figures: Sequence[Row]
    assembled: Mapping[str, Sequence[Row]]
    rejections: Sequence[Rejection]


@dataclass(frozen=True)
class FoundFigures:
    """The figures of one article, as the steps up to `figures` find them.

    Attributes:
        article: row of `articles`; number and name alone when its files are not of one article.
        figures: rows of `figures`; None when the article cannot be processed as a whole (no PDF, encrypted, …).
        rejections: what could not be processed.
    """

    article: Row
    figures: Sequence[Row] | None
    rejections: Sequence[Rejection]


def find_figures(
    package: Row,
    objects: ObjectStore,
    *,
    specialty: Specialty,
    pixels: PixelStore,
    figure_options: FigureOptions = FigureOptions(),  # noqa: B008 - frozen
) -> FoundFigures:
    """Run the steps from `articles` to `figures` for one package; relevance is recorded, but stops nothing.

    Args:
        package: row of `article_packages`.
        objects: where its files are.
        specialty: what counts as relevant.
        pixels: where renderings are kept.
        figure_options: limits and resolution.
    """
    rejections: list[Rejection] = []

    def rows_of(output: StepOutput) -> list[Row]:
        rejections.extend(output.rejections)
        return output.rows

    article_id = package["article_id"]
    try:
        article = rows_of(read_article(package, objects, specialty))[0]
    except ArticleError as error:  # its files are not of one article
        rejections.append(rejection_from(error, stage="articles", article_id=article_id))
        return FoundFigures({"article_id": article_id, "package": package["name"]}, None, rejections)
    if article["pdf"] is None:
        return FoundFigures(article, None, rejections)
    packaged = rows_of(read_package_figures(article, package, objects)) if article["xml"] else []
    try:
        located = rows_of(locate_pdf_figures(article, packaged, objects, pixels, figure_options))
    except ArticleError as error:
        rejections.append(rejection_from(error, stage="pdf_figures", article_id=article_id))
        return FoundFigures(article, None, rejections)
    matches = rows_of(match_article_figures(article, located, packaged, objects, pixels))
    return FoundFigures(article, rows_of(join_article_figures(article, located, matches, packaged)), rejections)


def process_article(
    package: Row,
    objects: ObjectStore,
    *,
    specialty: Specialty,
    pixels: PixelStore | None = None,
    figure_options: FigureOptions = FigureOptions(),  # noqa: B008 - frozen
    detection_options: DetectionOptions = DetectionOptions(),  # noqa: B008 - frozen
    cascade: Cascade = Cascade(),  # noqa: B008 - frozen
    reading_options: ReadingOptions = ReadingOptions(),  # noqa: B008 - frozen
    reader: FigureReader | None = None,
) -> ArticleResult:
    """Run every step up to panel assembly for one package; relevance and what is wanted are recorded, but stop nothing.

    Args:
        package: row of `article_packages`.
        objects: where its files are.
        specialty: what counts as relevant and which image types are wanted.
        pixels: where renderings are kept; in memory if None.
        figure_options: limits and resolution.
        detection_options: thresholds.
        cascade: how captions are split; by the grammar alone if not given.
        reading_options: what reads printed identifiers.
        reader: the vision model that looks at figures with open panels; none if not given.

    An article that cannot be processed as a whole (no PDF, unreadable, encrypted, …) has no figures and a rejection.
    """
    pixels = pixels if pixels is not None else MemoryPixels({})
    found = find_figures(package, objects, specialty=specialty, pixels=pixels, figure_options=figure_options)
    article, figures, rejections = found.article, found.figures, list(found.rejections)
    if figures is None:
        return ArticleResult(article, [], {}, rejections)
    article_id = article["article_id"]

    def rows_of(output: StepOutput) -> list[Row]:
        rejections.extend(output.rejections)
        return output.rows

    split, _ = reread_captions(figures, rows_of(split_article_captions(figures)), cascade)
    captions = rows_of(split)
    panels = rows_of(detect_article_panels(article_id, figures, captions, pixels, detection_options, reading_options))
    captioned = rows_of(caption_article_panels(article_id, figures, panels, captions, pixels, reading_options))
    images = rows_of(detect_article_images(article_id, figures, panels, captioned, pixels, detection_options))
    seen = {"figures": figures, "subcaptions": captions, "panel_detections": panels, "image_detections": images}
    made = rows_of(assemble_article(figures, captioned, images, captions, panels, specialty.image_types))
    assembled, _ = refine_assembly(seen, made, reader, pixels)
    return ArticleResult(article, figures, rows_by_figure(rows_of(assembled)), rejections)


def annotation(name: str, result: ArticleResult) -> dict[str, Any]:
    """Return the result in the annotation format, with scores.

    Boxes of panels, identifiers and images are normalised [l, t, r, b]; of figures and captions, PDF points.
    """
    return {
        "article_id": name,
        "figures": [
            {
                "label": figure["label"],
                "image_cluster_id": figure["image_cluster_id"] if figure["matched"] else None,
                "figure_locations": [_place(place) for place in figure["locations"]],
                "caption_locations": [_place(place) for place in figure["caption_locations"]],
                "caption": figure["caption"],
                "confidence": round(figure["confidence"], 4),
                "panels": [_panel(panel) for panel in result.assembled.get(figure["image_cluster_id"], [])],
            }
            for figure in result.figures
        ],
        "rejections": [
            {"stage": item.stage, "figure": item.image_cluster_id, "error": item.error_class, "message": item.message}
            for item in result.rejections
        ],
    }


def _place(place: Row) -> Row:
    return {"page": place["page"], "bbox": [round(float(value), 2) for value in place["bbox"]]}


def _rounded(box: Sequence[float]) -> list[float]:
    return [round(float(value), 5) for value in box]


def _panel(panel: Row) -> Row:
    """Return a panel with its images, those included that are only listed with it: they are in the figure."""
    named = [item for item in panel["printed_identifiers"] if item["text"]] or panel["printed_identifiers"]
    best = max(named, key=lambda item: item["score"], default=None)
    return {
        "identifier": panel["identifier"],
        "identifier_box": _rounded(best["box"]) if best else None,
        "box": _rounded(panel["content_box"]),
        "subcaption": panel["subcaption"],
        "images": [
            {
                "box": _rounded(image["box"]),
                "type": image["image_type"],
                "modality": image["modality"],
                "marked": image["marked"],
                "score": round(image["score"], 4),
            }
            for image in (*panel["images"], *panel["stray_images"])
        ],
        "score": round(panel["score"], 4),
        "assembly": panel["method"],
        "assembly_reason": panel["reason"],
        "confidence": round(panel["confidence"], 4),
        "runner_up": panel["runner_up"],
        "evidence": panel["evidence"],
    }
