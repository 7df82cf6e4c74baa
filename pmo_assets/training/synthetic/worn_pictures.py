"""The scars of pictures that were scaled, compressed and copied on their way into an article."""

from __future__ import annotations

import cv2
import numpy as np

from pmo_assets.samples.drawing import Pixels, Rng, grey_of, grey_picture


def worn(rng: Rng, pixels: Pixels) -> Pixels:
    """Return a picture of the same size after scaling there and back, blur, JPEG or a change of contrast, at random."""
    if rng.random() < 0.3:
        scale = float(rng.uniform(0.5, 0.95))
        small = cv2.resize(pixels, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
        pixels = np.asarray(cv2.resize(small, (pixels.shape[1], pixels.shape[0]), interpolation=cv2.INTER_CUBIC))
    if rng.random() < 0.5:
        quality = int(rng.integers(30, 95))
        _, data = cv2.imencode(".jpg", pixels[:, :, ::-1], [cv2.IMWRITE_JPEG_QUALITY, quality])
        pixels = np.ascontiguousarray(np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR))[:, :, ::-1])
    if rng.random() < 0.1:
        pixels = grey_picture(grey_of(pixels))
    return np.asarray(pixels, dtype=np.uint8)
