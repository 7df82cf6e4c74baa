"""Outcome of every article, figure and panel of a batch: the step at which it left, and why, or that it is released.

This is the one home of why something is not in a release. It decides from the steps' tables and their rejections alone,
for one batch at a time; decisions made elsewhere are asked for there (`pipeline.dataset.rows.left_out_reason`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, NamedTuple

import polars as pl

from pmo_assets.pipeline.articles.pdf_identity import MetadataOfAnotherArticle, PdfOfAnotherArticle
from pmo_assets.pipeline.assembly.wanted import NO_IMAGE, NO_WANTED_TYPE
from pmo_assets.pipeline.dataset.rows import LEFT_OUT_REASONS, NO_SUBCAPTION, Entry, left_out_reason
from pmo_assets.pipeline.graph import declared_stages, losing_stages, stages_of_unit
from pmo_assets.records.panels import Panel
from pmo_assets.release.selection import Selection
from pmo_assets.release.statistics.waterfall import IN_THE_RELEASE, NOT_ACCOUNTED_FOR, Outcome, OutcomeCounts
from pmo_assets.storage.tables import Tables
from pmo_assets.tables.rows import record_of
from pmo_assets.tables.schemas import empty_table, schema_of

FigureName = tuple[int, str]
"""Article number and figure."""

PanelName = tuple[int, str, int]
"""Article number, figure, position in it."""

# Steps of articles
NOT_REGISTERED: Final = "could not be registered"
NOT_FINISHED: Final = "its batch is not finished"
NOT_FETCHED: Final = "could not be fetched"
SUPERSEDED: Final = "another version of the article counts, or PMC removed it"
DUPLICATE: Final = "the same article as another package"
NOT_READ: Final = "could not be read"
NOT_ONE_ARTICLE: Final = "its files are not of one article"
NOT_RELEVANT: Final = "not relevant"
RETRACTED: Final = "retracted"
TAKEN_OUT: Final = "taken out by people"
NO_PDF: Final = "no PDF, or not a readable one"
NO_FIGURE: Final = "no figure found"

# Steps of figures, and of articles all of whose figures left there
PDF_NOT_READ: Final = "the PDF could not be read"
NOT_LOCATED: Final = "listed in the XML, not found in the PDF"
REJECTED: Final = "rejected by a step"
EMPTY: Final = "no panel and no image found"
UNWANTED: Final = "no image of a wanted type in the figure"
NO_PANEL_ENTERS: Final = "no panel enters the dataset"
NONCOMMERCIAL: Final = "the licence forbids commercial use"

# Steps of panels
JOINED: Final = "part of another panel"
REDRAWN: Final = "people drew other panels"

ARTICLE_STEPS: Final = (
    NOT_REGISTERED, NOT_FINISHED, NOT_FETCHED, SUPERSEDED, DUPLICATE, NOT_READ, NOT_ONE_ARTICLE, NOT_RELEVANT,
    TAKEN_OUT, RETRACTED, NO_PDF, NO_FIGURE, REJECTED, EMPTY, UNWANTED, NO_PANEL_ENTERS, NONCOMMERCIAL,
)  # fmt: skip
FIGURE_STEPS: Final = (PDF_NOT_READ, NOT_LOCATED, REJECTED, EMPTY, UNWANTED, NO_PANEL_ENTERS, NONCOMMERCIAL)
PANEL_STEPS: Final = (JOINED, REDRAWN, REJECTED, UNWANTED, *LEFT_OUT_REASONS, NONCOMMERCIAL)
"""The steps of each unit in the order of the data's way."""

# Where they came from
PACKAGES: Final = "packages registered"
REFUSED: Final = "packages that could not be registered"
LISTED: Final = "listed in an XML"
FOUND: Final = "found in a PDF only"
DETECTED: Final = "panels detected"
OF_IMAGES: Final = "made of images that no panel covers"
DRAWN: Final = "drawn by people or a vision model"

_WAY: Final = (
    NOT_ACCOUNTED_FOR, JOINED, REDRAWN, EMPTY, REJECTED, UNWANTED, *LEFT_OUT_REASONS, NO_PANEL_ENTERS, NONCOMMERCIAL
)  # fmt: skip
"""Steps in order of the way, the farthest last: a figure has the outcome of its panel that came farthest, and so on."""

_CONTRADICTIONS: Final = {error.__name__ for error in (PdfOfAnotherArticle, MetadataOfAnotherArticle)}


def _ending_figures() -> tuple[str, ...]:
    """Return the steps whose rejection ends a figure; one whose caption could not be split goes on without."""
    stages = declared_stages()
    return tuple(name for name, loses in losing_stages().items() if loses == "parts" and not stages[name].goes_on)


@dataclass
class BatchOutcomes:
    """Outcomes of the articles, figures and panels of a batch, or of several.

    Attributes:
        articles, figures, panels: number of each by outcome.
        of_figures: the outcome of each figure of this batch.
    """

    articles: OutcomeCounts = field(default_factory=OutcomeCounts)
    figures: OutcomeCounts = field(default_factory=OutcomeCounts)
    panels: OutcomeCounts = field(default_factory=OutcomeCounts)
    of_figures: Mapping[FigureName, Outcome] = field(default_factory=dict)

    def add(self, other: BatchOutcomes) -> None:
        """Add the counts of another batch."""
        self.articles.add(other.articles)
        self.figures.add(other.figures)
        self.panels.add(other.panels)


def read_columns(tables: Tables, asset: str, batch: str, columns: Sequence[str]) -> pl.DataFrame:
    """Return columns of an asset's table of a batch; no rows where it has none."""
    if not tables.exists(asset, batch):
        return empty_table(schema_of(asset)).select(columns)
    return tables.read(asset, batch, columns)


def reason_kind(reason: str) -> str:
    """Return the kind of reason of a sentence about one panel: without quotations and counts.

    >>> reason_kind("“b” is printed in the panel, but the caption does not name it")
    '“…” is printed in the panel, but the caption does not name it'
    >>> reason_kind("5 panels, 4 subcaptions, and nothing decides between them: “a” 0.41, “b” 0.40")
    'n panels, n subcaptions, and nothing decides between them'
    """
    plain = re.sub(r"\s*\([^()]*\)", "", re.sub(r"“[^”]*”?", "“…”", reason))
    return re.sub(r"\d+(?:\.\d+)?", "n", re.sub(r":\s*“…”.*$", "", plain)).strip()


class _Rejected:
    """Rejections of the steps in a batch."""

    def __init__(self, tables: Tables, batch: str) -> None:
        self._articles: dict[tuple[str, int], list[str]] = {}
        self._figures: dict[tuple[str, int, str], str] = {}
        for row in tables.read_rejections(stages_of_unit(), batch).iter_rows(named=True):
            stage, article, figure, error = (
                row[name] for name in ("stage", "article_id", "image_cluster_id", "error_class")
            )
            if figure is None:
                self._articles.setdefault((stage, article), []).append(error)
            else:
                self._figures.setdefault((stage, article, figure), error)

    def errors(self, stage: str, article: int) -> Sequence[str]:
        """Return why a step rejected an article as a whole; nothing if it did not."""
        return self._articles.get((stage, article), ())

    def article(self, stage: str, article: int) -> str | None:
        """Return the same in one line; None if the step did not reject it."""
        return ", ".join(self.errors(stage, article)) or None

    def figure(self, stage: str, figure: FigureName) -> str | None:
        """Return why a step rejected a figure, or its article; None if it did not."""
        return self._figures.get((stage, *figure)) or self.article(stage, figure[0])

    def own(self, stage: str, figure: FigureName) -> str | None:
        """Return why a step rejected just this figure; None if it did not."""
        return self._figures.get((stage, *figure))

    def figures(self, stage: str) -> set[FigureName]:
        """Return the figures that a step rejected, each by itself."""
        return {(article, figure) for at, article, figure in self._figures if at == stage}

    def first(self, stages: Iterable[str], figure: FigureName) -> Outcome | None:
        """Return the outcome of a figure that one of the steps rejected; None if none did."""
        found = ((stage, self.figure(stage, figure)) for stage in stages)
        return next((Outcome(REJECTED, f"{stage}: {error}") for stage, error in found if error), None)


def farthest(outcomes: Iterable[Outcome]) -> Outcome:
    """Return the outcome that came farthest; of several at one step the most frequent reason, else alphabetically."""
    counted = Counter(outcomes)
    return max(
        counted,
        key=lambda outcome: (
            outcome == IN_THE_RELEASE,
            _way(outcome),
            counted[outcome],
            [-ord(c) for c in outcome.reason],
        ),
    )


def _way(outcome: Outcome) -> int:
    return _WAY.index(outcome.step) if outcome.step in _WAY else 0


@dataclass(frozen=True)
class _Rows:
    """A batch's rows of the dataset: where each panel stands, and whether the release takes it."""

    released: Mapping[PanelName, bool]

    def outcome(self, panel: PanelName) -> Outcome | None:
        """Return the outcome of a panel that has a row; None if it has none."""
        if panel not in self.released:
            return None
        return IN_THE_RELEASE if self.released[panel] else Outcome(NONCOMMERCIAL)


_PANEL_KEY: Final = {"article_id": pl.Int64, "image_cluster_id": pl.String, "ordinal": pl.Int64}


class _Assembled(NamedTuple):
    """A panel in `reviewed_panels`: numbers of the detections that it is made of, and the number of its images."""

    members: tuple[int, ...]
    wanted: bool
    made_of_image: bool
    images: int
    annotated: bool


def _panel_key(row: Mapping[str, Any]) -> PanelName:
    return row["article_id"], row["image_cluster_id"], row["ordinal"]


def _panel_outcomes(
    tables: Tables, batch: str, articles: Collection[int], rows: _Rows, rejected: _Rejected, entry: Entry
) -> tuple[dict[PanelName, Outcome], dict[PanelName, _Assembled]]:
    """Return the outcome of every assembled panel of a batch, and what `reviewed_panels` says of it."""
    columns = ("members", "wanted", "made_of_image", "images", "unassigned_images", "annotations")
    reviewed = read_columns(tables, "reviewed_panels", batch, (*_PANEL_KEY, *columns)).select(
        *_PANEL_KEY,
        pl.col("members").list.eval(pl.element().struct.field("ordinal")),
        "wanted",
        "made_of_image",
        images=pl.col("images").list.len() + pl.col("unassigned_images").list.len(),
        annotated=pl.col("annotations").list.len() > 0,
    )
    assembled = {
        (article, figure, ordinal): _Assembled(tuple(members), *said)
        for article, figure, ordinal, members, *said in reviewed.filter(_taken(articles)).iter_rows()
    }
    keys = {_panel_key(row) for row in _of(read_columns(tables, "panels", batch, list(_PANEL_KEY)), articles)}
    outcomes = {key: outcome for key in keys if (outcome := rows.outcome(key)) is not None}
    # Only of those without a row everything is read: records are slow to make.
    absent = pl.DataFrame(sorted(keys - outcomes.keys()), _PANEL_KEY, orient="row")
    if absent.height:
        whole = tables.read("reviewed_panels", batch).join(absent, on=list(_PANEL_KEY), how="semi")
        outcomes |= {_panel_key(row): _left_out(row, rejected, entry) for row in whole.iter_rows(named=True)}
    for key, panel in assembled.items():
        if key not in outcomes:
            why = rejected.first(("panels",), key[:2]) if panel.wanted else Outcome(UNWANTED)
            outcomes[key] = rows.outcome(key) or why or Outcome(NOT_ACCOUNTED_FOR)
    for key in rows.released:
        outcomes.setdefault(key, rows.outcome(key) or Outcome(NOT_ACCOUNTED_FOR))
    return outcomes, assembled


def _left_out(row: Mapping[str, Any], rejected: _Rejected, entry: Entry) -> Outcome:
    """Return the reason why a panel with a picture has no row in the dataset."""
    reason = left_out_reason(record_of(Panel, row), entry)
    if reason is not None:
        return Outcome(reason, reason_kind(row["reason"]) if reason == NO_SUBCAPTION else "")
    return rejected.first(("dataset_rows",), (row["article_id"], row["image_cluster_id"])) or Outcome(NOT_ACCOUNTED_FOR)


def _of(table: pl.DataFrame, articles: Collection[int]) -> Iterable[dict[str, Any]]:
    return table.filter(_taken(articles)).iter_rows(named=True)


def _taken(articles: Collection[int]) -> pl.Expr:
    return pl.col("article_id").is_in(list(articles))


def _panel_counts(
    outcomes: Mapping[PanelName, Outcome],
    assembled: Mapping[PanelName, _Assembled],
    detected: AbstractSet[PanelName],
    rejected: _Rejected,
) -> OutcomeCounts:
    """Count panels: every detection once, and every panel that stands for none of them."""
    counts = OutcomeCounts()
    left = set(detected)
    reviewed = {key[:2] for key, panel in assembled.items() if panel.annotated}
    for key in sorted(outcomes):
        panel = assembled.get(key)
        members = [(*key[:2], member) for member in panel.members] if panel is not None else [key]
        own = [member for member in dict.fromkeys(members) if member in left]
        left.difference_update(own)
        counts.outcomes[outcomes[key]] += 1
        if not own:
            counts.parts[OF_IMAGES if panel is not None and panel.made_of_image else DRAWN] += 1
        elif len(own) > 1:
            counts.outcomes[Outcome(JOINED)] += len(own) - 1
    for key in left:
        gone = Outcome(REDRAWN) if key[:2] in reviewed else Outcome(NOT_ACCOUNTED_FOR)
        counts.outcomes[rejected.first(_ending_figures(), key[:2]) or gone] += 1
    counts.parts = Counter({DETECTED: len(detected), **counts.parts})
    return counts


def _figure_outcome(
    figure: FigureName,
    panels: Mapping[FigureName, Sequence[Outcome]],
    images: Mapping[FigureName, int],
    detected: Collection[FigureName],
    rejected: _Rejected,
) -> Outcome:
    """Return the outcome of a figure that was found in the PDF."""
    if figure in panels:
        outcome = farthest(panels[figure])
        if outcome.step == UNWANTED:
            return Outcome(UNWANTED, NO_WANTED_TYPE if images[figure] else NO_IMAGE)
        if outcome == IN_THE_RELEASE or outcome.step in FIGURE_STEPS or outcome.step == NOT_ACCOUNTED_FOR:
            return outcome
        return Outcome(NO_PANEL_ENTERS, outcome.step)
    lost = rejected.first(_ending_figures(), figure)
    return lost or Outcome(NOT_ACCOUNTED_FOR if figure in detected else EMPTY)


def _absent_outcome(figure: FigureName, rejected: _Rejected) -> Outcome:
    """Return the outcome of a figure that the XML lists and `figures` does not have."""
    if rejected.own("pdf_figures", figure):
        return Outcome(NOT_LOCATED)
    if error := rejected.article("pdf_figures", figure[0]):
        return Outcome(PDF_NOT_READ, error)
    return rejected.first(("figure_matches", "figures"), figure) or Outcome(NOT_ACCOUNTED_FOR)


def article_outcome(
    row: Mapping[str, Any], has_xml_file: bool, errors: Callable[[str], Sequence[str]], figures: Sequence[Outcome]
) -> Outcome:
    """Return the outcome of an article that counts, by its row of `articles` and what became of its figures.

    Args:
        row: of `articles`.
        has_xml_file: its package holds an XML, readable or not.
        errors: gives why a step rejected the article as a whole; nothing if it did not.
        figures: outcomes of its figures that were found in the PDF.
    """
    rejections = errors("articles")
    if IN_THE_RELEASE in figures:
        return IN_THE_RELEASE
    if row["has_xml"] and not row["relevant"]:
        return Outcome(NOT_RELEVANT)
    if row["is_retracted"]:
        return Outcome(RETRACTED)
    if not row["has_pdf"]:
        return Outcome(NO_PDF, ", ".join(rejections))
    if not row["relevant"]:
        # An XML that cannot be read is no loss where the PDF could be judged.
        unread = len(rejections) > (has_xml_file and not row["has_xml"])
        return Outcome(NO_PDF, ", ".join(rejections)) if unread else Outcome(NOT_RELEVANT)
    if figures:
        return farthest(figures)
    if why := errors("pdf_figures"):
        return Outcome(NO_PDF, ", ".join(why))
    lost = ((stage, errors(stage)) for stage in ("figure_matches", "figures"))
    return next((Outcome(REJECTED, f"{stage}: {why[0]}") for stage, why in lost if why), Outcome(NO_FIGURE))


def batch_outcomes(
    tables: Tables, batch: str, articles: Collection[int], released: pl.DataFrame, current: pl.DataFrame, entry: Entry
) -> tuple[BatchOutcomes, dict[int, Outcome]]:
    """Return outcomes of figures and panels of the articles that a release takes of a batch, and of each article.

    Args:
        tables: the tables below the data root.
        batch: a finished batch.
        articles: articles of it that a release takes.
        released: key columns of the dataset rows that the release takes.
        current: key columns of all dataset rows of these articles.
        entry: conditions on panels.
    """
    rejected = _Rejected(tables, batch)
    taken = set(released.select("article_id", "image_cluster_id", "panel_ordinal").iter_rows())
    names = current.select("article_id", "image_cluster_id", "panel_ordinal").iter_rows()
    panel_outcomes, assembled = _panel_outcomes(
        tables, batch, articles, _Rows({name: name in taken for name in names}), rejected, entry
    )
    detections = read_columns(tables, "panel_detections", batch, ("article_id", "image_cluster_id", "kind", "ordinal"))
    detected = {_panel_key(row) for row in _of(detections.filter(pl.col("kind") == "panel"), articles)}
    result = BatchOutcomes(panels=_panel_counts(panel_outcomes, assembled, detected, rejected))
    by_figure: dict[FigureName, list[Outcome]] = {}
    for key, outcome in panel_outcomes.items():
        by_figure.setdefault(key[:2], []).append(outcome)
    images: Counter[FigureName] = Counter()
    for key, panel in assembled.items():
        images[key[:2]] += panel.images
    figure_columns = ("article_id", "image_cluster_id")
    found = set(read_columns(tables, "figures", batch, figure_columns).filter(_taken(articles)).iter_rows())
    found |= by_figure.keys()
    # What `figures` rejects of a PDF is no figure of the XML, so it stands nowhere else.
    refused = {figure for figure in rejected.figures("figures") if figure[0] in articles}
    listed = set(read_columns(tables, "package_figures", batch, figure_columns).filter(_taken(articles)).iter_rows())
    with_panels = {key[:2] for key in detected}
    found |= refused - listed
    outcomes = {
        figure: rejected.first(("figures",), figure)
        or _figure_outcome(figure, by_figure, images, with_panels, rejected)
        for figure in found
    }
    of_article: dict[int, list[Outcome]] = {}
    for figure, outcome in outcomes.items():
        of_article.setdefault(figure[0], []).append(outcome)
    result.of_figures = {**outcomes, **{figure: _absent_outcome(figure, rejected) for figure in listed - found}}
    result.figures.outcomes.update(result.of_figures.values())
    result.figures.parts.update({LISTED: len(listed), FOUND: len(found - listed)})
    return result, _article_outcomes(tables, batch, articles, of_article, rejected)


def _article_outcomes(
    tables: Tables,
    batch: str,
    articles: Collection[int],
    figures: Mapping[int, Sequence[Outcome]],
    rejected: _Rejected,
) -> dict[int, Outcome]:
    columns = ("article_id", "relevant", "is_retracted", "has_xml", "has_pdf")
    known = {row["article_id"]: row for row in _of(read_columns(tables, "articles", batch, columns), articles)}
    packages = read_columns(tables, "article_packages", batch, ("article_id", "xml"))
    with_xml = set(packages.filter(pl.col("xml").is_not_null())["article_id"])
    outcomes: dict[int, Outcome] = {}
    for article in articles:
        errors, shown = partial(_errors, rejected, article), figures.get(article, ())
        if article in known:
            outcomes[article] = article_outcome(known[article], article in with_xml, errors, shown)
        elif IN_THE_RELEASE in shown:
            outcomes[article] = IN_THE_RELEASE  # its rows are of an earlier run
        else:
            classes = errors("articles")
            step = NOT_ONE_ARTICLE if _CONTRADICTIONS.intersection(classes) else NOT_READ
            outcomes[article] = Outcome(step, ", ".join(classes)) if classes else Outcome(NOT_ACCOUNTED_FOR)
    return outcomes


def _errors(rejected: _Rejected, article: int, stage: str) -> Sequence[str]:
    return rejected.errors(stage, article)


def package_outcomes(
    tables: Tables, batch: str, registered: Iterable[int], selection: Selection, articles: Mapping[int, Outcome],
    retracted: set[int],
) -> OutcomeCounts:  # fmt: skip
    """Count what became of a batch's packages; see `outcomes_of_packages`."""
    outcomes = outcomes_of_packages(tables, batch, registered, selection, articles, retracted)
    return OutcomeCounts(Counter(outcomes.values()), Counter({PACKAGES: len(outcomes)}))


def outcomes_of_packages(
    tables: Tables, batch: str, registered: Iterable[int], selection: Selection, articles: Mapping[int, Outcome],
    retracted: set[int],
) -> dict[int, Outcome]:  # fmt: skip
    """Return the outcome of each of a batch's packages.

    Args:
        tables: the tables below the data root.
        batch: a batch, finished or not.
        registered: numbers of the articles in its manifest.
        selection: articles that the release takes.
        articles: outcomes of the articles that it takes of this batch (`batch_outcomes`).
        retracted: articles of `selection.retracted` that were counted in an earlier batch; those of this one are added.
    """
    fetched = set(read_columns(tables, "article_packages", batch, ("article_id",))["article_id"])
    packages = sorted(fetched.union(registered))
    outcomes: dict[int, Outcome] = {}
    identifiers = {item.package.article_id: str(item.identifier) for item in selection.duplicates}
    rejections = tables.read_rejections(["article_packages"], batch).select("article_id", "error_class")
    errors: dict[int, str] = dict(rejections.reverse().iter_rows())
    for number in packages:
        if batch not in selection.current:
            outcome = Outcome(NOT_FINISHED)
        elif number in articles:
            outcome = articles[number]
        elif number not in fetched:
            outcome = Outcome(NOT_FETCHED, errors[number]) if number in errors else Outcome(NOT_ACCOUNTED_FOR)
        elif number in selection.taken_out:
            outcome = Outcome(TAKEN_OUT)
        elif selection.batches.get(number) == batch:
            outcome = Outcome(DUPLICATE, f"by {identifiers[number]}")
        elif number in selection.retracted and number not in retracted:
            retracted.add(number)
            outcome = Outcome(RETRACTED)
        else:
            outcome = Outcome(SUPERSEDED)
        outcomes[number] = outcome
    return outcomes
