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
        ("A–C, maxilla in frontal (A), dorsal (B) and lateral (C) views; D, molar.", (Series.UPPER, tuple("ABCD"))),
        ("Scan in March A. and in May B. showed less fluid.", (Series.UPPER, ("A", "B"))),
        ("Trees of A. aegypti and B. mori.", None),
        ("Analysis by sedimentation a–b, Velocity. c–d, Equilibrium.", (Series.LOWER, tuple("abcd"))),
        ("Models of bound fragments a, Crystal. b, Top view. c, Side view.", (Series.LOWER, tuple("abc"))),
        ("Sterna. A Alca torda (female) B Uria aalge (male) C Larus canus.", (Series.UPPER, tuple("ABC"))),
        ("Problems. a1. Misaligned channels. a2. The same. b. Stained rim.", (Series.LOWER, ("a1", "a2", "b"))),
        (
            "Recurrence (left MIP image), after one (middle MIP image) and two cycles (right MIP image).",
            (Series.POSITION, ("left", "middle", "right")),
        ),
        (
            "Fields per eye (top panels) and from the second visit (bottom panels).",
            (Series.POSITION, ("top", "bottom")),
        ),
        ("Field of wild-type (a) and wild-type (b) eyes.", (Series.LOWER, ("a", "b"))),
        ("An appendix is attached (white arrow). B: bladder, C: cecum.", None),
        ("Molars are impacted (g). One is missing (b). A cyst (c), a root (f) and attrition (d).", None),
        ("Level of [Fe′] in (A) sea and (B) lake; pFe′ is [= −log[Fe′]].", (Series.UPPER, ("A", "B"))),
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
        ("Scans after 6, 12 and 24 months (A to C and E).", (Series.UPPER, ("A", "B", "C", "E"))),
        ("(A) Cancer (Ca). (B) Y. (C) Z.", (Series.UPPER, ("A", "B", "C"))),
        ("Complement (C3) in rods (A), cones (B) and glia (C).", (Series.UPPER, ("A", "B", "C"))),
        ("(A1) X. (A2) Y. (B1) Z.", (Series.UPPER, ("A1", "A2", "B1"))),
        ("(A) X. (Z) Y.", None),
        ("(1) X. (2) Y.", (Series.NUMBER, ("1", "2"))),
        ("Seen are (1) x and (2) y.", None),
        ("(2) X. (3) Y.", None),
        ("Seen are (i) x and (ii) y.", None),
        ("(i) X. (ii) Y.", (Series.ROMAN, ("i", "ii"))),
        ("Scans (A + B) and angiograms (C + D).", (Series.UPPER, ("A", "B", "C", "D"))),
        ("The height of the plateau (A + B). The ratio is A ÷ (A + B).", None),
        ("The total C(a+b) of crown (a) and root (b).", (Series.LOWER, ("a", "b"))),
        ("Cysts in most (A, n = 12), fluid in few (B, n = 3).", (Series.UPPER, ("A", "B"))),
        ("Staining (a, p < 0.01) and break-up time (b, n.s.).", (Series.LOWER, ("a", "b"))),
        ("Structures of A, ranibizumab; B, brolucizumab; and C, aflibercept.", (Series.UPPER, ("A", "B", "C"))),
        ("Course of hepatitis A, untreated for years.", None),
        ("Before (A) and after (B) surgery. E : epithelium, S : stroma, D : disc.", (Series.UPPER, ("A", "B"))),
        ("Before (A) and after (B) surgery. C: fields. D: acuities.", (Series.UPPER, ("A", "B", "C", "D"))),
        ("The eye: C, cornea; A, anterior chamber; B, ciliary body; L, lens.", None),
        ("a Photograph b OCT c Angiogram d Field e Map", (Series.LOWER, tuple("abcde"))),
        ("A shows a control and B a mutant. L, lens.", (Series.UPPER, ("A", "B"))),
        ("A. Laser: 488 nm, B. Relay: lenses, C. Detector: D. Eye.", (Series.UPPER, tuple("ABCD"))),
        ("A: Right eye B: Left eye", (Series.UPPER, ("A", "B"))),
        ("{A} Photograph, {B} OCT.", (Series.UPPER, ("A", "B"))),
        ("a.) Photograph, b.) OCT and c.) field.", (Series.LOWER, ("a", "b", "c"))),
        ("Showing (a-) oedema and (b-) spots.", (Series.LOWER, ("a", "b"))),
        ("In panels A and C, without, in panels B and D with contrast.", (Series.UPPER, tuple("ABCD"))),
        ("Ratios (left panel, by age; right panel, by sex).", (Series.POSITION, ("left", "right"))),
        ("Top: it says “seen.” Bottom: it says “not seen.”", (Series.POSITION, ("top", "bottom"))),
        ("The upper panel gives cones, the lower that of rods.", (Series.POSITION, ("upper", "lower"))),
        ("In the left panel, X. In the right panel, Y.", (Series.POSITION, ("left", "right"))),
        (
            "Opsin (far left), arrestin (middle) and both (far right).",
            (Series.POSITION, ("far left", "middle", "far right")),
        ),
        ("(A–C) X at 17 h (A, B), 24 h (C, D) and 28 h (E).", (Series.UPPER, tuple("ABCDE"))),
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
