"""The modality of a panel: pixels and words as one decision, with both scores."""

from __future__ import annotations

import pytest

from pmo_assets.pipeline.context.modality import (
    CLASS_OF,
    CLASSES,
    LEAST,
    WEIGHTS,
    ModalityEvidence,
    class_probabilities,
    modality_evidence,
    modality_weights,
    panel_modality,
)
from pmo_assets.pipeline.context.modality_words import MAX_TEXT, WORDS, named_modalities
from pmo_assets.records.context import MODALITY_CLASSES, FigureFilters, PanelMention, PanelModality
from pmo_assets.records.modalities import MODALITIES, Modality
from pmo_assets.records.panels import PanelImage
from pmo_assets.tables.context import PanelModalities, modality_row
from pmo_assets.tables.rows import record_of
from pmo_assets.tables.schemas import checked


def image(modality: Modality | None, score: float, width: float = 1.0) -> PanelImage:
    return PanelImage("i", (0.0, 0.0, width, 1.0), 1.0, None, 0.0, None, 0.0, modality, score)


def mention(sentence: str, identifier: str | None) -> PanelMention:
    return PanelMention(identifier, 0, "results", None, 0, len(sentence), sentence, "names panel", "text")


def decided(*images: PanelImage, words: str = "", mentions: tuple[PanelMention, ...] = ()) -> PanelModality:
    return panel_modality(modality_evidence(images, words, mentions))


@pytest.mark.parametrize(
    ("words", "modality"),
    [
        ("Optical coherence tomography of the macula.", "OCT"),
        ("SD-OCT, horizontal B-scan.", "OCT"),
        ("OCT angiography of the superficial plexus.", "OCT angiography"),
        ("OCTA, 3 × 3 mm.", "OCT angiography"),
        ("Colour fundus photograph, right eye.", "fundus photograph"),
        ("Late-phase fluorescein angiogram.", "fluorescein angiography"),
        ("ICGA shows polyps.", "indocyanine green angiography"),
        ("Fundus autofluorescence (FAF).", "autofluorescence"),
        ("Ultrasound biomicroscopy of the angle.", "ultrasound"),
        ("Axial T1-weighted MRI of the orbit.", "CT or MR"),
        ("Coronary angiography of the left artery.", "radiograph"),
        ("Slit-lamp photograph with a corneal opacity.", "slit lamp"),
        ("Hematoxylin and eosin, original magnification ×200.", "histology"),
        ("Immunofluorescence of cultured cells.", "microscopy"),
        ("Kaplan–Meier survival curves of both groups.", "plot"),
        ("Flow chart of the participants.", "diagram"),
        ("Western blot of VEGF.", "plot"),
    ],
)
def test_words_that_name_a_modality(words: str, modality: Modality) -> None:
    assert max(named_modalities(words).items(), key=lambda item: item[1])[0] == modality
    found = decided(words=words)
    assert (found.word_modality, found.modality) == (modality, modality)
    assert (found.pixel_modality, found.pixel_probability, found.agrees) == (None, None, None)


@pytest.mark.parametrize("words", ["", "Case 2.", "In October of the next year.", "The patient's mother."])
def test_words_that_say_nothing_and_no_image_are_ambiguous(words: str) -> None:
    found = decided(words=words)
    assert (found.modality_class, found.modality, found.word_modality) == ("ambiguous", None, None)
    assert found.probability < LEAST


def test_pixels_and_words_that_agree_are_surer_than_either() -> None:
    pixels, words = decided(image("OCT", 0.7)), decided(words="OCT of the macula.")
    both = decided(image("OCT", 0.7), words="OCT of the macula.")
    assert (both.modality_class, both.modality, both.agrees) == ("V", "OCT", True)
    assert both.probability > max(pixels.probability, words.probability)
    assert (both.pixel_probability, both.word_probability) == (pixels.probability, words.probability)


def test_where_they_disagree_it_says_so_and_the_surer_one_wins() -> None:
    sure = decided(image("ultrasound", 0.99), words="Changes of the lesion over time.")
    assert (sure.modality_class, sure.modality, sure.agrees) == ("R", "ultrasound", False)
    doubtful = decided(image("photograph", 0.2), words="Western blot of the retina.")
    assert (doubtful.modality_class, doubtful.agrees, doubtful.medical) == ("N", False, False)


def test_the_panels_own_words_go_before_the_figures() -> None:
    figure = (mention("Histology and OCT of the eye (Figure 1).", None),)
    found = decided(words="OCT of the macula.", mentions=figure)
    assert found.modality == "OCT"
    assert (
        decided(words="Left eye.", mentions=(mention("Histology of the eye (Figure 1A).", "A"), *figure)).modality_class
        == "M"
    )


def test_images_count_by_their_size() -> None:
    assert decided(image("OCT", 0.9, 0.9), image("plot", 0.9, 0.1)).modality_class == "V"
    assert decided(image("OCT", 0.9, 0.1), image("plot", 0.9, 0.9)).modality_class == "N"


def test_an_image_of_no_known_modality_says_nothing() -> None:
    assert decided(image(None, 0.0)).pixel_modality is None


def test_medical_is_a_matter_of_the_class() -> None:
    assert decided(image("fundus photograph", 0.99)).medical
    assert not decided(image("diagram", 0.99)).medical


def test_every_modality_has_a_class_and_every_class_is_declared() -> None:
    assert set(CLASS_OF) == set(MODALITIES)
    assert {*CLASSES, "ambiguous"} == set(MODALITY_CLASSES)
    assert {modality for _, modality, _ in WORDS} <= set(MODALITIES)


def test_the_shipped_weights_are_whole_and_no_source_speaks_against_what_it_says() -> None:
    weights = modality_weights()
    assert set(weights) == set(WEIGHTS)
    assert all(weights[name] > 0 for name in WEIGHTS if not name.startswith("always"))
    assert weights["own words"] > weights["figure words"]


def test_probabilities_sum_to_one() -> None:
    evidence = ModalityEvidence({"OCT": 0.4, "plot": 0.3}, ({"OCT": 0.5}, None, {"plot": 1.0}))
    assert sum(class_probabilities(evidence, modality_weights()).values()) == pytest.approx(1)


@pytest.mark.parametrize(
    "found", [decided(image("OCT", 0.9), words="Fundus photograph."), decided()], ids=["both", "none"]
)
def test_a_row_fits_its_table(found: PanelModality) -> None:
    key = {"article_id": 1, "image_cluster_id": "f", "ordinal": 0, "panel_id": "p"}
    rows = checked(PanelModalities, [modality_row(key, found, FigureFilters(True, None))])
    assert record_of(PanelModality, rows.row(0, named=True)) == found


@pytest.mark.parametrize(
    "text", ["a" * 1_000_000, "OCT " * 250_000, "optical coherence tomograph" * 40_000, "×1" * 500_000]
)
def test_hostile_words_are_answered(text: str) -> None:
    """Work that grew with the square of the text would take hours."""
    assert named_modalities(text) == named_modalities(text[:MAX_TEXT])
