"""Cues of a sentence: turns, conclusions, methods, results that no figure shows, names."""

from __future__ import annotations

import pytest

from pmo_assets.pipeline.context.sentence_cues import names_of, sentence_cues


@pytest.mark.parametrize(
    ("text", "cues"),
    [
        ("In contrast, the eye was red.", {"turns", "is_past"}),
        ("These results are new.", {"concludes"}),
        ("The flow is measured to assess it.", {"tells_method"}),
        ("The nerve was assessed.", {"tells_method", "is_past"}),
        ("It is red (data not shown).", {"is_unshown"}),
        ("It is red (Table S2).", {"is_unshown", "has_number"}),
        ("It is red (S2 Fig).", {"is_unshown", "has_number"}),
        ("The medium is supplemented with glucose.", set()),
        ("It is red [12].", set()),
        ("It is red in 12.", {"has_number"}),
        ("The eye is red, in contrast.", set()),
    ],
)
def test_cues(text: str, cues: set[str]) -> None:
    found = sentence_cues(text)
    named = ("turns", "concludes", "tells_method", "is_unshown", "has_number", "is_past")
    assert {name for name in named if getattr(found, name)} == cues


def test_words_that_are_written_as_names() -> None:
    text = "The p150CAF-1 and BRCA1 genes of Mice, in vivo (Figure 2A) [12A], by qPCR, 12 of them."
    assert names_of(text) == {"p150CAF-1", "BRCA1", "qPCR"}
