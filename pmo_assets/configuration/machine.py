"""Checks of the machine and of where data go: data root, disk, memory, processors, limits."""

from __future__ import annotations

import os
import shutil
import tempfile
import uuid
from pathlib import Path
from typing import Final

import psutil
from pydantic import SecretStr

from pmo_assets.configuration.findings import Finding, State
from pmo_assets.configuration.home import home_left_behind, home_place, is_read_only
from pmo_assets.configuration.reading import Configuration
from pmo_assets.settings import Settings
from pmo_assets.storage.data_root import DataRoot

FREE_MB: Final = 2048
"""Less free disk is a failure: temporary files of one step over 200 articles may take it."""

SOME_FREE_MB: Final = 20 * 1024
"""Less is a warning."""

_NETWORK_DISKS: Final = ("nfs", "cifs", "smb", "9p", "afs", "lustre", "gpfs", "ceph", "glusterfs", "fuse.sshfs")


def settings_findings(configuration: Configuration) -> list[Finding]:
    """Return the problems of the settings, and those that are set with their places; secrets are not shown."""
    wrong = [
        Finding(
            item.variable,
            "fail",
            f"{item.text} ({item.origin})",
            "" if "did you mean" in item.text else "set another value, or unset it",
        )
        for item in configuration.problems
    ]
    bad = {item.variable for item in configuration.problems}
    for name, origin in configuration.origins.items():
        variable, value = f"PMO_{name.upper()}", getattr(configuration.settings, name)
        if variable not in bad:
            shown = "(a secret, not shown)" if isinstance(value, SecretStr) else str(value)
            wrong.append(Finding(variable, "ok", f"{shown} ({origin})"))
    return wrong or [Finding("settings", "ok", "all are the defaults")]


def data_root_findings(settings: Settings) -> list[Finding]:
    """Write a file, fail to create it a second time, delete it: every batch needs these of a data root."""
    root = DataRoot(settings.data_root, settings.s3_endpoint)
    where = root.uri("").rstrip("/")
    if root.is_local and not Path(where).is_dir():
        parent = _nearest(Path(where))
        try:
            tempfile.TemporaryDirectory(prefix=".doctor-", dir=parent).cleanup()
        except OSError as error:
            text = f"{where} cannot be made: {error.strerror or error} ({parent})"
            return [Finding("data root", "fail", text, "change the permissions, or set PMO_DATA_ROOT")]
        return [Finding("data root", "ok", f"{where}: made at first use")]
    if root.is_local and is_read_only(Path(where)):
        return [
            Finding(
                "data root",
                "warn",
                f"{where}: can be read, not written: its disk is read-only, or it is somebody else's",
                "enough to look; for `pmo run` change the permissions, or set PMO_DATA_ROOT",
            )
        ]
    folder = f".doctor-{uuid.uuid4().hex}"
    key = f"{folder}/file"
    try:
        first, second = root.create(key, b"doctor"), root.create(key, b"doctor")
    finally:
        root.delete_tree(folder)
    if not first or second:
        return [
            Finding(
                "data root",
                "fail",
                f"{where}: a file that is there can be created again, so two commands could take the same batch number",
                "use a server that honours If-None-Match, or a disk with links",
            )
        ]
    return [Finding("data root", "ok", f"{where}: can be written; what is there is not created twice")]


def disk_findings(settings: Settings) -> list[Finding]:
    """Say how much room there is, of the data root or, for S3, of temporary files."""
    root = settings.data_root
    place = Path(tempfile.gettempdir()) if root.startswith("s3://") else _nearest(Path(root).expanduser().absolute())
    free = shutil.disk_usage(place).free // 2**20
    state: State = "fail" if free < FREE_MB else "warn" if free < SOME_FREE_MB else "ok"
    mend = "" if state == "ok" else "free some, or set PMO_DATA_ROOT to a larger disk"
    return [Finding("disk", state, f"{free / 1024:.1f} GiB free at {place}", mend)]


def home_findings(settings: Settings) -> list[Finding]:
    """Say where the Dagster home is and why there; SQLite does not belong on a network disk."""
    home = home_place(settings)
    findings = [Finding("Dagster home", "ok", f"{home.path} ({home.why})")]
    kind = _disk_type(home.path)
    if kind.startswith(_NETWORK_DISKS):
        findings.append(
            Finding(
                "Dagster home",
                "warn",
                f"{home.path} is on a network disk ({kind}), where SQLite may lock or break",
                "set PMO_DAGSTER_HOME to a local folder, or use PostgreSQL (docs/deployment.md)",
            )
        )
    if (old := home_left_behind(home.path)) is not None:
        findings.append(
            Finding(
                "Dagster home",
                "warn",
                f"{old} is from an older version and is not used",
                f"delete it, or move it to {home.path}",
            )
        )
    return findings


def memory_findings(settings: Settings, total_mb: int | None = None, cores: int | None = None) -> list[Finding]:
    """Say whether the workers fit the machine.

    Args:
        settings: number of workers, and memory that an article may take in each.
        total_mb: memory of the machine in MiB; looked up if None.
        cores: processors; looked up if None.
    """
    total = total_mb or psutil.virtual_memory().total // 2**20
    cores = cores or os.cpu_count() or 1
    limit = settings.workers * settings.worker_memory_mb
    findings = [Finding("memory", "ok", f"{total} MiB for {settings.workers} workers")]
    if limit > total:
        findings = [
            Finding(
                "memory",
                "warn",
                f"{settings.workers} workers x {settings.worker_memory_mb} MiB are more than the {total} MiB there "
                "are: several very large articles at once may exhaust it",
                f"PMO_WORKERS={max(1, total // max(settings.worker_memory_mb, 1))}, or a lower PMO_WORKER_MEMORY_MB",
            )
        ]
    if settings.workers > cores:
        findings.append(
            Finding("processors", "warn", f"{settings.workers} workers on {cores} cores", f"PMO_WORKERS={cores}")
        )
    else:
        findings.append(Finding("processors", "ok", f"{settings.workers} workers on {cores} cores"))
    return findings


def entrez_findings(settings: Settings) -> list[Finding]:
    """Say whether NCBI can be told whom to write to."""
    if settings.entrez_email:
        return [Finding("e-mail for Entrez", "ok", settings.entrez_email)]
    return [
        Finding(
            "e-mail for Entrez", "warn", "not set: `pmo refresh` and `pmo pmc find` need it", "set PMO_ENTREZ_EMAIL"
        )
    ]


def _nearest(path: Path) -> Path:
    """Return the path, or the nearest folder above it that exists."""
    return next(place for place in (path, *path.parents) if place.exists())


def _disk_type(path: Path) -> str:
    """Return the type of the file system that holds a path, e.g. "ext4"; "" if that is not known."""
    mounts = {Path(item.mountpoint): item.fstype for item in psutil.disk_partitions(all=True)}
    return next((mounts[place] for place in (path, *path.parents) if place in mounts), "").lower()
