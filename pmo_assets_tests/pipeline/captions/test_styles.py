"""Captions in the styles of twenty journals: what the files hold, and how the half that rules were made with is split.

Nothing is asserted of how the held-out half is split: `benchmarks/score_captions.py` prints its numbers.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pmo_assets.pipeline.captions.split import split_caption
from pmo_assets.quality.metrics.captions import SplitRow, caption_score, caption_summary, split_rows

HALVES = ("tuning", "held_out")


def rows(half: str) -> list[SplitRow]:
    path = Path(__file__).with_name(f"styles_{half}.jsonl")
    return list(split_rows(path.read_text(encoding="utf-8").splitlines()).values())


def style(row: SplitRow) -> str:
    return row.id.rsplit("_", 1)[0]


@pytest.mark.parametrize("half", HALVES)
def test_ten_styles_with_fifteen_captions_each(half: str) -> None:
    styles = [style(row) for row in rows(half)]
    assert {name: styles.count(name) for name in styles} == dict.fromkeys(styles, 15)
    assert len(set(styles)) == 10


def test_no_style_is_in_both_halves() -> None:
    tuning, held_out = ({style(row) for row in rows(half)} for half in HALVES)
    assert tuning.isdisjoint(held_out)


@pytest.mark.parametrize("half", HALVES)
def test_a_reference_is_made_of_the_words_of_its_caption(half: str) -> None:
    for row in rows(half):
        said = set(re.findall(r"\w+", (row.caption or "").lower()))
        for name, text in row.subcaptions.items():
            assert text, row.id
            assert set(re.findall(r"\w+", text.lower())) <= said, (row.id, name)


def test_captions_that_rules_were_written_with_are_split_as_they_should() -> None:
    scores, false_splits = [], []
    for row in rows("tuning"):
        split = split_caption(row.caption or "")
        if set(row.subcaptions) == {""}:
            false_splits += [row.id] if split.identifiers else []
            continue
        found = {sub.identifier: sub.text for sub in split.subcaptions}
        scores.append(caption_score(row.id, row.subcaptions, found, split.confidence))
    summary = caption_summary(scores)
    assert not false_splits
    assert summary.unprocessed_share < 0.03
    assert summary.mab > 0.95
