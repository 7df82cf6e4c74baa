"""The page of a case's instructions: each panel's picture and words, and every instruction with its evidence marked.

Belongs here: how rows are shown. Does not belong here: which rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from markupsafe import Markup

from pmo_assets.records.geometry import Box
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
    """

    panel_id: str
    texts: Sequence[str]
    cues: Row
    score: Row | None
    instructions: Sequence[ShownInstruction]
    picture: bytes | None = None


def marked_parts(text: str, spans: Sequence[tuple[int, int, str]]) -> list[tuple[str, str]]:
    """Return a text cut where spans begin and end: parts in their order, each with the kind of its span, "" for none.

    Args:
        text: to cut.
        spans: start, end and kind; where several overlap the last counts. Ends beyond the text are cut to it.
    """
    size = len(text)
    held = [(max(0, min(start, size)), max(0, min(end, size)), kind) for start, end, kind in spans]
    edges = sorted({0, size, *(edge for start, end, _ in held for edge in (start, end))})
    parts: list[tuple[str, str]] = []
    for first, last in pairwise(edges):
        kind = next((kind for start, end, kind in reversed(held) if start <= first and last <= end), "")
        parts.append((text[first:last], kind))
    return parts


def instruction_page(title: str, panels: Sequence[InstructedPanel]) -> str:
    """Return the page as one HTML document that loads nothing and needs no script.

    Args:
        title: heading.
        panels: in their order.
    """
    every = [item for panel in panels for item in panel.instructions]
    kept = sum(bool(item.verdict and item.verdict["is_kept"]) for item in every)
    facts = [("panels", number_text(len(panels))), ("instructions", number_text(len(every))),
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
            spans.setdefault(_place(cue["mention"]), []).append((cue["start"], cue["end"], kind))
    texts = [(_text_name(n), marked_parts(text, spans.get(n, ()))) for n, text in enumerate(panel.texts) if text]
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
        "instructions": [_instruction_view(item, panel.texts) for item in panel.instructions],
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


def _instruction_view(item: ShownInstruction, texts: Sequence[str]) -> dict[str, object]:
    verdict = item.verdict
    last = verdict["verdicts"][-1] if verdict is not None and verdict["verdicts"] else None
    by_text: dict[int, list[tuple[int, int, str]]] = {}
    others: list[str] = []
    for piece in item.row["evidence"]:
        place = _place(piece["mention"])
        if piece["start"] is None or piece["end"] is None or not place < len(texts):
            others.append(f"{piece['kind']}: {piece['text']}")
        else:
            by_text.setdefault(place, []).append((piece["start"], piece["end"], "evidence"))
    return {
        "row": item.row,
        "is_kept": verdict is not None and verdict["is_kept"],
        "verdict": "no verdict" if last is None else "kept by every check" if verdict is not None and verdict["is_kept"]
        else f"discarded by {last['who']}, {last['criterion']}: {last['reason']}",
        "evidence": [(_text_name(n), marked_parts(texts[n], spans)) for n, spans in sorted(by_text.items())],
        "others": others,
    }  # fmt: skip


def _place(mention: int | None) -> int:
    return 0 if mention is None else mention + 1


def _text_name(place: int) -> str:
    return "subcaption" if place == 0 else f"sentence {place}"


def _percent(box: Box) -> str:
    left, top, right, bottom = (round(100 * edge, 2) for edge in box)
    return f"left:{left}%;top:{top}%;width:{right - left:.2f}%;height:{bottom - top:.2f}%"
