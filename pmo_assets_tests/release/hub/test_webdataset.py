"""Tar shards: read by tarfile and by the package webdataset; deterministic, and whole or not at all."""

from __future__ import annotations

import io
import json
import os
import tarfile
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from PIL import Image

from pmo_assets.records.stores import StorageError
from pmo_assets.release.hub.webdataset import SAMPLE_FORMS, sample_key, sample_members, write_webdataset
from pmo_assets_tests.cli.command_line import files_below
from pmo_assets_tests.release.hub_folder import WITHHELD_ARTICLE, rows_of, write_hub_folder

LARGE = 10**9


def samples(*paths: Path) -> dict[str, dict[str, bytes]]:
    """Return the members of tars by key and extension, as `tarfile` reads them."""
    found: dict[str, dict[str, bytes]] = {}
    for path in paths:
        with tarfile.open(path) as tar:
            for member in tar:
                key, _, extension = member.name.partition(".")
                content = tar.extractfile(member)
                assert content is not None
                assert extension not in found.setdefault(key, {})
                found[key][extension] = content.read()
    return found


def kept(split: str, config: str = "panels") -> list[dict[str, Any]]:
    return [row for row in rows_of(config, split) if row["article_id"] != WITHHELD_ARTICLE]


def test_a_sample_has_picture_text_and_all_else(hub_folder: Path, tmp_path: Path) -> None:
    written = write_webdataset(hub_folder, tmp_path / "out", shard_size=LARGE)
    assert [(item.split, item.shards, item.samples, item.withheld) for item in written] == [
        ("test", 1, 2, 0), ("train", 1, 2, 2), ("validation", 1, 2, 0),
    ]  # fmt: skip
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "test-000000.tar", "train-000000.tar", "validation-000000.tar",
    ]  # fmt: skip
    for item in written:
        path = tmp_path / "out" / f"{item.split}-000000.tar"
        assert item.size == path.stat().st_size
        found = samples(path)
        assert [unquote(key) for key in found] == [row["panel_id"] for row in kept(item.split)]
        for row, sample in zip(kept(item.split), found.values(), strict=True):
            assert sample.pop("png") == row.pop("panel_image")["bytes"]
            assert sample.pop("txt").decode() == row.pop("subcaption_text")
            assert json.loads(sample.pop("json")) == row
            assert sample == {}


def test_the_package_webdataset_reads_them(hub_folder: Path, tmp_path: Path) -> None:
    package = pytest.importorskip("webdataset")
    write_webdataset(hub_folder, tmp_path / "out", splits=["validation"], shard_size=LARGE)
    opened = package.WebDataset(str(tmp_path / "out" / "validation-000000.tar"), shardshuffle=False)
    read = list(opened.decode("pil").to_tuple("png", "txt", "json"))
    assert [(text, facts["panel_id"]) for _, text, facts in read] == [
        (row["subcaption_text"], row["panel_id"]) for row in kept("validation")
    ]
    assert all(isinstance(picture, Image.Image) for picture, _, _ in read)


def test_figures_and_webp(tmp_path: Path) -> None:
    write_hub_folder(tmp_path / "hub", form="WebP")
    write_webdataset(tmp_path / "hub", tmp_path / "out", config="figures", splits=["test"], shard_size=LARGE)
    ((key, sample),) = samples(tmp_path / "out" / "test-000000.tar").items()
    assert key == "104_F1%2Ex"
    assert Image.open(io.BytesIO(sample["webp"])).format == "WEBP"
    assert sample["txt"] == b"A) OCT. B) Fundus."


def test_withheld_rows_are_kept_if_wanted_with_their_facts_alone(hub_folder: Path, tmp_path: Path) -> None:
    write_webdataset(hub_folder, tmp_path / "out", splits=["train"], shard_size=LARGE, keep_withheld=True)
    found = samples(tmp_path / "out" / "train-000000.tar")
    assert [sorted(sample) for sample in found.values()] == [["json", "png", "txt"]] * 2 + [["json"]] * 2


def test_a_tar_does_not_grow_beyond_its_size(hub_folder: Path, tmp_path: Path) -> None:
    write_webdataset(hub_folder, tmp_path / "whole", splits=["train"], shard_size=LARGE, keep_withheld=True)
    (item,) = write_webdataset(hub_folder, tmp_path / "cut", splits=["train"], shard_size=1, keep_withheld=True)
    cut = sorted((tmp_path / "cut").iterdir())
    assert [path.name for path in cut] == [f"train-00000{number}.tar" for number in range(4)]
    assert item.shards == 4
    assert samples(*cut) == samples(tmp_path / "whole" / "train-000000.tar")
    first = list(samples(*cut).values())[:2]
    two = sum(512 + -(-len(content) // 512) * 512 for sample in first for content in sample.values())
    write_webdataset(hub_folder, tmp_path / "two", splits=["train"], shard_size=two, keep_withheld=True)
    assert len(samples(tmp_path / "two" / "train-000000.tar")) == 2


def test_the_same_release_gives_the_same_bytes(hub_folder: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_webdataset(hub_folder, tmp_path / name, shard_size=LARGE)
    assert files_below(tmp_path / "a") == files_below(tmp_path / "b")
    with tarfile.open(tmp_path / "a" / "train-000000.tar") as tar:
        assert {(item.mtime, item.uid, item.gid, item.uname, item.mode) for item in tar} == {(0, 0, 0, "", 0o644)}


def test_what_breaks_off_leaves_nothing(hub_folder: Path, tmp_path: Path) -> None:
    def interrupted(split: str, done: int, total: int) -> None:
        if (split, done) == ("train", 1):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_webdataset(hub_folder, tmp_path / "out", shard_size=LARGE, tell=interrupted)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / ".out.part").mkdir()
    (tmp_path / ".out.part" / "test-000000.tar").write_bytes(b"of a run that was killed")
    for left in (tmp_path / ".out.part" / "test-000000.tar", tmp_path / ".out.part"):
        os.utime(left, (0, 0))
    write_webdataset(hub_folder, tmp_path / "out", shard_size=LARGE)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    before = files_below(tmp_path / "out")
    with pytest.raises(StorageError, match="is there already"):
        write_webdataset(hub_folder, tmp_path / "out", shard_size=LARGE)
    assert files_below(tmp_path / "out") == before


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"config": "articles"}, "no pictures in articles: panels, figures, videos or pairs"),
        ({"splits": ["train", "dev"]}, "has no split dev: it has test, train, validation"),
    ],
)
def test_what_is_not_there_is_named(options: dict[str, Any], said: str, hub_folder: Path, tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=said):
        write_webdataset(hub_folder, tmp_path / "out", shard_size=LARGE, **options)
    with pytest.raises(StorageError, match="is it the folder of a release"):
        write_webdataset(tmp_path, tmp_path / "out", shard_size=LARGE)


def test_a_damaged_table_and_a_strange_picture_are_said(hub_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "hub" / "data" / "panels").mkdir(parents=True)
    (tmp_path / "hub" / "data" / "panels" / "train-00000.parquet").write_bytes(b"PAR1 broken")
    with pytest.raises(StorageError, match="cannot be written from"):
        write_webdataset(tmp_path / "hub", tmp_path / "out", shard_size=LARGE)
    assert not (tmp_path / "out").exists()
    row = rows_of("panels", "test")[0] | {"panel_image": {"bytes": b"GIF89a", "path": None}}
    with pytest.raises(StorageError, match="neither PNG nor WebP"):
        list(sample_members(row, SAMPLE_FORMS["panels"]))


def test_damage_is_not_handed_on(tmp_path: Path) -> None:
    write_hub_folder(tmp_path / "hub")
    (tmp_path / "hub" / "SHA256SUMS").write_text(f"{'0' * 64}  data/panels/train-00000.parquet\n")
    with pytest.raises(StorageError, match="is not as its SHA256SUMS says"):
        write_webdataset(tmp_path / "hub", tmp_path / "out", shard_size=LARGE)
    assert not (tmp_path / "out").exists()


def test_json_that_no_reader_takes_is_not_written() -> None:
    row = rows_of("panels", "test")[0] | {"panel_score": float("nan")}
    with pytest.raises(ValueError, match="not JSON compliant"):
        list(sample_members(row, SAMPLE_FORMS["panels"]))


@pytest.mark.parametrize("name", ["a.b", "a%2Eb", "../a", "a/b", "ä b", "a-b"])
def test_keys_have_no_dots_and_read_back(name: str) -> None:
    key = sample_key({"panel_id": name}, SAMPLE_FORMS["panels"])
    assert unquote(key) == name
    assert not set(key) & set("./ ")


def test_a_sample_of_pairs_is_a_picture_with_all_its_texts_and_boxes(hub_folder: Path, tmp_path: Path) -> None:
    written = write_webdataset(hub_folder, tmp_path / "out", config="pairs", shard_size=LARGE)
    assert [(item.split, item.shards, item.samples) for item in written] == [
        ("test", 1, 3), ("train", 1, 3), ("validation", 1, 3)
    ]  # fmt: skip
    pictures = {"figures": "figure_image", "panels": "panel_image"}
    for split in ("train", "validation", "test"):
        told = []
        for sample in samples(tmp_path / "out" / f"{split}-000000.tar").values():
            facts = json.loads(sample["json"])
            pairs = facts.pop("pairs")
            told += [{**{k: v for k, v in facts.items() if k != "duplicate_group"}, **pair} for pair in pairs]
            row = rows_of(facts["picture_config"], split)[facts["picture_row"]]
            assert facts["duplicate_group"] == row.get("duplicate_group")
            assert sample["png"] == row[pictures[facts["picture_config"]]]["bytes"]
            assert sample["txt"].decode() == pairs[0]["text"]
        assert told == rows_of("pairs", split)


def test_webdataset_reads_tars_of_pairs(hub_folder: Path, tmp_path: Path) -> None:
    package = pytest.importorskip("webdataset", reason="webdataset is not installed")
    write_webdataset(hub_folder, tmp_path / "out", config="pairs", splits=["train"], shard_size=LARGE)
    shard = str(tmp_path / "out" / "train-000000.tar")
    read = list(package.WebDataset(shard, shardshuffle=False).decode("pil").to_tuple("png", "txt", "json"))
    assert [text for _, text, _ in read] == [facts["pairs"][0]["text"] for _, _, facts in read]
    assert [picture.size for picture, _, _ in read] == [(48, 16), (24, 16), (24, 16)]


@pytest.mark.usefixtures("offline_datasets")
def test_datasets_reads_tars_of_pairs(hub_folder: Path, tmp_path: Path) -> None:
    import datasets

    write_webdataset(hub_folder, tmp_path / "out", config="pairs", splits=["train"], shard_size=LARGE)
    shard = str(tmp_path / "out" / "train-000000.tar")
    loaded = datasets.load_dataset("webdataset", data_files={"train": shard}, split="train", streaming=True)
    rows = list(loaded)
    assert [row["png"].size for row in rows] == [(48, 16), (24, 16), (24, 16)]
    assert [pair["level"] for row in rows for pair in row["json"]["pairs"]] == ["figure", "panel", "region", "panel"]


def test_tars_of_pairs_have_the_same_bytes_and_end_at_their_size(hub_folder: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_webdataset(hub_folder, tmp_path / name, config="pairs", shard_size=LARGE)
    assert files_below(tmp_path / "a") == files_below(tmp_path / "b")
    write_webdataset(hub_folder, tmp_path / "cut", config="pairs", splits=["train"], shard_size=1)
    cut = sorted((tmp_path / "cut").iterdir())
    assert len(cut) == 3
    assert samples(*cut) == samples(tmp_path / "a" / "train-000000.tar")


def test_pairs_whose_picture_is_not_there_stop_the_tars(tmp_path: Path) -> None:
    write_hub_folder(tmp_path / "hub")
    (tmp_path / "hub" / "SHA256SUMS").unlink()
    (tmp_path / "hub" / "data" / "figures" / "train-00000.parquet").unlink()
    with pytest.raises(StorageError, match="pairs name row 0, and there is no picture"):
        write_webdataset(tmp_path / "hub", tmp_path / "out", config="pairs", splits=["train"], shard_size=LARGE)
    assert not (tmp_path / "out").exists()
