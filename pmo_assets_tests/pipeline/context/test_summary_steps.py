"""Steps of summaries, entities and modality: rows in, rows out."""

from __future__ import annotations

from typing import Any

from pmo_assets.pipeline.context.steps import (
    decide_article_modalities,
    find_article_entities,
    mention_article_panels,
    summarise_article_panels,
)
from pmo_assets.records.context import PanelModality, RunningParagraph
from pmo_assets.records.panels import Panel, PanelImage
from pmo_assets.tables.context import PanelEntities, PanelModalities, PanelSummaries
from pmo_assets.tables.rows import record_of, row_of
from pmo_assets.tables.schemas import checked

TEXT = (
    RunningParagraph("case", None, "A macular hole was seen in the fundus photograph of the right eye (Figure 1A)."),
    RunningParagraph("case", None, "Optical coherence tomography (OCT) showed vitreous traction (Figure 1B)."),
)
ARTICLE: dict[str, Any] = {
    "article_id": 7,
    "title": "Macular hole",
    "paragraphs": [row_of(paragraph) for paragraph in TEXT],
}
FIGURE = {
    "article_id": 7, "image_cluster_id": "g1", "label": "Figure 1", "caption": "Right eye. (A) Hole. (B) Traction."
}  # fmt: skip
SILENT = {"article_id": 7, "image_cluster_id": "g2", "label": "Figure 2", "caption": "Study flow chart."}


def panel(
    cluster: str, ordinal: int, identifier: str | None, subcaption: str | None, *images: PanelImage
) -> dict[str, Any]:
    box = (0.0, 0.0, 1.0, 1.0)
    found = Panel(ordinal, (), box, box, 1.0, identifier, subcaption, images=images)
    return {"article_id": 7, "image_cluster_id": cluster, **row_of(found)}


def scan(modality: Any) -> PanelImage:
    return PanelImage("i", (0.0, 0.0, 1.0, 1.0), 1.0, None, 0.0, None, 0.0, modality, 0.9)


PANELS = [
    panel("g1", 0, "A", "Right eye. Macular hole.", scan("fundus photograph")),
    panel("g1", 1, "B", "Right eye. Traction.", scan("OCT")),
    panel("g2", 0, None, None),
]
MENTIONS = mention_article_panels(ARTICLE, [FIGURE, SILENT], PANELS, []).rows


def test_every_panel_has_a_row_that_fits_its_table() -> None:
    output = summarise_article_panels(ARTICLE, [FIGURE, SILENT], PANELS, MENTIONS)
    table = checked(PanelSummaries, output.rows)
    assert table["panel_id"].to_list() == ["p_7_g1_0", "p_7_g1_1", "p_7_g2_0"]
    assert table["summary"].to_list() == [TEXT[0].text, TEXT[1].text, None]
    assert [item["short"] for item in table["abbreviations"].to_list()[1]] == ["OCT"]
    (mention,) = table["mentions"].to_list()[1]
    assert (mention["text"], mention["identifier"], mention["kind"]) == (TEXT[1].text, "B", "names panel")
    assert output.rejections == []


def test_entities_are_those_of_the_panels_own_words() -> None:
    summaries = summarise_article_panels(ARTICLE, [FIGURE, SILENT], PANELS, MENTIONS).rows
    output = find_article_entities([FIGURE, SILENT], PANELS, summaries)
    table = checked(PanelEntities, output.rows)
    hole, traction, unknown = table.iter_rows(named=True)
    assert "macular hole" in hole["diseases"]
    assert hole["eye"] == "OD"
    assert "macular hole" not in traction["diseases"], "another panel's"
    assert {"subcaption", "mention"} == {entity["found_in"] for entity in hole["entities"]}
    assert (unknown["entities"], unknown["diseases"], unknown["eye"]) == ([], [], None)
    assert output.rejections == []


def test_a_figure_whose_summaries_were_rejected_keeps_the_entities_of_its_subcaptions() -> None:
    output = find_article_entities([FIGURE], PANELS[:1], [])
    (row,) = output.rows
    assert {entity["found_in"] for entity in row["entities"]} == {"subcaption"}
    assert "macular hole" in row["diseases"]
    assert output.rejections == []


def test_abbreviations_of_mentions_are_expanded_though_the_summary_leaves_them_out() -> None:
    text = (
        RunningParagraph("methods", None, "Macular edema (ME) was graded by two readers."),
        RunningParagraph("results", None, "ME is seen (Figure 1)."),
    )
    article = {"article_id": 7, "title": "Macular hole", "paragraphs": [row_of(paragraph) for paragraph in text]}
    mentions = mention_article_panels(article, [FIGURE], PANELS[:2], []).rows
    summaries = summarise_article_panels(article, [FIGURE], PANELS[:2], mentions).rows
    assert [item["short"] for item in summaries[0]["abbreviations"]] == ["ME"]
    found = find_article_entities([FIGURE], PANELS[:2], summaries).rows
    assert ("macular edema", "mention") in {(item["term"], item["found_in"]) for item in found[0]["entities"]}


def test_modality_takes_images_subcaption_and_the_panels_own_mentions() -> None:
    output = decide_article_modalities([FIGURE, SILENT], PANELS, MENTIONS)
    table = checked(PanelModalities, output.rows)
    fundus, oct_, unknown = (record_of(PanelModality, row) for row in table.iter_rows(named=True))
    assert (fundus.modality_class, fundus.modality, fundus.agrees) == ("V", "fundus photograph", True)
    assert (oct_.modality_class, oct_.modality, oct_.word_modality) == ("V", "OCT", "OCT")
    assert (unknown.modality_class, unknown.modality) == ("ambiguous", None)


def test_an_article_without_running_text_has_panels_that_it_says_nothing_of() -> None:
    output = summarise_article_panels(
        {"article_id": 7, "title": "Macular hole", "paragraphs": []}, [FIGURE], PANELS, []
    )
    assert [(row["summary"], row["summary_places"], row["mentions"]) for row in output.rows] == [(None, [], [])] * 2


def test_the_same_rows_give_the_same_bytes() -> None:
    assert summarise_article_panels(ARTICLE, [FIGURE], PANELS, MENTIONS) == summarise_article_panels(
        ARTICLE, [FIGURE], PANELS, MENTIONS
    )
