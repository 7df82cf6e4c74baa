"""Pictures of known modality are found by the names of folders; stand-ins fill what is missing."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest

from pmo_assets.records.modalities import MODALITIES, TYPE_OF_MODALITY
from pmo_assets.samples.pictures import fundus_photograph
from pmo_assets.training.data.typed_pictures import pictures_by_modality, stand_ins, typed_pictures
from pmo_assets.training.synthetic.picture_folders import folder_modality
from pmo_assets_tests.training.pools import striped


def write(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        assert cv2.imwrite(str(folder / name), striped(1))


def test_sources_hold_folders_named_after_modalities(tmp_path: Path) -> None:
    write(tmp_path, "clinic/UWF/a.png", "clinic/FA_venous/b.jpg", "atlas/slit lamp/c.png", "octdl_sample/d.png")
    write(tmp_path, "atlas/something else/e.png")
    (tmp_path / "clinic" / "UWF" / "torn.png").write_bytes(b"no picture")
    found = [(p.source, p.modalities, p.name) for p in pictures_by_modality(tmp_path)]
    assert found == [
        ("atlas", ("slit lamp",), "slit lamp/c.png"),
        ("clinic", ("fluorescein angiography",), "FA_venous/b.jpg"),
        ("clinic", ("ultra-widefield",), "UWF/a.png"),
        ("octdl_sample", ("OCT",), "octdl_sample/d.png"),
    ]


@pytest.mark.parametrize("modality", MODALITIES)
def test_a_folder_may_have_the_name_of_its_modality(modality: str) -> None:
    assert folder_modality(modality) == folder_modality(modality.upper().replace(" ", "_")) == modality


def test_a_folder_without_pictures_is_named_with_the_layout_expected(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="<source>/<modality>"):
        list(pictures_by_modality(tmp_path))
    with pytest.raises(ValueError, match="absent"):
        typed_pictures(tmp_path / "absent", None, None)
    for images, articles in ((None, None), (None, tmp_path)):
        with pytest.raises(ValueError, match="nothing to learn from"):
            typed_pictures(images, articles, None)
    with pytest.raises(ValueError, match="give their folder"):
        typed_pictures(None, None, tmp_path)


def test_stand_ins_are_of_all_types_and_need_photographs_only_for_what_is_made_of_them() -> None:
    drawn = stand_ins(np.random.default_rng(0), [], 2)
    assert {TYPE_OF_MODALITY[p.modalities[0]] for p in drawn} == {"OCT", "Retinal Imaging", "Other"}
    assert all(p.source == "stand-in" for p in drawn)
    photograph = fundus_photograph(np.random.default_rng(0), 200, 200)
    made = {p.modalities for p in stand_ins(np.random.default_rng(0), [photograph], 2)}
    assert {("ultra-widefield",), ("autofluorescence",), ("indocyanine green angiography",), ("montage",)} <= made
