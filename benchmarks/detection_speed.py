"""Time and memory of the detectors per figure, with RetinaNet-R50 on the same figures beside them.

    python benchmarks/detection_speed.py [--shared ../shared] [--figures 40] [--detector FILE] [--marks FILE]

Figures are those of the annotated articles, rendered from their PDFs at 300 dpi; without them synthetic figures are
taken. All times are of one thread (CPU time of the process, median per figure), so that other work on the machine does
not count. RetinaNet has random weights here: its time does not depend on them. It is left out without PyTorch.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from statistics import median

import cv2
from score_detection import annotated_figures, figure_view

from pmo_assets.pipeline.detection.detect import crop, detect_images, detect_panels
from pmo_assets.pipeline.detection.detections import FigureView
from pmo_assets.pipeline.detection.detector_set import detector_set
from pmo_assets.pipeline.detection.onnx_detectors import FigureNetwork, OnnxMarkClassifier
from pmo_assets.pipeline.geometry import Box
from pmo_assets.pipeline.training.pools import PicturePool
from pmo_assets.pipeline.training.synthetic_figures import synthetic_figure


def figure_views(shared: Path, count: int) -> list[FigureView]:
    """Return up to `count` figures, spread over the annotated articles, or synthetic ones."""
    views = []
    for _, _, truth, page in annotated_figures(shared, ""):
        frame: Box = tuple(truth["figure_locations"][0]["bbox"])  # type: ignore[assignment]
        names = tuple(str(p["identifier"]) for p in truth["panels"] if p["identifier"] is not None)
        views.append(figure_view(page, frame, names, 300, True))
    if not views:
        pool = PicturePool([])
        return [FigureView(synthetic_figure(k, pool, ()).pixels) for k in range(count)]
    return views[:: max(1, len(views) // count)][:count]


def milliseconds(work: Callable[[FigureView], object], views: Sequence[FigureView]) -> float:
    """Return the median CPU time per figure in milliseconds, after one call to warm up."""
    work(views[0])
    times = []
    for view in views:
        start = time.process_time()
        work(view)
        times.append(1000 * (time.process_time() - start))
    return median(times)


def peak_megabytes() -> float:
    """Return the peak memory of this process in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Run the benchmark and print the numbers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=Path("../shared"))
    parser.add_argument("--figures", type=int, default=40)
    parser.add_argument("--detector", type=Path, help="ONNX file of the figure network instead of the package's")
    parser.add_argument("--marks", type=Path, help="ONNX file of the mark classifier instead of the package's")
    args = parser.parse_args()
    cv2.setNumThreads(1)
    views = figure_views(args.shared, args.figures)
    print(f"{len(views)} figures, median {median(v.pixels.shape[0] * v.pixels.shape[1] for v in views) / 1e6:.1f} Mpx")

    def detect(source: str) -> Callable[[FigureView], object]:
        detectors = detector_set(source, detector_file=args.detector, marks_file=args.marks)  # type: ignore[arg-type]

        def work(view: FigureView) -> object:
            fresh = FigureView(view.pixels.copy(), view.bitmaps, view.texts, view.caption_identifiers)
            panels = detect_panels(fresh, detectors.panels)
            return detect_images(fresh, panels, detectors.images, detectors.marks)

        return work

    network, marks = FigureNetwork(args.detector), OnnxMarkClassifier(args.marks)
    structure = detector_set("structure")
    crops = {
        id(v): [crop(v.pixels, i.box) for i in detect_images(v, detect_panels(v, structure.panels), structure.images)]
        for v in views
    }
    rows: list[tuple[str, float]] = [
        ("figure network", milliseconds(lambda v: network([FigureView(v.pixels.copy())]), views)),
        ("mark classifier, all images of a figure", milliseconds(lambda v: marks.probabilities(crops[id(v)]), views)),
        ("structure: panels, images, types, marks", milliseconds(detect("structure"), views)),
        ("network: panels, images, types, marks", milliseconds(detect("network"), views)),
        ("both: panels, images, types, marks", milliseconds(detect("both"), views)),
    ]
    start = time.process_time()
    for k in range(0, len(views), 8):
        network([FigureView(v.pixels.copy()) for v in views[k : k + 8]])
    batched = 1000 * (time.process_time() - start) / len(views)
    rows.append(("figure network, batches of 8", batched))
    memory = peak_megabytes()
    if find_spec("torch") is not None:
        import torch

        from pmo_assets.pipeline.detection.retinanet import RetinaNet, retinanet_boxes

        torch.set_num_threads(1)
        model = RetinaNet(4).eval()
        few = views[: max(2, len(views) // 10)]
        rows.append(
            ("RetinaNet-R50, one of its two networks", milliseconds(lambda v: retinanet_boxes(model, v.pixels), few))
        )
    for name, value in rows:
        print(f"{name:44s} {value:8.1f} ms")
    print(f"{'peak memory before RetinaNet':44s} {memory:8.0f} MB")
    if find_spec("torch") is not None:
        print(f"{'peak memory with RetinaNet':44s} {peak_megabytes():8.0f} MB")
    print(f"{'figures per second and core, batches of 8':44s} {1000 / batched:8.1f}")


if __name__ == "__main__":
    main()
