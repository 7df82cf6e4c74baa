"""Tables of instructions about pictures of lectures: what is said of each picture, and questions with answers.

The same as `tables.instructions` has of panels, in one row of cues with their scores, and one row of an instruction
with its verdicts. Words stand in the transcript, which is `text` of `video_pairs`, and have their times in the video.
"""

from __future__ import annotations

from typing import Final

import dataframely as dy

from pmo_assets.records.instructions import CONTEXT_KINDS, EVIDENCE_KINDS, INSTRUCTION_KINDS, TOPICS
from pmo_assets.tables.instructions import TURN_FIELDS, VERDICT_FIELDS
from pmo_assets.tables.videos import VideoKey

_WORDS: Final[dict[str, dy.Column]] = {
    "start": dy.Int64(),
    "end": dy.Int64(),
    "text": dy.String(),
    "from_second": dy.Float64(),
    "to_second": dy.Float64(),
}


class VideoPairKey(VideoKey):
    """Key of a table with rows about pictures of lectures."""

    episode = dy.Int64(primary_key=True, min=0, description="Number of the episode, from 0")
    pair_id = dy.String(description="Name of picture and transcript in a release")


class VideoCues(VideoPairKey):
    """What is said of each lecture's picture that states what is visible, apart from what it adds, and its scores."""

    scenes = dy.List(
        dy.Struct(_WORDS),
        description="Words that state what is visible, verbatim: range in the transcript, seconds of the video",
    )
    context = dy.List(
        dy.Struct({**_WORDS, "kind": dy.Enum(CONTEXT_KINDS)}),
        description="Words of sentences about the picture that add to it: history, treatment, mechanism, …",
    )
    quality = dy.Int64(min=1, max=10, description="How clearly the scene says what is visible")
    difficulty = dy.Int64(min=1, max=10, description="How much must be known to read it")
    relevance = dy.Int64(min=1, max=6, description="Density of the field's terms")
    has_details = dy.Bool(description="Explicit details: places, measurements, landmarks")
    is_kept = dy.Bool(description="Relevance of 3 or more, and details: instructions are made of it")
    modality = dy.String(
        nullable=True, description="Of the picture, where pixels and words agree on one; null where it is not sure"
    )
    eye = dy.Enum(["OD", "OS", "OU"], nullable=True, description="That is named; null without, or for several")


class VideoInstructions(VideoPairKey):
    """Questions and conversations about pictures of lectures, the words that each rests on, and verdicts on it."""

    number = dy.Int64(primary_key=True, min=0, description="Position among the picture's instructions")
    kind = dy.Enum(INSTRUCTION_KINDS, description="Kind of instruction")
    topic = dy.Enum(TOPICS, description="What it is about: its entity group, a place; case for several together")
    asked = dy.String(description="What is asked for, in normal form; a release balances yes and no by it")
    messages = dy.List(dy.Struct(TURN_FIELDS), description="Messages, the user's first")
    evidence = dy.List(
        dy.Struct(
            {
                "kind": dy.Enum(EVIDENCE_KINDS),
                "text": dy.String(),
                **{name: dy.Int64(nullable=True) for name in ("start", "end")},
                **{name: dy.Float64(nullable=True) for name in ("from_second", "to_second")},
            }
        ),
        description="What the answers rest on: words with their range in the transcript and their seconds; modality",
    )
    maker = dy.String(description="template")
    confidence = dy.Float64(min=0, max=1, description="Of the weakest evidence, the words' recognition among it")
    is_kept = dy.Bool(description="Every check was made and every verdict keeps it: only then it is released")
    verdicts = dy.List(
        dy.Struct(VERDICT_FIELDS), description="Who, criterion, verdict, reason; none after one that discards"
    )


SCHEMAS: dict[str, type[dy.Schema]] = {"video_cues": VideoCues, "video_instructions": VideoInstructions}
"""The schema of each asset that is a table."""
