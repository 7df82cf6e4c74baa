"""Captions and the subcaptions that the grammar must find, as a table; then the properties that hold for any input."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.pipeline.captions.segments import join_segments
from pmo_assets.pipeline.captions.split import split_caption
from pmo_assets.records.subcaptions import CaptionSplit
from pmo_assets_tests.examples import examples

CASES: dict[str, tuple[str, dict[str, str]]] = {
    "heads in brackets": (
        "Macular hole. (A) Fundus photograph. (B) OCT scan. A hole is seen.",
        {"A": "Macular hole. Fundus photograph.", "B": "Macular hole. OCT scan. A hole is seen."},
    ),
    "heads with one bracket": (
        "Retina. A) Control. B) Diabetic mouse.",
        {"A": "Retina. Control.", "B": "Retina. Diabetic mouse."},
    ),
    "heads with a full stop": (
        "Retina. A. Control eye. B. Treated eye.",
        {"A": "Retina. Control eye.", "B": "Retina. Treated eye."},
    ),
    "heads with a colon": (
        "A: Fundus photograph. B: Fluorescein angiography (early phase). C: ICGA.",
        {"A": "Fundus photograph.", "B": "Fluorescein angiography (early phase).", "C": "ICGA."},
    ),
    "heads with a comma": (
        "A, Color photograph. B, Red-free image. C and D, OCT images.",
        {"A": "Color photograph.", "B": "Red-free image.", "C": "OCT images.", "D": "OCT images."},
    ),
    "bold letters that lost their type face": (
        "a, b Fundus photographs show drusen. c OCT of the macula.",
        {"a": "Fundus photographs show drusen.", "b": "Fundus photographs show drusen.", "c": "OCT of the macula."},
    ),
    "no space between title and head": (
        "Drusen in both eyes.(A) Right eye. (B) Left eye.",
        {"A": "Drusen in both eyes. Right eye.", "B": "Drusen in both eyes. Left eye."},
    ),
    "title without a full stop": (
        "Loss of photoreceptors(a) Wild type. (b) Mutant.",
        {"a": "Loss of photoreceptors. Wild type.", "b": "Loss of photoreceptors. Mutant."},
    ),
    "range and list": (
        "(a–c) OCT scans. (d, e) Fundus images.",
        {"a": "OCT scans.", "b": "OCT scans.", "c": "OCT scans.", "d": "Fundus images.", "e": "Fundus images."},
    ),
    "range over brackets": (
        "(i)–(iii) OCT scans. (iv) Fundus image.",
        {"i": "OCT scans.", "ii": "OCT scans.", "iii": "OCT scans.", "iv": "Fundus image."},
    ),
    "double brackets": (
        "((a), (b)) Fundus images. ((c) and (d)) OCT scans.",
        {"a": "Fundus images.", "b": "Fundus images.", "c": "OCT scans.", "d": "OCT scans."},
    ),
    "range and conjunction": (
        "A–C and E: fundus images. D: OCT scan.",
        {"A": "Fundus images.", "B": "Fundus images.", "C": "Fundus images.", "D": "OCT scan.", "E": "Fundus images."},
    ),
    "letters with numbers": (
        "(A1, A2) Baseline OCT. (B1, B2) OCT after treatment.",
        {"A1": "Baseline OCT.", "A2": "Baseline OCT.", "B1": "OCT after treatment.", "B2": "OCT after treatment."},
    ),
    "letters with letters": (
        "(Aa) Right eye. (Ab) Left eye. (Ba) OCT of Aa.",
        {"Aa": "Right eye.", "Ab": "Left eye.", "Ba": "OCT of Aa."},
    ),
    "list with shared lead-in and end": (
        "MRI images showing (a) axial, (b) sagittal, and (c) coronal views of the mass.",
        {
            "a": "MRI images showing axial views of the mass.",
            "b": "MRI images showing sagittal views of the mass.",
            "c": "MRI images showing coronal views of the mass.",
        },
    ),
    "suspended hyphen": (
        "The mass has low signal on (a) T1- and (b) T2-weighted images.",
        {"a": "The mass has low signal on T1-weighted images.", "b": "The mass has low signal on T2-weighted images."},
    ),
    "list separated by semicolons": (
        "Fundus: (a) healthy eye; (b) eye with drusen. Scale bar, 1 mm.",
        {"a": "Fundus: healthy eye. Scale bar, 1 mm.", "b": "Fundus: eye with drusen. Scale bar, 1 mm."},
    ),
    "identifiers after their text": (
        "Inflammation. The control retina is intact (a). The ganglion cell layer is swollen (b).",
        {"a": "Inflammation. The control retina is intact.", "b": "Inflammation. The ganglion cell layer is swollen."},
    ),
    "identifiers after the items of a list": (
        "Phosphene size as a function of amplitude (A), frequency (B), and pulse duration (C).",
        {
            "A": "Phosphene size as a function of amplitude.",
            "B": "Phosphene size as a function of frequency.",
            "C": "Phosphene size as a function of pulse duration.",
        },
    ),
    "shared beginning and end around a pair": (
        "Fundus photographs of the right (A) and left (B) eye showing drusen.",
        {
            "A": "Fundus photographs of the right eye showing drusen.",
            "B": "Fundus photographs of the left eye showing drusen.",
        },
    ),
    "one identifier within a sentence": (
        "The venous phase (a) shows a blush. The arterial phase (b) is normal.",
        {"a": "The venous phase shows a blush.", "b": "The arterial phase is normal."},
    ),
    "identifiers beside other text in brackets": (
        "Staining was positive (A, 200x). Staining was negative (B, 400x).",
        {"A": "Staining was positive (200x).", "B": "Staining was negative (400x)."},
    ),
    "two crossed lists": (
        "Cells in the cornea (A, B) and lens (C, D) of young (A, C) and old mice (B, D).",
        {
            "A": "Cells in the cornea of young mice.",
            "B": "Cells in the cornea of old mice.",
            "C": "Cells in the lens of young mice.",
            "D": "Cells in the lens of old mice.",
        },
    ),
    "running text": (
        "Panel A shows the fundus. Panel B shows the OCT scan.",
        {"A": "Panel A shows the fundus.", "B": "Panel B shows the OCT scan."},
    ),
    "nested list stays with its panel": (
        "(a) Normal retina. A: disc. B: macula. (b) Choroid. A: sclera. B: vessel.",
        {"a": "Normal retina. A: disc. B: macula.", "b": "Choroid. A: sclera. B: vessel."},
    ),
    "references to other panels stay": (
        "(A) Fundus. (B) Same case as (A) at a higher magnification. (C) The box in B.",
        {"A": "Fundus.", "B": "Same case as (A) at a higher magnification.", "C": "The box in B."},
    ),
    "own identifier named once more": (
        "(a) Cells are intact (arrows) and (b) staining is positive (arrows) (b).",
        {"a": "Cells are intact (arrows).", "b": "Staining is positive (arrows)."},
    ),
    "abbreviations and scale bars concern all": (
        "(A) OD at baseline. (B) OS after a year. Scale bars, 200 µm. OD, right eye; OS, left eye.",
        {
            "A": "OD at baseline. Scale bars, 200 µm. OD, right eye; OS, left eye.",
            "B": "OS after a year. Scale bars, 200 µm. OD, right eye; OS, left eye.",
        },
    ),
    "each panel has a scale bar of its own": (
        "(A) Cornea. Scale bar, 50 µm. (B) Lens. Scale bar, 20 µm.",
        {"A": "Cornea. Scale bar, 50 µm.", "B": "Lens. Scale bar, 20 µm."},
    ),
    "scale bars by panel": (
        "(A) Cornea. (B) Lens. (C) Iris. Scale bars: (A), 50 µm; (B, C), 20 µm.",
        {
            "A": "Cornea. Scale bars: 50 µm.",
            "B": "Lens. Scale bars: 20 µm.",
            "C": "Iris. Scale bars: 20 µm.",
        },
    ),
    "words of place in brackets": (
        "The histogram (left) shows errors. The boxplots (right) compare groups.",
        {"left": "The histogram shows errors.", "right": "The boxplots compare groups."},
    ),
    "words of place as heads": (
        "Multimodal imaging. Left panel: fundus photograph. Right panel: OCT.",
        {"left": "Multimodal imaging. Fundus photograph.", "right": "Multimodal imaging. OCT."},
    ),
    "rows": (
        "Top row: color photographs. Bottom row: OCT scans.",
        {"top row": "Color photographs.", "bottom row": "OCT scans."},
    ),
    "corners": (
        "Upper left, fundus photograph; upper right, FA; lower left, ICGA; lower right, OCT.",
        {"upper left": "Fundus photograph.", "upper right": "FA.", "lower left": "ICGA.", "lower right": "OCT."},
    ),
    "steps": (
        "Model. Step 1: the camera captures the scene. Step 2: the percept is shown.",
        {"Step 1": "Model. The camera captures the scene.", "Step 2": "Model. The percept is shown."},
    ),
    "names in mixed case keep their first letter": (
        "Expression. (a) mRNA levels. (b) p53 staining. (c) control.",
        {"a": "Expression. mRNA levels.", "b": "Expression. p53 staining.", "c": "Expression. Control."},
    ),
}

SINGLE_CAPTIONS = [
    "",
    "Color fundus photograph of the left eye.",
    "Vitamin A deficiency and hepatitis B infection.",
    "Serum levels, mean ± SEM (n = 6), *p < 0.05 (see Figure 2A and Fig. 3 (b)).",
    "Visual acuity of both eyes (OD and OS) and of the A/A and A/B genotypes in groups A and B.",
    "A contrast stain surrounds the vessel (red arrow). B-scan ultrasonography was normal. C-reactive protein was low.",
    "Doppler ultrasound of the left arm (L: left, V: vein, and A: artery).",
    "Results of all patients (a) n = 22 versus subgroup(s) n = 9.",
    "Stage (I) and stage (II) disease; stages (I–III) are shown in color.",
    "Normal glands (N) and tumor cells (T) with a mitotic figure (M), i.e. a dividing cell.",
    "Aggregation. (1) Control; (2) treated; (3) treated twice.",
    "Digital subtraction angiography of the left ICA. ICA: internal carotid artery; ACA: anterior cerebral artery.",
    "Groups were scanned left to right (vertical) or top to bottom (horizontal).",
]


@pytest.mark.parametrize(("caption", "expected"), CASES.values(), ids=CASES.keys())
def test_the_caption_is_split_into_these_subcaptions(caption: str, expected: dict[str, str]) -> None:
    assert {sub.identifier: sub.text for sub in split_caption(caption).subcaptions} == expected


@pytest.mark.parametrize("caption", SINGLE_CAPTIONS)
def test_a_caption_without_panels_stays_whole(caption: str) -> None:
    (subcaption,) = split_caption(caption).subcaptions
    assert subcaption.identifier is None
    assert subcaption.text == caption
    assert subcaption.segments == ((0, len(caption)),)


def test_identifiers_come_in_series_order() -> None:
    assert split_caption("Tibia (c, d) and skull (a, b).").identifiers == ("a", "b", "c", "d")


def test_a_plain_caption_is_more_certain_than_an_entangled_one() -> None:
    plain = split_caption("(A) Fundus. (B) OCT scan.")
    entangled = split_caption("Fundus (A) and OCT (B) images of a patient, with angiography (C).")
    assert plain.confidence > 0.9 > entangled.confidence
    assert not plain.reasons
    assert entangled.reasons


PIECES = (
    "( ) (( )) [ ] a b c A B C D i ii iii A1 A2 B1 Aa . , ; : - – and or panel Panels image left Right top (left) "
    "(right) (A) (B) (a) (b) text Text shows of in Scale bar Step 1 2 respectively Figure (A,x) A) B) A. B. A: B: * "
    "\u0301 \U0001f600 ﬁ İ ß \u2028 ٣ \x00 \u202e"
)
SPOILT = st.lists(
    st.tuples(st.sampled_from(PIECES.split(" ")), st.sampled_from(["", " ", ". ", "\n"])), max_size=40
).map(lambda parts: "".join(part + gap for part, gap in parts))


def assert_well_formed(caption: str, split: CaptionSplit) -> None:
    assert 0 <= split.confidence <= 1
    assert split.subcaptions
    assert len({sub.identifier for sub in split.subcaptions}) == len(split.subcaptions)
    for subcaption in split.subcaptions:
        assert subcaption.text == join_segments(caption, subcaption.segments)
        position = 0
        for start, end in subcaption.segments:
            assert position <= start <= end <= len(caption)
            position = end
    if not split.identifiers:
        assert [(sub.text, sub.segments) for sub in split.subcaptions] == [(caption, ((0, len(caption)),))]


@given(st.one_of(st.text(), SPOILT))
@examples(400)
def test_any_text_gives_a_well_formed_answer(caption: str) -> None:
    assert_well_formed(caption, split_caption(caption))


@given(SPOILT)
def test_the_same_caption_gives_the_same_answer(caption: str) -> None:
    assert split_caption(caption) == split_caption(caption)


def test_real_captions_of_one_panel_stay_whole() -> None:
    shared = Path(os.environ.get("PMO_CORPUS", "../shared"))
    paths = sorted((shared / "annotations").glob("*.json"))
    if not paths:
        pytest.skip("no annotations: set PMO_CORPUS to the folder that holds annotations/ and captions/")
    figures = [figure for path in paths for figure in json.loads(path.read_text())["figures"]]
    captions = [figure["caption"] for figure in figures if len(figure["panels"]) < 2]
    assert [caption for caption in captions if split_caption(caption).identifiers] == []


def test_real_compound_captions_name_the_panels() -> None:
    path = Path(os.environ.get("PMO_CORPUS", "../shared")) / "captions" / "pmc_compound.jsonl"
    if not path.exists():
        pytest.skip("no captions: set PMO_CORPUS to the folder that holds annotations/ and captions/")
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    wrong = [row["id"] for row in rows if {*split_caption(row["caption"]).identifiers} != {*row["subcaptions"]}]
    assert len(wrong) <= 0.08 * len(rows), wrong


@pytest.mark.parametrize(
    "note", ["(A, B counterstained; bar = 8 µm)", "(A and B courtesy of a colleague)", "(A–B ×20)"]
)
def test_a_note_in_brackets_about_several_panels_lowers_the_confidence(note: str) -> None:
    plain = split_caption("Biopsy. (A) Normal cornea. (B) Dystrophic cornea (counterstained; bar = 8 µm).")
    noted = split_caption(f"Biopsy. (A) Normal cornea. (B) Dystrophic cornea {note}.")
    assert noted.identifiers == plain.identifiers == ("A", "B")
    assert noted.confidence < plain.confidence


@pytest.mark.parametrize("stain", ["(H & E)", "(H&E; original magnification ×20)", "(A, scale bar 8 µm)"])
def test_a_stain_or_a_note_about_one_panel_is_no_such_note(stain: str) -> None:
    split = split_caption(f"Biopsy. (A) Normal cornea {stain}. (B) Dystrophic cornea.")
    assert "note in brackets about several panels" not in split.reasons
