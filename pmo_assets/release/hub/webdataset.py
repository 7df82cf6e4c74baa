"""A release as tar shards for webdataset: a picture, its text, all else as JSON; of pairs, all texts of the picture.

Format: https://github.com/webdataset/webdataset. The same tables give the same bytes: members have no date and no
owner, and stand in the order of the rows.

`tarfile` writes them. `webdataset.ShardWriter` is not used: it stamps the present time, so that two runs differ, and
begins a new shard after the size is exceeded (51.6 MB where 50 were asked for), not before. It is as fast (400 MB of
pictures: 1.3 s of one core, here 1.4).
"""

from __future__ import annotations

import io
import itertools
import json
import re
import tarfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq

from pmo_assets.records.stores import StorageError
from pmo_assets.release.hub.sums import SUMS_FILE, refuse_damaged
from pmo_assets.system.aside import folder_aside
from pmo_assets.tables.release import LECTURE_PICTURE

Tell = Callable[[str, int, int], None]
"""Is told what is done, how many rows of how many."""

READ_ROWS = 32
"""Rows that are in memory at once: pictures of panels have some hundred kilobytes each."""

_SHARD = re.compile(r"(?P<split>[A-Za-z0-9_]+)-[0-9]{5}\.parquet")

_FORMS: Final[Sequence[tuple[bytes, int, str]]] = ((b"\x89PNG\r\n\x1a\n", 0, "png"), (b"WEBP", 8, "webp"))
"""First bytes of a picture, where they stand, and the extension of its member."""


@dataclass(frozen=True, slots=True)
class SampleForm:
    """Which columns of a config make a sample.

    Attributes:
        key: columns whose values identify it.
        picture: column of the picture.
        text: column of the text.
    """

    key: tuple[str, ...]
    picture: str
    text: str


SAMPLE_FORMS: Final[Mapping[str, SampleForm]] = {
    "panels": SampleForm(("panel_id",), "panel_image", "subcaption_text"),
    "figures": SampleForm(("article_id", "image_cluster_id"), "figure_image", "caption"),
    "videos": SampleForm(("pair_id",), LECTURE_PICTURE, "text"),
}
"""The configs that have pictures."""

PAIRS: Final = "pairs"
"""The config whose samples are pictures of `SAMPLE_FORMS` with all their pairs."""

_OF_PAIRS: Final = (
    "pair_id", "level", "text_kind", "text", "generated", "confidence", "box", "figure_box", "region_id",
)  # fmt: skip
"""Columns of pairs that differ between those of one picture; the others stand once in a sample's JSON."""

GROUPS_OF_PICTURES: Final = ("duplicate_group", "picture_group")
"""Columns of panels and lectures' pictures that name what looks the same; `duplicate_group` in a sample's JSON."""


@dataclass(frozen=True, slots=True)
class TarShards:
    """Shards that were written of a split.

    Attributes:
        split: its name.
        shards: number of files.
        samples: number of samples in them.
        withheld: rows whose licence forbids redistribution: left out, or written without picture and text.
        size: bytes of the files.
    """

    split: str
    shards: int
    samples: int
    withheld: int
    size: int


def write_webdataset(
    folder: Path,
    target: Path,
    *,
    config: str = "panels",
    splits: Sequence[str] = (),
    shard_size: int,
    keep_withheld: bool = False,
    tell: Tell = lambda *_: None,
) -> list[TarShards]:
    """Write a config's splits as `<split>-000000.tar`, …: whole or not at all.

    Args:
        folder: of the release, with `data/<config>/<split>-00000.parquet`.
        target: a folder that is not there yet.
        config: "panels", "figures", "videos" or "pairs".
        splits: which; none for all.
        shard_size: bytes that a tar does not grow beyond, unless a single sample does.
        keep_withheld: rows whose licence forbids redistribution are written with their JSON alone.
        tell: is told of the progress.

    Raises:
        StorageError: if there is no such config or split, the target is there already, or a file cannot be read or
            written.
    """
    shards = _shards(folder, config, splits)
    if target.exists():
        raise StorageError(f"{target} is there already: take it away, or name another folder")
    if (folder / SUMS_FILE).exists():  # a download of some shards may lack it
        refuse_damaged(folder, tell)
    try:
        with folder_aside(target) as partial:
            return [
                _write_pairs(folder, paths, partial, split, shard_size, tell)
                if config == PAIRS
                else _write_split(paths, partial, split, SAMPLE_FORMS[config], shard_size, keep_withheld, tell)
                for split, paths in shards.items()
            ]
    except (OSError, pa.ArrowException) as error:
        raise StorageError(f"{target} cannot be written from {folder}: {error}") from error


def _shards(folder: Path, config: str, splits: Sequence[str]) -> dict[str, list[Path]]:
    """Return the Parquet files of the wanted splits, by split.

    Raises:
        StorageError: if there is no such config or split.
    """
    if config not in (*SAMPLE_FORMS, PAIRS):
        raise StorageError(f"there are no pictures in {config}: {', '.join(SAMPLE_FORMS)} or {PAIRS}")
    found: dict[str, list[Path]] = {}
    for path in sorted((folder / "data" / config).glob("*.parquet")):
        if match := _SHARD.fullmatch(path.name):
            found.setdefault(match["split"], []).append(path)
    if not found:
        raise StorageError(f"{folder} has no data/{config}/*.parquet: is it the folder of a release?")
    if missing := [split for split in splits if split not in found]:
        raise StorageError(f"{folder} has no split {', '.join(missing)}: it has {', '.join(sorted(found))}")
    return {split: found[split] for split in dict.fromkeys(splits or found)}


def _write_split(
    paths: Sequence[Path], target: Path, split: str, form: SampleForm, shard_size: int, keep_withheld: bool, tell: Tell
) -> TarShards:
    total = sum(pq.read_metadata(path).num_rows for path in paths)
    withheld = 0
    with _TarWriter(target, split, shard_size) as tars:
        for done, row in enumerate(_rows(paths)):
            tell(split, done, total)
            if row[form.picture] is None:
                withheld += 1
                if not keep_withheld:
                    continue
            tars.add(list(sample_members(row, form)))
        tell(split, total, total)
    return tars.written(withheld)


def _write_pairs(
    folder: Path, paths: Sequence[Path], target: Path, split: str, shard_size: int, tell: Tell
) -> TarShards:
    """Write the pictures of a split that have pairs, each with all of them, in the order of the pairs."""
    total, done = sum(pq.read_metadata(path).num_rows for path in paths), 0
    pictures = {
        config: _Pictures(sorted((folder / "data" / config).glob(f"{split}-*.parquet")), form)
        for config, form in SAMPLE_FORMS.items()
    }
    with _TarWriter(target, split, shard_size) as tars:
        for (config, row), group in itertools.groupby(
            _rows(paths), lambda pair: (pair["picture_config"], pair["picture_row"])
        ):
            pairs = list(group)
            tell(split, done, total)
            key, content, alike = pictures[config].at(row)
            tars.add(list(pair_members(pairs, (key, content), alike)))
            done += len(pairs)
        tell(split, total, total)
    return tars.written(0)


class _Pictures:
    """The pictures of a config's split, read in the order of its rows."""

    def __init__(self, paths: Sequence[Path], form: SampleForm) -> None:
        known = set(pq.read_schema(paths[0]).names) if paths else set()
        self._alike = [name for name in GROUPS_OF_PICTURES if name in known]
        self._rows = enumerate(_rows(paths, [*form.key, form.picture, *self._alike]))
        self._form = form

    def at(self, row: int) -> tuple[str, bytes, str | None]:
        """Return key, picture and group of pictures that look the same (None without one) of a row.

        The row comes after those that were asked for before.

        Raises:
            StorageError: if there is no such row, or no picture.
        """
        for number, found in self._rows:
            if number == row:
                if found[self._form.picture] is None:
                    break
                alike = next((found[name] for name in self._alike), None)
                return sample_key(found, self._form), found[self._form.picture]["bytes"], alike
        raise StorageError(f"pairs name row {row}, and there is no picture: the files are not of one release")


def pair_members(
    pairs: Sequence[Mapping[str, Any]], picture: tuple[str, bytes], duplicate_group: str | None = None
) -> Iterator[tuple[str, bytes]]:
    """Give the files of a picture's sample as (name, content): picture, first text, and JSON with all its pairs.

    Args:
        pairs: rows of `pairs` with this picture; the first is the caption or subcaption where there is one.
        picture: its key and the file.
        duplicate_group: of pictures that look the same, if there are others.

    Raises:
        StorageError: if the picture is neither PNG nor WebP.
    """
    key, content = picture
    shared = {name: value for name, value in pairs[0].items() if name not in _OF_PAIRS}
    facts = {
        **shared,
        "duplicate_group": duplicate_group,
        "pairs": [{name: pair[name] for name in _OF_PAIRS} for pair in pairs],
    }
    yield f"{key}.{picture_extension(content, key)}", content
    yield f"{key}.txt", pairs[0]["text"].encode()
    yield f"{key}.json", _json(facts)


class _TarWriter:
    """Writes samples of a split as one tar after the other."""

    def __init__(self, target: Path, split: str, shard_size: int) -> None:
        self._target, self._split, self._shard_size = target, split, shard_size
        self._stack = ExitStack()
        self._tar: tarfile.TarFile | None = None
        self._shards = self._samples = 0

    def __enter__(self) -> _TarWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def add(self, members: Sequence[tuple[str, bytes]]) -> None:
        """Append a sample; a new tar begins where it would grow beyond its size."""
        size = sum(_padded(len(content)) + tarfile.BLOCKSIZE for _, content in members)
        if self._tar is None or (self._tar.offset and self._tar.offset + size > self._shard_size):
            self._stack.close()
            self._tar = self._stack.enter_context(_open_tar(self._target / f"{self._split}-{self._shards:06}.tar"))
            self._shards += 1
        for name, content in members:
            _add(self._tar, name, content)
        self._tar.members = []  # type: ignore[attr-defined]  # else every header stays in memory
        self._samples += 1

    def written(self, withheld: int) -> TarShards:
        """Return what was written, once all is closed."""
        size = sum(path.stat().st_size for path in self._target.glob(f"{self._split}-*.tar"))
        return TarShards(self._split, self._shards, self._samples, withheld, size)


def _rows(paths: Sequence[Path], columns: Sequence[str] | None = None) -> Iterator[dict[str, Any]]:
    for path in paths:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(READ_ROWS, columns=columns):
                yield from batch.to_pylist()


def sample_key(row: Mapping[str, Any], form: SampleForm) -> str:
    """Return the name of the members of a row's sample before their extension.

    Webdataset takes a name's first dot for the start of the extension, so there is none in it; different rows have
    different keys. `urllib.parse.unquote` gives the encoded values back.
    """
    return "_".join(quote(str(row[name]), safe="").replace(".", "%2E") for name in form.key)


def sample_members(row: Mapping[str, Any], form: SampleForm) -> Iterator[tuple[str, bytes]]:
    """Give a row's files as (name, content): picture and text where there are any, then all else as JSON.

    Raises:
        StorageError: if the picture is neither PNG nor WebP.
    """
    key = sample_key(row, form)
    if row[form.picture] is not None:
        content = row[form.picture]["bytes"]
        yield f"{key}.{picture_extension(content, key)}", content
    if row[form.text] is not None:
        yield f"{key}.txt", row[form.text].encode()
    rest = {name: value for name, value in row.items() if name not in (form.picture, form.text)}
    yield f"{key}.json", _json(rest)


def _json(facts: Mapping[str, Any]) -> bytes:
    return json.dumps(facts, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def picture_extension(content: bytes, key: str) -> str:
    """Return the extension of a picture's file by its first bytes; `key` names it where it has none.

    Raises:
        StorageError: if it is neither PNG nor WebP.
    """
    for start, offset, extension in _FORMS:
        if content[offset : offset + len(start)] == start:
            return extension
    raise StorageError(f"the picture of {key} is neither PNG nor WebP: make the release again")


def _open_tar(path: Path) -> tarfile.TarFile:
    return tarfile.open(path, "x", format=tarfile.GNU_FORMAT)


def _padded(size: int) -> int:
    return -(-size // tarfile.BLOCKSIZE) * tarfile.BLOCKSIZE


def _add(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    member = tarfile.TarInfo(name)  # no date, no owner
    member.size = len(content)
    member.mode = 0o644
    tar.addfile(member, io.BytesIO(content))
