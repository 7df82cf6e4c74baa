"""The mean of two networks' weights: of one that was trained further, and of the one that it began with.

Training on for new kinds of figures forgets some of the old ones; halfway between both sets of weights a network knows
both (Wortsman et al. 2022, WiSE-FT). They must be of one line: weights of separate trainings have no mean.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from pmo_assets.training.architectures.detectors import detector_of_checkpoint
from pmo_assets.training.architectures.restored import restored_detector, with_statistics
from pmo_assets.training.data.coco import shards
from pmo_assets.training.loop.train_detector import coco_rows, evaluated, some_pictures
from pmo_assets.training.options import TrainingOptions


def averaged_detector(checkpoint: Path, exported: Path, data: Path, share: float, seed: int) -> dict[str, Any]:
    """Return the checkpoint of a detector between two others, measured on the validation figures.

    Args:
        checkpoint: `best.pt` of the run that trained on.
        exported: ONNX file of the network that it started from; batch normalisations are found anew on figures.
        data: folder that `pmo train figures` wrote.
        share: 0..1, how much of the run's weights there is in the result.
        seed: of the choice of training figures that the batch normalisations are found on.

    Raises:
        ValueError: when the two are not of one architecture and size.
    """
    saved = torch.load(checkpoint, map_location="cpu", weights_only=True)
    model = restored_detector(exported).to(memory_format=torch.channels_last)
    trained: dict[str, torch.Tensor] = saved["model"]
    options = replace(TrainingOptions(), seed=seed)
    with_statistics(model, some_pictures(model, coco_rows(shards(data / "train")), options))
    before = model.state_dict()
    if {k: v.shape for k, v in before.items()} != {k: v.shape for k, v in trained.items()}:
        raise ValueError(f"{checkpoint} and {exported} are networks of different architectures or sizes")
    mean = {
        name: torch.lerp(value, trained[name], share) if value.is_floating_point() else trained[name]
        for name, value in before.items()
    }
    result = {key: value for key, value in saved.items() if key in ("architecture", "size", "config")} | {"model": mean}
    model = detector_of_checkpoint(result).eval()
    rows = coco_rows(shards(data / "validation"))[: options.validation_figures]
    return saved | result | {"validation": evaluated(model, rows, options), "initial": exported.name}
