"""Count pictures of other fields that are called pictures of the retina: drawn patterns, and folders that one names.

    python benchmarks/score_textures.py [--count 20] [--seed 99] [--folder FOLDER …] [--list] [--sheets FOLDER]

Drawn patterns (`texture_patterns.py`: kinds that rules were made with, and fresh ones) are classified as images of an
article about the eye, with a caption that names no modality: one about eyes, one of another field. A `--folder` holds
PDFs (at any depth; each is taken through `pmo article`'s code up to `image_detections`) or pictures (classified without
words, with the caption of another field, and as of an article of another field). Whoever names a folder knows that
nothing in it shows a retina: what is called CFP, OCT or Retinal Imaging is wrong. Asked: at most 1 in 200.

`--list` names every one that is wrong; `--sheets` writes them as contact sheets.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import cv2
import numpy as np
from texture_patterns import FRESH, TUNED

from pmo_assets.pictures import decoded
from pmo_assets.pipeline.article import process_article
from pmo_assets.pipeline.articles.fetching import FetchLimits, fetch_package
from pmo_assets.pipeline.articles.relevance import load_specialty
from pmo_assets.pipeline.detection.detect import crop
from pmo_assets.pipeline.detection.image_types.decision import classify_image_type
from pmo_assets.pipeline.detection.networks.type_input import reduced_picture
from pmo_assets.pipeline.detection.networks.type_network import OnnxTypeNetwork
from pmo_assets.records.geometry import as_box
from pmo_assets.records.memory_stores import MemoryObjects, MemoryPixels
from pmo_assets.samples.drawing import Pixels, Rng
from pmo_assets.sources.local import LocalFolder
from pmo_assets.sources.package_folders import list_package
from pmo_assets.training.synthetic.picture_folders import SUFFIXES, read_picture

CAPTIONS: Mapping[str, str] = {
    "chart of an eye article": "Scores of the two groups of eyes; columns give means of forty eyes, whiskers errors.",
    "another field": "Specimens of the three regions before and after loading of the samples.",
}
"""Captions that name no modality."""

LEAST_SIDE = 64
"""Pixels of a file's shorter side; smaller ones are icons."""

ALLOWED = 1 / 200
"""Part of the pictures that may be called retinal."""

CELL, COLUMNS = 200, 6
"""Pixels of a picture in a contact sheet, and pictures in a row."""


@dataclass(frozen=True)
class Judged:
    """A picture, where it is from, and the type that it was given; None where it was not decided."""

    source: str
    name: str
    image_type: str | None
    score: float
    modality: str | None
    pixels: Pixels

    @property
    def is_wrong(self) -> bool:
        """Whether it was called a picture of the retina."""
        return self.image_type in ("CFP", "OCT", "Retinal Imaging")


def judged(
    network: OnnxTypeNetwork,
    source: str,
    pictures: Sequence[tuple[str, Pixels]],
    words: str,
    *,
    elsewhere: bool = False,
) -> Iterator[Judged]:
    """Yield pictures with the types that they get under a caption."""
    small = [reduced_picture(pixels) for _, pixels in pictures]
    for (name, pixels), seen, shares in zip(pictures, small, network(small) if small else (), strict=True):
        found = classify_image_type(seen, words, None, (), shares, elsewhere=elsewhere)
        yield Judged(source, name, found.image_type, found.score, found.modality, pixels)


def drawn(kinds: Mapping[str, Callable[[Rng], Pixels]], count: int, seed: int) -> list[tuple[str, Pixels]]:
    """Return so many pictures of each kind; those of a kind depend on its name and the seed alone."""
    return [
        (kind, draw(np.random.default_rng([seed, k, *kind.encode()])))
        for kind, draw in kinds.items()
        for k in range(count)
    ]


def of_pdf(path: Path) -> Iterator[Judged]:
    """Yield the images that the pipeline finds in a document's figures."""
    with tempfile.TemporaryDirectory() as place:
        package = Path(place) / "PMC1"
        package.mkdir()
        (package / "article.pdf").write_bytes(path.read_bytes())
        listing = list_package(package, package.parent)
        if listing is None:
            return
        objects, store = MemoryObjects({}), MemoryPixels()
        row = fetch_package(asdict(listing), LocalFolder(package.parent), objects, FetchLimits()).rows[0]
        everything = load_specialty("everything")
        result = process_article(row, objects, specialty=everything, pixels=store, targets=["image_detections"])
    pictures = store.read(row["article_id"])
    figures = {figure["image_cluster_id"]: figure["pdf_figure_id"] for figure in result.figures}
    for found in result.tables.get("image_detections", []):
        figure = figures[found["image_cluster_id"]]
        pixels = crop(decoded(pictures[figure], figure), as_box(found["box"]))
        kind, score = found["image_type"], found["type_score"]
        yield Judged("PDFs", f"{path.parent.name}/{path.name}", kind, score, found["modality"], pixels)


def of_folder(network: OnnxTypeNetwork, folder: Path) -> Iterator[Judged]:
    """Yield what a folder's PDFs and pictures show."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    for path in files:
        if path.suffix.lower() == ".pdf":
            print(f"\r{path.parent.name}/{path.name[:60]:70s}", end="", file=sys.stderr, flush=True)
            yield from of_pdf(path)
    pictures = [
        (p.name, pixels) for p in files if p.suffix.lower() in SUFFIXES and (pixels := read_picture(p)) is not None
    ]
    pictures = [(name, pixels) for name, pixels in pictures if min(pixels.shape[:2]) >= LEAST_SIDE]
    yield from judged(network, "pictures, no words", pictures, "")
    yield from judged(network, "pictures, another field", pictures, CAPTIONS["another field"])
    yield from judged(
        network, "pictures, an article of another field", pictures, CAPTIONS["another field"], elsewhere=True
    )


def line(name: str, some: Sequence[Judged]) -> str:
    """Return a line of the table."""
    types = Counter(item.image_type or "undecided" for item in some)
    wrong = sum(item.is_wrong for item in some)
    verdict = "met" if wrong <= ALLOWED * len(some) else "not met"
    return f"{name:58s} {wrong:4d} of {len(some):5d} called retinal ({verdict})  {dict(types.most_common())}"


def write_sheet(some: Sequence[Judged], path: Path) -> None:
    """Write a contact sheet of pictures with what they were called."""
    cells = []
    for item in some:
        scale = (CELL - 30) / max(item.pixels.shape[:2])
        small = cv2.resize(np.ascontiguousarray(item.pixels), None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
        cell = np.full((CELL, CELL, 3), 90, np.uint8)
        cell[28 : 28 + small.shape[0], : small.shape[1]] = small
        for row, text in enumerate((item.name[:28], f"{item.modality} {item.score:.2f}")):
            cv2.putText(cell, text, (2, 11 + 12 * row), cv2.FONT_HERSHEY_SIMPLEX, 0.35, (255, 255, 255), 1)
        cells.append(cell)
    cells += [np.zeros((CELL, CELL, 3), np.uint8)] * (-len(cells) % COLUMNS)
    rows = [np.hstack(cells[k : k + COLUMNS]) for k in range(0, len(cells), COLUMNS)]
    cv2.imwrite(str(path), np.vstack(rows)[:, :, ::-1])


def main() -> None:
    """Print a line per source, and per kind what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=20, help="drawn pictures of each kind")
    parser.add_argument("--seed", type=int, default=99, help="of drawn pictures")
    parser.add_argument("--folder", type=Path, nargs="*", default=[], help="PDFs or pictures that show no retina")
    parser.add_argument("--list", action="store_true", help="name what is wrong")
    parser.add_argument("--sheets", type=Path)
    args = parser.parse_args()
    cv2.setNumThreads(1)
    network = OnnxTypeNetwork()
    groups: dict[str, list[Judged]] = defaultdict(list)
    for name, kinds in (("drawn, rules were made with these", TUNED), ("drawn, fresh", FRESH)):
        pictures = drawn(kinds, args.count, args.seed)
        for said, words in CAPTIONS.items():
            groups[f"{name}: {said}"] += judged(network, name, pictures, words)
    for folder in args.folder:
        for item in of_folder(network, folder):
            groups[f"{folder.name}: {item.source}"].append(item)
    print(file=sys.stderr)
    for name, some in groups.items():
        print(line(name, some))
        wrong = [item for item in some if item.is_wrong]
        for kind, count in Counter(
            f"{item.name} as {item.modality or item.image_type}" for item in wrong
        ).most_common():
            if args.list or name.startswith("drawn"):
                print(f"    {count:3d} {kind}")
        if args.sheets is not None and wrong:
            args.sheets.mkdir(parents=True, exist_ok=True)
            write_sheet(wrong, args.sheets / f"{name.replace(' ', '_').replace(':', '').replace(',', '')}.png")


if __name__ == "__main__":
    main()
