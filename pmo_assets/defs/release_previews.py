"""Pictures of a release for the UI: a few panels as the dataset has them, and groups of panels that look the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import polars as pl
import pyarrow.parquet as pq

from pmo_assets.defs.previews import READABLE_TILES, Pixels, Tile
from pmo_assets.pictures import decoded, decoded_bytes
from pmo_assets.records.geometry import as_box, normalise
from pmo_assets.release.keys import HUB
from pmo_assets.release.panel_duplicates import PanelGroups
from pmo_assets.release.selection import Selection
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.pixels import ParquetPixels
from pmo_assets.viewing.overlays import IDENTIFIER_LEGEND, contact_sheet, draw_detections

_COLUMNS: Final = [
    "panel_image",
    "panel_name",
    "subcaption_text",
    "license",
    "identifiers",
    "content_box",
    "article_id",
]

_LOOKED_THROUGH: Final = 64
"""Rows of the first file among which those that are shown are looked for: of different articles, where there are."""

SHOWN_GROUPS: Final = 3
GROUP_PANELS: Final = 4


def release_sheet(data_root: DataRoot) -> Pixels | None:
    """Return a few panels as the dataset has them: picture with its identifiers, name, subcaption, licence."""
    rows = list(_first_of_articles(_released_panels(data_root), READABLE_TILES))
    return (
        contact_sheet([_tile(row) for row in rows], tile_size=300, columns=2, title_lines=4, legend=IDENTIFIER_LEGEND)
        if rows
        else None
    )


def _released_panels(data_root: DataRoot) -> Iterator[Mapping[str, Any]]:
    files = [name for name in data_root.tree(f"{HUB}/data/panels") if name.endswith(".parquet")]
    if not files:
        return
    with data_root.open_random(f"{HUB}/data/panels/{files[0]}") as stream:
        for batch in pq.ParquetFile(stream).iter_batches(batch_size=_LOOKED_THROUGH, columns=_COLUMNS):
            yield from (row for row in batch.to_pylist() if row["panel_image"] is not None)
            return


def _first_of_articles(rows: Iterable[Mapping[str, Any]], count: int) -> Iterator[Mapping[str, Any]]:
    """Yield the first panel of each article, then the second, and so on."""
    by_article: dict[int, list[Mapping[str, Any]]] = {}
    for row in rows:
        by_article.setdefault(row["article_id"], []).append(row)
    ranked = sorted(
        ((place, number, row) for number, part in enumerate(by_article.values()) for place, row in enumerate(part)),
        key=lambda item: item[:2],
    )
    yield from (row for _, _, row in ranked[:count])


def _tile(row: Mapping[str, Any]) -> Tile:
    frame = as_box(row["content_box"])
    inside = [(normalise(as_box(item["box"]), frame), item["text"]) for item in row["identifiers"]]
    image = draw_detections(decoded_bytes(row["panel_image"]["bytes"]), panels=(), identifiers=inside)
    return image, f"{row['panel_name'] or 'single'}: {row['subcaption_text']} ({row['license']})"


def duplicates_sheet(data_root: DataRoot, selection: Selection, groups: PanelGroups) -> Pixels | None:
    """Return panels of the largest groups that look the same, a group in a row."""
    batches = {article: batch for batch, articles in selection.current.items() for article in articles}
    shown: list[Tile] = []
    for group, _, _ in groups.largest(SHOWN_GROUPS):
        members = groups.duplicates.filter(pl.col("duplicate_group") == group).sort("distance", "panel_id")
        shown += _row(data_root, members.head(GROUP_PANELS).to_dicts(), batches)
    return contact_sheet(shown, columns=GROUP_PANELS, tile_size=180) if shown else None


def _row(data_root: DataRoot, members: Sequence[Mapping[str, Any]], batches: Mapping[int, str]) -> list[Tile]:
    tiles: list[Tile] = []
    for row in members:
        pixels = ParquetPixels(data_root, "panels", batches[row["article_id"]]).read(row["article_id"])
        image = draw_detections(decoded(pixels.get(row["panel_id"]), row["panel_id"]), panels=())
        how = row["kind"] if row["kind"] == "identical" else f"{row['distance']} bits apart"
        tiles.append((image, f"{row['article_id']} · {how}"))
    empty: Tile = (tiles[0][0][:0, :0], "")
    return [*tiles, *[empty] * (GROUP_PANELS - len(tiles))]
