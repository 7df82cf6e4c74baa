"""The page of a batch's rejections: links, pictures, folded tracebacks; nothing that may not be passed on."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest
from PIL import Image

from pmo_assets.quality.rejection_page import MAX_SHOWN, write_rejection_page
from pmo_assets.records.rejections import Rejection
from pmo_assets.release.keys import rejection_page_key
from pmo_assets.release.reports import NOT_SHOWN
from pmo_assets.serving.addresses import served_key
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.manifests import manifest_key
from pmo_assets.storage.objects import ContentStore
from pmo_assets.storage.parquet import parquet_bytes
from pmo_assets.storage.pixels import ParquetPixels
from pmo_assets.storage.tables import Tables
from pmo_assets.tables.schemas import empty_table, schema_of
from pmo_assets_tests.viewing.gallery.conftest import browser
from pmo_assets_tests.viewing.gallery.test_widths import WIDTHS, cut_off, violations

__all__ = ["browser"]

if TYPE_CHECKING:
    from playwright.sync_api import Browser

BATCH = "0001-abcd"
HOSTILE = "<script>document.title='owned'</script>"
STAGES = ["articles", "pdf_figures", "subcaptions"]


def row_of(asset: str, **facts: object) -> pl.DataFrame:
    """Return a row of a table in which everything else is null, false, zero or empty."""
    schema = empty_table(schema_of(asset)).schema
    usual = {pl.String: "", pl.Int64: 1, pl.Float64: 0.0, pl.Boolean: False, pl.Enum: None}
    values = {
        name: facts.get(name, [] if isinstance(kind, pl.List) else usual[type(kind)]) for name, kind in schema.items()
    }
    return pl.DataFrame([values], schema=schema)


@pytest.fixture
def tables(tmp_path: Path) -> Tables:
    root = DataRoot(str(tmp_path))
    made = Tables(root)
    picture = io.BytesIO()
    Image.fromarray(np.full((300, 400, 3), 90, np.uint8)).save(picture, "JPEG")
    key = ContentStore(root).put(picture.getvalue(), ".jpg")
    articles = [
        row_of("articles", article_id=4691483, package="PMC4691483.1", license_code="CC BY", pmcid=4691483),
        row_of("articles", article_id=4657150, package="PMC4657150.1", license_code="CC BY-NC-ND", pmcid=4657150),
        row_of("articles", article_id=9000000001, package="sample_01", license_code="CC BY", pmcid=None, doi=None),
    ]
    listed = pl.concat(articles)
    made.write("articles", BATCH, listed)
    root.write(manifest_key(BATCH), parquet_bytes(listed.select("article_id", name="package")))
    figures = [
        row_of("package_figures", article_id=number, image_cluster_id="gr1", label="Figure 3", file=key)
        for number in (4657150, 4691483)
    ]
    made.write("package_figures", BATCH, pl.concat(figures))
    return made


def page_of(tables: Tables, *rejections: Rejection) -> str:
    for stage in STAGES:
        tables.write_rejections(stage, BATCH, [item for item in rejections if item.stage == stage])
    root = tables.data_root
    key = write_rejection_page(
        tables,
        BATCH,
        tables.read_rejections(STAGES, BATCH),
        pixels=ParquetPixels(root, "figures", BATCH),
        objects=ContentStore(root),
        noncommercial=True,
    )
    assert key == rejection_page_key(BATCH)
    assert served_key(f"/{key}") == key
    return root.read(key).decode()


def test_it_leads_to_the_article_and_shows_the_figure(tables: Tables) -> None:
    page = page_of(tables, Rejection("pdf_figures", 4691483, "gr1", "FigureNotLocated", "the figure is not in the PDF"))
    assert 'href="https://pmc.ncbi.nlm.nih.gov/articles/PMC4691483/"' in page
    assert "Figure 3 · gr1" in page
    assert '<img src="data:image/webp;base64,' in page
    assert "the figure is not in the PDF" in page


def test_an_article_that_pmc_does_not_have_has_no_link(tables: Tables) -> None:
    page = page_of(tables, Rejection("articles", 9000000001, None, "NoPdf", "the package holds no PDF"))
    assert "sample_01 (9000000001)" in page
    assert 'href="http' not in page


def test_a_long_message_is_whole_and_a_traceback_folded(tables: Tables) -> None:
    message = "it is wrong " * 200
    page = page_of(tables, Rejection("articles", 4691483, None, "ValueError", message.strip(), "Traceback: line 3"))
    assert message.strip() in page
    assert re.search(r"<details><summary>Traceback</summary><pre[^>]*>Traceback: line 3</pre></details>", page)


def test_what_may_not_be_passed_on_is_not_shown(tables: Tables) -> None:
    page = page_of(
        tables,
        Rejection("subcaptions", 4657150, "gr1", "Unsplit", "a sentence of the caption", "Traceback SECRET"),
        Rejection("pdf_figures", 4657150, "gr1", "FigureNotLocated", "the figure is not in the PDF"),
    )
    assert "a sentence of the caption" not in page
    assert "SECRET" not in page
    assert NOT_SHOWN in page
    assert "<img" not in page
    assert "the figure is not in the PDF" in page


def test_what_articles_say_is_text(tables: Tables) -> None:
    page = page_of(tables, Rejection("articles", 4691483, HOSTILE, HOSTILE, HOSTILE, HOSTILE))
    assert "<script" not in page
    assert "script-src" not in page
    assert "default-src 'none'" in page


def test_a_batch_without_rejections_says_so(tables: Tables) -> None:
    assert "Nothing was rejected" in page_of(tables)


def test_a_batch_with_too_many_says_where_the_rest_is(tables: Tables) -> None:
    many = [Rejection("articles", number, None, "NoPdf", "no PDF") for number in range(1, MAX_SHOWN + 3)]
    page = page_of(tables, *many)
    assert page.count('class="item"') == MAX_SHOWN
    assert f"2 more are in the table tables/rejections/{BATCH}.parquet" in page


@pytest.mark.slow  # a browser starts
def test_it_fits_every_width_and_axe_is_content(browser: Browser, tables: Tables, tmp_path: Path) -> None:
    pytest.importorskip("axe_core_python", reason="needs axe-core (the extra `dev`)")
    page_of(
        tables,
        Rejection("articles", 9000000001, None, "MalformedXml", "x" * 400, "a long line " * 40),
        Rejection("pdf_figures", 4691483, "gr1", "FigureNotLocated", "the figure is not in the PDF"),
    )
    for width in WIDTHS:
        for scheme in ("light", "dark"):
            page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
            page.goto((tmp_path / rejection_page_key(BATCH)).as_uri())
            page.locator("summary").click()
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            assert cut_off(page) == []
            assert violations(page) == []
            page.close()
