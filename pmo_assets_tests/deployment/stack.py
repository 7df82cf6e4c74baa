"""The services of `docker/compose.yaml`, as the compose program resolves them, in containers of namespaces.

PostgreSQL and SeaweedFS are those of `others.dockerfile`; commands, variables, volumes, health checks and order are
those of compose.yaml.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from pmo_assets_tests.deployment.compose import DOCKER
from pmo_assets_tests.deployment.containers import Container, Image, Machine

PASSWORDS: Final = {
    "DAGSTER_PG_PASSWORD": "a password of the test",
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "another-password-of-the-test",
}

START_LIMIT: Final = 180.0
"""Seconds within which a service is healthy, on a machine that does other things."""


def tool(name: str) -> str:
    """Return the path of a program of `make`'s environment for the deployment, else of this machine; "" if absent."""
    folder = os.environ.get("PMO_TEST_DOCKER_TOOLS", "")
    return shutil.which(name, path=folder) or shutil.which(name) or ""


def resolved(folder: Path, variables: Mapping[str, str]) -> dict[str, Any]:
    """Return compose.yaml as the compose program reads it, with an `.env` of these variables and the passwords.

    Args:
        folder: where a copy of `docker/` goes.
        variables: lines of `.env`.
    """
    project = folder / "docker"
    shutil.copytree(DOCKER, project, ignore=shutil.ignore_patterns(".env"))
    example = (DOCKER / ".env.example").read_text("utf-8")
    for name, value in {**PASSWORDS, **variables}.items():
        line = f"{name}='{value}'"
        example, changed = re.subn(rf"^(# )?{name}=.*$", line, example, count=1, flags=re.MULTILINE)
        assert changed, f"{name} is not in .env.example"
    (project / ".env").write_text(example, encoding="utf-8")
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    done = subprocess.run(
        [tool("docker-compose"), "--file", str(project / "compose.yaml"), "config", "--format", "json"],
        capture_output=True, text=True, check=False, env=environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    services: dict[str, Any] = json.loads(done.stdout)["services"]
    return services


@dataclass
class Stack:
    """The services on a machine.

    Attributes:
        services: as `resolved`.
        machine: where they run.
        image: the project's.
        others: those of services that are not the project's.
        containers: the present one of each service that was started.
        seconds: until each service was healthy.
    """

    services: Mapping[str, Any]
    machine: Machine
    image: Image
    others: Mapping[str, Image]
    containers: dict[str, Container] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    def up(self, *names: str) -> None:
        """Start services, each when what it depends on is as it wants it, and wait until they are healthy."""
        for name in names:
            self._up(name)
        for name in names:
            self.wait_until_healthy(name)

    def _up(self, name: str) -> None:
        if name in self.containers and self.containers[name].process.poll() in (None, 0):
            return
        for other, wanted in self.services[name].get("depends_on", {}).items():
            self._up(other)
            if wanted["condition"] == "service_completed_successfully":
                status = self.containers[other].process.wait(START_LIMIT)
                assert status == 0, f"{other} ended with {status}\n{self.containers[other].said()}"
            else:
                self.wait_until_healthy(other)
        self.start(name)

    def start(self, name: str) -> Container:
        """Start a service's container, whatever it depends on."""
        service = self.services[name]
        image = self.others.get(name, self.image)
        entrypoint = _plain(service.get("entrypoint") or []) or image.entrypoint
        command = _plain(service.get("command") or []) or image.command
        self.containers[name] = self.machine.run(
            name, image, [*entrypoint, *command],
            environment=service["environment"],
            binds={bind["target"]: self._bound(bind, image.user) for bind in service.get("volumes", [])},
            grace=_seconds(service.get("stop_grace_period", "10s")),
        )  # fmt: skip
        return self.containers[name]

    def wait_until_healthy(self, name: str) -> None:
        """Wait until a service's own health check says that it is well.

        Raises:
            AssertionError: if it ends, or does not get well in time.
        """
        container, began = self.containers[name], time.monotonic()
        test = _plain(self.services[name]["healthcheck"]["test"])[1:]
        while True:
            assert container.is_running, f"{name} ended\n{container.said()}"
            checked = container.execute(test)
            if checked.returncode == 0:
                self.seconds.setdefault(name, time.monotonic() - began)
                return
            problem = f"{name} is not healthy: {checked.stdout}{checked.stderr}\n{container.said()}"
            assert time.monotonic() - began < START_LIMIT, problem
            time.sleep(1)

    def execute(self, name: str, *command: str, limit: float = 300.0) -> str:
        """Run a command in a service's container and return what it printed.

        Raises:
            AssertionError: if it fails.
        """
        done = self.containers[name].execute(command, limit)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout

    def get(self, address: str) -> bytes:
        """Return what is at an address of the machine's."""
        with self.machine.network(), urllib.request.urlopen(address, timeout=60) as answer:
            content: bytes = answer.read()
            return content

    def query(self, question: str, **variables: Any) -> dict[str, Any]:
        """Ask the webserver by GraphQL, as the UI does, and return the data of its answer."""
        body = json.dumps({"query": question, "variables": variables}).encode()
        request = urllib.request.Request("http://127.0.0.1:3000/graphql", body, {"Content-Type": "application/json"})
        with self.machine.network(), urllib.request.urlopen(request, timeout=120) as answer:
            result = json.loads(answer.read())
        assert "errors" not in result, result
        data: dict[str, Any] = result["data"]
        return data

    def _bound(self, bind: Mapping[str, Any], owner: int) -> tuple[Path, bool]:
        if bind["type"] == "bind":
            return Path(bind["source"]), not bind.get("read_only", False)
        return self.machine.volume(bind["source"], owner), True


def _plain(words: str | Sequence[str]) -> list[str]:
    """Return a command as compose gives it: with every $ doubled."""
    return [word.replace("$$", "$") for word in ([words] if isinstance(words, str) else words)]


def _seconds(text: str) -> float:
    units = {"h": 3600.0, "m": 60.0, "s": 1.0}
    return sum(float(number) * units[unit] for number, unit in re.findall(r"([\d.]+)(h|m|s)", text))
