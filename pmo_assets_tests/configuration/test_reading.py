"""What is set is checked before anything begins: names, values, files; each problem says where it was set."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from pmo_assets.configuration.frozen import FROZEN
from pmo_assets.configuration.reading import (
    GONE,
    OTHER_NAMES,
    TEST_NAMES,
    ConfigurationError,
    configured_settings,
    name_problem,
    read_configuration,
)
from pmo_assets.definitions import build_defs, defs
from pmo_assets.settings import Settings


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_specialty_that_does_not_exist_is_refused_and_those_that_do_are_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PMO_SPECIALTY", "dermatology")
    with pytest.raises(ConfigurationError, match=r"PMO_SPECIALTY \(environment\).*everything, ophthalmology"):
        configured_settings()


def test_the_code_location_does_not_load_with_what_cannot_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PMO_MARK_WEIGHTS", "absent.onnx")
    with pytest.raises(ConfigurationError, match=r"PMO_MARK_WEIGHTS.*absent\.onnx"):
        build_defs()


def test_what_dagster_loads_is_refused_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """The object that webserver, daemon and runs load, not only the function behind it."""
    monkeypatch.delenv(FROZEN, raising=False)
    monkeypatch.setenv("PMO_SPECIALTY", "dermatology")
    with pytest.raises(ConfigurationError, match=r"PMO_SPECIALTY \(environment\)"):
        defs()


def test_a_misspelt_name_is_refused_in_the_environment_and_in_the_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PMO_DATAROOT", "elsewhere")
    (folder / ".env").write_text("PMO_WORKER_MEMORY=4096\nOTHER=1\nPMO_BATCH_SIZE=7\n")
    problems = {str(problem) for problem in read_configuration().problems}
    assert problems == {
        "PMO_DATAROOT (environment): there is no such setting, did you mean PMO_DATA_ROOT?",
        f"PMO_WORKER_MEMORY ({folder / '.env'}): there is no such setting, did you mean PMO_WORKER_MEMORY_MB?",
    }
    with pytest.raises(ConfigurationError, match=r"PMO_WORKER_MEMORY .*; PMO_DATAROOT "):
        configured_settings()


@pytest.mark.parametrize(
    "name",
    [
        "PMO_CORPUS",
        "PMO_TEST_LLM_PYTHON",
        "PMO_TEST_ANYTHING_NEW",
        "PMO_WEBSERVER_SERVICE_HOST",
        "PMO_WEBSERVER_SERVICE_PORT_HTTP",
        "PMO_WEBSERVER_PORT",
        "PMO_WEBSERVER_PORT_3000_TCP_ADDR",
        "pmo_data_root",
    ],
)
def test_names_of_tests_of_containers_and_in_small_letters_are_known(name: str) -> None:
    assert name_problem(name) is None


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("PMO_TEST_SHARES", "PMO_TEST_SHARE?"),
        ("PMO_TESTFROM_YEAR", "PMO_TEST_FROM_YEAR?"),
        ("PMO_SPECIALITY", "PMO_SPECIALTY?"),
        ("PMO_ENTREZ_MAIL", "PMO_ENTREZ_EMAIL?"),
        ("PMO_COLOUR", "unset it"),
    ],
)
def test_other_names_are_not(name: str, words: str) -> None:
    assert words in str(name_problem(name))


def test_every_name_that_the_project_mentions_is_known() -> None:
    root = Path(__file__).resolve().parents[2]
    listed = subprocess.run(
        ["git", "ls-files", "pmo_assets", "docs", "docker", "Makefile", "README.md", "benchmarks"],
        cwd=root, capture_output=True, text=True, check=False,
    ).stdout.split()  # fmt: skip
    if not listed:
        pytest.skip("not a clone")
    known = {f"PMO_{name.upper()}" for name in Settings.model_fields} | {*OTHER_NAMES, *TEST_NAMES}
    strange = {
        f"{name} in {file}"
        for file in listed
        if (root / file).suffix in {".py", ".md", ".yaml", ".yml", "", ".toml"} and (root / file).is_file()
        for name in re.findall(r"\bPMO_[A-Z0-9_]*[A-Z0-9](?![A-Z0-9_*{])", (root / file).read_text("utf-8"))
        if name not in known and name not in ("PMO_LLM", "PMO_VLM") and name_problem(name) is not None
        if name not in GONE or file != "pmo_assets/configuration/reading.py"
    }
    assert not strange, "add it to OTHER_NAMES, if it is no setting"


def test_a_setting_that_is_gone_says_what_is_in_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not set(GONE) & {f"PMO_{name.upper()}" for name in Settings.model_fields}
    monkeypatch.setenv("PMO_VLM_REASKS", "3")
    with pytest.raises(ConfigurationError, match=r"PMO_VLM_REASKS \(environment\): .*PMO_LLM_REASKS counts"):
        configured_settings()


def test_each_value_says_where_it_was_set(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / ".env").write_text("PMO_BATCH_SIZE=7\nPMO_MAX_DPI=300\nPMO_WORKERS=2\n")
    monkeypatch.setenv("PMO_MAX_DPI", "200")
    monkeypatch.setenv("PMO_WORKERS", "2")
    monkeypatch.setenv("PMO_MAX_PAGES", "")
    here = read_configuration()
    file = str(folder / ".env")
    assert (here.settings.batch_size, here.settings.max_dpi) == (7, 200)
    assert {name: here.origins.get(name) for name in ("batch_size", "max_dpi", "workers", "max_pages")} == {
        "batch_size": file,
        "max_dpi": "environment",
        "workers": file,  # Dagster copies the file into its processes' environment
        "max_pages": None,
    }


def test_all_that_is_wrong_is_said_at_once_and_the_rest_can_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PMO_BATCH_SIZE", "many")
    monkeypatch.setenv("PMO_TEST_SHARE", "0.95")
    monkeypatch.setenv("PMO_LLM_API_KEY", "secret\x07")
    monkeypatch.setenv("PMO_MAX_DPI", "100")
    here = read_configuration()
    assert [problem.variable for problem in here.problems] == ["PMO_BATCH_SIZE", "PMO_LLM_API_KEY", "PMO_TEST_SHARE"]
    assert here.settings.max_dpi == 100
    assert "secret" not in " ".join(map(str, here.problems))


@pytest.mark.parametrize(
    ("variable", "value", "words"),
    [
        ("PMO_DETECTOR_WEIGHTS", "absent.onnx", "there is no file"),
        ("PMO_PANEL_CHECKPOINT", ".", "is not a file"),
        ("PMO_SPECIALTY", "absent.toml", "cannot be read"),
        ("PMO_SPECIALTY", "broken.toml", "no TOML file"),
        ("PMO_ANNOTATIONS", "absent", "no annotation file at absent"),
        ("PMO_ANNOTATIONS", "absent/*.json", "no annotation file"),
        ("PMO_BIOMEDICA", "./absent.parquet", "neither a file nor a folder"),
        ("PMO_BIOMEDICA", "ftp://x/y", "give a path"),
        ("PMO_DATA_ROOT", "broken.toml", "not a folder"),
    ],
)
def test_what_a_setting_names_must_be_there(
    variable: str, value: str, words: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "broken.toml").write_text("[")
    monkeypatch.setenv(variable, value)
    with pytest.raises(ConfigurationError, match=rf"{variable} \(environment\): .*{re.escape(words)}"):
        configured_settings()


def test_what_is_there_is_accepted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "people").mkdir()
    (folder / "a.onnx").touch()
    monkeypatch.setenv("PMO_ANNOTATIONS", "people")
    monkeypatch.setenv("PMO_DETECTOR_WEIGHTS", "a.onnx")
    monkeypatch.setenv("PMO_BIOMEDICA", "BIOMEDICA/biomedica_webdataset_24M")
    assert configured_settings().annotations == "people"


def test_what_a_command_makes_need_not_be_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PMO_ANNOTATIONS", "people")
    assert configured_settings(made_later=("annotations",)).annotations == "people"


def test_a_model_that_is_missing_is_named_where_only_its_endpoint_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PMO_LLM_BASE_URL", "http://127.0.0.1:1/v1")
    with pytest.raises(ConfigurationError, match="PMO_LLM_MODEL"):
        configured_settings()
