"""Locating captions: alignment with the XML, and detection by layout."""

from __future__ import annotations

import pymupdf
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.pipeline.figures.caption_location import (
    LocatedCaptions,
    compact_text,
    figure_number,
    located_captions,
)
from pmo_assets.pipeline.figures.page import PageContent, page_content
from pmo_assets.records.article import PackageFigure
from pmo_assets_tests.pipeline.figures.typesetting import Manuscript, agrees, caption_text, package_figure


def _contents(manuscript: Manuscript) -> list[PageContent]:
    return [page_content(page) for page in pymupdf.open(stream=manuscript.pdf())]


def _located(manuscript: Manuscript, *figures: PackageFigure) -> LocatedCaptions:
    return located_captions(_contents(manuscript), figures)


@pytest.mark.parametrize(
    ("label", "number"),
    [
        ("Figure 3", "3"),
        ("FIGURE 12.", "12"),
        ("Fig. 4", "4"),
        ("Fig.4", "4"),
        ("Figure S2", "s2"),
        ("Supplementary Figure 2", "s2"),
        ("Figure A1", "a1"),
        ("Fig. IV", "4"),
        ("Scheme 1", "1"),
        ("", ""),
        ("Figure", ""),
    ],
)
def test_figure_number(label: str, number: str) -> None:
    assert figure_number(label) == number


@given(st.text(max_size=40))
def test_figure_number_takes_any_text(text: str) -> None:
    assert figure_number(text) == figure_number(text).lower()


def test_compact_text_resolves_ligatures_and_case() -> None:
    assert compact_text("Eﬀect of ﬂuorescein, CD4⁺ (n = 3)") == "effectoffluoresceincd4n3"


def test_xml_caption_is_found_and_its_box_covers_all_lines() -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    manuscript.body(page, (50, 60, 545, 300))
    box = manuscript.caption(page, 50, 500, f"Figure 1. {caption_text(1)}", 250)
    manuscript.body(page, (50, 560, 545, 800))
    located = _located(manuscript, package_figure(1))
    assert len(located.captions) == 1
    caption = located.captions[0]
    assert caption.image_cluster_id == "fig-001"
    assert len(caption.lines) >= 2
    assert agrees(caption.boxes[0].bbox, box, 0.85)
    assert caption.caption == caption_text(1)
    assert caption.similarity == 1.0


def test_hyphenation_and_ligatures_do_not_matter() -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    for k, line in enumerate(["Figure 2: Autofluo-", "rescence of the reti-", "nal pigment epithelium."]):
        page.insert_text((50, 400 + 10 * k), line, fontsize=8)
    manuscript.body(page, (50, 440, 545, 800))
    figure = PackageFigure("f2", "Figure 2", "Autoﬂuorescence of the retinal pigment epithelium.")
    located = _located(manuscript, figure)
    assert located.captions[0].boxes[0].bbox[3] == pytest.approx(422, abs=4)
    assert located.captions[0].caption == "Autofluorescence of the retinal pigment epithelium."


def test_body_sentence_that_begins_with_the_label_is_no_caption() -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    manuscript.body(page, (50, 60, 545, 200))
    page.insert_text((50, 230), "Figure 1 shows that the treatment had an effect on the eyes", fontsize=10)
    manuscript.body(page, (50, 234, 545, 300))
    box = manuscript.caption(page, 50, 500, f"Figure 1. {caption_text(1)}", 400)
    for figures in ((package_figure(1),), ()):
        located = _located(manuscript, *figures)
        assert len(located.captions) == 1
        assert agrees(located.captions[0].boxes[0].bbox, box, 0.85)


def test_caption_that_runs_into_the_next_column_is_followed() -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    text = " ".join(caption_text(k) for k in (1, 2, 3, 4))
    words = text.split()
    half = len(words) // 2
    manuscript.body(page, (50, 60, 290, 700))
    first = manuscript.caption(page, 50, 730, "Figure 1. " + " ".join(words[:half]), 240)
    manuscript.body(page, (305, 200, 545, 800))
    second = manuscript.caption(page, 305, 60, " ".join(words[half:]), 240)
    located = _located(manuscript, PackageFigure("f1", "Figure 1", text))
    box = located.captions[0].boxes[0].bbox
    assert box[0] == pytest.approx(first[0], abs=2)
    assert box[1] == pytest.approx(second[1], abs=3)
    assert box[2] == pytest.approx(second[2], abs=3)
    assert box[3] == pytest.approx(first[3], abs=4)


def test_caption_that_runs_onto_the_next_page_has_two_boxes() -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    text = " ".join(caption_text(k) for k in (1, 2, 3, 4))
    words = text.split()
    half = len(words) // 2
    manuscript.caption(page, 50, 780, "Figure 1. " + " ".join(words[:half]), 490)
    page = manuscript.page()
    manuscript.caption(page, 50, 60, " ".join(words[half:]), 490)
    manuscript.body(page, (50, 120, 545, 800))
    located = _located(manuscript, PackageFigure("f1", "Figure 1", text))
    assert [box.page for box in located.captions[0].boxes] == [0, 1]


def test_empty_xml_caption_is_located_by_its_bare_label() -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    page.insert_text((50, 80), "Figure 1 was taken from a patient who had been treated for a year", fontsize=10)
    manuscript.body(page, (50, 90, 545, 300))
    page.insert_text((150, 600), "Figure 1", fontsize=8)
    located = _located(manuscript, PackageFigure("f1", "Figure 1", ""))
    assert located.captions[0].boxes[0].bbox[1] > 580
    assert located.captions[0].caption == ""


def test_missing_caption_is_reported_and_not_guessed() -> None:
    manuscript = Manuscript()
    manuscript.body(manuscript.page(), (50, 60, 545, 800))
    located = _located(manuscript, package_figure(1))
    assert located.captions == ()
    assert [figure.label for figure in located.missing] == ["Figure 1"]


@pytest.mark.parametrize("label", ["Figure 1.", "Fig. 1:", "FIGURE 1.", "Fig 1 |", "Figure 1:"])
def test_label_patterns_without_xml(label: str) -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    manuscript.body(page, (50, 60, 545, 300))
    manuscript.caption(page, 50, 500, f"{label} {caption_text(1)}", 300)
    manuscript.body(page, (50, 560, 545, 800))
    located = _located(manuscript)
    assert [caption.number for caption in located.captions] == ["1"]
    assert located.captions[0].caption == caption_text(1)


def test_two_columns_of_captions_do_not_mix() -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    boxes = [manuscript.caption(page, x, 400, f"Figure {n}. {caption_text(n)}", 230) for x, n in ((50, 1), (305, 2))]
    manuscript.body(page, (50, 460, 290, 800))
    manuscript.body(page, (305, 460, 545, 800))
    for figures in ((package_figure(1), package_figure(2)), ()):
        located = _located(manuscript, *figures)
        assert len(located.captions) == 2
        for caption, box in zip(located.captions, boxes, strict=True):
            assert agrees(caption.boxes[0].bbox, box, 0.85)


def test_caption_of_which_the_xml_holds_only_the_title_is_covered_whole() -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    manuscript.body(page, (50, 60, 545, 300))
    box = manuscript.caption(page, 50, 500, f"Figure 1. {caption_text(1)}", 250)
    manuscript.body(page, (50, 560, 545, 800))
    located = _located(manuscript, PackageFigure("f1", "", "Photograph number 1 of the examined eye."))
    assert agrees(located.captions[0].boxes[0].bbox, box, 0.85)
    assert located.captions[0].label == "Figure 1"


@pytest.mark.parametrize(
    ("line", "is_continuation"),
    [
        ("Figure 1: Continued.", True),
        ("Figure 1. Continued", True),
        ("Figure 1 (continued). Panels D to F.", True),
        ("Fig. 1 (cont.)", True),
        ("Figure 1. Continued expression of the receptor in the retina.", False),
    ],
)
def test_continuation_is_told_from_a_sentence(line: str, is_continuation: bool) -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    manuscript.body(page, (50, 60, 545, 300))
    manuscript.caption(page, 50, 400, line, 490)
    pages = [page_content(page) for page in pymupdf.open(stream=manuscript.pdf())]
    found = located_captions(pages).captions
    assert [caption.is_continuation for caption in found] == [is_continuation]
