"""Words by which a sentence turns to something else, concludes, tells what was done, or of what no figure shows.

Add here: what a sentence says of its own part in a paragraph. Keep out: what it is to a panel (`passages`).
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import Final

_TURNS: Final = re.compile(
    r"(?:In addition|Additionally|Furthermore|Moreover|Next|Then|Finally|We (?:then|next|also|further)"
    r"|To (?:further )?\w+|Interestingly|Surprisingly|Similarly|Likewise|In contrast|By contrast|On the other hand"
    r"|However|Conversely|Another|Other|A second|Consistent with|In agreement|In line with|Unlike|Also|Besides"
    r"|Meanwhile|Subsequently|Afterwards?)\b"
)
_CONCLUDES: Final = re.compile(
    r"(?:Thus|Therefore|Hence|Together|Taken together|Collectively|Overall|These (?:results|data|findings|observations)"
    r"|This (?:result|finding|suggests|indicates|means|shows|demonstrates)|In (?:summary|conclusion|sum)"
    r"|Our (?:results|data|findings))\b"
)
_TELLS_METHOD: Final = re.compile(
    r"\b(?:[Tt]o (?:determine|test|investigate|examine|assess|evaluate|study|analy[sz]e|verify|confirm|explore|address"
    r"|see|identify|understand|validate|compare|characteri[sz]e)"
    r"|[Ww]e (?:therefore|used|performed|generated|examined|analy[sz]ed|measured|tested|investigated|asked|compared)"
    r"|was (?:performed|measured|assessed|evaluated)"
    r"|were (?:performed|measured|assessed|treated|cultured|infected|immunized))\b"
)
_UNSHOWN: Final = re.compile(
    r"\b(?:not shown|[Uu]npublished|S\d+\s?(?:Fig|Table|File|Text|Appendix|Movie|Video)"
    r"|(?:Fig(?:ures?|s)?\.?|Tables?)\s?S\d|[Ss]upplement(?:ary|al)\b|Additional [Ff]ile|[Ff]igure supplements?\b)"
)
_PAST: Final = re.compile(r"\b(?:was|were|had|showed|revealed)\b")
_NUMBER: Final = re.compile(r"\d")
_CITED: Final = re.compile(r"\[[^\]]{0,200}\]")
_FIGURES: Final = re.compile(r"\[[^\]]{0,200}\]|\([^()]{0,200}[Ff]ig[^()]{0,200}\)")
_WORD: Final = re.compile(r"[A-Za-z0-9][\w+/-]*")
_IS_NAME: Final = re.compile(r".+[A-Z]|[A-Za-z].*\d|\d.*[A-Za-z]")


@dataclass(frozen=True, slots=True)
class SentenceCues:
    """What a sentence says of its part in a paragraph.

    Attributes:
        turns: it opens with a turn to something else: "In contrast, …", "To test …".
        concludes: it opens with a conclusion: "These results …".
        tells_method: what was done, or to what end.
        is_unshown: its result is shown elsewhere than in a figure, or nowhere: "(data not shown)", "Table S2".
        has_number: besides citations.
        is_past: it tells what was.
        names: words with capitals inside or with digits, as genes, groups and devices have: "p150CAF-1", "BRCA1".
    """

    turns: bool
    concludes: bool
    tells_method: bool
    is_unshown: bool
    has_number: bool
    is_past: bool
    names: frozenset[str]


@functools.lru_cache(maxsize=4096)
def sentence_cues(text: str) -> SentenceCues:
    """Return the cues of a sentence; they are read once for all the panels that it stands beside."""
    return SentenceCues(
        _TURNS.match(text) is not None,
        _CONCLUDES.match(text) is not None,
        _TELLS_METHOD.search(text) is not None,
        _UNSHOWN.search(text) is not None,
        _NUMBER.search(_CITED.sub("", text)) is not None,
        _PAST.search(text) is not None,
        names_of(text),
    )


@functools.lru_cache(maxsize=4096)
def names_of(text: str) -> frozenset[str]:
    """Return the words of a text that are written as names are, references and citations left out."""
    return frozenset(word for word in _WORD.findall(_FIGURES.sub(" ", text)) if _IS_NAME.match(word))
