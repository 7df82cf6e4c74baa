"""A run by a recipe: panels alone, one input size, and the same weights whether it was killed or not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the extra `models` (PyTorch) is not installed: make test-models")
pytest.importorskip("transformers", reason="DAB-DETR needs transformers: make test-models")
pytest.importorskip("onnxscript", reason="ONNX export needs onnx and onnxscript: make test-models")

from pmo_assets.pipeline.detection.networks.onnx_detectors import FigureNetwork  # noqa: E402
from pmo_assets.records.detections import FigureView  # noqa: E402
from pmo_assets.training.architectures.checkpoint_network import CheckpointFigureNetwork  # noqa: E402
from pmo_assets.training.architectures.export import export_detector  # noqa: E402
from pmo_assets.training.data.coco import shards  # noqa: E402
from pmo_assets.training.loop.train_detector import FigureBatches, coco_rows, train_detector  # noqa: E402
from pmo_assets.training.loop.training_run import rate_factor  # noqa: E402
from pmo_assets.training.options import TrainingOptions  # noqa: E402

NETWORK: dict[str, Any] = {
    "num_labels": 1, "hidden_size": 16, "encoder_layers": 1, "decoder_layers": 1, "encoder_ffn_dim": 16,
    "decoder_ffn_dim": 16, "encoder_attention_heads": 2, "decoder_attention_heads": 2, "num_queries": 8,
    "dropout": 0.1,
    "backbone_config": {
        "model_type": "resnet", "embedding_size": 8, "hidden_sizes": [8, 8, 8, 8], "depths": [1, 1, 1, 1],
        "layer_type": "basic", "out_features": ["stage3"],
    },
}  # fmt: skip
OPTIONS = TrainingOptions(
    steps=6, batch_size=2, evaluate_every=6, validation_figures=2, workers=0, threads=1, warm_up=1, seed=3,
    schedule="cosine", at_once=1, save_every=2, input_side=64, panels_only=True, augment=False, clip=0.1,
)  # fmt: skip


def run(folder: Path, data: Path, options: TrainingOptions = OPTIONS) -> list[dict[str, Any]]:
    return list(
        train_detector(
            folder, data / "train", data / "validation", options, architecture="dab_detr", network=NETWORK
        )
    )  # fmt: skip


def test_a_checkpoint_and_its_export_see_squares_and_find_panels_alone(data: Path, tmp_path: Path) -> None:
    run(tmp_path, data)
    saved = torch.load(tmp_path / "best.pt", weights_only=True)
    assert (saved["input_side"], len(saved["config"]["id2label"])) == (64, 1)
    export_detector(tmp_path / "best.pt", tmp_path / "exported.onnx")
    view = FigureView(np.random.default_rng(0).integers(0, 255, (90, 200, 3), dtype=np.uint8))
    (exported,) = FigureNetwork(tmp_path / "exported.onnx")([view])
    (kept,) = CheckpointFigureNetwork(tmp_path / "best.pt")([view])
    assert len(kept.boxes["panel"]) > 0
    assert len(kept.boxes["label"]) == len(kept.boxes["image"]) == 0
    assert np.allclose(kept.boxes["panel"], exported.boxes["panel"], atol=1e-3)


def test_rows_and_batches_of_panels_alone(data: Path) -> None:
    rows = coco_rows(shards(data / "train"), panels_only=True)
    assert all(set(kinds.tolist()) <= {0} for _, _, _, kinds in rows)
    pixels, targets = FigureBatches(rows, [[0, 1, 2]], 0, augment=False, side=64)[0]
    assert pixels.shape == (3, 3, 64, 64)
    assert all(float(boxes.max()) <= 64 for boxes, _ in targets)


def test_the_cosine_starts_and_ends_without_a_rate() -> None:
    options = replace(OPTIONS, steps=110, warm_up=10)
    factors = [rate_factor(step, options) for step in range(110)]
    assert factors[0] == 0
    assert factors[5] == pytest.approx(0.5)
    assert factors[10] == 1
    assert factors[60] == pytest.approx(0.5)
    assert factors[109] == pytest.approx(0, abs=1e-3)


@pytest.mark.slow
def test_a_run_that_is_killed_ends_with_the_same_weights_bit_by_bit(data: Path, tmp_path: Path) -> None:
    run(tmp_path / "whole", data)
    script = (
        "import sys; from pathlib import Path; from dataclasses import replace\n"
        "from pmo_assets_tests.training.loop.test_detector_recipe_runs import OPTIONS, run\n"
        "import torch; torch.set_num_threads(1)\n"
        "run(Path(sys.argv[1]), Path(sys.argv[2]), OPTIONS)\n"
    )
    child = subprocess.Popen([sys.executable, "-c", script, str(tmp_path / "killed"), str(data)])
    last, deadline = tmp_path / "killed" / "last.pt", time.monotonic() + 300
    while not last.exists() and child.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    assert torch.load(last, weights_only=True)["state"]["step"] < OPTIONS.steps, "it was killed too late"
    run(tmp_path / "killed", data)
    whole, resumed = (torch.load(tmp_path / name / "last.pt", weights_only=True) for name in ("whole", "killed"))
    assert whole["state"]["step"] == resumed["state"]["step"] == OPTIONS.steps
    for part in ("model", "averaged"):
        assert all(torch.equal(value, resumed[part][name]) for name, value in whole[part].items())
