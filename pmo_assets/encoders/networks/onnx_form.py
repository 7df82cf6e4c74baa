"""A picture tower in ONNX Runtime, which runs convolutions on a CPU faster than PyTorch does.

The file is made of the trained weights the first time that an encoder of a folder embeds, checked against PyTorch, and
kept beside the folder by the digest of the weights: `model-onnx/<digest>.onnx`. Where it cannot be made, a warning says
so and PyTorch embeds.
"""

from __future__ import annotations

import hashlib
import logging
import warnings
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from pmo_assets.records.faults import raise_fault
from pmo_assets.system.aside import path_aside

_LOG = logging.getLogger(__name__)

OPSET: Final = 17
"""ONNX operator set: understood by every ONNX Runtime since 1.12."""

TOLERANCE: Final = 1e-4
"""Largest difference of a number of a unit row from PyTorch's."""


Run = Callable[[NDArray[np.uint8]], NDArray[np.float32]]
"""Pixels (n, size, size, 3) to embeddings (n, d), in the thread that calls; several may at once."""


class _OfBytes(nn.Module):  # type: ignore[misc]
    """A tower that normalises bytes itself: they are a quarter as large, and no pass over them is left to others."""

    def __init__(self, tower: nn.Module, mean: Sequence[float], std: Sequence[float]) -> None:
        super().__init__()
        self.tower = tower
        factor, summand = 1 / (255 * torch.tensor(std)), -torch.tensor(mean) / torch.tensor(std)
        self.register_buffer("factor", factor.reshape(1, 3, 1, 1))
        self.register_buffer("summand", summand.reshape(1, 3, 1, 1))

    def forward(self, pixels: Tensor) -> Tensor:
        found: Tensor = self.tower(pixels.permute(0, 3, 1, 2).to(torch.float32) * self.factor + self.summand)
        return found


def onnx_form(
    tower: nn.Module, folder: Path | None, size: int, mean: Sequence[float], std: Sequence[float]
) -> Run | None:
    """Return what embeds pictures on the CPU as a tower does; None where PyTorch is to do it.

    Args:
        tower: in evaluation, on the CPU.
        folder: of the encoder, beside which the file is kept; None: nothing is made.
        size: side of the pictures in pixels.
        mean, std: of red, green, blue, in 0 … 1, by which the tower's pixels are normalised.
    """
    if folder is None:
        return None
    missing = [name for name in ("onnx", "onnxruntime") if find_spec(name) is None]
    if missing:
        _LOG.warning("%s is not installed: pictures are embedded by PyTorch, which is slower", missing[0])
        return None
    whole = _OfBytes(tower, tuple(mean), tuple(std)).eval()
    file = folder.with_name(f"{folder.name}-onnx") / f"{_digest(whole, size)}.onnx"
    try:
        if not file.is_file():
            _write(whole, file, size)
        return _runs(_session(file))
    except Exception as error:  # of ONNX's exporter, ONNX Runtime, the file system
        raise_fault(error)
        told = " ".join(str(error).split())[:300] or type(error).__name__
        _LOG.warning("there is no ONNX form of %s (%s): PyTorch embeds pictures, which is slower", folder, told)
        return None


def _digest(tower: nn.Module, size: int) -> str:
    found = hashlib.sha256(f"{OPSET} {size}".encode())
    for name, value in tower.state_dict().items():
        found.update(name.encode())
        found.update(value.detach().contiguous().numpy().tobytes())
    return found.hexdigest()[:24]


def _write(tower: nn.Module, file: Path, size: int) -> None:
    sample = torch.randint(0, 256, (3, size, size, 3), generator=torch.Generator().manual_seed(0), dtype=torch.uint8)
    with path_aside(file) as partial:
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")  # of what is fixed while tracing; the comparison below shows what must not
            torch.onnx.export(
                tower, (sample,), str(partial), input_names=["pixels"], output_names=["embeddings"],
                dynamic_axes={"pixels": {0: "n"}, "embeddings": {0: "n"}}, opset_version=OPSET, dynamo=False,
            )  # fmt: skip
            wanted = nn.functional.normalize(tower(sample[:2]), dim=1)
        found = nn.functional.normalize(torch.from_numpy(_runs(_session(partial))(sample[:2].numpy())), dim=1)
        difference = float((found - wanted).abs().max())
        if not difference <= TOLERANCE:
            raise ArithmeticError(f"ONNX Runtime differs from PyTorch by {difference:.2g}")


def _session(file: Path) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # parts of a batch side by side take less than each by all cores
    options.inter_op_num_threads = 1
    options.log_severity_level = 4  # what goes wrong is raised
    return onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])


def _runs(session: Any) -> Run:
    def embed(pixels: NDArray[np.uint8]) -> NDArray[np.float32]:
        (rows,) = session.run(None, {"pixels": pixels})
        return np.asarray(rows)

    return embed
