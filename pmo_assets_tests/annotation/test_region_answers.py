"""Marks and regions out to people and back: nothing that nobody touched changes, and what cannot be is named."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.annotation.annotations import (
    FigureRegions,
    PanelRegions,
    annotated_articles,
    annotation_of,
    annotation_rows,
    article_of_row,
    read_annotations,
)
from pmo_assets.annotation.answers import take_answers
from pmo_assets.annotation.cases import CasePanel, FigureCase, ShownPanel
from pmo_assets.annotation.files import write_answers
from pmo_assets.annotation.region_tasks import regions_task
from pmo_assets.annotation.tasks import boxes_task
from pmo_assets.records.geometry import Box
from pmo_assets.records.regions import MARK_COLOURS, MARK_KINDS, Mark
from pmo_assets.tables.rows import record_of
from pmo_assets.tables.schemas import checked, schema_of
from pmo_assets_tests.annotation.answered_cases import (
    ARROW,
    LEFT,
    PICTURE,
    RIGHT,
    SEEN,
    case,
    known_regions,
    panel_row,
    region,
    region_case,
    result_of,
    shown_region,
    submitted,
)
from pmo_assets_tests.examples import examples


def asked(shown: FigureCase | None = None, **further: Any) -> dict[str, Any]:
    return submitted(regions_task(shown or region_case(), PICTURE, SEEN), **further)


def answered(task: dict[str, Any]) -> FigureRegions:
    taken = take_answers([task], known_regions())
    assert taken.problems == []
    assert taken.figures == {}
    (figure,) = taken.regions["PMC7"]
    return figure


def entry(region_id: str, name: str, kind: str, value: dict[str, Any]) -> dict[str, Any]:
    return {"id": region_id, "from_name": name, "to_name": "figure", "type": kind, "value": value}


def rectangle(region_id: str, label: str, *sides: float) -> dict[str, Any]:
    place = dict(zip(("x", "y", "width", "height"), sides, strict=True))
    return entry(region_id, "boxes", "rectanglelabels", {**place, "rotation": 0, "rectanglelabels": [label]})


def related(one: str, other: str) -> dict[str, Any]:
    return {"type": "relation", "from_id": one, "to_id": other, "direction": "right"}


def without(task: dict[str, Any], *names: str) -> None:
    kept = [r for r in result_of(task) if not {r.get("id"), r.get("from_id"), r.get("to_id")} & set(names)]
    task["annotations"][0]["result"] = kept


def as_shown(panel: ShownPanel) -> dict[str, Any]:
    return {
        "identifier": panel.panel.identifier,
        "box": panel.panel.content_box,
        "marks": [(m.kind, m.colour, m.box, m.tip, m.label) for m in panel.marks],
        "regions": [(r.box, r.text, r.marks) for r in panel.regions],
    }


def as_said(panel: PanelRegions) -> dict[str, Any]:
    return {
        "identifier": panel.identifier,
        "box": panel.box,
        "marks": [(m.kind, m.colour, m.box, m.tip, m.label) for m in panel.marks],
        "regions": [(r.box, r.text, r.marks) for r in panel.regions],
    }


def test_what_nobody_touched_comes_back_exactly() -> None:
    shown = region_case()
    assert shown.regions is not None
    figure = answered(asked(shown))
    assert [as_said(panel) for panel in figure.panels] == [as_shown(panel) for panel in shown.regions.panels]
    assert figure.review is not None
    assert (figure.purpose, figure.review.decided, figure.review.interface) == (
        "resolve",
        ("marks", "regions"),
        "regions",
    )


SIZES = st.integers(20, 997)


@st.composite
def inside(draw: st.DrawFn, frame: Box) -> Box:
    """A box in a frame; as long numbers as floats are, but no two that differ by less than what is told apart."""
    wide, tall = frame[2] - frame[0], frame[3] - frame[1]
    near, far = draw(st.tuples(st.integers(0, 870), st.integers(0, 870))), draw(st.tuples(SIZES, SIZES))
    left, top = (start / 997 for start in near)
    right, bottom = (min((start + size) / 997, 1) for start, size in zip(near, far, strict=True))
    return (
        frame[0] + left * wide,
        frame[1] + top * tall,
        min(frame[0] + right * wide, frame[2]),
        min(frame[1] + bottom * tall, frame[3]),
    )


@st.composite
def panels(draw: st.DrawFn, ordinal: int, frame: Box) -> ShownPanel:
    marks = []
    for _ in range(draw(st.integers(0, 4))):
        kind, box = draw(st.sampled_from(MARK_KINDS)), draw(inside(frame))
        points = kind in ("arrow", "arrowhead") and draw(st.booleans())
        tip = (draw(st.floats(box[0], box[2])), draw(st.floats(box[1], box[3]))) if points else None
        colour = draw(st.sampled_from([None, *MARK_COLOURS]))
        label = draw(st.sampled_from([None, "1", "b"]))
        marks.append(Mark(kind, colour, "#102030", box, tip, 12.5 if tip else None, label, "pixels", 0.9, 0.8))
    regions = []
    for _ in range(draw(st.integers(0, 3))):
        by = draw(st.lists(st.sampled_from(range(len(marks))), unique=True)) if marks else []
        text = draw(st.sampled_from([None, "Drusen", "CFP of the eye", "macula"]))
        regions.append(shown_region(draw(inside(frame)), text, *sorted(by)))
    image = {"id": "i", "box": list(frame), "score": 1.0, "image_type": "CFP", "type_score": 1.0, "marked": True,
             "mark_score": 1.0}  # fmt: skip
    row = panel_row(ordinal, frame, "ab"[ordinal], images=[image])
    return ShownPanel(record_of(CasePanel, row), tuple(marks), tuple(regions))


@given(panels(0, LEFT), panels(1, RIGHT))
@examples(100)
def test_whatever_was_shown_comes_back_exactly(left: ShownPanel, right: ShownPanel) -> None:
    figure = answered(asked(region_case(left, right)))
    assert [as_said(panel) for panel in figure.panels] == [as_shown(left), as_shown(right)]


def test_tasks_of_other_interfaces_are_as_they_were() -> None:
    plain, with_regions = case(), replace(case(), regions=region_case().regions)
    assert json.dumps(boxes_task(plain, PICTURE, SEEN)) == json.dumps(boxes_task(with_regions, PICTURE, SEEN))


def test_people_correct_kind_colour_and_tip() -> None:
    task = asked()
    region(task, "mark-0-0")["value"]["rectanglelabels"] = ["Arrowhead"]
    region(task, "mark-0-0", "colour")["value"]["choices"] = ["yellow"]
    region(task, "tip-0-0", "tips")["value"].update(x=20.0, y=35.0)
    mark = answered(task).panels[0].marks[0]
    assert (mark.kind, mark.colour, mark.box, mark.tip) == ("arrowhead", "yellow", ARROW.box, (0.2, 0.35))


def test_an_arrow_that_became_a_circle_has_no_tip() -> None:
    task = asked()
    region(task, "mark-0-0")["value"]["rectanglelabels"] = ["Circle"]
    mark = answered(task).panels[0].marks[0]
    assert (mark.kind, mark.tip) == ("circle", None)


def test_a_mark_that_was_deleted_is_gone_and_the_others_show_what_they_showed() -> None:
    task = asked()
    without(task, "mark-0-0", "tip-0-0")
    first, _ = answered(task).panels
    assert [mark.kind for mark in first.marks] == ["circle"]
    assert [(r.text, r.marks) for r in first.regions] == [("Drusen", ()), (None, (0,))]


def test_a_new_arrow_takes_the_free_tip_and_shows_the_region_that_it_is_related_to() -> None:
    task = asked()
    result_of(task).extend(
        [
            rectangle("mine", "Arrow", 80, 80, 5, 10),
            entry("point", "tips", "keypointlabels", {"x": 85, "y": 80, "width": 0.3, "keypointlabels": ["Tip"]}),
            rectangle("what", "Region", 85, 70, 5, 10),
            entry("what", "typed", "textarea", {"text": ["beside the\n macula"]}),
            related("mine", "what"),
        ]
    )
    _, second = answered(task).panels
    assert [(m.kind, m.colour, m.tip) for m in second.marks] == [("asterisk", None, None), ("arrow", None, (0.85, 0.8))]
    added = second.regions[1]
    assert (added.text, added.marks) == ("beside the macula", (1,))
    assert added.box == pytest.approx((0.85, 0.7, 0.9, 0.8))


def test_what_people_type_counts_before_what_they_chose() -> None:
    task = asked()
    result_of(task).append(entry("region-0-0", "typed", "textarea", {"text": ["CFP of the  eye"]}))
    assert answered(task).panels[0].regions[0].text == "CFP of the eye"
    region(task, "region-0-0", "typed")["value"]["text"] = [""]
    region(task, "region-0-0", "words")["value"]["choices"] = ["macula"]
    assert answered(task).panels[0].regions[0].text == "macula"


def test_nothing_left_means_that_there_is_none() -> None:
    task = asked()
    task["annotations"][0]["result"] = []
    assert [(panel.marks, panel.regions) for panel in answered(task).panels] == [((), ()), ((), ())]


def _tip(**value: Any) -> dict[str, Any]:
    return entry("tip", "tips", "keypointlabels", {"x": 1, "y": 1, "width": 0.3, "keypointlabels": ["Tip"], **value})


HOSTILE = {
    "x of a box is no number": lambda t: region(t, "mark-0-0")["value"].update(x=float("nan")),
    "y of a point is no number": lambda t: region(t, "tip-0-0", "tips")["value"].update(y="NaN"),
    "a point lies outside": lambda t: region(t, "tip-0-0", "tips")["value"].update(y=104),
    "a box lies outside the picture": lambda t: region(t, "region-0-0")["value"].update(x=99),
    "no figure 'f9'": lambda t: t["data"]["pmo"].update(figure="f9"),
    "no article 'PMC8'": lambda t: t["data"]["pmo"].update(article="PMC8"),
    "does not say how the figure looked": lambda t: t["data"]["pmo"].update(fingerprint=None),
    "neither in the caption nor in the mentions: 'drusen'": lambda t: region(t, "region-0-0", "words")["value"].update(
        choices=["drusen"]
    ),
    "neither in the caption nor in the mentions: 'A cyst'": lambda t: result_of(t).append(
        entry("region-0-1", "typed", "textarea", {"text": ["A cyst"]})
    ),
    "the words of a region have 2001": lambda t: result_of(t).append(
        entry("region-0-1", "typed", "textarea", {"text": ["d" * 2001]})
    ),
    "unknown colour 'mauve'": lambda t: region(t, "mark-0-0", "colour")["value"].update(choices=["mauve"]),
    "unknown label 'Panel'": lambda t: region(t, "mark-0-0")["value"].update(rectanglelabels=["Panel"]),
    "unknown label 'Top'": lambda t: result_of(t).append(_tip(keypointlabels=["Top"])),
    "two points have the id": lambda t: result_of(t).extend([_tip(), _tip()]),
    "a mark has two tips": lambda t: result_of(t).extend([_tip(), related("tip", "mark-0-0")]),
    "a tip belongs to no arrow": lambda t: result_of(t).append(_tip()),
    "shown by marks of two panels": lambda t: result_of(t).append(related("mark-1-0", "region-0-0")),
    "a mark lies on no image": lambda t: result_of(t).append(rectangle("m", "Box", 1, 1, 2, 2)),
    "outside the panel whose marks show it": lambda t: region(t, "region-0-0")["value"].update(x=80),
    "relation points at": lambda t: result_of(t).append(related("mark-0-0", "nothing")),
    "the print beside a mark has": lambda t: region(t, "mark-0-0", "print")["value"].update(text=["1" * 101]),
    "no task of this project: panels.0.box": lambda t: t["data"]["pmo"]["panels"][0].update(box=["nan", 0, 1, 1]),
}  # fmt: skip


@pytest.mark.parametrize("reason", HOSTILE)
def test_what_cannot_be_is_a_problem_of_its_task_and_the_others_are_taken(reason: str) -> None:
    bad, good = asked(), asked()
    HOSTILE[reason](bad)
    taken = take_answers([bad, good], known_regions())
    assert [reason in problem.reason for problem in taken.problems] == [True], taken.problems
    assert len(taken.regions["PMC7"]) == taken.taken == 1


def test_a_mark_in_no_panel_that_was_shown_is_refused() -> None:
    shown = region_case()
    assert shown.regions is not None
    task = asked(region_case(shown.regions.panels[0]))
    result_of(task).append(rectangle("m", "Circle", 60, 10, 10, 10))
    (problem,) = take_answers([task], known_regions()).problems
    assert "a mark lies in no panel" in problem.reason


def written(folder: Path, *tasks: dict[str, Any]) -> Any:
    taken = take_answers(list(tasks), known_regions())
    assert taken.problems == []
    write_answers(folder, taken, known_regions())
    (article,) = read_annotations(sorted(folder.glob("*.json"))).articles
    return article


def test_regions_stand_apart_from_figures_and_importing_again_changes_nothing(tmp_path: Path) -> None:
    boxes = submitted(boxes_task(case(), PICTURE, SEEN))
    before = written(tmp_path, boxes)
    assert "regions" not in (tmp_path / "PMC7.json").read_text(), "who was not asked about regions has no such key"
    article = written(tmp_path, asked())
    assert (article.figures, article.answers, article.complete) == (before.figures, before.answers, before.complete)
    assert article.regions == article.region_answers
    assert len(article.regions) == 1
    content = (tmp_path / "PMC7.json").read_bytes()
    taken = take_answers([asked(), boxes], known_regions())
    assert write_answers(tmp_path, taken, known_regions()) == {}
    assert (tmp_path / "PMC7.json").read_bytes() == content


def test_of_two_people_the_later_answer_holds_and_both_are_kept(tmp_path: Path) -> None:
    first, second = asked(person=1, at="2026-01-02T00:00:00Z"), asked(person=2, at="2026-01-03T00:00:00Z")
    without(second, "mark-0-1", "region-0-1")
    article = written(tmp_path, second, first)
    assert len(article.region_answers) == 2
    (held,) = article.regions
    assert [mark.kind for mark in held.panels[0].marks] == ["arrow"]


def test_purposes_are_settled_apart(tmp_path: Path) -> None:
    article = written(tmp_path, asked(), asked(region_case(purpose="full")))
    assert [figure.purpose for figure in article.regions] == ["full", "resolve"]


def test_the_table_holds_what_the_file_holds(tmp_path: Path) -> None:
    article = written(tmp_path, asked())
    table = checked(schema_of("annotations"), annotation_rows([article]))
    assert article_of_row(table.to_dicts()[0]).regions == article.regions
    assert annotated_articles(table.to_dicts()) == {}, "an article is not annotated in full by its regions"


def test_a_file_with_a_region_of_a_mark_that_is_not_there_cannot_be_used(tmp_path: Path) -> None:
    content = annotation_of(written(tmp_path, asked()))
    content["regions"][0]["panels"][0]["regions"][0]["marks"] = [2]
    (tmp_path / "PMC7.json").write_text(json.dumps(content))
    (problem,) = read_annotations([tmp_path / "PMC7.json"]).problems
    assert "a mark that is not there: the panel has 2" in problem.reason


def test_a_task_names_kinds_as_people_choose_them_and_offers_the_words_of_the_phrases() -> None:
    task = regions_task(region_case(), PICTURE, SEEN)
    found = task["predictions"][0]["result"]
    assert [r["value"]["rectanglelabels"][0] for r in found if r["type"] == "rectanglelabels"] == [
        "Arrow", "Circle", "Region", "Region", "Asterisk", "Region",
    ]  # fmt: skip
    assert task["data"]["phrases"] == [{"value": "Drusen"}, {"value": "macula"}]
    assert task["data"]["mentions"] == "Drusen lie beside the macula (white arrow)."
