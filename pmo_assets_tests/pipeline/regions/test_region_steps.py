"""Steps of regions: a row for every panel, whatever was rejected before; phrases linked to what was seen; decisions."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest

from pmo_assets.pictures import png_bytes
from pmo_assets.pipeline.detection.steps import DetectionOptions
from pmo_assets.pipeline.figures.fingerprint import fingerprint
from pmo_assets.pipeline.regions import steps
from pmo_assets.pipeline.regions.decided import verbatim
from pmo_assets.pipeline.regions.steps import (
    NOT_LOOKED_FOR,
    find_article_marks,
    find_article_phrases,
    find_article_regions,
)
from pmo_assets.records.memory_stores import MemoryPixels
from pmo_assets.records.panels import Panel, PanelImage
from pmo_assets.records.regions import Mark
from pmo_assets.records.stores import Picture
from pmo_assets.tables.regions import Marks, RegionPhrases, Regions, marks_row
from pmo_assets.tables.rows import row_of
from pmo_assets.tables.schemas import checked

KEY = {"article_id": 7, "image_cluster_id": "g1"}
FIGURE: dict[str, Any] = {**KEY, "pdf_figure_id": "p0-1"}
WHOLE = (0.0, 0.0, 1.0, 1.0)
CIRCLE = Mark("circle", "red", "#ff0000", (0.4, 0.4, 0.6, 0.6), None, None, None, "vector", 1.0, 0.97)


def panel(ordinal: int, subcaption: str) -> dict[str, Any]:
    image = PanelImage("i", WHOLE, 1.0, "CFP", 1.0, True, 1.0)
    return {**KEY, **row_of(Panel(ordinal, (), WHOLE, WHOLE, 1.0, "AB"[ordinal], subcaption, images=(image,)))}


PANELS = [panel(0, "Red circle: drusen."), panel(1, "Fundus photograph.")]
SUMMARIES = [
    {**KEY, "ordinal": n, "panel_id": f"p_7_g1_{n}", "mentions": [{"text": "Drusen were seen (red circle)."}]}
    for n in (0, 1)
]
MARKS = [marks_row({**KEY, "ordinal": n, "panel_id": f"p_7_g1_{n}"}, [(0, CIRCLE)] if n == 0 else []) for n in (0, 1)]


def pixels() -> MemoryPixels:
    store = MemoryPixels()
    picture = np.full((100, 100, 3), 90, np.uint8)
    store.write(7, [Picture("p0-1", 100, 100, png_bytes(picture))])
    return store


def regions(marks: list[dict[str, Any]], summaries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    phrases = find_article_phrases([FIGURE], PANELS, summaries, marks)
    output = find_article_regions(7, [FIGURE], PANELS, summaries, marks, phrases.rows, [], "terms", pixels())
    assert (phrases.rejections, output.rejections) == ([], [])
    rows: list[dict[str, Any]] = checked(Regions, output.rows).to_dicts()
    return rows


def test_phrases_of_subcaption_and_mentions_are_linked_to_the_panels_marks() -> None:
    output = find_article_phrases([FIGURE], PANELS, SUMMARIES, MARKS)
    first, second = checked(RegionPhrases, output.rows).to_dicts()
    assert [(cell["found_in"], cell["mark_text"], cell["marks"]) for cell in first["phrases"]] == [
        ("subcaption", "Red circle", [0]),
        ("mention", "red circle", [0]),
    ]
    assert [cell["undecided"] for cell in second["phrases"]] == ["no mark was seen"]


def test_the_words_of_a_plot_name_no_marks() -> None:
    image = PanelImage("i", WHOLE, 1.0, "Other", 1.0, False, 0.0, "plot", 0.9)
    plot = {**PANELS[0], **row_of(Panel(0, (), WHOLE, WHOLE, 1.0, "A", "Red circle: drusen.", images=(image,)))}
    first, second = find_article_phrases([FIGURE], [plot, PANELS[1]], SUMMARIES, MARKS).rows
    assert first["phrases"] == []
    assert second["phrases"] != []
    unsure = replace(image, modality_score=0.3)
    plot |= row_of(Panel(0, (), WHOLE, WHOLE, 1.0, "A", "Red circle: drusen.", images=(image, unsure)))
    assert find_article_phrases([FIGURE], [plot], SUMMARIES, MARKS).rows[0]["phrases"] != []


def test_a_region_for_each_phrase_that_names_a_mark() -> None:
    first, second = regions(MARKS, SUMMARIES)
    assert {cell["text"] for cell in first["regions"]} == {"drusen"}
    assert first["regions"][0]["box"] == [0.4, 0.4, 0.6, 0.6]
    assert second["regions"] == []


def test_a_figure_whose_summaries_were_rejected_keeps_what_its_subcaptions_say() -> None:
    first, _ = regions(MARKS, [])
    assert [cell["text"] for cell in first["regions"]] == ["drusen"]


def test_a_figure_whose_marks_were_rejected_has_rows_that_say_so() -> None:
    output = find_article_phrases([FIGURE], PANELS, SUMMARIES, [])
    assert {cell["undecided"] for row in output.rows for cell in row["phrases"]} == {NOT_LOOKED_FOR}
    assert [row["regions"] for row in regions([], SUMMARIES)] == [[], []]


WIDE = [{"page": 0, "bbox": [100.0, 100.0, 300.0, 300.0]}]
TELLING: dict[str, Any] = {
    **FIGURE, "ordinal": 0, "label": "Figure 1", "caption": "Red circle: drusen. Arrow: a cyst.", "matched": True,
    "is_multi_page": False, "locations": WIDE, "mentions": [], "width": 100, "height": 100, "bitmaps": [], "texts": [],
}  # fmt: skip
PICTURE = np.full((100, 100, 3), 90, np.uint8)
PICTURE[70:80, 70:80] = (255, 255, 0)


def said(*panels: dict[str, Any], purpose: str = "resolve", picture: np.ndarray = PICTURE) -> list[dict[str, Any]]:
    review = {"purpose": purpose, "decided": ["marks", "regions"], "interface": "regions", "annotator": "x", "at": None,
              "fingerprint": asdict(fingerprint(picture))}  # fmt: skip
    figure = {"label": "Figure 1", "image_cluster_id": "g1", "figure_locations": WIDE, "panels": list(panels)}
    return [{"article_id": 7, "name": "PMC7", "figures": [], "regions": [{**figure, "review": review}]}]


ARROW = {"kind": "arrow", "colour": "yellow", "box": [0.7, 0.7, 0.8, 0.8], "tip": [0.8, 0.75], "label": None}
SAME_CIRCLE = {"kind": "box", "colour": "red", "box": list(CIRCLE.box), "tip": None, "label": None}
DECIDED = {
    "identifier": "A", "box": list(WHOLE), "marks": [ARROW, SAME_CIRCLE],
    "regions": [{"box": [0.8, 0.7, 0.95, 0.85], "text": "a cyst", "marks": [0]},
                {"box": list(CIRCLE.box), "text": "drusen", "marks": [1]}],
}  # fmt: skip


def decided(annotations: list[dict[str, Any]], picture: np.ndarray = PICTURE) -> tuple[Any, Any, Any]:
    """Return a figure's panel A after the steps: its rows of marks and regions, and all tallies."""
    store = MemoryPixels()
    store.write(7, [Picture("p0-1", 100, 100, png_bytes(picture))])
    one = PANELS[:1]
    marks = find_article_marks(7, [TELLING], one, annotations, store, DetectionOptions())
    phrases = find_article_phrases([TELLING], one, SUMMARIES[:1], marks.rows)
    output = find_article_regions(
        7, [TELLING], one, SUMMARIES[:1], marks.rows, phrases.rows, annotations, "terms", store
    )
    assert [*marks.rejections, *phrases.rejections, *output.rejections] == []
    drawn, shown = checked(Marks, marks.rows).to_dicts(), checked(Regions, output.rows).to_dicts()
    return drawn[0], shown[0], marks.tally + output.tally


@pytest.fixture
def circle_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine sees one mark: what the networks see in such a picture is another test's matter."""
    monkeypatch.setattr(steps, "image_marks", lambda *_: [CIRCLE])


@pytest.mark.usefixtures("circle_seen")
def test_what_people_decided_of_a_panel_takes_the_place_of_the_machines() -> None:
    marks, regions, tally = decided(said(DECIDED))
    arrow, circle = marks["marks"]
    assert (arrow["kind"], arrow["colour"], arrow["tip"], arrow["source"]) == ("arrow", "yellow", [0.8, 0.75], "person")
    assert (arrow["rgb"], arrow["direction"], arrow["probability"]) == ("#ffff00", 0.0, 1.0)
    assert (circle["kind"], circle["rgb"], circle["source"]) == ("box", "#ff0000", "person")
    assert [mark["source"] for mark in marks["machine_marks"]] == ["vector"]
    assert [(r["text"], r["marks"], r["source"], r["confidence"]) for r in regions["regions"]] == [
        ("drusen", [1], "person", 1.0),
        ("a cyst", [0], "person", 1.0),
    ]
    assert [(r["text"], r["marks"], r["source"]) for r in regions["machine_regions"]] == [("drusen", [0], "marks")]
    assert tally == {"panels decided": 2, "marks decided": 2, "regions decided": 2}


@pytest.mark.usefixtures("circle_seen")
def test_without_decisions_the_machines_stay_and_nothing_stands_beside_them() -> None:
    for nothing in ([], [{**said()[0], "regions": []}], said()):
        marks, regions, tally = decided(nothing)
        assert [mark["source"] for mark in marks["marks"]] == ["vector"]
        assert [region["text"] for region in regions["regions"]] == ["drusen"]
        assert (marks["machine_marks"], regions["machine_regions"], tally) == (None, None, {})


@pytest.mark.usefixtures("circle_seen")
def test_a_panel_of_which_people_say_that_nothing_is_in_it_has_nothing() -> None:
    marks, regions, _ = decided(said({**DECIDED, "marks": [], "regions": []}))
    assert (marks["marks"], regions["regions"]) == ([], [])
    assert [len(marks["machine_marks"]), len(regions["machine_regions"])] == [1, 1]


@pytest.mark.usefixtures("circle_seen")
def test_of_two_purposes_the_full_annotation_has_the_last_word() -> None:
    (row,) = said(DECIDED, purpose="full")
    row["regions"] += said({**DECIDED, "marks": [], "regions": []})[0]["regions"]
    assert len(decided([row])[0]["marks"]) == 2


OTHER = np.ascontiguousarray(np.kron([[0, 255], [255, 0]], np.ones((50, 50))).astype(np.uint8)[:, :, None].repeat(3, 2))


@pytest.mark.usefixtures("circle_seen")
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"box": [0.0, 0.0, 0.5, 0.5]}, "no panel is where panel “A” was"),
        ({"marks": [{**ARROW, "box": [1.1, 0.1, 1.2, 0.2]}], "regions": []}, "lies on none of its images"),
    ],
)
def test_a_decision_about_another_panel_is_not_applied_and_is_told(change: dict[str, Any], reason: str) -> None:
    marks, regions, tally = decided(said({**DECIDED, **change}))
    assert marks["machine_marks"] is None
    assert [region["text"] for region in regions["regions"]] == ["drusen"]
    (note,) = tally
    assert note.startswith("not applied: marks and regions of Figure 1: ")
    assert reason in note


@pytest.mark.usefixtures("circle_seen")
def test_a_decision_about_another_picture_is_not_applied_and_is_told() -> None:
    marks, _, tally = decided(said(DECIDED), OTHER)
    assert marks["machine_marks"] is None
    assert ["the figure changed under the annotation" in note for note in tally] == [True]


@pytest.mark.usefixtures("circle_seen")
def test_words_that_are_in_no_text_any_more_void_the_regions_and_leave_the_marks() -> None:
    strange = {**DECIDED, "regions": [{"box": list(CIRCLE.box), "text": "Drusen, large", "marks": [1]}]}
    marks, regions, tally = decided(said(strange))
    assert [mark["source"] for mark in marks["marks"]] == ["person", "person"]
    assert {region["source"] for region in regions["regions"]} == {"marks"}
    assert "not applied: regions of Figure 1: “Drusen, large” stands in none of its texts" in tally


def test_words_are_found_as_their_source_has_them() -> None:
    assert verbatim("a  large\ncyst", ["none", "It is a large  cyst."]) == "a large  cyst"
    assert [verbatim(text, ["A cyst."]) for text in ("a cyst", " ", "cyst (A)")] == [None, None, None]
