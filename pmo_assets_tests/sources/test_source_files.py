"""Nothing outside the source folder is read, and nothing that is no file is opened."""

from __future__ import annotations

import os
import socket
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.records.packages import FileTooLarge
from pmo_assets.sources import source_files
from pmo_assets.sources.source_files import (
    NotAFile,
    OutsideSource,
    entries_inside,
    printable,
    read_inside,
    size_and_sha256,
)

SECRET = b"from outside"


@pytest.fixture(params=["walked", "compared"])
def source(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A source beside files that nobody may read; "compared" is how systems without `dir_fd` do it."""
    monkeypatch.setattr(source_files, "_CAN_WALK", request.param == "walked")
    (tmp_path / "outside" / "deep").mkdir(parents=True)
    (tmp_path / "outside" / "secret.xml").write_bytes(SECRET)
    root = tmp_path / "source"
    (root / "PMC1").mkdir(parents=True)
    (root / "PMC1" / "article.pdf").write_bytes(b"%PDF")
    return root


@pytest.mark.parametrize(
    "path",
    ["../outside/secret.xml", "PMC1/../../outside/secret.xml", "/etc/passwd", "PMC1/../PMC1/article.pdf", "a\0b"],
)
def test_a_path_that_is_not_below_the_source_is_refused(source: Path, path: str) -> None:
    with pytest.raises(OutsideSource):
        read_inside(source, path)


@pytest.mark.parametrize("target", ["../../outside/secret.xml", "/etc/passwd"])
def test_a_link_that_leads_out_is_refused(source: Path, target: str) -> None:
    (source / "PMC1" / "article.xml").symlink_to(target)
    with pytest.raises(OutsideSource, match=r"PMC1/article\.xml"):
        read_inside(source, "PMC1/article.xml")


def test_a_folder_that_leads_out_is_refused(source: Path) -> None:
    (source / "PMC2").symlink_to("../outside")
    with pytest.raises(OutsideSource):
        entries_inside(source, "PMC2")
    with pytest.raises(OutsideSource):
        read_inside(source, "PMC2/secret.xml")


def test_a_neighbour_whose_name_begins_alike_is_outside(source: Path) -> None:
    beside = source.with_name("source-other")
    beside.mkdir()
    (beside / "f").write_bytes(SECRET)
    (source / "f").symlink_to("../source-other/f")
    with pytest.raises(OutsideSource):
        read_inside(source, "f")


def test_links_that_stay_inside_are_followed_and_the_source_may_be_a_link(source: Path) -> None:
    (source / "PMC2").symlink_to("PMC1")
    (source / "PMC1" / "copy.pdf").symlink_to("../PMC1/article.pdf")
    linked = source.with_name("linked")
    linked.symlink_to("source")
    assert read_inside(linked, "PMC2/copy.pdf") == b"%PDF"
    assert [entry.name for entry in entries_inside(linked, "PMC2")] == ["article.pdf", "copy.pdf"]


def test_what_is_no_file_is_refused_at_once(source: Path) -> None:
    os.mkfifo(source / "pipe")
    (source / "loop").symlink_to("loop")
    (source / "nowhere").symlink_to("missing")
    (source / "folder.pdf").mkdir()
    with socket.socket(socket.AF_UNIX) as server:
        here = os.getcwd()
        os.chdir(source)  # the name of a socket is short
        server.bind("socket")
        os.chdir(here)
    for name in ("pipe", "loop", "nowhere", "folder.pdf", "socket"):
        with pytest.raises(NotAFile, match=name.split(".")[0]):
            read_inside(source, name)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root makes device files")
def test_a_device_is_not_opened(source: Path) -> None:
    try:
        os.mknod(source / "zero.jpg", 0o600 | 0o020000, os.makedev(1, 5))
    except PermissionError:
        pytest.skip("device files are not allowed here")
    with pytest.raises(NotAFile, match="device"):
        read_inside(source, "zero.jpg")


def test_a_limit_is_a_limit(source: Path) -> None:
    assert read_inside(source, "PMC1/article.pdf", 4) == b"%PDF"
    with pytest.raises(FileTooLarge):
        read_inside(source, "PMC1/article.pdf", 3)


def test_size_and_digest(source: Path) -> None:
    assert size_and_sha256(source, "PMC1/article.pdf")[0] == 4


@pytest.mark.parametrize("source", ["walked"], indirect=True)
def test_a_link_that_changes_while_it_is_read_never_lets_anything_out(source: Path) -> None:
    """The place of a folder is swapped between one inside and one outside as fast as it goes."""
    inside, place, stop = source / "real", source / "swapped", threading.Event()
    inside.mkdir()
    (inside / "secret.xml").write_bytes(b"inside")

    def swap() -> None:
        while not stop.is_set():
            for target in ("real", "../outside"):
                link = source / "next"
                link.symlink_to(target)
                link.replace(place)

    place.symlink_to("real")
    thread = threading.Thread(target=swap)
    thread.start()
    outcomes = set()
    try:
        for _ in range(1500):
            try:
                outcomes.add(read_inside(source, "swapped/secret.xml"))
            except OutsideSource:
                outcomes.add(b"refused")
    finally:
        stop.set()
        thread.join()
    assert SECRET not in outcomes
    assert outcomes == {b"inside", b"refused"}


@pytest.mark.parametrize("source", ["walked"], indirect=True)
def test_a_folder_that_becomes_a_link_after_it_was_resolved_is_refused(
    source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.path.realpath

    def swapped_afterwards(path: object, *, strict: bool = False) -> str:
        found = real(path, strict=strict)  # type: ignore[call-overload]
        if str(path).endswith("secret.xml"):
            (source / "PMC1").rename(source / "moved")
            (source / "PMC1").symlink_to("../outside")
        return str(found)

    (source / "PMC1" / "secret.xml").write_bytes(b"inside")
    monkeypatch.setattr(os.path, "realpath", swapped_afterwards)
    with pytest.raises(OutsideSource, match="changed while"):
        read_inside(source, "PMC1/secret.xml")


@given(st.binary(min_size=1, max_size=20))
def test_every_name_can_be_printed(name: bytes) -> None:
    printable(os.fsdecode(name)).encode()
