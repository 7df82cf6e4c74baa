"""A run works with the settings that its code location had when it loaded, whatever `.env` says meanwhile."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pmo_assets.configuration.frozen import FROZEN, frozen_settings


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [name for name in os.environ if name.startswith("PMO_")]:
        monkeypatch.delenv(name)
    monkeypatch.delenv(FROZEN, raising=False)
    monkeypatch.setattr(os, "environ", os.environ.copy())
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text("PMO_MAX_DPI=150\nPMO_LLM_API_KEY=key\n")
    return tmp_path


def test_a_run_does_not_see_what_was_written_after_the_code_location_loaded(folder: Path) -> None:
    loaded = frozen_settings()
    (folder / ".env").write_text("PMO_MAX_DPI=300\nPMO_MAX_PAGES=7\n")
    os.environ["PMO_MAX_DPI"] = "300"  # as Dagster does, which reads `.env` in every process
    run = frozen_settings()
    assert (loaded.max_dpi, run.max_dpi, run.max_pages) == (150, 150, loaded.max_pages)
    assert run.llm_api_key is not None
    assert run.llm_api_key.get_secret_value() == "key"


def test_a_reload_reads_what_is_written_now(folder: Path) -> None:
    frozen_settings()
    (folder / ".env").write_text("PMO_MAX_DPI=300\n")
    del os.environ[FROZEN]  # a reload is a new process
    assert frozen_settings().max_dpi == 300
