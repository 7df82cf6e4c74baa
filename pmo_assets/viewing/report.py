"""The dataset report: one HTML file with the numbers, charts, rejections and batches of a release.

It knows nothing of assets or schemas: who writes a report says what the numbers are called.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from markupsafe import Markup

from pmo_assets.viewing.markup import asset_text, content_hash, number_text, page_templates, palette_css, slug
from pmo_assets.viewing.overlays import data_uri, picture_mime
from pmo_assets.viewing.plots import Bar, Drop, bar_chart, column_chart, waterfall_chart

Cell = str | int | float | timedelta | None


@dataclass(frozen=True, slots=True)
class Headline:
    """A number at the top of the report.

    Attributes:
        label: name of the counted things.
        value: a number, or text that is shown as it is.
        note: one short line below.
    """

    label: str
    value: Cell
    note: str = ""


@dataclass(frozen=True, slots=True)
class BarGroup:
    """A chart of counts.

    Attributes:
        title: heading.
        bars: in the order of drawing.
        note: one sentence below the heading.
        shares: show each bar's share of the sum.
        histogram: draw upright columns (for ordered classes) instead of horizontal bars.
    """

    title: str
    bars: tuple[Bar, ...]
    note: str = ""
    shares: bool = True
    histogram: bool = False


@dataclass(frozen=True, slots=True)
class Way:
    """Waterfall of the losses of units.

    Attributes:
        title: heading.
        start: name and number of the units that came in.
        drops: the steps at which units left.
        end: name of the rest.
        note: one sentence below the heading.
    """

    title: str
    start: tuple[str, int]
    drops: tuple[Drop, ...]
    end: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class RejectionReason:
    """Why a stage gave up, and how often.

    Attributes:
        stage: name of the asset.
        reason: error class or decision, e.g. "NoPdf".
        count: number of rows.
        examples: rejected input and message, one line each.
    """

    stage: str
    reason: str
    count: int
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Table:
    """A table; numbers and durations are aligned right and can be sorted.

    Attributes:
        title: heading.
        columns: column headings.
        rows: one cell per column; shorter rows are filled with blanks.
        note: one sentence below the heading.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture with its caption, e.g. a contact sheet.

    Attributes:
        title: heading and text alternative.
        data: PNG, JPEG or WebP bytes; others are left out.
        note: one sentence below the picture.
    """

    title: str
    data: bytes
    note: str = ""


@dataclass(frozen=True, slots=True)
class ReportSummary:
    """Contents of a report, section by section; empty sections are left out.

    Attributes:
        title: heading of the page.
        lead: one or two sentences below it.
        facts: (label, value) pairs in the header (version, date, licence).
        headlines: the most important numbers.
        ways: losses of articles, figures and panels.
        compared: a table of numbers beside others, shown before the charts.
        groups: charts (image types, licences, assembly).
        rejections: reasons; the report groups them by stage.
        tables: batches and others.
        pictures: contact sheets.
        links: (name, address relative to the page) of pages that tell more of the rejections.
    """

    title: str
    lead: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    headlines: tuple[Headline, ...] = ()
    ways: tuple[Way, ...] = ()
    compared: Table | None = None
    groups: tuple[BarGroup, ...] = ()
    rejections: tuple[RejectionReason, ...] = ()
    tables: tuple[Table, ...] = ()
    pictures: tuple[Picture, ...] = ()
    links: tuple[tuple[str, str], ...] = ()


def duration_text(duration: timedelta) -> str:
    """Return a duration for people: "0.8 s", "42 s", "3 min 05 s", "2 h 10 min"."""
    seconds = duration.total_seconds()
    if seconds < 0:
        return "-" + duration_text(-duration)
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def cell_text(cell: Cell) -> str:
    """Return a cell as it is shown: thousands separated, durations in words, None and not-finite numbers as "–"."""
    if cell is None or (isinstance(cell, float) and not math.isfinite(cell)):
        return "–"
    if isinstance(cell, timedelta):
        return duration_text(cell)
    return cell if isinstance(cell, str) else number_text(cell)


def _sort_key(cell: Cell) -> str:
    if isinstance(cell, timedelta):
        return repr(cell.total_seconds())
    if cell is None or isinstance(cell, str) or not math.isfinite(cell):
        return ""
    return repr(cell)


def _table_view(table: Table) -> dict[str, object]:
    width = len(table.columns)
    rows = [(*row, *[None] * width)[:width] for row in table.rows]
    numeric = [
        any(row[i] is not None for row in rows) and not any(isinstance(row[i], str) for row in rows)
        for i in range(width)
    ]
    return {
        "title": table.title,
        "note": table.note,
        "columns": list(zip(table.columns, numeric, strict=True)),
        "rows": [
            [(cell_text(cell), _sort_key(cell), is_number) for cell, is_number in zip(row, numeric, strict=True)]
            for row in rows
        ],
    }


def _group_view(group: BarGroup) -> dict[str, object]:
    total = sum(bar.value for bar in group.bars if math.isfinite(bar.value) and bar.value > 0)
    if group.histogram:
        plot = column_chart(group.title, group.bars)
    else:
        plot = bar_chart(group.title, group.bars, total=total if group.shares and total else None)
    return {"title": group.title, "note": group.note, "plot": plot, "empty": not group.bars}


def _stage_views(reasons: Sequence[RejectionReason]) -> list[dict[str, object]]:
    stages: dict[str, list[RejectionReason]] = {}
    for reason in reasons:
        stages.setdefault(reason.stage, []).append(reason)
    views: list[dict[str, object]] = []
    for stage, members in stages.items():
        members = sorted(members, key=lambda reason: (-reason.count, reason.reason))
        highest = max(1, members[0].count)
        views.append(
            {
                "stage": stage,
                "count": number_text(sum(reason.count for reason in members)),
                "reasons": [
                    {
                        "reason": reason.reason,
                        "count": number_text(reason.count),
                        "percent": f"{100 * max(0, reason.count) / highest:.1f}",
                        "examples": reason.examples,
                    }
                    for reason in members
                ],
            }
        )
    return views


def render_report(summary: ReportSummary) -> str:
    """Return the report as one self-contained HTML document.

    Nothing is loaded from outside, all text is escaped, and the same summary gives the same text. The page can be read
    without JavaScript, which only sorts tables.
    """
    script = asset_text("report.js")
    tables = [{**_table_view(table), "id": f"table-{i}-{slug(table.title)}"} for i, table in enumerate(summary.tables)]
    pictures = [
        {"title": picture.title, "note": picture.note, "source": Markup(data_uri(picture.data, mime))}
        for picture in summary.pictures
        if (mime := picture_mime(picture.data)) is not None
    ]
    return (
        page_templates()
        .get_template("report.html.j2")
        .render(
            title=summary.title,
            lead=summary.lead,
            facts=summary.facts,
            headlines=[(line.label, cell_text(line.value), line.note) for line in summary.headlines],
            ways=[
                {
                    "title": way.title,
                    "note": way.note,
                    "plot": waterfall_chart(way.title, way.start, way.drops, way.end),
                }
                for way in summary.ways
            ],
            compared={**_table_view(summary.compared), "id": "compared"} if summary.compared else None,
            groups=[_group_view(group) for group in summary.groups],
            stages=_stage_views(summary.rejections),
            links=summary.links,
            tables=tables,
            pictures=pictures,
            styles=Markup(asset_text("page.css") + palette_css() + asset_text("report.css")),
            script=Markup(script),
            script_hash=Markup(content_hash(script)),
        )
    )
