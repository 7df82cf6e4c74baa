"""The report of a release: what it shows, read from the tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from itertools import chain
from typing import Final

from pmo_assets.pipeline.articles.relevance import Specialty
from pmo_assets.pipeline.dataset.identity import RETRACTION
from pmo_assets.pipeline.dataset.licensing import withheld
from pmo_assets.records.packages import REGISTRATION_STAGE, article_words
from pmo_assets.release.instruction_numbers import (
    BALANCE_HEADER,
    BALANCE_REMARK,
    INSTRUCTION_HEADER,
    InstructionCounts,
    balance_cells,
    instruction_cells,
)
from pmo_assets.release.keys import MASKED_KEY, REJECTION_PAGES, rejection_page_key
from pmo_assets.release.pair_numbers import (
    PAIR_HEADER,
    PANEL2PATCH_HEADER,
    PANEL2PATCH_REMARK,
    PairCounts,
    pair_cells,
    panel2patch_cells,
)
from pmo_assets.release.selection import Selection
from pmo_assets.release.statistics.counting import BATCH_TABLES, NONE_STATED, UNDECIDED, ReleaseStatistics
from pmo_assets.release.statistics.views import (
    COMPARED_HEADER,
    CONTEXT_HEADER,
    LICENCE_HEADER,
    SPREAD_HEADER,
    TYPE_NAMES,
    class_cells,
    compared,
    compared_cells,
    context_cells,
    drops,
    eye_cells,
    journal_cells,
    licence_cells,
    most_frequent,
    parts_text,
    picture_cells,
    year_counts,
)
from pmo_assets.release.statistics.waterfall import Waterfall
from pmo_assets.release.versions import read_manifest, released_versions, version_facts
from pmo_assets.release.writing import is_noncommercial
from pmo_assets.storage.parquet import read_parquet
from pmo_assets.storage.tables import Tables
from pmo_assets.tables.release import MaskedPictures
from pmo_assets.tables.schemas import empty_table
from pmo_assets.viewing.palette import ENTITY_STYLES, image_type_colour
from pmo_assets.viewing.plots import Bar, share_text
from pmo_assets.viewing.report import BarGroup, Headline, RejectionReason, ReportSummary, Way
from pmo_assets.viewing.report import Table as PageTable


def _bars(counts: Mapping[str, int], *, colours: Callable[[str], str] | None = None) -> tuple[Bar, ...]:
    return tuple(Bar(label, count, colour=colours(label) if colours else None) for label, count in counts.items())


def release_summary(
    tables: Tables,
    selection: Selection,
    statistics: ReleaseStatistics,
    *,
    stages: Sequence[str],
    specialty: Specialty,
    noncommercial: bool = True,
) -> ReportSummary:
    """Return the contents of the report: losses by step, numbers beside the paper's, composition, rejections.

    Args:
        tables: the tables below the data root.
        selection: see `selection.select_articles`.
        statistics: of the release that it makes.
        stages: assets whose rejections count, in order; those of the registration come before them.
        specialty: subject of the dataset, for the header.
        noncommercial: the release keeps rows whose licence forbids commercial use; else nothing is quoted of them.
    """
    made, out = statistics.processed, statistics.released
    reasons = _reasons(tables, selection, stages, noncommercial=noncommercial)
    years = year_counts(statistics)
    contains = {TYPE_NAMES[column]: count for column, count in out.contains.items()}
    groups = (
        BarGroup("Panels by what they hold", tuple(
            Bar(f"with {name}", count, share_text(count, out.panels)) for name, count in contains.items()
        ), "A panel may hold images of several types.", shares=False),
        BarGroup("Licences of the panels", tuple(
            Bar(item.code or NONE_STATED, item.panels, "commercial use allowed" if item.commercial_use else "")
            for item in out.licences
        )),
        BarGroup("How the panels' subcaptions were assigned", _bars(out.methods)),
        BarGroup("How sure rules are of subcaptions", _bars(made.sureness), "Of all panels, also those left out."),
        *_context_groups(statistics),
        BarGroup("Articles by year", _bars(years), histogram=True),
        BarGroup("Articles by journal", tuple(Bar(*cells) for cells in journal_cells(statistics))),
        BarGroup("Splits", tuple(
            Bar(item.name, item.panels, f"panels of {item.articles:,} articles") for item in out.splits
        )),
        BarGroup("Images found, by type", _bars(made.image_types, colours=_type_colour)),
        BarGroup("Images found, by mark status", _bars(made.marks)),
    )  # fmt: skip
    pages = set(tables.data_root.keys(REJECTION_PAGES, ".html"))
    withheld_panels = sum(item.panels for item in out.licences if withheld(item.code))
    return ReportSummary(
        title=f"{specialty.title} report",
        lead=f"What became of {made.articles:,} articles in {len(statistics.batches):,} batches.",
        facts=(("specialty", specialty.name), *version_facts(tables.data_root).items()),
        headlines=(
            Headline("panels", out.panels, f"{withheld_panels:,} of them without picture and text for their licence"),
            Headline("figures", out.figures, f"of {made.figures:,} that were found"),
            Headline("articles", out.articles, f"of {made.articles:,} that were looked at"),
            Headline("words per subcaption", out.words.median, f"median; {out.words.mean:.1f} on average"),
            Headline(
                "panels the text speaks of",
                share_text(out.context.told, out.panels) or None,
                f"{out.context.words.median:.0f} words per panel instead of {out.words.median:.0f}, median",
            ),
            Headline("pixels per panel", out.pixels.median, f"median; {out.width.median:.0f} wide"),
            Headline("rejections", sum(reason.count for reason in reasons)),
        ),
        ways=tuple(report_way(way) for way in statistics.waterfalls),
        compared=PageTable(
            "Beside the paper's dataset",
            COMPARED_HEADER,
            tuple(compared_cells(line) for line in compared(statistics)),
            "Hallitschke, Eickhoff and Berens, arXiv:2605.02720.",
        ),
        groups=tuple(group for group in groups if group.bars),
        rejections=reasons,
        links=tuple(
            (batch, f"../{rejection_page_key(batch)}")
            for batch, counts in statistics.batches.items()
            if counts[BATCH_TABLES.index("rejections")] and f"{batch}.html" in pages
        ),
        tables=tuple(
            table
            for table in (
                PageTable("Licences and commercial use", LICENCE_HEADER, tuple(licence_cells(statistics))),
                PageTable("Pictures, words, confidence", SPREAD_HEADER, tuple(picture_cells(statistics))),
                PageTable("What the running text says of panels", CONTEXT_HEADER, tuple(context_cells(statistics))),
                *pair_tables(tables, out.articles),
                *instruction_tables(tables),
                masked_table(tables),
                batch_table(statistics),
                duplicates_table(selection),
                withheld_table(selection),
                conflicts_table(selection),
            )
            if table.rows
        ),
    )


def pair_tables(tables: Tables, articles: int) -> tuple[PageTable, ...]:
    """Return the numbers of the newest release's pairs as tables; none where it has no pairs.

    Args:
        tables: the tables below the data root of the releases.
        articles: of the release.
    """
    versions = released_versions(tables.data_root)
    counts = PairCounts.of(read_manifest(tables.data_root, versions[-1]).counts) if versions else None
    if counts is None:
        return ()
    return (
        PageTable("Pairs of picture and text", PAIR_HEADER, tuple(pair_cells(counts))),
        PageTable(
            "Figures, panels and regions with a text, beside Panel2Patch",
            PANEL2PATCH_HEADER,
            tuple(panel2patch_cells(counts, articles)),
            PANEL2PATCH_REMARK,
        ),
    )


def instruction_tables(tables: Tables) -> tuple[PageTable, ...]:
    """Return the numbers of the newest release's instructions as tables; none where it has none.

    Args:
        tables: the tables below the data root of the releases.
    """
    versions = released_versions(tables.data_root)
    counts = InstructionCounts.of(read_manifest(tables.data_root, versions[-1]).counts) if versions else None
    if counts is None:
        return ()
    return (
        PageTable("Instructions by kind", INSTRUCTION_HEADER, tuple(instruction_cells(counts))),
        PageTable("Answers of yes/no questions", BALANCE_HEADER, tuple(balance_cells(counts)), BALANCE_REMARK),
    )


_SHOWN_MASKED: Final = 200
"""Lines of what was masked that the report shows; the release lists all of it."""


def masked_table(tables: Tables) -> PageTable:
    """Return what is black in the newest release's pictures, for a page; no rows where nothing is.

    Args:
        tables: the tables below the data root of the releases.
    """
    root = tables.data_root
    found = read_parquet(root, MASKED_KEY) if root.exists(MASKED_KEY) else empty_table(MaskedPictures)
    rows = tuple(
        (article_words(row["article_id"], None), row["image_cluster_id"], row["panel_id"] or "the figure",
         ", ".join(f"{count} × {what}" for what, count in sorted(Counter(row["what"]).items())), f"{row['share']:.1%}")
        for row in found.head(_SHOWN_MASKED).iter_rows(named=True)
    )  # fmt: skip
    more = f"The first {_SHOWN_MASKED} of {found.height:,}; " if found.height > _SHOWN_MASKED else ""
    panels = found["panel_id"].drop_nulls().len()
    note = (
        f"{more}{panels:,} panels and {found.height - panels:,} figures have a part that is black; hub/masked.parquet "
        "has all of them, with boxes."
    )
    return PageTable("Masked: faces and printed names", ("article", "figure", "panel", "what", "black"), rows, note)


def _context_groups(statistics: ReleaseStatistics) -> tuple[BarGroup, ...]:
    """Return the charts of what the running text says of panels."""
    told = statistics.released.context
    wider = "Panels whose words affirm it or a narrower term; one panel may have several."
    terms = [
        BarGroup(title, tuple(Bar(name, count) for name, count, _ in most_frequent(counts)), wider, shares=False)
        for title, counts in (("Most frequent diseases", told.diseases), ("Most frequent findings", told.findings))
    ]
    entities = tuple(Bar(name, count, colour=ENTITY_STYLES[name][0]) for name, count in told.entities.items())
    said = f"In subcaptions and sentences of the running text; {told.negated:,} negated, {told.uncertain:,} uncertain."
    return (
        BarGroup("Panels by sentences of the running text that speak of them", _bars(told.panels_by_mentions),
                 histogram=True),
        BarGroup("Entities by group", entities, said),
        *terms,
        BarGroup("Panels by modality", _bars(told.modalities)),
        BarGroup("Panels by class of modality", tuple(Bar(*cells) for cells in class_cells(statistics))),
        BarGroup("Panels by the eye that their words name", tuple(Bar(*cells) for cells in eye_cells(statistics))),
    )  # fmt: skip


def _type_colour(image_type: str) -> str:
    return image_type_colour(None if image_type == UNDECIDED else image_type)


def report_way(way: Waterfall) -> Way:
    """Return a waterfall as the report draws it."""
    return Way(
        title=way.unit.capitalize(),
        start=(f"{way.unit} that came in", way.came_in),
        drops=drops(way),
        end=f"{way.unit} in the release",
        note=parts_text(way),
    )


def duplicates_table(selection: Selection) -> PageTable:
    """Return the packages that are not published because another one is the same article, for a page."""
    rows = tuple(
        (
            row["name"],
            row["duplicate_of_name"] + (" (retracted)" if row["is_retracted"] else ""),
            row["identifier"],
            row["value"]
            if row["shared_with"] == row["duplicate_of_name"]
            else f"{row['value']} ({row['shared_with']})",
        )
        for row in selection.listing().iter_rows(named=True)
    )
    return PageTable("Duplicates", ("package", "the same article as", "by", "shared"), rows)


def withheld_table(selection: Selection) -> PageTable:
    """Return the articles that are out, or under a narrower licence, before a batch says so, for a page."""
    out = [(number, item.name, "left out", item.why) for number, item in selection.retracted.items()]
    under = [
        (number, number, f"{item.made_under or NONE_STATED} → {item.code or 'unknown'}", item.why)
        for number, item in selection.licences.items()
    ]
    rows = tuple((str(name), effect, why) for _, name, effect, why in sorted([*out, *under], key=lambda row: row[0]))
    return PageTable(
        "Retracted, or under a narrower licence, by what else is known", ("article", "effect", "why"), rows
    )


def conflicts_table(selection: Selection) -> PageTable:
    """Return the table of statements of packages about others that are not believed, for a page."""
    rows = tuple(
        (
            f"{row['name']} ({row['article_id']}): {row['title'] or 'no title'}",
            "that it is retracted" if row["claim"] == RETRACTION else "that it is the same article",
            f"{row['other_name']} ({row['other_article_id']}): {row['other_title'] or 'no title'}",
            f"{row['identifier']} {row['value']}",
        )
        for row in selection.conflict_listing().iter_rows(named=True)
    )
    note = (
        "Title, authors and PDF do not show that both are one article. Name a source in PMO_TRUSTED_SOURCES if its "
        "retractions are to count for others."
    )
    return PageTable("Conflicts", ("package", "says", "of", "by"), rows, note)


QUOTING_STAGES = ("subcaptions",)
"""Stages whose messages quote captions; those of articles that may not be passed on are not shown on the page."""

NOT_SHOWN = "not shown: it quotes an article that may not be passed on"


def _reasons(
    tables: Tables, selection: Selection, stages: Sequence[str], *, noncommercial: bool, examples: int = 5
) -> tuple[RejectionReason, ...]:
    """Return the rejections by stage and error with examples, without text that may not be passed on."""
    counts: dict[tuple[str, str], int] = {}
    shown: dict[tuple[str, str], list[str]] = {}
    registered = tables.registration_rejections()
    parts = chain([(None, registered)], ((batch, tables.read_rejections(stages, batch)) for batch in selection.current))
    for batch, rejections in parts:
        forbidden: Set[int] = set()
        if batch is not None and rejections.height:
            forbidden = forbidden_articles(tables, batch, noncommercial=noncommercial) | selection.licences.keys()
        for row in rejections.iter_rows(named=True):
            key = (row["stage"], row["error_class"])
            counts[key] = counts.get(key, 0) + 1
            if len(lines := shown.setdefault(key, [])) < examples:
                quoting = row["stage"] in QUOTING_STAGES and row["article_id"] in forbidden
                figure = f" {row['image_cluster_id']}" if row["image_cluster_id"] else ""
                article = article_words(row["article_id"], row["package"])
                lines.append(f"{article}{figure}: {NOT_SHOWN if quoting else row['message']}")
    order = {stage: place for place, stage in enumerate((REGISTRATION_STAGE, *stages))}
    return tuple(
        RejectionReason(*key, counts[key], tuple(shown[key]))
        for key in sorted(counts, key=lambda key: (order.get(key[0], len(order)), key))
    )


def forbidden_articles(tables: Tables, batch: str, *, noncommercial: bool) -> Set[int]:
    """Return the articles of a batch whose text may not be passed on, or is not where NC is left out."""
    codes = tables.read("articles", batch, ("article_id", "license_code"))
    left_out = set() if noncommercial else set(codes.filter(is_noncommercial("license_code"))["article_id"])
    foreign: set[int] = set()  # articles with a figure of somebody else's
    if tables.exists("figures", batch):
        stated = tables.read("figures", batch, ("article_id", "rights_statement")).drop_nulls("rights_statement")
        foreign = set(stated["article_id"])
    return left_out | foreign | {article for article, code in codes.iter_rows() if withheld(code)}


def batch_table(statistics: ReleaseStatistics) -> PageTable:
    """Return the table of numbers of rows per batch, for a page."""
    rows = tuple((batch, *counts) for batch, counts in statistics.batches.items())
    return PageTable("Batches", ("batch", *(name.replace("_", " ") for name in BATCH_TABLES)), rows)
