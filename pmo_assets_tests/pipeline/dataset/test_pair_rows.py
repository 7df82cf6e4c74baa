"""Pairs: each picture region with each of its texts, nothing that is withheld, boxes where the pixels are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.pipeline.dataset.pair_rows import FROM_FIGURES, FROM_PANELS, hub_pairs
from pmo_assets.records.geometry import crop_box
from pmo_assets.tables.release import arrow_schema, hub_table
from pmo_assets_tests.examples import examples
from pmo_assets_tests.release.context_columns import mention_place

SIZE: Final = (400, 200)
"""Of the figure's picture, in pixels."""

CREDIT: Final = {
    "license": "CC BY", "license_url": "https://deeds.example/CC-BY", "commercial_use": True,
    "attribution": "'Eyes', Ada Author", "split": "train",
}  # fmt: skip


def mention(text: str, identifier: str | None, start: int = 0) -> dict[str, Any]:
    place = mention_place(identifier, len(text))
    return {**place, "start": start, "end": start + len(text), "text": text, "section_title": None}


def region(box: list[float], text: str | None = "drusen", **changes: Any) -> dict[str, Any]:
    return {
        "box": box, "text": text, "description": None, "marks": [0], "phrase": 0, "source": "marks", "confidence": 0.8,
        **changes,
    }  # fmt: skip


def panel(place: int, **changes: Any) -> dict[str, Any]:
    return {
        "panel_id": f"p{place}", "article_id": 7, "image_cluster_id": "f1", "panel_name": "AB"[place],
        "subcaption_text": f"Panel {place}.", "content_box": [place / 2, 0.0, (place + 1) / 2, 1.0],
        "assembly_confidence": 0.9, "mentions": [], "summary": None, "generated_summary": None, "regions": [],
        **CREDIT, "picture_row": 10 + place, "has_picture": True, **changes,
    }  # fmt: skip


def figure(panels: int = 2, **changes: Any) -> dict[str, Any]:
    return {
        "article_id": 7, "image_cluster_id": "f1", "caption": "Two eyes.", "picture_width": SIZE[0],
        "picture_height": SIZE[1], "panel_ids": [f"p{place}" for place in range(panels)], **CREDIT, "picture_row": 3,
        "has_picture": True, **changes,
    }  # fmt: skip


def table(config: str, rows: list[dict[str, Any]]) -> pl.DataFrame:
    """Return rows as the release has them after licences are applied."""
    columns = FROM_FIGURES if config == "figures" else FROM_PANELS
    described = hub_table(config).columns()  # type: ignore[arg-type]
    types = {name: described[name].dtype for name in columns}
    return pl.DataFrame(rows, schema={**types, "picture_row": pl.Int64, "has_picture": pl.Boolean})


def pairs(*panels: Mapping[str, Any], **figure_changes: Any) -> list[dict[str, Any]]:
    made = hub_pairs(
        table("figures", [figure(len(panels), **figure_changes)]), table("panels", [dict(row) for row in panels])
    )
    return made.to_dicts()


def said(rows: list[dict[str, Any]]) -> list[tuple[str, str, str | None, str]]:
    return [(row["level"], row["text_kind"], row["panel_id"], row["text"]) for row in rows]


def test_levels_and_kinds_come_in_the_order_of_the_figure() -> None:
    first = panel(
        0,
        mentions=[mention("The figure shows both.", None), mention("A is dry.", "A", 40)],
        summary="A is dry.",
        generated_summary="Dry eye.",
        regions=[region([0.1, 0.2, 0.2, 0.4], description="Yellow dots."), region([0.2, 0.2, 0.3, 0.4], None)],
    )
    second = panel(1, mentions=[mention("The figure shows both.", None)])
    rows = pairs(first, second)
    assert said(rows) == [
        ("figure", "caption", None, "Two eyes."),
        ("figure", "mention", None, "The figure shows both."),
        ("panel", "subcaption", "p0", "Panel 0."),
        ("panel", "summary", "p0", "A is dry."),
        ("panel", "summary", "p0", "Dry eye."),
        ("panel", "mention", "p0", "A is dry."),
        ("region", "fragment", "p0", "drusen"),
        ("region", "description", "p0", "Yellow dots."),
        ("panel", "subcaption", "p1", "Panel 1."),
    ]
    assert [row["text"] for row in rows if row["generated"]] == ["Dry eye.", "Yellow dots."]
    assert [(row["picture_config"], row["picture_row"]) for row in rows] == [
        *[("figures", 3)] * 2, *[("panels", 10)] * 6, ("panels", 11)
    ]  # fmt: skip
    assert [row["confidence"] for row in rows] == [None, None, 0.9, 0.9, 0.9, 0.9, 0.8, 0.8, 0.9]
    assert {row["figure_id"] for row in rows} == {"7_f1"}
    assert {row["figure_panels"] for row in rows} == {2}
    assert {tuple(row[name] for name in CREDIT) for row in rows} == {tuple(CREDIT.values())}


def test_columns_and_types_are_those_of_the_hub() -> None:
    made = hub_pairs(table("figures", [figure(1)]), table("panels", [panel(0)]))
    expected = arrow_schema(hub_table("pairs"))
    assert made.columns == expected.names
    assert made.to_arrow(compat_level=pl.CompatLevel.oldest()).cast(expected).num_rows == 2
    nothing = hub_pairs(table("figures", []), table("panels", []))
    assert (nothing.columns, nothing.height) == (expected.names, 0)


def test_a_sentence_on_the_figure_is_on_its_only_panel_too() -> None:
    rows = pairs(panel(0, mentions=[mention("The figure shows it.", None)]))
    assert [row["level"] for row in rows if row["text_kind"] == "mention"] == ["figure", "panel"]


@pytest.mark.parametrize("without", ["text", "picture"])
def test_what_is_withheld_makes_no_pair(without: str) -> None:
    texts = ("subcaption_text", "mentions", "summary", "generated_summary", "regions")
    hidden = dict.fromkeys(texts) if without == "text" else {"has_picture": False}
    shown = panel(1, regions=[region([0.6, 0.1, 0.7, 0.2])])
    shut = {"caption": None} if without == "text" else {"has_picture": False}
    first = panel(0, summary="words", regions=[region([0.1, 0.1, 0.2, 0.2])])
    rows = pairs({**first, **hidden}, shown, **shut)
    assert said(rows) == [("panel", "subcaption", "p1", "Panel 1."), ("region", "fragment", "p1", "drusen")]


def test_words_of_white_space_are_no_text() -> None:
    assert said(pairs(panel(0, subcaption_text=" \n", summary=""), caption="\t")) == []


def test_a_region_lies_on_the_same_pixels_in_its_panel_as_in_the_figure() -> None:
    content = [0.503, 0.0, 1.0, 1.0]  # the picture begins at pixel 201
    (row,) = [
        row for row in pairs(panel(1, content_box=content, regions=[region([0.6, 0.25, 0.7, 0.5])])) if row["region_id"]
    ]
    left, _, right, _ = row["box"]
    assert (left * 199 + 201, right * 199 + 201) == pytest.approx((240, 280), abs=0.001)
    assert row["figure_box"] == [0.6, 0.25, 0.7, 0.5]
    assert row["region_id"].startswith("p1_r")


@given(
    edges=st.tuples(*[st.floats(0, 1)] * 4),
    crop=st.tuples(st.floats(0, 0.4), st.floats(0, 0.4), st.floats(0.6, 1), st.floats(0.6, 1)),
)
@examples(60)
def test_no_region_reaches_outside_its_panel(edges: tuple[float, ...], crop: tuple[float, ...]) -> None:
    left, right = sorted(edges[::2])
    top, bottom = sorted(edges[1::2])
    content = [round(edge, 6) for edge in crop]
    rows = pairs(panel(0, content_box=content, regions=[region([left, top, right, bottom])]))
    pixel = 1 / np.array([SIZE[0], SIZE[1]])
    outside = left < content[0] - max(pixel) or top < content[1] - max(pixel)
    outside |= right > content[2] + max(pixel) or bottom > content[3] + max(pixel)
    found = [row for row in rows if row["level"] == "region"]
    assert not (found and outside)
    for row in found:
        box = row["box"]
        assert 0 <= box[0] < box[2] <= 1
        assert 0 <= box[1] < box[3] <= 1
        x0, y0, x1, y1 = crop_box(content, *SIZE)  # type: ignore[arg-type]
        assert box[0] * (x1 - x0) + x0 == pytest.approx(max(left * SIZE[0], x0), abs=0.01)
        assert box[3] * (y1 - y0) + y0 == pytest.approx(min(bottom * SIZE[1], y1), abs=0.01)


def test_an_id_stays_while_its_pair_does() -> None:
    """Other rows, other places of the picture, a surer assignment, more regions: the same ids."""
    box = [0.1, 0.2, 0.2, 0.4]
    before = pairs(panel(0, regions=[region(box)]))
    changed = panel(
        0, picture_row=99, assembly_confidence=0.5, summary="new", regions=[region([0.0, 0.0, 0.1, 0.1]), region(box)]
    )
    after = pairs(changed, panel(1), picture_row=5)
    assert {row["pair_id"] for row in before} < {row["pair_id"] for row in after}
    assert {row["region_id"] for row in before} < {row["region_id"] for row in after}
    ids = [row["pair_id"] for row in after]
    assert len(set(ids)) == len(ids)
    for other in (
        panel(0, subcaption_text="Else."),
        panel(0, content_box=[0.0, 0.0, 0.4, 1.0]),
        panel(0, panel_id="q"),
    ):
        moved = {row["pair_id"] for row in pairs(other) if row["text_kind"] == "subcaption"}
        assert not moved & {row["pair_id"] for row in before}


def test_the_same_words_twice_for_one_region_are_one_pair() -> None:
    box = [0.1, 0.2, 0.2, 0.4]
    rows = pairs(panel(0, regions=[region(box), region(box), region(box, "exudates")]))
    regions = [row for row in rows if row["level"] == "region"]
    assert [row["text"] for row in regions] == ["drusen", "exudates"]
    assert len({row["region_id"] for row in regions}) == 1
