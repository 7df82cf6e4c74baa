"""The lexicon: what the package ships is consistent, and what lies within a term."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pmo_assets.lexicon.terms import (
    LexiconError,
    build_lexicon,
    form_of,
    lexicon_data,
    shipped_lexicon,
    terms_within,
)
from pmo_assets.records.context import ENTITY_GROUPS
from pmo_assets.records.stores import SystemicError


def test_the_shipped_lexicon_is_consistent_and_large() -> None:
    """Reading checks it: no form of two terms, every wider term exists, no circles, no meaning of no term."""
    lexicon = shipped_lexicon()
    assert {group for group, _ in lexicon.terms} == set(ENTITY_GROUPS)
    assert len(lexicon.terms) >= 800
    assert all(lexicon.terms[term.group, name] for term in lexicon.terms.values() for name in lexicon.broader(term))


@pytest.mark.parametrize("content", [None, b"[roots\n", b"\xff"], ids=["missing", "no TOML", "no text"])
def test_a_damaged_lexicon_is_the_machinerys_fault_and_no_articles(
    content: bytes | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "lexicon" / "data"
    folder.mkdir(parents=True)
    if content is not None:
        (folder / "disease.toml").write_bytes(content)
    monkeypatch.setattr("pmo_assets.lexicon.terms.resources.files", lambda _: tmp_path)
    with pytest.raises(SystemicError, match=r"disease\.toml.*install pmo-assets again"):
        lexicon_data("disease")


@pytest.mark.parametrize(
    ("group", "ambiguous", "fault"),
    [
        (
            {"roots": {"edema": ["swelling"], "mass": ["swelling"]}},
            {},
            "'swelling' is finding: edema and finding: mass",
        ),
        ({"roots": {"edema": []}, "fluid": {"cyst": []}}, {}, "'fluid' (finding) is no term"),
        ({"a": {"b": []}, "b": {"a": []}}, {}, "'a' (finding) lies within itself"),
        ({"roots": {"edema": []}}, {"OE": {"finding: oedem": []}}, "'OE' means 'finding: oedem', which is no term"),
        ({"roots": {"edema": ["ED"]}}, {"ED": {"finding: edema": []}}, "'ED' (finding: edema) also stands in"),
        ({"roots": {"edema": ["oedema"]}}, {}, ""),
    ],
)
def test_a_lexicon_that_contradicts_itself_is_refused(group: Any, ambiguous: Any, fault: str) -> None:
    if not fault:
        assert build_lexicon({"finding": group}, ambiguous).forms
        return
    with pytest.raises(LexiconError) as refused:
        build_lexicon({"finding": group}, ambiguous)
    assert fault in str(refused.value)


def test_broader_terms_come_nearest_first() -> None:
    lexicon = shipped_lexicon()
    amd = lexicon.terms["disease", "neovascular age-related macular degeneration"]
    broader = lexicon.broader(amd)
    assert broader.index("age-related macular degeneration") < broader.index("macular disease")
    assert broader.index("macular disease") < broader.index("retinal disease")


@pytest.mark.parametrize(
    ("word", "group", "within", "without"),
    [
        ("AMD", "disease", "neovascular age-related macular degeneration", "diabetic macular edema"),
        ("amd", None, "geographic atrophy", "macular hole"),
        ("Age related macular degeneration", "disease", "polypoidal choroidal vasculopathy", "macular disease"),
        ("DR", "disease", "nonproliferative diabetic retinopathy", "geographic atrophy"),
        ("diabetic macular oedema", "disease", "clinically significant macular edema", "macular edema"),
        ("OCT", "imaging", "swept-source OCT angiography", "fundus photography"),
        ("od", "eye", "OD", "OS"),
        ("right eye", "eye", "OD", "optic disc"),
        ("hemorrhages", "finding", "subretinal hemorrhage", "drusen"),
    ],
)
def test_terms_within_a_word(word: str, group: Any, within: str, without: str) -> None:
    found = terms_within(word, group)
    assert within in found
    assert without not in found


@pytest.mark.parametrize(
    "word", ["tumor", "mass", "lesion", "neoplasm", "swelling", "choroidal mass", "corneal opacity"]
)
def test_a_word_for_something_seen_is_a_finding_and_no_disease(word: str) -> None:
    assert terms_within(word, "finding")
    with pytest.raises(LexiconError, match="no disease"):
        terms_within(word, "disease")


def test_a_mass_is_no_diagnosis() -> None:
    diseases = [term for term in shipped_lexicon().terms.values() if term.group == "disease"]
    assert [name for term in diseases for name in (term.name, *term.synonyms) if form_of(name)[-1] == "mass"] == []


def test_an_unknown_word_is_refused_with_similar_ones() -> None:
    with pytest.raises(LexiconError, match=r"no disease 'macular edemma'; similar are .*'macular edema'"):
        terms_within("macular edemma", "disease")
    with pytest.raises(LexiconError, match="no eye 'AMD'"):
        terms_within("AMD", "eye")


def test_a_form_is_the_keys_of_its_words() -> None:
    assert form_of("Haemorrhages of PEDs") == ("hemorrhage", "of", "=PED")


def test_a_disease_lies_within_the_one_that_ends_its_name() -> None:
    lexicon = shipped_lexicon()
    assert "blepharitis" in lexicon.broader(lexicon.terms["disease", "angular blepharitis"])
    assert "hypertension" not in lexicon.broader(lexicon.terms["disease", "ocular hypertension"])
    # What is of the eye does not become a disease of the body.
    assert "systemic disease" not in lexicon.broader(lexicon.terms["disease", "conjunctival melanoma"])


def test_a_phrase_in_a_name_may_be_another_that_says_the_same() -> None:
    lexicon = build_lexicon(
        {"disease": {"roots": {"pigment epithelial tear": [], "RPE rip": []}}}, {}, [["pigment epithelial", "RPE"]]
    )
    assert lexicon.forms[form_of("RPE tear")].name == "pigment epithelial tear"
    assert lexicon.forms[form_of("pigment epithelial rip")].name == "RPE rip"
    # What two terms would be called is neither's.
    both = build_lexicon({"disease": {"roots": {"big ulcer": [], "large ulcer": []}}}, {}, [["big", "huge", "large"]])
    assert form_of("huge ulcer") not in both.forms


def test_names_of_a_public_terminology_are_added() -> None:
    lexicon = shipped_lexicon()
    assert lexicon.terms["disease", "Kuhnt-Junius degeneration"].parents[0] == "macular degeneration"
    assert lexicon.forms[form_of("birdshot retinochoroiditis")].name == "birdshot chorioretinopathy"
