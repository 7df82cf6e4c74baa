"""Features as the package `datasets` reads them."""

from __future__ import annotations

import pyarrow as pa
import pytest

from pmo_assets.release.hub.features import card_features, feature_metadata, features
from pmo_assets.tables.release import CONFIGS
from pmo_assets_tests.release.hub_folder import hub_schema

datasets = pytest.importorskip("datasets")


@pytest.mark.parametrize("config", CONFIGS)
def test_datasets_reads_the_features_and_they_are_the_files_types(config: str) -> None:
    schema = hub_schema(config)
    read = datasets.Features.from_arrow_schema(schema)
    assert read.arrow_schema.remove_metadata() == schema.remove_metadata()
    assert read == datasets.Features.from_dict(features(schema))
    pictures = [name for name, feature in read.items() if isinstance(feature, datasets.Image)]
    assert (
        pictures
        == {
            "panels": ["panel_image"],
            "figures": ["figure_image"],
            "articles": [],
            "pairs": [],
            "instructions": [],
            "videos": ["picture"],
        }[config]
    )
    assert read["split"] == datasets.Value("string")


@pytest.mark.parametrize("config", CONFIGS)
def test_the_cards_spelling_is_the_one_that_datasets_writes(config: str) -> None:
    read = datasets.Features.from_arrow_schema(hub_schema(config))
    assert card_features(hub_schema(config)) == read._to_yaml_list()
    assert datasets.Features._from_yaml_list(card_features(hub_schema(config))) == read


def test_lists_of_structs_stay_lists_of_structs() -> None:
    read = datasets.Features.from_arrow_schema(hub_schema("panels"))
    assert read["images"].feature["box"].feature == datasets.Value("float64")
    assert read["subcaption_segments"].feature.feature == datasets.Value("int64")


def test_a_type_without_a_feature_stops_the_writer() -> None:
    with pytest.raises(ValueError, match=r"no feature .* date32"):
        feature_metadata(pa.schema([pa.field("day", pa.date32())]))
