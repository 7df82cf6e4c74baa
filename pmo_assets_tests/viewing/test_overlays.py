"""Pictures of detections: where boxes are, and that nothing odd breaks them."""

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from pmo_assets.viewing.overlays import (
    PREVIEW_BYTES,
    contact_sheet,
    data_uri,
    draw_detections,
    draw_legend,
    jpeg_bytes,
    picture_mime,
    thumbnail,
)
from pmo_assets.viewing.palette import IMAGE_TYPE_COLOURS, KIND_COLOURS, image_type_colour, rgb
from pmo_assets_tests.examples import examples

GREY = np.full((200, 400, 3), 128, np.uint8)


def places(picture: np.ndarray, colour: str) -> tuple[int, int, int, int]:
    """Return left, top, right, bottom of the pixels that have exactly this colour."""
    rows, columns = np.nonzero((picture == rgb(colour)).all(axis=2))
    return int(columns.min()), int(rows.min()), int(columns.max()), int(rows.max())


def has(picture: np.ndarray, colour: str) -> bool:
    return bool((picture == rgb(colour)).all(axis=2).any())


def test_a_panel_is_framed_where_it_lies():
    picture = draw_detections(GREY, panels=[((0.25, 0.1, 0.75, 0.9), None)])
    assert picture.shape == GREY.shape
    assert places(picture, KIND_COLOURS["panel"]) == (100, 20, 299, 179)
    assert (picture[60:140, 120:280] == 128).all(), "the inside stays visible"
    assert (picture[:, :95] == 128).all()


def test_each_kind_and_type_has_its_colour():
    types = [*IMAGE_TYPE_COLOURS, None]
    images = [((i / 5, 0.0, (i + 1) / 5, 0.5), name, None) for i, name in enumerate(types)]
    picture = draw_detections(
        GREY, panels=[((0, 0, 1, 1), "A")], identifiers=[((0.1, 0.8, 0.2, 0.9), "a")], images=images
    )
    for colour in (*KIND_COLOURS.values(), *(image_type_colour(name) for name in types)):
        assert has(picture, colour)


def test_image_frames_are_dashed_and_panel_frames_solid():
    box = (0.1, 0.1, 0.9, 0.9)
    solid = (draw_detections(GREY, panels=[(box, None)]) == rgb(KIND_COLOURS["panel"])).all(axis=2)
    dashed = (draw_detections(GREY, panels=[], images=[(box, "OCT", False)]) == rgb(IMAGE_TYPE_COLOURS["OCT"])).all(
        axis=2
    )
    assert solid[solid.any(axis=1).argmax(), 40:360].all()
    bottom = np.nonzero(dashed.any(axis=1))[0].max()
    assert 0.3 < dashed[bottom, 50:350].mean() < 0.7


def test_names_and_mark_status_are_written():
    plain = draw_detections(GREY, panels=[((0, 0, 1, 1), None)])
    named = draw_detections(GREY, panels=[((0, 0, 1, 1), "A")])
    other = draw_detections(GREY, panels=[((0, 0, 1, 1), "B")])
    assert (plain != named).any()
    assert (named != other).any()
    by_mark = [draw_detections(GREY, panels=[], images=[((0, 0, 1, 1), "OCT", mark)]) for mark in (True, False, None)]
    assert len({picture.tobytes() for picture in by_mark}) == 3


def test_labels_of_coinciding_boxes_do_not_cover_each_other():
    together = draw_detections(
        GREY, panels=[((0, 0, 1, 1), "Panel")], images=[((0, 0, 1, 1), "CFP", False), ((0, 0, 1, 1), "OCT", False)]
    )
    # Each label is a filled block; hidden behind another one its colour would only be left in the frame.
    for colour in (KIND_COLOURS["panel"], IMAGE_TYPE_COLOURS["CFP"], IMAGE_TYPE_COLOURS["OCT"]):
        mask = (together == rgb(colour)).all(axis=2)
        assert mask[6:-6, 6:-6].sum() > 100, colour


def test_a_large_figure_is_scaled_down_and_a_small_one_stays():
    assert draw_detections(np.zeros((1000, 2000, 3), np.uint8), panels=[], max_side=480).shape == (240, 480, 3)
    assert draw_detections(np.zeros((5, 9, 3), np.uint8), panels=[((0, 0, 1, 1), "A")]).shape == (5, 9, 3)
    assert draw_detections(np.zeros((1, 5000, 3), np.uint8), panels=[((0, 0, 1, 1), "A")]).shape == (1, 480, 3)


def test_the_input_is_not_changed_and_the_result_is_the_same_every_time():
    before = GREY.copy()
    first, second = (draw_detections(GREY, panels=[((0, 0, 1, 1), "A")]) for _ in range(2))
    assert np.array_equal(GREY, before)
    assert np.array_equal(first, second)


number = st.floats(width=32) | st.sampled_from([float("nan"), float("inf"), 0.0, 1.0])
box = st.tuples(number, number, number, number)


@examples(60)
@given(
    st.lists(st.tuples(box, st.none() | st.text(max_size=30)), max_size=4),
    st.lists(st.tuples(box, st.none() | st.text(max_size=30), st.none() | st.booleans()), max_size=4),
    st.tuples(st.integers(1, 60), st.integers(1, 60)),
)
def test_odd_boxes_and_names_never_fail(panels, images, shape):
    pixels = np.zeros((*shape, 3), np.uint8)
    assert draw_detections(pixels, panels=panels, identifiers=panels, images=images).shape == pixels.shape


@pytest.mark.parametrize(
    "pixels",
    [np.zeros((4, 4), np.uint8), np.zeros((4, 4, 4), np.uint8), np.zeros((4, 4, 3)), np.zeros((0, 4, 3), np.uint8)],
)
def test_pixels_of_another_kind_are_refused(pixels):
    with pytest.raises(ValueError, match="uint8 array"):
        draw_detections(pixels, panels=[])


def test_a_contact_sheet_has_one_place_per_tile_on_white():
    tile = np.full((50, 100, 3), (200, 10, 10), np.uint8)
    sheet = contact_sheet([(tile, f"Figure {i}") for i in range(5)], columns=3, tile_size=100)
    red = (sheet == (200, 10, 10)).all(axis=2)
    assert red.sum() == 5 * 50 * 100
    assert (sheet[0] == 255).all()
    assert (sheet[-1] == 255).all()
    columns = np.flatnonzero(np.diff(red[:, :].any(axis=0).astype(int)) == 1)
    assert len(columns) == 3


def test_titles_stay_below_their_tile_and_inside_the_sheet():
    tile = np.full((100, 100, 3), (200, 10, 10), np.uint8)
    long = contact_sheet(
        [(tile, "A very long title that cannot fit on two short lines at all, whatever happens")] * 2,
        columns=2,
        tile_size=100,
    )
    none = contact_sheet([(tile, "")] * 2, columns=2, tile_size=100)
    assert long.shape[1] == none.shape[1]
    assert long.shape[0] > none.shape[0]
    bottom = np.nonzero((long == (200, 10, 10)).all(axis=2))[0].max()
    below = long[bottom + 3 :]
    assert (below < 128).any(), "the title is written below the picture"
    assert (below[:, :4] == 255).all()
    assert (below[:, -4:] == 255).all()


def test_no_tiles_and_empty_tiles_still_give_a_sheet():
    assert contact_sheet([]).shape[2] == 3
    assert contact_sheet([(np.zeros((0, 0, 3), np.uint8), "lost")]).shape[2] == 3
    with pytest.raises(ValueError, match="columns"):
        contact_sheet([], columns=0)


def test_the_legend_shows_every_colour():
    for width in (200, 1200):
        legend = draw_legend(width)
        assert legend.shape[1] == width
        assert all(has(legend, colour) for colour in (*KIND_COLOURS.values(), *IMAGE_TYPE_COLOURS.values()))


def test_a_jpeg_keeps_to_its_size_whatever_is_in_it():
    noise = np.random.default_rng(0).integers(0, 256, (600, 800, 3), dtype=np.uint8)
    for limit in (PREVIEW_BYTES, 2_000):
        data = jpeg_bytes(noise, limit)
        assert len(data) <= limit
        assert Image.open(io.BytesIO(data)).format == "JPEG"
    flat = jpeg_bytes(GREY)
    assert Image.open(io.BytesIO(flat)).size == (400, 200), "nothing is lost without need"
    with pytest.raises(ValueError, match="fits"):
        jpeg_bytes(GREY, 10)


def png(picture: Image.Image) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, "PNG")
    return buffer.getvalue()


def test_a_thumbnail_is_a_small_webp_of_the_same_shape():
    data = thumbnail(png(Image.new("RGB", (2000, 1000), (10, 200, 10))), 300)
    picture = Image.open(io.BytesIO(data))
    assert picture_mime(data) == "image/webp"
    assert picture.size == (300, 150)
    assert np.abs(np.asarray(picture.convert("RGB")).astype(int) - (10, 200, 10)).max() < 12


@pytest.mark.parametrize(
    ("picture", "expected"),
    [
        (Image.new("RGBA", (8, 8), (0, 0, 0, 0)), 255),
        (Image.new("LA", (8, 8), (0, 0)), 255),
        (Image.new("1", (8, 8), 0), 0),
        (Image.new("I;16", (8, 8), 65535), 255),
        (Image.new("P", (8, 8), 0), 0),
    ],
)
def test_unusual_pixel_formats_become_plain_rgb(picture, expected):
    shown = np.asarray(Image.open(io.BytesIO(thumbnail(png(picture), 8))).convert("RGB"))
    assert np.abs(shown.astype(int) - expected).max() <= 3


def test_damaged_and_foreign_bytes_are_refused_as_value_errors():
    good = png(Image.effect_noise((64, 64), 50))
    for data in (b"", b"<svg/>", b"GIF89a", good[:200], good[:16] + b"\xff" * 8 + good[24:]):
        with pytest.raises(ValueError, match="picture"):
            thumbnail(data)


def test_media_types_are_told_by_signature():
    assert picture_mime(png(Image.new("RGB", (1, 1)))) == "image/png"
    assert picture_mime(jpeg_bytes(GREY)) == "image/jpeg"
    assert picture_mime(b"<svg onload=alert(1)>") is None
    assert picture_mime(b"") is None


def test_a_data_uri_holds_the_bytes():
    assert data_uri(b"\x00\xff", "image/png") == "data:image/png;base64,AP8="
