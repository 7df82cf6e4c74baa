"""Pools of the assets in the instance."""

from __future__ import annotations

from pathlib import Path

from pmo_assets.defs.instance import opened_home
from pmo_assets.defs.pools import make_pools, pools


def test_the_pools_of_all_assets_are_found() -> None:
    assert {"gpu", "llm", "pmc", "release"} <= set(pools())


def test_every_pool_is_made_once_with_the_default_limit(tmp_path: Path) -> None:
    with opened_home(tmp_path) as instance:
        assert make_pools(instance) == pools()
        instance.event_log_storage.set_concurrency_slots("gpu", 3)
        assert make_pools(instance) == []
        limits = {pool.name: pool.limit for pool in instance.event_log_storage.get_pool_limits()}
    assert limits == {**dict.fromkeys(pools(), 1), "gpu": 3}
