"""Group `captions`: one subcaption per panel that a caption names."""

import dagster as dg
import polars as pl

from pmo_assets.defs import checks
from pmo_assets.defs.article_table import Stopwatch, batch_table, materialized
from pmo_assets.defs.assets.articles import stage_result
from pmo_assets.defs.assets.figures import rows_by_article
from pmo_assets.defs.io_manager import StageResult
from pmo_assets.defs.previews import caption_preview
from pmo_assets.defs.step_options import caption_cascade
from pmo_assets.pipeline.captions.model_split import TASKS
from pmo_assets.pipeline.captions.steps import reread_captions, split_article_captions
from pmo_assets.records.chat import ChatModel
from pmo_assets.settings import Settings
from pmo_assets.workers.pool import WorkerPool

GROUP = "captions"


@batch_table(
    "subcaptions", group=GROUP, sources=["pipeline/captions"], prompts=TASKS, checks=[checks.ROW_COUNT], pool="llm"
)
def subcaptions(
    figures: pl.DataFrame,
    settings: dg.ResourceParam[Settings],
    workers: dg.ResourceParam[WorkerPool],
    chat: dg.ResourceParam[ChatModel | None],
) -> dg.MaterializeResult[StageResult]:
    """Split every caption by the grammar, and put those it is not sure about to the language model, if there is one."""
    watch = Stopwatch()
    articles = rows_by_article(figures)
    tasks = [(key, (rows,)) for key, rows in articles.items()]
    by_grammar = stage_result(workers.map_articles("subcaptions", split_article_captions, tasks))
    reread, counts = reread_captions(
        [figure for rows in articles.values() for figure in rows],
        by_grammar.rows,
        caption_cascade(settings, chat),
        lambda done, total: workers.progress("captions to the language model", done, total),
    )
    stage = StageResult(reread.rows, [*by_grammar.rejections, *reread.rejections])
    split = {(row["article_id"], row["image_cluster_id"]) for row in stage.rows}
    # A caption that the model could not split is listed as a rejection but has the grammar's rows.
    lost = checks.rejected_rows(
        figures, [item for item in stage.rejections if (item.article_id, item.image_cluster_id) not in split]
    )
    named = [row for row in stage.rows if row["identifier"] is not None]
    confidences = [row["confidence"] for row in stage.rows if row["ordinal"] == 0]
    return materialized(
        stage,
        watch,
        checks=[
            checks.row_count(len(split) + lost == figures.height, figures=figures.height, split=len(split), failed=lost)
        ],
        captions=len(split),
        multi_panel=len({(row["article_id"], row["image_cluster_id"]) for row in named}),
        mean_confidence=round(sum(confidences) / len(confidences), 3) if confidences else 0.0,
        by_grammar=counts.grammar,
        by_language_model=counts.language_model,
        low_confidence=counts.low_confidence,
        llm_requests=counts.usage.requests,
        llm_cache_hits=counts.usage.cache_hits,
        llm_prompt_tokens=counts.usage.prompt_tokens,
        llm_completion_tokens=counts.usage.completion_tokens,
        llm_seconds=round(counts.usage.seconds, 2),
        preview=caption_preview(figures, stage.rows),
    )
