"""Every step from page to figure on typeset pages, and on pages shaken until rules meet their limits, as recorded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pymupdf
import pytest
from numpy.typing import NDArray

from pmo_assets.pipeline.articles.jats import parse_jats
from pmo_assets.pipeline.figures.caption_location.by_layout import captions_by_layout
from pmo_assets.pipeline.figures.caption_location.lines import document_text
from pmo_assets.pipeline.figures.caption_location.located_captions import located_captions
from pmo_assets.pipeline.figures.extraction import FigureOptions, extract_figures
from pmo_assets.pipeline.figures.matching import match_figures
from pmo_assets.pipeline.figures.page import PageContent, page_content
from pmo_assets.pipeline.figures.reading_frame import framed_page, reading_frame
from pmo_assets.pipeline.figures.regions.figure_regions import figure_regions
from pmo_assets.pipeline.figures.regions.page_layout import PageLayout, page_layouts
from pmo_assets.pipeline.figures.registration import (
    gray_rendering,
    package_gray,
    page_raster,
    registered,
    rendering_correlation,
)
from pmo_assets.pipeline.figures.running_text import body_style, document_style
from pmo_assets.records.article import PackageFigure
from pmo_assets.records.geometry import Box
from pmo_assets.samples import typeset
from pmo_assets_tests.pipeline.figures.typesetting import (
    Manuscript,
    agrees,
    caption_text,
    jpeg,
    package_figure,
    photograph,
)
from pmo_assets_tests.recorded import assert_as_recorded
from pmo_assets_tests.samples.random_specs import random_spec

FILE = Path(__file__).with_suffix(".json")
SEEDS = (33, 75, 1012, 1144, 1184, 1219)
"""Random articles whose layouts need rules of their own, see `test_samples`."""

Material = tuple[bytes, tuple[PackageFigure, ...], dict[str, bytes]]
"""PDF, figures that the XML lists, and their pictures."""


TRUTH: dict[int, tuple[int, Box]] = {
    1: (0, (60, 262, 530, 420)),
    2: (0, (320, 480, 540, 720)),
    3: (1, (320, 210, 530, 330)),
    4: (1, (50, 420, 250, 705)),
    5: (2, (120, 90, 420, 700)),
    6: (3, (60, 350, 360, 560)),
    7: (3, (60, 705, 300, 765)),
}
"""Page and box of each figure of `full_page`."""


def full_page() -> Manuscript:
    """Return pages with a table and its notes, figures of photographs and lines, furniture, and a sideways figure."""
    paper = Manuscript()
    page = paper.page()
    paper.body(page, (50, 60, 545, 120))
    paper.caption(page, 50, 130, "Table 1. Characteristics of the subjects.", 490)
    for y in (150, 165, 225):
        page.draw_line((50, y), (545, y), width=0.7)
    for row in range(5):
        for column in range(4):
            page.insert_text((55 + 120 * column, 161 + 15 * row), f"{row}.{column} mm", fontsize=8)
    for k, text in enumerate(("a Measured twice.", "b Eyes without any signs.")):
        page.insert_text((50, 234 + 10 * k), text, fontsize=7)
    paper.picture(page, (60, 262, 285, 420))
    paper.picture(page, (300, 262, 530, 420), photograph(seed=4))
    page.insert_text((62, 274), "A", fontsize=9)
    page.insert_text((302, 274), "B", fontsize=9)
    paper.caption(page, 50, 428, f"Figure 1. {caption_text(1)}", 490)
    paper.body(page, (50, 470, 290, 790))
    for k in range(4):
        page.draw_rect((320, 480 + 60 * k, 540, 530 + 60 * k), width=0.8)
        page.insert_text((350, 510 + 60 * k), f"{20 - k} eyes were included", fontsize=8)
        page.draw_line((430, 530 + 60 * k), (430, 540 + 60 * k))
    paper.caption(page, 305, 730, f"Figure 2. {caption_text(2)}", 230)

    page = paper.page()
    paper.body(page, (50, 60, 290, 330))
    paper.body(page, (305, 60, 545, 200), start=7)
    paper.picture(page, (320, 210, 530, 330), photograph(seed=5))
    page.draw_line((340, 230), (400, 300), color=(1, 1, 0), width=2)
    page.draw_circle((450, 270), 12, color=(1, 0, 0), width=1.5)
    paper.caption(page, 305, 340, f"Figure 3. {caption_text(3)}", 240)
    paper.picture(page, (50, 420, 250, 560), photograph(seed=6))
    paper.picture(page, (50, 565, 250, 705), photograph(seed=7))
    paper.caption(page, 262, 440, f"Figure 4. {caption_text(4)}", 180)
    paper.body(page, (50, 720, 545, 800))

    page = paper.page()
    paper.picture(page, (120, 90, 420, 700), np.ascontiguousarray(np.rot90(photograph(seed=8))))
    for k, text in enumerate((f"Figure 5. {caption_text(5)[:70]}", caption_text(5)[70:])):
        page.insert_text((440 + 11 * k, 700), text, fontsize=8, rotate=90)

    page = paper.page()
    paper.body(page, (50, 60, 545, 300))
    paper.caption(page, 50, 320, f"Figure 6. {caption_text(6)}", 300)
    paper.picture(page, (60, 350, 360, 560), photograph(seed=9))
    paper.body(page, (50, 580, 545, 700), size=10)
    paper.caption(page, 50, 770, "Figure 7. The fundus of the left eye, with a caption that goes on", 490)
    paper.picture(page, (60, 705, 300, 765), photograph(seed=10))
    page = paper.page()
    paper.caption(page, 50, 60, "overleaf, as it did not fit below its figure any more.", 490)
    paper.body(page, (50, 100, 545, 700))
    for page in paper.document:
        page.insert_text((572, 500), "Downloaded from a journal", fontsize=7, rotate=90)
        page.draw_line((50, 46), (545, 46), width=0.5)
        page.insert_image(pymupdf.Rect(300, 20, 340, 40), stream=jpeg(photograph(40, 20)))
    return paper


def scanned(paper: Manuscript) -> bytes:
    """Return the pages as pictures below their invisible text."""
    copy = pymupdf.open()
    for page in paper.document:
        sheet = copy.new_page(width=page.rect.width, height=page.rect.height)
        sheet.insert_image(sheet.rect, stream=page.get_pixmap(dpi=100).tobytes("jpeg", jpg_quality=85))
        for block in page.get_text("dict")["blocks"]:
            for span in (span for line in block.get("lines", ()) for span in line["spans"]):
                sheet.insert_text(span["origin"], span["text"], fontsize=span["size"], render_mode=3)
    return bytes(copy.tobytes())


def turned(paper: Manuscript) -> bytes:
    """Return the pages as a PDF that displays them turned."""
    for page in paper.document:
        page.set_rotation(90)
    return paper.pdf()


LISTED = tuple(package_figure(number) for number in range(1, 8))
PICTURES = {f"fig-{number:03d}": jpeg(photograph(600, 450, seed)) for number, seed in ((3, 5), (6, 9))}


def sample(seed: int) -> Material:
    article = typeset(random_spec(seed))
    assert article.pdf is not None
    assert article.xml is not None
    return article.pdf, parse_jats(article.xml).figures, {}


MATERIALS: dict[str, Callable[[], Material]] = {
    "full page": lambda: (full_page().pdf(), LISTED, PICTURES),
    "scanned": lambda: (scanned(full_page()), LISTED, {}),
    "turned": lambda: (turned(full_page()), LISTED, {}),
    **{str(seed): lambda seed=seed: sample(seed) for seed in SEEDS},  # type: ignore[misc]
}
every_material = pytest.mark.parametrize("name", MATERIALS)
SHAKEN = ("full page", "33", "1012", "1184")


@cache
def material(name: str) -> Material:
    return MATERIALS[name]()


@cache
def contents(name: str) -> list[PageContent]:
    return [page_content(page) for page in pymupdf.open(stream=material(name)[0])]


def moved(box: Box, by: NDArray[np.float64]) -> Box:
    right, down = by.tolist()
    return (box[0] + right, box[1] + down, box[2] + right, box[3] + down)


def shaken(page: PageContent, seed: int) -> PageContent:
    """Return a page of which lines and graphics are missing, moved and set in another size."""
    rng = np.random.default_rng((seed, page.index))
    reach = (2.0, 6.0, 15.0)[seed % 3]
    lines = [
        replace(line, bbox=moved(line.bbox, rng.normal(0, reach / 3, 2)), size=line.size + float(rng.normal(0, 0.15)))
        for line in page.lines
        if rng.random() > 0.08
    ]
    bitmaps = [replace(bitmap, bbox=moved(bitmap.bbox, rng.normal(0, reach, 2))) for bitmap in page.bitmaps]
    kept = rng.random(len(page.drawings)) > 0.1
    by = rng.normal(0, reach / 2, (len(page.drawings), 2))
    drawings = page.drawings + np.concatenate([by, by], axis=1)
    return replace(page, lines=tuple(lines), bitmaps=tuple(bitmaps), drawings=drawings[kept], white=page.white[kept])


def layout_facts(layout: PageLayout) -> list[Any]:
    return [
        layout.turns,
        [(caption.location.label, caption.anchors, caption.is_figure) for caption in layout.captions],
        layout.atoms,
        layout.grids,
        layout.barriers,
        [(key, box) for key, box, _ in layout.texts],
        [layout.body_lines, layout.body_size, layout.column],
    ]


def analysed(pages: Sequence[PageContent], figures: Sequence[PackageFigure]) -> dict[str, Any]:
    """Return what each step from page content to region makes of pages."""
    frame = reading_frame(pages)
    framed = [framed_page(page, frame) for page in pages]
    located = located_captions(framed, figures)
    return {
        "frame": frame,
        "style": [body_style(framed), document_style(framed, set())],
        "by layout": [(c.label, c.lines, c.similarity, c.boxes) for c in captions_by_layout(document_text(framed))],
        "captions": [
            [(c.image_cluster_id, c.kind, c.label, c.lines, c.similarity, c.is_continuation) for c in group]
            for group in (located.captions, located.others)
        ],
        "missing": [figure.image_cluster_id for figure in located.missing],
        "layouts": [layout_facts(layout) for layout in page_layouts(framed, located)],
        "regions": [
            (region.caption.label, region.side, region.boxes) for region in figure_regions(framed, located).regions
        ],
    }


@every_material
def test_pages(name: str) -> None:
    recorded = [
        [page.width, page.height, [(line.bbox, line.text[:12]) for line in page.lines][::5], page.bitmaps, page.shapes]
        for page in contents(name)
    ]
    assert_as_recorded(FILE, f"pages {name}", recorded)


@every_material
@pytest.mark.parametrize("with_xml", [True, False])
def test_layout(name: str, with_xml: bool) -> None:
    figures = material(name)[1] if with_xml else ()
    assert_as_recorded(FILE, f"layout {name} {with_xml}", analysed(contents(name), figures))


@pytest.mark.parametrize("name", SHAKEN)
@pytest.mark.parametrize("seed", range(6))
def test_shaken_layout(name: str, seed: int) -> None:
    pages = [shaken(page, seed) for page in contents(name)]
    figures = material(name)[1] if seed % 2 else ()
    assert_as_recorded(FILE, f"shaken {name} {seed}", analysed(pages, figures))


def test_the_hand_set_figures_lie_where_they_were_put() -> None:
    pdf, listed, _ = material("full page")
    found = extract_figures(pdf, listed, FigureOptions(render=False)).figures
    boxes = {figure.label: figure.locations[0] for figure in found}
    assert boxes.keys() == {f"Figure {number}" for number in TRUTH}
    for number, (page, box) in TRUTH.items():
        place = boxes[f"Figure {number}"]
        assert (place.page, agrees(place.bbox, box)) == (page, True), (number, place)


@every_material
def test_figures(name: str) -> None:
    pdf, listed, pictures = material(name)
    found = extract_figures(pdf, listed, FigureOptions(max_dpi=100), package_image=pictures.get)
    matches = match_figures(found.figures, found.pixels, listed, pictures)
    pixels = {key: value[:: max(1, len(value) // 64)] for key, value in found.pixels.items()}
    assert_as_recorded(FILE, f"figures {name}", [found.figures, found.misses, pixels, matches])


PAGE = (300.0, 240.0)
PLACES: dict[str, tuple[Box, int]] = {
    "upright": ((40, 30, 190, 142.5), 0),
    "turned": ((60, 20, 180, 180), 1),
    "upside down": ((90, 60, 250, 180), 2),
    "at the edge": ((0, 0, 120, 90), 0),
    "cut off": ((220, 60, 380, 180), 0),
    "stretched": ((30, 30, 250, 130), 0),
}
"""Boxes of a picture of 4 : 3, and by how many quarter turns it is shown."""


@pytest.mark.parametrize(
    ("place", "textured"), [*((place, True) for place in PLACES), ("upright", False), ("turned", False)]
)
def test_registration(place: str, textured: bool) -> None:
    box, turns = PLACES[place]
    pixels = photograph(320, 240, 3).copy()
    if textured:
        pixels ^= np.random.default_rng(1).integers(0, 2, (30, 40, 1), np.uint8).repeat(8, 0).repeat(8, 1) * 90
    paper = Manuscript(*PAGE)
    paper.picture(paper.page(), box, np.ascontiguousarray(np.rot90(pixels, -turns)))
    picture = package_gray(jpeg(pixels, 80))
    assert picture is not None
    found = registered(picture, [page_raster(paper.document[0])])
    if place in ("upright", "at the edge") or (textured and place == "turned"):
        assert found is not None
        assert found.quarter_turns == turns
        assert agrees(found.bbox, box, 0.95)
    gray = gray_rendering(pixels)
    assert_as_recorded(FILE, f"registration {place} {textured}", [found, gray, rendering_correlation(pixels, picture)])
