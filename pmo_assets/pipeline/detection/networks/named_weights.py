"""Files of weights that the package holds, and the names of those that settings and commands can choose. A leaf."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Final

from pmo_assets.records.stores import SystemicError

NAMED_WEIGHTS: Final[Mapping[str, str]] = {"open-pmc-18m": "open_pmc_18m.onnx"}
"""Figure networks for other figures than those of articles, by name. They are read only where they are named, and then
like any other file that is chosen: with their content."""


def shipped_weights(name: str) -> Path:
    """Return the path of a file in the package's folder of weights.

    Raises:
        SystemicError: when the package was built without it.
    """
    path = Path(str(files("pmo_assets").joinpath("weights", name)))
    if not path.is_file():
        raise SystemicError(f"{path} is missing: `pmo train` makes it, a release of the package has it")
    return path


def named_weights(path: Path | None) -> Path | None:
    """Return the file of a name of `NAMED_WEIGHTS`; any other path, or none, as it is."""
    return shipped_weights(NAMED_WEIGHTS[str(path)]) if str(path) in NAMED_WEIGHTS else path
