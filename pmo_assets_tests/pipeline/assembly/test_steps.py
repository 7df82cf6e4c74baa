"""Steps of assembly: rows in, rows out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.pipeline.assembly.assemble import REMAINING
from pmo_assets.pipeline.assembly.steps import (
    assemble_article,
    assemble_figure,
    caption_figure_panels,
    crop_article_panels,
    panel_id,
)
from pmo_assets.records.geometry import Box
from pmo_assets.records.step_output import Row
from pmo_assets.tables.panels import PanelAssembly
from pmo_assets.tables.schemas import empty_table

FIGURE: Row = {"article_id": 7, "image_cluster_id": "f1", "caption": "Left: a. Right: b."}
LEFT, RIGHT, BELOW = (0.0, 0.0, 0.48, 0.48), (0.52, 0.0, 1.0, 0.48), (0.0, 0.52, 0.48, 1.0)


def panel_rows(boxes: Sequence[Box], names: Sequence[str | None] = ()) -> list[Row]:
    """Return rows of `panel_detections`: panels, with their identifier printed in the corner where there is one."""
    detected = []
    shared = {**FIGURE, "score": 0.9, "probability": 0.9, "text_score": 1.0, "source": "text"}
    for place, box in enumerate(boxes):
        detected.append(
            {**shared, "detection_id": f"p{place}", "kind": "panel", "ordinal": place, "box": list(box), "text": None}
        )
    for place, (box, name) in enumerate(zip(boxes, names, strict=False)):
        if name is not None:
            corner = [box[0], box[1], box[0] + 0.02, box[1] + 0.02]
            identifier = {"detection_id": f"l{place}", "kind": "identifier", "ordinal": place, "box": corner}
            detected.append({**shared, **identifier, "text": name})
    return detected


def image_rows(boxes: Sequence[Box], types: Sequence[str | None] = ()) -> list[Row]:
    """Return rows of `image_detections`."""
    shared = {
        **FIGURE,
        "score": 0.9,
        "probability": 0.9,
        "source": "gutter",
        "type_score": 0.8,
        "type_reason": "",
        "modality": None,
        "modality_score": 0.0,
    }
    kinds = [*types, *["OCT"] * (len(boxes) - len(types))]
    return [
        {**shared, "detection_id": f"i{place}", "ordinal": place, "box": list(box), "image_type": kinds[place],
         "marked": False, "mark_score": 0.1}
        for place, box in enumerate(boxes)
    ]  # fmt: skip


def subcaption_rows(*names: str | None) -> list[Row]:
    """Return rows of `subcaptions`."""
    return [
        {**FIGURE, "ordinal": place, "identifier": name, "text": f"About {name}.", "segments": [[0, 5]],
         "confidence": 0.9, "reasons": [], "method": "grammar", "model": None, "prompt_version": None}
        for place, name in enumerate(names)
    ]  # fmt: skip


def assembled(
    panels: Sequence[Box], images: Sequence[Box], names: Sequence[str] = (), captions: Sequence[str | None] = (None,)
) -> list[Row]:
    """Return the rows of a figure."""
    subcaptions = subcaption_rows(*captions)
    detected = panel_rows(panels, names)
    captioned = caption_figure_panels(FIGURE, detected, subcaptions)
    return assemble_figure(FIGURE, captioned, image_rows(images), subcaptions, detected)


def of_images(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row["made_of_image"]]


def test_panel_ids_are_text() -> None:
    assert panel_id(7, "f.001", 3) == "p_7_f.001_3"


def test_an_image_that_no_panel_covers_makes_one_with_the_subcaption_that_is_left() -> None:
    rows = assembled([LEFT, RIGHT], [LEFT, RIGHT, BELOW], ["A", "B"], ["A", "B", "C"])
    (made,) = of_images(rows)
    assert (made["identifier"], made["subcaption"], made["method"]) == ("C", "About C.", REMAINING)
    assert made["confidence"] < 0.5
    assert made["ordinal"] == 2
    assert (made["box"], [image["id"] for image in made["images"]]) == (list(BELOW), ["i2"])
    PanelAssembly.validate(_table(rows), cast=True)


@pytest.mark.parametrize("captions", [["A", "B"], ["A", "B", "C", "D"]])
def test_it_has_no_subcaption_where_none_or_several_are_left(captions: list[str]) -> None:
    (made,) = of_images(assembled([LEFT, RIGHT], [LEFT, RIGHT, BELOW], ["A", "B"], captions))
    assert (made["subcaption"], made["method"], made["reason"]) == (None, None, "no panel covers this image")


def test_a_subcaption_is_not_given_away_while_a_panel_is_undecided() -> None:
    rows = assembled([LEFT, RIGHT], [LEFT, RIGHT, BELOW], ["A", "Q"], ["A", "B"])
    assert [row["subcaption"] for row in rows if row["identifier"] == "Q"] == [None]
    assert [row["subcaption"] for row in of_images(rows)] == [None]


def test_images_of_a_figure_without_panels_make_panels() -> None:
    rows = assembled([], [LEFT, RIGHT])
    assert [(row["ordinal"], len(row["images"])) for row in of_images(rows)] == [(0, 2)], "one caption, one row"
    assert [row["ordinal"] for row in of_images(assembled([], [LEFT, RIGHT], captions=["A", "B"]))] == [0, 1]
    PanelAssembly.validate(_table(rows), cast=True)


def test_what_is_printed_outside_of_all_panels_counts_for_the_split_too() -> None:
    figure = {**FIGURE, "caption": "(1) a haemorrhage, (2) a scar and (3) an oedema."}
    detected = panel_rows([LEFT, RIGHT], ["1", "2"])
    detected += [{**detected[-1], "detection_id": "l2", "ordinal": 2, "box": [0.7, 0.9, 0.72, 0.92], "text": "3"}]
    whole = [{**subcaption_rows(None)[0], "text": figure["caption"]}]
    captioned = caption_figure_panels(figure, detected, whole)
    assert [row["identifier"] for row in captioned] == ["1", "2"]
    rows = assemble_figure(figure, captioned, image_rows([LEFT, RIGHT, BELOW]), whole, detected)
    assert [row["identifier"] for row in of_images(rows)] == ["3"], "the third is left, and an image without a panel"


def test_a_small_image_outside_is_listed() -> None:
    rows = assembled([LEFT, RIGHT], [LEFT, (0.9, 0.6, 0.95, 0.65)])
    assert [[image["id"] for image in row["unassigned_images"]] for row in rows] == [[], ["i1"]]
    assert rows[1]["content_box"] == list(RIGHT)


def _table(rows: Sequence[Row]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=empty_table(PanelAssembly).schema)


boxes = st.tuples(st.floats(0, 0.8), st.floats(0, 0.8), st.floats(0.01, 0.5), st.floats(0.01, 0.5)).map(
    lambda v: (v[0], v[1], min(1.0, v[0] + v[2]), min(1.0, v[1] + v[3]))
)


@given(
    st.lists(boxes, max_size=5),
    st.lists(boxes, max_size=7),
    st.lists(st.sampled_from("ABCD"), max_size=5),
    st.lists(st.sampled_from("ABCD"), unique=True, max_size=4),
)
def test_every_image_stands_in_one_row_once(
    panels: list[Box], images: list[Box], names: list[str], captions: list[str]
) -> None:
    rows = assembled(panels, images, names, captions or [None])
    shown = [image["id"] for row in rows for column in ("images", "unassigned_images") for image in row[column]]
    assert sorted(shown) == sorted(row["detection_id"] for row in image_rows(images))
    assert len({row["ordinal"] for row in rows}) == len(rows)
    assert all(row["images"] for row in of_images(rows))


def test_figures_that_do_not_go_on_are_counted_and_kept_but_not_cut() -> None:
    figures = [{**FIGURE, "image_cluster_id": name, "pdf_figure_id": name} for name in ("f1", "f2", "f3")]
    subcaptions = [{**row, "image_cluster_id": name} for name in ("f1", "f2", "f3") for row in subcaption_rows(None)]
    captioned = [
        row
        for figure in figures
        for row in caption_figure_panels(
            figure, panel_rows([LEFT]), [s for s in subcaptions if s["image_cluster_id"] == figure["image_cluster_id"]]
        )
    ]
    images = [
        {**row, "image_cluster_id": name}
        for name, kind in (("f1", "OCT"), ("f2", "Other"))
        for row in image_rows([LEFT], [kind])
    ]
    output = assemble_article(figures, captioned, images, subcaptions, [], ("CFP", "OCT", "Retinal Imaging"))
    assert {row["image_cluster_id"]: row["wanted"] for row in output.rows} == {"f1": True, "f2": False, "f3": False}
    assert output.tally == {"no image of a wanted type": 1, "no image was found": 1}
    unwanted = [row for row in output.rows if not row["wanted"]]

    class NoPixels:
        def read(self, article_id: int) -> dict[str, Any]:
            return {}

        def write(self, article_id: int, pictures: Sequence[Any]) -> None:
            assert not pictures

    cut = crop_article_panels(7, figures, unwanted, NoPixels(), NoPixels())
    assert (cut.rows, cut.rejections) == ([], [])
