"""Pairs of a release: their pictures, cut to their boxes, and an order for training."""

from __future__ import annotations

import itertools
import json
import pickle
from pathlib import Path

import numpy as np
import pytest

from pmo_assets.loading import Release, ReleaseError, load
from pmo_assets.records.geometry import crop_box
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.tables import Tables
from pmo_assets_tests.loading.conftest import Written
from pmo_assets_tests.loading.small_release import write_release, write_sums
from pmo_assets_tests.release.finished import FIGURE_SIDES, PANEL_SIDES, finish, make, pixels_of


@pytest.mark.slow
def test_pairs_are_rows_with_text_and_picture(release: Release, written: Written) -> None:
    assert len(release.pairs) == len(written.rows["pairs"])
    for pair, row in zip(release.pairs, written.rows["pairs"], strict=True):
        assert (pair.pair_id, pair.level, pair.text_kind, pair.text) == (
            row["pair_id"], row["level"], row["text_kind"], row["text"]
        )  # fmt: skip
        whole = pair.figure if pair.panel is None else pair.panel
        assert pair.picture() == whole.picture()
        assert pair.article.article_id == pair.article_id
        if pair.level == "region":
            left, top, right, bottom = crop_box(pair.box, *pair.image().size)
            assert np.array_equal(pair.pixels(), whole.pixels()[top:bottom, left:right])
            assert pair.pixels().size < whole.pixels().size
        else:
            assert np.array_equal(pair.pixels(), whole.pixels())


def test_pairs_of_lectures_lead_to_their_pictures_and_to_no_article(tmp_path: Path) -> None:
    rows = write_release(tmp_path, articles=5, lectures=5)
    opened = load(tmp_path)
    pairs = opened.pairs.filter(level="video")
    assert [pair.pair_id for pair in pairs] == [row["pair_id"] for row in rows["videos"]]
    for pair, video in zip(pairs, opened.videos, strict=True):
        assert (pair.text, pair.video_id, pair.split) == (video.text, video.video_id, video.split)
        assert np.array_equal(pair.pixels(), video.pixels())
        assert pair.panel is None
        with pytest.raises(ReleaseError, match="no article"):
            _ = pair.article
    mixed = list(opened.pairs.shuffled(seed=3))
    assert {pair.pair_id: pair.picture() for pair in mixed} == {pair.pair_id: pair.picture() for pair in opened.pairs}


def test_pairs_are_chosen_by_level_kind_and_split(release: Release) -> None:
    found = release.pairs.filter(level=["panel", "region"], text_kind="subcaption", split="train")
    assert len(found) > 3
    assert {(pair.level, pair.text_kind, pair.split) for pair in found} == {("panel", "subcaption", "train")}
    some = release.panels.filter(contains_oct=True).to_polars(["panel_id"])["panel_id"].to_list()
    assert {pair.panel_id for pair in release.pairs.filter(panel_id=some)} <= set(some)


def test_one_split_alone_has_the_same_pictures(written: Written, release: Release) -> None:
    for split in ("train", "validation", "test"):
        alone = load(written.data_root, split=split).pairs  # type: ignore[arg-type]
        whole = release.pairs.filter(split=split)
        assert len(alone) == len(whole) > 0
        assert [pair.picture() for pair in alone] == [pair.picture() for pair in whole]


def test_shuffled_pairs_are_the_same_pairs_and_leave_few_pictures_behind(
    release: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pmo_assets.loading.rows.KEPT_PICTURE_BYTES", 400_000)
    pairs = release.pairs
    mixed = pairs.shuffled(seed=1)
    assert [pair.pair_id for pair in mixed] != [pair.pair_id for pair in pairs]
    assert sorted(pair.pair_id for pair in mixed) == sorted(pair.pair_id for pair in pairs)
    assert [pair.pair_id for pair in mixed] == [pair.pair_id for pair in pairs.shuffled(seed=1)]
    rows = [(pair.picture_config, pair.split, pair.picture_row // 3) for pair in mixed]
    changes = sum(first != second for first, second in itertools.pairwise(rows))
    chance = np.random.default_rng(0).permutation(len(rows))
    at_random = sum(rows[a] != rows[b] for a, b in itertools.pairwise(chance))
    assert changes < at_random, "pictures of one row group come near each other"
    assert len(pickle.loads(pickle.dumps(mixed))) == len(pairs)


@pytest.mark.slow
def test_the_pairs_of_a_release_as_it_is_made(tmp_path: Path) -> None:
    tables = Tables(DataRoot(str(tmp_path)))
    finish(tables, "0001-a", {1: {}, 2: {"code": "CC BY-ND"}, 4: {}}, panels=2)
    finish(tables, "0002-b", {5: {}, 6: {}, 7: {"code": None}})
    make(tables)
    opened = load(tmp_path)
    assert {pair.article_id for pair in opened.pairs} == {1, 4, 5, 6}
    assert {pair.level for pair in opened.pairs} == {"figure", "panel", "region"}
    for pair in opened.pairs:
        key = f"{pair.article_id} {pair.image_cluster_id}" if pair.panel_id is None else pair.panel_id
        assert np.array_equal(
            np.asarray(pair.image()), pixels_of(key, FIGURE_SIDES if pair.panel_id is None else PANEL_SIDES)
        )


def test_a_release_from_before_there_were_pairs_opens_and_says_so(tmp_path: Path) -> None:
    write_release(tmp_path, articles=3)
    hub = tmp_path / "release" / "hub"
    for path in (hub / "data" / "pairs").iterdir():
        path.unlink()
    write_sums(hub)
    opened = load(tmp_path)
    assert len(opened.panels) > 0
    assert "pairs" not in repr(opened)
    with pytest.raises(ReleaseError, match="has no files data/pairs"):
        _ = opened.pairs
    (hub / "manifest.json").write_text(json.dumps({"version": "1.0.0", "counts": {"pairs": 0}}))
    write_sums(hub)
    assert len(load(tmp_path).pairs) == 0


def test_a_picture_that_is_not_there_is_said(tmp_path: Path) -> None:
    write_release(tmp_path, articles=3)
    opened = load(tmp_path)
    with pytest.raises(ReleaseError, match="no row 999 of panels in train"):
        opened.picture_in_split("panels", "train", 999)
