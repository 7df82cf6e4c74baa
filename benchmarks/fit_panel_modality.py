"""Fit how pixels and words together say a panel's modality class, and print what that gives on articles held out.

    python benchmarks/fit_panel_modality.py [--shared ../shared] [--write]

Takes every article of `data/panel_modality_labels.tsv` through the pipeline and compares the panels with the classes
there (R, V, M, N, judged by looking at picture and caption). Weights are those under which the classes are likeliest,
held to priors. Each article is left out in turn; printed are the share of right classes and the Brier score of panels
of articles left out, beside those of pixels only and of words only, each fitted for itself in the same way.

Run it again when the image type network was trained further. Without `--write` the weights are left as they are.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from pmo_assets.pipeline.article import process_article
from pmo_assets.pipeline.articles.fetching import FetchLimits, fetch_package
from pmo_assets.pipeline.articles.references import label_key
from pmo_assets.pipeline.articles.relevance import load_specialty
from pmo_assets.pipeline.context.modality import (
    CLASSES,
    LEAST,
    TIERS,
    WEIGHTS,
    Decided,
    ModalityEvidence,
    class_probabilities,
    evidence_features,
    modality_evidence,
)
from pmo_assets.records.context import PanelMention
from pmo_assets.records.memory_stores import MemoryObjects
from pmo_assets.records.step_output import Row
from pmo_assets.sources.local import LocalFolder
from pmo_assets.sources.package_folders import list_package
from pmo_assets.tables.panels import panel_images
from pmo_assets.tables.rows import record_of

LABELS = Path(__file__).parent / "data" / "panel_modality_labels.tsv"
FILE = Path(__file__).parents[1] / "pmo_assets" / "weights" / "panel_modality.json"

SHRINKAGE = 1.0
"""Weights are held to their priors as by so many panels."""

PRIOR = {"pixels": 0.5, **dict.fromkeys(TIERS, 0.5)}
"""Every source is right to some degree, also one that no article of these has much of."""


@dataclass(frozen=True, slots=True)
class Case:
    """A panel: its article, what is known of it, its class, and how much it counts."""

    article: str
    name: str
    evidence: ModalityEvidence
    truth: Decided
    counts: float = 1.0


def labels() -> dict[tuple[str, str], dict[str, Decided]]:
    """Return by article and key of the figure the class of each panel; "*" is every panel."""
    found: dict[tuple[str, str], dict[str, Decided]] = {}
    for line in LABELS.read_text("utf-8").splitlines()[1:]:
        article, figures, panels, kind = line.split("\t")
        for figure in figures.split():
            named = found.setdefault((article, figure), {})
            for panel in panels.split():
                named[panel] = next(item for item in CLASSES if item == kind)
    return found


def tables_of(folder: Path, target: str) -> Mapping[str, Sequence[Row]]:
    """Return the tables that the pipeline makes of a package, up to `target`."""
    listing = list_package(folder, folder.parent)
    if listing is None:
        raise SystemExit(f"{folder} is no article package")
    objects = MemoryObjects({})
    fetched = fetch_package(asdict(listing), LocalFolder(folder.parent), objects, FetchLimits())
    return process_article(fetched.rows[0], objects, specialty=load_specialty("everything"), targets=[target]).tables


def article_cases(
    article: str, tables: Mapping[str, Sequence[Row]], classes: Mapping[tuple[str, str], Mapping[str, Decided]]
) -> list[Case]:
    """Return the labelled panels of an article with their evidence."""
    keys = {row["image_cluster_id"]: label_key(row["label"] or "") for row in tables["figures"]}
    found = []
    for row in tables["panel_assembly"]:
        named = classes.get((article, keys[row["image_cluster_id"]] or ""), {})
        truth = named.get(row["identifier"] or "*", named.get("*"))
        if truth is None:
            continue
        mentions = [
            record_of(PanelMention, mention)
            for mention in tables["panel_mentions"]
            if mention["image_cluster_id"] == row["image_cluster_id"]
            and mention["identifier"] in (None, row["identifier"])
        ]
        evidence = modality_evidence(panel_images(row["images"]), row["subcaption"] or "", mentions)
        name = f"{article} {row['image_cluster_id']} {row['identifier'] or ''}"
        found.append(Case(article, name, evidence, truth))
    return found


def fitted(cases: Sequence[Case]) -> dict[str, float]:
    """Return the weights under which the classes of panels are likeliest."""
    features = np.zeros((len(cases), len(CLASSES), len(WEIGHTS)))
    for n, case in enumerate(cases):
        for name, shares in evidence_features(case.evidence).items():
            for k, kind in enumerate(CLASSES):
                features[n, k, WEIGHTS.index(name)] = shares[kind]
    for k, kind in enumerate(CLASSES):
        features[:, k, WEIGHTS.index(f"always {kind}")] = 1.0
    right = np.array([CLASSES.index(case.truth) for case in cases])
    counted = np.array([case.counts for case in cases])
    prior = np.array([PRIOR.get(name, 0.0) for name in WEIGHTS])

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        logits = features @ weights
        logits -= logits.max(axis=1, keepdims=True)
        shares = np.exp(logits)
        shares /= shares.sum(axis=1, keepdims=True)
        picked = features[np.arange(len(right)), right]
        value = (
            -(counted * np.log(shares[np.arange(len(right)), right])).sum()
            + SHRINKAGE / 2 * ((weights - prior) ** 2).sum()
        )
        slope = -(counted[:, None] * (picked - (shares[:, :, None] * features).sum(axis=1))).sum(axis=0)
        return float(value), slope + SHRINKAGE * (weights - prior)

    # A source counts for what it says, never against it.
    bounds = [(None, None) if name.startswith("always") else (0.0, None) for name in WEIGHTS]
    best = minimize(loss, prior, jac=True, method="L-BFGS-B", bounds=bounds).x
    return {name: round(float(value), 4) for name, value in zip(WEIGHTS, best, strict=True)}


def counted_by_figure(cases: Sequence[Case]) -> list[Case]:
    """Return the cases, those of an article with many panels counting less each: its figures look alike."""
    panels = Counter(case.article for case in cases)
    return [replace(case, counts=float(np.sqrt(panels[case.article]) / panels[case.article])) for case in cases]


def pixels_only(case: Case) -> Case:
    """Return a case without words."""
    return replace(case, evidence=ModalityEvidence(case.evidence.pixels, (None,) * len(TIERS)))


def words_only(case: Case) -> Case:
    """Return a case without pixels."""
    return replace(case, evidence=ModalityEvidence(None, case.evidence.words))


def own_words_only(case: Case) -> Case:
    """Return a case with its subcaption alone, as OPEN-PMC classifies it."""
    return replace(case, evidence=ModalityEvidence(None, (case.evidence.words[0], None, None)))


def held_out(cases: Sequence[Case], seen: Callable[[Case], Case]) -> list[tuple[Case, dict[Decided, float]]]:
    """Return each case with its probabilities under weights that were fitted without its article."""
    cases = counted_by_figure([seen(case) for case in cases])
    found = []
    for article in sorted({case.article for case in cases}):
        weights = fitted([case for case in cases if case.article != article])
        found += [(case, class_probabilities(case.evidence, weights)) for case in cases if case.article == article]
    return found


def scores(found: Sequence[tuple[Case, Mapping[Decided, float]]]) -> str:
    """Return the share of right classes, decided and undecided, the Brier score and the calibration, in words."""
    right = [max(shares, key=shares.__getitem__) == case.truth for case, shares in found]
    decided = [
        (ok, max(shares.values()))
        for ok, (_, shares) in zip(right, found, strict=True)
        if max(shares.values()) >= LEAST
    ]
    brier = np.mean([sum((shares[kind] - (kind == case.truth)) ** 2 for kind in CLASSES) for case, shares in found])
    articles: dict[str, list[bool]] = {}
    for ok, (case, _) in zip(right, found, strict=True):
        articles.setdefault(case.article, []).append(ok)
    by_article = np.mean([np.mean(values) for values in articles.values()])
    return (
        f"accuracy {np.mean(right):.3f} (mean of articles {by_article:.3f}), Brier {brier:.3f}; "
        f"decided {len(decided) / len(found):.3f}, of these right {np.mean([ok for ok, _ in decided]):.3f}, "
        f"said {np.mean([p for _, p in decided]):.3f}"
    )


def report(cases: Sequence[Case]) -> None:
    """Print the scores of articles left out, and every panel that is wrong."""
    print(
        len(cases),
        "panels of",
        len({case.article for case in cases}),
        "articles:",
        dict(Counter(c.truth for c in cases)),
    )
    for name, seen in (
        ("own words only", own_words_only), ("words only", words_only), ("pixels only", pixels_only),
        ("both", lambda case: case),
    ):  # fmt: skip
        found = held_out(cases, seen)
        print(f"{name:15s} {scores(found)}")
    for case, shares in found:
        said = max(CLASSES, key=shares.__getitem__)
        if said != case.truth:
            print(f"    {case.name}: {case.truth}, said {said} ({shares[said]:.2f})")


def main() -> None:
    """Fit, print and, if wanted, write the weights."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=Path(__file__).resolve().parents[2] / "shared")
    parser.add_argument("--write", action="store_true", help="put the weights into the package")
    arguments = parser.parse_args()
    classes = labels()
    cases = [
        case
        for article in sorted({article for article, _ in classes})
        for case in article_cases(article, tables_of(arguments.shared / "corpus" / article, "panel_mentions"), classes)
    ]
    report(cases)
    weights = fitted(counted_by_figure(cases))
    print(weights)
    if arguments.write:
        FILE.write_text(json.dumps(weights, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
