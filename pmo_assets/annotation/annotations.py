"""Annotated articles: what is really on the page, read from JSON files.

One file per article: `{"article_id", "figures": [{label, image_cluster_id, figure_locations, caption_locations,
caption, panels: [{identifier, identifier_box, box, subcaption, images: [{box, type, marked}]}]}]}`. Locations are
pages (from 0) with boxes in PDF points; the boxes of panels, identifiers and images are normalised to the figure.
`pmo article` and `pmo samples` write the same format, a prediction with `score` and `confidence` besides. The records
here stand for both. The rules by which annotators decide: `docs/annotation_guide.md`.

`pmo annotate import` adds who decided what: `review` of a figure, and the article's `answers`, one per figure, person
and interface, of which `figures` are put together (`settle`). A figure without `review` is annotated in full.
Marks and regions of panels stand apart (`regions`): they are decided by themselves, and apply to later tables.
"""

from __future__ import annotations

import glob
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, FiniteFloat, ValidationError, model_validator

from pmo_assets.records.geometry import Box
from pmo_assets.records.instructions import InstructionKind
from pmo_assets.records.packages import article_id_and_version
from pmo_assets.records.regions import MarkColour, MarkKind
from pmo_assets.records.reviews import ALL_FIELDS, FULL, DecidedField, InstructionVerdict, Purpose, Verdict
from pmo_assets.records.stores import SystemicError

MAX_FILE_BYTES = 64_000_000
"""A larger file is no annotation of one article."""


MAX_LABEL = 100
"""Characters of the print beside a mark."""

MAX_WORDS = 2000
"""Characters of a region's words: a fragment of a sentence has some dozens."""


class AnnotationsMissing(SystemicError):
    """No annotation file is where the setting says."""


def _ordered(box: Box) -> Box:
    if box[0] > box[2] or box[1] > box[3]:
        raise ValueError(f"the box {list(box)} is not [left, top, right, bottom]")
    return box


OrderedBox = Annotated[tuple[FiniteFloat, FiniteFloat, FiniteFloat, FiniteFloat], AfterValidator(_ordered)]


_Count = Annotated[int, Field(ge=0, le=2**31)]
"""Pages, characters, pixels: whole numbers that a table can hold."""


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Location(_Record):
    """A box on a page: page from 0, [left, top, right, bottom] in PDF points, origin at the top left."""

    page: _Count
    bbox: OrderedBox


class AnnotatedImage(_Record):
    """An image: box normalised to the figure; type and mark status are None where a prediction is undecided."""

    box: OrderedBox
    type: str | None
    marked: bool | None
    score: FiniteFloat = 1.0


class AnnotatedPanel(_Record):
    """A panel: boxes normalised to the figure; the identifier is None for a single panel.

    `segments` are the subcaption's ranges of the caption; `verdict` is what an audit says of the subcaption that was
    assigned as `judged` says.
    """

    identifier: str | None
    identifier_box: OrderedBox | None = None
    box: OrderedBox
    subcaption: str | None = None
    images: tuple[AnnotatedImage, ...] = ()
    segments: tuple[tuple[_Count, _Count], ...] | None = None
    verdict: Verdict | None = None
    judged: str | None = None
    score: FiniteFloat = 1.0
    assembly: str | None = None
    assembly_reason: str | None = None


class FigureFingerprint(_Record):
    """Fingerprint of the figure as people saw it (`records.reviews.Fingerprint`)."""

    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    look: str = Field(pattern=r"^[0-9a-f]{256}$")
    width: int = Field(ge=1, le=2**31)
    height: int = Field(ge=1, le=2**31)


class FigureReview(_Record):
    """Who decided what of a figure, when, and why (`records.reviews.Review`)."""

    purpose: Purpose = "full"
    decided: tuple[DecidedField, ...] = ALL_FIELDS
    interface: str | None = None
    annotator: str | None = None
    at: str | None = None
    fingerprint: FigureFingerprint | None = None


class AnnotatedFigure(_Record):
    """A figure with everything in it; several locations when it runs over pages."""

    label: str | None = None
    image_cluster_id: str | None = None
    figure_locations: tuple[Location, ...] = Field(min_length=1)
    caption_locations: tuple[Location, ...] = ()
    caption: str | None = None
    confidence: FiniteFloat = 1.0
    panels: tuple[AnnotatedPanel, ...] = ()
    review: FigureReview | None = None

    @property
    def purpose(self) -> Purpose:
        """Why people looked at it."""
        return self.review.purpose if self.review else FULL.purpose

    @property
    def decided(self) -> tuple[DecidedField, ...]:
        """Fields of the figure that people decided."""
        return self.review.decided if self.review else FULL.decided

    @model_validator(mode="after")
    def _visible(self) -> AnnotatedFigure:
        for place in self.figure_locations:
            left, top, right, bottom = place.bbox
            if right <= left or bottom <= top:
                raise ValueError(f"the figure's box {list(place.bbox)} has no area")
        return self


class AnnotatedMark(_Record):
    """A mark on an image (`records.reviews.DecidedMark`); box and tip are normalised to the figure."""

    kind: MarkKind
    colour: MarkColour | None = None
    box: OrderedBox
    tip: tuple[FiniteFloat, FiniteFloat] | None = None
    label: str | None = Field(None, max_length=MAX_LABEL)


class AnnotatedRegion(_Record):
    """A region: box normalised to the figure, words of the article, positions of the marks that show it."""

    box: OrderedBox
    text: str | None = Field(None, max_length=MAX_WORDS)
    marks: tuple[_Count, ...] = ()


class PanelRegions(_Record):
    """All marks and regions of a panel; identifier and box are the panel's as people saw it."""

    identifier: str | None = None
    box: OrderedBox
    marks: tuple[AnnotatedMark, ...] = ()
    regions: tuple[AnnotatedRegion, ...] = ()

    @model_validator(mode="after")
    def _marks_there(self) -> PanelRegions:
        if any(mark >= len(self.marks) for region in self.regions for mark in region.marks):
            raise ValueError(f"a region is shown by a mark that is not there: the panel has {len(self.marks)}")
        return self


class FigureRegions(_Record):
    """Marks and regions of a figure's panels, apart from what the figure holds: they come later, and are decided alone.

    Panels that are not here were not looked at.
    """

    label: str | None = None
    image_cluster_id: str | None = None
    figure_locations: tuple[Location, ...] = Field(min_length=1)
    panels: tuple[PanelRegions, ...] = ()
    review: FigureReview | None = None

    @property
    def purpose(self) -> Purpose:
        """Why people looked at them."""
        return self.review.purpose if self.review else FULL.purpose


class InstructionAnswer(_Record):
    """What one person says of one instruction: its verdict, and why in their words.

    Kind, confidence and maker are the instruction's when people saw it.
    """

    label: str | None = None
    image_cluster_id: str | None = None
    figure_locations: tuple[Location, ...] = Field(min_length=1)
    instruction_id: str = Field(min_length=1, max_length=500)
    kind: InstructionKind
    confidence: float = Field(ge=0, le=1)
    maker: str = Field("", max_length=500)
    verdict: InstructionVerdict
    reason: str | None = Field(None, max_length=MAX_WORDS)
    review: FigureReview

    @property
    def purpose(self) -> Purpose:
        """Why people looked at it."""
        return self.review.purpose


class AnnotatedArticle(_Record):
    """An article's figures; `article_id` is the name of its package, e.g. "PMC4657150".

    `complete` is false when figures, or parts of them, have not been annotated: then nothing is measured on it.
    `answers` are single answers, of which `figures` are put together; `pages` those that people looked at for figures.
    `regions` are the marks and regions of its figures' panels, put together of `region_answers`.
    `instruction_answers` judge instructions about its panels.
    """

    article_id: str = Field(min_length=1)
    figures: tuple[AnnotatedFigure, ...]
    complete: bool = True
    pages: tuple[_Count, ...] = ()
    page_count: _Count | None = None
    answers: tuple[AnnotatedFigure, ...] = ()
    regions: tuple[FigureRegions, ...] = ()
    region_answers: tuple[FigureRegions, ...] = ()
    instruction_answers: tuple[InstructionAnswer, ...] = ()

    @property
    def is_answered(self) -> bool:
        """Single answers of people are among what is said of it."""
        return bool(self.answers or self.region_answers or self.instruction_answers)


@dataclass(frozen=True, slots=True)
class AnnotationProblem:
    """A file that cannot be used, and why."""

    file: str
    reason: str


@dataclass(frozen=True, slots=True)
class Annotations:
    """Annotated articles in the order of their files' names, and the files that cannot be used."""

    articles: tuple[AnnotatedArticle, ...]
    problems: tuple[AnnotationProblem, ...]
    files: int


def article_number(name: str) -> int:
    """Return the number under which the tables hold an annotated article."""
    return article_id_and_version(name, {})[0]


def annotation_files(place: str) -> list[Path]:
    """Return the annotation files of a folder (its `*.json`) or of a file pattern, sorted by name.

    Raises:
        AnnotationsMissing: if there is none.
    """
    folder = Path(place).expanduser()
    found = folder.glob("*.json") if folder.is_dir() else (Path(p) for p in glob.glob(str(folder), recursive=True))
    files = sorted((path for path in found if path.is_file()), key=lambda path: (path.name, str(path)))
    if not files:
        raise AnnotationsMissing(
            f"no annotation file at {place}: PMO_ANNOTATIONS is a folder of JSON files or a pattern (truth/*.json)"
        )
    return files


def problem_text(error: ValidationError) -> str:
    """Return the first thing that is wrong and where, in one line."""
    first = error.errors(include_url=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    more = error.error_count() - 1
    return f"{place + ': ' if place else ''}{first['msg']}{f' (and {more} more)' if more else ''}"


def read_annotations(files: Iterable[Path]) -> Annotations:
    """Return the annotated articles of the files; a file that cannot be used is a problem, never an error.

    A second file for the same article is a problem as well: nobody can say which one is right.
    """
    articles: dict[int, AnnotatedArticle] = {}
    problems: list[AnnotationProblem] = []
    count = 0
    for path in files:
        count += 1
        try:
            if path.stat().st_size > MAX_FILE_BYTES:
                raise ValueError(f"larger than {MAX_FILE_BYTES / 1e6:.0f} MB")
            article = AnnotatedArticle.model_validate_json(path.read_bytes())
        except ValidationError as error:
            problems.append(AnnotationProblem(path.name, problem_text(error)))
            continue
        except (OSError, ValueError) as error:
            problems.append(AnnotationProblem(path.name, str(error)))
            continue
        number = article_number(article.article_id)
        if number in articles:
            problems.append(AnnotationProblem(path.name, f"{article.article_id} is annotated in another file already"))
        else:
            articles[number] = article
    return Annotations(tuple(articles.values()), tuple(problems), count)


def article_of_row(row: Mapping[str, Any]) -> AnnotatedArticle:
    """Return the article of a row of table `annotations`."""
    return AnnotatedArticle.model_validate(
        {
            "article_id": row["name"],
            "figures": row["figures"],
            "complete": row.get("complete", True),
            "answers": row.get("answers") or (),
            "regions": row.get("regions") or (),
            "region_answers": row.get("region_answers") or (),
            "instruction_answers": row.get("instruction_answers") or (),
        }
    )


def annotated_articles(rows: Iterable[Mapping[str, Any]]) -> dict[int, AnnotatedArticle]:
    """Return the articles of table `annotations` that can be measured on, by number: all their figures, in full.

    Decisions of undecided cases and answers of an audit are no ground truth: they were asked about chosen figures only.
    """
    found = ((row["article_id"], article_of_row(row)) for row in rows)
    return {
        number: article.model_copy(update={"figures": tuple(f for f in article.figures if f.purpose == "full")})
        for number, article in found
        if article.complete
    }


_PREDICTED_PANEL: Any = {"score": True, "assembly": True, "assembly_reason": True, "images": {"__all__": {"score"}}}
_PREDICTED: Any = {"__all__": {"confidence": True, "panels": {"__all__": _PREDICTED_PANEL}}}


def annotation_of(article: AnnotatedArticle) -> dict[str, Any]:
    """Return an article as it is written down, without what only predictions have."""
    content = article.model_dump(mode="json", exclude={"figures": _PREDICTED, "answers": _PREDICTED})
    return {name: value for name, value in content.items() if value or name not in _APART}


_APART = ("regions", "region_answers", "instruction_answers")
"""Keys that only an article has whose marks and regions, or instructions, people looked at."""


def annotation_rows(articles: Iterable[AnnotatedArticle]) -> list[dict[str, Any]]:
    """Return the rows of table `annotations`: one per article, also for one without figures."""
    rows = []
    for article in articles:
        content = annotation_of(article)
        kept = {name: content[name] for name in ("figures", "complete", "answers")}
        kept |= {name: content.get(name, []) for name in _APART}
        rows.append({"article_id": article_number(article.article_id), "name": article.article_id, **kept})
    return rows
