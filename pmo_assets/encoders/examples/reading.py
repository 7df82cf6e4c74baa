"""Reading of units: a release's pairs from Parquet, or tar shards of pairs; pictures are read as they are asked for."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, get_args

import polars as pl

import pmo_assets
from pmo_assets.encoders.examples.example_sets import Examples, joined, split_by_source
from pmo_assets.encoders.examples.unit_rows import PictureAt, unit_rows
from pmo_assets.encoders.examples.units import ExamplesError
from pmo_assets.loading import Release, ReleaseError
from pmo_assets.loading.typed_rows import Split
from pmo_assets.records.geometry import as_box
from pmo_assets.records.pairs import PAIR_LEVELS, PICTURE_CONFIGS, PairLevel, PictureConfig, source_name

_COLUMNS: Final = (
    "pair_id", "level", "text_kind", "text", "confidence", "picture_config", "picture_row", "box", "article_id",
    "figure_id", "panel_id", "region_id", "video_id", "split",
)  # fmt: skip

_NAME: Final[Mapping[str, str]] = {
    "figure": "figure_id", "panel": "panel_id", "region": "region_id", "video": "pair_id",
}  # fmt: skip

MOST_JSON_BYTES: Final = 16 << 20
"""A picture's texts in a tar; more is no sample of a release."""


@dataclass(frozen=True, slots=True)
class ReleasePicture:
    """A row of a release with a picture."""

    release: Release = field(repr=False)
    config: PictureConfig
    split: Split
    row: int

    def read(self) -> bytes:
        """Return the file.

        Raises:
            ReleaseError: if there is none.
        """
        content = self.release.picture_in_split(self.config, self.split, self.row)
        if content is None:
            raise ReleaseError(f"row {self.row} of {self.config} in {self.split} has pairs, but no picture")
        return content


@dataclass(frozen=True, slots=True)
class TarPicture:
    """A member of a tar, by its place."""

    tar: Path
    offset: int
    size: int

    def read(self) -> bytes:
        """Return the file.

        Raises:
            OSError: if the tar cannot be read.
        """
        with self.tar.open("rb") as stream:
            stream.seek(self.offset)
            return stream.read(self.size)


def read_examples(
    places: Sequence[Path | str],
    split: Split | None,
    levels: Collection[PairLevel] = PAIR_LEVELS,
    min_confidence: float = 0.0,
) -> Examples:
    """Return the units of releases and folders of tar shards.

    Args:
        places: each a release (`pmo_assets.load`; `s3://…`, too), or a folder that `pmo release webdataset --config
            pairs` wrote.
        split: one split; all if None.
        levels: that are wanted.
        min_confidence: units whose texts are theirs with a smaller confidence are left out; figures and lectures
            have none.

    Raises:
        ExamplesError: if a place has no pairs.
        ReleaseError: if a release cannot be read.
    """
    return joined(_read(place, split, levels, min_confidence) for place in places)


def read_training_examples(
    places: Sequence[Path | str], levels: Collection[PairLevel], min_confidence: float = 0.0
) -> tuple[Examples, Examples]:
    """Return units to train on, and those to choose weights by: a tenth of the articles and
    lectures where there is no such split.

    Raises:
        ExamplesError: if there are no pairs, or only those of one article or lecture.
    """
    learn, choose = (read_examples(places, split, levels, min_confidence) for split in _TRAINING_SPLITS)
    if not len(learn):
        raise ExamplesError(f"the training split of {', '.join(map(str, places))} has no pairs of {', '.join(levels)}")
    return (learn, choose) if len(choose) else split_by_source(learn)


_TRAINING_SPLITS: Final[tuple[Split, ...]] = ("train", "validation")


def _read(place: Path | str, split: Split | None, levels: Collection[PairLevel], min_confidence: float) -> Examples:
    folder = None if str(place).startswith("s3:/") else Path(place)
    tars = sorted(folder.glob("*.tar")) if folder is not None and folder.is_dir() else []
    if tars:
        tars = [tar for tar in tars if split in (None, tar.name.split("-")[0])]
        rows, picture_at = _tar_rows(tars), _pictures_of_tars(tars)
        looks: Mapping[str, str] = {}
    else:
        release, rows, looks = _release_rows(place, split)
        picture_at = _pictures_of_release(release)
    units, unsure = unit_rows(_pairs(rows, looks), levels, picture_at, min_confidence)
    notes = [f"{unsure:,} units of {place} have a confidence below {min_confidence:g}"] if unsure else []
    return Examples(units, tuple(notes))


def _pictures_of_tars(tars: Sequence[Path]) -> PictureAt:
    return lambda tar, offset, size: TarPicture(tars[tar], offset, size)


def _pictures_of_release(release: Release) -> PictureAt:
    return lambda config, split, row: ReleasePicture(release, PICTURE_CONFIGS[config], _SPLITS[split], row)


_SPLITS: Final[tuple[Split, ...]] = get_args(Split)


def _pairs(rows: Iterable[dict[str, Any]], looks: Mapping[str, str]) -> Iterator[tuple[PairLevel, dict[str, Any]]]:
    """Yield levels, and the columns of `unit_rows.SCHEMA`.

    Args:
        rows: pairs, with `picture` as `picture_at` takes it.
        looks: groups of what looks the same, by the names of units.
    """
    for row in rows:
        name = row[_NAME[row["level"]]]
        left, top, right, bottom = as_box(row["box"])
        yield row["level"], {
            "pair_id": row["pair_id"], "text_kind": row["text_kind"], "text": row["text"],
            "confidence": row["confidence"], "name": name,
            "source": source_name(row["article_id"], row.get("video_id")), "figure_id": row["figure_id"],
            "panel_id": row["panel_id"], "looks": looks.get(name) or _alike(row) or name, "left": left, "top": top,
            "right": right, "bottom": bottom, "picture": row["picture"],
        }  # fmt: skip


def _release_rows(place: Path | str, split: Split | None) -> tuple[Release, Iterator[dict[str, Any]], dict[str, str]]:
    release = pmo_assets.load(place)
    try:
        pairs = release.pairs
    except ReleaseError as error:
        raise ExamplesError(f"{place} has no pairs to train on: {error}") from error
    if not len(pairs):
        raise ExamplesError(f"{place} has no pairs to train on (data/pairs is empty)")
    columns = [
        name for name in _COLUMNS if name != "video_id" or name in pairs.columns
    ]  # older releases have no lectures
    wanted = pairs if split is None else pairs.filter(split=split)

    def rows() -> Iterator[dict[str, Any]]:
        for start in range(0, len(wanted), _AT_ONCE):
            for row in wanted[start : start + _AT_ONCE].to_arrow(columns).to_pylist():
                numbers = PICTURE_CONFIGS.index(row["picture_config"]), _SPLITS.index(row["split"]), row["picture_row"]
                yield {**row, "picture": numbers}

    looks = _looks(release, "panels", "panel_id", "duplicate_group")
    if release.manifest.get("counts", {}).get("videos"):
        looks |= _looks(release, "videos", "pair_id", "picture_group")
    return release, rows(), looks


def _looks(release: Release, config: str, name: str, group: str) -> dict[str, str]:
    """Return the group of pictures that look the same by what has one."""
    found = release.lazy(config).select(name, group).filter(pl.col(group).is_not_null()).collect()
    return dict(zip(found[name], found[group], strict=True))


_AT_ONCE: Final = 10_000


def _tar_rows(tars: Sequence[Path]) -> Iterator[dict[str, Any]]:
    """Yield the pairs of tar shards, each with the place of its picture.

    Raises:
        ExamplesError: if a tar is damaged, or none of pairs.
    """
    for number, tar in enumerate(tars):
        last, picture = "", (0, 0, 0)  # a sample's files are neighbours, the picture first
        try:
            with tarfile.open(tar, "r:") as members:
                for member in members:
                    key, _, extension = member.name.partition(".")
                    if extension in ("png", "webp"):
                        last, picture = key, (number, member.offset_data, member.size)
                    elif extension == "json" and member.isreg() and member.size <= MOST_JSON_BYTES:
                        stream = members.extractfile(member)
                        facts = json.loads(stream.read()) if stream else {}
                        shared = {name: value for name, value in facts.items() if name != "pairs"}
                        if key != last:
                            raise ValueError(f"the texts of {key} do not follow its picture")
                        for pair in facts["pairs"]:
                            yield {**shared, **pair, "picture": picture}
                    members.members = []  # type: ignore[attr-defined]  # else every header stays in memory
        except (tarfile.TarError, ValueError, KeyError, TypeError) as error:
            raise ExamplesError(
                f"{tar} is no whole tar of pairs (pmo release webdataset --config pairs): {error or type(error)}"
            ) from error


def _alike(row: Mapping[str, Any]) -> str | None:
    """Return the group of what looks the same as the picture of a row of a tar; a region is a part of the picture."""
    return row.get("duplicate_group") if row["level"] in ("panel", "video") else None
