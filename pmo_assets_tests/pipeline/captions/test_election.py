"""Which series of identifiers a caption uses."""

from __future__ import annotations

import pytest

from pmo_assets.pipeline.captions.election import elected_series
from pmo_assets.pipeline.captions.identifier_mentions import mentions
from pmo_assets.pipeline.captions.series import Series
from pmo_assets.pipeline.captions.tokens import tokenized


def series_of(caption: str) -> tuple[Series, tuple[str, ...]] | None:
    found = elected_series(mentions(tokenized(caption)))
    return None if found is None else (found.series, found.identifiers)


@pytest.mark.parametrize(
    ("caption", "expected"),
    [
        ("(A) X. (B) Y.", (Series.UPPER, ("A", "B"))),
        ("(i) X. (ii) Y. (iii) Z.", (Series.ROMAN, ("i", "ii", "iii"))),
        ("(I) X. (II) Y.", (Series.UPPER_ROMAN, ("I", "II"))),
        ("(g) X. (h) Y. (i) Z. (a–f) W.", (Series.LOWER, tuple("abcdefghi"))),
        ("Left: X. Right: Y.", (Series.POSITION, ("left", "right"))),
        ("X (left) and nothing else.", None),
        ("(A) Only one.", None),
        ("Normal (N) and tumor (T).", None),
        ("Stained with (H & E) and more.", None),
        ("(B) X. (C) Y.", (Series.UPPER, ("A", "B", "C"))),
        ("(A) X. (C) Y.", (Series.UPPER, ("A", "B", "C"))),
        ("(A) X. (Z) Y.", None),
        ("(1) X. (2) Y.", (Series.NUMBER, ("1", "2"))),
        ("Seen are (1) x and (2) y.", None),
        ("(2) X. (3) Y.", None),
        ("Seen are (i) x and (ii) y.", None),
        ("(i) X. (ii) Y.", (Series.ROMAN, ("i", "ii"))),
    ],
)
def test_the_series_of_a_caption(caption: str, expected: tuple[Series, tuple[str, ...]] | None) -> None:
    assert series_of(caption) == expected


def test_an_outer_list_is_preferred_to_the_lists_inside_it() -> None:
    assert series_of("(A) X: (i) a, (ii) b. (B) Y: (i) c, (ii) d.") == (Series.UPPER, ("A", "B"))


@pytest.mark.parametrize(
    ("caption", "restarts"),
    [
        ("(A) X. (B) Y.", 0),
        ("(A) X. (B) Y. (A) Z.", 1),
        ("(A, B) X. (B) Y. (A) Z. (C) U. (A) V.", 2),
        ("(A) X seen in (B). (B) Y seen in (A).", 0),  # only what opens a clause is a head
    ],
)
def test_heads_that_go_back_are_counted(caption: str, restarts: int) -> None:
    found = elected_series(mentions(tokenized(caption)))
    assert found is not None
    assert found.restarts == restarts


def test_parts_that_the_series_lacks_belong_to_their_panel() -> None:
    found = elected_series(mentions(tokenized("(a) X. (a1) Y. (b) Z. (c) U.")))
    assert found is not None
    assert found.identifiers == ("a", "b", "c")
    assert [naming.identifiers for naming in found.mentions] == [("a",), ("a",), ("b",), ("c",)]
    assert [bool(naming.mention.cuts) for naming in found.mentions] == [True, False, True, True], "its name stays"
    assert found.rivals == 0
