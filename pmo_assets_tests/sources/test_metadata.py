"""What metadata states, and what counts as stated when it cannot be read."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.sources.metadata import read_metadata


def test_the_metadata_of_the_pmc_cloud_service_is_read() -> None:
    fields = {
        "pmcid": "PMC10009416", "version": 1, "pmid": "36908734", "doi": "10.1/x", "title": "T", "citation": "C",
        "is_pmc_openaccess": True, "is_manuscript": False, "is_historical_ocr": False, "is_retracted": False,
        "license_code": "CC BY", "xml_url": "s3://…", "media_urls": ["s3://…"], "text_url": None,
    }  # fmt: skip
    read = read_metadata(json.dumps(fields).encode())
    assert read.problem is None
    assert (read.stated.pmcid, read.stated.version, read.stated.license_code) == ("PMC10009416", 1, "CC BY")


def test_null_states_nothing() -> None:
    read = read_metadata(b'{"is_retracted": null, "is_manuscript": null, "license_code": null, "version": null}')
    assert read.problem is None
    assert not read.stated.is_retracted


@pytest.mark.parametrize("value", [True, "true", "True", "yes", 1, 1.0, "1"])
def test_a_retraction_is_one_however_it_is_written(value: object) -> None:
    read = read_metadata(json.dumps({"is_retracted": value}).encode())
    assert read.stated.is_retracted
    assert read.problem is None


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "no JSON"),
        (b"{", "no JSON"),
        (b'{"is_retracted": true', "no JSON"),
        (b"\xff\xfe\x00", "no JSON"),
        (b"[" * 100_000, "nested"),
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "nested"),
        (b"[]", "no JSON object"),
        (b'"CC BY"', "no JSON object"),
        (b'{"license_code": ["CC BY"]}', "license_code"),
        (b'{"license_code": 4}', "license_code"),
        (b'{"is_retracted": "perhaps"}', "is_retracted"),
        (b'{"is_retracted": [true], "license_code": "CC BY"}', "is_retracted"),
        (b'{"is_retracted": true, "is_retracted": false}', "twice"),
        (
            b'{"\\ud800": 1, "\\ud800": 2, "license_code": "CC BY", "license_code": "CC0"}',
            "license_code is there twice",
        ),
    ],
)
def test_what_may_have_stated_a_retraction_or_a_licence_leaves_the_licence_unknown(content: bytes, words: str) -> None:
    read = read_metadata(content)
    assert read.license_unknown
    assert words in str(read.problem)
    assert str(read.problem).encode(), "a table can hold it"


def test_the_fields_that_are_right_count_beside_a_wrong_one() -> None:
    read = read_metadata(b'{"license_code": ["CC BY"], "is_retracted": true, "title": "T"}')
    assert (read.stated.is_retracted, read.stated.title, read.stated.license_code) == (True, "T", None)


@pytest.mark.parametrize("field", ["title", "citation", "pmcid", "version", "is_manuscript"])
def test_a_wrong_type_that_decides_nothing_is_named_and_the_licence_counts(field: str) -> None:
    read = read_metadata(json.dumps({field: ["x"], "license_code": "CC BY"}).encode())
    assert field in str(read.problem)
    assert not read.license_unknown
    assert read.stated.license_code == "CC BY"


@pytest.mark.parametrize(("value", "version"), [(2, 2), ("2", 2), (2.0, 2), (2.5, None), (-1, None), (10**30, None)])
def test_versions(value: object, version: int | None) -> None:
    assert read_metadata(json.dumps({"version": value}).encode()).stated.version == version


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from(["license_code", "is_retracted", "version", "title", "x"]), json_values))
def test_a_licence_is_text_as_stated_or_unknown(fields: dict[str, object]) -> None:
    read = read_metadata(json.dumps(fields).encode())
    stated = fields.get("license_code")
    assert read.stated.license_code == (stated if isinstance(stated, str) else None)
    assert read.license_unknown or stated is None or isinstance(stated, str)
    assert read.stated.is_retracted or read.license_unknown or fields.get("is_retracted") is not True


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_explained(content: bytes) -> None:
    read = read_metadata(content)
    assert (read.problem is not None) >= read.license_unknown
