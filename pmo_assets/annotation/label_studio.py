"""Label Studio's format: exports, who answered, boxes in per cent, text in UTF-16 units, what people wrote at them.

Add here: reading of an export, and conversion of regions to and from our units, with every check of input from
outside. Keep out: the meaning of a region.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from pmo_assets.annotation.interfaces import BOXES, CAPTION_TEXT, DESCRIBES, PARTS, PICTURE, TIP, TIPS
from pmo_assets.records.geometry import UNIT_BOX, Box, Point, area, clip
from pmo_assets.records.stores import SystemicError

OUTSIDE: Final = 0.01
"""A box may stick out of its picture by this fraction: browsers round. What sticks out further was not drawn there."""

MAX_REGIONS: Final = 2000
"""A figure with more regions was not drawn by people."""

POINT_SIZE: Final = 0.3
"""Size in which a point is drawn, per cent of the picture's width."""

LARGEST: Final = 1e9
"""Per cent and places in a text are smaller."""


class ExportUnreadable(SystemicError):
    """A file is no export of Label Studio; the message says what to export."""


class BadRegion(ValueError):
    """An answer holds something that cannot be; the message names it."""


@dataclass(frozen=True, slots=True)
class DrawnBox:
    """A rectangle: normalised box, its label, what was chosen and written at it (by the part's name)."""

    id: str
    box: Box
    label: str
    choices: Mapping[str, str] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DrawnPoint:
    """A point: normalised (x, y)."""

    id: str
    place: Point


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A stretch [start, end) of the caption, in characters, and its label."""

    id: str
    start: int
    end: int
    label: str


@dataclass(frozen=True, slots=True)
class Answered:
    """Answer of a person to a task.

    Attributes:
        boxes: rectangles.
        parts: stretches of the caption.
        links: (from, to) ids of related regions.
        choices: chosen for the task as a whole, by the part's name.
        points: single points.
        texts: written about the task as a whole, by the part's name.
    """

    boxes: tuple[DrawnBox, ...]
    parts: tuple[MarkedText, ...]
    links: tuple[tuple[str, str], ...]
    choices: Mapping[str, str]
    points: tuple[DrawnPoint, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)


def exported_tasks(content: bytes) -> list[Any]:
    """Return the tasks of an export.

    Raises:
        ExportUnreadable: if it is none.
    """
    try:
        tasks = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ExportUnreadable(
            f"this is no JSON ({error}): export the project as JSON, not as JSON-MIN or CSV"
        ) from error
    if not isinstance(tasks, list):
        raise ExportUnreadable("this is no list of tasks: export the project as JSON")
    return tasks


def who(annotation: Mapping[str, Any]) -> str:
    """Return the account of who answered; "unknown" where the export does not say."""
    person = annotation.get("completed_by")
    if isinstance(person, dict):
        person = person.get("email") or person.get("id")
    return "unknown" if person is None else str(person)[:200].encode("utf-8", "replace").decode()


def when(annotation: Mapping[str, Any]) -> str | None:
    """Return when an answer was given, in ISO 8601; None where the export does not say.

    Raises:
        BadRegion: if what it says is no time.
    """
    said = annotation.get("updated_at") or annotation.get("created_at")
    try:
        return datetime.fromisoformat(str(said)).isoformat() if said else None
    except ValueError:
        raise BadRegion(f"its time cannot be read: {str(said)[:40]!r}") from None


def rectangle(region_id: str, box: Box, label: str, width: int, height: int) -> dict[str, Any]:
    """Return a predicted rectangle.

    Args:
        region_id: unique in the task.
        box: normalised.
        label: its label.
        width: of the picture, pixels.
        height: of the picture, pixels.
    """
    return _region(region_id, box, BOXES, "rectanglelabels", "rectanglelabels", label, width, height)


def _region(
    region_id: str, box: Box, name: str, kind: str, key: str, said: str, width: int, height: int
) -> dict[str, Any]:
    left, top, right, bottom = clip(box, UNIT_BOX)
    sides = {"x": left, "y": top, "width": right - left, "height": bottom - top}
    per_cent = {side: round(value * 100, 6) for side, value in sides.items()}
    return {
        "id": region_id,
        "to_name": PICTURE,
        "original_width": width,
        "original_height": height,
        "image_rotation": 0,
        "from_name": name,
        "type": kind,
        "value": {**per_cent, "rotation": 0, key: [said]},
    }


def written(region_id: str, box: Box, name: str, text: str, width: int, height: int) -> dict[str, Any]:
    """Return a prediction of the text that is written at a rectangle; arguments as for `rectangle`."""
    return _region(region_id, box, name, "textarea", "text", text, width, height)


def chosen(region_id: str, box: Box, name: str, choice: str, width: int, height: int) -> dict[str, Any]:
    """Return a prediction of the choice at a rectangle; arguments as for `rectangle`."""
    return _region(region_id, box, name, "choices", "choices", choice, width, height)


def point(region_id: str, place: Point, width: int, height: int) -> dict[str, Any]:
    """Return a predicted point; `place` is normalised, the other arguments are as for `rectangle`."""
    x, y = (round(min(max(value, 0.0), 1.0) * 100, 6) for value in place)
    return {
        "id": region_id,
        "to_name": PICTURE,
        "original_width": width,
        "original_height": height,
        "image_rotation": 0,
        "from_name": TIPS,
        "type": "keypointlabels",
        "value": {"x": x, "y": y, "width": POINT_SIZE, "keypointlabels": [TIP]},
    }


def part(region_id: str, caption: str, start: int, end: int, label: str) -> dict[str, Any]:
    """Return a predicted stretch of the caption."""
    return {
        "id": region_id,
        "from_name": PARTS,
        "to_name": CAPTION_TEXT,
        "type": "labels",
        "value": {
            "start": utf16_units(caption, start),
            "end": utf16_units(caption, end),
            "text": caption[start:end],
            "labels": [label],
        },
    }


def link(from_id: str, to_id: str, name: str = DESCRIBES) -> dict[str, Any]:
    """Return a predicted relation."""
    return {"type": "relation", "from_id": from_id, "to_id": to_id, "direction": "right", "labels": [name]}


def utf16_units(text: str, place: int) -> int:
    """Return a place in a text as browsers count it: signs beyond U+FFFF are two units."""
    return place + sum(ord(sign) > 0xFFFF for sign in text[:place])


def characters(text: str, units: int) -> int:
    """Undo `utf16_units`; a place inside a sign is the one before it."""
    place = 0
    for sign in text:
        units -= 2 if ord(sign) > 0xFFFF else 1
        if units < 0:
            break
        place += 1
    return place


def _number(value: Mapping[str, Any], key: str, of: str = "box") -> float:
    number = value.get(key)
    if isinstance(number, bool) or not isinstance(number, int | float) or not abs(number) < LARGEST:
        raise BadRegion(f"{key} of a {of} is no number: {str(number)[:40]!r}")
    return float(number)


def box_of(value: Mapping[str, Any]) -> Box:
    """Return the normalised box of a region's value.

    Raises:
        BadRegion: if it is none, is turned, has no area or lies outside the picture.
    """
    x, y, wide, tall = (_number(value, key) / 100 for key in ("x", "y", "width", "height"))
    if value.get("rotation") and abs(_number(value, "rotation")) > 0.01:
        raise BadRegion("a box is turned; boxes are upright")
    box = (min(x, x + wide), min(y, y + tall), max(x, x + wide), max(y, y + tall))
    if min(box) < -OUTSIDE or max(box) > 1 + OUTSIDE:
        raise BadRegion(f"a box lies outside the picture: {[round(edge, 3) for edge in box]}")
    inside = clip(box, UNIT_BOX)
    if area(inside) <= 0:
        raise BadRegion(f"a box has no area: {[round(edge, 3) for edge in box]}")
    return inside


def point_of(value: Mapping[str, Any]) -> Point:
    """Return the normalised place of a point's value.

    Raises:
        BadRegion: if it is none, or lies outside the picture.
    """
    x, y = (_number(value, key, "point") / 100 for key in ("x", "y"))
    if min(x, y) < -OUTSIDE or max(x, y) > 1 + OUTSIDE:
        raise BadRegion(f"a point lies outside the picture: {[round(x, 3), round(y, 3)]}")
    return min(max(x, 0.0), 1.0), min(max(y, 0.0), 1.0)


def _one_label(value: Mapping[str, Any], key: str, allowed: Iterable[str]) -> str:
    names = value.get(key)
    if not isinstance(names, list) or len(names) != 1 or not isinstance(names[0], str):
        raise BadRegion(f"a region has not exactly one label: {str(names)[:60]}")
    if names[0] not in allowed:
        raise BadRegion(f"unknown label {names[0][:60]!r}")
    return names[0]


def _written(value: Mapping[str, Any]) -> str:
    text = value.get("text")
    lines = text if isinstance(text, list) else [text]
    if not all(isinstance(line, str) for line in lines):
        raise BadRegion("what was written is no text")
    return "\n".join(str(line) for line in lines).strip()


def _marked(region_id: str, value: Mapping[str, Any], caption: str, labels: Iterable[str]) -> MarkedText:
    label = _one_label(value, "labels", labels)
    start, end = (characters(caption, int(_number(value, key))) for key in ("start", "end"))
    if not 0 <= start < end <= len(caption):
        raise BadRegion(f"marked text [{start}, {end}) is not in the caption")
    said = value.get("text")
    if isinstance(said, str) and "".join(said.split()) != "".join(caption[start:end].split()):
        raise BadRegion(f"marked text is {caption[start:end][:40]!r} here and was {said[:40]!r} there")
    return MarkedText(region_id, start, end, label)


@dataclass
class _Found:
    """Parts of an answer read so far; Label Studio gives the parts of a region as entries with the same id."""

    caption: str
    labels: frozenset[str]
    part_labels: frozenset[str]
    drawn: dict[str, tuple[Box, str]] = field(default_factory=dict)
    marked: list[MarkedText] = field(default_factory=list)
    links: list[tuple[str, str]] = field(default_factory=list)
    choices: dict[str, dict[str, str]] = field(default_factory=dict)
    texts: dict[str, dict[str, str]] = field(default_factory=dict)
    point_labels: frozenset[str] = frozenset()
    points: dict[str, DrawnPoint] = field(default_factory=dict)

    def add(self, entry: object) -> None:
        if not isinstance(entry, dict):
            raise BadRegion("a region is no object")
        kind = entry.get("type")
        if kind == "relation":
            self.links.append(_ends(entry))
            return
        value = entry.get("value")
        name, region_id = str(entry.get("from_name", "")), str(entry.get("id", ""))
        if not isinstance(value, dict):
            raise BadRegion("a region has no value")
        if kind == "rectanglelabels":
            if region_id in self.drawn:
                raise BadRegion(f"two boxes have the id {region_id[:40]!r}")
            self.drawn[region_id] = box_of(value), _one_label(value, "rectanglelabels", self.labels)
        elif kind == "keypointlabels":
            _one_label(value, "keypointlabels", self.point_labels)
            if region_id in self.points:
                raise BadRegion(f"two points have the id {region_id[:40]!r}")
            self.points[region_id] = DrawnPoint(region_id, point_of(value))
        elif kind == "labels":
            self.marked.append(_marked(region_id, value, self.caption, self.part_labels))
        elif kind == "textarea":
            self.texts.setdefault(region_id, {})[name] = _written(value)
        elif kind == "choices":
            self.choices.setdefault(region_id, {})[name] = _chosen(value)
        else:
            raise BadRegion(f"unknown kind of region {str(kind)[:40]!r}")

    def answered(self) -> Answered:
        boxes = tuple(
            DrawnBox(key, box, label, self.choices.get(key, {}), self.texts.get(key, {}))
            for key, (box, label) in self.drawn.items()
        )
        known = {*self.drawn, *self.points, *(item.id for item in self.marked)}
        if not known.issuperset(end for ends in self.links for end in ends):
            raise BadRegion("a relation points at a region that does not exist")
        chosen, texts = (
            {name: said for key, own in parts.items() if key not in known for name, said in own.items()}
            for parts in (self.choices, self.texts)
        )
        return Answered(boxes, tuple(self.marked), tuple(self.links), chosen, tuple(self.points.values()), texts)


def answered(
    result: object, *, labels: Iterable[str], caption: str, parts: Iterable[str], points: Iterable[str] = ()
) -> Answered:
    """Return the answer of a person to a task, checked.

    Args:
        result: `result` of an annotation in Label Studio's export.
        labels: that rectangles may have.
        caption: text whose parts were marked.
        parts: labels that these may have.
        points: labels that points may have.

    Raises:
        BadRegion: if anything in it cannot be.
    """
    if not isinstance(result, list) or len(result) > MAX_REGIONS:
        raise BadRegion("the answer is no list of regions, or one of thousands")
    found = _Found(caption, frozenset(labels), frozenset(parts), point_labels=frozenset(points))
    for entry in result:
        found.add(entry)
    return found.answered()


def _ends(entry: Mapping[str, Any]) -> tuple[str, str]:
    ends = entry.get("from_id"), entry.get("to_id")
    if not all(isinstance(end, str) for end in ends):
        raise BadRegion("a relation without two ends")
    return str(ends[0]), str(ends[1])


def _chosen(value: Mapping[str, Any]) -> str:
    names = value.get("choices")
    if not isinstance(names, list) or len(names) != 1 or not isinstance(names[0], str):
        raise BadRegion(f"not exactly one choice: {str(names)[:60]}")
    return names[0]


def linked(answer: Answered, box: DrawnBox) -> Sequence[MarkedText]:
    """Return the stretches of text that are related to a box, in the text's order, whichever way relations point."""
    ends = {a for a, b in answer.links if b == box.id} | {b for a, b in answer.links if a == box.id}
    return sorted((item for item in answer.parts if item.id in ends), key=lambda item: (item.start, item.end))
