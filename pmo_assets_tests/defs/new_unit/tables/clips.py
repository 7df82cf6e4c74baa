"""Tables of the unit `clip`."""

from __future__ import annotations

import dataframely as dy
from pmo_assets.pipeline.clips.stages import CLIP  # type: ignore[import-not-found, unused-ignore]

from pmo_assets.tables.rejections import rejections_schema


class ClipBatch(dy.Schema):
    """The clips of a batch."""

    clip_id = dy.Int64(primary_key=True, min=1, description="Number of the clip")
    name = dy.String(description="Name of its file")
    digest = dy.String(description="Of what it holds")
    words = dy.String(description="What is said in it, sentences apart by stops")


class ClipSentences(dy.Schema):
    """What is said in each clip, a sentence a row."""

    clip_id = dy.Int64(primary_key=True, min=1, description="Number of the clip")
    ordinal = dy.Int64(primary_key=True, min=0, description="Position in the clip")
    sentence = dy.String(description="The sentence")


class ClipLengths(dy.Schema):
    """How much is said in each clip."""

    clip_id = dy.Int64(primary_key=True, min=1, description="Number of the clip")
    words = dy.Int64(min=1, description="Words")


SCHEMAS = {
    "clip_batch": ClipBatch,
    "clip_sentences": ClipSentences,
    "clip_lengths": ClipLengths,
    "clip_rejections": rejections_schema(CLIP),
}
