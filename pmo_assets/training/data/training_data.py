"""The synthetic data set on disk: COCO shards per part of the data, written once; a shard that is too small grows.

A figure's seed is its number plus the part's offset, so that a shard can be made again from its name alone, on any
number of processes and after a kill; shards that are complete are not made again. The last shard may hold fewer
figures than the others.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

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
    offset = SPLITS.index(split) * 100_000_000
    for shard in range(-(-count // SHARD_SIZE)):
        target = folder / split / f"shard_{shard:04d}"
        numbers = range(shard * SHARD_SIZE, min(count, (shard + 1) * SHARD_SIZE))
        if _figures_in(target) < len(numbers):
            # Without its table the shard counts as missing until all of it is there.
            (target / "annotations.json").unlink(missing_ok=True)
            write_coco(target, _figures(offset, numbers, pool, layouts), {"split": split})
        yield target


def _figures_in(shard: Path) -> int:
    """Return how many figures a complete shard holds; 0 when it is not complete."""
    table = shard / "annotations.json"
    return len(json.loads(table.read_text("utf-8"))["images"]) if table.exists() else 0


def _figures(
    offset: int, numbers: range, pool: PicturePool, layouts: Sequence[Layout]
) -> Iterator[tuple[int, SyntheticFigure]]:
    for number in numbers:
        yield number, synthetic_figure(offset + number, pool, layouts)
