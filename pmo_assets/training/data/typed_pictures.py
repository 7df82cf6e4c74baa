"""Pictures whose modality, or at least whose image type, is known: what the image type network learns from.

Sources: folders of pictures by modality, the annotated images of articles, the bitmaps of articles that show no
retina, and stand-ins that are made of the photographs or drawn. A source (a data set, a repository, an article) is what
is held out: pictures of one device look alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from pmo_assets.records.modalities import TYPE_OF_MODALITY, Modality, modalities_of
from pmo_assets.samples.pictures import oct_scan
from pmo_assets.training.data.annotated import annotated_figures, image_crops
from pmo_assets.training.synthetic.drawings import FILLED_KINDS, PAPER_KINDS, drawn, trimmed
from pmo_assets.training.synthetic.filled_pictures import segmentation
from pmo_assets.training.synthetic.letters import Pixels
from pmo_assets.training.synthetic.paper_drawings import flow_diagram, line_drawing, table
from pmo_assets.training.synthetic.pools import POOL_SIDE, article_pictures
from pmo_assets.training.synthetic.stand_in_modalities import DRAWN, FROM_PHOTOGRAPHS, orange_disc

FOLDERS: dict[str, Modality] = {
    "cfp": "fundus photograph", "video frame": "fundus photograph", "chase db1 mini": "fundus photograph",
    "idrid mini": "fundus photograph", "rop ridge mini": "fundus photograph",
    "uwf": "ultra-widefield", "mosaic": "montage", "montage": "montage",
    "fa": "fluorescein angiography", "fa arterial": "fluorescein angiography", "fa venous": "fluorescein angiography",
    "fa disease": "fluorescein angiography", "non ffa": "red-free", "red free": "red-free",
    "icga": "indocyanine green angiography", "icga spectralis30": "indocyanine green angiography",
    "faf": "autofluorescence", "ir slo": "infrared", "oct": "OCT", "as oct": "OCT", "octdl sample": "OCT",
    "octa enface": "OCT angiography", "octa synthetic": "OCT angiography",
    "octa faz zenodo5075194": "OCT angiography", "oct enface": "en-face OCT",
    "ao": "adaptive optics", "ao frame": "adaptive optics", "ao oct": "adaptive optics", "ao icg": "adaptive optics",
    "ct mr": "CT or MR", "vessel mask": "mask", "photo": "photograph",
}  # fmt: skip
"""Names of folders, in lower case with spaces, and what their pictures were made with; besides, every modality's name
is one. Data sets that show one modality have it by their own name."""

SUFFIXES = (".jpg", ".jpeg", ".png", ".tif", ".tiff", ".bmp", ".webp")

DRAWN_EACH = 24
"""Stand-ins per modality: more than the pictures of most sources."""


@dataclass(frozen=True, slots=True, eq=False)
class TypedPicture:
    """A picture: pixels (height, width, 3) uint8 RGB, the modalities that it may be of, where it is from.

    Attributes:
        pixels: at most `POOL_SIDE` on the long side.
        modalities: one, or all of a type where no more is known.
        source: what is held out as a whole; "stand-in" for those that are made.
        name: of the file or figure, for people.
    """

    pixels: Pixels
    modalities: tuple[Modality, ...]
    source: str
    name: str = ""


def folder_modality(name: str) -> Modality | None:
    """Return what a folder of this name holds; None when the name says nothing."""
    plain = re.sub(r"[_-]+", " ", name).strip().casefold()
    by_name = {re.sub(r"[_-]+", " ", m).casefold(): m for m in TYPE_OF_MODALITY}
    return FOLDERS.get(plain) or by_name.get(plain)


def _read(path: Path) -> Pixels | None:
    try:
        pixels = cv2.imread(str(path))
    except cv2.error:  # more pixels than OpenCV reads
        return None
    if pixels is None:
        return None
    scale = POOL_SIDE / max(pixels.shape[:2])
    if scale < 1:
        pixels = cv2.resize(pixels, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    return np.ascontiguousarray(np.asarray(pixels, dtype=np.uint8)[:, :, ::-1])


def pictures_by_modality(folder: Path) -> Iterator[TypedPicture]:
    """Yield the pictures of `folder/<source>/<modality>/` and of `folder/<source>/` where the source's name tells.

    Raises:
        ValueError: when none was found.
    """
    found = False
    for source in sorted(p for p in folder.iterdir() if p.is_dir()) if folder.is_dir() else ():
        for place in (source, *sorted(p for p in source.iterdir() if p.is_dir())):
            modality = folder_modality(place.name)
            if modality is None:
                continue
            for path in sorted(place.iterdir()):
                pixels = _read(path) if path.suffix.lower() in SUFFIXES else None
                if pixels is not None and min(pixels.shape[:2]) >= 12:
                    found = True
                    yield TypedPicture(pixels, (modality,), source.name, f"{place.name}/{path.name}")
    if not found:
        raise ValueError(f"no picture in {folder}: it should hold <source>/<modality>/*.png, as CFP, UWF, FA, OCT …")


def annotated_pictures(annotations: Path, articles: Path) -> Iterator[TypedPicture]:
    """Yield the annotated images of articles; what is known of them is the type."""
    for article, index, figure in annotated_figures(annotations, articles):
        for number, (crop, image) in enumerate(image_crops(figure)):
            yield TypedPicture(crop.copy(), modalities_of(image.image_type), article, f"{article}/{index}/{number}")


def other_pictures(articles: Path, without: Iterable[str] = ()) -> Iterator[TypedPicture]:
    """Yield the bitmaps of articles that show no retina, `articles/<id>/article.pdf`, but for those of some ids."""
    left_out = set(without)
    ids = sorted(path.parent.name for path in articles.glob("*/article.pdf") if path.parent.name not in left_out)
    for picture in article_pictures(articles, ids):
        yield TypedPicture(picture.pixels, modalities_of("Other"), picture.group)


def stand_ins(rng: np.random.Generator, photographs: Sequence[Pixels], each: int = DRAWN_EACH) -> list[TypedPicture]:
    """Return made pictures: retinal modalities from fundus photographs, and what is drawn.

    Args:
        rng: decides everything.
        photographs: colour fundus photographs (height, width, 3) uint8 RGB; none give no pictures made of them.
        each: pictures per kind.
    """
    made: list[tuple[Pixels, tuple[Modality, ...]]] = []
    for modality, make in FROM_PHOTOGRAPHS.items():
        for _ in range(each if photographs else 0):
            made.append((make(rng, _small(photographs[int(rng.integers(len(photographs)))])), (modality,)))
    for modality, draw in DRAWN.items():
        made += [(draw(rng, *_size(rng)), (modality,)) for _ in range(each)]
    made += [(oct_scan(rng, *_size(rng)), ("OCT",)) for _ in range(each)]
    made += [(orange_disc(rng, *_size(rng)), ("photograph",)) for _ in range(each)]
    for kind, _ in PAPER_KINDS:
        modality = "text" if kind is table else "diagram" if kind in (flow_diagram, line_drawing) else "plot"
        made += [(trimmed(kind(rng, *_size(rng))), (modality,)) for _ in range(each // 2)]
    made += [(segmentation(rng, *_size(rng)), ("mask",)) for _ in range(each // 2)]
    others = modalities_of("Other")
    made += [(drawn(rng, FILLED_KINDS, *_size(rng)), others) for _ in range(2 * each)]
    return [TypedPicture(np.ascontiguousarray(pixels), allowed, "stand-in") for pixels, allowed in made]


def _size(rng: np.random.Generator) -> tuple[int, int]:
    return int(rng.integers(140, 400)), int(rng.integers(140, 400))


def _small(pixels: Pixels) -> Pixels:
    scale = 360 / max(pixels.shape[:2])
    if scale >= 1:
        return pixels
    return np.asarray(cv2.resize(pixels, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA), dtype=np.uint8)


def typed_pictures(images: Path | None, articles: Path | None, annotations: Path | None) -> list[TypedPicture]:
    """Return every picture of folders, annotated articles and other articles; what is None is left out.

    Raises:
        ValueError: when `images` holds no picture where one is looked for.
    """
    found = list(pictures_by_modality(images)) if images is not None else []
    annotated = [path.stem for path in annotations.glob("*.json")] if annotations is not None else []
    if annotations is not None and articles is not None:
        found += annotated_pictures(annotations, articles)
    if articles is not None:
        found += other_pictures(articles, annotated)
    return found
