"""A caption with its parts coloured by the panel that they belong to: runs of text, a style for pages, a picture.

Three kinds of text look different: text of one panel (its colour and its name), text shared by several panels (their
colours side by side, all names) and text of all panels (grey, dotted line). Text of no panel, such as "(a)", is faint.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from pmo_assets.records.geometry import Box
from pmo_assets.viewing.lettering import Lettering
from pmo_assets.viewing.markup import plain_text
from pmo_assets.viewing.palette import PANEL_COLOURS, SHARED_COLOUR, ink_on, mixed

Segments = Sequence[tuple[int, int]]

MAX_PICTURE_CHARACTERS = 8_000
"""A caption picture ends with an ellipsis after this; the longest captions in PMC have about 6,000 characters."""

MAX_TAG_CHARACTERS = 24
"""A longer name is cut in its tag; identifiers are a letter or a few words ("bottom right")."""

MAX_NAMES = 6
"""A text shared by more panels than this is tagged with a count instead of all names."""

MAX_STRIPES = 12
"""Colours side by side below text that several panels share."""

CAPTION_CSS = """
.cap{line-height:1.75;overflow-wrap:anywhere}
.cap .none{color:var(--muted,#6b7280)}
.cap .seg{--line:var(--c);--tint:color-mix(in srgb,var(--c) 20%,transparent);background:var(--tint);
 border-bottom:2px solid var(--line);border-radius:3px 3px 0 0;padding:1px 1px 0;-webkit-box-decoration-break:clone;
 box-decoration-break:clone}
.cap .several{background:var(--tint);border-bottom:0;padding-bottom:2px;
 background-image:var(--stripes),linear-gradient(var(--tint),var(--tint));
 background-size:100% 3px,100% 100%;background-position:0 100%,0 0;background-repeat:no-repeat}
.cap .all{border-bottom-style:dotted}
.who{white-space:nowrap;vertical-align:1px;font:700 .74em/1 system-ui,sans-serif;background:var(--c);color:var(--ink);
 border-radius:3px;padding:.12em .42em;margin-right:.35em;-webkit-user-select:none;user-select:none}
.cap-legend{display:flex;flex-wrap:wrap;gap:.25em 1em;list-style:none;padding:0;margin:.5em 0 0;font-size:.82em;
 color:var(--muted,#6b7280)}
.cap-legend .sw{display:inline-block;width:1.6em;height:.95em;vertical-align:-.1em;margin-right:.4em}
@media (prefers-color-scheme:dark){.cap .seg{--line:color-mix(in srgb,var(--c) 60%,#fff);
 --tint:color-mix(in srgb,color-mix(in srgb,var(--c) 70%,#fff) 26%,transparent)}}
"""
"""Style of coloured captions on a page; the gallery's scripts make the parts."""


@dataclass(frozen=True, slots=True)
class CaptionRun:
    """A stretch of caption that belongs to the same panels throughout.

    Attributes:
        start: index of the first character.
        end: index after the last character.
        owners: indices of the subcaptions that contain it, ascending; empty for text of no panel.
    """

    start: int
    end: int
    owners: tuple[int, ...]


def caption_runs(caption: str, subcaptions: Sequence[tuple[str | None, Segments]]) -> tuple[CaptionRun, ...]:
    """Cut the caption where the panels that a character belongs to change.

    The runs cover the caption without gaps, in order. White space at the edge of a segment counts as belonging to no
    panel. Ranges outside the caption are clipped, empty and inverted ones ignored.
    """
    length = len(caption)
    events: dict[int, list[tuple[int, int]]] = {}
    for owner, (_, segments) in enumerate(subcaptions):
        for start, end in segments:
            start, end = max(0, start), min(length, end)
            while start < end and caption[start].isspace():
                start += 1
            while start < end and caption[end - 1].isspace():
                end -= 1
            if start < end:
                events.setdefault(start, []).append((owner, 1))
                events.setdefault(end, []).append((owner, -1))
    runs: list[CaptionRun] = []
    depth = [0] * len(subcaptions)
    active: set[int] = set()
    position = 0
    for boundary in sorted({*events, length}):
        if boundary > position:
            owners = tuple(sorted(active))
            if runs and runs[-1].owners == owners:
                runs[-1] = CaptionRun(runs[-1].start, boundary, owners)
            else:
                runs.append(CaptionRun(position, boundary, owners))
            position = boundary
        for owner, step in events.get(boundary, ()):
            depth[owner] += step
            if depth[owner] > 0:
                active.add(owner)
            else:
                active.discard(owner)
    return tuple(runs)


def panel_names(subcaptions: Sequence[tuple[str | None, Segments]]) -> tuple[str, ...]:
    """Return the name of each panel for people: its identifier, or "#2" for the second one when it has none."""
    return tuple(plain_text(name) if name else f"#{number}" for number, (name, _) in enumerate(subcaptions, start=1))


def _is_all(owners: tuple[int, ...], count: int) -> bool:
    return count > 1 and len(owners) == count


def _tags(owners: tuple[int, ...], names: Sequence[str], colours: Sequence[str]) -> list[tuple[str, str]]:
    """Return the (text, colour) tags that stand before a run: none for all panels and for a figure of one panel."""
    if len(names) < 2 or not owners or _is_all(owners, len(names)):
        return []
    if len(owners) > MAX_NAMES:
        return [(f"{len(owners)} panels", SHARED_COLOUR)]
    return [
        (
            name if len(name := names[owner]) <= MAX_TAG_CHARACTERS else name[: MAX_TAG_CHARACTERS - 1] + "…",
            colours[owner % len(colours)],
        )
        for owner in owners
    ]


def _legend(runs: Sequence[CaptionRun], count: int) -> list[tuple[str, str]]:
    """Return which kinds of text occur, as (kind, explanation); empty for a figure of one panel."""
    if count < 2:
        return []
    owned = [run.owners for run in runs]
    legend = []
    if any(len(owners) == 1 for owners in owned):
        legend.append(("one", "one panel"))
    if any(1 < len(owners) < count for owners in owned):
        legend.append(("several", "several panels"))
    if any(_is_all(owners, count) for owners in owned):
        legend.append(("all", "all panels"))
    return legend


@dataclass(frozen=True, slots=True)
class _Piece:
    """A word, a space or a tag on a line of the picture.

    Attributes:
        text: to draw.
        owners: the panels of its run.
        tag_colour: `#rrggbb` of a tag; None for caption text.
        x: left edge in pixels.
        line: 0-based line.
        extent: width in pixels.
    """

    text: str
    owners: tuple[int, ...]
    tag_colour: str | None
    x: float = 0.0
    line: int = 0
    extent: float = 0.0


def _words(text: str, max_characters: int) -> Iterator[str]:
    """Split into words (cut after `max_characters`) and single spaces."""
    for part in re.split(r"(\s)", text):
        if part.isspace():
            yield " "
        else:
            yield from (part[i : i + max_characters] for i in range(0, len(part), max_characters))


@dataclass(frozen=True, slots=True)
class _CaptionLayout:
    """Sizes of a caption picture in pixels, all relative to the font size."""

    width: int
    font_size: int

    @property
    def margin(self) -> int:
        return self.font_size

    @property
    def line_height(self) -> int:
        return round(1.85 * self.font_size)

    @property
    def tag_pad(self) -> int:
        return max(2, self.font_size // 4)

    @property
    def tag_gap(self) -> int:
        return max(3, self.font_size // 3)

    @property
    def body(self) -> Lettering:
        return Lettering(self.font_size)

    @property
    def tag(self) -> Lettering:
        return Lettering(max(6, round(0.75 * self.font_size)), bold=True)

    def line_top(self, line: int) -> int:
        return self.margin // 2 + line * self.line_height

    def placed(
        self, caption: str, runs: Sequence[CaptionRun], names: Sequence[str], colours: Sequence[str]
    ) -> list[_Piece]:
        """Break the caption and its tags into lines."""
        limit = self.width - self.margin
        # A glyph is at most about one em wide, so such a piece of a word always fits on a line.
        max_characters = max(1, (limit - self.margin) // self.font_size)
        pieces: list[_Piece] = []
        x, line = float(self.margin), 0
        for run in runs:
            tags = [
                _Piece(self.tag.shortened(name, limit / 3), run.owners, colour)
                for name, colour in _tags(run.owners, names, colours)
            ]
            words = _words(caption[run.start : run.end], max_characters)
            for piece in [*tags, *(_Piece(word, run.owners, None) for word in words)]:
                if piece.tag_colour is not None:
                    extent = self.tag.width(piece.text) + 2 * self.tag_pad + self.tag_gap
                    # A tag must not stand alone at the end of a line.
                    needed = extent + 3 * self.font_size
                else:
                    extent = needed = self.body.width(piece.text)
                if x + needed > limit and x > self.margin:
                    x, line = float(self.margin), line + 1
                    if piece.text == " ":
                        continue
                pieces.append(replace(piece, x=x, line=line, extent=extent))
                x += extent
        return pieces


def _paint_run(
    canvas: ImageDraw.ImageDraw, owners: tuple[int, ...], count: int, box: Box, rule: int, colours: Sequence[str]
) -> None:
    """Draw tint and underline (`rule` pixels high) of a run's stretch of a line; nothing for text of no panel."""
    if not owners or count < 2:
        return
    left, top, right, bottom = box
    single = len(owners) == 1
    colour = colours[owners[0] % len(colours)] if single else SHARED_COLOUR
    canvas.rectangle((left, top, right - 1, bottom - 1), fill=mixed(colour, "#ffffff", 0.2 if single else 0.16))
    if _is_all(owners, count):
        for start in range(round(left), round(right), 2 * rule):
            canvas.rectangle((start, bottom - rule, max(start, min(start + rule, right) - 1), bottom - 1), fill=colour)
        return
    shown = owners[:MAX_STRIPES]
    for number, owner in enumerate(shown):
        a, b = (left + (right - left) * k / len(shown) for k in (number, number + 1))
        canvas.rectangle((a, bottom - rule, max(a, b - 1), bottom - 1), fill=colours[owner % len(colours)])


def caption_picture(
    caption: str,
    subcaptions: Sequence[tuple[str | None, Segments]],
    *,
    width: int = 720,
    font_size: int = 15,
    legend: bool = True,
    colours: Sequence[str] = PANEL_COLOURS,
) -> NDArray[np.uint8]:
    """Return a coloured caption as a picture on white, for places that show only images.

    Args:
        caption: plain text.
        subcaptions: (identifier, [start, end) ranges of the caption) per panel.
        width: pixels; at least 20 times the font size.
        font_size: pixels per em.
        legend: says below what the lines mean.
        colours: `#rrggbb` of each panel; repeats.

    Returns:
        (height, width, 3) uint8, RGB; as high as the text needs.

    Raises:
        ValueError: if `font_size` is smaller than 6 or `width` smaller than 20 font sizes.
    """
    if font_size < 6 or width < 20 * font_size:
        raise ValueError(f"width {width} and font size {font_size} leave no room for text")
    if len(caption) > MAX_PICTURE_CHARACTERS:
        caption = caption[:MAX_PICTURE_CHARACTERS] + "…"
    caption = plain_text(caption)
    names, count = panel_names(subcaptions), len(subcaptions)
    runs = caption_runs(caption, subcaptions)
    layout = _CaptionLayout(width, font_size)
    pieces = layout.placed(caption, runs, names, colours)
    body = layout.line_top(pieces[-1].line + 1 if pieces else 1) + layout.margin // 2
    small = Lettering(max(6, round(0.85 * font_size)))
    entries: list[tuple[str, str, float, int]] = []
    x, top = float(layout.margin), body
    for kind, text in _legend(runs, count) if legend else ():
        extent = 2.2 * font_size + small.width(text)
        if x + extent > width - layout.margin and x > layout.margin:
            x, top = float(layout.margin), top + layout.line_height
        entries.append((kind, text, x, top))
        x += extent + 1.2 * font_size
    height = (top + layout.line_height if entries else body) + layout.margin // 2
    picture = Image.new("RGB", (width, height), "white")
    canvas = ImageDraw.Draw(picture)
    rule = max(2, font_size // 7)

    # One tint per run and line, below the text.
    for (line, owners), group in groupby(pieces, key=lambda piece: (piece.line, piece.owners)):
        members = list(group)
        line_top, right = layout.line_top(line), members[-1].x + members[-1].extent
        _paint_run(
            canvas,
            owners,
            count,
            (members[0].x, line_top + 0.2 * font_size, right, line_top + 1.55 * font_size),
            rule,
            colours,
        )
    for piece in pieces:
        baseline = layout.line_top(piece.line) + round(1.2 * font_size)
        if piece.tag_colour is not None:
            top = baseline - round(layout.tag.cap_height) - layout.tag_pad
            spot = (piece.x + 1, top, piece.x + piece.extent - layout.tag_gap, baseline + layout.tag_pad - 1)
            canvas.rounded_rectangle(spot, radius=3, fill=piece.tag_colour)
            layout.tag.draw(canvas, piece.x + layout.tag_pad, baseline, piece.text, ink_on(piece.tag_colour))
        elif piece.text != " ":
            colour = "#1b1f24" if piece.owners or count < 2 else "#6b7280"
            layout.body.draw(canvas, piece.x, baseline, piece.text, colour)
    for kind, text, x, top in entries:
        # "several" occurs only with three panels or more, so (0, 1) is not all of them.
        owners = {"one": (0,), "several": (0, 1), "all": tuple(range(count))}[kind]
        _paint_run(canvas, owners, count, (x, top, x + 1.8 * font_size, top + 1.1 * font_size), rule, colours)
        small.draw(canvas, x + 2.2 * font_size, top + 0.85 * font_size, text, "#5b6470")
    return np.asarray(picture, dtype=np.uint8).copy()
