"""What made the tables of a release: code versions, settings and networks, for its manifest."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final

import pmo_assets
from pmo_assets.defs.graph import batch_graph
from pmo_assets.defs.loading import all_assets
from pmo_assets.release.making import Origin
from pmo_assets.settings import Settings
from pmo_assets.settings.shaping import settings_digest

EVEN_SO_TAG: Final = "pmo/even-so"
"""Tag of a run that makes the release although it is much smaller than the last one: "true"."""

_WEIGHTS: Final = "weights"
_NETWORKS: Final = (".onnx", ".json")


def release_origin(settings: Settings) -> Origin:
    """Return code versions and digests of settings by asset, and the digests of the networks of the package."""
    graph = batch_graph(all_assets())
    folder = Path(next(iter(pmo_assets.__path__))) / _WEIGHTS
    files = sorted(path for path in folder.iterdir() if path.suffix in _NETWORKS)
    return Origin(
        settings={stage: digest for stage in graph.stages if (digest := settings_digest(settings, stage))},
        code_versions={stage: version or "" for stage, version in graph.versions.items()},
        creator=settings.release_creator,
        repository=settings.release_repository,
        figures={name: getattr(settings, name) for name in ("max_dpi", "max_pixels", "max_pages")},
        models={path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files},
    )
