"""A recipe's data: the same whatever the number of processes, and readable by tools that know COCO and YOLO."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
import pytest
import yaml

from pmo_assets.training.data import training_data
from pmo_assets.training.data.coco import read_coco, shards
from pmo_assets.training.data.recipe_data import recipe_pictures, write_recipe
from pmo_assets.training.data.training_data import write_synthetic_shards
from pmo_assets.training.synthetic.layouts import split_of


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Five figures in three shards."""
    made = tmp_path_factory.mktemp("recipe")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training_data, "SHARD_SIZE", 2)
        assert len(list(write_recipe(made, "validation", 5, "open-pmc-18m"))) == 3
        yield made


def test_one_coco_file_describes_all_shards(folder: Path) -> None:
    whole = json.loads((folder / "validation" / "annotations.json").read_text())
    assert [image["id"] for image in whole["images"]] == [0, 1, 2, 3, 4]
    assert [row["id"] for row in whole["annotations"]] == list(range(1, len(whole["annotations"]) + 1))
    assert whole["info"] == {"split": "validation", "recipe": "open-pmc-18m", "boxes": "tile"}
    parts = [row for part in sorted((folder / "validation").glob("shard_*")) for row in read_coco(part)]
    assert shards(folder / "validation") == [folder / "validation"]
    for (path, size, rows), (other, same, marked) in zip(read_coco(folder / "validation"), parts, strict=True):
        assert path == other
        assert size == same == np.asarray(cv2.imread(str(path))).shape[1::-1]
        assert [row["bbox"] for row in rows] == [row["bbox"] for row in marked]


def test_yolo_labels_stand_where_ultralytics_looks_and_say_the_same(folder: Path) -> None:
    description = yaml.safe_load((folder / "data.yaml").read_text())
    assert description == {"path": str(folder.resolve()), "val": "validation", "names": {0: "Panel"}}
    for path, (wide, tall), rows in read_coco(folder / "validation"):
        # Ultralytics replaces the last "/images/" of a picture's path by "/labels/".
        head, _, tail = str(path).rpartition("/images/")
        lines = Path(f"{head}/labels/{tail}").with_suffix(".txt").read_text().splitlines()
        panels = [row["bbox"] for row in rows if row["category"] == 0]
        assert len(lines) == len(panels)
        for line, (x, y, w, h) in zip(lines, panels, strict=True):
            kind, *shares = line.split()
            assert kind == "0"
            assert np.allclose(list(map(float, shares)), [(x + w / 2) / wide, (y + h / 2) / tall, w / wide, h / tall])


def test_it_is_read_by_pycocotools(folder: Path) -> None:
    coco = pytest.importorskip("pycocotools.coco").COCO(str(folder / "validation" / "annotations.json"))
    assert len(coco.getImgIds()) == 5
    assert len(coco.getAnnIds(catIds=coco.getCatIds(catNms=["Panel"]))) == sum(
        row["category"] == 0 for _, _, rows in read_coco(folder / "validation") for row in rows
    )


def test_the_same_bytes_again_and_what_is_there_stays(folder: Path, tmp_path: Path) -> None:
    def contents(root: Path) -> dict[str, bytes]:
        return {
            p.relative_to(root).as_posix(): p.read_bytes()
            for p in sorted(root.rglob("*"))
            if p.suffix != ".yaml" and p.is_file()
        }

    list(write_recipe(tmp_path, "validation", 5, "open-pmc-18m"))
    assert contents(tmp_path) == contents(folder)
    picture = next((tmp_path / "validation").rglob("*.jpg"))
    before = picture.stat().st_mtime_ns
    list(write_recipe(tmp_path, "validation", 5, "open-pmc-18m"))
    assert picture.stat().st_mtime_ns == before
    assert contents(tmp_path) == contents(folder)


@pytest.mark.slow
def test_the_number_of_processes_changes_no_byte(tmp_path: Path) -> None:
    count = training_data.SHARD_SIZE + 6
    for workers in (1, 2):
        list(write_recipe(tmp_path / str(workers), "validation", count, "open-pmc-18m", workers=workers))
    one, two = (
        {p.relative_to(root).as_posix(): p.read_bytes() for p in sorted((root / "validation").rglob("*.*"))
         if p.is_file()}
        for root in (tmp_path / "1", tmp_path / "2")
    )  # fmt: skip
    assert len(one) == 2 * count + 3  # pictures and YOLO's labels; annotations of two shards and of all
    assert one == two


def test_other_figures_are_not_mixed_into_a_folder(folder: Path) -> None:
    with pytest.raises(ValueError, match="other figures"):
        list(write_recipe(folder, "validation", 5, "open-pmc-18m", boxes="content"))
    list(write_recipe(folder, "validation", 5, "open-pmc-18m"))
    (folder / "validation" / "annotations.json").unlink()
    with pytest.raises(ValueError, match="other figures"):
        list(write_synthetic_shards(folder, "validation", 5, [], None))
    list(write_recipe(folder, "validation", 5, "open-pmc-18m"))


def test_pictures_go_to_their_source_and_part(tmp_path: Path) -> None:
    pixels = np.random.default_rng(1).integers(0, 255, (40, 40, 3), dtype=np.uint8)
    for place in ("CFP", "clinic/skin", "clinic/histology", "clinic/endoscopy", "hospital/CT_MR"):
        (tmp_path / place).mkdir(parents=True)
        for k in range(12):
            cv2.imwrite(str(tmp_path / place / f"{k}.png"), pixels)
    found = recipe_pictures(tmp_path, tmp_path, "train")
    assert set(found) == {"retina", "dermatology", "histopathology", "radiology"}
    assert {picture.image_type for picture in found["retina"]} == {"CFP"}
    assert len(found["dermatology"]) == sum(split_of(f"clinic/skin/{k}.png") == "train" for k in range(12))
    parts = [recipe_pictures(tmp_path, tmp_path, part) for part in ("train", "validation", "test")]  # type: ignore[arg-type]
    assert sum(len(part.get("radiology", [])) for part in parts) == 12
