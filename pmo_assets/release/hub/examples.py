"""Panels that the card shows: chosen by rule from the release's own table, small, under licences that allow it.

Add here: how they are chosen and drawn. Keep out: the card's words (`card_sections`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import polars as pl
import pyarrow.parquet as pq

from pmo_assets.pictures import decoded_bytes
from pmo_assets.release.facts import SURE, ExampleFacts
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.viewing.overlays import contact_sheet, webp_bytes

EXAMPLES_FILE: Final = "examples.webp"
"""The picture beside the card."""

MOST: Final = 6
"""Panels that are shown: two rows of three, which a phone still shows whole."""

_COLUMNS: Final = 3
SIDE: Final = 300
"""Longer side of a panel's picture in pixels."""

_LEAST_SIDE: Final = 120
_LONGEST: Final = 3.0
_TEXT: Final = (20, 320)
"""Pixels of the shorter side, ratio of the sides, and characters of the subcaption of a panel that can be shown."""

_LICENCES: Final = ("CC0", "CC BY")
"""Licences whose conditions a row of a table meets: it names authors, licence and article."""

_KINDS: Final = ("contains_cfp", "contains_oct", "contains_retinal")
"""What examples show, in turn. Other pictures are not shown: among them may be people."""

_FACTS: Final = (
    "panel_id", "article_id", "subcaption_text", "attribution", "article_url", "license", "license_url",
    "rights_statement", "assembly_confidence", "picture_width", "picture_height", *_KINDS,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Examples:
    """Panels for the card in their order, and one picture of all of them, numbered from 1 (WebP)."""

    panels: tuple[ExampleFacts, ...]
    picture: bytes


def chosen_panels(panels: pl.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of the panels that are shown, at most `MOST`.

    Only panels with picture, subcaption and a licence of `_LICENCES` are taken, of those the machine is sure of; in
    turn of each kind, an article once. Which ones follows from their ids: the same release shows the same.

    Args:
        panels: rows of the hub's panels, the columns `_FACTS`.
    """
    width, height = pl.col("picture_width"), pl.col("picture_height")
    fit = panels.filter(
        pl.col("license").is_in(_LICENCES),
        pl.col("rights_statement").is_null(),
        pl.col("subcaption_text").str.len_chars().is_between(*_TEXT),
        pl.col("assembly_confidence") >= SURE,
        pl.min_horizontal(width, height) >= _LEAST_SIDE,
        pl.max_horizontal(width, height) <= _LONGEST * pl.min_horizontal(width, height),
    )
    by_id = sorted(fit.to_dicts(), key=lambda row: hashlib.sha256(row["panel_id"].encode()).digest())
    waiting = [[row for row in by_id if row[kind]] for kind in _KINDS]
    chosen: list[dict[str, Any]] = []
    articles: set[int] = set()
    while len(chosen) < MOST and any(waiting):
        for kind, rows in enumerate(waiting):
            waiting[kind] = rows = [row for row in rows if row["article_id"] not in articles]
            if rows and len(chosen) < MOST:
                articles.add(rows[0]["article_id"])
                chosen.append(rows[0])
    return chosen


def card_examples(data_root: DataRoot, shards: Sequence[str]) -> Examples | None:
    """Return the panels that the card shows, of the hub's table as it was written; None where nothing is fit.

    Args:
        data_root: where the shards are.
        shards: keys of the shards of the table `panels`.
    """
    found = []
    for key in shards:
        with data_root.open_random(key) as file:
            table = pl.from_arrow(pq.read_table(file, columns=list(_FACTS)))
        assert isinstance(table, pl.DataFrame)
        found.append(table.with_columns(shard=pl.lit(key)))
    chosen = chosen_panels(pl.concat(found)) if found else []
    pictures = _pictures(data_root, {row["panel_id"]: row["shard"] for row in chosen})
    shown = [row for row in chosen if row["panel_id"] in pictures]
    if not shown:
        return None
    tiles = [(decoded_bytes(pictures[row["panel_id"]]), f"{number}") for number, row in enumerate(shown, start=1)]
    facts = (
        ExampleFacts(
            panel_id=row["panel_id"],
            subcaption=row["subcaption_text"],
            attribution=row["attribution"],
            article_url=row["article_url"],
            license=row["license"],
            license_url=row["license_url"],
        )
        for row in shown
    )
    return Examples(tuple(facts), webp_bytes(contact_sheet(tiles, columns=_COLUMNS, tile_size=SIDE, title_lines=1)))


def _pictures(data_root: DataRoot, wanted: Mapping[str, str]) -> dict[str, bytes]:
    """Return the pictures of panels, by id; only the row groups that hold them are read.

    Args:
        data_root: where the shards are.
        wanted: key of the shard by panel.
    """
    found: dict[str, bytes] = {}
    for key in dict.fromkeys(wanted.values()):
        with data_root.open_random(key) as file:
            shard = pq.ParquetFile(file)
            for group in range(shard.num_row_groups):
                ids = shard.read_row_group(group, ["panel_id"])["panel_id"].to_pylist()
                places = [place for place, panel in enumerate(ids) if wanted.get(panel) == key]
                if not places:
                    continue
                pictures = shard.read_row_group(group, ["panel_image"])["panel_image"].take(places).to_pylist()
                found |= {ids[at]: item["bytes"] for at, item in zip(places, pictures, strict=True) if item}
    return found
