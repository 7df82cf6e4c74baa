"""`pmo train …`: make synthetic figures, train the networks on them, measure and export them."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console

from pmo_assets.training.architectures.architectures import Architecture, Size, architecture_of

train_app = typer.Typer(help="Make synthetic figures and train the detectors on them.", no_args_is_help=True)

Images = Annotated[
    Path | None,
    typer.Option(
        "--images", help="Folder of pictures: sub-folders CFP, OCT, Retinal Imaging, Other, or the known data sets."
    ),
]
Articles = Annotated[
    Path | None, typer.Option("--articles", help="Articles (ID/article.pdf) whose pictures fill figures as type Other.")
]
Annotations = Annotated[
    Path | None,
    typer.Option("--annotations", help="Annotated articles (ID.json): measured on, their pictures are not drawn from."),
]
Layouts = Annotated[Path | None, typer.Option("--layouts", help="CSV of real panel layouts (PanelSeg's columns).")]
Part = Literal["train", "validation", "test"]  # `layouts.Split`, without the time it takes to import
Run = Annotated[Path, typer.Argument(help="Folder of the run; an interrupted run in it goes on.")]
Device = Annotated[Literal["cpu", "cuda"], typer.Option(help="Where the network is computed.")]
Threads = Annotated[int, typer.Option(min=0, help="CPU threads of the network; 0 lets PyTorch choose.")]


class TrainingCommandError(ValueError):
    """A command cannot do what it was asked; the message says why."""


def need_torch(device: str = "cpu") -> None:
    """Stop with a helpful message where PyTorch is not installed, or cannot use the device."""
    if find_spec("torch") is None:
        raise TrainingCommandError("training needs PyTorch: pip install 'pmo-assets[models]'")
    if device == "cuda":
        import torch

        if not torch.cuda.is_available():
            raise TrainingCommandError(f"PyTorch {torch.__version__} finds no CUDA device here: use --device cpu")


def need_pair(first: str, one: Path | None, second: str, other: Path | None) -> None:
    """Stop when one of two options that need each other is missing."""
    if (one is None) != (other is None):
        given, missing = (first, second) if other is None else (second, first)
        raise TrainingCommandError(f"{given} needs {missing}")


def need_checkpoint(path: Path, kind: Literal["detector", "mark classifier"], *, measured: bool) -> None:
    """Stop when a file is not a checkpoint of this kind, saying what it is.

    Args:
        path: of the checkpoint.
        kind: what it should hold.
        measured: whether it must be `best.pt`, whose weights were measured, not `last.pt`.
    """
    import torch

    if not path.is_file():
        raise TrainingCommandError(f"there is no file {path}")
    try:
        saved = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # of pickle, zip, or torch: whatever the bytes happen to look like
        raise TrainingCommandError(f"{path} is not a checkpoint of PyTorch") from error
    if not isinstance(saved, dict) or "model" not in saved:
        raise TrainingCommandError(f"{path} is not a checkpoint of a run (best.pt)")
    # `optimiser` is in every last.pt and in no best.pt.
    if measured and ("optimiser" in saved or "validation" not in saved):
        raise TrainingCommandError(
            f"{path} is the last state of a run (last.pt), whose weights were not measured: best.pt"
        )
    found = "detector" if "config" in saved else "mark classifier"
    if found != kind:
        raise TrainingCommandError(f"{path} is the checkpoint of a {found}, not of a {kind}")


@train_app.command("figures")
def figures(
    folder: Annotated[Path, typer.Argument(help="Folder for the data: train/, validation/ and test/ in COCO format.")],
    train: Annotated[int, typer.Option(help="Figures for training.")] = 12000,
    validation: Annotated[int, typer.Option(help="Figures for validation.")] = 500,
    test: Annotated[int, typer.Option(help="Held-out figures.")] = 2000,
    images: Images = None,
    articles: Articles = None,
    annotations: Annotations = None,
    layouts: Layouts = None,
) -> None:
    """Compose synthetic figures with exact boxes; what is there already is kept."""
    from pmo_assets.training.data.training_data import pool_pictures, write_synthetic_shards

    console = Console()
    pictures = pool_pictures(images, articles, annotations)
    counts: dict[Part, int] = {"validation": validation, "test": test, "train": train}
    for split, count in counts.items():
        for number, shard in enumerate(write_synthetic_shards(folder, split, count, pictures, layouts), start=1):
            console.print(f"{shard} ({number})")


@train_app.command("detector")
def detector(
    run: Run,
    data: Annotated[Path, typer.Option(help="Folder that `pmo train figures` wrote.")],
    architecture: Annotated[Architecture, typer.Option(help="Which network.")] = "compact",
    size: Annotated[Size, typer.Option(help="full, or tiny to see within a minute whether everything runs.")] = "full",
    initial: Annotated[
        Path | None,
        typer.Option(
            help="Weights a new run starts from, where names and shapes agree: best.pt of a run, a state dict (.pth), "
            "or for the DETR family a folder that transformers' save_pretrained wrote."
        ),
    ] = None,
    coco: Annotated[
        list[Path] | None, typer.Option(help="Annotated figures in COCO format; as often as needed.")
    ] = None,
    annotations: Annotated[
        Path | None, typer.Option(help="Annotated articles (ID.json) to train on; needs --articles.")
    ] = None,
    articles: Annotated[Path | None, typer.Option(help="Their PDFs (ID/article.pdf).")] = None,
    label_studio: Annotated[
        Path | None, typer.Option(help="JSON export of Label Studio to train on; needs --label-studio-images.")
    ] = None,
    label_studio_images: Annotated[Path | None, typer.Option(help="Folder of its pictures.")] = None,
    annotated_share: Annotated[
        float, typer.Option(min=0, max=1, help="Part of the training figures that are annotated ones.")
    ] = 0.3,
    steps: Annotated[int, typer.Option(min=1, help="Optimiser steps in all.")] = 12000,
    batch_size: Annotated[int, typer.Option(min=1, help="Figures per step; halves when memory runs out.")] = 8,
    learning_rate: Annotated[float, typer.Option(help="Of the plateau; 0 for the architecture's usual one.")] = 0.0,
    evaluate_every: Annotated[int, typer.Option(min=1, help="Steps between evaluations.")] = 500,
    validation_figures: Annotated[int, typer.Option(min=1, help="Synthetic figures that are evaluated.")] = 300,
    patience: Annotated[
        int, typer.Option(min=1, help="Evaluations without a better one after which training stops.")
    ] = 12,
    workers: Annotated[int, typer.Option(min=0, help="Processes that read figures.")] = 1,
    threads: Threads = 0,
    seed: Annotated[int, typer.Option(help="Of weights, order and augmentation.")] = 7,
    device: Device = "cpu",
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
    need_torch(device)
    need_pair("--annotations", annotations, "--articles", articles)
    need_pair("--label-studio", label_studio, "--label-studio-images", label_studio_images)
    architecture_of(architecture)
    from pmo_assets.training.data.annotated import annotated_data
    from pmo_assets.training.loop.train_detector import TrainingOptions, train_detector

    real = annotated_data(
        run / "annotated", coco or (), annotations, articles, label_studio, label_studio_images
    )  # fmt: skip
    options = TrainingOptions(
        steps=steps, batch_size=batch_size, learning_rate=learning_rate, evaluate_every=evaluate_every,
        validation_figures=validation_figures, patience=patience, workers=workers, threads=threads, seed=seed,
        device=device, annotated_share=annotated_share,
    )  # fmt: skip
    records = train_detector(
        run, data / "train", data / "validation", options, architecture=architecture, size=size, initial=initial,
        annotated=real,
    )  # fmt: skip
    _show_run(run, records)


@train_app.command("marks")
def marks(
    run: Run,
    images: Images = None,
    articles: Articles = None,
    annotations: Annotations = None,
    fine_tune: Annotated[
        bool, typer.Option(help="Train on the annotated pictures too, instead of measuring on them.")
    ] = False,
    steps: Annotated[int, typer.Option(min=1, help="Optimiser steps in all.")] = 5000,
    threads: Threads = 0,
    workers: Annotated[int, typer.Option(min=0, help="Processes that draw examples.")] = 1,
    seed: Annotated[int, typer.Option(help="Of weights and examples.")] = 11,
    device: Device = "cpu",
) -> None:
    """Train the mark classifier."""
    need_torch(device)
    from pmo_assets.training.data.annotated import annotated_figures, image_crops
    from pmo_assets.training.data.training_data import pool_pictures
    from pmo_assets.training.loop.train_marks import MarkOptions, train_marks
    from pmo_assets.training.synthetic.pools import PicturePool

    pictures = pool_pictures(images, articles, annotations)
    crops = []
    if annotations is not None and articles is not None:
        for _, _, figure in annotated_figures(annotations, articles):
            crops += [(crop.copy(), bool(image.marked)) for crop, image in image_crops(figure)]
    options = MarkOptions(steps=steps, threads=threads, workers=workers, seed=seed, device=device)
    known, held_out = (crops, []) if fine_tune else ([], crops)
    pools = (PicturePool(pictures, "train"), PicturePool(pictures, "validation"))
    _show_run(run, train_marks(run, *pools, options, known, held_out))


@train_app.command("evaluate")
def evaluate(
    checkpoint: Annotated[Path, typer.Argument(help="best.pt of a run.")],
    data: Annotated[Path, typer.Option(help="COCO data: a folder or a folder of shards.")],
    figures: Annotated[int, typer.Option(min=0, help="How many figures; 0 for all.")] = 0,
    split: Annotated[
        Part | None, typer.Option(help="Only figures of articles in this part of the data, as in fine-tuning.")
    ] = None,
    threads: Threads = 0,
    device: Device = "cpu",
) -> None:
    """Measure a detector of any architecture on COCO data."""
    need_torch(device)
    need_checkpoint(checkpoint, "detector", measured=False)
    import torch

    from pmo_assets.training.architectures.export import load_detector
    from pmo_assets.training.data.coco import shards
    from pmo_assets.training.loop.train_detector import TrainingOptions, coco_rows, evaluated

    if threads:
        torch.set_num_threads(threads)
    rows = coco_rows(shards(data), split)
    if not rows:
        of_part = f" of an article in the part {split}" if split else ""
        raise TrainingCommandError(f"nothing to measure: no figure{of_part} in {data}")
    rows = rows[:figures] if figures else rows
    model, _ = load_detector(checkpoint)
    _show({"figures": len(rows)} | evaluated(model.to(device), rows, TrainingOptions()))


@train_app.command("export")
def export(
    to: Annotated[Path, typer.Argument(help="Folder for the ONNX files and their model cards.")],
    detector: Annotated[Path | None, typer.Option(help="best.pt of a detector's run.")] = None,
    marks: Annotated[Path | None, typer.Option(help="best.pt of a mark classifier's run.")] = None,
    data: Annotated[Path | None, typer.Option(help="Measure the detector on this data's held-out figures.")] = None,
    threads: Threads = 0,
) -> None:
    """Write trained networks as ONNX, checked against PyTorch, each with a model card."""
    if detector is None and marks is None:
        raise TrainingCommandError("nothing to export: give --detector, --marks or both")
    need_torch()
    # Before any file is written.
    if detector is not None:
        need_checkpoint(detector, "detector", measured=True)
    if marks is not None:
        need_checkpoint(marks, "mark classifier", measured=True)
    import torch

    from pmo_assets.pipeline.detection.networks.onnx_detectors import DETECTOR_FILE, MARKS_FILE
    from pmo_assets.training.architectures.export import export_detector, export_marks, load_detector, load_marks
    from pmo_assets.training.data.coco import shards
    from pmo_assets.training.loop.model_card import detector_card, marks_card
    from pmo_assets.training.loop.train_detector import TrainingOptions, coco_rows, evaluated

    if threads:
        torch.set_num_threads(threads)
    rows = coco_rows(shards(data / "test")) if data is not None else []
    if data is not None and not rows:
        raise TrainingCommandError(f"nothing to measure: no figure in {data / 'test'}")
    if detector is not None:
        target = to / DETECTOR_FILE
        difference = export_detector(detector, target)
        model, info = load_detector(detector)
        test = None
        if rows:
            test = {"figures": len(rows)} | evaluated(model, rows, TrainingOptions())
        target.with_suffix(".md").write_text(detector_card(info, test, target.stat().st_size), "utf-8")
        _show({"file": str(target), "bytes": target.stat().st_size, "difference": round(difference, 7)} | (test or {}))
    if marks is not None:
        target = to / MARKS_FILE
        difference = export_marks(marks, target)
        target.with_suffix(".md").write_text(marks_card(load_marks(marks)[1], target.stat().st_size), "utf-8")
        _show({"file": str(target), "bytes": target.stat().st_size, "difference": round(difference, 7)})


@contextmanager
def progress_on_stderr() -> Iterator[None]:
    """Show on standard error what the package logs from INFO on: how far a run is, and what it warns of."""
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
