"""The `subcaptions` asset with a language model behind a real endpoint on loopback."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import dagster as dg
import polars as pl
import pytest
from pydantic import SecretStr

from pmo_assets.definitions import build_defs
from pmo_assets.defs import checks
from pmo_assets.defs.runner import RunFailed, run_job
from pmo_assets.pipeline.captions.segments import join_segments
from pmo_assets.pipeline.captions.split import split_caption
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.tables import Tables
from pmo_assets_tests.defs.conftest import Graph, settings_below
from pmo_assets_tests.models.chat_server import Handler, chat_server, fails, reads_captions, says

KEY = "sk-graph-0123456789"


@dataclass
class Outcome:
    """What a materialisation of `subcaptions` left behind."""

    rows: pl.DataFrame
    rejections: pl.DataFrame
    metadata: Mapping[str, object]
    row_count_passed: bool


def materialised(graph: Graph, folder: Path, base_url: str, **options: object) -> Outcome:
    """Materialise `subcaptions` of the graph's first batch, every caption below the threshold."""
    values = {"llm_retries": 0, "caption_threshold": 1.0, "llm_concurrency": 4, **options}
    settings = settings_below(
        folder, llm_base_url=base_url, llm_model="loopback-model", llm_api_key=SecretStr(KEY), **values
    )
    batch, tables = graph.batches[0], Tables(DataRoot(settings.data_root))
    tables.write("figures", batch, graph.tables.read("figures", batch))
    with dg.DagsterInstance.ephemeral() as instance:
        instance.add_dynamic_partitions("article_batch", [batch])
        run_job(build_defs(settings), instance, "process_batch", batch=batch, assets=["subcaptions"])
        wanted = dg.AssetRecordsFilter(asset_key=dg.AssetKey("subcaptions"), asset_partitions=[batch])
        found = instance.fetch_materializations(wanted, limit=1).records[0].asset_materialization
        assert found is not None
        key = dg.AssetCheckKey(dg.AssetKey("subcaptions"), checks.ROW_COUNT)
        (check,) = instance.event_log_storage.get_asset_check_execution_history(key, limit=1)
        assert check.event is not None
        evaluation = check.event.dagster_event.event_specific_data  # type: ignore[union-attr]
        metadata = {name: value.value for name, value in found.metadata.items()}
        assert KEY not in str(metadata)
    return Outcome(
        tables.read("subcaptions", batch),
        tables.read_rejections(["subcaptions"], batch),
        metadata,
        evaluation.passed,  # type: ignore[union-attr]
    )


def captions_of(graph: Graph) -> dict[tuple[int, str], str]:
    figures = graph.tables.read("figures", graph.batches[0])
    return {(row["article_id"], row["image_cluster_id"]): row["caption"] for row in figures.iter_rows(named=True)}


def test_the_model_answers_what_the_grammar_is_not_sure_about(graph: Graph, tmp_path: Path) -> None:
    captions = captions_of(graph)
    with chat_server() as server:
        outcome = materialised(graph, tmp_path, server.base_url)
        asked = len(server.requests)
    assert set(outcome.rows["method"]) == {"language model"}
    assert set(outcome.rows["model"]) == {"loopback-model"}
    assert outcome.rows["prompt_version"].str.contains("panel_identifiers 1 .*subcaptions 1 ").all()
    for row in outcome.rows.iter_rows(named=True):
        caption = captions[row["article_id"], row["image_cluster_id"]]
        assert join_segments(caption, [tuple(part) for part in row["segments"]]) == row["text"]
    for (article_id, cluster), caption in captions.items():
        mine = outcome.rows.filter(article_id=article_id, image_cluster_id=cluster).sort("ordinal")
        assert [name for name in mine["identifier"] if name] == list(split_caption(caption).identifiers)
    assert outcome.metadata["by_language_model"] == len(captions)
    assert outcome.metadata["llm_requests"] == asked
    assert outcome.metadata["llm_prompt_tokens"] == 100 * asked
    assert outcome.row_count_passed


@pytest.mark.slow  # whole runs
def test_running_again_asks_nothing_and_gives_the_same_rows(graph: Graph, tmp_path: Path) -> None:
    with chat_server() as server:
        first = materialised(graph, tmp_path, server.base_url)
        asked = len(server.requests)
        second = materialised(graph, tmp_path, server.base_url)
        assert len(server.requests) == asked > 0
    assert second.rows.equals(first.rows)
    assert second.metadata["llm_requests"] == 0
    assert first.metadata["llm_requests"] == asked
    # figures with the same caption are asked once already in the first run
    assert second.metadata["llm_cache_hits"] == asked + first.metadata["llm_cache_hits"]  # type: ignore[operator]


@pytest.mark.slow
def test_one_bad_caption_keeps_the_grammars_answer_and_is_listed(graph: Graph, tmp_path: Path) -> None:
    captions = captions_of(graph)
    key, unlucky = sorted(captions.items())[0]

    def refuses_one(handler: Handler, body: dict[str, object]) -> None:
        messages: list[dict[str, str]] = body["messages"]  # type: ignore[assignment]
        if unlucky in messages[-1]["content"].replace("\\", ""):
            handler.reply(400, b"context length exceeded")
        else:
            reads_captions(handler, body)

    with chat_server(otherwise=refuses_one) as server:
        outcome = materialised(graph, tmp_path, server.base_url)
    rejected = outcome.rejections.to_dicts()
    same = [item for item, caption in captions.items() if caption == unlucky]
    assert sorted((row["article_id"], row["image_cluster_id"]) for row in rejected) == sorted(same)
    assert {row["error_class"] for row in rejected} == {"RefusedRequest"}
    rows = outcome.rows.filter(article_id=key[0], image_cluster_id=key[1])
    assert set(rows["method"]) == {"grammar"}
    assert rows["reasons"][0][0].startswith("low confidence: the language model gave no answer")
    assert outcome.metadata["low_confidence"] == len(same)
    assert outcome.row_count_passed


@pytest.mark.slow
def test_answers_that_never_fit_leave_the_grammars(graph: Graph, tmp_path: Path) -> None:
    with chat_server(otherwise=says('{"identifiers": ["Q17"]}')) as server:
        outcome = materialised(graph, tmp_path, server.base_url, llm_reasks=1)
    assert set(outcome.rows["method"]) == {"grammar"}
    assert set(outcome.rejections["error_class"]) == {"AnswerRejected"}
    assert outcome.row_count_passed


@pytest.mark.slow
def test_a_sure_grammar_asks_nobody(graph: Graph, tmp_path: Path) -> None:
    with chat_server() as server:
        outcome = materialised(graph, tmp_path, server.base_url, caption_threshold=0.0)
        assert not server.requests
    assert outcome.metadata["by_grammar"] == len(captions_of(graph))


@pytest.mark.slow
def test_a_refused_key_fails_the_partition_and_says_what_to_do(graph: Graph, tmp_path: Path) -> None:
    with (
        chat_server(otherwise=fails(401, b"invalid api key")) as server,
        pytest.raises(RunFailed, match=r"subcaptions failed.*PMO_LLM_API_KEY") as caught,
    ):
        materialised(graph, tmp_path, server.base_url)
    assert KEY not in str(caught.value)


@pytest.mark.slow
def test_an_unknown_model_fails_the_partition(graph: Graph, tmp_path: Path) -> None:
    with (
        chat_server(otherwise=fails(404, b"The model `loopback-model` does not exist.")) as server,
        pytest.raises(RunFailed, match=r"loopback-model.*PMO_LLM_MODEL"),
    ):
        materialised(graph, tmp_path, server.base_url)


@pytest.mark.slow
def test_a_server_that_is_down_fails_the_partition(graph: Graph, tmp_path: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with pytest.raises(RunFailed, match=r"no language model at .*PMO_LLM_BASE_URL"):
        materialised(graph, tmp_path, f"http://127.0.0.1:{port}/v1")


def test_the_model_but_not_the_way_to_it_changes_the_code_version(tmp_path: Path) -> None:
    def versions(**options: object) -> dict[str, str | None]:
        graph = build_defs(settings_below(tmp_path, **options)).resolve_asset_graph()
        return {key.path[-1]: graph.get(key).code_version for key in graph.get_all_asset_keys()}

    usual = versions(llm_model="a")
    same = versions(
        llm_model="a", llm_base_url="http://elsewhere/v1", llm_api_key=SecretStr(KEY), llm_timeout=1, llm_concurrency=2
    )
    assert usual == same
    extractive = versions(llm_model="a", llm_summaries=False)
    assert {name for name in usual if usual[name] != extractive[name]} == {"panel_summaries"}
    writing = versions(llm_model="a", llm_instructions=True)
    written = {"cues", "instructions", "verdicts"}
    assert {name for name in usual if usual[name] != writing[name]} == written
    for changed in (versions(llm_model="b"), versions(llm_model="a", llm_thinking="on"), versions()):
        assert {name for name in usual if usual[name] != changed[name]} == {"subcaptions", "panel_summaries", *written}


def test_captions_share_the_llm_pool() -> None:
    graph = build_defs().resolve_asset_graph()
    assert "llm" in (graph.get(dg.AssetKey("subcaptions")).pools or set())
