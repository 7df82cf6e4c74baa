"""The gallery as wide as a phone, a tablet and a desk, in light and dark: nothing is cut off, axe-core is content.

Also from a static host, and with the first view within its time.
"""

from __future__ import annotations

import functools
import http.server
import threading
import time
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pmo_assets.records.context import ENTITY_GROUPS
from pmo_assets.records.figure import PageBox, PageSize
from pmo_assets.viewing.gallery import GalleryFilter
from pmo_assets_tests.viewing.gallery_figures import context, entity, figure, gallery_folder, mention, panel
from pmo_assets_tests.viewing.marked_panels import MARKED, TEXT

pytestmark = pytest.mark.slow  # a browser starts

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

WIDTHS = (360, 800, 1440)

SERIOUS = ("serious", "critical")

SAYS = "Figure 1A shows " + ", ".join(ENTITY_GROUPS) + " and intraretinalcystoidspaceswithoutanyplacetobreak."
SAID = context(
    mention(SAYS, title="Imaging of the macula in the second year after the operation"),
    mention(SAYS, start=500, kind="follows"),
    entities=[
        entity(SAYS, group, group, number=number, negated=group == "eye", uncertain=group == "time")
        for group in ENTITY_GROUPS
        for number in (0, 1)
    ],
    summed=[mention(SAYS)],
)
DISEASES = [f"polypoidal choroidal vasculopathy of the kind {number}" for number in range(30)]

FIGURES = [
    figure(
        panel("A", ("OCT", True), subcaption=TEXT, segments=((0, 10), (15, 21)), confidence=0.97,
              filtered=((DISEASES[number % 30],),), context=SAID, regions=MARKED),
        panel("B", ("CFP", False), ("Retinal Imaging", None), subcaption="Both eyes. Left.", confidence=0.6,
              segments=((0, 10), (26, 31)), box=(0.5, 0.0, 1.0, 1.0), filtered=((),)),
        *(panel(f"C{i}", (kind, None), segments=((15, 21), (26, 31)), filtered=((),))
          for i, kind in enumerate(("Other", None, "UBM"))),
        cluster=f"a-rather-long-name-of-a-graphic-{number}", article_id=1000 + number // 3, split="train",
        license=("CC BY", "CC BY-NC", "CC BY-NC-ND")[number % 3], image=b"" if number % 3 == 2 else None,
        title="Optical coherence tomography angiography of pneumatic displacement of submacular haemorrhage",
        page_boxes=(PageBox(1, (60, 80, 540, 400)), PageBox(2, (60, 80, 540, 200))), caption_confidence=0.9,
        caption_boxes=(PageBox(2, (60, 210, 540, 260)),), page_sizes=(PageSize(1, 600.0, 800.0),),
        pdf_url="https://pmc.ncbi.nlm.nih.gov/articles/PMC4736323/pdf/",
    )
    for number in range(60)
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("gallery")
    gallery_folder(made, FIGURES, title="Ophthalmology gallery", facts={"version": "1.0"}, notes="A note.",
                   filters=[GalleryFilter("diseases", "Disease")])  # fmt: skip
    return made


@pytest.fixture(scope="module")
def host(folder: Path) -> Iterator[str]:
    """Give the address at which a static server on loopback shows the gallery."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/index.html"
    server.shutdown()
    server.server_close()


def violations(page: Page) -> list[str]:
    """Return what axe-core calls serious or critical, with the elements that it names."""
    page.evaluate((files("axe_core_python") / "axe.min.js").read_text("utf-8"))
    found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")["violations"]
    return [
        f"{item['id']}: {node['html'][:150]} {node['failureSummary'][:300]}"
        for item in found
        if item["impact"] in SERIOUS
        for node in item["nodes"][:3]
    ]


def cut_off(page: Page) -> list[str]:
    """Return elements that people see and that reach beyond the window's right edge, where nothing scrolls."""
    return list(
        page.evaluate(
            """() => [...document.querySelectorAll('body *')].filter((part) => {
              const box = part.getBoundingClientRect();
              const style = getComputedStyle(part);
              return box.width > 0 && style.visibility !== 'hidden' && box.right > innerWidth + 1;
            }).map((part) => part.outerHTML.slice(0, 120))"""
        )
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_grid_filters_and_figure_at_every_width(browser: Browser, folder: Path, width: int, scheme: str) -> None:
    pytest.importorskip("axe_core_python", reason="needs axe-core (the extra `dev`)")
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    page.goto((folder / "index.html").as_uri())
    page.wait_for_selector(".card img")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert cut_off(page) == []
    columns = page.evaluate("PmoGallery.grid.columns()")
    assert columns == {360: 2, 800: 3, 1440: 5}[width]
    if width < 1000:
        assert not page.is_visible("#side")
        page.click("#open-filters")
    page.click("#facet-diseases .link")
    page.locator("#facet-type label", has_text="OCT").click()
    page.wait_for_timeout(200)
    assert violations(page) == []
    assert cut_off(page) == []
    page.locator(".card").first.click()
    page.wait_for_selector("#viewer .panels")
    page.locator(".report summary").click()
    page.locator(".told summary").click()
    page.keyboard.press("m")
    assert page.locator(".region-list").is_visible()
    page.mouse.move(1, 1)
    assert page.locator(".sentences mark").count() == 2 * len(ENTITY_GROUPS)
    assert violations(page) == []
    assert cut_off(page) == []
    assert page.locator(".sheet").count() == 2
    assert page.locator(".sheet.unknown").count() == 1, "its size was not told"
    look, read = (page.locator(part).bounding_box() for part in (".look", ".read"))
    assert look is not None
    assert read is not None
    beside, below = look["x"] + look["width"] <= read["x"] + 1, look["y"] + look["height"] <= read["y"] + 1
    assert (beside, below) == ((False, True) if width < 1000 else (True, False)), "text and picture do not overlap"
    page.keyboard.press("Escape")
    for dialog in ("help", "reports", "export") if scheme == "light" else ():
        page.evaluate(f"document.getElementById('{dialog}').showModal()")
        assert violations(page) == []
        assert cut_off(page) == []
        page.keyboard.press("Escape")
    context.close()


def test_what_axe_calls_serious_would_be_found(browser: Browser, folder: Path) -> None:
    pytest.importorskip("axe_core_python", reason="needs axe-core (the extra `dev`)")
    page = browser.new_page()
    page.goto((folder / "index.html").as_uri())
    page.wait_for_selector(".card img")
    page.evaluate("document.querySelector('.count').style.color = '#bbb'")
    page.evaluate("document.getElementById('q').removeAttribute('aria-label')")
    page.evaluate("document.getElementById('q').removeAttribute('placeholder')")
    assert {item.split(":")[0] for item in violations(page)} == {"color-contrast", "label"}
    page.close()


def test_from_a_static_host(browser: Browser, host: str) -> None:
    page = browser.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(host + "#q=pneumatic")
    page.wait_for_selector(".card img")
    page.evaluate("location.hash = 'q=pneumatic&page=2'")
    page.wait_for_selector(".card .withheld")  # those with a picture come first
    assert page.locator(".card").count() == 60 - 48
    page.locator(".card").first.click()
    page.wait_for_selector("#viewer .stage")
    origin = host.removesuffix("index.html")
    assert {url for url in asked if not url.startswith((origin, "data:"))} == set(), "nothing comes from elsewhere"
    page.close()


def test_the_first_view_is_there_soon(browser: Browser, folder: Path) -> None:
    """A bound against what makes every view slow; `benchmarks/gallery_scale.py` measures it at scale."""
    seconds = []
    for _ in range(3):
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        start = time.perf_counter()
        page.goto((folder / "index.html").as_uri(), wait_until="commit")
        page.wait_for_selector(".card img")
        seconds.append(time.perf_counter() - start)
        page.close()
    assert min(seconds) < 2.0
