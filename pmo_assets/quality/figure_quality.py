"""`figure_quality`: which figures were found, where, and with which caption and label."""

from __future__ import annotations

from pmo_assets.annotation.annotations import AnnotatedFigure
from pmo_assets.quality.measured import WORST_CASES, Case, Measured, blank_page, figure_title
from pmo_assets.quality.metrics.figures import FigureRecord, figure_metrics, figure_records, worst_figures
from pmo_assets.quality.page_renderer import PageRenderer
from pmo_assets.quality.page_views import PageView, page_view
from pmo_assets.quality.scored_articles import ScoredArticles
from pmo_assets.records.figure_names import page_number
from pmo_assets.records.geometry import Box
from pmo_assets.viewing.comparisons import page_comparison, stacked, text_comparison
from pmo_assets.viewing.overlays import Pixels
from pmo_assets.viewing.quality_plots import recall_plot


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
    title = f"{figure_title(record.name, record.label)} · page {page_number(page)}"
    return Case(title, record.problems, stacked(parts) if parts else blank_page())


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
