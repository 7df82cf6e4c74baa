"""Marks and regions in the gallery's data: places in percent, numbers through the figure, phrases where they stand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pmo_assets.records.regions import PanelRegions
from pmo_assets.viewing.gallery.regions import SUBCAPTION, regions_entry
from pmo_assets_tests.viewing.gallery_figures import context, figure, mention, panel, registered, written_files
from pmo_assets_tests.viewing.marked_panels import MARKED, RED, TEXT, WHITE, mark, phrase, region


def entry_of(*panels: Any) -> list[Any]:
    entry = regions_entry(figure(*panels))
    assert entry is not None
    return list(entry["panels"])


def test_marks_and_regions_have_places_colours_and_numbers() -> None:
    none, shown = entry_of(panel("A"), panel("B", subcaption=TEXT, regions=MARKED))
    assert none is None
    arrow, circle = shown["marks"]
    assert (arrow["kind"], arrow["colour"], arrow["ink"], arrow["words"]) == ("arrow", WHITE, "#111111", "white arrow")
    assert (arrow["place"], arrow["tip"], arrow["direction"], arrow["numbers"]) == (
        [30, 30, 20, 20],
        [50, 50],
        -45,
        [1],
    )
    assert (circle["colour"], circle["tip"], circle["direction"], circle["numbers"]) == (RED, None, None, [2])
    assert [(item["number"], item["words"], item["mark"]) for item in shown["regions"]] == [
        (1, ["drusen"], 0),
        (2, ["fluid"], 1),
    ]


def test_numbers_go_on_in_the_next_panel() -> None:
    panels = entry_of(*(panel(name, subcaption=TEXT, regions=MARKED) for name in "AB"))
    assert [[item["number"] for item in shown["regions"]] for shown in panels] == [[1, 2], [3, 4]]
    assert [[item["numbers"] for item in shown["phrases"]] for shown in panels] == [[[1], [2]], [[3], [4]]]


def words_of(text: str, item: dict[str, Any]) -> str:
    """Cut a phrase as JavaScript cuts it."""
    start, end = item["range"]
    return text.encode("utf-16-le")[2 * start : 2 * end].decode("utf-16-le")


def test_phrases_stand_where_javascript_finds_them() -> None:
    text = f"  👁 {TEXT}"
    sentence = "𝛼: the white arrow marks drusen."
    regions = replace(
        MARKED,
        phrases=(
            phrase("the white arrow marks drusen", "drusen", (0,), sentence, mention=0, found_in="mention"),
            phrase("fluid (red circle)", "fluid", (1,), text, undecided="two marks fit"),
            phrase("drusen (white arrow)", "drusen", (0,), text),
        ),
    )
    (shown,) = entry_of(panel(subcaption=text, regions=regions, context=context(mention(sentence))))
    texts = {SUBCAPTION: text.strip(), 0: sentence}
    assert [(item["mention"], words_of(texts[item["mention"]], item)) for item in shown["phrases"]] == [
        (SUBCAPTION, "drusen (white arrow)"),
        (SUBCAPTION, "fluid (red circle)"),
        (0, "the white arrow marks drusen"),
    ]
    assert [item["told"] for item in shown["phrases"]] == ["1", "2?", "1"]
    assert shown["phrases"][1]["undecided"] == "two marks fit"


def test_phrases_of_texts_that_are_not_shown_and_that_overlap_are_left_out() -> None:
    sentence = "The white arrow marks drusen."
    told = phrase("white arrow marks drusen", "drusen", (0,), sentence, mention=0, found_in="mention")
    within = phrase("white arrow", "white", (0,))
    (shown,) = entry_of(panel(subcaption=TEXT, regions=replace(MARKED, phrases=(*MARKED.phrases, within, told))))
    assert [words_of(TEXT, item) for item in shown["phrases"]] == ["drusen (white arrow)", "fluid (red circle)"]
    (withheld,) = entry_of(panel(subcaption=None, regions=MARKED))
    assert withheld["phrases"] == []
    assert len(withheld["marks"]) == 2


def test_a_phrase_whose_region_has_other_words_tells_the_number_of_its_mark() -> None:
    (shown,) = entry_of(panel(subcaption=TEXT, regions=replace(MARKED, regions=MARKED.regions[1:])))
    assert [item["told"] for item in shown["phrases"]] == ["", "1"]
    merged = (region((0.5, 0.5, 0.9, 0.9), (0, 1), 1, "fluid"),)
    (shown,) = entry_of(panel(subcaption=TEXT, regions=replace(MARKED, regions=merged)))
    assert [item["told"] for item in shown["phrases"]] == ["1", "1"]


def test_odd_places_are_left_out() -> None:
    nan = float("nan")
    odd = mark(box=(nan, 0, 1, 1), tip=(2.0, 0.5), direction=nan)
    (shown,) = entry_of(panel(regions=PanelRegions((odd,), (), (region((2, 2, 3, 3), (0,), None, None),))))
    assert [(item["place"], item["tip"], item["direction"]) for item in shown["marks"]] == [(None, None, None)]
    assert shown["regions"] == []


def test_files_lie_only_where_there_are_marks() -> None:
    plain, marked = figure(panel()), figure(panel(subcaption=TEXT, regions=MARKED))
    assert not any(name.startswith("data/regions") for name in written_files([plain])[1])
    files = written_files([plain, marked])[1]
    first, second = registered(files["data/regions/0/0.js"])
    assert first is None
    assert second == regions_entry(marked)
    page = registered(files["data/figures/0/0.js"])["figures"]
    assert ["pointed" in entry for entry in page] == [False, True]


def test_hostile_words_are_only_text() -> None:
    hostile = "</script><img src=x onerror=alert(1)>\u202e"
    odd = mark(label=hostile)
    shown = PanelRegions((odd,), (), (region((0, 0, 0.5, 0.5), (0,), None, hostile),))
    content = written_files([figure(panel(regions=shown))])[1]["data/regions/0/0.js"]
    assert b"<" not in content
    (found,) = registered(content)[0]["panels"]
    assert found["regions"][0]["words"] == [hostile.replace("\u202e", "\ufffd")]
