"""The paper's caption measure: same numbers as its definition, on answers whose score is known."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU

from pmo_assets.quality.metrics.captions import (
    CaptionScore,
    SplitRow,
    calibration_error,
    caption_score,
    caption_scores,
    caption_summary,
    confidence_bins,
    coverage,
    even_bins,
    sentence_bleu,
    split_rows,
)

TRUTH = {"A": "Fundus photograph of the right eye.", "B": "OCT scan of the left eye."}


def scored(confidence: float, bleu: float | None) -> CaptionScore:
    panels = {} if bleu is None else {"a": bleu}
    return CaptionScore("x", ("a",), ("a",), panels, bleu or 0.0, bleu is None, confidence)


def test_the_reference_itself_scores_one() -> None:
    score = caption_score("c", TRUTH, TRUTH)
    assert score.mean_bleu == pytest.approx(1.0)
    assert not score.unprocessed
    assert score.right


def test_identifiers_are_compared_without_case_brackets_and_dots() -> None:
    score = caption_score("c", TRUTH, {"(a)": TRUTH["A"], "B.": TRUTH["B"]})
    assert not score.unprocessed
    assert score.identifiers == ("a", "b")


@pytest.mark.parametrize(
    "predicted", [{"A": TRUTH["A"]}, {**TRUTH, "C": "x"}, {"A": "x", "C": "y"}, {None: "whole caption"}, {}, None]
)
def test_a_missing_or_invented_panel_makes_the_caption_unprocessed(predicted: dict[str | None, str] | None) -> None:
    score = caption_score("c", TRUTH, predicted)
    assert score.unprocessed
    assert score.mean_bleu == 0
    assert not score.panel_bleu


def test_the_score_is_the_mean_over_panels_of_sacrebleus_sentence_bleu() -> None:
    predicted = {"A": "Fundus photograph of the left eye.", "B": TRUTH["B"]}
    bleu = BLEU(effective_order=True)
    expected = (bleu.sentence_score(predicted["A"], [TRUTH["A"]]).score / 100 + 1) / 2
    assert caption_score("c", TRUTH, predicted).mean_bleu == pytest.approx(expected)
    assert 0.5 < expected < 1


def test_white_space_makes_no_difference() -> None:
    assert sentence_bleu(" OCT\n of  the macula ", "OCT of the macula") == pytest.approx(1.0)


def test_a_single_panel_has_no_identifier() -> None:
    whole: dict[str | None, str | None] = {None: "OCT of the macula."}
    assert not caption_score("c", whole, {"": "OCT of the macula."}).unprocessed


def test_unprocessed_captions_are_counted_apart_from_the_mean() -> None:
    summary = caption_summary([scored(1, 0.8), scored(1, 0.6), scored(1, None), scored(1, None)])
    assert (summary.captions, summary.processed, summary.unprocessed_share) == (4, 2, 0.5)
    assert summary.mab == pytest.approx(0.7)
    assert summary.panels == 2


def test_of_nothing_there_is_no_score() -> None:
    assert caption_summary([]).mab == 0
    assert coverage([]) == []
    assert confidence_bins([]) == []
    assert calibration_error([]) == 0


def test_coverage_takes_the_most_confident_first() -> None:
    scores = [scored(0.2, 0.1), scored(0.9, 1.0), scored(0.5, None), scored(0.8, 0.8)]
    top, everything = coverage(scores, shares=(0.5, 1.0))
    assert (top.summary.captions, top.lowest_confidence) == (2, 0.8)
    assert top.summary.mab == pytest.approx(0.9)
    assert (everything.summary.unprocessed_share, everything.lowest_confidence) == (0.25, 0.2)


def test_confidence_is_compared_with_the_outcome() -> None:
    bins = confidence_bins([scored(0.95, 1.0), scored(1.0, 0.5), scored(0.3, None)])
    assert [(item.lower, item.captions) for item in bins] == [(0.3, 1), (0.9, 2)]
    assert (bins[1].right_share, bins[1].mean_bleu) == (0.5, 0.75)
    assert calibration_error(bins) == pytest.approx((abs(0.3 - 0) + 2 * abs(0.975 - 0.5)) / 3)


@given(st.lists(st.tuples(st.floats(0, 1), st.none() | st.floats(0, 1)), max_size=30), st.integers(1, 20))
def test_bins_account_for_every_caption(items: list[tuple[float, float | None]], bins: int) -> None:
    for binned in (confidence_bins, even_bins):
        found = binned([scored(*item) for item in items], bins)
        assert len(found) <= bins
        assert sum(item.captions for item in found) == len(items)
        assert all(item.lower <= item.mean_confidence + 1e-9 for item in found)
        assert all(item.mean_confidence <= item.upper + 1e-9 for item in found)
        assert all(item.likely_right[0] <= item.right_share <= item.likely_right[1] for item in found)
        assert 0 <= calibration_error(found) <= 1


def test_even_bins_hold_as_many_captions_and_equal_claims_stay_together() -> None:
    claims = [0.97, 0.5, 0.97, 0.6, 0.97, 0.7, 0.97, 0.8]
    assert [item.captions for item in even_bins([scored(claim, 1.0) for claim in claims], 4)] == [2, 2, 4]


def test_few_captions_say_little_of_the_share_that_is_right() -> None:
    few, many = (even_bins([scored(0.9, 1.0)] * count, 1)[0].likely_right for count in (3, 100))
    assert few[0] < 0.5 < 0.95 < many[0] < few[1] == many[1] == 1.0


def test_truth_and_answers_are_paired_by_id_and_a_missing_answer_is_unprocessed() -> None:
    truth = {key: SplitRow(id=key, subcaptions=dict(TRUTH)) for key in ("one", "two")}
    answers = {"two": SplitRow(id="two", subcaptions=dict(TRUTH), confidence=0.4), "three": truth["one"]}
    scores = caption_scores(truth, answers)
    assert [(score.id, score.unprocessed, score.confidence) for score in scores] == [
        ("one", True, 1.0),
        ("two", False, 0.4),
    ]


def test_rows_are_read_from_lines() -> None:
    lines = [json.dumps({"id": "x", "subcaptions": {"A": "t"}, "confidence": 0.5, "more": 1}), "", " \n"]
    assert split_rows(lines) == {"x": SplitRow(id="x", subcaptions={"A": "t"}, confidence=0.5)}


@pytest.mark.parametrize(
    "line", ["{", "[]", '{"id": "x"}', '{"id": "x", "subcaptions": []}', '{"id":"x","subcaptions":{},"confidence":2}']
)
def test_a_line_that_is_no_row_is_named(line: str) -> None:
    with pytest.raises(ValueError, match="line 2"):
        split_rows(["", line])


@pytest.mark.corpus
def test_the_figures_are_those_of_the_scorer_beside_the_captions(shared_folder, tmp_path) -> None:  # type: ignore[no-untyped-def]
    import subprocess
    import sys

    from pmo_assets.pipeline.captions.split import split_caption

    path = shared_folder / "captions" / "pmc_compound.jsonl"
    truth = split_rows(path.read_text(encoding="utf-8").splitlines())
    lines = []
    for key, row in truth.items():
        split = split_caption(row.caption or "")
        subcaptions = {sub.identifier or "": sub.text for sub in split.subcaptions}
        lines.append(json.dumps({"id": key, "subcaptions": subcaptions, "confidence": split.confidence}))
    (tmp_path / "answers.jsonl").write_text("\n".join(lines), encoding="utf-8")
    scorer = shared_folder / "tools" / "score_captions.py"
    command = [sys.executable, str(scorer), str(path), str(tmp_path / "answers.jsonl")]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    for part, line in zip(coverage(caption_scores(truth, split_rows(lines))), printed, strict=True):
        summary = part.summary
        assert f"captions {summary.captions:4d}" in line
        assert f"unprocessed {summary.unprocessed_share:6.1%}" in line
        assert f"maB {summary.mab:.4f}" in line
