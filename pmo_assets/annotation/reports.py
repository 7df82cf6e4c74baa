"""Mistakes that people reported in the gallery: its file read, and the figures that annotators are shown for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from pmo_assets.annotation.annotations import problem_text
from pmo_assets.annotation.cases import FigureCase, figure_cases
from pmo_assets.annotation.interfaces import Interface
from pmo_assets.records.reports import MISTAKES
from pmo_assets.records.stores import SystemicError
from pmo_assets.storage.tables import Tables

ANSWERED_IN: Final[Mapping[str, Interface]] = MappingProxyType(
    {
        "subcaption": "captions",
        "box": "boxes",
        "type": "boxes",
        "mark": "boxes",
        "figure": "pages",
        "caption": "pages",
        "other": "captions",
    }
)
"""The interface in which a mistake can be put right."""

SHOWN_REMARK: Final = 300
"""Characters of a remark that annotators read above the figure."""


class ReportsUnreadable(SystemicError):
    """A file is not what the gallery gives."""


def _known(mistake: str) -> str:
    if mistake not in MISTAKES:
        raise ValueError(f"no mistake {mistake[:40]!r}; there are {', '.join(MISTAKES)}")
    return mistake


class MistakeReport(BaseModel):
    """Report of a mistake that somebody found in a figure."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    article_id: int = Field(ge=1)
    figure: str = Field(min_length=1, max_length=1000)
    panel: str | None = Field(None, max_length=200)
    mistake: Annotated[str, AfterValidator(_known)]
    remark: str = Field("", max_length=10_000)

    def words(self) -> str:
        """Return the report as annotators read it, on one line."""
        remark = " ".join(self.remark.split())
        remark = remark if len(remark) <= SHOWN_REMARK else f"{remark[:SHOWN_REMARK]}…"
        where = f"panel {self.panel}: " if self.panel else ""
        return f"{where}{MISTAKES[self.mistake]}" + (f" ({remark})" if remark else "")


class _Reports(BaseModel):
    model_config = ConfigDict(extra="ignore")

    pmo_reports: Literal[1]
    reports: list[MistakeReport]


def read_reports(paths: Iterable[Path]) -> list[MistakeReport]:
    """Return the reports of files that the gallery gave, each once.

    Raises:
        ReportsUnreadable: if a file cannot be read or is something else.
    """
    found: dict[MistakeReport, None] = {}
    for path in paths:
        try:
            found |= dict.fromkeys(_Reports.model_validate_json(path.read_bytes()).reports)
        except ValidationError as error:
            raise ReportsUnreadable(f"{path} is no file of reports from the gallery: {problem_text(error)}") from error
        except OSError as error:
            raise ReportsUnreadable(f"{path} cannot be read: {error}") from error
    return list(found)


def reported_cases(
    tables: Tables, current: Mapping[str, Sequence[int]], reports: Sequence[MistakeReport], interface: Interface
) -> Iterator[FigureCase]:
    """Yield the figures whose reported mistakes are put right in an interface, with what was reported.

    On pages all figures of an article are shown: what a person leaves there counts.

    Args:
        tables: of the data root.
        current: for every batch the articles that count.
        reports: of which figures.
        interface: one of `ANSWERED_IN`.
    """
    remarks: dict[tuple[int, str], list[str]] = {}
    for report in reports:
        if ANSWERED_IN[report.mistake] == interface:
            remarks.setdefault((report.article_id, report.figure), []).append(report.words())
    on_pages = interface == "pages"
    articles = {article for article, _ in remarks}
    if not articles:
        return
    for case in figure_cases(tables, current, "full" if on_pages else "resolve", articles):
        said = remarks.get((case.figure.article_id, case.figure.image_cluster_id))
        if said or on_pages:
            yield replace(case, remarks=tuple(said or ()))


def not_there(
    tables: Tables, current: Mapping[str, Sequence[int]], reports: Sequence[MistakeReport]
) -> list[MistakeReport]:
    """Return the reports on figures that the data root does not hold (any more)."""
    cases = figure_cases(tables, current, "audit", {report.article_id for report in reports})
    held = {(case.figure.article_id, case.figure.image_cluster_id) for case in cases}
    return [report for report in reports if (report.article_id, report.figure) not in held]
