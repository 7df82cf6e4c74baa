"""Independent measurement of the ground truth on the finished PDF: rendered ink and extracted words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pymupdf
from numpy.typing import NDArray

from pmo_assets.records.geometry import Box, area, denormalise, intersection

SCALE = 3.0
"""Pixels per point of the rendering."""
WHITE_LEVEL = 250


def page_ink(page: pymupdf.Page) -> NDArray[np.bool_]:
    """Return where the rendered page is not white, (height, width) at SCALE pixels per point."""
    pixmap = page.get_pixmap(matrix=pymupdf.Matrix(SCALE, SCALE), colorspace=pymupdf.csGRAY, alpha=False)
    grey = np.frombuffer(pixmap.samples, dtype=np.uint8).reshape(pixmap.height, pixmap.stride)[:, : pixmap.width]
    return np.asarray(grey < WHITE_LEVEL)


def inked_box(ink: NDArray[np.bool_], box: Box, margin: float) -> Box:
    """Return the box of all ink within `box` grown by `margin` points; AssertionError if there is none."""
    left, top = max(0, int((box[0] - margin) * SCALE)), max(0, int((box[1] - margin) * SCALE))
    right, bottom = int(np.ceil((box[2] + margin) * SCALE)), int(np.ceil((box[3] + margin) * SCALE))
    window = ink[top:bottom, left:right]
    rows, columns = np.flatnonzero(window.any(axis=1)), np.flatnonzero(window.any(axis=0))
    assert rows.size, f"no ink at {box}"
    return (
        (left + columns[0]) / SCALE,
        (top + rows[0]) / SCALE,
        (left + columns[-1] + 1) / SCALE,
        (top + rows[-1] + 1) / SCALE,
    )


def words_in(page: pymupdf.Page, box: Box) -> str:
    """Return the words whose centre lies in the box, in the order of the page's content."""
    words = [
        w
        for w in page.get_text("words")
        if box[0] <= (w[0] + w[2]) / 2 <= box[2] and box[1] <= (w[1] + w[3]) / 2 <= box[3]
    ]
    return " ".join(w[4] for w in words)


def stacked_panels(figure: Mapping[str, Any]) -> list[tuple[Mapping[str, Any], int, Box]]:
    """Return (panel, index of the figure's part, its box on that page in points)."""
    locations = [tuple(location["bbox"]) for location in figure["figure_locations"]]
    frame_width = max(box[2] - box[0] for box in locations)
    frame_height = sum(box[3] - box[1] for box in locations)
    found = []
    for panel in figure["panels"]:
        box = denormalise(tuple(panel["box"]), (0.0, 0.0, frame_width, frame_height))
        top = 0.0
        for part, location in enumerate(locations):
            height = location[3] - location[1]
            if top - 0.01 <= box[1] and box[3] <= top + height + 0.01:
                moved = (box[0] + location[0], box[1] - top + location[1],
                         box[2] + location[0], box[3] - top + location[1])  # fmt: skip
                found.append((panel, part, moved))
                break
            top += height
        else:
            raise AssertionError(f"panel {panel['identifier']} lies in no part of the figure")
    return found


def assert_exact(pdf: bytes, truth: Mapping[str, Any], tolerance: float = 1.0) -> None:
    """Check every figure, panel and caption location of an annotation against the rendered pages and their text.

    Ink must come within `tolerance` points of all four sides of each box, and nothing may stick out into the white
    space (3 points) around a figure.
    """
    with pymupdf.open(stream=pdf) as document:
        inks = {i: page_ink(document[i]) for f in truth["figures"] for i in (p["page"] for p in f["figure_locations"])}
        for figure in truth["figures"]:
            for location in figure["figure_locations"]:
                box = tuple(location["bbox"])
                measured = inked_box(inks[location["page"]], box, 3.0)
                assert np.allclose(measured, box, atol=tolerance), (figure["label"], box, measured)
            panels = stacked_panels(figure)
            for panel, part, box in panels:
                page = figure["figure_locations"][part]["page"]
                measured = inked_box(inks[page], box, 1.0)
                assert np.allclose(measured, box, atol=tolerance + 0.5), (panel["identifier"], box, measured)
            for n, (_, part, box) in enumerate(panels):
                for _, other_part, other in panels[n + 1 :]:
                    assert part != other_part or area(intersection(box, other)) <= 1e-3
            *earlier, last = figure["caption_locations"]
            text = words_in(document[last["page"]], tuple(last["bbox"]))
            assert text.endswith(figure["caption"]), (text, figure["caption"])
            head = text.removesuffix(figure["caption"]).strip().rstrip(":.")
            assert head in (figure["label"], "")
            for location in earlier:
                assert words_in(document[location["page"]], tuple(location["bbox"])).endswith("Continued.")
