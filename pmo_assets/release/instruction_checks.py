"""Check of a release's instructions against the panels that hold their pictures, as the files say it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

import polars as pl
import pyarrow.parquet as pq

from pmo_assets.pipeline.dataset.instruction_rows import yes_no_counts
from pmo_assets.pipeline.dataset.licensing import withheld
from pmo_assets.pipeline.dataset.splits import SPLITS
from pmo_assets.storage.data_root import DataRoot

LEAST_SHARE, MOST_SHARE = 0.48, 0.52
"""Share of yes among the yes/no instructions of a split and a topic."""

_ROWS_AT_ONCE: Final = 1 << 14


def instruction_faults(root: DataRoot, hub: str, *, withhold: bool = True) -> dict[str, int]:
    """Count the instructions of a release that are wrong, by what is; zeros if all is well.

    Args:
        root: of the release.
        hub: key of the hub's folder.
        withhold: the release withholds what licences forbid.

    Returns:
        "no picture": the row that the instruction names is another panel's, or not there; "withheld": its licence does
        not let words be passed on; "messages": one is empty, or roles do not alternate; "box": it reaches out of the
        picture; "balance": splits and topics whose share of yes lies outside of 48 to 52 percent.
    """
    faults = dict.fromkeys(("no picture", "withheld", "messages", "box", "balance"), 0)
    answers: Counter[tuple[str, str, str]] = Counter()
    for split in SPLITS:
        panels = [part["panel_id"] for part in _read(root, f"{hub}/data/panels", split, ["panel_id"])]
        names = pl.concat(panels) if panels else pl.Series("panel_id", [], dtype=pl.String)
        for rows in _read(root, f"{hub}/data/instructions", split, _COLUMNS):
            there = rows.filter(pl.col("picture_row") < len(names))
            faults["no picture"] += rows.height - there.height
            faults["no picture"] += int((names[there["picture_row"].to_list()] != there["panel_id"]).sum())
            faults["withheld"] += sum(withheld(code) for code in rows["license"]) if withhold else 0
            faults["messages"] += sum(not _alternates(messages) for messages in rows["messages"].to_list())
            faults["box"] += sum(
                not (0 <= box[0] <= box[2] <= 1 and 0 <= box[1] <= box[3] <= 1)
                for boxes in rows["boxes"].to_list()
                for box in boxes
            )
            answers += yes_no_counts(rows)
    for key in {(part, topic) for part, topic, _ in answers}:
        yes, no = answers[*key, "Yes."], answers[*key, "No."]
        faults["balance"] += not LEAST_SHARE * (yes + no) <= yes <= MOST_SHARE * (yes + no)
    return faults


_COLUMNS: Final = ["kind", "topic", "messages", "boxes", "panel_id", "picture_row", "license", "split"]


def _alternates(messages: list[dict[str, str]]) -> bool:
    roles = [message["role"] for message in messages]
    return bool(messages) and len(messages) % 2 == 0 and roles == ["user", "assistant"] * (len(messages) // 2) and all(
        message["content"].strip() for message in messages
    )  # fmt: skip


def _read(root: DataRoot, folder: str, split: str, columns: list[str]) -> Iterator[pl.DataFrame]:
    """Yield the rows of a split's files in their order."""
    for name in sorted(root.keys(folder, ".parquet")):
        if name.startswith(f"{split}-"):
            with root.open_random(f"{folder}/{name}") as stream:
                for batch in pq.ParquetFile(stream).iter_batches(_ROWS_AT_ONCE, columns=columns):
                    table = pl.from_arrow(batch)
                    assert isinstance(table, pl.DataFrame)
                    yield table
