"""Fit what a sentence beside a mention is to a panel: needed, context, or of something else.

    python benchmarks/fit_passages.py [--shared ../shared] [--xmls FOLDER] [--write]

`data/passage_labels.jsonl` has the sentences around the mentions of 537 panels (the corpus, and JATS files of
allofplos' corpora, github.com/PLOS/allofplos, and of `gather_jats.py`, in the folder that `--xmls` names) by paragraph
and offset, those of 445 labelled by three readers who took no part in the rules, the others by two authors of them: N
needed (a finding of the panel that its subcaption does not tell, or what must be known to understand it), C context (of
the same patient or experiment), F foreign. The first four lots of `data/summary_sentence_labels.jsonl`, 176 panels, are
fitted on, too; the fifth is held out. Each panel weighs the same in the fit, however many sentences stand around its
mentions, as it does in the goals.

Printed is, with articles left out tenth by tenth, how many of the needed sentences are taken, in how many panels all of
them, and in how many something foreign, by how much likelier needed than foreign a sentence must be (`LEAST_ODDS`);
and how many times as many panels as the goals allow lack something, or have something foreign. The limit is set by
finished summaries, in which main findings count (docs/measurements.md). `--write` fits on all and writes
`weights/passage_choice.json`.
"""

from __future__ import annotations

import argparse
import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from fit_panel_modality import tables_of
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.stats import mannwhitneyu
from score_summaries import Summarised, summarised, tables_of_xml

from pmo_assets.pipeline.context import passages
from pmo_assets.pipeline.context.article_text import ArticleText, article_text
from pmo_assets.pipeline.context.passages import (
    FEATURES,
    ROLES,
    Role,
    candidates,
    chosen_of,
    passage_features,
    role_probabilities,
    surroundings,
)
from pmo_assets.records.context import RunningParagraph
from pmo_assets.records.step_output import Row
from pmo_assets.tables.rows import record_of

LABELS = Path(__file__).parent / "data" / "passage_labels.jsonl"
SUMMARY_LABELS = Path(__file__).parent / "data" / "summary_sentence_labels.jsonl"
WEIGHTS = Path(passages.__file__).parents[2] / passages.PACKAGE_DATA[0]
LETTERS: Mapping[str, Role] = {"N": "needed", "C": "context", "F": "foreign"}
FITTED_LOTS = (1, 2, 3, 4)
SHRINKAGE = 3.0
FOLDS = 10
GOALS = (0.15, 0.05)
"""Share of the panels that may lack something needed, and that may have something foreign."""


@dataclass(frozen=True)
class Sentence:
    """A labelled sentence beside a mention, with its panel.

    `offset` is how many sentences it stands behind the mention (negative: before), which stands at `mention`.
    """

    panel: tuple[str, str, str]
    mention: int
    offset: int
    features: Mapping[str, float]
    role: Role

    @property
    def article(self) -> str:
        """Name of its article."""
        return self.panel[0]


@dataclass(frozen=True)
class Place:
    """Where a labelled sentence stands: panel, article, positions of its mention and of itself among its sentences.

    Beside them the captions of the panel's figure and of the others, and the title of the article ("" without one).
    """

    panel: Summarised
    text: ArticleText
    caption: str
    other_captions: tuple[str, ...]
    title: str
    spoken_of: frozenset[tuple[int, int]]
    mention: int
    position: int
    role: Role


def labelled_places(
    article: str, tables: Mapping[str, Sequence[Row]], rows: Sequence[Mapping[str, Any]]
) -> Iterator[Place]:
    """Yield the places of an article's labelled sentences that can be taken: neither mentions nor titles.

    Args:
        article: its name.
        tables: of the article.
        rows: labels of its panels.
    """
    paragraphs = [record_of(RunningParagraph, row) for row in tables["articles"][0]["paragraphs"]]
    captions = [figure["caption"] for figure in tables["figures"]]
    title = tables["articles"][0]["title"] or ""
    text = article_text(paragraphs, captions, title)
    panels = {panel.key: panel for panel in summarised(article, tables)[0]}
    for row in rows:
        key = (article, row["figure"], row["panel"])
        if (panel := panels.get(key)) is None:
            print("no panel (any more):", *key)
            continue
        caption = next(figure["caption"] for figure in tables["figures"] if (figure["label"] or "") == panel.label)
        others = tuple(other for other in captions if other != caption)
        spoken_of = frozenset((item.paragraph, item.start) for item in panel.mentions)
        mentions = [text.places[place] for place in spoken_of if place in text.places]
        for paragraph, start, letter in row["sentences"]:
            k = text.places[paragraph, start]
            n = min(mentions, key=lambda place: (abs(place - k), place))
            if k in candidates(n, text, spoken_of):
                yield Place(panel, text, caption, others, title, spoken_of, n, k, LETTERS[letter[0]])


def sentence_at(place: Place, further: Mapping[str, float] | None = None) -> Sentence:
    """Return a labelled sentence with its features, and `further` ones."""
    words = place.panel.words
    panel = surroundings(words.subcaption, words.others, place.caption, place.panel.mentions, place.text)
    features = passage_features(place.mention, place.position, panel, place.text)
    offset = place.position - place.mention
    return Sentence(place.panel.key, place.mention, offset, {**features, **(further or {})}, place.role)


def fitted(sentences: Sequence[Sentence], names: Sequence[str] = FEATURES) -> dict[Role, dict[str, float]]:
    """Return the weights of features under which the roles are likeliest, each panel counting as one."""
    found = np.array([[item.features.get(name, 0.0) for name in names] for item in sentences])
    right = np.array([ROLES.index(item.role) for item in sentences])
    rows = np.arange(len(right))
    number = Counter(item.panel for item in sentences)
    share = np.array([len(sentences) / len(number) / number[item.panel] for item in sentences])

    def loss(values: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        weights = values.reshape(len(ROLES), -1)
        logits = found @ weights.T
        logits -= logits.max(axis=1, keepdims=True)
        shares = np.exp(logits)
        shares /= shares.sum(axis=1, keepdims=True)
        value = -(share * np.log(shares[rows, right])).sum() + SHRINKAGE / 2 * (weights**2).sum()
        shares[rows, right] -= 1
        return float(value), ((share[:, None] * shares).T @ found + SHRINKAGE * weights).ravel()

    start = np.zeros(len(ROLES) * len(names))
    best = minimize(loss, start, jac=True, method="L-BFGS-B").x.reshape(len(ROLES), -1)
    return {
        role: {name: round(float(value), 4) for name, value in zip(names, best[n], strict=True)}
        for n, role in enumerate(ROLES)
    }


def report(sentences: Sequence[Sentence], names: Sequence[str] = FEATURES) -> None:
    """Print how well needed and foreign are told apart and what each limit takes, each article left out of the fit."""
    articles = sorted({item.article for item in sentences})
    np.random.default_rng(0).shuffle(articles)
    shares: dict[int, dict[Role, float]] = {}
    for fold in range(FOLDS):
        out = set(articles[fold::FOLDS])
        weights = fitted([item for item in sentences if item.article not in out], names)
        for n, item in enumerate(sentences):
            if item.article in out:
                shares[n] = role_probabilities(item.features, weights)
    around: dict[tuple[tuple[str, str, str], int], list[int]] = defaultdict(list)
    for n, item in enumerate(sentences):
        around[item.panel, item.mention].append(n)
    needed = {n for n, item in enumerate(sentences) if item.role == "needed"}
    panels = {item.panel for item in sentences}
    foreign_ones = [n for n, item in enumerate(sentences) if item.role == "foreign"]
    odds_of = {n: math.log(shares[n]["needed"]) - math.log(shares[n]["foreign"]) for n in (*needed, *foreign_ones)}
    above = mannwhitneyu([odds_of[n] for n in needed], [odds_of[n] for n in foreign_ones]).statistic
    print(
        f"{len(sentences)} sentences of {len(panels)} panels of {len(articles)} articles, {len(needed)} needed; AUC of "
        f"needed against foreign {above / len(needed) / len(foreign_ones):.3f}"
    )
    for odds in (0.3, 0.5, 0.7, 0.85, 1.0, 1.2, 1.4, passages.LEAST_ODDS, 1.8, 2.0, 3.0, 5.0):
        taken = {
            beside[i]
            for beside in around.values()
            for i in chosen_of([sentences[n].offset for n in beside], [shares[n] for n in beside], odds)
        }
        wrong = [n for n in taken if sentences[n].role == "foreign"]
        with_wrong, lacking = ({sentences[n].panel for n in some} for some in (wrong, needed - taken))
        lack, foreign = len(lacking) / len(panels), len(with_wrong) / len(panels)
        print(
            f"  odds {odds}: {len(taken) / len(panels):.1f} sentences a panel, {len(wrong) / len(taken):.3f} foreign, "
            f"in {foreign:.3f} of the panels; {len(needed & taken) / len(needed):.3f} of the needed, all in "
            f"{1 - lack:.3f} of the panels; {lack / GOALS[0]:.1f}, {foreign / GOALS[1]:.1f} times what the goals allow"
        )


def all_places(shared: Path, xmls: Path | None) -> list[Place]:
    """Return the places of all sentences that are fitted on.

    Args:
        shared: folder with the corpus.
        xmls: folder of JATS files; None without them.
    """
    rows: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for line in [*LABELS.read_text("utf-8").splitlines(), *SUMMARY_LABELS.read_text("utf-8").splitlines()]:
        row = json.loads(line)
        if "lot" not in row or row["lot"] in FITTED_LOTS:
            rows[row["article"]].append(row)
    places: list[Place] = []
    for article, own in sorted(rows.items()):
        folder = shared / "corpus" / article
        if folder.is_dir():
            places += labelled_places(article, tables_of(folder, "panel_mentions"), own)
        elif xmls is not None:
            places += labelled_places(article, tables_of_xml(xmls / f"{article}.xml"), own)
    return places


def main() -> None:
    """Read, fit and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=Path(__file__).resolve().parents[2] / "shared")
    parser.add_argument("--xmls", type=Path)
    parser.add_argument("--write", action="store_true", help="fit on all and write the weights")
    arguments = parser.parse_args()
    sentences = [sentence_at(place) for place in all_places(arguments.shared, arguments.xmls)]
    report(sentences)
    if arguments.write:
        WEIGHTS.write_text(json.dumps(fitted(sentences), indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
