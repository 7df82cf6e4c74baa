"""Text in pictures: fonts that every installation has, and lines broken to a width.

MuPDF carries its own fonts, so pictures look the same on every machine: Nimbus Sans (Latin, Greek, Cyrillic, the usual
mathematical signs) and Droid Sans Fallback (CJK, arrows) for what it lacks.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from functools import cache

import pymupdf
from PIL import ImageDraw, ImageFont

MISSING_GLYPH = "?"
"""Drawn for a character that neither font has."""


@cache
def _mupdf_font(name: str) -> pymupdf.Font:
    return pymupdf.Font(name)


@cache
def _font(name: str, size: int) -> ImageFont.FreeTypeFont:
    # The basic layout engine does not depend on whether libraqm is installed, so the bytes stay the same.
    return ImageFont.truetype(io.BytesIO(_mupdf_font(name).buffer), size, layout_engine=ImageFont.Layout.BASIC)


@cache
def _font_name(character: str, bold: bool) -> str | None:
    for name in ("hebo" if bold else "helv", "cjk"):
        if _mupdf_font(name).has_glyph(ord(character)):
            return name
    return None


@dataclass(frozen=True, slots=True)
class Lettering:
    """A typeface at one size.

    Attributes:
        size: pixels per em.
        bold: use the bold cut.
    """

    size: int
    bold: bool = False

    @property
    def line_height(self) -> int:
        """Pixels from one line to the next."""
        return round(self.size * 1.4)

    @property
    def cap_height(self) -> float:
        """Height of a capital in pixels (0.729 em in Nimbus Sans)."""
        return 0.729 * self.size

    def _parts(self, text: str) -> list[tuple[str, str]]:
        parts: list[tuple[str, str]] = []
        for character in text:
            name = _font_name(character, self.bold)
            if name is None:
                name, character = ("hebo" if self.bold else "helv"), MISSING_GLYPH
            if parts and parts[-1][0] == name:
                parts[-1] = (name, parts[-1][1] + character)
            else:
                parts.append((name, character))
        return parts

    def width(self, text: str) -> float:
        """Return the advance width of one line in pixels."""
        return float(sum(_font(name, self.size).getlength(part) for name, part in self._parts(text)))

    def draw(self, canvas: ImageDraw.ImageDraw, x: float, baseline: float, text: str, colour: str) -> None:
        """Draw one line with its baseline at `baseline`."""
        for name, part in self._parts(text):
            font = _font(name, self.size)
            canvas.text((x, baseline), part, fill=colour, font=font, anchor="ls")
            x += font.getlength(part)

    def shortened(self, text: str, max_width: float) -> str:
        """Return `text`, cut with an ellipsis where it is wider than `max_width` pixels."""
        if self.width(text) <= max_width:
            return text
        low, high = 0, len(text)
        while low < high:
            middle = (low + high + 1) // 2
            if self.width(text[:middle].rstrip() + "…") <= max_width:
                low = middle
            else:
                high = middle - 1
        return text[:low].rstrip() + "…"

    def lines(self, text: str, max_width: float, max_lines: int) -> list[str]:
        """Break `text` at white space into at most `max_lines` lines; what does not fit ends in an ellipsis."""
        words = text.split()
        lines: list[str] = []
        while words and len(lines) < max_lines:
            if len(lines) == max_lines - 1:
                # More words than can ever fit need not be measured.
                lines.append(self.shortened(" ".join(words[: int(max_width)]), max_width))
                break
            count = 1
            while count < len(words) and self.width(" ".join(words[: count + 1])) <= max_width:
                count += 1
            lines.append(self.shortened(" ".join(words[:count]), max_width))
            words = words[count:]
        return lines
