"""Rows of a release as Python records. Attributes are called like the columns, which `docs/columns.md` explains.

Records hold the facts; a picture, the figure and the article are read when they are asked for.
"""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol, Self, TypeVar

import numpy as np
import PIL.Image
from numpy.typing import NDArray

from pmo_assets.loading.errors import ReleaseError, Withheld
from pmo_assets.loading.pixel_boxes import PixelBox, box_in_crop, mask_of
from pmo_assets.loading.shown import in_notebook
from pmo_assets.records.figure import PageBox, PageSize
from pmo_assets.records.geometry import Box, as_box, crop_box
from pmo_assets.records.image_types import IMAGE_TYPES, ImageType
from pmo_assets.records.instructions import Evidence, InstructionKind, Topic, Turn
from pmo_assets.records.pairs import PairLevel, PictureConfig, TextKind
from pmo_assets.records.panels import PanelAnnotation, PanelImage, PrintedIdentifier
from pmo_assets.tables.context import (
    mention_places,
    panel_abbreviations,
    panel_entities,
    panel_mentions,
    text_places,
)
from pmo_assets.tables.panels import panel_images, printed_identifiers

_Value = TypeVar("_Value")

Split = Literal["train", "validation", "test"]

BoxKind = ImageType | Literal["image", "identifier", "panel"]
"""Boxes of a panel: images of one type, all images, printed identifiers, or the panel as detected."""


class RowSource(Protocol):
    """Release in which records find pictures, figures and articles, which they do not hold."""

    def picture_of(self, config: str, row: int) -> bytes | None:
        """Return the picture of a row as a file; None where it is withheld."""
        ...

    def picture_in_split(self, config: str, split: Split, row: int) -> bytes | None:
        """Return the picture of a row, counted among those of its split; None where it is withheld."""
        ...

    def figure_of(self, article_id: int, image_cluster_id: str) -> Figure:
        """Return a figure."""
        ...

    def article_of(self, article_id: int) -> Article:
        """Return an article."""
        ...

    def panels_of(self, article_id: int, image_cluster_id: str | None = None) -> tuple[Panel, ...]:
        """Return the panels of an article, or of one of its figures."""
        ...

    def figures_of(self, article_id: int) -> tuple[Figure, ...]:
        """Return the figures of an article."""
        ...


@dataclass(frozen=True, kw_only=True)
class _Row:
    """Attributes of rows of all configs: licence, whom to credit, split."""

    CONFIG: ClassVar[str]

    split: Split
    license: str | None
    license_url: str | None
    commercial_use: bool
    attribution: str
    _source: RowSource = field(repr=False, compare=False)
    _row: int = field(repr=False, compare=False)
    _more: Mapping[str, Any] = field(repr=False, compare=False, default_factory=dict)

    @classmethod
    def columns(cls) -> frozenset[str]:
        """Return the columns that the record names: every release has them."""
        renamed = {"figure_count": "figures", "panel_count": "panels"}
        return frozenset(renamed.get(name, name) for name in _facts_of(cls))

    @classmethod
    def of(cls, source: RowSource, row: int, facts: Mapping[str, Any]) -> Self:
        """Return the record of a row."""
        named = _facts_of(cls)
        more = {name: _as_field(name, value) for name, value in facts.items() if name not in named}
        own = {name: _as_field(name, facts[name]) for name in named}
        return cls(**own, _source=source, _row=row, _more=more)

    def __getattr__(self, name: str) -> Any:
        """Return a column that the record does not name: one that a release may have or not."""
        if name.startswith("_"):  # before `_more` is there: while a record is copied or unpickled
            raise AttributeError(name)
        try:
            return self._more[name]
        except KeyError:
            raise AttributeError(f"{type(self).__name__} has no column {name}") from None


@dataclass(frozen=True, kw_only=True)
class _Numbered(_Row):
    """Rows of an article, or that belong to one."""

    article_id: int


@dataclass(frozen=True, kw_only=True)
class _OfArticle(_Numbered):
    """Rows that belong to an article."""

    @property
    def article(self) -> Article:
        """The article."""
        return self._source.article_of(self.article_id)


@dataclass(frozen=True, kw_only=True)
class _Credited(_Numbered):
    """Rows that say of their article what a citation says."""

    title: str | None
    authors: tuple[str, ...] | None
    journal: str | None
    year: int | None
    doi: str | None
    article_url: str | None
    article_version: int


def decoded_picture(row: _Row, picture: bytes | None) -> PIL.Image.Image:
    """Return the picture of a row, RGB.

    Raises:
        Withheld: if there is none.
        ReleaseError: if it is damaged.
    """
    if picture is None:
        named = f"article {row.article_id}" if isinstance(row, _Numbered) else repr(row)
        raise Withheld(
            f"the licence of {named} ({row.license or 'none is stated'}) does not allow to pass "
            "on its picture, so the release withholds it; `pmo release fill-null FILE` restores it from a copy of "
            "the article, or leave such rows out: .filter(pl.col('license').is_in([…]))"
        )
    try:
        return PIL.Image.open(io.BytesIO(picture)).convert("RGB")
    except (OSError, SyntaxError, ValueError) as error:
        raise ReleaseError(
            f"the picture of {row} is damaged ({error}): pmo_assets.load(…, verify=True) says in which file"
        ) from error


@dataclass(frozen=True, kw_only=True)
class _Pictured(_Credited, _OfArticle):
    """Rows with a picture; `rights_statement` says of rights in it that are not the article's."""

    image_cluster_id: str
    figure_ordinal: int
    figure_label: str | None
    rights_statement: str | None
    in_text_mention: tuple[str, ...] | None
    is_multi_page_figure: bool
    figure_page_boxes: tuple[PageBox, ...]
    picture_width: int
    picture_height: int
    contains_cfp: bool
    contains_oct: bool
    contains_retinal: bool
    contains_other: bool
    contains_marked: bool

    def picture(self) -> bytes | None:
        """Return the picture as a file (PNG or WebP); None where the licence withholds it."""
        return self._source.picture_of(self.CONFIG, self._row)

    def image(self) -> PIL.Image.Image:
        """Return the picture, RGB.

        Raises:
            Withheld: if the licence does not allow to pass it on.
            ReleaseError: if it is damaged.
        """
        return decoded_picture(self, self.picture())

    def pixels(self) -> NDArray[np.uint8]:
        """Return the picture as (height, width, 3) uint8 RGB.

        Raises:
            Withheld: if the licence does not allow to pass it on.
            ReleaseError: if it is damaged.
        """
        return np.asarray(self.image())

    def _text(self) -> str | None:
        raise NotImplementedError

    def _context(self) -> tuple[str | None, Sequence[str]]:
        """Return the summary and the sentences of the running text."""
        return None, ()

    def _repr_html_(self) -> str:
        summary, sentences = self._context()
        return in_notebook(
            repr(self), self.picture(), self._text(), self.license, self.attribution, self.article_url,
            summary=summary, sentences=sentences,
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True, repr=False)
class Panel(_Pictured):
    """A panel with its subcaption: a row of the config `panels`.

    Boxes are (left, top, right, bottom) as fractions 0..1 of the figure; `boxes` gives them in pixels of the panel's
    picture. Texts are None where the licence withholds them. Who annotated (`annotations`) is not published: None.

    What the article's running text says of the panel are attributes, too, since releases have these columns:
    `mentions` (`records.context.PanelMention`: text, section, kind, …), `summary` and `generated_summary`,
    `abbreviations` (short, long), `entities` (`records.context.Entity`: group, term, text, negated, …), `diseases`,
    `findings`, `eye`, `modality`, `modality_class`, `medical`; an older release raises AttributeError.
    """

    CONFIG: ClassVar[str] = "panels"

    panel_id: str
    panel_name: str | None
    panel_ordinal: int
    subcaption_text: str | None
    subcaption_segments: tuple[tuple[int, int], ...]
    panel_box: Box
    content_box: Box
    panel_score: float
    images: tuple[PanelImage, ...]
    identifiers: tuple[PrintedIdentifier, ...]
    assembly: str
    assembly_method: str
    assembly_confidence: float
    caption_confidence: float
    annotations: tuple[PanelAnnotation, ...]
    picture_sha256: str
    perceptual_hash: str
    duplicate_group: str | None

    def __repr__(self) -> str:
        return f"<Panel {self.panel_id}{_shortly(self.subcaption_text)}>"

    @property
    def name(self) -> str | None:
        """Name of the panel in the caption: "A", "top left"; None for a single panel."""
        return self.panel_name

    @property
    def subcaption(self) -> str | None:
        """Text of the caption about the panel; None where the licence withholds it."""
        return self.subcaption_text

    @property
    def figure(self) -> Figure:
        """The figure that the panel was cut from."""
        return self._source.figure_of(self.article_id, self.image_cluster_id)

    def boxes(self, kind: BoxKind = "image") -> list[PixelBox]:
        """Return boxes as (left, top, right, bottom) in pixels of the panel's picture, right and bottom exclusive.

        Boxes are cut off at the picture's borders; what lies outside of it is left out.

        Args:
            kind: "CFP", "OCT", "Retinal Imaging" or "Other": images of that type; "image": all images, undecided ones
                too; "identifier": printed identifiers; "panel": the panel as detected.

        Raises:
            ReleaseError: if the release has no row of the figure, whose size in pixels is needed, or another rendering.
        """
        figure = self.figure
        size = figure.picture_width, figure.picture_height
        left, top, right, bottom = crop_box(self.content_box, *size)
        if (right - left, bottom - top) != (self.picture_width, self.picture_height):
            raise ReleaseError(
                f"{self} has {self.picture_width} × {self.picture_height} pixels, but its figure's picture gives "
                f"{right - left} × {bottom - top}: figures and panels are not of one release, fetch it again"
            )
        found = (box_in_crop(box, self.content_box, *size) for box in self._boxes(kind))
        return [box for box in found if box is not None]

    def mask(self, kind: BoxKind = "image") -> NDArray[np.bool_]:
        """Return (height, width) bool, True in the boxes of a kind; also where the picture is withheld.

        Args:
            kind: see `boxes`.

        Raises:
            ReleaseError: see `boxes`.
        """
        return mask_of(self.boxes(kind), self.picture_width, self.picture_height)

    def _boxes(self, kind: BoxKind) -> list[Box]:
        if kind == "panel":
            return [self.panel_box]
        if kind == "identifier":
            return [identifier.box for identifier in self.identifiers]
        if kind == "image":
            return [image.box for image in self.images]
        if kind not in IMAGE_TYPES:
            kinds = ", ".join(map(repr, (*IMAGE_TYPES, "image", "identifier", "panel")))
            raise ValueError(f"there are no boxes of the kind {kind!r}: one of {kinds}")
        return [image.box for image in self.images if image.image_type == kind]

    def _text(self) -> str | None:
        return self.subcaption_text

    def _context(self) -> tuple[str | None, Sequence[str]]:
        mentions = self._more.get("mentions") or ()
        return self._more.get("summary"), [mention.text for mention in mentions]


@dataclass(frozen=True, kw_only=True, repr=False)
class Figure(_Pictured):
    """A figure, whole, of which a panel is in the dataset: a row of the config `figures`."""

    CONFIG: ClassVar[str] = "figures"

    dpi: float
    caption: str | None
    caption_page_boxes: tuple[PageBox, ...]
    page_sizes: tuple[PageSize, ...]
    matched: bool
    panel_ids: tuple[str, ...]

    def __repr__(self) -> str:
        label = self.figure_label or self.image_cluster_id
        return f"<Figure {label} of article {self.article_id}{_shortly(self.caption)}>"

    @property
    def panels(self) -> tuple[Panel, ...]:
        """Its panels in the dataset."""
        return self._source.panels_of(self.article_id, self.image_cluster_id)

    def _text(self) -> str | None:
        return self.caption


@dataclass(frozen=True, kw_only=True, repr=False)
class Article(_Credited):
    """An article of which a panel is in the dataset: a row of the config `articles`.

    Attributes:
        figure_count: its figures in the dataset (column `figures`).
        panel_count: its panels in the dataset (column `panels`).
    """

    CONFIG: ClassVar[str] = "articles"

    package: str
    pmcid: int | None
    pmid: str | None
    citation: str | None
    mesh_terms: tuple[str, ...]
    keywords: tuple[str, ...]
    is_manuscript: bool
    figure_count: int
    panel_count: int

    def __repr__(self) -> str:
        return f"<Article {self.article_id}{_shortly(self.title)}>"

    @classmethod
    def of(cls, source: RowSource, row: int, facts: Mapping[str, Any]) -> Self:
        """Return the record of a row."""
        return super().of(source, row, {**facts, "figure_count": facts["figures"], "panel_count": facts["panels"]})

    @property
    def figures(self) -> tuple[Figure, ...]:
        """Its figures in the dataset."""
        return self._source.figures_of(self.article_id)

    @property
    def panels(self) -> tuple[Panel, ...]:
        """Its panels in the dataset."""
        return self._source.panels_of(self.article_id)


@dataclass(frozen=True, kw_only=True, repr=False)
class _OfPicture(_Row):
    """Rows that name the row of a config whose picture they are about; a lecture's have no article and no figure."""

    article_id: int | None
    panel_id: str | None
    picture_row: int
    image_cluster_id: str | None

    @property
    def article(self) -> Article:
        """The article.

        Raises:
            ReleaseError: if the picture is of a lecture video.
        """
        return self._source.article_of(self._in_article(self.article_id))

    @property
    def figure(self) -> Figure:
        """The figure.

        Raises:
            ReleaseError: if the picture is of a lecture video.
        """
        return self._source.figure_of(self._in_article(self.article_id), self._in_article(self.image_cluster_id))

    def _in_article(self, value: _Value | None) -> _Value:
        if value is None:
            raise ReleaseError(f"{self!r} is of a lecture video, which has no article and no figure")
        return value

    @property
    def panel(self) -> Panel | None:
        """The panel; None for a figure, and for a picture of a lecture video."""
        if self.article_id is None:
            return None
        panels = self._source.panels_of(self.article_id, self.image_cluster_id)
        return next((panel for panel in panels if panel.panel_id == self.panel_id), None)


@dataclass(frozen=True, kw_only=True, repr=False)
class Pair(_OfPicture):
    """A figure, panel, region or picture of a lecture with one of its texts: a row of the config `pairs`.

    `box` is (left, top, right, bottom) as fractions of the picture, `figure_box` of the figure. The text is the
    article's, unless it is `generated`, or what is said in a lecture (level "video", whose `article_id`, `figure_id`
    and the like are None and whose `video_id` is a number). No pair is withheld.
    """

    CONFIG: ClassVar[str] = "pairs"

    pair_id: str
    level: PairLevel
    text_kind: TextKind
    text: str
    generated: bool
    confidence: float | None
    picture_config: PictureConfig
    box: Box
    figure_box: Box | None
    figure_id: str | None
    region_id: str | None
    panel_name: str | None
    figure_panels: int | None

    def __repr__(self) -> str:
        name = self.region_id or self.panel_id or self.figure_id or self.pair_id
        return f"<Pair {name} {self.text_kind}{_shortly(self.text)}>"

    def picture(self) -> bytes | None:
        """Return the picture that the box lies in as a file (PNG or WebP): the figure's, panel's or lecture's."""
        return self._source.picture_in_split(self.picture_config, self.split, self.picture_row)

    def image(self) -> PIL.Image.Image:
        """Return the picture that the box lies in, RGB: the figure's, panel's or lecture's.

        Raises:
            ReleaseError: if it is damaged, or its config was not fetched.
        """
        return decoded_picture(self, self.picture())

    def crop(self) -> PIL.Image.Image:
        """Return what the text is of, RGB: a region cut out of its panel's picture, else the whole picture.

        Raises:
            ReleaseError: see `image`.
        """
        picture = self.image()
        return picture if self.level != "region" else picture.crop(crop_box(self.box, *picture.size))

    def pixels(self) -> NDArray[np.uint8]:
        """Return `crop` as (height, width, 3) uint8 RGB."""
        return np.asarray(self.crop())

    def _repr_html_(self) -> str:
        buffer = io.BytesIO()
        self.crop().save(buffer, "PNG")
        return in_notebook(repr(self), buffer.getvalue(), self.text, self.license, self.attribution, None)


@dataclass(frozen=True, kw_only=True, repr=False)
class Instruction(_OfPicture):
    """A question or dialogue about a panel or a picture of a lecture, with the evidence that its answers rest on: a row
    of `instructions`.

    `boxes` are (left, top, right, bottom) as fractions of the picture. `panel_id`, `article_id` and `image_cluster_id`
    of a lecture's are None, and `video_id`, `pair_id`, `start` and `end` say where it is from. No instruction is
    withheld.
    """

    CONFIG: ClassVar[str] = "instructions"

    instruction_id: str
    kind: InstructionKind
    topic: Topic
    asked: str
    messages: tuple[Turn, ...]
    scene: tuple[str, ...]
    context: tuple[str, ...]
    evidence: tuple[Evidence, ...]
    boxes: tuple[Box, ...]
    maker: str
    confidence: float

    def __repr__(self) -> str:
        return f"<Instruction {self.instruction_id} {self.kind}{_shortly(self.messages[0].content)}>"

    def chat(self) -> list[dict[str, str]]:
        """Return the messages as chat templates take them."""
        return [{"role": turn.role, "content": turn.content} for turn in self.messages]

    def picture(self) -> bytes | None:
        """Return the panel's or lecture's picture as a file (PNG or WebP)."""
        config = (
            self._more.get("picture_config") or "panels"
        )  # releases from before there were instructions of lectures
        return self._source.picture_in_split(config, self.split, self.picture_row)

    def image(self) -> PIL.Image.Image:
        """Return the panel's or lecture's picture, RGB.

        Raises:
            ReleaseError: if it is damaged.
        """
        return decoded_picture(self, self.picture())

    def _repr_html_(self) -> str:
        said = " ".join(f"{turn.role}: {turn.content}" for turn in self.messages)
        return in_notebook(repr(self), self.picture(), said, self.license, self.attribution, None)


def _facts_of(row_type: type[_Row]) -> tuple[str, ...]:
    return tuple(item.name for item in dataclasses.fields(row_type) if not item.name.startswith("_"))


def _as_field(name: str, value: Any) -> Any:
    """Return a column's value as the record holds it."""
    if value is None:
        return None
    if name == "box" or name.endswith("_box"):
        return as_box(value)
    if name == "images":
        return panel_images(value)
    if name == "identifiers":
        return printed_identifiers(value)
    if name.endswith("_page_boxes"):
        return tuple(PageBox(part["page"], as_box(part["bbox"])) for part in value)
    if name == "page_sizes":
        return tuple(PageSize(**size) for size in value)
    if name == "annotations":
        return tuple(PanelAnnotation(part["purpose"], tuple(part["decided"]), None, part["at"]) for part in value)
    if name == "messages":
        return tuple(Turn(part["role"], part["content"]) for part in value)
    if name == "evidence":
        return tuple(Evidence(**part) for part in value)
    if name == "boxes":
        return tuple(as_box(box) for box in value)
    if name in _RECORDS:
        return _RECORDS[name](value)
    return _tuple(value) if isinstance(value, list) else value


_RECORDS: Mapping[str, Callable[[list[dict[str, Any]]], tuple[Any, ...]]] = {
    "mentions": panel_mentions,
    "mention_places": mention_places,
    "summary_places": text_places,
    "abbreviations": panel_abbreviations,
    "entities": panel_entities,
}
"""Lists of columns that a release may have or not, as records (`records.context`)."""


def _tuple(values: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(_tuple(value) if isinstance(value, list) else value for value in values)


def _shortly(text: str | None, most: int = 60) -> str:
    if text is None:
        return ""
    line = " ".join(text.split())
    return f": {line[: most - 1]}…" if len(line) > most else f": {line}"
