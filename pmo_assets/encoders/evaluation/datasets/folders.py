"""Folders of one's own: a sub-folder a class, or pictures with a list of texts.

Layout: `<class>/….png`; or `metadata.csv` {file_name, text} or `metadata.jsonl` of the same, as the Hugging Face hub's
`imagefolder` has them, beside the pictures.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

from pmo_assets.encoders.evaluation.datasets.examples import (
    DataMissing,
    DataSet,
    Example,
    csv_rows,
    picture_below,
    read_picture,
)
from pmo_assets.encoders.evaluation.embeddings import EmbeddingsError

SUFFIXES: Final = frozenset({".png", ".jpg", ".jpeg", ".webp", ".tif", ".tiff", ".bmp"})


def picture_files(root: Path) -> list[Path]:
    """Return all pictures below a folder, in order of their names.

    Raises:
        DataMissing: if there is none.
    """
    found = sorted(path for path in root.rglob("*") if path.suffix.lower() in SUFFIXES and path.is_file())
    if not found:
        raise DataMissing(f"there is no picture below {root} ({', '.join(sorted(SUFFIXES))})")
    return found


def read_class_folders(root: Path) -> DataSet:
    """Return the pictures of a folder with a sub-folder for each class.

    Raises:
        DataMissing: if there are no such sub-folders with pictures.
    """
    files = [path for path in picture_files(root) if len(path.relative_to(root).parts) > 1]
    classes = tuple(sorted({path.relative_to(root).parts[0] for path in files}))
    examples = [
        Example(
            name := str(path.relative_to(root)),
            partial(read_picture, path),
            label=classes.index(path.relative_to(root).parts[0]),
            group=name,
        )
        for path in files
    ]
    left_out = () if classes else ("pictures lie in sub-folders that are called like their classes",)
    return DataSet(root.name, tuple(examples), classes, left_out)


def read_captioned_folder(root: Path) -> DataSet:
    """Return the pictures that a list gives texts; several rows of one picture are several texts.

    Raises:
        DataMissing: if there is no list.
        EmbeddingsError: if it is damaged.
    """
    texts: dict[str, dict[str, None]] = {}
    for name, text in _listed(root):
        if text.strip():
            texts.setdefault(name, {})[" ".join(text.split())] = None
    examples, missing = [], 0
    for name, own in texts.items():
        path = picture_below(root, name)
        if path is None:
            missing += 1
        else:
            examples.append(Example(name, partial(read_picture, path), tuple(own), group=name))
    left_out = (f"{missing:,} without a picture",) if missing else ()
    return DataSet(root.name, tuple(examples), left_out=left_out)


def _listed(root: Path) -> Iterator[tuple[str, str]]:
    if (root / "metadata.csv").is_file():
        for row in csv_rows(root / "metadata.csv", ("file_name", "text")):
            yield row["file_name"], row["text"]
    elif (root / "metadata.jsonl").is_file():
        with (root / "metadata.jsonl").open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                try:
                    read = json.loads(line)
                    yield str(read["file_name"]), str(read["text"])
                except (ValueError, KeyError, TypeError) as error:
                    place = f"line {number} of {root / 'metadata.jsonl'}"
                    raise EmbeddingsError(f"{place} has no file_name and text: {error}") from error
    else:
        raise DataMissing(f"there is no metadata.csv or metadata.jsonl {{file_name, text}} in {root}")
