"""The first figure of a sample article, processed: what the documents' pictures are drawn of."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pmo_assets.pictures import decoded
from pmo_assets.pipeline.article import ArticleResult, process_article
from pmo_assets.pipeline.articles.relevance import load_specialty
from pmo_assets.records.memory_stores import MemoryObjects, MemoryPixels
from pmo_assets.samples import sample_articles


def first_figure(name: str | None = None) -> tuple[ArticleResult, dict[str, Any], NDArray[np.uint8]]:
    """Process a sample article, the first one if none is named.

    Returns:
        All that was made of it, the row of its first figure, and that figure's picture as (height, width, 3) uint8 RGB.
    """
    article = next(item for item in sample_articles() if name in {None, item.name})
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
    return result, figure, decoded(pixels.read(article.article_id).get(key), key)
