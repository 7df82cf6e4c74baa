"""A package picture is found where the page shows it, whatever its size, and nowhere else."""

from __future__ import annotations

import cv2
import numpy as np
import pymupdf
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pmo_assets.pipeline.figures.registration import (
    MIN_CORRELATION,
    SAME_PICTURE,
    correlation,
    package_gray,
    page_raster,
    registered,
)
from pmo_assets.records.geometry import Box, iou
from pmo_assets_tests.examples import examples
from pmo_assets_tests.pipeline.figures.typesetting import Manuscript, jpeg, photograph, png


def textured(width: int, height: int, seed: int) -> NDArray[np.uint8]:
    """Return a picture full of corners, uint8 (h, w, 3)."""
    rng = np.random.default_rng(seed)
    picture = photograph(width, height, seed).copy()
    for _ in range(60):
        x, y = int(rng.integers(0, width)), int(rng.integers(0, height))
        colour = tuple(int(v) for v in rng.integers(0, 220, 3))
        cv2.rectangle(picture, (x, y), (x + int(rng.integers(4, 30)), y + int(rng.integers(4, 30))), colour, -1)
    return picture


def shrunk(picture: NDArray[np.uint8], width: int) -> NDArray[np.uint8]:
    return cv2.resize(
        picture, (width, round(width * picture.shape[0] / picture.shape[1])), interpolation=cv2.INTER_AREA
    )


def gray(data: bytes) -> NDArray[np.uint8]:
    found = package_gray(data)
    assert found is not None
    return found


@pytest.mark.parametrize(
    "picture",
    [
        pytest.param(textured(600, 400, 1), id="textured"),
        pytest.param(photograph(600, 400, 1), id="smooth", marks=pytest.mark.slow),
    ],
)
@examples(6)
@given(x=st.floats(40, 250), y=st.floats(60, 500), across=st.floats(140, 300), seed=st.integers(0, 9))
def test_a_compressed_picture_is_found_where_the_page_shows_it(
    picture: NDArray[np.uint8], x: float, y: float, across: float, seed: int
) -> None:
    paper = Manuscript()
    page = paper.page()
    box: Box = (x, y, x + across, y + across * 400 / 600)
    paper.picture(page, box, picture)
    found = registered(gray(jpeg(shrunk(picture, 300 + 40 * seed))), [page_raster(page)])
    assert found is not None
    assert found.page == 0
    assert found.quarter_turns == 0
    assert iou(found.bbox, box) > 0.95


@pytest.mark.parametrize("turns", [1, 3])
def test_a_picture_that_is_printed_sideways_is_found(turns: int) -> None:
    picture = textured(600, 400, 2)
    paper = Manuscript()
    page = paper.page()
    paper.picture(page, (100, 100, 300, 400), np.ascontiguousarray(np.rot90(picture, -turns)))
    found = registered(gray(jpeg(picture)), [page_raster(page)])
    assert found is not None
    assert found.quarter_turns == turns
    assert iou(found.bbox, (100, 100, 300, 400)) > 0.95


def test_another_picture_is_not_found() -> None:
    paper = Manuscript()
    page = paper.page()
    paper.body(page, (50, 60, 545, 300))
    paper.picture(page, (100, 320, 400, 520), textured(600, 400, 3))
    assert registered(gray(jpeg(textured(600, 400, 4))), [page_raster(page)]) is None


def test_a_part_of_the_picture_is_not_the_picture() -> None:
    picture = textured(600, 400, 5)
    paper = Manuscript()
    page = paper.page()
    paper.picture(page, (445, 100, 645, 300), picture)  # the page ends at 595
    assert registered(gray(jpeg(picture)), [page_raster(page)]) is None


def test_the_page_that_has_it_wins() -> None:
    picture = textured(600, 400, 6)
    paper = Manuscript()
    for number in range(3):
        page = paper.page()
        paper.picture(page, (100, 100, 400, 300), picture if number == 1 else textured(600, 400, 20 + number))
    found = registered(gray(jpeg(picture)), [page_raster(page) for page in paper.document])
    assert found is not None
    assert found.page == 1


def test_white_margins_of_the_jpeg_do_not_count() -> None:
    picture = textured(600, 400, 7)
    paper = Manuscript()
    page = paper.page()
    paper.picture(page, (100, 100, 400, 300), picture)
    framed = cv2.copyMakeBorder(picture, 30, 60, 90, 10, cv2.BORDER_CONSTANT, value=(255, 255, 255))
    found = registered(gray(jpeg(framed, quality=90)), [page_raster(page)])
    assert found is not None
    assert iou(found.bbox, (100, 100, 400, 300)) > 0.95


def test_a_page_without_anything_has_no_picture() -> None:
    document = pymupdf.open()
    assert registered(gray(jpeg(photograph())), [page_raster(document.new_page())]) is None


def test_correlation_tells_the_same_picture_from_another() -> None:
    first, second = (cv2.cvtColor(textured(300, 200, seed), cv2.COLOR_RGB2GRAY) for seed in (1, 2))
    assert correlation(first, first) == pytest.approx(1.0)
    assert correlation(first, cv2.resize(first, (120, 80), interpolation=cv2.INTER_AREA)) > SAME_PICTURE
    assert correlation(first, second) < MIN_CORRELATION
    assert correlation(first, np.full_like(first, 128)) == 0.0


def test_pictures_that_cannot_be_used_are_none() -> None:
    assert package_gray(None) is None
    assert package_gray(b"GIF89a broken") is None
    assert package_gray(png(np.full((80, 80, 3), 255, dtype=np.uint8))) is None, "white"
    assert package_gray(png(photograph(200, 10))) is None, "too flat to be found"
