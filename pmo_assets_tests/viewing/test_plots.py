"""Charts: lengths in proportion, every number written."""

import lxml.html
import pytest

from pmo_assets.viewing.plots import Bar, bar_chart, column_chart, funnel_chart, share_text


def widths(chart: str) -> list[float]:
    page = lxml.html.fromstring(chart)
    return [float(rect.get("width").rstrip("%")) for rect in page.xpath("//rect[@style]")]


def test_bars_are_as_long_as_their_numbers():
    chart = bar_chart("Types", [Bar("CFP", 50), Bar("OCT", 200, colour="#009E73")], total=250)
    assert widths(chart) == [25, 100]
    assert "#009E73" in chart
    lines = [line.text_content() for line in lxml.html.fromstring(chart).xpath("//*[@class='line']")]
    assert lines == ["CFP50 20 %", "OCT200 80 %"]


def test_a_funnel_says_what_was_lost_and_what_was_multiplied():
    chart = funnel_chart("Funnel", [Bar("articles", 100), Bar("relevant", 25), Bar("figures", 75, "3 each")])
    values = [value.text_content() for value in lxml.html.fromstring(chart).xpath("//*[@class='value']")]
    assert values == ["100", "25 25 %", "75 × 3.0"]
    assert "3 each" in chart


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


@pytest.mark.parametrize("chart", [bar_chart, funnel_chart, column_chart])
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
