"""What a release withholds: every column of every table under every licence."""

from __future__ import annotations

import polars as pl
import pytest

from pmo_assets.lexicon.terms import shipped_lexicon
from pmo_assets.pipeline.articles.licences import LICENSE_CODES, TEXT_MINING
from pmo_assets.pipeline.context.entities import panel_entities, panel_terms
from pmo_assets.pipeline.dataset.licensing import withheld, withheld_columns, without_forbidden
from pmo_assets.records.context import EYES
from pmo_assets.tables.release import holdings, hub_table, joined_columns, release_tables
from pmo_assets.tables.released import FACTS

CODES = [*LICENSE_CODES, TEXT_MINING, "Elsevier user licence", None]
OPEN = {"CC0", "CC BY", "CC BY-SA", "CC BY-NC", "CC BY-NC-SA"}
CONTENT = {
    "pubmed_ophtha": {"subcaption_text", "panel_image_bytes", "in_text_mention"},
    "panels": {
        "subcaption_text",
        "panel_image",
        "in_text_mention",
        "mentions",
        "summary",
        "abbreviations",
        "generated_summary",
        "entities",
        "regions",
        "phrases",
    },
    "figures": {"caption", "figure_image", "in_text_mention"},
    "articles": set[str](),
    "pairs": {"text"},
    "instructions": {"messages", "scene", "context", "evidence"},
    "videos": {"picture", "text", "slide_text"},
}
"""The columns that hold the article's words or pixels, stated a second time on purpose."""

PLACES = {"mention_places", "summary_places"}
TERMS = {
    "diseases", "findings", "eye", "modality_class", "modality", "medical", "clinical_or_laboratory",
    "clinical_or_microscopy", "marks",
}  # fmt: skip
"""What text and marks say of panels that is published under every licence: places and names of our own."""

COLUMNS = [(table, name) for table, schema in release_tables().items() for name in schema.columns()]


def test_every_column_of_every_table_says_what_it_holds() -> None:
    assert set(holdings()) == {name for _, name in COLUMNS}


@pytest.mark.parametrize("table", release_tables())
def test_a_column_without_a_declaration_stops_the_release(table: str) -> None:
    for code in CODES:
        with pytest.raises(KeyError, match="abstract"):
            withheld_columns(code, [*release_tables()[table].columns(), "abstract"])
    with pytest.raises(KeyError, match="abstract"):
        without_forbidden(pl.DataFrame({"license": ["CC BY"], "abstract": ["words"]}))


@pytest.mark.parametrize(("table", "column"), COLUMNS)
def test_words_and_pixels_need_a_licence_and_facts_do_not(table: str, column: str) -> None:
    for code in CODES:
        null = column in withheld_columns(code, release_tables()[table].columns())
        assert null == (column in CONTENT[table] and code not in OPEN), code


def test_places_hold_no_text_but_the_panels_name() -> None:
    """Else a sentence's words, or the title of its section, would go out under a licence that forbids it."""

    def texts(dtype: pl.DataType, name: str) -> set[str]:
        if isinstance(dtype, pl.List):
            return texts(dtype.inner, name)  # type: ignore[arg-type]
        if isinstance(dtype, pl.Struct):
            return set().union(*(texts(field.dtype, field.name) for field in dtype.fields))  # type: ignore[arg-type]
        return {name} if dtype == pl.String else set()

    columns = hub_table("panels").columns()
    assert set().union(*(texts(columns[name].dtype, name) for name in PLACES)) == {"identifier"}
    assert {*PLACES, *TERMS, *CONTENT["panels"]} >= {
        name for names in joined_columns("panels").values() for name in names
    }


def test_terms_are_the_lexicons_and_never_the_articles_words() -> None:
    """Abbreviations of the article's own, odd spellings, and words that it only denies."""
    said = "Wett AMD and ARMD (here: aged macula), Kwangu disease and no cottonwool spots in the RE; drusenoid PEDs."
    defined = {"PEDs": "pigment epithelial detachments", "Kwangu disease": "Stargardt disease"}
    found = panel_entities(said, [said], defined)
    named = panel_terms(found, ["names panel"])
    known = {term.name for term in shipped_lexicon().terms.values()}
    assert named.diseases
    assert named.findings
    assert {*named.diseases, *named.findings} <= known
    assert named.eye in (None, *EYES)
    for name in ("eye", "modality_class", "modality"):
        assert isinstance(hub_table("panels").columns()[name].dtype, pl.Enum), "a closed list of names"


@pytest.mark.parametrize(("table", "column"), COLUMNS)
def test_the_description_of_a_column_says_where_it_is_null(table: str, column: str) -> None:
    described = release_tables()[table].columns()[column]
    content = holdings()[column] is not FACTS
    if table in ("pairs", "instructions", "videos") and content:
        assert not described.nullable, "what is withheld makes no row"
        return
    assert ("null where the licence forbids redistribution" in (described.description or "")) == content
    assert described.nullable or not content


@pytest.mark.parametrize("code", CODES)
def test_what_a_release_withholds(code: str | None) -> None:
    assert withheld(code) is (code not in OPEN)


def test_each_row_of_a_table_is_treated_by_its_own_licence() -> None:
    names = ("subcaption_text", "in_text_mention", "caption", "title")
    rows = pl.DataFrame(
        {
            "license": CODES,
            **{name: [f"{name} {number}" for number in range(len(CODES))] for name in names},
        }
    )
    made = without_forbidden(rows)
    assert made.schema == rows.schema
    assert made["license"].to_list() == CODES, "in their order"
    for number, row in enumerate(made.iter_rows(named=True)):
        kept = row["license"] in OPEN
        for name in names:
            assert row[name] == (f"{name} {number}" if kept or name == "title" else None)


@pytest.mark.parametrize("code", CODES)
def test_rows_of_one_licence_alone_are_treated_alike(code: str | None) -> None:
    rows = pl.DataFrame({"license": [code], "caption": ["words"]}, schema={"license": pl.String, "caption": pl.String})
    assert without_forbidden(rows)["caption"].to_list() == (["words"] if code in OPEN else [None])


def test_a_table_without_rows_stays_one() -> None:
    rows = pl.DataFrame(schema={"license": pl.String, "caption": pl.String})
    assert without_forbidden(rows).equals(rows)
