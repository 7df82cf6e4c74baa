"""Checks of the Dagster home, for `pmo doctor`."""

from __future__ import annotations

from pathlib import Path

import yaml

from pmo_assets.configuration.findings import Finding
from pmo_assets.configuration.home import home_place, is_read_only
from pmo_assets.defs.instance import instance_config, open_instance_to_read
from pmo_assets.settings import Settings


def instance_findings(settings: Settings) -> list[Finding]:
    """Open the Dagster home, if there is one, and say whether its databases and its `dagster.yaml` are today's."""
    home = home_place(settings).path
    if not home.is_dir():
        return [Finding("Dagster instance", "ok", "made at first use")]
    with open_instance_to_read(settings) as instance:
        runs = instance.get_runs_count()
        stores = (instance.run_storage, instance.event_log_storage, instance.schedule_storage)
        versions = [store.alembic_version() for store in stores if store is not None]
    old = [version for version in versions if version is not None and version[0] != version[1]]
    if old:
        return [
            Finding(
                "Dagster instance",
                "fail",
                f"its databases have schema {old[0][0]}, this Dagster {old[0][1]}",
                f"DAGSTER_HOME={home} dagster instance migrate",
            )
        ]
    copied = ", as a copy: its disk is read-only" if is_read_only(home) else ""
    opens = Finding("Dagster instance", "ok", f"opens{copied}, {runs} runs, schema is this Dagster's")
    return [opens, *_configuration(home)]


def _configuration(home: Path) -> list[Finding]:
    """Compare the home's `dagster.yaml` with the project's: pools and monitoring keep two runs off one GPU."""
    here = yaml.safe_load((home / "dagster.yaml").read_text("utf-8")) or {}
    project = yaml.safe_load(instance_config().read_text("utf-8"))
    pools = (here.get("concurrency") or {}).get("pools") or {}
    missing = [name for name in ("run_monitoring", "run_retries", "retention") if name in project and name not in here]
    if pools.get("granularity") != "op" or "default_limit" not in pools:
        missing.insert(0, "concurrency.pools")
    if "tag_concurrency_limits" not in ((here.get("concurrency") or {}).get("runs") or {}):
        missing.append("concurrency.runs.tag_concurrency_limits")
    if not missing:
        return [Finding("dagster.yaml", "ok", f"pools have a limit of {pools['default_limit']} by default")]
    return [
        Finding(
            "dagster.yaml",
            "warn",
            f"{home / 'dagster.yaml'} lacks {', '.join(missing)}",
            f"take over from {instance_config()}",
        )
    ]
