"""What is trained on: a figure, panel, region or lecture's picture with all its texts, and where it is seen."""

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
    """A figure, panel, region or picture of a lecture with its texts.

    Attributes:
        level: figure, panel, region or video.
        name: its `figure_id`, `panel_id` or `region_id`; of a lecture's picture `pair_id`.
        source: the article or lecture (`records.pairs.source_name`); what is split by.
        figure_id: the figure; None for a lecture.
        panel_id: the panel; None for a figure or lecture.
        looks: what all units share that look the same: their duplicate group, or the name.
        picture: the file that shows it.
        box: where in it, as fractions; `WHOLE` but for regions.
        texts: of each kind, (pair_id, text) in the order of the release.
        confidence: that the texts are of this unit; None for figures and lectures.
    """

    level: PairLevel
    name: str
    source: str
    figure_id: str | None
    panel_id: str | None
    looks: str
    picture: Picture
    box: Box
    texts: Mapping[TextKind, Sequence[tuple[str, str]]]
    confidence: float | None

    @property
    def parent(self) -> str | None:
        """The name of what it is a part of: a panel's figure, a region's panel."""
        return {"panel": self.figure_id, "region": self.panel_id}.get(self.level)


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
            f"the picture of {unit.level} {unit.name} (of {unit.source}) is broken: {error}; "
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

    def sources(self) -> set[str]:
        """Return the articles and lectures."""
        return {unit.source for units in self.units.values() for unit in units}

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
                found.update(repr((unit.name, unit.source, unit.looks, unit.box, texts)).encode())
        return found.hexdigest()[:24]

    def of(self, sources: set[str]) -> Examples:
        """Return the units of some articles and lectures."""
        kept = {level: [unit for unit in own if unit.source in sources] for level, own in self.units.items()}
        return Examples(kept, self.left_out)


def joined(examples: Iterable[Examples]) -> Examples:
    """Return the units of several sources as those of one."""
    listed = list(examples)
    units: dict[PairLevel, list[Unit]] = {}
    for item in listed:
        for level, own in item.units.items():
            units.setdefault(level, []).extend(own)
    return Examples(units, tuple(note for item in listed for note in item.left_out))


def split_by_source(train: Examples, share: float = 0.1) -> tuple[Examples, Examples]:
    """Return training and validation where there is no validation split: whole articles and lectures, by their digest.

    Args:
        train: all units.
        share: of the articles and lectures that validate; at least one does.

    Raises:
        ExamplesError: if there is only one article or lecture.
    """
    sources = sorted(train.sources(), key=lambda name: hashlib.sha256(name.encode()).digest())
    if len(sources) < 2:
        raise ExamplesError(
            "the pairs are of one article or lecture: training needs a second one, by which weights are chosen (none "
            "is on both sides)"
        )
    count = max(1, round(len(sources) * share))
    return train.of(set(sources[count:])), train.of(set(sources[:count]))
