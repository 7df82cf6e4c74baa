"""Score the mark status of drawn cases that were wrong on articles: thin outlines, reflexes, numbers, call-outs.

    python benchmarks/score_mark_status.py [--shared ../shared] [--part test] [--seed 1] [--count 40] [--marks FILE]
        [--sheet FILE] [--sources]

Pictures of the retina of one part of the pool (nothing was trained on `test`; `validation` chose weights), 180 to 520
pixels on the long side, saved as JPEG, judged by pixels and, where there are some, the PDF's shapes; no words. Marks
and other ink are drawn by OpenCV in styles of this benchmark's own. *Plain*, *numbers*, *two texts*, *reflexes* and
*scan lines* have no mark; *outlines*, *dashed outlines*, *arrows* have one. *Call-outs*: two pictures on a page, a box
on the left one and lines, dashed or not, from its corners to those of the right one: the left one is marked, the right
one not; live as the PDF tells it, and flat. Rules were made with seed 1 of `validation`; `test` is held out.

`--sources` only counts the pictures of all data sets, as they are, at 250 and 450 pixels, that are called marked: none
is. (Scans of `octdl_sample` have outlines in them, which the pool paints over.)
"""

from __future__ import annotations

import argparse
import io
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
import pymupdf
from PIL import Image
from score_detection import figure_view

from pmo_assets.pipeline.detection.detect import crop
from pmo_assets.pipeline.detection.fusion.mark_fusion import FusedMarkClassifier
from pmo_assets.pipeline.detection.networks.onnx_marks import OnnxMarkNetwork
from pmo_assets.pipeline.detection.protocols import VectorEvidence
from pmo_assets.pipeline.detection.structure.vector_marks import vector_evidence
from pmo_assets.records.geometry import Box
from pmo_assets.records.image_types import ImageType
from pmo_assets.samples.drawing import Colour, Pixels, Rng, one_of
from pmo_assets.training.data.training_data import pool_pictures
from pmo_assets.training.synthetic.layouts import Split
from pmo_assets.training.synthetic.picture_folders import no_larger
from pmo_assets.training.synthetic.pools import PicturePool

COLOURS: Sequence[Colour] = (
    (255, 255, 0), (0, 255, 255), (255, 0, 0), (0, 255, 0), (255, 255, 255), (255, 0, 255), (30, 120, 255),
    (255, 140, 0),
)  # fmt: skip
FONTS = (cv2.FONT_HERSHEY_SIMPLEX, cv2.FONT_HERSHEY_DUPLEX, cv2.FONT_HERSHEY_PLAIN)
TEXTS = (
    "0:32", "12 s", "1:05.3", "345", "Day 3", "3 months", "OD", "250", "0.8", "T", "N", "25/11/2014", "30", "IR 30 ART",
    "6 mm", "200 um",
)  # fmt: skip
RETINAL: Sequence[ImageType] = ("CFP", "OCT", "Retinal Imaging")
LEAST_CONTRAST = 40
"""Levels by which what is drawn differs from its ground at least, in the middle of its pixels: else nobody sees it."""


@dataclass(frozen=True)
class Case:
    """A picture, what the PDF's shapes say of it, and whether it is marked."""

    kind: str
    pixels: Pixels
    drawn: VectorEvidence
    marked: bool


def ground(rng: Rng, pool: PicturePool) -> Pixels:
    """Return a picture of the retina, in sizes that pictures have in figures."""
    side, aspect = float(rng.uniform(180, 520)), float(np.exp(rng.normal(0.1, 0.25)))
    wide, tall = max(90, round(side * min(1.0, aspect))), max(90, round(side * min(1.0, 1 / aspect)))
    return np.ascontiguousarray(pool.picture(rng, one_of(rng, RETINAL), wide, tall))


def printed(rng: Rng, pixels: Pixels) -> None:
    """Print a number, a time or a setting at an edge."""
    tall, wide = pixels.shape[:2]
    text, size = str(one_of(rng, TEXTS)), float(rng.uniform(0.35, 0.8)) * max(tall, wide) / 400
    line = 1 if size < 0.8 else 2
    (across, down), _ = cv2.getTextSize(text, FONTS[0], size, line)
    place = (int(one_of(rng, (6, max(7, wide - across - 6)))), int(one_of(rng, (down + 6, tall - 8))))
    cv2.putText(pixels, text, place, one_of(rng, FONTS), size, COLOURS[one_of(rng, (4, 4, 4, 0, 3))], line, cv2.LINE_AA)


def _dashes(pixels: Pixels, first: Sequence[int], last: Sequence[int], colour: Colour, line: int) -> None:
    """Draw a dashed line, four pixels on and four off, times its width."""
    length, on = float(np.hypot(last[0] - first[0], last[1] - first[1])), 4 * line
    for start in np.arange(0, length, 2 * on):
        ends = [
            (round(first[k] + (last[k] - first[k]) * min(at, length) / max(length, 1)) for k in (0, 1))
            for at in (start, start + on)
        ]
        one, other = (tuple(end) for end in ends)
        cv2.line(pixels, one, other, colour, line)


def outlined(rng: Rng, pixels: Pixels, *, dashed: bool = False) -> None:
    """Draw a thin rectangle, or an ellipse that may be turned, round a part of the picture."""
    tall, wide = pixels.shape[:2]
    a, b = int(wide * rng.uniform(0.12, 0.4)), int(tall * rng.uniform(0.12, 0.4))
    x, y = int(rng.integers(4, wide - a - 4)), int(rng.integers(4, tall - b - 4))
    colour, line = one_of(rng, COLOURS), 1 if max(tall, wide) < 350 else int(rng.integers(1, 3))
    if rng.random() < 0.5:
        if not dashed:
            cv2.rectangle(pixels, (x, y), (x + a, y + b), colour, line)
            return
        corners = ((x, y), (x + a, y), (x + a, y + b), (x, y + b))
        for k in range(4):
            _dashes(pixels, corners[k], corners[(k + 1) % 4], colour, line)
        return
    middle, axes, turn = (x + a // 2, y + b // 2), (a // 2, b // 2), 0.0 if dashed else float(rng.uniform(-30, 30))
    for start in range(0, 360, 20) if dashed else (0,):
        cv2.ellipse(pixels, middle, axes, turn, start, start + (11 if dashed else 360), colour, line, cv2.LINE_AA)


def pointed(rng: Rng, pixels: Pixels) -> None:
    """Draw an arrow with an open head."""
    tall, wide = pixels.shape[:2]
    length, angle = max(tall, wide) * rng.uniform(0.06, 0.14), rng.uniform(0, 2 * np.pi)
    x, y = rng.uniform(0.25, 0.75) * wide, rng.uniform(0.25, 0.75) * tall
    end = (int(x + length * np.cos(angle)), int(y + length * np.sin(angle)))
    line = max(1, int(length / 14))
    cv2.arrowedLine(pixels, (int(x), int(y)), end, one_of(rng, COLOURS), line, cv2.LINE_AA, tipLength=0.4)


def reflexes(rng: Rng, pixels: Pixels) -> None:
    """Draw the light of a camera's lamps: bright discs with a halo, a crescent, a chain of them."""
    tall, wide = pixels.shape[:2]
    light = np.zeros((tall, wide), np.float32)
    for _ in range(int(rng.integers(1, 4))):
        x, y = int(rng.uniform(0.1, 0.9) * wide), int(rng.uniform(0.1, 0.9) * tall)
        radius = max(1, round(max(tall, wide) * rng.uniform(0.004, 0.018)))
        cv2.circle(light, (x, y), radius, 1.0, -1, cv2.LINE_AA)
        if rng.random() < 0.3:
            cv2.circle(light, (x + radius, y), radius, 0.0, -1, cv2.LINE_AA)
    if rng.random() < 0.4:
        x, y = rng.uniform(0.1, 0.7) * wide, rng.uniform(0.1, 0.9) * tall
        for k in range(int(rng.integers(4, 12))):
            place = (int(x + 0.03 * k * wide), int(y + 0.01 * k * k))
            cv2.circle(
                light, place, max(1, round(max(tall, wide) * 0.004)), float(rng.uniform(0.4, 1)), -1, cv2.LINE_AA
            )
    near, far = cv2.GaussianBlur(light, (0, 0), 1.0), cv2.GaussianBlur(light, (0, 0), 5.0)
    share = np.clip(1.1 * near + 0.5 * far, 0, 1)[:, :, None]
    pixels[:] = (pixels + share * (np.asarray((255, 255, int(rng.integers(225, 256)))) - pixels)).astype(np.uint8)


def scan_lines(rng: Rng, pixels: Pixels) -> None:
    """Draw where a scan was taken: thin lines from edge to edge."""
    tall, wide = pixels.shape[:2]
    colour = one_of(rng, COLOURS)
    for _ in range(int(rng.integers(1, 3))):
        if rng.random() < 0.6:
            y = int(rng.uniform(0.15, 0.85) * tall)
            cv2.line(pixels, (0, y), (wide - 1, y), colour, 1)
        else:
            x = int(rng.uniform(0.15, 0.85) * wide)
            cv2.line(pixels, (x, 0), (x, tall - 1), colour, 1)


def _two_texts(rng: Rng, pixels: Pixels) -> None:
    printed(rng, pixels)
    printed(rng, pixels)


KINDS: Mapping[str, tuple[Callable[[Rng, Pixels], None] | None, bool]] = {
    "plain": (None, False), "numbers": (printed, False), "two texts": (_two_texts, False),
    "reflexes": (reflexes, False), "scan lines": (scan_lines, False), "outlines": (outlined, True),
    "dashed outlines": (lambda rng, pixels: outlined(rng, pixels, dashed=True), True), "arrows": (pointed, True),
}  # fmt: skip
"""What is drawn, and whether that is a mark."""


def saved(pixels: Pixels) -> Pixels:
    """Return a picture as a JPEG of it shows it."""
    _, data = cv2.imencode(".jpg", pixels[:, :, ::-1], [cv2.IMWRITE_JPEG_QUALITY, 88])
    return np.ascontiguousarray(np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR))[:, :, ::-1])


def case(kind: str, seed: int, number: int, pool: PicturePool) -> Case:
    """Return a case of a kind; what nobody would see once it is saved is drawn again."""
    draw, marked = KINDS[kind]
    rng = np.random.default_rng([seed, number, *kind.encode()])
    for _ in range(20):
        before = ground(rng, pool)
        pixels = before.copy()
        if draw is None:
            break
        draw(rng, pixels)
        drawn = np.abs(pixels.astype(np.int16) - before).max(axis=2) > 8
        seen = np.abs(saved(pixels).astype(np.int16) - saved(before)).max(axis=2)[drawn]
        if seen.size >= 12 and float(np.median(seen)) >= LEAST_CONTRAST:
            break
    return Case(kind, saved(pixels), "none", marked)


def call_outs(seed: int, number: int, pool: PicturePool) -> Iterator[Case]:
    """Yield the two pictures of a call-out, live and flat."""
    rng = np.random.default_rng([seed, number, *b"call-outs"])
    pictures = [ground(rng, pool) for _ in range(2)]
    with pymupdf.open() as document:
        page = document.new_page(width=420, height=230)
        boxes: list[Box] = [(20.0, 30.0, 190.0, 200.0), (230.0, 30.0, 400.0, 200.0)]
        for box, picture in zip(boxes, pictures, strict=True):
            data = io.BytesIO()
            Image.fromarray(picture).save(data, "JPEG", quality=90)
            page.insert_image(pymupdf.Rect(box), stream=data.getvalue(), keep_proportion=False)
        x, y = rng.uniform(60, 140), rng.uniform(60, 140)
        side = rng.uniform(20, 40)
        colour = tuple(v / 255 for v in one_of(rng, COLOURS))
        line, dashes = float(rng.uniform(0.6, 1.5)), one_of(rng, ("[3 2] 0", "[2 2] 0", "[5 3] 0", None))
        page.draw_rect(pymupdf.Rect(x, y, x + side, y + side), color=colour, width=line)
        # Lines end at the corner, or a little inside.
        inner = float(one_of(rng, (0.0, 0.0, 3.0)))
        for start, end in ((y, boxes[1][1] + inner), (y + side, boxes[1][3] - inner)):
            page.draw_line((x + side, start), (boxes[1][0] + inner, end), color=colour, width=line, dashes=dashes)
        view = figure_view(page, (10.0, 20.0, 410.0, 210.0), (), 200, True)
    for which, box, marked in (("left", boxes[0], True), ("right", boxes[1], False)):
        place: Box = ((box[0] - 10) / 400, (box[1] - 20) / 190, (box[2] - 10) / 400, (box[3] - 20) / 190)
        pixels = crop(view.pixels, place)
        yield Case(f"call-outs, {which}, live", pixels, vector_evidence(view, place), marked)
        yield Case(f"call-outs, {which}, flat", saved(pixels), "none", marked)


def sheet(some: Sequence[tuple[Case, float]], side: int = 240, columns: int = 6) -> Pixels:
    """Return a contact sheet of cases with their scores."""
    cells = []
    for item, score in some:
        scale = (side - 20) / max(item.pixels.shape[:2])
        small = cv2.resize(item.pixels, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
        cell = np.full((side, side, 3), 70, np.uint8)
        cell[18 : 18 + small.shape[0], : small.shape[1]] = small
        text = f"{item.kind} {score:.2f} {item.drawn}"
        cv2.putText(cell, text, (2, 12), cv2.FONT_HERSHEY_SIMPLEX, 0.38, (255, 255, 255), 1)
        cells.append(cell)
    cells += [np.zeros((side, side, 3), np.uint8)] * (-len(cells) % columns)
    return np.vstack([np.hstack(cells[k : k + columns]) for k in range(0, len(cells), columns)])


def count_sources(images: Path, classifier: FusedMarkClassifier) -> None:
    """Print by data set how many pictures are called marked."""
    pictures = [(p.group.rsplit("/", 1)[0], no_larger(p.pixels, side)) for p in pool_pictures(images, None, None)
                for side in (250, 450)]  # fmt: skip
    found = classifier([pixels for _, pixels in pictures], [""] * len(pictures), figures=range(len(pictures)))
    marked = Counter(source for (source, _), (is_marked, _) in zip(pictures, found, strict=True) if is_marked)
    print(f"{marked.total()} of {len(pictures)} called marked: {dict(marked.most_common())}")


def main() -> None:
    """Print how many of each kind have the right status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=Path(__file__).resolve().parents[2] / "shared")
    parser.add_argument("--part", choices=["train", "validation", "test"], default="test")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=40, help="cases of each kind")
    parser.add_argument("--marks", type=Path, help="ONNX file of the mark classifier instead of the package's")
    parser.add_argument("--sheet", type=Path, help="contact sheet of what is wrong")
    parser.add_argument("--sources", action="store_true", help="count pictures as they are that are called marked")
    args = parser.parse_args()
    cv2.setNumThreads(1)
    classifier = FusedMarkClassifier(OnnxMarkNetwork(args.marks))
    if args.sources:
        count_sources(args.shared / "images", classifier)
        return
    part: Split = args.part
    pool = PicturePool(pool_pictures(args.shared / "images", None, None), part, 1.0)
    cases = [case(kind, args.seed, k, pool) for kind in KINDS for k in range(args.count)]
    cases += [item for k in range(args.count) for item in call_outs(args.seed, k, pool)]
    found = classifier(
        [item.pixels for item in cases], [""] * len(cases), [item.drawn for item in cases], range(len(cases))
    )
    wrong = []
    for kind in dict.fromkeys(item.kind for item in cases):
        own = [
            (item, bool(marked), score) for item, (marked, score) in zip(cases, found, strict=True) if item.kind == kind
        ]
        right = sum(marked == item.marked for item, marked, _ in own)
        mean = float(np.mean([score for _, _, score in own]))
        print(
            f"{kind:24s} {'marked' if own[0][0].marked else 'not marked':10s} right {right:3d} of {len(own)}"
            f"  mean {mean:.2f}"
        )
        wrong += [(item, score) for item, marked, score in own if marked != item.marked]
    if args.sheet is not None and wrong:
        cv2.imwrite(str(args.sheet), sheet(wrong)[:, :, ::-1])


if __name__ == "__main__":
    main()
