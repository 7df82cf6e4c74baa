"""The whole chain of instructions against a real vLLM engine with random weights: killed, it goes on where it was.

Random weights say nothing that fits, so that the grammar's cues and the templates stay and every instruction is judged;
that the engine takes the three schemas, and that no answer is asked for twice, is what is tested.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from pmo_assets_tests.llm.conftest import KEY, MODEL, REPOSITORY, Vllm

pytestmark = pytest.mark.llm

_PATIENCE = 900


def started(vllm: Vllm, folder: Path) -> subprocess.Popen[str]:
    script = Path(__file__).with_name("instruction_chain.py")
    return subprocess.Popen(
        [sys.executable, script, vllm.base_url, MODEL, KEY, folder], cwd=REPOSITORY, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, env={"PYTHONPATH": str(REPOSITORY), "PATH": ""},
    )  # fmt: skip


def finished(vllm: Vllm, folder: Path) -> dict[str, Any]:
    with started(vllm, folder) as process:
        out, err = process.communicate(timeout=_PATIENCE)
    assert process.returncode == 0, err[-3000:]
    said: dict[str, Any] = json.loads(out.splitlines()[-1])
    return said


def answers(folder: Path) -> dict[str, tuple[int, str]]:
    """Return when each kept answer was written, and what it holds."""
    return {path.name: (path.stat().st_mtime_ns, path.read_text()) for path in folder.rglob("answers/*/*.json")}


def test_a_chain_that_was_killed_asks_nothing_twice(vllm: Vllm, tmp_path: Path) -> None:
    with started(vllm, tmp_path) as process:
        begun = time.monotonic()
        while len(answers(tmp_path)) < 3:
            assert process.poll() is None, process.stderr and process.stderr.read()[-3000:]
            assert time.monotonic() - begun < _PATIENCE
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
        process.wait()
    before = answers(tmp_path)
    assert len(before) >= 3

    said = finished(vllm, tmp_path)
    after = answers(tmp_path)
    assert {name: after[name] for name in before} == before, "none was written again"
    asked = sum(requests for requests, _ in said["usage"].values())
    hits = sum(cached for _, cached in said["usage"].values())
    assert hits >= len(before)
    assert asked == len(after) - len(before)
    assert set(said["usage"]) == {"cues", "instructions", "verdicts"}
    assert said["usage"]["verdicts"][0] + said["usage"]["verdicts"][1] >= said["rows"]["verdicts"] > 0
    prompts = {json.loads(text)["prompt_version"].split()[0] for _, text in after.values()}
    assert len(prompts) == 3, "all three tasks were put to the engine"

    again = finished(vllm, tmp_path)
    assert sum(requests for requests, _ in again["usage"].values()) == 0
    assert again["tables"] == said["tables"]
    assert answers(tmp_path) == after
