"""The colours of every picture and page, in one place, so that a colour means the same thing everywhere.

Three families that are told apart by people with the common colour-vision deficiencies:

* what a box is (panel, identifier, image type): Okabe & Ito, "Color Universal Design" (2008);
* which panel a piece of caption belongs to: Paul Tol's "muted" scheme (SRON/EPS/TN/09-002);
* what kind of thing words name (disease, finding, …): of both, with a line below the words.

Colour never stands alone: boxes also differ in their line (solid, dashed) and carry a written label.
"""

from __future__ import annotations

import zlib
from typing import Final

Rgb = tuple[int, int, int]

KIND_COLOURS: Final[dict[str, str]] = {"panel": "#0072B2", "identifier": "#CC79A7"}
"""Panels are drawn solid and blue, identifiers solid and purple."""

IMAGE_TYPE_COLOURS: Final[dict[str, str]] = {
    "CFP": "#D55E00",
    "OCT": "#009E73",
    "Retinal Imaging": "#E69F00",
    "Other": "#7A7F87",
}
"""The four image types of the paper, drawn dashed."""

UNDECIDED_COLOUR: Final = "#56B4E9"
"""An image whose type could not be decided."""

UNDECIDED: Final = "undecided"
"""The word for an image type or mark status that is None."""

TRUTH_COLOUR: Final = "#0072B2"
"""Colour of annotations (solid), where they are compared with findings …"""

FOUND_COLOUR: Final = "#D55E00"
"""… and of findings (dashed)."""

_FURTHER_TYPE_COLOURS: Final = ("#332288", "#882255", "#999933", "#44AA99", "#661100")
"""For the image types of another specialty's profile."""

PANEL_COLOURS: Final[tuple[str, ...]] = (
    "#332288",
    "#44AA99",
    "#CC6677",
    "#DDCC77",
    "#88CCEE",
    "#882255",
    "#117733",
    "#AA4499",
    "#999933",
)
"""One per panel in caption order; repeats after nine. Ordered so that neighbours differ in lightness as well."""

ENTITY_STYLES: Final[dict[str, tuple[str, str]]] = {
    "eye": ("#0072B2", "double"),
    "disease": ("#D55E00", "solid"),
    "finding": ("#661100", "solid"),
    "anatomy": ("#009E73", "solid"),
    "imaging": ("#332288", "solid"),
    "device": ("#332288", "dashed"),
    "treatment": ("#8A6D00", "double"),
    "stage": ("#D55E00", "dotted"),
    "time": ("#5B6470", "dashed"),
    "demographic": ("#5B6470", "dotted"),
}
"""Colour and line of words that name a thing of a group (`records.context.EntityGroup`), in the order of the legend.

What belongs together has one colour and another line (imaging and device). With the same line, colours are far apart,
also with a colour-vision deficiency, and each has a contrast of 3 with a page, as WCAG asks of graphics.
"""

SHARED_COLOUR: Final = "#8A919B"
"""Caption text that concerns all panels."""


def image_type_colour(image_type: str | None) -> str:
    """Return the `#rrggbb` of an image type.

    None has its own colour; a type that the paper does not know gets one that depends on its name only, so it is the
    same in every picture.
    """
    if image_type is None:
        return UNDECIDED_COLOUR
    known = IMAGE_TYPE_COLOURS.get(image_type)
    if known is not None:
        return known
    digest = zlib.crc32(image_type.encode("utf-8", "replace"))
    return _FURTHER_TYPE_COLOURS[digest % len(_FURTHER_TYPE_COLOURS)]


def panel_colour(index: int) -> str:
    """Return the `#rrggbb` of the panel at 0-based `index` in caption order."""
    return PANEL_COLOURS[index % len(PANEL_COLOURS)]


def rgb(colour: str) -> Rgb:
    """Return `#rrggbb` as three integers 0..255."""
    return (int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16))


def mixed(colour: str, other: str, fraction: float) -> str:
    """Return `colour` mixed into `other`: 1.0 is all `colour`, 0.0 all `other`."""
    mixture = (round(a * fraction + b * (1 - fraction)) for a, b in zip(rgb(colour), rgb(other), strict=True))
    return "#" + "".join(f"{channel:02x}" for channel in mixture)


def relative_luminance(colour: str) -> float:
    """Return the relative luminance 0..1 as WCAG 2.2 defines it."""
    linear = [
        channel / 255 / 12.92 if channel / 255 <= 0.04045 else ((channel / 255 + 0.055) / 1.055) ** 2.4
        for channel in rgb(colour)
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(colour: str, other: str) -> float:
    """Return the WCAG 2.2 contrast ratio, 1..21; 4.5 is enough for small text."""
    light, dark = sorted((relative_luminance(colour), relative_luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def ink_on(colour: str) -> str:
    """Return black or white, whichever is easier to read on `colour`."""
    return "#ffffff" if contrast(colour, "#ffffff") >= contrast(colour, "#111111") else "#111111"
