"""Make and keep what assembly works on, so that assembly alone can be run again in seconds.

    nice python benchmarks/assembly_cases.py --synthetic 0 600 --out /tmp/cases/train
    nice python benchmarks/assembly_cases.py --synthetic 10000 1000 --out /tmp/cases/test
    nice python benchmarks/assembly_cases.py --otherwise-named 0 40 --out /tmp/cases/letters
    nice python benchmarks/assembly_cases.py --annotated [--shared ../shared] --out /tmp/cases/annotated

Runs the steps of `pmo article` up to `panel_detections` on synthetic articles (`assembly_spec`, or
`otherwise_named_spec` with letters that captions do not name; seeds FIRST to FIRST + COUNT - 1) or on the annotated
articles, and writes one file per article: every annotated figure with its rows of `figures`, `subcaptions` and
`panel_detections`, its pixels and the truth. Articles whose file exists are left out, so that a run that was stopped
goes on; when samples, figures, captions or detection have changed, remove the folder and run the command again.
`score_assembly.py` reads the files.
"""

from __future__ import annotations

import argparse
import io
import json
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from pmo_assets.annotation.annotations import AnnotatedArticle, AnnotatedFigure, annotation_files, read_annotations
from pmo_assets.pipeline.article import ArticleResult, annotation
from pmo_assets.pipeline.articles.fetching import FetchLimits, fetch_package
from pmo_assets.pipeline.articles.relevance import load_specialty
from pmo_assets.pipeline.articles.steps import read_article, read_package_figures
from pmo_assets.pipeline.assembly.reading.text_readers import ReadingOptions
from pmo_assets.pipeline.captions.cascade import Cascade
from pmo_assets.pipeline.captions.steps import reread_captions, split_article_captions
from pmo_assets.pipeline.detection.steps import DetectionOptions, detect_article_panels
from pmo_assets.pipeline.figures.extraction import FigureOptions
from pmo_assets.pipeline.figures.steps import join_article_figures, locate_pdf_figures, match_article_figures
from pmo_assets.quality.metrics.matching import FOUND_IOU, assigned_figures, page_box
from pmo_assets.records.geometry import UNIT_BOX, Box, area, as_box, clip, normalise
from pmo_assets.records.memory_stores import MemoryObjects, MemoryPixels
from pmo_assets.records.step_output import Row, rows_by_figure
from pmo_assets.samples import typeset
from pmo_assets.samples.packages import write_package
from pmo_assets.samples.spec import ArticleSpec, Evidence
from pmo_assets.sources.local import LocalFolder
from pmo_assets.sources.package_folders import list_package
from pmo_assets.system.aside import path_aside
from pmo_assets_tests.samples.assembly_specs import assembly_spec, otherwise_named_spec, true_split

SUFFIX = ".zip"
CASES = "cases.json"
MAX_PROCESSES = 2


@dataclass(frozen=True, slots=True)
class TruePanel:
    """A panel as it really is.

    Attributes:
        identifier: as annotated; None for a single panel, and where nothing is printed and nothing can be decided.
        identifier_box: where it is printed, normalised to the found figure; None when it is not printed.
        box: normalised to the found figure.
        subcaption: None where no evidence decides it (leaving it open is right); "" where the caption has no text.
        evidence: as in `PanelSpec`; real panels are decided.
    """

    identifier: str | None
    identifier_box: Box | None
    box: Box
    subcaption: str | None
    evidence: Evidence = "decides"


@dataclass(frozen=True, slots=True)
class AssemblyCase:
    """One annotated figure and what the pipeline knows of it before assembly.

    Attributes:
        article: name of its package.
        ordinal: position of the annotated figure in its article.
        label: as annotated.
        features: what it shows ("layout:rows", "lie:gap_in_series"); empty for real figures.
        caption: as annotated.
        figure: row of `figures`; None when the figure was not found (IoU below 0.5).
        subcaptions: its rows of that table.
        detections: its rows of `panel_detections`.
        truth: annotated panels.
        split: what the caption says, as (identifier, subcaption); one with None for a caption that names no panel.
        png: the figure's pixels; b"" when not found.
    """

    article: str
    ordinal: int
    label: str
    features: tuple[str, ...]
    caption: str
    figure: Row | None
    subcaptions: tuple[Row, ...]
    detections: tuple[Row, ...]
    truth: tuple[TruePanel, ...]
    split: tuple[tuple[str | None, str], ...]
    png: bytes

    @property
    def name(self) -> str:
        """Unique among cases."""
        return f"{self.article} {self.label or self.ordinal + 1}"

    @property
    def pixels(self) -> NDArray[np.uint8]:
        """The figure, (height, width, 3) uint8 RGB."""
        with Image.open(io.BytesIO(self.png)) as picture:
            return np.asarray(picture.convert("RGB"), dtype=np.uint8).copy()


@dataclass(frozen=True, slots=True)
class _Detected:
    """What the pipeline made of an article, up to detection."""

    figures: list[Row]
    subcaptions: dict[str, list[Row]]
    detections: dict[str, list[Row]]
    pictures: Mapping[str, bytes]


def detected_article(folder: Path) -> _Detected:
    """Run the steps of `process_article` (`pmo_assets/pipeline/article.py`) up to panel detection on a package."""
    listing = list_package(folder, folder.parent)
    if listing is None:
        raise SystemExit(f"{folder} is no article package")
    objects, pixels = MemoryObjects({}), MemoryPixels({})
    fetched = fetch_package(asdict(listing), LocalFolder(folder.parent), objects, FetchLimits())
    package = fetched.rows[0]
    article = read_article(package, objects, load_specialty("everything")).rows[0]
    number = article["article_id"]
    packaged = read_package_figures(article, package, objects).rows if article["xml"] else []
    located = locate_pdf_figures(article, packaged, objects, pixels, FigureOptions()).rows
    matches = match_article_figures(article, located, packaged, objects, pixels).rows
    figures = join_article_figures(article, located, matches, packaged).rows
    split, _ = reread_captions(figures, split_article_captions(figures).rows, Cascade())
    found = detect_article_panels(number, figures, split.rows, pixels, DetectionOptions(), ReadingOptions()).rows
    pictures = {key: picture.png for key, picture in pixels.read(number).items()}
    return _Detected(figures, rows_by_figure(split.rows), rows_by_figure(found), pictures)


def true_panels(truth: AnnotatedFigure, frame: Box, evidence: Sequence[Evidence]) -> tuple[TruePanel, ...]:
    """Return the annotated panels normalised to `frame` (PDF points on the page that the figure begins on)."""

    def moved(box: Box | None) -> Box | None:
        inside = clip(normalise(page_box(box, truth), frame), UNIT_BOX) if box is not None else None
        return inside if inside is not None and area(inside) > 0 else None

    return tuple(
        TruePanel(p.identifier, moved(p.identifier_box), moved(p.box) or UNIT_BOX, p.subcaption, kind)
        for p, kind in zip(truth.panels, evidence, strict=True)
    )


def annotated_split(figure: AnnotatedFigure) -> tuple[tuple[str | None, str], ...]:
    """Return what an annotated caption says, as (identifier, subcaption) in order; one with None if it names no panel.

    A caption that names no panel gives the whole of it to each (annotation guide).
    """
    texts = {panel.subcaption or "" for panel in figure.panels}
    if len(figure.panels) == 1 or texts == {figure.caption} or texts == {""}:
        return ((None, figure.caption or ""),)
    named = {panel.identifier: panel.subcaption or "" for panel in figure.panels}
    return tuple(named.items())


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known of an annotated figure beyond its annotation."""

    features: tuple[str, ...]
    split: tuple[tuple[str | None, str], ...]
    evidence: tuple[Evidence, ...]


def article_cases(found: _Detected, truth: AnnotatedArticle, known: Sequence[_Known]) -> Iterator[AssemblyCase]:
    """Pair every annotated figure with the figure that was found for it, as the scorer of articles does."""
    result = ArticleResult({}, found.figures, {}, [])
    predicted = AnnotatedArticle.model_validate(annotation(truth.article_id, result)).figures
    assigned = assigned_figures(truth.figures, predicted)
    for ordinal, (figure, more) in enumerate(zip(truth.figures, known, strict=True)):
        index, overlap = assigned.get(ordinal, (None, 0.0))
        row = found.figures[index] if index is not None and overlap >= FOUND_IOU else None
        cluster = row["image_cluster_id"] if row is not None else ""
        frame = as_box(row["locations"][0]["bbox"]) if row is not None else figure.figure_locations[0].bbox
        yield AssemblyCase(
            article=truth.article_id,
            ordinal=ordinal,
            label=figure.label or "",
            features=more.features,
            caption=figure.caption or "",
            figure=row,
            subcaptions=tuple(found.subcaptions.get(cluster, ())),
            detections=tuple(found.detections.get(cluster, ())),
            truth=true_panels(figure, frame, more.evidence),
            split=more.split,
            png=found.pictures[row["pdf_figure_id"]] if row is not None else b"",
        )


def write_cases(path: Path, cases: Sequence[AssemblyCase]) -> None:
    """Write an article's cases; the file appears whole or not at all."""
    with path_aside(path, durable=False) as partial, zipfile.ZipFile(partial, "w", zipfile.ZIP_STORED) as file:
        facts = []
        for number, item in enumerate(cases):
            file.writestr(f"{number}.png", item.png)
            facts.append({key: value for key, value in asdict(item).items() if key != "png"})
        file.writestr(CASES, json.dumps(facts, ensure_ascii=False), zipfile.ZIP_DEFLATED)


def _panel(value: Mapping[str, Any]) -> TruePanel:
    at = value["identifier_box"]
    return TruePanel(
        value["identifier"], as_box(at) if at else None, as_box(value["box"]), value["subcaption"], value["evidence"]
    )


def read_cases(folder: Path) -> Iterator[AssemblyCase]:
    """Return the cases of a folder, by article."""
    for path in sorted(folder.glob(f"*{SUFFIX}")):
        with zipfile.ZipFile(path) as file:
            for number, fact in enumerate(json.loads(file.read(CASES))):
                yield AssemblyCase(
                    article=fact["article"],
                    ordinal=fact["ordinal"],
                    label=fact["label"],
                    features=tuple(fact["features"]),
                    caption=fact["caption"],
                    figure=fact["figure"],
                    subcaptions=tuple(fact["subcaptions"]),
                    detections=tuple(fact["detections"]),
                    truth=tuple(_panel(panel) for panel in fact["truth"]),
                    split=tuple((name, text) for name, text in fact["split"]),
                    png=file.read(f"{number}.png"),
                )


def _synthetic_cases(spec: ArticleSpec) -> list[AssemblyCase]:
    article = typeset(spec)
    truth = AnnotatedArticle.model_validate(article.truth)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / article.name
        write_package(folder, article)
        found = detected_article(folder)
    known = [
        _Known(figure.features, true_split(figure.caption), tuple(panel.evidence for panel in figure.panels))
        for figure in spec.figures
    ]
    return list(article_cases(found, truth, known))


def make_synthetic(seed: int, out: Path, specified: Callable[[int], ArticleSpec] = assembly_spec) -> str:
    """Write the cases of one synthetic article."""
    path = out / f"seed_{seed:06d}{SUFFIX}"
    if not path.exists():
        write_cases(path, _synthetic_cases(specified(seed)))
    return path.name


def make_annotated(truth: AnnotatedArticle, corpus: Path, out: Path) -> str:
    """Write the cases of one annotated article."""
    path = out / f"{truth.article_id}{SUFFIX}"
    if not path.exists():
        found = detected_article(corpus / truth.article_id)
        known = [_Known((), annotated_split(f), tuple("decides" for _ in f.panels)) for f in truth.figures]
        write_cases(path, list(article_cases(found, truth, known)))
    return path.name


def main() -> None:
    """Make the cases."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kind = parser.add_mutually_exclusive_group(required=True)
    kind.add_argument("--synthetic", nargs=2, type=int, metavar=("FIRST", "COUNT"), help="seeds of synthetic articles")
    kind.add_argument(
        "--otherwise-named", nargs=2, type=int, metavar=("FIRST", "COUNT"), help="the same, letters unnamed"
    )
    kind.add_argument("--annotated", action="store_true", help="the annotated articles")
    parser.add_argument("--shared", type=Path, default=Path(__file__).resolve().parents[2] / "shared")
    parser.add_argument("--out", type=Path, required=True, help="folder of the files, one per article")
    parser.add_argument("--processes", type=int, default=1, choices=range(1, MAX_PROCESSES + 1))
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    with ProcessPoolExecutor(args.processes) as pool:
        if args.annotated:
            articles = read_annotations(annotation_files(str(args.shared / "annotations"))).articles
            made = pool.map(partial(make_annotated, corpus=args.shared / "corpus", out=args.out), articles)
        else:
            first, count = args.synthetic or args.otherwise_named
            specified = assembly_spec if args.synthetic else otherwise_named_spec
            made = pool.map(partial(make_synthetic, out=args.out, specified=specified), range(first, first + count))
        for number, name in enumerate(made, start=1):
            print(f"{number:5d} {time.perf_counter() - start:7.1f} s {name}", flush=True)


if __name__ == "__main__":
    main()
