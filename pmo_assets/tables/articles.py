"""Tables of the group `articles`: from the manifest of a batch to the figures that the XML lists."""

from __future__ import annotations

import dataframely as dy

from pmo_assets.records.context import SECTION_CLASSES
from pmo_assets.tables.columns import ArticleKey, FigureKey, rights_column
from pmo_assets.tables.released import FACTS, released

FILE_COLUMNS: dict[str, dy.Column] = {
    "role": dy.String(),
    "path": dy.String(),
    "size": dy.Int64(nullable=True),
    "sha256": dy.String(nullable=True),
    "md5": dy.String(nullable=True),
}
"""A file of a package (`records.packages.PackageFile`)."""

PROBLEM_COLUMNS: dict[str, dy.Column] = {"path": dy.String(), "error_class": dy.String(), "message": dy.String()}
"""A file that a package goes on without (`records.packages.PackageProblem`)."""

_LICENSE_UNKNOWN = (
    "The source's metadata cannot be read and may state a retraction or a licence: the licence counts as unknown"
)


class ArticleBatch(ArticleKey):
    """The manifest of a batch: which articles it holds and where their files are. Written once, never changed."""

    name = dy.String(description="Name of the package at its source, e.g. PMC10009416.1")
    version = dy.Int64(min=1, description="Version of the article within PMC")
    digest = dy.String(description="SHA-256 over the package's file names, contents and stated metadata")
    source = dy.String(description="Which article source holds it (kind and root)")
    license_code = dy.String(nullable=True, description="Licence code the source states")
    is_retracted = dy.Bool(description="The source says the article is retracted")
    title = dy.String(nullable=True, description="Title the source states")
    citation = dy.String(nullable=True, description="Citation the source states")
    doi = dy.String(nullable=True, description="Digital object identifier the source states")
    is_manuscript = dy.Bool(
        nullable=True, description="The source says it is an author manuscript; null in manifests of earlier versions"
    )
    files = dy.List(
        dy.Struct(FILE_COLUMNS),
        description="Files: role (pdf, xml, figure), path below the source's root, bytes, SHA-256 or MD5 as far as the "
        "source states them",
    )
    license_unknown = dy.Bool(description=_LICENSE_UNKNOWN)
    problems = dy.List(
        dy.Struct(PROBLEM_COLUMNS),
        description="Files that the package goes on without: path, error class, what is wrong",
    )


class ArticlePackages(ArticleKey):
    """Packages fetched from their source into the object store, checksums verified."""

    name = dy.String(description="Name of the package at its source")
    version = dy.Int64(min=1, description="Version of the article within PMC")
    license_code = dy.String(nullable=True, description="Licence code the source states")
    is_retracted = dy.Bool(description="The source says the article is retracted")
    title = dy.String(nullable=True, description="Title the source states")
    citation = dy.String(nullable=True, description="Citation the source states")
    doi = dy.String(nullable=True, description="Digital object identifier the source states")
    is_manuscript = dy.Bool(
        nullable=True, description="The source says it is an author manuscript; null in manifests of earlier versions"
    )
    pdf = dy.String(nullable=True, description="Object key of the PDF; null when the package has none")
    xml = dy.String(nullable=True, description="Object key of the JATS XML; null when the package has none")
    figure_files = dy.List(
        dy.Struct({"name": dy.String(), "key": dy.String()}), description="Package figures: file name and object key"
    )
    license_unknown = dy.Bool(description=_LICENSE_UNKNOWN)


class Articles(ArticleKey):
    """What is known of each article, and whether it goes on."""

    package = dy.String(
        description="Name of the article's package at its source, e.g. PMC10009416.1",
        metadata=released(FACTS, "articles"),
    )
    version = dy.Int64(min=1, description="Version of the article within PMC")
    pmcid = dy.Int64(
        nullable=True,
        min=1,
        description="PMC number: the package's, else the one its XML states",
        metadata=released(FACTS, "articles"),
    )
    pmid = dy.String(nullable=True, description="PubMed number", metadata=released(FACTS, "articles"))
    doi = dy.String(nullable=True, description="Digital object identifier")
    title = dy.String(nullable=True, description="Title; null when source, XML and PDF give none")
    journal = dy.String(nullable=True, description="Journal")
    year = dy.Int64(nullable=True, description="Year of publication")
    authors = dy.List(dy.String(), description="Authors in order; empty when not known")
    citation = dy.String(
        nullable=True, description="Journal, year, volume, pages as far as known", metadata=released(FACTS, "articles")
    )
    mesh_terms = dy.List(
        dy.String(),
        description="MeSH headings that the XML carries; empty where it has none, as most of PMC's",
        metadata=released(FACTS, "articles"),
    )
    keywords = dy.List(
        dy.String(),
        description="Keywords and the publisher's subjects in the XML; empty without any",
        metadata=released(FACTS, "articles"),
    )
    license_code = dy.String(nullable=True, description="Licence (CC BY, CC BY-NC, …); null when none is stated")
    license_url = dy.String(nullable=True, description="Its deed; null when no version is stated")
    stated_by = dy.List(
        dy.Struct({"fact": dy.String(), "source": dy.String()}),
        description="Where title, authors, DOI, journal and year were read: metadata, XML, or a place in the PDF",
    )
    pdf_identity = dy.Enum(
        ["verified", "unverified"],
        nullable=True,
        description="Whether something shows that the PDF is of the article that the XML, or without XML the metadata, "
        "describe; null when there is nothing to compare. A PDF that contradicts them is rejected",
    )
    identity_evidence = dy.List(
        dy.String(), description="What agrees: text, DOI, title, authors; empty when nothing does"
    )
    text_overlap = dy.Float64(
        nullable=True, min=0, max=1,
        description="Share of the XML's text in the PDF's pages, read until it is certain; null without text",
    )  # fmt: skip
    is_manuscript = dy.Bool(description="Author manuscript", metadata=released(FACTS, "articles"))
    is_retracted = dy.Bool(description="Retracted, or itself a retraction notice; such articles do not go on")
    has_xml = dy.Bool(description="The package has a readable JATS XML")
    has_pdf = dy.Bool(description="The package has a PDF")
    relevant = dy.Bool(description="The article meets the specialty's relevance criteria")
    criteria = dy.List(dy.String(), description="Relevance criteria that are met (i, ii, iii)")
    relevance_reason = dy.String(description="Which term met which criterion, or which criterion was missed")
    selected = dy.Bool(description="The article goes on: relevant, not retracted, with a PDF")
    xml = dy.String(nullable=True, description="Object key of the JATS XML; null when absent or unreadable")
    xml_figures = dy.List(
        dy.Struct(
            {
                "image_cluster_id": dy.String(),
                "label": dy.String(),
                "caption": dy.String(),
                "graphics": dy.List(dy.String()),
                "mentions": dy.List(dy.Struct({"sentence": dy.String(), "paragraph": dy.String()})),
                "rights_statement": dy.String(nullable=True),
            }
        ),
        description="Its `<fig>` elements: what `package_figures` looks for in the package",
    )
    pdf = dy.String(nullable=True, description="Object key of the PDF")
    paragraphs = dy.List(
        dy.Struct(
            {
                "section": dy.Enum(SECTION_CLASSES),
                "section_title": dy.String(nullable=True),
                "text": dy.String(),
                "references": dy.List(dy.Struct({"offset": dy.Int64(), "image_cluster_id": dy.String()})),
                "source": dy.Enum(["xml", "pdf"]),
            }
        ),
        description="Running text, numbered from 0: class and title of the section, text, cross-references to figures "
        "with their offset, source; empty when the article cannot go on (no PDF, retracted)",
    )


class PackageFigures(FigureKey):
    """The `<fig>` elements of the JATS XML with the JPEG of the package."""

    ordinal = dy.Int64(min=0, description="Position among the article's figures")
    label = dy.String(description='As printed, e.g. "Figure 3"; empty when the XML has none')
    caption = dy.String(description="Caption without the label")
    graphics = dy.List(dy.String(), description="xlink:href of its pictures, one per picture")
    mentions = dy.List(
        dy.Struct({"sentence": dy.String(), "paragraph": dy.String()}), description="In-text mentions of the figure"
    )
    file = dy.String(nullable=True, description="Object key of the package's picture; null when it has none")
    rights_statement = rights_column()


SCHEMAS: dict[str, type[dy.Schema]] = {
    "article_batch": ArticleBatch,
    "article_packages": ArticlePackages,
    "articles": Articles,
    "package_figures": PackageFigures,
}
"""The schema of each asset of the group that is a table."""
