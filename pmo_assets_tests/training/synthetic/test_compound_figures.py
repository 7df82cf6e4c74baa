"""A recipe's figures follow from their seed, have exact boxes, and the shares that the recipe says."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.records.geometry import area, covered_fraction, intersection, iou
from pmo_assets.training.synthetic.compound_figures import (
    CompoundPlan,
    SourcePicture,
    centre_cut,
    composed,
    compound_figure,
    fitted_plot,
    planned,
)
from pmo_assets.training.synthetic.compound_recipes import OPEN_PMC_18M
from pmo_assets_tests.examples import examples
from pmo_assets_tests.training.pools import striped

SEEDS = st.integers(0, 10_000_000)
SMALL = replace(OPEN_PMC_18M, sides=(1, 3))
PICTURES = {source: [SourcePicture(striped(k))] for k, source in enumerate(OPEN_PMC_18M.sources)}


def plans(count: int) -> list[CompoundPlan]:
    rng = np.random.default_rng(5)
    return [planned(rng, OPEN_PMC_18M) for _ in range(count)]


@pytest.fixture(scope="module")
def many() -> list[CompoundPlan]:
    return plans(4000)


@examples(8)
@given(SEEDS)
def test_the_same_seed_gives_the_same_bytes(seed: int) -> None:
    first, second = compound_figure(seed, SMALL, PICTURES), compound_figure(seed, SMALL, PICTURES)
    assert first.pixels.tobytes() == second.pixels.tobytes()
    assert first.panels == second.panels
    assert first.images == second.images


def test_stand_ins_follow_from_the_seed_as_well() -> None:
    for seed in range(6):
        first, second = compound_figure(seed, SMALL, {}), compound_figure(seed, SMALL, {})
        assert first.pixels.tobytes() == second.pixels.tobytes()


@examples(25)
@given(SEEDS)
def test_panels_are_disjoint_and_hold_their_identifier_and_picture(seed: int) -> None:
    figure = compound_figure(seed, SMALL, PICTURES)
    for k, (panel, image) in enumerate(zip(figure.panels, figure.images, strict=True)):
        assert panel.identifier_box is not None
        assert covered_fraction(panel.identifier_box, panel.box) > 0.999
        assert covered_fraction(image.box, panel.box) > 0.999
        assert min(panel.box) >= 0
        assert max(panel.box) <= 1
        assert all(area(intersection(panel.box, other.box)) < 1e-9 for other in figure.panels[:k])


@examples(15)
@given(SEEDS)
def test_outside_all_panels_is_paper_and_pictures_fill_their_boxes(seed: int) -> None:
    figure = compound_figure(seed, replace(SMALL, sources=("retina", "radiology")), PICTURES)
    tall, wide = figure.pixels.shape[:2]
    outside = np.ones((tall, wide), bool)
    for panel, image in zip(figure.panels, figure.images, strict=True):
        left, top, right, bottom = (round(v * n) for v, n in zip(panel.box, (wide, tall) * 2, strict=True))
        outside[top:bottom, left:right] = False
        left, top, right, bottom = (round(v * n) for v, n in zip(image.box, (wide, tall) * 2, strict=True))
        assert (figure.pixels[top, left:right].min(axis=1) < 250).mean() > 0.7
        assert (figure.pixels[bottom - 1, left:right].min(axis=1) < 250).mean() > 0.7
    assert (figure.pixels[outside] == 255).all()


def test_boxes_of_the_content_lie_in_those_of_the_tiles() -> None:
    for seed in range(12):
        tiles = compound_figure(seed, SMALL, {}, "tile")
        content = compound_figure(seed, SMALL, {}, "content")
        assert tiles.pixels.tobytes() == content.pixels.tobytes()
        for outer, inner in zip(tiles.panels, content.panels, strict=True):
            assert covered_fraction(inner.box, outer.box) > 0.999


def test_plans_have_the_papers_shares(many: list[CompoundPlan]) -> None:
    count = len(many)
    near = pytest.approx
    assert sum(p.special is not None for p in many) / count == near(0.1, abs=0.015)
    plain = [p for p in many if p.special is None]
    assert {(p.rows, p.columns) for p in plain} == {(r, c) for r in range(1, 6) for c in range(1, 6)}
    assert {p.rows for p in many if p.special} == {2, 3, 4}
    sources = Counter(p.source for p in many)
    assert len(sources) == 6
    assert all(number / count == near(1 / 6, abs=0.02) for number in sources.values())
    placed = Counter(p.placement for p in many)
    assert all(placed[place] / count == near(odds, abs=0.03) for place, odds in OPEN_PMC_18M.placements.items())
    series = Counter("number" if p.names[0][0] == "1" else p.names[0][0] for p in many)
    assert series["A"] / count == near(0.4, abs=0.03)
    assert series["a"] / count == near(0.4, abs=0.03)
    assert series["number"] / count == near(0.1, abs=0.02)
    assert series["i"] / count == near(0.1, abs=0.02)
    lettered = [p.identifiers[0] for p in plain if p.names[0][0] in "aA"]
    forms = Counter(text.replace("A", "a") for text in lettered)
    assert set(forms) == {"a", "(a)", "a-1", "a1", "(a-1)", "a-1)", "(a1)", "a1)"}  # of the code, all as likely
    assert all(number / len(lettered) == near(1 / 8, abs=0.03) for number in forms.values())
    shapes = [p.cell[0] / p.cell[1] for p in many]
    assert min(shapes) == near(1 / 1.5)
    assert max(shapes) == near(1.5)


def test_gaps_are_of_the_beta_distribution_or_all_closed(many: list[CompoundPlan]) -> None:
    grids = [[*p.gaps[0], *p.gaps[1]] for p in many if len(p.gaps[0]) + len(p.gaps[1]) >= 6]
    closed = [gaps for gaps in grids if not any(gaps)]
    assert len(closed) / len(grids) == pytest.approx(0.2, abs=0.04)
    gaps = np.concatenate([gaps for gaps in grids if any(gaps)])
    # The mean of Beta(2, 10) is 1/6, and half a pixel is cut off.
    assert gaps.mean() == pytest.approx(50 / 6 - 0.5, abs=0.4)
    assert gaps.max() < 50


def test_names_are_those_of_the_identifiers_without_brackets(many: list[CompoundPlan]) -> None:
    grid = next(p for p in many if p.identifiers[:2] == ("(a-1)", "(a-2)") and p.rows > 1)
    assert grid.names[: grid.columns + 1] == (*(f"a-{c + 1}" for c in range(grid.columns)), "b-1")
    assert all(len(set(p.names)) == len(p.names) for p in many)


def test_the_panel_beside_a_grid_is_as_wide_or_high_as_its_pictures(many: list[CompoundPlan]) -> None:
    rng = np.random.default_rng(1)
    for special, axis in (("wide row", 0), ("tall column", 1)):
        plan = next(p for p in many if p.special == special and p.placement == "over the top" and not p.first)
        figure = composed(rng, OPEN_PMC_18M, plan, PICTURES)
        tall, wide = figure.pixels.shape[:2]
        last = figure.panels[-1].box
        size = round((last[axis + 2] - last[axis]) * (wide, tall)[axis])
        assert size == plan.cell[axis] * (plan.columns, plan.rows)[axis]


def test_a_picture_is_cut_in_its_middle_and_a_plot_is_shown_whole() -> None:
    picture = np.zeros((40, 100, 3), np.uint8)
    picture[:, 30:70] = 200
    assert (centre_cut(picture, 80, 80) == 200).mean() > 0.95
    frame, box = fitted_plot(np.zeros((40, 100, 3), np.uint8), 50, 50)
    assert box == (0, 15, 50, 35)
    assert (frame[:15] == 255).all()
    assert iou((0, 15, 50, 35), box) == 1.0
