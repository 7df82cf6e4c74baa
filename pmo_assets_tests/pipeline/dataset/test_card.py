"""The dataset card: a valid head for Hugging Face, and the release's own numbers."""

from __future__ import annotations

import dataclasses

import pytest
import yaml

from pmo_assets.pipeline.articles.relevance import load_specialty
from pmo_assets.pipeline.dataset.card import ReleaseFacts, dataset_card
from pmo_assets.pipeline.dataset.licensing import withheld

FACTS = ReleaseFacts(
    rows=1234,
    withheld=7,
    articles=90,
    figures=400,
    licences={"CC BY": 1200, "CC BY-ND": 34},
    contains={"cfp": 10},
    assembly={"Automatic Caption Assignment (identifier)": 1234},
    columns=[("panel_id", "String", "a | b")],
    specialty=load_specialty("ophthalmology"),
    version="1.2.3",
)


def head(card: str) -> dict[str, object]:
    loaded = yaml.safe_load(card.split("---")[1])
    assert isinstance(loaded, dict)
    return loaded


def test_the_head_is_yaml_that_names_the_file() -> None:
    metadata = head(dataset_card(FACTS))
    assert metadata["configs"] == [{"config_name": "default", "data_files": "pubmed_ophtha.parquet"}]
    assert metadata["size_categories"] == ["1K<n<10K"]


@pytest.mark.parametrize(("rows", "size"), [(5, "n<1K"), (10_000, "10K<n<100K"), (99 * 10**6, "10M<n<100M")])
def test_the_size_category_follows_the_rows(rows: int, size: str) -> None:
    assert head(dataset_card(dataclasses.replace(FACTS, rows=rows)))["size_categories"] == [size]


def test_the_text_has_the_numbers_and_tables_stay_tables() -> None:
    card = dataset_card(FACTS)
    assert "1234 panels of 400 figures from 90" in card
    assert "7 rows lie under a licence" in card
    assert "| CC BY-ND | 34 |" in card
    assert "a \\| b" in card
    assert "2605.02720" in card


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("CC0", False),
        ("CC BY", False),
        ("CC BY-NC-SA", False),
        ("CC BY-ND", True),
        ("CC BY-NC-ND", True),
        ("TDM", True),
        (None, True),
    ],
)
def test_what_a_release_withholds(code: str | None, expected: bool) -> None:
    assert withheld(code) is expected
