"""A result for people: tables for the terminal, and a page of the same tables."""

from __future__ import annotations

from collections.abc import Sequence

from pmo_assets import __version__
from pmo_assets.encoders.evaluation.results import Direction, Evaluation
from pmo_assets.viewing.report import Headline, Picture, ReportSummary, Table, render_report


def result_tables(result: Evaluation) -> tuple[Table, ...]:
    """Return the sections of a result as tables."""
    return tuple(table for table in (_retrieval_table(result),) if table is not None)


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
