"""A figure of somebody else's is withheld by itself: its article's other figures go out, and the reason with it."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from pmo_assets.pipeline.dataset.rows import figure_license
from pmo_assets.release.gallery_pages import gallery_figures
from pmo_assets.release.selection import select_articles
from pmo_assets.release.writing import ReleaseOptions
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.tables import Tables
from pmo_assets.tables.release import WithheldPanels
from pmo_assets_tests.release.finished import finish
from pmo_assets_tests.release.test_writing import rows_of, write

STATEMENT = "Reprinted from Retina 2012, with permission from Elsevier."

TEXTS_AND_PICTURES = {
    "panels": ("panel_image", "subcaption_text", "in_text_mention"),
    "figures": ("figure_image", "caption", "in_text_mention"),
    "pubmed_ophtha": ("panel_image_bytes", "subcaption_text", "in_text_mention"),
}


@pytest.mark.parametrize(
    ("article", "statement", "expected"),
    [
        ("CC BY", None, "CC BY"),
        (None, None, None),
        ("CC BY", STATEMENT, None),
        ("CC0", "© 2012 Elsevier", None),
        ("CC BY", "https://creativecommons.org/licenses/by-nc/4.0/", "CC BY-NC"),
        ("CC BY", "Adapted from Smith et al., CC BY 4.0", None),  # of which work it is the licence is not understood
        ("CC BY-NC", "https://creativecommons.org/licenses/by/4.0/", "CC BY-NC"),
        ("CC BY", "https://creativecommons.org/licenses/by/4.0/", "CC BY"),
        ("CC BY", f"https://creativecommons.org/licenses/by/4.0/ | {STATEMENT}", None),
        (None, "https://creativecommons.org/licenses/by/4.0/", None),
    ],
)
def test_the_conditions_of_article_and_figure_hold_together(
    article: str | None, statement: str | None, expected: str | None
) -> None:
    assert figure_license(article, statement) == expected


@pytest.fixture
def tables(tmp_path: Path) -> Tables:
    """Two articles with two figures of two panels; the first figure of the first is somebody else's."""
    tables = Tables(DataRoot(str(tmp_path)))
    finish(tables, "0001-a", {1: {"figures": {"f1": 0, "f2": 1}}, 2: {"figures": {"f1": 0, "f2": 1}}}, panels=2)
    foreign = pl.all_horizontal(pl.col("article_id") == 1, pl.col("image_cluster_id") == "f1")
    rows = tables.read("dataset_rows", "0001-a").with_columns(
        license=pl.when(foreign).then(None).otherwise("license"),
        license_url=pl.when(foreign).then(None).otherwise("license_url"),
        commercial_use=pl.when(foreign).then(False).otherwise("commercial_use"),
        rights_statement=pl.when(foreign).then(pl.lit(STATEMENT)),
    )
    tables.write("dataset_rows", "0001-a", rows)
    return tables


@pytest.mark.parametrize("table", TEXTS_AND_PICTURES)
def test_text_and_picture_of_that_figure_are_null_and_of_no_other(tables: Tables, table: str) -> None:
    released = [row for rows in [rows_of(tables, write(tables), table)] for row in rows]
    assert len(released) == (4 if table == "figures" else 8)
    for row in released:
        foreign = (row["article_id"], row["image_cluster_id"]) == (1, "f1")
        assert [row[name] is None for name in TEXTS_AND_PICTURES[table]] == [foreign] * 3, row["image_cluster_id"]
        assert (row["license"] is None) is foreign
        assert row["commercial_use"] is not foreign
        if table != "pubmed_ophtha":
            assert row["rights_statement"] == (STATEMENT if foreign else None)


def test_the_article_keeps_its_licence(tables: Tables) -> None:
    assert [row["license"] for row in rows_of(tables, write(tables), "articles")] == ["CC BY", "CC BY"]


def test_what_is_withheld_is_that_figure_s_panels(tables: Tables) -> None:
    written = write(tables)
    listed = pl.read_parquet(tables.data_root.uri(written.withheld.key))
    assert listed.columns == list(WithheldPanels.columns())
    assert set(listed.select("article_id", "image_cluster_id").rows()) == {(1, "f1")}
    assert listed.height == 2
    assert written.counts.withheld == 2


def test_the_gallery_shows_the_others_and_says_why_not_that_one(tables: Tables) -> None:
    selection = select_articles(tables)
    shown = list(gallery_figures(tables.data_root, tables, selection, ReleaseOptions(), {}))
    assert len(shown) == 4
    for figure in shown:
        foreign = (figure.article_id, figure.image_cluster_id) == (1, "f1")
        assert (figure.image == b"") is foreign
        assert (figure.caption == "") is foreign
        assert all(panel.regions.marks for panel in figure.panels)
        assert [bool(panel.regions.phrases) for panel in figure.panels] == [not foreign] * 2
        assert (STATEMENT in figure.attribution) is foreign
