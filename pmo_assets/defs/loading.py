"""Finds the assets: every module of `pmo_assets.defs.assets` is a group, loaded by itself.

A new group is a new module there, and a stage that none of them names has an asset, too; nothing lists them. The order
of a batch's assets follows from what they read.
"""

from __future__ import annotations

import importlib
import pkgutil

import dagster as dg

from pmo_assets.defs.graph import batch_graph
from pmo_assets.defs.rejections import rejections_asset
from pmo_assets.defs.stage_table import manifest_asset, stage_table
from pmo_assets.pipeline.graph import declared_stages, declared_units

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
    # A unit's manifests and a stage that nothing is said of for the UI have their asset all the same.
    manifests = [manifest_asset(unit) for unit in declared_units() if unit.batch not in found]
    return [*found.values(), *manifests, *(stage_table(name) for name in declared_stages() if name not in found)]


def all_assets() -> list[dg.AssetsDefinition]:
    """Return the assets of all groups, and for each unit the one that collects what its assets could not process."""
    assets = group_assets()
    return [*assets, *(rejections_asset(batch_graph(assets, unit), unit) for unit in declared_units())]
