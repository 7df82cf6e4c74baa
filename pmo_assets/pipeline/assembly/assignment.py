"""Which name each panel of a figure has: all evidence in one sum over all assignments.

A figure's panels follow an order (rows, columns, blocks; `orders`), or none. Under each, print, places and counts weigh
every assignment of names to panels (`alignment`); how well an order explains them all says how far it is believed. What
comes out is how likely each panel has each name, and none: the decision is the set of pairs that is right most often,
and every other candidate is known with its share.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.assembly.alignment import Shares, Weights, free_shares, ordered_shares
from pmo_assets.pipeline.assembly.identifier_evidence import IdentifierEvidence
from pmo_assets.pipeline.assembly.orders import FREE, panel_orders
from pmo_assets.pipeline.assembly.positions import is_place, place_weights
from pmo_assets.records.geometry import Box
from pmo_assets.records.pairing import best_pairing

UNNAMED, MISSING, REPEATED = 0.04, 0.03, 0.01
"""Priors of a panel without a name, of a name without a panel, and of a panel that is a part of the one before it."""

LEAST_SHARE = 0.5
"""A name that is less likely than this is not given."""

FREE_ORDER = "no order"
BY_PLACE = "words of place"


@dataclass(frozen=True, slots=True)
class NameShares:
    """Probability of each name for each panel.

    Attributes:
        shares: (panels, names + 1), rows sum to 1; the last column is for no name.
        orders: (name, belief 0..1) of each order, the most believed first.
        repeats: true if one name may have several panels (places do: "top row").
    """

    shares: NDArray[np.float64]
    orders: tuple[tuple[str, float], ...]
    repeats: bool


def panel_name_shares(boxes: Sequence[Box], names: Sequence[str], evidence: IdentifierEvidence) -> NameShares:
    """Return the probability of each name for each panel.

    Args:
        boxes: the panels, normalised to the figure; at least one.
        names: identifiers in the caption's order; at least one.
        evidence: of the print.
    """
    pairs = evidence.likelihoods.copy()
    if all(is_place(name) for name in names):
        pairs *= place_weights(names, boxes)
        unnamed = UNNAMED * evidence.unnamed
        shares = np.concatenate([pairs, unnamed[:, None]], axis=1)
        shares /= shares.sum(axis=1, keepdims=True)
        return NameShares(shares, ((BY_PLACE, 1.0),), repeats=True)
    placed = place_weights(names, boxes)
    # Beside letters a place is a hint: 3 where it fits.
    pairs *= np.where(placed > 0, 3.0 * placed, 1.0)
    weights = Weights(pairs, UNNAMED * evidence.unnamed, MISSING, REPEATED)
    orders = panel_orders(boxes)
    found: list[tuple[str, float, Shares]] = [
        (order.name, float(np.log(order.share * (1 - FREE))), ordered_shares(weights, list(order.panels)))
        for order in orders
    ]
    if len(boxes) > 1:
        found.append((FREE_ORDER, float(np.log(FREE)), free_shares(weights)))
    logs = np.array([prior + shares.log_total for _, prior, shares in found])
    beliefs = np.exp(logs - logs.max())
    beliefs /= beliefs.sum()
    total = np.sum([belief * shares.shares for belief, (_, _, shares) in zip(beliefs, found, strict=True)], axis=0)
    known = [(name, float(belief)) for belief, (name, _, _) in zip(beliefs, found, strict=True)]
    return NameShares(np.asarray(total), tuple(sorted(known, key=lambda item: -item[1])), repeats=False)


def decided_names(found: NameShares) -> list[int | None]:
    """Return the name of each panel, by index: the pairs whose shares add up to most; None where none is likely enough.

    A name goes to one panel, and to more only where each of them has it with more than half.
    """
    shares = found.shares
    panels, names = shares.shape[0], shares.shape[1] - 1
    if found.repeats:
        best = shares[:, :names].argmax(axis=1)
        return [int(name) if shares[panel, name] >= LEAST_SHARE else None for panel, name in enumerate(best)]
    none = np.full((panels, panels), -1.0)
    none[np.arange(panels), np.arange(panels)] = shares[:, names]
    rows, columns = best_pairing(np.concatenate([shares[:, :names], none], axis=1))
    result: list[int | None] = [None] * panels
    for panel, name in zip(rows.tolist(), columns.tolist(), strict=True):
        if name < names and shares[panel, name] >= LEAST_SHARE:
            result[panel] = name
    for panel in range(panels):
        likeliest = int(shares[panel].argmax())
        if result[panel] is None and likeliest < names and shares[panel, likeliest] > 0.5:
            result[panel] = likeliest
    return result
