"""Figures that recognition gets wrong on articles, typeset with exact truth: drawings with pictures, maps, volumes.

Classes: screenshots, schematic networks and flow charts with true pictures inside; grids of saliency maps with heads of
rows and columns; B-scans beside en-face pictures and renderings of volumes; scans of low contrast. Each figure is made
of pictures of the retina of one of two groups of sources (`SOURCES`), on a page with its caption, once as a PDF knows
it (bitmaps, strokes, live text) and once as one flat picture. By the annotation guide the images of a drawing are the
pictures in it; a saliency map has the type of the picture under it; a rendering of a volume is Retinal Imaging.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import cv2
import numpy as np
import pymupdf
from PIL import Image

from pmo_assets.records.geometry import Box, normalise, union_box
from pmo_assets.records.image_types import ImageType
from pmo_assets.samples.drawing import Pixels, Rng, cloud, false_colours, grey_of, grey_picture, one_of
from pmo_assets.training.synthetic.picture_folders import read_picture

Shown = Literal["CFP", "OCT", "en face", "angiogram"]
Half = Literal["development", "held out"]

SOURCES: Mapping[Half, Mapping[Shown, Sequence[str]]] = {
    "development": {
        "CFP": ("idrid_mini",), "OCT": ("octdl_sample",), "en face": ("octa_faz_zenodo5075194",),
        "angiogram": ("huapu4_FFA/FA_venous", "huapu4_FFA/FA_arterial"),
    },
    "held out": {
        "CFP": ("rop_ridge_mini", "chase_db1_mini"), "OCT": ("halirutan_spectralis/OCT",),
        "en face": ("javimdr_fa_octa/OCTA_enface", "cnzakimuena_FVanalysis/OCTA_enface"),
        "angiogram": ("javimdr_fa_octa/FA",),
    },
}  # fmt: skip
"""Folders of licensed pictures; rules were made with the first half in view. (The networks have learnt from some of
both.)"""

TYPES: Mapping[Shown, ImageType] = {
    "CFP": "CFP", "OCT": "OCT", "en face": "Retinal Imaging", "angiogram": "Retinal Imaging",
}  # fmt: skip

FRAME: Box = (60.0, 90.0, 535.0, 400.0)
"""Part of the page that a figure may take, points."""

WORDS = (
    "Input", "Encoder", "Decoder", "Skip", "Dense", "Conv 3x3", "Pool", "Softmax", "Loss", "Preprocess", "Crop",
    "Resize", "Segment", "Classify", "Report", "Normalise", "Register", "Grade", "Train", "Validate", "Features",
    "Score", "Output", "Refer", "Recall", "Exclude", "Augment", "Fuse",
)  # fmt: skip
PROSE = (
    "the network learns features of vessels from images with few labels and its loss is a weighted sum of region and "
    "boundary terms that we minimise by gradient descent on random patches of each training set while the remaining "
    "pictures serve for validation as described in previous work on similar problems of low contrast "
)

Pictures = Mapping[Shown, Sequence[Pixels]]
Rgb = tuple[float, float, float]


@dataclass(frozen=True)
class TrueImage:
    """An image as it was placed: box in points of the page, type, and what it is."""

    box: Box
    image_type: ImageType
    what: str


@dataclass
class Sheet:
    """A page under way."""

    page: pymupdf.Page
    rng: Rng
    pictures: Pictures
    images: list[TrueImage] = field(default_factory=list)
    ink: list[Box] = field(default_factory=list)

    def place(self, pixels: Pixels, box: Box, image_type: ImageType | None, what: str) -> None:
        """Place a bitmap; with a type it is an image of the truth."""
        data = io.BytesIO()
        Image.fromarray(pixels).save(data, "JPEG", quality=88)
        self.page.insert_image(pymupdf.Rect(box), stream=data.getvalue(), keep_proportion=False)
        self.ink.append(box)
        if image_type is not None:
            self.images.append(TrueImage(box, image_type, what))

    def picture(self, shown: Shown, box: Box) -> Pixels:
        """Place a picture of the retina, cut to the box's proportions, and return it."""
        pixels = fitted(one_of(self.rng, self.pictures[shown]), (box[2] - box[0]) / (box[3] - box[1]))
        self.place(pixels, box, TYPES[shown], shown)
        return pixels

    def words(self, x: float, y: float, text: str, size: float = 7.0, colour: Rgb = (0, 0, 0), turn: int = 0) -> None:
        """Print a line with its baseline at y; turned by 90 it runs upwards."""
        self.page.insert_text((x, y), text, fontname="helv", fontsize=size, color=colour, rotate=turn)
        long = pymupdf.Font("helv").text_length(text, size)
        self.ink.append((x - size, y - long, x, y) if turn else (x, y - size, x + long, y))

    def block(self, box: Box, fill: Rgb | None, line: Rgb | None = (0.2, 0.2, 0.2), text: str = "") -> None:
        """Draw a rectangle, with a word in its middle."""
        self.page.draw_rect(pymupdf.Rect(box), color=line, fill=fill, width=0.6)
        self.ink.append(box)
        if text:
            size = 6.5
            long = pymupdf.Font("helv").text_length(text, size)
            self.words((box[0] + box[2] - long) / 2, (box[1] + box[3] + size * 0.7) / 2, text, size)

    def arrow(self, first: tuple[float, float], last: tuple[float, float]) -> None:
        """Draw a line with a head at its end, along an axis or oblique."""
        self.page.draw_line(first, last, color=(0.2, 0.2, 0.2), width=0.8)
        along = np.asarray(last) - np.asarray(first)
        along = along / max(float(np.hypot(*along)), 1e-6)
        across = np.asarray([-along[1], along[0]])
        corners = [
            np.asarray(last) - 4 * along + 2 * across,
            np.asarray(last),
            np.asarray(last) - 4 * along - 2 * across,
        ]
        self.page.draw_polyline(
            [pymupdf.Point(*c.tolist()) for c in corners], color=None, fill=(0.2, 0.2, 0.2), closePath=True
        )
        self.ink.append(union_box([(*first, *first), (*last, *last)]))


def fitted(pixels: Pixels, aspect: float) -> Pixels:
    """Return the middle part of a picture that has these proportions."""
    tall, wide = pixels.shape[:2]
    w, h = min(wide, round(tall * aspect)), min(tall, round(wide / aspect))
    left, top = (wide - w) // 2, (tall - h) // 2
    return np.ascontiguousarray(pixels[top : top + h, left : left + w])


def _pale(rng: Rng) -> Rgb:
    red, green, blue = (float(v) for v in rng.uniform(0.7, 1.0, 3))
    return (red, green, blue)


def screenshot(sheet: Sheet) -> str:
    """A window of a program: bars, buttons, a list, a picture or two."""
    rng = sheet.rng
    dark = bool(rng.random() < 0.5)
    ground: Rgb = (0.16, 0.17, 0.2) if dark else (0.94, 0.94, 0.95)
    ink: Rgb = (0.9, 0.9, 0.9) if dark else (0.1, 0.1, 0.1)
    left, top, right = FRAME[0] + 30, FRAME[1], FRAME[2] - 30
    bottom = top + float(rng.uniform(210, 280))
    sheet.block((left, top, right, bottom), ground, (0.3, 0.3, 0.3))
    sheet.block((left, top, right, top + 14), (0.25, 0.45, 0.7), None)
    sheet.words(left + 6, top + 10, "RetinaView 2.1 - patient 0134", 7, (1, 1, 1))
    for k, text in enumerate(("File", "Edit", "View", "Analysis", "Help")):
        sheet.words(left + 8 + 34 * k, top + 24, text, 6.5, ink)
    side = left + float(rng.uniform(80, 110))
    for k in range(int(rng.integers(4, 9))):
        y = top + 36 + 20 * k
        if y + 16 > bottom - 6:
            break
        sheet.block((left + 6, y, side - 8, y + 15), (0.8, 0.82, 0.86), (0.4, 0.4, 0.4), one_of(rng, WORDS))
    shown: Sequence[Shown] = one_of(rng, (("CFP", "OCT"), ("CFP",), ("OCT", "en face"), ("angiogram", "OCT")))
    wide = (right - side - 8 * len(shown)) / len(shown)
    tall = min(bottom - top - 76, wide)
    for k, kind in enumerate(shown):
        x = side + k * (wide + 8)
        high = tall if kind != "OCT" else tall * 0.62
        sheet.picture(kind, (x, top + 34, x + wide, top + 34 + high))
    sheet.words(side, bottom - 26, "Image quality: 8/10   Eye: OD   Visit: 3", 6.5, ink)
    sheet.words(side, bottom - 14, "Cup/disc 0.42   Thickness 281 um", 6.5, ink)
    return "Graphical user interface of the program for grading retinal images, with the list of functions on the left."


def network(sheet: Sheet) -> str:
    """A schematic network: a picture goes in, blocks of layers, a picture comes out."""
    rng = sheet.rng
    kind: Shown = one_of(rng, ("CFP", "OCT", "angiogram"))
    left, middle = FRAME[0], FRAME[1] + 90
    side = float(rng.uniform(75, 100))
    high = side if kind != "OCT" else side * 0.7
    sheet.picture(kind, (left, middle - high / 2, left + side, middle + high / 2))
    x, count = left + side + 22, int(rng.integers(5, 9))
    sheet.arrow((left + side + 2, middle), (x - 2, middle))
    step = (FRAME[2] - side - 28 - x) / count
    for k in range(count):
        half = 70 * (0.25 + 0.75 * abs(2 * k / (count - 1) - 1))
        fill = _pale(rng)
        for depth in range(int(rng.integers(1, 4))):
            sheet.block(
                (x + 3 * depth, middle - half + 3 * depth, x + 3 * depth + step * 0.4, middle + half - 3 * depth), fill
            )
        sheet.words(x, middle + half + 9, str(2 ** (4 + k % 5)), 5.5)
        if k:
            sheet.arrow((x - step * 0.42, middle), (x - 1, middle))
        x += step
    sheet.picture(kind, (FRAME[2] - side, middle - high / 2, FRAME[2], middle + high / 2))
    for k in range(3):
        y = middle + 95 + 12 * k
        sheet.block((left, y, left + 10, y + 8), _pale(rng))
        sheet.words(left + 14, y + 7, one_of(rng, WORDS), 6.5)
    sheet.words(left, middle - high / 2 - 5, "Input", 7)
    sheet.words(FRAME[2] - side, middle - high / 2 - 5, "Output", 7)
    return "Architecture of the proposed network. Numbers give the channels of each block."


def flow_chart(sheet: Sheet) -> str:
    """Boxes with words and arrows, two to four pictures among them."""
    rng = sheet.rng
    columns, rows = 4, 3
    wide, tall = (FRAME[2] - FRAME[0]) / columns, 85.0
    chosen = {
        (int(i) // columns, int(i) % columns)
        for i in rng.choice(columns * rows, int(rng.integers(2, 5)), replace=False)
    }
    kinds: Sequence[Shown] = one_of(rng, (("CFP",), ("CFP", "OCT"), ("OCT", "angiogram")))
    for row in range(rows):
        for column in range(columns):
            x, y = FRAME[0] + column * wide, FRAME[1] + row * tall
            if (row, column) in chosen:
                sheet.picture(one_of(rng, kinds), (x + 14, y + 6, x + wide - 22, y + tall - 14))
            else:
                sheet.block((x + 8, y + 20, x + wide - 18, y + tall - 28), _pale(rng), text=one_of(rng, WORDS))
            if column:
                sheet.arrow((x - 14, y + tall / 2 - 4), (x + 6, y + tall / 2 - 4))
        if row:
            y = FRAME[1] + row * tall
            sheet.arrow((FRAME[0] + wide / 2, y - 16), (FRAME[0] + wide / 2, y + 4))
    return "Flow chart of the study: acquisition of images, reading, and classification of eyes."


def laid_over(rng: Rng, pixels: Pixels, colours: int) -> Pixels:
    """Return a picture under a map of attention."""
    tall, wide = pixels.shape[:2]
    level = cv2.GaussianBlur(
        np.maximum(cloud(rng, wide, tall, float(rng.uniform(3, 6))), 0), (0, 0), min(tall, wide) / 14
    )
    level = (255 * level / max(float(level.max()), 1e-6)).astype(np.uint8)
    share = float(rng.uniform(0.35, 0.55))
    return np.asarray(share * false_colours(level, colours) + (1 - share) * pixels, dtype=np.uint8)


def saliency(sheet: Sheet) -> str:
    """A grid: the first column pictures, the others maps over them, with heads of rows and columns."""
    rng = sheet.rng
    kind: Shown = one_of(rng, ("CFP", "OCT", "angiogram"))
    rows, columns = int(rng.integers(2, 4)), int(rng.integers(3, 5))
    wide = min(105.0, (FRAME[2] - FRAME[0] - 24) / columns - 4)
    tall = wide if kind != "OCT" else wide * 0.65
    colours = one_of(rng, (cv2.COLORMAP_JET, cv2.COLORMAP_JET, cv2.COLORMAP_TURBO))
    heads = ("Original", "Grad-CAM", "Occlusion", "LIME", "SHAP")
    turned = bool(rng.random() < 0.5)
    for row in range(rows):
        y = FRAME[1] + 12 + row * (tall + 4)
        name = one_of(rng, ("Normal", "Mild", "Severe", "Case 1", "Case 2", "AMD", "DME"))
        if turned:
            sheet.words(FRAME[0] + 10, y + tall / 2 + 12, name, 7, turn=90)
        else:
            sheet.words(FRAME[0] - 14, y + tall / 2, name, 7)
        pixels = fitted(one_of(rng, sheet.pictures[kind]), wide / tall)
        for column in range(columns):
            x = FRAME[0] + 22 + column * (wide + 4)
            if row == 0:
                sheet.words(x + wide / 2 - 14, FRAME[1] + 8, heads[column], 7)
            shown = pixels if column == 0 else laid_over(rng, pixels, colours)
            what = kind if column == 0 else f"{kind} under a map"
            sheet.place(shown, (x, y, x + wide, y + tall), TYPES[kind], what)
    return "Maps of what the network attends to in eyes of three grades, by four methods of explanation."


def rendered_volume(scan: Pixels, face: Pixels, side: int = 260) -> Pixels:
    """Return a cube on black: a B-scan in front and at its side, an en-face picture above."""
    canvas = np.zeros((side, side, 3), np.uint8)
    front = np.asarray([(15, 100), (165, 130), (165, 245), (15, 215)], np.float32)
    top = np.asarray([(15, 100), (100, 35), (245, 60), (165, 130)], np.float32)
    flank = np.asarray([(165, 130), (245, 60), (245, 170), (165, 245)], np.float32)
    for pixels, corners in ((face, top), (scan, front), (scan, flank)):
        tall, wide = pixels.shape[:2]
        own = np.asarray([(0, 0), (wide, 0), (wide, tall), (0, tall)], np.float32)
        move = cv2.getPerspectiveTransform(own, corners * side / 260)
        laid = cv2.warpPerspective(pixels, move, (side, side))
        inside = cv2.warpPerspective(np.full((tall, wide), 255, np.uint8), move, (side, side)) > 128
        canvas[inside] = laid[inside]
    return canvas


def volumes(sheet: Sheet) -> str:
    """B-scans, an en-face picture and a rendering of the volume side by side, with letters."""
    rng = sheet.rng
    order: list[str] = ["OCT", "en face", "volume", "OCT"]
    rng.shuffle(order)
    order = order[: int(rng.integers(3, 5))]
    order = order if "volume" in order else [*order[:-1], "volume"]
    wide = (FRAME[2] - FRAME[0]) / len(order) - 8
    said = []
    for k, what in enumerate(order):
        x, letter = FRAME[0] + k * (wide + 8), "abcd"[k]
        sheet.words(x, FRAME[1] + 8, f"({letter})", 9)
        box = (x, FRAME[1] + 14, x + wide, FRAME[1] + 14 + wide)
        if what == "volume":
            face, scan = one_of(rng, sheet.pictures["en face"]), one_of(rng, sheet.pictures["OCT"])
            cube = rendered_volume(grey_picture(grey_of(scan)), face)
            sheet.place(cube, box, "Retinal Imaging", "volume")
            said.append(f"({letter}) Rendering of the volume.")
        else:
            shown: Shown = "OCT" if what == "OCT" else "en face"
            sheet.picture(shown, box)
            said.append(f"({letter}) {'B-scan through the fovea.' if what == 'OCT' else 'En face projection.'}")
    return "Images of the macula of one eye. " + " ".join(said)


def low_contrast(sheet: Sheet) -> str:
    """Scans of low contrast, some cut to their layers; the caption names what they are, or not."""
    rng = sheet.rng
    count = int(rng.integers(2, 4))
    wide = (FRAME[2] - FRAME[0]) / count - 8
    for k in range(count):
        pixels = one_of(rng, sheet.pictures["OCT"])
        tall = pixels.shape[0]
        part = pixels[int(tall * rng.uniform(0.1, 0.3)) : int(tall * rng.uniform(0.65, 0.95))].astype(np.float32)
        grain = rng.normal(0, 6, part.shape[:2])[:, :, None]
        part = cv2.GaussianBlur(part * rng.uniform(0.2, 0.45) + rng.uniform(10, 110) + grain, (0, 0), 0.8)
        pixels = np.clip(part, 0, 255).astype(np.uint8)
        high = wide * pixels.shape[0] / pixels.shape[1]
        x = FRAME[0] + k * (wide + 8)
        sheet.words(x, FRAME[1] + 8, f"({'abc'[k]})", 9)
        sheet.place(pixels, (x, FRAME[1] + 14, x + wide, FRAME[1] + 14 + high), "OCT", "scan of low contrast")
    letters = "abc"[:count]
    patients = ", ".join(f"({letter}) patient {letter.upper()}" for letter in letters)
    months = ", ".join(f"({letter}) month {k}" for k, letter in enumerate(letters))
    captions = (
        f"Scans of the right eye of three patients with cloudy media at baseline: {patients}.",
        f"OCT of eyes with dense cataract: {patients}.",
        f"Retinal layers of the right eye before and after treatment: {months}.",
    )
    return one_of(rng, captions)


CLASSES: Mapping[str, Callable[[Sheet], str]] = {
    "screenshots": screenshot, "schematic networks": network, "flow charts": flow_chart, "saliency maps": saliency,
    "volumes and en face": volumes, "low contrast": low_contrast,
}  # fmt: skip


@dataclass(frozen=True)
class HardFigure:
    """A page with a figure: the PDF, the figure's box in points, and its true images, normalised to it."""

    pdf: bytes
    frame: Box
    images: Sequence[TrueImage]


def read_sources(folder: Path, half: Half) -> Pictures:
    """Return the pictures of a half of the sources, by what they show."""
    found = {
        shown: [
            p for name in names for path in sorted((folder / name).iterdir()) if (p := read_picture(path)) is not None
        ]
        for shown, names in SOURCES[half].items()
    }
    missing = [shown for shown, pictures in found.items() if not pictures]
    if missing:
        raise SystemExit(f"no pictures for {', '.join(missing)} below {folder}")
    return found


def hard_figure(name: str, seed: int, pictures: Pictures, *, flat: bool) -> HardFigure:
    """Return the page of a class and a seed; the same figure, live or as one flat picture."""
    with pymupdf.open() as document, pymupdf.open() as other:
        page = document.new_page(width=595, height=842)
        alone = other.new_page(width=595, height=842)
        sheet = Sheet(alone if flat else page, np.random.default_rng([seed, *name.encode()]), pictures)
        caption = CLASSES[name](sheet)
        frame = union_box([*sheet.ink, *(image.box for image in sheet.images)])
        if flat:
            data = alone.get_pixmap(dpi=200, clip=pymupdf.Rect(frame)).tobytes("jpeg", jpg_quality=88)
            page.insert_image(pymupdf.Rect(frame), stream=data, keep_proportion=False)
        page.insert_textbox((60, 40, 535, 82), PROSE, fontname="tiro", fontsize=9)
        page.insert_textbox(
            (60, frame[3] + 10, 535, frame[3] + 46), f"Figure 1. {caption}", fontname="tiro", fontsize=8.5
        )
        page.insert_textbox((60, frame[3] + 60, 535, 800), PROSE * 8, fontname="tiro", fontsize=9.5)
        pdf = document.tobytes(garbage=3, deflate=True)
    images = [TrueImage(normalise(image.box, frame), image.image_type, image.what) for image in sheet.images]
    return HardFigure(pdf, frame, images)
