"""Exported networks, opened to be trained on: the nodes and weights of an ONNX file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np


def graph_and_arrays(path: Path) -> tuple[Any, dict[str, np.ndarray]]:
    """Return the graph of an ONNX file, and its weights by their names in it.

    Raises:
        ValueError: when the file is no ONNX file, or the package onnx is not installed.
        OSError: when it cannot be read.
    """
    try:
        import onnx
        from google.protobuf.message import DecodeError
        from onnx.numpy_helper import to_array
    except ImportError as error:
        raise ValueError(f"weights are read back from {path} by the package onnx: pip install onnx") from error
    try:
        graph = onnx.load(str(path)).graph
    except DecodeError as error:
        raise ValueError(f"{path} is no ONNX file") from error
    return graph, {item.name: to_array(item) for item in graph.initializer}
