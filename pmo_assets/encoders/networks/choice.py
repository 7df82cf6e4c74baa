"""Which encoder: a name, what it starts from, and which of its blocks are trained; asked before PyTorch is loaded."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from pmo_assets.records.stores import SystemicError

EMBEDDED: Final = "embedded"
"""EfficientNet-Lite0 and all-MiniLM-L6-v2, whose weights come from the package index."""

SHORT_NAMES: Final = {
    "vit-b-16": "vit_base_patch16_224",
    "pubmedbert": "microsoft/BiomedNLP-BiomedBERT-base-uncased-abstract-fulltext",
    "vit-l-14": "ViT-L-14",
}
"""Names of the papers, and what timm, Hugging Face and open_clip call them (PubMedBERT was renamed BiomedBERT)."""

Blocks = int | Literal["all"]


class EncoderError(SystemicError):
    """An encoder cannot be made, read or used; the message says why and what to do."""


class EncoderChoice(BaseModel):
    """An encoder to train.

    Attributes:
        name: `embedded`; `A + B`, a picture encoder of timm and a text encoder of Hugging Face (a name or a folder); a
            name of open_clip; or a folder with `open_clip_config.json`. `SHORT_NAMES` are understood.
        weights: of an open_clip name: a file, or a tag of open_clip; of the others empty.
        pretrained: start from the published weights of the towers; else from random ones.
        image_size: side of the square that pictures are brought to, in pixels; 0 for the encoder's own.
        context: longest text, in tokens; 0 for the encoder's own.
        dimensions: of the embedding, where a projection is added (`embedded`, `A + B`).
        image_projection, text_projection: the added projection.
        dropout: before (linear) or within (mlp) the picture's projection.
        resize: how a picture becomes a square: squeezed; its middle; or with bars at its sides.
        trained_image_blocks, trained_text_blocks: how many of the last blocks are trained with the projection; 0: the
            projection alone, or nothing where it is part of the tower.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = EMBEDDED
    weights: str = ""
    pretrained: bool = True
    image_size: int = Field(default=0, ge=0, le=2048)
    context: int = Field(default=0, ge=0, le=8192)
    dimensions: int = Field(default=512, ge=2, le=8192)
    image_projection: Literal["linear", "mlp"] = "linear"
    text_projection: Literal["linear", "mlp"] = "linear"
    dropout: float = Field(default=0.0, ge=0, lt=1)
    resize: Literal["squash", "shortest", "longest"] = "squash"
    trained_image_blocks: Blocks = "all"
    trained_text_blocks: Blocks = "all"

    def towers(self) -> tuple[str, str] | None:
        """Return the two towers' names in full; None for an encoder that is named as a whole."""
        one, plus, other = self.name.partition("+")
        if not plus:
            return None
        return tuple(SHORT_NAMES.get(part.strip(), part.strip()) for part in (one, other))  # type: ignore[return-value]
