"""Boxes of synthetic figures are exact, and figures follow from their seed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pmo_assets.records.geometry import area, covered_fraction, intersection
from pmo_assets.training.synthetic import synthetic_figures
from pmo_assets.training.synthetic.figure_styles import identifier_names
from pmo_assets.training.synthetic.layouts import Layout
from pmo_assets.training.synthetic.synthetic_figures import synthetic_figure
from pmo_assets_tests.examples import examples
from pmo_assets_tests.training.pools import small_pool

POOL = small_pool()
SEEDS = st.integers(0, 10_000_000)


@examples(60)
@given(SEEDS)
def test_everything_lies_in_the_figure_and_images_and_identifiers_in_a_panel(seed: int) -> None:
    figure = synthetic_figure(seed, POOL, ())
    assert figure.panels
    panels = [p.box for p in figure.panels]
    for box in [
        *panels,
        *(i.box for i in figure.images),
        *(p.identifier_box for p in figure.panels if p.identifier_box),
    ]:
        assert min(box[:2]) >= -1e-6
        assert max(box[2:]) <= 1 + 1e-6
        assert box[0] < box[2]
        assert box[1] < box[3]
    for image in figure.images:
        assert max(covered_fraction(image.box, p) for p in panels) > 0.999
    for panel in figure.panels:
        if panel.identifier_box is not None:
            assert panel.identifier
            assert covered_fraction(panel.identifier_box, panel.box) > 0.999


@pytest.mark.slow  # many figures
@examples(60)
@given(SEEDS)
@example(475)  # a grid of cells that are lower than the lowest drawing
def test_images_do_not_overlap_each_other(seed: int) -> None:
    """But for one line of pixels, where a grid has no gaps and its pictures are rounded to pixels."""
    figure = synthetic_figure(seed, POOL, ())
    tall, wide = figure.pixels.shape[:2]
    boxes = [i.box for i in figure.images]
    for i, a in enumerate(boxes):
        for b in boxes[i + 1 :]:
            left, top, right, bottom = shared = intersection(a, b)
            is_line = min((right - left) * wide, (bottom - top) * tall) < 1.01
            assert is_line or area(shared) <= 0.02 * min(area(a), area(b))


@examples(20)
@given(SEEDS)
def test_the_same_seed_gives_the_same_bytes(seed: int) -> None:
    first, second = synthetic_figure(seed, POOL, ()), synthetic_figure(seed, small_pool(), ())
    assert np.array_equal(first.pixels, second.pixels)
    assert first.panels == second.panels
    assert first.images == second.images


@pytest.mark.slow  # many figures
def test_the_box_of_a_picture_ends_where_its_pixels_end() -> None:
    """On white, the line outside a photograph's box has less ink than the line inside, on nearly all sides of all."""
    right = wrong = 0
    for seed in range(150):
        figure = synthetic_figure(seed, POOL, ())
        if figure.pixels[0].min() == 0 or not figure.images:
            continue
        ink = figure.pixels.min(axis=2) < 215
        tall, wide = ink.shape
        for image in figure.images:
            left, top, end, low = (round(v * s) for v, s in zip(image.box, (wide, tall, wide, tall), strict=True))
            body = ink[top:low, left:end]
            if body.mean() < 0.97 or left < 6 or end > wide - 6 or min(body.shape) < 30:
                continue
            # JPEG and scaling blur by up to three pixels.
            inside, outside = body[:, 3].mean(), ink[top:low, left - 4].mean()
            right, wrong = right + (inside >= 0.9 and (outside < 0.9 or outside >= 0.97)), wrong + (inside < 0.9)
    assert right > 100
    assert wrong <= 0.02 * right


@pytest.mark.slow  # many figures
def test_a_panel_without_printed_identifiers_is_the_whole_figure_most_of_the_time() -> None:
    layout = Layout(1.5, ((0, 0, 0.48, 1), (0.52, 0, 1, 1)), False, (False, False))
    counts = [len(synthetic_figure(seed, POOL, [layout]).panels) for seed in range(40)]
    assert 1 in counts
    assert 2 in counts


def test_identifiers_are_distinct_and_as_many_as_panels() -> None:
    for case in ("upper", "lower", "number", "roman", "nested"):
        names = identifier_names(np.random.default_rng(1), case, 28)
        assert len(set(names)) == 28, case


@pytest.mark.slow  # many figures
def test_typeset_figures_have_their_letters_below_every_panel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(synthetic_figures, "TYPESET_SHARE", 1.0)
    rows = set()
    for seed in range(40):
        figure = synthetic_figure(seed, POOL, ())
        named = [p for p in figure.panels if p.identifier_box is not None]
        rows.add(len({round(p.box[3], 2) for p in named}))
        for panel in named:
            assert panel.identifier_box is not None
            inside = [i.box for i in figure.images if covered_fraction(i.box, panel.box) > 0.99]
            assert inside
            assert panel.identifier_box[1] >= max(b[3] for b in inside) - 1e-6
            assert panel.box[3] >= panel.identifier_box[3] - 1e-6
    assert {1, 2, 3} <= rows
