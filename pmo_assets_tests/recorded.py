"""Recorded results: what functions give for typeset material, number by number, so that a turned rule shows.

A result that follows from the material's ground truth is compared with that, in the test itself. What lies between
(measures, scores, candidates, coordinates of each step) is compared with the file beside the test. After a deliberate
change: `PMO_TEST_RENEW=1 python -m pytest TEST`, and the difference of the file is read like that of code.
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

TOLERANCE = 2e-3
"""Absolute or relative: other processors round and scale pictures differently in the last place."""


def plain(value: Any) -> Any:
    """Return a value as JSON knows it; large arrays as shape, mean and centre of mass along each axis."""
    if isinstance(value, np.ndarray):
        return plain(value.tolist()) if value.size <= 64 else [list(value.shape), *_moments(value)]
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, float | np.floating):
        return float(f"{float(value):.4g}")
    if isinstance(value, int | np.integer):
        return int(value)
    if dataclasses.is_dataclass(value):
        return [plain(getattr(value, field.name)) for field in dataclasses.fields(value) if field.repr]
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, set | frozenset):
        return sorted((plain(item) for item in value), key=str)
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [plain(item) for item in value]
    return value


def _moments(array: np.ndarray) -> list[float]:
    numbers = array.astype(np.float64)
    axes = [np.arange(size) + 1 for size in numbers.shape[:2]]
    total = numbers.sum() or 1.0
    return [plain(float(numbers.mean()))] + [
        plain(float((numbers * axis.reshape(-1, *[1] * (numbers.ndim - 1 - k))).sum() / total))
        for k, axis in enumerate(axes)
    ]


def difference(found: Any, kept: Any, at: str = "") -> str | None:
    """Return where two plain values differ by more than the tolerance; None if nowhere."""
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in (found, kept))
    if numbers and abs(found - kept) <= TOLERANCE * max(1.0, abs(kept)):
        return None
    if isinstance(found, dict) and isinstance(kept, dict) and found.keys() == kept.keys():
        pairs: Iterable[tuple[Any, Any, Any]] = ((key, found[key], kept[key]) for key in found)
    elif isinstance(found, list) and isinstance(kept, list) and len(found) == len(kept):
        pairs = ((k, a, b) for k, (a, b) in enumerate(zip(found, kept, strict=True)))
    else:
        return None if found == kept and not numbers else f"{at}: {found!r} instead of {kept!r}"
    return next((text for key, a, b in pairs if (text := difference(a, b, f"{at}/{key}")) is not None), None)


def assert_as_recorded(file: Path, case: str, found: Any) -> None:
    """Compare with what `file` holds for a case; with PMO_TEST_RENEW write it there."""
    if os.environ.get("PMO_TEST_RENEW"):
        kept = json.loads(file.read_text()) if file.is_file() else {}
        kept[case] = plain(found)
        lines = [f"{json.dumps(name)}: {json.dumps(kept[name], ensure_ascii=False)}" for name in sorted(kept)]
        file.write_text("{\n" + ",\n".join(lines) + "\n}\n")
        return
    text = difference(plain(found), _recorded(file)[case])
    assert text is None, text


@cache
def _recorded(file: Path) -> dict[str, Any]:
    kept: dict[str, Any] = json.loads(file.read_text())
    return kept
