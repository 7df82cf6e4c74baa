"""Data sets of others, as small files in their published layouts."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
import pytest

from pmo_assets.encoders.evaluation.datasets import examples
from pmo_assets.encoders.evaluation.datasets.deepeyenet import read_deepeyenet
from pmo_assets.encoders.evaluation.datasets.examples import DataMissing, read_picture
from pmo_assets.encoders.evaluation.datasets.folders import read_captioned_folder, read_class_folders
from pmo_assets.encoders.evaluation.datasets.medmnist import read_medmnist
from pmo_assets.encoders.evaluation.datasets.mimic_cxr import read_mimic_cxr, section_of
from pmo_assets.encoders.evaluation.datasets.quilt import read_quilt
from pmo_assets.encoders.evaluation.datasets.reading import RowsToEmbed, rows_to_embed
from pmo_assets.encoders.evaluation.embeddings import EmbeddingsError


def _picture(path, value: int = 7, mode: str = "L"):
    path.parent.mkdir(parents=True, exist_ok=True)
    PIL.Image.new(mode, (4, 3), value if mode == "L" else (value,) * 3).save(path)


@pytest.mark.parametrize(
    ("read", "where"),
    [
        (read_mimic_cxr, "physionet.org"),
        (read_quilt, "quilt1m.github.io"),
        (read_deepeyenet, "on request"),
        (read_medmnist, "zenodo.org"),
        (read_captioned_folder, "metadata.csv or metadata.jsonl"),
        (read_class_folders, "no picture below"),
    ],
)
def test_a_missing_data_set_says_where_it_is_to_be_had(read, where, tmp_path) -> None:
    with pytest.raises(DataMissing, match=where):
        read(tmp_path)


REPORT = """                                 FINAL REPORT
 EXAMINATION:  CHEST (PA AND LAT)

 INDICATION:  Cough.

 FINDINGS: The lungs are clear.
   No effusion.

 IMPRESSION:

 No acute
 cardiopulmonary process.
"""


@pytest.mark.parametrize("reports", ["", "mimic-cxr-reports"])
def test_mimic_cxr_pairs_radiographs_with_the_impression_of_their_study(tmp_path, reports) -> None:
    rows = [
        "dicom_id,study_id,subject_id,split",
        "aa-1,50414267,10000032,test",
        "aa-2,50414267,10000032,test",
        "bb-1,50000001,11000001,test",
        "cc-1,50000002,11000001,test",
        "dd-1,50000003,11000001,train",
        "../../x,50000003,11000001,test",
    ]
    (tmp_path / "mimic-cxr-2.0.0-split.csv.gz").write_bytes(gzip.compress("\n".join(rows).encode()))
    study = "files/p10/p10000032/s50414267"
    for name in ("aa-1", "aa-2"):
        _picture(tmp_path / study / f"{name}.jpg")
    _picture(tmp_path / "files/p11/p11000001/s50000001/bb-1.jpg")
    report = tmp_path / reports / f"{study}.txt"
    report.parent.mkdir(parents=True, exist_ok=True)
    report.write_text(REPORT)
    found = read_mimic_cxr(tmp_path)
    assert [item.id for item in found.examples] == ["aa-1", "aa-2"]
    assert {(item.texts, item.group) for item in found.examples} == {
        (("No acute cardiopulmonary process.",), "s50414267")
    }
    assert found.examples[0].pixels().shape == (3, 4, 3)
    assert found.left_out == ("2 without a picture", "1 without a report")


def test_a_report_without_an_impression_gives_its_findings() -> None:
    assert section_of(REPORT.split(" IMPRESSION")[0]) == "The lungs are clear. No effusion."
    assert section_of("A note without sections.") is None


def test_quilt_gives_a_picture_all_its_captions(tmp_path) -> None:
    (tmp_path / "quilt_1M_lookup.csv").write_text(
        ",caption,image_path,subset,split,pathology,roi_text\n"
        '0,"A gland, dilated",a.jpg,quilt,val,x,[]\n'
        "1,Another text,a.jpg,quilt,val,x,[]\n"
        "2,Not of this part,a.jpg,quilt,train,x,[]\n"
        "3,No picture,b.jpg,quilt,val,x,[]\n"
        "4,Outside,../secret.jpg,quilt,val,x,[]\n"
    )
    _picture(tmp_path / "quilt_1m" / "a.jpg")
    _picture(tmp_path.parent / "secret.jpg")
    _picture(tmp_path / "secret.jpg")
    found = read_quilt(tmp_path)
    assert [(item.id, item.texts) for item in found.examples] == [("a.jpg", ("A gland, dilated", "Another text"))]
    assert found.left_out == ("2 without a picture",)
    with pytest.raises(DataMissing, match="no usable example"):
        read_quilt(tmp_path, split="other")


def test_a_link_that_leads_out_of_the_folder_is_no_picture(tmp_path) -> None:
    _picture(tmp_path / "outside.png")
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "in.png").symlink_to(tmp_path / "outside.png")
    assert examples.picture_below(tmp_path / "root", "in.png") is None


def test_deepeyenet_gives_descriptions_or_keywords(tmp_path) -> None:
    name = "eyenet0420/test_set/drusen-1.jpg"
    facts = {"keywords": "drusen, dry amd", "clinical-description": "Soft drusen\nof the macula."}
    rows = [{name: facts}, {"eyenet0420/test_set/none.jpg": facts}, {"eyenet0420/test_set/b.jpg": {"keywords": "x"}}]
    (tmp_path / "DeepEyeNet_test.json").write_text(json.dumps(rows))
    _picture(tmp_path / name)
    _picture(tmp_path / "test_set/b.jpg")
    found = read_deepeyenet(tmp_path)
    assert [(item.id, item.texts) for item in found.examples] == [(name, ("Soft drusen of the macula",))]
    assert found.left_out == ("1 without a picture", "1 without a text")
    both = read_deepeyenet(tmp_path, text="both").examples
    assert [item.texts for item in both] == [("drusen, dry amd. Soft drusen of the macula",), ("x",)]
    (tmp_path / "DeepEyeNet_test.json").write_text("[1]")
    with pytest.raises(EmbeddingsError, match="is no list of"):
        read_deepeyenet(tmp_path)


@pytest.mark.parametrize(("name", "shape"), [("octmnist", (5, 28, 28)), ("retinamnist", (5, 28, 28, 3))])
def test_medmnist_gives_pictures_in_colour_with_named_classes(tmp_path, name, shape) -> None:
    images, labels = np.random.default_rng(0).integers(0, 256, shape, np.uint8), np.array([[3], [0], [1], [2], [1]])
    np.savez(tmp_path / f"{name}.npz", test_images=images, test_labels=labels.astype(np.uint8))
    found = read_medmnist(tmp_path, name)
    assert [item.label for item in found.examples] == [3, 0, 1, 2, 1]
    pixels = found.examples[2].pixels()
    assert pixels.shape == (28, 28, 3)
    assert (pixels[..., 0] == (images[2] if name == "octmnist" else images[2, ..., 0])).all()
    assert len(found.classes) == (4 if name == "octmnist" else 5)


def test_medmnist_files_of_another_layout_are_refused(tmp_path) -> None:
    images, labels = np.zeros((2, 28, 28), np.uint8), np.zeros((2, 1), np.uint8)
    for change, reason in [
        ({"test_images": images.astype(float)}, "of float64"),
        ({"test_images": images[:, :14]}, r"not \(n, 28, 28\)"),
        ({"test_labels": labels + 9}, "label 9, but classes"),
        ({"test_labels": labels[:1]}, r"labels \(1, 1\)"),
        ({"test_labels": np.array([{}, {}])}, "no whole .npz file of plain arrays"),
    ]:
        arrays: dict[str, Any] = {"test_images": images, "test_labels": labels, **change}
        np.savez(tmp_path / "retinamnist.npz", **arrays)
        with pytest.raises(EmbeddingsError, match=reason):
            read_medmnist(tmp_path)
    with pytest.raises(EmbeddingsError, match="has no val_images"):
        read_medmnist(tmp_path, split="val")
    with pytest.raises(EmbeddingsError, match="not 100"):
        read_medmnist(tmp_path, size=100)
    with pytest.raises(DataMissing, match=r"retinamnist_224\.npz is not in"):
        read_medmnist(tmp_path, size=224)


def test_folders_of_classes(tmp_path) -> None:
    for name in ("b/2.png", "a/1.JPG", "b/deep/3.png", "loose.png"):
        _picture(tmp_path / name)
    found = read_class_folders(tmp_path)
    assert found.classes == ("a", "b")
    assert [(item.id, item.label) for item in found.examples] == [("a/1.JPG", 0), ("b/2.png", 1), ("b/deep/3.png", 1)]


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_folders_with_a_list_of_texts(tmp_path, form) -> None:
    rows = [("a.png", "An eye"), ("a.png", "A retina"), ("none.png", "Not there"), ("b.png", " ")]
    text = "\n".join(
        ["file_name,text", *(f"{name},{words}" for name, words in rows)]
        if form == "csv"
        else [json.dumps({"file_name": name, "text": words}) for name, words in rows]
    )
    (tmp_path / f"metadata.{form}").write_text(text)
    for name in ("a.png", "b.png"):
        _picture(tmp_path / name)
    found = read_captioned_folder(tmp_path)
    assert [(item.id, item.texts) for item in found.examples] == [("a.png", ("An eye", "A retina"))]
    assert found.left_out == ("1 without a picture",)


def test_lists_that_are_damaged_are_refused(tmp_path) -> None:
    (tmp_path / "metadata.jsonl").write_text('{"file_name": "a"}\n')
    with pytest.raises(EmbeddingsError, match=r"line 1 of .* has no file_name and text"):
        read_captioned_folder(tmp_path)
    (tmp_path / "metadata.csv").write_text("file,text\n")
    with pytest.raises(EmbeddingsError, match="has no column file_name"):
        read_captioned_folder(tmp_path)
    (tmp_path / "metadata.csv").write_bytes(b"file_name,text\na.png,\xff\n")
    with pytest.raises(EmbeddingsError, match="no CSV file in UTF-8"):
        read_captioned_folder(tmp_path)


def test_pictures_are_bounded(tmp_path, monkeypatch) -> None:
    _picture(tmp_path / "a.png")
    monkeypatch.setattr(examples, "MOST_PIXELS", 11)
    with pytest.raises(EmbeddingsError, match="4 x 3 pixels, more than 11"):
        read_picture(tmp_path / "a.png")
    (tmp_path / "b.png").write_bytes(b"none")
    with pytest.raises(EmbeddingsError, match="is no picture"):
        read_picture(tmp_path / "b.png")
    monkeypatch.setattr(examples, "MOST_PICTURE_BYTES", 3)
    with pytest.raises(EmbeddingsError, match="more than 3 bytes"):
        read_picture(tmp_path / "b.png")


def test_what_is_to_be_embedded_is_read_in_its_order(tmp_path: Path) -> None:
    lines = tmp_path / "lines.txt"
    lines.write_text("one\n\nthree\n", encoding="utf-8")
    assert rows_to_embed(lines) == RowsToEmbed(texts=("one", "", "three"))
    rows = tmp_path / "rows.jsonl"
    (tmp_path / "p.png").write_bytes(b"")
    rows.write_text('{"picture": "p.png", "text": null}\n')
    assert rows_to_embed(rows) == RowsToEmbed((tmp_path / "p.png",))


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.txt", b"", "is empty"),
        ("a.txt", b"\xff\xfe\x00", "no text in UTF-8"),
        ("a.jsonl", b'{"text": "x"}\n', "is no rows.jsonl"),
        ("a.jsonl", b"[1]\n", "is no rows.jsonl"),
        ("a.jsonl", b'{"picture": "../../etc/passwd", "text": null}\n', "is not below"),
        (None, b"", "there is no folder and no file"),
    ],
)
def test_what_cannot_be_embedded_is_one_error(tmp_path: Path, name: str | None, content: bytes, words: str) -> None:
    if name:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(EmbeddingsError, match=words):
        rows_to_embed(tmp_path / (name or "nothing"))
