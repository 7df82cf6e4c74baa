"""What a RetinaNet's boxes become, alone and beside structure; no PyTorch needed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from pmo_assets.pipeline.detection.detect import detect_images, detect_panels
from pmo_assets.pipeline.detection.detector_set import detector_set
from pmo_assets.pipeline.detection.fusion.image_fusion import EnsembleImageDetector
from pmo_assets.pipeline.detection.fusion.panel_fusion import EnsemblePanelDetector
from pmo_assets.pipeline.detection.networks.network_boxes import ClassBoxes
from pmo_assets.pipeline.detection.networks.onnx_detectors import OnnxImageDetector, OnnxPanelDetector
from pmo_assets.pipeline.detection.networks.retinanet_detectors import (
    CheckpointNetwork,
    RetinaNetBoxes,
    RetinaNetImageDetector,
    RetinaNetPanelDetector,
    boxes_by_group,
    class_scores,
)
from pmo_assets.records.detections import FigureView
from pmo_assets.records.stores import SystemicError
from pmo_assets_tests.pipeline.detection.drawing import paper, paste, photograph

LEFT, NEARLY_LEFT, RIGHT = (0.0, 0.0, 0.45, 1.0), (0.01, 0.0, 0.45, 0.98), (0.55, 0.0, 1.0, 1.0)
CFP, OCT, RETINAL = 0, 1, 2


def boxes(*rows: tuple[tuple[float, float, float, float], float, int]) -> ClassBoxes:
    """Boxes from (box, score, class), best first."""
    return ClassBoxes(
        np.asarray([r[0] for r in rows], np.float32).reshape(-1, 4),
        np.asarray([r[1] for r in rows], np.float32),
        np.asarray([r[2] for r in rows], np.int64),
    )


class Sees:
    """A network that sees the same in every picture."""

    def __init__(self, *rows: tuple[tuple[float, float, float, float], float, int]) -> None:
        self.found = boxes(*rows)

    def __call__(self, pictures: Sequence[NDArray[np.uint8]]) -> list[ClassBoxes]:
        return [self.found for _ in pictures]


def test_classes_of_the_first_checkpoint_are_panels_and_identifiers() -> None:
    corner = (0.0, 0.0, 0.05, 0.05)
    network = Sees((LEFT, 0.9, 0), (corner, 0.8, 1), (RIGHT, 0.1, 0))
    found = detect_panels(FigureView(paper(40, 20)), RetinaNetPanelDetector(network))
    assert [(p.kind, p.source, p.text) for p in found] == [("panel", "network", None), ("identifier", "network", None)]
    assert found[0].box == pytest.approx(LEFT)
    assert found[1].score == pytest.approx(0.8)


def test_alone_the_second_checkpoint_decides_the_type_of_every_image() -> None:
    view = FigureView(paper(400, 200))
    paste(view.pixels, photograph(180, 200), 0, 0)
    network = Sees((RIGHT, 0.9, RETINAL), (LEFT, 0.6, OCT), (NEARLY_LEFT, 0.3, CFP), (RIGHT, 0.2, OCT))
    images = detect_images(view, (), RetinaNetImageDetector(network), words_of_panel={0: "Fundus photograph."})
    assert [(i.image_type, i.source, i.type_reason) for i in images] == [
        ("Retinal Imaging", "network", "network"),
        ("OCT", "network", "network"),
    ]
    left = images[1]
    assert left.score == pytest.approx(0.6)
    assert left.type_scores == pytest.approx({"CFP": 1 / 3, "OCT": 2 / 3, "Retinal Imaging": 0, "Other": 0})
    assert left.type_score == pytest.approx(2 / 3)


def test_scores_of_other_types_come_from_weaker_boxes_in_the_same_place() -> None:
    scores = class_scores(boxes((LEFT, 0.7, OCT), (NEARLY_LEFT, 0.5, CFP), (RIGHT, 0.4, CFP), (LEFT, 0.2, CFP)), 4)
    assert scores[0] == pytest.approx([0.5, 0.7, 0, 0])
    assert scores[1] == pytest.approx([0.5, 0, 0, 0]), "the stronger type does not count"
    assert scores[2] == pytest.approx([0.4, 0, 0, 0])


def test_beside_structure_types_are_one_group() -> None:
    found = boxes_by_group(boxes((LEFT, 0.7, OCT), (NEARLY_LEFT, 0.5, CFP), (RIGHT, 0.4, CFP)), 4)
    assert found.boxes["image"] == pytest.approx(np.asarray([LEFT, RIGHT], np.float32))
    assert found.class_scores["image"][0] == pytest.approx([0.5, 0.7, 0, 0])
    for group in ("panel", "label"):
        assert found.boxes[group].shape == (0, 4)
        assert found.scores[group].shape == (0,)


def test_beside_structure_panels_and_identifiers_are_groups() -> None:
    found = boxes_by_group(boxes((LEFT, 0.7, 0), (RIGHT, 0.5, 1)), 2)
    assert found.boxes["panel"] == pytest.approx(np.asarray([LEFT], np.float32))
    assert found.boxes["label"] == pytest.approx(np.asarray([RIGHT], np.float32))
    assert found.boxes["image"].shape == (0, 4)
    assert boxes_by_group(boxes(), 4).class_scores["image"].shape == (0, 4)


def test_it_is_fused_with_structure_as_the_shipped_network_is() -> None:
    figure = paper(400, 200)
    noise = np.random.default_rng(0).integers(0, 200, (200, 180, 3), dtype=np.uint8)
    figure[:, :180], figure[:, 220:] = noise, noise[:, ::-1]
    (images,) = EnsembleImageDetector(RetinaNetBoxes(Sees((LEFT, 0.9, OCT), (RIGHT, 0.8, OCT)), 4))(
        [FigureView(figure)], [[]]
    )
    assert sorted(i.box[0] for i in images) == pytest.approx([0, 0.55])
    assert min(i.score for i in images) > 0.8, "both have seen both"
    view = FigureView(figure, caption_identifiers=("A", "B"))
    (panels,) = EnsemblePanelDetector(RetinaNetBoxes(Sees((LEFT, 0.9, 0), (RIGHT, 0.8, 0)), 2))([view])
    assert len([p for p in panels if p.kind == "panel"]) == 2


def test_each_checkpoint_takes_the_networks_place_for_what_it_knows(tmp_path: Path) -> None:
    panels, images = tmp_path / "panels.pth", tmp_path / "images.pth"
    alone = detector_set("network", panel_checkpoint=panels)
    assert isinstance(alone.panels, RetinaNetPanelDetector)
    assert alone.panels.network == CheckpointNetwork(panels, 2)
    assert isinstance(alone.images, OnnxImageDetector)
    both = detector_set("both", image_checkpoint=images, runtime="detectron2")
    assert isinstance(both.images, EnsembleImageDetector)
    assert isinstance(both.images.network, RetinaNetBoxes)
    assert both.images.network.network == CheckpointNetwork(images, 4, runtime="detectron2")
    assert isinstance(detector_set("network", image_checkpoint=images).panels, OnnxPanelDetector)
    assert detector_set("structure", panel_checkpoint=panels) == detector_set("structure", panel_checkpoint=panels)


def test_a_missing_checkpoint_fails_the_batch(tmp_path: Path) -> None:
    detectors = detector_set("network", panel_checkpoint=tmp_path / "absent.pth")
    with pytest.raises(SystemicError, match=r"absent\.pth"):
        detect_panels(FigureView(paper(50, 50)), detectors.panels)


@pytest.mark.skipif(find_spec("torch") is not None, reason="PyTorch is installed here")
def test_without_pytorch_the_message_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "images.pth").write_bytes(b"weights")
    detectors = detector_set("both", image_checkpoint=tmp_path / "images.pth")
    with pytest.raises(SystemicError, match=r"pip install 'pmo-assets\[models\]'"):
        detect_images(FigureView(photograph(60, 60)), (), detectors.images)


UNLOADABLE = """
import sys
import numpy as np
from pathlib import Path
from pmo_assets.records.detections import FigureView
from pmo_assets.pipeline.detection.detect import detect_panels
from pmo_assets.pipeline.detection.detector_set import detector_set
from pmo_assets.records.stores import SystemicError

detectors = detector_set("network", panel_checkpoint=Path(sys.argv[1]))
try:
    detect_panels(FigureView(np.zeros((30, 30, 3), np.uint8)), detectors.panels)
except SystemicError as error:
    print(error)
"""


def test_a_pytorch_that_does_not_load_fails_the_batch(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "torch.py").write_text("raise OSError('libcudart.so.12: cannot open shared object file')")
    (tmp_path / "panels.pth").write_bytes(b"weights")
    places = os.pathsep.join([str(tmp_path / "site"), *filter(None, sys.path)])
    run = subprocess.run(
        [sys.executable, "-c", UNLOADABLE, str(tmp_path / "panels.pth")],
        capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": places},
    )  # fmt: skip
    assert "PyTorch cannot be loaded" in run.stdout
    assert "libcudart.so.12" in run.stdout
