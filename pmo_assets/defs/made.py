"""Results of an asset for a batch, as its checks and its summary take them, and metadata of a model's answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import dagster as dg
import polars as pl

from pmo_assets.configuration.step_inputs import step_input
from pmo_assets.defs.surroundings import surroundings_of
from pmo_assets.records.chat import ChatUsage
from pmo_assets.records.rejections import Rejection
from pmo_assets.records.step_output import Row
from pmo_assets.settings import Settings


@dataclass(frozen=True)
class Made:
    """Results of an asset for a batch, as its checks and its summary take them.

    Attributes:
        tables: tables that it read, by asset.
        units: number of units (articles) that were put to the step.
        rows: rows of its table.
        rejections: inputs that it could not process.
        tally: counts of its step.
        settings: options of the run.
        context: of the run, for resources.
        metadata: of the materialisation, as far as the stage's `afterwards` has counted.
    """

    tables: Mapping[str, pl.DataFrame]
    units: int
    rows: Sequence[Row]
    rejections: Sequence[Rejection]
    tally: Counter[str]
    settings: Settings
    context: dg.AssetExecutionContext
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def input(self, name: str) -> Any:
        """Return the input that a step gets for a parameter of this name, e.g. `figure_pixels`."""
        return step_input(name, surroundings_of(self.context))


def usage_metadata(model: str, usage: ChatUsage) -> dict[str, Any]:
    """Return requests, cache hits, tokens and seconds of a model, as metadata whose names begin with `model`."""
    return {
        f"{model}_requests": usage.requests,
        f"{model}_cache_hits": usage.cache_hits,
        f"{model}_prompt_tokens": usage.prompt_tokens,
        f"{model}_completion_tokens": usage.completion_tokens,
        f"{model}_seconds": round(usage.seconds, 2),
    }
