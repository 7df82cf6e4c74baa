"""A comparison of a published file and a release for people: tables for the terminal, a page, a file of the pairs."""

from __future__ import annotations

import contextlib
import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

import polars as pl
import pyarrow.parquet as pq

from pmo_assets import __version__
from pmo_assets.release.comparing.comparison import ComparedArticle, ComparedPanel, FilePanel, Side, compared_row
from pmo_assets.release.comparing.summary import IOU_EDGES, ComparisonSummary, Numbers, agreement
from pmo_assets.system.aside import path_aside
from pmo_assets.tables.published import ComparedPanels
from pmo_assets.tables.release import arrow_schema
from pmo_assets.tables.schemas import empty_table
from pmo_assets.viewing.plots import Bar
from pmo_assets.viewing.report import BarGroup, Cell, Headline, ReportSummary, Table, render_report

MOST_REASONS: Final = 20
_LONGEST_TEXT: Final = 1_500
"""Characters of a subcaption on the page."""


def _number(value: float | None) -> Cell:
    return None if value is None else f"{value:.3f}"


def _share(part: int, whole: int) -> Cell:
    return f"{100 * part / whole:.1f} %" if whole else None


def _found(summary: ComparisonSummary) -> Table:
    counts = {"articles": summary.articles, "figures": summary.figures, "panels": summary.panels}
    found = [(name, c["both"], c["published"], c["release"]) for name, c in counts.items()]
    rows = tuple((*row, _share(row[1], row[1] + row[2]), _share(row[1], row[1] + row[3])) for row in found)
    headings = ("", "both", "only published", "only this release", "of published", "of this release")
    return Table("Found", headings, rows, note="The shares say how much of each file the other one has.")


def class_names() -> tuple[str, ...]:
    """Return the names of the classes of overlap."""
    return tuple(f"{low:g}–{high:g}" for low, high in itertools.pairwise(IOU_EDGES))


def _overlaps(summary: ComparisonSummary) -> Table:
    both = summary.figure_iou, summary.panel_iou
    rows: list[tuple[Cell, ...]] = [
        ("pairs", *(len(numbers.values) for numbers in both)),
        ("mean", *(_number(numbers.mean) for numbers in both)),
        ("median", *(_number(numbers.median) for numbers in both)),
        *zip(class_names(), *(numbers.classes() for numbers in both), strict=True),
    ]
    return Table("Overlap of boxes (IoU) of what both have", ("", "figures on the page", "panels"), tuple(rows))


def _subcaptions(summary: ComparisonSummary) -> Table:
    states, compared = summary.subcaptions, len(summary.edit_similarity.values)

    def line(name: str, numbers: Numbers) -> tuple[Cell, ...]:
        return name, _number(numbers.mean), f"median {numbers.median:.3f}" if numbers.median is not None else None

    rows: list[tuple[Cell, ...]] = [
        ("compared", compared, None),
        ("the same but for white space", summary.exact, _share(summary.exact, compared)),
        line("edit similarity, mean", summary.edit_similarity),
        line("words in common (Dice), mean", summary.token_overlap),
        *((name, states[name], None) for name in ("withheld there", "withheld here", "withheld in both")),
    ]
    return Table("Subcaptions of panels that both have", ("", "number", ""), tuple(rows))


def _contained(summary: ComparisonSummary) -> Table:
    sides: tuple[Side, ...] = ("both", "published", "release", "neither")
    shares = ((name, counts, agreement(counts)) for name, counts in summary.contained.items())
    rows = tuple(
        (name, *(c[side] for side in sides), None if share is None else f"{100 * share:.1f} %")
        for name, c, share in shares
    )
    headings = ("panel holds", "both say so", "only published", "only this release", "neither", "agreement")
    return Table("Image types and marks of panels that both have", headings, rows)


def _confusion(title: str, counts: Counter[tuple[str, str]]) -> Table:
    there, here = (sorted({pair[side] for pair in counts}) for side in (0, 1))
    rows: tuple[tuple[Cell, ...], ...] = tuple((one, *(counts[one, two] for two in here)) for one in there)
    return Table(title, ("published \\ this release", *here), rows, note="Images in panels that both have.")


def _names(summary: ComparisonSummary) -> Table:
    same, other = summary.same_name[True], summary.same_name[False]
    rows: tuple[tuple[Cell, ...], ...] = (
        ("the same panel name", same, _share(same, same + other)),
        ("another panel name", other, _share(other, same + other)),
        *((f"figures matched by {name}", count, None) for name, count in sorted(summary.matched_by.items())),
        ("articles under the same licence", summary.same_licence[True], None),
        ("articles under another licence", summary.same_licence[False], None),
    )
    return Table("Names and licences", ("", "number", ""), rows)


def _counted(title: str, headings: tuple[str, ...], counts: Counter[str]) -> Table:
    rows = tuple((reason, count) for reason, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])))
    return Table(title, headings, rows[:MOST_REASONS])


def comparison_tables(summary: ComparisonSummary) -> list[Table]:
    """Return the tables of a comparison, the most important first; empty ones are left out."""
    licences = sorted(summary.licences.items(), key=lambda item: (-item[1], str(item[0])))
    tables = [
        _found(summary),
        _overlaps(summary),
        _subcaptions(summary),
        _contained(summary),
        _confusion("Image types of images", summary.image_types),
        _confusion("Mark status of images", summary.marks),
        _names(summary),
        Table(
            "Licences that differ",
            ("published", "this release", "articles"),
            tuple((there or "none", here or "none", count) for (there, here), count in licences),
        ),
        _counted("Articles that only the published file has", ("why", "articles"), summary.absent_articles),
        _counted("Figures that only the published file has", ("why", "figures"), summary.absent_figures),
        _counted("Panels that only the published file has", ("why", "panels"), summary.absent_panels),
    ]
    return [table for table in tables if table.rows]


def _place(there: FilePanel, here: FilePanel) -> tuple[Cell, ...]:
    names = (f"{panel.panel_id} ({panel.panel_name or 'single panel'})" for panel in (there, here))
    return f"PMC{there.article_id}", there.image_cluster_id, *names


def _boxes_text(panel: FilePanel) -> str:
    box = panel.boxes.content or panel.boxes.predicted
    return "none" if box is None else ", ".join(f"{value:.3f}" for value in box)


def _both(panels: Iterable[ComparedPanel]) -> Iterator[tuple[ComparedPanel, FilePanel, FilePanel]]:
    return ((item, item.published, item.release) for item in panels if item.published and item.release)


def _worst(summary: ComparisonSummary) -> list[Table]:
    names = ("article", "figure", "published panel", "panel of this release")
    texts = tuple(
        (
            *_place(there, here),
            _number(pair.edit_similarity),
            *((panel.subcaption or "")[:_LONGEST_TEXT] for panel in (there, here)),
        )
        for pair, there, here in _both(summary.worst_subcaptions)
    )
    boxes = tuple(
        (*_place(there, here), _number(pair.panel_iou), _boxes_text(there), _boxes_text(here))
        for pair, there, here in _both(summary.worst_boxes)
    )
    return [
        Table(
            "Subcaptions that agree least", (*names, "edit similarity", "published", "this release"), texts,
            note="Of panels that both have.",
        ),
        Table(
            "Boxes that agree least", (*names, "IoU", "published", "this release"), boxes,
            note="Left, top, right, bottom of what the picture shows, normalised to each file's figure.",
        ),
    ]  # fmt: skip


def comparison_page(summary: ComparisonSummary, published: str, release: str) -> str:
    """Return the page of a comparison: one HTML file that needs nothing else.

    Args:
        summary: of the comparison.
        published: name of the published file.
        release: name of the release.
    """
    panels = summary.panels
    overlaps = summary.panel_iou.classes()
    bars = tuple(Bar(name, count) for name, count in zip(class_names(), overlaps, strict=True))
    return render_report(
        ReportSummary(
            title="A published file and this release",
            lead=f"{published}, compared with {release}.",
            facts=(("pmo-assets", __version__),),
            headlines=(
                Headline("panels in both", panels["both"]),
                Headline("panels only published", panels["published"]),
                Headline("panels only in this release", panels["release"]),
                Headline("subcaptions the same", _share(summary.exact, len(summary.edit_similarity.values)) or "none"),
            ),
            groups=(BarGroup("Overlap of panels (IoU)", bars, histogram=True, shares=False),) if panels["both"] else (),
            tables=tuple(table for table in (*comparison_tables(summary), *_worst(summary)) if table.rows),
        )
    )


_ROWS_AT_ONCE: Final = 5_000


@contextlib.contextmanager
def pairs_file(path: Path) -> Iterator[Callable[[ComparedArticle], None]]:
    """Give the function that adds an article's panels to a Parquet file (`ComparedPanels`), whole or not there.

    Args:
        path: where the file appears when the block ends without an error; its folder is made.
    """
    schema, dtypes = arrow_schema(ComparedPanels), empty_table(ComparedPanels).schema
    rows: list[dict[str, object]] = []
    with path_aside(path) as partial, pq.ParquetWriter(partial, schema, compression="zstd") as writer:

        def flush() -> None:
            table = pl.DataFrame(rows, schema=dtypes)
            writer.write_table(table.to_arrow(compat_level=pl.CompatLevel.oldest()).cast(schema))
            rows.clear()

        def add(article: ComparedArticle) -> None:
            rows.extend(map(compared_row, article.panels))
            if len(rows) >= _ROWS_AT_ONCE:
                flush()

        yield add
        flush()
