"""Image type: plain cases are right, words help, doubt is said."""

from __future__ import annotations

import os
from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmo_assets.pipeline.detection import image_type
from pmo_assets.pipeline.detection.image_type import (
    FEATURES,
    classify_image_type,
    labelled_type,
    picture_features,
    with_network,
    word_odds,
)
from pmo_assets.records.image_types import IMAGE_TYPES
from pmo_assets_tests.pipeline.detection.drawing import Picture, fundus, oct_scan, paper, photograph, plot


def test_a_drawn_fundus_is_cfp() -> None:
    decision = classify_image_type(fundus())
    assert decision.image_type == "CFP"


def test_drawn_layers_are_oct() -> None:
    assert classify_image_type(oct_scan(), "OCT scan of the right eye").image_type == "OCT"


def test_a_plot_is_other() -> None:
    figure = paper(420, 380)
    plot(figure, 10, 10, 400, 360)
    assert classify_image_type(figure).image_type == "Other"


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


def test_words_decide_between_grey_pictures() -> None:
    grey = np.repeat(cv2.cvtColor(fundus(), cv2.COLOR_RGB2GRAY)[:, :, None], 3, axis=2)
    retinal = classify_image_type(grey, "fluorescein angiography").scores["Retinal Imaging"]
    other = classify_image_type(grey, "magnetic resonance imaging").scores["Retinal Imaging"]
    assert retinal > classify_image_type(grey).scores["Retinal Imaging"] > other


def test_doubt_is_said_and_not_guessed() -> None:
    decision = classify_image_type(np.zeros((4, 300, 3), np.uint8))
    assert decision.image_type is None
    assert "too small" in decision.reason


@given(st.integers(0, 500), st.integers(12, 90), st.integers(12, 90), st.text(max_size=60))
@settings(max_examples=40, deadline=None)
def test_scores_sum_to_one_and_the_answer_is_the_best_or_none(seed: int, height: int, width: int, words: str) -> None:
    crop = np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)
    decision = classify_image_type(crop, words)
    assert sum(decision.scores.values()) == pytest.approx(1, abs=1e-4)
    assert decision.score == max(decision.scores.values())
    assert decision.image_type in (None, max(decision.scores, key=lambda k: decision.scores[k]))
    assert decision.reason


def test_every_measure_has_a_name() -> None:
    assert picture_features(fundus()).shape == (len(FEATURES),)
    assert np.isfinite(picture_features(np.zeros((20, 20, 3), np.uint8))).all()


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("folder", "expected"),
    [("idrid_mini", "CFP"), ("octdl_sample", "OCT"), ("octa_faz_zenodo5075194", "Retinal Imaging")],
)
def test_licensed_pictures_get_their_type(folder: str, expected: str) -> None:
    shared = Path(os.environ.get("PMO_CORPUS", Path(__file__).parents[4] / "shared"))
    paths = sorted((shared / "images" / folder).glob("*.[jp][pn]g"))[:12]
    if not paths:
        pytest.skip(f"no pictures in {folder}: set PMO_CORPUS")
    found = [classify_image_type(np.asarray(cv2.imread(str(p)))[:, :, ::-1]).image_type for p in paths]
    assert found.count(expected) >= 0.85 * len(found)


def test_a_network_that_knows_the_picture_decides_where_the_pixels_say_little() -> None:
    picture = np.full((80, 80, 3), 128, np.uint8)
    alone = classify_image_type(picture)
    sure = {name: 0.97 if name == "Retinal Imaging" else 0.01 for name in IMAGE_TYPES}
    together = classify_image_type(picture, seen_types=sure)
    assert together.scores["Retinal Imaging"] > alone.scores["Retinal Imaging"]
    assert sum(together.scores.values()) == pytest.approx(1, abs=1e-4)
    assert "network" in together.reason
    assert "pixels" in together.reason


@given(st.lists(st.floats(0, 1), min_size=4, max_size=4), st.lists(st.floats(0, 1), min_size=4, max_size=4))
def test_pixels_and_network_that_agree_are_followed(pixels: list[float], shares: list[float]) -> None:
    own = np.asarray(pixels) / max(sum(pixels), 1e-9)
    seen = dict(zip(IMAGE_TYPES, shares, strict=True))
    joined = with_network(own, seen)
    assert joined.sum() == pytest.approx(1)
    if own.argmax() == int(np.argmax(shares)):
        assert joined.max() == pytest.approx(joined[own.argmax()])


def measures(picture: Picture) -> dict[str, float]:
    """The measures of a picture by name."""
    return dict(zip(FEATURES, picture_features(picture).tolist(), strict=True))


@pytest.mark.parametrize(
    ("hue", "saturation", "expected"),
    [
        (0, 0.8, {"warm"}),
        (20, 0.8, {"warm", "orange"}),
        (20, 0.3, {"warm"}),
        (44, 0.8, {"warm"}),
        (60, 0.8, set()),
        (100, 0.8, {"green"}),
        (200, 0.8, {"blue"}),
        (300, 0.8, set()),
        (350, 0.8, {"warm"}),
        (20, 0.05, {"grey"}),
    ],
)
def test_a_colour_counts_for_its_name(hue: int, saturation: float, expected: set[str]) -> None:
    patch = np.asarray([[[hue // 2, round(255 * saturation), 200]]], dtype=np.uint8)
    found = measures(np.full((60, 60, 3), cv2.cvtColor(patch, cv2.COLOR_HSV2RGB)[0, 0], np.uint8))
    assert {name for name in ("warm", "orange", "green", "blue", "grey") if found[name] > 0.99} == expected
    assert all(found[name] < 0.01 for name in {"warm", "orange", "green", "blue", "grey"} - expected)
    assert found["saturation"] == pytest.approx(saturation, abs=0.01)
    assert found["top_colour"] == 1


@pytest.mark.parametrize("corner", [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_each_corner_counts(corner: tuple[int, int]) -> None:
    picture = paper(100, 100, colour=200)
    rows, columns = (slice(0, 20) if side == 0 else slice(80, 100) for side in corner)
    picture[rows, columns] = 0
    found = measures(picture)
    assert found["corner_dark"] == 0.25
    assert found["rim_dark"] == pytest.approx(0.1, abs=0.01)
    assert found["black"] == pytest.approx(0.04, abs=0.005)
    assert found["top_dark"] == pytest.approx(0.2 if corner[0] == 0 else 0, abs=0.02)
    assert found["bottom_dark"] == pytest.approx(0.2 if corner[0] == 1 else 0, abs=0.02)


def test_layers_lie_across_and_a_field_is_round() -> None:
    stripes = paper(200, 100, colour=20)
    stripes[10:30] = 220
    found = measures(stripes)
    assert found["log_aspect"] == pytest.approx(np.log(2))
    assert found["layered"] == pytest.approx(1, abs=0.02)
    assert found["band_height"] == pytest.approx(0.2, abs=0.02)
    assert found["rows_varied"] > 0.3 > 0.001 > found["columns_varied"]
    assert found["edges_across"] > 0.01 > found["edges_down"]
    turned = measures(np.ascontiguousarray(stripes.transpose(1, 0, 2)))
    assert turned["layered"] == pytest.approx(-1, abs=0.02)
    assert turned["log_aspect"] == pytest.approx(-np.log(2))
    assert turned["edges_down"] == pytest.approx(found["edges_across"])
    assert turned["edges"] == pytest.approx(found["edges"], abs=0.002)
    assert measures(fundus())["round_field"] > 0.9
    hole = paper(100, 100)
    cv2.circle(hole, (50, 50), 40, (0, 0, 0), -1)
    assert measures(hole)["round_field"] < -0.9


def test_shares_and_means_of_two_colours() -> None:
    picture = paper(100, 100, colour=0)
    picture[:70] = (200, 150, 50)
    found = measures(picture)
    assert found["top_colour"] == pytest.approx(0.7, abs=0.02)
    assert found["second_colour"] == pytest.approx(0.3, abs=0.02)
    assert found["red_over_green"] == pytest.approx(50 / 255, abs=0.01)
    assert found["green_over_blue"] == pytest.approx(100 / 255, abs=0.01)
    assert found["warm"] == pytest.approx(1, abs=0.02), "of what is lit"
    assert found["white"] == 0
    grey = paper(100, 100, colour=255)
    grey[:40] = 0
    found = measures(grey)
    assert (found["median"], found["white"]) == (1, pytest.approx(0.6, abs=0.02))
    assert found["contrast"] == pytest.approx(np.sqrt(0.24), abs=0.01)
    assert measures(photograph(100, 100))["fine"] < measures(oct_scan(100, 100))["fine"]


@pytest.mark.parametrize(
    ("pixels", "expected"), [([0.5, 0.45, 0.03, 0.02], None), ([0.02, 0.6, 0.2, 0.18], 1), ([0.1, 0.1, 0.1, 0.7], 3)]
)
def test_close_scores_leave_the_type_open(
    pixels: list[float], expected: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(image_type, "pixel_scores", lambda crop: np.asarray(pixels))
    decision = classify_image_type(fundus())
    assert decision.image_type == (None if expected is None else IMAGE_TYPES[expected])
    assert ("too close" in decision.reason) is (expected is None)
    assert sum(decision.scores.values()) == pytest.approx(1, abs=1e-5)
    assert decision.score == max(decision.scores.values())
    assert list(decision.scores) == list(IMAGE_TYPES)


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


def test_labels_are_evidence_that_what_is_certain_overrules() -> None:
    grey = np.full((200, 200, 3), 120, np.uint8)
    assert classify_image_type(grey, labels=()) == classify_image_type(grey)
    plain, labelled = classify_image_type(grey), classify_image_type(grey, labels=("optical coherence tomography",))
    assert labelled.scores["OCT"] > plain.scores["OCT"]
    assert labelled.reason.endswith("labelled OCT")
    assert classify_image_type(fundus(), labels=("optical coherence tomography",)).image_type == "CFP"
    named = classify_image_type(grey, "fluorescein angiography", labels=("optical coherence tomography",))
    assert named.scores["Retinal Imaging"] > named.scores["OCT"]
