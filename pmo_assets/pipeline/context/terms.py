"""Terms of a text: its words without those of every text, in a form that inflection and spelling leave alike."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

SMALL_WORDS: Final = frozenset(
    [
        "a", "about", "after", "again", "all", "also", "although", "am", "among", "an", "and", "any", "are", "as",
        "at", "be", "because", "been", "before", "being", "between", "both", "but", "by", "can", "could", "did",
        "do", "does", "done", "due", "during", "each", "either", "for", "from", "further", "furthermore", "had",
        "has", "have", "having", "he", "hence", "her", "here", "him", "his", "how", "however", "if", "in", "into",
        "is", "it", "its", "itself", "itself", "may", "might", "more", "moreover", "most", "must", "no", "nor",
        "not", "of", "on", "once", "one", "only", "or", "other", "our", "out", "over", "per", "respectively", "same",
        "several", "she", "should", "since", "so", "some", "such", "than", "that", "the", "their", "them", "then",
        "there", "therefore", "these", "they", "this", "those", "through", "thus", "to", "under", "until", "up",
        "upon", "us", "very", "via", "was", "we", "well", "were", "what", "when", "where", "whether", "which",
        "while", "who", "whom", "whose", "why", "will", "with", "within", "without", "would", "yet", "you", "your",
    ]
)  # fmt: skip
"""Words of every text."""

GENERAL_WORDS: Final = frozenset(
    [
        "case", "cases", "compare", "compared", "comparison", "control", "data", "demonstrate", "demonstrated",
        "demonstrates", "different", "finding", "findings", "found", "group", "groups", "high", "higher", "level",
        "levels", "low", "lower", "mean", "normal", "observed", "patient", "patients", "present", "presented",
        "performed", "report", "reported", "result", "results", "reveal", "revealed", "show", "showed", "showing",
        "shown", "shows", "significant", "significantly", "study", "studies", "subject", "subjects", "use", "used",
        "using", "value", "values",
    ]
)  # fmt: skip
"""Words of every article: they do not tell one of its pictures from another."""

FIGURE_WORDS: Final = frozenset(
    [
        "fig", "figs", "figure", "figures", "panel", "panels", "image", "images", "arrow", "arrows", "arrowhead",
        "arrowheads",
    ]
)  # fmt: skip
"""Words with which a text points at its pictures."""

_TERM: Final = re.compile(r"[^\W_]+(?:[’'][^\W\d_]+)?")
_ENDINGS: Final = (
    "ations",
    "ation",
    "nesses",
    "ness",
    "ingly",
    "edly",
    "ings",
    "ing",
    "ies",
    "ied",
    "ed",
    "es",
    "s",
    "ly",
)
_ADJECTIVES: Final = ("ar", "al", "a", "e")
_KEPT: Final = ("ss", "us", "is", "ous")
_LEAST: Final = 4
"""Letters that stay when an ending is taken off; one less for a plural."""


def words_of(text: str) -> list[str]:
    """Return the words and numbers of a text, as written."""
    return _TERM.findall(text)


def word_ranges(text: str) -> list[tuple[int, int]]:
    """Return the [start, end) range of each word and number of a text."""
    return [match.span() for match in _TERM.finditer(text)]


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Return a word without endings that leave its meaning: "oedematous" stays, "maculae" and "macular" are one.

    Endings that make another thing of it ("-itis", "-opathy", "-oma") stay.
    """
    plain = word.casefold().removesuffix("'s").removesuffix("’s")
    if not plain.isalpha() or len(plain) < _LEAST:
        return plain
    plain = plain.replace("oe", "e").replace("ae", "e").replace("our", "or").replace("isation", "ization")
    if not plain.endswith(_KEPT):
        for ending in _ENDINGS:
            if plain.endswith(ending) and len(plain) - len(ending) >= (_LEAST if len(ending) > 1 else _LEAST - 1):
                plain = plain.removesuffix(ending) + ("y" if ending in ("ies", "ied") else "")
                break
    for ending in _ADJECTIVES:
        if plain.endswith(ending) and len(plain) - len(ending) >= _LEAST:
            return plain.removesuffix(ending)
    return plain


def terms_of(text: str) -> frozenset[str]:
    """Return the terms of a text: stems of the words that are neither small nor point at pictures; numbers too."""
    return frozenset(
        stem(word)
        for word in map(str.casefold, words_of(text))
        if word not in SMALL_WORDS and word not in FIGURE_WORDS and (len(word) > 1 or word.isdigit())
    )


PLAIN_WORDS: Final = frozenset(
    map(
        stem,
        [
            "a", "about", "also", "although", "among", "an", "and", "any", "appear", "appearance", "appears", "are",
            "area", "areas", "as", "at", "be", "been", "being", "between", "but", "by", "can", "captured", "case",
            "cases", "characteristic", "clearly", "consisting", "contain", "containing", "contains", "corresponding",
            "data", "demonstrate", "demonstrated", "demonstrates", "demonstrating", "depict", "depicted", "depicts",
            "describe", "described", "detail", "detailed", "detected", "display", "displayed", "displaying",
            "displays", "during", "each", "evidence", "evident", "examination", "examined", "example", "exhibit",
            "exhibited", "exhibiting", "exhibits", "eye", "eyes", "feature", "features", "featured", "features",
            "figure", "finding", "findings", "for", "found", "from", "had", "has", "have", "having", "here",
            "highlight", "highlighted", "highlighting", "highlights", "identified", "illustrate", "illustrated",
            "illustrates", "image", "imaged", "images", "imaging", "in", "include", "included", "includes",
            "including", "indicate", "indicated", "indicates", "indicating", "into", "involving", "is", "it", "its",
            "itself", "location", "located", "note", "noted", "observation", "observations", "observe", "observed",
            "obtained", "of", "on", "or", "panel", "participant", "participants", "patient", "patients", "performed",
            "picture", "present", "presence", "present", "presented", "presenting", "presents", "provide",
            "provided", "provides", "record", "recorded", "reflecting", "region", "regions", "represent",
            "represented", "representing", "represents", "result", "resulting", "results", "reveal", "revealed",
            "revealing", "reveals", "scan", "see", "seen", "show", "showed", "showing", "shown", "shows", "sign",
            "signs", "site", "so", "specifically", "taken", "than", "that", "the", "their", "there", "these", "they",
            "this", "those", "through", "thus", "to", "upon", "use", "used", "using", "view", "viewed", "views",
            "visible", "visualized", "visualised", "was", "were", "where", "which", "while", "who", "whose",
            "within", "yielded", "acquired", "assessed", "compared", "comparison", "concerning", "he", "her", "his",
            "she", "him", "when", "then", "also", "whereas", "measured", "measurement", "measurements", "measuring",
            "respectively",
        ],
    )
)  # fmt: skip
"""Words that say nothing which a source would have to say."""
