"""Sentences that refer to a figure and its panels in the forms of print, with what they name.

`{…}` of a form are filled for a figure with panels: `w` the word for a figure, `n` its number, `a`, `b`, `c` three
names in their order, `m` the number of another figure. Double brackets are links of the XML, as in `content.runs_of`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from pmo_assets.samples.spec import FigureSpec, NamedInText

_WHOLE: Final = (
    "An overview is given in {w} {n}.",
    "{w} {n} summarises the course of the disease.",
    "In {w} {n} a second look at the margin was possible.",
    "This was seen in all cases ({w} {n}, arrows).",
)
_ONE: Final = (
    "The margin was sharp ({w} {n}{a}).",
    "{w} {n}{a} illustrates the margin in detail.",
    "The margin was sharp ({w} {n}{a}, arrow).",
    "Panel {a} of {w} {n} shows the margin in detail.",
    "The change was obvious ([[fig{n}|{w} {n}]]{a}).",
)
_TWO: Final = (
    "Both margins were sharp ({w} {n}{a} and {b}).",
    "Both margins were sharp ({w} {n}{a},{b}).",
    "Both margins were sharp ({ws} [[fig{n}|{n}{a}]] and [[fig{n}|{n}{b}]]).",
    "Panels {a} and {b} in {w} {n} agree with this.",
)
_RANGE: Final = (
    "The series is given in {w} {n}{a}–{c}.",
    "The series shows it ({ws} {n}{a}–{c}).",
    "The series ended there ({w} {n}, panels {a}–{c}).",
)
_PLACES: Final = ("The margin was sharp ({w} {n}, {place}).", "The {place} panel of {w} {n} shows a sharp margin.")
_OTHER: Final = ("Both were compared ({ws} {n}{a} and {m}).",)
_TRAPS: Final = (
    "A similar margin was drawn in Figure {n} of [3].",
    "Others found the same (see their Figure {n}).",
    "More cases are given in Supplementary Figure 9{n}.",
    "Values of 2 A and 3 B were kept for all recordings.",
)
_FOLLOWS: Final = ("In this image the margin is marked.", "Arrows mark the margin.", "The lesion had a sharp margin.")


@dataclass(frozen=True, slots=True)
class ReferenceSentence:
    """A sentence as markup, and what it names; `named` is None for a sentence that carries on from the one before."""

    markup: str
    named: tuple[NamedInText, ...] | None


def _written(name: str, bracket: bool) -> str:
    return f"({name})" if bracket else name


def reference_sentences(
    figures: Sequence[FigureSpec], index: int, count: int, rng: np.random.Generator
) -> list[ReferenceSentence]:
    """Return sentences that refer to one of an article's figures, its panels and another figure, in random forms.

    Args:
        figures: of the article.
        index: of the figure among them, from 0.
        count: of sentences that refer to it.
        rng: of the choice.
    """
    figure, number = figures[index], index + 1
    names = [panel.identifier for panel in figure.panels if panel.identifier is not None]
    letters = [name for name in names if len(name) == 1]
    other = (index + 1) % len(figures) + 1
    is_short, bracket = "Fig." in figure.label.template, "(" in figure.caption.bracket
    found: list[ReferenceSentence] = []
    for _ in range(count):
        choices = ["whole", *(["place"] if names and not letters else [])]
        choices += ["one", "two"] if len(letters) > 1 else []
        choices += ["range"] if len(letters) > 2 else []
        choices += ["other"] if letters and other != number else []
        kind = str(rng.choice(choices))
        first = int(rng.integers(0, max(1, len(letters) - 2))) if kind == "range" else 0
        own = letters[first : first + 3] if kind == "range" else sorted(map(str, rng.permutation(letters)[:2]))
        place = str(rng.choice(names)) if kind == "place" else ""
        forms = {"whole": _WHOLE, "one": _ONE, "two": _TWO, "range": _RANGE, "place": _PLACES, "other": _OTHER}[kind]
        a, b, c = ([_written(name, bracket) for name in own] + ["", "", ""])[:3]
        words = {"w": "Fig." if is_short else "Figure", "ws": "Figs." if is_short else "Figures"}
        form = str(rng.choice(forms))
        markup = form.format(**words, n=number, m=other, a=a, b=b, c=c, place=place)
        named = {"one": own[:1], "other": own[:1], "two": own[:2], "range": own, "place": [place], "whole": []}[kind]
        said = [NamedInText(number, tuple(named))] + ([NamedInText(other, ())] if kind == "other" else [])
        found.append(ReferenceSentence(markup, tuple(said)))
        if kind != "other" and rng.random() < 0.3:
            found.append(ReferenceSentence(str(rng.choice(_FOLLOWS)), None))
        found.append(ReferenceSentence(str(rng.choice(_TRAPS)).format(n=number), ()))
    return found
