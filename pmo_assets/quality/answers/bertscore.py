"""BERTScore (Zhang et al. 2020, ICLR) with an encoder that lies on this machine; nothing is fetched.

F1 of greedy matches of the last layer's vectors, without weights by rarity and without rescaling. Numbers of different
encoders do not compare. PyTorch and transformers (extra `encoders`) are imported when it runs.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pmo_assets.records.stores import SystemicError

EMBEDDED: Final = "minilm"
"""Stands for all-MiniLM-L6-v2, whose weights the extra `encoders` brings."""

LONGEST: Final = 256
"""Tokens of a text that are compared."""

_AT_ONCE: Final = 64


@dataclass(frozen=True)
class TokenEncoder:
    """An encoder of words with its tokenizer, from `token_encoder`."""

    name: str
    _tokenizer: Any
    _model: Any

    def vectors(self, texts: Sequence[str]) -> Iterator[NDArray[np.float32]]:
        """Yield the vectors of each text's tokens, (tokens, width) of norm 1; no rows for an empty text."""
        import torch

        for first in range(0, len(texts), _AT_ONCE):
            part = list(texts[first : first + _AT_ONCE])
            read = self._tokenizer(
                part, padding=True, truncation=True, max_length=LONGEST, return_tensors="pt",
                return_special_tokens_mask=True,
            )  # fmt: skip
            special = read.pop("special_tokens_mask")
            with torch.inference_mode():
                hidden = self._model(**read).last_hidden_state
            hidden = torch.nn.functional.normalize(hidden.float(), dim=-1)
            for own, mask, left_out in zip(hidden, read["attention_mask"], special, strict=True):
                yield own[(mask == 1) & (left_out == 0)].numpy()


@contextlib.contextmanager
def token_encoder(place: str) -> Iterator[TokenEncoder]:
    """Give the encoder of a folder in the form of transformers, or `EMBEDDED`.

    Raises:
        SystemicError: if the extra is not installed, or the folder holds no encoder.
        EncoderError: if the embedded weights are not installed.
    """
    try:
        from transformers import AutoModel, AutoTokenizer

        from pmo_assets.encoders.networks.building import minilm_folder  # imports PyTorch
    except ImportError as error:
        advice = "pip install 'pmo-assets[encoders]'"
        raise SystemicError(f"BERTScore needs PyTorch and transformers ({error}): {advice}") from error
    with minilm_folder() if place == EMBEDDED else contextlib.nullcontext(Path(place)) as folder:
        if not (folder / "config.json").is_file():
            raise SystemicError(f"{folder} holds no encoder: name a folder with config.json, tokenizer and weights")
        try:
            tokenizer = AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
            model = AutoModel.from_pretrained(str(folder), local_files_only=True).eval()
        except (OSError, ValueError) as error:
            raise SystemicError(f"the encoder in {folder} cannot be loaded: {error}") from error
    yield TokenEncoder("all-MiniLM-L6-v2" if place == EMBEDDED else Path(place).name, tokenizer, model)


def bertscores(answers: Sequence[str], labels: Sequence[str], encoder: TokenEncoder) -> list[float]:
    """Return the F1 of each answer against its label, at most 1; 0 where one of both has no words."""
    texts = list(dict.fromkeys([*answers, *labels]))
    known = dict(zip(texts, encoder.vectors(texts), strict=True))
    return [_f1(known[answer], known[label]) for answer, label in zip(answers, labels, strict=True)]


def _f1(answer: NDArray[np.float32], label: NDArray[np.float32]) -> float:
    if not len(answer) or not len(label):
        return 0.0
    alike = answer @ label.T
    precision, recall = float(alike.max(axis=1).mean()), float(alike.max(axis=0).mean())
    total = precision + recall
    return min(1.0, max(0.0, 2 * precision * recall / total)) if total > 0 else 0.0
