"""Retrieval on validation units: what weights are chosen by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray

from pmo_assets.encoders.evaluation.embedding_files import EmbeddingTable
from pmo_assets.encoders.evaluation.embeddings import Embeddings, EmbeddingsError
from pmo_assets.encoders.evaluation.evaluate import evaluate_retrieval
from pmo_assets.encoders.evaluation.pairs import Pair, paired
from pmo_assets.encoders.examples.texts import Texts
from pmo_assets.encoders.examples.unit_rows import taken
from pmo_assets.encoders.examples.units import Unit
from pmo_assets.encoders.training.inputs import InputMaker
from pmo_assets.encoders.training.sampling import Entry
from pmo_assets.records.pairs import PairLevel

Floats = NDArray[np.float32]

AT_ONCE: Final = 64
"""Units that are embedded together."""


def chosen_units(level: PairLevel, units: Sequence[Unit], texts: Texts, most: int, seed: int) -> Sequence[Unit]:
    """Return the units of a level that have a text; of more than `most` so many, drawn once for all."""
    able = texts.able(level, units)
    if len(able) <= most:
        return able
    chosen = np.random.default_rng([seed, 3]).permutation(len(able))[:most]
    return taken(able, np.sort(chosen))


def embedded(maker: InputMaker, units: Sequence[Unit], texts: Sequence[str]) -> tuple[Floats, Floats]:
    """Return the embeddings of whole pictures and of texts, (n, d) float32 each, without dropout and crops."""
    images, words = [], []
    training, crop = maker.encoder.model.training, maker.crop
    maker.encoder.set_training(False)
    maker.crop = None
    try:
        with torch.inference_mode():
            for start in range(0, len(units), AT_ONCE):
                part = zip(units[start : start + AT_ONCE], texts[start : start + AT_ONCE], strict=True)
                found = maker.embed(maker.inputs([Entry(unit, text, -1, True, 0) for unit, text in part]))
                images.append(found[0].float().cpu().numpy())
                words.append(found[1].float().cpu().numpy())
    finally:
        maker.crop = crop
        maker.encoder.set_training(training)
    return np.concatenate(images), np.concatenate(words)


def validation_numbers(maker: InputMaker, units: Mapping[PairLevel, Sequence[Unit]], texts: Texts) -> dict[str, float]:
    """Return recall@1, @5, @10 and mean reciprocal rank of each level, the means of both directions, and their `score`.

    The score is the mean reciprocal rank over all units: unlike recall@10 it still tells encoders apart where there are
    few candidates.

    Args:
        maker: with the encoder.
        units: of each level, at least two.
        texts: of them.

    Raises:
        FloatingPointError: if an embedding is not finite, or has no direction.
    """
    numbers: dict[str, float] = {}
    for level, own in units.items():
        words = [texts.first(unit) for unit in own]
        pictures, sentences = embedded(maker, own, words)
        pairs = [
            Pair(unit.name, unit.name, text, unit.source, unit.looks) for unit, text in zip(own, words, strict=True)
        ]
        names = tuple(unit.name for unit in own)
        try:
            image_table, text_table = (
                EmbeddingTable(names, Embeddings(rows, "validation")) for rows in (pictures, sentences)
            )
            task = paired(image_table, text_table, pairs)
        except EmbeddingsError as error:
            raise FloatingPointError(str(error)) from error
        found = [
            item.model_dump(by_alias=True)
            for item in evaluate_retrieval(task.images.embeddings, task.texts.embeddings, task.right)
        ]
        for name in ("recall@1", "recall@5", "recall@10", "mrr"):
            numbers[f"{level} {name}"] = float(np.mean([item[name] for item in found]))
        numbers[f"{level} candidates"] = float(len(own))
    score = np.average([numbers[f"{level} mrr"] for level in units], weights=[len(own) for own in units.values()])
    return {"score": float(score), **numbers}
