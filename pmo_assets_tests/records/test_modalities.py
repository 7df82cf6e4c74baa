"""Every modality is of one of the paper's types."""

from __future__ import annotations

from typing import get_args

from pmo_assets.records.image_types import IMAGE_TYPES
from pmo_assets.records.modalities import MODALITIES, TYPE_MATRIX, TYPE_OF_MODALITY, Modality, modalities_of


def test_modalities_are_shared_out_among_the_types() -> None:
    assert set(TYPE_OF_MODALITY) == set(get_args(Modality))
    assert sorted(m for kind in IMAGE_TYPES for m in modalities_of(kind)) == sorted(MODALITIES)
    assert all(sum(row[k] for row in TYPE_MATRIX) == 1 for k in range(len(MODALITIES)))


def test_wide_fields_and_montages_are_no_narrow_angle_photographs() -> None:
    assert modalities_of("CFP") == ("fundus photograph",)
    assert {"ultra-widefield", "montage", "thickness map"} < set(modalities_of("Retinal Imaging"))
