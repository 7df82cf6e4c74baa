"""The mark classifier learns from drawn and annotated pictures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="the extra `models` (PyTorch) is not installed: make test-models")
pytest.importorskip("onnxscript", reason="ONNX export needs onnx and onnxscript: make test-models")

from pmo_assets.pipeline.detection.fusion.mark_fusion import FusedMarkClassifier
from pmo_assets.pipeline.detection.networks.onnx_marks import OnnxMarkNetwork
from pmo_assets.training.architectures.export import export_marks
from pmo_assets.training.loop.train_marks import SEEN_LEVELS, MarkExamples, train_marks, whole_look
from pmo_assets.training.options import MarkOptions
from pmo_assets_tests.training.pools import small_pool


def test_the_mark_classifier_trains_exports_and_reads_words(tmp_path: Path) -> None:
    options = MarkOptions(steps=3, batch_size=4, evaluate_every=3, validation_crops=4, workers=0, threads=1, warm_up=1)
    (record,) = train_marks(tmp_path / "run", small_pool(), small_pool(), options)
    assert 0 <= record["accuracy"] <= 1
    target = tmp_path / "marks.onnx"
    assert export_marks(tmp_path / "run" / "best.pt", target) < 1e-3
    classifier = FusedMarkClassifier(OnnxMarkNetwork(target))
    crop = np.full((100, 120, 3), 90, np.uint8)
    (_, plain), (_, named), (unknown, _) = classifier([crop, crop, crop[:5]], ["Fundus.", "Fundus (arrow).", ""])
    assert named > plain
    assert unknown is None


def test_places_of_marks_lie_where_marks_were_drawn() -> None:
    examples = MarkExamples(0, 60, small_pool(), (), 0.0)
    for k in range(60):
        _, marked, told, where, known = examples[k]
        assert known == told
        assert bool(where.any()) == bool(marked)
        assert told or not marked


def test_a_look_shows_how_much_marks_changed_it() -> None:
    picture, change = np.full((448, 448, 3), 90, np.uint8), np.zeros((448, 448), np.uint8)
    change[100:102, 40:400] = 200
    change[300, 40:400] = 40
    _, seen = whole_look(picture, change)
    # A line of two pixels keeps its contrast in half the size, one of a pixel half of it.
    assert seen[50, 30:190].min() >= 190
    assert 15 <= seen[150, 30:190].min() <= seen[150, 30:190].max() <= 25
    assert (seen >= SEEN_LEVELS).sum(axis=1).nonzero()[0].tolist() == [50, 150]


def test_annotated_pictures_teach_no_places() -> None:
    crop = np.full((80, 80, 3), 120, np.uint8)
    examples = MarkExamples(0, 20, small_pool(), [(crop, True), (crop, False)], 1.0)
    for k in range(20):
        _, marked, told, where, known = examples[k]
        assert told == 1.0
        assert not where.any()
        assert bool(known) != bool(marked)
