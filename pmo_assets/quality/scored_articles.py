"""Scored articles: the annotated ones that the batches hold, each figure with the result of the pipeline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from pmo_assets.annotation.annotations import AnnotatedArticle, annotated_articles
from pmo_assets.quality.metrics.matching import FigurePair, Matched, matched_articles
from pmo_assets.quality.predictions import predicted_articles
from pmo_assets.quality.quality_tables import has_annotations, quality_key
from pmo_assets.records.step_output import Row, rows_by_figure, rows_by_unit
from pmo_assets.records.stores import StorageError
from pmo_assets.release.selection import current_articles
from pmo_assets.storage.parquet import read_parquet
from pmo_assets.storage.tables import Tables


@dataclass(frozen=True)
class ScoredArticles:
    """Annotated articles that the tables hold, with the results of the pipeline.

    Attributes:
        truth: annotated articles by number.
        matched: their figures, each with the found one.
        figures: rows of `figures` by article, in their order: `FigurePair.found_ordinal` counts in it.
        pdfs: object key of the PDF by article.
        further: rows of further tables by (article, image_cluster_id).
        left_out: annotated articles that are not scored: name and why.
    """

    truth: Mapping[int, AnnotatedArticle]
    matched: Matched
    figures: Mapping[int, Sequence[Row]]
    pdfs: Mapping[int, str | None]
    further: Mapping[str, Mapping[tuple[int, str], Sequence[Row]]]
    left_out: Mapping[str, str]

    def figure_row(self, pair: FigurePair) -> Row | None:
        """Return the row of `figures` of the found figure; None when none was found."""
        return None if pair.found_ordinal is None else self.figures[pair.article_id][pair.found_ordinal]

    def rows(self, table: str, pair: FigurePair) -> Sequence[Row]:
        """Return the rows of a further table for the found figure."""
        row = self.figure_row(pair)
        return [] if row is None else self.further[table].get((row["article_id"], row["image_cluster_id"]), [])

    def cluster(self, pair: FigurePair) -> str | None:
        """Return the image_cluster_id of the found figure; None when none was found."""
        row = self.figure_row(pair)
        return None if row is None else str(row["image_cluster_id"])


def _current(tables: Tables, table: str, current: Mapping[str, Sequence[int]], wanted: Sequence[int]) -> list[Row]:
    rows: list[Row] = []
    for batch, ids in current.items():
        kept = sorted(set(ids) & set(wanted))
        if kept:
            rows += tables.read(table, batch).filter(pl.col("article_id").is_in(kept)).to_dicts()
    return rows


def scored_articles(tables: Tables, further: Sequence[str] = (), *, assembled: bool = False) -> ScoredArticles:
    """Return the annotated articles of the batches that are materialised, in their newest version.

    An article that the pipeline did not take (not relevant, retracted, without a PDF) is not scored; one that it took
    and could not process is, with all its figures missed.

    Args:
        tables: the tables below the data root.
        further: tables of figures that are needed besides `figures`.
        assembled: fill the found figures' panels from `panel_assembly`.

    Raises:
        StorageError: if `annotations` has not been materialised.
    """
    data_root = tables.data_root
    if not has_annotations(data_root):
        raise StorageError("no annotated articles: set PMO_ANNOTATIONS and materialise annotations first")
    annotated = annotated_articles(read_parquet(data_root, quality_key("annotations")).to_dicts())
    needed = [*further, *(["panel_assembly"] if assembled else [])]
    finished = needed[-1] if needed else "figures"
    current = current_articles(tables, finished)
    known = {row["article_id"]: row for row in _current(tables, "articles", current, list(annotated))}
    left_out = {}
    for number, article in annotated.items():
        row = known.get(number)
        if row is None:
            left_out[article.article_id] = f"in no batch that has {finished}"
        elif not row["selected"]:
            reason = "retracted" if row["is_retracted"] else row["relevance_reason"] if row["has_pdf"] else "no PDF"
            left_out[article.article_id] = f"not processed: {reason}"
    truth = {number: article for number, article in annotated.items() if article.article_id not in left_out}
    numbers = list(truth)
    rows = {table: _current(tables, table, current, numbers) for table in ("figures", *needed)}
    figures = {
        number: sorted(part, key=lambda row: row["ordinal"]) for number, part in rows_by_unit(rows["figures"]).items()
    }
    names = {number: article.article_id for number, article in truth.items()}
    found = predicted_articles(names, rows["figures"], rows["panel_assembly"] if assembled else ())
    return ScoredArticles(
        truth=truth,
        matched=matched_articles(truth, found),
        figures=figures,
        pdfs={number: known[number]["pdf"] for number in numbers},
        further={
            table: {
                (number, cluster): part
                for number, of_article in rows_by_unit(rows[table]).items()
                for cluster, part in rows_by_figure(of_article).items()
            }
            for table in needed
        },
        left_out=left_out,
    )
