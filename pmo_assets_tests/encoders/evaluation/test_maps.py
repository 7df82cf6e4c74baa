"""Embeddings in two dimensions, and what a release's panels show on the map."""

from __future__ import annotations

import numpy as np
import pytest

import pmo_assets
from pmo_assets.encoders.evaluation.embedding_files import EmbeddingTable
from pmo_assets.encoders.evaluation.embeddings import Embeddings, EmbeddingsError
from pmo_assets.encoders.evaluation.maps import class_colour, in_two_dimensions, panel_points, sampled
from pmo_assets.viewing.palette import IMAGE_TYPE_COLOURS, UNDECIDED_COLOUR
from pmo_assets_tests.loading.small_release import write_release


@pytest.mark.parametrize("method", [pytest.param("tsne", marks=pytest.mark.slow), "pca"])
def test_what_lies_together_stays_together(method) -> None:
    random = np.random.default_rng(0)
    labels = np.arange(60) % 3
    rows = Embeddings(5 * np.eye(20)[labels] + random.standard_normal((60, 20)))
    places = in_two_dimensions(rows, method, seed=1)
    assert places.shape == (60, 2)
    distances = np.linalg.norm(places[:, None] - places, axis=2) + np.diag(np.full(60, np.inf))
    assert (labels[distances.argmin(axis=1)] == labels).mean() > 0.9
    assert (places == in_two_dimensions(rows, method, seed=1)).all()


@pytest.mark.parametrize("method", ["tsne", "pca"])
def test_few_rows_few_dimensions_and_equal_rows_are_drawn(method) -> None:
    for values in (np.eye(3), np.ones((5, 4)), np.array([[1.0], [2.0], [-1.0]])):
        assert np.isfinite(in_two_dimensions(Embeddings(values), method)).all()
    with pytest.raises(EmbeddingsError, match="2 rows: a map needs three"):
        in_two_dimensions(Embeddings(np.eye(2)), method)


def test_of_many_rows_some_are_drawn() -> None:
    assert sampled(5, 9).tolist() == [0, 1, 2, 3, 4]
    rows = sampled(1000, 100, seed=2)
    assert len(set(rows.tolist())) == 100
    assert (np.diff(rows) > 0).all()


def test_modalities_have_the_colour_of_their_type() -> None:
    assert class_colour("ultra-widefield") == class_colour("Retinal Imaging") == IMAGE_TYPE_COLOURS["Retinal Imaging"]
    assert class_colour("unknown") == UNDECIDED_COLOUR


@pytest.mark.slow
def test_panels_show_their_pictures_only_where_the_licence_allows(tmp_path) -> None:
    write_release(tmp_path)
    panels = list(pmo_assets.load(tmp_path).panels)
    table = EmbeddingTable(
        (*(panel.panel_id for panel in panels), "other"), Embeddings(np.eye(len(panels) + 1))
    )  # fmt: skip
    points = panel_points(table, np.zeros((len(panels) + 1, 2)), tmp_path)
    assert len(points) == len(panels)
    withheld = 0
    for panel, point in zip(panels, points, strict=True):
        assert point.title == panel.panel_id
        assert panel.attribution in point.credit
        assert (point.picture is None) == (panel.picture() is None)
        assert bool(point.text) == bool(panel.subcaption)
        withheld += point.picture is None
    assert 0 < withheld < len(panels)
    assert {point.label for point in points} & {"OCT", "fundus photograph"}
    kinds = {point.label for point in panel_points(table, np.zeros((len(panels) + 1, 2)), tmp_path, "image_type")}
    assert kinds <= {"CFP", "OCT", "Retinal Imaging", "Other", "unknown"}
    with pytest.raises(EmbeddingsError, match="none of the panels"):
        panel_points(EmbeddingTable(("x",), Embeddings(np.eye(1))), np.zeros((1, 2)), tmp_path)
