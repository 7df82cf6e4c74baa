"""Fit how sure an assignment is: the logistic function of `pmo_assets.pipeline.assembly.confidence`.

    python benchmarks/fit_assembly_confidence.py FOLDER … [--check FOLDER …] [--write]

FOLDERs hold cases of `assembly_cases.py` (synthetic seeds for training). Every panel with a subcaption is right (it has
the true identifier) or wrong; a panel that is none counts as wrong. Weighted by figure, so that a figure of thirty
panels counts as one of three does. Prints coefficients, and for training and checked folders the share of panels above
the threshold, the share of right ones among them, Brier score and expected calibration error. `--write` keeps them.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from assembly_cases import AssemblyCase, read_cases
from numpy.typing import NDArray
from scipy.optimize import minimize
from score_assembly import scored_panel

from pmo_assets.pipeline.assembly.confidence import CONFIDENCE_THRESHOLD, Features, terms
from pmo_assets.pipeline.assembly.identifier_evidence import figure_marks
from pmo_assets.pipeline.assembly.panel_captions import captioned_panels, panel_names
from pmo_assets.pipeline.assembly.reading.text_readers import text_reader
from pmo_assets.pipeline.assembly.steps import figure_split
from pmo_assets.records.detections import PanelDetection
from pmo_assets.records.outcome import Row
from pmo_assets.records.reading import TextReader
from pmo_assets.tables.detections import in_detection_order
from pmo_assets.tables.panels import panel_caption_row
from pmo_assets.tables.rows import record_of

PENALTY = 0.3
"""Of the squared coefficients, per figure: features that say little stay near 0."""


def examples(case: AssemblyCase, reader: TextReader | None) -> list[tuple[Features, bool]]:
    """Return what the confidence is made of, and whether the panel is right, of each panel with a subcaption."""
    seen: list[Features] = []

    def number_of(features: Features) -> float:
        seen.append(features)
        return float(len(seen) - 1)

    rows = in_detection_order(case.detections)
    detections = [record_of(PanelDetection, row) for row in rows]
    assert case.figure is not None
    split = figure_split(case.figure, case.subcaptions, [row for row in rows if row["kind"] == "identifier"])
    marks = figure_marks(detections, panel_names(split), lambda: case.pixels, reader)
    panels = captioned_panels(detections, split, marks, number_of)
    identifiers = [row for row in rows if row["kind"] == "identifier"]
    found: list[Row] = [panel_caption_row(panel, identifiers, split.confidence) for panel in panels]
    right = set()
    for truth in case.truth:
        scored = scored_panel(truth, found)
        if scored.found is not None and scored.state == "right":
            right.add(int(scored.found["confidence"]))
    given = [int(row["confidence"]) for row in found if row["subcaption"] is not None]
    return [(seen[number], number in right) for number in given]


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

    solved = minimize(loss, np.zeros(len(names)), jac=True, method="L-BFGS-B")
    return {name: round(float(value), 4) for name, value in zip(names, solved.x, strict=True)}


def report(name: str, table: Table, coefficients: Sequence[float]) -> None:
    """Print how well the confidence fits."""
    x, y, _ = table
    sure = 1 / (1 + np.exp(-(x @ np.array(coefficients))))
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
    parser.add_argument("--check", type=Path, nargs="*", default=[])
    parser.add_argument("--reader", choices=("none", "rapidocr", "easyocr"), default="rapidocr")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()

    def groups_of(folder: Path) -> list[list[tuple[Features, bool]]]:
        return [examples(case, text_reader(arguments.reader)) for case in read_cases(folder) if case.figure is not None]

    trained = [group for folder in arguments.cases for group in groups_of(folder)]
    names = sorted({name for group in trained for features, _ in group for name in terms(features)})
    table = table_of(trained, names)
    coefficients = fitted(table, names)
    print(json.dumps(coefficients, indent=1))
    report("training", table, list(coefficients.values()))
    for folder in arguments.check:
        report(str(folder), table_of(groups_of(folder), names), list(coefficients.values()))
    if arguments.write:
        Path("pmo_assets/weights/assembly_confidence.json").write_text(
            json.dumps({"coefficients": coefficients}, indent=1) + "\n", encoding="utf-8"
        )


if __name__ == "__main__":
    main()
