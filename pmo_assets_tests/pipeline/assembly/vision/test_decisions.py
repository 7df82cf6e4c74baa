"""What a fitting answer is, and that every example of the prompts is one."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.pipeline.assembly.vision.answers import ANSWERS, FigureAnswer
from pmo_assets.pipeline.assembly.vision.decisions import Decision, fitting_decisions
from pmo_assets.pipeline.assembly.vision.figure_types import FIGURE_TYPES, FigureType, figure_type, hints
from pmo_assets.pipeline.assembly.vision.look import ADJUDICATION_TASK, TASK_OF, TASKS
from pmo_assets.pipeline.assembly.vision.question import (
    MAX_PANELS,
    AskedImage,
    AskedLabel,
    AskedPanel,
    FigureNotAsked,
    FigureQuestion,
    from_thousandths,
    in_thousandths,
    question_json,
)
from pmo_assets.pipeline.prompting.asking import MisfittingAnswer, parsed_answer
from pmo_assets.pipeline.prompting.prompts import load_prompt
from pmo_assets.records.detections import PanelDetection
from pmo_assets.records.panels import Panel, PanelImage
from pmo_assets.records.subcaptions import CaptionSplit, Subcaption
from pmo_assets_tests.pipeline.assembly.vision.figures import (
    BOTTOM_LEFT,
    BOTTOM_RIGHT,
    PLACE,
    TOP_LEFT,
    TOP_RIGHT,
    Figure,
    assigned,
    grouped,
    label,
    panel,
)


def decided(question: FigureQuestion, answer: Any) -> tuple[Decision, ...]:
    response: type[FigureAnswer] = ANSWERS[question.type]
    return fitting_decisions(question, parsed_answer(response, json.dumps(answer)))


def lettered() -> Figure:
    """A is certain; B and C are undecided; a label that nobody read stands in the panel of B."""
    panels = [panel(0, TOP_LEFT, "A", 0.97), panel(1, TOP_RIGHT), panel(2, BOTTOM_LEFT, "C", 0.4)]
    return Figure(
        ["A", "B", "C"], panels, [label(0, [0.52, 0.01, 0.55, 0.06], None), label(1, [0.0, 0.0, 0.04, 0.05], "A")]
    )


NEW_LABEL = {"bbox_2d": [5, 515, 40, 560], "text": "C"}


# which names


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        (["A", "B"], "alphanumeric"),
        (["1", "2b"], "alphanumeric"),
        (["top row", "bottom row"], "positional"),
        (["leftmost", "center", "Right"], "positional"),
        (["second column", "columns 3-4"], "positional"),
        (["A", "lower left"], "mixed"),
        (["OCT", "FA"], "alphanumeric"),
        (["bright", "cleft"], "alphanumeric"),
    ],
)
def test_names_decide_how_a_figure_is_asked_about(names: list[str], kind: FigureType) -> None:
    assert figure_type(names) == kind


def test_hints_speak_of_likely_confusions_and_gaps_and_lines() -> None:
    assert len(hints(["a", "A"])) == 1
    assert "series" in hints(["A", "B", "D"])[0]
    assert hints(["A", "B", "C"]) == []
    assert "columns" in hints(["left column", "right column"])[0]


# the question


def test_a_question_holds_what_is_undecided_and_shows_what_is_final() -> None:
    question = lettered().question()
    facts = question_json(question, "json")
    assert [(item["panel_id"], item["is_final"]) for item in facts["panels"]] == [
        ("P1", True),
        ("P2", False),
        ("P3", False),
    ]
    assert facts["panels"][0]["assigned_subcaption"] == "A"
    assert facts["panels"][1]["bbox_2d"] == [510, 0, 1000, 490]
    assert [item["label_id"] for item in facts["labels"]] == ["L1", "L2"], "given to no panel, so perhaps an open one's"
    assert list(facts["subcaption_options"]) == ["A", "B", "C"]
    assert "bbox_2d" not in json.dumps(question_json(question, "drawn"))


def test_a_label_of_another_panel_is_no_evidence() -> None:
    figure = lettered()
    figure.panels[2]["printed_identifiers"] = [{"id": "l2", "box": [0.0, 0.52, 0.04, 0.56], "score": 0.9, "text": "B"}]
    figure.labels.append(label(2, [0.0, 0.52, 0.04, 0.56], "B"))
    answer = {"assignments": [assigned("P2", "B", {"label_id": "L3"}), assigned("P3", "C", PLACE)]}
    with pytest.raises(MisfittingAnswer, match="the label L3 lies in P3 and not in P2"):
        decided(figure.question(), answer)


def test_labels_of_final_panels_are_left_out_and_images_too() -> None:
    figure = lettered()
    figure.panels[0]["printed_identifiers"] = [{"id": "l1", "box": [0, 0, 0.04, 0.05], "score": 0.9, "text": "A"}]
    question = figure.question()
    assert [item.label.detection_id for item in question.labels] == ["l0"]
    assert [item.image.id for item in question.images] == ["i1", "i2"]


def test_a_figure_beyond_bounds_is_not_asked_about() -> None:
    many = [panel(number, TOP_LEFT) for number in range(MAX_PANELS + 1)]
    with pytest.raises(FigureNotAsked, match="61 panels"):
        Figure(["A"], many).question()
    with pytest.raises(FigureNotAsked, match="a name of more than 64"):
        Figure(["A" * 65, "B"], many[:2]).question()
    with pytest.raises(FigureNotAsked, match="characters of captions and boxes"):
        Figure([f"{number} {'x' * 55}" for number in range(600)], many[:2]).question()


@given(st.lists(st.floats(0, 1), min_size=4, max_size=4))
def test_boxes_come_back_within_half_a_thousandth(values: list[float]) -> None:
    left, right = sorted(values[:2])
    top, bottom = sorted(values[2:])
    back = from_thousandths(in_thousandths((left, top, right, bottom)))
    assert all(abs(a - b) <= 0.0005 + 1e-9 for a, b in zip(back, (left, top, right, bottom), strict=True))


# alphanumeric


def test_labels_given_and_new_are_print_and_places_are_places() -> None:
    found = decided(
        lettered().question(),
        {"assignments": [assigned("P2", "B", {"label_id": "L1"}), assigned("P3", "C", PLACE, sure=0.6)]},
    )
    assert [(item.panel, item.name, item.grounds) for item in found] == [("P2", "B", "print"), ("P3", "C", "place")]
    assert found[0].seen[0].label == "L1"
    assert found[0].seen[0].box == (0.52, 0.01, 0.55, 0.06)
    assert found[1].seen[0].text == "first of two rows"


def test_a_rejected_panel_has_no_subcaption() -> None:
    found = decided(lettered().question(), {"assignments": [assigned("P2", None), assigned("P3", "C", NEW_LABEL)]})
    assert (found[0].name, found[0].grounds) == (None, "none")
    assert found[1].seen[0].box == (0.005, 0.515, 0.04, 0.56)


def test_names_may_differ_in_spelling_but_not_in_what_they_name() -> None:
    found = decided(lettered().question(), {"assignments": [assigned("P2", "(b)", PLACE), assigned("P3", "C", PLACE)]})
    assert found[0].name == "B"


FITS = assigned("P3", "C", PLACE)


@pytest.mark.parametrize(
    ("items", "reason"),
    [
        ([FITS], "P2 is not answered"),
        ([assigned("P2", "B", PLACE), FITS, FITS], "P3 is answered twice"),
        ([assigned("P9", "B", PLACE), FITS], "no panel P9"),
        ([assigned("P1", "A", PLACE), assigned("P2", "B", PLACE), FITS], "P1 is final"),
        ([assigned("P2", "Z", PLACE), FITS], "none of the options A, B, C"),
        ([assigned("P2", "B"), FITS], "no evidence"),
        ([assigned("P2", "B", {"label_id": "L7"}), FITS], "no label L7"),
        ([assigned("P2", None) | {"reject_panel": False}, FITS], "give one, or reject"),
        ([assigned("P2", "B", PLACE) | {"reject_panel": True}, FITS], "one of both"),
        ([assigned("P2", "B", {"bbox_2d": [0, 0, 40, 40], "text": "B"}), FITS], "does not lie in the panel"),
        ([assigned("P2", "B", {"bbox_2d": [510, 0, 900, 400], "text": "B"}), FITS], "too large"),
        ([assigned("P2", "B", {"bbox_2d": [520, 10, 520, 40], "text": "B"}), FITS], "no area"),
        ([assigned("P2", "B", {"bbox_2d": [520, 10, 540, 40], "text": "B is here now"}), FITS], "3 words"),
        ([assigned("P2", "B", {"bbox_2d": [520, 10, 540, 40], "text": "c"}), FITS], "'C' and not 'B'"),
        ([assigned("P2", "B", {"bbox_2d": [520, 10, 540, 1001], "text": "B"}), FITS], "less than or equal to 1000"),
        ([assigned("P2", "B", PLACE, sure=1.2), FITS], "less than or equal to 1"),
        ([{"panel_id": "P2"}, FITS], "Field required"),
    ],
)
def test_what_does_not_fit_is_told_in_words(items: list[dict[str, Any]], reason: str) -> None:
    with pytest.raises(MisfittingAnswer, match=reason):
        decided(lettered().question(), {"assignments": items})


@pytest.mark.parametrize(("inside", "fits"), [(6, True), (4, False)])
def test_a_new_label_may_stand_beside_its_panel_if_a_twentieth_of_it_reaches_in(inside: int, fits: bool) -> None:
    figure = Figure(["A", "B"], [panel(0, [0.2, 0.0, 1.0, 1.0])])
    beside = {"bbox_2d": [100 + inside, 0, 200 + inside, 100], "text": "A"}
    answer = {"assignments": [assigned("P1", "A", beside)]}
    if fits:
        assert decided(figure.question(), answer)[0].grounds == "print"
    else:
        with pytest.raises(MisfittingAnswer, match="does not lie"):
            decided(figure.question(), answer)


@pytest.mark.parametrize(("side", "fits"), [(200, True), (201, False)])
def test_a_new_label_has_a_fifth_of_its_panel_at_most(side: int, fits: bool) -> None:
    figure = Figure(["A", "B"], [panel(0, [0.0, 0.0, 1.0, 1.0])])
    answer = {"assignments": [assigned("P1", "A", {"bbox_2d": [0, 0, side, 1000], "text": "A"})]}
    if fits:
        assert decided(figure.question(), answer)
    else:
        with pytest.raises(MisfittingAnswer, match="too large"):
            decided(figure.question(), answer)


# positional and mixed


def rows() -> Figure:
    boxes = [TOP_LEFT, TOP_RIGHT, BOTTOM_LEFT, BOTTOM_RIGHT]
    return Figure(["top row", "bottom row"], [panel(number, box) for number, box in enumerate(boxes)])


def test_images_are_grouped_by_place_and_the_rest_is_left_out() -> None:
    answer = {"groups": [grouped("top row", "I2", "I1"), grouped("bottom row", "I3")], "left_out": ["I4"]}
    found = decided(rows().question(), answer)
    assert [(item.images, item.name) for item in found] == [
        (frozenset({"I1", "I2"}), "top row"),
        (frozenset({"I3"}), "bottom row"),
        (frozenset({"I4"}), None),
    ]


@pytest.mark.parametrize(
    ("groups", "left_out", "reason"),
    [
        ([grouped("top row", "I1", "I2"), grouped("bottom row", "I3")], [], "I4 is not answered"),
        ([grouped("top row", "I1", "I2"), grouped("bottom row", "I3", "I4")], ["I4"], "I4 is answered twice"),
        ([grouped("top row", "I1", "I9"), grouped("bottom row", "I3", "I4")], ["I2"], "no image I9"),
        ([grouped("top row", "I1", "I2"), grouped("top row", "I3", "I4")], [], "two groups"),
        ([grouped("top row", "I1", "I4"), grouped("bottom row", "I3", "I2")], [], "enclose I2, I3"),
        ([grouped("middle", "I1", "I2"), grouped("bottom row", "I3", "I4")], [], "none of the options"),
        ([grouped("top row", "I1", "I2") | {"evidence": []}, grouped("bottom row", "I3", "I4")], [], "no evidence"),
    ],
)
def test_groups_that_do_not_fit_are_told_in_words(groups: list[Any], left_out: list[str], reason: str) -> None:
    with pytest.raises(MisfittingAnswer, match=reason):
        decided(rows().question(), {"groups": groups, "left_out": left_out})


def test_a_group_may_not_enclose_a_final_panel() -> None:
    boxes = [[0.0, 0.0, 0.3, 1.0], [0.35, 0.0, 0.65, 1.0], [0.7, 0.0, 1.0, 1.0]]
    panels = [panel(0, boxes[0]), panel(1, boxes[1], "middle", 0.95), panel(2, boxes[2])]
    with pytest.raises(MisfittingAnswer, match="enclose P2"):
        decided(
            Figure(["left", "middle"], panels).question(), {"groups": [grouped("left", "I1", "I2")], "left_out": []}
        )


def mixed() -> Figure:
    figure = rows()
    return Figure(["A", "B", "bottom row"], figure.panels)


def test_a_mixed_figure_takes_panels_and_groups() -> None:
    answer = {
        "assignments": [assigned("P1", "A", PLACE), assigned("P2", None)],
        "groups": [grouped("bottom row", "I3", "I4")],
        "left_out": [],
    }
    found = decided(mixed().question(), answer)
    assert [(item.panel, item.name) for item in found] == [("P1", "A"), ("P2", None), (None, "bottom row")]


@pytest.mark.parametrize(
    ("assignments", "groups", "reason"),
    [
        ([assigned("P1", "A", PLACE)], [grouped("bottom row", "I3", "I4")], "I2 is not answered"),
        ([assigned("P1", "A", PLACE), assigned("P2", None)], [grouped("bottom row", "I1", "I3")], "no image I1"),
        ([assigned("P1", "A", PLACE), assigned("P2", None)], [grouped("bottom row", "I3")], "I4 is not answered"),
    ],
)
def test_a_mixed_figure_is_answered_once_and_completely(assignments: Any, groups: Any, reason: str) -> None:
    with pytest.raises(MisfittingAnswer, match=reason):
        decided(mixed().question(), {"assignments": assignments, "groups": groups, "left_out": []})


def test_a_panel_without_images_must_be_assigned_or_rejected() -> None:
    figure = mixed()
    figure.panels[0]["images"], figure.images = [], figure.images[1:]
    answer = {"assignments": [], "groups": [grouped("bottom row", "I2", "I3")], "left_out": ["I1"]}
    with pytest.raises(MisfittingAnswer, match="P1 is not answered and holds no image"):
        decided(figure.question(), answer)


# prompts


def asked_in(kind: FigureType, given: dict[str, Any]) -> FigureQuestion:
    """Return an example's input as the question that it shows."""
    listed: list[Any] = given.get("panels") or given.get("final_panels") or []
    panels = tuple(
        AskedPanel(
            item["panel_id"],
            Panel(number, (), box, box, 1.0, identifier=item.get("assigned_subcaption")),
            item["is_final"],
        )
        for number, item in enumerate(listed)
        for box in [from_thousandths(item["bbox_2d"])]
    )
    labels = tuple(
        AskedLabel(
            item["label_id"],
            PanelDetection(
                "identifier",
                from_thousandths(item["bbox_2d"]),
                1.0,
                "text",
                item["detected_text"],
                item["detection_confidence"],
            ),
            item["assigned_to"],
        )
        for item in given.get("labels", ())
    )
    images = tuple(
        AskedImage(
            item["image_id"],
            PanelImage(item["image_id"], from_thousandths(item["bbox_2d"]), 1.0, None, 0.0, None, 0.0),
            item.get("panel_id"),
        )
        for item in given.get("images", ())
    )
    split = CaptionSplit(tuple(Subcaption(name, text, ()) for name, text in given["subcaption_options"].items()), 1.0)
    return FigureQuestion(kind, given["full_caption"], split, panels, labels, images)


EXAMPLES = [(kind, *example) for kind in FIGURE_TYPES for example in load_prompt(TASK_OF[kind]).examples]


@pytest.mark.parametrize(("kind", "given", "output"), EXAMPLES)
def test_every_example_is_a_question_as_it_is_asked_and_a_fitting_answer(
    kind: FigureType, given: dict[str, Any], output: dict[str, Any]
) -> None:
    question = asked_in(kind, given)
    assert figure_type(list(question.options)) == kind
    assert question_json(question, "json") == given
    assert decided(question, output)
    words = set(re.findall(r"\w+", question.caption.casefold()))
    assert all(set(re.findall(r"\w+", text.casefold())) <= words for text in question.options.values())


def test_every_task_of_figures_has_a_prompt_with_the_schema_of_its_answers() -> None:
    assert {load_prompt(TASK_OF[kind]).schema_name for kind in FIGURE_TYPES} == {
        response.__name__ for response in ANSWERS.values()
    }
    assert load_prompt(ADJUDICATION_TASK).examples == ()
    assert all(load_prompt(task).temperature > 0 for task in TASKS), (
        "asked twice: an answer that cannot differ proves nothing"
    )
