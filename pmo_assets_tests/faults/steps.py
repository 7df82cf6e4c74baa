"""What every hostile input goes through: the pipeline's own steps, and what must hold of whatever they give.

Run in worker processes. A case gives a row that says what became of it; what must not happen comes with its traceback.
"""

from __future__ import annotations

import random
import tempfile
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pymupdf

from pmo_assets.cli.captions import coloured_caption
from pmo_assets.pictures import png_bytes
from pmo_assets.pipeline.articles.fetching import FetchLimits, fetch_package
from pmo_assets.pipeline.articles.jats import parse_jats
from pmo_assets.pipeline.articles.relevance import Specialty, load_specialty
from pmo_assets.pipeline.articles.steps import read_article, read_package_figures
from pmo_assets.pipeline.assembly.reading.text_readers import ReadingOptions
from pmo_assets.pipeline.assembly.steps import (
    assemble_article,
    caption_article_panels,
    crop_article_panels,
    review_article,
)
from pmo_assets.pipeline.captions.segments import join_segments
from pmo_assets.pipeline.captions.split import split_caption
from pmo_assets.pipeline.captions.steps import split_article_captions
from pmo_assets.pipeline.dataset.steps import make_dataset_rows
from pmo_assets.pipeline.detection.steps import DetectionOptions, detect_article_images, detect_article_panels
from pmo_assets.pipeline.figures.extraction import FigureOptions
from pmo_assets.pipeline.figures.steps import join_article_figures, locate_pdf_figures, match_article_figures
from pmo_assets.records.memory_stores import MemoryObjects, MemoryPixels
from pmo_assets.records.packages import PackageListing
from pmo_assets.records.rejections import ArticleError, Rejection, rejection_from
from pmo_assets.records.step_output import Row, StepOutput
from pmo_assets.records.stores import Picture
from pmo_assets.records.subcaptions import CaptionSplit
from pmo_assets.release.gallery_pages import gallery_panel
from pmo_assets.sources.local import LocalFolder
from pmo_assets.storage.batches import manifest_rows
from pmo_assets.tables.articles import ArticleBatch, ArticlePackages
from pmo_assets.tables.dataset import DatasetRows
from pmo_assets.tables.schemas import checked, schema_of
from pmo_assets.viewing.captions import caption_picture
from pmo_assets.viewing.gallery import GalleryFigure, write_gallery_folder
from pmo_assets.viewing.overlays import draw_detections
from pmo_assets.viewing.report import Headline, RejectionReason, ReportSummary, render_report
from pmo_assets_tests.faults.hostile_captions import hostile_caption
from pmo_assets_tests.faults.hostile_packages import hostile_package
from pmo_assets_tests.faults.hostile_pdf import hostile_pdf
from pmo_assets_tests.faults.hostile_pictures import hostile_picture, odd_pixels
from pmo_assets_tests.faults.hostile_xml import hostile_xml
from pmo_assets_tests.faults.material import MARKER, Package, package, random_of
from pmo_assets_tests.faults.wrong_pdf import DISGUISES, right_pages

ARTICLE_ID = 77

FIGURE_OPTIONS = FigureOptions(max_dpi=144)
"""The code is the same at any resolution, and a case is faster."""

TO_THE_END = 0.35
"""Share of the PDFs that go on to the dataset: detection takes most of the time, and sees the same pixels again."""

WITH_PICTURES = 0.2
"""Share of the PDFs that come with package pictures: looking for them on the pages takes seconds."""

SHOWN_FIGURES = 12
"""Captions of one article that are split and shown: a hostile XML has thousands."""


class NotHeld(AssertionError):
    """A promise of the pipeline is broken."""


def _demand(holds: bool, promise: str) -> None:
    if not holds:
        raise NotHeld(promise)


class Article:
    """One article on its way; collects rejections, and checks rows against their schemas."""

    def __init__(self) -> None:
        self.rejections: list[Rejection] = []

    def rows(self, stage: str, output: StepOutput) -> list[Row]:
        """Return a step's rows.

        Raises:
            NotHeld: if a rejection is no decision.
            dataframely.exc.ValidationError: if a row breaks the schema.
        """
        for rejection in output.rejections:
            _demand(not rejection.traceback_tail, f"{stage} failed: {rejection.message}\n{rejection.traceback_tail}")
        self.rejections += output.rejections
        checked(schema_of(stage), output.rows)
        return output.rows

    def attempt(self, stage: str, step: Callable[..., StepOutput], *arguments: Any) -> list[Row] | None:
        """Return a step's rows; None when it decided to reject the article."""
        try:
            output = step(*arguments)
        except ArticleError as error:
            self.rejections.append(rejection_from(error, stage=stage, unit_id=ARTICLE_ID))
            return None
        return self.rows(stage, output)

    def facts(self, package: Row, objects: MemoryObjects) -> Row | None:
        """Return the row of `articles`; None when the package's files are not of one article."""
        rows = self.attempt("articles", read_article, package, objects, _specialty())
        return rows[0] if rows else None


def _specialty() -> Specialty:
    return load_specialty("everything")


def _package_row(objects: MemoryObjects, files: Package) -> Row:
    pictures = [{"name": name, "key": objects.put(content, ".jpg")} for name, content in files.pictures.items()]
    row = {
        "article_id": ARTICLE_ID,
        "name": "PMC77",
        "version": 1,
        "license_code": "CC BY",
        "is_retracted": False,
        "title": None,
        "citation": None,
        "doi": None,
        "is_manuscript": False,
        "license_unknown": False,
        "pdf": objects.put(files.pdf, ".pdf") if files.pdf is not None else None,
        "xml": objects.put(files.xml, ".xml") if files.xml is not None else None,
        "figure_files": pictures,
    }
    checked(ArticlePackages, [row])
    return row


def _unit_boxes(rows: Sequence[Mapping[str, Any]], *keys: str) -> None:
    for row in rows:
        for key in keys:
            left, top, right, bottom = row[key]
            _demand(0 <= left < right <= 1 and 0 <= top < bottom <= 1, f"{key} {row[key]} lies inside the figure")


def _no_markup(page: str, what: str) -> None:
    _demand(
        f"<{MARKER}" not in page, f"text is escaped in {what}: …{page[max(page.find(f'<{MARKER}') - 200, 0) :][:400]}…"
    )
    page.encode()  # a file can be written


def _inside(caption: str, split: CaptionSplit) -> None:
    _demand(0 <= split.confidence <= 1, f"confidence {split.confidence}")
    _demand(len(split.subcaptions) > 0, "there is a subcaption")
    for sub in split.subcaptions:
        last = 0
        for start, end in sub.segments:
            _demand(
                last <= start <= end <= len(caption),
                f"segments {sub.segments} lie in order in {len(caption)} characters",
            )
            last = end
        _demand(sub.text == join_segments(caption, sub.segments), f"segments of {sub.identifier!r} give its text")


def _caption_pages(caption: str, split: CaptionSplit) -> None:
    parts = [(sub.identifier, sub.segments) for sub in split.subcaptions]
    coloured_caption(caption, split)
    caption_picture(caption, parts)


def _article_pages(
    title: str, figures: Sequence[Row], rejections: Sequence[Rejection], rows: Sequence[Row] = (), pixels: Any = None
) -> None:
    shown = []
    for figure in figures:
        panels = [row for row in rows if row["image_cluster_id"] == figure["image_cluster_id"]]
        picture = pixels.read(ARTICLE_ID).get(figure["pdf_figure_id"]) if pixels is not None else None
        shown.append(
            GalleryFigure(
                ARTICLE_ID, title, f"https://x/{title}", figure["image_cluster_id"], figure["label"] or "",
                figure["caption"],
                title, True, title, False, picture.png if picture else b"",
                figure.get("width", 4), figure.get("height", 3),
                tuple(gallery_panel(row, False) for row in panels), title, title,
            )
        )  # fmt: skip
    files: dict[str, bytes] = {}
    write_gallery_folder(shown, files.__setitem__, title=title, facts={title: title}, notes=title)
    for name, content in files.items():
        _no_markup(content.decode(), f"the gallery's {name}")
    reasons = tuple(RejectionReason(item.stage, item.error_class, 1, (item.message,)) for item in rejections)
    summary = ReportSummary(title, title, ((title, title),), (Headline(title, "1"),), rejections=reasons)
    _no_markup(render_report(summary), "the report")


def _through_figures(
    article: Article, row: Row, packaged: list[Row], objects: MemoryObjects, *, to_the_end: bool = True
) -> list[Row] | None:
    """Take an article from its PDF to its figures, or to the dataset and its pages."""
    pixels, cut = MemoryPixels({}), MemoryPixels({})
    located = article.attempt("pdf_figures", locate_pdf_figures, row, packaged, objects, pixels, FIGURE_OPTIONS)
    if located is None:
        return None
    for figure in located:
        _unit_boxes(figure["bitmaps"], "box")
        _demand(all(0 <= v <= 1 for shape in figure["shapes"] for v in shape["box"]), "shapes lie in the figure")
        ends = [end for shape in figure["shapes"] for end in (shape["tip"], shape["tail"]) if end is not None]
        _demand(all(0 <= v <= 1 for end in ends for v in end), "shapes point into the figure")
        _unit_boxes(
            [text for text in figure["texts"] if text["box"][0] < text["box"][2] and text["box"][1] < text["box"][3]],
            "box",
        )
        for place in figure["locations"]:
            _demand(bool(np.isfinite(place["bbox"]).all()), f"location {place} is finite")
    matches = article.attempt("figure_matches", match_article_figures, row, located, packaged, objects, pixels)
    figures = article.attempt("figures", join_article_figures, row, located, matches or [], packaged) or []
    return _through_panels(article, row, figures, pixels, cut) if to_the_end else figures


def _through_panels(
    article: Article, row: Row, figures: list[Row], pixels: MemoryPixels, cut: MemoryPixels
) -> list[Row]:
    options, reading = DetectionOptions(), ReadingOptions()
    captions = article.attempt("subcaptions", split_article_captions, figures) or []
    seen = article.attempt(
        "panel_detections", detect_article_panels, ARTICLE_ID, figures, captions, pixels, options, reading
    )
    panels = seen or []
    _unit_boxes(panels, "box")
    assigned = article.attempt(
        "panel_captions", caption_article_panels, ARTICLE_ID, figures, panels, captions, pixels, reading
    )
    captioned = assigned or []
    _unit_boxes(captioned, "box", "content_box")
    images = article.attempt(
        "image_detections", detect_article_images, ARTICLE_ID, figures, panels, captioned, pixels, options
    )
    _unit_boxes(images or [], "box")
    assembled = article.attempt("panel_assembly", assemble_article, figures, captioned, images or [], captions, panels)
    _unit_boxes(assembled or [], "box", "content_box")
    reviewed = article.attempt(
        "reviewed_panels", review_article, figures, assembled or [], captions, panels, [], pixels
    )
    made = article.attempt("panels", crop_article_panels, ARTICLE_ID, figures, reviewed or [], pixels, cut)
    given = (row, figures, made or [], reviewed or [], _specialty(), 0.0)
    rows = article.attempt("dataset_rows", make_dataset_rows, *given) or []
    checked(DatasetRows, rows)
    _article_pages(row["title"] or row["package"], figures, article.rejections, rows, pixels)
    for figure in figures:
        picture = pixels.read(ARTICLE_ID)[figure["pdf_figure_id"]]
        own = [item for item in panels if item["image_cluster_id"] == figure["image_cluster_id"]]
        shape = np.zeros((picture.height, picture.width, 3), dtype=np.uint8)
        draw_detections(shape, panels=[(tuple(item["box"]), item["text"]) for item in own], max_side=300)
    return rows


def xml_case(rng: random.Random, sources: Sequence[str]) -> tuple[str, str]:
    """Read a hostile XML; one in eight goes on with its PDF to the dataset."""
    files = package(rng.choice(sources))
    name, xml = hostile_xml(files.xml, rng)
    whole = rng.random() < 0.125
    objects, article = MemoryObjects({}), Article()
    row = _package_row(objects, Package(files.name, files.pdf, xml, files.pictures))
    if not whole:
        row["pdf"] = None
    facts = article.facts(row, objects)
    if facts is None:
        return name, _outcome(article, [])
    packaged: list[Row] = []
    if facts["xml"]:
        packaged = article.attempt("package_figures", read_package_figures, facts, row, objects) or []
    for figure in packaged[:SHOWN_FIGURES]:
        split = split_caption(figure["caption"])
        _inside(figure["caption"], split)
        _caption_pages(figure["caption"], split)
    if whole:
        _through_figures(article, facts, packaged, objects)
    else:
        _article_pages(facts["title"] or facts["package"], packaged[:SHOWN_FIGURES], article.rejections)
    return name, _outcome(article, packaged)


def pdf_case(rng: random.Random, sources: Sequence[str]) -> tuple[str, str]:
    """Take a hostile PDF through every step, with the XML's figures and their pictures or without."""
    files = package(rng.choice(sources))
    name, pdf = hostile_pdf(files.pdf, rng)
    objects, article = MemoryObjects({}), Article()
    pictures = files.pictures if rng.random() < WITH_PICTURES else {}
    row = _package_row(objects, Package(files.name, pdf, files.xml, pictures))
    if rng.random() < 0.4:
        row["xml"] = None
        name += ", no XML"
    facts = article.facts(row, objects)
    if facts is None:
        return name, _outcome(article, [])
    packaged: list[Row] = []
    if facts["xml"]:
        packaged = article.attempt("package_figures", read_package_figures, facts, row, objects) or []
        packaged = packaged[:3]  # each that is not found is looked for on every page
    rows = _through_figures(article, facts, packaged, objects, to_the_end=rng.random() < TO_THE_END)
    return name, _outcome(article, rows or [])


def wrong_pdf_case(rng: random.Random, sources: Sequence[str]) -> tuple[str, str]:
    """Put the PDF of one article beside the XML of another, as it is or disguised."""
    mine, other = (package(name) for name in rng.sample(list(sources), 2))
    disguise = rng.choice(DISGUISES)
    objects, article = MemoryObjects({}), Article()
    row = _package_row(objects, Package(mine.name, disguise(mine.pdf, other.pdf), mine.xml, mine.pictures))
    facts = article.facts(row, objects)
    figures: list[Row] = []
    if facts is not None:
        _demand(facts["pdf_identity"] == "unverified", f"a PDF of another article is verified: {facts}")
        packaged = article.attempt("package_figures", read_package_figures, facts, row, objects) or []
        figures = _through_figures(article, facts, packaged, objects, to_the_end=False) or []
    theirs = {figure.caption for figure in parse_jats(other.xml).figures}
    own = right_pages(mine.pdf, disguise)
    for figure in figures:
        if max(place["page"] for place in figure["locations"]) < own:
            continue  # it is the right article's
        _demand(figure["matched"], f"a figure of another article goes out: {figure['label']} {figure['caption']}")
        _demand(figure["caption"] in theirs, f"a figure of another article is taken for {figure['caption']}")
    return f"{other.name} beside {mine.name}, {disguise.__name__}", _outcome(article, figures)


def caption_case(rng: random.Random, sources: Sequence[str]) -> tuple[str, str]:
    """Split a hostile caption and show it."""
    name, caption = hostile_caption(rng)
    split = split_caption(caption)
    _inside(caption, split)
    _caption_pages(caption, split)
    return name, f"{len(split.subcaptions)} subcaptions"


def picture_case(rng: random.Random, sources: Sequence[str]) -> tuple[str, str]:
    """Put hostile pictures into a package, and detect in pixels that no article shows."""
    files = package(rng.choice(sources))
    names, pictures = [], {}
    for name in files.pictures:
        kind, pictures[Path(name).stem + rng.choice((".jpg", ".png", ".gif"))] = hostile_picture(rng)
        names.append(kind)
    objects, article = MemoryObjects({}), Article()
    row = _package_row(objects, Package(files.name, files.pdf, files.xml, pictures))
    facts = article.facts(row, objects)
    if facts is None:
        return f"{', '.join(names)}", _outcome(article, [])
    packaged = article.attempt("package_figures", read_package_figures, facts, row, objects) or []
    rows = _through_figures(article, facts, packaged, objects, to_the_end=rng.random() < 0.1) or []
    kind, pixels = odd_pixels(rng)
    _odd_figure(article, facts, pixels, rng)
    return f"{', '.join(names)}; {kind}", _outcome(article, rows)


def _odd_figure(article: Article, facts: Row, pixels: np.ndarray, rng: random.Random) -> None:
    height, width = pixels.shape[:2]
    caption = rng.choice(("(A) Eye. (B) Map.", "An eye.", ""))
    bitmap = {"box": [0.0, 0.0, 1.0, 1.0], "native_width": width, "native_height": height}
    text = {"text": "A", "box": [0.0, 0.0, 0.05, 0.05], "size": 8.0, "bold": True}
    figure = {
        "article_id": ARTICLE_ID, "pdf_figure_id": "p0-1", "image_cluster_id": "odd", "ordinal": 0, "label": "Figure 1",
        "caption": caption, "matched": False, "match_criteria": None, "confidence": 1.0, "is_multi_page": False,
        "locations": [{"page": 0, "bbox": [0.0, 0.0, 9.0, 9.0]}], "caption_locations": [], "mentions": [],
        "page_sizes": [{"page": 0, "width": 612.0, "height": 792.0}],
        "width": width, "height": height, "dpi": 72.0,
        "bitmaps": [bitmap] * rng.choice((0, 1, 2)), "texts": [text] * rng.choice((0, 1)),
        "shapes": [{"kind": "head", "box": [0.5, 0.5, 0.5, 0.6], "colour": "#ffffff", "filled": True,
                    "tip": [0.5, 0.5], "tail": [0.5, 0.6]}],
    }  # fmt: skip
    stored = MemoryPixels({ARTICLE_ID: {"p0-1": Picture("p0-1", width, height, png_bytes(pixels))}})
    _through_panels(article, facts, [figure], stored, MemoryPixels({}))


def package_case(rng: random.Random, sources: Sequence[str]) -> tuple[str, str]:
    """Register and fetch a folder with a hostile and a sound package; the sound one is always there."""
    files = package(rng.choice(sources))
    with tempfile.TemporaryDirectory() as place:
        source = Path(place) / "source"
        sound = source / "PMC123456"
        sound.mkdir(parents=True)
        (sound / "article.pdf").write_bytes(files.pdf)
        name, folder = hostile_package(source, files, rng)
        article = Article()
        items = list(LocalFolder(source).listings())
        listed = [item for item in items if isinstance(item, PackageListing)]
        refused = [item for item in items if not isinstance(item, PackageListing)]
        for item in refused:
            unforeseen = isinstance(item, Rejection) and item.traceback_tail
            _demand(not unforeseen, f"a package is refused with a reason: {item}")
        _demand("PMC123456" in [item.name for item in listed], "a bad package does not lose the others")
        manifest = checked(ArticleBatch, manifest_rows(listed, LocalFolder(source).uri))
        objects = MemoryObjects({})
        for entry in manifest.iter_rows(named=True):
            fetched = article.rows(
                "article_packages", fetch_package(entry, LocalFolder(source), objects, FetchLimits())
            )
            row = fetched[0]
            facts = article.facts(row, objects)
            if facts is not None and facts["xml"]:
                article.attempt("package_figures", read_package_figures, facts, row, objects)
        _demand(not _outside(objects, files, folder), "nothing outside the source is read")
        return name, f"{len(listed)} registered, {len(refused)} refused, {_outcome(article, [])}"


def _outside(objects: MemoryObjects, files: Package, folder: Path) -> bool:
    secret = Path("/etc/hostname")
    return secret.is_file() and secret.read_bytes() in [content for content in objects.contents.values() if content]


def _outcome(article: Article, rows: Sequence[Any]) -> str:
    refused = sorted({item.error_class for item in article.rejections})
    return f"{len(rows)} rows{': ' if refused else ''}{', '.join(refused)}"


CASES: Mapping[str, Callable[[random.Random, Sequence[str]], tuple[str, str]]] = {
    "xml": xml_case,
    "pdf": pdf_case,
    "caption": caption_case,
    "picture": picture_case,
    "wrong_pdf": wrong_pdf_case,
    "package": package_case,
}


def run_case(kind: str, seed: int, number: int, sources: Sequence[str]) -> StepOutput:
    """Run one case in a worker process: a row {number, name, outcome, trouble}; trouble is a traceback or None."""
    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    facts: Row = {"number": number, "name": "", "outcome": "", "trouble": None}
    try:
        facts["name"], facts["outcome"] = CASES[kind](random_of(kind, seed, number), sources)
    except MemoryError:
        raise
    except (Exception, pl.exceptions.PanicException) as error:
        lines = traceback.format_exception(error)
        facts["trouble"] = "".join(lines)[-4000:]
    return StepOutput(rows=[facts])
