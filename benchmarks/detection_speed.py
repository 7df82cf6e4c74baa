"""Time and memory of the detectors per figure, with RetinaNet-R50 on the same figures beside them.

    python benchmarks/detection_speed.py [--shared ../shared] [--figures 40] [--detector FILE] [--marks FILE]

Figures are those of the annotated articles, rendered from their PDFs at 300 dpi; without them synthetic figures are
taken. All times are of one thread (CPU time of the process, median per figure), so that other work on the machine does
not count; peak memory is what a fresh process needs above Python and the figures: libraries, weights and work space
(Linux).
RetinaNet has random weights here: its time does not depend on them. It is left out without PyTorch.
"""

from __future__ import annotations

import argparse
import multiprocessing
import pickle
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from typing import get_args

import cv2
from score_detection import annotated_figures, figure_view

from pmo_assets.pipeline.detection.detect import images_of_figures, panels_of_figures
from pmo_assets.pipeline.detection.detector_set import detector_set
from pmo_assets.pipeline.detection.networks.onnx_detectors import FigureNetwork
from pmo_assets.pipeline.detection.networks.onnx_marks import OnnxMarkNetwork
from pmo_assets.pipeline.detection.protocols import DetectorSource
from pmo_assets.records.detections import FigureView
from pmo_assets.records.geometry import Box
from pmo_assets.training.synthetic.pools import PicturePool
from pmo_assets.training.synthetic.synthetic_figures import synthetic_figure

Work = Callable[[Sequence[FigureView]], object]
Prepare = Callable[[], Work]
"""Makes a detector and returns what runs it on figures."""


def figure_views(shared: Path, count: int) -> list[FigureView]:
    """Return up to `count` figures, spread over the annotated articles, or synthetic ones."""
    views = []
    for _, _, truth, page in annotated_figures(shared, ""):
        frame: Box = tuple(truth["figure_locations"][0]["bbox"])
        names = tuple(str(p["identifier"]) for p in truth["panels"] if p["identifier"] is not None)
        views.append(figure_view(page, frame, names, 300, True))
    if not views:
        pool = PicturePool([])
        return [FigureView(synthetic_figure(k, pool, ()).pixels) for k in range(count)]
    return views[:: max(1, len(views) // count)][:count]


@dataclass(frozen=True)
class Cost:
    """CPU milliseconds per figure, and peak memory in MB above what the process had before."""

    milliseconds: float
    megabytes: float


def figure_network(file: Path | None) -> Work:
    """Return the figure network, at most eight figures per pass."""
    network = FigureNetwork(file, batch_size=8)
    return lambda some: network([FigureView(v.pixels.copy()) for v in some])


def mark_classifier(file: Path | None) -> Work:
    """Return the mark classifier, one picture per pass."""
    classifier = OnnxMarkNetwork(file)
    return lambda some: [classifier.looks([v.pixels]) for v in some]


def retinanet() -> Work:
    """Return a RetinaNet with random weights, at most eight figures per pass."""
    import torch

    from pmo_assets.pipeline.detection.networks.retinanet import RetinaNet, TorchNetwork

    torch.set_num_threads(1)
    network = TorchNetwork(RetinaNet(4), batch_size=8)
    return lambda some: network([v.pixels for v in some])


def detection(source: DetectorSource, file: Path | None, marks_file: Path | None) -> Work:
    """Return everything that is done with a figure."""
    detectors = detector_set(source, detector_file=file, marks_file=marks_file)

    def work(some: Sequence[FigureView]) -> object:
        fresh = [FigureView(v.pixels.copy(), v.bitmaps, v.texts, v.caption_identifiers) for v in some]
        panels = panels_of_figures(fresh, detectors.panels)
        return images_of_figures(fresh, panels, detectors.images, detectors.marks, detectors.types)

    return work


def measured_here(prepare: Prepare, file: Path, batch: int, sender: Connection) -> None:
    """Measure a detector on the figures in a file in this process and send its cost."""
    cv2.setNumThreads(1)
    views = pickle.loads(file.read_bytes())
    before = memory_megabytes("VmRSS")
    work = prepare()
    work(views[:1])
    times = []
    for k in range(0, len(views), batch):
        some = views[k : k + batch]
        start = time.process_time()
        work(some)
        times.append(1000 * (time.process_time() - start) / len(some))
    sender.send(Cost(median(times), memory_megabytes("VmHWM") - before))


def memory_megabytes(kind: str) -> float:
    """Return the present (VmRSS) or the largest (VmHWM) memory of this process in MB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{kind}:")) / 1024


def measured(prepare: Prepare, views: Sequence[FigureView], batch: int) -> Cost:
    """Return the cost of a detector, in a fresh process so that no other one's memory counts.

    Args:
        prepare: makes the detector there.
        views: figures, the first one also to warm up.
        batch: figures per call.
    """
    receiver, sender = multiprocessing.Pipe(duplex=False)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "figures"
        file.write_bytes(pickle.dumps(list(views)))
        process = multiprocessing.get_context("spawn").Process(
            target=measured_here, args=(prepare, file, batch, sender)
        )
        process.start()
        sender.close()
        cost: Cost = receiver.recv()
        process.join()
    return cost


def main() -> None:
    """Run the benchmark and print the numbers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=Path("../shared"))
    parser.add_argument("--figures", type=int, default=40)
    parser.add_argument("--detector", type=Path, help="ONNX file of the figure network instead of the package's")
    parser.add_argument("--marks", type=Path, help="ONNX file of the mark classifier instead of the package's")
    args = parser.parse_args()
    views = figure_views(args.shared, args.figures)
    sizes = sorted(views, key=lambda v: v.pixels.shape[0] * v.pixels.shape[1])
    usual = sizes[len(sizes) // 2]
    print(f"{len(views)} figures, median {usual.pixels.shape[0] * usual.pixels.shape[1] / 1e6:.1f} Mpx; 1 thread")
    # Copies of one figure: only inputs of one size share a batch.
    same = [FigureView(usual.pixels.copy()) for _ in range(16)]
    figures, marks = partial(figure_network, args.detector), partial(mark_classifier, args.marks)
    rows: list[tuple[str, Prepare, Sequence[FigureView], int]] = [
        ("figure network, batch 1", figures, same, 1),
        ("figure network, batch 8", figures, same, 8),
        ("mark classifier, one image", marks, same, 1),
    ]
    if find_spec("torch") is not None:
        rows.append(("RetinaNet-R50, one of two, batch 1", retinanet, same[:8], 1))
        rows.append(("RetinaNet-R50, one of two, batch 8", retinanet, same[:8], 8))
    for source in get_args(DetectorSource):
        whole = partial(detection, source, args.detector, args.marks)
        rows.append((f"{source}: panels, images, types, marks", whole, views, 1))
    print(f"{'':40s} {'ms/figure':>10s} {'figures/s':>10s} {'peak MB':>8s}")
    for name, prepare, chosen, batch in rows:
        cost = measured(prepare, chosen, batch)
        print(f"{name:40s} {cost.milliseconds:10.1f} {1000 / cost.milliseconds:10.2f} {cost.megabytes:8.0f}")


if __name__ == "__main__":
    main()
