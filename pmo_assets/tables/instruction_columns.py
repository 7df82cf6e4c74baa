"""Columns of the hub's table `instructions`: a question or dialogue about a panel, or about a picture of a lecture.

It is no asset's table and has no rows of its own in a batch: `pipeline.dataset.instruction_rows` makes it of the
instructions that every verdict keeps, about pictures whose licence lets their words be passed on. What names a panel or
an article is null in the rows of lectures, what names a video in those of panels.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import dataframely as dy

from pmo_assets.records.instructions import INSTRUCTION_KINDS, TOPICS
from pmo_assets.records.pairs import PICTURE_CONFIGS
from pmo_assets.tables.dataset import DatasetRows
from pmo_assets.tables.instructions import EVIDENCE_FIELDS, TURN_FIELDS
from pmo_assets.tables.released import FACTS, TEXT, nullable, released

_ROWS = DatasetRows.columns()
_FACT: Final = released(FACTS, "instructions")
_TEXT: Final = released(TEXT, "instructions")

_EVIDENCE: Final[dict[str, dy.Column]] = {
    **EVIDENCE_FIELDS,
    "found_in": dy.Enum(["subcaption", "mention", "transcript"], nullable=True),
}

INSTRUCTION_COLUMNS: Final[Mapping[str, dy.Column]] = {
    "instruction_id": dy.String(
        primary_key=True,
        description="The same in every release in which panel (or pair of a lecture), kind and messages are the same",
        metadata=_FACT,
    ),
    "kind": dy.Enum(
        INSTRUCTION_KINDS, description="Kind: yes_no, what, where, conversation, reasoning", metadata=_FACT
    ),
    "topic": dy.Enum(
        TOPICS, description="What it is about: its entity group, a mark, a place; case for several", metadata=_FACT
    ),
    "asked": dy.String(
        description="What is asked for, in normal form; in each split as many yes as no for each", metadata=_FACT
    ),
    "messages": dy.List(
        dy.Struct(TURN_FIELDS), description="Messages: role (user, assistant), content", metadata=_TEXT
    ),
    "scene": dy.List(
        dy.String(),
        description="What the article's words about the panel, or the lecturer's, state as visible, verbatim, by parts",
        metadata=_TEXT,
    ),
    "context": dy.List(
        dy.String(), description="What they add: history, treatment, mechanism, …, verbatim", metadata=_TEXT
    ),
    "evidence": dy.List(
        dy.Struct(_EVIDENCE),
        description="What the answers rest on: words with their range in subcaption, mention or transcript (the text "
        "of the pair); modality; position of a mark or region of the panel",
        metadata=_TEXT,
    ),
    "boxes": dy.List(
        dy.List(dy.Float64()),
        description="What the answers speak of, as fractions of the picture; empty without, and for lectures",
        metadata=_FACT,
    ),
    "maker": dy.String(description="template, or the model and the version of its prompt", metadata=_FACT),
    "confidence": dy.Float64(
        min=0,
        max=1,
        description="Of the weakest evidence, the subcaption's or the words' recognition among it",
        metadata=_FACT,
    ),
    "panel_id": dy.String(nullable=True, description="Panel; null for lectures", metadata=_FACT),
    "picture_config": dy.Enum(PICTURE_CONFIGS, description="Config that holds the picture", metadata=_FACT),
    "picture_row": dy.Int64(
        min=0, description="Row of the picture among those of its config's same split, from 0", metadata=_FACT
    ),
    "article_id": nullable(_ROWS["article_id"]),
    "image_cluster_id": nullable(_ROWS["image_cluster_id"]),
    "pair_id": dy.String(
        nullable=True, description="Pair of a lecture (level V) that it is about; null for panels", metadata=_FACT
    ),
    "video_id": dy.Int64(
        nullable=True, min=1, description="Number of the lecture video; null for panels", metadata=_FACT
    ),
    "start": dy.Float64(
        nullable=True,
        min=0,
        description="Seconds of the video at which the words begin that it rests on, or the slide "
        "appears; null for panels",
        metadata=_FACT,
    ),
    "end": dy.Float64(nullable=True, min=0, description="Seconds at which they end; null for panels", metadata=_FACT),
    "license": _ROWS["license"],
    "license_url": _ROWS["license_url"],
    "commercial_use": _ROWS["commercial_use"],
    "attribution": _ROWS["attribution"],
}
"""Columns in their order, but the split, which all of the hub's tables have."""
