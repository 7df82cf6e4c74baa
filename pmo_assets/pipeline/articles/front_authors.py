"""The authors of an article as its front pages print them under the title."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from pmo_assets.pipeline.articles.credit import letters
from pmo_assets.pipeline.articles.front_lines import SUPERSCRIPT, has_loose_accents
from pmo_assets.pipeline.articles.front_title import Heading
from pmo_assets.pipeline.articles.pdf_metadata import PdfMetadata
from pmo_assets.pipeline.figures.page import PageContent, TextLine
from pmo_assets.records.figure_names import page_number

# Where the byline stands and how it is set: beneath the title, in one style, its lines below each other. On the front
# pages of real articles 5 to 33 points, or up to 0.04 of the page's height, lie between title and byline.
_TITLE_TO_BYLINE: Final = (-4.0, 0.12)
"""White between title and byline: at least, in points (boxes of large type overlap the next line), and at most, as a
share of the page's height."""
_SKIPPED_LINES: Final = 3
"""Lines below the title among which the byline begins; lines up to `_SHORT_LINE` characters are signs of notes."""
_SHORT_LINE: Final = 4
_BYLINE_LINES: Final = 60
"""Lines of a byline that are read at most."""
_SAME_SIZE: Final = 0.05
"""Lines of one byline differ by no more than this share of their size."""
_SIGNS_LENGTH: Final = 12
"""Most characters of a line of raised signs of notes ("1,2,*,†")."""
_LINE_GAP: Final = 1.2
"""White between two lines of a byline at most, as a share of the type's size."""

NAME_WORDS: Final = (2, 6)
"""Words of a name, at least and at most: "Jie Li" to "María del Carmen de la Cruz"; one word is an affiliation's."""

NAME_LENGTH: Final = 60
"""Characters of a name at most."""

_DEGREE: Final = re.compile(
    r"(?:(?:M\.?D|Ph\.? ?D|M\.?Sc|B\.?Sc|MPH|FRCS|FRCOphth|MBBS|MBChB|D\.?Phil|Dr|Prof|FACS|FEBO|MS|BS|DO|OD|MHS|MBA|"
    r"RN)\.?[\s,]*)+"
)
_NAME: Final = re.compile(
    r"(?:[^\W\d_][\w.'’ʼ‐-]*\s+)+(?:(?:van|von|der|den|de|di|da|del|della|dos|du|la|le|el|al|bin|ibn|ter|ten|zu|y)\s+)*"
    r"[^\W\d_][\w'’ʼ‐-]+(?:,?\s(?:Jr|Sr|I{2,3})\.?)?"
)
_PARTICLES: Final = frozenset(
    "van von der den de di da del della dos du la le el al bin ibn ter ten zu y".split()  # noqa: SIM905 - readable
)
_NO_NAME: Final = re.compile(
    r"\b(?:universit|department|hospital|institut|laborator|correspond)\w*|"
    r"\b(?:clinic|centre|center|school|college|faculty|abstract|received|accepted|article|copyright|editor|journal|"
    r"division|on behalf|group|consortium|members?|ieee|road|street|china|usa|germany|japan|india|turkey|italy|france|"
    r"open access|research|study|review|background|purpose|the|of|for|in|with|from|by|at|to|an|is)\b",
    re.I,
)
"""Words of affiliations, addresses and headings; a family name among them costs the list, which is left out."""


def _is_name(text: str) -> bool:
    words = text.split()
    return (
        NAME_WORDS[0] <= len(words) <= NAME_WORDS[1]
        and len(text) <= NAME_LENGTH
        and _NAME.fullmatch(text) is not None
        and all(word[0].isupper() or word.lower() in _PARTICLES or word.startswith(("d'", "d’")) for word in words)
        and not text.isupper()
        and not _NO_NAME.search(text)
    )


def _byline(lines: Sequence[TextLine], heading: Heading, page: PageContent) -> tuple[tuple[str, ...], bool]:
    """Return the names printed under the title, none when one is no name; and whether signs of notes follow."""
    after = heading.lines[-1] + 1
    near = range(after, min(after + _SKIPPED_LINES, len(lines)))
    first = next((i for i in near if len(lines[i].text) > _SHORT_LINE), None)
    if first is None:
        return (), False
    gap = lines[first].bbox[1] - lines[heading.lines[-1]].bbox[3] - _TITLE_TO_BYLINE[0]
    if not 0 <= gap <= _TITLE_TO_BYLINE[1] * page.height:
        return (), False
    style = (lines[first].size, lines[first].bold)
    parts: list[str] = []
    previous = lines[first]
    for line in lines[first : first + _BYLINE_LINES]:
        if abs(line.size - style[0]) > _SAME_SIZE * style[0]:
            if line.size < SUPERSCRIPT * style[0] and len(line.text) <= _SIGNS_LENGTH:
                parts.append(",")  # a note's sign that stands a little above its line
                continue
            break
        if line.bold != style[1] or line.bbox[1] - previous.bbox[3] > _LINE_GAP * line.size:
            break
        parts.append(_signs_as_commas(line))
        previous = line
    text = " ".join(parts)
    text = re.sub(r"(?<=[a-z])\s?ID\b", "", text)  # the letters of ORCID's sign
    text = re.sub(r"[\d*†‡§¶☯☆✉#∗]+", ",", text)
    has_signs = bool(re.search(r"[^\W\d_]\s?,\s*(?:,|\Z)", text))
    if not re.search(r"[,;]|\band\b|&", text):
        names = [text]
    else:
        names = re.split(r"\s*[,;·•]\s*|\s+(?:and|&)\s+|^and\s+", text)
    names = [re.sub(r"\A(?:and|&)\s+", "", " ".join(name.split()).strip(" .,")) for name in names]
    names = [name for name in names if name and not _DEGREE.fullmatch(name)]
    return (tuple(names), has_signs) if names and all(_is_name(name) for name in names) else ((), False)


def _signs_as_commas(line: TextLine) -> str:
    parts = [", " if span.size < SUPERSCRIPT * line.size else span.text + " " for span in line.spans]
    return "".join(parts)


def read_authors(
    metadata: PdfMetadata,
    pages: Sequence[PageContent],
    printed: Sequence[Sequence[TextLine]],
    heading: Heading | None,
) -> tuple[tuple[str, ...], str]:
    """Return the authors and where they were read.

    A list in the metadata counts when every name stands on a front page and the byline, if it can be read, has as many:
    publishers' metadata often names the first author only.
    """
    byline, has_signs = _byline(printed[heading.page], heading, pages[heading.page]) if heading else ((), False)
    text = letters("".join(line.text for lines in printed for line in lines))
    for place, names in metadata.authors:
        names = tuple(name for name in names if name)
        if not names or not all(letters(name.split()[-1]) in text for name in names):
            continue
        if byline and {_surname(name) for name in byline} == {_surname(name) for name in names}:
            byline = names if any(map(has_loose_accents, byline)) else byline
            return byline, f"page {page_number(heading.page if heading else 0)}, as in {place}"
        if not byline and len(names) > 1 and all(_is_name(name) for name in names):
            return names, f"{place}, printed on the front page"
    if byline and heading and not any(map(has_loose_accents, byline)) and (has_signs or _speaks_of(byline, printed)):
        return byline, f"page {page_number(heading.page)}"
    return (), ""


_ABOUT_AUTHORS: Final = re.compile(r"correspond|copyright|©|\bcit(?:e|ation)\b|e-?mail|@|\bet al\b", re.I)


def _speaks_of(names: Sequence[str], printed: Sequence[Sequence[TextLine]]) -> bool:
    """Say whether correspondence, copyright or running head name one of them: a subtitle can look like names."""
    about = letters(" ".join(line.text for lines in printed for line in lines if _ABOUT_AUTHORS.search(line.text)))
    return any(_surname(name) in about for name in names)


def _surname(name: str) -> str:
    return letters(name.split()[-1])
