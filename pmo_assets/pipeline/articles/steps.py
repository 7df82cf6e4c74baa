"""Steps of the group `articles`: an article's facts, and the figures that its XML lists.

A step takes rows of tables and gives a `StepOutput`. A worker process runs it for one article; `pmo article` and a
notebook call it, too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cache
from pathlib import PurePosixPath
from typing import Any

from pmo_assets.pictures import PictureUnreadable, decode_gray
from pmo_assets.pipeline.articles.biomedica import match_biomedica
from pmo_assets.pipeline.articles.credit import citation_text, pmc_number
from pmo_assets.pipeline.articles.dois import clean_doi
from pmo_assets.pipeline.articles.fetching import FetchLimits, fetch_package
from pmo_assets.pipeline.articles.front_page import FrontMatter, read_front_matter
from pmo_assets.pipeline.articles.jats import parse_jats
from pmo_assets.pipeline.articles.jats_front_matter import is_retracted_title, licences_of_damaged_xml
from pmo_assets.pipeline.articles.licences import (
    agreed_code,
    licence_problem,
    license_code,
    license_statements,
    license_url,
    most_restrictive,
)
from pmo_assets.pipeline.articles.paragraphs import bounded, paragraphs_of_pdf
from pmo_assets.pipeline.articles.pdf_identity import (
    UNREAD,
    PdfIdentity,
    PdfOfAnotherArticle,
    check_metadata,
    identity_with_metadata,
    identity_with_xml,
)
from pmo_assets.pipeline.articles.relevance import (
    Relevance,
    Specialty,
    assess_relevance,
    assess_relevance_of_text,
)
from pmo_assets.pipeline.figures.extraction import FigureOptions, extract_figures
from pmo_assets.pipeline.figures.printed_paragraphs import PrintedParagraph
from pmo_assets.pipeline.figures.registration import PICTURE_SIDE
from pmo_assets.records.article import Article, PackageFigure
from pmo_assets.records.biomedica import BiomedicaFigure
from pmo_assets.records.context import RunningParagraph
from pmo_assets.records.packages import ArticleSource
from pmo_assets.records.rejections import ArticleError, rejection_from
from pmo_assets.records.step_output import StepOutput
from pmo_assets.records.stores import ObjectStore
from pmo_assets.tables.rows import record_of, row_of


class LicenceUnclear(ArticleError):
    """An article's licence statement contradicts its metadata, or is not understood."""


class NoPdf(ArticleError):
    """The package holds no PDF: figures cannot be extracted at full resolution."""


def fetch_article(
    listing: Mapping[str, Any],
    open_source: Callable[[str], ArticleSource],
    objects: ObjectStore,
    fetch_limits: FetchLimits,
) -> StepOutput:
    """Copy a package's files into the object store, checksums verified: a row of `article_packages`.

    Args:
        listing: row of `article_batch`.
        open_source: gives the source that a manifest names.
        objects: store that the files go into.
        fetch_limits: limits of size above which a file is not fetched.
    """
    return fetch_package(listing, open_source(listing["source"]), objects, fetch_limits)


def read_article(
    package: Mapping[str, Any],
    objects: ObjectStore,
    specialty: Specialty,
    biomedica_figures: Sequence[Mapping[str, Any]] = (),
) -> StepOutput:
    """Read an article's facts from its XML and judge its relevance: a row of `articles`.

    Args:
        package: row of `article_packages`.
        objects: store of the files.
        specialty: rules for wanted articles and panels.
        biomedica_figures: its rows of `biomedica_figures`, whose labels count for its relevance.

    Raises:
        ArticleError: if PDF, XML and metadata are not of one article (see `pdf_identity`).
    """
    labels = sorted(
        {label for row in biomedica_figures for label in (*row["secondary_labels"], *row["primary_labels"])}
    )
    article_id = package["article_id"]
    output = StepOutput()
    article: Article | None = None
    printed: Sequence[PrintedParagraph] = ()
    damaged: tuple[str, ...] = ()
    if package["xml"] is not None:
        xml = objects.get(package["xml"])
        try:
            article = parse_jats(xml)
        except ArticleError as error:
            damaged = licences_of_damaged_xml(xml)
            # The article goes on without its XML: figures are then found by layout alone.
            output.rejections.append(rejection_from(error, stage="articles", unit_id=article_id))
    read_front = cache(lambda: _front_matter(package, objects))
    identity = _identity(package, article, objects, read_front)
    front = FrontMatter() if article is not None and _names_all(article) else read_front()
    if article is not None:
        relevance = assess_relevance(article, specialty, figure_labels=labels)
        stated = article.license_statements
        code = article.license_code
    else:
        relevance, statement, printed, fault = _judged_by_pdf(package, objects, specialty, labels)
        if fault is not None and not relevance.relevant:  # else pdf_figures meets the same PDF
            output.rejections.append(rejection_from(fault, stage="articles", unit_id=article_id))
        # What metadata and pages state together: of two licences the more restrictive counts.
        stated = (*front.licences, statement)
        code = license_code(" | ".join(filter(None, stated)))
        if damaged and code is not None:
            code = agreed_code(code, *damaged)
        stated += damaged
    has_pdf = package["pdf"] is not None
    retracted = package["is_retracted"] or (article.is_retracted if article else is_retracted_title(front.title))
    if not has_pdf:
        output.rejections.append(
            rejection_from(NoPdf("the package holds no PDF"), stage="articles", unit_id=article_id)
        )
    # PMC's own licence code is curated; what XML or PDF state is what the publisher wrote, and may allow less. Metadata
    # that cannot be read, or not be understood ("all rights reserved"), may allow less than both.
    curated = package["license_code"]
    agreed = agreed_code(curated, *stated) if curated else code
    if not package["license_unknown"] and (problem := licence_problem(curated, agreed, *stated)) is not None:
        output.rejections.append(rejection_from(LicenceUnclear(problem), stage="articles", unit_id=article_id))
    if package["license_unknown"]:
        code = None
    elif curated:
        if article is None and identity is not None and identity.verdict == "unverified":
            # Nothing shows that the metadata speak of this PDF: they can restrict what the pages allow, not grant it.
            agreed = most_restrictive([agreed, code]) if code else None
        code = agreed
    deed = license_url(code, package["license_code"], article.license_url if article else None)
    credit, sources = _credit(package, article, front)
    selected = relevance.relevant and has_pdf and not retracted
    # Relevance does not decide: one article by itself (`pmo article`) goes on without.
    goes_on = has_pdf and not retracted
    paragraphs, cut = bounded(_running_text(package, objects, article, printed)) if goes_on else ((), None)
    if cut is not None and (selected or article is not None):  # else the text counts for nothing but relevance
        output.rejections.append(rejection_from(cut, stage="articles", unit_id=article_id))
    output.rows.append(
        {
            **{name: package[name] for name in ("article_id", "version")},
            "package": package["name"],
            "pmcid": pmc_number(article_id, article.pmcid if article else None),
            "pmid": article.pmid if article else None,
            **credit,
            "mesh_terms": list(article.mesh_terms) if article else [],
            "keywords": list(article.keywords) if article else [],
            "license_code": code,
            "license_url": deed or license_url(code, *front.licences, *stated, front.license_links),
            "stated_by": [{"fact": fact, "source": source} for fact, source in sources.items()],
            "pdf_identity": identity.verdict if identity else None,
            "identity_evidence": list(identity.evidence) if identity else [],
            "text_overlap": identity.text_overlap if identity else None,
            "is_manuscript": bool(package["is_manuscript"]),
            "is_retracted": retracted,
            "has_xml": article is not None,
            "has_pdf": has_pdf,
            "relevant": relevance.relevant,
            "criteria": list(relevance.criteria),
            "relevance_reason": relevance.reason,
            "selected": selected,
            "xml": package["xml"] if article is not None else None,
            "xml_figures": [asdict(figure) for figure in article.figures] if article is not None else [],
            "pdf": package["pdf"],
            "paragraphs": [row_of(paragraph) for paragraph in paragraphs],
        }
    )
    return output


def _running_text(
    package: Mapping[str, Any],
    objects: ObjectStore,
    article: Article | None,
    printed: Sequence[PrintedParagraph],
) -> Iterator[RunningParagraph]:
    """Yield the article's running text: the XML's, or the PDF's where there is no XML, or one without a body.

    Args:
        package: row of `article_packages` with `pdf`.
        objects: store of the files.
        article: of the XML; None without one.
        printed: paragraphs of the PDF, read already where there is no XML.
    """
    if article is not None and any(paragraph.section != "abstract" for paragraph in article.paragraphs):
        return iter(article.paragraphs)
    if article is not None:
        try:
            options = FigureOptions(render=False, paragraphs=True)
            printed = extract_figures(objects.get(package["pdf"]), options=options).paragraphs
        except ArticleError:
            printed = ()  # the reason is recorded where the article needs its PDF
    return paragraphs_of_pdf(printed) if printed or article is None else iter(article.paragraphs)


def _names_all(article: Article) -> bool:
    """Say whether an XML leaves nothing open that the PDF's front pages could say."""
    return all((article.title, article.authors, article.doi, article.journal, article.year, article.license_url))


def _front_matter(package: Mapping[str, Any], objects: ObjectStore) -> FrontMatter:
    """Return the facts that the PDF states about its article; none without a PDF that can be read."""
    if package["pdf"] is None:
        return FrontMatter()
    try:
        return read_front_matter(objects.get(package["pdf"]))
    except ArticleError:
        return FrontMatter()  # the reason is recorded where the article needs its PDF


def _identity(
    package: Mapping[str, Any], article: Article | None, objects: ObjectStore, read_front: Callable[[], FrontMatter]
) -> PdfIdentity | None:
    """Return the evidence that the package's files are of one article; None when there is nothing to compare.

    Raises:
        ArticleError: if they are not.
    """
    stated = package.get("title"), package.get("doi")
    if article is not None:
        check_metadata(*stated, article, read_front)
    if package["pdf"] is None:
        return None
    pdf = objects.get(package["pdf"])
    try:
        if article is not None:
            return identity_with_xml(article, pdf, read_front)
        return identity_with_metadata(*stated, pdf, read_front())
    except PdfOfAnotherArticle:
        raise
    except ArticleError:
        return UNREAD


def _credit(
    package: Mapping[str, Any], article: Article | None, front: FrontMatter
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the facts that credit the article, and the place of each: the source's statement, the XML, the PDF."""
    facts: dict[str, Any] = {}
    sources: dict[str, str] = {}
    for fact in ("title", "authors", "doi", "journal", "year"):
        places = (
            ("metadata", package.get(fact)),
            ("XML", getattr(article, fact, None)),
            (front.sources.get(fact, ""), getattr(front, fact)),
        )
        source, value = next(((place, value) for place, value in places if value), ("", None))
        facts[fact] = list(value or ()) if fact == "authors" else value
        if value:
            sources[fact] = source
    facts["doi"] = clean_doi(facts["doi"])
    printed = citation_text(front.journal, front.year, front.volume, front.pages)
    listed = article.citation if article else ""
    # An XML that names journal and year only says less than the PDF's own citation.
    says_less = not listed or (facts["year"] is not None and listed.endswith(str(facts["year"])))
    own = printed if says_less and (front.volume or front.pages) else listed or printed
    facts["citation"] = package["citation"] or own or None
    return facts, sources


def _judged_by_pdf(
    package: Mapping[str, Any], objects: ObjectStore, specialty: Specialty, figure_labels: Sequence[str]
) -> tuple[Relevance, str, Sequence[PrintedParagraph], ArticleError | None]:
    """Return relevance, licence statements and paragraphs of an article without a readable XML, from its PDF's text.

    Without text nothing can be judged relevant: then the error says why there is none.
    """
    nothing = assess_relevance_of_text([], "", specialty), "", ()
    if package["pdf"] is None:
        return *nothing, None
    try:
        options = FigureOptions(render=False, paragraphs=True)
        extraction = extract_figures(objects.get(package["pdf"]), options=options)
    except ArticleError as error:
        return *nothing, error
    captions = [figure.caption for figure in extraction.figures]
    relevance = assess_relevance_of_text(captions, extraction.text, specialty, figure_labels=figure_labels)
    return relevance, license_statements(extraction.text), extraction.paragraphs, None


def read_package_figures(article: Mapping[str, Any], package: Mapping[str, Any], objects: ObjectStore) -> StepOutput:
    """Match the figures that the XML lists to the package's pictures: rows of `package_figures`.

    This is where package pictures are decoded for the first time: one that cannot be is rejected here, and the steps
    that follow do without it.

    Args:
        article: row of `articles` with `xml`.
        package: row of `article_packages`.
        objects: store of the files.
    """
    figures = [record_of(PackageFigure, item) for item in article["xml_figures"]]
    files = {PurePosixPath(item["name"]).name: item["key"] for item in package["figure_files"]}
    pictures = [_package_picture(figure, files) for figure in figures]
    figure_of = {
        picture: figure.image_cluster_id
        for figure, picture in reversed(list(zip(figures, pictures, strict=True)))
        if picture is not None
    }
    output = StepOutput()
    unreadable = set()
    for name, key in sorted(files.items()):
        try:
            decode_gray(objects.get(key), PICTURE_SIDE)
        except PictureUnreadable as error:
            unreadable.add(name)
            reason = PictureUnreadable(f"{name} cannot be used: {error}; the figure is looked for without it")
            shown = figure_of.get(name, PurePosixPath(name).stem)
            output.rejections.append(
                rejection_from(reason, stage="package_figures", unit_id=article["article_id"], part=shown)
            )
    for ordinal, (figure, picture) in enumerate(zip(figures, pictures, strict=True)):
        output.rows.append(
            {
                "article_id": article["article_id"],
                "image_cluster_id": figure.image_cluster_id,
                "ordinal": ordinal,
                "label": figure.label,
                "caption": figure.caption,
                "graphics": list(figure.graphics),
                "mentions": [asdict(mention) for mention in figure.mentions],
                "rights_statement": figure.rights_statement,
                "file": None if picture is None or picture in unreadable else files[picture],
            }
        )
    return output


def match_article_biomedica(
    article_id: int,
    biomedica_figures: Sequence[Mapping[str, Any]],
    package_figures: Sequence[Mapping[str, Any]],
    objects: ObjectStore,
) -> StepOutput:
    """Match BIOMEDICA's rows of an article with its package figures: rows of `biomedica_matches`.

    Args:
        article_id: PMC number.
        biomedica_figures: its rows of `biomedica_figures`.
        package_figures: its rows of `package_figures`; empty when the article does not go on, or has no XML.
        objects: store of the package pictures.
    """
    if not package_figures:
        return StepOutput()
    pictures = {row["image_cluster_id"]: objects.get(row["file"]) for row in package_figures if row["file"] is not None}
    matches = match_biomedica(
        [record_of(PackageFigure, row) for row in package_figures],
        pictures,
        [record_of(BiomedicaFigure, row) for row in biomedica_figures],
    )
    output = StepOutput()
    for match in matches:
        found, row = match.compared, match.row
        output.rows.append(
            {
                "article_id": article_id,
                "image_cluster_id": match.image_cluster_id,
                "accepted": row is not None,
                "row_id": row.row_id if row else None,
                "criteria_passed": found.passed if found else None,
                "hash_distance": found.hash_distance if found else None,
                "name_matches": found.number_matches if found else None,
                "aspect_ratio_error": found.aspect_ratio_error if found else None,
                "caption_distance": found.caption_distance if found else None,
                "panel_type": row.panel_type if row else None,
                "panel_subtype": row.panel_subtype if row else None,
                "primary_labels": list(row.primary_labels) if row else [],
                "secondary_labels": list(row.secondary_labels) if row else [],
                "reason": match.reason,
            }
        )
    return output


def _package_picture(figure: PackageFigure, files: Collection[str]) -> str | None:
    """Return the file of the figure's picture: named like a graphic, with or without a picture suffix."""
    names = [PurePosixPath(graphic).name for graphic in figure.graphics] or [figure.image_cluster_id]
    for name in [*names, figure.image_cluster_id]:
        for file_name in (name, *(f"{name}{suffix}" for suffix in (".jpg", ".jpeg", ".png", ".gif"))):
            if file_name in files:
                return file_name
        by_stem = [
            file_name for file_name in sorted(files) if PurePosixPath(file_name).stem == PurePosixPath(name).stem
        ]
        if by_stem:
            return by_stem[0]
    return None
