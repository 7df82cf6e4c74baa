"""`assembly_quality`: which panels got the right identifier and subcaption."""

from __future__ import annotations

from pmo_assets.quality.figure_canvases import Canvas, drawn_boxes, figure_canvases
from pmo_assets.quality.measured import WORST_CASES, Case, Measured, blank_page, figure_title, record_key
from pmo_assets.quality.metrics.assembly import (
    AssemblyRecord,
    PanelRecord,
    assembly_metrics,
    assembly_record,
    worst_assemblies,
)
from pmo_assets.quality.metrics.detection import FigureBoxes, figure_boxes
from pmo_assets.quality.metrics.metric import mean
from pmo_assets.quality.page_renderer import PageRenderer
from pmo_assets.quality.scored_articles import ScoredArticles
from pmo_assets.viewing.comparisons import detection_comparison, stacked, text_comparison
from pmo_assets.viewing.overlays import Pixels
from pmo_assets.viewing.palette import FOUND_COLOUR, SHARED_COLOUR, TRUTH_COLOUR
from pmo_assets.viewing.quality_plots import stacked_shares_plot

_STATE_COLOURS = {"right": TRUTH_COLOUR, "wrong": FOUND_COLOUR, "none": SHARED_COLOUR, "missed": "#1b1f24"}


def _panel_problem(panel: PanelRecord) -> str:
    return f"panel {panel.truth.identifier or '(single)'}: {panel.reason}"


def _assembly_problems(record: AssemblyRecord) -> list[str]:
    found = [_panel_problem(panel) for panel in record.panels if panel.reason]
    if record.spurious:
        found.append(f"{record.spurious} found {'panel' if record.spurious == 1 else 'panels'} where none is annotated")
    return found


def _assembly_case(record: AssemblyRecord, boxes: FigureBoxes, canvas: Canvas | None) -> Case:
    parts: list[Pixels] = []
    if canvas is not None:
        parts.append(
            detection_comparison(
                canvas.pixels,
                drawn_boxes(boxes.truth, canvas, False, images=False),
                drawn_boxes(boxes.found, canvas, True, images=False),
            )
        )
    wrong = sorted(
        (p for p in record.panels if p.state == "wrong"), key=lambda p: p.bleu if p.bleu is not None else 0.0
    )
    parts += [
        text_comparison(
            panel.truth.subcaption,
            panel.found.subcaption,
            title=f"panel {panel.truth.identifier or '(single)'}: annotated | found",
        )
        for panel in wrong[:2]
        if panel.found is not None
    ]
    title = figure_title(record.pair.name, record.pair.truth.label)
    return Case(title, _assembly_problems(record), stacked(parts) if parts else blank_page())


def assembly_measured(scored: ScoredArticles, renderer: PageRenderer, worst: int = WORST_CASES) -> Measured:
    """Compare which identifier and subcaption each panel got."""
    records = [assembly_record(pair) for pair in scored.matched.pairs]
    rows = []
    for record in records:
        states = [panel.state for panel in record.panels]
        rows.append(
            {
                **record_key(record.pair, scored.cluster(record.pair)),
                "badness": record.badness,
                "problems": _assembly_problems(record),
                "panels": len(record.panels),
                "assigned": sum(panel.assigned for panel in record.panels),
                **{name: states.count(name) for name in ("right", "wrong", "none", "missed")},
                "spurious": record.spurious,
                "bleu": mean([min(1.0, panel.bleu) for panel in record.panels if panel.bleu is not None]),
            }
        )
    parts: dict[str, dict[str, int]] = {"all panels": {}}
    for record in records:
        for panel in record.panels:
            method = panel.found.assembly if panel.found is not None else None
            for group in ("all panels", *([method] if method else [])):
                counts = parts.setdefault(group, {})
                counts[panel.state] = counts.get(panel.state, 0) + 1
    plot = stacked_shares_plot(
        parts, _STATE_COLOURS, title="Subcaptions of annotated panels, by how they were assigned"
    )
    figures = {item.pair.key: item for item in figure_boxes(scored.matched.pairs)}
    shown = worst_assemblies(records)[:worst]
    canvases = figure_canvases(scored, renderer, [record.pair for record in shown])
    cases = [_assembly_case(r, figures[r.pair.key], c) for r, c in zip(shown, canvases, strict=True)]
    note = (
        "A panel is assigned when it is found (IoU 0.5) and called as annotated; its subcaption is right from BLEU 0.9."
    )
    return Measured(assembly_metrics(scored.matched.pairs), rows, [("assignment", plot)], cases, note)
