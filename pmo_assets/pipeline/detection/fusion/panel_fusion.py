"""Panels by structure and network together: identifiers first, then the best set of disjoint panels.

Identifiers decide where panels are. Where the structure does not find what the caption names, the network's identifiers
take their places before the figure is cut; where the caption names nothing, but A, B, C … are printed, these are the
names (`identifier_reading.py`). The parts that the structure cuts and the panels that the network sees then compete:

* a structural panel that the network sees, too, counts more, one that it does not see, or that is hardly more than its
  identifier, less;
* a panel of the network counts as much as it fits to the identifiers: one each;
* chosen are those disjoint panels whose scores and share of the figure add up to most, as many as there are names.

This mixture, the structural panels and the network's are three options, of which `panel_choice` takes the one that fits
the figure best. A panel without an identifier gets the network's, unread, if there is one in it.

A picture without a caption (`FigureView.caption_known`) whose print names as many panels as the network sees is treated
like one whose caption names them; any other one is split by what is seen (`bare_panels.py`).

`source` of every box says where it came from; edges of the network's panels are moved to those of the picture.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pmo_assets.pipeline.detection.fusion.bare_panels import bare_panels
from pmo_assets.pipeline.detection.fusion.cell_letters import CellLetters, letters_in_cells
from pmo_assets.pipeline.detection.fusion.disjoint import disjoint_choice
from pmo_assets.pipeline.detection.fusion.panel_choice import FigureEvidence, Source, judged, scored
from pmo_assets.pipeline.detection.fusion.unnamed_panels import (
    are_apart,
    holds_centre,
    is_mostly_confirmed,
    named_by_print,
    separate,
    with_further,
)
from pmo_assets.pipeline.detection.networks.onnx_detectors import FigureNetwork, as_box, network_panels
from pmo_assets.pipeline.detection.protocols import BoxNetwork, NetworkBoxes
from pmo_assets.pipeline.detection.structure.bare_parts import bare_parts
from pmo_assets.pipeline.detection.structure.gutters import Canvas, canvas_of, normalised_box, pixel_rect
from pmo_assets.pipeline.detection.structure.identifier_reading import PrintedBox, named_boxes
from pmo_assets.pipeline.detection.structure.identifiers import (
    Identifier,
    find_identifiers,
    is_positional,
    is_word,
    live_candidates,
    sequence_names,
    sequence_rank,
)
from pmo_assets.pipeline.detection.structure.letter_series import letter_glyphs, letter_series
from pmo_assets.pipeline.detection.structure.panels import (
    OF_EVEN_SHARE,
    PrintedNames,
    glyph_share,
    is_confirmed,
    printed_names,
    structure_panels,
)
from pmo_assets.pipeline.detection.structure.snapping import REACH, snapped_box
from pmo_assets.records.detections import FigureView, PanelDetection
from pmo_assets.records.geometry import (
    Box,
    area,
    covered_fraction,
    expand,
    matched_boxes,
    non_maximum_suppression,
)


@dataclass(frozen=True, slots=True)
class PanelFusionOptions:
    """Weights and thresholds between the panels of structure and network.

    Attributes:
        printed: score from which an identifier of the network takes the place of one that the structure has not found.
        panel: score from which a panel of the network is considered.
        least: score from which a panel of the network is used where the structure separates nothing.
        alike: IoU from which two panels are the same.
        touching: part of the smaller of two panels up to which they may overlap.
        cost: price of a chosen panel, in score: weaker ones are chosen only for the part of the figure they cover.
        coverage: reward, in score, when chosen panels cover the whole figure, as panels do.
        unconfirmed: factor of the score of a structural panel where the network sees none like it.
        small: factor of the score of a panel that has less than a tenth of an even share of the figure.
        weak: score from which a panel of the network is taken where all of its panels are.
        unread: factor of the score of an identifier that only the network sees and nobody has read.
    """

    printed: float = 0.3
    panel: float = 0.3
    least: float = 0.55
    alike: float = 0.5
    touching: float = 0.3
    cost: float = 0.25
    coverage: float = 0.6
    unconfirmed: float = 0.8
    small: float = 0.5
    weak: float = 0.25
    unread: float = 0.7


PLAUSIBLE = 0.1
"""Part of an even share of the figure that a panel has at least: less is a speck beside its letter."""

SURELY_READ, CLEAR = 0.8, 0.9
"""Likeness from which the shape of a letter is no other's, and score of panels that clear gutters part."""

PLATE = 4.0
"""A box of less than so many times the area of the letter in its middle is the letter's plate."""

INSIDE, FILLED = 0.9, 0.75
"""Parts of a panel lie in it with this share of their area, and take this share of it together."""


def fused_panels(
    view: FigureView,
    structural: Sequence[PanelDetection],
    boxes: NetworkBoxes,
    options: PanelFusionOptions | None = None,
) -> list[PanelDetection]:
    """Return panels and identifiers of a figure from the structural ones and the network's; see the module's text."""
    options = options or PanelFusionOptions()
    if len(view.caption_identifiers) < 2:
        return list(structural)
    found = [p for p in network_panels(boxes) if p.score >= options.panel]
    candidates = [p for p in found if p.kind == "panel"]
    candidates = [
        candidates[k]
        for k in non_maximum_suppression([p.box for p in candidates], [p.score for p in candidates], options.alike)
    ]
    identifiers = [p for p in structural if p.kind == "identifier"]
    panels = [p for p in structural if p.kind == "panel"]
    if len(panels) == 1 and panels[0].source == "figure":
        sure = [p for p in candidates if p.score >= options.least]
        kept = non_maximum_suppression([p.box for p in sure], [p.score for p in sure])[: len(view.caption_identifiers)]
        # Fewer than half of the names would leave more panels out than it separates.
        if 2 * len(kept) <= len(view.caption_identifiers):
            return list(structural)
        return [*_exact(view, [sure[k] for k in sorted(kept)]), *identifiers]
    every = [*_confirmed(panels, candidates, options), *candidates]
    complete = len(identifiers) >= len(view.caption_identifiers)
    belief = [
        p.score
        * (_plausible(p.box, identifiers, complete) if p.source == "network" else _substance(p.box, identifiers))
        * (options.small if area(p.box) < 0.1 / len(view.caption_identifiers) else 1)
        for p in every
    ]  # fmt: skip
    values = [b - options.cost + options.coverage * area(p.box) for b, p in zip(belief, every, strict=True)]
    kept = disjoint_choice([p.box for p in every], values, options.touching, len(view.caption_identifiers))
    return [*_exact(view, [replace(every[k], score=belief[k]) for k in kept]), *identifiers]


@dataclass(frozen=True, slots=True)
class PanelOptions:
    """A figure's panels by each source, its printed identifiers, and the evidence beside them."""

    panels: Mapping[Source, Sequence[PanelDetection]]
    identifiers: tuple[PanelDetection, ...]
    evidence: FigureEvidence


def panel_options(
    view: FigureView,
    printed: PrintedNames,
    structural: Sequence[PanelDetection],
    boxes: NetworkBoxes,
    options: PanelFusionOptions,
) -> PanelOptions:
    """Return the options from which `chosen_panels` takes one."""
    mixture = fused_panels(replace(view, caption_identifiers=printed.names), structural, boxes, options)
    panels: dict[Source, Sequence[PanelDetection]] = {
        "structure": [p for p in structural if p.kind == "panel"],
        "mixture": [p for p in mixture if p.kind == "panel"],
        "network": network_option(boxes, options),
    }
    identifiers = tuple(p for p in mixture if p.kind == "identifier")
    return PanelOptions(panels, identifiers, evidence_of(view, printed))


def chosen_panels(
    view: FigureView,
    printed: PrintedNames,
    structural: Sequence[PanelDetection],
    boxes: NetworkBoxes,
    options: PanelFusionOptions | None = None,
) -> list[PanelDetection]:
    """Return panels and identifiers of a figure: those of the source that fits it best; see `panel_choice`."""
    options = options or PanelFusionOptions()
    if len(printed.names) < 2:
        return list(structural)
    if is_exact(view, printed, structural):
        return list(structural)
    every = panel_options(view, printed, structural, boxes, options)
    best = judged(every.panels, every.evidence)
    panels = scored(best)
    if best.source == "network":
        panels = _exact(view, panels)
    if any(is_positional(name) or is_word(name) for name in printed.names):
        return [*panels, *every.identifiers]  # places and words are not printed as letters are
    return _with_unread(panels, every.identifiers, boxes, options)


def is_exact(view: FigureView, printed: PrintedNames, structural: Sequence[PanelDetection]) -> bool:
    """Say whether structure alone settles a figure, so that a network could only make it worse.

    Live text tells where each identifier is, and each has a panel of plausible size; or the PDF tells where bitmaps
    are, each identifier is surely read, and clear gutters part them.
    """
    panels = [p for p in structural if p.kind == "panel"]
    if not printed.complete or len(panels) != len(printed.names):
        return False
    least = min(area(p.box) for p in panels) * len(panels)
    places = [place for own in printed.places for place in own]
    if all(place.source == "text" for place in places):
        return least >= PLAUSIBLE
    sure = all(place.text_score >= SURELY_READ for place in places) and len(places) == len(panels)
    return view.is_live and sure and least >= OF_EVEN_SHARE and min(p.score for p in panels) >= CLEAR


def network_option(boxes: NetworkBoxes, options: PanelFusionOptions) -> list[PanelDetection]:
    """Return the network's panels that do not show the same, as they are without any structure.

    The plate of a letter, which the network takes for a small panel at times, is none.
    """
    seen = network_panels(boxes)
    letters = [p.box for p in seen if p.kind == "identifier" and p.score >= options.printed]
    found = [p for p in seen if p.kind == "panel" and p.score >= options.weak and not is_plate(p.box, letters)]
    return [found[k] for k in non_maximum_suppression([p.box for p in found], [p.score for p in found])]


def is_plate(box: Box, letters: Sequence[Box]) -> bool:
    """Say whether a box is hardly more than the letter in its middle."""
    inside = [letter for letter in letters if holds_centre(box, letter)]
    return any(area(box) < PLATE * area(letter) and holds_centre(letter, box) for letter in inside)


def evidence_of(view: FigureView, printed: PrintedNames) -> FigureEvidence:
    """Return the evidence of a figure's panels beside the panels themselves."""
    tall, wide = printed.canvas.ink.shape
    identifiers = tuple(
        (normalised_box(place.rect, wide, tall), place.text_score) for places in printed.places for place in places
    )
    known = sum(map(bool, printed.places))
    single = all(len(own) <= 1 for own in printed.places)
    return FigureEvidence(len(printed.names), identifiers, view.is_live, 2 * known >= len(printed.names) and single)


def _with_unread(
    panels: Sequence[PanelDetection],
    identifiers: Sequence[PanelDetection],
    boxes: NetworkBoxes,
    options: PanelFusionOptions,
) -> list[PanelDetection]:
    """Return panels and identifiers, among them the network's best one in each panel that has none."""
    seen = [p for p in network_panels(boxes) if p.kind == "identifier" and p.score >= options.printed]
    free = [p for p in seen if not any(holds_centre(p.box, i.box) or holds_centre(i.box, p.box) for i in identifiers)]
    added: list[PanelDetection] = []
    for panel in panels:
        if any(holds_centre(panel.box, i.box) for i in identifiers):
            continue
        inside = [p for p in free if holds_centre(panel.box, p.box)]
        if inside:
            best = max(inside, key=lambda p: p.score)
            added.append(replace(best, score=best.score * options.unread))
    return [*panels, *identifiers, *dict.fromkeys(added)]


def _exact(view: FigureView, panels: Sequence[PanelDetection]) -> list[PanelDetection]:
    """Return the panels with the edges of the network's moved to those of the picture."""
    if all(p.source != "network" for p in panels):
        return list(panels)
    canvas = canvas_of(view.pixels, (), glyph_share(view))
    return [replace(p, box=snapped_box(canvas, p.box)) if p.source == "network" else p for p in panels]


def _confirmed(
    panels: Sequence[PanelDetection], candidates: Sequence[PanelDetection], options: PanelFusionOptions
) -> list[PanelDetection]:
    """Return the structural panels with a higher score where the network sees the same and a lower one elsewhere."""
    same = matched_boxes([p.box for p in panels], [c.box for c in candidates], options.alike)
    result = []
    for i, panel in enumerate(panels):
        seen = candidates[same[i]].score if i in same else _seen_in_parts(panel, candidates)
        score = panel.score * options.unconfirmed if seen is None else 1 - (1 - panel.score) * (1 - seen)
        result.append(replace(panel, score=score))
    return result


def _seen_in_parts(panel: PanelDetection, candidates: Sequence[PanelDetection]) -> float | None:
    """Return the least score of the network's panels that together are a panel between gutters; None without any.

    The network takes pictures of one panel for panels; gutters that give as many parts as there are names do not.
    """
    if panel.source != "gutter":
        return None
    parts = [c for c in candidates if covered_fraction(c.box, panel.box) >= INSIDE]
    covered = sum(area(c.box) for c in parts)
    return min(c.score for c in parts) if len(parts) >= 2 and covered >= FILLED * area(panel.box) else None


def _substance(box: Box, identifiers: Sequence[PanelDetection]) -> float:
    """Return how much of its score a structural panel keeps: it is more than the identifier it was cut around."""
    own = sum(area(i.box) for i in identifiers if holds_centre(box, i.box))
    return 0.3 if area(box) < 6 * own else 1.0


def _plausible(box: Box, identifiers: Sequence[PanelDetection], complete: bool) -> float:
    """Return how much of its score a panel of the network keeps: a panel has one identifier.

    Args:
        box: of the panel.
        identifiers: those of the figure.
        complete: all identifiers of the figure are known, so that a panel without any is none.
    """
    inside = sum(holds_centre(box, i.box) for i in identifiers)
    if inside == 0 and sum(holds_centre(expand(box, REACH), i.box) for i in identifiers) == 1:
        return 0.9
    return (0.4 if complete else 0.85, 1.0, 0.3)[min(inside, 2)]


def completed(printed: PrintedNames, boxes: NetworkBoxes, options: PanelFusionOptions | None = None) -> PrintedNames:
    """Return the names of a figure's panels with places of identifiers that only the network sees."""
    options = options or PanelFusionOptions()
    missing = [
        i for i, places in enumerate(printed.places) if not places and not is_positional(printed.names[i])
    ]  # fmt: skip
    tall, wide = printed.canvas.ink.shape
    known = [normalised_box(p.rect, wide, tall) for places in printed.places for p in places]
    labels = _labels(printed, boxes, options)
    identifiers = [normalised_box(label.rect, wide, tall) for label in labels]
    free = [
        label
        for label, box in zip(labels, identifiers, strict=True)
        if not any(holds_centre(box, k) or holds_centre(k, box) for k in known)
    ]
    found = named_boxes(printed.canvas.rgb, free, [printed.names[i] for i in missing])
    places = list(printed.places)
    for k, own in found.items():
        name = printed.names[missing[k]]
        places[missing[k]] = tuple(
            Identifier(name, box.rect, "plain", "network", box.score, box.likeness) for box in own
        )
    return replace(printed, places=tuple(places))


def _labels(printed: PrintedNames, boxes: NetworkBoxes, options: PanelFusionOptions) -> list[PrintedBox]:
    """Return the network's boxes of identifiers that count, pixels of the canvas."""
    tall, wide = printed.canvas.ink.shape
    return [
        PrintedBox(pixel_rect(as_box(box), wide, tall), float(score))
        for box, score in zip(boxes.boxes["label"], boxes.scores["label"], strict=True)
        if score >= options.printed
    ]


def _panels(boxes: NetworkBoxes, options: PanelFusionOptions) -> list[tuple[Box, float]]:
    """Return the network's panels that count, with their scores."""
    scored = zip(boxes.boxes["panel"], boxes.scores["panel"], strict=True)
    return [(as_box(box), float(score)) for box, score in scored if score >= options.panel]


def _lettered(view: FigureView, printed: PrintedNames) -> PrintedNames:
    """Return a, b, c … or i, ii, iii … with their places when live text in one style says so; else no names."""
    live = live_candidates(view, printed.canvas)
    series = [sequence_names([c for c in live if c.style == style]) for style in dict.fromkeys(c.style for c in live)]
    names = max(filter(None, series), key=sequence_rank, default=())
    _, found = find_identifiers(replace(view, caption_identifiers=names), printed.canvas) if names else ((), [])
    return replace(printed, names=names, places=tuple(tuple(places) for places in found))


class EnsemblePanelDetector:
    """Structure and network as one `protocols.PanelDetector`; the network is asked only where it may add something."""

    def __init__(self, network: BoxNetwork | None = None, options: PanelFusionOptions | None = None) -> None:
        """Use a network (None: the shipped one)."""
        self.network, self.options = network or FigureNetwork(), options or PanelFusionOptions()

    def __call__(self, views: Sequence[FigureView]) -> list[list[PanelDetection]]:
        """Return panels and identifiers per figure."""
        printed = [printed_names(view) for view in views]
        asked = [k for k, names in enumerate(printed) if len(names.names) != 1]
        plain = {k: structure_panels(views[k], printed[k]) for k in asked if printed[k].names}
        settled = {k for k, found in plain.items() if is_exact(views[k], printed[k], found)}
        asked = [k for k in asked if k not in settled]
        seen = dict(zip(asked, self.network([views[k] for k in asked]), strict=True))
        return [
            self._fused(view, names, seen[k], plain.get(k, ())) if k in seen else plain[k] if k in plain
            else structure_panels(view, names)
            for k, (view, names) in enumerate(zip(views, printed, strict=True))
        ]  # fmt: skip

    def _named(self, view: FigureView, printed: PrintedNames, boxes: NetworkBoxes) -> PrintedNames:
        """Return the names that print gives a figure whose caption leaves them open."""
        for others in view.alternative_identifiers:
            _, found = find_identifiers(replace(view, caption_identifiers=others), printed.canvas)
            other = replace(printed, names=others, places=tuple(tuple(places) for places in found))
            other = completed(other, boxes, self.options)
            if is_confirmed(view, other):
                return other
        lettered = _lettered(view, printed)
        identifiers = [PrintedBox(places[0].rect, 1.0) for places in lettered.places if places]
        tall, wide = printed.canvas.ink.shape
        panels = [box for box, _ in _panels(boxes, self.options)]
        if lettered.names and are_apart(identifiers, panels, (wide, tall)) and is_confirmed(view, lettered):
            return lettered
        named = named_by_print(printed, _labels(printed, boxes, self.options), _panels(boxes, self.options))
        shaped = self._shaped(view, printed, boxes)
        return shaped if shaped.names and len(shaped.names) >= len(named.names) else named

    def _shaped(self, view: FigureView, printed: PrintedNames, boxes: NetworkBoxes) -> PrintedNames:
        """Return the names that letters give a figure at its own resolution; none where nothing confirms them."""
        seen = _panels(boxes, self.options)
        grids = [cells for cells in (separate(seen), bare_parts(printed.canvas)) if len(cells) > 1]
        if not grids:
            return printed
        found = _in_cells(printed.canvas, grids, _labels(printed, boxes, self.options))
        if not any(option.read == 1 for option in found):
            glyphs = letter_glyphs(printed.canvas)
            found += _in_cells(printed.canvas, grids, [PrintedBox(glyph.rect, glyph.score) for glyph in glyphs])
            if not any(option.read == 1 for option in found):
                found += self._series(view, printed, boxes, glyphs)
        best = max(found, key=lambda option: (option.read, len(option.names)), default=None)
        return printed if best is None else replace(printed, names=best.names, places=best.places)

    def _series(
        self, view: FigureView, printed: PrintedNames, boxes: NetworkBoxes, glyphs: Sequence[Identifier]
    ) -> list[CellLetters]:
        """Return the longest series of isolated letters around which the figure can be cut."""
        seen = [box for box, _ in _panels(boxes, self.options)]
        tall, wide = printed.canvas.ink.shape
        for names, places in letter_series(printed.canvas, glyphs):
            shaped = completed(replace(printed, names=names, places=places), boxes, self.options)
            read = [PrintedBox(own[0].rect, 1.0) for own in shaped.places if own]
            if is_mostly_confirmed(view, shaped, apart=are_apart(read, seen, (wide, tall))):
                return [CellLetters(shaped.names, shaped.places)]
        return []

    def known(self, view: FigureView, printed: PrintedNames, boxes: NetworkBoxes) -> PrintedNames:
        """Return the names of a figure's panels and their places, with the network's additions."""
        if printed.names and printed.complete:
            return printed
        if not printed.names:
            printed = self._named(view, printed, boxes)
        printed = completed(printed, boxes, self.options)
        return with_further(printed, _labels(printed, boxes, self.options), _panels(boxes, self.options))

    def _count(self, boxes: NetworkBoxes) -> int:
        """Return how many panels the network is sure of."""
        return sum(p.score >= self.options.least for p in network_option(boxes, self.options))

    def _fused(
        self, view: FigureView, before: PrintedNames, boxes: NetworkBoxes, plain: Sequence[PanelDetection]
    ) -> list[PanelDetection]:
        """Return panels and identifiers; `plain` are those that structure makes of the names known before."""
        printed = self.known(view, before, boxes)
        if not view.caption_known and len(printed.names) < max(2, self._count(boxes)):
            return _with_unread(bare_panels(printed.canvas, boxes), (), boxes, self.options)
        structural = list(plain) if printed is before and plain else structure_panels(view, printed)
        if plain and view.is_live and any(is_word(name) for name in printed.names):
            # The network knows letters: what it takes for a word's place is good for the word, not for cutting.
            return [*(p for p in plain if p.kind == "panel"), *(p for p in structural if p.kind == "identifier")]
        return chosen_panels(view, printed, structural, boxes, self.options)


def _in_cells(canvas: Canvas, grids: Sequence[Sequence[Box]], letters: Sequence[PrintedBox]) -> list[CellLetters]:
    """Return the letters at one place of the cells of each grid, for the grids that have such letters."""
    return [found for cells in grids if (found := letters_in_cells(canvas, cells, letters)) is not None]
