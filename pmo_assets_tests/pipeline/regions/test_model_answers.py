"""What an answer about a panel's objects must fit: words of the panel's own text, boxes, descriptions without news."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from pmo_assets.pipeline.prompting.asking import MisfittingAnswer
from pmo_assets.pipeline.prompting.prompts import load_prompt
from pmo_assets.pipeline.regions.model_answers import (
    MAX_GIVEN,
    MOST_BOXES,
    MOST_WORDS,
    RESPONSES,
    FoundObject,
    NamedObject,
    NamedObjects,
    PanelText,
    fitting_objects,
    question_json,
)
from pmo_assets.pipeline.regions.model_regions import TASK
from pmo_assets.records.context import Abbreviation

TEXT = PanelText(
    "Fundus photograph of the left eye. White arrow: large soft drusen. There is no subretinal fluid.",
    ("Pigment clumping was seen beside them (Fig. 1A).",),
)


def named(label: str, description: str = "", box: Any = (100, 200, 300, 400)) -> dict[str, Any]:
    return {"label": label, "bbox_2d": list(box), "description": description}


def fitted(*objects: dict[str, Any], text: PanelText = TEXT) -> tuple[FoundObject, ...]:
    return fitting_objects(NamedObjects.model_validate({"objects": list(objects)}), text)


@pytest.mark.parametrize(("given_", "output"), load_prompt(TASK).examples)
def test_every_example_of_the_prompt_fits_its_own_rules(given_: dict[str, Any], output: dict[str, Any]) -> None:
    abbreviations = tuple(Abbreviation(*item) for item in given_["abbreviations"].items())
    text = PanelText(given_["subcaption"], tuple(given_["sentences"]), abbreviations)
    assert question_json(text) == given_
    assert len(fitted(*output["objects"], text=text)) == len(output["objects"])


def test_the_prompt_names_the_response_model() -> None:
    assert RESPONSES[load_prompt(TASK).schema_name] is NamedObjects


@pytest.mark.parametrize(
    ("label", "words"),
    [
        ("large soft drusen", "large soft drusen"),
        ("Drusen", "drusen"),
        ("pigment clumpings", "Pigment clumping"),
        ("photograph of the left eye", "photograph of the left eye"),
    ],
)
def test_the_words_that_are_kept_are_those_of_the_text(label: str, words: str) -> None:
    (found,) = fitted(named(label, "Yellow dots."))
    assert (found.text, found.box, found.description) == (words, (0.1, 0.2, 0.3, 0.4), "Yellow dots.")


@pytest.mark.parametrize(
    ("label", "reason"),
    [
        ("haemorrhage", "does not stand in"),
        ("drusen large", "does not stand in"),
        ("left eye. White", "does not stand in"),  # words of two sentences
        ("white arrow", "names a mark"),
        ("subretinal fluid", "says that there is no"),
        ("the", "names no object"),
        ("…", "names no object"),
    ],
)
def test_a_label_that_the_text_does_not_name_is_refused(label: str, reason: str) -> None:
    with pytest.raises(MisfittingAnswer, match=reason):
        fitted(named("drusen"), named(label))


@pytest.mark.parametrize(
    ("description", "reason"),
    [
        ("Deposits of 125 µm.", "the number 125"),
        ("An amelanotic choroidal melanoma.", "choroidal melanoma"),
        ("Dots, see https://example.org", "no plain sentence"),
        ("<b>Dots</b>", "no plain sentence"),
        ("Dots \u202eesrever", "no plain sentence"),
        ("Pigment clumping was seen beside them.", "copies the text"),
        ("dot " * (MOST_WORDS + 1), f"more than {MOST_WORDS} words"),
    ],
)
def test_a_description_that_says_more_than_can_be_seen_is_refused(description: str, reason: str) -> None:
    with pytest.raises(MisfittingAnswer, match=reason):
        fitted(named("drusen", description))


@pytest.mark.parametrize("box", [(300, 200, 100, 400), (100, 400, 300, 400)])
def test_a_box_without_area_is_refused(box: tuple[int, ...]) -> None:
    with pytest.raises(MisfittingAnswer, match="is not"):
        fitted(named("drusen", box=box))


@pytest.mark.parametrize(
    "objects",
    [
        [named("drusen", box=(0, 0, 1001, 10))],
        [named("drusen", box=(-1, 0, 10, 10))],
        [named("drusen", box=(0, 0, 10))],
        [named("drusen", box=(0, 0, float("nan"), 10))],
        [named("drusen", box=(0, 0, float("inf"), 10))],
        [named("drusen")] * (MOST_BOXES + 1),
        [{**named("drusen"), "more": 1}],
        [named("drusen " * 100)],
    ],
)
def test_what_the_schema_forbids_is_no_answer(objects: list[dict[str, Any]]) -> None:
    with pytest.raises(ValidationError):
        NamedObjects.model_validate({"objects": objects})


@given(st.text(max_size=80), st.text(max_size=200))
def test_whatever_is_said_the_words_kept_stand_in_the_text(label: str, description: str) -> None:
    try:
        (found,) = fitting_objects(NamedObjects.model_construct(objects=[_unchecked(label, description)]), TEXT)
    except MisfittingAnswer:
        return
    assert any(found.text in text for text in (TEXT.subcaption, *TEXT.mentions))


def _unchecked(label: str, description: str) -> Any:
    return NamedObject.model_construct(label=label, bbox_2d=[0, 0, 10, 10], description=description)


def test_a_model_is_given_a_bounded_number_of_whole_sentences() -> None:
    sentence = "Drusen are seen. " * 100
    given_ = PanelText("A" * MAX_GIVEN, (sentence,)).bounded()
    assert (len(given_.subcaption), given_.mentions) == (MAX_GIVEN, ())
    assert PanelText("A", (sentence,) * 10).bounded().mentions == (sentence,) * 3
