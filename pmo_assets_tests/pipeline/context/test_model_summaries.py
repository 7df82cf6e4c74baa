"""A model's summary is kept when it passes the checks; a model that lies is asked again, and then not believed."""

from __future__ import annotations

from typing import Any

import pytest

from pmo_assets.pipeline.context.model_summaries import (
    MAX_GIVEN,
    RESPONSES,
    TASK,
    SummaryWriter,
    WrittenSummary,
    question,
    rewrite_summaries,
    written_summary,
)
from pmo_assets.pipeline.context.summary_checks import SummarySources, fitting_summary
from pmo_assets.pipeline.prompting.prompts import load_prompt
from pmo_assets.records.chat import ChatUnavailable
from pmo_assets.records.context import Abbreviation, PanelMention, PanelSummary, SourceSentence
from pmo_assets.tables.context import PanelSummaries, summary_row
from pmo_assets.tables.schemas import checked
from pmo_assets_tests.pipeline.captions.scripted_model import ScriptedModel
from pmo_assets_tests.pipeline.context.test_summary_checks import HONEST, LIES, SOURCES

EXAMPLES = load_prompt(TASK).examples
SENTENCES = SOURCES.sentences[1:3]


def said(text: str) -> dict[str, str]:
    return {"summary": text}


def writer(*script: Any, reasks: int = 2) -> SummaryWriter:
    return SummaryWriter(ScriptedModel(list(script)), reasks=reasks, concurrency=1)


def panels(*names: str | None) -> list[dict[str, Any]]:
    """Rows of `reviewed_panels` of one figure."""
    key = {"article_id": 7, "image_cluster_id": "fig2"}
    return [{**key, "ordinal": n, "identifier": name, "subcaption": SOURCES.subcaption} for n, name in enumerate(names)]


def rows(*extractive: str) -> list[dict[str, Any]]:
    """Rows of `panel_summaries`, a panel each, which rest on two sentences if they say anything."""
    mention = PanelMention("B", 0, "case", None, 0, len(SENTENCES[0]), SENTENCES[0], "names panel", "text")
    made = []
    for n, text in enumerate(extractive):
        sentences = tuple(SourceSentence(0, 0, len(item), item) for item in SENTENCES) if text else ()
        summary = PanelSummary(text, sentences, SOURCES.abbreviations)
        key = {"article_id": 7, "image_cluster_id": "fig2", "ordinal": n, "panel_id": f"7-2-{n}"}
        made.append(summary_row(key, [mention] if text else [], summary))
    return made


FIGURES = [{"article_id": 7, "image_cluster_id": "fig2", "label": "Figure 2"}]


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
def test_a_model_that_lies_is_told_why_and_never_believed(lie: str) -> None:
    model = ScriptedModel([], otherwise=lambda _: said(lie))
    answer = written_summary(SOURCES, SummaryWriter(model, reasks=1))
    assert answer.generated is None
    assert answer.error is not None
    assert len(model.requests) == 2
    assert "does not fit" in model.requests[1].messages[-1].content


def test_a_model_that_corrects_itself_is_believed() -> None:
    answer = written_summary(SOURCES, writer(said(LIES["the side"]), "no JSON", said(HONEST["verbatim"])))
    assert (answer.generated, answer.error) == (HONEST["verbatim"], None)
    assert answer.usage.requests == 3


def test_rows_keep_both_summaries_and_who_wrote_them() -> None:
    given = rows("A sentence.", "A sentence.", "")
    output, counts = rewrite_summaries(
        given,
        panels("B", "A", "C"),
        FIGURES,
        writer(said(HONEST["verbatim"]), *[said(LIES["a drug"])] * 3),
    )
    good, refused, silent = output.rows
    assert (good["summary"], good["generated_summary"]) == ("A sentence.", HONEST["verbatim"])
    assert (good["model"], good["prompt_version"]) == ("scripted", load_prompt(TASK).label)
    assert (refused["summary"], refused["generated_summary"]) == ("A sentence.", None)
    assert "ranibizumab" in refused["refused"]
    assert silent == given[2], "a panel of which the text says nothing is not asked"
    assert [item.part for item in output.rejections] == ["fig2"]
    assert (counts.language_model, counts.extractive, counts.none, counts.refused) == (1, 1, 1, 1)
    assert counts.usage.requests == 4


def test_rows_fit_their_table() -> None:
    given = rows("A sentence.", "")
    output, _ = rewrite_summaries(given, panels("B", "A"), FIGURES, writer(said(HONEST["verbatim"])))
    table = checked(PanelSummaries, output.rows)
    assert table["generated_summary"].to_list() == [HONEST["verbatim"], None]
    assert table["mentions"].list.len().to_list() == [1, 0]


def test_without_a_model_rows_stay_as_they_are() -> None:
    given = rows("A sentence.", "")
    output, counts = rewrite_summaries(given, panels("B", "A"), FIGURES, None)
    assert output.rows == given
    assert (counts.language_model, counts.extractive, counts.none) == (0, 1, 1)


def test_the_model_is_told_the_panel_and_its_sources_alone() -> None:
    asked = writer(said(HONEST["verbatim"]))
    rewrite_summaries(rows("A sentence."), panels("B", "A"), FIGURES, asked)
    assert isinstance(asked.model, ScriptedModel)
    content = asked.model.requests[0].messages[-1].content
    assert '"panel": "B", "other_panels": ["A"]' in content
    assert SENTENCES[0] in content
    assert content.count(SENTENCES[0]) == 1, "a sentence that is mention and part of the summary is told once"


def test_no_more_is_told_than_a_model_can_read() -> None:
    sources = SummarySources("Figure 1", None, (), "word " * MAX_GIVEN, ("Many words. " * 300,) * 40)
    given = question(sources)
    assert len(given["subcaption"]) <= MAX_GIVEN
    assert sum(map(len, given["sentences"])) <= MAX_GIVEN


def test_a_model_that_cannot_be_reached_ends_it() -> None:
    with pytest.raises(ChatUnavailable):
        rewrite_summaries(rows("A sentence."), panels("B"), FIGURES, writer(ChatUnavailable("nobody there")))


@pytest.mark.parametrize(("given", "output"), EXAMPLES)
def test_every_example_of_the_prompt_passes_the_checks(given: dict[str, Any], output: dict[str, Any]) -> None:
    sources = SummarySources(
        given["figure"],
        given["panel"] or None,
        tuple(given["other_panels"]),
        given["subcaption"],
        tuple(given["sentences"]),
        tuple(Abbreviation(short, long) for short, long in given["abbreviations"].items()),
    )
    assert question(sources) == given
    assert fitting_summary(WrittenSummary.model_validate(output).summary, sources) == output["summary"]


def test_the_task_names_its_response_model() -> None:
    assert RESPONSES[load_prompt(TASK).schema_name] is WrittenSummary
