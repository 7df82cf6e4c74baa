"""Rows of the dataset (`DatasetRows`): what is known of a panel, its figure and its article, and who enters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Final

from pmo_assets.pipeline.articles.credit import article_url, full_citation
from pmo_assets.pipeline.articles.licences import commercial_use, license_code, most_restrictive
from pmo_assets.records.article import ArticleCredit
from pmo_assets.records.figure import Figure, PageBox
from pmo_assets.records.image_types import IMAGE_TYPES, ImageType
from pmo_assets.records.panels import Panel, PanelAnnotation, PanelImage, PanelPicture, PrintedIdentifier
from pmo_assets.records.step_output import Row


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A panel that does not enter the dataset, and why."""

    panel_id: str
    reason: str


BOX_DIGITS: Final = 6
"""Decimal places of normalised boxes in the dataset."""


def rounded_box(box: Sequence[float], digits: int = BOX_DIGITS) -> list[float]:
    """Return a normalised box with fixed digits, so that the same box gives the same bytes."""
    return [round(float(value), digits) for value in box]


def _page_box(place: PageBox) -> Row:
    return {"page": place.page, "bbox": rounded_box(place.bbox, 3)}


def _image(image: PanelImage) -> Row:
    scores = {name: round(getattr(image, name), 4) for name in ("score", "type_score", "modality_score", "mark_score")}
    return {**asdict(image), **scores, "box": rounded_box(image.box)}


def _identifier(identifier: PrintedIdentifier) -> Row:
    return {**asdict(identifier), "score": round(identifier.score, 4), "box": rounded_box(identifier.box)}


def contained_types(images: Sequence[PanelImage]) -> dict[str, bool]:
    """Return the `contains_*` columns of a panel's images."""
    types = {image.image_type for image in images}
    return {
        "contains_cfp": "CFP" in types,
        "contains_oct": "OCT" in types,
        "contains_retinal": "Retinal Imaging" in types,
        "contains_other": "Other" in types,
        "contains_marked": any(image.marked is True for image in images),
    }


def mentioning_paragraphs(figure: Figure) -> list[str]:
    """Return the paragraphs that refer to a figure, each once, in the article's order."""
    return list(dict.fromkeys(mention.paragraph for mention in figure.mentions))


def attribution(title: str | None, citation: str | None) -> str:
    """Return `'title', citation`, as published; without what is not known."""
    return ", ".join(part for part in (f"'{title}'" if title else None, citation) if part)


def figure_license(article_code: str | None, statement: str | None) -> str | None:
    """Return the licence under which a figure may be passed on; None if nothing allows it.

    Where something says that the figure is not, or not wholly, under the article's licence, the conditions of both
    hold; a statement in which no licence is understood allows nothing.

    Args:
        article_code: the article's licence.
        statement: the figure's `rights_statement`.
    """
    if statement is None:
        return article_code
    return most_restrictive([article_code, *(license_code(part) for part in statement.split(" | "))])


def _published_annotation(annotation: PanelAnnotation) -> Row:
    """Return the published fields of an annotation; the annotator, a person's account, is not among them."""
    return {"purpose": annotation.purpose, "decided": list(annotation.decided), "at": annotation.at}


def dataset_row(panel: Panel, picture: PanelPicture, figure: Figure, article: ArticleCredit) -> Row:
    """Return the row of `dataset_rows` of a panel that has a subcaption.

    Args:
        panel: the panel.
        picture: its picture.
        figure: its figure.
        article: its article.
    """
    code = figure_license(article.license_code, figure.rights_statement)
    return {
        "panel_id": picture.panel_id,
        "article_id": picture.article_id,
        "image_cluster_id": picture.image_cluster_id,
        "figure_ordinal": figure.ordinal,
        "panel_ordinal": panel.ordinal,
        "figure_label": figure.label or None,
        "panel_name": panel.identifier,
        "subcaption_text": panel.subcaption,
        "subcaption_segments": [list(segment) for segment in panel.segments or ()],
        "in_text_mention": mentioning_paragraphs(figure),
        "is_multi_page_figure": figure.is_multi_page,
        "figure_page_boxes": [_page_box(place) for place in figure.locations],
        "panel_box": rounded_box(panel.box),
        "content_box": rounded_box(panel.content_box),
        "panel_score": round(panel.score, 4),
        "picture_width": picture.width,
        "picture_height": picture.height,
        "picture_sha256": picture.sha256,
        "perceptual_hash": picture.perceptual_hash,
        "images": [_image(image) for image in panel.images],
        "identifiers": [_identifier(item) for item in panel.printed_identifiers],
        **contained_types(panel.images),
        "assembly": panel.assembly,
        "assembly_method": panel.method,
        "assembly_confidence": round(panel.confidence, 4),
        "caption_confidence": round(panel.caption_confidence or 0.0, 4),
        "annotations": [_published_annotation(item) for item in panel.annotations],
        "license": code,
        "rights_statement": figure.rights_statement,
        "license_url": article.license_url if code == article.license_code else None,
        "commercial_use": commercial_use(code),
        "attribution": attribution(
            article.title or article.package, full_citation(article.authors, article.citation, article.doi)
        ),
        "title": article.title,
        "authors": list(article.authors) or None,
        "journal": article.journal,
        "year": article.year,
        "doi": article.doi,
        "article_url": article_url(article.pmcid, article.doi),
        "article_version": article.version,
    }


@dataclass(frozen=True, slots=True)
class Entry:
    """Conditions under which a panel enters the dataset.

    Attributes:
        image_types: the specialty's types; it must hold an image of one of them.
        min_assembly_confidence: least confidence that rules gave it the right subcaption.
    """

    image_types: Sequence[ImageType]
    min_assembly_confidence: float


NO_SUBCAPTION: Final = "no subcaption"
UNSURE_SUBCAPTION: Final = "subcaption below the least confidence"
OTHER_TYPES: Final = "no image of a wanted type"
UNDECIDED_TYPES: Final = "image type undecided or no image"

LEFT_OUT_REASONS: Final = (NO_SUBCAPTION, UNSURE_SUBCAPTION, OTHER_TYPES, UNDECIDED_TYPES)
"""Why a panel does not enter the dataset, in the order in which that is asked."""


def left_out_reason(panel: Panel, entry: Entry) -> str | None:
    """Return the reason why a panel does not enter the dataset; None when it does."""
    if panel.subcaption is None or not panel.subcaption.strip():
        return NO_SUBCAPTION
    if panel.is_undecided(entry.min_assembly_confidence):
        return UNSURE_SUBCAPTION
    image_types = entry.image_types
    types = [image.image_type for image in panel.images]
    if set(image_types) >= set(IMAGE_TYPES):
        return None
    if not any(kind in image_types for kind in types):
        return OTHER_TYPES if types and None not in types else UNDECIDED_TYPES
    return None


def dataset_rows(
    panels: Iterable[tuple[Panel, PanelPicture]],
    figures: Mapping[str, Figure],
    article: ArticleCredit,
    entry: Entry,
) -> tuple[list[Row], list[LeftOut]]:
    """Return the rows of an article that enter the dataset, and the panels that do not with their reason.

    Args:
        panels: its panels, each with its picture.
        figures: its figures by image_cluster_id.
        article: the article.
        entry: conditions under which panels enter the dataset.
    """
    rows: list[Row] = []
    left_out: list[LeftOut] = []
    for panel, picture in panels:
        reason = left_out_reason(panel, entry)
        if reason is not None:
            left_out.append(LeftOut(picture.panel_id, reason))
            continue
        rows.append(dataset_row(panel, picture, figures[picture.image_cluster_id], article))
    return rows, left_out
