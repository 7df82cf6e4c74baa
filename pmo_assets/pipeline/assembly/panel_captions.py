"""Subcaption of each panel of a figure, with its evidence and its confidence.

A caption that names no panel is the whole caption of each panel (annotation guide). Otherwise names and panels are
brought together in one sum over all evidence (`assignment`); a panel that this leaves undecided, or that print
contradicts, stays undecided with a reason. Add here: steps from detections and a split to panels with subcaptions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from pmo_assets.pipeline.assembly.assignment import BY_PLACE, FREE_ORDER, NameShares, decided_names, panel_name_shares
from pmo_assets.pipeline.assembly.confidence import Features, confidence
from pmo_assets.pipeline.assembly.identifier_evidence import (
    FigureIdentifier,
    IdentifierEvidence,
    beside_places,
    detected_identifier,
    identifier_evidence,
    owners_of,
)
from pmo_assets.pipeline.assembly.printed_series import completed_series
from pmo_assets.pipeline.captions.alternatives import alternative_splits
from pmo_assets.records.detections import PanelDetection
from pmo_assets.records.geometry import covered_fraction, reading_order, union_box
from pmo_assets.records.identifiers import normalised_identifier
from pmo_assets.records.panels import AUTOMATIC, Evidence, Panel, PanelMember, PrintedIdentifier
from pmo_assets.records.subcaptions import CaptionSplit, Subcaption

JOINED_OVERLAP: Final = 0.1
"""Parts of a panel are not joined when more than this fraction of another panel would lie in the joined box."""

SURE_PRINT: Final = 0.8
"""From this share on, print that says another name contradicts an assignment."""

SINGLE, WHOLE, IDENTIFIER, POSITION, ORDER = "single panel", "whole caption", "identifier", "position", "reading order"


def captioned_panels(
    detections: Sequence[PanelDetection],
    split: CaptionSplit,
    identifiers: Sequence[FigureIdentifier] | None = None,
    sureness: Callable[[Features], float] = confidence,
) -> tuple[Panel, ...]:
    """Assign printed identifiers and subcaptions to panels.

    Args:
        detections: panels and identifiers of one figure.
        split: its caption's split.
        identifiers: the printed identifiers with their readings, in the order of detections; from these alone if None.
        sureness: gives the confidence of an assignment; another one is passed where it is fitted.

    Returns:
        One entry per panel detection (parts of one panel joined), in reading order.
    """
    panels = [item for item in detections if item.kind == "panel"]
    names = panel_names(split)
    detected = [item for item in detections if item.kind == "identifier"]
    if identifiers is None:
        identifiers = [detected_identifier(number, item, names) for number, item in enumerate(detected)]
    identifiers = beside_places(identifiers, names)
    boxes = [panel.box for panel in panels]
    owners = owners_of([identifier.box for identifier in identifiers], boxes)
    evidence = identifier_evidence(identifiers, owners, len(panels), len(names))
    chances = [panel.probability or panel.score for panel in panels]  # uncalibrated where other code detected them
    printed = [
        PrintedIdentifier(item.detection_id, item.box, item.score, identifier.text)
        for item, identifier in zip(detected, identifiers, strict=True)
    ]
    found = [_bare_panel(place, panel, evidence.identifiers[place], printed) for place, panel in enumerate(panels)]
    if not found:
        return ()
    if names:
        captioned = _joined(_with_subcaptions(found, split, names, evidence, chances, sureness), printed)
    else:
        captioned = _with_whole_caption(_called(found), split, chances, sureness)
    return tuple(captioned[i] for i in reading_order([panel.box for panel in captioned]))


def confirmed_split(caption: str, split: CaptionSplit, texts: Iterable[str | None]) -> CaptionSplit:
    """Return the split by the names that the figure prints, where the caption leaves them open; `split` elsewhere.

    Args:
        caption: the whole caption.
        split: its split.
        texts: the figure's printed identifiers as read.
    """
    if split.identifiers:
        return split
    printed = {normalised_identifier(text) for text in texts if text}
    for other in alternative_splits(caption) if len(printed) > 1 else ():
        if all(normalised_identifier(name) in printed for name in other.identifiers):
            return other
    return split


def panel_names(split: CaptionSplit) -> list[str]:
    """Return the caption's names; of two that are compared as one, the first."""
    names: dict[str, str] = {}
    for name in split.identifiers:
        names.setdefault(normalised_identifier(name), name)
    return list(names.values())


def _bare_panel(
    place: int, panel: PanelDetection, identifiers: Sequence[FigureIdentifier], printed: Sequence[PrintedIdentifier]
) -> Panel:
    """Return a panel with its printed identifiers and nothing assigned."""
    read = [identifier for identifier in identifiers if identifier.text]
    return Panel(
        ordinal=place,
        members=(PanelMember(place, panel.box),),
        box=panel.box,
        content_box=union_box([panel.box, *(identifier.box for identifier in identifiers)]),
        score=panel.score,
        identifier=read[0].text if read else None,
        printed_identifiers=tuple(
            printed[number] for number in sorted(identifier.number for identifier in identifiers)
        ),
    )


def _called(panels: Sequence[Panel]) -> list[Panel]:
    """Return the panels of a caption that names none, called by the print at them (`printed_series`)."""
    if len(panels) == 1:
        return [replace(panels[0], identifier=None)]  # a letter in a single panel is a label in its picture
    identifiers = completed_series(
        [panel.identifier for panel in panels],
        [panel.box for panel in panels],
        [bool(panel.printed_identifiers) for panel in panels],
    )
    return [replace(panel, identifier=name) for panel, name in zip(panels, identifiers, strict=True)]


def _with_whole_caption(
    panels: Sequence[Panel],
    split: CaptionSplit,
    chances: Sequence[float],
    sureness: Callable[[Features], float],
) -> list[Panel]:
    """Return the panels of a caption that names none."""
    if not split.subcaptions:
        return [replace(panel, reason="the figure has no caption") for panel in panels]
    whole = split.subcaptions[0]
    if not whole.text:
        return [replace(panel, reason="the caption has no text") for panel in panels]
    single = len(panels) == 1
    method = SINGLE if single else WHOLE
    reason = "one panel and a caption that names none" if single else "the caption names no panel"
    return [
        replace(
            panel,
            subcaption=whole.text,
            segments=whole.segments,
            caption_confidence=split.confidence,
            method=method,
            assembly=AUTOMATIC,
            reason=reason,
            confidence=sureness(Features(1.0, chance, split.confidence, 0.0, single, 0.0, 1.0, method)),
            evidence=(Evidence("count", "caption", None, None, split.confidence),),
        )
        for panel, chance in zip(panels, chances, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class _Figure:
    """Names, subcaptions, shares, print and decisions of a figure, from which its panels are made.

    `chances` is the probability that each panel is one, 0..1.
    """

    panels: Sequence[Panel]
    names: Sequence[str]
    subcaptions: Sequence[Subcaption]
    split: CaptionSplit
    found: NameShares
    evidence: IdentifierEvidence
    decided: Sequence[int | None]
    chances: Sequence[float]
    sureness: Callable[[Features], float]

    def read(self, panel: int) -> float:
        """Return the probability, 0..1, that the print in a panel says the name that it got."""
        name = self.decided[panel]
        if name is None:
            return 0.0
        return max(
            (identifier.names[name] * identifier.probability for identifier in self.evidence.identifiers[panel]),
            default=0.0,
        )

    @property
    def least(self) -> float:
        """Return the least share of a name that a panel got; 0 where one got none."""
        shares = self.found.shares
        return min(float(shares[k, name]) if name is not None else 0.0 for k, name in enumerate(self.decided))


def _with_subcaptions(
    panels: Sequence[Panel],
    split: CaptionSplit,
    names: Sequence[str],
    evidence: IdentifierEvidence,
    chances: Sequence[float],
    sureness: Callable[[Features], float],
) -> list[Panel]:
    """Return the panels of a caption that names them."""
    by_name = {normalised_identifier(sub.identifier): sub for sub in reversed(split.subcaptions)}
    found = panel_name_shares([panel.box for panel in panels], names, evidence)
    decided = decided_names(found)
    subcaptions = [by_name[normalised_identifier(name)] for name in names]
    figure = _Figure(panels, names, subcaptions, split, found, evidence, decided, chances, sureness)
    return [_decided(figure, place) for place in range(len(panels))]


def _decided(figure: _Figure, place: int) -> Panel:
    """Return a panel with its subcaption, or with the reason why it has none."""
    panel, name = figure.panels[place], figure.decided[place]
    shares = figure.found.shares[place]
    order = sorted(range(len(figure.names)), key=lambda k: -shares[k])
    second = next((k for k in order if k != (name if name is not None else order[0])), None)
    best = name if name is not None else order[0]
    method = _method(figure, place)
    facts = Features(
        share=float(shares[best]),
        panel=figure.chances[place],
        caption=figure.split.confidence,
        read=figure.read(place),
        counted=len(figure.panels) == len(figure.names),
        disorder=dict(figure.found.orders).get(FREE_ORDER, 0.0),
        least=figure.least,
        method=method,
    )
    panel = replace(
        panel,
        confidence=figure.sureness(facts),
        evidence=_evidence(figure, place),
        runner_up=figure.names[second] if second is not None else None,
        runner_up_confidence=float(shares[second]) if second is not None else 0.0,
    )
    contradiction = _contradiction(figure, place)
    if name is None or contradiction:
        return replace(panel, reason=contradiction or _why_open(figure, place))
    reason = {
        IDENTIFIER: f"“{figure.names[name]}” is printed in the panel",
        POSITION: f"the panel stands at “{figure.names[name]}”",
        ORDER: f"the panels follow the caption {figure.found.orders[0][0]}",
    }[method]
    subcaption = figure.subcaptions[name]
    return replace(
        panel,
        identifier=subcaption.identifier,
        subcaption=subcaption.text,
        segments=subcaption.segments,
        caption_confidence=figure.split.confidence,
        method=method,
        assembly=AUTOMATIC,
        reason=reason,
    )


def _method(figure: _Figure, place: int) -> str:
    """Return the deciding method: print that says the name, else the words of place, else the order."""
    if figure.read(place) > SURE_PRINT / 2:
        return IDENTIFIER
    return POSITION if figure.found.orders[0][0] == BY_PLACE else ORDER


def _contradiction(figure: _Figure, place: int) -> str | None:
    """Return the reason why print forbids the name that a panel got; None when it does not."""
    name = figure.decided[place]
    for identifier in figure.evidence.identifiers[place]:
        said = max(range(len(identifier.names)), key=lambda k: identifier.names[k])
        sure = max(identifier.names[said] if said != name else 0.0, identifier.other) * identifier.probability
        if name is not None and sure >= SURE_PRINT > 2 * figure.read(place):
            return f"“{identifier.text}” is printed in the panel, but its place says “{figure.names[name]}”"
    return None


def _why_open(figure: _Figure, place: int) -> str:
    """Return the reason why no name is likely enough."""
    for identifier in figure.evidence.identifiers[place]:
        if identifier.other * identifier.probability > SURE_PRINT / 2 and identifier.text:
            return f"“{identifier.text}” is printed in the panel, but the caption does not name it"
    shares = figure.found.shares[place]
    if shares[-1] > 0.5:
        return f"{len(figure.panels)} panels, {len(figure.names)} subcaptions: this panel is rather none that is named"
    likely = sorted(range(len(figure.names)), key=lambda k: -shares[k])[:3]
    said = ", ".join(f"“{figure.names[k]}” {shares[k]:.2f}" for k in likely)
    return f"{len(figure.panels)} panels, {len(figure.names)} subcaptions, and nothing decides between them: {said}"


def _evidence(figure: _Figure, place: int) -> tuple[Evidence, ...]:
    """Return the evidence for a panel's name: its print, its place or order, and the numbers; strongest first."""
    items = []
    for identifier in figure.evidence.identifiers[place]:
        said = max(range(len(identifier.names)), key=lambda k: identifier.names[k])
        names_it = identifier.names[said] >= identifier.other
        items.append(
            Evidence(
                "identifier",
                identifier.source,
                identifier.text,
                figure.names[said] if names_it and identifier.is_read else None,
                round((identifier.names[said] if names_it else identifier.other) * identifier.probability, 4),
                identifier.box,
            )
        )
    name = figure.decided[place]
    given = figure.names[name] if name is not None else None
    order, belief = figure.found.orders[0]
    kind = "position" if order == BY_PLACE else "order"
    items.append(Evidence(kind, order, given if kind == "position" else None, given, round(belief, 4)))
    counts = f"{len(figure.panels)} panels, {len(figure.names)} names"
    items.append(Evidence("count", "caption", counts, None, round(figure.split.confidence, 4)))
    return tuple(sorted(items, key=lambda item: -item.confidence))


def _joined(panels: Sequence[Panel], printed: Sequence[PrintedIdentifier]) -> list[Panel]:
    """Join panels that got one name: parts printed "a1", "a2", or all panels of a "top row" (guide: top level only).

    They stay apart where the joined box would reach into another panel.
    """
    groups: dict[str, list[int]] = {}
    for index, panel in enumerate(panels):
        if panel.subcaption is not None:
            groups.setdefault(normalised_identifier(panel.identifier), []).append(index)
    joined: dict[int, Panel] = {}
    absorbed: set[int] = set()
    for places in groups.values():
        members = [panels[i] for i in places]
        box = union_box(panel.box for panel in members)
        others = [panel for i, panel in enumerate(panels) if i not in places]
        if len(places) < 2 or any(covered_fraction(other.box, box) > JOINED_OVERLAP for other in others):
            continue
        surest = max(members, key=lambda panel: panel.confidence)
        joined[places[0]] = replace(
            surest,
            ordinal=members[0].ordinal,
            members=tuple(part for panel in members for part in panel.members),
            box=box,
            content_box=union_box(panel.content_box for panel in members),
            score=min(panel.score for panel in members),
            confidence=min(panel.confidence for panel in members),
            printed_identifiers=tuple(
                item for item in printed if any(item in panel.printed_identifiers for panel in members)
            ),
            evidence=tuple(item for panel in members for item in panel.evidence),
        )
        absorbed.update(places[1:])
    return [joined.get(i, panel) for i, panel in enumerate(panels) if i not in absorbed]
