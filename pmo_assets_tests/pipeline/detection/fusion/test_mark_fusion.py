"""Mark status from looks, shapes and words: each source speaks for marks, words for the image that looks like it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from pmo_assets.pipeline.detection.fusion.mark_fusion import (
    FusedMarkClassifier,
    MarkEvidence,
    all_terms,
    fitted_coefficients,
    mark_probabilities,
)
from pmo_assets.pipeline.detection.networks.onnx_marks import MarkLooks, OnnxMarkNetwork

PLAIN = MarkEvidence(0.2, 0.2, "none", False, "")


def chance(evidence: MarkEvidence) -> float:
    return mark_probabilities([evidence])[0]


def test_every_source_speaks_for_marks() -> None:
    plain = chance(PLAIN)
    assert plain < 0.5
    assert chance(replace(PLAIN, second=0.9)) > plain
    assert chance(replace(PLAIN, first=0.6)) > plain
    assert chance(replace(PLAIN, drawn="mark")) > chance(replace(PLAIN, drawn="line")) >= plain
    assert chance(replace(PLAIN, drawn="mark")) > 0.7
    assert chance(replace(PLAIN, words="The macula (arrow).")) > chance(replace(PLAIN, words="The macula is boxed."))
    assert chance(replace(PLAIN, words="The macula is boxed.")) > plain
    assert chance(replace(PLAIN, words="The macula.")) == pytest.approx(plain)


def test_shapes_of_a_plot_are_its_drawing_and_its_symbols_no_marks() -> None:
    plot = replace(PLAIN, plot=True)
    assert chance(replace(plot, drawn="mark")) == pytest.approx(chance(plot))
    assert chance(replace(plot, words="Circles: controls.")) == pytest.approx(chance(plot))
    assert chance(replace(plot, words="The arrow shows the dose.")) > chance(plot)


def test_words_of_several_images_speak_for_the_one_that_looks_most_like_it() -> None:
    words = "Both eyes; the arrow points at the fovea."
    quiet, loud = replace(PLAIN, words=words), replace(PLAIN, first=0.4, second=0.5, words=words)
    terms = all_terms([quiet, loud, PLAIN], fitted_coefficients())
    assert (terms[0]["arrows, other"], terms[1]["arrows, best"]) == (1.0, 1.0)
    assert "arrows, best" not in terms[2], "words that are not known say nothing"
    alone, other = chance(quiet), mark_probabilities([quiet, loud])[0]
    assert other < alone
    assert mark_probabilities([quiet, loud])[1] == pytest.approx(chance(loud))


def test_one_mark_that_a_sentence_about_all_panels_names_is_on_one_image() -> None:
    shared = "MB moderator band (arrow)."
    quiet = replace(PLAIN, words=f"Long axis image. {shared}")
    loud = replace(PLAIN, first=0.4, second=0.5, words=f"Short axis image. {shared}")
    terms = all_terms([quiet, loud], fitted_coefficients())
    assert "arrows, other" not in terms[0]
    assert terms[1]["arrows, best"] == 1.0
    several = [replace(image, words=image.words.replace("arrow", "arrows")) for image in (quiet, loud)]
    terms = all_terms(several, fitted_coefficients())
    assert (terms[0]["arrows, best"], terms[1]["arrows, best"]) == (1.0, 1.0), "each may have some"


class TwoLooks(OnnxMarkNetwork):
    """Says what it was told to, picture by picture."""

    def __init__(self, *looks: MarkLooks) -> None:
        super().__init__()
        self.said = list(looks)

    def looks(self, crops: Sequence[NDArray[np.uint8]], closely: Sequence[bool] = ()) -> list[MarkLooks]:
        return [self.said.pop(0) for _ in crops]


def test_pictures_too_small_to_see_anything_are_left_to_the_words() -> None:
    speck, photograph = np.full((5, 90, 3), 90, np.uint8), np.full((90, 90, 3), 90, np.uint8)
    classifier = FusedMarkClassifier(TwoLooks(MarkLooks(0.97, None), MarkLooks(0.02, 0.05)))
    found = classifier([speck, photograph, speck, photograph], ["", "", "An arrow.", ""], ["none"] * 4)
    assert [marked for marked, _ in found] == [None, True, True, False]
    assert all(0 <= score <= 1 for _, score in found)


def test_figures_looked_at_together_get_what_they_get_alone() -> None:
    """Captions of one article say the same of several figures; each figure's words are about its own images."""
    words = "Fundus photograph; the arrow points at a haemorrhage."
    looks = [MarkLooks(0.3, 0.3), MarkLooks(0.6, 0.6), MarkLooks(0.5, 0.5)]
    crops = [np.full((90, 90, 3), 90, np.uint8)] * 3
    together = FusedMarkClassifier(TwoLooks(*looks))(crops, [words] * 3, (), [4, 7, 7])
    first = FusedMarkClassifier(TwoLooks(looks[0]))(crops[:1], [words])
    second = FusedMarkClassifier(TwoLooks(*looks[1:]))(crops[1:], [words] * 2)
    assert together == first + second
    assert FusedMarkClassifier(TwoLooks(*looks))(crops, [words] * 3) != together, "one figure's images share the words"


def test_the_shipped_network_and_coefficients_give_probabilities() -> None:
    rng = np.random.default_rng(0)
    crops = [rng.integers(0, 255, (90, 120, 3), dtype=np.uint8), rng.integers(0, 255, (700, 500, 3), dtype=np.uint8)]
    assert FusedMarkClassifier()([], []) == []
    ((_, first), (_, second)) = FusedMarkClassifier()(crops, ["", "An arrow."])
    assert 0 < first < 1
    assert 0 < second < 1


def test_plots_are_not_looked_at_twice() -> None:
    paper = np.full((400, 500, 3), 255, np.uint8)
    paper[50:350:40] = 0
    photograph = np.full((400, 500, 3), 90, np.uint8)
    plot, picture = FusedMarkClassifier().evidence([paper, photograph], ["", ""])
    assert plot is not None
    assert picture is not None
    assert (plot.plot, plot.second) == (True, None)
    assert (picture.plot, picture.second is None) == (False, False)
