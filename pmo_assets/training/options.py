"""Options of training, declared once: name, type, default, meaning, sensible values.

The command line (`cli.train`) and the configuration of the asset group `models` are made from these classes: a field
that is `Offered` is an option of both. Add here: an option of training, as such a field. Keep out: an option that only
one of the two has, as the folder of a run; anything that needs PyTorch, because both ask before they load it.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, Final, Literal, get_args, get_origin, get_type_hints

from pmo_assets.records.image_types import IMAGE_TYPES
from pmo_assets.training.architectures.recipes import Architecture, Size

FIRST: Final = ""
"""Place of an option that is listed before all others of its class."""

Schedule = Literal["plateau", "cosine"]
"""Course of the learning rate after warm-up: it stays and then falls linearly, or falls along half a cosine."""

Device = Literal["cpu", "cuda"]
"""Devices of training; on CUDA convolutional networks use mixed precision."""


@dataclass(frozen=True, slots=True)
class Offered:
    """Marks a field that people can choose: `Annotated[int, Offered("Of weights.")] = 7`.

    Attributes:
        help: meaning of the option, in a sentence.
        least: smallest value that makes sense; None for no limit.
        most: largest one.
        after: the option of the class that it is listed behind, or `FIRST`; None for the place where it stands.
    """

    help: str
    least: int | None = None
    most: int | None = None
    after: str | None = None


@dataclass(frozen=True, slots=True)
class Option:
    """An option as it is offered: field, type, default and description."""

    name: str
    type: Any
    default: Any
    offered: Offered


def options_of(kind: type) -> list[Option]:
    """Return the options that a class offers, in the order in which they are listed."""
    hints = get_type_hints(kind, include_extras=True)
    listed: list[Option] = []
    for item in fields(kind):
        if get_origin(hints[item.name]) is not Annotated:
            continue
        of_type, offered = get_args(hints[item.name])
        place = len(listed)
        if offered.after is not None:
            place = [FIRST, *(other.name for other in listed)].index(offered.after)
        listed.insert(place, Option(item.name, of_type, item.default, offered))
    return listed


# where pictures come from


@dataclass(frozen=True, slots=True)
class FigureCounts:
    """Number of synthetic figures in each part of the data."""

    train: Annotated[int, Offered("Figures for training.")] = 12000
    validation: Annotated[int, Offered("Figures for validation.")] = 500
    test: Annotated[int, Offered("Held-out figures.")] = 2000


@dataclass(frozen=True, slots=True)
class PictureSources:
    """Pictures that synthetic figures and examples of marks are made of; stand-ins are drawn where there are none."""

    images: Annotated[
        Path | None, Offered(f"Folder of pictures: sub-folders {', '.join(IMAGE_TYPES)}, or the known data sets.")
    ] = None
    articles: Annotated[
        Path | None, Offered("Articles (ID/article.pdf) whose pictures fill figures as type Other.")
    ] = None
    annotations: Annotated[
        Path | None, Offered("Annotated articles (ID.json): measured on, their pictures are not drawn from.")
    ] = None


@dataclass(frozen=True, slots=True)
class ModalitySources:
    """Pictures whose modality is known, or at least their type."""

    modalities: Annotated[
        Path | None, Offered("Folder of pictures: SOURCE/MODALITY/*.png, MODALITY as CFP, UWF, FA, OCT, histology …")
    ] = None
    typed_articles: Annotated[
        Path | None, Offered("Articles (ID/article.pdf): annotated images, and bitmaps of articles without retina.")
    ] = None
    typed_annotations: Annotated[Path | None, Offered("Annotated articles (ID.json) among them.")] = None


@dataclass(frozen=True, slots=True)
class FigureSources(PictureSources):
    """Sources of synthetic figures: pictures, and layouts of real figures."""

    layouts: Annotated[Path | None, Offered("CSV of real panel layouts (PanelSeg's columns).")] = None


@dataclass(frozen=True, slots=True)
class AnnotatedSources:
    """Annotated figures that a detector is trained on beside the synthetic ones."""

    coco: Annotated[list[Path] | None, Offered("Annotated figures in COCO format; as often as needed.")] = None
    annotations: Annotated[Path | None, Offered("Annotated articles (ID.json) to train on; needs --articles.")] = None
    articles: Annotated[Path | None, Offered("Their PDFs (ID/article.pdf).")] = None
    label_studio: Annotated[
        Path | None, Offered("JSON export of Label Studio to train on; needs --label-studio-images.")
    ] = None
    label_studio_images: Annotated[Path | None, Offered("Folder of its pictures.")] = None


# which network, and how it is trained


@dataclass(frozen=True, slots=True)
class NetworkChoice:
    """Choice of the detector that is trained."""

    architecture: Annotated[Architecture, Offered("Which network.")] = "compact"
    size: Annotated[Size, Offered("full, or tiny to see within a minute whether everything runs.")] = "full"
    initial: Annotated[
        Path | None,
        Offered(
            "Weights a new run starts from, where names and shapes agree: best.pt of a run, a state dict (.pth), "
            "figure_detector.onnx for compact, "
            "or for the DETR family a folder that transformers' save_pretrained wrote."
        ),
    ] = None


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options of training that all networks have; those that are not `Offered` are set in code.

    A finished run goes on when there are more `steps` than before; one that had stopped for want of patience has all
    its patience again then.

    Attributes:
        warm_up: steps until the plateau of the learning rate, which is that of AdamW.
        schedule: course of the rate after them.
        fall: part of the steps, at the end, over which the rate falls to zero; of a plateau.
        at_once: examples of a step that are computed together, their gradients are added up; 0 for all.
        average: decay of the moving average of the weights.
        save_seconds: time between checkpoints.
    """

    steps: Annotated[int, Offered("Optimiser steps in all.", least=1)] = 12000
    batch_size: Annotated[int, Offered("Figures per step; halves when memory runs out.", least=1)] = 8
    learning_rate: Annotated[float, Offered("Of the plateau.")] = 1.5e-3
    warm_up: int = 300
    schedule: Schedule = "plateau"
    fall: float = 0.25
    at_once: int = 0
    average: float = 0.999
    evaluate_every: Annotated[int, Offered("Steps between evaluations.", least=1)] = 500
    patience: Annotated[int, Offered("Evaluations without a better one after which training stops.", least=1)] = 12
    save_seconds: float = 120.0
    save_every: Annotated[int, Offered("Steps between checkpoints; 0 for one every two minutes.", least=0)] = 0
    workers: Annotated[int, Offered("Processes that read figures.", least=0)] = 1
    threads: Annotated[int, Offered("CPU threads of the network; 0 lets PyTorch choose.", least=0)] = 0
    seed: Annotated[int, Offered("Of weights, order and augmentation.")] = 7
    device: Annotated[Device, Offered("Where the network is computed.")] = "cpu"


@dataclass(frozen=True, slots=True)
class TrainingOptions(RunOptions):
    """Options of training a detector; see `RunOptions`.

    Attributes:
        weight_decay: of AdamW; not for biases and normalisation.
        clip: largest norm of the gradients; 0 for the architecture's usual one.
        input_side: figures are scaled to squares of so many pixels; 0 for the sizes of `input_size.BUCKETS`.
        panels_only: learn panels alone, as the papers on compound figures do.
        augment: figures are mirrored, framed and made brighter or darker at random.
    """

    learning_rate: Annotated[float, Offered("Of the plateau; 0 for the architecture's usual one.")] = 0.0
    weight_decay: float = 0.02
    clip: float = 0.0
    input_side: int = 0
    panels_only: bool = False
    augment: bool = True
    validation_figures: Annotated[
        int, Offered("Synthetic figures that are evaluated.", least=1, after="evaluate_every")
    ] = 300
    annotated_share: Annotated[
        float, Offered("Part of the training figures that are annotated ones.", least=0, most=1, after=FIRST)
    ] = 0.3


@dataclass(frozen=True, slots=True)
class MarkOptions(RunOptions):
    """Options of training the mark classifier; see `RunOptions`.

    Attributes:
        validation_crops: number of drawn pictures that are evaluated.
        annotated_share: part of the examples that are annotated pictures, where there are any.
    """

    steps: Annotated[int, Offered("Optimiser steps in all.", least=1)] = 5000
    batch_size: int = 32
    learning_rate: Annotated[float, Offered("Of the plateau; half of it where a run starts from weights.", least=0)] = (
        1.5e-3
    )
    warm_up: int = 200
    fall: float = 0.3
    average: float = 0.998
    evaluate_every: int = 250
    patience: int = 12
    workers: Annotated[int, Offered("Processes that draw examples.", least=0)] = 1
    threads: Annotated[int, Offered("CPU threads of the network; 0 lets PyTorch choose.", least=0, after="steps")] = 0
    seed: Annotated[int, Offered("Of weights and examples.")] = 11
    validation_crops: int = 1000
    annotated_share: float = 0.25


@dataclass(frozen=True, slots=True)
class MarksDetectorOptions(RunOptions):
    """Options of training the marks detector; see `RunOptions`.

    Attributes:
        validation_pictures: number of drawn pictures that are evaluated.
    """

    steps: Annotated[int, Offered("Optimiser steps in all.", least=1)] = 5000
    batch_size: int = 16
    learning_rate: float = 5e-4
    warm_up: int = 100
    fall: float = 0.4
    average: float = 0.998
    evaluate_every: int = 500
    patience: int = 12
    workers: Annotated[int, Offered("Processes that draw examples.", least=0)] = 1
    threads: Annotated[int, Offered("CPU threads of the network; 0 lets PyTorch choose.", least=0, after="steps")] = 0
    seed: Annotated[int, Offered("Of weights and examples.")] = 17
    validation_pictures: int = 200


@dataclass(frozen=True, slots=True)
class MarksReaderOptions(RunOptions):
    """Options of training the marks reader; see `RunOptions`.

    Attributes:
        batch_size: pictures, each with up to 12 boxes.
        validation_pictures: number of drawn pictures that are evaluated.
    """

    steps: Annotated[int, Offered("Optimiser steps in all.", least=1)] = 4000
    batch_size: int = 8
    learning_rate: float = 5e-4
    warm_up: int = 30
    fall: float = 0.5
    average: float = 0.995
    evaluate_every: int = 250
    patience: int = 12
    workers: Annotated[int, Offered("Processes that draw examples.", least=0)] = 1
    threads: Annotated[int, Offered("CPU threads of the network; 0 lets PyTorch choose.", least=0, after="steps")] = 0
    seed: Annotated[int, Offered("Of weights and examples.")] = 19
    validation_pictures: int = 150


@dataclass(frozen=True, slots=True)
class ImageTypeOptions(RunOptions):
    """Options of training the image type network; see `RunOptions`."""

    steps: Annotated[int, Offered("Optimiser steps in all.", least=1)] = 1200
    batch_size: int = 32
    learning_rate: float = 5e-4
    warm_up: int = 60
    fall: float = 0.6
    average: float = 0.99
    evaluate_every: int = 400
    patience: int = 100
    workers: Annotated[int, Offered("Processes that prepare examples.", least=0)] = 1
    threads: Annotated[int, Offered("CPU threads of the network; 0 lets PyTorch choose.", least=0, after="steps")] = 0
    seed: Annotated[int, Offered("Of examples and stand-ins.")] = 13
