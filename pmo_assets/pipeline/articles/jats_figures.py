"""Figures of a JATS article: their elements, labels, captions and ids; tables' captions.

The pictures of a figure are read in `jats_graphics`.

A figure is what the article's PDF prints under one label: a `<fig>`, or a `<fig-group>` whose members are its panels,
of the body, the back matter (appendices) and the floats. Things that only look like one are told apart:

* *Supplements* are files beside the article. Its PDF does not show them, so nothing could be found for them there. A
  figure is one by its label ("Supplementary Figure 2", "Figure 1—figure supplement 1", JAMA's "eFigure 1", "Online
  Figure 3"), by eLife's `specific-use="child-fig"`, or by its place: `<supplementary-material>`, or a section or
  appendix of that type or title.
* *Extended Data* and *Expanded View* figures (Nature, EMBO) are reviewed parts of the article, printed at the end of
  its PDF: they stay, also where a repository files them under supplementary material.
* A bare "Figure S1" says nothing, because Cell Press prints such figures in the PDF: its place decides.
* Graphical abstracts, portraits of authors, videos and parts of tables are no figures.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from lxml import etree

from pmo_assets.pipeline.articles.jats_graphics import GRAPHICS, graphic_hrefs, image_cluster_id
from pmo_assets.pipeline.articles.jats_text import GRAPHICAL_ABSTRACT, plain_text
from pmo_assets.pipeline.articles.mentions import ReferringParagraph, mentions_of_figures
from pmo_assets.pipeline.articles.references import label_key
from pmo_assets.records.article import PackageFigure
from pmo_assets.records.credit_lines import credit_line, joined_statements

_NO_FIGURES: Final = frozenset((
    "front", "table-wrap", "table-wrap-group", "sub-article", "response", "bio", "author-notes", "contrib", "ack",
    "ref-list", "notes", "fn", "glossary",
))  # fmt: skip
"""Elements whose figures are author photos, graphical abstracts, parts of tables, reviews or translations."""

_FIGURES: Final = frozenset({"fig", "fig-group"})

_LABEL_WORD: Final = re.compile(r"(?:e?fig(?:ure|s|ures|ura)?|scheme|plate|chart|abb(?:ildung)?)\b", re.IGNORECASE)
_TABLE_LABEL: Final = re.compile(r"(?:supplement\w*\s+)?tab(?:le|\.)", re.IGNORECASE)
_NOT_A_FIGURE: Final = re.compile(
    r"graphical\s+abstract|visual\s+abstract|abstract\s+image|(?:online\s+)?(?:video|movie|audio)\b", re.IGNORECASE
)
_PORTRAIT: Final = re.compile(r"portrait|author[\s_-]?(?:photo|picture|image)", re.IGNORECASE)
_SUPPLEMENT: Final = re.compile(
    r"suppl(?:\.|\s|ement)|supporting\s+(?:information\s+)?fig|\be-?fig|\bSI\s+fig|additional\s+(?:file|fig)|"
    r"\b(?:online|web)(?:[\s-]+(?:only|appendix))?[\s-]+fig",
    re.IGNORECASE,
)
"""Labels of figures that are supplements."""

_SUPPLEMENTARY_TYPE: Final = re.compile(r"suppl(?:\.|ement)|supporting[\s-]+information", re.IGNORECASE)
_SUPPLEMENTARY_TITLE: Final = re.compile(
    r"(?:suppl(?:\.|ement(?:ary|al)?)|supporting|additional|(?:online|web)[\s-]+(?:only|supplement\w*))"
    r"(?:\s+online)?(?:\s+(?:materials?|information|data|files?|fig(?:ure)?s?|contents?|appendi(?:x|ces))\b|s?\W*\Z)",
    re.IGNORECASE,
)
"""Titles of parts that hold supplements; "Supplemental oxygen in preterm infants" is none."""

_EXTENDED: Final = re.compile(r"extended[\s-]+data|expanded[\s-]+view|\bfig(?:ure|s|\.)?\s*E[DV]\s*\d", re.IGNORECASE)
"""Labels of figures that the PDF prints although some file them under supplementary material."""

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
    rights: tuple[str, ...] = ()


def _rights(element: etree._Element) -> tuple[str, ...]:
    """Return a figure's and its members' statements of own rights: licences, holders other than the authors, sources.

    (JATS 1.3, `<permissions>` and `<attrib>` in `<fig>`: they are the figure's, not the article's.)
    """
    said: list[str] = []
    for permissions in element.iter("permissions"):
        for statement in permissions.iter("license", "license_ref"):
            links = (link.get("href", "") for link in statement.iter("ext-link", "uri", "license", "license_ref"))
            said.append(" ".join(filter(None, [plain_text(statement), statement.get("license-type", ""), *links])))
        for part in permissions.iter("copyright-statement", "copyright-holder"):
            text = plain_text(part)
            said.append(text if credit_line(text if "©" in text else f"© {text}") else "")
    for source in element.iter("attrib"):
        text = plain_text(source)
        said.append(text if credit_line(f"Credit: {text}") else "")
    return tuple(dict.fromkeys(filter(None, said)))


def _is_supplementary_part(element: etree._Element) -> bool:
    if element.tag == "supplementary-material":
        return True
    if element.tag not in ("sec", "app", "app-group"):
        return False
    kind = element.get("sec-type", "") or element.get("content-type", "")
    if _SUPPLEMENTARY_TYPE.search(kind):
        return True
    return _SUPPLEMENTARY_TITLE.match(plain_text(element.find("title"))) is not None


def _figure_elements(article: etree._Element) -> Iterator[tuple[etree._Element, bool]]:
    """Outermost `<fig>` and `<fig-group>` in document order, each with whether it stands among supplements."""
    stack = [(element, False) for element in reversed(article)]
    while stack:
        element, supplementary = stack.pop()
        if element.tag in _NO_FIGURES:
            continue
        if GRAPHICAL_ABSTRACT.search(element.get("abstract-type", "") or element.get("sec-type", "")):
            continue
        if element.tag in _FIGURES:
            yield element, supplementary
        else:
            inside = supplementary or _is_supplementary_part(element)
            # The alternatives of a block are one figure, mostly in several languages.
            children = list(element) if element.tag != "block-alternatives" else _of_one_language(element)[:1]
            stack.extend((child, inside) for child in reversed(children))


def _of_one_language(elements: Iterable[etree._Element]) -> list[etree._Element]:
    """The English ones of elements that differ in `xml:lang`, else those in the language of the first."""
    elements = [element for element in elements if element.tag != "object-id"]
    languages = [element.get("lang", "")[:2].lower() for element in elements]
    chosen = "en" if "en" in languages else next(iter(languages), "")
    return [element for element, language in zip(elements, languages, strict=True) if language == chosen]


def _label_text(element: etree._Element) -> str:
    return plain_text(next(iter(_of_one_language(element.iterfind("label"))), None))


def _caption_text(element: etree._Element) -> str:
    captions = _of_one_language(element.iterfind("caption"))
    return " ".join(filter(None, (plain_text(caption) for caption in captions)))


def _label_and_caption(element: etree._Element) -> tuple[str, str]:
    """Return the label without stop or dash at its end, and the caption without the label; it may be set in there."""
    label = _label_text(element).rstrip(" .:;,|–—-")
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


def _is_wanted(
    element: etree._Element, label: str, caption: str, graphics: Sequence[str], *, supplementary: bool
) -> bool:
    use = element.get("specific-use", "").lower()
    kind = f"{element.get('fig-type', '')} {element.get('content-type', '')} {use}"
    if GRAPHICAL_ABSTRACT.search(kind) or _PORTRAIT.search(kind):
        return False
    if _NOT_A_FIGURE.match(label) or (not label and _NOT_A_FIGURE.match(caption)) or _TABLE_LABEL.match(label):
        return False
    if (supplementary or use == "child-fig" or _SUPPLEMENT.search(label)) and not _EXTENDED.search(label):
        return False
    # Without pictures, a figure of media is a video; without a caption too, it is an empty element.
    return bool(graphics) or (caption != "" and next(element.iter("media"), None) is None)


def _panels(element: etree._Element) -> list[etree._Element]:
    """The outermost parts of a figure that can have a label and caption of their own, in document order.

    These are figures inside it, and graphics with a label or caption; of alternatives, the first such.
    """
    found: list[etree._Element] = []
    stack = list(reversed(element))
    while stack:
        child = stack.pop()
        if child.tag in _FIGURES or (child.tag in GRAPHICS and _has_own_text(child)):
            found.append(child)
        elif child.tag == "alternatives":
            stack.extend([form for form in child if form.tag in GRAPHICS and _has_own_text(form)][:1])
        elif child.tag == "block-alternatives":
            stack.extend(_of_one_language(child)[:1])
        elif child.tag not in ("caption", "supplementary-material"):
            stack.extend(reversed(child))
    return found


def _has_own_text(element: etree._Element) -> bool:
    return element.find("label") is not None or element.find("caption") is not None


def _with_panels(own: str, panels: Iterable[etree._Element]) -> str:
    """A caption followed by those of the panels, each behind its label in brackets."""
    texts = [own]
    for panel in panels:
        label, caption = _label_text(panel), _with_panels(_caption_text(panel), _panels(panel))
        if not caption:
            continue
        bare = label.strip("()[].: ")
        texts.append(f"({bare}) {caption}" if bare and not caption.lower().startswith(f"({bare.lower()})") else caption)
    return " ".join(filter(None, texts))


def _ids(*elements: etree._Element) -> tuple[str, ...]:
    return tuple(filter(None, (element.get("id") for element in elements)))


def _single(element: etree._Element, *, supplementary: bool, without: frozenset[str] = frozenset()) -> _Figure | None:
    """The figure of an element with all its panels, but for those of the tags `without`."""
    label, caption = _label_and_caption(element)
    panels = [panel for panel in _panels(element) if panel.tag not in without]
    if not label and not caption and len(panels) == 1:
        label, caption = _label_and_caption(panels[0])  # set at the picture instead of the figure
    else:
        caption = _with_panels(caption, panels)
    graphics = tuple(graphic_hrefs(element, without=without))
    if not _is_wanted(element, label, caption, graphics, supplementary=supplementary):
        return None
    return _Figure(_ids(element, *panels), label, caption, graphics, _rights(element))


def _number(element: etree._Element) -> str | None:
    """The number of a figure that its label calls one; None for panels ("(a)")."""
    label, _ = _label_and_caption(element)
    return label_key(label) if _LABEL_WORD.match(label) or _EXTENDED.match(label) else None


def _figures_of(element: etree._Element, *, supplementary: bool) -> list[_Figure]:
    """The figures of a `<fig>` or `<fig-group>`.

    An element with a label or caption of its own is one figure and its members are panels, unless every member is a
    figure with another number. Otherwise a numbered or captioned member starts a figure and the others continue it.
    """
    members = [panel for panel in _panels(element) if panel.tag in _FIGURES]
    translated = _of_one_language(members)
    if len(translated) == 1 < len(members) and len({member.get("lang") for member in members}) == len(members):
        return _translated(element, translated[0], members, supplementary=supplementary)
    numbers = [_number(member) for member in members]
    apart = bool(members) and None not in numbers and set(numbers) != {_number(element)}
    if not apart and (not members or any(_label_and_caption(element))):
        figure = _single(element, supplementary=supplementary)
        return [figure] if figure else []
    found = []
    if element.tag == "fig":
        own = _single(element, supplementary=supplementary, without=_FIGURES)
        found = [own] if own else []
    return found + _of_members(members, supplementary=supplementary)


def _translated(
    group: etree._Element, chosen: etree._Element, members: Sequence[etree._Element], *, supplementary: bool
) -> list[_Figure]:
    """SciELO's group of a figure's labels and captions in several languages, beside one picture."""
    label, caption = _label_and_caption(chosen)
    graphics = tuple(graphic_hrefs(chosen) or graphic_hrefs(group))
    if not _is_wanted(chosen, label, caption, graphics, supplementary=supplementary):
        return []
    return [_Figure(_ids(group, *members), label, caption, graphics, _rights(group))]


def _of_members(members: Sequence[etree._Element], *, supplementary: bool) -> list[_Figure]:
    """The figures of members of which each numbered or captioned one starts a figure and the others continue it."""
    found: list[_Figure] = []
    more: list[etree._Element] = []
    for member in members:
        starts = (
            member.tag == "fig-group"
            or _number(member) is not None
            or not found
            or (_label_text(member) == "" and _caption_text(member) != "")
        )
        if starts:
            found[-1:] = [_continued(figure, more) for figure in found[-1:]]
            found.extend(_figures_of(member, supplementary=supplementary))
            more = []
        else:
            more.append(member)
    found[-1:] = [_continued(figure, more) for figure in found[-1:]]
    return found


def _continued(figure: _Figure, more: Sequence[etree._Element]) -> _Figure:
    """The figure with further members as panels."""
    hrefs = (href for member in more for href in graphic_hrefs(member))
    return replace(
        figure,
        ids=(*figure.ids, *_ids(*more)),
        caption=_with_panels(figure.caption, more),
        graphics=tuple(dict.fromkeys((*figure.graphics, *hrefs))),
        rights=tuple(dict.fromkeys((*figure.rights, *(said for member in more for said in _rights(member))))),
    )


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


def package_figures(
    article: etree._Element, paragraphs: list[ReferringParagraph]
) -> tuple[tuple[PackageFigure, ...], dict[str, str]]:
    """Return the figures in document order, with unique ids and the paragraphs that mention them.

    The second value is the figure's `image_cluster_id` by the ids of its elements, which cross-references name.
    """
    figures = [
        figure
        for element, supplementary in _figure_elements(article)
        for figure in _figures_of(element, supplementary=supplementary)
    ]
    mentions = mentions_of_figures(
        paragraphs, ids=[figure.ids for figure in figures], labels=[figure.label for figure in figures]
    )
    names = _unique_ids(figures)
    clusters: dict[str, str] = {}
    for name, figure in zip(names, figures, strict=True):
        for own_id in figure.ids:
            clusters.setdefault(own_id, name)
    listed = tuple(
        PackageFigure(
            name,
            figure.label,
            figure.caption,
            figure.graphics,
            own,
            rights_statement=joined_statements([*figure.rights, credit_line(figure.caption)]),
        )
        for name, figure, own in zip(names, figures, mentions, strict=True)
    )
    return listed, clusters


def table_captions(article: etree._Element) -> tuple[str, ...]:
    """Return the captions, without labels, of tables and of figures that are labelled as tables."""
    captions = [
        _label_and_caption(table)[1]
        for table in article.iter("table-wrap", "fig")
        if (table.tag == "table-wrap" or _TABLE_LABEL.match(_label_text(table)))
        and not any(ancestor.tag in ("sub-article", "response") for ancestor in table.iterancestors())
    ]
    return tuple(filter(None, captions))
