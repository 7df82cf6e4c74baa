"""Rows of a release as a sequence: the same rows as were written, however they are asked for."""

from __future__ import annotations

import multiprocessing
import pickle
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import polars as pl
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.loading import Panel, Release, Rows
from pmo_assets.loading import shards as shards_module
from pmo_assets.tables.release import arrow_schema, release_tables
from pmo_assets_tests.examples import examples
from pmo_assets_tests.loading.conftest import Written


def ids(rows: Rows[Panel]) -> list[str]:
    return [panel.panel_id for panel in rows]


@pytest.mark.parametrize("config", ["panels", "figures", "articles"])
def test_rows_come_in_the_order_of_the_files_by_index_and_in_a_loop(
    release: Release, written: Written, config: str
) -> None:
    rows = getattr(release, config)
    facts = [(row["article_id"], row.get("image_cluster_id"), row.get("panel_id")) for row in written.rows[config]]

    def key(record):
        return record.article_id, getattr(record, "image_cluster_id", None), getattr(record, "panel_id", None)

    assert [key(record) for record in rows] == facts
    assert [key(rows[place]) for place in range(len(rows))] == facts
    assert [key(rows[place - len(rows)]) for place in range(len(rows))] == facts


@given(data=st.data())
@examples(25)
def test_slices_of_slices_are_those_of_a_list(release_for_all: Release, data: st.DataObject) -> None:
    rows, names = release_for_all.panels, ids(release_for_all.panels)
    for _ in range(3):
        edge = st.none() | st.integers(-len(names) - 2, len(names) + 2)
        part = slice(data.draw(edge), data.draw(edge), data.draw(st.none() | st.sampled_from([-3, -1, 1, 2, 5])))
        rows, names = rows[part], names[part]
        assert len(rows) == len(names)
    assert ids(rows) == names
    assert [rows[place].panel_id for place in range(len(rows))] == names


@pytest.fixture(scope="module")
def release_for_all(written: Written) -> Release:
    import pmo_assets

    return pmo_assets.load(written.data_root)


def test_an_index_outside_says_so(release: Release, written: Written) -> None:
    count = len(written.rows["panels"])
    for place in (count, -count - 1, 10**9):
        with pytest.raises(IndexError, match=f"there are {count}"):
            release.panels[place]


def test_every_column_of_a_row_is_what_was_written(release: Release, written: Written) -> None:
    renamed = {"figures": "figure_count", "panels": "panel_count"}
    for config in ("panels", "figures", "articles"):
        columns = [name for name in release_tables()[config].columns() if not name.endswith("_image")]
        for record, row in zip(getattr(release, config), written.rows[config], strict=True):
            for name in columns:
                held = getattr(record, renamed.get(name, name) if config == "articles" else name)
                assert _plain(held) == _plain(row[name]), name


def _plain(value):
    """Return records and tuples as dictionaries and lists, as they are written."""
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if hasattr(value, "__dataclass_fields__"):
        names = {name: "text" if name == "sentence" else name for name in value.__dataclass_fields__}
        return {written: _plain(getattr(value, name)) for name, written in names.items() if name != "annotator"}
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    return value


@pytest.mark.parametrize(
    ("conditions", "values", "holds"),
    [
        ((), {"contains_oct": True, "license": "CC BY"}, lambda r: r["contains_oct"] and r["license"] == "CC BY"),
        ((), {"license": ["CC0", "CC BY"]}, lambda r: r["license"] in ("CC0", "CC BY")),
        ((), {"panel_name": None}, lambda r: r["panel_name"] is None),
        ((), {"panel_name": ["A", None]}, lambda r: r["panel_name"] in ("A", None)),
        ((), {"split": "test"}, lambda r: r["split"] == "test"),
        ((pl.col("year") > 2022,), {}, lambda r: r["year"] > 2022),
        ((pc.field("year") > 2022,), {}, lambda r: r["year"] > 2022),
        ((pc.field("year") > 2021, pl.col("panel_name") == "B"), {"contains_marked": True},
         lambda r: r["year"] > 2021 and r["panel_name"] == "B" and r["contains_marked"]),
        ((pl.col("images").list.eval(pl.element().struct.field("image_type") == "OCT").list.any(),), {},
         lambda r: any(image["image_type"] == "OCT" for image in r["images"])),
    ],
)  # fmt: skip
def test_filter(release: Release, written: Written, conditions, values, holds) -> None:
    found = ids(release.panels.filter(*conditions, **values))
    assert found == [row["panel_id"] for row in written.rows["panels"] if holds(row)]
    assert found
    backwards = release.panels[::-1].filter(*conditions, **values)
    assert ids(backwards) == found[::-1]


def test_filter_refuses_what_it_does_not_know(release: Release) -> None:
    with pytest.raises(ValueError, match="no column panel_nam;"):
        release.panels.filter(panel_nam="A")
    for condition in (pl.col("year").max(), pl.col("year"), pc.field("year")):
        with pytest.raises(ValueError, match="yes or no of every row"):
            release.panels.filter(condition)


def test_where_asks_a_function_of_each_record(release: Release) -> None:
    marked = release.panels.where(lambda panel: any(image.marked for image in panel.images))
    assert ids(marked) == ids(release.panels.filter(contains_marked=True))
    assert 0 < len(marked) < len(release.panels)


def test_take_and_shuffled_hold_each_row_once(release: Release) -> None:
    names = ids(release.panels)
    assert ids(release.panels.take([5, 0, 5])) == [names[5], names[0], names[5]]
    one, other = release.panels.shuffled(1), release.panels.shuffled(2)
    assert sorted(ids(one)) == sorted(ids(other)) == sorted(names)
    assert ids(one) == ids(release.panels.shuffled(1)) != ids(other)
    assert ids(one) != names
    assert ids(release.panels[:0].shuffled(1)) == []


def test_shuffled_reads_each_row_group_about_once(release: Release, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = release._panels_table.picture_bytes()
    monkeypatch.setattr("pmo_assets.loading.rows.KEPT_PICTURE_BYTES", int(sizes.max() * 4))
    shuffled = release.panels.shuffled(3)
    monkeypatch.setattr(shards_module, "KEPT_PICTURE_BYTES", int(sizes.max() * 4))
    reads = _picture_reads(pickle.loads(pickle.dumps(shuffled)), monkeypatch)
    assert len(sizes) <= len(reads) < 1.5 * len(sizes)


def _picture_reads(rows: Rows[Panel], monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the row groups whose pictures are read when every picture is asked for."""
    reads: list[int] = []
    read = shards_module.ShardedTable._read

    def counted(self, group, columns):
        if list(columns) == ["panel_image.bytes"]:
            reads.append(group)
        return read(self, group, columns)

    monkeypatch.setattr(shards_module.ShardedTable, "_read", counted)
    for panel in rows:
        panel.picture()
    return reads


def test_a_loop_reads_each_row_group_once_and_an_index_only_its_own(
    release: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups = release._panels_table.picture_bytes()
    assert _picture_reads(release.panels[10:11], monkeypatch) == [
        int(release._panels_table.group_of(np.array([10]))[0])
    ]
    fresh = pickle.loads(pickle.dumps(release))
    assert _picture_reads(fresh.panels, monkeypatch) == list(range(len(groups)))


def test_facts_are_read_without_pictures(release: Release, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: set[str] = set()
    read = shards_module.ShardedTable._read

    def noted(self, group, columns):
        asked.update(columns)
        return read(self, group, columns)

    monkeypatch.setattr(shards_module.ShardedTable, "_read", noted)
    assert [panel.subcaption for panel in release.panels]
    assert release.panels.filter(contains_oct=True)[0].figure.panels
    assert "panel_image" not in release.lazy("panels").collect_schema().names()
    assert "panel_image" not in release.to_polars().columns
    assert "panel_id" in asked
    assert not any("_image" in name for name in asked)


def test_memory_is_bounded_by_what_is_kept(release: Release, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = release._panels_table.picture_bytes()
    monkeypatch.setattr(shards_module, "KEPT_PICTURE_BYTES", int(sizes.max() * 2))
    fresh = pickle.loads(pickle.dumps(release))
    for panel in fresh.panels:
        panel.picture()
        held = fresh._panels_table._held.pictures
        assert held.size == sum(size for _, size in held.entries.values()) <= held.limit
    assert len(held.entries) < len(sizes)


@pytest.mark.parametrize("pictures", [False, True])
def test_tables_hold_the_same_rows(release: Release, pictures: bool) -> None:
    some = release.panels.filter(contains_oct=True)[::-1]
    table = some.to_polars(pictures=pictures)
    assert table["panel_id"].to_list() == ids(some)
    assert ("panel_image" in table.columns) == pictures
    if pictures:
        assert [cell and cell["bytes"] for cell in table["panel_image"]] == [panel.picture() for panel in some]
    assert release.to_arrow("figures", pictures=pictures).num_rows == len(release.figures)
    whole = release.panels.to_arrow(pictures=True)
    assert whole.select(arrow_schema(release_tables()["panels"]).names).schema.equals(
        arrow_schema(release_tables()["panels"])
    )
    assert release.lazy(pictures=pictures).collect()["panel_id"].to_list() == ids(release.panels)


def _seen(rows: Rows[Panel], places: list[int]) -> list[tuple[object, ...]]:
    """Return what other processes read: pictures, and of other configs what masks and credits need."""
    panels = [rows[place] for place in places]
    return [(panel.picture(), panel.mask("image").tobytes(), panel.article.title) for panel in panels]


@pytest.mark.slow  # processes
@pytest.mark.parametrize("method", ["fork", pytest.param("spawn", marks=pytest.mark.slow)])  # loads everything
def test_other_processes_read_the_same(release: Release, method: str) -> None:
    rows = release.panels.filter(pl.col("year") > 2020, pc.field("year") > 2020)  # both have threads before the fork
    places = list(range(len(rows)))
    expected = _seen(pickle.loads(pickle.dumps(rows)), places)
    assert "_figures_table" not in release.__dict__  # the other processes open it themselves
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(method)) as pool:
        got = list(pool.map(_seen, [rows, rows], [places, places[::-1]], timeout=120))
    assert got == [expected, expected[::-1]]


def test_a_fork_while_a_thread_reads_does_not_hang(release: Release) -> None:
    rows = release.panels
    expected = rows[0].panel_id
    held, go_on = threading.Event(), threading.Event()

    def hold() -> None:
        with release._panels_table._held.lock:
            held.set()
            go_on.wait(60)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(60)
    try:
        context = multiprocessing.get_context("fork")
        queue = context.Queue()
        child = context.Process(target=lambda: queue.put(rows[0].panel_id))
        child.start()
        assert queue.get(timeout=60) == expected
        child.join(60)
    finally:
        go_on.set()
        thread.join()


def test_threads_share_a_release(release: Release) -> None:
    rows = release.panels
    places = list(np.random.default_rng(0).integers(0, len(rows), 300))
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda place: (rows[place].panel_id, rows[place].picture()), places))
    again = pickle.loads(pickle.dumps(rows))
    assert found == [(again[place].panel_id, again[place].picture()) for place in places]
