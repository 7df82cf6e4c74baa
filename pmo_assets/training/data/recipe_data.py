"""Figures of a recipe on disk: shards made side by side, then whole parts in the formats that other tools read.

A part's folder has its shards and one `annotations.json` for all of them (COCO, as pycocotools and torchvision read
it), and in every shard `labels/` beside `images/` (YOLO, as Ultralytics reads it by `data.yaml` in the data root).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache, partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import cv2

from pmo_assets.records.modalities import Modality
from pmo_assets.system.aside import text_aside, write_text
from pmo_assets.training.data.coco import CATEGORIES
from pmo_assets.training.data.training_data import shards_for, write_shard
from pmo_assets.training.data.typed_pictures import pictures_by_modality
from pmo_assets.training.synthetic.compound_figures import PanelBoxes, Pictures, SourcePicture, compound_figure
from pmo_assets.training.synthetic.compound_recipes import FIGURE_RECIPES, PictureSource
from pmo_assets.training.synthetic.layouts import SPLITS, Split, split_of
from pmo_assets.training.synthetic.pools import licensed_pictures

SOURCE_OF_MODALITY: dict[Modality, PictureSource] = {
    "radiograph": "radiology", "CT or MR": "radiology", "ultrasound": "radiology",
    "histology": "histopathology", "microscopy": "histopathology", "skin": "dermatology", "plot": "plots",
}  # fmt: skip
"""Sources of modalities that are not of the retina."""


def recipe_pictures(
    images: Path | None, modalities: Path | None, split: Split
) -> dict[PictureSource, list[SourcePicture]]:
    """Return the pictures of one part of the data by source.

    Args:
        images: folder of retinal images, see `pools.licensed_pictures`; their type Other is not taken.
        modalities: folder of pictures by modality, see `typed_pictures.pictures_by_modality`; those of the retina are
            taken from `images` alone. A picture's part follows from its source and name.
        split: part of the data.

    Raises:
        ValueError: when a folder has no picture where one is looked for.
    """
    found: dict[PictureSource, list[SourcePicture]] = {}
    for picture in licensed_pictures(images) if images is not None else ():
        if picture.image_type != "Other" and (picture.part or split_of(picture.group)) == split:
            found.setdefault("retina", []).append(SourcePicture(picture.pixels, picture.image_type))
    for typed in pictures_by_modality(modalities) if modalities is not None else ():
        source = SOURCE_OF_MODALITY.get(typed.modalities[0])
        if source is not None and split_of(f"{typed.source}/{typed.name}") == split:
            found.setdefault(source, []).append(SourcePicture(typed.pixels))
    return found


@lru_cache(maxsize=1)
def _pictures(images: Path | None, modalities: Path | None, split: Split) -> Pictures:
    return recipe_pictures(images, modalities, split)


def _made(
    shard: int, *, folder: Path, split: Split, count: int, recipe: str, boxes: PanelBoxes, images: Path | None,
    modalities: Path | None,
) -> Path:  # fmt: skip
    """Write a shard; every process reads the pictures once."""
    cv2.setNumThreads(1)
    pictures = _pictures(images, modalities, split)
    figure = partial(compound_figure, recipe=FIGURE_RECIPES[recipe], pictures=pictures, boxes=boxes)
    return write_shard(folder, split, count, shard, figure, {"split": split, "recipe": recipe, "boxes": boxes})


def write_recipe(
    folder: Path,
    split: Split,
    count: int,
    recipe: str,
    *,
    boxes: PanelBoxes = "tile",
    images: Path | None = None,
    modalities: Path | None = None,
    workers: int = 1,
) -> Iterator[Path]:
    """Write the missing shards of one part, yielding each one's folder, and then the whole part's files.

    Args:
        folder: data root.
        split: part of the data.
        count: number of figures; where a shard holds more already, it stays as it is.
        recipe: name, see `FIGURE_RECIPES`.
        boxes: see `PanelBoxes`.
        images: see `recipe_pictures`.
        modalities: see there.
        workers: processes that make shards side by side; what they make does not depend on their number.

    Raises:
        ValueError: when a shard holds other figures, or a folder no picture.
    """
    whole = folder / split / "annotations.json"
    whole.unlink(missing_ok=True)  # it stands for all shards: those of before
    made = partial(
        _made, folder=folder, split=split, count=count, recipe=recipe, boxes=boxes, images=images,
        modalities=modalities,
    )  # fmt: skip
    numbers = range(shards_for(count))
    parts: list[Path] = []
    if workers <= 1:
        for part in map(made, numbers):
            parts.append(part)
            yield part
    else:
        # Spawned, not forked: OpenCV's threads do not survive a fork.
        with ProcessPoolExecutor(min(workers, len(numbers)) or 1, get_context("spawn")) as pool:
            for part in pool.map(made, numbers):
                parts.append(part)
                yield part
    for part in parts:
        write_yolo_labels(part)
    write_whole_coco(whole, parts)
    write_text(folder / "data.yaml", yolo_description(folder))


def write_whole_coco(target: Path, parts: Sequence[Path]) -> None:
    """Write one COCO file of several data sets below its folder; annotations are numbered anew.

    It is written as it is read, a data set at a time: half a million figures have a file of a gigabyte.
    """
    first = _table(parts[0]) if parts else {"info": {}, "categories": []}
    with text_aside(target) as out:
        out.write(json.dumps({"info": first["info"], "categories": first["categories"]})[:-1])
        for key in ("images", "annotations"):
            out.write(f', "{key}": [')
            number = 0
            for part in parts:
                place = part.relative_to(target.parent)
                for row in _table(part)[key]:
                    row |= (
                        {"file_name": f"{place.as_posix()}/{row['file_name']}"}
                        if key == "images"
                        else {"id": number + 1}
                    )
                    out.write(("," if number else "") + "\n" + json.dumps(row, separators=(",", ":")))
                    number += 1
            out.write("]")
        out.write("}\n")


def _table(part: Path) -> dict[str, Any]:
    table: dict[str, Any] = json.loads((part / "annotations.json").read_text("utf-8"))
    return table


def write_yolo_labels(part: Path) -> None:
    """Write `labels/NAME.txt` for every picture of a data set: a line "0 x y width height" per panel, shares 0..1.

    x and y are those of the box's middle. Panels are the only class, as in the paper.
    """
    data = _table(part)
    panel = 1 + CATEGORIES.index("Panel")
    lines: dict[int, list[str]] = {image["id"]: [] for image in data["images"]}
    sizes = {image["id"]: (image["width"], image["height"]) for image in data["images"]}
    for row in data["annotations"]:
        if row["category_id"] == panel:
            (x, y, w, h), (wide, tall) = row["bbox"], sizes[row["image_id"]]
            shares = ((x + w / 2) / wide, (y + h / 2) / tall, w / wide, h / tall)
            lines[row["image_id"]].append(f"0 {' '.join(f'{share:.6f}' for share in shares)}\n")
    for image in data["images"]:
        name = Path(image["file_name"]).with_suffix(".txt").name
        target = part / "labels" / name
        target.parent.mkdir(exist_ok=True)
        target.write_text("".join(lines[image["id"]]), encoding="utf-8")


def yolo_description(folder: Path) -> str:
    """Return Ultralytics' `data.yaml` for the parts that a data root has; their folders are searched for pictures."""
    keys = {"train": "train", "validation": "val", "test": "test"}
    there = [f"{keys[split]}: {split}\n" for split in SPLITS if (folder / split).is_dir()]
    return f"path: {json.dumps(str(folder.resolve()))}\n{''.join(there)}names:\n  0: Panel\n"
