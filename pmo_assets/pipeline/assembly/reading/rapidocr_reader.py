"""Reading print with RapidOCR: the PP-OCR networks in its wheel, through ONNX Runtime on the CPU.

Its recogniser knows 18,708 characters and pads every crop to 320 pixels. Identifiers are Latin letters and digits in
crops of about 50 pixels: the network is run here without that padding (a sixth of the time), and its answer is read
over ASCII alone, with the runners-up. Print anywhere in a picture is found by RapidOCR's own text detection.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.assembly.reading.crops import LINE_HEIGHT, STRETCH
from pmo_assets.pipeline.assembly.reading.ctc import likely_texts
from pmo_assets.pipeline.detection.networks.memory_batches import loading
from pmo_assets.records.geometry import Box
from pmo_assets.records.reading import ReadText
from pmo_assets.records.stores import SystemicError

RECOGNITION, DETECTION = "PP-OCRv6_rec_small.onnx", "PP-OCRv6_det_small.onnx"
"""Models in the wheel of rapidocr 3.10."""

INSTALL = "pip install 'rapidocr>=3.10,<3.11'"
"""Command that installs the package and its models, for messages; other versions come with other models."""

WIDTH_STEP = 16
"""Crops whose widths round up to the same multiple of so many pixels are recognised in one pass."""

BATCH = 16
"""Crops in one pass at most."""

DETECTION_SIDE = 960
"""Longest side in pixels of pictures in which print is looked for."""

NARROWEST = 30
"""Pictures so many times as long as wide are not searched: scaled to that side nothing is left of the other."""

LARGEST, LONGEST = 500, 40
"""Print that is higher, in pixels, names no panel (60 points at 600 dpi), nor does a line so many times as long as
high: such lines are not read, which bounds time and memory for a page of text."""

NARROWEST_CHARACTER, WIDEST_CHARACTER, MARGIN = 0.3, 1.2, 3.0
"""Widths of a line, as parts of its height: of a character in the narrowest and in the widest print (names of the
annotated figures take 0.5 to 0.95), and of what brackets, spaces and the detection's margin may add."""

LEAST_SCORE = 0.1
"""Texts found in a panel with less confidence are no texts."""


def _model(name: str) -> Path:
    """Return the path of a model in the wheel, without importing the package.

    Raises:
        SystemicError: when the package is not installed or comes with other models.
    """
    spec = find_spec("rapidocr")
    if spec is None or not spec.submodule_search_locations:
        raise SystemicError(f"PMO_TEXT_READER=rapidocr needs RapidOCR: {INSTALL}")
    path = Path(spec.submodule_search_locations[0]) / "models" / name
    if not path.is_file():
        raise SystemicError(f"{path} is missing (nothing is fetched here): {INSTALL}")
    return path


@lru_cache(maxsize=1)
def _recognition() -> tuple[Any, tuple[int, ...], tuple[str, ...]]:
    """Return the recognition network, the columns of its output that are read (blank first), and their characters."""
    path = _model(RECOGNITION)
    with loading("RapidOCR's recognition", mend=INSTALL):
        import onnxruntime

        options = onnxruntime.SessionOptions()
        # Parallelism comes from worker processes.
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.log_severity_level = 4
        session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        known = session.get_modelmeta().custom_metadata_map["character"].splitlines()
    places = [place for place, character in enumerate(known) if len(character) == 1 and character.isascii()]
    columns = (0, *(place + 1 for place in places), len(known) + 1)
    return session, columns, (*(known[place] for place in places), " ")


@lru_cache(maxsize=1)
def _detection() -> Any:
    """Return RapidOCR with its text detection alone; nothing is fetched or logged."""
    path = _model(DETECTION)
    with loading("RapidOCR's text detection", mend=INSTALL):
        from rapidocr import RapidOCR

        logging.getLogger("RapidOCR").setLevel(logging.CRITICAL)
        return RapidOCR(
            params={
                "Global.log_level": "critical",
                "Global.use_cls": False,
                "Global.use_rec": False,
                "EngineConfig.onnxruntime.intra_op_num_threads": 1,
                "EngineConfig.onnxruntime.inter_op_num_threads": 1,
                # By default small pictures are enlarged: 0.7 s per panel instead of 0.2, and one identifier in 36 more.
                "Det.limit_type": "max",
                "Det.limit_side_len": DETECTION_SIDE,
                # With the path given, a missing model is an error and nothing to fetch.
                "Det.model_path": str(path),
            }
        )


def _prepared(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return a line at the network's height, its width rounded up with the colour of its last column."""
    tall, wide = picture.shape[:2]
    width = max(1, round(wide * LINE_HEIGHT / tall))
    if (tall, wide) != (LINE_HEIGHT, width):
        method = cv2.INTER_AREA if tall > LINE_HEIGHT else cv2.INTER_CUBIC
        picture = np.asarray(cv2.resize(picture, (width, LINE_HEIGHT), interpolation=method), dtype=np.uint8)
    missing = max(LINE_HEIGHT, -(-width // WIDTH_STEP) * WIDTH_STEP) - width
    padded = cv2.copyMakeBorder(picture, 0, 0, missing // 2, missing - missing // 2, cv2.BORDER_REPLICATE)
    return np.asarray(padded, dtype=np.uint8)


def _upright(picture: NDArray[np.uint8], corners: NDArray[np.float64]) -> NDArray[np.uint8] | None:
    """Return the text between four corners (from the top left clockwise), upright and stretched as crops are."""
    wide = round(STRETCH * float(np.linalg.norm(corners[1] - corners[0])))
    tall = round(float(np.linalg.norm(corners[3] - corners[0])))
    if wide < 2 or tall < 2 or tall > LARGEST or wide > LONGEST * tall:
        return None
    target = np.asarray([[0, 0], [wide, 0], [wide, tall], [0, tall]], dtype=np.float32)
    turn = cv2.getPerspectiveTransform(corners.astype(np.float32), target)
    return np.asarray(cv2.warpPerspective(picture, turn, (wide, tall), borderMode=cv2.BORDER_REPLICATE), np.uint8)


class RapidOcrReader:
    """A `records.reading.TextReader` of PP-OCRv6; its networks are loaded at their first use."""

    @property
    def name(self) -> str:
        """Engine, version and model."""
        try:
            return f"rapidocr {version('rapidocr')} PP-OCRv6 small"
        except PackageNotFoundError:
            return "rapidocr (not installed)"

    def load(self) -> object:
        """Load the recognition network.

        Raises:
            SystemicError: when RapidOCR is missing or comes with other models.
        """
        return _recognition()

    def __call__(
        self, pictures: Sequence[NDArray[np.uint8]], *, one_line: bool = False, lengths: tuple[int, int] | None = None
    ) -> list[tuple[ReadText, ...]]:
        """Return the texts in each picture; see `TextReader`."""
        if one_line:
            return self._lines(pictures)
        return [self._anywhere(picture, lengths) for picture in pictures]

    def _lines(self, pictures: Sequence[NDArray[np.uint8]]) -> list[tuple[ReadText, ...]]:
        session, columns, characters = _recognition()
        entry = session.get_inputs()[0].name
        lines = [_prepared(picture) for picture in pictures]
        groups: dict[int, list[int]] = {}
        for k, line in enumerate(lines):
            groups.setdefault(line.shape[1], []).append(k)
        result: list[tuple[ReadText, ...]] = [()] * len(lines)
        for members in groups.values():
            for first in range(0, len(members), BATCH):
                batch = members[first : first + BATCH]
                pixels = np.stack([lines[k].transpose(2, 0, 1)[::-1] for k in batch]).astype(np.float32) / 127.5 - 1
                found = session.run(None, {entry: pixels})[0][:, :, columns]
                for k, lattice in zip(batch, found, strict=True):
                    result[k] = _read(lattice, characters)
        return result

    def _anywhere(self, picture: NDArray[np.uint8], lengths: tuple[int, int] | None) -> tuple[ReadText, ...]:
        tall, wide = picture.shape[:2]
        if min(tall, wide) < 8 or max(tall, wide) > NARROWEST * min(tall, wide):
            return ()
        corners = _detection()(np.ascontiguousarray(picture[:, :, ::-1])).boxes
        if corners is None:
            return ()
        cut = [(np.asarray(four, np.float64), _upright(picture, np.asarray(four, np.float64))) for four in corners]
        narrowest, widest = (0.0, math.inf) if lengths is None else _widths(*lengths)
        readable = [
            (four, part) for four, part in cut
            if part is not None and narrowest <= part.shape[1] / part.shape[0] <= widest
        ]  # fmt: skip
        texts = []
        for (four, _), readings in zip(readable, self._lines([part for _, part in readable]), strict=True):
            best = next((r for r in readings if r.text.strip()), None)
            if best is not None and best.confidence >= LEAST_SCORE:
                texts.append(ReadText(best.text, best.confidence, _hull(four, wide, tall)))
        return tuple(sorted(texts, key=lambda t: -t.confidence))


def _widths(least: int, most: int) -> tuple[float, float]:
    """Return the least and the largest width of a line of so many characters, as parts of its height."""
    return NARROWEST_CHARACTER * least, WIDEST_CHARACTER * most + MARGIN


def _hull(corners: NDArray[np.float64], wide: int, tall: int) -> Box:
    """Return the normalised box around four corners in pixels."""
    (left, top), (right, bottom) = corners.min(axis=0), corners.max(axis=0)
    return (float(left) / wide, float(top) / tall, float(right) / wide, float(bottom) / tall)


def _read(lattice: NDArray[np.float32], characters: Sequence[str]) -> tuple[ReadText, ...]:
    """Return the likeliest texts of an output, restricted to its ASCII columns.

    Probability that other scripts took is given back in equal parts: "ii" resembles a character of Chinese, but here
    that is no rival.
    """
    lattice = np.clip(lattice, 1e-6, None)
    lattice = lattice / lattice.sum(axis=1, keepdims=True)
    texts = likely_texts(lattice, characters)
    return tuple(ReadText(text, min(1.0, probability), None) for text, probability in texts)
