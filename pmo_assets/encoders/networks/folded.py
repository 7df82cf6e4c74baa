"""A picture tower as it embeds: batch normalisation folded into the convolutions before it.

In evaluation a normalisation is one factor and one summand a channel; the convolution's weights and bias take them
(Jacob et al. 2018, section 3.2), and a pass over the whole map is saved for each of an EfficientNet's 49. Only timm's
chains of modules (`Tower.split`) are folded, whose modules stand in the order in which they are called. On a CPU ONNX
Runtime embeds what was folded (`onnx_form`).
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import PIL.Image
import torch
from torch import Tensor, nn

from pmo_assets.encoders.networks.dual_encoder import DualEncoder
from pmo_assets.encoders.networks.onnx_form import onnx_form

AT_ONCE_ON_CPU: Final = 2
"""Pictures of a folded tower on a CPU that pass together: their maps stay in the caches (measured at 224 pixels in ONNX
Runtime: 10.9 ms a picture by one and two, 11.4 by four, 11.8 by six)."""


@dataclass(frozen=True)
class EmbeddingForm:
    """What embeds pictures as an encoder's picture tower does.

    Attributes:
        embed: RGB pictures to embeddings (n, d), not normalised, on the encoder's device.
        at_once: pictures that fit it best; None: any number.
        workers: threads that may call `embed` at once; each computes in its own thread alone if there are several.
    """

    embed: Callable[[Sequence[PIL.Image.Image]], Tensor]
    at_once: int | None = None
    workers: int = 1


def embedding_form(encoder: DualEncoder) -> EmbeddingForm:
    """Return what embeds pictures as the encoder's picture tower does.

    Embeddings differ by rounding only (1e-5 of unit rows; in ONNX Runtime, which embeds on a CPU for encoders of a
    folder, `onnx_form.TOLERANCE`).

    Args:
        encoder: keeps the form, which is made again when the tower's weights have changed.
    """
    if encoder.image.split is None:
        return _of_pixels(encoder, encoder.model.encode_image)
    state = encoder.folder, *((item.data_ptr(), item._version) for item in encoder.model.visual.state_dict().values())
    if encoder.kept_form is None or encoder.kept_form[0] != state:
        encoder.kept_form = state, _form_of_chain(encoder)
    form: EmbeddingForm = encoder.kept_form[1]
    return form


def _of_pixels(encoder: DualEncoder, tower: Callable[[Tensor], Tensor], at_once: int | None = None) -> EmbeddingForm:
    device = next(encoder.model.parameters()).device

    def embed(pictures: Sequence[PIL.Image.Image]) -> Tensor:
        with torch.inference_mode():
            return tower(encoder.pixel_batch(pictures).to(device))

    return EmbeddingForm(embed, at_once)


def _form_of_chain(encoder: DualEncoder) -> EmbeddingForm:
    folded = copy.deepcopy(encoder.model.visual)
    fold_normalisation(folded)
    if next(folded.parameters()).device.type != "cpu":
        return _of_pixels(encoder, folded)
    size, run = encoder.preprocess["size"], None
    if isinstance(size, int):
        run = onnx_form(folded, encoder.folder, size, encoder.preprocess["mean"], encoder.preprocess["std"])
    if run is None:
        return _of_pixels(encoder, folded, AT_ONCE_ON_CPU)
    given = run  # not None any more

    def embed(pictures: Sequence[PIL.Image.Image]) -> Tensor:
        return torch.from_numpy(given(np.stack([encoder.bytes_of(item) for item in pictures])))

    return EmbeddingForm(embed, AT_ONCE_ON_CPU, max(1, torch.get_num_threads()))


def fold_normalisation(network: nn.Module) -> int:
    """Fold each batch normalisation behind a convolution into it, in place; return how many there were.

    timm's normalisations with an activation leave the activation.
    """
    from torch.nn.utils.fusion import fuse_conv_bn_eval

    network.eval()
    count = 0
    for module in list(network.modules()):
        names = list(module._modules)
        for first, second in itertools.pairwise(names):
            convolution, normalisation = module._modules[first], module._modules[second]
            if isinstance(convolution, nn.Conv2d) and isinstance(normalisation, nn.BatchNorm2d):
                module._modules[first] = fuse_conv_bn_eval(convolution, normalisation)
                module._modules[second] = getattr(normalisation, "act", nn.Identity())
                count += 1
    return count
