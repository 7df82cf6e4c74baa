"""Licence codes as PubMed Central writes them, and what each allows."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

LICENSE_CODES: Final = ("CC0", "CC BY", "CC BY-SA", "CC BY-ND", "CC BY-NC", "CC BY-NC-SA", "CC BY-NC-ND")
"""PMC's codes of the Creative Commons licences."""

TEXT_MINING: Final = "TDM"
"""PMC's code for articles that may be mined but not passed on (PMC Cloud Service, `license_code`)."""

COMMERCIAL_CODES: Final = frozenset({"CC0", "CC BY", "CC BY-SA", "CC BY-ND"})
"""PMC's commercial-use group, which the paper's `commercial_use` column follows."""

REDISTRIBUTABLE_CODES: Final = frozenset({"CC0", "CC BY", "CC BY-SA", "CC BY-NC", "CC BY-NC-SA"})
"""Licences that let adapted material be shared, see `allows_redistribution`."""

# Old licences order their elements differently (by-nd-nc/1.0) and may lack "by" (nc-sa/1.0).
_URL = re.compile(r"creativecommons\.org/licen[sc]es/((?:by|nc|nd|sa)(?:-(?:by|nc|nd|sa)){0,3})(?![a-z-])", re.I)
_CODE = re.compile(
    r"\b(?:cc|creative commons)[\s_-]{0,3}by"
    r"((?:[\s_/,.()+-]{0,4}(?:nc|nd|sa|non[\s-]?commercial(?:ly)?|no[\s-]?deriv[a-z]*|share[\s-]?alike)){0,3})(?![a-z])",
    re.I,
)
# The qualifiers directly behind "attribution" are the licence's name; "for non-commercial use" later on is not.
_NAME = re.compile(
    r"creative\s+commons\b[\s'’:,(-]{0,4}(?:(?:licen[sc]e|public|international)[\s:,-]{0,3}){0,2}attributions?\b"
    r"((?:[\s,/-]{0,4}(?:and\s+)?(?:non[\s-]?commercial(?:ly)?|no[\s-]?deriv[a-z]*(?:\s+works?)?|share[\s-]?alike)\b){0,3})",
    re.I,
)
_ZERO = re.compile(r"creativecommons\.org/publicdomain/zero|\bcc[\s-]?(?:0|zero)\b|creative\s+commons\s+zero\b", re.I)
_DEDICATION = re.compile(r"creative\s+commons[\s(cC0)]{1,8}public\s+domain\s+dedication", re.I)


def _plain(text: str | None) -> str:
    """Return a statement with single spaces, every kind of hyphen and dash as "-", and nothing that is not seen.

    Typeset pages and XML write "CC BY‑NC‑ND" with dashes of their own; read as "CC BY" it would lose its conditions.
    """
    kinds = ((character, unicodedata.category(character)) for character in (text or "").replace("\N{SOFT HYPHEN}", ""))
    seen = (
        "-" if kind == "Pd" or character == "\N{MINUS SIGN}" else character for character, kind in kinds if kind != "Cf"
    )
    return " ".join("".join(seen).split())


def _code(elements: str) -> str | None:
    """The code of a licence whose elements are named in `elements`; None where no such licence exists."""
    text = elements.lower()
    nc = "nc" in text or "commercial" in text
    nd = "nd" in text or "deriv" in text
    sa = "sa" in text or "alike" in text
    code = "CC BY" + "-NC" * nc + "-SA" * sa + "-ND" * nd
    return code if code in LICENSE_CODES else None


def license_code(href_or_text: str | None) -> str | None:
    """Return PMC's code for a licence URL, code or statement; None where none is recognised.

    "TDM" and the codes themselves come back unchanged. Of several licences in one text the most restrictive wins; CC0
    counts only where no other licence is named, because publishers (BioMed Central) mention it for the data only.
    The Public Domain Mark is no licence and gives None.
    """
    text = _plain(href_or_text)
    if text.upper() == TEXT_MINING:
        return TEXT_MINING
    found = {_code(match.group(1)) for pattern in (_URL, _CODE, _NAME) for match in pattern.finditer(text)} - {None}
    if found:
        # The longest code names the most elements, each of which takes a freedom away.
        return max(filter(None, found), key=lambda code: ("ND" in code, "NC" in code, "SA" in code))
    return "CC0" if _ZERO.search(text) or _DEDICATION.search(text) else None


_DEED: Final = re.compile(
    # …/by/4.0/, …/by/3.0/de/ (a port to one country's law), …/by/3.0/igo/
    r"creativecommons\.org/licen[sc]es/([a-z]{2}(?:-[a-z]{2}){0,3})/([1-4]\.[05])(?![0-9])(?:/([a-z]{2,3}|scotland)(?![a-z]))?",
    re.I,
)
_VERSION: Final = re.compile(
    r"[\s,:(-]{0,4}(?:(?:international|unported|public|licen[sc]e|deed|version|ver\.?|v\.?|cc[\s-]{0,2}by(?:[\s-]{0,2}(?:nc|nd|sa))*)"
    r"[\s,:()-]{0,4}){0,4}([1-4]\.[05])(?![0-9])",
    re.I,
)
"""A version that follows a licence's name or code: "CC BY 4.0", "Attribution License (CC BY 4.0)", "… version 3.0"."""


def license_url(code: str | None, *statements: str | None) -> str | None:
    """Return the deed of a licence in the version that is stated, e.g. https://creativecommons.org/licenses/by/4.0/.

    The licences differ between versions, so none is made up: without a stated version, or with several that contradict
    each other, there is no deed. CC0 has one version only.

    Args:
        code: PMC's code of the article's licence.
        statements: URLs and texts that state it, the most reliable first; statements of other licences do not count,
            and a URL counts before a text.
    """
    if code not in LICENSE_CODES:
        return None
    if code == "CC0":
        return "https://creativecommons.org/publicdomain/zero/1.0/"
    texts = [_plain(statement) for statement in statements]
    for reader in (_linked_deeds, _named_deeds):
        for text in texts:
            deeds = set(reader(text, code))
            # "…/by/3.0/" and "…/by/3.0/us/" say the same version; the port to one country is the fuller statement.
            deeds -= {deed for deed in deeds if any(other != deed and other.startswith(deed) for other in deeds)}
            if len(deeds) == 1:
                return deeds.pop()
            if deeds:
                return None
    return None


def _linked_deeds(text: str, code: str) -> Iterator[str]:
    for match in _DEED.finditer(text):
        elements, version, port = match.groups()
        if _code(elements) == code:
            port = f"{port.lower()}/" if port else ""
            yield f"https://creativecommons.org/licenses/{elements.lower()}/{version}/{port}"


def _named_deeds(text: str, code: str) -> Iterator[str]:
    for pattern in (_CODE, _NAME):
        for match in pattern.finditer(text):
            version = _VERSION.match(text, match.end())
            if version is not None and _code(match.group(1)) == code:
                elements = code.removeprefix("CC ").lower()
                yield f"https://creativecommons.org/licenses/{elements}/{version.group(1)}/"


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


def license_statements(text: str) -> str:
    """Return the sentences of an article's plain text (a PDF's) that say under which licence it is published.

    Only statements about the article count ("This is an open access article distributed under …", "© 2024 …
    licensed under …"), not every mention of Creative Commons: figures from elsewhere have licences of their own.
    """
    return " ".join(match.group(0) for match in _STATEMENT.finditer(text))
