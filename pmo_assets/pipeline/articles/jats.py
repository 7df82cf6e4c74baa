"""JATS XML read into an `Article`.

The reader knows every flavour that PubMed Central holds: NLM 1-3, JATS 1.x (archiving, publishing), with or without
namespaces and document type, inside `<pmc-articleset>` or an OAI-PMH record, and BioMed Central's `<art>`. Hostile
files are refused (`jats_xml`).
"""

from __future__ import annotations

from lxml import etree

from pmo_assets.pipeline.articles import jats_front_matter as front
from pmo_assets.pipeline.articles.jats_figures import package_figures, table_captions
from pmo_assets.pipeline.articles.jats_text import running_paragraphs
from pmo_assets.pipeline.articles.jats_xml import article_element
from pmo_assets.pipeline.articles.paragraphs import paragraphs_of_xml
from pmo_assets.records.article import Article


def parse_jats(xml: bytes, *, max_bytes: int = 64 * 2**20) -> Article:
    """Return the facts of an article from its JATS XML.

    Nothing outside the file is read: no DTD, no entity, no network. Entities without a declaration (`&nbsp;`) become
    the characters of that name, undeclared usual namespace prefixes are supplied; anything else must be well-formed.
    Of several articles in one file the first is read.

    Args:
        xml: the file.
        max_bytes: larger files are refused before parsing.

    Raises:
        MalformedXml: not well-formed, or no article.
        UnsafeXml: too large, too deep, or with entities that expand or refer to files.
    """
    article = article_element(xml, max_bytes)
    meta = article.find("front/article-meta")
    meta = etree.Element("article-meta") if meta is None else meta
    journal_meta = article.find("front/journal-meta")
    journal, journal_short = front.journal_names(
        etree.Element("journal-meta") if journal_meta is None else journal_meta
    )
    title = front.title(meta)
    ids = front.article_ids(meta)
    year = front.publication_year(meta)
    licence = front.licence(meta)
    keywords, mesh_terms = front.terms(meta)
    paragraphs = running_paragraphs(article)
    figures, clusters = package_figures(article, paragraphs)
    return Article(
        pmcid=front.pmcid(ids),
        pmid=ids.get("pmid") or None,
        doi=ids.get("doi") or None,
        title=title,
        journal=journal,
        year=year,
        authors=front.author_names(meta),
        citation=front.citation(journal_short, year, meta),
        license_code=licence.code,
        license_text=licence.text,
        license_url=licence.deed,
        license_statements=licence.statements,
        is_retracted=front.is_retracted(article, meta, title),
        keywords=keywords,
        mesh_terms=mesh_terms,
        figures=figures,
        table_captions=table_captions(article),
        text="\n".join(paragraph.text for paragraph in paragraphs),
        paragraphs=tuple(paragraphs_of_xml(paragraphs, clusters)),
    )
