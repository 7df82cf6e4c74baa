"""Pictures of a JATS figure: the choice of its own graphics, and of one among several renditions.

JATS writes one picture in many ways: a `<graphic>`, an `<alternatives>` of TIFF, JPEG and thumbnail ("the reader is
expected to see only one version of the object", JATS 1.4), a second `<graphic>` that is `alternate-form-of` the first
(NLM 2.3), an image as `<media>`. Here they become one reference per picture.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from lxml import etree

from pmo_assets.pipeline.articles.jats_text import collapsed

MAX_ID_LENGTH: Final = 200
"""Longest `image_cluster_id`: it becomes part of file names."""

GRAPHICS: Final = frozenset({"graphic", "inline-graphic", "media"})

_PICTURE_SUFFIX: Final = re.compile(r"\.(?:jpe?g|jpe|tiff?|gif|png|eps|bmp|svg|webp|jp2|emf|wmf)\Z", re.IGNORECASE)

_SUFFIXES: Final = ("jpg", "jpeg", "jpe", "png", "webp", "", "gif", "tif", "tiff")
"""Formats by preference: PMC has web-size JPEGs, named with or without a suffix; GIFs are mostly previews."""

_NOT_ITS_PICTURES: Final = frozenset((
    "disp-formula", "disp-formula-group", "inline-formula", "permissions", "attrib", "fn", "supplementary-material",
    "inline-supplementary-material", "alt-text", "long-desc", "math", "tex-math",
))  # fmt: skip
"""Elements of a figure whose graphics are formulas, logos of licences, or data files."""

_ASIDE: Final = frozenset({"caption", "label", "table-wrap"})
"""Elements whose graphics are mostly symbols in the text; they count where the figure has no other picture."""

_THUMBNAIL: Final = re.compile(r"thumb|\bicon|preview|low-?res|\d+x\d+", re.IGNORECASE)
"""Uses and types of previews; SciELO's give the size, "scielo-267x140"."""


def image_cluster_id(href: str) -> str:
    """Return a graphic's name without folder and picture extension; "" where nothing is left.

    PMC's names may have no extension but dots: "CRIOPM2016-4567840.001" stays as it is.
    """
    name = collapsed(re.split(r"[/\\]", href.strip().rstrip("/\\"))[-1])
    name = _PICTURE_SUFFIX.sub("", name)[:MAX_ID_LENGTH]
    return "" if name.strip(". ") == "" else name


def graphic_hrefs(figure: etree._Element, *, without: frozenset[str] = frozenset()) -> list[str]:
    """Return the references to the figure's pictures in document order, one per picture.

    Among several renditions of a picture that for the web counts: those named thumbnails or for print come later, then
    `_SUFFIXES` decides. Thumbnails count only where there are no pictures, inline graphics where there is neither.

    Args:
        figure: the element.
        without: tags whose graphics do not count, besides those of formulas and the like.
    """
    without = without | _NOT_ITS_PICTURES
    return _chosen(list(_graphics(figure, without | _ASIDE))) or _chosen(list(_graphics(figure, without)))


def _chosen(graphics: list[tuple[str, etree._Element]]) -> list[str]:
    # The picture that a graphic is another form of, by the graphic's id.
    pictures = {graphic.get("id"): picture for picture, graphic in graphics if graphic.get("id")}
    renditions: dict[str, list[etree._Element]] = {}
    for picture, graphic in graphics:
        primary = pictures.get(graphic.get("alternate-form-of"), picture)
        renditions.setdefault(primary, []).append(graphic)
    best = [min(forms, key=_rank) for forms in renditions.values()]
    level = min((_rank(graphic)[0] for graphic in best), default=0)
    hrefs = [_href(graphic) for graphic in best if _rank(graphic)[0] == level]
    # A picture may stand in several places; its name says which it is.
    return list({image_cluster_id(href) or href: href for href in reversed(hrefs)}.values())[::-1]


def _graphics(figure: etree._Element, without: frozenset[str]) -> Iterator[tuple[str, etree._Element]]:
    """Graphics with a reference to an image, each with a name of the picture that it is a rendition of."""
    stack = [(child, "") for child in reversed(figure)]
    count = 0
    while stack:
        element, picture = stack.pop()
        if element.tag in without:
            continue
        if element.tag in GRAPHICS and _is_image(element):
            yield picture or f"name {image_cluster_id(_href(element)) or _href(element)}", element
        if element.tag == "alternatives" and not picture:
            count += 1
            picture = f"alternatives {count}"
        stack.extend((child, picture) for child in reversed(element))


def _href(graphic: etree._Element) -> str:
    return (graphic.get("href") or "").strip()


def _is_image(graphic: etree._Element) -> bool:
    href = _href(graphic)
    if graphic.tag != "media":
        return href != ""
    kind = graphic.get("mimetype", "").lower()
    return href != "" and (kind.startswith("image") or (kind == "" and _PICTURE_SUFFIX.search(href) is not None))


def _rank(graphic: etree._Element) -> tuple[int, bool, int]:
    """Return a rendition's rank, least for the picture on the web: by its kind, whether it is for print, its format."""
    use = f"{graphic.get('specific-use', '')} {graphic.get('content-type', '')}".lower()
    thumbnail = _THUMBNAIL.search(use) is not None or "thumb" in _href(graphic).lower()
    found = _PICTURE_SUFFIX.search(_href(graphic))
    suffix = found.group()[1:].lower() if found else ""
    order = _SUFFIXES.index(suffix) if suffix in _SUFFIXES else len(_SUFFIXES)
    return 2 if graphic.tag == "inline-graphic" else int(thumbnail), "print" in use, order
