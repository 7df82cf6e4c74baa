"""One caption to one subcaption per panel."""

from __future__ import annotations

from collections.abc import Sequence

from pmo_assets.pipeline.captions.confidence import split_confidence
from pmo_assets.pipeline.captions.election import IdentifierSeries
from pmo_assets.pipeline.captions.grammar import parsed
from pmo_assets.pipeline.captions.mention import Mention
from pmo_assets.pipeline.captions.references import read_series
from pmo_assets.pipeline.captions.segments import join_segments
from pmo_assets.pipeline.captions.tokens import Tokens, tokenized
from pmo_assets.records.subcaptions import CaptionSplit, Subcaption


def split_caption(caption: str) -> CaptionSplit:
    """The subcaptions of a caption by the grammar alone; never raises, takes time linear in the caption's length.

    Args:
        caption: the text without its "Figure 3:" label.

    Returns:
        One subcaption per panel in series order; a caption that names no panels gives one with identifier None, the
        whole caption and segments ((0, len),). Every `text` equals `join_segments(caption, segments)`.
    """
    tokens = tokenized(caption)
    found, series = read_series(tokens)
    return split_by_series(tokens, found, series)


def split_by_series(tokens: Tokens, found: Sequence[Mention], series: IdentifierSeries | None) -> CaptionSplit:
    """The subcaptions of a caption whose panels have the names of a series; see `split_caption`.

    Args:
        tokens: the caption.
        found: its mentions.
        series: names and where they stand; None for a caption that names no panels.
    """
    caption = tokens.caption
    if series is None:
        confidence, reasons = split_confidence(tokens, found, None, (), ())
        whole = Subcaption(None, caption, ((0, len(caption)),))
        return CaptionSplit((whole,), confidence, reasons)
    parse = parsed(tokens, series)
    segments: dict[str, list[tuple[int, int]]] = {identifier: [] for identifier in series.identifiers}
    for piece in parse.pieces:
        for identifier in piece.identifiers or series.identifiers:
            ranges = segments[identifier]
            if ranges and not caption[ranges[-1][1] : piece.start].strip():
                ranges[-1] = (ranges[-1][0], piece.end)
            else:
                ranges.append((piece.start, piece.end))
    subcaptions = tuple(
        Subcaption(identifier, join_segments(caption, ranges), tuple(ranges)) for identifier, ranges in segments.items()
    )
    confidence, reasons = split_confidence(tokens, found, series, subcaptions, parse.doubts)
    return CaptionSplit(subcaptions, confidence, reasons)
