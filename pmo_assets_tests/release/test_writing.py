"""The tables of a release: every column of every form is what the batches' tables say, or null by licence."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from pmo_assets.pictures import compact_bytes, decoded_bytes, pixels_digest, png_bytes
from pmo_assets.pipeline.articles.licences import LICENSE_CODES, TEXT_MINING
from pmo_assets.pipeline.dataset.hub_rows import FIGURE_PICTURE, PANEL_PICTURE
from pmo_assets.pipeline.dataset.published import published_rows
from pmo_assets.pipeline.dataset.splits import SPLITS, article_fraction
from pmo_assets.records.stores import Picture, StorageError
from pmo_assets.release import shards
from pmo_assets.release.row_index import row_digests
from pmo_assets.release.selection import Selection, select_articles
from pmo_assets.release.shards import ShardWriter
from pmo_assets.release.writing import ReleaseOptions, WrittenTables, released_rows, write_tables
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.parquet import WrittenFile
from pmo_assets.storage.pixels import ParquetPixels
from pmo_assets.storage.tables import Tables
from pmo_assets.tables.dataset import DatasetRows
from pmo_assets.tables.release import CONFIGS, RowIndex, WithheldPanels, arrow_schema, hub_table, release_tables
from pmo_assets.tables.schemas import checked
from pmo_assets_tests.release.context_columns import context_columns
from pmo_assets_tests.release.finished import (
    FIGURE_SIDES,
    caption_of,
    dataset_row,
    finish,
    groups_of,
    pixels_of,
    read_table,
    released_context,
)

CODES = [*LICENSE_CODES, TEXT_MINING, None]
OPEN = {"CC0", "CC BY", "CC BY-SA", "CC BY-NC", "CC BY-NC-SA"}
NONCOMMERCIAL = {"CC BY-NC", "CC BY-NC-SA", "CC BY-NC-ND"}
OTHER_TEXTS = ("entities", "mentions", "summary", "abbreviations", "generated_summary", "phrases", "regions")
"""Texts that other tables than `dataset_rows` have, in the order of these tables and of their columns."""
CONTEXT = set(context_columns(None))
CONTENT = {
    *OTHER_TEXTS,
    "subcaption_text",
    "in_text_mention",
    "caption",
    "panel_image_bytes",
    PANEL_PICTURE,
    FIGURE_PICTURE,
}


@pytest.fixture
def tables(tmp_path: Path) -> Tables:
    return Tables(DataRoot(str(tmp_path)))


def write(
    tables: Tables, selection: Selection | None = None, options: ReleaseOptions | None = None, prefix: str = "out/"
) -> WrittenTables:
    options = options or ReleaseOptions()
    selection = selection or select_articles(tables)
    groups = groups_of(tables, selection, options)
    return write_tables(
        tables.data_root, tables, selection, splits=groups.splits, groups=groups.duplicates, options=options,
        prefix=prefix, metadata=lambda schema: {b"columns": str(len(schema)).encode()}, say=lambda _: None,
    )  # fmt: skip


def rows_of(tables: Tables, written: WrittenTables, table: str) -> list[dict[str, Any]]:
    """Return the rows of the published form, or of a config with its splits one after another."""
    if table == "pubmed_ophtha":
        return read_table(tables.data_root, written.published.key).to_dicts()
    return [row for file in shards_of(written, table) for row in read_table(tables.data_root, file.key).to_dicts()]


def shards_of(written: WrittenTables, *configs: str) -> list[WrittenFile]:
    """Return the files of configs, split by split."""
    return [file for config in configs for files in written.configs[config].values() for file in files]


def split_of(number: int) -> str:
    """Return the split of an article that shares no picture: its number decides."""
    place = article_fraction(number)
    return "train" if place < 0.8 else "validation" if place < 0.9 else "test"


@pytest.fixture(scope="module")
def written_batches(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three batches: articles of every licence, with figures whose names sort otherwise than they stand."""
    folder = tmp_path_factory.mktemp("batches")
    tables = Tables(DataRoot(str(folder)))
    first = {100 + place: {"code": code, "figures": {"f10": 1, "f9": 0}} for place, code in enumerate(CODES)}
    finish(tables, "0001-a", first, panels=2)
    finish(tables, "0002-b", {number: {"version": 3} for number in (7, 190)}, panels=11)
    finish(tables, "0003-c", {3: {}, 999: {"rows": 0}})
    return folder


@pytest.fixture
def batches(written_batches: Path, tmp_path: Path) -> Tables:
    """A copy of them."""
    shutil.copytree(written_batches, tmp_path / "batches")
    return Tables(DataRoot(str(tmp_path / "batches")))


PLACES = [
    *((100 + place, code, figure, ordinal, panel, 1) for place, code in enumerate(CODES)
      for ordinal, figure in enumerate(("f9", "f10")) for panel in range(2)),
    *((number, "CC BY", "f1", 0, panel, 3) for number in (7, 190) for panel in range(11)),
    (3, "CC BY", "f1", 0, 0, 1),
]  # fmt: skip
"""Article, licence, figure, its ordinal, panel, version of the article: the panels of `batches` in the release's
order, stated a second time on purpose."""


def source_rows() -> list[dict[str, Any]]:
    return [
        dataset_row(number, code, panel, figure=figure, ordinal=ordinal, article_version=version)
        for number, code, figure, ordinal, panel, version in PLACES
    ]


def encoded(panel: str) -> bytes:
    return compact_bytes(pixels_of(panel))


def shown(row: Mapping[str, Any]) -> bool:
    return row["license"] in OPEN


# what the tables said


def test_the_published_form_says_what_the_tables_say_in_their_order(batches: Tables) -> None:
    found = rows_of(batches, write(batches), "pubmed_ophtha")
    source = source_rows()
    plain = published_rows(checked(DatasetRows, source)).to_dicts()
    by_id = {row["panel_id"]: row for row in plain}
    assert [row["panel_id"] for row in found] == [row["panel_id"] for row in source]
    for row in found:
        picture = row.pop("panel_image_bytes")
        expected = by_id[row["panel_id"]]
        assert row == {name: value if shown(row) or name not in CONTENT else None for name, value in expected.items()}
        assert picture == (png_bytes(pixels_of(row["panel_id"])) if shown(row) else None)


def as_json(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True).encode()


def by_split(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: SPLITS.index(row["split"]))


def test_the_hubs_panels_say_what_the_tables_say(batches: Tables) -> None:
    expected = []
    for row in source_rows():
        picture = {"bytes": encoded(row["panel_id"]), "path": f"{row['panel_id']}.webp"}
        made = {
            **row,
            **released_context(row),
            PANEL_PICTURE: picture,
            "duplicate_group": None,
            "split": split_of(row["article_id"]),
        }
        expected.append({name: value if shown(row) or name not in CONTENT else None for name, value in made.items()})
    found = rows_of(batches, write(batches), "panels")
    assert len({row["split"] for row in found}) == 3, "or the test shows less than it should"
    assert found == by_split(expected)


def test_the_hubs_figures_say_what_the_tables_say(batches: Tables) -> None:
    expected: dict[tuple[int, str], dict[str, Any]] = {}
    for row in source_rows():
        key = number, figure = row["article_id"], row["image_cluster_id"]
        pixels = png_bytes(pixels_of(f"{number} {figure}", FIGURE_SIDES))
        made = expected.setdefault(
            key,
            {
                "article_id": number,
                "image_cluster_id": figure,
                "figure_ordinal": row["figure_ordinal"],
                "figure_label": row["figure_label"],
                FIGURE_PICTURE: {"bytes": pixels, "path": f"{number}_{figure}.png"},
                "picture_width": FIGURE_SIDES[0],
                "picture_height": FIGURE_SIDES[1],
                "dpi": 300.0,
                "caption": caption_of(number, figure),
                "caption_page_boxes": [{"page": row["figure_ordinal"], "bbox": [10.0, 80.0, 110.0, 90.0]}],
                "page_sizes": [{"page": row["figure_ordinal"], "width": 595.0, "height": 842.5}],
                "matched": True,
                "panel_ids": [],
                "split": split_of(number),
                **{
                    name: row[name]
                    for name in (
                        "in_text_mention", "is_multi_page_figure", "figure_page_boxes", "contains_cfp", "contains_oct",
                        "contains_retinal", "contains_other", "contains_marked", "license", "license_url",
                        "rights_statement",
                        "commercial_use", "attribution", "title", "authors", "journal", "year", "doi", "article_url",
                        "article_version",
                    )
                },
            },
        )  # fmt: skip
        made["panel_ids"].append(row["panel_id"])
    for made in expected.values():
        if not shown(made):
            made.update(dict.fromkeys(CONTENT & set(made)))
    assert rows_of(batches, write(batches), "figures") == by_split(list(expected.values()))


def test_a_figure_contains_what_any_of_its_panels_does(tables: Tables) -> None:
    finish(tables, "0001-a", {1: {}}, panels=2)
    rows = tables.read("dataset_rows", "0001-a").to_dicts()
    rows[0].update(contains_oct=False, contains_marked=False)
    rows[1].update(contains_cfp=True, contains_marked=False)
    tables.write("dataset_rows", "0001-a", rows)
    (figure,) = rows_of(tables, write(tables), "figures")
    assert {name for name in figure if name.startswith("contains_") and figure[name]} == {
        "contains_cfp",
        "contains_oct",
    }


def test_the_hubs_articles_say_what_the_tables_say(batches: Tables) -> None:
    expected: dict[int, dict[str, Any]] = {}
    for row in source_rows():
        number = row["article_id"]
        made = expected.setdefault(
            number,
            {
                "article_id": number,
                "package": f"n{number}",
                "pmcid": None,
                "pmid": f"3{number}",
                "citation": f"J. 2024; {number % 100}: 1",
                "mesh_terms": ["Retina"],
                "keywords": ["optic disc", f"{number}"],
                "is_manuscript": False,
                "figures": set(),
                "panels": 0,
                "split": split_of(number),
                **{
                    name: row[name]
                    for name in (
                        "doi", "title", "authors", "journal", "year", "license", "license_url", "commercial_use",
                        "attribution", "article_url", "article_version",
                    )
                },
            },
        )  # fmt: skip
        made["figures"].add(row["image_cluster_id"])
        made["panels"] += 1
    counted = [{**made, "figures": len(made["figures"])} for made in expected.values()]
    assert rows_of(batches, write(batches), "articles") == by_split(counted), "999 has no panel and is not there"


@pytest.mark.parametrize("table", release_tables())
def test_every_table_has_the_columns_and_types_of_its_schema(batches: Tables, table: str) -> None:
    written = write(batches)
    schema = arrow_schema(release_tables()[table])
    for file in [written.published] if table == "pubmed_ophtha" else shards_of(written, table):
        found = pq.read_schema(io.BytesIO(batches.data_root.read(file.key)))
        assert found.names == schema.names
        assert found.equals(schema)
        described = {b"columns": str(len(schema)).encode()} if table in CONFIGS else {}
        assert (found.metadata or {}) == described


# order and places


OF_ARTICLES = [config for config in CONFIGS if config != "videos"]


def test_a_file_per_split_and_all_rows_of_an_article_in_its_own(batches: Tables) -> None:
    written = write(batches)
    for config in OF_ARTICLES:
        assert list(written.configs[config]) == list(SPLITS)
        for split, files in written.configs[config].items():
            assert [file.key for file in files] == [f"out/hub/data/{config}/{split}-00000.parquet"]
            read = read_table(batches.data_root, files[0].key)
            assert set(read["split"]) == {split}
            assert {split_of(number) for number in read["article_id"]} == {split}
    assert batches.data_root.tree("out") == [
        *(f"hub/data/{config}/{split}-00000.parquet" for config in sorted(OF_ARTICLES) for split in sorted(SPLITS)),
        "hub/withheld.parquet", "pubmed_ophtha.parquet", "rows.parquet",
    ]  # fmt: skip


def test_a_split_without_rows_has_no_file(tables: Tables) -> None:
    number = next(number for number in range(1, 99) if split_of(number) == "test")
    finish(tables, "0001-a", {number: {}})
    written = write(tables)
    found: dict[str, list[str]] = {config: list(files) for config, files in written.configs.items()}
    assert found == {config: [] if config == "videos" else ["test"] for config in CONFIGS}


@pytest.mark.slow
def test_each_article_is_taken_from_the_batch_that_counts_in_the_sequence_of_batches(tables: Tables) -> None:
    finish(tables, "0002-b", {1: {"version": 2}, 5: {}})
    finish(tables, "0001-a", {1: {}, 9: {}})
    rows = rows_of(tables, write(tables), "panels")
    assert [(row["article_id"], row["article_version"]) for row in rows] == [(9, 1), (1, 2), (5, 1)]


@pytest.mark.slow
def test_shards_follow_each_other_and_together_are_the_table(batches: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = rows_of(batches, write(batches, prefix="one/"), "panels")
    monkeypatch.setattr(shards, "GROUP_ROWS", 3)
    defaults = ShardWriter.__init__.__kwdefaults__
    assert defaults is not None
    monkeypatch.setitem(defaults, "shard_bytes", 40_000)
    written = write(batches, prefix="many/")
    keys = [file.key for file in written.configs["panels"]["train"]]
    assert keys == [f"many/hub/data/panels/train-{number:05d}.parquet" for number in range(len(keys))]
    assert len(keys) > 2
    assert rows_of(batches, written, "panels") == whole
    for row in rows_of(batches, written, "pubmed_ophtha"):
        assert (row["panel_image_bytes"] is not None) == shown(row)


def test_what_is_withheld_moves_no_row_into_another_group(batches: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "GROUP_BYTES", 5 * 4096 + 3000)

    def boundaries(options: ReleaseOptions, prefix: str) -> list[list[int]]:
        written = write(batches, options=options, prefix=prefix)
        # a withheld row has no pair
        files = [
            written.published,
            *shards_of(written, *(config for config in CONFIGS if config not in ("pairs", "instructions"))),
        ]
        found = [pq.read_metadata(io.BytesIO(batches.data_root.read(file.key))) for file in files]
        return [[file.row_group(number).num_rows for number in range(file.num_row_groups)] for file in found]

    with_gaps = boundaries(ReleaseOptions(), "gaps/")
    assert boundaries(ReleaseOptions(withhold=False), "whole/") == with_gaps
    assert max(map(len, with_gaps)) > 3


# what is left out


def test_for_oneself_nothing_is_withheld(batches: Tables) -> None:
    written = write(batches, options=ReleaseOptions(withhold=False))
    for table in release_tables():
        for row in rows_of(batches, written, table):
            assert not [name for name in CONTENT & set(row) if row[name] is None]
    assert written.withheld.rows == sum(not shown(row) for row in source_rows()), "it is still said what others lack"


def test_without_noncommercial_rows_these_are_left_out_and_counted(batches: Tables) -> None:
    options = ReleaseOptions(noncommercial=False)
    written = write(batches, options=options)
    expected = [row for row in source_rows() if row["license"] not in NONCOMMERCIAL]
    for table in ("pubmed_ophtha", "panels"):
        assert {row["panel_id"] for row in rows_of(batches, written, table)} == {row["panel_id"] for row in expected}
    for table in ("figures", "articles"):
        assert not NONCOMMERCIAL & {row["license"] for row in rows_of(batches, written, table)}
    assert written.counts.noncommercial_left_out == len(PLACES) - len(expected) == 4 * len(NONCOMMERCIAL)
    assert written.index.rows == len(expected)
    selection = select_articles(batches)
    for batch in selection.current:
        rows = released_rows(batches, selection, batch, options, ["panel_id"])
        assert set(rows["panel_id"]) <= {row["panel_id"] for row in expected}
        assert rows.columns == ["panel_id"]


@pytest.mark.slow
def test_without_pictures_of_figures_only_these_are_null(batches: Tables) -> None:
    usual, without = (
        write(batches, options=ReleaseOptions(figure_pictures=kept), prefix=f"{kept}/") for kept in (True, False)
    )
    assert rows_of(batches, without, "figures") == [
        {**row, FIGURE_PICTURE: None} for row in rows_of(batches, usual, "figures")
    ]
    for table in ("panels", "articles", "pubmed_ophtha"):
        assert rows_of(batches, without, table) == rows_of(batches, usual, table)


# pictures


@pytest.mark.slow
def test_both_forms_show_the_pixels_that_the_digest_is_of(tables: Tables) -> None:
    finish(tables, "0001-a", {1: {"figures": {"f1": 0, "f2": 1}}}, panels=3)
    written = write(tables)
    shown_as_png = {row["panel_id"]: row["panel_image_bytes"] for row in rows_of(tables, written, "pubmed_ophtha")}
    panels = rows_of(tables, written, "panels")
    assert len(panels) == 6
    for row in panels:
        png, webp = shown_as_png[row["panel_id"]], row[PANEL_PICTURE]["bytes"]
        assert Image.open(io.BytesIO(png)).format == "PNG"
        assert Image.open(io.BytesIO(webp)).format == "WEBP"
        assert Image.open(io.BytesIO(webp)).size == (row["picture_width"], row["picture_height"])
        assert pixels_digest(decoded_bytes(png)) == pixels_digest(decoded_bytes(webp)) == row["picture_sha256"]


def test_a_picture_that_is_stored_only_as_png_is_shown_as_that(tables: Tables) -> None:
    finish(tables, "0001-a", {1: {}})
    stored = png_bytes(pixels_of("p_1_f1_0"))
    ParquetPixels(tables.data_root, "panels", "0001-a").write(1, [Picture("p_1_f1_0", 40, 32, stored)])
    written = write(tables)
    (row,) = rows_of(tables, written, "panels")
    assert row[PANEL_PICTURE] == {"bytes": stored, "path": "p_1_f1_0.png"}
    (row,) = rows_of(tables, written, "pubmed_ophtha")
    assert row["panel_image_bytes"] == stored


@pytest.mark.parametrize("store", ["panels", "figures"])
def test_a_missing_picture_ends_the_release_and_says_what_to_do(tables: Tables, store: str) -> None:
    finish(tables, "0001-a", {1: {}, 2: {}})
    ParquetPixels(tables.data_root, store, "0001-a").write(2, [])
    with pytest.raises(StorageError, match=rf"batch 0001-a.*its {store} were made again.*run `pmo run`"):
        write(tables)
    assert tables.data_root.tree("out") == [], "nothing half-written is left"


def test_an_article_without_a_split_ends_the_release_and_says_what_to_do(tables: Tables) -> None:
    finish(tables, "0001-a", {1: {}})
    selection, groups = select_articles(tables), groups_of(tables)
    finish(tables, "0002-b", {2: {}})
    with pytest.raises(StorageError, match="make the release again"):
        write_tables(
            tables.data_root, tables, select_articles(tables), splits=groups.splits, groups=groups.duplicates,
            options=ReleaseOptions(), prefix="out/", metadata=lambda _: {}, say=lambda _: None,
        )  # fmt: skip
    assert tables.data_root.tree("out") == []
    assert write(tables, selection).counts.panels == 1


# what lies beside them


def test_what_is_withheld_is_listed_with_what_restores_it(batches: Tables) -> None:
    written = write(batches)
    found = read_table(batches.data_root, written.withheld.key)
    assert found.columns == list(WithheldPanels.columns())
    expected = []
    for row in source_rows():
        if shown(row):
            continue
        number, figure = row["article_id"], row["image_cluster_id"]
        drawn = pixels_of(f"{number} {figure}", FIGURE_SIDES)
        expected.append(
            {
                "panel_id": row["panel_id"],
                "article_id": number,
                "name": f"n{number}",
                "image_cluster_id": figure,
                "pdf_sha256": str(number),
                "xml_sha256": str(number),
                "panel_image_sha256": hashlib.sha256(pixels_of(row["panel_id"]).tobytes()).hexdigest(),
                "subcaption_text_sha256": hashlib.sha256(row["subcaption_text"].encode()).hexdigest(),
                "in_text_mention_sha256": hashlib.sha256(json.dumps(row["in_text_mention"]).encode()).hexdigest(),
                "caption_sha256": hashlib.sha256(caption_of(number, figure).encode()).hexdigest(),
                "figure_image_sha256": hashlib.sha256(drawn.tobytes()).hexdigest(),
                "other_texts": [
                    {"column": name, "sha256": hashlib.sha256(as_json(released_context(row)[name])).hexdigest()}
                    for name in OTHER_TEXTS
                ],
            }
        )
    assert found.to_dicts() == expected


def test_the_index_has_every_row_before_licences_are_applied(batches: Tables) -> None:
    found = read_table(batches.data_root, write(batches).index.key)
    assert found.columns == list(RowIndex.columns())
    rows = checked(DatasetRows, source_rows())
    others = pl.DataFrame(
        [released_context(row) for row in rows.to_dicts()],
        schema={name: column.dtype for name, column in hub_table("panels").columns().items() if name in CONTEXT},
    )
    expected = row_digests(rows.hstack(others))
    assert found.sort("panel_id").equals(expected.sort("panel_id"))


def test_what_is_counted_is_what_is_there(batches: Tables) -> None:
    written = write(batches)
    counts, rows = written.counts, rows_of(batches, written, "panels")
    assert counts.panels == len(rows) == written.published.rows
    assert counts.figures == len(rows_of(batches, written, "figures")) == 2 * len(CODES) + 3
    assert counts.articles == len(rows_of(batches, written, "articles")) == len(CODES) + 3
    assert counts.withheld == sum(row["subcaption_text"] is None for row in rows) == written.withheld.rows
    assert counts.licences == {
        **{(code, dataset_row(1, code)["license_url"]): 4 for code in CODES},
        ("CC BY", dataset_row(1)["license_url"]): 4 + 22 + 1,
    }
    assert counts.contains == {"cfp": 0, "oct": len(rows), "retinal": 0, "other": 0, "marked": len(rows)}
    assert counts.assembly == {"Automatic Caption Assignment": len(rows)}
    in_files = {split: sum(file.rows for file in files) for split, files in written.configs["panels"].items()}
    assert in_files == {split: sum(row["split"] == split for row in rows) for split in SPLITS}
    assert counts.journals == {f"Journal {number}" for number in range(3)}
    assert counts.years == {2020, 2021, 2022, 2023, 2024}


def test_every_file_is_as_large_as_it_is_said_and_has_its_digest(batches: Tables) -> None:
    written = write(batches)
    for file in (written.published, *shards_of(written, *CONFIGS), written.withheld, written.index):
        content = batches.data_root.read(file.key)
        assert (file.size, file.sha256) == (len(content), hashlib.sha256(content).hexdigest())
        read = pq.read_table(io.BytesIO(content))
        assert file.rows == read.num_rows
        assert file.arrow_bytes == pytest.approx(read.nbytes, rel=0.1), "what readers make room for"


def test_the_same_tables_give_the_same_bytes(batches: Tables) -> None:
    first, second = (write(batches, prefix=f"{number}/") for number in (1, 2))
    assert [first.published.sha256, first.withheld.sha256, first.index.sha256] == [
        second.published.sha256, second.withheld.sha256, second.index.sha256
    ]  # fmt: skip
    for config in CONFIGS:
        digests = [[file.sha256 for file in shards_of(made, config)] for made in (first, second)]
        assert digests[0] == digests[1]


@pytest.mark.slow
def test_panels_that_look_the_same_name_their_group(tables: Tables) -> None:
    finish(tables, "0001-a", {1: {"looks": "x"}, 2: {}})
    finish(tables, "0002-b", {3: {"looks": "x"}})
    rows = {row["panel_id"]: row for row in rows_of(tables, write(tables), "panels")}
    assert {panel: row["duplicate_group"] for panel, row in rows.items()} == {
        "p_1_f1_0": "p_1_f1_0", "p_2_f1_0": None, "p_3_f1_0": "p_1_f1_0"
    }  # fmt: skip
    assert rows["p_1_f1_0"]["split"] == rows["p_3_f1_0"]["split"]


def test_without_any_row_there_is_one_file_of_each_kind_that_is_one(tables: Tables) -> None:
    finish(tables, "0001-a", {1: {"rows": 0}})
    written = write(tables)
    assert tables.data_root.tree("out") == ["hub/withheld.parquet", "pubmed_ophtha.parquet", "rows.parquet"]
    assert rows_of(tables, written, "pubmed_ophtha") == []
    assert written.counts.panels == 0


def test_arrow_types_are_those_that_every_reader_knows() -> None:
    def leaves(kind: pa.DataType) -> set[pa.DataType]:
        if pa.types.is_struct(kind):
            return set().union(*(leaves(field.type) for field in kind))
        return leaves(kind.value_type) if pa.types.is_list(kind) else {kind}

    found = set().union(*(leaves(f.type) for schema in release_tables().values() for f in arrow_schema(schema)))
    assert found == {pa.string(), pa.binary(), pa.int64(), pa.float64(), pa.bool_()}
