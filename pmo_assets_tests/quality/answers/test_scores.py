"""Scores put together: parts, refusals, missing answers, intervals by article, what is beyond blind."""

from __future__ import annotations

import pytest

from pmo_assets.quality.answers.page import answers_page, evaluation_tables
from pmo_assets.quality.answers.scores import PartScore, evaluation, scored_answers
from pmo_assets_tests.quality.answers.made_questions import question, questions

ASKED = questions(
    question(1, label="Yes."),
    question(2, label="No."),
    question(3, kind="what", topic="mark", modality="fundus photograph", label="Subretinal fluid."),
    question(4, kind="where", topic="place", label="Nasal."),
)


def part_of(parts: tuple[PartScore, ...], by: str, name: str) -> PartScore:
    (found,) = [part for part in parts if (part.by, part.name) == (by, name)]
    return found


def test_refusals_and_missing_answers_count_as_wrong_and_are_told() -> None:
    scored = scored_answers("m", ASKED.questions, {"q1": "yes", "q2": "I cannot tell.", "q3": "the subretinal fluid"})
    (told,) = evaluation(ASKED, 0, [scored]).answerers
    assert (told.refusals, told.missing) == (1, 1)
    assert told.parts[0].scores["exact"].value == 0.5
    assert part_of(told.parts, "kind", "yes_no").scores["exact"].value == 0.5
    assert part_of(told.parts, "kind", "where").scores["f1"].value == 0
    assert part_of(told.parts, "modality", "fundus photograph").questions == 1
    assert part_of(told.parts, "topic", "mark").scores["exact"].value == 1


def test_intervals_draw_articles_and_not_questions() -> None:
    rows = [question(n, source_id=n // 10, label="Yes.") for n in range(100)]
    answers = {item.instruction_id: "Yes." if item.source_id < 5 else "No." for item in rows}
    of_articles = evaluation(questions(*rows), 0, [scored_answers("m", rows, answers)]).answerers[0].parts[0]
    alone = [question(n, label="Yes.") for n in range(100)]
    of_questions = evaluation(questions(*alone), 0, [scored_answers("m", alone, answers)]).answerers[0].parts[0]
    (low, high), (close, by) = (part.scores["exact"].interval or (0, 0) for part in (of_articles, of_questions))
    assert low < 0.3 < close < 0.5 < by < 0.7 < high


def test_one_article_has_no_interval() -> None:
    rows = [question(n, source_id=1) for n in range(5)]
    told = evaluation(questions(*rows), 0, [scored_answers("m", rows, {})]).answerers[0]
    assert told.parts[0].scores["exact"].interval is None


def test_what_is_beyond_blind_is_compared_question_by_question() -> None:
    rows = [question(n) for n in range(40)]
    half = {item.instruction_id: "Yes." for item in rows[:20]}
    more = {item.instruction_id: "Yes." for item in rows[:30]}
    result = evaluation(
        questions(*rows), 9, [scored_answers("m", rows, more), scored_answers("blind", rows, half)]
    )  # fmt: skip
    over = result.answerers[0].parts[0].over_blind
    assert over is not None
    assert over.value == pytest.approx(0.25)
    low, high = over.interval or (0, 0)
    assert 0.1 <= low < 0.25 < high <= 0.4, "independent draws of both reach from 0.05 to 0.45"
    assert result.answerers[1].parts[0].over_blind is None


def test_an_answer_without_a_judges_score_counts_as_0_and_is_told() -> None:
    judged = {"q1": ("Yes.", 1.0), "q3": ("fluid", 0.75), "q4": ("Left", None)}
    scored = scored_answers("m", ASKED.questions, dict.fromkeys(("q1", "q3", "q4"), "…"), judged=judged)
    (told,) = evaluation(ASKED, 0, [scored], judge="j").answerers
    assert told.unjudged == 1
    assert told.parts[0].scores["judge"].value == pytest.approx(1.75 / 4)


def test_the_page_shows_every_part_and_escapes_names() -> None:
    scored = [scored_answers(name, ASKED.questions, {"q1": "yes"}) for name in ("<b>m</b>", "blind")]
    result = evaluation(ASKED, 3, scored, replicates=20)
    titles = [table.title for table in evaluation_tables(result)]
    assert titles == ["All questions", "By kind", "By entity group", "By modality"]
    page = answers_page(result)
    assert ASKED.sha256 in page
    assert "&lt;b&gt;m" in page
    assert "<b>m</b>" not in page


def test_the_checksum_names_what_is_asked_whatever_the_order() -> None:
    items = ASKED.questions
    assert questions(*reversed(items)).sha256 == ASKED.sha256
    for change in ({"label": "No."}, {"question": "Is there?"}, {"picture": "11"}):
        assert questions(question(1, **change), *items[1:]).sha256 != ASKED.sha256
    assert questions(question(1, modality="none"), *items[1:]).sha256 == ASKED.sha256
