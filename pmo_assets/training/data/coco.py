"""Detection data in COCO format: a folder with `annotations.json` and `images/`, one folder per part or shard.

Categories are Panel, Label (a printed identifier) and the four image types. Beyond COCO's own keys an annotation has
`marked` (images: true, false or null) and `identifier` (labels: what is printed). `article_id`, of an image or, in
`info`, of all of them, says which article a figure is from.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from pmo_assets.records.geometry import Box
from pmo_assets.records.image_types import IMAGE_TYPES
from pmo_assets.system.aside import write_text
from pmo_assets.training.synthetic.layouts import Split, split_of
from pmo_assets.training.synthetic.placed_figure import PlacedImage, PlacedPanel, SyntheticFigure

CATEGORIES = ("Panel", "Label", *IMAGE_TYPES)
"""Category names; COCO ids are their places counted from 1."""

JPEG_QUALITY = 93
"""High enough to add no visible artefact to those the figures already have."""


@dataclass(frozen=True, slots=True, eq=False)
class LabelledFigure(SyntheticFigure):
    """A figure with further identifiers: those outside every panel, and all but the first of a panel.

    `further_labels` are (normalised box, what is printed or None).
    """

    further_labels: tuple[tuple[Box, str | None], ...] = ()


def boxes_of(figure: SyntheticFigure) -> list[tuple[tuple[float, float, float, float], int, dict[str, Any]]]:
    """Return (normalised box, index into `CATEGORIES`, further keys) of everything in a figure."""
    rows: list[tuple[tuple[float, float, float, float], int, dict[str, Any]]] = []
    for panel in figure.panels:
        rows.append((panel.box, 0, {}))
        if panel.identifier_box is not None:
            rows.append((panel.identifier_box, 1, {"identifier": panel.identifier}))
    rows += [(i.box, CATEGORIES.index(i.image_type), {"marked": i.marked}) for i in figure.images]
    if isinstance(figure, LabelledFigure):
        rows += [(box, 1, {"identifier": identifier}) for box, identifier in figure.further_labels]
    return rows


def write_coco(folder: Path, figures: Iterable[tuple[int, SyntheticFigure]], info: dict[str, Any] | None = None) -> int:
    """Write figures (id, figure) as a COCO data set and return their number.

    `annotations.json` is written last and under a temporary name first: a folder with it is complete.
    """
    (folder / "images").mkdir(parents=True, exist_ok=True)
    images: list[dict[str, Any]] = []
    annotations: list[dict[str, Any]] = []
    for number, figure in figures:
        tall, wide = figure.pixels.shape[:2]
        name = f"{number:08d}.jpg"
        quality = [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY]
        if not cv2.imwrite(str(folder / "images" / name), figure.pixels[:, :, ::-1], quality):
            raise OSError(f"cannot write {folder / 'images' / name}")
        images.append({"id": number, "file_name": f"images/{name}", "width": wide, "height": tall})
        for box, category, extra in boxes_of(figure):
            x, y = round(box[0] * wide, 2), round(box[1] * tall, 2)
            w, h = round((box[2] - box[0]) * wide, 2), round((box[3] - box[1]) * tall, 2)
            annotations.append(
                {"id": len(annotations) + 1, "image_id": number, "category_id": category + 1, "bbox": [x, y, w, h],
                 "area": round(w * h, 2), "iscrowd": 0} | extra
            )  # fmt: skip
    categories = [{"id": k + 1, "name": name} for k, name in enumerate(CATEGORIES)]
    data = {"info": info or {}, "images": images, "annotations": annotations, "categories": categories}
    write_text(folder / "annotations.json", json.dumps(data, separators=(",", ":")))
    return len(images)


def article_of_name(name: str) -> str:
    """Return the article a picture's file name speaks of: its PMC id, or else the name without its ending."""
    stem = Path(name).stem
    found = re.search(r"PMC\d+", stem)
    return found[0] if found else stem


def article_of_image(image: Mapping[str, Any], data: Mapping[str, Any]) -> str:
    """Return the article of an image of a data set: its own, the data set's, or the one its file name speaks of."""
    return str(image.get("article_id") or data.get("info", {}).get("article_id") or article_of_name(image["file_name"]))


def figure_count(folder: Path) -> int:
    """Return how many figures the data sets in a folder have."""
    return sum(len(json.loads((part / "annotations.json").read_text("utf-8"))["images"]) for part in shards(folder))


def articles_of(folder: Path) -> set[str]:
    """Return the articles that the images of a data set belong to."""
    data = json.loads((folder / "annotations.json").read_text("utf-8"))
    return {article_of_image(image, data) for image in data["images"]}


def read_coco(folder: Path, split: Split | None = None) -> Iterator[tuple[Path, tuple[int, int], list[dict[str, Any]]]]:
    """Yield (picture file, (width, height), annotations with `category` as index into `CATEGORIES`) of a data set.

    Args:
        folder: with `annotations.json`.
        split: only figures of articles that belong to this part of the data, see `article_of_name` and
            `layouts.split_of`; None for all.

    Raises:
        FileNotFoundError: when the folder has no `annotations.json`.
        ValueError: for a category that is not one of `CATEGORIES`.
    """
    data = json.loads((folder / "annotations.json").read_text("utf-8"))
    unknown = sorted({row["name"] for row in data["categories"]} - set(CATEGORIES))
    if unknown:
        raise ValueError(f"unknown categories {unknown} in {folder}: there are {list(CATEGORIES)}")
    index = {row["id"]: CATEGORIES.index(row["name"]) for row in data["categories"]}
    of_image: dict[int, list[dict[str, Any]]] = {}
    for row in data["annotations"]:
        of_image.setdefault(row["image_id"], []).append(row | {"category": index[row["category_id"]]})
    for image in data["images"]:
        if split is not None and split_of(article_of_image(image, data)) != split:
            continue
        yield folder / image["file_name"], (image["width"], image["height"]), of_image.get(image["id"], [])


def figure_of_coco(path: Path, size: tuple[int, int], rows: list[dict[str, Any]]) -> LabelledFigure:
    """Return a figure of a data set with its boxes; the first identifier in a panel goes to it."""
    pixels = cv2.imread(str(path))
    if pixels is None:
        raise FileNotFoundError(path)
    wide, tall = size
    panels: list[PlacedPanel] = []
    images: list[PlacedImage] = []
    boxes = [
        (
            row["category"],
            (row["bbox"][0] / wide, row["bbox"][1] / tall, (row["bbox"][0] + row["bbox"][2]) / wide,
             (row["bbox"][1] + row["bbox"][3]) / tall),
            row,
        )
        for row in rows
    ]  # fmt: skip
    labels = [(box, row) for category, box, row in boxes if category == 1]
    placed: list[Box] = []
    for category, box, row in boxes:
        if category == 0:
            inside = [
                (b, r) for b, r in labels
                if box[0] <= (b[0] + b[2]) / 2 <= box[2] and box[1] <= (b[1] + b[3]) / 2 <= box[3]
            ]  # fmt: skip
            name, label = (inside[0][1].get("identifier"), inside[0][0]) if inside else (None, None)
            placed += [label] if label is not None else []
            panels.append(PlacedPanel(box, name, label))
        elif category >= 2:
            images.append(PlacedImage(box, CATEGORIES[category], row.get("marked")))
    further = tuple((box, row.get("identifier")) for box, row in labels if box not in placed)
    return LabelledFigure(np.asarray(pixels[:, :, ::-1], dtype=np.uint8), tuple(panels), tuple(images), further)


def shards(folder: Path) -> list[Path]:
    """Return the complete data sets in a folder, in order of their names; the folder itself when it is one."""
    if (folder / "annotations.json").exists():
        return [folder]
    return sorted(path.parent for path in folder.glob("*/annotations.json"))
