"""Containers without an engine: namespaces, a layer over an image's root, its user, the first process.

What belongs here is what an engine does; what runs is read from `docker/`. All containers share one network, of their
own, in which each service's name is the loopback interface.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import psutil

_NEW_NETWORK: Final = 0x40000000
"""CLONE_NEWNET."""

_INIT: Final = """
import os, signal, subprocess, sys
child = subprocess.Popen(sys.argv[1:])
for number in (signal.SIGTERM, signal.SIGINT):
    signal.signal(number, lambda number, _: child.send_signal(number))
sys.exit(child.wait())
"""
"""What `init: true` puts before a command: it hands signals on, and its end is the container's."""


def why_not() -> str | None:
    """Return why this machine cannot make containers; None if it can."""
    if sys.platform != "linux":
        return "namespaces are Linux's"
    if os.geteuid() != 0:
        return "only root may make networks and mounts of its own: run it as root, in a machine that is yours"
    tools = [tool for tool in ("buildah", "debootstrap", "unshare", "nsenter", "ip") if shutil.which(tool) is None]
    if tools:
        return f"{', '.join(tools)} not installed (Debian: apt-get install buildah debootstrap util-linux iproute2)"
    made = subprocess.run(["unshare", "-mnpf", "--uts", "true"], capture_output=True, text=True, check=False)
    return f"no namespaces here: {made.stderr.strip()}" if made.returncode else None


@dataclass(frozen=True)
class Image:
    """An image's root folder, and how its containers begin."""

    root: Path
    environment: Mapping[str, str]
    entrypoint: Sequence[str]
    command: Sequence[str]
    user: int
    workdir: str

    def become(self, command: Sequence[str], environment: Mapping[str, str]) -> list[str]:
        """Return what starts a command in a container: as the image's user, with no more variables than these."""
        variables = {"HOME": "/home/pmo" if self.user else "/root", **self.environment, **environment}
        rights = [f"--reuid={self.user}", f"--regid={self.user}", "--clear-groups"] if self.user else []
        return ["setpriv", *rights, "env", "-i", *(f"{name}={value}" for name, value in variables.items()), *command]


_FIRST: Final = ("/usr/bin/python3", "-I", "-S", "-c", _INIT)


@dataclass
class Container:
    """One running container.

    Attributes:
        name: of the service.
        image: what it is made of.
        environment: besides the image's.
        process: `unshare`, whose only child is the container's first process.
        log: what it prints.
        grace: seconds between SIGTERM and SIGKILL.
    """

    name: str
    image: Image
    environment: Mapping[str, str]
    process: subprocess.Popen[bytes]
    log: Path
    grace: float

    @property
    def _first(self) -> psutil.Process | None:
        began = time.monotonic()
        while self.is_running and time.monotonic() - began < 10:  # until `unshare` has made it
            with contextlib.suppress(psutil.Error):
                if children := psutil.Process(self.process.pid).children():
                    return children[0]
            time.sleep(0.05)
        return None

    @property
    def is_running(self) -> bool:
        return self.process.poll() is None

    def execute(self, command: Sequence[str], limit: float = 120.0) -> subprocess.CompletedProcess[str]:
        """Run a command in the container, as `docker exec` does."""
        first = self._first
        assert first is not None, f"{self.name} is not running\n{self.said()}"
        spaces = ["nsenter", f"--target={first.pid}", "--mount", "--pid", "--net", "--uts", "--root"]
        become = self.image.become(command, self.environment)
        return subprocess.run(
            [*spaces, "sh", "-c", 'cd "$0" && exec "$@"', self.image.workdir, *become],
            capture_output=True, text=True, timeout=limit, check=False, stdin=subprocess.DEVNULL, cwd="/",
        )  # fmt: skip

    def stop(self) -> float:
        """Ask the container to end, as `docker stop` does, and return the seconds that took.

        Raises:
            AssertionError: if it had to be killed.
        """
        began = time.monotonic()
        if (first := self._first) is not None:
            with contextlib.suppress(psutil.Error):
                first.send_signal(signal.SIGTERM)
        try:
            self.process.wait(self.grace)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"{self.name} did not end in {self.grace:.0f} s\n{self.said()}") from None
        return time.monotonic() - began

    def kill(self) -> None:
        """End every process of the container at once, as the loss of power does."""
        if (first := self._first) is not None:
            with contextlib.suppress(psutil.Error):
                first.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(10)
        if self.is_running:
            self.process.kill()
            self.process.wait(10)

    def said(self, characters: int = 4000) -> str:
        """Return the end of what the container printed."""
        return self.log.read_text("utf-8", "replace")[-characters:] if self.log.exists() else ""


@dataclass
class Machine:
    """A machine with a network of its own, its volumes, and the containers on it.

    Attributes:
        folder: where all of it lies.
        names: of the hosts, which are all loopback.
        running: every container that was started.
    """

    folder: Path
    names: Sequence[str]
    running: list[Container] = field(default_factory=list)
    _network: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Machine:
        # The words tell that the interface is up, and that the process is in its own network.
        holder = ["unshare", "-n", "sh", "-c", "ip link set lo up && echo up && exec sleep infinity"]
        self._network = subprocess.Popen(holder, stdout=subprocess.PIPE)
        assert self._network.stdout is not None
        assert self._network.stdout.readline() == b"up\n"
        return self

    def __exit__(self, *_: object) -> None:
        for container in reversed(self.running):
            container.kill()
        if self._network is not None:
            self._network.kill()
            self._network.wait()

    @property
    def _holder(self) -> int:
        assert self._network is not None, "the machine is off"
        return self._network.pid

    @contextlib.contextmanager
    def network(self) -> Iterator[None]:
        """Let this thread talk to the containers; the rest of the process does not."""
        library = ctypes.CDLL(None, use_errno=True)
        with open("/proc/thread-self/ns/net", "rb") as own, open(f"/proc/{self._holder}/ns/net", "rb") as theirs:
            assert library.setns(theirs.fileno(), _NEW_NETWORK) == 0, os.strerror(ctypes.get_errno())
            try:
                yield
            finally:
                library.setns(own.fileno(), _NEW_NETWORK)

    def volume(self, name: str, owner: int) -> Path:
        """Return a named volume's folder, which belongs to the user of the image that it is first mounted in."""
        place = self.folder / "volumes" / name
        if not place.exists():
            place.mkdir(parents=True)
            os.chown(place, owner, owner)
        return place

    def run(
        self, name: str, image: Image, command: Sequence[str], *, environment: Mapping[str, str],
        binds: Mapping[str, tuple[Path, bool]], grace: float = 10.0,
    ) -> Container:  # fmt: skip
        """Start a container.

        Args:
            name: as `Container` has it, like image, environment and grace.
            command: with the entry point.
            binds: for a place in the container the file or folder that is seen there, and whether it may be written.
        """
        layer = self.folder / "layers" / f"{len(self.running)}-{name}"
        layer.mkdir(parents=True)
        script = _in_root(layer, image, binds, [*_FIRST, *command], environment, ["localhost", *self.names])
        log = self.folder / "logs" / f"{name}.log"
        log.parent.mkdir(exist_ok=True)
        with log.open("ab") as stream:
            process = subprocess.Popen(
                ["nsenter", f"--net=/proc/{self._holder}/ns/net", *_UNSHARED, f"hostname {name}\n{script}"],
                stdin=subprocess.DEVNULL, stdout=stream, stderr=stream, start_new_session=True,
            )  # fmt: skip
        container = Container(name, image, environment, process, log, grace)
        self.running.append(container)
        return container


_UNSHARED: Final = ("unshare", "--mount", "--pid", "--fork", "--uts", "--kill-child", "sh", "-c")
"""What runs a shell command with mounts and processes of its own."""


def _in_root(
    layer: Path, image: Image, binds: Mapping[str, tuple[Path, bool]], command: Sequence[str],
    environment: Mapping[str, str], names: Sequence[str],
) -> str:  # fmt: skip
    """Return the shell commands that lay what is written in a container over its image, and become a command in it.

    Args:
        layer: an empty folder.
        binds: as `Machine.run` has them.
        names: of hosts that are loopback.
    """
    root = layer / "root"
    over = f"lowerdir={image.root},upperdir={layer}/written,workdir={layer}/work"
    lines = ["set -e", f"mount -t tmpfs tmpfs {layer} && cd {layer} && mkdir root written work"]
    lines += [f"mount -t overlay -o {over} overlay root && mount -t proc proc root/proc"]
    lines += [f"mount --rbind /{place} root/{place}" for place in ("dev", "sys")]
    lines += [f"echo 127.0.0.1 {' '.join(names)} > root/etc/hosts"]
    for place, (source, writable) in binds.items():
        lines.append(f"mkdir -p root{place} && mount --bind {source} root{place}")
        if not writable:
            lines.append(f"mount -o remount,bind,ro root{place}")
    inside = f"cd {image.workdir} && exec {shlex.join(image.become(command, environment))}"
    return "\n".join([*lines, f"exec chroot {root} sh -c {shlex.quote(inside)}"])
