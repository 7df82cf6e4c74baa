"""Pictures whose modality, or at least whose image type, is known: the examples of the image type network.

Sources: folders of pictures by modality, the annotated images of articles, the bitmaps of articles that show no
retina, and stand-ins that are made of the photographs or drawn. A source (a data set, a repository, an article) is what
is held out: pictures of one device look alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pmo_assets.records.modalities import Modality, modalities_of
from pmo_assets.samples.drawing import Pixels
from pmo_assets.samples.pictures import oct_scan
from pmo_assets.training.data.annotated import annotated_figures, image_crops
from pmo_assets.training.synthetic.drawings import FILLED_KINDS, PAPER_KINDS, drawn, trimmed
from pmo_assets.training.synthetic.filled_pictures import segmentation
from pmo_assets.training.synthetic.paper_drawings import flow_diagram, line_drawing, table
from pmo_assets.training.synthetic.picture_folders import folder_modality, no_larger, read_picture
from pmo_assets.training.synthetic.pools import article_pictures, unannotated_articles
from pmo_assets.training.synthetic.stand_in_modalities import DRAWN, FROM_PHOTOGRAPHS, orange_disc

DRAWN_EACH = 24
"""Stand-ins per modality: more than the pictures of most sources."""


STAND_IN_SIDE = 360
"""Photographs have no more pixels than this on the long side when stand-ins are made of them."""


@dataclass(frozen=True, slots=True, eq=False)
class TypedPicture:
    """A picture: pixels (height, width, 3) uint8 RGB, the modalities that it may be of, where it is from.

    Attributes:
        pixels: of folders and bitmaps, at most `POOL_SIDE` on the long side.
        modalities: one, or all of a type where no more is known.
        source: held out as a whole; "stand-in" for pictures that are made.
        name: of the file or figure, for people.
    """

    pixels: Pixels
    modalities: tuple[Modality, ...]
    source: str
    name: str = ""


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
                pixels = read_picture(path)
                if pixels is not None and min(pixels.shape[:2]) >= 12:
                    found = True
                    yield TypedPicture(pixels, (modality,), source.name, f"{place.name}/{path.name}")
    if not found:
        raise ValueError(f"no picture in {folder}: it should hold <source>/<modality>/*.png, as CFP, UWF, FA, OCT …")


def annotated_pictures(annotations: Path, articles: Path) -> Iterator[TypedPicture]:
    """Yield the annotated images of articles; their type is known, not their modality."""
    for article, index, figure in annotated_figures(annotations, articles):
        for number, (crop, image) in enumerate(image_crops(figure)):
            yield TypedPicture(crop.copy(), modalities_of(image.image_type), article, f"{article}/{index}/{number}")


def other_pictures(articles: Path, annotations: Path | None = None) -> Iterator[TypedPicture]:
    """Yield the bitmaps of articles that show no retina: of those in `articles` that are not annotated."""
    for picture in article_pictures(articles, unannotated_articles(articles, annotations)):
        yield TypedPicture(picture.pixels, modalities_of("Other"), picture.group)


def stand_ins(rng: np.random.Generator, photographs: Sequence[Pixels], each: int = DRAWN_EACH) -> list[TypedPicture]:
    """Return made pictures: retinal modalities from fundus photographs, and drawn ones.

    Args:
        rng: decides everything.
        photographs: colour fundus photographs (height, width, 3) uint8 RGB; none give no pictures made of them.
        each: pictures per kind.
    """
    made: list[tuple[Pixels, tuple[Modality, ...]]] = []
    for modality, make in FROM_PHOTOGRAPHS.items():
        for _ in range(each if photographs else 0):
            made.append(
                (make(rng, no_larger(photographs[int(rng.integers(len(photographs)))], STAND_IN_SIDE)), (modality,))
            )
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


def typed_pictures(images: Path | None, articles: Path | None, annotations: Path | None) -> list[TypedPicture]:
    """Return every picture of folders, annotated articles and other articles; a source that is None is left out.

    Raises:
        ValueError: when there is nothing to learn from: no picture in `images` where one is looked for, none at all,
            or annotations without the articles that they are about.
    """
    if annotations is not None and articles is None:
        raise ValueError(f"{annotations} says what is in articles: give their folder, too")
    found = list(pictures_by_modality(images)) if images is not None else []
    if annotations is not None and articles is not None:
        found += annotated_pictures(annotations, articles)
    if articles is not None:
        found += other_pictures(articles, annotations)
    if not found:
        raise ValueError("nothing to learn from: give pictures by modality, articles (ID/article.pdf) or both")
    return found
