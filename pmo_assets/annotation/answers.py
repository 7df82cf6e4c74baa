"""Answers of people: Label Studio's export, checked against the figures that there are.

The export comes from outside: anything impossible in it becomes a problem of its task, with a name, and the other
tasks are taken.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, TypeAdapter, ValidationError

from pmo_assets.annotation.annotations import (
    AnnotatedFigure,
    AnnotatedImage,
    AnnotatedPanel,
    FigureFingerprint,
    FigureRegions,
    FigureReview,
    InstructionAnswer,
    Location,
    problem_text,
)
from pmo_assets.annotation.cases import CaseFigure
from pmo_assets.annotation.instruction_cases import KnownInstruction
from pmo_assets.annotation.instruction_tasks import judged_instruction
from pmo_assets.annotation.interfaces import (
    ANNOTATED,
    CAPTION,
    DECIDES,
    FIGURE,
    IDENTIFIER,
    LABEL,
    MARK,
    PANEL,
    PANEL_NAME,
    PLAIN,
    READ,
    SUBCAPTION,
    TIP,
    TRANSCRIPTION,
    VERDICT,
    Interface,
    labels_of,
)
from pmo_assets.annotation.label_studio import Answered, BadRegion, DrawnBox, answered, linked, when, who
from pmo_assets.annotation.region_tasks import PanelShown, decided_panel_regions
from pmo_assets.annotation.tasks import TASK_FORMAT
from pmo_assets.pipeline.assembly.membership import assigned_to_panels
from pmo_assets.pipeline.captions.segments import join_segments
from pmo_assets.records.figure import PageBox
from pmo_assets.records.geometry import Box, as_box, denormalise, iou, matched_boxes
from pmo_assets.records.image_types import IMAGE_TYPES
from pmo_assets.records.reviews import VERDICTS, DecidedField, Purpose

MAX_TEXT: Final = 20_000
"""Characters of a subcaption or name; captions have some thousand."""

MAX_PAGE: Final = 100_000
"""No article has so many pages."""

MOVED: Final = 0.98
"""IoU with the shown box below which a person moved it: one that was only looked at comes back as it was."""

SAME_FIGURE: Final = 0.5
"""IoU from which a box that people drew on a page is the figure that the machine found there."""


@dataclass(frozen=True, slots=True)
class TaskProblem:
    """A task, or one person's answer to it, that cannot be taken, and why."""

    task: str
    reason: str


@dataclass(frozen=True)
class KnownFigures:
    """Figures that answers are checked against: articles by name, and their figures by image_cluster_id.

    `words` are the texts that a region's words may come from besides the caption, by the same names; `instructions` the
    instructions that there are, by the article's name and `instruction_id`.
    """

    articles: Mapping[str, Mapping[str, CaseFigure]]
    words: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    instructions: Mapping[str, Mapping[str, KnownInstruction]] = field(default_factory=dict)


@dataclass
class TakenAnswers:
    """Answers by name of the article, pages that people looked at with the article's number of pages, problems."""

    figures: dict[str, list[AnnotatedFigure]] = field(default_factory=dict)
    regions: dict[str, list[FigureRegions]] = field(default_factory=dict)
    instructions: dict[str, list[InstructionAnswer]] = field(default_factory=dict)
    pages: dict[str, set[int]] = field(default_factory=dict)
    page_counts: dict[str, int] = field(default_factory=dict)
    problems: list[TaskProblem] = field(default_factory=list)
    taken: int = 0
    skipped: int = 0


class _Shown(PanelShown):
    subcaption: str | None = None
    assembly: str | None = None


class _About(BaseModel):
    """`data.pmo` of a task."""

    model_config = ConfigDict(extra="ignore")
    format: Literal[1] = TASK_FORMAT
    interface: Interface
    purpose: Purpose
    article: str = Field(min_length=1, max_length=500)
    figure: str | None = None
    fingerprint: FigureFingerprint | None = None
    panels: tuple[_Shown, ...] = ()
    page: int = Field(0, ge=0, le=MAX_PAGE)
    pages: int = Field(0, ge=0, le=MAX_PAGE)
    frame: tuple[FiniteFloat, FiniteFloat, FiniteFloat, FiniteFloat] | None = None
    instruction: str | None = Field(None, max_length=500)


_ABOUT: Final = TypeAdapter(_About)


def hashed(annotator: str) -> str:
    """Return a digest that stands for a person: the same for the same account, and not the account."""
    return hashlib.sha256(f"annotator:{annotator}".encode()).hexdigest()[:12]


def as_is(annotator: str) -> str:
    """Return the account itself."""
    return annotator


def task_article(task: object, interface: str | None = None) -> str | None:
    """Return the name of the article that a task is about; None when it says none, or is of another interface."""
    about = _about_of(task)
    if not isinstance(about, dict) or (interface is not None and about.get("interface") != interface):
        return None
    name = about.get("article")
    return name if isinstance(name, str) else None


def _about_of(task: object) -> Any:
    data = task.get("data") if isinstance(task, dict) else None
    return data.get("pmo") if isinstance(data, dict) else None


def take_answers(tasks: Sequence[object], known: KnownFigures, name: Callable[[str], str] = hashed) -> TakenAnswers:
    """Return people's answers, checked.

    Args:
        tasks: of the export.
        known: articles and figures that there are.
        name: gives the name that stands for a person (`hashed`, `as_is`).
    """
    taken = TakenAnswers()
    for place, task in enumerate(tasks):
        number = task.get("id", place) if isinstance(task, dict) else place
        title = f"task {str(number)[:40]}"
        try:
            about = _ABOUT.validate_python(_about_of(task))
        except ValidationError as error:
            taken.problems.append(TaskProblem(title, f"it is no task of this project: {problem_text(error)}"))
            continue
        title = f"{title} ({about.interface}, {about.article[:60]}{f' {about.figure[:60]}' if about.figure else ''})"
        annotations = task.get("annotations") if isinstance(task, dict) else None
        for annotation in annotations if isinstance(annotations, list) else ():
            _take(taken, title, about, annotation, known, name)
    return taken


def _take(
    taken: TakenAnswers,
    title: str,
    about: _About,
    annotation: object,
    known: KnownFigures,
    name: Callable[[str], str],
) -> None:
    if not isinstance(annotation, dict):
        taken.problems.append(TaskProblem(title, "an answer is no object"))
        return
    if annotation.get("was_cancelled"):
        taken.skipped += 1
        return
    person = name(who(annotation))
    figures: list[AnnotatedFigure] = []
    try:
        if about.interface == "regions":
            regions = _figure_regions(about, annotation, known, person)
        elif about.interface == "instructions":
            judged = _judged_instruction(about, annotation, known, person)
        else:
            figures = list(_figures(about, annotation, known, person))
    except BadRegion as error:
        taken.problems.append(TaskProblem(f"{title} by {person}", str(error)))
    except ValidationError as error:
        taken.problems.append(TaskProblem(f"{title} by {person}", problem_text(error)))
    else:
        taken.taken += 1
        if about.interface == "regions":
            taken.regions.setdefault(about.article, []).append(regions)
            return
        if about.interface == "instructions":
            taken.instructions.setdefault(about.article, []).append(judged)
            return
        taken.figures.setdefault(about.article, []).extend(figures)
        if about.interface == "pages":
            taken.pages.setdefault(about.article, set()).add(about.page)
            taken.page_counts[about.article] = max(about.pages, taken.page_counts.get(about.article, 0))


def _known_article(about: _About, known: KnownFigures) -> Mapping[str, CaseFigure]:
    figures = known.articles.get(about.article)
    if figures is None:
        raise BadRegion(f"no article {about.article[:60]!r} is in the tables")
    return figures


def _figure(about: _About, figures: Mapping[str, CaseFigure]) -> CaseFigure:
    figure = figures.get(about.figure or "")
    if figure is None:
        raise BadRegion(f"the article has no figure {str(about.figure)[:60]!r}")
    if about.fingerprint is None:
        raise BadRegion("the task does not say how the figure looked")
    return figure


def _figure_regions(about: _About, annotation: Mapping[str, Any], known: KnownFigures, person: str) -> FigureRegions:
    figure = _figure(about, _known_article(about, known))
    answer = answered(
        annotation.get("result"), labels=labels_of("regions"), caption=figure.caption, parts=(), points=(TIP,)
    )
    further = known.words.get(about.article, {}).get(figure.image_cluster_id, ())
    return FigureRegions(
        label=figure.label,
        image_cluster_id=figure.image_cluster_id,
        figure_locations=tuple(_location(place) for place in figure.locations),
        panels=tuple(decided_panel_regions(answer, about.panels, (figure.caption, *further))),
        review=_review(about, annotation, person, DECIDES["regions"]),
    )


def _judged_instruction(
    about: _About, annotation: Mapping[str, Any], known: KnownFigures, person: str
) -> InstructionAnswer:
    figure = _figure(about, _known_article(about, known))
    found = known.instructions.get(about.article, {}).get(about.instruction or "")
    if found is None or found.image_cluster_id != figure.image_cluster_id:
        raise BadRegion(f"the figure has no instruction {str(about.instruction)[:60]!r} any more: export it again")
    answer = answered(annotation.get("result"), labels=labels_of(about.interface), caption=figure.caption, parts=())
    verdict, reason = judged_instruction(answer)
    return InstructionAnswer(
        label=figure.label,
        image_cluster_id=figure.image_cluster_id,
        figure_locations=tuple(_location(place) for place in figure.locations),
        instruction_id=found.instruction_id,
        kind=found.kind,
        confidence=found.confidence,
        maker=found.maker,
        verdict=verdict,
        reason=reason,
        review=_review(about, annotation, person, DECIDES["instructions"]),
    )


def _review(
    about: _About, annotation: Mapping[str, Any], person: str, decided: tuple[DecidedField, ...]
) -> FigureReview:
    return FigureReview(
        purpose=about.purpose,
        decided=decided,
        interface=about.interface,
        annotator=person,
        at=when(annotation),
        fingerprint=about.fingerprint,
    )


def _figures(
    about: _About, annotation: Mapping[str, Any], known: KnownFigures, person: str
) -> Iterator[AnnotatedFigure]:
    figures = _known_article(about, known)
    if about.interface == "pages":
        yield from _page_figures(about, annotation, figures, person)
        return
    figure = _figure(about, figures)
    answer = answered(
        annotation.get("result"),
        labels=labels_of(about.interface),
        caption=figure.caption,
        parts=(SUBCAPTION, IDENTIFIER),
    )
    decided: tuple[DecidedField, ...] = DECIDES[about.interface]
    if about.interface == "boxes":
        panels = _boxes_panels(answer)
    elif about.interface == "captions":
        panels, moved = _captioned_panels(answer, about, figure.caption)
        decided = (*decided, "panels") if moved or about.purpose == "full" else decided
    else:
        panels = [_judged(answer, about)]
    yield AnnotatedFigure(
        label=figure.label,
        image_cluster_id=figure.image_cluster_id,
        figure_locations=tuple(_location(place) for place in figure.locations),
        caption_locations=tuple(_location(place) for place in figure.caption_locations),
        caption=figure.caption,
        panels=tuple(panels),
        review=_review(about, annotation, person, decided),
    )


def _location(place: PageBox) -> Location:
    return Location(page=place.page, bbox=place.bbox)


def _text(text: str | None) -> str | None:
    if text is not None and len(text) > MAX_TEXT:
        raise BadRegion(f"a text has {len(text)} characters, {MAX_TEXT} are allowed")
    return text or None


def _drawn(answer: Answered, *labels: str) -> list[DrawnBox]:
    return [box for box in answer.boxes if box.label in labels]


def _boxes_panels(answer: Answered) -> list[AnnotatedPanel]:
    """Return panels with the identifiers and images that lie in them.

    Raises:
        BadRegion: if an identifier or image lies in no panel, or a panel has two identifiers that differ.
    """
    panels = _drawn(answer, PANEL)
    if not panels:
        raise BadRegion("no panel is drawn: a figure without identifiers is one panel")
    boxes = [panel.box for panel in panels]
    identifiers, images = _drawn(answer, IDENTIFIER), _drawn(answer, *IMAGE_TYPES)
    of_identifier = assigned_to_panels([item.box for item in identifiers], boxes)
    of_image = assigned_to_panels([item.box for item in images], boxes)
    for what, owners in (("an identifier", of_identifier), ("an image", of_image)):
        if None in owners:
            raise BadRegion(f"{what} lies in no panel")
    result = []
    for number, panel in enumerate(panels):
        own = [item for item, owner in zip(identifiers, of_identifier, strict=True) if owner == number]
        named = [item for item in own if item.texts.get(READ)] or own
        if len({item.texts[READ] for item in named if READ in item.texts}) > 1:
            raise BadRegion("a panel has two identifiers: only the highest level is annotated")
        result.append(
            AnnotatedPanel(
                identifier=_text(named[0].texts.get(READ)) if named else None,
                identifier_box=named[0].box if named else None,
                box=panel.box,
                images=tuple(
                    AnnotatedImage(box=item.box, type=item.label, marked=_marked(item))
                    for item, owner in zip(images, of_image, strict=True)
                    if owner == number
                ),
            )
        )
    return result


def _marked(image: DrawnBox) -> bool | None:
    choice = image.choices.get(MARK)
    if choice not in (None, PLAIN, ANNOTATED):
        raise BadRegion(f"unknown mark status {choice[:40]!r}")
    return None if choice is None else choice == ANNOTATED


def _captioned_panels(answer: Answered, about: _About, caption: str) -> tuple[list[AnnotatedPanel], bool]:
    """Return panels with their subcaptions, and whether a person moved, added or removed one.

    What a person wrote counts before what they marked, unless it is what the machine wrote and they marked other parts.
    """
    drawn = _drawn(answer, PANEL)
    if not drawn:
        raise BadRegion("no panel is drawn")
    shown = [as_box(item.box) for item in about.panels]
    same = matched_boxes([box.box for box in drawn], shown, SAME_FIGURE)
    panels = []
    for number, box in enumerate(drawn):
        before = about.panels[same[number]] if number in same else None
        ranges = tuple((item.start, item.end) for item in linked(answer, box) if item.label == SUBCAPTION)
        names = [caption[item.start : item.end].strip("()[].: ") for item in linked(answer, box)
                 if item.label == IDENTIFIER]  # fmt: skip
        typed = _text(box.texts.get(TRANSCRIPTION))
        kept = before is not None and typed is not None and typed == (before.subcaption or "").strip()
        text = typed if typed is not None and not (kept and ranges) else _text(join_segments(caption, ranges))
        if kept and ranges and text is not None and _same_words(text, typed or ""):
            text = typed
        panels.append(
            AnnotatedPanel(
                identifier=_text(box.texts.get(PANEL_NAME)) or (names[0] if names else None),
                box=box.box,
                subcaption=text,
                segments=ranges or None,
            )
        )
    whole = len(same) == len(drawn) == len(shown)
    moved = not whole or any(iou(drawn[a].box, shown[b]) < MOVED for a, b in same.items())
    return panels, moved


def _same_words(a: str, b: str) -> bool:
    return [*filter(str.isalnum, a.lower())] == [*filter(str.isalnum, b.lower())]


def _judged(answer: Answered, about: _About) -> AnnotatedPanel:
    verdict = answer.choices.get(VERDICT)
    if verdict not in VERDICTS:
        raise BadRegion(f"no verdict, or an unknown one: {str(verdict)[:40]!r}")
    if len(about.panels) != 1:
        raise BadRegion("an audit's task is about one panel")
    panel = about.panels[0]
    return AnnotatedPanel(
        identifier=panel.identifier,
        box=as_box(panel.box),
        subcaption=panel.subcaption,
        verdict=verdict,
        judged=panel.assembly,
    )


def _page_figures(
    about: _About, annotation: Mapping[str, Any], figures: Mapping[str, CaseFigure], person: str
) -> Iterator[AnnotatedFigure]:
    """Yield the figures that a person drew on a page, each with the captions of the same label, or the nearest one."""
    if about.frame is None:
        raise BadRegion("the task does not say what part of the page was shown")
    frame = as_box(about.frame)
    answer = answered(annotation.get("result"), labels=labels_of("pages"), caption="", parts=())
    drawn, captions = _drawn(answer, FIGURE), _drawn(answer, CAPTION)
    places = [
        (name, place.bbox) for name, figure in figures.items() for place in figure.locations if place.page == about.page
    ]
    boxes = [denormalise(item.box, frame) for item in drawn]
    found = matched_boxes(boxes, [box for _, box in places], SAME_FIGURE)
    owners = [_caption_owner(item, drawn) for item in captions]
    for number, item in enumerate(drawn):
        name = places[found[number]][0] if number in found else None
        row = figures[name] if name is not None else None
        own = [denormalise(c.box, frame) for c, owner in zip(captions, owners, strict=True) if owner == number]
        yield AnnotatedFigure(
            label=_text(item.texts.get(LABEL)) or (row.label if row else None),
            image_cluster_id=name,
            figure_locations=(Location(page=about.page, bbox=_rounded(boxes[number])),),
            caption_locations=tuple(Location(page=about.page, bbox=_rounded(box)) for box in own),
            caption=row.caption if row else None,
            review=FigureReview(
                purpose=about.purpose,
                decided=DECIDES["pages"],
                interface="pages",
                annotator=person,
                at=when(annotation),
            ),
        )


def _rounded(box: Box) -> Box:
    left, top, right, bottom = (round(edge, 3) for edge in box)
    return left, top, right, bottom


def _caption_owner(caption: DrawnBox, figures: Sequence[DrawnBox]) -> int | None:
    """Return which figure a caption belongs to: the one with its label, else the nearest."""
    label = caption.texts.get(LABEL)
    if label:
        same = [number for number, item in enumerate(figures) if item.texts.get(LABEL) == label]
        if same:
            return same[0]

    def apart(box: Box) -> float:
        across = max(box[0] - caption.box[2], caption.box[0] - box[2], 0.0)
        down = max(box[1] - caption.box[3], caption.box[1] - box[3], 0.0)
        return across + down

    return min(range(len(figures)), key=lambda number: apart(figures[number].box), default=None)
