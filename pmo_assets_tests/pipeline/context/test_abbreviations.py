"""Abbreviations: short forms with the long forms that a text itself gives them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.pipeline.context.abbreviations import MAX_EXAMINED, defined_abbreviations, used_abbreviations
from pmo_assets.records.context import Abbreviation


def defined(*texts: str) -> dict[str, str]:
    return {item.short: item.long for item in defined_abbreviations(texts)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We used optical coherence tomography (OCT) in all.", {"OCT": "optical coherence tomography"}),
        ("We used OCT (optical coherence tomography) in all.", {"OCT": "optical coherence tomography"}),
        ("with age-related macular degeneration (AMD)", {"AMD": "age-related macular degeneration"}),
        ("and neovascular AMD (nAMD) in", {"nAMD": "neovascular AMD"}),
        ("the intraocular pressure (IOP) rose", {"IOP": "intraocular pressure"}),
        ("cystoid macular oedema (CME) was", {"CME": "cystoid macular oedema"}),
        ("of choroidal neovascularizations (CNVs) in", {"CNV": "choroidal neovascularizations"}),
        ("tumour necrosis factor alpha (TNF-α) and", {"TNF-α": "tumour necrosis factor alpha"}),
        ("transforming growth factor-β1 (TGF-β1)", {"TGF-β1": "transforming growth factor-β1"}),
        ("serum 25-hydroxyvitamin D (25(OH)D) was", {"25(OH)D": "25-hydroxyvitamin D"}),
        ("the logarithm of the minimum angle of resolution (logMAR)",
         {"logMAR": "logarithm of the minimum angle of resolution"}),
        ("100 base pairs (bp) long", {"bp": "base pairs"}),
        ("hematoxylin and eosin (H&E) stain", {"H&E": "hematoxylin and eosin"}),
        ("(best-corrected visual acuity [BCVA] 20/40)", {"BCVA": "best-corrected visual acuity"}),
        ("spectral-domain OCT (SD-OCT; Spectralis, Heidelberg)", {"SD-OCT": "spectral-domain OCT"}),
        ("optical coherence tomography (hereafter OCT)", {"OCT": "optical coherence tomography"}),
        ("the Approach Avoidance Task (AAT)", {"AAT": "Approach Avoidance Task"}),
        ("an epiretinal membrane (ERM) was", {"ERM": "epiretinal membrane"}),
    ],
)  # fmt: skip
def test_a_definition_in_brackets(text: str, expected: dict[str, str]) -> None:
    assert defined(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "OCT, optical coherence tomography; FA, fluorescein angiography.",
        "OCT = optical coherence tomography, FA = fluorescein angiography",
        "Fundus of a patient. OCT: optical coherence tomography; FA: fluorescein angiography.",
        "Abbreviations: OCT, optical coherence tomography and FA, fluorescein angiography.",
        "OCT indicates optical coherence tomography; FA – fluorescein angiography.",
    ],
)
def test_a_list_below_a_figure(text: str) -> None:
    assert defined(text) == {"OCT": "optical coherence tomography", "FA": "fluorescein angiography"}


@pytest.mark.parametrize(
    "text",
    [
        "the left eye was normal (Figure 2A) and",
        "choroidal thickness was measured (CT) with",
        "a value of 12 (n = 4) in eyes",
        "in Heidelberg (Germany) the",
        "the patient (a 72-year-old man) was",
        "in the right eye (A) and in the left (B)",
        "by Huihui Fang (H.F.) and",
        "(OCT)",
        "OCT (OCT)",
        "central retinal (CRVO)",
    ],
)
def test_what_defines_nothing(text: str) -> None:
    assert defined(text) == {}


def test_the_first_definition_counts() -> None:
    assert defined("retinal detachment (RD).", "radial direction (RD)") == {"RD": "retinal detachment"}


def test_a_caption_goes_before_its_article() -> None:
    caption, article = (
        defined_abbreviations(["PM, pathologic myopia."]),
        defined_abbreviations(["particulate matter (PM)"]),
    )
    assert used_abbreviations("PM in both eyes", caption, article) == (Abbreviation("PM", "pathologic myopia"),)


def test_only_abbreviations_that_a_text_uses_in_its_order() -> None:
    known = defined_abbreviations(
        ["optical coherence tomography (OCT), fluorescein angiography (FA), retinal vein occlusion (RVO)"]
    )
    assert [item.short for item in used_abbreviations("FAs and OCTA and OCT", known)] == ["FA", "OCT"]


@given(st.text(alphabet="abOCT ()[],;:=.-αβ2\n", max_size=200))
def test_both_forms_stand_in_the_text(text: str) -> None:
    for item in defined_abbreviations([text]):
        assert item.long in text
        assert item.short in text
        assert len(item.long) > len(item.short)


@pytest.mark.parametrize(
    "text",
    ["(" * 100_000, "a (AB) " * 100_000, "(AB" * 100_000 + ")" * 100_000, "a" * 1_000_000, "AB, a b; " * 100_000,
     "[" * 50_000 + "a b (AB)" + "]" * 50_000],
    ids=["open", "short forms", "nested", "one word", "a list", "deep"],
)  # fmt: skip
def test_hostile_texts_are_bounded(text: str) -> None:
    """Work that grew with the square of the text would take hours."""
    assert len(defined_abbreviations([text])) <= MAX_EXAMINED
