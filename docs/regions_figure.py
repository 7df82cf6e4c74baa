"""Make docs/regions_figure.png: a sample figure with its marks, what they show, and the words that name them.

python docs/regions_figure.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PIL import Image

from pmo_assets.pictures import decoded
from pmo_assets.pipeline.article import process_article
from pmo_assets.pipeline.articles.relevance import load_specialty
from pmo_assets.records.memory_stores import MemoryObjects, MemoryPixels
from pmo_assets.samples import sample_articles
from pmo_assets.viewing.article_pictures import marked_panels
from pmo_assets.viewing.region_overlays import region_picture

ARTICLE = "PMC9000000003"
"""Its first figure was drawn with an arrow, a circle, an arrowhead, a box and an asterisk."""

WIDTH = 900


def main() -> None:
    """Process the article and draw its first figure."""
    article = next(item for item in sample_articles() if item.name == ARTICLE)
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
    key = figure["pdf_figure_id"]
    panels = marked_panels(result.assembled[figure["image_cluster_id"]], result.tables)
    drawn = region_picture(decoded(pixels.read(article.article_id).get(key), key), panels, max_side=WIDTH)
    assert drawn is not None, f"{ARTICLE} has marks"
    picture = Image.fromarray(drawn).quantize(128, dither=Image.Dither.NONE)
    picture.save(Path(__file__).with_name("regions_figure.png"), optimize=True)


if __name__ == "__main__":
    main()
