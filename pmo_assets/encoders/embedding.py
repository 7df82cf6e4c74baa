"""Embeddings of a release by an encoder, in the form that `pmo encode evaluate` reads."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Final

import numpy as np
import PIL.Image
import pyarrow as pa
import pyarrow.parquet as pq
import torch
from numpy.typing import NDArray
from torch import Tensor

from pmo_assets.encoders.encoder_mark import ENCODER_KEY, NAME_KEY, RELEASE_KEY
from pmo_assets.encoders.evaluation.embedding_files import read_embedding_table
from pmo_assets.encoders.evaluation.embeddings import EmbeddingsError
from pmo_assets.encoders.evaluation.evaluate import evaluate_retrieval
from pmo_assets.encoders.evaluation.pairs import paired, read_pairs
from pmo_assets.encoders.examples.example_sets import Examples
from pmo_assets.encoders.examples.reading import ReleasePicture
from pmo_assets.encoders.examples.units import ExamplesError, Unit, shown
from pmo_assets.encoders.networks.dual_encoder import DualEncoder
from pmo_assets.encoders.networks.folded import embedding_form
from pmo_assets.records.pairs import PAIR_LEVELS, PairLevel
from pmo_assets.system.aside import path_aside

AT_ONCE: Final = 32
"""Pictures or texts that are embedded together."""

Tell = Callable[[str, int, int], None]
"""Is told what is done, how many of how many."""


def embed_examples(
    encoder: DualEncoder, examples: Examples, out: Path, *, device: str = "cpu", tell: Tell = lambda *_: None
) -> dict[str, int]:
    """Write the embeddings of all units' pictures and texts, whole or not at all; return how many of each.

    Args:
        encoder: an encoder, as it is.
        examples: units of any levels.
        out: Parquet {id, kind, level, embedding}: the id of a picture is its unit's name, that of a text its pair_id.
        device: cpu or cuda.
        tell: is told of the progress.

    Raises:
        ExamplesError: if there is nothing to embed, or a picture is broken.
        OSError: if it cannot be written.
    """
    if not len(examples):
        raise ExamplesError("there are no pairs to embed")
    schema = pa.schema(
        [
            ("id", pa.string()),
            ("kind", pa.string()),
            ("level", pa.string()),
            ("embedding", pa.list_(pa.float32(), encoder.dimensions)),
        ],
        metadata={
            ENCODER_KEY: encoder_digest(encoder).encode(), NAME_KEY: encoder.name.encode(), **_release_mark(examples),
        },
    )  # fmt: skip
    counts = {"image": 0, "text": 0}
    with path_aside(out) as aside, pq.ParquetWriter(aside, schema, compression="zstd") as writer:
        for level, units in examples.units.items():
            for kind, names, rows in _blocks(encoder, units, device, level, tell):
                columns = [
                    pa.array(names, pa.string()),
                    pa.array([kind] * len(names), pa.string()),
                    pa.array([level] * len(names), pa.string()),
                    pa.FixedSizeListArray.from_arrays(pa.array(rows.reshape(-1)), encoder.dimensions),
                ]
                writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=schema))
                counts[kind] += len(names)
    return counts


def _release_mark(examples: Examples) -> dict[bytes, bytes]:
    """Return the mark of the release that all units are of; none where they are of several, or of tar shards."""
    digests = {
        unit.picture.release.digest if isinstance(unit.picture, ReleasePicture) else None
        for units in examples.units.values()
        for unit in units
    }
    digest = next(iter(digests)) if len(digests) == 1 else None
    return {} if digest is None else {RELEASE_KEY: digest.encode()}


def encoder_digest(encoder: DualEncoder) -> str:
    """Return what stands for an encoder's towers."""
    return f"{encoder.digest(encoder.image)}-{encoder.digest(encoder.text)}-{_heads(encoder)}"


def _heads(encoder: DualEncoder) -> str:
    found = hashlib.sha256()
    for tower in (encoder.image, encoder.text):
        for value in tower.head.state_dict().values():
            found.update(value.detach().cpu().contiguous().numpy().tobytes())
    return found.hexdigest()[:24]


def _blocks(
    encoder: DualEncoder, units: Sequence[Unit], device: str, level: PairLevel, tell: Tell
) -> Iterator[tuple[str, list[str], NDArray[np.float32]]]:
    places = range(0, len(units), AT_ONCE)
    for start, rows in zip(places, picture_rows(encoder, map(shown, units), device), strict=True):
        yield "image", [unit.name for unit in units[start : start + AT_ONCE]], rows
        tell(f"{level}: pictures", min(start + AT_ONCE, len(units)), len(units))
    count, done = sum(len(own) for unit in units for own in unit.texts.values()), 0
    texts = (item for unit in units for own in unit.texts.values() for item in own)
    while block := list(islice(texts, AT_ONCE)):
        (rows,) = text_rows(encoder, [text for _, text in block], device)
        yield "text", [name for name, _ in block], rows
        done += len(block)
        tell(f"{level}: texts", done, count)


def retrieval_in_test(embeddings: Path, release: Path) -> dict[str, float]:
    """Return recall@10 on the test articles of each level that has some, both directions, with its candidates."""
    numbers: dict[str, float] = {}
    for level in PAIR_LEVELS:
        try:
            task = paired(
                read_embedding_table(embeddings, "image", level),
                read_embedding_table(embeddings, "text", level),
                read_pairs(release, level, split="test"),
            )
        except EmbeddingsError:  # no pairs of this level
            continue
        found = evaluate_retrieval(task.images.embeddings, task.texts.embeddings, task.right)
        for name, side in zip(("image_to_text", "text_to_image"), found, strict=True):
            numbers[f"test_{level}_{name}_recall_at_10"] = side.recall_at_10
            numbers[f"test_{level}_{name}_candidates"] = float(side.candidates)
    return numbers


def picture_rows(
    encoder: DualEncoder, pictures: Iterable[PIL.Image.Image], device: str = "cpu"
) -> Iterator[NDArray[np.float32]]:
    """Yield the embeddings of PIL pictures in blocks (up to `AT_ONCE`, d); two blocks are in memory.

    The next block is read while one is embedded.
    """
    encoder.model.to(device)
    encoder.set_training(False)
    form = embedding_form(encoder)
    size = form.at_once or AT_ONCE
    rest = iter(pictures)
    with ThreadPoolExecutor(form.workers) as pool:
        before: list[Future[Tensor]] = []
        while block := list(islice(rest, AT_ONCE)):
            parts = [pool.submit(form.embed, block[start : start + size]) for start in range(0, len(block), size)]
            if before:
                yield _joined(before)
            before = parts
        if before:
            yield _joined(before)


def _joined(parts: Sequence[Future[Tensor]]) -> NDArray[np.float32]:
    return _rows(torch.cat([part.result() for part in parts]))


def text_rows(encoder: DualEncoder, texts: Iterable[str], device: str = "cpu") -> Iterator[NDArray[np.float32]]:
    """Yield the embeddings of texts in blocks (up to `AT_ONCE`, d); only a block is in memory."""
    encoder.model.to(device)
    encoder.set_training(False)
    rest = iter(texts)
    while block := list(islice(rest, AT_ONCE)):
        with torch.inference_mode():
            tokens = encoder.token_batch([encoder.tokens(text) for text in block])
            yield _rows(encoder.model.encode_text(tokens.to(device)))


def embed_pictures_and_texts(
    encoder: DualEncoder, pictures: Sequence[PIL.Image.Image], texts: Sequence[str]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return embeddings of PIL pictures (n, d) and of texts (m, d), each without the others in memory."""
    empty = np.zeros((0, encoder.dimensions), dtype=np.float32)
    images, words = picture_rows(encoder, pictures), text_rows(encoder, texts)
    return np.concatenate([empty, *images]), np.concatenate([empty, *words])


def write_vectors(
    rows: Iterable[NDArray[np.float32]], count: int, encoder: DualEncoder, out: Path, kind: str, tell: Tell
) -> None:
    """Write blocks of embeddings as a `.npy` of (count, d) float32, whole or not at all.

    Args:
        rows: of `picture_rows` or `text_rows`.
        count: of all rows.
        encoder: who made them.
        out: the file.
        kind: what they are of, for `tell`.
        tell: is told of the progress.

    Raises:
        OSError: if it cannot be written.
    """
    done = 0
    with path_aside(out) as aside:
        whole = np.lib.format.open_memmap(aside, "w+", np.float32, (count, encoder.dimensions))
        for block in rows:
            whole[done : done + len(block)] = block
            done += len(block)
            tell(kind, done, count)
        whole.flush()
        del whole


def _rows(found: Tensor) -> NDArray[np.float32]:
    return np.ascontiguousarray(found.float().cpu().numpy())
