"""Which PDF figure is which package figure: four criteria, at least two of them, the best wins.

The criteria are the paper's (Methods, "Matching figures"): perceptual hash distance, figure number, aspect ratio and
caption edit distance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import cv2
import imagehash
import numpy as np
from numpy.typing import NDArray
from PIL import Image
from rapidfuzz.distance import Levenshtein
from scipy.optimize import linear_sum_assignment

from pmo_assets.pipeline.figures.caption_location.labels import compact_text, figure_number
from pmo_assets.pipeline.figures.pictures import decoded_gray
from pmo_assets.pipeline.figures.registration import package_gray, rendering_correlation
from pmo_assets.records.article import PackageFigure
from pmo_assets.records.figure import PdfFigure

MAX_HASH_DISTANCE = 10
"""Bits of 64 by which the hashes of a figure and its compressed JPEG may differ. Compression and scaling change 0-6,
different pictures differ in 32 on average; 10 is the customary limit for near duplicates."""

MAX_ASPECT_RATIO_ERROR = 0.05
"""Relative difference of the aspect ratios: white margins of a few per cent are cut differently."""

MAX_CAPTION_DISTANCE = 0.2
"""Normalised edit distance of letters and digits: formulas and hyphenation change a few per cent of a caption."""

MIN_CRITERIA = 2
"""At least two of the four criteria must pass (paper)."""

HASH_SIDE = 256
"""Pixels of a side that a hash needs, at most; package pictures are decoded to as many, renderings reduced to twice
as many."""

HASH_BITS = 64
"""Bits of a perceptual hash: 8 x 8 frequencies."""

EVIDENCE_WEIGHT = 0.99
"""Weight of the evidence against a criterion: all of it together counts less than one criterion more."""


@dataclass(frozen=True, slots=True)
class FigureMatch:
    """A PDF figure, its best package figure, and the evidence.

    Attributes:
        pdf_figure_id: the figure of the PDF.
        image_cluster_id: the package figure.
        hash_distance: differing bits of 64; None without pixels or a readable package image.
        number_matches: the figure numbers are equal; None if one of them has no number.
        aspect_ratio_error: relative difference of width / height, 0 = equal; None without a readable package image.
        caption_distance: normalised edit distance 0..1; None if both captions are empty.
        criteria_passed: how many of the four pass.
        accepted: at least two pass, and no better assignment exists.
        picture_correlation: -1..1 between both pictures (`registration.correlation`); None when one is missing.
    """

    pdf_figure_id: str
    image_cluster_id: str
    hash_distance: int | None
    number_matches: bool | None
    aspect_ratio_error: float | None
    caption_distance: float | None
    criteria_passed: int
    accepted: bool
    picture_correlation: float | None = None


@dataclass(frozen=True, slots=True)
class _Picture:
    """Hash (None if unknown) and aspect ratio of one picture."""

    hash: imagehash.ImageHash | None
    aspect_ratio: float


def match_figures(
    figures: Sequence[PdfFigure],
    pixels: Mapping[str, NDArray[np.uint8]],
    package_figures: Sequence[PackageFigure],
    package_images: Mapping[str, bytes],
) -> tuple[FigureMatch, ...]:
    """Match PDF figures to package figures one to one.

    Args:
        figures: of one article.
        pixels: per `pdf_figure_id`, uint8 (h, w, 3); figures without pixels have no hash.
        package_figures: of the same article.
        package_images: encoded image per `image_cluster_id`; untrusted, may lack entries.

    Returns:
        One row per PDF figure, in their order: the accepted match, or else the best candidate that was not accepted.
        Empty without package figures.
    """
    if not figures or not package_figures:
        return ()
    ours = [_pdf_picture(figure, pixels.get(figure.pdf_figure_id)) for figure in figures]
    theirs = [package_picture(package_images.get(figure.image_cluster_id)) for figure in package_figures]
    rows = [
        [_compared(figure, package, our, their) for package, their in zip(package_figures, theirs, strict=True)]
        for figure, our in zip(figures, ours, strict=True)
    ]
    # Number of criteria first; the evidence, below 1, decides between equals.
    scores = np.array(
        [[m.criteria_passed + _evidence(m) if m.criteria_passed >= MIN_CRITERIA else 0.0 for m in r] for r in rows]
    )
    accepted = {
        (int(i), int(j)) for i, j in zip(*linear_sum_assignment(-scores), strict=True) if scores[i, j] >= MIN_CRITERIA
    }
    matches = []
    for i, row in enumerate(rows):
        j = next((j for j in range(len(row)) if (i, j) in accepted), None)
        best = row[j] if j is not None else max(row, key=lambda m: m.criteria_passed + _evidence(m))
        picture = package_gray(package_images.get(best.image_cluster_id))
        agreement = _agreement(pixels.get(best.pdf_figure_id), picture)
        matches.append(replace(best, accepted=j is not None, picture_correlation=agreement))
    return tuple(matches)


def _agreement(rendering: NDArray[np.uint8] | None, picture: NDArray[np.uint8] | None) -> float | None:
    if rendering is None or rendering.size == 0 or picture is None:
        return None
    return rendering_correlation(rendering, picture)


def package_picture(data: bytes | None) -> _Picture | None:
    """Read hash and aspect ratio of an encoded image; None if it is absent, too large or not decodable."""
    decoded = decoded_gray(data, HASH_SIDE)
    if decoded is None:
        return None
    image, (across, down) = decoded
    return _Picture(imagehash.phash(image), across / down)


def _pdf_picture(figure: PdfFigure, pixels: NDArray[np.uint8] | None) -> _Picture:
    if pixels is None or pixels.size == 0:
        return _Picture(None, figure.width / max(figure.height, 1))
    down, across = pixels.shape[:2]
    scale = min(1.0, 2 * HASH_SIDE / max(down, across))
    size = (max(1, round(across * scale)), max(1, round(down * scale)))
    small = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)
    return _Picture(imagehash.phash(Image.fromarray(small).convert("L")), across / down)


def _compared(figure: PdfFigure, package: PackageFigure, our: _Picture, their: _Picture | None) -> FigureMatch:
    distance = None
    aspect = None
    if their is not None:
        aspect = abs(our.aspect_ratio - their.aspect_ratio) / max(our.aspect_ratio, their.aspect_ratio)
        if our.hash is not None and their.hash is not None:
            distance = int(our.hash - their.hash)
    first, second = figure_number(figure.label), figure_number(package.label)
    number = first == second if first and second else None
    mine, wanted = compact_text(figure.caption), compact_text(package.caption)
    caption = float(Levenshtein.normalized_distance(mine, wanted)) if mine or wanted else None
    passed = (
        (distance is not None and distance <= MAX_HASH_DISTANCE)
        + bool(number)
        + (aspect is not None and aspect <= MAX_ASPECT_RATIO_ERROR)
        + (caption is not None and caption <= MAX_CAPTION_DISTANCE)
    )
    return FigureMatch(
        pdf_figure_id=figure.pdf_figure_id,
        image_cluster_id=package.image_cluster_id,
        hash_distance=distance,
        number_matches=number,
        aspect_ratio_error=aspect,
        caption_distance=caption,
        criteria_passed=int(passed),
        accepted=False,
    )


def _evidence(match: FigureMatch) -> float:
    """Return how strong the evidence is, 0 to below 1: the mean of the four criteria's closeness."""
    parts = (
        1.0 - match.hash_distance / HASH_BITS if match.hash_distance is not None else 0.0,
        1.0 if match.number_matches else 0.0,
        1.0 - min(match.aspect_ratio_error, 1.0) if match.aspect_ratio_error is not None else 0.0,
        1.0 - match.caption_distance if match.caption_distance is not None else 0.0,
    )
    return EVIDENCE_WEIGHT * sum(parts) / len(parts)
