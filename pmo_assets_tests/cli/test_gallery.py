"""`pmo gallery`: where the private one may lie."""

from __future__ import annotations

from pathlib import Path

import pytest

from pmo_assets.cli.console import CommandError
from pmo_assets.cli.gallery import private_place
from pmo_assets.serving.addresses import served_key
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.tables import Tables
from pmo_assets_tests.cli.command_line import Pmo
from pmo_assets_tests.release.finished import SECRET, finish, make


@pytest.fixture
def root(tmp_path: Path) -> DataRoot:
    (tmp_path / "data" / "release" / "hub").mkdir(parents=True)
    return DataRoot(str(tmp_path / "data"))


def test_it_lies_where_nothing_is_served(root: DataRoot, tmp_path: Path) -> None:
    assert private_place(root, None) == tmp_path / "data" / "private" / "gallery"
    assert served_key("/private/gallery/index.html") is None
    assert private_place(root, tmp_path / "own") == tmp_path / "own"


@pytest.mark.parametrize("place", ["release", "release/hub/gallery", "quality/gallery", "link/gallery"])
def test_a_place_that_others_see_is_refused(root: DataRoot, tmp_path: Path, place: str) -> None:
    (tmp_path / "data" / "link").symlink_to(tmp_path / "data" / "release")
    with pytest.raises(CommandError, match="which `pmo pages` and buckets show to others"):
        private_place(root, tmp_path / "data" / place)


def test_the_release_of_another_data_root_is_refused_too(root: DataRoot, tmp_path: Path) -> None:
    (tmp_path / "other" / "release" / "versions").mkdir(parents=True)
    with pytest.raises(CommandError, match="other/release"):
        private_place(root, tmp_path / "other" / "release" / "x")


def test_what_is_no_private_gallery_is_not_replaced(root: DataRoot, tmp_path: Path) -> None:
    (tmp_path / "thesis").mkdir()
    assert private_place(root, tmp_path / "thesis") == tmp_path / "thesis"
    (tmp_path / "thesis" / "chapter.tex").write_text("x")
    with pytest.raises(CommandError, match="holds something else"):
        private_place(root, tmp_path / "thesis")
    (tmp_path / "thesis" / "PRIVATE.txt").write_text("x")
    assert private_place(root, tmp_path / "thesis") == tmp_path / "thesis"


def test_a_bucket_gets_none() -> None:
    with pytest.raises(CommandError, match="give a folder of this machine"):
        private_place(DataRoot("s3://bucket/x"), None)


@pytest.mark.slow
def test_the_command_writes_it_and_says_what_it_is(pmo: Pmo, tmp_path: Path) -> None:
    assert "there is no release yet" in pmo("gallery").stderr
    assert "no batch has been processed yet" in pmo("gallery", "--private").stderr
    tables = Tables(DataRoot(str(tmp_path / "data")))
    finish(tables, "0001-a", {1: {"code": "CC BY-ND"}})
    make(tables)
    assert pmo("gallery").stdout.strip() == str(tmp_path / "data" / "release" / "gallery" / "index.html")
    made = pmo("gallery", "--private")
    assert made.returncode == 0, made.stderr
    assert made.stdout.strip() == str(tmp_path / "data" / "private" / "gallery" / "index.html")
    assert "do not publish this folder" in " ".join(made.stderr.split())
    assert SECRET in (tmp_path / "data/private/gallery/data/figures/0/0.js").read_text("utf-8")
