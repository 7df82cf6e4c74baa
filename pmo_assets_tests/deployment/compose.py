"""`docker/compose.yaml` as tests read it: plain, with its own defaults, without a container engine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
"""The repository."""

DOCKER = ROOT / "docker"


def services(file: str = "compose.yaml") -> dict[str, dict[str, Any]]:
    """Return the services of a compose file by name, with YAML's anchors in place and variables as they are written."""
    found: dict[str, dict[str, Any]] = yaml.safe_load((DOCKER / file).read_text("utf-8"))["services"]
    return found


def ours() -> Mapping[str, dict[str, Any]]:
    """Return the services that are containers of the project's own image."""
    return {name: service for name, service in services().items() if service["image"] == "pmo-assets"}
