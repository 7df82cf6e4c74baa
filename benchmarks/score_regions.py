"""Score the regions that arrows show on drawn truth: is the centre in the finding, and how far do the boxes overlap?

    python benchmarks/score_regions.py [--shared ../shared] [--count 300] [--seed 0] [--curves] [--picture FILE]

Findings with an irregular outline and a soft edge (1.2 to 7 % of the longer side, 25 to 90 grey levels from what lies
below) are drawn on pictures of `images`, and an arrow whose tip lies on the outline or up to 1.5 % beside it, pointing
inwards within about 9 degrees. The pictures of half of the sources were looked at while the constants of
`regions.pointed_regions` were chosen ("develop"); the others are reported apart. `--curves` varies these constants, and
those of `regions.fusion` with boxes as a noisy model might give them: at the finding, shifted by 3 % of the picture and
resized by 20 % (standard deviations), and elsewhere. `--texts` varies the similarity from which texts agree, on pairs
of the lexicon's names: two names of one thing, names of two things; `--minilm` with sentence embeddings, too (extra
`regions`).
`--picture` writes examples: truth green, region magenta.
"""

from __future__ import annotations

import argparse
import math
import zlib
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from pmo_assets.lexicon.terms import shipped_lexicon
from pmo_assets.pipeline.regions import fusion, pointed_regions
from pmo_assets.pipeline.regions.pointed_regions import pointed_region
from pmo_assets.pipeline.regions.text_similarity import RegionTexts, text_similarity
from pmo_assets.records.geometry import Box, centre, contains, iou
from pmo_assets.records.regions import MODEL_CONFIDENCE, Mark, Region

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
    print_fusion_curves(drawings)


def noisy(truth: Box, rng: np.random.Generator) -> Box:
    """Return a box as a model might give it for the truth."""
    x, y = np.asarray(centre(truth)) + rng.normal(0, 0.03, 2)
    wide, tall = np.asarray([truth[2] - truth[0], truth[3] - truth[1]]) / 2 * np.exp(rng.normal(0, 0.2, 2))
    return x - wide, y - tall, x + wide, y + tall


def ratio_of(pixels: NDArray[np.uint8]) -> float:
    """Return width in height."""
    return float(pixels.shape[1] / pixels.shape[0])


def by_model(box: Box, text: str, confidence: float = MODEL_CONFIDENCE) -> Region:
    """Return a region of a model."""
    return Region(box, (), None, text, None, "model", confidence)


def print_fusion_curves(drawings: list[Example]) -> None:
    """Print what other constants of fusion give, with a model's noisy boxes."""
    rng = np.random.default_rng(1)
    there = [noisy(truth, rng) for _, _, truth in drawings]
    places = rng.uniform(0.05, 0.95, (len(drawings), 2))
    away = [(x - 0.04, y - 0.04, x + 0.04, y + 0.04) for x, y in places]
    shown = [Region(pointed_region(m, p, WHOLE), (0,), None, None, None, "marks", 0.9) for p, m, _ in drawings]
    truths = [truth for _, _, truth in drawings]
    ratios = [ratio_of(pixels) for pixels, _, _ in drawings]
    for tau in (0.02, 0.05, 0.1, 0.15, 0.2, 0.3):
        kept = {
            name: np.mean([
                any(item.description == name for item in fusion.fused_regions(
                    [mark], [replace(by_model(box, name), description=name)], WHOLE, tau=tau, ratio=ratio))
                for mark, box, ratio in zip(shown, boxes, ratios, strict=True)
            ])
            for name, boxes in (("there", there), ("elsewhere", away))
        }  # fmt: skip
        print(f"  τ {tau}: keeps {kept['there']:.3f} of boxes at the finding, {kept['elsewhere']:.3f} elsewhere")
    print("  a model's box:", score(list(zip(there, truths, strict=True))))
    for factor in (0.8, 0.9, 1.0, 1.1, 1.2, 1.5):
        pairs = [(expanded(mark.box, factor), truth) for mark, truth in zip(shown, truths, strict=True)]
        held = np.mean([contains(box, truth, 1e-9) for box, truth in pairs])
        print(f"  lone marks expanded by {factor}: {score(pairs)}, holds the whole finding {held:.3f}")
    sides = [(ratio * (t[2] - t[0]), t[3] - t[1]) for t, ratio in zip(truths, ratios, strict=True)]
    shares = [(t[2] - t[0]) * (t[3] - t[1]) for t in truths]
    specks = [(x - 0.005, y - 0.005, x + 0.005, y + 0.005) for x, y in places]
    for name, values in (("LEAST_AREA", (0.0001, 0.0002, 0.0005, 0.001)), ("MOST_AREA", (0.2, 0.5, 0.8, 0.95))):
        for value in values:
            least = name == "LEAST_AREA"
            lost = np.mean([share < value if least else share > value for share in shares])
            boxes = specks if least else [noisy(WHOLE, rng) for _ in truths]
            with changed_constant(name, value):
                passed = np.mean([
                    bool(fusion.fused_regions([replace(mark, box=box)], [], WHOLE, ratio=ratio))
                    for mark, box, ratio in zip(shown, boxes, ratios, strict=True)
                ])  # fmt: skip
            what = "specks of 1 %" if least else "boxes round the whole panel"
            print(f"  {name} {value}: loses {lost:.3f} of findings, lets {passed:.3f} of {what} pass")
    for value in (2.0, 4.0, 8.0, 12.0):
        lost = np.mean([max(wide, tall) / min(wide, tall) > value for wide, tall in sides])
        print(f"  MOST_ASPECT {value}: loses {lost:.3f} of findings")
    for value in (0.3, 0.5, 0.7, 0.9):
        print(f"  NMS_IOU {value}:", suppression(there, truths, rng, value))
    for value in (0.1, 0.3, 0.5, 0.7):
        joined = {
            name: np.mean([fusion.overlap(first, second) >= value for first, second in pairs])
            for name, pairs in (
                ("of one finding", [(box, noisy(truth, rng)) for box, truth in zip(there, truths, strict=True)]),
                ("of two neighbours", [(box, beside(truth, rng)) for box, truth in zip(there, truths, strict=True)]),
            )
        }
        print(f"  OVERLAP {value}: " + ", ".join(f"{part:.3f} of pairs {name}" for name, part in joined.items()))


def expanded(box: Box, factor: float) -> Box:
    """Return the box scaled about its centre."""
    (x, y), wide, tall = centre(box), factor * (box[2] - box[0]) / 2, factor * (box[3] - box[1]) / 2
    return x - wide, y - tall, x + wide, y + tall


def suppression(there: list[Box], truths: list[Box], rng: np.random.Generator, value: float) -> str:
    """Return which part of second boxes of one finding, and of its neighbour, suppression takes away."""
    gone = {
        name: np.mean([iou(box, other(truth, rng)) > value for box, truth in zip(there, truths, strict=True)])
        for name, other in (("of one finding", noisy), ("of its neighbour", beside))
    }
    return ", ".join(f"suppresses {part:.3f} of second boxes {name}" for name, part in gone.items())


def beside(truth: Box, rng: np.random.Generator) -> Box:
    """Return a noisy box of a finding of the same size that touches the truth at a side."""
    wide, tall = truth[2] - truth[0], truth[3] - truth[1]
    way = rng.uniform(0, 2 * math.pi)
    x, y = wide * math.cos(way), tall * math.sin(way)
    return noisy((truth[0] + x, truth[1] + y, truth[2] + x, truth[3] + y), rng)


@contextmanager
def changed_constant(name: str, value: float) -> Iterator[None]:
    """Give a constant of `regions.fusion` another value for a while."""
    usual = getattr(fusion, name)
    setattr(fusion, name, value)
    try:
        yield
    finally:
        setattr(fusion, name, usual)


QUALITIES = ("large", "bright", "small", "round", "yellow", "multiple")


def text_pairs(count: int, seed: int) -> dict[str, list[tuple[str, str]]]:
    """Return pairs of texts about one thing and about two, of the lexicon's findings, diseases and anatomy."""
    rng = np.random.default_rng(seed)
    terms = [term for term in shipped_lexicon().terms.values() if term.group in ("finding", "disease", "anatomy")]
    named = [(term, [term.name, *(name for name in term.synonyms if len(name) > 5)]) for term in terms]
    several = [names for _, names in named if len(names) > 1]
    pairs: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for _ in range(count):
        names = several[int(rng.integers(len(several)))]
        one, two = (names[int(k)] for k in rng.choice(len(names), 2, replace=False))
        pairs["same, other name"].append((one, two))
        term, other = (named[int(k)] for k in rng.choice(len(named), 2, replace=False))
        quality = QUALITIES[int(rng.integers(len(QUALITIES)))]
        pairs["same, more said"].append((term[0].name, f"{quality} {term[0].name}"))
        pairs["same, other order"].append((f"{quality} {term[0].name}", f"{term[0].name}, {quality}"))
        pairs["two things"].append((term[0].name, other[0].name))
        pairs["two things of one quality"].append((f"{quality} {term[0].name}", f"{quality} {other[0].name}"))
        wider = [item for item in terms if term[0].name in item.parents]
        if wider:
            pairs["thing and kind of it"].append((term[0].name, wider[int(rng.integers(len(wider)))].name))
    return pairs


def print_text_curves(count: int, seed: int, *, minilm: bool) -> None:
    """Print which part of pairs agrees, by what compares texts and from which similarity."""
    pairs = text_pairs(count, seed)
    measures: tuple[RegionTexts, ...] = ("terms", "minilm") if minilm else ("terms",)
    for texts in measures:
        similarity = text_similarity(texts)
        said = {name: np.asarray([similarity(*pair) for pair in own]) for name, own in pairs.items()}
        for value in (0.7, 0.8, 0.9, 0.95):
            parts = ", ".join(f"{name} {(found >= value).mean():.3f}" for name, found in said.items())
            print(f"{texts} {value}: {parts}")


def main() -> None:
    """Draw, score and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=Path(__file__).resolve().parents[2] / "shared")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--curves", action="store_true")
    parser.add_argument("--texts", action="store_true")
    parser.add_argument("--minilm", action="store_true")
    parser.add_argument("--picture", type=Path)
    arguments = parser.parse_args()
    if arguments.texts:
        print_text_curves(arguments.count, arguments.seed, minilm=arguments.minilm)
        return
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
