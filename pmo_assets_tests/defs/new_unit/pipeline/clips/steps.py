"""Steps of the unit `clip`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pmo_assets.records.rejections import ArticleError
from pmo_assets.records.step_output import StepOutput


class Silent(ArticleError):
    """Nothing is said in a clip."""


def read_clip(listing: Mapping[str, Any]) -> StepOutput:
    """Return the sentences of a clip: rows of `clip_sentences`.

    Raises:
        Silent: if there are none.
    """
    sentences = [text.strip() for text in listing["words"].split(".") if text.strip()]
    if not sentences:
        raise Silent(f"nothing is said in {listing['name']}")
    return StepOutput(
        [{"clip_id": listing["clip_id"], "ordinal": place, "sentence": text} for place, text in enumerate(sentences)]
    )


def count_words(clip_id: int, clip_sentences: Sequence[Mapping[str, Any]]) -> StepOutput:
    """Count what is said in a clip: a row of `clip_lengths`."""
    return StepOutput([{"clip_id": clip_id, "words": sum(len(row["sentence"].split()) for row in clip_sentences)}])
