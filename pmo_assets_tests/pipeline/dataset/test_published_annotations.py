"""`pubmed_ophtha_annotation.json`: what people annotated, as published (Table 3)."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from pmo_assets.annotation.annotations import AnnotatedArticle, annotation_rows
from pmo_assets.pipeline.dataset.published_annotations import annotation_entries, write_annotations
from pmo_assets.tables.quality import Annotations
from pmo_assets.tables.schemas import checked

PUBLISHED = [
    "article_id", "image_cluster_id", "figure_locations", "caption_locations", "panel_data", "is_multi_page_figure",
    "annotation", "license", "attribution",
]  # fmt: skip
"""Keys of the published code's `process_sample`, in its order."""

PANEL = {
    "identifier": "a",
    "identifier_box": [0.0, 0.0, 0.1, 0.1],
    "box": [0.0, 0.0, 0.5, 1.0],
    "subcaption": 'An "OCT" scan – naïve.',
    "images": [
        {"box": [0.0, 0.1, 0.5, 1.0], "type": "OCT", "marked": True},
        {"box": [0.2, 0.1, 0.3, 0.2], "type": None, "marked": None},
    ],
}
FIGURE = {
    "label": "Figure 1",
    "image_cluster_id": "f1",
    "figure_locations": [{"page": 3, "bbox": [10, 20, 110, 70.5]}],
    "caption_locations": [{"page": 3, "bbox": [10, 80, 110, 90]}],
    "caption": "(a) An OCT scan.",
    "panels": [PANEL],
}
ARTICLE = {
    "article_id": 7, "package": "PMC7.1", "version": 1, "pmcid": 7, "title": "A title", "authors": ["Ada Author"],
    "journal": "J", "year": 2024, "doi": "10.1000/7", "citation": "J. 2024", "license_code": "CC BY",
    "license_url": None,
}  # fmt: skip


def rows(*figures: dict[str, Any], name: str = "PMC7.1") -> list[dict[str, Any]]:
    """Return rows of table `annotations` as they are stored and read."""
    article = AnnotatedArticle.model_validate({"article_id": name, "figures": figures})
    return checked(Annotations, annotation_rows([article])).to_dicts()


def entries(
    *figures: dict[str, Any], known: tuple[dict[str, Any], ...] = (), article: dict[str, Any] | None = None, **kw: Any
) -> dict[str, dict[str, Any]]:
    return dict(annotation_entries(rows(*figures), {7: article or ARTICLE}, {7: known}, **kw))


def test_a_full_annotation_has_the_published_shape() -> None:
    found = entries(FIGURE)
    assert list(found) == ["PMC7_f1"]
    entry = found["PMC7_f1"]
    assert list(entry) == PUBLISHED
    assert (entry["article_id"], entry["image_cluster_id"]) == (7, "f1")
    assert entry["figure_locations"] == {"3": {"x0": 10.0, "y0": 20.0, "x1": 110.0, "y1": 70.5}}
    assert entry["caption_locations"] == {"3": {"x0": 10.0, "y0": 80.0, "x1": 110.0, "y1": 90.0}}
    assert entry["is_multi_page_figure"] is False
    assert entry["annotation"] == ["figure", "panel", "image", "caption"]
    assert entry["license"] == "CC BY"
    assert entry["attribution"] == "'A title', Ada Author. J. 2024. https://doi.org/10.1000/7"
    assert entry["panel_data"] == [
        {
            "type": "panel", "x0": 0.0, "y0": 0.0, "x1": 0.5, "y1": 1.0, "name": "a",
            "caption_text": 'An "OCT" scan – naïve.',
            "images": [
                {"x0": 0.0, "y0": 0.1, "x1": 0.5, "y1": 1.0, "mark_status": "Marked", "labels": ["OCT"]},
                {"x0": 0.2, "y0": 0.1, "x1": 0.3, "y1": 0.2, "mark_status": None, "labels": []},
            ],
            "labels": [{"x0": 0.0, "y0": 0.0, "x1": 0.1, "y1": 0.1}],
        }
    ]  # fmt: skip


@pytest.mark.parametrize("code", ["CC BY-ND", pytest.param("CC BY-NC-ND", marks=pytest.mark.slow), None])
def test_subcaptions_are_withheld_where_the_licence_says_so(code: str | None) -> None:
    article = {**ARTICLE, "license_code": code}
    (panel,) = entries(FIGURE, article=article)["PMC7_f1"]["panel_data"]
    assert (panel["caption_text"], panel["name"]) == (None, "a")
    assert "naïve" not in json.dumps(entries(FIGURE, article=article), ensure_ascii=False)
    (panel,) = entries(FIGURE, article=article, withhold=False)["PMC7_f1"]["panel_data"]
    assert panel["caption_text"] == PANEL["subcaption"]


def reviewed(purpose: str, *decided: str) -> dict[str, Any]:
    return {**FIGURE, "review": {"purpose": purpose, "decided": decided, "annotator": "Ann Otator", "at": "2026"}}


@pytest.mark.slow
def test_what_people_did_not_decide_is_not_there() -> None:
    entry = entries(reviewed("resolve", "subcaptions"))["PMC7_f1"]
    assert entry["annotation"] == ["caption"]
    (panel,) = entry["panel_data"]
    assert (panel["name"], panel["caption_text"]) == ("a", PANEL["subcaption"])
    assert (panel["images"], panel["labels"]) == ([], [])
    (panel,) = entries(reviewed("resolve", "panels", "images"))["PMC7_f1"]["panel_data"]
    assert (panel["name"], panel["caption_text"], len(panel["images"])) == (None, None, 2)
    assert entries(reviewed("full", "figure"))["PMC7_f1"]["panel_data"] is None


def test_audits_and_who_annotated_are_not_published() -> None:
    assert entries(reviewed("audit", "subcaptions")) == {}
    assert "Otator" not in json.dumps(entries(reviewed("full", "panels")))


def test_articles_that_the_release_does_not_take_are_left_out() -> None:
    assert dict(annotation_entries(rows(FIGURE), {}, {})) == {}


def test_a_figure_over_two_pages() -> None:
    places = [
        {"page": 4, "bbox": [0, 0, 10, 10]},
        {"page": 3, "bbox": [0, 0, 10, 10]},
        {"page": 3, "bbox": [5, 5, 20, 8]},
    ]
    entry = entries({**FIGURE, "figure_locations": places})["PMC7_f1"]
    assert entry["is_multi_page_figure"] is True
    assert list(entry["figure_locations"]) == ["3", "4"]
    assert entry["figure_locations"]["3"] == {"x0": 0.0, "y0": 0.0, "x1": 20.0, "y1": 10.0}


def test_a_figure_without_a_name_gets_that_of_the_figure_at_its_place() -> None:
    nameless = {**FIGURE, "image_cluster_id": None, "caption_locations": []}
    caption = {"page": 3, "bbox": [1.0, 2.0, 3.0, 4.0]}
    shared: dict[str, Any] = {"rights_statement": None, "caption_locations": []}
    known = (
        {**shared, "image_cluster_id": "f8", "locations": [{"page": 3, "bbox": [90, 60, 200, 90]}]},
        {**shared, "image_cluster_id": "f9", "locations": [{"page": 3, "bbox": [9, 20, 110, 71]}]}
        | {"caption_locations": [caption]},
    )
    (key,) = found = entries(nameless, known=known)
    assert key == "PMC7_f9"
    assert found[key]["caption_locations"] == {"3": {"x0": 1.0, "y0": 2.0, "x1": 3.0, "y1": 4.0}}
    assert list(entries(nameless, known=known[:1])) == ["PMC7_annotated_1"]


@pytest.mark.slow
@pytest.mark.parametrize("count", [0, 1, 3])
def test_the_file_is_written_entry_by_entry_as_json_does_at_once(count: int) -> None:
    figures = [{**FIGURE, "image_cluster_id": f"f{number}", "panels": [PANEL] * number} for number in range(count)]
    found = entries(*figures)
    stream = io.BytesIO()
    assert write_annotations(stream, found.items()) == count
    assert stream.getvalue().decode() == json.dumps(found, indent=4, ensure_ascii=False)
    assert json.loads(stream.getvalue()) == found
