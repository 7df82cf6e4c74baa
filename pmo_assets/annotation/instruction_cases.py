"""Instructions that people judge: a sample of those that every check keeps, and those that there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import polars as pl

from pmo_assets.annotation.cases import (
    CasePanel,
    FigureCase,
    ShownInstruction,
    figure_cases,
    stratified_sample,
)
from pmo_assets.pipeline.assembly.steps import panel_id
from pmo_assets.pipeline.dataset.instruction_rows import kept_instructions, with_instruction_ids
from pmo_assets.records.geometry import as_box
from pmo_assets.records.instructions import InstructionKind
from pmo_assets.records.marked_words import shown_evidence
from pmo_assets.storage.tables import Tables

SURE: Final = 0.95
"""Confidence from which an instruction counts as sure when a sample is drawn."""

OPENS, CLOSES = "⟦", "⟧"
"""Around the words that an answer rests on."""


@dataclass(frozen=True, slots=True)
class KnownInstruction:
    """An instruction that there is: its name, its figure, and what its row of `instructions` says of it."""

    instruction_id: str
    image_cluster_id: str
    kind: InstructionKind
    confidence: float
    maker: str


def instruction_stratum(kind: str, confidence: float) -> str:
    """Return the stratum of an instruction in an audit's sample: kind, and whether its evidence is `SURE`."""
    return f"{kind}, {'sure' if confidence >= SURE else 'less sure'}"


def instruction_sizes(tables: Tables, current: Mapping[str, Sequence[int]]) -> dict[str, int]:
    """Return the number of instructions that an audit could draw, by stratum.

    Args:
        tables: of the data root; batches without verdicts are left out.
        current: for every batch the articles that count.
    """
    sizes: Counter[str] = Counter()
    for _, kept in _kept(tables, current):
        sizes.update(instruction_stratum(*row) for row in kept.select("kind", "confidence").iter_rows())
    return dict(sizes)


def instruction_cases(
    tables: Tables, current: Mapping[str, Sequence[int]], count: int, seed: int
) -> Iterator[FigureCase]:
    """Yield figures with the instructions that an audit judges: random, as many of each stratum as there are.

    Only what every check keeps can be drawn, about panels of the dataset: the rest is in no release. The same tables
    and seed give the same sample.

    Args:
        tables: of the data root; batches without verdicts are left out.
        current: for every batch the articles that count.
        count: of instructions.
        seed: of the sample.
    """
    names: dict[str, str] = {}
    for _, kept in _kept(tables, current):
        for name, kind, confidence in kept.select("instruction_id", "kind", "confidence").iter_rows():
            names[name] = instruction_stratum(kind, confidence)
    chosen = stratified_sample(names, count, seed)
    for batch, kept in _kept(tables, current):
        drawn = kept.filter(pl.col("instruction_id").is_in(list(chosen)))
        if drawn.is_empty():
            continue
        numbers = drawn["article_id"].unique().to_list()
        of_panel = {name: part.to_dicts() for (name,), part in drawn.group_by("panel_id", maintain_order=True)}
        told = tables.read("panel_summaries", batch, ["panel_id", "article_id", "mentions"])
        mentions = {row["panel_id"]: row["mentions"] for row in _of(told, numbers).iter_rows(named=True)}
        for case in figure_cases(tables, {batch: numbers}, "audit", reviewed=True):
            shown: list[ShownInstruction] = []
            for panel in case.panels:
                name = panel_id(case.figure.article_id, case.figure.image_cluster_id, panel.ordinal)
                texts = [panel.subcaption or "", *(cell["text"] for cell in mentions.get(name, ()))]
                shown += [_shown(row, panel, texts) for row in of_panel.get(name, ())]
            if shown:
                yield replace(case, instructions=tuple(shown))


def known_instructions(
    tables: Tables, current: Mapping[str, Sequence[int]], names: Iterable[str]
) -> dict[str, dict[str, KnownInstruction]]:
    """Return the instructions of some articles, by the package's name and `instruction_id`.

    Args:
        tables: of the data root.
        current: for every batch the articles that count.
        names: of packages.
    """
    wanted = list(names)
    found: dict[str, dict[str, KnownInstruction]] = {}
    for batch, numbers in current.items():
        articles = _of(tables.read("articles", batch, ["article_id", "package"]), numbers)
        of_number = dict(articles.filter(pl.col("package").is_in(wanted)).iter_rows())
        if not of_number or not tables.exists("instructions", batch):
            continue
        rows = _of(tables.read("instructions", batch), list(of_number))
        for row in with_instruction_ids(rows).iter_rows(named=True):
            known = KnownInstruction(*(row[name] for name in KnownInstruction.__slots__))
            found.setdefault(of_number[row["article_id"]], {})[known.instruction_id] = known
    return found


def _kept(tables: Tables, current: Mapping[str, Sequence[int]]) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield for each batch the instructions of its articles that every verdict keeps, about panels of the dataset."""
    for batch, numbers in current.items():
        if not (tables.exists("verdicts", batch) and tables.exists("dataset_rows", batch)):
            continue
        panels = tables.read("dataset_rows", batch, ["panel_id"])
        rows = _of(tables.read("instructions", batch), numbers).join(panels, on="panel_id", how="semi")
        yield batch, kept_instructions(rows, tables.read("verdicts", batch))


def _of(rows: pl.DataFrame, numbers: Sequence[int]) -> pl.DataFrame:
    return rows.filter(pl.col("article_id").is_in(list(numbers)))


def _shown(row: Mapping[str, Any], panel: CasePanel, texts: Sequence[str]) -> ShownInstruction:
    return ShownInstruction(
        row["instruction_id"],
        panel,
        row["kind"],
        row["confidence"],
        row["maker"],
        tuple((turn["role"], turn["content"]) for turn in row["messages"]),
        tuple(_evidence_lines(row["evidence"], texts)),
        tuple(as_box(box) for box in row["boxes"]),
    )


def _evidence_lines(evidence: Sequence[Mapping[str, Any]], texts: Sequence[str]) -> Iterator[str]:
    """Yield the texts that answers rest on, with those words marked, then what is no words."""
    shown = shown_evidence(evidence, texts)
    for name, parts in shown.texts:
        yield f"{name}: {''.join(f'{OPENS}{part}{CLOSES}' if kind else part for part, kind in parts)}"
    yield from shown.others
