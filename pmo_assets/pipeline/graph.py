"""The graph of a batch: every stage that the rooms of the pipeline declare, in the order of the data's way.

The one home of a batch's stages, of the tables that each reads, of their order, and of one unit's way through them. To
add a stage, declare it in `STAGES` of a room's `stages.py`: nothing here lists them. Keep out: Dagster, stores, and the
work of any one stage.
"""

from __future__ import annotations

import functools
import graphlib
import importlib
import inspect
import pkgutil
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pmo_assets.pipeline
from pmo_assets.records.rejections import ArticleError, Rejection, rejection_from
from pmo_assets.records.stages import Losing, Stage
from pmo_assets.records.step_output import Row, StepOutput
from pmo_assets.records.units import ARTICLE, Unit
from pmo_assets.tables.schemas import schema_of, unchecked

DECLARATIONS = "stages"
"""Module of a room in which its stages are declared, as `STAGES`."""


@functools.cache
def declared_stages() -> Mapping[str, Stage]:
    """Return every stage by name, in the order of the data's way.

    Raises:
        ValueError: if two stages have one name.
    """
    found: dict[str, Stage] = {}
    package = pmo_assets.pipeline
    for room in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        if not room.ispkg:
            continue
        parts = importlib.import_module(room.name)
        if any(part.name == DECLARATIONS for part in pkgutil.iter_modules(parts.__path__)):
            for stage in getattr(importlib.import_module(f"{room.name}.{DECLARATIONS}"), "STAGES", ()):
                if found.setdefault(stage.name, stage) is not stage:
                    raise ValueError(f"two stages are called {stage.name}: the second one is in {room.name}")
    return {name: found[name] for name in in_order({name: stage.reads for name, stage in found.items()})}


def declared_units() -> tuple[Unit, ...]:
    """Return the units of all stages, articles first: a batch holds one kind of them."""
    return tuple(dict.fromkeys((ARTICLE, *(stage.unit for stage in declared_stages().values()))))


def stages_of_unit(unit: Unit = ARTICLE) -> tuple[str, ...]:
    """Return the names of a unit's stages in the order of the data's way."""
    return tuple(name for name, stage in declared_stages().items() if stage.unit == unit)


def losing_stages(unit: Unit = ARTICLE) -> dict[str, Losing]:
    """Return the kind of loss of each stage of a unit that can lose anything, in the order of the data's way."""
    stages = declared_stages()
    return {name: loses for name in stages_of_unit(unit) if (loses := stages[name].loses) is not None}


def in_order(upstream: Mapping[str, Iterable[str]]) -> tuple[str, ...]:
    """Return names so that each follows those upstream of it; alphabetically where that leaves a choice."""
    sorter = graphlib.TopologicalSorter(
        {name: [dep for dep in deps if dep in upstream] for name, deps in upstream.items()}
    )
    sorter.prepare()
    names: list[str] = []
    while sorter.is_active():
        ready = sorted(sorter.get_ready())
        names += ready
        sorter.done(*ready)
    return tuple(names)


def needed_for(targets: Iterable[str], given: Collection[str]) -> tuple[str, ...]:
    """Return the stages that `targets` follow from, themselves among them, in order; those that are given do not count.

    Raises:
        KeyError: if there is no such stage.
    """
    stages = declared_stages()
    wanted, waiting = set(), [stages[target].name for target in targets]
    while waiting:
        name = waiting.pop()
        if name in stages and name not in given and name not in wanted:
            wanted.add(name)
            waiting += stages[name].reads
    return tuple(name for name in stages if name in wanted)


@dataclass
class UnitRun:
    """Results of the stages for one unit.

    Attributes:
        tables: rows by table, those that were given among them.
        rejections: inputs that could not be processed.
        not_run: stages that were not put to the unit: its row did not fulfil `where`, or it was rejected as a whole
            there or before.
    """

    tables: dict[str, list[Row]]
    rejections: list[Rejection] = field(default_factory=list)
    not_run: set[str] = field(default_factory=set)


def run_unit(
    number: int,
    targets: Iterable[str],
    given: Mapping[str, Sequence[Row]],
    inputs: Mapping[str, Any],
    even_if: Mapping[str, Mapping[str, Any]] | None = None,
) -> UnitRun:
    """Take one unit through the stages up to `targets`, in this process.

    A step that raises an `ArticleError` rejects the unit as a whole; what follows from its table gets no rows.

    Args:
        number: of the unit.
        targets: the last stages.
        given: rows of tables that no stage makes, or that are there already; a table that is neither has no rows.
        inputs: what steps ask for besides rows, by the names of their parameters.
        even_if: by table, values that its rows are taken to have where a stage's `where` asks.

    Raises:
        KeyError: if an input is missing, or there is no such stage.
    """
    run = UnitRun({name: list(rows) for name, rows in given.items()})
    for name in needed_for(targets, given):
        stage = declared_stages()[name]
        first = run.tables.get(stage.reads[0], [])
        if not _goes_on(stage, first, (even_if or {}).get(stage.reads[0], {})):
            run.tables[name] = []
            run.not_run.add(name)
            continue
        try:
            output = stage.step(*(_argument(stage, parameter, number, run, inputs) for parameter in stage.parameters))
        except ArticleError as error:
            run.rejections.append(rejection_from(error, stage=name, unit_id=number))
            run.tables[name] = []
            run.not_run.add(name)
            continue
        run.rejections += output.rejections
        run.tables[name] = output.rows
        if stage.afterwards is not None:
            refined, _ = _refined(stage, run, inputs)
            run.rejections += refined.rejections
            run.tables[name] = refined.rows
    return run


def _goes_on(stage: Stage, rows: Sequence[Row], even_if: Mapping[str, Any]) -> bool:
    if stage.where is None or not rows:
        return bool(rows)
    table = unchecked(schema_of(stage.reads[0]), [{**row, **even_if} for row in rows])
    return not table.filter(stage.where).is_empty()


def _argument(stage: Stage, parameter: str, number: int, run: UnitRun, inputs: Mapping[str, Any]) -> Any:
    if parameter == stage.unit.key:
        return number
    table = stage.table_of(parameter)
    if table is None:
        return inputs[parameter]
    rows = run.tables.get(table, [])
    return rows[0] if parameter in stage.unit.single_rows else rows


def _refined(stage: Stage, run: UnitRun, inputs: Mapping[str, Any]) -> tuple[StepOutput, Any]:
    assert stage.afterwards is not None
    tables = {name: run.tables.get(name, []) for name in stage.reads}
    return stage.afterwards(
        **arguments_afterwards(
            stage, run.tables[stage.name], tables, {name: inputs[name] for name in stage.inputs_afterwards}
        )
    )


def arguments_afterwards(
    stage: Stage,
    rows: Sequence[Row],
    tables: Mapping[str, Sequence[Row]],
    inputs: Mapping[str, Any],
    progress: Any = None,
) -> dict[str, Any]:
    """Return the arguments of a stage's `afterwards`, by name.

    Args:
        stage: with such a function.
        rows: made by its step.
        tables: rows of the tables that it reads.
        inputs: see `Stage.inputs_afterwards`.
        progress: told how much is done.
    """
    assert stage.afterwards is not None
    known = {"rows": rows, "tables": tables, "progress": progress, **inputs}
    names = inspect.signature(stage.afterwards).parameters
    return {name: known[name] if name in known else tables[name] for name in names}
