"""A browser for the tests of the gallery: the system's Chromium, none is downloaded."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("needs Chromium (Debian: apt-get install chromium)")
    playwright = pytest.importorskip("playwright.sync_api", reason="needs Playwright (the extra `dev`)")
    with playwright.sync_playwright() as started:
        running = started.chromium.launch(executable_path=CHROMIUM)
        yield running
        running.close()
