"""Queries that an encoder must embed: a text or a picture. The only module of the room that loads PyTorch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
from numpy.typing import NDArray

from pmo_assets.encoders.embedding import embed_pictures_and_texts, encoder_digest
from pmo_assets.encoders.networks.building import load_encoder
from pmo_assets.encoders.networks.dual_encoder import DualEncoder
from pmo_assets.encoders.search.index import SearchError, SearchIndex

Row = NDArray[np.floating[Any]]


def encoder_of_index(index: SearchIndex, model: Path) -> DualEncoder:
    """Return the encoder that an index is of.

    Args:
        index: of embeddings by the encoder.
        model: a run of `pmo encode train`, or a folder that open_clip loads.

    Raises:
        SearchError: if the index is of another encoder, or its embeddings' file did not say of which.
        EncoderError: if the folder holds no encoder.
    """
    encoder = load_encoder(model)
    if not index.facts.encoder:
        raise SearchError(
            f"{index.folder} does not say which encoder its embeddings are by, so that a text or picture means nothing "
            "to it: index a file of `pmo encode embed`, or ask by --panel"
        )
    if encoder_digest(encoder) != index.facts.encoder:
        raise SearchError(
            f"{index.folder} is by {index.facts.encoder_name}, and {model} ({encoder.name}) is another encoder or has "
            "other weights: give that one, or embed and index by this one (`pmo encode embed`, `index`)"
        )
    return encoder


def embedded_text(encoder: DualEncoder, text: str) -> Row:
    """Return the embedding of a text, (d,)."""
    return np.asarray(embed_pictures_and_texts(encoder, [], [text])[1][0])


def embedded_picture(encoder: DualEncoder, picture: PIL.Image.Image) -> Row:
    """Return the embedding of a picture (RGB), (d,)."""
    return np.asarray(embed_pictures_and_texts(encoder, [picture], [])[0][0])
