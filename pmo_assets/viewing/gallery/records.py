"""Records of figures and panels that the gallery shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pmo_assets.records.context import Entity, PanelMention, PanelSummary
from pmo_assets.records.figure import PageBox, PageSize
from pmo_assets.records.geometry import Box
from pmo_assets.records.marked_words import ShownEvidence
from pmo_assets.records.panels import PanelImage
from pmo_assets.records.regions import PanelRegions


@dataclass(frozen=True, slots=True)
class GalleryFilter:
    """A filter of panels that the page does not have by itself.

    Attributes:
        name: in the address.
        title: on the page.
        names: of values that are codes, in words.
    """

    name: str
    title: str
    names: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GalleryContext:
    """What the article says of a panel.

    Attributes:
        mentions: sentences of the running text that speak of it.
        entities: in its subcaption and in these sentences.
        summary: of them.
    """

    mentions: tuple[PanelMention, ...]
    entities: tuple[Entity, ...]
    summary: PanelSummary


@dataclass(frozen=True, slots=True)
class GalleryInstruction:
    """A question or dialogue about a panel.

    Attributes:
        kind: of instruction.
        turns: (role, words) of its messages.
        evidence: what the answers rest on.
        boxes: of what they speak of, normalised to the figure.
    """

    kind: str
    turns: tuple[tuple[str, str], ...]
    evidence: ShownEvidence
    boxes: tuple[Box, ...] = ()


@dataclass(frozen=True, slots=True)
class GalleryPanel:
    """A panel with its subcaption.

    Attributes:
        panel_id: unique in the release.
        name: the identifier ("A", "left"); None for the only panel of a figure.
        box: normalised [l, t, r, b] in the figure.
        score: 0..1 of the detection; None when there is none.
        identifier_boxes: boxes of the printed identifier, normalised to the figure.
        images: the images inside, boxes normalised to the figure.
        subcaption: None when the caption was not split.
        segments: [start, end) ranges of the figure's caption that made the subcaption.
        assembly: way in which identifier and subcaption were assigned, e.g. "automatic".
        redistributable: true if the dataset may carry the pixels and text.
        confidence: 0..1 that the subcaption is the panel's; None when there is none.
        filtered: of each further filter of the page, in its order, the values that the panel has.
        context: what the article says of it; None where nothing is known or shown.
        regions: its marks, phrases that name them, regions that both show; empty where there are none. Phrases stand in
            the subcaption and in the mentions of `context`; of a panel whose words are not shown there are marks only.
        instructions: that the release has about it; none where its words are not shown.
    """

    panel_id: str
    name: str | None
    box: Box
    score: float | None
    identifier_boxes: tuple[Box, ...]
    images: tuple[PanelImage, ...]
    subcaption: str | None
    segments: tuple[tuple[int, int], ...]
    assembly: str
    redistributable: bool
    confidence: float | None = None
    filtered: tuple[tuple[str, ...], ...] = ()
    context: GalleryContext | None = None
    regions: PanelRegions = field(default_factory=PanelRegions)
    instructions: tuple[GalleryInstruction, ...] = ()


@dataclass(frozen=True, slots=True)
class GalleryFigure:
    """A figure of an article.

    Attributes:
        article_id: PMC number without "PMC", or a number above PMC's range.
        article_title: plain text.
        package: name of the article's package at its source; None when not known.
        article_url: link to the article; shown only if it is http(s).
        image_cluster_id: identifies the figure in its article.
        label: as printed, e.g. "Figure 3".
        caption: plain text without the label; empty when it may not be shown.
        license: as PMC writes it ("CC BY-NC"); None when not stated.
        commercial_use: true if the licence allows it.
        attribution: credit that has to be given, in words.
        is_multi_page: the figure runs over several pages.
        image: JPEG, PNG or WebP of the figure, of any size; empty when it may not be shown.
        width: pixels of the figure itself; only the aspect ratio matters here.
        height: pixels of the figure itself.
        panels: in the caption's order.
        doi: digital object identifier of the article.
        journal: of the article.
        year: of publication.
        split: of the dataset ("train", …); None when the release has none.
        caption_confidence: 0..1 that the caption was split rightly; None when there is none.
        page_boxes: places of the figure: page (from 0) and PDF points.
        caption_boxes: places of its caption.
        page_sizes: of these pages in PDF points, as far as known.
        pdf_url: address of the article's PDF; shown only if it is http(s).
    """

    article_id: int
    article_title: str
    article_url: str | None
    image_cluster_id: str
    label: str
    caption: str
    license: str | None
    commercial_use: bool
    attribution: str
    is_multi_page: bool
    image: bytes
    width: int
    height: int
    panels: tuple[GalleryPanel, ...]
    doi: str | None = None
    journal: str | None = None
    year: int | None = None
    split: str | None = None
    caption_confidence: float | None = None
    page_boxes: tuple[PageBox, ...] = ()
    caption_boxes: tuple[PageBox, ...] = ()
    page_sizes: tuple[PageSize, ...] = ()
    pdf_url: str | None = None
    package: str | None = None
