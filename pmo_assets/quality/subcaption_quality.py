"""`subcaption_quality`: how well captions of several panels are split, against the confidence that was claimed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pmo_assets.quality.measured import WORST_CASES, Case, Measured, figure_title, record_key
from pmo_assets.quality.metrics.captions import (
    RIGHT_BLEU,
    CaptionScore,
    ConfidenceBin,
    calibration_error,
    caption_score,
    caption_summary,
    coverage,
    even_bins,
)
from pmo_assets.quality.metrics.matching import FigurePair, normalised_text
from pmo_assets.quality.metrics.metric import Metric, mean, share
from pmo_assets.quality.scored_articles import ScoredArticles
from pmo_assets.records.identifiers import normalised_identifier
from pmo_assets.records.step_output import Row
from pmo_assets.viewing.comparisons import caption_comparison, stacked, text_comparison
from pmo_assets.viewing.quality_plots import calibration_plot, coverage_plot
from pmo_assets.viewing.text_differences import caption_segments

FEW_CAPTIONS = 200
"""With fewer, ten bins of confidence would hold a handful each: five are made."""


@dataclass(frozen=True)
class _SplitCaption:
    """An annotated figure of several panels that was found, and how its caption was split."""

    pair: FigurePair
    rows: Sequence[Row]
    score: CaptionScore
    has_text: bool

    @property
    def method(self) -> str:
        return str(self.rows[0]["method"]) if self.rows else "not split"

    @property
    def problems(self) -> list[str]:
        missing = [name for name in self.score.identifiers if name not in self.score.predicted]
        invented = [name for name in self.score.predicted if name not in self.score.identifiers]
        found = []
        if self.score.unprocessed:
            if missing:
                found.append(f"identifiers not found: {', '.join(name or 'none' for name in missing)}")
            if self.score.predicted == ("",):
                found.append("taken for the caption of a single panel")
            elif invented:
                found.append(f"taken for identifiers: {', '.join(invented)}")
        elif self.has_text:
            low = {name: value for name, value in self.score.panel_bleu.items() if value < RIGHT_BLEU}
            if low:
                found.append("BLEU: " + ", ".join(f"{name} {value:.2f}" for name, value in low.items()))
        return found

    @property
    def badness(self) -> float:
        if not self.problems:
            return 0.0
        # A wrong answer that was given with confidence is worse than one that was doubted.
        return (2.0 if self.score.unprocessed else 1 - self.score.mean_bleu) * (0.5 + 0.5 * self.score.confidence)


def _split_caption(scored: ScoredArticles, pair: FigurePair) -> _SplitCaption:
    rows = sorted(scored.rows("subcaptions", pair), key=lambda row: row["ordinal"])
    truth = {panel.identifier: panel.subcaption for panel in pair.truth.panels}
    found = {row["identifier"]: row["text"] for row in rows}
    confidence = float(rows[0]["confidence"]) if rows else 0.0
    name = figure_title(pair.name, pair.truth.label)
    score = caption_score(name, truth, found if rows else None, confidence)
    # Panels whose subcaption is annotated as empty have nothing to compare.
    empty = {normalised_identifier(k) for k, text in truth.items() if not normalised_text(text)}
    if empty and not score.unprocessed:
        kept = {k: text for k, text in truth.items() if normalised_identifier(k) not in empty}
        part = {k: text for k, text in found.items() if normalised_identifier(k) not in empty}
        score = caption_score(name, kept, part, confidence)
    return _SplitCaption(pair, rows, score, len(empty) < len({normalised_identifier(k) for k in truth}))


def _bins(scores: Sequence[CaptionScore]) -> list[ConfidenceBin]:
    return even_bins(scores, 5 if len(scores) < FEW_CAPTIONS else 10)


def _subcaption_metrics(splits: Sequence[_SplitCaption], single: Sequence[bool], not_found: int) -> list[Metric]:
    scores = [item.score for item in splits]
    with_text = [item.score for item in splits if item.has_text]
    done = [score.mean_bleu for score in with_text if not score.unprocessed]
    metrics = [
        Metric("unprocessed captions", share([score.unprocessed for score in scores]), len(scores)),
        Metric("mean average sentence BLEU", mean(done), len(done)),
        Metric("captions right", share([score.right for score in with_text]), len(with_text), threshold=RIGHT_BLEU),
        Metric("false splits", share(single), len(single), "single panels"),
        Metric("calibration error", calibration_error(_bins(with_text)) if with_text else None, len(with_text)),
        Metric("figures not found", float(not_found), not_found + len(scores) + len(single)),
    ]
    for part in coverage(with_text):
        group = f"top {100 * part.share:.0f} %"
        n = part.summary.captions
        metrics.append(Metric("unprocessed captions", part.summary.unprocessed_share, n, group))
        metrics.append(
            Metric("mean average sentence BLEU", part.summary.mab if part.summary.processed else None, n, group)
        )
    for method in sorted({item.method for item in splits}):
        chosen = [item.score for item in splits if item.method == method and item.has_text]
        summary = caption_summary(chosen)
        metrics.append(
            Metric("unprocessed captions", summary.unprocessed_share if chosen else None, len(chosen), method)
        )
        metrics.append(
            Metric("mean average sentence BLEU", summary.mab if summary.processed else None, len(chosen), method)
        )
    return metrics


def _subcaption_case(item: _SplitCaption) -> Case:
    assert item.pair.found is not None
    caption = item.pair.found.caption or ""
    truth = [(panel.identifier, caption_segments(caption, panel.subcaption)) for panel in item.pair.truth.panels]
    found = [(row["identifier"], [(a, b) for a, b in row["segments"]]) for row in item.rows]
    parts = [caption_comparison(caption, truth, found)]
    if not item.score.unprocessed:
        texts = {normalised_identifier(row["identifier"]): row["text"] for row in item.rows}
        wrong = sorted(
            (
                panel
                for panel in item.pair.truth.panels
                if normalised_identifier(panel.identifier) in item.score.panel_bleu
            ),
            key=lambda panel: item.score.panel_bleu[normalised_identifier(panel.identifier)],
        )
        parts += [
            text_comparison(
                panel.subcaption,
                texts[normalised_identifier(panel.identifier)],
                title=f"worst panel, {panel.identifier}: annotated | found",
            )
            for panel in wrong[:1]
        ]
    confidence = f"split by {item.method} with confidence {item.score.confidence:.2f}"
    return Case(figure_title(item.pair.name, item.pair.truth.label), [*item.problems, confidence], stacked(parts))


def subcaptions_measured(scored: ScoredArticles, worst: int = WORST_CASES) -> Measured:
    """Compare the splits of captions of several panels; figures that were not found have no caption to split."""
    located = [pair for pair in scored.matched.pairs if pair.found is not None]
    splits = [_split_caption(scored, pair) for pair in located if len(pair.truth.panels) > 1]
    single = [
        any(row["identifier"] is not None for row in scored.rows("subcaptions", pair))
        for pair in located
        if len(pair.truth.panels) == 1
    ]
    metrics = _subcaption_metrics(splits, single, len(scored.matched.pairs) - len(located))
    rows = [
        {
            **record_key(item.pair, scored.cluster(item.pair)),
            "badness": item.badness,
            "problems": item.problems,
            "identifiers": list(item.score.identifiers),
            "predicted": list(item.score.predicted),
            "unprocessed": item.score.unprocessed,
            "mean_bleu": min(1.0, item.score.mean_bleu) if item.has_text and not item.score.unprocessed else None,
            "confidence": item.score.confidence,
            "method": item.method,
        }
        for item in splits
    ]
    scores = [item.score for item in splits if item.has_text]
    bins = _bins(scores)
    plots = [
        ("calibration", calibration_plot(bins, error=calibration_error(bins), title=f"{len(scores)} captions")),
        ("coverage", coverage_plot(coverage(scores), title=f"{len(scores)} captions of several panels")),
    ]
    bad = sorted((item for item in splits if item.problems), key=lambda item: (-item.badness, item.pair.key))
    note = "Captions of figures with several panels, as split before assembly."
    return Measured(metrics, rows, plots, [_subcaption_case(item) for item in bad[:worst]], note)
