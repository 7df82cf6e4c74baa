"""The tables: one schema per asset, with the meaning of every column.

dataframely was chosen over patito, pandera and plain Arrow schemas: it is made for Polars, declares nested lists and
structs, primary keys and value ranges next to the column, carries a description per column (which the UI shows),
validates whole columns in Rust instead of row objects, and converts to an Arrow schema for streaming writers.

Schemas are enforced where tables are written (`resources/storage.py`). Boxes in a table are lists
[left, top, right, bottom].
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dataframely as dy
import polars as pl
import pyarrow as pa


def _box(description: str, *, nullable: bool = False) -> dy.List:
    return dy.List(dy.Float64(), nullable=nullable, min_length=4, max_length=4, description=description)


def _page_boxes(description: str) -> dy.List:
    return dy.List(
        dy.Struct({"page": dy.Int64(min=0), "bbox": dy.List(dy.Float64(), min_length=4, max_length=4)}),
        description=description,
    )


_WITHHELD = "null where the licence forbids redistribution"
"""Of columns that `pipeline.dataset.licensing` withholds."""

_LICENSE_UNKNOWN = (
    "The source's metadata cannot be read and may state a retraction or a licence: the licence counts as unknown"
)
_SEGMENTS = "[start, end) character ranges of the caption, in order"


class ArticleKey(dy.Schema):
    """Columns that every table starts with."""

    article_id = dy.Int64(primary_key=True, min=1, description='PMC number without "PMC"; see the README for others')


class FigureKey(dy.Schema):
    """Columns that identify a figure."""

    article_id = dy.Int64(primary_key=True, min=1, description='PMC number without "PMC"; see the README for others')
    image_cluster_id = dy.String(
        primary_key=True, description="Figure within the article: its graphic's name in the XML"
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
        dy.Struct({"role": dy.String(), "path": dy.String(), "size": dy.Int64(), "sha256": dy.String()}),
        description="Files: role (pdf, xml, figure), path below the source's root, bytes, SHA-256",
    )
    license_unknown = dy.Bool(description=_LICENSE_UNKNOWN)
    problems = dy.List(
        dy.Struct({"path": dy.String(), "error_class": dy.String(), "message": dy.String()}),
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

    name = dy.String(description="Name of the package at its source")
    version = dy.Int64(min=1, description="Version of the article within PMC")
    pmcid = dy.Int64(nullable=True, min=1, description="PMC number: the package's, else the one its XML states")
    pmid = dy.String(nullable=True, description="PubMed number")
    doi = dy.String(nullable=True, description="Digital object identifier")
    title = dy.String(nullable=True, description="Title; null when source, XML and PDF give none")
    journal = dy.String(nullable=True, description="Journal")
    year = dy.Int64(nullable=True, description="Year of publication")
    authors = dy.List(dy.String(), description="Authors in order; empty when not known")
    citation = dy.String(nullable=True, description="Journal, year, volume, pages as far as known")
    license_code = dy.String(nullable=True, description="Licence (CC BY, CC BY-NC, …); null when none is stated")
    license_url = dy.String(nullable=True, description="Its deed; null when no version is stated")
    stated_by = dy.List(
        dy.Struct({"fact": dy.String(), "source": dy.String()}),
        description="Where title, authors, DOI, journal and year were read: metadata, XML, or a place in the PDF",
    )
    is_manuscript = dy.Bool(description="Author manuscript")
    is_retracted = dy.Bool(description="Retracted, or itself a retraction notice; such articles do not go on")
    has_xml = dy.Bool(description="The package has a readable JATS XML")
    has_pdf = dy.Bool(description="The package has a PDF")
    relevant = dy.Bool(description="The article meets the specialty's relevance criteria")
    criteria = dy.List(dy.String(), description="Relevance criteria that are met (i, ii, iii)")
    relevance_reason = dy.String(description="Which term met which criterion, or which criterion was missed")
    selected = dy.Bool(description="The article goes on: relevant, not retracted, with a PDF")
    xml = dy.String(nullable=True, description="Object key of the JATS XML; null when absent or unreadable")
    pdf = dy.String(nullable=True, description="Object key of the PDF")


class PackageFigures(FigureKey):
    """The `<fig>` elements of the JATS XML with the JPEG of the package."""

    ordinal = dy.Int64(min=0, description="Position among the article's figures")
    label = dy.String(description='As printed, e.g. "Figure 3"; empty when the XML has none')
    caption = dy.String(description="Caption without the label")
    graphics = dy.List(dy.String(), description="xlink:href of every graphic")
    mentions = dy.List(
        dy.Struct({"sentence": dy.String(), "paragraph": dy.String()}), description="In-text mentions of the figure"
    )
    file = dy.String(nullable=True, description="Object key of the package's picture; null when it has none")


class PdfFigures(dy.Schema):
    """Figures located in the PDF; their pixels lie in the pixel store `figures`."""

    article_id = dy.Int64(primary_key=True, min=1, description='PMC number without "PMC"')
    pdf_figure_id = dy.String(primary_key=True, description="p<page>-<n>, unique in the PDF")
    ordinal = dy.Int64(min=0, description="Position in reading order")
    label = dy.String(nullable=True, description="Label as printed")
    caption = dy.String(description="Caption without the label")
    locations = _page_boxes("Where the figure lies: page (from 0) and [l, t, r, b] in PDF points")
    caption_locations = _page_boxes("Where its caption lies, label included")
    image_cluster_id = dy.String(nullable=True, description="Package figure whose caption located it")
    located_by = dy.Enum(
        ["xml_caption", "layout", "package_image"],
        description="What led to the figure: the caption in the XML, page layout alone, or its package picture",
    )
    picture_correlation = dy.Float64(
        nullable=True, min=-1, max=1, description="Between rendering and package picture; null when not compared"
    )
    confidence = dy.Float64(min=0, max=1, description="How certain the location is")
    width = dy.Int64(min=1, description="Pixels of the rendering")
    height = dy.Int64(min=1, description="Pixels of the rendering")
    dpi = dy.Float64(min=1, description="Resolution of the rendering")
    bitmaps = dy.List(
        dy.Struct({"box": dy.List(dy.Float64()), "native_width": dy.Int64(), "native_height": dy.Int64()}),
        description="Embedded bitmaps: normalised box and native pixels",
    )
    texts = dy.List(
        dy.Struct({"text": dy.String(), "box": dy.List(dy.Float64()), "size": dy.Float64(), "bold": dy.Bool()}),
        description="Live text inside the figure: normalised box, size in points",
    )


class FigureMatches(dy.Schema):
    """Candidate pairs of a PDF figure and a package figure, with the evidence for each."""

    article_id = dy.Int64(primary_key=True, min=1, description='PMC number without "PMC"')
    pdf_figure_id = dy.String(primary_key=True, description="Figure in the PDF")
    image_cluster_id = dy.String(primary_key=True, description="Package figure")
    hash_distance = dy.Int64(nullable=True, description="Perceptual hash distance in bits; null without a picture")
    number_matches = dy.Bool(nullable=True, description="Same figure number; null when a number is missing")
    aspect_ratio_error = dy.Float64(nullable=True, description="Relative difference of the aspect ratios")
    caption_distance = dy.Float64(nullable=True, description="Normalised edit distance of the captions")
    picture_correlation = dy.Float64(
        nullable=True, min=-1, max=1, description="Between rendering and package picture; evidence beside the criteria"
    )
    criteria_passed = dy.Int64(min=0, max=4, description="How many of the four criteria pass")
    accepted = dy.Bool(description="This pair is the match")


class Figures(FigureKey):
    """Figures that go on: located in the PDF and, where there is an XML, matched to their package figure."""

    pdf_figure_id = dy.String(description="Figure in the PDF; key of its pixels in the store `figures`")
    ordinal = dy.Int64(min=0, description="Position in the article")
    label = dy.String(nullable=True, description="Label")
    caption = dy.String(description="Caption without the label; from the XML when matched")
    matched = dy.Bool(description="Matched to a package figure; false when the article has no XML or none fits")
    match_criteria = dy.Int64(nullable=True, description="Matching criteria passed, of four; null when unmatched")
    confidence = dy.Float64(min=0, max=1, description="How certain the location is")
    is_multi_page = dy.Bool(description="The figure runs over several pages")
    locations = _page_boxes("Page (from 0) and [l, t, r, b] in PDF points")
    caption_locations = _page_boxes("Where its caption lies, label included")
    mentions = dy.List(
        dy.Struct({"sentence": dy.String(), "paragraph": dy.String()}), description="In-text mentions of the figure"
    )
    width = dy.Int64(min=1, description="Pixels")
    height = dy.Int64(min=1, description="Pixels")
    dpi = dy.Float64(min=1, description="Resolution of the rendering")
    bitmaps = PdfFigures.columns()["bitmaps"]
    texts = PdfFigures.columns()["texts"]


class PanelDetections(FigureKey):
    """Panels and panel identifiers found in each figure."""

    detection_id = dy.String(
        primary_key=True, description="Unique in the figure: p0, p1 … panels; l0, l1 … identifiers"
    )
    kind = dy.Enum(["panel", "identifier"], description="What the box holds")
    box = _box("Normalised to the figure")
    score = dy.Float64(min=0, max=1, description="Detection score")
    source = dy.String(description="Where the box came from: bitmap, gutter, text, identifier, figure")
    text = dy.String(nullable=True, description="The identifier as read; null for panels and unread identifiers")


class ImageDetections(FigureKey):
    """Images in each figure with imaging type and mark status."""

    detection_id = dy.String(primary_key=True, description="Unique in the figure: i0, i1 …")
    box = _box("Normalised to the figure")
    score = dy.Float64(min=0, max=1, description="That there is an image")
    source = dy.String(description="Where the box came from: bitmap, gutter, figure")
    image_type = dy.Enum(
        ["CFP", "OCT", "Retinal Imaging", "Other"], nullable=True, description="Imaging type; null when undecided"
    )
    type_score = dy.Float64(min=0, max=1, description="Score of the type")
    type_reason = dy.String(description="Why the type is what it is, or why it is undecided")
    marked = dy.Bool(nullable=True, description="A mark points at a region; null when undecided")
    mark_score = dy.Float64(min=0, max=1, description="That the image is marked")


class Subcaptions(FigureKey):
    """One subcaption per panel that the caption names."""

    ordinal = dy.Int64(primary_key=True, min=0, description="Position in the caption")
    identifier = dy.String(
        nullable=True, description="Panel identifier as the caption names it; null for a single panel"
    )
    text = dy.String(description="Subcaption")
    segments = dy.List(dy.List(dy.Int64(), min_length=2, max_length=2), description=_SEGMENTS)
    confidence = dy.Float64(min=0, max=1, description="Of the whole caption's split")
    reasons = dy.List(dy.String(), description="What lowered the confidence")
    method = dy.String(description="Who answered: `grammar` or `language model`")
    model = dy.String(nullable=True, description="Name of the language model; null for the grammar")
    prompt_version = dy.String(nullable=True, description="Versions and hashes of its prompts; null for the grammar")


_IDENTIFIERS = dy.List(
    dy.Struct(
        {"id": dy.String(), "box": dy.List(dy.Float64()), "score": dy.Float64(), "text": dy.String(nullable=True)}
    ),
    description="Identifiers printed in the panel: detection, normalised box, score, text",
)
_IMAGES = dy.List(
    dy.Struct(
        {
            "id": dy.String(),
            "box": dy.List(dy.Float64()),
            "score": dy.Float64(),
            "image_type": dy.String(nullable=True),
            "type_score": dy.Float64(),
            "marked": dy.Bool(nullable=True),
            "mark_score": dy.Float64(),
        }
    ),
    description="Images in the panel: detection, normalised box, type and mark status with scores",
)


class PanelAssembly(FigureKey):
    """Which identifier, images and subcaption belong to which panel."""

    panel = dy.String(primary_key=True, description="Panel detection (p0, p1 …)")
    box = _box("Panel as detected, normalised to the figure")
    content_box = _box("Panel with all that was assigned to it, normalised to the figure")
    score = dy.Float64(min=0, max=1, description="Score of the panel detection")
    name = dy.String(nullable=True, description="Panel identifier; null for a single panel or when undecided")
    subcaption = dy.String(nullable=True, description="Subcaption; null when it cannot be decided")
    segments = dy.List(dy.List(dy.Int64()), nullable=True, description=_SEGMENTS)
    caption_confidence = dy.Float64(nullable=True, min=0, max=1, description="Confidence of the caption's split")
    method = dy.String(nullable=True, description="How the subcaption was assigned; null when it was not")
    reason = dy.String(description="Why this subcaption, or why none")
    identifiers = _IDENTIFIERS
    images = _IMAGES


class Panels(PanelAssembly):
    """Panels ready for the dataset; their pixels lie in the pixel store `panels`."""

    panel_id = dy.String(unique=True, description="Stable and unique over all articles")
    width = dy.Int64(min=1, description="Pixels of the panel picture")
    height = dy.Int64(min=1, description="Pixels of the panel picture")
    sha256 = dy.String(description="Of the panel picture (PNG)")


class Pixels(dy.Schema):
    """A pixel store's file: the pictures of one article, apart from the facts."""

    key = dy.String(primary_key=True, description="pdf_figure_id or panel_id")
    width = dy.Int64(min=1, description="Pixels")
    height = dy.Int64(min=1, description="Pixels")
    png = dy.Binary(description="PNG")


class DatasetRows(dy.Schema):
    """Rows of the dataset without their pixels, before licences are applied: one per panel with a subcaption.

    The published columns (PubMed-Ophtha, Table 2) but `panel_image_bytes`, and those that the release needs.
    """

    panel_id = dy.String(primary_key=True, description="Unique id of the panel")
    article_id = dy.Int64(min=1, description='PMC number without "PMC"')
    image_cluster_id = dy.String(description="Figure within the article")
    panel_name = dy.String(description='Panel identifier; "None" for a single-panel figure, as published')
    subcaption_text = dy.String(nullable=True, description=f"Subcaption; {_WITHHELD}")
    subcaption_segments = dy.List(dy.List(dy.Int64()), description=_SEGMENTS)
    position = dy.String(description="JSON {predicted_box, content_box, figure_page_coordinates, prediction_score}")
    is_multi_page_figure = dy.Bool(description="The figure runs over several pages")
    in_text_mention = dy.List(
        dy.String(),
        nullable=True,
        description=f"Paragraphs of the article that refer to the figure; {_WITHHELD}",
    )
    contains_cfp = dy.Bool(description="Holds a colour fundus photograph")
    contains_oct = dy.Bool(description="Holds an OCT image")
    contains_retinal = dy.Bool(description="Holds another retinal image")
    contains_other = dy.Bool(description="Holds another image")
    contains_marked = dy.Bool(description="Holds an image with arrows or other marks")
    image_data = dy.String(
        description="JSON list of {id, imaging_type, mark_status, is_gt, included_in_content_box, position}"
    )
    identifier_data = dy.String(
        description="JSON list of {id, is_gt, included_in_content_box, origin_identifier, position, text}"
    )
    assembly = dy.String(description="How the subcaption was assigned")
    annotation = dy.String(description="JSON list of human annotations that exist for the figure")
    license = dy.String(nullable=True, description="Licence code; null when none is stated")
    attribution = dy.String(description="'title', citation: authors, journal, year, volume, pages, DOI as far as known")
    commercial_use = dy.Bool(description="The licence allows commercial use (CC0, CC BY, CC BY-SA, CC BY-ND)")
    title = dy.String(nullable=True, description="Title of the article; null when not known")
    authors = dy.List(dy.String(), nullable=True, description="Its authors in order; null when not known")
    journal = dy.String(nullable=True, description="Its journal; null when not known")
    year = dy.Int64(nullable=True, description="Its year of publication; null when not known")
    doi = dy.String(nullable=True, description="Its digital object identifier; null when not known")
    article_url = dy.String(nullable=True, description="Its page at PubMed Central, else at its DOI; null without both")
    license_url = dy.String(
        nullable=True, description="The licence's deed in the stated version; null when no version is stated"
    )
    article_version = dy.Int64(min=1, description="Version of the article; the release keeps the newest")


PUBLISHED_COLUMNS = (
    "panel_id",
    "article_id",
    "image_cluster_id",
    "panel_name",
    "subcaption_text",
    "subcaption_segments",
    "panel_image_bytes",
    "position",
    "is_multi_page_figure",
    "in_text_mention",
    "contains_cfp",
    "contains_oct",
    "contains_retinal",
    "contains_other",
    "contains_marked",
    "image_data",
    "identifier_data",
    "assembly",
    "annotation",
    "license",
    "attribution",
    "commercial_use",
)
"""Columns of PubMed-Ophtha in the published order (paper, Table 2)."""

RELEASE_COLUMNS = (
    *PUBLISHED_COLUMNS,
    "title",
    "authors",
    "journal",
    "year",
    "doi",
    "article_url",
    "license_url",
)
"""Columns of `pubmed_ophtha.parquet`: the published ones, and apart from each other whom and what a row credits.

A new one needs a declaration of what it holds of the article (`pipeline.dataset.licensing.HOLDS`).
"""


class PubmedOphtha(DatasetRows):
    """A release: the dataset rows with their pictures, nulls where the licence forbids redistribution."""

    panel_image_bytes = dy.Binary(nullable=True, description=f"PNG; {_WITHHELD}")


class Duplicates(dy.Schema):
    """Packages that are not published because another package is the same article."""

    article_id = dy.Int64(primary_key=True, min=1, description="Number of the package that is not published")
    name = dy.String(description="Name of the package at its source")
    batch = dy.String(description="Batch that holds it")
    duplicate_of = dy.Int64(min=1, description="Number of the package that stands for the article")
    duplicate_of_name = dy.String(description="Its name")
    identifier = dy.Enum(["PMC number", "DOI", "PDF"], description="What shows that both are the same article")
    value = dy.String(description="PMC number, DOI in lower case, or SHA-256 of the PDF")
    shared_with = dy.String(description="Name of the package that has the same identifier; mostly `duplicate_of_name`")
    is_retracted = dy.Bool(description="The article is retracted: neither this package nor the other one is published")


class Rejections(dy.Schema):
    """What could not be processed, and why."""

    stage = dy.String(description="Asset that gave up")
    article_id = dy.Int64(min=1, description='PMC number without "PMC"')
    image_cluster_id = dy.String(nullable=True, description="Figure; null when the whole article is affected")
    error_class = dy.String(description="Exception class, or the name of a decision")
    message = dy.String(description="What is wrong, in a sentence")
    traceback_tail = dy.String(description="Last lines of the traceback; empty for a decision")


_LOCATIONS = dy.List(dy.Struct({"page": dy.Int64(), "bbox": dy.List(dy.Float64())}))
_ANNOTATED_IMAGE = dy.Struct(
    {"box": dy.List(dy.Float64()), "type": dy.String(nullable=True), "marked": dy.Bool(nullable=True)}
)
_ANNOTATED_PANEL = dy.Struct(
    {
        "identifier": dy.String(nullable=True),
        "identifier_box": dy.List(dy.Float64(), nullable=True),
        "box": dy.List(dy.Float64()),
        "subcaption": dy.String(nullable=True),
        "images": dy.List(_ANNOTATED_IMAGE),
    }
)


class Annotations(ArticleKey):
    """Ground truth: annotated articles, as read from the files at `PMO_ANNOTATIONS`."""

    name = dy.String(description="Name of the article's package")
    figures = dy.List(
        dy.Struct(
            {
                "label": dy.String(nullable=True),
                "image_cluster_id": dy.String(nullable=True),
                "figure_locations": _LOCATIONS,
                "caption_locations": _LOCATIONS,
                "caption": dy.String(nullable=True),
                "panels": dy.List(_ANNOTATED_PANEL),
            }
        ),
        description="All its figures; locations in PDF points, boxes of panels and images normalised to the figure",
    )


class QualityMetrics(dy.Schema):
    """Measured numbers of a quality asset."""

    metric = dy.String(description="What is measured")
    group = dy.String(description="Class or part that it is about; empty for all")
    threshold = dy.Float64(nullable=True, description="IoU, similarity or BLEU from which an item counts")
    value = dy.Float64(nullable=True, description="The number; null where nothing is annotated that could be measured")
    n = dy.Int64(min=0, description="Items behind it")


class QualityKey(dy.Schema):
    """Columns that tables of scored figures start with."""

    article_id = dy.Int64(primary_key=True, min=1, description="Number of the article")
    record = dy.String(primary_key=True, description="a0, a1 … annotated figures in order; s0, s1 … spurious ones")
    name = dy.String(description="Name of the article's package")
    label = dy.String(description="Label as annotated, or as found when spurious")
    image_cluster_id = dy.String(nullable=True, description="Figure in table `figures`; null when none was found")
    badness = dy.Float64(min=0, description="How bad it is, to sort by; 0 when nothing is wrong")
    problems = dy.List(dy.String(), description="What is wrong, in words; empty when nothing is")


class FigureQuality(QualityKey):
    """How well figures and captions are found, compared with annotated articles: numbers, plots and the worst cases."""

    state = dy.Enum(["right", "flawed", "missed", "spurious"], description="Missed: IoU below 0.5")
    iou = dy.Float64(min=0, max=1, description="Of annotated and found figure on their page")
    caption_similarity = dy.Float64(min=0, max=1, description="1 - edit distance / length of the longer caption")
    label_right = dy.Bool(description="The numbers of both labels agree")


class SubcaptionQuality(QualityKey):
    """How well captions of several panels are split, compared with annotated subcaptions."""

    identifiers = dy.List(dy.String(), description="Annotated identifiers, as compared")
    predicted = dy.List(dy.String(), description="Identifiers of the split, as compared")
    unprocessed = dy.Bool(description="The two sets of identifiers differ")
    mean_bleu = dy.Float64(nullable=True, min=0, max=1, description="Of the panels; null when unprocessed or no text")
    confidence = dy.Float64(min=0, max=1, description="Of the split")
    method = dy.String(description="Who split the caption")


class DetectionQuality(QualityKey):
    """How well panels, identifiers, images, their types and marks are found, compared with annotated figures."""

    panels = dy.Int64(min=0, description="Annotated panels")
    panels_missed = dy.Int64(min=0, description="No found panel overlaps it by 0.5")
    panels_spurious = dy.Int64(min=0, description="Found panels left over")
    panels_misplaced = dy.Int64(min=0, description="Found with an IoU between 0.5 and 0.75")
    identifiers = dy.Int64(min=0, description="Annotated identifiers")
    identifiers_missed = dy.Int64(min=0, description="As for panels")
    identifiers_spurious = dy.Int64(min=0, description="As for panels")
    identifiers_misplaced = dy.Int64(min=0, description="As for panels")
    images = dy.Int64(min=0, description="Annotated images")
    images_missed = dy.Int64(min=0, description="As for panels, whatever the type")
    images_spurious = dy.Int64(min=0, description="As for panels, whatever the type")
    images_misplaced = dy.Int64(min=0, description="As for panels, whatever the type")
    wrong_types = dy.Int64(min=0, description="Images found with another type")
    wrong_marks = dy.Int64(min=0, description="Images found with another mark status")


class AssemblyQuality(QualityKey):
    """Whether each annotated panel got its identifier and its subcaption."""

    panels = dy.Int64(min=0, description="Annotated panels")
    assigned = dy.Int64(min=0, description="Found (IoU at least 0.5) and called as annotated")
    right = dy.Int64(min=0, description="Subcaption as annotated (sentence BLEU at least 0.9)")
    wrong = dy.Int64(min=0, description="Another subcaption")
    none = dy.Int64(min=0, description="No subcaption was given")
    missed = dy.Int64(min=0, description="No panel was found there")
    spurious = dy.Int64(min=0, description="Found panels where none is annotated")
    bleu = dy.Float64(nullable=True, min=0, max=1, description="Mean sentence BLEU of the panels with a subcaption")


def column_descriptions(schema: type[dy.Schema]) -> list[tuple[str, str, str]]:
    """Return (name, data type, description) for every column, for the UI and the README."""
    return [(name, str(column.dtype), column.description or "") for name, column in schema.columns().items()]


def checked(schema: type[dy.Schema], rows: pl.DataFrame | Sequence[dict[str, Any]]) -> pl.DataFrame:
    """Return rows as a table that fulfils the schema, columns in its order, sorted by its primary key.

    Raises:
        dataframely.exc.ValidationError: if a rule is broken, saying which and how often.
    """
    columns = list(schema.columns())
    if not isinstance(rows, pl.DataFrame):
        rows = pl.DataFrame(
            [{name: row.get(name) for name in columns} for row in rows], schema=schema.create_empty().schema
        )
    table = schema.validate(rows.select(columns), cast=True)
    keys = schema.primary_key()
    return table.sort(keys, maintain_order=True) if keys else table


def empty_table(schema: type[dy.Schema]) -> pl.DataFrame:
    """Return a table of the schema without rows."""
    return schema.create_empty()


def release_arrow_schema() -> pa.Schema:
    """Return the Arrow schema of `pubmed_ophtha.parquet` (columns in the published order)."""
    return empty_table(PubmedOphtha).select(RELEASE_COLUMNS).to_arrow(compat_level=pl.CompatLevel.oldest()).schema


SCHEMAS: dict[str, type[dy.Schema]] = {
    "article_batch": ArticleBatch,
    "article_packages": ArticlePackages,
    "articles": Articles,
    "package_figures": PackageFigures,
    "pdf_figures": PdfFigures,
    "figure_matches": FigureMatches,
    "figures": Figures,
    "panel_detections": PanelDetections,
    "image_detections": ImageDetections,
    "subcaptions": Subcaptions,
    "panel_assembly": PanelAssembly,
    "panels": Panels,
    "dataset_rows": DatasetRows,
    "rejections": Rejections,
    "pubmed_ophtha": PubmedOphtha,
    "annotations": Annotations,
    "figure_quality": FigureQuality,
    "subcaption_quality": SubcaptionQuality,
    "detection_quality": DetectionQuality,
    "assembly_quality": AssemblyQuality,
}
"""The schema of every asset that is a table."""
