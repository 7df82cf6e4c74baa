"""Counts of a release and of the steps before it, batch by batch.

Memory holds the tables of one batch and counts: numbers of words and pixels as histograms, so that means and medians
are exact. `views` shows the numbers, `outcomes` decides why a unit is lost.
"""

from __future__ import annotations

import statistics
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

import polars as pl

from pmo_assets.pipeline.dataset.rows import Entry
from pmo_assets.pipeline.dataset.splits import SPLITS
from pmo_assets.records.panels import AUTOMATIC
from pmo_assets.release.selection import Selection, current_rows
from pmo_assets.release.statistics.outcomes import (
    ARTICLE_STEPS,
    EMPTY,
    FIGURE_STEPS,
    NOT_REGISTERED,
    PANEL_STEPS,
    REFUSED,
    UNWANTED,
    BatchOutcomes,
    batch_outcomes,
    package_outcomes,
    read_columns,
)
from pmo_assets.release.statistics.waterfall import Outcome, Waterfall, waterfall
from pmo_assets.release.writing import is_noncommercial
from pmo_assets.storage.manifests import in_sequence
from pmo_assets.storage.registry import BatchRegistry
from pmo_assets.storage.tables import Tables
from pmo_assets.tables.schemas import schema_of

NONE_STATED: Final = "none stated"
UNDECIDED: Final = "undecided"
NOT_ASSIGNED: Final = "not assigned"
NO_SPLIT: Final = "no split yet"

SURENESS: Final = (0.0, 0.5, 0.8, 0.9, 0.92, 0.95, 0.98, 1.0)
"""Bounds of the confidences that are counted together."""

MENTIONS: Final = (0, 1, 2, 3, 4, 5, 10, 20)
"""Numbers of mentions from which on panels are counted together."""

CONTAINS: Final = ("contains_cfp", "contains_oct", "contains_retinal", "contains_other", "contains_marked")

BATCH_TABLES: Final = ("articles", "figures", "panels", "dataset_rows", "rejections")
"""Tables whose rows are counted batch by batch."""


@dataclass(frozen=True, slots=True)
class Spread:
    """Mean and median of a number, both exact; 0 where nothing was counted."""

    mean: float = 0.0
    median: float = 0.0


@dataclass(frozen=True, slots=True)
class LicenceUse:
    """Size of the part of a release that is under a licence.

    Attributes:
        code: as PMC writes it; None where none is stated.
        commercial_use: it allows commercial use.
        panels, articles: number of each.
    """

    code: str | None
    commercial_use: bool
    panels: int
    articles: int


@dataclass(frozen=True, slots=True)
class SplitSize:
    """Size of the part of a release that is in a split."""

    name: str
    panels: int
    figures: int
    articles: int


@dataclass(frozen=True)
class ProcessedCounts:
    """Counts of the steps' results for the articles that count, each once.

    Attributes:
        articles: articles that count, in their newest version.
        selected: those that go on: relevant, not retracted, with a PDF.
        articles_after_filter: relevant and not retracted.
        articles_with_figures: those with a figure that was found in their PDF.
        figures: figures found.
        figures_matched: those that were matched to one that an XML lists.
        figures_listed: figures that XMLs list.
        figures_detected_in: figures in which panels were looked for.
        figures_without_detections: those in which neither panel nor image was found.
        figures_unwanted: those that do not go on because they hold no image of a wanted type.
        panels_detected, identifiers_detected, images_detected: boxes.
        captions_split: figures with a split caption.
        captions_discarded: those whose caption could not be split.
        subcaptions: parts of all captions.
        panels: panels with a picture.
        panels_with_subcaption: those with a subcaption.
        image_types, marks: images by what they show; undecided ones among them.
        methods: panels by how their subcaption was assigned.
        sureness: panels whose subcaption rules assigned, by confidence ("0.95 to 0.98"), surest first.
    """

    articles: int
    selected: int
    articles_after_filter: int
    articles_with_figures: int
    figures: int
    figures_matched: int
    figures_listed: int
    figures_detected_in: int
    figures_without_detections: int
    figures_unwanted: int
    panels_detected: int
    identifiers_detected: int
    images_detected: int
    captions_split: int
    captions_discarded: int
    subcaptions: int
    panels: int
    panels_with_subcaption: int
    image_types: Mapping[str, int]
    marks: Mapping[str, int]
    methods: Mapping[str, int]
    sureness: Mapping[str, int]

    @property
    def articles_without_figures(self) -> int:
        """Articles after the filter in whose PDF no figure was found."""
        return self.articles_after_filter - self.articles_with_figures


@dataclass(frozen=True)
class ContextCounts:
    """Counts of what the running text says of a release's panels.

    Attributes:
        told: panels of which a sentence speaks.
        summarised: panels with a summary of the article's sentences.
        generated: panels with a summary of a language model.
        mentions: sentences that speak of a panel, panels without any included.
        panels_by_mentions: panels by number of such sentences ("5 to 9"), fewest first.
        words: of subcaption and sentences together.
        entities: by group, each panel's of its own.
        negated, uncertain: of them.
        diseases, findings: panels by term that their words affirm, or affirm a narrower one of.
        eyes, modalities, modality_classes: panels by value; those without one are left out.
    """

    told: int
    summarised: int
    generated: int
    mentions: Spread
    panels_by_mentions: Mapping[str, int]
    words: Spread
    entities: Mapping[str, int]
    negated: int
    uncertain: int
    diseases: Mapping[str, int]
    findings: Mapping[str, int]
    eyes: Mapping[str, int]
    modalities: Mapping[str, int]
    modality_classes: Mapping[str, int]


@dataclass(frozen=True)
class ReleasedCounts:
    """Counts of a release.

    Attributes:
        panels, figures, articles: number of each.
        left_out: panels that are left out because their licence forbids commercial use.
        mesh_terms: different MeSH headings of its articles.
        articles_with_mesh: articles whose XML carries any.
        contains: panels by column (`CONTAINS`); a panel may hold several types.
        several_types: panels with images of more than one type.
        words: of the subcaptions.
        assembly: panels by who assigned the subcaption, in the published words.
        methods: panels by how.
        licences: most frequent first.
        years: articles by year of publication; None where it is not known.
        journals: articles by journal, most frequent first.
        articles_without_journal: articles whose journal is not known.
        splits: those that have articles, train first; empty where nothing was split.
        width, height, pixels: of the pictures.
        assembly_confidence, caption_confidence: of the panels.
        context: what the running text says of them.
    """

    panels: int
    figures: int
    articles: int
    left_out: int
    mesh_terms: int
    articles_with_mesh: int
    contains: Mapping[str, int]
    several_types: int
    words: Spread
    assembly: Mapping[str, int]
    methods: Mapping[str, int]
    licences: tuple[LicenceUse, ...]
    years: Mapping[int | None, int]
    journals: Mapping[str, int]
    articles_without_journal: int
    splits: tuple[SplitSize, ...]
    width: Spread
    height: Spread
    pixels: Spread
    assembly_confidence: Spread
    caption_confidence: Spread
    context: ContextCounts


@dataclass(frozen=True)
class ReleaseStatistics:
    """The numbers of a release.

    Attributes:
        processed: counts of the steps.
        released: counts of the release.
        waterfalls: of articles, figures and panels, in this order.
        batches: rows of `BATCH_TABLES` by finished batch; None where a batch has no such table.
    """

    processed: ProcessedCounts
    released: ReleasedCounts
    waterfalls: tuple[Waterfall, ...]
    batches: Mapping[str, tuple[int | None, ...]]


def _ordered(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def spread_of(histogram: Mapping[int, int]) -> Spread:
    """Return mean and median of numbers that are counted by value."""
    total = sum(histogram.values())
    if not total:
        return Spread()
    middle: list[int] = []
    seen, wanted = 0, ((total - 1) // 2, total // 2)
    for value in sorted(histogram):
        seen += histogram[value]
        middle += [value] * (sum(place < seen for place in wanted) - len(middle))
    return Spread(sum(value * count for value, count in histogram.items()) / total, sum(middle) / 2)


def _spread_of_values(values: array[int] | array[float]) -> Spread:
    return Spread(statistics.fmean(values), statistics.median(values)) if values else Spread()


def _value_counts(values: pl.Series) -> dict[str, int]:
    return {str(value): int(count) for value, count in values.value_counts().iter_rows()}


@dataclass
class _Totals:
    """Counts of the batches so far."""

    numbers: Counter[str] = field(default_factory=Counter)
    groups: dict[str, Counter[str]] = field(default_factory=dict)
    words: Counter[int] = field(default_factory=Counter)
    words_told: Counter[int] = field(default_factory=Counter)
    mentions: Counter[int] = field(default_factory=Counter)
    width: Counter[int] = field(default_factory=Counter)
    height: Counter[int] = field(default_factory=Counter)
    pixels: array[int] = field(default_factory=lambda: array("q"))
    confidence: array[float] = field(default_factory=lambda: array("d"))
    caption_confidence: array[float] = field(default_factory=lambda: array("d"))
    licences: Counter[tuple[str | None, bool]] = field(default_factory=Counter)
    licence_articles: Counter[tuple[str | None, bool]] = field(default_factory=Counter)
    years: Counter[int | None] = field(default_factory=Counter)
    split_sizes: Counter[tuple[str, str]] = field(default_factory=Counter)
    mesh_terms: set[str] = field(default_factory=set)
    outcomes: BatchOutcomes = field(default_factory=BatchOutcomes)
    batches: dict[str, tuple[int | None, ...]] = field(default_factory=dict)

    def group(self, name: str, counts: Mapping[str, int]) -> None:
        self.groups.setdefault(name, Counter()).update(counts)


def _count_articles(totals: _Totals, tables: Tables, batch: str, articles: Sequence[int], released: set[int]) -> None:
    columns = ("article_id", "relevant", "is_retracted", "selected", "mesh_terms")
    known = read_columns(tables, "articles", batch, columns).filter(pl.col("article_id").is_in(list(articles)))
    totals.numbers.update(
        articles=known.height,
        selected=known.filter("selected").height,
        articles_after_filter=known.filter(pl.col("relevant") & ~pl.col("is_retracted")).height,
    )
    filed = known.filter(pl.col("article_id").is_in(list(released)) & (pl.col("mesh_terms").list.len() > 0))
    totals.numbers["articles_with_mesh"] += filed.height
    totals.mesh_terms.update(filed["mesh_terms"].explode(empty_as_null=False).to_list())


def _count_figures(totals: _Totals, tables: Tables, batch: str, articles: Sequence[int]) -> None:
    current = pl.col("article_id").is_in(list(articles))
    figure = ["article_id", "image_cluster_id"]
    figures = read_columns(tables, "figures", batch, [*figure, "matched"]).filter(current)
    listed = read_columns(tables, "package_figures", batch, figure).filter(current)
    parts = read_columns(tables, "subcaptions", batch, figure).filter(current)
    rejected = tables.read_rejections(["subcaptions", "panel_detections"], batch).filter(current)
    lost = rejected.filter(pl.col("image_cluster_id").is_not_null()).unique(["stage", *figure])
    whole = rejected.filter(pl.col("image_cluster_id").is_null())
    everywhere = whole.select("stage", "article_id").unique().join(figures.select(figure), on="article_id")
    lost = pl.concat([lost.select("stage", *figure), everywhere.select("stage", *figure)]).unique()
    totals.numbers.update(
        figures=figures.height,
        figures_matched=figures.filter("matched").height,
        articles_with_figures=figures["article_id"].n_unique(),
        figures_listed=listed.height,
        figures_detected_in=figures.height - lost.filter(pl.col("stage") == "panel_detections").height,
        captions_split=parts.select(figure).n_unique() if parts.height else 0,
        captions_discarded=lost.filter(pl.col("stage") == "subcaptions").height,
        subcaptions=parts.height,
    )


def _count_detections(totals: _Totals, tables: Tables, batch: str, articles: Sequence[int]) -> None:
    current = pl.col("article_id").is_in(list(articles))
    boxes = read_columns(tables, "panel_detections", batch, ("article_id", "kind")).filter(current)
    images = read_columns(tables, "image_detections", batch, ("article_id", "image_type", "marked")).filter(current)
    key = ("article_id", "image_cluster_id", "ordinal")
    panels = (
        read_columns(tables, "reviewed_panels", batch, (*key, "subcaption", "method", "assembly", "confidence"))
        .join(read_columns(tables, "panels", batch, key), on=key, how="semi")
        .filter(current)
    )
    kinds = _value_counts(boxes["kind"].cast(pl.String))
    totals.numbers.update(
        panels_detected=kinds.get("panel", 0),
        identifiers_detected=kinds.get("identifier", 0),
        images_detected=images.height,
        panels=panels.height,
        panels_with_subcaption=panels["subcaption"].drop_nulls().len(),
    )
    totals.group("image_types", _value_counts(images["image_type"].cast(pl.String).fill_null(UNDECIDED)))
    marks = images["marked"].cast(pl.String).replace({"true": "marked", "false": "unmarked"}).fill_null(UNDECIDED)
    totals.group("marks", _value_counts(marks))
    totals.group("processed_methods", _value_counts(panels["method"].fill_null(NOT_ASSIGNED)))
    sure = panels.filter(pl.col("assembly") == AUTOMATIC)["confidence"].to_list()
    totals.group("sureness", Counter(map(_sureness, sure)))


def _sureness(value: float) -> str:
    """Return between which bounds a confidence lies."""
    bounds = ((low, high) for low, high in pairwise(SURENESS) if low <= value < high or high == SURENESS[-1])
    low, high = next(bounds)
    return f"{low:.2f} to {high:.2f}"


def _count_rows(totals: _Totals, rows: pl.DataFrame, splits: Mapping[int, str] | None) -> None:
    figures = rows.select("article_id", "image_cluster_id").unique()
    articles = rows.unique("article_id", keep="first", maintain_order=True)
    types = pl.sum_horizontal(pl.col(name).cast(pl.Int64) for name in CONTAINS if name != "contains_marked")
    totals.numbers.update(
        rows=rows.height,
        row_figures=figures.height,
        row_articles=articles.height,
        several_types=rows.filter(types > 1).height,
    )
    totals.group("contains", {name: int(rows[name].sum()) for name in CONTAINS})
    totals.group("assembly", _value_counts(rows["assembly"]))
    totals.group("methods", _value_counts(rows["assembly_method"]))
    totals.group("journals", _value_counts(articles["journal"].drop_nulls()))
    totals.words.update(rows["subcaption_text"].str.count_matches(r"\S+").to_list())
    totals.width.update(rows["picture_width"].to_list())
    totals.height.update(rows["picture_height"].to_list())
    totals.pixels.extend((rows["picture_width"] * rows["picture_height"]).to_list())
    totals.confidence.extend(rows["assembly_confidence"].to_list())
    totals.caption_confidence.extend(rows["caption_confidence"].to_list())
    totals.licences.update(rows.select("license", "commercial_use").iter_rows())
    totals.licence_articles.update(articles.select("license", "commercial_use").iter_rows())
    totals.years.update(articles["year"].to_list())
    if splits is not None:
        for name, table in (("panels", rows), ("figures", figures), ("articles", articles)):
            totals.split_sizes.update(
                (name, splits.get(article, NO_SPLIT)) for article in table["article_id"].to_list()
            )


_SUMMARY_COLUMNS: Final = ("panel_id", "mentions", "summary", "generated_summary")
_ENTITY_COLUMNS: Final = ("panel_id", "entities", "diseases", "findings", "eye")
_MODALITY_COLUMNS: Final = ("panel_id", "modality", "modality_class")


def _count_context(totals: _Totals, tables: Tables, batch: str, rows: pl.DataFrame) -> None:
    panels = rows.select("panel_id", words=pl.col("subcaption_text").str.count_matches(r"\S+"))

    def own(table: str, columns: Sequence[str]) -> pl.DataFrame:
        return panels.join(read_columns(tables, table, batch, columns), on="panel_id", how="left")

    summaries = own("panel_summaries", _SUMMARY_COLUMNS)
    in_mentions = pl.element().struct.field("text").str.count_matches(r"\S+")
    said = summaries.select(
        mentions=pl.col("mentions").list.len().fill_null(0),
        words=pl.col("words") + pl.col("mentions").list.eval(in_mentions).list.sum().fill_null(0),
    )
    totals.mentions.update(said["mentions"].to_list())
    totals.words_told.update(said["words"].to_list())
    totals.numbers.update(
        told=int((said["mentions"] > 0).sum()),
        summarised=summaries["summary"].drop_nulls().len(),
        generated=summaries["generated_summary"].drop_nulls().len(),
    )
    found = own("panel_entities", _ENTITY_COLUMNS)
    entities = found.select(pl.col("entities").explode(empty_as_null=False)).drop_nulls().unnest("entities")
    totals.group("entities", _value_counts(entities["group"]))
    totals.numbers.update(negated=int(entities["negated"].sum()), uncertain=int(entities["uncertain"].sum()))
    for name in ("diseases", "findings"):
        totals.group(name, _value_counts(found[name].explode(empty_as_null=False).drop_nulls()))
    totals.group("eyes", _value_counts(found["eye"].drop_nulls()))
    modalities = own("panel_modality", _MODALITY_COLUMNS)
    totals.group("modalities", _value_counts(modalities["modality"].drop_nulls()))
    totals.group("modality_classes", _value_counts(modalities["modality_class"].drop_nulls()))


def _panels_by_mentions(histogram: Mapping[int, int]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for low, after in pairwise((*MENTIONS, None)):
        count = sum(n for value, n in histogram.items() if value >= (low or 0) and (after is None or value < after))
        name = f"{low} and more" if after is None else f"{low}" if after == (low or 0) + 1 else f"{low} to {after - 1}"
        counts[name] = count
    return counts


_ROW_COLUMNS: Final = (
    "panel_id", "article_id", "image_cluster_id", "panel_ordinal", "subcaption_text", *CONTAINS, "assembly",
    "assembly_method", "assembly_confidence", "caption_confidence", "license", "commercial_use", "journal", "year",
    "picture_width", "picture_height",
)  # fmt: skip


def release_statistics(
    tables: Tables,
    selection: Selection,
    entry: Entry,
    *,
    noncommercial: bool = True,
    splits: Mapping[int, str] | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> ReleaseStatistics:
    """Count a release and what came before it.

    Args:
        tables: the tables below the data root.
        selection: articles that the release takes (`selection.select_articles`).
        entry: conditions under which panels enter the dataset.
        noncommercial: the release keeps rows whose licence forbids commercial use.
        splits: split by article number; None where nothing was split.
        say: told of progress, batch by batch.

    Raises:
        StorageError: if a table was written by another version.
    """
    totals = _Totals()
    registry = BatchRegistry(tables.data_root)
    manifests = set(registry.batches())
    retracted: set[int] = set()
    for number, batch in enumerate(keys := in_sequence(manifests.union(selection.current)), start=1):
        say(f"statistics: batch {number} of {len(keys)} ({batch})")
        articles = selection.current.get(batch, [])
        registered = registry.manifest(batch)["article_id"].to_list() if batch in manifests else []
        outcomes: dict[int, Outcome] = {}
        if batch in selection.current:
            current = current_rows(tables, selection, batch, _ROW_COLUMNS)
            rows = current if noncommercial else current.filter(~is_noncommercial())
            totals.numbers["left_out"] += current.height - rows.height
            _count_rows(totals, rows, splits)
            _count_context(totals, tables, batch, rows)
            _count_articles(totals, tables, batch, articles, set(rows["article_id"]))
            _count_figures(totals, tables, batch, articles)
            _count_detections(totals, tables, batch, articles)
            counted, outcomes = batch_outcomes(tables, batch, articles, rows, current, entry)
            totals.outcomes.add(counted)
            totals.batches[batch] = tuple(
                _height(tables, name, batch) if tables.exists(name, batch) else None for name in BATCH_TABLES
            )
        totals.outcomes.articles.add(package_outcomes(tables, batch, registered, selection, outcomes, retracted))
    refused = tables.registration_rejections()
    totals.outcomes.articles.outcomes.update(Outcome(NOT_REGISTERED, error) for error in refused["error_class"])
    if refused.height:
        totals.outcomes.articles.parts[REFUSED] += refused.height
    return _statistics(totals)


def _height(tables: Tables, asset: str, batch: str) -> int:
    return read_columns(tables, asset, batch, list(schema_of(asset).columns())[:1]).height


def _statistics(totals: _Totals) -> ReleaseStatistics:
    numbers, figure_outcomes = totals.numbers, totals.outcomes.figures.outcomes

    def group(name: str) -> dict[str, int]:
        return _ordered(totals.groups.get(name, Counter()))

    def at(step: str) -> int:
        return sum(count for outcome, count in figure_outcomes.items() if outcome.step == step)

    names = [name for name in (*SPLITS, NO_SPLIT) if totals.split_sizes["articles", name]]
    own = ("articles", "selected", "articles_after_filter", "articles_with_figures", "figures", "figures_matched",
           "figures_listed", "figures_detected_in", "panels_detected", "identifiers_detected", "images_detected",
           "captions_split", "captions_discarded", "subcaptions", "panels", "panels_with_subcaption")  # fmt: skip
    processed = ProcessedCounts(
        **{name: numbers[name] for name in own},
        figures_without_detections=at(EMPTY),
        figures_unwanted=at(UNWANTED),
        image_types=group("image_types"),
        marks=group("marks"),
        methods=group("processed_methods"),
        sureness=dict(sorted(totals.groups.get("sureness", Counter()).items(), reverse=True)),
    )
    released = ReleasedCounts(
        panels=numbers["rows"],
        figures=numbers["row_figures"],
        articles=numbers["row_articles"],
        left_out=numbers["left_out"],
        mesh_terms=len(totals.mesh_terms),
        articles_with_mesh=numbers["articles_with_mesh"],
        contains={name: totals.groups.get("contains", Counter())[name] for name in CONTAINS},
        several_types=numbers["several_types"],
        words=spread_of(totals.words),
        assembly=group("assembly"),
        methods=group("methods"),
        licences=_licences(totals),
        years=dict(sorted(totals.years.items(), key=lambda item: (item[0] is None, item[0] or 0))),
        journals=group("journals"),
        articles_without_journal=numbers["row_articles"] - sum(group("journals").values()),
        splits=tuple(
            SplitSize(name, *(totals.split_sizes[what, name] for what in ("panels", "figures", "articles")))
            for name in names
        ),
        width=spread_of(totals.width),
        height=spread_of(totals.height),
        pixels=_spread_of_values(totals.pixels),
        assembly_confidence=_spread_of_values(totals.confidence),
        caption_confidence=_spread_of_values(totals.caption_confidence),
        context=ContextCounts(
            told=numbers["told"],
            summarised=numbers["summarised"],
            generated=numbers["generated"],
            mentions=spread_of(totals.mentions),
            panels_by_mentions=_panels_by_mentions(totals.mentions),
            words=spread_of(totals.words_told),
            negated=numbers["negated"],
            uncertain=numbers["uncertain"],
            **{
                name: group(name)
                for name in ("entities", "diseases", "findings", "eyes", "modalities", "modality_classes")
            },
        ),
    )
    ways = (
        waterfall("articles", totals.outcomes.articles, ARTICLE_STEPS),
        waterfall("figures", totals.outcomes.figures, FIGURE_STEPS),
        waterfall("panels", totals.outcomes.panels, PANEL_STEPS),
    )
    return ReleaseStatistics(processed, released, ways, totals.batches)


def _licences(totals: _Totals) -> tuple[LicenceUse, ...]:
    ordered: Iterable[tuple[tuple[str | None, bool], int]] = sorted(
        totals.licences.items(), key=lambda item: (-item[1], item[0][0] or "", item[0][1])
    )
    return tuple(
        LicenceUse(code, commercial, panels, totals.licence_articles[code, commercial])
        for (code, commercial), panels in ordered
    )
