"""Text in pictures: any script, cut where it does not fit."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageDraw

from pmo_assets.viewing.lettering import Lettering


def drawn(text: str) -> np.ndarray:
    picture = Image.new("RGB", (200, 30), "white")
    Lettering(16).draw(ImageDraw.Draw(picture), 4, 22, text, "#000000")
    return np.asarray(picture)


def test_greek_signs_and_cjk_have_glyphs_and_others_a_question_mark():
    pictures = [drawn(text) for text in ("μ", "≥", "→", "é", "网", "?")]
    for i, picture in enumerate(pictures):
        assert (picture < 128).any()
        assert all((picture != other).any() for other in pictures[:i])
    assert np.array_equal(drawn("\U0001f600"), drawn("?"))


def test_width_grows_with_text_and_size():
    small = Lettering(10)
    assert small.width("") == 0
    assert small.width("OCT") < small.width("OCT image")
    assert small.width("OCT") < Lettering(20).width("OCT")


@given(st.text(max_size=80), st.integers(20, 300))
def test_a_shortened_line_fits_and_a_short_one_stays(text, width):
    lettering = Lettering(12)
    line = lettering.shortened(text, width)
    assert lettering.width(line) <= width
    assert line == text or line.endswith("…")


def test_lines_break_at_white_space_and_end_in_an_ellipsis():
    lettering = Lettering(12)
    text = "Spectral domain optical coherence tomography of the left eye"
    full = lettering.lines(text, 150, 10)
    assert " ".join(full) == text
    assert all(lettering.width(line) <= 150 for line in full)
    cut = lettering.lines(text, 150, 2)
    assert len(cut) == 2
    assert cut[0] == full[0]
    assert cut[1].endswith("…")
    assert lettering.lines("  ", 150, 2) == []
