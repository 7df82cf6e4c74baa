"""Make docs/split_figure.png: a sample figure with what was found in it, and its caption coloured by panel.

python docs/split_figure.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image
from processed_sample import first_figure

from pmo_assets.viewing.captions import caption_picture
from pmo_assets.viewing.overlays import draw_detections

WIDTH = 900


def main() -> None:
    """Process the first sample article and draw its first figure."""
    result, figure, picture = first_figure()
    panels = result.assembled[figure["image_cluster_id"]]
    drawing = draw_detections(
        picture,
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
