"""What a step of the pipeline may ask for by the name of a parameter, besides the rows of tables.

A step says what it needs in its signature, as a pytest test does with fixtures; `article_table` looks the names up
here. A new kind of input is one more entry. Rows are asked for by the name of their table, `article_id` is the number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import dagster as dg

from pmo_assets.defs.step_options import (
    detection_options,
    fetch_limits,
    figure_options,
    reading_options,
    wanted_types,
)
from pmo_assets.pipeline.articles.relevance import load_specialty
from pmo_assets.pipeline.assembly.reading.text_readers import text_reader
from pmo_assets.refresh.searching import pmc_options
from pmo_assets.settings import Settings
from pmo_assets.sources.opening import SourceOpener, open_source
from pmo_assets.storage.pixels import ParquetPixels

StepInput = Callable[[dg.AssetExecutionContext], Any]


def settings_of(context: dg.AssetExecutionContext) -> Settings:
    """Return the options of the run."""
    settings: Settings = context.resources.settings
    return settings


def pixel_store(name: str) -> StepInput:
    """Return the input that is a pixel store of the batch."""
    return lambda context: ParquetPixels(context.resources.data_root, name, context.partition_key)


STEP_INPUTS: Mapping[str, StepInput] = {
    "objects": lambda context: context.resources.objects,
    "open_source": lambda context: SourceOpener(pmc_options(settings_of(context))),
    "figure_pixels": pixel_store("figures"),
    "panel_pixels": pixel_store("panels"),
    "specialty": lambda context: load_specialty(settings_of(context).specialty),
    "fetch_limits": lambda context: fetch_limits(settings_of(context)),
    "figure_options": lambda context: figure_options(settings_of(context)),
    "detection_options": lambda context: detection_options(settings_of(context)),
    "reading_options": lambda context: reading_options(settings_of(context)),
    "wanted_types": lambda context: wanted_types(settings_of(context)),
    "min_caption_confidence": lambda context: settings_of(context).min_caption_confidence,
    "min_assembly_confidence": lambda context: settings_of(context).min_assembly_confidence,
}

_INPUT_MAKERS: Mapping[str, Callable[..., object]] = {
    "open_source": open_source,
    "reading_options": text_reader,
    "specialty": load_specialty,
    "wanted_types": load_specialty,
}
"""Functions that rows come from by way of an input, which the step itself does not name."""


def input_makers(names: Iterable[str]) -> list[Callable[..., object]]:
    """Return the functions that count for the code version of a step that asks for these inputs."""
    return [_INPUT_MAKERS[name] for name in names if name in _INPUT_MAKERS]


SINGLE_ROWS: Mapping[str, str] = {"listing": "article_batch", "package": "article_packages", "article": "articles"}
"""Parameters that are the article's one row of a table, and the table."""

PIXELS_SUFFIX = "_pixels"
"""Parameters that end so are pixel stores; who asks for one works with pictures."""
