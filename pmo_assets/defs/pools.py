"""The pools of the assets as rows of the instance, made before any run needs one."""

from __future__ import annotations

import dagster as dg

from pmo_assets.defs.loading import all_assets


def pools() -> list[str]:
    """Return the names of all pools that steps of assets hold."""
    found = {asset.op.pool for asset in all_assets() if asset.is_executable}
    return sorted(pool for pool in found if pool is not None)


def make_pools(instance: dg.DagsterInstance) -> list[str]:
    """Give every pool that the instance does not know the default limit of `dagster.yaml`; return their names.

    Dagster does so itself when the first step asks for a pool. With PostgreSQL one of two runs that do it at the same
    time fails: in its transaction an INSERT has failed, after which PostgreSQL takes no UPDATE.
    """
    storage = instance.event_log_storage
    known = {pool.name for pool in storage.get_pool_limits()}
    missing = [pool for pool in pools() if pool not in known]
    for pool in missing:
        storage.initialize_concurrency_limit_to_default(pool)
    return missing
