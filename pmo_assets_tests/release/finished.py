"""Finished batches with pictures, small enough to be read, and the release made of them as the assets make it.

Every text of every row holds `SECRET`, so that a test can look for it; every picture is that of its own key.
"""

from __future__ import annotations

import hashlib
import io
import pickle
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from pmo_assets.pictures import compact_bytes, pixels_digest, png_bytes
from pmo_assets.pipeline.articles.relevance import load_specialty
from pmo_assets.pipeline.dataset.splits import SplitOptions
from pmo_assets.pipeline.figures.perceptual_hash import perceptual_hash
from pmo_assets.records.panels import AUTOMATIC
from pmo_assets.records.stores import Picture
from pmo_assets.release.keys import RELEASE_KEY
from pmo_assets.release.making import Origin, Release, make_release
from pmo_assets.release.masking import PeopleMasking
from pmo_assets.release.panel_duplicates import PanelGroups, find_panel_duplicates
from pmo_assets.release.selection import Selection, select_articles
from pmo_assets.release.statistics.counting import ReleaseStatistics, release_statistics
from pmo_assets.release.writing import ReleaseOptions
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.parquet import parquet_bytes
from pmo_assets.storage.pixels import ParquetPixels
from pmo_assets.storage.tables import Tables
from pmo_assets.tables.quality import Annotations
from pmo_assets.tables.release import joined_columns
from pmo_assets.tables.schemas import checked, empty_table, schema_of
from pmo_assets_tests.release.batches import ENTRY
from pmo_assets_tests.release.context_columns import context_columns, region_phrase
from pmo_assets_tests.release.instruction_rows import batch_rows

LOCAL: Final = 10**12
"""Numbers from here on are no PMC numbers."""

SECRET: Final = "Nobody may pass on this sentence"
PANEL_SIDES: Final = (40, 32)
"""Width and height of a panel's picture."""
FIGURE_SIDES: Final = (64, 48)
STEPS: Final = ("panel_detections", "image_detections", "reviewed_panels", "panels")
"""Tables of the steps before the dataset's rows, besides figures."""
CONTEXT: Final = (
    "panel_mentions", "panel_summaries", "panel_entities", "panel_modality", "marks", "region_phrases", "regions",
    "cues", "cue_scores", "instructions", "verdicts",
)  # fmt: skip


def pixels_of(key: str, sides: tuple[int, int] = PANEL_SIDES) -> NDArray[np.uint8]:
    """Return the picture of a key, (height, width, 3): coarse blocks, no two keys' look the same."""
    width, height = sides
    drawn = np.random.default_rng(list(hashlib.sha256(key.encode()).digest()))
    blocks = drawn.integers(0, 256, (height // 4, width // 4, 3), dtype=np.uint8)
    return np.ascontiguousarray(blocks.repeat(4, axis=0).repeat(4, axis=1))


def caption_of(number: int, figure: str) -> str:
    return f"{SECRET} in the caption of {number} {figure}."


def deed_of(code: str | None) -> str | None:
    """Return the address of a licence's deed, as the tests' articles state it."""
    return f"https://deeds.example/{code}".replace(" ", "-") if code else None


def dataset_row(
    number: int,
    code: str | None = "CC BY",
    panel: int = 0,
    *,
    figure: str = "f1",
    ordinal: int = 0,
    looks: str | None = None,
    **changes: Any,
) -> dict[str, Any]:
    """Return the row of a panel.

    Args:
        number: of its article.
        code: of its licence.
        panel: position in its figure.
        figure: its figure.
        ordinal: of the figure in the article.
        looks: key of its picture; its own if not given.
        changes: columns that differ.
    """
    panel_id = f"p_{number}_{figure}_{panel}"
    pixels = pixels_of(looks or panel_id)
    return {
        "panel_id": panel_id,
        "article_id": number,
        "image_cluster_id": figure,
        "figure_ordinal": ordinal,
        "panel_ordinal": panel,
        "figure_label": f"Figure {ordinal + 1}",
        "panel_name": "abcdefghijkl"[panel],
        "subcaption_text": f"{SECRET} in subcaption {panel_id}.",
        "subcaption_segments": [[0, 9], [12, 15 + panel]],
        "in_text_mention": [f"{SECRET} in a paragraph.", f"{SECRET} in another one of {figure}."],
        "is_multi_page_figure": False,
        "figure_page_boxes": [{"page": ordinal, "bbox": [10.0, 20.5, 110.0, 70.125]}],
        "panel_box": [0.0, 0.1, 0.5, 0.123456],
        "content_box": [0.0, 0.0, 0.5 + panel / 100, 1.0],
        "panel_score": 0.9512,
        "picture_width": PANEL_SIDES[0],
        "picture_height": PANEL_SIDES[1],
        "picture_sha256": pixels_digest(pixels),
        "perceptual_hash": perceptual_hash(pixels).hex(),
        "images": [
            {"id": "image-0", "box": [0.0, 0.0, 0.25, 1.0], "score": 0.9, "image_type": "OCT", "type_score": 0.8,
             "modality": "OCT", "modality_score": 0.75,
             "marked": True, "mark_score": 0.7, "is_gt": False},
            {"id": "image-1", "box": [0.25, 0.0, 0.5, 1.0], "score": 0.5, "image_type": None, "type_score": 0.0,
             "modality": None, "modality_score": 0.0,
             "marked": None, "mark_score": 0.0, "is_gt": True},
        ],
        "identifiers": [
            {"id": "identifier-0", "box": [0.0, 0.0, 0.1, 0.1], "score": 0.875, "text": None, "is_gt": False}
        ],
        **dict.fromkeys(("contains_cfp", "contains_retinal", "contains_other"), False),
        **dict.fromkeys(("contains_oct", "contains_marked"), True),
        "assembly": AUTOMATIC,
        "assembly_method": "identifier",
        "assembly_confidence": 0.9725,
        "caption_confidence": 0.99,
        "annotations": [{"purpose": "resolve", "decided": ["subcaptions"], "at": "2024-01-02T03:04:05Z"}],
        "license": code,
        "license_url": deed_of(code),
        "rights_statement": None,
        "commercial_use": code in ("CC0", "CC BY", "CC BY-SA", "CC BY-ND"),
        "attribution": f"'Title {number}', Ada Author. J. 2024",
        "title": f"Title {number}",
        "authors": ["Ada Author", "Bo Writer"],
        "journal": f"Journal {number % 3}",
        "year": 2020 + number % 5,
        "doi": f"10.1000/{number}",
        "article_url": f"https://doi.org/10.1000/{number}",
        "article_version": 1,
        **changes,
    }  # fmt: skip


def _figure_row(number: int, cluster: str, ordinal: int) -> dict[str, Any]:
    return {
        "article_id": number, "image_cluster_id": cluster, "pdf_figure_id": f"p{ordinal}-{cluster}",
        "ordinal": ordinal, "label": f"Figure {ordinal + 1}", "caption": caption_of(number, cluster), "matched": True,
        "match_criteria": 4, "confidence": 0.9, "is_multi_page": False,
        "locations": [{"page": ordinal, "bbox": [10.0, 20.5, 110.0, 70.125]}],
        "caption_locations": [{"page": ordinal, "bbox": [10.0, 80.0, 110.0, 90.0]}], "mentions": [],
        "page_sizes": [{"page": ordinal, "width": 595.0, "height": 842.5}],
        "width": FIGURE_SIDES[0], "height": FIGURE_SIDES[1], "dpi": 300.0, "bitmaps": [], "texts": [], "shapes": [],
    }  # fmt: skip


def _way_of(row: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of the steps before that a dataset row comes of."""
    key = {"article_id": row["article_id"], "image_cluster_id": row["image_cluster_id"]}
    place = row["panel_ordinal"]
    found = {**key, "ordinal": place, "box": row["panel_box"], "score": row["panel_score"], "probability": 0.9}
    images = [{**image, "id": f"{image['id']}-{place}"} for image in row["images"]]
    panel = {
        **key, "ordinal": place, "members": [{"ordinal": place, "box": row["panel_box"]}], "box": row["panel_box"],
        "content_box": row["content_box"], "score": row["panel_score"], "identifier": row["panel_name"],
        "subcaption": row["subcaption_text"], "segments": row["subcaption_segments"],
        "caption_confidence": row["caption_confidence"], "method": row["assembly_method"], "assembly": row["assembly"],
        "confidence": row["assembly_confidence"], "runner_up": None, "runner_up_confidence": 0.0, "evidence": [],
        "reason": "", "printed_identifiers": row["identifiers"], "images": images, "unassigned_images": [],
        "made_of_image": False, "wanted": True, "annotations": [], "panel_id": row["panel_id"],
        "width": row["picture_width"], "height": row["picture_height"], "sha256": row["picture_sha256"],
        "perceptual_hash": row["perceptual_hash"],
    }  # fmt: skip
    return {
        "panel_detections": [
            {**found, "detection_id": f"panel-{place}", "kind": "panel", "source": "gutter", "text": None,
             "text_score": 0.0}
        ],
        "image_detections": [
            {**key, "detection_id": image["id"], "ordinal": 2 * place + number, "box": image["box"],
             "score": image["score"], "probability": 0.9, "source": "bitmap", "image_type": image["image_type"],
             "type_score": image["type_score"], "modality": image["modality"],
             "modality_score": image["modality_score"], "type_reason": "", "marked": image["marked"],
             "mark_score": image["mark_score"]}
            for number, image in enumerate(images)
        ],
        "reviewed_panels": [panel],
        "panels": [panel],
    }  # fmt: skip


def released_context(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the group `context` says of a panel, as a release has it; by its dataset row."""
    return context_columns(row["panel_name"], secret=f"{SECRET} of {row['panel_id']}. ")


def _context_rows(row: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of the group `context` for a dataset row."""
    key = {
        "article_id": row["article_id"], "image_cluster_id": row["image_cluster_id"], "ordinal": row["panel_ordinal"],
    }  # fmt: skip
    said = released_context(row)
    (mention,) = said["mentions"]
    beside: dict[str, dict[str, Any]] = {
        "panel_summaries": {"model": None, "prompt_version": None, "refused": None},
        "panel_modality": {
            "probability": 0.9, "pixel_modality": "OCT", "pixel_probability": 0.8, "word_modality": None,
            "word_probability": None, "agrees": None,
        },
        "regions": {"model": None, "prompt_version": None, "refused": None},
    }  # fmt: skip
    found = {
        table: [{**key, "panel_id": row["panel_id"], **{name: said[name] for name in names}, **beside.get(table, {})}]
        for table, names in joined_columns("panels").items()
    }
    told = {"sentence" if name == "text" else name: mention[name] for name in mention}
    named = {**key, "panel_id": row["panel_id"], "phrases": [region_phrase(row["subcaption_text"])]}
    asked = batch_rows({**key, "panel_id": row["panel_id"]}, f"{SECRET} ")
    return {"panel_mentions": [{**key, **told}], "region_phrases": [named], **found, **asked}


def panel_picture(key: str, pixels: NDArray[np.uint8]) -> Picture:
    return Picture(key, pixels.shape[1], pixels.shape[0], png_bytes(pixels), compact_bytes(pixels))


def figure_picture(key: str, pixels: NDArray[np.uint8]) -> Picture:
    return Picture(key, pixels.shape[1], pixels.shape[0], png_bytes(pixels))


def finish(
    tables: Tables, batch: str, packages: Mapping[int, Mapping[str, Any]], panels: int = 1, *, facts_only: bool = False
) -> None:
    """Write a batch as the assets leave it.

    Args:
        tables: where.
        batch: its key.
        packages: by article number, what differs from a plain one with a DOI of its own: columns of its package and
            article, "code" (licence), "rows" (panels of each figure), "figures" (ordinal by image_cluster_id), "looks"
            (whose pictures its panels show), "row" (columns of its dataset rows).
        panels: of each figure, where "rows" is not given.
        facts_only: without pictures and the steps in between: what choosing the articles reads, no more.
    """
    known: list[dict[str, Any]] = []
    articles: list[dict[str, Any]] = []
    figures: list[dict[str, Any]] = []
    rows: list[dict[str, Any]] = []
    for number, facts in packages.items():
        given = {
            "name": f"n{number}",
            "version": 1,
            "doi": f"10.1000/{number}",
            "code": "CC BY",
            "rows": panels,
            "figures": {"f1": 0},
            **facts,
        }
        shared = {
            "article_id": number,
            "name": given["name"],
            "version": given["version"],
            "license_code": given["code"],
            "is_retracted": given.get("is_retracted", False),
            "is_manuscript": given.get("is_manuscript", False),
            "pdf": f"objects/aa/{given.get('pdf', number)}.pdf",
            "xml": given.get("xml", f"objects/bb/{number}.xml"),
        }
        known.append({**shared, "figure_files": [], "doi": None, "license_unknown": False})
        articles.append(
            {
                **shared,
                "package": given["name"],
                "doi": given["doi"],
                "pmcid": given.get("pmcid"),
                "pmid": f"3{number}",
                "authors": given.get("authors", ["Ada Author", "Bo Writer"]),
                "citation": f"J. 2024; {number % 100}: 1",
                "mesh_terms": ["Retina"],
                "keywords": ["optic disc", f"{number}"],
                "title": given.get("title"),
                "stated_by": [
                    {"fact": fact, "source": given.get(f"{fact}_source", "XML")}
                    for fact in ("title", "doi")
                    if given.get(fact)
                ],
                "xml_figures": [],
                "paragraphs": [],
                "pdf_identity": "verified",
                "identity_evidence": ["text"],
                "license_url": deed_of(given["code"]),
                "has_xml": given.get("has_xml", False),
                "has_pdf": True,
                "relevant": True,
                "criteria": [],
                "relevance_reason": "",
                "selected": not shared["is_retracted"],
            }
        )
        count = 0 if shared["is_retracted"] else given["rows"]
        shown, drawn = [], []
        for cluster, ordinal in given["figures"].items():
            figures.append(_figure_row(number, cluster, ordinal))
            drawn.append(figure_picture(figures[-1]["pdf_figure_id"], pixels_of(f"{number} {cluster}", FIGURE_SIDES)))
            for panel in range(count):
                looks = f"{given['looks']} {cluster} {panel}" if "looks" in given else None
                row = dataset_row(
                    number, given["code"], panel, figure=cluster, ordinal=ordinal, looks=looks,
                    **{"article_version": given["version"], **given.get("row", {})},
                )  # fmt: skip
                rows.append(row)
                shown.append(panel_picture(row["panel_id"], pixels_of(looks or row["panel_id"])))
        if not facts_only:
            ParquetPixels(tables.data_root, "panels", batch).write(number, shown)
            ParquetPixels(tables.data_root, "figures", batch).write(number, drawn)
    made: dict[str, list[dict[str, Any]]] = {"article_packages": known, "articles": articles, "dataset_rows": rows}
    if not facts_only:
        made |= {"figures": figures, "package_figures": [], "subcaptions": [], **{name: [] for name in STEPS}}
        made |= {name: [] for name in CONTEXT}
        for row in rows:
            for name, before in (_way_of(row) | _context_rows(row)).items():
                made[name] += before
    for name, found in made.items():
        tables.data_root.write(tables.key(name, batch), _checked_file(name, pickle.dumps(found)))


@cache
def _checked_file(asset: str, pickled: bytes) -> bytes:
    """Return the file that `Tables.write` makes of rows: most tests write the same, and checking takes longest."""
    return parquet_bytes(checked(schema_of(asset), pickle.loads(pickled)))


def published(tables: Tables) -> list[int]:
    """Return the numbers of the articles that a release would take."""
    return sorted(number for numbers in select_articles(tables).current.values() for number in numbers)


def groups_of(
    tables: Tables,
    selection: Selection | None = None,
    options: ReleaseOptions | None = None,
    splits: SplitOptions | None = None,
) -> PanelGroups:
    selection = selection or select_articles(tables)
    return find_panel_duplicates(tables, selection, options or ReleaseOptions(), splits or SplitOptions())


def statistics_of(
    tables: Tables, selection: Selection | None = None, options: ReleaseOptions | None = None
) -> ReleaseStatistics:
    """Count a release as the asset does."""
    noncommercial = (options or ReleaseOptions()).noncommercial
    return release_statistics(tables, selection or select_articles(tables), ENTRY, noncommercial=noncommercial)


def make(
    tables: Tables,
    selection: Selection | None = None,
    *,
    options: ReleaseOptions | None = None,
    splits: SplitOptions | None = None,
    origin: Origin | None = None,
    annotations: pl.DataFrame | None = None,
    masking: PeopleMasking | None = None,
) -> Release:
    """Make a release as the asset does."""
    selection = selection or select_articles(tables)
    options = options or ReleaseOptions()
    return make_release(
        tables.data_root,
        tables,
        selection,
        groups=groups_of(tables, selection, options, splits),
        specialty=load_specialty("everything"),
        options=options,
        origin=origin or Origin(),
        statistics=statistics_of(tables, selection, options),
        annotations=empty_table(Annotations) if annotations is None else annotations,
        say=lambda _: None,
        gallery=lambda folder, version: tables.data_root.write(f"{folder}/index.html", version.encode()),
        masking=masking,
    )


def read_table(root: DataRoot, key: str) -> pl.DataFrame:
    return pl.read_parquet(io.BytesIO(root.read(key)))


def release_of(tables: Tables, selection: Selection | None = None) -> pl.DataFrame:
    """Make a release and return its published form."""
    make(tables, selection)
    return read_table(tables.data_root, RELEASE_KEY)


def files_below(root: DataRoot, prefix: str = "release") -> dict[str, bytes]:
    """Return the content of every file below a prefix."""
    return {name: root.read(f"{prefix}/{name}") for name in root.tree(prefix)}
