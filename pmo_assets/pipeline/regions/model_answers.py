"""Answers of a vision model that names what a panel shows: their schema, and the checks that they must pass.

An answer may only name what the panel's own words name: each label is found again in subcaption or mentions, word by
word or by stems, and those words are kept, never the model's. What it adds, a description, is bounded and names no
number and no disease that the words lack, nor copies them: what a caption dictates to a model stays out. Add here: what
makes an answer unfit. Keep out: who is asked (`model_regions`), and what becomes of boxes that fit (`fusion`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field

from pmo_assets.pipeline.assembly.vision.question import COORDINATES, from_thousandths
from pmo_assets.pipeline.context.entities import panel_entities
from pmo_assets.pipeline.context.terms import stem, terms_of, word_ranges
from pmo_assets.pipeline.prompting.asking import MisfittingAnswer
from pmo_assets.pipeline.regions.phrases import region_phrases
from pmo_assets.records.context import Abbreviation
from pmo_assets.records.geometry import Box

MOST_BOXES: Final = 12
"""Objects of one answer: a panel with more marks has a legend for kinds of them, not for each."""

MOST_LABEL: Final = 160
"""Characters of a label: longer than any target of a phrase that was labelled by hand."""

MOST_WORDS: Final = 40
"""Words of a description; Panel2Patch asks for one sentence."""

MOST_COPIED: Final = 4
"""Words of the text that a description may repeat one after another: more is copied, or was dictated by the text."""

MAX_GIVEN: Final = 6_000
"""Characters of words that a model is given: subcaption and mentions of a panel have some hundreds."""

_Coordinate = Annotated[int, Field(ge=0, le=COORDINATES)]


class NamedObject(BaseModel):
    """An object that the text names and that can be seen in the picture."""

    model_config = ConfigDict(extra="forbid")

    label: Annotated[str, Field(min_length=1, max_length=MOST_LABEL)]
    bbox_2d: Annotated[list[_Coordinate], Field(min_length=4, max_length=4)]
    description: Annotated[str, Field(max_length=600)]


class NamedObjects(BaseModel):
    """All objects that the text names and that can be seen; none if none can be seen."""

    model_config = ConfigDict(extra="forbid")

    objects: Annotated[list[NamedObject], Field(max_length=MOST_BOXES)]


RESPONSES: Final[Mapping[str, type[BaseModel]]] = {NamedObjects.__name__: NamedObjects}
"""Response models by the name that `task.toml` gives."""


@dataclass(frozen=True)
class PanelText:
    """The words about a panel.

    Attributes:
        subcaption: of the panel; "" without one.
        mentions: sentences of the running text that speak of it.
        abbreviations: with the article's long forms.
    """

    subcaption: str
    mentions: tuple[str, ...]
    abbreviations: tuple[Abbreviation, ...] = ()

    def bounded(self) -> PanelText:
        """Return as much of it as a model is given: whole sentences, `MAX_GIVEN` characters."""
        subcaption = self.subcaption[:MAX_GIVEN]
        left, kept = MAX_GIVEN - len(subcaption), []
        for mention in self.mentions:
            left -= len(mention)
            if left < 0:
                break
            kept.append(mention)
        return PanelText(subcaption, tuple(kept), self.abbreviations)


@dataclass(frozen=True, slots=True)
class FoundObject:
    """An object of an answer that fits.

    Attributes:
        text: words of the panel's text that name it, verbatim.
        box: normalised to the picture that was shown.
        description: what the model sees there; None where it says nothing.
    """

    text: str
    box: Box
    description: str | None


def question_json(text: PanelText) -> dict[str, Any]:
    """Return what a model is told of a panel: the input of the prompt's examples."""
    return {
        "subcaption": text.subcaption,
        "sentences": list(text.mentions),
        "abbreviations": {item.short: item.long for item in text.abbreviations},
    }


def fitting_objects(answer: NamedObjects, text: PanelText) -> tuple[FoundObject, ...]:
    """Return the objects of an answer, when all of them fit.

    Raises:
        MisfittingAnswer: with the first reason why one does not.
    """
    words = _Words(text)
    return tuple(_fitting(item, words) for item in answer.objects)


class _Words:
    """The texts of a panel, and what they name."""

    def __init__(self, text: PanelText) -> None:
        self.texts = (text.subcaption, *text.mentions)
        self.definitions: Mapping[str, str] = {item.short: item.long for item in text.abbreviations}
        self.ranges = [word_ranges(own) for own in self.texts]
        self.stems = [[stem(own[a:b]) for a, b in found] for own, found in zip(self.texts, self.ranges, strict=True)]
        self.numbers = frozenset(_NUMBER.findall(" ".join(self.texts)))
        found = panel_entities(text.subcaption, text.mentions, self.definitions)
        self.diseases = frozenset(
            name for item in found if item.group == "disease" for name in (item.term, *item.broader)
        )
        self.denied = [
            [(item.start, item.end) for item in found if item.negated and _position(item.mention) == n]
            for n in range(len(self.texts))
        ]
        self.marks = [
            [
                (phrase.mark_start, phrase.mark_end)
                for phrase in region_phrases(own, found_in="subcaption", mention=None)
            ]
            for own in self.texts
        ]

    def places(self, label: str) -> Iterator[tuple[int, int, int]]:
        """Yield (text, start, end) of each place where the words of a label stand one after another in a clause."""
        wanted = [stem(label[a:b]) for a, b in word_ranges(label)]
        for n, stems in enumerate(self.stems):
            for k in range(len(stems) - len(wanted) + 1):
                start, end = self.ranges[n][k][0], self.ranges[n][k + len(wanted) - 1][1]
                if stems[k : k + len(wanted)] == wanted and _CLAUSE_ENDS.search(self.texts[n], start, end) is None:
                    yield n, start, end

    def copied(self, description: str) -> str | None:
        """Return the first words of a description that are copied from the text; None where none are."""
        ranges = word_ranges(description)
        said = [stem(description[a:b]) for a, b in ranges]
        long = MOST_COPIED + 1
        known = {tuple(stems[k : k + long]) for stems in self.stems for k in range(len(stems) - long + 1)}
        for k in range(len(said) - long + 1):
            if tuple(said[k : k + long]) in known:
                return description[ranges[k][0] : ranges[k + long - 1][1]]
        return None


_CLAUSE_ENDS: Final = re.compile(r"[.;:!?]\s")


def _overlaps(start: int, end: int, ranges: Iterable[tuple[int, int]]) -> bool:
    return any(a < end and start < b for a, b in ranges)


def _position(mention: int | None) -> int:
    return 0 if mention is None else mention + 1


def _fitting(item: NamedObject, words: _Words) -> FoundObject:
    box = from_thousandths(item.bbox_2d)
    if item.bbox_2d[0] >= item.bbox_2d[2] or item.bbox_2d[1] >= item.bbox_2d[3]:
        raise MisfittingAnswer(f"bbox_2d {item.bbox_2d} of {_quoted(item.label)} is not [left, top, right, bottom].")
    return FoundObject(_named(item.label, words), box, _fitting_description(item, words))


def _named(label: str, words: _Words) -> str:
    """Return the words of the text that a label repeats: the first that are not denied."""
    if not terms_of(label):
        raise MisfittingAnswer(f"the label {_quoted(label)} names no object.")
    places = list(words.places(label))
    if not places:
        raise MisfittingAnswer(
            f"the label {_quoted(label)} does not stand in the subcaption or the sentences: copy words that do."
        )
    places = [(n, start, end) for n, start, end in places if not _overlaps(start, end, words.marks[n])]
    if not places:
        raise MisfittingAnswer(f"the label {_quoted(label)} names a mark: name what the mark shows.")
    for n, start, end in places:
        if not _overlaps(start, end, words.denied[n]):
            return words.texts[n][start:end]
    raise MisfittingAnswer(f"the text says that there is no {_quoted(label)}.")


_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*")
_NO_SENTENCE: Final = re.compile(
    r"[<>{}\[\]`|\\]|://|www\.|@|[^\x20-\x7e\u00a0-\u024f\u0370-\u03ff\u2010-\u2027\u2030-\u205e]"
)
"""What no sentence about a picture needs: markup, addresses, control characters and those that turn text round."""


def _fitting_description(item: NamedObject, words: _Words) -> str | None:
    text = " ".join(item.description.split())
    said = f"the description of {_quoted(item.label)}"
    if len(text.split()) > MOST_WORDS:
        raise MisfittingAnswer(f"{said} has more than {MOST_WORDS} words.")
    wrong = _NO_SENTENCE.search(text)
    if wrong is not None:
        raise MisfittingAnswer(f"{said} is no plain sentence: it has {wrong.group()!r}.")
    unknown = sorted(set(_NUMBER.findall(text)) - words.numbers)
    if unknown:
        raise MisfittingAnswer(f"{said} has the number {unknown[0]}, which the text does not have.")
    copied = words.copied(text)
    if copied is not None:
        raise MisfittingAnswer(f"{said} copies the text ({_quoted(copied)}): say what is seen, in words of your own.")
    for entity in panel_entities(text, (), words.definitions):
        if entity.group == "disease" and entity.term not in words.diseases:
            raise MisfittingAnswer(f"{said} names {_quoted(entity.text)}, which the text does not: say what is seen.")
    return text or None


def _quoted(text: str) -> str:
    """Return a text of the model's for a reason, short and on one line."""
    return repr(text if len(text) <= 60 else text[:60] + "…")
