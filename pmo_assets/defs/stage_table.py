"""An asset of the batch graph is declared, not written: `stage_table` makes it of a stage of the pipeline.

    panel_detections = stage_table(
        "panel_detections", pool="gpu", checks=[checks.boxes_inside("box")],
        summary=lambda made: {"panels": len(made.rows)},
    )

What the stage is (step, what it reads, prompts, unit) stands in the pipeline's declaration
(`pmo_assets.records.stages`); a stage that no module below `assets` names gets its asset with `stage_table(name)`. The
asset groups the rows that it reads by unit, maps the step over the workers, joins rows and rejections, evaluates
checks, counts and times. What belongs here: what all such assets share. What does not: anything that one of them does.
"""

import functools
import inspect
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import dagster as dg
import dataframely as dy
import polars as pl

from pmo_assets.configuration.step_inputs import MODELS, check_inputs, input_makers, pixel_store_of, step_input
from pmo_assets.defs.checks import BatchCheck, check_specs
from pmo_assets.defs.graph import BATCH_TAG
from pmo_assets.defs.io_manager import StageResult
from pmo_assets.defs.made import Made
from pmo_assets.defs.partitions import batches_of
from pmo_assets.defs.stage_log import effort_metadata, stage_logged
from pmo_assets.defs.surroundings import settings_of, surroundings_of
from pmo_assets.defs.versions import code_version, version_noted
from pmo_assets.pipeline.graph import arguments_afterwards, declared_stages
from pmo_assets.records.stages import Stage
from pmo_assets.records.step_output import Row, rows_by_unit
from pmo_assets.records.units import ARTICLE, Unit
from pmo_assets.storage.manifests import Manifests
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
    unit: Unit = ARTICLE,
) -> Callable[[Callable[..., Any]], dg.AssetsDefinition]:
    """Return the decorator of a table asset that is partitioned by batch; `stage_table` suits most.

    Args:
        name: asset and table; the docstring of the table's schema is the asset's description.
        group: asset group.
        makers: functions of the package that make it, for its code version.
        prompts: tasks of a language model (`prompts/`) that it may ask; their content counts for its code version.
        kinds: what it is made with, shown as icons, besides Polars and Parquet.
        checks: asset checks that it evaluates.
        pool: concurrency pool (`dagster.yaml`).
        ins: see `dagster.asset`.
        deps: upstream assets that it does not load as tables.
        pixels: it reads or writes pictures (what it needs of memory and disk).
        resources: keys of resources that it takes from the context.
        unit: what its batches hold.
    """
    schema = schema_of(name)

    def declare(function: Callable[..., Any]) -> dg.AssetsDefinition:
        # An asset with checks has several outputs; from the annotation Dagster would conclude that none has a value.
        function.__annotations__.pop("return", None)
        decorate = dg.asset(
            name=name,
            group_name=group,
            partitions_def=batches_of(unit),
            description=schema.__doc__,
            owners=OWNERS,
            kinds={"polars", "parquet", *kinds},
            tags={"pmo/work": "pixels" if pixels else "facts", BATCH_TAG: unit.name},
            code_version=code_version(schema, *makers, prompts=prompts),
            check_specs=check_specs(name, checks, unit),
            metadata={"dagster/column_schema": column_schema(name)},
            pool=pool,
            ins=ins,
            deps=list(deps),
            required_resource_keys=resources,
        )
        return decorate(stage_logged(name, version_noted(function), unit))

    return declare


def manifest_asset(unit: Unit) -> dg.AssetsDefinition:
    """Return the asset of a unit's manifests: the units of a batch, as they were registered (`storage.manifests`)."""

    @batch_table(unit.batch, group=unit.names, makers=[Manifests.manifest], resources=_RESOURCES, unit=unit)
    def manifest(context: dg.AssetExecutionContext) -> dg.MaterializeResult[StageResult]:
        watch = Stopwatch()
        context.resources.run_leases.begin(context)
        rows = Manifests(context.resources.data_root, unit).manifest(context.partition_key).to_dicts()
        metadata = {"seconds": watch.seconds, unit.names: len(rows)}
        return dg.MaterializeResult(value=StageResult(rows, unit=unit), metadata=metadata)

    return manifest


class _TablesAsRows(Mapping[str, Sequence[Row]]):
    """Tables by name as rows, which are made when somebody asks for them."""

    def __init__(self, tables: Mapping[str, pl.DataFrame]) -> None:
        self._tables = tables
        self._rows: dict[str, list[Row]] = {}

    def __getitem__(self, name: str) -> Sequence[Row]:
        if name not in self._rows:
            self._rows[name] = self._tables[name].to_dicts()
        return self._rows[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)


def _tasks(
    stage: Stage,
    numbers: Sequence[int],
    tables: Mapping[str, Mapping[int, list[Row]]],
    inputs: Mapping[str, Any],
) -> list[tuple[int, tuple[Any, ...]]]:
    """Return (number of the unit, arguments of the step) for each unit."""

    def argument(name: str, number: int) -> Any:
        if name == stage.unit.key:
            return number
        table = stage.table_of(name)
        if table is None:
            return inputs[name]
        return tables[table][number][0] if name in stage.unit.single_rows else tables[table].get(number, [])

    return [(number, tuple(argument(name, number) for name in stage.parameters)) for number in numbers]


def _refined(stage: Stage, made: Made, inputs: Mapping[str, Any], counted: Callable[[Any], Mapping[str, Any]]) -> Made:
    """Return the results after the stage's `afterwards`, with its counts among the metadata."""
    if stage.afterwards is None:
        return made
    progress = functools.partial(made.context.resources.workers.progress, stage.asks_for)
    own = {name: inputs[name] for name in stage.inputs_afterwards}
    output, counts = stage.afterwards(
        **arguments_afterwards(stage, made.rows, _TablesAsRows(made.tables), own, progress)
    )
    return replace(
        made,
        rows=output.rows,
        rejections=[*made.rejections, *output.rejections],
        metadata={**made.metadata, **counted(counts)},
    )


def stage_table(
    stage: str | Stage,
    *,
    counted: Callable[[Any], Mapping[str, Any]] = lambda counts: {},
    summary: Callable[[Made], Mapping[str, Any]] | None = None,
    checks: Sequence[BatchCheck] = (),
    kinds: Sequence[str] = (),
    pixels: bool = False,
    pool: str | None = None,
    workers: str = "workers",
    threads: str | None = None,
    resources: Sequence[str] = (),
) -> dg.AssetsDefinition:
    """Return the asset of a stage: a table that its step makes unit by unit, partitioned by batch.

    Args:
        stage: the stage, or its name among those that the pipeline declares; the docstring of the table's schema
            (`pmo_assets.tables`) is the asset's description.
        counted: metadata from the counts of the stage's `afterwards`.
        summary: metadata of the materialisation: counts, a preview; the number of rows if None.
        checks: asset checks that it evaluates (`pmo_assets.defs.checks`).
        kinds: what it is made with, shown as icons, besides Polars and Parquet.
        pixels: the summary reads pictures; a step that does says so by its parameters.
        pool: concurrency pool (`dagster.yaml`).
        workers: the resource that runs the step: `workers` or `detector_workers`.
        threads: run the step in threads of this process instead: for a network to which so many requests are made at
            once as this setting says.
        resources: keys of further resources that the summary takes from the context.

    Raises:
        KeyError: if there is no such stage.
        TypeError: if the step asks for something that there is not.
    """
    declared = stage if isinstance(stage, Stage) else declared_stages()[stage]
    check_inputs(declared)
    models = [MODELS[name] for name in declared.inputs if name in MODELS]
    key = declared.unit.key

    @batch_table(
        declared.name,
        group=declared.group,
        makers=[
            declared.step,
            *([declared.afterwards] if declared.afterwards is not None else []),
            *input_makers(declared.parameters),
        ],
        prompts=declared.prompts,
        kinds=kinds,
        checks=checks,
        pool=pool,
        ins={table: dg.AssetIn() for table in declared.reads},
        pixels=pixels or any(pixel_store_of(name) is not None for name in declared.inputs),
        resources={*_RESOURCES, workers, *models, *resources},
        unit=declared.unit,
    )
    def asset(context: dg.AssetExecutionContext, **tables: pl.DataFrame) -> dg.MaterializeResult[StageResult]:
        watch, effort = Stopwatch(), Effort(declared.unit.name)
        context.resources.run_leases.begin(context)
        first = tables[declared.reads[0]]
        chosen = first.filter(declared.where) if declared.where is not None else first
        numbers = chosen[key].unique(maintain_order=True).to_list()
        around = surroundings_of(context)
        inputs = {name: step_input(name, around) for name in declared.inputs}
        rows = {name: rows_by_unit(table.to_dicts(), key) for name, table in tables.items()}
        tasks = _tasks(declared, numbers, rows, inputs)
        mapped: WorkerPool = getattr(context.resources, workers)
        if threads is not None:
            outputs = map_in_threads(
                declared.name,
                declared.step,
                tasks,
                THREADS_PER_REQUEST * getattr(settings_of(context), threads),
                mapped.progress,
                stop=[item.stop for item in inputs.values() if isinstance(item, Stoppable)],
                fail_share=mapped.fail_share,
                effort=effort,
            )
        else:
            ready = None
            if declared.prepare is not None:
                names = inspect.signature(declared.prepare).parameters
                ready = functools.partial(declared.prepare, *(inputs[name] for name in names))
            outputs = mapped.map_units(declared.name, declared.step, tasks, ready, effort)
        made = Made(
            tables,
            len(numbers),
            [row for output in outputs for row in output.rows],
            [rejection for output in outputs for rejection in output.rejections],
            sum((output.tally for output in outputs), Counter()),
            settings_of(context),
            context,
        )
        made = _refined(declared, made, inputs, counted)
        facts = summary(made) if summary is not None else {"rows": len(made.rows)}
        return dg.MaterializeResult(
            value=StageResult(made.rows, made.rejections, unit=declared.unit),
            metadata={
                "seconds": watch.seconds,
                declared.unit.names: len(numbers),
                **made.metadata,
                **facts,
                **effort_metadata(effort),
            },
            check_results=[check.evaluate(made) for check in checks if check.evaluate is not None],
        )

    return asset
