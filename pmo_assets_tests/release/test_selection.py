"""Which packages a release takes: each article once, in its newest version, and what is said of the others."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from pmo_assets.pipeline.articles.relevance import load_specialty
from pmo_assets.pipeline.dataset.rows import Entry
from pmo_assets.records.rejections import Rejection
from pmo_assets.release.keys import HUB
from pmo_assets.release.reports import duplicates_table, release_summary
from pmo_assets.release.selection import Selection, current_rows, select_articles
from pmo_assets.release.statistics.counting import release_statistics
from pmo_assets.release.statistics.outcomes import DUPLICATE, TAKEN_OUT, outcomes_of_packages
from pmo_assets.release.statistics.waterfall import Outcome
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.removed import bring_article_back, take_article_out
from pmo_assets.storage.tables import Tables
from pmo_assets.viewing.report import ReportSummary
from pmo_assets_tests.release.finished import LOCAL, SECRET, finish, make, published, read_table, release_of


def summary_of(tables: Tables, selection: Selection) -> ReportSummary:
    """Return what the report of a release says."""
    specialty = load_specialty("everything")
    counted = release_statistics(tables, selection, Entry(specialty.image_types, 0.9))
    return release_summary(tables, selection, counted, stages=["subcaptions", "dataset_rows"], specialty=specialty)


@pytest.fixture
def tables(tmp_path: Path) -> Tables:
    return Tables(DataRoot(str(tmp_path)))


def test_one_article_under_three_names_is_published_once_also_across_batches(tables: Tables) -> None:
    finish(tables, "0001-a", {LOCAL + 1: {"doi": "10.1000/X", "pdf": "one"}, 7: {"pmcid": 7, "doi": "10.1000/x"}})
    finish(tables, "0002-b", {LOCAL + 2: {"doi": None, "pdf": "one"}, LOCAL + 3: {}})
    assert published(tables) == [7, LOCAL + 3]
    assert release_of(tables)["article_id"].unique().sort().to_list() == [7, LOCAL + 3]


@pytest.mark.slow  # a release
def test_what_is_left_out_is_listed_beside_the_release_with_the_reason(tables: Tables) -> None:
    finish(tables, "0001-a", {LOCAL + 1: {"doi": "10.1000/X", "pdf": "one"}, 7: {"pmcid": 7, "doi": "10.1000/x"}})
    finish(tables, "0002-b", {LOCAL + 2: {"doi": None, "pdf": "one"}})
    release_of(tables)
    listing = read_table(tables.data_root, f"{HUB}/duplicate_articles.parquet")
    assert listing.select("name", "batch", "duplicate_of", "identifier", "value", "shared_with").rows() == [
        (f"n{LOCAL + 1}", "0001-a", 7, "DOI", "10.1000/x", "n7"),
        (f"n{LOCAL + 2}", "0002-b", 7, "PDF", "one", f"n{LOCAL + 1}"),
    ]
    selection = select_articles(tables)
    assert len(duplicates_table(selection).rows) == 2
    summary = summary_of(tables, selection)
    assert "Duplicates" in [table.title for table in summary.tables]
    (loss,) = (drop for drop in summary.ways[0].drops if drop.label == DUPLICATE)
    assert (loss.before - loss.after, loss.note) == (2, "by DOI (1); by PDF (1)")


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


@pytest.mark.slow  # two releases
def test_a_retraction_under_one_name_takes_out_the_rows_under_the_others(tables: Tables) -> None:
    shared = {"doi": "10.1000/x", "title": "Serous macular detachment secondary to an optic pit"}
    finish(tables, "0001-a", {LOCAL + 1: shared, LOCAL + 2: {**shared, "has_xml": True}})
    assert published(tables) == [LOCAL + 2]
    finish(tables, "0002-b", {7: {"pmcid": 7, **shared, "is_retracted": True}, LOCAL + 3: {}})
    assert release_of(tables)["article_id"].to_list() == [LOCAL + 3]
    listing = select_articles(tables).listing()
    assert listing.select("article_id", "duplicate_of", "is_retracted").rows() == [
        (LOCAL + 1, 7, True),
        (LOCAL + 2, 7, True),
    ]


@pytest.mark.slow  # several releases
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


@pytest.mark.slow  # a release and its report
def test_the_report_counts_an_article_of_two_batches_once(tables: Tables) -> None:
    finish(tables, "0001-a", {7: {}, 8: {}}, panels=3)
    finish(tables, "0002-b", {7: {"version": 2}}, panels=1)
    finish(tables, "0003-c", {8: {"is_retracted": True}})
    summary = summary_of(tables, select_articles(tables))
    values = {item.label: (item.value, item.note) for item in summary.headlines}
    assert values["articles"] == (1, "of 2 that were looked at")
    assert values["panels"][0] == 1, "as many as the release has"
    assert release_of(tables).height == 1


def test_an_article_that_was_lost_underway_is_known_by_its_package(tables: Tables) -> None:
    finish(tables, "0001-a", {LOCAL + 1: {"doi": None, "pdf": "one"}, LOCAL + 2: {"doi": None, "pdf": "one"}})
    tables.write("articles", "0001-a", tables.read("articles", "0001-a").filter(pl.col("article_id") == LOCAL + 1))
    assert published(tables) == [LOCAL + 1]


def test_an_article_that_people_took_out_is_in_no_release_until_it_is_brought_back(tables: Tables) -> None:
    finish(tables, "0001-a", {1: {}, 2: {}})
    take_article_out(tables.data_root, 2)
    assert published(tables) == [1]
    packages = outcomes_of_packages(tables, "0001-a", [1, 2], select_articles(tables), {}, set())
    assert packages[2] == Outcome(TAKEN_OUT)
    finish(tables, "0002-b", {2: {"version": 2}})  # a newer version comes under the same number
    assert published(tables) == [1]
    bring_article_back(tables.data_root, 2)
    assert published(tables) == [1, 2]


def test_a_copy_under_another_name_stays_out_with_who_is_taken_out(tables: Tables) -> None:
    finish(tables, "0001-a", {LOCAL + 1: {"doi": "10.1000/X"}, 7: {"pmcid": 7, "doi": "10.1000/x"}})
    assert published(tables) == [7]
    take_article_out(tables.data_root, 7)
    assert published(tables) == []


@pytest.mark.slow  # two releases
def test_the_release_changes_when_its_duplicates_do(tables: Tables) -> None:
    finish(tables, "0001-a", {LOCAL + 1: {}})
    before = make(tables).manifest.digest
    assert make(tables).manifest.digest == before
    finish(tables, "0002-b", {LOCAL + 9: {"doi": f"10.1000/{LOCAL + 1}", "rows": 0}})
    assert make(tables).manifest.digest != before


def test_rows_come_in_the_order_of_the_article_not_of_the_alphabet(tables: Tables) -> None:
    finish(tables, "0001-a", {12: {"figures": {"f10": 1, "f9": 0}, "rows": 11}, 3: {}})
    assert tables.read("dataset_rows", "0001-a")["panel_id"][2] == "p_12_f10_10", "the table is sorted by panel_id"
    rows = current_rows(tables, Selection({"0001-a": [3, 12]}), "0001-a")["panel_id"].to_list()
    assert rows == ["p_3_f1_0", *(f"p_12_f9_{panel}" for panel in range(11)), *(f"p_12_f10_{p}" for p in range(11))]
    assert current_rows(tables, Selection({"0001-a": [12]}), "0001-a", ["license"]).columns == ["license"]
    assert current_rows(tables, Selection({"0001-a": [3]}), "0001-a", ["panel_id", "year"]).rows() == [
        ("p_3_f1_0", 2023)
    ]


def test_the_report_quotes_no_forbidden_caption(tables: Tables) -> None:
    finish(tables, "0001-a", {LOCAL + 1: {"code": "CC BY-ND"}, LOCAL + 2: {}})
    rejected = [
        Rejection("subcaptions", number, "f1", "AnswerRejected", f"words that are not in its order: {text}")
        for number, text in ((LOCAL + 1, SECRET), (LOCAL + 2, "free words"))
    ]
    tables.write_rejections("subcaptions", "0001-a", rejected)
    (reason,) = summary_of(tables, select_articles(tables)).rejections
    assert reason.count == 2
    assert "free words" in " ".join(reason.examples)
    assert SECRET not in " ".join(reason.examples)
