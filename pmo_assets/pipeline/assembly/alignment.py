"""Probability of each name for each panel, when panels follow the caption's order, and when they follow none.

Two small models of one kind: a figure's panels take names, each name once, and an assignment weighs what its pairs
weigh together. In the first, panels in a given order take names in the caption's order: a sum over all such assignments
by the forward–backward algorithm (Rabiner, 1989), exact. In the second any panel may take any name: the sum over all
one-to-one assignments, exact for few names, by belief propagation (Huang and Jebara, 2009) for more. Add here: sums
over assignments. Keep out: sources of weights.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]

MOST_EXACT = 10
"""So many names are summed up over all subsets; for more the sum is approximated."""

ROUNDS = 60
"""Rounds of belief propagation; it settles within some tens."""

_LEAST_LOG = -300.0
"""Logarithm of the least weight of names that are passed over."""


@dataclass(frozen=True, slots=True)
class Weights:
    """Weights of pairs of panel and name: likelihood ratio of the evidence if they belong together, times its prior.

    Attributes:
        pairs: (panels, names), >= 0.
        unnamed: (panels,) of a panel that has no name, > 0.
        missing: of a name that no panel has, > 0.
        repeated: factor for a panel that continues the one before it, as parts of one panel do; 0 forbids that.
    """

    pairs: Matrix
    unnamed: Matrix
    missing: float
    repeated: float


@dataclass(frozen=True, slots=True)
class Shares:
    """Probability of each name for each panel, over all assignments.

    Attributes:
        shares: (panels, names + 1): probability that a panel has a name, in the last column none; rows sum to 1.
        log_total: logarithm of the sum of all assignments' weights, to compare models by.
    """

    shares: Matrix
    log_total: float


def _power(base: float, exponents: Matrix) -> Matrix:
    """Return powers that stay above 0: three hundred names without a panel are unlikely, not impossible."""
    return np.asarray(np.exp(np.maximum(exponents * np.log(base), _LEAST_LOG)))


def ordered_shares(weights: Weights, order: list[int]) -> Shares:
    """Return the shares when panels in `order` take names in the caption's order; either may be left out.

    Args:
        weights: of the pairs.
        order: every panel once.
    """
    panels, names = weights.pairs.shape
    steps = _passing(names, weights.missing)
    last = _power(weights.missing, np.arange(names, -1, -1.0))  # names that are left when all panels are done
    log_total = 0.0
    # State: the last name given, 0 for none; [0] after a panel without a name, [1] after one that took it.
    state = np.zeros((2, names + 1))
    state[0, 0] = 1.0
    forward = [state]
    scales: list[float] = []
    for panel in order:
        pair = np.concatenate([[0.0], weights.pairs[panel]])
        open_state = forward[-1].sum(axis=0)
        taken = (open_state @ steps) * pair + forward[-1][1] * weights.repeated * pair
        state = np.stack([open_state * weights.unnamed[panel], taken])
        scale = float(state.sum())
        scales.append(scale)
        log_total += float(np.log(scale))
        forward.append(state / scale)
    log_total += float(np.log((forward[-1].sum(axis=0) * last).sum()))
    shares = np.zeros((panels, names + 1))
    backward = np.stack([last, last])
    for place in range(len(order) - 1, -1, -1):
        panel = order[place]
        here = forward[place + 1] * backward
        total = here.sum()
        shares[panel, :names] = here[1, 1:] / total
        shares[panel, names] = here[0].sum() / total
        pair = np.concatenate([[0.0], weights.pairs[panel]])
        stays = backward[0] * weights.unnamed[panel]
        takes = pair * backward[1]
        through = stays + steps @ takes
        backward = np.stack([through, through + weights.repeated * takes]) / scales[place]
    return Shares(shares, log_total)


def _passing(names: int, missing: float) -> Matrix:
    """Return (names + 1, names + 1): what it weighs to go from the last name given to a later one."""
    place = np.arange(names + 1)
    skipped = place[None, :] - place[:, None] - 1
    return np.where(skipped >= 0, _power(missing, np.maximum(skipped, 0.0)), 0.0)


def free_shares(weights: Weights) -> Shares:
    """Return the shares when any panel may take any name, all assignments of as many pairs being equally likely."""
    panels, names = weights.pairs.shape
    # Beforehand a name is at any panel: as in the ordered model, where an order is one of so many.
    pairs = weights.pairs / max(1, panels, names) * np.e
    if names <= MOST_EXACT:
        return _exact_shares(pairs, weights.unnamed, weights.missing)
    return _propagated_shares(pairs, weights.unnamed, weights.missing)


def _exact_shares(pairs: Matrix, unnamed: Matrix, missing: float) -> Shares:
    """Return the shares by a sum over the sets of names that the panels before, and those after, have taken."""
    panels, names = pairs.shape
    sets = 1 << names
    scale = np.maximum(pairs.max(axis=1, initial=0.0), unnamed)
    members = [np.flatnonzero(np.arange(sets) & (1 << name)) for name in range(names)]

    def grown(before: Matrix, panel: int) -> Matrix:
        after: Matrix = before * (unnamed[panel] / scale[panel])
        for name in range(names):
            after[members[name]] += before[members[name] ^ (1 << name)] * (pairs[panel, name] / scale[panel])
        return after

    empty = np.zeros(sets)
    empty[0] = 1.0
    before, log_scales = [empty], 0.0
    for panel in range(panels):
        state = grown(before[-1], panel)
        before.append(state / state.sum())
        log_scales += float(np.log(state.sum()))
    after = [empty]
    for panel in reversed(range(panels)):
        state = grown(after[-1], panel)
        after.append(state / state.sum())
    after.reverse()
    left = missing ** (names - np.array([bin(k).count("1") for k in range(sets)], dtype=np.float64))
    log_total = float(np.log((before[-1] * left).sum())) + log_scales
    shares = np.zeros((panels, names + 1))
    for panel in range(panels):
        # What the panels behind it take must be disjoint from what is taken: a sum over the subsets of the rest.
        rest = _over_disjoint(after[panel + 1], names, missing)
        shares[panel, names] = float((before[panel] * rest).sum()) * unnamed[panel] / scale[panel]
        for name in range(names):
            sources = members[name] ^ (1 << name)
            shares[panel, name] = float((before[panel][sources] * rest[members[name]]).sum())
            shares[panel, name] *= pairs[panel, name] / scale[panel]
    return Shares(shares / shares.sum(axis=1, keepdims=True), log_total + float(np.log(scale).sum()))


def _over_disjoint(taken: Matrix, names: int, missing: float) -> Matrix:
    """Return for each set of names the sum of `taken` over the sets disjoint from it; `missing` for names in none."""
    result = taken.copy()
    for name in range(names):
        shaped = result.reshape(-1, 2, 1 << name)
        without, with_it = shaped[:, 0].copy(), shaped[:, 1].copy()
        shaped[:, 0] = missing * without + with_it  # not taken before: by a later panel or by none
        shaped[:, 1] = without  # taken before: not again
    return result


def _propagated_shares(pairs: Matrix, unnamed: Matrix, missing: float) -> Shares:
    """Return the shares by belief propagation between panels and names; the total is Bethe's."""
    ratio = pairs / unnamed[:, None] / missing
    to_name = ratio.copy()
    to_panel = np.ones_like(ratio)
    for _ in range(ROUNDS):
        to_panel = 1.0 / (1.0 + to_name.sum(axis=0, keepdims=True) - to_name)
        fresh = ratio / (1.0 + (ratio * to_panel).sum(axis=1, keepdims=True) - ratio * to_panel)
        to_name = np.sqrt(to_name * fresh)
    belief = ratio * to_panel
    norm = 1.0 + belief.sum(axis=1, keepdims=True)
    shares = np.concatenate([belief / norm, 1.0 / norm], axis=1)
    edge = np.log1p(to_name * to_panel).sum()
    log_total = float(
        np.log(norm).sum()
        + np.log1p(to_name.sum(axis=0)).sum()
        - edge
        + np.log(unnamed).sum()
        + pairs.shape[1] * np.log(missing)
    )
    return Shares(shares, log_total)
