"""The whole evaluation of answers: a model's, and the baselines' beside them, scored in the same way."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from pmo_assets.loading.release import Release
from pmo_assets.pipeline.dataset.splits import Split
from pmo_assets.quality.answers.baselines import (
    BASELINES,
    BLIND,
    CONSTANT,
    RETRIEVAL,
    PictureOf,
    blind_answers,
    constant_answers,
    retrieved_answers,
)
from pmo_assets.quality.answers.bertscore import TokenEncoder, bertscores
from pmo_assets.quality.answers.judging import Judge, judged_answers
from pmo_assets.quality.answers.matching import REFUSAL
from pmo_assets.quality.answers.questions import Question, QuestionSet, questions_of
from pmo_assets.quality.answers.scores import AnswerEvaluation, ScoredAnswers, evaluation, scored_answers
from pmo_assets.release.deidentification import Masker

Tell = Callable[[str, int, int], None]
"""Told what is done, how many of it, and how many there are."""


def pictures_of(release: Release, split: Split, masker: Masker | None = None) -> PictureOf:
    """Return what gives the pictures of a split's questions; with a masker, without people."""

    def picture_of(item: Question) -> bytes | None:
        content = release.picture_in_split(item.picture_config, split, item.picture_row)
        return content if content is None or masker is None else masker.clean(content, item.modality).content

    return picture_of


def evaluate_answers(
    release: Release,
    asked: QuestionSet,
    model: tuple[str, Mapping[str, str]] | None,
    *,
    judge: Judge | None = None,
    encoder: TokenEncoder | None = None,
    replicates: int = 1_000,
    seed: int = 0,
    tell: Tell = lambda stage, done, total: None,
) -> AnswerEvaluation:
    """Return the scores of a model's answers and of the baselines.

    Args:
        release: whose train split the baselines learn from.
        asked: its test set.
        model: name and answers by `instruction_id`; None for the baselines alone.
        judge: scores the model's answers in quarters; the baselines', too.
        encoder: of BERTScore.
        replicates: draws of the intervals.
        seed: of the draws.
        tell: is told of the progress.

    Raises:
        ReleaseError: if the release cannot be read.
        SystemicError: if the judge can answer nothing.
        ValueError: if the model has the name of a baseline.
    """
    if model is not None and model[0] in BASELINES:
        raise ValueError(f"{model[0]} is the name of a baseline: give the model another one")
    learned = list(questions_of(release, "train"))
    answered = [model] if model is not None else []
    answered += _baselines(release, learned, asked.questions)
    scored = [_scored(name, answers, asked.questions, judge, tell) for name, answers in answered]
    if encoder is not None:
        scored = [_with_bertscore(item, asked.questions, encoder) for item in scored]
    said_by = None if judge is None else f"{judge.model.name}, {judge.extraction.label}, {judge.judgement.label}"
    return evaluation(
        asked,
        len(learned),
        scored,
        replicates=replicates,
        seed=seed,
        judge=said_by,
        bertscore=None if encoder is None else encoder.name,
    )


def _baselines(
    release: Release, learned: Sequence[Question], asked: Sequence[Question]
) -> list[tuple[str, Mapping[str, str]]]:
    train, test = pictures_of(release, "train"), pictures_of(release, "test")
    places = {id(item) for item in learned}
    found = {
        CONSTANT: constant_answers(learned, asked),
        BLIND: blind_answers(learned, asked),
        RETRIEVAL: retrieved_answers(
            learned, asked, lambda item: train(item) if id(item) in places else test(item)
        ),
    }  # fmt: skip
    return [
        (name, {item.instruction_id: answer for item, answer in zip(asked, found[name], strict=True) if answer})
        for name in BASELINES
    ]


def _scored(
    name: str, answers: Mapping[str, str], questions: Sequence[Question], judge: Judge | None, tell: Tell
) -> ScoredAnswers:
    judged = None
    if judge is not None:
        given = [item for item in questions if item.instruction_id in answers]
        said = judged_answers(
            given,
            [answers[item.instruction_id] for item in given],
            judge,
            lambda done, total: tell(f"judging {name}", done, total),
        )
        judged = {item.instruction_id: (own.answer, own.score) for item, own in zip(given, said, strict=True)}
    return scored_answers(name, questions, answers, judged=judged)


def _with_bertscore(item: ScoredAnswers, questions: Sequence[Question], encoder: TokenEncoder) -> ScoredAnswers:
    answers = ["" if answer == REFUSAL else answer for answer in item.answers]
    found = np.array(bertscores(answers, [question.label for question in questions], encoder))
    return replace(item, metrics={**item.metrics, "bertscore": found})
