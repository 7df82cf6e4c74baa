"""The graph of a batch as Dagster has it: its assets in order, what each is made of, by which code, and what it may
lose.

One model, read off the declared assets; whatever asks for a batch's stages asks here. The stages themselves, and how
one unit goes through them, are the pipeline's (`pmo_assets.pipeline.graph`). What does not belong here: what is stale
(`staleness`), and where tables lie.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import dagster as dg

from pmo_assets.pipeline.graph import in_order, losing_stages
from pmo_assets.records.stages import Losing
from pmo_assets.records.units import ARTICLE, Unit

BATCH_TAG: Final = "pmo/batch"
"""Tag of every asset that is made batch by batch: the name of the unit that its batches hold."""


@dataclass(frozen=True)
class BatchGraph:
    """The assets that are made of a unit's batches.

    Attributes:
        parents: those upstream of each, in the order of the data's way.
        versions: of code, before settings unless said otherwise.
        losing: kind of thing that each can lose (`records.stages.Stage.loses`), in order, for those that can.
    """

    parents: Mapping[str, Sequence[str]]
    versions: Mapping[str, str | None]
    losing: Mapping[str, Losing]

    @property
    def stages(self) -> tuple[str, ...]:
        """Return the names of the assets in the order of the data's way."""
        return tuple(self.parents)

    @property
    def last(self) -> tuple[str, ...]:
        """Return those that no other one reads."""
        read = {parent for parents in self.parents.values() for parent in parents}
        return tuple(name for name in self.parents if name not in read)


def batch_graph(assets: Iterable[dg.AssetsDefinition], unit: Unit = ARTICLE) -> BatchGraph:
    """Return the graph of a unit's batches among declared assets."""
    specs = {spec.key.path[-1]: spec for item in assets for spec in item.specs if spec.tags.get(BATCH_TAG) == unit.name}
    upstream = {name: [dep.asset_key.path[-1] for dep in spec.deps] for name, spec in specs.items()}
    return _graph(upstream, {name: spec.code_version for name, spec in specs.items()}, unit)


def graph_of_location(defs: dg.Definitions, unit: Unit = ARTICLE) -> BatchGraph:
    """Return the graph of a code location, with the versions that its settings give."""
    graph = defs.resolve_asset_graph()
    nodes = {
        key.path[-1]: node
        for key in graph.get_all_asset_keys()
        if (node := graph.get(key)).tags.get(BATCH_TAG) == unit.name
    }
    upstream = {name: [key.path[-1] for key in node.parent_keys] for name, node in nodes.items()}
    return _graph(upstream, {name: node.code_version for name, node in nodes.items()}, unit)


def _graph(upstream: Mapping[str, Sequence[str]], versions: Mapping[str, str | None], unit: Unit) -> BatchGraph:
    # What is one table for all batches makes a batch stale only by what it says of that batch.
    parents = {name: [parent for parent in upstream[name] if parent in upstream] for name in in_order(upstream)}
    losing = {name: loses for name, loses in losing_stages(unit).items() if name in parents}
    return BatchGraph(parents, {name: versions[name] for name in parents}, losing)
