"""Score figures of pictures in rows with printed letters: boxes, panels, identifiers.

    python benchmarks/score_letter_rows.py [--first 0] [--cases 150] [--source both] [--whole] [--list]

Every case is a page with one figure and its caption. Without `--whole` detection is given the true figure box and the
true names, with it the page goes through the pipeline of `pmo article`, so that letters outside the figure's box and
captions that are not understood count, too. Rules were made while looking at cases 0 to 149; cases from 150 on are held
out.

A figure's letters are *inside* when its located box holds the middle of every printed letter. A *speck* is a found
panel of less than a tenth of the smallest true panel's area.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import pymupdf
from score_articles import article_json
from score_detection import annotated, as_annotation, figure_view

from pmo_assets.pipeline.detection.detect import detect_panels
from pmo_assets.pipeline.detection.detector_set import detector_set
from pmo_assets.pipeline.detection.protocols import DetectorSource, PanelDetector
from pmo_assets.records.geometry import area, as_box, centre, iou
from pmo_assets_tests.quality.metrics.article_scores import article_scores, score_lines
from pmo_assets_tests.samples.letter_rows import FIGURE_FILE, LetterRows, LetterRowsCase, letter_rows, letter_rows_case

DPI = 200
FIRST_NUMBER = 8_000_000
"""Case 0 counts as article PMC8000000."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a case: figure found with IoU 0.9, letters inside its box, true panels, those found, those found
    and called right, and specks among the found ones."""

    boxed: bool
    inside: bool
    panels: int
    found: int
    called: int
    specks: int

    @property
    def perfect(self) -> bool:
        """Whether all panels are found and called right."""
        return self.called == self.panels


def detected(pdf: bytes, truth: dict[str, Any], detector: PanelDetector) -> dict[str, Any]:
    """Return the figure with the panels that are found in its true box, given the true names."""
    with pymupdf.open(stream=pdf) as document:
        frame = as_box(truth["figure_locations"][0]["bbox"])
        names = tuple(p["identifier"] for p in truth["panels"])
        view = figure_view(document[0], frame, names, DPI, hints=True)
    return as_annotation(truth, detect_panels(view, detector), ())


def outcome(truth: dict[str, Any], found: dict[str, Any] | None) -> Outcome:
    """Compare a figure with its truth, on the page."""
    mine = as_box(truth["figure_locations"][0]["bbox"])
    letters = [on_page(mine, p["identifier_box"]) for p in truth["panels"]]
    if found is None:
        return Outcome(False, False, len(letters), 0, 0, 0)
    other = as_box(found["figure_locations"][0]["bbox"])
    inside = all(
        other[0] <= x <= other[2] and other[1] <= y <= other[3] for x, y in (centre(as_box(b)) for b in letters)
    )
    true = [(p["identifier"], on_page(mine, p["box"])) for p in truth["panels"]]
    seen = [(p["identifier"], on_page(other, p["box"])) for p in found["panels"]]
    hits = called = 0
    taken: set[int] = set()
    for name, box in true:
        best = max(range(len(seen)), key=lambda k: iou(seen[k][1], box), default=None)
        if best is not None and best not in taken and iou(seen[best][1], box) >= 0.5:
            taken.add(best)
            hits += 1
            called += str(seen[best][0] or "").lower() == name.lower()
    least = 0.1 * min(area(box) for _, box in true)
    specks = sum(area(box) < least for _, box in seen)
    return Outcome(iou(mine, other) >= 0.9, inside, len(true), hits, called, specks)


def on_page(frame: Any, box: Any) -> tuple[float, float, float, float]:
    """Return a box of a figure in points of the page."""
    wide, tall = frame[2] - frame[0], frame[3] - frame[1]
    x0, y0, x1, y1 = box
    return (frame[0] + x0 * wide, frame[1] + y0 * tall, frame[0] + x1 * wide, frame[1] + y1 * tall)


def whole(case: LetterRowsCase, name: str, folder: Path) -> dict[str, Any] | None:
    """Return the figure that the pipeline finds in a page; None without one."""
    package = folder / name
    (package / "figures").mkdir(parents=True)
    (package / "article.pdf").write_bytes(case.pdf)
    if case.xml is not None:
        (package / "article.xml").write_bytes(case.xml)
    if case.jpeg is not None:
        (package / "figures" / f"{FIGURE_FILE}.jpg").write_bytes(case.jpeg)
    figures: Any = article_json(package)["figures"]
    return figures[0] if figures else None


def kinds_of(spec: LetterRows) -> list[str]:
    """Return the groups under which a case is counted."""
    even = len(set(spec.counts)) == 1
    return [
        "all", f"letters {spec.side}", f"ground {spec.ground}", f"content {spec.content}",
        f"rows {len(spec.counts)}", "brackets" if "(" in spec.form else "no brackets",
        "words behind letters" if spec.titled else "letters alone", "even rows" if even else "incomplete last row",
        f"package {spec.package}", f"naming {spec.naming}", f"parts {spec.parts}",
        *(name for name in ("wrapped", "heads", "ragged", "late", "upright", "legend") if getattr(spec, name)),
    ]  # fmt: skip


def described(spec: LetterRows) -> str:
    """Return what is special about a case."""
    return f"{spec.counts} {spec.side} {spec.form} {' '.join(kinds_of(spec)[2:])}"


def line(title: str, outcomes: list[Outcome]) -> str:
    """Return one row of the table."""
    panels = sum(o.panels for o in outcomes)
    return (
        f"{title:24s} {len(outcomes):4d} figures {panels:5d} panels"
        f"  boxes {sum(o.boxed for o in outcomes) / len(outcomes):.3f}"
        f"  letters inside {sum(o.inside for o in outcomes) / len(outcomes):.3f}"
        f"  found {sum(o.found for o in outcomes) / panels:.3f}  called {sum(o.called for o in outcomes) / panels:.3f}"
        f"  specks {sum(o.specks for o in outcomes):3d}"
        f"  whole figures {sum(o.perfect for o in outcomes) / len(outcomes):.3f}"
    )


def main() -> None:
    """Run the benchmark and print the numbers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--cases", type=int, default=150)
    parser.add_argument("--source", choices=get_args(DetectorSource), default="both", help="which detectors")
    parser.add_argument("--whole", action="store_true", help="the whole pipeline, with its own figure boxes and names")
    parser.add_argument("--list", action="store_true", help="print the cases that are not perfect")
    args = parser.parse_args()
    detector = detector_set(args.source).panels
    groups: dict[str, list[Outcome]] = defaultdict(list)
    truths: dict[str, list[Any]] = {}
    predictions: dict[str, list[Any]] = {}
    seconds = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for case in range(args.first, args.first + args.cases):
            spec, name = letter_rows(case), f"PMC{FIRST_NUMBER + case}"
            made = letter_rows_case(spec)
            truth = made.truth
            start = time.perf_counter()
            found = whole(made, name, Path(folder)) if args.whole else detected(made.pdf, truth, detector)
            seconds += time.perf_counter() - start
            result = outcome(truth, found)
            for kind in kinds_of(spec):
                groups[kind].append(result)
            truths[name], predictions[name] = [truth], [found] if found is not None else []
            if args.list and not (result.perfect and result.inside and result.boxed):
                print(case, result, described(spec))
    print("\n".join(line(kind, groups[kind]) for kind in sorted(groups)))
    print("\n".join(score_lines(article_scores(annotated(truths), annotated(predictions)))))
    print(f"{1000 * seconds / args.cases:.0f} ms a case, figure located and rendered included")


if __name__ == "__main__":
    main()
