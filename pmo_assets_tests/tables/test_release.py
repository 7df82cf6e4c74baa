"""A column that is declared for a release stands there under its own name and licence, or the package says why not."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from pmo_assets.pipeline.dataset.hub_rows import with_joined
from pmo_assets.pipeline.dataset.licensing import withheld_columns
from pmo_assets.tables.release import CONFIGS, filters, hub_table, joined_columns, joined_names
from pmo_assets.tables.schemas import empty_table, schema_of
from pmo_assets_tests.defs.added import added

TABLE = """
import dataframely as dy
from pmo_assets.tables.columns import FigureKey
from pmo_assets.tables.released import FACTS, TEXT, released

class {name}(FigureKey):
    \"\"\"Notes.\"\"\"
    panel_id = dy.String(primary_key=True, description="Panel")
    {column} = dy.String(nullable=True, description="A note", metadata=released({holds}))

SCHEMAS = {{"{table}": {name}}}
"""


def declare(folder: Path, table: str, column: str, holds: str = 'FACTS, "panels"', text: str = TABLE) -> Path:
    (folder / "tables").mkdir(exist_ok=True)
    source = text.format(name=table.title(), table=table, column=column, holds=holds)
    (folder / "tables" / f"{table}.py").write_text(source, encoding="utf-8")
    return folder


def test_a_column_of_text_is_withheld_by_what_it_says_alone(tmp_path: Path) -> None:
    with added(declare(tmp_path, "notes", "note", 'TEXT, "panels"')):
        assert hub_table("panels").columns()["note"].nullable
        assert "note" in withheld_columns("CC BY-ND", hub_table("panels").columns())
        assert joined_columns("panels")["notes"] == ("note",)


@pytest.mark.parametrize("column", ["subcaption_text", "split", "duplicate_group", "panel_image"])
def test_a_name_that_the_release_has_is_refused(tmp_path: Path, column: str) -> None:
    with (
        added(declare(tmp_path, "notes", column)),
        pytest.raises(TypeError, match=rf"column {column} for the release's panels: notes is the second"),
    ):
        hub_table("panels")


def test_two_tables_with_one_name_are_refused(tmp_path: Path) -> None:
    declare(tmp_path, "notes", "note")
    with (
        added(declare(tmp_path, "remarks", "note", 'TEXT, "panels"')),
        pytest.raises(TypeError, match="remarks is the"),
    ):
        hub_table("panels")


def test_a_table_that_knows_no_panel_is_refused(tmp_path: Path) -> None:
    without = TABLE.replace('    panel_id = dy.String(primary_key=True, description="Panel")\n', "")
    with added(declare(tmp_path, "notes", "note", text=without)), pytest.raises(TypeError, match="but not panel_id"):
        hub_table("panels")


def test_a_column_with_a_filter_is_named_with_its_title(tmp_path: Path) -> None:
    with added(declare(tmp_path, "notes", "tone", 'FACTS, "panels", filter="Tone"')):
        assert filters()["tone"].filter == "Tone"


def test_a_filter_that_the_gallery_has_is_refused(tmp_path: Path) -> None:
    declare(tmp_path, "notes", "sort", 'FACTS, "panels", filter="Sort"')
    with added(tmp_path), pytest.raises(TypeError, match="called sort already"):
        filters()


def test_a_joined_column_takes_no_other_ones_place(tmp_path: Path) -> None:
    notes = pl.DataFrame({"panel_id": ["p"], "note": ["words"]})
    with added(declare(tmp_path, "notes", "note", 'TEXT, "panels"')):
        others = {name: empty_table(schema_of(name)) for name in joined_names()} | {"notes": notes}
        rows = with_joined(pl.DataFrame({"panel_id": ["p", "q"]}), "panels", others)
        assert rows.select("panel_id", "note").to_dicts() == [
            {"panel_id": "p", "note": "words"},
            {"panel_id": "q", "note": None},
        ]
        with pytest.raises(ValueError, match="note"):
            with_joined(pl.DataFrame({"panel_id": ["p"], "note": ["another"]}), "panels", others)


def test_nothing_is_left_of_what_was_added(tmp_path: Path) -> None:
    before = [list(hub_table(config).columns()) for config in CONFIGS]
    with added(declare(tmp_path, "notes", "note")):
        assert "note" in hub_table("panels").columns()
    assert [list(hub_table(config).columns()) for config in CONFIGS] == before
