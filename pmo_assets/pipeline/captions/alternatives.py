"""Other readings of a caption that names no panels by letters: names that count only where the figure prints them.

"(1) cotton-wool spots, (2) haemorrhages" lists findings as often as panels, and "Solid lines: …" explains curves; the
caption alone cannot tell. Where "1", "2" … or "Horizontal", "Vertical" … are printed at the figure's panels, they are
their names. Whether they are printed is not known here.
"""

from __future__ import annotations

from typing import Final

from pmo_assets.pipeline.captions.election import (
    MAX_PANELS,
    IdentifierSeries,
    PanelMention,
    elected_series,
    numbered_series,
)
from pmo_assets.pipeline.captions.identifier_mentions import mentions
from pmo_assets.pipeline.captions.mention import Form, Mention
from pmo_assets.pipeline.captions.references import read_series
from pmo_assets.pipeline.captions.series import Series
from pmo_assets.pipeline.captions.split import split_by_series
from pmo_assets.pipeline.captions.tokens import Tokens, tokenized
from pmo_assets.records.subcaptions import CaptionSplit

_LONGEST_HEADING: Final = 3
"""Words of a heading at most: "Month 6:", "Superficial capillary plexus:"."""

_BREAKS: Final = frozenset({".", ";", "!", "?"})


def alternative_splits(caption: str) -> tuple[CaptionSplit, ...]:
    """Return the splits of a caption by names that only print can confirm; none if it names panels beyond doubt.

    Args:
        caption: the text without its "Figure 3:" label.
    """
    tokens = tokenized(caption)
    if read_series(tokens)[1] is not None:
        return ()
    found = mentions(tokens, lenient=True)
    candidates = (numbered_series(found), elected_series(found), headed_series(tokens))
    splits = [split_by_series(tokens, found, series) for series in candidates if series is not None]
    return tuple(split for split in splits if all(sub.text for sub in split.subcaptions))


def headed_series(tokens: Tokens) -> IdentifierSeries | None:
    """Return the headings before colons as a series: "Baseline: … Month 6: …"; None if there are fewer than two."""
    texts = tokens.texts
    sentence_starts = set(tokens.sentence_starts)
    named: list[PanelMention] = []
    for index in range(len(texts)):
        if index not in sentence_starts and index > 0 and texts[index - 1] not in _BREAKS:
            continue
        if not texts[index][0].isupper():
            continue
        colon = next((k for k in range(index + 1, min(index + 1 + _LONGEST_HEADING, len(texts))) if texts[k] == ":"), 0)
        if not colon or not all(text[0].isalnum() for text in texts[index:colon]):
            continue
        start, end = tokens.starts[index], tokens.ends[colon]
        name = tokens.caption[start : tokens.ends[colon - 1]]
        mention = Mention(((name, ""),), Form.DELIMITED, index, colon, start, end, ((start, end),), opens=True)
        named.append(PanelMention(mention, (name,)))
    identifiers = tuple(item.identifiers[0] for item in named)
    if not 2 <= len(set(identifiers)) == len(identifiers) <= MAX_PANELS:
        return None
    return IdentifierSeries(Series.STEP, identifiers, tuple(named), 0, (), 0)
