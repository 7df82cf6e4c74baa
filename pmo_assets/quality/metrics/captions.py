"""Split captions compared with reference subcaptions, by the paper's measure.

A caption counts as processed when the identifiers of reference and answer are the same set. Its score is the mean
sentence BLEU of its panels' subcaptions; "maB" is the mean of that over the processed captions (paper, Results). What
was not processed has no BLEU, so maB is read together with the unprocessed share.
"""

from __future__ import annotations

import functools
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from sacrebleu.metrics import BLEU

from pmo_assets.quality.metrics.reliability import weighted_gap
from pmo_assets.records.identifiers import normalised_identifier

SHARES: Final = (1.0, 0.9, 0.8, 0.7, 0.5)
"""Parts of the captions, the most confident first, for which both figures are reported."""

RIGHT_BLEU: Final = 0.9
"""An answer counts as right when its caption is processed with at least this mean BLEU: about the paper's mean."""


class SplitRow(BaseModel):
    """One caption's subcaptions, as truth or as answer: a line of a JSONL file.

    Attributes:
        id: the caption's name; truth and answer are paired by it.
        subcaptions: {identifier: text}; the identifier of a single panel is "".
        confidence: 0..1; 1 in a truth.
        caption: the whole caption, if the row has it.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    subcaptions: dict[str, str | None]
    confidence: float = Field(default=1.0, ge=0, le=1)
    caption: str | None = None


@dataclass(frozen=True, slots=True)
class CaptionScore:
    """Score of one answer against its reference.

    Attributes:
        id: the caption's name.
        identifiers: the reference's identifiers, normalised, in its order.
        predicted: the answer's, likewise; empty when there is no answer.
        panel_bleu: sentence BLEU 0..1 by normalised identifier; empty when unprocessed.
        mean_bleu: mean of those; 0.0 when unprocessed.
        unprocessed: the two sets of identifiers differ.
        confidence: of the answer, 0..1.
    """

    id: str
    identifiers: tuple[str, ...]
    predicted: tuple[str, ...]
    panel_bleu: Mapping[str, float]
    mean_bleu: float
    unprocessed: bool
    confidence: float = 1.0

    @property
    def right(self) -> bool:
        """True if the caption is processed with a mean BLEU of at least `RIGHT_BLEU`."""
        return not self.unprocessed and self.mean_bleu >= RIGHT_BLEU


@dataclass(frozen=True, slots=True)
class CaptionSummary:
    """The paper's two figures over a set of captions.

    Attributes:
        captions: number that were scored.
        processed: for how many of them all identifiers were found and none invented.
        unprocessed_share: 0..1.
        mab: mean over the processed captions of their mean sentence BLEU, 0..1; 0.0 when none is processed.
        panels: panels of the processed captions.
    """

    captions: int
    processed: int
    unprocessed_share: float
    mab: float
    panels: int


@dataclass(frozen=True, slots=True)
class Coverage:
    """The figures of the most confident part of the captions.

    Attributes:
        share: which part, 0..1.
        lowest_confidence: the least confidence in the part: the threshold that would select it.
        summary: the part's figures.
    """

    share: float
    lowest_confidence: float
    summary: CaptionSummary


@dataclass(frozen=True, slots=True)
class ConfidenceBin:
    """Captions whose confidence lies in [lower, upper); the last bin, and those of `even_bins`, include upper.

    Attributes:
        lower: bound, 0..1.
        upper: bound, 0..1.
        captions: number of captions; at least one.
        mean_confidence: mean of the claimed confidences, 0..1.
        mean_bleu: mean of their BLEU, 0..1; an unprocessed caption counts as 0.
        right_share: share of answers that are right (`CaptionScore.right`).
    """

    lower: float
    upper: float
    captions: int
    mean_confidence: float
    mean_bleu: float
    right_share: float

    @property
    def likely_right(self) -> tuple[float, float]:
        """Bounds within which the share that is right lies with 95 %, by the number of captions alone (Wilson)."""
        n, share, z = self.captions, self.right_share, 1.96
        middle = (share + z * z / (2 * n)) / (1 + z * z / n)
        reach = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
        return min(share, max(0.0, middle - reach)), max(share, min(1.0, middle + reach))


def _normalised_text(text: str | None) -> str:
    return re.sub(r"\s+", " ", text or "").strip()


@functools.cache
def _bleu() -> BLEU:
    return BLEU(effective_order=True)


def sentence_bleu(text: str | None, reference: str | None) -> float:
    """Return SacreBLEU's sentence BLEU with effective order, 0..1, after collapsing white space."""
    return float(_bleu().sentence_score(_normalised_text(text), [_normalised_text(reference)]).score) / 100


def caption_score(
    caption_id: str,
    truth: Mapping[str | None, str | None] | Mapping[str, str | None],
    predicted: Mapping[str | None, str | None] | Mapping[str, str | None] | None,
    confidence: float = 1.0,
) -> CaptionScore:
    """Return the score of an answer against its reference.

    Args:
        caption_id: the caption's name.
        truth: {identifier: subcaption}; the identifier of a single panel is None or "".
        predicted: likewise; None when there is no answer.
        confidence: of the answer.
    """
    wanted = {normalised_identifier(name): text for name, text in truth.items()}
    given = {normalised_identifier(name): text for name, text in (predicted or {}).items()}
    unprocessed = predicted is None or set(wanted) != set(given)
    panels = {} if unprocessed else {name: sentence_bleu(given[name], text) for name, text in wanted.items()}
    # a reference without panels that is answered with none is right
    mean = 0.0 if unprocessed else sum(panels.values()) / len(panels) if panels else 1.0
    return CaptionScore(caption_id, tuple(wanted), tuple(given), panels, mean, unprocessed, confidence)


def caption_scores(truth: Mapping[str, SplitRow], predicted: Mapping[str, SplitRow]) -> list[CaptionScore]:
    """Return one score per caption of the truth, in its order; a caption without an answer is unprocessed."""
    scores = []
    for key, row in truth.items():
        answer = predicted.get(key)
        # An answer that is missing claims nothing but counts among the confident ones, as in the paper's scoring.
        confidence = answer.confidence if answer else 1.0
        scores.append(caption_score(key, row.subcaptions, answer.subcaptions if answer else None, confidence))
    return scores


def caption_summary(scores: Sequence[CaptionScore]) -> CaptionSummary:
    """Return maB and the unprocessed share of the captions."""
    processed = [score for score in scores if not score.unprocessed]
    return CaptionSummary(
        captions=len(scores),
        processed=len(processed),
        unprocessed_share=1 - len(processed) / len(scores) if scores else 0.0,
        mab=sum(score.mean_bleu for score in processed) / len(processed) if processed else 0.0,
        panels=sum(len(score.panel_bleu) for score in processed),
    )


def coverage(scores: Sequence[CaptionScore], shares: Sequence[float] = SHARES) -> list[Coverage]:
    """Return the figures of the most confident parts of the captions; empty without captions.

    Among equally confident captions, those that come first are taken first.
    """
    ranked = sorted(scores, key=lambda score: -score.confidence)
    if not ranked:
        return []
    parts = [(share, ranked[: max(1, round(len(ranked) * share))]) for share in shares]
    return [Coverage(share, part[-1].confidence, caption_summary(part)) for share, part in parts]


def confidence_bins(scores: Sequence[CaptionScore], bins: int = 10) -> list[ConfidenceBin]:
    """Return confidence against outcome in `bins` bins of equal width, without the empty ones."""
    binned: dict[int, list[CaptionScore]] = {}
    for score in scores:
        binned.setdefault(min(int(score.confidence * bins), bins - 1), []).append(score)
    return [
        ConfidenceBin(
            lower=number / bins,
            upper=(number + 1) / bins,
            captions=len(part),
            mean_confidence=sum(score.confidence for score in part) / len(part),
            mean_bleu=sum(score.mean_bleu for score in part) / len(part),
            right_share=sum(score.right for score in part) / len(part),
        )
        for number, part in sorted(binned.items())
    ]


def even_bins(scores: Sequence[CaptionScore], bins: int) -> list[ConfidenceBin]:
    """Return confidence against outcome in up to `bins` bins of about as many captions each, the least sure first.

    Most splits are claimed with much confidence: bins of equal width would put nearly all of them into one. Equal
    claims lie in one bin.
    """
    ordered = sorted(scores, key=lambda score: score.confidence)
    parts: list[list[CaptionScore]] = []
    for place, score in enumerate(ordered):
        full = bool(parts) and place * bins >= len(parts) * len(ordered)
        if not parts or (full and score.confidence > ordered[place - 1].confidence):
            parts.append([])
        parts[-1].append(score)
    return [
        ConfidenceBin(
            lower=part[0].confidence,
            upper=part[-1].confidence,
            captions=len(part),
            mean_confidence=sum(score.confidence for score in part) / len(part),
            mean_bleu=sum(score.mean_bleu for score in part) / len(part),
            right_share=sum(score.right for score in part) / len(part),
        )
        for part in parts
    ]


def calibration_error(bins: Sequence[ConfidenceBin]) -> float:
    """Return the expected calibration error: the bins' mean |confidence - share that is right|, by captions, 0..1."""
    return weighted_gap((item.captions, item.mean_confidence, item.right_share) for item in bins)


def split_rows(lines: Iterable[str]) -> dict[str, SplitRow]:
    """Return the rows of a JSONL file by id, in order; empty lines are passed over, the last of two equal ids holds.

    A row with an error in place of subcaptions (`pmo captions split --jsonl`) is no answer: it is passed over, too.

    Raises:
        ValueError: naming the line that is no such row.
    """
    rows: dict[str, SplitRow] = {}
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                row = SplitRow.model_validate_json(line)
            except ValidationError as error:
                if _is_error_row(line):
                    continue
                first = error.errors()[0]
                place = ".".join(str(part) for part in first["loc"])
                raise ValueError(f"line {number}: {place + ': ' if place else ''}{first['msg']}") from error
            rows[row.id] = row
    return rows


def _is_error_row(line: str) -> bool:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(row, dict) and isinstance(row.get("error"), str) and "subcaptions" not in row
