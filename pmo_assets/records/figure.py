"""A figure as it was found in the PDF: the records that extraction writes and detection reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pmo_assets.records.article import InTextMention
from pmo_assets.records.geometry import Box, Point


@dataclass(frozen=True, slots=True)
class PageBox:
    """A box on a page.

    Attributes:
        page: 0-based page index.
        bbox: PDF points, origin top left of the page as displayed (rotation applied).
    """

    page: int
    bbox: Box


@dataclass(frozen=True, slots=True)
class LocatedFigure:
    """A figure of an article by name, caption and place: what review compares with the one that people saw.

    Attributes are those of `Figure`.
    """

    image_cluster_id: str
    caption: str
    matched: bool
    locations: tuple[PageBox, ...]


@dataclass(frozen=True, slots=True)
class PageSize:
    """The size of a page as displayed (rotation applied), in PDF points.

    Attributes:
        page: 0-based page index.
        width: PDF points.
        height: PDF points.
    """

    page: int
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class EmbeddedBitmap:
    """A bitmap placed in the figure by the PDF (an exact hint for panels and images).

    Attributes:
        box: normalised [l, t, r, b] in the figure.
        native_width: pixels of the embedded image.
        native_height: pixels of the embedded image.
    """

    box: Box
    native_width: int
    native_height: int


@dataclass(frozen=True, slots=True)
class EmbeddedText:
    """A span of live text inside the figure: a word or a few words on one line.

    Attributes:
        text: as printed.
        box: normalised [l, t, r, b] in the figure, tight on the glyphs' line box.
        size: font size in points.
        bold: the font is bold.
    """

    text: str
    box: Box
    size: float
    bold: bool


ShapeKind = Literal[
    "arrow", "head", "line", "rectangle", "ellipse", "dart", "pointer", "star", "brace", "curve", "patch"
]  # fmt: skip
"""Look of a vector shape: a whole arrow; an arrowhead or triangle; a straight line; a box; a circle or ellipse; an
arrowhead with a notch; an arrow of strokes, or with further corners; a star, or strokes that cross in the middle; a
brace or square bracket; any other line; any other filled shape, letters' outlines among them."""


@dataclass(frozen=True, slots=True)
class EmbeddedShape:
    """A simple shape that the PDF draws over a bitmap of the figure, or an arrow or brace beside one.

    Attributes:
        kind: of shape.
        box: normalised [l, t, r, b] in the figure, line width included.
        colour: "#rrggbb" of its filling, or of its line where it has none.
        filled: it has a filling.
        tip: normalised (x, y): where an arrow, pointer, head or dart points, the point of a brace, and one end of an
            open line or curve; None for other kinds, and for triangles all of whose sides are alike, or different.
        tail: the end of its shaft, the middle of its back, or of a brace's opening, or the line's other end; None where
            `tip` is.
    """

    kind: ShapeKind
    box: Box
    colour: str
    filled: bool
    tip: Point | None = None
    tail: Point | None = None


@dataclass(frozen=True, slots=True)
class PdfFigure:
    """A figure located in the PDF.

    Attributes:
        pdf_figure_id: "p<page>-<n>", page 0-based, n counting from 1 on the page in reading order; unique in the PDF.
        label: as printed ("Figure 3"); None when there is none.
        caption: text without the label; from the XML when its words located the figure, else from the PDF.
        locations: its places, one entry per page in page order; tight on ink.
        caption_locations: places of its caption (label included); empty when the caption was not found.
        page_sizes: size of each page that `locations` and `caption_locations` name, in page order.
        image_cluster_id: the package figure that located it (caption, number, picture); None when found by layout.
        located_by: "xml_caption", "layout", or "package_image" when it was found by registration of its JPEG.
        confidence: 0..1.
        width: pixels of the rendered figure.
        height: pixels of the rendered figure.
        dpi: resolution of the rendering.
        bitmaps: embedded bitmaps.
        texts: live text spans.
        shapes: vector shapes over bitmaps.
        picture_correlation: -1..1 between rendering and package picture; None when they were not compared.
    """

    pdf_figure_id: str
    label: str | None
    caption: str
    locations: tuple[PageBox, ...]
    caption_locations: tuple[PageBox, ...]
    page_sizes: tuple[PageSize, ...]
    image_cluster_id: str | None
    located_by: str
    confidence: float
    width: int
    height: int
    dpi: float
    bitmaps: tuple[EmbeddedBitmap, ...]
    texts: tuple[EmbeddedText, ...]
    picture_correlation: float | None = None
    shapes: tuple[EmbeddedShape, ...] = ()


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure that goes on: located in the PDF and, where there is an XML, matched to its package figure.

    Attributes:
        article_id: number of the article.
        image_cluster_id: unique in the article: its graphic's name in the XML, or made of `pdf_figure_id`.
        pdf_figure_id: key of its rendering.
        ordinal: position in its article.
        label: as printed ("Figure 3"); None when there is none.
        caption: text without the label; from the XML when matched.
        matched: it was matched to a package figure.
        is_multi_page: it runs over several pages.
        locations: its places, one entry per page.
        mentions: where the text refers to it.
        width: pixels of the rendering.
        height: pixels of the rendering.
        bitmaps: embedded bitmaps.
        texts: live text spans.
        shapes: vector shapes over bitmaps.
        rights_statement: words of XML, caption or print in it on rights that are not the article's; None without any.
    """

    article_id: int
    image_cluster_id: str
    pdf_figure_id: str
    ordinal: int
    label: str | None
    caption: str
    matched: bool
    is_multi_page: bool
    locations: tuple[PageBox, ...]
    mentions: tuple[InTextMention, ...]
    width: int
    height: int
    bitmaps: tuple[EmbeddedBitmap, ...]
    texts: tuple[EmbeddedText, ...]
    shapes: tuple[EmbeddedShape, ...] = ()
    rights_statement: str | None = None
