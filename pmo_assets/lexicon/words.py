"""Words of a text with offsets, and the key of a word: one for all its spellings.

British and American spelling, plurals (English and Latin), accents, Greek letters, "'s" and hyphens are differences of
spelling, removed by rule from the lexicon and from texts alike. What a key looks like ("edema" and "oedema" are
"edema", "lens" is "len") does not matter, as long as different words keep different keys.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

_LEXEME: Final = re.compile(r"[^\W\d_]+(?:['’]s\b)?|\d+(?:\.\d+)?|[^\s\w]|_")
_HYPHENS: Final = frozenset("-‐‑‒–")
"""Characters that hold the parts of one term together where no blank stands beside them."""

_APOSTROPHES: Final = frozenset("'’‘")


def word_list(text: str) -> tuple[str, ...]:
    """Return the words that blanks separate: a list of words as code."""
    return tuple(text.split())


PREFIXES: Final = frozenset(
    word_list(
        "non sub pre post intra inter hyper hypo neo peri para extra juxta epi pseudo retro supra micro macro multi "
        "auto ultra anti chorio choroido vitreo cilio kerato irido fibro neuro sero mid"
    )
)
"""Parts of words that a hyphen may set apart: "non-proliferative" is "nonproliferative"."""

_NEVER_ALONE: Final = frozenset(
    word_list("non sub intra hyper hypo peri para juxta epi pseudo retro supra chorio vitreo")
)
"""Prefixes that are no word by themselves, so that a blank sets them apart as well: "sub retinal"."""

_ROMAN: Final = {"I": "1", "II": "2", "III": "3", "IV": "4", "V": "5", "VI": "6"}
_SUBSCRIPTS: Final = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")

_GREEK: Final = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "κ": "kappa", "λ": "lambda", "μ": "mu",
    "ω": "omega",
}  # fmt: skip

# The first ending that fits is replaced; (ending, replacement, letters that the word must have).
_PLURALS: Final = (
    ("mata", "ma", 6), ("ae", "a", 5), ("stases", "stasis", 8), ("oses", "osis", 6), ("yses", "ysis", 6),
    ("eses", "esis", 6), ("nses", "n", 6), ("ies", "y", 5), ("sses", "ss", 6), ("xes", "x", 5), ("ches", "ch", 6),
    ("shes", "sh", 6), ("ss", "ss", 2), ("us", "us", 2), ("is", "is", 2), ("s", "", 3), ("ii", "ii", 2), ("i", "us", 4),
    ("um", "a", 5),
)  # fmt: skip
_SPELLINGS: Final = (
    (re.compile(r"[ao]e"), "e"),
    (re.compile(r"(?<=[a-z]{2})our"), "or"),
    (re.compile(r"is(?=(?:e|ed|er|ing|ation)$)"), "iz"),
    (re.compile(r"(?<=[tb])re$"), "er"),
    (re.compile(r"ll(?=(?:ing|ed)$)"), "l"),
    (re.compile(r"^grey"), "gray"),
    (re.compile(r"^disk"), "disc"),
    (re.compile(r"ogue$"), "og"),
    (re.compile(r"graphic(?:al)?$"), "graphy"),
    # A slip that is frequent in print: "opthalmic", "exopthalmos".
    (re.compile(r"pth(?=al)"), "phth"),
)


@dataclass(frozen=True, slots=True)
class Words:
    """Words, numbers and signs of a text; all lists have an entry for each. Hyphens within a term are left out.

    Attributes:
        text: that the offsets refer to.
        starts, ends: offsets.
        keys: key of each word; numbers and signs as they are.
        capitals: an acronym as written, without the "s" of a plural; "" for other words.
    """

    text: str
    starts: list[int]
    ends: list[int]
    keys: list[str]
    capitals: list[str]

    def __len__(self) -> int:
        return len(self.keys)

    def alternatives(self, index: int) -> Iterator[str]:
        """Yield the ways to read a word: acronyms as written (with "=" before them), roman numerals, its key."""
        if capitals := self.capitals[index]:
            yield f"={capitals}"
            if capitals in _ROMAN:
                yield _ROMAN[capitals]
        yield self.keys[index]

    def number(self, index: int) -> str | None:
        """Return the number, roman ones in digits, that stands at an index; None for anything else."""
        if not 0 <= index < len(self.keys):
            return None
        key = self.keys[index]
        return key if key[0].isdigit() else _ROMAN.get(self.capitals[index] or key.upper())


def is_acronym(word: str) -> bool:
    """Say whether a word is matched as written: a single capital, or at least two among its letters."""
    capitals = sum(character.isupper() for character in word)
    return capitals >= 2 or (capitals == 1 and len(word) == 1)


@lru_cache(maxsize=1 << 16)
def _readings(word: str) -> tuple[str, str]:
    """Key of a word, and the acronym that it is ("" for none)."""
    plain = word[:-2] if word[-2:] in {"'s", "’s"} else word
    single = plain[:-1] if plain.endswith("s") and is_acronym(plain[:-1]) and plain[:-1].isalpha() else plain
    return word_key(plain), single if is_acronym(single) else ""


def word_key(word: str) -> str:
    """Return the key of a word."""
    folded = unicodedata.normalize("NFKD", word).casefold()
    key = "".join(_GREEK.get(character, character) for character in folded if not unicodedata.combining(character))
    for ending, replacement, letters in _PLURALS:
        if key.endswith(ending) and len(key) >= letters:
            key = key[: len(key) - len(ending)] + replacement
            break
    for pattern, replacement in _SPELLINGS:
        key = pattern.sub(replacement, key)
    return key or word


def words_of(text: str) -> Words:
    """Return the words of a text, in time proportional to its length."""
    words = Words(text, [], [], [], [])
    prefix: re.Match[str] | None = None
    for lexeme in _LEXEME.finditer(text.translate(_SUBSCRIPTS)):
        word, start, end = lexeme.group(), *lexeme.span()
        if word in _APOSTROPHES or (
            word in _HYPHENS and text[start - 1 : start].isalnum() and text[end : end + 1].strip()
        ):
            continue
        if prefix is not None and _continues(prefix, lexeme):
            words.keys[-1], _ = _readings((prefix.group() + word).lower()[:64])
            words.ends[-1], words.capitals[-1], prefix = end, "", None
            continue
        # A longer "word" is no word; its key is not worth the memory of keeping it.
        key, capitals = _readings(word[:64]) if word[0].isalpha() else (word, "")
        words.starts.append(start)
        words.ends.append(end)
        words.keys.append(key)
        words.capitals.append(capitals)
        prefix = lexeme if word.lower() in PREFIXES else None
    return words


def _continues(prefix: re.Match[str], lexeme: re.Match[str]) -> bool:
    """Whether a word is the rest of the one that the prefix before it begins."""
    word, between = lexeme.group(), lexeme.string[prefix.end() : lexeme.start()]
    if not (word[0].isalpha() and len(word) > 2 and word[1:].islower()):
        return False
    return between in _HYPHENS or (between == " " and prefix.group().lower() in _NEVER_ALONE)
