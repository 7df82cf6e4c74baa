"""A stage: a step of the pipeline and its place in the graph, as it is declared beside the step.

Dagster's assets, the steps of `pmo article`, the order of stages and the kinds of loss are all read off these
declarations (`pmo_assets.pipeline.graph`). Add here: properties of a stage that all of them need. Keep out: those that
only the web UI needs (pool, checks, previews), which stand where the asset is declared.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import polars as pl

from pmo_assets.records.step_output import StepOutput
from pmo_assets.records.units import ARTICLE, Unit

Losing = Literal["units", "parts"]
"""Kind of loss of a stage: whole articles, or figures."""


@dataclass(frozen=True)
class Stage:
    """A table of a batch that a step makes unit by unit.

    Attributes:
        name: of the table and its asset.
        group: of assets.
        step: makes a unit's rows; its parameters name its inputs: tables, single rows, the unit's number, and inputs
            that are no tables (`pmo_assets.configuration.step_inputs`).
        reads: tables upstream. The units of the first one are put to the step …
        where: … of its rows those for which this holds; all if None.
        prepare: is called in every worker before its first unit, with inputs by the names of its parameters.
        afterwards: changes the rows that the step made of all units of a batch, and returns its counts. It gets `rows`
            (made by the step), `tables` (all that the stage reads, by name), `progress`, tables and inputs by name.
        asks_for: the work of `afterwards` in words, for the log: "captions to the language model".
        prompts: tasks of a language model (`prompts/`) that it may ask.
        loses: kind of loss of the stage: a batch that lost most of that kind there is not done. None where a rejection
            loses nothing, or its loss is counted elsewhere.
        goes_on: rejected inputs go on without it: its rejections end no figure.
        unit: kind of things that its batches hold.
    """

    name: str
    group: str
    step: Callable[..., StepOutput]
    reads: Sequence[str]
    where: pl.Expr | None = None
    prepare: Callable[..., object] | None = None
    afterwards: Callable[..., tuple[StepOutput, Any]] | None = None
    asks_for: str = ""
    prompts: Sequence[str] = ()
    loses: Losing | None = None
    goes_on: bool = False
    unit: Unit = ARTICLE

    @property
    def parameters(self) -> tuple[str, ...]:
        """Return the names of what the step gets."""
        return tuple(inspect.signature(self.step).parameters)

    def table_of(self, parameter: str) -> str | None:
        """Return the table that a parameter holds the unit's rows of, or its one row; None for an input."""
        table = self.unit.single_rows.get(parameter, parameter)
        return table if table in self.reads else None

    @property
    def inputs(self) -> tuple[str, ...]:
        """Return the parameters of step, `prepare` and `afterwards` that are neither rows nor the unit's number."""
        own = [name for name in self.parameters if self.table_of(name) is None and name != self.unit.key]
        ready = list(inspect.signature(self.prepare).parameters) if self.prepare is not None else []
        return tuple(dict.fromkeys([*own, *ready, *self.inputs_afterwards]))

    @property
    def inputs_afterwards(self) -> tuple[str, ...]:
        """Return the parameters of `afterwards` that are inputs."""
        if self.afterwards is None:
            return ()
        names = inspect.signature(self.afterwards).parameters
        return tuple(name for name in names if name not in ("rows", "tables", "progress", *self.reads))
