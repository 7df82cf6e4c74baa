"""Pictures of annotations beside findings: boxes on a page, detections, captions and texts.

Annotated is blue and solid, found is vermilion and dashed; words that the other text lacks stand on that colour.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PIL import Image, ImageDraw

from pmo_assets.records.geometry import Box, as_box, expand
from pmo_assets.viewing.captions import Segments, caption_picture
from pmo_assets.viewing.lettering import Lettering
from pmo_assets.viewing.markup import plain_text
from pmo_assets.viewing.overlays import Pixels, draw_detections, draw_frame
from pmo_assets.viewing.palette import FOUND_COLOUR, TRUTH_COLOUR, mixed
from pmo_assets.viewing.text_differences import Stretch, text_difference

WIDTH = 900
"""Pixels of a picture that shows two sides."""
MAX_TEXT_LINES = 14
GAP = 12

_INK = "#1b1f24"
_FAINT = "#5b6470"
_RULE = "#d5d9df"

DetectedPanel = tuple[Box, str | None]
DetectedImage = tuple[Box, str | None, bool | None]


def _blank(width: int, height: int) -> Image.Image:
    return Image.new("RGB", (max(1, width), max(1, height)), "white")


def _pixels(picture: Image.Image) -> Pixels:
    return np.asarray(picture, dtype=np.uint8).copy()


def stacked(parts: Sequence[Pixels], gap: int = GAP) -> Pixels:
    """Return pictures one below the other on white, left edges aligned; a white pixel for none."""
    if not parts:
        return _pixels(_blank(1, 1))
    sheet = _blank(max(part.shape[1] for part in parts), sum(part.shape[0] + gap for part in parts) - gap)
    y = 0
    for part in parts:
        sheet.paste(Image.fromarray(part), (0, y))
        y += part.shape[0] + gap
    return _pixels(sheet)


def side_by_side(left: Pixels, right: Pixels, names: tuple[str, str] = ("annotated", "found")) -> Pixels:
    """Return two pictures beside each other, each below its name in its colour."""
    lettering = Lettering(14, bold=True)
    top = lettering.line_height + 4
    width = max(left.shape[1], right.shape[1])
    sheet = _blank(2 * width + GAP, top + max(left.shape[0], right.shape[0]))
    canvas = ImageDraw.Draw(sheet)
    for part, name, colour, x in (
        (left, names[0], TRUTH_COLOUR, 0),
        (right, names[1], FOUND_COLOUR, width + GAP),
    ):
        lettering.draw(canvas, x, lettering.size, name, colour)
        canvas.line((x, top - 4, x + width - 1, top - 4), fill=colour, width=2)
        sheet.paste(Image.fromarray(part), (x, top))
    return _pixels(sheet)


def case(title: str, reasons: Sequence[str], body: Pixels, *, max_reasons: int = 6) -> Pixels:
    """Return a picture with its title and what is wrong above it."""
    bold, plain = Lettering(16, bold=True), Lettering(14)
    width = max(body.shape[1], 520)
    lines = [line for reason in reasons[:max_reasons] for line in plain.lines(plain_text(reason), width - 8, 2)]
    if len(reasons) > max_reasons:
        lines.append(f"and {len(reasons) - max_reasons} more")
    head = bold.line_height + len(lines) * plain.line_height + 8
    sheet = _blank(width, head + body.shape[0])
    canvas = ImageDraw.Draw(sheet)
    bold.draw(canvas, 2, bold.size, bold.shortened(plain_text(title), width - 4), _INK)
    for number, line in enumerate(lines):
        plain.draw(canvas, 2, bold.line_height + plain.size + number * plain.line_height, line, FOUND_COLOUR)
    sheet.paste(Image.fromarray(body), (0, head))
    return _pixels(sheet)


def _legend(entries: Sequence[tuple[str, str, int, int]], width: int) -> Pixels:
    """Return a strip with (text, colour, line, dash) entries."""
    lettering = Lettering(13)
    sheet = _blank(width, lettering.line_height + 8)
    canvas = ImageDraw.Draw(sheet)
    x = 4.0
    for text, colour, line, dash in entries:
        draw_frame(canvas, (x, 5, x + 24, 20), colour, line, dash)
        lettering.draw(canvas, x + 31, 18, text, _INK)
        x += 31 + lettering.width(text) + 20
    return _pixels(sheet)


def page_comparison(
    page: Pixels,
    frame: Box,
    *,
    truth: Sequence[Box] = (),
    found: Sequence[Box] = (),
    truth_captions: Sequence[Box] = (),
    found_captions: Sequence[Box] = (),
) -> Pixels:
    """Return a part of a page with the boxes of figures (thick) and of captions (thin), and a legend.

    Annotated boxes are wide and drawn first, found ones are narrow and dashed on top: where they agree, both show.

    Args:
        page: (height, width, 3) uint8, the part `frame` of the page.
        frame: PDF points.
        truth: annotated figures in PDF points.
        found: found figures.
        truth_captions: annotated captions.
        found_captions: found captions.
    """
    sheet = Image.fromarray(np.ascontiguousarray(page))
    canvas = ImageDraw.Draw(sheet)
    scale = (page.shape[1] / (frame[2] - frame[0]), page.shape[0] / (frame[3] - frame[1]))
    groups = (
        (truth_captions, mixed(TRUTH_COLOUR, "#ffffff", 0.5), 3, 0, "annotated caption"),
        (found_captions, FOUND_COLOUR, 1, 3, "found caption"),
        (truth, TRUTH_COLOUR, 6, 0, "annotated figure"),
        (found, FOUND_COLOUR, 2, 7, "found figure"),
    )
    entries = []
    for boxes, colour, line, dash, name in groups:
        for box in boxes:
            place = ((value - frame[k % 2]) * scale[k % 2] for k, value in enumerate(box))
            # Around the box and not on it: the ink that it ends at stays visible.
            draw_frame(canvas, expand(as_box(place), line), colour, line, dash, casing=False)
        if boxes:
            entries.append((name, colour, line, dash))
    return stacked([_pixels(sheet), _legend(entries[::-1], max(620, page.shape[1]))], gap=4)


def detection_comparison(
    figure: Pixels,
    truth: tuple[Sequence[DetectedPanel], Sequence[DetectedPanel], Sequence[DetectedImage]],
    found: tuple[Sequence[DetectedPanel], Sequence[DetectedPanel], Sequence[DetectedImage]],
    *,
    width: int = WIDTH,
) -> Pixels:
    """Return a figure twice: with the annotated and with the found panels, identifiers and images.

    Args:
        figure: (height, width, 3) uint8.
        truth: panels, identifiers, images as in `draw_detections`, normalised to the figure.
        found: likewise.
        width: pixels of the result.
    """
    side = (width - GAP) // 2
    factor = side / figure.shape[1]
    # Small figures are enlarged: names need room. The picture may be twice as high as wide.
    factor = min(factor, 2 * side / figure.shape[0])
    size = (max(1, round(figure.shape[1] * factor)), max(1, round(figure.shape[0] * factor)))
    scaled = _pixels(Image.fromarray(np.ascontiguousarray(figure)).resize(size, Image.Resampling.LANCZOS))
    left, right = (
        draw_detections(scaled, panels=panels, identifiers=identifiers, images=images, max_side=max(size))
        for panels, identifiers, images in (truth, found)
    )
    return side_by_side(left, right)


def caption_comparison(
    caption: str,
    truth: Sequence[tuple[str | None, Segments]],
    found: Sequence[tuple[str | None, Segments]],
    *,
    width: int = WIDTH,
) -> Pixels:
    """Return a caption twice, its parts coloured by the panel they are annotated for and were given to.

    Args:
        caption: plain text.
        truth: (identifier, [start, end) ranges) per annotated panel.
        found: likewise per found panel.
        width: pixels of the result.
    """
    side = (width - GAP) // 2
    left, right = (caption_picture(caption, parts, width=side, font_size=13) for parts in (truth, found))
    return side_by_side(left, right)


def _flowing(text: str, stretches: Sequence[Stretch], colour: str, width: int) -> Pixels:
    """Return a text broken into lines, words that are not shared on a tint of `colour`."""
    lettering = Lettering(13)
    blank = lettering.width(" ")
    strange = [s for s in stretches if not s.shared]
    words: list[tuple[str, bool, float]] = []
    position = 0
    for word in plain_text(text).split(" "):
        start, end = position, position + len(word)
        position = end + 1
        if word:
            shown = lettering.shortened(word, width - 8)
            words.append((shown, any(s.start < end and start < s.end for s in strange), lettering.width(shown)))
    lines: list[list[tuple[float, str, bool, float]]] = [[]]
    x = 4.0
    for word, differs, extent in words:
        if x + extent > width - 4 and lines[-1]:
            if len(lines) == MAX_TEXT_LINES:
                lines[-1].append((x, "…", False, blank))
                break
            lines.append([])
            x = 4.0
        lines[-1].append((x, word, differs, extent))
        x += extent + blank
    sheet = _blank(width, len(lines) * lettering.line_height + 8)
    canvas = ImageDraw.Draw(sheet)
    for number, line in enumerate(lines):
        baseline = 4 + number * lettering.line_height + lettering.size
        for k, (x, word, differs, extent) in enumerate(line):
            if differs:
                joined = blank if k + 1 < len(line) and line[k + 1][2] else 0
                top = baseline - lettering.size
                canvas.rectangle((x - 1, top, x + extent + joined, top + lettering.line_height - 1),
                                 fill=mixed(colour, "#ffffff", 0.28))  # fmt: skip
            lettering.draw(canvas, x, baseline, word, _INK)
    return _pixels(sheet)


def text_comparison(truth: str | None, found: str | None, *, width: int = WIDTH, title: str = "") -> Pixels:
    """Return two texts beside each other; words that the other one lacks stand on a tint of their side's colour.

    Args:
        truth: as annotated.
        found: as found; None is shown as "nothing".
        width: pixels of the result.
        title: shown above, e.g. "panel b".
    """
    left, right = (" ".join((text or "").split()) for text in (truth, found))
    side = (width - GAP) // 2
    of_left, of_right = text_difference(left, right)
    columns = [
        _flowing(text or "(nothing)", stretches, colour, side)
        for text, stretches, colour in ((left, of_left, TRUTH_COLOUR), (right, of_right, FOUND_COLOUR))
    ]
    lettering = Lettering(13, bold=True)
    head = lettering.line_height if title else 0
    sheet = _blank(width, head + max(column.shape[0] for column in columns))
    canvas = ImageDraw.Draw(sheet)
    if title:
        lettering.draw(canvas, 2, lettering.size, lettering.shortened(plain_text(title), width - 4), _FAINT)
    for column, x in zip(columns, (0, side + GAP), strict=True):
        sheet.paste(Image.fromarray(column), (x, head))
    canvas.line((side + GAP // 2, head, side + GAP // 2, sheet.height), fill=_RULE)
    return _pixels(sheet)
