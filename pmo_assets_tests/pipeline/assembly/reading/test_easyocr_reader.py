"""EasyOCR reads typeset identifiers where it is installed, and says what to install where it is not."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from pmo_assets.pipeline.assembly.reading import easyocr_reader
from pmo_assets.pipeline.assembly.reading.easyocr_reader import EasyOcrReader
from pmo_assets.pipeline.assembly.reading.read_identifiers import reader_readings
from pmo_assets.records.stores import SystemicError
from pmo_assets_tests.pipeline.assembly.reading.printed import printed_figure

MISSING = [name for name in ("easyocr", "torch", "torchvision", "easyocr_en_models") if find_spec(name) is None]
needs_easyocr = pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)} (extra `models`)")


@needs_easyocr
@pytest.mark.parametrize("names", [list("ABCD"), list("abcd"), ["A1", "A2", "B1", "B2"]])
def test_typeset_identifiers_are_read(names: list[str]) -> None:
    figure, boxes = printed_figure([f"({name})" for name in names])
    found = reader_readings(figure, boxes, names, EasyOcrReader())
    assert [one.best for one in found] == names


@needs_easyocr
def test_print_is_found_anywhere() -> None:
    figure, _ = printed_figure(["(a)", "Control"])
    (texts,) = EasyOcrReader()([figure])
    assert "Control" in {text.text for text in texts}
    assert all(text.box is not None for text in texts)


@pytest.mark.parametrize("package", ["easyocr", "torch", "easyocr_en_models"])
def test_a_missing_package_is_systemic(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    easyocr_reader._engine.cache_clear()
    monkeypatch.setattr(easyocr_reader, "find_spec", lambda name: None if name == package else object())
    with pytest.raises(SystemicError, match=rf"{package}: pip install"):
        EasyOcrReader().load()
