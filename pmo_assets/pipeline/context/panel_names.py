"""Panels of a figure by the names that the running text gives them.

Add here: how a printed name becomes an identifier of the figure. Keep out: where names stand in a text
(`articles.references`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from pmo_assets.pipeline.articles.references import PanelName
from pmo_assets.pipeline.captions.series import ROMAN_RANK, Series, expanded
from pmo_assets.records.identifiers import HORIZONTAL_PLACES, MIDDLE_PLACES, VERTICAL_PLACES, normalised_identifier

_SERIES: Final = (Series.UPPER, Series.LOWER, Series.ROMAN, Series.UPPER_ROMAN)
_PLACES: Final = frozenset({*HORIZONTAL_PLACES, *VERTICAL_PLACES, *MIDDLE_PLACES})


@dataclass(frozen=True, slots=True)
class PanelNames:
    """The identifiers of a figure, for looking up names.

    Attributes:
        key: of the figure in the text ("2"); None without a label.
        order: identifiers as the figure has them, in its order.
        by_name: identifiers by what is compared of a name: themselves, the parts of a panel under its letter.
    """

    key: str | None
    order: tuple[str, ...]
    by_name: Mapping[str, tuple[str, ...]]

    def known(self, name: str) -> tuple[str, ...]:
        """Return the identifiers of the panels that a single name stands for; () when the figure has none such.

        "a" is "A"; "A" is all of "A1", "A2"; "a1" is "A" where that is not taken apart; "top row" is "top left" and
        "top right"; a figure's own number may stand before ("2B").
        """
        compared = normalised_identifier(name)
        own = self.by_name.get(compared) or self.by_name.get(f"{(self.key or '').lower()}{compared}")
        if own:
            return own
        if len(compared) > 1 and compared[0].isalpha() and (compared[1:].isdigit() or compared[1:] in ROMAN_RANK):
            return self.by_name.get(compared[0], ())
        places = {word for word in name.lower().split() if word in _PLACES}
        return tuple(item for item in self.order if places and places <= set(item.lower().replace("-", " ").split()))

    def named(self, names: Iterable[PanelName]) -> Iterator[str]:
        """Yield the identifiers that a reference names, ranges written out; a name that fits none as it is printed."""
        for first, last in names:
            for name in self._written_out(first, last) if last else (first,):
                yield from self.known(name) or (name,)

    def _written_out(self, first: str, last: str) -> tuple[str, ...]:
        is_roman = first.lower() in ROMAN_RANK and last.lower() in ROMAN_RANK
        series = reversed(_SERIES) if is_roman and (first.lower() == "i" or self.known("ii")) else iter(_SERIES)
        return next((tuple(found) for one in series if (found := expanded(one, [(first, last)]))), (first, last))


def panel_names(identifiers: Iterable[str | None], key: str | None = None) -> PanelNames:
    """Return a figure's identifiers for looking up names; of two that compare equal the first counts.

    Args:
        identifiers: of its panels, in its order; None for a single panel.
        key: of the figure in the text (`label_key`).
    """
    own: dict[str, str] = {}
    for identifier in identifiers:
        if identifier is not None:
            own.setdefault(normalised_identifier(identifier), identifier)
    by_name: dict[str, tuple[str, ...]] = {name: (identifier,) for name, identifier in own.items() if name}
    for name, identifier in own.items():
        letter, part = name[:1], name[1:]
        if letter.isalpha() and letter not in own and (part.isdigit() or part in ROMAN_RANK):
            by_name[letter] = (*by_name.get(letter, ()), identifier)
    return PanelNames(key, tuple(own.values()), by_name)
