"""Pictures as they come out of figures: parts, small, compressed, re-coloured, framed, printed and drawn upon.

A data set holds whole pictures straight from the device. In an article the same picture is a strip of a scan, a
thumbnail of 40 pixels, grey in print, with a letter in its corner and a piece of its neighbour at the edge. What the
picture was made with does not change by any of this.
"""

from __future__ import annotations

import cv2
import numpy as np

from pmo_assets.records.modalities import Modality
from pmo_assets.samples.drawing import Colour, Pixels, Rng, false_colours, grey_of, one_of, print_text
from pmo_assets.training.synthetic.device_print import draw_device_print
from pmo_assets.training.synthetic.drawn_marks import draw_marks
from pmo_assets.training.synthetic.pools import recoloured_oct
from pmo_assets.training.synthetic.worn_pictures import worn

WORKING_SIDE = 256
"""Long side in pixels at which pictures are drawn upon: more is lost again on the way into the network."""

SMALLEST, LARGEST = 18, 300
"""Long side in pixels of the thumbnails that pictures are reduced to and back."""

ON_PAPER: frozenset[Modality] = frozenset({"plot", "diagram", "text"})
"""Modalities on white paper, of which a small part shows nothing of what they are."""


def figure_crop(rng: Rng, pixels: Pixels, modality: Modality | None = None) -> Pixels:
    """Return a picture as a figure would show it.

    Args:
        rng: decides everything.
        pixels: (height, width, 3) uint8 RGB.
        modality: what it was made with, where known: scans are stretched and re-coloured, paper is hardly cut.

    Returns:
        (height, width, 3) uint8 RGB, at least 8 pixels wide and high.
    """
    picture = _turned(rng, _part(rng, pixels, modality), modality)
    picture = _working_size(rng, picture, modality)
    picture = _recoloured(rng, picture, modality)
    picture = _printed_on(rng, picture)
    if rng.random() < 0.25:
        picture = _framed(rng, picture)
    if rng.random() < 0.45:
        picture = _thumbnail(rng, picture)
    return worn(rng, picture)


def _part(rng: Rng, pixels: Pixels, modality: Modality | None) -> Pixels:
    if rng.random() < 0.4:
        return pixels
    tall, wide = pixels.shape[:2]
    least = 0.6 if modality in ON_PAPER else 0.12
    share, stretch = float(rng.uniform(least, 1.0)), float(np.exp(rng.normal(0, 0.3)))
    width = int(np.clip(round(wide * (share * stretch) ** 0.5), 8, wide))
    height = int(np.clip(round(tall * (share / stretch) ** 0.5), 8, tall))
    for _ in range(4):  # not the dark around a round field
        left, top = int(rng.integers(0, wide - width + 1)), int(rng.integers(0, tall - height + 1))
        part = pixels[top : top + height, left : left + width]
        if float(part.max(axis=2).mean()) > 0.5 * float(pixels.max(axis=2).mean()):
            break
    return part


def _turned(rng: Rng, picture: Pixels, modality: Modality | None) -> Pixels:
    if rng.random() < 0.5:
        picture = picture[:, ::-1]
    if modality == "OCT":
        if rng.random() < 0.35:
            tall, wide = picture.shape[:2]
            turn = cv2.getRotationMatrix2D((wide / 2, tall / 2), float(rng.normal(0, 7)), 1.0)
            picture = np.asarray(
                cv2.warpAffine(np.ascontiguousarray(picture), turn, (wide, tall), borderMode=cv2.BORDER_REFLECT),
                dtype=np.uint8,
            )
    elif modality not in ON_PAPER:
        if rng.random() < 0.15:
            picture = picture[::-1]
        if rng.random() < 0.1:
            picture = np.asarray(np.rot90(picture, int(rng.integers(1, 4))), dtype=np.uint8)
    return np.ascontiguousarray(picture)


def _working_size(rng: Rng, picture: Pixels, modality: Modality | None) -> Pixels:
    """Return the picture at the working size, scans stretched as devices and authors do."""
    tall, wide = picture.shape[:2]
    aspect = wide / tall * float(np.exp(rng.normal(0, 0.35 if modality == "OCT" else 0.08)))
    aspect = float(np.clip(aspect, 0.2, 5))
    width, height = WORKING_SIDE * min(1.0, aspect), WORKING_SIDE * min(1.0, 1 / aspect)
    method = cv2.INTER_AREA if width < wide else cv2.INTER_LINEAR
    return np.asarray(cv2.resize(picture, (max(24, round(width)), max(24, round(height))), interpolation=method))


def _recoloured(rng: Rng, picture: Pixels, modality: Modality | None) -> Pixels:
    if modality == "OCT" and rng.random() < 0.5:
        picture = recoloured_oct(rng, picture)
    elif (
        modality in ("OCT angiography", "fluorescein angiography", "infrared", "adaptive optics")
        and rng.random() < 0.06
    ):
        grey = grey_of(picture)
        maps = (cv2.COLORMAP_HOT, cv2.COLORMAP_VIRIDIS, cv2.COLORMAP_BONE, cv2.COLORMAP_OCEAN)
        picture = false_colours(grey, one_of(rng, maps))
    elif modality == "OCT angiography" and rng.random() < 0.05:
        picture = np.asarray(255 - picture, dtype=np.uint8)
    gamma, gain = float(np.exp(rng.normal(0, 0.3))), float(np.exp(rng.normal(0, 0.2)))
    lift = float(rng.uniform(0, 40)) if rng.random() < 0.15 else 0.0
    tint = np.exp(rng.normal(0, 0.06, 3)) if float(np.ptp(picture.mean(axis=(0, 1)))) > 4 else np.ones(3)
    levels = np.arange(256) / 255
    table = np.stack([np.clip(lift + (255 - lift) * gain * t * levels**gamma, 0, 255) for t in tint], axis=1)
    return np.asarray(cv2.LUT(np.ascontiguousarray(picture), table.astype(np.uint8)[None]), dtype=np.uint8)


def _ink_on(ground: Pixels) -> Colour:
    return (0, 0, 0) if ground.size and float(ground.mean()) > 128 else (255, 255, 255)


def _printed_on(rng: Rng, picture: Pixels) -> Pixels:
    """Draw ink of devices and authors onto the picture, in place: device print, marks, a letter, a contour."""
    tall, wide = picture.shape[:2]
    if rng.random() < 0.2:
        draw_device_print(rng, picture)
    if rng.random() < 0.2:
        draw_marks(rng, picture)
    if rng.random() < 0.25:
        size = max(8, round(WORKING_SIDE * float(rng.uniform(0.07, 0.2))))
        x = 4 if rng.random() < 0.8 else max(0, wide - size - 4)
        y = 4 if rng.random() < 0.7 else max(0, tall - size - 4)
        print_text(
            picture,
            x,
            y,
            str(rng.choice(list("ABCDEFabcdef12"))),
            "hebo",
            size,
            _ink_on(picture[y : y + size, x : x + size]),
        )
    if rng.random() < 0.08:  # a boundary or a path drawn from side to side
        x = np.linspace(0, wide - 1, 40)
        y = tall * float(rng.uniform(0.2, 0.8)) + np.cumsum(rng.normal(0, tall / 90, 40))
        colours: tuple[Colour, ...] = ((255, 0, 0), (0, 255, 0), (255, 255, 0), (0, 255, 255), (255, 255, 255))
        points = np.stack([x, y], axis=1).round().astype(np.int32).reshape(-1, 1, 2)
        cv2.polylines(picture, [points], False, colours[int(rng.integers(5))], int(rng.integers(1, 4)), cv2.LINE_AA)
    return picture


def _framed(rng: Rng, picture: Pixels) -> Pixels:
    """Return the picture with a strip of paper, black or its neighbour at some of its edges, as loose boxes have it."""
    tall, wide = picture.shape[:2]
    top, bottom, left, right = (
        round(side * float(rng.uniform(0.01, 0.1))) * bool(rng.random() < 0.5) for side in (tall, tall, wide, wide)
    )
    if rng.random() < 0.25:
        return np.asarray(cv2.copyMakeBorder(picture, top, bottom, left, right, cv2.BORDER_WRAP), dtype=np.uint8)
    paper = (255, 255, 255) if rng.random() < 0.7 else (0, 0, 0)
    bordered = cv2.copyMakeBorder(picture, top, bottom, left, right, cv2.BORDER_CONSTANT, value=paper)
    return np.asarray(bordered, dtype=np.uint8)


def _thumbnail(rng: Rng, picture: Pixels) -> Pixels:
    """Return the picture reduced to a thumbnail; the network's input enlarges it again."""
    goal = float(np.exp(rng.uniform(np.log(SMALLEST), np.log(LARGEST))))
    scale = min(1.0, goal / max(picture.shape[:2]))
    size = (max(8, round(picture.shape[1] * scale)), max(8, round(picture.shape[0] * scale)))
    return np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)
