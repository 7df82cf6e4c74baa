"""Negation and doubt: which entities a trigger reaches."""

from __future__ import annotations

import tomllib
from collections import Counter
from importlib import resources

import pytest

from pmo_assets.lexicon.terms import form_of
from pmo_assets.pipeline.context.entities import entities_of


def marked(text: str) -> tuple[set[str], set[str]]:
    """Verbatim texts of the entities that a text negates, and of those that it doubts."""
    entities = entities_of(text, {})
    return {entity.text for entity in entities if entity.negated}, {e.text for e in entities if e.uncertain}


@pytest.mark.parametrize(
    ("text", "negated"),
    [
        ("no subretinal fluid", {"subretinal fluid"}),
        ("without hemorrhage, exudate or edema", {"hemorrhage", "exudate", "edema"}),
        ("without hemorrhage, exudates, and edema", {"hemorrhage", "exudates", "edema"}),
        ("eyes of the non-AMD group", {"AMD"}),
        ("no evidence of choroidal neovascularization", {"choroidal neovascularization"}),
        ("No signs of leakage or staining on angiography", {"leakage", "staining"}),
        ("free of drusen; negative for toxoplasmosis", {"drusen", "toxoplasmosis"}),
        ("absence of uveitis", {"uveitis"}),
        ("The patient was negative for HIV and nonreactive to syphilis serology", {"HIV", "syphilis"}),
        ("to make sure they do not transform into melanomas", {"melanomas"}),
        ("due to macular pigment (not due to atrophy)", {"atrophy"}),
        ("Once metastasis was ruled out insertion of a plaque was planned", {"metastasis"}),
        ("no subretinal fluid (SRF)", {"subretinal fluid", "SRF"}),
        ("neither hemorrhage nor edema", {"hemorrhage", "edema"}),
        ("did not show any leakage", {"leakage"}),
        ("no longer shows leakage", {"leakage"}),
        ("resolved macular edema", {"macular edema"}),
        ("Resolution of the subretinal fluid", {"subretinal fluid"}),
        ("The edema has resolved.", {"edema"}),
        ("Drusen were not seen.", {"Drusen"}),
        ("Leakage was no longer visible 3 months after PPV.", {"Leakage"}),
        ("Cotton-wool spots, exudates, and hemorrhages were absent.", {"Cotton-wool spots", "exudates", "hemorrhages"}),
        ("Hypopyon, which suggests endophthalmitis, was not found", {"Hypopyon"}),
        ("Leakage in the area of drusen was not seen", {"Leakage"}),
        ("Retinal detachment was ruled out. A tumor was seen.", {"Retinal detachment"}),
        # what looks like it
        ("no change in the subretinal fluid", set()),
        ("not only drusen", set()),
        ("no increase in fibrosis", set()),
        ("The edema has partially resolved.", set()),
        ("with or without drusen", set()),
        ("No enhancement of the lesion", set()),
        ("an area of absent pigment epithelium with drusen", set()),
        # where it ends
        ("no fluid but drusen", {"fluid"}),
        ("no fluid; drusen", {"fluid"}),
        ("no fluid. Drusen", {"fluid"}),
        ("No leakage was seen, however staining increased", {"Leakage".lower()}),
        ("no fluid with persistent drusen", {"fluid"}),
        ("no fluid in an eye with drusen", {"fluid"}),
        ("no fluid, drusen in the fovea", {"fluid"}),
        ("no fluid and a thickened choroid, and drusen", {"fluid"}),
        ("without treatment, edema persisted", set()),
        ("Drusen and no fluid", {"fluid"}),
        ("Leakage was not seen, but staining was", {"Leakage"}),
        ("no abnormality or leakage of the retina", {"leakage"}),
        ("no edema, hemorrhage or exudates", {"edema", "hemorrhage", "exudates"}),
        ("a mass without associated edema", {"edema"}),
        ("an eye (no fluid) and drusen", {"fluid"}),
        # through words for what shows it
        ("no features that indicate a mass", {"mass"}),
        ("no signs suggestive of glaucoma", {"glaucoma"}),
        ("misdiagnosed as uveitis", {"uveitis"}),
        ("which was considered edema without evidence of a mass", {"mass"}),
        ("a lesion mimicking a choroidal melanoma", {"choroidal melanoma"}),
        ("no signs consistent with glaucoma", {"glaucoma"}),
        ("Macular edema was not suspected.", {"Macular edema"}),
        # what is never absent
        ("no OCT of the left eye at 3 months; visual acuity was not measured", set()),
    ],
)
def test_negated_terms(text: str, negated: set[str]) -> None:
    assert marked(text)[0] == negated


@pytest.mark.parametrize(
    ("text", "uncertain"),
    [
        ("suspected CNV of the macula", {"CNV"}),
        ("was suspected to have sarcoidosis", {"sarcoidosis"}),
        ("macular hole (suspected) of the left eye", {"macular hole"}),
        ("a lesion thought to be a melanoma", {"melanoma"}),
        ("a choroidal lesion resembling melanoma", {"melanoma"}),
        ("Sarcoidosis was considered.", {"Sarcoidosis"}),
        ("The uveitis was considered to be inactive", {"inactive"}),
        ("an eye at risk of glaucoma", {"glaucoma"}),
        ("possible retinal detachment", {"retinal detachment"}),
        ("possibly suffering from diabetes, uveitis, glaucoma etc.", {"diabetes", "uveitis", "glaucoma"}),
        ("A nevus may transform into a melanoma", {"melanoma"}),
        (
            "confirmation was needed that this was not a metastasis from a primary lung cancer",
            {"metastasis", "lung cancer"},
        ),
        ("lack of flow pixels suggests nonperfusion", {"nonperfusion"}),
        ("probable or presumed toxoplasmosis", {"toxoplasmosis"}),
        ("suggestive of endophthalmitis", {"endophthalmitis"}),
        ("Choroidal melanoma was suspected", {"Choroidal melanoma"}),
        ("A choroidal melanoma cannot be excluded.", {"choroidal melanoma"}),
        ("CNV (?) in the macula", set()),
        ("drusen?", {"drusen"}),
        ("to rule out retinal detachment", {"retinal detachment"}),
        ("drusen, and possible leakage", {"leakage"}),
        ("Edema may be severe", set()),
        ("suspecting papilledema", {"papilledema"}),
        # doubts behind their term
        ("Uveitis was presumed; drusen were seen.", {"Uveitis"}),
        ("Glaucoma is unlikely.", {"Glaucoma"}),
        ("Retinal detachment cannot be completely excluded", {"Retinal detachment"}),
        ("Endophthalmitis must be ruled out", {"Endophthalmitis"}),
        # links between a doubt and its term
        ("macular edema, likely secondary to uveitis", {"uveitis"}),
        ("Edema may be due to uveitis", {"uveitis"}),
        ("Edema may also be the result of uveitis, or lymphoma", {"uveitis", "lymphoma"}),
        ("suspicious leakage", {"leakage"}),
        ("a lesion that may represent melanoma or metastasis", {"melanoma", "metastasis"}),
        ("r/o endophthalmitis", {"endophthalmitis"}),
        ("unclear whether glaucoma or myopia", {"glaucoma", "myopia"}),
        ("raising the possibility of lymphoma, leukemia, or sarcoidosis", {"lymphoma", "leukemia", "sarcoidosis"}),
        ("possible melanoma vs. Metastasis", {"melanoma", "Metastasis"}),
        # lists of a differential diagnosis
        ("The differential at that point included uveitis (AAU), and lymphoma", {"uveitis", "AAU", "lymphoma"}),
        ("Differential diagnosis: melanoma, metastasis, hemangioma. A nevus", {"melanoma", "metastasis", "hemangioma"}),
        (
            "The differential diagnosis of leukocoria includes retinoblastoma and persistent fetal vasculature",
            {"retinoblastoma", "persistent fetal vasculature"},
        ),
        ("A differential diagnosis of uveitis or lymphoma was made", {"uveitis", "lymphoma"}),
        ("The differential diagnosis includes: uveitis (slide A), and lymphoma (slide C).", {"uveitis", "lymphoma"}),
        ("each disease in the differential diagnosis, from retinoblastoma to uveitis", set()),
        # where a doubt ends
        ("possible melanoma, but drusen", {"melanoma"}),
        ("a mass (possible melanoma) and cataract", {"melanoma"}),
        ("presumed tuberculosis with retinal vasculitis", {"tuberculosis"}),
        ("suspected retinitis although uveitis was present", {"retinitis"}),
        # what affirms, and what compares
        ("changes consistent with glaucoma, indicative of keratoconus", set()),
        ("eyes with melanoma versus eyes with uveitis", set()),
        # words of a name
        ("presumed ocular histoplasmosis syndrome, and choroidal osteoma", set()),
        ("no light perception, a retinal detachment", set()),
    ],
)
def test_doubted_terms(text: str, uncertain: set[str]) -> None:
    negated, doubted = marked(text)
    assert doubted == uncertain
    assert negated == set()


def test_a_doubt_beside_a_negation_is_of_its_own() -> None:
    assert marked("no fluid and possible leakage") == ({"fluid"}, {"leakage"})


def test_a_negated_doubt_is_a_negation() -> None:
    assert marked("no evidence of possible retinal detachment") == ({"retinal detachment"}, set())


def test_no_phrase_is_a_trigger_of_two_kinds() -> None:
    read = tomllib.loads((resources.files("pmo_assets") / "lexicon" / "data" / "negation.toml").read_text("utf-8"))
    phrases = Counter(form_of(phrase) for places in read.values() for kind in places.values() for phrase in kind)
    assert [phrase for phrase, count in phrases.items() if count > 1] == []
