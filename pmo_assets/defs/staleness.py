"""Staleness: assets that were made with other code or settings than are in force, or before their inputs.

The rule is `out_of_date`. It reads provenances, which stand in the tables (`pmo_assets.storage.provenance`), so that
every Dagster home on every machine gives the same answer for a data root; an instance is asked, two queries per asset,
only for tables of an older version, which hold none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import dagster as dg

from pmo_assets.configuration.remembered import differences
from pmo_assets.defs.annotated import APPLIED_BY, Decisions, applied_digest, decisions_in_force
from pmo_assets.defs.graph import BatchGraph, graph_of_location
from pmo_assets.defs.io_manager import MADE_WITH
from pmo_assets.defs.stale_counts import CURRENT, STALE_BATCHES
from pmo_assets.defs.versions import CODE_VERSION_TAG, DATA_VERSION_TAG, applied_in, code_version_in, version_in_force
from pmo_assets.records.stages import Losing
from pmo_assets.records.stores import SystemicError
from pmo_assets.records.units import ARTICLE, Unit
from pmo_assets.settings import Settings
from pmo_assets.settings.shaping import affected_assets, affecting_settings, noted_settings, settings_digest
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.provenance import Provenance
from pmo_assets.storage.tables import Tables

NOT_NOTED: Final = "settings (which ones was not noted then)"
"""Reason of staleness where an older version made an asset and did not note its settings."""

_MADE: Final = dg.DagsterEventType.ASSET_MATERIALIZATION


@dataclass(frozen=True)
class Materialised:
    """The latest materialisation of an asset.

    Attributes:
        order: place in the event log; 0 if this home knows nothing of it.
        code_version: that made it.
        applied: digest of the decisions of people that it applied; "" if none.
        metadata: of the materialisation; empty where only versions were asked for.
        provenance: from its table; None for a table of an older version.
    """

    order: int
    code_version: str | None
    applied: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    provenance: Provenance | None = None


@dataclass(frozen=True)
class Stages:
    """The assets of a batch as they would be made now.

    Attributes:
        parents: those upstream of each, in the order of the data's way.
        versions: of code and settings.
        losing: kind of thing that each can lose, for those that can.
        decisions: function of batches: the decisions of people that their assets have to apply, per batch.
        provenances: says of an asset how its tables were made, of some batches or of all (`Tables.provenances`).
    """

    parents: Mapping[str, Sequence[str]]
    versions: Mapping[str, str | None]
    losing: Mapping[str, Losing] = field(default_factory=dict)
    decisions: Callable[[Collection[str]], Mapping[str, Decisions]] = lambda batches: {batch: {} for batch in batches}
    provenances: Callable[[str, Collection[str] | None], Mapping[str, Provenance | None]] = lambda asset, batches: {}


def stages_in_force(declared: BatchGraph, settings: Settings) -> Stages:
    """Return the assets of a batch as they would be made with these settings."""
    data_root = DataRoot(settings.data_root, settings.s3_endpoint)
    return Stages(
        declared.parents,
        {name: version_in_force(name, version, settings) for name, version in declared.versions.items()},
        declared.losing,
        decisions_in_force(settings, data_root),
        Tables(data_root).provenances,
    )


def stages_of_location(defs: dg.Definitions, data_root: DataRoot, unit: Unit = ARTICLE) -> Stages:
    """Return the assets of a batch as a code location would make them, with what people decided below a data root."""
    graph = graph_of_location(defs, unit)
    return Stages(
        graph.parents,
        graph.versions,
        graph.losing,
        decisions_in_force((defs.resources or {})["settings"], data_root),
        Tables(data_root).provenances,
    )


def out_of_date(
    stages: Stages,
    made: Mapping[str, Materialised],
    decided: Decisions,
    exists: Callable[[str], bool] = lambda name: True,
) -> list[str]:
    """Return the assets of a batch that are not up to date, in the order of the data's way.

    Args:
        stages: the assets, as they would be made now.
        made: latest materialisation of each.
        decided: the decisions of people that assets have to apply to the batch.
        exists: says of an asset whether its table is there.
    """
    stale: list[str] = []
    for name, parents in stages.parents.items():
        own = made.get(name)
        ok = (
            own is not None
            and own.code_version == stages.versions[name]
            and not any(parent in stale for parent in parents)
            and all(
                (upstream := made.get(parent)) is not None and _is_made_of(own, parent, upstream) for parent in parents
            )
            and not (name in APPLIED_BY and own.applied != decided.get(name, ""))
            and exists(name)
        )
        if not ok:
            stale.append(name)
    return stale


def _is_made_of(own: Materialised, name: str, upstream: Materialised) -> bool:
    """Say whether something was made of what an asset upstream is now; by the event log where tables do not say it."""
    if own.provenance is not None and upstream.provenance is not None:
        return own.provenance.inputs.get(name) == upstream.provenance.identity
    return 0 < upstream.order < own.order


def made_of_batches(
    instance: dg.DagsterInstance, stages: Stages, batch: str | None = None
) -> dict[str, dict[str, Materialised]]:
    """Return how every batch's assets, or those of one, were made last, by batch and asset."""
    found: dict[str, dict[str, Materialised]] = {}
    for name in stages.parents:
        tables = stages.provenances(name, [batch] if batch is not None else None)
        for partition, provenance in tables.items():
            if provenance is not None:
                found.setdefault(partition, {})[name] = Materialised(
                    0,
                    provenance.code_version or None,
                    provenance.applied or "",
                    {MADE_WITH: provenance.settings},
                    provenance,
                )
    for name, partition, made in _remembered(instance, stages, found, batch):
        found.setdefault(partition, {})[name] = made
    return found


def _remembered(
    instance: dg.DagsterInstance, stages: Stages, said: Mapping[str, Mapping[str, Materialised]], batch: str | None
) -> Iterator[tuple[str, str, Materialised]]:
    """Yield (asset, batch, materialisation) from the event log, for tables without provenance."""
    storage = instance.event_log_storage
    for name in stages.parents:
        key = dg.AssetKey(name)
        orders = dict(storage.get_latest_storage_id_by_partition(key, _MADE, {batch} if batch is not None else None))
        for partition in [partition for partition in orders if name in said.get(partition, {})]:
            yield name, partition, replace(said[partition][name], order=orders.pop(partition))
        if not orders:
            continue
        chosen = [batch] if batch is not None else None
        tags = storage.get_latest_tags_by_partition(key, _MADE, [DATA_VERSION_TAG], chosen)
        versions = {partition: tags.get(partition, {}).get(DATA_VERSION_TAG, "") for partition in orders}
        # What an older version of this package made says in its metadata what versions say now.
        old = {
            order: partition
            for partition, order in orders.items()
            if code_version_in(versions[partition]) is None
            or (name in APPLIED_BY and applied_in(versions[partition]) is None)
        }
        noted = _noted(instance, key, old)
        for partition, order in orders.items():
            version = versions[partition]
            made = noted.get(partition) or Materialised(order, None)
            known = replace(made, code_version=code_version_in(version) or made.code_version)
            applied = applied_in(version)
            yield name, partition, known if applied is None else replace(known, applied=applied)


_EVENTS: Final = 500
"""Materialisations that are fetched at once, some 20 kB each."""


def _noted(instance: dg.DagsterInstance, key: dg.AssetKey, orders: Mapping[int, str]) -> dict[str, Materialised]:
    """Return how partitions were made, by what the materialisations say that have these places in the event log."""
    places = list(orders)
    wanted = (places[first : first + _EVENTS] for first in range(0, len(places), _EVENTS))
    return {
        orders[record.storage_id]: _made(record)
        for chosen in wanted
        for record in instance.fetch_materializations(
            dg.AssetRecordsFilter(asset_key=key, storage_ids=chosen), limit=len(chosen)
        ).records
    }


def latest(instance: dg.DagsterInstance, key: dg.AssetKey, partition: str | None) -> Materialised | None:
    """Return the latest materialisation of an asset, or of a partition of it; None if it was never made."""
    records = instance.fetch_materializations(
        dg.AssetRecordsFilter(asset_key=key, asset_partitions=[partition] if partition is not None else None), limit=1
    ).records
    return _made(records[0]) if records else None


def _made(record: dg.EventLogRecord) -> Materialised:
    materialization = record.asset_materialization
    tags = dict(materialization.tags or {}) if materialization is not None else {}
    metadata = {key: item.value for key, item in materialization.metadata.items()} if materialization else {}
    return Materialised(record.storage_id, tags.get(CODE_VERSION_TAG), applied_digest(metadata), metadata)


@dataclass(frozen=True)
class Stale:
    """Stale assets of the batches that were begun.

    Attributes:
        made: latest materialisations, by batch and asset.
        assets: stale assets by batch, in the order of the graph; batches that are up to date are left out.
        decided: the decisions of people that assets have to apply, by batch.
    """

    made: Mapping[str, Mapping[str, Materialised]]
    assets: Mapping[str, Sequence[str]]
    decided: Mapping[str, Decisions]

    def batches(self, asset: str) -> list[str]:
        """Return the batches of which an asset was made and is stale."""
        return [batch for batch, names in self.assets.items() if asset in names and asset in self.made[batch]]


def stale_of_batches(instance: dg.DagsterInstance, stages: Stages) -> Stale:
    """Return the stale assets of the batches that are partitions and were begun."""
    partitions = set(instance.get_dynamic_partitions(ARTICLE.batch))
    made = {batch: found for batch, found in made_of_batches(instance, stages).items() if batch in partitions}
    decided = stages.decisions(made)
    assets = {batch: out_of_date(stages, found, decided[batch]) for batch, found in sorted(made.items())}
    return Stale(made, {batch: names for batch, names in assets.items() if names}, decided)


def check_made_with(tables: Tables, settings: Settings) -> None:
    """Make sure that the tables of all finished batches were made with these settings: a release is never a mix.

    Tables of an older version, which do not say it, are let pass.

    Raises:
        SystemicError: if batches were made with others; the message names them.
    """
    assets = {asset for option in Settings.model_fields for asset in affected_assets(option)}
    finished = tables.batches("dataset_rows")
    other: dict[str, list[str]] = {}
    for asset in sorted(assets):
        now = affecting_settings(settings, asset)
        for batch, made in tables.provenances(asset, finished).items():
            if made is not None and (found := differences(made.settings, now)):
                other.setdefault(batch, []).extend(f"PMO_{name.upper()}" for name in found)
    if other:
        batch, names = next(iter(sorted(other.items())))
        raise SystemicError(
            f"{len(other)} of {len(finished)} batches were made with other settings, e.g. batch {batch} "
            f"({', '.join(sorted(set(names)))}): a release is made of batches with the same settings only. Make them "
            "again with `pmo run`, or in the UI with the job renew"
        )


def _halves(version: str | None, digest: str) -> tuple[str, str]:
    """Return the part of a code version that stands for code, and the part that stands for settings."""
    code, _, settings = (version or "").rpartition("-") if digest else (version or "", "", "")
    return code, settings


def reasons(instance: dg.DagsterInstance, stages: Stages, stale: Stale, asset: str, settings: Settings) -> list[str]:
    """Return the reasons why an asset is stale, in words: settings with old and new values, code, assets upstream."""
    now = noted_settings(settings, asset)
    digest = settings_digest(settings, asset)
    code, options = _halves(stages.versions[asset], digest)
    batches = stale.batches(asset)
    others = {
        version: batch
        for batch in batches
        if (version := stale.made[batch][asset].code_version) != stages.versions[asset]
    }
    found: Counter[str] = Counter()
    for version, batch in others.items():
        old_code, old_options = _halves(version, digest)
        if old_code != code:
            found["the code, a prompt or a network of the package"] += 1
        if old_options != options:
            found.update(_changed(instance, stale, asset, batch, now) or [NOT_NOTED])
    if asset in APPLIED_BY:
        decided = {
            applied: batch
            for batch in batches
            if (applied := stale.made[batch][asset].applied) != stale.decided[batch].get(asset, "")
        }
        for batch in decided.values():
            found.update(_changed(instance, stale, asset, batch, now) or ["what people annotated"])
    upstream = [name for name in stages.parents[asset] if any(name in stale.assets[batch] for batch in batches)]
    if not found and upstream:
        return [f"{' and '.join(upstream)} upstream"]
    return sorted(found) or ["what it is made of was made again"]


def _changed(instance: dg.DagsterInstance, stale: Stale, asset: str, batch: str, now: Mapping[str, Any]) -> list[str]:
    """Return the settings that changed since a batch's asset was made; empty if they were not noted then."""
    made: Materialised | None = stale.made[batch][asset]
    if (
        made is None or made.provenance is None or asset in APPLIED_BY
    ):  # which decisions were in force stands in the event log only
        made = latest(instance, dg.AssetKey(asset), batch)
    before = made.metadata.get(MADE_WITH) if made is not None else None
    if not isinstance(before, Mapping):
        return []
    return [
        f"PMO_{name.upper()} {_shown(before.get(name))} → {_shown(now.get(name))}"
        for name in sorted({*before, *now})
        if before.get(name) != now.get(name)
    ]


def _shown(value: Any) -> str:
    if isinstance(value, list):  # digests of files
        return " ".join(str(item)[:8] for item in value)
    if isinstance(value, bool):  # as in `.env`
        return str(value).lower()
    return "not set" if value is None else str(value)


def evaluations(
    instance: dg.DagsterInstance, stages: Stages, settings: Settings, chosen: Sequence[str] | None = None
) -> dict[str, dg.AssetCheckResult]:
    """Return the result of the check `current` of each asset of a batch.

    Args:
        instance: that records materialisations.
        stages: the assets, as they would be made now.
        settings: options in force.
        chosen: only these assets; all if None.
    """
    stale = stale_of_batches(instance, stages)
    return {name: _result(instance, stages, stale, settings, name) for name in chosen or stages.parents}


def _result(
    instance: dg.DagsterInstance, stages: Stages, stale: Stale, settings: Settings, name: str
) -> dg.AssetCheckResult:
    batches = stale.batches(name)
    why = reasons(instance, stages, stale, name, settings) if batches else []
    words = (
        f"{len(batches)} of {len(stale.made)} batches are stale. Changed: {'; '.join(why)}. The job renew makes "
        "exactly what is stale (Jobs → renew → Launchpad → Launch run)."
    )
    return dg.AssetCheckResult(
        asset_key=dg.AssetKey(name),
        check_name=CURRENT,
        passed=not batches,
        severity=dg.AssetCheckSeverity.WARN,
        description=words if batches else "Every batch is up to date.",
        metadata={STALE_BATCHES: len(batches), "batches": len(stale.made), "for_example": ", ".join(batches[:5])},
    )
