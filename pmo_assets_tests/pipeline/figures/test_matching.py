"""Matching PDF figures to package figures: two of four criteria, the best wins, hostile images."""

from __future__ import annotations

import io
import struct
import zlib
from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.figures.matching import MAX_HASH_DISTANCE, caption_distance, match_figures, package_picture
from pmo_assets.records.article import PackageFigure
from pmo_assets.records.figure import PageBox, PdfFigure
from pmo_assets_tests.pipeline.figures.typesetting import caption_text, jpeg, package_figure, photograph


def _figure(number: int, pixels: NDArray[np.uint8]) -> PdfFigure:
    return PdfFigure(
        pdf_figure_id=f"p0-{number}",
        label=f"Figure {number}",
        caption=caption_text(number),
        locations=(PageBox(0, (0, 0, 100, 100)),),
        caption_locations=(),
        page_sizes=(),
        image_cluster_id=None,
        located_by="layout",
        confidence=1.0,
        width=pixels.shape[1],
        height=pixels.shape[0],
        dpi=300,
        bitmaps=(),
        texts=(),
    )


PICTURES = {number: photograph(600 + 40 * number, 400, seed=number) for number in (1, 2, 3)}
FIGURES = [_figure(number, pixels) for number, pixels in PICTURES.items()]
PIXELS = {f"p0-{number}": pixels for number, pixels in PICTURES.items()}
PACKAGE = [package_figure(number) for number in PICTURES]


def _small_jpeg(pixels: NDArray[np.uint8], quality: int = 40) -> bytes:
    return jpeg(cv2.resize(pixels, None, fx=0.4, fy=0.4, interpolation=cv2.INTER_AREA), quality)


IMAGES = {f"fig-{number:03d}": _small_jpeg(pixels) for number, pixels in PICTURES.items()}


def test_compressed_and_scaled_jpegs_pass_all_criteria() -> None:
    matches = match_figures(FIGURES, PIXELS, PACKAGE, IMAGES)
    assert [match.image_cluster_id for match in matches] == ["fig-001", "fig-002", "fig-003"]
    for match in matches:
        assert match.accepted
        assert match.criteria_passed == 4
        assert match.hash_distance is not None
        assert match.hash_distance <= 4
        assert match.number_matches is True
        assert match.aspect_ratio_error is not None
        assert match.aspect_ratio_error < 0.01
        assert match.caption_distance == 0


def test_pictures_win_over_wrong_numbers() -> None:
    renamed = [replace(figure, label=None, caption="") for figure in FIGURES]
    shuffled = [PACKAGE[2], PACKAGE[0], PACKAGE[1]]
    matches = match_figures(renamed, PIXELS, shuffled, IMAGES)
    assert [match.image_cluster_id for match in matches] == ["fig-001", "fig-002", "fig-003"]
    assert all(match.number_matches is None and match.criteria_passed == 2 for match in matches)


def test_without_package_images_number_and_caption_decide() -> None:
    matches = match_figures(FIGURES, PIXELS, PACKAGE, {})
    assert [match.image_cluster_id for match in matches] == ["fig-001", "fig-002", "fig-003"]
    assert all(match.accepted and match.criteria_passed == 2 and match.hash_distance is None for match in matches)


def test_one_criterion_is_not_enough() -> None:
    other = PackageFigure("x", "Figure 1", "Something else entirely, about plants and not about any eye at all.")
    image = {"x": jpeg(photograph(200, 900, seed=77))}
    (match,) = match_figures(FIGURES[:1], PIXELS, [other], image)
    assert match.criteria_passed == 1
    assert not match.accepted
    assert match.hash_distance is not None
    assert match.hash_distance > MAX_HASH_DISTANCE


def test_matching_is_one_to_one() -> None:
    twins = [FIGURES[0], replace(FIGURES[0], pdf_figure_id="p0-9")]
    matches = match_figures(twins, {**PIXELS, "p0-9": PICTURES[1]}, PACKAGE[:1], IMAGES)
    assert [match.accepted for match in matches] == [True, False]


def test_nothing_to_match_gives_no_rows() -> None:
    assert match_figures([], {}, PACKAGE, IMAGES) == ()
    assert match_figures(FIGURES, PIXELS, [], {}) == ()


def _png_header(width: int, height: int) -> bytes:
    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    buffer = io.BytesIO(b"\x89PNG\r\n\x1a\n")
    buffer.seek(0, io.SEEK_END)
    buffer.write(chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)))
    buffer.write(chunk(b"IDAT", zlib.compress(bytes(1000))) + chunk(b"IEND", b""))
    return buffer.getvalue()


def test_hostile_images_have_no_hash() -> None:
    whole = IMAGES["fig-001"]
    assert package_picture(whole) is not None
    assert package_picture(_png_header(60_000, 60_000)) is None
    assert package_picture(_png_header(12_000, 12_000)) is None
    assert package_picture(whole[: len(whole) // 2]) is None
    assert package_picture(b"not an image") is None
    assert package_picture(b"") is None
    matches = match_figures(FIGURES, PIXELS, PACKAGE, {"fig-001": b"\xff\xd8\xff broken"})
    assert matches[0].accepted
    assert matches[0].hash_distance is None


# a number alone, or with a shape that many pictures have, is no match

OTHER_CAPTION = "Wound of the lower leg before and after compression, with the margin measured in centimetres."
SQUARE = jpeg(photograph(400, 400, seed=91))


def _of_another_article(number: int = 1) -> PdfFigure:
    """A square picture with this number and a caption about something else."""
    pixels = photograph(500, 500, seed=50)
    return replace(_figure(number, pixels), caption=OTHER_CAPTION, image_cluster_id=f"fig-{number:03d}")


def test_number_and_shape_are_no_match_without_picture_caption_or_shared_text() -> None:
    figure = _of_another_article()
    pixels = {"p0-1": photograph(500, 500, seed=50)}
    (match,) = match_figures([figure], pixels, PACKAGE[:1], {"fig-001": SQUARE})
    assert (match.criteria_passed, match.number_matches, match.accepted) == (2, True, False)
    (match,) = match_figures([figure], pixels, PACKAGE[:1], {"fig-001": SQUARE}, shares_text=True)
    assert match.accepted, "the pages hold the XML's text: the number is that article's"


def test_a_number_alone_is_a_match_only_in_a_pdf_that_holds_the_text_of_the_xml() -> None:
    bare = replace(_of_another_article(), caption="")
    package = [replace(PACKAGE[0], caption="")]
    (strange,) = match_figures([bare], {}, package, {})
    (known,) = match_figures([bare], {}, package, {}, shares_text=True)
    assert (strange.criteria_passed, strange.accepted, known.accepted) == (1, False, True)


def test_a_caption_of_a_few_words_is_no_shared_text() -> None:
    short = replace(_of_another_article(), caption="OCT scans.")
    (match,) = match_figures([short], {}, [replace(PACKAGE[0], caption="OCT scans.")], {})
    assert (match.criteria_passed, match.accepted) == (2, False)


def test_the_xmls_caption_of_a_figure_that_its_picture_found_is_no_printed_caption() -> None:
    found = replace(FIGURES[0], located_by="package_image", caption_locations=(), image_cluster_id="fig-001")
    for agreement, accepted in ((0.91, False), (0.97, True)):
        figure = replace(found, picture_correlation=agreement)
        (match,) = match_figures([figure], {}, PACKAGE[:1], {})
        assert match.accepted is accepted


def test_a_caption_that_only_one_side_has_is_as_far_as_can_be() -> None:
    assert caption_distance("Fundus photograph.", "fundus photograph") == 0
    assert caption_distance("", "Fundus photograph.") == caption_distance("…", "OCT") == 1
    assert caption_distance("", "–") is None
