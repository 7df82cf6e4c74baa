"""Cue separation: what is visible, told apart from what words add, verbatim and with its place."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.pipeline.instructions.cues import panel_cues
from pmo_assets.records.context import PanelMention
from pmo_assets_tests.pipeline.instructions.panels import mention, panel


def scenes(subcaption: str, *mentions: PanelMention, is_alone: bool = True) -> list[str]:
    return [item.text for item in panel_cues(panel(subcaption, mentions=mentions, is_alone=is_alone)).scenes]


def context(subcaption: str, *mentions: PanelMention, is_alone: bool = True) -> list[tuple[str, str]]:
    found = panel_cues(panel(subcaption, mentions=mentions, is_alone=is_alone)).context
    return [(item.kind, item.text) for item in found]


@pytest.mark.parametrize(
    ("subcaption", "seen", "added"),
    [
        (
            "Fundus photograph of a 62-year-old man showing drusen in the macula.",
            ["Fundus photograph", "showing drusen in the macula"],
            [("history", "a 62-year-old man")],
        ),
        (
            "Preoperative fundus photograph showing drusen.",
            ["fundus photograph showing drusen"],
            [("history", "Preoperative")],
        ),
        (
            "First examination shows drusen, surgically removed vitreous and a tube used for drainage of fluid.",
            ["shows drusen", "vitreous and a tube"],
            [
                ("history", "First examination"),
                ("treatment", "surgically removed"),
                ("treatment", "used for drainage of fluid"),
            ],
        ),
        (
            "OCT 1, 2 and 5 minutes after instillation shows subretinal fluid. "
            "A scan of the macula for Case 2, 5/31/13: drusen.",
            ["OCT", "shows subretinal fluid", "A scan of the macula", "drusen"],
            [("history", "1, 2 and 5 minutes after instillation"), ("history", "for Case 2"), ("history", "5/31/13")],
        ),
        (
            "OCT six months after intravitreal injection shows subretinal fluid.",
            ["OCT", "shows subretinal fluid"],
            [("history", "six months after intravitreal injection")],
        ),
        (
            "Fundus photograph after vitrectomy. The retina is attached.",
            ["Fundus photograph", "The retina is attached"],
            [("treatment", "after vitrectomy")],
        ),
        (
            "OCT shows subretinal fluid suggestive of central serous chorioretinopathy.",
            ["OCT shows subretinal fluid"],
            [("mechanism", "suggestive of central serous chorioretinopathy")],
        ),
        (
            "Section of the cornea stained with hematoxylin and eosin. Scale bar: 50 µm.",
            ["Section of the cornea"],
            [("methods", "stained with hematoxylin and eosin"), ("methods", "Scale bar: 50 µm")],
        ),
        (
            "OCT shows drusen. Mean thickness was 300 ± 20 µm (p < 0.05).",
            ["OCT shows drusen"],
            [("statistics", "Mean thickness was 300 ± 20 µm (p < 0.05).")],
        ),
        (
            "Fundus photograph with hemorrhage.Abbreviations: OCT, optical coherence tomography.",
            ["Fundus photograph with hemorrhage"],
            [("other", "Abbreviations: OCT, optical coherence tomography.")],
        ),
    ],
)
def test_mixed_sentences_are_cut_into_what_is_visible_and_what_is_added(
    subcaption: str, seen: list[str], added: list[tuple[str, str]]
) -> None:
    assert scenes(subcaption) == seen
    assert context(subcaption) == added


def test_a_place_stays_with_what_lies_there() -> None:
    said = "In the superior periphery a retinal hemangioblastoma is present"
    assert scenes(f"{said}.") == [said]


def test_a_reference_to_a_figure_is_neither() -> None:
    assert scenes("OCT shows drusen (see Fig. 2B) and fluid.") == ["OCT shows drusen", "fluid"]
    assert context("OCT shows drusen (see Fig. 2B) and fluid.") == []


def test_a_sentence_of_the_running_text_is_a_scene_where_it_says_what_the_panel_shows() -> None:
    assert scenes("", mention("OCT revealed intraretinal fluid (Fig. 1A).")) == ["OCT revealed intraretinal fluid"]


@pytest.mark.parametrize(
    "told",
    [
        mention("OCT revealed intraretinal fluid.", section="methods"),
        mention("OCT reveals intraretinal fluid.", section="introduction"),
        mention("OCT revealed intraretinal fluid.", kind="follows"),
        mention("He had intraretinal fluid and no symptoms."),
    ],
)
def test_other_sentences_of_the_running_text_are_context(told: PanelMention) -> None:
    assert scenes("", told) == []
    assert [text for _, text in context("", told)] == [told.text]


def test_a_sentence_about_the_whole_figure_is_a_scene_of_its_only_panel_alone() -> None:
    told = mention("Figure shows intraretinal fluid.", kind="names figure", identifier=None)
    assert scenes("", told, is_alone=True) == ["Figure shows intraretinal fluid"]
    assert scenes("", told, is_alone=False) == []


@given(
    st.text(alphabet=st.sampled_from("ab ,.;:()[]19-±<=*\n\t“”"), max_size=200),
    st.sampled_from(["", "OCT shows drusen "]),
)
def test_every_cue_is_verbatim_and_none_overlaps_another(noise: str, words: str) -> None:
    case = panel(words + noise, modality="OCT")
    cues = panel_cues(case)
    ranges = sorted(
        [*((item.start, item.end) for item in cues.scenes), *((item.start, item.end) for item in cues.context)]
    )
    assert all(case.subcaption[item.start : item.end] == item.text for item in cues.scenes)
    assert all(case.subcaption[item.start : item.end] == item.text for item in cues.context)
    assert all(end <= start for (_, end), (start, _) in itertools.pairwise(ranges))
