"""Finds the assets: every module of `pmo_assets.defs.assets` is a group, loaded by itself.

A new group is a new module there; nothing lists them. The order of a batch's assets follows from what they read.
"""

from __future__ import annotations

import graphlib
import importlib
import pkgutil
from collections.abc import Iterable, Sequence

import dagster as dg

from pmo_assets.defs.article_table import BATCH_TAG
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


def batch_stages(assets: Iterable[dg.AssetsDefinition]) -> tuple[str, ...]:
    """Return the names of the assets that are made batch by batch, in the order of the data's way."""
    specs = {spec.key.path[-1]: spec for item in assets for spec in item.specs if BATCH_TAG in spec.tags}
    return in_order({name: [dep.asset_key.path[-1] for dep in spec.deps] for name, spec in specs.items()})


def in_order(upstream: dict[str, list[str]]) -> tuple[str, ...]:
    """Return names so that each follows those upstream of it; alphabetically where that leaves a choice."""
    sorter = graphlib.TopologicalSorter(
        {name: [dep for dep in deps if dep in upstream] for name, deps in upstream.items()}
    )
    sorter.prepare()
    names: list[str] = []
    while sorter.is_active():
        ready = sorted(sorter.get_ready())
        names += ready
        sorter.done(*ready)
    return tuple(names)


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


def stages_of(defs: dg.Definitions) -> Sequence[str]:
    """Return the names of a code location's assets that are made batch by batch, in the order of the data's way."""
    graph = defs.resolve_asset_graph()
    nodes = {key.path[-1]: graph.get(key) for key in graph.get_all_asset_keys() if BATCH_TAG in graph.get(key).tags}
    return in_order({name: [parent.path[-1] for parent in node.parent_keys] for name, node in nodes.items()})
