"""Processes of `pmo` without the seconds in which a new one loads Dagster and the pipeline.

A server loads them once and forks itself for each command. The copy is a process of its own, with environment, folder,
standard streams and exit status of its own, and it imports `pmo_assets.cli` itself.
What it cannot show is what happens while Python and the libraries load: such tests start `command_line.command`.
"""

from __future__ import annotations

import atexit
import gc
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


class ForkedPmo:
    """The server, and commands that are run by its copies, one after another. Ends with `close`."""

    def __init__(self) -> None:
        code = f"from {__name__} import serve; serve()"
        root = Path(__file__).resolve().parents[2]
        # No PMO_ variable reaches the server: what modules read as they are loaded would stay in every copy.
        env = {name: value for name, value in os.environ.items() if not name.startswith(("PMO_", "DAGSTER"))}
        self._server = subprocess.Popen(
            [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=root, env=env
        )

    def run(
        self, arguments: Sequence[str], *, env: Mapping[str, str], cwd: Path, timeout: float = 300
    ) -> subprocess.CompletedProcess[str]:
        """Run `pmo` with arguments, and return what it said.

        Raises:
            subprocess.TimeoutExpired: when it takes longer than `timeout` seconds; it is killed then.
        """
        with tempfile.TemporaryDirectory() as folder:
            streams = [str(Path(folder, name)) for name in ("stdout", "stderr")]
            request = {"arguments": list(arguments), "env": dict(env), "cwd": str(cwd), "streams": streams}
            self._channel("stdin").write(json.dumps(request).encode() + b"\n")
            self._channel("stdin").flush()
            pid = self._answer(timeout)
            try:
                status = self._answer(timeout)
            except TimeoutError:
                os.kill(pid, signal.SIGKILL)
                self._answer(timeout)
                raise subprocess.TimeoutExpired(list(arguments), timeout) from None
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
    """Answer requests until standard input ends."""
    import pmo_assets.definitions  # noqa: F401

    gc.collect()
    gc.freeze()  # else each copy writes to, and so copies, all pages of objects that it only reads
    requests, answers = os.fdopen(os.dup(0), "rb"), os.dup(1)
    while line := requests.readline():
        pid = os.fork()
        if pid == 0:
            os.close(answers)
            os.close(requests.fileno())
            _become(json.loads(line))
            _run_and_end()
        os.write(answers, b"%d\n" % pid)
        _, status = os.waitpid(pid, 0)
        os.write(answers, b"%d\n" % os.waitstatus_to_exitcode(status))


def _run_and_end() -> NoReturn:
    """Run `pmo` and end this process as Python does, except that objects are not destroyed one by one.

    That would write to all memory that the copy shares with the server: it takes longer than most commands.
    """
    from pmo_assets.cli.main import main

    try:
        main()
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
    sys.argv[1:] = request["arguments"]
    for number, path in enumerate([os.devnull, *request["streams"]]):
        opened = os.open(path, os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(opened, number)
        os.close(opened)
