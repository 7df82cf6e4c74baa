"""Does a test notice when a rule is turned round? Draw mutants of the pipeline at random and look which are caught.

    python benchmarks/mutants.py [--rooms figures,captions] [--count 40] [--seed 0] [--jobs 2] [--corpus ../shared]
    python benchmarks/mutants.py --at figures/regions/tables.py:80

A mutant is a module with one place changed: a comparison turned round, a sign turned, a condition negated, `and` and
`or` swapped, an arithmetic operator swapped. Those that only move a boundary (`<` to `<=`) are a class of their own:
on measured lengths and scores nothing tells them from the original. Docstrings, annotations, messages and what is
logged or raised are left alone.

Each mutant is written into a copy of the package and tried against the tests of the room that mirrors the module: of
these only the ones that call the mutated function, the module's own test file first, then the fastest; then against the
tests of the steps; then, with `--corpus`, the JSON of `pmo article` is compared byte for byte on some real articles.
The first that notices ends the trial, and so does a run far beyond its usual time.

A script of our own: mutmut and cosmic-ray run a whole suite for each mutant of a whole package, which here takes days,
and neither draws a sample or compares results.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import importlib
import io
import json
import multiprocessing
import os
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
import tokenize
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

PIPELINE = Path("pmo_assets/pipeline")
ROOM_TESTS = Path("pmo_assets_tests/pipeline")
STEP_TESTS = ROOM_TESTS / "test_article_steps.py"

BOUNDARY = "boundary"

TURNED = {
    "<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "==",
    "in": "not in", "not in": "in", "is": "is not", "is not": "is",
}  # fmt: skip
MOVED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
SWAPPED = {"+": "-", "-": "+", "*": "/", "/": "*", "//": "*", "%": "*", "&": "|", "|": "&"}

UNSEEN_CALLS = frozenset({"debug", "info", "warning", "error", "exception", "log", "warn"})
"""Methods whose arguments are messages."""

PRELOADED = ("numpy", "cv2", "scipy.optimize", "pymupdf", "PIL.Image", "lxml.etree", "hypothesis", "rapidfuzz")
"""Loaded once, before the trials are forked: nothing of this package, and nothing that starts threads."""

SLOWER = 4.0
"""So many times its usual duration a run may take, ..."""

GRACE = 30.0
"""... and so many seconds more; beyond that the mutant is caught: it does not end."""


@dataclass(frozen=True)
class Mutant:
    """One changed place.

    Attributes:
        module: path below the checkout.
        start, end: bytes of the source that are replaced.
        text: what stands there instead.
        kind: comparison, condition, sign, and/or, arithmetic or boundary.
        line: of the change, from 1.
        function: first line of the outermost function around it (decorators included); None outside of functions, and
            where every test counts because answers are cached.
    """

    module: str
    start: int
    end: int
    text: str
    kind: str
    line: int
    function: int | None

    def applied(self, source: bytes) -> bytes:
        """Return the mutated source."""
        return source[: self.start] + self.text.encode() + source[self.end :]

    def diff(self, source: bytes) -> str:
        """Return the changed lines, old and new."""
        old, new = source.decode().splitlines(), self.applied(source).decode().splitlines()
        lines = list(difflib.unified_diff(old, new, n=0, lineterm=""))[3:]
        return "\n".join(f"{line[0]} {line[1:].strip()}" for line in lines)


@dataclass
class Trial:
    """What became of a mutant.

    Attributes:
        caught: what noticed it: the test, "no end", an article of the corpus; "" if it survived.
        seconds: of the trial.
    """

    mutant: Mutant
    caught: str
    seconds: float


@dataclass
class Baseline:
    """The tests as they run without any mutant.

    Attributes:
        tests: node ids in the order in which pytest runs them, with their seconds.
        callers: of a module and function (first line): the tests that call it, setup of their file included.
        articles: JSON per article of the corpus.
        broken: modules that cannot be imported here (optional libraries); they are not mutated.
    """

    tests: dict[str, float] = field(default_factory=dict)
    callers: dict[tuple[str, int], set[str]] = field(default_factory=dict)
    articles: dict[str, str] = field(default_factory=dict)
    article_seconds: float = 0.0
    broken: dict[str, str] = field(default_factory=dict)


# ---------------------------------------------------------------- the mutants of a module


class _Places(ast.NodeVisitor):
    """Collects the mutants of one module."""

    def __init__(self, module: str, source: bytes) -> None:
        self.module, self.source = module, source
        self.found: list[Mutant] = []
        self.function: int | None = None
        lines = source.splitlines(keepends=True)
        self.offsets = [0]
        for line in lines:
            self.offsets.append(self.offsets[-1] + len(line))

    def start(self, node: ast.expr) -> int:
        return self.offsets[node.lineno - 1] + node.col_offset

    def end(self, node: ast.expr) -> int:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self.offsets[node.end_lineno - 1] + node.end_col_offset

    def add(self, start: int, end: int, text: str, kind: str) -> None:
        line = self.source.count(b"\n", 0, start) + 1
        self.found.append(Mutant(self.module, start, end, text, kind, line, self.function))

    def operator(self, left: ast.expr, right: ast.expr, wanted: Sequence[str]) -> tuple[int, int]:
        """Return where the operator between two operands stands; parentheses and comments may be around it."""
        first, last = self.end(left), self.start(right)
        between = self.source[first:last].decode()
        tokens: list[tokenize.TokenInfo] = []
        with suppress(tokenize.TokenError, IndentationError):  # the text is no whole statement
            tokens.extend(tokenize.generate_tokens(io.StringIO(f"({between}").readline))
        starts = [t for t in tokens if t.string == wanted[0] and t.type in (tokenize.OP, tokenize.NAME)]
        ends = [t for t in tokens if t.string == wanted[-1] and t.type in (tokenize.OP, tokenize.NAME)]
        texts = between.splitlines(keepends=True)

        def at(position: tuple[int, int]) -> int:
            row, column = position
            before = "".join(texts[: row - 1]) + texts[row - 1][: column - (row == 1)]
            return first + len(before.encode())

        return at(starts[0].start), at(ends[-1].end)

    def generic_visit(self, node: ast.AST) -> None:
        if isinstance(node, ast.Raise | ast.JoinedStr | ast.AnnAssign | ast.arguments):
            if isinstance(node, ast.AnnAssign) and node.value is not None:
                self.visit(node.value)
            if isinstance(node, ast.arguments):
                for default in (*node.defaults, *(d for d in node.kw_defaults if d is not None)):
                    self.visit(default)
            return
        super().generic_visit(node)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        outer = self.function
        cached = any("cache" in ast.unparse(decorator) for decorator in node.decorator_list)
        if outer is None and not cached:  # what is kept is only called by the first test
            self.function = min([node.lineno, *(d.lineno for d in node.decorator_list)])
        self.visit(node.args)
        for statement in node.body:
            self.visit(statement)
        self.function = outer

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._function(node)

    def visit_Call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Attribute) and node.func.attr in UNSEEN_CALLS:
            return
        self.generic_visit(node)

    def visit_Assert(self, node: ast.Assert) -> None:
        """An assertion is a check, no rule."""

    def _test(self, test: ast.expr) -> None:
        """Negate a condition; a comparison, `not`, `and` and `or` are turned by themselves."""
        if not isinstance(test, ast.Compare | ast.BoolOp | ast.UnaryOp | ast.Constant):
            self.add(self.start(test), self.end(test), f"(not ({self.text(test)}))", "condition")

    def text(self, node: ast.expr) -> str:
        return self.source[self.start(node) : self.end(node)].decode()

    def visit_If(self, node: ast.If) -> None:
        if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            return
        self._test(node.test)
        self.generic_visit(node)

    def visit_While(self, node: ast.While) -> None:
        self._test(node.test)
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._test(node.test)
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for test in node.ifs:
            self._test(test)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        inside = self.start(node.operand)
        if isinstance(node.op, ast.Not):
            self.add(self.start(node), inside, self.source[self.start(node) + 3 : inside].decode().strip(), "condition")
        elif isinstance(node.op, ast.USub | ast.Invert):
            self.add(self.start(node), self.start(node) + 1, "", "sign")
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        operands = [node.left, *node.comparators]
        for left, op, right in zip(operands, node.ops, operands[1:], strict=False):
            names = _COMPARISONS[type(op)].split()
            start, end = self.operator(left, right, names)
            written = " ".join(names)
            self.add(start, end, TURNED[written], "comparison")
            if written in MOVED:
                self.add(start, end, MOVED[written], BOUNDARY)
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        start, end = self.start(node), self.end(node)
        text, at = b"", start
        for left, right in zip(node.values, node.values[1:], strict=False):
            first, last = self.operator(left, right, [old])
            text += self.source[at:first] + new.encode()
            at = last
        self.found.append(
            Mutant(self.module, start, end, (text + self.source[at:end]).decode(), "and/or", node.lineno, self.function)
        )
        self.generic_visit(node)

    def _arithmetic(self, op: ast.operator, left: ast.expr, right: ast.expr, suffix: str) -> None:
        written = _ARITHMETIC.get(type(op))
        if written is None or any(_is_text(operand) for operand in (left, right)):
            return
        start, end = self.operator(left, right, [written + suffix])
        self.add(start, end, SWAPPED[written] + suffix, "and/or" if written in "&|" else "arithmetic")

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if not (self.function is None and isinstance(node.op, ast.BitOr)):  # a type, not a sum
            self._arithmetic(node.op, node.left, node.right, "")
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._arithmetic(node.op, node.target, node.value, "=")
        self.generic_visit(node)


_COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
    ast.In: "in", ast.NotIn: "not in", ast.Is: "is", ast.IsNot: "is not",
}  # fmt: skip
_ARITHMETIC: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.BitAnd: "&", ast.BitOr: "|",
}  # fmt: skip


def _is_text(node: ast.AST) -> bool:
    """Say whether an operand is plainly no number: joining lists and strings is no arithmetic."""
    if isinstance(node, ast.List | ast.Tuple | ast.ListComp | ast.JoinedStr | ast.Dict | ast.DictComp):
        return True
    return isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)


def mutants_of(module: str, source: bytes) -> list[Mutant]:
    """Return every mutant of a module that is valid Python, in the order of the source."""
    places = _Places(module, source)
    places.visit(ast.parse(source))
    found = sorted(places.found, key=lambda m: (m.start, m.end, m.text))
    return [mutant for mutant in found if _compiles(mutant.applied(source))]


def _compiles(source: bytes) -> bool:
    try:
        compile(source, "mutant", "exec")
    except SyntaxError:
        return False
    return True


def modules_of(checkout: Path, rooms: Sequence[str]) -> list[str]:
    """Return the modules of some rooms; a room is a folder below the pipeline, "." the modules beside the rooms."""
    found: list[Path] = []
    for room in rooms:
        folder = checkout / PIPELINE / room
        found += folder.glob("*.py") if room == "." else folder.rglob("*.py")
    return sorted(path.relative_to(checkout).as_posix() for path in found if path.name != "__init__.py")


def drawn(mutants: Sequence[Mutant], count: int, boundaries: int, seed: int) -> list[Mutant]:
    """Return a sample: so many mutants, and so many that only move a boundary."""
    rules = [m for m in mutants if m.kind != BOUNDARY]
    moves = [m for m in mutants if m.kind == BOUNDARY]
    choose = random.Random(seed)
    return [*choose.sample(rules, min(count, len(rules))), *choose.sample(moves, min(boundaries, len(moves)))]


# ---------------------------------------------------------------- running in a copy


def forked(work: Callable[[], int], output: Path, limit: float | None = None) -> int | None:
    """Run `work` in a process of its own, what it prints in a file; returns its exit code, None past the limit."""
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        code = 70
        try:
            os.setsid()
            target = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(target, 1)
            os.dup2(target, 2)
            sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
            code = work()
            sys.stdout.flush()
            sys.stderr.flush()
        except BaseException as error:  # the child must not return into the caller
            print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
        finally:
            os._exit(code)
    deadline = None if limit is None else time.monotonic() + limit
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        if deadline is not None and time.monotonic() > deadline:
            with suppress(ProcessLookupError):
                os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return None
        time.sleep(0.02)


def copied(checkout: Path, folder: Path) -> Path:
    """Copy the package and its tests below `folder`; returns the copy."""
    copy = folder / "checkout"
    ignored = shutil.ignore_patterns("__pycache__", "*.pyc")
    for name in ("pmo_assets", "pmo_assets_tests", "prompts"):
        if (checkout / name).is_dir():
            shutil.copytree(checkout / name, copy / name, ignore=ignored)
    for name in ("pyproject.toml", "dagster.yaml", "workspace.yaml"):
        if (checkout / name).is_file():
            shutil.copyfile(checkout / name, copy / name)
    return copy


def enter(copy: Path, corpus: Path | None) -> None:
    """Make this (forked) process import the package from a copy, whatever was on the path."""
    os.chdir(copy)
    for name in [n for n in sys.modules if n.split(".")[0] in ("pmo_assets", "pmo_assets_tests", "conftest")]:
        del sys.modules[name]
    sys.path.insert(0, str(copy))
    importlib.invalidate_caches()
    sys.dont_write_bytecode = True
    os.environ.update(PYTHONPATH=str(copy), PYTHONDONTWRITEBYTECODE="1")
    if corpus is not None:
        os.environ.setdefault("PMO_CORPUS", str(corpus))
    package = importlib.import_module("pmo_assets")
    if not str(package.__file__).startswith(str(copy)):
        raise RuntimeError(f"the package comes from {package.__file__}, not from {copy}")


def pytest_in(copy: Path, targets: Sequence[str], plugin: object) -> int:
    """Run some test files of the copy, with -x."""
    options = [
        "-x",
        "-q",
        "--assert=plain",
        "-p",
        "no:cacheprovider",
        "--hypothesis-seed=0",
        f"--basetemp={copy.parent / 'tmp'}",
    ]
    return int(pytest.main([*options, "--rootdir", str(copy), *targets], plugins=[plugin]))


class Recorder:
    """Pytest plugin: seconds of each test and the functions of the pipeline that it calls."""

    def __init__(self, copy: Path) -> None:
        self.root = str(copy / PIPELINE)
        self.copy = copy
        self.seconds: dict[str, float] = {}
        self.called: dict[tuple[str, int], set[str]] = {}
        self.names: dict[CodeType, tuple[str, int] | None] = {}
        self.now = ""
        threading.settrace(self.trace)

    def trace(self, frame: FrameType, event: str, argument: object) -> None:
        code = frame.f_code
        if code not in self.names:
            inside = code.co_filename.startswith(self.root)
            relative = os.path.relpath(code.co_filename, self.copy) if inside else ""
            self.names[code] = (relative, code.co_firstlineno) if inside else None
        name = self.names[code]
        if name is not None:
            self.called.setdefault(name, set()).add(self.now)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        self.now = item.nodeid.split("::")[0]  # fixtures may be of the whole file
        sys.settrace(self.trace)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> None:
        self.now = item.nodeid
        sys.settrace(self.trace)  # again: what a test runs may have taken it away

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration


class Chosen:
    """Pytest plugin: run these tests only, in this order; the first failure is kept."""

    def __init__(self, order: Sequence[str], note: Path) -> None:
        self.order = {name: position for position, name in enumerate(order)}
        self.note = note

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted((i for i in items if i.nodeid in self.order), key=lambda i: self.order[i.nodeid])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.note.write_text(report.nodeid)


def corpus_articles(corpus: Path, count: int) -> list[Path]:
    """Return article packages spread evenly over the corpus."""
    every = sorted(path for path in (corpus / "corpus").iterdir() if path.is_dir())
    return every[:: max(1, len(every) // max(count, 1))][:count]


def article_json(folder: Path) -> str:
    """Return what `pmo article` makes of a package, as text; the package is imported from where `enter` says."""
    article: Any = importlib.import_module("pmo_assets.pipeline.article")
    fetching: Any = importlib.import_module("pmo_assets.pipeline.articles.fetching")
    relevance: Any = importlib.import_module("pmo_assets.pipeline.articles.relevance")
    local: Any = importlib.import_module("pmo_assets.sources.local")
    folders: Any = importlib.import_module("pmo_assets.sources.package_folders")
    listing = folders.list_package(folder, folder.parent)
    objects = article.MemoryObjects({})
    fetched = fetching.fetch_package(asdict(listing), local.LocalFolder(folder.parent), objects, fetching.FetchLimits())
    if not fetched.rows:
        return json.dumps(fetched.rejections, default=str)
    result = article.process_article(fetched.rows[0], objects, specialty=relevance.load_specialty("everything"))
    return json.dumps(article.annotation(folder.name, result), ensure_ascii=False, sort_keys=True)


class Copy:
    """A copy of the checkout in which mutants are tried, one after the other.

    Args:
        checkout: with `pmo_assets` and `pmo_assets_tests`.
        corpus: folder that holds `corpus/`, for the tests that need it.
        compared: how many of its articles are compared byte for byte; 0 for none.
        steps: whether the tests of the steps count.
    """

    def __init__(self, checkout: Path, corpus: Path | None, compared: int, steps: bool = True) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="mutants-"))
        self.copy = copied(checkout, self.folder)
        self.corpus, self.steps = corpus, steps
        self.articles = corpus_articles(corpus, compared) if corpus is not None and compared else []

    def close(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def _failed(self, what: str) -> RuntimeError:
        text = (self.folder / "output").read_text(errors="replace")
        return RuntimeError(f"{what} without any mutant:\n{text[-3000:]}")

    def baseline(self, modules: Sequence[str]) -> Baseline:
        """Run all tests and articles without a mutant.

        Raises:
            RuntimeError: a test of the rooms fails as it is.
        """
        result = Baseline(broken=self._broken(modules))
        rooms = sorted({Path(module).relative_to(PIPELINE).parts[0] for module in modules})
        targets = [str(ROOM_TESTS / room) for room in rooms if (self.copy / ROOM_TESTS / room).is_dir()]
        if self.steps and (self.copy / STEP_TESTS).is_file():
            targets.append(str(STEP_TESTS))
        for target in targets:
            self._record(target, result)
        if self.articles:
            start = time.perf_counter()
            result.articles = self._article_texts()
            result.article_seconds = time.perf_counter() - start
        return result

    def _broken(self, modules: Sequence[str]) -> dict[str, str]:
        """Return the modules that cannot be imported here, with the reason."""
        kept = self.folder / "baseline.json"

        def imports() -> int:
            enter(self.copy, self.corpus)
            broken = {}
            for module in modules:
                try:
                    importlib.import_module(module.removesuffix(".py").replace("/", "."))
                except ImportError as error:
                    broken[module] = str(error)
            kept.write_text(json.dumps(broken))
            return 0

        if forked(imports, self.folder / "output") != 0:
            raise self._failed("the package cannot be imported")
        found: dict[str, str] = json.loads(kept.read_text())
        return found

    def _record(self, target: str, result: Baseline) -> None:
        """Run the tests of a folder or file; add their times, and what they call, to the baseline."""
        kept = self.folder / "baseline.json"

        def tests() -> int:
            enter(self.copy, self.corpus)
            recorder = Recorder(self.copy)
            code = pytest_in(self.copy, [target], recorder)
            called = [(*name, sorted(tests)) for name, tests in recorder.called.items()]
            kept.write_text(json.dumps({"seconds": recorder.seconds, "called": called}))
            return code

        if forked(tests, self.folder / "output") != 0:
            raise self._failed(f"{target} fails")
        answer = json.loads(kept.read_text())
        result.tests |= answer["seconds"]
        for module, line, callers in answer["called"]:
            of_file = {c for c in callers if "::" not in c}
            every = {t for t in answer["seconds"] if t in callers or t.split("::")[0] in of_file}
            result.callers.setdefault((module, line), set()).update(every)

    def _article_texts(self) -> dict[str, str]:
        """Return what the pipeline makes of each article."""
        kept = self.folder / "baseline.json"

        def articles() -> int:
            enter(self.copy, self.corpus)
            kept.write_text(json.dumps({folder.name: article_json(folder) for folder in self.articles}))
            return 0

        if forked(articles, self.folder / "output") != 0:
            raise self._failed("an article fails")
        found: dict[str, str] = json.loads(kept.read_text())
        return found

    def tests_for(self, mutant: Mutant, baseline: Baseline) -> tuple[list[str], list[str]]:
        """Return the tests of the room and of the steps that may notice a mutant, in the order of trial."""
        path = Path(mutant.module).relative_to(PIPELINE)
        own = (ROOM_TESTS / path.parent / f"test_{path.name}").as_posix()
        if mutant.function is None:
            callers = set(baseline.tests)
        else:
            callers = baseline.callers.get((mutant.module, mutant.function), set())
        of_room = [t for t in callers if t.startswith(f"{(ROOM_TESTS / path.parts[0]).as_posix()}/")]
        of_room.sort(key=lambda t: (not t.startswith(f"{own}::"), baseline.tests[t], t))
        return of_room, [t for t in baseline.tests if t in callers and t.startswith(f"{STEP_TESTS.as_posix()}::")]

    def trial(self, mutant: Mutant, baseline: Baseline) -> Trial:
        """Try one mutant; the copy is as before afterwards."""
        start = time.perf_counter()
        target = self.copy / mutant.module
        source = target.read_bytes()
        target.write_bytes(mutant.applied(source))
        try:
            caught = self._noticed(mutant, baseline)
        finally:
            target.write_bytes(source)
        return Trial(mutant, caught, time.perf_counter() - start)

    def _noticed(self, mutant: Mutant, baseline: Baseline) -> str:
        note, output = self.folder / "note", self.folder / "output"
        for chosen in self.tests_for(mutant, baseline):
            if not chosen:
                continue
            note.unlink(missing_ok=True)
            files = list(dict.fromkeys(t.split("::")[0] for t in chosen))

            def tests(files: Sequence[str] = files, chosen: Sequence[str] = chosen) -> int:
                enter(self.copy, self.corpus)
                return pytest_in(self.copy, files, Chosen(chosen, note))

            code = forked(tests, output, GRACE + SLOWER * sum(baseline.tests[t] for t in chosen))
            if code is None:
                return "no end"
            if code != 0:
                return note.read_text() if note.exists() else "import"
        if not baseline.articles:
            return ""

        def articles() -> int:
            enter(self.copy, self.corpus)
            for folder in self.articles:
                note.write_text(f"corpus {folder.name}")
                if article_json(folder) != baseline.articles[folder.name]:
                    return 1
            return 0

        code = forked(articles, output, GRACE + SLOWER * baseline.article_seconds)
        return "" if code == 0 else "no end" if code is None else note.read_text()


_copy: Copy | None = None


def _start(checkout: Path, corpus: Path | None, compared: int) -> None:
    global _copy  # noqa: PLW0603 - one copy for each process of the pool
    _copy = Copy(checkout, corpus, compared)
    multiprocessing.util.Finalize(_copy, _copy.close, exitpriority=10)


def _try(job: tuple[Mutant, Baseline]) -> Trial:
    assert _copy is not None
    return _copy.trial(*job)


def trials(
    checkout: Path, mutants: Sequence[Mutant], baseline: Baseline, corpus: Path | None, compared: int, jobs: int
) -> Iterator[Trial]:
    """Yield what becomes of each mutant, in order."""
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(jobs, context, _start, (checkout, corpus, compared)) as pool:
        yield from pool.map(_try, [(mutant, baseline) for mutant in mutants])


# ---------------------------------------------------------------- the report


def share_line(name: str, found: Sequence[Trial]) -> str:
    """Return "name: caught of all"."""
    caught = sum(bool(t.caught) for t in found)
    return f"{name:28s} {caught:4d} of {len(found):4d} caught" + (f"  {caught / len(found):4.0%}" if found else "")


def summary(found: Sequence[Trial]) -> list[str]:
    """Return the shares caught per room and per kind; boundary moves apart."""
    rules = [t for t in found if t.mutant.kind != BOUNDARY]
    moves = [t for t in found if t.mutant.kind == BOUNDARY]
    lines = []
    for title, key in (("room", _room), ("kind", lambda t: t.mutant.kind)):
        for name in sorted({key(t) for t in rules}):
            lines.append(share_line(f"{title} {name}", [t for t in rules if key(t) == name]))
    return [*lines, share_line("all but boundary moves", rules), share_line("boundary moves", moves)]


def _room(trial: Trial) -> str:
    return Path(trial.mutant.module).relative_to(PIPELINE).parts[0]


def main() -> None:
    """Draw mutants, try them and print which survived."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    checkout = Path(__file__).resolve().parents[1]
    parser.add_argument("--rooms", default="articles,figures,captions,detection,assembly,dataset")
    parser.add_argument("--count", type=int, default=40, help="mutants that are no boundary moves")
    parser.add_argument("--boundaries", type=int, default=0, help="mutants that only move a boundary")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2, help="processes, each with a copy of the package")
    parser.add_argument("--corpus", type=Path, help="folder with corpus/: compare the results of articles, too")
    parser.add_argument("--articles", type=int, default=12, help="so many articles of the corpus")
    parser.add_argument("--room-only", action="store_true", help="leave out the tests of the steps")
    parser.add_argument("--at", nargs="+", default=[], help="all mutants at MODULE[:LINE] instead of a sample")
    parser.add_argument("--checkout", type=Path, default=checkout, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    for name in PRELOADED:
        with suppress(ImportError):
            importlib.import_module(name)
    places = [(place.split(":")[0], place.partition(":")[2]) for place in arguments.at]
    rooms = list(dict.fromkeys(path.split("/")[0] for path, _ in places)) or arguments.rooms.split(",")
    root: Path = arguments.checkout.resolve()
    modules = modules_of(root, rooms)
    beside = root.parent / "shared"
    corpus = arguments.corpus.resolve() if arguments.corpus else beside if beside.is_dir() else None
    compared = arguments.articles if arguments.corpus else 0

    first = Copy(root, corpus, compared, not arguments.room_only)
    try:
        print(f"running the tests of {', '.join(rooms)} as they are", file=sys.stderr, flush=True)
        baseline = first.baseline(modules)
    finally:
        first.close()
    for module, reason in baseline.broken.items():
        print(f"not mutated: {module} ({reason})")
    sources = {module: (root / module).read_bytes() for module in modules if module not in baseline.broken}
    every = [mutant for module, source in sources.items() for mutant in mutants_of(module, source)]
    if places:
        wanted = [((PIPELINE / path).as_posix(), line) for path, line in places]
        chosen = [m for m in every if any(m.module == path and line in ("", str(m.line)) for path, line in wanted)]
    else:
        chosen = drawn(every, arguments.count, arguments.boundaries, arguments.seed)
    found = []
    for trial in trials(root, chosen, baseline, corpus, compared, arguments.jobs):
        found.append(trial)
        mutant = trial.mutant
        verdict = f"caught by {trial.caught}" if trial.caught else "SURVIVED"
        print(f"{mutant.module}:{mutant.line} {mutant.kind}: {verdict} ({trial.seconds:.0f} s)")
        print(mutant.diff(sources[mutant.module]), flush=True)
    print("\n".join(["", f"{len(every)} mutants in {len(sources)} modules, seed {arguments.seed}", *summary(found)]))


if __name__ == "__main__":
    main()
