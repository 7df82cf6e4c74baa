"""A pool without any file: drawn stand-ins only, and one striped picture per type as the real ones."""

from __future__ import annotations

import numpy as np

from pmo_assets.records.image_types import IMAGE_TYPES
from pmo_assets.training.synthetic.pools import PicturePool, PoolPicture


def striped(seed: int) -> np.ndarray:
    """A picture without white and without two equal neighbouring lines, so that its box can be found again."""
    rng = np.random.default_rng(seed)
    return rng.integers(20, 200, (160, 200, 3), dtype=np.uint8)


def small_pool() -> PicturePool:
    """A pool of noise: every pixel of every picture is ink."""
    return PicturePool([PoolPicture(striped(k), kind, kind) for k, kind in enumerate(IMAGE_TYPES)], None, 1.0)
