"""The gallery: complete, self-contained, and safe with hostile articles."""

import dataclasses
import json
import re

import lxml.html
import pytest

from pmo_assets.viewing.gallery import render_gallery
from pmo_assets.viewing.markup import content_hash
from pmo_assets_tests.viewing.gallery_figures import figure, panel

CAPTION = "Both eyes. (A) Right. (B) Left."
TWO = figure(
    panel("A", ("OCT", True), segments=((0, 10), (15, 21)), subcaption="Both eyes. Right."),
    panel("B", ("CFP", False), segments=((0, 10), (26, 31)), subcaption="Both eyes. Left.", box=(0.5, 0.0, 1.0, 1.0)),
)


def page_of(*figures, **options) -> lxml.html.HtmlElement:
    options = {"title": "Gallery", "facts": {"Figures": "1"}, **options}
    return lxml.html.document_fromstring(render_gallery(figures, **options).encode("utf-8"))


def text(element) -> str:
    return " ".join(element.text_content().split())


def test_the_header_has_title_facts_and_notes():
    page = page_of(
        TWO, title="Panels of batch 7", facts={"Articles": "1", "Version": "0.1.0"}, notes="First.\n\nSecond."
    )
    assert page.findtext(".//title") == "Panels of batch 7"
    assert text(page.find(".//h1")) == "Panels of batch 7"
    facts = page.xpath("//dl[@class='facts']/div")
    assert [(text(fact.find("dt")), text(fact.find("dd"))) for fact in facts] == [
        ("Articles", "1"),
        ("Version", "0.1.0"),
    ]
    assert [text(p) for p in page.xpath("//*[@class='notes']/p")] == ["First.", "Second."]


def test_a_figure_shows_picture_caption_licence_and_link():
    (card,) = page_of(TWO).xpath("//article")
    (image,) = card.xpath(".//img")
    assert image.get("src").startswith("data:image/png;base64,")
    assert image.get("loading") == "lazy"
    assert image.get("alt") == "Figure 1 of PMC4736323"
    assert text(card.xpath(".//h3")[0]) == "Figure 1"
    assert "CC BY" in [text(chip) for chip in card.xpath(".//*[contains(@class, 'chip good')]")]
    assert card.xpath(".//a/@href") == ["https://pmc.ncbi.nlm.nih.gov/articles/PMC4736323/"]
    assert {link.get("rel") for link in page_of(TWO).xpath("//a[@target]")} == {"noopener noreferrer"}


def test_panels_are_listed_with_subcaption_type_mark_and_scores():
    items = page_of(TWO).xpath("//ol[@class='panels']/li")
    assert [text(item.xpath(".//*[@class='sub']")[0]) for item in items] == ["Both eyes. Right.", "Both eyes. Left."]
    assert [text(item.find("button")) for item in items] == ["Panel A", "Panel B"]
    assert "OCT 0.88 · marked" in text(items[0])
    assert "panel 0.91" in text(items[0])
    assert "CFP 0.88 · unmarked" in text(items[1])


def test_boxes_lie_where_the_panels_are():
    page = page_of(TWO)
    boxes = [
        tuple(rect.get(key) for key in ("x", "y", "width", "height"))
        for rect in page.xpath("//svg/*[@class='panel']/rect[not(@class)]")
    ]
    assert boxes == [("0%", "0%", "50%", "100%"), ("50%", "0%", "50%", "100%")]
    assert len(page.xpath("//svg/*[@class='image']")) == 2
    assert len(page.xpath("//svg/*[@class='identifier']")) == 2
    assert page.xpath("//*[@class='stage']/@style") == ["--ar:1.5000"]


def test_box_subcaption_and_part_of_the_caption_are_linked_by_the_panel_number():
    page = page_of(TWO)
    linked = page.xpath("//*[@data-panels='1']")
    kinds = {element.tag if element.tag == "li" else element.get("class") for element in linked}
    assert {"li", "panel", "image", "seg", "tag name"} <= kinds
    (part,) = [element for element in linked if element.get("class") == "seg"]
    assert "".join(part.xpath("text()")) == "Left."
    shared = page.xpath("//*[@class='cap']/*[@data-panels='0 1']")
    assert [text(element) for element in shared] == ["Both eyes."]


def test_filters_offer_what_occurs():
    page = page_of(
        TWO,
        figure(panel(None, (None, None), assembly="by hand"), article_id=7, license=None, title="Other article"),
    )
    names = [text(label) for label in page.xpath("//fieldset[contains(@class, 'types')]/label")]
    assert names == ["CFP", "OCT", "type undecided"]
    assert [option.text for option in page.xpath("//select[@id='licence']/option")] == [
        "All licences",
        "CC BY",
        "licence unknown",
    ]
    assert [option.text for option in page.xpath("//select[@id='assembly']/option")] == [
        "Any assembly",
        "automatic",
        "by hand",
    ]
    assert [option.get("value") for option in page.xpath("//select[@id='article']/option")] == ["", "4736323", "7"]
    options = json.loads(page.get_element_by_id("options").text)
    first, second = (item.get("data-images") for item in page.xpath("//ol/li")[:2])
    assert options["types"][int(first.split(":")[0])] == "OCT"
    assert options["statuses"][int(second.split(":")[1])] == "unmarked"


def test_figures_of_one_article_stand_together():
    page = page_of(TWO, figure(panel(), article_id=7), dataclasses.replace(TWO, image_cluster_id="fig.002"))
    assert [len(section.xpath("article")) for section in page.xpath("//section")] == [2, 1]


def test_every_id_is_unique_even_when_figures_are_not():
    page = page_of(TWO, TWO, dataclasses.replace(TWO, image_cluster_id="fig/001"))
    ids = page.xpath("//@id")
    assert len(ids) == len(set(ids))


def test_nothing_is_loaded_from_outside():
    html = render_gallery([TWO], title="Gallery", facts={})
    page = lxml.html.document_fromstring(html)
    loaded = page.xpath(
        "//@src | //link/@href | //@srcset | //@poster | //object/@data | //form/@action | //image/@href"
    )
    assert loaded
    assert all(value.startswith("data:") for value in loaded)
    assert "@import" not in html
    assert re.findall(r"url\((?!['\"]?data:)", html) == []
    (policy,) = page.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    assert "default-src 'none'" in policy


def test_only_the_page_s_own_script_may_run():
    page = page_of(TWO)
    (script,) = page.xpath("//script[not(@type)]/text()")
    (policy,) = page.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    assert f"script-src {content_hash(script)};" in policy
    assert "unsafe-eval" not in policy


HOSTILE = '</script></style></title>--><script>alert(1)</script><img src=x onerror="alert(1)">\x00\ud800\u202e'


def test_hostile_text_is_only_text():
    hostile = dataclasses.replace(
        figure(
            dataclasses.replace(
                panel(HOSTILE, (HOSTILE, None), subcaption=HOSTILE, assembly=HOSTILE, segments=((3, 30),)),
                panel_id=HOSTILE,
            ),
            panel('"><b onclick=alert(1)>', ("OCT", True), segments=((20, 60),)),
            url="javascript:alert(1)",
            title=HOSTILE,
            caption=HOSTILE,
            license=HOSTILE,
            cluster=HOSTILE,
        ),
        label=HOSTILE,
        attribution=HOSTILE,
    )
    html = render_gallery([hostile], title=HOSTILE, facts={HOSTILE: HOSTILE}, notes=HOSTILE)
    page = lxml.html.document_fromstring(html.encode("utf-8"))
    assert len(page.xpath("//script")) == 2, "the page's script and its options"
    assert len(page.xpath("//style")) == 1
    assert [image.get("src")[:5] for image in page.xpath("//img")] == ["data:"]
    handlers = [key for element in page.iter() for key in element.attrib if key.lower().startswith("on")]
    assert handlers == []
    assert "javascript:" not in html
    options = page.get_element_by_id("options").text
    assert "<" not in options
    assert json.loads(options)["types"][0].startswith("</script>")
    shown = [text(element) for element in page.xpath("//*[@class='sub']")]
    assert shown[0].startswith("</script></style></title>--><script>alert(1)</script>")


def test_bytes_that_are_no_picture_are_not_embedded():
    for data in (b"", b"<svg onload=alert(1)>", b"%PDF-1.7"):
        page = page_of(dataclasses.replace(TWO, image=data))
        assert page.xpath("//img") == []
        assert text(page.xpath("//*[@class='withheld']")[0]) == "Picture not included"


@pytest.mark.parametrize("size", [(0, 0), (-1, 5), (1, 10**9), (10**9, 1)])
def test_odd_sizes_and_boxes_do_not_break_the_page(size):
    nan = float("nan")
    odd = figure(
        panel("A", ("OCT", True), box=(nan, 0, 1, 1)),
        panel("B", ("OCT", True), box=(-5.0, -5.0, 9.0, 9.0)),
        panel("C", ("OCT", True), box=(0.7, 0.2, 0.2, 0.9)),
    )
    page = page_of(dataclasses.replace(odd, width=size[0], height=size[1]))
    assert len(page.xpath("//svg/*[@class='panel']")) == 2
    assert len(page.xpath("//ol/li")) == 3
    assert 0.05 <= float(page.xpath("//*[@class='stage']/@style")[0].removeprefix("--ar:")) <= 20


def test_what_is_missing_is_said():
    page = page_of(
        figure(panel(None, subcaption=None, redistributable=False), caption="Whole."),
        figure(cluster="fig.002", caption=""),
        figure(panel(None, ("OCT", None), subcaption="Whole."), caption="Whole.", cluster="fig.003"),
    )
    first, second, third = page.xpath("//article")
    assert "No subcaption" in text(first)
    assert "no image" in text(first)
    assert "not redistributable" in text(first)
    assert "No caption" in text(second)
    assert "No panels" in text(second)
    assert "The whole caption" in text(third)
    assert "mark undecided" in text(third)
    assert "There are no figures yet" in text(page_of().get_element_by_id("nothing"))


def test_controls_have_names_for_assistive_technology():
    page = page_of(TWO)
    for control in page.xpath("//select | //input[@type='search']"):
        assert control.get("aria-label")
    for button in page.xpath("//button"):
        assert button.get("aria-label") or text(button) or button.get("id") == "reset"
    for image in page.xpath("//img"):
        assert image.get("alt")
    assert page.get("lang") == "en"
    assert page.xpath("//*[@role='status']")


def test_the_same_figures_give_the_same_page():
    assert render_gallery([TWO], title="x", facts={}) == render_gallery(iter([TWO]), title="x", facts={})
