"""Rendering: exact pixels, resolution caps, joins."""

from __future__ import annotations

import numpy as np
import pymupdf
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.pipeline.figures.page import page_content
from pmo_assets.pipeline.figures.rendering import (
    PixelGrid,
    capped_dpi,
    ink_frame,
    joined_offsets,
    joined_pixels,
    native_dpi,
    pixel_grid,
    rendered_frame,
)
from pmo_assets.records.defaults import MAX_DPI, MAX_PIXELS
from pmo_assets.records.geometry import Box, intersection
from pmo_assets_tests.pipeline.figures.typesetting import Manuscript, photograph

PLACED = (100.3, 100.7, 340.3, 280.7)


def _document(pixels: np.ndarray, rotation: int = 0) -> pymupdf.Document:
    manuscript = Manuscript()
    page = manuscript.page()
    manuscript.picture(page, PLACED, pixels)
    page.set_rotation(rotation)
    return pymupdf.open(stream=manuscript.pdf())


def _rendered(
    document: pymupdf.Document, box: Box, *, max_dpi: float = MAX_DPI, max_pixels: int = MAX_PIXELS
) -> tuple[np.ndarray, float]:
    """Render a box of the first page; returns pixels and resolution."""
    page = page_content(document[0])
    box = intersection(box, page.frame)
    dpi = capped_dpi([box], native_dpi([(page, box)], max_dpi), max_pixels)
    grid = pixel_grid(page, box, dpi)
    return rendered_frame(document[0].get_displaylist(annots=0), grid, grid.pixel_frame(box)), dpi


def test_native_resolution_gives_the_stored_pixels() -> None:
    pixels = photograph(800, 600)
    rendered, dpi = _rendered(_document(pixels), PLACED)
    assert dpi == pytest.approx(240, abs=0.1)
    assert rendered.shape == (600, 800, 3)
    assert np.abs(rendered.astype(int) - pixels).max() <= 1


def test_rotated_page_is_rendered_as_displayed() -> None:
    pixels = photograph(800, 600)
    document = _document(pixels, rotation=90)
    box = tuple((pymupdf.Rect(PLACED) * document[0].rotation_matrix).normalize())
    rendered, _ = _rendered(document, box)  # type: ignore[arg-type]
    assert rendered.shape == (800, 600, 3)
    assert np.abs(rendered.astype(int) - np.rot90(pixels, -1)).max() <= 1


def test_resolution_is_capped() -> None:
    pixels = photograph(800, 600)
    rendered, dpi = _rendered(_document(pixels), PLACED, max_dpi=120)
    assert dpi == 120
    assert abs(rendered.shape[1] - 400) <= 1
    rendered, dpi = _rendered(_document(pixels), PLACED, max_pixels=30_000)
    assert rendered.shape[0] * rendered.shape[1] <= 31_000


def test_vector_figures_have_300_dpi() -> None:
    manuscript = Manuscript()
    manuscript.page().draw_rect((100, 100, 172, 172), fill=(0, 0, 0))
    rendered, dpi = _rendered(pymupdf.open(stream=manuscript.pdf()), (100, 100, 172, 172))
    assert dpi == 300
    assert rendered.shape == (300, 300, 3)
    assert rendered.max() == 0


def test_box_that_leaves_the_page_is_cut() -> None:
    rendered, _ = _rendered(_document(photograph(800, 600)), (-50, 100, 340, 900))
    assert rendered.shape[0] > 0


@given(st.lists(st.tuples(st.integers(1, 2000), st.integers(1, 2000)), min_size=1, max_size=4))
def test_joined_parts_follow_each_other_with_the_paper_s_gap(sizes: list[tuple[int, int]]) -> None:
    tops, (across, down) = joined_offsets(sizes)
    gap = max(round(0.02 * max(max(size) for size in sizes)), 10)
    assert across == max(width for width, _ in sizes)
    assert down == sum(height for _, height in sizes) + gap * (len(sizes) - 1)
    for k in range(1, len(sizes)):
        assert tops[k] == tops[k - 1] + sizes[k - 1][1] + gap


def test_joined_pixels_are_left_aligned_on_white() -> None:
    first, second = photograph(300, 100, 1), photograph(200, 50, 2)
    joined = joined_pixels([first, second])
    assert joined.shape == (160, 300, 3)
    assert (joined[:100] == first).all()
    assert (joined[100:110] == 255).all()
    assert (joined[110:, :200] == second).all()
    assert (joined[110:, 200:] == 255).all()


def test_ink_is_framed_exactly_and_masks_are_ignored() -> None:
    pixels = np.full((50, 80), 255, dtype=np.uint8)
    assert ink_frame(pixels) is None
    pixels[10:20, 30:40] = 0
    pixels[45, 5] = 0
    assert ink_frame(pixels) == (5, 10, 40, 46)
    assert ink_frame(pixels, [(0, 40, 80, 50)]) == (30, 10, 40, 20)


def test_jpeg_noise_is_no_ink() -> None:
    pixels = np.full((50, 80, 3), 246, dtype=np.uint8)
    assert ink_frame(pixels) is None


@given(st.floats(1, 10), st.floats(0, 500), st.floats(0, 500), st.integers(0, 900), st.integers(1, 900))
def test_whole_pixels_survive_the_way_to_points_and_back(
    scale: float, x: float, y: float, start: int, size: int
) -> None:
    grid = PixelGrid(scale, scale, x, y)
    frame = (start, start + 1, start + size, start + 1 + size)
    assert grid.pixel_frame(grid.points(frame)) == frame


def test_whole_pixels_cover_a_box_and_are_never_none() -> None:
    grid = PixelGrid(2.0, 4.0, 10.0, 20.0)
    assert grid.pixel_frame((10.0, 20.0, 15.0, 25.0)) == (0, 0, 10, 20)
    assert grid.pixel_frame((10.2, 20.2, 14.8, 24.8)) == (0, 0, 10, 20)
    assert grid.pixel_frame((10.499, 20.2495, 15.001, 25.0005)) == (1, 1, 10, 20), "a rounding error is no pixel"
    assert grid.pixel_frame((11.0, 21.0, 11.0, 21.0)) == (2, 4, 3, 5)
    assert grid.points((2, 4, 3, 5)) == (11.0, 21.0, 11.5, 21.25)
