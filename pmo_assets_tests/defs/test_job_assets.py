"""A group that is not partitioned and that only its job makes is one file: assets, lineage and job follow from it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from pmo_assets.definitions import build_defs
from pmo_assets.defs.versions import CODE_VERSION_TAG
from pmo_assets_tests.defs.added import added, written_lines
from pmo_assets_tests.defs.conftest import settings_below

GROUP = Path(__file__).with_name("new_job")


@pytest.fixture(scope="module")
def pages_counted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dg.Definitions]:
    """The code location with the new group."""
    with added(GROUP):
        yield build_defs(settings_below(tmp_path_factory.mktemp("pages_counted")))


def test_its_assets_stand_in_the_graph_and_materialize_all_leaves_them_out(pages_counted: dg.Definitions) -> None:
    graph = pages_counted.resolve_asset_graph()
    for name in ("page_count", "page_report"):
        node = graph.get(dg.AssetKey(name))
        assert (node.group_name, node.is_executable) == ("pages_counted", False)
        assert node.owners
        assert node.code_version
    length = graph.get(dg.AssetKey("page_report"))
    assert length.description == "What it comes to."
    assert {key.path[-1] for key in length.parent_keys} == {"page_count", "articles"}


def test_its_job_makes_them_in_the_order_in_which_they_follow(pages_counted: dg.Definitions) -> None:
    job = pages_counted.resolve_job_def("count_pages")
    assert job.description == "Count pages, then say how many."
    assert {op.name: op.pools for op in job.all_node_defs if isinstance(op, dg.OpDefinition)} == {
        "page_count": set(),
        "page_report": {"gpu"},
    }
    with dg.DagsterInstance.ephemeral() as instance:
        result = job.execute_in_process(instance=instance)
        assert result.success
        made = [event.step_materialization_data.materialization for event in result.get_asset_materialization_events()]
    assert [item.asset_key.path[-1] for item in made] == ["page_count", "page_report"]
    assert made[0].metadata["number"].value == 5
    assert all((item.tags or {}).get(CODE_VERSION_TAG) for item in made)


def test_it_costs_few_lines() -> None:
    assert written_lines(GROUP) <= 20
