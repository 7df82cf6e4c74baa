"""Printed words that tell who somebody is: names with a title or a degree, addresses, dates of birth, numbers.

A line of print is masked as a whole. Names that stand alone cannot be told from terms ("Stargardt"), so those that the
video's metadata gives (channel, uploader) are looked for besides.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from rapidfuzz import fuzz

_CAPITAL: Final = r"[^\W\d_a-zß-öø-ÿ]"
"""First letter of a name: capitals of all alphabets, and the letters of those that have none."""

_PARTICLES: Final = r"(?:(?:d[aeiou]s?|de[lnr]|dell[ao]|l[ae]|v[ao]n|vom|zur?|te[nr]|bin|ibn|[ae]l|a[fv])[\s'’-]+)*"
"""What stands in small letters before a name: "van der", "de la"."""

_NAME: Final = rf"{_PARTICLES}{_CAPITAL}[\w'’.-]*"
"""A word of a name."""

_DEGREE: Final = (
    r"(?:M\.?\s?D|Ph\.?\s?D|M\.?B\.?B\.?S|MBChB|D\.?O|O\.?D|FRCOphth|FRCS|FACS|FRCP|FEBO|MRCOphth|MSc|DPhil|"
    r"FRANZCO|DNB)"
)

_RULES: Final = tuple(
    re.compile(rule)
    for rule in (
        # Titles before a name: "Dr Jane Miller", "Prof. J. Miller", OCR may lose the space.
        rf"\b(?:Dr|Drs|Prof|Professor|Doctor|Mr|Mrs|Ms|Miss|Sir|Dame|Herr|Frau)\b\.?\s*{_NAME}",
        rf"\b(?:Dr|Prof)\.?{_NAME}",
        # In capitals DR, MR and MS are diseases and devices, too.
        rf"\b(?:DR\.|PROF\b\.?|PROFESSOR\b|DOCTOR\b|MRS\b\.?)\s*{_NAME}",
        # Degrees behind one: "Jane Miller, MD", "J. Miller M.D. Ph.D."
        rf"{_NAME}[\s.,]+{_DEGREE}\b",
        # Who speaks, or is treated.
        rf"(?i:\b(?:presented by|presenter|speaker|lecturer|authors?|moderator|by)\b)\s*[:.]?\s*{_NAME}\s*{_NAME}",
        r"(?i:\b(?:patient|pt|name|surname|first name)\b)\s*(?i:name)?\s*[:;=]\s*\S",
        # Addresses.
        r"[\w.+-]+\s?@\s?[\w-]+",
        r"(?i)\bwww\.|https?:/",
        r"(?:^|\s)@\w{2,}",
        # Numbers and dates of patients.
        r"(?i)\b(?:d\.?o\.?b|date of birth|born|geb)\b",
        r"(?i)\b(?:mrn|nhs|ssn|hospital (?:no|number)|patient (?:id|no|number)|pat\.? (?:id|nr)|id)\b\s*[:#.]?\s*\w*\d",
        r"\b\d{1,2}\s?[./-]\s?\d{1,2}\s?[./-]\s?(?:19|20)\d{2}\b",
        r"\b(?:19|20)\d{2}-\d{2}-\d{2}\b",
        r"\b\d{6,}\b",
    )
)
"""A line that one of them is found in is masked."""

_LONGEST: Final = 300
"""Characters of a line that are looked at: print on a slide has fewer, and a longer line is masked unread."""

_ALIKE: Final = 85
"""Least likeness, 0..100, of a line's words and a name from the metadata."""


def is_identifying(line: str, names: Sequence[str] = ()) -> bool:
    """Say whether a line of print tells who somebody is.

    Args:
        line: as read.
        names: of persons, from the video's metadata.
    """
    if len(line) > _LONGEST or any(rule.search(line) for rule in _RULES):
        return True
    lower = line.casefold()
    return any(
        len(name) >= 5 and len(lower) >= 5 and fuzz.partial_ratio(name.casefold(), lower) >= _ALIKE for name in names
    )
