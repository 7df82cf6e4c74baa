"""The `panel_assembly` asset with a vision model behind a real endpoint on loopback."""

from __future__ import annotations

import shutil
import socket
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl
import pytest
from pydantic import SecretStr

from pmo_assets.definitions import build_defs
from pmo_assets.defs.runner import RunFailed, run_job
from pmo_assets.pipeline.assembly.vision.look import TASKS
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.tables import Tables
from pmo_assets_tests.defs.conftest import Graph, settings_below
from pmo_assets_tests.models.chat_server import chat_server, fails, looks_at_figures, says

KEY = "sk-graph-0123456789"
READ = ("figures", "panel_captions", "image_detections", "subcaptions", "panel_detections")


def materialised(
    graph: Graph, folder: Path, base_url: str | None, **options: object
) -> tuple[pl.DataFrame, pl.DataFrame, dict[str, Any]]:
    """Materialise `panel_assembly` of the graph's first batch, all panels open: rows, rejections, metadata."""
    values: dict[str, object] = {"llm_retries": 0, "min_assembly_confidence": 1.0, "vlm_concurrency": 4}
    if base_url is not None:
        values |= {"vlm_base_url": base_url, "vlm_model": "sees", "vlm_api_key": SecretStr(KEY)}
    settings = settings_below(folder, **(values | options))
    batch, tables = graph.batches[0], Tables(DataRoot(settings.data_root))
    for name in READ:
        tables.write(name, batch, graph.tables.read(name, batch))
    pixels = Path("pixels/figures")
    shutil.copytree(Path(graph.settings.data_root) / pixels, Path(settings.data_root) / pixels, dirs_exist_ok=True)
    with dg.DagsterInstance.ephemeral() as instance:
        instance.add_dynamic_partitions("article_batch", [batch])
        run_job(build_defs(settings), instance, "process_batch", batch=batch, assets=["panel_assembly"])
        wanted = dg.AssetRecordsFilter(asset_key=dg.AssetKey("panel_assembly"), asset_partitions=[batch])
        found = instance.fetch_materializations(wanted, limit=1).records[0].asset_materialization
        assert found is not None
        metadata = {name: value.value for name, value in found.metadata.items()}
        assert KEY not in str(metadata)
    return tables.read("panel_assembly", batch), tables.read_rejections(["panel_assembly"], batch), metadata


@pytest.mark.slow  # whole runs
def test_undecided_panels_are_put_to_the_model_and_counted(graph: Graph, tmp_path: Path) -> None:
    without, _, plain = materialised(graph, tmp_path / "without", None)
    with chat_server(otherwise=looks_at_figures) as server:
        rows, rejections, facts = materialised(graph, tmp_path / "with", server.base_url)
        asked = len(server.requests)
    assert "vlm_figures" not in plain
    assert asked == facts["vlm_requests"] == 2 * facts["vlm_figures"] > 0, "each figure twice, and both answers agree"
    assert rejections.is_empty()
    by_model = rows.filter(pl.col("assembly") == "LLM Assignment")
    assert by_model.height == facts["vlm_agreed"] > 0
    assert facts["vlm_panels"] == facts["vlm_agreed"] + facts["vlm_left_undecided"]
    assert facts["vlm_prompt_tokens"] == 100 * asked
    assert rows.height == without.height
    options = graph.tables.read("subcaptions", graph.batches[0])
    for row in by_model.iter_rows(named=True):
        mine = options.filter(article_id=row["article_id"], image_cluster_id=row["image_cluster_id"])
        texts = dict(mine.select("identifier", "text").iter_rows())
        assert row["subcaption"] == texts[row["identifier"]], "the caption's own words"
        assert row["evidence"][0]["source"] == "sees"


@pytest.mark.slow  # whole runs: models/test_answers holds it
def test_running_again_asks_nothing_and_gives_the_same_rows(graph: Graph, tmp_path: Path) -> None:
    with chat_server(otherwise=looks_at_figures) as server:
        first, _, facts = materialised(graph, tmp_path, server.base_url)
        asked = len(server.requests)
        second, _, again = materialised(graph, tmp_path, server.base_url)
        assert len(server.requests) == asked > 0
    assert second.equals(first)
    assert (again["vlm_requests"], again["vlm_cache_hits"]) == (0, facts["vlm_requests"] + facts["vlm_cache_hits"])


@pytest.mark.slow  # whole runs
def test_answers_that_never_fit_lose_no_panel(graph: Graph, tmp_path: Path) -> None:
    without, _, _ = materialised(graph, tmp_path / "without", None)
    with chat_server(otherwise=says("{}")) as server:
        rows, rejections, facts = materialised(graph, tmp_path / "with", server.base_url, llm_reasks=0)
    assert rows.drop("reason").equals(without.drop("reason"))
    assert rejections.height == facts["vlm_failed_figures"] == facts["vlm_figures"] > 0
    assert set(rejections["error_class"]) == {"AnswerRejected"}


@pytest.mark.slow
def test_a_server_that_is_down_fails_the_partition_and_says_what_to_set(graph: Graph, tmp_path: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with pytest.raises(RunFailed, match=r"no language model at .*PMO_VLM_BASE_URL"):
        materialised(graph, tmp_path, f"http://127.0.0.1:{port}/v1")


@pytest.mark.slow  # whole runs; cli/test_secrets and pipeline/assembly/vision hold it
def test_a_refused_key_fails_the_partition_without_showing_it(graph: Graph, tmp_path: Path) -> None:
    with (
        chat_server(otherwise=fails(401, KEY.encode())) as server,
        pytest.raises(RunFailed, match=r"panel_assembly failed.*PMO_VLM_API_KEY") as caught,
    ):
        materialised(graph, tmp_path, server.base_url)
    assert KEY not in str(caught.value)


def test_what_decides_the_answers_changes_the_code_version_and_nothing_else_does(tmp_path: Path) -> None:
    def versions(**options: object) -> dict[str, str | None]:
        graph = build_defs(settings_below(tmp_path, **options)).resolve_asset_graph()
        return {key.path[-1]: graph.get(key).code_version for key in graph.get_all_asset_keys()}

    usual = versions(vlm_model="a")
    elsewhere = {"vlm_base_url": "http://b/v1", "vlm_api_key": SecretStr(KEY), "vlm_timeout": 1, "vlm_concurrency": 2}
    assert versions(vlm_model="a", **elsewhere) == usual

    def differing(**options: object) -> set[str]:
        changed = versions(**options)
        return {name for name in usual if usual[name] != changed[name]}

    looking = {"panel_assembly", "regions"}
    assert differing() == differing(vlm_model="b") == looking
    assert differing(vlm_model="a", vlm_thinking="on") == differing(vlm_model="a", vlm_max_pixels=10_000) == looking
    assert differing(vlm_model="a", vlm_boxes="drawn") == {"panel_assembly"}
    assert differing(vlm_model="a", vlm_regions=True) == differing(vlm_model="a", region_texts="minilm") == {"regions"}
    written = {"cues", "instructions", "verdicts"}
    assert differing(vlm_model="a", llm_reasks=1) == {*looking, "subcaptions", "panel_summaries", *written}
    least = versions(vlm_model="a", min_assembly_confidence=0.5)
    assert {name for name in usual if usual[name] != least[name]} == {"panel_assembly", "dataset_rows"}


def test_the_prompt_of_regions_counts_and_the_model_shares_the_pool() -> None:
    graph = build_defs().resolve_asset_graph()
    node = graph.get(dg.AssetKey("regions"))
    assert "llm" in (node.pools or set())
    plain = graph.get(dg.AssetKey("region_phrases"))
    assert (node.code_version or "").count("-") > (plain.code_version or "").count("-")


def test_the_prompts_of_figures_count_and_the_model_shares_the_pool() -> None:
    graph = build_defs().resolve_asset_graph()
    node = graph.get(dg.AssetKey("panel_assembly"))
    assert "llm" in (node.pools or set())
    assert len(TASKS) == 4
    plain = graph.get(dg.AssetKey("panel_captions"))
    assert (node.code_version or "").count("-") > (plain.code_version or "").count("-")
