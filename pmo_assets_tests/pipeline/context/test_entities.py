"""Entities of captions and sentences: normal forms by group, ambiguous abbreviations, offsets."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.lexicon.terms import shipped_lexicon
from pmo_assets.pipeline.context.entities import entities_of, panel_entities


def named(text: str, group: str, **definitions: str) -> list[str]:
    """Normal forms of a text's entities of one group, in its order."""
    return [entity.term for entity in entities_of(text, definitions) if entity.group == group]


@pytest.mark.parametrize(
    ("text", "group", "terms"),
    [
        ("Fluorescein angiography of the right eye", "imaging", ["fluorescein angiography"]),
        ("Fluorescein angiography of the right eye", "eye", ["OD"]),
        ("the right eye of a 54-year-old", "eye", ["OD"]),
        ("Left eye, both eyes, and the fellow eye", "eye", ["OS", "OU", "fellow eye"]),
        ("Right (A) and left (B) eyes", "eye", ["OD", "OS"]),
        ("images of the left and right eyes", "eye", ["OS", "OD"]),
        ("right amblyopic eye", "eye", ["OD"]),
        ("left pseudophakic eye", "eye", ["OS"]),
        ("the left macula and the right optic disc", "eye", ["OS", "OD"]),
        ("Left optic neuritis", "eye", ["OS"]),
        ("left optic disc edema", "eye", ["OS"]),
        ("Left: fundus photograph; right: OCT", "eye", []),
        ("the left panel shows drusen; top right, OCT", "eye", []),
        ("left frontal lobe, right hemisphere, left carotid artery", "eye", []),
        ("both retinal and choroidal vessels", "eye", []),
        ("RE: drusen. LE: no drusen in this eye", "eye", ["OD", "OS"]),
        ("Bilateral panuveitis of the eyes", "eye", ["OU"]),
        ("fundus of the L.E. and the R.E.", "eye", ["OS", "OD"]),
        ("(A) Right and (B) left colour fundus photograph", "eye", ["OD", "OS"]),
        ("the left fundus photograph shows drusen", "eye", []),
        ("left bulbus oculi", "eye", ["OS"]),
        ("roof of the orbit on the left side", "eye", ["OS"]),
        ("the scar on the left side", "eye", []),
        ("right-sided ptosis", "eye", ["OD"]),
        ("left superolateral orbital roof", "eye", ["OS"]),
        ("his left peripheral fundus", "eye", ["OS"]),
        ("neovascular (wet) age-related macular degeneration", "disease",
         ["neovascular age-related macular degeneration"]),
        ("a corneal ulcer; culture of the ulcer", "disease", ["infectious keratitis", "infectious keratitis"]),
        ("20/20 in the right eye and 20/16 in the left.", "eye", ["OD", "OS"]),
        ("shown in the left", "eye", []),
        ("neovascular AMD", "disease", ["neovascular age-related macular degeneration"]),
        ("age related macular degeneration", "disease", ["age-related macular degeneration"]),
        ("Stargardt’s disease and Coats' disease", "disease", ["Stargardt disease", "Coats disease"]),
        ("type II MNV", "disease", ["type 2 macular neovascularization"]),
        ("cortical and nuclear cataract", "disease", ["cortical cataract", "nuclear sclerotic cataract"]),
        ("central, hemiretinal and branch retinal vein occlusion", "disease",
         ["central retinal vein occlusion", "hemiretinal vein occlusion", "branch retinal vein occlusion"]),
        ("proliferative and nonproliferative diabetic retinopathy", "disease",
         ["proliferative diabetic retinopathy", "nonproliferative diabetic retinopathy"]),
        ("type I and type II macular neovascularization", "disease",
         ["type 1 macular neovascularization", "type 2 macular neovascularization"]),
        ("wet and dry AMD", "disease",
         ["neovascular age-related macular degeneration", "dry age-related macular degeneration"]),
        ("early, dry AMD", "disease", ["dry age-related macular degeneration"]),
        ("severe plaquenil toxicity", "disease", ["hydroxychloroquine retinopathy"]),
        ("a cilioretinal arteriolar occlusion", "disease", ["cilioretinal artery occlusion"]),
        ("the optic disc has a pit", "disease", ["optic disc pit"]),
        ("a pit in the fovea of the macula", "disease", []),
        ("cotton-wool spots, hard exudates", "finding", ["cotton-wool spot", "hard exudate"]),
        ("retinal, preretinal or subretinal hemorrhages", "finding",
         ["retinal hemorrhage", "preretinal hemorrhage", "subretinal hemorrhage"]),
        ("thinning of the foveal ONL and RPE", "anatomy",
         ["fovea", "outer nuclear layer", "retinal pigment epithelium"]),
        ("SD-OCT and an OCT angiogram", "imaging",
         ["spectral-domain optical coherence tomography", "optical coherence tomography angiography"]),
        ("Spectralis, Cirrus HD-OCT and Optos", "device", ["Heidelberg Spectralis", "Zeiss Cirrus", "Optos"]),
        ("intravitreal bevacizumab, PRP laser in the retina, 25-gauge vitrectomy", "treatment",
         ["bevacizumab", "panretinal photocoagulation", "laser treatment", "pars plana vitrectomy"]),
        ("a 67-year-old woman", "demographic", ["67 years", "female"]),
        ("black arrow, white arrowhead", "demographic", []),
        ("moderate NPDR", "stage", ["moderate"]),
        ("severe bilateral uveitis of both eyes", "stage", ["severe"]),
        ("severe image noise, early frames", "stage", []),
        ("mass effect of the lesion", "finding", ["lesion"]),
    ],
)  # fmt: skip
def test_entities_by_group(text: str, group: str, terms: list[str]) -> None:
    assert named(text, group) == terms


@pytest.mark.parametrize(
    ("text", "definitions", "group", "terms"),
    [
        ("OD and OS of the patient", {}, "eye", ["OD", "OS"]),
        ("ONL, IS and OS of photoreceptors", {}, "eye", []),
        ("ONL, IS and OS of photoreceptors", {}, "anatomy",
         ["outer nuclear layer", "photoreceptor inner segment", "photoreceptor outer segment", "photoreceptor"]),
        ("OD at 450 nm", {}, "eye", []),
        ("The ME was high", {}, "disease", []),
        ("ME with subretinal fluid in the fovea", {}, "disease", ["macular edema"]),
        ("ME in the fovea", {"ME": "malar eminence"}, "disease", []),
        ("Eyes with CF", {"CF": "cystic fibrosis"}, "disease", ["cystic fibrosis"]),
        ("PED of the RPE", {}, "finding", ["pigment epithelial detachment"]),
        ("PED ward for children", {}, "finding", []),
        ("The RPE was intact", {"RPE": "retinal pigment epithelial"}, "anatomy", ["retinal pigment epithelium"]),
        ("XYZ was seen", {"XYZ": "choroidal neovascularization"}, "disease", ["choroidal neovascularization"]),
        ("GA was seen", {"GA": "general anesthesia"}, "disease", []),
    ],
)  # fmt: skip
def test_ambiguous_abbreviations_need_a_definition_or_context(
    text: str, definitions: dict[str, str], group: str, terms: list[str]
) -> None:
    assert named(text, group, **definitions) == terms


def test_an_abbreviation_that_its_sentence_leaves_open_means_what_the_panel_is_about() -> None:
    assert named("GA is seen.", "disease") == []
    entities = panel_entities("Geographic atrophy in AMD of the macula", ["GA is seen.", "Both eyes were treated."], {})
    assert [(entity.term, entity.found_in, entity.mention) for entity in entities if entity.group == "disease"] == [
        ("geographic atrophy", "subcaption", None),
        ("age-related macular degeneration", "subcaption", None),
        ("geographic atrophy", "mention", 0),
    ]
    assert [entity.mention for entity in entities if entity.group == "eye"] == [1]
    assert panel_entities(None, [], {}) == ()


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("A choroidal nevus. Nevi are benign; the nevus is flat.", ["choroidal nevus"] * 3),
        ("CRAO: the area of the occlusion", ["central retinal artery occlusion"] * 2),
        ("A retinal detachment; the detachment is flat.", ["retinal detachment"] * 2),
        ("PDR of the eye. The retinopathy is severe.", ["proliferative diabetic retinopathy"] * 2),
        ("retinal detachment, rhegmatogenous retinal detachment: the detachment",
         ["retinal detachment", "rhegmatogenous retinal detachment", "retinal detachment"]),
        ("A choroidal lesion: the nevus grew.", ["choroidal nevus"]),
        ("choroidal nevus, iris nevus: the nevus", ["choroidal nevus", "iris nevus", "nevus"]),
        ("A choroidal nevus. The nevus of the eyelid margin", ["choroidal nevus", "eyelid nevus"]),
        ("A retinal detachment; detachment, too", ["retinal detachment"]),
        ("No retinal detachment. The detachment", ["retinal detachment"]),
        ("Coats disease: the disease", ["Coats disease"]),
        ("A nevus", ["nevus"]),
    ],
)  # fmt: skip
def test_a_short_name_stands_for_the_only_longer_one_of_its_text(text: str, terms: list[str]) -> None:
    assert named(text, "disease") == terms


def test_a_short_name_in_a_sentence_stands_for_the_subcaptions_longer_one() -> None:
    entities = panel_entities("Choroidal nevus", ["The nevus is flat.", "An iris nevus; the nevus is brown."], {})
    diseases = [(entity.term, entity.text, entity.mention) for entity in entities if entity.group == "disease"]
    assert diseases == [
        ("choroidal nevus", "Choroidal nevus", None),
        ("choroidal nevus", "nevus", 0),
        ("iris nevus", "iris nevus", 1),
        ("iris nevus", "nevus", 1),
    ]


def test_an_entity_carries_its_wider_terms() -> None:
    (entity,) = entities_of("wet AMD", {})
    assert "age-related macular degeneration" in entity.broader
    assert (entity.text, entity.start, entity.end) == ("wet AMD", 0, 7)


PIECES = st.sampled_from(
    [name for term in list(shipped_lexicon().terms.values())[::7] for name in (term.name, *term.synonyms)]
    + ["no", "without", "suspected", "right", "left", "and", "or", ",", ".", "(", ")", "was not seen", "6", "months"]
    + ["after", "OS", "stage", "II", "-", "’s", "ﬁ", "İ", "\u200b", "\u202e", "עין", "é", "\n", "?", "aged", "67"]
)


@given(st.lists(st.one_of(PIECES, st.text(max_size=8)), max_size=25), st.sampled_from([" ", "", "-", ", "]))
def test_entities_stand_verbatim_at_their_offsets_and_do_not_overlap(pieces: list[str], between: str) -> None:
    text = between.join(pieces)
    entities = entities_of(text, {"ME": "macular edema"})
    assert all(text[entity.start : entity.end] == entity.text and entity.text for entity in entities)
    assert all(one.end <= other.start for one, other in itertools.pairwise(entities))
    assert entities_of(text, {"ME": "macular edema"}) == entities
