"""Figures of a JATS article: which elements are figures, their labels, captions, pictures and ids; tables' captions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from lxml import etree

from pmo_assets.pipeline.articles.jats_text import GRAPHICAL_ABSTRACT, collapsed, plain_text
from pmo_assets.pipeline.articles.mentions import ReferringParagraph, mentions_of_figures
from pmo_assets.records.article import PackageFigure

MAX_ID_LENGTH: Final = 200
"""Longest `image_cluster_id`: it becomes part of file names."""

_NO_FIGURES: Final = frozenset((
    "front", "table-wrap", "table-wrap-group", "supplementary-material", "sub-article", "response", "bio",
    "author-notes", "contrib", "ack", "ref-list", "notes", "fn", "glossary",
))  # fmt: skip
"""Elements whose figures are author photos, graphical abstracts, parts of tables or supplements."""

_PICTURE_SUFFIX: Final = re.compile(r"\.(?:jpe?g|jpe|tiff?|gif|png|eps|bmp|svg|webp|jp2|emf|wmf)\Z", re.IGNORECASE)
_LABEL_WORD: Final = re.compile(r"(?:e?fig(?:ure|s|ures)?|scheme|plate|chart)\b", re.IGNORECASE)
_TABLE_LABEL: Final = re.compile(r"(?:supplement\w*\s+)?tab(?:le|\.)", re.IGNORECASE)
_NOT_A_FIGURE: Final = re.compile(
    r"graphical\s+abstract|visual\s+abstract|abstract\s+image|(?:online\s+)?(?:video|movie|audio)\b", re.IGNORECASE
)
_PORTRAIT: Final = re.compile(r"portrait|author[\s_-]?(?:photo|picture|image)", re.IGNORECASE)
_SUPPLEMENT: Final = re.compile(r"suppl(?:\.|ement)", re.IGNORECASE)
_CAPTION_LABEL: Final = re.compile(
    r"((?:Fig(?:ure|\.)?|FIG(?:URE|\.)?|Scheme|Plate|Chart)\s*[A-Z]?\d{1,3})(?:\s*[.:|]\s*|\s+(?=[A-Z(])|\s*[–—-]\s+|\Z)"
)


@dataclass(frozen=True)
class _Figure:
    """A figure before ids are made unique and mentions are added."""

    ids: tuple[str, ...]
    label: str
    caption: str
    graphics: tuple[str, ...]


def _figure_elements(article: etree._Element) -> Iterator[etree._Element]:
    """Outermost `<fig>` and `<fig-group>` of the body, the back matter and the floats, in document order."""
    stack = list(reversed(article))
    while stack:
        element = stack.pop()
        if element.tag in _NO_FIGURES or "supplementary" in element.get("sec-type", ""):
            continue
        if GRAPHICAL_ABSTRACT.search(element.get("abstract-type", "") or element.get("sec-type", "")):
            continue
        if element.tag in ("fig", "fig-group"):
            yield element
        else:
            stack.extend(reversed(element))


def _hrefs(figure: etree._Element) -> list[str]:
    """References to the figure's pictures; thumbnails only where there is nothing else."""
    pictures: list[str] = []
    thumbnails: list[str] = []
    inline: list[str] = []
    for graphic in figure.iter("graphic", "inline-graphic", "media"):
        href = (graphic.get("href") or "").strip()
        if not href or (graphic.tag == "media" and graphic.get("mimetype") != "image"):
            continue
        kind = f"{graphic.get('specific-use', '')} {graphic.get('content-type', '')}".lower()
        if graphic.tag == "inline-graphic":
            inline.append(href)
        else:
            (thumbnails if "thumb" in kind else pictures).append(href)
    return list(dict.fromkeys(pictures or thumbnails or inline))


def _caption_text(figure: etree._Element) -> str:
    return " ".join(filter(None, (plain_text(caption) for caption in figure.iterfind("caption"))))


def _label_and_caption(element: etree._Element) -> tuple[str, str]:
    """The label without its end mark, and the caption without the label; a label set in the caption is found there."""
    label = plain_text(element.find("label")).rstrip(" .:;,|–—-")
    caption = _caption_text(element)
    if label:
        rest = caption[len(label) :]
        if caption[: len(label)].lower() == label.lower() and not rest[:1].isalnum() and rest[:1] != "(":
            caption = rest.lstrip(" .:;|–—-")
    else:
        found = _CAPTION_LABEL.match(caption)
        if found:
            label, caption = found.group(1), caption[found.end() :]
    return label, caption


def _is_wanted(element: etree._Element, label: str, caption: str, graphics: Sequence[str]) -> bool:
    kind = f"{element.get('fig-type', '')} {element.get('content-type', '')}"
    if GRAPHICAL_ABSTRACT.search(kind) or _PORTRAIT.search(kind):
        return False
    if _NOT_A_FIGURE.match(label) or (not label and _NOT_A_FIGURE.match(caption)):
        return False
    if _SUPPLEMENT.search(label) or _TABLE_LABEL.match(label):
        return False
    # Without pictures, a figure of media is a video; without a caption too, it is an empty element.
    return bool(graphics) or (caption != "" and next(element.iter("media"), None) is None)


def _single(element: etree._Element) -> _Figure | None:
    label, caption = _label_and_caption(element)
    graphics = tuple(_hrefs(element))
    if not _is_wanted(element, label, caption, graphics):
        return None
    return _Figure(tuple(filter(None, [element.get("id")])), label, caption, graphics)


def _joined_caption(own: str, parts: Iterable[etree._Element]) -> str:
    """A group's caption followed by those of its members, each behind its label in brackets."""
    texts = [own]
    for part in parts:
        label, caption = plain_text(part.find("label")), _caption_text(part)
        if not caption:
            continue
        bare = label.strip("()[].: ")
        texts.append(f"({bare}) {caption}" if bare and not caption.lower().startswith(f"({bare.lower()})") else caption)
    return " ".join(filter(None, texts))


def _of_group(group: etree._Element) -> list[_Figure]:
    """The figures of a `<fig-group>`.

    A group with a label or caption of its own is one figure whose members are panels, unless every member is a
    numbered figure. Otherwise a numbered or captioned member starts a figure and the others continue it.
    """
    members = [element for element in group.iter("fig") if next(element.iterancestors("fig"), None) is None]
    label, caption = _label_and_caption(group)
    numbered = [bool(_LABEL_WORD.match(plain_text(member.find("label")))) for member in members]
    if (label or caption) and not (all(numbered) and members):
        graphics = tuple(_hrefs(group))
        if not _is_wanted(group, label, caption, graphics):
            return []
        ids = [group.get("id"), *(member.get("id") for member in members)]
        return [_Figure(tuple(filter(None, ids)), label, _joined_caption(caption, members), graphics)]
    found: list[_Figure] = []
    for member, has_number in zip(members, numbered, strict=True):
        has_label = plain_text(member.find("label")) != ""
        starts = has_number or not found or (not has_label and _caption_text(member) != "")
        if starts:
            single = _single(member)
            if single is not None:
                found.append(single)
        else:
            last = found[-1]
            found[-1] = replace(
                last,
                ids=(*last.ids, *filter(None, [member.get("id")])),
                caption=_joined_caption(last.caption, [member]),
                graphics=tuple(dict.fromkeys((*last.graphics, *_hrefs(member)))),
            )
    return found


def _figures(article: etree._Element) -> list[_Figure]:
    found: list[_Figure] = []
    for element in _figure_elements(article):
        if element.tag == "fig-group":
            found.extend(_of_group(element))
        else:
            single = _single(element)
            found.extend([single] if single else [])
    return found


def image_cluster_id(href: str) -> str:
    """Return a graphic's name without folder and picture extension; "" where nothing is left.

    PMC's names may have no extension but dots: "CRIOPM2016-4567840.001" stays as it is.
    """
    name = collapsed(re.split(r"[/\\]", href.strip().rstrip("/\\"))[-1])
    name = _PICTURE_SUFFIX.sub("", name)[:MAX_ID_LENGTH]
    return "" if name.strip(". ") == "" else name


def _unique_ids(figures: list[_Figure]) -> list[str]:
    """An id per figure: its first graphic's, else `@id`, else its number in the article; suffixed where taken."""
    wanted = [image_cluster_id(figure.graphics[0]) if figure.graphics else "" for figure in figures]
    # A figure without a graphic must not take the name of another's graphic.
    taken = set(wanted) - {""}
    given: set[str] = set()
    counts: dict[str, int] = {}
    result = []
    for number, (figure, name) in enumerate(zip(figures, wanted, strict=True), start=1):
        if name and name not in given:
            unique = name
        else:
            own = image_cluster_id(figure.ids[0]) if figure.ids else ""
            base = unique = f"{name}-{own or number}" if name else own or f"fig-{number}"
            while unique in given or unique in taken:
                counts[base] = counts.get(base, 1) + 1
                unique = f"{base}-{counts[base]}"
        given.add(unique)
        result.append(unique)
    return result


def package_figures(article: etree._Element, paragraphs: list[ReferringParagraph]) -> tuple[PackageFigure, ...]:
    """Return the figures in document order, with unique ids and the paragraphs that mention them."""
    figures = _figures(article)
    mentions = mentions_of_figures(
        paragraphs, ids=[figure.ids for figure in figures], labels=[figure.label for figure in figures]
    )
    return tuple(
        PackageFigure(name, figure.label, figure.caption, figure.graphics, own)
        for name, figure, own in zip(_unique_ids(figures), figures, mentions, strict=True)
    )


def table_captions(article: etree._Element) -> tuple[str, ...]:
    """Return the captions, without labels, of tables and of figures that are labelled as tables."""
    captions = [
        _label_and_caption(table)[1]
        for table in article.iter("table-wrap", "fig")
        if (table.tag == "table-wrap" or _TABLE_LABEL.match(plain_text(table.find("label"))))
        and not any(ancestor.tag in ("sub-article", "response") for ancestor in table.iterancestors())
    ]
    return tuple(filter(None, captions))
