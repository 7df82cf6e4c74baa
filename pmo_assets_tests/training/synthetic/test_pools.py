"""Pictures of one's own are found by the name of their folder."""

from __future__ import annotations

from pathlib import Path

import cv2
import pytest

from pmo_assets.training.data.training_data import pool_pictures
from pmo_assets.training.synthetic.pools import (
    DATA_SETS,
    DataSet,
    PicturePool,
    licensed_pictures,
    unannotated_articles,
)
from pmo_assets_tests.training.pools import striped


def test_sub_folders_are_named_like_the_image_types(tmp_path: Path) -> None:
    for name in (
        "other/x.tiff",
        "Retinal_Imaging/b.PNG",
        "cfp/eye 2.jpg",
        "cfp/eye 1.png",
        "chase_db1_mini/Image_07.png",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        assert cv2.imwrite(str(tmp_path / name), striped(1))
    (tmp_path / "cfp" / "notes.txt").write_text("no picture")
    (tmp_path / "cfp" / "torn.png").write_bytes(b"no picture")
    found = list(licensed_pictures(tmp_path))
    assert [(picture.image_type, picture.group) for picture in found] == [
        ("CFP", "chase_db1_mini/07"),
        ("CFP", "CFP/eye 1"),
        ("CFP", "CFP/eye 2"),
        ("Retinal Imaging", "Retinal Imaging/b"),
        ("Other", "Other/x"),
    ]
    assert (found[1].pixels == striped(1)[:, :, ::-1]).all()


@pytest.mark.parametrize("name", ["missing", "fundus"])
def test_a_folder_without_pictures_is_named_with_the_layout_expected(tmp_path: Path, name: str) -> None:
    (tmp_path / "fundus").mkdir()
    assert cv2.imwrite(str(tmp_path / "fundus" / "a.png"), striped(1))
    with pytest.raises(ValueError, match=rf"{name}.*CFP, OCT, Retinal Imaging, Other"):
        pool_pictures(tmp_path / name, None, None)


def test_sources_of_one_modality_lie_in_one_part_each(tmp_path: Path) -> None:
    for name in (
        "huapu4_FFA/FA_venous/040_00001.jpg",
        "javimdr_fa_octa/FA/fa.jpg",
        "sraashis_vevio/video_frame/002_neo04od1_d.jpg",
        "sraashis_vevio/mosaic/000_neo02od1_m.jpg",
        "halirutan_spectralis/OCT/003_valid_b0.jpg",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        assert cv2.imwrite(str(tmp_path / name), striped(1))
    found = {picture.group: picture for picture in licensed_pictures(tmp_path)}
    assert found["sraashis_vevio/video_frame/neo04"].image_type == "CFP"
    assert found["sraashis_vevio/mosaic/neo02"].image_type == "Retinal Imaging"
    assert found["halirutan_spectralis/OCT/003"].image_type == "OCT"
    angiograms = [picture for group, picture in found.items() if "/FA" in group]
    assert {(p.image_type, p.part) for p in angiograms} == {("Retinal Imaging", "train"), ("Retinal Imaging", "test")}
    assert len(PicturePool(angiograms, "train").by_type["Retinal Imaging"]) == 1
    assert not PicturePool(angiograms, "validation").by_type["Retinal Imaging"]


def test_data_sets_are_named_once_and_by_what_they_show() -> None:
    assert len({data.folder for data in DATA_SETS}) == len(DATA_SETS)
    assert {data.image_type for data in DATA_SETS} == {"CFP", "OCT", "Retinal Imaging"}
    with pytest.raises(ValueError, match="does not say what it shows"):
        _ = DataSet("somebody/things").image_type


def test_articles_with_annotations_are_not_drawn_from(tmp_path: Path) -> None:
    for name in ("articles/b/article.pdf", "articles/a/article.pdf", "articles/c/notes.txt", "annotations/b.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert unannotated_articles(tmp_path / "articles", tmp_path / "annotations") == ["a"]
    assert unannotated_articles(tmp_path / "articles", None) == ["a", "b"]
