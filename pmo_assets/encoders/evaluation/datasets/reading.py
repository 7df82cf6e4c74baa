"""Data sets by name, and their examples as files that any encoder can embed row by row."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pmo_assets.encoders.evaluation.datasets.deepeyenet import read_deepeyenet
from pmo_assets.encoders.evaluation.datasets.examples import DataSet
from pmo_assets.encoders.evaluation.datasets.folders import read_captioned_folder, read_class_folders
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
