"""Links of phrases to marks: which of the marks on a panel's images a phrase means.

Add here: by what a phrase and a mark fit, and when a link is not sure. Keep out: the phrases (`phrases`), the marks,
and the regions that both make.

A mark fits by its kind, colour and label. What a picture does not tell ("thick", "dashed") decides nothing: two phrases
that differ in that alone are both undecided. A phrase that fits better takes its marks from one that fits worse.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from pmo_assets.pipeline.captions.identifier_lists import parsed_list
from pmo_assets.pipeline.captions.tokens import tokenized
from pmo_assets.pipeline.regions.mark_names import identifiers
from pmo_assets.records.identifiers import normalised_identifier
from pmo_assets.records.regions import Mark, MarkColour, MarkKind, NamedMark, RegionPhrase

LEAST_PROBABILITY: Final = 0.5
"""Marks that are less likely than this are not linked: more often than not they are none."""

ELSEWHERE: Final = "the text means marks in"
"""Beginning of the reason why a phrase about other panels is linked to none of this one's marks."""

_ALIKE: Final[Mapping[NamedMark, frozenset[MarkKind]]] = {
    "arrow": frozenset({"arrowhead"}),
    "arrowhead": frozenset({"arrow"}),
    "circle": frozenset({"line", "other"}),
    "box": frozenset({"circle"}),
    "asterisk": frozenset({"other"}),
    "line": frozenset({"circle"}),
}
"""Kinds that a phrase may mean beside its own: authors call arrowheads arrows, and an outline is traced with a line."""

_NEAR: Final[frozenset[frozenset[MarkColour]]] = frozenset(
    frozenset(pair)
    for pair in (
        ("white", "grey"), ("black", "grey"), ("yellow", "orange"), ("orange", "red"), ("orange", "brown"),
        ("red", "brown"), ("red", "pink"), ("pink", "purple"), ("purple", "blue"), ("blue", "cyan"), ("cyan", "green"),
        ("yellow", "green"),
    )
)  # fmt: skip
"""Colours that one author names like another: neighbours on the circle of hues, and grey beside white and black."""

_STAR: Final = str.maketrans(dict.fromkeys("∗⁎＊✱⋆", "*"))

_Fit = tuple[int, int]
"""How badly a mark fits a phrase by kind and colour: 0 where it is the one named, 1 where it is near or none is named.
Of "hollow arrow" and "white arrow" the second one has the white marks."""


_ARROWS: Final = frozenset({"arrow", "arrowhead"})
_UNSEEN_STYLES: Final = frozenset({"open", "filled", "double", "curved"})
"""Styles that tell one mark from another and that marks do not state."""


def linked_phrases(
    phrases: Sequence[RegionPhrase],
    marks: Sequence[Mark],
    *,
    identifier: str | None = None,
    images: Sequence[int] | None = None,
    least_probability: float = LEAST_PROBABILITY,
) -> tuple[RegionPhrase, ...]:
    """Return the phrases with the marks that they mean, or with the reason why that is not sure.

    A plural means all marks that fit it, a singular one, or one on each of several images. Where several fit a
    singular, all are given and `undecided` says so; the same where phrases of one text mean different things and fit
    the same marks.

    Args:
        phrases: of a panel's texts.
        marks: of the panel's images; positions among them are what `RegionPhrase.marks` holds.
        identifier: of the panel, for "arrow in B"; None for a panel without a name.
        images: for each mark the position of the image that it is on; None: all are on one.
        least_probability: of marks that are linked.
    """
    likely = [index for index, mark in enumerate(marks) if mark.probability >= least_probability]
    fits = [
        {}
        if _elsewhere(phrase, identifier)
        else {k: fit for k in likely if (fit := _fit(phrase, marks[k])) is not None}
        for phrase in phrases
    ]
    by_text: dict[tuple[str, int | None], list[int]] = {}
    for number, phrase in enumerate(phrases):
        by_text.setdefault((phrase.found_in, phrase.mention), []).append(number)
    linked = list(phrases)
    for numbers in by_text.values():
        best = _best(numbers, phrases, fits)
        rivals = _rivals(numbers, phrases, best)
        for number in numbers:
            phrase, chosen = phrases[number], best[number]
            labelled, reason = _by_label(phrase, chosen, marks)
            reason = _elsewhere(phrase, identifier) or _unseen(phrase, chosen, bool(likely)) or reason
            if reason is None and not _labels(phrase) and number in rivals:
                reason = "the text names these marks for several things"
            if reason is None and phrase.style in _UNSEEN_STYLES:
                reason = f"whether a mark is {phrase.style} is not seen"
            is_repeated = images is not None and len({images[mark] for mark in labelled}) == len(labelled)
            if reason is None and not phrase.is_plural and len(labelled) > 1 and not is_repeated:
                reason = f"{len(labelled)} marks fit, and the text speaks of one"
            linked[number] = replace(phrase, marks=tuple(labelled), undecided=reason)
    return tuple(linked)


def _fit(phrase: RegionPhrase, mark: Mark) -> _Fit | None:
    """How badly a mark fits a phrase by kind and colour; None where it does not."""
    if phrase.kind in ("any", mark.kind) or _is_labelled_so(phrase, mark):
        kind = 0
    elif mark.kind in _ALIKE.get(phrase.kind, frozenset()):
        kind = 1
    else:
        return None
    if phrase.colour is not None and mark.colour == phrase.colour:
        return kind, 0
    if phrase.colour is None or mark.colour is None or frozenset((mark.colour, phrase.colour)) in _NEAR:
        return kind, 1
    return None


def _is_labelled_so(phrase: RegionPhrase, mark: Mark) -> bool:
    """Say whether a phrase names a sign, and a mark has this sign for its label: an arrow with a star at its tail."""
    return (
        phrase.kind == "asterisk" and mark.label is not None and _compared(mark.label) == _compared(phrase.label or "*")
    )


def _best(
    numbers: Sequence[int], phrases: Sequence[RegionPhrase], fits: Sequence[Mapping[int, _Fit]]
) -> dict[int, list[int]]:
    """The marks that fit each phrase of a text best, without those that fit another phrase of it better.

    "Arrows" are arrowheads, too, where no phrase names these: not all of a group are seen as what they are.
    """
    least: dict[int, _Fit] = {}
    for number in numbers:
        for mark, fit in fits[number].items():
            least[mark] = min(least.get(mark, fit), fit)
    best: dict[int, list[int]] = {}
    for number in numbers:
        own = {mark: fit for mark, fit in fits[number].items() if fit == least[mark]}
        lowest = min(own.values(), default=(0, 0))
        is_alike = phrases[number].is_plural and phrases[number].kind in _ARROWS
        kinds = {0, 1} if is_alike else {lowest[0]}
        best[number] = sorted(mark for mark, fit in own.items() if fit[0] in kinds and fit[1] == lowest[1])
    return best


def _rivals(numbers: Sequence[int], phrases: Sequence[RegionPhrase], best: Mapping[int, Sequence[int]]) -> set[int]:
    """The phrases that share marks with another one of the text that says something else of them."""
    targets: dict[int, set[tuple[int, int]]] = {}
    for number in numbers:
        phrase = phrases[number]
        if phrase.target_start < phrase.target_end:
            for mark in best[number]:
                targets.setdefault(mark, set()).add((phrase.target_start, phrase.target_end))
    return {number for number in numbers if any(len(targets.get(mark, ())) > 1 for mark in best[number])}


def _labels(phrase: RegionPhrase) -> frozenset[str]:
    """The labels that a phrase names, as they are compared: 1, 2, 3 of "arrows 1–3"; empty without any."""
    if phrase.label is None:
        return frozenset()
    tokens = tokenized(phrase.label)
    items, end = parsed_list(tokens, 0, len(tokens.texts))
    named = identifiers(items) if items and end == len(tokens.texts) else (phrase.label,)
    return frozenset(map(_compared, named))


def _compared(label: str) -> str:
    return label.strip(" .:()[]").translate(_STAR).casefold()


def _by_label(phrase: RegionPhrase, chosen: Sequence[int], marks: Sequence[Mark]) -> tuple[Sequence[int], str | None]:
    """The marks that bear the phrase's label, and why that is not sure."""
    named = _labels(phrase)
    if not named:
        return chosen, None
    bearing = [index for index in chosen if _compared(marks[index].label or "") in named]
    if bearing:
        return bearing, None
    bare = [index for index in chosen if marks[index].label is None]
    return bare, f"no mark with the label {phrase.label!r} was seen" if chosen else None


def _elsewhere(phrase: RegionPhrase, identifier: str | None) -> str | None:
    """Why a phrase does not speak of this panel's marks; None if it may."""
    named = {normalised_identifier(panel) for panel in phrase.panels}
    if not named or identifier is None or normalised_identifier(identifier) in named:
        return None
    return f"{ELSEWHERE} {', '.join(phrase.panels)}"


def _unseen(phrase: RegionPhrase, chosen: Sequence[int], has_marks: bool) -> str | None:
    """Why no mark fits a phrase; None if one does."""
    if chosen:
        return None
    if not has_marks:
        return "no mark was seen"
    named = "mark" if phrase.kind in ("any", "other") else phrase.kind
    words = f"{phrase.colour} {named}" if phrase.colour else named
    return f"no {words} was seen that is not another phrase's"
