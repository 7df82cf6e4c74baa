"""Mistakes that people report while they look through the gallery: what a report says, and which task it becomes."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

REPORTS_FORMAT: Final = 1
"""Version of the files that the gallery gives and `pmo annotate export --reports` takes."""

MISTAKES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "subcaption": "the subcaption belongs to another panel",
        "box": "a box is wrong or missing",
        "type": "an image type is wrong",
        "mark": "a mark status is wrong",
        "figure": "this is no figure, or only a part of one",
        "caption": "the caption belongs to another figure, or is not complete",
        "other": "something else",
    }
)
"""Mistakes that can be reported, with the words in which people are asked."""
