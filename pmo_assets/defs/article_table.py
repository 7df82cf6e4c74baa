"""An asset of the batch graph is declared, not written: `article_table(...)` makes it of a step of the pipeline.

    panel_detections = article_table(
        "panel_detections", group="detections", step=detect_article_panels, reads=["figures"],
        checks=[checks.boxes_inside("box")], summary=lambda made: {"panels": len(made.rows)},
    )

The asset groups the rows that it reads by article, maps the step over the workers, joins rows and rejections, evaluates
checks, counts and times. What belongs here: what all such assets share. What does not: anything that one of them does.
"""

import functools
import inspect
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import dagster as dg
import dataframely as dy
import polars as pl

from pmo_assets.defs.batch_stages import BATCH_TAG
from pmo_assets.defs.checks import BatchCheck, check_specs
from pmo_assets.defs.io_manager import StageResult
from pmo_assets.defs.made import Made
from pmo_assets.defs.partitions import ARTICLE_BATCHES
from pmo_assets.defs.stage_log import effort_metadata, stage_logged
from pmo_assets.defs.step_inputs import PIXELS_SUFFIX, SINGLE_ROWS, STEP_INPUTS, input_makers, settings_of
from pmo_assets.defs.versions import code_version, version_noted
from pmo_assets.records.outcome import Row, StepOutput, rows_by_article
from pmo_assets.tables.schemas import column_descriptions, schema_of
from pmo_assets.workers.effort import Effort
from pmo_assets.workers.pool import WorkerPool
from pmo_assets.workers.threads import Stoppable, map_in_threads

OWNERS = ["team:pmo-assets"]

THREADS_PER_REQUEST = 2
"""While one thread waits for the network another one verifies and writes what it got."""

_RESOURCES = {"data_root", "objects", "run_leases", "settings", "workers"}


def column_schema(asset: str) -> dg.TableSchema:
    """Return the asset's columns with types and descriptions, as the UI shows them."""
    return table_schema(schema_of(asset))


def table_schema(schema: type[dy.Schema]) -> dg.TableSchema:
    """Return a schema's columns with types and descriptions, as the UI shows them."""
    columns = [dg.TableColumn(name, kind, description=text) for name, kind, text in column_descriptions(schema)]
    return dg.TableSchema(columns=columns)


class Stopwatch:
    """Seconds since it was made, for a materialisation's metadata."""

    def __init__(self) -> None:
        self._start = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Seconds since the stopwatch was made."""
        return round(time.perf_counter() - self._start, 2)


def batch_table(
    name: str,
    *,
    group: str,
    makers: Sequence[Callable[..., object]],
    prompts: Sequence[str] = (),
    kinds: Sequence[str] = (),
    checks: Sequence[BatchCheck] = (),
    pool: str | None = None,
    ins: Mapping[str, dg.AssetIn] | None = None,
    deps: Sequence[str] = (),
    pixels: bool = False,
    resources: set[str] | None = None,
) -> Callable[[Callable[..., Any]], dg.AssetsDefinition]:
    """Return the decorator of a table asset that is partitioned by article batch; `article_table` suits most.

    Args:
        name: asset and table; the docstring of the table's schema is the asset's description.
        group: asset group.
        makers: functions of the package that make it, for its code version.
        prompts: tasks of a language model (`prompts/`) that it may ask; their content counts for its code version.
        kinds: what it is made with, shown as icons, besides Polars and Parquet.
        checks: what the asset evaluates.
        pool: concurrency pool (`dagster.yaml`).
        ins: see `dagster.asset`.
        deps: upstream assets that it does not load as tables.
        pixels: it reads or writes pictures (what it needs of memory and disk).
        resources: keys of resources that it takes from the context.
    """
    schema = schema_of(name)

    def declare(function: Callable[..., Any]) -> dg.AssetsDefinition:
        # An asset with checks has several outputs; from the annotation Dagster would conclude that none has a value.
        function.__annotations__.pop("return", None)
        decorate = dg.asset(
            name=name,
            group_name=group,
            partitions_def=ARTICLE_BATCHES,
            description=schema.__doc__,
            owners=OWNERS,
            kinds={"polars", "parquet", *kinds},
            tags={"pmo/work": "pixels" if pixels else "facts", BATCH_TAG: ""},
            code_version=code_version(schema, *makers, prompts=prompts),
            check_specs=check_specs(name, checks),
            metadata={"dagster/column_schema": column_schema(name)},
            pool=pool,
            ins=ins,
            deps=list(deps),
            required_resource_keys=resources,
        )
        return decorate(stage_logged(name, version_noted(function)))

    return declare


def _parameters(step: Callable[..., object], reads: Sequence[str]) -> list[str]:
    """Return the names of a step's parameters.

    Raises:
        TypeError: if the step asks for something that there is not.
    """
    names = list(inspect.signature(step).parameters)
    for name in names:
        if name not in STEP_INPUTS and SINGLE_ROWS.get(name, name) not in (*reads, "article_id"):
            raise TypeError(
                f"{step.__module__}.{step.__name__} asks for {name!r}: that is neither a table that the asset reads "
                f"({', '.join(reads)}) nor an input of steps ({', '.join(sorted([*STEP_INPUTS, *SINGLE_ROWS]))})"
            )
    return names


def _tasks(
    parameters: Sequence[str],
    articles: Sequence[int],
    tables: Mapping[str, Mapping[int, list[Row]]],
    inputs: Mapping[str, Any],
) -> list[tuple[int, tuple[Any, ...]]]:
    """Return (article_id, arguments of the step) for each article."""

    def argument(name: str, article_id: int) -> Any:
        if name == "article_id":
            return article_id
        if name in inputs:
            return inputs[name]
        if name in SINGLE_ROWS:
            return tables[SINGLE_ROWS[name]][article_id][0]
        return tables[name].get(article_id, [])

    return [(number, tuple(argument(name, number) for name in parameters)) for number in articles]


def article_table(
    name: str,
    *,
    group: str,
    step: Callable[..., StepOutput],
    reads: Sequence[str],
    where: pl.Expr | None = None,
    prepare: Callable[..., object] | None = None,
    afterwards: Callable[[Made], Made] | None = None,
    summary: Callable[[Made], Mapping[str, Any]] | None = None,
    makers: Sequence[Callable[..., object]] = (),
    checks: Sequence[BatchCheck] = (),
    prompts: Sequence[str] = (),
    kinds: Sequence[str] = (),
    pixels: bool = False,
    pool: str | None = None,
    workers: str = "workers",
    threads: str | None = None,
    resources: Sequence[str] = (),
) -> dg.AssetsDefinition:
    """Return a table asset, partitioned by article batch, that a step of the pipeline makes article by article.

    Args:
        name: asset and table; the docstring of the table's schema (`pmo_assets.tables`) is the asset's description.
        group: asset group.
        step: makes an article's rows; its parameters name what it gets (`pmo_assets.defs.step_inputs`).
        reads: tables upstream. The articles of the first one are put to the step …
        where: … of its rows those for which this holds; all if None.
        prepare: called in every worker before its first article, with inputs by the names of its parameters.
        afterwards: changes what the workers made, in the process of the run: for what takes threads or all articles.
        summary: metadata of the materialisation: counts, a preview.
        makers: functions of the package besides the step that rows come from, for the code version: what `afterwards`
            calls.
        checks: what the asset evaluates (`pmo_assets.defs.checks`).
        prompts: tasks of a language model that may be asked; their content counts for the code version.
        kinds: what it is made with, shown as icons, besides Polars and Parquet.
        pixels: the summary reads pictures; a step that does says so by its parameters.
        pool: concurrency pool (`dagster.yaml`).
        workers: the resource that runs the step: `workers` or `detector_workers`.
        threads: run the step in threads of this process instead: for a network to which so many requests are made at
            once as this setting says.
        resources: keys of further resources that `afterwards` and `summary` take from the context.

    Raises:
        TypeError: if the step asks for something that there is not.
    """
    parameters = _parameters(step, reads)
    if prepare is not None:
        _parameters(prepare, ())

    @batch_table(
        name,
        group=group,
        makers=[step, *makers, *input_makers(parameters)],
        prompts=prompts,
        kinds=kinds,
        checks=checks,
        pool=pool,
        ins={table: dg.AssetIn() for table in reads},
        pixels=pixels or any(parameter.endswith(PIXELS_SUFFIX) for parameter in parameters),
        resources={*_RESOURCES, workers, *resources},
    )
    def asset(context: dg.AssetExecutionContext, **tables: pl.DataFrame) -> dg.MaterializeResult[StageResult]:
        watch, effort = Stopwatch(), Effort()
        context.resources.run_leases.begin(context)
        first = tables[reads[0]]
        chosen = first.filter(where) if where is not None else first
        articles = chosen["article_id"].unique(maintain_order=True).to_list()
        inputs = {key: STEP_INPUTS[key](context) for key in parameters if key in STEP_INPUTS}
        tasks = _tasks(
            parameters, articles, {key: rows_by_article(table.to_dicts()) for key, table in tables.items()}, inputs
        )
        mapped: WorkerPool = getattr(context.resources, workers)
        if threads is not None:
            outputs = map_in_threads(
                name,
                step,
                tasks,
                THREADS_PER_REQUEST * getattr(settings_of(context), threads),
                mapped.progress,
                stop=[item.stop for item in inputs.values() if isinstance(item, Stoppable)],
                fail_share=mapped.fail_share,
                effort=effort,
            )
        else:
            ready = None
            if prepare is not None:
                ready = functools.partial(
                    prepare, *(STEP_INPUTS[key](context) for key in inspect.signature(prepare).parameters)
                )
            outputs = mapped.map_articles(name, step, tasks, ready, effort)
        made = Made(
            tables,
            len(articles),
            [row for output in outputs for row in output.rows],
            [rejection for output in outputs for rejection in output.rejections],
            sum((output.tally for output in outputs), Counter()),
            settings_of(context),
            context,
        )
        if afterwards is not None:
            made = afterwards(made)
        facts = summary(made) if summary is not None else {}
        return dg.MaterializeResult(
            value=StageResult(made.rows, made.rejections),
            metadata={
                "seconds": watch.seconds,
                "articles": len(articles),
                **made.metadata,
                **facts,
                **effort_metadata(effort),
            },
            check_results=[check.evaluate(made) for check in checks if check.evaluate is not None],
        )

    return asset
