"""The Croissant description: valid, and about the files that are there."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from pmo_assets.release.facts import ReleaseFacts
from pmo_assets.release.hub.croissant import croissant, croissant_file
from pmo_assets.release.hub.sums import file_digest
from pmo_assets.tables.release import CONFIGS

mlcroissant = pytest.importorskip("mlcroissant")


@pytest.mark.slow
def test_it_is_valid_and_only_the_date_is_missing(hub_folder: Path) -> None:
    """A date would differ between two releases of the same rows."""
    issues = mlcroissant.Dataset(os.fspath(hub_folder / "croissant.json")).metadata.ctx.issues
    assert issues.errors == set()
    assert [text for text in issues.warnings if "datePublished" not in text] == []


def test_every_parquet_file_is_there_with_its_size_and_sum(hub_folder: Path, facts: ReleaseFacts) -> None:
    files = [item for item in croissant(facts)["distribution"] if item["@type"] == "cr:FileObject"]
    assert {item["contentUrl"] for item in files} == {
        path.relative_to(hub_folder).as_posix() for path in hub_folder.rglob("*.parquet")
    }
    for item in files:
        path = hub_folder / item["contentUrl"]
        assert (item["sha256"], item["contentSize"]) == (file_digest(path), f"{path.stat().st_size} B")


def test_the_splits_are_a_record_set_that_rows_refer_to(hub_folder: Path, facts: ReleaseFacts) -> None:
    opened = mlcroissant.Dataset(os.fspath(hub_folder / "croissant.json"))
    assert [record["splits/name"] for record in opened.records("splits")] == ["train", "validation", "test"]
    for config in croissant(facts)["recordSet"][1:]:
        (split,) = (field for field in config["field"] if field["name"] == "split")
        assert split["references"] == {"field": {"@id": "splits/name"}}


def test_responsible_use_is_described_in_terms_that_readers_know(hub_folder: Path) -> None:
    metadata = mlcroissant.Dataset(os.fspath(hub_folder / "croissant.json")).metadata
    assert "2 panels lie under a licence" in metadata.data_collection_missing_data
    assert any("Not for clinical use" in text for text in metadata.data_use_cases)
    assert metadata.data_limitations
    assert metadata.personal_sensitive_information


def test_the_same_facts_give_the_same_text_without_a_path(hub_folder: Path, facts: ReleaseFacts) -> None:
    assert croissant_file(facts) == (hub_folder / "croissant.json").read_text(encoding="utf-8")
    assert str(hub_folder) not in croissant_file(facts)
    assert [item["@id"] for item in json.loads(croissant_file(facts))["recordSet"]] == ["splits", *CONFIGS]
