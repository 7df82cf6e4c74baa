"""MedMNIST v2 and MedMNIST+ (Yang et al. 2023): RetinaMNIST, OCTMNIST and their like, in 28 to 224 pixels.

Layout: `retinamnist.npz`, or with a size `retinamnist_224.npz`, holding `{train,val,test}_images` (n, side, side[, 3])
uint8 and `{train,val,test}_labels` (n, 1).
"""

from __future__ import annotations

import zipfile
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pmo_assets.encoders.evaluation.datasets.examples import DataMissing, DataSet, Example, Pixels
from pmo_assets.encoders.evaluation.embeddings import EmbeddingsError
from pmo_assets.encoders.evaluation.labels import label_set, shipped_label_sets

WHERE: Final = "it is to be had at https://zenodo.org/records/10519652 (all sizes), or by the package medmnist"

SIZES: Final = (28, 64, 128, 224)


def read_medmnist(root: Path, name: str = "retinamnist", split: str = "test", size: int = 28) -> DataSet:
    """Return pictures with their labels; each picture is a group of its own.

    Args:
        root: folder of the `.npz` files.
        name: of the data set, e.g. retinamnist, octmnist.
        split: train, val or test.
        size: pixels of a side: 28, or one of MedMNIST+.

    Raises:
        DataMissing: if it is not there; says where it is to be had.
        EmbeddingsError: if the file is damaged, or of another layout, or there is no such size.
    """
    if size not in SIZES:
        raise EmbeddingsError(f"MedMNIST has pictures of {', '.join(map(str, SIZES))} pixels, not {size}")
    path = root / (f"{name}.npz" if size == 28 else f"{name}_{size}.npz")
    if not path.is_file():
        raise DataMissing(f"{path.name} is not in {root}: {WHERE}")
    images, labels = _part(path, split)
    if images.dtype != np.uint8 or images.ndim not in (3, 4) or images.shape[1:3] != (size, size):
        raise EmbeddingsError(f"{path} has pictures {images.shape} of {images.dtype}, not (n, {size}, {size}) of uint8")
    if len(images) != len(labels) or labels.size != len(labels) or labels.dtype.kind not in "iu":
        raise EmbeddingsError(f"{path} has labels {labels.shape} of {labels.dtype}: one number a picture is read")
    numbers = labels.reshape(-1).astype(int)
    classes = label_set(name).names if name in shipped_label_sets() else tuple(map(str, range(numbers.max() + 1)))
    if numbers.min() < 0 or numbers.max() >= len(classes):
        raise EmbeddingsError(f"{path} has the label {numbers.max()}, but classes {', '.join(classes)}")
    examples = tuple(
        Example(f"{split}-{row}", partial(_coloured, images, row), label=int(label), group=f"{split}-{row}")
        for row, label in enumerate(numbers)
    )
    return DataSet(f"{name}{'' if size == 28 else f'_{size}'} {split}", examples, classes)


def _part(path: Path, split: str) -> tuple[NDArray[Any], NDArray[Any]]:
    try:
        with np.load(path, allow_pickle=False) as archive:
            return archive[f"{split}_images"], archive[f"{split}_labels"]
    except KeyError as error:
        raise EmbeddingsError(f"{path} has no {split}_images and {split}_labels") from error
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        raise EmbeddingsError(f"{path} is no whole .npz file of plain arrays: {error}") from error


def _coloured(images: NDArray[Any], row: int) -> Pixels:
    picture = images[row]
    return np.ascontiguousarray(np.stack([picture] * 3, axis=-1) if picture.ndim == 2 else picture)
