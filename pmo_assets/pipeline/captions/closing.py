"""Sentences after the last panel's own: those about the whole figure belong to all panels.

Scale bars, magnifications, abbreviations, "all images", "in both eyes", footnotes.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Final

from pmo_assets.pipeline.captions.election import IdentifierSeries
from pmo_assets.pipeline.captions.identifier_lists import is_identifier
from pmo_assets.pipeline.captions.phrases import SHOWING, VERBS
from pmo_assets.pipeline.captions.series import Series
from pmo_assets.pipeline.captions.tokens import OPENING, Tokens, words

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

_ENTRIES: Final = 3
"""Entries of the shortest glossary that is told by its form alone; one about a scale bar counts for two."""
_SHORTEST_ENTRY: Final = 3
"""Tokens of an entry: "o, orbit"."""
_LONGEST_GLOSSARY: Final = 200
"""Tokens from the caption's end back within which a glossary begins."""

_BACK_REFERENCES: Final = words("note this these it they he she in here there some")
_ARTICLE_LIKE: Final = frozenset({"A", "a", "I"})
_NAMING: Final = words("in for of panel panels and , ( :")
"""Before such a letter, words that make it a panel's name."""
_DEFINITE: Final = frozenset({"the"})
_FUNCTION_WORD: Final = 3
"""Most letters of a function word, which two sentences may share without a common subject."""
_DEFINITE_PHRASE: Final = 7
"""Tokens after "The" within which its noun stands."""
# What a closing sentence speaks of: how the figure is drawn, what the numbers mean, its pictures, where it is from.
_DRAWN: Final = words(
    "scale bar bars magnification magnifications arrow arrows arrowhead arrowheads asterisk asterisks star stars line "
    "lines curve curves symbol symbols circle circles dot dots box boxes whisker whiskers colors colours"
)
_BARS: Final = words("scale bar bars")
_NUMBERS: Final = words("data values results statistics significance abbreviations abbreviation source n p")
_PICTURES: Final = words(
    "images panels figures photos photographs scans sections experiments pictures micrographs measurements plots graphs"
)
_SUBJECTS: Final = _DRAWN | _NUMBERS | _PICTURES
# Before such a subject; without one, "each" and "both" do as well.
_QUALIFIERS: Final = words(
    "all these both each every for in white black red yellow green blue orange gray grey dashed dotted solid thick "
    "thin open filled original error shaded statistical"
)
_QUALIFIED: Final = 3
"""Tokens of qualifiers at most."""
_COUNTS: Final = ("two", "three", "four", "five", "six")
_ALONE: Final = (
    ("see",), ("each",), ("both",), ("in", "all"), ("for", "each"), ("for", "all"), ("in", "conclusion"), ("together",),
    ("taken", "together"), ("the", "images"), ("the", "panels"), ("(", "1"), *(("these", count) for count in _COUNTS),
    *(("the", word) for word in ("bar", "scale")),
)  # fmt: skip
# Words of a note on where the figure is from or how it is to be read.
_NOTICES: Final = words(
    "reproduced reprinted adapted modified permission courtesy copyright licence license licensed doi html online "
    "reader credit credits biorender supplement supplementary"
)
# The last word of a phrase that names a stain.
_STAINS: Final = words("stain stains staining")
_PHRASE_ENDS: Final = frozenset(".;,(")
_STAIN: Final = 24
"""Tokens of such a sentence at most."""
_NOTICE: Final = 24
"""Tokens of a sentence within which such a word stands."""
# Openings after which nothing returns to a single panel.
_FINAL_CUES: Final = frozenset({"data", "abbreviations", "abbreviation", "statistics", "values"})
_OWN_CUES: Final = words("glossary scale bar bars magnification original arrow arrows note error * ∗")
_FOOTNOTES: Final = frozenset({"*", "∗", "(", "†", "‡", "#", "§"})
_CUES: Final = frozenset(_ALONE)
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


def is_glossary(tokens: Tokens, first: int, stop: int) -> bool:
    """Say whether tokens [first, stop) are entries between semicolons or stops: "dv, vertebra; fe, femur; o, orbit".

    At least `_ENTRIES` of them, each a short key with a comma, colon or equals sign; scale bars may stand among them.
    """
    texts = tokens.texts
    entries, bars, at = 0, 0, first
    while at < stop:
        until = next((index for index in range(at, stop) if _ends_entry(tokens, index)), stop)
        if until - at < _SHORTEST_ENTRY:
            return False
        key = at + 1
        while key < until - 1 and not tokens.gap(key) and texts[key] not in {",", ":", "="}:
            key += 1  # "Neg.ctrl", "T-cell"
        keyed = texts[key] in {",", ":", "="} and tokens.ends[key - 1] - tokens.starts[at] <= _ABBREVIATION
        keyed = keyed and texts[at][0].isalpha()
        keyed = keyed and texts[at].lower() not in _DRAWN - _BARS  # "arrow, hole; asterisk, cyst" are a panel's
        barred = not _BARS.isdisjoint(text.lower() for text in texts[at : at + 2])
        if not keyed and not barred:
            return False
        entries, bars = entries + 1, bars + barred
        at = until + 1
    return entries + bars >= _ENTRIES


def _ends_entry(tokens: Tokens, index: int) -> bool:
    ends = index + 1 == len(tokens.texts) or tokens.gap(index + 1)
    return tokens.texts[index] == ";" or (tokens.texts[index] == "." and ends)


def glossary_starts(tokens: Tokens, series: IdentifierSeries) -> tuple[int, ...]:
    """The token behind the last panel's name where entries of a glossary begin that run to the caption's end, if any.

    Entries that other panels have as well ("; bar = 10 µm" behind each) are the panels' own.
    """
    texts, count = tokens.texts, len(tokens.texts)
    if series.series is Series.POSITION or not series.mentions:
        return ()
    first = max(naming.mention.last for naming in series.mentions) + 1
    end = count - 1 if texts[-1] == "." else count
    for at in range(max(first, count - _LONGEST_GLOSSARY), count - _SHORTEST_ENTRY):
        separated = texts[at] in {";", "."} and tokens.gap(at + 1) and not is_identifier(texts[at + 1])
        if separated and is_glossary(tokens, at + 1, end):
            return () if _is_own_glossary(tokens, series, (first, at + 1, end)) else (at + 1,)
    return ()


def _is_own_glossary(tokens: Tokens, series: IdentifierSeries, span: tuple[int, int, int]) -> bool:
    """Say whether a glossary is the last panel's: it stands in brackets, or explains what only that panel's text has.

    Args:
        span: the token behind the last panel's name, the glossary's first token, and the token behind it.
    """
    texts = tokens.texts
    last, start, end = span
    heads = [naming.mention.first for naming in series.mentions]
    if any(tokens.partners[index] > end for index in range(last, start)):
        return True
    drawn = _DRAWN.intersection(text.lower() for text in texts[start:end])
    if not drawn.isdisjoint(text.lower() for text in texts[min(heads) : max(heads)]):
        return True
    listed = range(min(heads), max(heads) - 2)
    if any(texts[at] == ";" and texts[at + 2] == texts[start + 1] and texts[at + 1].isupper() for at in listed):
        return True  # every panel has a list of its own
    keys = {texts[start], *(texts[at + 1] for at in range(start, end - 1) if _ends_entry(tokens, at))}
    return keys.isdisjoint(texts[: max(heads)]) and not keys.isdisjoint(texts[last:start])


@dataclass(slots=True)
class LastSection:
    """The text from the last head on.

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
    texts = tokens.texts
    trailing = section.trailing
    listed = max(
        (at + 1 for at, (_, first, stop) in enumerate(trailing) if _lists_part(tokens, first, stop)), default=0
    )
    if listed == len(trailing):
        return listed, False
    if listed:
        shared, unsure = shared_from(tokens, series, replace(section, trailing=trailing[listed:]))
        return listed + shared, unsure
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
        back = reader.refers_back(trailing[0])
        return (shared, False) if back else (0, shared > 0)
    return shared, False


def _lists_part(tokens: Tokens, first: int, stop: int) -> bool:
    """Say whether a sentence begins with a letter in brackets: a part of the last panel, no panel of the series."""
    return (
        tokens.partners[first] == first + 2 < stop - 1
        and tokens.texts[first + 1].isalpha()
        and is_identifier(tokens.texts[first + 1])
    )


class _Closing:
    def __init__(self, tokens: Tokens, series: IdentifierSeries, section: LastSection) -> None:
        self.tokens = tokens
        self.series = series
        self.section = section
        self.identifiers = set(series.identifiers)
        self.own_cues = self._own_cues()
        texts = tokens.texts
        self.first_stain = next((at for at, text in enumerate(texts) if text.lower() in _STAINS), len(texts))
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
            if first_head < start < lowest and start not in heads
        ):
            found.add("glossary")
        return found & _OWN_CUES

    def closes(self, trailing: tuple[int, int, int]) -> bool:
        """Say whether a sentence is about the whole figure."""
        _, first, stop = trailing
        opening = tuple(text.lower() for text in self.tokens.texts[first : min(first + 2, stop)])
        named = self._named(first, stop)
        own = named <= set(self.section.identifiers)
        if named and own and not _BARS.isdisjoint(opening):
            return False  # "The scale bar in (K) is 10 µm"
        if not own and self._of_figure(first, stop):
            return True
        if opening[:1] and opening[0] in self.own_cues:
            return False
        if opening[:1] in _CUES or opening in _CUES or self._of_figure(first, stop):
            return True
        if self._of_several(first, stop) or self._of_grid(first, stop):
            return True
        return "glossary" not in self.own_cues and self._is_glossary(first, stop) and self._known_before(first, stop)

    def _named(self, first: int, stop: int) -> set[str]:
        """The panels that a sentence names with or without brackets: "Bars: 50 µm in A and B, 100 µm in C"."""
        texts = self.tokens.texts
        return {
            texts[at]
            for at in range(first + 1, stop)
            if texts[at] in self.identifiers and (texts[at] not in _ARTICLE_LIKE or texts[at - 1].lower() in _NAMING)
        }

    def _of_figure(self, first: int, stop: int) -> bool:
        """Say whether a sentence tells the figure's way of drawing, the meaning of its numbers, or its origin."""
        texts = self.tokens.texts
        at = first
        if texts[first] == "[" and stop - 4 < self.tokens.partners[first]:
            return not _DRAWN.isdisjoint(text.lower() for text in texts[first:stop])  # "[×40, scale bar = 50 µm]"
        while at < min(stop - 1, first + _QUALIFIED) and texts[at].lower() in _QUALIFIERS:
            at += 1
        if texts[at].lower() in _SUBJECTS or self._names_stain(first, stop):
            return True
        return any(texts[k].lower() in _NOTICES for k in range(first, min(stop, first + _NOTICE)))

    def _names_stain(self, first: int, stop: int) -> bool:
        """Say whether a sentence is nothing but a stain, and the only one: "Hematoxylin and eosin stain, × 200."."""
        if self.first_stain < first:
            return False
        spoken = [text.lower() for text in self.tokens.texts[first : min(stop, first + _STAIN + 1)]]
        if len(spoken) > _STAIN or spoken[0] in OPENING or not (VERBS | SHOWING).isdisjoint(spoken):
            return False
        return any(word in _STAINS and after in _PHRASE_ENDS for word, after in pairwise([*spoken, "."]))

    def _of_grid(self, first: int, stop: int) -> bool:
        """Say whether a sentence about panels named by place begins with the rest of their grid: "The left column"."""
        if self.series.series is not Series.POSITION:
            return False
        opening = [text.lower() for text in self.tokens.texts[first : min(stop, first + _GRID_START)]]
        return not _GRID_NOUNS.isdisjoint(opening) or " ".join(opening).startswith(_GRID_WAYS)

    def refers_back(self, trailing: tuple[int, int, int]) -> bool:
        """Say whether a sentence goes on about the last panel's own subject: "It ...", "The fluid has ..."."""
        _, first, stop = trailing
        texts = self.tokens.texts
        opening = texts[first].lower()
        if opening not in _DEFINITE:
            return opening in _BACK_REFERENCES
        phrase = {text.lower() for text in texts[first + 1 : min(stop, first + 1 + _DEFINITE_PHRASE)]}
        return any(len(text) > _FUNCTION_WORD and text.lower() in phrase for text in self.last_words)

    def _of_several(self, first: int, stop: int) -> bool:
        """Say whether a short sentence speaks of "both eyes", "all panels", unlike the last panel's own text."""
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
        """Say whether an abbreviation of a glossary stands in the text before the last head, or none in that after."""
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
        if is_glossary(self.tokens, first, stop):
            return True
        word, separator = texts[first], texts[first + 1]
        longest = _ABBREVIATION if word.isupper() else _MIXED_ABBREVIATION
        if separator not in {",", ":", "="} or len(word) > longest or not any(letter.isupper() for letter in word):
            return False
        return word.isupper() or ";" in texts[first : min(stop, first + _GLOSSARY)]
