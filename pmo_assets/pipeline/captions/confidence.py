"""Confidence of the grammar in a split: a product of factors, one per reason that lowers it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pmo_assets.pipeline.captions.election import IdentifierSeries
from pmo_assets.pipeline.captions.mention import Form, Mention
from pmo_assets.pipeline.captions.pieces import Doubt
from pmo_assets.pipeline.captions.places import PLACES
from pmo_assets.pipeline.captions.series import Series, identifier_at
from pmo_assets.pipeline.captions.tokens import DASHES, Tokens, words
from pmo_assets.records.subcaptions import Subcaption

CONFIDENCE_THRESHOLD: Final = 0.8
"""Splits with less confidence, those with two doubts or more, are put to a language model. Below it lie 19 to 30 % of
the captions of compound figures, with a mean BLEU of 0.76 to 0.91, unprocessed ones counted as 0; above it lie 0.945 to
0.974; the paper's model reaches 0.913 (`benchmarks/score_captions.py`)."""

# Share of right answers without any doubt; 0.99 as fitted, and less on sources that were not.
_PLAIN: Final = 0.97
_PLAIN_SINGLE: Final = 0.97
# Factor per reason to doubt, fitted by `benchmarks/fit_caption_confidence.py` (sentence BLEU to 0.6 is wrong, from
# 0.95 on right). What one doubt costs in one source of captions says little of another: each is drawn strongly to
# 0.9, which does best on sources left out, and it is the number of doubts that counts.
_FACTORS: Final[dict[str, float]] = {
    # what the parser was not sure about
    "identifier in running text": 0.91,
    "identifier within its text": 0.9,
    "several identifiers after their text in one sentence": 0.89,
    "text between identifiers without a separator": 0.89,
    "text after the last identifier of a sentence": 0.91,
    "a sentence without identifier between labelled ones": 0.9,
    "list inside a sentence": 0.91,
    "list inside brackets": 0.9,
    "several panels in one sentence": 0.88,
    "end shared by several panels": 0.91,
    "panels distributed by 'respectively'": 0.9,
    "identifiers named again": 0.9,
    "identifiers before and after their text": 0.91,
    "identifiers within a section": 0.9,
    "several panels named inside another's text": 0.9,
    "sentences after the last panel's first": 0.92,
    "closing sentences may concern one panel or all": 0.9,
    # what the series of identifiers, or its absence, gives away
    "letters in brackets that form no series": 0.9,
    "headings that may name panels": 0.88,
    "words that may name panels": 0.9,
    "note in brackets about several panels": 0.89,
    "the next identifier stands in the text": 0.9,
    "identifier missing in the series": 0.9,
    "series of identifiers begins again": 0.91,
    "another series of identifiers": 0.91,
    "panels named by position": 0.91,
    "identifiers without brackets": 0.91,
    "no identifier stands alone": 0.9,
    # what the answer looks like
    "no text": 0.3,
    "panel without text": 0.5,
    "all panels have the same text": 0.7,
}

_PLACED_THINGS: Final = words("panel panels row rows column columns")
_LETTERS: Final = 26


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
        doubts: doubts of the parser.
    """
    if series is None:
        confidence, reasons = _PLAIN_SINGLE, _single_reasons(tokens, found)
    else:
        confidence, reasons = _PLAIN, [*doubts, *_series_reasons(series, subcaptions)]
        if _has_joint_note(tokens, found, series):
            reasons.append("note in brackets about several panels")
        if _next_stands_alone(tokens, series):
            reasons.append("the next identifier stands in the text")
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
    if _may_name_panels(tokens, found):
        reasons.append("words that may name panels")
    return reasons


def _may_name_panels(tokens: Tokens, found: Sequence[Mention]) -> bool:
    """Say whether a caption has "A" and "B", or words of place beside rows, columns or panels, that form no series."""
    texts = set(tokens.texts)
    if {"A", "B"} <= texts or any(mention.positional for mention in found):
        return True
    lowered = {text.lower() for text in texts}
    return not _PLACED_THINGS.isdisjoint(lowered) and not PLACES.isdisjoint(lowered)


def _next_stands_alone(tokens: Tokens, series: IdentifierSeries) -> bool:
    """Say whether the identifier after the last one stands in the text: "(A) x, (B) y, Z (in C)"."""
    if series.series not in {Series.UPPER, Series.LOWER} or series.identifiers[-1][1:]:
        return False
    place = ord(series.identifiers[-1].lower()) - ord("a") + 1
    return place < _LETTERS and identifier_at(series.series, place) in tokens.texts


def _headings(tokens: Tokens) -> int:
    """Sentences that begin with one or two words and a colon: "Horizontal: ...", "Solid lines: ..."."""
    texts = tokens.texts
    return sum(texts[start][0].isalpha() and ":" in texts[start + 1 : start + 3] for start in tokens.sentence_starts)


def _has_joint_note(tokens: Tokens, found: Sequence[Mention], series: IdentifierSeries) -> bool:
    """Say whether a bracket that is no mention opens with two panels' names: "(A, B counterstained; bar = 8 µm)"."""
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
