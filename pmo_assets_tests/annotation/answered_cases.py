"""Figures that people are asked about, and what Label Studio exports of their answers, made by hand."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pmo_assets.annotation.answers import KnownFigures
from pmo_assets.annotation.cases import CaseArticle, CaseFigure, CasePanel, FigureCase, ShownPanel, ShownRegions
from pmo_assets.annotation.tasks import ShownPicture
from pmo_assets.pipeline.figures.fingerprint import fingerprint
from pmo_assets.records.regions import Mark, Region
from pmo_assets.records.reviews import Fingerprint, Purpose
from pmo_assets.tables.rows import record_of

ARTICLE = "PMC7"
CAPTION = "Overview. (a) CFP of the eye. (b) OCT scan. Scale bars 1 mm."
PICTURE = ShownPicture("data:image/jpeg;base64,AA==", 400, 200)


def pixels(shade: int = 200) -> np.ndarray:
    made = np.full((200, 400, 3), 255, np.uint8)
    made[10:190, 10:190] = shade
    made[10:190, 210:390] = (shade // 2, 80, 30)
    return made


SEEN: Fingerprint = fingerprint(pixels())


def figure_row(**further: Any) -> dict[str, Any]:
    return {
        "article_id": 7, "image_cluster_id": "f1", "pdf_figure_id": "p1-1", "ordinal": 0, "label": "Figure 1",
        "caption": CAPTION, "matched": True, "locations": [{"page": 1, "bbox": [100.0, 100.0, 500.0, 300.0]}],
        "caption_locations": [{"page": 1, "bbox": [100.0, 310.0, 500.0, 340.0]}],
    } | further  # fmt: skip


def image(name: str, box: Sequence[float], kind: str | None = "CFP", marked: bool | None = False) -> dict[str, Any]:
    return {"id": name, "box": list(box), "score": 0.9, "image_type": kind, "type_score": 0.8,
            "modality": None, "modality_score": 0.0, "marked": marked,
            "mark_score": 0.1}  # fmt: skip


def panel_row(ordinal: int, box: Sequence[float], identifier: str | None, **further: Any) -> dict[str, Any]:
    left, top, right, bottom = box
    text = {"a": "Overview. CFP of the eye. Scale bars 1 mm.", "b": "Overview. OCT scan. Scale bars 1 mm."}
    segments = {"a": [[0, 9], [14, 29], [43, 60]], "b": [[0, 9], [34, 43], [43, 60]]}
    named = identifier in text
    corner = [left, top, left + (right - left) * 0.1, top + (bottom - top) * 0.1]
    inner = [left + (right - left) * 0.2, top + (bottom - top) * 0.2, right, bottom]
    return {
        "article_id": 7, "image_cluster_id": "f1", "ordinal": ordinal,
        "members": [{"ordinal": ordinal, "box": list(box)}], "box": list(box), "content_box": list(box), "score": 0.9,
        "identifier": identifier, "subcaption": text.get(identifier or ""), "segments": segments.get(identifier or ""),
        "caption_confidence": 0.9 if named else None, "method": "identifier" if named else None,
        "assembly": "Automatic Caption Assignment" if named else None, "confidence": 0.9 if named else 0.2,
        "runner_up": None, "runner_up_confidence": 0.0, "evidence": [], "reason": "printed" if named else "open",
        "printed_identifiers": [{"id": f"d{ordinal}", "box": corner, "score": 0.8, "text": identifier}],
        "images": [image(f"i{ordinal}", inner)], "unassigned_images": [], "made_of_image": False, "wanted": True,
    } | further  # fmt: skip


LEFT, RIGHT = (0.0, 0.0, 0.5, 1.0), (0.5, 0.0, 1.0, 1.0)


def case(*panels: dict[str, Any], purpose: Purpose = "resolve", **further: Any) -> FigureCase:
    rows = panels or (panel_row(0, LEFT, "a"), panel_row(1, RIGHT, None))
    shown = [record_of(CasePanel, row) for row in rows]
    return FigureCase("b0", CaseArticle(7, ARTICLE), record_of(CaseFigure, figure_row(**further)), shown, purpose)


def known(**further: Any) -> KnownFigures:
    return KnownFigures({ARTICLE: {"f1": record_of(CaseFigure, figure_row(**further))}})


def submitted(task: dict[str, Any], person: object = 1, at: str = "2026-01-02T03:04:05Z") -> dict[str, Any]:
    """Return a task as it is exported when somebody submits what they were shown."""
    result = copy.deepcopy(task["predictions"][0]["result"])
    answer = {"id": 11, "completed_by": person, "result": result, "was_cancelled": False, "updated_at": at}
    return {"id": 3, "data": copy.deepcopy(task["data"]), "annotations": [answer]}


def result_of(task: dict[str, Any]) -> list[dict[str, Any]]:
    result: list[dict[str, Any]] = task["annotations"][0]["result"]
    return result


def region(task: dict[str, Any], region_id: str, name: str = "boxes") -> dict[str, Any]:
    return next(r for r in result_of(task) if r.get("id") == region_id and r["from_name"] == name)


ARROW = Mark("arrow", "white", "#fafafa", (0.2, 0.3, 0.25, 0.35), (0.25, 0.3), 37.5, "1", "pixels", 0.9, 0.8)
CIRCLE = Mark("circle", "red", "#ff0000", (0.3, 0.6, 0.4, 0.8), None, None, None, "vector", 1.0, 0.97)
STAR = Mark("asterisk", None, "#000000", (0.7, 0.5, 0.75, 0.6), None, None, None, "text", 1.0, 0.9)

MENTIONS = ("Drusen lie beside the macula (white arrow).",)


def shown_region(box: Sequence[float], text: str | None, *marks: int) -> Region:
    left, top, right, bottom = box
    return Region((left, top, right, bottom), marks, None if text is None else 0, text, None, "marks", 0.8)


def region_case(*panels: ShownPanel, purpose: Purpose = "resolve", **further: Any) -> FigureCase:
    """Return a figure with an arrow that shows drusen and a bare circle in panel a, and an asterisk in panel b."""
    rows = panel_row(0, LEFT, "a"), panel_row(1, RIGHT, "b")
    left, right = (record_of(CasePanel, row) for row in rows)
    regions = (shown_region((0.24, 0.2, 0.34, 0.31), "Drusen", 0), shown_region(CIRCLE.box, None, 1))
    shown = panels or (
        ShownPanel(left, (ARROW, CIRCLE), regions),
        ShownPanel(right, (STAR,), (shown_region((0.65, 0.4, 0.8, 0.7), "OCT scan", 0),)),
    )
    return replace(
        case(*rows, purpose=purpose, **further), regions=ShownRegions(tuple(shown), ("Drusen", "macula"), MENTIONS)
    )


def known_regions() -> KnownFigures:
    return replace(known(), words={ARTICLE: {"f1": MENTIONS}})
