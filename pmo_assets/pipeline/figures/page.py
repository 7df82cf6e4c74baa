"""Content of a PDF's pages: one pass over text, bitmap placements and vector drawings.
Belongs here: reading a page with PyMuPDF without decoding any bitmap, and bringing everything into one coordinate
system (the page as displayed). Does not belong here: the meaning of the things on the page (see `running_text`,
`caption_location` and `regions`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np
import pymupdf
from numpy.typing import NDArray

from pmo_assets.pipeline.figures.vector_shapes import VectorShape, shapes_on_bitmaps
from pmo_assets.pipeline.figures.word_gaps import Glyphs, missing_spaces, narrowest_space, runs_together
from pmo_assets.records.defaults import MAX_PAGES
from pmo_assets.records.faults import raise_fault
from pmo_assets.records.figure_names import page_number
from pmo_assets.records.geometry import Box, Point, as_box, intersection, union_box
from pmo_assets.records.rejections import ArticleError

MAX_DRAWINGS_PER_PAGE = 500_000
"""Dense scatter plots reach some 10^4 paths on a page; ten times that is a page bomb, not a plot."""

MAX_CONTENT_BYTES = 128_000_000
"""Uncompressed content stream of one page; parsing more takes minutes and gigabytes."""

MAX_BITMAPS_PER_PAGE = 10_000
"""Placements of bitmaps on one page; pictures cut into strips reach some thousands."""

MAX_ANNOTATIONS_PER_PAGE = 10_000
"""Links, notes and form fields on one page. An index that links every word has some thousands; MuPDF makes a picture of
each of 10^5 fields, which takes a gigabyte, and nothing of them belongs to a figure."""

PAGE_SIDES = (3.0, 5_000.0)
"""Shortest (PDF 1.7, annex C.2) and longest side of a page in points: a poster in A0 has 3,370, and what lies beyond
5,000 is damaged or a memory bomb, because layout analysis works on a grid of points."""

BLANK_SIZE = (612.0, 792.0)
"""Size in points of a page that states none, as MuPDF has it, too."""

MIN_CLIPPED = 1.0
"""Points; most clip paths around pictures are the picture's own frame, rounded."""

MAX_GLYPHS = 50_000
"""Characters of one page whose places are read one by one, half a kilobyte each; a dense page has some 10^4."""

TEXT_FLAGS = int(pymupdf.TEXT_PRESERVE_WHITESPACE | pymupdf.TEXT_MEDIABOX_CLIP | pymupdf.TEXT_CID_FOR_UNKNOWN_UNICODE)
"""Ligatures are expanded (no TEXT_PRESERVE_LIGATURES) and images are left out (no TEXT_PRESERVE_IMAGES)."""

LineKey = tuple[int, int]
"""A line of a document: (page index, index in `PageContent.lines`)."""

_BOLD_FLAG = 16
_BOLD_NAMES = ("bold", "black", "heavy", "demi", "-bd", ".b", "semibold")


class UnreadablePdf(ArticleError):
    """The bytes are not a PDF, or so damaged that no page can be read."""


class UnreadablePage(ArticleError):
    """A page that cannot be loaded, or that no paper could be printed on; the other pages may be fine."""


class EncryptedPdf(ArticleError):
    """The PDF needs a password."""


class PageLimit(ArticleError):
    """The PDF has more pages, or more on one page, than the limits allow."""


@dataclass(frozen=True, slots=True)
class PageLimits:
    """Limits against page bombs.

    Attributes:
        pages: pages of the document.
        drawings: vector paths on one page.
        bitmaps: placements of bitmaps on one page.
        content_bytes: uncompressed content stream of one page.
    """

    pages: int = MAX_PAGES
    drawings: int = MAX_DRAWINGS_PER_PAGE
    bitmaps: int = MAX_BITMAPS_PER_PAGE
    content_bytes: int = MAX_CONTENT_BYTES


@dataclass(frozen=True, slots=True)
class TextSpan:
    """Characters of one font on one line; `bbox` in points as displayed, `size` in points."""

    text: str
    bbox: Box
    size: float
    bold: bool


@dataclass(frozen=True, slots=True)
class TextLine:
    """A line of text.

    Attributes:
        text: as printed, ligatures expanded, outer white space removed; never empty.
        bbox: points, page as displayed.
        size: font size of most of its characters.
        bold: most of its characters are bold.
        font: font of most of its characters.
        block: number of the block on the page that PyMuPDF puts the line in.
        quarter_turns: reading direction as displayed, 0 = left to right, 1 = rotated clockwise (top to bottom),
            2 = upside down, 3 = rotated counter-clockwise (bottom to top).
        spans: its spans in reading order.
    """

    text: str
    bbox: Box
    size: float
    bold: bool
    font: str
    block: int
    quarter_turns: int
    spans: tuple[TextSpan, ...]


@dataclass(frozen=True, slots=True)
class BitmapPlacement:
    """An embedded bitmap as the page shows it.

    Attributes:
        bbox: points, page as displayed; what the page shows of it: cut at the page edge and by clip paths.
        native_width: pixels of the whole embedded image.
        native_height: pixels of the whole embedded image.
        dpi: native resolution at the placed size (the larger of both axes).
        placed: where the whole image would lie, when `bbox` is only a part of it; else None.
    """

    bbox: Box
    native_width: int
    native_height: int
    dpi: float
    placed: Box | None = None


@dataclass(frozen=True, slots=True)
class PageContent:
    """Everything on one page that layout analysis looks at.

    Attributes:
        index: 0-based page number.
        width: points, as displayed.
        height: points, as displayed.
        lines: in the PDF's order.
        bitmaps: in the order of painting.
        drawings: float64 array (n, 4) of [l, t, r, b] per visible vector path, line width included.
        white: bool array (n,): the path paints only white, or nothing.
        scan: the picture of the whole page where that is a scan; `bitmaps` is empty then, and `drawings` holds the
            graphics found in its pixels (see `scans`).
        shapes: simple vector shapes that lie on bitmaps (see `vector_shapes`).
    """

    index: int
    width: float
    height: float
    lines: tuple[TextLine, ...]
    bitmaps: tuple[BitmapPlacement, ...] = ()
    drawings: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 4)))
    white: NDArray[np.bool_] = field(default_factory=lambda: np.empty(0, np.bool_))
    scan: BitmapPlacement | None = None
    shapes: tuple[VectorShape, ...] = ()

    @property
    def frame(self) -> Box:
        """The page's own box."""
        return (0.0, 0.0, self.width, self.height)


def open_pdf(pdf: bytes, limits: PageLimits = PageLimits()) -> pymupdf.Document:
    """Open a PDF from memory.

    MuPDF repairs many truncated files; a repaired file with readable pages is accepted.

    Raises:
        UnreadablePdf: not a PDF, or no page can be loaded.
        EncryptedPdf: a password is needed.
        PageLimit: more pages than allowed.
    """
    # A PDF header may follow up to 1024 bytes of junk (PDF Reference 1.7, implementation note 13).
    if b"%PDF-" not in pdf[:1029]:
        raise UnreadablePdf("the file does not begin with a PDF header; download it again")
    try:
        document = pymupdf.open(stream=pdf, filetype="pdf")
    except Exception as error:  # MuPDF raises many classes, none of them documented
        raise_fault(error)
        raise UnreadablePdf(f"MuPDF cannot open the file: {error}") from error
    try:
        if document.needs_pass:
            raise EncryptedPdf("the PDF is encrypted and needs a password")
        count = document.page_count
        if count < 1:
            raise UnreadablePdf("the PDF has no pages; it is probably truncated")
        if count > limits.pages:
            raise PageLimit(f"the PDF has {count} pages, more than the limit of {limits.pages}")
        if document.is_repaired:
            _check_page_tree(document, count)
    except ArticleError:
        document.close()
        raise
    except Exception as error:
        raise_fault(error)
        document.close()
        raise UnreadablePdf(f"the page tree is damaged: {error}") from error
    return document


def _check_page_tree(document: pymupdf.Document, count: int) -> None:
    """Raise `UnreadablePdf` if a repaired file lost the content of most of its pages."""
    readable = 0
    for index in range(count):
        try:
            readable += bool(loaded_page(document, index).read_contents())
        except Exception as error:  # this page is lost; MuPDF's error classes are not documented
            raise_fault(error)
            continue
    if 2 * readable <= count:
        raise UnreadablePdf(f"the PDF is damaged: {count - readable} of {count} pages have no content left")


def loaded_page(document: pymupdf.Document, index: int) -> pymupdf.Page:
    """Return a page of a document; all pages are loaded here.

    A UserUnit of 0 or of thousands makes pages without extent, or as large as a town, of sound page boxes. A page with
    more annotations than `MAX_ANNOTATIONS_PER_PAGE` is loaded without them.

    Raises:
        UnreadablePage: it cannot be loaded, or is smaller or larger than `PAGE_SIDES` allow.
    """
    try:
        _leave_out_annotations(document, index)
        page = document.load_page(index)
        sides = (float(page.rect.width), float(page.rect.height))
    except Exception as error:  # MuPDF's error classes are not documented
        raise_fault(error)
        raise UnreadablePage(f"page {page_number(index)} cannot be loaded: {error}") from error
    if not all(PAGE_SIDES[0] <= side <= PAGE_SIDES[1] for side in sides):
        raise UnreadablePage(f"page {page_number(index)} is {sides[0]:g} x {sides[1]:g} points large")
    return page


def _leave_out_annotations(document: pymupdf.Document, index: int) -> None:
    """Take a page's annotations out of an opened document when there are too many: loading the page would read them."""
    mupdf = pymupdf.mupdf
    page = mupdf.pdf_lookup_page_obj(pymupdf._as_pdf_document(document), index)
    annotations = mupdf.pdf_dict_gets(page, "Annots")
    if mupdf.pdf_is_array(annotations) and mupdf.pdf_array_len(annotations) > MAX_ANNOTATIONS_PER_PAGE:
        mupdf.pdf_dict_dels(page, "Annots")


def link_targets(page: pymupdf.Page, most: int) -> list[str]:
    """Return the addresses outside the document to which the first links of a page lead, in their order.

    PyMuPDF's own `get_links` looks every link up in the list of all: a page with 20,000 of them takes it minutes.
    """
    found: list[str] = []
    link = pymupdf.mupdf.fz_load_links(page.this)
    for _ in range(most):
        if not link.m_internal:
            break
        uri = link.m_internal.uri
        if uri and pymupdf.mupdf.fz_is_external_link(uri) and not uri.startswith("file:"):
            found.append(uri)
        link = link.next()
    return found


def blank_page(index: int) -> PageContent:
    """Return the content of a page that cannot be read."""
    return PageContent(index, *BLANK_SIZE, (), (), np.zeros((0, 4), dtype=np.float64), np.zeros(0, dtype=bool))


def page_content(page: pymupdf.Page, limits: PageLimits = PageLimits()) -> PageContent:
    """Read one page: text lines, bitmap placements (not decoded) and vector drawings, rotated as displayed.

    A page that MuPDF cannot interpret comes back with what could be read.

    Raises:
        PageLimit: more on the page than allowed.
    """
    text = page_text(page, limits)
    matrix = _displaying(page)
    frame = as_box(page.rect)
    bitmaps = _bitmaps(page, matrix, frame, limits)
    drawings, white, shapes = _drawings(page, matrix, frame, limits, [bitmap.bbox for bitmap in bitmaps])
    return replace(text, bitmaps=bitmaps, drawings=drawings, white=white, shapes=shapes)


def page_text(page: pymupdf.Page, limits: PageLimits = PageLimits()) -> PageContent:
    """Read the text lines of one page, without its graphics, which may take far longer.

    Raises:
        PageLimit: more on the page than allowed.
    """
    _check_content_size(page, limits)
    frame = as_box(page.rect)
    lines = _text_lines(page, _displaying(page), (page.rotation // 90) % 4)
    return PageContent(page.number, frame[2] - frame[0], frame[3] - frame[1], lines)


def plain_page_text(page: pymupdf.Page, limits: PageLimits = PageLimits()) -> str:
    """Return the text of one page without its place and type, which takes a third of the time of `page_text`.

    Raises:
        PageLimit: more on the page than allowed.
    """
    _check_content_size(page, limits)
    return str(page.get_text("text", flags=TEXT_FLAGS))


def _displaying(page: pymupdf.Page) -> pymupdf.Matrix | None:
    """Return how a page is turned for display: PyMuPDF reports text, images and drawings in the unrotated page."""
    return page.rotation_matrix if page.rotation else None


def _check_content_size(page: pymupdf.Page, limits: PageLimits) -> None:
    try:
        size = len(page.read_contents())
    except Exception as error:  # unreadable streams are left to the readers below, which tolerate them
        raise_fault(error)
        return
    if size > limits.content_bytes:
        raise PageLimit(
            f"page {page_number(page.number)} has {size} bytes of drawing instructions, more than "
            f"{limits.content_bytes}"
        )


def _displayed(bbox: Sequence[float], matrix: pymupdf.Matrix | None) -> Box:
    if matrix is None:
        x0, y0, x1, y1 = bbox
        return (float(x0), float(y0), float(x1), float(y1))
    return as_box(pymupdf.Rect(bbox) * matrix)


def _moved(point: Point, matrix: pymupdf.Matrix | None) -> Point:
    """Return a point of the page's content as displayed."""
    if matrix is None:
        return point
    moved = pymupdf.Point(point) * matrix
    return (float(moved.x), float(moved.y))


def _text_lines(page: pymupdf.Page, matrix: pymupdf.Matrix | None, page_turns: int) -> tuple[TextLine, ...]:
    try:
        read = page.get_textpage(flags=TEXT_FLAGS)
        blocks = page.get_text("dict", textpage=read)["blocks"]
        texts = [_raw_text(line) for block in blocks for line in block.get("lines", ())]
        if sum(map(len, texts)) <= MAX_GLYPHS and any(map(runs_together, texts)):
            blocks = _with_spaces(page.get_text("rawdict", textpage=read)["blocks"])
    except Exception as error:  # a broken font must not lose the page's graphics
        raise_fault(error)
        return ()
    lines: list[TextLine] = []
    for number, block in enumerate(blocks):
        for raw in block.get("lines", ()):
            line = _text_line(raw, number, matrix, page_turns)
            if line is not None:
                lines.append(line)
    return tuple(lines)


def _raw_text(raw: Mapping[str, Any]) -> str:
    return "".join(span["text"] for span in raw["spans"])


def _with_spaces(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add to each span of MuPDF's raw blocks its text, with the spaces that lines of run-together types lack."""
    lines = [line for block in blocks for line in block.get("lines", ())]
    glyphs = [_glyphs(line) for line in lines]
    narrowest: dict[tuple[str, float], float] = {}
    for line, read in zip(lines, glyphs, strict=True):
        if read is not None and runs_together(read.text) and (space := narrowest_space(read)) is not None:
            style = _style(line)
            narrowest[style] = min(space, narrowest.get(style, space))
    for line, read in zip(lines, glyphs, strict=True):
        space = narrowest.get(_style(line)) if read is not None else None
        missing = set(missing_spaces(read, space)) if read is not None and space is not None else set()
        at = 0
        for span in line["spans"]:
            span["text"] = "".join(
                (" " if number in missing else "") + char["c"] for number, char in enumerate(span["chars"], at)
            )
            at += len(span["chars"])
    return blocks


def _style(raw: Mapping[str, Any]) -> tuple[str, float]:
    """Return the font and size of a raw line's longest span."""
    longest = max(raw["spans"], key=lambda span: len(span["chars"]))
    return str(longest["font"]), round(float(longest["size"]), 2)


def _glyphs(raw: Mapping[str, Any]) -> Glyphs | None:
    """Return the characters of a raw line along its direction; None for a line askew or without any."""
    dx, dy = (round(float(part)) for part in raw["dir"])
    chars = [char for span in raw["spans"] for char in span["chars"]]
    if abs(dx) + abs(dy) != 1 or not chars:
        return None
    low, high = (0, 2) if dx else (1, 3)
    if dx + dy < 0:
        starts, ends = [-char["bbox"][high] for char in chars], [-char["bbox"][low] for char in chars]
    else:
        starts, ends = [char["bbox"][low] for char in chars], [char["bbox"][high] for char in chars]
    return Glyphs("".join(char["c"] for char in chars), starts, ends, _style(raw)[1])


@lru_cache(maxsize=1024)
def _is_bold_name(font: str) -> bool:
    return any(part in font.lower() for part in _BOLD_NAMES)


def _text_line(raw: Mapping[str, Any], block: int, matrix: pymupdf.Matrix | None, page_turns: int) -> TextLine | None:
    spans = []
    weights: dict[tuple[float, bool, str], int] = {}
    text = ""
    for item in raw["spans"]:
        text += item["text"]
        stripped = item["text"].strip()
        if not stripped:
            continue
        name = item["font"]
        bold = bool(item["flags"] & _BOLD_FLAG) or _is_bold_name(name)
        size = round(float(item["size"]), 2)
        spans.append(TextSpan(stripped, _displayed(item["bbox"], matrix), size, bold))
        style = (size, bold, name)
        weights[style] = weights.get(style, 0) + len(stripped)
    if not spans:
        return None
    size, bold, font = max(weights, key=lambda style: weights[style])
    dx, dy = raw["dir"]
    turns = (round(math.degrees(math.atan2(dy, dx)) / 90) + page_turns) % 4
    # Outer white space widens MuPDF's line box, so the box is that of the visible spans.
    box = union_box(span.bbox for span in spans)
    return TextLine(text.strip(), box, size, bold, font, block, turns, tuple(spans))


def _bitmaps(
    page: pymupdf.Page, matrix: pymupdf.Matrix | None, frame: Box, limits: PageLimits
) -> tuple[BitmapPlacement, ...]:
    try:
        # xrefs=True would decode every image for its hash; placements and sizes come without.
        infos = page.get_image_info(hashes=False, xrefs=False)
    except Exception as error:
        raise_fault(error)
        return ()
    if len(infos) > limits.bitmaps:
        raise PageLimit(f"page {page_number(page.number)} has {len(infos)} bitmaps, more than {limits.bitmaps}")
    clips = _image_clips(page) if infos else []
    places = np.array([place for place, _ in clips], dtype=np.float64).reshape(-1, 4)
    placements = []
    for info in infos:
        whole = _displayed(info["bbox"], matrix)
        box = intersection(whole, frame)
        here = np.flatnonzero(np.abs(places - whole).max(axis=1) < 0.01)
        if here.size:
            cut = intersection(box, clips[here[0]][1])
            if max(abs(a - b) for a, b in zip(cut, box, strict=True)) > MIN_CLIPPED:
                box = cut
        if box[2] - box[0] <= 0 or box[3] - box[1] <= 0 or not all(map(math.isfinite, box)):
            continue
        a, b, c, d = info["transform"][:4]
        across, down = math.hypot(a, b), math.hypot(c, d)
        dpi = max(info["width"] / across if across else 0.0, info["height"] / down if down else 0.0) * 72.0
        is_cut = max(abs(a - b) for a, b in zip(box, whole, strict=True)) > 0.01
        placed = whole if is_cut else None
        placements.append(BitmapPlacement(box, int(info["width"]), int(info["height"]), dpi, placed))
    return tuple(placements)


class _ImageClips(pymupdf.mupdf.FzDevice2):  # type: ignore[misc]
    """A drawing device that draws nothing and notes each image's place together with the clip path's box."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[Box, Box]] = []
        self.use_virtual_fill_image()
        self.use_virtual_fill_image_mask()

    def _note(self, ctm: Any) -> None:
        x0, y0, x1, y1 = pymupdf.Rect(0, 0, 1, 1) * pymupdf.Matrix(ctm.a, ctm.b, ctm.c, ctm.d, ctm.e, ctm.f)
        scissor = pymupdf.mupdf.ll_fz_device_current_scissor(self.m_internal)
        self.found.append(((x0, y0, x1, y1), (scissor.x0, scissor.y0, scissor.x1, scissor.y1)))

    def fill_image(self, context: Any, image: Any, ctm: Any, alpha: float, colours: Any) -> None:
        self._note(ctm)

    def fill_image_mask(
        self, context: Any, image: Any, ctm: Any, space: Any, colour: Any, alpha: float, colours: Any
    ) -> None:
        self._note(ctm)


def _image_clips(page: pymupdf.Page) -> list[tuple[Box, Box]]:
    """Return (place, box of the clip path) of each image, points as displayed; no image is decoded for it.

    Pictures are often cropped by a clip path only: their placement reaches far over what the page shows.
    """
    device = _ImageClips()
    try:
        pymupdf.mupdf.fz_run_page(page.this, device, pymupdf.mupdf.FzMatrix(), pymupdf.mupdf.FzCookie())
        pymupdf.mupdf.fz_close_device(device)
    except Exception as error:  # without clips the placements count as they are
        raise_fault(error)
        return []
    return device.found


def _is_white(colour: Sequence[float] | None) -> bool:
    return colour is None or min(colour) > 0.99


def _clipped_paths(entries: Sequence[Mapping[str, Any]]) -> tuple[list[Mapping[str, Any]], list[Box | None]]:
    """Return the paths of an extended drawing list, and for each the box of the clip paths around it (None: none).

    Curves of a plot often run on outside its axes, hidden by a clip path.
    """
    paths: list[Mapping[str, Any]] = []
    clips: list[Box | None] = []
    around: list[tuple[int, Box]] = []
    for entry in entries:
        level = entry["level"]
        while around and around[-1][0] >= level:
            around.pop()
        if entry["type"] == "clip":
            x0, y0, x1, y1 = entry["scissor"]
            outer = around[-1][1] if around else (-math.inf, -math.inf, math.inf, math.inf)
            around.append((level, (max(x0, outer[0]), max(y0, outer[1]), min(x1, outer[2]), min(y1, outer[3]))))
        elif entry["type"] != "group":
            paths.append(entry)
            clips.append(around[-1][1] if around else None)
    return paths, clips


def _drawings(
    page: pymupdf.Page, matrix: pymupdf.Matrix | None, frame: Box, limits: PageLimits, bitmaps: Sequence[Box]
) -> tuple[NDArray[np.float64], NDArray[np.bool_], tuple[VectorShape, ...]]:
    """Return the boxes (n, 4) of the visible vector paths, which of them paint only white, (n,), and shapes."""
    try:
        entries = page.get_cdrawings(extended=True)  # with clip paths
    except Exception as error:
        raise_fault(error)
        entries = []
    paths, clips = _clipped_paths(entries)
    if len(paths) > limits.drawings:
        raise PageLimit(f"page {page_number(page.number)} has {len(paths)} vector paths, more than {limits.drawings}")
    boxes = np.empty((len(paths), 4), dtype=np.float64)
    white = np.zeros(len(paths), dtype=bool)
    for k, path in enumerate(paths):
        x0, y0, x1, y1 = path["rect"]
        kind = path["type"]
        fill_white, stroke_white = True, True
        if "f" in kind:
            fill_white = _is_white(path.get("fill")) or path.get("fill_opacity") == 0
        if "s" in kind:
            half = (path.get("width") or 0.0) / 2
            x0, y0, x1, y1 = x0 - half, y0 - half, x1 + half, y1 + half
            stroke_white = _is_white(path.get("color")) or path.get("stroke_opacity") == 0
        white[k] = fill_white and stroke_white
        clip = clips[k]
        if clip is not None:
            if x0 > clip[2] or x1 < clip[0] or y0 > clip[3] or y1 < clip[1]:
                x0 = y0 = x1 = y1 = math.nan  # nothing of it is seen
            x0, y0, x1, y1 = max(x0, clip[0]), max(y0, clip[1]), min(x1, clip[2]), min(y1, clip[3])
        boxes[k] = (x0, y0, x1, y1)
    if matrix is not None and len(boxes):
        boxes = np.array([_displayed(box, matrix) for box in boxes.tolist()], dtype=np.float64)
    np.clip(boxes[:, 0::2], frame[0], frame[2], out=boxes[:, 0::2])
    np.clip(boxes[:, 1::2], frame[1], frame[3], out=boxes[:, 1::2])
    shapes = shapes_on_bitmaps(paths, boxes, bitmaps, partial(_moved, matrix=matrix)) if bitmaps and paths else ()
    visible = np.isfinite(boxes).all(axis=1) & ((boxes[:, 2] > boxes[:, 0]) | (boxes[:, 3] > boxes[:, 1]))
    return boxes[visible], white[visible], shapes
