"""Answers that need no model: what a model must beat before its answers say anything about pictures.

All learn from the train split, by kind of question, and so from other articles. Add here: further baselines. Keep out:
whether they are right.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from pmo_assets.pictures import decoded_bytes
from pmo_assets.quality.answers.questions import Question
from pmo_assets.records.instructions import InstructionKind

CONSTANT, BLIND, RETRIEVAL = "constant", "blind", "retrieval"
BASELINES: Final = (CONSTANT, BLIND, RETRIEVAL)

THUMBNAIL: Final = 16
"""Pixels of the side of a grey picture that retrieval compares."""

_SMOOTHING: Final = 1.0
_WORD: Final = re.compile(r"[a-z0-9'-]+")

PictureOf = Callable[[Question], bytes | None]
"""Gives the picture of a question's panel as a file."""


def constant_answers(learned: Sequence[Question], asked: Sequence[Question]) -> list[str]:
    """Return for each question the commonest answer of its kind; "" where train has none of the kind."""
    common = {kind: _commonest(item.label for item in own) for kind, own in _by_kind(learned).items()}
    return [common.get(item.kind, "") for item in asked]


def blind_answers(learned: Sequence[Question], asked: Sequence[Question]) -> list[str]:
    """Return for each question the answer that its words alone make likeliest: naive Bayes over words and pairs.

    Multinomial, Laplace's smoothing; of equal answers the first in the alphabet. Words that train does not have say
    nothing. What it gets right without the picture leaks from the questions.
    """
    models = {kind: _Bayes(own) for kind, own in _by_kind(learned).items()}
    return [models[item.kind].answer(item.question) if item.kind in models else "" for item in asked]


def retrieved_answers(learned: Sequence[Question], asked: Sequence[Question], picture_of: PictureOf) -> list[str]:
    """Return for each question the answer to the most similar one of its kind about the most similar picture.

    Similarity is the cosine of the questions' words, weighted by their rarity, plus the correlation of grey thumbnails.
    Pictures are read once a panel.
    """
    shown: dict[str, NDArray[np.float32]] = {}

    def thumbnail(item: Question) -> NDArray[np.float32]:
        if item.owner not in shown:
            shown[item.owner] = _thumbnail(picture_of(item))
        return shown[item.owner]

    known = {kind: _Neighbours(own, [thumbnail(item) for item in own]) for kind, own in _by_kind(learned).items()}
    return [
        known[item.kind].answer(item.question, thumbnail(item)) if item.kind in known else "" for item in asked
    ]  # fmt: skip


def _by_kind(questions: Sequence[Question]) -> Mapping[InstructionKind, list[Question]]:
    found: dict[InstructionKind, list[Question]] = {}
    for item in questions:
        found.setdefault(item.kind, []).append(item)
    return found


def _commonest(labels: Iterable[str]) -> str:
    counts = Counter(labels)
    return min(counts, key=lambda label: (-counts[label], label))


def _features(question: str) -> list[str]:
    words = _WORD.findall(question.lower())
    return [*words, *(f"{one} {other}" for one, other in itertools.pairwise(words))]


class _Bayes:
    """Naive Bayes of answers by the words and pairs of words of questions."""

    def __init__(self, learned: Sequence[Question]) -> None:
        self._labels = sorted({item.label for item in learned})
        place = {label: number for number, label in enumerate(self._labels)}
        seen = np.zeros(len(place))
        counts: dict[str, Counter[int]] = defaultdict(Counter)
        for item in learned:
            seen[place[item.label]] += 1
            for word in _features(item.question):
                counts[word][place[item.label]] += 1
        totals = np.zeros(len(place))
        self._gains: dict[str, tuple[NDArray[np.intp], NDArray[np.float64]]] = {}
        for word, own in counts.items():
            labels, times = np.array(list(own), dtype=np.intp), np.array(list(own.values()), dtype=np.float64)
            totals[labels] += times
            self._gains[word] = labels, np.log1p(times / _SMOOTHING)
        self._prior = np.log(seen)
        self._unseen = np.log(_SMOOTHING / (totals + _SMOOTHING * len(counts)))

    def answer(self, question: str) -> str:
        """Return the likeliest answer."""
        told = [self._gains[word] for word in _features(question) if word in self._gains]
        likelihood = self._prior + len(told) * self._unseen
        for labels, gains in told:
            likelihood[labels] += gains
        return self._labels[int(np.argmax(np.round(likelihood, 9)))]


class _Neighbours:
    """Questions of one kind with thumbnails, among which the nearest is looked for."""

    def __init__(self, learned: Sequence[Question], thumbnails: Sequence[NDArray[np.float32]]) -> None:
        self._labels = [item.label for item in learned]
        words = [frozenset(_features(item.question)) for item in learned]
        counts = Counter(word for own in words for word in own)
        self._weights = {word: float(np.log((1 + len(words)) / count)) for word, count in counts.items()}
        self._holders: dict[str, list[int]] = defaultdict(list)
        for place, own in enumerate(words):
            for word in own:
                self._holders[word].append(place)
        self._norms = np.array([self._norm(own) for own in words])
        self._thumbnails = np.stack(thumbnails)

    def _norm(self, words: Iterable[str]) -> float:
        return float(np.sqrt(sum(self._weights.get(word, 0.0) ** 2 for word in words))) or 1.0

    def answer(self, question: str, thumbnail: NDArray[np.float32]) -> str:
        """Return the answer to the nearest question; of equally near ones the first."""
        own = frozenset(_features(question))
        shared = np.zeros(len(self._labels))
        for word in sorted(own):
            shared[self._holders.get(word, [])] += self._weights.get(word, 0.0) ** 2
        similarity = shared / (self._norms * self._norm(own)) + self._thumbnails @ thumbnail
        return self._labels[int(np.argmax(np.round(similarity, 9)))]


def _thumbnail(picture: bytes | None) -> NDArray[np.float32]:
    """A picture as a grey square of mean 0 and norm 1, flat: (`THUMBNAIL`²,); zeros without one."""
    if picture is None:
        return np.zeros(THUMBNAIL * THUMBNAIL, dtype=np.float32)
    grey = cv2.cvtColor(decoded_bytes(picture), cv2.COLOR_RGB2GRAY)
    resized = cv2.resize(grey, (THUMBNAIL, THUMBNAIL), interpolation=cv2.INTER_AREA)
    small: NDArray[np.float32] = np.asarray(resized, dtype=np.float32).ravel()
    small = small - small.mean()
    norm = np.float32(np.linalg.norm(small))
    return np.asarray(small / norm if norm > 0 else small, dtype=np.float32)
