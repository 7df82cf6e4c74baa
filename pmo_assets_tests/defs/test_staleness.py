"""What is stale is seen in the graph, with the reason, and renewed by one job."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import dagster as dg
import pytest

from pmo_assets.definitions import build_defs
from pmo_assets.defs.batch_states import stale_assets
from pmo_assets.defs.graph import batch_graph
from pmo_assets.defs.instance import open_instance
from pmo_assets.defs.io_manager import MADE_WITH
from pmo_assets.defs.loading import all_assets
from pmo_assets.defs.partitions import ARTICLE_BATCHES, register_partitions
from pmo_assets.defs.renewing import begin_renewal, staleness
from pmo_assets.defs.runner import RunFailed, run_job
from pmo_assets.defs.staleness import Stages, evaluations, stages_in_force, stale_of_batches
from pmo_assets.defs.versions import CODE_VERSION_TAG, DATA_VERSION_TAG, SETTINGS_TAG, data_version
from pmo_assets.settings import Settings
from pmo_assets.settings.shaping import noted_settings
from pmo_assets.sources.local import LocalFolder
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.registry import BatchRegistry
from pmo_assets.storage.tables import Tables
from pmo_assets_tests.defs.conftest import settings_below


@dataclass
class Home:
    """An instance that knows batches that were made, without the batches themselves."""

    instance: dg.DagsterInstance
    settings: Settings

    @property
    def stages(self) -> Stages:
        return stages_in_force(batch_graph(all_assets()), self.settings)

    def make(self, batches: Sequence[str], assets: Sequence[str] | None = None) -> None:
        """Let batches have been made with these settings."""
        register_partitions(self.instance, batches)
        for batch in batches:
            for name in assets or self.stages.parents:
                made = dg.AssetMaterialization(
                    name,
                    partition=batch,
                    tags={DATA_VERSION_TAG: data_version(self.stages.versions[name], "run of the test")},
                    metadata={MADE_WITH: dg.MetadataValue.json(noted_settings(self.settings, name))},
                )
                self.instance.report_runless_asset_event(made)

    def set(self, **options: object) -> Home:
        return Home(self.instance, self.settings.model_copy(update=options))

    def warnings(self) -> dict[str, str]:
        """Return what the check says of each asset that is stale."""
        found = evaluations(self.instance, self.stages, self.settings)
        return {name: str(result.description) for name, result in found.items() if not result.passed}

    def tick(self, cursor: str | None = None) -> tuple[dict[str, dg.AssetCheckEvaluation], str | None]:
        with dg.build_sensor_context(self.instance, cursor=cursor, resources={"settings": self.settings}) as context:
            found = staleness(context)
        if isinstance(found, dg.SkipReason):
            return {}, cursor
        assert isinstance(found, dg.SensorResult)
        events = [event for event in found.asset_events if isinstance(event, dg.AssetCheckEvaluation)]
        return {event.asset_key.path[-1]: event for event in events}, found.cursor


@pytest.fixture
def home() -> Iterator[Home]:
    with dg.DagsterInstance.ephemeral() as instance:
        yield Home(instance, Settings(_env_file=None, score_threshold=0.25))  # type: ignore[call-arg]


def test_nothing_is_stale_where_nothing_was_made_or_nothing_changed(home: Home) -> None:
    assert home.warnings() == {}
    home.make(["a", "b"])
    assert home.warnings() == {}


def test_a_changed_setting_warns_on_exactly_what_it_affects_and_what_follows(home: Home) -> None:
    home.make(["a", "b"])
    said = home.set(vlm_max_pixels=500_000).warnings()
    context = {"panel_mentions", "panel_summaries", "panel_entities", "panel_modality"}
    context |= {"marks", "region_phrases", "regions", "cues", "cue_scores", "instructions", "verdicts"}
    assert set(said) == {"panel_assembly", "reviewed_panels", "panels", "dataset_rows", "rejections"} | context
    before = home.settings.vlm_max_pixels
    assert f"PMO_VLM_MAX_PIXELS {before} → 500000" in said["panel_assembly"]
    assert said["panel_assembly"].startswith("2 of 2 batches are stale")
    assert "renew" in said["panel_assembly"]
    assert "Changed: panel_assembly upstream" in said["reviewed_panels"]


def test_with_the_old_setting_nothing_is_stale_again(home: Home) -> None:
    home.make(["a"])
    assert home.set(score_threshold=0.5).warnings()
    assert home.set(score_threshold=0.5).set(score_threshold=0.25).warnings() == {}


def test_no_secret_is_kept_or_shown(home: Home) -> None:
    secret = home.set(llm_model="m", llm_api_key="sk-secret", vlm_api_key="sk-secret")
    kept = [noted_settings(secret.settings, name) for name in home.stages.parents]
    assert not any("sk-secret" in str(values) or "api_key" in str(values) for values in kept)


def test_the_sensor_says_only_what_is_new(home: Home) -> None:
    home.make(["a"])
    first, cursor = home.tick()
    assert set(first) == set(home.stages.parents)
    assert all(event.passed for event in first.values())
    assert home.tick(cursor) == ({}, cursor)
    changed, cursor = home.set(max_dpi=150).tick(cursor)
    assert "pdf_figures" in changed
    assert "articles" not in changed
    assert changed["pdf_figures"].severity is dg.AssetCheckSeverity.WARN
    back, _ = home.tick(cursor)
    assert set(back) == set(changed)
    assert all(event.passed for event in back.values())


def test_the_sensor_says_it_again_when_an_asset_was_made_again(home: Home) -> None:
    """What a check said before the asset's latest materialisation, of any batch, the UI shows as not evaluated."""
    home.make(["a", "b"])
    new = home.set(max_dpi=150)
    warned, cursor = new.tick()
    assert not warned["pdf_figures"].passed
    home.make(["a"], ["pdf_figures"])  # another code location, with the old setting
    again, cursor = new.tick(cursor)
    assert not again["pdf_figures"].passed
    assert "articles" not in again, "it was not made"
    assert new.tick(cursor) == ({}, cursor)


@pytest.mark.slow
def test_renew_asks_for_exactly_what_is_stale(home: Home) -> None:
    home.make(["a", "b"])
    assert begin_renewal(home.instance, home.settings) is None
    new = home.set(max_dpi=150)
    new.make(["b"])
    stale = stale_of_batches(home.instance, new.stages)
    assert list(stale.assets) == ["a"]
    found = begin_renewal(home.instance, new.settings)
    assert found is not None
    backfill = home.instance.get_backfill(found)
    assert backfill is not None
    assert backfill.title == "Renew what is stale: 1 batches"
    graph = build_defs(new.settings).resolve_asset_graph()
    data = backfill.get_asset_backfill_data(graph)
    wanted = {(key.asset_key.path[-1], key.partition_key) for key in data.target_subset.iterate_asset_partitions()}
    assert wanted == {(name, "a") for name in stale.assets["a"]}
    assert ("pdf_figures", "a") in wanted
    assert ("articles", "a") not in wanted


def test_a_batch_that_stopped_half_way_is_completed(home: Home) -> None:
    home.make(["a"], ["article_batch", "article_packages"])
    stale = stale_of_batches(home.instance, home.stages)
    assert "articles" in stale.assets["a"]
    assert "article_packages" not in stale.assets["a"]


def test_what_was_made_before_versions_were_noted_is_known_all_the_same(home: Home) -> None:
    home.make(["a"])
    version = str(home.stages.versions["rejections"])
    home.instance.report_runless_asset_event(
        dg.AssetMaterialization("rejections", partition="a", tags={CODE_VERSION_TAG: version})
    )
    assert home.warnings() == {}


def test_each_asset_is_asked_for_once_whatever_the_number_of_batches(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = 0
    storage = home.instance.event_log_storage
    one = storage.get_latest_storage_id_by_partition

    def counted(*given: object, **more: object) -> object:
        nonlocal asked
        asked += 1
        return one(*given, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(storage, "get_latest_storage_id_by_partition", counted)
    home.make(["a", "b", "c"])
    stale_of_batches(home.instance, home.stages)
    assert asked == len(home.stages.parents)


@pytest.mark.slow
def test_a_step_with_other_settings_than_its_run_began_with_is_refused(tmp_path: Path) -> None:
    """As when `.env` differs between the machines that work on one run."""
    settings = settings_below(tmp_path)
    with dg.DagsterInstance.ephemeral() as instance:
        BatchRegistry(DataRoot(settings.data_root)).add(article_folder(tmp_path), size=5)
        (batch,) = BatchRegistry(DataRoot(settings.data_root)).batches()
        register_partitions(instance, [batch])
        began = noted_settings(settings) | {"max_dpi": 72}
        result = (
            build_defs(settings)
            .resolve_job_def("fetch_packages")
            .execute_in_process(
                instance=instance,
                partition_key=batch,
                tags={SETTINGS_TAG: json.dumps(began)},
                raise_on_error=False,
            )
        )
        (failure,) = [event for event in result.all_events if event.is_step_failure]
        assert f"PMO_MAX_DPI is {settings.max_dpi}, was 72" in str(failure.step_failure_data.error)

        result = (
            build_defs(settings)
            .resolve_job_def("fetch_packages")
            .execute_in_process(instance=instance, partition_key=batch)
        )
        run = instance.get_run_by_id(result.run_id)
        assert run is not None
        assert json.loads(run.tags[SETTINGS_TAG]) == noted_settings(settings)


def article_folder(folder: Path) -> LocalFolder:
    (folder / "source" / "PMC1").mkdir(parents=True)
    (folder / "source" / "PMC1" / "article.pdf").write_bytes(b"%PDF")
    return LocalFolder(folder / "source")


@pytest.mark.slow  # whole runs
def test_a_partition_that_failed_and_was_made_by_another_run_is_not_failed_any_more(tmp_path: Path) -> None:
    """By the query that the UI asks; the second run is `pmo run`'s."""
    from dagster._core.storage.partition_status_cache import get_and_update_asset_status_cache_value

    settings = settings_below(tmp_path)
    registry = BatchRegistry(DataRoot(settings.data_root))
    registry.add(article_folder(tmp_path), size=5)
    (batch,) = registry.batches()
    defs = build_defs(settings)

    def failed(asset: str) -> set[str]:
        status = get_and_update_asset_status_cache_value(instance, dg.AssetKey(asset), ARTICLE_BATCHES, instance)
        assert status is not None
        return set(status.deserialize_failed_partition_subsets(ARTICLE_BATCHES).get_partition_keys())

    with open_instance(settings) as instance:
        register_partitions(instance, [batch])
        (tmp_path / "source").rename(tmp_path / "elsewhere")
        with pytest.raises(RunFailed):
            run_job(defs, instance, "process_batch", batch=batch)
        names = list(stages_in_force(batch_graph(all_assets()), settings).parents)
        assert {name for name in names if failed(name)} == {*names} - {"article_batch", "biomedica_figures"}
        (tmp_path / "elsewhere").rename(tmp_path / "source")
        stale = stale_assets(defs, instance, Tables(registry.data_root), batch)
        with contextlib.suppress(RunFailed):
            run_job(defs, instance, "process_batch", batch=batch, assets=stale)
        made = {name for name in names if instance.get_materialized_partitions(dg.AssetKey(name))}
        assert made == {*names}
        assert [name for name in names if failed(name)] == []
