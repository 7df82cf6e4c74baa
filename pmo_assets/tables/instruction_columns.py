"""Columns of the hub's table `instructions`: a question or dialogue about a panel, made of a batch's tables.

It is no asset's table and has no rows of its own in a batch: `pipeline.dataset.instruction_rows` makes it of the
instructions that every verdict keeps, about panels whose licence lets their words be passed on.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import dataframely as dy

from pmo_assets.records.instructions import INSTRUCTION_KINDS, TOPICS
from pmo_assets.tables.dataset import DatasetRows
from pmo_assets.tables.instructions import EVIDENCE_FIELDS, TURN_FIELDS
from pmo_assets.tables.released import FACTS, TEXT, released

_ROWS = DatasetRows.columns()
_FACT: Final = released(FACTS, "instructions")
_TEXT: Final = released(TEXT, "instructions")

INSTRUCTION_COLUMNS: Final[Mapping[str, dy.Column]] = {
    "instruction_id": dy.String(
        primary_key=True,
        description="The same in every release in which panel, kind and messages are the same",
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
        description="What the article's words about the panel state as visible, verbatim, part by part",
        metadata=_TEXT,
    ),
    "context": dy.List(
        dy.String(), description="What they add: history, treatment, mechanism, …, verbatim", metadata=_TEXT
    ),
    "evidence": dy.List(
        dy.Struct(EVIDENCE_FIELDS),
        description="What the answers rest on: words with their range in subcaption or mention; modality; position of "
        "a mark or region of the panel",
        metadata=_TEXT,
    ),
    "boxes": dy.List(
        dy.List(dy.Float64()),
        description="What the answers speak of, as fractions of the panel's picture; empty without",
        metadata=_FACT,
    ),
    "maker": dy.String(description="template, or the model and the version of its prompt", metadata=_FACT),
    "confidence": dy.Float64(
        min=0, max=1, description="Of the weakest evidence, the subcaption's among it", metadata=_FACT
    ),
    "panel_id": dy.String(description="Panel", metadata=_FACT),
    "picture_row": dy.Int64(
        min=0, description="Row of its picture among those of the config `panels`, same split, from 0", metadata=_FACT
    ),
    "article_id": _ROWS["article_id"],
    "image_cluster_id": _ROWS["image_cluster_id"],
    "license": _ROWS["license"],
    "license_url": _ROWS["license_url"],
    "commercial_use": _ROWS["commercial_use"],
    "attribution": _ROWS["attribution"],
}
"""Columns in their order, but the split, which all of the hub's tables have."""
