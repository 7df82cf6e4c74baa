"""The dataset report."""

from datetime import timedelta

import lxml.html
import pytest

from pmo_assets.viewing.markup import content_hash
from pmo_assets.viewing.plots import Bar, Drop
from pmo_assets.viewing.report import (
    BarGroup,
    Headline,
    Picture,
    RejectionReason,
    ReportSummary,
    Table,
    Way,
    cell_text,
    duration_text,
    render_report,
)
from pmo_assets_tests.viewing.gallery_figures import png_bytes

SUMMARY = ReportSummary(
    title="Dataset report",
    lead="All batches.",
    facts=(("Version", "0.1.0"),),
    headlines=(Headline("Panels", 102_023, "2.1 per figure"), Headline("Time", timedelta(seconds=75))),
    ways=(
        Way(
            "Articles",
            ("came in", 200),
            (Drop("not relevant", 200, 50, "no OCT (150)"), Drop("no PDF", 50, 49)),
            "left",
        ),
    ),
    compared=Table("Beside the paper", ("", "here"), (("panels", 7),)),
    groups=(
        BarGroup("Image types", (Bar("OCT", 3, colour="#009E73"), Bar("CFP", 1))),
        BarGroup("Panels per figure", (Bar("1", 2), Bar("2", 1)), histogram=True),
    ),
    rejections=(
        RejectionReason("pdf_figures", "FileDataError", 2, ("PMC1: broken document",)),
        RejectionReason("article_packages", "NoPdf", 5),
        RejectionReason("pdf_figures", "NoFigureFound", 9),
    ),
    tables=(Table("Batches", ("Batch", "Rows", "Duration"), (("b1", 1200, timedelta(minutes=3)), ("b2", None))),),
    pictures=(Picture("Sample", png_bytes(), "Two figures."), Picture("Broken", b"not a picture")),
)


@pytest.fixture(scope="module")
def page():
    return lxml.html.document_fromstring(render_report(SUMMARY))


def text(element) -> str:
    return " ".join(element.text_content().split())


def test_headlines_show_numbers_for_people(page):
    assert [text(line) for line in page.xpath("//dl[@class='headlines']/div")] == [
        "Panels102,0232.1 per figure",
        "Time1 min 15 s",
    ]


def test_a_waterfall_says_what_left_at_each_step_and_what_is_left(page):
    (way,) = page.xpath("//ol[contains(@class, 'way')]")
    assert [text(step) for step in way] == [
        "came in200",
        "not relevant−150 75 %no OCT (150)",
        "no PDF−1 2 %",
        "left49 24.5 %",
    ]


def test_numbers_beside_others_have_a_heading_of_their_own(page):
    (box,) = page.xpath("//section[@id='compared']")
    assert [text(head) for head in page.xpath("//h2")][:2] == [
        "What came in, and where it was lost",
        "Beside the paper",
    ]
    assert [text(cell) for cell in box.xpath(".//td")] == ["panels", "7"]


def test_groups_are_drawn_as_bars_or_as_a_histogram(page):
    assert [text(bar) for bar in page.xpath("//ul[@class='bars']/li")] == ["OCT3 75 %", "CFP1 25 %"]
    assert page.xpath("//svg[@class='columns']/@aria-label") == ["Panels per figure: 1: 2; 2: 1"]


def test_rejections_are_grouped_by_stage_with_the_commonest_reason_first(page):
    stages = page.xpath("//section[contains(@class, 'stage')]")
    assert [text(stage.find("header")) for stage in stages] == ["pdf_figures11", "article_packages5"]
    assert [text(line) for line in stages[0].xpath(".//*[@class='line']")] == ["NoFigureFound9", "FileDataError2"]
    assert [text(example) for example in stages[0].xpath(".//details//li")] == ["PMC1: broken document"]


def test_tables_align_numbers_and_carry_the_keys_to_sort_by(page):
    (table,) = page.xpath("//section[starts-with(@id, 'table-')]//table")
    assert [head.get("class") for head in table.xpath(".//th")] == [None, "r", "r"]
    rows = [[text(cell) for cell in row] for row in table.xpath(".//tbody/tr")]
    assert rows == [["b1", "1,200", "3 min 00 s"], ["b2", "–", "–"]]
    assert [cell.get("data-key") for cell in table.xpath(".//tbody/tr[1]/td")] == [None, "1200", "180.0"]


def test_pictures_are_embedded_and_others_left_out(page):
    assert page.xpath("//img/@alt") == ["Sample"]
    assert page.xpath("//img/@src")[0].startswith("data:image/png;base64,")


def test_the_report_loads_nothing_and_runs_only_its_own_script(page):
    assert all(value.startswith("data:") for value in page.xpath("//@src | //link/@href"))
    (script,) = page.xpath("//script/text()")
    (policy,) = page.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    assert f"script-src {content_hash(script)};" in policy


def test_an_empty_summary_is_still_a_page():
    page = lxml.html.document_fromstring(render_report(ReportSummary("Nothing yet")))
    assert text(page.find(".//h1")) == "Nothing yet"
    assert page.xpath("//h2 | //table | //svg") == []


def test_hostile_text_is_only_text():
    bad = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\ud800"
    html = render_report(
        ReportSummary(
            bad,
            bad,
            ((bad, bad),),
            (Headline(bad, bad, bad),),
            (Way(bad, (bad, 1), (Drop(bad, 1, 0, bad),), bad, bad),),
            Table(bad, (bad,), ((bad,),), bad),
            (BarGroup(bad, (Bar(bad, 1, bad),), bad), BarGroup(bad, (Bar(bad, 1, bad),), histogram=True)),
            (RejectionReason(bad, bad, 1, (bad,)),),
            (Table(bad, (bad,), ((bad,),), bad),),
            (Picture(bad, png_bytes(), bad),),
        )
    )
    page = lxml.html.document_fromstring(html.encode("utf-8"))
    assert len(page.xpath("//script")) == 1
    assert len(page.xpath("//img")) == 1
    assert [key for element in page.iter() for key in element.attrib if key.lower().startswith("on")] == []


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0.84, "0.8 s"), (42.4, "42 s"), (59.6, "1 min 00 s"), (185, "3 min 05 s"), (7800, "2 h 10 min"), (-5, "-5.0 s")],
)
def test_durations_are_written_for_people(seconds, shown):
    assert duration_text(timedelta(seconds=seconds)) == shown


def test_cells_without_a_value_are_a_dash():
    assert cell_text(None) == cell_text(float("nan")) == cell_text(float("inf")) == "–"
    assert cell_text(0.5) == "0.5"
