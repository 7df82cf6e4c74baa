"""The mark of an encoder in files of its embeddings: cosines between two encoders' embeddings mean nothing.

Beside it the mark of the release that was embedded: the same panel_id may be another cut of the figure in the next one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from pmo_assets.encoders.evaluation.embeddings import EmbeddingsError
from pmo_assets.storage.foreign_parquet import ForeignParquet

ENCODER_KEY: Final = b"pmo.encoder"
"""Metadata of the Parquet file: the digest of the encoder that made it."""

NAME_KEY: Final = b"pmo.encoder_name"
"""Its name, for people."""

RELEASE_KEY: Final = b"pmo.release"
"""Digest of the release whose pictures and texts were embedded (`Release.digest`)."""


def need_one_encoder(images: Path, texts: Path) -> None:
    """Raise if two files say that different encoders made them; a file that says nothing is believed.

    Raises:
        EmbeddingsError: naming both.
    """
    (one, one_name), (other, other_name) = encoder_of(images), encoder_of(texts)
    if one is not None and other is not None and one != other:
        raise EmbeddingsError(
            f"{images.name} is by {one_name} and {texts.name} by {other_name}, or by other weights of it: embed both "
            "by one encoder (`pmo encode embed`)"
        )


def encoder_of(path: Path) -> tuple[str | None, str]:
    """Return digest and name of the encoder that made a file of embeddings; None for one that does not say.

    Raises:
        StorageError: if it asks for more than the limits of foreign Parquet.
        OSError: if it cannot be read.
    """
    found = _marks(path)
    return found.get(ENCODER_KEY), found.get(NAME_KEY, "another encoder")


def release_of(path: Path) -> str | None:
    """Return the digest of the release that a file of embeddings is of; None for one that does not say.

    Raises:
        StorageError: if it asks for more than the limits of foreign Parquet.
        OSError: if it cannot be read.
    """
    return _marks(path).get(RELEASE_KEY)


def _marks(path: Path) -> dict[bytes, str]:
    with ForeignParquet(path) as file:
        found = file.schema_arrow.metadata or {}
    return {key: value.decode(errors="replace") for key, value in found.items()}
