"""How much of a batch each step lost, and when that is too much for the batch to count as done.

The asset `rejections` turns it into the check that fails a run, `pmo run` into its exit status.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from pmo_assets.resources.storage import Tables

_FIGURE_STAGES = ("panel_detections", "subcaptions", "image_detections", "panel_assembly", "panels")
_READ = (
    "article_batch", "article_packages", "articles", "package_figures", "pdf_figures", "figures", *_FIGURE_STAGES
)  # fmt: skip
_MOST_REASONS = 3


@dataclass(frozen=True, slots=True)
class StageLoss:
    """What a step of a batch was given and what it rejected.

    Attributes:
        stage: the asset.
        unit: "articles" or "figures".
        given: how many came in.
        lost: how many of them were rejected and left no row behind.
        reasons: the most frequent rejections of what was lost, "class: message (how many)".
    """

    stage: str
    unit: str
    given: int
    lost: int
    reasons: tuple[str, ...]

    @property
    def share(self) -> float:
        """Lost part, 0..1."""
        return self.lost / self.given if self.given else 0.0

    def __str__(self) -> str:
        """Return one sentence with the most frequent reasons."""
        return f"{self.stage} rejected {self.lost} of {self.given} {self.unit}: {'; '.join(self.reasons)}"


def _reasons(rejections: pl.DataFrame) -> tuple[str, ...]:
    counts = Counter(
        f"{row['error_class']}: {row['message'][:200]}"
        for row in rejections.unique(["article_id", "image_cluster_id"], keep="first", maintain_order=True).iter_rows(
            named=True
        )
    )
    return tuple(f"{reason} ({count})" for reason, count in counts.most_common(_MOST_REASONS))


def _article_loss(stage: str, given: pl.Series, kept: pl.Series, rejections: pl.DataFrame) -> StageLoss:
    lost = rejections.filter(
        pl.col("image_cluster_id").is_null(),
        pl.col("article_id").is_in(given.implode()),
        ~pl.col("article_id").is_in(kept.implode()),
    )
    return StageLoss(stage, "articles", len(given), lost["article_id"].n_unique(), _reasons(lost))


def _figure_loss(stage: str, figures: pl.DataFrame, kept: pl.DataFrame, rejections: pl.DataFrame) -> StageLoss:
    keys = ["article_id", "image_cluster_id"]
    missing = figures.select(keys).join(kept.select(keys), on=keys, how="anti")
    whole = rejections.filter(pl.col("image_cluster_id").is_null())
    lost = pl.concat(
        [missing.join(rejections, on=keys, how="semi"), missing.join(whole, on="article_id", how="semi")]
    ).unique()
    concerned = rejections.join(lost, on="article_id", how="semi")
    return StageLoss(stage, "figures", figures.height, lost.height, _reasons(concerned))


def batch_losses(tables: Tables, batch: str) -> list[StageLoss]:
    """Return what every step of a processed batch lost, in the order of the data's way."""
    read: Mapping[str, pl.DataFrame] = {name: tables.read(name, batch) for name in _READ}
    rejections = {name: tables.read_rejections([name], batch) for name in read}
    selected = read["articles"].filter("selected")["article_id"]
    losses = [
        _article_loss(stage, given, kept, rejections[stage])
        for stage, given, kept in (
            ("article_packages", read["article_batch"]["article_id"], read["article_packages"]["article_id"]),
            # Not selected because irrelevant is no loss, and has no rejection; without a PDF, it is and has.
            ("articles", read["article_packages"]["article_id"], selected),
            ("pdf_figures", selected, read["pdf_figures"]["article_id"]),
        )
    ]
    return losses + [_figure_loss(stage, read["figures"], read[stage], rejections[stage]) for stage in _FIGURE_STAGES]


def excessive(losses: Sequence[StageLoss], fail: float) -> list[StageLoss]:
    """Return the steps that lost at least the share `fail` (`PMO_REJECTED_FAIL`) of what they were given."""
    return [loss for loss in losses if loss.lost and loss.share >= fail]


def losses_in_words(losses: Sequence[StageLoss], fail: float) -> str:
    """Return what excessive losses have in common and what to do about them."""
    return (
        f"{'. '.join(map(str, losses))}. A batch that lost {fail:g} (PMO_REJECTED_FAIL) or more in a step is not done: "
        "mend the cause and run it again (`pmo run --again --batch …`), or raise the setting if it is the articles"
    )
