"""Score detection on annotated figures with the true figure boxes.

    python benchmarks/score_detection.py [--shared ../shared] [--source both] [--no-pdf-hints] [--no-words]

Every annotated figure is rendered from its article's PDF at its true box; the hints (embedded bitmaps, live text) come
from the page, the caption's identifiers from the truth. Predictions are scored as annotations (`quality/metrics`);
class-agnostic image AP and the time per figure are added. Errors of figure location and of caption splitting are thus
excluded: this measures detection alone.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import cv2
import numpy as np
import pymupdf

from pmo_assets.annotation.annotations import AnnotatedArticle, article_number
from pmo_assets.pipeline.detection.detect import detect_images, detect_panels
from pmo_assets.pipeline.detection.detector_set import detector_set
from pmo_assets.pipeline.detection.networks.type_network import OnnxTypeNetwork
from pmo_assets.pipeline.detection.protocols import DetectorSource
from pmo_assets.pipeline.figures.figure_records import HAIR, HINT_INSIDE
from pmo_assets.pipeline.figures.page import page_content
from pmo_assets.quality.metrics.detection import figure_boxes, ranked
from pmo_assets.quality.metrics.matching import matched_articles
from pmo_assets.records.average_precision import average_precision
from pmo_assets.records.detections import FigureView, ImageDetection, PanelDetection
from pmo_assets.records.figure import EmbeddedBitmap, EmbeddedShape, EmbeddedText
from pmo_assets.records.geometry import (
    Box,
    area,
    as_box,
    centre,
    clip,
    covered_fraction,
    expand,
    intersection,
    iou,
    normalise,
)
from pmo_assets_tests.quality.metrics.article_scores import article_scores, score_lines

BOLD_FLAG = 16
"""Bit 4 of a PyMuPDF span's flags: bold."""


def figure_view(page: pymupdf.Page, frame: Box, identifiers: tuple[str, ...], dpi: float, hints: bool) -> FigureView:
    """Return what a detector sees of the part `frame` (PDF points) of a page."""
    pixmap = page.get_pixmap(dpi=int(dpi), clip=pymupdf.Rect(frame), alpha=False, colorspace=pymupdf.csRGB)
    pixels = np.frombuffer(pixmap.samples, np.uint8).reshape(pixmap.height, pixmap.width, 3).copy()
    if not hints:
        return FigureView(pixels, caption_identifiers=identifiers)
    bitmaps = []
    for info in page.get_image_info():
        box = tuple(float(v) for v in info["bbox"])
        if area(intersection(box, frame)) > 0.5 * max(area(box), 1e-6):  # type: ignore[arg-type]
            bitmaps.append(
                EmbeddedBitmap(normalise(clip(box, frame), frame), int(info["width"]), int(info["height"]))  # type: ignore[arg-type]
            )
    texts = []
    for block in page.get_text("dict", flags=pymupdf.TEXT_PRESERVE_LIGATURES)["blocks"]:
        for line in block.get("lines", ()):
            for span in line["spans"]:
                box = tuple(float(v) for v in span["bbox"])
                middle = centre(box)  # type: ignore[arg-type]
                if span["text"].strip() and frame[0] <= middle[0] <= frame[2] and frame[1] <= middle[1] <= frame[3]:
                    bold = bool(span["flags"] & BOLD_FLAG) or "bold" in span["font"].lower()
                    texts.append(EmbeddedText(span["text"].strip(), normalise(box, frame), float(span["size"]), bold))  # type: ignore[arg-type]
    shapes = tuple(
        EmbeddedShape(
            shape.kind, normalise(clip(shape.bbox, frame), frame), shape.colour, shape.filled,
            *(None if at is None else normalise((*at, *at), frame)[:2] for at in (shape.tip, shape.tail)),
        )
        for shape in page_content(page).shapes
        if covered_fraction(expand(shape.bbox, HAIR), frame) > HINT_INSIDE
    )  # fmt: skip
    return FigureView(pixels, tuple(bitmaps), tuple(texts), identifiers, shapes=shapes)


def annotated_figures(shared: Path, only: str) -> Iterator[tuple[str, int, dict[str, Any], pymupdf.Page]]:
    """Yield (article id, index of the figure, annotation, page) of every annotated figure with a PDF."""
    for path in sorted((shared / "annotations").glob("*.json")):
        pdf = shared / "corpus" / path.stem / "article.pdf"
        if not pdf.exists() or not re.search(only, path.stem):
            continue
        with pymupdf.open(pdf) as document:
            for index, figure in enumerate(json.loads(path.read_text())["figures"]):
                yield path.stem, index, figure, document[figure["figure_locations"][0]["page"]]


def as_annotation(
    truth: dict[str, Any], panels: tuple[PanelDetection, ...], images: tuple[ImageDetection, ...]
) -> dict[str, Any]:
    """Return detections as an annotated figure: identifiers and images go to the panel that covers them most."""
    boxes = [p for p in panels if p.kind == "panel"]
    names = [p for p in panels if p.kind == "identifier"]
    rows: list[dict[str, Any]] = [
        {
            "identifier": None,
            "identifier_box": None,
            "box": list(p.box),
            "score": p.score,
            "subcaption": "",
            "images": [],
        }
        for p in boxes
    ]
    for name in sorted(names, key=lambda p: -p.score):
        best = max(range(len(rows)), key=lambda i: covered_fraction(name.box, boxes[i].box), default=None)
        if best is not None and rows[best]["identifier_box"] is None:
            rows[best] |= {"identifier": name.text, "identifier_box": list(name.box)}
    for image in images:
        best = max(range(len(rows)), key=lambda i: covered_fraction(image.box, boxes[i].box), default=None)
        if best is not None:
            likeliest: str = max(image.type_scores, key=image.type_scores.__getitem__, default="")
            rows[best]["images"].append(
                {
                    "box": list(image.box),
                    "type": image.image_type or likeliest,
                    "undecided": image.image_type is None,
                    "marked": bool(image.marked),
                    "score": image.score,
                }
            )
    return {
        key: truth[key] for key in ("label", "image_cluster_id", "figure_locations", "caption_locations", "caption")
    } | {"panels": rows}


def overlay(view: FigureView, truth: dict[str, Any], found: dict[str, Any]) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Return the figure twice: truth (left) and detections (right): panels red, identifiers blue, images green."""
    sides = []
    for annotation in (truth, found):
        scale = 900 / max(view.pixels.shape[:2])
        canvas = cv2.resize(view.pixels, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
        h, w = canvas.shape[:2]
        canvas = cv2.copyMakeBorder(canvas, 0, 0, 0, 10, cv2.BORDER_CONSTANT, value=(255, 0, 255))

        def draw(
            box: list[float], colour: tuple[int, int, int], text: str, canvas: Any = canvas, w: int = w, h: int = h
        ) -> None:
            p, q = (int(box[0] * w), int(box[1] * h)), (int(box[2] * w) - 1, int(box[3] * h) - 1)
            cv2.rectangle(canvas, p, q, colour, 2)
            cv2.putText(canvas, text, (p[0] + 4, q[1] - 5), cv2.FONT_HERSHEY_SIMPLEX, 0.45, colour, 1, cv2.LINE_AA)

        for panel in annotation["panels"]:
            for image in panel["images"]:
                draw(
                    image["box"],
                    (0, 160, 0),
                    f"{image['type']}{'*' if image['marked'] else ''} {image.get('score', 1):.2f}",
                )
            draw(panel["box"], (230, 0, 0), f"{panel['identifier']} {panel.get('score', 1):.2f}")
            if panel["identifier_box"]:
                draw(panel["identifier_box"], (0, 0, 255), "")
        sides.append(canvas)
    return np.concatenate(sides, axis=1)


def annotated(figures: dict[str, list[Any]]) -> dict[int, AnnotatedArticle]:
    """Return articles by number from annotated figures by article id."""
    articles = {name: {"article_id": name, "figures": items} for name, items in figures.items()}
    return {article_number(name): AnnotatedArticle.model_validate(item) for name, item in articles.items()}


def types_by_source(folder: Path) -> dict[str, OnnxTypeNetwork]:
    """Return for every source the image type network of the fold that has not seen it."""
    found = {}
    for path in sorted(folder.glob("fold_*.npz")):
        network = OnnxTypeNetwork(path.with_suffix(".onnx"))
        found.update(dict.fromkeys(np.load(path)["sources"].tolist(), network))
    return found


def main() -> None:
    """Run the benchmark and print the numbers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=Path("../shared"))
    parser.add_argument("--dpi", type=float, default=300)
    parser.add_argument("--no-pdf-hints", action="store_true", help="flat pictures: no bitmaps, no live text")
    parser.add_argument("--no-words", action="store_true", help="no caption words for types and marks")
    parser.add_argument("--no-identifiers", action="store_true", help="the caption's identifiers are unknown")
    parser.add_argument("--source", choices=get_args(DetectorSource), default="both", help="which detectors")
    parser.add_argument("--detector", type=Path, help="ONNX file of the figure network instead of the package's")
    parser.add_argument("--marks", type=Path, help="ONNX file of the mark classifier instead of the package's")
    parser.add_argument(
        "--type-folds", type=Path, help="folder of image_type_folds.py: each article by a network that has not seen it"
    )
    parser.add_argument("--only", default="", help="regular expression on article ids")
    parser.add_argument("--overlays", type=Path, help="write truth | detections pictures here")
    parser.add_argument("--per-figure", action="store_true", help="print one line per figure")
    args = parser.parse_args()

    detectors = detector_set(args.source, detector_file=args.detector, marks_file=args.marks)
    fold_types = types_by_source(args.type_folds) if args.type_folds else {}
    truths: dict[str, list[Any]] = {}
    predictions: dict[str, list[Any]] = {}
    seconds: list[float] = []
    for article, index, truth, page in annotated_figures(args.shared, args.only):
        frame: Box = tuple(truth["figure_locations"][0]["bbox"])
        identifiers = tuple(str(p["identifier"]) for p in truth["panels"] if p["identifier"] is not None)
        view = figure_view(page, frame, () if args.no_identifiers else identifiers, args.dpi, not args.no_pdf_hints)
        start = time.perf_counter()
        panels = detect_panels(view, detectors.panels)
        words: dict[int, str] | None = None
        if not args.no_words:
            # Before assembly only the order relates panels and subcaptions; use it when the counts agree.
            boxes = [p for p in panels if p.kind == "panel"]
            same = len(boxes) == len(truth["panels"])
            words = {k: truth["panels"][k]["subcaption"] if same else truth["caption"] for k in range(len(boxes))}
        types = fold_types.get(article, detectors.types)
        images = detect_images(view, panels, detectors.images, detectors.marks, types, words_of_panel=words)
        seconds.append(time.perf_counter() - start)
        found = as_annotation(truth, panels, images)
        truths.setdefault(article, []).append(truth)
        predictions.setdefault(article, []).append(found)
        true_images = [i["box"] for p in truth["panels"] for i in p["images"]]
        hits = sum(
            max((iou(as_box(p["box"]), as_box(q["box"])) for q in found["panels"]), default=0) >= 0.5
            for p in truth["panels"]
        )
        image_hits = sum(max((iou(as_box(b), i.box) for i in images), default=0) >= 0.5 for b in true_images)
        ids = [p["identifier_box"] for p in truth["panels"] if p["identifier_box"]]
        found_ids = [q["identifier_box"] for q in found["panels"] if q["identifier_box"]]
        id_hits = sum(max((iou(as_box(b), as_box(c)) for c in found_ids), default=0) >= 0.5 for b in ids)
        if args.per_figure:
            ok = len(truth["panels"]) == hits == len(found["panels"]) and len(true_images) == image_hits == len(images)
            ok = ok and len(ids) == id_hits == len(found_ids)
            print(
                f"{article[:20]:20s} {truth['label']:10s}"
                f" panels {hits}/{len(truth['panels'])} of {len(found['panels'])}"
                f"  ids {id_hits}/{len(ids)} of {len(found_ids)}"
                f"  images {image_hits}/{len(true_images)} of {len(images)}"
                f"  {1000 * seconds[-1]:.0f} ms {view.pixels.shape[1]}x{view.pixels.shape[0]}{'' if ok else '  <<<'}"
            )
        if args.overlays:
            args.overlays.mkdir(parents=True, exist_ok=True)
            name = f"{article[:20]}_{index + 1}.png"
            cv2.imwrite(str(args.overlays / name), overlay(view, truth, found)[:, :, ::-1])

    truth_articles, found_articles = annotated(truths), annotated(predictions)
    wanted = re.compile(r"^(panel |identifier |image |mark )")
    print("\n".join(line for line in score_lines(article_scores(truth_articles, found_articles)) if wanted.match(line)))
    agnostic = ranked(figure_boxes(matched_articles(truth_articles, found_articles).pairs), None)
    for threshold in (0.5, 0.75, 0.9):
        value = average_precision(agnostic, threshold) or 0.0
        print(f"{f'image class-agnostic AP@{threshold}':32s} {value:.4f}")
    print(f"{'median ms per figure':32s} {1000 * float(np.median(seconds)):.0f}")
    print(f"{'slowest ms':32s} {1000 * max(seconds):.0f}")


if __name__ == "__main__":
    main()
