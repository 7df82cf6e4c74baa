"""Rows of the dataset: the published columns (PubMed-Ophtha, Table 2), and whom to credit (`DatasetRows`)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pmo_assets.pipeline.articles.credit import article_url, full_citation
from pmo_assets.pipeline.articles.licences import commercial_use
from pmo_assets.records.article import ArticleCredit
from pmo_assets.records.figure import Figure, PageBox
from pmo_assets.records.image_types import IMAGE_TYPES, ImageType
from pmo_assets.records.outcome import Row
from pmo_assets.records.panels import Panel, PanelImage, PrintedIdentifier, is_open

SINGLE_PANEL_NAME = "None"
"""The published `panel_name` of a figure whose caption names no panel."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A panel that does not enter the dataset, and why."""

    panel_id: str
    reason: str


def rounded_box(box: Sequence[float], digits: int = 6) -> list[float]:
    """Return a normalised box for JSON: fixed digits, so that the same box gives the same bytes."""
    return [round(float(value), digits) for value in box]


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(", ", ": "))


def page_coordinates(locations: Sequence[PageBox]) -> dict[str, dict[str, float]]:
    """Return page (from 0, as text) -> {x0, y0, x1, y1} in PDF points, as published."""
    return {
        str(place.page): dict(zip(("x0", "y0", "x1", "y1"), (round(float(v), 3) for v in place.bbox), strict=True))
        for place in locations
    }


def image_entry(panel: str, image: PanelImage) -> dict[str, Any]:
    """Return an entry of `image_data`; type and mark status are null where detection could not decide."""
    label = image.image_type
    marked = image.marked
    return {
        "id": f"{panel}_{image.id}",
        "imaging_type": {
            "label": [label] if label is not None else None,
            "prediction_score": [round(image.type_score, 4)] if label is not None else None,
        },
        "mark_status": {
            "label": None if marked is None else "Marked" if marked else "Unmarked",
            "prediction_score": round(image.mark_score, 4),
        },
        "is_gt": image.is_gt,
        "included_in_content_box": True,
        "position": {"predicted_box": rounded_box(image.box), "prediction_score": round(image.score, 4)},
    }


def identifier_entry(panel: str, identifier: PrintedIdentifier) -> dict[str, Any]:
    """Return an entry of `identifier_data`."""
    return {
        "id": f"{panel}_{identifier.id}",
        "is_gt": identifier.is_gt,
        "included_in_content_box": True,
        "origin_identifier": None,
        "position": {
            "predicted_box": rounded_box(identifier.box),
            "prediction_score": round(identifier.score, 4),
        },
        "text": identifier.text,
    }


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


def attribution(title: str | None, citation: str | None) -> str:
    """Return `'title', citation`, as published; without what is not known."""
    return ", ".join(part for part in (f"'{title}'" if title else None, citation) if part)


def _published_annotation(facts: Mapping[str, Any]) -> Row:
    """Return what is published of an annotation: not who made it, which is a person's account."""
    return {name: value for name, value in facts.items() if name != "annotator"}


def dataset_row(panel: Panel, figure: Figure, article: ArticleCredit) -> Row:
    """Return the dataset row of a panel that has a subcaption.

    Args:
        panel: the panel.
        figure: its figure.
        article: its article.
    """
    license_code = article.license_code
    paragraphs = list(dict.fromkeys(mention.paragraph for mention in figure.mentions))
    return {
        "panel_id": panel.panel_id,
        "article_id": panel.article_id,
        "image_cluster_id": panel.image_cluster_id,
        "panel_name": panel.identifier if panel.identifier is not None else SINGLE_PANEL_NAME,
        "subcaption_text": panel.subcaption,
        "subcaption_segments": [list(segment) for segment in panel.segments or ()],
        "position": _json(
            {
                "predicted_box": rounded_box(panel.box),
                "content_box": rounded_box(panel.content_box),
                "figure_page_coordinates": page_coordinates(figure.locations),
                "prediction_score": round(panel.score, 4),
            }
        ),
        "is_multi_page_figure": figure.is_multi_page,
        "in_text_mention": paragraphs,
        **contained_types(panel.images),
        "image_data": _json([image_entry(panel.panel_id, image) for image in panel.images]),
        "identifier_data": _json([identifier_entry(panel.panel_id, item) for item in panel.printed_identifiers]),
        "assembly": f"{panel.assembly} ({panel.method})",
        "annotation": _json([_published_annotation(asdict(item)) for item in panel.annotations]),
        "license": license_code,
        "attribution": attribution(
            article.title or article.name, full_citation(article.authors, article.citation, article.doi)
        ),
        "commercial_use": commercial_use(license_code),
        "title": article.title,
        "journal": article.journal,
        "year": article.year,
        "doi": article.doi,
        "license_url": article.license_url,
        "authors": list(article.authors) or None,
        "article_url": article_url(article.pmcid, article.doi),
        "article_version": article.version,
    }


@dataclass(frozen=True, slots=True)
class Entry:
    """What a panel needs to enter the dataset.

    Attributes:
        image_types: the specialty's types; it must hold an image of one of them.
        min_caption_confidence: least confidence of the caption's split.
        min_assembly_confidence: least confidence that rules gave it the right subcaption.
    """

    image_types: Sequence[ImageType]
    min_caption_confidence: float
    min_assembly_confidence: float


def left_out_reason(panel: Panel, entry: Entry) -> str | None:
    """Return why a panel does not enter the dataset; None when it does."""
    if panel.subcaption is None or not panel.subcaption.strip():
        return "no subcaption"
    if (panel.caption_confidence or 0.0) < entry.min_caption_confidence:
        return "caption split below the least confidence"
    if is_open(panel.subcaption, panel.assembly, panel.confidence, entry.min_assembly_confidence):
        return "subcaption below the least confidence"
    image_types = entry.image_types
    types = [image.image_type for image in panel.images]
    if set(image_types) >= set(IMAGE_TYPES):
        return None
    if not any(kind in image_types for kind in types):
        return "no image of a wanted type" if types and None not in types else "image type undecided or no image"
    return None


def dataset_rows(
    panels: Iterable[Panel],
    figures: Mapping[str, Figure],
    article: ArticleCredit,
    entry: Entry,
) -> tuple[list[Row], list[LeftOut]]:
    """Return the rows of an article that enter the dataset, and the panels that do not with their reason.

    Args:
        panels: its panels.
        figures: its figures by image_cluster_id.
        article: the article.
        entry: what panels need.
    """
    rows: list[Row] = []
    left_out: list[LeftOut] = []
    for panel in panels:
        reason = left_out_reason(panel, entry)
        if reason is not None:
            left_out.append(LeftOut(panel.panel_id, reason))
            continue
        rows.append(dataset_row(panel, figures[panel.image_cluster_id], article))
    return rows, left_out
