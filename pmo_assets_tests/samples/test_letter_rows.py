"""Pictures in rows with printed letters: the truth is where things are, and the pipeline's parts find it."""

from __future__ import annotations

from dataclasses import replace

import pymupdf
import pytest

from pmo_assets.pipeline.articles.jats import parse_jats
from pmo_assets.pipeline.detection.detect import detect_panels
from pmo_assets.pipeline.figures.extraction import extract_figures
from pmo_assets.records.detections import FigureView
from pmo_assets.records.geometry import Box, as_box, centre, iou
from pmo_assets_tests.samples.letter_rows import LetterRows, letter_rows, letter_rows_case

PLAIN = LetterRows(
    seed=1, counts=(5, 5), centred=True, side="below", form="({})", titled=False, font="tiro", size=8.0,
    gaps=(3.0, 4.0, 3.0), unequal=False, ground="live", content="natural", legend=False, wide=True, naming="each",
    caption_gap=3.0,
)  # fmt: skip
TITLED = replace(PLAIN, titled=True, naming="title", package="xml")
"""Words behind letters are printed under the pictures only; the XML has them in the caption."""


@pytest.mark.slow
def test_the_same_seed_gives_the_same_case_and_others_differ() -> None:
    assert letter_rows(3) == letter_rows(3)
    assert letter_rows_case(letter_rows(3)).truth == letter_rows_case(letter_rows(3)).truth
    assert len({letter_rows(seed).counts for seed in range(30)}) > 5


@pytest.mark.slow  # whole pages
def test_letters_are_printed_where_the_truth_says() -> None:
    made = letter_rows_case(PLAIN)
    frame = made.truth["figure_locations"][0]["bbox"]
    with pymupdf.open(stream=made.pdf) as document:
        for panel in made.truth["panels"]:
            x0, y0, x1, y1 = panel["identifier_box"]
            wide, tall = frame[2] - frame[0], frame[3] - frame[1]
            place = (frame[0] + x0 * wide, frame[1] + y0 * tall, frame[0] + x1 * wide, frame[1] + y1 * tall)
            assert document[0].get_textbox(pymupdf.Rect(place)).strip() == f"({panel['identifier']})"


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param(PLAIN, id="plain"),
        pytest.param(replace(PLAIN, ground="flat", package="jpeg"), id="flat", marks=pytest.mark.slow),
        pytest.param(TITLED, id="sub-captions in the XML's caption", marks=pytest.mark.slow),
        pytest.param(replace(TITLED, late=True), id="… and behind the caption in the PDF", marks=pytest.mark.slow),
        pytest.param(replace(TITLED, late=True, wrapped=True, counts=(3, 2)), id="… of several lines"),
    ],
)
def test_the_last_row_of_letters_is_inside_the_figure(spec: LetterRows) -> None:
    made = letter_rows_case(spec)
    figures = parse_jats(made.xml).figures if made.xml is not None else ()
    found = extract_figures(made.pdf, figures, package_image=lambda _: made.jpeg)
    (figure,) = found.figures
    true, box = as_box(made.truth["figure_locations"][0]["bbox"]), figure.locations[0].bbox
    assert iou(true, box) > 0.98
    if spec.ground == "live":
        assert sum(text.text.startswith("(") for text in figure.texts) == sum(spec.counts)


def is_within(point: tuple[float, float], box: Box) -> bool:
    return box[0] <= point[0] <= box[2] and box[1] <= point[1] <= box[3]


def structural_panels(spec: LetterRows) -> list[tuple[str | None, float]]:
    """Return for each true panel the identifier inside the panel that is found there, and their IoU."""
    made = letter_rows_case(spec)
    (figure,) = extract_figures(made.pdf, ()).figures
    pixels = extract_figures(made.pdf, ()).pixels[figure.pdf_figure_id]
    names = tuple(panel["identifier"] for panel in made.truth["panels"])
    found = detect_panels(FigureView(pixels, figure.bitmaps, figure.texts, names))
    result = []
    for panel in made.truth["panels"]:
        best = max((p.box for p in found if p.kind == "panel"), key=lambda box: iou(box, as_box(panel["box"])))
        inside = [p.text for p in found if p.kind == "identifier" and is_within(centre(p.box), best)]
        result.append((inside[0] if len(inside) == 1 else None, iou(best, as_box(panel["box"]))))
    return result


@pytest.mark.slow  # whole pages
@pytest.mark.parametrize(
    "spec",
    [
        pytest.param(PLAIN, id="two rows of five"),
        pytest.param(replace(PLAIN, counts=(5, 3)), id="last row in the middle"),
        pytest.param(replace(PLAIN, side="above", ragged=True, gaps=(1.5, 4.0, 2.0)), id="ragged, letters above"),
        pytest.param(replace(PLAIN, side="left", ground="strips"), id="letters left of strips"),
        pytest.param(replace(PLAIN, counts=(3, 3), parts=3, ground="strips", content="mixed"), id="three each"),
    ],
)
def test_every_letter_has_a_panel_and_none_shrinks_to_a_speck(spec: LetterRows) -> None:
    names = "abcdefghij"[: sum(spec.counts)]
    for name, (found, overlap) in zip(names, structural_panels(spec), strict=True):
        assert (found, overlap > 0.9) == (name, True), (name, found, overlap)
