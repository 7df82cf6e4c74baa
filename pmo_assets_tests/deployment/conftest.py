"""The image, built by its Dockerfile, and the services of compose.yaml on a machine of their own."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from pmo_assets_tests.deployment.builder import Builder
from pmo_assets_tests.deployment.compose import DOCKER, ROOT
from pmo_assets_tests.deployment.containers import Image, Machine, why_not
from pmo_assets_tests.deployment.stack import Stack, resolved, tool


@pytest.fixture(scope="session")
def builder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Builder]:
    """A builder with the base of the images; skips where there is none, or no namespaces."""
    if (reason := why_not()) is not None:
        pytest.skip(reason)
    builder = Builder(tmp_path_factory.mktemp("images"))
    builder.make_base()
    yield builder
    subprocess.run(["rm", "-rf", "--one-file-system", builder.storage], check=True)  # gigabytes


@pytest.fixture(scope="session")
def image(builder: Builder) -> Image:
    """The project's image."""
    return builder.built(DOCKER / "Dockerfile", ROOT)


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory, sample_folder: Path) -> Path:
    """What is mounted at /files: the sample articles, which every user may read."""
    folder = tmp_path_factory.mktemp("files")
    shutil.copytree(sample_folder / "articles", folder / "articles")
    for path in (folder, *folder.parents[:2], *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return folder


@pytest.fixture(scope="session")
def stack(builder: Builder, image: Image, files: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """The services, none of them started."""
    missing = [name for name in ("docker-compose", "weed") if not tool(name)]
    if missing:
        pytest.skip(f"{', '.join(missing)} are not installed: make test-deployment does it")
    here, tools = Path(__file__).parent, f"--build-context=tools={Path(tool('weed')).parent}"
    others = {}
    for name in ("postgres", "store"):
        others[name] = builder.built(here / "others.dockerfile", here, f"--target={name}", tools)
    folder = tmp_path_factory.mktemp("machine")
    for path in (folder, *folder.parents[:2]):
        path.chmod(0o755)
    services = resolved(folder, {"FILES": str(files), "PMO_BATCH_SIZE": "8", "PMO_WORKERS": "1"})
    with Machine(folder, list(services)) as machine:
        yield Stack(services, machine, image, others)
