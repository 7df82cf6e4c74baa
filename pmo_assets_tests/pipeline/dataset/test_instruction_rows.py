"""Rows of instructions: what every verdict keeps, of panels that go out, as many yes as no for each thing asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.pipeline.dataset.instruction_rows import (
    YesNoBalance,
    hub_instructions,
    hub_video_instructions,
    instruction_id,
    kept_instructions,
    with_instruction_ids,
    yes_no_counts,
)
from pmo_assets.records.geometry import UNIT_BOX
from pmo_assets.tables.release import hub_table
from pmo_assets.tables.schemas import checked, schema_of
from pmo_assets_tests.release.instruction_rows import batch_rows, spoken_rows

SIDES = (200, 100)


def key(number: int) -> dict[str, Any]:
    return {"article_id": 7, "image_cluster_id": "f1", "ordinal": number, "panel_id": f"p{number}"}


def tables(panels: int) -> dict[str, pl.DataFrame]:
    """Return the group's tables of some panels."""
    made: dict[str, list[dict[str, Any]]] = {}
    for number in range(panels):
        for name, rows in batch_rows(key(number), "").items():
            made.setdefault(name, []).extend(rows)
    return {name: checked(schema_of(name), rows) for name, rows in made.items()}


def panels(count: int, *, shown: int | None, content_box: Sequence[float]) -> pl.DataFrame:
    """Return the hub's panels, of which the first `shown` go out, all if not given; each shows a part of its figure."""
    rows = [
        {
            "panel_id": f"p{number}", "article_id": 7, "image_cluster_id": "f1", "content_box": list(content_box),
            "license": "CC BY", "license_url": None, "commercial_use": True, "attribution": "Ada", "split": "train",
            "picture_row": number, "has_picture": shown is None or number < shown,
        }
        for number in range(count)
    ]  # fmt: skip
    return pl.DataFrame(rows, schema_overrides={"license_url": pl.String})


def made(
    count: int,
    *,
    shown: int | None = None,
    left_out: frozenset[str] = frozenset(),
    content_box: Sequence[float] = UNIT_BOX,
) -> pl.DataFrame:
    own = tables(count)
    kept = kept_instructions(own["instructions"], own["verdicts"])
    sides = {f"p{number}": SIDES for number in range(count)}
    return hub_instructions(panels(count, shown=shown, content_box=content_box), kept, own["cues"], sides, left_out)


def test_rows_have_the_columns_of_the_hub_and_fit_them() -> None:
    rows = made(2)
    assert rows.columns == list(hub_table("instructions").columns())
    assert checked(hub_table("instructions"), rows.to_dicts()).height == 4


def test_what_a_verdict_discards_and_what_is_not_shown_makes_no_row() -> None:
    rows = made(3, shown=2)
    assert rows["panel_id"].to_list() == ["p0", "p0", "p1", "p1"]
    assert "lie" not in str(rows["messages"].to_list())


def test_boxes_are_fractions_of_the_panels_picture() -> None:
    (_, marked) = made(1, content_box=[0.0, 0.0, 0.5, 1.0]).to_dicts()
    assert marked["boxes"] == [[0.2, 0.2, 0.6, 0.4]]


def test_a_box_that_lies_in_another_panels_picture_is_not_given() -> None:
    (_, marked) = made(1, content_box=[0.5, 0.0, 1.0, 1.0]).to_dicts()
    assert marked["boxes"] == []


def test_an_instruction_keeps_its_name_while_panel_kind_and_messages_stay() -> None:
    (first, other, _) = batch_rows(key(0), "")["instructions"]
    assert instruction_id(first) == instruction_id({**first, "number": 9, "confidence": 0.1})
    assert len({instruction_id(first), instruction_id(other), instruction_id({**first, "kind": "what"})}) == 3
    again = pl.concat([made(1), made(1)])
    assert again["instruction_id"].n_unique() == 2


def test_each_thing_that_is_asked_for_has_as_many_yes_as_no_in_its_split() -> None:
    balance = YesNoBalance()
    for number in range(5):
        balance.add("train", "finding", "drusen", "Yes.", f"y{number}")
    for number in range(2):
        balance.add("train", "finding", "drusen", "No.", f"n{number}")
    balance.add("test", "finding", "drusen", "Yes.", "alone")
    out = balance.left_out()
    assert "alone" in out
    assert len(out) == 4
    assert not {"n0", "n1"} & out


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["train", "test"]),
            st.sampled_from(["finding", "eye"]),
            st.sampled_from(["a", "b"]),
            st.sampled_from(["Yes.", "No."]),
        ),
        max_size=40,
    )
)
def test_balance_is_exact_and_does_not_depend_on_the_order(said: list[tuple[str, str, str, str]]) -> None:
    named = [(*item, f"i{number}") for number, item in enumerate(said)]
    forwards, backwards = YesNoBalance(), YesNoBalance()
    for item in named:
        forwards.add(*item)
    for item in reversed(named):
        backwards.add(*item)
    out = forwards.left_out()
    assert out == backwards.left_out()
    left = Counter(item[:4] for item in named if item[4] not in out)
    for split, topic, asked, _ in left:
        assert left[split, topic, asked, "Yes."] == left[split, topic, asked, "No."]


def of_lectures(left_out: frozenset[str] = frozenset()) -> pl.DataFrame:
    """Return the rows of a lecture with two pictures, of which the first is asked about."""
    rows = spoken_rows("v0", video_id=9, episode=0)
    asked, cues = (checked(schema_of(name), rows[name]) for name in ("video_instructions", "video_cues"))
    videos = pl.DataFrame(
        [
            {
                "pair_id": f"v{number}", "video_id": 9, "license": "CC BY", "license_url": None, "commercial_use": True,
                "attribution": "Eyes", "split": "test", "picture_row": number, "start": 0.0, "end": 8.0,
            }
            for number in range(2)
        ],
        schema_overrides={"license_url": pl.String},
    )  # fmt: skip
    kept = with_instruction_ids(asked.filter("is_kept"), "pair_id")
    return hub_video_instructions(videos, kept, cues, left_out)


def test_rows_of_lectures_name_video_and_seconds_and_no_panel() -> None:
    rows = of_lectures()
    assert checked(hub_table("instructions"), rows.to_dicts()).columns == made(1).columns
    first, second = rows.to_dicts()
    assert (first["picture_config"], first["picture_row"], first["pair_id"], first["video_id"]) == (
        "videos",
        0,
        "v0",
        9,
    )
    assert [first[name] for name in ("panel_id", "article_id", "image_cluster_id")] == [None] * 3
    assert (first["start"], first["end"]) == (1.0, 2.5), "of the words that it rests on"
    assert (second["start"], second["end"]) == (0.0, 8.0), "of the slide, where it rests on none"
    assert first["evidence"][0]["found_in"] == "transcript"
    assert second["evidence"][0]["found_in"] is None
    assert first["scene"] == ["Drusen here"]
    assert {first["instruction_id"][:4], second["instruction_id"][:4]} == {"v0_q"}
    assert made(1).vstack(of_lectures()).height == 4, "both are rows of one table"


def test_of_lectures_too_balance_leaves_out() -> None:
    names = frozenset(of_lectures()["instruction_id"][:1])
    assert of_lectures(names).height == 1


def test_answers_are_counted_by_split_and_topic() -> None:
    assert yes_no_counts(made(3)) == {("train", "finding", "Yes."): 2, ("train", "finding", "No."): 1}
    assert made(3, left_out=frozenset(made(3)["instruction_id"])).is_empty()
