"""What follows from the code is worked out once per state of the code, wherever the code lies."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import pmo_assets
from pmo_assets.defs import package_cache
from pmo_assets.defs.package_cache import of_this_code
from pmo_assets.defs.versions import code_version

PACKAGE = Path(pmo_assets.__file__).parent


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's cache folder with nothing in it."""
    monkeypatch.setattr(package_cache, "user_cache_path", lambda *_, **__: tmp_path / "cache")
    return tmp_path / "cache" / "code"


def counting() -> tuple[list[int], object]:
    asked: list[int] = []

    def worked_out() -> int:
        asked.append(1)
        return len(asked)

    return asked, worked_out


def test_what_is_kept_is_not_worked_out_again(cache: Path) -> None:
    asked, worked_out = counting()
    assert [of_this_code("a", worked_out), of_this_code("a", worked_out)] == [1, 1]  # type: ignore[arg-type]
    assert of_this_code("b", worked_out) == 2  # type: ignore[arg-type]
    assert len(asked) == 2


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"key": "another", "value": 7}', b'{"value": 7}', b"\xff\xfe"])
def test_what_something_else_wrote_is_worked_out_anew(cache: Path, content: bytes) -> None:
    assert of_this_code("a", lambda: 1) == 1
    (place,) = cache.glob("*/*.json")
    place.write_bytes(content)
    assert of_this_code("a", lambda: 2) == 2
    assert json.loads(place.read_bytes()) == {"key": "a", "value": 2}


def test_an_error_is_raised_and_nothing_is_kept(cache: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        of_this_code("a", lambda: 1 // 0)
    assert not cache.exists()


def test_a_folder_that_nobody_may_write_into_is_done_without(cache: Path) -> None:
    cache.parent.write_text("a file where the folder would be")
    assert [of_this_code("a", lambda: 1), of_this_code("a", lambda: 2)] == [1, 2]


def test_what_was_worked_out_while_the_code_changed_is_not_kept(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(package_cache, "_seen", lambda: (("pmo_assets/a.py", 1, 2),))
    assert [of_this_code("a", lambda: 1), of_this_code("a", lambda: 2)] == [1, 2]


def test_states_of_the_code_from_long_ago_are_forgotten(cache: Path) -> None:
    for number in range(30):
        (cache / f"{number:02d}").mkdir(parents=True)
        os.utime(cache / f"{number:02d}", (number, number))
    of_this_code("a", lambda: 1)
    names = {folder.name for folder in cache.iterdir()}
    assert {f"{number:02d}" for number in range(30)} & names == {f"{number:02d}" for number in range(11, 30)}
    assert len(names) == 20


DIGEST = "from pmo_assets.defs.package_cache import _package_state; print(_package_state()[0])"


def digest_of(folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", DIGEST], cwd=folder, env={**os.environ, "PYTHONPATH": str(folder)}, check=True,
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    return done.stdout


@pytest.mark.slow
def test_copies_are_one_state_and_other_content_with_the_same_size_and_time_is_another(tmp_path: Path) -> None:
    for name in ("first", "second"):
        shutil.copytree(PACKAGE, tmp_path / name / "pmo_assets", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copytree(PACKAGE.parent / "prompts", tmp_path / name / "prompts")
    before = digest_of(tmp_path / "first")
    assert digest_of(tmp_path / "second") == before
    for name in ("pmo_assets/records/geometry.py", "pmo_assets/weights/image_type.json", "prompts"):
        path = tmp_path / "second" / name
        path = next(path.rglob("*.md")) if path.is_dir() else path
        state, content = path.stat(), path.read_bytes()
        path.write_bytes(content[:-1] + (b" " if content[-1:] != b" " else b"\n"))
        os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
        assert digest_of(tmp_path / "second") != before
        path.write_bytes(content)
    assert digest_of(tmp_path / "second") == before


def test_code_beside_the_package_is_not_kept_under_the_packages_files(cache: Path) -> None:
    code_version(digest_of)
    assert not cache.exists()
    version = code_version(of_this_code)
    assert len(list(cache.glob("*/*.json"))) == 1
    assert code_version(of_this_code) == version
