"""Answer yes/no instructions without their pictures: constant answers, and a bag of words of the questions.

    python benchmarks/blind_instructions.py HUB_FOLDER
    python benchmarks/blind_instructions.py --captions CAPTIONS.jsonl

Reads `data/instructions` of a release, or makes instructions of captions (`article`, `figure`, `caption`; each counts
as that of a figure with one panel, whose modality is the first that its words name), drops what the checks discard, and
balances them as a release does. The questions' words are learned by logistic regression in folds that no article is in
twice; the share of right answers is of all rows together, with a 95 % interval over articles (bootstrap, 2,000 draws).
What is far from one half leaks from the questions.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

from pmo_assets.pipeline.context.entities import panel_entities, panel_terms
from pmo_assets.pipeline.context.modality_words import OUTRIGHT, WORDS
from pmo_assets.pipeline.dataset.instruction_rows import YesNoBalance
from pmo_assets.pipeline.instructions.case import CuedCase, PanelCase
from pmo_assets.pipeline.instructions.checks import is_kept, verdicts
from pmo_assets.pipeline.instructions.cues import panel_cues
from pmo_assets.pipeline.instructions.phrasings import MODALITY_WORDS
from pmo_assets.pipeline.instructions.scores import cue_score
from pmo_assets.pipeline.instructions.templates import short_questions

Said = tuple[str, str, str, str]
"""Article, topic, question, answer."""

FOLDS = 5
DRAWS = 2_000


def of_release(folder: Path) -> list[Said]:
    """Return the yes/no instructions of a release."""
    parts = [pl.read_parquet(path) for path in sorted((folder / "data" / "instructions").glob("*.parquet"))]
    rows = pl.concat(parts).filter(pl.col("kind") == "yes_no")
    return [
        (str(row["article_id"]), row["topic"], row["messages"][0]["content"], row["messages"][1]["content"])
        for row in rows.iter_rows(named=True)
    ]


def of_captions(path: Path) -> list[Said]:
    """Return the yes/no instructions of captions, checked and balanced."""
    made: dict[str, tuple[str, Said]] = {}
    balance = YesNoBalance()
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        for asked, said in _of_caption(row["article"], row["figure"], row["caption"]):
            name = f"{row['article']} {row['figure']} {said[2]}"
            made[name] = (asked, said)
    for name, (asked, (_, topic, _, answer)) in made.items():
        balance.add("all", topic, asked, answer, name)
    out = balance.left_out()
    print(f"{len(made)} yes/no instructions, {len(out)} left out by balance")
    return [said for name, (_, said) in made.items() if name not in out]


def _of_caption(article: str, figure: str, caption: str) -> Iterator[tuple[str, Said]]:
    entities = panel_entities(caption, [], {})
    named = (name for pattern, name, weight in WORDS if weight == OUTRIGHT and re.search(pattern, caption))
    modality = next(named, None)
    case = PanelCase(
        f"{article} {figure}", caption, (), True, entities, is_pictured=modality in MODALITY_WORDS, modality=modality,
        modality_probability=1.0, eye=panel_terms(entities, []).eye,
    )  # fmt: skip
    cued = CuedCase(case, panel_cues(case))
    if cue_score(cued).is_kept:
        for item in short_questions(cued):
            if item.kind == "yes_no" and is_kept(verdicts(cued, item)):
                yield item.asked, (article, item.topic, item.question, item.answer)


def blind_answers(rows: list[Said]) -> NDArray[np.bool_]:
    """Return for each row whether the words of its question alone tell its answer, learned from other articles."""
    articles, questions = [row[0] for row in rows], [row[2] for row in rows]
    truth = np.array([row[3] == "Yes." for row in rows])
    right = np.zeros(len(rows), dtype=np.bool_)
    for learn, test in GroupKFold(FOLDS).split(questions, truth, articles):
        words = CountVectorizer(ngram_range=(1, 2), min_df=2)
        known = words.fit_transform([questions[place] for place in learn])
        model = LogisticRegression(max_iter=2_000).fit(known, truth[learn])
        right[test] = model.predict(words.transform([questions[place] for place in test])) == truth[test]
    return right


def interval(right: NDArray[np.bool_], articles: list[str]) -> tuple[float, float]:
    """Return the 95 % interval of a share by drawing articles."""
    groups: dict[str, list[int]] = {name: [] for name in dict.fromkeys(articles)}
    for place, name in enumerate(articles):
        groups[name].append(place)
    sums = np.array([[right[places].sum(), len(places)] for places in groups.values()])
    chance = np.random.default_rng(1)
    drawn = sums[chance.integers(0, len(sums), (DRAWS, len(sums)))].sum(axis=1)
    low, high = np.quantile(drawn[:, 0] / drawn[:, 1], (0.025, 0.975))
    return float(low), float(high)


def main() -> None:
    """Print counts, balance and the share of right blind answers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--captions", type=Path)
    arguments = parser.parse_args()
    rows = of_release(arguments.folder) if arguments.captions is None else of_captions(arguments.captions)
    answers = Counter((topic, answer) for _, topic, _, answer in rows)
    articles = [row[0] for row in rows]
    print(f"{len(rows)} yes/no instructions of {len(set(articles))} articles: {dict(sorted(answers.items()))}")
    yes = sum(row[3] == "Yes." for row in rows)
    print(f"always yes: {yes / len(rows):.3f}")
    right = blind_answers(rows)
    low, high = interval(right, articles)
    print(f"words of the question: {right.mean():.3f} [{low:.3f}, {high:.3f}]")
    for topic in sorted({row[1] for row in rows}):
        own = np.array([row[1] == topic for row in rows])
        print(f"  {topic:9}{right[own].mean():.3f} of {own.sum()}")


if __name__ == "__main__":
    main()
