"""Annotations of people in the published form (PubMed-Ophtha, Table 3): one entry per figure, keyed by its name.

They are made of rows of the table `annotations`, for the articles of a release. Annotators are not published; the
verdicts of an audit on the machine's subcaptions are no annotations of a figure and stay out. A field that people did
not decide is null or missing, never the machine's, except the panels' boxes that their subcaptions belong to.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import IO, Any, Final

from pmo_assets.pipeline.articles.credit import full_citation
from pmo_assets.pipeline.dataset.licensing import withheld
from pmo_assets.pipeline.dataset.rows import attribution, figure_license
from pmo_assets.records.article import ArticleCredit
from pmo_assets.records.credit_lines import credit_line, joined_statements
from pmo_assets.records.geometry import Box, area, as_box, intersection, union_box
from pmo_assets.records.reviews import ALL_FIELDS
from pmo_assets.records.step_output import Row
from pmo_assets.tables.rows import record_of

PUBLISHED_KINDS: Final[Mapping[str, str]] = {
    "figure": "figure",
    "caption": "caption",
    "panels": "panel",
    "identifiers": "panel",
    "images": "image",
    "subcaptions": "caption",
}
"""Published words for kinds of annotation, by the field of a figure that people decide (`records.reviews`)."""

_ORDER: Final = ("figure", "panel", "image", "caption")
_SIDES: Final = ("x0", "y0", "x1", "y1")
_SAME_FIGURE: Final = 0.5
"""IoU on the pages from which a figure that people found is one that has a name."""


def _corners(box: Sequence[float], digits: int) -> dict[str, float]:
    return {side: round(float(value), digits) for side, value in zip(_SIDES, box, strict=True)}


def _boxes_by_page(locations: Iterable[Mapping[str, Any]]) -> dict[int, Box]:
    """Return one box per page, around all parts that lie on it."""
    parts: dict[int, list[Box]] = {}
    for place in locations:
        parts.setdefault(place["page"], []).append(as_box(place["bbox"]))
    return {page: union_box(boxes) for page, boxes in sorted(parts.items())}


def _coordinates(locations: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, float]]:
    """Return page (from 0, as text) -> {x0, y0, x1, y1} in PDF points."""
    return {str(page): _corners(box, 3) for page, box in _boxes_by_page(locations).items()}


def _overlap(first: Mapping[int, Box], second: Mapping[int, Box]) -> float:
    common = sum(area(intersection(box, second[page])) for page, box in first.items() if page in second)
    whole = sum(map(area, first.values())) + sum(map(area, second.values())) - common
    return common / whole if whole > 0 else 0.0


def _known_figure(figure: Mapping[str, Any], known: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Return the row of `figures` of an annotated figure: by its name, else by its place on the pages."""
    name = figure["image_cluster_id"]
    if name is not None:
        return next((row for row in known if row["image_cluster_id"] == name), None)
    place = _boxes_by_page(figure["figure_locations"])
    overlaps = [(_overlap(place, _boxes_by_page(row["locations"])), -number) for number, row in enumerate(known)]
    best = max(overlaps, default=(0.0, 0))
    return known[-best[1]] if best[0] >= _SAME_FIGURE else None


def _image(image: Mapping[str, Any]) -> Row:
    marked = image["marked"]
    return {
        **_corners(image["box"], 6),
        "mark_status": None if marked is None else "Marked" if marked else "Unmarked",
        "labels": [] if image["type"] is None else [image["type"]],
    }


def _panel(panel: Mapping[str, Any], decided: Iterable[str], with_text: bool) -> Row:
    """Return an entry of `panel_data`: a panel with what people decided of it."""
    said = set(decided)
    named = bool(said & {"identifiers", "subcaptions"})
    identifier = panel["identifier_box"]
    return {
        "type": "panel",
        **_corners(panel["box"], 6),
        "name": panel["identifier"] if named else None,
        "caption_text": panel["subcaption"] if with_text and "subcaptions" in said else None,
        "images": [_image(image) for image in panel["images"] or ()] if "images" in said else [],
        "labels": [_corners(identifier, 6)] if identifier is not None and "identifiers" in said else [],
    }


def _entry(
    figure: Mapping[str, Any],
    name: str,
    article: ArticleCredit,
    known: Mapping[str, Any] | None,
    withhold: bool,
) -> Row:
    review = figure["review"]
    decided = tuple(review["decided"]) if review else ALL_FIELDS
    said = (panel["subcaption"] or "" for panel in figure["panels"] or ())
    stated = joined_statements([known["rights_statement"] if known else None, *map(credit_line, said)])
    code = figure_license(article.license_code, stated)
    with_text = not (withhold and withheld(code))
    in_panels = {"panels", "identifiers", "subcaptions", "images"} & set(decided)
    captions = figure["caption_locations"] or (known["caption_locations"] if known else ())
    kinds = {PUBLISHED_KINDS[item] for item in decided}
    return {
        "article_id": article.article_id,
        "image_cluster_id": name,
        "figure_locations": _coordinates(figure["figure_locations"]),
        "caption_locations": _coordinates(captions or ()),
        "panel_data": [_panel(panel, decided, with_text) for panel in figure["panels"] or ()] if in_panels else None,
        "is_multi_page_figure": len(_boxes_by_page(figure["figure_locations"])) > 1,
        "annotation": [kind for kind in _ORDER if kind in kinds],
        "license": code,
        "attribution": attribution(
            article.title or article.package, full_citation(article.authors, article.citation, article.doi)
        ),
    }


def annotation_entries(
    annotations: Iterable[Mapping[str, Any]],
    articles: Mapping[int, Mapping[str, Any]],
    figures: Mapping[int, Sequence[Mapping[str, Any]]],
    *,
    withhold: bool = True,
) -> Iterator[tuple[str, Row]]:
    """Yield key ("PMC<article>_<figure>") and entry of each figure that people annotated, in the order of the rows.

    Args:
        annotations: rows of the table `annotations`.
        articles: rows of the table `articles` by number, of the articles that the release takes; others are left out,
            because their licence is not known, or they were retracted.
        figures: rows of the table `figures` (`image_cluster_id`, `locations`, `caption_locations`, `rights_statement`),
            by article.
        withhold: null the subcaptions that a licence does not let a release pass on; False only for oneself.
    """
    for row in annotations:
        number = row["article_id"]
        if number not in articles:
            continue
        article = record_of(ArticleCredit, articles[number])
        known = figures.get(number, ())
        taken: set[str] = set()
        for place, figure in enumerate(row["figures"] or (), start=1):
            if figure["review"] and figure["review"]["purpose"] == "audit":
                continue
            same = _known_figure(figure, known)
            # a figure that only people found, in an article without an XML or missed by the machine
            name = figure["image_cluster_id"] or (same["image_cluster_id"] if same else f"annotated_{place}")
            if name not in taken:
                taken.add(name)
                yield f"PMC{number}_{name}", _entry(figure, name, article, same, withhold)


_INDENT: Final = 4


def write_annotations(stream: IO[bytes], entries: Iterable[tuple[str, Row]]) -> int:
    """Write entries as one JSON object, as the published file is written, entry by entry; return how many there were.

    Args:
        stream: of the file `pubmed_ophtha_annotation.json`.
        entries: see `annotation_entries`; without any the file is `{}`.
    """
    count = 0
    for key, entry in entries:
        text = json.dumps({key: entry}, ensure_ascii=False, indent=_INDENT, allow_nan=False)
        # without the braces of the object that holds this entry only
        stream.write(b"{\n" if count == 0 else b",\n")
        stream.write(text[2:-2].encode("utf-8"))
        count += 1
    stream.write(b"\n}" if count else b"{}")
    return count
