"""Pieces of sound, and which of two hearings counts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from pmo_assets.pipeline.videos.speech import RATE, check_model, heard, quiet_pieces
from pmo_assets.pipeline.videos.words import Word
from pmo_assets.records.stores import SystemicError


class Hears:
    """Hears so many words, without and with a prompt."""

    name = "counts"

    def __init__(self, plain: int, prompted: int, threads: int = 1) -> None:
        self.counts = {False: plain, True: prompted}
        self.threads = threads

    def load(self) -> object:
        return None

    def __call__(self, samples: NDArray[np.float32], prompt: str) -> list[Word]:
        text = "prompted" if prompt else "plain"
        return [Word(text, float(k), k + 1.0, 1.0) for k in range(self.counts[bool(prompt)])]

    def knows(self, word: str) -> bool:
        return True


@pytest.mark.parametrize(
    ("plain", "prompted", "taken"),
    [(100, 100, "prompted"), (100, 75, "prompted"), (100, 74, "plain"), (100, 125, "prompted"), (3, 9, "plain")],
)
def test_a_prompt_counts_unless_it_loses_words_or_repeats_them(plain: int, prompted: int, taken: str) -> None:
    words = heard(np.zeros(9, np.float32), "drusen", Hears(plain, prompted))
    assert {word.text for word in words} == {taken}


def test_without_a_prompt_and_in_silence_nothing_is_heard_twice() -> None:
    assert [word.text for word in heard(np.zeros(9, np.float32), "", Hears(2, 2))] == ["plain"] * 2
    assert heard(np.zeros(9, np.float32), "drusen", Hears(0, 5)) == []


def test_pieces_that_are_heard_side_by_side_keep_their_order() -> None:
    sound = np.zeros(70 * RATE, np.float32)
    assert heard(sound, "drusen", Hears(3, 3, threads=3)) == heard(sound, "drusen", Hears(3, 3))


def test_a_model_without_its_tokenizer_is_no_model(tmp_path: Path) -> None:
    (tmp_path / "model.bin").touch()
    with pytest.raises(SystemicError, match=r"tokenizer\.json is missing"):
        check_model(tmp_path)
    (tmp_path / "tokenizer.json").touch()
    check_model(tmp_path)


def test_long_sound_is_cut_in_its_pauses() -> None:
    sound = np.random.default_rng(1).uniform(-0.5, 0.5, 50 * RATE).astype(np.float32)
    for pause in (13.0, 27.0, 30.0, 44.0):
        sound[int(pause * RATE) : int((pause + 0.5) * RATE)] = 0
    pieces = quiet_pieces(sound)
    assert [first / RATE for first, _ in pieces[1:]] == pytest.approx([13.25, 27.25, 44.25], abs=0.3)
    assert np.array_equal(np.concatenate([piece for _, piece in pieces]), sound)


@pytest.mark.parametrize("count", [0, 1, 319, RATE, 21 * RATE + 7])
def test_pieces_are_the_whole_sound(count: int) -> None:
    sound = np.arange(count, dtype=np.float32)
    pieces = quiet_pieces(sound)
    assert all(len(piece) <= 20 * RATE + 320 for _, piece in pieces)
    assert np.array_equal(np.concatenate([piece for _, piece in pieces]), sound)


def test_words_of_later_pieces_are_shifted() -> None:
    words = heard(np.zeros(30 * RATE, np.float32), "", Hears(1, 1))
    assert [word.start for word in words] == pytest.approx([0.0, 10.0], abs=0.1)
