"""Encoded pictures: PNG of renderings, sizes of package pictures."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image

from pmo_assets.pipeline.figures.pictures import decoded_gray, png_bytes
from pmo_assets_tests.pipeline.figures.typesetting import jpeg, photograph


def test_png_is_lossless_and_deterministic() -> None:
    pixels = photograph(123, 77)
    data = png_bytes(pixels)
    assert data == png_bytes(pixels)
    assert (np.asarray(Image.open(io.BytesIO(data))) == pixels).all()


def test_size_is_that_of_the_stored_picture() -> None:
    decoded = decoded_gray(jpeg(photograph(1600, 800)), 256)
    assert decoded is not None
    assert decoded[1] == (1600, 800)
    assert max(decoded[0].size) < 1600
