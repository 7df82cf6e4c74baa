"""Numbers of pairs: what card, report and manifest say is what the files hold."""

from __future__ import annotations

import io
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

from pmo_assets.release.keys import CARD_KEY, HUB
from pmo_assets.release.pair_numbers import PairCounts, pair_cells, panel2patch_cells
from pmo_assets.release.reports import pair_tables
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.tables import Tables
from pmo_assets_tests.release.finished import finish, make


@pytest.mark.slow
def test_counts_are_those_of_the_files_in_manifest_card_and_report(tmp_path: Path) -> None:
    tables = Tables(DataRoot(str(tmp_path)))
    assert pair_tables(tables, 0) == (), "nothing is released yet"
    finish(tables, "0001-a", {1: {}, 2: {"code": "CC BY-ND"}}, panels=2)
    finish(tables, "0002-b", {3: {}, 4: {}, 5: {}})
    release = make(tables)
    root = tables.data_root
    names = root.keys(f"{HUB}/data/pairs", ".parquet")
    pairs = pl.concat(pl.read_parquet(io.BytesIO(root.read(f"{HUB}/data/pairs/{name}"))) for name in names)
    counts = Counter(pairs.select("level", "text_kind").iter_rows())
    paired = {
        "figure": pairs["figure_id"].n_unique(),
        "panel": pairs["panel_id"].drop_nulls().n_unique(),
        "region": pairs["region_id"].drop_nulls().n_unique(),
        "video": 0,
    }
    assert paired["figure"] == 4
    found = PairCounts.of(release.manifest.counts)
    assert found is not None
    assert {key: number for key, number in found.pairs.items() if number} == counts
    assert found.paired == paired
    assert release.manifest.counts["pairs"] == pairs.height
    card = root.read(CARD_KEY).decode()
    by_kind, beside = pair_tables(tables, 5)
    for level, kind, number in pair_cells(found):
        assert f"| {level} | {kind} | {number} |" in card
        assert (level, kind, number) in by_kind.rows
    assert beside.rows == tuple(panel2patch_cells(found, 5))


def test_numbers_stand_beside_the_papers_per_thousand() -> None:
    counts = PairCounts({("figure", "caption"): 50}, {"figure": 50, "panel": 150, "region": 10})
    assert panel2patch_cells(counts, articles=20) == [
        ("figures", 50, "2,500", "1,000", 364_216, "1,000"),
        ("panels", 150, "7,500", "3,000", 1_303_950, "3,580"),
        ("regions", 10, "500", "200", 619_424, "1,701"),
    ]
    assert [cells[2:4] for cells in panel2patch_cells(PairCounts(), articles=0)] == [("", "")] * 3


def test_a_manifest_from_before_there_were_pairs_has_none() -> None:
    assert PairCounts.of({"panels": 3}) is None
