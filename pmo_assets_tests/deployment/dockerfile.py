"""A Dockerfile carried out by namespaces: its COPY, ENV, RUN, USER, WORKDIR and ENTRYPOINT, on this machine as base."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from pmo_assets_tests.deployment.containers import UNSHARED, Image, in_root, interpreter

_HANDED_ON = ("PIP_", "UV_", "SSL_", "REQUESTS_", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy")
"""Variables of this machine that say how packages are fetched here."""


@dataclass
class Stage:
    """A stage while it is carried out."""

    root: Path
    environment: dict[str, str] = field(default_factory=dict)
    workdir: str = "/"
    user: int = 0
    entrypoint: list[str] = field(default_factory=list)


def instructions(text: str) -> list[tuple[str, str]]:
    """Return the instructions of a Dockerfile with their arguments, lines joined and comments left out."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n", " ", "\n".join(lines))
    return [(word, rest.strip()) for word, _, rest in (line.partition(" ") for line in joined.splitlines() if line)]


def built(dockerfile: Path, context: Path, folder: Path) -> Image:
    """Return the image that a Dockerfile makes; see the module docstring for what of it is carried out.

    Args:
        dockerfile: the file.
        context: what COPY copies from.
        folder: an empty folder for the stages.

    Raises:
        AssertionError: if a command fails.
    """
    stages: dict[str, Stage] = {}
    stage: Stage | None = None
    for word, rest in instructions(dockerfile.read_text("utf-8")):
        if word == "FROM":
            name = rest.partition(" AS ")[2] or "final"
            stage = stages[name] = _begun(folder / name)
        elif stage is not None:
            _carry_out(word, rest, stage, stages, context)
    assert stage is not None
    return Image(stage.root, stage.environment, stage.entrypoint, stage.user, stage.workdir)


def _begun(root: Path) -> Stage:
    for name in ("opt", "home", "data", "source"):
        (root / name).mkdir(parents=True)
    subprocess.run(["cp", "-a", "/etc", root], check=True)  # of its own: users are added to it
    return Stage(root, {"PATH": f"{interpreter()}/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"})


def _carry_out(word: str, rest: str, stage: Stage, stages: dict[str, Stage], context: Path) -> None:
    if word == "ENV":
        for part in shlex.split(rest):
            name, _, value = part.partition("=")
            stage.environment[name] = value.replace("$PATH", stage.environment["PATH"])
    elif word == "WORKDIR":
        stage.workdir = rest
    elif word == "USER":
        stage.user = int(rest)
    elif word == "ENTRYPOINT":
        stage.entrypoint = json.loads(rest)
    elif word == "COPY":
        _copy(rest.split(), stage, stages, context)
    elif word == "RUN":
        _run(rest, stage)


def _copy(words: list[str], stage: Stage, stages: dict[str, Stage], context: Path) -> None:
    source = stages[words.pop(0).partition("=")[2]].root if words[0].startswith("--from=") else context
    *names, target = words
    place = stage.root / os.path.join(stage.workdir, target).lstrip("/")
    for name in names:
        path = source / name.lstrip("/")
        if path.is_dir():
            shutil.copytree(
                path, place, symlinks=True, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__")
            )
        else:
            into = place / path.name if target.endswith("/") else place
            into.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, into)


def _run(command: str, stage: Stage) -> None:
    handed_on = {name: value for name, value in os.environ.items() if name.startswith(_HANDED_ON)}
    binds = {f"/{name}": (stage.root / name, True) for name in ("opt", "home", "data", "source", "etc")}
    binds["/root"] = (Path.home(), False)
    image = Image(stage.root, stage.environment, workdir=stage.workdir)
    script = in_root(stage.root.with_name(f"{stage.root.name}.root"), binds, ["sh", "-c", command], image, handed_on)
    done = subprocess.run([*UNSHARED, script], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, f"RUN {command}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
