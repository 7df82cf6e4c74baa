"""The steps of the pipeline for one article: rows of one table in, rows of the next and rejections out.

Each function is what a worker process runs; the assets, `pmo article` and a notebook call the same ones. A row is a
dict with the columns of the table's schema (`pmo_assets.schemas`).
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.articles.article import Article, InTextMention, PackageFigure
from pmo_assets.pipeline.articles.credit import citation_text, pmc_number
from pmo_assets.pipeline.articles.dois import clean_doi
from pmo_assets.pipeline.articles.front_page import FrontMatter, read_front_matter
from pmo_assets.pipeline.articles.jats import is_retracted_title, parse_jats
from pmo_assets.pipeline.articles.licences import license_code, license_statements, license_url
from pmo_assets.pipeline.articles.relevance import (
    Relevance,
    Specialty,
    assess_relevance,
    assess_relevance_of_text,
)
from pmo_assets.pipeline.assembly.assemble import assemble, words_of_panels
from pmo_assets.pipeline.captions.cascade import Cascade, DoubtfulCaption, Progress, second_readings
from pmo_assets.pipeline.captions.chat import ChatUsage
from pmo_assets.pipeline.captions.split import split_caption
from pmo_assets.pipeline.captions.subcaptions import CaptionSplit, Subcaption
from pmo_assets.pipeline.dataset.rows import crop_box, panel_id
from pmo_assets.pipeline.detection.detect import NMS_IOU, images_of_figures, panels_of_figures
from pmo_assets.pipeline.detection.detections import SCORE_THRESHOLD, FigureView, ImageDetection, PanelDetection
from pmo_assets.pipeline.detection.detector_set import DetectorSet, DetectorSource, detector_set
from pmo_assets.pipeline.detection.memory_batches import Provider
from pmo_assets.pipeline.detection.retinanet_detectors import Runtime
from pmo_assets.pipeline.faults import raise_fault
from pmo_assets.pipeline.figures.extraction import FigureOptions, extract_figures
from pmo_assets.pipeline.figures.figure import EmbeddedBitmap, EmbeddedText, PageBox, PdfFigure
from pmo_assets.pipeline.figures.matching import match_figures
from pmo_assets.pipeline.figures.registration import PICTURE_SIDE, PictureUnreadable, decode_gray
from pmo_assets.pipeline.figures.rendering import png_bytes
from pmo_assets.pipeline.rejections import ArticleError, Rejection, rejection_from
from pmo_assets.pipeline.stores import ObjectStore, Picture, PixelStore

Row = dict[str, Any]

_LOG = logging.getLogger(__name__)


@dataclass
class StepOutput:
    """What a step made of one article.

    Attributes:
        rows: rows of the step's table.
        rejections: what it could not process.
    """

    rows: list[Row] = field(default_factory=list)
    rejections: list[Rejection] = field(default_factory=list)


class NoPdf(ArticleError):
    """The package holds no PDF: figures cannot be extracted at full resolution."""


class FigureNotLocated(ArticleError):
    """A figure that the XML lists was not found in the PDF."""


@dataclass(frozen=True, slots=True)
class DetectionOptions:
    """Which detectors (see `detector_set`), where their networks run, and the thresholds (paper, Methods)."""

    score_threshold: float = SCORE_THRESHOLD
    nms_iou: float = NMS_IOU
    source: DetectorSource = "both"
    provider: Provider = "cpu"
    detector_file: Path | None = None
    marks_file: Path | None = None
    panel_checkpoint: Path | None = None
    image_checkpoint: Path | None = None
    runtime: Runtime = "torch"

    def detectors(self) -> DetectorSet:
        """Return the detectors, made once per process."""
        return detector_set(
            self.source,
            self.provider,
            self.detector_file,
            self.marks_file,
            panel_checkpoint=self.panel_checkpoint,
            image_checkpoint=self.image_checkpoint,
            runtime=self.runtime,
        )

    def load_for_panels(self) -> None:
        """Load what `detect_article_panels` works with, so that it is not loaded at an article's expense.

        Raises:
            SystemicError: when that cannot be done.
        """
        for network in self.detectors().panel_networks:
            network.load()

    def load_for_images(self) -> None:
        """Load what `detect_article_images` works with; see `load_for_panels`."""
        for network in self.detectors().image_networks:
            network.load()


def _decided(reason: ArticleError, stage: str, article_id: int, figure: str | None = None) -> Rejection:
    return rejection_from(reason, stage=stage, article_id=article_id, image_cluster_id=figure)


# articles


def read_article(package: Mapping[str, Any], objects: ObjectStore, specialty: Specialty) -> StepOutput:
    """Read an article's facts from its XML and judge its relevance: a row of `articles`.

    Args:
        package: row of `article_packages`.
        objects: where the files are.
        specialty: what is wanted.
    """
    article_id = package["article_id"]
    output = StepOutput()
    article: Article | None = None
    if package["xml"] is not None:
        try:
            article = parse_jats(objects.get(package["xml"]))
        except ArticleError as error:
            # The article goes on without its XML: figures are then found by layout alone.
            output.rejections.append(_decided(error, "articles", article_id))
    front = _front_matter(package, article, objects)
    if article is not None:
        relevance, statements = assess_relevance(article, specialty), [article.license_text]
        stated = article.license_code
    else:
        relevance, statement, fault = _judged_by_pdf(package, objects, specialty)
        if fault is not None and not relevance.relevant:  # else pdf_figures meets the same PDF
            output.rejections.append(_decided(fault, "articles", article_id))
        statements = [statement]
        # What metadata and pages state together: of two licences the more restrictive counts.
        stated = license_code(" ".join([*front.licences, statement]))
    has_pdf = package["pdf"] is not None
    retracted = package["is_retracted"] or (article.is_retracted if article else is_retracted_title(front.title))
    if not has_pdf:
        output.rejections.append(_decided(NoPdf("the package holds no PDF"), "articles", article_id))
    # PMC's own licence code is curated; what XML or PDF state is what the publisher wrote. Metadata that cannot be
    # read, or not be understood ("all rights reserved"), may allow less than they do.
    curated = package["license_code"]
    code = None if package["license_unknown"] else license_code(curated) if curated else stated
    deed = license_url(code, package["license_code"], article.license_url if article else None)
    credit, sources = _credit(package, article, front)
    output.rows.append(
        {
            **{name: package[name] for name in ("article_id", "name", "version")},
            "pmcid": pmc_number(article_id, article.pmcid if article else None),
            "pmid": article.pmid if article else None,
            **credit,
            "license_code": code,
            "license_url": deed or license_url(code, *front.licences, *statements, front.license_links),
            "stated_by": [{"fact": fact, "source": source} for fact, source in sources.items()],
            "is_manuscript": bool(package["is_manuscript"]),
            "is_retracted": retracted,
            "has_xml": article is not None,
            "has_pdf": has_pdf,
            "relevant": relevance.relevant,
            "criteria": list(relevance.criteria),
            "relevance_reason": relevance.reason,
            "selected": relevance.relevant and has_pdf and not retracted,
            "xml": package["xml"] if article is not None else None,
            "pdf": package["pdf"],
        }
    )
    return output


def _front_matter(package: Mapping[str, Any], article: Article | None, objects: ObjectStore) -> FrontMatter:
    """Return what the PDF says of its article, where the XML leaves anything open."""
    known = article is not None and all(
        (article.title, article.authors, article.doi, article.journal, article.year, article.license_url)
    )
    if known or package["pdf"] is None:
        return FrontMatter()
    try:
        return read_front_matter(objects.get(package["pdf"]))
    except ArticleError:
        return FrontMatter()  # the reason is recorded where the article needs its PDF


def _credit(
    package: Mapping[str, Any], article: Article | None, front: FrontMatter
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return what credits the article, and where each fact stands: the source's statement, the XML, the PDF."""
    facts: dict[str, Any] = {}
    sources: dict[str, str] = {}
    for fact in ("title", "authors", "doi", "journal", "year"):
        places = (
            ("metadata", package.get(fact)),
            ("XML", getattr(article, fact, None)),
            (front.sources.get(fact, ""), getattr(front, fact)),
        )
        source, value = next(((place, value) for place, value in places if value), ("", None))
        facts[fact] = list(value or ()) if fact == "authors" else value
        if value:
            sources[fact] = source
    facts["doi"] = clean_doi(facts["doi"])
    printed = citation_text(front.journal, front.year, front.volume, front.pages)
    listed = article.citation if article else ""
    # An XML that names journal and year only says less than the PDF's own citation.
    says_less = not listed or (facts["year"] is not None and listed.endswith(str(facts["year"])))
    own = printed if says_less and (front.volume or front.pages) else listed or printed
    facts["citation"] = package["citation"] or own or None
    return facts, sources


def _judged_by_pdf(
    package: Mapping[str, Any], objects: ObjectStore, specialty: Specialty
) -> tuple[Relevance, str, ArticleError | None]:
    """Return relevance and licence statements of an article without a readable XML, from its PDF's text.

    Without text nothing can be judged relevant: then the error says why there is none.
    """
    nothing = assess_relevance_of_text([], "", specialty), ""
    if package["pdf"] is None:
        return *nothing, None
    try:
        extraction = extract_figures(objects.get(package["pdf"]), options=FigureOptions(render=False))
    except ArticleError as error:
        return *nothing, error
    captions = [figure.caption for figure in extraction.figures]
    relevance = assess_relevance_of_text(captions, extraction.text, specialty)
    return relevance, license_statements(extraction.text), None


def read_package_figures(
    article: Mapping[str, Any], figure_files: Sequence[Mapping[str, str]], objects: ObjectStore
) -> StepOutput:
    """List the figures of the JATS XML with their package pictures: rows of `package_figures`.

    This is where package pictures are decoded for the first time: one that cannot be is rejected here, and the steps
    that follow do without it.

    Args:
        article: row of `articles` with `xml`.
        figure_files: the package's pictures, {name, key}.
        objects: where the files are.
    """
    parsed = parse_jats(objects.get(article["xml"]))
    files = {PurePosixPath(item["name"]).name: item["key"] for item in figure_files}
    pictures = [_package_picture(figure, files) for figure in parsed.figures]
    figure_of = {
        picture: figure.image_cluster_id
        for figure, picture in reversed(list(zip(parsed.figures, pictures, strict=True)))
        if picture is not None
    }
    output = StepOutput()
    unreadable = set()
    for name, key in sorted(files.items()):
        try:
            decode_gray(objects.get(key), PICTURE_SIDE)
        except PictureUnreadable as error:
            unreadable.add(name)
            reason = PictureUnreadable(f"{name} cannot be used: {error}; the figure is looked for without it")
            shown = figure_of.get(name, PurePosixPath(name).stem)
            output.rejections.append(_decided(reason, "package_figures", article["article_id"], shown))
    for ordinal, (figure, picture) in enumerate(zip(parsed.figures, pictures, strict=True)):
        output.rows.append(
            {
                "article_id": article["article_id"],
                "image_cluster_id": figure.image_cluster_id,
                "ordinal": ordinal,
                "label": figure.label,
                "caption": figure.caption,
                "graphics": list(figure.graphics),
                "mentions": [asdict(mention) for mention in figure.mentions],
                "file": None if picture is None or picture in unreadable else files[picture],
            }
        )
    return output


def _package_picture(figure: PackageFigure, files: Collection[str]) -> str | None:
    """Return the file of the figure's picture: named like a graphic, with or without a picture suffix."""
    names = [PurePosixPath(graphic).name for graphic in figure.graphics] or [figure.image_cluster_id]
    for name in [*names, figure.image_cluster_id]:
        for file_name in (name, *(f"{name}{suffix}" for suffix in (".jpg", ".jpeg", ".png", ".gif"))):
            if file_name in files:
                return file_name
        by_stem = [
            file_name for file_name in sorted(files) if PurePosixPath(file_name).stem == PurePosixPath(name).stem
        ]
        if by_stem:
            return by_stem[0]
    return None


# figures


def package_figure(row: Mapping[str, Any]) -> PackageFigure:
    """Return the record of a row of `package_figures`."""
    return PackageFigure(
        image_cluster_id=row["image_cluster_id"],
        label=row["label"],
        caption=row["caption"],
        graphics=tuple(row["graphics"]),
        mentions=tuple(InTextMention(**mention) for mention in row["mentions"]),
    )


def locate_pdf_figures(
    article: Mapping[str, Any],
    package_figures: Sequence[Mapping[str, Any]],
    objects: ObjectStore,
    pixels: PixelStore,
    options: FigureOptions,
) -> StepOutput:
    """Find the article's figures in its PDF and render them: rows of `pdf_figures`, pictures in `pixels`.

    Args:
        article: row of `articles` with `pdf`.
        package_figures: its rows of `package_figures`; empty without XML.
        objects: where the PDF and the package's pictures are.
        pixels: where the renderings go, under pdf_figure_id.
        options: limits and resolution.
    """
    article_id = article["article_id"]
    pictures: list[Picture] = []

    def receive(figure: PdfFigure, image: NDArray[np.uint8]) -> None:
        pictures.append(Picture(figure.pdf_figure_id, figure.width, figure.height, png_bytes(image)))

    # Each figure is encoded as soon as it is rendered: all of an article's pixels together can take gigabytes.
    known = [package_figure(row) for row in package_figures]
    files = {row["image_cluster_id"]: row["file"] for row in package_figures if row["file"] is not None}

    def package_image(image_cluster_id: str) -> bytes | None:
        return objects.get(files[image_cluster_id]) if image_cluster_id in files else None

    extraction = extract_figures(objects.get(article["pdf"]), known, options, receive, package_image)
    output = StepOutput()
    for ordinal, figure in enumerate(extraction.figures):
        output.rows.append({"article_id": article_id, "ordinal": ordinal, **asdict(figure)})
    pixels.write(article_id, pictures)
    for miss in extraction.misses:
        reason = FigureNotLocated(f"{miss.label or miss.image_cluster_id}: {miss.reason}")
        output.rejections.append(_decided(reason, "pdf_figures", article_id, miss.image_cluster_id))
    return output


def pdf_figure(row: Mapping[str, Any]) -> PdfFigure:
    """Return the record of a row of `pdf_figures`."""
    return PdfFigure(
        pdf_figure_id=row["pdf_figure_id"],
        label=row["label"],
        caption=row["caption"],
        locations=tuple(PageBox(place["page"], tuple(place["bbox"])) for place in row["locations"]),
        caption_locations=tuple(PageBox(place["page"], tuple(place["bbox"])) for place in row["caption_locations"]),
        image_cluster_id=row["image_cluster_id"],
        located_by=row["located_by"],
        confidence=row["confidence"],
        width=row["width"],
        height=row["height"],
        dpi=row["dpi"],
        bitmaps=embedded_bitmaps(row),
        texts=embedded_texts(row),
        picture_correlation=row["picture_correlation"],
    )


def embedded_bitmaps(row: Mapping[str, Any]) -> tuple[EmbeddedBitmap, ...]:
    """Return the bitmap hints of a row of `pdf_figures` or `figures`."""
    return tuple(EmbeddedBitmap(tuple(b["box"]), b["native_width"], b["native_height"]) for b in row["bitmaps"])


def embedded_texts(row: Mapping[str, Any]) -> tuple[EmbeddedText, ...]:
    """Return the text hints of a row of `pdf_figures` or `figures`."""
    return tuple(EmbeddedText(t["text"], tuple(t["box"]), t["size"], t["bold"]) for t in row["texts"])


def decoded(picture: Picture | None, key: str) -> NDArray[np.uint8]:
    """Return a stored picture's pixels, (height, width, 3) uint8 RGB.

    Raises:
        PictureUnreadable: if it is missing or no PNG.
    """
    if picture is None:
        raise PictureUnreadable(f"the picture of {key} is missing: materialise its asset again")
    image = cv2.imdecode(np.frombuffer(picture.png, dtype=np.uint8), cv2.IMREAD_COLOR)
    if image is None:
        raise PictureUnreadable(f"the picture of {key} is damaged: materialise its asset again")
    return np.ascontiguousarray(image[:, :, ::-1])


def match_article_figures(
    article_id: int,
    pdf_figures: Sequence[Mapping[str, Any]],
    package_figures: Sequence[Mapping[str, Any]],
    objects: ObjectStore,
    pixels: PixelStore,
) -> StepOutput:
    """Match an article's PDF figures to its package figures: rows of `figure_matches`.

    Args:
        article_id: PMC number.
        pdf_figures: its rows of `pdf_figures`.
        package_figures: its rows of `package_figures`.
        objects: where the package pictures are.
        pixels: where the renderings are.
    """
    figures = [pdf_figure(row) for row in pdf_figures]
    pictures = pixels.read(article_id)
    renderings = {
        figure.pdf_figure_id: decoded(pictures.get(figure.pdf_figure_id), figure.pdf_figure_id) for figure in figures
    }
    jpegs = {row["image_cluster_id"]: objects.get(row["file"]) for row in package_figures if row["file"] is not None}
    matches = match_figures(figures, renderings, [package_figure(row) for row in package_figures], jpegs)
    return StepOutput(rows=[{"article_id": article_id, **asdict(match)} for match in matches])


# detections


def figure_view(figure: Mapping[str, Any], pixels: NDArray[np.uint8]) -> FigureView:
    """Return what detectors see of a row of `figures`; the caption's grammar tells which identifiers to expect."""
    return FigureView(
        pixels=pixels,
        bitmaps=embedded_bitmaps(figure),
        texts=embedded_texts(figure),
        caption_identifiers=split_caption(figure["caption"]).identifiers,
    )


def _for_each_figure(figures: Sequence[Mapping[str, Any]], stage: str, make: Any) -> StepOutput:
    """Apply `make(figure) -> rows` to each figure; a figure that fails in whatever way becomes a rejection."""
    output = StepOutput()
    for figure in figures:
        try:
            output.rows.extend(make(figure))
        except Exception as error:
            raise_fault(error)
            rejection = rejection_from(
                error, stage=stage, article_id=figure["article_id"], image_cluster_id=figure["image_cluster_id"]
            )
            output.rejections.append(rejection)
    return output


GROUP_FIGURES, GROUP_PIXELS = 16, 40_000_000
"""So many figures of an article, with so many pixels in all, are put to detectors on a GPU at once."""


def _figure_groups(figures: Sequence[Mapping[str, Any]], provider: Provider) -> Iterator[list[Mapping[str, Any]]]:
    """Give an article's figures in groups that fill a GPU, one by one on the CPU, where larger ones gain nothing."""
    group: list[Mapping[str, Any]] = []
    for figure in figures:
        pixels = sum(f["width"] * f["height"] for f in [*group, figure])
        if group and (provider == "cpu" or len(group) >= GROUP_FIGURES or pixels > GROUP_PIXELS):
            yield group
            group = []
        group.append(figure)
    if group:
        yield group


def _for_each_group(
    figures: Sequence[Mapping[str, Any]],
    stage: str,
    provider: Provider,
    make: Callable[[Sequence[Mapping[str, Any]]], list[Row]],
) -> StepOutput:
    """Apply `make(figures) -> rows` to groups of figures; after a failure in a group, to each of its figures alone."""
    output = StepOutput()
    for group in _figure_groups(figures, provider):
        if len(group) > 1:
            try:
                output.rows.extend(make(group))
                continue
            except Exception as error:
                raise_fault(error)
                _LOG.info("%s: %s figures together failed, each is tried alone: %s", stage, len(group), error)
        alone = _for_each_figure(group, stage, lambda figure: make([figure]))
        output.rows.extend(alone.rows)
        output.rejections.extend(alone.rejections)
    return output


def _key(figure: Mapping[str, Any]) -> Row:
    return {"article_id": figure["article_id"], "image_cluster_id": figure["image_cluster_id"]}


def detect_article_panels(
    article_id: int, figures: Sequence[Mapping[str, Any]], pixels: PixelStore, options: DetectionOptions
) -> StepOutput:
    """Find panels and panel identifiers in an article's figures: rows of `panel_detections`."""
    detectors = options.detectors()
    pictures = pixels.read(article_id)

    def rows(group: Sequence[Mapping[str, Any]]) -> list[Row]:
        found = panels_of_figures(
            _views(group, pictures),
            detectors.panels,
            score_threshold=options.score_threshold,
            nms_iou=options.nms_iou,
        )
        result = []
        for figure, detections in zip(group, found, strict=True):
            counts = {"panel": 0, "identifier": 0}
            for detection in detections:
                number = counts[detection.kind]
                counts[detection.kind] += 1
                name = f"{'p' if detection.kind == 'panel' else 'l'}{number}"
                result.append({**_key(figure), "detection_id": name, **asdict(detection)})
        return result

    return _for_each_group(figures, "panel_detections", options.provider, rows)


def _views(figures: Sequence[Mapping[str, Any]], pictures: Mapping[str, Picture]) -> list[FigureView]:
    keys = [figure["pdf_figure_id"] for figure in figures]
    return [figure_view(f, decoded(pictures.get(key), key)) for f, key in zip(figures, keys, strict=True)]


def in_detection_order(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return a figure's detections as the detector gave them: panels, then identifiers, then images, by number.

    A table is sorted by its key, in which "l0" comes before "p0" and "p10" before "p2".
    """
    return sorted(rows, key=lambda row: ("pli".index(row["detection_id"][0]), int(row["detection_id"][1:])))


def panel_detection(row: Mapping[str, Any]) -> PanelDetection:
    """Return the record of a row of `panel_detections`."""
    return PanelDetection(row["kind"], tuple(row["box"]), row["score"], row["source"], row["text"])


def image_detection(row: Mapping[str, Any]) -> ImageDetection:
    """Return the record of a row of `image_detections`; the scores of the other types are not kept in the table."""
    return ImageDetection(
        box=tuple(row["box"]),
        score=row["score"],
        source=row["source"],
        image_type=row["image_type"],
        type_score=row["type_score"],
        type_reason=row["type_reason"],
        marked=row["marked"],
        mark_score=row["mark_score"],
    )


def detect_article_images(
    article_id: int,
    figures: Sequence[Mapping[str, Any]],
    panel_rows: Mapping[str, Sequence[Mapping[str, Any]]],
    subcaption_rows: Mapping[str, Sequence[Mapping[str, Any]]],
    pixels: PixelStore,
    options: DetectionOptions,
) -> StepOutput:
    """Find images in an article's figures, with type and mark status: rows of `image_detections`.

    Args:
        article_id: PMC number.
        figures: its rows of `figures`.
        panel_rows: rows of `panel_detections` by image_cluster_id.
        subcaption_rows: rows of `subcaptions` by image_cluster_id; their words are evidence for the type.
        pixels: where the renderings are.
        options: detectors and thresholds.
    """
    detectors = options.detectors()
    pictures = pixels.read(article_id)

    def rows(group: Sequence[Mapping[str, Any]]) -> list[Row]:
        panels, words = [], []
        for figure in group:
            cluster = figure["image_cluster_id"]
            panels.append(tuple(panel_detection(row) for row in in_detection_order(panel_rows.get(cluster, ()))))
            split = caption_split(subcaption_rows.get(cluster, ()))
            words.append(words_of_panels(panels[-1], split, figure["caption"]))
        found = images_of_figures(
            _views(group, pictures),
            panels,
            detectors.images,
            detectors.marks,
            words_of_panels=words,
            score_threshold=options.score_threshold,
            nms_iou=options.nms_iou,
        )
        result = []
        for figure, detections in zip(group, found, strict=True):
            for number, detection in enumerate(detections):
                row = asdict(detection)
                row.pop("type_scores")
                row.pop("seen_types")
                result.append({**_key(figure), "detection_id": f"i{number}", **row})
        return result

    return _for_each_group(figures, "image_detections", options.provider, rows)


# captions


def split_article_captions(figures: Sequence[Mapping[str, Any]]) -> StepOutput:
    """Split the captions of an article's figures by the grammar: rows of `subcaptions`."""

    def rows(figure: Mapping[str, Any]) -> list[Row]:
        return _subcaption_rows(figure, split_caption(figure["caption"], known_identifiers=seen_identifiers(figure)))

    return _for_each_figure(figures, "subcaptions", rows)


MAX_IDENTIFIER_LENGTH = 6
"""Longest live text taken for a panel identifier: "(viii)" has six characters."""


def seen_identifiers(figure: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the live texts of a row of `figures` that may be panel identifiers."""
    return tuple(item.text for item in embedded_texts(figure) if len(item.text) <= MAX_IDENTIFIER_LENGTH)


def _subcaption_rows(figure: Mapping[str, Any], split: CaptionSplit) -> list[Row]:
    shared = {
        "confidence": split.confidence,
        "reasons": list(split.reasons),
        "method": split.method,
        "model": split.model,
        "prompt_version": split.prompt_version,
    }
    return [
        {
            **_key(figure),
            "ordinal": ordinal,
            "identifier": sub.identifier,
            "text": sub.text,
            "segments": [list(segment) for segment in sub.segments],
            **shared,
        }
        for ordinal, sub in enumerate(split.subcaptions)
    ]


def caption_split(rows: Sequence[Mapping[str, Any]]) -> CaptionSplit:
    """Return the record of a figure's rows of `subcaptions`."""
    ordered = sorted(rows, key=lambda row: row["ordinal"])
    if not ordered:
        return CaptionSplit(subcaptions=(), confidence=0.0, method="")
    first = ordered[0]
    return CaptionSplit(
        subcaptions=tuple(
            Subcaption(row["identifier"], row["text"], tuple((start, end) for start, end in row["segments"]))
            for row in ordered
        ),
        confidence=first["confidence"],
        reasons=tuple(first["reasons"]),
        method=first["method"],
        model=first["model"],
        prompt_version=first["prompt_version"],
    )


@dataclass(frozen=True)
class CascadeCounts:
    """Who answered how many captions, and what the language model cost."""

    grammar: int
    language_model: int
    low_confidence: int
    usage: ChatUsage


def reread_captions(
    figures: Sequence[Mapping[str, Any]], rows: Sequence[Row], cascade: Cascade, progress: Progress | None = None
) -> tuple[StepOutput, CascadeCounts]:
    """Put the captions that the grammar is not sure about to the language model: rows of `subcaptions`.

    A caption for which the model gives no answer keeps the grammar's, with the reason, and is listed as a rejection
    too: that is where a person looks for what failed. In the main process, because waiting for a server takes threads
    and not processes.

    Args:
        figures: rows of `figures` of any number of articles.
        rows: their rows of `subcaptions` as the grammar gave them.
        cascade: threshold and model.
        progress: told how many captions have been read again.

    Raises:
        SystemicError: if no request can succeed.
    """
    split_rows: dict[tuple[int, str], list[Row]] = {}
    for row in rows:
        split_rows.setdefault((row["article_id"], row["image_cluster_id"]), []).append(row)
    keyed = {(figure["article_id"], figure["image_cluster_id"]): figure for figure in figures}
    splits = {key: caption_split(group) for key, group in split_rows.items()}
    doubtful = {
        key: DoubtfulCaption(keyed[key]["caption"], split, seen_identifiers(keyed[key]))
        for key, split in splits.items()
        if split.confidence < cascade.threshold
    }
    answers = dict(zip(doubtful, second_readings(list(doubtful.values()), cascade, progress), strict=True))
    output = StepOutput()
    for key, group in split_rows.items():
        answer = answers.get(key)
        output.rows.extend(group if answer is None else _subcaption_rows(keyed[key], answer.split))
        if answer is not None and answer.error is not None:
            output.rejections.append(_decided(answer.error, "subcaptions", *key))
    by_model = sum(answer.split.model is not None for answer in answers.values())
    usage = sum((answer.usage for answer in answers.values()), ChatUsage())
    return output, CascadeCounts(len(splits) - len(answers), by_model, len(answers) - by_model, usage)


# panels


def assemble_figure(
    figure: Mapping[str, Any],
    panel_rows: Sequence[Mapping[str, Any]],
    image_rows: Sequence[Mapping[str, Any]],
    subcaption_rows: Sequence[Mapping[str, Any]],
) -> list[Row]:
    """Put images, identifiers and subcaptions on a figure's panels: rows of `panel_assembly`."""
    panel_rows, image_rows = in_detection_order(panel_rows), in_detection_order(image_rows)
    detections = [panel_detection(row) for row in panel_rows]
    images = [image_detection(row) for row in image_rows]
    split = caption_split(subcaption_rows)
    rows = []
    for panel in assemble(detections, images, split):
        identifiers = [panel_rows[i] for i in panel.identifiers]
        contained = [image_rows[i] for i in panel.images]
        rows.append(
            {
                **_key(figure),
                "panel": panel_rows[panel.panel]["detection_id"],
                "box": list(panel.box),
                "content_box": list(panel.content_box),
                "score": panel.score,
                "name": panel.name,
                "subcaption": panel.subcaption.text if panel.subcaption else None,
                "segments": [list(segment) for segment in panel.subcaption.segments] if panel.subcaption else None,
                "caption_confidence": split.confidence if panel.subcaption else None,
                "method": panel.method,
                "reason": panel.reason,
                "identifiers": [
                    {"id": row["detection_id"], "box": list(row["box"]), "score": row["score"], "text": row["text"]}
                    for row in identifiers
                ],
                "images": [
                    {
                        "id": row["detection_id"],
                        "box": list(row["box"]),
                        **{k: row[k] for k in ("score", "image_type", "type_score", "marked", "mark_score")},
                    }
                    for row in contained
                ],
            }
        )
    return rows


def assemble_article(
    figures: Sequence[Mapping[str, Any]],
    panel_rows: Mapping[str, Sequence[Mapping[str, Any]]],
    image_rows: Mapping[str, Sequence[Mapping[str, Any]]],
    subcaption_rows: Mapping[str, Sequence[Mapping[str, Any]]],
) -> StepOutput:
    """Assemble an article's figures: rows of `panel_assembly`.

    Args:
        figures: its rows of `figures`.
        panel_rows: rows of `panel_detections` by image_cluster_id.
        image_rows: rows of `image_detections` by image_cluster_id.
        subcaption_rows: rows of `subcaptions` by image_cluster_id.
    """

    def rows(figure: Mapping[str, Any]) -> list[Row]:
        cluster = figure["image_cluster_id"]
        return assemble_figure(
            figure, panel_rows.get(cluster, ()), image_rows.get(cluster, ()), subcaption_rows.get(cluster, ())
        )

    return _for_each_figure(figures, "panel_assembly", rows)


def crop_article_panels(
    article_id: int,
    figures: Sequence[Mapping[str, Any]],
    assembled: Mapping[str, Sequence[Mapping[str, Any]]],
    figure_pixels: PixelStore,
    panel_pixels: PixelStore,
) -> StepOutput:
    """Cut the panels out of an article's figures: rows of `panels`, pictures in `panel_pixels`.

    Args:
        article_id: PMC number.
        figures: its rows of `figures`.
        assembled: rows of `panel_assembly` by image_cluster_id.
        figure_pixels: where the renderings are.
        panel_pixels: where the panels' pictures go, under panel_id.
    """
    stored = figure_pixels.read(article_id)
    cut: list[Picture] = []

    def rows(figure: Mapping[str, Any]) -> list[Row]:
        panels = assembled.get(figure["image_cluster_id"], ())
        if not panels:
            return []
        key = figure["pdf_figure_id"]
        pixels = decoded(stored.get(key), key)
        result = []
        for panel in panels:
            left, top, right, bottom = crop_box(panel["content_box"], pixels.shape[1], pixels.shape[0])
            name = panel_id(article_id, figure["image_cluster_id"], int(panel["panel"][1:]))
            png = png_bytes(np.ascontiguousarray(pixels[top:bottom, left:right]))
            cut.append(Picture(name, right - left, bottom - top, png))
            extent = {"width": right - left, "height": bottom - top}
            result.append({**panel, "panel_id": name, **extent, "sha256": hashlib.sha256(png).hexdigest()})
        return result

    output = _for_each_figure(figures, "panels", rows)
    panel_pixels.write(article_id, cut)
    return output
