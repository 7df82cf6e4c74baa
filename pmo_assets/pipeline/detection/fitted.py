"""Numbers that were fitted and are shipped with the package (`weights/*.json`), each by its name.

Their users add terms up by name, and a name that is missing would count as 0 without a word: a file that lacks one, or
has no number for it, is refused as a whole.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from importlib.resources import files
from typing import Any

from pmo_assets.pipeline.detection.networks.memory_batches import loading

MEND = "install pmo-assets again"
"""Remedy for files of the package that are missing or broken."""


def shipped_json(file: str) -> Any:
    """Return the content of a file of `weights`; to be called within `loading`."""
    return json.loads(files("pmo_assets").joinpath("weights", file).read_text("utf-8"))


def named_numbers(content: Any, names: Iterable[str]) -> dict[str, float]:
    """Return the numbers of `names`, and no others.

    Raises:
        KeyError: when one is missing.
        ValueError: when one is no finite number.
    """
    numbers = {name: float(content[name]) for name in names}
    wrong = [name for name, value in numbers.items() if not math.isfinite(value)]
    if wrong:
        raise ValueError(f"no finite number for {', '.join(wrong)}")
    return numbers


def fitted_numbers(file: str, names: Iterable[str], part: str | None = None) -> dict[str, float]:
    """Return the numbers of a file of `weights` by their names.

    Args:
        file: of numbers by name, or of parts of such.
        names: of all that must be there.
        part: name of the part; None for the whole file.

    Raises:
        SystemicError: when the file cannot be read, lacks a name or says no finite number for it.
    """
    with loading(file, mend=MEND):
        content = shipped_json(file)
        return named_numbers(content if part is None else content[part], names)
