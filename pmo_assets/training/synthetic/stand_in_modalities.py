"""Stand-ins for retinal modalities of which hardly any open picture exists, made from colour fundus photographs.

Each follows the physics that makes its pictures look as they do, and is named in the model card: what learns from them
has not seen the real thing.

* Red-free: green light, which haemoglobin absorbs, so that vessels are dark and fibres bright.
* Infrared reflectance: long waves pass the pigment; contrast is low and the disc hardly stands out; a square field.
* Autofluorescence: lipofuscin glows; vessels and the disc have none and are dark, macular pigment shades the fovea.
* Fluorescein angiography: dye in the retinal vessels glows on a dark ground; it leaks in late frames.
* Indocyanine green angiography: dye in the choroid, a net of broad vessels below, the disc dark.
* Ultra-widefield: red and green laser and no blue; the disc is small, lids and lashes cut the field above and below.
* Montage: several fields of one eye side by side, each exposed for itself, with an outline of arcs.
* Thickness map: distances between layers in false colours, high in a ring around the fovea or in two arcs.
* Adaptive optics: a mosaic of single cells; with a split detector each cell is lit from one side; with light that went
  astray it is blurred; single frames are dark and grainy.
"""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np
from numpy.typing import NDArray

from pmo_assets.records.modalities import Modality
from pmo_assets.samples.drawing import Floats, Pixels, Rng, cloud, false_colours, grey_picture, one_of

FIELD = 14
"""Level of the green channel from which a pixel of a fundus photograph belongs to the field and not its surround."""


def _blurred(values: NDArray[np.floating], sigma: float) -> Floats:
    return np.asarray(cv2.GaussianBlur(values, (0, 0), max(0.3, sigma)), dtype=np.float32)


def _grey(values: NDArray[np.floating], field: NDArray[np.bool_] | None = None) -> Pixels:
    """Return values 0..1 as a grey RGB picture, black outside the field."""
    plane = (np.clip(values, 0, 1) * 255).astype(np.uint8)
    if field is not None:
        plane = np.where(field, plane, 0).astype(np.uint8)
    return grey_picture(plane)


def _parts(photograph: Pixels) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Return vessels (about 0..1, high where darker than around), the smooth ground 0..1, and the field."""
    green = np.asarray(photograph[:, :, 1], dtype=np.float32) / 255
    field = np.asarray(photograph.max(axis=2) > FIELD)
    side = float(np.sqrt(green.size))
    weight = _blurred(field.astype(np.float32), side / 25) + 1e-3
    ground = _blurred(np.where(field, green, 0).astype(np.float32), side / 25) / weight
    vessels = np.clip((ground - _blurred(green, side / 400)) * 8, 0, 1)
    inner = cv2.erode(field.astype(np.uint8), np.ones((5, 5), np.uint8), borderValue=0).astype(bool)
    return np.where(inner, vessels, 0).astype(np.float32), ground.astype(np.float32), field


def _disc(ground: Floats, field: NDArray[np.bool_]) -> tuple[float, float]:
    """Return (x, y) of the brightest place of the smooth ground, most often the optic disc."""
    masked = np.where(field, ground, 0)
    y, x = np.unravel_index(int(masked.argmax()), masked.shape)
    return float(x), float(y)


def _spot(shape: tuple[int, ...], x: float, y: float, radius: float) -> Floats:
    """Return a soft spot, 1 in the middle."""
    rows, columns = np.mgrid[0 : shape[0], 0 : shape[1]].astype(np.float32)
    return np.exp(-((columns - x) ** 2 + (rows - y) ** 2) / (2 * radius**2)).astype(np.float32)


def _fovea(rng: Rng, shape: tuple[int, ...], disc: tuple[float, float]) -> tuple[float, float]:
    """Return a place for the fovea: towards the middle from the disc, some 2.5 disc diameters away."""
    height, width = shape[:2]
    side = float(np.sqrt(height * width))
    towards = 1.0 if disc[0] < width / 2 else -1.0
    return disc[0] + towards * side * float(rng.uniform(0.3, 0.42)), disc[1] + side * float(rng.normal(0.03, 0.02))


def _grain(rng: Rng, shape: tuple[int, ...], amount: float) -> Floats:
    return _blurred(rng.normal(0, amount * 1.6, shape[:2]).astype(np.float32), float(rng.uniform(0.4, 1.0)))


def red_free(rng: Rng, photograph: Pixels) -> Pixels:
    """Return the green channel with its contrast raised."""
    plane = np.asarray(
        cv2.createCLAHE(float(rng.uniform(1, 4)), (8, 8)).apply(np.ascontiguousarray(photograph[:, :, 1]))
    )
    values = plane.astype(np.float32) / 255 * float(rng.uniform(0.7, 1.3))
    picture = _grey(values + _grain(rng, values.shape, 0.015), photograph.max(axis=2) > FIELD)
    if rng.random() < 0.15:  # printed green
        picture = (picture * np.asarray([0.35, 1.0, 0.45])).astype(np.uint8)
    return picture


def infrared(rng: Rng, photograph: Pixels) -> Pixels:
    """Return a square field of low contrast with the speckle of a scanning laser."""
    height, width = photograph.shape[:2]
    side = round(min(height, width) * float(rng.uniform(0.5, 0.7)))
    top, left = (height - side) // 2, (width - side) // 2
    part = np.ascontiguousarray(photograph[top : top + side, left : left + side])
    red, green = part[:, :, 0].astype(np.float32) / 255, part[:, :, 1].astype(np.float32) / 255
    mixed = red * 0.45 + green * 0.55
    detail = mixed - _blurred(mixed, side / 12)
    level = float(rng.uniform(0.3, 0.6)) + 0.08 * cloud(rng, side, side, 3)
    values = level + detail * float(rng.uniform(1.0, 2.2)) + _grain(rng, mixed.shape, float(rng.uniform(0.01, 0.06)))
    return _grey(values * (1 - 0.25 * (1 - _spot(values.shape, side / 2, side / 2, side * 0.45))))


def autofluorescence(rng: Rng, photograph: Pixels) -> Pixels:
    """Return a smooth glow with dark vessels, disc and fovea, sometimes with dark or bright patches of disease."""
    vessels, ground, field = _parts(photograph)
    side = float(np.sqrt(ground.size))
    disc = _disc(ground, field)
    fovea = _fovea(rng, ground.shape, disc)
    values = float(rng.uniform(0.35, 0.6)) + 0.06 * cloud(rng, ground.shape[1], ground.shape[0], 4)
    values = values * (1 - 0.75 * vessels)
    values *= 1 - float(rng.uniform(0.6, 0.95)) * np.clip(_spot(ground.shape, *disc, side * 0.065) * 1.8, 0, 1)
    values *= 1 - float(rng.uniform(0.3, 0.7)) * _spot(ground.shape, *fovea, side * float(rng.uniform(0.05, 0.1)))
    ring = _spot(ground.shape, *fovea, side * 0.16) - 0.8 * _spot(ground.shape, *fovea, side * 0.11)
    values += float(rng.choice([0.0, 0.15, 0.35])) * np.clip(ring, 0, 1)
    if rng.random() < 0.5:  # atrophy is black with a sharp, scalloped edge
        patches = cloud(rng, ground.shape[1], ground.shape[0], 9) + 2.2 * _spot(ground.shape, *fovea, side * 0.15)
        values = np.where(_blurred(patches, side / 150) > rng.uniform(1.6, 2.4), 0.06, values)
    values = values + _grain(rng, values.shape, float(rng.uniform(0.01, 0.05)))
    if rng.random() < 0.5:  # the square field of a scanning laser
        return _middle(_grey(values), field)
    return _grey(values, field)


def _middle(picture: Pixels, field: NDArray[np.bool_]) -> Pixels:
    """Return the square inside a round field."""
    height, width = field.shape
    side = round(min(height, width) * 0.68)
    top, left = (height - side) // 2, (width - side) // 2
    return np.ascontiguousarray(picture[top : top + side, left : left + side])


def fluorescein_angiography(rng: Rng, photograph: Pixels) -> Pixels:
    """Return bright vessels on a dark ground, with leaks, dots and areas without flow."""
    vessels, ground, field = _parts(photograph)
    height, width = ground.shape
    side = float(np.sqrt(ground.size))
    disc = _disc(ground, field)
    choroid = (
        float(rng.uniform(0.05, 0.3)) + 0.05 * cloud(rng, width, height, 12) + 0.03 * cloud(rng, width, height, 40)
    )
    values = choroid * (1 - 0.7 * _spot(ground.shape, *_fovea(rng, ground.shape, disc), side * 0.08))
    values = values + float(rng.uniform(0.6, 1.3)) * vessels
    values += float(rng.uniform(0.0, 0.6)) * _spot(ground.shape, *disc, side * 0.05)
    for _ in range(int(rng.integers(0, 40)) if rng.random() < 0.6 else 0):
        x, y = float(rng.uniform(0, width)), float(rng.uniform(0, height))
        cv2.circle(values, (round(x), round(y)), max(1, round(side * rng.uniform(0.002, 0.006))), 0.9, -1, cv2.LINE_AA)
    for _ in range(int(rng.integers(0, 4))):
        x, y = float(rng.uniform(0.2, 0.8) * width), float(rng.uniform(0.2, 0.8) * height)
        values += float(rng.uniform(0.3, 0.8)) * _spot(ground.shape, x, y, side * float(rng.uniform(0.02, 0.09)))
    values = _blurred(values.astype(np.float32), side / 500) + _grain(rng, values.shape, 0.02)
    if rng.random() < 0.25:
        return _middle(_grey(values), field)
    return _grey(values, field)


def indocyanine_green(rng: Rng, photograph: Pixels) -> Pixels:
    """Return a net of broad, blurred choroidal vessels with faint retinal ones above and a dark disc."""
    vessels, ground, field = _parts(photograph)
    height, width = ground.shape
    side = float(np.sqrt(ground.size))
    net = np.zeros((height, width), np.float32)
    for cells, share in ((9, 1.0), (15, 0.6), (24, 0.35)):
        net += share * np.clip(1 - 2.2 * np.abs(cloud(rng, width, height, cells)), 0, 1)
    disc = _disc(ground, field)
    values = float(rng.uniform(0.15, 0.35)) + float(rng.uniform(0.2, 0.45)) * net / 1.5 + 0.25 * vessels
    values *= 1 - 0.8 * np.clip(_spot(ground.shape, *disc, side * 0.06) * 1.6, 0, 1)
    if rng.random() < 0.5:
        x, y = float(rng.uniform(0.3, 0.7) * width), float(rng.uniform(0.3, 0.7) * height)
        values += float(rng.uniform(0.3, 0.7)) * _spot(ground.shape, x, y, side * float(rng.uniform(0.02, 0.08)))
    values *= 0.6 + 0.4 * _spot(ground.shape, width / 2, height / 2, side * 0.4)
    values = _blurred(values.astype(np.float32), side / 220) + _grain(rng, values.shape, 0.025)
    return _middle(_grey(values), field) if rng.random() < 0.5 else _grey(values, field)


def _wide(photograph: Pixels, times: float) -> Pixels:
    """Return the inside of a round field, continued by reflection to `times` its size."""
    height, width = photograph.shape[:2]
    side = round(min(height, width) * 0.66)
    top, left = (height - side) // 2, (width - side) // 2
    inside = np.ascontiguousarray(photograph[top : top + side, left : left + side])
    border = round(side * (times - 1) / 2)
    return np.asarray(cv2.copyMakeBorder(inside, border, border, border, border, cv2.BORDER_REFLECT), dtype=np.uint8)


def ultra_widefield(rng: Rng, photograph: Pixels) -> Pixels:
    """Return the two-colour picture of a scanning laser: small disc, green periphery, lids and lashes."""
    wide = _wide(photograph, float(rng.uniform(1.3, 2.0)))
    side = wide.shape[0]
    tall = round(side / float(rng.uniform(1.0, 1.5)))
    wide = wide[(side - tall) // 2 : (side - tall) // 2 + tall]
    detail = wide.astype(np.float32) / 255
    luma = detail[:, :, 1] * 0.7 + detail[:, :, 0] * 0.3
    local = luma - _blurred(luma, side / 14)
    away = 1 - _spot(luma.shape, side / 2 + rng.normal(0, side / 12), tall / 2, side * float(rng.uniform(0.2, 0.35)))
    shade = float(rng.uniform(0.35, 0.6)) * (1 - 0.35 * away) + 0.05 * cloud(rng, side, tall, 4)
    greenness = np.clip(float(rng.uniform(0.25, 0.7)) + float(rng.uniform(-0.1, 0.5)) * away, 0.2, 1.15)
    red = shade * (1.15 - 0.45 * greenness) + local * 1.2
    green = shade * greenness + local * 1.4
    blue = shade * float(rng.uniform(0.0, 0.18))
    picture = np.clip(np.stack([red, green, blue], axis=2) * float(rng.uniform(0.8, 1.5)) * 255, 0, 255).astype(
        np.uint8
    )
    if rng.random() < 0.65:  # lids and lashes
        x = np.linspace(-1, 1, side, dtype=np.float32)[None, :]
        y = np.linspace(-1, 1, tall, dtype=np.float32)[:, None]
        power = float(rng.uniform(2.2, 5))
        reach = np.abs(x / rng.uniform(0.9, 1.05)) ** power + np.abs(y / rng.uniform(0.8, 1.05)) ** power
        lash = 0.08 * np.sin(x * rng.uniform(8, 30) + rng.uniform(0, 6)) * (y > 0.2)
        skin = np.asarray([rng.uniform(0, 30), rng.uniform(0, 60), rng.uniform(0, 30)], dtype=np.float32)
        keep = np.clip((1 - reach + lash) * 8, 0, 1)[:, :, None]
        picture = (picture * keep + skin * (1 - keep)).astype(np.uint8)
    return picture


def montage(rng: Rng, photograph: Pixels) -> Pixels:
    """Return several fields of one eye, blended on black, with an outline of arcs, corners and steps."""
    wide = _wide(photograph, float(rng.uniform(1.3, 2.2)))
    side = wide.shape[0]
    drawn = np.zeros((side, side), np.uint8)
    gain = np.ones((side, side), np.float32)
    radius = float(rng.uniform(0.13, 0.32)) * side
    count = round(float(rng.uniform(0.5, 1.4)) * (side / 2 / radius) ** 2) + 3
    square = rng.random() < 0.4
    for k in range(count):
        angle, away = rng.uniform(0, 2 * np.pi), 0.0 if k == 0 else float(rng.uniform(0.0, 1.0)) ** 0.5
        x, y = (side / 2 + away * (side / 2 - radius) * f(angle) for f in (np.cos, np.sin))
        field = np.zeros((side, side), np.uint8)
        if square:
            corners = cv2.boxPoints(((float(x), float(y)), (radius * 2, radius * 1.6), float(rng.normal(0, 12))))
            cv2.fillPoly(field, [np.round(corners).astype(np.int32)], 1)
        else:
            cv2.circle(field, (round(float(x)), round(float(y))), round(radius), 1, -1)
        gain = np.where(field > 0, float(np.exp(rng.normal(0, 0.12))), gain).astype(np.float32)
        drawn |= field
    drawn = _in_one_piece(drawn)
    if rng.random() < 0.5:  # what was warped to fit has a ragged edge
        reach = side / 60 * cloud(rng, side, side, float(rng.uniform(15, 60)))
        away_from_edge = np.asarray(cv2.distanceTransform(drawn, cv2.DIST_L2, 3), dtype=np.float32)
        drawn = np.asarray(away_from_edge > np.clip(reach, 0, None), dtype=np.uint8) & drawn
    if rng.random() < 0.7:
        gain = _blurred(gain, side / float(rng.uniform(12, 60)))
    picture = np.clip(wide * (gain * drawn)[:, :, None], 0, 255).astype(np.uint8)
    left, top, width, height = cv2.boundingRect(drawn)
    picture = np.ascontiguousarray(picture[top : top + height, left : left + width])
    if rng.random() < 0.1:
        picture[drawn[top : top + height, left : left + width] == 0] = 255
    return picture


def _in_one_piece(drawn: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the largest connected part of a mask."""
    _, labels, stats, _ = cv2.connectedComponentsWithStats(drawn, connectivity=4)
    return np.asarray(labels == 1 + int(stats[1:, cv2.CC_STAT_AREA].argmax()), dtype=np.uint8)


_COLOURS: tuple[int, ...] = (
    cv2.COLORMAP_JET, cv2.COLORMAP_JET, cv2.COLORMAP_TURBO, cv2.COLORMAP_HOT, cv2.COLORMAP_VIRIDIS,
    cv2.COLORMAP_RAINBOW,
)  # fmt: skip
"""False colours of thickness maps; most devices use a rainbow."""


def thickness_map(rng: Rng, width: int, height: int) -> Pixels:
    """Return a map of retinal or nerve-fibre thickness in false colours, or its mean in the ETDRS sectors."""
    side = min(width, height)
    x, y = width / 2 + rng.normal(0, side / 20), height / 2 + rng.normal(0, side / 20)
    shape = (height, width)
    rows, columns = np.mgrid[0:height, 0:width].astype(np.float32)
    distance = np.hypot(columns - x, rows - y) / side
    if rng.random() < 0.6:
        ring = np.exp(-((distance - rng.uniform(0.16, 0.26)) ** 2) / (2 * rng.uniform(0.08, 0.14) ** 2))
        values = float(rng.uniform(0.2, 0.45)) + float(rng.uniform(0.3, 0.55)) * ring
    else:  # nerve fibres above and below the disc
        angle = np.arctan2(rows - y, columns - x)
        arcs = np.abs(np.sin(angle)) ** rng.uniform(1.5, 4)
        values = 0.15 + float(rng.uniform(0.5, 0.8)) * arcs * np.exp(-np.abs(distance - 0.2) * 4)
        values = np.where(distance < 0.09, 0.0, values)
    values = values + float(rng.uniform(0.02, 0.12)) * cloud(rng, width, height, float(rng.uniform(3, 9)))
    if rng.random() < 0.4:
        values += float(rng.uniform(-0.4, 0.5)) * _spot(
            shape, x + rng.normal(0, side / 6), y + rng.normal(0, side / 6), side / 9
        )
    if rng.random() < 0.2:
        step = max(3, round(side / rng.uniform(12, 40)))
        small = cv2.resize(
            values.astype(np.float32), (max(2, width // step), max(2, height // step)), interpolation=cv2.INTER_AREA
        )
        values = np.asarray(cv2.resize(small, (width, height), interpolation=cv2.INTER_NEAREST))
    sectors = rng.random() < 0.25
    colours = one_of(rng, _COLOURS)
    if sectors:
        values = _sector_means(values.astype(np.float32), distance, np.arctan2(rows - y, columns - x))
    picture = false_colours((np.clip(values, 0, 1) * 255).astype(np.uint8), colours)
    if sectors:
        picture[distance > 0.48] = 255 if rng.random() < 0.7 else 0
    if sectors or rng.random() < 0.35:  # the ETDRS grid: circles of 1, 3 and 6 mm
        ink = (0, 0, 0) if rng.random() < 0.7 else (255, 255, 255)
        for radius in (0.08, 0.24, 0.48):
            cv2.circle(picture, (round(x), round(y)), round(radius * side), ink, max(1, side // 150), cv2.LINE_AA)
        for quarter in range(4):
            along = np.pi / 4 + quarter * np.pi / 2
            ends = [(round(x + r * side * np.cos(along)), round(y + r * side * np.sin(along))) for r in (0.08, 0.48)]
            cv2.line(picture, ends[0], ends[1], ink, max(1, side // 150), cv2.LINE_AA)
    return picture


def _sector_means(values: Floats, distance: NDArray[np.float32], angle: NDArray[np.float32]) -> Floats:
    """Return values replaced by their mean in each of the nine sectors of the ETDRS grid."""
    ring = np.digitize(distance, (0.08, 0.24))
    quarter = np.floor((angle + np.pi / 4) / (np.pi / 2)).astype(int) % 4
    code = np.where(ring == 0, 0, ring * 4 + quarter)
    result = values.copy()
    for number in np.unique(code):
        result[code == number] = values[code == number].mean()
    return result


def _cells(rng: Rng, width: int, height: int, spacing: float) -> Floats:
    """Return points of light, one a cell, in rows that are packed as circles are; `spacing` in pixels."""
    rows, columns = np.mgrid[0 : height / (0.9 * spacing) + 1, 0 : width / spacing + 1]
    x = (columns + 0.5 * (rows.astype(int) % 2)) * spacing + rng.normal(0, spacing * 0.17, rows.shape)
    y = rows * spacing * 0.9 + rng.normal(0, spacing * 0.17, rows.shape)
    seen = (x >= 0) & (x < width) & (y >= 0) & (y < height)
    points = np.zeros((height, width), np.float32)
    points[y[seen].astype(int), x[seen].astype(int)] = np.exp(rng.normal(0, 0.5, int(seen.sum())))
    return points


def cell_mosaic(rng: Rng, width: int, height: int) -> Pixels:
    """Return a mosaic of photoreceptors or pigment cells as adaptive optics shows it, with shadows of vessels."""
    spacing = float(np.exp(rng.uniform(np.log(3.5), np.log(13))))
    values = _blurred(_cells(rng, width, height, spacing), spacing * float(rng.uniform(0.25, 0.42)))
    if rng.random() < 0.3:  # pigment cells: bright rims around dark bodies
        values = values.max() - values
    values = values / (np.quantile(values, 0.99) + 1e-6) * float(rng.uniform(0.35, 0.9))
    values *= np.clip(1 + 0.3 * cloud(rng, width, height, 4), 0.2, 2)
    for _ in range(int(rng.integers(0, 4))):
        wave = _blurred(cloud(rng, width, height, float(rng.uniform(1.5, 4))), 1)
        values = values * (1 - 0.8 * np.exp(-((wave / rng.uniform(0.03, 0.12)) ** 2)))
    return _grey((values + _grain(rng, values.shape, float(rng.uniform(0.02, 0.1)))).astype(np.float32))


def split_detection(rng: Rng, width: int, height: int) -> Pixels:
    """Return cells as the difference of two halves of the light shows them: mid-grey, each lit from one side.

    Scoles et al. 2014, "In vivo imaging of human cone photoreceptor inner segments".
    """
    spacing = float(np.exp(rng.uniform(np.log(4), np.log(13))))
    height_of = _blurred(_cells(rng, width, height, spacing), spacing * float(rng.uniform(0.3, 0.5)))
    height_of = height_of / (height_of.std() + 1e-6) + 2 * _blurred(cloud(rng, width, height, 12), spacing)
    if rng.random() < 0.4:  # walls of vessels stand out
        wave = _blurred(cloud(rng, width, height, float(rng.uniform(1.5, 3))), 1)
        height_of = height_of + 8 * np.exp(-((wave / rng.uniform(0.05, 0.15)) ** 2))
    lit = np.gradient(height_of, axis=1).astype(np.float32)
    lit = lit / (lit.std() + 1e-6) * float(rng.uniform(0.05, 0.14))
    values = float(rng.uniform(0.4, 0.6)) + lit + 0.04 * cloud(rng, width, height, 5)
    return _grey((values + _grain(rng, values.shape, float(rng.uniform(0.01, 0.06)))).astype(np.float32))


def scattered_light(rng: Rng, width: int, height: int) -> Pixels:
    """Return what light beside the confocal opening shows: cells hardly told apart, under clouds of deeper layers."""
    spacing = float(np.exp(rng.uniform(np.log(4), np.log(14))))
    cells = _blurred(_cells(rng, width, height, spacing), spacing * float(rng.uniform(0.45, 0.7)))
    values = float(rng.uniform(0.35, 0.6)) + float(rng.uniform(0.03, 0.1)) * (cells - cells.mean()) / (
        cells.std() + 1e-6
    )
    for cells_across in (5, 11, 23):
        values = values + float(rng.uniform(0.02, 0.09)) * cloud(rng, width, height, cells_across)
    return _grey((values + _grain(rng, values.shape, float(rng.uniform(0.01, 0.05)))).astype(np.float32))


def single_frame(rng: Rng, width: int, height: int) -> Pixels:
    """Return one frame of an adaptive optics ophthalmoscope: little light, much grain, more vessels than cells."""
    level = float(rng.uniform(0.12, 0.4))
    values = np.full((height, width), level, np.float32) * np.clip(1 + 0.2 * cloud(rng, width, height, 3), 0.3, 2)
    spacing = float(np.exp(rng.uniform(np.log(3), np.log(6))))
    cells = _blurred(_cells(rng, width, height, spacing), spacing * 0.35)
    values = values * (1 + float(rng.uniform(0.05, 0.25)) * (cells - cells.mean()) / (cells.std() + 1e-6))
    for _ in range(int(rng.integers(1, 5))):
        wave = _blurred(cloud(rng, width, height, float(rng.uniform(2, 6))), 1)
        vessel = np.exp(-((wave / rng.uniform(0.02, 0.06)) ** 2)) * np.clip(cloud(rng, width, height, 3), 0, 1)
        values = values * (1 + float(rng.choice([-0.5, 0.5])) * vessel)
    values = values + level * _grain(rng, values.shape, float(rng.uniform(0.1, 0.3)))
    return _grey(values.astype(np.float32))


def adaptive_optics(rng: Rng, width: int, height: int) -> Pixels:
    """Return a picture of an adaptive optics ophthalmoscope, most often a mosaic of cells."""
    kind = rng.choice(4, p=(0.55, 0.15, 0.15, 0.15))
    return (cell_mosaic, split_detection, scattered_light, single_frame)[kind](rng, width, height)


def en_face_oct(rng: Rng, photograph: Pixels) -> Pixels:
    """Return an infrared-like projection with the horizontal lines of neighbouring B-scans."""
    picture = infrared(rng, photograph).astype(np.float32)
    height = picture.shape[0]
    lines = _blurred(rng.normal(0, 1, (height, 1)).astype(np.float32), 0.6) * float(rng.uniform(4, 14))
    return np.asarray(np.clip(picture + lines[:, :, None] if lines.ndim == 2 else picture, 0, 255), dtype=np.uint8)


FROM_PHOTOGRAPHS: dict[Modality, Callable[[Rng, Pixels], Pixels]] = {
    "red-free": red_free,
    "infrared": infrared,
    "autofluorescence": autofluorescence,
    "fluorescein angiography": fluorescein_angiography,
    "indocyanine green angiography": indocyanine_green,
    "ultra-widefield": ultra_widefield,
    "montage": montage,
    "en-face OCT": en_face_oct,
}
"""Stand-ins that are made of a colour fundus photograph (height, width, 3) uint8 RGB."""

DRAWN: dict[Modality, Callable[[Rng, int, int], Pixels]] = {
    "thickness map": thickness_map,
    "adaptive optics": adaptive_optics,
}
"""Stand-ins that are drawn, (width, height) in pixels."""


def orange_disc(rng: Rng, width: int, height: int) -> Pixels:
    """Return something round and orange without vessels or disc (a fruit, a planet, a cut polyp): type Other."""
    rows, columns = np.mgrid[-1 : 1 : height * 1j, -1 : 1 : width * 1j].astype(np.float32)
    radius = np.hypot(columns * max(1, width / height), rows * max(1, height / width))
    size = float(rng.uniform(0.55, 1.3))
    light = np.clip(
        1.15 - np.hypot(columns - rng.uniform(-0.5, 0.5), rows - rng.uniform(-0.5, 0.5)) * rng.uniform(0.3, 0.9), 0, 1.2
    )
    grain = 1 + float(rng.uniform(0.02, 0.25)) * cloud(rng, width, height, float(rng.uniform(4, 60)))
    if rng.random() < 0.3:  # bands, as of a planet
        grain = grain * (1 + 0.25 * np.sin(rows * rng.uniform(4, 25) + 0.4 * cloud(rng, width, height, 4)))
    colour = np.asarray([rng.uniform(0.6, 1.0), rng.uniform(0.2, 0.65), rng.uniform(0.0, 0.4)], dtype=np.float32)
    picture = (light * grain)[:, :, None] * colour
    ground = np.asarray(rng.choice([0.0, 0.0, 1.0, 0.5]) * np.ones(3), dtype=np.float32)
    edge = np.clip((size - radius) * float(rng.uniform(8, 60)), 0, 1)[:, :, None]
    return np.asarray(np.clip(picture * edge + ground * (1 - edge), 0, 1) * 255, dtype=np.uint8)
