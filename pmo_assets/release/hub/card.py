"""The dataset card: `README.md` with the YAML head that the Hugging Face hub reads.

Every number is from the release's facts; the words are in `card_sections`. The head follows the hub's documentation of
dataset cards (https://huggingface.co/docs/hub/datasets-cards) and of configs (…/datasets-manual-configuration).
"""

from __future__ import annotations

from typing import Any

import yaml

from pmo_assets.release.facts import ConfigFacts, ReleaseFacts
from pmo_assets.release.hub.card_sections import body
from pmo_assets.release.hub.features import card_features
from pmo_assets.release.hub.licence_list import LICENSE_FILE, LICENSE_NAME
from pmo_assets.tables.release import arrow_schema, release_tables

CARD_FILE = "README.md"

_SIZES = (
    (10**3, "n<1K"),
    (10**4, "1K<n<10K"),
    (10**5, "10K<n<100K"),
    (10**6, "100K<n<1M"),
    (10**7, "1M<n<10M"),
    (10**8, "10M<n<100M"),
)
"""Hugging Face's size categories by their upper limit."""


def dataset_card(facts: ReleaseFacts) -> str:
    """Return the card as Markdown with the YAML head that Hugging Face reads."""
    head: str = yaml.safe_dump(card_head(facts), sort_keys=False, allow_unicode=True, width=120)
    return f"---\n{head}---\n\n{body(facts)}"


def card_head(facts: ReleaseFacts) -> dict[str, Any]:
    """Return the card's metadata."""
    configs = [config for config in facts.configs if any(config.files.values())]
    return {
        "pretty_name": facts.specialty.title,
        "license": "other",
        "license_name": LICENSE_NAME,
        "license_link": LICENSE_FILE,
        "language": ["en"],
        "multilinguality": ["monolingual"],
        "annotations_creators": ["machine-generated"],
        "language_creators": ["found"],
        "source_datasets": ["original"],
        "task_categories": ["image-to-text", "zero-shot-image-classification", "object-detection"],
        "task_ids": ["image-captioning"],
        "tags": ["medical", facts.specialty.name, "pubmed-central", "figures", "image-text", "croissant"],
        "size_categories": [next((name for limit, name in _SIZES if facts.panels < limit), "100M<n<1B")],
        "configs": [_config(config, is_default=position == 0) for position, config in enumerate(configs)],
        "dataset_info": [_info(config) for config in configs],
    }


def _config(config: ConfigFacts, *, is_default: bool) -> dict[str, Any]:
    """Return the files of a config's splits, for the hub."""
    return {
        "config_name": config.name,
        **({"default": True} if is_default else {}),
        "data_files": [{"split": split, "path": f"data/{config.name}/{split}-*.parquet"} for split in config.rows],
    }


def _info(config: ConfigFacts) -> dict[str, Any]:
    """Return a config's features and sizes; `datasets` counts the rows that it reads against them."""
    in_memory = {split: sum(file.arrow_bytes for file in files) for split, files in config.files.items()}
    return {
        "config_name": config.name,
        "features": card_features(arrow_schema(release_tables()[config.name])),
        "splits": [
            {"name": split, "num_bytes": in_memory[split], "num_examples": rows} for split, rows in config.rows.items()
        ],
        "download_size": config.size,
        "dataset_size": sum(in_memory.values()),
    }
