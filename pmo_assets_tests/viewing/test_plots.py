"""Charts: lengths in proportion, every number written."""

from itertools import pairwise

import lxml.etree
import lxml.html
import pytest

from pmo_assets.viewing.plots import (
    Bar,
    Drop,
    bar_chart,
    column_chart,
    share_text,
    waterfall_chart,
    waterfall_picture,
)


def widths(chart: str) -> list[float]:
    page = lxml.html.fromstring(chart)
    return [float(rect.get("width").rstrip("%")) for rect in page.xpath("//rect[@style]")]


def test_bars_are_as_long_as_their_numbers():
    chart = bar_chart("Types", [Bar("CFP", 50), Bar("OCT", 200, colour="#009E73")], total=250)
    assert widths(chart) == [25, 100]
    assert "#009E73" in chart
    lines = [line.text_content() for line in lxml.html.fromstring(chart).xpath("//*[@class='line']")]
    assert lines == ["CFP50 20 %", "OCT200 80 %"]


DROPS = [Drop("not relevant", 100, 40, "no OCT (60)"), Drop("no PDF", 40, 40), Drop("no figure", 40, 10)]


def shares(element, kind: str) -> list[float]:
    return [float(item.get("width").rstrip("%")) for item in element.xpath(f".//*[@class='{kind}']")]


def test_in_a_waterfall_what_stays_and_what_leaves_make_what_was_there():
    chart = lxml.html.fragment_fromstring(waterfall_chart("Articles", ("came in", 100), DROPS, "left"), "div")
    kept, lost = shares(chart, "kept"), shares(chart, "lost")
    assert kept == [100, 40, 40, 10, 10]
    assert lost == [0, 60, 0, 30, 0]
    assert [before - after for before, after in pairwise([100, *kept[1:-1]])] == lost[1:-1]
    assert [float(bar.get("x").rstrip("%")) for bar in chart.xpath(".//*[@class='lost']")] == kept
    values = [value.text_content() for value in chart.xpath("//*[@class='value']")]
    assert values == ["100", "−60 60 %", "−0 0 %", "−30 75 %", "10 10 %"]
    assert chart.xpath("//*[@class='lost']/@fill") == ["url(#hatch-Articles)"] * 5, "not by colour alone"
    assert len(chart.xpath("//pattern[@id='hatch-Articles']")) == 1


def test_a_waterfall_as_a_picture_is_one_document_with_all_numbers_in_its_text_alternative():
    svg = lxml.etree.fromstring(waterfall_picture("Articles", ("came in", 100), DROPS, "left").encode())
    assert svg.tag == "{http://www.w3.org/2000/svg}svg"
    assert svg.get("aria-label") == ("Articles: came in: 100; not relevant: −60; no PDF: −0; no figure: −30; left: 10")
    assert not svg.xpath("//@href | //@src | //*[local-name()='script']")


@pytest.mark.parametrize("chart", [waterfall_chart, waterfall_picture])
def test_an_empty_and_a_hostile_waterfall_are_drawn(chart):
    assert chart("Nothing", ("came in", 0), [], "left")
    bad = "<script>alert(1)</script>\ud800"
    html = chart(bad, (bad, 3), [Drop(bad, 3, 0, bad)], bad)
    assert "<script" not in html
    html.encode()


def test_columns_stand_on_one_ground_line():
    chart = lxml.html.fromstring(column_chart("Panels", [Bar("1", 10), Bar("2", 5), Bar("3", 0)]))
    rects = chart.xpath("//rect")
    heights = [float(rect.get("height")) for rect in rects]
    assert heights[0] == pytest.approx(2 * heights[1], abs=0.1)
    assert heights[2] == 0
    assert len({round(float(rect.get("y")) + h, 1) for rect, h in zip(rects, heights, strict=True)}) == 1
    assert chart.get("aria-label") == "Panels: 1: 10; 2: 5; 3: 0"


def test_many_columns_show_only_some_labels_but_all_numbers_in_the_text_alternative():
    chart = lxml.html.fromstring(column_chart("Panels", [Bar(f"c{i}", i) for i in range(100)]))
    assert len(chart.xpath("//text")) <= 12
    assert "c57: 57" in chart.get("aria-label")


@pytest.mark.parametrize("chart", [bar_chart, column_chart])
def test_empty_odd_and_hostile_bars_are_drawn(chart):
    assert chart("Nothing", [])
    html = chart("<b>", [Bar("<script>alert(1)</script>", float("nan"), "<i>"), Bar("x", -4), Bar("y", float("inf"))])
    page = lxml.html.fromstring(html)
    assert page.xpath("//script | //i | //b[not(text())]") == []
    assert "nan" not in html
    assert "inf" not in html


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [(1, 4, "25 %"), (1, 3, "33.3 %"), (1, 100_000, "<0.1 %"), (0, 5, "0 %"), (99_999, 100_000, "100 %"), (1, 0, "")],
)
def test_shares_have_sensible_digits(part, whole, text):
    assert share_text(part, whole) == text
