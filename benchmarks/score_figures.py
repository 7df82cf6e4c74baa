"""Score figure extraction against the annotated articles, and count what is located in the whole corpus.

    python benchmarks/score_figures.py [--shared ../shared] [--no-render] [--overlays FOLDER] [ARTICLE ...]

Every article is extracted twice, with its JATS XML and without. The annotated ones are scored (`quality/metrics`,
its figure lines); over all articles the share of `<fig>` entries that were located, the misses with
their reasons, and pages per second are printed. `--overlays` writes a page picture for each figure that overlaps its
truth by less than 0.9: truth green, found red, caption blue.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pymupdf

from pmo_assets.annotation.annotations import AnnotatedArticle, article_number
from pmo_assets.pipeline.articles.jats import parse_jats
from pmo_assets.pipeline.figures.caption_location.labels import figure_number
from pmo_assets.pipeline.figures.extraction import Extraction, FigureOptions, extract_figures
from pmo_assets.records.article import PackageFigure
from pmo_assets.records.figure import PdfFigure
from pmo_assets.records.geometry import iou
from pmo_assets_tests.quality.metrics.article_scores import article_scores, score_lines

FIGURE_LINES = ("figures", "predicted figures", "figure ", "median figure", "captions", "label accuracy")


def package_figures(folder: Path) -> tuple[PackageFigure, ...]:
    """Return the `<fig>` entries of an article's XML; empty without XML."""
    path = folder / "article.xml"
    return parse_jats(path.read_bytes()).figures if path.exists() else ()


def prediction(article: str, figures: Sequence[PdfFigure]) -> dict[str, Any]:
    """Return figures in the annotation format, each with one panel that is the whole figure."""
    return {
        "article_id": article,
        "figures": [
            {
                "label": figure.label or "",
                "image_cluster_id": figure.image_cluster_id,
                "figure_locations": [{"page": at.page, "bbox": list(at.bbox)} for at in figure.locations],
                "caption_locations": [{"page": at.page, "bbox": list(at.bbox)} for at in figure.caption_locations],
                "caption": figure.caption,
                "confidence": figure.confidence,
                "panels": [
                    {
                        "identifier": None,
                        "identifier_box": None,
                        "box": [0, 0, 1, 1],
                        "subcaption": figure.caption,
                        "images": [],
                    }
                ],
            }
            for figure in figures
        ],
    }


def differences(truth: Sequence[dict[str, Any]], figures: Sequence[PdfFigure]) -> list[tuple[float, dict[str, Any]]]:
    """Return the annotated figures that no found figure covers with IoU 0.9, and their best IoU."""
    found = []
    for figure in truth:
        best = max(
            (
                iou(tuple(at["bbox"]), box.bbox)
                for at in figure["figure_locations"]
                for other in figures
                for box in other.locations
                if box.page == at["page"]
            ),
            default=0.0,
        )
        if best < 0.9:
            found.append((best, figure))
    return found


def write_overlays(folder: Path, pdf: Path, name: str, truth: Sequence[dict[str, Any]], result: Extraction) -> None:
    """Draw truth (green), found figures (red) and captions (blue) on the pages with a difference."""
    worst = differences(truth, result.figures)
    if not worst:
        return
    document = pymupdf.open(pdf)
    for page_index in sorted({at["page"] for _, figure in worst for at in figure["figure_locations"]}):
        page = document[page_index]
        for figure in truth:
            for at in figure["figure_locations"]:
                if at["page"] == page_index:
                    page.draw_rect(pymupdf.Rect(at["bbox"]) * page.derotation_matrix, color=(0, 0.7, 0), width=2)
        for found in result.figures:
            for boxes, colour in ((found.locations, (1, 0, 0)), (found.caption_locations, (0, 0, 1))):
                for box in boxes:
                    if box.page == page_index:
                        page.draw_rect(pymupdf.Rect(box.bbox) * page.derotation_matrix, color=colour)
        page.get_pixmap(dpi=90).save(folder / f"{name}-p{page_index}.png")
    document.close()


def main() -> None:
    """Run the benchmark and print its tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("articles", nargs="*", help="folder names below corpus/; all if none")
    parser.add_argument("--shared", type=Path, default=Path(__file__).resolve().parents[2] / "shared")
    parser.add_argument("--no-render", action="store_true", help="boxes only")
    parser.add_argument("--overlays", type=Path)
    arguments = parser.parse_args()
    options = FigureOptions(render=not arguments.no_render)
    folders = sorted(path for path in (arguments.shared / "corpus").iterdir() if (path / "article.pdf").exists())
    if arguments.articles:
        folders = [folder for folder in folders if folder.name in arguments.articles]
    for mode in ("with XML", "without XML"):
        expected = located = labelled = pages = 0
        seconds = 0.0
        truths: dict[int, AnnotatedArticle] = {}
        predictions: dict[int, AnnotatedArticle] = {}
        for folder in folders:
            known = package_figures(folder)
            pdf = (folder / "article.pdf").read_bytes()
            start = time.perf_counter()
            result = extract_figures(pdf, known if mode == "with XML" else (), options)
            seconds += time.perf_counter() - start
            pages += result.page_count
            numbers = {figure_number(figure.label) for figure in result.figures}
            clusters = {figure.image_cluster_id for figure in result.figures}
            expected += len(known)
            located += sum(figure.image_cluster_id in clusters for figure in known)
            labelled += sum(figure_number(figure.label) in numbers for figure in known if figure.label)
            for miss in result.misses:
                print(f"  {folder.name}: {miss.label or miss.image_cluster_id}: {miss.reason}")
            annotation = arguments.shared / "annotations" / f"{folder.name}.json"
            if annotation.exists():
                content = json.loads(annotation.read_text())
                number = article_number(content["article_id"])
                truths[number] = AnnotatedArticle.model_validate(content)
                predictions[number] = AnnotatedArticle.model_validate(prediction(folder.name, result.figures))
                truth = content["figures"]
                for best, figure in differences(truth, result.figures):
                    print(f"  {folder.name}: {figure['label']}: IoU {best:.2f}")
                if arguments.overlays:
                    arguments.overlays.mkdir(parents=True, exist_ok=True)
                    name = f"{folder.name}-{mode.split()[0]}"
                    write_overlays(arguments.overlays, folder / "article.pdf", name, truth, result)
        print(f"== {mode}: {len(folders)} articles, {pages} pages, {pages / max(seconds, 1e-9):.1f} pages/s")
        if mode == "with XML":
            print(f"located <fig> entries             {located} of {expected}")
        print(f"<fig> labels among found figures  {labelled} of {expected}")
        if truths:
            lines = score_lines(article_scores(truths, predictions))
            print("\n".join(line for line in lines if line.startswith(FIGURE_LINES)))


if __name__ == "__main__":
    main()
