"""Which texts are right for which pictures, by the pairs of a release.

A text is right for a picture if a pair says so of the picture, or of one that looks the same (duplicate group), with
these words. So a caption that two panels share is right for both, and a panel's own caption that stands there twice is
no wrong answer. This is not carried on: the other texts of a panel that shares a caption stay wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.sparse import csr_array

from pmo_assets.encoders.evaluation.embedding_files import EmbeddingTable, Level
from pmo_assets.encoders.evaluation.embeddings import EmbeddingsError
from pmo_assets.encoders.evaluation.ranks import RightAnswers
from pmo_assets.records.pairs import source_name
from pmo_assets.storage.foreign_parquet import ForeignParquet

PICTURE_ID: Final[dict[Level, str]] = {
    "figure": "figure_id", "panel": "panel_id", "region": "region_id", "video": "pair_id",
}  # fmt: skip
"""The column of pairs that names the picture, by level."""

_BATCH_ROWS: Final = 10_000


@dataclass(frozen=True, slots=True)
class Pair:
    """A picture and a text that belong together.

    Attributes:
        image_id: of the picture.
        text_id: of the text.
        text: words; equal words are equal answers.
        source: article or lecture; the cluster of the bootstrap.
        looks: what all pictures share that look the same; the picture's id if none does.
    """

    image_id: str
    text_id: str
    text: str
    source: str
    looks: str


@dataclass(frozen=True)
class PairedEmbeddings:
    """Embeddings that stand in pairs, and which of them belong together.

    Attributes:
        images, texts: that are compared.
        right: answers.
        image_articles, text_articles: (n,), (m,) article or lecture of each row, as a number.
        left_out: what was not compared, in words.
    """

    images: EmbeddingTable
    texts: EmbeddingTable
    right: RightAnswers
    image_articles: NDArray[np.intp]
    text_articles: NDArray[np.intp]
    left_out: tuple[str, ...]


def paired(images: EmbeddingTable, texts: EmbeddingTable, pairs: Sequence[Pair]) -> PairedEmbeddings:
    """Return the embeddings of pictures and texts that stand in pairs, with their right answers.

    Raises:
        EmbeddingsError: if no pair has both.
    """
    image_of, text_of = ({pair.image_id: pair for pair in pairs}, {pair.text_id: pair for pair in pairs})
    image_rows = [row for row, name in enumerate(images.ids) if name in image_of]
    text_rows = [row for row, name in enumerate(texts.ids) if name in text_of]
    if not image_rows or not text_rows:
        raise EmbeddingsError(
            f"{images.embeddings.name} and {texts.embeddings.name} have no picture or no text of the pairs: ids are "
            "figure_id, panel_id or region_id of a picture, pair_id of a text and of a lecture's picture"
        )
    pictures, words = images.chosen(image_rows), texts.chosen(text_rows)
    sources = _numbers(pair.source for pair in pairs)
    looks = _numbers([image_of[name].looks for name in pictures.ids])
    wordings = _numbers([_wording(text_of[name].text) for name in words.ids])
    related = {
        (looks[pair.looks], wordings[_wording(pair.text)])
        for pair in pairs
        if pair.looks in looks and _wording(pair.text) in wordings
    }
    if not related:
        raise EmbeddingsError("no pair has an embedding of its picture and one of its text")
    rows, columns = (np.array(side) for side in zip(*sorted(related), strict=True))
    right = RightAnswers(
        np.array([looks[image_of[name].looks] for name in pictures.ids]),
        np.array([wordings[_wording(text_of[name].text)] for name in words.ids]),
        csr_array((np.ones(len(rows), bool), (rows, columns)), shape=(len(looks), len(wordings))),
    )
    return PairedEmbeddings(
        pictures,
        words,
        right,
        np.array([sources[image_of[name].source] for name in pictures.ids]),
        np.array([sources[text_of[name].source] for name in words.ids]),
        tuple(_left_out(images, texts, pictures, words, image_of, text_of)),
    )


def _left_out(
    images: EmbeddingTable,
    texts: EmbeddingTable,
    pictures: EmbeddingTable,
    words: EmbeddingTable,
    image_of: dict[str, Pair],
    text_of: dict[str, Pair],
) -> Iterator[str]:
    for all_, kept, wanted, name in (
        (images, pictures, image_of, "pictures"),
        (texts, words, text_of, "texts"),
    ):
        if len(all_.ids) > len(kept.ids):
            yield f"{len(all_.ids) - len(kept.ids):,} {name} stand in no pair and were left out"
        if len(wanted) > len(kept.ids):
            yield f"{len(wanted) - len(kept.ids):,} {name} of the pairs have no embedding"


def _numbers(names: Iterable[str]) -> dict[str, int]:
    return {name: number for number, name in enumerate(dict.fromkeys(names))}


def _wording(text: str) -> str:
    return " ".join(text.split())


def read_pairs(
    place: Path, level: Level, *, split: str | None = None, text_kinds: Sequence[str] | None = None
) -> tuple[Pair, ...]:
    """Return the pairs of a level.

    Args:
        place: a Parquet file of pairs, or a release: its hub's folder (`data/pairs`) also says which panels
            (`data/panels`) and pictures of lectures (`data/videos`) look the same.
        level: of the pairs.
        split: train, validation or test; all if None.
        text_kinds: kinds of texts, e.g. subcaption; all if None.

    Raises:
        EmbeddingsError: if there are no such pairs, or columns are missing.
        StorageError: if a file asks for more than the limits of foreign Parquet.
    """
    looks: dict[str, str] = {}
    files = [place]
    if place.is_dir():
        folder = next((place / part for part in (".", "hub", "release/hub") if (place / part / "data").is_dir()), place)
        files = sorted((folder / "data" / "pairs").glob(f"{split or '*'}-*.parquet"))
        if not files:
            raise EmbeddingsError(f"{place} is no release with pairs (data/pairs, split {split or 'any'})")
        named, group = ("pair_id", "picture_group") if level == "video" else ("panel_id", "duplicate_group")
        for file in sorted((folder / "data" / ("videos" if level == "video" else "panels")).glob("*.parquet")):
            looks |= {row[named]: row[group] for row in _rows(file, [named, group]) if row[group]}
    column = PICTURE_ID[level]
    found = []
    for file in files:
        for row in _rows(
            file, ["pair_id", "level", "text_kind", "text", "article_id", column], optional=["split", "video_id"]
        ):
            if row["level"] != level or (text_kinds and row["text_kind"] not in text_kinds):
                continue
            if split is not None and row.get("split", split) != split:
                continue
            name = str(row[column])
            source = source_name(row["article_id"], row.get("video_id"))
            found.append(Pair(name, row["pair_id"], row["text"], source, looks.get(name, name)))
    if not found:
        raise EmbeddingsError(f"{place} has no pairs of level {level!r}" + (f" in split {split!r}" if split else ""))
    return tuple(found)


def _rows(path: Path, columns: Sequence[str], optional: Sequence[str] = ()) -> Iterator[dict[str, Any]]:
    try:
        with ForeignParquet(path) as file:
            missing = set(columns) - set(file.schema_arrow.names)
            if missing:
                raise EmbeddingsError(f"{path} has no column {', '.join(sorted(missing))}")
            chosen = [*columns, *(name for name in optional if name in file.schema_arrow.names)]
            for batch in file.iter_batches(_BATCH_ROWS, columns=chosen):
                yield from batch.to_pylist()
    except pa.ArrowInvalid as error:
        raise EmbeddingsError(f"{path} is no whole Parquet file: {error}") from error
