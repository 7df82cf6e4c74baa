"""The article as JATS XML, in the shape of PMC's archive files."""

from __future__ import annotations

from collections.abc import Sequence

from lxml import etree

from pmo_assets.samples.caption_text import caption_text
from pmo_assets.samples.content import (
    YEAR,
    Content,
    FigurePlace,
    Paragraph,
    TablePlace,
    caption_runs,
    figure_label,
)
from pmo_assets.samples.spec import ArticleSpec
from pmo_assets.samples.type_metrics import Run

DOCTYPE = (
    '<!DOCTYPE article PUBLIC "-//NLM//DTD JATS (Z39.96) Journal Archiving and Interchange DTD v1.3 20210610//EN" '
    '"JATS-archivearticle1-3.dtd">'
)
_XLINK = "http://www.w3.org/1999/xlink"
_ALI = "http://www.niso.org/schemas/ali/1.0/"
_XLINK_HREF = f"{{{_XLINK}}}href"


def image_cluster_id(spec: ArticleSpec, index: int) -> str:
    """Return the name of the figure's graphic without extension, e.g. "JRIM2024-9000000001.002"."""
    return f"{spec.journal.code}{YEAR}-{spec.number}.{index + 1:03d}"


def _add(parent: etree._Element, tag: str, text: str | None = None, **attributes: str) -> etree._Element:
    element = etree.SubElement(parent, tag, {k.replace("_", "-"): v for k, v in attributes.items()})
    element.text = text
    return element


def _append_text(parent: etree._Element, text: str) -> None:
    if len(parent):
        parent[-1].tail = (parent[-1].tail or "") + text
    else:
        parent.text = (parent.text or "") + text


def _add_runs(parent: etree._Element, runs: Sequence[Run]) -> None:
    for run in runs:
        if run.target:
            kind = "bibr" if run.target.startswith("B") else "table" if run.target.startswith("tab") else "fig"
            _add(parent, "xref", run.text, ref_type=kind, rid=run.target)
        elif run.italic:
            _add(parent, "italic", run.text)
        else:
            _append_text(parent, run.text)


def _add_front(article: etree._Element, spec: ArticleSpec, content: Content) -> None:
    front = _add(article, "front")
    journal = _add(front, "journal-meta")
    _add(journal, "journal-id", spec.journal.abbreviation, journal_id_type="nlm-ta")
    _add(journal, "journal-id", spec.journal.code, journal_id_type="publisher-id")
    _add(_add(journal, "journal-title-group"), "journal-title", spec.journal.name)
    _add(journal, "issn", "0000-0000", pub_type="epub")
    meta = _add(front, "article-meta")
    _add(meta, "article-id", str(spec.number), pub_id_type="pmcid")
    _add(meta, "article-id", content.doi, pub_id_type="doi")
    group = _add(_add(meta, "article-categories"), "subj-group", subj_group_type="heading")
    _add(
        group,
        "subject",
        {"retraction": "Retraction", "case-report": "Case Report"}.get(spec.article_type, "Research Article"),
    )
    prefix = "RETRACTED: " if spec.retracted else ""
    _add(_add(meta, "title-group"), "article-title", prefix + spec.title)
    contributors = _add(meta, "contrib-group")
    for given, surname in content.authors:
        contributor = _add(contributors, "contrib", contrib_type="author")
        name = _add(contributor, "name")
        _add(name, "surname", surname)
        _add(name, "given-names", given)
        _add(contributor, "xref", ref_type="aff", rid="I1")
    _add(meta, "aff", content.affiliation, id="I1")
    date = _add(meta, "pub-date", pub_type="epub")
    for tag, value in (("day", "1"), ("month", "3"), ("year", str(YEAR))):
        _add(date, tag, value)
    _add(meta, "volume", str(content.volume))
    pages = content.citation.rsplit(": ", 1)[1]
    _add(meta, "fpage", pages.split("-")[0])
    _add(meta, "lpage", pages.split("-")[1])
    permissions = _add(meta, "permissions")
    _add(permissions, "copyright-statement", f"Copyright © {YEAR} {content.authors[0][1]} et al.")
    _add(permissions, "copyright-year", str(YEAR))
    license_element = _add(permissions, "license", license_type="open-access")
    license_element.set(_XLINK_HREF, content.license_url)
    etree.SubElement(license_element, f"{{{_ALI}}}license_ref").text = content.license_url
    _add(license_element, "license-p", content.license_text)
    if spec.retracted or spec.article_type == "retraction":
        kind = "retraction-forward" if spec.retracted else "retracted-article"
        related = _add(meta, "related-article", related_article_type=kind, ext_link_type="doi", id="RA1")
        related.set(_XLINK_HREF, f"{content.doi}.r")
    abstract = _add(meta, "abstract")
    _add_runs(_add(abstract, "p"), content.abstract.runs)
    if spec.keywords:
        group = _add(meta, "kwd-group", kwd_group_type="author")
        for keyword in spec.keywords:
            _add(group, "kwd", keyword)
    if spec.mesh_terms:
        group = _add(meta, "kwd-group", kwd_group_type="MESH")
        for term in spec.mesh_terms:
            _add(group, "kwd", term)


def _add_figure(parent: etree._Element, spec: ArticleSpec, index: int) -> None:
    figure = spec.figures[index]
    element = _add(parent, "fig", id=f"fig{index + 1}", orientation="portrait", position="float")
    _add(element, "label", figure_label(figure, index + 1))
    _add_runs(_add(_add(element, "caption"), "p"), caption_runs(caption_text(figure.caption)))
    _add(element, "graphic").set(_XLINK_HREF, image_cluster_id(spec, index))


def _add_table(parent: etree._Element, spec: ArticleSpec, index: int) -> None:
    table = spec.tables[index]
    wrap = _add(parent, "table-wrap", id=f"tab{index + 1}", orientation="portrait", position="float")
    _add(wrap, "label", f"Table {index + 1}")
    _add_runs(_add(_add(wrap, "caption"), "p"), caption_runs(table.caption))
    grid = _add(wrap, "table")
    for n, row in enumerate(table.rows):
        part = _add(grid, "thead") if n == 0 else grid.find("tbody")
        if part is None:
            part = _add(grid, "tbody")
        line = _add(part, "tr")
        for cell in row:
            _add(line, "td", cell)


def _add_references(back: etree._Element, content: Content) -> None:
    group = _add(back, "ref-list")
    for number, ref in enumerate(content.references, start=1):
        element = _add(group, "ref", id=f"B{number}")
        _add(element, "label", str(number))
        citation = _add(element, "element-citation", publication_type="journal")
        people = _add(citation, "person-group", person_group_type="author")
        for given, surname in ref.authors:
            name = _add(people, "name")
            _add(name, "surname", surname)
            _add(name, "given-names", f"{given[0]}.")
        _add(citation, "article-title", ref.title)
        _add(citation, "source", ref.source)
        _add(citation, "year", str(ref.year))
        _add(citation, "volume", str(ref.volume))
        _add(citation, "fpage", str(ref.first_page))
        _add(citation, "lpage", str(ref.last_page))


def jats_xml(spec: ArticleSpec, content: Content) -> bytes:
    """Return the article as a JATS file in UTF-8 with a document type declaration."""
    article = etree.Element("article", nsmap={"xlink": _XLINK, "ali": _ALI}, attrib={"article-type": spec.article_type})
    _add_front(article, spec, content)
    body = _add(article, "body")
    if not content.sections:
        _add_runs(_add(body, "p"), content.abstract.runs)
    for s, section in enumerate(content.sections, start=1):
        sec = _add(body, "sec", id=f"sec{s}")
        _add(sec, "title", section.title)
        for block in section.blocks:
            if isinstance(block, Paragraph):
                _add_runs(_add(sec, "p"), block.runs)
            elif isinstance(block, FigurePlace) and not spec.floats_group:
                _add_figure(sec, spec, block.index)
            elif isinstance(block, TablePlace) and not spec.floats_group:
                _add_table(sec, spec, block.index)
    if content.references:
        _add_references(_add(article, "back"), content)
    if spec.floats_group:
        floats = _add(article, "floats-group")
        for index in range(len(spec.figures)):
            _add_figure(floats, spec, index)
        for index in range(len(spec.tables)):
            _add_table(floats, spec, index)
    return bytes(etree.tostring(article, xml_declaration=True, encoding="UTF-8", doctype=DOCTYPE))
