"""Exported networks whose convolutions compute in 8-bit integers: on a processor less than half the time.

Each activation gets the range that it has on given pictures, each filter its own. Weights use seven of the eight bits:
processors without instructions for sums of 8-bit products would overflow with all of them, and answers would depend on
the machine.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pmo_assets.system.aside import path_aside

OPERATIONS: Final = ("Conv", "Relu", "Add", "Resize")
"""Operations that compute in integers: what stands between convolutions, too, or numbers would be turned to and fro."""

TOLERANCE: Final = 0.05
"""Mean difference of outputs between 0 and 1 that is accepted, over the places where either is above it."""


class _Frames:
    """Pictures in the form in which ONNX Runtime asks for them."""

    def __init__(self, frames: Sequence[NDArray[np.uint8]]) -> None:
        self.left: Iterator[NDArray[np.uint8]] = iter(frames)

    def get_next(self) -> dict[str, NDArray[np.uint8]] | None:
        frame = next(self.left, None)
        return None if frame is None else {"pixels": frame[None]}


def write_quantised(source: Path, target: Path, frames: Sequence[NDArray[np.uint8]]) -> float:
    """Write a network whose convolutions, but the last one, compute in integers; return how its first output differs.

    Args:
        source: ONNX file that `export` wrote, input "pixels" (n, height, width, 3) uint8, first output 0..1.
        target: file to write; may be the source.
        frames: inputs (height, width, 3), some dozen like those that it will see.

    Raises:
        ValueError: when the source is quantised already.
        ArithmeticError: when the difference exceeds `TOLERANCE`; the target is left as it was.
    """
    import onnx
    import onnxruntime
    from onnxruntime.quantization import QuantFormat, QuantType, quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process

    whole = onnx.load(str(source))
    if any(node.op_type == "QuantizeLinear" for node in whole.graph.node):
        raise ValueError(f"{source} computes in integers already")
    with tempfile.TemporaryDirectory() as folder, path_aside(target) as partial:
        single, prepared = (str(Path(folder) / name) for name in ("single.onnx", "prepared.onnx"))
        onnx.save(_in_single_precision(whole), single)
        quant_pre_process(single, prepared, skip_symbolic_shape=True)
        last = [node.name for node in onnx.load(prepared).graph.node if node.op_type == "Conv"][-1]
        quantize_static(
            prepared, str(partial), _Frames(frames), quant_format=QuantFormat.QDQ, per_channel=True, reduce_range=True,
            activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8, nodes_to_exclude=[last],
            op_types_to_quantize=list(OPERATIONS),
        )  # fmt: skip
        sessions = [onnxruntime.InferenceSession(str(path)) for path in (single, partial)]
        difference = max(
            _difference(*(session.run(None, {"pixels": f[None]})[0] for session in sessions)) for f in frames
        )
        if not difference <= TOLERANCE:
            raise ArithmeticError(f"in integers the network's answers differ by {difference:.2g}")
    return difference


def _in_single_precision(model: Any) -> Any:
    """Return a model whose weights are no longer stored in half precision (`store_weights_in_half_precision`)."""
    from onnx import numpy_helper

    halves = {tensor.name: tensor for tensor in model.graph.initializer}
    nodes = []
    for node in model.graph.node:
        tensor = halves.get(node.input[0]) if node.op_type == "Cast" else None
        if tensor is None:
            nodes.append(node)
            continue
        values = numpy_helper.to_array(tensor).astype(np.float32)
        model.graph.initializer.append(numpy_helper.from_array(values, node.output[0]))
        model.graph.initializer.remove(tensor)
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    return model


def _difference(one: NDArray[np.float32], other: NDArray[np.float32]) -> float:
    at = np.maximum(one, other) > TOLERANCE
    return float(np.abs(one - other)[at].mean()) if at.any() else 0.0
