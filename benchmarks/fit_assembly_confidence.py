"""Fit how sure an assignment is: the logistic function of `pmo_assets.pipeline.assembly.confidence`.

    python benchmarks/fit_assembly_confidence.py FOLDER … [--real FOLDER] [--check FOLDER …] [--write]

FOLDERs hold cases of `assembly_cases.py` (synthetic seeds for training). Every panel with a subcaption is right (it has
the identifier of the true panel that most of it shows) or wrong; a panel that is none counts as wrong. Figures of 30
panels weigh more than those of three, but not ten times. Synthetic figures mislead more often than real ones: `--real`
names cases of annotated articles that count as well, several times; what they say of themselves is then told by leaving
out a fifth of the articles at a time. Prints coefficients, and for every folder the share of panels above a level, the
share of right ones among them, Brier score and expected calibration error. `--write` keeps the coefficients.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from assembly_cases import AssemblyCase, TruePanel, read_cases
from numpy.typing import NDArray
from scipy.optimize import minimize

from pmo_assets.pipeline.assembly.confidence import CONFIDENCE_THRESHOLD, Features, terms
from pmo_assets.pipeline.assembly.identifier_evidence import figure_identifiers
from pmo_assets.pipeline.assembly.panel_captions import captioned_panels, panel_names
from pmo_assets.pipeline.assembly.reading.text_readers import text_reader
from pmo_assets.pipeline.assembly.steps import figure_split
from pmo_assets.records.geometry import area, intersection
from pmo_assets.records.identifiers import normalised_identifier
from pmo_assets.records.panels import Panel
from pmo_assets.records.reading import TextReader
from pmo_assets.tables.detections import found_panels

LEAST_SHOWN = 0.3
"""A panel that shows less of any true one, as a part of itself, shows none: a legend, a colour bar."""

REAL_WEIGHT, FOLDS = 4.0, 5
"""How often a real figure counts, and into how many parts real articles are cut for checking."""

SPEAK_FOR = frozenset({"share", "panel", "caption", "read", "counted", "least"})
"""Terms that never lower the confidence."""

PENALTY = 0.3
"""Of the squared coefficients, per figure: features that say little stay near 0."""


def examples(case: AssemblyCase, reader: TextReader | None) -> list[tuple[Features, bool]]:
    """Return what the confidence is made of, and whether the panel is right, of each panel with a subcaption."""
    seen: list[Features] = []

    def number_of(features: Features) -> float:
        seen.append(features)
        return float(len(seen) - 1)

    detections = found_panels(case.detections)
    assert case.figure is not None
    split = figure_split(case.figure, case.subcaptions, case.detections)
    identifiers = figure_identifiers(detections, panel_names(split), lambda: case.pixels, reader)
    found = [
        panel for panel in captioned_panels(detections, split, identifiers, number_of) if panel.subcaption is not None
    ]
    return [(seen[int(panel.confidence)], is_right(panel, case.truth)) for panel in found]


def is_right(panel: Panel, truth: Sequence[TruePanel]) -> bool:
    """Say whether a panel has the identifier, and a subcaption, of the true panel that most of it shows."""
    box = panel.box
    own = max(truth, key=lambda true: area(intersection(true.box, box)))
    if own.subcaption is None or area(intersection(own.box, box)) < LEAST_SHOWN * area(box):
        return False
    return normalised_identifier(panel.identifier) == normalised_identifier(own.identifier)


Table = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]


def table_of(groups: Sequence[Sequence[tuple[Features, bool]]], names: Sequence[str]) -> Table:
    """Return terms (panels, names), right (panels,), weights (panels,)."""
    rows, right, weights = [], [], []
    for group in groups:
        for features, is_right in group:
            found = terms(features)
            rows.append([found.get(name, 0.0) for name in names])
            right.append(float(is_right))
            weights.append(len(group) ** -0.5)
    return np.array(rows), np.array(right), np.array(weights)


def fitted(table: Table, names: Sequence[str]) -> Mapping[str, float]:
    """Return the coefficients of the logistic function."""
    x, y, weights = table

    def loss(theta: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        value = x @ theta
        likelihood = np.logaddexp(0.0, value) - y * value
        slope = 1 / (1 + np.exp(-value)) - y
        free = np.array([name != "one" for name in names])
        return (
            float((weights * likelihood).sum() + PENALTY * (free * theta**2).sum()),
            x.T @ (weights * slope) + 2 * PENALTY * free * theta,
        )

    # What speaks for an assignment must not lower its confidence, however the fitted figures are mixed.
    bounds = [
        (0.0, None) if name in SPEAK_FOR else (None, 0.0) if name == "disorder" else (None, None) for name in names
    ]
    solved = minimize(loss, np.zeros(len(names)), jac=True, method="L-BFGS-B", bounds=bounds)
    return {name: round(float(value), 4) for name, value in zip(names, solved.x, strict=True)}


def sureness_of(table: Table, coefficients: Mapping[str, float]) -> NDArray[np.float64]:
    """Return the confidence (panels,) of each panel of a table."""
    return np.asarray(1 / (1 + np.exp(-(table[0] @ np.array(list(coefficients.values()))))))


def report(name: str, y: NDArray[np.float64], sure: NDArray[np.float64]) -> None:
    """Print how well the confidence fits."""
    bins = np.minimum((sure * 10).astype(int), 9)
    error = sum(abs(sure[bins == b].mean() - y[bins == b].mean()) * (bins == b).mean() for b in set(bins.tolist()))
    print(f"{name}: {len(y)} panels, right {y.mean():.4f}, Brier {((sure - y) ** 2).mean():.4f}, ECE {error:.4f}")
    for level in (0.5, 0.7, 0.8, CONFIDENCE_THRESHOLD, 0.95, 0.97, 0.98, 0.99):
        above = sure >= level
        if above.any():
            wrong = int((1 - y[above]).sum())
            print(f"  >= {level:.2f}: coverage {above.mean():.3f}, right {y[above].mean():.4f} ({wrong} wrong)")


def main() -> None:
    """Fit, print, keep."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", type=Path, nargs="+")
    parser.add_argument("--real", type=Path, help="cases of annotated articles that count as well")
    parser.add_argument("--check", type=Path, nargs="*", default=[])
    parser.add_argument("--reader", choices=("none", "rapidocr", "easyocr"), default="rapidocr")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()

    def groups_of(folder: Path) -> dict[str, list[list[tuple[Features, bool]]]]:
        groups: dict[str, list[list[tuple[Features, bool]]]] = {}
        for case in read_cases(folder):
            if case.figure is not None:
                groups.setdefault(case.article, []).append(examples(case, text_reader(arguments.reader)))
        return groups

    trained = [group for folder in arguments.cases for groups in groups_of(folder).values() for group in groups]
    real = groups_of(arguments.real) if arguments.real else {}
    everything = [*trained, *(group for groups in real.values() for group in groups)]
    names = sorted({name for group in everything for features, _ in group for name in terms(features)})
    synthetic = table_of(trained, names)

    def fitted_with(articles: Sequence[str]) -> Mapping[str, float]:
        tables = [synthetic]
        if articles:
            x, y, weights = table_of([group for name in articles for group in real[name]], names)
            tables.append((x, y, REAL_WEIGHT * weights))
        return fitted((*(np.concatenate(part) for part in zip(*tables, strict=True)),), names)  # type: ignore[arg-type]

    coefficients = fitted_with(list(real))
    print(json.dumps(coefficients, indent=1))
    report("training", synthetic[1], sureness_of(synthetic, coefficients))
    right, sure = [], []
    for fold in range(FOLDS) if real else ():
        left_out = list(real)[fold::FOLDS]
        table = table_of([group for name in left_out for group in real[name]], names)
        right.append(table[1])
        sure.append(sureness_of(table, fitted_with([name for name in real if name not in left_out])))
    if real:
        report("real articles, each left out", np.concatenate(right), np.concatenate(sure))
    for folder in arguments.check:
        table = table_of([group for groups in groups_of(folder).values() for group in groups], names)
        report(str(folder), table[1], sureness_of(table, coefficients))
    if arguments.write:
        Path("pmo_assets/weights/assembly_confidence.json").write_text(
            json.dumps({"coefficients": coefficients}, indent=1) + "\n", encoding="utf-8"
        )


if __name__ == "__main__":
    main()
