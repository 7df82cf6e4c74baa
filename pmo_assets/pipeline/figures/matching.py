"""Matching of PDF figures with package figures: four criteria, at least two of them, the best wins.

The criteria are the paper's (Methods, "Matching figures"): perceptual hash distance, figure number, aspect ratio and
caption edit distance. `Comparison` is the rule; whoever else asks whether two figures are the same counts by it.

Every article has a Figure 1, and many pictures are square: number and shape make a match only where the PDF is known to
hold the XML's text. There the number does also for a figure that has no caption to compare. Where nothing shows that
the PDF is the XML's article, picture or printed caption must.
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

from pmo_assets.pictures import decoded_gray
from pmo_assets.pipeline.figures.caption_location.labels import compact_text, figure_number
from pmo_assets.pipeline.figures.registration import SAME_PICTURE, package_gray, rendering_correlation
from pmo_assets.records.article import PackageFigure
from pmo_assets.records.figure import PdfFigure
from pmo_assets.records.pairing import best_pairing

MAX_HASH_DISTANCE = 10
"""Bits of 64 by which the hashes of a figure and its compressed JPEG may differ. Compression and scaling change 0-6,
different pictures differ in 32 on average; 10 is the customary limit for near duplicates."""

MAX_ASPECT_RATIO_ERROR = 0.05
"""Relative difference of the aspect ratios: white margins of a few per cent are cut differently."""

MAX_CAPTION_DISTANCE = 0.2
"""Normalised edit distance of letters and digits: formulas and hyphenation change a few per cent of a caption."""

MIN_CRITERIA = 2
"""At least two of the four criteria must pass (paper)."""

MIN_CAPTION = 24
"""Letters and digits of a caption that show which figure it is by themselves; shorter ones occur in other articles."""

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
        criteria_passed: number of the four that pass.
        accepted: it is a match (`is_match`), and no better assignment exists.
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
class PictureShape:
    """Perceptual hash (None if unknown) and aspect ratio (width / height) of one picture."""

    hash: imagehash.ImageHash | None
    aspect_ratio: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two figures compared by the four criteria; each is None where one of the figures lacks its input.

    Attributes:
        hash_distance: differing bits of 64 between the pictures.
        number_matches: both have the same number, or name.
        aspect_ratio_error: relative difference of width / height, 0 = equal.
        caption_distance: normalised edit distance 0..1.
    """

    hash_distance: int | None
    number_matches: bool | None
    aspect_ratio_error: float | None
    caption_distance: float | None

    @property
    def same_picture(self) -> bool:
        """The pictures' hashes pass."""
        return self.hash_distance is not None and self.hash_distance <= MAX_HASH_DISTANCE

    @property
    def same_caption(self) -> bool:
        """The captions pass."""
        return self.caption_distance is not None and self.caption_distance <= MAX_CAPTION_DISTANCE

    @property
    def passed(self) -> int:
        """Number of the four criteria that pass."""
        same_shape = self.aspect_ratio_error is not None and self.aspect_ratio_error <= MAX_ASPECT_RATIO_ERROR
        return self.same_picture + bool(self.number_matches) + same_shape + self.same_caption

    @property
    def evidence(self) -> float:
        """Strength of the evidence, 0 to below 1: the mean of the four criteria's closeness."""
        parts = (
            1.0 - self.hash_distance / HASH_BITS if self.hash_distance is not None else 0.0,
            1.0 if self.number_matches else 0.0,
            1.0 - min(self.aspect_ratio_error, 1.0) if self.aspect_ratio_error is not None else 0.0,
            1.0 - self.caption_distance if self.caption_distance is not None else 0.0,
        )
        return EVIDENCE_WEIGHT * sum(parts) / len(parts)


def hash_distance(first: PictureShape | None, second: PictureShape | None) -> int | None:
    """Return the differing bits of two pictures' hashes; None if one is unknown."""
    if first is None or second is None or first.hash is None or second.hash is None:
        return None
    return int(first.hash - second.hash)


def aspect_ratio_error(first: PictureShape | None, second: PictureShape | None) -> float | None:
    """Return the relative difference of two pictures' aspect ratios, 0 = equal; None if one is unknown."""
    if first is None or second is None:
        return None
    return abs(first.aspect_ratio - second.aspect_ratio) / max(first.aspect_ratio, second.aspect_ratio)


def caption_distance(first: str, second: str) -> float | None:
    """Return the normalised edit distance of two captions' letters and digits, 0..1; None if both are empty."""
    mine, wanted = compact_text(first), compact_text(second)
    return float(Levenshtein.normalized_distance(mine, wanted)) if mine or wanted else None


def match_figures(
    figures: Sequence[PdfFigure],
    pixels: Mapping[str, NDArray[np.uint8]],
    package_figures: Sequence[PackageFigure],
    package_images: Mapping[str, bytes],
    *,
    shares_text: bool = False,
) -> tuple[FigureMatch, ...]:
    """Match PDF figures to package figures one to one.

    Args:
        figures: of one article.
        pixels: per `pdf_figure_id`, uint8 (h, w, 3); figures without pixels have no hash.
        package_figures: of the same article.
        package_images: encoded image per `image_cluster_id`; untrusted, may lack entries.
        shares_text: the PDF's pages are known to hold the text of the XML.

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
        [
            [
                found.passed + found.evidence if is_match(found, figure, package, shares_text=shares_text) else 0.0
                for package, (found, _) in zip(package_figures, row, strict=True)
            ]
            for figure, row in zip(figures, rows, strict=True)
        ]
    )
    accepted = {(int(i), int(j)) for i, j in zip(*best_pairing(scores), strict=True) if scores[i, j] > 0}
    matches = []
    for i, row in enumerate(rows):
        j = next((j for j in range(len(row)) if (i, j) in accepted), None)
        _, best = row[j] if j is not None else max(row, key=lambda pair: pair[0].passed + pair[0].evidence)
        picture = package_gray(package_images.get(best.image_cluster_id))
        agreement = _agreement(pixels.get(best.pdf_figure_id), picture)
        matches.append(replace(best, accepted=j is not None, picture_correlation=agreement))
    return tuple(matches)


def is_match(found: Comparison, figure: PdfFigure, package: PackageFigure, *, shares_text: bool) -> bool:
    """Say whether the criteria make a PDF figure and a package figure a match.

    Args:
        found: both compared by the criteria.
        figure: the PDF's.
        package: the XML's.
        shares_text: the PDF's pages are known to hold the text of the XML.
    """
    if shares_text:
        # A figure without a caption, or with another one than the XML's, is found by its number.
        by_number = found.number_matches is True and figure.image_cluster_id == package.image_cluster_id
        return found.passed >= MIN_CRITERIA or by_number
    return found.passed >= MIN_CRITERIA and (
        found.same_picture or _has_same_words(found, figure, package) or _has_same_pixels(figure, package)
    )


def _has_same_words(found: Comparison, figure: PdfFigure, package: PackageFigure) -> bool:
    """Say whether a figure's printed caption is the XML's; one that was found by its picture may have none printed."""
    is_printed = figure.located_by != "package_image" or bool(figure.caption_locations)
    return found.same_caption and is_printed and len(compact_text(package.caption)) >= MIN_CAPTION


def _has_same_pixels(figure: PdfFigure, package: PackageFigure) -> bool:
    """Say whether extraction saw that a figure's rendering is its package picture."""
    return (
        figure.image_cluster_id == package.image_cluster_id
        and figure.picture_correlation is not None
        and figure.picture_correlation >= SAME_PICTURE
    )


def _agreement(rendering: NDArray[np.uint8] | None, picture: NDArray[np.uint8] | None) -> float | None:
    if rendering is None or rendering.size == 0 or picture is None:
        return None
    return rendering_correlation(rendering, picture)


def package_picture(data: bytes | None) -> PictureShape | None:
    """Read hash and aspect ratio of an encoded image; None if it is absent, too large or not decodable."""
    decoded = decoded_gray(data, HASH_SIDE)
    if decoded is None:
        return None
    image, (across, down) = decoded
    return PictureShape(imagehash.phash(image), across / down)


def _pdf_picture(figure: PdfFigure, pixels: NDArray[np.uint8] | None) -> PictureShape:
    if pixels is None or pixels.size == 0:
        return PictureShape(None, figure.width / max(figure.height, 1))
    down, across = pixels.shape[:2]
    scale = min(1.0, 2 * HASH_SIDE / max(down, across))
    size = (max(1, round(across * scale)), max(1, round(down * scale)))
    small = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)
    return PictureShape(imagehash.phash(Image.fromarray(small).convert("L")), across / down)


def _compared(
    figure: PdfFigure, package: PackageFigure, our: PictureShape, their: PictureShape | None
) -> tuple[Comparison, FigureMatch]:
    first, second = figure_number(figure.label), figure_number(package.label)
    found = Comparison(
        hash_distance(our, their),
        first == second if first and second else None,
        aspect_ratio_error(our, their),
        caption_distance(figure.caption, package.caption),
    )
    return found, FigureMatch(
        pdf_figure_id=figure.pdf_figure_id,
        image_cluster_id=package.image_cluster_id,
        hash_distance=found.hash_distance,
        number_matches=found.number_matches,
        aspect_ratio_error=found.aspect_ratio_error,
        caption_distance=found.caption_distance,
        criteria_passed=found.passed,
        accepted=False,
    )
