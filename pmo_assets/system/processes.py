"""Identity of a process on a machine: it tells files that a process left behind from those that it still holds."""

from __future__ import annotations

import functools
import os
import re
import socket
from dataclasses import dataclass
from pathlib import Path

import psutil


@dataclass(frozen=True)
class ProcessMark:
    """A process, for good: neither its number given to another one nor a restart of the machine makes it another's.

    Attributes:
        host: name of its machine, for people.
        pid: its number.
        boot: since when its machine is up: an identifier that no two machines, or starts, share. Empty if not known.
        space: of process numbers: containers on one machine count their own. Empty if not known.
        start: when it began, in units of the system. Empty if not known.
    """

    host: str
    pid: int
    boot: str = ""
    space: str = ""
    start: str = ""

    def __str__(self) -> str:
        """Return it as text: `host:pid@boot/space/start`."""
        return f"{self.host}:{self.pid}" + (f"@{self.boot}/{self.space}/{self.start}" if self.boot else "")

    @classmethod
    def parse(cls, text: str) -> ProcessMark | None:
        """Return the process of a text, also of one that has host and number only; None if it names none."""
        found = re.fullmatch(r"([^@]+):(\d+)(?:@([^/]*)/([^/]*)/([^/]*))?", text)
        if found is None:
            return None
        host, pid, *identity = found.groups(default="")
        return cls(host, int(pid), *identity)

    def has_ended(self) -> bool | None:
        """Say whether the process is gone; None if that cannot be known here: it is another machine's, or container's.

        A process that was stopped (SIGSTOP) is there; one that ended and was not waited for is gone.
        """
        here = this_process()
        if self.boot:
            if (self.boot, self.space) != (here.boot, here.space):
                return None
            return _start(self.pid) != self.start
        return not psutil.pid_exists(self.pid) if self.host == here.host else None


def this_process() -> ProcessMark:
    """Return the process that asks; after a fork, the child."""
    pid = os.getpid()
    return ProcessMark(socket.gethostname(), pid, *_machine(), _start(pid) or "")


@functools.cache
def _machine() -> tuple[str, str]:
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return boot, str(os.stat("/proc/self/ns/pid").st_ino)
    except OSError:  # not Linux
        return f"{psutil.boot_time():.0f}", "0"


def _start(pid: int) -> str | None:
    """Return when a process began; None if there is none, or only its entry in the table of processes.

    On Linux in ticks since the start of the machine: seconds would follow the clock when somebody sets it.
    """
    try:
        words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return None if words[0] in ("Z", "X") else words[19]
    except (FileNotFoundError, ProcessLookupError):
        if Path("/proc/self/stat").exists():
            return None
    try:
        process = psutil.Process(pid)
        return None if process.status() == psutil.STATUS_ZOMBIE else f"{process.create_time():.0f}"
    except psutil.NoSuchProcess:
        return None
