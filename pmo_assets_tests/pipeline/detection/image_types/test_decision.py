"""Image type: plain cases are right, words help, doubt is said."""

from __future__ import annotations

import os
from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.pipeline.detection.image_types import decision as decisions
from pmo_assets.pipeline.detection.image_types.decision import classify_image_type, fused_scores, type_shares_of
from pmo_assets.records.image_types import IMAGE_TYPES
from pmo_assets.records.modalities import MODALITIES
from pmo_assets_tests.examples import examples
from pmo_assets_tests.pipeline.detection.drawing import fundus, oct_scan, paper, plot


def test_a_drawn_fundus_is_cfp() -> None:
    decision = classify_image_type(fundus())
    assert decision.image_type == "CFP"


def test_drawn_layers_are_oct() -> None:
    assert classify_image_type(oct_scan(), "OCT scan of the right eye").image_type == "OCT"


def test_a_plot_is_other() -> None:
    figure = paper(420, 380)
    plot(figure, 10, 10, 400, 360)
    assert classify_image_type(figure).image_type == "Other"


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
@examples(40)
def test_scores_sum_to_one_and_the_answer_is_the_best_or_none(seed: int, height: int, width: int, words: str) -> None:
    crop = np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)
    decision = classify_image_type(crop, words)
    assert sum(decision.scores.values()) == pytest.approx(1, abs=1e-4)
    assert decision.score == max(decision.scores.values())
    assert decision.image_type in (None, max(decision.scores, key=lambda k: decision.scores[k]))
    assert decision.reason


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("folder", "expected"),
    [("idrid_mini", "CFP"), ("octdl_sample", "OCT"), ("octa_faz_zenodo5075194", "Retinal Imaging")],
)
def test_licensed_pictures_get_their_type(folder: str, expected: str) -> None:
    shared = Path(os.environ.get("PMO_CORPUS", Path(__file__).parents[5] / "shared"))
    paths = sorted((shared / "images" / folder).glob("*.[jp][pn]g"))[:12]
    if not paths:
        pytest.skip(f"no pictures in {folder}: set PMO_CORPUS")
    found = [classify_image_type(np.asarray(cv2.imread(str(p)))[:, :, ::-1]).image_type for p in paths]
    assert sum(kind == expected for kind in found) >= 0.85 * len(found)


def test_a_network_that_knows_the_picture_decides_where_the_pixels_say_little() -> None:
    picture = np.full((80, 80, 3), 128, np.uint8)
    alone = classify_image_type(picture)
    sure: dict[str, float] = {name: 0.97 if name == "Retinal Imaging" else 0.01 for name in IMAGE_TYPES}
    together = classify_image_type(picture, seen_types=sure)
    assert together.scores["Retinal Imaging"] > alone.scores["Retinal Imaging"]
    assert sum(together.scores.values()) == pytest.approx(1, abs=1e-4)
    assert "network" in together.reason
    assert "measures" in together.reason


def scores(*values: float) -> np.ndarray:
    """Four scores that sum to 1."""
    return np.asarray(values) / max(sum(values), 1e-9)


EVEN_ODDS = np.ones(4)


@given(st.lists(st.floats(0, 1), min_size=4, max_size=4), st.lists(st.floats(0, 1), min_size=4, max_size=4))
def test_sources_of_evidence_that_agree_are_followed(first: list[float], second: list[float]) -> None:
    measures, network = scores(*first), scores(*second)
    for joined in (fused_scores(measures, EVEN_ODDS, network), fused_scores(measures, EVEN_ODDS, None, network)):
        assert joined.sum() == pytest.approx(1)
        if measures.argmax() == network.argmax():
            assert joined.max() == pytest.approx(joined[measures.argmax()])


def test_a_network_that_is_sure_outweighs_measures_that_are_not() -> None:
    joined = fused_scores(scores(0.5, 0.1, 0.1, 0.3), EVEN_ODDS, scores(0.01, 0.01, 0.97, 0.01))
    assert IMAGE_TYPES[int(joined.argmax())] == "Retinal Imaging"


def test_an_outright_word_turns_doubt_and_not_certainty() -> None:
    words = np.asarray([1.0, 20.0, 1.0, 1.0])
    doubt, sure = scores(0.4, 0.2, 0.2, 0.2), scores(0.999, 0.0, 0.0005, 0.0005)
    assert fused_scores(doubt, words, doubt).argmax() == 1
    assert fused_scores(sure, words, sure, sure).argmax() == 0


def test_shares_of_modalities_add_up_to_those_of_their_types() -> None:
    shares = np.zeros(len(MODALITIES), np.float32)
    shares[MODALITIES.index("ultra-widefield")] = 0.5
    shares[MODALITIES.index("montage")] = 0.3
    shares[MODALITIES.index("fundus photograph")] = 0.2
    assert type_shares_of(shares) == pytest.approx([0.2, 0, 0.8, 0])


def test_the_modality_is_the_likeliest_one_of_the_type() -> None:
    shares = np.full(len(MODALITIES), 0.001, np.float32)
    shares[MODALITIES.index("ultra-widefield")] = 0.5
    shares[MODALITIES.index("montage")] = 0.46
    decision = classify_image_type(fundus(), "Optos ultra-widefield image", modality_shares=shares)
    assert (decision.image_type, decision.modality) == ("Retinal Imaging", "ultra-widefield")
    assert 0 < decision.modality_score < decision.score
    assert decision.reason.startswith("network CFP=0.00")
    assert classify_image_type(fundus()).modality is None


@pytest.mark.parametrize(
    ("pixels", "expected"), [([0.5, 0.45, 0.03, 0.02], None), ([0.02, 0.6, 0.2, 0.18], 1), ([0.1, 0.1, 0.1, 0.7], 3)]
)
def test_close_scores_leave_the_type_open(
    pixels: list[float], expected: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decisions, "measured_scores", lambda crop: np.asarray(pixels))
    decision = classify_image_type(fundus())
    assert decision.image_type == (None if expected is None else IMAGE_TYPES[expected])
    assert ("too close" in decision.reason) is (expected is None)
    assert sum(decision.scores.values()) == pytest.approx(1, abs=1e-5)
    assert decision.score == max(decision.scores.values())
    assert list(decision.scores) == list(IMAGE_TYPES)


def test_labels_are_evidence_that_what_is_certain_overrules() -> None:
    grey = np.full((200, 200, 3), 120, np.uint8)
    assert classify_image_type(grey, labels=()) == classify_image_type(grey)
    plain, labelled = classify_image_type(grey), classify_image_type(grey, labels=("optical coherence tomography",))
    assert labelled.scores["OCT"] > plain.scores["OCT"]
    assert labelled.reason.endswith("labelled OCT")
    assert classify_image_type(fundus(), labels=("optical coherence tomography",)).image_type == "CFP"
    named = classify_image_type(grey, "fluorescein angiography", labels=("optical coherence tomography",))
    assert named.scores["Retinal Imaging"] > named.scores["OCT"]


def test_a_texture_is_a_retinal_picture_only_where_words_speak_for_it() -> None:
    shares = np.zeros(len(MODALITIES), np.float32)
    shares[MODALITIES.index("adaptive optics")] = 1
    crop = np.random.default_rng(0).integers(40, 200, (80, 80, 3), dtype=np.uint8)
    bars = classify_image_type(crop, "Mean acuity of both eyes; bars are standard errors", None, (), shares)
    assert bars.image_type in {None, "Other"}
    assert bars.modality is None
    assert "no word speaks for" in bars.reason
    muscle = classify_image_type(crop, "Ultrasonic pattern of the vastus lateralis at rest", None, (), shares)
    assert muscle.image_type == "Other"
    for words in ("", "Muscle at rest", "Mosaic of cones at three degrees from the centre"):
        assert classify_image_type(crop, words, None, (), shares).image_type == "Retinal Imaging"


def test_words_tell_the_type_of_what_is_mostly_texture() -> None:
    shares = np.zeros(len(MODALITIES), np.float32)
    shares[MODALITIES.index("adaptive optics")] = 1
    scan = classify_image_type(oct_scan(), "OCT of the right eye at the first visit", None, (), shares)
    assert scan.image_type == "OCT"
    silent = classify_image_type(oct_scan(), "The right eye at the first of three visits", None, (), shares)
    assert silent.image_type is None


def test_in_an_article_of_another_field_nothing_is_a_retinal_picture() -> None:
    assert classify_image_type(oct_scan(), "OCT").image_type == "OCT"
    section = classify_image_type(oct_scan(), "OCT", elsewhere=True)
    assert section.image_type in {None, "Other"}
    assert classify_image_type(fundus(), elsewhere=True).image_type in {None, "Other"}


def test_a_rendering_of_a_volume_looks_like_a_scan_and_is_another_picture_of_the_retina() -> None:
    shares = np.zeros(len(MODALITIES), np.float32)
    shares[MODALITIES.index("OCT")] = 1.0
    said = classify_image_type(oct_scan(), "Volume rendering of the macula of the right eye.", None, (), shares)
    plain = classify_image_type(oct_scan(), "The macula of the right eye after treatment.", None, (), shares)
    assert (said.image_type, plain.image_type) == ("Retinal Imaging", "OCT")
    assert said.score == max(said.scores.values()) == said.scores["Retinal Imaging"]
    assert "rendering" in said.reason
