"""Place of a column in a release: declared at the column, read by all code that makes the release's files.

    colour = dy.String(description="Mean colour", metadata=released(FACTS, "panels", facet="picture", filter="Colour"))

A column of a table of a batch that says `released(…)` stands in the hub's tables that it names, with its description
and type; in the card, in Croissant, in `docs/columns.md` and in `pmo_assets.load`; it is null in rows whose licence
does not allow what it holds; a change of it is reported under its facet; and the gallery has a filter of it. To add a
column to the release, declare it so: nothing else lists columns. Keep out: permissions of licences
(`pipeline.dataset.licensing`).
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, Literal

import dataframely as dy

Config = Literal["panels", "figures", "articles", "pairs", "instructions", "videos"]
"""A table of the hub's folder."""

Facet = Literal["picture", "text", "boxes", "assembly", "credit"]
"""Group of columns whose changes are reported apart."""


class Holding(Enum):
    """Kind of content of an article that a column holds."""

    FACTS = "facts"
    """Names, numbers, places and judgements about the article: nobody's work, published under every licence."""
    TEXT = "article text"
    """Sentences of the article, whole or cut."""
    PICTURE = "article picture"
    """Pixels of the article's figures."""


FACTS: Final = Holding.FACTS
TEXT: Final = Holding.TEXT
PICTURE: Final = Holding.PICTURE

WITHHELD: Final = "null where the licence forbids redistribution"
"""Said of columns that `pipeline.dataset.licensing` withholds."""

KEYS: Final[Mapping[Config, tuple[str, ...]]] = {
    "panels": ("panel_id",),
    "figures": ("article_id", "image_cluster_id"),
    "articles": ("article_id",),
    "pairs": ("pair_id",),
    "instructions": ("instruction_id",),
    "videos": ("pair_id",),
}
"""Columns by which a row of each table is known."""

_KEY: Final = "released"


@dataclass(frozen=True)
class Released:
    """Place of a column in a release.

    Attributes:
        holds: kind of content of the article.
        configs: tables of the hub that it stands in.
        facet: under which a change of it is reported; None for what follows from others.
        filter: title of a filter of the gallery, for panels' columns with a value or a list of values, few or some
            hundreds altogether; None for no filter.
        names: of the filter's values that are codes, in words.
    """

    holds: Holding
    configs: tuple[Config, ...]
    facet: Facet | None = None
    filter: str | None = None
    names: Mapping[str, str] = field(default_factory=dict)


def released(
    holds: Holding,
    *configs: Config,
    facet: Facet | None = None,
    filter: str | None = None,
    names: Mapping[str, str] | None = None,
) -> dict[str, Released]:
    """Return the metadata of a column that a release carries; see `Released`."""
    return {_KEY: Released(holds, configs, facet, filter, names or {})}


def released_as(column: dy.Column) -> Released | None:
    """Return the place of a column in a release; None for one that declares none."""
    found = (column.metadata or {}).get(_KEY)
    return found if isinstance(found, Released) else None


def released_columns(schema: type[dy.Schema], config: Config) -> dict[str, dy.Column]:
    """Return the columns of a table that stand in a table of the hub, by name."""
    return {
        name: column
        for name, column in schema.columns().items()
        if (said := released_as(column)) is not None and config in said.configs
    }


def nullable(column: dy.Column) -> dy.Column:
    """Return a column that may be null: of a table that need not have a row for each."""
    other = copy.copy(column)
    other.nullable, other.primary_key = True, False
    return other


def withheld_where_forbidden(column: dy.Column) -> dy.Column:
    """Return a column as the hub has it: what holds text or pictures is null where a licence forbids it, and says
    so."""
    said = released_as(column)
    if said is None or said.holds is FACTS:
        return column
    other = copy.copy(column)
    other.nullable = True
    other.description = f"{column.description}; {WITHHELD}"
    return other
