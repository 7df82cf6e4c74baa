"""Dataset rows: what panel, figure and article say, exactly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from pmo_assets.pipeline.dataset.rows import Entry, attribution, dataset_rows, left_out_reason
from pmo_assets.records.article import ArticleCredit
from pmo_assets.records.figure import Figure
from pmo_assets.records.image_types import IMAGE_TYPES, ImageType
from pmo_assets.records.panels import Panel, PanelPicture
from pmo_assets.tables.dataset import DatasetRows
from pmo_assets.tables.rows import record_of
from pmo_assets.tables.schemas import checked

ARTICLE = {
    "article_id": 7,
    "license_code": "CC BY",
    "title": "A title",
    "citation": "J. 2024; 1: 2",
    "authors": ["Ada Author", "Bo Writer"],
    "journal": "Journal",
    "year": 2024,
    "doi": "10.1000/7",
    "pmcid": 7,
    "license_url": "https://creativecommons.org/licenses/by/4.0/",
    "version": 2,
    "package": "PMC7",
}
UNKNOWN: dict[str, Any] = {
    **dict.fromkeys(["title", "citation", "journal", "year", "doi", "pmcid", "license_url"]),
    "authors": [],
}
FIGURE = {
    "article_id": 7,
    "image_cluster_id": "f1",
    "pdf_figure_id": "p3-1",
    "ordinal": 4,
    "label": "Figure 1",
    "caption": "An OCT scan.",
    "matched": True,
    "width": 100,
    "height": 50,
    "bitmaps": [],
    "texts": [],
    "locations": [{"page": 3, "bbox": [10.0, 20.0, 110.0, 70.0]}],
    "is_multi_page": False,
    "mentions": [
        {"sentence": "See Figure 1.", "paragraph": "First. See Figure 1."},
        {"sentence": "Again (Figure 1).", "paragraph": "First. See Figure 1."},
    ],
}


def image(kind: str | None = "OCT", marked: bool | None = True) -> dict[str, Any]:
    return {
        "id": "i0", "box": [0.0, 0.0, 0.5, 1.0], "score": 0.9, "image_type": kind, "type_score": 0.8,
         "modality": None, "modality_score": 0.0, "marked": marked,
        "mark_score": 0.7, "is_gt": False,
    }  # fmt: skip


def panel(**changes: Any) -> dict[str, Any]:
    return {
        "panel_id": "p_7_f1_0", "article_id": 7, "image_cluster_id": "f1", "ordinal": 0, "members": [],
        "identifier": "a",
        "subcaption": "An OCT scan.", "segments": [[0, 12]], "caption_confidence": 0.9, "method": "identifier",
        "assembly": "Automatic Caption Assignment", "confidence": 0.97, "runner_up": None, "runner_up_confidence": 0.0,
        "evidence": [],
        "box": [0.0, 0.0, 0.5, 1.0], "content_box": [0.0, 0.0, 0.5, 1.0], "score": 0.95,
        "printed_identifiers": [{"id": "l0", "box": [0.0, 0.0, 0.1, 0.1], "score": 0.9, "text": "a", "is_gt": False}],
        "images": [image()], "width": 50, "height": 49, "sha256": "ab", "perceptual_hash": "cd",
        **changes,
    }  # fmt: skip


def rows_of(
    *panels: dict[str, Any],
    article: Mapping[str, Any] = ARTICLE,
    image_types: Sequence[ImageType] = ("CFP", "OCT", "Retinal Imaging"),
) -> list[dict[str, Any]]:
    rows, _ = dataset_rows(
        [(record_of(Panel, row), record_of(PanelPicture, row)) for row in panels],
        {"f1": record_of(Figure, FIGURE)},
        record_of(ArticleCredit, article),
        Entry(image_types, 0.0),
    )
    return rows


def test_a_row_has_the_columns_of_its_schema_and_fulfils_it() -> None:
    (row,) = rows_of(panel())
    assert set(row) == set(DatasetRows.columns())
    (stored,) = checked(DatasetRows, [row]).to_dicts()
    assert stored == row, "nothing is rounded or cast on the way into the table"


def test_values_are_those_of_panel_figure_and_article() -> None:
    (row,) = rows_of(panel())
    assert (row["panel_id"], row["article_id"], row["panel_name"]) == ("p_7_f1_0", 7, "a")
    assert row["attribution"] == "'A title', Ada Author, Bo Writer. J. 2024; 1: 2. https://doi.org/10.1000/7"
    assert (row["title"], row["authors"]) == ("A title", ["Ada Author", "Bo Writer"])
    assert (row["journal"], row["year"], row["doi"]) == ("Journal", 2024, "10.1000/7")
    assert row["article_url"] == "https://pmc.ncbi.nlm.nih.gov/articles/PMC7/"
    assert row["license_url"] == "https://creativecommons.org/licenses/by/4.0/"
    assert row["commercial_use"] is True
    assert (row["assembly"], row["assembly_method"]) == ("Automatic Caption Assignment", "identifier")
    assert row["in_text_mention"] == ["First. See Figure 1."], "a paragraph with two mentions is given once"
    assert (row["contains_oct"], row["contains_cfp"], row["contains_marked"]) == (True, False, True)


def test_places_are_nested_values_rounded_so_that_the_same_box_is_the_same_bytes() -> None:
    (row,) = rows_of(panel(box=[0.0, 0.1 + 0.2, 1 / 3, 1.0], score=0.123456))
    assert row["panel_box"] == [0.0, 0.3, 0.333333, 1.0]
    assert row["panel_score"] == 0.1235
    assert row["content_box"] == [0.0, 0.0, 0.5, 1.0]
    assert row["figure_page_boxes"] == [{"page": 3, "bbox": [10.0, 20.0, 110.0, 70.0]}]
    assert (row["figure_ordinal"], row["panel_ordinal"], row["figure_label"]) == (4, 0, "Figure 1")


def test_images_and_identifiers_are_those_of_the_panel() -> None:
    (row,) = rows_of(panel(images=[image(), {**image(kind=None, marked=None), "is_gt": True, "score": 0.98765}]))
    first, second = row["images"]
    assert first == image()
    assert (second["image_type"], second["marked"], second["is_gt"], second["score"]) == (None, None, True, 0.9877)
    (identifier,) = row["identifiers"]
    assert identifier == {"id": "l0", "box": [0.0, 0.0, 0.1, 0.1], "score": 0.9, "text": "a", "is_gt": False}


def test_the_picture_is_described_as_it_was_cut() -> None:
    (row,) = rows_of(panel())
    names = ("picture_width", "picture_height", "picture_sha256", "perceptual_hash")
    assert tuple(row[name] for name in names) == (50, 49, "ab", "cd")


def test_it_is_said_how_the_subcaption_was_found_and_how_sure() -> None:
    (row,) = rows_of(panel(confidence=0.971234, caption_confidence=0.876543))
    assert (row["assembly_method"], row["assembly_confidence"]) == ("identifier", 0.9712)
    assert row["caption_confidence"] == 0.8765
    assert row["subcaption_segments"] == [[0, 12]]


def test_who_annotated_is_nobodys_business() -> None:
    decided = {"purpose": "resolve", "decided": ["subcaptions"], "annotator": "ada@example.org", "at": "2024-01-01"}
    (row,) = rows_of(panel(annotations=[decided]))
    assert row["annotations"] == [{"purpose": "resolve", "decided": ["subcaptions"], "at": "2024-01-01"}]
    assert "ada" not in str(row).lower().replace("ada author", "")


@pytest.mark.parametrize(
    ("images", "expected"),
    [
        ([image("CFP", False)], {"cfp"}),
        ([image("OCT", None)], {"oct"}),
        ([image("Retinal Imaging", True)], {"retinal", "marked"}),
        ([image("Other", False), image("OCT", True)], {"other", "oct", "marked"}),
        ([image(None, False)], set()),
    ],
)
def test_what_a_panel_contains_follows_from_its_images(images: list[dict[str, Any]], expected: set[str]) -> None:
    (row,) = rows_of(panel(images=images), image_types=IMAGE_TYPES)
    assert {name.removeprefix("contains_") for name in row if name.startswith("contains_") and row[name]} == expected


def test_a_single_panel_has_no_name() -> None:
    (row,) = rows_of(panel(identifier=None))
    assert row["panel_name"] is None


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"subcaption": None}, "no subcaption"),
        ({"subcaption": "  "}, "no subcaption"),
        ({"confidence": 0.89}, "subcaption below the least confidence"),
        ({"confidence": 0.75, "assembly": "LLM Assignment"}, None),
        ({"confidence": 0.4, "assembly": "LLM Assignment (adjudication)"}, None),
        ({"confidence": 0.4, "assembly": "Manual Assignment"}, None),
        ({"images": [image(kind="Other")]}, "no image of a wanted type"),
        ({"images": []}, "image type undecided or no image"),
        ({"images": [image(kind=None)]}, "image type undecided or no image"),
        ({}, None),
    ],
)
def test_panels_that_stay_out_say_why(changes: dict[str, Any], reason: str | None) -> None:
    found = left_out_reason(record_of(Panel, panel(**changes)), Entry(["CFP", "OCT", "Retinal Imaging"], 0.9))
    assert found == reason


def test_with_all_types_wanted_no_image_is_needed() -> None:
    assert left_out_reason(record_of(Panel, panel(images=[])), Entry(IMAGE_TYPES, 0.0)) is None


def test_rows_and_left_out_account_for_all_panels() -> None:
    panels = [panel(), panel(panel_id="p_7_f1_1", subcaption=None)]
    rows, left_out = dataset_rows(
        [(record_of(Panel, row), record_of(PanelPicture, row)) for row in panels],
        {"f1": record_of(Figure, FIGURE)},
        record_of(ArticleCredit, ARTICLE),
        Entry(["OCT"], 0.0),
    )
    assert [row["panel_id"] for row in rows] == ["p_7_f1_0"]
    assert [(item.panel_id, item.reason) for item in left_out] == [("p_7_f1_1", "no subcaption")]


def test_an_attribution_leaves_out_what_is_unknown() -> None:
    assert attribution("T", None) == "'T'"
    assert attribution(None, "C") == "C"
    (row,) = rows_of(panel(), article={**ARTICLE, **UNKNOWN})
    assert row["attribution"] == "'PMC7'", "an article without a known title is attributed by its name"
    assert row["authors"] is None, "not known, which is not the same as none"
    checked(DatasetRows, [row])
