"""Data sets by name, and their examples as files that any encoder can embed row by row."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pmo_assets.encoders.evaluation.datasets.deepeyenet import read_deepeyenet
from pmo_assets.encoders.evaluation.datasets.examples import DataMissing, DataSet, picture_below
from pmo_assets.encoders.evaluation.datasets.folders import picture_files, read_captioned_folder, read_class_folders
from pmo_assets.encoders.evaluation.datasets.medmnist import read_medmnist
from pmo_assets.encoders.evaluation.datasets.mimic_cxr import read_mimic_cxr
from pmo_assets.encoders.evaluation.datasets.quilt import read_quilt
from pmo_assets.encoders.evaluation.embeddings import EmbeddingsError
from pmo_assets.pictures import png_bytes
from pmo_assets.system.aside import folder_aside

Reader = Callable[[Path, str, int], DataSet]

READERS: Final[Mapping[str, Reader]] = MappingProxyType(
    {
        "mimic-cxr": lambda root, split, _: read_mimic_cxr(root, split),
        "quilt": lambda root, split, _: read_quilt(root, split),
        "deepeyenet": lambda root, split, _: read_deepeyenet(root, split),
        "retinamnist": lambda root, split, size: read_medmnist(root, "retinamnist", split, size),
        "octmnist": lambda root, split, size: read_medmnist(root, "octmnist", split, size),
        "class-folders": lambda root, *_: read_class_folders(root),
        "captioned-folder": lambda root, *_: read_captioned_folder(root),
    }
)
"""Readers by name: folder, part, pixels of a side (MedMNIST)."""


def read_data_set(name: str, root: Path, split: str = "test", size: int = 28) -> DataSet:
    """Return a part of a data set.

    Raises:
        DataMissing: if it is not there; says where it is to be had.
        EmbeddingsError: if there is no reader of that name, or the data set is damaged.
    """
    if name not in READERS:
        raise EmbeddingsError(f"there is no data set {name!r}: {', '.join(READERS)}")
    return READERS[name](root, split, size)


@dataclass(frozen=True)
class RowsToEmbed:
    """Pictures and texts that an encoder is to embed, in their order; where there are both, row i of both is a pair."""

    pictures: tuple[Path, ...] = ()
    texts: tuple[str, ...] = ()


def rows_to_embed(place: Path) -> RowsToEmbed:
    """Return what a place holds to be embedded.

    Args:
        place: a folder of pictures, in order of their names; `rows.jsonl` of `write_examples`; else a text file with a
            text in each line (empty lines are texts, too: rows keep their numbers).

    Raises:
        DataMissing: if it is not there, or holds nothing.
        EmbeddingsError: if it cannot be read.
    """
    if place.is_dir():
        return RowsToEmbed(tuple(picture_files(place)))
    if not place.is_file():
        raise DataMissing(f"there is no folder and no file {place}")
    try:
        lines = place.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise EmbeddingsError(f"{place} is no text in UTF-8: {error}") from error
    if not lines:
        raise DataMissing(f"{place} is empty")
    if place.suffix != ".jsonl":
        return RowsToEmbed(texts=tuple(lines))
    try:
        rows = [json.loads(line) for line in lines]
        pictures = tuple(_listed(place.parent, row["picture"]) for row in rows)
        texts = tuple(str(row["text"]) for row in rows if row["text"] is not None)
    except (json.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
        raise EmbeddingsError(f"{place} is no rows.jsonl of `pmo encode examples`: {error!r}") from error
    if texts and len(texts) != len(pictures):
        raise EmbeddingsError(f"{place}: some rows have a text and others have none")
    return RowsToEmbed(pictures, texts)


def _listed(folder: Path, name: str) -> Path:
    found = picture_below(folder, name)
    if found is None:
        raise EmbeddingsError(f"{name} is not below {folder}")
    return found


def write_examples(data: DataSet, out: Path) -> int:
    """Write the rows that an encoder embeds, whole or not at all, and return how many there are.

    A row is a picture with one of its texts, or with its class: `rows.jsonl` {picture, text, class, id} and pictures;
    for `pmo encode`: `groups.npy` (rows that are right answers to each other), `labels.npy` (numbers of classes).

    Raises:
        EmbeddingsError: if a picture cannot be read.
    """
    rows: list[dict[str, str | None]] = []
    groups: list[str] = []
    labels: list[int] = []
    with folder_aside(out) as folder:
        (folder / "pictures").mkdir()
        for number, example in enumerate(data.examples):
            name = f"pictures/{number:07}.png"
            (folder / name).write_bytes(png_bytes(example.pixels()))
            label = None if example.label is None else data.classes[example.label]
            for text in example.texts or (None,):
                rows.append({"picture": name, "text": text, "class": label, "id": example.id})
                groups.append(example.group)
                if example.label is not None:
                    labels.append(example.label)
        lines = (json.dumps(row, ensure_ascii=False) for row in rows)
        (folder / "rows.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        (folder / "groups.npy").write_bytes(_npy(np.array(groups)))
        if labels:
            (folder / "labels.npy").write_bytes(_npy(np.array(labels)))
    return len(rows)


def _npy(values: NDArray[Any]) -> bytes:
    stream = io.BytesIO()
    np.save(stream, values, allow_pickle=False)
    return stream.getvalue()
