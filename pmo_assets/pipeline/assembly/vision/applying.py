"""A verdict changes a figure's panels: subcaptions on panels, panels made of images, reasons for what is undecided.

The subcaption is always the caption's own, by its name: the model's words are evidence and nothing else. What is
printed and was read surely is believed before the model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from pmo_assets.pipeline.assembly.membership import belongs
from pmo_assets.pipeline.assembly.unassigned_images import with_all_images
from pmo_assets.pipeline.assembly.vision.decisions import Decision
from pmo_assets.pipeline.assembly.vision.question import AskedPanel, FigureQuestion
from pmo_assets.pipeline.assembly.vision.verdict import Settled, Verdict
from pmo_assets.records.geometry import reading_order, union_box
from pmo_assets.records.identifiers import normalised_identifier
from pmo_assets.records.panels import ADJUDICATED, BY_MODEL, Evidence, Panel, PrintedIdentifier

STRONG_PRINT: Final = 0.9
"""Confidence of a printed identifier from which on a model that says otherwise is not believed."""

EVIDENCE: Final = "vision model"
"""Kind of the evidence that the model says it sees."""

IMAGE_GROUP: Final = "image group"
"""Method of a panel that was made of images, because no detected panel held just these."""

_METHODS: Final = {"print": "identifier", "place": "position"}

Outcome = Literal["agreed", "adjudicated", "rejected", "left undecided"]
"""Outcome of an undecided panel, or origin of a panel that was made of images."""

_Changes = dict[str, tuple[Panel | None, Outcome]]
"""Undecided panels after the answer, with their outcomes, by id in the question; None if images replace a panel."""


@dataclass(frozen=True, slots=True)
class Applied:
    """A figure's panels after the model's verdict.

    Attributes:
        panels: decided or not.
        outcomes: number of panels by outcome.
    """

    panels: list[Panel]
    outcomes: Counter[Outcome]


def with_verdict(question: FigureQuestion, verdict: Verdict, panels: Sequence[Panel], model: str) -> Applied:
    """Return a figure's panels with a verdict applied to the undecided ones; final ones come back as they are.

    Args:
        question: the question.
        verdict: of the answers.
        panels: the figure's, those of the question.
        model: name of the model that answered.
    """
    asked = {item.id: item.panel for item in question.panels}
    changed: _Changes = {
        item.id: (_as_it_was(question, item, verdict), "left undecided") for item in question.undecided_panels
    }
    groups: list[Settled] = []
    for item in verdict.settled:
        panel = _panel_of(question, item.decision)
        if panel is not None:
            changed[panel] = _decided(question, asked[panel], item, model)
        elif item.decision.name is not None:
            groups.append(item)
    taken = _taken_groups(question, groups, changed)
    kept = [changed[name][0] if name in changed else panel for name, panel in asked.items()]
    made = [_made_of_images(question, item, model) for item in taken]
    outcomes = Counter([outcome for panel, outcome in changed.values() if panel is not None])
    outcomes.update(_outcome(item) for item in taken)
    after = [*(panel for panel in kept if panel is not None), *_numbered(panels, made)]
    return Applied(with_all_images(panels, after), outcomes)


def _panel_of(question: FigureQuestion, decision: Decision) -> str | None:
    """Return the panel that a decision is about; of a group of images, the undecided panel that holds just these."""
    if decision.panel is not None or decision.name is None:
        return decision.panel
    holders = {image.panel for image in question.images if image.id in decision.images}
    panel = next(iter(holders))
    own = {image.id for image in question.images if image.panel == panel}
    return panel if len(holders) == 1 and own == decision.images else None


def _as_it_was(question: FigureQuestion, asked: AskedPanel, verdict: Verdict) -> Panel:
    """Return an undecided panel that nothing is decided about, with the reason where there is one."""
    own = {asked.id, *(image.id for image in question.images if image.panel == asked.id)}
    reasons = sorted({verdict.contested[subject] for subject in own & verdict.contested.keys()})
    left_out = any(item.decision.name is None and item.decision.images & own for item in verdict.settled)
    if not reasons and left_out:
        reasons = ["the vision model left out what is in it"]
    return open_because(asked.panel, "; ".join(reasons))


def open_because(panel: Panel, reason: str) -> Panel:
    """Return a panel that stays as rules left it, with the reason why the model changes nothing."""
    return replace(panel, reason="; ".join(part for part in (panel.reason, reason) if part))


def _contradicting(panel: Panel, name: str | None) -> str | None:
    """Return the surely read print in a panel that contradicts the model's name; None when there is none."""
    for item in panel.evidence:
        said = item.identifier
        sure = item.kind == "identifier" and item.confidence >= STRONG_PRINT
        if sure and said is not None and normalised_identifier(said) != normalised_identifier(name):
            return said
    return None


def _contradiction(panel: Panel, name: str | None, printed: str) -> Panel:
    claim = "no subcaption belongs to it" if name is None else f"it is “{name}”"
    return open_because(panel, f"the vision model says that {claim}, but “{printed}” is printed in it")


def _decided(question: FigureQuestion, panel: Panel, item: Settled, model: str) -> tuple[Panel, Outcome]:
    name = item.decision.name
    printed = _contradicting(panel, name)
    if printed is not None:
        return _contradiction(panel, name, printed), "left undecided"
    if name is None:
        return _rejected(panel, item, model), "rejected"
    assigned = _assigned(question, panel, item, name, _METHODS[item.decision.grounds], model)
    return _with_labels(question, assigned, item.decision), _outcome(item)


def _outcome(item: Settled) -> Outcome:
    return "adjudicated" if item.adjudicated else "agreed"


def _rejected(panel: Panel, item: Settled, model: str) -> Panel:
    candidate, sure = _candidates(panel)[0]
    said = Evidence(EVIDENCE, model, "no subcaption belongs to it", None, item.decision.confidence)
    return replace(
        panel,
        identifier=None,
        subcaption=None,
        segments=None,
        caption_confidence=None,
        method=None,
        assembly=None,
        confidence=sure,
        runner_up=candidate,
        runner_up_confidence=sure,
        evidence=(said, *panel.evidence),
        reason=f"the vision model says that no subcaption belongs to it ({_votes(item)})",
    )


def _assigned(question: FigureQuestion, panel: Panel, item: Settled, name: str, method: str, model: str) -> Panel:
    """Return a panel that gets a subcaption."""
    subcaption = next(sub for sub in question.split.subcaptions if sub.identifier == name)
    decision = item.decision
    others = [(other, sure) for other, sure in _candidates(panel) if other not in (None, name)]
    runner_up, second = others[0] if others else (None, 0.0)
    seen = [
        Evidence(EVIDENCE, model, f"{seen.what}: {seen.text}", name, decision.confidence, seen.box)
        for seen in decision.seen
    ]
    settled = "settled by a third" if item.adjudicated else "which agree"
    return replace(
        panel,
        identifier=name,
        subcaption=subcaption.text,
        segments=subcaption.segments,
        caption_confidence=question.split.confidence,
        method=method,
        assembly=ADJUDICATED if item.adjudicated else BY_MODEL,
        confidence=item.confidence,
        runner_up=runner_up,
        runner_up_confidence=second,
        evidence=(*seen, *panel.evidence),
        reason=f"{_votes(item)} of the vision model, {settled}",
    )


def _candidates(panel: Panel) -> list[tuple[str | None, float]]:
    """Return the identifiers that rules found likely for a panel, the likeliest first; at least one entry."""
    found = [(panel.identifier if panel.subcaption is not None else None, panel.confidence)]
    found.append((panel.runner_up, panel.runner_up_confidence))
    return [(name, sure) for name, sure in found if name is not None] or [(None, 0.0)]


def _votes(item: Settled) -> str:
    return f"{item.agreeing} of {item.answers} answers"


def _with_labels(question: FigureQuestion, panel: Panel, decision: Decision) -> Panel:
    """Return a panel that holds the labels that decided it: its content box reaches around them."""
    used = {seen.label for seen in decision.seen}
    own = {item.id for item in panel.printed_identifiers}
    labels = [asked.label for asked in question.labels if asked.id in used and asked.label.detection_id not in own]
    added = [PrintedIdentifier(label.detection_id, label.box, label.score, label.text) for label in labels]
    return replace(
        panel,
        printed_identifiers=(*panel.printed_identifiers, *added),
        content_box=union_box([panel.content_box, *(seen.box for seen in decision.seen if seen.box is not None)]),
    )


def _taken_groups(question: FigureQuestion, groups: Sequence[Settled], changed: _Changes) -> list[Settled]:
    """Return the groups of images that make panels; the panels that held these images go, or keep what is left."""
    taken: list[Settled] = []
    moved: set[str] = set()
    for item in groups:
        holders = _holders(question, item.decision)
        printed = {holder: _contradicting(holder.panel, item.decision.name) for holder in holders}
        if any(printed.values()):
            for holder, said in printed.items():
                if said is not None:
                    changed[holder.id] = _contradiction(holder.panel, item.decision.name, said), "left undecided"
            continue
        taken.append(item)
        moved |= item.decision.images
    gone = {asked.image.id for asked in question.images if asked.id in moved}
    for holder in {holder for item in taken for holder in _holders(question, item.decision)}:
        panel = changed[holder.id][0] or holder.panel
        left = tuple(image for image in panel.images if image.id not in gone)
        why = "the vision model put other images of it into panels of their own"
        changed[holder.id] = (open_because(replace(panel, images=left), why) if left else None), "left undecided"
    return taken


def _holders(question: FigureQuestion, decision: Decision) -> list[AskedPanel]:
    """Return the undecided panels that hold images of a group, in order."""
    held = {image.panel for image in question.images if image.id in decision.images}
    return [asked for asked in question.undecided_panels if asked.id in held]


def _made_of_images(question: FigureQuestion, item: Settled, model: str) -> Panel:
    """Return the panel that is the union of a group's images; its ordinal comes later."""
    name = item.decision.name
    assert name is not None
    images = tuple(asked.image for asked in question.images if asked.id in item.decision.images)
    box = union_box(image.box for image in images)
    replaced = [holder.panel for holder in _holders(question, item.decision)]
    members = {member.ordinal: member for panel in replaced for member in panel.members}
    printed = {label.id: label for panel in replaced for label in panel.printed_identifiers}
    panel = Panel(
        ordinal=0,
        members=tuple(members[number] for number in sorted(members)),
        box=box,
        content_box=box,
        score=min(image.score for image in images),
        printed_identifiers=tuple(label for label in printed.values() if belongs(label.box, box) > 0),
        images=images,
        wanted=True,
    )
    return _assigned(question, panel, item, name, IMAGE_GROUP, model)


def _numbered(panels: Sequence[Panel], made: Sequence[Panel]) -> list[Panel]:
    """Return new panels with ordinals behind all that the figure has, so that no panel changes its id."""
    used = [number for panel in panels for number in (panel.ordinal, *(part.ordinal for part in panel.members))]
    order = reading_order([panel.box for panel in made])
    return [replace(made[place], ordinal=number) for number, place in enumerate(order, start=max(used, default=-1) + 1)]
