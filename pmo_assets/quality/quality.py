"""How good the pipeline is on annotated articles: truth and tables in, numbers, records and pictures out.

The arithmetic is in `pipeline/evaluation`, drawing in `viewing`; here both meet the tables below the data root.
"""

from __future__ import annotations

import functools
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import dataframely as dy
import numpy as np
import polars as pl
from PIL import Image

from pmo_assets import __version__
from pmo_assets.annotation.annotations import (
    AnnotatedArticle,
    AnnotatedFigure,
    Annotations,
    annotated_articles,
    annotation_rows,
)
from pmo_assets.quality.metrics.assembly import (
    AssemblyRecord,
    PanelRecord,
    assembly_metrics,
    assembly_record,
    worst_assemblies,
)
from pmo_assets.quality.metrics.captions import (
    RIGHT_BLEU,
    CaptionScore,
    ConfidenceBin,
    calibration_error,
    caption_score,
    caption_summary,
    confidence_bins,
    coverage,
)
from pmo_assets.quality.metrics.detection import (
    IDENTIFIER,
    MISSED,
    NOTHING,
    PANEL,
    UNDECIDED,
    DetectionRecord,
    FigureBoxes,
    LabelledBox,
    average_precision,
    detection_metrics,
    detection_record,
    figure_boxes,
    image_types,
    precision_recall,
    ranked,
    type_confusion,
    worst_detections,
)
from pmo_assets.quality.metrics.figures import FigureRecord, figure_metrics, figure_records, worst_figures
from pmo_assets.quality.metrics.matching import FigurePair, Matched, matched_articles, normalised_text
from pmo_assets.quality.metrics.metrics import Metric, mean, metrics_by_threshold, share
from pmo_assets.quality.page_views import MARGIN, MAX_ZOOM, PageView, page_view, rendered_views
from pmo_assets.quality.predictions import detected_boxes, predicted_articles
from pmo_assets.records.geometry import Box, expand, normalise
from pmo_assets.records.identifiers import normalised_identifier
from pmo_assets.records.outcome import Row, rows_by_article, rows_by_figure
from pmo_assets.records.stores import StorageError
from pmo_assets.release.releases import current_articles
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.objects import ContentStore
from pmo_assets.storage.parquet import parquet_bytes, read_parquet
from pmo_assets.storage.tables import Tables
from pmo_assets.tables.quality import QualityMetrics
from pmo_assets.tables.schemas import checked, schema_of
from pmo_assets.viewing.comparisons import (
    WIDTH,
    caption_comparison,
    detection_comparison,
    page_comparison,
    stacked,
    text_comparison,
)
from pmo_assets.viewing.overlays import Pixels, draw_legend, jpeg_bytes
from pmo_assets.viewing.palette import FOUND_COLOUR, SHARED_COLOUR, TRUTH_COLOUR
from pmo_assets.viewing.quality_plots import (
    calibration_plot,
    confusion_plot,
    coverage_plot,
    precision_recall_plot,
    recall_plot,
    stacked_shares_plot,
)
from pmo_assets.viewing.report import Headline, Picture, ReportSummary, render_report
from pmo_assets.viewing.report import Table as PageTable
from pmo_assets.viewing.text_differences import caption_segments
from pmo_assets.workers.pool import WorkerPool

WORST_CASES = 40
"""Cases on an asset's page."""

CASE_BYTES = 120_000
"""Of a case's picture on the page: forty of them load at once."""

LETTER_MARGIN = 2.0
"""PDF points that an identifier's frame is drawn away from it."""

FEW_CAPTIONS = 200
"""With fewer, ten bins of confidence would hold a handful each: five are made."""

PAPER_TYPES = ("CFP", "OCT", "Retinal Imaging", "Other")


# tables


def quality_key(table: str) -> str:
    """Return where a table of the quality group lies below the root."""
    return f"quality/{table}.parquet"


def page_key(asset: str) -> str:
    """Return where an asset's page lies below the root."""
    return f"quality/{asset}.html"


def write_quality_table(
    data_root: DataRoot, table: str, schema: type[dy.Schema], rows: Sequence[dict[str, Any]]
) -> pl.DataFrame:
    """Check rows against the schema, write them whole or not at all, and return them."""
    valid = checked(schema, rows)
    data_root.write(quality_key(table), parquet_bytes(valid))
    return valid


def write_annotations(data_root: DataRoot, annotations: Annotations) -> pl.DataFrame:
    """Write table `annotations` and return it."""
    return write_quality_table(
        data_root, "annotations", schema_of("annotations"), annotation_rows(annotations.articles)
    )


def has_annotations(data_root: DataRoot) -> bool:
    """Say whether table `annotations` has been written."""
    return data_root.exists(quality_key("annotations"))


def read_metrics(data_root: DataRoot, asset: str) -> list[Metric]:
    """Return the measured numbers of a quality asset.

    Raises:
        StorageError: if it has not been materialised.
    """
    return [Metric(**row) for row in read_parquet(data_root, quality_key(f"{asset}_metrics")).to_dicts()]


# what is scored


@dataclass(frozen=True)
class ScoredArticles:
    """Annotated articles that the tables hold, with what the pipeline made of them.

    Attributes:
        truth: annotated articles by number.
        matched: their figures, each with the found one.
        figures: rows of `figures` by article, in their order: `FigurePair.found_ordinal` counts in it.
        pdfs: object key of the PDF by article.
        further: rows of further tables by (article, image_cluster_id).
        left_out: annotated articles that are not scored: name and why.
    """

    truth: Mapping[int, AnnotatedArticle]
    matched: Matched
    figures: Mapping[int, Sequence[Row]]
    pdfs: Mapping[int, str | None]
    further: Mapping[str, Mapping[tuple[int, str], Sequence[Row]]]
    left_out: Mapping[str, str]

    def figure_row(self, pair: FigurePair) -> Row | None:
        """Return the row of `figures` of the found figure; None when none was found."""
        return None if pair.found_ordinal is None else self.figures[pair.article_id][pair.found_ordinal]

    def rows(self, table: str, pair: FigurePair) -> Sequence[Row]:
        """Return the rows of a further table for the found figure."""
        row = self.figure_row(pair)
        return [] if row is None else self.further[table].get((row["article_id"], row["image_cluster_id"]), [])

    def cluster(self, pair: FigurePair) -> str | None:
        """Return the image_cluster_id of the found figure; None when none was found."""
        row = self.figure_row(pair)
        return None if row is None else str(row["image_cluster_id"])


def _current(tables: Tables, table: str, current: Mapping[str, Sequence[int]], wanted: Sequence[int]) -> list[Row]:
    rows: list[Row] = []
    for batch, ids in current.items():
        kept = sorted(set(ids) & set(wanted))
        if kept:
            rows += tables.read(table, batch).filter(pl.col("article_id").is_in(kept)).to_dicts()
    return rows


def scored_articles(tables: Tables, further: Sequence[str] = (), *, assembled: bool = False) -> ScoredArticles:
    """Return the annotated articles of the batches that are materialised, in their newest version.

    An article that the pipeline did not take (not relevant, retracted, without a PDF) is not scored; one that it took
    and could not process is, with all its figures missed.

    Args:
        tables: the tables below the data root.
        further: tables of figures that are needed besides `figures`.
        assembled: fill the found figures' panels from `panel_assembly`.

    Raises:
        StorageError: if `annotations` has not been materialised.
    """
    data_root = tables.data_root
    if not has_annotations(data_root):
        raise StorageError("no annotated articles: set PMO_ANNOTATIONS and materialise annotations first")
    annotated = annotated_articles(read_parquet(data_root, quality_key("annotations")).to_dicts())
    needed = [*further, *(["panel_assembly"] if assembled else [])]
    finished = needed[-1] if needed else "figures"
    current = current_articles(tables, finished)
    known = {row["article_id"]: row for row in _current(tables, "articles", current, list(annotated))}
    left_out = {}
    for number, article in annotated.items():
        row = known.get(number)
        if row is None:
            left_out[article.article_id] = f"in no batch that has {finished}"
        elif not row["selected"]:
            reason = "retracted" if row["is_retracted"] else row["relevance_reason"] if row["has_pdf"] else "no PDF"
            left_out[article.article_id] = f"not processed: {reason}"
    truth = {number: article for number, article in annotated.items() if article.article_id not in left_out}
    numbers = list(truth)
    rows = {table: _current(tables, table, current, numbers) for table in ("figures", *needed)}
    figures = {
        number: sorted(part, key=lambda row: row["ordinal"])
        for number, part in rows_by_article(rows["figures"]).items()
    }
    names = {number: article.article_id for number, article in truth.items()}
    found = predicted_articles(names, rows["figures"], rows["panel_assembly"] if assembled else ())
    return ScoredArticles(
        truth=truth,
        matched=matched_articles(truth, found),
        figures=figures,
        pdfs={number: known[number]["pdf"] for number in numbers},
        further={
            table: {
                (number, cluster): part
                for number, of_article in rows_by_article(rows[table]).items()
                for cluster, part in rows_by_figure(of_article).items()
            }
            for table in needed
        },
        left_out=left_out,
    )


# pictures


@dataclass(frozen=True)
class PageRenderer:
    """Renders parts of articles' pages in the worker processes, all at once."""

    workers: WorkerPool
    objects: ContentStore

    def rendered(
        self, pdfs: Mapping[int, str | None], views: Sequence[tuple[int, PageView]]
    ) -> list[tuple[Pixels, Box] | None]:
        """Return (pixels, part of the page in PDF points) per (article, view); None where it cannot be rendered."""
        wanted: dict[int, list[int]] = {}
        for place, (number, _) in enumerate(views):
            if pdfs.get(number):
                wanted.setdefault(number, []).append(place)
        tasks = [
            (number, (pdfs[number], self.objects, [views[place][1] for place in places]))
            for number, places in wanted.items()
        ]
        result: list[tuple[Pixels, Box] | None] = [None] * len(views)
        for places, output in zip(
            wanted.values(), self.workers.map_articles("page views", rendered_views, tasks), strict=True
        ):
            for row in output.rows:
                with Image.open(io.BytesIO(row["png"])) as picture:
                    pixels = np.asarray(picture.convert("RGB"), dtype=np.uint8).copy()
                left, top, right, bottom = row["frame"]
                result[places[row["view"]]] = pixels, (left, top, right, bottom)
        return result


@dataclass(frozen=True)
class Case:
    """A figure that went wrong, as a picture: title, what is wrong, how bad it is."""

    title: str
    problems: Sequence[str]
    pixels: Pixels


@dataclass(frozen=True)
class Measured:
    """What a quality asset measured.

    Attributes:
        metrics: numbers.
        rows: rows of its table of figures.
        plots: title and PNG.
        cases: the worst ones first.
        note: one sentence on what was compared.
    """

    metrics: Sequence[Metric]
    rows: Sequence[dict[str, Any]]
    plots: Sequence[tuple[str, bytes]]
    cases: Sequence[Case]
    note: str


def _title(name: str, label: str | None) -> str:
    return f"{name} · {label or 'no label'}"


def _blank_page() -> Pixels:
    return np.full((24, WIDTH, 3), 255, np.uint8)


def _key(pair: FigurePair, cluster: str | None) -> dict[str, Any]:
    return {
        "article_id": pair.article_id,
        "record": f"a{pair.ordinal}",
        "name": pair.name,
        "label": pair.truth.label or "",
        "image_cluster_id": cluster,
    }


# figures


def _figure_view(record: FigureRecord) -> PageView:
    shown = record.truth or record.found
    assert shown is not None
    page = shown.figure_locations[0].page
    both = [figure for figure in (record.truth, record.found) if figure is not None]
    boxes = [p.bbox for f in both for p in (*f.figure_locations, *f.caption_locations) if p.page == page]
    return page_view(page, boxes)


def _figure_case(record: FigureRecord, rendered: tuple[Pixels, Box] | None, page: int) -> Case:
    def boxes(figure: AnnotatedFigure | None, captions: bool) -> list[Box]:
        places = () if figure is None else figure.caption_locations if captions else figure.figure_locations
        return [place.bbox for place in places if place.page == page]

    parts: list[Pixels] = []
    if rendered is not None:
        pixels, frame = rendered
        parts.append(
            page_comparison(
                pixels,
                frame,
                truth=boxes(record.truth, False),
                found=boxes(record.found, False),
                truth_captions=boxes(record.truth, True),
                found_captions=boxes(record.found, True),
            )
        )
    if any("caption" in problem for problem in record.problems) and record.truth and record.found:
        parts.append(text_comparison(record.truth.caption, record.found.caption, title="caption: annotated | found"))
    title = f"{_title(record.name, record.label)} · page {page + 1}"
    return Case(title, record.problems, stacked(parts) if parts else _blank_page())


def figures_measured(scored: ScoredArticles, renderer: PageRenderer, worst: int = WORST_CASES) -> Measured:
    """Compare figures, captions and labels."""
    records = figure_records(scored.matched)
    clusters = {pair.key: scored.cluster(pair) for pair in scored.matched.pairs}
    rows = []
    spurious: dict[int, int] = {}
    for record in records:
        if record.ordinal is not None:
            name, cluster = f"a{record.ordinal}", clusters[record.article_id, record.ordinal]
        else:
            number = spurious[record.article_id] = spurious.get(record.article_id, -1) + 1
            name = f"s{number}"
            cluster = record.found.image_cluster_id if record.found is not None else None
        rows.append(
            {
                "article_id": record.article_id,
                "record": name,
                "name": record.name,
                "label": record.label,
                "image_cluster_id": cluster,
                "badness": record.badness if record.problems else 0.0,
                "problems": list(record.problems),
                "state": record.state,
                "iou": min(1.0, record.iou),
                "caption_similarity": record.caption_similarity,
                "label_right": record.label_right,
            }
        )
    shown = worst_figures(records)[:worst]
    views = [(record.article_id, _figure_view(record)) for record in shown]
    pages = renderer.rendered(scored.pdfs, views)
    cases = [_figure_case(r, page, view.page) for r, page, (_, view) in zip(shown, pages, views, strict=True)]
    overlaps = [pair.iou for pair in scored.matched.pairs]
    title = f"{len(overlaps)} annotated figures: recall by IoU"
    return Measured(
        figure_metrics(scored.matched),
        rows,
        [("recall", recall_plot(overlaps, title=title))],
        cases,
        "Figures and captions on the page, in PDF points.",
    )


# subcaptions


@dataclass(frozen=True)
class _SplitCaption:
    """An annotated figure of several panels that was found, and how its caption was split."""

    pair: FigurePair
    rows: Sequence[Row]
    score: CaptionScore
    has_text: bool

    @property
    def method(self) -> str:
        return str(self.rows[0]["method"]) if self.rows else "not split"

    @property
    def problems(self) -> list[str]:
        missing = [name for name in self.score.identifiers if name not in self.score.predicted]
        invented = [name for name in self.score.predicted if name not in self.score.identifiers]
        found = []
        if self.score.unprocessed:
            if missing:
                found.append(f"identifiers not found: {', '.join(name or 'none' for name in missing)}")
            if self.score.predicted == ("",):
                found.append("taken for the caption of a single panel")
            elif invented:
                found.append(f"taken for identifiers: {', '.join(invented)}")
        elif self.has_text:
            low = {name: value for name, value in self.score.panel_bleu.items() if value < RIGHT_BLEU}
            if low:
                found.append("BLEU: " + ", ".join(f"{name} {value:.2f}" for name, value in low.items()))
        return found

    @property
    def badness(self) -> float:
        if not self.problems:
            return 0.0
        # A wrong answer that was given with confidence is worse than one that was doubted.
        return (2.0 if self.score.unprocessed else 1 - self.score.mean_bleu) * (0.5 + 0.5 * self.score.confidence)


def _split_caption(scored: ScoredArticles, pair: FigurePair) -> _SplitCaption:
    rows = sorted(scored.rows("subcaptions", pair), key=lambda row: row["ordinal"])
    truth = {panel.identifier: panel.subcaption for panel in pair.truth.panels}
    found = {row["identifier"]: row["text"] for row in rows}
    confidence = float(rows[0]["confidence"]) if rows else 0.0
    name = _title(pair.name, pair.truth.label)
    score = caption_score(name, truth, found if rows else None, confidence)
    # Panels whose subcaption is annotated as empty have nothing to compare.
    empty = {normalised_identifier(k) for k, text in truth.items() if not normalised_text(text)}
    if empty and not score.unprocessed:
        kept = {k: text for k, text in truth.items() if normalised_identifier(k) not in empty}
        part = {k: text for k, text in found.items() if normalised_identifier(k) not in empty}
        score = caption_score(name, kept, part, confidence)
    return _SplitCaption(pair, rows, score, len(empty) < len({normalised_identifier(k) for k in truth}))


def _bins(scores: Sequence[CaptionScore]) -> list[ConfidenceBin]:
    return confidence_bins(scores, 5 if len(scores) < FEW_CAPTIONS else 10)


def _subcaption_metrics(splits: Sequence[_SplitCaption], single: Sequence[bool], not_found: int) -> list[Metric]:
    scores = [item.score for item in splits]
    with_text = [item.score for item in splits if item.has_text]
    done = [score.mean_bleu for score in with_text if not score.unprocessed]
    metrics = [
        Metric("unprocessed captions", share([score.unprocessed for score in scores]), len(scores)),
        Metric("mean average sentence BLEU", mean(done), len(done)),
        Metric("captions right", share([score.right for score in with_text]), len(with_text), threshold=RIGHT_BLEU),
        Metric("false splits", share(single), len(single), "single panels"),
        Metric("calibration error", calibration_error(_bins(with_text)) if with_text else None, len(with_text)),
        Metric("figures not found", float(not_found), not_found + len(scores) + len(single)),
    ]
    for part in coverage(with_text):
        group = f"top {100 * part.share:.0f} %"
        n = part.summary.captions
        metrics.append(Metric("unprocessed captions", part.summary.unprocessed_share, n, group))
        metrics.append(
            Metric("mean average sentence BLEU", part.summary.mab if part.summary.processed else None, n, group)
        )
    for method in sorted({item.method for item in splits}):
        chosen = [item.score for item in splits if item.method == method and item.has_text]
        summary = caption_summary(chosen)
        metrics.append(
            Metric("unprocessed captions", summary.unprocessed_share if chosen else None, len(chosen), method)
        )
        metrics.append(
            Metric("mean average sentence BLEU", summary.mab if summary.processed else None, len(chosen), method)
        )
    return metrics


def _subcaption_case(item: _SplitCaption) -> Case:
    assert item.pair.found is not None
    caption = item.pair.found.caption or ""
    truth = [(panel.identifier, caption_segments(caption, panel.subcaption)) for panel in item.pair.truth.panels]
    found = [(row["identifier"], [(a, b) for a, b in row["segments"]]) for row in item.rows]
    parts = [caption_comparison(caption, truth, found)]
    if not item.score.unprocessed:
        texts = {normalised_identifier(row["identifier"]): row["text"] for row in item.rows}
        wrong = sorted(
            (
                panel
                for panel in item.pair.truth.panels
                if normalised_identifier(panel.identifier) in item.score.panel_bleu
            ),
            key=lambda panel: item.score.panel_bleu[normalised_identifier(panel.identifier)],
        )
        parts += [
            text_comparison(
                panel.subcaption,
                texts[normalised_identifier(panel.identifier)],
                title=f"worst panel, {panel.identifier}: annotated | found",
            )
            for panel in wrong[:1]
        ]
    confidence = f"split by {item.method} with confidence {item.score.confidence:.2f}"
    return Case(_title(item.pair.name, item.pair.truth.label), [*item.problems, confidence], stacked(parts))


def subcaptions_measured(scored: ScoredArticles, worst: int = WORST_CASES) -> Measured:
    """Compare the splits of captions of several panels; figures that were not found have no caption to split."""
    located = [pair for pair in scored.matched.pairs if pair.found is not None]
    splits = [_split_caption(scored, pair) for pair in located if len(pair.truth.panels) > 1]
    single = [
        any(row["identifier"] is not None for row in scored.rows("subcaptions", pair))
        for pair in located
        if len(pair.truth.panels) == 1
    ]
    metrics = _subcaption_metrics(splits, single, len(scored.matched.pairs) - len(located))
    rows = [
        {
            **_key(item.pair, scored.cluster(item.pair)),
            "badness": item.badness,
            "problems": item.problems,
            "identifiers": list(item.score.identifiers),
            "predicted": list(item.score.predicted),
            "unprocessed": item.score.unprocessed,
            "mean_bleu": min(1.0, item.score.mean_bleu) if item.has_text and not item.score.unprocessed else None,
            "confidence": item.score.confidence,
            "method": item.method,
        }
        for item in splits
    ]
    scores = [item.score for item in splits if item.has_text]
    bins = _bins(scores)
    plots = [
        ("calibration", calibration_plot(bins, error=calibration_error(bins), title=f"{len(scores)} captions")),
        ("coverage", coverage_plot(coverage(scores), title=f"{len(scores)} captions of several panels")),
    ]
    bad = sorted((item for item in splits if item.problems), key=lambda item: (-item.badness, item.pair.key))
    note = "Captions of figures with several panels, as split before assembly."
    return Measured(metrics, rows, plots, [_subcaption_case(item) for item in bad[:worst]], note)


# detection


@dataclass(frozen=True)
class _Canvas:
    """A figure's picture and how boxes in PDF points lie on it."""

    pixels: Pixels
    place: Callable[[Box, bool], Box]


def _figure_views(figure: AnnotatedFigure) -> list[PageView]:
    """Return what shows the annotated figure: its places, one below the other when there are several."""
    places = figure.figure_locations
    if len(places) == 1:
        return [page_view(places[0].page, [places[0].bbox], margin=MARGIN / 2)]
    longest = max(max(p.bbox[2] - p.bbox[0], p.bbox[3] - p.bbox[1]) for p in places)
    zoom = min(MAX_ZOOM, 600 / longest)
    return [PageView(place.page, place.bbox, zoom) for place in places]


def _canvas(pair: FigurePair, parts: Sequence[tuple[Pixels, Box] | None]) -> _Canvas | None:
    shown = [part for part in parts if part is not None]
    if not shown:
        return None
    if len(pair.truth.figure_locations) == 1:
        frame = shown[0][1]
        return _Canvas(shown[0][0], lambda box, found: normalise(box, frame))
    # Boxes of a figure over several pages refer to its parts stacked; on the page they continue beyond the first part.
    frames = [pair.truth.figure_locations[0].bbox, (pair.found or pair.truth).figure_locations[0].bbox]
    return _Canvas(stacked([pixels for pixels, _ in shown], gap=0), lambda box, found: normalise(box, frames[found]))


def _canvases(scored: ScoredArticles, renderer: PageRenderer, pairs: Sequence[FigurePair]) -> list[_Canvas | None]:
    views = [(pair.article_id, view) for pair in pairs for view in _figure_views(pair.truth)]
    rendered = iter(renderer.rendered(scored.pdfs, views))
    return [_canvas(pair, [next(rendered) for _ in pair.truth.figure_locations]) for pair in pairs]


def _drawn(
    boxes: Iterable[LabelledBox], canvas: _Canvas, found: bool, *, images: bool
) -> tuple[list[Any], list[Any], list[Any]]:
    kinds: tuple[list[Any], list[Any], list[Any]] = ([], [], [])
    for box in boxes:
        place = canvas.place(box.box, found)
        if box.kind == PANEL:
            kinds[0].append((place, box.name))
        elif box.kind == IDENTIFIER:
            # A frame on the letters themselves would hide them.
            kinds[1].append((canvas.place(expand(box.box, LETTER_MARGIN), found), None))
        elif images:
            kinds[2].append((place, box.kind, box.marked))
    return kinds


def _detection_case(record: DetectionRecord, boxes: FigureBoxes, canvas: _Canvas | None) -> Case:
    body = _blank_page()
    if canvas is not None:
        body = detection_comparison(
            canvas.pixels,
            _drawn(boxes.truth, canvas, False, images=True),
            _drawn(boxes.found, canvas, True, images=True),
        )
        body = stacked([body, draw_legend(body.shape[1])], gap=4)
    return Case(_title(record.pair.name, record.pair.truth.label), record.problems, body)


def _detected(scored: ScoredArticles, pair: FigurePair) -> tuple[LabelledBox, ...]:
    row = scored.figure_row(pair)
    if row is None:
        return ()
    return detected_boxes(row, scored.rows("panel_detections", pair), scored.rows("image_detections", pair))


def detections_measured(scored: ScoredArticles, renderer: PageRenderer, worst: int = WORST_CASES) -> Measured:
    """Compare panels, identifiers, images, their types and marks: as they are in the dataset, and before assembly."""
    figures = figure_boxes(scored.matched.pairs)
    before = detection_metrics(figure_boxes(scored.matched.pairs, functools.partial(_detected, scored)))
    metrics = detection_metrics(figures)
    metrics += [
        Metric(f"{item.metric} before assembly", item.value, item.n, item.group, item.threshold)
        for item in before
        if item.metric in ("AP", "mAP")
    ]
    records = [detection_record(item) for item in figures]
    rows = [
        {
            **_key(record.pair, scored.cluster(record.pair)),
            "badness": record.badness if record.problems else 0.0,
            "problems": list(record.problems),
            **{
                f"{kind}{suffix}": numbers[place]
                for place, kind in enumerate(("panels", "identifiers", "images"))
                for suffix, numbers in (
                    ("", record.truth),
                    ("_missed", record.missed),
                    ("_spurious", record.spurious),
                    ("_misplaced", record.misplaced),
                )
            },
            "wrong_types": record.wrong_types,
            "wrong_marks": record.wrong_marks,
        }
        for record in records
    ]
    types = image_types(figures)
    kinds = [PANEL, IDENTIFIER, *types]
    rankings = {kind: ranked(figures, kind) for kind in kinds}
    curves = {kind: precision_recall(ranking, 0.5) for kind, ranking in rankings.items()}
    areas = {kind: average_precision(ranking, 0.5) for kind, ranking in rankings.items()}
    confusion = type_confusion(figures)
    columns = [*dict.fromkeys([*PAPER_TYPES, *types, *(found for _, found in sorted(confusion))])]
    columns = [name for name in columns if name not in (UNDECIDED, MISSED)] + [UNDECIDED, MISSED]
    plots = [
        (
            "precision and recall",
            precision_recall_plot(
                {kind: (curve.recall, curve.precision) for kind, curve in curves.items()},
                {kind: area for kind, area in areas.items() if area is not None},
                title="Detections at IoU 0.5",
            ),
        ),
        ("image types", confusion_plot(confusion, [*types, NOTHING], columns, title="Images by type (IoU 0.5)")),
    ]
    of_pair = {item.pair.key: item for item in figures}
    shown = worst_detections(records)[:worst]
    canvases = _canvases(scored, renderer, [record.pair for record in shown])
    cases = [_detection_case(r, of_pair[r.pair.key], c) for r, c in zip(shown, canvases, strict=True)]
    note = "Panels, identifiers and images as they are in the dataset; on the page, in PDF points."
    return Measured(metrics, rows, plots, cases, note)


# assembly


_STATE_COLOURS = {"right": TRUTH_COLOUR, "wrong": FOUND_COLOUR, "none": SHARED_COLOUR, "missed": "#1b1f24"}


def _panel_problem(panel: PanelRecord) -> str:
    return f"panel {panel.truth.identifier or '(single)'}: {panel.reason}"


def _assembly_problems(record: AssemblyRecord) -> list[str]:
    found = [_panel_problem(panel) for panel in record.panels if panel.reason]
    if record.spurious:
        found.append(f"{record.spurious} found {'panel' if record.spurious == 1 else 'panels'} where none is annotated")
    return found


def _assembly_case(record: AssemblyRecord, boxes: FigureBoxes, canvas: _Canvas | None) -> Case:
    parts: list[Pixels] = []
    if canvas is not None:
        parts.append(
            detection_comparison(
                canvas.pixels,
                _drawn(boxes.truth, canvas, False, images=False),
                _drawn(boxes.found, canvas, True, images=False),
            )
        )
    wrong = sorted(
        (p for p in record.panels if p.state == "wrong"), key=lambda p: p.bleu if p.bleu is not None else 0.0
    )
    parts += [
        text_comparison(
            panel.truth.subcaption,
            panel.found.subcaption,
            title=f"panel {panel.truth.identifier or '(single)'}: annotated | found",
        )
        for panel in wrong[:2]
        if panel.found is not None
    ]
    title = _title(record.pair.name, record.pair.truth.label)
    return Case(title, _assembly_problems(record), stacked(parts) if parts else _blank_page())


def assembly_measured(scored: ScoredArticles, renderer: PageRenderer, worst: int = WORST_CASES) -> Measured:
    """Compare which identifier and subcaption each panel got."""
    records = [assembly_record(pair) for pair in scored.matched.pairs]
    rows = []
    for record in records:
        states = [panel.state for panel in record.panels]
        rows.append(
            {
                **_key(record.pair, scored.cluster(record.pair)),
                "badness": record.badness,
                "problems": _assembly_problems(record),
                "panels": len(record.panels),
                "assigned": sum(panel.assigned for panel in record.panels),
                **{name: states.count(name) for name in ("right", "wrong", "none", "missed")},
                "spurious": record.spurious,
                "bleu": mean([min(1.0, panel.bleu) for panel in record.panels if panel.bleu is not None]),
            }
        )
    parts: dict[str, dict[str, int]] = {"all panels": {}}
    for record in records:
        for panel in record.panels:
            method = panel.found.assembly if panel.found is not None else None
            for group in ("all panels", *([method] if method else [])):
                counts = parts.setdefault(group, {})
                counts[panel.state] = counts.get(panel.state, 0) + 1
    plot = stacked_shares_plot(
        parts, _STATE_COLOURS, title="Subcaptions of annotated panels, by how they were assigned"
    )
    figures = {item.pair.key: item for item in figure_boxes(scored.matched.pairs)}
    shown = worst_assemblies(records)[:worst]
    canvases = _canvases(scored, renderer, [record.pair for record in shown])
    cases = [_assembly_case(r, figures[r.pair.key], c) for r, c in zip(shown, canvases, strict=True)]
    note = (
        "A panel is assigned when it is found (IoU 0.5) and called as annotated; its subcaption is right from BLEU 0.9."
    )
    return Measured(assembly_metrics(scored.matched.pairs), rows, [("assignment", plot)], cases, note)


# what is kept


def metric_rows(metrics: Sequence[Metric]) -> list[dict[str, Any]]:
    """Return the rows of a table of measured numbers (`QualityMetrics`)."""
    return [
        {"metric": m.metric, "group": m.group, "threshold": m.threshold, "value": m.value, "n": m.n} for m in metrics
    ]


def write_measured(data_root: DataRoot, asset: str, measured: Measured, scored: ScoredArticles) -> pl.DataFrame:
    """Write numbers, records and the page of a quality asset; return the table of records."""
    write_quality_table(data_root, f"{asset}_metrics", QualityMetrics, metric_rows(measured.metrics))
    table = write_quality_table(data_root, asset, schema_of(asset), measured.rows)
    data_root.write(page_key(asset), quality_page(asset, measured, scored).encode())
    return table


def quality_page(asset: str, measured: Measured, scored: ScoredArticles) -> str:
    """Return the page with all numbers, the plots and the worst cases."""
    wrong = sum(bool(row["problems"]) for row in measured.rows)
    headings, lines = metrics_by_threshold(measured.metrics)
    numbers = PageTable("Numbers", tuple(headings), tuple(tuple(line) for line in lines))
    left_out = PageTable("Annotated articles that are not scored", ("article", "why"), tuple(scored.left_out.items()))
    worst = sorted((row for row in measured.rows if row["problems"]), key=lambda row: -row["badness"])
    records = PageTable(
        "Figures with a problem",
        ("article", "figure", "badness", "what is wrong"),
        tuple((row["name"], row["label"], round(row["badness"], 3), "; ".join(row["problems"])) for row in worst),
    )
    pictures = [Picture(title.capitalize(), png) for title, png in measured.plots]
    pictures += [
        Picture(f"{number}. {item.title}", jpeg_bytes(item.pixels, CASE_BYTES), "; ".join(item.problems))
        for number, item in enumerate(measured.cases, start=1)
    ]
    return render_report(
        ReportSummary(
            title=asset.replace("_", " ").capitalize(),
            lead=f"{measured.note} The worst {len(measured.cases)} of {wrong} figures with a problem are shown.",
            facts=(("articles", str(len(scored.truth))), ("pmo-assets", __version__)),
            headlines=(
                Headline("annotated articles", len(scored.truth), f"{len(scored.left_out)} more are not scored"),
                Headline("annotated figures", len(scored.matched.pairs)),
                Headline("figures with a problem", wrong),
            ),
            tables=(numbers, records, *([left_out] if scored.left_out else [])),
            pictures=tuple(pictures),
        )
    )
