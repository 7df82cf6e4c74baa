"""Files of a data root as answers of HTTP: type, size, ETag, and parts where the file is local."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from email.utils import format_datetime
from pathlib import Path
from typing import Final

import pyarrow as pa
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import Response, StreamingResponse
from starlette.staticfiles import NotModifiedResponse, StaticFiles
from starlette.types import Scope

from pmo_assets.serving.addresses import media_type
from pmo_assets.storage.data_root import DataRoot, FileFacts

SAFE_HEADERS: Final = {
    "Cache-Control": "no-cache",  # ask again each time: a release is renewed in place; an ETag makes that cheap
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    # Beside the policy that each page brings, which says what it may load: no other site puts our pages into a frame.
    "Content-Security-Policy": "frame-ancestors 'none'; base-uri 'none'; form-action 'none'; object-src 'none'",
}
"""Headers of every answer."""

_CHUNK: Final = 1 << 20


async def file_response(root: DataRoot, key: str, scope: Scope) -> Response:
    """Return the answer to a GET or HEAD of a file.

    Args:
        root: data root of the file.
        key: below the root, as `served_key` returns it.
        scope: the request.

    Raises:
        HTTPException: 404 if there is no such file, or if it is a link that leaves its folder.
        StorageError: if the storage cannot be read.
    """
    response = await (_local(root, key, scope) if root.is_local else run_in_threadpool(_remote, root, key, scope))
    kind = media_type(key)
    if kind is not None and response.status_code != 304:
        response.headers["Content-Type"] = kind
    return response


def _static_files(root: DataRoot, key: str) -> tuple[StaticFiles, str]:
    # Starlette's own: it does not follow links out of the folder, and answers Range and If-None-Match.
    folder, _, name = key.partition("/")
    return StaticFiles(directory=Path(root.uri(folder)), check_dir=False), name


async def _local(root: DataRoot, key: str, scope: Scope) -> Response:
    files, name = _static_files(root, key)
    try:
        return await files.get_response(name, scope)
    except HTTPException as error:
        raise HTTPException(404) from error  # a folder or file that may not be read is none to people


def text_of(root: DataRoot, key: str) -> str:
    """Return a served file as text.

    Raises:
        HTTPException: as `file_response`.
        StorageError: if the storage cannot be read.
    """
    there = root.exists(key)
    if there and root.is_local:
        files, name = _static_files(root, key)
        there = files.lookup_path(name)[1] is not None
    if not there:
        raise HTTPException(404)
    return root.read(key).decode(errors="replace")


def _remote(root: DataRoot, key: str, scope: Scope) -> Response:
    facts = root.facts(key)
    if facts is None:
        raise HTTPException(404)
    headers = {
        "ETag": _etag(facts),
        "Last-Modified": format_datetime(facts.changed, usegmt=True),
        "Content-Length": str(facts.size),
    }
    sent = dict(scope["headers"]).get(b"if-none-match", b"").decode("latin-1")
    if headers["ETag"] in (tag.strip().removeprefix("W/") for tag in sent.split(",")):
        return NotModifiedResponse(Response(headers=headers).headers)
    if scope["method"] == "HEAD":
        return Response(headers=headers)
    return StreamingResponse(_chunks(root.open_random(key)), headers=headers)


def _etag(facts: FileFacts) -> str:
    state = f"{facts.changed.timestamp()}-{facts.size}"
    return f'"{hashlib.sha256(state.encode()).hexdigest()[:32]}"'


def _chunks(stream: pa.NativeFile) -> Iterator[bytes]:
    with stream:
        while chunk := stream.read(_CHUNK):
            yield chunk
