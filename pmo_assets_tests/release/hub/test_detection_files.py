"""Figures with their boxes as COCO and as FiftyOne's JSON: numbers, places, and pictures that belong to them."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from pmo_assets.records.stores import StorageError
from pmo_assets.release.hub.detection_files import CLASSES, boxes_of, write_detections
from pmo_assets_tests.release.hub_folder import WITHHELD_ARTICLE


def written(hub_folder: Path, tmp_path: Path, form: Any, **options: Any) -> Path:
    write_detections(hub_folder, tmp_path / "out", form=form, **options)
    return tmp_path / "out"


def panel_row(**changes: Any) -> dict[str, Any]:
    image = {
        "id": "image-0", "box": [0.0, 0.25, 0.5, 1.5], "score": 0.9, "image_type": "OCT", "type_score": 0.8,
        "modality": "OCT", "modality_score": 0.7, "marked": None, "mark_score": 0.1, "is_gt": False,
    }  # fmt: skip
    return {
        "panel_id": "p", "panel_name": "A", "panel_box": [0.0, 0.0, 0.5, 1.0], "panel_score": 0.95,
        "content_box": [0.0, 0.0, 0.5, 1.0], "subcaption_text": "Drusen.", "assembly_confidence": 0.99,
        "images": [image, image | {"id": "image-1", "image_type": None}],
        "identifiers": [{"id": "i", "box": [0.0, 0.0, 0.1, 0.1], "score": 0.5, "text": None, "is_gt": True}],
        **changes,
    }  # fmt: skip


def test_boxes_are_a_panel_and_what_is_in_it() -> None:
    found = boxes_of([panel_row()])
    assert [one.label for one in found] == ["panel", "identifier", "OCT", "undecided"]
    assert {one.panel_id for one in found} == {"p"}
    assert found[2].box == (0.0, 0.25, 0.5, 1.0), "inside of the figure"
    assert found[0].facts["subcaption"] == "Drusen."


def test_a_box_without_an_area_is_left_out() -> None:
    assert [one.label for one in boxes_of([panel_row(panel_box=[0.5, 0.0, 0.5, 1.0], images=[], identifiers=[])])] == []


def test_coco_has_figures_panels_and_images_with_their_types(hub_folder: Path, tmp_path: Path) -> None:
    folder = written(hub_folder, tmp_path, "coco")
    assert sorted(path.name for path in folder.iterdir()) == ["test", "train", "validation"]
    told = json.loads((folder / "train" / "annotations.json").read_text("utf-8"))
    assert {item["name"]: item["supercategory"] for item in told["categories"]} == dict(CLASSES)
    assert [item["id"] for item in told["categories"]] == list(range(1, len(CLASSES) + 1))
    assert told["info"]["version"] is None or isinstance(told["info"]["version"], str)
    (figure,) = told["images"]
    assert figure["article_id"] != WITHHELD_ARTICLE, "its licence withholds the picture"
    assert figure["attribution"]
    assert {item["id"]: item["name"] for item in told["licenses"]}[figure["license"]] == "CC BY"
    with Image.open(folder / "train" / "images" / figure["file_name"]) as picture:
        assert picture.size == (figure["width"], figure["height"])
    names = {item["id"]: item["name"] for item in told["categories"]}
    by_id = {item["id"]: item for item in told["annotations"]}
    panels = [item for item in told["annotations"] if names[item["category_id"]] == "panel"]
    assert len(panels) == 2
    for item in told["annotations"]:
        left, top, width, height = item["bbox"]
        assert 0 <= left < left + width <= figure["width"] + 0.01
        assert 0 <= top < top + height <= figure["height"] + 0.01
        assert item["area"] == pytest.approx(width * height, abs=0.5)
        assert (item["image_id"], item["iscrowd"], item["segmentation"]) == (figure["id"], 0, [])
        if names[item["category_id"]] != "panel":
            assert by_id[item["panel"]]["panel_id"] == item["panel_id"]


def test_fiftyone_has_the_same_boxes_as_shares_of_the_picture(hub_folder: Path, tmp_path: Path) -> None:
    coco = json.loads((written(hub_folder, tmp_path / "c", "coco") / "test" / "annotations.json").read_text("utf-8"))
    folder = written(hub_folder, tmp_path / "f", "fiftyone", splits=["test"])
    assert [path.name for path in folder.iterdir()] == ["test"]
    told = json.loads((folder / "test" / "labels.json").read_text("utf-8"))
    assert told["classes"] == list(CLASSES)
    assert sorted(told["labels"]) == sorted(path.stem for path in (folder / "test" / "data").iterdir())
    ((name, boxes),) = told["labels"].items()
    (figure,) = coco["images"]
    assert Path(figure["file_name"]).stem == name
    scale = [figure["width"], figure["height"]] * 2
    for mine, other in zip(boxes, coco["annotations"], strict=True):
        assert mine["label"] == told["classes"][other["category_id"] - 1]
        assert [v * s for v, s in zip(mine["bounding_box"], scale, strict=True)] == pytest.approx(
            other["bbox"], abs=0.01
        )
        assert mine["confidence"] == other["score"]
        assert mine["attributes"]["panel_id"] == other["panel_id"]
        assert None not in mine["attributes"].values()


def test_the_same_release_gives_the_same_bytes(hub_folder: Path, tmp_path: Path) -> None:
    one, other = (written(hub_folder, tmp_path / name, "coco") for name in "ab")
    files = {path.relative_to(one): path.read_bytes() for path in one.rglob("*") if path.is_file()}
    assert files == {path.relative_to(other): path.read_bytes() for path in other.rglob("*") if path.is_file()}


def test_what_cannot_be_written_is_said_and_leaves_nothing(hub_folder: Path, tmp_path: Path) -> None:
    for options, said in (
        ({"form": "voc"}, "no form voc"),
        ({"splits": ["dev"]}, "no split dev"),
    ):
        with pytest.raises(StorageError, match=said):
            write_detections(hub_folder, tmp_path / "out", **options)  # type: ignore[arg-type]
    with pytest.raises(StorageError, match="is it a release's folder"):
        write_detections(tmp_path, tmp_path / "out")
    (tmp_path / "there").mkdir()
    with pytest.raises(StorageError, match="is there already"):
        write_detections(hub_folder, tmp_path / "there")
    assert [path.name for path in tmp_path.iterdir()] == ["there"]


def test_pycocotools_reads_it(hub_folder: Path, tmp_path: Path) -> None:
    coco = pytest.importorskip("pycocotools.coco")
    read = coco.COCO(str(written(hub_folder, tmp_path, "coco") / "train" / "annotations.json"))
    (number,) = read.getImgIds(catIds=read.getCatIds(catNms=["OCT"]))
    assert len(read.getAnnIds(imgIds=number, catIds=read.getCatIds(catNms=["panel"]))) == 2


@pytest.mark.slow  # loading the package takes seconds
@pytest.mark.parametrize("form", ["fiftyone", "coco"])
def test_fiftyone_reads_it(hub_folder: Path, tmp_path: Path, form: str) -> None:
    """By its importers alone: a dataset of it needs MongoDB."""
    importers = pytest.importorskip("fiftyone.utils.data")
    folder = written(hub_folder, tmp_path, form) / "train"
    reader = (
        importers.FiftyOneImageDetectionDatasetImporter(dataset_dir=str(folder))
        if form == "fiftyone"
        else pytest.importorskip("fiftyone.utils.coco").COCODetectionDatasetImporter(
            data_path=str(folder / "images"), labels_path=str(folder / "annotations.json")
        )
    )
    with reader:
        ((path, _, found),) = list(reader)
    boxes = (found["detections"] if isinstance(found, dict) else found).detections
    labels = json.loads((written(hub_folder, tmp_path / "f", "fiftyone") / "train" / "labels.json").read_text("utf-8"))
    told = labels["labels"][Path(path).stem]
    assert [one.label for one in boxes] == [one["label"] for one in told]
    for one, other in zip(boxes, told, strict=True):
        assert one.bounding_box == pytest.approx(other["bounding_box"], abs=1e-3)
        assert one["panel_id"] == other["attributes"]["panel_id"]


def test_pictures_are_those_of_the_release(hub_folder: Path, tmp_path: Path) -> None:
    import polars as pl

    table = pl.read_parquet(hub_folder / "data" / "figures" / "test-*.parquet")
    (picture,) = (written(hub_folder, tmp_path, "coco") / "test" / "images").iterdir()
    assert picture.read_bytes() == table["figure_image"][0]["bytes"]
    assert Image.open(io.BytesIO(picture.read_bytes())).format in ("PNG", "WEBP")
