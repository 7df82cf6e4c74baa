"""Losses of a batch at each step, and the limit beyond which the batch does not count as done.

The asset `rejections` turns it into the check that fails a run, `pmo run` into its exit status.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from pmo_assets.records.stages import Losing
from pmo_assets.records.units import ARTICLE, Unit
from pmo_assets.storage.tables import Tables

_MOST_REASONS = 3

SEVERAL = 3
"""So many articles must have lost something before a share says anything: daily increments make batches of one or two
articles, and a bad article never fails its batch."""

ALL_STEPS = "all steps"
"""Stage of the loss over the whole way."""


@dataclass(frozen=True, slots=True)
class StageLoss:
    """Loss of a batch at a step: the units given to it and those that it rejected.

    Attributes:
        stage: the asset.
        unit: "articles", "figures", or the name of other units.
        given: number of units that came in.
        lost: how many of them were rejected and left no row behind.
        reasons: the most frequent rejections of the lost ones, "class: message (how many)".
        articles: of how many articles it was.
    """

    stage: str
    unit: str
    given: int
    lost: int
    reasons: tuple[str, ...]
    articles: int

    @property
    def share(self) -> float:
        """Lost part, 0..1."""
        return self.lost / self.given if self.given else 0.0

    def __str__(self) -> str:
        """Return one sentence with the most frequent reasons."""
        return f"{self.stage} rejected {self.lost} of {self.given} {self.unit}: {'; '.join(self.reasons)}"


def _reasons(rejections: pl.DataFrame, unit: Unit = ARTICLE) -> tuple[str, ...]:
    counts = Counter(
        f"{row['error_class']}: {row['message'][:200]}"
        for row in rejections.unique([unit.key, unit.part], keep="first", maintain_order=True).iter_rows(named=True)
    )
    return tuple(f"{reason} ({count})" for reason, count in counts.most_common(_MOST_REASONS))


def _article_loss(stage: str, given: pl.Series, lost: pl.Series, rejections: pl.DataFrame) -> StageLoss:
    concerned = rejections.filter(pl.col("article_id").is_in(lost.implode()))
    count = concerned["article_id"].n_unique()
    return StageLoss(stage, "articles", len(given), count, _reasons(concerned), count)


def _figure_loss(stage: str, figures: pl.DataFrame, kept: pl.DataFrame, rejections: pl.DataFrame) -> StageLoss:
    keys = ["article_id", "image_cluster_id"]
    missing = figures.select(keys).join(kept.select(keys), on=keys, how="anti")
    whole = rejections.filter(pl.col("image_cluster_id").is_null())
    lost = pl.concat(
        [missing.join(rejections, on=keys, how="semi"), missing.join(whole, on="article_id", how="semi")]
    ).unique()
    reasons = _reasons(rejections.join(lost, on="article_id", how="semi"))
    return StageLoss(stage, "figures", figures.height, lost.height, reasons, lost["article_id"].n_unique())


def _not_located(figures: pl.DataFrame, rejections: pl.DataFrame) -> StageLoss:
    """Return the figures that the XML lists and the PDF does not show; those of lost articles are not counted again."""
    missed = rejections.filter(pl.col("image_cluster_id").is_not_null())
    lost = missed.select("article_id", "image_cluster_id").n_unique()
    articles = missed["article_id"].n_unique()
    return StageLoss("pdf_figures", "figures", figures.height + lost, lost, _reasons(missed), articles)


def _whole(rejections: pl.DataFrame) -> pl.DataFrame:
    return rejections.filter(pl.col("image_cluster_id").is_null())


def _not_going_on(packages: pl.DataFrame, articles: pl.DataFrame, rejections: pl.DataFrame) -> pl.Series:
    """Return the articles that `articles` lost: without a row, or not selected for want of a readable file.

    What is irrelevant or retracted is no loss, and an XML that cannot be read none if the PDF could be judged.
    """
    known = (
        packages.select("article_id", "xml")
        .join(articles.drop("xml"), on="article_id", how="left")
        .join(_whole(rejections).group_by("article_id").len("rejected"), on="article_id", how="left")
        .with_columns(pl.col("rejected").fill_null(0), gone=pl.col("package").is_null())
    )
    tolerated = (pl.col("xml").is_not_null() & ~pl.col("has_xml")).cast(pl.UInt32)
    out = ~pl.col("selected") & ~pl.col("is_retracted") & ~(pl.col("has_xml") & ~pl.col("relevant"))
    return known.filter(pl.col("gone") | (out & (pl.col("rejected") > tolerated)))["article_id"]


def figure_stages(losing: Mapping[str, Losing]) -> tuple[str, ...]:
    """Return the steps that make rows of a figure, in the order of the data's way."""
    return tuple(name for name, loses in losing.items() if loses == "parts")


def batch_losses(tables: Tables, batch: str, losing: Mapping[str, Losing]) -> list[StageLoss]:
    """Return the loss at every step of a processed batch, in the order of the data's way, then of all together.

    Args:
        tables: below the data root.
        batch: a processed one.
        losing: kind of loss of each stage, in the order of the data's way (`pipeline.graph.losing_stages`).
    """
    stages = (ARTICLE.batch, *losing)
    read = {name: tables.read(name, batch) for name in stages}
    rejections = {name: tables.read_rejections([name], batch) for name in stages}
    ids = {name: table["article_id"] for name, table in read.items()}
    selected = read["articles"].filter("selected")["article_id"]
    lost = {
        "article_packages": (ids["article_batch"], _without(ids["article_batch"], ids["article_packages"])),
        "articles": (
            ids["article_packages"],
            _not_going_on(read["article_packages"], read["articles"], rejections["articles"]),
        ),
        "pdf_figures": (selected, _without(selected, ids["pdf_figures"])),
        "figures": (ids["pdf_figures"].unique(), _without(ids["pdf_figures"].unique(), ids["figures"])),
    }
    losses = [_article_loss(stage, *series, _whole(rejections[stage])) for stage, series in lost.items()]
    losses.append(_not_located(read["figures"], rejections["pdf_figures"]))
    unwanted = read["panel_assembly"].filter(~pl.col("wanted"))
    going_on = read["figures"].join(unwanted, on=["article_id", "image_cluster_id"], how="anti")
    losses += [
        _figure_loss(stage, going_on if stage == "panels" else read["figures"], read[stage], rejections[stage])
        for stage in figure_stages(losing)
    ]
    not_rows = _whole(rejections["dataset_rows"])["article_id"].unique()
    losses.append(_article_loss("dataset_rows", ids["panels"].unique(), not_rows, _whole(rejections["dataset_rows"])))
    everything = pl.concat(rejections.values())
    # An article of which no figure that was assembled goes on has no panels and has not lost them.
    finished = _without(unwanted["article_id"], read["panel_assembly"].filter("wanted")["article_id"])
    survived = _without(pl.concat([ids["panels"], finished]).unique(), not_rows)
    early = pl.concat([series for _, series in lost.values()])
    late = everything.filter(pl.col("article_id").is_in(ids["figures"].implode()))["article_id"]
    gone = _without(pl.concat([early, late]), survived).unique()
    gone = gone.filter(gone.is_in(everything["article_id"].implode()))
    return [*losses, _article_loss(ALL_STEPS, pl.concat([gone, survived]), gone, everything)]


def unit_losses(tables: Tables, batch: str, losing: Mapping[str, Losing], unit: Unit) -> list[StageLoss]:
    """Return the loss at every step of a processed batch, of units of any kind; for articles see `batch_losses`.

    A step lost a unit that it rejected as a whole, of all that it gave rows of or rejected.

    Args:
        tables: below the data root.
        batch: a processed one.
        losing: kind of loss of each stage, in the order of the data's way.
        unit: kind of things that the batch holds.
    """
    found: list[StageLoss] = []
    for stage in losing:
        rejections = tables.read_rejections([stage], batch, unit)
        whole = rejections.filter(pl.col(unit.part).is_null())
        kept = tables.read(stage, batch, [unit.key])[unit.key].unique()
        lost = _without(whole[unit.key].unique(), kept)
        given = len(kept) + len(lost)
        found.append(StageLoss(stage, unit.names, given, len(lost), _reasons(whole, unit), len(lost)))
    return found


def may_have_lost_much(
    rows: pl.DataFrame, rejections: pl.DataFrame, fail: float, losing: Mapping[str, Losing]
) -> set[str]:
    """Return the batches of which a step may have lost more than the share `fail`; no other one has.

    `batch_losses` reads some twenty tables of a batch; this does with columns of two, of very many batches at once. An
    article with rows was lost nowhere, and every step was given it with a figure at least: so no step lost a larger
    share than what it rejected, of that and the articles with rows.

    Args:
        rows: of processed batches, columns `batch` and `article_id` of `dataset_rows`.
        rejections: columns `batch`, `stage`, `article_id` and `image_cluster_id` of `rejections`.
        fail: `PMO_REJECTED_FAIL`.
        losing: kind of loss of each stage.
    """
    counting = rejections.lazy().filter(pl.col("stage").is_in(list(losing)))
    # As a step of its own: all steps together, of which only articles count.
    together = counting.with_columns(stage=pl.lit(ALL_STEPS), image_cluster_id=pl.lit(None, dtype=pl.String))
    is_whole = pl.col("image_cluster_id").is_null()
    # Each table's batches are an Enum of its own: one has batches that the other has not.
    name = pl.col("batch").cast(pl.String)
    kept = rows.lazy().group_by("batch").agg(kept=pl.col("article_id").n_unique()).with_columns(name)
    steps = (
        pl.concat([counting, together])
        .unique()
        .group_by("batch", "stage")
        .agg(articles=pl.col("article_id").n_unique(), whole=is_whole.sum(), figures=(~is_whole).sum())
        .with_columns(name)
        .join(kept, on="batch", how="left")
        .with_columns(pl.col("kept").fill_null(0))
    )
    much = pl.any_horizontal(
        *(pl.col(lost) / (pl.col(lost) + pl.col("kept")) > fail for lost in ("whole", "figures")),
        # How many figures an article had that was rejected as a whole is not known here.
        pl.col("stage").is_in(figure_stages(losing)) & (pl.col("whole") > 0),
    )
    return set(steps.filter((pl.col("articles") >= SEVERAL) & much).collect()["batch"])


def _without(ids: pl.Series, others: pl.Series) -> pl.Series:
    return ids.filter(~ids.is_in(others.implode()))


def excessive(losses: Sequence[StageLoss], fail: float) -> list[StageLoss]:
    """Return the steps that lost more than the share `fail` (`PMO_REJECTED_FAIL`) of their input.

    Losses of fewer than `SEVERAL` articles do not count: they are the articles' own. All steps together are named only
    where no single one lost so much.
    """
    bad = [loss for loss in losses if loss.share > fail and loss.articles >= SEVERAL]
    return [loss for loss in bad if loss.stage != ALL_STEPS] or bad


def losses_in_words(losses: Sequence[StageLoss], fail: float) -> str:
    """Return the excessive losses with advice on them, as sentences."""
    return (
        f"{'. '.join(map(str, losses))}. A batch that lost more than {fail:g} (PMO_REJECTED_FAIL) is not done: "
        "mend the cause and run it again (`pmo run --again --batch …`), or raise the setting if it is the articles"
    )
