"""Open panels put to a vision model behind a real endpoint on loopback that says what a test wants said."""

from __future__ import annotations

import base64
import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from pydantic import SecretStr

from pmo_assets.models.chat import ChatEndpoint, KeptAnswers
from pmo_assets.pipeline.assembly.vision.look import FigureReader
from pmo_assets.pipeline.assembly.vision.steps import VisionCounts, refine_assembly
from pmo_assets.records.chat import ChatUnavailable
from pmo_assets.records.memory_stores import MemoryPixels
from pmo_assets.records.panels import ADJUDICATED, AUTOMATIC, BY_MODEL
from pmo_assets.records.step_output import Row, StepOutput
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.tables.panels import PanelAssembly
from pmo_assets.tables.schemas import checked
from pmo_assets_tests.models.chat_server import Server, chat_server, fails, says
from pmo_assets_tests.pipeline.assembly.vision.figures import (
    BOTTOM_LEFT,
    BOTTOM_RIGHT,
    PLACE,
    THRESHOLD,
    TOP_LEFT,
    TOP_RIGHT,
    Figure,
    answers,
    assigned,
    grouped,
    image,
    label,
    panel,
    pixel_store,
    printed,
    says_in_turn,
)

LABEL = {"label_id": "L1"}
NEW = {"bbox_2d": [5, 515, 40, 560], "text": "C"}


def lettered(**columns: Any) -> Figure:
    """A is certain; P2 and P3 are undecided, P3 with a guess of the rules; L1 stands above P2, given to nobody."""
    panels = [panel(0, TOP_LEFT, "A", 0.97), panel(1, TOP_RIGHT, **columns), panel(2, BOTTOM_LEFT, "B", 0.4)]
    return Figure(["A", "B", "C"], panels, [label(0, [0.7, -0.0, 0.75, 0.04], "8")])


def reader_at(server: Server, **options: Any) -> FigureReader:
    endpoint = ChatEndpoint(server.base_url, "sees", SecretStr("k"), timeout=5.0, retries=0, backoff=0.01)
    return FigureReader(endpoint, **{"threshold": THRESHOLD, "concurrency": 2, **options})


def looked(
    figure: Figure, reader: FigureReader | None, pixels: MemoryPixels | None = None
) -> tuple[StepOutput, VisionCounts]:
    output, counts = refine_assembly(figure.tables, figure.panels, reader, pixels or pixel_store())
    checked(PanelAssembly, output.rows)
    return output, counts


@contextmanager
def model_says(*said: Any, **options: Any) -> Iterator[tuple[FigureReader, Server]]:
    with chat_server(*says_in_turn(*said), otherwise=fails(500, b"asked too often")) as server:
        yield reader_at(server, **options), server


def by_ordinal(output: StepOutput) -> dict[int, Row]:
    return {row["ordinal"]: row for row in output.rows}


def words_of(body: dict[str, Any]) -> list[Any]:
    """Return the question's JSON from a request."""
    content = next(m["content"] for m in reversed(body["messages"]) if isinstance(m["content"], list))
    return [json.loads(content[0]["text"]), content[1]]


GOOD = answers(assigned("P2", "B", LABEL), assigned("P3", "C", NEW, sure=0.8))


# agreement


def test_what_two_answers_agree_on_is_taken_with_the_captions_own_words() -> None:
    figure = lettered()
    before = json.dumps(figure.panels)
    with model_says(GOOD, GOOD) as (reader, server):
        output, counts = looked(figure, reader)
        assert len(server.requests) == 2
    assert json.dumps(figure.panels) == before, "rows that were given are not changed"
    rows = by_ordinal(output)
    assert rows[0] == figure.panels[0], "a final panel stays as it is"
    second, third = rows[1], rows[2]
    assert (second["identifier"], second["subcaption"]) == ("B", "Both eyes. What B shows.")
    assert second["segments"] == [[0, 10], [11, 20]]
    assert (second["assembly"], second["method"], second["caption_confidence"]) == (BY_MODEL, "identifier", 0.93)
    assert second["confidence"] == 0.75
    assert second["evidence"][0] == {
        "kind": "vision model",
        "source": "sees",
        "text": "given label: 8",
        "identifier": "B",
        "confidence": 0.9,
        "box": [0.7, 0.0, 0.75, 0.04],
    }
    assert [item["id"] for item in second["printed_identifiers"]] == ["l0"]
    assert third["evidence"][0]["text"] == "new label: C"
    assert third["evidence"][0]["box"] == [0.005, 0.515, 0.04, 0.56]
    assert (third["runner_up"], third["runner_up_confidence"]) == ("B", 0.4), "what rules thought"
    assert "2 of 2 answers" in third["reason"]
    assert not output.rejections
    assert (counts.figures, counts.panels, counts.failed) == (1, 2, 0)
    assert dict(counts.outcomes) == {"agreed": 2}
    assert (counts.usage.requests, counts.usage.prompt_tokens) == (2, 200)


def test_the_picture_goes_along_and_both_questions_differ_in_the_seed_alone() -> None:
    with model_says(GOOD, GOOD) as (reader, server):
        looked(lettered(), reader)
        (_, first), (_, second) = server.requests
    given, part = words_of(first)
    assert given["panels"][1] == {"panel_id": "P2", "bbox_2d": [510, 0, 1000, 490], "is_final": False}
    assert given["labels"][0]["detected_text"] == "8"
    scheme, _, data = part["image_url"]["url"].partition(",")
    sent = cv2.imdecode(np.frombuffer(base64.b64decode(data), dtype=np.uint8), cv2.IMREAD_COLOR)
    stored = pixel_store().read(7)["pf1"].png
    kept = cv2.imdecode(np.frombuffer(stored, dtype=np.uint8), cv2.IMREAD_COLOR)
    assert scheme == "data:image/png;base64"
    assert sent is not None
    assert kept is not None
    assert (sent == kept).all()
    assert {**first, "seed": 1} == second
    assert first["seed"] == 0
    assert first["temperature"] > 0
    assert first["response_format"]["json_schema"]["name"] == "AlphanumericAnswer"


def test_boxes_may_be_drawn_on_a_smaller_picture_instead() -> None:
    with model_says(GOOD, GOOD, boxes="drawn", max_pixels=30_000) as (reader, server):
        looked(lettered(), reader)
        given, part = words_of(server.requests[0][1])
    assert "bbox_2d" not in json.dumps(given)
    data = base64.b64decode(part["image_url"]["url"].partition(",")[2])
    sent = cv2.imdecode(np.frombuffer(data, dtype=np.uint8), cv2.IMREAD_COLOR)
    assert sent is not None
    assert sent.shape == (150, 200, 3)
    colours = {tuple(int(value) for value in pixel) for pixel in sent.reshape(-1, 3)}
    assert (200, 90, 0) in colours, "the undecided panels' colour, in OpenCV's order"


def test_an_answer_is_asked_for_once_and_kept(tmp_path: Path) -> None:
    with chat_server(*says_in_turn(GOOD, GOOD), otherwise=fails(500)) as server:
        endpoint = reader_at(server).model
        reader = FigureReader(KeptAnswers(endpoint, DataRoot(str(tmp_path))), threshold=THRESHOLD)
        first, _ = looked(lettered(), reader)
        again, counts = looked(lettered(), reader)
        assert len(server.requests) == 2, "two answers of their own, each asked for once"
    assert again.rows == first.rows
    assert (counts.usage.requests, counts.usage.cache_hits) == (0, 2)


def test_a_panel_that_both_reject_loses_its_guess_which_stays_as_the_second_best() -> None:
    answer = answers(assigned("P2", "B", LABEL), assigned("P3", None))
    with model_says(answer, answer) as (reader, _):
        output, counts = looked(lettered(), reader)
    row = by_ordinal(output)[2]
    assert [row[name] for name in ("identifier", "subcaption", "segments", "method", "assembly")] == [None] * 5
    assert (row["confidence"], row["runner_up"], row["runner_up_confidence"]) == (0.4, "B", 0.4)
    assert "no subcaption belongs to it (2 of 2 answers)" in row["reason"]
    assert counts.outcomes["rejected"] == 1


# who is asked


def test_without_a_model_everything_stays() -> None:
    figure = lettered()
    output, counts = looked(figure, None)
    assert output.rows == figure.panels
    assert counts == VisionCounts()


@pytest.mark.parametrize(
    "figure",
    [
        Figure(["A", "B"], [panel(0, TOP_LEFT, "A", 0.9), panel(1, TOP_RIGHT, "B", THRESHOLD)]),
        Figure([], [panel(0, TOP_LEFT), panel(1, TOP_RIGHT)]),
        Figure(["A", "B"], []),
    ],
)
def test_nothing_open_or_no_choice_or_no_panel_asks_nobody(figure: Figure) -> None:
    with chat_server(otherwise=fails(500)) as server:
        output, counts = looked(figure, reader_at(server))
        assert not server.requests
    assert output.rows == figure.panels
    assert counts.figures == 0


def test_only_figures_that_go_on_are_asked_about() -> None:
    figure = lettered()
    for row in figure.panels:
        row["wanted"] = False
    with chat_server(otherwise=fails(500)) as server:
        output, _ = looked(figure, reader_at(server))
        assert not server.requests
    assert output.rows == figure.panels


# conflict


OTHER = answers(assigned("P2", "C", LABEL), assigned("P3", "C", NEW))


def test_a_conflict_is_settled_by_a_third_answer_that_sees_both() -> None:
    with model_says(GOOD, OTHER, GOOD) as (reader, server):
        output, counts = looked(lettered(), reader)
        assert len(server.requests) == 3
        body = server.requests[2][1]
    given, part = words_of(body)
    assert [item["assigned_subcaption"] for item in given["annotator_1"]] == ["B", "C"]
    assert [item["assigned_subcaption"] for item in given["annotator_2"]] == ["C", "C"]
    assert given["annotator_1"][0]["evidence"] == [{"kind": "given label", "text": "8", "label_id": "L1"}]
    assert given["conflicts"] == ["The annotators differ about P2."]
    assert part["type"] == "image_url"
    assert body["messages"][0]["content"].startswith("You settle what two annotators")
    rows = by_ordinal(output)
    assert (rows[1]["identifier"], rows[1]["assembly"], rows[1]["confidence"]) == ("B", ADJUDICATED, 0.6)
    assert (rows[2]["identifier"], rows[2]["assembly"], rows[2]["confidence"]) == ("C", BY_MODEL, 0.8)
    assert dict(counts.outcomes) == {"adjudicated": 1, "agreed": 1}


def test_a_third_answer_that_never_comes_leaves_open_what_differs_and_takes_the_rest() -> None:
    with model_says(GOOD, OTHER, "no JSON", "still none", reasks=1) as (reader, server):
        output, counts = looked(lettered(), reader)
        assert len(server.requests) == 4
    rows = by_ordinal(output)
    assert rows[1]["subcaption"] is None
    assert "two answers differ, and it could not settle them (AnswerRejected)" in rows[1]["reason"]
    assert (rows[2]["identifier"], rows[2]["assembly"]) == ("C", BY_MODEL)
    (rejection,) = output.rejections
    assert (rejection.stage, rejection.part, rejection.error_class) == (
        "panel_assembly",
        "f1",
        "AnswerRejected",
    )
    assert "panels_adjudication of panels_alphanumeric" in rejection.message
    assert dict(counts.outcomes) == {"agreed": 1, "left undecided": 1}


# answers that do not fit


def test_an_answer_that_does_not_fit_is_sent_back_with_the_reason() -> None:
    bad = answers(assigned("P2", "Q", LABEL), assigned("P3", "C", NEW))
    with model_says(bad, GOOD, GOOD) as (reader, server):
        output, _ = looked(lettered(), reader)
        turns = server.requests[1][1]["messages"]
    assert by_ordinal(output)[1]["identifier"] == "B"
    assert turns[-2]["role"] == "assistant"
    assert "'Q' is none of the options A, B, C" in turns[-1]["content"]
    assert any(isinstance(turn["content"], list) for turn in turns), "the picture is still there"


def test_answers_that_never_fit_leave_the_rows_with_the_reason_and_a_rejection() -> None:
    figure = lettered()
    with chat_server(otherwise=says('{"assignments": []}')) as server:
        output, counts = looked(figure, reader_at(server, reasks=5))
        assert len(server.requests) == 6, "asked, and sent back five times; the second answer is not asked for"
    rows = by_ordinal(output)
    assert rows[0] == figure.panels[0]
    assert rows[1]["reason"] == "by rules; the vision model gave no answer (AnswerRejected)"
    assert (rows[2]["identifier"], rows[2]["assembly"]) == ("B", AUTOMATIC), "the guess of the rules stays, open"
    assert "P2, P3 is not answered" in output.rejections[0].message
    assert (counts.failed, counts.outcomes["left undecided"]) == (1, 2)


def test_a_figure_that_the_model_refuses_concerns_only_itself() -> None:
    with chat_server(otherwise=fails(400, b"picture too large")) as server:
        output, counts = looked(lettered(), reader_at(server))
    assert [item.error_class for item in output.rejections] == ["RefusedRequest"]
    assert len(output.rows) == 3
    assert counts.failed == 1


def test_a_missing_picture_is_the_figures_rejection() -> None:
    with chat_server(otherwise=fails(500)) as server:
        output, _ = looked(lettered(), reader_at(server), MemoryPixels({}))
        assert not server.requests
    assert [item.error_class for item in output.rejections] == ["PictureUnreadable"]
    assert len(output.rows) == 3


def test_an_endpoint_that_is_down_ends_the_step() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    endpoint = ChatEndpoint(f"http://127.0.0.1:{port}/v1", "sees", timeout=2.0, retries=0, options="PMO_VLM")
    with pytest.raises(ChatUnavailable, match=r"no language model at .*PMO_VLM_BASE_URL"):
        looked(lettered(), FigureReader(endpoint, threshold=THRESHOLD))


# what is printed is believed first


@pytest.mark.parametrize(("sure", "believed"), [(0.9, True), (0.89, False)])
def test_print_that_was_read_surely_is_believed_before_the_model(sure: float, believed: bool) -> None:
    answer = answers(assigned("P2", "C", PLACE), assigned("P3", "B", PLACE))
    with model_says(answer, answer) as (reader, _):
        output, counts = looked(lettered(evidence=[printed("B", sure)]), reader)
    row = by_ordinal(output)[1]
    if believed:
        assert row["subcaption"] is None
        assert row["reason"] == "by rules; the vision model says that it is “C”, but “B” is printed in it"
        assert dict(counts.outcomes) == {"agreed": 1, "left undecided": 1}
    else:
        assert row["identifier"] == "C"
        assert [item["kind"] for item in row["evidence"]] == ["vision model", "identifier"]


def test_a_model_cannot_reject_a_panel_whose_print_was_read_surely() -> None:
    answer = answers(assigned("P2", None), assigned("P3", "C", PLACE))
    with model_says(answer, answer) as (reader, _):
        output, _ = looked(lettered(evidence=[printed("B", 0.95)]), reader)
    assert "no subcaption belongs to it, but “B” is printed" in by_ordinal(output)[1]["reason"]


# by places


def in_rows() -> Figure:
    """Four images; one panel over the upper two, and one for each of the lower two; names of rows."""
    top = [0.0, 0.0, 1.0, 0.49]
    panels = [panel(0, top), panel(1, BOTTOM_LEFT), panel(2, BOTTOM_RIGHT)]
    images = [image(0, TOP_LEFT), image(1, TOP_RIGHT), image(2, BOTTOM_LEFT), image(3, BOTTOM_RIGHT)]
    shown = panels[0]["images"][0]
    panels[0]["images"] = [{**shown, "id": "i0", "box": TOP_LEFT}, {**shown, "id": "i1", "box": TOP_RIGHT}]
    panels[1]["images"][0]["id"], panels[2]["images"][0]["id"] = "i2", "i3"
    return Figure(["top row", "bottom row"], panels, images=images)


def test_a_group_that_is_a_panel_already_keeps_it_and_another_makes_a_new_one() -> None:
    answer = {"groups": [grouped("top row", "I2", "I1"), grouped("bottom row", "I3", "I4")], "left_out": []}
    with model_says(answer, answer) as (reader, server):
        output, counts = looked(in_rows(), reader)
        assert server.requests[0][1]["response_format"]["json_schema"]["name"] == "PositionalAnswer"
    rows = by_ordinal(output)
    assert set(rows) == {0, 3}, "the two panels of the bottom row are one now, with a number of its own"
    assert (rows[0]["identifier"], rows[0]["method"], rows[0]["box"]) == ("top row", "position", [0.0, 0.0, 1.0, 0.49])
    made = rows[3]
    assert (made["identifier"], made["method"], made["assembly"]) == ("bottom row", "image group", BY_MODEL)
    assert made["box"] == made["content_box"] == [0.0, 0.51, 1.0, 1.0], "the union of its images and nothing else"
    assert [item["ordinal"] for item in made["members"]] == [1, 2]
    assert [item["id"] for item in made["images"]] == ["i2", "i3"]
    assert made["subcaption"] == "Both eyes. What bottom row shows."
    assert dict(counts.outcomes) == {"agreed": 2}


def test_a_box_of_images_keeps_width_and_height_apart() -> None:
    figure = in_rows()
    wide = [[0.1, 0.55, 0.3, 0.6], [0.7, 0.58, 0.95, 0.63]]
    for place, box in zip((2, 3), wide, strict=True):
        figure.images[place]["box"] = box
        figure.panels[place - 1] |= {"box": box, "content_box": box}
        figure.panels[place - 1]["images"][0]["box"] = box
    answer = {"groups": [grouped("top row", "I2", "I1"), grouped("bottom row", "I3", "I4")], "left_out": []}
    with model_says(answer, answer) as (reader, _):
        output, _ = looked(figure, reader)
    assert by_ordinal(output)[3]["content_box"] == [0.1, 0.55, 0.95, 0.63]


def test_a_panel_that_gives_an_image_away_keeps_the_others_and_stays_open() -> None:
    figure = in_rows()
    answer = {"groups": [grouped("top row", "I1"), grouped("bottom row", "I3", "I4")], "left_out": ["I2"]}
    with model_says(answer, answer) as (reader, _):
        output, counts = looked(figure, reader)
    rows = by_ordinal(output)
    assert [item["id"] for item in rows[0]["images"]] == ["i1"]
    assert rows[0]["subcaption"] is None
    assert "panels of their own" in rows[0]["reason"]
    assert {
        row["identifier"]: [item["id"] for item in row["images"]] for row in rows.values() if row["identifier"]
    } == {
        "top row": ["i0"],
        "bottom row": ["i2", "i3"],
    }
    assert sorted(rows) == [0, 3, 4], "in reading order behind what there was"
    assert counts.outcomes["left undecided"] == 1


def test_images_outside_of_all_panels_can_make_one() -> None:
    figure = in_rows()
    del figure.panels[1:]
    answer = {"groups": [grouped("top row", "I1", "I2"), grouped("bottom row", "I3", "I4")], "left_out": []}
    with model_says(answer, answer) as (reader, _):
        output, _ = looked(figure, reader)
    made = by_ordinal(output)[1]
    assert (made["members"], [item["id"] for item in made["images"]]) == ([], ["i2", "i3"])


def test_groups_that_contradict_sure_print_change_nothing() -> None:
    figure = in_rows()
    figure.panels[1]["evidence"] = [printed("top row", 0.95)]
    answer = {"groups": [grouped("top row", "I1", "I2"), grouped("bottom row", "I3", "I4")], "left_out": []}
    with model_says(answer, answer) as (reader, _):
        output, _ = looked(figure, reader)
    rows = by_ordinal(output)
    assert sorted(rows) == [0, 1, 2]
    assert "“top row” is printed" in rows[1]["reason"]


def test_groups_that_differ_leave_their_panels_open() -> None:
    first = {"groups": [grouped("top row", "I1", "I2"), grouped("bottom row", "I3", "I4")], "left_out": []}
    second = {"groups": [grouped("top row", "I1", "I2"), grouped("bottom row", "I3")], "left_out": ["I4"]}
    with model_says(first, second, "{}", reasks=0) as (reader, _):
        output, _ = looked(in_rows(), reader)
    rows = by_ordinal(output)
    assert rows[0]["identifier"] == "top row"
    assert [rows[place]["subcaption"] for place in (1, 2)] == [None, None]
    assert all("two answers differ" in rows[place]["reason"] for place in (1, 2))


def test_a_mixed_figure_has_a_schema_for_both() -> None:
    base = in_rows()
    figure = Figure(["A", "bottom row"], base.panels, images=base.images)
    answer = {
        "assignments": [assigned("P1", "A", {"bbox_2d": [2, 2, 40, 50], "text": "(A)"})],
        "groups": [grouped("bottom row", "I3", "I4")],
        "left_out": [],
    }
    with model_says(answer, answer) as (reader, server):
        output, _ = looked(figure, reader)
        assert server.requests[0][1]["response_format"]["json_schema"]["name"] == "MixedAnswer"
    assert {row["identifier"]: row["method"] for row in output.rows} == {"A": "identifier", "bottom row": "image group"}
