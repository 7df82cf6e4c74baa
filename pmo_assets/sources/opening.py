"""Opening of the source that a manifest names."""

from __future__ import annotations

import os
import threading
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


class SourceOpener:
    """`open_source` for one run: each source is opened once, also when threads ask for it at the same time."""

    def __init__(self, pmc: PmcOptions | None = None) -> None:
        self._pmc = pmc
        self._opened: dict[str, ArticleSource] = {}
        self._lock = threading.Lock()

    def __call__(self, uri: str) -> ArticleSource:
        """Return the source that a manifest names; see `open_source`."""
        with self._lock:
            if uri not in self._opened:
                self._opened[uri] = open_source(uri, self._pmc)
            return self._opened[uri]

    def stop(self) -> None:
        """Let other threads' reading from a network end soon, with an error."""
        with self._lock:
            for source in self._opened.values():
                if isinstance(source, PmcCloud):
                    source.bucket.stop()
