"""Registration of a package picture, a compressed JPEG, on the page: it is found in the page's rendering.

Belongs here: comparing pictures and finding one inside the other. Does not belong here: the decision when that is worth
the time (see `picture_search`). A figure is found by matching features first, because that needs no guess of its size;
a picture with too few features is looked for by template matching over a ladder of sizes. Whatever is found is verified
by correlation.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import cv2
import numpy as np
import pymupdf
from numpy.typing import NDArray

from pmo_assets.pictures import decoded_gray
from pmo_assets.pipeline.figures.rendering import gray_page, ink_frame
from pmo_assets.records.geometry import Box

REGISTRATION_DPI = 110.0
"""Resolution of the page: PMC's JPEGs are some 700 pixels wide, as a figure over both columns is at this resolution."""

MAX_RASTER_SIDE = 3000.0
"""Pixels of the longer side of a page, at most."""

TEMPLATE_DPI = 36.0
"""Resolution of the template search: coarse enough to try every size on a page within a tenth of a second."""

MIN_CORRELATION = 0.9
"""A registered region is the picture when both correlate at least so much: registration is good to a pixel or two, and
fine line drawings lose a few hundredths by that."""

SAME_PICTURE = 0.96
"""A rendering of the right region correlates more than this with its JPEG (measured: .977 and more), one of another
figure of the article with the same layout less (.951 and less; `benchmarks/figure_registration.py` prints both)."""

COMPARED_SIDE = 192
"""Pictures are compared at this length of the larger side: detail that compression changes is gone."""

MIN_SIDE = 24
"""Smaller pictures (pixels) say too little to be found on a page."""

PICTURE_SIDE = 800
"""Package pictures are reduced to this side before registration."""

INK_LEVEL = 245
"""A gray pixel below this is no margin; higher than `rendering.INK_LEVEL`, because scaling makes thin strokes paler."""

COMPARED_BLUR = 1.2
"""Standard deviation (pixels) of the blur before pictures are compared: they may be off by a pixel."""

MIN_CONTRAST = 1e-3
"""Variance (gray levels squared, geometric mean of both pictures), below which one of them is uniform."""

FEATURES = 3000
"""SIFT features of a picture or page, the strongest."""

FEATURE_RATIO = 0.8
"""The best match of a feature is nearer than this part of the second best's distance (Lowe 2004, section 7.1)."""

MIN_INLIERS = 8
"""Matched features that agree on one place; a similarity has four unknowns, i.e. two features."""

INLIER_ERROR = 3.0
"""Pixels of the page's raster by which a feature may be off its place."""

RANSAC_ITERATIONS = 2000
"""Tries, at most: OpenCV's default."""

RANSAC_CONFIDENCE = 0.995
"""Certainty with which they may end earlier; OpenCV's default is 0.99."""

MAX_TILT = 2.0
"""Degrees off a quarter turn: figures are printed upright or sideways."""

TEMPLATE_TURNS = (0, 3, 1)
"""Quarter turns that are tried, upright first; no journal prints figures upside down."""

TEMPLATE_SIZE_STEP = 1.06
"""Factor between sizes that are tried: a template off by half of that still correlates."""

SMALLEST_TEMPLATE = 8
"""Figures are larger than this part of the largest size that the page can hold."""

MIN_TEMPLATE_CONTRAST = 1.0
"""Standard deviation (gray levels) of a template that says something."""

TEMPLATE_SHARE = 0.6
"""Part of `MIN_CORRELATION` that a coarse template reaches where it is worth refining."""

PAGE_SLACK = 0.02
"""Part of the page's longer side by which a place may leave the page."""


@dataclass(frozen=True, slots=True)
class PageRaster:
    """A page in gray.

    Attributes:
        index: 0-based page number.
        pixels: uint8 (h, w).
        scale: pixels per point.
        corners: float32 (n, 2), places of its features in pixels.
        features: float32 (n, 128), SIFT descriptors; (0, 128) for an empty page.
    """

    index: int
    pixels: NDArray[np.uint8]
    scale: float
    corners: NDArray[np.float32]
    features: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Registration:
    """A picture found on a page.

    Attributes:
        page: 0-based page number.
        bbox: points, page as displayed.
        correlation: -1..1 between the picture and the page inside `bbox`.
        quarter_turns: by how many quarter turns clockwise the page shows the picture.
    """

    page: int
    bbox: Box
    correlation: float
    quarter_turns: int


def package_gray(data: bytes | None) -> NDArray[np.uint8] | None:
    """Decode a package picture to gray, uint8 (h, w), larger side at most `PICTURE_SIDE`, white margins cut off.

    Returns:
        None if it is absent, white, too small or too large, or cannot be decoded.
    """
    decoded = decoded_gray(data, PICTURE_SIDE)
    if decoded is None:
        return None
    image = decoded[0]
    image.thumbnail((PICTURE_SIDE, PICTURE_SIDE))
    return without_margins(np.array(image, dtype=np.uint8))


def without_margins(gray: NDArray[np.uint8]) -> NDArray[np.uint8] | None:
    """Cut white margins off a uint8 (h, w) picture; None if less than `MIN_SIDE` in one direction is left."""
    ink = ink_frame(gray, level=INK_LEVEL)
    if ink is None:
        return None
    left, top, right, bottom = ink
    cut = gray[top:bottom, left:right]
    return np.ascontiguousarray(cut) if min(cut.shape) >= MIN_SIDE else None


def gray_rendering(pixels: NDArray[np.uint8]) -> NDArray[np.uint8] | None:
    """Return a figure's rendering as `package_gray` returns its JPEG; pixels uint8 (h, w, 3) RGB."""
    scale = min(1.0, PICTURE_SIDE / max(pixels.shape[:2]))
    size = (max(1, round(pixels.shape[1] * scale)), max(1, round(pixels.shape[0] * scale)))
    small = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)
    return without_margins(cv2.cvtColor(small, cv2.COLOR_RGB2GRAY).astype(np.uint8))


def correlation(first: NDArray[np.uint8], second: NDArray[np.uint8]) -> float:
    """Return how alike two gray pictures are, -1..1, when both are stretched to one size; 0 if one is uniform.

    Different aspect ratios count against it: what is stretched no longer fits.
    """
    tall, wide = second.shape
    scale = COMPARED_SIDE / max(tall, wide)
    size = (max(8, round(wide * scale)), max(8, round(tall * scale)))
    a, b = (
        cv2.GaussianBlur(
            cv2.resize(picture, size, interpolation=cv2.INTER_AREA).astype(np.float32), (0, 0), COMPARED_BLUR
        )
        for picture in (first, second)
    )
    a, b = a - a.mean(), b - b.mean()
    norm = float(np.sqrt((a * a).sum() * (b * b).sum()))
    return float((a * b).sum()) / norm if norm > MIN_CONTRAST * a.size else 0.0


def rendering_correlation(rendering: NDArray[np.uint8], picture: NDArray[np.uint8]) -> float | None:
    """Return how alike a figure's rendering and its package picture are.

    Args:
        rendering: uint8 (h, w, 3) RGB, not empty.
        picture: uint8 (h, w), see `package_gray`.

    Returns:
        `correlation`, four decimals; None if the rendering is white, or hardly anything is on it.
    """
    gray = gray_rendering(rendering)
    return round(correlation(gray, picture), 4) if gray is not None else None


def page_raster(page: pymupdf.Page) -> PageRaster:
    """Render a page in gray and find its features; a page that cannot be rendered is white."""
    # A poster is reduced: registration needs the proportions only.
    scale = min(REGISTRATION_DPI / 72.0, MAX_RASTER_SIDE / max(page.rect.width, page.rect.height))
    pixels = gray_page(page, scale)
    corners, features = _features(pixels)
    return PageRaster(page.number, pixels, scale, corners, features)


def _features(gray: NDArray[np.uint8]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    points, descriptors = cv2.SIFT.create(nfeatures=FEATURES).detectAndCompute(gray, None)
    if descriptors is None or not len(points):
        return np.zeros((0, 2), dtype=np.float32), np.zeros((0, 128), dtype=np.float32)
    return np.array([point.pt for point in points], dtype=np.float32), descriptors.astype(np.float32)


def registered(picture: NDArray[np.uint8], rasters: Iterable[PageRaster]) -> Registration | None:
    """Find a package picture (`package_gray`) on the pages; None if it is on none of them.

    Args:
        picture: uint8 (h, w).
        rasters: the pages, the likeliest first: the search ends at the first page that certainly has it.
    """
    finder = _PictureFinder(picture)
    best: Registration | None = None
    for raster in rasters:
        found = finder.on_page(raster)
        if found is not None and (best is None or found.correlation > best.correlation):
            best = found
            if best.correlation >= SAME_PICTURE:
                break
    return best


class _PictureFinder:
    """A package picture to be looked for on pages; its features are computed once.

    Args:
        picture: uint8 (h, w), see `package_gray`.
    """

    def __init__(self, picture: NDArray[np.uint8]) -> None:
        self.picture = picture
        self._corners, self._descriptors = _features(picture)

    def on_page(self, raster: PageRaster) -> Registration | None:
        """Find the picture on a page; None unless it is there in full, upright or by quarter turns."""
        found = self._by_features(raster)
        if found is None or found.correlation < MIN_CORRELATION:
            found = self._by_template(raster)
        return found if found is not None and found.correlation >= MIN_CORRELATION else None

    def _by_features(self, raster: PageRaster) -> Registration | None:
        if min(len(self._descriptors), len(raster.features)) < MIN_INLIERS:
            return None
        pairs = cv2.BFMatcher(cv2.NORM_L2).knnMatch(self._descriptors, raster.features, k=2)
        good = [m for m, *rest in pairs if rest and m.distance < FEATURE_RATIO * rest[0].distance]
        if len(good) < MIN_INLIERS:
            return None
        source = self._corners[[m.queryIdx for m in good]]
        target = raster.corners[[m.trainIdx for m in good]]
        matrix, inliers = cv2.estimateAffinePartial2D(
            source,
            target,
            method=cv2.RANSAC,
            ransacReprojThreshold=INLIER_ERROR,
            maxIters=RANSAC_ITERATIONS,
            confidence=RANSAC_CONFIDENCE,
        )
        if matrix is None or int(inliers.sum()) < MIN_INLIERS:
            return None
        angle = float(np.degrees(np.arctan2(matrix[1, 0], matrix[0, 0])))
        turns = round(angle / 90)
        if abs(angle - 90 * turns) > MAX_TILT:
            return None
        tall, wide = self.picture.shape
        corners = np.array([[0, 0], [wide, 0], [wide, tall], [0, tall]], dtype=np.float64)
        placed = corners @ matrix[:, :2].T + matrix[:, 2]
        low, high = placed.min(axis=0), placed.max(axis=0)
        return self._verified(raster, (low[0], low[1], high[0], high[1]), turns % 4)

    def _by_template(self, raster: PageRaster) -> Registration | None:
        shrink = TEMPLATE_DPI / 72.0 / raster.scale
        page = cv2.resize(raster.pixels, None, fx=shrink, fy=shrink, interpolation=cv2.INTER_AREA)
        best: tuple[float, Box, int] | None = None
        for turns in TEMPLATE_TURNS:
            turned = np.rot90(self.picture, -turns)
            tall, wide = turned.shape
            largest = min(page.shape[1] / wide, page.shape[0] / tall)
            size = largest
            while size * min(wide, tall) >= MIN_SIDE / 2 and size > largest / SMALLEST_TEMPLATE:
                shape = (max(1, int(wide * size)), max(1, int(tall * size)))
                template = cv2.resize(turned, shape, interpolation=cv2.INTER_AREA)
                if template.std() > MIN_TEMPLATE_CONTRAST:
                    scores = cv2.matchTemplate(page, template, cv2.TM_CCOEFF_NORMED)
                    _, score, _, (x, y) = cv2.minMaxLoc(scores)
                    if best is None or score > best[0]:
                        best = (score, (x, y, x + shape[0], y + shape[1]), turns)
                size /= TEMPLATE_SIZE_STEP
            if best is not None and best[0] > MIN_CORRELATION:
                break  # sideways figures are rare: they are looked for only when nothing stands upright
        if best is None or best[0] < TEMPLATE_SHARE * MIN_CORRELATION:
            return None
        x0, y0, x1, y1 = (value / shrink for value in best[1])
        return self._verified(raster, self._refined(raster, (x0, y0, x1, y1), best[2], shrink), best[2])

    def _refined(self, raster: PageRaster, box: Box, turns: int, shrink: float) -> Box:
        """Search around a box of the coarse template at the page's full resolution, down to a pixel of width."""
        turned = np.rot90(self.picture, -turns)
        best, found = -1.0, box
        reach = 2.0 / shrink + (TEMPLATE_SIZE_STEP - 1) * (box[2] - box[0])
        step = max(1.0, reach / 5)
        while True:
            across, start = found[2] - found[0], found
            left, top = max(0, int(start[0] - reach)), max(0, int(start[1] - reach))
            area = raster.pixels[top : int(start[3] + reach), left : int(start[2] + reach)]
            for change in np.arange(-reach, reach + 0.1, step):
                wide = int(across + change)
                shape = (wide, round(wide * turned.shape[0] / turned.shape[1]))
                if min(shape) < MIN_SIDE or shape[0] > area.shape[1] or shape[1] > area.shape[0]:
                    continue
                template = cv2.resize(turned, shape, interpolation=cv2.INTER_AREA)
                _, score, _, (x, y) = cv2.minMaxLoc(cv2.matchTemplate(area, template, cv2.TM_CCOEFF_NORMED))
                if score > best:
                    best, found = score, (left + x, top + y, left + x + shape[0], top + y + shape[1])
            if step <= 1.0:
                return found
            reach, step = step, max(1.0, step / 4)

    def _verified(self, raster: PageRaster, box: Box, turns: int) -> Registration | None:
        """Compare the page inside a box (pixels) with the picture; None if the box leaves the page."""
        tall, wide = raster.pixels.shape
        slack = PAGE_SLACK * max(tall, wide)
        if box[0] < -slack or box[1] < -slack or box[2] > wide + slack or box[3] > tall + slack:
            return None
        left, top = max(0, round(box[0])), max(0, round(box[1]))
        right, bottom = min(wide, round(box[2])), min(tall, round(box[3]))
        if min(right - left, bottom - top) < MIN_SIDE:
            return None
        cut = np.rot90(raster.pixels[top:bottom, left:right], turns)
        score = correlation(np.ascontiguousarray(cut), self.picture)
        x0, y0, x1, y1 = (value / raster.scale for value in (left, top, right, bottom))
        return Registration(raster.index, (x0, y0, x1, y1), round(score, 4), turns)
