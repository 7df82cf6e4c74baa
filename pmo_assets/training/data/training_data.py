"""The synthetic data set on disk: COCO shards per part of the data, written once; a shard that is too small grows.

A figure's seed is its number plus the part's offset, so that a shard can be made again from its name alone, on any
number of processes and after a kill; shards that are complete are not made again. The last shard may hold fewer
figures than the others.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pmo_assets.training.data.coco import write_coco
from pmo_assets.training.synthetic.layouts import SPLITS, Layout, Split, layouts_of_table
from pmo_assets.training.synthetic.placed_figure import SyntheticFigure
from pmo_assets.training.synthetic.pools import (
    PicturePool,
    PoolPicture,
    article_pictures,
    licensed_pictures,
    unannotated_articles,
)
from pmo_assets.training.synthetic.synthetic_figures import synthetic_figure

SHARD_SIZE = 250
"""Figures per shard: some ten seconds of work."""

PART_OFFSET = 100_000_000
"""Seeds between the first figures of two parts."""


def pool_pictures(images: Path | None, articles: Path | None, annotations: Path | None) -> list[PoolPicture]:
    """Return every picture that may enter the pool, of all parts of the data; sources that are None are left out.

    Args:
        images: folder of retinal images, sub-folders per image type or data set, see `pools.licensed_pictures`.
        articles: folder of articles, `ID/article.pdf`.
        annotations: folder of annotation files, `ID.json`: these articles are measured on, not drawn from.

    Raises:
        ValueError: when `images` is no folder or has no picture where one is looked for.
    """
    found = list(licensed_pictures(images)) if images is not None else []
    if articles is not None:
        found += article_pictures(articles, unannotated_articles(articles, annotations))
    return found


def write_synthetic_shards(
    folder: Path, split: Split, count: int, pictures: Sequence[PoolPicture], layout_table: Path | None
) -> Iterator[Path]:
    """Write the missing and the too small shards of one part, yielding each complete shard's folder in order.

    Args:
        folder: data root; shards go to `folder/<split>/shard_<number>`.
        split: part of the data: it decides the pictures, the layouts and the offset of the seeds.
        count: number of figures; where a shard holds more already, it stays as it is.
        pictures: see `pool_pictures`.
        layout_table: CSV of real layouts; None for parametric ones alone.
    """
    pool = PicturePool(pictures, split)
    layouts: list[Layout] = layouts_of_table(layout_table, split) if layout_table is not None else []
    figure = partial(synthetic_figure, pool=pool, layouts=layouts)
    for shard in range(shards_for(count)):
        yield write_shard(folder, split, count, shard, figure, {"split": split})


def shards_for(count: int) -> int:
    """Return how many shards hold a number of figures."""
    return -(-count // SHARD_SIZE)


def write_shard(
    folder: Path,
    split: Split,
    count: int,
    shard: int,
    figure: Callable[[int], SyntheticFigure],
    info: dict[str, Any],
) -> Path:
    """Write a shard where it is missing or too small, and return its folder.

    Args:
        folder: data root.
        split: part of the data: it decides the offset of the seeds.
        count: number of figures in the part.
        shard: number of the shard.
        figure: makes the figure of a seed.
        info: facts that all figures share, kept in the shard.

    Raises:
        ValueError: when the shard holds figures with other facts.
    """
    target = folder / split / f"shard_{shard:04d}"
    numbers = range(shard * SHARD_SIZE, min(count, (shard + 1) * SHARD_SIZE))
    there, facts = _figures_in(target)
    if there and facts != info:
        raise ValueError(f"{target} holds other figures ({json.dumps(facts)}): take another folder")
    if there < len(numbers):
        # Without its table the shard counts as missing until all of it is there.
        (target / "annotations.json").unlink(missing_ok=True)
        write_coco(target, _figures(SPLITS.index(split) * PART_OFFSET, numbers, figure), info)
    return target


def _figures_in(shard: Path) -> tuple[int, dict[str, Any]]:
    """Return how many figures a complete shard holds, and their facts; 0 and none when it is not complete."""
    table = shard / "annotations.json"
    if not table.exists():
        return 0, {}
    data = json.loads(table.read_text("utf-8"))
    return len(data["images"]), data["info"]


def _figures(
    offset: int, numbers: Iterable[int], figure: Callable[[int], SyntheticFigure]
) -> Iterator[tuple[int, SyntheticFigure]]:
    for number in numbers:
        yield number, figure(offset + number)
