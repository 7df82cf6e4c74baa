"""A release's boxes as files that detection tools read: COCO, and FiftyOne's image detection datasets.

A figure is a picture; its panels, the identifiers printed in them and the images inside are boxes on it, each with the
panel that it belongs to. Formats: https://cocodataset.org/#format-data, and FiftyOneImageDetectionDataset of
https://docs.voxel51.com (user guide, "Loading datasets from disk").

Add here: forms of a figure. Keep out: the boxes themselves (`pipeline.detection`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, get_args

import pyarrow as pa
import pyarrow.parquet as pq

from pmo_assets.records.image_types import IMAGE_TYPES
from pmo_assets.records.stores import StorageError
from pmo_assets.release.hub.exports import shards_to_export
from pmo_assets.release.hub.webdataset import picture_extension
from pmo_assets.system.aside import folder_aside

DetectionForm = Literal["coco", "fiftyone"]
"""Form of the files: one COCO file a split beside a folder of pictures; a FiftyOne dataset a split."""

DETECTION_FORMS: Final[tuple[DetectionForm, ...]] = get_args(DetectionForm)

PANEL: Final = "panel"
IDENTIFIER: Final = "identifier"
UNDECIDED_TYPE: Final = "undecided"
"""Class of an image whose type nobody could decide."""

CLASSES: Final[Mapping[str, str]] = {
    PANEL: "figure",
    IDENTIFIER: PANEL,
    **dict.fromkeys((*IMAGE_TYPES, UNDECIDED_TYPE), "image"),
}
"""Classes of boxes in the order of their numbers, from 1, and the class above (COCO's supercategory)."""

_FIGURE: Final = (
    "article_id", "image_cluster_id", "figure_label", "picture_width", "picture_height", "figure_image", "caption",
    "license", "license_url", "attribution", "article_url",
)  # fmt: skip
_PANEL: Final = (
    "article_id", "image_cluster_id", "panel_id", "panel_name", "panel_box", "panel_score", "content_box", "images",
    "identifiers", "subcaption_text", "assembly_confidence",
)  # fmt: skip


@dataclass(frozen=True)
class Found:
    """A box on a figure's picture.

    Attributes:
        label: one of `CLASSES`.
        box: normalised [l, t, r, b] in the figure.
        score: of its detection.
        panel_id: of the panel that it is, or belongs to.
        facts: more of it, plain values by name.
    """

    label: str
    box: tuple[float, float, float, float]
    score: float | None
    panel_id: str
    facts: Mapping[str, Any]


@dataclass
class WrittenDetections:
    """What was written of a split: its name, figures, boxes by class, figures without a picture, and the file."""

    split: str
    path: Path
    figures: int = 0
    withheld: int = 0
    boxes: dict[str, int] = field(default_factory=lambda: dict.fromkeys(CLASSES, 0))


def _inside(box: Sequence[float]) -> tuple[float, float, float, float]:
    left, top, right, bottom = (min(1.0, max(0.0, value)) for value in box)
    return left, top, right, bottom


def boxes_of(panels: Sequence[Mapping[str, Any]]) -> list[Found]:
    """Return the boxes of a figure: each panel, then what is in it. Boxes without an area are left out.

    Args:
        panels: rows of the hub's table `panels`, of one figure.
    """
    found = []
    for row in panels:
        panel = row["panel_id"]
        told = {
            "name": row["panel_name"],
            "subcaption": row["subcaption_text"],
            "subcaption_confidence": row["assembly_confidence"],
            "content_box": [round(value, 6) for value in row["content_box"]],
        }
        found.append(Found(PANEL, _inside(row["panel_box"]), row["panel_score"], panel, told))
        for item in row["identifiers"]:
            facts = {"text": item["text"], "is_gt": item["is_gt"]}
            found.append(Found(IDENTIFIER, _inside(item["box"]), item["score"], panel, facts))
        for item in row["images"]:
            facts = {
                "type_score": item["type_score"],
                "modality": item["modality"],
                "marked": item["marked"],
                "is_gt": item["is_gt"],
            }
            label = item["image_type"] or UNDECIDED_TYPE
            found.append(Found(label, _inside(item["box"]), item["score"], panel, facts))
    return [one for one in found if one.box[2] > one.box[0] and one.box[3] > one.box[1]]


class _Coco:
    """One COCO file: figures are its images, numbered from 1; `panel` of an annotation is its panel's annotation."""

    def __init__(self, folder: Path, version: str | None) -> None:
        self._version = version
        self._images: list[dict[str, Any]] = []
        self._annotations: list[dict[str, Any]] = []
        self._licences: dict[tuple[str | None, str | None], int] = {}
        self.pictures = folder / "images"
        self.path = folder / "annotations.json"

    def add(self, figure: Mapping[str, Any], name: str, found: Sequence[Found]) -> None:
        width, height = figure["picture_width"], figure["picture_height"]
        licence = figure["license"], figure["license_url"]
        number = len(self._images) + 1
        self._images.append(
            {
                "id": number,
                "file_name": name,
                "width": width,
                "height": height,
                "license": self._licences.setdefault(licence, len(self._licences) + 1),
                **{key: figure[key] for key in ("article_id", "image_cluster_id", "figure_label", "caption")},
                **{key: figure[key] for key in ("attribution", "article_url")},
            }
        )
        panels: dict[str, int] = {}
        for one in found:
            left, top, right, bottom = one.box
            sides = [(right - left) * width, (bottom - top) * height]
            own = len(self._annotations) + 1
            if one.label == PANEL:
                panels[one.panel_id] = own
            self._annotations.append(
                {
                    "id": own,
                    "image_id": number,
                    "category_id": list(CLASSES).index(one.label) + 1,
                    "bbox": [round(value, 2) for value in (left * width, top * height, *sides)],
                    "area": round(sides[0] * sides[1], 2),
                    "segmentation": [],
                    "iscrowd": 0,
                    "score": one.score,
                    "panel_id": one.panel_id,
                    **({} if one.label == PANEL else {"panel": panels.get(one.panel_id)}),
                    **one.facts,
                }
            )

    def content(self) -> dict[str, Any]:
        return {
            "info": {"description": "Figures, panels and images of a release", "version": self._version},
            "licenses": [
                {"id": number, "name": name or "none stated", "url": url or ""}
                for (name, url), number in self._licences.items()
            ],
            "categories": [
                {"id": number, "name": name, "supercategory": above}
                for number, (name, above) in enumerate(CLASSES.items(), start=1)
            ],
            "images": self._images,
            "annotations": self._annotations,
        }


class _FiftyOne:
    """A dataset of FiftyOne: boxes as [left, top, width, height] of the picture, facts as attributes."""

    def __init__(self, folder: Path, version: str | None) -> None:
        self._labels: dict[str, list[dict[str, Any]]] = {}
        self.pictures = folder / "data"
        self.path = folder / "labels.json"

    def add(self, figure: Mapping[str, Any], name: str, found: Sequence[Found]) -> None:
        self._labels[Path(name).stem] = [
            {
                "label": one.label,
                "bounding_box": [
                    round(value, 6)
                    for value in (one.box[0], one.box[1], one.box[2] - one.box[0], one.box[3] - one.box[1])
                ],
                **({} if one.score is None else {"confidence": one.score}),
                "attributes": {
                    "panel_id": one.panel_id,
                    **{key: value for key, value in one.facts.items() if value is not None},
                    "license": figure["license"],
                    "attribution": figure["attribution"],
                },
            }
            for one in found
        ]

    def content(self) -> dict[str, Any]:
        return {"classes": list(CLASSES), "labels": self._labels}


_WRITERS: Final[Mapping[DetectionForm, type[_Coco] | type[_FiftyOne]]] = {"coco": _Coco, "fiftyone": _FiftyOne}


def write_detections(
    folder: Path,
    target: Path,
    *,
    form: DetectionForm = "coco",
    splits: Sequence[str] = (),
    tell: Callable[[str, int, int], object] = lambda *_: None,
) -> list[WrittenDetections]:
    """Write a release's figures with their boxes, a folder a split: whole or not at all; the same gives the same bytes.

    Figures whose licence withholds the picture are left out.

    Args:
        folder: of the release, with `data/figures` and `data/panels`.
        target: a folder that is not there yet.
        form: of the files.
        splits: which; none for all.
        tell: is told of the progress: split, figures done, figures altogether.

    Raises:
        StorageError: if there is no such split or form, no figures have pictures, the target is there already, or a
            file cannot be read or written.
    """
    wanted = shards_to_export(folder, "figures", splits, target, form, DETECTION_FORMS)
    try:
        with folder_aside(target) as partial:
            written = [_write_split(folder, partial / split, target / split, split, form, tell) for split in wanted]
            if not any(item.figures for item in written):
                raise StorageError(
                    f"no figure of {folder} has a picture: their licences withhold them, or the release was made "
                    "without (PMO_RELEASE_FIGURE_PICTURES)"
                )
            return written
    except (OSError, pa.ArrowException) as error:
        raise StorageError(f"{target} cannot be written from {folder}: {error}") from error


def _write_split(
    folder: Path, partial: Path, target: Path, split: str, form: DetectionForm, tell: Callable[[str, int, int], object]
) -> WrittenDetections:
    panels: dict[tuple[int, str], list[dict[str, Any]]] = {}
    for row in _read(folder, "panels", split, _PANEL):
        panels.setdefault((row["article_id"], row["image_cluster_id"]), []).append(row)
    writer = _WRITERS[form](partial, _version(folder))
    written = WrittenDetections(split, target / writer.path.name)
    writer.pictures.mkdir(parents=True)
    total = sum(pq.read_metadata(path).num_rows for path in _shards(folder, "figures", split))
    for done, figure in enumerate(_read(folder, "figures", split, _FIGURE), start=1):
        tell(split, done, total)
        key = figure["article_id"], figure["image_cluster_id"]
        if figure["figure_image"] is None:
            written.withheld += 1
            continue
        content = figure["figure_image"]["bytes"]
        name = f"{_file_name(f'{key[0]}_{key[1]}')}.{picture_extension(content, key[1])}"
        (writer.pictures / name).write_bytes(content)
        found = boxes_of(panels.get(key, []))
        writer.add(figure, name, found)
        written.figures += 1
        for one in found:
            written.boxes[one.label] += 1
    text = json.dumps(writer.content(), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    writer.path.write_text(text + "\n", encoding="utf-8")
    return written


def _file_name(key: str) -> str:
    """Return a figure's name for a file; letters that file systems or tools take otherwise are written as numbers."""
    return "".join(sign if sign.isascii() and (sign.isalnum() or sign in "_-") else f"%{ord(sign):x}" for sign in key)


def _version(folder: Path) -> str | None:
    try:
        return str(json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["version"])
    except (OSError, ValueError, KeyError, TypeError):  # of a download without it
        return None


def _shards(folder: Path, config: str, split: str) -> list[Path]:
    return sorted((folder / "data" / config).glob(f"{split}-*.parquet"))


def _read(folder: Path, config: str, split: str, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    for path in _shards(folder, config, split):
        for batch in pq.ParquetFile(path).iter_batches(64, columns=list(columns)):
            yield from batch.to_pylist()
