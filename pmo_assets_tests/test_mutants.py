"""`make mutants`: what is mutated, and that a mutant is tried where it matters."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

PROGRAM = Path(__file__).resolve().parents[1] / "benchmarks" / "mutants.py"

TOY = b'''"""A rule: 1 < 2."""

import logging

LIMIT = -3


def rule(a: int | None, b: "x < y" = 1) -> bool:
    """Say not a and b."""
    if a is None:
        raise ValueError("no" + str(b - 1))
    logging.info("a < %d", 1 + b)
    return a < b and not (a + 1 > LIMIT)
'''

RULE = """def largest(a: int, b: int) -> int:
    if a > b:
        return a
    return b


def lonely(a: int) -> int:
    return a + 1
"""

TESTS = """from pmo_assets.pipeline.toy.rule import largest


def test_largest():
    assert largest(1, 2) == 2
"""


@pytest.fixture(scope="module")
def program() -> ModuleType:
    spec = importlib.util.spec_from_file_location("mutants", PROGRAM)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["mutants"] = module
    spec.loader.exec_module(module)
    return module


def test_rules_are_mutated_and_nothing_else(program: ModuleType) -> None:
    found = program.mutants_of("toy.py", TOY)
    changed = [(m.kind, m.diff(TOY).splitlines()[1]) for m in found]
    assert changed == [
        ("sign", "+ LIMIT = 3"),
        ("comparison", "+ if a is not None:"),
        ("and/or", "+ return a < b or not (a + 1 > LIMIT)"),
        ("boundary", "+ return a <= b and not (a + 1 > LIMIT)"),
        ("comparison", "+ return a >= b and not (a + 1 > LIMIT)"),
        ("condition", "+ return a < b and (a + 1 > LIMIT)"),
        ("arithmetic", "+ return a < b and not (a - 1 > LIMIT)"),
        ("comparison", "+ return a < b and not (a + 1 <= LIMIT)"),
        ("boundary", "+ return a < b and not (a + 1 >= LIMIT)"),
    ]
    assert [m.line for m in found] == [5, 10, *[13] * 7]
    assert [m.function for m in found] == [None, *[8] * 8]


def test_operators_are_found_behind_brackets_and_over_lines(program: ModuleType) -> None:
    source = b"x = (\n    (1)  # < one\n    not in (2, 3)\n) or (4 if [y for y in '\xc3\xa4' if y] else 5)\n"
    found = [m.applied(source).decode() for m in program.mutants_of("toy.py", source)]
    assert len(found) == 4
    assert any("# < one\n    in (2, 3)" in text for text in found)
    assert any("\n) and (4" in text for text in found)
    assert any("'ä' if (not (y))" in text for text in found)
    assert any("or (4 if (not ([y for" in text for text in found)


def test_the_same_seed_draws_the_same_mutants(program: ModuleType) -> None:
    every = program.mutants_of("toy.py", TOY)
    assert program.drawn(every, 3, 1, seed=5) == program.drawn(every, 3, 1, seed=5)
    assert [m.kind == "boundary" for m in program.drawn(every, 3, 1, seed=5)] == [False, False, False, True]
    assert len(program.drawn(every, 99, 99, seed=0)) == len(every)


def test_a_mutant_is_caught_where_a_test_reaches_it(program: ModuleType, tmp_path: Path) -> None:
    for folder, name, text in (
        ("pmo_assets/pipeline/toy", "rule.py", RULE),
        ("pmo_assets_tests/pipeline/toy", "test_rule.py", TESTS),
    ):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / name).write_text(text)
    for package in [path for path in tmp_path.rglob("*") if path.is_dir()]:
        (package / "__init__.py").touch()
    (tmp_path / "pyproject.toml").write_text("[tool.pytest.ini_options]\n")
    modules = program.modules_of(tmp_path, ["toy"])
    assert modules == ["pmo_assets/pipeline/toy/rule.py"]
    copy = program.Copy(tmp_path, None, 0)
    try:
        baseline = copy.baseline(modules)
        mutants = [m for m in program.mutants_of(modules[0], RULE.encode()) if m.kind != "boundary"]
        found = {(m.line, m.kind): copy.trial(m, baseline).caught for m in mutants}
    finally:
        copy.close()
    assert found == {
        (2, "comparison"): "pmo_assets_tests/pipeline/toy/test_rule.py::test_largest",
        (8, "arithmetic"): "",
    }
