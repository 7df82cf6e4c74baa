"""A new asset group is three small files and no edit of a hub: a table, a step, a declaration.

The files of `new_group/` stand where they would stand in the package: their folders are added to its packages.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import polars as pl
import pytest

from pmo_assets.definitions import build_defs
from pmo_assets.defs.batch_states import stale_assets
from pmo_assets.defs.graph import graph_of_location
from pmo_assets.defs.runner import run_job
from pmo_assets.defs.stage_table import stage_table
from pmo_assets.records.stages import Stage
from pmo_assets.storage.pixels import ParquetPixels
from pmo_assets_tests.defs.added import added, written_lines
from pmo_assets_tests.defs.conftest import Graph

GROUP = Path(__file__).with_name("new_group")
MOST_LINES = 60


@pytest.fixture
def colours(graph: Graph) -> Iterator[dg.Definitions]:
    """The code location with the new group."""
    with added(GROUP):
        yield build_defs(graph.settings.model_copy(update={"workers": 0}))


def test_a_new_group_is_part_of_every_batch(graph: Graph, colours: dg.Definitions) -> None:
    batch = graph.batches[0]
    assert graph_of_location(colours).stages[-3:] == ("dataset_rows", "panel_colours", "rejections")
    assert stale_assets(colours, graph.instance, graph.tables, batch) == ["panel_colours", "rejections"]
    node = colours.resolve_asset_graph().get(dg.AssetKey("panel_colours"))
    assert (node.group_name, node.description) == ("colours", "The mean colour of each panel.")
    assert [column.name for column in node.metadata["dagster/column_schema"].columns][-1] == "colour"
    assert node.tags["pmo/work"] == "pixels", "the step asks for pictures"
    run_job(colours, graph.instance, "process_batch", batch=batch, assets=["panel_colours", "rejections"])
    made = graph.tables.read("panel_colours", batch)
    assert made["panel_id"].to_list() == graph.tables.read("panels", batch)["panel_id"].sort().to_list()
    assert stale_assets(colours, graph.instance, graph.tables, batch) == []


def test_what_a_new_group_cannot_process_is_collected_like_everything_else(
    graph: Graph, colours: dg.Definitions
) -> None:
    batch = graph.batches[0]
    panel = graph.tables.read("panels", batch).row(0, named=True)
    store = ParquetPixels(graph.tables.data_root, "panels", batch)
    whole = store.read(panel["article_id"])
    try:
        store.write(panel["article_id"], [item for key, item in whole.items() if key != panel["panel_id"]])
        run_job(colours, graph.instance, "process_batch", batch=batch, assets=["panel_colours", "rejections"])
    finally:
        store.write(panel["article_id"], list(whole.values()))
    rejected = graph.tables.read("rejections", batch).filter(pl.col("stage") == "panel_colours")
    assert rejected["image_cluster_id"].to_list() == [panel["image_cluster_id"]]
    assert graph.tables.read("panel_colours", batch).height == graph.tables.read("panels", batch).height - 1
    run_job(graph.defs, graph.instance, "process_batch", batch=batch, assets=["rejections"])


def test_a_new_group_costs_few_lines() -> None:
    assert written_lines(GROUP) <= MOST_LINES


def test_a_step_that_asks_for_what_there_is_not_is_refused_where_it_is_declared() -> None:
    def step(article_id: int, panels: object, weather: object) -> object:
        return None

    with pytest.raises(TypeError, match=r"asks for 'weather'.*panels.*figure_options.*_pixels"):
        stage_table(Stage("panels", "g", step, reads=["panels"]))  # type: ignore[arg-type]
