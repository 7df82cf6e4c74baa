"""`CITATION.cff`: what Citation File Format 1.2.0 asks for, and no date."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from pmo_assets.release.facts import ReleaseFacts
from pmo_assets.release.hub.citation import bibtex, citation_file


def keys(value: Any) -> set[str]:
    if isinstance(value, dict):
        return set(value).union(*(keys(item) for item in value.values()))
    return set().union(*(keys(item) for item in value)) if isinstance(value, list) else set()


def test_it_is_a_dataset_that_names_software_and_paper(facts: ReleaseFacts) -> None:
    content = yaml.safe_load(citation_file(facts))
    assert {"authors", "cff-version", "message", "title"} <= set(content), "what the format requires"
    assert (content["cff-version"], content["type"], content["version"]) == ("1.2.0", "dataset", "1.2.0")
    assert [item["type"] for item in content["references"]] == ["article", "software"]
    assert all({"authors", "title", "type"} <= set(item) for item in content["references"])
    assert content["references"][1]["version"] == "0.9.1"
    assert not any(name.startswith("date") for name in keys(content)), "a date would differ from run to run"


def test_it_fulfils_the_formats_schema(facts: ReleaseFacts) -> None:
    """With the schema in the package cffconvert, which is not among ours because it needs an old jsonschema."""
    package = pytest.importorskip("cffconvert")
    jsonschema = pytest.importorskip("jsonschema")
    (path,) = Path(package.__file__).parent.rglob("1.2.0/schema.json")
    jsonschema.Draft7Validator(json.loads(path.read_text("utf-8"))).validate(yaml.safe_load(citation_file(facts)))


def test_the_bibtex_entries_name_version_and_paper(facts: ReleaseFacts) -> None:
    text = bibtex(facts)
    assert text.count("{") == text.count("}")
    assert text.count("@") == 2
    assert "version = {1.2.0}" in text
    assert "arXiv:2605.02720" in text
