"""The assets of a release through Dagster: what they say, what they check, when they are made again."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from pmo_assets.configuration.remembered import renew_settings
from pmo_assets.definitions import build_defs
from pmo_assets.defs import checks
from pmo_assets.defs.partitions import register_partitions
from pmo_assets.defs.runner import RunFailed, release_is_stale, run_job
from pmo_assets.release import computed_once
from pmo_assets.release.versions import read_manifest, released_versions
from pmo_assets.settings import Settings
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.pixels import ParquetPixels
from pmo_assets.storage.tables import Tables
from pmo_assets_tests.defs.conftest import Graph

RELEASE = ["panel_duplicates", "pubmed_ophtha"]


def latest(instance: dg.DagsterInstance, asset: str) -> dg.AssetMaterialization:
    found = instance.fetch_materializations(dg.AssetKey(asset), limit=1).records[0].asset_materialization
    assert found is not None
    return found


def metadata(instance: dg.DagsterInstance, asset: str) -> dict[str, Any]:
    return {name: item.value for name, item in latest(instance, asset).metadata.items()}


def data_version(instance: dg.DagsterInstance, asset: str) -> str:
    found = (latest(instance, asset).tags or {})["dagster/data_version"]
    assert isinstance(found, str)
    return found


def passed(instance: dg.DagsterInstance, asset: str, check: str) -> bool:
    key = dg.AssetCheckKey(dg.AssetKey(asset), check)
    (record,) = instance.event_log_storage.get_asset_check_execution_history(key, limit=1)
    assert record.event is not None
    evaluation = record.event.dagster_event.asset_check_evaluation_data  # type: ignore[union-attr]
    return evaluation.passed


@pytest.fixture
def place(graph: Graph, tmp_path: Path) -> Iterator[tuple[Settings, dg.DagsterInstance, Tables]]:
    """A copy of the sample articles' tables, whose release may be made again and otherwise."""
    root = tmp_path / "data"
    shutil.copytree(graph.settings.data_root, root, ignore=shutil.ignore_patterns("release", "objects"))
    settings = graph.settings.model_copy(update={"data_root": str(root)})
    with dg.DagsterInstance.ephemeral() as instance:
        register_partitions(instance, graph.batches)
        yield settings, instance, Tables(DataRoot(str(root)))


def test_both_assets_say_what_they_hold_and_their_checks_passed(graph: Graph) -> None:
    instance, root = graph.instance, graph.tables.data_root
    manifest = read_manifest(root, released_versions(root)[-1])
    said = metadata(instance, "pubmed_ophtha")
    rows = sum(graph.tables.read("dataset_rows", batch).height for batch in graph.batches)
    assert said["version"] == manifest.version == "1.0.0"
    assert said["dagster/row_count"] == manifest.counts["panels"] == rows
    assert (said["articles"], said["figures"]) == (manifest.counts["articles"], manifest.counts["figures"])
    assert said["batches"] == len(graph.batches) == len(manifest.batches)
    assert said["withheld"] == manifest.counts["withheld"] > 0
    assert (said["new"], said["changed"], said["gone"]) == (0, 0, 0)
    assert Path(said["path"]).is_file()
    assert (Path(said["hub"]) / "SHA256SUMS").is_file()
    groups = metadata(instance, "panel_duplicates")
    assert groups["panels"] == rows
    splits = [record.data for record in groups["splits"].records]
    assert {item["split"]: item["articles"] for item in splits} == {
        split: manifest.counts[f"{split}_articles"] for split in ("train", "validation", "test")
    }
    assert sum(item["panels"] for item in splits) == rows
    assert passed(instance, "panel_duplicates", checks.SPLITS)
    assert passed(instance, "pubmed_ophtha", checks.UNIQUE_IDS)
    assert passed(instance, "pubmed_ophtha", checks.ROW_COUNT)


def test_the_manifest_names_code_settings_and_networks(graph: Graph) -> None:
    manifest = read_manifest(graph.tables.data_root, "1.0.0")
    nodes = graph.defs.resolve_asset_graph()
    assert set(manifest.code_versions) >= {"articles", "figures", "panels", "dataset_rows"}
    assert "pubmed_ophtha" not in manifest.code_versions, "what made the batches' tables"
    for asset, version in manifest.code_versions.items():
        assert (nodes.get(dg.AssetKey(asset)).code_version or "").startswith(version), asset
    assert set(manifest.settings) <= set(manifest.code_versions)
    assert any(name.endswith(".onnx") for name in manifest.models)
    assert all(len(digest) == 64 for digest in manifest.models.values())
    assert manifest.specialty == "ophthalmology"


@pytest.mark.slow  # whole releases
def test_the_same_data_have_the_same_data_version_and_others_another(
    place: tuple[Settings, dg.DagsterInstance, Tables],
) -> None:
    settings, instance, tables = place
    defs = build_defs(settings)
    run_job(defs, instance, "release", assets=RELEASE)
    first = data_version(instance, "pubmed_ophtha")
    run_job(defs, instance, "release", assets=RELEASE)
    assert data_version(instance, "pubmed_ophtha") == first
    assert metadata(instance, "pubmed_ophtha")["version"] == "1.0.0"
    other = settings.model_copy(update={"release_noncommercial": False})
    renew_settings(DataRoot(other.data_root), other)
    run_job(build_defs(other), instance, "release", assets=RELEASE)
    said = metadata(instance, "pubmed_ophtha")
    assert data_version(instance, "pubmed_ophtha") != first
    assert said["version"] == "1.1.0"
    assert said["gone"] > 0
    licences = {
        code for batch in tables.batches("dataset_rows") for code in tables.read("dataset_rows", batch)["license"]
    }
    assert "CC BY-NC" in licences, "or nothing would have gone"
    renew_settings(DataRoot(settings.data_root), settings)
    run_job(defs, instance, "release", assets=RELEASE)
    assert metadata(instance, "pubmed_ophtha")["version"] == "1.2.0", "back again is another release"


@pytest.mark.slow  # a release; release/test_computed_once holds it
def test_what_the_first_assets_computed_is_read_by_those_that_follow(
    place: tuple[Settings, dg.DagsterInstance, Tables], monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, instance, tables = place
    for name in tables.data_root.tree("selection"):
        tables.data_root.delete(f"selection/{name}")
    computed: list[str] = []

    def counting(name: str) -> None:
        compute = getattr(computed_once, name)

        def counted(*given: Any) -> Any:
            computed.append(name)
            return compute(*given)

        monkeypatch.setattr(computed_once, name, counted)

    counting("select_articles")
    counting("find_panel_duplicates")
    run_job(build_defs(settings), instance, "release")
    assert computed == ["select_articles", "find_panel_duplicates"]


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("release_noncommercial", False),
        ("release_figure_pictures", False),
        ("test_share", 0.2),
        ("test_from_year", 2024),
    ],
)
def test_a_changed_setting_makes_the_release_stale_and_no_batch(graph: Graph, option: str, value: Any) -> None:
    batches = graph.batches
    assert not release_is_stale(graph.defs, graph.instance, graph.tables.data_root, batches)
    changed = build_defs(graph.settings.model_copy(update={option: value}))
    assert release_is_stale(changed, graph.instance, graph.tables.data_root, batches)
    before, after = graph.defs.resolve_asset_graph(), changed.resolve_asset_graph()
    stale = {
        key.path[-1]
        for key in before.get_all_asset_keys()
        if before.get(key).code_version != after.get(key).code_version
    }
    assert "pubmed_ophtha" in stale
    assert stale <= {"panel_duplicates", "pubmed_ophtha", "dataset_report"}


@pytest.mark.slow  # a whole release; release/test_making holds it
def test_a_picture_that_is_gone_fails_the_release_and_the_one_before_stays(
    place: tuple[Settings, dg.DagsterInstance, Tables],
) -> None:
    settings, instance, tables = place
    defs = build_defs(settings)
    run_job(defs, instance, "release", assets=RELEASE)
    root = tables.data_root
    before = {name: root.read(f"release/{name}") for name in root.tree("release") if not name.startswith("versions/")}
    batch = tables.batches("dataset_rows")[0]
    number = tables.read("dataset_rows", batch)["article_id"][0]
    ParquetPixels(root, "panels", batch).write(number, [])
    with pytest.raises(RunFailed, match=r"pubmed_ophtha failed.*without a picture"):
        run_job(defs, instance, "release", assets=RELEASE)
    assert {name: root.read(f"release/{name}") for name in before} == before
