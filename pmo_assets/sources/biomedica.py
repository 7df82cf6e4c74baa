"""BIOMEDICA (arXiv 2501.07171) as Parquet, as webdataset tars, or on Hugging Face: read file by file, as a stream.

Nothing is unpacked, nothing of the dataset is kept but the rows that are asked for. What is read is untrusted: sizes
are limited, names of members are never paths. A row that cannot be used is a `MalformedRow`; a file that cannot be
read, or lacks a needed column, is a `SourceError`, so that no table silently lacks a part of the dataset.

Does not belong here: what is kept below the data root (`sources.biomedica_import`).
"""

from __future__ import annotations

import json
import lzma
import os
import re
import tarfile
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol

import pyarrow as pa

from pmo_assets.records.biomedica import BiomedicaFigure, MalformedRow
from pmo_assets.records.packages import SourceError
from pmo_assets.sources.biomedica_rows import (
    ALIASES,
    RowFault,
    article_number,
    biomedica_figure,
    columns_found,
    missing_columns,
)
from pmo_assets.sources.hugging_face import hub_client, is_of_network, names_of, status_of
from pmo_assets.storage.foreign_parquet import ForeignParquet

TAR_SUFFIXES = (".tar", ".tar.gz", ".tgz")

SUFFIXES = (".parquet", *TAR_SUFFIXES)
"""Files of a folder or repository that are read."""

MEMBER_KINDS: Mapping[str, str] = {"json": "json", "txt": "txt", "jpg": "jpg", "jpeg": "jpg", "png": "jpg"}
"""Kind of content by extension of a sample's member."""

MEMBER_LIMITS: Mapping[str, int] = {"json": 64 << 20, "txt": 1 << 20, "jpg": 64 << 20}
"""Bytes of a member; the JSON holds the article's whole text."""

PARQUET_ROWS, PICTURE_ROWS = 4096, 32
"""Rows that are decoded at once, without and with pictures."""

HUB_PAGE = "https://huggingface.co/datasets/"

Outcome = BiomedicaFigure | MalformedRow | int
"""A row: read, malformed, or of an article that is not asked for (its number)."""


@dataclass(frozen=True)
class Shard:
    """A file of the dataset.

    Attributes:
        name: path below the source.
        stamp: changes when the file's content does.
        open: gives it as a stream, which Parquet files need to be able to seek in.
    """

    name: str
    stamp: str
    open: Callable[[], AbstractContextManager[IO[bytes]]]


class BiomedicaSource(Protocol):
    """A copy of the dataset."""

    @property
    def uri(self) -> str:
        """The copy's address, which identifies it."""
        ...

    def shards(self) -> Sequence[Shard]:
        """Return its files, by name.

        Raises:
            SourceError: if there are none, or they cannot be listed.
        """
        ...


@dataclass(frozen=True)
class LocalCopy:
    """A Parquet or tar file, or a folder of such files at any depth."""

    path: Path

    @property
    def uri(self) -> str:
        """The path as a `file://` URL."""
        return Path(os.path.abspath(self.path)).as_uri()

    def shards(self) -> Sequence[Shard]:
        """See `BiomedicaSource`."""
        path = self.path
        if path.is_dir():
            found = sorted(file for file in path.rglob("*") if file.name.endswith(SUFFIXES) and file.is_file())
        else:
            found = [path] if path.is_file() and path.name.endswith(SUFFIXES) else []
        if not found:
            what = "holds no" if path.is_dir() else "is no folder and no"
            raise SourceError(f"PMO_BIOMEDICA: {path} {what} file that ends in {', '.join(SUFFIXES)}")
        return [self._shard(file) for file in found]

    def _shard(self, file: Path) -> Shard:
        name = file.relative_to(self.path).as_posix() if file != self.path else file.name
        state = file.stat()
        return Shard(name, f"{state.st_size}-{state.st_mtime_ns}", lambda: file.open("rb"))


@dataclass(frozen=True)
class HubCopy:
    """A dataset on Hugging Face, read over the network by `huggingface_hub` (extra `biomedica`).

    Attributes:
        repository: "owner/name".
        folder: only files below it; "" for all.
    """

    repository: str
    folder: str = ""

    @property
    def uri(self) -> str:
        """The dataset as an `hf://` URL."""
        return f"hf://datasets/{self.repository}" + (f"/{self.folder}" if self.folder else "")

    def shards(self) -> Sequence[Shard]:
        """See `BiomedicaSource`."""
        hub = _hub(self.repository)
        with self._failures():
            tree = hub.HfApi().list_repo_tree(
                self.repository, path_in_repo=self.folder or None, recursive=True, repo_type="dataset"
            )
            files = sorted((item.path, item.blob_id) for item in tree if item.path.endswith(SUFFIXES))
        if not files:
            raise SourceError(f"PMO_BIOMEDICA: {self.uri} holds no file that ends in {', '.join(SUFFIXES)}")
        return [Shard(path, stamp, self._opener(path)) for path, stamp in files]

    def _opener(self, path: str) -> Callable[[], AbstractContextManager[IO[bytes]]]:
        @contextmanager
        def opened() -> Iterator[IO[bytes]]:
            hub = _hub(self.repository)
            options = {} if path.endswith(".parquet") else {"block_size": 0}  # 0: one stream from start to end
            with (
                self._failures(),
                hub.HfFileSystem().open(f"datasets/{self.repository}/{path}", "rb", **options) as file,
            ):
                yield file

        return opened

    @contextmanager
    def _failures(self) -> Iterator[None]:
        """Turn the client's errors into a `SourceError` that says what to do."""
        hub = _hub(self.repository)
        page = f"{HUB_PAGE}{self.repository}"
        try:
            yield
        except Exception as error:
            if isinstance(error, SourceError) or not _is_of_hub(error):
                raise
            names, status = names_of(error), status_of(error)
            if "GatedRepoError" in names or status in (401, 403):
                token = "the token that is used has no access" if hub.get_token() else "there is no token"
                raise SourceError(
                    f"PMO_BIOMEDICA: {self.repository} is gated or private, and {token}: ask for access on {page}, "
                    "make a token on https://huggingface.co/settings/tokens and set HF_TOKEN to it"
                ) from error
            if names & {"RepositoryNotFoundError", "EntryNotFoundError", "HFValidationError"} or status == 404:
                raise SourceError(
                    f"PMO_BIOMEDICA: there is no {page}{f' with {self.folder}' if self.folder else ''}, "
                    f"and no local path {self.repository}"
                ) from error
            reason = " ".join(str(error).split())[:300] or type(error).__name__
            raise SourceError(f"PMO_BIOMEDICA: {page} cannot be read ({reason}); run again") from error


def _is_of_hub(error: Exception) -> bool:
    return is_of_network(error) and not isinstance(error, tarfile.TarError | pa.ArrowException)


def _hub(repository: str) -> Any:
    """Return the client of Hugging Face.

    Raises:
        SourceError: if it is not installed.
    """
    try:
        return hub_client()
    except ImportError as error:
        raise SourceError(
            f"PMO_BIOMEDICA: {repository} is a dataset on Hugging Face, which needs the package huggingface_hub: "
            "pip install 'pmo-assets[biomedica]', or give the path of a local copy"
        ) from error


def open_biomedica(place: str) -> BiomedicaSource:
    """Return the copy of the dataset that PMO_BIOMEDICA names.

    Args:
        place: path of a file or folder; `hf://datasets/owner/name`, `hf://owner/name`, each with a folder behind it, or
            plain `owner/name` where no such path exists.

    Raises:
        SourceError: if it is none of these.
    """
    scheme, separator, rest = place.partition("://")
    if separator and scheme == "hf":
        owner, _, behind = rest.removeprefix("datasets/").strip("/").partition("/")
        name, _, folder = behind.partition("/")
        if owner and name:
            return HubCopy(f"{owner}/{name.partition('@')[0]}", folder)
        raise SourceError(f"PMO_BIOMEDICA: {place} names no dataset: give hf://datasets/owner/name")
    if separator and scheme != "file":
        raise SourceError(f"PMO_BIOMEDICA: {place}: give a path, or hf://datasets/owner/name")
    path = Path(rest if separator else place).expanduser()
    if not separator and not path.exists() and re.fullmatch(r"[\w-]+/[\w.-]+", place):
        return HubCopy(place)
    return LocalCopy(path)


def read_shard(shard: Shard, wanted: Collection[int]) -> Iterator[Outcome]:
    """Read a file of the dataset row by row.

    Args:
        shard: the file.
        wanted: article numbers whose rows are decoded.

    Raises:
        SourceError: if the file cannot be read, or lacks a needed column.
    """
    reader = _parquet_rows if shard.name.endswith(".parquet") else _tar_rows
    try:
        with shard.open() as stream:
            yield from reader(stream, shard.name, wanted)
    except (pa.ArrowException, tarfile.TarError, EOFError, OSError, zlib.error, lzma.LZMAError) as error:
        reason = " ".join(str(error).split())[:300] or type(error).__name__
        raise SourceError(
            f"PMO_BIOMEDICA: {shard.name} cannot be read ({reason}): fetch it again, or take it away"
        ) from error


def _lacks(shard: str, missing: Sequence[str], found: Collection[str]) -> SourceError:
    known = "; ".join(" or ".join(ALIASES[column]) for column in ALIASES if ALIASES[column][0] in missing)
    return SourceError(
        f"PMO_BIOMEDICA: {shard} has no column {known}; it has {', '.join(sorted(found)[:60]) or 'no columns'}"
    )


def _outcome(row: Mapping[str, Any], row_id: str, wanted: Collection[int]) -> Outcome:
    """Return a row read, malformed, or as an unwanted article's number; only a wanted article's is decoded in full."""
    number = None
    try:
        found = columns_found(row.keys())
        number = article_number(row.get(found["article_id"])) if "article_id" in found else None
        if number is not None and number not in wanted:
            return number
        return biomedica_figure(row, row_id)
    except RowFault as fault:
        return MalformedRow(row_id, number, str(fault))


# webdataset


@dataclass
class _Sample:
    """Members of a tar that belong together, by kind of content, and the reason why one was left out."""

    stem: str
    parts: dict[str, bytes]
    fault: str = ""


def _samples(stream: IO[bytes]) -> Iterator[_Sample]:
    """Give the samples of a webdataset: members that follow each other and differ in their extension only."""
    sample: _Sample | None = None
    with tarfile.open(fileobj=stream, mode="r|*") as tar:
        for member in tar:
            tar.members = []  # type: ignore[attr-defined]  # else every header of the file stays in memory
            stem, _, extension = member.name.rpartition(".")
            kind = MEMBER_KINDS.get(extension.lower())
            if kind is None or not member.isreg():
                continue
            if sample is None or sample.stem != stem:
                if sample is not None:
                    yield sample
                sample = _Sample(stem, {})
            if member.size > MEMBER_LIMITS[kind]:
                sample.fault = f"its {extension} has {member.size:,} bytes"
                continue
            content = tar.extractfile(member)
            if content is not None:
                sample.parts[kind] = content.read()
    if sample is not None:
        yield sample


def _tar_rows(stream: IO[bytes], shard: str, wanted: Collection[int]) -> Iterator[Outcome]:
    usable = False
    lacking: SourceError | None = None
    for position, sample in enumerate(_samples(stream)):
        row_id = f"{shard}#{position}"
        try:
            row = {**_json_object(sample), "txt": sample.parts.get("txt"), "jpg": sample.parts.get("jpg")}
        except RowFault as fault:
            yield MalformedRow(row_id, None, str(fault))
            continue
        missing = missing_columns(row.keys())
        usable = usable or not missing
        lacking = lacking or (_lacks(shard, missing, row.keys()) if missing else None)
        yield _outcome(row, row_id, wanted)
    if lacking is not None and not usable:
        raise lacking


def _json_object(sample: _Sample) -> dict[str, Any]:
    if sample.fault:
        raise RowFault(sample.fault)
    if "json" not in sample.parts:
        raise RowFault("it has no JSON")
    return _as_object(sample.parts["json"])


def _as_object(text: str | bytes) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:  # ValueError: no JSON, no UTF-8, or an endless number
        raise RowFault(f"its JSON cannot be read: {str(error)[:100]}") from error
    if not isinstance(value, dict):
        raise RowFault("its JSON is no object")
    return value


# Parquet


def _parquet_rows(stream: IO[bytes], shard: str, wanted: Collection[int]) -> Iterator[Outcome]:
    file = ForeignParquet(stream, shard)
    names: list[str] = list(file.schema_arrow.names)
    found = columns_found(names)
    nested = "article_id" not in found and "json" in names  # a webdataset that was turned into Parquet
    if not nested and (missing := missing_columns(names)):
        raise _lacks(shard, missing, names)
    key = "json" if nested else found["article_id"]
    columns = [*({key} | set(found.values()))]
    size = PICTURE_ROWS if "picture" in found else PARQUET_ROWS
    position = 0
    for group in range(file.num_row_groups):
        count = file.metadata.row_group(group).num_rows
        if nested or _holds_wanted(file, group, key, wanted):
            for batch in file.iter_batches(size, row_groups=[group], columns=columns):
                for row in _chosen_rows(batch, key, wanted, nested=nested):
                    yield _parquet_outcome(row, f"{shard}#{position + row.pop('#')}", wanted, nested=nested)
                position += batch.num_rows
        else:
            position += count
        if not nested:
            yield from _other_articles(file, group, key, wanted)


def _holds_wanted(file: Any, group: int, key: str, wanted: Collection[int]) -> bool:
    """Say whether a row group has a row that must be decoded: of a wanted article, or malformed."""
    return any(number is None or number in wanted for number in _numbers(file.read_row_group(group, columns=[key])))


def _other_articles(file: Any, group: int, key: str, wanted: Collection[int]) -> Iterator[int]:
    numbers = set(_numbers(file.read_row_group(group, columns=[key])))
    yield from sorted(number for number in numbers if number is not None and number not in wanted)


def _numbers(table: Any) -> Iterator[int | None]:
    """Yield the article numbers of a table's first column; None for other values."""
    for value in table.column(0).to_pylist():
        try:
            yield article_number(value)
        except RowFault:
            yield None


def _chosen_rows(batch: Any, key: str, wanted: Collection[int], *, nested: bool) -> Iterator[dict[str, Any]]:
    """Give the rows that must be decoded, with their place in the batch as "#"."""
    numbers: list[int | None] = [None] * batch.num_rows if nested else list(_numbers(batch.select([key])))
    places = [place for place, number in enumerate(numbers) if number is None or number in wanted]
    for place, row in zip(places, batch.take(pa.array(places, pa.int64())).to_pylist(), strict=True):
        yield {**row, "#": place}


def _parquet_outcome(row: Mapping[str, Any], row_id: str, wanted: Collection[int], *, nested: bool) -> Outcome:
    if not nested:
        return _outcome(row, row_id, wanted)
    stated = row["json"]
    try:
        facts = stated if isinstance(stated, dict) else _as_object(stated or "")
    except RowFault as fault:
        return MalformedRow(row_id, None, str(fault))
    return _outcome({**facts, **{name: value for name, value in row.items() if name != "json"}}, row_id, wanted)
