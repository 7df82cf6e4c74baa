"""Figures as LaTeX sub-figures make them: rows of pictures with printed letters, on a page with their caption.

One page a case, drawn with PyMuPDF, with exact truth in the annotation format. What belongs here is what such figures
vary in: the grid, the side on which letters stand, brackets, titles behind letters, fonts, gaps, unequal widths, an
incomplete last row, and whether the PDF has pictures and live letters or one flat picture.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from xml.sax.saxutils import escape

import cv2
import numpy as np
import pymupdf
from numpy.typing import NDArray

from pmo_assets.records.geometry import Box, normalise, union_box
from pmo_assets.samples.pictures import drawn_picture
from pmo_assets.samples.spec import PictureKind

LetterSide = Literal["below", "above", "left", "inside"]
Ground = Literal["live", "strips", "flat"]
Content = Literal["retina", "natural", "masks", "sketches", "drawings", "plots", "mixed"]
Naming = Literal["each", "ranges", "title"]
Package = Literal["pdf", "xml", "jpeg"]
Pixels = NDArray[np.uint8]

PAGE = (595.0, 842.0)
"""A4, points."""

COLUMNS = {True: (48.0, 547.0), False: (48.0, 288.0)}
"""Left and right edge of a figure over the page (True) or in the left one of two columns, points."""

RETINAL: tuple[PictureKind, ...] = ("cfp", "oct", "angiography", "autofluorescence", "histology")
TITLES = (
    "Original", "CLAHE", "Ours", "U-Net", "Ground truth", "Noise", "SSIM 0.91", "Input", "Proposed", "FCN", "Green",
    "Result", "t = 0", "Depth", "Step 2", "Mask", "ROI", "k = 3", "Day 7", "OD", "LoG", "Otsu",
)  # fmt: skip
PROSE = (
    "the segmentation network learns features of vessels from images with few labels and its loss is a weighted sum of "
    "region and boundary terms that we minimise by gradient descent on random patches of each training set while the "
    "remaining pictures serve for validation as described in previous work on similar problems of low contrast"
)
WORDS = PROSE.split()
BODY_SIZE, CAPTION_SIZE = 9.5, 8.0
FIGURE_FILE = "fig1"
"""Name of the figure in the XML, without suffix."""


@dataclass(frozen=True, slots=True)
class LetterRows:
    """A figure of lettered pictures.

    Attributes:
        seed: of pictures and texts.
        counts: pictures of each row.
        centred: an incomplete last row stands in the middle.
        side: where letters stand seen from their picture.
        form: of a letter, as "({})"; with a capital "A" in it for capitals: "(A)" is "({A})".
        titled: words follow the letter: "(a) Original".
        font: PyMuPDF's name of the letters' font.
        size: of letters, points.
        gaps: between pictures of a row, between rows, between a picture and its letter, points.
        unequal: pictures of a row have different widths.
        ground: pictures and letters live; a bitmap for each row of pictures and live letters; one flat picture.
        content: what the pictures show.
        legend: a line of text under the last row.
        wide: over the page, else in one column.
        naming: how the caption names panels: each, as ranges, or not at all where sub-captions are printed (the XML has
            these behind the title).
        caption_gap: between the figure and its caption, points.
        wrapped: the words behind letters are sub-captions of several lines.
        parts: pictures of each panel, side by side.
        heads: words over the columns and beside the rows.
        ragged: pictures of a row differ in height and stand on one line.
        late: letters come after the caption in the PDF's order.
        upright: brackets are upright, the letter between them is not: three spans.
        package: what comes with the PDF: nothing, an XML, or an XML and the figure's JPEG.
    """

    seed: int
    counts: tuple[int, ...]
    centred: bool
    side: LetterSide
    form: str
    titled: bool
    font: str
    size: float
    gaps: tuple[float, float, float]
    unequal: bool
    ground: Ground
    content: Content
    legend: bool
    wide: bool
    naming: Naming
    caption_gap: float
    wrapped: bool = False
    parts: int = 1
    heads: bool = False
    ragged: bool = False
    late: bool = False
    upright: bool = False
    package: Package = "pdf"


@dataclass(frozen=True, slots=True)
class Placed:
    """A panel in points of the page: its pictures, its lines of text with the starts of their baselines (the first one
    begins with the letter), and the box of the letter and of all ink of the lines."""

    name: str
    pictures: tuple[Box, ...]
    lines: tuple[tuple[tuple[float, float], str], ...]
    letter: Box
    printed: Box

    @property
    def picture(self) -> Box:
        """The box around the pictures."""
        return union_box(self.pictures)


def letter_rows(seed: int) -> LetterRows:
    """Return a random figure of lettered pictures."""
    rng = np.random.default_rng([seed, 77])

    def one(values: Sequence[Any], weights: Sequence[float] | None = None) -> Any:
        shares = None if weights is None else np.asarray(weights) / sum(weights)
        return values[int(rng.choice(len(values), p=shares))]

    wide = bool(rng.random() < 0.6)
    rows = one((1, 2, 3, 4), (3, 5, 3, 1))
    columns = one((2, 3, 4, 5, 6), (2, 3, 3, 3, 1)) if wide else one((2, 3, 4), (4, 3, 1))
    counts = [columns] * rows
    if rows > 1 and rng.random() < 0.3:
        counts[-1] = int(rng.integers(1, columns))
    side: LetterSide = one(("below", "above", "left", "inside"), (12, 3, 2, 3))
    titled = side in ("below", "above") and bool(rng.random() < 0.3)
    wrapped = titled and bool(rng.random() < 0.4)
    form = one(("({})", "{})", "{}", "({A})", "{A}", "{}."), (10, 2, 2, 2, 3, 1))
    ground: Ground = one(("live", "strips", "flat"), (6, 1, 4))
    naming: Naming = one(("each", "ranges"), (4, 1))
    return LetterRows(
        seed=seed,
        counts=tuple(counts),
        centred=bool(rng.random() < 0.7),
        side=side,
        form=form if not titled or form not in ("{}", "{A}") else "({})",
        titled=titled,
        font=one(("tiro", "tibo", "helv", "hebo", "tiit"), (8, 2, 4, 2, 1)),
        size=float(one((7.0, CAPTION_SIZE, 9.0, BODY_SIZE, rng.uniform(6.5, 9.5)))),
        gaps=(float(one((1.5, 3, 5, 8, 14))), float(one((2, 4, 7, 12))), float(rng.uniform(1.2, 9))),
        unequal=bool(rng.random() < 0.3),
        ground=ground,
        content=one(("retina", "natural", "masks", "sketches", "drawings", "plots", "mixed"), (4, 3, 3, 1.5, 1, 2, 3)),
        legend=bool(rng.random() < 0.1),
        wide=wide,
        naming="title" if titled and rng.random() < 0.5 else naming,
        caption_gap=float(one((1.5, 3.0, 6.0, 11.0))),
        wrapped=wrapped,
        parts=int(one((1, 2, 3), (8, 2, 1))) if columns * rows <= 9 else 1,
        heads=side in ("below", "inside") and bool(rng.random() < 0.12),
        ragged=bool(rng.random() < 0.15),
        late=bool(rng.random() < 0.25),
        upright="(" in form and not titled and bool(rng.random() < 0.2),
        package=one(("pdf", "xml", "jpeg"), (3, 2, 2)),
    )


def text_ink(font: pymupdf.Font, text: str, origin: tuple[float, float], size: float) -> Box:
    """Return the box of a text's ink on the page; `origin` is the start of its baseline."""
    x, boxes = origin[0], []
    for letter in text:
        if letter.strip():
            ink = font.glyph_bbox(ord(letter))
            boxes.append((x + size * ink.x0, origin[1] - size * ink.y1, x + size * ink.x1, origin[1] - size * ink.y0))
        x += size * font.glyph_advance(ord(letter))
    return union_box(boxes)


def _mask(rng: np.random.Generator, wide: int, tall: int) -> Pixels:
    picture = np.zeros((tall, wide, 3), np.uint8)
    for _ in range(int(rng.integers(1, 5))):
        centre = (int(rng.integers(wide)), int(rng.integers(tall)))
        axes = (max(2, int(wide * rng.uniform(0.05, 0.3))), max(2, int(tall * rng.uniform(0.05, 0.3))))
        colour = (255, 255, 255) if rng.random() < 0.7 else tuple(int(v) for v in rng.integers(80, 255, 3))
        cv2.ellipse(picture, centre, axes, float(rng.uniform(0, 180)), 0, 360, colour, -1, cv2.LINE_AA)
    return picture


def _drawing(rng: np.random.Generator, wide: int, tall: int) -> Pixels:
    """Return dark strokes on white with a thin frame."""
    picture = np.full((tall, wide, 3), 255, np.uint8)
    for _ in range(int(rng.integers(5, 14))):
        points = rng.uniform(0, 1, (6, 2)).cumsum(axis=0)
        points = (points / points.max(axis=0) * (wide - 1, tall - 1)).astype(np.int32)
        if rng.random() < 0.5:
            points[:, 0] = wide - 1 - points[:, 0]
        cv2.polylines(picture, [points], False, (20, 20, 20), max(1, wide // 120), cv2.LINE_AA)
    cv2.rectangle(picture, (0, 0), (wide - 1, tall - 1), (0, 0, 0), max(1, wide // 150))
    return picture


def _plot(rng: np.random.Generator, wide: int, tall: int) -> Pixels:
    """Return axes with tick labels and a curve."""
    picture = np.full((tall, wide, 3), 255, np.uint8)
    scale = max(0.25, wide / 700)
    left, bottom, right, top = int(0.14 * wide), int(0.86 * tall), wide - 3, 3
    cv2.rectangle(picture, (left, top), (right, bottom), (0, 0, 0), max(1, wide // 250))
    for k in range(5):
        y, x = bottom - (bottom - top) * k // 5, left + (right - left) * k // 5
        cv2.putText(picture, f"{k * 20}", (1, y), cv2.FONT_HERSHEY_SIMPLEX, scale, (0, 0, 0), 1, cv2.LINE_AA)
        cv2.putText(picture, f"{k}", (x, tall - 3), cv2.FONT_HERSHEY_SIMPLEX, scale, (0, 0, 0), 1, cv2.LINE_AA)
    for colour in ((180, 40, 30), (30, 60, 170)):
        xs = np.linspace(left, right, 30)
        ys = np.clip(tall * (0.45 + 0.12 * rng.standard_normal(30).cumsum() / 3), top + 2, bottom - 2)
        cv2.polylines(picture, [np.stack([xs, ys], axis=1).astype(np.int32)], False, colour, max(1, wide // 180),
                      cv2.LINE_AA)  # fmt: skip
    return picture


def _natural(rng: np.random.Generator, wide: int, tall: int) -> Pixels:
    """Return a soft texture, grey or coloured, as photographs of things and micrographs have."""
    small = rng.uniform(0, 255, (int(rng.integers(3, 12)), int(rng.integers(3, 12)), 3))
    if rng.random() < 0.5:
        small[:] = small[:, :, :1]
    picture = cv2.resize(small, (wide, tall), interpolation=cv2.INTER_CUBIC) + rng.normal(0, 8, (tall, wide, 1))
    return np.asarray(np.clip(picture, 0, 235), dtype=np.uint8)


def _picture(content: Content, rng: np.random.Generator, wide: int, tall: int) -> Pixels:
    if content == "mixed":
        kinds: tuple[Content, ...] = ("retina", "natural", "masks", "plots")
        content = kinds[int(rng.integers(len(kinds)))]
    if content == "retina":
        return drawn_picture(RETINAL[int(rng.integers(len(RETINAL)))], rng, wide, tall)
    draw = {
        "masks": _mask, "drawings": _drawing, "plots": _plot, "natural": _natural, "sketches": _sketch
    }[content]  # fmt: skip
    return draw(rng, wide, tall)


def _sketch(rng: np.random.Generator, wide: int, tall: int) -> Pixels:
    """Return separate dark strokes on white, without a frame: vessels that were segmented."""
    picture = np.full((tall, wide, 3), 255, np.uint8)
    for _ in range(int(rng.integers(5, 12))):
        start = rng.uniform(0.05, 0.8, 2)
        points = start + rng.uniform(0, 0.08, (6, 2)).cumsum(axis=0) * rng.choice([-1, 1], 2)
        points = (np.clip(points, 0.02, 0.98) * (wide, tall)).astype(np.int32)
        cv2.polylines(picture, [points], False, (20, 20, 20), max(1, wide // 90), cv2.LINE_AA)
    return picture


def _names(spec: LetterRows) -> list[str]:
    first = "A" if "{A}" in spec.form else "a"
    return [chr(ord(first) + k) for k in range(sum(spec.counts))]


def _words(spec: LetterRows, rng: np.random.Generator, letter: str, font: pymupdf.Font, width: float) -> list[str]:
    """Return the lines of a letter and the words behind it, as wide as its panel at most."""
    if not spec.titled:
        return [letter]
    if not spec.wrapped:
        title = f"{letter} {TITLES[int(rng.integers(len(TITLES)))]}"
        return [title if font.text_length(title, spec.size) < width else letter]
    text = f"{letter} {' '.join(WORDS[int(i)] for i in rng.integers(len(WORDS), size=int(rng.integers(3, 9))))}"
    lines = list(_lines(text, width, spec.size, font))
    return lines if all(font.text_length(line, spec.size) <= width for line in lines) else [letter]


def _placed(spec: LetterRows, top: float) -> list[Placed]:
    """Return the panels of a figure whose upper edge is at `top`."""
    rng = np.random.default_rng([spec.seed, 1])
    font = pymupdf.Font(spec.font)
    gap, row_gap, letter_gap = spec.gaps
    left, right = COLUMNS[spec.wide]
    indent = 2.2 * spec.size if spec.side == "left" else 0.0
    columns = max(spec.counts)
    cell = (right - left - (columns - 1) * gap) / columns - indent
    # All of a figure stays on the upper part of its page.
    tall = min(cell / float(rng.choice([1.0, 1.25, 1.5])) / spec.parts, (430.0 / len(spec.counts)) - 4 * spec.size)
    shares = rng.uniform(0.7, 1.3, columns) if spec.unequal else np.ones(columns)
    widths = [float(w) for w in shares / shares.sum() * cell * columns]
    letters = iter(_names(spec))
    placed: list[Placed] = []
    y = top
    for count in spec.counts:
        row = sum(widths[:count]) + count * indent + (count - 1) * gap
        x = left + ((right - left - row) / 2 if spec.centred and count < columns else 0.0)
        if spec.side == "above":
            y += 0.95 * spec.size + letter_gap
        lowest = y + tall
        for column in range(count):
            name = next(letters)
            x += indent
            upper = y + (tall * float(rng.uniform(0, 0.4)) if spec.ragged else 0.0)
            inner = min(gap, 3.0) if spec.parts > 1 else 0.0
            each = (widths[column] - inner * (spec.parts - 1)) / spec.parts
            pictures = tuple(
                (x + k * (each + inner), upper, x + k * (each + inner) + each, y + tall) for k in range(spec.parts)
            )
            letter = spec.form.replace("{A}", name).replace("{}", name)
            texts = _words(spec, rng, letter, font, widths[column])
            if spec.side == "above":
                texts = texts[:1]
            lines = tuple(
                (_origin(spec, (x, upper, x + widths[column], y + tall), font.text_length(text, spec.size), k), text)
                for k, text in enumerate(texts)
            )
            own = text_ink(font, letter, lines[0][0], spec.size)
            if spec.ground != "flat":
                # Live text is boxed as the PDF has it: from the font's ascender to its descender.
                origin, length = lines[0][0], font.text_length(letter, spec.size)
                rise, drop = font.ascender * spec.size, -font.descender * spec.size
                own = (origin[0], origin[1] - rise, origin[0] + length, origin[1] + drop)
            ink = union_box([text_ink(font, text, at, spec.size) for at, text in lines])
            lowest = max(lowest, ink[3])
            placed.append(Placed(name, pictures, lines, own, ink))
            x += widths[column] + gap
        y = lowest + row_gap + (0.2 * spec.size if spec.side == "below" else 0.0)
    return placed


def _origin(spec: LetterRows, picture: Box, length: float, line: int) -> tuple[float, float]:
    """Return where the baseline of a panel's line of text begins."""
    letter_gap, middle = spec.gaps[2], (picture[0] + picture[2] - length) / 2
    return {
        "below": (middle, picture[3] + letter_gap + 0.75 * spec.size + 1.15 * spec.size * line),
        "above": (middle if spec.seed % 2 else picture[0], picture[1] - letter_gap - 0.25 * spec.size),
        "left": (picture[0] - length - min(letter_gap, 3.0), picture[1] + 0.8 * spec.size),
        "inside": (picture[0] + 2.5, picture[1] + 2.5 + 0.8 * spec.size),
    }[spec.side]


def _strip(boxes: Sequence[Box], pictures: Sequence[Pixels], scale: float) -> tuple[Box, Pixels]:
    """Return pictures as one bitmap with white between them."""
    hull = union_box(boxes)
    sheet = np.full((round((hull[3] - hull[1]) * scale) + 1, round((hull[2] - hull[0]) * scale) + 1, 3), 255, np.uint8)
    for box, picture in zip(boxes, pictures, strict=True):
        x, y = round((box[0] - hull[0]) * scale), round((box[1] - hull[1]) * scale)
        part = picture[: sheet.shape[0] - y, : sheet.shape[1] - x]
        sheet[y : y + part.shape[0], x : x + part.shape[1]] = part
    return hull, sheet


def _png(pixels: Pixels) -> bytes:
    return bytes(cv2.imencode(".png", cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR))[1])


def _drawn(page: pymupdf.Page, spec: LetterRows, placed: Sequence[Placed]) -> dict[str, bool]:
    """Draw the pictures on a page and say which panels are dark where a letter may stand in them."""
    rng = np.random.default_rng([spec.seed, 2])
    scale = float(rng.uniform(2.0, 3.5))
    dark: dict[str, bool] = {}
    strip: list[tuple[Box, Pixels]] = []
    ends = {sum(spec.counts[: k + 1]) for k in range(len(spec.counts))}
    for number, panel in enumerate(placed, start=1):
        for k, box in enumerate(panel.pictures):
            size = (max(16, round((box[2] - box[0]) * scale)), max(16, round((box[3] - box[1]) * scale)))
            picture = _picture(spec.content, rng, *size)
            corner = picture[: int(1.5 * spec.size * scale), : int(2 * spec.size * scale)]
            if k == 0:
                dark[panel.name] = bool(corner.mean() < 140)
            if spec.ground == "strips":
                strip.append((box, picture))
            else:
                page.insert_image(pymupdf.Rect(box), stream=_png(picture), keep_proportion=False)
        if strip and number in ends:
            hull, sheet = _strip([box for box, _ in strip], [picture for _, picture in strip], scale)
            page.insert_image(pymupdf.Rect(hull), stream=_png(sheet), keep_proportion=False)
            strip = []
    return dark


def _lettered(page: pymupdf.Page, spec: LetterRows, placed: Sequence[Placed], dark: dict[str, bool]) -> None:
    """Print the letters and the words behind them on a page."""
    font = pymupdf.Font(spec.font)
    for panel in placed:
        colour = (1, 1, 1) if spec.side == "inside" and dark[panel.name] else (0, 0, 0)
        for (x, y), text in panel.lines:
            pieces = list(text) if spec.upright else [text]
            for k, piece in enumerate(pieces):
                face = "tiit" if spec.upright and piece.isalpha() else spec.font
                page.insert_text((x, y), piece, fontname=face, fontsize=spec.size, color=colour)
                x += font.text_length(piece, spec.size) if k + 1 < len(pieces) else 0.0


def _headed(page: pymupdf.Page, spec: LetterRows, placed: Sequence[Placed]) -> list[Box]:
    """Print words over the columns and beside the rows, of no panel; return the boxes of their ink."""
    rng, font, size = np.random.default_rng([spec.seed, 6]), pymupdf.Font("helv"), 7.0
    boxes = []
    for panel in placed[: spec.counts[0]]:
        text = TITLES[int(rng.integers(len(TITLES)))]
        middle = (panel.picture[0] + panel.picture[2] - font.text_length(text, size)) / 2
        origin = (middle, placed[0].picture[1] - 4.0)
        page.insert_text(origin, text, fontname="helv", fontsize=size)
        boxes.append(text_ink(font, text, origin, size))
    return boxes


def _legend_box(page: pymupdf.Page, spec: LetterRows, hull: Box) -> Box:
    """Write a line of text under the last row and return the box of its ink."""
    font, size = pymupdf.Font("helv"), 7.0
    text = "Scale bar = 200 um; arrows as above"
    origin = ((hull[0] + hull[2] - font.text_length(text, size)) / 2, hull[3] + 1.3 * size)
    page.insert_text(origin, text, fontname="helv", fontsize=size)
    return text_ink(font, text, origin, size)


def _lines(text: str, width: float, size: float, font: pymupdf.Font) -> Iterator[str]:
    line = ""
    for word in text.split():
        longer = f"{line} {word}".strip()
        if font.text_length(longer, size) > width:
            yield line
            longer = word
        line = longer
    yield line


def _caption(spec: LetterRows, placed: Sequence[Placed]) -> tuple[str, str]:
    """Return the caption as it is printed, and as the XML has it."""
    rng = np.random.default_rng([spec.seed, 3])
    lead, names = "Results of the compared methods.", [panel.name for panel in placed]
    if spec.naming == "title":
        return lead, f"{lead} {' '.join(' '.join(text for _, text in panel.lines) for panel in placed)}"
    if spec.naming == "ranges" and len(names) >= 4:
        cut = spec.counts[0] if len(spec.counts) > 1 and 2 <= spec.counts[0] <= len(names) - 2 else len(names) // 2
        caption = f"{lead} ({names[0]})-({names[cut - 1]}) Input images, ({names[cut]})-({names[-1]}) output images."
        return caption, caption
    parts = [
        f"({name}) {' '.join(WORDS[int(i)] for i in rng.integers(len(WORDS), size=int(rng.integers(2, 6))))}"
        for name in names
    ]
    caption = f"{lead} {', '.join(parts)}."
    return caption, caption


def _prose(page: pymupdf.Page, frame: Box, seed: int) -> None:
    """Fill a frame with running text."""
    rng, font = np.random.default_rng([seed, 4]), pymupdf.Font("tiro")
    y = frame[1] + BODY_SIZE
    text = " ".join(WORDS[int(i)] for i in rng.integers(len(WORDS), size=1500))
    for line in _lines(text, frame[2] - frame[0], BODY_SIZE, font):
        if y > frame[3]:
            return
        page.insert_text((frame[0], y), line, fontname="tiro", fontsize=BODY_SIZE)
        y += 1.2 * BODY_SIZE


@dataclass(frozen=True, slots=True)
class LetterRowsCase:
    """A page with a figure of lettered pictures.

    Attributes:
        pdf: the page.
        truth: the figure's annotation.
        xml: a JATS article with the figure; None without.
        jpeg: the figure's picture as publishers have it; None without.
    """

    pdf: bytes
    truth: dict[str, Any]
    xml: bytes | None
    jpeg: bytes | None


def letter_rows_case(spec: LetterRows) -> LetterRowsCase:
    """Return a page with the figure between running text, and the figure's annotation."""
    with pymupdf.open() as document, pymupdf.open() as sheet:
        page = document.new_page(width=PAGE[0], height=PAGE[1])
        left, right = COLUMNS[spec.wide]
        top = 60.0 if spec.seed % 3 else 150.0
        if top > 100:
            _prose(page, (left, 60.0, right, top - 18), spec.seed)
        placed = _placed(spec, top)
        alone = sheet.new_page(width=PAGE[0], height=PAGE[1])
        targets = [alone] if spec.ground == "flat" else [alone, page]
        boxes = [box for p in placed for box in (p.picture, p.printed)]
        for target in targets:
            dark = _drawn(target, spec, placed)
            boxes += _headed(target, spec, placed) if spec.heads else []
            hull = union_box(boxes)
            if spec.legend:
                hull = union_box([hull, _legend_box(target, spec, union_box(boxes))])
            if not spec.late or target is alone:
                _lettered(target, spec, placed, dark)
        rng = np.random.default_rng([spec.seed, 5])
        pixmap = alone.get_pixmap(dpi=int(rng.choice([110, 150, 200, 300])), clip=pymupdf.Rect(hull))
        jpeg = pixmap.tobytes("jpeg", jpg_quality=int(rng.integers(60, 95)))
        if spec.ground == "flat":
            page.insert_image(pymupdf.Rect(hull), stream=jpeg, keep_proportion=False)
        printed, caption = _caption(spec, placed)
        first = hull[3] + spec.caption_gap
        y = first + 0.8 * CAPTION_SIZE
        for line in _lines(f"Figure 1. {printed}", right - left, CAPTION_SIZE, pymupdf.Font("tiro")):
            page.insert_text((left, y), line, fontname="tiro", fontsize=CAPTION_SIZE)
            y += 1.15 * CAPTION_SIZE
        if spec.late and spec.ground != "flat":
            _lettered(page, spec, placed, dark)
        _prose(page, (left, y + 8, right, 790.0), spec.seed + 1)
        if not spec.wide:
            _prose(page, (307.0, 60.0, 547.0, 790.0), spec.seed + 2)
        pdf = document.tobytes(garbage=3, deflate=True)
    known = caption if spec.package != "pdf" else printed
    truth = _annotation(placed, hull, known, (left, first, right, y - CAPTION_SIZE))
    return LetterRowsCase(
        pdf,
        truth,
        None if spec.package == "pdf" else _jats(caption),
        jpeg if spec.package == "jpeg" else None,
    )


def _jats(caption: str) -> bytes:
    """Return an XML article with one figure."""
    return (
        '<?xml version="1.0" encoding="UTF-8"?><article xmlns:xlink="http://www.w3.org/1999/xlink"><front><article-meta>'
        "<title-group><article-title>Pictures in rows</article-title></title-group></article-meta></front><body><p>As "
        'said.</p><fig id="f1"><label>Figure 1</label><caption><p>'
        f'{escape(caption)}</p></caption><graphic xlink:href="{FIGURE_FILE}"/></fig></body></article>'
    ).encode()


def _annotation(placed: Sequence[Placed], hull: Box, caption: str, caption_box: Box) -> dict[str, Any]:
    def share(box: Box) -> list[float]:
        return [min(1.0, max(0.0, v)) for v in normalise(box, hull)]

    return {
        "label": "Figure 1",
        "image_cluster_id": None,
        "figure_locations": [{"page": 0, "bbox": list(hull)}],
        "caption_locations": [{"page": 0, "bbox": list(caption_box)}],
        "caption": caption,
        "panels": [
            {
                "identifier": p.name,
                "identifier_box": share(p.letter),
                "box": share(union_box([p.picture, p.printed])),
                "subcaption": "",
                "images": [{"box": share(box), "type": "Other", "marked": False} for box in p.pictures],
            }
            for p in placed
        ],
    }
