"""The real client, prompts and schemas against a real vLLM engine with random weights.

Random weights say nothing about captions, so every answer but a lucky one is rejected; that requests are understood,
structure is enforced, tokens are counted and failures are told apart is what is tested.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import BaseModel, ConfigDict, Field, SecretStr

from pmo_assets.models.chat import ChatEndpoint, KeptAnswers
from pmo_assets.pipeline.captions.model_split import (
    IDENTIFIERS_TASK,
    CaptionReader,
    PanelIdentifiers,
    PanelSubcaptions,
    split_by_model,
)
from pmo_assets.pipeline.captions.segments import join_segments
from pmo_assets.pipeline.prompting.prompts import load_prompt
from pmo_assets.records.chat import (
    ChatRequest,
    ChatUnavailable,
    Message,
    RefusedRequest,
    SamplingOptions,
)
from pmo_assets.storage.data_root import DataRoot
from pmo_assets_tests.llm.conftest import CONTEXT, KEY, MODEL, REPOSITORY, Vllm

pytestmark = pytest.mark.llm

CAPTION = "Multimodal imaging of the right eye. (A) Fundus photograph; (B) OCT of the macula, vertical scan."


class Finding(BaseModel):
    """A small schema with every kind of value, so that random weights finish it soon."""

    model_config = ConfigDict(extra="forbid")

    eyes: list[bool] = Field(min_length=2, max_length=2)
    drusen: bool


def endpoint(vllm: Vllm, *, key: str = KEY, model: str = MODEL) -> ChatEndpoint:
    return ChatEndpoint(vllm.base_url, model, SecretStr(key), timeout=300, retries=1, backoff=0.1)


def finding_request(text: str = CAPTION) -> ChatRequest:
    messages = (Message("system", "Answer as JSON."), Message("user", text))
    return ChatRequest(messages, "Finding", Finding.model_json_schema(), "", SamplingOptions(max_tokens=64))


def test_structured_output_follows_the_schema(vllm: Vllm) -> None:
    answer = endpoint(vllm).answer(finding_request())
    assert isinstance(Finding.model_validate_json(answer.text), Finding)
    assert answer.prompt_tokens > 20
    assert 0 < answer.completion_tokens <= 64
    assert answer.seconds > 0


def test_the_same_request_gives_the_same_answer(vllm: Vllm) -> None:
    client = endpoint(vllm)
    assert client.answer(finding_request()).text == client.answer(finding_request()).text


@pytest.mark.parametrize(("response", "opening"), [(PanelIdentifiers, '{"identifiers":'), (PanelSubcaptions, '{"sub')])
def test_the_engine_takes_the_schemas_of_both_steps(vllm: Vllm, response: type[BaseModel], opening: str) -> None:
    prompt = load_prompt(IDENTIFIERS_TASK)
    request = prompt.request({"caption": CAPTION}, response.model_json_schema(), "off", max_tokens=40)
    answer = endpoint(vllm).answer(request)
    assert "".join(answer.text.split()).startswith(opening)
    assert answer.prompt_tokens > 1000, "system prompt and 17 examples"


def test_a_caption_comes_back_split_or_rejected_and_a_second_time_for_nothing(vllm: Vllm, tmp_path: Path) -> None:
    reader = CaptionReader(KeptAnswers(endpoint(vllm), DataRoot(str(tmp_path))), reasks=1)
    reading = split_by_model(CAPTION, reader)
    assert (reading.split is None) != (reading.error is None)
    if reading.split is not None:
        assert all(join_segments(CAPTION, sub.segments) == sub.text for sub in reading.split.subcaptions)
    else:
        assert type(reading.error).__name__ == "AnswerRejected"
    assert reading.usage.requests >= 1
    assert reading.usage.completion_tokens > 0
    again = split_by_model(CAPTION, reader)
    assert (again.split, str(again.error)) == (reading.split, str(reading.error))
    assert again.usage.requests == 0
    assert again.usage.cache_hits == reading.usage.requests


def test_a_wrong_key_is_refused(vllm: Vllm) -> None:
    with pytest.raises(ChatUnavailable, match="PMO_LLM_API_KEY"):
        endpoint(vllm, key="wrong").answer(finding_request())


def test_an_unknown_model_is_named(vllm: Vllm) -> None:
    with pytest.raises(ChatUnavailable, match=r"no-such-model.*PMO_LLM_MODEL"):
        endpoint(vllm, model="no-such-model").answer(finding_request())


def test_a_request_beyond_the_context_concerns_only_itself(vllm: Vllm) -> None:
    with pytest.raises(RefusedRequest, match=str(CONTEXT)):
        endpoint(vllm).answer(finding_request("drusen " * 3 * CONTEXT))


def test_the_command_line_asks_the_server(vllm: Vllm, tmp_path: Path) -> None:
    variables = {
        "PMO_LLM_BASE_URL": vllm.base_url,
        "PMO_LLM_MODEL": MODEL,
        "PMO_LLM_API_KEY": KEY,
        "PMO_LLM_REASKS": "0",
        "PMO_CAPTION_THRESHOLD": "1",
        "PMO_DATA_ROOT": str(tmp_path),
    }
    command = [
        sys.executable,
        "-c",
        "from pmo_assets.cli.main import main; main()",
        "captions",
        "split",
        "--json",
        CAPTION,
    ]
    done = subprocess.run(
        command, env={**os.environ, **variables}, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert facts["method"] == "language model" or "the language model gave no answer" in facts["reasons"][0]
    assert list((tmp_path / "answers").rglob("*.json"))


OFFLINE = """
import json, sys
from concurrent.futures import ThreadPoolExecutor
from pmo_assets.records.chat import ChatRequest, Message, RefusedRequest, SamplingOptions
from pmo_assets.models.offline_chat import OfflineModel

if __name__ == "__main__":
    folder, schema = sys.argv[1], json.loads(sys.argv[2])
    model = OfflineModel(folder, {"load_format": "dummy", "enforce_eager": True, "max_model_len": 512})

    def ask(text):
        messages = (Message("system", "Answer as JSON."), Message("user", text))
        try:
            answer = model.answer(ChatRequest(messages, "Finding", schema, "", SamplingOptions(max_tokens=64)))
        except RefusedRequest as error:
            return {"refused": str(error)}
        return {"text": answer.text, "prompt": answer.prompt_tokens, "completion": answer.completion_tokens}

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(ask, ["first", "second", "drusen " * 2000, "fourth"]))
    print("ANSWERS" + json.dumps([model.name, answers]))
"""


def test_vllm_in_process_answers_several_threads_and_refuses_what_is_too_long(
    vllm_python: Path, tiny_model: Path, tmp_path: Path
) -> None:
    script = tmp_path / "offline.py"
    script.write_text(OFFLINE)
    done = subprocess.run(
        [vllm_python, script, tiny_model, json.dumps(Finding.model_json_schema())],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), "VLLM_CPU_KVCACHE_SPACE": "1", "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("ANSWERS")]
    assert lines, done.stderr[-3000:]
    name, answers = json.loads(lines[0].removeprefix("ANSWERS"))
    assert name == MODEL
    assert "refused" in answers[2]
    for answer in (answers[0], answers[1], answers[3]):
        Finding.model_validate_json(answer["text"])
        assert answer["prompt"] > 0
        assert 0 < answer["completion"] <= 64
