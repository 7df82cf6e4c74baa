"""A published file and a release, row by row: agreement of the rows of both, and rows of one alone, with the reasons.

Ids of panels are each file's own, so that rows are matched by name and place (`panel_matching`); releases of one data
root share their ids, and `release.differences` compares them by digests alone. Both files are read in the published
form (`published_file`), without pictures. Memory holds the compared values alone: names, subcaptions, boxes, types,
licences. Articles are taken one after the other.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol

import polars as pl
from rapidfuzz.distance import Levenshtein

from pmo_assets.records.geometry import Box, as_box
from pmo_assets.records.identifiers import normalised_identifier
from pmo_assets.records.step_output import Row
from pmo_assets.release.comparing.panel_matching import (
    FigureMatch,
    PanelBoxes,
    PlacedFigure,
    best_pairs,
    box_overlap,
    common_frames,
    matched_figures,
    matched_panels,
)
from pmo_assets.tables.published import ReadPanels
from pmo_assets.tables.schemas import empty_table

COMPARED_COLUMNS: Final = (
    "panel_id", "article_id", "image_cluster_id", "panel_name", "subcaption_text", "figure_page_boxes", "panel_box",
    "content_box", "images", "contains_cfp", "contains_oct", "contains_retinal", "contains_other", "contains_marked",
    "license",
)  # fmt: skip
"""Columns that are read of both files."""

CONTAINED: Final[Mapping[str, str]] = {
    "CFP": "contains_cfp",
    "OCT": "contains_oct",
    "Retinal Imaging": "contains_retinal",
    "Other": "contains_other",
}
"""The column that says whether a panel holds an image type."""

UNDECIDED: Final = "undecided"
MISSING: Final = "not found"

Side = Literal["both", "published", "release", "neither"]
"""Which of the files has something, or says so."""

SubcaptionState = Literal["compared", "withheld there", "withheld here", "withheld in both"]

NO_PANEL_THERE: Final = "no panel of the release lies there"
ONLY_HERE: Final[Mapping[str, str]] = {
    "article": "the published file has no such article",
    "figure": "the published file has no such figure",
    "panel": "no panel of the published file lies there",
}


class Absences(Protocol):
    """Reasons why a release lacks a row that a published file has."""

    def article(self, article_id: int) -> str:
        """Return why the release has no row of an article."""
        ...

    def figure(self, article_id: int, name: str) -> str:
        """Return why the release has no row of a figure of an article that it has."""
        ...


class FromReleaseOnly:
    """Absences as far as they are known without the data root: the row is not in the release."""

    def article(self, article_id: int) -> str:
        """Return that the article is not there."""
        return "the release has no such article"

    def figure(self, article_id: int, name: str) -> str:
        """Return that the figure is not there."""
        return "the release has no such figure"


def side(there: object, here: object) -> Side:
    """Return the side that has something: both files, one of them, or neither."""
    if there:
        return "both" if here else "published"
    return "release" if here else "neither"


@dataclass(frozen=True, slots=True)
class FileImage:
    """An image in a panel as a file has it: normalised box, types and mark status in words."""

    box: Box | None
    type: str
    mark: str


@dataclass(frozen=True, slots=True)
class FilePanel:
    """A panel as one of the files has it (`ReadPanels`): what is compared, None where the file does not say it.

    Attributes:
        pages: place of its figure: box in PDF points by page.
        image_types: as its columns say, else as its images do.
        is_marked: it holds a marked image, as its column says, else as its images do.
    """

    panel_id: str
    article_id: int
    image_cluster_id: str
    panel_name: str | None
    subcaption: str | None
    license: str | None
    pages: Mapping[int, Box]
    boxes: PanelBoxes
    images: tuple[FileImage, ...]
    image_types: tuple[str, ...]
    is_marked: bool


@dataclass(frozen=True, slots=True)
class ComparedPanel:
    """A panel of one or both files; what is compared is None where only one has it (`tables.published`)."""

    published: FilePanel | None
    release: FilePanel | None
    figure: FigureMatch | None = None
    panel_iou: float | None = None
    same_name: bool | None = None
    subcaption: SubcaptionState | None = None
    exact: bool | None = None
    edit_similarity: float | None = None
    token_overlap: float | None = None
    reason: str | None = None

    @property
    def found_by(self) -> Side:
        """Which of the files has it."""
        return side(self.published, self.release)


@dataclass(frozen=True, slots=True)
class ComparedArticle:
    """An article of one or both files.

    Attributes:
        article_id: PMC number.
        found_by: file that has it, or both.
        figures: matches of figures that both have.
        only_published: reasons why the release lacks each figure that only the published file has.
        only_release: figures that only the release has.
        panels: all panels of both.
        image_types: (type there, type here) of images in panels that both have; `MISSING` for one side's alone.
        marks: (mark status there, here) of images that both have.
        licences: (there, here); None for an article that only one has.
    """

    article_id: int
    found_by: Side
    figures: tuple[FigureMatch, ...]
    only_published: tuple[str, ...]
    only_release: int
    panels: tuple[ComparedPanel, ...]
    image_types: Mapping[tuple[str, str], int]
    marks: Mapping[tuple[str, str], int]
    licences: tuple[str | None, str | None] | None


def words(text: str) -> Counter[str]:
    """Return the words of a text, counted, without case."""
    return Counter(text.lower().split())


def token_overlap(first: str, second: str) -> float:
    """Return the Dice coefficient of two texts' words: 2 · common / all, counted; 1 for two empty texts."""
    one, two = words(first), words(second)
    total = one.total() + two.total()
    return 2 * (one & two).total() / total if total else 1.0


def _box(value: Sequence[float] | None) -> Box | None:
    return None if value is None else as_box(value)


def _image(image: Row) -> FileImage:
    marked = image["marked"]
    mark = UNDECIDED if marked is None else "Marked" if marked else "Unmarked"
    return FileImage(_box(image["box"]), " + ".join(sorted(image["image_types"])) or UNDECIDED, mark)


def _panel(row: Row) -> FilePanel:
    """Return a row of a file (`compared_columns`) as a record."""
    images = row["images"] or ()
    said = {kind: row[column] for kind, column in CONTAINED.items()}
    if None in said.values():
        held = {kind for image in images for kind in image["image_types"]}
        said = {kind: kind in held if value is None else value for kind, value in said.items()}
    marked = row["contains_marked"]
    return FilePanel(
        panel_id=row["panel_id"],
        article_id=row["article_id"],
        image_cluster_id=row["image_cluster_id"],
        panel_name=row["panel_name"],
        subcaption=row["subcaption_text"],
        license=row["license"],
        pages={place["page"]: as_box(place["bbox"]) for place in row["figure_page_boxes"] or ()},
        boxes=PanelBoxes(_box(row["panel_box"]), _box(row["content_box"])),
        images=tuple(map(_image, images)),
        image_types=tuple(kind for kind, value in said.items() if value),
        is_marked=any(image["marked"] for image in images) if marked is None else marked,
    )


def _figures(panels: Iterable[FilePanel]) -> tuple[list[PlacedFigure], list[list[FilePanel]]]:
    """Return the figures of an article, each where the first of its panels says that does, and their panels."""
    grouped: dict[str, list[FilePanel]] = defaultdict(list)
    for panel in panels:
        grouped[panel.image_cluster_id].append(panel)
    places = [next((panel.pages for panel in own if panel.pages), {}) for own in grouped.values()]
    return list(map(PlacedFigure, grouped, places)), list(grouped.values())


def _state(there: str | None, here: str | None) -> SubcaptionState:
    if there is None:
        return "withheld in both" if here is None else "withheld there"
    return "withheld here" if here is None else "compared"


def _pair(there: FilePanel, here: FilePanel, figure: FigureMatch, overlap: float) -> ComparedPanel:
    texts = there.subcaption, here.subcaption
    state = _state(*texts)
    one, two = (" ".join((text or "").split()) for text in texts)
    compared = state == "compared"
    return ComparedPanel(
        there,
        here,
        figure,
        overlap,
        normalised_identifier(there.panel_name) == normalised_identifier(here.panel_name),
        state,
        one == two if compared else None,
        float(Levenshtein.normalized_similarity(one, two)) if compared else None,
        token_overlap(one, two) if compared else None,
    )


def _compare_images(
    there: FilePanel, here: FilePanel, frames: tuple[Box, Box], types: Counter[Any], marks: Counter[Any]
) -> None:
    """Count what both say of the images in a panel that both have."""
    ones, twos = there.images, here.images
    overlaps = [[box_overlap(one.box, two.box, frames) for two in twos] for one in ones]
    pairs = best_pairs(overlaps) if ones and twos else []
    for one, two, _ in pairs:
        types[ones[one].type, twos[two].type] += 1
        marks[ones[one].mark, twos[two].mark] += 1
    taken, given = {pair[0] for pair in pairs}, {pair[1] for pair in pairs}
    types.update((image.type, MISSING) for number, image in enumerate(ones) if number not in taken)
    types.update((MISSING, image.type) for number, image in enumerate(twos) if number not in given)


def compared_article(
    article_id: int, published: Sequence[FilePanel], release: Sequence[FilePanel], absences: Absences
) -> ComparedArticle:
    """Return the agreement of two files on an article.

    Args:
        article_id: PMC number.
        published: its panels in the published file; none if it is not there.
        release: its panels in the release.
        absences: says why the release lacks something.
    """
    theirs, their_panels = _figures(published)
    ours, our_panels = _figures(release)
    matches = matched_figures(theirs, ours)
    panels: list[ComparedPanel] = []
    types: Counter[tuple[str, str]] = Counter()
    marks: Counter[tuple[str, str]] = Counter()
    for match in matches:
        there, here = their_panels[match.first], our_panels[match.second]
        frames = common_frames(theirs[match.first].pages, ours[match.second].pages)
        pairs = matched_panels([panel.boxes for panel in there], [panel.boxes for panel in here], frames)
        for one, two, overlap in pairs:
            panels.append(_pair(there[one], here[two], match, overlap))
            _compare_images(there[one], here[two], frames, types, marks)
        taken, given = {pair[0] for pair in pairs}, {pair[1] for pair in pairs}
        panels += [
            ComparedPanel(row, None, match, reason=NO_PANEL_THERE) for n, row in enumerate(there) if n not in taken
        ]
        panels += [
            ComparedPanel(None, row, match, reason=ONLY_HERE["panel"]) for n, row in enumerate(here) if n not in given
        ]
    left = set(range(len(theirs))) - {match.first for match in matches}
    right = set(range(len(ours))) - {match.second for match in matches}
    reasons = {
        number: absences.figure(article_id, theirs[number].name) if release else absences.article(article_id)
        for number in sorted(left)
    }
    panels += [
        ComparedPanel(row, None, reason=reason) for number, reason in reasons.items() for row in their_panels[number]
    ]
    only = ONLY_HERE["figure" if published else "article"]
    panels += [ComparedPanel(None, row, reason=only) for number in sorted(right) for row in our_panels[number]]
    return ComparedArticle(
        article_id,
        side(published, release),
        tuple(matches),
        tuple(reasons.values()),
        len(right),
        tuple(panels),
        types,
        marks,
        (published[0].license, release[0].license) if published and release else None,
    )


def compared_columns(parts: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """Return the rows of a file, ordered by article, as they are compared: of images only what is compared."""
    element = pl.element().struct
    facts = pl.struct(element.field("box"), element.field("image_types"), element.field("marked"))
    images = pl.col("images").list.eval(facts)
    read = itertools.chain([empty_table(ReadPanels)], parts)
    rows = pl.concat([part.select(COMPARED_COLUMNS).with_columns(images) for part in read])
    return rows.sort("article_id", maintain_order=True)


_ARTICLES_AT_ONCE: Final = 200
"""Rows become Python objects, some thousand at once."""


def compared_articles(published: pl.DataFrame, release: pl.DataFrame, absences: Absences) -> Iterator[ComparedArticle]:
    """Yield the articles of two files (`compared_columns`), by number."""
    numbers = pl.concat([published["article_id"], release["article_id"]]).unique().sort()
    for start in range(0, numbers.len(), _ARTICLES_AT_ONCE):
        chunk = numbers.slice(start, _ARTICLES_AT_ONCE)
        theirs, ours = _by_article(published, chunk), _by_article(release, chunk)
        for number in chunk:
            yield compared_article(number, theirs.get(number, ()), ours.get(number, ()), absences)


def _by_article(rows: pl.DataFrame, numbers: pl.Series) -> Mapping[int, list[FilePanel]]:
    ids = rows["article_id"]
    first, last = ids.search_sorted(numbers[0], side="left"), ids.search_sorted(numbers[-1], side="right")
    grouped: dict[int, list[FilePanel]] = defaultdict(list)
    for row in rows.slice(first, last - first).iter_rows(named=True):
        grouped[row["article_id"]].append(_panel(row))
    return grouped


def compared_row(panel: ComparedPanel) -> Row:
    """Return the row of `ComparedPanels` of a panel."""
    there, here, figure = panel.published, panel.release, panel.figure
    known = there or here
    return {
        "article_id": known.article_id if known else None,
        "found_by": panel.found_by,
        **_side(there, "published"),
        **_side(here, "release"),
        "figure_matched_by": figure.matched_by if figure else None,
        "figure_iou": figure.iou if figure else None,
        "panel_iou": panel.panel_iou,
        "same_name": panel.same_name,
        "subcaption": panel.subcaption,
        "subcaption_exact": panel.exact,
        "edit_similarity": panel.edit_similarity,
        "token_overlap": panel.token_overlap,
        "reason": panel.reason,
    }


def _side(panel: FilePanel | None, side: str) -> Row:
    return {
        f"{side}_panel_id": panel.panel_id if panel else None,
        f"{side}_figure": panel.image_cluster_id if panel else None,
        f"{side}_name": panel.panel_name if panel else None,
        f"{side}_types": list(panel.image_types) if panel else [],
        f"{side}_marked": panel.is_marked if panel else None,
        f"{side}_license": panel.license if panel else None,
    }
