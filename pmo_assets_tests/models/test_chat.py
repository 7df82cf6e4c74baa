"""The client of an OpenAI-compatible endpoint against a real one on loopback that misbehaves in every known way."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
import time
import traceback
from email.utils import formatdate
from pathlib import Path

import pytest
from pydantic import SecretStr, ValidationError

from pmo_assets.models.chat import FAILURES_IN_A_ROW, ChatEndpoint, KeptAnswers, answer_key, chat_model, vision_model
from pmo_assets.models.offline_chat import OfflineModel
from pmo_assets.records.chat import (
    ChatPicture,
    ChatRequest,
    ChatUnavailable,
    Message,
    RefusedRequest,
    SamplingOptions,
    TransientChatError,
)
from pmo_assets.settings import Settings
from pmo_assets.storage.data_root import DataRoot
from pmo_assets_tests.models.chat_server import Handler, Server, chat_server, completion, fails, says

KEY = "sk-loopback-0123456789"
CAPTION = "caption"
PNG = b"\x89PNG\r\n\x1a\n and what follows"
SCHEMA = {"type": "object", "properties": {"identifiers": {"type": "array"}}}


def request_for(text: str = "caption", **options: object) -> ChatRequest:
    messages = (Message("system", "Read."), Message("user", text))
    return ChatRequest(messages, "PanelIdentifiers", SCHEMA, "test 1 (abc)", SamplingOptions(**options))  # type: ignore[arg-type]


def with_picture(png: bytes) -> ChatRequest:
    base = request_for()
    shown = Message("user", CAPTION, (ChatPicture(png),))
    return ChatRequest((base.messages[0], shown), base.schema_name, base.schema, base.prompt_version, base.options)


def endpoint(server: Server, **options: object) -> ChatEndpoint:
    values = {"timeout": 5.0, "retries": 2, "backoff": 0.01, **options}
    return ChatEndpoint(server.base_url, "a-model", SecretStr(KEY), **values)  # type: ignore[arg-type]


def test_the_request_asks_for_structured_output_without_randomness() -> None:
    with chat_server(says("{}")) as server:
        endpoint(server).answer(request_for(thinking="off", max_tokens=77))
        headers, body = server.requests[0]
    assert headers["Authorization"] == f"Bearer {KEY}"
    assert body["model"] == "a-model"
    assert body["temperature"] == 0
    assert body["max_tokens"] == 77
    assert body["chat_template_kwargs"] == {"enable_thinking": False}
    assert body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "PanelIdentifiers", "schema": SCHEMA},
    }
    assert [message["role"] for message in body["messages"]] == ["system", "user"]


@pytest.mark.parametrize(("thinking", "sent"), [("on", {"enable_thinking": True}), ("default", None)])
def test_thinking_is_a_setting(thinking: str, sent: object) -> None:
    with chat_server(says("{}")) as server:
        endpoint(server).answer(request_for(thinking=thinking))
        assert server.requests[0][1].get("chat_template_kwargs") == sent


def test_reasoning_in_the_answer_is_dropped_and_tokens_are_counted() -> None:
    with chat_server(says('<think>\nA, then B. {"no": 1}\n</think>\n\n{"identifiers": []}')) as server:
        answer = endpoint(server).answer(request_for())
    assert answer.text == '{"identifiers": []}'
    assert (answer.prompt_tokens, answer.completion_tokens, answer.attempts) == (100, 10, 1)


def test_server_errors_are_retried() -> None:
    with chat_server(fails(500), fails(503, b"loading"), says("{}")) as server:
        assert endpoint(server).answer(request_for()).attempts == 3
        assert len(server.requests) == 3


def test_a_busy_server_says_when_to_come_back() -> None:
    with chat_server(fails(429, retry_after="0.5"), says("{}")) as server:
        start = time.monotonic()
        endpoint(server).answer(request_for())
        assert time.monotonic() - start >= 0.5


def test_when_to_come_back_may_be_a_date() -> None:
    with chat_server(fails(429, retry_after=formatdate(time.time() + 2, usegmt=True)), says("{}")) as server:
        start = time.monotonic()
        endpoint(server).answer(request_for())
        assert time.monotonic() - start >= 0.9


def test_lasting_server_errors_are_this_requests_failure() -> None:
    with chat_server(otherwise=fails(500, b"out of memory")) as server:
        with pytest.raises(TransientChatError, match="HTTP 500: out of memory"):
            endpoint(server).answer(request_for())
        assert len(server.requests) == 3


def test_a_slow_answer_is_a_time_out() -> None:
    def sleeps(handler: Handler, _: object) -> None:
        time.sleep(0.6)
        handler.reply(200, completion("{}"))

    with chat_server(otherwise=sleeps) as server, pytest.raises(TransientChatError, match="PMO_LLM_TIMEOUT"):
        endpoint(server, timeout=0.2, retries=0).answer(request_for())


COMPLETE = b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n"


@pytest.mark.parametrize(
    ("at_once", "drop"),
    [
        (b"", b"H"),
        (b"HTTP/1.1 200 OK\r\n", b"x"),
        (b"HTTP/1.1 200 OK\r\n", b"x: y\r\n"),
        (COMPLETE, b" "),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
        (b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 100 Continue\r\n\r\n"),
    ],
    ids=["status line", "one header", "headers", "body", "chunks", "interim responses"],
)
def test_an_answer_that_trickles_in_is_a_time_out_too(at_once: bytes, drop: bytes) -> None:
    """Each byte comes well within the limit, the whole never: the limit is one on the whole."""
    given_up = threading.Event()
    outlasted: list[bool] = []

    def trickles(handler: Handler, _: object) -> None:
        handler.close_connection = True
        try:
            handler.wfile.write(at_once)
            for _ in range(400):  # 20 s: far beyond the limit
                if given_up.wait(0.05):
                    break
                handler.wfile.write(drop)
            outlasted.append(given_up.is_set())
        except OSError:
            outlasted.append(True)

    with chat_server(otherwise=trickles) as server:
        with contextlib.closing(endpoint(server, timeout=0.3, retries=0)) as client:
            with pytest.raises(TransientChatError, match="PMO_LLM_TIMEOUT"):
                client.answer(request_for())
            given_up.set()
        server.until_idle()
    assert outlasted == [True]


def test_a_server_that_accepts_no_connection_is_a_time_out_too() -> None:
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen(0)  # the kernel completes the handshake, nobody ever reads
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}/v1"
        client = ChatEndpoint(url, "m", timeout=0.3, retries=0)
        with contextlib.closing(client), pytest.raises(TransientChatError, match="PMO_LLM_TIMEOUT"):
            client.answer(request_for())


def test_after_a_time_out_the_endpoint_answers_again() -> None:
    def sleeps(handler: Handler, _: object) -> None:
        time.sleep(0.6)
        handler.close_connection = True

    with (
        chat_server(sleeps, otherwise=says("{}")) as server,
        contextlib.closing(endpoint(server, timeout=0.4, retries=1)) as client,
    ):
        assert client.answer(request_for()).attempts == 2


def breaks_off(handler: Handler, _: object) -> None:
    handler.send_response(200)
    handler.send_header("content-length", "500")
    handler.end_headers()
    handler.wfile.write(completion("{}")[:40])
    handler.close_connection = True


@pytest.mark.parametrize(
    "broken",
    [
        breaks_off,
        fails(200, b'{"choices": [{"mess'),
        fails(200, b'{"answers": ["no such key"]}'),
        fails(200, b'{"choices": []}'),
        fails(200, b"<html>a proxy's page</html>"),
        fails(200, b"\xff\xfe"),
    ],
    ids=["connection breaks", "truncated JSON", "wrong keys", "no choices", "HTML", "no text"],
)
def test_a_response_that_is_no_completion_is_retried(broken: object) -> None:
    with chat_server(broken, says("{}")) as server:  # type: ignore[arg-type]
        assert endpoint(server).answer(request_for()).text == "{}"
    with chat_server(otherwise=broken) as server, pytest.raises(TransientChatError):  # type: ignore[arg-type]
        endpoint(server).answer(request_for())


def test_a_refused_connection_says_how_to_go_on() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with pytest.raises(ChatUnavailable, match=rf"127\.0\.0\.1:{port}.*PMO_LLM_BASE_URL"):
        ChatEndpoint(f"http://127.0.0.1:{port}/v1", "m", retries=1, backoff=0.01).answer(request_for())


@pytest.mark.parametrize(
    ("status", "words"), [(401, "PMO_LLM_API_KEY"), (403, "PMO_LLM_API_KEY"), (404, "PMO_LLM_MODEL"), (308, "final")]
)
def test_what_no_request_can_overcome_is_systemic_at_once(status: int, words: str) -> None:
    with chat_server(otherwise=fails(status, b"no")) as server:
        with pytest.raises(ChatUnavailable, match=words):
            endpoint(server).answer(request_for())
        assert len(server.requests) == 1


def test_a_base_url_without_scheme_is_explained() -> None:
    with pytest.raises(ChatUnavailable, match="PMO_LLM_BASE_URL"):
        ChatEndpoint("localhost:8000/v1", "m", retries=0).answer(request_for())


def test_a_request_that_does_not_fit_the_model_concerns_only_itself() -> None:
    with chat_server(fails(400, b"context length is 2048"), says("{}")) as server:
        client = endpoint(server)
        with pytest.raises(RefusedRequest, match="context length"):
            client.answer(request_for())
        assert client.answer(request_for()).text == "{}"


def test_an_endpoint_that_answers_nothing_is_systemic_after_a_few_requests() -> None:
    with chat_server(otherwise=fails(400, b"response_format is not supported")) as server:
        client = endpoint(server)
        for _ in range(FAILURES_IN_A_ROW - 1):
            with pytest.raises(RefusedRequest):
                client.answer(request_for())
        with pytest.raises(ChatUnavailable, match="response_format is not supported"):
            client.answer(request_for())


def test_many_bad_captions_are_not_a_bad_endpoint() -> None:
    def refuses_long(handler: Handler, body: dict[str, object]) -> None:
        if "long" in json.dumps(body["messages"]):
            handler.reply(400, b"too long")
        else:
            handler.reply(200, completion("{}"))

    with chat_server(otherwise=refuses_long) as server:
        client = endpoint(server)
        for _ in range(2 * FAILURES_IN_A_ROW):
            with pytest.raises(RefusedRequest):
                client.answer(request_for("long"))


def test_the_key_is_nowhere_but_in_the_request(tmp_path: Path) -> None:
    settings = Settings(llm_model="m", llm_api_key=SecretStr(KEY), data_root=str(tmp_path))
    assert KEY not in repr(settings)
    assert KEY not in settings.model_dump_json()

    def echoes(handler: Handler, _: object) -> None:
        handler.reply(401, f"bad key {handler.headers['Authorization']}".encode())

    with chat_server(otherwise=echoes) as server:
        client = endpoint(server)
        assert KEY not in repr(client)
        with pytest.raises(ChatUnavailable) as caught:
            client.answer(request_for())
    assert KEY not in str(caught.value)


ADDRESSES = [
    "http://user:s3cret@host/v1",
    "https://s3cret@host/v1",
    "host:s3cret@elsewhere/v1",
    "http://h/v1?key=s3cret",
]


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("option", ["llm_base_url", "s3_endpoint"])
def test_an_address_with_a_password_is_refused_and_not_repeated(address: str, option: str) -> None:
    with pytest.raises(ValidationError, match=r"PMO_LLM_API_KEY|AWS_SECRET_ACCESS_KEY") as caught:
        Settings.model_validate({"llm_model": "m", option: address})
    assert "s3cret" not in str(caught.value) + repr(caught.value)
    with pytest.raises(ChatUnavailable, match="PMO_LLM_API_KEY") as refused:
        ChatEndpoint(address, "m")
    assert "s3cret" not in "".join(traceback.format_exception(refused.value))


def test_keys_in_the_data_root_are_refused_and_not_repeated() -> None:
    with pytest.raises(ValidationError, match="AWS_SECRET_ACCESS_KEY") as caught:
        Settings(data_root="s3://AKIA:s3cret@bucket/prefix")
    assert "s3cret" not in str(caught.value)
    assert Settings(data_root="s3://bucket/a@b").data_root == "s3://bucket/a@b"


def test_a_token_among_the_engine_options_is_refused_because_they_are_shown() -> None:
    with pytest.raises(ValidationError, match="HF_TOKEN") as caught:
        Settings(llm_engine_options={"hf_token": "s3cret"})
    assert "s3cret" not in str(caught.value)


def test_a_key_from_a_file_may_end_in_a_line_break_but_not_hold_one() -> None:
    key = Settings(llm_api_key=SecretStr(f"{KEY}\n")).llm_api_key
    assert key is not None
    assert key.get_secret_value() == KEY
    with pytest.raises(ValidationError, match="HTTP header") as caught:
        Settings(llm_api_key=SecretStr(f"{KEY}\nx: y"))
    assert KEY not in str(caught.value)


# the store of answers


def test_an_answer_is_asked_once(tmp_path: Path) -> None:
    with chat_server(otherwise=says('{"identifiers": ["Ä"]}')) as server:
        model = KeptAnswers(endpoint(server), DataRoot(str(tmp_path)))
        first, second = model.answer(request_for()), model.answer(request_for())
        assert len(server.requests) == 1
    assert first.text == second.text
    assert (first.cached, second.cached) == (False, True)


def test_failures_are_not_kept(tmp_path: Path) -> None:
    with chat_server(fails(400), says("{}")) as server:
        model = KeptAnswers(endpoint(server), DataRoot(str(tmp_path)))
        with pytest.raises(RefusedRequest):
            model.answer(request_for())
        assert not model.answer(request_for()).cached


def test_everything_that_determines_an_answer_is_in_its_key() -> None:
    base = request_for()
    variants = [
        ChatRequest(base.messages, base.schema_name, base.schema, "test 2 (abc)", base.options),
        ChatRequest(base.messages, base.schema_name, {"type": "object"}, base.prompt_version, base.options),
        ChatRequest(base.messages[:1], base.schema_name, base.schema, base.prompt_version, base.options),
        request_for("other caption"),
        request_for(thinking="on"),
        request_for(max_tokens=1),
        request_for(temperature=0.5),
        request_for(seed=1),
        with_picture(PNG),
        with_picture(PNG + b"x"),
    ]
    keys = {answer_key("m", item) for item in [base, *variants]} | {answer_key("n", base)}
    assert len(keys) == len(variants) + 2
    assert answer_key("m", base) == answer_key("m", request_for())


def test_the_key_of_a_question_in_words_stays_what_it_was() -> None:
    messages = (Message("system", "Antworte"), Message("user", "Ü"))
    request = ChatRequest(messages, "S", {"type": "object"}, "v 1", SamplingOptions(seed=3))
    digest = "a2f28405df6d5c306abfb7c415b24de9bd718d6b4a0ff2ff1f0b0ca648f9d3b0"
    assert answer_key("m", request) == f"answers/a2/{digest}.json", "answers kept by earlier versions are found"


def test_a_picture_is_sent_after_the_words_as_a_data_url() -> None:
    with chat_server(says("{}")) as server:
        endpoint(server).answer(with_picture(PNG))
        sent = server.requests[0][1]["messages"]
    assert sent[0] == {"role": "system", "content": "Read."}, "turns without pictures stay words"
    words, picture = sent[1]["content"]
    assert words == {"type": "text", "text": CAPTION}
    assert picture["type"] == "image_url"
    scheme, _, data = picture["image_url"]["url"].partition(",")
    assert scheme == "data:image/png;base64"
    assert base64.b64decode(data, validate=True) == PNG


@pytest.mark.parametrize("damage", [b"", b'{"text": "{}', b"[]", b'{"other": 1}', b"\xff"])
def test_a_damaged_answer_is_asked_again(tmp_path: Path, damage: bytes) -> None:
    with chat_server() as server:
        server.otherwise = says("{}")
        model = KeptAnswers(endpoint(server), DataRoot(str(tmp_path)))
        path = tmp_path / answer_key("a-model", request_for())
        path.parent.mkdir(parents=True)
        path.write_bytes(damage)
        assert not model.answer(request_for()).cached
        assert model.answer(request_for()).cached


@pytest.mark.slow  # processes
def test_a_killed_writer_leaves_no_half_answer(tmp_path: Path) -> None:
    """A process is killed while it writes answers as fast as it can; what is there afterwards is whole."""
    code = f"""
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.models.chat import KeptAnswers
from pmo_assets.records.chat import ChatAnswer, ChatRequest, Message
class Fast:
    name = "fast"
    def answer(self, request): return ChatAnswer("x" * 300_000)
model = KeptAnswers(Fast(), DataRoot({str(tmp_path)!r}))
print("go", flush=True)
for number in range(100_000):
    model.answer(ChatRequest((Message("user", str(number)),), "s", {{}}, "v"))
"""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PMO_")}
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.4)
        process.kill()
    kept = [path for path in tmp_path.rglob("*.json") if not path.name.startswith(".")]
    assert kept
    assert all(len(json.loads(path.read_text())["text"]) == 300_000 for path in kept)


def test_threads_may_ask_the_same_at_once(tmp_path: Path) -> None:
    with chat_server(otherwise=says('{"identifiers": []}')) as server:
        model = KeptAnswers(endpoint(server), DataRoot(str(tmp_path)))
        texts: list[str] = []
        threads = [threading.Thread(target=lambda: texts.append(model.answer(request_for()).text)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert texts == ['{"identifiers": []}'] * 8
    assert model.answer(request_for()).cached


# which model


def test_without_a_model_there_is_none(tmp_path: Path) -> None:
    with chat_model(Settings(data_root=str(tmp_path)), DataRoot(str(tmp_path))) as model:
        assert model is None


@pytest.mark.parametrize("options", [{"llm_base_url": "http://127.0.0.1:1/v1"}, {"llm_offline": True}])
def test_an_endpoint_without_a_model_is_refused(options: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="name the model"):
        Settings(**options)  # type: ignore[arg-type]


def test_vllm_in_process_says_how_to_install_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vllm", None)  # as if it were not installed
    settings = Settings(llm_model="some/model", llm_offline=True, data_root=str(tmp_path))
    with chat_model(settings, DataRoot(str(tmp_path))) as model:
        assert model is not None
        assert model.name == "some/model"
        with pytest.raises(ChatUnavailable, match=r"pip install 'pmo-assets\[llm\]'"):
            model.answer(request_for())


def test_a_model_in_a_folder_goes_by_the_folders_name(tmp_path: Path) -> None:
    (tmp_path / "Qwen3-tiny").mkdir()
    assert OfflineModel(str(tmp_path / "Qwen3-tiny")).name == "Qwen3-tiny"


# which model looks at figures


def looking(folder: Path, **options: object) -> Settings:
    return Settings(data_root=str(folder), vlm_model="sees", **options)  # type: ignore[arg-type]


def endpoint_of(model: object) -> ChatEndpoint:
    assert isinstance(model, KeptAnswers)
    assert isinstance(model.inner, ChatEndpoint)
    return model.inner


def test_without_a_vision_model_there_is_none_also_beside_a_language_model(tmp_path: Path) -> None:
    settings, root = Settings(data_root=str(tmp_path), llm_model="reads"), DataRoot(str(tmp_path))
    with chat_model(settings, root) as chat, vision_model(settings, root, chat) as vision:
        assert chat is not None
        assert vision is None


def test_a_vision_model_without_an_address_is_where_the_language_model_is(tmp_path: Path) -> None:
    settings = looking(tmp_path, llm_model="reads", llm_base_url="http://a:1/v1", llm_api_key=SecretStr(KEY))
    with vision_model(settings, DataRoot(str(tmp_path)), None) as model:
        found = endpoint_of(model)
        assert (found.base_url, found.name, found.timeout) == ("http://a:1/v1", "sees", 600)
        assert found.api_key == SecretStr(KEY)


def test_a_key_goes_to_no_other_address_than_its_own(tmp_path: Path) -> None:
    settings = looking(
        tmp_path,
        llm_model="reads",
        llm_base_url="http://a:1/v1",
        llm_api_key=SecretStr(KEY),
        vlm_base_url="http://b:2/v1",
    )
    with vision_model(settings, DataRoot(str(tmp_path)), None) as model:
        assert (endpoint_of(model).base_url, endpoint_of(model).api_key) == ("http://b:2/v1", None)


def test_messages_name_the_settings_of_the_vision_model(tmp_path: Path) -> None:
    settings = looking(tmp_path, vlm_base_url="http://127.0.0.1:1/v1", llm_retries=0)
    with vision_model(settings, DataRoot(str(tmp_path)), None) as model:
        assert model is not None
        with pytest.raises(ChatUnavailable, match=r"PMO_VLM_BASE_URL.*PMO_VLM_MODEL"):
            model.answer(with_picture(PNG))


def test_one_model_in_process_is_loaded_once(tmp_path: Path) -> None:
    root = DataRoot(str(tmp_path))
    settings = looking(tmp_path, vlm_offline=True, llm_model="sees", llm_offline=True)
    with chat_model(settings, root) as chat, vision_model(settings, root, chat) as vision:
        assert vision is chat
    settings = looking(tmp_path, vlm_offline=True, llm_model="reads", llm_offline=True)
    with chat_model(settings, root) as chat, vision_model(settings, root, chat) as vision:
        assert vision is not None
        assert vision is not chat
        assert vision.name == "sees"


@pytest.mark.parametrize("options", [{"vlm_base_url": "http://127.0.0.1:1/v1"}, {"vlm_offline": True}])
def test_a_place_without_a_vision_model_is_refused(options: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"name the model: PMO_VLM_BASE_URL or PMO_VLM_OFFLINE"):
        Settings(**options)  # type: ignore[arg-type]


def test_a_password_in_the_address_of_the_vision_model_is_refused() -> None:
    with pytest.raises(ValueError, match="PMO_VLM_API_KEY"):
        Settings(vlm_model="sees", vlm_base_url="http://me:secret@a/v1")
