"""Single answers put together: what holds of a figure, of whom, and whether an article is annotated in full.

Several people may answer the same task, and one person may answer again: the latest answer of an interface holds, the
others stay for the agreement of people (`quality.metrics.agreement`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final, TypeVar

from pmo_assets.annotation.annotations import (
    AnnotatedArticle,
    AnnotatedFigure,
    AnnotatedPanel,
    FigureRegions,
    FigureReview,
    InstructionAnswer,
    Location,
)
from pmo_assets.pipeline.assembly.membership import assigned_to_panels
from pmo_assets.pipeline.figures.fingerprint import difference
from pmo_assets.records.geometry import UNIT_BOX, Box, area, clip, denormalise, iou, matched_boxes, normalise
from pmo_assets.records.reviews import ALL_FIELDS, DecidedField, Fingerprint

SAME_PANEL: Final = 0.5
"""IoU from which two people mean the same panel."""

AnswerKey = tuple[Any, ...]

Answer = TypeVar("Answer", AnnotatedFigure, FigureRegions, InstructionAnswer)
"""One person's answer: about a figure, about the marks and regions of its panels, or about an instruction."""


def answer_key(figure: AnnotatedFigure | FigureRegions | InstructionAnswer) -> AnswerKey:
    """Return the key of an answer, from its subject and its annotator: a second one with the same key replaces it.

    An audit asks about one panel or instruction at a time; figures that only people found have no name but their place.
    """
    review = figure.review or FigureReview()
    place = figure.figure_locations[0]
    about: tuple[Any, ...] = (figure.image_cluster_id or "",)
    if isinstance(figure, InstructionAnswer):
        about = (*about, figure.instruction_id)
    elif review.purpose == "audit":
        about = (*about, *(tuple(panel.box) for panel in figure.panels))
    if review.interface == "pages":
        about = (*about, place.page)
    if figure.image_cluster_id is None:
        about = (*about, tuple(place.bbox))
    return (review.purpose, review.interface or "", review.annotator or "", *about)


def _order(figure: AnnotatedFigure | FigureRegions | InstructionAnswer) -> tuple[str, str]:
    review = figure.review or FigureReview()
    return review.at or "", review.annotator or ""


def merged_answers(before: Iterable[Answer], new: Iterable[Answer]) -> tuple[Answer, ...]:
    """Return all answers, a person's new answer in place of their older one to the same question, in a fixed order.

    A person's answer to a page replaces all that they said of that page before.
    """
    fresh = list(new)
    pages = {
        (f.review.purpose, f.review.annotator, f.figure_locations[0].page)
        for f in fresh
        if f.review is not None and f.review.interface == "pages"
    }
    kept: dict[AnswerKey, Answer] = {}
    for figure in before:
        review = figure.review
        place = figure.figure_locations[0].page
        if review is None or review.interface != "pages" or (review.purpose, review.annotator, place) not in pages:
            kept[answer_key(figure)] = figure
    for figure in fresh:
        known = kept.get(answer_key(figure))
        if known is None or _order(figure) >= _order(known):
            kept[answer_key(figure)] = figure
    return tuple(kept[key] for key in sorted(kept, key=repr))


def _fingerprint(figure: AnnotatedFigure | FigureRegions | InstructionAnswer) -> Fingerprint | None:
    seen = figure.review.fingerprint if figure.review else None
    return None if seen is None else Fingerprint(**seen.model_dump())


def _of_same_look(answers: Sequence[Answer]) -> list[Answer]:
    """Return the answers about the figure as it looked last: older ones may be about another crop of the page."""
    last = next((seen for item in reversed(answers) if (seen := _fingerprint(item)) is not None), None)
    if last is None:
        return list(answers)
    return [item for item in answers if (seen := _fingerprint(item)) is None or difference(seen, last) is None]


def _latest(answers: Sequence[AnnotatedFigure]) -> list[AnnotatedFigure]:
    """Return the latest answer of each interface, and of each page, oldest first."""
    last: dict[tuple[Any, ...], AnnotatedFigure] = {}
    for item in answers:
        interface = item.review.interface if item.review else None
        key = (interface, item.figure_locations[0].page if interface == "pages" else None)
        last.pop(key, None)
        last[key] = item
    return list(last.values())


def _grafted(base: Sequence[AnnotatedPanel], other: AnnotatedFigure) -> list[AnnotatedPanel]:
    """Return panels with the fields that another answer decides, by the boxes that overlap most."""
    same = matched_boxes([panel.box for panel in base], [panel.box for panel in other.panels], SAME_PANEL)
    decided = set(other.decided)
    images = [image for panel in other.panels for image in panel.images]
    owners = assigned_to_panels([image.box for image in images], [panel.box for panel in base])
    result = []
    for number, panel in enumerate(base):
        update: dict[str, Any] = {}
        theirs = other.panels[same[number]] if number in same else None
        if theirs is not None and "identifiers" in decided:
            update |= {"identifier_box": theirs.identifier_box}
            update |= {"identifier": theirs.identifier} if theirs.identifier and not panel.identifier else {}
        if theirs is not None and "subcaptions" in decided:
            update |= {"subcaption": theirs.subcaption, "segments": theirs.segments}
            update |= {"identifier": theirs.identifier} if theirs.identifier else {}
        if "images" in decided:
            update["images"] = tuple(i for i, owner in zip(images, owners, strict=True) if owner == number)
        result.append(panel.model_copy(update=update))
    return result


def _relocated(panels: Sequence[AnnotatedPanel], before: Location, now: Location) -> list[AnnotatedPanel]:
    """Return panels normalised to the box that people drew around the figure, which may differ from the machine's."""
    if before.page != now.page or before.bbox == now.bbox:
        return list(panels)

    def moved(box: Box) -> Box:
        return clip(normalise(denormalise(box, before.bbox), now.bbox), UNIT_BOX)

    result = []
    for panel in panels:
        images = [image.model_copy(update={"box": moved(image.box)}) for image in panel.images]
        printed = moved(panel.identifier_box) if panel.identifier_box else None
        update = {"box": moved(panel.box), "identifier_box": printed, "images": tuple(images)}
        result.append(panel.model_copy(update=update))
    return [panel for panel in result if area(panel.box) > 0]


def settled_figure(answers: Sequence[AnnotatedFigure]) -> AnnotatedFigure:
    """Return the figure that several answers with the same purpose, the latest last, settle on.

    Raises:
        ValueError: if there is none.
    """
    chosen = _latest(_of_same_look(answers))
    if not chosen:
        raise ValueError("a figure without an answer")
    inside = [item for item in chosen if item.review is None or item.review.interface != "pages"]
    on_pages = [item for item in chosen if item not in inside]
    drawn = [item for item in inside if "panels" in item.decided]
    base = (drawn or inside or chosen)[-1]
    panels: list[AnnotatedPanel] = list(base.panels)
    for item in inside:
        if item is not base:
            panels = _grafted(panels, item)
    locations, captions = base.figure_locations, base.caption_locations
    if on_pages:
        locations = tuple(sorted((p for i in on_pages for p in i.figure_locations), key=lambda p: p.page))
        captions = tuple(sorted((p for i in on_pages for p in i.caption_locations), key=lambda p: p.page))
        panels = _relocated(panels, base.figure_locations[0], locations[0])
    fields: set[DecidedField] = {name for item in chosen for name in item.decided}
    people = sorted({item.review.annotator for item in chosen if item.review and item.review.annotator})
    return base.model_copy(
        update={
            "label": (on_pages or [base])[-1].label or base.label,
            "figure_locations": locations,
            "caption_locations": captions,
            "panels": tuple(panels),
            "review": FigureReview(
                purpose=base.purpose,
                decided=tuple(name for name in ALL_FIELDS if name in fields),
                annotator="+".join(people) or None,
                at=max((item.review.at or "" for item in chosen if item.review), default="") or None,
                fingerprint=base.review.fingerprint if base.review else None,
            ),
        }
    )


def _groups(answers: Iterable[AnnotatedFigure]) -> list[list[AnnotatedFigure]]:
    """Return the answers by purpose and figure; figures without a name are one where they lie at the same place."""
    groups: dict[tuple[str, str], list[AnnotatedFigure]] = {}
    unnamed: list[tuple[tuple[str, str], AnnotatedFigure]] = []
    for item in sorted(answers, key=_order):
        if item.purpose == "audit":
            continue
        if item.image_cluster_id is not None:
            groups.setdefault((item.purpose, item.image_cluster_id), []).append(item)
            continue
        place = item.figure_locations[0]
        key = next(
            (
                key
                for key, other in unnamed
                if key[0] == item.purpose
                and other.figure_locations[0].page == place.page
                and iou(other.figure_locations[0].bbox, place.bbox) >= SAME_PANEL
            ),
            (item.purpose, f" {len(unnamed)}"),
        )
        unnamed.append((key, item))
        groups.setdefault(key, []).append(item)
    return list(groups.values())


def settled_regions(answers: Iterable[FigureRegions]) -> list[FigureRegions]:
    """Return the marks and regions that hold of each figure, for each purpose: those of the latest answer."""
    latest: dict[tuple[str, str], FigureRegions] = {}
    for item in sorted(answers, key=_order):
        if item.image_cluster_id is not None:
            latest[item.purpose, item.image_cluster_id] = item
    return [latest[key] for key in sorted(latest)]


def settled_article(
    before: AnnotatedArticle | None,
    name: str,
    new: Iterable[AnnotatedFigure],
    pages: Iterable[int],
    page_count: int | None,
    figures: Collection[str],
    regions: Iterable[FigureRegions] = (),
    instructions: Iterable[InstructionAnswer] = (),
) -> AnnotatedArticle:
    """Return an article with new answers: all of them, and what holds of each figure.

    A figure that somebody wrote down by hand (without `review`) stays as it is. One that the machine found, and that
    nobody drew on a page they looked at, is none.

    Args:
        before: as it was; None for one that is new.
        name: of its package.
        new: answers.
        pages: that people looked at for figures, with these answers.
        page_count: of the article; None when not known.
        figures: image_cluster_id of those that the machine found.
        regions: answers about marks and regions.
        instructions: answers about instructions.
    """
    region_answers = merged_answers(before.region_answers if before else (), regions)
    drawn_by_hand = [item for item in (before.regions if before else ()) if item.review is None]
    of_hand = {item.image_cluster_id for item in drawn_by_hand}
    answers = merged_answers(before.answers if before else (), new)
    looked = sorted({*(before.pages if before else ()), *pages})
    by_hand = [figure for figure in (before.figures if before else ()) if figure.review is None]
    taken = {figure.image_cluster_id for figure in by_hand if figure.image_cluster_id is not None}
    settled = []
    for group in _groups(answers):
        figure = settled_figure(group)
        if figure.image_cluster_id in taken:
            continue
        unseen = {place.page for place in figure.figure_locations} <= set(looked) and "figure" not in figure.decided
        if not (figure.purpose == "full" and unseen):
            settled.append(figure)
    settled.sort(key=lambda f: (f.figure_locations[0].page, f.figure_locations[0].bbox[1], f.figure_locations[0].bbox))
    count = page_count if page_count is not None else before.page_count if before else None
    everything = [*by_hand, *settled]
    return AnnotatedArticle(
        article_id=name,
        figures=tuple(everything),
        complete=bool(by_hand) or _is_complete(settled, looked, count, figures),
        pages=tuple(looked),
        page_count=count,
        answers=answers,
        regions=(
            *drawn_by_hand,
            *(item for item in settled_regions(region_answers) if item.image_cluster_id not in of_hand),
        ),
        region_answers=region_answers,
        instruction_answers=merged_answers(before.instruction_answers if before else (), instructions),
    )


def _is_complete(
    settled: Sequence[AnnotatedFigure], pages: Sequence[int], count: int | None, figures: Collection[str]
) -> bool:
    """Say whether people looked at every page, and decided everything of each figure that the machine found and they
    did not strike out."""
    full = [item for item in settled if item.purpose == "full"]
    return (
        bool(full)
        and count is not None
        and set(range(count)) <= set(pages)
        and all(set(ALL_FIELDS) <= set(item.decided) for item in full if item.image_cluster_id in figures)
    )
