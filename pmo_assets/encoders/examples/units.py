"""What is trained on: a figure, panel or region with all its texts, and the picture that it is seen in."""

from __future__ import annotations

import hashlib
import io
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import PIL.Image

from pmo_assets.records.faults import raise_fault
from pmo_assets.records.geometry import Box, crop_box
from pmo_assets.records.pairs import PairLevel, TextKind
from pmo_assets.records.stores import SystemicError

WHOLE: Box = (0.0, 0.0, 1.0, 1.0)


class ExamplesError(SystemicError):
    """There is nothing to train on, or what is there cannot be used; the message says what to do."""


class BrokenPicture(Exception):
    """A picture cannot be decoded."""


class Picture(Protocol):
    """A picture file somewhere in a release or a tar."""

    def read(self) -> bytes:
        """Return its bytes (PNG or WebP)."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Unit:
    """A figure, panel or region with its texts.

    Attributes:
        level: figure, panel or region.
        name: its `figure_id`, `panel_id` or `region_id`.
        article_id: the article; what is split by.
        figure_id: the figure.
        panel_id: the panel; None for a figure.
        looks: what all units share that look the same: their duplicate group, or the name.
        picture: the file that shows it.
        box: where in it, as fractions; `WHOLE` for figures and panels.
        texts: of each kind, (pair_id, text) in the order of the release.
        confidence: that the texts are of this unit; None for figures.
    """

    level: PairLevel
    name: str
    article_id: int
    figure_id: str
    panel_id: str | None
    looks: str
    picture: Picture
    box: Box
    texts: Mapping[TextKind, Sequence[tuple[str, str]]]
    confidence: float | None

    @property
    def parent(self) -> str | None:
        """The name of what it is a part of: a panel's figure, a region's panel."""
        return {"figure": None, "panel": self.figure_id, "region": self.panel_id}[self.level]


def decoded(content: bytes, box: Box = WHOLE) -> PIL.Image.Image:
    """Return a picture, or a box of it, RGB.

    Raises:
        BrokenPicture: if it cannot be decoded, or is larger than Pillow lets it be.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", PIL.Image.DecompressionBombWarning)
            picture = PIL.Image.open(io.BytesIO(content)).convert("RGB")
    except Exception as error:  # whatever the bytes happen to look like
        raise_fault(error)
        raise BrokenPicture(" ".join(str(error).split()) or type(error).__name__) from error
    return picture if box == WHOLE else picture.crop(crop_box(box, *picture.size))


def shown(unit: Unit, *, whole: bool = False) -> PIL.Image.Image:
    """Return what a unit's texts are of, RGB; with `whole` the picture in which it lies.

    Raises:
        ExamplesError: naming the unit, if the picture is broken.
    """
    try:
        return decoded(unit.picture.read(), WHOLE if whole else unit.box)
    except BrokenPicture as error:
        raise ExamplesError(
            f"the picture of {unit.level} {unit.name} (article {unit.article_id}) is broken: {error}; "
            "pmo_assets.load(…, verify=True) says which file, or leave it out"
        ) from error


def picture_digest(content: bytes, box: Box = WHOLE) -> bytes:
    """Return 16 bytes that stand for a picture file and a box in it."""
    return hashlib.sha256(content + repr(tuple(box)).encode()).digest()[:16]


@dataclass(frozen=True, eq=False)
class Examples:
    """Units by level, and what was left out while they were read.

    Attributes:
        units: of each level, in the order of their pictures.
        left_out: what was left out, in words.
    """

    units: Mapping[PairLevel, Sequence[Unit]]
    left_out: tuple[str, ...] = ()

    def articles(self) -> set[int]:
        """Return the articles."""
        return {unit.article_id for units in self.units.values() for unit in units}

    def __len__(self) -> int:
        """Return the number of units of all levels."""
        return sum(map(len, self.units.values()))

    def digest(self) -> str:
        """Return what stands for all units: names, boxes, groups of duplicates and texts; pictures are not read."""
        found = hashlib.sha256()
        for level, own in self.units.items():
            found.update(f"{level} {len(own)}\n".encode())
            for unit in own:
                texts = sorted((kind, *map(tuple, said)) for kind, said in unit.texts.items())
                found.update(repr((unit.name, unit.article_id, unit.looks, unit.box, texts)).encode())
        return found.hexdigest()[:24]

    def of(self, articles: set[int]) -> Examples:
        """Return the units of some articles."""
        kept = {level: [unit for unit in own if unit.article_id in articles] for level, own in self.units.items()}
        return Examples(kept, self.left_out)


def joined(examples: Iterable[Examples]) -> Examples:
    """Return the units of several sources as those of one."""
    listed = list(examples)
    units: dict[PairLevel, list[Unit]] = {}
    for item in listed:
        for level, own in item.units.items():
            units.setdefault(level, []).extend(own)
    return Examples(units, tuple(note for item in listed for note in item.left_out))


def split_by_article(train: Examples, share: float = 0.1) -> tuple[Examples, Examples]:
    """Return training and validation where a source has no validation split: whole articles, chosen by their digest.

    Args:
        train: all units.
        share: of the articles that validate; at least one does.

    Raises:
        ExamplesError: if there is only one article.
    """
    articles = sorted(train.articles(), key=lambda number: hashlib.sha256(str(number).encode()).digest())
    if len(articles) < 2:
        raise ExamplesError(
            "the pairs are of one article: training needs a second one, by which weights are chosen (no article is on "
            "both sides)"
        )
    count = max(1, round(len(articles) * share))
    return train.of(set(articles[count:])), train.of(set(articles[:count]))
