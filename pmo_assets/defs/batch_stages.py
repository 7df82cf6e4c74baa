"""The stages of a batch: the assets that are made batch by batch, what each is made of, and by which code."""

from __future__ import annotations

import graphlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import dagster as dg

BATCH_TAG: Final = "pmo/batch"
"""Tag of every asset that is made batch by batch: what the job `process_batch` selects."""


@dataclass(frozen=True)
class DeclaredStages:
    """The assets of a batch as the code declares them, before settings.

    Attributes:
        parents: those upstream of each, in the order of the data's way.
        versions: of code.
    """

    parents: Mapping[str, Sequence[str]]
    versions: Mapping[str, str | None]


def declared_stages(assets: Iterable[dg.AssetsDefinition]) -> DeclaredStages:
    """Return the assets among these that are made batch by batch."""
    specs = {spec.key.path[-1]: spec for item in assets for spec in item.specs if BATCH_TAG in spec.tags}
    parents = {name: [dep.asset_key.path[-1] for dep in spec.deps] for name, spec in specs.items()}
    ordered = in_order(parents)
    return DeclaredStages(
        # What is one table for all batches makes a batch stale only by what it says of that batch.
        {name: [parent for parent in parents[name] if parent in specs] for name in ordered},
        {name: specs[name].code_version for name in ordered},
    )


def batch_stages(assets: Iterable[dg.AssetsDefinition]) -> tuple[str, ...]:
    """Return the names of the assets that are made batch by batch, in the order of the data's way."""
    return tuple(declared_stages(assets).parents)


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


def stages_of(defs: dg.Definitions) -> Sequence[str]:
    """Return the names of a code location's assets that are made batch by batch, in the order of the data's way."""
    graph = defs.resolve_asset_graph()
    nodes = {key.path[-1]: graph.get(key) for key in graph.get_all_asset_keys() if BATCH_TAG in graph.get(key).tags}
    return in_order({name: [parent.path[-1] for parent in node.parent_keys] for name, node in nodes.items()})
