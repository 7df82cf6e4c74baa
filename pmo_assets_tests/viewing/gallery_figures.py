"""Small figures with exact content, for the tests of pages."""

import io

import numpy as np
from PIL import Image

from pmo_assets.viewing.gallery import GalleryFigure, GalleryImage, GalleryPanel


def png_bytes(width: int = 60, height: int = 40) -> bytes:
    """Return a grey ramp as PNG."""
    ramp = np.linspace(0, 255, width * height, dtype=np.uint8).reshape(height, width)
    buffer = io.BytesIO()
    Image.fromarray(ramp).save(buffer, "PNG")
    return buffer.getvalue()


def panel(
    name: str | None = "A",
    *images: tuple[str | None, bool | None],
    subcaption: str | None = "Own text.",
    segments: tuple[tuple[int, int], ...] = (),
    assembly: str = "automatic",
    box: tuple[float, float, float, float] = (0.0, 0.0, 0.5, 1.0),
    redistributable: bool = True,
) -> GalleryPanel:
    """Return a panel with images of the given (type, marked)."""
    return GalleryPanel(
        panel_id=f"panel-{name}",
        name=name,
        box=box,
        content_box=None,
        score=0.91,
        identifier_boxes=((0.0, 0.9, 0.1, 1.0),),
        images=tuple(GalleryImage(box, image_type, 0.875, marked) for image_type, marked in images),
        subcaption=subcaption,
        segments=segments,
        assembly=assembly,
        redistributable=redistributable,
    )


def figure(
    *panels: GalleryPanel,
    article_id: int = 4736323,
    cluster: str = "fig.001",
    title: str = "Serous macular detachment",
    url: str | None = "https://pmc.ncbi.nlm.nih.gov/articles/PMC4736323/",
    caption: str = "Both eyes. (A) Right. (B) Left.",
    license: str | None = "CC BY",
    image: bytes | None = None,
) -> GalleryFigure:
    """Return a figure with these panels."""
    return GalleryFigure(
        article_id=article_id,
        article_title=title,
        article_url=url,
        image_cluster_id=cluster,
        label="Figure 1",
        caption=caption,
        license=license,
        commercial_use=license in {"CC BY", "CC0"},
        attribution="© The authors",
        is_multi_page=False,
        image=png_bytes() if image is None else image,
        width=600,
        height=400,
        panels=panels,
    )
