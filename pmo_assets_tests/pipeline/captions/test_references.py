"""Letters without marks that count because the caption's other names make them a series."""

from __future__ import annotations

import pytest

from pmo_assets.pipeline.captions.references import read_series, referring_mentions
from pmo_assets.pipeline.captions.split import split_caption
from pmo_assets.pipeline.captions.tokens import tokenized


def names(caption: str) -> tuple[str, ...]:
    _, series = read_series(tokenized(caption))
    return () if series is None else series.identifiers


@pytest.mark.parametrize(
    ("caption", "expected"),
    [
        ("Anisotropy of the nerve (A and B). C and D are maps of diffusivity.", "ABCD"),
        ("Two eyes. Panel a shows a hole. In b, the hole is closed. In c, fluid is back.", "abc"),
        ("Thickness fell (A). It came back in a year (B). As shown in C, both are correlated.", "ABC"),
        ("Cells that bind (A). The orange box in B marks those of one donor.", "AB"),
        ("A and C are raw images; B and D are masks.", "ABCD"),
        ("Panel A is the photograph. Panel B is the angiogram, and the third panel, C, is the overlay.", "ABC"),
        ("Counts of (A) rods and (B) cones. The bar graph in C summarizes both.", "ABC"),
    ],
)
def test_letters_go_on_with_the_names_of_other_panels(caption: str, expected: str) -> None:
    assert names(caption) == tuple(expected)


@pytest.mark.parametrize(
    ("caption", "expected"),
    [
        ("(A) Rods. (B) Cones. E is the ellipsoid.", "AB"),  # no next member of the series
        ("(A) Rods of mice on vitamin C. (B) Cones.", "AB"),
        ("Rods (A) and cones (B). C is the control.", "AB"),  # explains a letter
        ("(A) Rods. (B) Cones at a depth measured by a B-scan. In C57 mice, all are short.", "AB"),
        ("The retina in a mouse. In a rat, it is thick.", ""),
        ("In line A, the fovea is cut. In line B, the disc is cut.", ""),
        ("In B, the lens is clear.", ""),  # no first member
    ],
)
def test_letters_that_are_no_next_panel_stay_text(caption: str, expected: str) -> None:
    assert names(caption) == tuple(expected)


def test_a_sentence_about_named_panels_is_theirs_wherever_it_stands() -> None:
    split = split_caption("(A) Axial and (B) coronal scan of one orbit. (C) Histology. In A and B, the nerve is thick.")
    text = {sub.identifier: sub.text for sub in split.subcaptions}
    assert [name for name in text if "In A and B, the nerve is thick." in text[name]] == ["A", "B"]


@pytest.mark.parametrize(
    ("caption", "named"),
    [
        ("In B, the arrow marks fluid.", ["B"]),
        ("C and D show maps.", ["C", "D"]),
        ("The scatter plot in E summarizes counts.", ["E"]),
        ("Genotypes in A–D: wild type.", ["A"]),
        ("Counts rise, whereas in F, they fall.", ["F"]),
        ("C is the control.", []),
        ("B-scans show fluid.", []),
        ("In group B, eyes were treated.", []),
        ("Blood groups A and B were tested.", []),
    ],
)
def test_only_the_subject_of_a_sentence_or_clause_is_read(caption: str, named: list[str]) -> None:
    assert [item[0] for mention in referring_mentions(tokenized(caption)) for item in mention.items] == named
