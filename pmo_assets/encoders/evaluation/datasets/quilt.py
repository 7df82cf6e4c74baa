"""Quilt-1M: histopathology with captions from videos, articles and posts (Ikezogwo et al. 2023).

Layout: `quilt_1M_lookup.csv` {caption, image_path, subset, split, …}, pictures in `quilt_1m`, `images` or beside it.
"""

from __future__ import annotations

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

WHERE: Final = "it is to be had at https://quilt1m.github.io after a form for researchers"

_FOLDERS: Final = ("quilt_1m", "images", ".")


def read_quilt(root: Path, split: str = "val") -> DataSet:
    """Return pictures with all their captions, in the order of their first.

    Args:
        root: folder of the data set.
        split: train or val.

    Raises:
        DataMissing: if it is not there; says where it is to be had.
    """
    lookup = root / "quilt_1M_lookup.csv"
    if not lookup.is_file():
        raise DataMissing(f"Quilt-1M is not in {root} (quilt_1M_lookup.csv, quilt_1m/…): {WHERE}")
    captions: dict[str, dict[str, None]] = {}
    for row in csv_rows(lookup, ("caption", "image_path", "split")):
        text = " ".join(row["caption"].split())
        if row["split"] == split and text:
            captions.setdefault(row["image_path"], {})[text] = None
    examples, missing = [], 0
    for name, texts in captions.items():
        found = next((path for folder in _FOLDERS if (path := picture_below(root / folder, name))), None)
        if found is None:
            missing += 1
        else:
            examples.append(Example(name, partial(read_picture, found), tuple(texts), group=name))
    left_out = (f"{missing:,} without a picture",) if missing else ()
    return DataSet(f"Quilt-1M {split}", tuple(examples), left_out=left_out)
