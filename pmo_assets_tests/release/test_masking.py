"""A release without people: panels and figures are masked alike, wherever the release shows them, and all is listed."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from pmo_assets.pictures import decoded_bytes, png_bytes
from pmo_assets.records.reading import ReadText, TextReader
from pmo_assets.records.stores import Picture, StorageError
from pmo_assets.release.deidentification import Masker, load_masker
from pmo_assets.release.gallery_pages import gallery_figures
from pmo_assets.release.keys import MASKED_KEY, RELEASE_KEY
from pmo_assets.release.masking import SEEN_KEY, PeopleMasking, people_masking
from pmo_assets.release.rebuilding import rebuild_release
from pmo_assets.release.reports import masked_table
from pmo_assets.release.selection import select_articles
from pmo_assets.release.writing import ReleaseOptions
from pmo_assets.samples.pictures import drawn_picture
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.pixels import ParquetPixels
from pmo_assets.storage.tables import Tables
from pmo_assets_tests.release.finished import finish, make, read_table

Pixels = NDArray[np.uint8]
SIDE = 320


def scan(seed: int, text: str = "") -> Pixels:
    """Return an OCT scan with a black bar above, in which a text is printed."""
    shown = np.ascontiguousarray(drawn_picture("oct", np.random.default_rng(seed), SIDE, SIDE))
    shown[:50] = 0
    cv2.putText(shown, text, (10, 32), cv2.FONT_HERSHEY_SIMPLEX, 0.7, (255, 255, 255), 2, cv2.LINE_AA)
    return shown


def picture(key: str, pixels: Pixels) -> Picture:
    return Picture(key, pixels.shape[1], pixels.shape[0], png_bytes(pixels))


LEFT, RIGHT = scan(1, "Patient: Jane Miller"), scan(2, "OCT 200 um")
WHOLE = np.concatenate([LEFT, RIGHT], axis=1)


def rows(*boxes: Sequence[float]) -> list[dict[str, object]]:
    return [
        {"panel_id": f"p{n}", "article_id": 7, "image_cluster_id": "f1", "content_box": list(box), "modality": "OCT"}
        for n, box in enumerate(boxes)
    ]


class Counted:
    """The real reader of print; how often it was asked is counted."""

    name = "counted"

    def __init__(self, reader: TextReader) -> None:
        self.reader, self.asked = reader, 0

    def __call__(
        self, pictures: Sequence[Pixels], *, one_line: bool = False, lengths: tuple[int, int] | None = None
    ) -> list[tuple[ReadText, ...]]:
        self.asked += len(pictures)
        return self.reader(pictures, one_line=one_line, lengths=lengths)

    def load(self) -> None:
        self.reader.load()


@pytest.fixture(scope="module")
def masker() -> Masker:
    return load_masker()


def has_print(content: bytes | None, left: int = 0) -> bool:
    assert content is not None
    return bool((decoded_bytes(content)[5:45, left + 5 : left + SIDE - 10] > 128).any())


def test_panel_and_figure_are_black_at_the_same_place_and_other_panels_stay(masker: Masker, tmp_path: Path) -> None:
    reader = Counted(masker.reader)
    masking = people_masking(DataRoot(str(tmp_path)), Masker(reader), "1")
    of_panels = rows((0, 0, 0.5, 1), (0.5, 0, 1, 1))
    pictures = [picture("p0", LEFT), picture("p1", RIGHT)]
    (left, right), (whole,) = masking.clean(of_panels, pictures, [("f1", picture("g", WHOLE))])
    assert right == pictures[1], "byte for byte"
    assert not has_print(left.png)
    assert not has_print(whole.png)
    assert has_print(whole.png, SIDE), "what is printed on the other panel names nobody"
    listed = masking.table()
    assert listed["panel_id"].to_list() == ["p0", None]
    assert set(listed["what"].explode()) == {"print"}
    assert set(masking.figures) == {(7, "f1")}

    masking.keep(DataRoot(str(tmp_path)))
    before = reader.asked
    again = people_masking(DataRoot(str(tmp_path)), Masker(reader), "1")
    assert again.clean(of_panels, pictures, [("f1", picture("g", WHOLE))]) == ([left, right], [whole])
    assert reader.asked == before, "pictures that were looked at are not looked at again"
    assert people_masking(DataRoot(str(tmp_path)), Masker(reader), "2").seen == {}, "other networks look anew"


def test_what_only_the_whole_figure_shows_is_black_in_its_panel_too(masker: Masker) -> None:
    cut = np.ascontiguousarray(WHOLE[:, 60:SIDE])  # "Patient:" is cut off
    (shown,), _ = PeopleMasking(masker, "").clean(
        rows((60 / (2 * SIDE), 0, 0.5, 1)), [picture("p0", cut)], [("f1", picture("g", WHOLE))]
    )
    assert not (decoded_bytes(shown.png)[5:45] > 128).any()


@pytest.fixture
def tables(tmp_path: Path) -> Tables:
    """One article with two panels; a patient's name is printed on the first."""
    found = Tables(DataRoot(str(tmp_path / "data")))
    finish(found, "0001-a", {1: {}}, panels=2)
    for store, first in (("panels", LEFT), ("figures", WHOLE)):
        pixels = ParquetPixels(found.data_root, store, "0001-a")
        held = pixels.read(1)
        key = next(iter(held))
        pixels.write(1, [picture(key, first), *(item for name, item in held.items() if name != key)])
    return found


@pytest.mark.slow
def test_the_whole_release_is_without_people_and_says_what_was_masked(
    tables: Tables, masker: Masker, tmp_path: Path
) -> None:
    options = ReleaseOptions(mask_people=True)
    root, selection = tables.data_root, select_articles(tables)
    masking = people_masking(root, masker, "1")
    release = make(tables, selection, options=options, masking=masking)
    assert release.facts.masks_people
    key = next(iter(ParquetPixels(root, "panels", "0001-a").read(1)))
    published = read_table(root, RELEASE_KEY)
    hub = pl.concat([pl.read_parquet(io.BytesIO(root.read(k))) for k in hub_files(root, "panels")])
    figures = pl.concat([pl.read_parquet(io.BytesIO(root.read(k))) for k in hub_files(root, "figures")])
    assert not has_print(published.filter(panel_id=key)["panel_image_bytes"][0])
    assert not has_print(hub.filter(panel_id=key)["panel_image"][0]["bytes"])
    assert not has_print(figures["figure_image"][0]["bytes"])
    listed = read_table(root, MASKED_KEY)
    assert key in listed["panel_id"].to_list()
    assert None in listed["panel_id"].to_list()
    assert any(file.path == "hub/masked.parquet" for file in release.manifest.files)
    page = masked_table(tables)
    assert len(page.rows) == listed.height
    assert root.exists(SEEN_KEY)
    card = root.read("release/hub/README.md").decode()
    assert "are black where two networks saw them" in card
    assert "masked.parquet" in card

    (shown, *_) = gallery_figures(root, tables, selection, options, {}, masked=masking.figures)
    assert not has_print(shown.image)
    (plain, *_) = gallery_figures(root, tables, selection, ReleaseOptions(), {})
    assert has_print(plain.image)

    target = DataRoot(str(tmp_path / "rebuilt"))
    rebuilt = rebuild_release(tables, release.manifest.version, target, say=lambda _: None)
    assert rebuilt.other == (), "an older release is rebuilt without people as well"


def hub_files(root: DataRoot, config: str) -> list[str]:
    return [f"release/hub/data/{config}/{name}" for name in root.keys(f"release/hub/data/{config}", ".parquet")]


def test_nothing_is_written_when_nothing_masks(tables: Tables) -> None:
    with pytest.raises(StorageError, match="without people"):
        make(tables, options=replace(ReleaseOptions(), mask_people=True))
    assert not tables.data_root.exists(RELEASE_KEY)


def test_without_the_setting_pictures_are_as_published(tables: Tables) -> None:
    release = make(tables)
    assert not release.facts.masks_people
    assert not tables.data_root.exists(MASKED_KEY)
    assert masked_table(tables).rows == ()
    assert has_print(read_table(tables.data_root, RELEASE_KEY)["panel_image_bytes"][0])
