"""Check of a release's pairs against the tables that hold their pictures, as the files say it."""

from __future__ import annotations

from typing import Final

import polars as pl

from pmo_assets.pipeline.dataset.splits import SPLITS
from pmo_assets.records.pairs import PICTURE_CONFIGS
from pmo_assets.release.picture_holders import PictureHolders, split_rows
from pmo_assets.storage.data_root import DataRoot


def pair_faults(root: DataRoot, hub: str, *, withhold: bool = True) -> dict[str, int]:
    """Count the pairs of a release that are wrong, by what is; zeros if all is well.

    Nine bytes a picture are kept, and some thousand pairs at a time.

    Args:
        root: of the release.
        hub: key of the hub's folder.
        withhold: the release withholds what licences forbid.

    Returns:
        "no picture": the row that the pair names is not there, or another figure's, panel's or lecture's; "withheld":
        its licence does not let picture and text be passed on; "box": it reaches out of the picture, or has no area;
        "text": none.
    """
    faults = dict.fromkeys(("no picture", "withheld", "box", "text"), 0)
    for split in SPLITS:
        holders = [PictureHolders.of(root, hub, config, split) for config in PICTURE_CONFIGS]
        for pairs in split_rows(root, f"{hub}/data/pairs", split, _COLUMNS):
            edges = (pl.col("box").list.get(place, null_on_oob=True) for place in range(4))
            left, top, right, bottom = edges
            inside = (left >= 0) & (top >= 0) & (right <= 1) & (bottom <= 1) & (left < right) & (top < bottom)
            faults["box"] += int(pairs.select((~inside.fill_null(False)).sum()).item())
            faults["text"] += int(pairs.select((pl.col("text").fill_null("").str.strip_chars() == "").sum()).item())
            for held in holders:
                own = pairs.filter(picture_config=held.config)
                faults["no picture"] += held.strangers(own)
                faults["withheld"] += int(held.withheld(own).sum()) if withhold else 0
    return faults


_COLUMNS: Final = (
    "picture_config", "picture_row", "box", "text", "article_id", "image_cluster_id", "panel_id", "pair_id",
)  # fmt: skip
