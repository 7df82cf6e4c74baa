"""`pmo instruct` of a lecture: its pictures with what is said of them, in the form that panels have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from pmo_assets.storage.tables import Tables
    from pmo_assets.viewing.instruction_page import InstructedPanel

Rows = list[dict[str, Any]]

_TABLES: Final = ("video_cues", "video_instructions")

_SCORES: Final = ("quality", "difficulty", "relevance", "is_kept")


def batch_of_lecture(tables: Tables, case: str) -> str | None:
    """Return the newest batch that has cues of a lecture, or of a picture of one (video_id or pair_id)."""
    return next(
        (batch for batch in reversed(tables.batches(_TABLES[0])) if _own(tables, _TABLES[0], batch, case).height), None
    )


def _own(tables: Tables, table: str, batch: str, case: str) -> pl.DataFrame:
    import polars as pl

    wanted = pl.col("video_id").cast(pl.String) == case if case.isdecimal() else pl.col("pair_id") == case
    return tables.read(table, batch).filter(wanted)


def rows_of_lecture(tables: Tables, case: str) -> dict[str, Rows]:
    """Return the rows of a lecture, or of a picture of one, of the newest batch that has it, by table.

    Args:
        tables: below the data root.
        case: a pair_id, or a video_id.

    Returns:
        Rows of `video_cues` and `video_instructions`; none where no batch has the case.
    """
    batch = batch_of_lecture(tables, case)
    return {
        name: [] if batch is None or batch not in tables.batches(name) else _own(tables, name, batch, case).to_dicts()
        for name in _TABLES
    }


def like_panels(found: Mapping[str, Rows]) -> dict[str, Rows]:
    """Return a lecture's rows as the four tables of instructions about panels have theirs, `pair_id` for `panel_id`."""
    cues, asked = (found[name] for name in _TABLES)

    def words(cells: Rows) -> Rows:
        return [{**cell, "mention": None} for cell in cells]

    return {
        "cues": [
            {"panel_id": row["pair_id"], "scenes": words(row["scenes"]), "context": words(row["context"])}
            for row in cues
        ],
        "cue_scores": [{"panel_id": row["pair_id"], **{name: row[name] for name in _SCORES}} for row in cues],
        "instructions": [{**row, "panel_id": row["pair_id"], "evidence": words(row["evidence"])} for row in asked],
        "verdicts": [
            {"panel_id": row["pair_id"], **{name: row[name] for name in ("number", "is_kept", "verdicts")}}
            for row in asked
        ],
    }  # fmt: skip


def pictures_of_lecture(tables: Tables, case: str) -> list[InstructedPanel]:
    """Return a lecture's pictures with their transcripts, for the page of a case.

    Args:
        tables: below the data root.
        case: a pair_id, or a video_id, of which a batch has cues.
    """
    import polars as pl

    from pmo_assets.records.marked_words import TRANSCRIPT
    from pmo_assets.records.videos import KEYFRAMES
    from pmo_assets.storage.pixels import ParquetPixels
    from pmo_assets.viewing.instruction_page import InstructedPanel, ShownInstruction

    batch, found = batch_of_lecture(tables, case), rows_of_lecture(tables, case)
    if batch is None:
        return []
    (video,) = {row["video_id"] for row in found["video_cues"]}
    episodes = {row["pair_id"]: row["episode"] for row in found["video_cues"]}
    pairs = tables.read("video_pairs", batch).filter(pl.col("video_id") == video)
    texts = dict(pairs.select("episode", "text").iter_rows())
    pictures = ParquetPixels(tables.data_root, KEYFRAMES, batch).read(video)
    rows = like_panels(found)
    verdicts = {(row["panel_id"], row["number"]): row for row in rows["verdicts"]}
    shown = []
    for cues, score in zip(rows["cues"], rows["cue_scores"], strict=True):
        name = cues["panel_id"]
        picture = pictures.get(str(episodes[name]))
        items = [
            ShownInstruction(item, verdicts[name, item["number"]])
            for item in rows["instructions"]
            if item["panel_id"] == name
        ]
        shown.append(
            InstructedPanel(
                name, [texts[episodes[name]]], cues, score, items, None if picture is None else picture.png,
                first_text=TRANSCRIPT,
            )
        )  # fmt: skip
    return shown
