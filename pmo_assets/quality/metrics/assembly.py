"""Score of assembly: panels that have the right identifier and the right subcaption."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from pmo_assets.annotation.annotations import AnnotatedPanel
from pmo_assets.quality.metrics.captions import RIGHT_BLEU, sentence_bleu
from pmo_assets.quality.metrics.matching import FOUND_IOU, FigurePair, normalised_text, page_box
from pmo_assets.quality.metrics.metric import Metric, mean, share
from pmo_assets.records.geometry import iou
from pmo_assets.records.identifiers import normalised_identifier

PanelState = Literal["right", "wrong", "none", "missed"]
"""Right subcaption, wrong subcaption, no subcaption given, panel not found."""


@dataclass(frozen=True, slots=True)
class PanelRecord:
    """Result of assembly for one annotated panel.

    Attributes:
        truth: the panel as annotated.
        found: the found panel that overlaps it most, by at least 0.5; None when there is none.
        iou: of the two on the page, 0..1; 0.0 when not found.
        assigned: found, with the identifier that is annotated.
        bleu: of the subcaption, 0..1; None when there is none to compare.
        state: see `PanelState`; a subcaption is right from a BLEU of 0.9 on.
        reason: the error, in words; "" when right.
    """

    truth: AnnotatedPanel
    found: AnnotatedPanel | None
    iou: float
    assigned: bool
    bleu: float | None
    state: PanelState
    reason: str


@dataclass(frozen=True, slots=True)
class AssemblyRecord:
    """Result of assembly for a figure's panels.

    Attributes:
        pair: the figure.
        panels: one record per annotated panel.
        spurious: found panels that overlap no annotated one by 0.5.
    """

    pair: FigurePair
    panels: tuple[PanelRecord, ...]
    spurious: int

    @property
    def wrong(self) -> int:
        """Panels that are not assigned or whose subcaption is not right."""
        return sum(not panel.assigned or panel.state != "right" for panel in self.panels)

    @property
    def badness(self) -> float:
        """Badness, by which the worst are shown first."""
        lost = 0.5 * self.spurious
        for panel in self.panels:
            # A wrong text is as bad as it is unlike; a wrong identifier is worse than no subcaption.
            cost = {"right": 0.0, "none": 0.75, "missed": 1.0, "wrong": 1 - (panel.bleu or 0.0)}[panel.state]
            lost += cost if panel.assigned else max(cost, 0.9)
        return lost / max(1, len(self.panels))


def _panel_record(panel: AnnotatedPanel, pair: FigurePair) -> PanelRecord:
    box = page_box(panel.box, pair.truth)
    found = pair.found if pair.iou >= FOUND_IOU else None
    best, overlap = None, 0.0
    if found is not None and found.panels:
        best = max(found.panels, key=lambda other: iou(page_box(other.box, found), box))
        overlap = iou(page_box(best.box, found), box)
    if best is None or overlap < FOUND_IOU:
        return PanelRecord(panel, None, 0.0, False, None, "missed", "no panel was found here")
    same = normalised_identifier(best.identifier) == normalised_identifier(panel.identifier)
    reason = "" if same else f"called {best.identifier or 'nothing'}"
    if not normalised_text(panel.subcaption):
        right = not normalised_text(best.subcaption)
        reason = reason or ("" if right else "a subcaption where there is no text")
        return PanelRecord(panel, best, overlap, same, None, "right" if right else "wrong", reason)
    if best.subcaption is None:
        why = f" ({best.assembly_reason})" if best.assembly_reason else ""
        return PanelRecord(panel, best, overlap, same, None, "none", reason or f"no subcaption{why}")
    bleu = sentence_bleu(best.subcaption, panel.subcaption)
    right = bleu >= RIGHT_BLEU
    return PanelRecord(
        panel, best, overlap, same, bleu, "right" if right else "wrong",
        reason or ("" if right else f"subcaption differs (BLEU {bleu:.2f})"),
    )  # fmt: skip


def assembly_record(pair: FigurePair) -> AssemblyRecord:
    """Return the result of assembly for a figure's panels."""
    panels = tuple(_panel_record(panel, pair) for panel in pair.truth.panels)
    spurious = 0
    if pair.found is not None and pair.iou >= FOUND_IOU:
        wanted = [page_box(panel.box, pair.truth) for panel in pair.truth.panels]
        found = [page_box(panel.box, pair.found) for panel in pair.found.panels]
        spurious = sum(max((iou(box, other) for other in wanted), default=0.0) < FOUND_IOU for box in found)
    return AssemblyRecord(pair, panels, spurious)


def figure_bleu(pair: FigurePair) -> tuple[bool, float | None]:
    """Return whether a figure's panels are called as annotated, and then the mean BLEU of their subcaptions.

    By the identifiers alone, wherever the panels lie. The BLEU is None when they differ, or when no annotated panel has
    text.
    """
    names = {normalised_identifier(panel.identifier): panel.subcaption for panel in pair.truth.panels}
    panels = pair.found.panels if pair.found is not None else ()
    given = {normalised_identifier(panel.identifier): panel.subcaption for panel in panels}
    if set(names) != set(given):
        return False, None
    return True, mean([sentence_bleu(given[k], text) for k, text in names.items() if normalised_text(text)])


def assembly_metrics(pairs: Sequence[FigurePair]) -> list[Metric]:
    """Return the share of panels with the right identifier and subcaption, and BLEU after assembly.

    A panel is assigned when the found panel that overlaps it most does so by 0.5 and is called as annotated.
    """
    panels = [panel for pair in pairs for panel in assembly_record(pair).panels]
    several = [figure_bleu(pair) for pair in pairs if len(pair.truth.panels) > 1]
    scores = [score for _, score in several if score is not None]
    metrics = [Metric("panels assigned", share([panel.assigned for panel in panels]), len(panels))]
    metrics += [
        Metric("panels by subcaption", share([panel.state == state for panel in panels]), len(panels), state)
        for state in ("right", "wrong", "none", "missed")
    ]
    methods = sorted({p.found.assembly for p in panels if p.found is not None and p.found.assembly})
    for method in methods:
        part = [p.state == "right" for p in panels if p.found is not None and p.found.assembly == method]
        metrics.append(Metric("right subcaptions by method", share(part), len(part), method))
    return [
        *metrics,
        Metric("unprocessed figures", share([not done for done, _ in several]), len(several), "several panels"),
        Metric("mean average sentence BLEU", mean(scores), len(scores), "several panels"),
    ]


def worst_assemblies(records: Iterable[AssemblyRecord]) -> list[AssemblyRecord]:
    """Return the records with a wrong or spurious panel, the worst first; of equal ones that with more panels."""
    wrong = (record for record in records if record.wrong or record.spurious)
    return sorted(wrong, key=lambda record: (-record.badness, -len(record.panels), record.pair.key))
