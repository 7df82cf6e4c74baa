"""Package pictures confirm, correct and find regions."""

from __future__ import annotations

from dataclasses import replace

from pmo_assets.pipeline.figures.extraction import extract_figures
from pmo_assets_tests.pipeline.figures.typesetting import (
    Manuscript,
    agrees,
    caption_text,
    jpeg,
    package_figure,
    photograph,
)
from pmo_assets_tests.pipeline.figures.whole import box_of


def test_package_picture_corrects_a_region_that_holds_too_much() -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    manuscript.body(page, (50, 60, 545, 200))
    wanted = photograph(600, 300, 4)
    manuscript.picture(page, (100, 220, 400, 370), wanted)
    manuscript.picture(page, (405, 220, 545, 370), photograph(200, 200, 8))  # a portrait beside it
    manuscript.caption(page, 50, 380, f"Figure 1. {caption_text(1)}", 490)
    manuscript.body(page, (50, 430, 545, 800))
    figures = [package_figure(1)]
    alone = extract_figures(manuscript.pdf(), figures)
    assert agrees(box_of(alone, 1), (100, 220, 545, 370)), "layout alone takes both"
    images = {"fig-001": jpeg(wanted)}
    told = extract_figures(manuscript.pdf(), figures, package_image=images.get)
    assert agrees(box_of(told, 1), (100, 220, 400, 370), 0.98)
    assert told.figures[0].located_by == "package_image"
    assert told.figures[0].caption_locations, "its caption is still known"


def test_package_picture_that_agrees_makes_certain() -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    manuscript.picture(page, (100, 220, 400, 420), photograph(600, 400, 4))
    manuscript.caption(page, 50, 430, f"Figure 1. {caption_text(1)}", 490)
    manuscript.body(page, (50, 480, 545, 800))
    figures = [package_figure(1)]
    images = {"fig-001": jpeg(photograph(600, 400, 4))}
    alone, told = (extract_figures(manuscript.pdf(), figures, package_image=source) for source in (None, images.get))
    assert alone.figures[0].picture_correlation is None
    assert (told.figures[0].picture_correlation or 0) > 0.96
    assert told.figures[0].confidence > alone.figures[0].confidence
    assert told.figures[0].locations == alone.figures[0].locations


def test_package_picture_of_one_part_does_not_cut_the_figure() -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    manuscript.picture(page, (100, 220, 300, 370), photograph(400, 300, 4))
    manuscript.picture(page, (305, 220, 505, 370), photograph(400, 300, 8))
    manuscript.caption(page, 50, 380, f"Figure 1. {caption_text(1)}", 490)
    manuscript.body(page, (50, 430, 545, 800))
    listed = replace(package_figure(1), graphics=("fig-001a", "fig-001b"))
    images = {"fig-001": jpeg(photograph(400, 300, 4))}
    found = extract_figures(manuscript.pdf(), [listed], package_image=images.get)
    assert agrees(box_of(found, 1), (100, 220, 505, 370))
