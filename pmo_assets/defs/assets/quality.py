"""Group `quality`: results of the pipeline compared with annotated articles, whenever there are any.

The job `evaluate` makes them; the table `annotations` is also what `reviewed_panels` applies, so that it is
materialised like any other asset. Without PMO_ANNOTATIONS nothing is materialised: the steps are skipped and say why in
the run's log, so that a graph without ground truth stays green and no empty number is plotted.
"""

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import dagster as dg

from pmo_assets.annotation.annotations import annotation_files, read_annotations
from pmo_assets.annotation.instruction_cases import instruction_sizes
from pmo_assets.defs.annotated import FILES_DIGEST, files_digest
from pmo_assets.defs.job_assets import GroupJob, JobAsset, made_by
from pmo_assets.defs.page_links import page_link
from pmo_assets.defs.previews import plot_metadata, preview
from pmo_assets.defs.stage_table import OWNERS, Stopwatch, column_schema
from pmo_assets.defs.versions import code_version
from pmo_assets.quality.annotation_quality import (
    annotations_measured,
    answered_articles,
    assembly_sizes,
    decided_rows,
)
from pmo_assets.quality.assembly_quality import assembly_measured
from pmo_assets.quality.detection_quality import detections_measured
from pmo_assets.quality.figure_quality import figures_measured
from pmo_assets.quality.measured import Measured
from pmo_assets.quality.metrics.metric import Metric, metrics_by_threshold
from pmo_assets.quality.page_renderer import PageRenderer
from pmo_assets.quality.quality_page import write_measured
from pmo_assets.quality.quality_tables import (
    has_annotations,
    metric_rows,
    page_key,
    quality_key,
    write_annotations,
    write_quality_table,
)
from pmo_assets.quality.scored_articles import ScoredArticles, scored_articles
from pmo_assets.quality.subcaption_quality import subcaptions_measured
from pmo_assets.release.selection import current_articles
from pmo_assets.settings import Settings
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.objects import ContentStore
from pmo_assets.storage.tables import Tables
from pmo_assets.tables.quality import Annotations, QualityMetrics
from pmo_assets.tables.schemas import schema_of
from pmo_assets.viewing.comparisons import case
from pmo_assets.workers.pool import WorkerPool

EVALUATE = GroupJob(
    "evaluate",
    "quality",
    "Compare what the pipeline found with annotated articles (PMO_ANNOTATIONS). Launched in the launchpad.",
)

NO_ANNOTATIONS = (
    "nothing to compare with, skipped: set PMO_ANNOTATIONS to the folder of your annotation files "
    "(JSON, one per article; `pmo samples` writes examples), then materialise the group quality again"
)

SHOWN_CASES = 4
"""Worst cases in the UI; the page has more."""

Number = tuple[str, str, float | None]
"""Metric behind a headline number: metric, group, threshold."""


def _scored(
    context: dg.OpExecutionContext, tables: Tables, further: Sequence[str] = (), *, assembled: bool = False
) -> ScoredArticles | None:
    """Return the annotated articles that can be scored; None, with the reason in the log, if there are none."""
    if not has_annotations(tables.data_root):
        context.log.warning(NO_ANNOTATIONS)
        return None
    scored = scored_articles(tables, further, assembled=assembled)
    if not scored.truth:
        why = (
            "; ".join(f"{name} is {why}" for name, why in list(scored.left_out.items())[:5])
            or "no article is annotated"
        )
        context.log.warning(f"no annotated article can be scored, skipped: {why}")
        return None
    return scored


def _annotations_read(
    log: dg.DagsterLogManager, settings: Settings, data_root: DataRoot
) -> Iterator[dg.MaterializeResult]:  # type: ignore[type-arg]
    """Read the annotation files; one that cannot be used is reported and does not stop the others."""
    if not settings.annotations:
        log.warning(NO_ANNOTATIONS)
        return
    watch = Stopwatch()
    files = annotation_files(settings.annotations)
    read = read_annotations(files)
    for problem in read.problems:
        log.warning(f"{problem.file} cannot be used: {problem.reason}")
    table = write_annotations(data_root, read)
    metadata: dict[str, Any] = {
        "dagster/row_count": table.height,
        "seconds": watch.seconds,
        "source": dg.MetadataValue.path(settings.annotations),
        "files": read.files,
        FILES_DIGEST: files_digest(files),
        "unusable_files": len(read.problems),
        "articles": len(read.articles),
        "figures": sum(len(article.figures) for article in read.articles),
        "panels": sum(len(figure.panels) for article in read.articles for figure in article.figures),
        "images": sum(len(p.images) for a in read.articles for f in a.figures for p in f.panels),
        "path": dg.MetadataValue.path(data_root.uri(quality_key("annotations"))),
    }
    if read.problems:
        metadata["unusable"] = dg.MetadataValue.table(
            [dg.TableRecord({"file": item.file, "reason": item.reason}) for item in read.problems[:50]]
        )
    yield dg.MaterializeResult(metadata=metadata)


# Its step has a name of its own, because the op of `evaluate` that makes it is called like it.
@dg.multi_asset(
    name="annotations_for_review",
    specs=[
        dg.AssetSpec(
            "annotations",
            group_name=EVALUATE.group,
            skippable=True,
            description=Annotations.__doc__,
            owners=OWNERS,
            kinds={"polars", "parquet"},
            tags={"pmo/work": "facts"},
            code_version=code_version(Annotations, annotation_files, read_annotations, write_annotations),
            metadata={"dagster/column_schema": column_schema("annotations")},
        )
    ],
)
def annotations(
    context: dg.AssetExecutionContext, settings: dg.ResourceParam[Settings], data_root: dg.ResourceParam[DataRoot]
) -> Iterator[dg.MaterializeResult]:  # type: ignore[type-arg]
    """Read the annotation files; where none are set, Dagster does not make it (`loading.as_set`)."""
    yield from _annotations_read(context.log, settings, data_root)


@made_by(EVALUATE, list(annotations.specs), name="annotations")
def read_annotation_files(
    context: dg.OpExecutionContext, settings: dg.ResourceParam[Settings], data_root: dg.ResourceParam[DataRoot]
) -> Iterator[dg.MaterializeResult]:  # type: ignore[type-arg]
    """Read the annotation files, before what is compared with them."""
    yield from _annotations_read(context.log, settings, data_root)


def _numbers(metrics: Sequence[Metric]) -> dg.TableMetadataValue:
    headings, lines = metrics_by_threshold(metrics)
    return dg.MetadataValue.table([dg.TableRecord(dict(zip(headings, line, strict=True))) for line in lines])


def _materialized(
    context: dg.OpExecutionContext,
    settings: Settings,
    asset: str,
    data_root: DataRoot,
    scored: ScoredArticles,
    measured: Measured,
    watch: Stopwatch,
    headlines: Mapping[str, Number],
) -> dg.MaterializeResult:  # type: ignore[type-arg]
    table = write_measured(data_root, asset, measured, scored)
    values = {(item.metric, item.group, item.threshold): item.value for item in measured.metrics}
    metadata: dict[str, Any] = {
        "dagster/row_count": table.height,
        "seconds": watch.seconds,
        **{
            title: dg.MetadataValue.float(round(float(value), 4))
            for title, key in headlines.items()
            if (value := values.get(key)) is not None  # what could not be measured is left out
        },
        "annotated_articles": len(scored.truth),
        "annotated_figures": len(scored.matched.pairs),
        "figures_with_a_problem": sum(bool(row["problems"]) for row in measured.rows),
        "page": page_link(settings, page_key(asset)),
        "path": dg.MetadataValue.path(data_root.uri(quality_key(asset))),
    }
    for name, png in measured.plots:
        metadata[name.replace(" ", "_")] = plot_metadata(context, png, name)
    for number, item in enumerate(measured.cases[:SHOWN_CASES], start=1):
        metadata[f"worst_{number}"] = preview(
            context, f"worst {number}", functools.partial(case, item.title, item.problems, item.pixels)
        )
    if scored.left_out:
        metadata["not_scored"] = dg.MetadataValue.table(
            [dg.TableRecord({"article": name, "why": why}) for name, why in list(scored.left_out.items())[:100]]
        )
    metadata["numbers"] = _numbers(measured.metrics)
    return dg.MaterializeResult(metadata=metadata)


def _evaluated(measure: Callable[..., object], batches: Sequence[str]) -> Callable[[Callable[..., Any]], JobAsset]:
    makers = [measure, scored_articles, write_measured]
    return made_by(EVALUATE, makers=makers, kinds={"matplotlib"}, deps=["annotations"], batches=batches, table=True)


def _comparison(
    name: str,
    measure: Callable[..., Measured],
    headlines: Mapping[str, Number],
    *,
    further: Sequence[str] = (),
    assembled: bool = False,
    shows_pages: bool = True,
) -> JobAsset:
    """Return the asset that compares `figures`, and `further` tables, with `annotations`, and plots the headlines."""

    def compare(
        context: dg.OpExecutionContext,
        settings: dg.ResourceParam[Settings],
        tables: dg.ResourceParam[Tables],
        objects: dg.ResourceParam[ContentStore],
        workers: dg.ResourceParam[WorkerPool],
    ) -> Iterator[dg.MaterializeResult]:  # type: ignore[type-arg]
        watch = Stopwatch()
        if (scored := _scored(context, tables, further, assembled=assembled)) is not None:
            measured = measure(scored, *([PageRenderer(workers, objects)] if shows_pages else []))
            yield _materialized(context, settings, name, tables.data_root, scored, measured, watch, headlines)

    compare.__name__ = name
    batches = ["articles", "figures", *further, *(["panel_assembly"] if assembled else [])]
    return _evaluated(measure, batches)(compare)


figure_quality = _comparison(
    "figure_quality",
    figures_measured,
    {
        "figure_recall": ("figure recall", "", 0.5),
        "figure_recall_iou_90": ("figure recall", "", 0.9),
        "figure_precision": ("figure precision", "", 0.5),
        "median_iou": ("median figure IoU", "", None),
        "captions_similar": ("captions similar", "", 0.95),
        "label_accuracy": ("label accuracy", "", None),
    },
)

subcaption_quality = _comparison(
    "subcaption_quality",
    subcaptions_measured,
    {
        "mean_average_bleu": ("mean average sentence BLEU", "", None),
        "unprocessed": ("unprocessed captions", "", None),
        "false_splits": ("false splits", "single panels", None),
        "calibration_error": ("calibration error", "", None),
    },
    further=["subcaptions"],
    shows_pages=False,
)

detection_quality = _comparison(
    "detection_quality",
    detections_measured,
    {
        "panel_ap": ("AP", "panel", 0.5),
        "panel_ap_grid": ("AP", "panel", None),
        "identifier_ap": ("AP", "identifier", 0.5),
        "image_map": ("mAP", "image types", 0.5),
        "image_map_grid": ("mAP", "image types", None),
        "type_accuracy": ("type accuracy", "images found", None),
        "mark_accuracy": ("mark status accuracy", "images found", None),
    },
    further=["panel_detections", "image_detections"],
    assembled=True,
)

assembly_quality = _comparison(
    "assembly_quality",
    assembly_measured,
    {
        "panels_assigned": ("panels assigned", "", None),
        "subcaptions_right": ("panels by subcaption", "right", None),
        "subcaptions_wrong": ("panels by subcaption", "wrong", None),
        "mean_average_bleu": ("mean average sentence BLEU", "several panels", None),
    },
    assembled=True,
)


@_evaluated(annotations_measured, ["articles", "panel_assembly", "marks", "regions", "verdicts"])
def annotation_quality(
    context: dg.OpExecutionContext, tables: dg.ResourceParam[Tables]
) -> Iterator[dg.MaterializeResult]:  # type: ignore[type-arg]
    """Measure how far people agree, what their audit came to, and how far marks and regions are from theirs."""
    watch = Stopwatch()
    articles = answered_articles(tables)
    if not articles:
        context.log.info("no answers of people (`pmo annotate import`): nothing to compare, skipped")
        return
    marks, regions = (decided_rows(tables, articles, name) for name in ("marks", "regions"))
    instructions = instruction_sizes(tables, current_articles(tables, "panel_assembly"))
    measured = annotations_measured(articles, assembly_sizes(tables), marks, regions, instructions)
    root = tables.data_root
    write_quality_table(root, "annotation_quality_metrics", QualityMetrics, metric_rows(measured.metrics))
    table = write_quality_table(root, "annotation_quality", schema_of("annotation_quality"), measured.rows)
    metadata: dict[str, Any] = {
        "dagster/row_count": table.height,
        "seconds": watch.seconds,
        "articles": len(articles),
        "numbers": _numbers(measured.metrics),
        "path": dg.MetadataValue.path(root.uri(quality_key("annotation_quality"))),
    }
    for item in measured.metrics:
        if item.value is not None and item.metric == "Cohen's kappa":
            metadata[f"kappa_{item.group.replace(' ', '_')}"] = dg.MetadataValue.float(round(item.value, 4))
    for name, png in measured.plots:
        metadata[name] = plot_metadata(context, png, name)
    yield dg.MaterializeResult(metadata=metadata)


QUALITY_ASSETS = ["annotations", "figure_quality", "subcaption_quality", "detection_quality", "assembly_quality"]
"""The assets that compare with ground truth, in order; `annotation_quality` compares people with each other."""
