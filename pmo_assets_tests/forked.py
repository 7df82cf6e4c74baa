"""Python processes without the seconds in which new ones load libraries.

A server loads them once and forks itself for each program. The copy is a process of its own, with environment, folder,
standard streams and exit status of its own. What it cannot show is what happens while Python and the libraries load:
such tests start a process of `sys.executable`.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NoReturn

LIBRARIES = ("cv2", "dagster", "dataframely", "lxml.etree", "matplotlib", "onnxruntime", "polars", "psutil", "pymupdf",
             "pyarrow.dataset", "rapidfuzz", "scipy.optimize", "yaml")  # fmt: skip
"""What `pmo_assets` takes longest to load. Nothing that starts threads: they would be missing in the copies."""


class Forking:
    """The server, and programs that its copies run, one after another. Ends with `close`."""

    def __init__(self, *modules: str) -> None:
        """Start a server that loads modules, besides `LIBRARIES`."""
        code = f"from {__name__} import serve; serve()"
        root = str(Path(__file__).resolve().parents[1])
        # No variable of the package reaches the server: what modules read as they are loaded stays in every copy.
        env = {name: value for name, value in os.environ.items() if not name.startswith(("PMO_", "DAGSTER"))}
        command = [sys.executable, "-c", code, *LIBRARIES, *modules]
        self._server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=root, env=env)

    def run(
        self, code: str, arguments: Sequence[str] = (), *, env: Mapping[str, str], cwd: Path, timeout: float = 300
    ) -> subprocess.CompletedProcess[str]:
        """Run code as `python -c` does, and return what it printed.

        Raises:
            subprocess.TimeoutExpired: when it takes longer than `timeout` seconds; it is killed then.
        """
        with tempfile.TemporaryDirectory() as folder:
            streams = [str(Path(folder, name)) for name in ("stdout", "stderr")]
            request = {"code": code, "arguments": [*arguments], "env": dict(env), "cwd": str(cwd), "streams": streams}
            self._channel("stdin").write(json.dumps(request).encode() + b"\n")
            self._channel("stdin").flush()
            pid = self._answer(timeout)
            try:
                status = self._answer(timeout)
            except TimeoutError:
                os.kill(pid, signal.SIGKILL)
                self._answer(timeout)
                raise subprocess.TimeoutExpired(["python", "-c", code, *arguments], timeout) from None
            said, errors = (Path(stream).read_text() for stream in streams)
        return subprocess.CompletedProcess(list(arguments), status, said, errors)

    def _channel(self, name: str) -> IO[bytes]:
        channel: IO[bytes] | None = getattr(self._server, name)
        assert channel is not None
        return channel

    def _answer(self, timeout: float) -> int:
        # Lines come one by one, each after it was waited for: nothing stays in the buffer.
        channel = self._channel("stdout")
        if not select.select([channel], [], [], timeout)[0]:
            raise TimeoutError
        line = channel.readline()
        assert line, f"the server ended with {self._server.wait()}"
        return int(line)

    def close(self) -> None:
        self._channel("stdin").close()
        self._server.wait(60)
        self._channel("stdout").close()


def serve() -> None:
    """Load the modules that the arguments name, and answer requests until standard input ends."""
    for name in sys.argv[1:]:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()  # else each copy writes to, and so copies, all pages of objects that it only reads
    requests, answers = os.fdopen(os.dup(0), "rb"), os.dup(1)
    while line := requests.readline():
        pid = os.fork()
        if pid == 0:
            os.close(answers)
            os.close(requests.fileno())
            _run_and_end(json.loads(line))
        os.write(answers, b"%d\n" % pid)
        _, status = os.waitpid(pid, 0)
        os.write(answers, b"%d\n" % os.waitstatus_to_exitcode(status))


def _run_and_end(request: Mapping[str, Any]) -> NoReturn:
    """Run a program and end this process as Python does, except that objects are not destroyed one by one.

    That would write to all memory that the copy shares with the server: it takes longer than most programs.
    """
    try:
        _become(request)
        exec(request["code"], {"__name__": "__main__", "__builtins__": __builtins__})
        status = 0
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        traceback.print_exc()
        status = 1
    threading._shutdown()  # type: ignore[attr-defined]  # waits for threads, as the interpreter does
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def _become(request: Mapping[str, Any]) -> None:
    """Take on the environment, folder, streams and arguments of a request."""
    os.environ.clear()
    os.environ.update(request["env"])
    os.chdir(request["cwd"])
    sys.path[1:1] = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    sys.argv[1:] = request["arguments"]
    for number, path in enumerate([os.devnull, *request["streams"]]):
        opened = os.open(path, os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(opened, number)
        os.close(opened)
