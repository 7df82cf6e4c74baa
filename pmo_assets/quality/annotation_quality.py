"""`annotation_quality`: how far people agree, what their audit came to, how far marks and regions are from theirs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from pmo_assets.annotation.annotations import AnnotatedArticle, article_number, article_of_row
from pmo_assets.annotation.cases import UNDECIDED, is_judged, stratum
from pmo_assets.annotation.instruction_cases import instruction_sizes
from pmo_assets.quality.metrics.agreement import (
    PairAgreement,
    annotation_metrics,
    answer_pairs,
    audit_verdicts,
    pair_agreement,
    pair_number,
    weighted_shares,
)
from pmo_assets.quality.metrics.instructions import instruction_audit_metrics, instruction_verdicts, latest_answers
from pmo_assets.quality.metrics.metric import Metric, mean
from pmo_assets.quality.metrics.regions import machine_metrics
from pmo_assets.quality.quality_tables import has_annotations, quality_key
from pmo_assets.records.instructions import INSTRUCTION_KINDS
from pmo_assets.records.reviews import INSTRUCTION_VERDICTS, VERDICTS
from pmo_assets.release.facts import AuditFacts, Audits
from pmo_assets.release.selection import current_articles
from pmo_assets.storage.parquet import read_parquet
from pmo_assets.storage.tables import Tables
from pmo_assets.viewing.palette import FOUND_COLOUR, SHARED_COLOUR, TRUTH_COLOUR
from pmo_assets.viewing.quality_plots import stacked_shares_plot

_VERDICT_COLOURS = {"right": TRUTH_COLOUR, "wrong": FOUND_COLOUR, "not evaluable": SHARED_COLOUR}
_INSTRUCTION_COLOURS = {"right": TRUTH_COLOUR, "wrong": FOUND_COLOUR, "unclear": SHARED_COLOUR}


@dataclass(frozen=True)
class AnnotationsMeasured:
    """Numbers, a row per pair of answers to the same question, and plots (title, PNG)."""

    metrics: Sequence[Metric]
    rows: Sequence[dict[str, Any]]
    plots: Sequence[tuple[str, bytes]]


def answered_articles(tables: Tables) -> list[AnnotatedArticle]:
    """Return the annotated articles that hold single answers of people; none without table `annotations`."""
    if not has_annotations(tables.data_root):
        return []
    rows = read_parquet(tables.data_root, quality_key("annotations")).to_dicts()
    return [article for article in map(article_of_row, rows) if article.is_answered]


def assembly_sizes(tables: Tables) -> dict[str, int]:
    """Return the number of panels that an audit could have drawn, by who assigned them."""
    sizes: Counter[str] = Counter()
    for batch, numbers in current_articles(tables, "panel_assembly").items():
        wanted = set(numbers)
        panels = tables.read("panel_assembly", batch).select("article_id", "subcaption", "assembly", "wanted")
        for number, subcaption, assembly, goes_on in panels.iter_rows():
            if number in wanted and is_judged(subcaption, goes_on):
                sizes[stratum(assembly)] += 1
    return dict(sizes)


def release_audits(tables: Tables) -> Audits:
    """Return what people judged of the panels that a release takes, and of instructions."""
    articles = answered_articles(tables)
    panels, instructions = audit_verdicts(articles), instruction_verdicts(latest_answers(articles))
    sizes = instruction_sizes(tables, current_articles(tables, "panel_assembly")) if instructions else {}
    return Audits(
        audit_facts(panels, assembly_sizes(tables) if panels else {}, VERDICTS),
        audit_facts(instructions, sizes, INSTRUCTION_VERDICTS),
    )


def audit_facts(
    verdicts: Mapping[str, Counter[str]], sizes: Mapping[str, int], names: Sequence[str]
) -> AuditFacts | None:
    """Return the shares of verdicts over all of the audited strata; None where nothing is in them any more.

    Undecided panels are in no release: nothing of them is counted.

    Args:
        verdicts: by stratum (`audit_verdicts`, `instruction_verdicts`).
        sizes: what there is in each (`assembly_sizes`, `instruction_sizes`).
        names: of the verdicts, in the order in which they are told.
    """
    verdicts = {stratum: counts for stratum, counts in verdicts.items() if stratum != UNDECIDED}
    shares = weighted_shares(verdicts, sizes)
    if shares is None:
        return None
    judged = sum(counts.total() for counts in verdicts.values())
    return AuditFacts(judged, {name: shares.get(name, 0.0) for name in names})


def decided_rows(tables: Tables, articles: Sequence[AnnotatedArticle], name: str) -> list[dict[str, Any]]:
    """Return the rows of `marks` or `regions` of the articles whose marks and regions people decided."""
    wanted = {article_number(article.article_id) for article in articles if article.regions}
    found: list[dict[str, Any]] = []
    for batch, numbers in current_articles(tables, "panel_assembly").items():
        chosen = sorted(wanted & set(numbers))
        if chosen and tables.exists(name, batch):
            found += tables.read(name, batch).filter(pl.col("article_id").is_in(chosen)).to_dicts()
    return found


def _whole_figures(articles: Sequence[AnnotatedArticle]) -> set[tuple[int, str]]:
    return {
        (article_number(article.article_id), figure.image_cluster_id)
        for article in articles
        for figure in article.regions
        if figure.purpose == "full" and figure.image_cluster_id is not None
    }


def _row(number: int, item: PairAgreement) -> dict[str, Any]:
    overlaps = [value for values in item.ious.values() for value in values]
    problems = item.problems
    return {
        "article_id": pair_number(item),
        "record": f"q{number}",
        "name": item.pair.article,
        "label": item.pair.first.label or "",
        "image_cluster_id": item.pair.first.image_cluster_id,
        "badness": float(len(problems)),
        "problems": problems,
        "interface": item.pair.interface,
        "people": list(item.pair.people),
        "iou": mean(overlaps),
    }


def annotations_measured(
    articles: Sequence[AnnotatedArticle],
    sizes: Mapping[str, int],
    marks: Sequence[Mapping[str, Any]] = (),
    regions: Sequence[Mapping[str, Any]] = (),
    instructions: Mapping[str, int] | None = None,
) -> AnnotationsMeasured:
    """Measure how far people agree, and how far the machine's marks and regions are from theirs.

    Args:
        articles: with answers.
        sizes: panels by who assigned them (`assembly_sizes`).
        marks: rows of `marks` of these articles (`decided_rows`).
        regions: rows of `regions` of these articles.
        instructions: instructions by stratum (`instruction_sizes`).
    """
    pairs = [pair_agreement(pair) for pair in answer_pairs(articles)]
    verdicts = {name: dict(counts) for name, counts in audit_verdicts(articles).items()}
    plots = (
        [("audit", stacked_shares_plot(verdicts, _VERDICT_COLOURS, title="Audited panels, by who assigned them"))]
        if verdicts
        else []
    )
    rows = [_row(number, item) for number, item in enumerate(pairs)]
    of_machine = machine_metrics(marks, regions, _whole_figures(articles))
    judged = Counter((answer.kind, answer.verdict) for answer in latest_answers(articles))
    if judged:
        kinds = [kind for kind in INSTRUCTION_KINDS if any(of == kind for of, _ in judged)]
        by_kind: dict[str, dict[str, int]] = {
            kind: {verdict: judged[kind, verdict] for verdict in INSTRUCTION_VERDICTS} for kind in kinds
        }
        plots.append(
            ("audit of instructions", stacked_shares_plot(by_kind, _INSTRUCTION_COLOURS, title="Audited instructions"))
        )
    of_instructions = instruction_audit_metrics(articles, instructions)
    return AnnotationsMeasured([*annotation_metrics(articles, sizes), *of_instructions, *of_machine], rows, plots)
