"""The pages in a real browser: filters, links to filters, and that hostile text stays text."""

import shutil
import subprocess
from pathlib import Path

import lxml.html
import pytest

from pmo_assets.viewing.gallery import render_gallery
from pmo_assets_tests.viewing.gallery_figures import figure, panel

CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium (Debian: apt-get install chromium)")

OWNED = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"


@pytest.fixture(scope="module")
def gallery(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("gallery") / "gallery.html"
    figures = [
        figure(panel("A", ("OCT", True)), panel("B", ("OCT", False)), cluster="both"),
        figure(panel("A", ("OCT", False)), cluster="unmarked"),
        figure(panel("A", ("CFP", True), ("OCT", False)), cluster="crossed", article_id=2, caption="Drusen" + OWNED),
        figure(panel("A", ("OCT", True), subcaption="With drusen."), cluster="nd", article_id=3, license="CC BY-NC-ND"),
    ]
    path.write_text(render_gallery(figures, title="Gallery", facts={"x": OWNED}), encoding="utf-8")
    return path


def rendered(path: Path, fragment: str, profile: Path) -> lxml.html.HtmlElement:
    """Return the document as the browser has it after scripts ran."""
    assert CHROMIUM is not None
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--virtual-time-budget=2000"]
    options += ["--disable-background-networking", "--disable-component-update", "--disable-sync", "--dump-dom"]
    done = subprocess.run(
        [CHROMIUM, *options, f"--user-data-dir={profile}", f"{path.as_uri()}{fragment}"],
        capture_output=True,
        timeout=60,
        check=True,
    )
    return lxml.html.document_fromstring(done.stdout.decode("utf-8"))


def shown(page: lxml.html.HtmlElement) -> list[str]:
    return [card.get("id").rsplit("-", 1)[1] for card in page.xpath("//main//article[not(@hidden)]")]


def test_a_link_sets_type_and_mark_of_the_same_image(gallery, tmp_path):
    page = rendered(gallery, "#type=OCT&mark=marked", tmp_path)
    # "crossed" has a marked CFP and an unmarked OCT, so it does not match; "nd" is found whatever its licence.
    assert shown(page) == ["both", "nd"]
    count = page.get_element_by_id("count")
    assert count.text_content() == "2 / 5 panels · 2 / 4 figures · 2 / 3 articles"
    missed = page.xpath("//article[not(@hidden)]//li[contains(@class, 'miss')]/button")
    assert [button.text_content() for button in missed] == ["Panel B"]
    assert page.findtext(".//title") == "Gallery", "no text of an article was run"
    assert "js" in page.get("class")


def test_licence_and_words_narrow_further(gallery, tmp_path):
    page = rendered(gallery, "#licence=CC+BY-NC-ND&q=Drusen&article=PMC3", tmp_path)
    assert shown(page) == ["nd"]
    assert page.get_element_by_id("reset").get("hidden") is None
