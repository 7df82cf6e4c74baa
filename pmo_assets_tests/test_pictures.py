"""Encoded pictures: PNG of renderings, sizes of package pictures."""

from __future__ import annotations

import io

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from PIL import Image

from pmo_assets import pictures
from pmo_assets.pictures import PictureUnreadable, compact_bytes, decode_gray, decoded_bytes, decoded_gray, png_bytes
from pmo_assets_tests.examples import examples
from pmo_assets_tests.pipeline.figures.typesetting import jpeg, photograph, png


def test_png_is_lossless_and_deterministic() -> None:
    pixels = photograph(123, 77)
    data = png_bytes(pixels)
    assert data == png_bytes(pixels)
    assert (np.asarray(Image.open(io.BytesIO(data))) == pixels).all()


SHAPES = st.one_of(
    st.tuples(st.integers(1, 40), st.integers(1, 40)), st.tuples(st.integers(1, 40), st.integers(1, 40), st.just(3))
)


@given(arrays(np.uint8, SHAPES))
def test_what_is_written_is_read_alike_here_by_opencv_and_by_pillow(pixels: NDArray[np.uint8]) -> None:
    data = png_bytes(pixels)
    assert (np.asarray(Image.open(io.BytesIO(data))) == pixels).all()
    colour = pixels if pixels.ndim == 3 else np.repeat(pixels[:, :, None], 3, axis=2)
    assert np.array_equal(np.asarray(cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR_RGB)), colour)
    own = decoded_bytes(data)
    assert own.dtype == colour.dtype
    assert np.array_equal(own, colour)


@pytest.mark.parametrize("shape", [(0, 4, 3), (4, 0), (4, 4, 4), (4,)])
def test_what_no_png_can_be_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="cannot encode"):
        png_bytes(np.zeros(shape, np.uint8))


def test_a_png_of_another_writer_is_read_as_well() -> None:
    pixels = photograph(60, 40)
    assert (decoded_bytes(png(pixels)) == pixels).all()


@given(st.data())
@examples(200)
def test_a_damaged_picture_is_refused_or_shows_what_it_showed(data: st.DataObject) -> None:
    pixels = photograph(30, 20)
    whole = png_bytes(pixels)
    place = data.draw(st.integers(0, len(whole) - 1))
    damaged = bytearray(whole)
    damaged[place] ^= data.draw(st.integers(1, 255))
    for broken in (bytes(damaged), whole[:place]):
        try:
            found = decoded_bytes(broken)
        except PictureUnreadable:
            continue
        assert found.shape != pixels.shape or np.array_equal(found, pixels)


def drawing() -> NDArray[np.uint8]:
    """Return a line plot: few colours, wide paper."""
    pixels = np.full((300, 400, 3), 255, np.uint8)
    for k, colour in enumerate(((200, 30, 30), (30, 30, 200), (0, 0, 0))):
        curve = [(x, int(150 + 90 * np.sin(x / 40 + k))) for x in range(20, 380)]
        cv2.polylines(pixels, [np.asarray(curve, np.int32)], False, colour, 2, cv2.LINE_AA)
    return pixels


def coloured_photograph() -> NDArray[np.uint8]:
    """Return a picture whose colours change smoothly, with noise that is alike in all of them."""
    rng = np.random.default_rng(0)
    light = cv2.GaussianBlur(rng.normal(0, 1, (300, 400, 3)).astype(np.float32), (0, 0), 12) * 900
    return np.clip(128 + light + rng.normal(0, 4, (300, 400, 1)), 0, 255).astype(np.uint8)


def webp(pixels: NDArray[np.uint8], method: int) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "WEBP", lossless=True, method=method, quality=0)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("pixels", "method"),
    [(coloured_photograph(), 0), (drawing(), 1), (np.repeat(coloured_photograph()[..., :1], 3, axis=2), 1)],
)
def test_effort_is_spent_on_pictures_that_get_much_smaller_by_it(pixels: NDArray[np.uint8], method: int) -> None:
    data = compact_bytes(pixels)
    assert data == compact_bytes(pixels, png_bytes(pixels)) == webp(pixels, method)
    assert np.array_equal(decoded_bytes(data), pixels)


def test_a_picture_too_long_for_webp_stays_a_png() -> None:
    pixels = np.zeros((2, pictures.MAX_WEBP_SIDE + 1, 3), np.uint8)
    assert compact_bytes(pixels) == png_bytes(pixels)


def test_size_is_that_of_the_stored_picture() -> None:
    decoded = decoded_gray(jpeg(photograph(1600, 800)), 256)
    assert decoded is not None
    assert decoded[1] == (1600, 800)
    assert max(decoded[0].size) < 1600


def test_a_picture_of_too_many_pixels_is_not_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    data = png(photograph(40, 30))
    assert decode_gray(data, 100)[1] == (40, 30)
    monkeypatch.setattr(pictures, "MAX_PICTURE_PIXELS", 1199)
    with pytest.raises(PictureUnreadable, match="40 × 30"):
        decode_gray(data, 100)
