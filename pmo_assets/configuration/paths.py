"""Files and folders that settings name: there, and readable, before any run exists."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from pmo_assets.annotation.annotations import AnnotationsMissing, annotation_files
from pmo_assets.pipeline.articles.relevance import SpecialtyError, load_specialty
from pmo_assets.records.packages import SourceError
from pmo_assets.settings import Settings


def path_problem(settings: Settings, option: str) -> str | None:
    """Say why the file or folder that an option names cannot be used; None if it can, or the option names none."""
    check = _CHECKS.get(option)
    value = getattr(settings, option)
    return check(value) if check is not None and value is not None else None


def _file_problem(path: Path) -> str | None:
    path = path.expanduser().absolute()
    if not path.exists():
        return f"there is no file {path}"
    if not path.is_file():
        return f"{path} is not a file"
    return None if os.access(path, os.R_OK) else f"{path} may not be read: change its permissions"


def _specialty_problem(name: str) -> str | None:
    try:
        load_specialty(name)
    except SpecialtyError as error:
        return str(error)
    return None


def _annotations_problem(place: str) -> str | None:
    folder = Path(place).expanduser()
    if folder.is_dir():  # one into which nothing was imported yet may be empty
        return None if os.access(folder, os.R_OK | os.X_OK) else f"{folder.absolute()} may not be read"
    try:
        annotation_files(place)
    except AnnotationsMissing as error:
        return f"{error}; `pmo annotate import` makes the folder"
    return None


def _biomedica_problem(place: str) -> str | None:
    from pmo_assets.sources.biomedica import (  # with all that reads figures: not for every command
        LocalCopy,
        open_biomedica,
    )

    try:
        copy = open_biomedica(place)
    except SourceError as error:
        return str(error).removeprefix("PMO_BIOMEDICA: ")
    if not isinstance(copy, LocalCopy):
        return None  # a dataset on Hugging Face
    path = copy.path.absolute()
    if not path.exists():
        return f"there is neither a file nor a folder {path}"
    return None if os.access(path, os.R_OK) else f"{path} may not be read: change its permissions"


def _data_root_problem(root: str) -> str | None:
    if root.startswith("s3://"):
        return None
    path = Path(root).expanduser().absolute()
    if path.exists() and not path.is_dir():
        return f"{path} is not a folder"
    return None


_CHECKS: Final[Mapping[str, Callable[..., str | None]]] = {
    "data_root": _data_root_problem,
    "specialty": _specialty_problem,
    "biomedica": _biomedica_problem,
    "annotations": _annotations_problem,
    **dict.fromkeys(
        ("detector_weights", "mark_weights", "image_type_weights", "panel_checkpoint", "image_checkpoint"),
        _file_problem,
    ),
}
