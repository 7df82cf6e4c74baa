"""An evaluation of answers for people: tables for the terminal, and a page of the same tables."""

from __future__ import annotations

from typing import Final

from pmo_assets import __version__
from pmo_assets.quality.answers.scores import METRICS, AnswerEvaluation, Grouping, Metric, Share
from pmo_assets.viewing.report import Headline, ReportSummary, Table, render_report

_NAMES: Final[dict[Metric, str]] = {"exact": "exact", "f1": "F1", "judge": "judge", "bertscore": "BERTScore"}
_TITLES: Final[dict[Grouping, str]] = {"all": "", "kind": "kind", "topic": "entity group", "modality": "modality"}

LEAD: Final = (
    "Short questions of the release's test split. Baselines learn from its train split and see no picture, but for "
    "retrieval, which takes the answer to the most similar question about the most similar picture. What a model has "
    "beyond blind it may have seen."
)
"""What the page says first."""


def evaluation_tables(result: AnswerEvaluation) -> tuple[Table, ...]:
    """Return the tables of an evaluation: all questions, then by kind, entity group and modality."""
    return tuple(_table(result, by) for by in _TITLES if any(part.by == by for part in result.answerers[0].parts))


def answers_page(result: AnswerEvaluation) -> str:
    """Return the page of an evaluation, one HTML document that loads nothing."""
    facts = [
        ("release", result.release), ("test set (SHA-256)", result.test_set),
        ("questions", f"{result.questions:,}"), ("questions of the train split", f"{result.learned:,}"),
        ("judge", result.judge or "none"), ("BERTScore by", result.bertscore or "not computed"),
        ("pmo-assets", __version__),
    ]  # fmt: skip
    return render_report(
        ReportSummary(
            title=f"{result.answerers[0].name} on the instructions of release {result.release}",
            lead=LEAD,
            facts=tuple(facts),
            headlines=tuple(
                Headline(f"exact match, {item.name}", said(item.parts[0].scores["exact"]), f"of {result.questions:,}")
                for item in result.answerers
            ),
            tables=evaluation_tables(result),
        )
    )


def said(share: Share) -> str:
    """Return a mean with its interval in words."""
    text = f"{share.value:.3f}"
    return text if share.interval is None else f"{text} [{share.interval[0]:.3f}, {share.interval[1]:.3f}]"


def _table(result: AnswerEvaluation, by: Grouping) -> Table:
    metrics = [name for name in METRICS if any(name in item.parts[0].scores for item in result.answerers)]
    own = (_TITLES[by], "questions", "articles") if _TITLES[by] else ()
    last = ("beyond blind", *(() if own else ("refusals", "missing", *(("unjudged",) if result.judge else ()))))
    rows = []
    for place, part in enumerate(result.answerers[0].parts):
        if part.by != by:
            continue
        for item in result.answerers:
            cells: list[str] = [part.name, f"{part.questions:,}", f"{part.articles:,}"] if own else []
            told = item.parts[place]
            cells.append(item.name)
            cells += [said(told.scores[name]) if name in told.scores else "" for name in metrics]
            cells.append("" if told.over_blind is None else said(told.over_blind))
            if not own:
                cells += [f"{item.refusals:,}", f"{item.missing:,}", *([f"{item.unjudged:,}"] if result.judge else [])]
            rows.append(tuple(cells))
    title = f"By {_TITLES[by]}" if own else "All questions"
    return Table(title, (*own, "answers of", *(_NAMES[name] for name in metrics), *last), tuple(rows))
