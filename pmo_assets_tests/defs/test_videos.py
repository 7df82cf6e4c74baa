"""A batch of lecture videos in Dagster: what is read, what is rejected, what is stale, and what is made again."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import dagster as dg
import pytest

from pmo_assets.definitions import build_defs
from pmo_assets.defs.batch_states import stale_assets
from pmo_assets.defs.partitions import register_partitions
from pmo_assets.defs.runner import run_job
from pmo_assets.records.units import VIDEO
from pmo_assets.settings import Settings
from pmo_assets.sources.video_folders import open_videos, video_listings
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.manifests import Manifests
from pmo_assets.storage.tables import Tables
from pmo_assets_tests.defs.conftest import settings_below
from pmo_assets_tests.pipeline.videos.conftest import silent_lecture
from pmo_assets_tests.samples.lectures import LectureTruth

__all__ = ["silent_lecture"]

pytestmark = pytest.mark.slow

CAPTIONS = (
    "WEBVTT\n\n00:00:07.000 --> 00:00:11.000\nHere you see drusen in the macula.\n\n"
    "00:00:25.000 --> 00:00:28.000\nThe disc is pale.\n"
)


@dataclass
class Batch:
    """A batch of videos and the instance that has taken it through its stages."""

    settings: Settings
    instance: dg.DagsterInstance
    tables: Tables
    key: str


@pytest.fixture(scope="module")
def batch(silent_lecture: tuple[Path, LectureTruth], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Batch]:
    folder = tmp_path_factory.mktemp("videos")
    shutil.copy(silent_lecture[0], folder / "talk.mp4")
    (folder / "talk.info.json").write_text(
        json.dumps({"title": "The retina", "license": "CC BY 4.0", "channel": "Eyes"})
    )
    (folder / "talk.en.vtt").write_text(CAPTIONS)
    shutil.copy(silent_lecture[0], folder / "cat.mp4")
    (folder / "cat.info.json").write_text('{"title": "My cat"}')
    (folder / "zip.mp4").write_bytes(b"PK\x03\x04" + bytes(99))
    settings = settings_below(tmp_path_factory.mktemp("data")).model_copy(update={"workers": 0})
    root = DataRoot(settings.data_root)
    manifests = Manifests(root, VIDEO)
    rows = [item for item in video_listings(open_videos(str(folder))) if isinstance(item, dict)]
    ((key, _),) = manifests.add(rows, size=10)
    with dg.DagsterInstance.ephemeral() as instance:
        register_partitions(instance, manifests.batches(), VIDEO)
        run_job(build_defs(settings), instance, "process_video_batch", batch=key)
        yield Batch(settings, instance, Tables(root), key)


def test_lectures_become_pairs_and_what_cannot_be_read_is_rejected_by_name(
    batch: Batch, silent_lecture: tuple[Path, LectureTruth]
) -> None:
    chosen = batch.tables.read("videos", batch.key).select("name", "is_selected", "license", "withheld")
    assert sorted(chosen.rows()) == [
        ("cat.mp4", False, None, True), ("talk.mp4", True, "CC BY", False), ("zip.mp4", True, None, True),
    ]  # fmt: skip
    pairs = batch.tables.read("video_pairs", batch.key)
    assert pairs["name"].unique().to_list() == ["talk.mp4"]
    assert pairs["words_from"].unique().to_list() == ["talk.en.vtt"]
    assert pairs["attribution"].unique().to_list() == ["'The retina', Eyes"]
    assert "Here you see drusen in the macula." in pairs["text"].to_list()
    assert pairs.height <= sum(item.is_retinal for item in silent_lecture[1].episodes)
    rejected = batch.tables.read("video_rejections", batch.key).select("stage", "name", "error_class")
    assert rejected.rows() == [("video_episodes", "zip.mp4", "UnreadableVideo")]


def test_what_is_said_of_a_picture_is_asked_for_and_shown_in_the_ui(batch: Batch) -> None:
    cues, asked = (batch.tables.read(name, batch.key) for name in ("video_cues", "video_instructions"))
    assert cues.height == batch.tables.read("video_pairs", batch.key).height
    rows = {row["kind"]: row for row in asked.filter("is_kept").iter_rows(named=True)}
    assert rows["where"]["messages"][-1]["content"] == "In the macula."
    assert [rows["where"]["evidence"][0][name] for name in ("from_second", "to_second")] == [7.0, 11.0]
    wanted = dg.AssetRecordsFilter(asset_key=dg.AssetKey("video_instructions"), asset_partitions=[batch.key])
    found = batch.instance.fetch_materializations(wanted, limit=1).records[0].asset_materialization
    assert found is not None
    assert "In the macula." in str(found.metadata["preview"].value)
    checks = dg.AssetKey("video_cues")
    records = batch.instance.event_log_storage.get_asset_check_execution_history(
        dg.AssetCheckKey(checks, "verbatim"), limit=1
    )
    assert records[0].event is not None
    assert records[0].event.dagster_event is not None
    assert records[0].event.dagster_event.asset_check_evaluation_data.passed


def test_pictures_are_shown_in_the_ui(batch: Batch) -> None:
    wanted = dg.AssetRecordsFilter(asset_key=dg.AssetKey("video_pairs"), asset_partitions=[batch.key])
    found = batch.instance.fetch_materializations(wanted, limit=1).records[0].asset_materialization
    assert found is not None
    assert "data:image/webp" in str(found.metadata["preview"].value)


def test_another_model_makes_the_words_stale_and_not_the_episodes(batch: Batch, tmp_path: Path) -> None:
    state = batch.instance, batch.tables, batch.key, VIDEO
    assert stale_assets(build_defs(batch.settings), *state) == []
    for name in ("model.bin", "tokenizer.json"):
        (tmp_path / name).touch()
    other = batch.settings.model_copy(update={"whisper": tmp_path})
    assert stale_assets(build_defs(other), *state) == [
        "video_words", "video_pairs", "video_cues", "video_instructions", "video_rejections",
    ]  # fmt: skip


def test_a_batch_made_again_has_the_same_bytes(batch: Batch) -> None:
    root = batch.tables.data_root
    names = ("video_episodes", "video_words", "video_pairs", "video_cues", "video_instructions")
    files = {f"tables/{name}/{batch.key}.parquet": b"" for name in names}
    files |= {f"pixels/keyframes/{batch.key}/{name}": b"" for name in root.keys(f"pixels/keyframes/{batch.key}")}
    assert len(files) == 6
    before = {key: root.read(key) for key in files}
    for key in files:
        root.delete(key)
    run_job(build_defs(batch.settings), batch.instance, "process_video_batch", batch=batch.key)
    assert {key: root.read(key) for key in files} == before
