"""What a release withholds: every column under every licence."""

from __future__ import annotations

import pytest

from pmo_assets.pipeline.articles.licences import LICENSE_CODES, TEXT_MINING
from pmo_assets.pipeline.dataset.licensing import HOLDS, Holding, withheld, withheld_columns
from pmo_assets.tables.dataset import RELEASE_COLUMNS, PubmedOphtha

CODES = [*LICENSE_CODES, TEXT_MINING, "Elsevier user licence", None]
OPEN = {"CC0", "CC BY", "CC BY-SA", "CC BY-NC", "CC BY-NC-SA"}
CONTENT = {"subcaption_text", "panel_image_bytes", "in_text_mention"}
"""The columns that hold the article's words or pixels, stated a second time on purpose."""


def test_every_column_of_the_release_is_declared_and_nothing_else() -> None:
    assert set(HOLDS) == set(RELEASE_COLUMNS), "declare in `HOLDS` what a new column holds of the article"


def test_a_column_without_a_declaration_stops_the_release() -> None:
    for code in CODES:
        with pytest.raises(KeyError, match="abstract"):
            withheld_columns(code, [*RELEASE_COLUMNS, "abstract"])


@pytest.mark.parametrize("column", RELEASE_COLUMNS)
@pytest.mark.parametrize("code", CODES)
def test_words_and_pixels_need_a_licence_and_facts_do_not(code: str | None, column: str) -> None:
    null = column in withheld_columns(code, RELEASE_COLUMNS)
    assert null == (column in CONTENT and code not in OPEN)


@pytest.mark.parametrize("column", RELEASE_COLUMNS)
def test_the_description_of_a_column_says_where_it_is_null(column: str) -> None:
    described = PubmedOphtha.columns()[column]
    content = HOLDS[column] is not Holding.FACTS
    assert ("null where the licence forbids redistribution" in (described.description or "")) == content
    assert described.nullable or not content


@pytest.mark.parametrize("code", CODES)
def test_what_a_release_withholds(code: str | None) -> None:
    assert withheld(code) is (code not in OPEN)
