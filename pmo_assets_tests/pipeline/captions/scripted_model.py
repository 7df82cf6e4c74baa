"""A language model in a function: answers what a test wants said, and remembers what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pmo_assets.records.chat import ChatAnswer, ChatRequest

CAPTION = (
    "Multimodal imaging of the right eye. (A) Colour fundus photograph, showing drusen; (B) OCT of the macula. "
    "Scale bar: 200 µm."
)
IDENTIFIERS = {"identifiers": ["A", "B"]}
SUBCAPTIONS = {
    "subcaptions": [
        {
            "identifier": "A",
            "subcaption": "Multimodal imaging of the right eye. Colour fundus photograph, showing drusen. "
            "Scale bar: 200 µm.",
        },
        {"identifier": "B", "subcaption": "Multimodal imaging of the right eye. OCT of the macula. Scale bar: 200 µm."},
    ]
}


@dataclass
class ScriptedModel:
    """Gives the answers in order: JSON values, text, or errors to raise; afterwards those of a function."""

    script: list[Any]
    name: str = "scripted"
    requests: list[ChatRequest] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    otherwise: Callable[[ChatRequest], Any] | None = None

    def answer(self, request: ChatRequest) -> ChatAnswer:
        with self.lock:
            self.requests.append(request)
            said = self.script.pop(0) if self.script else self.otherwise and self.otherwise(request)
        if isinstance(said, Exception):
            raise said
        text = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
        return ChatAnswer(text, prompt_tokens=100, completion_tokens=10, seconds=0.5)
