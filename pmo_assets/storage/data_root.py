"""Tables, objects and pictures below one data root, local or `s3://`.

`pyarrow.fs` speaks both; whatever is written appears whole or not at all: locally by `pmo_assets.system.aside`, on S3
because an object becomes visible when its upload is complete. Layout below the root::

    claims/<sequence>.parquet              the same, under the place in the sequence that it took; created exactly once
    manifests/<batch>.parquet              the packages of a batch; never changes
    objects/<aa>/<sha256><suffix>          PDFs, XML, package pictures, by content
    objects/md5/<aa>/<md5><suffix>         the key of an object that a source calls by its MD5: it is not fetched again
    tables/<asset>/<batch>.parquet         one table per asset and batch
    rejections/<asset>/<batch>.parquet     inputs that the asset could not process
    rejections/registration/<source>.parquet   packages of a source that could not be registered
    pixels/<store>/<batch>/<article>.parquet   pictures, apart from the facts
    answers/<aa>/<sha256>.json             answers of language models
    biomedica/<source>/<file>.parquet      rows of BIOMEDICA's files, for the registered articles
    selection/…                            articles that the next release takes, panels that look the same
    release/…                              the dataset, its card, gallery and report
    quality/…                              annotated figures, scores, pages with the worst cases
    leases/<name>/<number>.json            who writes a batch, or the release, at the moment
"""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import time
import uuid
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

import pyarrow as pa
import pyarrow.fs as pafs

from pmo_assets.records.faults import full_disk_advice, is_full_disk
from pmo_assets.records.stores import StorageError
from pmo_assets.system.aside import create, place_aside, publish, replace_folder, replace_parts, stream_aside


@functools.lru_cache(maxsize=8)
def _filesystem(root: str, endpoint: str | None) -> tuple[pafs.FileSystem, str]:
    """Return the file system of a root and the root's path on it (one connection pool per process)."""
    if root.startswith("s3://"):
        options: dict[str, Any] = {}
        if endpoint:
            scheme, _, host = endpoint.rpartition("://")
            options = {"endpoint_override": host, "scheme": scheme or "https"}
        region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
        if region:
            options["region"] = region
        retries = pafs.AwsStandardS3RetryStrategy(max_attempts=5)
        return pafs.S3FileSystem(retry_strategy=retries, **options), root.removeprefix("s3://").rstrip("/")
    return pafs.LocalFileSystem(), str(Path(root).expanduser().absolute())


@functools.lru_cache(maxsize=8)
def _s3_client(endpoint: str | None, region: str) -> Any:
    """Return a client for requests that pyarrow's S3 file system cannot make; credentials come from the same places."""
    import boto3
    from botocore.config import Config

    url = endpoint if not endpoint or "://" in endpoint else f"https://{endpoint}"
    config = Config(
        s3={"addressing_style": "path" if endpoint else "auto"},
        retries={"mode": "standard", "max_attempts": 5},
        request_checksum_calculation="when_required",  # servers other than AWS may not know the newer checksums
    )
    return boto3.client("s3", endpoint_url=url, region_name=region, config=config)


@dataclass(frozen=True, slots=True)
class FileFacts:
    """Entry of a listing: a file's name in its folder, size in bytes, time of its last change (UTC)."""

    name: str
    size: int
    changed: datetime


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file below a data root: its key, bytes, and when it was last written, in seconds since 1970 by the store."""

    key: str
    size: int
    written: float


@dataclass(frozen=True)
class DataRoot:
    """A folder or bucket prefix; small enough to travel to worker processes.

    Attributes:
        root: path of a local folder, or `s3://bucket/prefix`.
        endpoint: S3 endpoint other than AWS, e.g. `http://127.0.0.1:5000`.
    """

    root: str
    endpoint: str | None = None

    @property
    def is_local(self) -> bool:
        """True if the root is a folder of this machine."""
        return not self.root.startswith("s3://")

    def uri(self, key: str) -> str:
        """Return the path or URL of a key, for people."""
        return f"{self.root.rstrip('/')}/{key}" if not self.is_local else str(Path(self._path(key)))

    def _path(self, key: str) -> str:
        base = _filesystem(self.root, self.endpoint)[1]
        return f"{base.rstrip('/')}/{key}" if key else base

    @property
    def _fs(self) -> pafs.FileSystem:
        return _filesystem(self.root, self.endpoint)[0]

    def filesystem(self) -> tuple[pafs.FileSystem, str]:
        """Return the file system and the root's path on it: for PyArrow's readers of several files at once."""
        return _filesystem(self.root, self.endpoint)

    def _failure(self, action: str, key: str, error: BaseException) -> StorageError:
        # one line, as every error: botocore's may have more
        text = " ".join(str(error).split())
        if is_full_disk(error):
            places = [Path(self._path(key))] if self.is_local else []  # for S3, files are put together on this machine
            return StorageError(f"cannot {action} {self.uri(key)}: {text}{full_disk_advice(error, places)}")
        hint = (
            "check the folder, its permissions and free space" if self.is_local else "check bucket, endpoint and keys"
        )
        return StorageError(f"cannot {action} {self.uri(key)}: {text} ({hint}; the root is PMO_DATA_ROOT={self.root})")

    def exists(self, key: str) -> bool:
        """Say whether a file is there."""
        try:
            return bool(self._fs.get_file_info(self._path(key)).type == pafs.FileType.File)
        except OSError as error:
            raise self._failure("look at", key, error) from error

    def kept(self, key: str, seconds: float) -> bool:
        """Say whether a file is there; one that was written longer ago counts as written now.

        For who reuses what lies there: what is young is never taken for a leftover (`pmo clean`).

        Args:
            key: of the file.
            seconds: how long ago.

        Raises:
            StorageError: if it cannot be looked at, or is there and cannot be touched.
        """
        found = self.facts(key)
        if found is None:
            return False
        if time.time() - found.changed.timestamp() < seconds:
            return True
        try:
            if self.is_local:
                os.utime(self._path(key))
            else:
                self._touch_remotely(key)
        except FileNotFoundError:
            return False
        except OSError as error:
            raise self._failure("touch", key, error) from error
        return True

    def _touch_remotely(self, key: str) -> None:
        """Copy an object onto itself: S3 has no other way to make it younger."""
        from botocore.exceptions import BotoCoreError, ClientError

        bucket, _, name = self._path(key).partition("/")
        try:
            client = _s3_client(self.endpoint, cast(pafs.S3FileSystem, self._fs).region)
            # AWS refuses a copy onto itself that changes nothing
            place = {"Bucket": bucket, "Key": name}
            client.copy_object(
                **place, CopySource=place, MetadataDirective="REPLACE", Metadata={"kept": f"{time.time():.0f}"}
            )
        except ClientError as error:
            if error.response["Error"]["Code"] in ("404", "NoSuchKey"):
                raise FileNotFoundError(key) from error
            raise self._failure("touch", key, error) from error
        except BotoCoreError as error:
            raise self._failure("touch", key, error) from error

    def size(self, key: str) -> int:
        """Return a file's size in bytes.

        Raises:
            StorageError: if it is missing.
        """
        try:
            info = self._fs.get_file_info(self._path(key))
        except OSError as error:
            raise self._failure("look at", key, error) from error
        if info.type != pafs.FileType.File:
            raise self._failure("look at", key, FileNotFoundError("it is not there"))
        return int(info.size)

    def keys(self, prefix: str, suffix: str = "") -> list[str]:
        """Return the names of the files directly below a prefix, sorted; half-written files are left out."""
        return sorted(info.base_name for info in self._files_below(prefix, suffix))

    def facts(self, key: str) -> FileFacts | None:
        """Return size and time of the last change of a file; None if there is no such file."""
        try:
            info = self._fs.get_file_info(self._path(key))
        except OSError as error:
            raise self._failure("look at", key, error) from error
        return FileFacts(info.base_name, info.size, info.mtime) if info.type == pafs.FileType.File else None

    def folder_facts(self, prefix: str, suffix: str = "") -> list[FileFacts]:
        """Return the files directly below a prefix, sorted by name, from one listing; see `keys`."""
        found = (FileFacts(info.base_name, info.size, info.mtime) for info in self._files_below(prefix, suffix))
        return sorted(found, key=lambda file: file.name)

    def _files_below(self, prefix: str, suffix: str) -> Iterator[pafs.FileInfo]:
        selector = pafs.FileSelector(self._path(prefix), allow_not_found=True)
        try:
            infos = self._fs.get_file_info(selector)
        except OSError as error:
            raise self._failure("list", prefix, error) from error
        for info in infos:
            name = info.base_name
            if name.endswith(suffix) and not name.startswith(".") and info.type == pafs.FileType.File:
                yield info

    def read(self, key: str) -> bytes:
        """Return a file's bytes.

        Raises:
            StorageError: if it is missing or cannot be read.
        """
        try:
            with self._fs.open_input_stream(self._path(key)) as stream:
                return cast(bytes, stream.read())
        except OSError as error:
            raise self._failure("read", key, error) from error

    def open_random(self, key: str) -> pa.NativeFile:
        """Open a file for random access (Parquet)."""
        try:
            return self._fs.open_input_file(self._path(key))
        except OSError as error:
            raise self._failure("read", key, error) from error

    def write(self, key: str, content: bytes, *, durable: bool = True) -> None:
        """Write a file whole or not at all.

        Args:
            key: where.
            content: all of it.
            durable: wait until the disk has it. Without, it is whole or not there after a kill, but may be damaged
                after a power failure: for what its reader checks and can do without.

        Raises:
            StorageError: if it cannot be written.
        """
        with self.writing(key, durable=durable) as stream:
            stream.write(content)

    @contextlib.contextmanager
    def writing(self, key: str, *, durable: bool = True) -> Iterator[IO[bytes]]:
        """Give a stream whose content appears under `key` when the block ends without an error; see `write`."""
        try:
            if self.is_local:
                with stream_aside(Path(self._path(key)), durable=durable) as stream:
                    yield stream
            else:
                yield from self._writing_remotely(key)
        except OSError as error:
            raise self._failure("write", key, error) from error

    def create(self, key: str, content: bytes) -> bool:
        """Write a file that is not there yet, whole; return whether it was this call that did.

        Of several processes, on whatever machines, that create the same file exactly one is told so. An S3 server must
        honour `If-None-Match: *`, as AWS does, and MinIO, Ceph and Cloudflare R2 in their present versions.

        Raises:
            StorageError: if it cannot be written.
        """
        if not self.is_local:
            return self._create_remotely(key, content)
        target = Path(self._path(key))
        try:
            return create(target, content)
        except OSError as error:
            raise self._failure("write", key, error) from error

    def _create_remotely(self, key: str, content: bytes) -> bool:
        from botocore.exceptions import BotoCoreError, ClientError

        bucket, _, name = self._path(key).partition("/")
        writer = uuid.uuid4().hex
        try:
            client = _s3_client(self.endpoint, cast(pafs.S3FileSystem, self._fs).region)
            for pause in (0.1, 0.5, 2.0):
                try:
                    client.put_object(
                        Bucket=bucket, Key=name, Body=content, IfNoneMatch="*", Metadata={"writer": writer}
                    )
                    return True
                except ClientError as error:
                    if error.response["Error"]["Code"] == "PreconditionFailed":
                        # The answer to a first attempt of ours may have been lost on the way.
                        return bool(client.head_object(Bucket=bucket, Key=name)["Metadata"].get("writer") == writer)
                    if error.response["Error"]["Code"] != "ConditionalRequestConflict":
                        raise
                    time.sleep(pause)  # another writer is about to finish, or to fail
            raise TimeoutError("others write it all the time")
        except (BotoCoreError, ClientError, OSError) as error:
            raise self._failure("write", key, error) from error

    def age(self, key: str) -> float | None:
        """Return how many seconds ago a file was written, by the clock of the disk or server; None if it is not there.

        Clocks of the machines that share a data root differ: none of them is asked.
        """
        try:
            if not self.is_local:
                return self._age_remotely(key)
            written = Path(self._path(key)).stat().st_mtime
            return self._now() - written
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._failure("look at", key, error) from error

    def _now(self) -> float:
        """Return the time by the clock of the disk; by this machine's if it is read-only."""
        try:
            with place_aside(Path(self._path(".now"))) as now:
                now.touch()
                return now.stat().st_mtime
        except OSError as error:
            if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
                return time.time()
            raise

    def _age_remotely(self, key: str) -> float | None:
        from email.utils import parsedate_to_datetime

        from botocore.exceptions import BotoCoreError, ClientError

        bucket, _, name = self._path(key).partition("/")
        try:
            client = _s3_client(self.endpoint, cast(pafs.S3FileSystem, self._fs).region)
            found = client.head_object(Bucket=bucket, Key=name)
            now = parsedate_to_datetime(found["ResponseMetadata"]["HTTPHeaders"]["date"])
            return float((now - found["LastModified"]).total_seconds())
        except ClientError as error:
            if error.response["Error"]["Code"] in ("404", "NoSuchKey"):
                return None
            raise self._failure("look at", key, error) from error
        except BotoCoreError as error:
            raise self._failure("look at", key, error) from error

    def _writing_remotely(self, key: str) -> Iterator[IO[bytes]]:
        # pyarrow completes the upload when its stream is closed, even after an error: buffer to keep it all-or-nothing.
        with _spooled_file() as buffer:
            yield buffer
            buffer.seek(0)
            with self._fs.open_output_stream(self._path(key)) as stream:
                while chunk := buffer.read(1 << 22):
                    stream.write(chunk)

    def delete(self, key: str) -> None:
        """Remove a file if it is there."""
        try:
            self._fs.delete_file(self._path(key))
        except FileNotFoundError:
            pass
        except OSError as error:
            raise self._failure("delete", key, error) from error

    def replace(self, source: str, target: str) -> None:
        """Put a file in the place of another one, or where there was none.

        Raises:
            StorageError: if there is no such file, or it cannot be moved.
        """
        if not self.is_local:
            self._copy_remotely(source, target)
            self.delete(source)
            return
        try:
            publish(Path(self._path(source)), Path(self._path(target)))
        except OSError as error:
            raise self._failure("replace", target, error) from error

    def _copy_remotely(self, source: str, target: str) -> None:
        """Copy an object within the bucket: in parts, since one request, as pyarrow makes it, copies up to 5 GB."""
        from botocore.exceptions import BotoCoreError, ClientError

        bucket, _, name = self._path(target).partition("/")
        try:
            client = _s3_client(self.endpoint, cast(pafs.S3FileSystem, self._fs).region)
            client.copy({"Bucket": bucket, "Key": self._path(source).partition("/")[2]}, bucket, name)
        except (BotoCoreError, ClientError, OSError) as error:
            raise self._failure("replace", target, error) from error

    def tree(self, prefix: str) -> list[str]:
        """Return the keys of all files below a prefix, relative to it and sorted; half-written files are left out."""
        base = self._path(prefix.rstrip("/"))
        selector = pafs.FileSelector(base, recursive=True, allow_not_found=True)
        try:
            infos = self._fs.get_file_info(selector)
        except OSError as error:
            raise self._failure("list", prefix, error) from error
        names = [info.path[len(base) + 1 :] for info in infos if info.type == pafs.FileType.File]
        return sorted(name for name in names if not PurePosixPath(name).name.startswith("."))

    def files(self, prefix: str) -> Iterator[StoredFile]:
        """Yield the files below a prefix, folder by folder, half-written ones included; nothing is held in memory.

        Raises:
            StorageError: if the folder cannot be listed.
        """
        base = self._path("")
        selector = pafs.FileSelector(self._path(prefix), allow_not_found=True)
        try:
            infos = self._fs.get_file_info(selector)
        except OSError as error:
            raise self._failure("list", prefix, error) from error
        for info in sorted(infos, key=lambda item: item.path):
            key = info.path[len(base) :].strip("/")
            if info.type == pafs.FileType.Directory:
                yield from self.files(key)
            elif info.type == pafs.FileType.File:
                yield StoredFile(key, int(info.size or 0), float(info.mtime_ns or 0) / 1e9)

    def delete_tree(self, prefix: str) -> None:
        """Remove everything below a prefix."""
        try:
            if self._fs.get_file_info(self._path(prefix)).type == pafs.FileType.Directory:
                self._fs.delete_dir(self._path(prefix))
        except OSError as error:
            raise self._failure("delete", prefix, error) from error

    def replace_tree(self, source: str, target: str, *, last: str) -> None:
        """Put the files below `source` in the place of those below `target`.

        Locally the folders are exchanged by renaming, and back if that fails. An object store cannot do that: there
        `last`, which readers hold the other files against, is removed first and appears last, so that nobody takes a
        mixture for the whole.

        Args:
            source: prefix of the new files; nothing is left there.
            target: prefix that they get.
            last: name of the file below both that says what the others are (checksums).

        Raises:
            StorageError: if there is no `last` below `source`, or something cannot be written.
        """
        self.size(f"{source}/{last}")
        try:
            if self.is_local:
                replace_folder(Path(self._path(source)), Path(self._path(target)))
                return
            self.delete(f"{target}/{last}")
            self._copy_tree(source, target, last)
            self._fs.copy_file(self._path(f"{source}/{last}"), self._path(f"{target}/{last}"))
            self.delete_tree(source)
        except OSError as error:
            raise self._failure("replace", target, error) from error

    def replace_parts(self, source: str, target: str, parts: Collection[str], *, last: str) -> None:
        """Put files and folders below `source` for those below `target`, together; the others there stay.

        Locally it happens at one instant. An object store cannot do that: there `last`, which readers hold the other
        files against, is removed first and appears last, so that nobody takes a mixture for the whole.

        Args:
            source: prefix of the new files; nothing is left there.
            target: prefix that they get; nobody else writes to it meanwhile.
            parts: names directly below `source`.
            last: key below both of the file that says what the others are (checksums).

        Raises:
            StorageError: if there is no `last` below `source`, or something cannot be written.
        """
        self.size(f"{source}/{last}")
        try:
            if self.is_local:
                replace_parts(Path(self._path(source)), Path(self._path(target)), parts)
                return
            self.delete(f"{target}/{last}")
            for part in parts:
                if self.exists(f"{source}/{part}"):
                    self._fs.copy_file(self._path(f"{source}/{part}"), self._path(f"{target}/{part}"))
                else:
                    inside = last.removeprefix(f"{part}/") if last.startswith(f"{part}/") else ""
                    self._copy_tree(f"{source}/{part}", f"{target}/{part}", inside)
            self._fs.copy_file(self._path(f"{source}/{last}"), self._path(f"{target}/{last}"))
            self.delete_tree(source)
        except OSError as error:
            raise self._failure("replace", target, error) from error

    def _copy_tree(self, source: str, target: str, but: str) -> None:
        """Copy the files below a prefix, but one, and remove all others below the target."""
        names = [name for name in self.tree(source) if name != but]
        for name in names:
            self._fs.copy_file(self._path(f"{source}/{name}"), self._path(f"{target}/{name}"))
        for name in set(self.tree(target)) - set(names):
            self.delete(f"{target}/{name}")


def _spooled_file() -> Any:
    import tempfile

    return tempfile.SpooledTemporaryFile(max_size=1 << 26)
