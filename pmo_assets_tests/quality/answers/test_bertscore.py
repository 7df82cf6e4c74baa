"""BERTScore with the encoder that the extra brings."""

from __future__ import annotations

from pathlib import Path

import pytest

from pmo_assets.quality.answers.bertscore import EMBEDDED, bertscores, token_encoder
from pmo_assets.records.stores import SystemicError


def test_the_label_scores_1_and_like_words_more_than_unlike_ones() -> None:
    pytest.importorskip("transformers")
    pytest.importorskip("torch")
    pytest.importorskip("all_minilm_l6_v2")
    with token_encoder(EMBEDDED) as encoder:
        same, like, unlike, nothing = bertscores(
            ["Subretinal fluid.", "fluid under the retina", "yes", ""], ["Subretinal fluid."] * 4, encoder
        )
        (turned,) = bertscores(["Subretinal fluid."], ["fluid under the retina"], encoder)
    assert same == pytest.approx(1)
    assert 1 > like > unlike > 0
    assert turned == pytest.approx(like)
    assert nothing == 0


def test_a_folder_without_an_encoder_is_named(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    pytest.importorskip("torch")
    with pytest.raises(SystemicError, match="holds no encoder"), token_encoder(str(tmp_path)):
        pass
