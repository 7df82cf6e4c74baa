"""BioMed Central's own article format (`<art>`, used until 2015) rewritten as JATS.

BioMed Central delivered articles in its own DTD (http://www.biomedcentral.com/xml/article.dtd): `fm` front matter with
one `bibl`, `bdy` body, `bm` back matter; figures are `fig` with `title` (the label), `caption` (a short one), `text`
(the printed caption) and `graphic/@file`. Only what `jats.parse_jats` reads is rewritten.
"""

from __future__ import annotations

from typing import Final

from lxml import etree

_RENAMED: Final = {
    "bdy": "body",
    "bm": "back",
    "st": "title",
    "figr": "xref",
    "tbl": "table-wrap",
    "suppl": "supplementary-material",
    "suppmat": "supplementary-material",
    "tblfn": "table-wrap-foot",
    "refgrp": "ref-list",
    "it": "italic",
    "b": "bold",
}


def _add(parent: etree._Element, tag: str, text: str | None = None, **attributes: str) -> etree._Element:
    element = etree.SubElement(parent, tag, {name.replace("_", "-"): value for name, value in attributes.items()})
    element.text = text
    return element


def _text(element: etree._Element | None) -> str:
    return "" if element is None else " ".join("".join(map(str, element.itertext())).split())


def jats_from_art(art: etree._Element) -> etree._Element:
    """Return the `<article>` for an `<art>` element, whose body is moved into it.

    Args:
        art: the root, its tags without namespaces; it is changed.
    """
    article = etree.Element("article", {"article-type": _text(art.find("fm/dochead")).lower().replace(" ", "-")})
    front = art.find("fm")
    if front is not None:
        _add_front(article, front)
    for child in art:
        if child.tag in ("bdy", "bm"):
            article.append(child)
    for element in list(article.iter(*_RENAMED)):
        if element.tag == "figr":
            element.set("ref-type", "fig")
            element.set("rid", element.get("fid", ""))
        element.tag = _RENAMED[str(element.tag)]
    for element in list(article.iter("fig", "table-wrap", "table")):
        if element.tag == "fig" or element.find("title") is not None:
            _rewrite_float(element)
    return article


def _rewrite_float(element: etree._Element) -> None:
    """Give a figure or table the children of JATS: label, caption, graphic."""
    if element.tag == "table":
        element.tag = "table-wrap"
    title, caption, text = element.find("title"), element.find("caption"), element.find("text")
    if title is not None:
        title.tag = "label"
    if text is not None:
        # The printed caption opens with the short one in bold; keeping both would double it.
        if caption is None:
            text.tag = "caption"
        elif _text(text).startswith(_text(caption).rstrip(". ")):
            element.remove(caption)
            text.tag = "caption"
        else:
            caption.extend(list(text))
            element.remove(text)
    for graphic in element.iterfind("graphic"):
        graphic.set("href", graphic.get("file", ""))


def _add_front(article: etree._Element, front: etree._Element) -> None:
    bibl = front.find("bibl")
    target = _add(article, "front")
    journal = _add(target, "journal-meta")
    meta = _add(target, "article-meta")
    if bibl is not None:
        _add(journal, "journal-title", _text(bibl.find("source")))
        for pubid in bibl.iter("pubid"):
            kind = pubid.get("idtype", "")
            _add(meta, "article-id", _text(pubid), pub_id_type={"pmpid": "pmid", "pmcid": "pmcid"}.get(kind, kind))
        _add(_add(meta, "title-group"), "article-title", _text(bibl.find("title")))
        contributors = _add(meta, "contrib-group")
        for author in bibl.iterfind("aug/au"):
            name = _add(_add(contributors, "contrib", contrib_type="author"), "name")
            _add(name, "surname", _text(author.find("snm")) or _text(author.find("cnm")))
            given = " ".join(filter(None, (_text(author.find("fnm")), _text(author.find("mi")))))
            if given:
                _add(name, "given-names", given)
        _add(_add(meta, "pub-date"), "year", _text(bibl.find("pubdate")))
        for tag in ("volume", "issue", "fpage", "lpage"):
            if bibl.find(tag) is not None:
                _add(meta, tag, _text(bibl.find(tag)))
    licence = _add(_add(meta, "permissions"), "license")
    for note in front.iterfind("cpyrt/note"):
        _add(licence, "license-p", _text(note))
    for abstract in front.iterfind("abs"):
        abstract.tag = "abstract"
        meta.append(abstract)
    group = _add(meta, "kwd-group")
    for keyword in front.iterfind("kwdg/kwd"):
        _add(group, "kwd", _text(keyword))
