"""Matching of BIOMEDICA's rows with package figures, which then have their labels: two of four criteria, and no doubt.

The criteria are those of `pipeline.figures.matching` (paper, Methods, "Matching figures"), with the name of the
picture's file in place of the figure's number. Labels are evidence, so that none is better than a wrong one:

* Labels were given to a picture. A row whose picture is known to be another one is never the figure's.
* Picture, name and caption are the witnesses; aspect ratios agree by chance. A row is the figure's that its picture
  points out (no other is as alike), else the one that name and caption point out. Witnesses that contradict each other
  (unless the picture decides) leave the row without a figure.
* A figure has one row: the one with the likest picture, else the one for which most criteria pass. Where several are
  as good, they must have the same labels.

Pure: rows and pictures in, matches out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import imagehash
from rapidfuzz.distance import Levenshtein

from pmo_assets.pipeline.figures.caption_location.labels import compact_text
from pmo_assets.pipeline.figures.matching import (
    MIN_CRITERIA,
    Comparison,
    PictureShape,
    aspect_ratio_error,
    caption_distance,
    hash_distance,
    package_picture,
)
from pmo_assets.records.article import PackageFigure
from pmo_assets.records.biomedica import BiomedicaFigure
from pmo_assets.records.packages import PICTURE_SUFFIXES
from pmo_assets.records.rejections import ArticleError

MAX_ROWS = 2000
"""Rows of an article that are compared; articles with the most figures have some hundreds."""

HASH_LEAD = 4
"""Bits by which a picture must be liker than any other to point a figure out: compression changes up to six."""

CAPTION_LEAD = 0.01
"""Edit distance by which a caption must be nearer than any other to point a figure out: captions of one article often
differ in a word ("right", "left"), copies of one caption by formulas."""

OTHER_CAPTION = 0.5
"""Edit distance from which captions are certainly two; the longer one is cut first, since copies are."""

LEAST_LETTERS = 20
"""A shorter caption ("See text.") does not contradict another."""

LEAST_CUT = 40
"""Letters that a cut caption must have to be known by its beginning; "Optical coherence tomography of" is many's."""

ROW_LEAD = 0.05
"""By so much (criteria passed and evidence together) the best of several rows of a figure must be ahead."""


class TooManyRows(ArticleError):
    """The dataset has more rows of an article than any article has figures."""


@dataclass(frozen=True, slots=True)
class BiomedicaMatch:
    """A package figure, and the row of BIOMEDICA that it is.

    Attributes:
        image_cluster_id: the package figure.
        row: None when there is none, or more than one might be it.
        compared: both compared by the criteria; None without a row.
        reason: the criteria that agree, or why there is no row.
    """

    image_cluster_id: str
    row: BiomedicaFigure | None
    compared: Comparison | None
    reason: str


@dataclass(frozen=True, slots=True)
class _Claim:
    """A row that is a figure's as far as the row goes."""

    row: BiomedicaFigure
    compared: Comparison

    @property
    def score(self) -> float:
        return self.compared.passed + self.compared.evidence


def match_biomedica(
    figures: Sequence[PackageFigure], pictures: Mapping[str, bytes], rows: Sequence[BiomedicaFigure]
) -> tuple[BiomedicaMatch, ...]:
    """Match the rows that BIOMEDICA has of an article to its package figures, one to one.

    Args:
        figures: of one article.
        pictures: encoded package picture per `image_cluster_id`; untrusted, may lack entries.
        rows: of the same article.

    Returns:
        One match per figure, in their order; empty without rows.

    Raises:
        TooManyRows: for more than `MAX_ROWS`.
    """
    if not rows:
        return ()
    if len(rows) > MAX_ROWS:
        raise TooManyRows(f"BIOMEDICA has {len(rows):,} rows of this article; no more than {MAX_ROWS:,} are compared")
    shapes = [package_picture(pictures.get(figure.image_cluster_id)) for figure in figures]
    names = [_names(figure) for figure in figures]
    claims: list[list[_Claim]] = [[] for _ in figures]
    doubts: list[list[str]] = [[] for _ in figures]
    for row in rows:
        shape = _shape(row)
        compared = [
            _compared(figure, own_names, own_shape, row, shape)
            for figure, own_names, own_shape in zip(figures, names, shapes, strict=True)
        ]
        contradicted = [_is_other_caption(figure.caption, row.caption) for figure in figures]
        chosen, doubt = _chosen(compared, contradicted)
        if chosen is not None:
            claims[chosen].append(_Claim(row, compared[chosen]))
        elif doubt:
            for index, found in enumerate(compared):
                if _may_be(found):
                    doubts[index].append(f"{row.row_id}: {doubt}")
    return tuple(
        _settled(figure, own_claims, own_doubts)
        for figure, own_claims, own_doubts in zip(figures, claims, doubts, strict=True)
    )


def _names(figure: PackageFigure) -> frozenset[str]:
    return frozenset(_name(text) for text in (figure.image_cluster_id, *figure.graphics))


def _name(text: str) -> str:
    """Return a graphic's name as it is compared: without folder and picture extension, in lower case."""
    name = text.rpartition("/")[2].lower()
    stem, dot, extension = name.rpartition(".")
    return stem if f"{dot}{extension}" in PICTURE_SUFFIXES else name


def _shape(row: BiomedicaFigure) -> PictureShape | None:
    if row.aspect_ratio is None:
        return None
    known = row.perceptual_hash is not None
    return PictureShape(imagehash.hex_to_hash(row.perceptual_hash) if known else None, row.aspect_ratio)


def _compared(
    figure: PackageFigure,
    names: frozenset[str],
    figure_shape: PictureShape | None,
    row: BiomedicaFigure,
    row_shape: PictureShape | None,
) -> Comparison:
    return Comparison(
        hash_distance(figure_shape, row_shape),
        _name(row.image_cluster_id) in names,
        aspect_ratio_error(figure_shape, row_shape),
        _nearest_caption(figure.caption, row.caption) if figure.caption and row.caption else None,
    )


def _nearest_caption(caption: str, stated: str) -> float | None:
    """Return the edit distance of two captions; a copy that was cut counts by the part that it has (paper)."""
    cut = _cut_distance(caption, stated, LEAST_CUT)
    whole = caption_distance(caption, stated)
    return whole if cut is None or whole is None else min(whole, cut)


def _cut_distance(caption: str, stated: str, least: int) -> float | None:
    """Return the edit distance of the shorter caption and as much of the longer one; None below so many letters."""
    mine, theirs = compact_text(caption), compact_text(stated)
    length = min(len(mine), len(theirs))
    return float(Levenshtein.normalized_distance(mine[:length], theirs[:length])) if length >= least else None


def _is_other_caption(caption: str, stated: str) -> bool:
    """Say whether two captions are certainly not copies of one, whole or cut."""
    distance = _cut_distance(caption, stated, LEAST_LETTERS)
    return distance is not None and distance > OTHER_CAPTION


def _may_be(compared: Comparison) -> bool:
    """Say whether the criteria allow that a row is a figure: two pass, and the picture is not another one."""
    other_picture = compared.hash_distance is not None and not compared.same_picture
    return compared.passed >= MIN_CRITERIA and not other_picture


def _chosen(compared: Sequence[Comparison], contradicted: Sequence[bool]) -> tuple[int | None, str]:
    """Return the figure that a row is; None with the reason where witnesses disagree, "" where no figure may be it."""
    possible = [index for index, found in enumerate(compared) if _may_be(found)]
    if not possible:
        return None, ""
    picture = _least([found.hash_distance if found.same_picture else None for found in compared], HASH_LEAD)
    # What is certainly another picture cannot be pointed out.
    seen = [found if found.same_picture or found.hash_distance is None else None for found in compared]
    name = next((index for index, found in enumerate(seen) if found and found.number_matches), None)
    caption = _least([found.caption_distance if found and found.same_caption else None for found in seen], CAPTION_LEAD)
    if picture is not None:
        if name == caption and name not in (None, picture):
            return None, "its picture is one figure's, its name and caption are another's"
        pointed = picture
    elif None not in (name, caption) and name != caption:
        return None, "its name and its caption point to different figures"
    else:
        pointed = next((index for index in (name, caption) if index is not None), possible[0])
        if name is None and caption is None and len(possible) > 1:
            return None, "it is equally like several figures"
    if contradicted[pointed] and not (picture == pointed and compared[pointed].number_matches):
        return None, "its caption is another one"
    return (pointed, "") if pointed in possible else (None, "only one criterion passes")


def _least(distances: Sequence[float | None], lead: float) -> int | None:
    """Return where the least distance is, when it leads by so much; None otherwise."""
    ranked = sorted((distance, index) for index, distance in enumerate(distances) if distance is not None)
    if not ranked or (len(ranked) > 1 and ranked[1][0] - ranked[0][0] < lead):
        return None
    return ranked[0][1]


def _settled(figure: PackageFigure, claims: Sequence[_Claim], doubts: Sequence[str]) -> BiomedicaMatch:
    """Return the match of a figure: the best of the rows that claim it, unless others with other labels are as good."""
    nearest = _least([claim.compared.hash_distance for claim in claims], HASH_LEAD)
    if nearest is not None and len(claims) > 1:  # the labels are the picture's: the likest one's, if one is
        claims = [claims[nearest]]
    ranked = sorted(claims, key=lambda claim: (-claim.score, claim.row.row_id))
    if not ranked:
        reason = f"in doubt: {'; '.join(doubts[:3])}" if doubts else "no row of BIOMEDICA is this figure"
        return BiomedicaMatch(figure.image_cluster_id, None, None, reason)
    best = ranked[0]
    rivals = [claim for claim in ranked[1:] if best.score - claim.score < ROW_LEAD]
    if any(_said(claim.row) != _said(best.row) for claim in rivals):
        named = ", ".join(claim.row.row_id for claim in (best, *rivals[:2]))
        return BiomedicaMatch(figure.image_cluster_id, None, None, f"in doubt: rows with different labels ({named})")
    return BiomedicaMatch(figure.image_cluster_id, best.row, best.compared, _agreement(best.compared))


def _said(row: BiomedicaFigure) -> tuple[object, ...]:
    return frozenset(row.primary_labels), frozenset(row.secondary_labels), row.panel_type, row.panel_subtype


def _agreement(compared: Comparison) -> str:
    agreeing = [
        ("picture", compared.same_picture),
        ("name", bool(compared.number_matches)),
        ("caption", compared.same_caption),
    ]
    words = [word for word, agrees in agreeing if agrees]
    if compared.passed > len(words):
        words.append("aspect ratio")
    return f"agree: {', '.join(words)}"
