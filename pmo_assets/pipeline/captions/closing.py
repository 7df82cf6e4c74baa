"""Sentences after the last panel's own: those about the whole figure belong to all panels.

Scale bars, magnifications, abbreviations, "all images", "in both eyes", footnotes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from pmo_assets.pipeline.captions.election import IdentifierSeries
from pmo_assets.pipeline.captions.series import Series
from pmo_assets.pipeline.captions.tokens import Tokens, words

# Lengths in tokens.
_BRIEF_ITEM: Final = 12
"""A panel's text up to this is a title rather than a description: sentences after it may be the whole figure's."""
_SHORT_SENTENCE: Final = 40
"""A longer sentence that says "both eyes" describes, and mentions them by the way."""
_GLOSSARY: Final = 40
"""Tokens of a glossary within which its second entry begins, behind a semicolon."""
_GLOSSARY_START: Final = 6
"""Tokens of an earlier sentence that are enough to see a glossary in it."""
# Lengths in characters.
_ABBREVIATION: Final = 8
"""Longest abbreviation in capitals ("VEGFR2")."""
_MIXED_ABBREVIATION: Final = 6
"""Longest abbreviation with small letters ("hESCs"): longer ones are names."""
_MANY_PANELS: Final = 3
"""Panels from which a last one with more sentences than the others stands out."""

_BACK_REFERENCES: Final = words("note this these it they the he she here in there some")
# Openings of closing sentences that concern the whole figure.
_CLOSING_CUES: Final = (
    ("scale",), ("bar",), ("bars",), ("magnification",), ("magnifications",), ("original", "magnification"),
    ("original", "magnifications"), ("abbreviations",), ("abbreviation",), ("error", "bars"), ("error", "bar"),
    ("all", "images"), ("all", "panels"), ("all", "figures"), ("all", "photos"), ("all", "scale"), ("all", "bars"),
    ("all", "photographs"), ("all", "data"), ("all", "sections"), ("all", "experiments"), ("these", "images"),
    ("these", "figures"), ("these", "data"), ("the", "images"), ("images",), ("photographs",), ("adapted",),
    ("reprinted",), ("reproduced",), ("modified",), ("data", "are"), ("data", "represent"), ("data", "were"),
    ("data", "shown"), ("values", "are"), ("values", "represent"), ("results", "are"), ("asterisk",), ("asterisks",),
    ("arrow",), ("arrows",), ("arrowhead",), ("arrowheads",), ("white", "arrow"), ("white", "arrows"),
    ("black", "arrow"), ("black", "arrows"), ("red", "arrows"), ("yellow", "arrows"),
    ("statistics",), ("significance",), ("statistical",), ("nuclei", "were"), ("sections", "were"), ("source",),
    ("immunohistochemistry", "with"), ("shown", "are"), ("for", "details"), ("see",), ("bm",), ("n", "="), ("p", "<"),
    ("in", "all"), ("for", "each"), ("for", "all"), ("each",), ("dashed",), ("dotted",), ("solid",), ("(", "1"),
    ("in", "conclusion"), ("together",), ("taken", "together"), ("these", "two"), ("both",),
)  # fmt: skip
# Openings after which nothing returns to a single panel.
_FINAL_CUES: Final = frozenset({"data", "abbreviations", "abbreviation", "statistics", "values"})
_OWN_CUES: Final = words("glossary scale bar bars magnification original arrow arrows note error * ∗")
_FOOTNOTES: Final = frozenset({"*", "∗", "(", "†", "‡", "#", "§"})
_CUES: Final = frozenset(_CLOSING_CUES)
# "... in both eyes", "in all cases": what a sentence about several panels speaks of.
_SEVERAL: Final = words("both all each every")
_SEVERAL_NOUNS: Final = words(
    "eyes eye images image panels panel cases case patients patient photographs photograph figures scans groups "
    "pictures rows columns subjects maculae fundi"
)
# "The second row shows ...", "From left to right: ...".
_GRID_NOUNS: Final = words("row rows column columns")
_GRID_WAYS: Final = ("from left", "from right", "from top", "left to right", "top to bottom", "in each")
_GRID_START: Final = 4
"""Tokens of a sentence within which its subject stands."""


@dataclass(slots=True)
class LastSection:
    """What follows the last head.

    Attributes:
        identifiers: the panels of the last head.
        trailing: (piece, first token, token after the last one) of the sentences since then, its own one left out.
        first: the last head's first token.
        longest_item: tokens of the longest panel's first sentence.
        extra_sentences: whether an earlier panel has more than one sentence.
    """

    identifiers: tuple[str, ...] = ()
    trailing: list[tuple[int, int, int]] = field(default_factory=list)
    first: int = 0
    longest_item: int = 0
    extra_sentences: bool = False


def shared_from(tokens: Tokens, series: IdentifierSeries, section: LastSection) -> tuple[int, bool]:
    """Index in `section.trailing` from which the sentences concern all panels, and whether that is not sure."""
    texts, trailing = tokens.texts, section.trailing
    reader = _Closing(tokens, series, section)
    shared = len(trailing)
    for index in range(len(trailing) - 1, -1, -1):
        if reader.closes(trailing[index]):
            shared = index
        elif texts[trailing[index][1]] not in _FOOTNOTES:
            break  # a footnote ("*p < 0.05") is shared when a closing sentence before it is
    for index, (_, first, _) in enumerate(trailing[:shared]):
        if texts[first].lower() in _FINAL_CUES and texts[first].lower() not in reader.own_cues:
            shared = index  # everything after it is about the figure, too
            break
    several = len(series.identifiers) >= _MANY_PANELS and len(section.identifiers) < len(series.identifiers) - 1
    brief = section.longest_item <= _BRIEF_ITEM and len(trailing) > 1
    if (several or brief) and not section.extra_sentences:
        # every other panel has one sentence; more after the last one are about the figure unless they refer back
        back = texts[trailing[0][1]].lower() in _BACK_REFERENCES
        return (shared, False) if back else (0, shared > 0)
    return shared, False


class _Closing:
    def __init__(self, tokens: Tokens, series: IdentifierSeries, section: LastSection) -> None:
        self.tokens = tokens
        self.series = series
        self.section = section
        self.own_cues = self._own_cues()
        self.earlier_words: set[str] | None = None
        self.last_words = frozenset(tokens.texts[section.first : section.trailing[0][1]])

    def _own_cues(self) -> set[str]:
        """First words of closing formulas that occur inside earlier sections: there they are a panel's own."""
        found: set[str] = set()
        lowest = self.section.trailing[0][1]
        texts = self.tokens.texts
        heads = {naming.mention.first for naming in self.series.mentions}
        first_head = min(heads)
        started = False
        for start in self.tokens.sentence_starts:
            started = started or start in heads
            if start >= lowest:
                break
            if started:
                found.add(texts[start].lower())
        if started and any(
            self._is_glossary(start, min(start + _GLOSSARY_START, len(texts)))
            for start in self.tokens.sentence_starts
            if first_head < start < lowest
        ):
            found.add("glossary")
        return found & _OWN_CUES

    def closes(self, trailing: tuple[int, int, int]) -> bool:
        """Whether a sentence is about the whole figure."""
        _, first, stop = trailing
        opening = tuple(text.lower() for text in self.tokens.texts[first : min(first + 2, stop)])
        if opening[:1] and opening[0] in self.own_cues:
            return False
        if opening[:1] in _CUES or opening in _CUES or self._of_several(first, stop) or self._of_grid(first, stop):
            return True
        return "glossary" not in self.own_cues and self._is_glossary(first, stop) and self._known_before(first, stop)

    def _of_grid(self, first: int, stop: int) -> bool:
        """Whether a sentence about panels named by place begins with the others of their grid: "The left column ..."."""
        if self.series.series is not Series.POSITION:
            return False
        opening = [text.lower() for text in self.tokens.texts[first : min(stop, first + _GRID_START)]]
        return not _GRID_NOUNS.isdisjoint(opening) or " ".join(opening).startswith(_GRID_WAYS)

    def _of_several(self, first: int, stop: int) -> bool:
        """Whether a short sentence speaks of "both eyes", "all panels", unlike the last panel's own text."""
        texts = self.tokens.texts
        if stop - first > _SHORT_SENTENCE or len(self.section.identifiers) > 1:
            return False
        spoken = {
            word
            for at in range(first, stop - 1)
            if (word := texts[at].lower()) in _SEVERAL and texts[at + 1].lower() in _SEVERAL_NOUNS
        }
        return bool(spoken) and spoken.isdisjoint(self.last_words)

    def _known_before(self, first: int, stop: int) -> bool:
        """Whether one of a glossary's abbreviations occurs in the text before the last head, or none in that after."""
        texts = self.tokens.texts
        if self.earlier_words is None:
            last = set(self.section.identifiers)
            heads = [item.mention.first for item in self.series.mentions if last.intersection(item.identifiers)]
            self.earlier_words = set(texts[: min([*heads, first])])
        keys = [
            texts[index]
            for index in range(first, stop - 1)
            if texts[index + 1] in {",", ":", "="} and (index == first or texts[index - 1] in {";", "."})
        ]
        if any(key in self.earlier_words for key in keys):
            return True
        return self.last_words.isdisjoint(keys)

    def _is_glossary(self, first: int, stop: int) -> bool:
        """ "LV, left ventricle; RV, right ventricle" or "LV: left ventricle"."""
        texts = self.tokens.texts
        if stop - first < 3:
            return False
        word, separator = texts[first], texts[first + 1]
        longest = _ABBREVIATION if word.isupper() else _MIXED_ABBREVIATION
        if separator not in {",", ":", "="} or len(word) > longest or not any(letter.isupper() for letter in word):
            return False
        return word.isupper() or ";" in texts[first : min(stop, first + _GLOSSARY)]
