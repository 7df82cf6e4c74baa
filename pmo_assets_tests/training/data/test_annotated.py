"""Annotations and Label Studio exports become training figures with the same boxes."""

from __future__ import annotations

import json
from pathlib import Path

import cv2
import numpy as np
import pytest

from pmo_assets.annotation.label_studio import ExportUnreadable
from pmo_assets.training.data.annotated import (
    annotated_figures,
    figure_of_annotation,
    image_crops,
    label_studio_figures,
    picture_name,
    write_annotated_data,
    write_annotated_shards,
)
from pmo_assets.training.data.coco import (
    CATEGORIES,
    article_of_name,
    boxes_of,
    figure_of_coco,
    read_coco,
    shards,
    write_coco,
)
from pmo_assets.training.synthetic.layouts import SPLITS, split_of
from pmo_assets.training.synthetic.placed_figure import SyntheticFigure

PANEL = {
    "identifier": "a",
    "identifier_box": [0.0, 0.0, 0.05, 0.05],
    "box": [0.0, 0.0, 0.5, 1.0],
    "subcaption": "",
    "images": [{"box": [0.1, 0.1, 0.5, 1.0], "type": "CFP", "marked": True}],
}


def test_crops_are_the_pixels_in_the_boxes() -> None:
    pixels = np.zeros((100, 200, 3), np.uint8)
    pixels[10:, 20:100] = 200
    figure = figure_of_annotation(pixels, [PANEL])
    ((crop, image),) = image_crops(figure)
    assert crop.shape == (90, 80, 3)
    assert crop.min() == 200
    assert image.marked
    assert figure.panels[0].identifier == "a"


def test_images_too_small_to_see_are_no_examples() -> None:
    panel = PANEL | {"images": [{"box": [0.0, 0.0, 0.05, 1.0], "type": "Other", "marked": False}]}
    assert not list(image_crops(figure_of_annotation(np.zeros((100, 200, 3), np.uint8), [panel])))


def test_the_figures_of_real_annotations_hold_their_images(shared_folder: Path) -> None:
    first = next(annotated_figures(shared_folder / "annotations", shared_folder / "corpus"))
    article, index, figure = first
    truth = json.loads((shared_folder / "annotations" / f"{article}.json").read_text())["figures"][index]
    assert len(figure.panels) == len(truth["panels"])
    assert figure.pixels.min() < 100
    left, top, right, bottom = truth["figure_locations"][0]["bbox"]
    assert figure.pixels.shape[1] / figure.pixels.shape[0] == pytest.approx((right - left) / (bottom - top), rel=0.03)


def rectangle(x: float, y: float, w: float, h: float, *labels: str) -> dict[str, object]:
    return {
        "type": "rectanglelabels",
        "value": {"x": x, "y": y, "width": w, "height": h, "rectanglelabels": list(labels)},
    }


def test_a_label_studio_export_is_read(tmp_path: Path) -> None:
    cv2.imwrite(str(tmp_path / "fig1.png"), np.zeros((50, 80, 3), np.uint8))
    results = [
        rectangle(0, 0, 50, 100, "Panel"),
        rectangle(2, 2, 5, 5, "Label"),
        rectangle(10, 10, 40, 80, "OCT", "marked"),
        rectangle(60, 10, 40, 80, "Retinal Imaging"),
        {"type": "choices", "value": {"choices": ["good"]}},
    ]
    task = {"data": {"image": "/data/upload/1/fig1.png?d=3"}, "annotations": [{"result": []}, {"result": results}]}
    (tmp_path / "export.json").write_text(json.dumps([task]))
    ((name, figure),) = label_studio_figures(tmp_path / "export.json", tmp_path)
    assert name == "fig1.png"
    assert figure.panels[0].box == pytest.approx((0, 0, 0.5, 1))
    assert figure.panels[0].identifier_box == pytest.approx((0.02, 0.02, 0.07, 0.07))
    assert [(i.image_type, i.marked) for i in figure.images] == [("OCT", True), ("Retinal Imaging", False)]


def test_a_missing_picture_is_named(tmp_path: Path) -> None:
    (tmp_path / "export.json").write_text('[{"data": {"image": "nowhere.png"}, "annotations": [{"result": []}]}]')
    with pytest.raises(FileNotFoundError, match=r"nowhere\.png"):
        list(label_studio_figures(tmp_path / "export.json", tmp_path))


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({"rotation": 30}, "a box is turned"),
        ({"width": 0}, "a box has no area"),
        ({"x": "left"}, "x of a box is no number"),
        ({"x": 70}, "lies outside the picture"),
    ],
)
def test_a_box_that_cannot_be_is_named_with_its_picture(tmp_path: Path, value: dict[str, object], reason: str) -> None:
    cv2.imwrite(str(tmp_path / "fig1.png"), np.zeros((50, 80, 3), np.uint8))
    drawn = rectangle(0, 0, 50, 100, "Panel")
    drawn["value"] = {**drawn["value"], **value}  # type: ignore[dict-item]
    task = {"data": {"image": "fig1.png"}, "annotations": [{"result": [drawn]}]}
    (tmp_path / "export.json").write_text(json.dumps([task]))
    with pytest.raises(ValueError, match=rf"export\.json, fig1\.png: .*{reason}"):
        list(label_studio_figures(tmp_path / "export.json", tmp_path))


def test_another_form_of_export_is_refused_with_what_to_export(tmp_path: Path) -> None:
    (tmp_path / "export.json").write_text('{"tasks": []}')
    with pytest.raises(ExportUnreadable, match="export the project as JSON"):
        list(label_studio_figures(tmp_path / "export.json", tmp_path))


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("fig1.png", "fig1.png"),
        ("/data/upload/1/PMC1%20fig%231.png?d=3", "PMC1 fig#1.png"),
        ("/data/local-files/?d=p/PMC1.jpg", "PMC1.jpg"),
        ("http://127.0.0.1:8080/data/local-files/?d=p%5CPMC1%20a.jpg", "PMC1 a.jpg"),
    ],
)
def test_a_task_names_its_picture_by_path_or_query(url: str, name: str) -> None:
    assert picture_name(url) == name


def test_cancelled_annotations_do_not_count_and_empty_ones_do(tmp_path: Path) -> None:
    for name in ("a", "b"):
        cv2.imwrite(str(tmp_path / f"{name}.png"), np.zeros((50, 80, 3), np.uint8))
    panel = {"result": [rectangle(0, 0, 50, 100, "Panel")]}
    tasks = [
        {"data": {"image": "a.png"}, "annotations": [panel, {"result": [], "was_cancelled": True}]},
        {"data": {"image": "b.png"}, "annotations": [panel, {"result": [], "was_cancelled": False}]},
        {"data": {"image": "skipped.png"}, "annotations": [panel | {"was_cancelled": True}]},
        {"data": {"image": "open.png"}, "annotations": []},
    ]
    (tmp_path / "export.json").write_text(json.dumps(tasks))
    found = label_studio_figures(tmp_path / "export.json", tmp_path)
    assert [(name, len(figure.panels)) for name, figure in found] == [("a.png", 1), ("b.png", 0)]


def test_every_label_reaches_the_coco_data(tmp_path: Path) -> None:
    cv2.imwrite(str(tmp_path / "fig1.png"), np.zeros((100, 100, 3), np.uint8))
    results = [
        rectangle(0, 0, 50, 100, "Panel"),
        rectangle(0, 0, 60, 100, "Panel"),  # overlaps the first: no label counts twice
        rectangle(2, 2, 5, 5, "Label"),
        rectangle(12, 2, 5, 5, "Label"),
        rectangle(22, 2, 5, 5, "Label"),
        rectangle(80, 2, 5, 5, "Label"),
    ]
    (tmp_path / "export.json").write_text(
        json.dumps([{"data": {"image": "fig1.png"}, "annotations": [{"result": results}]}])
    )
    write_annotated_shards(tmp_path / "real", label_studio_figures(tmp_path / "export.json", tmp_path))
    (shard,) = shards(tmp_path / "real")
    ((path, size, rows),) = read_coco(shard)
    assert sorted(row["bbox"][0] for row in rows if row["category"] == 1) == [2, 12, 22, 80]
    again = [box for box, category, _ in boxes_of(figure_of_coco(path, size, rows)) if category == 1]
    assert {round(100 * box[0]) for box in again} == {2, 12, 22, 80}


def test_images_of_undecided_type_are_left_out() -> None:
    images = [{"box": [0.1, 0.1, 0.5, 1.0], "type": kind, "marked": None} for kind in (None, "OCT")]
    found = figure_of_annotation(np.zeros((100, 200, 3), np.uint8), [PANEL | {"images": images}])
    assert [CATEGORIES[category] for _, category, _ in boxes_of(found)] == ["Panel", "Label", "OCT"]


def figure(shade: int = 0) -> SyntheticFigure:
    return figure_of_annotation(np.full((100, 200, 3), shade, np.uint8), [PANEL])


def test_annotated_figures_become_coco_data_by_article_once(tmp_path: Path) -> None:
    figures = [("PMC1", figure(10)), ("PMC1", figure(20)), ("PMC22", figure(30))]
    assert write_annotated_shards(tmp_path / "real", figures) == 3
    found = shards(tmp_path / "real")
    assert [path.name for path in found] == ["00000_PMC1", "00001_PMC22"]
    assert [len(list(read_coco(path))) for path in found] == [2, 1]
    # A second call keeps what is there: the figures are not even looked at.
    assert write_annotated_shards(tmp_path / "real", iter([])) == 3


def test_an_article_is_trained_on_or_held_out_whatever_it_came_from(tmp_path: Path) -> None:
    names = [f"PMC{number}" for number in range(40)]
    write_annotated_shards(tmp_path / "real", [(name, figure()) for name in names])
    (tmp_path / "coco").mkdir()
    write_coco(tmp_path / "coco", enumerate(figure() for _ in names))
    data = json.loads((tmp_path / "coco" / "annotations.json").read_text())
    for image, name in zip(data["images"], names, strict=True):
        (tmp_path / "coco" / image["file_name"]).rename(tmp_path / "coco" / f"{name}_fig2.jpg")
        image["file_name"] = f"{name}_fig2.jpg"
    (tmp_path / "coco" / "annotations.json").write_text(json.dumps(data))
    for split in SPLITS:
        expected = [name for name in names if split_of(name) == split]
        found = [path.name.split("_")[1] for path in shards(tmp_path / "real") if list(read_coco(path, split))]
        assert found == expected
        assert [path.stem.split("_")[0] for path, _, _ in read_coco(tmp_path / "coco", split)] == expected


@pytest.mark.parametrize(
    ("name", "article"),
    [("PMC123.json", "PMC123"), ("a1b2-PMC99_fig3.png", "PMC99"), ("scan_07.jpg", "scan_07"), ("PMC12", "PMC12")],
)
def test_a_file_name_says_which_article_a_picture_is_from(name: str, article: str) -> None:
    assert article_of_name(name) == article


def test_all_sources_come_together(tmp_path: Path) -> None:
    cv2.imwrite(str(tmp_path / "PMC7_fig1.png"), np.zeros((50, 80, 3), np.uint8))
    task = {"data": {"image": "PMC7_fig1.png"}, "annotations": [{"result": [rectangle(0, 0, 50, 100, "Panel")]}]}
    (tmp_path / "export.json").write_text(json.dumps([task]))
    write_coco(tmp_path / "coco", [(0, figure())])
    found = write_annotated_data(
        tmp_path / "run", [tmp_path / "coco"], label_studio=tmp_path / "export.json", label_studio_images=tmp_path
    )
    assert found == [tmp_path / "coco", tmp_path / "run" / "label_studio"]
    assert [path.name for path in shards(found[1])] == ["00000_PMC7"]


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="articles"):
        write_annotated_data(tmp_path / "run", annotations=tmp_path)
    with pytest.raises(ValueError, match="pictures"):
        write_annotated_data(tmp_path / "run", label_studio=tmp_path / "export.json")
    with pytest.raises(FileNotFoundError, match="no COCO data"):
        write_annotated_data(tmp_path / "run", [tmp_path])
    for _ in range(2):  # an empty source is no complete one
        with pytest.raises(ValueError, match="no annotated figure"):
            write_annotated_data(tmp_path / "run", annotations=tmp_path, articles=tmp_path)
