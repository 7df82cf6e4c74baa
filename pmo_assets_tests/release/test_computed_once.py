"""Selection and groups are computed once, and anew as soon as anything is other than it was."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from pmo_assets.pipeline.dataset.splits import SplitOptions
from pmo_assets.records.defaults import TRUSTED_SOURCES
from pmo_assets.release import computed_once
from pmo_assets.release.computed_once import SELECTION_KEY, groups_once, selection_once
from pmo_assets.release.panel_duplicates import PanelGroups
from pmo_assets.release.selection import Selection, select_articles
from pmo_assets.release.writing import ReleaseOptions
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.parquet import parquet_bytes, read_metadata, read_parquet
from pmo_assets.storage.removed import take_article_out
from pmo_assets.storage.tables import Tables
from pmo_assets_tests.release.finished import LOCAL, groups_of, make
from pmo_assets_tests.release.registered import FOLDER, at_pmc, process, process_whole, register

TITLE = "Serous macular detachment secondary to an optic pit"


class Once:
    """Asks as the assets do, and counts what is computed."""

    def __init__(self, tables: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
        self.tables = tables
        self.computed: list[str] = []
        self.said: list[str] = []
        for name in ("select_articles", "find_panel_duplicates"):
            monkeypatch.setattr(computed_once, name, self._counting(name, getattr(computed_once, name)))

    def _counting(self, name: str, compute: Callable[..., Any]) -> Callable[..., Any]:
        def counting(*arguments: Any) -> Any:
            self.computed.append(name)
            return compute(*arguments)

        return counting

    def selection(self, **options: Any) -> Selection:
        trusted = options.pop("trusted", TRUSTED_SOURCES)
        return selection_once(self.tables, trusted, **{"code": "1", "say": self.said.append, **options})

    def groups(self, selection: Selection, **options: Any) -> PanelGroups:
        return groups_once(
            self.tables,
            selection,
            options.get("release", ReleaseOptions()),
            options.get("splits", SplitOptions()),
            code=options.get("code", "1"),
            say=self.said.append,
        )


@pytest.fixture
def once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Once:
    return Once(Tables(DataRoot(str(tmp_path))), monkeypatch)


def test_what_is_stored_is_read_and_says_all_that_was_computed(once: Once) -> None:
    tables = once.tables
    facts = {"title": TITLE, "title_source": "XML", "authors": ["Ada Author", "Bo Writer"]}
    process(tables, "0001-a", {1: {"doi": "10.1/a", **facts}, 2: {}, 3: {}, 4: {"doi": "10.1/b"}})
    process(
        tables, "0002-b", {LOCAL: {"doi": "10.1/a", **facts}, LOCAL + 1: {"doi": "10.1/b", "title": "Macula"}}, FOLDER
    )
    register(tables, "0003-c", {2: {"is_retracted": True}, 3: {"code": "CC BY-ND"}})
    first = once.selection()
    assert first.duplicates
    assert first.retracted
    assert first.licences
    assert once.selection() == first == select_articles(tables)
    assert once.computed == ["select_articles"]
    assert [line.split(",")[0] for line in once.said] == [
        "selection: computed anew",
        f"selection: read from {SELECTION_KEY}",
    ]


def conflicting(tables: Tables) -> None:
    forged = {"title": "Another paper about macular holes in the eye", "name": "mine", "version": 9, "pdf": "forged"}
    process(tables, "0002-b", {1: {**forged, "is_retracted": True}, 2: forged}, FOLDER)


def test_conflicts_are_stored(once: Once) -> None:
    process(once.tables, "0001-a", {1: {"title": TITLE}, 2: {"title": TITLE}})
    conflicting(once.tables)
    first = once.selection()
    assert first.conflicts
    assert once.selection() == first
    assert once.computed == ["select_articles"]


def rewrite(tables: Tables) -> None:
    packages = tables.read("article_packages", "0001-a")
    tables.write("article_packages", "0001-a", packages.filter(pl.col("article_id") != 2))


CHANGES: dict[str, Callable[[Tables], object]] = {
    "a newer manifest retracts": lambda tables: register(tables, "0002-b", {2: {"is_retracted": True}}),
    "a newer manifest narrows": lambda tables: register(tables, "0002-b", {2: {"code": "CC BY-ND"}}),
    "PMC retracts": lambda tables: at_pmc(tables, 2, is_retracted=True),
    "PMC narrows": lambda tables: at_pmc(tables, 2, code="CC BY-ND"),
    "a batch is done": lambda tables: process(tables, "0002-b", {2: {"version": 2}}),
    "a table was made again": rewrite,
    "people take an article out": lambda tables: take_article_out(tables.data_root, 2),
    "a package with the number of another article": conflicting,
}


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_what_is_stated_since_takes_effect(once: Once, change: str) -> None:
    process(once.tables, "0001-a", {1: {"title": TITLE}, 2: {"title": TITLE}})
    before = once.selection()
    assert once.selection() == before
    CHANGES[change](once.tables)
    after = once.selection()
    assert after == select_articles(once.tables) != before
    assert once.computed == ["select_articles"] * 2
    assert once.said[-1].endswith("the stored one is of other tables or statements")
    assert once.selection() == after
    assert once.computed == ["select_articles"] * 2


def test_other_code_and_other_trusted_sources_select_anew(once: Once) -> None:
    process(once.tables, "0001-a", {1: {}})
    once.selection()
    once.selection(code="2")
    once.selection(code="2", trusted=[FOLDER])
    assert len(once.computed) == 3
    once.selection(code="2", trusted=[FOLDER])
    assert len(once.computed) == 3


@pytest.mark.parametrize("content", [b"", b"{", b'{"identity": "1", "selection": {"current": 1}}', b"\xff\x00"])
def test_a_damaged_selection_is_computed_anew(once: Once, content: bytes) -> None:
    process(once.tables, "0001-a", {1: {}})
    found = once.selection()
    once.tables.data_root.write(SELECTION_KEY, content)
    assert once.selection() == found
    assert len(once.computed) == 2


def test_a_selection_that_was_changed_where_it_lies_gives_no_rights_back(once: Once) -> None:
    """A stored selection is a file: it is believed only as it was written."""
    process(once.tables, "0001-a", {1: {}, 2: {}})
    register(once.tables, "0002-b", {1: {"is_retracted": True}, 2: {"code": "CC BY-ND"}})
    found = once.selection()
    stored = json.loads(once.tables.data_root.read(SELECTION_KEY))
    assert stored["selection"]["retracted"]
    assert stored["selection"]["licences"]
    stored["selection"] |= {"retracted": {}, "licences": {}}
    once.tables.data_root.write(SELECTION_KEY, json.dumps(stored).encode())
    assert once.selection() == found
    assert len(once.computed) == 2


def test_who_only_looks_stores_nothing(once: Once) -> None:
    process(once.tables, "0001-a", {1: {}})
    once.selection(keep=False)
    assert not once.tables.data_root.exists(SELECTION_KEY)


def same(one: PanelGroups, other: PanelGroups) -> bool:
    facts = [(groups.facts, groups.split_options, groups.panels) for groups in (one, other)]
    return facts[0] == facts[1] and one.duplicates.equals(other.duplicates) and one.splits.equals(other.splits)


def looking_alike(tables: Tables) -> None:
    process_whole(tables, "0001-a", {1: {"looks": "a"}, 2: {"looks": "a"}, 3: {"code": "CC BY-NC"}})


def test_groups_are_found_once(once: Once) -> None:
    looking_alike(once.tables)
    selection = select_articles(once.tables)
    first, second = once.groups(selection), once.groups(selection)
    assert first.duplicates.height
    assert same(first, second)
    assert same(first, groups_of(once.tables, selection))
    assert first.duplicates.schema == second.duplicates.schema
    assert first.splits.schema == second.splits.schema
    assert once.computed == ["find_panel_duplicates"]


@pytest.mark.parametrize(
    "options",
    [{"release": ReleaseOptions(noncommercial=False)}, {"splits": SplitOptions((0.5, 0.25, 0.25))}, {"code": "2"}],
)
def test_other_options_find_groups_anew(once: Once, options: dict[str, Any]) -> None:
    looking_alike(once.tables)
    selection = select_articles(once.tables)
    once.groups(selection)
    found = once.groups(selection, **options)
    assert same(found, groups_of(once.tables, selection, options.get("release"), options.get("splits")))
    assert len(once.computed) == 2


def test_other_articles_rows_and_releases_find_groups_anew(once: Once) -> None:
    looking_alike(once.tables)
    tables, selection = once.tables, select_articles(once.tables)
    once.groups(selection)
    once.groups(Selection({"0001-a": [1, 2]}))
    assert len(once.computed) == 2
    rows = tables.read("dataset_rows", "0001-a")
    tables.write("dataset_rows", "0001-a", rows.with_columns(picture_sha256=pl.lit("0" * 64)))
    assert once.groups(selection).facts.grouped_panels == rows.height
    assert len(once.computed) == 3
    tables.write("dataset_rows", "0001-a", rows)
    make(tables)
    once.groups(selection)
    assert len(once.computed) == 4, "articles that were released never move away from training"


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("splits", pl.col("split").replace({"train": "test", "validation": "test"}).alias("split")),
        ("duplicates", pl.col("panel_id").reverse().alias("panel_id")),
    ],
)
def test_groups_that_were_changed_where_they_lie_are_found_anew(once: Once, name: str, change: pl.Expr) -> None:
    looking_alike(once.tables)
    selection = select_articles(once.tables)
    found = once.groups(selection)
    root, key = once.tables.data_root, f"selection/{name}.parquet"
    said = read_metadata(root, {key: key})[key]
    root.write(key, parquet_bytes(read_parquet(root, key).with_columns(change), metadata=said))
    assert same(once.groups(selection), found)
    assert len(once.computed) == 2


@pytest.mark.parametrize("name", ["duplicates", "splits"])
def test_damaged_groups_are_found_anew(once: Once, name: str) -> None:
    looking_alike(once.tables)
    selection = select_articles(once.tables)
    found = once.groups(selection)
    key = f"selection/{name}.parquet"
    content = once.tables.data_root.read(key)
    once.tables.data_root.write(key, content[:4] + bytes(len(content) // 2) + content[4 + len(content) // 2 :])
    assert same(once.groups(selection), found)
    once.tables.data_root.delete(key)
    assert same(once.groups(selection), found)
    assert len(once.computed) == 3
