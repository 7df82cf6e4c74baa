"""The page of a case's instructions: each panel's picture and words, and every instruction with its evidence marked.

Belongs here: how rows are shown. Does not belong here: which rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from pmo_assets.records.geometry import Box
from pmo_assets.records.marked_words import SUBCAPTION, TRANSCRIPT, marked_parts, shown_evidence, text_name, text_place
from pmo_assets.viewing.markup import asset_text, number_text, page_templates
from pmo_assets.viewing.overlays import data_uri, picture_mime

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ShownInstruction:
    """An instruction to show.

    Attributes:
        row: of `instructions`.
        verdict: its row of `verdicts`; None without.
        boxes: of what it speaks of, as fractions of the panel's picture.
    """

    row: Row
    verdict: Row | None
    boxes: tuple[Box, ...] = ()


@dataclass(frozen=True, slots=True)
class InstructedPanel:
    """A panel to show.

    Attributes:
        panel_id: of the panel.
        texts: its subcaption, then its mentions; "" where there is none.
        cues: its row of `cues`.
        score: its row of `cue_scores`; None without.
        instructions: of the panel, in their order.
        picture: PNG, JPEG or WebP; None without.
        first_text: what the first text is.
    """

    panel_id: str
    texts: Sequence[str]
    cues: Row
    score: Row | None
    instructions: Sequence[ShownInstruction]
    picture: bytes | None = None
    first_text: str = SUBCAPTION


def instruction_page(title: str, panels: Sequence[InstructedPanel]) -> str:
    """Return the page as one HTML document that loads nothing and needs no script.

    Args:
        title: heading.
        panels: in their order.
    """
    every = [item for panel in panels for item in panel.instructions]
    kept = sum(bool(item.verdict and item.verdict["is_kept"]) for item in every)
    noun = "pictures" if panels and all(panel.first_text == TRANSCRIPT for panel in panels) else "panels"
    facts = [(noun, number_text(len(panels))), ("instructions", number_text(len(every))),
             ("kept by every check", number_text(kept))]  # fmt: skip
    return (
        page_templates()
        .get_template("instructions.html.j2")
        .render(
            title=title,
            facts=facts,
            panels=[_panel_view(panel) for panel in panels],
            styles=Markup(asset_text("page.css") + asset_text("instructions.css")),
        )
    )


def _panel_view(panel: InstructedPanel) -> dict[str, object]:
    mime = picture_mime(panel.picture) if panel.picture else None
    spans: dict[int, list[tuple[int, int, str]]] = {}
    for name in ("context", "scenes"):
        for cue in panel.cues[name]:
            kind = "scene" if name == "scenes" else "context"
            spans.setdefault(text_place(cue["mention"]), []).append((cue["start"], cue["end"], kind))
    texts = [
        (text_name(n, panel.first_text), marked_parts(text, spans.get(n, ())))
        for n, text in enumerate(panel.texts)
        if text
    ]
    score = panel.score
    told = (
        "" if score is None else ", ".join(f"{name} {score[name]}" for name in ("quality", "difficulty", "relevance"))
    )
    return {
        "name": panel.panel_id,
        "picture": Markup(data_uri(panel.picture, mime)) if panel.picture and mime else None,
        "texts": texts,
        "score": told,
        "is_kept": score is None or score["is_kept"],
        "instructions": [_instruction_view(item, panel) for item in panel.instructions],
        "boxes": [
            {"numbers": numbers, "place": _percent(box)} for box, numbers in _numbers(panel.instructions).items()
        ],
    }


def _numbers(items: Sequence[ShownInstruction]) -> dict[Box, str]:
    """The boxes that instructions speak of, each with their numbers."""
    found: dict[Box, list[int]] = {}
    for number, item in enumerate(items, start=1):
        for box in item.boxes:
            found.setdefault(box, []).append(number)
    return {box: ", ".join(map(str, numbers)) for box, numbers in found.items()}


def _instruction_view(item: ShownInstruction, panel: InstructedPanel) -> dict[str, object]:
    verdict = item.verdict
    evidence = shown_evidence(item.row["evidence"], panel.texts, panel.first_text)
    return {
        "row": item.row,
        "is_kept": verdict is not None and verdict["is_kept"],
        "verdict": _verdict_words(verdict),
        "evidence": evidence.texts,
        "others": evidence.others,
    }  # fmt: skip


def _verdict_words(verdict: Row | None) -> str:
    if verdict is None or not verdict["verdicts"]:
        return "no verdict"
    if verdict["is_kept"]:
        return "kept by every check"
    against = next(said for said in verdict["verdicts"] if said.get("verdict", "discard") == "discard")
    return f"discarded by {against['who']}, {against['criterion']}: {against['reason']}"


def _percent(box: Box) -> str:
    left, top, right, bottom = (round(100 * edge, 2) for edge in box)
    return f"left:{left}%;top:{top}%;width:{right - left:.2f}%;height:{bottom - top:.2f}%"
