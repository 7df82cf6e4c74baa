"""Score the regions that arrows show on drawn truth: is the centre in the finding, and how far do the boxes overlap?

    python benchmarks/score_regions.py [--shared ../shared] [--count 300] [--seed 0] [--curves] [--picture FILE]

Findings with an irregular outline and a soft edge (1.2 to 7 % of the longer side, 25 to 90 grey levels from what lies
below) are drawn on pictures of `images`, and an arrow whose tip lies on the outline or up to 1.5 % beside it, pointing
inwards within about 9 degrees. The pictures of half of the sources were looked at while the constants of
`regions.pointed_regions` were chosen ("develop"); the others are reported apart. `--curves` varies these constants and
the distance τ of a model's boxes from a mark (a box at the finding, shifted at random, and one elsewhere). `--picture`
writes examples: truth green, region magenta.
"""

from __future__ import annotations

import argparse
import math
import zlib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.regions import fusion, pointed_regions
from pmo_assets.pipeline.regions.pointed_regions import pointed_region
from pmo_assets.records.geometry import Box, centre, contains, iou
from pmo_assets.records.regions import Mark, Region

WHOLE: Box = (0.0, 0.0, 1.0, 1.0)
SIDE = 512
COLOURS = ((255, 255, 255), (255, 255, 0), (0, 0, 0), (255, 0, 0))
Example = tuple[NDArray[np.uint8], Mark, Box]


def sources(shared: Path) -> dict[str, dict[str, list[Path]]]:
    """Return the pictures of each source, by part."""
    found: dict[str, dict[str, list[Path]]] = {"develop": defaultdict(list), "held out": defaultdict(list)}
    for path in sorted((shared / "images").rglob("*")):
        if path.suffix.lower() in (".jpg", ".jpeg", ".png"):
            source = path.relative_to(shared / "images").parts[0]
            part = "develop" if zlib.crc32(source.encode()) % 2 else "held out"
            found[part][source].append(path)
    return found


def drawn(pixels: NDArray[np.uint8], rng: np.random.Generator) -> Example | None:
    """Return a picture with a finding, an arrow at it, and the finding's box; None if there was no place for it."""
    tall, wide = pixels.shape[:2]
    longer = max(tall, wide)
    a = rng.uniform(0.012, 0.07) * longer
    b = a * rng.uniform(0.6, 1.0)
    x, y = rng.uniform(0.2, 0.8) * wide, rng.uniform(0.2, 0.8) * tall
    rows, columns = np.mgrid[:tall, :wide]
    turn = rng.uniform(0, math.pi)
    along = (columns - x) * math.cos(turn) + (rows - y) * math.sin(turn)
    across = (rows - y) * math.cos(turn) - (columns - x) * math.sin(turn)
    angle = np.arctan2(across, along)
    bumps = 1 + 0.12 * np.sin(3 * angle + rng.uniform(0, 6)) + 0.08 * np.sin(5 * angle + rng.uniform(0, 6))
    distance = np.hypot(along / a, across / b) * bumps
    soft = rng.uniform(0.05, 0.35)
    weight = np.clip((1 + soft - distance) / (2 * soft), 0, 1)[..., None]
    change = rng.uniform(-1, 1, 3)
    change *= rng.uniform(25, 90) / np.abs(change).max()
    if rng.random() < 0.6:
        change = np.sign(change[0]) * np.abs(change).max() * rng.uniform(0.7, 1.1, 3)
    changed = np.clip(pixels + weight * change, 0, 255).astype(np.uint8)
    inside = distance <= 1
    if not inside.any() or np.abs(changed[inside].astype(float) - pixels[inside]).mean() < 10:
        return None  # white on white
    way = rng.uniform(0, 2 * math.pi)
    reach = 0.0
    while True:
        reach += 1
        column, row = x + reach * math.cos(way), y + reach * math.sin(way)
        if not (0 <= column < wide and 0 <= row < tall):
            return None
        if distance[int(row), int(column)] > 1:
            break
    gap = rng.uniform(0, 0.015) * longer
    tip = (column + gap * math.cos(way), row + gap * math.sin(way))
    bent = way + rng.normal(0, 0.15)
    length = rng.uniform(0.05, 0.14) * longer
    tail = (tip[0] + length * math.cos(bent), tip[1] + length * math.sin(bent))
    if not all(0 <= px < wide and 0 <= py < tall for px, py in (tip, tail)):
        return None
    colour = COLOURS[int(rng.integers(len(COLOURS)))]
    start, end = ((int(px), int(py)) for px, py in (tail, tip))
    cv2.arrowedLine(changed, start, end, colour, max(1, longer // 200), cv2.LINE_AA, tipLength=0.3)
    (left, right), (top, bottom) = sorted((tip[0], tail[0])), sorted((tip[1], tail[1]))
    box = (left / wide, top / tall, right / wide, bottom / tall)
    direction = math.degrees(math.atan2(tail[1] - tip[1], tip[0] - tail[0]))
    mark = Mark("arrow", None, "#ffffff", box, (tip[0] / wide, tip[1] / tall), direction, None, "vector", 1.0, 1.0)
    ys, xs = np.nonzero(inside)
    truth = (xs.min() / wide, ys.min() / tall, (xs.max() + 1) / wide, (ys.max() + 1) / tall)
    return changed, mark, truth


def examples(pictures: dict[str, list[Path]], count: int, seed: int) -> Iterator[Example]:
    """Yield drawn examples, of each source alike often."""
    rng = np.random.default_rng(seed)
    names, made = sorted(pictures), 0
    while made < count:
        own = pictures[names[int(rng.integers(len(names)))]]
        read = cv2.imread(str(own[int(rng.integers(len(own)))]))
        if read is None or min(read.shape[:2]) < 100:
            continue
        scale = SIDE / max(read.shape[:2])
        pixels = cv2.resize(
            cv2.cvtColor(read, cv2.COLOR_BGR2RGB), None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA
        )
        example = drawn(np.asarray(pixels, np.uint8), rng)
        if example is not None:
            made += 1
            yield example


def score(found: list[tuple[Box, Box]]) -> str:
    """Return share of centres inside the truth, and mean overlap, of (region, truth)."""
    inside = np.mean([contains(truth, (*centre(box), *centre(box))) for box, truth in found])
    return f"centre inside {inside:.3f}, IoU {np.mean([iou(box, truth) for box, truth in found]):.3f} of {len(found)}"


def print_curves(drawings: list[Example]) -> None:
    """Print what other constants give, and what the distance τ keeps of a model's boxes."""
    for name, values in (
        ("RING", (1.3, 1.6, 2.0)),
        ("MARGIN", (1.0, 1.25, 1.5)),
        ("GAPS", ((1.0,), (0.9, 1.2), (0.9, 1.2, 1.6))),
    ):
        usual = getattr(pointed_regions, name)
        for value in values:
            setattr(pointed_regions, name, value)
            print(f"  {name} {value}:", score([(pointed_region(m, p, WHOLE), truth) for p, m, truth in drawings]))
        setattr(pointed_regions, name, usual)
    rng = np.random.default_rng(1)
    for tau in (0.02, 0.05, 0.1, 0.15, 0.2, 0.3):
        right = wrong = 0
        for pixels, mark, truth in drawings:
            shown = Region(pointed_region(mark, pixels, WHOLE), (0,), None, None, None, "marks", 0.5)
            shift = rng.normal(0, 0.03, 2)
            there = (truth[0] + shift[0], truth[1] + shift[1], truth[2] + shift[0], truth[3] + shift[1])
            x, y = rng.uniform(0.05, 0.95, 2)
            elsewhere = (x - 0.04, y - 0.04, x + 0.04, y + 0.04)
            for box, name in ((there, "there"), (elsewhere, "elsewhere")):
                named = Region(box, (), None, name, None, "model", 0.9)
                kept = fusion.fused_regions([shown], [named], WHOLE, tau=tau)
                hit = any(region.text == name for region in kept)
                right, wrong = right + (hit and name == "there"), wrong + (hit and name == "elsewhere")
        at, away = right / len(drawings), wrong / len(drawings)
        print(f"  τ {tau}: keeps {at:.3f} of boxes at the finding, {away:.3f} elsewhere")


def main() -> None:
    """Draw, score and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=Path(__file__).resolve().parents[2] / "shared")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--curves", action="store_true")
    parser.add_argument("--picture", type=Path)
    arguments = parser.parse_args()
    for part, pictures in sources(arguments.shared).items():
        drawings = list(examples(pictures, arguments.count, arguments.seed))
        regions = [pointed_region(mark, pixels, WHOLE) for pixels, mark, _ in drawings]
        pairs = [(box, truth) for box, (_, _, truth) in zip(regions, drawings, strict=True)]
        print(f"{part}, {len(pictures)} sources: {score(pairs)}")
        if arguments.curves and part == "develop":
            print_curves(drawings)
        if arguments.picture and part == "held out":
            tiles = []
            for (pixels, _, truth), box in list(zip(drawings, regions, strict=True))[:24]:
                tile = np.asarray(cv2.resize(pixels, (256, 256)))
                for shown, colour in ((truth, (0, 255, 0)), (box, (255, 0, 255))):
                    left, top, right, bottom = (round(v * 256) for v in shown)
                    cv2.rectangle(tile, (left, top), (right, bottom), colour, 1)
                tiles.append(tile)
            rows = [np.hstack(tiles[k : k + 8]) for k in range(0, len(tiles) - 7, 8)]
            cv2.imwrite(str(arguments.picture), cv2.cvtColor(np.vstack(rows), cv2.COLOR_RGB2BGR))


if __name__ == "__main__":
    main()
