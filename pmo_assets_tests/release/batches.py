"""Small batches as the steps leave them, written table by table: what a test says of them is all that happened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from pmo_assets.pipeline.dataset.rows import Entry, dataset_row, left_out_reason
from pmo_assets.records.article import ArticleCredit
from pmo_assets.records.figure import Figure
from pmo_assets.records.panels import AUTOMATIC, Panel, PanelPicture
from pmo_assets.records.rejections import Rejection
from pmo_assets.storage.tables import Tables
from pmo_assets.tables.rows import record_of

ENTRY: Final = Entry(("CFP", "OCT", "Retinal Imaging"), 0.9)

BOX: Final = [0.0, 0.0, 1.0, 1.0]


@dataclass
class PanelMade:
    """A panel as it was assembled.

    Attributes:
        members: panel detections that it is made of; none for one that images make.
        types: its images' types.
        facts: what differs from a panel whose subcaption is sure ("subcaption", "confidence", "reason" …).
        cut: it has a picture.
        row: it has a row in the dataset; None: as `left_out_reason` says.
    """

    members: Sequence[int] = (0,)
    types: Sequence[str | None] = ("OCT",)
    facts: Mapping[str, Any] = field(default_factory=dict)
    cut: bool = True
    row: bool | None = None


@dataclass
class FigureMade:
    """A figure.

    Attributes:
        panels: its panels.
        listed: its XML lists it.
        found: it was found in the PDF.
        detected: panel detections; those of its panels if None.
        wanted: it goes on.
        annotated: people decided something of it.
    """

    panels: Sequence[PanelMade] = ()
    listed: bool = True
    found: bool = True
    detected: int | None = None
    wanted: bool = True
    annotated: bool = False


@dataclass
class ArticleMade:
    """An article.

    Attributes:
        figures: by image_cluster_id.
        facts: what differs in `articles` from a relevant one with XML and PDF under CC BY.
        fetched: it has a package.
        read: it has a row of `articles`.
        package: what differs in its package.
    """

    figures: Mapping[str, FigureMade] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    fetched: bool = True
    read: bool = True
    package: Mapping[str, Any] = field(default_factory=dict)


def write_batch(
    tables: Tables,
    batch: str,
    articles: Mapping[int, ArticleMade],
    rejected: Sequence[tuple[str, int, str | None, str]] = (),
    entry: Entry = ENTRY,
) -> None:
    """Write the tables of a finished batch.

    Args:
        tables: where.
        batch: its key.
        articles: by number.
        rejected: (stage, article, figure or None, error class).
        entry: what panels need.
    """
    rows: dict[str, list[dict[str, Any]]] = {
        name: [] for name in ("article_packages", "articles", "package_figures", "figures", "subcaptions",
                              "panel_detections", "image_detections", "reviewed_panels", "panels", "dataset_rows")
    }  # fmt: skip
    for number, article in articles.items():
        _write_article(rows, number, article, entry)
    for name, made in rows.items():
        tables.write(name, batch, made)
    for stage in {item[0] for item in rejected}:
        tables.write_rejections(
            stage,
            batch,
            [Rejection(stage, *key, error, "why") for of, *key, error in rejected if of == stage],  # type: ignore
        )


def _write_article(rows: dict[str, list[dict[str, Any]]], number: int, article: ArticleMade, entry: Entry) -> None:
    package = {
        "article_id": number, "name": f"n{number}", "version": 1, "license_code": "CC BY", "is_retracted": False,
        "is_manuscript": False, "doi": None, "pdf": f"objects/aa/{number}.pdf", "xml": f"objects/aa/{number}.xml",
        "figure_files": [], "license_unknown": False, **article.package,
    }  # fmt: skip
    if article.fetched:
        rows["article_packages"].append(package)
    facts = {
        **package, "package": package["name"],
        "doi": f"10.1000/{number}", "pmcid": None, "title": f"Title {number}", "authors": ["Ada Author"],
        "journal": "J", "year": 2024, "mesh_terms": [], "keywords": [], "stated_by": [], "xml_figures": [],
        "paragraphs": [],
        "citation": None, "license_url": None, "pdf_identity": "verified", "identity_evidence": ["text"],
        "has_xml": True, "has_pdf": True, "relevant": True, "criteria": [], "relevance_reason": "", **article.facts,
    }  # fmt: skip
    facts["stated_by"] = [{"fact": "doi", "source": "XML"}] if facts["doi"] else []
    facts["selected"] = facts["relevant"] and facts["has_pdf"] and not facts["is_retracted"]
    if article.fetched and article.read:
        rows["articles"].append(facts)
    for place, (cluster, figure) in enumerate(article.figures.items()):
        _write_figure(rows, facts, place, cluster, figure, entry)


def _write_figure(
    rows: dict[str, list[dict[str, Any]]],
    article: Mapping[str, Any],
    place: int,
    cluster: str,
    figure: FigureMade,
    entry: Entry,
) -> None:
    key = {"article_id": article["article_id"], "image_cluster_id": cluster}
    if figure.listed:
        rows["package_figures"].append(
            {**key, "ordinal": place, "label": "", "caption": "", "graphics": [], "mentions": []}
        )
    if not figure.found:
        return
    page = [{"page": 0, "bbox": BOX}]
    shown = {
        **key, "pdf_figure_id": f"p0-{place}", "ordinal": place, "label": f"Figure {place}", "caption": "A caption",
        "matched": figure.listed, "match_criteria": None, "confidence": 1.0, "is_multi_page": False, "locations": page,
        "caption_locations": page, "page_sizes": [], "mentions": [], "width": 100, "height": 100, "dpi": 300.0,
        "bitmaps": [], "texts": [], "shapes": [], "rights_statement": None,
    }  # fmt: skip
    rows["figures"].append(shown)
    count = figure.detected if figure.detected is not None else sum(len(panel.members) for panel in figure.panels)
    for ordinal in range(count):
        rows["panel_detections"].append(
            {**key, "detection_id": f"panel-{ordinal}", "kind": "panel", "ordinal": ordinal, "box": BOX, "score": 1.0,
             "probability": 1.0, "source": "gutter", "text": None, "text_score": 0.0}
        )  # fmt: skip
    for number, panel in enumerate(figure.panels):
        ordinal = panel.members[0] if panel.members else 100 + number
        _write_panel(rows, article, shown, ordinal, figure, panel, entry)


def _write_panel(
    rows: dict[str, list[dict[str, Any]]],
    article: Mapping[str, Any],
    figure: Mapping[str, Any],
    ordinal: int,
    made: FigureMade,
    panel: PanelMade,
    entry: Entry,
) -> None:
    key = {"article_id": figure["article_id"], "image_cluster_id": figure["image_cluster_id"]}
    images = [
        {"id": f"image-{ordinal}-{n}", "box": BOX, "score": 1.0, "image_type": kind, "type_score": 1.0,
         "modality": None, "modality_score": 0.0, "marked": False,
         "mark_score": 0.0, "is_gt": False}
        for n, kind in enumerate(panel.types)
    ]  # fmt: skip
    for n, image in enumerate(images):
        rows["image_detections"].append(
            {**key, "detection_id": image["id"], "ordinal": n, "box": BOX, "score": 1.0, "probability": 1.0,
             "source": "bitmap", "image_type": image["image_type"], "type_score": 1.0,
              "modality": None, "modality_score": 0.0, "type_reason": "",
             "marked": False, "mark_score": 0.0}
        )  # fmt: skip
    decided = {"purpose": "full", "decided": ["panels"], "annotator": None, "at": None}
    row = {
        **key, "ordinal": ordinal, "members": [{"ordinal": member, "box": BOX} for member in panel.members], "box": BOX,
        "content_box": BOX, "score": 1.0, "identifier": "a", "subcaption": "Four words are here", "segments": [[0, 4]],
        "caption_confidence": 1.0, "method": "identifier", "assembly": AUTOMATIC, "confidence": 0.99, "runner_up": None,
        "runner_up_confidence": 0.0, "evidence": [], "reason": "", "printed_identifiers": [], "images": images,
        "unassigned_images": [], "made_of_image": not panel.members, "wanted": made.wanted,
        "annotations": [decided] if made.annotated else [], "panel_id": f"p_{key['article_id']}_"
        f"{key['image_cluster_id']}_{ordinal}", "width": 30, "height": 20, "sha256": "0", "picture_bytes": 1,
        "perceptual_hash": "", **panel.facts,
    }  # fmt: skip
    rows["reviewed_panels"].append(row)
    if not (made.wanted and panel.cut):
        return
    rows["panels"].append(row)
    record = record_of(Panel, row)
    enters = left_out_reason(record, entry) is None if panel.row is None else panel.row
    if enters:
        credit = record_of(ArticleCredit, article)
        rows["dataset_rows"].append(
            dataset_row(record, record_of(PanelPicture, row), record_of(Figure, figure), credit)
        )
