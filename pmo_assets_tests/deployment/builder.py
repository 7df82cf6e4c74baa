"""Images by buildah, which needs neither a daemon nor, with a base by debootstrap, a registry."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pmo_assets_tests.deployment.containers import Image

_BASE: Final = "localhost/python"
"""What stands in for the base that `docker/Dockerfile` names by digest: Debian's release of it with Debian's Python."""

_PATH: Final = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

_FETCHING: Final = {
    name: value for name, value in os.environ.items() if name.startswith(("PIP_", "UV_", "SSL_CERT_FILE", "REQUESTS_"))
}
"""Variables of this machine that say how packages are fetched here; those of proxies buildah hands on by itself."""


@dataclass(frozen=True)
class Builder:
    """A storage of images and containers of its own.

    Attributes:
        storage: an empty folder.
    """

    storage: Path

    def make_base(self) -> None:
        """Make the base of all images, from packages alone."""
        root = self.storage / "debian"
        packages = "--include=python3-venv,python-is-python3"
        _done("debootstrap", "--variant=minbase", packages, "bookworm", str(root))
        container = self._buildah("from", "scratch")
        self._buildah("copy", "--quiet", container, str(root), "/")
        variables = [f"--env={name}={value}" for name, value in _FETCHING.items()]
        self._buildah("config", f"--env={_PATH}", *variables, container)
        self._buildah("commit", "--quiet", "--rm", container, _BASE)

    def built(self, dockerfile: Path, context: Path, *options: str) -> Image:
        """Return the image that a Dockerfile makes, on the base in the place of its argument PYTHON.

        Args:
            dockerfile: the file.
            context: what COPY copies from.
            options: of `buildah build`, besides.

        Raises:
            AssertionError: if a command fails.
        """
        named = sorted({value for value in _FETCHING.values() if value.startswith("/") and Path(value).exists()})
        name = self._buildah(
            "build", "--quiet", "--isolation=chroot", "--pull=never", f"--build-arg=PYTHON={_BASE}",
            *(f"--volume={path}:{path}:ro" for path in named), *(f"--unsetenv={name}" for name in _FETCHING),
            *options, f"--file={dockerfile}", str(context),
        )  # fmt: skip
        config = json.loads(self._buildah("inspect", "--type=image", name))["OCIv1"]["config"]
        root = self._buildah("mount", self._buildah("from", "--pull=never", name))
        return Image(
            Path(root),
            dict(variable.split("=", 1) for variable in config["Env"]),
            config.get("Entrypoint", []),
            config.get("Cmd", []),
            int(config.get("User") or 0),
            config.get("WorkingDir") or "/",
        )

    def _buildah(self, *words: str) -> str:
        folders = (f"--root={self.storage}/images", f"--runroot={self.storage}/running")
        return _done("buildah", *folders, "--storage-driver=vfs", *words)


def _done(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return done.stdout.strip()
