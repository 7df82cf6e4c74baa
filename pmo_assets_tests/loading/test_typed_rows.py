"""Records of a release: pictures, boxes, masks, and how one leads to another."""

from __future__ import annotations

import dataclasses
import io
import pickle
from pathlib import Path

import numpy as np
import PIL.Image
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.loading import Panel, Release, ReleaseError, Withheld, load
from pmo_assets.loading.pixel_boxes import box_in_crop, mask_of
from pmo_assets.loading.release import PICTURES
from pmo_assets.loading.row_types import ROW_TYPES
from pmo_assets.pictures import pixels_digest
from pmo_assets.pipeline.dataset.licensing import withheld
from pmo_assets.records.geometry import Box, as_box, crop_box
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.tables import Tables
from pmo_assets.tables.release import CONFIGS, release_tables
from pmo_assets.tables.released import Config
from pmo_assets_tests.examples import examples
from pmo_assets_tests.loading.conftest import Written
from pmo_assets_tests.release.finished import finish, make

EDGE = st.floats(-0.1, 1.1) | st.integers(0, 100).map(lambda number: number / 100)


BOX = st.tuples(EDGE, EDGE, EDGE, EDGE).map(as_box)


@given(found=st.lists(BOX, max_size=4), crop=BOX, width=st.integers(1, 300), height=st.integers(1, 300))
@examples(400)
def test_a_mask_is_the_crop_of_the_figures_mask(found: list[Box], crop: Box, width: int, height: int) -> None:
    whole = np.zeros((height, width), dtype=bool)
    for box in found:
        left, top, right, bottom = crop_box(box, width, height)
        whole[top:bottom, left:right] = True
    left, top, right, bottom = crop_box(crop, width, height)
    placed = [part for box in found if (part := box_in_crop(box, crop, width, height)) is not None]
    assert np.array_equal(mask_of(placed, right - left, bottom - top), whole[top:bottom, left:right])
    for x0, y0, x1, y1 in placed:
        assert 0 <= x0 < x1 <= right - left
        assert 0 <= y0 < y1 <= bottom - top


@pytest.mark.parametrize("config", CONFIGS)
def test_records_name_columns_of_the_release(config: Config) -> None:
    """Pictures are read when they are asked for. A column that came later is an attribute all the same."""
    assert ROW_TYPES[config].columns() <= set(release_tables()[config].columns()) - {PICTURES[config]}


@pytest.mark.slow
def test_a_release_as_it_is_made_opens_with_all_that_a_row_leads_to(tmp_path: Path) -> None:
    tables = Tables(DataRoot(str(tmp_path)))
    finish(tables, "0001-a", {1: {}, 2: {"code": "CC BY-ND"}}, panels=2)
    make(tables)
    opened = load(tmp_path)
    assert len(opened.panels) == 4
    for panel in opened.panels:
        assert panel in panel.figure.panels
        assert panel.figure in panel.article.figures
        assert panel.article.keywords == ("optic disc", f"{panel.article_id}")
        assert [size.width for size in panel.figure.page_sizes] == [595.0]
        if not withheld(panel.license):
            assert pixels_digest(panel.pixels()) == panel.picture_sha256


def with_picture(release: Release) -> list[Panel]:
    return [panel for panel in release.panels if panel.subcaption is not None]


def test_boxes_lie_on_the_same_pixels_as_in_the_figure(release: Release) -> None:
    checked = 0
    for panel in with_picture(release):
        figure, pixels = panel.figure.pixels(), panel.pixels()
        assert pixels.dtype == np.uint8
        assert pixels.shape == (panel.picture_height, panel.picture_width, 3)
        for image, (left, top, right, bottom) in zip(panel.images, panel.boxes("image"), strict=True):
            x0, y0, x1, y1 = crop_box(image.box, figure.shape[1], figure.shape[0])
            assert np.array_equal(pixels[top:bottom, left:right], figure[y0:y1, x0:x1])
            checked += 1
    assert checked > 20


def test_masks_by_kind(release: Release) -> None:
    for panel in release.panels:
        by_type = [panel.mask(kind) for kind in ("CFP", "OCT", "Retinal Imaging", "Other")]
        undecided = any(image.image_type is None for image in panel.images)
        assert undecided or np.array_equal(np.logical_or.reduce(by_type), panel.mask("image"))
        assert panel.mask("OCT").any() == panel.contains_oct
        assert panel.mask("identifier").shape == (panel.picture_height, panel.picture_width)
        assert panel.mask("identifier").any()
        assert panel.mask("panel").mean() > 0.5
    with pytest.raises(ValueError, match="no boxes of the kind 'oct'"):
        panel.mask("oct")  # type: ignore[arg-type]


def test_pictures_are_those_that_were_written(release: Release, written: Written) -> None:
    for panel, row in zip(release.panels, written.rows["panels"], strict=True):
        if row["panel_image"] is not None:
            expected = PIL.Image.open(io.BytesIO(row["panel_image"]["bytes"]))
            assert panel.image().mode == "RGB"
            assert np.array_equal(panel.pixels(), np.asarray(expected))


def test_what_is_withheld_is_none_and_its_picture_says_why(release: Release) -> None:
    withheld = release.panels.filter(license="CC BY-ND")
    assert len(withheld) > 0
    for panel in withheld:
        assert panel.subcaption is None
        assert panel.in_text_mention is None
        assert panel.picture() is None
        assert panel.mask("image").any()
        for ask in (panel.image, panel.pixels, panel.figure.image):
            with pytest.raises(Withheld, match=r"licence of article .*CC BY-ND.*pmo release fill-null"):
                ask()
        assert "withholds the picture" in panel._repr_html_()
        assert "withholds the text" in panel._repr_html_()


def test_rows_lead_to_each_other(release: Release) -> None:
    for article in release.articles:
        assert len(article.figures) == article.figure_count
        assert len(article.panels) == article.panel_count
        for figure in article.figures:
            assert figure.article == article
            assert [panel.panel_id for panel in figure.panels] == list(figure.panel_ids)
            for panel in figure.panels:
                assert panel.figure == figure
                assert panel.article == article


def test_a_record_is_frozen_equal_and_travels(release: Release) -> None:
    panel = with_picture(release)[0]
    with pytest.raises(dataclasses.FrozenInstanceError):
        panel.license = "CC0"  # type: ignore[misc]
    again = pickle.loads(pickle.dumps(panel))
    assert again == panel == release.panels.filter(panel_id=panel.panel_id)[0]
    assert hash(again) == hash(panel)
    assert np.array_equal(again.pixels(), panel.pixels())
    assert np.array_equal(again.mask(), panel.mask())


def test_a_notebook_shows_picture_text_and_credit_without_running_what_they_say(release: Release) -> None:
    panel = with_picture(release)[0]
    shown = panel._repr_html_()
    assert 'src="data:image/png;base64,' in shown
    assert "&lt;b&gt;shows&lt;/b&gt;" in shown
    assert "<b>" not in shown
    assert "Article &lt;0&gt;" in shown
    harmful = dataclasses.replace(panel, article_url='javascript:alert("x")', attribution='"><script>')
    assert "javascript" not in harmful._repr_html_()
    assert "<script" not in harmful._repr_html_()
    assert len(repr(panel)) < 120


def test_figures_of_another_rendering_are_refused(release: Release) -> None:
    panel = release.panels[0]
    with pytest.raises(ReleaseError, match="not of one release"):
        dataclasses.replace(panel, picture_width=panel.picture_width + 1).boxes()


def test_a_damaged_picture_says_so(release: Release, monkeypatch: pytest.MonkeyPatch) -> None:
    panel = with_picture(release)[0]
    cut = (panel.picture() or b"")[:200]
    monkeypatch.setattr(Release, "picture_of", lambda self, config, row: cut)
    with pytest.raises(ReleaseError, match="damaged"):
        panel.image()
    assert "damaged" in panel._repr_html_()
