"""Steps of the group `context`: rows in, rows out."""

from __future__ import annotations

from typing import Any

from pmo_assets.pipeline.context.panel_mentions import MAX_MENTIONS
from pmo_assets.pipeline.context.steps import mention_article_panels
from pmo_assets.records.context import CrossReference, RunningParagraph
from pmo_assets.tables.context import PanelMentions
from pmo_assets.tables.rows import row_of
from pmo_assets.tables.schemas import unchecked


def article(*paragraphs: RunningParagraph) -> dict[str, Any]:
    return {"article_id": 7, "paragraphs": [row_of(paragraph) for paragraph in paragraphs]}


def figure(cluster: str, label: str | None) -> dict[str, Any]:
    return {"article_id": 7, "image_cluster_id": cluster, "label": label}


def panel(cluster: str, identifier: str | None) -> dict[str, Any]:
    return {"image_cluster_id": cluster, "identifier": identifier}


def test_rows_of_mentions_fit_their_table() -> None:
    text = RunningParagraph("results", "Results", "Red (Fig. 1A, B). In this eye …", (CrossReference(5, "g1"),))

    output = mention_article_panels(
        article(text), [figure("g1", "Figure 1")], [panel("g1", "a")], [panel("g1", "A"), panel("g1", "B")]
    )

    assert [(row["ordinal"], row["identifier"], row["source"]) for row in output.rows] == [
        (0, "a", "xref"), (1, "B", "xref"),
    ]  # fmt: skip
    assert output.rejections == []
    PanelMentions.validate(unchecked(PanelMentions, output.rows), cast=True)


def test_an_article_without_running_text_has_no_mentions() -> None:
    assert mention_article_panels(article(), [figure("g1", "Figure 1")], [], []).rows == []


def test_mentions_that_are_left_out_are_a_rejection_of_their_figure() -> None:
    text = [RunningParagraph("results", None, "See Fig. 1.")] * (MAX_MENTIONS + 4)

    output = mention_article_panels(article(*text), [figure("g1", "Figure 1"), figure("g2", None)], [], [])

    assert len(output.rows) == MAX_MENTIONS
    (cut,) = output.rejections
    assert (cut.stage, cut.part, cut.error_class) == ("panel_mentions", "g1", "MentionsCut")
    assert cut.message.startswith("4 mentions")
