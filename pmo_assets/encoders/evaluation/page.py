"""A result for people: tables for the terminal, and a page of the same tables."""

from __future__ import annotations

from collections.abc import Sequence

from pmo_assets import __version__
from pmo_assets.encoders.evaluation.results import Direction, Evaluation
from pmo_assets.viewing.report import Headline, Picture, ReportSummary, Table, render_report


def result_tables(result: Evaluation) -> tuple[Table, ...]:
    """Return the sections of a result as tables."""
    tables = (_retrieval_table, _classification_table, _robustness_table, _distances_table)
    return tuple(found for table in tables if (found := table(result)) is not None)


def evaluation_page(result: Evaluation, pictures: Sequence[Picture] = ()) -> str:
    """Return the page of a result, one HTML document that loads nothing."""
    directions = [("image to text", result.image_to_text), ("text to image", result.text_to_image)]
    return render_report(
        ReportSummary(
            title=f"{result.encoder} on {result.data}",
            lead=" ".join(f"{note[0].upper()}{note[1:]}." for note in result.notes if note),
            facts=(("encoder", result.encoder), ("data", result.data), ("pmo-assets", __version__)),
            headlines=tuple(
                Headline(f"recall@1, {name}", number(item.recall_at_1), f"of {item.queries:,} queries")
                for name, item in directions
                if item is not None
            ),
            tables=result_tables(result),
            pictures=tuple(pictures),
        )
    )


def number(value: float, interval: tuple[float, float] | None = None) -> str:
    """Return a number as tables show it, with its interval if it has one."""
    text = f"{value:,.1f}" if abs(value) > 1 else f"{value:.4f}"
    return text if interval is None else f"{text} [{number(interval[0])}, {number(interval[1])}]"


def _retrieval_table(result: Evaluation) -> Table | None:
    directions = {"image to text": result.image_to_text, "text to image": result.text_to_image}
    found: dict[str, Direction] = {name: item for name, item in directions.items() if item is not None}
    if not found:
        return None
    names = [*next(iter(found.values())).numbers()]
    rows = [
        (name, *(number(item.numbers()[name], (item.intervals or {}).get(name)) for item in found.values()))
        for name in names
    ]
    for name in ("queries", "candidates", "unanswerable"):
        rows.append((name, *(f"{getattr(item, name):,}" for item in found.values())))
    return Table("Retrieval", ("", *found), tuple(rows))


def _classification_table(result: Evaluation) -> Table | None:
    if not result.classification:
        return None
    columns = ("", *(item.method for item in result.classification))
    rows: list[tuple[str, ...]] = []
    for name in ("macro_f1", "balanced_accuracy", "accuracy", "auroc"):
        values = [(getattr(item, name), (item.intervals or {}).get(name)) for item in result.classification]
        rows.append((name, *("-" if value is None else number(value, interval) for value, interval in values)))
    rows.append(("chosen", *(item.chosen or "-" for item in result.classification)))
    counts = result.classification[0].classes
    note = "Pictures: " + ", ".join(f"{name} {count:,}" for name, count in counts.items()) + "."
    return Table("Classification", columns, tuple(rows), note)


def _robustness_table(result: Evaluation) -> Table | None:
    if not result.robustness:
        return None
    names = ("recall@1", "recall@10", "recall@200", "mrr")
    rows = []
    for item in result.robustness:
        for arrow, ratios, p_value in (
            ("image to text", item.image_to_text, item.image_to_text_p),
            ("text to image", item.text_to_image, item.text_to_image_p),
        ):
            values = [ratios.get(name) for name in names]
            rows.append(
                (item.perturbation, arrow, *("-" if value is None else f"{value:.3f}" for value in values),
                 f"{p_value:.2g}")
            )  # fmt: skip
    columns = ("perturbation", "direction", *names, "p")
    return Table("Kept under perturbation, of the clean numbers", columns, tuple(rows))


def _distances_table(result: Evaluation) -> Table | None:
    if not result.distances:
        return None
    rows = tuple(
        (
            f"{item.one} - {item.other}",
            f"{item.squared_mmd:.4g} [{item.interval[0]:.4g}, {item.interval[1]:.4g}]",
            f"[{item.null[0]:.2g}, {item.null[1]:.2g}]",
            f"{item.p_value:.2g}",
            f"{item.permutations:,}",
            f"{item.rows[0]:,}, {item.rows[1]:,}",
        )
        for item in result.distances
    )
    return Table("Squared MMD", ("sets", "estimate", "95 % of permutations", "p", "permutations", "rows"), rows)
