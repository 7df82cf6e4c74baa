"""A verdict becomes rows of `panel_assembly`: subcaptions on panels, panels made of images, reasons for
what is undecided.

The subcaption is always the caption's own, by its name: the model's words are evidence and nothing else. What is
printed and was read surely is believed before the model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

from pmo_assets.pipeline.assembly.membership import belongs
from pmo_assets.pipeline.assembly.unassigned_images import with_all_images
from pmo_assets.pipeline.assembly.vision.decisions import Decision
from pmo_assets.pipeline.assembly.vision.question import AskedPanel, FigureQuestion
from pmo_assets.pipeline.assembly.vision.verdict import Settled, Verdict
from pmo_assets.records.geometry import as_box, reading_order, union_box
from pmo_assets.records.identifiers import normalised_identifier
from pmo_assets.records.panels import ADJUDICATED, BY_MODEL, Evidence
from pmo_assets.records.step_output import Row, figure_key
from pmo_assets.records.subcaptions import CaptionSplit, Subcaption
from pmo_assets.tables.panels import panel_image

STRONG_PRINT: Final = 0.9
"""Confidence of a printed identifier from which on a model that says otherwise is not believed."""

EVIDENCE: Final = "vision model"
"""Kind of the evidence that the model says it sees."""

IMAGE_GROUP: Final = "image group"
"""Method of a panel that was made of images, because no detected panel held just these."""

_METHODS: Final = {"print": "identifier", "place": "position"}
_UNDECIDED: Final = ("identifier", "subcaption", "segments", "caption_confidence", "method", "assembly")

Outcome = Literal["agreed", "adjudicated", "rejected", "left undecided"]
"""What became of an undecided panel, or where a panel that was made of images comes from."""


@dataclass(frozen=True, slots=True)
class Applied:
    """A figure's rows after the model's verdict.

    Attributes:
        rows: of `panel_assembly`.
        outcomes: how many panels came to what.
    """

    rows: list[Row]
    outcomes: Counter[Outcome]


@dataclass(frozen=True, slots=True)
class FigureFacts:
    """What is known of a figure whose panels were asked about.

    Attributes:
        panels: its rows of `panel_assembly`.
        identifiers: rows of `panel_detections` of its printed identifiers.
        images: its rows of `image_detections`.
        split: its subcaptions.
    """

    panels: Sequence[Row]
    identifiers: Sequence[Mapping[str, Any]]
    images: Sequence[Mapping[str, Any]]
    split: CaptionSplit

    def subcaption(self, name: str) -> Subcaption:
        """Return the subcaption of a name that the caption has."""
        return next(sub for sub in self.split.subcaptions if sub.identifier == name)


def with_verdict(question: FigureQuestion, verdict: Verdict, facts: FigureFacts, model: str) -> Applied:
    """Return a figure's rows with what a verdict says of its undecided panels; final ones come back as they are.

    Args:
        question: what was asked.
        verdict: what the answers come to.
        facts: the figure's rows.
        model: who answered.
    """
    rows = {panel.id: row for panel in question.panels for row in facts.panels if row["ordinal"] == panel.ordinal}
    changed: dict[str, tuple[Row | None, Outcome]] = {
        panel.id: (_as_it_was(question, panel, verdict, rows[panel.id]), "left undecided")
        for panel in question.undecided_panels
    }
    groups: list[Settled] = []
    for item in verdict.settled:
        panel = _panel_of(question, item.decision)
        if panel is not None:
            changed[panel] = _decided(question, facts, rows[panel], item, model)
        elif item.decision.name is not None:
            groups.append(item)
    taken = _taken_groups(question, rows, groups, changed)
    kept = [changed[panel][0] if panel in changed else row for panel, row in rows.items()]
    made = [_made_of_images(question, facts, rows, item, model) for item in taken]
    outcomes = Counter([outcome for row, outcome in changed.values() if row is not None])
    outcomes.update(_outcome(item) for item in taken)
    after = [*(row for row in kept if row is not None), *_numbered(facts.panels, made)]
    return Applied(with_all_images(facts.panels, after), outcomes)


def _panel_of(question: FigureQuestion, decision: Decision) -> str | None:
    """Return the panel that a decision is about; of a group of images, the undecided panel that holds just these."""
    if decision.panel is not None or decision.name is None:
        return decision.panel
    holders = {image.panel for image in question.images if image.id in decision.images}
    panel = next(iter(holders))
    own = {image.id for image in question.images if image.panel == panel}
    return panel if len(holders) == 1 and own == decision.images else None


def _as_it_was(question: FigureQuestion, panel: AskedPanel, verdict: Verdict, row: Row) -> Row:
    """Return the row of an undecided panel that nothing is decided about, with the reason where there is one."""
    own = {panel.id, *(image.id for image in question.images if image.panel == panel.id)}
    reasons = sorted({verdict.contested[subject] for subject in own & verdict.contested.keys()})
    left_out = any(item.decision.name is None and item.decision.images & own for item in verdict.settled)
    if not reasons and left_out:
        reasons = ["the vision model left out what is in it"]
    return open_because(row, "; ".join(reasons))


def open_because(row: Row, reason: str) -> Row:
    """Return a row that stays as rules left it, with the reason why the model changes nothing."""
    return {**row, "reason": "; ".join(part for part in (row["reason"], reason) if part)}


def _contradicting(row: Mapping[str, Any], name: str | None) -> str | None:
    """Return what is printed in a panel, read surely, and not what the model says; None when there is nothing."""
    for item in row["evidence"]:
        said = item["identifier"]
        sure = item["kind"] == "identifier" and said is not None and item["confidence"] >= STRONG_PRINT
        if sure and normalised_identifier(said) != normalised_identifier(name):
            return str(said)
    return None


def _contradiction(row: Row, name: str | None, printed: str) -> Row:
    claim = "no subcaption belongs to it" if name is None else f"it is “{name}”"
    return open_because(row, f"the vision model says that {claim}, but “{printed}” is printed in it")


def _decided(
    question: FigureQuestion, facts: FigureFacts, row: Row, item: Settled, model: str
) -> tuple[Row | None, Outcome]:
    name = item.decision.name
    printed = _contradicting(row, name)
    if printed is not None:
        return _contradiction(row, name, printed), "left undecided"
    if name is None:
        return _rejected(row, item, model), "rejected"
    method = _METHODS[item.decision.grounds]
    assigned = {**row, **_assigned(facts, row, item, name, method, model)}
    return _with_labels(question, facts, assigned, item.decision), _outcome(item)


def _outcome(item: Settled) -> Outcome:
    return "adjudicated" if item.adjudicated else "agreed"


def _rejected(row: Row, item: Settled, model: str) -> Row:
    candidate, sure = _candidates(row)[0]
    said = Evidence(EVIDENCE, model, "no subcaption belongs to it", None, item.decision.confidence)
    return {
        **row,
        **dict.fromkeys(_UNDECIDED),
        "confidence": sure,
        "runner_up": candidate,
        "runner_up_confidence": sure,
        "evidence": [_evidence_row(said), *row["evidence"]],
        "reason": f"the vision model says that no subcaption belongs to it ({_votes(item)})",
    }


def _assigned(
    facts: FigureFacts, row: Mapping[str, Any], item: Settled, name: str, method: str, model: str
) -> dict[str, Any]:
    """Return the columns of a panel that gets a subcaption."""
    subcaption, decision = facts.subcaption(name), item.decision
    others = [(other, sure) for other, sure in _candidates(row) if other not in (None, name)]
    runner_up, second = others[0] if others else (None, 0.0)
    seen = [
        Evidence(EVIDENCE, model, f"{seen.what}: {seen.text}", name, decision.confidence, seen.box)
        for seen in decision.seen
    ]
    settled = "settled by a third" if item.adjudicated else "which agree"
    return {
        "identifier": name,
        "subcaption": subcaption.text,
        "segments": [list(segment) for segment in subcaption.segments],
        "caption_confidence": facts.split.confidence,
        "method": method,
        "assembly": ADJUDICATED if item.adjudicated else BY_MODEL,
        "confidence": item.confidence,
        "runner_up": runner_up,
        "runner_up_confidence": second,
        "evidence": [*map(_evidence_row, seen), *row["evidence"]],
        "reason": f"{_votes(item)} of the vision model, {settled}",
    }


def _candidates(row: Mapping[str, Any]) -> list[tuple[str | None, float]]:
    """Return the identifiers that rules found likely for a panel, the likeliest first; at least one entry."""
    found = [(row["identifier"] if row["subcaption"] is not None else None, row["confidence"])]
    found.append((row["runner_up"], row["runner_up_confidence"]))
    return [(name, sure) for name, sure in found if name is not None] or [(None, 0.0)]


def _votes(item: Settled) -> str:
    return f"{item.agreeing} of {item.answers} answers"


def _evidence_row(evidence: Evidence) -> Row:
    return {**asdict(evidence), "box": None if evidence.box is None else list(evidence.box)}


def _with_labels(question: FigureQuestion, facts: FigureFacts, row: Row, decision: Decision) -> Row:
    """Return a row that holds the labels that decided it: its content box reaches around them."""
    used = {label.detection for label in question.labels for seen in decision.seen if seen.label == label.id}
    own = {item["id"] for item in row["printed_identifiers"]}
    added = [_printed(item) for item in facts.identifiers if item["detection_id"] in used - own]
    boxes = [as_box(row["content_box"]), *(seen.box for seen in decision.seen if seen.box is not None)]
    return {
        **row,
        "printed_identifiers": [*row["printed_identifiers"], *added],
        "content_box": list(union_box(boxes)),
    }


def _printed(row: Mapping[str, Any]) -> Row:
    return {"id": row["detection_id"], "box": list(row["box"]), "score": row["score"], "text": row["text"]}


def _taken_groups(
    question: FigureQuestion,
    rows: Mapping[str, Row],
    groups: Sequence[Settled],
    changed: dict[str, tuple[Row | None, Outcome]],
) -> list[Settled]:
    """Return the groups of images that make panels; the panels that held these images go, or keep what is left."""
    taken: list[Settled] = []
    moved: set[str] = set()
    for item in groups:
        holders = _holders(question, item.decision)
        printed = {panel: _contradicting(rows[panel], item.decision.name) for panel in holders}
        if any(printed.values()):
            for panel, said in printed.items():
                if said is not None:
                    changed[panel] = _contradiction(rows[panel], item.decision.name, said), "left undecided"
            continue
        taken.append(item)
        moved |= item.decision.images
    for panel in {holder for item in taken for holder in _holders(question, item.decision)}:
        gone = {image.detection for image in question.images if image.id in moved}
        row = changed[panel][0] or rows[panel]
        left = [image for image in row["images"] if image["id"] not in gone]
        rest = open_because({**row, "images": left}, "the vision model put other images of it into panels of their own")
        changed[panel] = (rest if left else None), "left undecided"
    return taken


def _holders(question: FigureQuestion, decision: Decision) -> list[str]:
    """Return the undecided panels that hold images of a group, in order."""
    held = {image.panel for image in question.images if image.id in decision.images}
    return [panel.id for panel in question.undecided_panels if panel.id in held]


def _made_of_images(
    question: FigureQuestion, facts: FigureFacts, rows: Mapping[str, Row], item: Settled, model: str
) -> Row:
    """Return the row of a panel that is the union of a group's images; its ordinal comes later."""
    name = item.decision.name
    assert name is not None
    detections = {image.detection for image in question.images if image.id in item.decision.images}
    images = [row for row in facts.images if row["detection_id"] in detections]
    box = union_box(as_box(row["box"]) for row in images)
    replaced = [rows[panel] for panel in _holders(question, item.decision)]
    members = {member["ordinal"]: member for row in replaced for member in row["members"]}
    printed = {label["id"]: label for row in replaced for label in row["printed_identifiers"]}
    before: Row = {
        "identifier": None,
        "subcaption": None,
        "confidence": 0.0,
        "runner_up": None,
        "runner_up_confidence": 0.0,
        "evidence": [],
    }
    return {
        **figure_key(images[0]),
        "members": [members[number] for number in sorted(members)],
        "box": list(box),
        "content_box": list(box),
        "score": min(row["score"] for row in images),
        **_assigned(facts, before, item, name, IMAGE_GROUP, model),
        "printed_identifiers": [label for label in printed.values() if belongs(as_box(label["box"]), box) > 0],
        "images": [panel_image(row) for row in images],
        "unassigned_images": [],
        "made_of_image": False,
        "wanted": True,
    }


def _numbered(panels: Sequence[Row], made: Sequence[Row]) -> list[Row]:
    """Return new rows with ordinals behind all that the figure has, so that no panel changes its id."""
    used = [number for row in panels for number in (row["ordinal"], *(item["ordinal"] for item in row["members"]))]
    first = max(used, default=-1) + 1
    order = reading_order([as_box(row["box"]) for row in made])
    return [{**made[place], "ordinal": first + number} for number, place in enumerate(order)]
