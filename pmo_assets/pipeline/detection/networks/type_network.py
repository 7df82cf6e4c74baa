"""The image type network behind its protocol, through ONNX Runtime."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.detection.networks.memory_batches import MemoryBatches, Provider, batch_size_for
from pmo_assets.pipeline.detection.networks.onnx_detectors import onnx_session, shipped_weights
from pmo_assets.pipeline.detection.networks.type_input import type_input

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
        """Return the session, made at the first call; see `onnx_session` for what may go wrong."""
        return onnx_session(self.path or shipped_weights(TYPES_FILE), TYPES_OUTPUTS, self.provider, self.threads)

    def __call__(self, crops: Sequence[NDArray[np.uint8]]) -> list[NDArray[np.float32]]:
        """Return the shares per picture, (modalities,) each."""
        return self.batches(crops, partial(self._run, self.load())) if crops else []

    def _run(self, session: Any, crops: Sequence[NDArray[np.uint8]]) -> list[NDArray[np.float32]]:
        pixels = np.stack([type_input(crop) for crop in crops])
        shares = np.asarray(session.run(list(TYPES_OUTPUTS), {"pixels": pixels})[0], dtype=np.float32)
        return list(shares)
