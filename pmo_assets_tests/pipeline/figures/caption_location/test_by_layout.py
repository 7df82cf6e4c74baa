"""Captions by layout alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from pmo_assets.pipeline.figures.caption_location.by_layout import captions_by_layout, following_lines
from pmo_assets.pipeline.figures.caption_location.lines import DocumentText, document_text
from pmo_assets.pipeline.figures.page import TextLine, TextSpan
from pmo_assets_tests.pipeline.figures.regions.drawn_pages import drawn_page
from pmo_assets_tests.pipeline.figures.typesetting import Manuscript, caption_text
from pmo_assets_tests.pipeline.figures.whole import captions_of


@pytest.mark.parametrize("label", ["Figure 1.", "Fig. 1:", "FIGURE 1.", "Fig 1 |", "Figure 1:"])
def test_label_patterns_without_xml(label: str) -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    manuscript.body(page, (50, 60, 545, 300))
    manuscript.caption(page, 50, 500, f"{label} {caption_text(1)}", 300)
    manuscript.body(page, (50, 560, 545, 800))
    located = captions_of(manuscript)
    assert [caption.number for caption in located.captions] == ["1"]
    assert located.captions[0].caption == caption_text(1)


def line(text: str, x: float, y: float, width: float = 400, size: float = 10, font: str = "Body", block: int = 0,
         bold: bool = False, turns: int = 0) -> TextLine:  # fmt: skip
    """A line of text whose box is as high as its font."""
    box = (x, y, x + width, y + size)
    return TextLine(text, box, size, bold, font, block, turns, (TextSpan(text, box, size, bold),))


def document(*pages: Sequence[TextLine]) -> DocumentText:
    """Pages of 600 x 800 points with these lines."""
    return document_text([replace(drawn_page(index=n), lines=tuple(lines)) for n, lines in enumerate(pages)])


START = line("Figure 1. Fundus of the", 50, 100, size=8)


def followed(*lines: TextLine, first: TextLine = START) -> int:
    """How many of these lines belong to the caption that begins above them."""
    text = document([first, *lines])
    return len(following_lines(text, text.starts[0])) - 1


@pytest.mark.parametrize(
    ("second", "belongs"),
    [
        (line("left eye.", 50, 110, size=8), True),
        (line("left eye.", 50, 115, size=8), True),
        (line("left eye.", 50, 116, size=8), False),  # an empty line
        (line("left eye.", 50, 110, size=8.5), True),
        (line("left eye.", 50, 110, size=9), False),  # another size
        (line("left eye.", 50, 110, size=7), False),
        (line("2", 200, 108, width=4, size=5), True),  # an index
        (line("indices", 200, 110, width=4, size=5), False),
        (line("left eye.", 460, 110, size=8, width=100), False),  # beside
        (line("left eye.", 10, 110, size=8, width=30), False),
        (line("left eye.", 50, 80, size=8), False),  # above
        (line("left eye.", 460, 100, size=8, width=100), True),  # in its row
        (line("left eye.", 480, 100, size=8, width=100), False),  # across a gutter
        (line("Fig", 20, 100, size=8, width=20), True),
        (line("Fig", 0, 100, size=8, width=20), False),
        (line("left eye.", 50, 110, size=8, turns=1), False),
        (line("Figure 2. Next", 50, 110, size=8), False),
        (line("Table 2 Next", 50, 110, size=8), False),
        (line("doi:10.1371/journal.pone.0056489.g001", 50, 110, size=8), False),
        (line("https://doi.org/10.1371/journal.pone.0056489.g001", 50, 110, size=8), False),
    ],
)
def test_a_line_goes_on_with_the_caption_or_not(second: TextLine, belongs: bool) -> None:
    assert followed(second) == int(belongs)


def test_the_first_two_lines_show_how_far_apart_lines_are() -> None:
    second = line("left eye and", 50, 110, size=8)
    assert followed(second, line("the right eye.", 50, 120, size=8)) == 2
    assert followed(second, line("the right eye.", 50, 122, size=8, block=1)) == 2
    assert followed(second, line("Running text", 50, 123, size=8, block=1)) == 1
    assert followed(second, line("the right eye.", 50, 124, size=8)) == 2, "in one block all is one text"


def test_a_label_on_a_line_of_its_own_has_any_size() -> None:
    label = line("Figure 1", 50, 100, width=50)
    second, third = line("Fundus of", 50, 112, size=8), line("the eye", 50, 122, size=8)
    assert followed(second, third, first=label) == 2
    assert followed(second, line("the eye", 50, 122), first=label) == 1


BODY = [line("running text of the article that goes on and on", 50, 200 + 12 * k, block=9) for k in range(12)]


@pytest.mark.parametrize(
    ("start", "before", "found"),
    [
        (line("Figure 1. Fundus.", 50, 100), None, True),
        (line("Figure 1 Fundus.", 50, 100), None, False),
        (line("FIGURE 1 Fundus.", 50, 100, bold=True), None, True),
        (line("Figure 1 shows it.", 50, 100, bold=True), None, False),
        (line("Figure 1 shows it.", 50, 100, font="Other"), None, False),
        (line("Figure 1, as seen.", 50, 100, bold=True), None, False),
        (line("Figure 1) is here.", 50, 100), None, False),
        (line("Figure 1–3 are here.", 50, 100, font="Other"), None, False),
        (line("Figure 1", 50, 100), None, True),
        (line("Figure 1. Fundus.", 50, 100, font="Other"), line("a text before", 50, 90), True),
        (line("Figure 1. Fundus.", 50, 100), line("a text before.", 50, 90), False),
        (line("Figure 1. Fundus.", 50, 100), line("a text before.", 50, 80), True),
        (line("Figure 1. Fundus.", 50, 100), line("a text before.", 50, 90, block=3), True),
        (line("Figure 1. Fundus.", 50, 100, block=1), line("a long text before that goes on (see", 50, 90), False),
        (line("Figure 1. Fundus.", 50, 100, block=1), line("a long text before that has ended.", 50, 90), True),
        (line("Figure 1. Fundus.", 50, 100, block=1), line("a long text, turned, going on", 50, 90, turns=1), True),
        (line("Figure 1. Fundus.", 50, 100, size=8, block=1), line("a long text before that goes on", 50, 90), True),
    ],
)
def test_a_label_begins_a_caption_or_a_sentence(start: TextLine, before: TextLine | None, found: bool) -> None:
    lines = [start] if before is None else [before, start]
    assert len(captions_by_layout(document([*lines, *BODY]))) == int(found)


@pytest.mark.parametrize(
    ("last", "next_line", "joined"),
    [
        ("that goes on", line("overleaf, here.", 50, 60, size=8), True),
        ("that ends.", line("overleaf, here.", 50, 60, size=8), False),
        ("that goes on", line("Overleaf, here.", 50, 60, size=8), False),
        ("that goes on", line("overleaf, here.", 50, 60), False),
        ("that goes on", line("overleaf, here.", 50, 60, size=8, font="Other"), False),
        ("that goes on", line("overleaf, here.", 50, 300, size=8), False),
    ],
)
def test_an_unfinished_caption_goes_on_at_the_top_of_the_next_page(
    last: str, next_line: TextLine, joined: bool
) -> None:
    for y, expected in ((700, joined), (500, False)):
        start = line(f"Figure 1. A text {last}", 50, y, size=8, block=20)
        (caption,) = captions_by_layout(document([*BODY, start], [next_line, *BODY]))
        assert [box.page for box in caption.boxes] == ([0, 1] if expected else [0])


def test_nothing_tells_a_caption_in_the_bodys_style_from_the_text_overleaf() -> None:
    start = line("Figure 1. A text that goes on", 50, 700, block=20)
    pages = [*BODY, line("The end.", 50, 680, block=19), start], [line("overleaf", 50, 60), *BODY]
    (caption,) = captions_by_layout(document(*pages))
    assert len(caption.boxes) == 1
