"""`pmo instruct questions` and `evaluate` on a small release, the model and the judge behind a real endpoint."""

from __future__ import annotations

import base64
import io
import json
from pathlib import Path
from typing import Any

import PIL.Image
import pytest
from typer.testing import CliRunner

from pmo_assets.cli.main import app
from pmo_assets.release.hub.sums import SUMS_FILE
from pmo_assets_tests.loading.small_release import write_release
from pmo_assets_tests.models.chat_server import Handler, chat_server, completion


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("evaluated")
    write_release(folder, 20)
    return folder / "release" / "hub"


@pytest.fixture(autouse=True)
def own_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PMO_DATA_ROOT", str(tmp_path / "data"))


def run(*arguments: object) -> Any:
    return CliRunner().invoke(app, ["instruct", *map(str, arguments)])


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def written(hub: Path, folder: Path) -> tuple[list[dict[str, Any]], dict[str, str]]:
    done = run("questions", hub, "--to", folder)
    assert done.exit_code == 0, done.output
    labels = {row["id"]: row["label"] for row in lines(folder / "labels.jsonl")}
    return lines(folder / "questions.jsonl"), labels


@pytest.mark.slow
def test_the_test_set_is_written_with_pictures_labels_apart_and_the_same_each_time(hub: Path, tmp_path: Path) -> None:
    asked, labels = written(hub, tmp_path / "one")
    assert asked
    assert {row["kind"] for row in asked} == {"yes_no", "what"}
    assert "label" not in asked[0]
    assert set(labels) == {row["id"] for row in asked}
    for row in asked:
        PIL.Image.open(tmp_path / "one" / row["image"]).verify()
    written(hub, tmp_path / "two")
    assert (tmp_path / "one" / SUMS_FILE).read_bytes() == (tmp_path / "two" / SUMS_FILE).read_bytes()
    facts = json.loads((tmp_path / "one" / "test_set.json").read_text())
    done = run("evaluate", hub, "--test-set", facts["test_set"], "--bootstrap", 0)
    assert done.exit_code == 0, done.output
    done = run("evaluate", hub, "--test-set", "0" * 64)
    assert "it is of another release" in str(done.exception)


def test_predictions_are_scored_beside_every_baseline(hub: Path, tmp_path: Path) -> None:
    asked, labels = written(hub, tmp_path / "set")
    given = [{"id": row["id"], "answer": labels[row["id"]]} for row in asked[1:]]
    (tmp_path / "mine.jsonl").write_text("\n".join(map(json.dumps, given)) + "\n")
    out, page = tmp_path / "out.json", tmp_path / "out.html"
    done = run("evaluate", hub, "--predictions", tmp_path / "mine.jsonl", "--json", out, "--page", page)
    assert done.exit_code == 0, done.output
    result = json.loads(out.read_text())
    assert [item["name"] for item in result["answerers"]] == ["mine", "constant", "blind", "retrieval"]
    mine = result["answerers"][0]
    assert (mine["missing"], mine["refusals"]) == (1, 0)
    assert mine["parts"][0]["scores"]["exact"]["value"] == pytest.approx(1 - 1 / len(asked), abs=1e-6)
    assert {part["by"] for part in mine["parts"]} == {"all", "kind", "topic", "modality"}
    assert result["learned"] > 0
    assert "beyond blind" in done.output
    assert result["test_set"] in page.read_text()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "holds no answers"),
        ("not json\n", "line 1 is no JSON"),
        ('{"id": 3, "answer": "x"}\n', "line 1 is no object"),
        ('{"id": "nobody", "answer": "x"}\n', "no question of this release's test split"),
        ("[" * 100_000 + "\n", "line 1 is no JSON"),
    ],
)
def test_a_file_that_is_no_answer_to_this_set_is_refused(hub: Path, tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "p.jsonl").write_text(text)
    done = run("evaluate", hub, "--predictions", tmp_path / "p.jsonl")
    assert done.exit_code == 1
    assert reason in str(done.exception)


def test_an_answer_is_given_once(hub: Path, tmp_path: Path) -> None:
    asked, _ = written(hub, tmp_path / "set")
    (tmp_path / "p.jsonl").write_text(2 * (json.dumps({"id": asked[0]["id"], "answer": "x"}) + "\n"))
    assert "again: leave one answer" in str(run("evaluate", hub, "--predictions", tmp_path / "p.jsonl").exception)


def answers_and_judges(handler: Handler, body: dict[str, Any]) -> None:
    """Say yes to whatever is asked about a picture; judge everything as half right."""
    if "response_format" in body:
        handler.reply(200, completion(json.dumps({"reasoning": "Half of it.", "score": 0.5})))
        return
    text, shown = body["messages"][-1]["content"]
    PIL.Image.open(io.BytesIO(base64.b64decode(shown["image_url"]["url"].partition(",")[2]))).verify()
    handler.reply(200, completion("Yes." if text["text"].startswith("Does") else "Some fluid"))


@pytest.mark.slow
def test_a_model_is_asked_with_pictures_once_and_judged(hub: Path, tmp_path: Path, monkeypatch) -> None:
    asked, _ = written(hub, tmp_path / "set")
    with chat_server(otherwise=answers_and_judges) as server:
        monkeypatch.setenv("PMO_LLM_BASE_URL", server.base_url)
        monkeypatch.setenv("PMO_LLM_MODEL", "judge")
        monkeypatch.setenv("PMO_VLM_MODEL", "sees")
        command = ["evaluate", hub, "--ask", "--judge", "--answers", tmp_path / "said.jsonl", "--json"]
        done = run(*command, tmp_path / "one.json")
        assert done.exit_code == 0, done.output
        bodies = [body for _, body in server.requests if "response_format" not in body]
        assert len(bodies) == len(asked)
        assert {body["temperature"] for body in bodies} == {0.0}
        assert {body["max_tokens"] for body in bodies} == {2048}
        count = len(server.requests)
        assert run(*command, tmp_path / "two.json").exit_code == 0
        assert len(server.requests) == count, "answers are kept: nothing is asked twice"
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()
    result = json.loads((tmp_path / "one.json").read_text())
    sees = result["answerers"][0]
    assert sees["name"] == "sees"
    by_kind = {part["name"]: part["scores"] for part in sees["parts"] if part["by"] == "kind"}
    assert by_kind["yes_no"]["judge"] == by_kind["yes_no"]["exact"]
    assert by_kind["what"]["judge"]["value"] == 0.5
    assert result["judge"].startswith("judge, answer_extraction 1")
    assert {row["answer"] for row in lines(tmp_path / "said.jsonl")} == {"Yes.", "Some fluid"}


def test_a_question_that_the_endpoint_refuses_is_missing(hub: Path, tmp_path: Path, monkeypatch) -> None:
    def refuses_once(handler: Handler, body: dict[str, Any]) -> None:
        handler.reply(400, b"too long")

    with chat_server(refuses_once, otherwise=answers_and_judges) as server:
        monkeypatch.setenv("PMO_VLM_BASE_URL", server.base_url)
        monkeypatch.setenv("PMO_VLM_MODEL", "sees")
        done = run("evaluate", hub, "--ask", "--bootstrap", 0, "--json", tmp_path / "out.json")
    assert done.exit_code == 0, done.output
    assert json.loads((tmp_path / "out.json").read_text())["answerers"][0]["missing"] == 1


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--ask"], "PMO_VLM_MODEL"),
        (["--judge"], "PMO_LLM_MODEL"),
        (["--ask", "--predictions", "x.jsonl"], "not both"),
    ],
)
def test_what_is_missing_is_named(hub: Path, options: list[str], reason: str) -> None:
    assert reason in str(run("evaluate", hub, *options).exception)


def test_a_case_is_shown_without_a_commands_name() -> None:
    for arguments in (["PMC9"], ["show", "PMC9"], ["--json", "PMC9"]):
        assert "no batch has cues of PMC9" in str(run(*arguments).exception)
    assert "evaluate" in run("--help").output
