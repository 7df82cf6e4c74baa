"""Dagster's UI by what a person reads and clicks: one function per thing that they want to do."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from PIL import Image

if TYPE_CHECKING:
    from playwright.sync_api import FloatRect, Locator, Page

RUN_LIMIT: Final = 300.0
"""Seconds in which a run of one batch ends on a machine that is busy."""

_REPLACE: Final = """pairs => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode()); )
    for (const [before, after] of pairs) node.textContent = node.textContent.replaceAll(before, after);
}"""
"""JavaScript: write texts of the page otherwise."""

_COLOURS: Final = 256
"""Of a screenshot, chosen so that small signs keep theirs: enough for the UI, and a third of the bytes."""


@dataclass
class DagsterUi:
    """A page of a browser that shows the UI.

    Attributes:
        page: the page.
        url: of the UI.
        location: name of the code location.
        pictures: folder for screenshots; None for none.
        shown_as: what pictures show in place of paths and ports of this machine.
    """

    page: Page
    url: str
    location: str
    pictures: Path | None = None
    shown_as: Mapping[str, str] = field(default_factory=dict)

    def open(self, path: str) -> None:
        """Open an address of the UI."""
        self.page.goto(f"{self.url}{path}")

    def shown(self, text: str, *, exact: bool = False) -> Locator:
        """Return the last element on the page that shows a text; the UI keeps invisible copies to measure by."""
        return self.page.get_by_text(text, exact=exact).locator("visible=true").last

    def wait_for(self, text: str, seconds: float = 30.0, *, exact: bool = False) -> None:
        """Wait until the page shows a text."""
        self.shown(text, exact=exact).wait_for(timeout=seconds * 1000)

    def wait_for_anew(self, path: str, text: str, seconds: float) -> None:
        """Open a page again and again, as a person presses F5, until it shows a text: not every page follows by itself.

        Raises:
            AssertionError: if it does not in that time.
        """
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self.open(path)
            for _ in range(20):
                if self._is_shown(text):
                    return
                self.page.wait_for_timeout(500)
        raise AssertionError(f"{path} does not show {text!r} after {seconds:.0f} s")

    def picture(self, name: str, clip: FloatRect | None = None) -> None:
        """Take the screenshot `<name>.png` of the window, or of a part of it, if pictures are wanted."""
        if self.pictures is None:
            return
        self.page.wait_for_timeout(1500)  # what moves comes to rest
        self.page.evaluate(_REPLACE, list(self.shown_as.items()))
        path = self.pictures / f"{name}.png"
        self.page.screenshot(path=path, clip=clip)
        with Image.open(path) as shot:
            few = shot.convert("RGB").quantize(_COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
            few.save(path, optimize=True)

    def picture_of_graph(self, name: str) -> None:
        """Take the screenshot of the lineage alone, wide enough for what the groups say."""
        before = self.page.viewport_size
        self.page.set_viewport_size({"width": 2100, "height": 1080})
        self.open("/asset-groups")
        self.wait_for("dataset", 60)
        self.shown("Hide navigation").click()
        self.page.get_by_text("fetching statuses").first.wait_for(state="detached", timeout=60_000)
        self.picture(name, clip={"x": 380, "y": 155, "width": 1540, "height": 820})
        if before is not None:
            self.page.set_viewport_size(before)

    def width_beyond(self, text: str) -> float:
        """Return by how many pixels the table that shows a text is wider than what is seen of it."""
        table = self.shown(text, exact=True).locator("xpath=ancestor::table[1]")
        table.scroll_into_view_if_needed()
        return float(table.evaluate("table => table.getBoundingClientRect().right - document.body.clientWidth"))

    def open_job(self, job: str) -> None:
        """Open a job's page."""
        self.open(f"/locations/{self.location}/jobs/{job}")

    def open_dialog(self) -> Locator:
        """Click *Materialize all* on the page and return the dialog with the choice of partitions."""
        self.shown("Materialize all").click(timeout=60_000)
        dialog = self.page.get_by_role("dialog").last
        dialog.get_by_text("Partition selection").wait_for()
        return dialog

    def choose(self, dialog: Locator, batch: str) -> None:
        """Choose a partition in the dialog."""
        dialog.get_by_text("Select a partition").click()
        self.shown(batch).click()
        self.page.keyboard.press("Escape")

    def choose_all(self, dialog: Locator, which: str, count: str) -> None:
        """Choose the partitions that are *Missing*, *Failed and missing* …, and wait until so many are chosen.

        The dialog opens before it knows how partitions stand: what is clicked then chooses none, and is clicked again.
        """
        chosen = dialog.get_by_text(count, exact=True)
        for _ in range(30):
            dialog.get_by_text(which, exact=True).click()
            self.page.wait_for_timeout(1000)
            if chosen.count():
                return
        chosen.wait_for()

    def materialise(self, job: str, batch: str) -> str:
        """Materialise one batch by a job; return the run's id."""
        self.open_job(job)
        self.choose(self.open_dialog(), batch)
        return self.launch_run()

    def launch_run(self) -> str:
        """Click *Launch 1 run*, as the dialog offers for one partition, and return the run's id."""
        self.page.get_by_role("button", name="Launch 1 run").click()
        return self._launched()

    def launch_backfill(self) -> str:
        """Click *Launch backfill* in the dialog, follow the note that it is created, and return its id."""
        self.page.get_by_role("button", name="Launch backfill").click()
        return self._backfill_created()

    def _backfill_created(self) -> str:
        self.page.get_by_role("link", name="View", exact=True).click(timeout=120_000)
        self.page.wait_for_url("**/runs/b/*", wait_until="commit")
        return self._run_shown()

    def backfill_ends(self, seconds: float) -> str:
        """Wait on a backfill's page until it says how the backfill ended; return the word.

        Raises:
            AssertionError: if it has not ended in that time.
        """
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            status = re.search(r"^Status\n(.+)$", self.page.inner_text("body"), re.MULTILINE)
            if status and status[1] in ("Succeeded", "Failed", "Canceled"):
                return status[1]
            self.page.wait_for_timeout(1000)
        raise AssertionError(f"the backfill has not ended after {seconds:.0f} s")

    def backfilled(self) -> dict[str, str]:
        """Return what the backfill page that is open says of each of its assets: all cells of the row, as text.

        The UI has only those rows in the page that are seen, so that one has to scroll.
        """
        self.wait_for("Asset name")
        rows = self.page.locator("a[href*='/assets/']").locator("visible=true")
        found: dict[str, str] = {}
        before = -1
        while len(found) > before:
            before = len(found)
            for row in rows.all():
                cells = row.locator("xpath=ancestor::div[contains(., 'completed')][1]/..").inner_text().split("\n")
                found[row.inner_text().split("\n")[0]] = " ".join(cells[1:])
            rows.last.scroll_into_view_if_needed()
            self.page.wait_for_timeout(1000)
        return found

    def open_menu_of_backfill(self) -> None:
        """Open the menu at the upper right of a backfill's page."""
        self.wait_for("Asset name")
        self.shown("Timeline", exact=True).locator("xpath=preceding::button[normalize-space(.)=''][1]").click()
        self.wait_for("Re-execute from failure")

    def re_execute_backfill_from_failure(self) -> str:
        """Choose *Re-execute from failure* in the menu of a backfill; return the new backfill's id."""
        before = self._run_shown()
        self.shown("Re-execute from failure", exact=True).click()
        made = self._backfill_created()
        assert made != before
        return made

    def filter_to_group(self, group: str) -> None:
        """Right-click a group in the lineage and choose *Filter to this group*: its assets with their checks."""
        self.open("/asset-groups")
        self.wait_for(group, 60)
        self.shown(group, exact=True).click(button="right")
        self.shown("Filter to this group").click()

    def show_plots(self, asset: str) -> None:
        """Open an asset's page and choose *Plots* beside its metadata."""
        self.open(f"/assets/{asset}?view=overview")
        self.shown("Plots", exact=True).click(timeout=60_000)

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
        self.wait_for("Definitions reloaded", 120)

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
            if found := next((word for word in ended if self._is_shown(word, exact=True)), None):
                return found
            self.page.wait_for_timeout(500)
        raise AssertionError(f"the run has not ended after {seconds:.0f} s")

    def _is_shown(self, text: str, *, exact: bool = False) -> bool:
        return self.page.get_by_text(text, exact=exact).locator("visible=true").count() > 0

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
