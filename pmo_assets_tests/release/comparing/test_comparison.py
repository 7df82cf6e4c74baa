"""A published file and a release with differences that are known one by one: exact counts."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from pmo_assets.release.comparing.absences import NOT_IN_THE_FILE, absences_below
from pmo_assets.release.comparing.comparison import (
    COMPARED_COLUMNS,
    MISSING,
    NO_PANEL_THERE,
    ComparedArticle,
    FromReleaseOnly,
    compared_articles,
    compared_columns,
    token_overlap,
)
from pmo_assets.release.comparing.page import comparison_page, comparison_tables, pairs_file
from pmo_assets.release.comparing.published_file import read_published
from pmo_assets.release.comparing.summary import Numbers, agreement, summarised
from pmo_assets.release.statistics import outcomes
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.tables import Tables
from pmo_assets.tables.published import ComparedPanels
from pmo_assets.tables.schemas import checked
from pmo_assets_tests.release.batches import ENTRY, ArticleMade, FigureMade, PanelMade, write_batch
from pmo_assets_tests.release.comparing.published_files import (
    as_others_write,
    dataset_table,
    write_published,
    write_release,
)

Row = dict[str, Any]


def moved(row: Row, change: Callable[[Row], None]) -> Row:
    """Return a row with another position."""
    position = json.loads(row["position"])
    change(position)
    return {**row, "position": json.dumps(position)}


def by_a_quarter(position: Row) -> None:
    """Move a panel, a quarter of the figure wide, to the right by a quarter of its width."""
    for name in ("predicted_box", "content_box"):
        left, top, right, bottom = position[name]
        position[name] = [left + 0.0625, top, right + 0.0625, bottom]


def away(position: Row) -> None:
    position["predicted_box"] = position["content_box"] = [0.8, 0.0, 1.0, 1.0]


def to_page(page: str) -> Callable[[Row], None]:
    def change(position: Row) -> None:
        position["figure_page_coordinates"] = {page: {"x0": 0, "y0": 0, "x1": 50, "y1": 50}}

    return change


def with_image(row: Row, **changes: Any) -> Row:
    """Return a row whose image is another one."""
    (image,) = json.loads(row["image_data"])
    return {**row, "image_data": json.dumps([{**image, **changes}])}


def article_of_names(row: Row) -> Row:
    """101: the figures have other names; one is known by its name, one by its place."""
    return {**row, "image_cluster_id": {"f1": "101/F1.JPG", "f2": "nobody-knows"}[row["image_cluster_id"]]}


def article_of_panels(row: Row) -> list[Row]:
    """102: one panel moved by a quarter, one away, one subcaption edited; f2 is another figure on another page."""
    if row["image_cluster_id"] == "f2":
        return [moved({**row, "image_cluster_id": "extra"}, to_page("7"))] if row["panel_name"] != "c" else []
    match row["panel_name"]:
        case "a":
            return [moved(row, by_a_quarter)]
        case "b":
            return [moved(row, away)]
    return [{**row, "subcaption_text": row["subcaption_text"].replace("OCT", "MRI")}]


def article_of_words(row: Row) -> Row:
    """103: another licence; f1 withheld and differently typed, f2 named and marked otherwise."""
    row = {**row, "license": "CC BY-ND", "commercial_use": "True"}
    if row["image_cluster_id"] == "f1":
        row = {**row, "subcaption_text": None, "contains_cfp": "True", "contains_oct": "False"}
        return with_image(row, imaging_type={"label": "CFP", "prediction_score": 0.5})
    if row["panel_name"] == "a":
        return {**row, "panel_name": "(A)", "subcaption_text": f"  {row['subcaption_text']}\n"}
    if row["panel_name"] == "b":
        return {**with_image(row, mark_status={"label": "Unmarked"}), "contains_marked": "False", "panel_name": "None"}
    return {**row, "image_data": "[]", "contains_oct": "False", "contains_marked": "False"}


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """The published file and the release: 101 to 103 in both, 104 only in the release, 999 only published."""
    release = write_release(tmp_path / "data/release/pubmed_ophtha.parquet", dataset_table([101, 102, 103, 104]))
    rows: list[Row] = []
    source = [*pl.read_parquet(release).iter_rows(named=True)]
    for number, row in enumerate(source):
        theirs = as_others_write(row, number)
        match row["article_id"]:
            case 101:
                rows.append(article_of_names(theirs))
            case 102:
                rows += article_of_panels(theirs)
            case 103:
                rows.append(article_of_words(theirs))
    rows.append({**as_others_write(source[0], 999), "article_id": 999})
    return write_published(tmp_path / "published.parquet", rows[::-1]), release


@pytest.fixture
def articles(files: tuple[Path, Path]) -> list[ComparedArticle]:
    theirs, ours = (compared_columns(read_published(file, COMPARED_COLUMNS)) for file in files)
    return list(compared_articles(theirs, ours, FromReleaseOnly()))


def test_what_both_have_and_what_one_has(articles: list[ComparedArticle]) -> None:
    summary = summarised(articles)
    assert summary.articles == Counter(both=3, published=1, release=1)
    # 101: f1, f2; 102: f1 both, "extra" theirs, f2 ours; 103: f1, f2; 104: two of ours; 999: one of theirs
    assert summary.figures == Counter(both=5, published=2, release=3)
    # 101: 6; 102: 2 both, 1 + 2 theirs, 1 + 3 ours; 103: 6; 104: 6 ours; 999: 1 theirs
    assert summary.panels == Counter(both=14, published=4, release=10)
    assert summary.matched_by == Counter({"name": 3, "similar name": 1, "place": 1})


def test_why_the_release_lacks_it(articles: list[ComparedArticle]) -> None:
    summary = summarised(articles)
    no_article, no_figure = "the release has no such article", "the release has no such figure"
    assert summary.absent_articles == {no_article: 1}
    assert summary.absent_figures == {no_article: 1, no_figure: 1}
    assert summary.absent_panels == {no_article: 1, no_figure: 2, NO_PANEL_THERE: 1}


def test_how_far_boxes_agree(articles: list[ComparedArticle]) -> None:
    summary = summarised(articles)
    # a box moved by a quarter of its width: 3/4 in common of 5/4
    assert sorted(summary.panel_iou.values) == pytest.approx([0.6] + [1.0] * 13)
    assert summary.panel_iou.median == 1.0
    assert list(summary.figure_iou.values) == [1.0] * 5
    (worst,) = summary.worst_boxes
    assert worst.published is not None
    assert (worst.published.article_id, worst.published.panel_name) == (102, "a")


def test_how_far_subcaptions_agree(articles: list[ComparedArticle]) -> None:
    summary = summarised(articles)
    assert summary.subcaptions == {"compared": 11, "withheld there": 3}
    assert summary.exact == 10, "white space does not count"
    text = "OCT of panel c in figure f1 of article 102."
    assert sorted(summary.edit_similarity.values)[:2] == pytest.approx([1 - 3 / len(text), 1.0])
    assert sorted(summary.token_overlap.values)[:2] == pytest.approx([9 / 10, 1.0])
    (worst,) = summary.worst_subcaptions
    assert worst.published is not None
    assert worst.published.subcaption == text.replace("OCT", "MRI")


def test_names_types_marks_and_licences(articles: list[ComparedArticle]) -> None:
    summary = summarised(articles)
    assert summary.same_name == {True: 13, False: 1}, '"(A)" is "a"; "None" is not "b"'
    assert summary.contained["CFP"] == Counter(published=3, neither=11)
    assert summary.contained["OCT"] == Counter(both=10, release=4)
    assert summary.contained["marked"] == Counter(both=12, release=2)
    assert agreement(summary.contained["Other"]) == 1.0
    # the moved panel's image is where it was, so that it is found
    assert summary.image_types == {("OCT", "OCT"): 10, ("CFP", "OCT"): 3, (MISSING, "OCT"): 1}
    assert summary.marks == {("Marked", "Marked"): 12, ("Unmarked", "Marked"): 1}
    assert summary.same_licence == {True: 2, False: 1}
    assert summary.licences == {("CC BY-ND", "CC BY"): 1}


def test_pairs_are_written_and_fulfil_their_schema(articles: list[ComparedArticle], tmp_path: Path) -> None:
    path = tmp_path / "new folder" / "pairs.parquet"
    with pairs_file(path) as add:
        for article in articles:
            add(article)
        assert not path.exists(), "whole or not there"
    rows = checked(ComparedPanels, pl.read_parquet(path))
    assert dict(rows["found_by"].cast(pl.String).value_counts().iter_rows()) == {
        "both": 14, "published": 4, "release": 10
    }  # fmt: skip
    (edited,) = rows.filter(pl.col("subcaption_exact").not_()).to_dicts()
    assert (edited["published_panel_id"], edited["release_panel_id"]) == ("p_8", "p_102_f1_2")
    assert (edited["published_types"], edited["release_types"]) == (["OCT"], ["OCT"])
    assert rows["reason"].null_count() == 14


def test_a_file_that_is_not_finished_leaves_nothing(articles: list[ComparedArticle], tmp_path: Path) -> None:
    def interrupted() -> None:
        with pairs_file(tmp_path / "pairs.parquet") as add:
            add(articles[0])
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert list(tmp_path.glob("*pairs*")) == []


def test_the_page_shows_what_agrees_least_and_escapes_it(articles: list[ComparedArticle]) -> None:
    panels = tuple(
        replace(panel, published=replace(panel.published, subcaption="<script>alert(1)</script>"))
        if panel.exact is False and panel.published is not None
        else panel
        for panel in articles[1].panels
    )
    articles = [articles[0], replace(articles[1], panels=panels), *articles[2:]]
    page = comparison_page(summarised(articles), "published.parquet", "ours.parquet")
    assert "&lt;script&gt;alert(1)" in page
    assert "<script>alert(1)" not in page
    assert "published.parquet, compared with ours.parquet" in page
    assert "http://" not in page.replace("http://www.w3.org/", "")


def test_tables_say_the_numbers(articles: list[ComparedArticle]) -> None:
    tables = {table.title: table for table in comparison_tables(summarised(articles))}
    assert tables["Found"].rows[2] == ("panels", 14, 4, 10, "77.8 %", "58.3 %")
    overlaps = tables["Overlap of boxes (IoU) of what both have"]
    assert overlaps.rows == (
        ("pairs", 5, 14), ("mean", "1.000", "0.971"), ("median", "1.000", "1.000"), ("0–0.5", 0, 0), ("0.5–0.6", 0, 0),
        ("0.6–0.7", 0, 1), ("0.7–0.8", 0, 0), ("0.8–0.9", 0, 0), ("0.9–0.95", 0, 0), ("0.95–1", 5, 13),
    )  # fmt: skip


def test_nothing_at_all_is_compared() -> None:
    nothing = compared_columns([])
    summary = summarised(compared_articles(nothing, nothing, FromReleaseOnly()))
    assert (summary.panels, summary.panel_iou.mean) == (Counter(), None)
    assert comparison_page(summary, "a", "b")


def test_words_are_counted() -> None:
    assert token_overlap("a a b", "A b b") == pytest.approx(2 * 2 / 6)
    assert token_overlap("", " ") == 1.0


def test_classes_hold_their_lower_edge_and_the_last_its_upper() -> None:
    numbers = Numbers()
    for value in (0.0, 0.5, 0.95, 1.0):
        numbers.add(value)
    numbers.add(None)
    assert numbers.classes() == [1, 1, 0, 0, 0, 0, 2]


def test_tables_below_the_data_root_say_why(tmp_path: Path) -> None:
    tables = Tables(DataRoot(str(tmp_path)))
    open_panel = PanelMade(facts={"subcaption": None, "method": None, "assembly": None, "reason": "nothing decides"})
    good, unwanted = FigureMade([PanelMade((0,))]), FigureMade([PanelMade(types=["Other"])], wanted=False)
    articles = {
        1: ArticleMade({"f1": good, "f2": unwanted}),
        2: ArticleMade(facts={"relevant": False}),
        3: ArticleMade(facts={"is_retracted": True}),
        4: ArticleMade({"f1": FigureMade([open_panel], listed=False)}),
        5: ArticleMade({"f1": good, "f2": FigureMade(detected=3), "f3": FigureMade(found=False)}),
        6: ArticleMade({"f1": good}, facts={"license_code": "CC BY-NC"}),
    }  # fmt: skip
    rejected = [("panel_captions", 5, "f2", "OutOfMemory"), ("pdf_figures", 5, "f3", "FigureNotLocated")]
    write_batch(tables, "0001-a", articles, rejected=rejected)
    found = absences_below(tables, [*articles, 99], ENTRY, noncommercial=False)
    assert [found.article(number) for number in (2, 3, 4, 6, 99)] == [
        outcomes.NOT_RELEVANT, outcomes.RETRACTED, f"{outcomes.NO_PANEL_ENTERS}: no subcaption", outcomes.NONCOMMERCIAL,
        "article in no batch",
    ]  # fmt: skip
    assert found.figure(1, "F2.jpg") == f"{outcomes.UNWANTED}: no image of a wanted type"
    assert found.figure(5, "f2") == f"{outcomes.REJECTED}: panel_captions: OutOfMemory"
    assert found.figure(5, "f3") == outcomes.NOT_LOCATED
    assert found.figure(5, "f9") == "the article has no such figure"
    assert found.figure(1, "f1") == NOT_IN_THE_FILE, "what the tables have and the file does not"
    assert absences_below(tables, [6], ENTRY).article(6) == NOT_IN_THE_FILE
