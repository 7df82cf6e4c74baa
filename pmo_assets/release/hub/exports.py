"""What an export of a release asks before it writes: a form, a free target, splits that are there, whole files."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from pmo_assets.pipeline.dataset.splits import SPLITS
from pmo_assets.records.stores import StorageError
from pmo_assets.release.hub.sums import SUMS_FILE, refuse_damaged


def shards_to_export(
    folder: Path, config: str, splits: Collection[str], target: Path, form: str, forms: Sequence[str]
) -> dict[str, list[Path]]:
    """Return the Parquet files of the wanted splits of a config, by split, in the order of `SPLITS`.

    Args:
        folder: of the release.
        config: of the hub, "figures".
        splits: that are wanted; none for all.
        target: where the export is to be.
        form: of the files that are to be written.
        forms: that there are.

    Raises:
        StorageError: if there is no such form, split or config, the target is there already, or a file is damaged.
    """
    if form not in forms:
        raise StorageError(f"there is no form {form}: {', '.join(forms)}")
    if target.exists():
        raise StorageError(f"{target} is there already: take it away, or name another folder")
    shards = {split: sorted((folder / "data" / config).glob(f"{split}-*.parquet")) for split in SPLITS}
    there = [split for split, paths in shards.items() if paths]
    if not there:
        raise StorageError(f"{folder} has no data/{config}/*.parquet: is it a release's folder, from after them?")
    if missing := [split for split in splits if split not in there]:
        raise StorageError(f"{folder} has no split {', '.join(missing)}: it has {', '.join(there)}")
    if (folder / SUMS_FILE).exists():  # a download of some shards may lack it
        refuse_damaged(folder)
    return {split: shards[split] for split in there if not splits or split in splits}
