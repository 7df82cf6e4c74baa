"""Pictures from which synthetic figures are composed, by image type and part of the data.

Sources: a folder of retinal images (one sub-folder per image type or known data set), the separate bitmaps of articles
that show no retina (type Other), the stand-ins that the samples room draws, and variants that turn one type into
another (the green channel of a fundus photograph stands in for red-free and autofluorescence pictures). Nothing is
fetched.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import cv2
import numpy as np
import pymupdf

from pmo_assets.records.image_types import IMAGE_TYPES, ImageType
from pmo_assets.records.modalities import TYPE_OF_MODALITY
from pmo_assets.samples.drawing import Pixels, false_colours, grey_of, grey_picture, one_of
from pmo_assets.samples.pictures import autofluorescence, fluorescein_angiogram, fundus_photograph, oct_scan
from pmo_assets.training.synthetic.drawings import FILLED_KINDS, drawn
from pmo_assets.training.synthetic.layouts import Split, split_of
from pmo_assets.training.synthetic.picture_folders import folder_modality, no_larger, plain_name, read_picture


@dataclass(frozen=True, slots=True)
class DataSet:
    """A folder of licensed images, as `SOURCE.txt` in it (or above it) names origin and licence.

    Attributes:
        folder: below the folder of images; its last name tells the modality of all of it (`folder_modality`).
        part: the part of the data that all of it belongs to, where another source shows the same modality; None where
            it is the only one: then eyes, or patients, are divided.
        outlined: outlines in colour were drawn on its grey pictures (`without_outlines`).
    """

    folder: str
    part: Split | None = None
    outlined: bool = False

    @property
    def image_type(self) -> ImageType:
        """The type of its pictures."""
        modality = folder_modality(self.folder.rpartition("/")[2])
        if modality is None:
            raise ValueError(f"the name of {self.folder} does not say what it shows: add it to `FOLDERS`")
        return TYPE_OF_MODALITY[modality]


DATA_SETS = (
    DataSet("chase_db1_mini"),
    DataSet("idrid_mini"),
    DataSet("rop_ridge_mini"),
    DataSet("octdl_sample", outlined=True),
    DataSet("octa_faz_zenodo5075194"),
    DataSet("sraashis_vevio/video_frame"),
    DataSet("halirutan_spectralis/OCT", "train"),
    # fluorescein angiography, and grey frames before the dye
    DataSet("huapu4_FFA/FA_arterial", "train"),
    DataSet("huapu4_FFA/FA_venous", "train"),
    DataSet("huapu4_FFA/FA_disease", "train"),
    DataSet("huapu4_FFA/non_ffa", "train"),
    DataSet("javimdr_fa_octa/FA", "test"),
    # OCT angiography en face
    DataSet("clausvdb_OpenOCTA/OCTA_enface", "train"),
    DataSet("cnzakimuena_FVanalysis/OCTA_enface", "validation"),
    DataSet("linus_octa_synthetic/OCTA_synthetic", "train"),
    DataSet("javimdr_fa_octa/OCTA_enface", "test"),
    # infrared scanning laser ophthalmoscopy; thickness maps
    DataSet("halirutan_spectralis/IR_SLO", "train"),
    DataSet("retimat/IR_SLO", "test"),
    DataSet("retimat/thickness_map"),
    # adaptive optics
    DataSet("brainardlab_AOautomontage/AO", "train"),
    DataSet("nei_pgan/AO_OCT", "train"),
    DataSet("arikan_aoreg/AO_frame", "validation"),
    DataSet("nei_stratified_cyclegan/AO_ICG", "test"),
    DataSet("nei_stratified_cyclegan/ICGA_spectralis30", "train"),
    # ultra-widefield pictures and montages
    DataSet("sraashis_avwide/UWF"),
    DataSet("sraashis_vevio/mosaic"),
)
"""Folders of licensed images; the last name of each tells the modality of its pictures."""

OUTLINE_SATURATION = 20
"""Levels by which the channels of a coloured line differ at least; compression leaves less on grey pictures."""

TURNED = 0.4
"""Share of pictures of the type Retinal Imaging for which a fundus photograph in other colours stands in."""


@dataclass(frozen=True, slots=True, eq=False)
class PoolPicture:
    """One picture: pixels (height, width, 3) uint8 RGB, its type, the source that must not be split, and its part.

    `part` is that of a whole data set (`DataSet`); None: the group decides.
    """

    pixels: Pixels
    image_type: ImageType
    group: str
    part: Split | None = None


def licensed_pictures(folder: Path) -> Iterator[PoolPicture]:
    """Yield the pictures below a folder: those of `DATA_SETS`, then those of sub-folders named like an image type.

    Sub-folders: `CFP`, `OCT`, `Retinal Imaging` and `Other`, in upper or lower case, with "_" or "-" for the space,
    each with PNG, JPEG or TIFF files, one picture each. Each file counts as a source of its own, by its name without
    the ending: that decides to which part of the data it belongs. What is missing or unreadable is passed over.

    Raises:
        ValueError: when the folder is missing or no picture was found in it.
    """
    found = False
    for picture in chain(_of_data_sets(folder), _of_types(folder)):
        found = True
        yield picture
    if not found:
        raise ValueError(
            f"{'no picture' if folder.is_dir() else 'no such folder'}: {folder} should have sub-folders named "
            f"{', '.join(IMAGE_TYPES)} (any of them) with PNG, JPEG or TIFF files"
        )


def _of_types(folder: Path) -> Iterator[PoolPicture]:
    for image_type in IMAGE_TYPES:
        for place in sorted(folder.iterdir()) if folder.is_dir() else ():
            if plain_name(place.name) != image_type.casefold() or not place.is_dir():
                continue
            for path in sorted(place.iterdir()):
                pixels = read_picture(path)
                if pixels is not None:
                    yield PoolPicture(pixels, image_type, f"{image_type}/{path.stem}")


def _of_data_sets(folder: Path) -> Iterator[PoolPicture]:
    for data in DATA_SETS:
        for path in sorted((folder / data.folder).glob("*.*")):
            pixels = read_picture(path)
            if pixels is not None:
                pixels = without_outlines(pixels) if data.outlined else pixels
                group = f"{data.folder}/{_subject(data.folder, path.stem)}"
                yield PoolPicture(pixels, data.image_type, group, data.part)


def without_outlines(pixels: Pixels) -> Pixels:
    """Return a grey (height, width, 3) uint8 picture without the coloured lines that were drawn on it, painted over.

    They would be marks on pictures that count as unmarked.
    """
    coloured = pixels.max(axis=2).astype(np.int16) - pixels.min(axis=2) > OUTLINE_SATURATION
    mask = cv2.dilate(coloured.astype(np.uint8), np.ones((3, 3), np.uint8))
    return grey_picture(np.asarray(cv2.inpaint(grey_of(pixels), mask, 3, cv2.INPAINT_TELEA), dtype=np.uint8))


def _subject(folder: str, stem: str) -> str:
    """Return the part of a picture's name that names its eye or patient.

    Copies of one eye (rotated, mirrored, its two plexuses) share a number; scans share a patient.
    """
    if folder.startswith("sraashis_vevio"):  # several eyes of an infant, each as a frame and as a montage
        return stem.split("_")[1][:5] if "_" in stem else stem
    numbers = re.findall(r"\d{2,}", stem)
    return numbers[0] if folder == "octdl_sample" and numbers else numbers[-1] if numbers else stem


def unannotated_articles(articles: Path, annotations: Path | None) -> list[str]:
    """Return the ids of articles (`articles/<id>/article.pdf`) without annotations (`annotations/<id>.json`), sorted.

    Annotated articles are measured on, and show retinas: their bitmaps are nobody's pictures of another kind.
    """
    annotated = {path.stem for path in annotations.glob("*.json")} if annotations is not None else set()
    return sorted({path.parent.name for path in articles.glob("*/article.pdf")} - annotated)


def article_pictures(folder: Path, articles: Sequence[str]) -> Iterator[PoolPicture]:
    """Yield the continuous-tone bitmaps of articles' PDFs (`folder/<article>/article.pdf`) as type Other.

    Args:
        folder: articles by id.
        articles: ids of articles that show no retinal image.
    """
    for article in articles:
        path = folder / article / "article.pdf"
        if not path.exists():
            continue
        with pymupdf.open(path) as document:
            numbers = dict.fromkeys(info[0] for page in document for info in page.get_images(full=True))
            for number in numbers:
                try:
                    pixmap = pymupdf.Pixmap(document, number)
                    if pixmap.alpha:
                        pixmap = pymupdf.Pixmap(pixmap, 0)
                    if pixmap.colorspace is None or min(pixmap.width, pixmap.height) < 120:
                        continue
                    if pixmap.colorspace.n != 3:
                        pixmap = pymupdf.Pixmap(pymupdf.csRGB, pixmap)
                except (RuntimeError, ValueError):
                    continue  # an unreadable bitmap is no loss
                pixels = np.frombuffer(pixmap.samples, np.uint8).reshape(pixmap.height, pixmap.width, 3)
                if float((pixels.min(axis=2) < 230).mean()) > 0.55 and float(pixels.std()) > 12:
                    yield PoolPicture(no_larger(pixels), "Other", article)


class PicturePool:
    """Random pictures by type: real ones of one part of the data, varied, and drawn stand-ins."""

    def __init__(self, pictures: Sequence[PoolPicture], split: Split | None = None, real_share: float = 0.85) -> None:
        """Keep the pictures of one part of the data.

        Args:
            pictures: all pictures; their groups decide to which part they belong.
            split: None for all.
            real_share: share of real pictures where there are some; the others are drawn stand-ins.
        """
        self.real_share = real_share
        self.by_type: dict[ImageType, list[Pixels]] = {image_type: [] for image_type in IMAGE_TYPES}
        for picture in pictures:
            if split is None or (picture.part or split_of(picture.group)) == split:
                self.by_type[picture.image_type].append(picture.pixels)

    def picture(self, rng: np.random.Generator, image_type: ImageType, width: int, height: int) -> Pixels:
        """Return a (height, width, 3) picture of a type that fills its frame."""
        pictures = self.by_type[image_type]
        turned = image_type == "Retinal Imaging" and bool(self.by_type["CFP"]) and rng.random() < TURNED
        if turned:
            pictures = self.by_type["CFP"]
        if not pictures or rng.random() >= self.real_share:
            return _STAND_INS[image_type](rng, width, height)
        pixels = framed(rng, one_of(rng, pictures), width, height, image_type)
        if turned:
            return as_retinal_imaging(rng, pixels)
        pixels = varied(rng, pixels, 0.05 if image_type == "CFP" else 0.03)
        return recoloured_oct(rng, pixels) if image_type == "OCT" else pixels


def varied(rng: np.random.Generator, pixels: Pixels, tint: float) -> Pixels:
    """Return a picture mirrored at random, with other contrast, brightness and white balance."""
    if rng.random() < 0.5:
        pixels = pixels[:, ::-1]
    gamma, gain = float(np.exp(rng.normal(0, 0.22))), float(np.exp(rng.normal(0, 0.12)))
    scale = np.exp(rng.normal(0, tint, 3))
    levels = np.arange(256) / 255
    table = np.stack([np.clip(255 * gain * s * levels**gamma, 0, 255) for s in scale], axis=1).astype(np.uint8)
    return np.asarray(cv2.LUT(np.ascontiguousarray(pixels), table[None]), dtype=np.uint8)


def as_retinal_imaging(rng: np.random.Generator, photograph: Pixels) -> Pixels:
    """Turn a fundus photograph into a stand-in for red-free, autofluorescence, angiography or widefield pictures."""
    style = rng.choice(["red-free", "inverted", "angiogram", "infrared", "widefield"])
    green, red = np.ascontiguousarray(photograph[:, :, 1]), np.ascontiguousarray(photograph[:, :, 0])
    if style == "widefield":
        tint = np.asarray([(0.55, 0.95, 0.35), (0.9, 0.55, 0.2), (0.35, 0.7, 0.45)][int(rng.integers(3))], np.float32)
        grey = green.astype(np.float32)[:, :, None] * 0.7 + red.astype(np.float32)[:, :, None] * 0.3
        picture = np.clip(grey * tint * 1.5, 0, 255).astype(np.uint8)
        y, x = np.mgrid[-1 : 1 : picture.shape[0] * 1j, -1 : 1 : picture.shape[1] * 1j]
        picture[(np.abs(x) ** 2.6 + np.abs(y) ** 2.6 * 1.3 + 0.1 * np.sin(9 * x)) > 1] = 0
        return picture
    plane = red if style == "infrared" else np.asarray(cv2.createCLAHE(2.5, (8, 8)).apply(green))
    field = green > 14
    if style in ("inverted", "angiogram"):
        plane = np.where(field, 255 - plane, 0).astype(np.uint8)
        if style == "angiogram":
            plane = np.clip((plane.astype(np.float32) - 70) * 1.7, 0, 255).astype(np.uint8)
    plane = np.clip(plane.astype(np.float32) * rng.uniform(0.6, 1.25), 0, 255).astype(np.uint8)
    picture = grey_picture(plane)
    return np.ascontiguousarray(picture[:, ::-1] if rng.random() < 0.5 else picture)


def recoloured_oct(rng: np.random.Generator, scan: Pixels) -> Pixels:
    """Return a scan in one of the colour schemes of OCT devices: grey, inverted, rainbow on black, green."""
    grey = grey_of(scan)
    style = rng.random()
    if style < 0.6:
        return grey_picture(grey)
    if style < 0.72:
        return grey_picture(255 - grey)
    if style < 0.9:
        rainbow = false_colours(grey, cv2.COLORMAP_JET)
        return np.asarray(rainbow * np.clip(grey[:, :, None] / rng.uniform(60, 120), 0, 1), dtype=np.uint8)
    return np.asarray(np.stack([grey * 0.4, grey * 0.9, grey * 0.3], axis=2), dtype=np.uint8)


def framed(rng: np.random.Generator, pixels: Pixels, width: int, height: int, image_type: ImageType) -> Pixels:
    """Return a part of a picture, of the frame's proportions, scaled to it; OCT scans may be stretched."""
    tall, wide = pixels.shape[:2]
    goal = width / max(1, height)
    zoom = 1.0 if rng.random() < 0.6 else float(rng.uniform(0.55, 1.0))
    if image_type == "OCT":
        # Devices show scans at many vertical scales.
        goal = float(np.clip(goal, wide / tall / 2.2, wide / tall * 1.6))
    if image_type in ("CFP", "Retinal Imaging") and zoom == 1.0 and wide / tall / 1.35 < goal < wide / tall * 1.35:
        left, top, w, h = 0, 0, wide, tall
        if rng.random() < 0.5:  # keep the round field round: pad with its black surround
            return _padded(pixels, width, height)
    w = min(wide, round(tall * goal))
    h = min(tall, round(w / goal))
    w, h = max(8, round(w * zoom)), max(8, round(h * zoom))
    left, top = int(rng.integers(0, wide - w + 1)), int(rng.integers(0, tall - h + 1))
    part = pixels[top : top + h, left : left + w]
    if float(part.std()) < 12:  # nothing to see there: the middle instead
        left, top = (wide - w) // 2, (tall - h) // 2
        part = pixels[top : top + h, left : left + w]
    method = cv2.INTER_AREA if width < w else cv2.INTER_LINEAR
    return np.asarray(cv2.resize(part, (width, height), interpolation=method), dtype=np.uint8)


def _padded(pixels: Pixels, width: int, height: int) -> Pixels:
    scale = min(width / pixels.shape[1], height / pixels.shape[0])
    size = (max(1, round(pixels.shape[1] * scale)), max(1, round(pixels.shape[0] * scale)))
    small = np.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR))
    result = np.empty((height, width, 3), np.uint8)
    result[:] = np.median(pixels[:4, :4].reshape(-1, 3), axis=0).astype(np.uint8)
    left, top = (width - size[0]) // 2, (height - size[1]) // 2
    result[top : top + size[1], left : left + size[0]] = small
    return result


def _cfp(rng: np.random.Generator, width: int, height: int) -> Pixels:
    return fundus_photograph(rng, width, height)


def _oct(rng: np.random.Generator, width: int, height: int) -> Pixels:
    return recoloured_oct(rng, oct_scan(rng, width, height))


def _retinal(rng: np.random.Generator, width: int, height: int) -> Pixels:
    return (fluorescein_angiogram if rng.random() < 0.5 else autofluorescence)(rng, width, height)


def _other(rng: np.random.Generator, width: int, height: int) -> Pixels:
    return drawn(rng, FILLED_KINDS, width, height)


_STAND_INS: dict[ImageType, Callable[[np.random.Generator, int, int], Pixels]] = {
    "CFP": _cfp,
    "OCT": _oct,
    "Retinal Imaging": _retinal,
    "Other": _other,
}
