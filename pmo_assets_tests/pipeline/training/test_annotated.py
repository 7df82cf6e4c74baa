"""Annotations and Label Studio exports become training figures with the same boxes."""

from __future__ import annotations

import json
from pathlib import Path

import cv2
import numpy as np
import pytest

from pmo_assets.pipeline.training.annotated import (
    annotated_figures,
    figure_of_annotation,
    image_crops,
    label_studio_figures,
)

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
    (tmp_path / "export.json").write_text('[{"data": {"image": "nowhere.png"}}]')
    with pytest.raises(FileNotFoundError, match=r"nowhere\.png"):
        list(label_studio_figures(tmp_path / "export.json", tmp_path))
