"""Cases that are put before people: undecided ones, a random sample for an audit, whole articles."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import polars as pl

from pmo_assets.records import panels as panel_rules
from pmo_assets.records.figure import PageBox
from pmo_assets.records.geometry import Box
from pmo_assets.records.instructions import InstructionKind
from pmo_assets.records.panels import PanelImage, PrintedIdentifier
from pmo_assets.records.regions import Mark, Region
from pmo_assets.records.reviews import Purpose
from pmo_assets.records.step_output import rows_by_figure, rows_by_unit
from pmo_assets.storage.tables import Tables
from pmo_assets.tables.rows import record_of

UNDECIDED = "not assigned"
"""Stratum of panels without a subcaption."""


@dataclass(frozen=True, slots=True)
class CaseArticle:
    """An article as its row of `articles` has it: number, name of its package, key of its PDF."""

    article_id: int
    package: str
    pdf: str | None = None


@dataclass(frozen=True, slots=True)
class CaseFigure:
    """A figure as its row of `figures` has it: what people see of it, and where it lies on the pages."""

    article_id: int
    image_cluster_id: str
    pdf_figure_id: str
    ordinal: int
    label: str | None
    caption: str
    locations: tuple[PageBox, ...]
    caption_locations: tuple[PageBox, ...]


@dataclass(frozen=True, slots=True)
class CasePanel:
    """A panel as it was assembled; boxes are normalised to the figure, `segments` are ranges of the caption."""

    ordinal: int
    identifier: str | None
    content_box: Box
    subcaption: str | None
    segments: tuple[tuple[int, int], ...] | None
    assembly: str | None
    confidence: float
    wanted: bool
    printed_identifiers: tuple[PrintedIdentifier, ...]
    images: tuple[PanelImage, ...]


@dataclass(frozen=True)
class ShownPanel:
    """Marks of a panel that are likelier marks than not, and its regions with their positions among those."""

    panel: CasePanel
    marks: tuple[Mark, ...]
    regions: tuple[Region, ...]


@dataclass(frozen=True)
class ShownRegions:
    """What people correct in a figure: panels with images, the words of phrases to choose among, and the mentions."""

    panels: tuple[ShownPanel, ...]
    phrases: tuple[str, ...]
    mentions: tuple[str, ...]


@dataclass(frozen=True)
class ShownInstruction:
    """An instruction that people judge.

    Attributes:
        instruction_id: of it.
        panel: that it is about.
        kind: of it.
        confidence: 0..1: of its weakest evidence.
        maker: who wrote it.
        turns: (role, words) of its messages.
        evidence: what the answers rest on, in lines to read.
        boxes: of what it speaks of, normalised to the figure.
    """

    instruction_id: str
    panel: CasePanel
    kind: InstructionKind
    confidence: float
    maker: str
    turns: tuple[tuple[str, str], ...]
    evidence: tuple[str, ...] = ()
    boxes: tuple[Box, ...] = ()


@dataclass(frozen=True)
class FigureCase:
    """A figure that people are asked about.

    Attributes:
        batch: that holds it.
        article: that it is of.
        figure: what it is.
        panels: as `panel_assembly` has them, in order; as `reviewed_panels` for undecided cases.
        purpose: reason for asking people.
        asked: ordinals of the panels that are meant, for an audit; all if empty.
        remarks: what was reported to be wrong with it, for people to read.
        regions: its marks and regions, where people are asked about them (`region_cases`).
        instructions: about its panels, that people judge (`instruction_cases`).
    """

    batch: str
    article: CaseArticle
    figure: CaseFigure
    panels: Sequence[CasePanel]
    purpose: Purpose
    asked: frozenset[int] = frozenset()
    remarks: tuple[str, ...] = ()
    regions: ShownRegions | None = None
    instructions: tuple[ShownInstruction, ...] = ()


def figure_cases(
    tables: Tables,
    current: Mapping[str, Sequence[int]],
    purpose: Purpose,
    articles: Iterable[int] | None = None,
    *,
    reviewed: bool | None = None,
) -> Iterator[FigureCase]:
    """Yield every figure of the articles that are assembled, batch by batch, in the order of the article.

    Whether a case is still undecided is known after review: what people decided is not put before them again.

    Args:
        tables: of the data root.
        current: for every batch the articles that count (`release.selection.current_articles`).
        purpose: reason for asking people.
        articles: only these; all if None.
        reviewed: panels with people's decisions, where there are any; None: of undecided cases.
    """
    wanted = None if articles is None else set(articles)
    for batch, numbers in current.items():
        kept = sorted(set(numbers) if wanted is None else wanted.intersection(numbers))
        if not kept:
            continue
        decided = purpose == "resolve" if reviewed is None else reviewed
        assembled = "reviewed_panels" if decided and tables.exists("reviewed_panels", batch) else "panel_assembly"
        rows = {
            name: rows_by_unit(tables.read(name, batch).filter(pl.col("article_id").is_in(kept)).to_dicts())
            for name in ("articles", "figures", assembled)
        }
        for number in kept:
            panels = rows_by_figure(rows[assembled].get(number, ()))
            for figure in sorted(rows["figures"].get(number, ()), key=lambda row: row["ordinal"]):
                own = [record_of(CasePanel, row) for row in panels.get(figure["image_cluster_id"], ())]
                own.sort(key=lambda panel: panel.ordinal)
                article = record_of(CaseArticle, rows["articles"][number][0])
                yield FigureCase(batch, article, record_of(CaseFigure, figure), own, purpose)


def is_undecided(case: FigureCase, least: float) -> bool:
    """Say whether a figure that goes on has an undecided panel (`records.panels.is_undecided`).

    Args:
        case: the figure.
        least: confidence from which rules are sure, 0..1.
    """
    return any(
        panel.wanted and panel_rules.is_undecided(panel.subcaption, panel.assembly, panel.confidence, least)
        for panel in case.panels
    )


def stratum(assembly: str | None) -> str:
    """Return who assigned a panel's subcaption, as the audit counts it."""
    return assembly or UNDECIDED


def _allotted(sizes: Mapping[str, int], count: int) -> dict[str, int]:
    """Return how many to draw of each stratum: equal shares, what a small one lacks goes to the others."""
    left = dict(sizes)
    drawn = dict.fromkeys(sizes, 0)
    remaining = min(count, sum(sizes.values()))
    while remaining:
        for name in sorted(left):
            if remaining and left[name]:
                drawn[name] += 1
                left[name] -= 1
                remaining -= 1
    return drawn


_Key = TypeVar("_Key", str, tuple[int, str, int])


def stratified_sample(names: Mapping[_Key, str], count: int, seed: int) -> set[_Key]:
    """Return random keys, as many of each stratum as there are; the same names and seed give the same.

    Args:
        names: stratum of each key.
        count: of keys.
        seed: of the sample.
    """
    source = random.Random(seed)
    strata: dict[str, list[_Key]] = {}
    for key in sorted(names):
        strata.setdefault(names[key], []).append(key)
    allotted = _allotted({name: len(keys) for name, keys in strata.items()}, count)
    return {key for name in sorted(strata) for key in source.sample(strata[name], allotted[name])}


def audit_sample(
    cases: Callable[[], Iterable[FigureCase]], count: int, seed: int, *, by_figure: bool = False
) -> Iterator[FigureCase]:
    """Yield figures with the panels that an audit judges: random, as many of each kind of assembly as there are.

    The same tables and seed give the same sample. Panels without a subcaption have nothing to judge, and those of
    figures that do not go on never reach the dataset.

    Args:
        cases: gives the figures, anew each time: they are looked through twice and not kept.
        count: of panels; of figures, by the assembly of their least certain panel, with `by_figure`.
        seed: of the sample.
        by_figure: draw figures and judge all their panels, as the paper's audit did.
    """
    names: dict[tuple[int, str, int], str] = {}
    for case in cases():
        judged = [panel for panel in case.panels if is_judged(panel.subcaption, panel.wanted)]
        key = case.figure.article_id, case.figure.image_cluster_id
        if by_figure and judged:
            names[(*key, 0)] = stratum(min(judged, key=lambda panel: (panel.confidence, panel.ordinal)).assembly)
        elif not by_figure:
            names |= {(*key, panel.ordinal): stratum(panel.assembly) for panel in judged}
    chosen = stratified_sample(names, count, seed)
    for case in cases():
        key = case.figure.article_id, case.figure.image_cluster_id
        asked = frozenset(
            panel.ordinal
            for panel in case.panels
            if is_judged(panel.subcaption, panel.wanted) and (*key, 0 if by_figure else panel.ordinal) in chosen
        )
        if asked:
            yield replace(case, purpose="audit", asked=asked)


def is_judged(subcaption: str | None, wanted: bool) -> bool:
    """Say whether an audit may draw a panel: it has a subcaption, and its figure goes on (is `wanted`)."""
    return subcaption is not None and wanted


def known_figures(
    tables: Tables, current: Mapping[str, Sequence[int]], names: Iterable[str]
) -> dict[str, dict[str, CaseFigure]]:
    """Return the figures of some articles, by the package's name and image_cluster_id.

    Args:
        tables: of the data root.
        current: for every batch the articles that count.
        names: of packages; those that no batch holds are left out.
    """
    wanted = set(names)
    found: dict[str, dict[str, CaseFigure]] = {}
    for batch, numbers in current.items():
        articles = tables.read("articles", batch).filter(
            pl.col("package").is_in(list(wanted)) & pl.col("article_id").is_in(list(numbers))
        )
        if not articles.height:
            continue
        of_number = dict(articles.select("article_id", "package").iter_rows())
        figures = tables.read("figures", batch).filter(pl.col("article_id").is_in(list(of_number)))
        found |= {name: {} for name in of_number.values()}
        for row in figures.to_dicts():
            found[of_number[row["article_id"]]][row["image_cluster_id"]] = record_of(CaseFigure, row)
    return found
