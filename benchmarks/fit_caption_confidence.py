"""Fits the factors of a split's confidence and prints how they do on sources that they were not fitted on.

    python benchmarks/fit_caption_confidence.py [--shared ../shared]

Sources: compound captions of PubMed Central, annotated articles, captions in ten journals' styles (the half that rules
were written with), captions of the corpus without any identifier. Each is left out once; all weigh the same. A factor
is drawn strongly to what one doubt costs without knowing which (`PRIOR`): what a doubt costs in one source says little
of another one, the number of doubts does. The factors of `pipeline/captions/confidence.py` are those of the last lines.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from lxml import etree
from numpy.typing import NDArray
from scipy.optimize import minimize
from score_captions import _STYLES, _UNDECIDED

from pmo_assets.pipeline.captions import confidence
from pmo_assets.pipeline.captions.split import split_caption
from pmo_assets.quality.metrics.captions import caption_score, split_rows

PRIOR, PLAIN_PRIOR = 0.9, 0.95
WEIGHT, PLAIN_WEIGHT = 60.0, 20.0
WRONG, RIGHT = 0.6, 0.95
"""Mean sentence BLEU up to which an answer is wrong, and from which on it is right; between them it is partly right."""
KEPT = ("no text", "panel without text", "all panels have the same text")
"""Factors that no source has enough cases of: they stay as they were chosen."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Answer:
    """One caption's split: where the caption is from, its reasons to doubt, and how far it is right, 0..1."""

    source: str
    single: bool
    reasons: tuple[str, ...]
    right: float


def _answer(source: str, caption: str, truth: Mapping[Any, str | None]) -> Answer:
    split = split_caption(caption)
    if len(truth) == 1:
        truth = {None: caption}
    score = caption_score("", truth, {sub.identifier: sub.text for sub in split.subcaptions}, split.confidence)
    right = 0.0 if score.unprocessed else float(np.clip((score.mean_bleu - WRONG) / (RIGHT - WRONG), 0, 1))
    return Answer(source, not split.identifiers, split.reasons, right)


def answers(shared: Path) -> Iterator[Answer]:
    """Split the captions of all sources."""
    files = {"compound": shared / "captions" / "pmc_compound.jsonl", "styles": _STYLES / "styles_tuning.jsonl"}
    for source, path in files.items():
        for row in split_rows(path.read_text(encoding="utf-8").splitlines()).values():
            yield _answer(source, row.caption or "", dict(row.subcaptions))
    annotated = sorted((shared / "annotations").glob("*.json"))
    for path in annotated:
        for figure in json.loads(path.read_text(encoding="utf-8"))["figures"]:
            truth = {panel["identifier"]: panel["subcaption"] for panel in figure["panels"]}
            if len(truth) == 1 or any(truth.values()):
                yield _answer("annotated", figure["caption"], truth)
    parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=True)
    for path in sorted((shared / "corpus").glob("*/*.xml")):
        if path.parent.name in {item.stem for item in annotated}:
            continue
        for caption in etree.parse(str(path), parser).iterfind(".//fig/caption"):
            text = " ".join("".join(map(str, caption.itertext())).split())
            if not _UNDECIDED.search(text):
                yield _answer("corpus", text, {None: text})


def fitted(present: Floats, right: Floats, weight: Floats, prior: Floats, strength: Floats) -> Floats:
    """Factors in (0, 1) whose product says how likely an answer is right.

    Args:
        present: (answers, factors), 1 where a factor counts.
        right: per answer 0..1.
        weight: per answer.
        prior: where a factor is drawn to.
        strength: how strongly, in answers.
    """

    def loss(logits: Floats) -> float:
        log_factors = -np.logaddexp(0, -logits)
        chance = np.clip(np.exp(present @ log_factors), 1e-6, 1 - 1e-6)
        likely = weight * (right * np.log(chance) + (1 - right) * np.log(1 - chance))
        drawn = strength * (prior * log_factors - (1 - prior) * np.logaddexp(0, logits))
        return -float(likely.sum() + drawn.sum())

    result = minimize(loss, np.log(prior / (1 - prior)), method="L-BFGS-B")
    return 1 / (1 + np.exp(-np.asarray(result.x, dtype=np.float64)))


def _reported(name: str, claimed: Floats, right: Floats) -> None:
    bins = np.minimum((claimed * 10).astype(int), 9)
    gaps = [abs(claimed[bins == k].mean() - right[bins == k].mean()) * (bins == k).mean() for k in set(bins)]
    sure = claimed >= 0.93
    print(
        f"{name:24s} captions {len(right):4d}  right {right.mean():.3f}  claimed {claimed.mean():.3f}  "
        f"Brier {((claimed - right) ** 2).mean():.4f}  gap {sum(gaps):.4f}  "
        f"wrong from 0.93 on {int((right[sure] < 0.5).sum())} of {int(sure.sum())}"
    )


def main() -> None:
    """Fit, print the scores on sources left out, and the factors fitted on all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=Path("../shared"))
    found = list(answers(parser.parse_args().shared))
    names = list(confidence._FACTORS)
    columns = [*names, "nothing (several panels)", "nothing (one panel)"]
    present = np.zeros((len(found), len(columns)))
    for row, answer in enumerate(found):
        present[row, [names.index(reason) for reason in answer.reasons]] = 1
        present[row, -1 if answer.single else -2] = 1
    right = np.array([answer.right for answer in found])
    source = np.array([answer.source for answer in found])
    prior = np.array([confidence._FACTORS[name] if name in KEPT else PRIOR for name in names] + [PLAIN_PRIOR] * 2)
    strength = np.array([1e4 if name in KEPT else WEIGHT for name in names] + [PLAIN_WEIGHT] * 2)
    count = {name: int((source == name).sum()) for name in sorted(set(source))}
    even = np.array([len(found) / len(count) / count[name] for name in source])
    claimed = np.zeros(len(found))
    for name in count:
        out = source == name
        factors = fitted(present[~out], right[~out], even[~out], prior, strength)
        claimed[out] = np.exp(present[out] @ np.log(factors))
        _reported(f"left out: {name}", claimed[out], right[out])
    _reported("left out: all", claimed, right)
    for name, factor, cases in zip(
        columns, fitted(present, right, even, prior, strength), present.sum(axis=0), strict=True
    ):
        print(f"  {name:55s} {factor:.2f}  ({cases:.0f} captions)")


if __name__ == "__main__":
    main()
