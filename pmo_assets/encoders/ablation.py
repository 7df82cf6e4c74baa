"""Ablations: what a part of the data is worth, by encoders that differ in it alone and see equally many examples.

Each variant changes a recipe; all are taught from the same start for the same number of steps of the same size, with
several seeds, and are measured on the same panels and subcaptions of the test articles.
"""

from __future__ import annotations

import hashlib
import io
import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
from scipy import stats

from pmo_assets.encoders.examples.example_sets import Examples
from pmo_assets.encoders.examples.reading import read_examples, read_training_examples
from pmo_assets.encoders.examples.units import ExamplesError
from pmo_assets.encoders.training.recipes import Recipe, read_recipe, recipe_text
from pmo_assets.encoders.training.sampling import Sampler
from pmo_assets.records.pairs import PAIR_LEVELS, PairLevel
from pmo_assets.system.aside import write_text
from pmo_assets.viewing.report import Picture, ReportSummary, Table, render_report

MEASURES: Final = ("image_to_text recall@10", "text_to_image recall@10", "mrr")

CONFIDENCES: Final = (0.0, 0.5, 0.8, 0.9)
"""Thresholds of the confidence with which a text is a panel's."""

SIZES: Final = (0.25, 0.5, 1.0)
"""Shares of the training articles."""


@dataclass(frozen=True)
class Variant:
    """One of the encoders that are compared.

    Attributes:
        name: of it.
        changes: of the recipe, by place.
        articles: share of the training articles that it learns from.
    """

    name: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    articles: float = 1.0


def _levels(texts: Mapping[PairLevel, Mapping[str, float]], **more: float) -> dict[str, Any]:
    """Return changes that train these levels on these texts; terms that are not named are off."""
    terms = dict.fromkeys(("figure_panel", "panel_region", "roi", "consistency"), 0.0) | more
    return {
        "data.texts": texts,
        "schedule": {"kind": "mixed", "cycle": list(texts)},
        **{f"loss.{name}": weight for name, weight in terms.items()},
    }


_SUBCAPTION: Final[Mapping[str, float]] = {"subcaption": 1.0}

ABLATIONS: Final[Mapping[str, tuple[Variant, ...]]] = {
    "captions": (
        Variant("compound captions", _levels({"panel": {"caption": 1.0}})),
        Variant("subcaptions", _levels({"panel": _SUBCAPTION})),
    ),
    "figures": (
        Variant("whole figures", _levels({"figure": {"caption": 1.0}})),
        Variant("panels", _levels({"panel": _SUBCAPTION})),
    ),
    "summaries": (
        Variant("without summaries", _levels({"panel": _SUBCAPTION})),
        Variant("with summaries", _levels({"panel": {"subcaption": 0.5, "subcaption + summary": 0.5}})),
    ),
    "mentions": (
        Variant("without mentions", _levels({"panel": _SUBCAPTION})),
        Variant("with mentions", _levels({"panel": {"subcaption": 0.7, "mention": 0.3}})),
    ),
    "regions": (
        Variant("without regions", _levels({"panel": _SUBCAPTION})),
        Variant(
            "with regions",
            _levels({"panel": _SUBCAPTION, "region": {"fragment": 0.5, "description": 0.5}}, panel_region=0.1, roi=0.2),
        ),
    ),
    "confidence": tuple(
        Variant(f"confidence {least:g}", {**_levels({"panel": _SUBCAPTION}), "data.min_confidence": least})
        for least in CONFIDENCES
    ),
    "size": tuple(Variant(f"{share:.0%} of the articles", _levels({"panel": _SUBCAPTION}), share) for share in SIZES),
}
"""What is compared; OPEN-PMC has the first (table of compound figures) and the third (table of summaries)."""


@dataclass(frozen=True)
class Score:
    """How good an encoder is.

    Attributes:
        ablation, variant, seed: which encoder.
        examples: that it saw.
        units: that it learned from.
        numbers: of `MEASURES`.
    """

    ablation: str
    variant: str
    seed: int
    examples: int
    units: int
    numbers: Mapping[str, float]


def some_articles(examples: Examples, share: float) -> Examples:
    """Return the units of a share of the articles and lectures, two or more; a smaller share is part of a larger."""
    sources = sorted(examples.sources(), key=lambda name: hashlib.sha256(f"size {name}".encode()).digest())
    return examples.of(set(sources[: max(2, round(len(sources) * share))]))


def run_ablations(
    names: Sequence[str],
    places: Sequence[Path],
    folder: Path,
    *,
    recipe: str = "embedded",
    changes: Mapping[str, Any] | None = None,
    steps: int,
    seeds: Sequence[int],
    device: str = "cpu",
    tell: Callable[[str], None] = lambda _: None,
) -> Iterator[Score]:
    """Train and measure every variant with every seed; what was measured on these pairs before is read again.

    Args:
        names: of `ABLATIONS`.
        places: releases or tar shards with training, validation and test articles.
        folder: of the runs.
        recipe: what all variants start from.
        changes: of it, for all variants.
        steps: of every variant.
        seeds: of weights and order.
        device: cpu or cuda.
        tell: is told what begins.

    Raises:
        ExamplesError: if there are no test panels, or a variant has nothing to train on.
    """
    test = read_examples(places, "test", ["panel"])
    if len(test) < 2:
        raise ExamplesError("an ablation needs two panels in the test split to measure by")
    data = " ".join(item.digest() for item in (test, *read_training_examples(places, PAIR_LEVELS)))
    size = common_batch_size(
        [
            (read_recipe(recipe, {**(changes or {}), **item.changes}), item.articles)
            for n in names
            for item in ABLATIONS[n]
        ],
        places,
    )
    for name in names:
        for variant in ABLATIONS[name]:
            for seed in seeds:
                own = {
                    **(changes or {}), **variant.changes, "optimiser.steps": steps, "optimiser.batch_size": size,
                    "run.seed": seed, "run.evaluate_every": max(1, steps // 10), "run.patience": 0,
                }  # fmt: skip
                made = read_recipe(recipe, own)
                key = hashlib.sha256(f"{made.model_dump_json()} {variant.articles} {data}".encode()).hexdigest()[:12]
                place = folder / "runs" / key
                if not (place / "score.json").is_file():
                    tell(f"{name}: {variant.name}, seed {seed}")
                    text = recipe_text(recipe)
                    score = _measured(made, text, variant.articles, places, place, folder / "features", device, test)
                    write_text(place / "score.json", json.dumps(score) + "\n")
                    shutil.rmtree(place / "model")  # with the frozen bodies, 100 MB and more for each run
                read = json.loads((place / "score.json").read_text("utf-8"))
                examples = steps * made.optimiser.batch_size * made.optimiser.accumulate
                yield Score(name, variant.name, seed, examples, read.pop("units"), read)


def common_batch_size(variants: Sequence[tuple[Recipe, float]], places: Sequence[Path]) -> int:
    """Return the recipes' batch size, or the largest that every variant's units fill: else some would see fewer.

    Args:
        variants: recipes, and the share of the articles that each learns from.
        places: releases or tar shards.
    """
    size = min(recipe.optimiser.batch_size for recipe, _ in variants)
    for recipe, share in variants:
        learn, _ = read_training_examples(places, recipe.read_levels, recipe.data.min_confidence)
        sampler = Sampler(some_articles(learn, share), recipe)
        for level, count in sampler.sizes(0).items():
            if count:
                size = min(size, len(sampler.units[level]) * recipe.optimiser.batch_size // count)
    return max(2, size)


def _measured(
    recipe: Recipe,
    text: str,
    share: float,
    places: Sequence[Path],
    folder: Path,
    cache: Path,
    device: str,
    test: Examples,
) -> dict[str, float]:
    from pmo_assets.encoders.evaluation.embedding_files import EmbeddingTable
    from pmo_assets.encoders.evaluation.embeddings import Embeddings
    from pmo_assets.encoders.evaluation.evaluate import evaluate_retrieval
    from pmo_assets.encoders.evaluation.pairs import Pair, paired
    from pmo_assets.encoders.networks.building import load_encoder
    from pmo_assets.encoders.training.inputs import InputMaker
    from pmo_assets.encoders.training.run import RunOptions, train_encoder
    from pmo_assets.encoders.training.validation import embedded

    learn, choose = read_training_examples(places, recipe.read_levels, recipe.data.min_confidence)
    learn = some_articles(learn, share)
    for _ in train_encoder(folder, learn, choose, recipe, text, RunOptions(device, cache=cache)):
        pass
    encoder = load_encoder(folder)
    encoder.train_blocks(0, 0)
    units = [unit for unit in test.units["panel"] if unit.texts.get("subcaption")]
    texts = [unit.texts["subcaption"][0][1] for unit in units]
    maker = InputMaker(encoder, cache, device=device)
    images, words = embedded(maker, units, texts)
    maker.flush()
    names = tuple(unit.name for unit in units)
    pairs = [Pair(u.name, u.name, text, u.source, u.looks) for u, text in zip(units, texts, strict=True)]
    task = paired(
        EmbeddingTable(names, Embeddings(images, "pictures")), EmbeddingTable(names, Embeddings(words, "texts")), pairs
    )
    one, other = evaluate_retrieval(task.images.embeddings, task.texts.embeddings, task.right)
    return {
        MEASURES[0]: one.recall_at_10,
        MEASURES[1]: other.recall_at_10,
        "mrr": (one.mrr + other.mrr) / 2,
        "units": sum(len(learn.units[level]) for level in recipe.levels),
    }


def interval(values: Sequence[float]) -> tuple[float, float, float]:
    """Return the mean and its 95 % interval over seeds (Student's t); of one seed nan around it."""
    mean = float(np.mean(values))
    if len(values) < 2:
        return mean, float("nan"), float("nan")
    half = float(stats.t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / len(values) ** 0.5)
    return mean, mean - half, mean + half


def ablation_tables(scores: Sequence[Score]) -> tuple[Table, ...]:
    """Return a table of each ablation: the variants' numbers, and what they differ from the first by, seed by seed."""
    tables = []
    for name in dict.fromkeys(score.ablation for score in scores):
        own = [score for score in scores if score.ablation == name]
        first = next(iter(own)).variant
        by_variant = {v: [score for score in own if score.variant == v] for v in dict.fromkeys(s.variant for s in own)}
        rows = []
        for variant, found in by_variant.items():
            cells = []
            for measure in MEASURES:
                cells.append(_shown(interval([score.numbers[measure] for score in found])))
            before = {score.seed: score.numbers["mrr"] for score in by_variant[first]}
            differences = [score.numbers["mrr"] - before[score.seed] for score in found if score.seed in before]
            cells.append("" if variant == first else _shown(interval(differences), sign=True))
            rows.append((variant, f"{found[0].units:,}", *cells))
        note = f"{own[0].examples:,} examples each, {len(by_variant[first])} seeds; 95 % intervals over seeds."
        headings = ("variant", "units", *MEASURES, "mrr: difference from the first")
        tables.append(Table(name.capitalize(), headings, tuple(rows), note))
    return tuple(tables)


def ablation_page(scores: Sequence[Score], recipe: str) -> str:
    """Return all tables and the plot as one HTML page that loads nothing."""
    return render_report(
        ReportSummary(
            title="What parts of the data are worth",
            lead="Encoders that differ in one part of what they learn from, and see equally many examples; measured on "
            "panels and subcaptions of the same test articles.",
            facts=(("recipe", recipe), ("runs", f"{len(scores):,}")),
            tables=ablation_tables(scores),
            pictures=(
                Picture("Mean reciprocal ranks", ablation_plot(scores), "Seeds, their mean, its 95 % interval."),
            ),
        )
    )


def _shown(found: tuple[float, float, float], *, sign: bool = False) -> str:
    form = "+.3f" if sign else ".3f"
    mean, low, high = found
    return f"{mean:{form}}" if np.isnan(low) else f"{mean:{form}} [{low:{form}}, {high:{form}}]"


def ablation_plot(scores: Sequence[Score]) -> bytes:
    """Return the variants' mean reciprocal ranks with their intervals and seeds as PNG."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    keys = list(dict.fromkeys((score.ablation, score.variant) for score in scores))
    figure = Figure(figsize=(8, 0.9 + 0.36 * len(keys)), dpi=100, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    for place, key in enumerate(keys):
        values = [score.numbers["mrr"] for score in scores if (score.ablation, score.variant) == key]
        mean, low, high = interval(values)
        axes.plot(values, [place] * len(values), "o", color="#9aa5b1", markersize=4)
        if not np.isnan(low):
            axes.plot([low, high], [place, place], color="#1f5fa8", linewidth=2)
        axes.plot([mean], [place], "D", color="#1f5fa8", markersize=6)
    axes.set_yticks(range(len(keys)), [f"{name}: {variant}" for name, variant in keys], fontsize=8)
    axes.invert_yaxis()
    axes.set_xlabel("mean reciprocal rank, both directions, test panels")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="x", color="#e3e6ea", linewidth=0.8)
    stream = io.BytesIO()
    figure.savefig(stream, format="png")
    return stream.getvalue()
