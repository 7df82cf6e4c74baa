"""Every step of the detectors on typeset and drawn figures, against their ground truth and recorded results."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from pmo_assets.pipeline.detection.detect import crop, detect_images, detect_panels
from pmo_assets.pipeline.detection.fusion.image_fusion import ImageFusionOptions, fused_images, image_proposals
from pmo_assets.pipeline.detection.fusion.image_grids import image_grids, missing_images
from pmo_assets.pipeline.detection.fusion.panel_fusion import (
    PanelFusionOptions,
    chosen_panels,
    completed,
    panel_options,
)
from pmo_assets.pipeline.detection.image_types.measures import measured_scores, picture_features
from pmo_assets.pipeline.detection.networks.mark_input import mark_input, second_look
from pmo_assets.pipeline.detection.networks.second_look import joined, tiles_to_see
from pmo_assets.pipeline.detection.protocols import NetworkBoxes
from pmo_assets.pipeline.detection.structure.colour_scales import colour_bars, without_scales
from pmo_assets.pipeline.detection.structure.frames import drawn_frames, framed_grid
from pmo_assets.pipeline.detection.structure.gutters import (
    clear_gutters,
    cut_tree,
    seams,
    sparse_gutters,
    uniform_gutters,
)
from pmo_assets.pipeline.detection.structure.images import is_photograph, pictures_within, structure_images
from pmo_assets.pipeline.detection.structure.marks import classify_mark, mark_shapes
from pmo_assets.pipeline.detection.structure.panels import glyph_share, printed_names, structure_panels
from pmo_assets.pipeline.detection.structure.snapping import snapped_box
from pmo_assets.pipeline.detection.structure.vector_marks import vector_evidence
from pmo_assets.pipeline.figures.caption_location.labels import figure_number
from pmo_assets.pipeline.figures.extraction import FigureOptions, extract_figures
from pmo_assets.records.detections import FigureView
from pmo_assets.records.geometry import Box, as_box, expand, iou
from pmo_assets.samples import typeset
from pmo_assets_tests.pipeline.detection.drawing import (
    as_fraction,
    fundus,
    live_text,
    oct_scan,
    paper,
    paste,
    photograph,
    plot,
)
from pmo_assets_tests.recorded import assert_as_recorded
from pmo_assets_tests.samples.random_specs import random_spec

Floats = NDArray[np.float32]

FILE = Path(__file__).with_suffix(".json")

SEEDS = {2: 4, 33: 3, 1012: 3, 6: 4}
"""Random articles, and how many figures each has."""

Truth = tuple[tuple[Box, ...], tuple[Box, ...], tuple[Box, ...]]
"""Panels, identifiers, images."""


@cache
def typeset_figures(seed: int) -> list[tuple[FigureView, Truth]]:
    """Return the figures of a random article with what is known of them, cut out at 150 dpi."""
    article = typeset(random_spec(seed))
    assert article.pdf is not None
    known = {figure_number(figure["label"]): figure["panels"] for figure in article.truth["figures"]}
    result: list[tuple[FigureView, Truth]] = []

    def receive(figure: Any, pixels: Any) -> None:
        panels = known[figure_number(figure.label)]
        truth = (
            tuple(as_box(panel["box"]) for panel in panels),
            tuple(as_box(panel["identifier_box"]) for panel in panels if panel["identifier_box"]),
            tuple(as_box(image["box"]) for panel in panels for image in panel["images"]),
        )
        names = tuple(panel["identifier"] for panel in panels if panel["identifier"])
        result.append((FigureView(pixels, figure.bitmaps, figure.texts, names, shapes=figure.shapes), truth))

    extract_figures(article.pdf, (), FigureOptions(max_dpi=150), receive=receive)
    return result


def drawn_grid(dark: bool) -> tuple[FigureView, Truth]:
    """Two rows of three pictures with letters inside, a colour bar, a frame and marks."""
    figure = paper(900, 620, 0 if dark else 255)
    pictures = [fundus(260), oct_scan(280, 250), photograph(270, 240, 3), fundus(250), photograph(280, 260, 5)]
    rects = [
        paste(figure, picture, 8 + (k % 3) * 300, 12 + (k // 3) * 310 + 3 * k) for k, picture in enumerate(pictures)
    ]
    cv2.arrowedLine(figure, (100, 60), (60, 130), (255, 255, 255), 3, tipLength=0.4)
    cv2.circle(figure, (440, 100), 25, (255, 255, 0), 2)
    cv2.rectangle(figure, (640, 320), (880, 600), (255, 255, 255) if dark else (0, 0, 0), 2)
    figure[340:560, 860:872] = np.linspace((250, 0, 0), (0, 0, 250), 220)[:, None].astype(np.uint8)
    for rect, letter in zip(rects, "ABCDE", strict=True):
        cv2.putText(figure, letter, (rect[0] + 8, rect[1] + 30), 0, 0.9, (255, 255, 255), 2, cv2.LINE_AA)
    boxes = tuple(as_fraction(figure, rect) for rect in rects)
    return FigureView(figure, (), (), tuple("ABCDE")), (boxes, (), boxes)


def drawn_plots() -> tuple[FigureView, Truth]:
    """Three plots and a picture with live letters above."""
    figure = paper(900, 700)
    rects = [plot(figure, 20 + (k % 2) * 450, 40 + (k // 2) * 340, 400, 280) for k in range(3)]
    rects.append(paste(figure, photograph(380, 270, 9), 480, 390))
    texts = tuple(live_text(figure, letter, 10 + (k % 2) * 450, 6 + (k // 2) * 345) for k, letter in enumerate("abcd"))
    boxes = tuple(as_fraction(figure, rect) for rect in rects)
    return FigureView(figure, (), texts, tuple("abcd")), (boxes, tuple(t.box for t in texts), boxes)


def materials() -> Iterator[tuple[str, FigureView, Truth]]:
    for seed in SEEDS:
        for k, (view, truth) in enumerate(typeset_figures(seed)):
            yield f"{seed}.{k}", view, truth
            yield f"{seed}.{k} flat", FigureView(view.pixels, caption_identifiers=view.caption_identifiers), truth
    yield "grid", *drawn_grid(False)
    yield "dark grid", *drawn_grid(True)
    yield "plots", *drawn_plots()


def as_seen(truth: Truth, seed: int) -> NetworkBoxes:
    """Return the truth as a network would see it: displaced a little, one box missing, some too many."""
    rng = np.random.default_rng(seed)
    boxes: dict[str, Floats] = {}
    scores: dict[str, Floats] = {}
    classes: dict[str, Any] = {}
    for group, own in zip(("panel", "label", "image"), truth, strict=True):
        kept = np.asarray(own, np.float64).reshape(-1, 4)[len(own) > 2 :]
        corner = rng.uniform(0, 0.8, (2, 2))
        more = np.concatenate([corner, corner + rng.uniform(0.02, 0.2, (2, 2))], axis=1)
        boxes[group] = np.clip(np.concatenate([kept + rng.normal(0, 0.004, kept.shape), more]), 0, 1).astype(np.float32)
        scores[group] = rng.uniform(0.3, 0.95, len(boxes[group])).astype(np.float32)
        classes[group] = (
            rng.dirichlet((1, 1, 1, 1), len(scores[group])) if group == "image" else np.ones((len(scores[group]), 1))
        )
        classes[group] = (classes[group] * scores[group][:, None]).astype(np.float32)
    return NetworkBoxes(boxes, scores, classes)


@pytest.fixture(scope="module")
def cases() -> dict[str, tuple[FigureView, Truth]]:
    return {name: (view, truth) for name, view, truth in materials()}


NAMES = [f"{seed}.{k}{flat}" for seed, count in SEEDS.items() for k in range(count) for flat in ("", " flat")]
every_case = pytest.mark.parametrize("name", [*NAMES, "grid", "dark grid", "plots"])


@every_case
def test_structure(cases: dict[str, tuple[FigureView, Truth]], name: str) -> None:
    view, (panels, _, images) = cases[name]
    printed = printed_names(view)
    found = structure_panels(view, printed)
    pictures = structure_images(view, found)
    if (
        view.is_live and name != "plots"
    ):  # axis titles and ticks belong to a plot, how much of them is a matter of taste
        for truth, boxes in (
            (panels, [p.box for p in found if p.kind == "panel"]),
            (images, [i.box for i in pictures]),
        ):
            assert all(max(iou(box, other) for other in boxes) > 0.85 for box in truth)
    canvas, (tall, wide) = printed.canvas, printed.canvas.ink.shape
    whole = (0, 0, wide, tall)
    crops = [crop(view.pixels, image.box) for image in pictures]
    assert_as_recorded(
        FILE,
        f"structure {name}",
        {
            "names": printed.names,
            "places": printed.places,
            "panels": found,
            "images": pictures,
            "glyph share": glyph_share(view),
            "gutters": [
                gutters(canvas, whole, axis)
                for gutters in (clear_gutters, sparse_gutters, uniform_gutters, seams)
                for axis in (0, 1)
            ],
            "tree": cut_tree(canvas, whole),
            "frames": [drawn_frames(canvas, whole, 40), framed_grid(canvas, whole, 40)],
            "scales": [colour_bars(canvas), without_scales(canvas)],
            "pictures": [pictures_within(canvas, whole, 30), is_photograph(canvas, whole)],
            "snapped": [snapped_box(canvas, expand(box, 0.02)) for box in panels],
            "marks": [[mark_shapes(picture), classify_mark(picture)] for picture in crops],
            "drawn": [vector_evidence(view, image.box) for image in pictures],
        },
    )


@pytest.mark.parametrize("name", [name for name in NAMES if not name.endswith("flat")])
def test_measures(cases: dict[str, tuple[FigureView, Truth]], name: str) -> None:
    view, (_, _, images) = cases[name]
    votes = np.random.default_rng(0).normal(size=(14, 14)).astype(np.float32)
    recorded = []
    for box in images:
        picture = crop(view.pixels, box)
        shown = second_look(np.repeat(np.repeat(picture, 3, 0), 3, 1), votes)
        recorded.append([picture_features(picture), measured_scores(picture), mark_input(picture), shown])
    assert_as_recorded(FILE, f"measures {name}", recorded)


@every_case
def test_fusion(cases: dict[str, tuple[FigureView, Truth]], name: str) -> None:
    view, truth = cases[name]
    printed = printed_names(view)
    structural = structure_panels(view, printed)
    recorded = []
    for seed in range(2):
        seen = as_seen(truth, seed)
        chosen = chosen_panels(view, printed, structural, seen)
        images = structure_images(view, chosen)
        grids = image_grids(images[1:])
        tiles = tiles_to_see(seen, 1500, 1200)
        recorded.append(
            {
                "options": panel_options(view, printed, structural, seen, PanelFusionOptions()),
                "chosen": chosen,
                "completed": [completed(printed, seen).names, completed(printed, seen).places],
                "proposals": image_proposals(view, images, seen, ImageFusionOptions()),
                "images": fused_images(view, images, seen),
                "grids": grids,
                "missing": missing_images(printed.canvas, images[1:], grids),
                "tiles": tiles,
                "joined": joined(seen, tiles, [as_seen(truth, seed + 5) for _ in tiles], 1500, 1200) if tiles else None,
            }
        )
    panels = detect_panels(view)
    assert_as_recorded(FILE, f"fusion {name}", [recorded, panels, detect_images(view, panels)])
