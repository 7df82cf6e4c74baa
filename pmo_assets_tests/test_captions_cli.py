"""`pmo captions` as a person runs it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from pmo_assets_tests.resources.chat_server import chat_server, fails
from pmo_assets_tests.test_cli import Pmo, command, environment, few_articles, pmo

__all__ = ["few_articles", "pmo"]

CAPTION = "Imaging of the right eye. (A) Fundus photograph. (B) OCT of the macula. Scale bar: 200 µm."


def test_a_caption_is_printed_with_its_parts_named(pmo: Pmo) -> None:
    done = pmo("captions", "split", CAPTION)
    assert done.returncode == 0, done.stderr
    assert " A Fundus photograph." in done.stdout
    assert "confidence 0." in done.stdout
    assert "Imaging of the right eye. OCT of the macula." in " ".join(done.stdout.split())


def test_a_caption_as_json(pmo: Pmo) -> None:
    facts = json.loads(pmo("captions", "split", "--json", CAPTION).stdout)
    assert facts["identifiers"] == ["A", "B"]
    assert facts["subcaptions"]["A"] == "Imaging of the right eye. Fundus photograph. Scale bar: 200 µm."
    assert [CAPTION[start:end].strip() for start, end in facts["segments"]["B"]] == [
        "Imaging of the right eye.",
        "OCT of the macula. Scale bar: 200 µm.",
    ]
    assert 0 < facts["confidence"] <= 1
    assert isinstance(facts["reasons"], list)


def test_a_caption_on_standard_input(tmp_path: Path) -> None:
    done = subprocess.run(
        command("captions", "split", "--json", "-"),
        input=b"Scan of one eye.\n",
        env=environment(tmp_path),
        cwd=tmp_path,
        capture_output=True,
        timeout=60,
        check=True,
    )
    facts = json.loads(done.stdout)
    assert facts["identifiers"] == []
    assert facts["subcaptions"] == {"": "Scan of one eye."}


def test_markup_in_a_caption_is_only_text(pmo: Pmo) -> None:
    assert "[red]x[/red] (n = 3)" in pmo("captions", "split", "[red]x[/red] (n = 3) [/]").stdout


def test_a_file_of_captions_is_split_and_scored(pmo: Pmo, tmp_path: Path) -> None:
    truth = {"A": "Imaging of the right eye. Fundus photograph. Scale bar: 200 µm."}
    truth["B"] = "Imaging of the right eye. OCT of the macula. Scale bar: 200 µm."
    rows = [{"id": "1", "caption": CAPTION, "subcaptions": truth}]
    rows.append({"id": "2", "caption": "No panels here.", "subcaptions": {"A": "No", "B": "panels"}})
    source, target = tmp_path / "in.jsonl", tmp_path / "sub" / "out.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = pmo("captions", "split", "--jsonl", source, target)
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in target.read_text().splitlines()]
    assert [row["id"] for row in answers] == ["1", "2"]
    assert answers[0]["subcaptions"] == truth
    assert set(answers[0]) >= {"id", "subcaptions", "segments", "confidence"}
    facts = json.loads(pmo("captions", "score", "--json", "--worst", "1", source, target).stdout)
    assert (facts["captions"], facts["unprocessed_share"], facts["mab"]) == (2, 0.5, pytest.approx(1.0))
    assert facts["worst"][0]["id"] == "2"
    table = pmo("captions", "score", source, target).stdout
    assert "50.0%" in table
    assert "1.0000" in table


@pytest.mark.parametrize("line", ["{", '{"id": 1}', "[]", '"text"'])
def test_a_malformed_row_is_named_and_nothing_is_written(pmo: Pmo, tmp_path: Path, line: str) -> None:
    (tmp_path / "in.jsonl").write_text('{"id": "1", "caption": "x"}\n' + line + "\n")
    done = pmo("captions", "split", "--jsonl", tmp_path / "in.jsonl", tmp_path / "out.jsonl")
    assert done.returncode == 1
    assert "line 2" in done.stderr
    assert not (tmp_path / "out.jsonl").exists()
    done = pmo("captions", "score", tmp_path / "in.jsonl", tmp_path / "in.jsonl")
    assert done.returncode == 1
    assert "line 1" in done.stderr


def test_a_missing_file_is_one_line(pmo: Pmo, tmp_path: Path) -> None:
    done = pmo("captions", "score", tmp_path / "none.jsonl", tmp_path / "none.jsonl")
    assert done.returncode == 1
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_configured_model_is_asked_unless_told_otherwise(pmo: Pmo) -> None:
    with chat_server() as server:
        model = {"PMO_LLM_BASE_URL": server.base_url, "PMO_LLM_MODEL": "m", "PMO_CAPTION_THRESHOLD": "1"}
        assert json.loads(pmo("captions", "split", "--json", CAPTION, **model).stdout)["method"] == "language model"
        asked = len(server.requests)
        assert asked == 2
        facts = json.loads(pmo("captions", "split", "--json", "--grammar", CAPTION, **model).stdout)
        assert facts["method"] == "grammar"
        pmo("captions", "split", CAPTION, **model)
        assert len(server.requests) == asked, "the answer is kept"


def test_a_single_article_asks_the_model_too(pmo: Pmo, few_articles: Path, tmp_path: Path) -> None:
    package = next(folder for folder in sorted(few_articles.iterdir()) if (folder / "article.pdf").exists())
    with chat_server() as server:
        done = pmo(
            "article", package, "--out", tmp_path / "article.json",
            PMO_LLM_BASE_URL=server.base_url, PMO_LLM_MODEL="m", PMO_CAPTION_THRESHOLD="1",
        )  # fmt: skip
        asked = [json.loads(body["messages"][-1]["content"])["caption"] for _, body in server.requests]
    assert done.returncode == 0, done.stderr
    captions = {figure["caption"] for figure in json.loads((tmp_path / "article.json").read_text())["figures"]}
    assert captions
    assert set(asked) == captions


def test_a_refused_key_is_one_line_that_says_what_to_do(pmo: Pmo) -> None:
    with chat_server(otherwise=fails(401, b"no")) as server:
        done = pmo(
            "captions", "split", CAPTION,
            PMO_LLM_BASE_URL=server.base_url, PMO_LLM_MODEL="m", PMO_LLM_API_KEY="sk-1", PMO_CAPTION_THRESHOLD="1",
        )  # fmt: skip
    assert done.returncode == 1
    assert "PMO_LLM_API_KEY" in done.stderr
    assert "Traceback" not in done.stderr


def test_settings_show_that_there_is_a_key_but_not_which(pmo: Pmo) -> None:
    done = pmo("settings", PMO_LLM_MODEL="m", PMO_LLM_API_KEY="sk-secret")
    assert done.returncode == 0
    assert "sk-secret" not in done.stdout + done.stderr


def test_an_endpoint_without_a_model_is_explained(pmo: Pmo) -> None:
    done = pmo("captions", "split", CAPTION, PMO_LLM_BASE_URL="http://127.0.0.1:1/v1")
    assert done.returncode == 1
    assert "PMO_LLM_MODEL" in done.stderr
