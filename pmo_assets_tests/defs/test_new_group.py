"""A new asset group is three small files and no edit of a hub: a table, a step, a declaration.

The files of `new_group/` stand where they would stand in the package: their folders are added to its packages.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import polars as pl
import pytest

import pmo_assets
from pmo_assets.cli.documentation import documented
from pmo_assets.definitions import build_defs
from pmo_assets.defs.batch_states import stale_assets
from pmo_assets.defs.graph import graph_of_location
from pmo_assets.defs.partitions import register_partitions
from pmo_assets.defs.runner import run_job
from pmo_assets.defs.stage_table import stage_table
from pmo_assets.pipeline.dataset.licensing import withheld
from pmo_assets.records.stages import Stage
from pmo_assets.records.stores import StorageError
from pmo_assets.release.differences import changed_rows
from pmo_assets.release.filling.context import UNKNOWN
from pmo_assets.release.filling.copies import DataRootCopies
from pmo_assets.release.filling.fill import Filled, fill_null
from pmo_assets.settings import Settings
from pmo_assets.settings.step_options import figure_options
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.pixels import ParquetPixels
from pmo_assets.storage.tables import Tables
from pmo_assets.workers.pool import WorkerPool
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
    stages = graph_of_location(colours).stages
    assert stages.index("panels") < stages.index("panel_colours") < stages.index("rejections")
    assert stale_assets(colours, graph.instance, graph.tables, batch) == ["panel_colours", "rejections"]
    node = colours.resolve_asset_graph().get(dg.AssetKey("panel_colours"))
    assert (node.group_name, node.description) == ("colours", "The mean colour of each panel.")
    assert [column.name for column in node.metadata["dagster/column_schema"].columns][-3:] == [
        "colour",
        "brightness",
        "opening",
    ]
    assert node.tags["pmo/work"] == "pixels", "the step asks for pictures"
    run_job(colours, graph.instance, "process_batch", batch=batch, assets=["panel_colours", "rejections"])
    made = graph.tables.read("panel_colours", batch)
    assert made["panel_id"].to_list() == graph.tables.read("panels", batch)["panel_id"].sort().to_list()
    assert stale_assets(colours, graph.instance, graph.tables, batch) == []


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_column_that_says_so_is_in_all_that_a_release_consists_of(graph: Graph, tmp_path: Path) -> None:
    """One declaration at the column: data, card, Croissant, documents, gallery, loading, differences, licences."""
    folder = tmp_path / "data"
    shutil.copytree(graph.settings.data_root, folder)
    settings = graph.settings.model_copy(update={"workers": 0, "data_root": str(folder)})
    with added(GROUP), dg.DagsterInstance.ephemeral() as instance:
        defs = build_defs(settings)
        for batch in graph.batches:
            register_partitions(instance, [batch])
            run_job(defs, instance, "process_batch", batch=batch, assets=["panel_colours"])
        run_job(defs, instance, "release")
        hub = folder / "release/hub"
        panels = pl.read_parquet(hub / "data/panels/*.parquet")
        made = pl.concat([Tables(DataRoot(str(folder))).read("panel_colours", batch) for batch in graph.batches])
        joined = panels.join(made.select("panel_id", value="brightness", word="opening"), on="panel_id", how="left")
        assert panels.height > 0
        assert panels.columns[-3:] == ["colour", "brightness", "opening"], "behind what readers know"
        assert (joined["brightness"] == joined["value"]).all()
        forbidden = joined["license"].map_elements(withheld, return_dtype=pl.Boolean, skip_nulls=False)
        assert 0 < forbidden.sum() < panels.height
        assert joined.filter(forbidden)["opening"].null_count() == forbidden.sum(), "words need a licence"
        assert (joined.filter(~forbidden)["opening"] == joined.filter(~forbidden)["word"]).all()
        card = (hub / "README.md").read_text(encoding="utf-8")
        assert "| `brightness` |" in card
        assert "`opening`" in (hub / "LICENSE.md").read_text(encoding="utf-8"), "named as withheld"
        croissant = json.loads((hub / "croissant.json").read_text(encoding="utf-8"))
        assert "panels/brightness" in {field["@id"] for part in croissant["recordSet"] for field in part["field"]}
        assert "| `brightness` |" in documented("<!-- columns of panels -->\n<!-- /columns of panels -->")
        release = pmo_assets.load(hub)
        assert {panel.brightness for panel in release.panels} == set(panels["brightness"])
        catalogue = (folder / "release/gallery/data/catalogue.js").read_text(encoding="utf-8")
        assert '{"name":"brightness","title":"Brightness","values":[' in catalogue
        before = Path(graph.settings.data_root)
        (first,) = before.glob("release/versions/*/rows.parquet")
        (second,) = set(folder.glob("release/versions/*/rows.parquet")) - {folder / first.relative_to(before)}
        changed = changed_rows(pl.read_parquet(first), pl.read_parquet(second), {})
        assert set(changed["why"]) == {"picture, text"}, "the facets that its columns name"
        filled, rows = _filled(settings, hub, tmp_path / "filled")
        assert filled.restored == filled.rows > 0
        assert [line for line in filled.left if UNKNOWN in line] == [
            f"opening stays null in {forbidden.sum()} rows: {UNKNOWN}"
        ]
        assert rows["opening"].null_count() == forbidden.sum()
        assert rows["summary"].null_count() < panels["summary"].null_count(), "what is known is restored beside it"
    with pytest.raises(StorageError, match=r"colour, brightness, opening.* use the version of pmo-assets that made it"):
        _filled(settings, hub, tmp_path / "refused")
    assert "brightness" not in pmo_assets.load(hub).panels.columns, (
        "who has not the group opens the release all the same"
    )


def _filled(settings: Settings, hub: Path, target: Path) -> tuple[Filled, pl.DataFrame]:
    """Fill a folder's nulls from its data root; return its panels, too."""
    with WorkerPool(workers=0, timeout=600, memory_mb=0) as pool:
        filled = fill_null(
            hub,
            target,
            hub / "withheld.parquet",
            copies=DataRootCopies(DataRoot(settings.data_root)),
            figure_options=figure_options(settings),
            pool=pool,
        )
    return filled, pl.read_parquet(target / "data/panels/*.parquet")


def test_a_new_group_costs_few_lines() -> None:
    assert written_lines(GROUP) <= MOST_LINES


def test_a_step_that_asks_for_what_there_is_not_is_refused_where_it_is_declared() -> None:
    def step(article_id: int, panels: object, weather: object) -> object:
        return None

    with pytest.raises(TypeError, match=r"asks for 'weather'.*panels.*figure_options.*_pixels"):
        stage_table(Stage("panels", "g", step, reads=["panels"]))  # type: ignore[arg-type]
