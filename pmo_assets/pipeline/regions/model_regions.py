"""Regions of marked panels by a vision model: asked what the panel's words name and where, then fused with the marks.

Panel2Patch's caption boxes (3.1.2, supplement 6.3). Only panels with marks are asked about: a box that no mark confirms
would not be kept. In the main process, because waiting for a server takes threads and not processes. Add here: who is
asked, with which picture and words. Keep out: what an answer must fit (`model_answers`), rules about boxes (`fusion`).
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from pmo_assets.pictures import decoded, png_bytes
from pmo_assets.pipeline.assembly.vision.pictures import scaled_down
from pmo_assets.pipeline.prompting.asking import REASKS, Progress, ask_until_fitting, asked_side_by_side
from pmo_assets.pipeline.prompting.prompts import Prompt, load_prompt
from pmo_assets.pipeline.regions.fusion import fused_regions
from pmo_assets.pipeline.regions.model_answers import (
    FoundObject,
    NamedObjects,
    PanelText,
    fitting_objects,
    question_json,
)
from pmo_assets.pipeline.regions.text_similarity import RegionTexts, text_similarity
from pmo_assets.records.chat import NO_USAGE, ChatModel, ChatPicture, ChatRequest, ChatUsage, Message, Thinking
from pmo_assets.records.defaults import VISION_CONCURRENCY, VISION_PIXELS
from pmo_assets.records.faults import raise_fault, same_fault
from pmo_assets.records.geometry import Box, crop_box, denormalise
from pmo_assets.records.regions import MODEL_CONFIDENCE, Region
from pmo_assets.records.rejections import rejection_from
from pmo_assets.records.step_output import Row, StepOutput
from pmo_assets.records.stores import PixelStore
from pmo_assets.tables.context import panel_abbreviations
from pmo_assets.tables.regions import regions_of_row, regions_row

TASK: Final = "panel_regions"
TASKS: Final = (TASK,)

STAGE: Final = "regions"


@dataclass(frozen=True)
class RegionReader:
    """A vision model with its prompt, ready to name what panels show.

    Attributes:
        model: it answers, and takes pictures.
        prompt: of the task.
        thinking: if it reasons before it answers.
        reasks: times that an answer that does not fit is sent back.
        max_pixels: of the panel's picture.
        concurrency: number of panels that are asked about at once.
    """

    model: ChatModel
    prompt: Prompt = field(default_factory=lambda: load_prompt(TASK))
    thinking: Thinking = "off"
    reasks: int = REASKS
    max_pixels: int = VISION_PIXELS
    concurrency: int = VISION_CONCURRENCY


@dataclass(frozen=True)
class RegionCounts:
    """Counts of what a model was asked and what became of it.

    Attributes:
        panels: marked panels that were asked about.
        named: boxes of answers that fit.
        kept: regions that hold one of them after fusion.
        refused: panels without an answer that fits.
        usage: requests, tokens and seconds that it cost.
    """

    panels: int = 0
    named: int = 0
    kept: int = 0
    refused: int = 0
    usage: ChatUsage = NO_USAGE


@dataclass(frozen=True)
class _Asked:
    """A panel that is asked about: article, its figure's picture, box and ratio of the figure's sides, words."""

    article_id: int
    picture: str
    box: Box
    ratio: float
    text: PanelText


@dataclass(frozen=True, slots=True)
class _Answer:
    """Objects that the model named, or the reason why there are none."""

    objects: Sequence[FoundObject]
    error: Exception | None
    usage: ChatUsage


def add_model_regions(
    rows: Sequence[Row],
    figures: Sequence[Mapping[str, Any]],
    reviewed_panels: Sequence[Mapping[str, Any]],
    panel_summaries: Sequence[Mapping[str, Any]],
    region_reader: RegionReader | None,
    region_texts: RegionTexts,
    figure_pixels: PixelStore,
    progress: Progress | None = None,
) -> tuple[StepOutput, RegionCounts]:
    """Have a vision model name what marked panels show, and fuse that with the marks: rows of `regions`.

    A panel for which the model gives no fitting answer keeps the regions of its marks, says why (`refused`), and is
    listed as a rejection too. Without a model all rows stay as they are.

    Args:
        rows: of `regions` of any number of articles, by marks alone.
        figures: rows of `figures` of these articles.
        reviewed_panels: their rows of that table.
        panel_summaries: their rows of that table, with the mentions.
        region_reader: the model; None for none.
        region_texts: what compares the texts of overlapping regions.
        figure_pixels: store of the renderings.
        progress: told how many panels have been asked about.

    Raises:
        SystemicError: if no request can succeed; panels not yet asked are dropped.
    """
    if region_reader is None:
        return StepOutput(rows=list(rows)), RegionCounts()
    reader = region_reader
    asked = _questions(rows, figures, reviewed_panels, panel_summaries)
    turn = threading.Lock()
    answers = asked_side_by_side(
        list(asked.values()), lambda item: _answered(item, reader, figure_pixels, turn), reader.concurrency, "regions",
        progress,
    )  # fmt: skip
    similarity = text_similarity(region_texts)
    output = StepOutput(rows=list(rows))
    kept = 0
    for (n, item), answer in zip(asked.items(), answers, strict=True):
        row = rows[n]
        named = [_region(found, item.box) for found in answer.objects]
        fused = fused_regions(regions_of_row(row), named, item.box, similarity=similarity, ratio=item.ratio)
        kept += sum(region.source != "marks" for region in fused)
        refused = None if answer.error is None else str(answer.error)
        output.rows[n] = regions_row(
            row, fused, model=reader.model.name, prompt_version=reader.prompt.label, refused=refused
        )
        if answer.error is not None:
            output.rejections.append(
                rejection_from(answer.error, stage=STAGE, unit_id=row["article_id"], part=row["image_cluster_id"])
            )
    fault = same_fault(output.rejections, len({item.article_id for item in asked.values()}))
    if fault is not None:
        raise fault
    named_boxes = sum(len(answer.objects) for answer in answers)
    usage = sum((answer.usage for answer in answers), NO_USAGE)
    return output, RegionCounts(len(asked), named_boxes, kept, len(output.rejections), usage)


def _questions(
    rows: Sequence[Row],
    figures: Sequence[Mapping[str, Any]],
    reviewed_panels: Sequence[Mapping[str, Any]],
    panel_summaries: Sequence[Mapping[str, Any]],
) -> dict[int, _Asked]:
    """Return the questions about panels that marks show something of and that somebody wrote something about.

    People's regions are not asked about: what they decided stays.
    """
    drawn = {(row["article_id"], row["image_cluster_id"]): row for row in figures}
    panels = {(row["article_id"], row["image_cluster_id"], row["ordinal"]): row for row in reviewed_panels}
    told = {row["panel_id"]: row for row in panel_summaries}
    asked = {}
    for n, row in enumerate(rows):
        figure = drawn[row["article_id"], row["image_cluster_id"]]
        panel = panels[row["article_id"], row["image_cluster_id"], row["ordinal"]]
        text = _text(panel, told.get(row["panel_id"]))
        if row["regions"] and row["machine_regions"] is None and (text.subcaption or text.mentions):
            left, top, right, bottom = panel["content_box"]
            ratio = figure["width"] / figure["height"]
            asked[n] = _Asked(row["article_id"], figure["pdf_figure_id"], (left, top, right, bottom), ratio, text)
    return asked


def _text(panel: Mapping[str, Any], told: Mapping[str, Any] | None) -> PanelText:
    subcaption = panel["subcaption"] or ""
    if told is None:
        return PanelText(subcaption, ()).bounded()
    mentions = tuple(cell["text"] for cell in told["mentions"])
    return PanelText(subcaption, mentions, panel_abbreviations(told["abbreviations"])).bounded()


def _answered(item: _Asked, reader: RegionReader, figure_pixels: PixelStore, turn: threading.Lock) -> _Answer:
    spent: list[ChatUsage] = []
    try:
        with turn:  # figures of 40 million pixels take 120 MB while they are cut: one at a time
            picture = _picture(item, figure_pixels, reader.max_pixels)
        given, schema = question_json(item.text), NamedObjects.model_json_schema()

        def request(more: Sequence[Message]) -> ChatRequest:
            return reader.prompt.request(given, schema, reader.thinking, more, None, [picture])

        objects, _ = ask_until_fitting(
            reader.model,
            TASK,
            request,
            NamedObjects,
            lambda answer: fitting_objects(answer, item.text),
            reader.reasks,
            spent,
        )
    except Exception as error:
        raise_fault(error)
        return _Answer((), error, sum(spent, NO_USAGE))
    return _Answer(objects, None, sum(spent, NO_USAGE))


def _picture(item: _Asked, figure_pixels: PixelStore, max_pixels: int) -> ChatPicture:
    """The panel as the model sees it, without the figure's other panels, scaled down."""
    pixels = decoded(figure_pixels.read(item.article_id).get(item.picture), item.picture)
    left, top, right, bottom = crop_box(item.box, pixels.shape[1], pixels.shape[0])
    return ChatPicture(png_bytes(scaled_down(pixels[top:bottom, left:right], max_pixels)))


def _region(found: FoundObject, panel: Box) -> Region:
    return Region(denormalise(found.box, panel), (), None, found.text, found.description, "model", MODEL_CONFIDENCE)
