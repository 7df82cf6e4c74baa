"""Make docs/quality.png: what the quality assets show of the sample articles.

pmo demo demo --quality && python docs/quality.py demo/data
"""

from __future__ import annotations

import io
import sys
from pathlib import Path

import numpy as np
from PIL import Image

from pmo_assets.quality.detection_quality import detections_measured
from pmo_assets.quality.page_renderer import PageRenderer
from pmo_assets.quality.scored_articles import scored_articles
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.objects import ContentStore
from pmo_assets.storage.tables import Tables
from pmo_assets.viewing.comparisons import case, stacked
from pmo_assets.workers.pool import WorkerPool


def main() -> None:
    """Draw the worst detection of the samples and the plots of detection quality."""
    root = DataRoot(sys.argv[1])
    scored = scored_articles(Tables(root), ["panel_detections", "image_detections"], assembled=True)
    measured = detections_measured(scored, PageRenderer(WorkerPool(0, 100, 0), ContentStore(root)), worst=1)
    parts = [case(item.title, item.problems, item.pixels) for item in measured.cases]
    plots = [Image.open(io.BytesIO(png)).convert("RGB") for _, png in measured.plots]
    row = Image.new("RGB", (sum(plot.width for plot in plots), max(plot.height for plot in plots)), "white")
    x = 0
    for plot in plots:
        row.paste(plot, (x, 0))
        x += plot.width
    row.thumbnail((900, row.height))
    page = Image.fromarray(stacked([*parts, np.asarray(row, dtype=np.uint8)]))
    page.save(Path(__file__).with_name("quality.png"), optimize=True)


if __name__ == "__main__":
    main()
