"""The index of words: folding, masks of panels, files, and memory that is given back."""

from __future__ import annotations

import random

import pytest

from pmo_assets.viewing.gallery.words import BREAK, MAX_PANELS, MAX_WORD, WordIndex, folded, pairs, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("OCT-A, en face (3 × 3 mm)", ["oct", "a", "en", "face", "3", "3", "mm"]),
        ("Sjögren Müller naïve ŁÓDŹ", ["sjogren", "muller", "naive", "lodz"]),
        ("straße Straße STRASSE", ["strasse", "strasse", "strasse"]),
        ("ﬁbrosis ℃ ½ β-catenin", ["fibrosis", "c", "1", "2", "β", "catenin"]),
        ("Ἀθῆναι ΟΦΘΑΛΜΟΣ οφθαλμος", ["αθηναι", "οφθαλμοσ", "οφθαλμοσ"]),
        ("a_b  ", ["a", "b"]),
        ("", []),
    ],
)
def test_words_are_folded(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_pairs_are_words_in_a_row_of_one_text() -> None:
    assert pairs("Cystoid, macular œdema") == ["cystoid macular", "macular oedema"]
    assert pairs(f"one two{BREAK}three{BREAK}four five") == ["one two", "four five"]
    index = WordIndex(cut=pairs)
    index.add(0, ["left eye and right eye"], ["left eye", "right eye"])
    assert occurrences(index) == {"left eye": {0: 1}, "right eye": {0: 2}, "eye and": {0: 0}, "and right": {0: 0}}


def test_long_words_are_cut_and_surrogates_are_no_letters() -> None:
    assert words("é" + "x" * 100) == ["e" + "x" * (MAX_WORD - 1)]
    assert words("a\ud800b") == ["a", "b"]
    assert folded("İI") == "ii"


def occurrences(index: WordIndex, size: int = 10**9) -> dict[str, dict[int, int]]:
    """Return mask (0: the whole figure) by figure by word."""
    found: dict[str, dict[int, int]] = {}
    for shard in index.shards(size):
        for word, data in zip(shard.words, shard.postings, strict=True):
            numbers, value, shift = [], 0, 0
            for byte in data:
                value |= (byte & 127) << shift
                shift += 7
                if byte < 128:
                    numbers.append(value)
                    value = shift = 0
            figures, number, at = {}, 0, 0
            while at < len(numbers):
                number += numbers[at] >> 1
                figures[number] = numbers[at + 1] if numbers[at] & 1 else 0
                at += 1 + (numbers[at] & 1)
            found[word] = figures
    return found


def test_a_word_points_at_the_panels_whose_text_has_it() -> None:
    index = WordIndex()
    index.add(0, ["Both eyes with drusen"], ["eyes drusen", "eyes"])
    index.add(7, ["drusen"], ["left"])
    found = occurrences(index)
    assert found["drusen"] == {0: 0b01, 7: 0}, "in a caption: the panels it is assigned to, or the whole figure"
    assert found["eyes"] == {0: 0}, "of all panels"
    assert found["both"] == {0: 0}
    assert found["left"] == {7: 0}


def test_of_very_many_panels_the_whole_figure_is_found() -> None:
    index = WordIndex()
    index.add(0, [], ["one", *(["other"] * (MAX_PANELS - 1))])
    index.add(1, [], ["one", *(["other"] * MAX_PANELS)])
    assert occurrences(index)["one"] == {0: 1, 1: 0}


def test_what_went_to_disk_in_between_makes_no_difference() -> None:
    source = random.Random(1)
    whole, spilled = WordIndex(), WordIndex(spill=50)
    for figure in range(120):
        texts = [" ".join(source.choices(["alpha", "beta", "gamma", "delta", "ä", "𝔘", "zeta"], k=6))]
        panels = [source.choice(("alpha", "beta x", "")) for _ in range(source.randint(0, 4))]
        for index in (whole, spilled):
            index.add(figure, texts, panels)
    assert occurrences(spilled) == occurrences(whole)
    assert occurrences(spilled) == {}, "an index is used up"


def test_files_are_small_and_words_in_the_order_of_javascript() -> None:
    index = WordIndex()
    for figure in range(300):
        index.add(figure, [f"word{figure} common \U00010400 \uff5e豈 ﾟ"], [])
    shards = list(index.shards(size=500))
    assert len(shards) > 5
    every = [word for shard in shards for word in shard.words]
    assert every == sorted(every, key=lambda word: word.encode("utf-16-be"))
    assert len(every) == len(set(every))
