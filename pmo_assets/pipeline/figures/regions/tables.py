"""Tables: the area below a table's caption that no figure may claim."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set

from pmo_assets.pipeline.figures.page import PageContent
from pmo_assets.records.geometry import Box, covered_fraction, height, union_box, width

TABLE_GAP = 24.0
"""Largest vertical gap (points) between rows of one table: two lines."""

MIN_PICTURE = 40.0
"""Points on a side, from which a bitmap is a figure and ends the table; icons and flags stand in cells."""

IN_TABLE = 0.5
"""Part of a line's box that lies in a table, or in the table's caption, when it belongs to it."""

RULE_SHARE = 0.4
"""Part of the table's width that a rule spans which closes it; rules below column heads are shorter."""

NOTE_GAP = (-0.5, 0.8)
"""Least and largest gap (line heights) above a table's note: it follows the rule, or the note before, closely."""

NOTE_INDENT = (-2.0, 2.0)
"""Range in which a note begins: from so many points before to so many line heights behind the table's left edge."""


def table_areas(
    page: PageContent, captions: Sequence[tuple[str, Sequence[Box]]], body: Set[int], caption_lines: Set[int]
) -> list[Box]:
    """Return the areas of tables: from the table's caption down to its last rule.

    Rows follow each other closely; running text, another caption or a bitmap ends the table.

    Args:
        page: in its reading direction.
        captions: label and boxes of each caption that is no figure's; those of tables count.
        body: lines of running text.
        caption_lines: lines of all captions.
    """
    areas = []
    for label, anchors in captions:
        start = anchors[0]
        if not re.match(r"\W*tab", label, re.IGNORECASE):
            continue
        items: list[tuple[Box, str]] = []
        for i, line in enumerate(page.lines):
            if i not in caption_lines:
                items.append((line.bbox, "body" if i in body else "row"))
            elif not any(covered_fraction(line.bbox, anchor) > IN_TABLE for anchor in anchors):
                items.append((line.bbox, "stop"))
        items += [(b.bbox, "stop") for b in page.bitmaps if min(width(b.bbox), height(b.bbox)) > MIN_PICTURE]
        items += [((a, b, c, d), "rule") for a, b, c, d in page.drawings.tolist()]
        items = [item for item in items if item[0][1] >= start[1] - 2]
        items.sort(key=lambda item: (item[0][1], item[0][0]))
        around = start
        closed: Box | None = None
        for box, kind in items:
            if min(box[2], around[2]) - max(box[0], around[0]) <= 0:
                continue
            if kind in ("stop", "body") and box[3] > start[3]:
                break
            if box[1] - around[3] > TABLE_GAP:
                break
            around = union_box([around, box])
            if kind == "rule" and width(box) > RULE_SHARE * width(around):
                closed = around
        if closed is not None:
            closed = _with_notes(closed, [box for box, kind in items if kind == "row"])
            areas.append((closed[0], start[3] + 0.5, closed[2], closed[3] + 0.5))
    return [box for box in areas if height(box) > 0]


def _with_notes(table: Box, rows: Sequence[Box]) -> Box:
    """Extend a table by the notes below its last rule: lines that begin at its left edge and follow closely."""
    for box in rows:
        gap = box[1] - table[3]
        is_close = NOTE_GAP[0] * height(box) <= gap <= NOTE_GAP[1] * height(box)
        if is_close and table[0] + NOTE_INDENT[0] <= box[0] <= table[0] + NOTE_INDENT[1] * height(box):
            table = union_box([table, box])
    return table
