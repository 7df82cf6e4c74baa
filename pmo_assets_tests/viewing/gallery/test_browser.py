"""The gallery in a real browser, from a disk: filters, search, figure view, keys, links, reports, and hostile text."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pyarrow.parquet as pq
import pytest

from pmo_assets.records.figure import PageBox, PageSize
from pmo_assets.viewing.gallery import GalleryFilter
from pmo_assets.viewing.markup import plain_text
from pmo_assets_tests.viewing.gallery_figures import context as told_of
from pmo_assets_tests.viewing.gallery_figures import entity, figure, gallery_folder, instruction, mention, panel
from pmo_assets_tests.viewing.marked_panels import MARKED, TEXT, phrase

pytestmark = pytest.mark.slow  # a browser starts

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

OWNED = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
HOSTILE = OWNED + "\u202e</style>'\"&amp;%3Cscript%3E"
PAGE = 48

SPECIAL = [
    figure(panel("A", ("OCT", True)), panel("B", ("OCT", False)), cluster="both", split="train", year=2015),
    figure(panel("A", ("OCT", False), confidence=0.9), cluster="unmarked", split="train", year=2015),
    figure(
        panel("A", ("CFP", True), ("OCT", False), confidence=0.5), cluster="crossed", article_id=2, year=2018,
        title="Œdème maculaire", journal="Retina (Philadelphia, Pa.)", split="test", caption_confidence=0.6,
        caption=f"Drusen {OWNED}",
    ),
    figure(
        panel("A", ("OCT", True), subcaption=None, redistributable=False, assembly="by hand", confidence=0.95),
        cluster="nd", article_id=3, license="CC BY-NC-ND", image=b"", caption="", year=2021, split="test",
    ),
    figure(
        panel("A", ("OCT", None), subcaption="Both. Cystoid spaces.", segments=((0, 5), (10, 25))),
        panel("B", (None, True), subcaption="Both. Naïve Müller cells.", segments=((0, 5), (30, 49)),
              box=(0.5, 0.0, 1.0, 1.0)),
        cluster="split", article_id=4, year=2022, caption="Both. (A) Cystoid spaces. (B) Naïve Müller cells.",
        caption_confidence=0.97, url="https://pmc.ncbi.nlm.nih.gov/articles/PMC4/",
        pdf_url="https://pmc.ncbi.nlm.nih.gov/articles/PMC4/pdf/", page_sizes=(PageSize(2, 600.0, 800.0),),
        page_boxes=(PageBox(2, (60, 80, 540, 400)),), caption_boxes=(PageBox(2, (60, 410, 540, 450)),),
    ),
    figure(
        panel(HOSTILE, (HOSTILE, None), subcaption=HOSTILE, assembly=HOSTILE, segments=((3, 30),)),
        panel("B", ("OCT", False), segments=((31, 60),)),
        cluster=HOSTILE, article_id=5, title=HOSTILE, caption=HOSTILE + " wicked", license=HOSTILE, journal=HOSTILE,
        split=HOSTILE, url="javascript:document.title='owned'", pdf_url="javascript:document.title='owned'",
    ),
]  # fmt: skip
FILLING = [
    figure(panel(None, ("Other", None), subcaption="Filling."), cluster=f"f{i}", article_id=100 + i // 4,
           caption="Filling.", year=1990, journal=f"Journal {i // 8}")
    for i in range(60)
]  # fmt: skip


@pytest.fixture(scope="module")
def gallery(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("gallery")
    return gallery_folder(folder, [*SPECIAL, *FILLING], title="Gallery", facts={"x": OWNED}).as_uri()


Opened = Callable[..., "Page"]


@pytest.fixture
def opened(browser: Browser, gallery: str) -> Iterator[Opened]:
    """Give a function that opens the gallery in a new profile; whatever goes wrong in the page fails the test."""
    contexts = []
    problems: list[str] = []

    def open_page(fragment: str = "", address: str = gallery, **options: Any) -> Page:
        context = browser.new_context(**{"viewport": {"width": 1440, "height": 900}, **options})
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
        page.goto(address + fragment)
        page.wait_for_selector("html[data-ready]")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert problems == []


def settled(page: Page) -> None:
    """Wait until typing counts and the grid is not busy."""
    page.wait_for_timeout(200)
    page.wait_for_selector("#figures:not([aria-busy])", state="attached")


def shown(page: Page) -> list[str]:
    """Return the clusters of the figures that are left, in order."""
    return list(
        page.evaluate(
            """async () => {
              const { filters, data } = PmoGallery;
              const { clusters } = await data.load("ids", 0);
              return Array.from(filters.order.subarray(0, filters.shown), (f) => clusters[f]);
            }"""
        )
    )


@pytest.mark.parametrize(
    ("fragment", "clusters", "count"),
    [
        # "crossed" has a marked CFP and an unmarked OCT, so it does not match; "nd" is found whatever its licence
        ("#type=OCT&mark=marked", ["both", "nd"], "2 / 69 panels · 2 / 66 figures · 2 / 20 articles"),
        ("#type=OCT,CFP&mark=marked", ["both", "crossed", "nd"], "3 / 69 panels"),
        ("#type=oct&type=CFP&mark=marked", ["both", "crossed", "nd"], "3 / 69 panels"),
        ("#type=undecided", ["split"], "1 / 69 panels"),
        ("#mark=undecided&type=OCT", ["split"], "1 / 69 panels"),
        ("#licence=CC+BY-NC-ND", ["nd"], "1 / 69"),
        ("#assembly=by hand", ["nd"], "1 / 69"),
        ("#split=test", ["crossed", "nd"], "2 / 69"),
        ("#split=train", ["both", "unmarked"], "3 / 69 panels"),
        ("#year=2015-2018", ["both", "unmarked", "crossed"], "4 / 69"),
        ("#year=2022-", ["split"], "2 / 69"),
        ("#year=2021", ["nd"], "1 / 69"),
        ("#confidence=0.9-", ["unmarked", "nd"], "2 / 69"),
        ("#confidence=0.5-0.9", ["unmarked", "crossed"], "2 / 69"),
        ("#caption=-0.7", ["crossed"], "1 / 69"),
        ("#journal=retina (philadelphia, pa.)", ["crossed"], "1 / 69"),
        ("#journal=Journal 7", [f"f{i}" for i in range(56, 60)], "4 / 69"),
        ("#article=PMC4736323", ["both", "unmarked"], "3 / 69"),
        ("#licence=CC+BY-NC-ND&article=PMC3&type=OCT", ["nd"], "1 / 69"),
        ("#type=Nothing&article=PMC9999&licence=", None, "69 panels · 66 figures · 20 articles"),
    ],
)
def test_a_link_sets_filters(opened: Opened, fragment: str, clusters: list[str] | None, count: str) -> None:
    page = opened(fragment)
    assert page.inner_text("#count").startswith(count)
    if clusters is not None:
        assert shown(page) == clusters


def test_all_filters_together_leave_what_each_leaves(opened: Opened) -> None:
    page = opened()
    page.get_by_label("OCT", exact=True).or_(page.locator("#facet-type label", has_text="OCT")).first.click()
    page.locator("#facet-mark label", has_text="unmarked").click()
    page.fill("#year-to", "2016")
    settled(page)
    assert shown(page) == ["both", "unmarked"]
    assert page.url.endswith("#type=OCT&mark=unmarked&year=-2016")
    assert page.inner_text("#active-filters") == " (3)" or page.locator("#active-filters").text_content() == " (3)"
    page.locator("#facet-split label", has_text="train").click()
    page.fill("#journal", "ey")
    page.fill("#confidence-from", "0.9")
    settled(page)
    assert shown(page) == ["unmarked"]
    page.click("#reset")
    settled(page)
    assert page.inner_text("#count").startswith("69 panels")
    assert "#" not in page.url or page.url.endswith("#")
    assert page.input_value("#journal") == page.input_value("#confidence-from") == ""


def counts(page: Page, facet: str) -> dict[str, int]:
    labels = page.locator(f"#facet-{facet} label").all_inner_texts()
    return {" ".join(text.split()[:-1]): int(text.split()[-1]) for text in labels}


def test_options_say_how_many_panels_the_other_filters_leave(opened: Opened) -> None:
    page = opened("#mark=marked&year=2015-2022")
    assert counts(page, "mark") == {"marked": 4, "unmarked": 4, "mark undecided": 2}, "its own filter does not count"
    types = counts(page, "type")
    assert (types["OCT"], types["CFP"], types["type undecided"]) == (2, 1, 1), "of images with the mark"


@pytest.mark.parametrize(
    ("typed", "clusters"),
    [
        ("cysto", ["split"]),
        ("naive muller", ["split"]),
        ("NAÏVE MÜLL", ["split"]),
        ("muell", []),
        ("cyst spaces", []),  # only the last word may be a beginning
        ("oedeme maculaire", ["crossed"]),
        ("œdème", ["crossed"]),
        ("pmc3", ["nd"]),
        ("p_3_nd_0", ["nd"]),  # a panel's id finds its figure
        ("drusen", ["crossed"]),
        ("wicked", [HOSTILE]),
        ("cystoid muller", ["split"]),
        ("nothing has this", []),
        ("--- ", None),
    ],
)
def test_search_finds_words(opened: Opened, typed: str, clusters: list[str] | None) -> None:
    page = opened()
    page.fill("#q", typed)
    settled(page)
    found = shown(page)
    if clusters is None:
        assert len(found) == 66
    else:
        assert found == [cluster.replace("\u202e", "\ufffd") for cluster in clusters]
    assert page.is_visible("#nothing") == (clusters == [])


def test_words_of_one_panel_leave_only_that_panel(opened: Opened) -> None:
    page = opened("#q=cystoid")
    assert page.inner_text("#count").startswith("1 / 69 panels")
    page.fill("#q", "both")
    settled(page)
    assert shown(page) == ["both", "unmarked", "split"], "and the id"
    page.fill("#q", "cystoid muller")
    settled(page)
    assert page.inner_text("#count").startswith("2 / 69 panels"), "no panel has both: the figure has"


def test_only_files_that_can_hold_a_word_are_loaded(opened: Opened) -> None:
    page = opened()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.fill("#q", "cystoid")
    settled(page)
    assert len([url for url in asked if "/words/" in url]) == 1


def test_pages_of_figures(opened: Opened) -> None:
    page = opened()
    assert page.locator(".card").count() == PAGE
    page.click("#page-after")
    assert page.locator(".card").count() == 66 - PAGE
    assert page.url.endswith("#page=2")
    assert page.is_disabled("#page-after")
    again = opened("#page=2")
    assert again.locator(".card").count() == 66 - PAGE
    again.fill("#q", "cystoid")
    settled(again)
    assert again.locator(".card").count() == 1


def test_order(opened: Opened) -> None:
    page = opened("#confidence=0-&sort=unsure")
    assert shown(page) == ["crossed", "unmarked", "nd"]
    page.select_option("#sort", "newest")
    settled(page)
    assert shown(page) == ["nd", "crossed", "unmarked"]
    assert "sort=newest" in page.url


def test_hostile_text_is_shown_as_text_everywhere(opened: Opened) -> None:
    page = opened("#q=wicked")
    page.wait_for_selector(".card img")
    page.locator(".card").click()
    page.wait_for_selector("#viewer .panels")
    page.locator("summary").click()
    page.select_option(".report select >> nth=0", "type")
    page.fill(".report textarea", HOSTILE)
    page.click(".report .main")
    page.keyboard.press("Escape")
    page.click("#open-reports")
    assert OWNED in page.inner_text("#report-list")
    page.keyboard.press("Escape")
    assert page.title() == "Gallery"
    assert page.locator("script:not([src])").count() == 0
    assert page.locator("a[href^=javascript]").count() == 0
    assert OWNED in page.inner_text(".facts")


def test_figure_view_shows_boxes_caption_panels_and_the_page(opened: Opened) -> None:
    page = opened("#article=PMC4")
    page.locator(".card").click()
    page.wait_for_selector("#viewer .stage img[src^='data:image/webp']")
    boxes = [
        [rect.get_attribute(key) for key in ("x", "y", "width", "height")]
        for rect in page.locator(".stage .panel rect:not(.case)").all()
    ]
    assert sorted(boxes) == [["0%", "0%", "50%", "100%"], ["50%", "0%", "50%", "100%"]]
    assert page.locator(".stage .image").count() == 2
    assert page.locator(".stage .identifier").count() == 2
    assert page.locator(".panels .sub").all_inner_texts() == ["Both. Cystoid spaces.", "Both. Naïve Müller cells."]
    assert page.locator(".read .cap .one").all_inner_texts()[0] == "ACystoid spaces."
    assert "mark undecided" in page.inner_text(".panels")
    sheet = page.locator(".sheet")
    assert sheet.get_attribute("viewBox") == "-2 -2 604 804"
    place = sheet.locator(".place")
    assert [place.get_attribute(key) for key in ("x", "y", "width", "height")] == ["60", "80", "480", "320"]
    assert sheet.locator(".words").count() == 1
    assert page.inner_text(".sheets li") == "Page 3"
    pdf = page.locator(".sheets a")
    assert pdf.get_attribute("href") == "https://pmc.ncbi.nlm.nih.gov/articles/PMC4/pdf/#page=3"
    assert pdf.get_attribute("rel") == "noopener noreferrer"
    assert page.locator(".paper-title a").get_attribute("href") == "https://pmc.ncbi.nlm.nih.gov/articles/PMC4/"


def test_box_subcaption_and_part_of_the_caption_point_at_each_other(opened: Opened) -> None:
    page = opened("#figure=PMC4/split")
    page.wait_for_selector("#viewer .panels")
    page.locator(".panels .name", has_text="B").click()
    page.mouse.move(2, 2)
    on = page.locator("#viewer .on")
    assert {(part.get_attribute("data-panels")) for part in on.all()} == {"1", "0 1"}
    assert page.locator(".panels li.on").count() == 1
    page.uncheck("#show-images", force=True)
    assert not page.locator(".stage .image").first.is_visible()


def test_marks_and_regions_are_shown_when_asked_for_and_light_each_other(opened: Opened, tmp_path: Path) -> None:
    sentence = "The white arrow marks drusen."
    told = phrase("white arrow marks drusen", "drusen", (0,), sentence, mention=0, found_in="mention")
    words = told_of(mention(sentence), entities=[entity(sentence, "marks drusen", number=0)])
    regions = replace(MARKED, phrases=(*MARKED.phrases, told))
    shown = figure(panel("A", ("OCT", True), subcaption=TEXT, regions=regions, context=words), panel("B"), cluster="m")
    page = opened("#figure=PMC4736323/m", address=gallery_folder(tmp_path, [shown, figure(panel())]).as_uri())
    page.wait_for_selector("#viewer .panels")
    switch = page.get_by_role("button", name="marks and regions (2)")
    assert switch.get_attribute("aria-pressed") == "false"
    assert not page.locator(".stage .mark").first.is_visible()
    assert not page.locator(".region-list").is_visible()
    switch.focus()
    page.keyboard.press("Space")
    assert switch.get_attribute("aria-pressed") == "true"
    tip = page.locator(".stage .mark.arrow .tip")
    assert [tip.get_attribute(name) for name in ("x", "y")] == ["50%", "50%"]
    assert page.locator(".stage .mark.circle ellipse").count() == 2
    assert page.locator(".tag.number").all_inner_texts() == ["1", "2"]
    page.locator(".told summary").click()
    page.locator(".phrase").nth(2).wait_for()
    assert page.locator(".phrase").all_inner_texts() == [
        "1drusen (white arrow)", "2fluid (red circle)", "1white arrow marks drusen",
    ]  # fmt: skip
    assert page.locator(".phrase").last.locator(".entity").inner_text() == "marks drusen"
    colour = page.locator(".phrase").nth(1).evaluate("element => getComputedStyle(element).backgroundColor")
    assert colour == "rgb(255, 0, 0)"
    page.locator(".phrase").nth(1).hover()
    assert set(page.locator(".lit").evaluate_all("all => all.map((part) => part.dataset.regions)")) == {"2"}
    assert page.locator(".stage .lit").count() == 3, "frame, outline and number"
    page.keyboard.press("m")
    assert not page.locator(".stage .mark").first.is_visible()
    page.keyboard.press("m")
    page.reload()
    page.wait_for_selector("#viewer .panels")
    assert switch.get_attribute("aria-pressed") == "true", "the browser remembers it"
    page.keyboard.press("ArrowRight")
    page.get_by_role("button", name="marks and regions (none)").wait_for()


def test_instructions_open_with_their_evidence_and_show_their_box_when_looked_at(
    opened: Opened, tmp_path: Path
) -> None:
    asked = (
        instruction("Is it an OCT?", "Yes.", "modality: OCT"),
        instruction("What is marked?", HOSTILE, "mark: arrow", words="drusen", text=f"{OWNED} drusen.",
                    boxes=((0.1, 0.2, 0.3, 0.6),)),
    )  # fmt: skip
    shown = figure(panel("A", instructions=asked), panel("B"), cluster="m")
    page = opened("#figure=PMC4736323/m", address=gallery_folder(tmp_path, [shown]).as_uri())
    page.wait_for_selector("#viewer .panels")
    assert page.locator(".asked").count() == 1
    page.get_by_text("2 instructions").click()
    page.locator(".instructions li").nth(1).wait_for()
    assert page.locator(".instructions mark").all_inner_texts() == ["drusen"]
    first = " ".join(page.locator(".instructions li").first.inner_text().split())
    assert first == "Q Is it an OCT? A Yes. What modality: OCT"
    box = page.locator(".answers rect.line")
    assert [box.get_attribute(name) for name in ("x", "y", "width", "height")] == ["10%", "20%", "20%", "40%"]
    visible = "part => getComputedStyle(part).visibility"
    assert box.evaluate(visible) == "hidden"
    page.locator(".instructions li").nth(1).focus()
    assert box.evaluate(visible) == "visible"
    page.locator(".instructions li").first.hover()
    assert box.evaluate(visible) == "hidden"
    page.locator("#viewer-body").evaluate("body => body.scrollTo(0, body.scrollHeight)")
    place = page.locator(".stage").bounding_box()
    assert place is not None
    assert place["y"] >= 0, "the picture stays in sight"
    assert page.title() != "owned"


def test_names_on_a_wide_low_figure_lie_beside_it(browser: Browser, tmp_path: Path) -> None:
    """Upon panels that are lower than letters they would hide what is to be seen; no name lies upon another."""
    row = [
        panel(f"panel {i}", ("OCT", False), box=(i / 20, 0.0, (i + 1) / 20, 1.0), subcaption=f"Eye {i}.")
        for i in range(20)
    ]
    low = replace(figure(*row, cluster="low"), width=2000, height=60)
    high = figure(panel("A", ("OCT", False), box=(0, 0, 1, 1)), cluster="high")
    address = gallery_folder(tmp_path, [low, high]).as_uri()
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(address + "#figure=PMC4736323/low")
    page.wait_for_selector(".tag.outside")
    places = page.evaluate(
        """() => {
          const of = (one) => {
            const { left, top, right, bottom } = one.getBoundingClientRect();
            return [left, top, right, bottom];
          };
          return Array.from(document.querySelectorAll(".stage :is(img, .tag)"), of);
        }"""
    )
    picture, tags = places[0], places[1:]
    assert len(tags) == 40
    assert all(bottom <= picture[1] or top >= picture[3] for _, top, _, bottom in tags), "none covers the picture"
    assert not [
        (one, other)
        for i, one in enumerate(tags)
        for other in tags[:i]
        if one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
    ]
    assert page.locator(".leaders line").count() == 40
    page.keyboard.press("j")
    page.wait_for_function("document.querySelector('#viewer-title').textContent && !document.querySelector('.outside')")
    assert page.locator(".leaders line").count() == 0, "a panel that has room keeps its name"
    page.close()


def test_panels_that_a_filter_left_out_are_told_apart(opened: Opened) -> None:
    page = opened("#type=OCT&mark=marked&figure=PMC4736323/both")
    page.wait_for_selector("#viewer .panels")
    assert [button.inner_text().split()[-1] for button in page.locator(".panels li.miss button").all()] == ["B"]


def test_withheld_figures_come_without_picture_and_caption(opened: Opened) -> None:
    page = opened("#figure=PMC3/nd")
    page.wait_for_selector("#viewer .panels")
    assert page.locator(".stage img").count() == 0
    assert "Picture withheld\n(CC BY-NC-ND does not let it be passed on)" in page.inner_text(".stage")
    assert "Caption withheld: CC BY-NC-ND does not let it be passed on" in page.inner_text(".read")
    assert "Subcaption withheld" in page.inner_text(".panels")
    assert "not redistributable" in page.inner_text(".panels")
    assert page.locator(".stage .panel").count() == 1, "boxes are facts"


def test_keys(opened: Opened) -> None:
    page = opened()
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "q"
    page.keyboard.type("j?")
    assert page.input_value("#q") == "j?", "in a field keys are letters"
    page.fill("#q", "")
    settled(page)
    page.keyboard.press("Escape")
    for key, place in (("j", 0), ("j", 1), ("ArrowRight", 2), ("k", 1), ("ArrowDown", 6), ("ArrowUp", 1)):
        page.keyboard.press(key)
        assert page.evaluate("PmoGallery.grid.focused()") == place, key
    page.keyboard.press("Enter")
    page.wait_for_selector("#viewer .panels")
    assert "2 of 66" in page.inner_text("#viewer-place")
    page.keyboard.press("j")
    page.wait_for_timeout(150)
    assert "3 of 66" in page.inner_text("#viewer-place")
    assert page.url.endswith("#figure=PMC2/crossed")
    page.keyboard.press("ArrowLeft")
    page.wait_for_timeout(150)
    assert page.url.endswith("#figure=PMC4736323/unmarked")
    page.keyboard.press("?")
    assert page.is_visible("#help")
    page.keyboard.press("Escape")
    assert not page.is_visible("#help")
    assert page.is_visible("#viewer")
    page.keyboard.press("Escape")
    assert not page.is_visible("#viewer")
    assert page.evaluate("PmoGallery.grid.focused()") == 1, "back where it was"
    assert not page.url.endswith("unmarked")


def test_back_closes_the_figure_and_a_link_opens_it(opened: Opened) -> None:
    page = opened("#split=test")
    page.locator(".card").first.click()
    page.wait_for_selector("#viewer .panels")
    assert page.url.endswith("#split=test&figure=PMC2/crossed")
    assert "1 of 2" in page.inner_text("#viewer-place")
    page.go_back()
    page.wait_for_selector("#viewer", state="hidden")
    assert page.url.endswith("#split=test")
    page.go_forward()
    page.wait_for_selector("#viewer", state="visible")
    outside = opened("#split=test&figure=PMC4/split")
    outside.wait_for_selector("#viewer .panels")
    assert outside.inner_text("#viewer-place") == "not in the selection"


@pytest.mark.parametrize(
    ("fragment", "said"),
    [
        ("#figure=PMC4/none", "does not have: figure PMC4/none."),
        ("#article=PMC9999&figure=PMC9999/f", "does not have: article PMC9999 and figure PMC9999/f."),
        ("#type=OCT&type=Ultrasound&licence=X", "does not have: image type “Ultrasound” and licence “X”."),
    ],
)
def test_an_address_of_what_is_not_there_says_so(opened: Opened, fragment: str, said: str) -> None:
    page = opened(fragment)
    assert not page.is_visible("#viewer")
    assert said in page.inner_text("#missing")
    page.click("#close-missing")
    assert not page.is_visible("#missing")
    page.evaluate("location.hash = 'figure=PMC4/split'")
    page.wait_for_selector("#viewer .panels")
    assert not page.is_visible("#missing")


def test_what_has_a_picture_comes_first_and_can_be_asked_for(opened: Opened) -> None:
    page = opened("#year=2021-2022")
    assert shown(page) == ["split", "nd"], "in the release it is the other way round"
    assert counts(page, "picture") == {"with picture and text": 2, "withheld": 1}
    assert shown(opened("#year=2021-2022&picture=withheld")) == ["nd"]
    assert "nd" not in shown(opened("#picture=with picture and text"))
    assert (
        page.locator(".shot .withheld").inner_text() == "Picture withheld\n(CC BY-NC-ND does not let it be passed on)"
    )


def test_ids_of_the_selection(opened: Opened) -> None:
    page = opened("#type=OCT&mark=marked")
    page.click("#open-export")
    assert page.inner_text("#export-count").startswith("2 panels")
    with page.expect_download() as download:
        page.click("#csv")
    rows = list(csv.DictReader(io.StringIO(Path(download.value.path()).read_text("utf-8"))))
    assert [(row["panel_id"], row["article_id"], row["image_cluster_id"]) for row in rows] == [
        ("panel-A", "4736323", "both"),
        ("panel-A", "3", "nd"),
    ]
    assert rows[1] == {
        "panel_id": "panel-A", "article_id": "3", "image_cluster_id": "nd", "image_types": "OCT",
        "mark_statuses": "marked", "assembly": "by hand", "confidence": "0.95", "license": "CC BY-NC-ND",
        "split": "test", "year": "2021",
    }  # fmt: skip
    whole = opened()
    whole.click("#open-export")
    with whole.expect_download() as download:
        whole.click("#csv")
    rows = list(csv.DictReader(io.StringIO(Path(download.value.path()).read_text("utf-8"))))
    assert len(rows) == 69
    assert any(row["image_cluster_id"].startswith("<script>") for row in rows), "quoted, as it is"


def test_the_same_panels_as_parquet_and_as_ids_and_again_by_their_address(opened: Opened) -> None:
    page = opened("#type=OCT&page=1&figure=PMC4/split&sort=newest")
    page.wait_for_selector("#viewer .panels")
    page.click("#viewer-close")
    page.click("#open-export")
    with page.expect_download() as download:
        page.click("[data-form=parquet]")
    content = Path(download.value.path()).read_bytes()
    table = pl.read_parquet(io.BytesIO(content))
    assert table.columns == [
        "panel_id", "article_id", "image_cluster_id", "image_types", "mark_statuses", "assembly", "confidence",
        "license", "split", "year",
    ]  # fmt: skip
    first = table.row(0, named=True)
    assert (first["article_id"], first["year"], first["confidence"], first["split"]) == (4736323, 2015, None, "train")
    assert table.filter(pl.col("image_cluster_id") == "nd")["confidence"].to_list() == [0.95]
    assert table["image_cluster_id"].to_list()[-1] == plain_text(HOSTILE)
    metadata = pq.read_metadata(io.BytesIO(content)).metadata
    address = metadata[b"pmo_address"].decode()
    assert address == page.input_value("#export-address")
    assert address.endswith("index.html#type=OCT")
    with page.expect_download() as download:
        page.click("[data-form=txt]")
    ids = Path(download.value.path()).read_text("utf-8")
    assert ids.splitlines() == table["panel_id"].to_list()
    again = opened("#" + address.partition("#")[2])
    assert again.evaluate("PmoGallery.exported.content('txt')") == ids
    nothing = opened("#q=nothingofthekind")
    assert nothing.is_disabled("#open-export")


def test_a_long_list_without_a_value_in_a_column_is_parquet_all_the_same(opened: Opened) -> None:
    page = opened()
    sent = page.evaluate(
        """() => {
          const values = Array.from({ length: 1003 }, (_, i) => (i % 3 ? `é${i}` : null));
          const columns = [{ name: "text", kind: "text", values },
            { name: "whole", kind: "whole", values: values.map(() => null) },
            { name: "half", kind: "fraction", values: values.map((_, i) => i / 2) }];
          return [Array.from(PmoGallery.parquetFile(columns, { x: "y" })),
            Array.from(PmoGallery.parquetFile(columns.map((column) => ({ ...column, values: [] })), {}))];
        }"""
    )
    table, empty = (pl.read_parquet(io.BytesIO(bytes(content))) for content in sent)
    assert table["text"].to_list() == [f"é{i}" if i % 3 else None for i in range(1003)]
    assert table["whole"].null_count() == 1003
    assert table["half"].to_list() == [i / 2 for i in range(1003)]
    assert (empty.height, empty.columns) == (0, ["text", "whole", "half"])


def test_reports_are_gathered_and_taken_along(opened: Opened) -> None:
    page = opened("#figure=PMC4/split")
    page.wait_for_selector("#viewer .panels")
    page.locator("summary").click()
    page.select_option(".report select >> nth=0", "subcaption")
    page.select_option(".report select >> nth=1", "1")
    page.fill(".report textarea", "It belongs to A.")
    page.click(".report .main")
    page.keyboard.press("j")  # in a field or on a button of the form, j is no letter of a text but a step
    page.keyboard.press("Escape")
    page.reload()
    page.wait_for_selector("html[data-ready]")
    assert page.inner_text("#report-count") == "1", "kept in the browser"
    page.evaluate("location.hash = 'figure=PMC3/nd'")
    page.wait_for_selector("#viewer .panels")
    page.locator("summary").click()
    page.select_option(".report select >> nth=0", "figure")
    page.click(".report .main")
    page.keyboard.press("Escape")
    page.click("#open-reports")
    with page.expect_download() as download:
        page.click("#download-reports")
    told = json.loads(Path(download.value.path()).read_text("utf-8"))
    assert told["pmo_reports"] == 1
    assert told["gallery"] == "Gallery"
    first, second = told["reports"]
    assert (first["article_id"], first["figure"], first["panel_id"], first["panel"], first["mistake"]) == (
        4, "split", "panel-B", "B", "subcaption",
    )  # fmt: skip
    assert first["remark"] == "It belongs to A."
    assert (second["article_id"], second["panel_id"], second["mistake"]) == (3, None, "figure")
    page.locator("#report-list button").first.click()
    assert page.inner_text("#report-count") == "1"
    page.on("dialog", lambda dialog: dialog.accept())
    page.click("#clear-reports")
    assert page.locator("#report-list li").count() == 0


def test_a_file_that_is_not_there_is_said_and_the_rest_is_shown(browser: Browser, tmp_path: Path) -> None:
    address = gallery_folder(tmp_path, [*SPECIAL, *FILLING])
    (tmp_path / "data/figures/0/0.js").unlink()
    page = browser.new_page()
    page.goto(address.as_uri())
    page.wait_for_selector(".card.broken")
    assert "figures/0 cannot be loaded" in page.inner_text(".card.broken >> nth=0")
    page.keyboard.press("End")
    page.evaluate("window.scrollTo(0, 2000)")
    page.wait_for_selector(".card img")
    page.close()


# ---- what the article says of panels ---------------------------------------------------------------------------------

FLUID = "Figure 2A, a B-scan of the right-eye macula, shows subretinal fluid & no drusen, possibly since May."
WHOLE = "Both eyes are shown in Fig. 2."
SAID = [
    entity(FLUID, "subretinal fluid", number=0),
    entity(FLUID, "drusen", number=0, negated=True),
    entity(FLUID, "since May", "time", "P1M", number=0, uncertain=True),
    entity("OCT of the macula 👁 with oedema.", "oedema", "finding", "edema"),
]
AMD = ("age-related macular degeneration", "macular disease")
FILTERS = [GalleryFilter("diseases", "Disease"), GalleryFilter("eye", "Eye", {"OD": "right eye"})]
RARE = [f"rare disease {number:02d}" for number in range(20)]
TOLD = [
    figure(
        panel("A", subcaption="OCT of the macula 👁 with oedema.", filtered=(("neovascular AMD", *AMD), ("OD",)),
              context=told_of(mention(FLUID), mention(WHOLE, start=200, kind="names figure"), entities=SAID,
                              summed=[mention(FLUID)])),
        panel("B", subcaption="A vein.", filtered=((), ()), context=told_of(mention(WHOLE, start=200))),
        cluster="told", article_id=8, url="https://pmc.ncbi.nlm.nih.gov/articles/PMC8/",
    ),
    figure(
        panel(None, subcaption=HOSTILE, filtered=((*AMD, "<b>rare, x</b>"), ("OS",)),
              context=told_of(mention(HOSTILE, title=HOSTILE), generated=HOSTILE,
                              entities=[entity(HOSTILE, "onerror", number=0, term=HOSTILE)])),
        cluster="hostile", article_id=9, url="https://doi.org/10.1000/9", caption=HOSTILE,
    ),
    *(figure(panel(None, filtered=((name,), ())), cluster=name[-2:], article_id=10) for name in RARE),
]  # fmt: skip


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("told")
    return gallery_folder(folder, TOLD, title="Gallery", filters=FILTERS).as_uri()


@pytest.mark.parametrize(
    ("fragment", "clusters", "count"),
    [
        ("#diseases=macular disease", ["told", "hostile"], "2 / 23 panels"),
        ("#diseases=Neovascular+AMD", ["told"], "1 / 23 panels"),
        ("#diseases=macular+disease&eye=OS", ["hostile"], "1 / 23 panels"),
        ("#diseases=%3Cb%3Erare,+x%3C/b%3E", ["hostile"], "1 / 23 panels"),
        ("#diseases=neovascular AMD&diseases=rare disease 03", ["told", "03"], "2 / 23 panels"),
        ("#diseases=none", ["told"], "1 / 23 panels"),
    ],
)
def test_a_wider_term_finds_what_lies_within_it(
    opened: Opened, told: str, fragment: str, clusters: list[str], count: str
) -> None:
    page = opened(fragment, told)
    assert shown(page) == clusters
    assert page.inner_text("#count").startswith(count)
    again = opened("#" + page.evaluate("PmoGallery.filters.address()"), told)
    assert shown(again) == clusters, "the address leads back"


@pytest.mark.parametrize(
    ("words", "found", "everywhere"),
    [
        ('"of the macula with oedema"', ["told"], ["told"]),
        ('"macula of the"', [], []),
        ('"oedema macula" ', [], []),
        ("“a vein”", ["told"], ["told"]),
        ("subretinal", [], ["told"]),
        ('"subretinal fluid"', [], ["told"]),
        ('"drusen possibly since"', [], ["told"]),
        ('"May Both"', [], []),  # two sentences
        ("wicked OR vein", ["told"], ["told"]),
        ("vein | since may", ["told"], ["told"]),
        ("oedema -vein", ["told"], ["told"]),
        ("rare OR retinal -vein NOT naevus", None, None),
    ],
)
def test_phrases_alternatives_exclusions_and_what_articles_say(
    opened: Opened, told: str, words: str, found: list[str] | None, everywhere: list[str] | None
) -> None:
    page = opened("", told)
    for within, clusters in (("", found), ("mentions", everywhere)):
        page.select_option("#within", within)
        page.fill("#q", words)
        settled(page)
        if clusters is not None:
            assert shown(page) == clusters, within
        again = opened("#" + page.evaluate("PmoGallery.filters.address()"), told)
        assert shown(again) == shown(page), "the address leads back"


def test_what_is_left_out_leaves_the_other_panels(opened: Opened, told: str) -> None:
    def hits(words: str) -> list[int]:
        page = opened(f"#in=mentions&q={words}", told)
        return list(page.evaluate("Array.from(PmoGallery.filters.panelHits(0))"))

    assert hits("both") == [1, 1]
    assert hits("both -vein") == [1, 0]
    assert hits("both NOT subretinal") == [0, 1]
    assert hits("-vein -oedema") == [0, 0]
    assert hits("vein OR oedema") == [1, 1]
    assert hits("-serous") == [0, 0], "a word of the title is of the whole figure"


def seen_options(page: Page, facet: str) -> list[str]:
    return [" ".join(text.split()) for text in page.locator(f"#facet-{facet} label:visible").all_inner_texts()]


def test_of_hundreds_of_options_the_most_frequent_are_shown_and_words_find_the_others(
    opened: Opened, told: str
) -> None:
    page = opened("", told)
    first = seen_options(page, "diseases")
    assert len(first) == 8
    assert first[:2] == ["age-related macular degeneration 2", "macular disease 2"]
    page.fill("#facet-diseases input[type=search]", "rare 1")
    assert seen_options(page, "diseases") == [f"rare disease {number} 1" for number in range(10, 18)]
    page.click("#facet-diseases .link")
    assert len(seen_options(page, "diseases")) == 10
    page.locator("#facet-diseases label", has_text="rare disease 17").click()
    settled(page)
    assert shown(page) == ["17"]
    page.fill("#facet-diseases input[type=search]", "macul")
    assert seen_options(page, "diseases")[-1] == "rare disease 17 1", "what is chosen stays"
    assert page.url.endswith("#diseases=rare+disease+17")
    page.click("#reset")
    settled(page)
    page.locator("#facet-eye label", has_text="right eye").click()
    settled(page)
    assert set(seen_options(page, "diseases")) == {
        "age-related macular degeneration 1", "macular disease 1", "neovascular AMD 1",
    }, "only options that leave something"  # fmt: skip


def test_words_are_marked_and_sentences_lead_to_their_place_in_the_article(opened: Opened, told: str) -> None:
    page = opened("#figure=PMC8/told", told)
    page.wait_for_selector("#viewer .panels")
    first, second = page.locator(".panels>li").all()
    (own,) = first.locator(":scope > .sub mark").all()
    assert (own.inner_text(), own.get_attribute("title")) == ("oedema", "finding: edema")
    assert "Eye\nOD" in first.inner_text()
    assert "Eye" not in second.inner_text()
    assert first.locator(".sentences li").count() == 0, "made when they are asked for"
    first.locator("summary").click()
    sentences = first.locator(".sentences > li").all()
    assert [sentence.locator(".sub").inner_text() for sentence in sentences] == [FLUID, WHOLE]
    marks = {mark.inner_text(): mark.get_attribute("class") or "" for mark in sentences[0].locator("mark").all()}
    assert list(marks) == ["subretinal fluid", "drusen", "since May"]
    assert ("negated" in marks["drusen"], "uncertain" in marks["drusen"]) == (True, False)
    assert "uncertain" in marks["since May"]
    drusen = sentences[0].locator("mark", has_text="drusen")
    assert "line-through" in drusen.evaluate("(one) => getComputedStyle(one).textDecorationLine")
    assert [" ".join(one.locator(".from").inner_text().split()) for one in sentences] == [
        "Results names the panel in the article ↗", "Results names the figure in the article ↗",
    ]  # fmt: skip
    link = sentences[0].locator("a").get_attribute("href") or ""
    address, _, fragment = link.partition("#:~:text=")
    assert address == "https://pmc.ncbi.nlm.nih.gov/articles/PMC8/"
    assert fragment == "Figure%202A%2C%20a%20B%2Dscan%20of,no%20drusen%2C%20possibly%20since%20May"
    assert (sentences[1].locator("a").get_attribute("href") or "").endswith(
        "#:~:text=Both%20eyes%20are%20shown%20in%20Fig.%202"
    )
    legend = page.locator(".entity-legend li").all_inner_texts()
    assert legend == ["finding", "time", "negated", "uncertain"]


def test_hostile_words_of_the_text_are_only_text(opened: Opened, told: str) -> None:
    page = opened("#figure=PMC9/hostile", told)
    page.wait_for_selector("#viewer .panels .sentences")
    assert page.title() == "Gallery"
    assert OWNED in page.inner_text(".panels .sentences")
    assert OWNED in page.inner_text(".context-of")
    assert page.locator(".sentences a").count() == 0, "no place is known in an article that is not at PMC"
    assert page.locator("#viewer script, #viewer img[src=x]").count() == 0


def test_what_cannot_be_loaded_of_the_text_leaves_the_figure(browser: Browser, tmp_path: Path) -> None:
    address = gallery_folder(tmp_path, TOLD[:1], filters=FILTERS)
    (tmp_path / "data/context/0/0.js").unlink()
    page = browser.new_page()
    page.goto(address.as_uri() + "#figure=PMC8/told")
    page.wait_for_selector("#viewer .panels")
    assert "OCT of the macula" in page.inner_text(".panels")
    assert "context/0 cannot be loaded" in page.inner_text(".read")
    page.close()
