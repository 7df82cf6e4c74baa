"""`pmo captions` as a person runs it."""

from __future__ import annotations

import json
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

from pmo_assets.cli.captions import MAX_CAPTION_CHARACTERS
from pmo_assets_tests.cli.command_line import Pmo, command, environment
from pmo_assets_tests.models.chat_server import Handler, chat_server, fails, given_in, reads_captions

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


@pytest.mark.slow
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


GOOD = json.dumps({"id": "good", "caption": CAPTION}).encode()
BAD = {
    b"{": "JSON",
    b'{"id": 1}': "no caption",
    b"[]": "no JSON object",
    b'"text"': "no JSON object",
    b'{"caption": "x"}': "no id",
    b'{"id": null, "caption": "x"}': "no id",
    b'{"id": "7", "caption": null}': "no string",
    b'{"id": "7", "caption": ["A"]}': "no string",
    b'{"id": "7", "caption": "half a pair: \\ud800"}': "surrogate",
    b'{"id": "\\udc00", "caption": "x"}': "surrogate",
    b'{"id": "7", "caption": "\xff"}': "UTF-8",
    b"[" * 100_000: "JSON",
    json.dumps({"id": "7", "caption": "x" * (MAX_CAPTION_CHARACTERS + 1)}).encode(): "longer",
}


def test_a_line_that_cannot_be_split_becomes_an_error_row_and_the_others_are_split(pmo: Pmo, tmp_path: Path) -> None:
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    lines = [line for bad in BAD for line in (bad, GOOD)]
    source.write_bytes(b"\xef\xbb\xbf" + b"\r\n".join([GOOD, b"", *lines]))  # a file from Windows
    done = pmo("captions", "split", "--jsonl", source, target)
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in target.read_text(encoding="utf-8").splitlines()]
    assert [row["id"] for row in rows[::2]] == ["good"] * (len(BAD) + 1)
    for number, (row, (line, words)) in enumerate(zip(rows[1::2], BAD.items(), strict=True)):
        assert row["line"] == 3 + 2 * number
        assert words in row["error"], line[:100]
        assert f"line {row['line']}: " in done.stderr
        assert set(row) == {"id", "line", "error"}
        if b'"7"' in line and b"\xff" not in line:
            assert row["id"] == "7"
    assert f"{len(BAD)} lines could not be split" in done.stderr
    assert not (tmp_path / "out.jsonl.part").exists()
    assert pmo("captions", "score", target, target).returncode == 0, "error rows are no answers"


def test_a_file_of_which_nothing_can_be_split_is_an_error(pmo: Pmo, tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text("id,caption\n1,x\n")
    done = pmo("captions", "split", "--jsonl", tmp_path / "in.jsonl", tmp_path / "out.jsonl")
    assert done.returncode == 1
    assert "line 2" in done.stderr


def test_a_row_that_cannot_be_scored_is_named(pmo: Pmo, tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text('{"id": "1", "caption": "x"}\n')
    done = pmo("captions", "score", tmp_path / "in.jsonl", tmp_path / "in.jsonl")
    assert done.returncode == 1
    assert "line 1" in done.stderr


def test_a_fault_of_the_system_ends_it_and_keeps_what_was_done(pmo: Pmo, tmp_path: Path) -> None:
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_bytes(b"".join(b'{"id": "%d", "caption": "Eye %d. (A) Scan. (B) Map."}\n' % (n, n) for n in range(9)))
    target.write_text("an earlier answer\n")
    with chat_server(*[reads_captions] * 6, otherwise=fails(401, b"expired")) as server:
        done = pmo(
            "captions", "split", "--jsonl", source, target, PMO_LLM_BASE_URL=server.base_url, PMO_LLM_MODEL="m",
            PMO_CAPTION_THRESHOLD="1", PMO_LLM_CONCURRENCY="1",
        )  # fmt: skip
    assert done.returncode == 1
    assert "PMO_LLM_API_KEY" in done.stderr
    assert "out.jsonl.part" in "".join(done.stderr.split())
    kept = [json.loads(line) for line in (tmp_path / "out.jsonl.part").read_text().splitlines()]
    assert [row["id"] for row in kept] == ["0", "1", "2"]
    assert target.read_text() == "an earlier answer\n"


def test_a_full_disk_ends_it(pmo: Pmo, tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_bytes(GOOD)
    (tmp_path / "out.jsonl.part").symlink_to("/dev/full")
    done = pmo("captions", "split", "--jsonl", tmp_path / "in.jsonl", tmp_path / "out.jsonl")
    assert done.returncode == 1
    assert "No space left" in done.stderr
    assert not (tmp_path / "out.jsonl").exists()


@pytest.mark.slow  # a process
def test_a_kill_leaves_the_rows_that_were_done(tmp_path: Path) -> None:
    """The model answers three captions and falls silent; the command is killed then."""
    silent, release = threading.Event(), threading.Event()

    def says_nothing(handler: Handler, body: dict[str, Any]) -> None:
        silent.set()
        release.wait(60)

    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_bytes(b"".join(b'{"id": "%d", "caption": "Eye %d. (A) Scan. (B) Map."}\n' % (n, n) for n in range(9)))
    with chat_server(*[reads_captions] * 6, otherwise=says_nothing) as server:
        variables = {"PMO_LLM_BASE_URL": server.base_url, "PMO_LLM_MODEL": "m", "PMO_CAPTION_THRESHOLD": "1"}
        with subprocess.Popen(
            command("captions", "split", "--jsonl", source, target),
            env={**environment(tmp_path), **variables, "PMO_LLM_CONCURRENCY": "1"},
            cwd=tmp_path,
            stderr=subprocess.DEVNULL,
        ) as process:
            assert silent.wait(60)
            process.kill()
        release.set()
    kept = [json.loads(line) for line in (tmp_path / "out.jsonl.part").read_text().splitlines()]
    assert [row["id"] for row in kept] == ["0", "1", "2"]
    assert not target.exists()


def test_a_missing_file_is_one_line(pmo: Pmo, tmp_path: Path) -> None:
    done = pmo("captions", "score", tmp_path / "none.jsonl", tmp_path / "none.jsonl")
    assert done.returncode == 1
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.slow
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


@pytest.mark.slow  # a whole article
def test_a_single_article_asks_the_model_too(pmo: Pmo, few_articles: Path, tmp_path: Path) -> None:
    package = next(folder for folder in sorted(few_articles.iterdir()) if (folder / "article.pdf").exists())
    with chat_server() as server:
        done = pmo(
            "article", package, "--out", tmp_path / "article.json",
            PMO_LLM_BASE_URL=server.base_url, PMO_LLM_MODEL="m", PMO_CAPTION_THRESHOLD="1",
        )  # fmt: skip
        asked = [given_in(body) for _, body in server.requests]
    assert done.returncode == 0, done.stderr
    figures = json.loads((tmp_path / "article.json").read_text())["figures"]
    assert figures
    assert {given["caption"] for given in asked if "caption" in given} == {figure["caption"] for figure in figures}
    told = {panel["subcaption"] for figure in figures for panel in figure["panels"] if panel["summary"]}
    assert told
    assert {given["subcaption"] for given in asked if "sentences" in given} == told


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


@pytest.mark.slow
@pytest.mark.parametrize("variable", ["PMO_LLM_BASE_URL", "PMO_S3_ENDPOINT"])
def test_a_password_in_an_address_is_refused_and_not_shown(pmo: Pmo, variable: str) -> None:
    for arguments in (("settings",), ("captions", "split", CAPTION), ("--debug", "captions", "split", CAPTION)):
        done = pmo(*arguments, PMO_LLM_MODEL="m", **{variable: "http://user:s3cret@127.0.0.1:1/v1"})
        assert done.returncode == 1
        assert variable in done.stderr
        assert "s3cret" not in done.stdout + done.stderr


@pytest.mark.slow
def test_neither_the_input_nor_a_device_is_replaced(pmo: Pmo, tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text(json.dumps({"id": 1, "caption": CAPTION}) + "\n")
    before = source.read_bytes()
    (tmp_path / "link.jsonl").symlink_to(source)
    for target in (source, tmp_path / "link.jsonl", Path("/dev/null")):
        done = pmo("captions", "split", "--jsonl", source, target)
        assert done.returncode == 1
        assert "not replaced" in done.stderr
    assert source.read_bytes() == before
    assert Path("/dev/null").is_char_device()
