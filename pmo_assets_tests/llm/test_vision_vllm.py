"""The real client, prompts and schemas for figures against a real vLLM engine that takes pictures, with random weights.

Random weights say nothing about figures: that pictures reach the network, that structure is enforced for every kind of
figure, and that what does not fit leaves panels open is what is tested.
"""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import BaseModel, SecretStr, ValidationError

from pmo_assets.models.chat import ChatEndpoint, KeptAnswers
from pmo_assets.pictures import png_bytes
from pmo_assets.pipeline.assembly.vision.answers import ANSWERS
from pmo_assets.pipeline.assembly.vision.figure_types import FIGURE_TYPES, FigureType
from pmo_assets.pipeline.assembly.vision.look import TASK_OF, TASKS, FigureReader
from pmo_assets.pipeline.assembly.vision.question import question_json
from pmo_assets.pipeline.assembly.vision.steps import refine_assembly
from pmo_assets.pipeline.prompting.prompts import load_prompt
from pmo_assets.records.chat import ChatPicture, ChatRequest, Message, SamplingOptions
from pmo_assets.storage.data_root import DataRoot
from pmo_assets_tests.llm.conftest import KEY, REPOSITORY, VISION_MODEL, Vllm
from pmo_assets_tests.pipeline.assembly.vision.figures import (
    BOTTOM_LEFT,
    TOP_LEFT,
    TOP_RIGHT,
    Figure,
    panel,
    pixel_store,
)

pytestmark = pytest.mark.llm

NAMES: dict[FigureType, list[str]] = {
    "alphanumeric": ["A", "B", "C"],
    "positional": ["top row", "bottom row"],
    "mixed": ["A", "bottom row"],
}

SCHEMA = {
    "type": "object",
    "properties": {
        "bbox_2d": {
            "type": "array",
            "items": {"type": "integer", "minimum": 0, "maximum": 1000},
            "minItems": 4,
            "maxItems": 4,
        }
    },
    "required": ["bbox_2d"],
    "additionalProperties": False,
}


def picture(shade: int, size: tuple[int, int] = (90, 120)) -> ChatPicture:
    pixels = np.full((*size, 3), shade, dtype=np.uint8)
    pixels[::3, :, 1] = 255 - shade
    return ChatPicture(png_bytes(pixels))


def endpoint(vllm: Vllm) -> ChatEndpoint:
    return ChatEndpoint(vllm.base_url, VISION_MODEL, SecretStr(KEY), timeout=300, retries=1, backoff=0.1)


def where(*pictures: ChatPicture) -> ChatRequest:
    messages = (Message("system", "Answer as JSON."), Message("user", "Where is the label?", pictures))
    return ChatRequest(messages, "Where", SCHEMA, "", SamplingOptions(max_tokens=64))


def problems(response: type[BaseModel], text: str) -> set[str]:
    """Return the kinds of errors that an answer has."""
    try:
        response.model_validate_json(text)
    except ValidationError as error:
        return {item["type"] for item in error.errors()}
    return set()


def figure_of(kind: FigureType) -> Figure:
    panels = [panel(0, TOP_LEFT, NAMES[kind][0], 0.97), panel(1, TOP_RIGHT), panel(2, BOTTOM_LEFT)]
    return Figure(NAMES[kind], panels)


def test_a_picture_takes_its_tokens_and_larger_ones_more(vision_vllm: Vllm) -> None:
    client = endpoint(vision_vllm)
    words = client.answer(where()).prompt_tokens
    one = client.answer(where(picture(40))).prompt_tokens
    two = client.answer(where(picture(40), picture(200))).prompt_tokens
    long = client.answer(where(picture(40, (60, 400)))).prompt_tokens
    assert one - words >= 16, "the network's tokens of a picture"
    assert two - one >= 16
    assert long != one, "the shape of the picture decides into how many pieces it is cut"


def test_what_a_picture_shows_changes_the_answer(vision_vllm: Vllm) -> None:
    client = endpoint(vision_vllm)
    said = [client.answer(where(picture(shade))).text for shade in (0, 60, 120, 180, 255)]
    assert len(set(said)) > 1, "the pixels reach the network"
    assert client.answer(where(picture(60))).text == said[1], "the same pixels, the same answer"
    for text in said:
        box = json.loads(text)["bbox_2d"]
        assert len(box) == 4
        assert all(0 <= value <= 1000 for value in box)


@pytest.mark.parametrize("kind", FIGURE_TYPES)
def test_the_engine_takes_the_schema_of_every_kind_of_figure(vision_vllm: Vllm, kind: FigureType) -> None:
    question = figure_of(kind).question()
    assert question.type == kind
    response = ANSWERS[kind]
    prompt = load_prompt(TASK_OF[kind])
    given = question_json(question, "json")
    request = prompt.request(given, response.model_json_schema(), "off", (), 700, [picture(90)])
    answer = endpoint(vision_vllm).answer(request)
    assert answer.prompt_tokens > 1000, "prompt, examples, question and picture"
    first = next(iter(response.model_fields))
    assert "".join(answer.text.split()).startswith(f'{{"{first}":[')
    assert problems(response, answer.text) <= {"json_invalid"}, "cut off after so many tokens, and nothing else"


@pytest.mark.parametrize("boxes", ["json", "drawn"])
def test_a_figure_comes_back_with_all_its_panels_and_a_second_time_for_nothing(
    vision_vllm: Vllm, tmp_path: Path, boxes: Any
) -> None:
    figure = figure_of("alphanumeric")
    model = KeptAnswers(endpoint(vision_vllm), DataRoot(str(tmp_path)))
    # random words fill an answer to its bound
    prompts = {task: replace(load_prompt(task), max_tokens=400) for task in TASKS}
    reader = FigureReader(model, prompts, reasks=1, boxes=boxes, max_pixels=50_000)
    output, counts = refine_assembly(figure.tables, figure.panels, reader, pixel_store())
    assert len(output.rows) == 3
    assert output.rows[0] == figure.panels[0]
    assert counts.figures == 1
    assert sum(counts.outcomes.values()) == 2, "every undecided panel came to something"
    assert counts.usage.requests >= 2
    assert counts.usage.completion_tokens > 0
    again, costs = refine_assembly(figure.tables, figure.panels, reader, pixel_store())
    assert again.rows == output.rows
    assert (costs.usage.requests, costs.usage.cache_hits) == (0, counts.usage.requests)


OFFLINE = """
import json, sys
from concurrent.futures import ThreadPoolExecutor
from pmo_assets.records.chat import ChatPicture, ChatRequest, Message, SamplingOptions
from pmo_assets.models.offline_chat import OfflineModel

if __name__ == "__main__":
    folder, schema, files = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3:]
    model = OfflineModel(folder, {"enforce_eager": True, "max_model_len": 2048})

    def ask(file):
        shown = (ChatPicture(open(file, "rb").read()),) if file else ()
        messages = (Message("system", "Answer as JSON."), Message("user", "Where is the label?", shown))
        answer = model.answer(ChatRequest(messages, "Where", schema, "", SamplingOptions(max_tokens=64)))
        return {"text": answer.text, "prompt": answer.prompt_tokens}

    with ThreadPoolExecutor(4) as pool:
        print("ANSWERS" + json.dumps(list(pool.map(ask, ["", *files]))))
"""


def test_vllm_in_process_takes_pictures(vllm_python: Path, tiny_vision_model: Path, tmp_path: Path) -> None:
    script = tmp_path / "offline.py"
    script.write_text(OFFLINE)
    files = []
    for shade in (0, 90, 255):
        files.append(tmp_path / f"{shade}.png")
        files[-1].write_bytes(picture(shade).png)
    done = subprocess.run(
        [vllm_python, script, tiny_vision_model, json.dumps(SCHEMA), *files],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), "VLLM_CPU_KVCACHE_SPACE": "1", "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("ANSWERS")]
    assert lines, done.stderr[-3000:]
    answers = json.loads(lines[0].removeprefix("ANSWERS"))
    assert all(answer["prompt"] >= answers[0]["prompt"] + 16 for answer in answers[1:])
    assert len({answer["text"] for answer in answers[1:]}) > 1
    assert all(len(json.loads(answer["text"])["bbox_2d"]) == 4 for answer in answers)
