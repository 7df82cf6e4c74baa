"""Inputs of the pipeline's steps, besides the rows of tables, by the names of parameters.

A step names its inputs in its signature, as a pytest test names fixtures; Dagster's assets and `pmo article` look the
names up here. A parameter with a table's name gets its rows, one with the name of a unit's column the unit's number,
and `<name>_pixels` the pixel store `<name>s`. To add a kind of input, add an entry to `STEP_INPUTS`. Keep out: Dagster,
and the steps' own work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from pmo_assets.pipeline.articles.relevance import load_specialty
from pmo_assets.pipeline.assembly.reading.text_readers import text_reader
from pmo_assets.records.chat import ChatModel
from pmo_assets.records.stages import Stage
from pmo_assets.records.stores import ObjectStore, PixelStore
from pmo_assets.refresh.searching import pmc_options
from pmo_assets.settings import Settings
from pmo_assets.settings.step_options import (
    caption_cascade,
    detection_options,
    fetch_limits,
    figure_options,
    figure_reader,
    instruction_writer,
    reading_options,
    region_reader,
    summary_writer,
    video_options,
    wanted_types,
)
from pmo_assets.sources.opening import SourceOpener, open_source
from pmo_assets.sources.video_folders import VideoOpener, open_videos


@dataclass(frozen=True)
class Surroundings:
    """Settings, stores and models within reach of a step.

    Attributes:
        settings: options in force.
        objects: files by content.
        pixels: returns a pixel store of the batch by its name.
        model: returns a language model, "chat" (captions, summaries, instructions) or "vision" (figures, regions); None
            for none.
    """

    settings: Settings
    objects: ObjectStore
    pixels: Callable[[str], PixelStore]
    model: Callable[[str], ChatModel | None]


StepInput = Callable[[Surroundings], Any]

STEP_INPUTS: Final[Mapping[str, StepInput]] = MappingProxyType(
    {
        "objects": lambda around: around.objects,
        "open_source": lambda around: SourceOpener(pmc_options(around.settings)),
        "open_videos": lambda around: VideoOpener(around.settings.s3_endpoint),
        "video_options": lambda around: video_options(around.settings),
        "specialty": lambda around: load_specialty(around.settings.specialty),
        "fetch_limits": lambda around: fetch_limits(around.settings),
        "figure_options": lambda around: figure_options(around.settings),
        "detection_options": lambda around: detection_options(around.settings),
        "reading_options": lambda around: reading_options(around.settings),
        "wanted_types": lambda around: wanted_types(around.settings),
        "min_assembly_confidence": lambda around: around.settings.min_assembly_confidence,
        "cascade": lambda around: caption_cascade(around.settings, around.model("chat")),
        "summary_writer": lambda around: summary_writer(around.settings, around.model("chat")),
        "instruction_writer": lambda around: instruction_writer(around.settings, around.model("chat")),
        "reader": lambda around: figure_reader(around.settings, around.model("vision")),
        "region_reader": lambda around: region_reader(around.settings, around.model("vision")),
        "region_texts": lambda around: around.settings.region_texts,
    }
)

MODELS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "cascade": "chat",
        "summary_writer": "chat",
        "instruction_writer": "chat",
        "reader": "vision",
        "region_reader": "vision",
    }
)
"""Inputs that hold a language model, and which one."""

_INPUT_MAKERS: Final[Mapping[str, Callable[..., object]]] = MappingProxyType(
    {
        "open_source": open_source,
        "open_videos": open_videos,
        "reading_options": text_reader,
        "specialty": load_specialty,
        "wanted_types": load_specialty,
    }
)
"""Functions that rows come from by way of an input, which the step itself does not name."""

_PIXELS_SUFFIX: Final = "_pixels"


def input_makers(names: Iterable[str]) -> list[Callable[..., object]]:
    """Return the functions that count for the code version of a step that asks for these inputs."""
    return [_INPUT_MAKERS[name] for name in names if name in _INPUT_MAKERS]


def pixel_store_of(name: str) -> str | None:
    """Return the pixel store that a parameter asks for: "figures" for `figure_pixels`; None if it asks for none."""
    return f"{name.removesuffix(_PIXELS_SUFFIX)}s" if name.endswith(_PIXELS_SUFFIX) else None


def step_input(name: str, around: Surroundings) -> Any:
    """Return the input that a step gets for a parameter.

    Raises:
        KeyError: if there is no such input.
    """
    store = pixel_store_of(name)
    return around.pixels(store) if store is not None else STEP_INPUTS[name](around)


def check_inputs(stage: Stage) -> None:
    """Make sure that there is all that a stage asks for.

    Raises:
        TypeError: if it asks for an input that there is not.
    """
    for name in stage.inputs:
        if name not in STEP_INPUTS and pixel_store_of(name) is None:
            raise TypeError(
                f"{stage.step.__module__}.{stage.step.__name__} asks for {name!r}: that is neither a table that the "
                f"stage reads ({', '.join(stage.reads)}) nor an input of steps "
                f"({', '.join(sorted([*STEP_INPUTS, *stage.unit.single_rows, stage.unit.key]))}, …_pixels)"
            )
