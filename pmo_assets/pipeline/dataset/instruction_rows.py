"""Rows of the hub's table `instructions`: what every verdict keeps, balanced, about panels and lectures that go out.

Balance: in each split there are as many yes as no for each thing that is asked for. What is too much of one is left
out by hash, so that the same tables give the same rows. Then neither a constant answer nor the words of the question
tell the answer.

Does not belong here: the numbers of rows in a release's files, which the caller gives (`picture_row`).
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import polars as pl

from pmo_assets.pipeline.dataset.panel_boxes import box_of_panel
from pmo_assets.tables.release import hub_table
from pmo_assets.tables.schemas import empty_table

FROM_PANELS: Final = (
    "panel_id", "article_id", "image_cluster_id", "content_box", "license", "license_url", "commercial_use",
    "attribution", "split",
)  # fmt: skip
"""Columns of the hub's panels that instructions are made of, besides `picture_row` and `has_picture`."""

FROM_VIDEOS: Final = ("pair_id", "video_id", "license", "license_url", "commercial_use", "attribution", "split")
"""The same of the hub's videos, besides `picture_row`, and `start` and `end` of the slide."""

_KEY: Final = ("panel_id", "number")


def instruction_id(row: Mapping[str, Any], owner: str = "panel_id") -> str:
    """Return the name of an instruction: it stays while panel (or picture of a lecture), kind and messages do.

    Args:
        row: of `instructions`, or of `video_instructions`.
        owner: column of what it is about: "panel_id", or "pair_id".
    """
    said = [row[owner], row["kind"], [[turn["role"], turn["content"]] for turn in row["messages"]]]
    encoded = json.dumps(said, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    return f"{row[owner]}_q{hashlib.blake2b(encoded, digest_size=8).hexdigest()}"


@dataclass
class YesNoBalance:
    """Decides which yes/no instructions a release leaves out: `add` all of them, then ask `left_out`.

    A few bytes an instruction are kept.
    """

    _found: dict[tuple[str, str, str], tuple[list[str], list[str]]] = field(default_factory=dict)

    def add(self, split: str, topic: str, asked: str, answer: str, name: str) -> None:
        """Take note of an instruction, once: its split, what it asks for, its answer, its `instruction_id`."""
        self._found.setdefault((split, topic, asked), ([], []))[answer == "Yes."].append(name)

    def left_out(self) -> frozenset[str]:
        """Return the instructions that are left out: of each thing asked for, the surplus of one answer."""
        surplus: list[str] = []
        for no, yes in self._found.values():
            least = min(len(no), len(yes))
            for names in (no, yes):
                surplus += sorted(names, key=_chance)[least:]
        return frozenset(surplus)


def _chance(name: str) -> str:
    return hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def kept_instructions(instructions: pl.DataFrame, verdicts: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of `instructions` that every verdict keeps, with `instruction_id`, each id once."""
    kept = verdicts.filter("is_kept").select(_KEY)
    return with_instruction_ids(instructions.join(kept, on=_KEY, how="semi", maintain_order="left"))


def with_instruction_ids(instructions: pl.DataFrame, owner: str = "panel_id") -> pl.DataFrame:
    """Return rows of `instructions`, or of `video_instructions` (owner "pair_id"), with `instruction_id`, each once."""
    rows = instructions.select(owner, "kind", "messages").iter_rows(named=True)
    names = [instruction_id(row, owner) for row in rows]
    return instructions.with_columns(instruction_id=pl.Series(names, dtype=pl.String)).unique(
        "instruction_id", keep="first", maintain_order=True
    )


def hub_instructions(
    panels: pl.DataFrame,
    instructions: pl.DataFrame,
    cues: pl.DataFrame,
    sides: Mapping[str, tuple[int, int]],
    left_out: Collection[str] = frozenset(),
) -> pl.DataFrame:
    """Return the columns of `HubInstructions`: by panel, in the order of its instructions.

    Args:
        panels: the hub's panels with licences applied, columns `FROM_PANELS`; `picture_row` (row of the panel among
            those of its split) and `has_picture` (its picture and words go out) beside them.
        instructions: of these panels, from `kept_instructions`.
        cues: rows of that table.
        sides: (width, height) in pixels of the figure's picture of each panel.
        left_out: names of instructions that balance leaves out.
    """
    told = cues.select(
        "panel_id",
        scene=pl.col("scenes").list.eval(pl.element().struct.field("text")),
        context=pl.col("context").list.eval(pl.element().struct.field("text")),
    )
    stays = pl.Series([name not in left_out for name in instructions["instruction_id"]], dtype=pl.Boolean)
    rows = (
        panels.filter("has_picture")
        .with_row_index("place")
        .join(instructions.filter(stays).drop("article_id", "image_cluster_id"), on="panel_id", how="inner")
        .join(told, on="panel_id", how="inner")
        .sort("place", "number")
    )
    placed = [
        [placed for box in boxes if (placed := box_of_panel(box, panel, *sides[name])) is not None]
        for name, panel, boxes in rows.select("panel_id", "content_box", "boxes").iter_rows()
    ]
    rows = rows.with_columns(
        boxes=pl.Series(placed, dtype=pl.List(pl.List(pl.Float64))),
        picture_config=pl.lit("panels"),
        **{name: pl.lit(None, kind) for name, kind in _OF_VIDEOS.items()},
    )
    return _as_hub(rows)


def _as_hub(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the columns of `HubInstructions`, words in place of enumerations."""
    kinds = empty_table(hub_table("instructions")).schema
    return rows.select(kinds.names()).cast({name: _plain_type(kind) for name, kind in kinds.items()})


_OF_VIDEOS: Final = {"pair_id": pl.String, "video_id": pl.Int64, "start": pl.Float64, "end": pl.Float64}
"""Columns that are null in rows of panels."""

_OF_PANELS: Final = {"panel_id": pl.String, "article_id": pl.Int64, "image_cluster_id": pl.String}
"""Columns that are null in rows of lectures."""


def hub_video_instructions(
    videos: pl.DataFrame, instructions: pl.DataFrame, cues: pl.DataFrame, left_out: Collection[str] = frozenset()
) -> pl.DataFrame:
    """Return the columns of `HubInstructions` for pictures of lectures: by picture, in the order of its instructions.

    Args:
        videos: the hub's videos, of which licences withhold none, columns `FROM_VIDEOS`, and beside them `picture_row`
            (row among those of its split), `start` and `end`.
        instructions: of `video_instructions`, those that are kept, with `instruction_id` (`with_instruction_ids`).
        cues: rows of `video_cues`.
        left_out: names of instructions that balance leaves out.
    """
    stays = pl.Series([name not in left_out for name in instructions["instruction_id"]], dtype=pl.Boolean)
    told = cues.select(
        "pair_id",
        scene=pl.col("scenes").list.eval(pl.element().struct.field("text")),
        context=pl.col("context").list.eval(pl.element().struct.field("text")),
    )
    rows = (
        videos.select(*FROM_VIDEOS, "picture_row", "start", "end")
        .with_row_index("place")
        .join(instructions.filter(stays).drop("video_id", "episode"), on="pair_id", how="inner")
        .join(told, on="pair_id", how="inner")
        .sort("place", "number")
    )
    evidence = pl.col("evidence").list
    rows = rows.with_columns(
        start=pl.coalesce(evidence.eval(pl.element().struct.field("from_second")).list.min(), "start"),
        end=pl.coalesce(evidence.eval(pl.element().struct.field("to_second")).list.max(), "end"),
        evidence=pl.Series(
            [[_as_transcript(item) for item in items] for items in rows["evidence"].to_list()],
            dtype=_plain_type(empty_table(hub_table("instructions")).schema["evidence"]),
        ),
        boxes=pl.lit([], pl.List(pl.List(pl.Float64))),
        picture_config=pl.lit("videos"),
        **{name: pl.lit(None, kind) for name, kind in _OF_PANELS.items()},
    )
    return _as_hub(rows)


def _as_transcript(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return evidence of a lecture as the hub has that of panels."""
    return {
        "kind": item["kind"],
        "text": item["text"],
        "found_in": None if item["start"] is None else "transcript",
        "mention": None,
        "start": item["start"],
        "end": item["end"],
        "number": None,
    }


def _plain_type(kind: pl.DataType) -> pl.DataType:
    """Return a type with words in place of enumerations."""
    if isinstance(kind, pl.Enum):
        return pl.String()
    if isinstance(kind, pl.List):
        return pl.List(_plain_type(kind.inner))  # type: ignore[arg-type]
    if isinstance(kind, pl.Struct):
        return pl.Struct({field.name: _plain_type(field.dtype) for field in kind.fields})  # type: ignore[arg-type]
    return kind


def yes_no_counts(rows: pl.DataFrame) -> Counter[tuple[str, str, str]]:
    """Count the yes/no rows of the hub's table by split, topic and answer."""
    said = rows.filter(pl.col("kind") == "yes_no").select(
        pl.col("split").cast(pl.String),
        pl.col("topic").cast(pl.String),
        answer=pl.col("messages").list.last().struct.field("content"),
    )
    return Counter(said.iter_rows())
