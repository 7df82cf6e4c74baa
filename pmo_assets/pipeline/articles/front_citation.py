"""Journal, year, volume and pages of an article as its front pages print them in a citation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from pmo_assets.pipeline.articles.front_lines import in_margin, own_lines
from pmo_assets.pipeline.articles.pdf_metadata import PdfMetadata
from pmo_assets.pipeline.figures.page import PageContent, TextLine
from pmo_assets.records.figure_names import page_number


@dataclass(frozen=True)
class Citation:
    """Facts of one line or field in a journal's citation format; `source`: where it was read."""

    source: str
    journal: str | None = None
    year: str | None = None
    volume: str | None = None
    pages: str | None = None


_JOURNAL: Final = r"(?P<journal>[A-Z][\w&:.,'’() -]{1,80}?)"
_PAGES: Final = r"(?P<pages>[A-Za-z]?\d[\w.]{0,15}(?:\s?[-–]\s?[A-Za-z]?\d{1,8})?)"
_VOLUME: Final = r"(?P<volume>\d{1,4})(?:\s?\(\d{1,4}(?:[-–]\d{1,4})?\))?"
_YEAR: Final = r"(?P<year>(?:19|20)\d\d)"
_CITATION_FORMATS: Final = tuple(
    re.compile(pattern)
    for pattern in (
        # Campillo-Gimenez et al. Trials (2015) 16:15
        rf"\bet al\.?,? {_JOURNAL}\s+\({_YEAR}\)\s+{_VOLUME}:\s?{_PAGES}",
        rf"^[A-Z][\w'’-]+(?: and [A-Z][\w'’-]+)? {_JOURNAL}\s+\({_YEAR}\)\s+{_VOLUME}:\s?{_PAGES}\s*$",
        # Scientific Data | (2024) 11:99
        rf"^{_JOURNAL}\s*\|\s*\({_YEAR}\)\s+{_VOLUME}:\s?{_PAGES}",
        # Medical Image Analysis 93 (2024) 103104; Journal of Neural Engineering, 22 (2025) 046017
        rf"^{_JOURNAL},? {_VOLUME}\s\({_YEAR}\)\s{_PAGES}\b",
        # J Appl Clin Med Phys. 2022;23:e13746
        rf"^{_JOURNAL}\.? {_YEAR}(?:\s[A-Z][a-z]{{2}}(?:\s\d{{1,2}})?)?\s?;\s?{_VOLUME}\s?:\s?{_PAGES}\b",
    )
)
_PREPRINT: Final = re.compile(
    r"^(?P<journal>bioRxiv|medRxiv) preprint\b|\bthis version posted \w+ \d{1,2}, (?P<year>20\d\d)\b"
)
_HINDAWI: Final = re.compile(r"^Volume (?P<year>(?:19|20)\d\d), Article ID (?P<pages>\d{4,9})\b")
_PLOS: Final = re.compile(rf"\({_YEAR}\).{{10,400}}[.?!] {_JOURNAL} {_VOLUME}:\s?{_PAGES}\.? (?:doi:|https?://)")

MAX_LINE: Final = 400
"""Characters of a line that are compared with the citation formats."""

PLOS_LINES: Final = 8
"""Lines from "Citation:" on that PLOS's citation takes."""

JOURNAL_LENGTH: Final = (2, 120)
"""Characters of a journal's name, at least and at most; real ones have some 6 to 60."""

FIRST_YEAR: Final = 1800
"""Earlier years are no years of publication; the next one may be an issue's that is out before it."""


def citations_of(
    metadata: PdfMetadata, pages: Sequence[PageContent], printed: Sequence[Sequence[TextLine]]
) -> list[Citation]:
    """Return the citations in a journal's format, in the metadata and on the front pages."""
    texts = [(place, text[:MAX_LINE]) for place, text in metadata.subjects]
    found = []
    for number, lines in enumerate(printed):
        for index, line in own_lines(pages[number], lines):
            # In the text, "In study 12 (2014) 33 patients …" looks like a citation.
            if in_margin(line, pages[number]):
                texts.append((f"page {page_number(number)}", line.text[:MAX_LINE]))
            article_number = _HINDAWI.match(line.text)
            if article_number and index and is_plausible_journal(lines[index - 1].text):
                fields = article_number.groupdict()
                found.append(
                    Citation(f"page {page_number(number)}", lines[index - 1].text, volume=fields["year"], **fields)
                )
            stamp = _PREPRINT.search(line.text)
            if stamp:
                found.append(Citation(f"page {page_number(number)}", **stamp.groupdict()))
            if line.text.startswith("Citation:"):
                block = " ".join(item.text for item in lines[index : index + PLOS_LINES])[: 3 * MAX_LINE]
                match = _PLOS.search(block)
                if match:
                    found.append(Citation(f"page {page_number(number)}", **match.groupdict()))
    for place, text in texts:
        for pattern in _CITATION_FORMATS:
            match = pattern.search(text)
            if match and is_plausible_journal(match["journal"]):
                found.append(Citation(place, **match.groupdict()))
                break
    return found


def is_plausible_journal(name: str) -> bool:
    """Say whether a text can be a journal's name."""
    return (
        JOURNAL_LENGTH[0] <= len(name) <= JOURNAL_LENGTH[1]
        and name[:1].isalpha()
        and not re.search(r"[@|]|https?:|\bet al\b|\bdoi\b", name)
    )


def is_plausible_year(text: str) -> bool:
    """Say whether a text can be a year of publication."""
    return text.isdigit() and FIRST_YEAR <= int(text) <= datetime.now(tz=UTC).year + 1


_COPYRIGHT: Final = re.compile(r"(?:©|\(c\)|copyright:?)\s*(?:©|\(c\)|the authors?,?)?\s*((?:19|20)\d\d)\b", re.I)


def copyright_years(printed: Sequence[Sequence[TextLine]]) -> list[tuple[str, str]]:
    """Return the year of the copyright, with its place, on the first page that has one, if it names one only."""
    for lines in printed:
        years = {match.group(1) for line in lines for match in _COPYRIGHT.finditer(line.text)}
        if years:
            return [("copyright on the front page", years.pop())] if len(years) == 1 else []
    return []
