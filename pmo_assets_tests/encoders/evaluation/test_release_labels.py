"""Classes of panels, as their release says them."""

from __future__ import annotations

import numpy as np
import pytest

import pmo_assets
from pmo_assets.encoders.evaluation.embedding_files import EmbeddingTable
from pmo_assets.encoders.evaluation.embeddings import Embeddings, EmbeddingsError
from pmo_assets.encoders.evaluation.labels import label_set
from pmo_assets.encoders.evaluation.release_labels import labelled_panels
from pmo_assets_tests.loading.small_release import write_release


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    folder = tmp_path_factory.mktemp("release")
    write_release(folder, articles=10)
    return folder


def _table(panels) -> EmbeddingTable:
    rows = np.arange(1, len(panels) + 1)[:, None] * np.ones(2)
    return EmbeddingTable(tuple(panel.panel_id for panel in panels), Embeddings(rows))


@pytest.mark.parametrize("name", ["image_type", "modality", "disease"])
def test_panels_of_a_split_get_their_class_and_article(release, name) -> None:
    panels = list(pmo_assets.load(release).panels)
    found = labelled_panels(_table(panels), release, name, "train")
    by_id = {panel.panel_id: panel for panel in panels}
    for panel_id, label, article in zip(found.table.ids, found.labels, found.articles, strict=True):
        panel, of_panel = by_id[panel_id], label_set(name).names[label]
        assert (panel.split, panel.article_id) == ("train", article)
        if name == "image_type":
            assert {image.image_type for image in panel.images} == {of_panel}
        elif name == "modality":
            assert panel.modality == of_panel
        else:
            assert of_panel in panel.diseases
    train = [panel for panel in panels if panel.split == "train"]
    without = len(train) - len(found.labels)
    assert 0 < len(found.labels) < len(train)
    assert found.left_out == (f"{without} panels of split train have no class, or several",)


def test_embeddings_follow_their_panels(release) -> None:
    panels = list(pmo_assets.load(release).panels)[::-1]
    found = labelled_panels(_table(panels), release, "image_type", "train")
    numbers = [1 + [panel.panel_id for panel in panels].index(name) for name in found.table.ids]
    assert found.table.embeddings.values[:, 0].tolist() == numbers


def test_label_sets_that_a_release_does_not_say_are_refused(release) -> None:
    with pytest.raises(EmbeddingsError, match="says nothing of the label set 'octmnist': image_type"):
        labelled_panels(EmbeddingTable(("x",), Embeddings(np.ones((1, 2)))), release, "octmnist", "test")
    with pytest.raises(EmbeddingsError, match="no panel of embeddings in split 'test'"):
        labelled_panels(EmbeddingTable(("x",), Embeddings(np.ones((1, 2)))), release, "disease", "test")
