"""Small figures with exact content, and galleries made of them, for the tests of pages."""

import io
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

import numpy as np
from PIL import Image

from pmo_assets.records.context import Entity, EntityGroup, MentionKind, PanelMention, PanelSummary, SourceSentence
from pmo_assets.records.figure import PageBox, PageSize
from pmo_assets.records.geometry import Box
from pmo_assets.records.image_types import ImageType
from pmo_assets.records.marked_words import MARKED, ShownEvidence
from pmo_assets.records.panels import PanelImage
from pmo_assets.records.regions import PanelRegions
from pmo_assets.viewing.gallery import (
    GalleryContext,
    GalleryFigure,
    GalleryInstruction,
    GalleryPanel,
    GalleryWritten,
    write_gallery_folder,
)


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
    confidence: float | None = None,
    filtered: tuple[tuple[str, ...], ...] = (),
    context: GalleryContext | None = None,
    regions: PanelRegions = PanelRegions(),  # noqa: B008 - frozen
    instructions: tuple[GalleryInstruction, ...] = (),
) -> GalleryPanel:
    """Return a panel with images of the given (type, marked)."""
    return GalleryPanel(
        panel_id=f"panel-{name}",
        name=name,
        box=box,
        score=0.91,
        identifier_boxes=((0.0, 0.9, 0.1, 1.0),),
        images=tuple(
            PanelImage("", box, 0.9, cast(ImageType | None, kind), 0.875, marked, 0.5) for kind, marked in images
        ),
        subcaption=subcaption,
        segments=segments,
        assembly=assembly,
        redistributable=redistributable,
        confidence=confidence,
        filtered=filtered,
        context=context,
        regions=regions,
        instructions=instructions,
    )


def instruction(
    question: str, answer: str, *others: str, words: str = "", text: str = "", boxes: tuple[Box, ...] = ()
) -> GalleryInstruction:
    """Return a question whose answer rests on `words` of the subcaption `text`, and on other evidence."""
    at = text.index(words)
    parts = [(text[:at], ""), (words, MARKED), (text[at + len(words) :], "")]
    shown = ShownEvidence([("subcaption", parts)] if words else [], others)
    return GalleryInstruction("what", (("user", question), ("assistant", answer)), shown, boxes)


def mention(
    sentence: str, *, start: int = 0, kind: MentionKind = "names panel", title: str | None = "Results"
) -> PanelMention:
    """Return a sentence of paragraph 4."""
    return PanelMention("A", 4, "results", title, start, start + len(sentence), sentence, kind, "xref")


def entity(
    text: str,
    words: str,
    group: EntityGroup = "finding",
    term: str | None = None,
    *,
    number: int | None = None,
    negated: bool = False,
    uncertain: bool = False,
) -> Entity:
    """Return the entity that `words` are in a text: the subcaption, or the mention with a number."""
    start = text.index(words)
    found_in = cast(Any, "subcaption" if number is None else "mention")
    return Entity(group, term or words, (), words, start, start + len(words), found_in, number, negated, uncertain)


def context(
    *mentions: PanelMention, entities: Iterable[Entity] = (), summed: Iterable[PanelMention] = (), generated: str = ""
) -> GalleryContext:
    """Return what the text says of a panel; the summary consists of the sentences `summed`."""
    parts = tuple(SourceSentence(item.paragraph, item.start, item.end, item.sentence) for item in summed)
    summary = PanelSummary(" ".join(part.sentence for part in parts), parts, generated_summary=generated or None)
    return GalleryContext(mentions, tuple(entities), summary)


def figure(
    *panels: GalleryPanel,
    article_id: int = 4736323,
    cluster: str = "fig.001",
    title: str = "Serous macular detachment",
    url: str | None = "https://pmc.ncbi.nlm.nih.gov/articles/PMC4736323/",
    caption: str = "Both eyes. (A) Right. (B) Left.",
    license: str | None = "CC BY",
    image: bytes | None = None,
    journal: str | None = "Eye",
    year: int | None = 2020,
    split: str | None = None,
    caption_confidence: float | None = None,
    page_boxes: tuple[PageBox, ...] = (),
    caption_boxes: tuple[PageBox, ...] = (),
    page_sizes: tuple[PageSize, ...] = (),
    pdf_url: str | None = None,
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
        commercial_use=license in ("CC BY", "CC0"),
        attribution="Doe J. J Retin Imaging. 2024.",
        is_multi_page=False,
        image=png_bytes() if image is None else image,
        width=600,
        height=400,
        panels=panels,
        journal=journal,
        year=year,
        split=split,
        caption_confidence=caption_confidence,
        page_boxes=page_boxes,
        caption_boxes=caption_boxes,
        page_sizes=page_sizes,
        pdf_url=pdf_url,
    )


def written_files(
    figures: Iterable[GalleryFigure], *, title: str = "Gallery", **options: Any
) -> tuple[GalleryWritten, dict[str, bytes]]:
    """Return what the writer says, and the files that it wrote by name."""
    files: dict[str, bytes] = {}

    def write(name: str, content: bytes) -> None:
        assert name not in files, "each file is written once"
        files[name] = content

    return write_gallery_folder(figures, write, title=title, **{"facts": {}, **options}), files


def gallery_folder(folder: Path, figures: Iterable[GalleryFigure], **options: Any) -> Path:
    """Write a gallery below a folder and return its page."""
    for name, content in written_files(figures, **options)[1].items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder / "index.html"


def registered(content: bytes) -> Any:
    """Return what a data file registers."""
    match = re.fullmatch(r'PmoGallery\.put\("\w+",\d+,(.*)\);\n', content.decode(), re.DOTALL)
    assert match is not None
    return json.loads(match.group(1))
