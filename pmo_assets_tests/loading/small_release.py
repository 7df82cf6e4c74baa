"""A small release with known content: figures of drawn pictures, panels cut out of them as the pipeline cuts."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from pmo_assets.pictures import pixels_digest
from pmo_assets.records.geometry import crop_box
from pmo_assets.samples.pictures import drawn_picture
from pmo_assets.tables.release import PanelDuplicates, arrow_schema, release_tables
from pmo_assets_tests.release.context_columns import context_columns
from pmo_assets_tests.release.instruction_rows import hub_rows, lecture_rows

SPLITS = ("train", "train", "train", "validation", "test")
"""Of articles, one after the other."""

LICENCES = ("CC BY", "CC BY-NC", "CC BY-ND", "CC0")

WITHHELD = frozenset({"CC BY-ND"})


DISEASES = (
    ("neovascular age-related macular degeneration", "age-related macular degeneration"),
    ("diabetic macular edema", "diabetic retinopathy", "macular edema"),
    (),
)
"""Diseases of panels by turns, each with wider ones."""

MODALITIES = {"OCT": "OCT", "CFP": "fundus photograph", "Retinal Imaging": "fluorescein angiography"}
"""Modality of panels with images of a type."""


def png(pixels: NDArray[np.uint8]) -> bytes:
    stream = io.BytesIO()
    PIL.Image.fromarray(pixels).save(stream, "PNG")
    return stream.getvalue()


def _article_facts(number: int) -> dict[str, Any]:
    licence = LICENCES[number % len(LICENCES)]
    return {
        "article_id": 9_000_000_001 + number,
        "split": SPLITS[number % len(SPLITS)],
        "license": licence,
        "license_url": None,
        "commercial_use": licence != "CC BY-NC",
        "attribution": f"'Article <{number}>', Someone et al. {2020 + number % 5}",
        "title": f"Article <{number}>",
        "authors": ["A. One", "B. Two"],
        "journal": "Journal",
        "year": 2020 + number % 5,
        "doi": f"10.1000/{number}",
        "article_url": f"https://example.org/{number}",
        "article_version": 1,
    }


def _contains(images: Iterable[dict[str, Any]]) -> dict[str, bool]:
    images = list(images)
    names = {"cfp": "CFP", "oct": "OCT", "retinal": "Retinal Imaging", "other": "Other"}
    kinds = {f"contains_{name}": any(i["image_type"] == kind for i in images) for name, kind in names.items()}
    return {**kinds, "contains_marked": any(bool(image["marked"]) for image in images)}


def _context(name: str, turn: int, kind: str | None, withheld: bool) -> dict[str, Any]:
    """Return what the running text says of a panel: eyes and diseases by turns."""
    return context_columns(
        name,
        eye=("OD", "OS", None)[turn % 3],
        disease=DISEASES[turn % len(DISEASES)],
        findings=(("drusen",), ())[turn % 2],
        modality=MODALITIES.get(kind or ""),
        modality_class="V" if kind else "M",
        withheld=withheld,
    )


def _figure(rng: np.random.Generator, number: int, ordinal: int, panels: int) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of one figure: its panels lie side by side, and overlap a little in what they show."""
    article = _article_facts(number)
    withheld = article["license"] in WITHHELD
    width, height = int(rng.integers(150, 260)), int(rng.integers(90, 160))
    pixels = rng.integers(0, 255, (height, width, 3), dtype=np.uint8)
    cluster = f"fig{ordinal + 1}"
    shared = {
        **article,
        "image_cluster_id": cluster,
        "figure_ordinal": ordinal,
        "figure_label": f"Figure {ordinal + 1}",
        "rights_statement": None,
        "in_text_mention": None if withheld else [f"See Figure {ordinal + 1}."],
        "is_multi_page_figure": False,
        "figure_page_boxes": [{"page": 1, "bbox": [50.0, 60.0, 300.5, 200.0]}],
    }
    rows: list[dict[str, Any]] = []
    for place in range(panels):
        kind = ("OCT", "CFP", "Retinal Imaging", None)[(number + place) % 4]
        left, right = place / panels + rng.uniform(0, 0.05), (place + 1) / panels - rng.uniform(0, 0.05)
        top, bottom = rng.uniform(0, 0.1), rng.uniform(0.9, 1)
        box = [float(left), float(top), float(right), float(bottom)]
        content = [max(0.0, box[0] - 0.02), 0.0, min(1.0, box[2] + 0.02), 1.0]
        inner = [box[0] + 0.03, box[1] + 0.15, box[2] - 0.01, box[3]]
        x0, y0, x1, y1 = crop_box((inner[0], inner[1], inner[2], inner[3]), width, height)
        drawn = {"OCT": "oct", "CFP": "cfp", "Retinal Imaging": "angiography", None: "histology"}[kind]
        pixels[y0:y1, x0:x1] = drawn_picture(drawn, rng, max(x1 - x0, 8), max(y1 - y0, 8))[: y1 - y0, : x1 - x0]  # type: ignore[arg-type]
        image = {
            "id": f"i{place}", "box": inner, "score": 0.9, "image_type": kind, "type_score": 0.8,
            "modality": None, "modality_score": 0.0,
            "marked": bool(rng.integers(0, 2)), "mark_score": 0.7, "is_gt": False,
        }  # fmt: skip
        identifier = {
            "id": f"l{place}", "box": [box[0], box[1], box[0] + 0.03, box[1] + 0.1], "score": 0.95,
            "text": "ABCDEF"[place], "is_gt": False,
        }  # fmt: skip
        rows.append({"box": box, "content": content, "image": image, "identifier": identifier})
    panel_rows = []
    for place, parts in enumerate(rows):
        left, top, right, bottom = crop_box(parts["content"], width, height)
        picture = png(np.ascontiguousarray(pixels[top:bottom, left:right]))
        panel_rows.append(
            {
                **shared,
                **_contains([parts["image"]]),
                **_context("ABCDEF"[place], number + place, kind, withheld),
                "panel_id": f"p_{article['article_id']}_{cluster}_{place}",
                "panel_image": None if withheld else {"bytes": picture, "path": f"{cluster}_{place}.png"},
                "panel_name": None if panels == 1 else "ABCDEF"[place],
                "subcaption_text": None if withheld else f"Panel {place} <b>shows</b> {parts['image']['image_type']}.",
                "images": [parts["image"]],
                "identifiers": [parts["identifier"]],
                "panel_ordinal": place,
                "panel_box": parts["box"],
                "content_box": parts["content"],
                "panel_score": 0.9,
                "subcaption_segments": [[0, 10], [12, 20]],
                "assembly": "Automatic",
                "assembly_method": "identifier",
                "assembly_confidence": 0.95,
                "caption_confidence": 0.9,
                "annotations": [{"purpose": "audit", "decided": ["panels"], "at": None}],
                "picture_width": right - left,
                "picture_height": bottom - top,
                "picture_sha256": pixels_digest(np.ascontiguousarray(pixels[top:bottom, left:right])),
                "perceptual_hash": "0f" * 8,
                "duplicate_group": None,
            }
        )
    whole = png(pixels)
    figure_row = {
        **shared,
        **_contains(parts["image"] for parts in rows),
        "figure_image": None if withheld else {"bytes": whole, "path": f"{cluster}.png"},
        "picture_width": width,
        "picture_height": height,
        "dpi": 300.0,
        "caption": None if withheld else "Panels side by side.",
        "caption_page_boxes": [],
        "page_sizes": [{"page": 1, "width": 595.0, "height": 842.5}],
        "matched": True,
        "panel_ids": [row["panel_id"] for row in panel_rows],
    }
    return {"panels": panel_rows, "figures": [figure_row]}


def _pair_rows(rows: dict[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Return pairs of the figures' captions, the panels' subcaptions, and a region in the middle of each panel.

    Each figure's stand together, as in a release; a picture's row is counted within its split.
    """
    places: dict[tuple[str, str], int] = {}
    of_panels: dict[tuple[int, str], list[tuple[dict[str, Any], int]]] = {}
    for panel in rows["panels"]:
        place = places["panels", panel["split"]] = places.get(("panels", panel["split"]), -1) + 1
        of_panels.setdefault((panel["article_id"], panel["image_cluster_id"]), []).append((panel, place))
    whole, found = [0.0, 0.0, 1.0, 1.0], []
    credit = ("article_id", "license", "license_url", "commercial_use", "attribution", "split", "image_cluster_id")
    for figure in rows["figures"]:
        place = places["figures", figure["split"]] = places.get(("figures", figure["split"]), -1) + 1
        if figure["figure_image"] is None:
            continue
        key = (figure["article_id"], figure["image_cluster_id"])
        shared = {
            **{name: figure[name] for name in credit},
            "figure_id": f"{key[0]}_{key[1]}", "figure_panels": len(of_panels[key]), "generated": False,
            "video_id": None,
        }  # fmt: skip
        found.append(
            {
                **shared, "level": "figure", "text_kind": "caption", "text": figure["caption"], "confidence": None,
                "picture_config": "figures", "picture_row": place, "box": whole, "figure_box": whole,
                "panel_id": None, "region_id": None, "panel_name": None, "pair_id": f"c-{key[0]}-{key[1]}",
            }
        )  # fmt: skip
        for panel, row in of_panels[key]:
            left, top, right, bottom = panel["content_box"]
            of_panel = {
                **shared, "level": "panel", "text_kind": "subcaption", "text": panel["subcaption_text"],
                "confidence": 0.95, "picture_config": "panels", "picture_row": row, "box": whole,
                "figure_box": panel["content_box"], "panel_id": panel["panel_id"], "region_id": None,
                "panel_name": panel["panel_name"], "pair_id": f"s-{panel['panel_id']}",
            }  # fmt: skip
            of_region = {
                "level": "region", "text_kind": "fragment", "text": f"what lies in {panel['panel_id']}",
                "confidence": 0.5, "box": [0.25, 0.25, 0.75, 0.5], "region_id": f"{panel['panel_id']}_r0",
                "figure_box": [
                    left + (right - left) / 4, top + (bottom - top) / 4,
                    left + 3 * (right - left) / 4, top + (bottom - top) / 2,
                ],
                "pair_id": f"r-{panel['panel_id']}",
            }  # fmt: skip
            found += [of_panel, of_panel | of_region]
    return found


def _video_rows(lectures: int, rng: np.random.Generator) -> list[dict[str, Any]]:
    """Return two pictures each of lecture videos, of which no licence withholds any."""
    found = []
    for number in range(lectures):
        for place in range(2):
            pixels = drawn_picture("oct", rng, 40 + number, 30)
            found.append(
                {
                    "pair_id": f"v-{number}-{place}",
                    "picture": {"bytes": png(pixels), "path": f"v{number}{place}.png"},
                    "level": "video", "text": f"what is <b>said</b> in {number}, {place}", "words_from": "l.en.vtt",
                    "corrected_words": 0, "slide_text": ["Macula"], "boxes": [[0.0, 0.0, 1.0, 1.0]],
                    "image_types": ["OCT"], "modalities": [None], "video_id": number + 1, "video": f"{number}.mp4",
                    "start": 9.0 * place, "end": 9.0 * place + 9, "keyframe": 9.0 * place + 4,
                    "picture_width": 40 + number, "picture_height": 30, "perceptual_hash": "0f" * 8,
                    "picture_group": None, "license": "CC BY", "license_url": None, "commercial_use": True,
                    "attribution": f"'Lecture <{number}>', Eyes", "split": SPLITS[number % len(SPLITS)],
                }
            )  # fmt: skip
    return found


def video_pair_rows(videos: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the pairs (level V) of pictures of lectures, of each split in the order of these."""
    places: dict[str, int] = {}
    found = []
    for video in videos:
        place = places[video["split"]] = places.get(video["split"], -1) + 1
        same = ("pair_id", "text", "video_id", "license", "license_url", "commercial_use", "attribution", "split")
        none = (
            "confidence", "figure_box", "article_id", "image_cluster_id", "figure_id", "panel_id", "region_id",
            "panel_name", "figure_panels",
        )  # fmt: skip
        found.append(
            {
                **{name: video[name] for name in same}, **dict.fromkeys(none), "level": "video",
                "text_kind": "transcript", "generated": False, "picture_config": "videos", "picture_row": place,
                "box": [0.0, 0.0, 1.0, 1.0],
            }
        )  # fmt: skip
    return found


def _instruction_rows(panels: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return instructions of the panels that are not withheld."""
    places: dict[str, int] = {}
    found: list[dict[str, Any]] = []
    for turn, panel in enumerate(panels):
        place = places[panel["split"]] = places.get(panel["split"], -1) + 1
        if panel["panel_image"] is not None:
            found += hub_rows(panel, place, turn)
    return found


def _lecture_instructions(videos: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return instructions of the pictures of lectures."""
    places: dict[str, int] = {}
    found: list[dict[str, Any]] = []
    for turn, video in enumerate(videos):
        place = places[video["split"]] = places.get(video["split"], -1) + 1
        found += lecture_rows(video, place, turn)
    return found


def release_rows(articles: int, seed: int = 0, lectures: int = 0) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of each config."""
    rng = np.random.default_rng(seed)
    rows: dict[str, list[dict[str, Any]]] = {"panels": [], "figures": [], "articles": []}
    for number in range(articles):
        figures = [_figure(rng, number, ordinal, int(rng.integers(1, 5))) for ordinal in range(1 + number % 2)]
        for figure in figures:
            rows["panels"] += figure["panels"]
            rows["figures"] += figure["figures"]
        article = _article_facts(number)
        rows["articles"].append(
            {
                **article,
                "package": f"sample_{number}",
                "pmcid": None,
                "pmid": None,
                "citation": None,
                "mesh_terms": ["Retina", "Humans"] if number % 2 else [],
                "keywords": ["optic disc"],
                "is_manuscript": False,
                "figures": len(figures),
                "panels": sum(len(figure["panels"]) for figure in figures),
            }
        )
    rows["videos"] = _video_rows(lectures, np.random.default_rng(seed))
    rows["pairs"] = [*_pair_rows(rows), *video_pair_rows(rows["videos"])]
    rows["instructions"] = [*_instruction_rows(rows["panels"]), *_lecture_instructions(rows["videos"])]
    return rows


def write_sums(hub: Path) -> None:
    files = sorted(path for path in hub.rglob("*") if path.is_file() and path.name != "SHA256SUMS")
    sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(hub).as_posix()}\n" for path in files]
    (hub / "SHA256SUMS").write_text("".join(sums))


def write_release(
    data_root: Path, articles: int = 12, seed: int = 0, group_rows: int = 3, lectures: int = 0
) -> dict[str, list[dict[str, Any]]]:
    """Write `release/hub` below a data root; return its rows in the order of a release."""
    hub = data_root / "release" / "hub"
    rows = release_rows(articles, seed, lectures)
    ordered: dict[str, list[dict[str, Any]]] = {}
    for config, of_config in rows.items():
        folder = hub / "data" / config
        folder.mkdir(parents=True, exist_ok=True)
        ordered[config] = []
        for split in ("train", "validation", "test"):
            part = [row for row in of_config if row["split"] == split]
            ordered[config] += part
            half = (len(part) + 1) // 2 if split == "train" else len(part)
            for number, shard in enumerate((part[:half], part[half:])):
                if shard:
                    assert set(shard[0]) == set(release_tables()[config].columns()), "rows have the release's columns"
                    table = pa.Table.from_pylist(shard, schema=arrow_schema(release_tables()[config]))
                    pq.write_table(table, folder / f"{split}-{number:05}.parquet", row_group_size=group_rows)
    first = ordered["panels"][0]
    duplicate = {
        **{name: first[name] for name in ("panel_id", "article_id", "split")},
        "duplicate_group": first["panel_id"], "kind": "identical", "distance": 0,
    }  # fmt: skip
    pq.write_table(pa.Table.from_pylist([duplicate], schema=arrow_schema(PanelDuplicates)), hub / "duplicates.parquet")
    (hub / "manifest.json").write_text(
        json.dumps({"version": "2026.11", **({"counts": {"videos": 2 * lectures}} if lectures else {})})
    )
    write_sums(hub)
    return ordered
