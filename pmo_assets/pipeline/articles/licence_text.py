"""The characters of a licence's statement in one form, before anything of it is read."""

from __future__ import annotations

import functools
import re
import unicodedata
from typing import Final

_ICONS: Final = str.maketrans(
    {"\U0001f16d": " CC ", "\U0001f16f": " BY ", "\U0001f10f": " NC ", "\N{CIRCLED EQUALS}": " ND ",
     "\U0001f10e": " SA ", "\U0001f10d": " CC0 "}
)  # fmt: skip
"""The licences' signs in Unicode."""


def plain(text: str | None) -> str:
    """Return a statement in compatibility form, with single spaces, every hyphen and dash as "-", nothing invisible.

    Typeset pages and XML write "CC BY‑NC‑ND" with dashes, ligatures and wide letters of their own; read as "CC BY" it
    would lose its conditions.
    """
    normal = unicodedata.normalize("NFKC", _LOOSE_ACCENTS.sub("", (text or "").translate(_ICONS)))
    return " ".join("".join(map(_seen, normal)).split())


_LOOSE_ACCENTS: Final = re.compile("[\u00a8\u00b4\u00b8\u02c6\u02c7\u02d8-\u02dd]")
"""Typeset pages put the accents of names beside their letters."""


@functools.cache
def _seen(character: str) -> str:
    kind = unicodedata.category(character)
    if kind == "Pd" or character == "\N{MINUS SIGN}":
        return "-"
    return {"Cf": "", "Cc": " "}.get(kind, character)


_LETTERS: Final = str.maketrans({"œ": "oe", "æ": "ae", "ø": "o", "ł": "l", "ı": "i", "’": "'", "ʼ": "'", "`": "'"})


def folded(word: str) -> str:
    """Return a word in small letters without accents."""
    decomposed = unicodedata.normalize("NFD", word.casefold().translate(_LETTERS))
    return unicodedata.normalize("NFC", re.sub("[\u0300-\u036f]", "", decomposed))
