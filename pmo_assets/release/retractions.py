"""Articles that leave the dataset, with the reason: they were retracted, or PMC no longer holds them.

The table lies beside the release and only grows: whoever trained on an older release finds in it which rows to leave
out. It is written before the release that lacks these rows, so that a release that was killed forgets nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import date
from typing import Any, Final, NamedTuple

import polars as pl
import pyarrow.parquet as pq

from pmo_assets.records.candidates import CandidateState
from pmo_assets.release.keys import RELEASE_KEY, RETRACTIONS_KEY
from pmo_assets.release.selection import Selection
from pmo_assets.storage.candidates import read_candidates
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.parquet import parquet_bytes, read_parquet
from pmo_assets.storage.registry import BatchRegistry
from pmo_assets.storage.tables import Tables
from pmo_assets.tables.dataset import Retractions
from pmo_assets.tables.schemas import checked, empty_table

RETRACTED: Final = "retracted"
REMOVED: Final = "removed"


def released_panels(data_root: DataRoot) -> dict[int, list[str]]:
    """Return the ids of the panels that the present release holds, by article number, in its order."""
    if not data_root.exists(RELEASE_KEY):
        return {}
    with data_root.open_random(RELEASE_KEY) as file:
        rows = pl.from_arrow(pq.read_table(file, columns=["article_id", "panel_id"]))
    assert isinstance(rows, pl.DataFrame)
    grouped = rows.group_by("article_id", maintain_order=True).agg("panel_id")
    return {int(article): list(panels) for article, panels in grouped.iter_rows()}


def read_retractions(data_root: DataRoot) -> pl.DataFrame:
    """Return the table `retractions`; empty before the first one."""
    if not data_root.exists(RETRACTIONS_KEY):
        return empty_table(Retractions)
    noted = read_parquet(data_root, RETRACTIONS_KEY)
    if "why" not in noted.columns:  # what an earlier version noted is never made again
        noted = noted.with_columns(why=pl.lit(None, pl.String))
    return checked(Retractions, noted)


class Gone(NamedTuple):
    """An article that is out of the dataset: its number, package, reason (`RETRACTED`, `REMOVED`), and who says so."""

    article_id: int
    name: str
    reason: str
    why: str


_AT_PMC: Final = "PubMed Central no longer holds it"
_OF_PACKAGE: Final = "its own package says so"


def left_out(tables: Tables, selection: Selection) -> list[Gone]:
    """Return every article that is out of the dataset now, by number.

    A package that is the same article as a retracted one goes with it.
    """
    removed = read_candidates(tables.data_root).table.filter(pl.col("state") == CandidateState.REMOVED.value)
    last = pl.col("versions").list.last().struct.field("version")
    named = pl.coalesce("name", pl.format("PMC{}.{}", "article_id", last))  # its metadata may never have been read
    out = [Gone(number, name, REMOVED, _AT_PMC) for number, name in removed.select("article_id", named).iter_rows()]
    for batch, articles in selection.current.items():
        known = tables.read("articles", batch, ("article_id", "package", "is_retracted"))
        retracted = known.filter("is_retracted", pl.col("article_id").is_in(list(articles)))
        numbers = retracted.select("article_id", "package").iter_rows()
        out += [Gone(number, name, RETRACTED, _OF_PACKAGE) for number, name in numbers]
    out += [Gone(number, item.name, RETRACTED, item.why) for number, item in selection.retracted.items()]
    out += [
        Gone(
            item.package.article_id,
            item.package.name,
            RETRACTED,
            f"{item.published.name}, the same article by its {item.identifier}, is retracted",
        )
        for item in selection.duplicates
        if item.published.is_retracted
    ]
    return sorted(out)


def renewed_retractions(
    before: pl.DataFrame,
    out: Sequence[Gone],
    released: Mapping[int, Sequence[str]],
    today: date,
    unknown: Collection[int] = (),
) -> pl.DataFrame:
    """Return the table with new rows for articles that left the dataset, and the date of those that came back.

    A row stays, also when its article comes back; if it goes a second time, that is a second row. A release that was
    killed after this and is made again changes nothing.

    Args:
        before: the table as it was.
        out: articles that are out now.
        released: ids of the panels in the release that is about to be replaced, by article number.
        today: the date that new rows bear.
        unknown: articles of which nothing is said now, because people took them or their batch out: they
            did not come back.
    """
    rows: list[dict[str, Any]] = before.to_dicts()
    absent = {*unknown, *(gone.article_id for gone in out)}
    for row in rows:
        if row["article_id"] not in absent and row["returned_on"] is None:
            row["returned_on"] = today
    # of one day there is one row; what is still out goes on in its row
    going_on = {
        (row["article_id"], row["reason"]): row
        for row in rows
        if row["returned_on"] is None or row["noticed_on"] == today
    }
    for gone in out:
        panels = list(released.get(gone.article_id, ()))
        same = going_on.get((gone.article_id, gone.reason))
        if same is None:
            rows.append({**gone._asdict(), "noticed_on": today, "panels": panels, "returned_on": None})
        else:
            same["returned_on"], same["why"] = None, gone.why
            same["panels"] += [panel for panel in panels if panel not in same["panels"]]
    return checked(Retractions, rows)


def write_retractions(tables: Tables, selection: Selection, today: date) -> pl.DataFrame:
    """Note what is out of the dataset now, and which rows of the present release that takes away; return the table."""
    data_root = tables.data_root
    out, released = left_out(tables, selection), released_panels(data_root)
    unknown = BatchRegistry(data_root).removed_articles() | selection.taken_out
    table = renewed_retractions(read_retractions(data_root), out, released, today, unknown)
    data_root.write(RETRACTIONS_KEY, parquet_bytes(table))
    return table
