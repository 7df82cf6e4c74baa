"""From what a manifest names as its source to the source itself."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote_to_bytes

from pmo_assets.records.packages import ArticleSource, SourceError
from pmo_assets.sources.local import LocalFolder
from pmo_assets.sources.pmc_bucket import PmcBucket, PmcOptions
from pmo_assets.sources.pmc_cloud import SCHEME, PmcCloud


def open_source(uri: str, pmc: PmcOptions | None = None) -> ArticleSource:
    """Return the source that a manifest names.

    Args:
        uri: `file://…` or a path, or `pmc://BUCKET`.
        pmc: how PMC is reached; its bucket is the manifest's.

    Raises:
        SourceError: for a kind of source that this version does not know.
    """
    scheme, separator, rest = uri.partition("://")
    if not separator:
        return LocalFolder(Path(uri))
    if scheme == "file":
        return LocalFolder(Path(os.fsdecode(unquote_to_bytes(rest))))
    if scheme == SCHEME:
        return PmcCloud(PmcBucket(replace(pmc or PmcOptions(), bucket=rest.strip("/"))))
    raise SourceError(f"cannot open the article source {uri}: this version reads file:// and {SCHEME}://")


def source_opener(pmc: PmcOptions | None = None) -> Callable[[str], ArticleSource]:
    """Return `open_source` for one run: each source is opened once, also when threads ask for it at the same time."""
    opened: dict[str, ArticleSource] = {}
    lock = threading.Lock()

    def source(uri: str) -> ArticleSource:
        with lock:
            if uri not in opened:
                opened[uri] = open_source(uri, pmc)
            return opened[uri]

    return source
