"""Faces in frames: YuNet (Wu, Peng and Yu, Machine Intelligence Research 2023), whose weights come with the package.

Whatever may be a face is masked: the threshold lies low, and the boxes are widened to hair and chin.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import cv2
import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.detection.networks.memory_batches import loading
from pmo_assets.pipeline.detection.networks.named_weights import shipped_weights
from pmo_assets.records.geometry import UNIT_BOX, Box, clip, height, non_maximum_suppression, width

FACES_FILE: Final = "face_detector.onnx"
"""File of the shipped weights in `pmo_assets/weights`."""

PACKAGE_DATA = ("weights/face_detector.onnx",)
"""Files of the package that this module reads."""

LEAST_SCORE: Final = 0.5
"""A weaker face is none (`benchmarks/score_videos.py`: retinal pictures, logos and print stay below)."""

MARGIN: Final = 0.25
"""Added on each side of a face, as a share of its own size: hair, ears, chin."""

LONGEST_SIDE: Final = 960
"""Pixels of the picture in which faces are looked for: those of 10 pixels are found."""

_STRIDES: Final = (8, 16, 32)
_OVERLAP: Final = 0.3


@lru_cache(maxsize=1)
def _session() -> Any:
    path = shipped_weights(FACES_FILE)
    with loading("the face detector", mend="install pmo-assets again"):
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.log_severity_level = 4
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def load_faces() -> object:
    """Load the network.

    Raises:
        SystemicError: when it cannot be loaded.
    """
    return _session()


def face_boxes(pixels: NDArray[np.uint8], least: float = LEAST_SCORE) -> list[Box]:
    """Return the faces in a picture with their margin, boxes normalised to it, surest first.

    Args:
        pixels: (height, width, 3) uint8 RGB.
        least: score below which a face is none.

    Raises:
        SystemicError: when the network cannot be loaded.
    """
    tall, wide = pixels.shape[:2]
    share = min(1.0, LONGEST_SIDE / max(tall, wide))
    size = (max(1, round(wide * share)), max(1, round(tall * share)))
    bgr = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)[:, :, ::-1]
    step = _STRIDES[-1]
    padded = np.zeros((-(-size[1] // step) * step, -(-size[0] // step) * step, 3), np.float32)
    padded[: size[1], : size[0]] = bgr
    session = _session()
    names = [f"{kind}_{stride}" for kind in ("cls", "obj", "bbox") for stride in _STRIDES]
    found = dict(zip(names, session.run(names, {"input": padded.transpose(2, 0, 1)[None]}), strict=True))
    boxes: list[Box] = []
    scores: list[float] = []
    for stride in _STRIDES:
        score = np.sqrt(np.clip(found[f"cls_{stride}"][0, :, 0], 0, 1) * np.clip(found[f"obj_{stride}"][0, :, 0], 0, 1))
        columns = padded.shape[1] // stride
        for place in np.flatnonzero(score >= least):
            x, y, log_wide, log_tall = (float(v) for v in found[f"bbox_{stride}"][0, place])
            middle = ((place % columns + x) * stride, (place // columns + y) * stride)
            half = (np.exp(log_wide) * stride / 2, np.exp(log_tall) * stride / 2)
            boxes.append(
                (
                    float(middle[0] - half[0]) / size[0],
                    float(middle[1] - half[1]) / size[1],
                    float(middle[0] + half[0]) / size[0],
                    float(middle[1] + half[1]) / size[1],
                )
            )
            scores.append(float(score[place]))
    kept = non_maximum_suppression(boxes, scores, _OVERLAP)
    return [_widened(boxes[k]) for k in kept]


def _widened(box: Box) -> Box:
    across, along = MARGIN * width(box), MARGIN * height(box)
    return clip((box[0] - across, box[1] - along, box[2] + across, box[3] + along), UNIT_BOX)
