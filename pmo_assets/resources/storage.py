"""Tables, objects and pictures below one data root, local or `s3://`.

`pyarrow.fs` speaks both; whatever is written appears whole or not at all: locally through a temporary file that is
renamed, on S3 because an object becomes visible when its upload is complete. Layout below the root::

    claims/<sequence>.parquet              the same, under the place in the sequence that it took; created exactly once
    manifests/<batch>.parquet              what a batch holds; never changes
    objects/<aa>/<sha256><suffix>          PDFs, XML, package pictures, by content
    tables/<asset>/<batch>.parquet         one table per asset and batch
    rejections/<asset>/<batch>.parquet     what the asset could not process
    rejections/registration/<source>.parquet   packages of a source that could not be registered
    pixels/<store>/<batch>/<article>.parquet   pictures, apart from the facts
    answers/<aa>/<sha256>.json             what language models answered
    release/…                              the dataset, its card, gallery and report
    quality/…                              annotated figures, how good what was found is, pages with the worst cases
"""

from __future__ import annotations

import contextlib
import errno
import functools
import hashlib
import io
import os
import re
import socket
import threading
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path, PurePosixPath
from typing import IO, Any, Literal, cast

import dagster as dg
import polars as pl
import psutil
import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq
from filelock import FileLock

from pmo_assets.pipeline.articles.batches import in_sequence
from pmo_assets.records.packages import REGISTRATION_STAGE
from pmo_assets.records.rejections import Rejection
from pmo_assets.records.stores import Picture, StorageError
from pmo_assets.tables.pixels import Pixels
from pmo_assets.tables.rejections import Rejections
from pmo_assets.tables.schemas import checked, empty_table, schema_of

_COMPRESSION: Literal["zstd"] = "zstd"


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
    """Return a client for what pyarrow's S3 file system cannot do; it looks for credentials in the same places."""
    import boto3
    from botocore.config import Config

    url = endpoint if not endpoint or "://" in endpoint else f"https://{endpoint}"
    config = Config(
        s3={"addressing_style": "path" if endpoint else "auto"},
        retries={"mode": "standard", "max_attempts": 5},
        request_checksum_calculation="when_required",  # servers other than AWS may not know the newer checksums
    )
    return boto3.client("s3", endpoint_url=url, region_name=region, config=config)


def _host() -> str:
    """Return this machine's name as part of a file name: on a shared disk, others' processes cannot be looked at."""
    return re.sub(r"[^A-Za-z0-9]", "", socket.gethostname()) or "host"


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
        """Whether the root is a folder of this machine."""
        return not self.root.startswith("s3://")

    def uri(self, key: str) -> str:
        """Return the path or URL of a key, for people."""
        return f"{self.root.rstrip('/')}/{key}" if not self.is_local else str(Path(self._path(key)))

    def _path(self, key: str) -> str:
        return str(PurePosixPath(_filesystem(self.root, self.endpoint)[1]) / key)

    @property
    def _fs(self) -> pafs.FileSystem:
        return _filesystem(self.root, self.endpoint)[0]

    def _failure(self, action: str, key: str, error: BaseException) -> StorageError:
        hint = (
            "check the folder, its permissions and free space" if self.is_local else "check bucket, endpoint and keys"
        )
        # one line, as every error: botocore's may have more
        text = " ".join(str(error).split())
        return StorageError(f"cannot {action} {self.uri(key)}: {text} ({hint}; the root is PMO_DATA_ROOT={self.root})")

    def exists(self, key: str) -> bool:
        """Say whether a file is there."""
        try:
            return bool(self._fs.get_file_info(self._path(key)).type == pafs.FileType.File)
        except OSError as error:
            raise self._failure("look at", key, error) from error

    def keys(self, prefix: str, suffix: str = "") -> list[str]:
        """Return the names of the files directly below a prefix, sorted; half-written files are left out."""
        selector = pafs.FileSelector(self._path(prefix), allow_not_found=True)
        try:
            infos = self._fs.get_file_info(selector)
        except OSError as error:
            raise self._failure("list", prefix, error) from error
        names = [info.base_name for info in infos if info.type == pafs.FileType.File]
        return sorted(name for name in names if name.endswith(suffix) and not name.startswith("."))

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

    def write(self, key: str, content: bytes) -> None:
        """Write a file whole or not at all.

        Raises:
            StorageError: if it cannot be written.
        """
        with self.writing(key) as stream:
            stream.write(content)

    @contextlib.contextmanager
    def writing(self, key: str) -> Iterator[IO[bytes]]:
        """Give a stream whose content appears under `key` when the block ends without an error."""
        try:
            if self.is_local:
                yield from self._writing_locally(Path(self._path(key)))
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
            with self._partial(target) as partial:
                partial.write_bytes(content)
                _sync(partial)
                return _link(partial, target)
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

    @contextlib.contextmanager
    def _partial(self, target: Path) -> Iterator[Path]:
        """Give the place beside a file where its content is prepared; what killed processes left there is removed."""
        target.parent.mkdir(parents=True, exist_ok=True)
        for abandoned in target.parent.glob(f".{target.name}.*.part"):
            pid, _, host = abandoned.name.removesuffix(".part").rpartition(".")[2].partition("-")
            if host.startswith(_host()) and pid.isdigit() and not psutil.pid_exists(int(pid)):
                abandoned.unlink(missing_ok=True)
        partial = target.with_name(f".{target.name}.{os.getpid()}-{_host()}-{threading.get_ident()}.part")
        try:
            yield partial
        finally:
            partial.unlink(missing_ok=True)

    def _writing_locally(self, target: Path) -> Iterator[IO[bytes]]:
        with self._partial(target) as partial:
            with partial.open("wb") as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            partial.replace(target)

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


def _sync(path: Path) -> None:
    with path.open("rb+") as stream:
        os.fsync(stream.fileno())


def _link(partial: Path, target: Path) -> bool:
    """Give a file its final name unless that is taken; return whether it was free."""
    try:
        os.link(partial, target)
        return True
    except FileExistsError:
        # On a network disk the answer to the first attempt may have been lost: then the file has both names.
        return partial.stat().st_nlink > 1
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK):
            raise
    # The disk has no second names (exFAT, some SMB): then commands take turns.
    with FileLock(target.with_name(".create.lock"), timeout=60):
        if target.exists():
            return False
        partial.replace(target)
        return True


def _spooled_file() -> Any:
    import tempfile

    return tempfile.SpooledTemporaryFile(max_size=1 << 26)


def content_digest(key: str) -> str:
    """Return the SHA-256 of an object's content, after which its key is named (`ContentStore`)."""
    return PurePosixPath(key).name.split(".")[0]


@dataclass(frozen=True)
class ContentStore:
    """`ObjectStore` below a data root: files named after the SHA-256 of their content."""

    data_root: DataRoot

    def put(self, content: bytes, suffix: str) -> str:
        """Store bytes once and return their key."""
        digest = hashlib.sha256(content).hexdigest()
        key = f"objects/{digest[:2]}/{digest}{suffix}"
        if not self.data_root.exists(key):
            self.data_root.write(key, content)
        return key

    def get(self, key: str) -> bytes:
        """Return the bytes under a key, checksum verified."""
        content = self.data_root.read(key)
        if hashlib.sha256(content).hexdigest() != content_digest(key):
            raise StorageError(
                f"{self.data_root.uri(key)} is damaged: delete it and materialise article_packages again for its batch"
            )
        return content


@dataclass(frozen=True)
class ParquetPixels:
    """`PixelStore` below a data root: one Parquet file per article in `pixels/<store>/<batch>/`."""

    data_root: DataRoot
    store: str
    batch: str

    def _key(self, article_id: int) -> str:
        return f"pixels/{self.store}/{self.batch}/{article_id}.parquet"

    def write(self, article_id: int, pictures: Sequence[Picture]) -> None:
        """Replace the article's pictures; no file remains when there is none."""
        if not pictures:
            self.data_root.delete(self._key(article_id))
            return
        rows = [{field.name: getattr(picture, field.name) for field in fields(Picture)} for picture in pictures]
        table = Pixels.validate(pl.DataFrame(rows, schema=empty_table(Pixels).schema))
        self.data_root.write(self._key(article_id), parquet_bytes(table, compress=False))

    def read(self, article_id: int) -> dict[str, Picture]:
        """Return the article's pictures by key; empty when it has none."""
        key = self._key(article_id)
        if not self.data_root.exists(key):
            return {}
        table = read_parquet(self.data_root, key)
        return {row["key"]: Picture(**row) for row in table.iter_rows(named=True)}


def parquet_bytes(table: pl.DataFrame, *, compress: bool = True, metadata: Mapping[str, str] | None = None) -> bytes:
    """Return the table as a Parquet file; the same rows give the same bytes (PNG columns gain nothing from zstd)."""
    buffer = io.BytesIO()
    table.write_parquet(
        buffer,
        compression=_COMPRESSION if compress else "uncompressed",
        statistics=compress,
        metadata=dict(metadata) if metadata is not None else None,
    )
    return buffer.getvalue()


def read_parquet(data_root: DataRoot, key: str) -> pl.DataFrame:
    """Return a Parquet file as a table.

    Raises:
        StorageError: if it is missing or damaged.
    """
    try:
        return pl.read_parquet(io.BytesIO(data_root.read(key)))
    except pl.exceptions.ComputeError as error:
        raise StorageError(f"{data_root.uri(key)} is damaged ({error}): materialise it again") from error


@dataclass(frozen=True)
class Tables:
    """The tables of all assets below a data root."""

    data_root: DataRoot

    def key(self, asset: str, batch: str) -> str:
        """Return where an asset's table of a batch lies below the root."""
        return f"tables/{asset}/{batch}.parquet"

    def exists(self, asset: str, batch: str) -> bool:
        """Say whether the table has been written."""
        return self.data_root.exists(self.key(asset, batch))

    def read(self, asset: str, batch: str) -> pl.DataFrame:
        """Return an asset's table of a batch."""
        key = self.key(asset, batch)
        if not self.data_root.exists(key):
            raise StorageError(f"{asset} has no table for batch {batch}: materialise {asset} for it first")
        table = read_parquet(self.data_root, key)
        if table.columns != list(schema_of(asset).columns()):
            raise StorageError(
                f"{asset} of batch {batch} was written by a version with other columns: run `pmo run`, or materialise "
                "it again in the UI"
            )
        return table

    def write(self, asset: str, batch: str, rows: pl.DataFrame | Sequence[dict[str, Any]]) -> pl.DataFrame:
        """Check rows against the asset's schema, write them whole or not at all, and return them."""
        table = checked(schema_of(asset), rows)
        self.data_root.write(self.key(asset, batch), parquet_bytes(table))
        return table

    def batches(self, asset: str) -> list[str]:
        """Return the batches for which the asset has a table, in the order in which they were registered."""
        return in_sequence(name.removesuffix(".parquet") for name in self.data_root.keys(f"tables/{asset}", ".parquet"))

    def write_rejections(self, stage: str, batch: str, rejections: Sequence[Rejection]) -> None:
        """Replace what a stage rejected in a batch."""
        rows = [{field.name: getattr(item, field.name) for field in fields(Rejection)} for item in rejections]
        order = ("article_id", "image_cluster_id", "error_class", "message")
        table = checked(Rejections, rows).sort(order)
        self.data_root.write(f"rejections/{stage}/{batch}.parquet", parquet_bytes(table))

    def read_rejections(self, stages: Sequence[str], batch: str) -> pl.DataFrame:
        """Return what the stages rejected in a batch, in the stages' order."""
        keys = [f"rejections/{stage}/{batch}.parquet" for stage in stages]
        tables = [read_parquet(self.data_root, key) for key in keys if self.data_root.exists(key)]
        return pl.concat([empty_table(Rejections), *tables])

    def write_registration_rejections(self, source: str, rejections: Sequence[Rejection]) -> None:
        """Replace what of a source (its URI) could not be registered."""
        if rejections:
            self.write_rejections(REGISTRATION_STAGE, _source_name(source), rejections)
        else:
            self.data_root.delete(f"rejections/{REGISTRATION_STAGE}/{_source_name(source)}.parquet")

    def registration_rejections(self, source: str | None = None) -> pl.DataFrame:
        """Return what of a source, or of all, could not be registered when it was last looked at."""
        if source is not None:
            return self.read_rejections([REGISTRATION_STAGE], _source_name(source))
        names = self.data_root.keys(f"rejections/{REGISTRATION_STAGE}", ".parquet")
        tables = [self.read_rejections([REGISTRATION_STAGE], name.removesuffix(".parquet")) for name in names]
        return pl.concat([empty_table(Rejections), *tables])


def _source_name(source: str) -> str:
    return hashlib.sha256(source.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class StageResult:
    """What an asset hands to the IO manager: rows for its table, and what it could not process."""

    rows: Sequence[dict[str, Any]]
    rejections: Sequence[Rejection] = ()


class ParquetTables(dg.IOManager):
    """Writes an asset's `StageResult` and reads its table for the assets downstream, batch by batch."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def handle_output(self, context: dg.OutputContext, obj: StageResult) -> None:
        """Check and write the table and the stage's rejections."""
        asset, batch = context.asset_key.path[-1], context.partition_key
        table = self._tables.write(asset, batch, obj.rows)
        self._tables.write_rejections(asset, batch, obj.rejections)
        context.add_output_metadata(
            {
                "dagster/row_count": table.height,
                "dagster/partition_row_count": table.height,
                "rejected_here": len(obj.rejections),
                "path": dg.MetadataValue.path(self._tables.data_root.uri(self._tables.key(asset, batch))),
            }
        )

    def load_input(self, context: dg.InputContext) -> pl.DataFrame:
        """Return the upstream asset's table of the batch."""
        return self._tables.read(context.asset_key.path[-1], context.partition_key)


def stream_release(
    data_root: DataRoot, key: str, schema: pa.Schema, tables: Iterator[pa.Table], metadata: dict[bytes, bytes]
) -> int:
    """Write a Parquet file row group by row group, whole or not at all; return the number of rows.

    Args:
        data_root: where it goes.
        key: path below the root.
        schema: Arrow schema of the file.
        tables: one table per row group; empty ones are passed over.
        metadata: key-value metadata of the file.
    """
    rows = 0
    with (
        data_root.writing(key) as stream,
        pq.ParquetWriter(stream, schema.with_metadata(metadata), compression=_COMPRESSION) as writer,
    ):
        for table in tables:
            if table.num_rows:
                writer.write_table(table.cast(schema))
                rows += table.num_rows
    return rows
