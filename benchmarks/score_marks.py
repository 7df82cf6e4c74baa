"""Score marks on images: arrows, circles, boxes, asterisks and lines, in styles that nothing was trained on.

    python benchmarks/score_marks.py [--shared ../shared] [--pictures N] [--part test] [--weights FILE] [--reader FILE]
        [--fit] [--overlays FOLDER] [--no-network] [--articles]

Marks of `mark_styles.py` on pictures of a part of the pool that the network was not trained on. *Vector*: typeset into
a PDF of one page, without the network. *Pixels*: the same pages as flat pictures of 250 to 700 pixels, and marks drawn
by Matplotlib. *Clean*: pictures of the pool without marks, with device print, scale bars, names, letters; what is found
there is wrong. Every picture has the mark status that its pixels and shapes give it, without words. A mark counts as
found at an IoU of 0.5, both boxes grown by half a percent of the long side (lines have no surface); tips are right
within 3 % of it. Recall, precision, kinds and tips are those at the working threshold.

`--fit` fits what the network's scores are worth on the validation part, half of whose pictures are clean, and writes
`pmo_assets/weights/marks_detector.json`. `--overlays` writes pictures with what was found. `--articles` only
tells on how many images of annotated articles marks are found, and takes the time, shapes and pixels together.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import cv2
import numpy as np
from mark_styles import TrueMark, drawn_by_matplotlib, typeset
from scipy.optimize import minimize
from score_detection import annotated_figures, figure_view

from pmo_assets.pipeline.detection.detect import crop
from pmo_assets.pipeline.detection.fusion.mark_fusion import FusedMarkClassifier, log_odds
from pmo_assets.pipeline.detection.structure.marks import is_plot
from pmo_assets.pipeline.detection.structure.vector_marks import vector_evidence
from pmo_assets.pipeline.regions.mark_colours import mark_colour
from pmo_assets.pipeline.regions.marks import LEAST_SEEN, image_marks
from pmo_assets.pipeline.regions.marks_network import LEAST_NONE, Calibration, MarksNetwork, shipped_calibration
from pmo_assets.records.average_precision import average_precision, ranked_boxes
from pmo_assets.records.detections import FigureView
from pmo_assets.records.geometry import (
    UNIT_BOX,
    Box,
    as_box,
    clip,
    denormalise,
    expand,
    height,
    matched_boxes,
    normalise,
    width,
)
from pmo_assets.records.image_types import IMAGE_TYPES
from pmo_assets.records.regions import Mark
from pmo_assets.samples.drawing import Pixels
from pmo_assets.training.data.training_data import pool_pictures
from pmo_assets.training.synthetic.device_print import draw_device_print
from pmo_assets.training.synthetic.layouts import Split
from pmo_assets.training.synthetic.pools import PicturePool
from pmo_assets.training.synthetic.worn_pictures import worn

FIRST_SEED = 700_000_000
"""Behind the seeds of training."""

GROWN, NEAR_TIP = 0.005, 0.03
"""Parts of the long side: by which boxes are grown, and within which tips are right."""

THRESHOLDS = np.arange(0.2, 0.96, 0.05)
"""Working thresholds among which `--fit` chooses."""

FALSE_MARKS = 0.05
"""False marks that a clean picture may have on average."""

PRECISION = 0.97
"""Share of marks among what is found on drawn pictures, at least: on articles it is less."""


@dataclass(frozen=True)
class Case:
    """A picture with its marks, boxes and tips normalised, and the probability that it is marked by its status."""

    source: str
    view: FigureView
    marks: tuple[TrueMark, ...]
    marked: float = 0.5


def ground(rng: np.random.Generator, pool: PicturePool) -> Pixels:
    """Return a picture of the pool, in the sizes that pictures have in figures."""
    side, aspect = float(rng.uniform(250, 600)), float(np.exp(rng.normal(0.1, 0.3)))
    image_type = IMAGE_TYPES[int(rng.choice(4, p=[0.3, 0.3, 0.25, 0.15]))]
    wide, tall = max(80, round(side * aspect**0.5)), max(80, round(side / aspect**0.5))
    return np.ascontiguousarray(pool.picture(rng, image_type, wide, tall))


def normalised(marks: Sequence[TrueMark], wide: float, tall: float) -> tuple[TrueMark, ...]:
    """Return marks with boxes and tips as fractions of the picture."""
    frame = (0.0, 0.0, wide, tall)
    return tuple(
        replace(
            mark,
            box=normalise(clip(mark.box, frame), frame),
            tip=None if mark.tip is None else (mark.tip[0] / wide, mark.tip[1] / tall),
        )
        for mark in marks
    )


def page_cases(seed: int, pool: PicturePool, *, marked: bool) -> tuple[Case, Case]:
    """Return a typeset page, with what the PDF tells, and the same page as a flat picture."""
    rng = np.random.default_rng(seed)
    document, marks = typeset(rng, ground(rng, pool), marked=marked)
    page = document[0]
    frame: Box = (0.0, 0.0, page.rect.width, page.rect.height)
    truth = normalised(marks, page.rect.width, page.rect.height)
    dpi = 72 * float(rng.uniform(250, 700)) / max(page.rect.width, page.rect.height)
    live = figure_view(page, frame, (), max(dpi, 150), True)
    flat = worn(rng, figure_view(page, frame, (), dpi, False).pixels)
    document.close()
    return Case("vector", live, truth), Case("pixels", FigureView(flat), truth)


def plot_case(seed: int, pool: PicturePool) -> Case:
    """Return a picture with annotations of Matplotlib."""
    rng = np.random.default_rng(seed)
    pixels, marks = drawn_by_matplotlib(rng, ground(rng, pool))
    return Case("Matplotlib", FigureView(worn(rng, pixels)), normalised(marks, pixels.shape[1], pixels.shape[0]))


def clean_case(seed: int, pool: PicturePool) -> Case:
    """Return a picture without marks, most with device print."""
    rng = np.random.default_rng(seed)
    pixels = ground(rng, pool)
    if rng.random() < 0.7:
        draw_device_print(rng, pixels)
    return Case("clean", FigureView(worn(rng, pixels)), ())


def with_status(cases: Sequence[Case]) -> list[Case]:
    """Return cases with their mark status; see `Case`."""
    classifier = FusedMarkClassifier()
    status = [classifier([case.view.pixels], [""], [vector_evidence(case.view, UNIT_BOX)])[0][1] for case in cases]
    return [replace(case, marked=marked) for case, marked in zip(cases, status, strict=True)]


def grown(box: Box, wide: int, tall: int) -> Box:
    """Return a box in pixels, grown so that lines have a surface."""
    return expand(denormalise(box, (0.0, 0.0, float(wide), float(tall))), GROWN * max(wide, tall))


@dataclass
class Counts:
    """What was found at the working threshold, by kind where that is said."""

    found: int = 0
    true: int = 0
    said: int = 0
    kinds: int = 0
    colours: int = 0
    tips: int = 0
    tipped: int = 0
    missed: Counter[str] | None = None


def matched(case: Case, marks: Sequence[Mark], counts: Counts) -> None:
    """Add a picture to the counts."""
    tall, wide = case.view.pixels.shape[:2]
    true = [grown(mark.box, wide, tall) for mark in case.marks]
    pairs = matched_boxes(true, [grown(mark.box, wide, tall) for mark in marks], 0.5)
    counts.true += len(true)
    counts.said += len(marks)
    counts.found += len(pairs)
    counts.missed = (counts.missed or Counter()) + Counter(
        f"{mark.kind} missed" for i, mark in enumerate(case.marks) if i not in pairs
    )
    for i, k in pairs.items():
        truth, mark = case.marks[i], marks[k]
        counts.kinds += truth.kind == mark.kind
        if truth.kind != mark.kind:
            counts.missed[f"{truth.kind} as {mark.kind}"] += 1
        red, green, blue = (round(255 * v) for v in truth.colour)
        counts.colours += mark_colour((red, green, blue)) == mark.colour
        if truth.tip is not None:
            counts.tipped += 1
            if mark.tip is not None:
                off = np.hypot((mark.tip[0] - truth.tip[0]) * wide, (mark.tip[1] - truth.tip[1]) * tall)
                counts.tips += bool(off <= NEAR_TIP * max(wide, tall))
    counts.missed += Counter(f"{mark.kind} wrong" for k, mark in enumerate(marks) if k not in pairs.values())


def average(cases: Sequence[Case], network: MarksNetwork) -> float:
    """Return AP at IoU 0.5 of all marks that the network sees, whatever its threshold."""
    figures = []
    for number, case in enumerate(cases):
        tall, wide = case.view.pixels.shape[:2]
        seen = network([case.view.pixels])[0]
        truth = [grown(mark.box, wide, tall) for mark in case.marks]
        figures.append((number, [(grown(mark.box, wide, tall), mark.score) for mark in seen], truth))
    return average_precision(ranked_boxes(figures), 0.5) or 0.0


def score(name: str, cases: Sequence[Case], network: MarksNetwork | None, calibration: Calibration | None) -> Counts:
    """Print what was found in cases of one source."""
    counts, began = Counts(), time.process_time()
    for case in cases:
        matched(case, image_marks(case.view, UNIT_BOX, network, calibration, case.marked), counts)
    took = (time.process_time() - began) / max(1, len(cases))
    if any(case.marks for case in cases):
        print(
            f"{name}: {len(cases)} pictures, {counts.true} marks: recall {counts.found / max(1, counts.true):.3f} "
            f"precision {counts.found / max(1, counts.said):.3f} kinds {counts.kinds / max(1, counts.found):.3f} "
            f"tips {counts.tips / max(1, counts.tipped):.3f} colours {counts.colours / max(1, counts.found):.3f} "
            f"({1000 * took:.1f} ms)"
        )
    else:
        print(f"{name}: {len(cases)} pictures: {counts.said / max(1, len(cases)):.3f} false marks each")
    print("   ", dict((counts.missed or Counter()).most_common(14)))
    return counts


def fitted(cases: Sequence[Case], network: MarksNetwork) -> Calibration:
    """Return what scores are worth by their log odds, the status and the reader; and a threshold.

    The threshold is the least at which clean pictures have few false marks, and marks are precise on all pictures that
    are searched.

    Args:
        cases: marked and clean.
        network: whose scores are asked.
    """
    terms: list[tuple[float, float, float, float]] = []
    answers: list[bool] = []
    counted: list[tuple[float, float, float]] = []
    right, is_clean = [], []
    for case in cases:
        tall, wide = case.view.pixels.shape[:2]
        seen = network([case.view.pixels])[0]
        true = [grown(mark.box, wide, tall) for mark in case.marks]
        pairs = matched_boxes(true, [grown(mark.box, wide, tall) for mark in seen], 0.5)
        taken = set(pairs.values())
        is_searched = case.marked >= 0.5 and not is_plot(case.view.pixels)
        for k, mark in enumerate(seen):
            odds = float(np.log(mark.score / max(1e-6, 1 - mark.score)))
            terms.append((odds, log_odds(case.marked), -log_odds(max(mark.none, LEAST_NONE)), 1.0))
            answers.append(k in taken)
            longer = max(width(mark.box) * wide, height(mark.box) * tall)
            if is_searched and longer >= LEAST_SEEN * max(wide, tall):
                counted.append((mark.score, case.marked, mark.none))
                right.append(k in taken)
                is_clean.append(not case.marks)
    x, y = np.asarray(terms), np.asarray(answers, dtype=np.float64)

    def loss(at: np.ndarray) -> float:
        z = x @ at
        return float(np.mean(np.logaddexp(0, z) - y * z))

    slope, share, answer, offset = minimize(loss, np.asarray([1.0, 0.0, 0.0, 0.0])).x.tolist()
    first = Calibration(slope, share, answer, offset, 0.5)
    worth, is_right = np.asarray([first.probability(*seen) for seen in counted]), np.asarray(right)
    most = FALSE_MARKS * sum(not case.marks for case in cases)
    fits = [
        v
        for v in THRESHOLDS.tolist()
        if (worth[is_clean] >= v).sum() <= most and is_right[worth >= v].mean() >= PRECISION
    ]
    threshold = min(fits, default=float(THRESHOLDS[-1]))
    return Calibration(round(slope, 4), round(share, 4), round(answer, 4), round(offset, 4), round(threshold, 2))


def on_articles(shared: Path, network: MarksNetwork | None, calibration: Calibration | None) -> None:
    """Print on how many marked and unmarked images of annotated articles marks are found, and what that takes.

    Images are cut at their true boxes; their status is that of pixels, shapes and words. Plots, which are not searched,
    are among them.
    """
    classifier = FusedMarkClassifier()
    took: list[float] = []
    found: Counter[bool] = Counter()
    images: Counter[bool] = Counter()
    for _, _, truth, page in annotated_figures(shared, ""):
        view = figure_view(page, as_box(truth["figure_locations"][0]["bbox"]), (), 300, True)
        known = [(as_box(i["box"]), p["subcaption"], bool(i["marked"])) for p in truth["panels"] for i in p["images"]]
        boxes = [box for box, _, _ in known]
        shapes = [vector_evidence(view, box) for box in boxes]
        status = classifier([crop(view.pixels, box) for box in boxes], [words for _, words, _ in known], shapes)
        for (box, _, marked), (_, score) in zip(known, status, strict=True):
            began = time.process_time()
            marks = image_marks(view, box, network, calibration, score)
            took.append(1000 * (time.process_time() - began))
            images[marked] += 1
            found[marked] += bool(marks)
    print(
        f"annotated articles: marks on {found[True]} of {images[True]} marked images, {found[False]} of {images[False]}"
    )
    low, middle, high = np.percentile(took, [10, 50, 90])
    print(f"an image: median {middle:.1f} ms, mean {np.mean(took):.1f}, 10 and 90 % {low:.1f} and {high:.1f}")


def overlay(case: Case, marks: Sequence[Mark]) -> Pixels:
    """Return a picture twice: as it is, and with what was found."""
    tall, wide = case.view.pixels.shape[:2]
    factor = 480 / max(tall, wide)
    shown = np.ascontiguousarray(cv2.resize(case.view.pixels, None, fx=factor, fy=factor))
    plain = shown.copy()
    for mark in marks:
        left, top, right, bottom = (round(v) for v in denormalise(mark.box, (0, 0, shown.shape[1], shown.shape[0])))
        cv2.rectangle(shown, (left, top), (right, bottom), (0, 255, 0), 1)
        label = f"{mark.kind} {mark.colour} {mark.probability:.2f} {mark.label or ''}"
        cv2.putText(shown, label, (left, max(9, top - 2)), cv2.FONT_HERSHEY_SIMPLEX, 0.34, (0, 255, 255), 1)
        if mark.tip is not None:
            at = (round(mark.tip[0] * shown.shape[1]), round(mark.tip[1] * shown.shape[0]))
            cv2.circle(shown, at, 4, (255, 0, 255))
    return np.asarray(np.hstack([plain, shown]), dtype=np.uint8)


def main() -> None:
    """Print the scores."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=Path("../shared"))
    parser.add_argument("--pictures", type=int, default=200)
    parser.add_argument("--part", choices=["train", "validation", "test"], default="test")
    parser.add_argument("--weights", type=Path)
    parser.add_argument("--reader", type=Path)
    parser.add_argument("--no-network", action="store_true")
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--overlays", type=Path)
    parser.add_argument("--articles", action="store_true")
    arguments = parser.parse_args()
    cv2.setNumThreads(1)
    shared: Path = arguments.shared
    network = None if arguments.no_network else MarksNetwork(arguments.weights, arguments.reader)
    if arguments.articles:
        on_articles(shared, network, shipped_calibration())
        return
    pictures = pool_pictures(shared / "images", shared / "corpus", shared / "annotations")
    part: Split = "validation" if arguments.fit else arguments.part
    pool, count = PicturePool(pictures, part, 1.0), int(arguments.pictures)
    first = FIRST_SEED + (50_000_000 if arguments.fit else 0)
    pages = [page_cases(first + k, pool, marked=True) for k in range(count)]
    clean_pages = [page_cases(first + 10_000_000 + k, pool, marked=False) for k in range(count // 4)]
    plots = [plot_case(first + 20_000_000 + k, pool) for k in range(count // 2)]
    clean = [clean_case(first + 30_000_000 + k, pool) for k in range(count)] + [flat for _, flat in clean_pages]
    flats, lives = with_status([flat for _, flat in pages]), with_status([live for live, _ in pages])
    plots, clean = with_status(plots), with_status(clean)
    calibration = None
    if network is not None and arguments.fit:
        calibration = fitted([*flats, *plots, *clean], network)
        Path("pmo_assets/weights/marks_detector.json").write_text(json.dumps(asdict(calibration), indent=1) + "\n")
        print(calibration)
    elif network is not None:
        calibration = shipped_calibration()
    score("vector", lives, None, None)
    score("vector, clean", [live for live, _ in clean_pages], None, None)
    if network is not None:
        score("vector and pixels", lives, network, calibration)
        print(f"pixels: AP@0.5 {average(flats, network):.3f}; Matplotlib: {average(plots, network):.3f}")
        score("pixels", flats, network, calibration)
        score("Matplotlib", plots, network, calibration)
        score("clean", clean, network, calibration)
    if arguments.overlays is not None:
        arguments.overlays.mkdir(parents=True, exist_ok=True)
        shown = {"vector": lives, "pixels": flats, "plots": plots, "clean": clean}
        for name, cases in shown.items():
            for k, case in enumerate(cases[:24]):
                chosen = None if name == "vector" else network
                marks = image_marks(case.view, UNIT_BOX, chosen, calibration, case.marked)
                cv2.imwrite(str(arguments.overlays / f"{name}_{k:02d}.png"), overlay(case, marks)[:, :, ::-1])


if __name__ == "__main__":
    main()
