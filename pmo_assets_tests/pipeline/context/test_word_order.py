"""Listed names in another order: places and causes behind, states of places, shared words, words in between."""

from __future__ import annotations

import pytest

from pmo_assets.pipeline.context.entities import entities_of


def diseases(text: str) -> list[tuple[str, str]]:
    """Term and words of each disease of a text."""
    return [(entity.term, entity.text) for entity in entities_of(text, {}) if entity.group == "disease"]


@pytest.mark.parametrize(
    ("text", "term", "words"),
    [
        ("an ulcer in the cornea", "infectious keratitis", "ulcer"),
        ("metastases within the choroid", "choroidal metastasis", "metastases"),
        ("fracture of the medial wall of the orbit", "orbital fracture", "fracture of the medial wall of the orbit"),
        ("opacification of the posterior capsule", "posterior capsule opacification", ""),
        ("blunt trauma to the left eye", "blunt ocular trauma", "blunt trauma"),
    ],
)
def test_a_place_behind_a_head(text: str, term: str, words: str) -> None:
    assert diseases(text) == [(term, words or text)]


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("a perforated cornea", "corneal perforation"),
        ("The retina was not yet completely detached.", "retinal detachment"),
        ("The lens is subluxated inferiorly.", "ectopia lentis"),
        ("The central retinal vein appears occluded.", "central retinal vein occlusion"),
    ],
)
def test_a_place_in_a_state_has_it(text: str, term: str) -> None:
    assert [name for name, _ in diseases(text)] == [term]


def test_a_state_that_is_denied_is_absent() -> None:
    (entity,) = [entity for entity in entities_of("The retina is not detached.", {}) if entity.group == "disease"]
    assert (entity.term, entity.text, entity.negated) == ("retinal detachment", "detached", True)


@pytest.mark.parametrize("text", ["The retina lies flat, detached from its vessels.", "a detached tone", "torn paper"])
def test_a_state_without_its_place_is_none(text: str) -> None:
    assert diseases(text) == []


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("retinitis due to cytomegalovirus", "cytomegalovirus retinitis"),
        ("keratitis caused by Acanthamoeba", "Acanthamoeba keratitis"),
        ("retinopathy of diabetes", "diabetic retinopathy"),
        ("vitelliform dystrophy of Best", "Best vitelliform macular dystrophy"),
    ],
)
def test_a_cause_behind_a_disease_makes_the_narrower_one(text: str, term: str) -> None:
    assert diseases(text)[0][0] == term


def test_a_narrower_disease_lies_within_what_is_printed() -> None:
    first = entities_of("retinitis due to cytomegalovirus", {})[0]
    assert "retinitis" in first.broader


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("uveal malignant melanoma", "uveal melanoma"),
        ("herpes simplex epithelial keratitis", "herpes simplex keratitis"),
        ("dry, age-related macular degeneration", "dry age-related macular degeneration"),
        ("macular cystoid edema", "cystoid macular edema"),
        ("retinal acute necrosis", "acute retinal necrosis"),
        ("lacrimal gland pleomorphic adenoma", "lacrimal gland tumor"),
    ],
)
def test_words_in_between_and_in_another_order(text: str, term: str) -> None:
    assert [name for name, _ in diseases(text)] == [term]


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("retinal tears and detachments", ["retinal tear", "retinal detachment"]),
        ("choroidal nevus or melanoma", ["choroidal nevus", "choroidal melanoma"]),
        ("choroidal nevus or melanoma of the iris", ["choroidal nevus", "iris melanoma"]),
        ("retinal detachment and cataract", ["retinal detachment", "cataract"]),
    ],
)
def test_words_that_two_names_share(text: str, terms: list[str]) -> None:
    assert [name for name, _ in diseases(text)] == terms


def test_a_name_with_shared_words_is_read_by_no_other_place() -> None:
    text = "choroidal masses; retinal tears and detachments"
    assert [name for name, _ in diseases(text)] == ["retinal tear", "retinal detachment"]


@pytest.mark.parametrize(
    ("text", "term"),
    [("uveitic eyes", "uveitis"), ("an esotropic patient", "esotropia"), ("The upper lid was ptotic.", "ptosis")],
)
def test_an_adjective_that_is_said_of_an_eye(text: str, term: str) -> None:
    assert [name for name, _ in diseases(text)] == [term]
