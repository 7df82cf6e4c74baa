"""Fit what a sentence beside a mention is to a panel: needed, context, or of something else.

    python benchmarks/fit_passages.py [--shared ../shared] [--xmls FOLDER] [--write]

`data/passage_labels.jsonl` has the sentences around the mentions of 537 panels (the corpus, and JATS files of
allofplos' corpora, github.com/PLOS/allofplos, and of `gather_jats.py`, in the folder that `--xmls` names) by paragraph
and offset, those of 445 labelled by three readers who took no part in the rules, the others by two authors of them: N
needed (a finding of the panel that its subcaption does not tell, or what must be known to understand it), C context (of
the same patient or experiment), F foreign. The first lot of `data/summary_sentence_labels.jsonl`, 40 panels, is fitted
on, too; the second and the third are held out. Printed is, with articles left out tenth by tenth, how many of the
needed sentences are taken, in how many panels all of them, and in how many something foreign, by how much likelier
needed than foreign a sentence must be (`LEAST_ODDS`); `--write` fits on all and writes `weights/passage_choice.json`.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from fit_panel_modality import tables_of
from numpy.typing import NDArray
from scipy.optimize import minimize
from score_summaries import summarised, tables_of_xml

from pmo_assets.pipeline.context import passages
from pmo_assets.pipeline.context.article_text import article_text
from pmo_assets.pipeline.context.passages import (
    FEATURES,
    ROLES,
    Role,
    candidates,
    chosen_of,
    passage_features,
    role_probabilities,
)
from pmo_assets.pipeline.context.subcaption_terms import subcaption_terms
from pmo_assets.records.context import RunningParagraph
from pmo_assets.records.step_output import Row
from pmo_assets.tables.rows import record_of

LABELS = Path(__file__).parent / "data" / "passage_labels.jsonl"
SUMMARY_LABELS = Path(__file__).parent / "data" / "summary_sentence_labels.jsonl"
WEIGHTS = Path(passages.__file__).parents[2] / passages.PACKAGE_DATA[0]
LETTERS: Mapping[str, Role] = {"N": "needed", "C": "context", "F": "foreign"}
SHRINKAGE = 3.0
FOLDS = 10


@dataclass(frozen=True)
class Sentence:
    """A labelled sentence beside a mention, with its panel.

    `offset` is how many sentences it stands behind the mention (negative: before), which stands at `mention`.
    """

    article: str
    panel: tuple[str, str, str]
    mention: int
    offset: int
    features: Mapping[str, float]
    role: Role


def labelled(
    article: str, tables: Mapping[str, Sequence[Row]], rows: Sequence[Mapping[str, Any]]
) -> Iterator[Sentence]:
    """Yield the labelled sentences of an article that can be taken: neither mentions nor titles.

    Args:
        article: its name.
        tables: of the article.
        rows: labels of its panels.
    """
    paragraphs = [record_of(RunningParagraph, row) for row in tables["articles"][0]["paragraphs"]]
    captions = [figure["caption"] for figure in tables["figures"]]
    text = article_text(paragraphs, captions, tables["articles"][0]["title"])
    panels = {panel.key: panel for panel in summarised(article, tables)[0]}
    for row in rows:
        key = (article, row["figure"], row["panel"])
        if (panel := panels.get(key)) is None:
            print("no panel (any more):", *key)
            continue
        terms = subcaption_terms(panel.words.subcaption, panel.words.others)
        spoken_of = {(item.paragraph, item.start) for item in panel.mentions}
        mentions = [text.places[place] for place in spoken_of if place in text.places]
        for paragraph, start, letter in row["sentences"]:
            k = text.places[paragraph, start]
            n = min(mentions, key=lambda place: (abs(place - k), place))
            if k in candidates(n, text, spoken_of):
                yield Sentence(
                    article, key, n, k - n, passage_features(n, k, terms, text, spoken_of), LETTERS[letter[0]]
                )


def fitted(sentences: Sequence[Sentence]) -> dict[Role, dict[str, float]]:
    """Return the weights under which the roles are likeliest."""
    found = np.array([[item.features.get(name, 0.0) for name in FEATURES] for item in sentences])
    right = np.array([ROLES.index(item.role) for item in sentences])
    rows = np.arange(len(right))

    def loss(values: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        weights = values.reshape(len(ROLES), -1)
        logits = found @ weights.T
        logits -= logits.max(axis=1, keepdims=True)
        shares = np.exp(logits)
        shares /= shares.sum(axis=1, keepdims=True)
        value = -np.log(shares[rows, right]).sum() + SHRINKAGE / 2 * (weights**2).sum()
        shares[rows, right] -= 1
        return float(value), (shares.T @ found + SHRINKAGE * weights).ravel()

    start = np.zeros(len(ROLES) * len(FEATURES))
    best = minimize(loss, start, jac=True, method="L-BFGS-B").x.reshape(len(ROLES), -1)
    return {
        role: {name: round(float(value), 4) for name, value in zip(FEATURES, best[n], strict=True)}
        for n, role in enumerate(ROLES)
    }


def report(sentences: Sequence[Sentence]) -> None:
    """Print what each limit takes, each article left out of the fit."""
    articles = sorted({item.article for item in sentences})
    np.random.default_rng(0).shuffle(articles)
    shares: dict[int, dict[Role, float]] = {}
    for fold in range(FOLDS):
        out = set(articles[fold::FOLDS])
        weights = fitted([item for item in sentences if item.article not in out])
        for n, item in enumerate(sentences):
            if item.article in out:
                shares[n] = role_probabilities(item.features, weights)
    around: dict[tuple[tuple[str, str, str], int], list[int]] = defaultdict(list)
    for n, item in enumerate(sentences):
        around[item.panel, item.mention].append(n)
    needed = {n for n, item in enumerate(sentences) if item.role == "needed"}
    panels = {item.panel for item in sentences}
    print(f"{len(sentences)} sentences of {len(panels)} panels of {len(articles)} articles, {len(needed)} needed")
    for odds in (0.3, 0.5, 0.7, 0.85, 1.0, passages.LEAST_ODDS, 1.5, 2.0, 3.0, 5.0):
        taken = {
            beside[i]
            for beside in around.values()
            for i in chosen_of([sentences[n].offset for n in beside], [shares[n] for n in beside], odds)
        }
        wrong = [n for n in taken if sentences[n].role == "foreign"]
        with_wrong, lacking = ({sentences[n].panel for n in some} for some in (wrong, needed - taken))
        share, met = len(needed & taken) / len(needed), 1 - len(lacking) / len(panels)
        print(
            f"  odds {odds}: {len(taken) / len(panels):.1f} sentences a panel, {len(wrong) / len(taken):.3f} foreign, "
            f"in {len(with_wrong) / len(panels):.3f} of the panels; "
            f"{share:.3f} of the needed, all in {met:.3f} of the panels"
        )


def main() -> None:
    """Read, fit and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=Path(__file__).resolve().parents[2] / "shared")
    parser.add_argument("--xmls", type=Path)
    parser.add_argument("--write", action="store_true", help="fit on all and write the weights")
    arguments = parser.parse_args()
    rows: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for line in [*LABELS.read_text("utf-8").splitlines(), *SUMMARY_LABELS.read_text("utf-8").splitlines()]:
        row = json.loads(line)
        if row.get("lot", 1) == 1:
            rows[row["article"]].append(row)
    sentences: list[Sentence] = []
    for article, own in sorted(rows.items()):
        folder = arguments.shared / "corpus" / article
        if folder.is_dir():
            sentences += labelled(article, tables_of(folder, "panel_mentions"), own)
        elif arguments.xmls is not None:
            sentences += labelled(article, tables_of_xml(arguments.xmls / f"{article}.xml"), own)
    report(sentences)
    if arguments.write:
        WEIGHTS.write_text(json.dumps(fitted(sentences), indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
