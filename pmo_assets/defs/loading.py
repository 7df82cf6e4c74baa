"""Finds the assets: every module of `pmo_assets.defs.assets` is a group, loaded by itself.

A new group is a new module there, and a stage that none of them names has an asset, too; nothing lists them. The order
of a batch's assets follows from what they read. Assets that only a job makes (`job_assets`) come with their job.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Collection, Iterable, Iterator
from types import ModuleType

import dagster as dg

from pmo_assets.defs.annotated import ANNOTATIONS
from pmo_assets.defs.graph import batch_graph
from pmo_assets.defs.job_assets import JobAsset, jobs_of
from pmo_assets.defs.partitions import batches_of
from pmo_assets.defs.rejections import rejections_asset
from pmo_assets.defs.stage_table import manifest_asset, stage_table
from pmo_assets.pipeline.graph import declared_stages, declared_units
from pmo_assets.records.stores import StorageError
from pmo_assets.records.units import ARTICLE, Unit
from pmo_assets.settings import Settings
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.manifests import has_batches

GROUPS = "pmo_assets.defs.assets"
"""The package whose modules are the groups; by name, because groups may ask here what there is."""


def _groups() -> Iterator[ModuleType]:
    package = importlib.import_module(GROUPS)
    for item in sorted(pkgutil.iter_modules(package.__path__, f"{package.__name__}."), key=lambda item: item.name):
        yield importlib.import_module(item.name)


def _made_by_jobs(group: ModuleType) -> list[JobAsset]:
    return [value for value in vars(group).values() if isinstance(value, JobAsset)]


def jobs_of_groups() -> list[dg.JobDefinition]:
    """Return the jobs that make assets which nothing else makes."""
    return jobs_of(item for group in _groups() for item in _made_by_jobs(group))


def group_assets() -> list[dg.AssetsDefinition]:
    """Return the assets of all groups, by group and name."""
    found: dict[str, dg.AssetsDefinition] = {}
    for group in _groups():
        for value in vars(group).values():
            if isinstance(value, dg.AssetsDefinition):
                found.setdefault(min(key.path[-1] for key in value.keys), value)
        own = {key for assets in found.values() for key in assets.keys}
        if specs := [spec for item in _made_by_jobs(group) for spec in item.specs if spec.key not in own]:
            found[min(spec.key.path[-1] for spec in specs)] = dg.AssetsDefinition(specs=specs)
    # A unit's manifests and a stage that nothing is said of for the UI have their asset all the same.
    manifests = [manifest_asset(unit) for unit in declared_units() if unit.batch not in found]
    return [*found.values(), *manifests, *(stage_table(name) for name in declared_stages() if name not in found)]


def units_at_work(settings: Settings) -> list[Unit]:
    """Return the units that there is something to make of: articles, and each of which a batch is registered.

    Where the data root cannot be asked now, all of them: what is not seen may be there.
    """
    data_root = DataRoot(settings.data_root, settings.s3_endpoint)
    try:
        return [unit for unit in declared_units() if unit == ARTICLE or has_batches(data_root, unit)]
    except StorageError:
        return list(declared_units())


def as_set(
    assets: Iterable[dg.AssetsDefinition], settings: Settings, units: Collection[Unit]
) -> list[dg.AssetsDefinition]:
    """Return the assets, of which Dagster makes those that there is something to make of; the others are to be seen.

    Where no annotations are set, `annotations` is not made. Dagster cannot make an asset that is not partitioned in a
    run of a batch; it would make what lies before and behind it in two runs of every batch. Nor are the assets of a
    unit of which there is no batch (`units_at_work`): of assets with batches of two units *Materialize all* makes all
    batches, and lets nobody choose one.
    """
    absent = [batches_of(unit) for unit in declared_units() if unit not in units]

    def is_made(item: dg.AssetsDefinition) -> bool:
        if dg.AssetKey(ANNOTATIONS) in item.keys:
            return bool(settings.annotations)
        return all(spec.partitions_def not in absent for spec in item.specs)

    return [item if is_made(item) else dg.AssetsDefinition(specs=list(item.specs)) for item in assets]


def all_assets() -> list[dg.AssetsDefinition]:
    """Return the assets of all groups, and for each unit the one that collects the rejections of its assets."""
    assets = group_assets()
    return [*assets, *(rejections_asset(batch_graph(assets, unit), unit) for unit in declared_units())]
