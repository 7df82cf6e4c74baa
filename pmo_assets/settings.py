"""Every option, its default and its environment variable.

Settings come from environment variables with the prefix `PMO_` or from a `.env` file in the working directory.
`affects` names the assets whose result an option changes: their code version carries the option's value, so that a
changed option shows as stale in the UI. Options without `affects` change only how the work is done.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from pydantic import Field, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

_DETECTIONS = ("panel_detections", "image_detections")


def _option(default: Any, description: str, affects: tuple[str, ...] = (), **limits: Any) -> Any:
    return Field(default, description=description, json_schema_extra={"affects": list(affects)}, **limits)


class Settings(BaseSettings):
    """Options of the code location and of the `pmo` command; see the module docstring."""

    model_config = SettingsConfigDict(env_prefix="PMO_", env_file=".env", extra="ignore", frozen=True)

    data_root: str = _option("data", "Folder or `s3://bucket/prefix` below which every table and object is stored.")
    s3_endpoint: str | None = _option(None, "Endpoint of an S3-compatible server other than AWS, with scheme.")
    dagster_home: Path = _option(Path(".dagster"), "Folder of the Dagster instance, unless `DAGSTER_HOME` is set.")

    specialty: str = _option(
        "ophthalmology",
        "Which articles and panels are wanted: `ophthalmology`, `everything` (no filter), or the path of a TOML file.",
        ("articles", "dataset_rows", "pubmed_ophtha"),
    )
    batch_size: int = _option(200, "Articles per batch (partition) when articles are registered.", ge=1)

    workers: int = _option(
        max(1, os.cpu_count() or 1),
        "Worker processes inside an asset; 0 works in the main process, without limits.",
        ge=0,
    )
    article_timeout: float = _option(
        180.0, "Seconds that one article may take in one step before it is rejected.", gt=0
    )
    worker_memory_mb: int = _option(
        4096, "Address space of a worker process in MiB; an article beyond is rejected.", ge=0
    )

    max_pdf_mb: float = _option(256.0, "PDFs above this size in MiB are rejected.", ("article_packages",), gt=0)
    max_pages: int = _option(400, "PDFs with more pages are rejected.", ("pdf_figures",), ge=1)
    max_dpi: int = _option(
        600, "Figures are rendered at their bitmap's native resolution up to this.", ("pdf_figures",), ge=36
    )
    max_pixels: int = _option(40_000_000, "Upper bound of a rendered figure's pixels.", ("pdf_figures",), ge=10_000)

    score_threshold: float = _option(
        0.25, "Detections below this score are dropped (paper: 0.25).", _DETECTIONS, ge=0, le=1
    )
    nms_iou: float = _option(0.3, "Non-maximum suppression IoU (paper: 0.3).", _DETECTIONS, ge=0, le=1)
    min_caption_confidence: float = _option(
        0.0, "Captions split with less confidence stay out of the dataset.", ("dataset_rows",), ge=0, le=1
    )

    rejected_warn: float = _option(0.1, "Share of rejected articles in a batch at which the check warns.", ge=0, le=1)
    rejected_fail: float = _option(0.5, "Share of rejected articles in a batch at which the check fails.", ge=0, le=1)
    gallery_panels: int = _option(2000, "The gallery shows at most about so many panels of a release.", ge=1)

    @field_validator("data_root")
    @classmethod
    def _known_storage(cls, value: str) -> str:
        scheme, separator, rest = value.partition("://")
        if not value.strip() or (separator and (scheme != "s3" or not rest.strip("/"))):
            raise ValueError("give a folder or s3://bucket/prefix")
        return value


def settings_digest(settings: Settings, asset: str) -> str:
    """Return a short hash of the options that change `asset`'s result; "" when there is none.

    A specialty's own TOML file counts with its content, so that an edited file shows as well.
    """
    values = {
        name: getattr(settings, name)
        for name, field in Settings.model_fields.items()
        if isinstance(field.json_schema_extra, dict) and asset in (field.json_schema_extra.get("affects") or [])  # type: ignore[operator]
    }
    if not values:
        return ""
    specialty = Path(str(values.get("specialty", "")))
    if specialty.suffix == ".toml" and specialty.is_file():
        values["specialty"] = hashlib.sha256(specialty.read_bytes()).hexdigest()
    return hashlib.sha256(json.dumps(values, sort_keys=True, default=str).encode()).hexdigest()[:8]


def settings_table() -> list[tuple[str, str, str]]:
    """Return (environment variable, default, description) for every option, for the README and `pmo settings`."""
    rows = []
    for name, field in Settings.model_fields.items():
        default = "number of cores" if name == "workers" else str(field.default)
        rows.append((f"PMO_{name.upper()}", default, field.description or ""))
    return rows
