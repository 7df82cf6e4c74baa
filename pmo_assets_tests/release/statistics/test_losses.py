"""What counts as lost, and when a batch lost too much."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, cast

import polars as pl
import pytest

from pmo_assets.pipeline.graph import losing_stages
from pmo_assets.release.statistics.losses import (
    StageLoss,
    batch_losses,
    excessive,
    figure_stages,
    losses_in_words,
    may_have_lost_much,
)
from pmo_assets.storage.tables import Tables
from pmo_assets.tables.rejections import Rejections
from pmo_assets.tables.schemas import empty_table

Key = tuple[int, str]

ARTICLE = {"relevant": True, "is_retracted": False, "has_xml": True, "has_pdf": True}


@dataclass
class Batch:
    """A processed batch, of its tables only the columns that matter.

    Attributes:
        registered: articles of the manifest.
        fetched: those with a package.
        articles: rows of `articles`: number -> what differs from a relevant one with XML and PDF.
        figures: (article, figure) that were found.
        kept: figures by asset that have rows there; all where nothing is said.
        unwanted: figures that do not go on after `panel_assembly`.
        rejected: (asset, article, figure or None, error class).
    """

    registered: Sequence[int]
    fetched: Sequence[int] | None = None
    articles: Mapping[int, Mapping[str, bool]] = field(default_factory=dict)
    figures: Sequence[Key] = ()
    kept: Mapping[str, Sequence[Key]] = field(default_factory=dict)
    rejected: Sequence[tuple[str, int, str | None, str]] = ()
    unwanted: Sequence[Key] = ()

    def read(self, asset: str, batch: str) -> pl.DataFrame:
        """Return a table."""
        if asset in ("article_batch", "article_packages"):
            numbers = self.registered if asset == "article_batch" or self.fetched is None else self.fetched
            return pl.DataFrame({"article_id": pl.Series(numbers, dtype=pl.Int64)}).with_columns(xml=pl.lit("key"))
        if asset == "articles":
            return pl.DataFrame([{**ARTICLE, "article_id": number, **facts} for number, facts in self.articles.items()],
                                {"article_id": pl.Int64, **dict.fromkeys(ARTICLE, pl.Boolean)}).with_columns(
                selected=pl.col("relevant") & pl.col("has_pdf") & ~pl.col("is_retracted"),
                package=pl.col("article_id").cast(pl.String), xml=pl.lit(None, dtype=pl.String),
            )  # fmt: skip
        keys = self.kept.get(asset, self.figures)
        rows = [(*key, key not in self.unwanted) for key in keys]
        table = pl.DataFrame(
            rows, {"article_id": pl.Int64, "image_cluster_id": pl.String, "wanted": pl.Boolean}, orient="row"
        )
        return table if asset == "panel_assembly" else table.drop("wanted")

    def read_rejections(self, stages: Sequence[str], batch: str) -> pl.DataFrame:
        """Return what stages rejected."""
        rows = [
            {"stage": stage, "article_id": article, "image_cluster_id": figure, "error_class": error, "message": "why"}
            for stage, article, figure, error in self.rejected
            if stage in stages
        ]
        return pl.DataFrame(rows, empty_table(Rejections).schema)


def losses(batch: Batch) -> dict[tuple[str, str], StageLoss]:
    """Return the losses by stage and unit."""
    return {(loss.stage, loss.unit): loss for loss in batch_losses(cast(Tables, batch), "0001-x", losing_stages())}


def test_a_sound_batch_lost_nothing() -> None:
    figures = [(number, "f1") for number in range(1, 5)]
    found = losses(Batch(range(1, 5), articles={number: {} for number in range(1, 5)}, figures=figures))
    assert all(loss.lost == 0 for loss in found.values())
    assert found["all steps", "articles"].given == 4


def test_what_has_no_row_and_a_rejection_is_lost() -> None:
    found = losses(
        Batch(
            range(1, 11),
            fetched=range(1, 9),
            articles={number: {} for number in range(1, 8)},
            figures=[(1, "f1"), (1, "f2"), (2, "f1"), (3, "f1")],
            kept={"panels": [(1, "f1"), (2, "f1")], "image_detections": [(1, "f1"), (1, "f2"), (2, "f1")]},
            rejected=[
                ("article_packages", 9, None, "FileMissing"),
                ("article_packages", 10, None, "FileMissing"),
                ("articles", 8, None, "Odd"),
                ("pdf_figures", 4, None, "EncryptedPdf"),
                ("image_detections", 3, None, "OutOfMemory"),
                ("panels", 1, "f2", "PictureUnreadable"),
            ],
        )
    )
    assert (found["article_packages", "articles"].given, found["article_packages", "articles"].lost) == (10, 2)
    assert (found["articles", "articles"].given, found["articles", "articles"].lost) == (8, 1)
    assert (found["pdf_figures", "articles"].given, found["pdf_figures", "articles"].lost) == (7, 1)
    assert (found["image_detections", "figures"].given, found["image_detections", "figures"].lost) == (4, 1)
    assert (found["panels", "figures"].given, found["panels", "figures"].lost) == (4, 1), "3 f1 was lost before"
    assert found["article_packages", "articles"].reasons == ("FileMissing: why (2)",)
    whole = found["all steps", "articles"]
    assert (whole.given, whole.lost) == (7, 5), "articles 1 and 2 have panels; 5 to 7 had no figure and no fault"


@pytest.mark.parametrize(
    ("facts", "errors", "lost"),
    [
        ({"relevant": False}, [], 0),
        ({"relevant": False, "has_xml": False}, ["MalformedXml"], 0),
        ({"relevant": False, "has_pdf": False}, ["NoPdf"], 0),
        ({"is_retracted": True}, [], 0),
        ({"has_xml": False}, ["MalformedXml"], 0),
        ({"has_pdf": False}, ["NoPdf"], 1),
        ({"relevant": False, "has_xml": False, "has_pdf": False}, ["MalformedXml", "NoPdf"], 1),
        ({"relevant": False, "has_xml": False}, ["MalformedXml", "UnreadablePdf"], 1),
    ],
)
def test_irrelevant_is_not_lost_and_unreadable_is(facts: Mapping[str, bool], errors: Sequence[str], lost: int) -> None:
    batch = Batch([1], articles={1: facts}, rejected=[("articles", 1, None, error) for error in errors])
    assert losses(batch)["articles", "articles"].lost == lost


def test_figures_of_a_lost_article_are_not_lost_once_more() -> None:
    batch = Batch(
        [1, 2],
        articles={1: {}, 2: {}},
        figures=[(1, "f1")],
        kept={"pdf_figures": [(1, "f1")]},
        rejected=[("pdf_figures", 1, "f2", "FigureNotLocated"), ("pdf_figures", 2, None, "EncryptedPdf")],
    )
    found = losses(batch)
    assert (found["pdf_figures", "articles"].given, found["pdf_figures", "articles"].lost) == (2, 1)
    assert (found["pdf_figures", "figures"].given, found["pdf_figures", "figures"].lost) == (2, 1)


def test_losses_add_up_over_the_steps() -> None:
    survivors = [(number, "f1") for number in range(1, 5)]
    found = losses(
        Batch(
            range(1, 11),
            fetched=range(1, 8),
            articles={number: {} for number in range(1, 8)},
            figures=[(number, "f1") for number in range(1, 6)],
            kept={"panels": survivors},
            rejected=[
                *(("article_packages", number, None, "FileMissing") for number in range(8, 11)),
                *(("pdf_figures", number, None, "EncryptedPdf") for number in range(6, 8)),
                ("panels", 5, "f1", "PictureUnreadable"),
            ],
        )
    )
    bad = excessive(list(found.values()), 0.5)
    assert [loss.stage for loss in bad] == ["all steps"]
    assert "all steps rejected 6 of 10 articles: FileMissing: why (3)" in losses_in_words(bad, 0.5)


def test_the_share_must_be_exceeded() -> None:
    half = StageLoss("articles", "articles", 6, 3, (), 3)
    assert excessive([half], 0.5) == []
    assert excessive([half], 0.49) == [half]
    assert excessive([StageLoss("articles", "articles", 3, 3, (), 3)], 1.0) == []
    assert excessive([StageLoss("articles", "articles", 0, 0, (), 0)], 0.1) == []


@pytest.mark.parametrize(("articles", "fails"), [(1, False), (2, False), (3, True)])
def test_one_or_two_articles_never_fail_their_batch(articles: int, fails: bool) -> None:
    """A daily increment may be a single article, and that one a bad one."""
    numbers = range(1, articles + 1)
    figures = [(number, f"f{figure}") for number in numbers for figure in range(9)]
    found = losses(
        Batch(
            numbers,
            articles={number: {} for number in numbers},
            figures=figures,
            kept={"panels": []},
            rejected=[("panels", number, figure, "PictureUnreadable") for number, figure in figures],
        )
    )
    assert (found["panels", "figures"].lost, found["panels", "figures"].articles) == (9 * articles, articles)
    assert bool(excessive(list(found.values()), 0.5)) == fails
    spoilt = Batch(numbers, fetched=[], rejected=[("article_packages", number, None, "Odd") for number in numbers])
    assert bool(excessive(list(losses(spoilt).values()), 0.5)) == fails


def test_figures_that_do_not_go_on_are_not_lost() -> None:
    """Article 1 has only such figures besides one that was rejected, 2 was rejected whole when panels were cut."""
    figures = [(1, "f1"), (1, "f2"), (2, "f1"), (2, "f2"), (3, "f1")]
    found = losses(
        Batch(
            [1, 2, 3],
            articles={number: {} for number in (1, 2, 3)},
            figures=figures,
            kept={"panel_detections": figures[1:], "panel_assembly": figures[1:], "panels": [(3, "f1")]},
            unwanted=[(1, "f2"), (2, "f2")],
            rejected=[("panel_detections", 1, "f1", "OutOfMemory"), ("panels", 2, None, "OutOfMemory")],
        )
    )
    assert (found["panels", "figures"].given, found["panels", "figures"].lost) == (3, 1), "2 f1; 1 f1 was lost before"
    assert (found["all steps", "articles"].given, found["all steps", "articles"].lost) == (3, 1), "2"


def names_of(rows: Sequence[tuple[Any, ...]]) -> pl.Enum:
    """The type of batches in rows of one table, as `Tables.read_batches` gives it: the names that this table has."""
    return pl.Enum(sorted({row[0] for row in rows}))


def suspected(batches: Mapping[str, Batch], fail: float = 0.5) -> set[str]:
    """Return the batches that may have lost too much, by the tables that they have at the end."""
    rows, rejections = [], []
    for name, batch in batches.items():
        survivors = {article for article, _ in batch.kept.get("panels", batch.figures)}
        survivors -= {article for stage, article, _, _ in batch.rejected if stage == "dataset_rows"}
        rows += [(name, article) for article in survivors]
        rejections += [(name, stage, article, figure) for stage, article, figure, _ in batch.rejected]
    columns = {"stage": pl.String, "article_id": pl.Int64, "image_cluster_id": pl.String}
    return may_have_lost_much(
        pl.DataFrame(rows, {"batch": names_of(rows), "article_id": pl.Int64}, orient="row"),
        pl.DataFrame(rejections, {"batch": names_of(rejections), **columns}, orient="row"),
        fail,
        losing_stages(),
    )


def sound(articles: Sequence[int], **what: Any) -> Batch:
    """Return a batch of relevant articles with a figure each."""
    figures = what.pop("figures", [(number, "f1") for number in articles])
    return Batch(articles, articles={number: {} for number in articles}, figures=figures, **what)


def test_batches_that_lost_little_are_told_from_those_to_be_looked_at() -> None:
    few = [("pdf_figures", number, None, "EncryptedPdf") for number in range(8, 11)]
    most = [("pdf_figures", number, None, "EncryptedPdf") for number in range(4, 11)]
    batches = {
        "nothing": sound(range(1, 11)),
        "few": sound(range(1, 11), figures=[(number, "f1") for number in range(1, 8)], rejected=few),
        "most": sound(range(1, 11), figures=[(number, "f1") for number in range(1, 4)], rejected=most),
        "two articles": sound(
            [1, 2], figures=[], rejected=[("pdf_figures", 1, None, ""), ("pdf_figures", 2, None, "")]
        ),
    }
    assert suspected(batches) == {"most"}
    assert suspected(batches, fail=1.0) == set()
    assert suspected(batches, fail=0.2) == {"few", "most"}


WAY = ("article_packages", "articles", "pdf_figures", "figures", "subcaptions", "panels", "dataset_rows")


def at_random(random: Random) -> Batch:
    """Return a batch of articles with two figures each, of which some are lost on the way, mostly at one step."""
    articles, rate, where = range(1, random.randint(4, 12)), random.random(), random.choice(WAY)
    lost: dict[tuple[int, str | None], int] = {}
    for article in articles:
        if random.random() < rate:
            stage = where if random.random() < 0.7 else random.choice(WAY)
            has_figures = stage in ("pdf_figures", "subcaptions", "panels")
            lost[article, random.choice([None, "f1", "f2"]) if has_figures else None] = WAY.index(stage)

    def reached(stage: str) -> list[int]:
        return [number for number in articles if lost.get((number, None), len(WAY)) > WAY.index(stage)]

    def figures(stage: str) -> list[Key]:
        keys = [(number, figure) for number in reached(stage) for figure in ("f1", "f2")]
        return [key for key in keys if lost.get(key, len(WAY)) > WAY.index(stage)]

    return Batch(
        articles,
        fetched=reached("article_packages"),
        articles={number: {} for number in reached("articles")},
        figures=figures("figures"),
        kept={
            "pdf_figures": figures("pdf_figures"),
            **{name: figures("subcaptions") for name in figure_stages(losing_stages())},
            "panels": figures("panels"),
        },
        rejected=[(WAY[place], article, figure, "Odd") for (article, figure), place in lost.items()],
    )


TABLES: Mapping[str, tuple[list[tuple[str, int]], list[tuple[str, str, int, None]], set[str]]] = {
    "no rejections yet": ([("a", 1), ("b", 1)], [], set()),
    "no rows": ([], [("b", "pdf_figures", number, None) for number in (1, 2, 3)], {"b"}),
    "others": ([("a", 1), ("c", 1)], [("b", "pdf_figures", number, None) for number in (1, 2, 3)], {"b"}),
}


@pytest.mark.parametrize("case", TABLES)
def test_a_batch_that_failed_between_two_tables_stops_nobody(case: str) -> None:
    """One table has batches that the other has not: `pmo run` goes on."""
    rows, rejections, lost = TABLES[case]
    columns = {"stage": pl.String, "article_id": pl.Int64, "image_cluster_id": pl.String}
    found = may_have_lost_much(
        pl.DataFrame(rows, {"batch": names_of(rows), "article_id": pl.Int64}, orient="row"),
        pl.DataFrame(rejections, {"batch": names_of(rejections), **columns}, orient="row"),
        0.5,
        losing_stages(),
    )
    assert found == lost


@pytest.mark.slow  # a hundred batches
def test_no_batch_that_lost_too_much_is_overlooked() -> None:
    random = Random(1)
    batches = {str(number): at_random(random) for number in range(100)}
    much = {
        name
        for name, batch in batches.items()
        if excessive(batch_losses(cast(Tables, batch), "0001-x", losing_stages()), 0.5)
    }
    assert 10 < len(much) < 90
    found = suspected(batches)
    assert much <= found
    assert len(found) < 90
