"""The image, built by its Dockerfile, and the services of compose.yaml on a machine of their own."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from pmo_assets_tests.deployment.compose import DOCKER, ROOT
from pmo_assets_tests.deployment.containers import Image, Machine, why_not
from pmo_assets_tests.deployment.dockerfile import built
from pmo_assets_tests.deployment.stack import Stack, postgres_programs, resolved, tool


@pytest.fixture(scope="session")
def image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    """The project's image; skips where there are no namespaces."""
    if (reason := why_not()) is not None:
        pytest.skip(reason)
    return built(DOCKER / "Dockerfile", ROOT, tmp_path_factory.mktemp("image"))


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory, sample_folder: Path) -> Path:
    """What is mounted at /files: the sample articles, which every user may read."""
    folder = tmp_path_factory.mktemp("files")
    shutil.copytree(sample_folder / "articles", folder / "articles")
    for path in (folder, *folder.parents[:2], *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return folder


@pytest.fixture(scope="session")
def stack(image: Image, files: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """The services, none of them started."""
    missing = [name for name in ("docker-compose", "weed") if not tool(name)]
    if missing:
        pytest.skip(f"{', '.join(missing)} are not installed: make test-deployment does it")
    if postgres_programs() is None:
        pytest.skip("PostgreSQL is not installed (Debian: apt-get install postgresql)")
    folder = tmp_path_factory.mktemp("machine")
    for path in (folder, *folder.parents[:2]):
        path.chmod(0o755)
    services = resolved(folder, {"FILES": str(files), "PMO_BATCH_SIZE": "8", "PMO_WORKERS": "1"})
    with Machine(folder, list(services)) as machine:
        yield Stack(services, machine, image)
