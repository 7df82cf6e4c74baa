"""`pmo train …`: make synthetic figures, train the networks on them, measure and export them."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from pmo_assets.cli.console import CommandError, console, messages
from pmo_assets.cli.declared_options import OptionOf, given_options, with_declared_options
from pmo_assets.records.defaults import SCORE_THRESHOLD
from pmo_assets.system.aside import write_text
from pmo_assets.training.architectures.recipes import architecture_of
from pmo_assets.training.detector_recipe import detector_recipe, recipe_names
from pmo_assets.training.options import (
    AnnotatedSources,
    Device,
    FigureCounts,
    FigureSources,
    ImageTypeOptions,
    MarkOptions,
    MarksDetectorOptions,
    MarksReaderOptions,
    ModalitySources,
    NetworkChoice,
    PictureSources,
    RunOptions,
    TrainingOptions,
)

if TYPE_CHECKING:
    from pmo_assets.pipeline.detection.protocols import PanelDetector
    from pmo_assets.training.synthetic.pools import PicturePool

train_app = typer.Typer(help="Make synthetic figures and train the detectors on them.", no_args_is_help=True)

Part = Literal["train", "validation", "test"]  # `layouts.Split`, without the time it takes to import
DetectorSource = Literal["structure", "network", "both"]  # `protocols.DetectorSource`, likewise
NetworkKind = Literal["detector", "mark classifier", "marks detector", "marks reader", "image type network"]
Run = Annotated[Path, typer.Argument(help="Folder of the run; an interrupted run in it goes on.")]
Threads = Annotated[int, OptionOf(RunOptions)]


def need_torch(device: str = "cpu") -> None:
    """Stop with a helpful message where PyTorch is not installed, or cannot use the device."""
    if find_spec("torch") is None:
        raise CommandError("training needs PyTorch: pip install 'pmo-assets[models]'")
    if device == "cuda":
        import torch

        if not torch.cuda.is_available():
            raise CommandError(f"PyTorch {torch.__version__} finds no CUDA device here: use --device cpu")


def need_pair(first: str, one: Path | None, second: str, other: Path | None) -> None:
    """Stop when one of two options that need each other is missing."""
    if (one is None) != (other is None):
        given, missing = (first, second) if other is None else (second, first)
        raise CommandError(f"{given} needs {missing}")


def need_checkpoint(path: Path, kind: NetworkKind, *, measured: bool) -> None:
    """Stop when a file is not a checkpoint of this kind, saying what it is.

    Args:
        path: of the checkpoint.
        kind: kind of network that it should hold.
        measured: true if it must be `best.pt`, whose weights were measured, not `last.pt`.
    """
    import torch

    if not path.is_file():
        raise CommandError(f"there is no file {path}")
    try:
        saved = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # of pickle, zip, or torch: whatever the bytes happen to look like
        raise CommandError(f"{path} is not a checkpoint of PyTorch") from error
    if not isinstance(saved, dict) or "model" not in saved:
        raise CommandError(f"{path} is not a checkpoint of a run (best.pt)")
    # `optimiser` is in every last.pt and in no best.pt.
    if measured and ("optimiser" in saved or "validation" not in saved):
        raise CommandError(f"{path} is the last state of a run (last.pt), whose weights were not measured: best.pt")
    facts: dict[str, NetworkKind] = {
        "config": "detector", "sources": "image type network", "parts": "marks detector", "reads": "marks reader",
    }  # fmt: skip
    found = next((name for fact, name in facts.items() if fact in saved), "mark classifier")
    if found != kind:
        raise CommandError(f"{path} is the checkpoint of a {found}, not of a {kind}")


@train_app.command("figures")
@with_declared_options
def compose_figures(
    folder: Annotated[Path, typer.Argument(help="Folder for the data: train/, validation/ and test/ in COCO format.")],
    figures: FigureCounts,
    sources: FigureSources,
) -> None:
    """Compose synthetic figures with exact boxes; what is there already is kept."""
    from pmo_assets.training.data.training_data import pool_pictures, write_synthetic_shards

    pictures = pool_pictures(sources.images, sources.articles, sources.annotations)
    counts: dict[Part, int] = {"validation": figures.validation, "test": figures.test, "train": figures.train}
    for split, count in counts.items():
        for number, shard in enumerate(
            write_synthetic_shards(folder, split, count, pictures, sources.layouts), start=1
        ):
            console.print(f"{shard} ({number})")


@train_app.command("synthesise")
def synthesise(
    *,
    folder: Annotated[Path, typer.Argument(help="Folder for the data.")],
    recipe: Annotated[str, typer.Option(help="Which generator: open-pmc-18m.")] = "open-pmc-18m",
    split: Annotated[Part, typer.Option(help="Which part of the data; a part has seeds and pictures of its own.")] = (
        "validation"
    ),
    figures: Annotated[int, typer.Option(min=0, help="How many figures; 0 for as many as the paper has.")] = 0,
    images: Annotated[Path | None, OptionOf(PictureSources)] = None,
    modalities: Annotated[Path | None, OptionOf(ModalitySources)] = None,
    boxes: Annotated[
        Literal["tile", "content"],
        typer.Option(help="Boxes of panels: with the paper around plots (as in the paper), or around what is seen."),
    ] = "tile",
    workers: Annotated[int, typer.Option(min=1, help="Processes.")] = 1,
) -> None:
    """Compose the figures of a paper's recipe, with COCO and YOLO annotations; what is there already is kept.

    Sources without pictures (radiology, histopathology, dermatology, retina) have drawn stand-ins; plots are drawn.
    """
    from pmo_assets.training.data.recipe_data import write_recipe
    from pmo_assets.training.synthetic.compound_recipes import FIGURE_RECIPES

    chosen = FIGURE_RECIPES.get(recipe)
    if chosen is None:
        raise CommandError(f"no recipe {recipe}: there are {', '.join(FIGURE_RECIPES)}")
    count = figures or {"train": chosen.train, "validation": chosen.validation, "test": 0}[split]
    if not count:
        raise CommandError(f"{recipe} has no figures of its own for {split}: give --figures")
    try:
        for shard in write_recipe(
            folder, split, count, recipe, boxes=boxes, images=images, modalities=modalities, workers=workers
        ):
            console.print(str(shard), soft_wrap=True, highlight=False, markup=False)
    except ValueError as error:
        raise CommandError(str(error)) from error


@train_app.command("detector")
@with_declared_options
def train_a_detector(
    context: typer.Context,
    run: Run,
    data: Annotated[Path, typer.Option(help="Folder that `pmo train figures` wrote.")],
    network: NetworkChoice,
    annotated: AnnotatedSources,
    options: TrainingOptions,
    recipe: Annotated[
        str | None,
        typer.Option(help="Train by a recipe (`pmo train recipe`); options that are given go before its own."),
    ] = None,
) -> None:
    """Train a detector of panels, identifiers and images, or fine-tune one on annotated figures.

    Annotated figures (--coco, --annotations with --articles, --label-studio with --label-studio-images, together or
    alone) are mixed with the synthetic ones. They are divided by article: eight of ten are trained on, one of ten is
    measured while training (annotated_mAP), one of ten is left for `pmo train evaluate --split test`. A picture's
    article is its article_id, or the PMC id in its file name, or that name. Figures that are not COCO data already
    are written to RUN/annotated once; a run keeps to them.

    To fine-tune: pmo train detector NEW_RUN --data DATA --initial OLD_RUN/best.pt --coco FOLDER --learning-rate 3e-4

    Curves: RUN/curves.csv, and tensorboard --logdir RUN.
    """
    need_torch(options.device)
    need_pair("--annotations", annotated.annotations, "--articles", annotated.articles)
    need_pair("--label-studio", annotated.label_studio, "--label-studio-images", annotated.label_studio_images)
    architecture, configuration = architecture_of(network.architecture), None
    from pmo_assets.training.data.annotated import write_annotated_data
    from pmo_assets.training.data.coco import figure_count
    from pmo_assets.training.loop.train_detector import train_detector

    if recipe is not None:
        chosen = detector_recipe(recipe)
        architecture, configuration = architecture_of(chosen.architecture), chosen.network
        options = chosen.options(figure_count(data / "train"), given_options(context, options))
        if chosen.initial is not None and network.initial is None:
            messages.print(
                f"{recipe} starts from {chosen.initial}; without --initial FOLDER the weights are random",
                soft_wrap=True,
            )

    real = write_annotated_data(
        run / "annotated", annotated.coco or (), annotated.annotations, annotated.articles,
        annotated.label_studio, annotated.label_studio_images,
    )  # fmt: skip
    records = train_detector(
        run, data / "train", data / "validation", options, architecture=architecture, size=network.size,
        initial=network.initial, annotated=real, network=configuration,
    )  # fmt: skip
    _show_run(run, records)


@train_app.command("recipe")
def show_recipe(
    name: Annotated[str | None, typer.Argument(help="Of the package, or a TOML file; else all are listed.")] = None,
) -> None:
    """Show a recipe of `pmo train detector --recipe`: every number, and whether the paper, its code or we say so."""
    if name is None:
        for known in recipe_names():
            console.print(f"{known}: {detector_recipe(known).text}", soft_wrap=True, highlight=False, markup=False)
        return
    for key, entry in detector_recipe(name).table.items():
        value = json.dumps(entry["value"]) if "value" in entry else "unknown"
        beside = [f"{source}: {entry[source]}" for source in ("paper", "code") if source in entry]
        said = "; ".join([entry.get("source", ""), *beside, entry.get("note", "")]).strip("; ")
        console.print(f"{key} = {value}  ({said})", soft_wrap=True, highlight=False, markup=False)


def _pools(sources: PictureSources) -> tuple[PicturePool, PicturePool]:
    """Pictures to draw marks on, of the part that is trained on and of the one that is measured on."""
    from pmo_assets.training.data.training_data import pool_pictures
    from pmo_assets.training.synthetic.pools import PicturePool

    pictures = pool_pictures(sources.images, sources.articles, sources.annotations)
    return PicturePool(pictures, "train"), PicturePool(pictures, "validation")


@train_app.command("marks")
@with_declared_options
def train_a_mark_classifier(
    *,
    run: Run,
    sources: PictureSources,
    fine_tune: Annotated[
        bool, typer.Option(help="Train on the annotated pictures too, instead of measuring on them.")
    ] = False,
    initial: Annotated[
        Path | None, typer.Option(help="Exported mark classifier (ONNX) that a new run starts from.")
    ] = None,
    options: MarkOptions,
) -> None:
    """Train the mark classifier."""
    need_torch(options.device)
    from pmo_assets.training.data.annotated import annotated_figures, image_crops
    from pmo_assets.training.loop.train_marks import train_marks

    crops = []
    if sources.annotations is not None and sources.articles is not None:
        for _, _, figure in annotated_figures(sources.annotations, sources.articles):
            crops += [(crop.copy(), bool(image.marked)) for crop, image in image_crops(figure)]
    known, held_out = (crops, []) if fine_tune else ([], crops)
    _show_run(run, train_marks(run, *_pools(sources), options, known, held_out, initial))


@train_app.command("marks-detector")
@with_declared_options
def train_a_marks_detector(
    *,
    run: Run,
    sources: PictureSources,
    initial: Annotated[
        Path | None,
        typer.Option(help="What a new run starts from: an exported mark classifier (ONNX), or best.pt of another run."),
    ] = None,
    options: MarksDetectorOptions,
) -> None:
    """Train the detector of marks: the box of each arrow, circle or line; `marks-reader` is for what they are."""
    need_torch(options.device)
    from pmo_assets.training.loop.train_marks_detector import train_marks_detector

    _show_run(run, train_marks_detector(run, *_pools(sources), options, initial))


@train_app.command("marks-reader")
@with_declared_options
def train_a_marks_reader(
    *,
    run: Run,
    sources: PictureSources,
    detector: Annotated[
        Path | None, typer.Option(help="Exported marks detector (ONNX), whose boxes are learnt from as well.")
    ] = None,
    initial: Annotated[
        Path | None,
        typer.Option(help="Exported marks reader (ONNX) to train on, or mark classifier whose trunk a new run takes."),
    ] = None,
    options: MarksReaderOptions,
) -> None:
    """Train the reader of marks: what kind of mark a box shows, if any, and where it points.

    What scores are worth depends on the weights of both: python benchmarks/score_marks.py --fit
    """
    need_torch(options.device)
    from pmo_assets.training.loop.train_marks_reader import train_marks_reader

    _show_run(run, train_marks_reader(run, *_pools(sources), options, detector, initial))


@train_app.command("quantise")
@with_declared_options
def quantise(
    *,
    detector: Annotated[Path, typer.Argument(help="Exported marks detector (ONNX); it is replaced.")],
    sources: PictureSources,
) -> None:
    """Let an exported marks detector compute in 8-bit integers: half the time, half the bytes.

    The range of each of its numbers is found on pictures of the training part. What scores are worth depends on the
    weights: python benchmarks/score_marks.py --fit
    """
    need_torch()
    from pmo_assets.pipeline.regions.marks_network import marks_input
    from pmo_assets.training.architectures.quantised import write_quantised
    from pmo_assets.training.synthetic.mark_examples import marks_example

    pool, _ = _pools(sources)
    frames = [marks_input(marks_example(4 * 10**9 + k, pool)[0])[0] for k in range(64)]
    try:
        difference = write_quantised(detector, detector, frames)
    except (ValueError, ArithmeticError) as error:
        raise CommandError(str(error)) from error
    _show({"file": str(detector), "bytes": _size(detector), "difference": round(difference, 4)})


@train_app.command("image-type")
@with_declared_options
def train_an_image_type_network(*, run: Run, sources: ModalitySources, options: ImageTypeOptions) -> None:
    """Train the network that says what pictures were made with, and so their type.

    It starts from ImageNet's weights. Stand-ins for modalities of which there are no pictures are made of the fundus
    photographs. How good it is on sources that it has not seen: benchmarks/image_type_folds.py.
    """
    need_torch(options.device)
    from pmo_assets.training.data.typed_pictures import typed_pictures
    from pmo_assets.training.loop.train_image_type import train_image_type

    if sources.modalities is None and sources.typed_articles is None:
        raise CommandError("nothing to learn from: give --modalities, --typed-articles or both")
    # Articles alone may all be without retina; annotations alone are of nothing.
    if sources.typed_annotations is not None:
        need_pair("--typed-annotations", sources.typed_annotations, "--typed-articles", sources.typed_articles)
    pictures = typed_pictures(sources.modalities, sources.typed_articles, sources.typed_annotations)
    _show_run(run, train_image_type(run, pictures, options))


@train_app.command("evaluate")
@with_declared_options
def evaluate(
    *,
    checkpoint: Annotated[Path, typer.Argument(help="best.pt of a run.")],
    data: Annotated[Path, typer.Option(help="COCO data: a folder or a folder of shards.")],
    figures: Annotated[int, typer.Option(min=0, help="How many figures; 0 for all.")] = 0,
    split: Annotated[
        Part | None, typer.Option(help="Only figures of articles in this part of the data, as in fine-tuning.")
    ] = None,
    threads: Threads,
    device: Annotated[Device, OptionOf(RunOptions)],
) -> None:
    """Measure a detector of any architecture on COCO data."""
    need_torch(device)
    need_checkpoint(checkpoint, "detector", measured=False)
    import torch

    from pmo_assets.training.architectures.export import load_detector
    from pmo_assets.training.data.coco import shards
    from pmo_assets.training.loop.train_detector import coco_rows, evaluated

    if threads:
        torch.set_num_threads(threads)
    rows = coco_rows(shards(data), split)
    if not rows:
        of_part = f" of an article in the part {split}" if split else ""
        raise CommandError(f"nothing to measure: no figure{of_part} in {data}")
    rows = rows[:figures] if figures else rows
    model, _ = load_detector(checkpoint)
    _show({"figures": len(rows)} | evaluated(model.to(device), rows, TrainingOptions()))


@train_app.command("score")
def score(
    *,
    data: Annotated[Path, typer.Argument(help="COCO data: a folder or a folder of shards.")],
    detector: Annotated[
        DetectorSource, typer.Option(help="structure, the network alone, or both as one: the pipeline's.")
    ] = "both",
    weights: Annotated[
        Path | None,
        typer.Option(help="Figure network: .onnx, best.pt of a run of any architecture, or open-pmc-18m."),
    ] = None,
    panel_checkpoint: Annotated[
        Path | None, typer.Option(help="RetinaNet of Detectron2 (.pth) in the network's place.")
    ] = None,
    figures: Annotated[int, typer.Option(min=0, help="How many figures; 0 for all.")] = 0,
    named: Annotated[bool, typer.Option(help="Tell the detector the identifiers, as a caption does.")] = False,
    least: Annotated[float, typer.Option(min=0, max=1, help="Weaker panels are dropped.")] = 0.05,
    threshold: Annotated[float, typer.Option(min=0, max=1, help="Panels count in F1 from this score on.")] = (
        SCORE_THRESHOLD
    ),
) -> None:
    """Measure a detector's panels as papers on compound figures do: COCO's mAP (.5:.95, .5, .75), and F1 at IoU .5."""
    from dataclasses import asdict

    from pmo_assets.training.loop.panel_scores import figures_of, found_panels, panel_scores

    chosen = _panel_detector(detector, weights, panel_checkpoint)
    found = found_panels(figures_of(data, figures), chosen, least=least, named=named)
    if not found:
        raise CommandError(f"nothing to measure: no figure in {data}")
    numbers = {name: round(value, 4) for name, value in asdict(panel_scores(found, threshold)).items()}
    _show({"detector": detector, "named": named, "least": least} | numbers)


def _panel_detector(source: DetectorSource, weights: Path | None, panel_checkpoint: Path | None) -> PanelDetector:
    """Return the detector of panels that options name; a checkpoint of PyTorch is exported first."""
    from pmo_assets.pipeline.detection.detector_set import detector_set
    from pmo_assets.pipeline.detection.networks.named_weights import named_weights

    weights = named_weights(weights)
    if weights is not None and weights.suffix == ".pt":
        need_torch()
        need_checkpoint(weights, "detector", measured=False)
        from pmo_assets.pipeline.detection.fusion.panel_fusion import EnsemblePanelDetector
        from pmo_assets.pipeline.detection.networks.onnx_detectors import OnnxPanelDetector
        from pmo_assets.training.architectures.checkpoint_network import CheckpointFigureNetwork

        network = CheckpointFigureNetwork(weights)
        return OnnxPanelDetector(network) if source == "network" else EnsemblePanelDetector(network)
    return detector_set(source, detector_file=weights, panel_checkpoint=panel_checkpoint).panels


@train_app.command("average")
@with_declared_options
def average(
    *,
    to: Annotated[Path, typer.Argument(help="Checkpoint to write, to be exported: average.pt.")],
    detector: Annotated[Path, typer.Option(help="best.pt of a run that trained a network on.")],
    start: Annotated[Path, typer.Option("--with", help="ONNX file of the network that the run started from.")],
    data: Annotated[Path, typer.Option(help="Figures (pmo train figures): train/ and validation/ are used.")],
    share: Annotated[float, typer.Option(min=0, max=1, help="How much of the run's weights the result has.")] = 0.5,
    seed: Annotated[int, typer.Option(help="Which training figures normalisations are found on.")] = 7,
    threads: Threads,
) -> None:
    """Write the mean of a detector's weights before and after it was trained on: it knows what either knows."""
    need_torch()
    need_checkpoint(detector, "detector", measured=True)
    if not start.is_file():
        raise CommandError(f"there is no file {start}")
    import torch

    from pmo_assets.training.loop.averaging import averaged_detector
    from pmo_assets.training.loop.training_run import save_whole

    if threads:
        torch.set_num_threads(threads)
    try:
        result = averaged_detector(detector, start, data, share, seed)
    except ValueError as error:
        raise CommandError(str(error)) from error
    save_whole(result, to)
    _show({"file": str(to)} | result["validation"])


@train_app.command("export")
@with_declared_options
def export(
    *,
    to: Annotated[Path, typer.Argument(help="Folder for the ONNX files and their model cards.")],
    detector: Annotated[Path | None, typer.Option(help="best.pt of a detector's run.")] = None,
    marks: Annotated[Path | None, typer.Option(help="best.pt of a mark classifier's run.")] = None,
    marks_detector: Annotated[Path | None, typer.Option(help="best.pt of a marks detector's run.")] = None,
    marks_reader: Annotated[Path | None, typer.Option(help="best.pt of a marks reader's run.")] = None,
    image_type: Annotated[Path | None, typer.Option(help="best.pt of an image type network's run.")] = None,
    data: Annotated[Path | None, typer.Option(help="Measure the detector on this data's held-out figures.")] = None,
    threads: Threads,
) -> None:
    """Write trained networks as ONNX, checked against PyTorch, each with a model card."""
    given: tuple[tuple[NetworkKind, Path | None], ...] = (
        ("detector", detector), ("mark classifier", marks), ("marks detector", marks_detector),
        ("marks reader", marks_reader), ("image type network", image_type),
    )  # fmt: skip
    if not any(path is not None for _, path in given):
        raise CommandError("nothing to export: give --detector, --marks, --marks-detector, … or --image-type")
    need_torch()
    for kind, path in given:  # before any file is written
        if path is not None:
            need_checkpoint(path, kind, measured=True)
    import torch

    from pmo_assets.pipeline.detection.networks.onnx_detectors import DETECTOR_FILE
    from pmo_assets.pipeline.detection.networks.onnx_marks import MARKS_FILE
    from pmo_assets.training.architectures.export import export_detector, export_marks, load_detector, load_marks
    from pmo_assets.training.data.coco import shards
    from pmo_assets.training.loop.model_card import detector_card, marks_card
    from pmo_assets.training.loop.train_detector import coco_rows, evaluated

    if threads:
        torch.set_num_threads(threads)
    rows = coco_rows(shards(data / "test")) if data is not None else []
    if data is not None and not rows:
        raise CommandError(f"nothing to measure: no figure in {data / 'test'}")
    if detector is not None:
        target = to / DETECTOR_FILE
        difference = export_detector(detector, target)
        model, info = load_detector(detector)
        test = None
        if rows:
            test = {"figures": len(rows)} | evaluated(model, rows, TrainingOptions())
        write_text(target.with_suffix(".md"), detector_card(info, test, target.stat().st_size))
        _show({"file": str(target), "bytes": target.stat().st_size, "difference": round(difference, 7)} | (test or {}))
    if marks is not None:
        target = to / MARKS_FILE
        difference = export_marks(marks, target)
        write_text(target.with_suffix(".md"), marks_card(load_marks(marks)[1], target.stat().st_size))
        _show({"file": str(target), "bytes": target.stat().st_size, "difference": round(difference, 7)})
    _export_marks_networks(marks_detector, marks_reader, to)
    if image_type is not None:
        _export_image_type(image_type, to)


def _export_marks_networks(detector: Path | None, reader: Path | None, to: Path) -> None:
    from pmo_assets.pipeline.regions.marks_network import DETECTOR_FILE, READER_FILE
    from pmo_assets.training.architectures.export import (
        export_marks_detector,
        export_marks_reader,
        load_marks_detector,
        load_marks_reader,
    )
    from pmo_assets.training.loop.model_card import marks_detector_card, marks_reader_card

    if detector is not None:
        target = to / DETECTOR_FILE
        difference = export_marks_detector(detector, target)
        write_text(target.with_suffix(".md"), marks_detector_card(load_marks_detector(detector)[1], _size(target)))
        _show({"file": str(target), "bytes": _size(target), "difference": round(difference, 7)})
    if reader is not None:
        target = to / READER_FILE
        difference = export_marks_reader(reader, target)
        write_text(target.with_suffix(".md"), marks_reader_card(load_marks_reader(reader)[1], _size(target)))
        _show({"file": str(target), "bytes": _size(target), "difference": round(difference, 7)})


def _size(path: Path) -> int:
    return path.stat().st_size


def _export_image_type(checkpoint: Path, to: Path) -> None:
    from pmo_assets.pipeline.detection.networks.type_network import TYPES_FILE
    from pmo_assets.training.architectures.export import export_types, load_types
    from pmo_assets.training.loop.image_type_card import types_card

    target = to / TYPES_FILE
    difference = export_types(checkpoint, target)
    write_text(target.with_suffix(".md"), types_card(load_types(checkpoint)[1], target.stat().st_size))
    _show({"file": str(target), "bytes": target.stat().st_size, "difference": round(difference, 7)})


@contextmanager
def progress_on_stderr() -> Iterator[None]:
    """Show the package's log lines from INFO on at standard error: progress of a run, and warnings."""
    logger, handler = logging.getLogger("pmo_assets"), logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


def _show_run(run: Path, records: Iterable[dict[str, Any]]) -> None:
    """Print the records of a run; where there are none, that it is finished, and at which step."""
    from pmo_assets.training.loop.training_run import last_state

    count = 0
    with progress_on_stderr():
        for count, record in enumerate(records, start=1):  # noqa: B007
            _show(record)
    saved = last_state(run, "cpu") if count == 0 else None
    if saved is not None:
        _show({"step": saved["state"]["step"], "finished": True})


def _show(record: dict[str, Any]) -> None:
    """Print one line of JSON, at once, so that a log can be followed."""
    print(json.dumps(record), flush=True)
