"""The stages of a batch for who asks nothing else of the code location: loading all of it takes longer than that."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from pmo_assets.defs.batch_stages import DeclaredStages, declared_stages
from pmo_assets.defs.package_cache import of_this_code


def known_stages() -> DeclaredStages:
    """Return the stages of the project's assets, as they were kept when this code was loaded before."""
    return DeclaredStages(**of_this_code("stages of a batch", _read_off))


def _read_off() -> dict[str, Any]:
    from pmo_assets.defs.loading import all_assets

    return asdict(declared_stages(all_assets()))
