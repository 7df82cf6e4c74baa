"""`make mutants`: what is mutated, and that a mutant is tried where it matters."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

CHECKOUT = Path(__file__).resolve().parents[1]

TOY = '''"""A rule: 1 < 2."""

import logging

LIMIT = -3
Kind = int | str


def rule(a: int | None, b: "x < y" = 1) -> bool | None:
    """Say not a and b."""
    if a is None:
        raise ValueError("no" + str(b - 1))
    logging.info("a < %d", 1 + b)
    a += 1
    found = [y for y in b if y] + [1]
    while a not in b:
        return isinstance(a, int | str)
    return a < b and not (a + 1 > LIMIT) or (1 if found else b - 2)
'''

LAST = "return a < b and not (a + 1 > LIMIT) or (1 if found else b - 2)"

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
    sys.path.insert(0, str(CHECKOUT / "benchmarks"))
    try:
        import mutants
    finally:
        sys.path.pop(0)
    return mutants


def test_rules_are_mutated_and_nothing_else(program: ModuleType) -> None:
    found = {}
    for mutant in program.mutants_of("toy.py", TOY):
        changed = program.change(TOY, mutant.applied(TOY)).splitlines()[1].removeprefix("+ ")
        found[mutant.line, changed] = mutant.kind
    assert found == {
        (5, "LIMIT = 3"): "sign",
        (11, "if a is not None:"): "comparison",
        (14, "a -= 1"): "arithmetic",
        (15, "found = [y for y in b if (not (y))] + [1]"): "condition",
        (16, "while a in b:"): "comparison",
        (18, LAST.replace("and", "or")): "and/or",
        (18, LAST.replace(" or ", " and ")): "and/or",
        (18, LAST.replace("a < b", "a <= b")): "boundary",
        (18, LAST.replace("a < b", "a >= b")): "comparison",
        (18, LAST.replace("not ", " ")): "condition",
        (18, LAST.replace("a + 1", "a - 1")): "arithmetic",
        (18, LAST.replace("> LIMIT", "<= LIMIT")): "comparison",
        (18, LAST.replace("> LIMIT", ">= LIMIT")): "boundary",
        (18, LAST.replace("if found", "if (not (found))")): "condition",
        (18, LAST.replace("b - 2", "b + 2")): "arithmetic",
    }


def test_the_same_seed_draws_the_same_mutants(program: ModuleType) -> None:
    every = program.mutants_of("toy.py", TOY)
    assert program.drawn(every, 3, 1, "5 toy") == program.drawn(every, 3, 1, "5 toy")
    assert [m.kind == "boundary" for m in program.drawn(every, 3, 1, "5 toy")] == [False, False, False, True]
    assert len(program.drawn(every, 99, 99, "0 toy")) == len(every)


@pytest.mark.slow  # a process
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
    (module,) = program.modules_of(tmp_path, "toy")
    tests = program.tests_of(tmp_path, "toy", module)
    assert tests == ["pmo_assets_tests/pipeline/toy/test_rule.py", "pmo_assets_tests/pipeline/toy"]
    mutants = [m for m in program.mutants_of(module, RULE) if m.kind != "boundary"]
    found = {(m.line, m.kind): program.caught_by(tmp_path, m, tests[:1], 60) for m in mutants}
    assert found == {(2, "comparison"): f"{tests[0]}::test_largest", (8, "arithmetic"): ""}
    assert (tmp_path / "pmo_assets" / module).read_text() == RULE
