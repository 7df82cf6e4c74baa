"""Licence codes as PubMed Central writes them, and the freedoms that each gives."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Final

from pmo_assets.pipeline.articles.licence_reading import (
    CONDITIONS,
    Meaning,
    StatementReading,
    deed_conditions,
    read_statement,
)
from pmo_assets.pipeline.articles.licence_text import plain

LICENSE_CODES: Final = ("CC0", "CC BY", "CC BY-SA", "CC BY-ND", "CC BY-NC", "CC BY-NC-SA", "CC BY-NC-ND")
"""PMC's codes of the Creative Commons licences."""

TEXT_MINING: Final = "TDM"
"""PMC's code for articles that may be mined but not passed on (PMC Cloud Service, `license_code`)."""


class Freedom(StrEnum):
    """A use that a licence permits. A licence with more of these is freer; most pairs are not comparable."""

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
"""Freedoms of each code. The freedoms that two codes share are those of some code: the order is a lattice."""


def freedoms(code: str | None) -> frozenset[Freedom]:
    """Return the freedoms that a code gives; an unknown one gives none.

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


def _code(named: Meaning) -> str:
    """The code of a licence with attribution and these conditions; ND leaves nothing that could be shared alike."""
    nd = Meaning.NO_DERIVATIVES in named
    sa = not nd and Meaning.SHARE_ALIKE in named
    return "CC BY" + "-NC" * (Meaning.NON_COMMERCIAL in named) + "-SA" * sa + "-ND" * nd


def license_code(href_or_text: str | None) -> str | None:
    """Return PMC's code for a licence URL, code or statement; None where none is stated, or not all is understood.

    A code counts only if the whole statement is understood (`licence_reading`): an unread word could restrict, negate
    or add a second licence. Conditions count wherever they stand, and of several licences in one text the conditions of
    all hold: "CC BY" here and "CC BY-NC" there is CC BY-NC. CC0 counts only where no other licence is named, because
    publishers (BioMed Central) mention it for the data only; the permission to mine the text counts where there is
    nothing else. "TDM" and the codes themselves come back unchanged.

    Publishers' own licences (Elsevier's user licence, ACS AuthorChoice, Springer Nature's terms for accepted
    manuscripts) are unknown on purpose, and so are the Public Domain Mark and "public domain", which holds in one
    country.
    """
    if plain(href_or_text).upper() == TEXT_MINING:
        return TEXT_MINING
    reading = read_statement(href_or_text)
    return None if reading.unread else named_code(reading)


def named_code(reading: StatementReading) -> str | None:
    """Return the code of the licence that a statement names, with its conditions, whatever else it says."""
    if Meaning.ATTRIBUTION in reading.named:
        return _code(reading.named)
    if Meaning.WAIVER in reading.named:
        return None if reading.named & CONDITIONS else "CC0"
    return TEXT_MINING if Meaning.TEXT_MINING in reading.named else None


def agreed_code(metadata: str, *statements: str | None) -> str | None:
    """Return the code that an article's metadata and its own statements allow together.

    The metadata's code must be understood. What the article states takes away from it: the conditions that it names,
    and everything where it says more that may restrict, negate or add a licence. Other words that are not understood
    take nothing away, because here the metadata say what is allowed.

    Args:
        metadata: the code or statement of the source's metadata.
        statements: of the article itself; read together.
    """
    code = license_code(metadata)
    reading = read_statement(" | ".join(filter(None, statements)))
    if reading.suspicious:
        return None
    if reading.named & CONDITIONS:
        return most_restrictive([code, _code(reading.named)])
    named = named_code(reading)
    return code if named is None else most_restrictive([code, named])


def licence_problem(metadata: str | None, code: str | None, *statements: str | None) -> str | None:
    """Return the problem of an article's licence: a contradiction, or a statement that is not understood; else None.

    Args:
        metadata: as the source's metadata state it; None where they state nothing.
        code: the licence that the article is taken to be under.
        statements: of the article itself.
    """
    stated = license_code(metadata) if metadata else None
    reading = read_statement(" | ".join(filter(None, statements)))
    words = ", ".join(f'"{word}"' for word in dict.fromkeys(reading.suspicious or reading.unread[:MAX_WORDS]))
    if stated is not None and stated != code:
        said = f"words that may restrict it ({words})" if code is None else f"{named_code(reading) or 'conditions'}"
        taken = "the licence counts as unknown" if code is None else f"the conditions of both hold, {code}"
        return (
            f"the metadata state {stated}, the article {said}: {taken} until the metadata or the article are corrected"
        )
    if metadata is None and code is None and Meaning.COMMONS in reading.named and reading.unread:
        return (
            f"the article's statement of its licence is not understood ({words}): the licence counts as unknown until "
            "license_code in its metadata says what it is"
        )
    return None


MAX_WORDS: Final = 5
"""Words of a statement that a message quotes."""


def states_terms(notice: str) -> bool:
    """Say whether a copyright notice says more than who holds the copyright since when.

    "All rights reserved" is part of such notices, also of articles that a licence beside them sets free (Nature
    Publishing Group's until 2015); in the statement of a licence itself it contradicts it.
    """
    return read_statement(_RESERVED.sub(" ", notice)).speaks


_RESERVED: Final = re.compile(r"\ball\s+rights\s+(?:are\s+)?reserved\b", re.I)


_DEED: Final = re.compile(
    # …/by/4.0/, …/by/3.0/de/ (a port to one country's law), …/by/2.1/jp/ (ports only), …/by/3.0/igo/
    r"creativecommons\.org/licen[sc]es/([a-z]{2}(?:-[a-z]{2}){0,3})/([1-4]\.[05]|2\.1)(?![0-9])(?:/([a-z]{2,3}|scotland)(?![a-z]))?",
    re.I,
)


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
    texts = [plain(statement) for statement in statements]
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
        if _code(deed_conditions(elements)) == code:
            port = f"{port.lower()}/" if port else ""
            deed = f"https://creativecommons.org/licenses/{elements.lower()}/{version}/{port}"
            if license_code(deed) == code:  # "…/by/4.0/nd" names no country
                yield deed


def _named_deeds(text: str, code: str) -> Iterator[str]:
    for named, versions in read_statement(text).versions:
        if Meaning.ATTRIBUTION in named and _code(named) == code:
            for version in versions:
                yield f"https://creativecommons.org/licenses/{code.removeprefix('CC ').lower()}/{version}/"


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


_STATEMENT: Final = re.compile(
    r"(?:this\s+(?:is\s+an?\s+)?(?:open[\s-]access\s+)?(?:article|work|paper|preprint)|open\s+access|copyright|©|"
    r"available\s+under)[^©]{0,300}?creative\s*commons|(?P<short>(?:available|licen[sc]ed|distributed)\s+under\s+an?\s+CC)"
    # bioRxiv and medRxiv stamp "CC-BY 4.0 International license" on every page, apart from its sentence
    r"|(?P<stamp>\bCC[\s-]BY[\w.\s-]{0,16}International\s+licen[sc]e)",
    re.I | re.S,
)
_SENTENCE_END: Final = re.compile(r"[.!?;。](?=[\s)\]”\"']|\Z)|\n\s*\n")
_OTHERS: Final = re.compile(
    r"\W*(?:(?:all|the|our|source|raw)\s+){0,3}(?:data|datasets?|code|software|scripts?)\b", re.I
)
"""Beginning of a sentence about the data or the code."""
_TALK: Final = re.compile(
    r"licen[cs]|lizenz|licencia|permission|permitted|commercial|\bre-?use|reproduction|redistribut|copyright|©"
    r"|creative\s?commons|rights?\s+reserved|derivativ|third[\s-]part|adapted\s+material|unaltered|modification",
    re.I,
)
MAX_SENTENCE: Final = 700
"""Characters of a sentence at most: the longest of publishers' statements have 500."""

SHORT_SENTENCE: Final = 60
"""Sentences behind a statement that are not longer belong to it if they have a word that may restrict."""


def license_statements(text: str) -> str:
    """Return the sentences of an article's plain text (a PDF's) that say under which licence it is published.

    Only statements about the article count ("This is an open access article distributed under …", "© 2024 …
    licensed under …"), not every mention of Creative Commons: figures from elsewhere have licences of their own. The
    sentences behind belong to a statement as long as they speak of rights, because they may restrict it.
    """
    found: list[str] = []
    end = 0
    for match in _STATEMENT.finditer(text):
        if match.start() < end:
            continue
        start = match.start()
        if match["stamp"]:
            end = match.end()
        else:
            start = start if match["short"] is None else _sentence_start(text, start, end)
            end = _understood_end(text, start, match.end(), _sentence_end(text, match.end()))
            if _OTHERS.match(text, _sentence_start(text, match.start(), 0)):
                continue
            while (following := _sentence_end(text, end)) > end and _belongs(text[end:following]):
                end = following
        found.append(_HISTORY.sub(" ", text[start:end]))
    return " ".join(found)


_HISTORY: Final = re.compile(
    r"\b(?:received|revised|accepted(?:\s+for\s+publication)?|published)\s{0,3}:?\s{0,3}\d{1,2}\s+[a-z]{3,9}\s+\d{4}\b",
    re.I,
)
"""Dates between a heading and the statement below it."""


def _sentence_start(text: str, place: int, floor: int) -> int:
    floor = max(floor, place - MAX_SENTENCE)
    ends = [match.end() for match in _SENTENCE_END.finditer(text, floor, place)]
    return ends[-1] if ends else floor


def _sentence_end(text: str, place: int) -> int:
    match = _SENTENCE_END.search(text, place, place + MAX_SENTENCE)
    return match.end() if match is not None else min(len(text), place + MAX_SENTENCE)


def _understood_end(text: str, start: int, place: int, end: int) -> int:
    """The end of a line up to which a sentence is understood, where its rest has nothing to do with rights.

    Pages set statements without a full stop above what is something else.
    """
    ends = [place + match.start() for match in re.finditer(r"\n", text[place:end])]
    for line_end in reversed(ends[:MAX_LINES]):
        rest = read_statement(text[line_end:end])
        if not (rest.named or rest.suspicious) and not read_statement(text[start:line_end]).unread:
            return line_end
    return end


MAX_LINES: Final = 20
"""Lines in which a statement ends at the latest."""


def _belongs(sentence: str) -> bool:
    """Say whether a sentence behind a statement is part of it."""
    reading = read_statement(sentence)
    if _TALK.search(sentence) or reading.named & ~CONDITIONS:
        return True
    is_short = len(sentence) <= SHORT_SENTENCE and sentence.rstrip().endswith((".", "!", ";", "。"))
    return is_short and bool(reading.suspicious or reading.named)
