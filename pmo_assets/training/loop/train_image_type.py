"""Training of the image type network on pictures as figures show them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.data import Dataset

from pmo_assets.pipeline.detection.networks.type_input import type_input
from pmo_assets.records.image_types import IMAGE_TYPES, ImageType
from pmo_assets.records.modalities import MODALITIES, TYPE_OF_MODALITY, Modality
from pmo_assets.samples.drawing import Pixels
from pmo_assets.training.architectures.image_type_network import ImageTypeNetwork, marginal_loss
from pmo_assets.training.data.typed_pictures import TypedPicture, stand_ins
from pmo_assets.training.loop.training_run import Batch, numbered_batches, train_network
from pmo_assets.training.options import ImageTypeOptions
from pmo_assets.training.synthetic.figure_crops import figure_crop

TYPE_SHARES: dict[ImageType, float] = {"CFP": 0.2, "OCT": 0.22, "Retinal Imaging": 0.3, "Other": 0.28}
"""Share of each type among the examples: retinal imaging has the most modalities, Other the most kinds of pictures."""

STAND_IN_SHARE = 0.3
"""Part of a modality's pictures that are stand-ins, where there are real ones."""

Group = tuple[Modality, ...]


class TypeExamples(Dataset[tuple[Tensor, Tensor]]):
    """Training examples by number: (pixels (3, 160, 160) uint8, allowed modalities (m,) float32).

    Types, within a type the modalities (and those of which only the type is known, twice), and within a modality the
    sources are shown equally often, so that a source of three pictures counts as much as one of thirty.
    """

    def __init__(self, seed: int, first: int, count: int, pictures: Sequence[TypedPicture]) -> None:
        """Number the examples from `first`."""
        self.seed, self.first, self.count = seed, first, count
        self.groups: dict[ImageType, list[Group]] = {image_type: [] for image_type in IMAGE_TYPES}
        self.real: dict[Group, dict[str, list[Pixels]]] = {}
        self.made: dict[Group, list[Pixels]] = {}
        for picture in pictures:
            known = self.groups[TYPE_OF_MODALITY[picture.modalities[0]]]
            if picture.modalities not in known:
                known.extend([picture.modalities] * (1 if len(picture.modalities) == 1 else 2))
            if picture.source == "stand-in":
                self.made.setdefault(picture.modalities, []).append(picture.pixels)
            else:
                self.real.setdefault(picture.modalities, {}).setdefault(picture.source, []).append(picture.pixels)

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, number: int) -> tuple[Tensor, Tensor]:
        shown, group = self.shown(number)
        picture = type_input(shown)
        allowed = torch.tensor(
            [float(m in group or (m == "red-free" and _is_grey_photograph(group, picture))) for m in MODALITIES]
        )
        return torch.from_numpy(picture).permute(2, 0, 1), allowed

    def shown(self, number: int) -> tuple[Pixels, Group]:
        """Return a picture as a figure shows it, (height, width, 3) uint8 RGB, and the modalities it may be of."""
        cv2.setNumThreads(1)
        rng = np.random.default_rng((self.seed, self.first + number))
        shares = np.asarray([TYPE_SHARES[t] * bool(self.groups[t]) for t in IMAGE_TYPES])
        groups = self.groups[IMAGE_TYPES[int(rng.choice(len(IMAGE_TYPES), p=shares / shares.sum()))]]
        group = groups[int(rng.integers(len(groups)))]
        sources, made = self.real.get(group, {}), self.made.get(group, [])
        if made and (not sources or rng.random() < STAND_IN_SHARE):
            pixels = made[int(rng.integers(len(made)))]
        else:
            of_source = sources[sorted(sources)[int(rng.integers(len(sources)))]]
            pixels = of_source[int(rng.integers(len(of_source)))]
        modality = group[0] if len(group) == 1 or TYPE_OF_MODALITY[group[0]] == "OCT" else None
        return figure_crop(rng, pixels, modality), group


def _is_grey_photograph(group: Group, picture: Pixels) -> bool:
    """Say whether a colour photograph has become grey: nobody can tell it from a red-free one then."""
    return group == ("fundus photograph",) and float(np.ptp(picture.astype(np.int16), axis=2).mean()) < 3


def modality_logits(model: nn.Module, pictures: Sequence[Pixels]) -> np.ndarray:
    """Return the logits of pictures (height, width, 3) uint8 RGB, shape (n, modalities)."""
    model.eval()
    device = next(model.parameters()).device
    result = []
    with torch.no_grad():
        for k in range(0, len(pictures), 32):
            batch = torch.stack([torch.from_numpy(type_input(p)).permute(2, 0, 1) for p in pictures[k : k + 32]])
            result.append(model(batch.to(device).float() / 255).float().cpu().numpy())
    return np.concatenate(result) if result else np.zeros((0, len(MODALITIES)), np.float32)


def right_types(logits: np.ndarray, pictures: Sequence[TypedPicture]) -> np.ndarray:
    """Return which pictures' types are right, shape (n,) bool: that of the type with the largest share."""
    chances = np.exp(logits - logits.max(axis=1, keepdims=True))
    kinds = np.asarray([IMAGE_TYPES.index(TYPE_OF_MODALITY[m]) for m in MODALITIES])
    shares = np.stack([chances[:, kinds == k].sum(axis=1) for k in range(len(IMAGE_TYPES))], axis=1)
    true = np.asarray([IMAGE_TYPES.index(TYPE_OF_MODALITY[p.modalities[0]]) for p in pictures])
    return np.asarray(shares.argmax(axis=1) == true)


def _steps_taken(optimiser: torch.optim.Optimizer) -> float:
    """Return how many steps an optimiser has made: the last weights count, held-out pictures do not choose them."""
    return float(optimiser.state_dict()["state"][0]["step"])


def train_image_type(
    folder: Path,
    pictures: Sequence[TypedPicture],
    options: ImageTypeOptions | None = None,
    held_out: Sequence[TypedPicture] = (),
) -> Iterator[dict[str, Any]]:
    """Train, or go on with a run, yielding one record per evaluation.

    Args:
        folder: run folder, see `training_run.train_network`.
        pictures: to learn from; stand-ins are made of the fundus photographs among them.
        options: see there.
        held_out: pictures that are only measured (`held_out`: share whose type is right; nothing without any).
    """
    options = options or ImageTypeOptions()
    if options.threads:
        torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    model = ImageTypeNetwork(pretrained=True).to(options.device).to(memory_format=torch.channels_last)
    optimiser = torch.optim.AdamW(model.trained_parameters(), lr=options.learning_rate, weight_decay=0.03)
    rng = np.random.default_rng(options.seed)
    photographs = [p.pixels for p in pictures if p.modalities == ("fundus photograph",)]
    shown = [*pictures, *stand_ins(rng, photographs)]

    batches = numbered_batches(lambda first, count: TypeExamples(options.seed, first, count, shown), options)

    def loss(batch: Batch) -> tuple[Tensor, dict[str, float]]:
        pixels, allowed = (column.to(options.device) for column in batch)
        logits = model(pixels.to(memory_format=torch.channels_last).float() / 255)
        return marginal_loss(logits, allowed), {}

    def measured(averaged: nn.Module, at_once: int) -> dict[str, float]:
        if not held_out:
            return {}
        logits = modality_logits(averaged, [p.pixels for p in held_out])
        return {"held_out": round(float(right_types(logits, held_out).mean()), 4)}

    yield from train_network(
        folder, model, optimiser, options, batches=batches, loss=loss, measured=measured,
        score=lambda _: _steps_taken(optimiser), clip=5.0,
        described={"pictures": len(pictures), "sources": len({p.source for p in pictures})},
    )  # fmt: skip
