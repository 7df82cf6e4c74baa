"""Score assembly alone on kept cases (`assembly_cases.py`): which panels got the right identifier and subcaption.

    python benchmarks/score_assembly.py FOLDER [--threshold 0.8] [--true-boxes printed|unprinted] [--by KIND ...]
        [--list N] [--pictures FOLDER] [--feature TEXT] [--processes 2]

With `--true-boxes`, panels and subcaptions are the true ones: `printed` also gives the true boxes of the identifiers,
without their texts; `unprinted` gives no identifier at all. Figures that were not found are then left out.

Of every true panel, the panel that overlaps it most, by at least 0.5, is
right: it has the true identifier and a subcaption; or no subcaption where no evidence decides, or where evidence speaks
for the true one and against it (`PanelSpec.evidence`),
wrong: it has a subcaption, but another identifier than the true one, or where none can be decided,
open: it has no subcaption; missed: there is no such panel. *Text* is the share of panels with the true subcaption (BLEU
from 0.9 on), *named* that with the true identifier, whatever the subcaption. Panels that overlap no true one and have a
subcaption are *spurious*. Confidence is the column of that name of `panel_captions` (1 where there is none).
"""

from __future__ import annotations

import argparse
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal

from assembly_cases import AssemblyCase, TruePanel, read_cases
from PIL import Image

from pmo_assets.pipeline.assembly.reading.text_readers import ReaderKind, text_reader
from pmo_assets.pipeline.assembly.steps import caption_figure_panels
from pmo_assets.quality.metrics.captions import RIGHT_BLEU, sentence_bleu
from pmo_assets.quality.metrics.matching import FOUND_IOU, normalised_text
from pmo_assets.records.geometry import Box, as_box, iou, reading_order
from pmo_assets.records.identifiers import normalised_identifier
from pmo_assets.records.step_output import Row
from pmo_assets.records.subcaptions import CaptionSplit, Subcaption
from pmo_assets.tables.captions import subcaption_rows
from pmo_assets.viewing.comparisons import case as titled_case
from pmo_assets.viewing.comparisons import detection_comparison

State = Literal["right", "wrong", "open", "missed"]
TrueBoxes = Literal["printed", "unprinted"]
_Named = list[tuple[Box, str | None]]
_Drawn = tuple[_Named, _Named, list[tuple[Box, str | None, bool | None]]]
"""Panels, identifiers and images as pictures of comparisons take them."""
LEVELS = (0.0, 0.3, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98, 0.99)
"""Confidences of the risk–coverage list."""


@dataclass(frozen=True, slots=True)
class ScoredPanel:
    """What became of a true panel.

    Attributes:
        truth: the panel.
        found: the row of `panel_captions` that overlaps it most, by at least 0.5; None when there is none.
        state: see the module.
        text: it has the true subcaption, or none where none is wanted.
        named: it has the true identifier.
        confidence: 0..1, 0 without a subcaption.
    """

    truth: TruePanel
    found: Row | None
    state: State
    text: bool
    named: bool
    confidence: float


@dataclass(frozen=True, slots=True)
class ScoredCase:
    """A figure with what became of its panels, and the found panels with a subcaption that are no true ones."""

    case: AssemblyCase
    panels: tuple[ScoredPanel, ...]
    rows: tuple[Row, ...]
    spurious: tuple[Row, ...]

    @property
    def badness(self) -> float:
        """How bad it is, for showing the worst first."""
        cost = {"right": 0.0, "wrong": 1.0, "open": 0.3, "missed": 0.1}
        return sum(cost[panel.state] for panel in self.panels) + 0.2 * len(self.spurious)


def with_true_boxes(case: AssemblyCase, mode: TrueBoxes) -> AssemblyCase:
    """Return the case as perfect detection and caption splitting would leave it."""
    assert case.figure is not None
    key = {"article_id": case.figure["article_id"], "image_cluster_id": case.figure["image_cluster_id"]}
    # A name may occur in several panels of a wrong figure; detection numbers by reading order whatever they are called.
    panels = [case.truth[i] for i in reading_order([panel.box for panel in case.truth])]
    printed = [panel.identifier_box for panel in panels if panel.identifier_box is not None]
    boxes = [("panel", panel.box) for panel in panels]
    boxes += [("identifier", box) for box in printed] if mode == "printed" else []
    counts: Counter[str] = Counter()
    rows = []
    for kind, box in boxes:
        ordinal = counts[kind]
        counts[kind] += 1
        rows.append(
            {
                **key,
                "detection_id": f"{kind}_{ordinal}",
                "kind": kind,
                "ordinal": ordinal,
                "box": list(box),
                "score": 1.0,
                "source": "truth",
                "text": None,
            }
        )
    split = CaptionSplit(tuple(Subcaption(name, text, ()) for name, text in case.split), confidence=1.0)
    return replace(case, detections=tuple(rows), subcaptions=tuple(subcaption_rows(key, split)))


def assembled(case: AssemblyCase, reader: ReaderKind) -> list[Row]:
    """Return what assembly makes of the case: rows of `panel_captions`."""
    assert case.figure is not None
    return caption_figure_panels(
        case.figure, case.detections, case.subcaptions, lambda: case.pixels, text_reader(reader)
    )


def scored_panel(truth: TruePanel, rows: Sequence[Row]) -> ScoredPanel:
    """Return what became of a true panel."""
    best = max(rows, key=lambda row: _overlap(row, truth), default=None)
    if best is None or _overlap(best, truth) < FOUND_IOU:
        return ScoredPanel(truth, None, "missed", False, False, 0.0)
    given = best["subcaption"]
    same = normalised_identifier(best["identifier"]) == normalised_identifier(truth.identifier)
    confidence = float(best.get("confidence", 1.0)) if given is not None else 0.0
    if truth.subcaption is None:
        right = given is None and (same or best["identifier"] is None)
        return ScoredPanel(truth, best, "right" if right else "wrong", given is None, same, confidence)
    if not normalised_text(truth.subcaption):
        right = same and not normalised_text(given)
        return ScoredPanel(truth, best, "right" if right else "wrong", not given, same, confidence)
    if given is None:
        conflict = truth.evidence == "conflicts"
        return ScoredPanel(truth, best, "right" if conflict else "open", conflict, same, 0.0)
    text = sentence_bleu(given, truth.subcaption) >= RIGHT_BLEU
    return ScoredPanel(truth, best, "right" if same else "wrong", text, same, confidence)


def _overlap(row: Row, truth: TruePanel) -> float:
    """Return the better IoU of the panel as detected and with its identifiers, which may stand beside it."""
    return max(iou(as_box(row[name]), truth.box) for name in ("box", "content_box"))


def scored_case(case: AssemblyCase, mode: TrueBoxes | None, reader: ReaderKind = "rapidocr") -> ScoredCase:
    """Assemble a figure and compare."""
    if case.figure is None:
        return ScoredCase(case, tuple(scored_panel(panel, ()) for panel in case.truth), (), ())
    if mode is not None:
        case = with_true_boxes(case, mode)
    rows = assembled(case, reader)
    spurious = [
        row
        for row in rows
        if row["subcaption"] is not None and max((_overlap(row, p) for p in case.truth), default=0.0) < FOUND_IOU
    ]
    return ScoredCase(case, tuple(scored_panel(panel, rows) for panel in case.truth), tuple(rows), tuple(spurious))


def _share(part: int, whole: int) -> str:
    return f"{part / whole:6.3f}" if whole else "     –"


def summary_line(name: str, panels: Sequence[ScoredPanel]) -> str:
    """Return counts and shares of a group of panels."""
    states = Counter(panel.state for panel in panels)
    shares = " ".join(f"{state} {_share(states[state], len(panels))}" for state in ("right", "wrong", "open", "missed"))
    text = _share(sum(panel.text for panel in panels), len(panels))
    named = _share(sum(panel.named for panel in panels), len(panels))
    return f"{name:46s} {len(panels):5d}  {shares}  text {text}  named {named}"


def threshold_line(panels: Sequence[ScoredPanel], level: float) -> str:
    """Return coverage and risk among the panels with a subcaption from a confidence on."""
    above = [p for p in panels if p.found is not None and p.found["subcaption"] is not None and p.confidence >= level]
    right, wrong = (sum(p.state == state for p in above) for state in ("right", "wrong"))
    text = sum(p.state == "right" and p.text for p in above)
    return (
        f"confidence >= {level:4.2f}  coverage {_share(len(above), len(panels))}  right {_share(right, len(above))}"
        f"  wrong {_share(wrong, len(above))} ({wrong})  right text {_share(text, len(above))}"
    )


def _groups(scored: Iterable[ScoredCase], kinds: Sequence[str]) -> Mapping[str, list[ScoredPanel]]:
    groups: dict[str, list[ScoredPanel]] = defaultdict(list)
    for item in scored:
        for feature in item.case.features:
            if not kinds or feature.split(":")[0] in kinds:
                groups[feature].extend(item.panels)
    return dict(sorted(groups.items()))


def report(scored: Sequence[ScoredCase], threshold: float, kinds: Sequence[str]) -> list[str]:
    """Return all numbers."""
    panels = [panel for item in scored for panel in item.panels]
    lost = sum(item.case.figure is None for item in scored)
    spurious = sum(len(item.spurious) for item in scored)
    lines = [
        f"{len(scored)} figures ({lost} not found), {len(panels)} panels, {spurious} spurious with a subcaption",
        summary_line("all panels", panels),
        summary_line("found panels", [panel for panel in panels if panel.found is not None]),
        *(
            summary_line(f"panels whose evidence {kind}", [panel for panel in panels if panel.truth.evidence == kind])
            for kind in ("decides", "conflicts", "none")
        ),
        f"threshold {threshold}:",
        "  " + threshold_line(panels, threshold),
        "risk and coverage:",
        *("  " + threshold_line(panels, level) for level in LEVELS),
        "by method:",
    ]
    methods: dict[str, list[ScoredPanel]] = defaultdict(list)
    for panel in panels:
        if panel.found is not None:
            methods[panel.found["method"] or "none"].append(panel)
    lines += ["  " + summary_line(name, group) for name, group in sorted(methods.items())]
    groups = _groups(scored, kinds)
    if groups:
        lines.append("by feature of the figure:")
        lines += ["  " + summary_line(name, group) for name, group in groups.items()]
    return lines


def case_lines(item: ScoredCase) -> list[str]:
    """Return what was expected and found in a figure."""
    case = item.case
    lines = [f"{case.name}  [{' '.join(case.features)}]", f"  caption: {case.caption[:300]}"]
    lines.append(f"  split: {[row['identifier'] for row in case.subcaptions]} true: {[name for name, _ in case.split]}")
    for panel in item.panels:
        expected = f"{panel.truth.identifier}" + (
            f" ({panel.truth.evidence})" if panel.truth.evidence != "decides" else ""
        )
        line = f"  {panel.state:6s} {expected}"
        if panel.found is not None:
            read = [identifier["text"] for identifier in panel.found["printed_identifiers"]]
            line += f" -> {panel.found['identifier']} printed {read} {panel.found['method']}: {panel.found['reason']}"
            line += "" if panel.text or panel.state != "right" else f" | text {panel.found['subcaption']!r}"
        lines.append(line)
    lines += [f"  spurious {row['identifier']} {[round(v, 2) for v in row['box']]}" for row in item.spurious]
    return lines


def write_picture(item: ScoredCase, folder: Path, number: int) -> None:
    """Write truth and result of a figure side by side."""
    if item.case.figure is None:
        return
    truth: _Drawn = (
        [(panel.box, panel.identifier) for panel in item.case.truth],
        [(panel.identifier_box, None) for panel in item.case.truth if panel.identifier_box is not None],
        [],
    )
    found: _Drawn = (
        [(as_box(row["box"]), row["identifier"] if row["subcaption"] is not None else "–") for row in item.rows],
        [(as_box(row["box"]), row["text"]) for row in item.case.detections if row["kind"] == "identifier"],
        [],
    )
    body = detection_comparison(item.case.pixels, truth, found)
    picture = titled_case(item.case.name, case_lines(item)[1:], body, max_reasons=12)
    Image.fromarray(picture).save(folder / f"{number:04d}_{item.case.article}_{item.case.ordinal}.png")


def main() -> None:
    """Score and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", type=Path, nargs="+", help="folders that assembly_cases.py wrote")
    parser.add_argument("--threshold", type=float, default=0.8)
    parser.add_argument("--true-boxes", choices=("printed", "unprinted"))
    parser.add_argument("--reader", choices=("none", "rapidocr", "easyocr"), default="rapidocr")
    parser.add_argument("--by", nargs="*", default=[], help="only these kinds of features (layout, lie, …)")
    parser.add_argument("--feature", default="", help="only figures with a feature that contains this")
    parser.add_argument("--list", type=int, default=0, metavar="N", help="print the N worst figures")
    parser.add_argument("--pictures", type=Path, help="folder for pictures of the listed figures")
    parser.add_argument("--processes", type=int, default=1, choices=(1, 2))
    args = parser.parse_args()
    cases = [case for folder in args.cases for case in read_cases(folder)]
    cases = [case for case in cases if not args.feature or any(args.feature in name for name in case.features)]
    if args.true_boxes:
        cases = [case for case in cases if case.figure is not None]
    start = time.perf_counter()
    score = partial(scored_case, mode=args.true_boxes, reader=args.reader)
    if args.processes == 1:
        scored = [score(case) for case in cases]
    else:
        with ProcessPoolExecutor(args.processes) as pool:
            scored = list(pool.map(score, cases, chunksize=16))
    seconds = time.perf_counter() - start
    print("\n".join(report(scored, args.threshold, args.by)))
    print(f"{1000 * seconds / max(1, len(cases)):.0f} ms per figure")
    worst = sorted((item for item in scored if item.badness > 0), key=lambda item: -item.badness)[: args.list]
    for number, item in enumerate(worst):
        print("\n" + "\n".join(case_lines(item)))
        if args.pictures is not None:
            args.pictures.mkdir(parents=True, exist_ok=True)
            write_picture(item, args.pictures, number)


if __name__ == "__main__":
    main()
