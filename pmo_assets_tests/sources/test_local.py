"""A bad package is a rejection that names it, and the others are registered; a source that is gone is an error."""

from __future__ import annotations

import errno
import json
import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.pipeline.articles.fetching import FetchLimits, fetch_package
from pmo_assets.records.memory_stores import MemoryObjects
from pmo_assets.records.packages import FileMissing, PackageListing, Skipped, SourceError
from pmo_assets.records.rejections import ArticleError, Rejection
from pmo_assets.records.step_output import StepOutput
from pmo_assets.sources import local as sources
from pmo_assets.sources.local import BESIDE_PACKAGES, NO_DOCUMENT, LocalFolder
from pmo_assets.sources.package_folders import loose_articles
from pmo_assets.sources.source_files import OutsideSource, entries_inside
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.registry import BatchRegistry
from pmo_assets.storage.tables import Tables
from pmo_assets.workers.process import step_output


@pytest.fixture
def source(tmp_path: Path) -> Path:
    for number in (1, 2):
        package = tmp_path / "source" / f"PMC{number}"
        package.mkdir(parents=True)
        (package / "article.pdf").write_bytes(f"%PDF {number}".encode())
    (tmp_path / "outside" / "PMC9").mkdir(parents=True)
    (tmp_path / "outside" / "PMC9" / "article.pdf").write_bytes(b"%PDF secret")
    return tmp_path / "source"


def listed(source: Path) -> tuple[dict[str, PackageListing], list[Rejection]]:
    outcomes = list(LocalFolder(source).listings())
    packages = [item for item in outcomes if isinstance(item, PackageListing)]
    return {item.name: item for item in packages}, [item for item in outcomes if isinstance(item, Rejection)]


def not_utf8(source: Path) -> None:
    folder = os.fsencode(source) + b"/PMC3-caf\xe9"
    os.mkdir(folder)
    Path(os.fsdecode(folder), "article.pdf").write_bytes(b"%PDF")


def loop(source: Path) -> None:
    (source / "PMC3").symlink_to("PMC3")


def leads_out(source: Path) -> None:
    (source / "PMC3").symlink_to("../outside/PMC9")


def leads_nowhere(source: Path) -> None:
    (source / "PMC3").symlink_to("gone")


def only_links_out(source: Path) -> None:
    (source / "PMC3").mkdir()
    (source / "PMC3" / "article.pdf").symlink_to("../../outside/PMC9/article.pdf")


def a_pipe(source: Path) -> None:
    (source / "PMC3").mkdir()
    os.mkfifo(source / "PMC3" / "article.pdf")


@pytest.mark.parametrize(
    ("damage", "error", "word"),
    [
        (not_utf8, "UnreadableName", r"PMC3-caf\xe9"),
        (loop, "NotAFile", "leads to itself"),
        (leads_out, "OutsideSource", "out of the source"),
        (leads_nowhere, "NotAFile", "nowhere"),
        (only_links_out, "OutsideSource", "article.pdf"),
        (a_pipe, "NotAFile", "pipe"),
    ],
)
def test_one_bad_package_is_named_and_the_others_are_listed(
    source: Path, damage: Callable[[Path], None], error: str, word: str
) -> None:
    damage(source)
    packages, (rejection,) = listed(source)
    assert set(packages) == {"PMC1", "PMC2"}
    assert (rejection.stage, rejection.error_class) == ("registration", error)
    assert rejection.message.startswith("PMC3")
    assert word in rejection.message


def test_the_longest_name_and_the_deepest_metadata_are_no_obstacle(source: Path) -> None:
    name = "PMC" + "x" * 252
    (source / "PMC2").rename(source / name)
    (source / name / "metadata.json").write_bytes(b"[" * 200_000)
    packages, rejections = listed(source)
    assert set(packages) == {"PMC1", name}
    assert [problem.error_class for problem in packages[name].problems] == ["UnreadableMetadata"]
    assert rejections == []


def test_a_package_that_vanishes_while_others_are_listed(source: Path) -> None:
    outcomes = LocalFolder(source).listings()
    first = next(outcomes)
    shutil.rmtree(source / "PMC2")
    (second,) = outcomes
    assert isinstance(first, PackageListing)
    assert isinstance(second, Rejection)
    assert second.message.startswith("PMC2")
    assert second.unit_id == 2


def test_a_source_that_vanishes_while_it_is_listed_is_an_error(source: Path) -> None:
    outcomes = LocalFolder(source).listings()
    next(outcomes)
    shutil.rmtree(source)
    with pytest.raises(SourceError, match="mounted"):
        next(outcomes)


def as_nobody(look: Callable[[], list[object]]) -> list[object]:
    """Return what `look` sees in a process without the privileges of root, for whom permissions do not count."""
    receiver, sender = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
            os.write(sender, json.dumps(look()).encode())
            status = 0
        finally:
            os._exit(status)
    os.close(sender)
    with os.fdopen(receiver, "rb") as stream:
        content = stream.read()
    assert os.waitpid(child, 0)[1] == 0
    return list(json.loads(content))


@pytest.mark.skipif(os.name != "posix", reason="permissions are POSIX's")
def test_what_the_user_may_not_read_concerns_its_package_only() -> None:
    with tempfile.TemporaryDirectory() as place:  # pytest's own folders are root's alone
        os.chmod(place, 0o755)
        source = Path(place) / "source"
        for number in (1, 2, 3, 4):
            (source / f"PMC{number}").mkdir(parents=True)
            (source / f"PMC{number}" / "article.pdf").write_bytes(b"%PDF")
        (source / "PMC2" / "metadata.json").write_text(json.dumps({"license_code": "CC BY"}))
        for path in (source / "PMC2" / "metadata.json", source / "PMC3" / "article.pdf", source / "PMC4"):
            path.chmod(0)

        def look() -> list[object]:
            seen: list[object] = []
            for item in LocalFolder(source).listings():
                assert not isinstance(item, Skipped)
                if isinstance(item, Rejection):
                    seen.append([item.error_class, item.message])
                else:
                    seen.append([item.name, item.license_unknown])
            try:
                LocalFolder(source).read("PMC3/article.pdf")
            except ArticleError as error:
                seen.append(type(error).__name__)
            return seen

        seen = as_nobody(look)
        (source / "PMC4").chmod(0o755)
    assert seen == [
        ["PMC1", False],
        ["PMC2", True],
        ["UnreadableFile", "PMC3/article.pdf cannot be read: Permission denied"],
        ["UnreadableFile", "PMC4 cannot be read: Permission denied"],
        "UnreadableFile",
    ]


# links


def fetched(source: Path, name: str) -> tuple[dict[str, object], list[Rejection], MemoryObjects]:
    listing = listed(source)[0][name]
    row = {**asdict(listing), "files": [asdict(item) for item in listing.files]}
    objects = MemoryObjects({})
    output = fetch_package(row, LocalFolder(source), objects, FetchLimits())
    return output.rows[0], output.rejections, objects


def test_nothing_outside_the_source_reaches_the_object_store(source: Path) -> None:
    outside = source.parent / "outside"
    (outside / "secret.xml").write_bytes(b"<article>secret</article>")
    (outside / "metadata.json").write_text(json.dumps({"license_code": "CC0", "title": "secret"}))
    (outside / "figures").mkdir()
    (outside / "figures" / "secret.jpg").write_bytes(b"secret")
    package = source / "PMC1"
    (package / "article.xml").symlink_to("../../outside/secret.xml")
    (package / "metadata.json").symlink_to(outside / "metadata.json")
    (package / "figures").symlink_to("../../outside/figures")
    (package / "f2.jpg").symlink_to("/etc/hostname")
    row, rejections, objects = fetched(source, "PMC1")
    assert not any(b"secret" in content for content in objects.contents.values())
    assert (row["license_code"], row["license_unknown"], row["title"]) == (None, True, None)
    assert [(item.error_class, item.part) for item in rejections] == [
        ("OutsideSource", None),
        ("OutsideSource", None),
        ("OutsideSource", "f2"),
        ("UnreadableMetadata", None),
    ]
    assert all("PMC1/" in item.message for item in rejections)


def test_links_inside_the_source_are_usable(source: Path) -> None:
    (source / "PMC3").symlink_to("PMC1")
    (source / "PMC2" / "shared.jpg").symlink_to("../PMC1/f.jpg")
    (source / "PMC1" / "f.jpg").write_bytes(b"j")
    packages, rejections = listed(source)
    assert rejections == []
    assert [file.path for file in packages["PMC3"].files] == ["PMC3/article.pdf", "PMC3/f.jpg"]
    assert [file.path for file in packages["PMC2"].files] == ["PMC2/article.pdf", "PMC2/shared.jpg"]
    _, rejections, objects = fetched(source, "PMC2")
    assert rejections == []
    assert b"j" in objects.contents.values()


@pytest.mark.parametrize(
    "path", ["../outside/PMC9/article.pdf", "/etc/hostname", "PMC1/../../outside/PMC9/article.pdf"]
)
def test_a_manifest_cannot_name_what_is_outside(source: Path, path: str) -> None:
    with pytest.raises(OutsideSource):
        LocalFolder(source).read(path)
    row = {
        **asdict(listed(source)[0]["PMC1"]),
        "files": [{"role": "xml", "path": path, "size": 1, "sha256": "0" * 64}],
    }
    output = fetch_package(row, LocalFolder(source), MemoryObjects({}), FetchLimits())
    assert [item.error_class for item in output.rejections] == ["OutsideSource"]
    assert output.rows == [], "nothing of the package was fetched"


def test_a_file_that_became_a_link_since_it_was_registered_is_refused(source: Path) -> None:
    listing = listed(source)[0]["PMC1"]
    (source / "PMC1" / "article.pdf").unlink()
    (source / "PMC1" / "article.pdf").symlink_to("../../outside/PMC9/article.pdf")
    row = {**asdict(listing), "files": [asdict(item) for item in listing.files]}
    output = fetch_package(row, LocalFolder(source), MemoryObjects({}), FetchLimits())
    assert [item.error_class for item in output.rejections] == ["OutsideSource"]


# at run time


def test_a_file_that_is_gone_is_its_articles_fault_and_a_source_that_is_gone_everybodys(source: Path) -> None:
    (source / "PMC1" / "article.pdf").unlink()
    with pytest.raises(FileMissing):
        LocalFolder(source).read("PMC1/article.pdf")
    shutil.rmtree(source)
    with pytest.raises(SourceError, match="gone"):
        LocalFolder(source).read("PMC2/article.pdf")
    source.mkdir()
    with pytest.raises(SourceError, match="empty"):
        LocalFolder(source).read("PMC2/article.pdf")


# one package as a source


@pytest.mark.parametrize("shape", ["article", "PMC7.2"])
def test_the_folder_of_one_package_is_a_source_of_one(
    tmp_path: Path, shape: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "articles" / "PMC7.2"
    (folder / "figures").mkdir(parents=True)
    (folder / f"{shape}.pdf").write_bytes(b"%PDF")
    (folder / f"{shape}.xml").write_bytes(b"<article/>")
    (folder / "figures" / "f1.jpg").write_bytes(b"j")
    (folder / "figures" / "f1.pdf").write_bytes(b"a figure, not an article")
    packages, rejections = listed(folder)
    assert rejections == []
    assert [file.path for file in packages["PMC7.2"].files] == [f"{shape}.pdf", f"{shape}.xml", "figures/f1.jpg"]
    assert (packages["PMC7.2"].article_id, packages["PMC7.2"].version) == (7, 2)
    assert packages["PMC7.2"].digest == listed(folder.parent)[0]["PMC7.2"].digest, "not registered twice"
    row, _, _ = fetched(folder, "PMC7.2")
    assert row["pdf"] is not None
    monkeypatch.chdir(folder)
    assert set(listed(Path("."))[0]) == {"PMC7.2"}


def test_a_stray_document_beside_packages_is_no_package(source: Path) -> None:
    (source / "instructions.pdf").write_bytes(b"%PDF")
    (source / "notes.txt").write_text("…")
    (source / "empty").mkdir()
    packages, rejections = listed(source)
    assert (set(packages), [item.message for item in rejections]) == (
        {"PMC1", "PMC2"},
        ["instructions.pdf lies beside the folders of packages and in none: give it a folder of its own"],
    )
    skipped = [item for item in LocalFolder(source).listings() if isinstance(item, Skipped)]
    assert [(item.path, item.reason) for item in skipped] == [
        ("empty", NO_DOCUMENT),
        ("notes.txt", BESIDE_PACKAGES),
    ]


def test_a_file_over_the_limit_is_named_and_no_byte_of_it_is_read(source: Path) -> None:
    """The file has a terabyte and takes no room on the disk: whoever hashed it would not come back."""
    limits = FetchLimits(max_pdf_bytes=1000, max_picture_bytes=1000)
    for name in ("PMC1/article.pdf", "PMC2/huge.jpg"):
        with (source / name).open("wb") as stream:
            stream.truncate(2**40)
    outcomes = list(LocalFolder(source, limits).listings())
    (rejected,) = (item for item in outcomes if isinstance(item, Rejection))
    assert (rejected.error_class, rejected.owner) == ("FileTooLarge", "PMC1")
    assert "has 1,048,576 MiB, the limit is 0 MiB" in rejected.message
    (listing,) = (item for item in outcomes if isinstance(item, PackageListing))
    assert [problem.error_class for problem in listing.problems] == ["FileTooLarge"]
    assert "figure" not in {file.role for file in listing.files if file.path.endswith("huge.jpg")}


# what is remembered


def test_rejections_of_the_registration_stay_until_the_fault_is_mended(source: Path, tmp_path: Path) -> None:
    registry, tables = BatchRegistry(DataRoot(str(tmp_path / "data"))), Tables(DataRoot(str(tmp_path / "data")))
    other = tmp_path / "other"
    shutil.copytree(source / "PMC1", other / "PMC5")
    loop(source)
    loop(other)
    for _ in range(2):
        registry.add(LocalFolder(source), size=9)
        registry.add(LocalFolder(other), size=9)
        assert tables.registration_rejections()["article_id"].to_list() == [3, 3], "once for each source"
    assert len(registry.batches()) == 2
    (source / "PMC3").unlink()
    shutil.copytree(source / "PMC1", source / "PMC3")
    registry.add(LocalFolder(source), size=9)
    assert registry.rejections(LocalFolder(source).uri).is_empty()
    assert tables.registration_rejections().height == 1


@pytest.mark.parametrize("code", [errno.EIO, errno.EACCES, errno.ESTALE])
def test_a_file_that_cannot_be_read_is_its_articles_fault(
    source: Path, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> bytes:
        raise OSError(code, os.strerror(code))

    def read() -> StepOutput:
        LocalFolder(source).read("PMC1/article.pdf")
        return StepOutput()

    monkeypatch.setattr(sources, "read_inside", broken)
    output = step_output("article_packages", 1, read, ())
    assert [item.error_class for item in output.rejections] == ["UnreadableFile"]


@pytest.mark.parametrize("code", [errno.EMFILE, errno.ENOMEM])
def test_a_machine_at_its_end_is_nobodys_fault(source: Path, code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> bytes:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(sources, "read_inside", broken)
    with pytest.raises(SourceError):
        LocalFolder(source).read("PMC1/article.pdf")


def test_a_hidden_folder_is_a_programs_and_no_package(tmp_path: Path) -> None:
    for name in ("PMC1", ".PMC2.1.part"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "article.pdf").write_bytes(b"%PDF")
    assert [item.name for item in LocalFolder(tmp_path).listings() if isinstance(item, PackageListing)] == ["PMC1"]


# a folder of loose documents


def test_loose_documents_are_an_article_each_and_nothing_is_passed_over(tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    for name in ("a.pdf", "a.xml", "b.PDF", "c.xml", "b.json", "photo.jpg", "read me.txt", ".hidden"):
        (folder / name).write_bytes(b"{}" if name.endswith("json") else b"%PDF")
    packages, rejections = listed(folder)
    files = {name: sorted(file.path for file in item.files) for name, item in packages.items()}
    assert files == {"a": ["a.pdf", "a.xml"], "b": ["b.PDF"], "c": ["c.xml"]}
    assert len({item.article_id for item in packages.values()}) == 3
    assert [item.message.partition(" belongs to no article")[0] for item in rejections] == ["photo.jpg", "read me.txt"]


def test_one_article_with_its_xml_and_another_pdf_stays_one(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    folder.mkdir()
    for name in ("paper.pdf", "paper.xml", "appendix.pdf"):
        (folder / name).write_bytes(b"%PDF")
    packages, rejections = listed(folder)
    assert [file.path for file in packages["study"].files] == ["paper.pdf", "paper.xml"]
    assert [item.path for item in packages["study"].problems] == ["appendix.pdf"]
    assert rejections == []


def test_two_loose_documents_that_differ_in_case_only_are_told(tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    for name in ("a.pdf", "a.PDF", "b.pdf"):
        (folder / name).write_bytes(b"%PDF")
    if len(list(folder.iterdir())) < 3:
        pytest.skip("this disk takes both names for one")
    packages, rejections = listed(folder)
    assert set(packages) == {"b"}
    assert [item.error_class for item in rejections] == ["UnclearDocuments"]


@given(
    st.lists(
        st.tuples(st.sampled_from("abcde"), st.sampled_from([".pdf", ".xml", ".json", ".jpg", ".txt", ".PDF"])),
        min_size=2,
        unique=True,
    )
)
def test_every_file_of_loose_documents_is_used_once_or_named(names: list[tuple[str, str]]) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "loose"
        folder.mkdir()
        for stem, suffix in names:
            (folder / f"{stem}{suffix}").write_bytes(b"{}" if suffix == ".json" else b"%PDF")
        there = sorted(path.name for path in folder.iterdir())
        if not loose_articles(entries_inside(folder, "."), "loose"):
            return
        packages, rejections = listed(folder)
        used = [file.path for item in packages.values() for file in item.files]
        stems = {item.name for item in packages.values()}
        described = [name for name in there if name.endswith(".json") and Path(name).stem in stems]
        named = [name for name in there if any(name in item.message or f"{Path(name).stem} has" in item.message
                                               for item in rejections)]  # fmt: skip
        assert len(used) == len(set(used))
        assert set(used) | set(described) | set(named) == set(there)
        assert not set(used) & set(named)
