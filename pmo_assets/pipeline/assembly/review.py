"""What people decided, put in place of what the machine assembled: field by field, and only on the figure they saw.

A panel that people decided is compared with the machine's by its box, never by its number: after a re-run the machine
may count differently. What people did not decide stays the machine's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final

from pydantic import ValidationError
from rapidfuzz.distance import Levenshtein

from pmo_assets.pipeline.assembly.membership import assigned_to_panels
from pmo_assets.pipeline.assembly.unassigned_images import with_all_images
from pmo_assets.pipeline.captions.alignment import aligned
from pmo_assets.pipeline.figures.fingerprint import difference
from pmo_assets.records.geometry import (
    UNIT_BOX,
    Box,
    area,
    as_box,
    clip,
    denormalise,
    iou,
    matched_boxes,
    normalise,
    union_box,
)
from pmo_assets.records.identifiers import normalised_identifier
from pmo_assets.records.panels import AUTOMATIC, BY_PERSON, GROUND_TRUTH, Evidence
from pmo_assets.records.reviews import FULL, DecidedFigure, DecidedPanel, Fingerprint, Review
from pmo_assets.records.step_output import Row
from pmo_assets.records.subcaptions import CaptionSplit
from pmo_assets.tables.rows import record_of

SAME_PLACE: Final = 0.9
"""IoU of annotated and found figure from which an annotation without a fingerprint is one of this figure."""

SAME_BOX: Final = 0.5
"""IoU from which a panel or image of people is the machine's (as everywhere where boxes are compared)."""

SAME_CAPTION: Final = 0.8
"""1 - edit distance / length from which a caption is the one that people read: XML and PDF differ in some signs."""

FIRST_ADDED: Final = 1000
"""Ordinals of panels that the machine did not find begin here: panels that it finds in a re-run have lower ones."""

METHODS: Final = {"full": "annotated", "resolve": "resolved"}
"""What stands in brackets behind the published word for who assigned a subcaption, by purpose."""

_WORDS: Final = {"full": GROUND_TRUTH, "resolve": BY_PERSON}


@dataclass
class ReviewedFigure:
    """A figure's panels after review.

    Attributes:
        rows: of `reviewed_panels`.
        notes: what was not applied, and why.
        tally: what was.
    """

    rows: list[Row]
    notes: list[str] = field(default_factory=list)
    tally: Counter[str] = field(default_factory=Counter)


def unreviewed(row: Mapping[str, Any]) -> Row:
    """Return a row of `panel_assembly` as one of `reviewed_panels` of which people decided nothing."""
    images = _unmarked(row["images"])
    printed = _unmarked(row["printed_identifiers"])
    return {**row, "images": images, "printed_identifiers": printed, "annotations": []}


def overlap_on_page(decided: DecidedFigure, locations: Sequence[Mapping[str, Any]]) -> float:
    """Return the best IoU of an annotated figure with a found one on a common page, 0..1."""
    return max(
        (iou(a.bbox, as_box(b["bbox"])) for a in decided.figure_locations for b in locations if a.page == b["page"]),
        default=0.0,
    )


def figure_of(decided: DecidedFigure, figures: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Return the found figure that people decided about; None when there is none.

    By the name of its graphic, else the one that lies where it lay (IoU 0.5): names made of places in the PDF may
    belong to another figure after a re-run.
    """
    named = [row for row in figures if row["image_cluster_id"] == decided.image_cluster_id]
    if named and (named[0]["matched"] or overlap_on_page(decided, named[0]["locations"]) >= SAME_BOX):
        return named[0]
    best = max(figures, key=lambda row: overlap_on_page(decided, row["locations"]), default=None)
    return best if best is not None and overlap_on_page(decided, best["locations"]) >= SAME_BOX else None


def changed(decided: DecidedFigure, figure: Mapping[str, Any], present: Fingerprint | None) -> str | None:
    """Return how a figure differs from the one that people saw; None when it is the same.

    Args:
        decided: what people saw.
        figure: row of `figures`.
        present: its fingerprint; None when its picture cannot be had.
    """
    review = decided.review or FULL
    if review.fingerprint is not None:
        if present is None:
            return "the figure has no picture"
        how = difference(review.fingerprint, present)
        return how and f"the figure changed under the annotation: {how}"
    overlap = overlap_on_page(decided, figure["locations"])
    if overlap < SAME_PLACE or len(decided.figure_locations) != len(figure["locations"]):
        return f"the figure lies elsewhere than the annotated one (IoU {overlap:.2f})"
    return None


def decisions_of(
    annotated: Sequence[Mapping[str, Any]], figures: Sequence[Mapping[str, Any]]
) -> tuple[dict[str, list[DecidedFigure]], list[str]]:
    """Return what people decided of each figure, by image_cluster_id, and what cannot be applied to any, with why.

    Decisions of undecided cases come first, so that a full annotation of the same figure has the last word.
    Answers of an audit decide nothing.

    Args:
        annotated: `figures` of a row of `annotations`.
        figures: the article's rows of `figures`.
    """
    wanted: dict[str, list[DecidedFigure]] = {}
    notes: list[str] = []
    taken: set[tuple[str, str]] = set()
    for content in sorted(annotated, key=lambda item: (item["review"] or {}).get("purpose", "full") == "full"):
        title = content["label"] or content["image_cluster_id"] or "a figure without a label"
        try:
            decided = record_of(DecidedFigure, content)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            notes.append(f"{title}: {'.'.join(map(str, first['loc']))}: {first['msg']}")
            continue
        purpose = (decided.review or FULL).purpose
        if purpose == "audit":
            continue
        figure = figure_of(decided, figures)
        if figure is None:
            notes.append(f"{title}: no such figure was found")
        elif (figure["image_cluster_id"], purpose) in taken:
            notes.append(f"{title}: another annotation is about the same figure")
        else:
            taken.add((figure["image_cluster_id"], purpose))
            wanted.setdefault(figure["image_cluster_id"], []).append(decided)
    return wanted, notes


def _moved(decided: DecidedFigure, figure: Mapping[str, Any]) -> DecidedFigure:
    """Return the annotated figure with its boxes normalised to the found one; boxes without a part in it are left out.

    Annotated boxes refer to the annotated figure, which may be some points larger or smaller.
    """
    seen, present = decided.figure_locations[0].bbox, as_box(figure["locations"][0]["bbox"])

    def moved(box: Box) -> Box:
        return clip(box if seen == present else normalise(denormalise(box, seen), present), UNIT_BOX)

    panels = []
    for panel in decided.panels:
        images = [replace(image, box=moved(image.box)) for image in panel.images]
        panels.append(
            replace(
                panel,
                box=moved(panel.box),
                identifier_box=moved(panel.identifier_box) if panel.identifier_box else None,
                images=tuple(image for image in images if area(image.box) > 0),
            )
        )
    return replace(decided, panels=tuple(panel for panel in panels if area(panel.box) > 0))


@dataclass(frozen=True)
class _Case:
    """A figure that is reviewed: its row, what people decided (in its frame), its caption's split."""

    figure: Mapping[str, Any]
    decided: DecidedFigure
    review: Review
    split: CaptionSplit
    same_caption: bool

    def decides(self, name: str) -> bool:
        if name == "subcaptions" and not self.same_caption:
            return False
        return name in self.review.decided


def _similar(a: str, b: str) -> float:
    return float(Levenshtein.normalized_similarity(" ".join(a.split()), " ".join(b.split())))


def _segments(caption: str, decided: DecidedFigure, panel: DecidedPanel) -> list[list[int]]:
    """Return where in the present caption a subcaption comes from: as people marked it, or as its words say."""
    given = panel.segments
    if given is not None and decided.caption == caption and all(0 <= a < b <= len(caption) for a, b in given):
        return [list(segment) for segment in sorted(given)]
    return [list(segment) for segment in aligned(caption, panel.subcaption or "").segments]


def _nothing_assigned(reason: str) -> Row:
    return {
        **dict.fromkeys(["subcaption", "segments", "caption_confidence", "method", "assembly", "runner_up"]),
        "confidence": 0.0,
        "runner_up_confidence": 0.0,
        "reason": reason,
    }


def _assigned(case: _Case, identifier: str | None, text: str, segments: Sequence[Sequence[int]], why: str) -> Row:
    purpose = case.review.purpose
    return {
        "identifier": identifier,
        "subcaption": text,
        "segments": [list(segment) for segment in segments],
        "caption_confidence": 1.0,
        "method": METHODS[purpose],
        "assembly": _WORDS[purpose],
        "confidence": 1.0,
        "runner_up": None,
        "runner_up_confidence": 0.0,
        "reason": why,
    }


def _person(case: _Case, identifier: str | None) -> Row:
    return asdict(Evidence("person", case.review.annotator or "unknown", None, identifier, 1.0))


def _confirmed(case: _Case, identifier: str | None, row: Row) -> Row:
    """Return the columns of a panel in which a person read the identifier that it has: it is decided."""
    if row["assembly"] != AUTOMATIC:
        return {"identifier": identifier}
    why = f"a person read “{identifier}” in the panel, too"
    assigned = _assigned(case, identifier, row["subcaption"], row["segments"], why)
    return {**assigned, "caption_confidence": row["caption_confidence"]}


def _words_of(case: _Case, panel: DecidedPanel, row: Row) -> Row:
    """Return the columns of identifier and subcaption as people decided them; those they left to the machine remain."""
    if case.decides("subcaptions") and (panel.subcaption is not None or case.review.purpose == "full"):
        if not panel.subcaption:
            return {"identifier": panel.identifier, **_nothing_assigned("the annotation gives no subcaption")}
        segments = _segments(case.figure["caption"], case.decided, panel)
        return _assigned(case, panel.identifier, panel.subcaption, segments, "a person assigned the subcaption")
    if not case.decides("identifiers"):
        return {}
    key = normalised_identifier(panel.identifier)
    same = key == normalised_identifier(row["identifier"])
    if same and panel.identifier is None:
        return {"identifier": row["identifier"]}
    if same and row["subcaption"] is not None:
        return _confirmed(case, panel.identifier, row)
    for sub in case.split.subcaptions:
        if sub.identifier is not None and normalised_identifier(sub.identifier) == key:
            why = f"a person read “{panel.identifier}” in the panel"
            return {
                **_assigned(case, panel.identifier, sub.text, sub.segments, why),
                "caption_confidence": case.split.confidence,
            }
    why = f"a person read “{panel.identifier}” in the panel, but the caption does not name it"
    return {"identifier": panel.identifier, **_nothing_assigned(why if panel.identifier else "no identifier")}


def _images(panel: DecidedPanel, machine: Sequence[Row], ordinal: int) -> list[Row]:
    """Return people's images as entries of `images`, under the names of the machine's that they are."""
    same = matched_boxes([image.box for image in panel.images], [as_box(row["box"]) for row in machine], SAME_BOX)
    result = []
    for number, image in enumerate(panel.images):
        seen = machine[same[number]] if number in same else None
        # A modality goes with the type that it is of: where people say another one, nobody has said which.
        agreed = seen is not None and seen["image_type"] == image.type
        result.append(
            {
                "id": seen["id"] if seen is not None else f"h{ordinal}-{number}",
                "box": list(image.box),
                "score": 1.0,
                "image_type": image.type,
                "type_score": 1.0 if image.type is not None else 0.0,
                "modality": seen["modality"] if agreed and seen is not None else None,
                "modality_score": seen["modality_score"] if agreed and seen is not None else 0.0,
                "marked": image.marked,
                "mark_score": 1.0 if image.marked else 0.0,
                "is_gt": True,
            }
        )
    return result


def _printed(panel: DecidedPanel, machine: Sequence[Row], ordinal: int) -> list[Row]:
    if panel.identifier_box is None:
        return []
    same = matched_boxes([panel.identifier_box], [as_box(row["box"]) for row in machine], SAME_BOX)
    name = machine[same[0]]["id"] if same else f"h{ordinal}"
    return [{"id": name, "box": list(panel.identifier_box), "score": 1.0, "text": panel.identifier, "is_gt": True}]


def _blank(figure: Mapping[str, Any], template: Mapping[str, Any], ordinal: int) -> Row:
    """Return the row of a panel that the machine did not find: columns of others stay as their assets fill them."""
    return {
        **dict.fromkeys(template),
        "article_id": figure["article_id"],
        "image_cluster_id": figure["image_cluster_id"],
        "ordinal": ordinal,
        "score": 1.0,
        "identifier": None,
        **_nothing_assigned("a person drew this panel, nobody said which subcaption it has"),
        "evidence": [],
        "unassigned_images": [],
        "made_of_image": False,
    }


def _with_panels(case: _Case, rows: Sequence[Row], columns: Sequence[str]) -> list[tuple[Row, DecidedPanel | None]]:
    """Return rows for the panels as people drew them, each with what they decided of it."""
    boxes = [panel.box for panel in case.decided.panels]
    same = matched_boxes(boxes, [as_box(row["content_box"]) for row in rows], SAME_BOX)
    identifiers = [item for row in rows for item in row["printed_identifiers"]]
    images = [item for row in rows for item in (*row["images"], *_unmarked(row["unassigned_images"]))]
    of_identifier = assigned_to_panels([as_box(item["box"]) for item in identifiers], boxes)
    of_image = assigned_to_panels([as_box(item["box"]) for item in images], boxes)
    result: list[tuple[Row, DecidedPanel | None]] = []
    first = max([FIRST_ADDED, *(row["ordinal"] + 1 for row in rows)])
    for number, panel in enumerate(case.decided.panels):
        row = rows[same[number]] if number in same else _blank(case.figure, dict.fromkeys(columns), first + number)
        row = {
            **row,
            "box": list(panel.box),
            "members": [{"ordinal": row["ordinal"], "box": list(panel.box)}],
            "printed_identifiers": [i for i, owner in zip(identifiers, of_identifier, strict=True) if owner == number],
            "images": [i for i, owner in zip(images, of_image, strict=True) if owner == number],
            "made_of_image": False,
        }
        result.append((row, panel))
    whole = with_all_images(rows, [row for row, _ in result])
    return [(row, panel) for row, (_, panel) in zip(whole, result, strict=True)]


def _unmarked(images: Sequence[Mapping[str, Any]]) -> list[Row]:
    """Return images as the machine found them."""
    return [{**image, "is_gt": False} for image in images]


def _decided_row(case: _Case, row: Row, panel: DecidedPanel, machine: Sequence[Row]) -> Row:
    row = dict(row)
    if case.decides("identifiers"):
        printed = [item for other in machine for item in other["printed_identifiers"]]
        row["printed_identifiers"] = _printed(panel, printed, row["ordinal"])
    if case.decides("images"):
        images = [item for other in machine for item in (*other["images"], *other["unassigned_images"])]
        row["images"] = _images(panel, images, row["ordinal"])
    words = _words_of(case, panel, row)
    row |= words
    if "assembly" in words:
        row["evidence"] = [_person(case, row["identifier"]), *row["evidence"]]
    parts = [as_box(item["box"]) for item in (*row["printed_identifiers"], *row["images"])]
    row["content_box"] = list(union_box([as_box(row["box"]), *parts]))
    return row


def review_figure(
    figure: Mapping[str, Any],
    rows: Sequence[Row],
    decided: DecidedFigure,
    split: CaptionSplit,
    *,
    columns: Sequence[str],
) -> ReviewedFigure:
    """Put what people decided of a figure in place of what the machine assembled.

    Args:
        figure: row of `figures`.
        rows: its rows of `reviewed_panels` as the machine assembled them (`unreviewed`).
        decided: what people decided of this very figure.
        split: its caption's split.
        columns: of the table.
    """
    review = decided.review or FULL
    caption = decided.caption
    same = not caption or not figure["caption"] or _similar(caption, figure["caption"]) >= SAME_CAPTION
    case = _Case(figure, _moved(decided, figure), review, split, same)
    result = ReviewedFigure([])
    if not same and "subcaptions" in review.decided:
        result.notes.append("the caption is another one than people read: their subcaptions are not taken")
    if case.decides("panels"):
        chosen = _with_panels(case, rows, columns)
        kept = {row["ordinal"] for row, _ in chosen}
        result.tally["panels removed"] = sum(row["ordinal"] not in kept for row in rows)
        result.tally["panels added"] = sum(row["ordinal"] >= FIRST_ADDED for row, _ in chosen)
    else:
        found = matched_boxes(
            [as_box(row["content_box"]) for row in rows], [panel.box for panel in case.decided.panels], SAME_BOX
        )
        chosen = [
            (row, case.decided.panels[found[number]] if number in found else None) for number, row in enumerate(rows)
        ]
        for number, panel in enumerate(case.decided.panels):
            if number not in found.values() and panel.subcaption is not None:
                result.notes.append(f"no panel is where panel “{panel.identifier or number + 1}” was")
    entry = {
        "purpose": review.purpose,
        "decided": [name for name in review.decided if name not in ("figure", "caption")],
        "annotator": review.annotator,
        "at": review.at,
    }
    for row, own in chosen:
        made = _decided_row(case, row, own, rows) if own is not None else dict(row)
        result.tally["panels decided"] += own is not None
        result.rows.append({**made, "annotations": [*row_annotations(row), entry]})
    if case.decides("images"):
        result.rows = _without_decided_unassigned(result.rows)
    result.tally["figures decided"] = 1
    return result


def _without_decided_unassigned(rows: Sequence[Row]) -> list[Row]:
    """Return rows without unassigned images that people put into a panel: each image stands in one row, once."""
    taken = {image["id"] for row in rows for image in row["images"]}
    return [
        {**row, "unassigned_images": [item for item in row["unassigned_images"] if item["id"] not in taken]}
        for row in rows
    ]


def row_annotations(row: Mapping[str, Any]) -> list[Row]:
    """Return what people decided of a row's figure before; nothing for a panel that is new."""
    return list(row["annotations"] or [])
