"""Settings and code versions: what changes a result shows, what does not stays silent."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pydantic import ValidationError

from pmo_assets.cli.documentation import DOCUMENTS, documented
from pmo_assets.defs.assets.quality import QUALITY_ASSETS
from pmo_assets.defs.graph import batch_graph
from pmo_assets.defs.loading import all_assets
from pmo_assets.pipeline.graph import declared_units
from pmo_assets.records.stores import SystemicError
from pmo_assets.settings import Settings
from pmo_assets.settings.listed import settings_table
from pmo_assets.settings.shaping import settings_digest
from pmo_assets.settings.step_options import detection_options
from pmo_assets.tables.release import release_tables


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


def test_shares_of_the_splits_are_of_a_whole() -> None:
    """Said at the start and not after days of processing, when the release is made."""
    assert Settings(validation_share=0.3, test_share=0.7).test_share == 0.7
    for options in ({"validation_share": 0.95}, {"validation_share": 0.6, "test_share": 0.5}):
        with pytest.raises(ValueError, match="together with PMO_VALIDATION_SHARE it is more than 1"):
            Settings.model_validate(options)
    with pytest.raises(ValueError, match="with PMO_TEST_SHARE=1 there is no split"):
        Settings(validation_share=0, test_share=1, test_from_year=2024)


def test_options_name_assets_that_exist() -> None:
    stages = {name for unit in declared_units() for name in batch_graph(all_assets(), unit).stages}
    for name, field in Settings.model_fields.items():
        extra = field.json_schema_extra
        assert isinstance(extra, dict)
        release = ("retractions", "panel_duplicates", "pubmed_ophtha", "dataset_report")
        assert set(extra["affects"]) <= {*stages, *QUALITY_ASSETS, *release}, name  # type: ignore[arg-type]


def test_a_trusted_source_is_an_address_of_a_source() -> None:
    assert Settings().trusted_sources == "pmc://"
    assert settings_digest(Settings(), "retractions") != settings_digest(Settings(trusted_sources=""), "retractions")
    with pytest.raises(ValueError, match="articles/ is no source: give file:///FOLDER or pmc://BUCKET"):
        Settings(trusted_sources="pmc:// articles/")


def test_only_options_that_affect_an_asset_change_its_digest() -> None:
    usual, other = Settings(), Settings(max_dpi=100, workers=1, data_root="elsewhere")
    assert settings_digest(usual, "pdf_figures") != settings_digest(other, "pdf_figures")
    assert settings_digest(usual, "panel_detections") == settings_digest(other, "panel_detections")
    assert settings_digest(usual, "article_batch") == ""


def test_weights_count_with_their_content(tmp_path: Path) -> None:
    first, second = tmp_path / "a.pth", tmp_path / "b.pth"
    first.write_bytes(b"weights")
    second.write_bytes(b"weights")
    plain, by_first = settings_digest(Settings(), "panel_detections"), Settings(panel_checkpoint=first)
    digest = settings_digest(by_first, "panel_detections")
    assert digest != plain
    assert settings_digest(Settings(panel_checkpoint=second), "panel_detections") == digest
    first.write_bytes(b"other weights")
    assert settings_digest(by_first, "panel_detections") != digest
    first.unlink()
    assert settings_digest(by_first, "panel_detections") != digest, "a missing file does not break the code location"


def test_the_configuration_beside_a_checkpoint_counts(tmp_path: Path) -> None:
    first, config, base = tmp_path / "a.pth", tmp_path / "config.yaml", tmp_path / "base.yaml"
    first.write_bytes(b"weights")
    settings = Settings(panel_checkpoint=first)
    digests = [settings_digest(settings, "panel_detections")]
    config.write_text("_BASE_: base.yaml\nMODEL: {}")
    digests.append(settings_digest(settings, "panel_detections"))
    base.write_text("TEST: {DETECTIONS_PER_IMAGE: 60}")
    digests.append(settings_digest(settings, "panel_detections"))
    base.write_text("TEST: {DETECTIONS_PER_IMAGE: 600}")
    digests.append(settings_digest(settings, "panel_detections"))
    config.write_text("{")
    digests.append(settings_digest(settings, "panel_detections"))
    config.unlink()
    config.mkdir()
    digests.append(settings_digest(settings, "panel_detections"))
    assert len(set(digests)) == 6, "also one that cannot be read, which the step refuses"
    other = Settings(detector_weights=first)
    config.rmdir()
    plain = settings_digest(other, "panel_detections")
    config.write_text("MODEL: {}")
    assert settings_digest(other, "panel_detections") == plain, "not of Detectron2"


def test_weights_in_the_home_folder_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    settings = Settings(panel_checkpoint=Path("~/a.pth"))
    absent = settings_digest(settings, "panel_detections")
    (tmp_path / "a.pth").write_bytes(b"weights")
    assert settings_digest(settings, "panel_detections") != absent


def test_weights_count_only_for_what_they_find(tmp_path: Path) -> None:
    file = tmp_path / "weights"
    file.write_bytes(b"weights")
    usual = Settings()
    for option in ("image_checkpoint", "mark_weights", "image_type_weights"):
        other = Settings.model_validate({option: file})
        assert settings_digest(usual, "panel_detections") == settings_digest(other, "panel_detections")
        assert settings_digest(usual, "image_detections") != settings_digest(other, "image_detections")


def test_missing_weights_fail_the_step_and_name_the_option(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PMO_IMAGE_CHECKPOINT", str(tmp_path / "absent.pth"))
    monkeypatch.setenv("PMO_DETECTOR_WEIGHTS", "")
    assert Settings().detector_weights is None
    with pytest.raises(SystemicError, match=r"PMO_IMAGE_CHECKPOINT.*absent\.pth"):
        detection_options(Settings())
    assert detection_options(Settings(detectors="structure")).image_checkpoint is None


def test_weights_reach_the_steps_as_absolute_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.onnx", "b.onnx", "types.onnx", "c.pth", "d.pth"):
        (tmp_path / name).touch()
    options = detection_options(
        Settings(
            detector_weights=Path("a.onnx"),
            mark_weights=Path("b.onnx"),
            image_type_weights=Path("types.onnx"),
            panel_checkpoint=Path("c.pth"),
            image_checkpoint=Path("d.pth"),
            detector_runtime="detectron2",
        )
    )
    assert (options.detector_file, options.marks_file) == (tmp_path / "a.onnx", tmp_path / "b.onnx")
    assert options.types_file == tmp_path / "types.onnx"
    assert (options.panel_checkpoint, options.image_checkpoint) == (tmp_path / "c.pth", tmp_path / "d.pth")
    assert options.runtime == "detectron2"


@pytest.mark.parametrize("document", DOCUMENTS)
def test_documents_list_settings_and_columns_as_they_are(document: str) -> None:
    text = (Path(__file__).resolve().parents[1] / document).read_text(encoding="utf-8")
    assert documented(text) == text, "run `make documents`"


def test_each_setting_has_a_user_and_a_reason() -> None:
    text = (Path(__file__).resolve().parents[1] / "docs/settings.md").read_text(encoding="utf-8")
    rows = [line.split(" | ")[1] for line in text.partition("<!-- settings -->")[0].splitlines() if " | " in line][2:]
    named = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
    assert sorted(named) == sorted(name.upper() for name in Settings.model_fields)


def test_generated_parts_stand_in_the_documents() -> None:
    root = Path(__file__).resolve().parents[1]
    texts = "".join((root / document).read_text(encoding="utf-8") for document in DOCUMENTS)
    tables = [f"<!-- /columns of {table} -->" for table in release_tables()]
    assert [texts.count(words) for words in ("<!-- /settings -->", *tables)] == [1] * (1 + len(tables))
    assert "| `PMO_DATA_ROOT` |" in texts
    assert "| `panel_image_bytes` |" in texts


@pytest.mark.parametrize("option", ["article_timeout", "llm_timeout"])
@pytest.mark.parametrize("value", ["inf", "nan", "1e9", "0"])
def test_time_limits_are_limits(option: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"PMO_{option.upper()}", value)
    with pytest.raises(ValidationError):
        Settings()


def test_a_memory_limit_below_what_ordinary_figures_need_is_refused() -> None:
    assert Settings(worker_memory_mb=0).worker_memory_mb == 0
    with pytest.raises(ValidationError, match="ordinary figures"):
        Settings(worker_memory_mb=511)


def test_a_port_that_is_none_is_refused() -> None:
    with pytest.raises(ValidationError, match="no address"):
        Settings(llm_base_url="http://127.0.0.1:99999/v1", llm_model="m")


def test_weights_of_the_package_are_chosen_by_name() -> None:
    chosen = Settings(detector_weights=Path("open-pmc-18m")).detector_weights
    assert chosen is not None
    assert chosen.name == "open_pmc_18m.onnx"
    assert chosen.is_file()
    assert Settings(detector_weights=Path("mine.onnx")).detector_weights == Path("mine.onnx")


def test_instructions_by_a_model_need_a_model() -> None:
    with pytest.raises(ValidationError, match="PMO_LLM_MODEL"):
        Settings(llm_instructions=True, llm_model=None)
    assert Settings(llm_instructions=True, llm_model="writes").llm_instructions
    assert not Settings(llm_model="writes").llm_instructions, "off by default"


def test_regions_by_a_model_need_a_model() -> None:
    with pytest.raises(ValidationError, match="PMO_VLM_MODEL"):
        Settings(vlm_regions=True, vlm_model=None)
    assert Settings(vlm_regions=True, vlm_model="sees").vlm_regions
    assert not Settings(vlm_model="sees").vlm_regions, "off by default"
