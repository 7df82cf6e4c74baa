"""The statistics of a release as people read them: beside the paper's numbers, as tables, Markdown, charts and JSON.

Every word and number of the card, the report, the terminal and the UI about a release's numbers is made here, from
`ReleaseStatistics`; nothing is counted here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from pmo_assets.records.context import EYE_NAMES, MODALITY_CLASS_NAMES
from pmo_assets.records.panels import ADJUDICATED, AUTOMATIC, BY_MODEL, BY_PERSON, GROUND_TRUTH
from pmo_assets.release.hub.markdown import markdown_table
from pmo_assets.release.statistics import paper_numbers as paper
from pmo_assets.release.statistics.counting import NONE_STATED, ReleaseStatistics
from pmo_assets.release.statistics.paper_numbers import PaperNumber
from pmo_assets.release.statistics.waterfall import NOT_ACCOUNTED_FOR, Waterfall
from pmo_assets.viewing.plots import Drop, share_text

MOST_JOURNALS: Final = 20

MOST_TERMS: Final = 15
"""Diseases and findings that are shown."""

TYPE_NAMES: Final = {
    "contains_cfp": "CFP",
    "contains_oct": "OCT",
    "contains_retinal": "Retinal Imaging",
    "contains_other": "Other",
    "contains_marked": "marks",
}
"""Image type or marks in a panel, by the column of a release that states them."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A number of a release beside the paper's.

    Attributes:
        name: of the counted things.
        ours: here.
        share: of what `of` says, 0..1; None for a number that is no part of anything.
        paper: in the paper.
        paper_share: in the paper, 0..1.
        section: where it stands in the paper.
        of: what the shares refer to; "" where there are none.
        note: where the definitions differ.
    """

    name: str
    ours: float
    share: float | None
    paper: float
    paper_share: float | None
    section: str
    of: str = ""
    note: str = ""


def _line(name: str, ours: float, number: PaperNumber, whole: float = 0, of: str = "", note: str = "") -> Compared:
    share = ours / whole if of and whole else None
    return Compared(name, ours, share, number.value, number.share, number.section, of, note)


def compared(statistics: ReleaseStatistics) -> tuple[Compared, ...]:
    """Return the numbers of a release beside the paper's, in the paper's order."""
    made, out = statistics.processed, statistics.released
    filtered, figures, panels = made.articles_after_filter, made.figures, out.panels
    assembly = out.assembly
    own = "the paper's without the annotated figures"
    after, extracted = "articles after the filter", "figures extracted"
    by_model = assembly.get(BY_MODEL, 0) + assembly.get(ADJUDICATED, 0)
    return (
        _line("articles after the filter", filtered, paper.ARTICLES_AFTER_FILTER, note="each once, none retracted"),
        _line("articles with figures", made.articles_with_figures, paper.ARTICLES_WITH_FIGURES, filtered, after),
        _line("articles without any figure", made.articles_without_figures, paper.ARTICLES_WITHOUT_FIGURES, filtered,
              after),
        _line("figures extracted", figures, paper.FIGURES),
        _line("figures in which panels were looked for", made.figures_detected_in, paper.FIGURES_DETECTED_IN, note=own),
        _line("panels detected", made.panels_detected, paper.PANELS_DETECTED, note=own),
        _line("images detected", made.images_detected, paper.IMAGES_DETECTED, note=own),
        _line("identifiers detected", made.identifiers_detected, paper.IDENTIFIERS_DETECTED, note=own),
        _line("figures without detections", made.figures_without_detections, paper.FIGURES_WITHOUT_DETECTIONS,
              made.figures_detected_in, "figures that were looked at", note="here: neither panel nor image"),
        _line("captions split", made.captions_split, paper.CAPTIONS_SPLIT, note=own),
        _line("subcaptions", made.subcaptions, paper.SUBCAPTIONS, note=own),
        _line("captions discarded", made.captions_discarded, paper.CAPTIONS_DISCARDED, note=own),
        _line("figures without an image of a wanted type", made.figures_unwanted, paper.FIGURES_UNWANTED, figures,
              extracted, note="the paper writes articles, which must mean figures: it has fewer articles"),
        _line("panels in the dataset", panels, paper.PANELS),
        _line("figures in the dataset", out.figures, paper.FIGURES_PUBLISHED, figures, extracted),
        _line("articles in the dataset", out.articles, paper.ARTICLES_PUBLISHED, filtered, after),
        _line("MeSH terms", out.mesh_terms, paper.MESH_TERMS,
              note=f"here those in the XML, which {out.articles_with_mesh:,} of {out.articles:,} articles have"),
        *(
            _line(f"panels with {TYPE_NAMES[column]}", out.contains[column], number, panels, "panels")
            for column, number in paper.CONTAINS.items()
        ),
        _line("words per subcaption, mean", round(out.words.mean, 1), paper.MEAN_WORDS),
        _line("words per subcaption, median", out.words.median, paper.MEDIAN_WORDS),
        _line("assembled automatically", assembly.get(AUTOMATIC, 0), paper.ASSEMBLED_AUTOMATICALLY, panels, "panels"),
        _line("assembled by a vision model", by_model, paper.ASSEMBLED_BY_MODEL, panels, "panels"),
        _line("assembled by people", assembly.get(BY_PERSON, 0), paper.ASSEMBLED_BY_PEOPLE, panels, "panels"),
        _line("annotated as a whole", assembly.get(GROUND_TRUTH, 0), paper.GROUND_TRUTH, panels, "panels"),
    )  # fmt: skip


ComparedCells = tuple[str, float, str, float, str, str]

COMPARED_HEADER: Final = ("", "this release", "share", "PubMed-Ophtha", "share there", "section of the paper, remarks")


def compared_cells(line: Compared) -> ComparedCells:
    """Return a comparison as the cells of `COMPARED_HEADER`."""
    shares = f"shares of the {line.of}" if line.of else ""
    remark = "; ".join(part for part in (line.section, shares, line.note) if part)
    return line.name, line.ours, _share(line.share), line.paper, _share(line.paper_share), remark


def _share(share: float | None) -> str:
    return "" if share is None else share_text(share, 1.0)


def parts_text(way: Waterfall) -> str:
    """Return the units that came in, by origin: "15 listed in an XML, 3 found in a PDF only"."""
    return ", ".join(f"{count:,} {name}" for name, count in way.parts if count)


def reasons_text(reasons: Sequence[tuple[str, int]]) -> str:
    """Return closer reasons in one line, most frequent first."""
    return "; ".join(f"{reason} ({count:,})" for reason, count in reasons)


def drops(way: Waterfall) -> tuple[Drop, ...]:
    """Return a waterfall as a chart draws it; that nothing is unaccounted for is no bar."""
    return tuple(
        Drop(loss.step, before, after, reasons_text(loss.reasons)) for loss, before, after in way.steps() if loss.count
    )


WATERFALL_HEADER: Final = ("", "left", "still there", "closer reasons")


def waterfall_cells(way: Waterfall) -> list[tuple[str, int | None, int, str]]:
    """Return a waterfall as rows of cells: what happened, how many left, how many are still there, closer reasons."""
    first = (f"{way.unit} that came in", None, way.came_in, parts_text(way))
    losses = [(loss.step, loss.count, after, reasons_text(loss.reasons)) for loss, _, after in way.steps()]
    return [first, *losses, (f"{way.unit} in the release", None, way.rest, "")]


def licence_cells(statistics: ReleaseStatistics) -> list[tuple[str, str, int, int]]:
    """Return licence, commercial use, panels and articles, most frequent first."""
    return [
        (item.code or NONE_STATED, "yes" if item.commercial_use else "no", item.panels, item.articles)
        for item in statistics.released.licences
    ]


LICENCE_HEADER: Final = ("licence", "commercial use", "panels", "articles")


def journal_cells(statistics: ReleaseStatistics) -> list[tuple[str, int]]:
    """Return the most frequent journals with their articles, and behind them the others together."""
    journals = list(statistics.released.journals.items())
    rest, unknown = journals[MOST_JOURNALS:], statistics.released.articles_without_journal
    lines = journals[:MOST_JOURNALS]
    if rest:
        lines.append((f"{len(rest):,} other journals", sum(count for _, count in rest)))
    return [*lines, ("not known", unknown)] if unknown else lines


def year_counts(statistics: ReleaseStatistics) -> dict[str, int]:
    """Return articles by year, years without any between the first and the last included."""
    years = statistics.released.years
    known = [year for year in years if year is not None]
    span = {str(year): years.get(year, 0) for year in range(min(known), max(known) + 1)} if known else {}
    return {**span, "not known": years[None]} if years.get(None) else span


def picture_cells(statistics: ReleaseStatistics) -> list[tuple[str, str, str]]:
    """Return mean and median of what is measured of panels."""
    out = statistics.released
    lines = (
        ("width of the picture in pixels", out.width, 0),
        ("height of the picture in pixels", out.height, 0),
        ("pixels of the picture", out.pixels, 0),
        ("words per subcaption", out.words, 1),
        ("words per panel, of subcaption and running text", out.context.words, 1),
        ("sentences of the running text that speak of the panel", out.context.mentions, 1),
        ("confidence that the subcaption is the panel's", out.assembly_confidence, 3),
        ("confidence of the caption's split", out.caption_confidence, 3),
    )
    return [(name, f"{spread.mean:,.{digits}f}", f"{spread.median:,.{digits}f}") for name, spread, digits in lines]


CONTEXT_HEADER: Final = ("of the running text", "panels", "share")


def context_cells(statistics: ReleaseStatistics) -> list[tuple[str, int, str]]:
    """Return how many panels the running text says something of."""
    out = statistics.released
    lines = (
        ("panels of which a sentence speaks", out.context.told),
        ("panels with a summary of such sentences", out.context.summarised),
        ("panels with a summary of a language model", out.context.generated),
    )
    return [(name, count, share_text(count, out.panels)) for name, count in lines]


def most_frequent(counts: Mapping[str, int], names: Mapping[str, str] | None = None) -> list[tuple[str, int, str]]:
    """Return the most frequent values with their numbers, and what they stand for where they are codes."""
    return [(value, count, (names or {}).get(value, "")) for value, count in list(counts.items())[:MOST_TERMS]]


def class_cells(statistics: ReleaseStatistics) -> list[tuple[str, int, str]]:
    """Return panels by class of modality, with what the class stands for."""
    return most_frequent(statistics.released.context.modality_classes, MODALITY_CLASS_NAMES)


def eye_cells(statistics: ReleaseStatistics) -> list[tuple[str, int, str]]:
    """Return panels by the eye that their words name, with what the code stands for."""
    return most_frequent(statistics.released.context.eyes, EYE_NAMES)


SPREAD_HEADER: Final = ("of the panels", "mean", "median")


def statistics_markdown(statistics: ReleaseStatistics) -> str:
    """Return the numbers as Markdown, for the card of a release: headings of the third level, and tables."""
    out = statistics.released
    panels = out.panels
    shares = [(name, count, share_text(count, panels)) for name, count in out.methods.items()]
    parts = [
        "### Beside the paper's dataset",
        "The paper is Hallitschke, Eickhoff and Berens, arXiv:2605.02720. A panel may hold images of several types: "
        f"{out.several_types:,} of {panels:,} do.",
        markdown_table(COMPARED_HEADER, [compared_cells(line) for line in compared(statistics)]),
        "### Where articles, figures and panels were lost",
        f"Every one has one outcome. “{NOT_ACCOUNTED_FOR}” is what is gone although no step says that it lost it.",
    ]
    for way in statistics.waterfalls:
        cells = [("" if cell is None else cell for cell in row) for row in waterfall_cells(way)]
        parts.append(markdown_table((way.unit, *WATERFALL_HEADER[1:]), [tuple(row) for row in cells]))
    parts += [
        "### Panels",
        markdown_table(("how the subcaption was assigned", "panels", "share"), shares),
        markdown_table(SPREAD_HEADER, picture_cells(statistics)),
        "### What the running text says of panels",
        markdown_table(CONTEXT_HEADER, context_cells(statistics)),
        *(
            markdown_table((what, "panels"), [(name, count) for name, count, _ in most_frequent(counts)])
            for what, counts in (
                ("disease", out.context.diseases),
                ("finding", out.context.findings),
                ("modality", out.context.modalities),
            )
            if counts
        ),
        "### Licences and commercial use",
        markdown_table(LICENCE_HEADER, licence_cells(statistics)),
        "### Articles",
        markdown_table(("year", "articles"), list(year_counts(statistics).items())),
        markdown_table(("journal", "articles"), journal_cells(statistics)),
    ]
    return "\n\n".join(parts)


def statistics_json(statistics: ReleaseStatistics) -> dict[str, Any]:
    """Return the numbers as what JSON can hold, the same for the same tables: `statistics.json`."""
    out = asdict(statistics.released)
    out["years"] = {"not known" if year is None else str(year): n for year, n in statistics.released.years.items()}
    out["licences"] = [asdict(item) for item in statistics.released.licences]
    out["splits"] = [asdict(item) for item in statistics.released.splits]
    return {
        "compared": [asdict(line) for line in compared(statistics)],
        "processed": asdict(statistics.processed),
        "released": out,
        "waterfalls": [
            {
                "unit": way.unit,
                "came_in": way.came_in,
                "parts": dict(way.parts),
                "losses": [
                    {"step": loss.step, "count": loss.count, "left": after, "reasons": dict(loss.reasons)}
                    for loss, _, after in way.steps()
                ],
                "in_the_release": way.rest,
            }
            for way in statistics.waterfalls
        ],
    }


def compared_rows(statistics: ReleaseStatistics) -> list[dict[str, str | float]]:
    """Return the comparison as plain rows, for a table in the UI."""
    names = ("number", *COMPARED_HEADER[1:])
    return [dict(zip(names, compared_cells(line), strict=True)) for line in compared(statistics)]


def waterfall_rows(statistics: ReleaseStatistics) -> list[dict[str, str | int]]:
    """Return the waterfalls one below the other as plain rows, for a table in the UI."""
    return [
        {"unit": way.unit, "step": step, "left": left or 0, "still there": there, "closer reasons": reasons}
        for way in statistics.waterfalls
        for step, left, there, reasons in waterfall_cells(way)
    ]


def not_accounted_for(statistics: ReleaseStatistics) -> dict[str, int]:
    """Return by unit how many are gone although no step says that it lost them: 0 each, or something is wrong."""
    return {
        way.unit: sum(loss.count for loss in way.losses if loss.step == NOT_ACCOUNTED_FOR)
        for way in statistics.waterfalls
    }


def counts_of(statistics: ReleaseStatistics) -> Mapping[str, int]:
    """Return the few numbers that stand for all, for a plot over time in the UI."""
    unknown = {f"{unit}_not_accounted_for": count for unit, count in not_accounted_for(statistics).items()}
    out = statistics.released
    return {"panels": out.panels, "figures": out.figures, "articles": out.articles, **unknown}
