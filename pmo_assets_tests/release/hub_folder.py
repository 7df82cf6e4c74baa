"""A small folder as it goes to the hub: the configs in real shards with real pictures, and the files beside them.

Made without the release's own writer, from the schemas alone: who reads the folder reads what the schemas promise.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from pmo_assets.pipeline.articles.relevance import load_specialty
from pmo_assets.release.facts import ConfigFacts, LicenceCount, ReleaseFacts, ReleaseFile, SplitFacts
from pmo_assets.release.hub.card import CARD_FILE, dataset_card
from pmo_assets.release.hub.citation import CITATION_FILE, citation_file
from pmo_assets.release.hub.croissant import CROISSANT_FILE, croissant_file
from pmo_assets.release.hub.features import feature_metadata
from pmo_assets.release.hub.licence_list import LICENSE_FILE, license_file
from pmo_assets.release.hub.sums import SUMS_FILE, file_digest, files_of, sums_text
from pmo_assets.tables.release import (
    CONFIGS,
    ArticleSplits,
    PanelDuplicates,
    WithheldPanels,
    arrow_schema,
    release_tables,
)
from pmo_assets_tests.release.context_columns import TEXTS, context_columns
from pmo_assets_tests.release.instruction_rows import hub_rows

SPLITS = {101: "train", 102: "train", 103: "validation", 104: "test"}
"""Split of each article."""

FIGURES_EACH, PANELS_EACH = 1, 2
"""Figures of an article, panels of a figure."""

WITHHELD_ARTICLE = 102
"""Its licence forbids redistribution."""

AUTHORS = ["Ünal A", "O'Neil B"]


def hub_schema(config: str) -> pa.Schema:
    """Return the Arrow schema with which a config's shards are written: with the features in its metadata.

    Args:
        config: "panels", "figures" or "articles".
    """
    schema = arrow_schema(release_tables()[config])
    return schema.with_metadata(feature_metadata(schema))


def picture(seed: int, width: int = 24, height: int = 16, form: str = "PNG") -> bytes:
    """Return a picture that differs from those of other seeds."""
    buffer = io.BytesIO()
    Image.new("RGB", (width, height), (seed * 37 % 256, seed * 91 % 256, 128)).save(buffer, form, lossless=True)
    return buffer.getvalue()


def _credit(article: int) -> dict[str, Any]:
    withheld = article == WITHHELD_ARTICLE
    return {
        "article_id": article,
        "license": "CC BY-ND" if withheld else "CC BY",
        "license_url": f"https://creativecommons.org/licenses/{'by-nd' if withheld else 'by'}/4.0/",
        "commercial_use": True,
        "attribution": f"'Eyes {article}', Ünal A, O'Neil B. J Eye 2024.",
        "title": f"Eyes {article}",
        "authors": AUTHORS,
        "journal": "J Eye",
        "year": 2024 if article % 2 else None,
        "doi": None,
        "article_url": f"https://pmc.ncbi.nlm.nih.gov/articles/PMC{article}/",
        "article_version": 1,
        "split": SPLITS[article],
    }


def _contains() -> dict[str, bool]:
    return {f"contains_{name}": name in ("oct", "marked") for name in ("cfp", "oct", "retinal", "other", "marked")}


def _panel(article: int, ordinal: int, form: str) -> dict[str, Any]:
    name = "AB"[ordinal]
    content = picture(article * 10 + ordinal, form=form)
    withheld = article == WITHHELD_ARTICLE
    return {
        **_credit(article),
        **_contains(),
        **context_columns(name, withheld=withheld),
        "panel_id": f"PMC{article}_F1.x_{name}",  # a dot, as figures' names in packages have
        "panel_image": None if withheld else {"bytes": content, "path": None},
        "panel_name": name if article != 104 else None,
        "subcaption_text": None if withheld else f"OCT of the left eye, panel {name}: 95 % ≥ 3 µm | «mm».",
        "images": [
            {
                "id": f"i{ordinal}", "box": [0.0, 0.0, 0.5, 1.0], "score": 0.9, "image_type": "OCT", "type_score": 0.8,
                 "modality": None, "modality_score": 0.0,
                "marked": None, "mark_score": None, "is_gt": False,
            }
        ],
        "identifiers": [] if ordinal else [
            {"id": "p0", "box": [0.0, 0.0, 0.1, 0.1], "score": 0.7, "text": None, "is_gt": False}
        ],
        "in_text_mention": None if withheld else ["Figure 1 shows it."],
        "image_cluster_id": "F1.x",
        "figure_label": "Figure 1",
        "figure_ordinal": 0,
        "panel_ordinal": ordinal,
        "panel_box": [0.5 * ordinal, 0.0, 0.5 * ordinal + 0.5, 1.0],
        "content_box": [0.5 * ordinal, 0.0, 0.5 * ordinal + 0.5, 1.0],
        "panel_score": 0.95,
        "figure_page_boxes": [{"page": 2, "bbox": [10.0, 20.0, 110.5, 220.0]}],
        "is_multi_page_figure": False,
        "subcaption_segments": [[0, 10], [20, 31]],
        "assembly": "Automatic Caption Assignment (identifier)",
        "assembly_method": "identifier",
        "assembly_confidence": 0.9,
        "caption_confidence": 1.0,
        "annotations": [{"purpose": "audit", "decided": ["subcaption"], "at": None}] if article == 103 else [],
        "picture_width": 24,
        "picture_height": 16,
        "picture_sha256": hashlib.sha256(content).hexdigest(),
        "perceptual_hash": f"{article * 10 + ordinal:064x}",
        "duplicate_group": None,
        "rights_statement": None,
    }  # fmt: skip


def _figure(article: int, form: str) -> dict[str, Any]:
    content = picture(article, 48, 16, form=form)
    withheld = article == WITHHELD_ARTICLE
    return {
        **_credit(article),
        **_contains(),
        "image_cluster_id": "F1.x",
        "figure_ordinal": 0,
        "figure_label": "Figure 1",
        "figure_image": None if withheld else {"bytes": content, "path": None},
        "picture_width": 48,
        "picture_height": 16,
        "dpi": 300.0,
        "caption": None if withheld else "A) OCT. B) Fundus.",
        "in_text_mention": None if withheld else ["Figure 1 shows it."],
        "is_multi_page_figure": False,
        "figure_page_boxes": [{"page": 2, "bbox": [10.0, 20.0, 110.5, 220.0]}],
        "caption_page_boxes": [{"page": 2, "bbox": [10.0, 230.0, 110.5, 250.0]}],
        "page_sizes": [{"page": 2, "width": 595.0, "height": 842.0}],
        "matched": True,
        "panel_ids": [f"PMC{article}_F1.x_{name}" for name in "AB"],
        "rights_statement": None,
    }


def _article(article: int) -> dict[str, Any]:
    return {
        **_credit(article),
        "package": f"PMC{article}.1",
        "pmcid": article,
        "pmid": None,
        "citation": "Ünal A, O'Neil B. J Eye 2024.",
        "is_manuscript": False,
        "mesh_terms": ["Retina"],
        "keywords": [],
        "figures": FIGURES_EACH,
        "panels": PANELS_EACH,
    }


def _pairs(article: int) -> list[dict[str, Any]]:
    """Return the pairs of an article: its caption, each panel's subcaption, and a region of panel A."""
    if article == WITHHELD_ARTICLE:
        return []
    (figure,) = [row for row in rows_of("figures", SPLITS[article]) if row["article_id"] == article]
    place = [row["article_id"] for row in rows_of("figures", SPLITS[article])].index(article)
    credit = ("article_id", "license", "license_url", "commercial_use", "attribution", "split")
    shared = {
        **{name: figure[name] for name in credit},
        "image_cluster_id": "F1.x", "figure_id": f"{article}_F1.x", "figure_panels": PANELS_EACH, "generated": False,
        "panel_id": None, "region_id": None, "panel_name": None, "video_id": None,
    }  # fmt: skip
    whole = [0.0, 0.0, 1.0, 1.0]
    of_figure = {
        **shared, "pair_id": f"{article:032x}", "level": "figure", "text_kind": "caption", "text": figure["caption"],
        "confidence": None, "picture_config": "figures", "picture_row": place, "box": whole, "figure_box": whole,
    }  # fmt: skip
    found = [of_figure]
    for ordinal in range(PANELS_EACH):
        panel = _panel(article, ordinal, "PNG")
        of_panel = {
            **shared, "pair_id": f"{article:030x}{ordinal + 1:02x}", "level": "panel", "text_kind": "subcaption",
            "text": panel["subcaption_text"], "confidence": panel["assembly_confidence"], "picture_config": "panels",
            "picture_row": PANELS_EACH * place + ordinal, "box": whole, "figure_box": panel["content_box"],
            "panel_id": panel["panel_id"], "panel_name": panel["panel_name"],
        }  # fmt: skip
        found.append(of_panel)
        if ordinal == 0:
            (region,) = panel["regions"]
            of_region = {
                "pair_id": f"{article:030x}ff", "level": "region", "text_kind": "fragment", "text": region["text"],
                "confidence": region["confidence"], "box": [0.4, 0.2, 0.6, 0.3], "figure_box": region["box"],
                "region_id": f"{panel['panel_id']}_r0",
            }  # fmt: skip
            found.append(of_panel | of_region)
    return found


def _lecture(article: int, form: str) -> dict[str, Any]:
    """Return a pair of a lecture video in the split of an article, of whose licence its own is."""
    names = ("license", "license_url", "commercial_use", "attribution", "split")
    return {
        **{name: value for name, value in _credit(article).items() if name in names},
        "pair_id": f"{article:031x}v", "level": "video", "text": "Here you see drusen.", "words_from": "a.en.vtt",
        "picture": {"bytes": picture(article, form=form), "path": None}, "corrected_words": 0, "slide_text": ["AMD"],
        "boxes": [[0.0, 0.0, 1.0, 1.0]], "image_types": ["CFP"], "modalities": [None], "video_id": article,
        "video": f"{article}.mp4", "start": 3.0, "end": 9.5, "keyframe": 8.0, "picture_width": 24, "picture_height": 16,
        "perceptual_hash": f"{article:064x}", "picture_group": None,
    }  # fmt: skip


def rows_of(config: str, split: str, form: str = "PNG") -> list[dict[str, Any]]:
    """Return the rows of a config's split."""
    articles = [article for article, of in SPLITS.items() if of == split]
    if config == "panels":
        return [_panel(article, ordinal, form) for article in articles for ordinal in range(PANELS_EACH)]
    if config == "pairs":
        return [pair for article in articles for pair in _pairs(article)]
    if config == "instructions":
        panels = enumerate(rows_of("panels", split, form))
        return [
            row for place, panel in panels if panel["panel_image"] is not None for row in hub_rows(panel, place, place)
        ]
    if config == "videos":
        return [_lecture(article, form) for article in articles if article != WITHHELD_ARTICLE]
    return [_figure(article, form) if config == "figures" else _article(article) for article in articles]


def write_table(folder: Path, path: str, rows: Sequence[Mapping[str, Any]], schema: pa.Schema) -> ReleaseFile:
    """Write rows as a Parquet file of the folder."""
    target = folder / path
    target.parent.mkdir(parents=True, exist_ok=True)
    names = set(schema.names)
    assert all(set(row) == names for row in rows), "rows have exactly the schema's columns"
    table = pa.Table.from_pylist(list(rows), schema=schema)
    pq.write_table(table, target, row_group_size=2)
    content = target.read_bytes()
    return ReleaseFile(path, hashlib.sha256(content).hexdigest(), len(content), table.num_rows, table.nbytes)


def _shards(folder: Path, config: str, form: str) -> ConfigFacts:
    """Write a config; of the panels of train there are two shards."""
    files: dict[str, list[ReleaseFile]] = {}
    for split in dict.fromkeys(SPLITS.values()):
        rows = rows_of(config, split, form)
        cut = 2 if (config, split) == ("panels", "train") else len(rows)
        parts = [rows[start : start + cut] for start in range(0, len(rows), cut)]
        files[split] = [
            write_table(folder, f"data/{config}/{split}-{number:05}.parquet", part, hub_schema(config))
            for number, part in enumerate(parts)
        ]
    return ConfigFacts(config, files)


def _side_tables(folder: Path) -> list[ReleaseFile]:
    splits = [{"article_id": article, "split": split, "own_split": split} for article, split in SPLITS.items()]
    withheld = [
        {
            "panel_id": row["panel_id"], "article_id": WITHHELD_ARTICLE, "name": f"PMC{WITHHELD_ARTICLE}.1",
            "image_cluster_id": "F1.x", "pdf_sha256": "0" * 64, "xml_sha256": None,
            "panel_image_sha256": row["picture_sha256"], "subcaption_text_sha256": "0" * 64,
            "in_text_mention_sha256": "0" * 64, "caption_sha256": "0" * 64, "figure_image_sha256": "0" * 64,
            "other_texts": [{"column": name, "sha256": "0" * 64} for name in TEXTS],
        }
        for row in rows_of("panels", "train")
        if row["article_id"] == WITHHELD_ARTICLE
    ]  # fmt: skip
    return [
        write_table(folder, "duplicates.parquet", [], arrow_schema(PanelDuplicates)),
        write_table(folder, "splits.parquet", splits, arrow_schema(ArticleSplits)),
        write_table(folder, "withheld.parquet", withheld, arrow_schema(WithheldPanels)),
    ]


def release_facts(configs: Sequence[ConfigFacts], side_tables: Sequence[ReleaseFile] = ()) -> ReleaseFacts:
    """Return what a release with these configs says of itself."""
    panels = {split: sum(of == split for of in SPLITS.values()) * PANELS_EACH for split in SPLITS.values()}
    return ReleaseFacts(
        version="1.2.0",
        previous="1.1.0",
        specialty=load_specialty("ophthalmology"),
        software="0.9.1",
        configs=configs,
        panels=8,
        figures=4,
        articles=4,
        withheld=2,
        noncommercial_left_out=None,
        licences=[
            LicenceCount("CC BY", "https://creativecommons.org/licenses/by/4.0/", 6),
            LicenceCount("CC BY-ND", "https://creativecommons.org/licenses/by-nd/4.0/", 2),
        ],
        contains={"cfp": 0, "oct": 8, "retinal": 0, "other": 0, "marked": 8},
        assembly={"Automatic Caption Assignment (identifier)": 8},
        splits=SplitFacts(
            shares={"train": 0.8, "validation": 0.1, "test": 0.1},
            test_from_year=None,
            articles={"train": 2, "validation": 1, "test": 1},
            panels=panels,
            groups=0,
            grouped_panels=0,
            groups_across_articles=0,
            moved=0,
            groups_across_splits=0,
        ),
        duplicate_articles=5,
        searched_on=None,
        statistics="### Losses\n\n| stage | lost |\n| --- | --- |\n| figures | 3 |\n",
        journals=1,
        years=(2024, 2024),
        side_tables=side_tables,
    )


def write_hub_folder(folder: Path, form: str = "PNG") -> ReleaseFacts:
    """Write a folder as it goes to the hub, and return what it says of itself.

    Args:
        folder: where; it is made.
        form: of the pictures, "PNG" or "WebP".
    """
    folder.mkdir(parents=True, exist_ok=True)
    configs = [_shards(folder, config, form) for config in CONFIGS]
    facts = release_facts(configs, _side_tables(folder))
    texts = {
        CARD_FILE: dataset_card(facts),
        LICENSE_FILE: license_file(facts),
        CITATION_FILE: citation_file(facts),
        CROISSANT_FILE: croissant_file(facts),
        "CHANGES.md": "# 1.2.0\n",
        "manifest.json": '{"version": "1.2.0"}\n',
    }
    for name, text in texts.items():
        (folder / name).write_bytes(text.encode())
    write_sums(folder)
    return facts


def write_sums(folder: Path) -> None:
    """Write the folder's `SHA256SUMS`."""
    digests = {path: file_digest(file) for path, file in files_of(folder).items() if path != SUMS_FILE}
    (folder / SUMS_FILE).write_text(sums_text(digests), encoding="utf-8")
