"""Panels with evidence for the tests of instructions: words as in captions, marks and regions at known places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pmo_assets.pipeline.context.entities import panel_entities, panel_terms
from pmo_assets.pipeline.instructions.case import CuedCase, PanelCase
from pmo_assets.pipeline.instructions.cues import panel_cues
from pmo_assets.pipeline.regions.phrases import region_phrases
from pmo_assets.records.context import PanelMention
from pmo_assets.records.geometry import Box
from pmo_assets.records.regions import Mark, Region


def mention(sentence: str, **fields: Any) -> PanelMention:
    """Return a sentence of the results that names the panel, if no field says otherwise."""
    said = {
        "identifier": "A", "paragraph": 0, "section": "results", "section_title": None, "start": 0,
        "end": len(sentence), "kind": "names panel", "source": "text", **fields,
    }  # fmt: skip
    return PanelMention(sentence=sentence, **said)


def mark(box: Box, colour: Any = "white", kind: Any = "arrow") -> Mark:
    """Return a sure mark."""
    return Mark(kind, colour, "#ffffff", box, None, None, None, "pixels", 0.9, 0.9)


def panel(
    subcaption: str,
    *,
    modality: str | None = "OCT",
    mentions: Sequence[PanelMention] = (),
    boxes: Sequence[Box] = (),
    **fields: Any,
) -> PanelCase:
    """Return a panel with its entities.

    Args:
        subcaption: of the panel; its phrases that name marks are linked to marks in their order.
        modality: of its picture.
        mentions: that speak of it.
        boxes: of the regions that its phrases' marks show, in their order; phrases beyond them have none.
        fields: of the case, in place of what follows from the words.
    """
    entities = panel_entities(subcaption, [item.text for item in mentions], {})
    phrases = tuple(
        replace(phrase, marks=(number,), undecided=None)
        for number, phrase in enumerate(region_phrases(subcaption, found_in="subcaption", mention=None))
    )
    case = PanelCase(
        panel_id="p_1_f1_0",
        subcaption=subcaption,
        mentions=tuple(mentions),
        is_alone=True,
        entities=entities,
        is_pictured=modality is not None,
        modality=modality,
        modality_probability=0.99,
        eye=panel_terms(entities, [item.kind for item in mentions]).eye,
        marks=tuple((0, mark((0.1, 0.1, 0.2, 0.2), phrase.colour, "arrow")) for phrase in phrases),
        phrases=phrases,
        regions=tuple(
            Region(box, (number,), number, "", None, "marks", 0.9)
            for number, (box, _) in enumerate(zip(boxes, phrases, strict=False))
        ),
    )
    return replace(case, **fields)


def cued(subcaption: str, **fields: Any) -> CuedCase:
    """Return a panel (`panel`) with its cues told apart."""
    case = panel(subcaption, **fields)
    return CuedCase(case, panel_cues(case))
