"""Reading of printed identifiers: the pairing of panel names with boxes that are known to hold identifiers.

A trained network sees that something is an identifier, in any print and on any ground, but does not read it. Inside
its box reading is easy: glyphs are cut out against the box's rim and compared with the letters of `glyphs.py`. Names
and boxes are then paired as a whole: a name takes one box at most, likeness counts most, and what cannot be read (words
or blurred print) follows the order in which captions name panels: row by row, or column by column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from string import ascii_lowercase, digits

import cv2
import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.detection.structure.glyphs import is_bracket, letter_of, templates, unit_vector
from pmo_assets.pipeline.detection.structure.gutters import Rect
from pmo_assets.records.geometry import Box, iou
from pmo_assets.records.pairing import best_pairing

READING_HEIGHT = 48
"""Boxes are enlarged to this height before their glyphs are separated."""

UNREAD = 0.45
"""Likeness of a name that cannot be compared (several words, blurred): between a wrong letter and a right one."""

ONE_SHAPE = str.maketrans("01", "ol")
"""Digits that look like letters."""

SURE = 0.7
"""Likeness from which glyphs are read as a name with a digit behind it."""

PART_OF_WORD = 0.6
"""Factor of the likeness of a letter beside which other letters or digits stand: numbers of an axis, words."""

LETTER, NARROW = 0.85, frozenset("IJLTfijlrt17")
"""Likeness from which a glyph is a letter, and letters that brackets and strokes resemble."""

MOST_GLYPHS = 3
"""Glyphs of a letter and brackets that were not recognised; more are a word."""

WITHOUT_READING = 0.4
"""Least score of a box that is taken for an identifier although it does not look like any name."""

LEAST_VALUE = 0.35
"""A pair of name and box of less value than this is no pair."""


@dataclass(frozen=True, slots=True)
class PrintedBox:
    """A box in which an identifier is printed: pixels of the canvas, and the score that it is one.

    `likeness` (0..1) is how far the print looks like the name it was given; 0 before it has one.
    """

    rect: Rect
    score: float
    likeness: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """The print in a box.

    Attributes:
        letters: unit vectors (`glyphs.SIDE` squared), left to right, without brackets and dots.
        rect: pixels of the canvas around all glyphs, brackets and dots included.
    """

    letters: tuple[NDArray[np.float32], ...]
    rect: Rect


def reading(rgb: NDArray[np.uint8], rect: Rect) -> Reading | None:
    """Return the print in a box; None when it holds no clear glyphs."""
    margin = max(2, (rect[3] - rect[1]) // 6)
    top, left = max(0, rect[1] - margin), max(0, rect[0] - margin)
    part = rgb[top : rect[3] + margin, left : rect[2] + margin]
    if min(part.shape[:2]) < 5:
        return None
    # Sides on which the figure ends show print, not what lies around it.
    open_sides = (left > 0, top > 0, rect[2] + margin <= rgb.shape[1], rect[3] + margin <= rgb.shape[0])
    scale = max(1.0, READING_HEIGHT / part.shape[0])
    grey = cv2.cvtColor(np.ascontiguousarray(part), cv2.COLOR_RGB2GRAY)
    grey = cv2.resize(grey, None, fx=scale, fy=scale, interpolation=cv2.INTER_CUBIC)
    sides = (grey[:, :2], grey[:2], grey[:, -2:], grey[-2:])
    rim = [side.ravel() for side, is_open in zip(sides, open_sides, strict=True) if is_open] or [grey.ravel()]
    ground = int(np.median(np.concatenate(rim)))
    away = np.asarray(cv2.absdiff(grey, np.full_like(grey, ground)), dtype=np.uint8)
    contrast = int(np.percentile(away, 97))
    if contrast < 40:
        return None
    picture = np.asarray(np.clip(away.astype(np.int32) * 255 // contrast, 0, 255), dtype=np.uint8)
    mask = (picture > 127).astype(np.uint8)
    _, _, stats, _ = cv2.connectedComponentsWithStats(mask, connectivity=8)
    tall, wide = mask.shape
    pieces: list[Rect] = []
    for x, y, w, h, size in stats[1:].tolist():
        cut = (x <= 1 and open_sides[0]) or (x + w >= wide - 1 and open_sides[2])
        crosses = cut and (w > 0.5 * wide or h > 0.8 * tall)
        if size >= 0.004 * mask.size and not crosses and max(w, h) >= 0.08 * tall:
            pieces.append((x, y, x + w, y + h))
    if not 1 <= len(pieces) <= 8:
        return None
    pieces.sort()
    single = letter_of(picture, tuple(pieces)) if len(pieces) <= 4 else None
    boxes = [single[1]] if single is not None else _upright(_without_brackets(picture, pieces))
    letters = tuple(unit_vector(np.ascontiguousarray(picture[b[1] : b[3], b[0] : b[2]])) for b in boxes)
    hull = (min(p[0] for p in pieces), min(p[1] for p in pieces), max(p[2] for p in pieces), max(p[3] for p in pieces))
    tight = (
        left + int(hull[0] / scale),
        top + int(hull[1] / scale),
        left + int(np.ceil(hull[2] / scale)),
        top + int(np.ceil(hull[3] / scale)),
    )
    return Reading(letters, tight)


def _without_brackets(picture: NDArray[np.uint8], pieces: list[Rect]) -> list[Rect]:
    """Return the pieces between an opening and a closing bracket, or before a closing one."""
    if len(pieces) > 2 and is_bracket(picture, pieces[-1], closing=True):
        pieces = pieces[:-1]
        if len(pieces) > 1 and is_bracket(picture, pieces[0], closing=False):
            pieces = pieces[1:]
    return pieces


def _upright(pieces: Sequence[Rect]) -> list[Rect]:
    """Return the pieces that are as tall as letters: without dots and commas."""
    tallest = max(p[3] - p[1] for p in pieces)
    return [p for p in pieces if p[3] - p[1] >= 0.5 * tallest]


def likeness(letters: Sequence[NDArray[np.float32]] | None, name: str) -> float:
    """Return how much the letters in a box look like a name, 0..1; `UNREAD` when they cannot be compared.

    A capital and its small letter count alike: captions and figures often differ in that.
    """
    wanted = [c for c in name if c.isalnum()]
    if not letters or not wanted:
        return UNREAD
    if len(wanted) > 3:
        read = "".join(_letter(vector) for vector in letters)
        same = SequenceMatcher(None, read, "".join(wanted).lower().translate(ONE_SHAPE), autojunk=False).ratio()
        # Letters of words touch: little in common says less than much.
        return same if same > 0.5 else UNREAD / 2
    # Brackets that were not recognised leave more glyphs than letters: the best run of glyphs counts.
    if len(letters) < len(wanted) or len(letters) > len(wanted) + 2:
        return 0.0 if len(wanted) == 1 and len(letters) > 4 else UNREAD / 2
    best = 0.0
    for first in range(len(letters) - len(wanted) + 1):
        run = letters[first : first + len(wanted)]
        others = [*letters[:first], *letters[first + len(wanted) :]]
        alike = sum(_alike(v, c) for v, c in zip(run, wanted, strict=True)) / len(wanted)
        best = max(best, alike * (PART_OF_WORD if any(_is_wide_letter(v) for v in others) else 1.0))
    return best


def _is_wide_letter(vector: NDArray[np.float32]) -> bool:
    """Say whether a glyph is a letter or digit that no bracket and no stroke looks like."""
    known = templates()
    best = int((known.vectors @ vector).argmax())
    return float(known.vectors[best] @ vector) >= LETTER and known.names[best] not in NARROW


def _letter(vector: NDArray[np.float32]) -> str:
    """Return the letter that a glyph resembles most, lower case."""
    known = templates()
    return known.names[int((known.vectors @ vector).argmax())].lower().translate(ONE_SHAPE)


@lru_cache(maxsize=256)
def _templates_of(letter: str, either: bool) -> NDArray[np.intp]:
    """Return the rows of the templates that are a letter, in either case or in the one given."""
    same = [name == letter or (either and name.lower() == letter.lower()) for name in templates().names]
    return np.flatnonzero(same)


def _alike(vector: NDArray[np.float32], letter: str, *, either: bool = True) -> float:
    """Return the likeness of a glyph and a letter, in either case or in the one given."""
    rows = _templates_of(letter, either)
    if not rows.size:
        return UNREAD
    return float(np.clip((templates().vectors[rows] @ vector).max(), 0, 1))


def _alphabet(vectors: Sequence[NDArray[np.float32]]) -> NDArray[np.float64]:
    """Return the likeness of the letters A to Z and a to z to that glyph which is most like each, (2, 26), 0..1."""
    if not vectors:
        return np.zeros((2, 26))
    known = (templates().vectors @ np.stack(vectors, axis=1)).max(axis=1)
    rows = [[_templates_of(chr(first + k), False) for k in range(26)] for first in b"Aa"]
    return np.asarray(np.clip([[known[own].max() for own in case] for case in rows], 0, 1), dtype=np.float64)


def in_rows(boxes: Sequence[Rect]) -> list[int]:
    """Return indices of boxes row by row: a row is what lies within one box height of its first box."""
    order = sorted(range(len(boxes)), key=lambda k: (boxes[k][1], boxes[k][0]))
    rows: list[list[int]] = []
    for k in order:
        height = boxes[k][3] - boxes[k][1]
        if rows and boxes[k][1] - boxes[rows[-1][0]][1] <= height:
            rows[-1].append(k)
        else:
            rows.append([k])
    return [k for row in rows for k in sorted(row, key=lambda k: boxes[k][0])]


def named_boxes(
    rgb: NDArray[np.uint8], boxes: Sequence[PrintedBox], names: Sequence[str]
) -> dict[int, tuple[PrintedBox, ...]]:
    """Return the boxes of each name (by its index) that has one, tight on the print; scores combine box and likeness.

    A name has one box, or several where the figure numbers the parts of a panel: a1, a2 under a caption that says a.

    Args:
        rgb: (height, width, 3) uint8, the canvas.
        boxes: boxes in which identifiers are printed.
        names: the caption's names of the panels, in its order.
    """
    if not boxes or not names:
        return {}
    readings = [reading(rgb, box.rect) for box in boxes]
    letters = [r.letters if r is not None else None for r in readings]
    alike = np.asarray([[likeness(found, name) for found in letters] for name in names])
    pairs = _numbered(letters, names, alike) if len(boxes) > len(names) else []
    if not pairs:
        pairs = _paired(boxes, alike)
    result: dict[int, tuple[PrintedBox, ...]] = {}
    for i, k, like in pairs:
        read = readings[k]
        # Glyphs that fill little of the box are not the print the box is about.
        close = read is not None and iou(_floats(read.rect), _floats(boxes[k].rect)) >= 0.4
        if boxes[k].score < (WITHOUT_READING if like <= UNREAD else 0):
            continue
        score = 1 - (1 - boxes[k].score) * (1 - like)
        rect = read.rect if read is not None and close else boxes[k].rect
        result[i] = (*result.get(i, ()), PrintedBox(rect, score, like))
    return dict(sorted(result.items()))


def printed_sequence(rgb: NDArray[np.uint8], boxes: Sequence[PrintedBox]) -> tuple[str, ...]:
    """Return "A", "B", "C" … or "a", "b", "c" … when the surest boxes say exactly that; empty otherwise.

    Args:
        rgb: (height, width, 3) uint8, the canvas.
        boxes: boxes in which identifiers may be printed; nobody says what they are.
    """
    order = sorted(boxes, key=lambda box: -box.score)[:26]
    alike: list[NDArray[np.float64]] = []
    for box in order:
        read = reading(rgb, box.rect)
        if read is None or len(read.letters) != 1:
            break
        alike.append(_alphabet(read.letters))
    for count in range(len(alike), 1, -1):
        known = np.stack(alike[:count])
        letters = known.max(axis=1)
        # c and C, x and X … have one shape, so a letter is what it resembles most in either case.
        if sorted(letters.argmax(axis=1).tolist()) == list(range(count)) and letters.max(axis=1).min() >= SURE:
            case = int(known[:, :, :count].max(axis=2).sum(axis=0).argmax())
            return tuple(chr(b"Aa"[case] + k) for k in range(count))
    return ()


def printed_series(rgb: NDArray[np.uint8], boxes: Sequence[PrintedBox]) -> tuple[str, ...]:
    """Return "A", "B", "C" … or "a", "b", "c" …, one for each box, when what can be read says so; empty otherwise.

    At least two boxes, and half of them, must read as letters of the sequence, each as another one, and none as a
    letter beyond it.

    Args:
        rgb: (height, width, 3) uint8, the canvas.
        boxes: boxes in which identifiers are printed; some may be illegible.
    """
    letters = [read.letters if (read := reading(rgb, box.rect)) is not None else () for box in boxes]
    cases = np.asarray([_alphabet(own) for own in letters]).reshape(-1, 2, 26).swapaxes(0, 1)
    known = cases.max(axis=0)
    # Glyphs of several letters are words, or a letter with brackets that were not recognised.
    sure = [k for k, own in enumerate(letters) if 1 <= len(own) <= 3 and known[k].max() >= SURE]
    said = [int(known[k].argmax()) for k in sure]
    if len(set(said)) < max(2, len(boxes) / 2) or len(set(said)) < len(said) or max(said) >= len(boxes):
        return ()
    case = int(np.argmax([sum(alike[k, letter] for k, letter in zip(sure, said, strict=True)) for alike in cases]))
    return tuple(chr(b"Aa"[case] + k) for k in range(len(boxes)))


@dataclass(frozen=True, slots=True)
class ReadLetter:
    """A letter read in a box.

    Attributes:
        index: 0 for A or a, 1 for B or b …
        likeness: 0..1, how far the print looks like it.
        small: likeness to the small letter.
        capital: likeness to the capital.
        rect: pixels of the canvas around the print, brackets and dots included.
    """

    index: int
    likeness: float
    small: float
    capital: float
    rect: Rect


def read_letter(rgb: NDArray[np.uint8], rect: Rect) -> ReadLetter | None:
    """Return the letter in a box that its print resembles most, in either case; None where it resembles none.

    Up to three glyphs are a letter with brackets that were not recognised; a single one must be as like as `SURE`.
    """
    read = reading(rgb, rect)
    if read is None or not 1 <= len(read.letters) <= MOST_GLYPHS:
        return None
    capital, small = _alphabet(read.letters)
    known = np.maximum(capital, small)
    index = int(known.argmax())
    likeness = float(known[index])
    if likeness < (SURE if len(read.letters) == 1 else LETTER):
        return None
    return ReadLetter(index, likeness, float(small[index]), float(capital[index]), read.rect)


def may_be(rgb: NDArray[np.uint8], rect: Rect, letter: str, *, unread: bool = False) -> bool:
    """Say whether a letter is printed in a box; with `unread` also whether nothing says that it is another one."""
    read = reading(rgb, rect)
    if read is None:
        return unread
    if len(read.letters) > 3:
        return False
    like = likeness(read.letters, letter)
    best = max(_alike(v, c) for v in read.letters for c in ascii_lowercase + digits)
    return like >= max(SURE, best) or (unread and best < SURE)


def _paired(boxes: Sequence[PrintedBox], alike: NDArray[np.float64]) -> list[tuple[int, int, float]]:
    """Return (name, box, likeness) of the best pairing of names with boxes; `alike` is (names, boxes)."""
    best: list[tuple[int, int, float]] = []
    most = -np.inf
    for transposed in (False, True):
        rects = [(b.rect[1], b.rect[0], b.rect[3], b.rect[2]) if transposed else b.rect for b in boxes]
        rank = np.empty(len(boxes))
        rank[in_rows(rects)] = np.linspace(0, 1, len(boxes)) if len(boxes) > 1 else 0.5
        expected = np.linspace(0, 1, len(alike)) if len(alike) > 1 else np.asarray([0.5])
        order = 1 - np.abs(expected[:, None] - rank[None])
        value = 0.75 * alike + 0.25 * order * np.asarray([b.score for b in boxes])[None]
        chosen = best_pairing(value)
        # Rows are tried first; columns must be clearly better.
        total = float(value[chosen].sum()) - 0.02 * transposed
        if total > most:
            pairs = zip(*(side.tolist() for side in chosen), strict=True)
            best, most = [(i, k, float(alike[i, k])) for i, k in pairs if value[i, k] >= LEAST_VALUE], total
    return best


def _numbered(
    letters: Sequence[Sequence[NDArray[np.float32]] | None], names: Sequence[str], alike: NDArray[np.float64]
) -> list[tuple[int, int, float]]:
    """Return (name, box, likeness) when most boxes read as a name followed by a digit; empty otherwise."""
    if any(len(name) != 1 or not name.isalpha() for name in names):
        return []
    pairs: list[tuple[int, int, float]] = []
    for k, found in enumerate(letters):
        if found is None or len(found) < 2:
            continue
        digits = max(_alike(found[-1], d) for d in "123456789")
        first = [_alike(found[-2], name) for name in names]
        i = int(np.argmax(first))
        like = (digits + first[i]) / 2
        if like >= SURE and like > float(alike[:, k].max()) - 0.1:
            pairs.append((i, k, like))
    known = {i for i, _, _ in pairs}
    return pairs if 2 * len(pairs) > len(letters) and len(known) == len(names) else []


def _floats(rect: Rect) -> Box:
    return (float(rect[0]), float(rect[1]), float(rect[2]), float(rect[3]))
