"""Words and labels speak for the type of the modality that they name."""

from __future__ import annotations

import numpy as np
import pytest

from pmo_assets.pipeline.detection.image_types.words import (
    are_of_another_field,
    labelled_type,
    names_a_volume,
    unsupported_textures,
    word_odds,
)
from pmo_assets.records.image_types import IMAGE_TYPES


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("Fundus photograph of the right eye.", "CFP"),
        ("Color fundus image", "CFP"),
        ("Optical coherence tomography shows fluid.", "OCT"),
        ("SD-OCT of the macula", "OCT"),
        ("Late-phase fluorescein angiography", "Retinal Imaging"),
        ("ICGA at 10 minutes", "Retinal Imaging"),
        ("Fundus autofluorescence", "Retinal Imaging"),
        ("OCTA en face slab", "Retinal Imaging"),
        ("Kaplan-Meier curves", "Other"),
        ("Histology, haematoxylin and eosin", "Other"),
        ("Computed tomography of the orbit", "Other"),
    ],
)
def test_the_words_of_a_caption_speak_for_their_modality(words: str, expected: str) -> None:
    odds, seen = word_odds(words)
    assert IMAGE_TYPES[int(np.argmax(odds))] == expected
    assert seen


@pytest.mark.parametrize("words", ["", "Left eye.", "The patient was seen in October.", "Faces"])
def test_words_without_modality_say_nothing(words: str) -> None:
    assert word_odds(words)[0].tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (("optical coherence tomography", "Clinical Imaging", "multiple panels: images"), "OCT"),
        (("optical coherence tomography", "Clinical Imaging", "multiple panels: images & plots"), None),
        (("optical coherence tomography", "bar plot", "Clinical Imaging", "Plots and Charts"), None),
        (("color fundus photography",), "CFP"),
        (("fluorescein angiography",), "Retinal Imaging"),
        (("light microscopy", "Microscopy"), "Other"),
        (("plot", "Plots and Charts"), "Other"),
        (("eye", "Clinical Imaging", "single panel"), None),
        (("angiography", "Clinical Imaging"), None),
        ((), None),
    ],
)
def test_labels_speak_for_a_type_when_they_name_one_modality(labels: tuple[str, ...], expected: str | None) -> None:
    assert labelled_type(labels) == expected


@pytest.mark.parametrize(
    ("words", "unsupported"),
    [
        ("Hatched bars show the mean of three groups", ("adaptive optics", "en-face OCT")),
        ("Muscle at rest", ()),  # too short to say
        ("Mean acuity of both eyes in three groups", ("adaptive optics", "en-face OCT")),
        ("Scans by OCT-A of the same three subjects", ("adaptive optics",)),
        ("Spacing of cones at one and two degrees", ("en-face OCT",)),
        ("Mosaic of the retinal pigment epithelium at the level of the slab", ()),
    ],
)
def test_textures_need_words_that_speak_for_them(words: str, unsupported: tuple[str, ...]) -> None:
    assert unsupported_textures(words) == unsupported


MANY = "Bars show the mean of three groups with standard errors of ten animals each; " * 4


@pytest.mark.parametrize(
    ("captions", "elsewhere"),
    [
        ([MANY], True),
        (["Bars show the mean of three groups."], False),  # too few words to say
        ([MANY, "The right eye at rest"], False),
        ([MANY, "Sections of the cornea"], False),
        ([MANY, "FA and ADC maps of the pons by MRI"], True),  # fractional anisotropy
        ([MANY, "Fluorescein angiogram"], False),
        ([], False),
    ],
)
def test_captions_of_another_field_have_no_word_of_the_eye(captions: list[str], *, elsewhere: bool) -> None:
    assert are_of_another_field(captions) is elsewhere


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("Volume rendering of the optic disc.", True),
        ("Rendering of the whole volume, en face", True),
        ("3D reconstruction of the macula", True),
        ("Three-dimensional view of the pit.", True),
        ("B-scan and its volume rendering", False),
        ("Macular volume was 8.1 mm3.", False),
        ("OCT of the macula", False),
    ],
)
def test_a_rendering_of_a_volume_is_named_where_no_single_scan_is(words: str, expected: bool) -> None:
    assert names_a_volume(words) is expected
