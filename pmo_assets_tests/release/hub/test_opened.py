"""The folder opened by what people use, without our code: the same rows and pictures everywhere."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow.dataset as pa_dataset
import pytest
from PIL import Image

from pmo_assets.tables.release import CONFIGS
from pmo_assets_tests.release.hub_folder import SPLITS, WITHHELD_ARTICLE, rows_of

SPLIT_NAMES = tuple(dict.fromkeys(SPLITS.values()))


def expected(config: str, *splits: str) -> dict[str, dict[str, Any]]:
    """Return the rows of some splits, or of all, by what identifies them."""
    return by_key(config, (row for split in splits or SPLIT_NAMES for row in rows_of(config, split)))


def by_key(config: str, rows: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    key = {"panels": "panel_id", "pairs": "pair_id", "instructions": "instruction_id", "videos": "pair_id"}.get(
        config, "article_id"
    )
    return {str(row[key]): dict(row) for row in rows}


def is_picture(name: str) -> bool:
    return name.endswith("_image") or name == "picture"


def without_pictures(rows: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    return {key: {name: value for name, value in row.items() if not is_picture(name)} for key, row in rows.items()}


def same_picture(shown: Image.Image, stored: Mapping[str, Any]) -> bool:
    return shown.convert("RGB").tobytes() == Image.open(io.BytesIO(stored["bytes"])).convert("RGB").tobytes()


@pytest.mark.slow
@pytest.mark.usefixtures("offline_datasets")
@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("config", CONFIGS)
def test_datasets_opens_the_folder(config: str, streaming: bool, hub_folder: Path) -> None:
    import datasets

    for split in SPLIT_NAMES:
        loaded = datasets.load_dataset(str(hub_folder), config, split=split, streaming=streaming)
        rows = by_key(config, loaded)
        assert without_pictures(rows) == without_pictures(expected(config, split))
        for name in (name for name in loaded.column_names if is_picture(name)):
            for key, row in expected(config, split).items():
                if row[name] is None:
                    assert rows[key][name] is None
                else:
                    assert same_picture(rows[key][name], row[name])


@pytest.mark.usefixtures("offline_datasets")
def test_the_default_config_is_panels_and_has_the_splits(hub_folder: Path) -> None:
    import datasets

    loaded = datasets.load_dataset(str(hub_folder))
    assert {split: len(rows) for split, rows in loaded.items()} == {"train": 4, "validation": 2, "test": 2}
    assert "panel_image" in loaded["train"].features
    assert datasets.get_dataset_config_names(str(hub_folder)) == list(CONFIGS)


@pytest.mark.usefixtures("offline_datasets")
@pytest.mark.parametrize("streaming", [False, True])
def test_datasets_opens_the_files_alone(streaming: bool, hub_folder: Path, tmp_path: Path) -> None:
    """Without the card beside them: the features stand in the files."""
    import datasets

    files = str(hub_folder / "data" / "panels" / "train-*.parquet")
    loaded = datasets.load_dataset("parquet", data_files={"train": files}, split="train", streaming=streaming)
    assert isinstance(loaded.features["panel_image"], datasets.Image)
    (panel,) = (row for row in loaded if row["panel_id"] == "PMC101_F1.x_B")
    assert isinstance(panel["panel_image"], Image.Image)
    assert panel["images"][0]["box"] == [0.0, 0.0, 0.5, 1.0]


def test_polars_opens_the_folder(hub_folder: Path) -> None:
    import polars as pl

    for config in CONFIGS:
        table = pl.scan_parquet(hub_folder / "data" / config / "*.parquet").collect()
        assert by_key(config, table.iter_rows(named=True)) == expected(config)


def test_pandas_opens_the_folder(hub_folder: Path) -> None:
    pd = pytest.importorskip("pandas")
    panels = pd.read_parquet(hub_folder / "data" / "panels").set_index("panel_id")
    assert list(panels.index) == list(expected("panels", "test", "train", "validation"))
    for key, row in expected("panels").items():
        assert panels.loc[key, "subcaption_text"] == row["subcaption_text"] or row["subcaption_text"] is None
        assert [dict(image)["id"] for image in panels.loc[key, "images"]] == [image["id"] for image in row["images"]]


def test_duckdb_opens_the_folder(hub_folder: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    query = f"SELECT * FROM '{hub_folder}/data/{{}}/*.parquet'"
    with duckdb.connect() as connection:
        for config in CONFIGS:
            found = connection.sql(query.format(config)).to_arrow_table().to_pylist()
            assert by_key(config, found) == expected(config)
        boxes = connection.sql(f"SELECT images[1].box[4] AS bottom FROM ({query.format('panels')})").fetchall()
        joined = connection.sql(
            f"SELECT count(*) FROM ({query.format('panels')}) JOIN ({query.format('figures')}) "
            "USING (article_id, image_cluster_id)"
        ).fetchall()
    assert (boxes, joined) == ([(1.0,)] * 8, [(8,)])


def test_a_pyarrow_dataset_opens_the_folder(hub_folder: Path) -> None:
    for config in CONFIGS:
        opened = pa_dataset.dataset(hub_folder / "data" / config, format="parquet")
        assert by_key(config, opened.to_table().to_pylist()) == expected(config)
    opened = pa_dataset.dataset(hub_folder / "data" / "panels", format="parquet")
    free = opened.to_table(filter=pa_dataset.field("license") == "CC BY", columns=["article_id"])
    assert WITHHELD_ARTICLE not in free["article_id"].to_pylist()


def text(value: Any) -> Any:
    """Return a value as Python has it: `mlcroissant` gives texts as bytes, and names with their record set."""
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, list):
        items = [text(item) for item in value]
        # … and of a list of structs that is null one of nulls
        is_null = [isinstance(item, dict) and all(part is None for part in item.values()) for item in items]
        return None if any(is_null) else items
    if isinstance(value, dict):
        return {name.rpartition("/")[2]: text(item) for name, item in value.items()}
    return value


@pytest.mark.parametrize(
    "config", ["panels", *(pytest.param(name, marks=pytest.mark.slow) for name in CONFIGS if name != "panels")]
)
def test_mlcroissant_opens_the_folder(config: str, hub_folder: Path) -> None:
    croissant = pytest.importorskip("mlcroissant")
    opened = croissant.Dataset(os.fspath(hub_folder / "croissant.json"))
    rows = by_key(config, (text(record) for record in opened.records(config)))
    assert without_pictures(rows) == without_pictures(expected(config))
    for key, row in expected(config).items():
        for name in (name for name in row if name.endswith("_image")):
            if row[name] is None:
                assert rows[key][name] is None
            else:
                assert same_picture(rows[key][name], row[name])
