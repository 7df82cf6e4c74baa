"""Drawn pictures that fill their frame: heat maps, masks, blots, sections, scans of the body, photographs.

Each depends on the generator's state alone and returns (height, width, 3) uint8 RGB.
"""

from __future__ import annotations

import cv2
import numpy as np

from pmo_assets.samples.drawing import (
    Colour,
    Pixels,
    Rng,
    cloud,
    false_colours,
    grey_picture,
    one_of,
    paper,
    print_text,
)

_MAPS: tuple[int, ...] = (
    cv2.COLORMAP_VIRIDIS, cv2.COLORMAP_JET, cv2.COLORMAP_HOT, cv2.COLORMAP_BONE, cv2.COLORMAP_INFERNO,
    cv2.COLORMAP_COOL,
)  # fmt: skip


def heat_map(rng: Rng, width: int, height: int) -> Pixels:
    """Draw a matrix in a colour map; fills the frame."""
    n, m = int(rng.integers(3, 24)), int(rng.integers(3, 24))
    values = rng.random((n, m)) ** rng.uniform(0.6, 2)
    if rng.random() < 0.5:  # a confusion matrix
        values = values * 0.3 + np.eye(n, m) * 0.7
    grey = np.asarray(values * 255, dtype=np.uint8)
    colours = cv2.applyColorMap(grey, one_of(rng, _MAPS))
    picture = np.asarray(cv2.resize(colours, (width, height), interpolation=cv2.INTER_NEAREST), dtype=np.uint8)
    if n * m <= 64 and rng.random() < 0.6:
        size = max(6, round(min(width / m, height / n) * 0.35))
        for i in range(n):
            for j in range(m):
                light = int(grey[i, j]) > 128
                x, y = round((j + 0.3) * width / m), round((i + 0.35) * height / n)
                print_text(picture, x, y, f"{values[i, j]:.1f}", "helv", size, (0, 0, 0) if light else (255, 255, 255))
    return picture


def spots(rng: Rng, width: int, height: int) -> Pixels:
    """Draw soft spots on black, white or blue: percepts, attention maps, segmentation masks; fills the frame."""
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    level = np.zeros((height, width), np.float32)
    for _ in range(int(rng.integers(1, 6))):
        cx, cy = rng.uniform(0.2, 0.8) * width, rng.uniform(0.2, 0.8) * height
        sx, sy = rng.uniform(0.03, 0.2) * width, rng.uniform(0.03, 0.2) * height
        level += np.exp(-(((x - cx) / sx) ** 2) - ((y - cy) / sy) ** 2) * rng.uniform(0.5, 1)
    style = int(rng.integers(5))
    if style <= 1:
        mask = level > 0.4
        ground = [(0, 0, 0), (0, 45, 70), (68, 1, 84), (255, 255, 255)][int(rng.integers(4))]
        picture = paper(width, height, ground)
        picture[mask] = [(255, 255, 255), (255, 170, 0), (200, 30, 30), (40, 160, 60)][int(rng.integers(4))]
        if ground == (255, 255, 255):
            cv2.rectangle(picture, (0, 0), (width - 1, height - 1), (0, 0, 0), 1)
            picture[mask] = (0, 0, 0)
        return picture
    grey = np.asarray(np.clip(level * 255, 0, 255), dtype=np.uint8)
    if style == 2:
        return grey_picture(grey)
    return false_colours(grey, cv2.COLORMAP_JET if style == 3 else cv2.COLORMAP_HOT)


def segmentation(rng: Rng, width: int, height: int) -> Pixels:
    """Draw a segmentation mask: regions and small lesions in flat colours on a dark ground; fills the frame."""
    grounds: tuple[Colour, ...] = ((0, 0, 0), (0, 45, 70), (68, 1, 84), (20, 20, 60))
    picture = paper(width, height, one_of(rng, grounds))
    colours = [tuple(int(v) for v in rng.integers(60, 256, 3)) for _ in range(2)]
    if rng.random() < 0.6:  # one large region
        picture[cloud(rng, width, height, 4) > rng.uniform(0.6, 1.3)] = colours[0]
    fine = cloud(rng, width, height, rng.uniform(12, 40)) - 0.5 * np.abs(np.linspace(-2, 2, height))[:, None]
    picture[fine > rng.uniform(0.8, 1.6)] = colours[1] if rng.random() < 0.7 else (255, 255, 255)
    return picture


def blot(rng: Rng, width: int, height: int) -> Pixels:
    """Draw one strip of a western blot or gel; fills the frame."""
    dark_ground = rng.random() < 0.2
    lanes = int(rng.integers(2, 9))
    level = np.full((height, width), rng.uniform(170, 235), np.float32) + 6 * cloud(rng, width, height, 12)
    rows = max(1, round(height / width * 6))
    for lane in range(lanes):
        for row in range(rows):
            if rng.random() < 0.25:
                continue
            x, y = (lane + 0.5) / lanes * width, (row + rng.uniform(0.4, 0.6)) / rows * height
            a, b = rng.uniform(0.28, 0.42) * width / lanes, rng.uniform(0.1, 0.25) * height / rows
            left, right = max(0, int(x - 2 * a)), min(width, int(x + 2 * a) + 1)
            cols, lines = np.arange(left, right, dtype=np.float32), np.arange(height, dtype=np.float32)[:, None]
            band = np.exp(-(((cols - x) / a) ** 4) - ((lines - y) / b) ** 2)
            level[:, left:right] -= band * rng.uniform(60, 200)
    grey = np.clip(level + rng.normal(0, 3, level.shape), 5, 250).astype(np.uint8)
    return grey_picture(255 - grey if dark_ground else grey)


def texture(rng: Rng, width: int, height: int) -> Pixels:
    """Draw a stained section, fluorescence micrograph or electron micrograph; fills the frame."""
    style = int(rng.integers(4))
    fine = cloud(rng, width, height, rng.uniform(20, 80))
    coarse = cloud(rng, width, height, rng.uniform(3, 12))
    if style <= 1:  # haematoxylin and eosin
        ground = np.asarray(
            [(228, 160, 200), (240, 190, 215), (200, 190, 220), (215, 170, 130)][int(rng.integers(4))], np.float32
        )
        picture = ground + (9 * fine + 14 * coarse)[:, :, None] * np.asarray([0.6, 1.3, 0.8], np.float32)
        picture = np.clip(picture, 0, 248).astype(np.uint8)
        unit = max(width, height) / rng.uniform(60, 200)
        nucleus = np.asarray([(98, 62, 140), (60, 50, 120), (110, 60, 40)][int(rng.integers(3))])
        layered = rng.random() < 0.35
        for _ in range(int(rng.integers(80, 350))):
            y = height * (rng.choice([0.3, 0.55, 0.75]) + rng.normal(0, 0.05)) if layered else rng.uniform(0, height)
            place = (int(rng.uniform(0, width)), int(y))
            axes = (max(1, round(rng.uniform(0.8, 1.6) * unit)), max(1, round(rng.uniform(0.6, 1.1) * unit)))
            cv2.ellipse(
                picture,
                place,
                axes,
                rng.uniform(0, 180),
                0,
                360,
                (nucleus + rng.integers(-18, 18, 3)).clip(0, 255).tolist(),
                -1,
                cv2.LINE_AA,
            )
        if rng.random() < 0.3:  # pale lumen or rim of the section
            picture[coarse > 1.0] = (245, 243, 246)
        return picture
    if style == 2:  # fluorescence
        picture = np.zeros((height, width, 3), np.float32)
        for channel in rng.permutation(3)[: int(rng.integers(1, 3))].tolist():
            blobs = np.clip(cloud(rng, width, height, rng.uniform(8, 40)) - rng.uniform(0.3, 1.2), 0, 2) * 160
            picture[:, :, channel] += blobs
        return np.clip(picture + rng.normal(8, 4, picture.shape), 0, 255).astype(np.uint8)
    grey = np.clip(128 + 30 * coarse + 22 * fine + 18 * cloud(rng, width, height, min(width, 300)), 0, 255).astype(
        np.uint8
    )
    return grey_picture(grey)


def body_scan(rng: Rng, width: int, height: int) -> Pixels:
    """Draw something like CT, MRI or ultrasound: grey organs in an outline on black; fills the frame."""
    y, x = np.mgrid[-1 : 1 : height * 1j, -1 : 1 : width * 1j].astype(np.float32)
    level = np.zeros((height, width), np.float32)
    if rng.random() < 0.25:  # ultrasound fan
        depth, angle = np.hypot(x, y + 1.05), np.arctan2(x, y + 1.05)
        fan = (np.abs(angle) < 0.7) & (depth > 0.12) & (depth < 1.9)
        grain = rng.gamma(2.0, 0.5, (height, width)).astype(np.float32)
        level = fan * np.clip(55 + 35 * cloud(rng, width, height, 6), 4, 200) * cv2.GaussianBlur(grain, (0, 0), 1.2)
    else:
        outline = (x / rng.uniform(0.75, 0.95)) ** 2 + (y / rng.uniform(0.7, 0.95)) ** 2 + 0.06 * cloud(
            rng, width, height, 5
        ) < 1
        level = outline * (70 + 20 * cloud(rng, width, height, 9))
        for _ in range(int(rng.integers(3, 12))):
            cx, cy = rng.uniform(-0.55, 0.55, 2)
            organ = ((x - cx) / rng.uniform(0.05, 0.3)) ** 2 + ((y - cy) / rng.uniform(0.05, 0.3)) ** 2 < 1
            level = np.where(organ & outline, rng.uniform(20, 235), level)
        level = cv2.GaussianBlur(level.astype(np.float32), (0, 0), max(0.8, width / 250))
        level = level + rng.normal(0, 5, level.shape)
    return grey_picture(np.clip(level, 0, 255).astype(np.uint8))


def photograph(rng: Rng, width: int, height: int) -> Pixels:
    """Draw something like a photograph of skin, an eye or an object: smooth colours, light from one side."""
    ground = np.asarray(
        [(205, 150, 125), (150, 95, 70), (60, 120, 170), (120, 120, 120), (180, 60, 50), (40, 110, 60)][
            int(rng.integers(6))
        ],
        np.float32,
    )
    y, x = np.mgrid[-1 : 1 : height * 1j, -1 : 1 : width * 1j].astype(np.float32)
    shade = (
        1
        + 0.25 * (x * rng.uniform(-1, 1) + y * rng.uniform(-1, 1))
        + 0.08 * cloud(rng, width, height, 5)
        + 0.03 * cloud(rng, width, height, 60)
    )
    picture = ground * shade[:, :, None]
    for _ in range(int(rng.integers(1, 5))):
        cx, cy, sx, sy = *rng.uniform(-0.6, 0.6, 2), *rng.uniform(0.1, 0.5, 2)
        share = np.clip(3 * (1 - ((x - cx) / sx) ** 2 - ((y - cy) / sy) ** 2), 0, 1)[:, :, None]
        picture += share * (rng.uniform(20, 235, 3).astype(np.float32) * shade[:, :, None] - picture)
    return np.clip(picture + rng.normal(0, 3, picture.shape[:2])[:, :, None], 0, 255).astype(np.uint8)


def skin_lesion(rng: Rng, width: int, height: int) -> Pixels:
    """Draw something like a dermatoscopic picture: a pigmented spot with an uneven rim on skin, with hairs."""
    skin = np.asarray([(225, 175, 155), (205, 150, 130), (235, 200, 185), (160, 105, 80)][int(rng.integers(4))])
    spot = np.asarray([(110, 65, 45), (75, 45, 40), (150, 85, 75), (60, 50, 55)][int(rng.integers(4))])
    y, x = np.mgrid[-1 : 1 : height * 1j, -1 : 1 : width * 1j].astype(np.float32)
    cx, cy, sx, sy = *rng.uniform(-0.2, 0.2, 2), *rng.uniform(0.25, 0.7, 2)
    rim = 1 - ((x - cx) / sx) ** 2 - ((y - cy) / sy) ** 2 + 0.15 * cloud(rng, width, height, 8)
    share = np.clip(rng.uniform(2, 5) * rim, 0, 1) * (0.8 + 0.15 * cloud(rng, width, height, 20))
    level = skin + 5 * cloud(rng, width, height, 40)[:, :, None]
    picture = level + np.clip(share, 0, 1)[:, :, None] * (spot - level)
    if rng.random() < 0.3:  # the dark surround of the device's field
        picture *= ((x**2 + y**2) < rng.uniform(1.1, 1.8))[:, :, None]
    drawn = np.clip(picture + rng.normal(0, 3, picture.shape), 0, 255).astype(np.uint8)
    for _ in range(int(rng.integers(0, 6))):
        ends = rng.integers(0, max(width, height), (2, 2)).tolist()
        cv2.line(drawn, tuple(ends[0]), tuple(ends[1]), (60, 40, 35), 1, cv2.LINE_AA)
    return drawn
