"""Pictures that leave with instructions: faces and printed names are black, all else is as it was."""

from __future__ import annotations

import json
from pathlib import Path

import cv2
import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray

from pmo_assets.pictures import compact_bytes, decoded_bytes, png_bytes
from pmo_assets.records.geometry import Box, contains, crop_box
from pmo_assets.release.deidentification import CleanPicture, Masked, Masker, load_masker
from pmo_assets.release.hub.instruction_files import MASKED_FILE, write_instructions
from pmo_assets.samples.pictures import drawn_picture
from pmo_assets_tests.release.hub_folder import write_hub_folder
from pmo_assets_tests.samples.lectures import FACE_IN_PORTRAIT, drawn_face

Pixels = NDArray[np.uint8]


@pytest.fixture(scope="module")
def masker() -> Masker:
    return load_masker()


def scan(seed: int = 0, side: int = 480) -> Pixels:
    return np.ascontiguousarray(drawn_picture("oct", np.random.default_rng(seed), side, side))


def printed(pixels: Pixels, text: str, at: tuple[int, int] = (20, 40)) -> Pixels:
    shown = pixels.copy()
    cv2.rectangle(shown, (0, 0), (shown.shape[1], 60), (0, 0, 0), -1)
    cv2.putText(shown, text, at, cv2.FONT_HERSHEY_SIMPLEX, 0.8, (255, 255, 255), 2, cv2.LINE_AA)
    return shown


@pytest.mark.slow
@pytest.mark.parametrize("text", ["Patient: Jane Miller", "DOB 03/05/1961", "MRN 40718823", "Dr. Jane Miller"])
def test_print_that_names_a_patient_is_black(masker: Masker, text: str) -> None:
    clean = masker.clean(png_bytes(printed(scan(), text)))
    assert {item.what for item in clean.masked} == {"print"}
    band = decoded_bytes(clean.content)[10:50, 20:300]
    assert (band > 128).mean() < 0.002


@pytest.mark.parametrize("text", ["OCT 200 um", "OD", "Foveal thickness 312 um", ""])
def test_other_print_and_the_scan_stay_byte_for_byte(masker: Masker, text: str) -> None:
    content = png_bytes(printed(scan(), text))
    assert masker.clean(content) == CleanPicture(content)


def test_a_face_is_black_and_the_scan_beside_it_stays(masker: Masker) -> None:
    canvas, side = scan(1, 640), 160
    canvas[20 : 20 + side, 30 : 30 + side] = drawn_face(np.random.default_rng(3), side)
    clean = masker.clean(compact_bytes(canvas))
    (found,) = clean.masked
    left, top, right, bottom = FACE_IN_PORTRAIT
    face: Box = ((30 + left * side) / 640, (20 + top * side) / 640, (30 + right * side) / 640,
                 (20 + bottom * side) / 640)  # fmt: skip
    assert (found.what, contains(found.box, face, 0.01)) == ("face", True)
    shown = decoded_bytes(clean.content)
    x0, y0, x1, y1 = crop_box(found.box, 640, 640)
    assert not shown[y0:y1, x0:x1].any()
    outside = np.ones((640, 640), bool)
    outside[y0:y1, x0:x1] = False
    assert (shown[outside] == canvas[outside]).all()
    assert clean.share == pytest.approx((x1 - x0) * (y1 - y0) / 640**2)


@pytest.mark.slow
def test_in_a_picture_of_the_retina_only_a_sure_face_counts(masker: Masker) -> None:
    face, doubtful, sure = drawn_face(np.random.default_rng(0), 160), scan(1, 640), scan(1, 640)
    doubtful[20:180, 30:190] = doubtful[20:180, 30:190] // 2 + face // 2  # scores 0.7 to 0.8
    sure[20:180, 30:190] = face
    for modality in (None, "external eye", "photograph"):
        assert masker.clean(png_bytes(doubtful), modality).masked
    assert not masker.clean(png_bytes(doubtful), "fundus photograph").masked
    assert masker.clean(png_bytes(sure), "fundus photograph").masked


@pytest.mark.parametrize(
    ("share", "box", "leaves"),
    [(0.05, (0.5, 0.5, 0.9, 0.9), True), (0.05, (0.0, 0.0, 0.3, 0.3), False), (0.3, (0.5, 0.5, 0.9, 0.9), False)],
)
def test_nothing_is_asked_of_a_person_or_of_what_is_black(share: float, box: Box, leaves: bool) -> None:
    clean = CleanPicture(b"", (Masked((0.0, 0.0, 0.2, 0.25), "face"),), share)
    assert clean.shows([box]) == leaves
    assert CleanPicture(b"").shows([box])


@pytest.mark.slow
def test_an_export_is_without_people_and_lists_them(tmp_path: Path, masker: Masker) -> None:
    hub = tmp_path / "hub"
    write_hub_folder(hub)
    (hub / "SHA256SUMS").unlink()
    path = next((hub / "data" / "panels").glob("test-*.parquet"))
    pictures = [png_bytes(drawn_face(np.random.default_rng(1), 300)), png_bytes(printed(scan(), "MRN 40718823"))]
    table = pl.read_parquet(path).with_columns(
        panel_image=pl.Series([{"bytes": content, "path": None} for content in pictures])
    )
    schema = pq.read_schema(path)
    pq.write_table(table.to_arrow().cast(schema), path)
    names = table["panel_id"].to_list()

    plain, *_ = write_instructions(hub, tmp_path / "plain", splits=["test"])
    assert (plain.masked, plain.left_out) == (0, 0)
    (written,) = write_instructions(hub, tmp_path / "out", splits=["test"], masker=masker)
    rows = [json.loads(line) for line in (tmp_path / "out" / MASKED_FILE).read_text().splitlines()]
    assert [(row["panel_id"], row["what"]) for row in rows] == [(names[0], ["face"]), (names[1], ["print"])]
    assert rows[0]["instructions_left_out"] == written.left_out == plain.instructions - written.instructions > 0
    assert written.masked == 2
    assert [file.stem for file in (tmp_path / "out" / "images").iterdir()] == [names[1].replace("/", "_")]
    assert "40718823" not in (tmp_path / "out" / MASKED_FILE).read_text()
