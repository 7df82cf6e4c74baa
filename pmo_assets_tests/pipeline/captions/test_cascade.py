"""Who answers: the grammar where it is sure, a language model where it is not, the grammar again where that fails."""

from __future__ import annotations

import itertools
import json
import threading
import time
from collections.abc import Iterator

import pytest

from pmo_assets.pipeline.captions.cascade import (
    AHEAD,
    Cascade,
    DoubtfulCaption,
    second_readings,
    split_by_cascade,
    stream_by_cascade,
)
from pmo_assets.pipeline.captions.model_split import CaptionReader
from pmo_assets.pipeline.captions.split import split_caption
from pmo_assets.pipeline.captions.steps import reread_captions, split_article_captions
from pmo_assets.records.chat import ChatRequest, ChatUnavailable, RefusedRequest
from pmo_assets.records.subcaptions import CaptionSplit
from pmo_assets.tables.captions import caption_split
from pmo_assets_tests.pipeline.captions.scripted_model import CAPTION, IDENTIFIERS, SUBCAPTIONS, ScriptedModel


def cascade(*script: object, threshold: float = 1.0, concurrency: int = 4) -> tuple[Cascade, ScriptedModel]:
    model = ScriptedModel(list(script))
    return Cascade(threshold, CaptionReader(model), concurrency), model


def test_a_sure_answer_asks_nobody() -> None:
    chosen, model = cascade(threshold=0.1)
    assert split_by_cascade(CAPTION, chosen).split == split_caption(CAPTION)
    assert not model.requests


def test_below_the_threshold_the_model_answers() -> None:
    chosen, _ = cascade(IDENTIFIERS, SUBCAPTIONS)
    answer = split_by_cascade(CAPTION, chosen)
    assert answer.split.method == "language model"
    assert answer.usage.requests == 2


def test_without_a_model_the_grammars_answer_is_flagged() -> None:
    answer = split_by_cascade(CAPTION, Cascade(threshold=1.0))
    grammar = split_caption(CAPTION)
    assert answer.split.subcaptions == grammar.subcaptions
    assert answer.split.method == "grammar"
    assert answer.split.reasons == ("low confidence: no language model is configured", *grammar.reasons)
    assert answer.error is None


def test_when_the_models_answer_is_rejected_the_grammars_stays_with_the_reason() -> None:
    chosen, _ = cascade(*[{"identifiers": ["Q"]}] * 6)
    answer = split_by_cascade(CAPTION, chosen)
    assert answer.split.subcaptions == split_caption(CAPTION).subcaptions
    assert answer.split.reasons[0] == "low confidence: the language model gave no answer (AnswerRejected)"
    assert type(answer.error).__name__ == "AnswerRejected"
    assert answer.usage.requests == 6


def test_what_is_systemic_is_raised() -> None:
    chosen, _ = cascade(ChatUnavailable("connection refused"))
    with pytest.raises(ChatUnavailable):
        split_by_cascade(CAPTION, chosen)


def single(request: ChatRequest) -> object:
    return {"identifiers": []}


def test_answers_come_in_the_captions_order_however_long_each_takes() -> None:
    def slow_first(request: ChatRequest) -> object:
        if json.loads(request.messages[-1].content)["caption"] == "Scan 0.":
            time.sleep(0.1)
        return {"identifiers": []}

    captions = [f"Scan {number}." for number in range(20)]
    doubtful = [DoubtfulCaption(text, split_caption(text)) for text in captions]
    model = ScriptedModel([], otherwise=slow_first)
    done: list[tuple[int, int]] = []
    answers = second_readings(doubtful, Cascade(1.0, CaptionReader(model), 8), lambda *step: done.append(step))
    assert [answer.split.subcaptions[0].text for answer in answers] == captions
    assert done == [(number + 1, 20) for number in range(20)]


def test_no_more_captions_than_the_bound_are_asked_at_once() -> None:
    class Counting:
        name = "counting"

        def __init__(self) -> None:
            self.now = self.most = 0
            self.lock = threading.Lock()

        def answer(self, request: ChatRequest):  # type: ignore[no-untyped-def]
            with self.lock:
                self.now += 1
                self.most = max(self.most, self.now)
            time.sleep(0.02)
            with self.lock:
                self.now -= 1
            return ScriptedModel([{"identifiers": []}]).answer(request)

    model = Counting()
    doubtful = [DoubtfulCaption("Scan.", split_caption("Scan."))] * 12
    second_readings(doubtful, Cascade(1.0, CaptionReader(model), concurrency=3))
    assert model.most == 3


def test_after_a_systemic_error_the_remaining_captions_are_not_asked() -> None:
    model = ScriptedModel([ChatUnavailable("down")], otherwise=single)
    doubtful = [DoubtfulCaption("Scan.", split_caption("Scan."))] * 200
    with pytest.raises(ChatUnavailable):
        second_readings(doubtful, Cascade(1.0, CaptionReader(model), concurrency=1))
    assert len(model.requests) < 200


# streams


def test_a_stream_gives_answers_in_order_while_captions_still_come() -> None:
    """The second caption's answer is there long before the first one's; captions come without end."""
    release = threading.Event()

    def slow_first(request: ChatRequest) -> object:
        if json.loads(request.messages[-1].content)["caption"] == "Scan 0.":
            assert release.wait(10)
        return {"identifiers": []}

    def captions() -> Iterator[str | None]:
        for number in itertools.count():
            if number == 8:
                release.set()
            yield None if number % 3 == 1 else f"Scan {number}."

    model = ScriptedModel([], otherwise=slow_first)
    stream = stream_by_cascade(captions(), Cascade(1.0, CaptionReader(model), 4))
    texts = [answer and answer.split.subcaptions[0].text for answer in itertools.islice(stream, 12)]  # type: ignore[union-attr]
    assert texts == [None if number % 3 == 1 else f"Scan {number}." for number in range(12)]
    stream.close()  # type: ignore[attr-defined]


def test_a_stream_reads_only_so_far_ahead() -> None:
    read: list[int] = []

    def captions() -> Iterator[str]:
        for number in range(10_000):
            read.append(number)
            yield "Scan."

    def slow(request: ChatRequest) -> object:
        time.sleep(0.3)
        return {"identifiers": []}

    stream = stream_by_cascade(captions(), Cascade(1.0, CaptionReader(ScriptedModel([], otherwise=slow)), 1))
    assert next(stream) is not None
    assert len(read) == AHEAD + 1
    stream.close()  # type: ignore[attr-defined]


def test_what_goes_wrong_with_one_caption_stands_in_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails_on_b(caption: str) -> CaptionSplit:
        return {"a": split_caption("Scan.")}[caption]

    monkeypatch.setattr("pmo_assets.pipeline.captions.cascade.split_caption", fails_on_b)
    answers = list(stream_by_cascade(["a", "b", "a"], Cascade(0.0)))
    assert [type(answer).__name__ for answer in answers] == ["CascadeAnswer", "KeyError", "CascadeAnswer"]


def test_a_systemic_error_ends_a_stream_after_what_was_done() -> None:
    model = ScriptedModel([{"identifiers": []}, ChatUnavailable("down")], otherwise=single)
    stream = stream_by_cascade(["Scan."] * 500, Cascade(1.0, CaptionReader(model), 1))
    assert next(stream) is not None
    with pytest.raises(ChatUnavailable):
        next(stream)
    assert len(model.requests) < 500


# rows


def figure(number: int, caption: str) -> dict[str, object]:
    return {"article_id": 7, "image_cluster_id": f"f{number}", "caption": caption, "texts": []}


def test_rows_say_who_answered_and_one_bad_caption_is_listed_but_keeps_its_rows() -> None:
    figures = [figure(1, CAPTION), figure(2, CAPTION), figure(3, "OCT of the macula.")]
    rows = split_article_captions(figures).rows
    threshold = split_caption(CAPTION).confidence + 0.001
    assert split_caption("OCT of the macula.").confidence >= threshold
    model = ScriptedModel([RefusedRequest("HTTP 400: too long"), IDENTIFIERS, SUBCAPTIONS])
    output, counts = reread_captions(figures, rows, Cascade(threshold, CaptionReader(model), concurrency=1))
    methods = {row["image_cluster_id"]: (row["method"], row["model"]) for row in output.rows}
    assert methods == {"f1": ("grammar", None), "f2": ("language model", "scripted"), "f3": ("grammar", None)}
    assert [(item.part, item.error_class) for item in output.rejections] == [("f1", "RefusedRequest")]
    assert (counts.grammar, counts.language_model, counts.low_confidence) == (1, 1, 1)
    split = caption_split([row for row in output.rows if row["image_cluster_id"] == "f2"])
    assert split.identifiers == ("A", "B")
    assert split.prompt_version
