"""What an asset made of a batch: what its checks and its summary look at."""

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
    """What an asset made of a batch: what its checks and its summary look at.

    Attributes:
        tables: what it read, by asset.
        units: how many units (articles) were put to the step.
        rows: rows of its table.
        rejections: what it could not process.
        tally: what its step counted.
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
        """Return what a step would get for a parameter of this name, e.g. `figure_pixels`."""
        return step_input(name, surroundings_of(self.context))


def usage_metadata(model: str, usage: ChatUsage) -> dict[str, Any]:
    """Return what a model's answers cost, as metadata whose names begin with `model`."""
    return {
        f"{model}_requests": usage.requests,
        f"{model}_cache_hits": usage.cache_hits,
        f"{model}_prompt_tokens": usage.prompt_tokens,
        f"{model}_completion_tokens": usage.completion_tokens,
        f"{model}_seconds": round(usage.seconds, 2),
    }
