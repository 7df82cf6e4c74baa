"""Captions by the XML's words: alignment with the text of the pages."""

from __future__ import annotations

import pytest

from pmo_assets.records.article import PackageFigure
from pmo_assets_tests.pipeline.figures.typesetting import Manuscript, agrees, caption_text, package_figure
from pmo_assets_tests.pipeline.figures.whole import captions_of


def test_xml_caption_is_found_and_its_box_covers_all_lines() -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    manuscript.body(page, (50, 60, 545, 300))
    box = manuscript.caption(page, 50, 500, f"Figure 1. {caption_text(1)}", 250)
    manuscript.body(page, (50, 560, 545, 800))
    located = captions_of(manuscript, package_figure(1))
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
    located = captions_of(manuscript, figure)
    assert located.captions[0].boxes[0].bbox[3] == pytest.approx(422, abs=4)
    assert located.captions[0].caption == "Autofluorescence of the retinal pigment epithelium."


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
    located = captions_of(manuscript, PackageFigure("f1", "Figure 1", text))
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
    located = captions_of(manuscript, PackageFigure("f1", "Figure 1", text))
    assert [box.page for box in located.captions[0].boxes] == [0, 1]


def test_empty_xml_caption_is_located_by_its_bare_label() -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    page.insert_text((50, 80), "Figure 1 was taken from a patient who had been treated for a year", fontsize=10)
    manuscript.body(page, (50, 90, 545, 300))
    page.insert_text((150, 600), "Figure 1", fontsize=8)
    located = captions_of(manuscript, PackageFigure("f1", "Figure 1", ""))
    assert located.captions[0].boxes[0].bbox[1] > 580
    assert located.captions[0].caption == ""


def test_missing_caption_is_reported_and_not_guessed() -> None:
    manuscript = Manuscript()
    manuscript.body(manuscript.page(), (50, 60, 545, 800))
    located = captions_of(manuscript, package_figure(1))
    assert located.captions == ()
    assert [figure.label for figure in located.missing] == ["Figure 1"]


def test_caption_of_which_the_xml_holds_only_the_title_is_covered_whole() -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    manuscript.body(page, (50, 60, 545, 300))
    box = manuscript.caption(page, 50, 500, f"Figure 1. {caption_text(1)}", 250)
    manuscript.body(page, (50, 560, 545, 800))
    located = captions_of(manuscript, PackageFigure("f1", "", "Photograph number 1 of the examined eye."))
    assert agrees(located.captions[0].boxes[0].bbox, box, 0.85)
    assert located.captions[0].label == "Figure 1"
