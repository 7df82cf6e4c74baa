"""Encoded pictures: PNG of renderings, sizes of package pictures."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from pmo_assets.pipeline.figures import pictures
from pmo_assets.pipeline.figures.pictures import PictureUnreadable, decode_gray, decoded_gray, png_bytes
from pmo_assets_tests.pipeline.figures.typesetting import jpeg, photograph, png


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


def test_a_picture_of_too_many_pixels_is_not_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    data = png(photograph(40, 30))
    assert decode_gray(data, 100)[1] == (40, 30)
    monkeypatch.setattr(pictures, "MAX_PICTURE_PIXELS", 1199)
    with pytest.raises(PictureUnreadable, match="40 × 30"):
        decode_gray(data, 100)
