"""Records of an article as its JATS XML states it, which the other rooms read."""

from __future__ import annotations

from dataclasses import dataclass, field

from pmo_assets.records.context import RunningParagraph


@dataclass(frozen=True, slots=True)
class InTextMention:
    """A place in the running text that refers to a figure.

    Attributes:
        sentence: the sentence with the reference.
        paragraph: the whole paragraph around it.
    """

    sentence: str
    paragraph: str


@dataclass(frozen=True, slots=True)
class PackageFigure:
    """A `<fig>` of the JATS XML.

    Attributes:
        image_cluster_id: `xlink:href` of its first graphic, without folder and image extension; unique in the article.
        label: as printed, e.g. "Figure 3"; "" when the XML has none.
        caption: plain text of title and paragraphs of `<caption>`, without the label, white space collapsed.
        graphics: `xlink:href` of its pictures, one per picture, in document order.
        mentions: where the text refers to it.
        rights_statement: what its `<permissions>`, `<attrib>` and caption say of rights that are not the article's;
            None when nothing.
    """

    image_cluster_id: str
    label: str
    caption: str
    graphics: tuple[str, ...] = ()
    mentions: tuple[InTextMention, ...] = ()
    rights_statement: str | None = None


@dataclass(frozen=True, slots=True)
class Article:
    """Facts of one article from its JATS XML (all text plain, white space collapsed).

    Attributes:
        pmcid: number without "PMC"; None when the XML does not give it.
        license_code: Creative Commons code as PMC writes it ("CC BY", "CC BY-NC-ND", "CC0"); None if not stated.
        license_text: the licence statement's text or URL, "" if absent.
        license_url: the licence's deed in the stated version; None if no version is stated.
        license_statements: everything that is stated of the licence: PMC's code, addresses, texts.
        citation: "Journal. Year; volume(issue): pages" as far as known.
        is_retracted: the article is retracted, or is itself a retraction notice.
        mesh_terms: MeSH headings if the XML carries them.
        figures: numbered figures in document order (no tables, supplements, graphical abstracts, author photos).
        table_captions: captions of `<table-wrap>`.
        text: abstract and body as plain text (for relevance criterion iii).
        paragraphs: of abstract, body and appendices, with sections and cross-references to `figures`.
    """

    pmcid: int | None
    pmid: str | None
    doi: str | None
    title: str
    journal: str
    year: int | None
    authors: tuple[str, ...]
    citation: str
    license_code: str | None
    license_text: str
    is_retracted: bool
    keywords: tuple[str, ...]
    mesh_terms: tuple[str, ...]
    figures: tuple[PackageFigure, ...]
    table_captions: tuple[str, ...]
    text: str = field(repr=False)
    license_url: str | None = None
    license_statements: tuple[str, ...] = ()
    paragraphs: tuple[RunningParagraph, ...] = field(repr=False, default=())


@dataclass(frozen=True, slots=True)
class ArticleCredit:
    """Credits and licence of an article, as rows of the dataset state them.

    Attributes:
        article_id: number of the article.
        package: name of its package.
        version: within PMC, from 1.
        pmcid: PMC number; None when not known.
        title, journal, year, doi, citation: None when not known.
        authors: in order; empty when not known.
        license_code: None when none is stated.
        license_url: the licence's deed; None when no version is stated.
    """

    article_id: int
    package: str
    version: int
    pmcid: int | None
    title: str | None
    authors: tuple[str, ...]
    journal: str | None
    year: int | None
    doi: str | None
    citation: str | None
    license_code: str | None
    license_url: str | None
