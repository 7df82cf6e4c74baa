"""Instructions of a release as records: messages, evidence, the panel's picture, and an order for training."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from pmo_assets.loading import Release, ReleaseError, load
from pmo_assets.records.instructions import Evidence, Turn
from pmo_assets_tests.loading.conftest import Written
from pmo_assets_tests.loading.small_release import write_release, write_sums


@pytest.mark.slow
def test_instructions_are_rows_with_messages_evidence_and_the_panels_picture(
    release: Release, written: Written
) -> None:
    rows = written.rows["instructions"]
    assert len(release.instructions) == len(rows) > 8
    for item, row in zip(release.instructions, rows, strict=True):
        assert item.chat() == row["messages"]
        assert isinstance(item.messages[0], Turn)
        assert item.evidence[0] == Evidence(**row["evidence"][0])
        assert item.panel is not None
        assert item.panel.panel_id == row["panel_id"]
        assert item.picture() == item.panel.picture()
        assert item.boxes == tuple(tuple(box) for box in row["boxes"])
        assert item.scene == ("Drusen",)
        assert item.article.article_id == row["article_id"]


def test_instructions_are_chosen_by_kind_and_shown(release: Release) -> None:
    some = release.instructions.filter(kind="yes_no", split="train")
    assert {item.kind for item in some} == {"yes_no"}
    assert repr(some[0]).startswith("<Instruction p_")
    assert "data:image/png;base64," in some[0]._repr_html_()


def test_shuffled_instructions_are_the_same_and_travel_to_workers(release: Release) -> None:
    items = release.instructions
    mixed = pickle.loads(pickle.dumps(items.shuffled(seed=1)))
    assert sorted(item.instruction_id for item in mixed) == sorted(item.instruction_id for item in items)
    assert [item.instruction_id for item in mixed] != [item.instruction_id for item in items]
    assert mixed[0].image().size[0] > 0


def test_instructions_about_lectures_have_their_picture_and_no_panel(tmp_path: Path) -> None:
    rows = write_release(tmp_path, articles=3, lectures=2)
    release = load(tmp_path)
    found = list(release.instructions.filter(picture_config="videos"))
    assert len(found) == len(rows["videos"]) == 4
    pictures = {video.pair_id: video.picture() for video in release.videos}
    for item in found:
        assert item.picture() == pictures[item.pair_id]
        assert (item.panel, item.panel_id, item.article_id) == (None, None, None)
        with pytest.raises(ReleaseError, match="lecture"):
            _ = item.article
    mixed = release.instructions.shuffled(seed=3)
    assert {item.instruction_id for item in mixed} == {row["instruction_id"] for row in rows["instructions"]}


def test_instructions_of_once_are_all_about_panels(tmp_path: Path) -> None:
    write_release(tmp_path, articles=3)
    hub = tmp_path / "release" / "hub"
    for file in (hub / "data" / "instructions").iterdir():
        table = pq.read_table(file)
        pq.write_table(table.drop_columns(["picture_config", "pair_id", "video_id", "start", "end"]), file)
    write_sums(hub)
    items = load(tmp_path).instructions
    assert len(list(items.shuffled(seed=1))) == len(items) > 0
    assert items[0].panel is not None
    assert items[0].picture() == items[0].panel.picture()


def test_a_release_from_before_has_no_instructions_and_says_so(tmp_path: Path) -> None:
    write_release(tmp_path, articles=4)
    hub = tmp_path / "release" / "hub"
    for file in (hub / "data" / "instructions").iterdir():
        file.unlink()
    (hub / "manifest.json").write_text(json.dumps({"version": "2026.10"}))
    write_sums(hub)
    release = load(tmp_path)
    assert "instructions" not in repr(release)
    with pytest.raises(ReleaseError, match="data/instructions"):
        _ = release.instructions
