"""Several Dagster homes on one data root say the same, because the tables themselves say how they were made."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import dagster as dg
import pytest

from pmo_assets.configuration.remembered import OtherSettings, check_settings, renew_settings
from pmo_assets.definitions import build_defs
from pmo_assets.defs.batch_states import stale_of_all
from pmo_assets.defs.partitions import register_partitions
from pmo_assets.defs.runner import RunFailed, run_job
from pmo_assets.defs.staleness import check_made_with, evaluations, stages_of_location
from pmo_assets.records.stores import SystemicError
from pmo_assets.settings import Settings
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.tables import Tables
from pmo_assets_tests.defs.conftest import Graph


@pytest.fixture
def root(graph: Graph, tmp_path: Path) -> DataRoot:
    """A copy of a data root that is made, on another machine."""
    shutil.copytree(graph.tables.data_root.uri(""), tmp_path / "data")
    return DataRoot(str(tmp_path / "data"))


def stale_in(
    root: DataRoot, graph: Graph, instance: dg.DagsterInstance, settings: Settings
) -> dict[str, Sequence[str]]:
    defs = build_defs(settings)
    return stale_of_all(stages_of_location(defs, root), instance, Tables(root), graph.batches)


def below(graph: Graph, root: DataRoot, **options: object) -> Settings:
    return graph.settings.model_copy(update={"data_root": root.root, **options})


def test_a_new_home_finds_everything_up_to_date(graph: Graph, root: DataRoot) -> None:
    with dg.DagsterInstance.ephemeral() as other:
        assert stale_in(root, graph, other, below(graph, root)) == {batch: [] for batch in graph.batches}


def test_what_another_home_made_anew_is_seen(graph: Graph, root: DataRoot) -> None:
    """Without a word in this home's event log: what was made of the table is stale, and only that."""
    tables, (batch, *others) = Tables(root), graph.batches
    made = tables.provenances("panel_detections", [batch])[batch]
    assert made is not None
    rows = tables.read("panel_detections", batch)
    tables.write("panel_detections", batch, rows.head(rows.height - 1), provenance=made)
    own = stale_in(root, graph, graph.instance, below(graph, root))
    with dg.DagsterInstance.ephemeral() as other:
        assert stale_in(root, graph, other, below(graph, root)) == own
    assert "panel_captions" in own[batch]
    assert "panel_detections" not in own[batch]
    assert "articles" not in own[batch]
    assert all(own[name] == [] for name in others)


def test_other_settings_are_seen_in_every_home(graph: Graph, root: DataRoot) -> None:
    other_settings = below(graph, root, score_threshold=0.6)
    own = stale_in(root, graph, graph.instance, other_settings)
    assert all(stale[0] == "panel_detections" for stale in own.values())
    with dg.DagsterInstance.ephemeral() as other:
        assert stale_in(root, graph, other, other_settings) == own
        register_partitions(other, graph.batches)
        stages = stages_of_location(build_defs(other_settings), root)
        said = evaluations(other, stages, other_settings)["panel_detections"]
    assert "PMO_SCORE_THRESHOLD 0.25 → 0.6" in str(said.description) or "→ 0.6" in str(said.description)


@pytest.mark.slow  # a process; configuration/test_remembered holds it
def test_a_run_with_other_settings_changes_nothing(graph: Graph, root: DataRoot) -> None:
    """From the UI as from the command line; the job renew, or --with-new-settings, says that it is meant."""
    check_settings(root, below(graph, root))
    other_settings = below(graph, root, score_threshold=0.6)
    key = Tables(root).key("panel_detections", graph.batches[0])
    before = root.read(key)
    with dg.DagsterInstance.ephemeral() as home:
        register_partitions(home, graph.batches)
        with pytest.raises(RunFailed, match=r"was made with other settings: PMO_SCORE_THRESHOLD is 0\.6"):
            run_job(build_defs(other_settings), home, "redetect", batch=graph.batches[0], assets=["panel_detections"])
        assert root.read(key) == before
        renew_settings(root, other_settings)
        run_job(build_defs(other_settings), home, "redetect", batch=graph.batches[0], assets=["panel_detections"])
    assert root.read(key) != before
    with pytest.raises(OtherSettings):
        check_settings(root, below(graph, root))


def test_a_release_is_never_a_mix(graph: Graph, root: DataRoot) -> None:
    tables, settings = Tables(root), below(graph, root)
    check_made_with(tables, settings)
    batch = graph.batches[-1]
    made = tables.provenances("panel_detections", [batch])[batch]
    assert made is not None
    rows = tables.read("panel_detections", batch)
    other = replace(made, settings={**made.settings, "score_threshold": 0.6})
    tables.write("panel_detections", batch, rows, provenance=other)
    with pytest.raises(SystemicError, match=rf"1 of {len(graph.batches)} batches .* {batch} \(PMO_SCORE_THRESHOLD\)"):
        check_made_with(tables, settings)
