"""The task of a figure's marks and regions, and what people made of it: Label Studio's boxes, tips and relations.

A tip is related to its mark, and a mark to the regions that it shows. Which panel anything belongs to follows from its
place; what was shown stands in the task, so that what nobody touched comes back exactly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

from pmo_assets.annotation.annotations import MAX_LABEL, MAX_WORDS, AnnotatedMark, AnnotatedRegion, PanelRegions
from pmo_assets.annotation.cases import FigureCase
from pmo_assets.annotation.interfaces import (
    COLOUR,
    LABEL_OF,
    MARK_LABELS,
    PHRASES,
    PRINT,
    REGION,
    SHOWS,
    TYPED,
    WORDS,
)
from pmo_assets.annotation.label_studio import (
    Answered,
    BadRegion,
    DrawnBox,
    chosen,
    link,
    point,
    rectangle,
    written,
)
from pmo_assets.annotation.tasks import Region, ShownPicture, figure_about, figure_data, labelled_task
from pmo_assets.pipeline.assembly.membership import assigned_to_panels
from pmo_assets.pipeline.regions.decided import POINTING, verbatim
from pmo_assets.records.geometry import Box, Point, area, as_box, covered_fraction, intersection
from pmo_assets.records.regions import MARK_COLOURS, MarkColour
from pmo_assets.records.reviews import Fingerprint

ROUNDING: Final = 1e-6
"""Difference, of normalised places, that Label Studio's per cent make: what differs by less was not touched."""

MAX_CHOICES: Final = 200
"""Phrases that people can choose among; others are typed."""

_Place = TypeVar("_Place", Box, Point)
_FourNumbers = tuple[FiniteFloat, FiniteFloat, FiniteFloat, FiniteFloat]


class ShownMark(BaseModel):
    """A mark as it was shown: normalised box and tip."""

    model_config = ConfigDict(extra="ignore")
    box: _FourNumbers
    tip: tuple[FiniteFloat, FiniteFloat] | None = None


class PanelShown(BaseModel):
    """A panel as it was shown: box, boxes of its images, marks, boxes of its regions."""

    model_config = ConfigDict(extra="ignore")
    box: _FourNumbers
    identifier: str | None = Field(None, max_length=500)
    images: tuple[_FourNumbers, ...] = ()
    marks: tuple[ShownMark, ...] = ()
    regions: tuple[_FourNumbers, ...] = ()


def regions_task(case: FigureCase, picture: ShownPicture, seen: Fingerprint) -> dict[str, Any]:
    """Return the task of the marks and regions of a figure's panels (`FigureCase.regions`)."""
    size = picture.width, picture.height
    regions: list[Region] = []
    links: list[Region] = []
    shown = case.regions
    phrases = shown.phrases[:MAX_CHOICES] if shown is not None else ()
    panels = shown.panels if shown is not None else ()
    for item in panels:
        of_panel = item.panel.ordinal
        for number, mark in enumerate(item.marks):
            name = f"mark-{of_panel}-{number}"
            regions.append(rectangle(name, mark.box, LABEL_OF[mark.kind], *size))
            if mark.colour is not None:
                regions.append(chosen(name, mark.box, COLOUR, mark.colour, *size))
            if mark.label:
                regions.append(written(name, mark.box, PRINT, mark.label, *size))
            if mark.tip is not None:
                regions.append(point(f"tip-{of_panel}-{number}", mark.tip, *size))
                links.append(link(f"tip-{of_panel}-{number}", name, SHOWS))
        for number, region in enumerate(item.regions):
            name = f"region-{of_panel}-{number}"
            regions.append(rectangle(name, region.box, REGION, *size))
            if region.text in phrases:
                regions.append(chosen(name, region.box, WORDS, region.text, *size))
            elif region.text is not None:
                regions.append(written(name, region.box, TYPED, region.text, *size))
            links += [link(f"mark-{of_panel}-{mark}", name, SHOWS) for mark in region.marks]
    about = {
        **figure_about(case, "regions", seen),
        "panels": [
            {
                "box": list(item.panel.content_box),
                "identifier": item.panel.identifier,
                "images": [list(image.box) for image in item.panel.images],
                "marks": [{"box": list(mark.box), "tip": list(mark.tip) if mark.tip else None} for mark in item.marks],
                "regions": [list(region.box) for region in item.regions],
            }
            for item in panels
        ],
    }
    data = {
        **figure_data(case, picture),
        PHRASES: [{"value": phrase} for phrase in phrases],
        "mentions": "\n\n".join(shown.mentions if shown is not None else ()) or "(nothing)",
    }
    return labelled_task(data, about, [*regions, *links])


def decided_panel_regions(answer: Answered, shown: Sequence[PanelShown], sources: Sequence[str]) -> list[PanelRegions]:
    """Return the marks and regions of each panel that was shown, as a person left them.

    Args:
        answer: of the person.
        shown: the panels of the task.
        sources: texts that the words of a region may come from.

    Raises:
        BadRegion: if anything in it cannot be; the message names it.
    """
    panels = [as_box(panel.box) for panel in shown]
    drawn = [box for box in answer.boxes if box.label in MARK_LABELS]
    tips = _tips(answer, drawn)
    known = [(as_box(mark.box), number) for number, panel in enumerate(shown) for mark in panel.marks]
    places = [_exact(box.box, [other for other, _ in known]) for box in drawn]
    owners = _owners(places, known, panels, "a mark")
    for place, owner in zip(places, owners, strict=True):
        if not any(area(intersection(place, as_box(image))) > 0 for image in shown[owner].images):
            raise BadRegion("a mark lies on no image")
    shown_tips = [mark.tip for panel in shown for mark in panel.marks if mark.tip is not None]
    marks: list[list[AnnotatedMark]] = [[] for _ in shown]
    position: dict[str, tuple[int, int]] = {}
    for box, place, owner in zip(drawn, places, owners, strict=True):
        position[box.id] = owner, len(marks[owner])
        tip = tips.get(box.id)
        marks[owner].append(
            AnnotatedMark(
                kind=MARK_LABELS[box.label],
                colour=_colour(box),
                box=place,
                tip=None if tip is None else _exact(tip, shown_tips),
                label=_label(box),
            )
        )
    regions = _regions(answer, shown, position, sources)
    return [
        PanelRegions(identifier=panel.identifier, box=box, marks=tuple(marks[n]), regions=tuple(regions[n]))
        for n, (panel, box) in enumerate(zip(shown, panels, strict=True))
    ]


def _regions(
    answer: Answered,
    shown: Sequence[PanelShown],
    position: Mapping[str, tuple[int, int]],
    sources: Sequence[str],
) -> list[list[AnnotatedRegion]]:
    """Return the regions of each panel: the one whose marks show it, else the one that it lies in."""
    panels = [as_box(panel.box) for panel in shown]
    drawn = [box for box in answer.boxes if box.label == REGION]
    known = [(as_box(box), number) for number, panel in enumerate(shown) for box in panel.regions]
    places = [_exact(box.box, [other for other, _ in known]) for box in drawn]
    by: list[list[tuple[int, int]]] = []
    for box in drawn:
        ends = {a for a, b in answer.links if b == box.id} | {b for a, b in answer.links if a == box.id}
        by.append(sorted(position[end] for end in ends if end in position))
        if len({owner for owner, _ in by[-1]}) > 1:
            raise BadRegion("a region is shown by marks of two panels")
    alone = [n for n in range(len(drawn)) if not by[n]]
    owner_of = dict(zip(alone, _owners([places[n] for n in alone], known, panels, "a region"), strict=True))
    result: list[list[AnnotatedRegion]] = [[] for _ in shown]
    for n, box in enumerate(drawn):
        owner = by[n][0][0] if by[n] else owner_of[n]
        if area(intersection(places[n], panels[owner])) <= 0:
            raise BadRegion("a region lies outside the panel whose marks show it")
        marks = tuple(mark for _, mark in by[n])
        result[owner].append(AnnotatedRegion(box=places[n], text=_words(box, sources), marks=marks))
    return result


def _exact(place: _Place, shown: Sequence[_Place]) -> _Place:
    """Return a place as it was shown where it is one of those, else as it is."""
    for other in shown:
        if all(abs(a - b) <= ROUNDING for a, b in zip(place, other, strict=True)):
            return other
    return place


def _owners(places: Sequence[Box], known: Sequence[tuple[Box, int]], panels: Sequence[Box], what: str) -> list[int]:
    """Return the panel of each box: that in which it was shown, or the one that it belongs to, or lies in most.

    Raises:
        BadRegion: if a box lies in no panel.
    """
    as_shown = dict(reversed(known))
    result = []
    for place, found in zip(places, assigned_to_panels(places, panels), strict=True):
        owner = as_shown.get(place, found)
        if owner is None:
            covered, least = max(((covered_fraction(place, box), -n) for n, box in enumerate(panels)), default=(0.0, 0))
            if covered <= 0:
                raise BadRegion(f"{what} lies in no panel that was shown")
            owner = -least
        result.append(owner)
    return result


def _tips(answer: Answered, marks: Sequence[DrawnBox]) -> dict[str, Point]:
    """Return the tips by the mark's id: that which each is related to, else the nearest that points and has none.

    Raises:
        BadRegion: if a mark has two tips, or there is none that a tip can be of.
    """
    drawn = {mark.id: mark for mark in marks}
    found: dict[str, Point] = {}
    free = []
    for tip in answer.points:
        ends = {a for a, b in answer.links if b == tip.id} | {b for a, b in answer.links if a == tip.id}
        of = sorted(end for end in ends if end in drawn)
        if len(of) > 1 or (of and of[0] in found):
            raise BadRegion("a tip is of two marks, or a mark has two tips")
        if not of:
            free.append(tip)
        else:
            found[of[0]] = tip.place
    for tip in free:
        pointing = [mark for mark in marks if MARK_LABELS[mark.label] in POINTING and mark.id not in found]
        if not pointing:
            raise BadRegion("a tip belongs to no arrow or arrowhead")
        found[min(pointing, key=lambda mark: _apart(tip.place, mark.box)).id] = tip.place
    # An arrow that became a circle keeps no tip: its kind is what people corrected.
    return {name: place for name, place in found.items() if MARK_LABELS[drawn[name].label] in POINTING}


def _apart(place: Point, box: Box) -> float:
    across = max(box[0] - place[0], place[0] - box[2], 0.0)
    down = max(box[1] - place[1], place[1] - box[3], 0.0)
    return across + down


def _colour(box: DrawnBox) -> MarkColour | None:
    said = box.choices.get(COLOUR)
    if said is None:
        return None
    for colour in MARK_COLOURS:
        if colour == said:
            return colour
    raise BadRegion(f"unknown colour {said[:40]!r}")


def _label(box: DrawnBox) -> str | None:
    said = box.texts.get(PRINT)
    if said is not None and len(said) > MAX_LABEL:
        raise BadRegion(f"the print beside a mark has {len(said)} characters, {MAX_LABEL} are allowed")
    return said or None


def _words(box: DrawnBox, sources: Sequence[str]) -> str | None:
    """Return a region's words as its sources have them: those that a person typed before those that they chose."""
    said = box.texts.get(TYPED) or box.choices.get(WORDS)
    if not said:
        return None
    if len(said) > MAX_WORDS:
        raise BadRegion(f"the words of a region have {len(said)} characters, {MAX_WORDS} are allowed")
    found = verbatim(said, sources)
    if found is None:
        raise BadRegion(f"the words of a region stand neither in the caption nor in the mentions: {said[:60]!r}")
    return found
