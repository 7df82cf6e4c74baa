"""One deployment and one browser window for the tests of the UI; they run in the order in which they stand."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pmo_assets_tests.ui.dagster_ui import DagsterUi
from pmo_assets_tests.ui.deployment import Deployment, deployed

if TYPE_CHECKING:
    from playwright.sync_api import Browser

CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)

WIDTH, HEIGHT = 1400, 880
"""Of the window, in CSS pixels: a laptop's."""


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("needs Chromium (Debian: apt-get install chromium)")
    playwright = pytest.importorskip("playwright.sync_api", reason="needs Playwright (the extra `dev`)")
    with playwright.sync_playwright() as started:
        running = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """`pmo dev` over a data root in which nothing is registered yet."""
    with deployed(tmp_path_factory.mktemp("ui") / "work") as made:
        made.start()
        yield made


@pytest.fixture
def ui(deployment: Deployment, browser: Browser, request: pytest.FixtureRequest) -> Iterator[DagsterUi]:
    """The UI in a window; `PMO_TEST_SCREENSHOTS` names a folder for pictures of it, and of failures."""
    wanted = os.environ.get("PMO_TEST_SCREENSHOTS")
    context = browser.new_context(
        viewport={"width": WIDTH, "height": HEIGHT}, timezone_id="UTC", locale="en-GB", reduced_motion="reduce"
    )
    page = context.new_page()
    page.set_default_timeout(30_000)
    failed = request.session.testsfailed
    shown_as = {
        str(deployment.folder): "/home/you/articles",
        sys.prefix: "/home/you/pmo-assets/.venv",
        deployment.pages(): "http://127.0.0.1:3001",
    }
    yield DagsterUi(page, deployment.url, deployment.location(), Path(wanted) if wanted else None, shown_as)
    if request.session.testsfailed > failed:
        page.screenshot(path=deployment.folder / f"{request.node.name}.png")
        print(f"last seen: {deployment.folder / f'{request.node.name}.png'}")
    context.close()
