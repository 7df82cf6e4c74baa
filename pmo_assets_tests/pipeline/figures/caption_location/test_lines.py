"""Lines of a caption become its text and its boxes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pmo_assets.pipeline.figures.caption_location.lines import caption_of_lines, document_text, one_box_per_page
from pmo_assets.records.figure import PageBox
from pmo_assets_tests.pipeline.figures.regions.drawn_pages import drawn_page


def printed(*lines: str) -> str:
    """The caption that these lines make; a page elsewhere writes "self-made"."""
    page = drawn_page([(50.0, 100.0 + 10 * k, 550.0, 110.0 + 10 * k) for k in range(len(lines))])
    page = replace(page, lines=tuple(replace(line, text=text) for line, text in zip(page.lines, lines, strict=True)))
    other = drawn_page([(50.0, 100.0, 550.0, 110.0)], index=1)
    other = replace(other, lines=(replace(other.lines[0], text="a Self-Made thing"),))
    keys = [(0, k) for k in range(len(lines))]
    return caption_of_lines(document_text([page, other]), keys, "figure", "Figure 1", "1", None, 1.0).caption


@pytest.mark.parametrize(
    ("lines", "caption"),
    [
        (("Figure 1. Fundus of", "the left eye."), "Fundus of the left eye."),
        (("Figure 1", ": Fundus"), "Fundus"),
        (("Figure 1 – Fundus",), "Fundus"),
        (("Fundus with dru-", "sen and more"), "Fundus with drusen and more"),
        (("A self-", "made lens"), "A self-made lens"),
        (("Treated with anti-", "VEGF for long"), "Treated with anti-VEGF for long"),
        (("From 2010–", "2012 only"), "From 2010–2012 only"),
        (("Right and/", "or left"), "Right and/or left"),
        (("Shown –", "(here)"), "Shown – (here)"),
        (("One", " ", "two   three"), "One two three"),
        (("Soft\u00ad", "ware with\u00adout"), "Software without"),
    ],
)
def test_lines_are_joined_as_they_would_be_read(lines: tuple[str, ...], caption: str) -> None:
    assert printed(*lines) == caption


def test_each_page_has_one_box() -> None:
    boxes = [PageBox(1, (5.0, 5.0, 9.0, 9.0)), PageBox(0, (0.0, 0.0, 1.0, 1.0)), PageBox(1, (1.0, 6.0, 3.0, 12.0))]
    assert one_box_per_page(boxes) == (PageBox(0, (0.0, 0.0, 1.0, 1.0)), PageBox(1, (1.0, 5.0, 9.0, 12.0)))
