"""A package folder from PMC: complete or not at all, downloaded once, and a package as any other."""

from __future__ import annotations

import dataclasses
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pmo_assets.records.packages import ChecksumMismatch, FileMissing, PackageListing, SourceError
from pmo_assets.records.stores import StorageError
from pmo_assets.sources import pmc_download
from pmo_assets.sources.local import LocalFolder
from pmo_assets.sources.pmc_bucket import PmcBucket, PmcOptions
from pmo_assets.sources.pmc_cloud import PmcCloud
from pmo_assets.sources.pmc_download import download_package
from pmo_assets.system import aside
from pmo_assets_tests.cli.command_line import files_below
from pmo_assets_tests.loopback import Answer, CloudArticle, Faults, LoopbackPmc

ARTICLE = CloudArticle(
    7,
    xml=b"<article/>",
    pdf=b"%PDF-1.4 seven",
    media={"g1.jpg": b"one", "g2.jpg": b"two", "film.mp4": b"a film"},
    license_code="CC BY-NC",
)
NAMES = ["PMC7.1.json", "PMC7.1.pdf", "PMC7.1.xml", "g1.jpg", "g2.jpg"]


@pytest.fixture(scope="module")
def server() -> Iterator[LoopbackPmc]:
    with LoopbackPmc() as started:
        yield started


@pytest.fixture
def pmc(server: LoopbackPmc) -> Iterator[LoopbackPmc]:
    server.put(ARTICLE)
    server.forget_requests()
    yield server
    for number in {number for number, _ in server.articles}:
        server.delete(number)
    server._traffic.answers.clear()
    server.faults = Faults()


def cloud_of(pmc: LoopbackPmc) -> PmcCloud:
    return PmcCloud(PmcBucket(PmcOptions(endpoint=pmc.endpoint, pause=0.002, read_timeout=5)))


def got(pmc: LoopbackPmc, folder: Path, number: int = 7) -> tuple[PackageListing, Path, int]:
    return download_package(cloud_of(pmc), number, folder)


def test_a_package_holds_metadata_documents_and_pictures_and_nothing_lies_beside_it(
    pmc: LoopbackPmc, tmp_path: Path
) -> None:
    told: list[int] = []
    listing, place, size = download_package(cloud_of(pmc), 7, tmp_path / "deep" / "articles", told.append)
    assert place == tmp_path / "deep" / "articles" / "PMC7.1"
    assert sorted(path.name for path in place.iterdir()) == NAMES
    assert [path.name for path in place.parent.iterdir()] == ["PMC7.1"]
    assert (place / "g1.jpg").read_bytes() == b"one"
    assert (place / "PMC7.1.json").read_bytes() == pmc.object(ARTICLE.metadata_key)
    assert size == sum(told) == sum(len(data) for data in (b"<article/>", b"%PDF-1.4 seven", b"one", b"two"))
    assert listing.license_code == "CC BY-NC"
    assert pmc.gets(ARTICLE.metadata_key) == 1, "what was judged is what was written"


def test_a_local_source_reads_the_result_as_the_same_article(pmc: LoopbackPmc, tmp_path: Path) -> None:
    stated, _, _ = got(pmc, tmp_path)
    (read,) = LocalFolder(tmp_path).listings()
    assert isinstance(read, PackageListing)
    for name in ("article_id", "name", "version", "license_code", "is_retracted", "is_manuscript", "title", "doi"):
        assert getattr(read, name) == getattr(stated, name), name
    assert [(file.role, Path(file.path).name) for file in read.files] == [
        (file.role, Path(file.path).name) for file in stated.files
    ]


def test_the_second_call_downloads_nothing(pmc: LoopbackPmc, tmp_path: Path) -> None:
    got(pmc, tmp_path)
    before = files_below(tmp_path)
    pmc.forget_requests()
    assert got(pmc, tmp_path)[2] == 0
    assert files_below(tmp_path) == before
    assert pmc.get_counts("PMC7.1/") == {}


def test_only_what_changed_is_fetched_and_what_pmc_dropped_goes(pmc: LoopbackPmc, tmp_path: Path) -> None:
    _, place, _ = got(pmc, tmp_path)
    pmc.put(dataclasses.replace(ARTICLE, media={"g1.jpg": b"ONE"}))
    pmc.forget_requests()
    assert got(pmc, tmp_path)[2] == 3
    assert pmc.get_counts("PMC7.1/") == {"PMC7.1/g1.jpg": 1}
    assert (place / "g1.jpg").read_bytes() == b"ONE"
    assert not (place / "g2.jpg").exists()


def test_a_file_that_was_damaged_here_is_fetched_again(pmc: LoopbackPmc, tmp_path: Path) -> None:
    _, place, _ = got(pmc, tmp_path)
    (place / "g1.jpg").write_bytes(b"0ne")
    (place / "g2.jpg").unlink()
    assert got(pmc, tmp_path)[2] == 6
    assert (place / "g1.jpg").read_bytes() == b"one"


def test_files_of_somebody_else_stay(pmc: LoopbackPmc, tmp_path: Path) -> None:
    _, place, _ = got(pmc, tmp_path)
    (place / "notes.txt").write_text("mine")
    (place / "annotations").mkdir()
    (place / "annotations" / "f1.json").write_text("{}")
    (place / "link").symlink_to("/etc/hostname")
    pmc.put(dataclasses.replace(ARTICLE, media={"g1.jpg": b"ONE"}))
    got(pmc, tmp_path)
    assert (place / "notes.txt").read_text() == "mine"
    assert (place / "annotations" / "f1.json").read_text() == "{}"
    assert (place / "link").is_symlink()
    assert not (place / "g2.jpg").exists()


def test_a_folder_that_was_there_without_metadata_keeps_its_files(pmc: LoopbackPmc, tmp_path: Path) -> None:
    (tmp_path / "PMC7.1").mkdir()
    (tmp_path / "PMC7.1" / "notes.txt").write_text("mine")
    (tmp_path / "PMC7.1" / "g1.jpg").write_bytes(b"something else")
    _, place, _ = got(pmc, tmp_path)
    assert (place / "notes.txt").read_text() == "mine"
    assert (place / "g1.jpg").read_bytes() == b"one"


def test_pictures_of_the_same_name_in_two_articles_do_not_meet(pmc: LoopbackPmc, tmp_path: Path) -> None:
    pmc.put(CloudArticle(8, xml=b"<article/>", media={"g1.jpg": b"eight"}))
    got(pmc, tmp_path)
    got(pmc, tmp_path, 8)
    assert [(tmp_path / name / "g1.jpg").read_bytes() for name in ("PMC7.1", "PMC8.1")] == [b"one", b"eight"]


# complete or not at all


@pytest.mark.parametrize("answer", [Answer.html(), Answer.empty(), Answer(b"%PDF-1.4 eight")])
def test_a_file_that_is_not_what_was_stated_leaves_nothing(pmc: LoopbackPmc, tmp_path: Path, answer: Answer) -> None:
    pmc.answer("PMC7.1/PMC7.1.pdf", answer)
    with pytest.raises(ChecksumMismatch, match=r"PMC7\.1/PMC7\.1\.pdf is not what PMC's metadata states"):
        got(pmc, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_failure_leaves_the_folder_of_before_as_it_was(pmc: LoopbackPmc, tmp_path: Path) -> None:
    got(pmc, tmp_path)
    before = files_below(tmp_path)
    pmc.put(dataclasses.replace(ARTICLE, pdf=b"%PDF-1.5", media={"g1.jpg": b"ONE"}))
    pmc.delete_object("PMC7.1/PMC7.1.pdf")
    with pytest.raises(FileMissing):
        got(pmc, tmp_path)
    assert files_below(tmp_path) == before


def test_a_failed_exchange_leaves_the_folder_of_before(
    pmc: LoopbackPmc, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    got(pmc, tmp_path)
    before = files_below(tmp_path)
    pmc.put(dataclasses.replace(ARTICLE, media={"g1.jpg": b"ONE"}))

    def failing(one: Path, other: Path) -> bool:
        raise OSError("the disk has gone")

    with monkeypatch.context() as patch:
        patch.setattr(aside, "exchanged", failing)
        with pytest.raises(StorageError, match="the disk has gone"):
            got(pmc, tmp_path)
    assert files_below(tmp_path) == before


def test_a_call_that_was_killed_between_two_renames_is_mended_by_the_next(pmc: LoopbackPmc, tmp_path: Path) -> None:
    _, place, _ = got(pmc, tmp_path)
    (place / "notes.txt").write_text("mine")
    place.rename(tmp_path / ".PMC7.1.old")
    (tmp_path / ".PMC7.1.part").mkdir()
    os.utime(tmp_path / ".PMC7.1.part", (0, 0))
    assert got(pmc, tmp_path)[2] == 0
    assert (place / "notes.txt").read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["PMC7.1"]


GET = """
import sys
from pathlib import Path
from pmo_assets.sources.pmc_bucket import PmcBucket, PmcOptions
from pmo_assets.sources.pmc_cloud import PmcCloud
from pmo_assets.sources.pmc_download import download_package
cloud = PmcCloud(PmcBucket(PmcOptions(endpoint=sys.argv[1], concurrency=2, read_timeout=20)))
print("begun", flush=True)
download_package(cloud, 7, Path(sys.argv[2]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0.3, 0.7])
def test_a_call_that_is_killed_shows_nothing_and_the_next_one_ends_it(
    pmc: LoopbackPmc, tmp_path: Path, seconds: float
) -> None:
    got(pmc, tmp_path)
    before = files_below(tmp_path)
    pmc.put(dataclasses.replace(ARTICLE, media={f"g{n}.jpg": bytes([n]) for n in range(6)}))
    pmc.faults = Faults(share=1, kinds=("slow",), slow_seconds=0.2)
    process = subprocess.Popen([sys.executable, "-c", GET, pmc.endpoint, str(tmp_path)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"begun\n"
    time.sleep(seconds)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    pmc.faults = Faults()
    assert {name: digest for name, digest in files_below(tmp_path).items() if not name.startswith(".")} == before
    assert [item.name for item in LocalFolder(tmp_path).listings() if isinstance(item, PackageListing)] == ["PMC7.1"]
    got(pmc, tmp_path)
    assert len(list((tmp_path / "PMC7.1").iterdir())) == 9
    assert [path.name for path in tmp_path.iterdir()] == ["PMC7.1"]


def test_of_two_calls_for_one_article_the_second_says_so(
    pmc: LoopbackPmc, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside, go = threading.Event(), threading.Event()
    write = pmc_download._write_metadata

    def waiting(*arguments: object) -> None:
        inside.set()
        go.wait(20)
        write(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(pmc_download, "_write_metadata", waiting)
    first = threading.Thread(target=got, args=(pmc, tmp_path))
    first.start()
    assert inside.wait(20)
    with pytest.raises(StorageError, match=r"another call is fetching PMC7\.1"):
        got(pmc, tmp_path)
    go.set()
    first.join()
    assert sorted(path.name for path in (tmp_path / "PMC7.1").iterdir()) == NAMES


# whose fault it is


def test_metadata_that_changes_while_it_is_read_is_not_mixed(
    pmc: LoopbackPmc, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    versions = PmcCloud.versions

    def then_changed(self: PmcCloud, number: int) -> object:
        found = [dataclasses.replace(item, etag="0-2") for item in versions(self, number)]  # no MD5: read twice
        pmc.put(ARTICLE)
        return found

    read = PmcBucket.read

    def then_other(self: PmcBucket, key: str, max_bytes: int | None = None) -> bytes:
        content = read(self, key, max_bytes)
        pmc.put(dataclasses.replace(ARTICLE, media={"g1.jpg": b"ONE"}))
        return content

    monkeypatch.setattr(PmcCloud, "versions", then_changed)
    monkeypatch.setattr(PmcBucket, "read", then_other)
    with pytest.raises(ChecksumMismatch, match="was changed at PMC while it was read: try again"):
        got(pmc, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_is_said(pmc: LoopbackPmc, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="cannot write"):
        got(pmc, tmp_path / "file")
    (tmp_path / "PMC7.1").write_text("a file")
    with pytest.raises(StorageError, match=r"PMC7\.1 is no folder: move it away"):
        got(pmc, tmp_path)
    assert (tmp_path / "PMC7.1").read_text() == "a file"


def test_an_article_that_is_not_there_and_a_server_that_is_down_are_two_things(
    pmc: LoopbackPmc, tmp_path: Path
) -> None:
    with pytest.raises(FileMissing, match="PMC8 is not in"):
        got(pmc, tmp_path, 8)
    pmc.faults = Faults(share=1, kinds=("503",))
    with pytest.raises(SourceError):
        got(pmc, tmp_path)
    assert list(tmp_path.iterdir()) == []
