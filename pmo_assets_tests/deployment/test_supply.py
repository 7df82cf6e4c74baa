"""What is installed is what was pinned, byte for byte, and the bill of materials tells it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from pmo_assets_tests.deployment.compose import ROOT
from pmo_assets_tests.deployment.test_files import pinned

pytestmark = pytest.mark.deployment


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A copy of what an installation reads."""
    folder = tmp_path / "clone"
    folder.mkdir()
    for name in (
        "Makefile",
        "pyproject.toml",
        "constraints.txt",
        "README.md",
        "LICENSE",
        "dagster.yaml",
        "workspace.yaml",
    ):
        shutil.copy(ROOT / name, folder)
    for name in ("pmo_assets", "prompts"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def make(folder: Path, target: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["make", target], cwd=folder, capture_output=True, text=True, check=False)


def test_the_environment_is_installed_with_hashes(clone: Path) -> None:
    done = make(clone, ".venv/.installed")
    assert done.returncode == 0, done.stderr
    shown = subprocess.run(
        [clone / ".venv/bin/python", "-m", "pip", "list", "--format=json"], capture_output=True, check=True
    )
    installed = {item["name"].lower().replace("_", "-"): item["version"] for item in json.loads(shown.stdout)}
    versions = {name.lower().replace("_", "-"): version for name, (version, _) in pinned().items()}
    unknown = {name: version for name, version in installed.items() if versions.get(name) != version}
    assert set(unknown) <= {"pip", "setuptools", "pmo-assets"}  # of the interpreter, and itself


@pytest.mark.parametrize("package", ["uv", "hatchling", "filelock"])
def test_a_file_with_another_hash_is_not_installed(clone: Path, package: str) -> None:
    """The installer, the build backend, a dependency."""
    text = (clone / "constraints.txt").read_text("utf-8")
    block = next(part for part in re.split(r"\n(?=\w)", text) if part.startswith(f"{package}=="))
    other = re.sub(r"sha256:[0-9a-f]{64}", f"sha256:{'0' * 64}", block)
    (clone / "constraints.txt").write_text(text.replace(block, other), "utf-8")
    done = make(clone, ".venv/.installed")
    assert done.returncode != 0
    assert re.search("hash", done.stderr, re.IGNORECASE), done.stderr
    assert not (clone / ".venv/.installed").exists()


def test_the_bill_of_materials_names_what_the_image_installs(clone: Path) -> None:
    done = make(clone, "sbom")
    assert done.returncode == 0, done.stderr
    bill = json.loads((clone / "sbom.cdx.json").read_text("utf-8"))
    assert bill["bomFormat"] == "CycloneDX"
    named = {item["name"].lower().replace("_", "-"): item for item in bill["components"]}
    versions = {name.lower().replace("_", "-"): version for name, (version, _) in pinned().items()}
    assert {"dagster", "dagster-postgres", "pymupdf", "polars"} <= set(named)
    assert all(versions[name] == item["version"] for name, item in named.items() if name not in ("pip", "setuptools"))
    with_licence = [item for item in bill["components"] if item.get("licenses")]
    assert len(with_licence) >= 0.9 * len(bill["components"])  # others state theirs in words of their own
    assert {item["ref"] for item in bill["dependencies"]} > {named["dagster"]["bom-ref"]}
