"""Classes of an article's sections: IMRaD, with what case reports and appendices have beside it.

Add here: words of titles. Keep out: where sections are found (`jats_text` in the XML, the room `figures` in the PDF).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from pmo_assets.records.context import SectionClass

# Number or letter before a title: "2.", "2.1.3", "IV.", "A)".
_NUMBERING: Final = re.compile(r"(?:section\s+)?(?:\d{1,2}(?:\.\d{1,2}){0,4}[.):]?|[IVX]{1,5}[.):]|[A-H][.)])\s+", re.I)
_KIND_OF: Final = r"(?:statistical|clinical|experimental|main|primary|secondary|additional|further|other|patient|study)"


def _patterns(words: Mapping[SectionClass, str]) -> tuple[tuple[SectionClass, re.Pattern[str]], ...]:
    return tuple((section, re.compile(pattern, re.IGNORECASE)) for section, pattern in words.items())


# What a title begins with, behind its number; the first word decides ("Results and Discussion" are results).
_TITLES: Final = _patterns({
    "appendix": r"appendi(?:x|ces)\b|supplementa(?:l|ry)\b|supporting information\b",
    "case": r"(?:clinical |our |brief |the )?cases?(?![\s-](?:selection|definition|control|series))\b"
            r"|report of (?:a|the|two|three) cases?\b|clinical (?:presentation|course|findings|history)\b"
            r"|patient(?:'s|’s)? (?:information|presentation|history)\b|presentation of (?:the )?case\b",
    "methods": rf"(?:{_KIND_OF} )?(?:materials?|methods?|methodology|procedures?|design)\b"
               r"|(?:patients?|subjects?|participants?|samples?|animals?|data) (?:and|&) (?:materials?|methods?)\b"
               r"|experimental (?:section|setup|details)\b|statistical analys[ei]s\b|statistics\b"
               r"|study (?:population|subjects)\b|proposed (?:method|approach)\b"
               r"|(?:patients|subjects|participants|experimental)\Z",
    "results": rf"(?:{_KIND_OF} )?(?:results?|findings|outcomes?)\b|experiments? (?:and|&) results?\b",
    "discussion": r"(?:general |main )?(?:discussions?|comments?|limitations?|strengths)\b|interpretation\b",
    "conclusion": r"conclusions?\b|concluding\b|summary\b|final remarks\b|key (?:points|messages)\b|take[- ]home\b",
    "introduction": r"introduction\b|(?:theoretical )?background\b|rationale\b|objectives?\b|aims?\b|purpose\b"
                    r"|(?:related|previous|prior) work\b",
})  # fmt: skip

_TYPES: Final = _patterns({
    "appendix": r"appendix|suppl", "case": r"\bcases?\b", "methods": r"method|material|subjects", "results": r"result",
    "discussion": r"discussion", "conclusion": r"conclu", "introduction": r"\bintro|background",
})  # fmt: skip
"""Values of JATS's `sec-type`: "intro", "materials|methods", "results", "cases"."""

LONGEST_TITLE: Final = 300
"""Characters of a title that are looked at; real ones have a third."""


def section_class(title: str | None, *, kind: str = "", parent: SectionClass | None = None) -> SectionClass:
    """Return the class of a section: that of its type or title, else of the section around it, else "other".

    Args:
        title: as printed, with its number; None without one.
        kind: the XML's `sec-type`.
        parent: class of the section around it; inside of abstract and appendix nothing changes it.
    """
    if parent in ("abstract", "appendix"):
        return parent
    for section, words in _TYPES:
        if kind and words.search(kind):
            return section
    named = _of_title(title[:LONGEST_TITLE]) if title else None
    # Below a section that has a class, titles are of its parts: "Case 2" of the discussion is discussed.
    return parent if parent not in (None, "other") else named or "other"


def _of_title(title: str) -> SectionClass | None:
    numbering = _NUMBERING.match(title)
    bare = title[numbering.end() :] if numbering else title
    return next((section for section, words in _TITLES if words.match(bare)), None)
