"""Settings that are handed to another process are the same there, except for keys, which are not handed on."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from pmo_assets.configuration.environment import environment
from pmo_assets.settings import Settings


def test_the_environment_for_another_process_gives_the_same_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    chosen = Settings(
        data_root="data", workers=3, only_wanted_figures=False, refresh_from=date(2026, 1, 31), vlm_model="m",
        vlm_engine_options={"max_model_len": 8192}, specialty="own.toml", detector_weights=Path("own.onnx"),
    )  # fmt: skip
    for name, value in environment(chosen).items():
        monkeypatch.setenv(name, value)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    there = Settings()
    assert there.data_root == str(tmp_path / "data")
    assert there.detector_weights == tmp_path / "own.onnx"
    assert there.specialty == str(tmp_path / "own.toml")
    kept = ("workers", "only_wanted_figures", "refresh_from", "vlm_model", "vlm_engine_options")
    assert [getattr(there, name) for name in kept] == [getattr(chosen, name) for name in kept]


def test_the_environment_for_another_process_holds_no_key() -> None:
    keys: dict[str, Any] = {"llm_api_key": "hidden", "celery_broker": "redis://:hidden@host/0"}
    chosen = Settings(**keys)
    assert "hidden" not in str(environment(chosen))
