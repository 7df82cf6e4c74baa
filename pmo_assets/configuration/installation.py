"""Checks of the installation: Python, packages, extras that the settings need, networks."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib import metadata, resources
from pathlib import Path
from typing import Final

from packaging.requirements import Requirement

from pmo_assets.configuration.findings import Finding
from pmo_assets.settings import Settings

DISTRIBUTION: Final = "pmo-assets"

_INSTALL: Final = "uv pip install --constraint constraints.txt -e ."


def python_version(version: tuple[int, int] = (sys.version_info[0], sys.version_info[1])) -> list[Finding]:
    """Say whether Python is new enough."""
    found = ".".join(map(str, version))
    if version >= (3, 11):
        return [Finding("Python", "ok", found)]
    return [Finding("Python", "fail", found, "install Python 3.11 or newer")]


def packages(distribution: str = DISTRIBUTION) -> list[Finding]:
    """Say which required packages are missing, or installed in a version that is not required."""
    try:
        required = metadata.requires(distribution) or []
    except metadata.PackageNotFoundError:
        return [Finding("packages", "warn", f"{distribution} is not installed: versions cannot be checked", _INSTALL)]
    parsed = [item for item in map(Requirement, required) if item.marker is None or item.marker.evaluate({"extra": ""})]
    faults = requirement_faults(parsed)
    if faults:
        return [Finding("packages", "fail", "; ".join(faults), f"{_INSTALL} (in the clone)")]
    return [Finding("packages", "ok", f"all {len(parsed)} as required")]


def requirement_faults(required: Iterable[Requirement]) -> list[str]:
    """Return the requirements that installed packages do not meet, e.g. "sqlalchemy 2.1.9 (wanted <2.1,>=2.0)"."""
    faults = []
    for item in required:
        try:
            version = metadata.version(item.name)
        except metadata.PackageNotFoundError:
            faults.append(f"{item.name} is not installed (wanted {item.specifier or 'any version'})")
            continue
        if not item.specifier.contains(version, prereleases=True):
            faults.append(f"{item.name} {version} (wanted {item.specifier})")
    return faults


def extras_needed(settings: Settings) -> dict[str, str]:
    """Return the extras without which these settings do not work, and the setting that needs each."""
    needed = {
        "models": [
            ("PMO_PANEL_CHECKPOINT", settings.panel_checkpoint is not None and settings.detector_runtime == "torch"),
            ("PMO_IMAGE_CHECKPOINT", settings.image_checkpoint is not None and settings.detector_runtime == "torch"),
            ("PMO_TEXT_READER=easyocr", settings.text_reader == "easyocr"),
        ],
        "llm": [("PMO_LLM_OFFLINE", settings.llm_offline), ("PMO_VLM_OFFLINE", settings.vlm_offline)],
        "biomedica": [("PMO_BIOMEDICA", _on_the_hub(settings.biomedica))],
        "regions": [("PMO_REGION_TEXTS=minilm", settings.region_texts == "minilm")],
    }
    if settings.executor in ("ray", "celery", "k8s"):
        needed[settings.executor] = [("PMO_EXECUTOR", True)]
    return {
        extra: next(name for name, wanted in reasons if wanted)
        for extra, reasons in needed.items()
        if any(wanted for _, wanted in reasons)
    }


def _on_the_hub(place: str | None) -> bool:
    return place is not None and (place.startswith("hf://") or not Path(place).expanduser().exists())


def extras(settings: Settings, distribution: str = DISTRIBUTION) -> list[Finding]:
    """Say which extras are installed; one that a setting needs and that is not there is a failure."""
    try:
        about = metadata.metadata(distribution)
    except metadata.PackageNotFoundError:
        return []
    required = [Requirement(text) for text in metadata.requires(distribution) or []]
    names = sorted(set(about.get_all("Provides-Extra") or ()))
    missing = {
        extra: requirement_faults(
            item for item in required if item.marker and item.marker.evaluate({"extra": extra}) and _of_extra(item)
        )
        for extra in names
    }
    needed = extras_needed(settings)
    complete = [extra for extra, faults in missing.items() if not faults]
    findings = [Finding("extras", "ok", f"installed: {', '.join(complete) or 'none'}; none other is needed")]
    broken = [
        Finding(
            f"extra {extra}",
            "fail",
            f"{reason} needs it: {'; '.join(missing[extra])}",
            f"uv pip install --constraint constraints.txt -e '.[{extra}]'",
        )
        for extra, reason in needed.items()
        if missing.get(extra)
    ]
    return broken or findings


def _of_extra(item: Requirement) -> bool:
    return item.marker is not None and not item.marker.evaluate({"extra": ""})


def networks(settings: Settings) -> list[Finding]:
    """Load the package's networks, and those that are set in their place, as a worker would."""
    import onnxruntime

    folder = Path(str(resources.files("pmo_assets"))) / "weights"
    shipped = sorted(folder.glob("*.onnx"))
    if not shipped:
        return [Finding("networks", "fail", f"{folder} holds none", "install pmo-assets again")]
    chosen = (settings.detector_weights, settings.mark_weights, settings.image_type_weights)
    findings = []
    for file in [*shipped, *(path.expanduser() for path in chosen if path is not None)]:
        try:
            onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
        except Exception as error:
            text = " ".join(str(error).split())[:200]
            findings.append(Finding("networks", "fail", f"{file}: {text}", "fetch or export the file again"))
    return findings or [
        Finding("networks", "ok", f"{', '.join(file.stem for file in shipped)}: onnxruntime loads them")
    ]


def device(settings: Settings) -> list[Finding]:
    """Say whether the networks can run where they are to."""
    import onnxruntime

    if settings.detector_device == "cpu":
        return [Finding("device", "ok", "cpu")]
    if "CUDAExecutionProvider" in onnxruntime.get_available_providers():
        return [Finding("device", "ok", "cuda")]
    return [
        Finding(
            "device",
            "fail",
            "PMO_DETECTOR_DEVICE=cuda, and this onnxruntime knows no CUDA",
            "pip uninstall onnxruntime; pip install onnxruntime-gpu (docs/models.md)",
        )
    ]
