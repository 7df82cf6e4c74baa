"""`pmo` as a person runs it: help, errors in one line, statuses."""

from __future__ import annotations

import subprocess
import sys

import pytest

from pmo_assets_tests.cli.command_line import Pmo


@pytest.mark.parametrize(
    "arguments", [["--help"], ["article", "--help"], ["batches", "add", "--help"], ["run", "--help"]]
)
def test_help_helps(pmo: Pmo, arguments: list[str]) -> None:
    result = pmo(*arguments)
    assert result.returncode == 0
    assert "Usage" in result.stdout


def test_version(pmo: Pmo) -> None:
    from pmo_assets import __version__

    assert __version__ in pmo("--version").stdout


@pytest.mark.slow
def test_it_is_a_module_that_runs() -> None:
    command = [sys.executable, "-m", "pmo_assets.cli", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("pmo-assets ")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["article", "nowhere", "--out", "x.json"], "not a folder"),
        (["batches", "add", "--source", "nowhere"], "not a folder"),
        (["run"], "no batches yet"),
        (["report"], "no batch has been processed"),
        (["run", "--batch", "0001-x"], "no batches yet"),
    ],
)
def test_an_error_is_one_line_and_a_non_zero_status(pmo: Pmo, arguments: list[str], words: str) -> None:
    result = pmo(*arguments)
    assert result.returncode == 1
    assert words in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["article"], "folder"),
        (["run", "--bogus"], "--bogus"),
        (["fly"], "fly"),
        (["batches", "add", "--source", ".", "--size", "0"], "--size"),
    ],
)
def test_wrong_arguments_are_one_line_and_status_2(pmo: Pmo, arguments: list[str], words: str) -> None:
    result = pmo(*arguments)
    assert result.returncode == 2
    assert words in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_debug_shows_the_traceback(pmo: Pmo) -> None:
    result = pmo("--debug", "run")
    assert result.returncode != 0
    assert "Traceback" in result.stderr
