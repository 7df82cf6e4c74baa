"""Every reason to doubt a split has a factor below one."""

from __future__ import annotations

from typing import get_args

import pytest

from pmo_assets.pipeline.captions import confidence
from pmo_assets.pipeline.captions.pieces import Doubt
from pmo_assets.pipeline.captions.split import split_caption


def test_every_doubt_of_the_parser_lowers_the_confidence() -> None:
    assert set(get_args(Doubt)) <= confidence._FACTORS.keys()
    assert all(0 < factor < 1 for factor in confidence._FACTORS.values())


@pytest.mark.parametrize(
    ("caption", "reason"),
    [
        ("Fundus photograph and OCT in A and B.", "words that may name panels"),
        ("The left column shows the scans.", "words that may name panels"),
        (
            "Retina. A, Early phase. B, Late phase next to that of C.",
            "the next identifier stands in the text",
        ),
    ],
)
def test_what_looks_like_a_panel_that_was_not_read_is_a_doubt(caption: str, reason: str) -> None:
    assert reason in split_caption(caption).reasons


def test_two_doubts_put_a_split_below_the_threshold() -> None:
    doubts = sorted(confidence._FACTORS.values())
    assert confidence._PLAIN * doubts[-1] > confidence.CONFIDENCE_THRESHOLD
    assert confidence._PLAIN * 0.9 * 0.9 < confidence.CONFIDENCE_THRESHOLD < confidence._PLAIN_SINGLE * 0.9
