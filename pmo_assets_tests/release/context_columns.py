"""Columns of a release's panels that say what the running text and the marks say of them, as tests write them out.

Nothing here is made by the steps: one sentence, its summary, an eye, a disease with its wider terms, a disease that
the sentence denies, an arrow and what it points at.
"""

from __future__ import annotations

from typing import Any, Final

TEXTS: Final = ("mentions", "summary", "abbreviations", "generated_summary", "entities", "regions", "phrases")
"""Those that hold words of the article, stated a second time on purpose."""


def mention_place(panel_name: str | None, length: int) -> dict[str, Any]:
    return {
        "identifier": panel_name, "paragraph": 0, "start": 0, "end": length, "section": "results",
        "kind": "names panel", "source": "xref",
    }  # fmt: skip


def entity(term: str, text: str, **changes: Any) -> dict[str, Any]:
    return {
        "group": "disease", "term": term, "broader": [], "text": text, "start": 0, "end": len(text),
        "found_in": "subcaption", "mention": None, "negated": False, "uncertain": False, **changes,
    }  # fmt: skip


def context_columns(
    panel_name: str | None,
    *,
    secret: str = "",
    eye: str | None = "OD",
    disease: tuple[str, ...] = ("neovascular age-related macular degeneration", "age-related macular degeneration"),
    findings: tuple[str, ...] = ("drusen",),
    modality: str | None = "OCT",
    modality_class: str = "V",
    withheld: bool = False,
) -> dict[str, Any]:
    """Return the columns of a panel.

    Args:
        panel_name: its identifier.
        secret: stands in every text.
        eye, findings, modality, modality_class: values of these columns.
        disease: with all wider ones, nearest first; none for an empty tuple.
        withheld: as in a row whose licence forbids redistribution: texts are null.
    """
    sentence = f"{secret}Panel {panel_name} shows no macular hole."
    place = mention_place(panel_name, len(sentence))
    denied = entity("macular hole", f"{secret}macular hole", found_in="mention", mention=0, negated=True)
    named = [entity(disease[0], f"{secret}wet AMD", broader=list(disease[1:]))] if disease else []
    columns = {
        "mentions": [{**place, "text": sentence, "section_title": f"{secret}Results"}],
        "mention_places": [place],
        "summary": sentence,
        "summary_places": [{name: place[name] for name in ("paragraph", "start", "end")}],
        "abbreviations": [{"short": "AMD", "long": f"{secret}age-related macular degeneration"}],
        "generated_summary": f"{secret}It shows no hole.",
        "entities": [*named, denied],
        "diseases": sorted(disease),
        "findings": sorted(findings),
        "eye": eye,
        "modality_class": modality_class,
        "modality": modality,
        "medical": modality_class != "N",
        "clinical_or_laboratory": modality_class != "N",
        "clinical_or_microscopy": modality_class != "N",
        "marks": [
            {
                "kind": "arrow", "colour": "white", "rgb": "#ffffff", "box": [0.1, 0.1, 0.2, 0.2], "tip": [0.2, 0.2],
                "direction": -45.0, "label": None, "source": "vector", "score": 0.9, "probability": 0.9, "image": 0,
            }
        ],
        "phrases": [region_phrase(f"{secret}white arrow: drusen")],
        "regions": [
            {
                "box": [0.2, 0.2, 0.3, 0.3], "text": f"{secret}drusen", "description": None, "marks": [0], "phrase": 0,
                "source": "marks", "confidence": 0.9,
            }
        ],
    }  # fmt: skip
    return columns | dict.fromkeys(TEXTS) if withheld else columns


def region_phrase(text: str) -> dict[str, Any]:
    """Return the phrase that a whole subcaption is, about the first mark, as a cell of `region_phrases` has it."""
    end = len(text)
    return {
        "text": text, "mark_text": text, "target": text, "found_in": "subcaption", "mention": None,
        "start": 0, "end": end,
        "mark_start": 0, "mark_end": end, "target_start": 0, "target_end": end, "kind": "arrow", "colour": None,
        "style": None, "label": None, "is_plural": False, "marks": [0], "undecided": None,
    }  # fmt: skip
