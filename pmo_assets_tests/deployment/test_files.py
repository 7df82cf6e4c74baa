"""The files of the deployment fit the package: settings, commands, what the image holds, what its instance is."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import importlib.util
import json
import re
import shutil
import socket
import subprocess
import time
import tomllib
import urllib.request
from collections.abc import Iterator
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
from pmo_assets.settings import Settings
from pmo_assets.settings.listed import settings_table
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
        told = {key for key in ours()[name]["environment"] if key.startswith(("PMO_", "AWS_"))}
        assert told <= {"PMO_ALLOWED_HOSTS"}, name  # names, which the webserver answers to


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
    runs = other["concurrency"].pop("runs")
    assert runs["max_concurrent_runs"] == 5
    assert runs["tag_concurrency_limits"] == [
        {"key": "dagster/partition", "limit": 5},
        {"key": "dagster/partition", "value": {"applyLimitPerUniqueValue": True}, "limit": 1},
    ]
    usual["concurrency"].pop("runs")
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
    """With hashes: what is resolved is asked for them, what is added later is one of what was resolved."""
    for file in ("Dockerfile", "Dockerfile.gpu"):
        text = (DOCKER / file).read_text("utf-8").replace("\\\n", " ")
        installs = re.findall(r"uv pip install[^&\n]*", text)
        assert installs
        assert all(
            "constraint" in part and "constraints.txt" in part for part in installs if "detectron2 @" not in part
        )
        assert all("--require-hashes" in part for part in installs if "--requirement" in part), installs


def pinned() -> dict[str, tuple[str, list[str]]]:
    """Return version and hashes of each package in constraints.txt."""
    found = {}
    for block in re.split(r"\n(?=\w)", (ROOT / "constraints.txt").read_text("utf-8")):
        if entry := re.match(r"([\w.-]+)==([^\s;]+)", block):
            found[entry[1]] = (entry[2], re.findall(r"--hash=sha256:([0-9a-f]{64})(?![0-9a-f])", block))
    return found


def test_every_pinned_version_has_hashes() -> None:
    packages = pinned()
    assert {"dagster", "pymupdf", "torch", "uv", "hatchling", "editables"} <= set(packages)
    assert [name for name, (_, hashes) in packages.items() if not hashes] == []


def test_both_builds_of_onnxruntime_have_one_version() -> None:
    """The image for a GPU puts one in the place of the other."""
    assert pinned()["onnxruntime-gpu"][0] == pinned()["onnxruntime"][0]


WITHOUT_DIGEST = {"vllm/vllm-openai", "heartexlabs/label-studio"}
"""Images of optional profiles, whose digests nobody could look up yet: `make image-digests` writes them."""


@pytest.fixture(scope="module")
def digests() -> ModuleType:
    """`docker/digests.py`, which is no module of the package."""
    spec = importlib.util.spec_from_file_location("digests", DOCKER / "digests.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_images_are_named_by_their_digest(digests: ModuleType) -> None:
    named = {}
    for path in (*DOCKER.glob("Dockerfile*"), *DOCKER.glob("compose*.yaml")):
        for match in digests.IMAGE.finditer(path.read_text("utf-8")):
            named[match["name"]] = match["digest"]
    named = {name: digest for name, digest in named.items() if not name.startswith("pmo-assets")}
    assert {"python", "postgres", "nvidia/cuda", "chrislusf/seaweedfs"} <= set(named)
    assert {name for name, digest in named.items() if digest is None} == WITHOUT_DIGEST
    for service in services().values():
        assert service["image"].split(":")[0] in named or service["image"].startswith("pmo-assets"), service["image"]


def test_every_base_is_an_image_with_a_digest() -> None:
    """A FROM that named one directly would escape `test_images_are_named_by_their_digest`."""
    for file in ("Dockerfile", "Dockerfile.gpu"):
        text = (DOCKER / file).read_text("utf-8")
        variables = dict(re.findall(r"^ARG (\w+)=(.*)$", text, re.MULTILINE))
        stages = set(re.findall(r"^FROM \S+ AS (\S+)$", text, re.MULTILINE))
        for base in re.findall(r"^FROM (\S+)", text, re.MULTILINE):
            name = base
            for variable, value in variables.items():
                name = name.replace(f"${{{variable}}}", value)
            assert name in stages or "@sha256:" in name, base


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[str]:
    """The address of a real registry with one image, `eye:1`; Debian's package docker-registry."""
    program = shutil.which("docker-registry")
    if program is None:
        pytest.skip("docker-registry is not installed (Debian's package of that name)")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    config = {
        "version": 0.1,
        "log": {"level": "error"},
        "storage": {"filesystem": {"rootdirectory": str(tmp_path / "registry")}},
        "http": {"addr": address},
    }
    (tmp_path / "registry.yaml").write_text(yaml.safe_dump(config))
    process = subprocess.Popen([program, "serve", str(tmp_path / "registry.yaml")], stderr=subprocess.DEVNULL)
    try:
        for _ in range(100):
            with contextlib.suppress(OSError), urllib.request.urlopen(f"http://{address}/v2/", timeout=5):
                break
            time.sleep(0.1)
        yield address
    finally:
        process.terminate()
        process.wait()


def push(address: str, name: str, tag: str, content: bytes) -> str:
    """Put an image of one empty layer list into a registry, and return the digest of its manifest."""
    digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
    begin = urllib.request.Request(f"http://{address}/v2/{name}/blobs/uploads/", method="POST")
    with urllib.request.urlopen(begin, timeout=10) as answer:
        place = answer.headers["Location"]
    join = "&" if "?" in place else "?"
    blob = urllib.request.Request(f"{place}{join}digest={digest}", data=content, method="PUT")
    blob.add_header("Content-Type", "application/octet-stream")
    urllib.request.urlopen(blob, timeout=10).close()
    kind = "application/vnd.docker.distribution.manifest.v2+json"
    config = {"mediaType": "application/vnd.docker.container.image.v1+json", "size": len(content), "digest": digest}
    manifest = json.dumps({"schemaVersion": 2, "mediaType": kind, "config": config, "layers": []}).encode()
    put = urllib.request.Request(f"http://{address}/v2/{name}/manifests/{tag}", data=manifest, method="PUT")
    put.add_header("Content-Type", kind)
    urllib.request.urlopen(put, timeout=10).close()
    return f"sha256:{hashlib.sha256(manifest).hexdigest()}"


def test_digests_are_what_the_registry_says(digests: ModuleType, registry: str, tmp_path: Path) -> None:
    first = push(registry, "eye", "1", b"{}")
    file = tmp_path / "compose.yaml"
    file.write_text(f"services:\n  eye:\n    image: {registry}/eye:1\n")
    assert digests.main([str(file)]) == 1  # missing
    assert digests.main(["--write", str(file)]) == 0
    assert f"image: {registry}/eye:1@{first}\n" in file.read_text()
    assert digests.main([str(file)]) == 0
    second = push(registry, "eye", "1", b'{"moved": true}')
    assert second != first
    assert digests.main([str(file)]) == 1  # the tag has moved
    assert f"@{first}" in file.read_text()


def test_a_registry_that_is_not_there_is_no_agreement(digests: ModuleType, tmp_path: Path) -> None:
    file = tmp_path / "compose.yaml"
    file.write_text(f"    image: 127.0.0.1:9/eye:1@sha256:{'0' * 64}\n")
    assert digests.main([str(file)]) == 2
