"""Who gets which name and image, on random figures: shares, orders and confidences as recorded."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pmo_assets.pipeline.assembly.alignment import Weights, free_shares, ordered_shares
from pmo_assets.pipeline.assembly.assignment import decided_names, panel_name_shares
from pmo_assets.pipeline.assembly.confidence import Features, confidence, terms
from pmo_assets.pipeline.assembly.identifier_evidence import detected_identifier, identifier_evidence, owners_of
from pmo_assets.pipeline.assembly.membership import assigned_to_panels, belongs
from pmo_assets.pipeline.assembly.orders import panel_orders
from pmo_assets.pipeline.assembly.panel_captions import captioned_panels
from pmo_assets.pipeline.assembly.positions import place_weights
from pmo_assets.pipeline.assembly.unassigned_images import placed_unassigned_images
from pmo_assets.pipeline.captions.split import split_caption
from pmo_assets.records.detections import PanelDetection
from pmo_assets.records.geometry import Box
from pmo_assets_tests.recorded import assert_as_recorded

FILE = Path(__file__).with_suffix(".json")
DRAWS = 50

Rng = np.random.Generator


def box(rng: Rng, least: float = 0.03, most: float = 0.5) -> Box:
    left, top = rng.uniform(0, 0.9, 2).tolist()
    wide, tall = rng.uniform(least, most, 2).tolist()
    return (left, top, min(1.0, left + wide), min(1.0, top + tall))


def shaken(rng: Rng, place: Box, by: float) -> Box:
    a, b, c, d = np.clip(np.asarray(place) + rng.normal(0, by, 4), 0, 1).tolist()
    return (a, b, max(a + 0.01, c), max(b + 0.01, d))


def grid(rng: Rng) -> list[Box]:
    """Return panels in rows and columns, sometimes in two blocks, one or the other missing."""
    rows, columns = (int(v) for v in rng.integers(1, 5, 2))
    block = float(rng.choice([0, 0, 0.08]))
    found = []
    for r in range(rows):
        for c in range(columns):
            left = c * 0.2 + (block if c >= columns / 2 else 0)
            found.append(shaken(rng, (left + 0.01, r * 0.24 + 0.01, left + 0.18, r * 0.24 + 0.22), 0.005))
    return [place for place in found if rng.random() < 0.92] or found


def printed(rng: Rng, panels: list[Box], names: list[str]) -> list[PanelDetection]:
    """Return identifiers inside, above or beside most panels; some are wrong, some unread."""
    dx, dy = ((0.01, 0.01), (0.0, -0.05), (-0.04, 0.0), (0.0, 0.22))[int(rng.integers(4))]
    found = []
    for place, name in zip(panels, names, strict=False):
        if rng.random() < 0.75:
            at = (place[0] + dx, place[1] + dy, place[0] + dx + 0.02, place[1] + dy + 0.03)
            said = name if rng.random() < 0.85 else str(rng.choice(["x", "a1", names[0]]))
            source: Any = str(rng.choice(["text", "glyph", "network"]))
            unread = source == "network" and rng.random() < 0.3
            score = float(rng.uniform(0.4, 1))
            found.append(PanelDetection("identifier", at, score, source, None if unread else said, score))
    return found


def figure(rng: Rng) -> tuple[list[PanelDetection], list[str]]:
    panels = grid(rng)
    names = list("abcdefghijklmnop")[: max(1, len(panels) + int(rng.choice([-1, 0, 0, 0, 1])))]
    if rng.random() < 0.2:
        names = ["left", "right"] if rng.random() < 0.5 else ["top row", "bottom left", "bottom right"]
    detections = [PanelDetection("panel", place, float(rng.uniform(0.4, 1)), "gutter") for place in panels]
    return detections + printed(rng, panels, names), names


def captioned(rng: Rng) -> Any:
    detections, names = figure(rng)
    caption = "The examined eyes. " + " ".join(
        f"({name}) Fundus photograph number {k}." for k, name in enumerate(names)
    )
    return captioned_panels(detections, split_caption(caption))


def named(rng: Rng) -> Any:
    detections, names = figure(rng)
    boxes = [item.box for item in detections if item.kind == "panel"]
    identifiers = [
        detected_identifier(k, item, names) for k, item in enumerate(d for d in detections if d.kind == "identifier")
    ]
    owners = owners_of([item.box for item in identifiers], boxes)
    evidence = identifier_evidence(identifiers, owners, len(boxes), len(names))
    shares = panel_name_shares(boxes, names, evidence)
    return [owners, evidence.likelihoods.tolist(), evidence.unnamed, shares.orders, decided_names(shares)]


def aligned(rng: Rng) -> Any:
    panels, names = (int(v) for v in rng.integers(1, 6, 2))
    weights = Weights(rng.gamma(0.5, 2, (panels, names)), rng.uniform(0.01, 0.5, panels), 0.1, 0.05)
    found = [ordered_shares(weights, rng.permutation(panels).tolist()), free_shares(weights)]
    return [[shares.shares.tolist(), shares.log_total] for shares in found]


def unassigned(rng: Rng) -> Any:
    panels = grid(rng)
    images = [shaken(rng, place, 0.03) for place in panels] + [box(rng, 0.05, 0.3) for _ in range(4)]
    owners = assigned_to_panels(images, panels)
    left = [k for k, owner in enumerate(owners) if owner is None]
    return [owners, placed_unassigned_images(left, images, panels, joined=bool(rng.random() < 0.5))]


def sureness(rng: Rng) -> Any:
    share, panel, split, read, disorder, least = rng.uniform(0, 1, 6).tolist()
    method = str(rng.choice(["identifier", "position", "reading order", "single panel"]))
    features = Features(share, panel, split, read, bool(rng.random() < 0.5), disorder, least, method)
    return [terms(features), confidence(features)]


RULES: dict[str, Callable[[Rng], Any]] = {
    "captioned": captioned,
    "named": named,
    "aligned": aligned,
    "unassigned": unassigned,
    "sureness": sureness,
    "belongs": lambda rng: [belongs(place := box(rng), shaken(rng, place, 0.1)), belongs(place, box(rng))],
    "orders": lambda rng: panel_orders(grid(rng)),
    "places": lambda rng: place_weights(
        ["top left", "middle", "second row", "last column", "right"], grid(rng)
    ).tolist(),
}


@pytest.mark.parametrize("rule", RULES)
def test_geometry(rule: str) -> None:
    found = [RULES[rule](np.random.default_rng((k, len(rule)))) for k in range(DRAWS)]
    assert_as_recorded(FILE, rule, found)
