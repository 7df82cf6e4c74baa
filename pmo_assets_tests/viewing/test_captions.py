"""Captions coloured by panel."""

from itertools import pairwise

import lxml.html
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.viewing.captions import CaptionRun, caption_html, caption_picture, caption_runs
from pmo_assets.viewing.palette import PANEL_COLOURS, SHARED_COLOUR, panel_colour, rgb
from pmo_assets_tests.examples import examples

CAPTION = "OCT. (A) Before. (B, C) After & later. (C) Fellow eye."


def part(text: str) -> tuple[int, int]:
    start = CAPTION.index(text)
    return (start, start + len(text))


SPLIT = [
    ("A", [part("OCT."), part("Before.")]),
    ("B", [part("OCT."), part("After & later.")]),
    ("C", [part("OCT."), part("After & later."), part("Fellow eye.")]),
]


def spans(html: str) -> list[lxml.html.HtmlElement]:
    return lxml.html.fromstring(f"<div>{html}</div>").xpath("//div[@class='cap']/span")


def own_text(element: lxml.html.HtmlElement) -> str:
    """Return the caption text of an element, without its tags."""
    return "".join(element.xpath("text()"))


def test_runs_say_who_owns_each_character():
    owners = {CAPTION[run.start : run.end]: run.owners for run in caption_runs(CAPTION, SPLIT)}
    assert owners == {
        "OCT.": (0, 1, 2),
        " (A) ": (),
        "Before.": (0,),
        " (B, C) ": (),
        "After & later.": (1, 2),
        " (C) ": (),
        "Fellow eye.": (2,),
    }


def test_white_space_at_the_edge_of_a_segment_is_not_coloured():
    assert caption_runs("a  b", [("A", [(0, 3)]), ("B", [(2, 4)])]) == (
        CaptionRun(0, 1, (0,)),
        CaptionRun(1, 3, ()),
        CaptionRun(3, 4, (1,)),
    )


segments = st.lists(st.tuples(st.integers(-5, 40), st.integers(-5, 40)), max_size=4)
splits = st.lists(st.tuples(st.none() | st.text(max_size=3), segments), max_size=4)


@given(st.text(max_size=30), splits)
def test_runs_cover_the_caption_once_and_agree_with_the_segments(caption, split):
    runs = caption_runs(caption, split)
    assert "".join(caption[run.start : run.end] for run in runs) == caption
    assert all(a.end == b.start and a.owners != b.owners for a, b in pairwise(runs))
    for run in runs:
        for i in range(run.start, run.end):
            if not caption[i].isspace():
                owners = [k for k, (_, ranges) in enumerate(split) if any(a <= i < b for a, b in ranges)]
                assert list(run.owners) == owners


def test_each_kind_of_text_looks_different():
    parts = {own_text(span): span for span in spans(caption_html(CAPTION, SPLIT))}
    kinds = {text: span.get("class") for text, span in parts.items()}
    assert kinds["OCT."] == "seg all"
    assert kinds["Before."] == "seg"
    assert kinds["After & later."] == "seg several"
    assert kinds[" (A) "] == "none"
    assert SHARED_COLOUR in parts["OCT."].get("style")
    assert panel_colour(0) in parts["Before."].get("style")
    assert all(panel_colour(i) in parts["After & later."].get("style") for i in (1, 2))


def test_parts_are_tagged_with_their_panels():
    parts = {own_text(span): span for span in spans(caption_html(CAPTION, SPLIT))}
    assert parts["After & later."].xpath("b/text()") == ["B", "C"]
    assert parts["After & later."].get("data-panels") == "1 2"
    assert parts["Before."].get("title") == "panel A"
    assert parts["OCT."].xpath("b") == []
    assert parts["OCT."].get("title") == "all panels"


def test_the_text_is_complete_and_in_order():
    shown = "".join(
        text
        for text in lxml.html.fromstring(f"<div>{caption_html(CAPTION, SPLIT)}</div>").xpath(
            "//div[@class='cap']//text()[not(parent::b)]"
        )
    )
    assert shown == CAPTION


def test_the_legend_explains_what_occurs():
    def legend(split):
        page = lxml.html.fromstring(f"<div>{caption_html(CAPTION, split)}</div>")
        return [item.text_content() for item in page.xpath("//ul[@class='cap-legend']/li")]

    assert legend(SPLIT) == ["one panel", "several panels", "all panels"]
    assert legend([("A", [(0, 4)]), ("B", [(5, 9)])]) == ["one panel"]
    assert legend([(None, [(0, 10)])]) == []
    assert 'cap-legend"' not in caption_html(CAPTION, SPLIT, stylesheet=False, legend=False)


def test_a_single_panel_needs_no_colours_but_keeps_its_link():
    (span,) = spans(caption_html(CAPTION, [(None, [(0, len(CAPTION))])]))
    assert span.get("data-panels") == "0"
    assert span.get("class") is None
    assert spans(caption_html(CAPTION, [])) == []


def test_hostile_captions_and_names_are_only_text():
    hostile = '<script>alert(1)</script><img src=x onerror="x">\x00\ud800'
    html = caption_html(hostile, [('"><script>', [(0, 20)]), ("'><b onclick=x>", [(10, 45)])])
    page = lxml.html.fromstring(f"<div>{html}</div>")
    assert page.xpath("//script | //img | //*[@onclick] | //*[@onerror]") == []
    assert html.encode("utf-8")
    assert "\x00" not in html


def test_the_picture_shows_every_panel_and_is_as_high_as_needed():
    picture = caption_picture(CAPTION, SPLIT, width=400)
    assert picture.shape[1] == 400
    for colour in (*PANEL_COLOURS[:3], SHARED_COLOUR):
        assert (picture == rgb(colour)).all(axis=2).any(), colour
    assert (picture < 60).all(axis=2).any(), "the text itself"
    longer = caption_picture(CAPTION * 4, SPLIT, width=400)
    assert longer.shape[0] > picture.shape[0]
    assert np.array_equal(picture, caption_picture(CAPTION, SPLIT, width=400))


def test_nothing_is_drawn_on_the_margins_of_the_picture():
    picture = caption_picture("W" * 300 + " " + CAPTION, SPLIT, width=320, font_size=16)
    assert (picture[:, :15] == 255).all()
    assert (picture[:, -14:] == 255).all()
    assert (picture[-4:] == 255).all()


@examples(40)
@given(st.text(max_size=60), splits)
def test_any_text_becomes_html_and_a_picture(caption, split):
    assert caption_html(caption, split).encode("utf-8")
    assert caption_picture(caption, split, width=200, font_size=10).shape[1:] == (200, 3)


def test_a_picture_without_room_is_refused():
    with pytest.raises(ValueError, match="no room"):
        caption_picture(CAPTION, SPLIT, width=50)
