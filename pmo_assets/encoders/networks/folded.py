"""A picture tower as it embeds: batch normalisation folded into the convolutions before it.

In evaluation a normalisation is one factor and one summand a channel; the convolution's weights and bias take them
(Jacob et al. 2018, section 3.2), and a pass over the whole map is saved for each of an EfficientNet's 49. Only timm's
chains of modules (`Tower.split`) are folded, whose modules stand in the order in which they are called. On a CPU ONNX
Runtime embeds what was folded (`onnx_form`).
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable
from typing import Final

from torch import Tensor, nn

from pmo_assets.encoders.networks.dual_encoder import DualEncoder
from pmo_assets.encoders.networks.onnx_form import onnx_form

AT_ONCE_ON_CPU: Final = 4
"""Pictures of a folded tower on a CPU that pass together: their maps stay in the caches (measured: 1.5 times as fast
as 16)."""


def embedding_form(encoder: DualEncoder) -> tuple[Callable[[Tensor], Tensor], int | None]:
    """Return what embeds pixels (n, 3, h, w) as the encoder's picture tower does, and how many fit it best at once.

    Args:
        encoder: keeps the form, which is made again when the tower's weights have changed.

    Returns:
        A function to embeddings (n, d), not normalised, that differ by rounding only (1e-5 of unit rows; in ONNX
        Runtime, which embeds on a CPU for encoders of a folder, `onnx_form.TOLERANCE`); and the number of pictures;
        None for any.
    """
    if encoder.image.split is None:
        return encoder.model.encode_image, None
    state = encoder.folder, *((item.data_ptr(), item._version) for item in encoder.model.visual.state_dict().values())
    if encoder.kept_form is None or encoder.kept_form[0] != state:
        encoder.kept_form = state, *_form_of_chain(encoder)
    return encoder.kept_form[1:]


def _form_of_chain(encoder: DualEncoder) -> tuple[Callable[[Tensor], Tensor], int | None]:
    visual = encoder.model.visual
    folded = copy.deepcopy(visual)
    fold_normalisation(folded)
    if next(folded.parameters()).device.type != "cpu":
        return folded, None
    size = encoder.preprocess["size"]
    found = onnx_form(folded, encoder.folder, size) if isinstance(size, int) else None
    return found or folded, AT_ONCE_ON_CPU


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
