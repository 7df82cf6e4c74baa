"""SHA256SUMS: as `sha256sum` takes them, and hostile ones refused."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from pmo_assets.records.stores import StorageError
from pmo_assets.release.hub.sums import SUMS_FILE, SumsFault, check_sums, read_sums, sums_text
from pmo_assets_tests.release.hub_folder import write_sums


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "release"
    (root / "data").mkdir(parents=True)
    (root / "data" / "ä b.parquet").write_bytes(b"PAR1")
    (root / "README.md").write_bytes(b"# read me\n")
    (root / ".cache").mkdir()
    (root / ".cache" / "x").write_bytes(b"not ours")
    write_sums(root)
    return root


def test_what_was_written_is_found_in_order(folder: Path) -> None:
    assert list(read_sums(folder)) == ["README.md", "data/ä b.parquet"]
    told: list[tuple[str, int, int]] = []
    assert check_sums(folder, lambda *progress: told.append(progress)) == []
    assert told[-1] == ("checking SHA-256", 2, 2)


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="no sha256sum here")
def test_sha256sum_takes_them(folder: Path) -> None:
    command = ["sha256sum", "--check", "--strict", SUMS_FILE]
    assert subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode == 0
    (folder / "README.md").write_bytes(b"other")
    assert subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode == 1


def test_what_is_not_as_it_should_be_is_named(folder: Path) -> None:
    (folder / "README.md").write_bytes(b"other")
    (folder / "data" / "ä b.parquet").rename(folder / "data" / "c.parquet")
    assert check_sums(folder) == [
        SumsFault("README.md", "changed"),
        SumsFault("data/c.parquet", "not listed"),
        SumsFault("data/ä b.parquet", "missing"),
    ]


@pytest.mark.parametrize(
    "line",
    [
        f"{'0' * 64}  ../../etc/passwd",
        f"{'0' * 64}  /etc/passwd",
        f"{'0' * 63}  README.md",
        f"{'0' * 64}  README.md\n{'1' * 64}  README.md",
        "<html>",
    ],
)
def test_a_line_that_is_none_is_refused(line: str, folder: Path) -> None:
    (folder / SUMS_FILE).write_text(f"{line}\n")
    with pytest.raises(StorageError, match=r"SHA256SUMS, line [12]"):
        check_sums(folder)


def test_a_folder_without_sums_and_one_with_a_link_are_refused(folder: Path) -> None:
    with pytest.raises(StorageError, match=r"is .* the folder of a release"):
        check_sums(folder / "data")
    (folder / "link").symlink_to("/etc/hostname")
    with pytest.raises(StorageError, match="link is a link"):
        check_sums(folder)


@pytest.mark.parametrize("path", ["a\nb", "../a", "/a", "", "a\\b"])
def test_a_path_that_cannot_stand_there_is_not_written(path: str) -> None:
    with pytest.raises(ValueError, match="cannot stand in SHA256SUMS"):
        sums_text({path: "0" * 64})
