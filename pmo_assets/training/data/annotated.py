"""Annotated figures as training data: the annotation guide's JSON with the articles' PDFs, and Label Studio exports."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import parse_qs, unquote

import cv2
import numpy as np
import pymupdf

from pmo_assets.annotation.interfaces import ANNOTATED, IDENTIFIER, PANEL
from pmo_assets.annotation.label_studio import BadRegion, box_of, exported_tasks
from pmo_assets.records.geometry import Box, as_box
from pmo_assets.records.image_types import IMAGE_TYPES
from pmo_assets.records.reviews import ALL_FIELDS, FULL
from pmo_assets.samples.drawing import Pixels
from pmo_assets.system.aside import write_text
from pmo_assets.training.data.coco import LabelledFigure, article_of_name, shards, write_coco
from pmo_assets.training.synthetic.placed_figure import PlacedImage, PlacedPanel, SyntheticFigure

DPI = 150
"""Resolution of rendered figures: a column of 85 mm is then 500 pixels wide, more than any network looks at."""


def annotated_figures(annotations: Path, articles: Path) -> Iterator[tuple[str, int, SyntheticFigure]]:
    """Yield (article id, index of the figure, figure) of every annotated figure whose article has a PDF.

    Args:
        annotations: folder of `<article>.json`, see the annotation guide.
        articles: folder of `<article>/article.pdf`.
    """
    for path in sorted(annotations.glob("*.json")):
        pdf = articles / path.stem / "article.pdf"
        if not pdf.exists():
            continue
        with pymupdf.open(pdf) as document:
            for index, figure in enumerate(json.loads(path.read_text("utf-8"))["figures"]):
                if not _annotated_in_full(figure):
                    continue
                # A figure over several pages is drawn page by page; its boxes refer to the first.
                place = figure["figure_locations"][0]
                clip = pymupdf.Rect(place["bbox"])
                pixmap = document[place["page"]].get_pixmap(dpi=DPI, clip=clip, alpha=False, colorspace=pymupdf.csRGB)
                pixels = np.frombuffer(pixmap.samples, np.uint8).reshape(pixmap.height, pixmap.width, 3).copy()
                yield path.stem, index, figure_of_annotation(pixels, figure["panels"])


def _annotated_in_full(figure: dict[str, Any]) -> bool:
    """Say whether people drew everything in a figure, and not only decided an undecided case of it."""
    review = figure.get("review")
    if not review:
        return True
    decided = review.get("decided", ALL_FIELDS)
    return review.get("purpose", FULL.purpose) == FULL.purpose and {"panels", "images"} <= set(decided)


def figure_of_annotation(pixels: Pixels, panels: list[dict[str, Any]]) -> SyntheticFigure:
    """Return a figure with the boxes of its annotated panels; images without a type (undecided) are left out."""
    return SyntheticFigure(
        pixels,
        tuple(
            PlacedPanel(as_box(p["box"]), p["identifier"], as_box(p["identifier_box"]) if p["identifier_box"] else None)
            for p in panels
        ),
        tuple(
            PlacedImage(as_box(i["box"]), i["type"], i["marked"])
            for p in panels
            for i in p["images"]
            if i["type"] is not None
        ),
    )


def image_crops(figure: SyntheticFigure) -> Iterator[tuple[Pixels, PlacedImage]]:
    """Yield (pixels, image) of every image of a figure that is at least 12 pixels wide and high."""
    tall, wide = figure.pixels.shape[:2]
    for image in figure.images:
        left, top = max(0, int(image.box[0] * wide)), max(0, int(image.box[1] * tall))
        crop = figure.pixels[top : round(image.box[3] * tall), left : round(image.box[2] * wide)]
        if min(crop.shape[:2], default=0) >= 12:
            yield crop, image


def picture_name(url: str) -> str:
    """Return the file name in a Label Studio task's path or URL: the path's own, else that of the query's `d=`.

    Uploads are named like `/data/upload/1/a%20b.png`, files of a local storage `/data/local-files/?d=folder/a%20b.png`.
    """
    path, _, query = url.partition("?")
    local = parse_qs(query).get("d")
    place = local[-1] if local and not PurePosixPath(path).suffix else unquote(path)
    return PurePosixPath(place.replace("\\", "/")).name


def label_studio_figures(export: Path, images: Path) -> Iterator[tuple[str, LabelledFigure]]:
    """Yield (file name, figure) of the tasks of a Label Studio export (JSON).

    Rectangles are labelled Panel, Label (or Identifier) or with an image type; the choice "Annotated" at an image, as
    in `pmo annotate`, a second label "marked" on its rectangle, or
    `"marked": ["yes"]` in its `meta`, says that it is marked. The first Label in a panel goes to it; the others are
    kept as `further_labels`. Of a task with several annotations the last that was not cancelled counts; a task without
    one is passed over, while one whose annotation is empty is a figure without boxes.

    Args:
        export: JSON list of tasks.
        images: folder with the pictures; tasks name them by any path or URL, see `picture_name`.

    Raises:
        FileNotFoundError: for a task whose picture is not in the folder.
        ValueError: for a box that cannot be, as one that is turned.
        ExportUnreadable: for a file that is no export.
    """
    for task in exported_tasks(export.read_bytes()):
        made = [a for a in task.get("annotations") or () if not a.get("was_cancelled")]
        if not made:
            continue
        name = picture_name(str(task["data"].get("image", "")))
        pixels = cv2.imread(str(images / name))
        if pixels is None:
            raise FileNotFoundError(images / name)
        panels: list[Box] = []
        labels: list[Box] = []
        found: list[PlacedImage] = []
        result = made[-1].get("result") or ()
        marked_ids = {
            row["id"] for row in result if row.get("type") == "choices" and row["value"].get("choices") == [ANNOTATED]
        }
        for row in result:
            value = row.get("value", {})
            names = value.get("rectanglelabels", [])
            if row.get("type") != "rectanglelabels" or not names:
                continue
            try:
                box = box_of(value)
            except BadRegion as error:
                raise ValueError(f"{export.name}, {name}: {error}") from error
            if PANEL in names:
                panels.append(box)
            elif "Label" in names or IDENTIFIER in names:
                labels.append(box)
            kind = next((t for t in IMAGE_TYPES if t in names), None)
            if kind is not None:
                said = (row.get("meta") or {}).get("marked") == ["yes"] or row.get("id") in marked_ids
                marked = "marked" in names or said
                found.append(PlacedImage(box, kind, marked))
        placed = []
        for panel in panels:
            inside = [
                b for b in labels
                if panel[0] <= (b[0] + b[2]) / 2 <= panel[2] and panel[1] <= (b[1] + b[3]) / 2 <= panel[3]
            ]  # fmt: skip
            placed.append(PlacedPanel(panel, None, inside[0] if inside else None))
            if inside:
                labels.remove(inside[0])
        further = tuple((box, None) for box in labels)
        rgb = np.asarray(pixels[:, :, ::-1], dtype=np.uint8)
        yield name, LabelledFigure(rgb, tuple(placed), tuple(found), further)


def write_annotated_shards(folder: Path, figures: Iterable[tuple[str, SyntheticFigure]]) -> int:
    """Write annotated figures (article id, figure) as COCO data, a folder per article, and return how many there are.

    What a folder with the file `complete` holds is kept as it is: a run trains on one state of the annotations.
    """
    done = folder / "complete"
    if done.exists():
        return int(done.read_text("utf-8"))
    count = 0
    for number, (article, group) in enumerate(groupby(figures, key=lambda item: item[0])):
        target = folder / f"{number:05d}_{article_of_name(article)}"
        count += write_coco(target, enumerate(figure for _, figure in group), {"article_id": article})
    write_text(done, f"{count}\n")
    return count


def write_annotated_data(
    folder: Path,
    coco: Iterable[Path] = (),
    annotations: Path | None = None,
    articles: Path | None = None,
    label_studio: Path | None = None,
    label_studio_images: Path | None = None,
) -> list[Path]:
    """Write annotated figures of other formats as COCO data, once, and return the folders of all annotated figures.

    Args:
        folder: target, with a sub-folder per source.
        coco: COCO data as it is, each a folder or a folder of shards.
        annotations: folder of annotation files; needs `articles`.
        articles: folder of `<article>/article.pdf`.
        label_studio: export of Label Studio (JSON); needs `label_studio_images`.
        label_studio_images: folder with its pictures.

    Raises:
        ValueError: when one of a pair is missing, or a source has no figure.
        FileNotFoundError: for a COCO folder without data, or a picture that is missing.
    """
    found = list(coco)
    for data in found:
        if not shards(data):
            raise FileNotFoundError(f"no COCO data (annotations.json) in {data}")
    sources: list[tuple[str, Path, Iterable[tuple[str, SyntheticFigure]]]] = []
    if annotations is not None:
        if articles is None:
            raise ValueError("annotations need the folder of their articles, whose PDFs have the figures")
        rendered = ((article, figure) for article, _, figure in annotated_figures(annotations, articles))
        sources.append(("articles", annotations, rendered))
    if label_studio is not None:
        if label_studio_images is None:
            raise ValueError("an export of Label Studio needs the folder of its pictures")
        named = ((article_of_name(n), figure) for n, figure in label_studio_figures(label_studio, label_studio_images))
        sources.append(("label_studio", label_studio, named))
    for name, origin, figures in sources:
        if write_annotated_shards(folder / name, figures) == 0:
            (folder / name / "complete").unlink()
            raise ValueError(f"no annotated figure in {origin}: is the folder of articles or pictures the right one?")
        found.append(folder / name)
    return found
