"""How sure the grammar is of a split: a product of factors, one per reason that lowers it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pmo_assets.pipeline.captions.election import IdentifierSeries
from pmo_assets.pipeline.captions.identifier_mentions import Form, Mention
from pmo_assets.pipeline.captions.pieces import Doubt
from pmo_assets.pipeline.captions.series import Series
from pmo_assets.pipeline.captions.tokens import DASHES, Tokens
from pmo_assets.records.subcaptions import Subcaption

CONFIDENCE_THRESHOLD: Final = 0.7
"""Splits with less confidence are put to a language model. Below it lie 9 to 13 % of the captions of compound figures,
with a mean BLEU of 0.66 to 0.71; the paper's model reaches 0.913 (`benchmarks/score_captions.py`)."""

# Share of right answers without any doubt, on annotated captions.
_PLAIN: Final = 0.96
_PLAIN_SINGLE: Final = 0.94
# Factor per reason to doubt: the share of right answers with it (from sentence BLEU 0.6, wrong, to 0.95, right) on the
# captions of compound figures, annotated figures and invented typical captions, drawn towards 0.9 where there are few.
_FACTORS: Final[dict[str, float]] = {
    # what the parser was not sure about
    "identifier in running text": 0.97,
    "identifier within its text": 0.78,
    "several identifiers after their text in one sentence": 0.78,
    "text between identifiers without a separator": 0.78,
    "text after the last identifier of a sentence": 0.95,
    "a sentence without identifier between labelled ones": 0.85,
    "list inside a sentence": 0.93,
    "list inside brackets": 0.85,
    "several panels in one sentence": 0.8,
    "end shared by several panels": 0.93,
    "panels distributed by 'respectively'": 0.85,
    "identifiers named again": 0.9,
    "identifiers before and after their text": 0.95,
    "identifiers within a section": 0.9,
    "several panels named inside another's text": 0.85,
    "sentences after the last panel's first": 0.97,
    "closing sentences may concern one panel or all": 0.97,
    # what the series of identifiers, or its absence, gives away
    "letters in brackets that form no series": 0.85,
    "headings that may name panels": 0.7,
    "note in brackets about several panels": 0.65,
    "identifier missing in the series": 0.75,
    "series of identifiers begins again": 0.9,
    "another series of identifiers": 0.95,
    "panels named by position": 0.93,
    "identifiers without brackets": 0.95,
    "no identifier stands alone": 0.85,
    # what the answer looks like
    "no text": 0.3,
    "panel without text": 0.5,
    "all panels have the same text": 0.7,
}


def split_confidence(
    tokens: Tokens,
    found: Sequence[Mention],
    series: IdentifierSeries | None,
    subcaptions: Sequence[Subcaption],
    doubts: Sequence[Doubt],
) -> tuple[float, tuple[str, ...]]:
    """Confidence 0..1 and the reasons that lower it, the strongest first.

    Args:
        found: all mentions of the caption, whether or not they belong to the series.
        series: the elected series; None for a single-panel answer.
        subcaptions: the answer.
        doubts: what the parser was not sure about.
    """
    if series is None:
        confidence, reasons = _PLAIN_SINGLE, _single_reasons(tokens, found)
    else:
        confidence, reasons = _PLAIN, [*doubts, *_series_reasons(series, subcaptions)]
        if _has_joint_note(tokens, found, series):
            reasons.append("note in brackets about several panels")
    factors = {reason: _FACTORS[reason] for reason in reasons}
    for factor in factors.values():
        confidence *= factor
    return round(confidence, 4), tuple(sorted(factors, key=lambda reason: (factors[reason], reason)))


def _single_reasons(tokens: Tokens, found: Sequence[Mention]) -> list[str]:
    reasons = []
    if any(mention.form in {Form.BRACKETS, Form.HALF} for mention in found):
        reasons.append("letters in brackets that form no series")
    if not tokens.texts:
        reasons.append("no text")
    elif _headings(tokens) > 1:
        reasons.append("headings that may name panels")
    return reasons


def _headings(tokens: Tokens) -> int:
    """Sentences that begin with one or two words and a colon: "Horizontal: ...", "Solid lines: ..."."""
    texts = tokens.texts
    return sum(texts[start][0].isalpha() and ":" in texts[start + 1 : start + 3] for start in tokens.sentence_starts)


def _has_joint_note(tokens: Tokens, found: Sequence[Mention], series: IdentifierSeries) -> bool:
    """Whether a bracket that is no mention opens with two panels' names: "(A, B counterstained; bar = 8 µm)"."""
    identifiers = set(series.identifiers)
    read = {index for mention in found for index in range(mention.first, mention.last + 1)}
    texts = tokens.texts
    for index, closing in enumerate(tokens.partners):
        if (
            closing > index + 3
            and index not in read
            and texts[index + 1] in identifiers
            and texts[index + 3] in identifiers
        ):
            between = texts[index + 2].lower()
            if between in {",", "and", "&", "/"} or between in DASHES:
                return True
    return False


def _series_reasons(series: IdentifierSeries, subcaptions: Sequence[Subcaption]) -> list[str]:
    reasons = []
    if series.missing:
        reasons.append("identifier missing in the series")
    if series.restarts:
        reasons.append("series of identifiers begins again")
    if series.rivals:
        reasons.append("another series of identifiers")
    if series.series in {Series.POSITION, Series.STEP}:
        reasons.append("panels named by position")
    if all(item.mention.form is Form.BARE for item in series.mentions):
        reasons.append("identifiers without brackets")
    if all(item.mention.form in {Form.PARTIAL, Form.NOUN} for item in series.mentions):
        reasons.append("no identifier stands alone")
    texts = {subcaption.segments for subcaption in subcaptions}
    if any(not subcaption.text for subcaption in subcaptions):
        reasons.append("panel without text")
    elif len(texts) == 1 and len(series.mentions) > 1:
        reasons.append("all panels have the same text")
    return reasons
