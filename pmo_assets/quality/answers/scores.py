"""Scores of a model and of the baselines: over all questions, by kind, topic and modality, with intervals by article.

Add here: how scores are put together. Keep out: how one answer is scored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from pmo_assets.encoders.evaluation.bootstrap import cluster_weights, percentile_interval
from pmo_assets.quality.answers.baselines import BLIND
from pmo_assets.quality.answers.matching import REFUSAL, exact_match, extracted, token_f1
from pmo_assets.quality.answers.questions import Question, QuestionSet

FORMAT: Final = "pmo-answer-evaluation/1"

Grouping = Literal["all", "kind", "topic", "modality"]
"""By what questions are put together."""

Metric = Literal["exact", "f1", "judge", "bertscore"]
METRICS: Final[tuple[Metric, ...]] = ("exact", "f1", "judge", "bertscore")
"""Exact match; F1 of words; a judge's quarters; BERTScore."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Share(_Part):
    """A mean with its 95 % interval over articles; no interval where there are fewer than two articles, or no draws."""

    value: float
    interval: tuple[float, float] | None = None


class PartScore(_Part):
    """Scores of one part of the questions.

    Attributes:
        by: by what they are put together.
        name: of the part, e.g. "where".
        questions: of the part.
        articles: that they are about.
        scores: means by metric; those that were not computed are absent.
        over_blind: exact match beyond that of the blind baseline, of the same questions; of a model only.
    """

    by: Grouping
    name: str
    questions: int = Field(ge=1)
    articles: int = Field(ge=1)
    scores: dict[Metric, Share]
    over_blind: Share | None = None


class Answerer(_Part):
    """A model or baseline with its scores.

    Attributes:
        name: of it.
        refusals: answers that refuse; they count as wrong.
        missing: questions without an answer; they count as wrong.
        unjudged: answers for which the judge gave no score that fits; they count as 0 there.
        parts: scores, all questions first.
    """

    name: str
    refusals: int
    missing: int
    unjudged: int = 0
    parts: tuple[PartScore, ...]


class AnswerEvaluation(_Part):
    """Result of `pmo instruct evaluate`.

    Attributes:
        format: of the file.
        release: version of the release.
        release_digest: SHA-256 of the list of its checksums.
        test_set: SHA-256 of the questions, labels and pictures.
        questions: of the test set.
        learned: questions of the train split, which the baselines learn from.
        judge: model that judged, with its prompts; None without one.
        bertscore: encoder of BERTScore; None without one.
        answerers: the model first, if there is one, then the baselines.
    """

    format: Literal["pmo-answer-evaluation/1"] = FORMAT
    release: str
    release_digest: str
    test_set: str
    questions: int
    learned: int
    judge: str | None = None
    bertscore: str | None = None
    answerers: tuple[Answerer, ...]

    def to_json(self) -> str:
        """Return it as JSON with a line end."""
        return self.model_dump_json(indent=1) + "\n"


@dataclass(frozen=True)
class ScoredAnswers:
    """The answers of one model or baseline, each compared with its label.

    Attributes:
        name: of it.
        answers: shortened, in the order of the questions.
        missing: questions without an answer.
        metrics: (questions,) float64 scores by metric.
        unjudged: answers without a judge's score.
    """

    name: str
    answers: tuple[str, ...]
    missing: int
    metrics: Mapping[Metric, NDArray[np.float64]]
    unjudged: int = 0


def scored_answers(
    name: str,
    questions: Sequence[Question],
    answers: Mapping[str, str],
    *,
    judged: Mapping[str, tuple[str, float | None]] | None = None,
) -> ScoredAnswers:
    """Return answers compared with the labels.

    Args:
        name: of who answered.
        questions: of the test set.
        answers: as given, by `instruction_id`; what is absent counts as wrong.
        judged: a judge's shortening and score of each answer; without one the rules shorten.
    """
    short: list[str] = []
    for item in questions:
        given = answers.get(item.instruction_id)
        if given is None:
            short.append("")
        elif judged is not None:
            short.append(judged[item.instruction_id][0])
        else:
            short.append(extracted(item.kind, given))
    pairs = list(zip(short, questions, strict=True))
    metrics: dict[Metric, NDArray[np.float64]] = {
        "exact": np.array([exact_match(said, item.label) for said, item in pairs]),
        "f1": np.array([token_f1(said, item.label) for said, item in pairs]),
    }
    unjudged = 0
    if judged is not None:
        scores = [judged[item.instruction_id][1] if item.instruction_id in judged else 0.0 for item in questions]
        unjudged = sum(score is None for score in scores)
        metrics["judge"] = np.array([score or 0.0 for score in scores])
    missing = sum(item.instruction_id not in answers for item in questions)
    return ScoredAnswers(name, tuple(short), missing, metrics, unjudged)


def evaluation(
    test: QuestionSet,
    learned: int,
    scored: Sequence[ScoredAnswers],
    *,
    replicates: int = 1_000,
    seed: int = 0,
    judge: str | None = None,
    bertscore: str | None = None,
) -> AnswerEvaluation:
    """Put the scores together; the same draws of articles for all, so that differences are paired.

    Args:
        test: the test set, with one question at least.
        learned: questions of the train split.
        scored: the model, if there is one, and the baselines.
        replicates: draws of the intervals; 0 for none.
        seed: of the draws.
        judge: name of the model that judged.
        bertscore: name of the encoder.
    """
    parts = _parts(test.questions)
    masks = np.stack([mask for _, _, mask in parts]).astype(np.float64)
    columns = [(item.name, metric) for item in scored for metric in METRICS if metric in item.metrics]
    by_name = {item.name: item for item in scored}
    values = np.stack([by_name[name].metrics[metric] for name, metric in columns], axis=1)
    articles = np.array([item.source_id for item in test.questions], dtype=np.intp)
    means = (masks @ values) / masks.sum(axis=1, keepdims=True)
    draws = np.full((replicates, *means.shape), np.nan)
    for number, weights in enumerate(cluster_weights(articles, replicates, seed)):
        weighed = masks * weights
        total = weighed.sum(axis=1, keepdims=True)
        np.divide(weighed @ values, total, out=draws[number], where=total > 0)

    def share(part: int, *names: tuple[str, Metric]) -> Share:
        """The mean of a column, or of the first beyond the second."""
        places = [columns.index(name) for name in names]
        value, drawn = means[part, places[0]], draws[:, part, places[0]]
        if len(places) > 1:
            value, drawn = value - means[part, places[1]], drawn - draws[:, part, places[1]]
        drawn = drawn[~np.isnan(drawn)]
        held = len(np.unique(articles[parts[part][2]])) > 1 and len(drawn) > 0
        low, high = percentile_interval(drawn) if held else (0.0, 0.0)
        return Share(value=round(float(value), 6), interval=(round(low, 6), round(high, 6)) if held else None)

    def answerer(item: ScoredAnswers) -> Answerer:
        made = []
        for place, (by, name, mask) in enumerate(parts):
            compared = item.name != BLIND and BLIND in by_name
            made.append(
                PartScore(
                    by=by,
                    name=name,
                    questions=int(mask.sum()),
                    articles=len(np.unique(articles[mask])),
                    scores={metric: share(place, (item.name, metric)) for metric in METRICS if metric in item.metrics},
                    over_blind=share(place, (item.name, "exact"), (BLIND, "exact")) if compared else None,
                )
            )
        return Answerer(
            name=item.name,
            refusals=item.answers.count(REFUSAL),
            missing=item.missing,
            unjudged=item.unjudged,
            parts=tuple(made),
        )

    return AnswerEvaluation(
        release=test.version,
        release_digest=test.release_digest,
        test_set=test.sha256,
        questions=len(test.questions),
        learned=learned,
        judge=judge,
        bertscore=bertscore,
        answerers=tuple(answerer(item) for item in scored),
    )


def _parts(questions: Sequence[Question]) -> list[tuple[Grouping, str, NDArray[np.bool_]]]:
    """The parts that the questions fall into, each as a mask (questions,), all of them first."""
    found: list[tuple[Grouping, str, NDArray[np.bool_]]] = [("all", "all", np.ones(len(questions), dtype=np.bool_))]
    groupings: tuple[Grouping, ...] = ("kind", "topic", "modality")
    for by in groupings:
        own = np.array([getattr(item, by) for item in questions], dtype=object)
        found += [(by, str(name), own == name) for name in sorted(set(own))]
    return found
