"""Licence codes as PubMed Central writes them, and what each allows."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

LICENSE_CODES: Final = ("CC0", "CC BY", "CC BY-SA", "CC BY-ND", "CC BY-NC", "CC BY-NC-SA", "CC BY-NC-ND")
"""PMC's codes of the Creative Commons licences."""

TEXT_MINING: Final = "TDM"
"""PMC's code for articles that may be mined but not passed on (PMC Cloud Service, `license_code`)."""


class Freedom(StrEnum):
    """What a licence lets others do. A licence with more of these is freer; most pairs are not comparable."""

    MINE = "mine the text"
    SHARE = "share it unchanged"
    COMMERCIAL = "use it commercially"
    ADAPT = "share adaptations"
    ANY_TERMS = "share adaptations under other terms"
    NO_CREDIT = "leave out the credit"


_MINE, _SHARE, _ADAPT = {Freedom.MINE}, {Freedom.MINE, Freedom.SHARE}, {Freedom.MINE, Freedom.SHARE, Freedom.ADAPT}

_FREEDOMS: Final = {
    "CC0": frozenset(Freedom),
    "CC BY": frozenset({*_ADAPT, Freedom.COMMERCIAL, Freedom.ANY_TERMS}),
    "CC BY-SA": frozenset({*_ADAPT, Freedom.COMMERCIAL}),
    "CC BY-ND": frozenset({*_SHARE, Freedom.COMMERCIAL}),
    "CC BY-NC": frozenset({*_ADAPT, Freedom.ANY_TERMS}),
    "CC BY-NC-SA": frozenset(_ADAPT),
    "CC BY-NC-ND": frozenset(_SHARE),
    TEXT_MINING: frozenset(_MINE),
}
"""What each code allows. What two codes allow together is what some code allows: the order is a lattice."""


def freedoms(code: str | None) -> frozenset[Freedom]:
    """Return what a code allows; an unknown one allows nothing.

    This is the order of freedom: `freedoms(a) >= freedoms(b)` says that a is as free as b or freer.
    """
    return _FREEDOMS.get(code or "", frozenset())


def most_restrictive(codes: Iterable[str | None]) -> str | None:
    """Return the code that allows what all of the codes allow: of CC BY-NC and CC BY-SA, CC BY-NC-SA.

    An unknown licence (None, or no code of `LICENSE_CODES`) allows nothing and wins over all; so do no codes at all.
    A source that states nothing is not among the codes.
    """
    allowed = [freedoms(code) for code in codes]
    if not allowed:
        return None
    common = frozenset.intersection(*allowed)
    return next((code for code, known in _FREEDOMS.items() if known == common), None)


# What takes a freedom away, as codes, deeds and names write it, misspelt ("NonDerivatives", "non-commerical") or not.
_ELEMENT = (
    r"(?:nc|nd|sa|non?[\s-]{0,2}commer[a-z]*|non?[\s-]{0,2}deriv[a-z]*(?:\s+works?)?|share[\s-]?alike"
    r"|pas\s+d['’]\s?utilisation\s+commerciale|pas\s+de\s+modification|partage\s+(?:dans\s+les\s+mêmes\s+conditions|à"
    r"\s+l['’]identique))"
)


@dataclass(frozen=True, slots=True)
class LicenceRule:
    """One way to state a licence.

    Attributes:
        name: what the rule reads.
        pattern: matches a statement. Its first group, if it has one, names the elements behind "BY".
        code: PMC's code; None where the elements say it.
    """

    name: str
    pattern: re.Pattern[str]
    code: str | None = None


_DEED_ADDRESS = re.compile(
    r"creativecommons\.org/(?:licen[sc]es?|l)/"
    r"((?:by|nc|nd|sa)(?:(?:[-_+/ ]{1,3}|%2d|%20)?(?:by|nc|nd|sa)){0,3})(?![a-z-])",
    re.I,
)
_CODE = re.compile(
    r"\b(?:cc|creative\s?commons)\)?[\s_-]{0,3}by"
    rf"((?:[\s_/,.()+&-]{{0,4}}{_ELEMENT}){{0,3}})(?:licen[sc]es?)?(?![a-z])",
    re.I,
)
_NAME = re.compile(
    r"\b(?:creative\s+commons|cc)\b[\s'’:,(-]{0,4}"
    r"(?:(?:licen[sc]e|public|international|cc\)?)[\s:,-]{0,3}){0,3}attributions?\b"
    r"((?:(?:[\s,(-]{1,3}(?:international|unported|generic|public|licen[sc]e|v?[1-4]\.\d)\b){0,3}"
    rf"[\s,/&(-]{{0,4}}(?:and\s+)?{_ELEMENT}\b){{0,3}})",
    re.I,
)

LICENCE_RULES: Final = (
    # The address of a deed or legal code: any version, port to a country's law, language, or its badge ("/l/by/…"). Old
    # licences order their elements differently (by-nd-nc/1.0) and may lack "by" (nc-sa/1.0).
    LicenceRule("deed", _DEED_ADDRESS),
    # Codes of PMC ("CC BY-NC"), SPDX ("CC-BY-NC-4.0"), PMC's content types ("ccbyncndlicense"), Wiley's license types
    # ("creativeCommonsBy-nc-nd"), and what publishers make of them ("CCBY-NC-ND", "CC BY, NC").
    LicenceRule("code", _CODE),
    # The name: "Creative Commons Attribution-NonCommercial 4.0 International License". Only the elements directly
    # behind "attribution" are the licence's; "for non-commercial use" later on is not.
    LicenceRule("name", _NAME),
    # The name without its first words; the hyphen tells it from a condition ("with attribution, non-commercial use").
    LicenceRule("short name", re.compile(rf"\battribution((?:\s?-\s?{_ELEMENT}\b){{1,3}})", re.I)),
    # The waiver CC0 and what it was called before. The Public Domain Mark is no licence, and "public domain" alone
    # (works of the US government) holds in one country.
    LicenceRule(
        "waiver",
        re.compile(
            r"creativecommons\.org/publicdomain/zero|\bcc[\s-]?(?:0|zero)(?:licen[sc]e)?\b|creative\s+commons\s+zero\b"
            r"|creative\s+commons[\s(cC0)]{1,8}public\s+domain\s+dedication",
            re.I,
        ),
        "CC0",
    ),
    # What PMC puts on author manuscripts: "This file is available for text mining. It may also be used consistent with
    # the principles of fair use under the copyright law."
    LicenceRule("text mining", re.compile(r"\bavailable\s+for\s+text[\s-]+mining\b", re.I), TEXT_MINING),
)
"""Every way in which a licence is recognised; what none of them reads is unknown, and unknown allows nothing.

Publishers' own licences (Elsevier's user licence, ACS AuthorChoice, Springer Nature's terms for accepted manuscripts)
are unknown on purpose. Sources: the deeds at creativecommons.org/licenses, PMC's codes (PMC Cloud Service,
`license_code`), and the statements that the publishers in PMC use.
"""


def _plain(text: str | None) -> str:
    """Return a statement with single spaces, every kind of hyphen and dash as "-", and nothing that is not seen.

    Typeset pages and XML write "CC BY‑NC‑ND" with dashes of their own; read as "CC BY" it would lose its conditions.
    """
    kinds = ((character, unicodedata.category(character)) for character in (text or "").replace("\N{SOFT HYPHEN}", ""))
    seen = (
        "-" if kind == "Pd" or character == "\N{MINUS SIGN}" else character for character, kind in kinds if kind != "Cf"
    )
    return " ".join("".join(seen).split())


def _code(elements: str) -> str:
    """The code of the licence whose elements are named; ND leaves nothing that could be shared alike."""
    text = re.sub("%2d|%20", "-", elements.lower())
    short = "".join(re.findall(r"(?<![a-z])(?:by|nc|nd|sa)+(?![a-z])", text))
    nd = "nd" in short or "deriv" in text or "modif" in text
    nc = "nc" in short or "commer" in text
    sa = not nd and ("sa" in short or "alike" in text or "partage" in text)
    return "CC BY" + "-NC" * nc + "-SA" * sa + "-ND" * nd


def license_code(href_or_text: str | None) -> str | None:
    """Return PMC's code for a licence URL, code or statement (`LICENCE_RULES`); None where none is recognised.

    "TDM" and the codes themselves come back unchanged. Of several licences in one text the conditions of all hold: "CC
    BY" here and "CC BY-NC" there is CC BY-NC. CC0 counts only where no other licence is named, because publishers
    (BioMed Central) mention it for the data only; the permission to mine the text counts where there is nothing else.
    """
    text = _plain(href_or_text)
    if text.upper() == TEXT_MINING:
        return TEXT_MINING
    found = {rule.code or _code(match.group(1)) for rule in LICENCE_RULES for match in rule.pattern.finditer(text)}
    waived = [code for code in ("CC0", TEXT_MINING) if code in found]
    licensed = found.difference(waived)
    if licensed:
        return _code(" ".join(code.removeprefix("CC ") for code in licensed))
    return next(iter(waived), None)


_DEED: Final = re.compile(
    # …/by/4.0/, …/by/3.0/de/ (a port to one country's law), …/by/2.1/jp/ (ports only), …/by/3.0/igo/
    r"creativecommons\.org/licen[sc]es/([a-z]{2}(?:-[a-z]{2}){0,3})/([1-4]\.[05]|2\.1)(?![0-9])(?:/([a-z]{2,3}|scotland)(?![a-z]))?",
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
    """Return whether the licence allows commercial use (CC0, CC BY, CC BY-SA, CC BY-ND).

    This is PMC's commercial-use group, which the paper's `commercial_use` column follows.
    """
    return Freedom.COMMERCIAL in freedoms(code)


def allows_redistribution(code: str | None) -> bool:
    """Return whether pictures and texts derived from the article may be passed on.

    A panel cut from a figure, and a subcaption cut from a caption, are adapted material (CC legal code 4.0, section
    1(a)): the ND licences allow sharing the original only. "TDM" allows mining only, and without a stated licence
    nothing but copyright law applies. NC and SA bind the receiver but let adaptations be shared.
    """
    return Freedom.ADAPT in freedoms(code)


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
