"""Glossaries behind the last panel's text: told by their form, and the whole figure's unless others have their own."""

from __future__ import annotations

import pytest

from pmo_assets.pipeline.captions.closing import glossary_starts, is_glossary
from pmo_assets.pipeline.captions.references import read_series
from pmo_assets.pipeline.captions.tokens import tokenized


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("fm, foramen; or, orbit; vo, vomer", True),
        ("pe, epithelium. os, outer segments. is, inner segments", True),
        ("WT, wild type; Scale bars, 50 µm", True),
        ("Neg.ctrl, negative control; Se, serum; Pl, plasma", True),
        ("WT, wild type", False),
        ("arrow, hole; arrowhead, fluid; star, cyst", False),  # a panel's own
        ("thin retina; thick choroid; clear lens", False),
        ("fm, foramen; a hole; vo, vomer", False),
    ],
)
def test_a_glossary_is_told_by_its_entries(text: str, expected: bool) -> None:
    tokens = tokenized(text)
    assert is_glossary(tokens, 0, len(tokens.texts)) is expected


@pytest.mark.parametrize(
    ("caption", "begins"),
    [
        ("Skull in dorsal (A) and ventral (B) views. fm, foramen; or, orbit; vo, vomer.", "fm,"),
        ("(A) Dorsal view. (B) Ventral view with two lengths; fm, foramen; or, orbit; vo, vomer.", "fm,"),
        ("(A) Fish; bar = 5 µm. (B) Frog; FR, frog; bar = 9 µm.", None),  # each has its bar
        ("A. Cold: FI, Finland; SE, Sweden; NO, Norway. B. Warm: ES, Spain; PT, Portugal; IT, Italy.", None),
        ("(A) Fish. (B) Frog with OR and VO (OR, orbit; VO, vomer; FM, foramen).", None),  # in brackets
    ],
)
def test_a_glossary_begins_behind_the_last_name(caption: str, begins: str | None) -> None:
    tokens = tokenized(caption)
    _, series = read_series(tokens)
    assert series is not None
    found = [caption[tokens.starts[start] :].split(" ")[0] for start in glossary_starts(tokens, series)]
    assert found == ([] if begins is None else [begins])
