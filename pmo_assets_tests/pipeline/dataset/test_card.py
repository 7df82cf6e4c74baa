"""The dataset card: a valid head for Hugging Face, and the release's own numbers."""

from __future__ import annotations

import dataclasses
import re
from datetime import date

import pytest
import yaml

from pmo_assets.pipeline.articles.relevance import load_specialty
from pmo_assets.pipeline.dataset.card import LICENSE_FILE, ReleaseFacts, dataset_card, license_file

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
    deeds=[("CC BY", "https://creativecommons.org/licenses/by/4.0/", 1200), ("CC BY-ND", None, 30), (None, None, 4)],
    duplicates=5,
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
    assert "7 rows lie under a licence" in " ".join(card.split())
    assert "| CC BY-ND | 34 |" in card
    assert "a \\| b" in card
    assert "2605.02720" in card


def test_the_head_names_the_licence_as_the_hub_wants_it() -> None:
    """The hub's card format: a licence of one's own is `other`, with an identifier and a URL or one of two names."""
    metadata = head(dataset_card(FACTS))
    assert metadata["license"] == "other"
    assert re.fullmatch(r"[a-z0-9.-]+", str(metadata["license_name"]))
    assert metadata["license_link"] in ("LICENSE", "LICENSE.md")
    assert metadata["license_link"] == LICENSE_FILE, "the file that the release holds"


def test_the_licence_file_lists_the_licences_with_their_deeds() -> None:
    text = license_file(FACTS)
    assert "| CC BY | https://creativecommons.org/licenses/by/4.0/ | 1200 |" in text
    assert "| CC BY-ND | no version stated | 30 |" in text
    assert "| none stated | no version stated | 4 |" in text
    assert "`panel_image_bytes`" in text


def test_the_card_says_that_articles_are_published_once_and_links_the_licences() -> None:
    card = dataset_card(FACTS)
    assert f"[{LICENSE_FILE}]({LICENSE_FILE})" in card
    assert "5 packages" in card
    assert "`subcaption_text`, `panel_image_bytes`, `in_text_mention` are null" in " ".join(card.split())


def test_the_card_says_how_current_the_articles_are() -> None:
    assert "PubMed Central was last searched on" not in dataset_card(FACTS)
    card = dataset_card(dataclasses.replace(FACTS, searched_on=date(2026, 1, 31)))
    assert "PubMed Central was last searched on 2026-01-31." in card
    assert "`retractions.parquet`" in card
