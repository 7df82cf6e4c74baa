"""Assets that only their job makes: they stand in the graph, and "Materialize all" leaves them out.

Dagster materialises what an `AssetsDefinition` computes whenever somebody says "all". What takes hours (training), or
says nothing about the dataset (quality), is declared by its specification alone, and an op of a job notes that it made
it. Job and asset have the launchpad, the lineage, the metadata and the code version that other assets have.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import dagster as dg

from pmo_assets.defs.versions import CODE_VERSION_TAG, in_force
from pmo_assets.settings import Settings

_SETTINGS = inspect.Parameter("settings", inspect.Parameter.KEYWORD_ONLY, annotation=dg.ResourceParam[Settings])
"""What every such op takes besides what its function asks for: a part of the assets' code versions."""

AFTER = "after"
"""Input of such an op: what has to be done before, if anything."""


def made_by_job(
    name: str, *specs: dg.AssetSpec, pool: str | None = None
) -> Callable[[Callable[..., Any]], dg.OpDefinition]:
    """Return the decorator of an op that makes assets which are declared by their specifications alone.

    The function is written as that of an asset: it takes a configuration and resources by its parameters, and returns
    or yields `dagster.MaterializeResult`; where it yields none, nothing was made.

    Args:
        name: of the op.
        specs: of the assets; the result of one of several names its asset.
        pool: concurrency pool (`dagster.yaml`).
    """
    known = {spec.key: spec for spec in specs}

    def declare(function: Callable[..., Any]) -> dg.OpDefinition:
        takes_settings = _SETTINGS.name in inspect.signature(function).parameters

        @functools.wraps(function)
        def made(context: dg.OpExecutionContext, **given: Any) -> None:
            settings = given[_SETTINGS.name] if takes_settings else given.pop(_SETTINGS.name)
            results = function(context, **given)
            for result in [results] if isinstance(results, dg.MaterializeResult) else results:
                spec = known[result.asset_key] if result.asset_key is not None else specs[0]
                version = in_force(spec, settings).code_version
                tags = {CODE_VERSION_TAG: version} if version is not None else {}
                context.log_event(dg.AssetMaterialization(spec.key, metadata=result.metadata, tags=tags))

        signature = inspect.signature(function)
        parameters = [*signature.parameters.values(), *([] if takes_settings else [_SETTINGS])]
        made.__signature__ = signature.replace(parameters=parameters, return_annotation=None)  # type: ignore[attr-defined]
        made.__annotations__ = {item.name: item.annotation for item in parameters}
        return dg.op(
            name=name,
            description="\n\n".join(spec.description or "" for spec in specs),
            pool=pool,
            ins={AFTER: dg.In(dg.Nothing)},
            out=dg.Out(dg.Nothing),
        )(made)

    return declare
