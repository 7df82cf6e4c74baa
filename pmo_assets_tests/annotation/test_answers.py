"""Tasks and answers: what the machine found goes out and comes back; whatever people, or others, put in is checked."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.annotation.answers import as_is, take_answers, task_article
from pmo_assets.annotation.label_studio import (
    ExportUnreadable,
    answered,
    box_of,
    characters,
    exported_tasks,
    rectangle,
    utf16_units,
)
from pmo_assets.annotation.tasks import ShownPage, audit_tasks, boxes_task, captions_task, page_task
from pmo_assets.records.geometry import Box
from pmo_assets_tests.annotation.answered_cases import (
    CAPTION,
    LEFT,
    PICTURE,
    RIGHT,
    SEEN,
    case,
    known,
    panel_row,
    region,
    result_of,
    submitted,
)
from pmo_assets_tests.examples import examples


@st.composite
def boxes(draw: st.DrawFn) -> Box:
    edge = st.floats(0, 0.95, allow_nan=False)
    left, top = draw(edge), draw(edge)
    return left, top, draw(st.floats(left + 0.01, 1)), draw(st.floats(top + 0.01, 1))


@given(boxes())
@examples(200)
def test_a_box_comes_back_where_it_was(box: Box) -> None:
    assert box_of(rectangle("r", box, "Panel", 400, 200)["value"]) == pytest.approx(box, abs=1e-7)


@given(st.lists(boxes(), min_size=1, max_size=6))
@examples(100)
def test_a_submitted_figure_has_the_panels_that_were_shown(drawn: list[Box]) -> None:
    shown = case(*(panel_row(n, box, None, images=[], printed_identifiers=[]) for n, box in enumerate(drawn)))
    taken = take_answers([submitted(boxes_task(shown, PICTURE, SEEN))], known())
    assert taken.problems == []
    (figure,) = taken.figures["PMC7"]
    assert [panel.box for panel in figure.panels] == [pytest.approx(box, abs=1e-7) for box in drawn]


@given(st.text(max_size=40), st.integers(0, 40))
@examples(200)
def test_places_in_a_text_survive_the_browsers_way_of_counting(text: str, place: int) -> None:
    place = min(place, len(text))
    assert utf16_units(text, place) == len(text[:place].encode("utf-16-le", "surrogatepass")) // 2
    assert characters(text, utf16_units(text, place)) == place


def test_boxes_bring_identifiers_and_images_to_their_panels() -> None:
    task = submitted(boxes_task(case(panel_row(0, LEFT, "a"), panel_row(1, RIGHT, None)), PICTURE, SEEN))
    written = {**region(task, "identifier-0-d0", "identifier"), "id": "identifier-1-d1", "value": {"text": ["b"]}}
    result_of(task).append(written)
    region(task, "image-1-i1", "mark")["value"]["choices"] = ["Annotated"]
    (figure,) = take_answers([task], known(), as_is).figures["PMC7"]
    assert [(p.identifier, len(p.images)) for p in figure.panels] == [("a", 1), ("b", 1)]
    assert [p.images[0].marked for p in figure.panels] == [False, True]
    assert figure.review is not None
    assert (figure.review.annotator, figure.review.decided) == ("1", ("panels", "identifiers", "images"))


def test_captions_submitted_as_shown_give_the_machines_words_and_leave_its_boxes_alone() -> None:
    (figure,) = take_answers([submitted(captions_task(case(), PICTURE, SEEN))], known()).figures["PMC7"]
    assert figure.panels[0].subcaption == "Overview. CFP of the eye. Scale bars 1 mm."
    assert figure.panels[0].segments == ((0, 9), (14, 29), (43, 60))
    assert figure.panels[1].subcaption is None
    assert figure.decided == ("subcaptions",)


def test_marked_parts_give_the_subcaption_of_a_panel_without_words() -> None:
    task = submitted(captions_task(case(), PICTURE, SEEN))
    result_of(task).append(
        {"id": "mine", "from_name": "parts", "to_name": "caption", "type": "labels",
         "value": {"start": 34, "end": 43, "text": CAPTION[34:43], "labels": ["Subcaption"]}}
    )  # fmt: skip
    result_of(task).append({"type": "relation", "from_id": "panel-1", "to_id": "mine", "direction": "right"})
    (figure,) = take_answers([task], known()).figures["PMC7"]
    assert (figure.panels[1].subcaption, figure.panels[1].segments) == ("OCT scan.", ((34, 43),))


def test_a_panel_that_was_moved_decides_the_panels_too() -> None:
    task = submitted(captions_task(case(), PICTURE, SEEN))
    region(task, "panel-1")["value"]["width"] = 40
    (figure,) = take_answers([task], known()).figures["PMC7"]
    assert figure.decided == ("subcaptions", "panels")


def test_pages_give_figures_with_their_captions_and_name_what_the_machine_missed() -> None:
    page = ShownPage(1, (0.0, 0.0, 600.0, 800.0), 3)
    task = submitted(page_task([case()], "PMC7", page, PICTURE))
    new = {**region(task, "figure-f1-0"), "id": "new"}
    new["value"] = {**new["value"], "x": 20.0, "y": 60.0, "width": 50.0, "height": 20.0}
    result_of(task).append(new)
    taken = take_answers([task], known())
    first, second = taken.figures["PMC7"]
    assert (first.image_cluster_id, second.image_cluster_id) == ("f1", None)
    assert first.figure_locations[0].bbox == pytest.approx((100, 100, 500, 300), abs=0.01)
    assert first.caption_locations[0].bbox == pytest.approx((100, 310, 500, 340), abs=0.01)
    assert second.figure_locations[0].bbox == pytest.approx((120, 480, 420, 640), abs=0.01)
    assert (taken.pages, taken.page_counts) == ({"PMC7": {1}}, {"PMC7": 3})


def test_an_audit_brings_a_verdict_and_who_had_assigned() -> None:
    asked = case(panel_row(0, LEFT, "a"), purpose="audit")
    (made,) = audit_tasks(type(asked)(**{**vars(asked), "asked": frozenset({0})}), PICTURE, SEEN)
    task = submitted(made)
    result_of(task).append({"id": "v", "from_name": "verdict", "to_name": "figure", "type": "choices",
                            "value": {"choices": ["wrong"]}})  # fmt: skip
    (figure,) = take_answers([task], known()).figures["PMC7"]
    assert (figure.panels[0].verdict, figure.panels[0].judged) == ("wrong", "Automatic Caption Assignment")
    assert figure.decided == ()


def _without_figure(task: dict[str, Any]) -> None:
    task["data"]["pmo"]["figure"] = "f9"


def _outside(task: dict[str, Any]) -> None:
    region(task, "panel-0")["value"]["x"] = 93.0


HOSTILE = {
    "no figure 'f9'": _without_figure,
    "no article 'PMC8'": lambda t: t["data"]["pmo"].update(article="PMC8"),
    "outside the picture": _outside,
    "no area": lambda t: region(t, "panel-0")["value"].update(width=0),
    "is no number": lambda t: region(t, "panel-0")["value"].update(width="NaN"),
    "no number": lambda t: region(t, "panel-0")["value"].update(width=float("inf")),
    "of a box is no number": lambda t: region(t, "panel-0")["value"].update(width=10**400),
    "no task of this project: page": lambda t: t["data"]["pmo"].update(page=10**30),
    "turned": lambda t: region(t, "panel-0")["value"].update(rotation=12),
    "unknown label 'Pannel'": lambda t: region(t, "panel-0")["value"].update(rectanglelabels=["Pannel"]),
    "not exactly one label": lambda t: region(t, "panel-0")["value"].update(rectanglelabels=[]),
    "no panel is drawn": lambda t: t["annotations"][0].update(result=[]),
    "no list of regions": lambda t: t["annotations"][0].update(result={"a": 1}),
    "a region is no object": lambda t: t["annotations"][0]["result"].append("x"),
    "relation points at": lambda t: result_of(t).append({"type": "relation", "from_id": "a", "to_id": "b"}),
    "unknown kind": lambda t: result_of(t).append({"type": "polygonlabels", "id": "x", "value": {}}),
    "time cannot be read": lambda t: t["annotations"][0].update(updated_at="yesterday"),
    "no task of this project": lambda t: t["data"].update(pmo={"interface": "boxes"}),
    "sha256": lambda t: t["data"]["pmo"]["fingerprint"].update(sha256="../../etc"),
    "an answer is no object": lambda t: t.update(annotations=["x"]),
    "two boxes have the id": lambda t: result_of(t).append(dict(region(t, "panel-0"))),
}  # fmt: skip


@pytest.mark.parametrize("reason", HOSTILE)
def test_what_cannot_be_is_a_problem_of_its_task_and_the_others_are_taken(reason: str) -> None:
    bad, good = (submitted(boxes_task(case(), PICTURE, SEEN)) for _ in range(2))
    HOSTILE[reason](bad)
    taken = take_answers([bad, good], known())
    assert len(taken.problems) == 1
    assert reason in taken.problems[0].reason
    assert "task 3" in taken.problems[0].task
    assert taken.taken == 1


@pytest.mark.parametrize("task", [None, 7, "x", [], {}, {"data": None}, {"data": {"pmo": []}}, {"data": {"pmo": None}}])
def test_anything_at_all_may_stand_in_an_export(task: object) -> None:
    assert task_article(task) is None
    assert len(take_answers([task], known()).problems) == 1


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(max_size=8), lambda c: st.lists(c, max_size=4)
       | st.dictionaries(st.sampled_from(["type", "id", "value", "x", "from_name", "text", "labels", "start"]), c,
                         max_size=5), max_leaves=20))  # fmt: skip
@examples(300)
def test_any_result_is_taken_or_named(result: Any) -> None:
    task = submitted(boxes_task(case(), PICTURE, SEEN))
    task["annotations"][0]["result"] = result
    taken = take_answers([task], known())
    assert len(taken.problems) + taken.taken == 1


@pytest.mark.parametrize("content", [b"", b"{", b"{}", b"[" * 100_000, b"\xff\xfe"])
def test_a_file_that_is_no_export_is_refused_in_words(content: bytes) -> None:
    with pytest.raises(ExportUnreadable, match="export the project as JSON"):
        exported_tasks(content)


def test_a_caption_that_changed_since_the_export_is_noticed() -> None:
    task = submitted(captions_task(case(), PICTURE, SEEN))
    taken = take_answers([task], known(caption="Another. (a) Something else that is long enough to hold places of it."))
    assert "marked text is" in taken.problems[0].reason


def test_a_name_with_half_a_sign_stands_for_a_person_too() -> None:
    task = submitted(boxes_task(case(), PICTURE, SEEN))
    task["annotations"][0]["completed_by"] = "ann\ud800"
    assert take_answers([task], known()).taken == 1


def test_skipped_answers_are_counted_and_not_taken() -> None:
    task = submitted(boxes_task(case(), PICTURE, SEEN))
    task["annotations"][0]["was_cancelled"] = True
    taken = take_answers([task], known())
    assert (taken.skipped, taken.taken, taken.figures) == (1, 0, {})


def test_tasks_are_json_and_predictions_hold_only_what_the_interface_knows() -> None:
    from pmo_assets.annotation.interfaces import INTERFACES, configuration

    for make in (boxes_task, captions_task):
        task = json.loads(json.dumps(make(case(), PICTURE, SEEN)))
        interface = task["data"]["pmo"]["interface"]
        assert interface in INTERFACES
        names = {r["from_name"] for r in task["predictions"][0]["result"] if r["type"] != "relation"}
        assert all(f'name="{name}"' in configuration(interface) for name in names)
        answered(task["predictions"][0]["result"], labels=["Panel", "Identifier", "CFP"], caption=CAPTION,
                 parts=["Subcaption"])  # fmt: skip
