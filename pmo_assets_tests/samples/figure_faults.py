"""What can be wrong with a figure's identifiers, or look wrong: missing, misprinted and misleading letters.

Each fault changes a draft so that the truth stays exact: where figure and caption no longer tell which subcaption a
panel has, its evidence says so. Rules of the truth follow the annotation guide.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from pmo_assets.samples.spec import PLOT_KINDS, CaptionEntry, Evidence, ImageSpec
from pmo_assets_tests.samples.figure_drafts import Draft, one_of

Fault = Callable[[np.random.Generator, Draft], None]
_OUTSIDE = ("below", "below_left", "above", "above_centre", "beside")
_PART_NAMES = (("i", "ii", "iii"), ("1", "2", "3"))


def _print(draft: Draft, number: int, text: str, evidence: Evidence | None = None) -> None:
    panel = draft.panels[number]
    draft.panels[number] = replace(panel, printed=text, evidence=evidence or panel.evidence)


def _unknowable(draft: Draft, number: int) -> None:
    """Nothing is printed in the panel and nothing tells which one it is."""
    draft.panels[number] = replace(draft.panels[number], identifier=None, printed="", evidence="none")


def none_printed(rng: np.random.Generator, draft: Draft) -> None:
    """The caption names panels, but nothing is printed.

    One row or column has one order only. In a grid most figures are read in rows, but nothing says that this one is;
    nor does a caption that takes the panels in another order.
    """
    draft.options["identifier_place"] = "none"
    sure = draft.layout == "line" and "lie:caption_order" not in draft.features
    for number in range(len(draft.panels)):
        _print(draft, number, "", "decides" if sure else "conflicts")


def _follows(draft: Draft, order: list[int], missing: set[int]) -> bool:
    """Say whether the printed identifiers stand where they would if panels were read in the order of these places."""
    return all(draft.places[place] == rank for rank, place in enumerate(order) if draft.places[place] not in missing)


def _confirmed(draft: Draft, missing: set[int]) -> bool:
    """Say whether printed identifiers tell in which of the two orders of reading the panels stand."""
    count, columns = len(draft.places), draft.columns
    rows = list(range(count))
    by_column = sorted(rows, key=lambda place: (place % columns, place // columns))
    return sum(_follows(draft, order, missing) for order in (rows, by_column)) == 1


def _some_missing(rng: np.random.Generator, draft: Draft, count: int) -> None:
    missing = {int(number) for number in rng.choice(len(draft.names), size=count, replace=False)}
    named_only = {name for entry in draft.entries for name in entry.identifiers} - set(draft.names)
    for number in missing:
        if named_only:  # one of the names that nobody prints may be meant
            _print(draft, number, "", "conflicts")
        elif count == 1 or draft.layout == "line":
            _print(draft, number, "")
        elif draft.layout == "shuffled":
            _unknowable(draft, number)
        else:
            sure = draft.layout in ("rows", "columns", "several") and _confirmed(draft, missing)
            _print(draft, number, "", "decides" if sure else "conflicts")


def one_not_printed(rng: np.random.Generator, draft: Draft) -> None:
    """One identifier is not printed: it is the one that is left."""
    _some_missing(rng, draft, 1)


def two_not_printed(rng: np.random.Generator, draft: Draft) -> None:
    """Two identifiers are not printed: the printed ones may tell the order of reading."""
    _some_missing(rng, draft, 2)


def extra_letter(rng: np.random.Generator, draft: Draft) -> None:
    """A letter is printed that the caption does not name: there is no text for that panel."""
    last = draft.names[-1]
    entries = [replace(e, identifiers=tuple(n for n in e.identifiers if n != last)) for e in draft.entries]
    draft.entries = [entry for entry in entries if entry.identifiers]
    draft.panels[-1] = replace(draft.panels[-1], evidence="none")


def unnamed_letters(rng: np.random.Generator, draft: Draft) -> None:
    """The caption names none of the printed letters: each panel has the whole caption."""
    text = draft.entries[0].text
    draft.entries = []
    whole = one_of(rng, ["{} and further examples of the same disease.", "{}.", "Examples of imaging findings. {}."])
    draft.caption.update(introduction=whole.format(text), style="single", closing="")


def absent_panels(rng: np.random.Generator, draft: Draft) -> None:
    """The caption names panels that are not in the figure."""
    following = chr(ord(draft.names[-1]) + 1)
    more = [CaptionEntry((following,), "Enlarged view of the same region")]
    if rng.random() < 0.4:
        more.append(CaptionEntry((chr(ord(following) + 1),), "Measurement of the same region"))
    draft.entries += more


def letters_in_pictures(rng: np.random.Generator, draft: Draft) -> None:
    """Letters stand in the pictures that name no panels."""
    lettering = one_of(rng, ["quadrants", "eye", "axis", "arrows"])
    share = 1.0 if rng.random() < 0.6 else 0.5
    for number, panel in enumerate(draft.panels):
        if rng.random() < share or number == 0:
            draft.panels[number] = replace(panel, images=tuple(replace(i, lettering=lettering) for i in panel.images))
    if lettering == "axis":
        _free_corner(draft, "bottom_left")
    draft.features.append(f"lettering:{lettering}")


def _free_corner(draft: Draft, corner: str) -> None:
    """Print identifiers in the upper left corner if they would stand in one that something else takes."""
    if draft.options["identifier_place"] == corner:
        draft.options["identifier_place"] = "inside"


def duplicated_letter(rng: np.random.Generator, draft: Draft) -> None:
    """A letter is printed twice, the second time by mistake: print and order speak against each other."""
    number = int(rng.integers(1, len(draft.names)))
    _print(draft, number, draft.panels[number - 1].identifier or "", "conflicts")
    draft.panels[number - 1] = replace(draft.panels[number - 1], evidence="conflicts")


def gap_in_series(rng: np.random.Generator, draft: Draft) -> None:
    """A letter is left out, in the figure and in the caption."""
    first = int(rng.integers(1, len(draft.names)))
    following = {name: chr(ord(name) + 1) for name in draft.names[first:]}
    draft.names = [following.get(name, name) for name in draft.names]
    draft.panels = [replace(p, identifier=following.get(p.identifier or "", p.identifier)) for p in draft.panels]
    draft.entries = [
        replace(entry, identifiers=tuple(following.get(name, name) for name in entry.identifiers))
        for entry in draft.entries
    ]


def caption_order(rng: np.random.Generator, draft: Draft) -> None:
    """The caption takes the panels in another order than their letters."""
    count = len(draft.entries)
    order = [int(number) for number in rng.permutation(count)]
    if order == sorted(order):
        order.reverse()
    draft.entries = [draft.entries[number] for number in order]


def _make_room(draft: Draft) -> None:
    """Print identifiers outside the pictures, in whose corners the parts' names stand."""
    if draft.options["identifier_place"] not in _OUTSIDE:
        draft.options.update(identifier_place="above", panel_bitmaps=False)
    draft.options["gutter"] = max(draft.options["gutter"], 10.0)


def _in_parts(images: tuple[ImageSpec, ...], names: tuple[str, ...]) -> tuple[ImageSpec, ...]:
    """Return a picture for each name, of the kind of the first."""
    shape = replace(images[0], aspect=min(images[0].aspect, 1.4))
    return tuple(replace(shape, part=name) for name in names)


def named_parts(rng: np.random.Generator, draft: Draft) -> None:
    """Parts of panels have names of their own; only the highest level counts (annotation guide)."""
    _make_room(draft)
    names = one_of(rng, _PART_NAMES)[: int(rng.choice([2, 3], p=[0.7, 0.3]))]
    words = ("before", "during", "after")
    told = ", ".join(f"({name}) {word}" for name, word in zip(names, words, strict=False)) if rng.random() < 0.5 else ""
    for number, panel in enumerate(draft.panels):
        if number and rng.random() < 0.4:
            continue
        draft.panels[number] = replace(panel, images=_in_parts(panel.images, names))
        if told:
            _add_text(draft, panel.identifier, f", {told} treatment")


def _add_text(draft: Draft, identifier: str | None, text: str) -> None:
    """Let the caption say more about a panel, where it says something about that panel alone."""
    draft.entries = [
        replace(entry, text=entry.text + text) if entry.identifiers == (identifier,) else entry
        for entry in draft.entries
    ]


def nested_names(rng: np.random.Generator, draft: Draft) -> None:
    """A1 and A2 are printed, and the caption names A: the panel is both (annotation guide)."""
    draft.options.update(identifier_place="inside", panel_bitmaps=False)
    draft.options["gutter"] = max(draft.options["gutter"], 10.0)
    for number, panel in enumerate(draft.panels):
        names = tuple(f"{panel.identifier}{k + 1}" for k in range(int(rng.choice([2, 3], p=[0.7, 0.3]))))
        draft.panels[number] = replace(panel, images=_in_parts(panel.images, names), printed="")


def inset(rng: np.random.Generator, draft: Draft) -> None:
    """Small pictures lie over the corner of others."""
    _free_corner(draft, "bottom_right")
    for number, panel in enumerate(draft.panels):
        if number == 0 or rng.random() < 0.5:
            first = replace(panel.images[0], inset=panel.images[0].kind)
            draft.panels[number] = replace(panel, images=(first, *panel.images[1:]))


FAULTS: dict[str, Fault] = {
    "none_printed": none_printed,
    "one_not_printed": one_not_printed,
    "two_not_printed": two_not_printed,
    "extra_letter": extra_letter,
    "unnamed_letters": unnamed_letters,
    "absent_panels": absent_panels,
    "letters_in_pictures": letters_in_pictures,
    "duplicated_letter": duplicated_letter,
    "gap_in_series": gap_in_series,
    "caption_order": caption_order,
    "named_parts": named_parts,
    "nested_names": nested_names,
    "inset": inset,
}
"""All faults by name."""
WEIGHTS = {"named_parts": 2.2, "two_not_printed": 1.4, "extra_letter": 1.3, "absent_panels": 1.2, "nested_names": 1.9}
"""How much more often than others faults are tried that few figures can have."""
_OF_PRINT = ("none_printed", "one_not_printed", "two_not_printed", "duplicated_letter", "nested_names")
_OF_CAPTION = ("extra_letter", "unnamed_letters", "absent_panels", "caption_order", "gap_in_series")
_OF_PICTURES = ("letters_in_pictures", "named_parts", "inset")
_GROUPS = (_OF_PRINT, _OF_CAPTION, _OF_PICTURES)
_APART = (
    {"unnamed_letters", *_OF_PRINT},
    {"none_printed", "extra_letter"},
    {"none_printed", "absent_panels"},
    {"duplicated_letter", "gap_in_series"},
    {"duplicated_letter", "extra_letter"},
    {"one_not_printed", "extra_letter"},
    {"two_not_printed", "extra_letter"},
    {"nested_names", *_OF_CAPTION, *_OF_PICTURES},
    {"named_parts", "letters_in_pictures"},
    {"named_parts", "inset"},
    {"letters_in_pictures", "inset"},
    {"unnamed_letters", "named_parts"},
)
"""Faults that would undo each other's truth, or hide each other, do not stand together."""
_LEAST_PANELS = {"two_not_printed": 4, "one_not_printed": 3, "extra_letter": 3, "duplicated_letter": 3}


def fits(fault: str, draft: Draft) -> bool:
    """Say whether a figure can have the fault."""
    if len(draft.names) < _LEAST_PANELS.get(fault, 2):
        return False
    letters = all(len(name) == 1 and name.isalpha() for name in draft.names)
    if fault in ("absent_panels", "gap_in_series"):
        return letters and draft.names[-1].lower() < "w"
    if fault == "nested_names":
        return letters and draft.layout in ("line", "rows", "several", "columns") and not _has_plots(draft)
    if fault == "named_parts":
        # Parts called i and ii in panels called i and ii would have two truths.
        return letters and draft.layout in ("line", "rows", "several") and not _has_plots(draft)
    if fault == "none_printed":
        return draft.layout in ("line", "rows", "columns", "unequal")
    if fault in _OF_PICTURES:
        return not _has_plots(draft)
    return True


def _has_plots(draft: Draft) -> bool:
    return any(image.kind in PLOT_KINDS for panel in draft.panels for image in panel.images)


def go_together(first: str, second: str) -> bool:
    """Say whether a figure can have both faults."""
    if first == second or any(first in group and second in group for group in _GROUPS):
        return False
    return not any({first, second} <= apart for apart in _APART)


def applied(rng: np.random.Generator, draft: Draft, faults: list[str]) -> None:
    """Change the draft; faults of the series first, because others count on the names."""
    order = list(FAULTS)
    first = ("gap_in_series", "absent_panels", "extra_letter", "caption_order")
    for fault in sorted(faults, key=lambda name: (name not in first, order.index(name))):
        FAULTS[fault](rng, draft)
        draft.features.append(f"lie:{fault}")
