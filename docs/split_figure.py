"""Make docs/split_figure.png: a sample figure with what was found in it, and its caption coloured by panel.

python docs/split_figure.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from pmo_assets.pictures import decoded
from pmo_assets.pipeline.article import process_article
from pmo_assets.pipeline.articles.relevance import load_specialty
from pmo_assets.records.memory_stores import MemoryObjects, MemoryPixels
from pmo_assets.samples import sample_articles
from pmo_assets.viewing.captions import caption_picture
from pmo_assets.viewing.overlays import draw_detections

WIDTH = 900


def main() -> None:
    """Process the first sample article and draw its first figure."""
    article = next(iter(sample_articles()))
    objects, pixels = MemoryObjects({}), MemoryPixels({})
    package: dict[str, Any] = {
        **dict.fromkeys(("license_code", "title", "citation", "doi", "is_manuscript")),
        "article_id": article.article_id,
        "name": article.name,
        "version": 1,
        "is_retracted": False,
        "pdf": objects.put(article.pdf or b"", ".pdf"),
        "xml": objects.put(article.xml or b"", ".xml"),
        "figure_files": [],
        "license_unknown": False,
    }
    result = process_article(package, objects, specialty=load_specialty("ophthalmology"), pixels=pixels)
    figure = result.figures[0]
    panels = result.assembled[figure["image_cluster_id"]]
    key = figure["pdf_figure_id"]
    drawing = draw_detections(
        decoded(pixels.read(article.article_id).get(key), key),
        panels=[(tuple(panel["content_box"]), panel["identifier"]) for panel in panels],
        identifiers=[(tuple(item["box"]), item["text"]) for panel in panels for item in panel["printed_identifiers"]],
        images=[(tuple(i["box"]), i["image_type"], i["marked"]) for panel in panels for i in panel["images"]],
        max_side=620,
    )
    parts = [(panel["identifier"], [tuple(segment) for segment in panel["segments"]]) for panel in panels]
    caption = caption_picture(figure["caption"], parts, width=WIDTH)
    page = np.full((drawing.shape[0] + caption.shape[0] + 24, WIDTH, 3), 255, dtype=np.uint8)
    left = (WIDTH - drawing.shape[1]) // 2
    page[: drawing.shape[0], left : left + drawing.shape[1]] = drawing
    page[drawing.shape[0] + 24 :, : caption.shape[1]] = caption
    Image.fromarray(page).save(Path(__file__).with_name("split_figure.png"), optimize=True)


if __name__ == "__main__":
    main()
