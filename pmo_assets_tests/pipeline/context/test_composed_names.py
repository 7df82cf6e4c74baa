"""Diseases that no list names: causes and forms before a disease, places behind it, endings, names before a head."""

from __future__ import annotations

import pytest

from pmo_assets.lexicon.terms import shipped_lexicon
from pmo_assets.pipeline.context.composed_names import OTHER_DISEASE
from pmo_assets.pipeline.context.entities import entities_of


def diseases(text: str) -> list[tuple[str, str]]:
    """Term and words of each disease of a text."""
    return [(entity.term, entity.text) for entity in entities_of(text, {}) if entity.group == "disease"]


@pytest.mark.parametrize(
    ("text", "term", "above"),
    [
        ("cabergoline-associated retinopathy", "cabergoline-associated retinopathy", "retinal disease"),
        ("PRPF31-associated retinitis pigmentosa", "PRPF31-associated retinitis pigmentosa", "retinitis pigmentosa"),
        ("bullous retinoschisis", "bullous retinoschisis", "retinoschisis"),
        ("autosomal recessive cone dystrophy", "autosomal recessive cone dystrophy", "cone dystrophy"),
        ("sclerokeratouveitis", "sclerokeratouveitis", "keratoconjunctivitis"),
        ("the Quimby-Foss syndrome", "Quimby-Foss syndrome", OTHER_DISEASE),
        ("Quimby's disease", "Quimby disease", OTHER_DISEASE),
        ("periglobitis", "periglobitis", OTHER_DISEASE),
    ],
)
def test_a_name_is_a_disease_within_what_it_ends_with(text: str, term: str, above: str) -> None:
    assert ("disease", term) not in shipped_lexicon().terms
    (entity,) = [entity for entity in entities_of(f"OCT shows {text} here.", {}) if entity.group == "disease"]
    assert entity.term == term
    assert above in entity.broader


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("ulcer of the cornea", "infectious keratitis"),
        ("thrombosis of the superior ophthalmic vein", "superior ophthalmic vein thrombosis"),
        ("nevus of the bulbar conjunctiva", "conjunctival nevus"),
        ("degeneration of the retina", "retinal degeneration"),
    ],
)
def test_a_place_behind_a_disease_is_as_one_before_it(text: str, term: str) -> None:
    assert diseases(text) == [(term, text)]


def test_a_side_between_disease_and_place_stays_the_eyes() -> None:
    found = entities_of("thrombosis of the right superior ophthalmic vein", {})
    assert {(entity.group, entity.term) for entity in found} >= {
        ("disease", "superior ophthalmic vein thrombosis"),
        ("eye", "OD"),
    }


@pytest.mark.parametrize(
    "text",
    [
        "The syndrome",
        "This disease",
        "Systemic disease",
        "a clinical syndrome",
        "homeopathy",
        "lymphadenopathy",
        "The same dystrophy",
    ],
)
def test_what_describes_or_points_makes_no_name(text: str) -> None:
    assert all(term in {"systemic disease"} for term, _ in diseases(text))


def test_a_disease_that_causes_another_is_one_of_its_own() -> None:
    assert [term for term, _ in diseases("AMD-related CNV of the macula")] == [
        "age-related macular degeneration",
        "choroidal neovascularization",
    ]
