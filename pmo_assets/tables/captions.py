"""Tables of the group `captions`, and the records that the pipeline makes of their rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import dataframely as dy

from pmo_assets.records.step_output import Row
from pmo_assets.records.subcaptions import CaptionSplit, Subcaption
from pmo_assets.tables.columns import SEGMENTS, FigureKey


class Subcaptions(FigureKey):
    """One subcaption per panel that the caption names."""

    ordinal = dy.Int64(primary_key=True, min=0, description="Position in the caption")
    identifier = dy.String(
        nullable=True, description="Panel identifier as the caption names it; null for a single panel"
    )
    text = dy.String(description="Subcaption")
    segments = dy.List(dy.List(dy.Int64(), min_length=2, max_length=2), description=SEGMENTS)
    confidence = dy.Float64(min=0, max=1, description="Of the whole caption's split")
    reasons = dy.List(dy.String(), description="What lowered the confidence")
    method = dy.String(description="Who answered: `grammar` or `language model`")
    model = dy.String(nullable=True, description="Name of the language model; null for the grammar")
    prompt_version = dy.String(nullable=True, description="Versions and hashes of its prompts; null for the grammar")


SCHEMAS: dict[str, type[dy.Schema]] = {"subcaptions": Subcaptions}
"""The schema of each asset of the group that is a table."""


def subcaption_rows(figure: Mapping[str, Any], split: CaptionSplit) -> list[Row]:
    """Return the rows of `subcaptions` of a figure's caption, one per panel that it names."""
    shared = {
        "confidence": split.confidence,
        "reasons": list(split.reasons),
        "method": split.method,
        "model": split.model,
        "prompt_version": split.prompt_version,
    }
    return [
        {
            "article_id": figure["article_id"],
            "image_cluster_id": figure["image_cluster_id"],
            "ordinal": ordinal,
            "identifier": sub.identifier,
            "text": sub.text,
            "segments": [list(segment) for segment in sub.segments],
            **shared,
        }
        for ordinal, sub in enumerate(split.subcaptions)
    ]


def caption_split(rows: Sequence[Mapping[str, Any]]) -> CaptionSplit:
    """Return the record of a figure's rows of `subcaptions`."""
    ordered = sorted(rows, key=lambda row: row["ordinal"])
    if not ordered:
        return CaptionSplit(subcaptions=(), confidence=0.0, method="")
    first = ordered[0]
    return CaptionSplit(
        subcaptions=tuple(
            Subcaption(row["identifier"], row["text"], tuple((start, end) for start, end in row["segments"]))
            for row in ordered
        ),
        confidence=first["confidence"],
        reasons=tuple(first["reasons"]),
        method=first["method"],
        model=first["model"],
        prompt_version=first["prompt_version"],
    )
