"""Does a test notice when a rule is turned round? Draw mutants of the package at random and look which are caught.

    python benchmarks/mutants.py [--rooms figures,captions] [--count 20] [--boundaries 0] [--seed 0] [--jobs 2]
    python benchmarks/mutants.py --at pipeline/figures/regions/tables.py:80

A mutant is a module with one place changed: a comparison turned round, a sign turned, a condition negated, `and` and
`or` swapped, an arithmetic operator swapped. Those that only move a boundary (`<` to `<=`) are a class of their own:
on measured lengths and scores nothing tells them from the original. Docstrings, annotations, messages and what is
logged or raised are left alone.

Cosmic Ray parses, mutates and runs the tests; this chooses the operators and the places, draws as many from each room,
and limits the tests: first the file that mirrors the module, then the whole room, then whole articles. (mutmut only
moves boundaries, `<` to `<=`; Cosmic Ray's own sessions know one test command for all modules.)
"""

from __future__ import annotations

import argparse
import difflib
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import parso
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators.operator import Operator
from cosmic_ray.plugins import get_operator
from cosmic_ray.testing import run_tests
from cosmic_ray.work_item import TestOutcome

ROOMS = "articles,figures,captions,detection,assembly,dataset,release,storage"
CHECKOUT = Path(__file__).resolve().parents[1]

BOUNDARY = "boundary"
OPERATORS = {
    "comparison": "Lt_GtE LtE_Gt Gt_LtE GtE_Lt Eq_NotEq NotEq_Eq Is_IsNot IsNot_Is",
    BOUNDARY: "Lt_LtE LtE_Lt Gt_GtE GtE_Gt",
    "sign": "Delete_USub Delete_Invert",
    "condition": "Delete_Not",
    "arithmetic": "Add_Sub Sub_Add Mul_Div Div_Mul FloorDiv_Mul Mod_Mul",
    "and/or": "ReplaceAndWithOr ReplaceOrWithAnd BitAnd_BitOr BitOr_BitAnd",
}
"""Names of Cosmic Ray's operators per class, without what they have in common."""

PREFIXES = {"comparison": "ReplaceComparisonOperator_", BOUNDARY: "ReplaceComparisonOperator_"} | dict.fromkeys(
    ("sign", "condition"), "ReplaceUnaryOperator_"
)

UNSEEN_CALLS = frozenset({"isinstance", "debug", "info", "warning", "error", "exception", "log", "warn"})
"""Functions and methods whose arguments are types or messages."""

ARTICLES = Path("pmo_assets_tests/pipeline/test_article_steps.py")

GRACE, SLOWER = 30.0, 4.0
"""A run may take so many seconds and so many times the room's usual duration; then the mutant is caught: it hangs."""


class Turned(Operator):  # type: ignore[misc]
    """Turns what Cosmic Ray leaves as it is: membership, augmented assignments; `texts` says what becomes what."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = texts

    @classmethod
    def examples(cls) -> tuple[()]:
        return ()

    def mutation_positions(self, node: Any) -> Iterator[tuple[Any, Any]]:
        tested = node.parent is not None and node.parent.type == "comparison"
        if (tested or node.type == "operator") and " ".join(node.get_code(False).split()) in self.texts:
            yield node.start_pos, node.end_pos

    def mutate(self, node: Any, index: int) -> Any:
        return parso.parse(f" {self.texts[' '.join(node.get_code(False).split())]}")


class Negated(Operator):  # type: ignore[misc]
    """Negates the condition of `if`, `while`, a choice or a comprehension, where no other operator turns it."""

    def _conditions(self, node: Any) -> list[int]:
        turned = ("comparison", "and_test", "or_test", "not_test", "keyword", "number")
        return [
            place
            for place, (before, child) in enumerate(pairwise(getattr(node, "children", ())), start=1)
            if before.type == "keyword" and before.value in ("if", "elif", "while")
            if child.type not in turned and child.get_code(False) != "TYPE_CHECKING"
        ]

    @classmethod
    def examples(cls) -> tuple[()]:
        return ()

    def mutation_positions(self, node: Any) -> Iterator[tuple[Any, Any]]:
        for place in self._conditions(node):
            yield node.children[place].start_pos, node.children[place].end_pos

    def mutate(self, node: Any, index: int) -> Any:
        place = self._conditions(node)[index]
        node.children[place] = parso.parse(f" (not ({node.children[place].get_code(False)}))")
        return node


def operators() -> Iterator[tuple[str, Operator]]:
    """Yield class and operator."""
    for kind, names in OPERATORS.items():
        for name in names.split():
            prefix = "" if name.startswith("Replace") else PREFIXES.get(kind, "ReplaceBinaryOperator_")
            yield kind, get_operator(f"core/{prefix}{name}")()
    yield "comparison", Turned({"in": "not in", "not in": "in"})
    yield "arithmetic", Turned({"+=": "-=", "-=": "+=", "*=": "/=", "/=": "*="})
    yield "condition", Negated()


@dataclass(frozen=True)
class Mutant:
    """One changed place.

    Attributes:
        module: path below the package.
        kind: class of the operator.
        operator, occurrence: what changes the n-th place that it knows in the module.
        line: of the change, from 1.
    """

    module: str
    kind: str
    operator: Operator
    occurrence: int
    line: int

    def applied(self, source: str) -> str | None:
        """Return the mutated module; None if that is no Python."""
        code = str(mutate_code(source, self.operator, self.occurrence))
        try:
            compile(code, self.module, "exec")
        except SyntaxError:
            return None
        return code


def change(old: str, new: str) -> str:
    """Return the changed lines, old and new."""
    lines = list(difflib.unified_diff(old.splitlines(), new.splitlines(), n=0, lineterm=""))[3:]
    return "\n".join(f"{line[0]} {line[1:].strip()}" for line in lines)


def is_left_alone(node: Any) -> bool:
    """Say whether a place is part of a type, a message or an assertion, or joins texts or lists."""
    beside = node.parent.children if node.type == "operator" and node.parent is not None else ()
    if any(n.type in ("string", "strings", "fstring") or n.get_code(False)[:1] in "[{" for n in beside):
        return True
    is_union, is_outside = node.type == "operator" and node.value == "|", True
    while node.parent is not None:
        inside, node = node, node.parent
        is_outside &= node.type != "funcdef"
        if node.type in ("raise_stmt", "assert_stmt", "fstring", "decorator", "import_from", "tfpdef"):
            return True
        if (node.type == "annassign" and inside is node.children[1]) or inside is getattr(node, "annotation", None):
            return True
        called = inside.get_previous_sibling() if node.type in ("atom_expr", "power") else None
        if called is not None and called.get_code(False).lstrip(".") in UNSEEN_CALLS:
            return True
    return bool(is_union and is_outside)


def mutants_of(module: str, source: str) -> list[Mutant]:
    """Return the mutants of a module; a few may be no Python."""
    nodes = list(ast_nodes(get_ast(source)))
    found = []
    for kind, operator in operators():
        places = [(node, start) for node in nodes for start, _ in operator.mutation_positions(node)]
        for occurrence, (node, (line, _)) in enumerate(places):
            if not is_left_alone(node):
                found.append(Mutant(module, kind, operator, occurrence, line))
    return found


# ---------------------------------------------------------------- trying them


def room_folder(checkout: Path, room: str) -> str:
    """Return the folder of a room below the package; those of the pipeline go by their own name."""
    within = f"pipeline/{room}"
    return within if (checkout / "pmo_assets" / within).is_dir() else room


def modules_of(checkout: Path, room: str) -> list[str]:
    """Return the modules of a room, below the package."""
    package = checkout / "pmo_assets"
    found = (package / room_folder(checkout, room)).rglob("*.py")
    return sorted(path.relative_to(package).as_posix() for path in found if path.name != "__init__.py")


def importable(copy: Path, modules: Sequence[str]) -> list[str]:
    """Return the modules that can be imported here: what needs an extra that is not installed has no tests, either."""
    names = {f"pmo_assets.{module.removesuffix('.py').replace('/', '.')}": module for module in modules}
    code = (
        "import importlib, sys\n"
        "for name in sys.argv[1:]:\n"
        "    try: importlib.import_module(name); print(name)\n"
        "    except ImportError: pass"
    )
    environment = os.environ | {"PYTHONPATH": str(copy)}
    command = [sys.executable, "-c", code, *names]
    found = subprocess.run(command, cwd=copy, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout
    return [names[name] for name in found.split() if name in names]


def tests_of(checkout: Path, room: str, module: str) -> list[str]:
    """Return the tests that may notice a mutant, in the order of trial: the file that mirrors the module, the room, and
    for the pipeline the articles that go through all its steps."""
    path, folder = Path("pmo_assets_tests") / module, room_folder(checkout, room)
    stages = [path.with_name(f"test_{path.name}"), Path("pmo_assets_tests") / folder]
    stages += [ARTICLES] if folder != room else []
    return [stage.as_posix() for stage in stages if (checkout / stage).exists()]


def copied(checkout: Path, folder: Path) -> Path:
    """Copy what the tests need into an empty folder."""
    for name in ("pmo_assets", "pmo_assets_tests", "prompts", "docs", "docker", "benchmarks"):
        if (checkout / name).is_dir():
            shutil.copytree(checkout / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for path in checkout.iterdir():
        if path.is_file():
            shutil.copy2(path, folder)
    return folder


def tried(copy: Path, tests: str, limit: float, options: str = "") -> tuple[TestOutcome, str]:
    """Run tests in a copy until the first fails."""
    command = (
        f"env -C {copy} -u PYTHONPYCACHEPREFIX {options} PYTHONPATH={copy} {sys.executable} -m pytest -x -q -n 0"
        f" -p no:cacheprovider --hypothesis-seed=0 --assert=plain --basetemp={copy}/.tmp {tests}"
    )
    outcome, output = run_tests(command, limit)
    return outcome, output


def usual_seconds(copy: Path, tests: Sequence[str]) -> float:
    """Run tests without a mutant and keep the compiled modules; returns how long they take.

    Raises:
        RuntimeError: a test fails as it is.
    """
    start = time.monotonic()
    outcome, output = tried(copy, " ".join(tests), 3600, "-u PYTHONDONTWRITEBYTECODE")
    if outcome != TestOutcome.SURVIVED:
        raise RuntimeError(f"{tests} fails without any mutant:\n{output[-3000:]}")
    return time.monotonic() - start


def caught_by(copy: Path, mutant: Mutant, tests: Sequence[str], limit: float) -> str:
    """Try a mutant in a copy, which is as before afterwards; returns the test that noticed it, "" if none."""
    target, kept = copy / "pmo_assets" / mutant.module, copy / ".kept"
    shutil.copy2(target, kept)
    target.write_text(mutant.applied(kept.read_text()) or "")
    try:
        for chosen in tests:
            outcome, output = tried(copy, chosen, limit)
            if outcome != TestOutcome.SURVIVED:
                failed = [line.split()[1] for line in output.splitlines() if line.startswith(("FAILED ", "ERROR "))]
                return failed[0] if failed else "no end" if output == "timeout" else "no start"
    finally:
        kept.replace(target)  # with its time of change, so that what was compiled counts again
    return ""


def drawn(mutants: Sequence[Mutant], count: int, boundaries: int, seed: str) -> list[Mutant]:
    """Return a sample: so many mutants, and so many that only move a boundary."""
    choose = random.Random(seed)
    rules = [m for m in mutants if m.kind != BOUNDARY]
    moves = [m for m in mutants if m.kind == BOUNDARY]
    return [*choose.sample(rules, min(count, len(rules))), *choose.sample(moves, min(boundaries, len(moves)))]


def share_line(name: str, found: Sequence[bool]) -> str:
    """Return "name: caught of all"."""
    share = f"  {sum(found) / len(found):4.0%}" if found else ""
    return f"{name:28s} {sum(found):4d} of {len(found):4d} caught{share}"


def trials(copies: list[Path], jobs: int, room: str, mutants: Sequence[Mutant]) -> Iterator[tuple[Mutant, str]]:
    """Yield each mutant with the test that caught it, in order; the first copy is run as it is, then copied."""
    limit = GRACE + SLOWER * usual_seconds(copies[0], tests_of(copies[0], room, "-"))
    while len(copies) < jobs:
        copies.append(Path(shutil.copytree(copies[0], copies[0].with_name(f"copy{len(copies)}"))))
    free: SimpleQueue[Path] = SimpleQueue()
    for copy in copies:
        free.put(copy)

    def trial(mutant: Mutant) -> tuple[Mutant, str]:
        copy = free.get()
        try:
            return mutant, caught_by(copy, mutant, tests_of(copy, room, mutant.module), limit)
        finally:
            free.put(copy)

    with ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(trial, mutants)


def main() -> None:
    """Draw mutants, try them and print which survived."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rooms", default=ROOMS)
    parser.add_argument("--count", type=int, default=20, help="mutants of each room that are no boundary moves")
    parser.add_argument("--boundaries", type=int, default=0, help="mutants of each room that only move a boundary")
    parser.add_argument("--seed", default="0")
    parser.add_argument("--jobs", type=int, default=2, help="trials at the same time, each in a copy of the package")
    parser.add_argument("--at", nargs="+", default=[], help="all mutants at MODULE[:LINE] instead of a sample")
    arguments = parser.parse_args()
    places = [place.partition(":")[::2] for place in arguments.at]
    rooms = arguments.rooms.split(",")
    if places:
        rooms = list(dict.fromkeys(module.removeprefix("pipeline/").split("/")[0] for module, _ in places))
    verdicts: dict[str, list[bool]] = {}
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copies = [copied(CHECKOUT, Path(tempfile.mkdtemp(dir=folder)))]
        package = copies[0] / "pmo_assets"
        for room in rooms:
            sources = {
                module: (package / module).read_text() for module in importable(copies[0], modules_of(copies[0], room))
            }
            every = [m for module, source in sources.items() for m in mutants_of(module, source)]
            every = [m for m in every if m.applied(sources[m.module]) is not None] if places else every
            if places:
                chosen = [m for m in every if any(m.module == p and line in ("", str(m.line)) for p, line in places)]
            else:
                chosen = drawn(every, arguments.count, arguments.boundaries, f"{arguments.seed} {room}")
            print(f"{room}: {len(chosen)} of {dict(Counter(m.kind for m in every))}", flush=True)
            for mutant, caught in trials(copies, arguments.jobs, room, chosen):
                print(f"{mutant.module}:{mutant.line} {mutant.kind}: {f'caught by {caught}' if caught else 'SURVIVED'}")
                source = sources[mutant.module]
                print(change(source, mutant.applied(source) or ""), flush=True)
                is_move = mutant.kind == BOUNDARY
                for key in ["boundary moves"] if is_move else [f"room {room}", f"class {mutant.kind}", "rules"]:
                    verdicts.setdefault(key, []).append(bool(caught))
    print("\n".join(share_line(name, found) for name, found in sorted(verdicts.items())))


if __name__ == "__main__":
    main()
