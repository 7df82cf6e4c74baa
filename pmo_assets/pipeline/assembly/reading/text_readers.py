"""Which engine reads print: none (templates alone), RapidOCR or EasyOCR."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from pmo_assets.pipeline.assembly.reading.easyocr_reader import EasyOcrReader
from pmo_assets.pipeline.assembly.reading.rapidocr_reader import RapidOcrReader
from pmo_assets.records.reading import TextReader

ReaderKind = Literal["none", "rapidocr", "easyocr"]


@lru_cache(maxsize=3)
def text_reader(kind: ReaderKind) -> TextReader | None:
    """Return the reader of a kind, made once per process; None for "none".

    Its networks are loaded at their first use, or before it by `load`.
    """
    match kind:
        case "rapidocr":
            return RapidOcrReader()
        case "easyocr":
            return EasyOcrReader()
        case _:
            return None


@dataclass(frozen=True, slots=True)
class ReadingOptions:
    """Choice of the reader of printed identifiers; worker processes get it and make the reader themselves."""

    kind: ReaderKind = "rapidocr"

    def reader(self) -> TextReader | None:
        """Return the reader, made once per process."""
        return text_reader(self.kind)

    def load(self) -> None:
        """Load the reader's networks, so that they are not loaded at an article's expense.

        Raises:
            SystemicError: when the engine or a model is missing.
        """
        reader = self.reader()
        if reader is not None:
            reader.load()
