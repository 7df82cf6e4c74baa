"""The house: what import contracts (`make lint`) do not say."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import pmo_assets

PACKAGE = Path(pmo_assets.__file__).parent

MOST_LINES = 600
"""A longer module has more than one idea, or one that needs explaining in parts."""


@pytest.mark.parametrize(
    ("module", "absent"),
    [
        ("pmo_assets.pipeline.article", ("dagster", "torch", "onnxruntime", "matplotlib", "pydantic_settings")),
        ("pmo_assets.storage.tables", ("dagster",)),
        ("pmo_assets.encoders.evaluation.evaluate", ("dagster", "torch", "sklearn")),
        ("pmo_assets.cli.main", ("dagster", "cv2", "pymupdf")),
    ],
)
def test_a_room_loads_only_what_it_needs(module: str, absent: tuple[str, ...]) -> None:
    question = f"import sys, {module}; print(*sorted(set(sys.modules) & set({absent!r})))"
    done = subprocess.run([sys.executable, "-c", question], check=True, stdout=subprocess.PIPE, text=True)
    assert done.stdout.split() == []


def test_no_module_outgrows_its_idea() -> None:
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in PACKAGE.rglob("*.py")}
    assert {str(path.relative_to(PACKAGE)): count for path, count in lengths.items() if count > MOST_LINES} == {}


def test_writing_aside_and_renaming_has_one_home() -> None:
    """Else each home has its own faults: one name for all writers, no word to the disk, no way back."""
    marks = re.compile(r"\bos\.(?:replace|rename|link|fsync)\(|\.part\"|\bpartial\w*\.(?:replace|rename)\(")
    home, progress_for_people = "system/aside.py", "cli/captions.py"
    found = {str(path.relative_to(PACKAGE)) for path in PACKAGE.rglob("*.py") if marks.search(path.read_text("utf-8"))}
    assert found - {home, progress_for_people} == set()


def test_every_room_says_what_belongs_there() -> None:
    rooms = [path for path in PACKAGE.rglob("__init__.py") if path.parent != PACKAGE]
    assert [str(path) for path in rooms if not path.read_text(encoding="utf-8").lstrip().startswith('"""')] == []
