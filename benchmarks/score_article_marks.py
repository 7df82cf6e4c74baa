"""Score the marks that are found on real articles against the places where a reader saw marks.

    python benchmarks/score_article_marks.py [--corpus ../shared/corpus] [--sheets FOLDER] [--only PREFIX]

Runs the pipeline on every article up to `marks`. Places (`benchmarks/data/mark_places.jsonl`: x, y, normalised in the
figure, and kind) were noted by one reader who looked at all figures where marks had been found, that the mark status
called marked, or whose caption names marks; arrowheads count as arrows. A found mark is *right* where a place that no
other mark has taken lies in its box, grown by a fiftieth of the figure's larger side; places that are left are
*missed*. What is found on other figures counts as *new*: look at it. `--sheets` writes contact sheets of all panels
with found marks, four in a sheet: magenta from pixels, green from the PDF's shapes, cyan from live text, a dot at each
tip; wrong ones have a cross.

Articles were looked at while rules were written: these numbers are optimistic.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import cv2
import numpy as np

from pmo_assets.pictures import decoded
from pmo_assets.pipeline.article import process_article
from pmo_assets.pipeline.articles.fetching import FetchLimits, fetch_package
from pmo_assets.pipeline.articles.relevance import load_specialty
from pmo_assets.records.geometry import clip, expand, union_box
from pmo_assets.records.memory_stores import MemoryObjects, MemoryPixels
from pmo_assets.records.regions import Mark
from pmo_assets.samples.drawing import Pixels
from pmo_assets.sources.local import LocalFolder
from pmo_assets.sources.package_folders import list_package
from pmo_assets.tables.regions import marks_of_row

PLACES: Final = Path(__file__).parent / "data" / "mark_places.jsonl"

NEAR: Final = 0.02
"""Part of the figure's larger side by which a place may lie beside a mark's box."""

CELL, PER_SHEET = 620, 4
"""Pixels of a panel in a contact sheet, and panels of one."""

COLOURS: Final = {"pixels": (255, 0, 255), "vector": (0, 255, 0), "text": (0, 200, 255)}

Place = tuple[float, float, str]


@dataclass(frozen=True)
class FoundPanel:
    """A panel with its marks and the figure's pixels."""

    article: str
    figure: str
    ordinal: int
    marks: Sequence[Mark]
    pixels: Pixels


def found_panels(folder: Path) -> Iterator[FoundPanel]:
    """Yield the panels of an article on which marks are found, and those of its figures without any."""
    listing = list_package(folder, folder.parent)
    if listing is None:
        return
    objects, store = MemoryObjects({}), MemoryPixels()
    package = fetch_package(asdict(listing), LocalFolder(folder.parent), objects, FetchLimits()).rows[0]
    everything = load_specialty("everything")
    result = process_article(package, objects, specialty=everything, pixels=store, targets=["marks"])
    pictures = {figure["image_cluster_id"]: figure["pdf_figure_id"] for figure in result.figures}
    for row in result.tables.get("marks", []):
        figure = row["image_cluster_id"]
        picture = store.read(result.article["article_id"])[pictures[figure]]
        marks = [mark for _, mark in marks_of_row(row)]
        yield FoundPanel(folder.name, figure, row["ordinal"], marks, decoded(picture, figure))


def verdicts(marks: Sequence[Mark], places: Sequence[Place], shape: tuple[int, int]) -> list[int | None]:
    """Return for each mark the place that it has, the nearest to its middle; None where it is wrong.

    Args:
        marks: of one figure.
        places: where a reader saw marks there.
        shape: (height, width) of the figure, pixels.
    """
    tall, wide = shape
    air = NEAR * max(shape)
    pairs = []
    for k, mark in enumerate(marks):
        left, top, right, bottom = expand(
            (mark.box[0] * wide, mark.box[1] * tall, mark.box[2] * wide, mark.box[3] * tall), air
        )
        for i, (x, y, _) in enumerate(places):
            if left <= x * wide <= right and top <= y * tall <= bottom:
                off = np.hypot(x * wide - (left + right) / 2, y * tall - (top + bottom) / 2)
                pairs.append((float(off), k, i))
    taken: dict[int, int] = {}
    for _, k, i in sorted(pairs):
        if k not in taken and i not in taken.values():
            taken[k] = i
    return [taken.get(k) for k in range(len(marks))]


def sheet_cell(panel: FoundPanel, wrong: Sequence[bool]) -> Pixels:
    """Return a panel's part of its figure with its marks, and its name above."""
    tall, wide = panel.pixels.shape[:2]
    around = clip(expand(union_box([mark.box for mark in panel.marks]), 0.12), (0.0, 0.0, 1.0, 1.0))
    left, top = round(around[0] * wide), round(around[1] * tall)
    part = panel.pixels[top : round(around[3] * tall), left : round(around[2] * wide)]
    scale = CELL / max(part.shape[:2])
    method = cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC
    part = np.ascontiguousarray(cv2.resize(part, None, fx=scale, fy=scale, interpolation=method))

    def at(x: float, y: float) -> tuple[int, int]:
        return (round((x * wide - left) * scale), round((y * tall - top) * scale))

    for number, (mark, is_wrong) in enumerate(zip(panel.marks, wrong, strict=True)):
        first, last = at(*mark.box[:2]), at(*mark.box[2:])
        cv2.rectangle(part, (first[0] - 2, first[1] - 2), (last[0] + 2, last[1] + 2), COLOURS[mark.source], 1)
        if is_wrong:
            cv2.line(part, first, last, (255, 0, 0), 1)
            cv2.line(part, (first[0], last[1]), (last[0], first[1]), (255, 0, 0), 1)
        words = f"{number} {mark.kind} {mark.colour} {mark.probability:.2f} {mark.label or ''}"
        for ink, line in (((0, 0, 0), 3), ((255, 255, 0), 1)):
            cv2.putText(part, words, (first[0], max(10, first[1] - 4)), cv2.FONT_HERSHEY_SIMPLEX, 0.4, ink, line)
        if mark.tip is not None:
            cv2.circle(part, at(*mark.tip), 4, (0, 255, 255), -1)
            cv2.circle(part, at(*mark.tip), 4, (0, 0, 0), 1)
    cell = np.full((CELL + 24, CELL + 6, 3), 70, np.uint8)
    name = f"{panel.article[:24]} {panel.figure[-12:]} panel {panel.ordinal}"
    cv2.putText(cell, name, (3, 15), cv2.FONT_HERSHEY_SIMPLEX, 0.45, (255, 255, 255), 1)
    cell[22 : 22 + part.shape[0], : part.shape[1]] = part
    return cell


def write_sheets(cells: Sequence[Pixels], folder: Path) -> None:
    """Write contact sheets."""
    folder.mkdir(parents=True, exist_ok=True)
    for first in range(0, len(cells), PER_SHEET):
        chosen = [*cells[first : first + PER_SHEET]]
        chosen += [np.zeros_like(cells[0])] * (PER_SHEET - len(chosen))
        sheet = np.vstack([np.hstack(chosen[:2]), np.hstack(chosen[2:])])
        cv2.imwrite(str(folder / f"marks_{first // PER_SHEET:02d}.png"), sheet[:, :, ::-1])


def read_places() -> Mapping[tuple[str, str], list[Place]]:
    """Return the places by article and figure."""
    lines = [json.loads(line) for line in PLACES.read_text(encoding="utf-8").splitlines()]
    return {(line["article"], line["figure"]): [tuple(mark) for mark in line["marks"]] for line in lines}


def like(kind: str) -> str:
    """Return the kind under which a mark is counted."""
    return "arrow" if kind == "arrowhead" else kind


@dataclass
class Tally:
    """What was counted: by source, by kind, kinds of marks in their place; and cells for the sheets."""

    sources: Counter[str]
    kinds: Counter[str]
    like_kinds: Counter[bool]
    cells: list[Pixels]

    def add(self, panels: Sequence[FoundPanel], known: Sequence[Place] | None) -> None:
        """Count the panels of one figure; `known` are the reader's places, None where nobody looked."""
        marks = [mark for panel in panels for mark in panel.marks]
        right = verdicts(marks, known or (), panels[0].pixels.shape[:2])
        for mark, place in zip(marks, right, strict=True):
            verdict = "new" if known is None else "wrong" if place is None else "right"
            self.sources[f"{mark.source} {verdict}"] += 1
            self.kinds[f"{like(mark.kind)} {verdict}"] += 1
            if known is not None and place is not None:
                self.like_kinds[like(mark.kind) == known[place][2]] += 1
        self.miss([place for i, place in enumerate(known or ()) if i not in right])
        answers = iter(right)
        for panel in panels:
            wrong = [next(answers) is None for _ in panel.marks]
            if wrong:
                self.cells.append(sheet_cell(panel, wrong))
            if any(wrong):
                print("wrong or new:", panel.article, panel.figure, panel.ordinal, np.flatnonzero(wrong).tolist())

    def miss(self, places: Sequence[Place]) -> None:
        """Count places where nothing was found."""
        self.sources["missed"] += len(places)
        self.kinds.update(f"{kind} missed" for _, _, kind in places)


def main() -> None:
    """Print what is right, wrong, missed and new."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, default=Path(__file__).resolve().parents[2] / "shared" / "corpus")
    parser.add_argument("--sheets", type=Path)
    parser.add_argument("--only", default="", help="articles whose folders begin so")
    arguments = parser.parse_args()
    cv2.setNumThreads(1)
    places = {key: own for key, own in read_places().items() if key[0].startswith(arguments.only)}
    tally, looked = Tally(Counter(), Counter(), Counter(), []), set()
    for folder in sorted(path for path in arguments.corpus.iterdir() if path.is_dir()):
        panels = list(found_panels(folder)) if folder.name.startswith(arguments.only) else []
        for figure in dict.fromkeys(panel.figure for panel in panels):
            looked.add((folder.name, figure))
            tally.add([panel for panel in panels if panel.figure == figure], places.get((folder.name, figure)))
    for key in places.keys() - looked:
        tally.miss(places[key])
    print(dict(sorted(tally.sources.items())))
    print(dict(sorted(tally.kinds.items())))
    print(f"kinds right of those in their place: {tally.like_kinds[True]} of {tally.like_kinds.total()}")
    if arguments.sheets is not None and tally.cells:
        write_sheets(tally.cells, arguments.sheets)


if __name__ == "__main__":
    main()
