"""Group `models`: synthetic figures and the networks trained on them. No part of any batch; made by the job `train`.

Data and runs lie in a local folder (`ModelConfig.folder`): training reads pictures at random, which object storage is
bad at. An interrupted run goes on where it was. Needs the extra `models`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import dagster as dg
from pydantic import Field

from pmo_assets.defs.declared_config import config_with_options, options_from
from pmo_assets.defs.job_assets import GroupJob, made_by
from pmo_assets.defs.previews import preview
from pmo_assets.defs.stage_table import Stopwatch
from pmo_assets.pipeline.detection.networks.onnx_detectors import DETECTOR_FILE
from pmo_assets.pipeline.detection.networks.onnx_marks import MARKS_FILE
from pmo_assets.pipeline.detection.networks.type_network import TYPES_FILE
from pmo_assets.training.architectures.recipes import architecture_of
from pmo_assets.training.data.annotated import write_annotated_data
from pmo_assets.training.data.coco import CATEGORIES, figure_of_coco, read_coco, shards
from pmo_assets.training.data.training_data import pool_pictures, write_synthetic_shards
from pmo_assets.training.data.typed_pictures import typed_pictures
from pmo_assets.training.loop.curves import curves_png
from pmo_assets.training.options import (
    AnnotatedSources,
    FigureCounts,
    FigureSources,
    ImageTypeOptions,
    MarkOptions,
    ModalitySources,
    NetworkChoice,
    PictureSources,
    TrainingOptions,
)
from pmo_assets.training.synthetic.layouts import Split
from pmo_assets.training.synthetic.previews import contact_sheet
from pmo_assets.viewing.overlays import data_uri

TRAIN = GroupJob(
    "train",
    "models",
    "Compose synthetic figures and train networks of your own on them: hours, gigabytes, and PyTorch (extra models). "
    "Launched in the launchpad, where ops can be chosen and options set.",
)


class ModelPlaces(dg.Config):  # type: ignore[misc, unused-ignore]
    """Configuration of the job `train`: its folder, the pictures, the networks and the length of training.

    With `initial` weights or annotated figures the run has a folder of its own, `runs/detector_fine_tuned`.
    """

    folder: str = Field("models", description="Local folder for data, runs and exported networks.")
    fine_tune: bool = Field(
        False, description="Train the detector on the annotated articles (annotations with articles) as well."
    )


if TYPE_CHECKING:
    ModelConfig = ModelPlaces
else:
    ModelConfig = config_with_options(
        ModelPlaces,
        {
            FigureCounts: "figures",
            FigureSources: "figures",
            NetworkChoice: "detector",
            AnnotatedSources: "detector",
            TrainingOptions: "detector",
            MarkOptions: "mark",
            ModalitySources: "image_type",
            ImageTypeOptions: "image_type",
        },
    )


def _curves(run: Path, measured: Sequence[str]) -> dict[str, Any]:
    """Return where the curves of a run are, and how they look."""
    picture = data_uri(curves_png(run / "curves.csv", measured), "image/png")
    return {
        "curves": dg.MetadataValue.path(str((run / "curves.csv").resolve())),
        "curve": dg.MetadataValue.md(f"![curves of the training]({picture})"),
        "tensorboard": dg.MetadataValue.text(f"tensorboard --logdir {run.resolve()}"),
    }


def _run_name(config: ModelConfig) -> str:
    """Return the folder of a detector's run: one per architecture and size, and another for fine-tuning it."""
    network, annotated = options_from(NetworkChoice, config), options_from(AnnotatedSources, config)
    name = "detector" if network.architecture == "compact" else f"detector_{network.architecture}"
    name = name if network.size == "full" else f"{name}_{network.size}"
    tuned = network.initial or config.fine_tune or annotated.coco or annotated.label_studio
    return f"{name}_fine_tuned" if tuned else name


def _need_torch() -> None:
    if find_spec("torch") is None:
        raise dg.Failure("training needs PyTorch: pip install 'pmo-assets[models]'", allow_retries=False)


@made_by(TRAIN, makers=[pool_pictures, write_synthetic_shards], kinds={"coco"})
def synthetic_figures(context: dg.OpExecutionContext, config: ModelConfig) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """Compound figures composed on real and random layouts, with exact boxes, in COCO format."""
    watch = Stopwatch()
    folder = Path(config.folder) / "synthetic"
    sources = options_from(FigureSources, config)
    pictures = pool_pictures(sources.images, sources.articles, sources.annotations)
    counts = asdict(options_from(FigureCounts, config))
    for split in get_args(Split):
        for shard in write_synthetic_shards(folder, split, counts[split], pictures, sources.layouts):
            context.log.debug(f"{shard} is complete")
    first = islice(read_coco(shards(folder / "validation")[0]), 12)
    shown = [figure_of_coco(*row) for row in first]
    return dg.MaterializeResult(
        metadata={
            **counts,
            "seconds": watch.seconds,
            "pool_pictures": len(pictures),
            "folder": dg.MetadataValue.path(str(folder.resolve())),
            "preview": preview(context, "synthetic figures with their boxes", lambda: contact_sheet(shown)),
        }
    )


@made_by(
    TRAIN,
    {
        "panel_detector": "The figure network as detector of panels and identifiers.",
        "image_detector": "The figure network as detector of images with their type: the same file.",
    },
    makers=[
        "pmo_assets.training.loop.train_detector",
        "pmo_assets.training.architectures.export:export_detector",
        write_annotated_data,
    ],
    kinds={"pytorch", "onnx"},
    deps=["synthetic_figures"],
    pool="gpu",
)
def figure_network(context: dg.OpExecutionContext, config: ModelConfig) -> Iterator[dg.MaterializeResult]:  # type: ignore[type-arg]
    """Train the network that finds panels, identifiers and images in one pass, and export it."""
    _need_torch()
    from pmo_assets.training.architectures.export import export_detector, load_detector
    from pmo_assets.training.loop.train_detector import coco_rows, evaluated, train_detector

    watch = Stopwatch()
    data, run = Path(config.folder) / "synthetic", Path(config.folder) / "runs" / _run_name(config)
    network, sources = options_from(NetworkChoice, config), options_from(AnnotatedSources, config)
    options = options_from(TrainingOptions, config, "detector")
    try:
        architecture = architecture_of(network.architecture)
        annotated = write_annotated_data(
            run / "annotated", sources.coco or (), sources.annotations if config.fine_tune else None, sources.articles,
            sources.label_studio, sources.label_studio_images,
        )  # fmt: skip
        for record in train_detector(
            run, data / "train", data / "validation", options, architecture=architecture,
            size=network.size, initial=network.initial, annotated=annotated,
        ):  # fmt: skip
            context.log.info(str(record))
    except (ValueError, FileNotFoundError) as error:
        # What was asked for cannot be done: trying again changes nothing.
        raise dg.Failure(str(error), allow_retries=False) from error
    target = Path(config.folder) / "weights" / DETECTOR_FILE
    difference = export_detector(run / "best.pt", target)
    model, info = load_detector(run / "best.pt")
    scores = evaluated(model.to(options.device), coco_rows(shards(data / "test")), options)
    shared: dict[str, Any] = {
        "seconds": watch.seconds,
        "steps": info["step"],
        "architecture": network.architecture,
        "annotated_figures": info.get("annotated", 0),
        "file": dg.MetadataValue.path(str(target.resolve())),
        "bytes": target.stat().st_size,
        "onnx_difference": difference,
        **_curves(run, ("mAP", "mAP75", "Panel", "Label", "image", "annotated_mAP")),
    }
    for name, classes in (("panel_detector", CATEGORIES[:2]), ("image_detector", ("image", *CATEGORIES[2:]))):
        numbers = {f"test_AP50_{c.replace(' ', '_')}": round(scores[c], 4) for c in classes if c in scores}
        yield dg.MaterializeResult(asset_key=name, metadata=shared | numbers)


@made_by(
    TRAIN,
    makers=[
        "pmo_assets.training.loop.train_marks",
        "pmo_assets.training.architectures.export:export_marks",
        pool_pictures,
    ],
    kinds={"pytorch", "onnx"},
    pool="gpu",
)
def mark_classifier(context: dg.OpExecutionContext, config: ModelConfig) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """The network that says whether a mark points at a region of an image; its examples are drawn while it trains."""
    _need_torch()
    from pmo_assets.training.architectures.export import export_marks, load_marks
    from pmo_assets.training.loop.train_marks import train_marks
    from pmo_assets.training.synthetic.pools import PicturePool

    watch = Stopwatch()
    run, target = Path(config.folder) / "runs" / "marks", Path(config.folder) / "weights" / MARKS_FILE
    sources = options_from(PictureSources, config)
    pictures = pool_pictures(sources.images, sources.articles, sources.annotations)
    options = options_from(MarkOptions, config, "mark")
    for record in train_marks(run, PicturePool(pictures, "train"), PicturePool(pictures, "validation"), options):
        context.log.info(str(record))
    difference = export_marks(run / "best.pt", target)
    _, info = load_marks(run / "best.pt")
    return dg.MaterializeResult(
        metadata={
            "seconds": watch.seconds,
            "steps": info["step"],
            "validation_accuracy": info["validation"]["accuracy"],
            "file": dg.MetadataValue.path(str(target.resolve())),
            "bytes": target.stat().st_size,
            "onnx_difference": difference,
            **_curves(run, ("accuracy", "real_accuracy")),
        }
    )


@made_by(
    TRAIN,
    makers=[
        "pmo_assets.training.loop.train_image_type",
        "pmo_assets.training.architectures.export:export_types",
        typed_pictures,
    ],
    kinds={"pytorch", "onnx"},
    pool="gpu",
)
def image_type_network(context: dg.OpExecutionContext, config: ModelConfig) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """The network that says what an image was made with, taught by pictures of known modality as figures show them."""
    _need_torch()
    from pmo_assets.training.architectures.export import export_types, load_types
    from pmo_assets.training.loop.train_image_type import train_image_type

    watch = Stopwatch()
    run, target = Path(config.folder) / "runs" / "image_type", Path(config.folder) / "weights" / TYPES_FILE
    sources = options_from(ModalitySources, config, "image_type")
    try:
        pictures = typed_pictures(sources.modalities, sources.typed_articles, sources.typed_annotations)
    except ValueError as error:
        raise dg.Failure(str(error), allow_retries=False) from error
    for record in train_image_type(run, pictures, options_from(ImageTypeOptions, config, "image_type")):
        context.log.info(str(record))
    difference = export_types(run / "best.pt", target)
    _, info = load_types(run / "best.pt")
    return dg.MaterializeResult(
        metadata={
            "seconds": watch.seconds,
            "steps": info["step"],
            "pictures": info["pictures"],
            "sources": info["sources"],
            "file": dg.MetadataValue.path(str(target.resolve())),
            "bytes": target.stat().st_size,
            "onnx_difference": difference,
            **_curves(run, ()),
        }
    )
