"""Markdown of numbers and texts for the files of the hub's folder."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final


def markdown_table(header: tuple[str, ...], rows: Sequence[tuple[object, ...]]) -> str:
    """Return a Markdown table; what is in its cells cannot break out of them."""
    lines = [" | ".join(header), " | ".join("---" for _ in header)]
    lines += [" | ".join(_cell(value) for value in row) for row in rows]
    return "\n".join(f"| {line} |" for line in lines)


def _cell(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return " ".join(str(value).replace("|", "\\|").replace("<", "&lt;").split())


_MARKS: Final = re.compile(r"[\\`*_\[\]()#!~$<>|]")
"""Characters that make markup in Markdown, as the hub reads it."""


def literal(text: str) -> str:
    """Return text from outside that reads as it is, whatever stands in it: no emphasis, no link, no picture."""
    return _MARKS.sub(r"\\\g<0>", text)


def size_text(size: int) -> str:
    """Return a number of bytes as people read it: "512 B", "1.4 MB"."""
    amount = float(size)
    for unit in ("B", "KB", "MB", "GB", "TB"):
        if amount < 1000 or unit == "TB":
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1000
    raise AssertionError  # the last unit returns
