"""Words of the field: those that speech recognition is told to expect, and the dictionary that misheard ones are held
against.

A word is corrected only if the recogniser was unsure of it and it is no common word, and if one word of the dictionary,
and only one, is spelled and sounds nearly alike. What was heard is kept.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from rapidfuzz import process
from rapidfuzz.distance import OSA

from pmo_assets.lexicon.terms import shipped_lexicon
from pmo_assets.pipeline.videos.words import Word

COMMON: Final = (
    "fundus photograph", "optical coherence tomography", "fluorescein angiography", "fundus autofluorescence", "macula",
    "fovea", "optic disc", "choroid", "retinal pigment epithelium", "ellipsoid zone", "drusen", "geographic atrophy",
    "age-related macular degeneration", "choroidal neovascularization", "subretinal fluid", "intraretinal fluid",
    "pigment epithelial detachment", "macular edema", "diabetic retinopathy", "hard exudates", "cotton wool spots",
    "microaneurysm", "hemorrhage", "epiretinal membrane", "macular hole", "vitreous", "retinal detachment", "leakage",
    "nonperfusion", "glaucoma", "uveitis", "papilledema",
)  # fmt: skip
"""Terms that are told in every lecture; each is one of the lexicon's (tested)."""

MOST_PROMPT_WORDS: Final = 90
"""Whisper reads 224 tokens of a prompt, of which a term's word takes two or three."""

_GROUPS: Final = frozenset({"anatomy", "disease", "finding", "imaging", "treatment"})
_SHORTEST: Final = 6
"""Letters of a word that may be corrected: shorter ones resemble too much."""

UNSURE: Final = 0.75
"""Probability below which a recognised word may be wrong."""

_WORD: Final = re.compile(r"[A-Za-z]+(?:-[A-Za-z]+)*")


@dataclass(frozen=True)
class Dictionary:
    """Words by lower case, and by sound."""

    words: frozenset[str]
    by_sound: dict[str, tuple[str, ...]]


@lru_cache(maxsize=1)
def ophthalmic_dictionary() -> Dictionary:
    """Return the single words of the lexicon's terms; made once.

    Raises:
        SystemicError: when the lexicon cannot be read.
    """
    words: set[str] = set()
    for term in shipped_lexicon().terms.values():
        if term.group in _GROUPS:
            for name in (term.name, *term.synonyms):
                words.update(part.casefold() for part in _WORD.findall(name) if not part.isupper() and len(part) >= 4)
    by_sound: dict[str, list[str]] = {}
    for word in sorted(words):
        by_sound.setdefault(sound(word), []).append(word)
    return Dictionary(frozenset(words), {key: tuple(value) for key, value in by_sound.items()})


_SOUNDS: Final = tuple(
    (re.compile(rule), put)
    for rule, put in (
        ("[^a-z]", ""), ("ph", "f"), ("[ao]e", "e"), ("^(?:kn|gn|pn)", "n"), ("^ps", "s"), ("^x", "s"), ("gh", "g"),
        ("ch(?=[lr])|ch(?=or)", "k"), ("sch|ch|sh", "x"), ("c(?=[eiy])", "s"), ("[cq]", "k"), ("x$", "ks"), ("z", "s"),
        ("h", ""), ("[aeiouy]+", "a"), (r"(.)\1+", r"\1"), ("(?<!^)a", ""),
    )
)  # fmt: skip


def sound(word: str) -> str:
    """Return how a word sounds, roughly: its consonants, those that sound alike as one, and a first vowel."""
    text = word.casefold()
    for rule, put in _SOUNDS:
        text = rule.sub(put, text)
    return text


def prompt(slide: Iterable[str] = ()) -> str:
    """Return the prompt of a stretch of speech: terms that the slides show, then the common ones.

    Args:
        slide: lines that were read on the slides.
    """
    known = ophthalmic_dictionary().words
    shown = [word for line in slide for word in _WORD.findall(line) if word.casefold() in known]
    words: list[str] = []
    count = 0
    for term in dict.fromkeys([*(word.casefold() for word in shown), *COMMON]):
        count += len(term.split())
        if count > MOST_PROMPT_WORDS:
            break
        words.append(term)
    return f"A lecture on the retina: {', '.join(words)}."


def corrected(
    words: Sequence[Word], is_common: Callable[[str], bool], dictionary: Dictionary | None = None
) -> list[Word]:
    """Return the words, misheard ones of the field put right, with what was heard as `original`.

    Args:
        words: as recognised, in order.
        is_common: says of a word in lower case whether everybody uses it; such words stay.
        dictionary: None for the lexicon's.
    """
    book = dictionary or ophthalmic_dictionary()
    result: list[Word] = []
    for word in words:
        core, _ = _core(word.text)
        before = result[-1] if result else None
        if before is not None and _parted(before, word, book):
            text = before.text + word.text.lower()
            result[-1] = Word(text, before.start, word.end, min(before.probability, word.probability),
                              f"{before.text} {word.text}")  # fmt: skip
            continue
        better = None if word.probability >= UNSURE or is_common(core) else _nearest(core, book)
        result.append(word if better is None else _put_right(word, core, better))
    return result


def _core(text: str) -> tuple[str, int]:
    """Return a word without punctuation, in lower case, and where it begins."""
    match = _WORD.search(text)
    return (match[0].casefold(), match.start()) if match else ("", 0)


def _parted(first: Word, second: Word, book: Dictionary) -> bool:
    """Say whether two recognised words are one of the dictionary: "sub retinal"."""
    left, right = first.text, _core(second.text)[0]
    if first.original is not None or not left.isalpha() or not right or len(left) + len(right) < _SHORTEST:
        return False
    whole = (left.casefold() + right) in book.words
    return whole and not {left.casefold(), right} <= book.words


def _nearest(word: str, book: Dictionary) -> str | None:
    if len(word) < _SHORTEST or word in book.words:
        return None
    farthest = 1 if len(word) < 9 else 2
    alike = book.by_sound.get(sound(word), ())
    found = process.extract(word, alike, scorer=OSA.distance, score_cutoff=farthest, limit=2)
    if not found or (len(found) > 1 and found[0][1] == found[1][1]):
        return None
    return str(found[0][0])


def _put_right(word: Word, core: str, better: str) -> Word:
    start = _core(word.text)[1]
    shown = better.capitalize() if word.text[start : start + 1].isupper() else better
    return replace(word, text=word.text[:start] + shown + word.text[start + len(core) :], original=word.text)
