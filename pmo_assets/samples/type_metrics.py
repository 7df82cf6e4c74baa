"""Widths and ink of text in the fourteen standard PDF fonts, and runs of text broken into lines.

The sample PDFs use the standard fonts with WinAnsi encoding, unembedded: small files, the same metrics everywhere, and
text that every PDF reader extracts the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import pymupdf

from pmo_assets.records.geometry import Box

FONTS: dict[str, str] = {
    "Times-Roman": "tiro",
    "Times-Bold": "tibo",
    "Times-Italic": "tiit",
    "Times-BoldItalic": "tibi",
    "Helvetica": "helv",
    "Helvetica-Bold": "hebo",
    "Helvetica-Oblique": "heit",
    "Helvetica-BoldOblique": "hebi",
}
"""Standard font name to MuPDF's code for it."""


@lru_cache(maxsize=len(FONTS))
def _font(name: str) -> pymupdf.Font:
    return pymupdf.Font(FONTS[name])


@lru_cache(maxsize=2048)
def _advance(char: str, font: str) -> float:
    return float(_font(font).glyph_advance(ord(char)))


@lru_cache(maxsize=8192)
def _em_width(text: str, font: str) -> float:
    return sum(_advance(char, font) for char in text)  # simple fonts know no kerning


@lru_cache(maxsize=2048)
def _glyph_box(char: str, font: str) -> tuple[float, float, float, float]:
    box = _font(font).glyph_bbox(ord(char))
    return (box.x0, box.y0, box.x1, box.y1)


def font_name(family: str, *, bold: bool = False, italic: bool = False) -> str:
    """Return the standard font of a family ("Times" or "Helvetica")."""
    if family == "Times":
        suffix = ("Bold" if bold else "") + ("Italic" if italic else "")
        return f"Times-{suffix or 'Roman'}"
    suffix = ("Bold" if bold else "") + ("Oblique" if italic else "")
    return f"Helvetica-{suffix}" if suffix else "Helvetica"


def text_width(text: str, font: str, size: float) -> float:
    """Return the advance width in points."""
    return _em_width(text, font) * size


def line_box(text: str, font: str, size: float, x: float, baseline: float) -> Box:
    """Return the box of a line of text as MuPDF's text extraction gives it (font ascender to descender), points."""
    face = _font(font)
    return (x, baseline - face.ascender * size, x + text_width(text, font, size), baseline - face.descender * size)


def ink_box(text: str, font: str, size: float, x: float, baseline: float) -> Box:
    """Return the box around the glyphs' outlines, points; empty at the start position for blank text."""
    left, top, right, bottom = x, baseline, x, baseline
    pen, inked = x, False
    for char in text:
        if not char.isspace():
            g = _glyph_box(char, font)
            box = (pen + g[0] * size, baseline - g[3] * size, pen + g[2] * size, baseline - g[1] * size)
            if inked:
                left, top, right, bottom = min(left, box[0]), min(top, box[1]), max(right, box[2]), max(bottom, box[3])
            else:
                left, top, right, bottom = box
                inked = True
        pen += text_width(char, font, size)
    return (left, top, right, bottom)


@dataclass(frozen=True, slots=True)
class Run:
    """Text of one style, with what it refers to.

    Attributes:
        text: plain text.
        bold: printed bold.
        italic: printed italic.
        target: id of the figure, table or reference that it mentions; "" for none.
    """

    text: str
    bold: bool = False
    italic: bool = False
    target: str = ""


@dataclass(frozen=True, slots=True)
class Word:
    """A word on a line: pieces of text in their fonts, no space inside."""

    pieces: tuple[tuple[str, str], ...]
    width: float


@dataclass(frozen=True, slots=True)
class Line:
    """Words of one line and their natural width with single spaces, points."""

    words: tuple[Word, ...]
    width: float


def words_of(runs: Sequence[Run], family: str, size: float) -> list[Word]:
    """Split runs at spaces; a word may change its font within."""
    words: list[Word] = []
    pieces: list[tuple[str, str]] = []

    def finish() -> None:
        if pieces:
            words.append(Word(tuple(pieces), sum(text_width(t, f, size) for t, f in pieces)))
            pieces.clear()

    for run in runs:
        font = font_name(family, bold=run.bold, italic=run.italic)
        for i, part in enumerate(run.text.split(" ")):
            if i:
                finish()
            if part:
                pieces.append((part, font))
    finish()
    return words


def broken_lines(words: Sequence[Word], *, width: float, space: float, first_indent: float = 0.0) -> list[Line]:
    """Fill lines greedily; a word wider than the line stands alone on its line."""
    lines: list[Line] = []
    current: list[Word] = []
    used, room = 0.0, width - first_indent
    for word in words:
        extra = word.width + (space if current else 0.0)
        if current and used + extra > room:
            lines.append(Line(tuple(current), used))
            current, used, room = [], 0.0, width
            extra = word.width
        current.append(word)
        used += extra
    if current:
        lines.append(Line(tuple(current), used))
    return lines
