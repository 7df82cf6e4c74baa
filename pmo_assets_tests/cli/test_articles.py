"""`pmo articles`: who is taken out is named, with what the next release loses; it comes back as it was."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from pmo_assets.cli.main import app
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.tables import Tables
from pmo_assets_tests.release.registered import FOLDER, process, register


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tables:
    monkeypatch.setenv("PMO_DATA_ROOT", str(tmp_path))
    return Tables(DataRoot(str(tmp_path)))


def articles(*words: str) -> Any:
    return CliRunner().invoke(app, ["articles", *words])


def test_an_article_is_named_by_number_or_package_whatever_its_version(tables: Tables) -> None:
    process(tables, "0001-a", {1: {"name": "PMC1.1"}, 2: {"name": "thesis"}})
    register(tables, "0002-b", {1: {"name": "PMC1.2", "version": 2}})
    done = articles("remove", "pmc1", "2")
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines() == [
        "removed PMC1.1, PMC1.2 (number 1): nothing was released yet",
        "removed thesis (number 2): nothing was released yet",
    ]
    assert json.loads(articles("list", "--json").stdout) == [
        {"article_id": 1, "names": ["PMC1.1", "PMC1.2"]},
        {"article_id": 2, "names": ["thesis"]},
    ]
    assert articles("restore", "thesis", "PMC1.2").exit_code == 0
    assert "no article was taken out" in articles("list").stdout


def test_nothing_happens_where_one_name_is_unknown_or_that_of_two(tables: Tables) -> None:
    process(tables, "0001-a", {1: {}, 2: {"name": "same"}})
    process(tables, "0002-b", {3: {"name": "same"}}, FOLDER)
    assert "no such article: n9" in str(articles("remove", "n1", "n9").exception)
    assert "say which: 2, 3" in str(articles("remove", "n1", "same").exception)
    assert articles("list", "--json").stdout.strip() == "[]"
    assert "not removed: n1" in str(articles("restore", "n1").exception)
