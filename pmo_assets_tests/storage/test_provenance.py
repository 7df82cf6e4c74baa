"""How a table was made stands in the table: the same everywhere, and read without its rows."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.provenance import METADATA_KEY, Provenance, provenance_in
from pmo_assets.storage.tables import Tables
from pmo_assets_tests.storage.conftest import data_root, s3_endpoint

__all__ = ["data_root", "s3_endpoint"]

MADE = Provenance("v1-aabb", {"max_dpi": 300}, {"articles": "ab" * 16, "old": None}, "cd")

_JSON = st.dictionaries(st.text(max_size=8), st.none() | st.integers(-9, 9) | st.text(max_size=8), max_size=4)


@given(st.text(max_size=20), _JSON, st.dictionaries(st.text(max_size=8), st.none() | st.text(max_size=8), max_size=4))
def test_what_is_written_is_read(version: str, settings: dict[str, object], inputs: dict[str, str | None]) -> None:
    made = Provenance(version, settings, inputs, None, "ef")
    assert provenance_in({METADATA_KEY: made.as_json()}) == made


def test_the_identity_changes_with_everything_that_counts() -> None:
    others = [
        replace(MADE, code_version="v2"),
        replace(MADE, settings={"max_dpi": 301}),
        replace(MADE, inputs={"articles": "ac" * 16, "old": None}),
        replace(MADE, applied=None),
        replace(MADE, rows="ff"),
    ]
    assert len({made.identity for made in (MADE, *others)}) == 6
    assert replace(MADE).identity == MADE.identity


def test_what_is_not_understood_is_not_believed() -> None:
    assert provenance_in({}) is None
    for text in ("", "{", "[]", "{}", '{"code_version": 1}'):
        assert provenance_in({METADATA_KEY: text}) is None


def test_tables_say_how_they_were_made(data_root: DataRoot) -> None:
    tables = Tables(data_root)
    tables.write("figures", "0001-a", [], provenance=MADE)
    tables.write("figures", "0002-b", [])
    found = tables.provenances("figures")
    assert found["0002-b"] is None
    made = found["0001-a"]
    assert made is not None
    assert replace(made, rows="") == MADE
    assert len(made.rows) == 64
    assert tables.provenances("figures", ["0001-a", "0009-z"]) == {"0001-a": made}
    assert tables.provenances("panels") == {}


def test_the_same_rows_made_the_same_way_give_the_same_bytes(data_root: DataRoot) -> None:
    tables = Tables(data_root)
    tables.write("figures", "0001-a", [], provenance=MADE)
    first = data_root.read("tables/figures/0001-a.parquet")
    tables.write("figures", "0001-a", [], provenance=replace(MADE))
    assert data_root.read("tables/figures/0001-a.parquet") == first
    assert tables.read("figures", "0001-a").height == 0
