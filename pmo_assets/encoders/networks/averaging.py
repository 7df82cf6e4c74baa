"""The mean of trained encoders' weights, which is one encoder: as fast as one, and less of what each learned by chance.

Wortsman et al. 2022, "Model soups: averaging weights of multiple fine-tuned models improves accuracy without increasing
inference time": runs that start from the same weights end where the straight line between them is as good. Runs that
started elsewhere do not, and are refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import torch
from torch import Tensor

from pmo_assets.encoders.networks.choice import EncoderError
from pmo_assets.encoders.networks.dual_encoder import DualEncoder

LEAST_COSINE: Final = 0.5
"""Of a projection's weights in two runs: measured above 0.93 where runs start alike; about 0 where they do not."""


def average_encoders(encoders: Sequence[DualEncoder]) -> DualEncoder:
    """Return the first encoder with the mean of all encoders' weights.

    Args:
        encoders: at least one, of one architecture and preparation of pictures, whose training began from the same
            weights (`run.weights_seed` of a recipe).

    Raises:
        EncoderError: if they are not, saying which.
    """
    first, *others = encoders
    for number, other in enumerate(others, start=2):
        if (other.config, other.preprocess) != (first.config, first.preprocess):
            raise EncoderError(f"encoder {number} is built otherwise than the first: weights have no mean")
        cosine = _least_cosine(first, other)
        if cosine < LEAST_COSINE:
            raise EncoderError(
                f"encoder {number} was trained from other weights than the first (a projection's cosine is "
                f"{cosine:.2f}): their mean is none of both; train with the same run.weights_seed"
            )
    states = [encoder.model.state_dict() for encoder in encoders]
    mean = {name: _mean([state[name] for state in states]) for name in states[0]}
    first.model.load_state_dict(mean)
    first.folder = None  # what lies there has other weights
    return first


def _mean(values: Sequence[Tensor]) -> Tensor:
    """Return the mean of numbers; of counts (of batches) the first."""
    if not values[0].is_floating_point():
        return values[0]
    return torch.stack([value.double() for value in values]).mean(dim=0).to(values[0].dtype)


def _least_cosine(one: DualEncoder, other: DualEncoder) -> float:
    found = [1.0]
    for mine, theirs in ((one.image.head, other.image.head), (one.text.head, other.text.head)):
        known: dict[str, Any] = theirs.state_dict()
        found += [
            float(torch.cosine_similarity(value.double().flatten(), known[name].double().flatten(), dim=0))
            for name, value in mine.state_dict().items()
            if value.ndim > 1
        ]
    return min(found)


def card_of_average(encoder: DualEncoder, runs: Sequence[str]) -> str:
    """Return the README of an averaged encoder.

    Args:
        encoder: the average.
        runs: what it is the average of, in words.
    """
    named = "\n".join(f"* {run}" for run in runs)
    return f"""\
# {encoder.name}: mean of {len(runs)} runs

The weights are the mean of those of these runs, whose own cards say what they were taught by:

{named}

`open_clip.create_model_from_pretrained("local-dir:FOLDER")` loads it.
"""
