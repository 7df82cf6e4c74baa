"""RapidOCR reads typeset identifiers; it fetches nothing, writes nothing and says nothing."""

from __future__ import annotations

import pickle
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from pmo_assets.pipeline.assembly.reading import rapidocr_reader
from pmo_assets.pipeline.assembly.reading.rapidocr_reader import RapidOcrReader
from pmo_assets.pipeline.assembly.reading.read_identifiers import reader_readings
from pmo_assets.pipeline.assembly.reading.text_readers import ReadingOptions, text_reader
from pmo_assets.records.geometry import contains, iou
from pmo_assets.records.stores import SystemicError
from pmo_assets_tests.pipeline.assembly.reading.printed import printed_figure

needs_rapidocr = pytest.mark.skipif(find_spec("rapidocr") is None, reason="RapidOCR is not installed")


@needs_rapidocr
@pytest.mark.parametrize("face", ["hebo", "tiro", "helv"])
@pytest.mark.parametrize(
    "names", [list("ABCDEFGH"), list("abcdefgh"), ["i", "ii", "iii", "iv", "v"], ["A1", "A2", "B1", "B2"]]
)
@pytest.mark.parametrize("wrapping", ["{}", "({})", "{}."])
def test_typeset_identifiers_are_read(names: list[str], face: str, wrapping: str) -> None:
    figure, boxes = printed_figure([wrapping.format(name) for name in names], face=face)
    found = reader_readings(figure, boxes, names, RapidOcrReader())
    assert [one.best for one in found] == names
    assert found[0].source.startswith("rapidocr 3.10")


@needs_rapidocr
def test_white_print_on_a_picture_is_read() -> None:
    figure, boxes = printed_figure(["A", "B"], ground=(90, 40, 20), colour=(255, 255, 255))
    assert [one.best for one in reader_readings(figure, boxes, ["A", "B"], RapidOcrReader())] == ["A", "B"]


@needs_rapidocr
def test_turned_print_is_read() -> None:
    figure, boxes = printed_figure(["A1", "B2"], upright=True)
    found = reader_readings(figure, boxes, ["A1", "B2", "C3"], RapidOcrReader())
    assert [one.best for one in found] == ["A1", "B2"]


@needs_rapidocr
@pytest.mark.parametrize("shape", [(1, 1), (8, 100_000), (100_000, 9), (20, 700)])
def test_pictures_of_any_shape_are_looked_at(shape: tuple[int, int]) -> None:
    noise = np.random.default_rng(0).integers(0, 255, (*shape, 3), dtype=np.uint8)
    assert RapidOcrReader()([noise])[0] is not None


@needs_rapidocr
def test_print_is_found_anywhere_in_a_picture() -> None:
    figure, boxes = printed_figure(["(a)", "Control", "(c)"], size=24)
    (found,) = RapidOcrReader()([figure])
    (word,) = [text for text in found if text.text == "Control"]
    assert word.box is not None
    assert contains(word.box, boxes[1], 0.01), "text detection leaves air around print"
    assert iou(word.box, boxes[1]) > 0.3


@needs_rapidocr
def test_lines_that_are_longer_or_shorter_than_what_is_looked_for_are_left_out() -> None:
    figure, _ = printed_figure(["(a)", "Control", "a long line"], size=14)
    (everything,), (short,) = RapidOcrReader()([figure]), RapidOcrReader()([figure], lengths=(1, 1))
    assert {text.text for text in everything} == {"(a)", "Control", "a long line"}
    assert list(short) == [text for text in everything if text.text != "a long line"]
    (long,) = RapidOcrReader()([figure], lengths=(7, 20))
    assert list(long) == [text for text in everything if text.text != "(a)"]


@needs_rapidocr
def test_pictures_read_together_read_the_same_alone() -> None:
    pictures = [np.random.default_rng(k).integers(0, 255, (48, 48 + 7 * k, 3), dtype=np.uint8) for k in range(5)]
    pictures.append(printed_figure(["B"])[0])
    together = RapidOcrReader()(pictures, one_line=True)
    for picture, found in zip(pictures, together, strict=True):
        (alone,) = RapidOcrReader()([picture], one_line=True)
        assert [t.text for t in alone] == [t.text for t in found]
    assert RapidOcrReader()([], one_line=True) == []


@pytest.mark.slow
@needs_rapidocr
def test_nothing_is_fetched_written_or_said(tmp_path: Path) -> None:
    program = """
import socket, sys
def refuse(*_): raise SystemExit("a connection was opened")
socket.socket.connect = refuse
import numpy as np
from pmo_assets.pipeline.assembly.reading.text_readers import ReadingOptions
assert not {"rapidocr", "onnxruntime", "easyocr", "torch"} & set(sys.modules), "work on import"
options = ReadingOptions("rapidocr")
options.load()
options.reader()([np.full((60, 200, 3), 255, np.uint8)])
"""
    place = {"HOME": str(tmp_path), "PATH": "", "PYTHONPATH": ":".join(p for p in sys.path if p)}
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env=place,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    # ONNX Runtime 1.31 keeps a number of its own below the home folder, whatever it runs; nothing else is written.
    own = tmp_path / ".cache" / "Microsoft"
    assert [path for path in tmp_path.rglob("*") if own not in path.parents and path not in (own, own.parent)] == []


def test_without_the_package_the_step_fails_and_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    rapidocr_reader._recognition.cache_clear()
    monkeypatch.setattr(rapidocr_reader, "find_spec", lambda name: None)
    with pytest.raises(SystemicError, match=r"pip install 'rapidocr"):
        RapidOcrReader().load()


def test_a_missing_model_is_not_fetched(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "rapidocr").mkdir()
    (tmp_path / "rapidocr" / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "rapidocr", raising=False)
    rapidocr_reader._recognition.cache_clear()
    with pytest.raises(SystemicError, match="is missing"):
        RapidOcrReader().load()


def test_readers_are_made_once_from_options_that_travel() -> None:
    options = pickle.loads(pickle.dumps(ReadingOptions("rapidocr")))
    assert options.reader() is text_reader("rapidocr")
    assert ReadingOptions("none").reader() is None
    ReadingOptions("none").load()
