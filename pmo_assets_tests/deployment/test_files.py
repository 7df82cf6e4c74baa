"""The files of the deployment fit the package: settings, commands, what the image holds, what its instance is."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re
import tomllib
from fnmatch import fnmatch
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import typer
import yaml
from dagster import DagsterInvalidConfigError
from dagster._core.instance.config import dagster_instance_config_schema
from dagster._core.instance.ref import InstanceRef

from pmo_assets.cli.main import app
from pmo_assets.settings import Settings, settings_table
from pmo_assets_tests.deployment.compose import DOCKER, ROOT, ours, services

READERS_OF_SETTINGS = ("code", "pages")
"""Services in whose containers the package's own code runs; webserver and daemon ask the code location."""


@pytest.fixture(scope="module")
def entry_point() -> ModuleType:
    """`docker/instance.py`, which is no module of the package."""
    spec = importlib.util.spec_from_file_location("instance", DOCKER / "instance.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def instance_config(entry_point: ModuleType, max_concurrent_runs: str = "") -> dict[str, Any]:
    texts = [(ROOT / name).read_text("utf-8") for name in ("dagster.yaml", "docker/instance.yaml")]
    config: dict[str, Any] = entry_point.instance_config(*texts, max_concurrent_runs)
    return config


def test_every_setting_reaches_the_containers_that_read_settings() -> None:
    """The whole `.env` goes in: no list that a new setting could be missing from."""
    for name in READERS_OF_SETTINGS:
        assert services()[name]["env_file"] == ".env", name


def test_other_containers_are_told_no_secret_of_the_settings() -> None:
    for name in set(ours()) - set(READERS_OF_SETTINGS):
        assert "env_file" not in ours()[name], name
        assert [key for key in ours()[name]["environment"] if key.startswith(("PMO_", "AWS_"))] == [], name


def test_the_example_names_every_setting_once() -> None:
    text = (DOCKER / ".env.example").read_text("utf-8")
    named = re.findall(r"^#? ?(PMO_\w+)=", text, re.MULTILINE)
    assert sorted(named) == sorted(variable for variable, _, _ in settings_table())


def test_what_compose_sets_are_settings() -> None:
    """A misspelt name would set nothing, and be refused."""
    known = {f"PMO_{name.upper()}" for name in Settings.model_fields}
    for file in ("compose.yaml", "compose.gpu.yaml"):
        text = (DOCKER / file).read_text("utf-8")
        assert set(re.findall(r"PMO_[A-Z0-9_]+\b", text)) - {"PMO_"} <= known, file


def test_compose_variables_stand_in_the_example() -> None:
    text = (DOCKER / ".env.example").read_text("utf-8")
    wanted = set(re.findall(r"\$\{(\w+)", (DOCKER / "compose.yaml").read_text("utf-8")))
    assert {name for name in wanted if not re.search(rf"^(# )?{name}=", text, re.MULTILINE)} == set()


def _commands() -> list[tuple[str, list[str]]]:
    """Return (service, command) of the project's services; a shell's as those that it calls."""
    found = []
    for name, service in ours().items():
        shell = service["command"][:2] == ["sh", "-c"]
        parts = [part.split() for part in service["command"][2].split(" && ")] if shell else [service["command"]]
        found += [(name, part) for part in parts]
    return found


def test_every_command_is_one() -> None:
    """Of the project, or of a package that the image holds."""
    scripts = {script.name for script in importlib.metadata.entry_points(group="console_scripts")}
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    for name, words in _commands():
        program, *arguments = words
        assert program in scripts, name
        if program == "pmo":
            options = {option for parameter in commands[arguments[0]].params for option in parameter.opts}
            assert {argument for argument in arguments if argument.startswith("--")} <= options, name


@pytest.mark.parametrize("name", [name for name in services() if name != "migrate"])
def test_every_service_that_stays_says_whether_it_is_well(name: str) -> None:
    assert services()[name]["healthcheck"]["test"][0] == "CMD"


def test_webserver_and_daemon_wait_for_the_code_location() -> None:
    for name in ("webserver", "daemon"):
        assert services()[name]["depends_on"]["code"] == {"condition": "service_healthy"}


def test_nothing_listens_beyond_this_machine() -> None:
    published = [port for service in services().values() for port in service.get("ports", [])]
    assert published
    assert [port for port in published if not port.startswith("127.0.0.1:")] == []


def test_passwords_have_no_default() -> None:
    text = (DOCKER / "compose.yaml").read_text("utf-8")
    for name in ("DAGSTER_PG_PASSWORD", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        assert f"${{{name}:?" in text
        assert f"${{{name}:-" not in text


def test_the_instance_is_the_project_s_but_for_its_storage(entry_point: ModuleType) -> None:
    config = instance_config(entry_point)
    assert set(config.pop("storage")) == {"postgres"}
    assert config == yaml.safe_load((ROOT / "dagster.yaml").read_text("utf-8"))


def test_the_number_of_runs_at_once_comes_from_the_environment(entry_point: ModuleType) -> None:
    usual, other = instance_config(entry_point), instance_config(entry_point, "5")
    assert other["concurrency"].pop("runs") == {**usual["concurrency"].pop("runs"), "max_concurrent_runs": 5}
    assert other == usual
    with pytest.raises(ValueError, match="is to be a number"):
        instance_config(entry_point, "many")


def test_dagster_takes_the_instance(entry_point: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own check of the file, which looks at names and types; PostgreSQL is not asked."""
    pytest.importorskip("dagster_postgres", reason="the extra postgres is not installed")
    for name in ("HOST", "PORT", "DB", "USER", "PASSWORD"):
        monkeypatch.setenv(f"DAGSTER_PG_{name}", "5432" if name == "PORT" else "word")
    (tmp_path / "dagster.yaml").write_text(yaml.safe_dump(instance_config(entry_point)))
    try:
        reference = InstanceRef.from_dir(str(tmp_path))
    except DagsterInvalidConfigError as error:  # pragma: no cover - said in Dagster's words
        raise AssertionError(str(error)) from error
    assert set(reference.settings) <= set(dagster_instance_config_schema())


def copied_into_the_image(file: str) -> set[str]:
    """Return what a Dockerfile takes from the repository."""
    found: set[str] = set()
    for line in re.findall(r"^COPY (?!--from)(.+)$", (DOCKER / file).read_text("utf-8"), re.MULTILINE):
        found |= set(line.split()[:-1])
    return found


@pytest.mark.parametrize("file", ["Dockerfile", "Dockerfile.gpu"])
def test_the_image_is_built_from_all_that_the_package_holds(file: str) -> None:
    """As the build's own configuration says it: without prompts or dagster.yaml the wheel could not be made."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    wanted = {*wheel["packages"], *wheel["force-include"], project["project"]["readme"], "pyproject.toml"}
    copied = copied_into_the_image(file)
    assert wanted <= copied
    assert all((ROOT / path).exists() for path in copied)


def test_the_build_is_sent_nothing_else() -> None:
    """`.dockerignore` leaves everything out but what is copied: no data, no `.env`, no environment."""
    lines = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    sent = {line[1:] for line in lines if line.startswith("!")}
    assert "**" in lines
    assert sent == copied_into_the_image("Dockerfile") == copied_into_the_image("Dockerfile.gpu")
    assert not any(fnmatch("docker/.env", pattern) for pattern in sent)


@pytest.mark.parametrize("file", ["Dockerfile", "Dockerfile.gpu"])
def test_containers_run_as_nobody_in_particular(file: str) -> None:
    text = (DOCKER / file).read_text("utf-8")
    assert re.findall(r"^USER (\d+)$", text, re.MULTILINE) == ["10001"]
    assert text.index("\nUSER") < text.index("\nENTRYPOINT")


def test_the_pinned_versions_are_installed() -> None:
    for file in ("Dockerfile", "Dockerfile.gpu"):
        text = (DOCKER / file).read_text("utf-8").replace("\\\n", " ")
        installs = [part for part in re.findall(r"uv pip install[^&\n]*", text) if "--no-deps" not in part]
        assert installs
        assert all("--constraint" in part and "constraints.txt" in part for part in installs), installs
