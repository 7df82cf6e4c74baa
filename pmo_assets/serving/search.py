"""The search beside the gallery: its page, the panels that are nearest to what is asked, their pictures."""

from __future__ import annotations

import hashlib
from dataclasses import asdict
from typing import Any, Final

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from pmo_assets.encoders.search.index import SearchError
from pmo_assets.encoders.search.panel_search import MOST_PICTURE_BYTES, PanelSearch
from pmo_assets.encoders.search.panels import FILTERS, Hit
from pmo_assets.release.hub.sums import SUMS_FILE
from pmo_assets.release.keys import GALLERY_KEY, HUB
from pmo_assets.serving.index import SEARCH_PATH
from pmo_assets.serving.listed import ListedFiles
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.viewing.markup import number_text, plain_text, web_url
from pmo_assets.viewing.overlays import picture_mime
from pmo_assets.viewing.search import search_page

MOST_PANELS: Final = 100
"""Panels in one answer."""

_REPLACED: Final = "The release is not the one that was opened: embed and index it, and start pmo pages again."


def search_routes(search: PanelSearch, root: DataRoot, listed: ListedFiles) -> list[Route]:
    """Return the routes of a search.

    They answer as long as the release below the root is the one that was opened, and is served: not if it is replaced,
    or withheld pictures are restored in it.

    Args:
        search: that is asked.
        root: whose release it is of, and whose gallery figures are opened in, if there is one.
        listed: files of it that are served.
    """
    choices = search.choices()

    def is_served() -> bool:
        key = f"{HUB}/{SUMS_FILE}"
        return listed.has(key) and hashlib.sha256(root.read(key)).hexdigest() == search.release.digest

    async def page(request: Request) -> Response:
        return HTMLResponse(await run_in_threadpool(_page, search, root, choices))

    async def panels(request: Request) -> Response:
        if not await run_in_threadpool(is_served):
            return JSONResponse({"error": _REPLACED}, 409)
        content = await _body(request) if request.method == "POST" else None
        try:
            found = await run_in_threadpool(_found, search, request, content)
        except (SearchError, ValueError) as error:
            return JSONResponse({"error": plain_text(str(error))}, 422)
        return JSONResponse({"panels": [_told(hit) for hit in found]})

    async def picture(request: Request) -> Response:
        if not await run_in_threadpool(is_served):
            raise HTTPException(404)
        content = await run_in_threadpool(search.picture, request.path_params["panel_id"])
        kind = None if content is None else picture_mime(content)
        if content is None or kind is None:
            raise HTTPException(404)
        return Response(content, media_type=kind)

    return [
        Route(SEARCH_PATH, page),
        Route(f"{SEARCH_PATH}/panels", panels, methods=["GET", "POST"]),
        Route(f"{SEARCH_PATH}/pictures/{{panel_id}}", picture),
    ]


async def _body(request: Request) -> bytes:
    """Return the body of a request, as far as it is read to say that it is too long."""
    content = bytearray()
    async for part in request.stream():
        content += part
        if len(content) > MOST_PICTURE_BYTES:
            break
    return bytes(content)


def _found(search: PanelSearch, request: Request, picture: bytes | None) -> list[Hit]:
    given = request.query_params
    filters = {name: given.getlist(name) for name in FILTERS}
    count = given.get("count", "24")
    if not count.isdecimal() or not 1 <= int(count[:4]) <= MOST_PANELS:
        raise SearchError(f"count is 1 to {MOST_PANELS}")
    if picture is not None:
        return search.by_picture(picture, filters, int(count))
    if panel := given.get("panel"):
        return search.by_panel(panel, filters, int(count))
    return search.by_text(given.get("text", ""), filters, int(count))


def _told(hit: Hit) -> dict[str, Any]:
    """Return a panel for the page; texts of articles are hostile."""
    told = {name: plain_text(value) if isinstance(value, str) else value for name, value in asdict(hit.panel).items()}
    return {
        **told,
        "score": round(hit.score, 6),
        "article_url": web_url(hit.panel.article_url),
        "diseases": [plain_text(word) for word in hit.panel.diseases],
    }


def _page(search: PanelSearch, root: DataRoot, choices: dict[str, tuple[str, ...]]) -> str:
    facts = search.index.facts
    return search_page(
        "Search panels",
        choices,
        embeds=search.embeds,
        gallery=f"/{GALLERY_KEY}" if root.exists(GALLERY_KEY) else "",
        lead="Panels whose picture an encoder puts nearest to a text, a picture, or another panel.",
        facts=[
            ("release", facts.version), ("panels", number_text(facts.panels)), ("encoder", facts.encoder_name),
        ],
    )  # fmt: skip
