"""A release's instructions as files for training: every form, the right picture, whole or not at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pmo_assets.records.stores import StorageError
from pmo_assets.release.hub.instruction_files import INSTRUCTION_FORMS, write_instructions
from pmo_assets_tests.release.hub_folder import WITHHELD_ARTICLE, picture, rows_of, write_hub_folder


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("instructions") / "hub"
    write_hub_folder(folder)
    return folder


def read(path: Path, form: str) -> list[dict[str, Any]]:
    text = path.read_text(encoding="utf-8")
    rows: list[dict[str, Any]] = (
        [json.loads(line) for line in text.splitlines()] if form == "messages" else json.loads(text)
    )
    return rows


@pytest.mark.parametrize("form", INSTRUCTION_FORMS)
def test_every_form_has_each_instruction_with_its_panels_picture(hub: Path, tmp_path: Path, form: Any) -> None:
    written = write_instructions(hub, tmp_path / "out", form=form)
    assert [item.split for item in written] == ["train", "validation", "test"]
    for item in written:
        rows, expected = read(item.path, form), rows_of("instructions", item.split)
        assert len(rows) == len(expected) == item.instructions > 0
        for row, own in zip(rows, expected, strict=True):
            assert row["id"] == own["instruction_id"]
            name = row["image"] if form == "llava" else row["images"][0]
            shown = (tmp_path / "out" / name).read_bytes()
            assert shown == picture(own["article_id"] * 10 + "AB".index(own["panel_id"][-1]))
            turns = row["messages"] if form == "messages" else row["conversations"]
            text = "content" if form == "messages" else "value"
            assert turns[0][text] == "<image>\n" + own["messages"][0]["content"]
            assert turns[1][text] == own["messages"][1]["content"]
            assert row["license"] == "CC BY"
            assert row["article_id"] != WITHHELD_ARTICLE


def test_splits_and_kinds_are_chosen(hub: Path, tmp_path: Path) -> None:
    (only,) = write_instructions(hub, tmp_path / "out", splits=["test"], kinds=["what"])
    rows = read(only.path, "messages")
    assert {row["kind"] for row in rows} == {"what"}
    assert len(list((tmp_path / "out" / "images").iterdir())) == only.pictures == len(rows)


def test_the_same_release_gives_the_same_bytes(hub: Path, tmp_path: Path) -> None:
    write_instructions(hub, tmp_path / "a", form="llava")
    write_instructions(hub, tmp_path / "b", form="llava")
    for path in (tmp_path / "a").rglob("*.*"):
        assert path.read_bytes() == (tmp_path / "b" / path.relative_to(tmp_path / "a")).read_bytes()


@pytest.mark.parametrize(
    ("options", "message"),
    [({"splits": ["dev"]}, "no split dev"), ({"form": "csv"}, "no form csv")],
)
def test_what_cannot_be_written_leaves_nothing(hub: Path, tmp_path: Path, options: Any, message: str) -> None:
    with pytest.raises(StorageError, match=message):
        write_instructions(hub, tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


def test_a_folder_that_is_there_stays(hub: Path, tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="is there already"):
        write_instructions(hub, tmp_path)
    with pytest.raises(StorageError, match="no data/instructions"):
        write_instructions(tmp_path, tmp_path / "out")
