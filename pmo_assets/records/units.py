"""Units of which a batch consists: a step is put to one at a time.

A source of other things than articles declares a unit of its own, and everything that runs, groups and rejects goes by
it. Add here: properties of a unit that the machinery must know. Keep out: the contents of a unit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Unit:
    """A kind of thing that batches hold.

    Attributes:
        name: of one, in words and in names of assets: "article".
        key: column of its number (int64, at least 1) in every table of the unit.
        part: column of the part of it (text) that a rejection may concern: an article's figure.
        part_name: of one, in words: "figure".
        rows: parameters of steps that are the unit's one row of a table, and the table; `listing` is always its row of
            the manifest.
        owner: column of the manifest that holds the name by which people know it, copied into its rejections.
    """

    name: str
    key: str
    part: str
    part_name: str
    rows: tuple[tuple[str, str], ...] = ()
    owner: str = "package"

    @property
    def names(self) -> str:
        """Return the plural of the name: "articles"."""
        return f"{self.name}s"

    @property
    def folder(self) -> str:
        """Return the folder below the data root, "" or with a slash at its end, in which its batches are registered."""
        return "" if self == ARTICLE else f"{self.names}/"

    @property
    def batch(self) -> str:
        """Return the name of the unit's partitions, and of the asset that holds a batch's manifest."""
        return f"{self.name}_batch"

    @property
    def single_rows(self) -> dict[str, str]:
        """Return the parameters of steps that are one row of a table, and the table."""
        return {"listing": self.batch, **dict(self.rows)}


ARTICLE: Final = Unit(
    "article",
    key="article_id",
    part="image_cluster_id",
    part_name="figure",
    rows=(("package", "article_packages"), ("article", "articles")),
)
"""An article of a batch; its part is a figure."""

VIDEO: Final = Unit(
    "video",
    key="video_id",
    part="episode",
    part_name="episode",
    rows=(("video", "videos"),),
    owner="name",
)
"""A lecture video of a batch; its part is an episode, by its number."""
