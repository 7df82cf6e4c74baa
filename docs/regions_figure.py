"""Make docs/regions_figure.png: a sample figure with its marks, what they show, and the words that name them.

python docs/regions_figure.py
"""

from __future__ import annotations

from pathlib import Path

from PIL import Image
from processed_sample import first_figure

from pmo_assets.viewing.article_pictures import marked_panels
from pmo_assets.viewing.region_overlays import region_picture

ARTICLE = "PMC9000000003"
"""Its first figure was drawn with an arrow, a circle, an arrowhead, a box and an asterisk."""

WIDTH = 900


def main() -> None:
    """Process the article and draw its first figure."""
    result, figure, picture = first_figure(ARTICLE)
    panels = marked_panels(result.assembled[figure["image_cluster_id"]], result.tables)
    drawn = region_picture(picture, panels, max_side=WIDTH)
    assert drawn is not None, f"{ARTICLE} has marks"
    few = Image.fromarray(drawn).quantize(128, dither=Image.Dither.NONE)
    few.save(Path(__file__).with_name("regions_figure.png"), optimize=True)


if __name__ == "__main__":
    main()
