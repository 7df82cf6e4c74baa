"""Inventories below the data root: the newest that can be read, compared with the one before; no other is lost."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import polars as pl
import pytest

from pmo_assets.records.packages import SourceError
from pmo_assets.refresh.inventory import (
    KEPT,
    InventoryRenewal,
    latest_inventory,
    made_at,
    newest_inventory,
    renew_inventory,
    stamps,
)
from pmo_assets.sources.pmc_inventory import versions_of
from pmo_assets_tests.loopback import Answer, Faults
from pmo_assets_tests.refresh.conftest import Refreshes, article


def day(number: int) -> datetime:
    return datetime(2026, 1, number, 1, tzinfo=UTC)


def renewed(refreshes: Refreshes, *followed: int) -> InventoryRenewal:
    return renew_inventory(refreshes.root, refreshes.bucket, pl.Series("article_id", followed, dtype=pl.Int64))


def listed(refreshes: Refreshes) -> list[int]:
    with newest_inventory(refreshes.root) as inventory:
        assert inventory is not None
        return versions_of(inventory.file, pl.Series(range(100)))["article_id"].to_list()


def test_the_first_inventory_is_taken_and_nothing_is_compared(refreshes: Refreshes) -> None:
    refreshes.put(article(1), article(2))
    refreshes.pmc.write_inventory(day(1))
    assert renewed(refreshes, 1) == InventoryRenewal("2026-01-01T01-00Z", 2, {}, ())
    assert listed(refreshes) == [1, 2]
    with newest_inventory(refreshes.root) as inventory:
        assert inventory is not None
        assert inventory.made_at == day(1)


def test_the_next_one_says_what_happened_to_the_followed_articles(refreshes: Refreshes) -> None:
    refreshes.put(*(article(number) for number in range(1, 6)))
    refreshes.pmc.write_inventory(day(1))
    renewed(refreshes)
    refreshes.put(article(1, is_retracted=True), article(2, 2), article(9))
    refreshes.pmc.delete(3)
    refreshes.pmc.delete(4)
    refreshes.pmc.write_inventory(day(2))
    assert renewed(refreshes, 1, 2, 3).changes == {"changed": 1, "new": 1, "removed": 1}


def test_one_that_is_there_already_is_not_fetched_again(refreshes: Refreshes) -> None:
    refreshes.put(article(1))
    refreshes.pmc.write_inventory(day(1))
    renewed(refreshes)
    refreshes.pmc.forget_requests()
    assert renewed(refreshes) == InventoryRenewal("2026-01-01T01-00Z", None, {}, ())
    assert refreshes.pmc.get_counts("inventory-reports/") == {}


def test_one_can_be_looked_at_without_being_kept(refreshes: Refreshes) -> None:
    refreshes.put(article(1))
    with latest_inventory(refreshes.root, refreshes.bucket) as inventory:
        assert inventory is None
    refreshes.pmc.write_inventory(day(1))
    renewed(refreshes)
    refreshes.put(article(2))
    refreshes.pmc.write_inventory(day(2))
    with latest_inventory(refreshes.root, refreshes.bucket) as inventory:
        assert inventory is not None
        assert inventory.made_at == day(2)
        assert versions_of(inventory.file, pl.Series([1, 2]))["article_id"].to_list() == [1, 2]
    assert stamps(refreshes.root) == ["2026-01-01T01-00Z"]
    refreshes.pmc.delete_inventory(day(2))
    with latest_inventory(refreshes.root, refreshes.bucket) as inventory:
        assert inventory is not None
        assert inventory.made_at == day(1), "the one that is kept"


def test_two_are_kept(refreshes: Refreshes) -> None:
    refreshes.put(article(1))
    for number in range(1, 6):
        refreshes.pmc.write_inventory(day(number))
        renewed(refreshes)
    assert stamps(refreshes.root) == ["2026-01-04T01-00Z", "2026-01-05T01-00Z"][:KEPT]


@pytest.mark.parametrize("damage", ["missing_file", "truncated_gzip"])
def test_instead_of_a_damaged_one_yesterdays_is_used_and_that_is_said(refreshes: Refreshes, damage: Any) -> None:
    refreshes.put(article(1))
    refreshes.pmc.write_inventory(day(1))
    renewed(refreshes)
    refreshes.put(article(2))
    refreshes.pmc.write_inventory(day(2), damage=damage)
    renewal = renewed(refreshes)
    assert (renewal.stamp, renewal.rows) == ("2026-01-01T01-00Z", None)
    assert "the inventory 2026-01-02T01-00Z of pmc-oa-opendata is passed over" in " ".join(renewal.notes)
    assert listed(refreshes) == [1]


@pytest.mark.parametrize("damage", ["extra_columns", "shuffled_rows"])
def test_unknown_columns_and_rows_out_of_order_do_not_matter(refreshes: Refreshes, damage: Any) -> None:
    refreshes.put(*(article(number) for number in range(1, 9)))
    refreshes.pmc.write_inventory(day(1), damage=damage)
    assert renewed(refreshes).rows == 8
    assert listed(refreshes) == list(range(1, 9))


def test_without_any_inventory_there_is_none_and_that_is_said(refreshes: Refreshes) -> None:
    assert renewed(refreshes) == InventoryRenewal(None, None, {}, ("the bucket has no inventory that can be read",))
    with newest_inventory(refreshes.root) as inventory:
        assert inventory is None


def test_when_the_bucket_has_none_any_more_the_last_one_stays(refreshes: Refreshes) -> None:
    refreshes.put(article(1))
    refreshes.pmc.write_inventory(day(1))
    renewed(refreshes)
    refreshes.pmc.delete_inventory()
    assert renewed(refreshes).notes == ("the bucket has no inventory: the last one is used",)
    assert listed(refreshes) == [1]


def test_a_page_instead_of_the_manifest_is_no_inventory(refreshes: Refreshes) -> None:
    refreshes.put(article(1))
    refreshes.pmc.answer(refreshes.pmc.write_inventory(day(1)), Answer.html())
    assert renewed(refreshes).stamp is None


def test_a_data_file_that_does_not_end_is_cut_off_where_the_manifest_says(refreshes: Refreshes) -> None:
    refreshes.put(article(1))
    refreshes.pmc.write_inventory(day(1))
    (data,) = refreshes.pmc.object_keys("inventory-reports/pmc-oa-opendata/metadata/data/")
    refreshes.pmc.answer(data, Answer(bytes(10_000_000)))
    renewal = renewed(refreshes)
    assert renewal.stamp is None
    refreshes.pmc.answer(data, None)
    assert renewed(refreshes).stamp == "2026-01-01T01-00Z"


def test_a_bucket_that_cannot_be_read_says_nothing_about_inventories(refreshes: Refreshes) -> None:
    refreshes.put(article(1))
    refreshes.pmc.write_inventory(day(1))
    refreshes.pmc.faults = Faults(share=1, kinds=("503",))
    with pytest.raises(SourceError):
        renewed(refreshes)
    assert stamps(refreshes.root) == []


def test_a_stamp_is_a_time_of_day_zero() -> None:
    assert made_at("2026-01-08T01-00Z") == datetime(2026, 1, 8, 1, tzinfo=UTC)
