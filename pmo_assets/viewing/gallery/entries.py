"""A figure as the page reads it: plain lists and texts, colours and places decided here, nothing that is markup."""

from __future__ import annotations

import math
from typing import Any

from pmo_assets.records.figure import PageBox
from pmo_assets.records.geometry import Box
from pmo_assets.records.packages import article_words
from pmo_assets.records.panels import PanelImage
from pmo_assets.viewing.captions import Segments, caption_runs, panel_names
from pmo_assets.viewing.gallery.columns import MARK_STATUSES, Columns, mark_status
from pmo_assets.viewing.gallery.records import GalleryFigure, GalleryPanel
from pmo_assets.viewing.gallery.words import BREAK
from pmo_assets.viewing.markup import plain_text, web_url
from pmo_assets.viewing.overlays import visible_box

WHOLE_CAPTION = True
"""Stands for a subcaption that is the whole caption."""

Entry = dict[str, Any]


def shown_place(box: Box) -> list[float] | None:
    """Return the visible part of a box as percentages [left, top, width, height] of the figure."""
    visible = visible_box(box)
    if visible is None:
        return None
    left, top, right, bottom = visible
    return [round(100 * value, 2) for value in (left, top, right - left, bottom - top)]


def _score(score: float | None) -> float | None:
    return round(score, 2) if score is not None and math.isfinite(score) else None


def _finite(values: tuple[float, ...]) -> bool:
    return all(math.isfinite(value) and abs(value) < 1e6 for value in values)


def _kept(entry: Entry) -> Entry:
    """Leave out what is not there: most of what can be told of a panel."""
    return {key: value for key, value in entry.items() if value not in (None, "", [], False)}


def article_entry(figure: GalleryFigure) -> Entry:
    """Return the entry of a figure's article for its page."""
    return _kept(
        {
            "id": str(figure.article_id),
            "name": plain_text(article_words(figure.article_id, figure.package)),
            "title": plain_text(figure.article_title.strip()),
            "url": web_url(figure.article_url),
            "pdf": web_url(figure.pdf_url),
            "doi": plain_text(figure.doi or ""),
            "journal": plain_text(figure.journal or ""),
            "year": figure.year,
            "attribution": plain_text(figure.attribution),
        }
    )


def _image(image: PanelImage, columns: Columns) -> Entry:
    return {
        "box": shown_place(image.box),
        "type": columns.type_number(image.image_type),
        "score": _score(image.type_score),
        "mark": MARK_STATUSES.index(mark_status(image.marked)),
    }


def _panel(panel: GalleryPanel, name: str | None, caption: str, alone: bool, columns: Columns) -> Entry:
    text = plain_text((panel.subcaption or "").strip())
    return _kept(
        {
            "id": plain_text(panel.panel_id),
            "name": plain_text(name) if name else None,
            "box": shown_place(panel.box),
            "score": _score(panel.score),
            "identifiers": [place for box in panel.identifier_boxes if (place := shown_place(box))],
            "images": [_image(image, columns) for image in panel.images],
            "text": WHOLE_CAPTION if alone and text and text == caption else text,
            "assembly": columns.assemblies.number(panel.assembly),
            "confidence": _score(panel.confidence),
            "withheld": not panel.redistributable,
        }
    ) | {"assembly": columns.assemblies.number(panel.assembly)}


def _caption(figure: GalleryFigure) -> list[Any]:
    """Return the caption in pieces: text of no panel as it is, other text as [text, numbers of its panels]."""
    split: list[tuple[str | None, Segments]] = [(panel.name, panel.segments) for panel in figure.panels]
    pieces: list[Any] = []
    for run in caption_runs(figure.caption, split):
        text = plain_text(figure.caption[run.start : run.end])
        pieces.append([text, list(run.owners)] if run.owners else text)
    return pieces


def _on_pages(boxes: tuple[PageBox, ...]) -> list[list[float]]:
    return [[at.page, *(round(v, 1) for v in at.bbox)] for at in boxes if at.page >= 0 and _finite(tuple(at.bbox))]


def aspect(width: int, height: int) -> float:
    """Return width / height, between 1/20 and 20 so that one odd figure cannot break the page."""
    ratio = width / height if width > 0 and height > 0 else 1.5
    return round(min(20.0, max(0.05, ratio)), 4)


def figure_entry(figure: GalleryFigure, article: int, columns: Columns) -> Entry:
    """Return the entry of a figure for the page.

    Args:
        figure: the figure.
        article: number of its article's entry in the same file.
        columns: that the figure was added to: types and assemblies are named by their numbers there.
    """
    alone = len(figure.panels) == 1
    names = panel_names([(panel.name, panel.segments) for panel in figure.panels])
    caption = plain_text(figure.caption.strip())
    return _kept(
        {
            "cluster": plain_text(figure.image_cluster_id),
            "label": plain_text(figure.label.strip() or figure.image_cluster_id),
            "caption": _caption(figure) if caption else [],
            "told": any(panel.context is not None for panel in figure.panels),
            "pointed": any(panel.regions for panel in figure.panels),
            "asked": any(panel.instructions for panel in figure.panels),
            "multiPage": figure.is_multi_page,
            "commercial": figure.commercial_use,
            "aspect": aspect(figure.width, figure.height),
            "size": [figure.width, figure.height] if figure.width > 0 and figure.height > 0 else [],
            "sure": _score(figure.caption_confidence),
            "panels": [
                _panel(panel, panel.name if alone else name, caption, alone, columns)
                for panel, name in zip(figure.panels, names, strict=True)
            ],
            "onPages": _on_pages(figure.page_boxes),
            "captionOnPages": _on_pages(figure.caption_boxes),
            "pages": [
                [size.page, round(size.width, 1), round(size.height, 1)]
                for size in figure.page_sizes
                if size.page >= 0 and _finite((size.width, size.height)) and min(size.width, size.height) > 0
            ],
        }
    ) | {"article": article}


def said_texts(figure: GalleryFigure) -> list[str]:
    """Return what the article's running text says of each panel: its sentences, one apart from the other."""
    return [
        BREAK.join(mention.sentence for mention in panel.context.mentions) if panel.context is not None else ""
        for panel in figure.panels
    ]


def searched_texts(figure: GalleryFigure) -> tuple[list[str], list[str]]:
    """Return the texts by which a figure is found: about the whole of it, and of each panel."""
    whole = [
        figure.caption,
        figure.article_title,
        figure.label,
        article_words(figure.article_id, figure.package),
        str(figure.article_id),
        figure.image_cluster_id,
        figure.doi or "",
        figure.attribution,
    ]
    panels = [f"{panel.name or ''} {panel.subcaption or ''}" for panel in figure.panels]
    return whole, panels
