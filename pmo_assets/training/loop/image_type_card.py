"""The model card of the image type network."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pmo_assets.records.image_types import IMAGE_TYPES
from pmo_assets.records.modalities import MODALITIES, modalities_of
from pmo_assets.training.architectures.image_type_network import FROZEN_BLOCKS


def types_card(info: Mapping[str, Any], size: int) -> str:
    """Return the card of the image type network.

    Args:
        info: facts of its checkpoint: `step`, `pictures`, `sources`.
        size: bytes of the ONNX file.
    """
    modalities = "\n".join(f"* {name}: {', '.join(modalities_of(name))}" for name in IMAGE_TYPES)
    return f"""\
# Image type network

Says what a picture was made with, one of {len(MODALITIES)} modalities, and so which of the paper's four types it is:

{modalities}

Its word is one of several: measures of the pixels, the figure network and the caption's words count beside it
(`detection/image_types/decision.py`, weights of the evidence in `image_type.json`).

* Architecture: EfficientNet-Lite0 (`training/architectures/image_type_network.py`) from ImageNet's weights, the first
  {FROZEN_BLOCKS} of 16 blocks as they were; input 160 × 160 pixels, stretched; ONNX opset 17, {size / 1e6:.1f} MB:
  weights in half precision, computed in single precision.
* Trained for {info["step"]:,} steps of 32 pictures on {info["pictures"]:,} pictures of {info["sources"]} sources
  ([where they come from](picture_sources.md)) as figures show them: parts, thumbnails of 18 pixels and
  more, JPEG, other contrast and colour maps, print, marks, frames (`training/synthetic/figure_crops.py`).
* Autofluorescence, indocyanine green angiography, en-face OCT and most montages are stand-ins, made of fundus
  photographs after the physics of the modality (`training/synthetic/stand_in_modalities.py`): of these no real picture,
  or hardly one, was seen. Slit lamp and corneal topography have no picture at all.

## How good it is on sources that it has not seen

In [the measurements](../../docs/measurements.md#image-types): recall by modality, leave-sources-out.

## Limits

What it says of autofluorescence, indocyanine green and en-face OCT has been measured on stand-ins alone. Fundus
photographs printed in grey cannot be told from red-free ones. Heat maps laid over photographs were left out.

## Make it again

    pmo train image-type RUN --modalities PICTURES --typed-articles ARTICLES --typed-annotations ANNOTATIONS
    pmo train export pmo_assets/weights --image-type RUN/best.pt
    python benchmarks/image_type_folds.py PICTURES FOLDS && python benchmarks/fit_image_type.py FOLDS --write
"""
