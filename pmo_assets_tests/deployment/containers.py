"""Containers without an engine: namespaces, a root of bind mounts, a user without privileges, the first process.

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

_OWN: Final = ("proc", "tmp", "etc", "opt", "home", "data", "files", "source", "root", "work", "mnt", "media")
"""Folders of this machine's root that no container sees."""

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
    tools = [tool for tool in ("unshare", "nsenter", "setpriv", "ip", "chroot") if shutil.which(tool) is None]
    if tools:
        return f"{', '.join(tools)} are not installed"
    made = subprocess.run(["unshare", "-mnpf", "--uts", "true"], capture_output=True, text=True, check=False)
    return f"no namespaces here: {made.stderr.strip()}" if made.returncode else None


@dataclass(frozen=True)
class Image:
    """A root folder with what an image has besides its base, and how its containers begin."""

    root: Path
    environment: Mapping[str, str]
    entrypoint: Sequence[str] = ()
    user: int = 0
    workdir: str = "/"

    def become(self, command: Sequence[str], environment: Mapping[str, str]) -> list[str]:
        """Return what starts a command in a container: as the image's user, with no more variables than these."""
        variables = {"HOME": "/home/pmo" if self.user else "/root", **self.environment, **environment}
        rights = [f"--reuid={self.user}", f"--regid={self.user}", "--clear-groups"] if self.user else []
        return ["setpriv", *rights, "env", "-i", *(f"{name}={value}" for name, value in variables.items()), *command]


def interpreter() -> Path:
    """Return the folder in which the Python lies that the tests run with: the base of the images' environment."""
    return Path(sys.base_prefix).resolve()


_FIRST: Final = (f"{interpreter()}/bin/python3", "-I", "-S", "-c", _INIT)


def _mounts(root: Path, binds: Mapping[str, tuple[Path, bool]]) -> str:
    """Return the shell commands that put a container's root together below `root`.

    Args:
        root: an empty folder.
        binds: for a place in the container the file or folder that is seen there, and whether it may be written.
    """
    lines = ["set -e", f"mount -t tmpfs tmpfs {root}"]
    for entry in sorted(Path("/").iterdir()):
        if entry.name in _OWN:
            continue
        if entry.is_symlink():
            lines.append(f"cp -P {entry} {root}/")
        elif entry.is_dir():
            lines.append(f"mkdir {root}{entry} && mount --rbind {entry} {root}{entry}")
    lines += [f"mkdir -p {root}/proc && mount -t proc proc {root}/proc"]
    lines += [f"mkdir {root}/tmp && chmod 1777 {root}/tmp"]
    if not interpreter().is_relative_to("/usr"):  # in somebody's home, which only that user may look into
        binds = {str(interpreter()): (interpreter(), False), **binds}
    for place, (source, writable) in sorted(binds.items()):
        target = f"{root}{place}"
        make = f"mkdir -p {target}" if source.is_dir() else f"mkdir -p {Path(target).parent} && touch {target}"
        lines.append(f"{make} && mount --bind {source} {target}")
        if not writable:
            lines.append(f"mount -o remount,bind,ro {target}")
    return "\n".join(lines)


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
        """Start a container; arguments as `Container` and `_mounts` have them."""
        layer = self.folder / "layers" / f"{len(self.running)}-{name}"
        places = image_places(image, layer)
        (layer / "etc" / "hosts").write_text(f"127.0.0.1 localhost {' '.join(self.names)}\n", encoding="utf-8")
        script = in_root(
            layer / "root", {**places, **binds}, [*_FIRST, *image.entrypoint, *command], image, environment
        )
        log = self.folder / "logs" / f"{name}.log"
        log.parent.mkdir(exist_ok=True)
        with log.open("ab") as stream:
            process = subprocess.Popen(
                ["nsenter", f"--net=/proc/{self._holder}/ns/net", *UNSHARED, f"hostname {name}\n{script}"],
                stdin=subprocess.DEVNULL, stdout=stream, stderr=stream, start_new_session=True,
            )  # fmt: skip
        container = Container(name, image, environment, process, log, grace)
        self.running.append(container)
        return container


UNSHARED: Final = ("unshare", "--mount", "--pid", "--fork", "--uts", "--kill-child", "sh", "-c")
"""What runs a shell command with mounts and processes of its own."""


def image_places(image: Image, layer: Path) -> dict[str, tuple[Path, bool]]:
    """Return what a container sees of its image, with a copy below `layer` of what it may write."""
    places: dict[str, tuple[Path, bool]] = {}
    for place in ("/etc", "/home", "/opt/dagster"):
        source, copy = image.root / place[1:], layer / place[1:]
        if source.is_dir():
            subprocess.run(["cp", "-a", source, _made(copy.parent)], check=True)
            places[place] = (copy, True)
    for place in ("/opt/pmo", "/opt/instance", "/opt/tools"):
        if (image.root / place[1:]).is_dir():
            places[place] = (image.root / place[1:], False)
    return places


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def in_root(
    root: Path, binds: Mapping[str, tuple[Path, bool]], command: Sequence[str], image: Image,
    environment: Mapping[str, str],
) -> str:  # fmt: skip
    """Return the shell commands that put a root together below an empty folder and become a command in it."""
    become = shlex.join(image.become(command, environment))
    inside = f"cd {image.workdir} && exec {become}"
    return f"{_mounts(_made(root), binds)}\nexec chroot {root} sh -c {shlex.quote(inside)}"
