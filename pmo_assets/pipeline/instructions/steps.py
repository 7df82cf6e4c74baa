"""Steps of the group `instructions`: cues, their scores, questions with answers, and verdicts.

A step takes rows of tables and gives a `StepOutput`. A worker process runs it for one article; `pmo article` and a
notebook call it, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pmo_assets.pictures import decoded
from pmo_assets.pipeline.assembly.steps import NOT_APPLIED
from pmo_assets.pipeline.context.entities import load_terms
from pmo_assets.pipeline.dataset.instruction_rows import instruction_id
from pmo_assets.pipeline.figures.fingerprint import fingerprint
from pmo_assets.pipeline.instructions.article_cases import ArticleCases, Rows, by_panel
from pmo_assets.pipeline.instructions.case import CuedCase
from pmo_assets.pipeline.instructions.checks import is_kept, verdicts
from pmo_assets.pipeline.instructions.cues import panel_cues
from pmo_assets.pipeline.instructions.dialogues import conversation, reasoning
from pmo_assets.pipeline.instructions.judged import peoples_verdicts
from pmo_assets.pipeline.instructions.phrasings import load_phrasings
from pmo_assets.pipeline.instructions.scores import cue_score
from pmo_assets.pipeline.instructions.templates import short_questions
from pmo_assets.records.figure import LocatedFigure
from pmo_assets.records.instructions import Instruction, Verdict
from pmo_assets.records.reviews import Fingerprint
from pmo_assets.records.step_output import Row, StepOutput, for_each_figure
from pmo_assets.records.stores import PixelStore
from pmo_assets.tables.instructions import (
    cues_of_row,
    cues_row,
    instruction_of_row,
    instruction_row,
    score_of_row,
    score_row,
    verdicts_row,
)
from pmo_assets.tables.rows import record_of


def load_questions() -> None:
    """Read the lexicon and the phrasings; a worker does it before its first article.

    Raises:
        SystemicError: the package's data cannot be read.
    """
    load_terms()
    load_phrasings()


def separate_article_cues(
    figures: Rows, reviewed_panels: Rows, panel_summaries: Rows, panel_entities: Rows
) -> StepOutput:
    """Tell what each panel's words say is visible apart from what they add: rows of `cues`.

    Args:
        figures: the article's rows of `figures`.
        reviewed_panels: its rows of that table.
        panel_summaries: its rows of that table, with the mentions; a figure without keeps the cues of its subcaptions.
        panel_entities: its rows of that table.
    """
    cases = ArticleCases(reviewed_panels, {"panel_summaries": panel_summaries, "panel_entities": panel_entities})

    def rows(figure: Mapping[str, Any]) -> list[Row]:
        return [cues_row(key, panel_cues(case)) for key, case in cases.of(figure)]

    return for_each_figure(figures, "cues", rows)


def score_article_cues(
    figures: Rows,
    reviewed_panels: Rows,
    panel_summaries: Rows,
    panel_entities: Rows,
    region_phrases: Rows,
    cues: Rows,
) -> StepOutput:
    """Score the cues of each panel: rows of `cue_scores`.

    Args:
        figures: the article's rows of `figures`.
        reviewed_panels: its rows of that table.
        panel_summaries: its rows of that table.
        panel_entities: its rows of that table.
        region_phrases: its rows of that table: whether the words name marks.
        cues: its rows of that table.
    """
    tables = {
        "panel_summaries": panel_summaries, "panel_entities": panel_entities, "region_phrases": region_phrases,
    }  # fmt: skip
    cases, found = ArticleCases(reviewed_panels, tables), by_panel(cues)

    def rows(figure: Mapping[str, Any]) -> list[Row]:
        return [
            score_row(key, cue_score(CuedCase(case, cues_of_row(found[key["panel_id"]]))))
            for key, case in cases.of(figure)
            if key["panel_id"] in found
        ]

    return for_each_figure(figures, "cue_scores", rows)


def ask_about_article(
    figures: Rows,
    reviewed_panels: Rows,
    panel_summaries: Rows,
    panel_entities: Rows,
    panel_modality: Rows,
    marks: Rows,
    region_phrases: Rows,
    regions: Rows,
    cues: Rows,
    cue_scores: Rows,
) -> StepOutput:
    """Ask about each panel whose cues are kept, and answer from the evidence: rows of `instructions`.

    Args:
        figures: the article's rows of `figures`.
        reviewed_panels: its rows of that table.
        panel_summaries: its rows of that table.
        panel_entities: its rows of that table.
        panel_modality: its rows of that table.
        marks: its rows of that table.
        region_phrases: its rows of that table.
        regions: its rows of that table.
        cues: its rows of that table.
        cue_scores: its rows of that table.
    """
    tables = {
        "panel_summaries": panel_summaries, "panel_entities": panel_entities, "panel_modality": panel_modality,
        "marks": marks, "region_phrases": region_phrases, "regions": regions,
    }  # fmt: skip
    cases, found, scores = ArticleCases(reviewed_panels, tables), by_panel(cues), by_panel(cue_scores)

    def rows(figure: Mapping[str, Any]) -> list[Row]:
        made: list[Row] = []
        for key, case in cases.of(figure):
            name = key["panel_id"]
            if name not in found or name not in scores or not (score := score_of_row(scores[name])).is_kept:
                continue
            cued = CuedCase(case, cues_of_row(found[name]))
            short = short_questions(cued)
            every: list[Instruction] = [*short, *conversation(cued, short), *reasoning(cued, score)]
            made += [instruction_row(key, number, item) for number, item in enumerate(every)]
        return made

    return for_each_figure(figures, "instructions", rows)


def judge_article_instructions(
    article_id: int,
    figures: Rows,
    reviewed_panels: Rows,
    panel_summaries: Rows,
    panel_entities: Rows,
    panel_modality: Rows,
    marks: Rows,
    region_phrases: Rows,
    regions: Rows,
    cues: Rows,
    instructions: Rows,
    annotations: Rows,
    figure_pixels: PixelStore,
) -> StepOutput:
    """Hold each instruction against the evidence, and put people's verdicts to it: rows of `verdicts`.

    A person's verdict whose instruction or figure changed, or is not there, is not applied; the tally says which.

    Args:
        article_id: PMC number.
        figures: the article's rows of `figures`.
        reviewed_panels: its rows of that table.
        panel_summaries: its rows of that table.
        panel_entities: its rows of that table.
        panel_modality: its rows of that table.
        marks: its rows of that table.
        region_phrases: its rows of that table.
        regions: its rows of that table.
        cues: its rows of that table.
        instructions: its rows of that table.
        annotations: its row of `annotations`, if people annotated it.
        figure_pixels: store of the renderings: looked into only where people judged.
    """
    tables = {
        "panel_summaries": panel_summaries, "panel_entities": panel_entities, "panel_modality": panel_modality,
        "marks": marks, "region_phrases": region_phrases, "regions": regions,
    }  # fmt: skip
    cases, told = ArticleCases(reviewed_panels, tables), by_panel(cues)
    asked: dict[str, list[Mapping[str, Any]]] = {}
    for row in instructions:
        asked.setdefault(row["panel_id"], []).append(row)
    answers = annotations[0]["instruction_answers"] if annotations else ()
    people, notes = _peoples_verdicts(article_id, figures, answers, figure_pixels)
    found: set[str] = set()

    def rows(figure: Mapping[str, Any]) -> list[Row]:
        made: list[Row] = []
        for key, case in cases.of(figure):
            own = asked.get(key["panel_id"], [])
            if not own:
                continue
            cued = CuedCase(case, cues_of_row(told[key["panel_id"]]))
            for row in own:
                said = verdicts(cued, instruction_of_row(row))
                if people and is_kept(said) and (name := instruction_id(row)) in people:
                    said = (*said, *people[name])
                    found.add(name)
                made.append(verdicts_row(row, is_kept(said), said))
        return made

    output = for_each_figure(figures, "verdicts", rows)
    unused = [f"verdict on {name}: no such instruction is kept by the checks" for name in people if name not in found]
    output.tally.update(NOT_APPLIED + note for note in (*notes, *unused))
    return output


def _peoples_verdicts(
    article_id: int, figures: Rows, answers: Rows, figure_pixels: PixelStore
) -> tuple[dict[str, list[Verdict]], list[str]]:
    if not answers:
        return {}, []
    keys = {row["image_cluster_id"]: row["pdf_figure_id"] for row in figures}
    pictures = figure_pixels.read(article_id)

    def look(cluster: str) -> Fingerprint | None:
        picture = pictures.get(keys[cluster])
        return None if picture is None else fingerprint(decoded(picture, picture.key))

    return peoples_verdicts(answers, [record_of(LocatedFigure, row) for row in figures], look)
