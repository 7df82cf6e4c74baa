"""Compare the RetinaNet of this package with Detectron2's own, on the same checkpoints and figures.

    python benchmarks/compare_with_detectron2.py FOLDER [--figures 40] [--sizes 1500] [--runtime torch]
        (--random-weights SEED | [--panels FILE] [--images FILE])

FOLDER holds pictures, or articles (`article.pdf`) whose figures are rendered. It runs in an environment with PyTorch,
this package and Detectron2 0.6 (with its model zoo, which takes setuptools<81). Detectron2 reads each checkpoint by
itself, with its model zoo's RetinaNet-R50-FPN; a `config.yaml` beside the checkpoint is read by both sides, by
Detectron2 with whatever code it names: trust it. Without one both take the paper's values.

`--random-weights` makes a checkpoint for two and one for four classes. The last layers are scaled on the first figure
so that scores and boxes spread as a trained network's do: thousands of candidates, many of them beyond the figure's
rim. They are run twice, with the paper's configuration, and with Detectron2's defaults at half the input's size, by a
configuration beside the checkpoint.

A figure agrees as a set when each box has its counterpart (same class, corners within a pixel of the network's input,
scores within 0.001), and in order when the n-th box of one is that of the other. Over an even background neighbouring
places score alike but for rounding, and which of them comes first decides which survive non-maximum suppression. So for
a figure that differs Detectron2 is compared with itself, too, its weights in another memory layout (channels last),
which adds the same numbers up in another order; such figures are counted as `unsure` when that changes the boxes or
their order as well. The rest differ by exactly equal scores, whose order Detectron2 leaves open, or by a fault here.

`--sizes N` compares the size of the network's input for every figure of up to N x N pixels.
"""

from __future__ import annotations

import argparse
import itertools
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import torch
from detectron2.config import get_cfg
from detectron2.data.transforms import ResizeShortestEdge
from detectron2.engine import DefaultPredictor
from detectron2.model_zoo import get_config_file
from numpy.typing import NDArray

from pmo_assets.pipeline.detection.networks.d2_checkpoint import retinanet_from_checkpoint
from pmo_assets.pipeline.detection.networks.network_boxes import ClassBoxes, ClassNetwork
from pmo_assets.pipeline.detection.networks.retinanet import RetinaNet, input_size, retinanet_input
from pmo_assets.pipeline.detection.networks.retinanet_config import RetinaNetOptions, config_beside, retinanet_options
from pmo_assets.pipeline.detection.networks.retinanet_detectors import Runtime, loaded_network
from pmo_assets.pipeline.figures.extraction import FigureOptions, extract_figures
from pmo_assets.records.rejections import ArticleError

PIXEL, SCORE = 1.0, 1e-3
"""Boxes whose corners and scores differ by less are one box."""

DEFAULTS = "INPUT: {MIN_SIZE_TEST: 400, MAX_SIZE_TEST: 667}\nVERSION: 2\n"
"""A configuration that leaves the rest to Detectron2's defaults."""


def figures(folder: Path, count: int) -> Iterator[NDArray[np.uint8]]:
    """Give up to `count` pictures of a folder, RGB; of articles one figure each in turn, so that they differ."""
    files = sorted(p for p in folder.iterdir() if p.suffix.lower() in (".png", ".jpg", ".jpeg"))
    if files:
        pictures: Iterator[NDArray[np.uint8]] = (
            bgr[:, :, ::-1].copy() for bgr in map(cv2.imread, map(str, files)) if bgr is not None
        )
        yield from itertools.islice(pictures, count)
        return
    given = 0
    for pdf in sorted(folder.glob("*/article.pdf")):
        found: list[NDArray[np.uint8]] = []
        try:
            extract_figures(pdf.read_bytes(), options=FigureOptions(max_dpi=300), receive=lambda _, p: found.append(p))  # noqa: B023
        except ArticleError:
            continue
        if found:
            yield found[given % len(found)]
            given += 1
        if given == count:
            return


def random_checkpoint(path: Path, classes: int, seed: int, figure: NDArray[np.uint8]) -> None:
    """Write a checkpoint whose scores and boxes spread as a trained network's do."""
    torch.manual_seed(seed)
    model = RetinaNet(classes)
    with torch.no_grad():
        for name, value in model.state_dict().items():
            if value.ndim == 4:
                value.normal_(0, float(np.prod(value.shape[1:])) ** -0.5)
            elif name.endswith("norm.weight"):
                value.uniform_(0.8, 1.2).mul_(0.3 if "conv3.norm" in name else 1.0)
            elif name.endswith("running_var"):
                value.uniform_(0.8, 1.2)
            elif name.endswith(("running_mean", "norm.bias")):
                value.normal_(0, 0.05)
        levels = model.eval()(retinanet_input(figure)[0])
        logits = torch.cat([a.flatten() for a, _ in levels])
        offsets = torch.cat([b.flatten() for _, b in levels])
        head = model.head
        head.cls_score.weight.mul_(2 / logits.std())
        head.cls_score.bias.fill_(-4 - 2 * float(logits.mean() / logits.std()))
        head.bbox_pred.weight.mul_(0.4 / offsets.std())
    torch.save({"model": model.state_dict(), "iteration": 0}, path)


def detectron2(path: Path, classes: int) -> DefaultPredictor:
    """Return Detectron2's predictor of a checkpoint, which it reads by itself."""
    settings = get_cfg()
    settings.merge_from_file(get_config_file("COCO-Detection/retinanet_R_50_FPN_3x.yaml"))
    settings.MODEL.RETINANET.NUM_CLASSES = classes
    config = config_beside(path)
    if config is not None:
        settings.merge_from_file(str(config))
    else:
        settings.MODEL.RETINANET.NMS_THRESH_TEST = RetinaNetOptions().nms_iou
        settings.TEST.DETECTIONS_PER_IMAGE = RetinaNetOptions().detections
    settings.MODEL.WEIGHTS, settings.MODEL.DEVICE, settings.DATASETS.TEST = str(path), "cpu", ()
    return DefaultPredictor(settings)


def their_boxes(predictor: DefaultPredictor, pixels: NDArray[np.uint8]) -> ClassBoxes:
    """Return what Detectron2 finds, in pixels of the figure."""
    found: Any = predictor(np.ascontiguousarray(pixels[:, :, ::-1]))["instances"]
    return ClassBoxes(found.pred_boxes.tensor.numpy(), found.scores.numpy(), found.pred_classes.numpy())


def our_boxes(network: ClassNetwork, pixels: NDArray[np.uint8]) -> ClassBoxes:
    """Return what the package finds, in pixels of the figure."""
    (found,) = network([pixels])
    tall, wide = pixels.shape[:2]
    return ClassBoxes(found.boxes * np.asarray([wide, tall, wide, tall], np.float32), found.scores, found.classes)


@dataclass(frozen=True)
class Difference:
    """What two sides find in a figure: boxes only one has, and by how much the others differ (see `Agreement`)."""

    only_first: int
    only_second: int
    in_order: bool
    box: float
    score: float

    @classmethod
    def between(cls, first: ClassBoxes, second: ClassBoxes, scale: float) -> Difference:
        """Compare boxes in pixels of a figure; `scale` is how much larger the network's input is."""
        far = np.abs(first.boxes[:, None] - second.boxes[None]).max(axis=2, initial=0) * scale
        apart = np.abs(first.scores[:, None] - second.scores[None])
        same = (far < PIXEL) & (apart < SCORE) & (first.classes[:, None] == second.classes[None])
        return cls(
            int((~same.any(axis=1)).sum()),
            int((~same.any(axis=0)).sum()),
            len(first.boxes) == len(second.boxes) and bool(same.diagonal().all()),
            float(np.where(same, far, 0).max(initial=0)),
            float(np.where(same, apart, 0).max(initial=0)),
        )


@dataclass
class Agreement:
    """Counts over figures; differences are in pixels of the network's input and in scores, of boxes that agree."""

    name: str
    figures: int = 0
    ours: int = 0
    theirs: int = 0
    same_set: int = 0
    same_order: int = 0
    unsure: int = 0
    box: float = 0.0
    score: float = 0.0
    others: list[str] = field(default_factory=list)

    def add(
        self, number: int, ours: ClassBoxes, theirs: ClassBoxes, scale: float, again: Callable[[], ClassBoxes]
    ) -> None:
        """Count a figure.

        Args:
            number: of the figure.
            ours: what this side finds.
            theirs: what Detectron2 finds.
            scale: how much larger the network's input is than the figure.
            again: gives what Detectron2 finds in another memory layout; asked where the two differ.
        """
        self.figures += 1
        self.ours += len(ours.boxes)
        self.theirs += len(theirs.boxes)
        found = Difference.between(ours, theirs, scale)
        self.same_set += not (found.only_first or found.only_second)
        self.same_order += found.in_order
        if not found.in_order:
            own = Difference.between(again(), theirs, scale)
            self.unsure += not own.in_order
            order = "the same order" if own.in_order else "another order"
            self.others.append(
                f"figure {number}: {found.only_first} boxes only here, {found.only_second} only there; "
                f"Detectron2 in another layout: {own.only_first} and {own.only_second}, {order}"
            )
        self.box = max(self.box, found.box)
        self.score = max(self.score, found.score)


def compared(name: str, path: Path, classes: int, runtime: Runtime, pictures: Sequence[NDArray[np.uint8]]) -> Agreement:
    """Run a checkpoint on both sides."""
    result = Agreement(name)
    theirs, ours = detectron2(path, classes), loaded_network(path, classes, "cpu", runtime)
    other_layout = detectron2(path, classes)
    other_layout.model.to(memory_format=torch.channels_last)
    options = retinanet_options(path, classes)
    for number, pixels in enumerate(pictures):
        scale = input_size(pixels.shape[1], pixels.shape[0], options)[0][0] / pixels.shape[1]
        again = partial(their_boxes, other_layout, pixels)
        result.add(number, our_boxes(ours, pixels), their_boxes(theirs, pixels), scale, again)
    return result


def logit_difference(path: Path, classes: int, pictures: Sequence[NDArray[np.uint8]]) -> float:
    """Return the largest difference of class logits, on input made by each side for itself."""
    options = retinanet_options(path, classes)
    predictor, model = detectron2(path, classes), retinanet_from_checkpoint(path, classes, options)
    largest = 0.0
    for pixels in pictures:
        bgr = np.ascontiguousarray(pixels[:, :, ::-1])
        scaled = predictor.aug.get_transform(bgr).apply_image(bgr)
        batch = [{"image": torch.as_tensor(scaled.astype("float32").transpose(2, 0, 1))}]
        with torch.no_grad():
            levels = predictor.model.backbone(predictor.model.preprocess_image(batch).tensor)
            there, _ = predictor.model.head([levels[name] for name in predictor.model.head_in_features])
            here = model.head(model.backbone(retinanet_input(pixels, options)[0]))
        largest = max(largest, *(float((a - b).abs().max()) for (a, _), b in zip(here, there, strict=True)))
    return largest


def size_differences(most: int) -> tuple[int, int, int]:
    """Return (sizes compared, those that differ, those where a side vanishes in Detectron2)."""
    options = RetinaNetOptions()
    theirs: Callable[..., tuple[int, int]] = ResizeShortestEdge.get_output_shape
    compared = different = vanishing = 0
    for tall, wide in itertools.product(range(1, most + 1), repeat=2):
        height, width = theirs(tall, wide, options.short_side, options.long_side)
        compared += 1
        vanishing += not (height and width)
        different += input_size(wide, tall, options)[0] != (max(1, width), max(1, height))
    return compared, different, vanishing


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="pictures, or articles with article.pdf")
    parser.add_argument("--panels", type=Path, help="checkpoint with the classes Panel, Label")
    parser.add_argument("--images", type=Path, help="checkpoint with the classes CFP, OCT, Retinal Imaging, Other")
    parser.add_argument("--random-weights", type=int, metavar="SEED", help="make both checkpoints")
    parser.add_argument("--figures", type=int, default=40, help="so many at most")
    parser.add_argument("--sizes", type=int, default=1500, help="compare input sizes up to this; 0: none")
    parser.add_argument("--runtime", choices=("torch", "detectron2"), default="torch", help="what runs this side")
    args = parser.parse_args()
    if args.sizes:
        total, different, vanishing = size_differences(args.sizes)
        print(f"input sizes: {total} compared, {different} differ ({vanishing} with a side of 0 there, 1 here)")
    pictures = list(figures(args.folder, args.figures))
    if not pictures:
        parser.error(f"no pictures and no */article.pdf in {args.folder}")
    with tempfile.TemporaryDirectory() as folder:
        runs = [("panels", args.panels, 2), ("images", args.images, 4)]
        if args.random_weights is not None:
            runs = []
            for name, classes in (("panels", 2), ("images", 4)):
                for config in ("paper", "defaults"):
                    path = Path(folder, config, f"{name}.pth")
                    path.parent.mkdir(exist_ok=True)
                    random_checkpoint(path, classes, args.random_weights, pictures[0])
                    if config == "defaults":
                        path.with_suffix(".yaml").write_text(DEFAULTS)
                    runs.append((f"{name}, {config}", path, classes))
        print(f"{'':18} figures  ours theirs  same set  in order  unsure  box, px  score     logits")
        for name, path, classes in runs:
            if path is None:
                continue
            row = compared(name, path, classes, args.runtime, pictures)
            logits = logit_difference(path, classes, pictures[:3])
            print(
                f"{row.name:18} {row.figures:7} {row.ours:5} {row.theirs:6} {row.same_set:9} "
                f"{row.same_order:9} {row.unsure:7} {row.box:8.4f}  {row.score:.1e}  {logits:.1e}",
                *row.others, sep="\n    ", flush=True,
            )  # fmt: skip


if __name__ == "__main__":
    main()
