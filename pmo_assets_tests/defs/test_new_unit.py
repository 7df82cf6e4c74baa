"""A unit other than an article: its batches are registered, run, rejected and found stale, and no hub is edited."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from pmo_assets.definitions import build_defs
from pmo_assets.defs.batch_states import stale_assets
from pmo_assets.defs.graph import graph_of_location
from pmo_assets.defs.partitions import register_partitions
from pmo_assets.defs.runner import run_job
from pmo_assets.pipeline.graph import declared_stages, run_unit
from pmo_assets.records.units import ARTICLE, Unit
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.manifests import Manifests
from pmo_assets.storage.tables import Tables
from pmo_assets_tests.defs.added import added, written_lines
from pmo_assets_tests.defs.conftest import settings_below

UNIT = Path(__file__).with_name("new_unit")
MOST_LINES = 90


def clip(number: int, words: str) -> dict[str, Any]:
    return {"clip_id": number, "name": f"{number}.mp4", "digest": str(hash(words)), "words": words}


CLIPS = [clip(7, "The macula is flat. No fluid."), clip(9, " . "), clip(3, "An epiretinal membrane.")]


@dataclass
class Clips:
    """The code location with the unit, one batch of it, and the instance that has run it."""

    unit: Unit
    defs: dg.Definitions
    instance: dg.DagsterInstance
    manifests: Manifests
    tables: Tables
    batch: str


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clips]:
    settings = settings_below(tmp_path_factory.mktemp("clips")).model_copy(update={"workers": 0})
    with added(UNIT), dg.DagsterInstance.ephemeral() as instance:
        unit = declared_stages()["clip_sentences"].unit
        root = DataRoot(settings.data_root)
        manifests = Manifests(root, unit)
        ((batch, _),) = manifests.add(CLIPS, size=10)
        register_partitions(instance, manifests.batches(), unit)
        defs = build_defs(settings)
        run_job(defs, instance, "process_clip_batch", batch=batch)
        yield Clips(unit, defs, instance, manifests, Tables(root), batch)


def test_its_batches_hold_what_was_registered_once(clips: Clips) -> None:
    assert clips.manifests.add(CLIPS, size=10) == [], "nothing new"
    assert clips.manifests.manifest(clips.batch)["clip_id"].to_list() == [3, 7, 9]
    assert clips.manifests.sizes() == {clips.batch: 3}
    assert Manifests(clips.manifests.data_root).batches() == [], "no articles"


def test_its_stages_are_a_graph_of_their_own(clips: Clips) -> None:
    graph = graph_of_location(clips.defs, clips.unit)
    assert graph.stages == ("clip_batch", "clip_sentences", "clip_lengths", "clip_rejections")
    assert not set(graph.stages) & set(graph_of_location(clips.defs, ARTICLE).stages)
    nodes = clips.defs.resolve_asset_graph()
    assert nodes.get(dg.AssetKey("clip_lengths")).partitions_def == dg.DynamicPartitionsDefinition(name="clip_batch")


def test_a_step_is_put_to_each_and_what_fails_is_named_by_the_units_own_words(clips: Clips) -> None:
    lengths = clips.tables.read("clip_lengths", clips.batch)
    assert dict(lengths.iter_rows()) == {3: 3, 7: 6}
    rejected = clips.tables.read("clip_rejections", clips.batch)
    assert rejected.select("stage", "clip_id", "file", "moment", "error_class").rows() == [
        ("clip_sentences", 9, "9.mp4", None, "Silent")
    ]
    wanted = dg.AssetRecordsFilter(asset_key=dg.AssetKey("clip_sentences"), asset_partitions=[clips.batch])
    found = clips.instance.fetch_materializations(wanted, limit=1).records[0].asset_materialization
    assert found is not None
    assert found.metadata["clips"].value == 3


def test_it_is_up_to_date_until_a_table_is_gone(clips: Clips) -> None:
    state = clips.defs, clips.instance, clips.tables, clips.batch
    assert stale_assets(*state, clips.unit) == []
    clips.tables.data_root.delete(clips.tables.key("clip_sentences", clips.batch))
    assert stale_assets(*state, clips.unit) == ["clip_sentences", "clip_lengths", "clip_rejections"]
    run_job(clips.defs, clips.instance, "process_clip_batch", batch=clips.batch)


def test_one_goes_through_its_stages_without_dagster(clips: Clips) -> None:
    run = run_unit(7, ["clip_lengths"], {"clip_batch": [CLIPS[0]]}, {})
    assert run.tables["clip_lengths"] == [{"clip_id": 7, "words": 6}]


def test_a_new_unit_costs_few_lines() -> None:
    assert written_lines(UNIT) <= MOST_LINES
