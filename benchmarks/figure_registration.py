"""What package pictures tell: how alike true pairs and other pairs are, and which figures of scans they find.

    python benchmarks/figure_registration.py [--shared ../shared] [--dpi 150] [ARTICLE ...]

Prints the correlation of each figure's rendering with its own JPEG and with those of the article's other figures. Then
every PDF is turned into a scan, without text and with an invisible text layer as OCR programmes leave it, and the
figures found are compared with those of the original.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

import pymupdf

from pmo_assets.pipeline.articles.jats import parse_jats
from pmo_assets.pipeline.figures.extraction import Extraction, FigureOptions, extract_figures
from pmo_assets.pipeline.figures.registration import correlation, gray_rendering, package_gray
from pmo_assets.records.article import PackageFigure
from pmo_assets.records.geometry import iou


def articles(
    corpus: Path, names: list[str]
) -> Iterator[tuple[str, bytes, tuple[PackageFigure, ...], dict[str, bytes]]]:
    """Yield name, PDF, `<fig>` entries and JPEGs of the articles that have all three."""
    for folder in sorted(corpus.iterdir()):
        if (names and folder.name not in names) or not (folder / "figures").is_dir():
            continue
        files = {path.stem: path for path in (folder / "figures").glob("*.jpg")}
        figures = parse_jats((folder / "article.xml").read_bytes()).figures
        images = {
            figure.image_cluster_id: files[PurePosixPath(figure.image_cluster_id).name].read_bytes()
            for figure in figures
            if PurePosixPath(figure.image_cluster_id).name in files
        }
        if images:
            yield folder.name, (folder / "article.pdf").read_bytes(), figures, images


def scan(pdf: bytes, *, with_text: bool, dpi: int) -> bytes:
    """Return the document as one JPEG a page, level text lying invisibly over it if wanted."""
    font = pymupdf.Font("helv")
    copy = pymupdf.open()
    for page in pymupdf.open(stream=pdf):
        sheet = copy.new_page(width=page.rect.width, height=page.rect.height)
        sheet.insert_image(sheet.rect, stream=page.get_pixmap(dpi=dpi).tobytes("jpeg", jpg_quality=80))
        writer = pymupdf.TextWriter(sheet.rect)
        lines = [line for block in page.get_text("dict")["blocks"] for line in block.get("lines", ())]
        for line in lines if with_text else ():
            for span in line["spans"]:
                if span["text"].strip() and line["dir"] == (1.0, 0.0):
                    across = span["bbox"][2] - span["bbox"][0]
                    size = min(span["size"], across / (font.text_length(span["text"], 1) or 1))
                    writer.append((span["bbox"][0], span["origin"][1]), span["text"], font=font, fontsize=size)
        writer.write_text(sheet, render_mode=3)
    return bytes(copy.tobytes())


def compared(truth: Extraction, found: Extraction) -> list[float]:
    """Return for each figure of `truth` the IoU of its first page with what was found, 0 for none."""
    by_id = {figure.image_cluster_id: figure for figure in found.figures}
    overlaps = []
    for figure in truth.figures:
        other = by_id.get(figure.image_cluster_id)
        mine = figure.locations[0]
        same_page = other is not None and other.locations[0].page == mine.page
        overlaps.append(iou(mine.bbox, other.locations[0].bbox) if other is not None and same_page else 0.0)
    return overlaps


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("articles", nargs="*")
    parser.add_argument("--shared", type=Path, default=Path(__file__).parents[2] / "shared")
    parser.add_argument("--dpi", type=int, default=150)
    arguments = parser.parse_args()

    own: list[float] = []
    other: list[float] = []
    cases: list[tuple[str, Callable[[bytes], bytes], bool]] = [
        ("scan without text, with JPEGs", lambda pdf: scan(pdf, with_text=False, dpi=arguments.dpi), True),
        ("scan with text, with JPEGs", lambda pdf: scan(pdf, with_text=True, dpi=arguments.dpi), True),
        ("scan with text, without JPEGs", lambda pdf: scan(pdf, with_text=True, dpi=arguments.dpi), False),
    ]
    overlaps: dict[str, list[float]] = {name: [] for name, _, _ in cases}
    seconds = dict.fromkeys(overlaps, 0.0)
    for _, pdf, figures, images in articles(arguments.shared / "corpus", arguments.articles):
        truth = extract_figures(pdf, figures)
        grays = {key: package_gray(data) for key, data in images.items()}
        for figure, (key, gray) in itertools.product(truth.figures, grays.items()):
            rendering = gray_rendering(truth.pixels[figure.pdf_figure_id])
            if gray is not None and rendering is not None:
                (own if key == figure.image_cluster_id else other).append(correlation(rendering, gray))
        for name, changed, with_images in cases:
            start = time.perf_counter()
            found = extract_figures(
                changed(pdf), figures, FigureOptions(), package_image=images.get if with_images else None
            )
            seconds[name] += time.perf_counter() - start
            overlaps[name] += compared(truth, found)
    print(f"correlation with the own JPEG:     lowest {min(own):.3f} of {len(own)}")
    print(f"correlation with other figures' :  highest {max(other):.3f} of {len(other)}")
    for name, values in overlaps.items():
        shares = [sum(value >= least for value in values) / len(values) for least in (0.5, 0.9)]
        print(f"{name:32} IoU >= .5 {shares[0]:.3f}, >= .9 {shares[1]:.3f} of {len(values)}; {seconds[name]:.0f} s")


if __name__ == "__main__":
    main()
