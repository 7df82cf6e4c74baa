"""Captions that nobody wrote: random Unicode, thousands of panels, brackets without end, markup."""

from __future__ import annotations

import random
import string
from collections.abc import Callable

from pmo_assets_tests.faults.material import ATTACKS, ODD_CHARACTERS, odd_text

WORDS = (
    "Fundus", "photograph", "of", "the", "right", "eye", "(A)", "(B)", "(a,b)", "(A-C)", "A:", "B.", "Left:", "OCT",
    "and",
    "respectively", "before", "after", "Scale bar: 200 µm.", "n = 3", "p < 0.05", "1.5 mm", "Fig. 1", "(1)", "(ii)",
    "C–F",
    "top", "row", "panels", "arrow", "[A]", "{B}", "A1", "a'", "A", "i", ";", ",", ".", "—", "vs.", "et al.",
    "5'-ATG-3'",
)  # fmt: skip


def anything(rng: random.Random) -> str:
    return "".join(chr(rng.randrange(0x110000)) for _ in range(rng.choice((1, 10, 300))))


def halves_of_pairs(rng: random.Random) -> str:
    return f"(A) Eye {chr(rng.randrange(0xD800, 0xE000))} (B) {chr(rng.randrange(0xD800, 0xE000))}"


def odd_words(rng: random.Random) -> str:
    return odd_text(rng, WORDS, rng.choice((1, 5, 40, 400)))


def words(rng: random.Random) -> str:
    return " ".join(rng.choices(WORDS, k=rng.choice((1, 5, 40, 400))))


def long(rng: random.Random) -> str:
    part = rng.choice(
        ("A ", "(A) x. ", "a", " ", ".", "(", "[(", "A, ", "A-", "1-", "é\u0301", "(A–Z) ", "Fig. ", "and ")
    )
    return (part * (100_000 // len(part)))[: rng.choice((10_000, 100_000))]


def many_panels(rng: random.Random) -> str:
    letters = string.ascii_uppercase if rng.random() < 0.7 else string.ascii_lowercase
    count = rng.choice((27, 64, 65, 3000))
    same = rng.random() < 0.5
    return " ".join(f"({'A' if same else letters[k % 26] * (1 + k // 26 % 3)}) Eye {k}." for k in range(count))


def ranges(rng: random.Random) -> str:
    ends = (
        "A",
        "Z",
        "a",
        "z",
        "1",
        "10000",
        "0",
        "-1",
        "99999999999999999999",
        "i",
        "xviii",
        "IV",
        "AA",
        "ZZ",
        "α",
        "Ω",
        "A1",
        "Z9",
    )
    between = ("-", "–", "—", " to ", "−", ":", "..", ",")
    parts = [
        f"({rng.choice(ends)}{rng.choice(between)}{rng.choice(ends)}) {rng.choice(WORDS)}."
        for _ in range(rng.choice((1, 3, 50)))
    ]
    return " ".join(parts)


def nested_brackets(rng: random.Random) -> str:
    depth = rng.choice((3, 100, 20_000))
    opening, closing = rng.choice(("()", "[]", "{}", "(]", "（）", "<>"))
    return f"{opening * depth}A{closing * rng.choice((depth, depth - 1, 0))} Eye. (B) Other."


def markup(rng: random.Random) -> str:
    return " ".join(f"({letter}) {rng.choice(ATTACKS)}." for letter in "ABCD"[: rng.choice((1, 2, 4))])


def attack_as_identifier(rng: random.Random) -> str:
    return f"{rng.choice(ATTACKS)}: Left eye. {rng.choice(ATTACKS)}: Right eye."


def repeated_identifiers(rng: random.Random) -> str:
    return " ".join(
        f"({rng.choice('ABab')}) {rng.choice(WORDS)}{rng.choice('.;,')}" for _ in range(rng.choice((3, 30, 500)))
    )


def combining(rng: random.Random) -> str:
    return "(A" + "\u0301" * rng.choice((1, 50, 50_000)) + ") Eye. (B\u20dd) Other. \u200b(\u200bC\u200b)\u200b"


def letters_with_odd_characters(rng: random.Random) -> str:
    return " ".join(f"({rng.choice(ODD_CHARACTERS)}{letter}{rng.choice(ODD_CHARACTERS)}) Eye." for letter in "ABCD")


def nothing(rng: random.Random) -> str:
    return rng.choice(("", " ", "\n", "\u200b", ".", "()", "A", "(A)", "(A) (B)", "A, B", "\u202e"))


GENERATORS: tuple[Callable[[random.Random], str], ...] = (
    anything, halves_of_pairs, odd_words, words, words, long, many_panels, ranges, nested_brackets, markup,
    attack_as_identifier, repeated_identifiers, combining, letters_with_odd_characters, nothing,
)  # fmt: skip


def hostile_caption(rng: random.Random) -> tuple[str, str]:
    """Return a generator's name and a caption of it."""
    generator = rng.choice(GENERATORS)
    return generator.__name__, generator(rng)
