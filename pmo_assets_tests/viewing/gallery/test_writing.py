"""The gallery's folder: complete, the same for the same figures, bounded in memory, and safe with hostile articles."""

from __future__ import annotations

import base64
import dataclasses
import io
import re
import tracemalloc
from array import array
from collections.abc import Iterator
from typing import Any

import lxml.html
import pytest
from PIL import Image

from pmo_assets.records.figure import PageBox, PageSize
from pmo_assets.viewing.gallery import GalleryFigure, GalleryFilter
from pmo_assets.viewing.gallery.columns import NOTHING, packed
from pmo_assets.viewing.gallery.pictures import LARGE_SIDE, SMALL_SIDE, figure_pictures
from pmo_assets.viewing.gallery.writing import FIGURES_PER_FILE, IDS_PER_FILE
from pmo_assets_tests.viewing.gallery_figures import figure, panel, png_bytes, registered, written_files

TWO = figure(
    panel("A", ("OCT", True), segments=((0, 10), (15, 21)), subcaption="Both eyes. Right."),
    panel("B", ("CFP", False), segments=((0, 10), (26, 31)), subcaption="Both eyes. Left.", box=(0.5, 0.0, 1.0, 1.0)),
)


def page_of(files: dict[str, bytes]) -> lxml.html.HtmlElement:
    return lxml.html.document_fromstring(files["index.html"])


def text(element: lxml.html.HtmlElement) -> str:
    return " ".join(element.text_content().split())


def entry_of(shown: GalleryFigure) -> dict[str, Any]:
    return registered(written_files([shown])[1]["data/figures/0/0.js"])["figures"][0]


@pytest.mark.parametrize(
    ("article_id", "package", "name"),
    [
        (4736323, "PMC4736323.1", "PMC4736323"),
        (4736323, None, "PMC4736323"),
        (4736323, "PMC1", "PMC1 (PMC4736323)"),
        (4736323, "downloaded", "downloaded (PMC4736323)"),
        (9000000001, "sample_01", "sample_01 (9000000001)"),
    ],
)
def test_an_article_is_called_by_its_package_beside_its_number(article_id: int, package: str | None, name: str) -> None:
    shown = dataclasses.replace(TWO, article_id=article_id, package=package)
    (article,) = registered(written_files([shown])[1]["data/figures/0/0.js"])["articles"]
    assert (article["id"], article["name"]) == (str(article_id), name)


def test_it_begins_with_what_can_be_used_and_counts_what_is_withheld() -> None:
    closed = figure(panel("A", subcaption=None, redistributable=False), image=b"", caption="", license="CC BY-ND")
    page = page_of(written_files([closed, TWO, closed])[1])
    facts = {text(fact.find("dt")): text(fact.find("dd")) for fact in page.xpath("//dl[@class='facts']/div")}
    assert facts == {"panels with picture and text": "2", "withheld": "2", "figures": "3", "articles": "1"}


def test_a_private_gallery_says_so_on_each_page_of_it() -> None:
    """Also where a figure or the list of panels lies over the page."""
    page = page_of(written_files([TWO], private=True)[1])
    assert "Private: not to be passed on." in text(page.find(".//p[@class='private']"))
    marked = [place for place in ("viewer", "export") if page.xpath(f"//dialog[@id='{place}']//strong[.='Private']")]
    assert marked == ["viewer", "export"]
    assert "noindex" in page.xpath("//meta[@name='robots']/@content")[0]
    assert "Private" not in written_files([TWO])[1]["index.html"].decode()


def test_the_header_has_title_facts_and_notes() -> None:
    written, files = written_files([TWO], title="Panels of batch 7", facts={"Version": "0.1.0"}, notes="One.\n\nTwo.")
    page = page_of(files)
    assert page.findtext(".//title") == text(page.find(".//h1")) == "Panels of batch 7"
    facts = {text(fact.find("dt")): text(fact.find("dd")) for fact in page.xpath("//dl[@class='facts']/div")}
    assert list(facts.items()) == [
        ("panels with picture and text", "2"), ("articles", "1"), ("figures", "1"), ("Version", "0.1.0"),
    ]  # fmt: skip
    assert [text(p) for p in page.xpath("//*[@class='notes']/p")] == ["One.", "Two."]
    assert (written.articles, written.figures, written.panels) == (1, 1, 2)
    assert set(written.files) == set(files)
    assert written.size == sum(map(len, files.values()))


def test_figures_lie_in_files_of_fixed_length_with_their_pictures() -> None:
    count = 2 * FIGURES_PER_FILE + 1
    many = [dataclasses.replace(TWO, image_cluster_id=f"g{i}") for i in range(count)]
    files = written_files(many)[1]
    pages = [registered(files[f"data/figures/0/{number}.js"]) for number in range(3)]
    assert [len(page["figures"]) for page in pages] == [FIGURES_PER_FILE, FIGURES_PER_FILE, 1]
    assert [entry["cluster"] for page in pages for entry in page["figures"]] == [f"g{i}" for i in range(count)]
    assert [len(registered(files[f"data/pictures/0/{number}.js"])) for number in range(3)] == [
        len(page["small"]) for page in pages
    ]
    assert len(pages[0]["articles"]) == 1, "what figures of an article share is said once"
    assert registered(files["data/ids/0/0.js"])["panels"][0] == ["panel-A", "panel-B"]
    assert len(files) < 30


def test_files_do_not_pile_up_in_one_folder() -> None:
    count = 100 * FIGURES_PER_FILE + 1
    files = written_files(dataclasses.replace(TWO, image=b"", panels=()) for _ in range(count))[1]
    assert "data/figures/0/99.js" in files
    assert "data/figures/1/100.js" in files
    assert len(registered(files["data/ids/0/2.js"])["clusters"]) == count - 2 * IDS_PER_FILE


def test_a_figure_says_what_is_known_of_it() -> None:
    entry = entry_of(
        dataclasses.replace(
            TWO, caption_confidence=0.876, page_boxes=(PageBox(3, (10, 20, 30, 40)),),
            caption_boxes=(PageBox(3, (10, 41, 30, 50)),), page_sizes=(PageSize(3, 612.0, 792.0),),
        )
    )  # fmt: skip
    first, second = entry["panels"]
    assert first["box"] == [0, 0, 50, 100]
    assert second["box"] == [50, 0, 50, 100]
    assert (first["name"], first["score"], first["text"]) == ("A", 0.91, "Both eyes. Right.")
    assert first["images"] == [{"box": [0, 0, 50, 100], "type": 0, "score": 0.88, "mark": 0}]
    assert second["images"][0]["mark"] == 1
    assert first["identifiers"] == [[0, 90, 10, 10]]
    assert entry["caption"] == [["Both eyes.", [0, 1]], " (A) ", ["Right.", [0]], " (B) ", ["Left.", [1]]]
    assert entry["aspect"] == 1.5
    assert entry["sure"] == 0.88
    assert (entry["onPages"], entry["captionOnPages"]) == ([[3, 10, 20, 30, 40]], [[3, 10, 41, 30, 50]])
    assert entry["pages"] == [[3, 612, 792]]


def test_a_subcaption_that_is_the_whole_caption_is_said_once() -> None:
    assert entry_of(figure(panel(None, subcaption="Whole."), caption="Whole."))["panels"][0]["text"] is True
    assert "text" not in entry_of(figure(panel(None, subcaption=None)))["panels"][0]


def test_pictures_come_in_two_sizes_without_anything_of_the_file_but_its_pixels() -> None:
    noted = io.BytesIO()
    information = Image.Exif()
    information[0x010E] = "who took it"
    Image.open(io.BytesIO(png_bytes(1600, 1000))).convert("RGB").save(noted, "JPEG", exif=information)
    files = written_files([dataclasses.replace(TWO, image=noted.getvalue())])[1]
    small = base64.b64decode(registered(files["data/figures/0/0.js"])["small"][0])
    large = base64.b64decode(registered(files["data/pictures/0/0.js"])[0])
    for data, side in ((small, SMALL_SIDE), (large, LARGE_SIDE)):
        picture = Image.open(io.BytesIO(data))
        assert picture.format == "WEBP"
        assert max(picture.size) == side
        assert b"who took it" not in data


def test_transparency_lies_on_white() -> None:
    buffer = io.BytesIO()
    Image.new("RGBA", (20, 20), (0, 0, 0, 0)).save(buffer, "PNG")
    pictures = figure_pictures(buffer.getvalue())
    assert pictures is not None
    assert min(Image.open(io.BytesIO(pictures.small)).tobytes()) >= 250


@pytest.mark.parametrize("image", [b"", b"<svg onload=alert(1)>", b"%PDF-1.7", png_bytes()[:60], b"\x89PNG\r\n\x1a\n"])
def test_bytes_that_are_no_picture_are_not_included(image: bytes) -> None:
    files = written_files([dataclasses.replace(TWO, image=image)])[1]
    assert registered(files["data/figures/0/0.js"])["small"] == [None]
    assert registered(files["data/pictures/0/0.js"]) == [None]


@pytest.mark.parametrize("size", [(0, 0), (-1, 5), (1, 10**9), (10**9, 1)])
def test_odd_sizes_boxes_and_places_do_not_break_the_page(size: tuple[int, int]) -> None:
    nan = float("nan")
    odd = figure(
        panel("A", ("OCT", True), box=(nan, 0, 1, 1)),
        panel("B", ("OCT", True), box=(-5.0, -5.0, 9.0, 9.0), confidence=nan),
        panel("C", ("OCT", True), box=(0.7, 0.2, 0.2, 0.9)),
        year=-5,
        page_boxes=(PageBox(0, (nan, 0, 1, 1)), PageBox(-1, (0, 0, 1, 1)), PageBox(0, (0, 0, 9, 9))),
        page_sizes=(PageSize(0, nan, 10), PageSize(0, 0, 10), PageSize(1, 5, 5)),
    )
    entry = entry_of(dataclasses.replace(odd, width=size[0], height=size[1]))
    assert ["box" in item and item["box"] is not None for item in entry["panels"]] == [False, True, True]
    assert 0.05 <= entry["aspect"] <= 20
    assert entry["onPages"] == [[0, 0, 0, 9, 9]]
    assert entry["pages"] == [[1, 5, 5]]


def test_links_that_are_not_of_the_web_are_dropped() -> None:
    files = written_files([dataclasses.replace(TWO, article_url="javascript:alert(1)", pdf_url="data:,x")])[1]
    (article,) = registered(files["data/figures/0/0.js"])["articles"]
    assert not {"url", "pdf"} & set(article)


HOSTILE = '</script></style></title>--><script>alert(1)</script><img src=x onerror="alert(1)">\x00\ud800\u202e\u2028'


def test_hostile_text_is_only_text() -> None:
    hostile = dataclasses.replace(
        figure(
            dataclasses.replace(
                panel(HOSTILE, (HOSTILE, None), subcaption=HOSTILE, assembly=HOSTILE, segments=((3, 30),)),
                panel_id=HOSTILE,
            ),
            panel('"><b onclick=alert(1)>', ("OCT", True), segments=((20, 60),)),
            url="javascript:alert(1)", title=HOSTILE, caption=HOSTILE, license=HOSTILE, cluster=HOSTILE,
            journal=HOSTILE, split=HOSTILE,
        ),
        label=HOSTILE, attribution=HOSTILE, doi=HOSTILE,
    )  # fmt: skip
    files = written_files([hostile], title=HOSTILE, facts={HOSTILE: HOSTILE}, notes=HOSTILE)[1]
    for name, content in files.items():
        if name.startswith("data/"):
            assert b"<" not in content, name
            assert b"\xe2\x80\xa8" not in content, "a line separator would end a text in old engines"
            registered(content)
    page = page_of(files)
    assert all(script.get("src") and not script.text for script in page.xpath("//script"))
    assert page.xpath("//style | //img | //*[@style]") == []
    assert [key for element in page.iter() for key in element.attrib if key.lower().startswith("on")] == []
    assert all(re.fullmatch(r"[\w./-]+", name) for name in files), "no name of a file comes from an article"


def test_only_own_files_are_loaded_and_run() -> None:
    files = written_files([TWO])[1]
    page = page_of(files)
    (policy,) = page.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == rules["style-src"] == "'self'"
    assert rules["img-src"] == "'self' data:"
    loaded = [value.split("?")[0] for value in page.xpath("//script/@src | //link[@rel='stylesheet']/@href")]
    assert set(loaded) <= set(files)
    style = next(content.decode() for name, content in files.items() if name.endswith(".css"))
    assert "@import" not in style
    assert "url(" not in style
    scripts = [content.decode() for name, content in files.items() if name.startswith("app/") and name.endswith(".js")]
    assert len(scripts) > 5
    for script in scripts:
        assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|new Function|fetch\(", script)


def test_names_of_scripts_tell_their_content_and_data_are_asked_for_by_version() -> None:
    one, other = written_files([TWO])[1], written_files([dataclasses.replace(TWO, caption="Other.")])[1]
    versions = [page_of(files).xpath("//meta[@name='data-version']/@content") for files in (one, other)]
    assert versions[0] != versions[1]
    assert {name for name in one if name.startswith("app/")} == {name for name in other if name.startswith("app/")}
    assert page_of(one).xpath(f"//script[@src='data/catalogue.js?v={versions[0][0]}']")


def test_a_filter_of_lists_holds_each_set_of_values_once() -> None:
    values = [("macular disease", "AMD"), (), ("AMD", "macular disease"), ("AMD",), ("AMD",)]
    shown = figure(*(panel(str(i), filtered=(own, ("OD",))) for i, own in enumerate(values)))
    filters = [GalleryFilter("diseases", "Disease"), GalleryFilter("eye", "Eye", {"OD": "right eye"})]
    catalogue = registered(written_files([shown], filters=filters)[1]["data/catalogue.js"])
    diseases, eye = catalogue["filters"]
    assert (diseases["name"], diseases["title"]) == ("diseases", "Disease")
    assert diseases["values"] == ["macular disease", "AMD", NOTHING]
    sets = {"sizes": packed(array("I", [2, 1, 1])), "members": packed(array("I", [0, 1, 2, 1]))}
    assert diseases["sets"] == sets, "macular disease and AMD; nothing; AMD"
    assert catalogue["columns"]["panel"]["filter0"] == packed(array("I", [0, 1, 0, 2, 2]))
    assert (eye["values"], eye["names"]) == (["OD"], {"OD": "right eye"})


def test_the_same_figures_give_the_same_files() -> None:
    many = [dataclasses.replace(TWO, image_cluster_id=f"g{i}", image=png_bytes(60 + i, 40)) for i in range(40)]
    assert written_files(many)[1] == written_files(iter(many))[1]


def test_a_gallery_of_nothing_is_a_page() -> None:
    written, files = written_files([])
    assert (written.figures, written.panels) == (0, 0)
    assert registered(files["data/catalogue.js"])["counts"] == {"articles": 0, "figures": 0, "panels": 0}


@pytest.mark.slow
def test_figures_are_taken_one_by_one_and_not_kept() -> None:
    image = png_bytes(300, 200)
    count = 400

    def endless() -> Iterator[GalleryFigure]:
        for number in range(count):
            # A caption of 40 kB each: 16 MB if they were kept, and again for each form in which they are written.
            caption = f"Figure number{number} " + ("hyperfluorescence" * 10 + " ") * 240
            yield dataclasses.replace(
                TWO, image=image if number % 50 == 0 else b"", caption=caption, article_id=number + 1
            )

    written = 0

    def write(name: str, content: bytes) -> None:
        nonlocal written
        written += len(content)

    from pmo_assets.viewing.gallery import write_gallery_folder

    tracemalloc.start()
    write_gallery_folder(endless(), write, title="x", facts={})
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert written > 16e6
    assert peak < 10e6
