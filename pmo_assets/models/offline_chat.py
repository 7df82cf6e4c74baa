"""vLLM in process: a model without a server, for one machine with a GPU (`PMO_LLM_OFFLINE`, `PMO_VLM_OFFLINE`).

vLLM is imported when the first question is asked; this module itself needs nothing beyond the standard library.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from pmo_assets.records.chat import (
    ChatAnswer,
    ChatRequest,
    ChatUnavailable,
    RefusedRequest,
    message_json,
    without_reasoning,
)

_ENGINE_OPTIONS: Final[Mapping[str, Any]] = {
    # A small model likes to fill an answer with white space, which JSON allows without end.
    "structured_outputs_config": {"backend": "xgrammar", "disable_any_whitespace": True},
}


@dataclass
class OfflineModel:
    """A model that vLLM runs in this process.

    The engine is not made for threads but answers many conversations at once: whoever gets hold of it takes along all
    requests that have gathered meanwhile.

    Attributes:
        model: name or folder of the weights.
        engine_options: keyword arguments of `vllm.LLM`, e.g. {"max_model_len": 8192}.
        options: prefix of its settings' names, for messages.
    """

    model: str
    engine_options: Mapping[str, Any] = field(default_factory=dict)
    options: str = "PMO_LLM"
    _engine: Any = field(default=None, init=False, repr=False)
    _turn: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)
    _waiting: queue.SimpleQueue[tuple[ChatRequest, Future[ChatAnswer]]] = field(
        default_factory=queue.SimpleQueue, init=False, repr=False
    )

    @property
    def name(self) -> str:
        """The model's name; of a folder, its last part, so that rows carry no path of this machine."""
        return Path(self.model).name if Path(self.model).is_dir() else self.model

    def answer(self, request: ChatRequest) -> ChatAnswer:
        """Return the model's answer; see `ChatModel`."""
        mine: Future[ChatAnswer] = Future()
        self._waiting.put((request, mine))
        with self._turn:
            if not mine.done():
                self._answer_waiting()
        return mine.result()

    def _answer_waiting(self) -> None:
        batch: list[tuple[ChatRequest, Future[ChatAnswer]]] = []
        while not self._waiting.empty():
            batch.append(self._waiting.get())
        try:
            self._start()
            # one call takes one setting of the chat template
            for thinking in sorted({request.options.thinking for request, _ in batch}):
                self._answer_together([item for item in batch if item[0].options.thinking == thinking])
        except Exception as error:
            failure = error if isinstance(error, ChatUnavailable) else ChatUnavailable(f"vLLM failed: {error}")
            for _, future in batch:
                if not future.done():
                    future.set_exception(failure)

    def _start(self) -> None:
        if self._engine is not None:
            return
        try:
            import vllm
        except ImportError as error:
            raise ChatUnavailable(
                f"vLLM cannot be imported ({error}): pip install 'pmo-assets[llm]', or unset {self.options}_OFFLINE to "
                "use an endpoint"
            ) from error
        try:
            self._engine = vllm.LLM(model=self.model, **{**_ENGINE_OPTIONS, **self.engine_options})
        except Exception as error:
            raise ChatUnavailable(
                f"vLLM cannot load {self.name}: {error} ({self.options}_MODEL, {self.options}_ENGINE_OPTIONS)"
            ) from error

    def _answer_together(self, batch: Sequence[tuple[ChatRequest, Future[ChatAnswer]]]) -> None:
        start = time.perf_counter()
        try:
            outputs = self._outputs([request for request, _ in batch])
        except Exception as error:
            if not _is_the_requests_fault(error):
                raise
            # a conversation longer than the context fails the whole call: alone, the others are answered
            if len(batch) == 1:
                batch[0][1].set_exception(RefusedRequest(str(error)))
                return
            for item in batch:
                self._answer_together([item])
            return
        seconds = (time.perf_counter() - start) / len(batch)
        for (_, future), output in zip(batch, outputs, strict=True):
            completion = output.outputs[0]
            future.set_result(
                ChatAnswer(
                    text=without_reasoning(completion.text),
                    prompt_tokens=len(output.prompt_token_ids or ()),
                    completion_tokens=len(completion.token_ids),
                    seconds=seconds,
                )
            )

    def _outputs(self, requests: Sequence[ChatRequest]) -> Sequence[Any]:
        from vllm import SamplingParams
        from vllm.sampling_params import StructuredOutputsParams

        sampling = [
            SamplingParams(
                temperature=request.options.temperature,
                max_tokens=request.options.max_tokens,
                seed=request.options.seed,
                structured_outputs=(
                    None if request.schema is None else StructuredOutputsParams(json=dict(request.schema))
                ),
            )
            for request in requests
        ]
        conversations = [[message_json(message) for message in request.messages] for request in requests]
        thinking = requests[0].options.thinking
        template = None if thinking == "default" else {"enable_thinking": thinking == "on"}
        outputs: Sequence[Any] = self._engine.chat(
            conversations, sampling, use_tqdm=False, chat_template_kwargs=template
        )
        return outputs


def _is_the_requests_fault(error: Exception) -> bool:
    """Say whether vLLM blames the request: ValueError in older versions, VLLMClientError since."""
    return isinstance(error, ValueError) or any(kind.__name__ == "VLLMClientError" for kind in type(error).__mro__)
