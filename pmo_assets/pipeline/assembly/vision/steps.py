"""The step that puts what rules left undecided to a vision model, for the figures of any number of articles."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pmo_assets.pictures import decoded
from pmo_assets.pipeline.assembly.steps import figure_split
from pmo_assets.pipeline.assembly.vision.applying import Outcome, open_because, with_verdict
from pmo_assets.pipeline.assembly.vision.look import FigureReader, FigureVerdict, look_at_figure
from pmo_assets.pipeline.assembly.vision.pictures import shown_figure
from pmo_assets.pipeline.assembly.vision.question import FigureNotAsked, FigureQuestion, figure_question
from pmo_assets.pipeline.prompting.asking import Progress, asked_side_by_side
from pmo_assets.records.chat import NO_USAGE, ChatUsage
from pmo_assets.records.faults import raise_fault, same_fault
from pmo_assets.records.panels import Panel
from pmo_assets.records.rejections import Rejection, rejection_from
from pmo_assets.records.step_output import Row, StepOutput
from pmo_assets.records.stores import PixelStore
from pmo_assets.tables.detections import found_images, found_panels
from pmo_assets.tables.panels import PanelAssembly, rows_of_panels
from pmo_assets.tables.rows import record_of

Key = tuple[int, str]
"""Article and figure."""

STAGE = "panel_assembly"


@dataclass(frozen=True)
class VisionCounts:
    """Outcomes of the undecided panels that a model was asked about.

    Attributes:
        figures: figures that were asked about.
        panels: undecided panels in them.
        failed: figures without a usable answer.
        outcomes: number of panels by outcome; panels that were made of images count, those they replace do not.
        usage: requests, tokens and seconds that it cost.
    """

    figures: int = 0
    panels: int = 0
    failed: int = 0
    outcomes: Counter[Outcome] = field(default_factory=Counter)
    usage: ChatUsage = NO_USAGE


@dataclass(frozen=True)
class _Asked:
    """A figure that is asked about."""

    key: Key
    picture: str
    question: FigureQuestion
    panels: Sequence[Panel]


def refine_assembly(
    tables: Mapping[str, Sequence[Mapping[str, Any]]],
    rows: Sequence[Row],
    reader: FigureReader | None,
    figure_pixels: PixelStore,
    progress: Progress | None = None,
) -> tuple[StepOutput, VisionCounts]:
    """Put the undecided panels of figures that go on to a vision model: rows of `panel_assembly`.

    A figure for which the model gives no fitting answer keeps its rows, with the reason, and is listed as a rejection
    too: that is where a person looks for what failed. In the main process, because waiting for a server takes threads
    and not processes.

    Args:
        tables: rows of `figures`, `subcaptions`, `panel_detections` and `image_detections` of any number of articles.
        rows: their rows of `panel_assembly` as rules gave them.
        reader: the model; None leaves everything as it is.
        figure_pixels: store of the renderings.
        progress: told how many figures have been looked at.

    Raises:
        SystemicError: if no request can succeed.
    """
    if reader is None:
        return StepOutput(rows=list(rows)), VisionCounts()
    by_figure = {name: _by_figure(table) for name, table in [*tables.items(), (STAGE, rows)]}
    going_on = [f for f in tables["figures"] if any(row["wanted"] for row in by_figure[STAGE].get(_key(f), []))]
    asked, errors = _questions(going_on, by_figure, reader.threshold)
    turn = threading.Lock()
    looks = asked_side_by_side(
        asked, lambda item: _looked_at(item, reader, figure_pixels, turn), reader.concurrency, "figures", progress
    )
    changed: dict[Key, Sequence[Panel]] = {}
    outcomes: Counter[Outcome] = Counter()
    for item, look in zip(asked, looks, strict=True):
        if look.error is not None:
            errors[item.key] = look.error
        if look.verdict is not None:
            applied = with_verdict(item.question, look.verdict, item.panels, reader.model.name)
            changed[item.key] = applied.panels
            outcomes += applied.outcomes
    for key in errors.keys() - changed.keys():
        panels = [record_of(Panel, row) for row in by_figure[STAGE][key]]
        changed[key] = [_unanswered(panel, errors[key], reader.threshold) for panel in panels]
        outcomes["left undecided"] += sum(panel.is_undecided(reader.threshold) for panel in panels)
    kept = [
        row
        for key, group in by_figure[STAGE].items()
        for row in (rows_of_panels(PanelAssembly, group[0], changed[key]) if key in changed else group)
    ]
    usage = sum((look.usage for look in looks), NO_USAGE)
    count = sum(len(item.question.undecided_panels) for item in asked)
    return StepOutput(kept, _rejections(errors, asked)), VisionCounts(len(asked), count, len(errors), outcomes, usage)


def _questions(
    figures: Sequence[Mapping[str, Any]], by_figure: Mapping[str, Mapping[Key, list[Row]]], threshold: float
) -> tuple[list[_Asked], dict[Key, Exception]]:
    """Return the questions about figures, and the errors of those that cannot be asked about, by key."""
    asked: list[_Asked] = []
    refused: dict[Key, Exception] = {}
    for figure in figures:
        try:
            item = _asked_about(figure, by_figure, threshold)
        except FigureNotAsked as error:
            refused[_key(figure)] = error
        else:
            asked += [item] if item is not None else []
    return asked, refused


def _rejections(errors: Mapping[Key, Exception], asked: Sequence[_Asked]) -> list[Rejection]:
    found = [
        rejection_from(error, stage=STAGE, unit_id=article_id, part=cluster)
        for (article_id, cluster), error in errors.items()
    ]
    fault = same_fault(found, len({item.key[0] for item in asked}))
    if fault is not None:
        raise fault
    return found


def _key(row: Mapping[str, Any]) -> Key:
    return row["article_id"], row["image_cluster_id"]


def _by_figure(rows: Sequence[Mapping[str, Any]]) -> dict[Key, list[Row]]:
    grouped: dict[Key, list[Row]] = {}
    for row in rows:
        grouped.setdefault(_key(row), []).append(dict(row))
    return grouped


def _asked_about(
    figure: Mapping[str, Any], by_figure: Mapping[str, Mapping[Key, list[Row]]], threshold: float
) -> _Asked | None:
    key = _key(figure)
    detected = by_figure["panel_detections"].get(key, [])
    split = figure_split(figure, by_figure["subcaptions"].get(key, []), detected)
    panels = [record_of(Panel, row) for row in by_figure[STAGE].get(key, [])]
    identifiers = [item for item in found_panels(detected) if item.kind == "identifier"]
    images = found_images(by_figure["image_detections"].get(key, []))
    question = figure_question(figure["caption"], split, panels, identifiers, images, threshold)
    return _Asked(key, figure["pdf_figure_id"], question, panels) if question is not None else None


def _looked_at(item: _Asked, reader: FigureReader, figure_pixels: PixelStore, turn: threading.Lock) -> FigureVerdict:
    try:
        with turn:  # a figure of 40 million pixels takes 120 MB while it is scaled down: one at a time
            pixels = decoded(figure_pixels.read(item.key[0]).get(item.picture), item.picture)
            picture = shown_figure(pixels, item.question, reader.boxes, reader.max_pixels)
            del pixels
        return look_at_figure(item.question, picture, reader)
    except Exception as error:
        raise_fault(error)
        return FigureVerdict(None, error, NO_USAGE)


def _unanswered(panel: Panel, error: Exception, threshold: float) -> Panel:
    if not panel.is_undecided(threshold):
        return panel
    return open_because(panel, f"the vision model gave no answer ({type(error).__name__})")
