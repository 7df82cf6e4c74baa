"""Tables of the group `regions`: marks on the images of each panel, phrases that name them, regions that both show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args

import dataframely as dy

from pmo_assets.records.regions import (
    MARK_COLOURS,
    MARK_KINDS,
    MARK_SOURCES,
    REGION_SOURCES,
    Mark,
    NamedMark,
    PanelRegions,
    PhrasePlace,
    Region,
    RegionPhrase,
)
from pmo_assets.records.step_output import Row
from pmo_assets.tables.context import PanelKey
from pmo_assets.tables.released import FACTS, TEXT, released
from pmo_assets.tables.rows import record_of, row_of

_BOX = dy.List(dy.Float64())

MARK_FIELDS = {
    "kind": dy.Enum(MARK_KINDS),
    "colour": dy.Enum(MARK_COLOURS, nullable=True),
    "rgb": dy.String(),
    "box": _BOX,
    "tip": dy.List(dy.Float64(), nullable=True),
    "direction": dy.Float64(nullable=True),
    "label": dy.String(nullable=True),
    "source": dy.Enum(MARK_SOURCES),
    "score": dy.Float64(),
    "probability": dy.Float64(),
    "image": dy.Int64(),
}
"""Fields of a mark (`records.regions.Mark`), and the position of its image among the panel's."""

PHRASE_FIELDS = {
    "text": dy.String(),
    "mark_text": dy.String(),
    "target": dy.String(nullable=True),
    "found_in": dy.Enum(list(get_args(PhrasePlace))),
    "mention": dy.Int64(nullable=True),
    "start": dy.Int64(),
    "end": dy.Int64(),
    "mark_start": dy.Int64(),
    "mark_end": dy.Int64(),
    "target_start": dy.Int64(),
    "target_end": dy.Int64(),
    "kind": dy.Enum(list(get_args(NamedMark))),
    "colour": dy.Enum(MARK_COLOURS, nullable=True),
    "style": dy.String(nullable=True),
    "label": dy.String(nullable=True),
    "is_plural": dy.Bool(),
    "marks": dy.List(dy.Int64()),
    "undecided": dy.String(nullable=True),
}
"""Fields of a phrase (`records.regions.RegionPhrase`), with its words, those of the mark and those of what it shows."""

REGION_FIELDS = {
    "box": _BOX,
    "text": dy.String(nullable=True),
    "description": dy.String(nullable=True),
    "marks": dy.List(dy.Int64()),
    "phrase": dy.Int64(nullable=True),
    "source": dy.Enum(REGION_SOURCES),
    "confidence": dy.Float64(),
}
"""Fields of a region (`records.regions.Region`)."""


class Marks(PanelKey):
    """Marks that authors drew on the images of each panel."""

    marks = dy.List(
        dy.Struct(MARK_FIELDS),
        description="Arrows, arrowheads, circles, boxes, asterisks, lines: colour, normalised box, tip, direction in "
        "degrees (0 right, 90 up), print beside it, source, score, calibrated probability, position of its image",
        metadata=released(FACTS, "panels", facet="boxes"),
    )
    machine_marks = dy.List(
        dy.Struct(MARK_FIELDS),
        nullable=True,
        description="Marks that the machine sees where people decided the panel's; null where `marks` are its own",
    )


class RegionPhrases(PanelKey):
    """Phrases of each panel's words that name marks: "white arrows: drusen"."""

    phrases = dy.List(
        dy.Struct(PHRASE_FIELDS),
        description="Words that name a mark and what it shows, where they stand, and the marks that they mean; "
        "`undecided` says why that is not sure",
        metadata=released(TEXT, "panels", facet="text"),
    )


class Regions(PanelKey):
    """Regions of each panel: image, box and text (Panel2Patch's triplets)."""

    regions = dy.List(
        dy.Struct(REGION_FIELDS),
        description="Boxes of what marks show, and of what a model names near them, normalised to the figure: the "
        "authors' words (`text`), what a model sees (`description`), marks, source, confidence",
        metadata=released(TEXT, "panels", facet="text"),
    )
    machine_regions = dy.List(
        dy.Struct(REGION_FIELDS),
        nullable=True,
        description="Regions that the machine finds by its own marks where people decided the panel's; null elsewhere",
    )
    model = dy.String(nullable=True, description="Name of the vision model that was asked; null for none")
    prompt_version = dy.String(nullable=True, description="Version and hash of its prompt")
    refused = dy.String(nullable=True, description="Why its last answer was not taken; null when it was")


SCHEMAS: dict[str, type[dy.Schema]] = {"marks": Marks, "region_phrases": RegionPhrases, "regions": Regions}
"""The schema of each asset of the group that is a table."""


PlacedMark = tuple[int, Mark]
"""A mark with the position of its image among the panel's."""


def marks_row(key: Mapping[str, Any], marks: Sequence[PlacedMark], machine: Sequence[PlacedMark] | None = None) -> Row:
    """Return a panel's row of `marks`.

    Args:
        key: of the panel (`PanelKey`).
        marks: of its images.
        machine: those that people's took the place of; None where nobody decided.
    """

    def cells(placed: Sequence[PlacedMark]) -> list[Row]:
        return [{**row_of(mark), "image": image} for image, mark in placed]

    return {**key, "marks": cells(marks), "machine_marks": None if machine is None else cells(machine)}


def marks_of_row(row: Mapping[str, Any]) -> list[PlacedMark]:
    """Return the marks of a row of `marks` with the positions of their images."""
    return _placed(row["marks"])


def machine_marks_of_row(row: Mapping[str, Any]) -> list[PlacedMark]:
    """Return the marks that the machine sees, whether people decided the panel's or not."""
    return _placed(row["marks"] if row["machine_marks"] is None else row["machine_marks"])


def _placed(cells: Sequence[Mapping[str, Any]]) -> list[PlacedMark]:
    return [(cell["image"], record_of(Mark, cell)) for cell in cells]


def phrases_row(key: Mapping[str, Any], phrases: Sequence[RegionPhrase], texts: Sequence[str]) -> Row:
    """Return a panel's row of `region_phrases`; `texts` are the texts that the phrases stand in."""
    cells = [
        {
            "text": text[phrase.start : phrase.end],
            "mark_text": text[phrase.mark_start : phrase.mark_end],
            "target": text[phrase.target_start : phrase.target_end] or None,
            **row_of(phrase),
        }
        for phrase, text in zip(phrases, texts, strict=True)
    ]
    return {**key, "phrases": cells}


def phrases_of_row(row: Mapping[str, Any]) -> list[RegionPhrase]:
    """Return the phrases of a row of `region_phrases`."""
    return [record_of(RegionPhrase, cell) for cell in row["phrases"]]


def regions_row(
    key: Mapping[str, Any],
    regions: Sequence[Region],
    machine: Sequence[Region] | None = None,
    *,
    model: str | None = None,
    prompt_version: str | None = None,
    refused: str | None = None,
) -> Row:
    """Return a panel's row of `regions`.

    Args:
        key: any row with the key of the panel (`PanelKey`).
        regions: of the panel.
        machine: those that people's took the place of; None without.
        model: that was asked about it; None for none.
        prompt_version: of its prompt.
        refused: why its last answer was not taken.
    """
    own = {name: key[name] for name in PanelKey.columns()}
    of_machine = None if machine is None else [row_of(region) for region in machine]
    said = {"model": model, "prompt_version": prompt_version, "refused": refused}
    return {**own, "regions": [row_of(region) for region in regions], "machine_regions": of_machine, **said}


def regions_of_row(row: Mapping[str, Any]) -> list[Region]:
    """Return the regions of a row of `regions`."""
    return [record_of(Region, cell) for cell in row["regions"]]


def panel_regions(
    marks: Sequence[Mapping[str, Any]] | None,
    phrases: Sequence[Mapping[str, Any]] | None,
    regions: Sequence[Mapping[str, Any]] | None,
) -> PanelRegions:
    """Return the cells `marks`, `phrases` and `regions` of a panel as one record; null is none."""
    return PanelRegions(
        tuple(record_of(Mark, cell) for cell in marks or ()),
        tuple(record_of(RegionPhrase, cell) for cell in phrases or ()),
        tuple(record_of(Region, cell) for cell in regions or ()),
    )


def regions_by_panel(tables: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[tuple[int, str, int], PanelRegions]:
    """Return what is known of each panel's marks, by article, figure and ordinal; only of panels that have any.

    Args:
        tables: rows of `marks`, `region_phrases` and `regions`; one that was not made counts as empty.
    """
    cells: dict[tuple[int, str, int], dict[str, Any]] = {}
    for table, column in (("marks", "marks"), ("region_phrases", "phrases"), ("regions", "regions")):
        for row in tables.get(table, ()):
            key = (row["article_id"], row["image_cluster_id"], row["ordinal"])
            cells.setdefault(key, {})[column] = row[column]
    found = {key: panel_regions(own.get("marks"), own.get("phrases"), own.get("regions")) for key, own in cells.items()}
    return {key: regions for key, regions in found.items() if regions}
