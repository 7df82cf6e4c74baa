"""One article package through the stages of the graph, without Dagster: what `pmo article` and a notebook run.

The declarations (`pmo_assets.pipeline.graph`) tell which steps run, and in which order. Add here: inputs and results
of one article. Keep out: any step.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from pmo_assets.pipeline.articles.relevance import Specialty
from pmo_assets.pipeline.assembly.reading.text_readers import ReadingOptions
from pmo_assets.pipeline.captions.cascade import Cascade
from pmo_assets.pipeline.detection.steps import DetectionOptions
from pmo_assets.pipeline.figures.extraction import FigureOptions
from pmo_assets.pipeline.graph import UnitRun, run_unit
from pmo_assets.records.memory_stores import MemoryPixels
from pmo_assets.records.rejections import Rejection
from pmo_assets.records.step_output import Row, rows_by_figure
from pmo_assets.records.stores import ObjectStore, PixelStore

LAST: Final = ("panel_assembly", "panel_entities", "panel_modality", "regions", "verdicts")
"""The stages at which one article by itself ends: people's decisions and the dataset's rows are a matter of batches."""

OWN_INPUTS: Final = (
    "figure_options", "detection_options", "reading_options", "cascade", "reader", "summary_writer", "region_reader",
    "instruction_writer", "region_texts",
)  # fmt: skip
"""Inputs of steps that are options of whoever runs one article; the rest follow from the specialty."""


@dataclass(frozen=True)
class ArticleResult:
    """Result of the pipeline for one article.

    Attributes:
        article: row of `articles`; number and package alone when its files are not of one article.
        figures: rows of `figures`.
        assembled: rows of `panel_assembly` by figure.
        rejections: inputs that could not be processed.
        tables: rows by table, of every stage that ran.
    """

    article: Row
    figures: Sequence[Row]
    assembled: Mapping[str, Sequence[Row]]
    rejections: Sequence[Rejection]
    tables: Mapping[str, Sequence[Row]] = field(default_factory=dict)


@dataclass(frozen=True)
class FoundFigures:
    """The figures of one article, as the steps up to `figures` find them.

    Attributes:
        article: row of `articles`; number and name alone when its files are not of one article.
        figures: rows of `figures`; None when the article cannot be processed as a whole (no PDF, encrypted, …).
        rejections: inputs that could not be processed.
    """

    article: Row
    figures: Sequence[Row] | None
    rejections: Sequence[Rejection]


def default_inputs(specialty: Specialty) -> dict[str, Any]:
    """Return the default inputs of steps: rules and the shipped networks, no language model."""
    return {
        "figure_options": FigureOptions(),
        "detection_options": DetectionOptions(),
        "reading_options": ReadingOptions(),
        "cascade": Cascade(),
        "reader": None,
        "summary_writer": None,
        "region_reader": None,
        "instruction_writer": None,
        "region_texts": "terms",
        "specialty": specialty,
        "wanted_types": specialty.image_types,
    }


def run_package(package: Row, objects: ObjectStore, targets: Iterable[str], inputs: Mapping[str, Any]) -> UnitRun:
    """Take one package through the stages up to `targets`; relevance is recorded, but stops nothing.

    Args:
        package: row of `article_packages`.
        objects: store of its files.
        targets: the last stages.
        inputs: what steps ask for besides rows (`default_inputs`), and the pixel stores that they name.

    Raises:
        KeyError: if there is no such stage, or an input is missing.
    """
    given = {"article_packages": [package], "biomedica_figures": [], "annotations": []}
    even_if = {"articles": {"selected": package["pdf"] is not None}}
    return run_unit(package["article_id"], targets, given, {"objects": objects, **inputs}, even_if)


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
        objects: store of its files.
        specialty: it tells which articles are relevant.
        pixels: store of the renderings.
        figure_options: limits and resolution.
    """
    own = {"figure_options": figure_options, "figure_pixels": pixels}
    run = run_package(package, objects, ["figures"], {**default_inputs(specialty), **own})
    whole = not run.not_run & {"articles", "pdf_figures"}
    return FoundFigures(_article(run, package), run.tables["figures"] if whole else None, run.rejections)


def _article(run: UnitRun, package: Row) -> Row:
    return next(iter(run.tables["articles"]), {"article_id": package["article_id"], "package": package["name"]})


def process_article(
    package: Row,
    objects: ObjectStore,
    *,
    specialty: Specialty,
    pixels: PixelStore | None = None,
    targets: Iterable[str] = LAST,
    **inputs: Any,
) -> ArticleResult:
    """Run every step up to the panels' context for one package; relevance and what is wanted are recorded only.

    Args:
        package: row of `article_packages`.
        objects: store of its files.
        specialty: it tells which articles are relevant and which image types are wanted.
        pixels: store of the renderings; in memory if None.
        targets: the last stages.
        inputs: what steps shall get instead of `default_inputs`: `figure_options` (limits and resolution),
            `detection_options` (detectors and thresholds), `cascade` (how captions are split), `reading_options` (what
            reads printed identifiers), `reader` (the vision model that looks at figures with undecided panels),
            `summary_writer` (the language model that summarises panels), `region_reader` (the vision model that names
            what marked panels show), `instruction_writer` (the language model that writes and judges instructions),
            `region_texts` (what compares the texts of regions).

    An article that cannot be processed as a whole (no PDF, unreadable, encrypted, …) has no figures and a rejection.

    Raises:
        KeyError: if there is no such stage.
        TypeError: for an input that no step asks for.
    """
    known = default_inputs(specialty)
    stores = {"figure_pixels": pixels if pixels is not None else MemoryPixels(), "panel_pixels": MemoryPixels()}
    if unknown := inputs.keys() - known.keys() - stores.keys():
        raise TypeError(f"no step asks for {', '.join(sorted(unknown))}: inputs are {', '.join(sorted(known))}")
    run = run_package(package, objects, targets, {**known, **stores, **inputs})
    assembled = rows_by_figure(run.tables.get("panel_assembly", []))
    return ArticleResult(_article(run, package), run.tables.get("figures", []), assembled, run.rejections, run.tables)


def annotation(name: str, result: ArticleResult) -> dict[str, Any]:
    """Return the result in the annotation format, with scores, and with the panels' context where it was made.

    Boxes of panels, identifiers and images are normalised [l, t, r, b]; of figures and captions, PDF points.
    """
    context = _context(result.tables)
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
                "panels": [
                    {**_panel(panel), **context.get((panel["image_cluster_id"], panel["ordinal"]), {})}
                    for panel in result.assembled.get(figure["image_cluster_id"], [])
                ],
            }
            for figure in result.figures
        ],
        "rejections": [
            {"stage": item.stage, "figure": item.part, "error": item.error_class, "message": item.message}
            for item in result.rejections
        ],
    }


def _context(tables: Mapping[str, Sequence[Row]]) -> dict[tuple[str, int], Row]:
    """Return the panels' context, marks, regions, scenes and kept instructions, by figure and ordinal.

    It is empty where those stages did not run.
    """
    found: dict[tuple[str, int], Row] = {}
    for row in tables.get("panel_summaries", []):
        summary = row["summary"] if row["generated_summary"] is None else row["generated_summary"]
        found[row["image_cluster_id"], row["ordinal"]] = {"mentions": row["mentions"], "summary": summary}
    for row in tables.get("panel_entities", []):
        found.setdefault((row["image_cluster_id"], row["ordinal"]), {})["entities"] = row["entities"]
    for row in tables.get("panel_modality", []):
        facts = {name: row[name] for name in ("modality_class", "medical")}
        found.setdefault((row["image_cluster_id"], row["ordinal"]), {}).update(facts)
    for name in ("marks", "regions"):
        for row in tables.get(name, []):
            found.setdefault((row["image_cluster_id"], row["ordinal"]), {})[name] = row[name]
    for row in tables.get("cues", []):
        own = found.setdefault((row["image_cluster_id"], row["ordinal"]), {})
        own.update(scenes=[cue["text"] for cue in row["scenes"]], instructions=[])
    kept = {(row["panel_id"], row["number"]) for row in tables.get("verdicts", []) if row["is_kept"]}
    for row in tables.get("instructions", []):
        if (row["panel_id"], row["number"]) in kept:
            said = {name: row[name] for name in ("kind", "messages", "evidence", "boxes", "maker", "confidence")}
            found[row["image_cluster_id"], row["ordinal"]]["instructions"].append(said)
    return found


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
            for image in (*panel["images"], *panel["unassigned_images"])
        ],
        "score": round(panel["score"], 4),
        "assembly": panel["method"],
        "assembly_reason": panel["reason"],
        "confidence": round(panel["confidence"], 4),
        "runner_up": panel["runner_up"],
        "evidence": panel["evidence"],
    }
