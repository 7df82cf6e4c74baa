"""A caption split by a language model, in the paper's two steps: its identifiers, then one subcaption for each.

The model's words never reach a table: each subcaption is aligned with the caption, and its text is what the caption
says there. An answer that does not fit the caption is sent back with the reason, a few times.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from pmo_assets.pipeline.captions.alignment import aligned
from pmo_assets.pipeline.captions.segments import join_segments
from pmo_assets.pipeline.captions.series import ROMAN
from pmo_assets.pipeline.captions.tokens import DASHES, tokenized
from pmo_assets.pipeline.prompting.asking import REASKS, MisfittingAnswer, ask_until_fitting
from pmo_assets.pipeline.prompting.prompts import Prompt, load_prompt
from pmo_assets.records.chat import ChatModel, ChatRequest, ChatUsage, Message, Thinking
from pmo_assets.records.rejections import ArticleError
from pmo_assets.records.subcaptions import CaptionSplit, Subcaption

IDENTIFIERS_TASK: Final = "panel_identifiers"
SUBCAPTIONS_TASK: Final = "subcaptions"
TASKS: Final = (IDENTIFIERS_TASK, SUBCAPTIONS_TASK)

METHOD: Final = "language model"

MAX_CAPTION_CHARACTERS: Final = 20_000
"""Longer captions are not asked; the longest in PMC have about 6,000 characters."""

_MAX_IDENTIFIERS: Final = 60
_MAX_IDENTIFIER_LENGTH: Final = 32
_MAX_RANGE: Final = 30
_RANGE_WORDS: Final = frozenset({"to", "through", "thru"})

# What a fitting answer looks like; an answer beyond these bounds is sent back with the reason.
_WORDS_PER_FOREIGN: Final = 10
"""One word in so many may be the model's own ("shown" for "seen"); one, too, of `_WORDS_FOR_ONE` words and more."""
_WORDS_FOR_ONE: Final = 4
_FREE_SEGMENTS: Final = 2
_WORDS_PER_SEGMENT: Final = 3
"""A subcaption has `_FREE_SEGMENTS` ranges of the caption and one more for so many words: scattered words are none."""
_LONGER: Final = (2, 100)
"""Times the caption's characters, plus characters, that a subcaption may have before it is looked at."""
_QUOTED_WORDS: Final = 8
"""Foreign words that the model is told at most."""

# How many tokens an answer may take (`_longest_answer`).
_ANSWER_FRAME: Final = 256
_PANEL_FRAME: Final = 32
_CHARACTERS_PER_TOKEN: Final = 2

# How sure an answer is, 0..1. The paper's model reaches a mean BLEU of 0.913 where its identifiers are right; a reading
# that a second source confirms is surer than one that stands alone. Not calibrated: that takes annotated answers.
_CONFIRMED: Final = 0.92
_UNCONFIRMED: Final = 0.8
_PER_REASK: Final = 0.95


class CaptionTooLong(ArticleError):
    """The caption is longer than those that a model is asked to read."""


class PanelIdentifiers(BaseModel):
    """Response of the first step: the panels that the caption names, in order; empty for a single panel."""

    model_config = ConfigDict(extra="forbid")

    identifiers: list[Annotated[str, Field(max_length=_MAX_IDENTIFIER_LENGTH)]] = Field(max_length=_MAX_IDENTIFIERS)


class PanelSubcaption(BaseModel):
    """What the caption says about one panel."""

    model_config = ConfigDict(extra="forbid")

    identifier: Annotated[str, Field(max_length=_MAX_IDENTIFIER_LENGTH)]
    subcaption: str


class PanelSubcaptions(BaseModel):
    """Response of the second step: one subcaption per identifier that was given."""

    model_config = ConfigDict(extra="forbid")

    subcaptions: list[PanelSubcaption] = Field(max_length=_MAX_IDENTIFIERS)


RESPONSES: Final[Mapping[str, type[BaseModel]]] = {
    model.__name__: model for model in (PanelIdentifiers, PanelSubcaptions)
}
"""Response models by the name that `task.toml` gives."""


@dataclass(frozen=True)
class CaptionReader:
    """A language model with its prompts, ready to split captions.

    Attributes:
        model: who answers.
        identifiers_prompt: of the first step.
        subcaptions_prompt: of the second step.
        thinking: a hybrid model reasons before it answers.
        reasks: most times that an answer that does not fit is sent back.
    """

    model: ChatModel
    identifiers_prompt: Prompt = field(default_factory=lambda: load_prompt(IDENTIFIERS_TASK))
    subcaptions_prompt: Prompt = field(default_factory=lambda: load_prompt(SUBCAPTIONS_TASK))
    thinking: Thinking = "off"
    reasks: int = REASKS

    @property
    def prompt_version(self) -> str:
        """Versions and hashes of both prompts, as rows keep them."""
        return f"{self.identifiers_prompt.label}, {self.subcaptions_prompt.label}"


@dataclass(frozen=True, slots=True)
class Reading:
    """A model's reading of a caption.

    Attributes:
        split: the answer; None if there is none.
        error: the reason why there is none.
        usage: requests, tokens and seconds that it took.
    """

    split: CaptionSplit | None
    error: ArticleError | None
    usage: ChatUsage


def split_by_model(caption: str, reader: CaptionReader, confirmed: Sequence[Sequence[str]] = ()) -> Reading:
    """Ask a language model for a caption's subcaptions.

    Args:
        caption: the text without its "Figure 3:" label.
        reader: the model and its prompts.
        confirmed: identifiers as other sources see them (the grammar); agreement with one raises the confidence.

    Returns:
        Subcaptions whose `text` equals `join_segments(caption, segments)`, or the error.

    Raises:
        SystemicError: if no request can succeed.
    """
    spent: list[ChatUsage] = []
    try:
        if len(caption) > MAX_CAPTION_CHARACTERS:
            raise CaptionTooLong(f"{len(caption)} characters; at most {MAX_CAPTION_CHARACTERS} are asked")
        split = _split(caption, reader, confirmed, spent)
    except ArticleError as error:
        return Reading(None, error, sum(spent, ChatUsage()))
    return Reading(split, None, sum(spent, ChatUsage()))


def _split(
    caption: str, reader: CaptionReader, confirmed: Sequence[Sequence[str]], spent: list[ChatUsage]
) -> CaptionSplit:
    identifiers, reasks = _fitting(
        reader,
        reader.identifiers_prompt,
        {"caption": caption},
        PanelIdentifiers,
        lambda answer: fitting_identifiers(caption, answer),
        spent,
    )
    whole = Subcaption(None, caption, ((0, len(caption)),))
    subcaptions: tuple[Subcaption, ...] = (whole,)
    if identifiers:
        subcaptions, more = _fitting(
            reader,
            reader.subcaptions_prompt,
            {"caption": caption, "identifiers": list(identifiers)},
            PanelSubcaptions,
            lambda answer: fitting_subcaptions(caption, identifiers, answer),
            spent,
        )
        reasks += more
    named = {identifier.casefold() for identifier in identifiers}
    agreed = any({identifier.casefold() for identifier in others} == named for others in confirmed)
    confidence = (_CONFIRMED if agreed else _UNCONFIRMED) * _PER_REASK**reasks
    reasons = [] if agreed else ["identifiers that only the language model sees"]
    if reasks:
        reasons.append(f"the language model was asked again {reasks} times" if reasks > 1 else "asked again once")
    return CaptionSplit(
        subcaptions, round(confidence, 4), tuple(reasons), METHOD, reader.model.name, reader.prompt_version
    )


_Response = TypeVar("_Response", bound=BaseModel)
_Fitting = TypeVar("_Fitting")


def _fitting(
    reader: CaptionReader,
    prompt: Prompt,
    given: Mapping[str, Any],
    response: type[_Response],
    check: Callable[[_Response], _Fitting],
    spent: list[ChatUsage],
) -> tuple[_Fitting, int]:
    """Ask until the answer fits; return it and how often it was sent back."""
    schema = response.model_json_schema()

    def request(more: Sequence[Message]) -> ChatRequest:
        return prompt.request(given, schema, reader.thinking, more, _longest_answer(given))

    return ask_until_fitting(reader.model, prompt.task, request, response, check, reader.reasks, spent)


def _longest_answer(given: Mapping[str, Any]) -> int:
    """Return how many tokens a fitting answer can have: a model that repeats itself without end is cut off there.

    A token has about four characters of English; half as many here, for names, numbers and the JSON around them.
    """
    panels = len(given.get("identifiers", ())) or 1
    characters = panels * (len(given["caption"]) + _MAX_IDENTIFIER_LENGTH + _PANEL_FRAME)
    return _ANSWER_FRAME + characters // _CHARACTERS_PER_TOKEN


def fitting_identifiers(caption: str, answer: PanelIdentifiers) -> tuple[str, ...]:
    """Return the identifiers without brackets and dots, spelt as in the caption.

    Raises:
        MisfittingAnswer: if one occurs twice or does not stand in the caption, alone or as part of a range.
    """
    written = _written_words(caption)
    folded = {word.casefold() for word in written}
    identifiers: list[str] = []
    for raw in answer.identifiers:
        identifier = _answered_identifier(raw)
        if not identifier:
            raise MisfittingAnswer("an identifier is empty.")
        if identifier not in written and identifier.swapcase() in written and len(identifier) <= 2:
            identifier = identifier.swapcase()
        parts = re.findall(r"[^\W\d_]+|\d+", identifier)
        if not parts or (identifier.casefold() not in folded and not all(part.casefold() in folded for part in parts)):
            raise MisfittingAnswer(f'the caption names no panel "{identifier}".')
        if identifier in identifiers:
            raise MisfittingAnswer(f'the identifier "{identifier}" occurs twice.')
        identifiers.append(identifier)
    return tuple(identifiers)


def _answered_identifier(raw: str) -> str:
    """Drop a model's signs around an identifier, list bullets too; inner spaces ("top  row") become single ones."""
    return " ".join(raw.strip(" \t\n().,:;[]").split())


def _written_words(caption: str) -> set[str]:
    """Return the caption's words, and the identifiers that its ranges name: "a-d" names a, b, c and d."""
    tokens = tokenized(caption)
    written = {text for text in tokens.texts if text[0].isalnum()}
    for index in range(1, len(tokens.texts) - 1):
        if tokens.texts[index] in DASHES or tokens.texts[index].casefold() in _RANGE_WORDS:
            written |= _between(tokens.texts[index - 1], tokens.texts[index + 1])
    return written


def _between(first: str, last: str) -> set[str]:
    """Return the identifiers of a range; empty when it is none."""
    prefix = re.match(r"[^\W\d_]?", first)
    stem = prefix.group() if prefix else ""
    if first[len(stem) :].isdecimal() and last.removeprefix(stem).isdecimal() and max(len(first), len(last)) <= 3:
        low, high = int(first[len(stem) :]), int(last.removeprefix(stem))
        return {f"{stem}{number}" for number in range(low, min(high, low + _MAX_RANGE) + 1)}
    if first.casefold() in ROMAN and last.casefold() in ROMAN and max(len(first), len(last)) > 1:
        numerals = ROMAN[ROMAN.index(first.casefold()) : ROMAN.index(last.casefold()) + 1]
        return {numeral.upper() if first.isupper() else numeral for numeral in numerals}
    if len(first) == len(last) == 1 and first.isalpha() and last.isalpha() and first.isupper() == last.isupper():
        return {chr(code) for code in range(ord(first), min(ord(last), ord(first) + _MAX_RANGE) + 1)}
    return set()


def fitting_subcaptions(caption: str, identifiers: Sequence[str], answer: PanelSubcaptions) -> tuple[Subcaption, ...]:
    """Return the subcaptions in the identifiers' order, each in the caption's own words at its place.

    Raises:
        MisfittingAnswer: if an identifier is missing, invented or answered twice, or a text is not the caption's.
    """
    texts: dict[str, str] = {}
    by_folded = {identifier.casefold(): identifier for identifier in reversed(identifiers)}
    for item in answer.subcaptions:
        raw = _answered_identifier(item.identifier)
        identifier = raw if raw in identifiers else by_folded.get(raw.casefold())
        if identifier is None:
            raise MisfittingAnswer(f'"{raw}" is none of the identifiers {", ".join(identifiers)}.')
        if identifier in texts:
            raise MisfittingAnswer(f'the identifier "{identifier}" is answered twice.')
        texts[identifier] = item.subcaption
    if missing := [identifier for identifier in identifiers if identifier not in texts]:
        raise MisfittingAnswer(f"no subcaption for {', '.join(missing)}.")
    return tuple(_fitting_subcaption(caption, identifier, texts[identifier]) for identifier in identifiers)


def _fitting_subcaption(caption: str, identifier: str, text: str) -> Subcaption:
    if len(text) > _LONGER[0] * len(caption) + _LONGER[1]:
        raise MisfittingAnswer(f'the subcaption of "{identifier}" is longer than the caption.')
    found = aligned(caption, _without_identifier(text, identifier))
    if not found.words:
        raise MisfittingAnswer(f'the subcaption of "{identifier}" is empty.')
    tolerated = max(found.words // _WORDS_PER_FOREIGN, 1 if found.words >= _WORDS_FOR_ONE else 0)
    if len(found.foreign) > tolerated:
        quoted = ", ".join(found.foreign[:_QUOTED_WORDS])
        raise MisfittingAnswer(
            f'the subcaption of "{identifier}" has words that are not in the caption or not in its order: {quoted}.'
        )
    if len(found.segments) > _FREE_SEGMENTS + found.words // _WORDS_PER_SEGMENT:
        raise MisfittingAnswer(f'the subcaption of "{identifier}" is put together from single words of the caption.')
    joined = join_segments(caption, found.segments)
    if not joined:
        raise MisfittingAnswer(f'the subcaption of "{identifier}" is empty.')
    return Subcaption(identifier, joined, found.segments)


def _without_identifier(text: str, identifier: str) -> str:
    """Drop the panel's own identifier where the model left it in front: "(A) Fundus" or "A: Fundus"."""
    escaped = re.escape(identifier)
    return re.sub(rf"\A\s*(?:[(\[]\s*{escaped}\s*[)\]]|{escaped}\s*[).:])\s*", "", text, count=1, flags=re.IGNORECASE)
