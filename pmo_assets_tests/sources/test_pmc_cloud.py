"""What PMC's metadata states becomes a package, or one clear sentence; nothing else, whatever the file holds."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from pmo_assets.pipeline.articles.fetching import FetchLimits, fetch_package
from pmo_assets.records.packages import FileMissing, PackageListing, UnreadableMetadata
from pmo_assets.records.rejections import ArticleError, Rejection
from pmo_assets.sources.pmc_bucket import PmcBucket, PmcOptions
from pmo_assets.sources.pmc_cloud import (
    MAX_FILES,
    ArticleVersion,
    NoFiles,
    PmcCloud,
    best_listing,
    listing_from_metadata,
)
from pmo_assets.storage.batches import manifest_rows
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.objects import ContentStore
from pmo_assets_tests.examples import examples
from pmo_assets_tests.loopback import Answer, CloudArticle, LoopbackPmc

BUCKET = "pmc-oa-opendata"
VERSION = ArticleVersion(7, 2, "e" * 32, datetime(2026, 1, 1, tzinfo=UTC))
MD5 = "0123456789abcdef0123456789abcdef"


def url(name: str, md5: str = MD5) -> str:
    return f"s3://{BUCKET}/PMC7.2/{name}?md5={md5}"


GOOD: dict[str, Any] = {
    "pmcid": "PMC7",
    "version": 2,
    "pmid": 123,
    "doi": "10.1000/seven",
    "title": "Seven",
    "citation": "A. Author. J. 2026",
    "is_pmc_openaccess": True,
    "is_manuscript": False,
    "is_historical_ocr": False,
    "is_retracted": False,
    "license_code": "CC BY",
    "xml_url": url("PMC7.2.xml"),
    "pdf_url": url("PMC7.2.pdf"),
    "text_url": url("PMC7.2.txt"),
    "media_urls": [url("g001.jpg"), url("supplement.docx"), url("g002.GIF")],
}


def listing(content: Any = None, **changes: Any) -> PackageListing:
    """Return the listing of metadata; a change to `...` leaves the field out."""
    fields = {name: value for name, value in {**GOOD, **changes}.items() if value is not ...}
    return listing_from_metadata(json.dumps(fields).encode() if content is None else content, VERSION, BUCKET)


def names(package: PackageListing) -> list[tuple[str, str]]:
    return [(file.role, PurePosixPath(file.path).name) for file in package.files]


def problems(package: PackageListing) -> list[str]:
    return [problem.error_class for problem in package.problems]


# what is stated


def test_good_metadata_gives_number_version_licence_and_the_files_with_their_md5() -> None:
    package = listing()
    assert (package.article_id, package.name, package.version) == (7, "PMC7.2", 2)
    assert (package.license_code, package.license_unknown, package.is_retracted) == ("CC BY", False, False)
    assert (package.title, package.doi) == ("Seven", "10.1000/seven")
    assert names(package) == [
        ("pdf", "PMC7.2.pdf"),
        ("xml", "PMC7.2.xml"),
        ("figure", "g001.jpg"),
        ("figure", "g002.GIF"),
    ]
    assert {file.md5 for file in package.files} == {MD5}
    assert package.problems == ()


@pytest.mark.parametrize("name", sorted(set(GOOD) - {"pdf_url", "xml_url"}))
def test_a_field_that_is_missing_states_nothing(name: str) -> None:
    for package in (listing(**{name: ...}), listing(**{name: None})):
        assert package.article_id == 7
        assert package.problems == ()
        assert not package.is_retracted


def test_one_document_is_enough_and_none_is_too_little() -> None:
    assert ("pdf", "PMC7.2.pdf") not in names(listing(pdf_url=None))
    assert ("xml", "PMC7.2.xml") not in names(listing(xml_url=...))
    with pytest.raises(NoFiles, match="neither a PDF nor an XML"):
        listing(xml_url=None, pdf_url=...)


def test_a_retraction_counts_also_when_the_files_were_taken_away() -> None:
    package = listing(xml_url=None, pdf_url=None, media_urls=[], is_retracted=True)
    assert package.is_retracted
    assert package.files == ()


@pytest.mark.parametrize("pmcid", ["PMC7", "pmc7", "7", " PMC7 ", "PMC7.2", "PMC0007", "", None])
def test_the_number_may_be_written_in_several_ways(pmcid: Any) -> None:
    assert listing(pmcid=pmcid).article_id == 7


@pytest.mark.parametrize(
    "pmcid", ["PMC8", "PMC 7", "PMC7 PMC8", "seven", "PMC٧", "9" * 5000, "PMC7\x00", "-7", "PMC70"]
)
def test_metadata_of_another_article_is_not_used(pmcid: str) -> None:
    with pytest.raises(UnreadableMetadata, match="of another article") as caught:
        listing(pmcid=pmcid)
    assert len(str(caught.value)) < 200


# what is no metadata


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b" ",
        b"{",
        b"null",
        b"[]",
        b'"PMC7"',
        b"<!DOCTYPE html><html><body>Please verify</body></html>",
        b"\xff\xfe\x00",
        b"[" * 100_000,
        b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
        b'{"pmcid": ' + b"9" * 10_000 + b"}",
    ],
)
def test_what_is_no_metadata_file_is_said_to_be_none(content: bytes) -> None:
    with pytest.raises(UnreadableMetadata, match=r"metadata/PMC7\.2\.json cannot be used"):
        listing(content)


@pytest.mark.parametrize("depth", [10, 300, 900, 3000])
def test_nesting_at_any_depth_is_decided(depth: int) -> None:
    nested = "[" * depth + "]" * depth
    content = json.dumps(GOOD)[:-1] + f', "other": {nested}, "citation": {nested}, "media_urls": {nested}' + "}"
    try:
        number = listing(content.encode()).article_id
    except UnreadableMetadata as error:
        number = 7 if "nested" in str(error) else 0
    assert number == 7


@pytest.mark.parametrize("value", [5, [], {}, ["CC BY"], True])
def test_a_licence_of_a_wrong_type_counts_as_unknown_and_the_rest_is_used(value: Any) -> None:
    package = listing(license_code=value)
    assert (package.license_code, package.license_unknown) == (None, True)
    assert problems(package) == ["UnreadableMetadata"]
    assert len(package.files) == 4


@pytest.mark.parametrize("value", ["perhaps", [], {}, 2])
def test_a_retraction_that_cannot_be_understood_keeps_the_licence_unknown(value: Any) -> None:
    assert listing(is_retracted=value).license_unknown


def test_a_licence_that_is_stated_twice_counts_as_unknown() -> None:
    content = json.dumps(GOOD)[:-1] + ', "license_code": "CC0"}'
    package = listing(content.encode())
    assert (package.license_code, package.license_unknown) == (None, True)


@pytest.mark.parametrize("name", ["title", "citation", "doi", "pmid", "version", "is_manuscript", "pmcid"])
@pytest.mark.parametrize("value", [[1], {"a": 1}, 10**400, -1])
def test_another_field_of_a_wrong_type_is_left_out(name: str, value: Any) -> None:
    package = listing(**{name: value})
    assert set(problems(package)) <= {"InvalidMetadata"}
    assert (package.license_code, len(package.files)) == ("CC BY", 4)


# files


@pytest.mark.parametrize(
    ("place", "error_class"),
    [
        (f"s3://{BUCKET}/PMC8.1/x.pdf", "OutsideSource"),
        (f"s3://{BUCKET}/PMC7.1/x.pdf", "OutsideSource"),
        (f"s3://{BUCKET}/PMC7.22/x.pdf", "OutsideSource"),
        (f"s3://{BUCKET}/PMC7.2/../PMC8.1/x.pdf", "OutsideSource"),
        (f"s3://{BUCKET}/PMC7.2/..", "OutsideSource"),
        (f"s3://{BUCKET}/PMC7.2/", "OutsideSource"),
        (f"s3://{BUCKET}/PMC7.2", "OutsideSource"),
        (f"s3://{BUCKET}//PMC7.2/x.pdf", "OutsideSource"),
        ("s3://other/PMC7.2/x.pdf", "OutsideSource"),
        (f"s3://{BUCKET}.example.org/PMC7.2/x.pdf", "OutsideSource"),
        ("https://example.org/PMC7.2/x.pdf", "OutsideSource"),
        ("/etc/passwd", "OutsideSource"),
        ("file:///etc/passwd", "OutsideSource"),
        (f"s3://{BUCKET}/PMC7.2/a\x00.pdf", "InvalidMetadata"),
        (f"s3://{BUCKET}/PMC7.2/a\x1b[31m.pdf", "InvalidMetadata"),
        (f"s3://{BUCKET}/PMC7.2/a\n.pdf", "InvalidMetadata"),
        (f"s3://{BUCKET}/PMC7.2/a\udcff.pdf", "InvalidMetadata"),
        (f"s3://{BUCKET}/PMC7.2/a\u202efdp.pdf", "InvalidMetadata"),
        (f"s3://{BUCKET}/PMC7.2/{'x' * 300}.pdf", "InvalidMetadata"),
        (f"s3://{BUCKET}/PMC7.2/{'x/' * 600}x.pdf", "InvalidMetadata"),
        (f"s3://{BUCKET}/PMC7.2/x.exe", "InvalidMetadata"),
        (f"s3://{BUCKET}/PMC7.2/x.{'p' * 200}", "InvalidMetadata"),
        (f"s3://{BUCKET}/PMC7.2/PMC7.2.json", "InvalidMetadata"),
        (f"s3://{BUCKET}/PMC7.2/x.pdf?md5=abc", "InvalidMetadata"),
        (f"s3://{BUCKET}/PMC7.2/x.pdf?md5={'g' * 32}", "InvalidMetadata"),
        (f"s3://{BUCKET}/PMC7.2/x.pdf?md5={'a' * 33}", "InvalidMetadata"),
        (5, "InvalidMetadata"),
        (["s3://"], "InvalidMetadata"),
        ({"a": 1}, "InvalidMetadata"),
    ],
)
def test_a_file_elsewhere_or_badly_named_is_left_out_and_named(place: Any, error_class: str) -> None:
    package = listing(pdf_url=place)
    assert problems(package) == [error_class]
    assert names(package) == names(listing(pdf_url=None))
    (problem,) = package.problems
    assert problem.message.startswith("PMC7.2: ")
    assert (problem.path + problem.message).isprintable()
    assert len(problem.path) <= 200
    assert len(problem.message) < 400


@pytest.mark.parametrize("name", ["a b.pdf", "a#b.pdf", "a?b.pdf", "a%20b.pdf", "a+b.pdf", "Übersicht-図.pdf", "A.PDF"])
def test_unusual_names_are_taken_as_they_are(name: str) -> None:
    package = listing(pdf_url=url(name))
    assert ("pdf", name) in names(package)
    assert package.problems == ()


def test_an_md5_may_be_in_capitals_or_not_stated() -> None:
    (pdf, *_) = listing(pdf_url=url("x.pdf", MD5.upper())).files
    assert pdf.md5 == MD5
    for place in (url("x.pdf").split("?")[0], url("x.pdf", "")):
        (pdf, *_) = listing(pdf_url=place).files
        assert (pdf.path, pdf.md5) == ("PMC7.2/x.pdf", None)


def test_two_files_of_one_name_are_one_and_the_other_is_named() -> None:
    package = listing(media_urls=[url("g1.jpg"), url("g1.jpg"), url("sub/g1.jpg"), url("sub/g2.jpg")])
    assert [name for role, name in names(package) if role == "figure"] == ["g1.jpg", "g2.jpg"]
    (problem,) = package.problems
    assert "sub/g1.jpg is left out" in problem.message


@pytest.mark.parametrize("media", ["g1.jpg", 5, {"a": 1}, [url(f"g{n}.jpg") for n in range(10_000)]])
def test_a_list_of_pictures_that_is_none_or_endless_is_left_out(media: Any) -> None:
    package = listing(media_urls=media)
    assert names(package) == names(listing(media_urls=[]))
    assert str(MAX_FILES) in package.problems[0].message


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=8,
)
URLS = st.one_of(
    JSON,
    st.builds(lambda path, md5: f"s3://{BUCKET}/PMC7.2/{path}?md5={md5}", st.text(max_size=20), st.text(max_size=34)),
    st.lists(st.sampled_from(["PMC7.2", "..", ".", "", "x.pdf", "g.jpg"])).map(
        lambda parts: f"s3://{BUCKET}/" + "/".join(parts)
    ),
)
FIELDS = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(GOOD, JSON),
        "pmcid": JSON | st.sampled_from(["PMC7", "PMC8"]),
        "pdf_url": URLS,
        "xml_url": URLS,
        "media_urls": st.lists(URLS, max_size=4) | JSON,
    },
)


@examples(300, suppress_health_check=[HealthCheck.too_slow])
@given(FIELDS | JSON)
def test_any_json_gives_a_listing_inside_the_versions_folder_or_an_article_error(fields: Any) -> None:
    try:
        package = listing_from_metadata(json.dumps(fields).encode(), VERSION, BUCKET)
    except ArticleError:
        return
    assert package.article_id == 7
    for file in package.files:
        assert PurePosixPath("/", file.path).is_relative_to("/PMC7.2")
        assert ".." not in PurePosixPath(file.path).parts
        assert file.path.isprintable()
    manifest_rows([package], "pmc://x")
    json.dumps(dataclasses.asdict(package)).encode()


@examples(200)
@given(st.binary(max_size=200))
def test_any_bytes_give_an_article_error(content: bytes) -> None:
    with pytest.raises(ArticleError):
        listing_from_metadata(content, VERSION, BUCKET)


def test_the_digest_changes_with_files_licence_and_retraction_and_with_nothing_else() -> None:
    digest = listing().digest
    assert listing(pmid=5, is_historical_ocr=True).digest == digest
    changes: list[dict[str, Any]] = [
        {"license_code": "CC0"},
        {"is_retracted": True},
        {"pdf_url": url("PMC7.2.pdf", "f" * 32)},
        {"media_urls": []},
        {"title": "Eight"},
    ]
    assert len({digest, *(listing(**change).digest for change in changes)}) == 6


# which version counts


def version(number: int, **facts: Any) -> PackageListing:
    return dataclasses.replace(listing(), version=number, name=f"PMC7.{number}", **facts)


def test_a_published_version_counts_before_a_manuscript_then_the_highest() -> None:
    assert best_listing([version(1), version(2)]).version == 2
    assert best_listing([version(1), version(2, is_manuscript=True)]).version == 1
    assert best_listing([version(1, is_manuscript=True), version(2, is_manuscript=True)]).version == 2


def test_a_retraction_of_any_version_holds_for_the_article() -> None:
    best = best_listing([version(1, is_retracted=True), version(2)])
    assert (best.version, best.is_retracted) == (2, True)
    assert best.digest != version(2).digest


# the bucket


@pytest.fixture(scope="module")
def server() -> Iterator[LoopbackPmc]:
    with LoopbackPmc() as started:
        yield started


@pytest.fixture
def pmc(server: LoopbackPmc) -> Iterator[LoopbackPmc]:
    yield server
    for number in {number for number, _ in server.articles}:
        server.delete(number)
    server._traffic.answers.clear()
    server.forget_requests()


@pytest.fixture
def objects(tmp_path: Path) -> ContentStore:
    return ContentStore(DataRoot(str(tmp_path / "data")))


def cloud_of(pmc: LoopbackPmc, objects: ContentStore | None = None, *articles: int) -> PmcCloud:
    return PmcCloud(PmcBucket(PmcOptions(endpoint=pmc.endpoint, pause=0.002, read_timeout=5)), objects, articles)


ARTICLE = CloudArticle(7, xml=b"<article/>", pdf=b"%PDF-1.4")


def test_versions_are_those_of_this_number_in_order(pmc: LoopbackPmc) -> None:
    pmc.put(*(CloudArticle(number, version, xml=b"<a/>") for number, version in ((7, 10), (7, 2), (70, 1), (77, 1))))
    for foreign in ("PMC7.x.json", "PMC7.1.txt", "PMC7.01.json", "PMC7.1.json.bak", "PMC7.0.json"):
        pmc.put_object(f"metadata/{foreign}", b"{}")
    try:
        assert [item.name for item in cloud_of(pmc).versions(7)] == ["PMC7.2", "PMC7.10"]
        assert cloud_of(pmc).versions(8) == []
    finally:
        for key in pmc.object_keys("metadata/PMC7."):
            pmc.delete_object(key)


def test_an_article_that_is_not_there_is_said_to_be_missing(pmc: LoopbackPmc) -> None:
    with pytest.raises(FileMissing, match=r"PMC8 is not in pmc://pmc-oa-opendata: is the number right"):
        cloud_of(pmc).best(8)


def test_listings_are_of_the_versions_that_count_and_rejections_of_the_others(pmc: LoopbackPmc) -> None:
    pmc.put(ARTICLE, CloudArticle(9, xml=b"<a/>"))
    pmc.answer("metadata/PMC9.1.json", Answer.html())
    found = list(cloud_of(pmc, None, 7, 8, 9).listings())
    assert isinstance(found[0], PackageListing)
    assert found[0].name == "PMC7.1"
    assert [(item.unit_id, item.error_class) for item in found[1:] if isinstance(item, Rejection)] == [
        (8, "FileMissing"),
        (9, "UnreadableMetadata"),
    ]


def test_one_version_that_cannot_be_read_blocks_the_article_for_it_may_state_a_retraction(pmc: LoopbackPmc) -> None:
    pmc.put(ARTICLE, dataclasses.replace(ARTICLE, version=2))
    pmc.answer("metadata/PMC7.1.json", Answer(b"{"))
    with pytest.raises(UnreadableMetadata):
        cloud_of(pmc).best(7)


def test_a_version_without_documents_does_not_count_but_its_retraction_does(pmc: LoopbackPmc) -> None:
    bare = CloudArticle(7, 2, license_code="TDM")
    pmc.put(ARTICLE, bare)
    assert cloud_of(pmc).best(7).version == 1
    pmc.put(dataclasses.replace(bare, is_retracted=True))
    assert cloud_of(pmc).best(7).is_retracted
    pmc.delete(7, 1)
    pmc.put(bare)
    with pytest.raises(NoFiles):
        cloud_of(pmc).best(7)


def test_metadata_is_fetched_once_for_an_etag(pmc: LoopbackPmc, objects: ContentStore) -> None:
    pmc.put(ARTICLE)
    first = [cloud_of(pmc, objects).best(7) for _ in range(3)]
    assert first[0] == first[1] == first[2]
    assert pmc.gets(ARTICLE.metadata_key) == 1
    pmc.put(dataclasses.replace(ARTICLE, is_retracted=True))
    assert cloud_of(pmc, objects).best(7).is_retracted
    assert pmc.gets(ARTICLE.metadata_key) == 2


def test_an_etag_that_is_no_md5_is_no_name_of_what_was_fetched(pmc: LoopbackPmc, objects: ContentStore) -> None:
    pmc.put(ARTICLE)
    (listed,) = cloud_of(pmc).versions(7)
    for etag in (f"{listed.etag}-2", "", "../../x"):
        odd = dataclasses.replace(listed, etag=etag)
        assert cloud_of(pmc, objects).listing(odd).article_id == 7
    assert pmc.gets(ARTICLE.metadata_key) == 3


def test_metadata_that_changed_after_it_was_listed_is_not_kept_under_the_old_name(
    pmc: LoopbackPmc, objects: ContentStore
) -> None:
    pmc.put(ARTICLE)
    cloud = cloud_of(pmc, objects)
    (listed,) = cloud.versions(7)
    pmc.put(dataclasses.replace(ARTICLE, is_retracted=True))
    assert cloud.listing(listed).is_retracted
    pmc.put(ARTICLE)
    assert not cloud.listing(listed).is_retracted, "what is found under the MD5 is what has that MD5"


def test_metadata_whose_copy_was_damaged_or_lost_is_fetched_again(pmc: LoopbackPmc, objects: ContentStore) -> None:
    pmc.put(ARTICLE)
    cloud = cloud_of(pmc, objects)
    before = cloud.best(7)
    (copy,) = [path for path in Path(objects.data_root.root).rglob("*.json") if "md5" not in path.parts]
    for damage in (lambda: copy.write_bytes(b"{"), copy.unlink):
        damage()
        assert cloud.best(7) == before
    (note,) = Path(objects.data_root.root).glob("objects/md5/*/*.json")
    for content in (b"", b"\xff", b"../../x.json", b"objects/md5"):
        note.write_bytes(content)
        assert cloud.best(7) == before


# fetching


def test_a_file_is_fetched_once_and_the_limit_holds_for_what_is_there_already(
    pmc: LoopbackPmc, objects: ContentStore
) -> None:
    pmc.put(ARTICLE)
    cloud = cloud_of(pmc, objects)
    (row,) = manifest_rows([cloud.best(7)], cloud.uri)
    first = fetch_package(row, cloud, objects, FetchLimits())
    assert fetch_package(row, cloud, objects, FetchLimits()).rows == first.rows
    assert pmc.gets(ARTICLE.key("pdf")) == 1
    limited = fetch_package(row, cloud, objects, FetchLimits(max_pdf_bytes=3))
    fresh = fetch_package(
        row, cloud, ContentStore(DataRoot(objects.data_root.root + "2")), FetchLimits(max_pdf_bytes=3)
    )
    assert [item.error_class for item in limited.rejections] == ["FileTooLarge"]
    assert limited.rows == fresh.rows, "the same rows, whatever was fetched before"


@pytest.mark.parametrize("answer", [Answer.html(), Answer.empty(), Answer(b"%PDF-1.5")])
def test_other_bytes_than_stated_are_a_rejection_and_not_kept(
    pmc: LoopbackPmc, objects: ContentStore, answer: Answer
) -> None:
    pmc.put(ARTICLE)
    pmc.answer(ARTICLE.key("pdf"), answer)
    cloud = cloud_of(pmc, objects)
    (row,) = manifest_rows([cloud.best(7)], cloud.uri)
    output = fetch_package(row, cloud, objects, FetchLimits())
    assert [item.error_class for item in output.rejections] == ["ChecksumMismatch"]
    assert output.rows[0]["pdf"] is None
    pmc.answer(ARTICLE.key("pdf"), None)
    assert fetch_package(row, cloud, objects, FetchLimits()).rejections == []


def test_a_retraction_reaches_the_tables_also_when_no_file_can_be_fetched(
    pmc: LoopbackPmc, objects: ContentStore
) -> None:
    pmc.put(dataclasses.replace(ARTICLE, is_retracted=True))
    cloud = cloud_of(pmc, objects)
    (row,) = manifest_rows([cloud.best(7)], cloud.uri)
    for key in (ARTICLE.key("pdf"), ARTICLE.key("xml")):
        pmc.delete_object(key)
    output = fetch_package(row, cloud, objects, FetchLimits())
    assert [item.error_class for item in output.rejections] == ["FileMissing"] * 2
    assert output.rows[0]["is_retracted"]


@pytest.mark.parametrize("fact", [{"doi": "10.1000/other"}, {"is_manuscript": True}, {"license_code": "CC BY-ND"}])
def test_a_change_of_any_fact_that_rows_are_made_of_is_a_change_of_the_package(fact: dict[str, Any]) -> None:
    before, after = (
        listing_from_metadata(json.dumps({**GOOD, **facts}).encode(), VERSION, BUCKET) for facts in ({}, fact)
    )
    assert before.digest != after.digest


def test_a_mirror_under_another_name_holds_the_same_packages() -> None:
    """Copied with `aws s3 sync`, it names PMC's own bucket in each URL; what was registered is not registered again."""
    content = json.dumps(GOOD).encode()
    assert listing_from_metadata(content, VERSION, "a-mirror") == listing_from_metadata(content, VERSION, BUCKET)
