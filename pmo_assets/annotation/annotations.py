"""Annotated articles: what is really on the page, read from JSON files.

One file per article: `{"article_id", "figures": [{label, image_cluster_id, figure_locations, caption_locations,
caption, panels: [{identifier, identifier_box, box, subcaption, images: [{box, type, marked}]}]}]}`. Locations are
pages (from 0) with boxes in PDF points; the boxes of panels, identifiers and images are normalised to the figure.
`pmo article` and `pmo samples` write the same format, a prediction with `score` and `confidence` besides. The records
here stand for both. The rules by which annotators decide: `docs/annotation_guide.md`.
"""

from __future__ import annotations

import glob
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, FiniteFloat, ValidationError, model_validator

from pmo_assets.records.geometry import Box
from pmo_assets.records.packages import article_id_and_version
from pmo_assets.records.stores import SystemicError

MAX_FILE_BYTES = 64_000_000
"""A larger file is no annotation of one article."""


class AnnotationsMissing(SystemicError):
    """No annotation file is where the setting says."""


def _ordered(box: Box) -> Box:
    if box[0] > box[2] or box[1] > box[3]:
        raise ValueError(f"the box {list(box)} is not [left, top, right, bottom]")
    return box


OrderedBox = Annotated[tuple[FiniteFloat, FiniteFloat, FiniteFloat, FiniteFloat], AfterValidator(_ordered)]


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Location(_Record):
    """A box on a page: page from 0, [left, top, right, bottom] in PDF points, origin at the top left."""

    page: int = Field(ge=0)
    bbox: OrderedBox


class AnnotatedImage(_Record):
    """An image: box normalised to the figure; type and mark status are None where a prediction is undecided."""

    box: OrderedBox
    type: str | None
    marked: bool | None
    score: FiniteFloat = 1.0


class AnnotatedPanel(_Record):
    """A panel: boxes normalised to the figure; the identifier is None for a single panel."""

    identifier: str | None
    identifier_box: OrderedBox | None = None
    box: OrderedBox
    subcaption: str | None = None
    images: tuple[AnnotatedImage, ...] = ()
    score: FiniteFloat = 1.0
    assembly: str | None = None
    assembly_reason: str | None = None


class AnnotatedFigure(_Record):
    """A figure with everything in it; several locations when it runs over pages."""

    label: str | None = None
    image_cluster_id: str | None = None
    figure_locations: tuple[Location, ...] = Field(min_length=1)
    caption_locations: tuple[Location, ...] = ()
    caption: str | None = None
    confidence: FiniteFloat = 1.0
    panels: tuple[AnnotatedPanel, ...] = ()

    @model_validator(mode="after")
    def _visible(self) -> AnnotatedFigure:
        for place in self.figure_locations:
            left, top, right, bottom = place.bbox
            if right <= left or bottom <= top:
                raise ValueError(f"the figure's box {list(place.bbox)} has no area")
        return self


class AnnotatedArticle(_Record):
    """An article's figures; `article_id` is the name of its package, e.g. "PMC4657150"."""

    article_id: str = Field(min_length=1)
    figures: tuple[AnnotatedFigure, ...]


@dataclass(frozen=True, slots=True)
class AnnotationProblem:
    """A file that cannot be used, and why."""

    file: str
    reason: str


@dataclass(frozen=True, slots=True)
class Annotations:
    """What the files hold: articles in the order of their files' names, and the files that cannot be used."""

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


def annotated_articles(rows: Iterable[Mapping[str, Any]]) -> dict[int, AnnotatedArticle]:
    """Return the articles of table `annotations`, by number."""
    return {
        row["article_id"]: AnnotatedArticle.model_validate({"article_id": row["name"], "figures": row["figures"]})
        for row in rows
    }


def annotation_rows(articles: Iterable[AnnotatedArticle]) -> list[dict[str, Any]]:
    """Return the rows of table `annotations`: one per article, also for one without figures."""
    panel: Any = {"score": True, "assembly": True, "assembly_reason": True, "images": {"__all__": {"score"}}}
    predicted: Any = {"__all__": {"confidence": True, "panels": {"__all__": panel}}}
    return [
        {
            "article_id": article_number(article.article_id),
            "name": article.article_id,
            "figures": article.model_dump(mode="json", exclude={"figures": predicted})["figures"],
        }
        for article in articles
    ]
