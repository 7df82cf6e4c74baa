"""The release: each article once, licences applied, and beside it what was left out."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq
import pytest

from pmo_assets.pipeline.articles.licences import LICENSE_CODES, TEXT_MINING
from pmo_assets.pipeline.articles.relevance import load_specialty
from pmo_assets.pipeline.dataset.card import LICENSE_FILE
from pmo_assets.pipeline.dataset.licensing import HOLDS, Holding
from pmo_assets.records.rejections import Rejection
from pmo_assets.records.stores import Picture
from pmo_assets.release.selection import (
    DUPLICATES_KEY,
    LICENSE_KEY,
    RELEASE_KEY,
    Selection,
    select_articles,
    without_forbidden,
    write_release,
)
from pmo_assets.release.reports import duplicates_table, release_summary
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.pixels import ParquetPixels
from pmo_assets.storage.tables import Tables
from pmo_assets.tables.dataset import RELEASE_COLUMNS

LOCAL = 10**12
SECRET = "Nobody may pass on this sentence"
CODES = [*LICENSE_CODES, TEXT_MINING, None]


@pytest.fixture
def tables(tmp_path: Path) -> Tables:
    return Tables(DataRoot(str(tmp_path)))


def dataset_row(number: int, code: str | None = "CC BY", panel: int = 0) -> dict[str, Any]:
    """Return a row whose texts all hold `SECRET`."""
    return {
        "panel_id": f"p_{number}_f1_{panel}",
        "article_id": number,
        "image_cluster_id": "f1",
        "panel_name": "a",
        "subcaption_text": f"{SECRET} in a subcaption.",
        "subcaption_segments": [[0, 9]],
        "position": json.dumps({"predicted_box": [0, 0, 1, 1]}),
        "is_multi_page_figure": False,
        "in_text_mention": [f"{SECRET} in a paragraph."],
        **dict.fromkeys(("contains_cfp", "contains_oct", "contains_retinal"), True),
        **dict.fromkeys(("contains_other", "contains_marked"), False),
        "image_data": "[]",
        "identifier_data": "[]",
        "assembly": "Automatic Caption Assignment (identifier)",
        "annotation": "[]",
        "license": code,
        "attribution": f"'Title {number}', Ada Author. J. 2024",
        "commercial_use": code in ("CC0", "CC BY", "CC BY-SA", "CC BY-ND"),
        "title": f"Title {number}",
        "authors": ["Ada Author"],
        "journal": "J",
        "year": 2024,
        "doi": f"10.1000/{number}",
        "article_url": f"https://doi.org/10.1000/{number}",
        "license_url": None,
        "article_version": 1,
    }


def finish(tables: Tables, batch: str, packages: Mapping[int, Mapping[str, Any]], panels: int = 1) -> None:
    """Write a batch as the assets leave it; of each package what differs from a plain one with a DOI of its own."""
    known: list[dict[str, Any]] = []
    articles: list[dict[str, Any]] = []
    rows: list[dict[str, Any]] = []
    for number, facts in packages.items():
        given = {
            "name": f"n{number}",
            "version": 1,
            "doi": f"10.1000/{number}",
            "code": "CC BY",
            "rows": panels,
            **facts,
        }
        shared = {
            "article_id": number,
            "name": given["name"],
            "version": given["version"],
            "license_code": given["code"],
            "is_retracted": given.get("is_retracted", False),
            "is_manuscript": given.get("is_manuscript", False),
            "pdf": f"objects/aa/{given.get('pdf', number)}.pdf",
        }
        known.append({**shared, "figure_files": [], "doi": None, "license_unknown": False})
        articles.append(
            {
                **shared,
                "doi": given["doi"],
                "pmcid": given.get("pmcid"),
                "authors": [],
                "mesh_terms": [],
                "keywords": [],
                "title": given.get("title"),
                "stated_by": [{"fact": "doi", "source": given.get("doi_source", "XML")}] if given["doi"] else [],
                "xml_figures": [],
                "has_xml": given.get("has_xml", False),
                "has_pdf": True,
                "relevant": True,
                "criteria": [],
                "relevance_reason": "",
                "selected": not shared["is_retracted"],
            }
        )
        count = 0 if shared["is_retracted"] else given["rows"]
        rows += [dataset_row(number, given["code"], panel) for panel in range(count)]
        pictures = [Picture(f"p_{number}_f1_{panel}", 1, 1, f"PNG of {number}".encode()) for panel in range(count)]
        ParquetPixels(tables.data_root, "panels", batch).write(number, pictures)
    tables.write("article_packages", batch, known)
    tables.write("articles", batch, articles)
    tables.write("dataset_rows", batch, rows)


def release_of(tables: Tables, selection: Selection | None = None) -> pl.DataFrame:
    write_release(
        tables.data_root,
        tables,
        selection or select_articles(tables),
        specialty=load_specialty("everything"),
        say=lambda _: None,
    )
    return pl.read_parquet(io.BytesIO(tables.data_root.read(RELEASE_KEY)))


# licences


@pytest.mark.parametrize("code", CODES)
def test_what_a_licence_forbids_is_null_and_everything_else_is_as_it_was(code: str | None, tables: Tables) -> None:
    finish(tables, "0001-a", {LOCAL + 1: {"code": code}})
    (row,) = release_of(tables).to_dicts()
    whole = {**dataset_row(LOCAL + 1, code), "panel_image_bytes": f"PNG of {LOCAL + 1}".encode()}
    open_licence = code in ("CC0", "CC BY", "CC BY-SA", "CC BY-NC", "CC BY-NC-SA")
    for column in RELEASE_COLUMNS:
        kept = open_licence or HOLDS[column] is Holding.FACTS
        assert row[column] == (whole[column] if kept else None), column


def test_a_column_that_is_not_declared_stops_the_release() -> None:
    rows = pl.DataFrame({"panel_id": ["p"], "abstract": [SECRET]})
    with pytest.raises(KeyError, match="abstract"):
        without_forbidden(rows, "CC BY")


@pytest.mark.parametrize("code", [code for code in CODES if code is None or "ND" in code or code == TEXT_MINING])
def test_no_file_of_the_release_holds_a_forbidden_text_or_picture(code: str | None, tables: Tables) -> None:
    finish(tables, "0001-a", {LOCAL + 1: {"code": code}, LOCAL + 2: {"code": code, "doi": f"10.1000/{LOCAL + 1}"}})
    release_of(tables)
    for name in tables.data_root.keys("release"):
        content = tables.data_root.read(f"release/{name}")
        assert SECRET.encode() not in content, name
        assert b"PNG of" not in content, name
    parquet = pq.ParquetFile(io.BytesIO(tables.data_root.read(RELEASE_KEY)))
    assert set(parquet.schema_arrow.metadata) == {b"pmo-assets", b"specialty"}
    assert SECRET not in str(parquet.metadata.to_dict()), "not in the statistics either"


def test_the_report_quotes_no_forbidden_caption(tables: Tables) -> None:
    finish(tables, "0001-a", {LOCAL + 1: {"code": "CC BY-ND"}, LOCAL + 2: {}})
    rejected = [
        Rejection("subcaptions", number, "f1", "AnswerRejected", f"words that are not in its order: {text}")
        for number, text in ((LOCAL + 1, SECRET), (LOCAL + 2, "free words"))
    ]
    tables.write_rejections("subcaptions", "0001-a", rejected)
    specialty = load_specialty("everything")
    (reason,) = release_summary(tables, select_articles(tables), stages=["subcaptions"], specialty=specialty).rejections
    assert reason.count == 2
    assert "free words" in " ".join(reason.examples)
    assert SECRET not in " ".join(reason.examples)


def test_the_card_links_a_file_that_the_release_holds(tables: Tables) -> None:
    finish(tables, "0001-a", {LOCAL + 1: {}})
    release_of(tables)
    assert f"license_link: {LICENSE_FILE}" in tables.data_root.read("release/README.md").decode()
    assert "| CC BY | no version stated | 1 |" in tables.data_root.read(LICENSE_KEY).decode()


# each article once


def published(tables: Tables) -> list[int]:
    return sorted(number for numbers in select_articles(tables).current.values() for number in numbers)


def test_one_article_under_three_names_is_published_once_also_across_batches(tables: Tables) -> None:
    finish(tables, "0001-a", {LOCAL + 1: {"doi": "10.1000/X", "pdf": "one"}, 7: {"pmcid": 7, "doi": "10.1000/x"}})
    finish(tables, "0002-b", {LOCAL + 2: {"doi": None, "pdf": "one"}, LOCAL + 3: {}})
    assert published(tables) == [7, LOCAL + 3]
    assert release_of(tables)["article_id"].unique().sort().to_list() == [7, LOCAL + 3]


def test_what_is_left_out_is_listed_beside_the_release_with_the_reason(tables: Tables) -> None:
    finish(tables, "0001-a", {LOCAL + 1: {"doi": "10.1000/X", "pdf": "one"}, 7: {"pmcid": 7, "doi": "10.1000/x"}})
    finish(tables, "0002-b", {LOCAL + 2: {"doi": None, "pdf": "one"}})
    release_of(tables)
    listing = pl.read_parquet(io.BytesIO(tables.data_root.read(DUPLICATES_KEY)))
    assert listing.select("name", "batch", "duplicate_of", "identifier", "value", "shared_with").rows() == [
        (f"n{LOCAL + 1}", "0001-a", 7, "DOI", "10.1000/x", "n7"),
        (f"n{LOCAL + 2}", "0002-b", 7, "PDF", "one", f"n{LOCAL + 1}"),
    ]
    selection = select_articles(tables)
    assert len(duplicates_table(selection).rows) == 2
    summary = release_summary(tables, selection, stages=["dataset_rows"], specialty=load_specialty("everything"))
    assert {item.label: item.value for item in summary.headlines}["duplicates"] == 2
    assert "Duplicates" in [table.title for table in summary.tables]


@pytest.mark.parametrize("source", ["header or footer", "XMP prism:doi", "document information"])
def test_a_doi_that_was_read_from_a_pdf_makes_no_duplicate_of_another_article(source: str, tables: Tables) -> None:
    read = {"doi": "10.1000/x", "doi_source": source}
    title = "Serous macular detachment secondary to an optic pit"
    finish(tables, "0001-a", {LOCAL + 1: {"doi": "10.1000/x", "title": title, "has_xml": True}})
    finish(
        tables, "0002-b", {LOCAL + 2: {**read, "title": f"Comment on: {title}"}, LOCAL + 3: {**read, "title": title}}
    )
    assert [item.package.article_id for item in select_articles(tables).duplicates] == [LOCAL + 3]
    assert published(tables) == [LOCAL + 1, LOCAL + 2]


def test_a_pmc_number_in_the_xml_is_the_articles(tables: Tables) -> None:
    finish(tables, "0001-a", {LOCAL + 1: {"pmcid": 7, "doi": None}, 7: {"pmcid": 7}})
    (listed,) = select_articles(tables).duplicates
    assert (listed.package.article_id, listed.published.article_id, listed.identifier) == (LOCAL + 1, 7, "PMC number")


def test_different_articles_in_one_pdf_stay_different(tables: Tables) -> None:
    finish(tables, "0001-a", {LOCAL + 1: {"pdf": "volume"}, LOCAL + 2: {"pdf": "volume"}})
    assert published(tables) == [LOCAL + 1, LOCAL + 2]


def test_a_retraction_under_one_name_takes_out_the_rows_under_the_others(tables: Tables) -> None:
    finish(tables, "0001-a", {LOCAL + 1: {"doi": "10.1000/x"}, LOCAL + 2: {"doi": "10.1000/x", "has_xml": True}})
    assert published(tables) == [LOCAL + 2]
    finish(tables, "0002-b", {7: {"pmcid": 7, "doi": "10.1000/x", "is_retracted": True}, LOCAL + 3: {}})
    assert release_of(tables)["article_id"].to_list() == [LOCAL + 3]
    listing = select_articles(tables).listing()
    assert listing.select("article_id", "duplicate_of", "is_retracted").rows() == [
        (LOCAL + 1, 7, True),
        (LOCAL + 2, 7, True),
    ]


def test_another_package_of_the_same_number_does_not_take_a_retraction_back(tables: Tables) -> None:
    finish(tables, "0001-a", {7: {"pmcid": 7, "name": "PMC7", "is_retracted": True}})
    finish(tables, "0002-b", {7: {"pmcid": 7, "name": "downloaded"}, 8: {"pmcid": 8}})
    assert release_of(tables)["article_id"].to_list() == [8]
    finish(tables, "0003-c", {7: {"pmcid": 7, "name": "PMC7"}})
    assert release_of(tables)["article_id"].sort().to_list() == [7, 8], "the package itself does"
    finish(tables, "0004-d", {7: {"pmcid": 7, "name": "downloaded", "version": 2}})
    assert release_of(tables)["article_id"].sort().to_list() == [7, 8]


def test_of_two_packages_the_one_that_gave_rows_is_published(tables: Tables) -> None:
    finish(tables, "0001-a", {7: {"pmcid": 7, "doi": "10.1000/x", "rows": 0}, LOCAL + 1: {"doi": "10.1000/x"}})
    assert published(tables) == [LOCAL + 1]


def test_a_superseded_version_makes_no_duplicate(tables: Tables) -> None:
    finish(tables, "0001-a", {LOCAL + 1: {"doi": "10.1000/x"}, LOCAL + 2: {"doi": "10.1000/x"}})
    finish(tables, "0002-b", {LOCAL + 2: {"doi": "10.1000/y", "version": 2}})
    assert published(tables) == [LOCAL + 1, LOCAL + 2], "the newest version has a DOI of its own"
    assert select_articles(tables).duplicates == ()


def test_the_report_counts_an_article_of_two_batches_once(tables: Tables) -> None:
    finish(tables, "0001-a", {7: {}, 8: {}}, panels=3)
    finish(tables, "0002-b", {7: {"version": 2}}, panels=1)
    finish(tables, "0003-c", {8: {"is_retracted": True}})
    specialty = load_specialty("everything")
    summary = release_summary(tables, select_articles(tables), stages=["dataset_rows"], specialty=specialty)
    values = {item.label: (item.value, item.note) for item in summary.headlines}
    assert values["articles"] == (2, "1 selected")
    assert values["dataset rows"] == (1, "from 1 articles"), "as many as the release has"
    assert release_of(tables).height == 1


def test_an_article_that_was_lost_underway_is_known_by_its_package(tables: Tables) -> None:
    finish(tables, "0001-a", {LOCAL + 1: {"doi": None, "pdf": "one"}, LOCAL + 2: {"doi": None, "pdf": "one"}})
    tables.write("articles", "0001-a", tables.read("articles", "0001-a").filter(pl.col("article_id") == LOCAL + 1))
    assert published(tables) == [LOCAL + 1]


def test_the_release_changes_when_its_duplicates_do(tables: Tables) -> None:
    finish(tables, "0001-a", {LOCAL + 1: {}})

    def digest() -> str:
        return write_release(
            tables.data_root,
            tables,
            select_articles(tables),
            specialty=load_specialty("everything"),
            say=lambda _: None,
        ).digest

    before = digest()
    assert digest() == before
    finish(tables, "0002-b", {LOCAL + 9: {"doi": f"10.1000/{LOCAL + 1}", "rows": 0}})
    assert digest() != before
