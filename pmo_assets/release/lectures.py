"""Lecture videos in a release: which pairs go out, their groups and splits, and their rows.

Pairs under a licence that does not let pictures and words be passed on are left out whole: nothing would be left of
them. A video counts as its last batch says; while that is not processed, nothing of the video goes out, since it may
say another licence. Does not belong here: writing files (`writing`), what licences allow
(`pipeline.articles.licences`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from pmo_assets.pipeline.dataset.instruction_rows import with_instruction_ids
from pmo_assets.pipeline.dataset.licensing import withheld
from pmo_assets.pipeline.dataset.near_duplicates import near_duplicate_groups, near_pairs
from pmo_assets.pipeline.dataset.splits import SPLITS, Split, SplitOptions, article_links, article_splits
from pmo_assets.pipeline.figures.perceptual_hash import HASH_BYTES
from pmo_assets.records.units import VIDEO
from pmo_assets.records.videos import VIDEO_CUES, VIDEO_INSTRUCTIONS, VIDEO_PAIRS, video_pair_id
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.manifests import Manifests
from pmo_assets.storage.tables import Tables
from pmo_assets.tables.dataset import LecturePanels
from pmo_assets.tables.release import LECTURE_PICTURE, hub_table
from pmo_assets.tables.schemas import checked, empty_table, schema_of

_IDENTITY: Final = ("video_id", "start", "end", "picture_sha256", "text")


@dataclass(frozen=True)
class Lectures:
    """The pairs of lectures that a release takes.

    Attributes:
        rows: of the hub's table `videos` but the picture, with `batch`, `episode` and `picture_sha256` beside.
        withheld: pairs left out since their licence does not let them be passed on, or is not known.
        noncommercial: pairs left out since a release without NC was asked for.
        repeated: pairs left out since another has the same text with a picture that looks the same.
    """

    rows: pl.DataFrame
    withheld: int = 0
    noncommercial: int = 0
    repeated: int = 0


def current_videos(data_root: DataRoot) -> dict[str, list[int]]:
    """Return the videos of each batch that no later batch has, by batch in order."""
    manifests = Manifests(data_root, VIDEO)
    newest: dict[int, str] = {}
    for batch in manifests.batches():
        newest.update(dict.fromkeys(manifests.manifest(batch)["video_id"].to_list(), batch))
    found: dict[str, list[int]] = {}
    for number, batch in newest.items():
        found.setdefault(batch, []).append(number)
    return dict(sorted(found.items()))


def release_lectures(
    data_root: DataRoot, tables: Tables, *, noncommercial: bool = True, splits: SplitOptions | None = None
) -> Lectures:
    """Return the pairs of lectures that a release takes.

    Args:
        data_root: root of manifests.
        tables: the tables below it.
        noncommercial: keep pairs whose licence forbids commercial use.
        splits: shares of the videos; all videos that share a picture are in one split.
    """
    made = set(tables.batches(VIDEO_PAIRS))
    parts = [
        tables.read(VIDEO_PAIRS, batch).filter(pl.col("video_id").is_in(numbers)).with_columns(batch=pl.lit(batch))
        for batch, numbers in current_videos(data_root).items()
        if batch in made
    ]
    rows = pl.concat(parts) if parts else pl.DataFrame()
    if rows.is_empty():
        return Lectures(pl.DataFrame())
    is_open = pl.Series([not withheld(code) for code in rows["license"]], dtype=pl.Boolean)
    given = rows.filter(is_open).sort("video_id", "episode")
    kept = given if noncommercial else given.filter(~pl.col("license").str.contains(r"\bNC\b"))
    if kept.is_empty():
        return Lectures(pl.DataFrame(), rows.height - given.height, given.height)
    digests, videos = kept["picture_sha256"].to_list(), kept["video_id"].to_numpy()
    groups = near_duplicate_groups(_hashes(kept), digests, videos)
    ids = [video_pair_id(*row) for row in kept.select(_IDENTITY).iter_rows()]
    own = np.unique(videos)
    dealt = article_splits(own, [None] * len(own), article_links(videos, groups.group), splits or SplitOptions())
    split_of = {int(number): SPLITS[int(split)] for number, split in zip(own, dealt.split, strict=True)}
    kept = kept.with_columns(
        pair_id=pl.Series(ids, dtype=pl.String),
        picture_group=pl.Series([None if at < 0 else ids[at] for at in groups.representative], dtype=pl.String),
        split=pl.Series([split_of[number] for number in videos.tolist()], dtype=pl.String),
    )
    picture = pl.coalesce("picture_group", "pair_id")
    fresh = kept.unique([picture, "text"], keep="first", maintain_order=True)
    return Lectures(
        _as_hub(fresh), rows.height - given.height, given.height - kept.height, kept.height - fresh.height
    )  # fmt: skip


def _as_hub(rows: pl.DataFrame) -> pl.DataFrame:
    def of_images(name: str) -> pl.Expr:
        return pl.col("images").list.eval(pl.element().struct.field(name))

    rows = rows.with_columns(
        level=pl.lit("video"), video="name", slide_text="print", corrected_words="corrected", boxes=of_images("box"),
        image_types=of_images("image_type"), modalities=of_images("modality"),
    )  # fmt: skip
    names = [name for name in hub_table("videos").columns() if name != LECTURE_PICTURE]
    return rows.select(*names, "batch", "episode", "picture_sha256")


def lecture_instructions(tables: Tables, lectures: Lectures) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the instructions about a release's pictures of lectures that every verdict keeps, and the pictures' cues.

    Of a batch whose instructions were never made there are none.

    Args:
        tables: below the data root.
        lectures: of the release.

    Returns:
        Rows of `video_instructions` with `instruction_id`, each once; rows of `video_cues`.
    """
    asked, told = (empty_table(schema_of(name)) for name in (VIDEO_INSTRUCTIONS, VIDEO_CUES))
    if lectures.rows.height:
        made = set(tables.batches(VIDEO_INSTRUCTIONS))
        for (batch,), rows in lectures.rows.group_by("batch", maintain_order=True):
            if batch in made:
                own = rows.select("pair_id")
                kept = tables.read(VIDEO_INSTRUCTIONS, str(batch)).filter("is_kept")
                asked = pl.concat([asked, kept.join(own, on="pair_id", how="semi", maintain_order="left")])
                cues = tables.read(VIDEO_CUES, str(batch))
                told = pl.concat([told, cues.join(own, on="pair_id", how="semi", maintain_order="left")])
    return with_instruction_ids(asked, "pair_id"), told


def lectures_like_panels(lectures: Lectures, panels: Iterable[pl.DataFrame], splits: Mapping[int, str]) -> pl.DataFrame:
    """Return which pictures of lectures look like a panel (`LecturePanels`): a lecture may show a published figure.

    Args:
        lectures: of the release.
        panels: of the release, batch by batch: `panel_id`, `article_id`, `perceptual_hash` in hexadecimal.
        splits: of the articles, by number.
    """
    parts = [empty_table(LecturePanels)]
    if not lectures.rows.is_empty():
        own = lectures.rows.select("pair_id", lecture_split="split")
        few = _hashes(lectures.rows)
        for rows in panels:
            one, other, distance = near_pairs(few, _hashes(rows))
            found = rows.select("panel_id", "article_id")[other].with_columns(distance=pl.Series(distance))
            split = [splits[number] for number in found["article_id"]]
            found = pl.concat([own[one], found], how="horizontal").with_columns(
                panel_split=pl.Series(split, dtype=pl.String)
            )
            parts.append(found.select(parts[0].columns))
    return checked(LecturePanels, pl.concat(parts).sort("pair_id", "distance", "panel_id"))


def _hashes(rows: pl.DataFrame) -> NDArray[np.uint8]:
    found = b"".join(bytes.fromhex(item) for item in rows["perceptual_hash"])
    return np.frombuffer(found, dtype=np.uint8).reshape(-1, HASH_BYTES)


def rows_of_videos(lectures: Lectures) -> Iterator[tuple[str, int, Split, pl.DataFrame]]:
    """Yield (batch, video, split, its rows in order), video by video."""
    if lectures.rows.is_empty():
        return
    for (batch, number, split), rows in lectures.rows.group_by("batch", "video_id", "split", maintain_order=True):
        yield str(batch), int(str(number)), next(name for name in SPLITS if name == split), rows
