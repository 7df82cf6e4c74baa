"""Check of a release's instructions against the panels and lectures that hold their pictures, as the files say it."""

from __future__ import annotations

from collections import Counter
from typing import Final

import numpy as np

from pmo_assets.pipeline.dataset.instruction_rows import yes_no_counts
from pmo_assets.pipeline.dataset.licensing import withheld
from pmo_assets.pipeline.dataset.splits import SPLITS
from pmo_assets.records.pairs import PICTURE_CONFIGS
from pmo_assets.release.picture_holders import PictureHolders, split_rows
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
        "no picture": the row that the instruction names is another panel's or lecture's, or not there; "withheld": its
        licence, or the picture's, does not let words be passed on; "messages": one is empty, or roles do not alternate;
        "box": it reaches out of the picture, or has no area; "balance": splits and topics whose share of yes lies
        outside of 48 to 52 percent.
    """
    faults = dict.fromkeys(("no picture", "withheld", "messages", "box", "balance"), 0)
    answers: Counter[tuple[str, str, str]] = Counter()
    for split in SPLITS:
        holders = [PictureHolders.of(root, hub, config, split) for config in PICTURE_CONFIGS]
        for rows in split_rows(root, f"{hub}/data/instructions", split, _COLUMNS, _ROWS_AT_ONCE):
            for held in holders:
                own = rows.filter(picture_config=held.config)
                faults["no picture"] += held.strangers(own)
                stated = np.array([withheld(code) for code in own["license"]], dtype=np.bool_)
                faults["withheld"] += int((stated | held.withheld(own)).sum()) if withhold else 0
            faults["messages"] += sum(not _alternates(messages) for messages in rows["messages"].to_list())
            faults["box"] += sum(
                not (0 <= box[0] < box[2] <= 1 and 0 <= box[1] < box[3] <= 1)
                for boxes in rows["boxes"].to_list()
                for box in boxes
            )
            answers += yes_no_counts(rows)
    for key in {(part, topic) for part, topic, _ in answers}:
        yes, no = answers[*key, "Yes."], answers[*key, "No."]
        faults["balance"] += not LEAST_SHARE * (yes + no) <= yes <= MOST_SHARE * (yes + no)
    return faults


_COLUMNS: Final = (
    "kind", "topic", "messages", "boxes", "picture_config", "picture_row", "article_id", "image_cluster_id", "panel_id",
    "pair_id", "license", "split",
)  # fmt: skip


def _alternates(messages: list[dict[str, str]]) -> bool:
    roles = [message["role"] for message in messages]
    return bool(messages) and len(messages) % 2 == 0 and roles == ["user", "assistant"] * (len(messages) // 2) and all(
        message["content"].strip() for message in messages
    )  # fmt: skip
