"""Every reason to doubt a split has a factor below one."""

from __future__ import annotations

from typing import get_args

from pmo_assets.pipeline.captions import confidence
from pmo_assets.pipeline.captions.pieces import Doubt


def test_every_doubt_of_the_parser_lowers_the_confidence() -> None:
    assert set(get_args(Doubt)) <= confidence._FACTORS.keys()
    assert all(0 < factor < 1 for factor in confidence._FACTORS.values())
