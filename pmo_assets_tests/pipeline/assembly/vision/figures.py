"""Figures as rows, with undecided panels, and answers of a model about them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from pmo_assets.pictures import png_bytes
from pmo_assets.pipeline.assembly.vision.question import FigureQuestion, figure_question
from pmo_assets.records.memory_stores import MemoryPixels
from pmo_assets.records.panels import Panel
from pmo_assets.records.step_output import Row
from pmo_assets.records.stores import Picture
from pmo_assets.records.subcaptions import CaptionSplit, Subcaption
from pmo_assets.tables.captions import caption_split, subcaption_rows
from pmo_assets.tables.detections import found_images, found_panels
from pmo_assets.tables.rows import record_of
from pmo_assets_tests.models.chat_server import Behaviour, completion

THRESHOLD = 0.75
KEY = {"article_id": 7, "image_cluster_id": "f1"}
TOP_LEFT, TOP_RIGHT = [0.0, 0.0, 0.49, 0.49], [0.51, 0.0, 1.0, 0.49]
BOTTOM_LEFT, BOTTOM_RIGHT = [0.0, 0.51, 0.49, 1.0], [0.51, 0.51, 1.0, 1.0]
CAPTION = "Both eyes. (A) Photograph. (B) Angiogram. (C) Scan. (D) Map."


def split_of(names: Sequence[str]) -> CaptionSplit:
    subs = tuple(Subcaption(name, f"Both eyes. What {name} shows.", ((0, 10), (11, 20))) for name in names)
    return CaptionSplit(subs, 0.93)


def image(number: int, box: Sequence[float], kind: str | None = "OCT") -> Row:
    return {
        **KEY,
        "detection_id": f"i{number}",
        "ordinal": number,
        "box": list(box),
        "score": 0.9 - number / 100,
        "source": "bitmap",
        "image_type": kind,
        "type_score": 0.8,
        "modality": None,
        "modality_score": 0.0,
        "type_reason": "",
        "marked": False,
        "mark_score": 0.1,
    }


def label(number: int, box: Sequence[float], text: str | None, sure: float = 0.5) -> Row:
    return {
        **KEY,
        "detection_id": f"l{number}",
        "kind": "identifier",
        "ordinal": number,
        "box": list(box),
        "score": 0.9,
        "source": "text",
        "text": text,
        "text_score": sure,
    }


def printed(name: str, sure: float) -> Row:
    return {"kind": "identifier", "source": "text", "text": name, "identifier": name, "confidence": sure, "box": None}


def panel(number: int, box: Sequence[float], name: str | None = None, sure: float = 0.3, **columns: Any) -> Row:
    """Return a row of `panel_assembly`: open unless it has a name and is sure; one image fills it."""
    shown = image(number, box)
    row = {
        **KEY,
        "ordinal": number,
        "members": [{"ordinal": number, "box": list(box)}],
        "box": list(box),
        "content_box": list(box),
        "score": 0.95,
        "identifier": name,
        "subcaption": f"Both eyes. What {name} shows." if name else None,
        "segments": [[0, 10]] if name else None,
        "caption_confidence": 0.93 if name else None,
        "method": "reading order" if name else None,
        "assembly": "Automatic Caption Assignment" if name else None,
        "confidence": sure,
        "runner_up": None,
        "runner_up_confidence": 0.0,
        "evidence": [],
        "reason": "by rules",
        "printed_identifiers": [],
        "images": [
            {"id": shown["detection_id"]}
            | {
                key: shown[key]
                for key in (
                    "box",
                    "score",
                    "image_type",
                    "type_score",
                    "modality",
                    "modality_score",
                    "marked",
                    "mark_score",
                )
            }
        ],
        "unassigned_images": [],
        "made_of_image": False,
        "wanted": True,
    }
    return {**row, **columns}


class Figure:
    """A figure with everything that is known about it, and its picture."""

    def __init__(
        self,
        names: Sequence[str],
        panels: Sequence[Row],
        labels: Sequence[Row] = (),
        images: Sequence[Row] | None = None,
    ) -> None:
        self.split = split_of(names)
        self.panels = list(panels)
        self.labels = list(labels)
        self.images = [image(row["ordinal"], row["box"]) for row in panels] if images is None else list(images)

    @property
    def tables(self) -> dict[str, list[Row]]:
        figure = {**KEY, "pdf_figure_id": "pf1", "caption": CAPTION}
        return {
            "figures": [figure],
            "subcaptions": subcaption_rows(figure, self.split),
            "panel_detections": self.labels,
            "image_detections": self.images,
        }

    def question(self) -> FigureQuestion:
        split = caption_split(self.tables["subcaptions"])
        panels = [record_of(Panel, row) for row in self.panels]
        labels, images = found_panels(self.labels), found_images(self.images)
        asked = figure_question(CAPTION, split, panels, labels, images, THRESHOLD)
        assert asked is not None
        return asked


def pixels(height: int = 300, width: int = 400) -> np.ndarray[Any, np.dtype[np.uint8]]:
    made = np.full((height, width, 3), 230, dtype=np.uint8)
    made[::7, :, 0] = 40
    return made


def pixel_store(height: int = 300, width: int = 400) -> MemoryPixels:
    store = MemoryPixels({})
    store.write(7, [Picture("pf1", width, height, png_bytes(pixels(height, width)))])
    return store


def assigned(panel_id: str, name: str | None, *evidence: dict[str, Any], sure: float = 0.9) -> dict[str, Any]:
    return {
        "panel_id": panel_id,
        "assigned_subcaption": name,
        "evidence": list(evidence),
        "confidence": sure,
        "reject_panel": name is None,
    }


def grouped(name: str, *images: str, sure: float = 0.9) -> dict[str, Any]:
    return {
        "assigned_images": list(images),
        "assigned_subcaption": name,
        "evidence": [PLACE],
        "confidence": sure,
    }


PLACE = {"positional_type": "row", "short_description": "first of two rows"}


def answers(*items: dict[str, Any]) -> dict[str, Any]:
    return {"assignments": list(items)}


def says_in_turn(*said: Any) -> list[Behaviour]:
    """Return behaviours that give these answers in order: JSON values, or text."""

    def behaviour(value: Any) -> Behaviour:
        text = value if isinstance(value, str) else json.dumps(value)
        return lambda handler, _: handler.reply(200, completion(text))

    return [behaviour(value) for value in said]
