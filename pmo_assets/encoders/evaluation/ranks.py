"""Exact ranks of the right answers, with memory for blocks only.

Similarities are cosines, computed in float64. The order in which a matrix product adds up differs from block to block,
so that two texts that are equally similar may differ in their last bits. So the rule is: similarities that differ by no
more than rounding can make of equal ones (`rounding`) are equal, and of equal ones the wrong answer stands first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from pmo_assets.encoders.evaluation.embeddings import Embeddings, EmbeddingsError

Ints = NDArray[np.intp]
Floats = NDArray[np.float64]

_ROWS: Final = 4096
_COLUMNS: Final = 1024
"""Images and texts of a tile: its similarities are 32 MB. Texts are made unit rows anew for every block of images, so
the blocks of images are the larger ones."""

Tell = Callable[[int, int], None]
"""Called with the number of images that are done, and of all."""


@dataclass(frozen=True)
class RightAnswers:
    """Which texts are right for which images.

    Attributes:
        image_classes: (n,) class of each image, from 0.
        text_classes: (m,) class of each text, from 0.
        related: (image classes, text classes): a stored entry where the texts of a class are right for the images of
            one; None if that is so for equal numbers.
    """

    image_classes: Ints
    text_classes: Ints
    related: csr_array | None = None

    @classmethod
    def of_groups(cls, groups: Ints) -> RightAnswers:
        """Return the answers where row i of images and of texts belong to group `groups[i]`."""
        return cls(groups, groups)

    @classmethod
    def of_rows(cls, rows: int) -> RightAnswers:
        """Return the answers where row i of the texts is the only one that is right for row i of the images."""
        return cls.of_groups(np.arange(rows))


def rounding(dimensions: int) -> float:
    """Return how far the computed cosines of equally similar vectors can lie apart.

    The bound of a sum of d products of unit rows is d units in the last place, for each of two sums; some are added for
    the lengths (Higham, Accuracy and Stability of Numerical Algorithms, 2002, section 3.1).
    """
    return (dimensions + 32) * float(np.finfo(np.float64).eps)


@dataclass(frozen=True, slots=True)
class _Rectangle:
    """Images [top, bottom) and texts [left, right) that are right for each other, both in the order of classes."""

    top: int
    bottom: int
    left: int
    right: int

    def within(self, rows: slice, columns: slice) -> tuple[slice, slice] | None:
        """Return its part in a tile, in numbers of the tile; None if there is none."""
        top, bottom = max(self.top, rows.start) - rows.start, min(self.bottom, rows.stop) - rows.start
        left, right = max(self.left, columns.start) - columns.start, min(self.right, columns.stop) - columns.start
        return (slice(top, bottom), slice(left, right)) if top < bottom and left < right else None


@dataclass(frozen=True)
class _Layout:
    """Images and texts in the order of their classes, so that right answers are rectangles."""

    image_order: Ints
    text_order: Ints
    rectangles: tuple[_Rectangle, ...]


def best_ranks(
    images: Embeddings, texts: Embeddings, right: RightAnswers, tell: Tell | None = None
) -> tuple[Ints, Ints]:
    """Return the rank of the best right answer for each image among the texts, and for each text among the images.

    A rank is one more than the number of wrong answers that are as similar as the best right one, or more similar.
    Other right answers take no place.

    Args:
        images: (n, d).
        texts: (m, d).
        right: of n images and m texts.
        tell: called as blocks are done.

    Returns:
        (n,) and (m,) of 1, 2, …; 0 where there is no right answer.

    Raises:
        EmbeddingsError: if numbers of rows or dimensions do not fit.
    """
    if images.dimensions != texts.dimensions:
        raise EmbeddingsError(
            f"{images.name} has {images.dimensions} dimensions, {texts.name} {texts.dimensions}: not of one encoder"
        )
    if (len(images), len(texts)) != (len(right.image_classes), len(right.text_classes)):
        raise EmbeddingsError(
            f"{images.name} and {texts.name} have {len(images)} and {len(texts)} rows, "
            f"their answers {len(right.image_classes)} and {len(right.text_classes)}"
        )
    layout = _layout(right)
    image_least, text_least = _best_similarities(images, texts, layout)
    slack = rounding(images.dimensions)
    image_least -= slack
    text_least -= slack
    before_image, before_text = np.zeros(len(images), np.intp), np.zeros(len(texts), np.intp)
    waiting = 0  # rectangles above the present rows
    for rows in _slices(0, len(images), _ROWS):
        block = images.unit_rows(layout.image_order[rows])
        while waiting < len(layout.rectangles) and layout.rectangles[waiting].bottom <= rows.start:
            waiting += 1
        here = _until(layout.rectangles, waiting, rows.stop)
        for columns in _slices(0, len(texts), _COLUMNS):
            similarity = block @ texts.unit_rows(layout.text_order[columns]).T
            for rectangle in here:
                if part := rectangle.within(rows, columns):
                    similarity[part] = -np.inf
            before_image[rows] += np.count_nonzero(similarity >= image_least[rows, None], axis=1)
            before_text[columns] += np.count_nonzero(similarity >= text_least[columns], axis=0)
        if tell is not None:
            tell(rows.stop, len(images))
    return (
        _in_own_order(np.where(np.isfinite(image_least), before_image + 1, 0), layout.image_order),
        _in_own_order(np.where(np.isfinite(text_least), before_text + 1, 0), layout.text_order),
    )


def _slices(first: int, end: int, size: int) -> Iterator[slice]:
    return (slice(start, min(start + size, end)) for start in range(first, end, size))


def _until(rectangles: tuple[_Rectangle, ...], first: int, bottom: int) -> list[_Rectangle]:
    last = first
    while last < len(rectangles) and rectangles[last].top < bottom:
        last += 1
    return list(rectangles[first:last])


def _in_own_order(values: Ints, order: Ints) -> Ints:
    own = np.empty_like(values)
    own[order] = values
    return own


def _ranges(classes: Ints) -> tuple[Ints, dict[int, tuple[int, int]]]:
    """Return the order of the classes, and where each stands in it."""
    order = np.argsort(classes, kind="stable")
    numbers, starts = np.unique(classes[order], return_index=True)
    ends = np.append(starts[1:], len(classes))
    return order, {int(number): (int(a), int(b)) for number, a, b in zip(numbers, starts, ends, strict=True)}


def _layout(right: RightAnswers) -> _Layout:
    image_order, image_ranges = _ranges(right.image_classes)
    text_order, text_ranges = _ranges(right.text_classes)
    rectangles = []
    for number, (top, bottom) in image_ranges.items():
        related = [number] if right.related is None else _entries(right.related, number)
        rectangles += [_Rectangle(top, bottom, *text_ranges[other]) for other in related if other in text_ranges]
    return _Layout(image_order, text_order, tuple(rectangles))


def _entries(related: csr_array, row: int) -> list[int]:
    return [int(column) for column in related.indices[related.indptr[row] : related.indptr[row + 1]]]


def _best_similarities(images: Embeddings, texts: Embeddings, layout: _Layout) -> tuple[Floats, Floats]:
    """Return how similar the best right answer of each image and text is, in the layout's order; inf for none."""
    image_best, text_best = np.full(len(images), -np.inf), np.full(len(texts), -np.inf)
    single = [item for item in layout.rectangles if item.bottom - item.top == 1 == item.right - item.left]
    for part in _slices(0, len(single), _ROWS):
        tops, lefts = (np.array([getattr(item, side) for item in single[part]]) for side in ("top", "left"))
        similarity = np.einsum(
            "ij,ij->i",
            images.unit_rows(layout.image_order[tops]),
            texts.unit_rows(layout.text_order[lefts]),
        )
        np.maximum.at(image_best, tops, similarity)
        np.maximum.at(text_best, lefts, similarity)
    for item in layout.rectangles:
        if item.bottom - item.top == 1 == item.right - item.left:
            continue
        for rows in _slices(item.top, item.bottom, _ROWS):
            block = images.unit_rows(layout.image_order[rows])
            for columns in _slices(item.left, item.right, _COLUMNS):
                similarity = block @ texts.unit_rows(layout.text_order[columns]).T
                image_best[rows] = np.maximum(image_best[rows], similarity.max(axis=1))
                text_best[columns] = np.maximum(text_best[columns], similarity.max(axis=0))
    for best in (image_best, text_best):
        best[np.isneginf(best)] = np.inf
    return image_best, text_best
