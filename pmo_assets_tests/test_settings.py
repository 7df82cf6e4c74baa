"""Settings and code versions: what changes a result shows, what does not stays silent."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from pmo_assets.assets.dataset import BATCH_ASSETS
from pmo_assets.assets.quality import QUALITY_ASSETS
from pmo_assets.settings import Settings, settings_digest, settings_table
from pmo_assets.versions import source_version


def test_every_option_is_documented_and_has_a_variable() -> None:
    table = settings_table()
    assert [variable for variable, _, _ in table] == [f"PMO_{name.upper()}" for name in Settings.model_fields]
    assert all(len(text) > 20 for _, _, text in table)


def test_the_environment_sets_options(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PMO_BATCH_SIZE", "7")
    assert Settings().batch_size == 7


def test_limits_are_enforced() -> None:
    with pytest.raises(ValidationError):
        Settings(score_threshold=2)


def test_options_name_assets_that_exist() -> None:
    for name, field in Settings.model_fields.items():
        extra = field.json_schema_extra
        assert isinstance(extra, dict)
        assert set(extra["affects"]) <= {*BATCH_ASSETS, *QUALITY_ASSETS, "pubmed_ophtha"}, name  # type: ignore[arg-type]


def test_only_options_that_affect_an_asset_change_its_digest() -> None:
    usual, other = Settings(), Settings(max_dpi=100, workers=1, data_root="elsewhere")
    assert settings_digest(usual, "pdf_figures") != settings_digest(other, "pdf_figures")
    assert settings_digest(usual, "panel_detections") == settings_digest(other, "panel_detections")
    assert settings_digest(usual, "article_batch") == ""


def test_a_source_that_does_not_exist_is_refused() -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        source_version("pipeline/nowhere")


def test_the_source_version_depends_on_what_is_named() -> None:
    assert source_version("pipeline/captions") != source_version("pipeline/figures")


def test_the_readme_lists_settings_and_columns_as_they_are() -> None:
    from pmo_assets.documentation import documented

    readme = Path(__file__).resolve().parents[1] / "README.md"
    assert documented(readme.read_text(encoding="utf-8")) == readme.read_text(encoding="utf-8"), "run `make readme`"
