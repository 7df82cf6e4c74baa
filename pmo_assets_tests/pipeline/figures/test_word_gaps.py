"""Spaces that a PDF's text lacks, from the gaps between its glyphs."""

from __future__ import annotations

import pymupdf
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.pipeline.figures import page as page_module
from pmo_assets.pipeline.figures.page import page_text
from pmo_assets.pipeline.figures.word_gaps import Glyphs, missing_spaces, narrowest_space, runs_together

SIZE = 9.0
FONT = pymupdf.Font("tiro")
CAPTION = (
    "Schematic of the two first efficient flows in the office, AVATAR and To Wave,",
    "that were measured in sixty immunohistochemically stained sections (A–C)",
    "of the lens.",
)


def page_of(lines: tuple[str, ...], *gaps: float, tracking: float = 0.0, rotation: int = 0) -> pymupdf.Page:
    """Return a page of glyphs without any space; `gaps` (of the lines in turn) and `tracking` in em."""
    document = pymupdf.open()
    page = document.new_page()
    writer = pymupdf.TextWriter(page.rect)
    for row, line in enumerate(lines):
        x = 50.0
        for word in line.split():
            for letter in word:
                writer.append((x, 100.0 + 12 * row), letter, font=FONT, fontsize=SIZE)
                x += FONT.text_length(letter, SIZE) + tracking * SIZE
            x += gaps[row % len(gaps)] * SIZE
    writer.write_text(page)
    page.set_rotation(rotation)
    return pymupdf.open("pdf", document.tobytes())[0]


def texts_of(page: pymupdf.Page) -> tuple[str, ...]:
    return tuple(line.text for line in page_text(page).lines)


@pytest.mark.parametrize("gap", [0.06, 0.1, 0.14, 0.2])
@pytest.mark.parametrize("tracking", [-0.02, 0.0, 0.03])
def test_words_set_tight_are_read_apart(gap: float, tracking: float) -> None:
    assert texts_of(page_of(CAPTION, gap, tracking=tracking)) == CAPTION


def test_ligatures_are_read_as_their_letters() -> None:
    ligated = tuple(line.replace("ffi", "\ufb03").replace("fl", "\ufb02").replace("fi", "\ufb01") for line in CAPTION)
    assert texts_of(page_of(ligated, 0.1)) == CAPTION


@pytest.mark.parametrize("rotation", [90, 180, 270])
def test_words_of_a_turned_page_are_read_apart(rotation: int) -> None:
    assert texts_of(page_of(CAPTION, 0.1, rotation=rotation)) == CAPTION


def test_letters_of_a_spaced_heading_stay_together() -> None:
    heading = ("OPHTHALMOELECTRODIAGNOSTICS", "ELECTRORETINOGRAPHY")
    assert texts_of(page_of(heading, 0.0, tracking=0.13)) == heading


def test_words_of_a_spaced_heading_are_read_apart() -> None:
    heading = ("MATERIALSMETHODSPARTICIPANTS AND RESULTS",)
    assert texts_of(page_of(heading, 0.14, tracking=0.1)) == heading


def test_long_words_stay_whole() -> None:
    words = ("hydroxychloroquineretinopathies and", "immunohistochemistries")
    assert texts_of(page_of(words, 0.25)) == words


def test_lines_of_a_justified_column_have_gaps_of_their_own() -> None:
    assert texts_of(page_of((*CAPTION[:2], "of two eyes."), 0.07, 0.19, 0.11)) == (*CAPTION[:2], "of two eyes.")


def test_pages_of_too_many_characters_are_read_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_module, "MAX_GLYPHS", sum(len(line.replace(" ", "")) for line in CAPTION) - 1)
    assert texts_of(page_of(CAPTION, 0.1)) == tuple(line.replace(" ", "") for line in CAPTION)


def test_accents_printed_by_themselves_begin_no_word() -> None:
    text = "Kniegelenksendoprothesentr¨ummer"
    apart = [0.1 if at >= text.index("¨") else 0.0 for at in range(len(text))]
    line = Glyphs(
        text, [at + more for at, more in enumerate(apart)], [at + 1 + more for at, more in enumerate(apart)], 1
    )
    assert narrowest_space(line) is not None
    assert missing_spaces(line, 0.1) == []


@given(
    st.lists(st.text("abcdefgh", min_size=2, max_size=9), min_size=6, max_size=15),
    st.floats(0.07, 0.4),
    st.floats(-0.3, 0.3),
    st.randoms(use_true_random=False),
)
def test_gaps_above_all_others_are_spaces(words: list[str], gap: float, tracking: float, random) -> None:  # type: ignore[no-untyped-def]
    text = "".join(words)
    firsts = {sum(map(len, words[:count])) for count in range(1, len(words))}
    starts, ends, x = [], [], 0.0
    for at in range(len(text)):
        x += (tracking + random.uniform(-0.015, 0.015) + (gap if at in firsts else 0.0)) * 10 if at else 0.0
        starts.append(x)
        x += 5.0
        ends.append(x)
    line = Glyphs(text, starts, ends, 10.0)
    narrowest = narrowest_space(line)
    if 2 * len(firsts) < len(text) - 1 and len(firsts) <= 0.4 * (len(text) - 1):
        assert narrowest is not None
        assert missing_spaces(line, narrowest) == sorted(firsts)


@pytest.mark.parametrize(
    ("text", "lost"),
    [
        ("Schematicofthetwofirst", True),
        ("immunohistochemically stained", False),
        ("https://doi.org/10.1000/journal-of-vision-and-eyes", False),
        ("", False),
    ],
)
def test_lines_without_spaces(text: str, lost: bool) -> None:
    assert runs_together(text) is lost
