"""The image type network behind its protocol, through ONNX Runtime."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.detection.networks.memory_batches import MemoryBatches, Provider, batch_size_for
from pmo_assets.pipeline.detection.networks.named_weights import shipped_weights
from pmo_assets.pipeline.detection.networks.onnx_detectors import onnx_session
from pmo_assets.pipeline.detection.networks.type_input import TYPE_SIDE, type_input
from pmo_assets.records.modalities import MODALITIES
from pmo_assets.records.stores import SystemicError

TYPES_FILE = "image_type_network.onnx"
"""File of the shipped weights in `pmo_assets/weights`."""

PACKAGE_DATA = ("weights/image_type_network.onnx",)
"""Files of the package that this module reads."""

TYPES_OUTPUTS = ("shares",)
"""Output of the network: shares (n, modalities) that sum to 1, order of `MODALITIES`."""

PICTURE_BYTES = 8 * 2**20
"""Memory to reckon with for one more picture in a batch (`benchmarks/detection_speed.py`)."""


class OnnxTypeNetwork:
    """The image type network as a `protocols.TypeNetwork`."""

    def __init__(
        self,
        path: Path | None = None,
        provider: Provider = "cpu",
        *,
        batch_size: int | None = None,
        threads: int = 1,
    ) -> None:
        """Use a file of weights (None: the shipped ones); see `onnx_detectors.FigureNetwork`."""
        self.path, self.provider, self.threads = path, provider, threads
        self.batches = MemoryBatches(lambda: batch_size or batch_size_for(provider, PICTURE_BYTES, 8), provider)

    def load(self) -> Any:
        """Return the session, made at the first call; see `onnx_session` for its errors.

        Raises:
            SystemicError: also when the network was taught other modalities than the package's, or takes other sizes.
        """
        path = self.path or shipped_weights(TYPES_FILE)
        session = onnx_session(path, TYPES_OUTPUTS, self.provider, self.threads)
        (shares,) = (item for item in session.get_outputs() if item.name == TYPES_OUTPUTS[0])
        found = [*session.get_inputs()[0].shape[1:], *shares.shape[1:]]
        needed = [TYPE_SIDE, TYPE_SIDE, 3, len(MODALITIES)]
        # Where any size will do, a file has a name for it, or nothing.
        if len(found) != len(needed) or any(isinstance(a, int) and a != b for a, b in zip(found, needed, strict=True)):
            raise SystemicError(
                f"{path} is no image type network of this version: pictures and modalities are {found} instead of "
                f"{needed}; train and export it again (`pmo train image-type`)"
            )
        return session

    def __call__(self, crops: Sequence[NDArray[np.uint8]]) -> list[NDArray[np.float32]]:
        """Return the shares per picture, (modalities,) each."""
        return self.batches(crops, partial(self._run, self.load())) if crops else []

    def _run(self, session: Any, crops: Sequence[NDArray[np.uint8]]) -> list[NDArray[np.float32]]:
        pixels = np.stack([type_input(crop) for crop in crops])
        shares = np.asarray(session.run(list(TYPES_OUTPUTS), {"pixels": pixels})[0], dtype=np.float32)
        return list(shares)
