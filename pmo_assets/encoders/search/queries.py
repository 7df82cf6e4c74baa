"""Queries that an encoder must embed: a text or a picture file. The only module of the room that loads PyTorch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
from numpy.typing import NDArray

from pmo_assets.encoders.embedding import embed_pictures_and_texts, encoder_digest
from pmo_assets.encoders.evaluation.datasets.examples import read_picture
from pmo_assets.encoders.networks.building import load_encoder
from pmo_assets.encoders.search.index import SearchError, SearchIndex


def embedded_query(
    index: SearchIndex, model: Path, *, text: str | None = None, picture: Path | None = None
) -> NDArray[np.floating[Any]]:
    """Return the embedding of a text or a picture file by the encoder that an index is of: (d,).

    Args:
        index: of embeddings by the encoder.
        model: a run of `pmo encode train`, or a folder that open_clip loads.
        text: words; or
        picture: a file.

    Raises:
        SearchError: if the index is of another encoder, or its embeddings' file did not say of which.
        EncoderError: if the folder holds no encoder.
        EmbeddingsError: if the picture cannot be read.
    """
    pixels = None if picture is None else PIL.Image.fromarray(read_picture(picture))
    encoder = load_encoder(model)
    digest = encoder_digest(encoder)
    if not index.facts.encoder:
        raise SearchError(
            f"{index.folder} does not say which encoder its embeddings are by, so that a text or picture means nothing "
            "to it: index a file of `pmo encode embed`, or ask by --panel"
        )
    if digest != index.facts.encoder:
        raise SearchError(
            f"{index.folder} is by {index.facts.encoder_name}, and {model} ({encoder.name}) is another encoder or has "
            "other weights: give that one, or embed and index by this one (`pmo encode embed`, `index`)"
        )
    images, words = embed_pictures_and_texts(
        encoder, [] if pixels is None else [pixels], [] if text is None else [text]
    )
    return np.asarray(np.concatenate([images, words])[0])
