"""Dagster's UI by what a person reads and clicks: one function per thing that they want to do."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from PIL import Image

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

RUN_LIMIT: Final = 300.0
"""Seconds in which a run of one batch ends on a machine that is busy."""

_COLOURS: Final = 128
"""Of a screenshot: enough for the UI and the pictures in it, and a third of the bytes."""


@dataclass
class DagsterUi:
    """A page of a browser that shows the UI.

    Attributes:
        page: the page.
        url: of the UI.
        location: name of the code location.
        pictures: folder for screenshots; None for none.
    """

    page: Page
    url: str
    location: str
    pictures: Path | None = None

    def open(self, path: str) -> None:
        """Open an address of the UI."""
        self.page.goto(f"{self.url}{path}")

    def shown(self, text: str, *, exact: bool = False) -> Locator:
        """Return the last element on the page that shows a text; the UI keeps invisible copies to measure by."""
        return self.page.get_by_text(text, exact=exact).locator("visible=true").last

    def wait_for(self, text: str, seconds: float = 30.0, *, exact: bool = False) -> None:
        """Wait until the page shows a text."""
        self.shown(text, exact=exact).wait_for(timeout=seconds * 1000)

    def picture(self, name: str) -> None:
        """Take the screenshot `<name>.png`, if pictures are wanted."""
        if self.pictures is None:
            return
        self.page.wait_for_timeout(1500)  # what moves comes to rest
        path = self.pictures / f"{name}.png"
        self.page.screenshot(path=path)
        with Image.open(path) as shot:
            shot.convert("RGB").quantize(_COLOURS).save(path, optimize=True)

    def open_job(self, job: str) -> None:
        """Open a job's page."""
        self.open(f"/locations/{self.location}/jobs/{job}")

    def open_dialog(self) -> Locator:
        """Click *Materialize all* on the page and return the dialog with the choice of partitions."""
        self.shown("Materialize all").click(timeout=60_000)
        dialog = self.page.get_by_role("dialog").last
        dialog.get_by_text("Partition selection").wait_for()
        return dialog

    def materialise(self, job: str, batch: str) -> str:
        """Materialise one batch by a job; return the run's id."""
        self.open_job(job)
        dialog = self.open_dialog()
        dialog.get_by_text("Select a partition").click()
        self.shown(batch).click()
        self.page.keyboard.press("Escape")
        self.picture("launch_dialog")
        self.page.get_by_role("button", name="Launch 1 run").click()
        return self._launched()

    def launch(self, job: str) -> str:
        """Launch a job that asks for nothing, in the launchpad; return the run's id."""
        self.open(f"/locations/{self.location}/jobs/{job}/playground")
        self.page.get_by_role("button", name="Launch run").click(timeout=60_000)
        self.page.wait_for_url("**/runs/*")
        return self._run_shown()

    def reload_definitions(self) -> None:
        """Let the code location load anew, and wait until it has."""
        self.open("/asset-groups")
        self.page.get_by_role("button", name="Reload definitions").click(timeout=60_000)
        self.wait_for("reloaded", 120)

    def _launched(self) -> str:
        """Follow the note "Launched run …" to the run's page and return the run's id."""
        self.shown("View", exact=True).click()
        self.page.wait_for_url("**/runs/*")
        return self._run_shown()

    def run_ends(self, seconds: float = RUN_LIMIT) -> str:
        """Wait on a run's page until it says how the run ended; return the word."""
        ended = ("Success", "Failure", "Canceled")
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if found := next((word for word in ended if self._tag(word)), None):
                return found
            self.page.wait_for_timeout(500)
        raise AssertionError(f"the run has not ended after {seconds:.0f} s")

    def _tag(self, word: str) -> bool:
        return self.page.get_by_text(word, exact=True).locator("visible=true").count() > 0

    def reason_of(self, step: str) -> str:
        """Return what a run's page says when one clicks a step that failed."""
        self.shown(step, exact=True).click()
        self.wait_for("STEP_FAILURE")
        row = self.page.locator("div").filter(has_text="STEP_FAILURE").filter(has_text="caused by").last
        return row.inner_text()

    def re_execute_from_failure(self) -> str:
        """Choose *From failure* beside *Re-execute* on a run's page; return the new run's id."""
        before = self._run_shown()
        self.page.get_by_role("button", name="Re-execute all").locator("xpath=following::button[1]").click()
        self.shown("From failure", exact=True).click()
        self.page.wait_for_url(lambda url: "/runs/" in url and before not in url, timeout=60_000)
        return self._run_shown()

    def _run_shown(self) -> str:
        return self.page.url.partition("?")[0].rpartition("/")[2]

    def open_partition(self, asset: str, batch: str) -> None:
        """Open an asset's page at a partition and wait for its status."""
        self.open(f"/assets/{asset}?view=partitions&partition={quote(batch)}")
        self.page.get_by_text("Latest materialization").or_(
            self.page.get_by_text("Missing", exact=True)
        ).first.wait_for()

    def partition_counts(self) -> dict[str, int]:
        """Return how many partitions of the asset whose page is open have which status."""
        counts = {}
        for status in ("Failed", "Materialized", "Materializing", "Missing"):
            text = self.shown(f"{status} (").inner_text()
            counts[status] = int(text.rpartition("(")[2].rstrip(")").replace(",", ""))
        return counts

    def preview_size(self) -> tuple[int, int]:
        """Open the preview on an asset's page and return width and height of its picture in pixels, as decoded."""
        self.shown("[Show Markdown]").click()
        picture = self.page.get_by_role("dialog").last.locator("img").first
        picture.wait_for()
        width, height = picture.evaluate("picture => [picture.naturalWidth, picture.naturalHeight]")
        return int(width), int(height)

    def switch(self, automation: str) -> None:
        """Switch a sensor or schedule on or off on the page *Automation*."""
        self.open("/automation")
        row = self.shown(automation, exact=True)
        row.wait_for()
        row.locator("xpath=following::label[contains(@class, 'Switch')][1]").click()
