"""Real vLLM servers on the CPU with tiny models, for text and for pictures; started once, only for `make test-llm`."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
KEY = "sk-tiny-0123456789"
MODEL = "tiny-qwen3"
VISION_MODEL = "tiny-idefics3"
CONTEXT = 16384
START_SECONDS = 400


@dataclass
class Vllm:
    """A running server, the model's folder, and the Python that has vLLM."""

    base_url: str
    model_folder: Path
    python: Path


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PMO_")}
    return {**kept, "VLLM_CPU_KVCACHE_SPACE": "1", "HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1"}


@pytest.fixture(scope="session")
def vllm_python() -> Path:
    """Python of the environment that has vLLM: `PMO_TEST_LLM_PYTHON`, set by `make test-llm`; skips if it is not."""
    python = os.environ.get("PMO_TEST_LLM_PYTHON")
    if not python:
        pytest.skip("needs vLLM in an environment of its own: run `make test-llm`")
    return Path(python).absolute()


@pytest.fixture(scope="session")
def tiny_model(vllm_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of the tiny model for text."""
    return _built(vllm_python, "text", tmp_path_factory.mktemp("models") / MODEL)


@pytest.fixture(scope="session")
def tiny_vision_model(vllm_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of the tiny model that takes pictures."""
    return _built(vllm_python, "vision", tmp_path_factory.mktemp("models") / VISION_MODEL)


def _built(python: Path, kind: str, folder: Path) -> Path:
    folder.mkdir()
    script = Path(__file__).with_name("tiny_model.py")
    subprocess.run([python, script, kind, folder], check=True, env=_environment(), timeout=300)
    return folder


@pytest.fixture(scope="module")
def vllm(vllm_python: Path, tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vllm]:
    """A server that answers chat completions of the tiny model."""
    with _served(vllm_python, tiny_model, tmp_path_factory, {"--load-format": "dummy"}) as server:
        yield server


@pytest.fixture(scope="module")
def vision_vllm(vllm_python: Path, tiny_vision_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vllm]:
    """A server of the tiny model that takes pictures."""
    with _served(vllm_python, tiny_vision_model, tmp_path_factory, {}) as server:
        yield server


@contextmanager
def _served(
    vllm_python: Path, model: Path, tmp_path_factory: pytest.TempPathFactory, further: Mapping[str, str]
) -> Iterator[Vllm]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = tmp_path_factory.mktemp("vllm") / "server.log"
    options = {
        **further,
        "--model": str(model),
        "--served-model-name": model.name,
        "--max-model-len": str(CONTEXT),
        "--structured-outputs-config": '{"backend": "xgrammar", "disable_any_whitespace": true}',
        "--host": "127.0.0.1",
        "--port": str(port),
        "--api-key": KEY,
    }
    command = [str(vllm_python), "-m", "vllm.entrypoints.openai.api_server", "--enforce-eager"]
    for name, value in options.items():
        command += [name, value]
    with (
        log.open("wb") as output,
        subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env=_environment()) as process,
    ):
        try:
            _wait(process, port, log)
            yield Vllm(f"http://127.0.0.1:{port}/v1", model, vllm_python)
        finally:
            process.terminate()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()


def _wait(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    start = time.monotonic()
    while time.monotonic() - start < START_SECONDS:
        if process.poll() is not None:
            break
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=2):
                print(f"vLLM is up after {time.monotonic() - start:.0f} s", file=sys.stderr)
                return
        except OSError:
            time.sleep(1)
    tail = "\n".join(log.read_text(errors="replace").splitlines()[-30:])
    raise RuntimeError(f"vLLM did not start within {START_SECONDS} s; the end of its log:\n{tail}")
