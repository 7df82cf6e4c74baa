"""Lines by which a figure says that it is somebody else's: "Reproduced with permission from …", "© 2012 Elsevier".

An open-access licence covers what is the authors' own, "unless indicated otherwise in a credit line to the material"
(Springer Nature's statement): nobody can license what is not his. Captions carry such lines, XML `<attrib>` and
`<permissions>`, and print inside the figure. What is adapted or redrawn from somebody's figure counts as well: without a
licence nobody knows what may be passed on.

No such line is thanks for data ("from the UK Biobank"), consent of a patient, a tool ("Created with BioRender"), and
what says that the work is the authors' own. English, German, French, Spanish, Portuguese, Italian, Chinese and Japanese.
"""

# ruff: noqa: E501 - patterns are read as they stand
from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

LONGEST: Final = 500
"""Characters of a credit line that are kept."""

_WORKS: Final = (
    r"(?:images?|photos?|photographs?|pictures?|figures?|fig\.?|illustrations?|drawings?|diagrams?|panels?|micrographs?"
    r"|scans?|angiograms?|artwork|schem(?:e|atic)s?|videos?|material)"
)
_PATIENTS: Final = (
    r"(?:the\s+|his\s+|her\s+|their\s+|each\s+|all\s+|our\s+)*(?:patients?|parents?|participants?|subjects?|famil(?:y|ies)|guardians?"
    r"|volunteers?|relatives?|individuals?|mother|father|ethic\w*|institutional|hospital|irb)"
)
_CITED: Final = r"(?:\[\s*\d|\(\s*(?:\d|[A-Z][\w’'-]+)|[A-Z][\w’'-]+\s+(?:et\s+al|and\s+[A-Z]|&|\(?\d{4})|refs?\b|reference|doi|https?:|fig)"

_FOREIGN: Final = tuple(
    re.compile(pattern, flags)
    for flags, patterns in (
        (
            re.I,
            (
                # permission that somebody gave, unless a patient did
                rf"\b(?:with|by)\s+(?:\w+\s+){{0,3}}permissions?\b(?!\s+(?:of|from|by)\s+{_PATIENTS})",
                r"\bpermissions?\s+(?:was|were|is|has\s+been|obtained|granted|conveyed|requested|pending|to\s+(?:use|reproduce|reprint))\b",
                r"\b(?:re-?produced|re-?printed|re-?published)\s+(?:\w+\s+){0,3}?(?:from|with|under|courtesy|after|in\s+accordance)\b",
                r"\b(?:adapted|re-?drawn|re-?created|adaptation|borrowed|modification)\s+(?:\w+\s+){0,2}?(?:from|after|of|by|with)\b",
                r"\bmodified\s+(?:\w+\s+){0,2}?(?:from|after)\b",
                rf"\b{_WORKS}\s+(?:\w+\s+){{0,2}}?(?:taken|obtained|extracted|reused|sourced)\s+from\s+(?={_CITED})",
                r"\b(?:from|source\s*:)\s*(?:the\s+)?(?:refs?\.?|references?)\s*[\[(]?\d",
                # thanks for a picture
                r"\bcourtesy\b",
                rf"\b{_WORKS}\s+credits?\b|\bcredits?\s*:",
                rf"\b{_WORKS}\s+(?:\w+\s+){{0,2}}?(?:kindly\s+)?(?:provided|supplied|donated|contributed|gifted|lent)\s+by\b",
                r"\bkindly\s+(?:provided|supplied|donated|contributed|lent)\b",
                # rights
                r"©|\bcopyright(?:ed)?\b|\ball\s+rights\s+reserved\b|\brightslink\b",
                r"\bnot\s+(?:\w+\s+){0,3}(?:covered|included|subject|licen[sc]ed|part)\b[^.]{0,80}?(?:licen[sc]e|creative\s+commons|\bcc\b|open\s+access)",
                r"\b(?:under|subject\s+to)\s+(?:an?\s+|the\s+)?(?:separate|different|other|own)\s+licen[sc]e",
                r"\b(?:shutterstock|getty\s+images|istock(?:photo)?|adobe\s+stock|dreamstime|alamy)\b",
                r"\blicen[sc]ed\s+(?:under|by|from|to)\b|\blicen[sc]e\s*:",
                # German
                r"\bmit\s+(?:\w+\s+){0,3}(?:genehmigung|erlaubnis)\b|\b(?:nachdruck|abdruck|wiedergabe|entnommen|übernommen)\s+(?:aus|mit|von)\b",
                r"\b(?:modifiziert|adaptiert|verändert|angepasst)\s+(?:nach|aus|von)\b|\burheberrecht|\bbildquelle|\bbildrechte|\b(?:bild|foto|quelle)\s*:",
                r"\bfreundlicherweise\b|\balle\s+rechte\s+vorbehalten\b",
                # French
                r"\bavec\s+(?:l['’]|la\s+|une\s+)?(?:\w+\s+){0,2}(?:autorisation|permission)|\b(?:reproduit|réimprimé|repris|extrait)e?s?\s+(?:\w+\s+){0,2}?(?:avec|de|d['’]|du|par)",
                r"\b(?:adapté|modifié|tiré|inspiré)e?s?\s+(?:de\b|d['’]|du\b)|\bcrédits?\b|\bdroits\s+réservés\b|\bcourtoisie\b|\bgracieuse",
                # Spanish, Portuguese
                r"\bcon\s+(?:el\s+|la\s+)?(?:\w+\s+){0,2}(?:permiso|autorización)|\bcom\s+(?:a\s+)?(?:\w+\s+){0,2}(?:permissão|autorização)",
                r"\brepro(?:ducid|duzid)[oa]s?\s+(?:\w+\s+){0,3}?(?:con|com|de|del|da|do)\b|\breimpres[oa]s?\b",
                r"\b(?:adaptad|modificad|tomad|retirad|extraíd)[oa]s?\s+(?:\w+\s+){0,1}?(?:de|del|da|do)\b|\bcortes[ií]a\b|\bderechos\s+reservados\b|\bdireitos\s+(?:\w+\s+)?reservados\b|\bcréditos?\b",
                # Italian
                r"\bper\s+gentile\s+concessione\b|\b(?:riprodott|adattat|modificat|tratt)[oaie]\s+(?:\w+\s+){0,2}?(?:con|da|dal|dalla)\b|\bcon\s+(?:il\s+)?permesso\b|\bdiritti\s+riservati\b",
            ),
        ),
        (
            0,
            (
                r"经(?!.{0,6}(?:患者|病人|家属|伦理)).{0,24}?(?:许可|授权|同意)|(?:转载|引|摘|改编|改绘|修改|选)自|版权|图片来源|惠赠|惠赐",
                r"(?:許可|許諾)を(?:得|受)|転載|より(?:引用|改変)|を改変|から引用|提供\s*[::]|著作権",
            ),
        ),
    )
    for pattern in patterns
)

_OWN: Final = re.compile(
    r"©\s*(?:\(c\)\s*)?(?:copyright\s*)?(?:\d{4}\s*[,.]?\s*)?(?:by\s+)?the\s+authors?(?:\(s\))?|©\s*(?:\d{4}\s+)?authors?\b"
    r"|\bcopyright\s+(?:©\s*)?(?:\d{4}\s*,?\s*)?(?:of\s+|by\s+)?the\s+authors?(?:\(s\))?"
    r"|\bno\s+(?:\w+\s+){0,2}permissions?\s+(?:is|was|were|are)?\s*(?:required|needed|necessary)"
    r"|\b(?:original|own)\s+(?:\w+\s+){0,2}(?:by|of|from)\s+the\s+(?:present\s+|current\s+)?authors?\b|\bauthors?['’]?\s+own\b",
    re.I,
)
"""Words about the authors themselves; they are taken out before a sentence is looked at."""

_SENTENCE: Final = re.compile(r"(?<=[a-zà-ÿ\d\])”\"]{2}[.;])\s+(?=[A-ZÀ-Ý(\[©“\"])|(?<=[。;])")
"""Place between two sentences; "et al." and initials end none, so that a line stays whole."""


def credit_line(text: str) -> str | None:
    """Return the sentences of a caption, or of print in a figure, that say that it is not the authors' own.

    Args:
        text: of one figure, without its label.

    Returns:
        the sentences as they stand, `LONGEST` characters at most; None where nothing says so.
    """
    plain = " ".join(unicodedata.normalize("NFKC", text).split())
    found = [sentence for sentence in _SENTENCE.split(plain) if sentence and says_it_is_foreign(sentence)]
    return " ".join(found)[:LONGEST] or None


def says_it_is_foreign(sentence: str) -> bool:
    """Say whether a sentence names somebody else's rights, permission or work."""
    rest = _OWN.sub(" ", sentence)
    return any(pattern.search(rest) for pattern in _FOREIGN)


def joined_statements(statements: Iterable[str | None]) -> str | None:
    """Return statements in one, each once; None without any. The bar keeps one from being read into the next."""
    found: list[str] = []
    for statement in statements:
        if statement and not any(statement in other for other in found):
            found.append(statement)
    return " | ".join(found) or None
