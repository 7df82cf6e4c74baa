"""Steps of the group `captions`: an article's captions, by the grammar and by the language model.

A step takes rows of tables and gives a `StepOutput`. A worker process runs it for one article; `pmo article` and a
notebook call it, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pmo_assets.pipeline.captions.cascade import Cascade, DoubtfulCaption, second_readings
from pmo_assets.pipeline.captions.split import split_caption
from pmo_assets.pipeline.prompting.asking import Progress
from pmo_assets.records.chat import ChatUsage
from pmo_assets.records.rejections import rejection_from
from pmo_assets.records.step_output import Row, StepOutput, for_each_figure
from pmo_assets.tables.captions import caption_split, subcaption_rows


def split_article_captions(figures: Sequence[Mapping[str, Any]]) -> StepOutput:
    """Split the captions of an article's figures by the grammar: rows of `subcaptions`."""

    def rows(figure: Mapping[str, Any]) -> list[Row]:
        return subcaption_rows(figure, split_caption(figure["caption"]))

    return for_each_figure(figures, "subcaptions", rows)


@dataclass(frozen=True)
class CascadeCounts:
    """Who answered how many captions, and what the language model cost."""

    grammar: int
    language_model: int
    low_confidence: int
    usage: ChatUsage


def reread_captions(
    figures: Sequence[Mapping[str, Any]], rows: Sequence[Row], cascade: Cascade, progress: Progress | None = None
) -> tuple[StepOutput, CascadeCounts]:
    """Put the captions that the grammar is not sure about to the language model: rows of `subcaptions`.

    A caption for which the model gives no answer keeps the grammar's, with the reason, and is listed as a rejection
    too: that is where a person looks for what failed. In the main process, because waiting for a server takes threads
    and not processes.

    Args:
        figures: rows of `figures` of any number of articles.
        rows: their rows of `subcaptions` as the grammar gave them.
        cascade: threshold and model.
        progress: told how many captions have been read again.

    Raises:
        SystemicError: if no request can succeed.
    """
    split_rows: dict[tuple[int, str], list[Row]] = {}
    for row in rows:
        split_rows.setdefault((row["article_id"], row["image_cluster_id"]), []).append(row)
    keyed = {(figure["article_id"], figure["image_cluster_id"]): figure for figure in figures}
    splits = {key: caption_split(group) for key, group in split_rows.items()}
    doubtful = {
        key: DoubtfulCaption(keyed[key]["caption"], split)
        for key, split in splits.items()
        if split.confidence < cascade.threshold
    }
    answers = dict(zip(doubtful, second_readings(list(doubtful.values()), cascade, progress), strict=True))
    output = StepOutput()
    for key, group in split_rows.items():
        answer = answers.get(key)
        output.rows.extend(group if answer is None else subcaption_rows(keyed[key], answer.split))
        if answer is not None and answer.error is not None:
            output.rejections.append(rejection_from(answer.error, stage="subcaptions", unit_id=key[0], part=key[1]))
    by_model = sum(answer.split.model is not None for answer in answers.values())
    usage = sum((answer.usage for answer in answers.values()), ChatUsage())
    return output, CascadeCounts(len(splits) - len(answers), by_model, len(answers) - by_model, usage)
