"""Digital object identifiers: recognising them in text, writing and comparing them."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote, unquote

_IN_TEXT: Final = re.compile(r"10\.[0-9]{4,9}(?:\.[0-9]{1,9})*/[^\s\"'<>{}|\\^`\u201c\u201d]{1,200}")
_WHOLE: Final = re.compile(
    r"(?:(?:https?://)?(?:dx\.|www\.)?doi\.org/|(?:doi|info:doi/):?)?(10\.[0-9]{4,9}(?:\.[0-9]{1,9})*/\S{1,200})", re.I
)


def _trimmed(doi: str) -> str:
    """A DOI as found in running text without the punctuation around it; brackets stay where they are closed."""
    while doi:
        last = doi[-1]
        opening = {")": "(", "]": "["}.get(last)
        if last in ".,;:'’*†‡/" or (opening and doi.count(last) > doi.count(opening)):
            doi = doi[:-1]
        else:
            break
    return doi


def clean_doi(written: str | None) -> str | None:
    """Return a DOI without "doi:", a resolver's address or punctuation behind it; None for other text."""
    text = "".join((written or "").split())
    match = _WHOLE.fullmatch(unquote(text) if text.lower().startswith("http") else text)
    doi = _trimmed(match.group(1)) if match else ""
    return doi if doi.partition("/")[2] else None


def doi_key(doi: str) -> str:
    """Return a DOI in lower case, which all its spellings share: DOIs are case-insensitive (DOI Handbook, 2.4)."""
    return doi.lower()


def dois_in(text: str) -> list[tuple[int, int, str]]:
    """Return (start, end, DOI) of every DOI in a text, in order; the end lies behind punctuation that was trimmed."""
    found = ((match.start(), match.end(), clean_doi(match.group())) for match in _IN_TEXT.finditer(text))
    return [(start, end, doi) for start, end, doi in found if doi is not None]


def doi_url(doi: str) -> str:
    """Return the address at which a DOI resolves."""
    return "https://doi.org/" + quote(doi, safe="/:;().,-_~!*'@$&=+")
