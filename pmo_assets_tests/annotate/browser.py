"""A headless Chromium, driven through chromedriver's WebDriver protocol: plain JSON over HTTP, no package needed."""

from __future__ import annotations

import base64
import contextlib
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

CHROMIUM = next((path for name in ("chromium", "google-chrome") if (path := shutil.which(name))), None)
CHROMEDRIVER = shutil.which("chromedriver")

_ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
"""Key of an element's name in WebDriver."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Browser:
    """A window."""

    session: str
    client: httpx2.Client

    def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        answer = self.client.request(method, f"{self.session}{path}", json=body if method == "POST" else None)
        content = answer.json()["value"]
        if answer.status_code >= 400:
            raise RuntimeError(f"{content.get('error')}: {str(content.get('message'))[:300]}")
        return content

    def open(self, url: str) -> None:
        self.call("POST", "/url", {"url": url})

    def run(self, script: str, *arguments: Any) -> Any:
        """Return what a script returns; `arguments` are its arguments."""
        return self.call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def screenshot(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(self.call("GET", "/screenshot")))

    def element(self, css: str) -> str:
        return str(self.call("POST", "/element", {"using": "css selector", "value": css})[_ELEMENT])

    def fill(self, css: str, text: str) -> None:
        self.call("POST", f"/element/{self.element(css)}/value", {"text": text})

    def click(self, css: str) -> None:
        self.call("POST", f"/element/{self.element(css)}/click", {})

    def pointer(self, *steps: dict[str, Any]) -> None:
        """Move and press the mouse: `{"x": …, "y": …}` in the window's pixels, or `{"down": True}`, `{"up": True}`."""
        actions: list[dict[str, Any]] = []
        for step in steps:
            if "x" in step:
                actions.append({"type": "pointerMove", "duration": 120, "x": round(step["x"]), "y": round(step["y"])})
            elif "down" in step:
                actions.append({"type": "pointerDown", "button": 0})
            else:
                actions.append({"type": "pointerUp", "button": 0})
        mouse = {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": actions}
        self.call("POST", "/actions", {"actions": [mouse]})

    def key(self, kind: str, value: str) -> None:
        """Press (`keyDown`) or release (`keyUp`) a key; it stays so until the next call."""
        keys = {"type": "key", "id": "keys", "actions": [{"type": kind, "value": value}]}
        self.call("POST", "/actions", {"actions": [keys]})

    def wait(self, done: Callable[[], Any], seconds: float = 60.0) -> Any:
        """Return what `done` gives when it is true for the first time."""
        deadline = time.monotonic() + seconds
        while True:
            with contextlib.suppress(RuntimeError):
                if found := done():
                    return found
            if time.monotonic() > deadline:
                raise TimeoutError(f"waited {seconds:.0f} s in vain")
            time.sleep(0.3)


@contextlib.contextmanager
def browser(profile: Path, width: int = 1600, height: int = 1200) -> Iterator[Browser]:
    """A window of a Chromium of its own."""
    assert CHROMIUM is not None
    assert CHROMEDRIVER is not None
    port = free_port()
    log = (profile.parent / "chromedriver.log").open("wb")
    driver = subprocess.Popen([CHROMEDRIVER, f"--port={port}"], stdout=log, stderr=log)
    client = httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=120)
    try:
        for _ in range(100):
            with contextlib.suppress(httpx2.HTTPError):
                if client.get("/status").json()["value"]["ready"]:
                    break
            time.sleep(0.1)
        options = {
            "binary": CHROMIUM,
            "args": [
                "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", f"--window-size={width},{height}",
                "--disable-background-networking", "--disable-component-update", "--disable-sync",
                "--disable-dev-shm-usage", f"--user-data-dir={profile}",
            ],
        }  # fmt: skip
        wanted = {"capabilities": {"alwaysMatch": {"browserName": "chrome", "goog:chromeOptions": options}}}
        made = client.post("/session", json=wanted).json()["value"]
        window = Browser(f"/session/{made['sessionId']}", client)
        try:
            yield window
        finally:
            window.call("DELETE", "")
    finally:
        client.close()
        driver.terminate()
        driver.wait(20)
        log.close()
