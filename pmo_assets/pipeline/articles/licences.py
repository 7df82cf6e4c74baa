"""Licence codes as PubMed Central writes them, and what each allows."""

from __future__ import annotations

import re
from typing import Final

LICENSE_URLS: Final[dict[str, str]] = {
    "CC0": "https://creativecommons.org/publicdomain/zero/1.0/",
    "CC BY": "https://creativecommons.org/licenses/by/4.0/",
    "CC BY-SA": "https://creativecommons.org/licenses/by-sa/4.0/",
    "CC BY-ND": "https://creativecommons.org/licenses/by-nd/4.0/",
    "CC BY-NC": "https://creativecommons.org/licenses/by-nc/4.0/",
    "CC BY-NC-SA": "https://creativecommons.org/licenses/by-nc-sa/4.0/",
    "CC BY-NC-ND": "https://creativecommons.org/licenses/by-nc-nd/4.0/",
}
"""The licence deed per code; PMC's codes carry no version, so this is the current one."""

TEXT_MINING: Final = "TDM"
"""PMC's code for articles that may be mined but not passed on (PMC Cloud Service, `license_code`)."""

COMMERCIAL_CODES: Final = frozenset({"CC0", "CC BY", "CC BY-SA", "CC BY-ND"})
"""PMC's commercial-use group, which the paper's `commercial_use` column follows."""

REDISTRIBUTABLE_CODES: Final = frozenset({"CC0", "CC BY", "CC BY-SA", "CC BY-NC", "CC BY-NC-SA"})
"""Licences that let adapted material be shared, see `allows_redistribution`."""

# Old licences order their elements differently (by-nd-nc/1.0) and may lack "by" (nc-sa/1.0).
_URL = re.compile(r"creativecommons\.org/licen[sc]es/((?:by|nc|nd|sa)(?:-(?:by|nc|nd|sa)){0,3})(?![a-z-])", re.I)
_CODE = re.compile(r"\b(?:cc|creative commons)[\s_-]{0,3}by((?:[\s_-]{0,3}(?:nc|nd|sa)\b){0,3})(?![a-z])", re.I)
# The qualifiers directly behind "attribution" are the licence's name; "for non-commercial use" later on is not.
_NAME = re.compile(
    r"creative\s+commons\b[\s'’:,(-]{0,4}(?:(?:licen[sc]e|public|international)[\s:,-]{0,3}){0,2}attributions?\b"
    r"((?:[\s,/–—-]{0,4}(?:and\s+)?(?:non[\s–-]?commercial(?:ly)?|no[\s–-]?deriv[a-z]*(?:\s+works?)?|share[\s–-]?alike)\b){0,3})",
    re.I,
)
_ZERO = re.compile(r"creativecommons\.org/publicdomain/zero|\bcc[\s-]?(?:0|zero)\b|creative\s+commons\s+zero\b", re.I)
_DEDICATION = re.compile(r"creative\s+commons[\s(cC0)]{1,8}public\s+domain\s+dedication", re.I)


def _code(elements: str) -> str | None:
    """The code of a licence whose elements are named in `elements`; None where no such licence exists."""
    text = elements.lower()
    nc = "nc" in text or "commercial" in text
    nd = "nd" in text or "deriv" in text
    sa = "sa" in text or "alike" in text
    code = "CC BY" + "-NC" * nc + "-SA" * sa + "-ND" * nd
    return code if code in LICENSE_URLS else None


def license_code(href_or_text: str | None) -> str | None:
    """Return PMC's code for a licence URL, code or statement; None where none is recognised.

    "TDM" and the codes themselves come back unchanged. Of several licences in one text the most restrictive wins; CC0
    counts only where no other licence is named, because publishers (BioMed Central) mention it for the data only.
    The Public Domain Mark is no licence and gives None.
    """
    text = " ".join((href_or_text or "").split())
    if text.upper() == TEXT_MINING:
        return TEXT_MINING
    found = {_code(match.group(1)) for pattern in (_URL, _CODE, _NAME) for match in pattern.finditer(text)} - {None}
    if found:
        # The longest code names the most elements, each of which takes a freedom away.
        return max(filter(None, found), key=lambda code: ("ND" in code, "NC" in code, "SA" in code))
    return "CC0" if _ZERO.search(text) or _DEDICATION.search(text) else None


def license_url(code: str | None) -> str | None:
    """Return the deed of a Creative Commons code; None for "TDM" and unknown codes."""
    return LICENSE_URLS.get(code or "")


def commercial_use(code: str | None) -> bool:
    """Return whether the licence allows commercial use (CC0, CC BY, CC BY-SA, CC BY-ND)."""
    return code in COMMERCIAL_CODES


def allows_redistribution(code: str | None) -> bool:
    """Return whether pictures and texts derived from the article may be passed on.

    A panel cut from a figure, and a subcaption cut from a caption, are adapted material (CC legal code 4.0, section
    1(a)): the ND licences allow sharing the original only. "TDM" allows mining only, and without a stated licence
    nothing but copyright law applies. NC and SA bind the receiver but let adaptations be shared.
    """
    return code in REDISTRIBUTABLE_CODES


_STATEMENT = re.compile(
    r"(?:this\s+(?:is\s+an?\s+)?(?:open[\s-]access\s+)?(?:article|work|paper|preprint)|open\s+access|copyright|©|"
    r"available\s+under)[^©]{0,300}?creative\s*commons.{0,200}|(?:available|licen[sc]ed|distributed)\s+under\s+an?\s+CC.{0,60}"
    # bioRxiv and medRxiv stamp "CC-BY 4.0 International license" on every page, apart from its sentence
    r"|\bCC[\s-]BY[\w.\s-]{0,16}International\s+licen[sc]e",
    re.I | re.S,
)


def stated_license(text: str) -> str | None:
    """Return the licence under which an article's own plain text (a PDF's) says it is published; None if it says none.

    Only statements about the article count ("This is an open access article distributed under …", "© 2024 …
    licensed under …"), not every mention of Creative Commons: figures from elsewhere have licences of their own.
    """
    return license_code(" ".join(match.group(0) for match in _STATEMENT.finditer(text)))
