"""Addresses of pages: the files below a data root that are pages for people, and their URLs in a browser.

An address is `PMO_PAGES_URL` and the key of the file below the data root, so that `pmo pages`, the website of a bucket
and any static host that holds a copy of `release/` and `quality/` are interchangeable.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Final
from urllib.parse import quote

DEFAULT_PORT: Final = 3001
"""Port of `pmo pages`: the one beside the UI's."""

_TEXT: Final = "text/plain; charset=utf-8"

_RELEASE_TYPES: Final = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".jsonl": "application/jsonl",
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".webp": "image/webp",
    ".md": _TEXT,
    ".txt": _TEXT,
    ".cff": _TEXT,
    ".parquet": "application/vnd.apache.parquet",
    ".tar": "application/x-tar",
}

SERVED: Final[dict[str, dict[str, str]]] = {
    "release": {**_RELEASE_TYPES, "": _TEXT},
    "quality": {".html": _RELEASE_TYPES[".html"]},
}
"""Folders below the data root that may be seen, and of them the media type by the end of a file's name ("": none, as of
SHA256SUMS). Nothing else leaves the data root: manifests, objects, answers of models, tables, what people annotated."""


def page_url(base: str, key: str) -> str:
    """Return the address of a page.

    Args:
        base: PMO_PAGES_URL.
        key: of the page below the data root.
    """
    return f"{base.rstrip('/')}/{quote(key)}"


def served_key(path: str) -> str | None:
    """Return the key below the data root that a path of an address (decoded) names; None when that is not served."""
    key = path.removeprefix("/")
    parts = key.split("/")
    # No empty part, no "." or "..", no hidden or half-written file, nothing that another system takes for a separator.
    if any(not part or part.startswith(".") for part in parts) or not key.isprintable() or "\\" in key:
        return None
    return key if len(parts) > 1 and media_type(key) is not None else None


def media_type(key: str) -> str | None:
    """Return the Content-Type of a file; None when files of its kind, or in its folder, are not served."""
    return SERVED.get(key.partition("/")[0], {}).get(PurePosixPath(key).suffix.lower())
