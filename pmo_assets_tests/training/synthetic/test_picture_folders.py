"""Folders of pictures are read whatever lies in them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from pmo_assets.training.synthetic.picture_folders import POOL_SIDE, no_larger, read_picture


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ((3, 4000), (1, POOL_SIDE)),
        ((60000, 1), (POOL_SIDE, 1)),
        ((1, 1), (1, 1)),
        ((1024, 768), (POOL_SIDE, 384)),
        ((40, POOL_SIDE), (40, POOL_SIDE)),
    ],
)
def test_strips_keep_a_pixel_of_their_short_side(
    tmp_path: Path, shape: tuple[int, int], expected: tuple[int, int]
) -> None:
    Image.fromarray(np.full(shape, 90, np.uint8)).save(tmp_path / "a.png")
    pixels = read_picture(tmp_path / "a.png")
    assert pixels is not None
    assert pixels.shape == (*expected, 3)
    assert (pixels == 90).all()
    assert max(no_larger(pixels, 20).shape[:2]) <= 20


@pytest.mark.parametrize("mode", ["L", "LA", "RGBA", "P", "I;16", "1"])
def test_grey_and_transparent_pictures_have_three_channels(tmp_path: Path, mode: str) -> None:
    Image.new(mode, (30, 20)).save(tmp_path / "a.png")
    pixels = read_picture(tmp_path / "a.png")
    assert pixels is not None
    assert pixels.shape == (20, 30, 3)
    assert pixels.dtype == np.uint8


@pytest.mark.parametrize("content", [b"", b"junk"])
def test_files_that_are_no_pictures_are_left_out(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.png").write_bytes(content)
    assert read_picture(tmp_path / "a.png") is None
