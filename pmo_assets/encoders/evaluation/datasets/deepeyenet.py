"""DeepEyeNet: retinal pictures with keywords and clinical descriptions (Huang et al. 2021).

Layout: `DeepEyeNet_train.json`, `DeepEyeNet_valid.json`, `DeepEyeNet_test.json`, each a list of
`{"eyenet0420/test_set/….jpg": {"keywords": "…", "clinical-description": "…"}}`, and the pictures by these paths.
"""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal

from pmo_assets.encoders.evaluation.datasets.examples import (
    DataMissing,
    DataSet,
    Example,
    picture_below,
    read_picture,
)
from pmo_assets.encoders.evaluation.embeddings import EmbeddingsError

WHERE: Final = (
    "it is sent on request under terms of use: https://github.com/Jhhuangkay/DeepOpht-Medical-Report-Generation-for-"
    "Retinal-Images-via-Deep-Models-and-Visual-Explanation"
)

Text = Literal["clinical-description", "keywords", "both"]

_MOST_LIST: Final = 200 * 2**20


def read_deepeyenet(root: Path, split: str = "test", text: Text = "clinical-description") -> DataSet:
    """Return pictures with the expert's description, or the keywords.

    Args:
        root: folder of the data set.
        split: train, valid or test.
        text: what is taken as the text; both are put together in this order: keywords, description.

    Raises:
        DataMissing: if it is not there; says where it is to be had.
        EmbeddingsError: if the list is damaged.
    """
    names = [f"DeepEyeNet_{split}.json", *(["DeepEyeNet_val.json"] if split == "valid" else [])]
    listed = next((root / name for name in names if (root / name).is_file()), None)
    if listed is None:
        raise DataMissing(f"DeepEyeNet is not in {root} ({names[0]}, eyenet0420/…): {WHERE}")
    examples, no_picture, no_text = [], 0, 0
    for name, facts in _entries(listed):
        words = _words(facts, text)
        picture = picture_below(root, name) or picture_below(root, name.partition("/")[2] or name)
        if picture is None:
            no_picture += 1
        elif not words:
            no_text += 1
        else:
            examples.append(Example(name, partial(read_picture, picture), (words,), group=name))
    left_out = tuple(
        f"{count:,} {what}" for count, what in ((no_picture, "without a picture"), (no_text, "without a text")) if count
    )
    return DataSet(f"DeepEyeNet {split}", tuple(examples), left_out=left_out)


def _entries(path: Path) -> list[tuple[str, dict[str, Any]]]:
    if path.stat().st_size > _MOST_LIST:
        raise EmbeddingsError(f"{path} is larger than any list of DeepEyeNet")
    try:
        read = json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise EmbeddingsError(f"{path} is no JSON: {error}") from error
    rows = read if isinstance(read, list) else [read]
    if not all(isinstance(row, dict) and all(isinstance(facts, dict) for facts in row.values()) for row in rows):
        raise EmbeddingsError(f"{path} is no list of {{picture: {{keywords, clinical-description}}}}")
    return [(name, facts) for row in rows for name, facts in row.items()]


def _words(facts: dict[str, Any], text: Text) -> str:
    names = ("keywords", "clinical-description") if text == "both" else (text,)
    return ". ".join(found for name in names if (found := " ".join(str(facts.get(name) or "").split()).rstrip(".")))
