"""Rows of a release as the gallery shows them: values of filters, and what the running text says of a panel."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pmo_assets.pipeline.articles.relevance import load_specialty
from pmo_assets.records.context import EYE_NAMES
from pmo_assets.release.gallery_pages import (
    gallery_context,
    gallery_figures,
    gallery_filters,
    gallery_panel,
    write_private_gallery,
)
from pmo_assets.release.selection import select_articles
from pmo_assets.release.writing import ReleaseOptions
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.tables import Tables
from pmo_assets.tables.release import filters
from pmo_assets_tests.release.context_columns import context_columns, region_phrase
from pmo_assets_tests.release.finished import SECRET, dataset_row, finish
from pmo_assets_tests.viewing.gallery_figures import registered

ONE = "Fig. 1a shows drusen."
OTHER = "OCT is optical coherence tomography."
FILTERED = ("diseases", "eye", "modality")


def told(**changes: Any) -> dict[str, Any]:
    return {
        "mentions": [
            {"text": ONE, "identifier": "a", "paragraph": 3, "start": 10, "end": 10 + len(ONE), "section": "results",
             "section_title": "OCT", "kind": "names panel", "source": "xref"},
        ],
        "entities": [
            {"group": "finding", "term": "drusen", "broader": ["deposit"], "text": "drusen", "start": 14, "end": 20,
             "found_in": "mention", "mention": 0, "negated": False, "uncertain": True},
        ],
        "summary": f"{OTHER} {ONE}",
        "summary_places": [
            {"paragraph": 1, "start": 0, "end": len(OTHER)}, {"paragraph": 3, "start": 10, "end": 10 + len(ONE)},
        ],
        "abbreviations": [{"short": "OCT", "long": "optical coherence tomography"}],
        "generated_summary": "Drusen.",
        "diseases": ["age-related macular degeneration", "macular disease"],
        "eye": "OD",
        "modality": None,
        **changes,
    }  # fmt: skip


def test_what_the_text_says_of_a_panel_comes_with_its_sentences() -> None:
    shown = gallery_context(told())
    assert shown is not None
    (mention,) = shown.mentions
    assert (mention.sentence, mention.paragraph, mention.section_title, mention.kind) == (ONE, 3, "OCT", "names panel")
    (entity,) = shown.entities
    assert (ONE[entity.start : entity.end], entity.broader, entity.uncertain) == ("drusen", ("deposit",), True)
    assert [(part.paragraph, part.sentence) for part in shown.summary.sentences] == [(1, OTHER), (3, ONE)]
    assert shown.summary.generated_summary == "Drusen."


def test_a_panel_of_which_nothing_is_said_has_no_summary() -> None:
    shown = gallery_context(told(mentions=[], entities=[], summary=None, summary_places=[], generated_summary=None))
    assert shown is not None
    assert (shown.mentions, shown.entities, shown.summary.sentences) == ((), (), ())


@pytest.mark.parametrize("row", [{}, told(mentions=None), told(entities=None)])
def test_rows_without_it_are_shown_without_it(row: dict[str, Any]) -> None:
    assert gallery_context(row) is None


def test_a_filter_has_each_value_of_a_list_and_none_of_null() -> None:
    shown = gallery_panel(dataset_row(1) | told(), False, FILTERED)
    assert shown.filtered == (("age-related macular degeneration", "macular disease"), ("OD",), ())
    assert shown.context is not None


def test_of_a_panel_that_may_not_be_passed_on_facts_are_shown_and_no_words() -> None:
    shown = gallery_panel(dataset_row(1) | told(), True, FILTERED)
    assert shown.filtered == (("age-related macular degeneration", "macular disease"), ("OD",), ())
    assert shown.context is None
    assert shown.subcaption is None


@pytest.mark.parametrize("forbidden", [False, True])
def test_marks_are_shown_always_and_phrases_and_regions_where_words_may_be(forbidden: bool) -> None:
    row = dataset_row(1) | context_columns("a", withheld=forbidden)
    shown = gallery_panel(row | {"phrases": [region_phrase("White arrow: drusen.")]}, forbidden).regions
    (mark,) = shown.marks
    assert (mark.kind, mark.tip) == ("arrow", (0.2, 0.2))
    assert [region.text for region in shown.regions] == ([] if forbidden else ["drusen"])
    assert [phrase.marks for phrase in shown.phrases] == ([] if forbidden else [(0,)])


def test_instructions_are_those_of_the_release_with_their_evidence_and_kinds_are_a_filter(tmp_path: Path) -> None:
    tables = Tables(DataRoot(str(tmp_path / "data")))
    finish(tables, "0001-a", {1: {}}, panels=3)
    selection = select_articles(tables)
    (shown,) = gallery_figures(tables.data_root, tables, selection, ReleaseOptions(), {1: "train"})
    yes_no = [item for panel in shown.panels for item in panel.instructions if item.kind == "yes_no"]
    assert sorted(item.turns[-1][1] for item in yes_no) == ["No.", "Yes."], (
        "of two yes one is left out, as in the release"
    )
    what = [item for panel in shown.panels for item in panel.instructions if item.kind == "what"]
    assert len(what) == 3, "what the checks discard is not shown"
    assert what[0].boxes == ((0.1, 0.2, 0.3, 0.4),)
    assert gallery_filters()[-1].name == "instructions"
    kinds = {panel.filtered[-1] for panel in shown.panels}
    assert kinds == {("yes_no", "what"), ("what",)}
    assert {len(panel.filtered) for panel in shown.panels} == {len(gallery_filters())}


@pytest.mark.slow
def test_a_private_gallery_shows_what_licences_withhold_and_the_public_one_does_not(tmp_path: Path) -> None:
    tables = Tables(DataRoot(str(tmp_path / "data")))
    finish(tables, "0001-a", {1: {"code": "CC BY-ND"}, 2: {"code": None}}, panels=2)
    selection = select_articles(tables)
    (closed, _) = gallery_figures(tables.data_root, tables, selection, ReleaseOptions(), {})
    assert (closed.image, closed.caption, {panel.subcaption for panel in closed.panels}) == (b"", "", {None})
    assert not any(panel.instructions for panel in closed.panels)
    (seen, _) = gallery_figures(tables.data_root, tables, selection, ReleaseOptions(), {}, private=True)
    assert all(panel.instructions for panel in seen.panels)
    target = tmp_path / "data" / "private" / "gallery"
    for _ in range(2):  # again, in the place of the first
        written = write_private_gallery(
            target, tables, selection, ReleaseOptions(), {}, specialty=load_specialty("everything"), facts={}
        )
        assert (written.articles, written.panels) == (2, 4)
    assert sorted(path.name for path in target.iterdir()) == [
        ".gitignore", "PRIVATE.txt", "app", "data", "files.txt", "index.html",
    ]  # fmt: skip
    assert [path.name for path in target.parent.iterdir()] == ["gallery"], "nothing is left beside it"
    page = registered((target / "data/figures/0/0.js").read_bytes())
    assert SECRET in page["figures"][0]["panels"][0]["text"]
    assert all(panel["withheld"] for figure in page["figures"] for panel in figure["panels"]), "its licence is said"
    assert all(page["small"])


def test_a_panel_without_marks_shows_none() -> None:
    assert not gallery_panel(dataset_row(1), False).regions
    assert not gallery_panel(dataset_row(1) | {"marks": [], "regions": None}, False).regions


def test_the_gallery_filters_by_what_words_and_pixels_say() -> None:
    said = filters()
    assert {name: item.filter for name, item in said.items()} == {
        "diseases": "Disease", "findings": "Finding", "eye": "Eye", "modality_class": "Modality class",
        "modality": "Modality",
    }  # fmt: skip
    assert said["eye"].names == EYE_NAMES
    assert not said["diseases"].names
