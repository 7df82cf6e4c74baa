"""The web application of `pmo pages`: an index, the served files of a data root, metrics."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Final

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pmo_assets.records.stores import StorageError
from pmo_assets.release.keys import GALLERY_FOLDER
from pmo_assets.serving.addresses import SERVED, served_key
from pmo_assets.serving.files import SAFE_HEADERS, file_response, text_of
from pmo_assets.serving.guard import Guard
from pmo_assets.serving.index import METRICS_PATH, broken_page, index_page, missing_page
from pmo_assets.serving.listed import ListedFiles
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.viewing.documents import document_page

if TYPE_CHECKING:
    from pmo_assets.encoders.search.panel_search import PanelSearch

_ELSEWHERE: Final = {
    **dict.fromkeys([f"/{folder}" for folder in SERVED], "/"),
    f"/{GALLERY_FOLDER}": f"/{GALLERY_FOLDER}/index.html",
}
"""Folders, and the page that people mean by them."""


def _document(root: DataRoot, key: str) -> str:
    return document_page(key.rpartition("/")[2], text_of(root, key))


class _SafeHeaders:
    """Adds `SAFE_HEADERS` to every answer, also to that of an error."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                added = [(name.lower().encode(), value.encode()) for name, value in SAFE_HEADERS.items()]
                message = {**message, "headers": [*message["headers"], *added]}
            await send(message)

        await self._app(scope, receive, with_headers if scope["type"] == "http" else send)


def site(
    root: DataRoot,
    metrics: Callable[[], bytes] | None = None,
    names: Collection[str] = (),
    search: PanelSearch | None = None,
) -> Starlette:
    """Return the application.

    Args:
        root: whose pages are shown.
        metrics: gives the numbers in Prometheus' text format; without, there is no `/metrics`.
        names: that the server answers to, beside addresses and this machine's (`host_is_known`).
        search: of the release's panels; without, there is no `/search`.
    """
    listed = ListedFiles(root)
    searching = []
    if search is not None:
        from pmo_assets.serving.search import search_routes  # its packages are slow to import

        searching = search_routes(search, root, listed)

    async def index(request: Request) -> Response:
        return HTMLResponse(
            await run_in_threadpool(index_page, root, metrics=metrics is not None, search=search is not None)
        )

    async def numbers(request: Request) -> Response:
        if metrics is None:
            raise HTTPException(404)
        text = await run_in_threadpool(metrics)
        return PlainTextResponse(text, media_type="text/plain; version=0.0.4; charset=utf-8")

    async def file(request: Request) -> Response:
        path = request.scope["path"]
        if (target := _ELSEWHERE.get(path.rstrip("/"))) is not None:
            return RedirectResponse(target)
        key = served_key(path)
        if key is None or not await run_in_threadpool(listed.has, key):
            raise HTTPException(404)
        if key.endswith(".md") and "text/html" in request.headers.get("accept", ""):
            # A browser gets a page; what asks for the file (curl, a host that copies it) the Markdown.
            return HTMLResponse(await run_in_threadpool(_document, root, key), headers={"Vary": "Accept"})
        return await file_response(root, key, request.scope)

    async def missing(request: Request, error: Exception) -> Response:
        return HTMLResponse(missing_page(request.scope["path"]), status_code=404)

    async def broken(request: Request, error: Exception) -> Response:
        return HTMLResponse(broken_page(str(error)), status_code=503)

    return Starlette(
        routes=[
            Route("/", index),
            Route(METRICS_PATH, numbers),
            *searching,
            Route("/{path:path}", file),
        ],
        middleware=[Middleware(_SafeHeaders), Middleware(Guard, names)],
        exception_handlers={404: missing, StorageError: broken},
    )
