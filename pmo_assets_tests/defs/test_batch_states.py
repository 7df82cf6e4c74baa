"""How far batches are is said of all of them at once, and of each what is said of it alone."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import dagster as dg
import polars as pl
import pytest

from pmo_assets.definitions import build_defs
from pmo_assets.defs.annotated import APPLIED_BY, REVIEWED, decisions_in_force
from pmo_assets.defs.batch_states import BatchState, batch_states, stale_assets, stale_of_all
from pmo_assets.defs.graph import graph_of_location
from pmo_assets.defs.partitions import register_partitions
from pmo_assets.defs.staleness import stages_of_location
from pmo_assets.defs.versions import (
    APPLIED_DIGEST,
    CODE_VERSION_TAG,
    DATA_VERSION_TAG,
    applied_in,
    code_version_in,
    data_version,
)
from pmo_assets.pipeline.graph import losing_stages
from pmo_assets.quality.quality_tables import quality_key
from pmo_assets.release.statistics import losses
from pmo_assets.settings import Settings
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.parquet import parquet_bytes
from pmo_assets.storage.registry import BatchRegistry
from pmo_assets.storage.tables import Tables
from pmo_assets.tables.quality import Annotations
from pmo_assets.tables.schemas import empty_table
from pmo_assets_tests.defs.conftest import Graph, settings_below, statements


def states_of(defs: dg.Definitions, instance: dg.DagsterInstance, registry: BatchRegistry) -> list[BatchState]:
    settings: Settings = (defs.resources or {})["settings"]
    return batch_states(stages_of_location(defs, registry.data_root), settings, instance, registry)


def test_processed_batches_are_up_to_date_with_their_rows(graph: Graph) -> None:
    expected = [
        BatchState(
            batch,
            graph.registry.manifest(batch).height,
            [],
            (),
            {name: graph.tables.read(name, batch).height for name in ("dataset_rows", "rejections")},
        )
        for batch in graph.batches
    ]
    assert states_of(graph.defs, graph.instance, graph.registry) == expected


def test_versions_alone_tell_what_was_made_with_which_code_and_decisions(graph: Graph) -> None:
    made = dg.DagsterEventType.ASSET_MATERIALIZATION
    for name in graph_of_location(graph.defs).stages:
        found = graph.instance.event_log_storage.get_latest_tags_by_partition(
            dg.AssetKey(name), made, [DATA_VERSION_TAG], graph.batches
        )
        versions = [tags[DATA_VERSION_TAG] for tags in found.values()]
        assert len(versions) == len(graph.batches)
        assert all(code_version_in(version) for version in versions)
        assert {applied_in(version) for version in versions} == {"" if name in APPLIED_BY else None}


@pytest.mark.parametrize("fail", [0.01, 0.1, 0.9])
def test_what_was_lost_is_what_the_tables_of_each_batch_say(
    graph: Graph, fail: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(losses, "SEVERAL", 1)
    defs = build_defs(graph.settings.model_copy(update={"rejected_fail": fail}))
    states = states_of(defs, graph.instance, graph.registry)
    assert {state.batch: list(state.lost) for state in states} == {
        batch: losses.excessive(losses.batch_losses(graph.tables, batch, losing_stages()), fail)
        for batch in graph.batches
    }
    assert any(state.lost for state in states) == (fail < 0.5)


def test_what_is_stale_has_no_rows_and_lost_nothing(graph: Graph) -> None:
    defs = build_defs(graph.settings.model_copy(update={"score_threshold": 0.5, "rejected_fail": 0.01}))
    for state in states_of(defs, graph.instance, graph.registry):
        assert state.stale == stale_assets(defs, graph.instance, graph.tables, state.batch)
        assert state.stale[0] == "panel_detections"
        assert (state.lost, state.rows) == ((), {})
        before = graph.settings.score_threshold
        assert state.why == f"changed: PMO_SCORE_THRESHOLD {before} → 0.5"


@pytest.mark.parametrize("folder", ["tables", "rejections"])
def test_a_batch_without_one_of_its_tables_is_stale_from_there_on(graph: Graph, tmp_path: Path, folder: str) -> None:
    for name in ("claims", "manifests", "tables", "rejections"):
        shutil.copytree(Path(graph.settings.data_root) / name, tmp_path / name)
    registry = BatchRegistry(DataRoot(str(tmp_path)))
    tables = Tables(registry.data_root)
    first, second = graph.batches
    (tmp_path / folder / "panels" / f"{first}.parquet").unlink()
    stale = stale_of_all(stages_of_location(graph.defs, tables.data_root), graph.instance, tables, graph.batches)
    assert stale == {first: ["panels", "dataset_rows", "rejections"], second: []}
    assert {batch: stale_assets(graph.defs, graph.instance, tables, batch) for batch in stale} == stale
    states = states_of(graph.defs, graph.instance, registry)
    assert [sorted(state.rows) for state in states] == [[], ["dataset_rows", "rejections"]]
    assert [state.why for state in states] == ["its table is not there", ""]


@pytest.mark.slow
def test_decisions_that_were_applied_and_are_no_more_make_their_batch_stale(tmp_path: Path) -> None:
    settings = settings_below(tmp_path)
    defs, tables = build_defs(settings), Tables(DataRoot(settings.data_root))
    with dg.DagsterInstance.ephemeral() as instance:
        made(defs, instance, tables, ["0001-a", "0002-b"], applied=lambda batch: "decided" * (batch == "0002-b"))
        stale = stale_of_all(stages_of_location(defs, tables.data_root), instance, tables, ["0001-a", "0002-b"])
        assert stale["0001-a"] == []
        assert stale["0002-b"][0] == REVIEWED
        assert stale_assets(defs, instance, tables, "0002-b") == stale["0002-b"]


def made(
    defs: dg.Definitions,
    instance: dg.DagsterInstance,
    tables: Tables,
    batches: list[str],
    *,
    applied: Callable[[str], str] = lambda batch: "",
    by_older_version: bool = False,
) -> None:
    """Let batches have been made: the instance says so, and files are there."""
    graph = defs.resolve_asset_graph()
    register_partitions(instance, batches)
    nothing = parquet_bytes(pl.DataFrame({"article_id": pl.Series([], dtype=pl.Int64)}))
    for batch in batches:
        for name in graph_of_location(defs).stages:
            tables.data_root.write(tables.key(name, batch), nothing)
            tables.write_rejections(name, batch, ())
            version = str(graph.get(dg.AssetKey(name)).code_version)
            noted = applied(batch) if name in APPLIED_BY else None
            event = dg.AssetMaterialization(
                name,
                partition=batch,
                tags={CODE_VERSION_TAG: version}
                if by_older_version
                else {DATA_VERSION_TAG: data_version(version, "run of the test", noted)},
                metadata={APPLIED_DIGEST: noted} if by_older_version and noted is not None else {},
            )
            instance.report_runless_asset_event(event)


@pytest.mark.slow  # many partitions
@pytest.mark.parametrize("by_older_version", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_the_instance_is_asked_as_often_for_many_batches_as_for_few(tmp_path: Path, by_older_version: bool) -> None:
    settings = settings_below(tmp_path)
    defs, asked = build_defs(settings), []
    for count in (2, 6):
        tables = Tables(DataRoot(str(tmp_path / str(count))))
        batches = [f"{number:04d}-x" for number in range(1, count + 1)]
        with dg.DagsterInstance.ephemeral() as instance:
            made(defs, instance, tables, batches, applied=lambda _: "decided", by_older_version=by_older_version)
            with statements() as found:
                stale = stale_of_all(stages_of_location(defs, tables.data_root), instance, tables, batches)
            assert {batch: names[0] for batch, names in stale.items()} == dict.fromkeys(batches, REVIEWED)
            asked.append(len(found))
    assert asked[0] == asked[1] > 0


def test_tables_are_read_only_of_batches_with_annotated_articles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_below(tmp_path, annotations=str(tmp_path))
    root = DataRoot(settings.data_root)
    said = {"article_id": [7], "name": ["PMC7"], "figures": [[{"label": "Figure 1"}]], "regions": [[]]}
    annotated = pl.DataFrame(said, schema_overrides=empty_table(Annotations).schema)
    annotated = pl.concat([empty_table(Annotations), annotated], how="diagonal")
    root.write(quality_key("annotations"), parquet_bytes(annotated))
    for number, batch in enumerate(["0001-a", "0002-b"], start=6):
        articles = parquet_bytes(pl.DataFrame({"article_id": [number]}))
        root.write(f"manifests/{batch}.parquet", articles)
        root.write(Tables(root).key("figures", batch), articles)
    read: list[str] = []
    one = Tables.read_batches

    def noted(tables: Tables, asset: str, batches: Sequence[str], columns: Sequence[str]) -> pl.DataFrame:
        read.extend(batches)
        return one(tables, asset, batches, columns)

    monkeypatch.setattr(Tables, "read_batches", noted)
    decided = decisions_in_force(settings, root)(["0001-a", "0002-b", "0003-not-registered"])
    assert {batch for batch, digest in decided.items() if digest} == {"0002-b"}
    assert read == ["0002-b"]
