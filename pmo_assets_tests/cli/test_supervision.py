"""Several programs as one: real processes, asked to end in all the ways there are, and none left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import psutil
import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="sessions and signals as on Unix")

SUPERVISOR = """
    import sys
    from pathlib import Path
    from pmo_assets.cli import supervision
    supervision.PATIENCE = 2.0
    folder = Path(sys.argv[1])
    program = folder / "program.py"
    programs = [
        supervision.Program(name, [sys.executable, str(program), str(folder / name), *words], {"part": "a part"})
        for name, words in (("first", ["starts"]), ("second", []))
    ]
    ended = supervision.run_together(programs, {}, log=folder / "log")
    print("ended:", ended, flush=True)
"""

PROGRAM = """
    import os, signal, subprocess, sys, time
    print("here", flush=True)
    if "starts" in sys.argv:
        subprocess.Popen([sys.executable, __file__, sys.argv[1] + ".part", "part"])
    if "part" in sys.argv:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    else:
        assert signal.getsignal(signal.SIGINT) is not signal.SIG_IGN
    with open(sys.argv[1] + ".new", "w") as file:
        file.write(str(os.getpid()))
    os.replace(sys.argv[1] + ".new", sys.argv[1])
    time.sleep(60)
"""


def begin(folder: Path) -> subprocess.Popen[str]:
    """Start the supervisor as a shell starts what is in the background: SIGINT is ignored."""
    (folder / "program.py").write_text(textwrap.dedent(PROGRAM))
    (folder / "supervisor.py").write_text(textwrap.dedent(SUPERVISOR))
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        return subprocess.Popen(
            [sys.executable, str(folder / "supervisor.py"), str(folder)],
            stdout=subprocess.PIPE, text=True, cwd=Path(__file__).resolve().parents[2],
            env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])},
        )  # fmt: skip
    finally:
        signal.signal(signal.SIGINT, before)


def numbers(folder: Path) -> dict[str, int]:
    """Wait until all programs run, and return their process numbers."""
    names = ("first", "first.part", "second")
    deadline = time.monotonic() + 60
    while not all((folder / name).exists() for name in names):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return {name: int((folder / name).read_text()) for name in names}


def living(pids: dict[str, int]) -> list[str]:
    return [
        name
        for name, pid in pids.items()
        if psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    ]


@pytest.mark.slow  # waits
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_asked_to_end_all_end_even_what_does_not_listen(how: signal.Signals, tmp_path: Path) -> None:
    supervisor = begin(tmp_path)
    pids = numbers(tmp_path)
    supervisor.send_signal(how)
    output, _ = supervisor.communicate(timeout=30)
    assert output == "ended: None\n"
    assert supervisor.returncode == 0
    assert living(pids) == []


@pytest.mark.slow  # waits
@pytest.mark.parametrize(
    ("victim", "words"), [("second", "second ended by itself (status -9)"), ("first.part", "a part ended by itself")]
)
def test_when_one_ends_by_itself_it_is_named_and_the_others_are_ended(victim: str, words: str, tmp_path: Path) -> None:
    supervisor = begin(tmp_path)
    pids = numbers(tmp_path)
    time.sleep(1)  # parts are noted several times a second
    os.kill(pids[victim], signal.SIGKILL)
    output, _ = supervisor.communicate(timeout=30)
    assert output == f"ended: {words}\n"
    assert living(pids) == []


def test_asked_twice_they_are_killed_at_once(tmp_path: Path) -> None:
    supervisor = begin(tmp_path)
    pids = numbers(tmp_path)
    start = time.monotonic()
    for _ in range(2):
        supervisor.send_signal(signal.SIGTERM)
        time.sleep(0.5)
    output, _ = supervisor.communicate(timeout=30)
    assert time.monotonic() - start < 2, "not after its patience of two seconds"
    assert output == "ended: None\n", "what programs print is in the log alone"
    assert (tmp_path / "log").read_text().count("here\n") == 3
    assert living(pids) == []
