"""Small articles typeset with known truth: where each figure, caption and identifier lies."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache, lru_cache

import cv2
import numpy as np
import pymupdf
from numpy.typing import NDArray

from pmo_assets.records.article import PackageFigure
from pmo_assets.records.geometry import Box, iou

WORDS = (
    "patients were examined with retinal imaging before and after the treatment and the results were compared "
    "between both groups while visual acuity remained stable during follow up in most of the eyes that we studied "
)


@cache
def _advance(text: str, size: float) -> float:
    """Return the width of a text in Helvetica, points."""
    return float(pymupdf.get_text_length(text, fontsize=size))


@lru_cache(maxsize=32)
def photograph(width: int = 200, height: int = 150, seed: int = 0) -> NDArray[np.uint8]:
    """Return a smooth dark picture, uint8 (h, w, 3), without any white margin."""
    rng = np.random.default_rng(seed)
    coarse = rng.integers(20, 200, size=(6, 8, 3), dtype=np.uint8)
    return cv2.resize(coarse, (width, height), interpolation=cv2.INTER_CUBIC).clip(0, 220).astype(np.uint8)


def png(pixels: NDArray[np.uint8]) -> bytes:
    """Encode RGB pixels as PNG."""
    return bytes(cv2.imencode(".png", cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR))[1])


def jpeg(pixels: NDArray[np.uint8], quality: int = 60) -> bytes:
    """Encode RGB pixels as JPEG."""
    picture = cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR)
    return bytes(cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, quality])[1])


@dataclass
class Manuscript:
    """A PDF under construction; all boxes are points of the page before any rotation."""

    width: float = 595.0
    height: float = 842.0
    document: pymupdf.Document = field(default_factory=pymupdf.open)

    def page(self) -> pymupdf.Page:
        """Append a page with a running head and a page number."""
        page = self.document.new_page(width=self.width, height=self.height)
        page.insert_text((50, 40), "Journal of Typeset Articles", fontsize=8)
        page.insert_text((530, 40), str(page.number + 1), fontsize=8)
        return page

    def body(self, page: pymupdf.Page, box: Box, size: float = 10.0, start: int = 0) -> None:
        """Fill a box with running text, line by line at the left edge."""
        words = WORDS.split()
        space = _advance(" ", size)
        k = start
        y = box[1] + size
        shape = page.new_shape()  # one content stream for all lines
        while y <= box[3]:
            line = [words[k % len(words)]]
            across = _advance(line[0], size)
            k += 1
            while across + space + _advance(words[k % len(words)], size) < box[2] - box[0]:
                line.append(words[k % len(words)])
                across += space + _advance(line[-1], size)
                k += 1
            shape.insert_text((box[0], y), " ".join(line), fontsize=size)
            y += 1.2 * size
        shape.commit()

    def caption(self, page: pymupdf.Page, x: float, y: float, text: str, width: float, size: float = 8.0) -> Box:
        """Set a caption from (x, y) = top left; returns its box."""
        line = ""
        lines = []
        for word in text.split():
            if line and pymupdf.get_text_length(f"{line} {word}", fontsize=size) > width:
                lines.append(line)
                line = ""
            line = f"{line} {word}".strip()
        lines.append(line)
        for k, line in enumerate(lines):
            page.insert_text((x, y + size + 1.25 * size * k), line, fontsize=size)
        longest = max(pymupdf.get_text_length(line, fontsize=size) for line in lines)
        return (x, y, x + longest, y + 1.25 * size * len(lines))

    def picture(self, page: pymupdf.Page, box: Box, pixels: NDArray[np.uint8] | None = None) -> None:
        """Place a bitmap so that it fills the box."""
        pixels = photograph() if pixels is None else pixels
        page.insert_image(pymupdf.Rect(box), stream=png(pixels), keep_proportion=False)

    def pdf(self) -> bytes:
        """Return the file."""
        return bytes(self.document.tobytes())


def caption_text(number: int) -> str:
    """Return the caption of figure `number` without its label."""
    return (
        f"Photograph number {number} of the examined eye. The fundus of subject {number} shows drusen near the macula, "
        f"taken at visit {number} with a camera."
    )


def package_figure(number: int) -> PackageFigure:
    """Return the XML's entry for figure `number`."""
    return PackageFigure(f"fig-{number:03d}", f"Figure {number}", caption_text(number), (f"fig-{number:03d}",))


def agrees(found: Box, truth: Box, least: float = 0.97) -> bool:
    """Say whether two boxes overlap at least that much (IoU)."""
    return iou(found, truth) >= least
