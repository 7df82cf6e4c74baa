"""Ask whether a sentence encoder tells what a sentence beside a mention is to a panel, where features do not.

    .venv-models/bin/python benchmarks/compare_passage_encoder.py [--shared ../shared] [--xmls FOLDER]

Takes the labelled sentences of `fit_passages.py` and prints its curve by features alone, with similarities of
all-MiniLM-L6-v2's embeddings beside them (`SIMILARITIES`), and with the embedding's first principal components, too;
each with articles left out of the fit tenth by tenth. Needs the extra `encoders`.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from fit_passages import Place, all_places, report, sentence_at
from numpy.typing import NDArray
from transformers import AutoModel, AutoTokenizer

from pmo_assets.encoders.networks.building import minilm_folder
from pmo_assets.pipeline.context.passages import FEATURES, REACH

SIMILARITIES: Final = (
    "like the subcaption",
    "like the caption",
    "like the mention",
    "like another caption",
    "liker the own caption than another",
    "liker the subcaption than another panel's",
    "like the sentence on the mention's side",
    "like the sentence on the other side",
    "least alike on the way to the mention",
    "liker a mention than another figure's",
    "like the title",
    "the mention is like the subcaption",
)
"""Cosines of embeddings and their differences, all times `SCALE`; 0 where there is nothing to compare with."""

COMPONENTS: Final = 32
SCALE: Final = 4.0
"""So that they vary about as much as other features, and are shrunk as much."""

BATCH: Final = 64
LONGEST: Final = 128
"""Tokens of a text: what MiniLM was trained on."""

Embeddings = Mapping[str, NDArray[np.float32]]


def texts_of(place: Place) -> set[str]:
    """Return the texts that the similarities of a labelled sentence compare."""
    near = range(max(0, place.mention - REACH - 1), min(len(place.text.sentences), place.mention + REACH + 2))
    words = place.panel.words
    texts = {place.text.sentences[n].text for n in near}
    return texts | {words.subcaption, *words.others, place.caption, *place.other_captions, place.title}


def embedded(texts: Sequence[str]) -> dict[str, NDArray[np.float32]]:
    """Return the embedding of each text, of length 1."""
    with minilm_folder() as folder:
        tokenizer: Any = AutoTokenizer.from_pretrained(str(folder))
        model: Any = AutoModel.from_pretrained(str(folder)).eval()
    found: dict[str, NDArray[np.float32]] = {}
    ordered = sorted(texts, key=len)
    with torch.inference_mode():
        for start in range(0, len(ordered), BATCH):
            batch = ordered[start : start + BATCH]
            tokens = tokenizer(batch, padding=True, truncation=True, max_length=LONGEST, return_tensors="pt")
            mask = tokens["attention_mask"][..., None]
            states = (model(**tokens).last_hidden_state * mask).sum(1) / mask.sum(1)
            vectors = torch.nn.functional.normalize(states, dim=1).numpy().astype(np.float32)
            found.update(zip(batch, vectors, strict=True))
    return found


def similarities(place: Place, vectors: Embeddings) -> dict[str, float]:
    """Return the `SIMILARITIES` of a labelled sentence."""
    sentences, n, k = place.text.sentences, place.mention, place.position
    step, words = (1 if k > n else -1), place.panel.words
    own = vectors[sentences[k].text]

    def like(text: str, other: NDArray[np.float32] = own) -> float:
        return float(other @ vectors[text]) if text else 0.0

    others = [like(text) for text in place.other_captions if text]
    siblings = [like(text) for text in words.others if text]
    near = range(max(0, n - REACH - 1), min(len(sentences), n + REACH + 2))
    named = [sentences[j] for j in near if sentences[j].names_figure]
    theirs = [like(item.text) for item in named if (item.paragraph, item.start) not in place.spoken_of]
    mentions = [like(item.text) for item in named if (item.paragraph, item.start) in place.spoken_of]
    beyond = k + step
    is_beyond = 0 <= beyond < len(sentences) and sentences[beyond].paragraph == sentences[k].paragraph
    way = [vectors[sentences[j].text] for j in range(n, k + step, step)]
    values = (
        like(words.subcaption),
        like(place.caption),
        like(sentences[n].text),
        max(others, default=0.0),
        max(like(words.subcaption), like(place.caption)) - max(others) if others else 0.0,
        like(words.subcaption) - max(siblings) if siblings else 0.0,
        like(sentences[k - step].text),
        like(sentences[beyond].text) if is_beyond else 0.0,
        min(float(one @ two) for one, two in itertools.pairwise(way)),
        max(mentions, default=like(sentences[n].text)) - max(theirs) if theirs else 0.0,
        like(place.title),
        like(words.subcaption, vectors[sentences[n].text]),
    )
    return {name: SCALE * value for name, value in zip(SIMILARITIES, values, strict=True)}


def main() -> None:
    """Embed, fit and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=Path(__file__).resolve().parents[2] / "shared")
    parser.add_argument("--xmls", type=Path)
    arguments = parser.parse_args()
    places = all_places(arguments.shared, arguments.xmls)
    vectors = embedded(sorted({text for place in places for text in texts_of(place) if text}))
    print("features alone")
    report([sentence_at(place) for place in places])
    print("with similarities")
    alike = [similarities(place, vectors) for place in places]
    names = (*FEATURES, *SIMILARITIES)
    report([sentence_at(place, own) for place, own in zip(places, alike, strict=True)], names)
    print("with similarities and principal components")
    table = np.array([vectors[place.text.sentences[place.position].text] for place in places])
    table -= table.mean(axis=0)
    _, _, axes = np.linalg.svd(table, full_matrices=False)
    components = table @ axes[:COMPONENTS].T
    components /= SCALE * components.std(axis=0)
    labels = [f"component {n}" for n in range(COMPONENTS)]
    named = [dict(zip(labels, row, strict=True)) for row in components.tolist()]
    further = [{**own, **more} for own, more in zip(alike, named, strict=True)]
    report([sentence_at(place, own) for place, own in zip(places, further, strict=True)], (*names, *labels))


if __name__ == "__main__":
    main()
