"""Finds the assets: every module of `pmo_assets.defs.assets` is a group, loaded by itself.

A new group is a new module there; nothing lists them. The order of a batch's assets follows from what they read.
"""

from __future__ import annotations

import importlib
import pkgutil

import dagster as dg

from pmo_assets.defs.batch_stages import batch_stages
from pmo_assets.defs.rejections import rejections_asset

GROUPS = "pmo_assets.defs.assets"
"""The package whose modules are the groups; by name, because groups may ask here what there is."""


def group_assets() -> list[dg.AssetsDefinition]:
    """Return the assets of all groups, by group and name."""
    package = importlib.import_module(GROUPS)
    found: dict[str, dg.AssetsDefinition] = {}
    for item in sorted(pkgutil.iter_modules(package.__path__, f"{package.__name__}."), key=lambda item: item.name):
        for value in vars(importlib.import_module(item.name)).values():
            if isinstance(value, dg.AssetsDefinition):
                found.setdefault(min(key.path[-1] for key in value.keys), value)
    return list(found.values())


def all_assets() -> list[dg.AssetsDefinition]:
    """Return the assets of all groups, and the one that collects what a batch's assets could not process."""
    assets = group_assets()
    stages = batch_stages(assets)
    read = {
        dep.asset_key.path[-1]
        for item in assets
        for spec in item.specs
        if spec.key.path[-1] in stages
        for dep in spec.deps
    }
    return [*assets, rejections_asset(stages, [name for name in stages if name not in read])]
