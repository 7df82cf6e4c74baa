"""Text figures: boxed text, formulas, a listing, where a caption of the XML found no graphics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from pmo_assets.pipeline.figures.caption_location.located_captions import LocatedCaptions
from pmo_assets.pipeline.figures.regions.assignment import page_assignment
from pmo_assets.pipeline.figures.regions.atoms import touching
from pmo_assets.pipeline.figures.regions.barriers import distance
from pmo_assets.pipeline.figures.regions.graphics import count_inside
from pmo_assets.pipeline.figures.regions.growth import FigurePart, grown_parts
from pmo_assets.pipeline.figures.regions.page_layout import PageLayout
from pmo_assets.records.geometry import Box, area, covered_fraction, union_box

MIN_TEXT_FIGURE_LINES = 3
"""Lines of a block of text that may be a figure by itself."""

TEXT_FIGURE_GAP = 4.0
"""Such a block is at most so many font sizes away from its caption."""

LINE_PITCH = 1.2
"""Lines closer than so many font sizes are one block."""

MIN_FRAMED_LINES = 2
"""Lines within a frame that may be a figure."""

MAX_FRAME = 0.8
"""Part of the page; a larger frame is drawn around the page."""

INSIDE = 0.9
"""Part of a line's box that lies in the frame around it."""

COVERED = 0.5
"""Part of a line, or block, that is another figure's, or a frame's, already."""

TEXT_CONFIDENCE = 0.5
"""Factor of the confidence that the same place would give to graphics. Set by hand."""


def assign_text_figures(
    layouts: Sequence[PageLayout],
    located: LocatedCaptions,
    parts: dict[int, list[FigurePart]],
    prior: Mapping[str, float],
) -> None:
    """Give captions of the XML that found no graphics a figure that is all text: boxed text, formulas, a listing.

    Without the XML a caption-like line may be anything, and text near it proves nothing.
    """
    missing = {
        id(caption): k
        for k, caption in enumerate(located.captions)
        if not parts.get(k) and caption.image_cluster_id is not None
    }
    for layout in layouts:
        wanted = [
            replace(caption, is_figure=caption.is_figure and id(caption.location) in missing)
            for caption in layout.captions
        ]
        if not any(caption.is_figure for caption in wanted):
            continue
        taken = [part.box for found in parts.values() for part in found if part.page == layout.page.index]
        atoms, framed = _text_atoms(layout, taken)
        if not atoms:
            continue
        outside = [
            wall
            for wall in layout.barriers.tolist()
            if not any(covered_fraction(tuple(wall), f) > INSIDE for f in framed)
        ]
        walls = np.array(outside, dtype=np.float64).reshape(-1, 4)
        text_layout = replace(layout, captions=wanted, atoms=atoms, grids=[], barriers=walls, used=set())
        chosen = page_assignment(text_layout, prior)
        near = {
            k: option
            for k, option in chosen.items()
            if min(distance(anchor, text_layout.atoms[atom]) for anchor in wanted[k].anchors for atom in option[1])
            <= TEXT_FIGURE_GAP * layout.body_size
        }
        for k, part in grown_parts(text_layout, near).items():
            parts[missing[id(wanted[k].location)]].append(
                replace(part, side="text", confidence=TEXT_CONFIDENCE * part.confidence)
            )


def _text_atoms(layout: PageLayout, taken: Sequence[Box]) -> tuple[list[Box], list[Box]]:
    """Return blocks of text that may be figures, and those of them that are frames drawn around running text.

    Args:
        layout: a page.
        taken: boxes of its figures, page as displayed.
    """
    page = layout.page
    captions = np.array([anchor for caption in layout.captions for anchor in caption.anchors]).reshape(-1, 4)
    frames = []
    for box in page.drawings[~page.white].tolist():
        frame = (box[0], box[1], box[2], box[3])
        inside = sum(covered_fraction(line.bbox, frame) > INSIDE for line in page.lines)
        if (
            inside >= MIN_FRAMED_LINES
            and not count_inside(captions, frame)
            and area(frame) < MAX_FRAME * page.width * page.height
        ):
            frames.append(frame)
    lines = [
        box
        for _, box, _ in layout.texts
        if not any(covered_fraction(layout.displayed(box), other) > COVERED for other in taken)
    ]
    blocks = []
    if lines:
        labels = touching(np.array(lines, dtype=np.float64), page, LINE_PITCH * layout.body_size)
        for label in range(int(labels.max()) + 1):
            members = [box for box, mine in zip(lines, labels.tolist(), strict=True) if mine == label]
            if len(members) >= MIN_TEXT_FIGURE_LINES:
                blocks.append(union_box(members))
    blocks = [box for box in blocks if not any(covered_fraction(box, frame) > COVERED for frame in frames)]
    return frames + blocks, frames
