"""Folders are read as packages in both shapes; numbers and digests are stable."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.records.packages import DERIVED_ID_BASE, article_id_and_version, derived_article_id, is_pmc_number
from pmo_assets.sources.package_folders import UnclearDocuments, list_package
from pmo_assets.storage.batches import newest_versions


def package(folder: Path, **files: bytes) -> Path:
    for name, content in files.items():
        path = folder / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def test_a_package_folder_lists_its_files_by_role(tmp_path: Path) -> None:
    folder = package(
        tmp_path / "PMC123",
        article_dot_pdf=b"%PDF",
        article_dot_xml=b"<article/>",
        figures__f1_dot_jpg=b"j",
        notes_dot_txt=b"n",
    )
    listing = list_package(folder, tmp_path)
    assert listing is not None
    assert [(file.role, file.path) for file in listing.files] == [
        ("pdf", "PMC123/article.pdf"),
        ("xml", "PMC123/article.xml"),
        ("figure", "PMC123/figures/f1.jpg"),
    ]
    assert (listing.article_id, listing.version, listing.files[0].size) == (123, 1, 4)


def test_the_pmc_cloud_shape_is_understood(tmp_path: Path) -> None:
    metadata = {"pmcid": "PMC77", "version": 2, "license_code": "CC BY", "is_retracted": True, "title": "  A  title "}
    folder = package(
        tmp_path / "PMC77.2",
        PMC77_dot_2_dot_pdf=b"%PDF",
        PMC77_dot_2_dot_xml=b"<article/>",
        PMC77_dot_2_dot_json=json.dumps(metadata).encode(),
        g001_dot_jpg=b"j",
    )
    listing = list_package(folder, tmp_path)
    assert listing is not None
    assert (listing.article_id, listing.version, listing.license_code) == (77, 2, "CC BY")
    assert (listing.is_retracted, listing.title) == (True, "A title")
    assert [file.role for file in listing.files] == ["pdf", "xml", "figure"]


def test_a_folder_without_pdf_and_xml_is_no_package(tmp_path: Path) -> None:
    assert list_package(package(tmp_path / "metadata", x_dot_json=b"{}"), tmp_path) is None


@pytest.mark.parametrize("shape", ["metadata.json", "PMC5.1.json"])
def test_metadata_that_cannot_be_read_is_a_problem_and_the_licence_is_unknown(tmp_path: Path, shape: str) -> None:
    folder = package(tmp_path / "PMC5.1", article_dot_pdf=b"%PDF")
    before = list_package(folder, tmp_path)
    (folder / shape).write_bytes(b"{not json")
    listing = list_package(folder, tmp_path)
    assert before is not None
    assert listing is not None
    assert listing.license_unknown
    (problem,) = listing.problems
    assert (problem.path, problem.error_class) == (f"PMC5.1/{shape}", "UnreadableMetadata")
    assert "licence counts as unknown" in problem.message
    assert listing.digest != before.digest, "it is registered anew, although it states nothing"


def test_what_is_left_out_counts_for_the_digest(tmp_path: Path) -> None:
    folder = package(tmp_path / "PMC5", article_dot_pdf=b"%PDF", f1_dot_jpg=b"j")
    before = list_package(folder, tmp_path)
    (folder / "f2.jpg").symlink_to("/etc/passwd")
    after = list_package(folder, tmp_path)
    assert before is not None
    assert after is not None
    assert [file.path for file in after.files] == [file.path for file in before.files]
    assert after.digest != before.digest


@pytest.mark.parametrize(
    ("name", "metadata", "expected"),
    [
        ("PMC10009416", {}, (10009416, 1)),
        ("PMC10009416.3", {}, (10009416, 3)),
        ("anything", {"pmcid": "PMC12", "version": 4}, (12, 4)),
        ("PMC9", {"version": "2"}, (9, 2)),
        ("PMC9", {"version": None}, (9, 1)),
        ("PMC9", {"version": "²"}, (9, 1)),
        ("PMC9", {"version": 10**30}, (9, 1)),
        ("PMC9", {"pmcid": "PMC" + "1" * 5000}, (9, 1)),
    ],
)
def test_number_and_version(name: str, metadata: dict[str, object], expected: tuple[int, int]) -> None:
    assert article_id_and_version(name, metadata) == expected


def test_a_package_without_a_pmc_number_gets_a_fixed_one() -> None:
    # Published: the number of a local article must not change between versions of this software.
    assert derived_article_id("media2024_oct_103104") == 1_323_970_140_781


@given(st.text(max_size=40))
def test_derived_numbers_lie_outside_the_range_of_pmc(name: str) -> None:
    assert DERIVED_ID_BASE <= derived_article_id(name) < DERIVED_ID_BASE + 2**40


def test_the_digest_follows_content_and_not_place(tmp_path: Path) -> None:
    first = list_package(package(tmp_path / "a" / "PMC1", article_dot_pdf=b"one"), tmp_path / "a")
    moved = list_package(package(tmp_path / "b" / "PMC1", article_dot_pdf=b"one"), tmp_path)
    changed = list_package(package(tmp_path / "c" / "PMC1", article_dot_pdf=b"two"), tmp_path / "c")
    assert first is not None
    assert moved is not None
    assert changed is not None
    assert first.digest == moved.digest != changed.digest


def test_a_retraction_that_leaves_the_files_alone_changes_the_digest(tmp_path: Path) -> None:
    digests = set()
    for place, metadata in enumerate([{}, {"is_retracted": True}, {"license_code": "CC BY"}, {"unknown": 1}]):
        root = tmp_path / str(place)
        folder = package(root / "PMC1", article_dot_pdf=b"%PDF", metadata_dot_json=json.dumps(metadata).encode())
        listing = list_package(folder, root)
        assert listing is not None
        digests.add(listing.digest)
    assert len(digests) == 3, "what the pipeline does not use does not count"


def test_a_number_beyond_the_range_of_pmc_is_no_pmc_number() -> None:
    assert article_id_and_version("PMC" + "9" * 20, {})[0] == derived_article_id("PMC" + "9" * 20)


def test_text_of_the_metadata_can_be_written(tmp_path: Path) -> None:
    metadata = b'{"title": "half a \\ud800 pair"}'
    listing = list_package(package(tmp_path / "PMC1", article_dot_pdf=b"%PDF", metadata_dot_json=metadata), tmp_path)
    assert listing is not None
    assert listing.title == "half a ? pair"


def test_of_several_versions_the_newest_published_one_counts(tmp_path: Path) -> None:
    listings = []
    for name, manuscript in (("PMC4.1", False), ("PMC4.2", False), ("PMC4.3", True), ("PMC2.1", True)):
        folder = package(
            tmp_path / name,
            article_dot_pdf=name.encode(),
            metadata_dot_json=json.dumps({"is_manuscript": manuscript}).encode(),
        )
        listing = list_package(folder, tmp_path)
        assert listing is not None
        listings.append(listing)
    assert [(item.article_id, item.version) for item in newest_versions(listings)] == [(2, 1), (4, 2)]


@pytest.mark.parametrize(
    ("second", "retracted", "unknown"),
    [
        ({"license_code": "CC BY"}, False, False),
        ({"title": "says nothing of it"}, False, False),
        ({"license_code": "CC BY-ND"}, False, True),
        ({"license_code": "CC BY", "is_retracted": True}, True, True),
        ({"is_retracted": "perhaps"}, False, True),
    ],
)
def test_of_two_metadata_files_the_safe_statement_counts(
    tmp_path: Path, second: dict[str, object], retracted: bool, unknown: bool
) -> None:
    folder = package(
        tmp_path / "PMC4",
        article_dot_pdf=b"%PDF",
        metadata_dot_json=json.dumps({"license_code": "CC BY"}).encode(),
        PMC4_dot_json=json.dumps(second).encode(),
    )
    listing = list_package(folder, tmp_path)
    assert listing is not None
    assert (listing.is_retracted, listing.license_unknown) == (retracted, unknown)
    assert bool(listing.problems) == unknown


def test_of_several_packages_of_one_version_a_retracted_one_counts(tmp_path: Path) -> None:
    listings = []
    for name, retracted in (("a", False), ("b", True), ("c", False)):
        folder = package(
            tmp_path / name,
            article_dot_pdf=b"%PDF",
            metadata_dot_json=json.dumps({"pmcid": "PMC4", "is_retracted": retracted}).encode(),
        )
        listing = list_package(folder, tmp_path)
        assert listing is not None
        listings.append(listing)
    assert [(item.name, item.is_retracted) for item in newest_versions(listings)] == [("b", True)]


def test_derived_and_sample_numbers_are_no_pmc_numbers() -> None:
    assert is_pmc_number(12_345_678)
    assert not is_pmc_number(derived_article_id("x"))
    assert not is_pmc_number(9_000_000_001)


# which document is the article's


def chosen(folder: Path, *names: str) -> tuple[list[str], list[str]]:
    """Return the documents that are taken, and those that are named as left out."""
    for name in names:
        package(folder, **{name.replace(".", "_dot_"): b"%PDF"})
    listing = list_package(folder, folder.parent)
    assert listing is not None
    return [Path(file.path).name for file in listing.files], [Path(item.path).name for item in listing.problems]


def test_the_pdf_is_that_of_the_xml_s_name_and_the_other_is_named(tmp_path: Path) -> None:
    taken, left_out = chosen(tmp_path / "study", "appendix.pdf", "paper.pdf", "paper.xml")
    assert (taken, left_out) == (["paper.pdf", "paper.xml"], ["appendix.pdf"])


def test_a_document_called_article_or_like_its_folder_needs_no_partner(tmp_path: Path) -> None:
    assert chosen(tmp_path / "one", "a.pdf", "article.pdf", "article.xml") == (["article.pdf", "article.xml"], [])
    assert chosen(tmp_path / "two", "a.pdf", "two.pdf") == (["two.pdf"], [])


@pytest.mark.parametrize("names", [("a.pdf", "b.pdf"), ("a.pdf", "b.pdf", "c.xml"), ("a.xml", "b.xml")])
def test_of_several_that_nothing_tells_apart_none_is_taken(tmp_path: Path, names: tuple[str, ...]) -> None:
    with pytest.raises(UnclearDocuments, match=r"nothing says which is the article's: call it article\."):
        chosen(tmp_path / "study", *names)


def test_documents_of_other_names_are_one_article_if_they_are_two(tmp_path: Path) -> None:
    """One PDF and one XML: whether they are of one article is asked of their pages (`pdf_identity`)."""
    assert chosen(tmp_path / "study", "manuscript.pdf", "nihms.xml") == (["manuscript.pdf", "nihms.xml"], [])
