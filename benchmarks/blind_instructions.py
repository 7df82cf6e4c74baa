"""Answer yes/no instructions without their pictures: constant answers, and a bag of words of the questions.

    python benchmarks/blind_instructions.py HUB_FOLDER
    python benchmarks/blind_instructions.py --captions CAPTIONS.jsonl [--read 60 --seed 1]

Reads `data/instructions` of a release, or makes instructions of captions (`article`, `figure`, `caption`; each counts
as that of a figure with one panel, whose modality is the first that its words name), drops what the checks discard, and
balances them as a release does. The questions' words are learned by logistic regression in folds that no article is in
twice; the share of right answers is of all rows together, with a 95 % interval over articles (bootstrap, 2,000 draws).
What is far from one half leaks from the questions. Of captions the baselines of `pmo instruct evaluate` follow, for all
short questions, learned from some articles and asked of the others. `--read` prints that many of them instead, two an
article, of findings, places and marks, each below its caption, to be judged by a person.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
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
from pmo_assets.pipeline.dataset.splits import article_fraction
from pmo_assets.pipeline.instructions.case import CuedCase, PanelCase
from pmo_assets.pipeline.instructions.checks import is_kept, verdicts
from pmo_assets.pipeline.instructions.cues import panel_cues
from pmo_assets.pipeline.instructions.phrasings import MODALITY_WORDS
from pmo_assets.pipeline.instructions.scores import cue_score
from pmo_assets.pipeline.instructions.templates import short_questions
from pmo_assets.quality.answers.baselines import blind_answers, constant_answers
from pmo_assets.quality.answers.page import evaluation_tables
from pmo_assets.quality.answers.questions import Question, QuestionSet
from pmo_assets.quality.answers.scores import evaluation, scored_answers
from pmo_assets.records.instructions import Instruction
from pmo_assets.records.pairs import source_name

Said = tuple[str, str, str, str]
"""Article, topic, question, answer."""

FOLDS = 5
DRAWS = 2_000

TRAIN = 0.6
"""Share of the articles that the baselines learn from: smaller than in a release, so that intervals are narrower."""


def of_release(folder: Path) -> list[Said]:
    """Return the yes/no instructions of a release."""
    parts = [pl.read_parquet(path) for path in sorted((folder / "data" / "instructions").glob("*.parquet"))]
    rows = pl.concat(parts).filter(pl.col("kind") == "yes_no")
    return [
        (
            source_name(row["article_id"], row.get("video_id")),
            row["topic"],
            row["messages"][0]["content"],
            row["messages"][1]["content"],
        )
        for row in rows.iter_rows(named=True)
    ]


def of_captions(path: Path) -> list[Said]:
    """Return the yes/no instructions of captions, checked and balanced."""
    made = {f"{article} {item.question}": (article, item) for article, item in _short(path) if item.kind == "yes_no"}
    out = _left_out([(name, "all", item) for name, (_, item) in made.items()])
    print(f"{len(made)} yes/no instructions, {len(out)} left out by balance")
    return [
        (article, item.topic, item.question, item.answer) for name, (article, item) in made.items() if name not in out
    ]


def _left_out(items: Sequence[tuple[str, str, Instruction]]) -> frozenset[str]:
    """Return the names of the yes/no instructions that balance leaves out: of names, splits, instructions."""
    balance = YesNoBalance()
    for name, split, item in items:
        if item.kind == "yes_no":
            balance.add(split, item.topic, item.asked, item.answer, name)
    return balance.left_out()


def say_baselines(path: Path) -> None:
    """Print the baselines of `pmo instruct evaluate` on the test articles of captions, learned of the others."""
    found = list(_short(path))
    numbers = {name: number for number, name in enumerate(dict.fromkeys(article for article, _ in found))}
    places = {name: article_fraction(int(re.sub(r"\D", "", name) or number)) for name, number in numbers.items()}
    splits = {name: "test" if place >= TRAIN else "train" for name, place in places.items()}
    named = [(f"{article} {item.question}", splits[article], item) for article, item in found]
    out = _left_out(named)
    parts: dict[str, dict[str, Question]] = {"train": {}, "test": {}}
    for (article, item), (name, split, _) in zip(found, named, strict=True):
        if name not in out:
            parts[split][name] = Question(
                name, item.kind, item.topic, item.asked if item.topic == "imaging" else "", numbers[article], name, 0,
                "", item.question, item.answer, (), (),
            )  # fmt: skip
    learned, asked = [*parts["train"].values()], tuple(parts["test"].values())
    answers = {"constant": constant_answers(learned, asked), "blind": blind_answers(learned, asked)}
    names = [item.instruction_id for item in asked]
    scored = [scored_answers(kind, asked, dict(zip(names, said, strict=True))) for kind, said in answers.items()]
    result = evaluation(QuestionSet("captions", "", asked), len(learned), scored)
    for table in evaluation_tables(result)[:3]:
        print(f"{table.title} ({', '.join(table.columns)})")
        for row in table.rows:
            print("  " + "  ".join(map(str, row)))


def say_some(path: Path, count: int, seed: int) -> None:
    """Print instructions to read: of articles in random order, two each."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    chance = random.Random(seed)
    chance.shuffle(rows)
    number, told = 0, set()
    for row in rows:
        made = [
            item
            for item in _of_caption(row["article"], row["figure"], row["caption"])
            if item.topic not in ("imaging", "eye")
        ]
        if row["article"] in told or not made or number >= count:
            continue
        told.add(row["article"])
        print(f"# {row['article']} {row['caption'][:420]}")
        for item in chance.sample(made, min(2, len(made))):
            print(f"  {number} {item.kind} | {item.question} -> {item.answer}")
            number += 1


def _short(path: Path) -> Iterator[tuple[str, Instruction]]:
    """Yield the short instructions of captions that every check keeps, with their article."""
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        for item in _of_caption(row["article"], row["figure"], row["caption"]):
            yield row["article"], item


def _of_caption(article: str, figure: str, caption: str) -> Iterator[Instruction]:
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
            if is_kept(verdicts(cued, item)):
                yield item


def cross_answers(rows: list[Said]) -> NDArray[np.bool_]:
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
    parser.add_argument("--read", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    if arguments.read:
        say_some(arguments.captions, arguments.read, arguments.seed)
        return
    rows = of_release(arguments.folder) if arguments.captions is None else of_captions(arguments.captions)
    answers = Counter((topic, answer) for _, topic, _, answer in rows)
    articles = [row[0] for row in rows]
    print(f"{len(rows)} yes/no instructions of {len(set(articles))} articles: {dict(sorted(answers.items()))}")
    yes = sum(row[3] == "Yes." for row in rows)
    print(f"always yes: {yes / len(rows):.3f}")
    right = cross_answers(rows)
    low, high = interval(right, articles)
    print(f"words of the question: {right.mean():.3f} [{low:.3f}, {high:.3f}]")
    for topic in sorted({row[1] for row in rows}):
        own = np.array([row[1] == topic for row in rows])
        print(f"  {topic:9}{right[own].mean():.3f} of {own.sum()}")
    if arguments.captions is not None:
        say_baselines(arguments.captions)


if __name__ == "__main__":
    main()
