"""Maps of embeddings: points in two dimensions, as a picture, and as a page on which each point shows its picture.

Colour never stands alone: classes also differ in their mark, and a point says its class in words.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from markupsafe import Markup

from pmo_assets.viewing.markup import asset_text, content_hash, number_text, page_templates, plain_text
from pmo_assets.viewing.overlays import data_uri, picture_mime
from pmo_assets.viewing.quality_plots import scatter_plot

WIDTH: Final = 1000
HEIGHT: Final = 720
_BORDER: Final = 14

SHAPES: Final[dict[str, str]] = {
    "circle": "M-4.4,0a4.4,4.4 0 1,0 8.8,0a4.4,4.4 0 1,0 -8.8,0z",
    "square": "M-4,-4h8v8h-8z",
    "triangle": "M0,-5L4.8,3.8H-4.8z",
    "diamond": "M0,-5.4L5.4,0L0,5.4L-5.4,0z",
    "inverted": "M0,5L4.8,-3.8H-4.8z",
    "plus": "M-1.7,-5h3.4v3.3h3.3v3.4h-3.3v3.3h-3.4v-3.3h-3.3v-3.4h3.3z",
    "bar": "M-5.4,-2h10.8v4h-10.8z",
    "pole": "M-2,-5.4h4v10.8h-4z",
}
"""Marks as SVG paths about the origin; repeated when a colour has more classes."""

MARKERS: Final = ("o", "s", "^", "D", "v", "P", "_", "|")
"""The same as matplotlib's."""


@dataclass(frozen=True, slots=True)
class MapPoint:
    """A point.

    Attributes:
        x, y: place, in any unit.
        label: class; "" for none.
        title: name in a few words.
        text: a sentence of it; "" for none.
        credit: whom to name for picture and text.
        picture: small PNG, JPEG or WebP; None where there is none, or the licence withholds it.
    """

    x: float
    y: float
    label: str = ""
    title: str = ""
    text: str = ""
    credit: str = ""
    picture: bytes | None = None


@dataclass(frozen=True, slots=True)
class _Look:
    label: str
    colour: str
    shape: int
    count: int


def _looks(points: Sequence[MapPoint], colour_of: Callable[[str], str]) -> dict[str, _Look]:
    """Return how each class is drawn, the largest first: each with another mark as long as there are marks, and no two
    of one colour with the same until all are used."""
    used: dict[str, list[int]] = {}
    looks = {}
    counts = sorted(Counter(point.label for point in points).items(), key=lambda item: (-item[1], item[0]))
    for number, (label, count) in enumerate(counts):
        own = used.setdefault(colour := colour_of(label), [])
        marks = [(number + step) % len(SHAPES) for step in range(len(SHAPES))]
        shape = next((mark for mark in marks if mark not in own), marks[0])
        own.append(shape)
        looks[label] = _Look(label, colour, shape, count)
    return looks


def map_picture(points: Sequence[MapPoint], colour_of: Callable[[str], str], *, title: str) -> bytes:
    """Return the map as PNG, with a legend of its classes.

    Args:
        points: to draw.
        colour_of: the `#rrggbb` of a class.
        title: heading.
    """
    looks = _looks(points, colour_of)
    parts = [
        (
            f"{look.label or 'none'} ({look.count:,})",
            look.colour,
            MARKERS[look.shape],
            [(point.x, point.y) for point in points if point.label == label],
        )
        for label, look in looks.items()
    ]
    return scatter_plot(parts, title=title)


def map_page(
    title: str,
    points: Sequence[MapPoint],
    colour_of: Callable[[str], str],
    *,
    heading: str,
    lead: str = "",
    facts: Sequence[tuple[str, str]] = (),
) -> str:
    """Return the map as one HTML document that loads nothing.

    Without JavaScript it is a picture; with it, a point shows its picture, and classes can be hidden.

    Args:
        title: heading of the page.
        points: to draw.
        colour_of: the `#rrggbb` of a class.
        heading: what the classes are.
        lead: a sentence below the title.
        facts: (label, value) pairs in the header.
    """
    looks, names, script = _looks(points, colour_of), tuple(SHAPES), asset_text("map.js")
    places = _fitted(points)
    return (
        page_templates()
        .get_template("map.html.j2")
        .render(
            title=title,
            lead=lead,
            facts=facts,
            heading=heading,
            width=WIDTH,
            height=HEIGHT,
            shapes=tuple(SHAPES.items()),
            points=[
                {
                    "x": f"{x:.1f}",
                    "y": f"{y:.1f}",
                    "label": point.label,
                    "colour": looks[point.label].colour,
                    "shape": names[looks[point.label].shape],
                }
                for point, (x, y) in zip(points, places, strict=True)
            ],
            classes=[
                {
                    "label": look.label,
                    "colour": look.colour,
                    "shape": names[look.shape],
                    "count": number_text(look.count),
                }
                for look in looks.values()
            ],
            data=_as_data([_facts(point) for point in points]),
            styles=Markup(asset_text("page.css") + asset_text("map.css")),
            script=Markup(script),
            script_hash=Markup(content_hash(script)),
        )
    )


def _fitted(points: Sequence[MapPoint]) -> list[tuple[float, float]]:
    """Return places in the drawing, both axes in one scale, upwards as in a plot."""
    xs, ys = [point.x for point in points], [point.y for point in points]
    wide, high = max(xs, default=0) - min(xs, default=0), max(ys, default=0) - min(ys, default=0)
    scale = min((WIDTH - 2 * _BORDER) / (wide or 1), (HEIGHT - 2 * _BORDER) / (high or 1))
    middle_x, middle_y = (min(xs, default=0) + wide / 2, min(ys, default=0) + high / 2)
    return [
        (WIDTH / 2 + (x - middle_x) * scale, HEIGHT / 2 - (y - middle_y) * scale) for x, y in zip(xs, ys, strict=True)
    ]


def _facts(point: MapPoint) -> dict[str, str | None]:
    mime = picture_mime(point.picture) if point.picture else None
    return {
        "label": plain_text(point.label or "no class"),
        "title": plain_text(point.title),
        "text": plain_text(point.text),
        "credit": plain_text(point.credit),
        "picture": data_uri(point.picture, mime) if point.picture and mime else None,
    }


def _as_data(value: Any) -> Markup:
    """Return a value as JSON for a script element: no `<` that could end it."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))
