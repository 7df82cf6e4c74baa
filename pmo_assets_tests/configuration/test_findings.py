"""What `pmo doctor` looks at: each check on the real thing, broken and whole."""

from __future__ import annotations

import http.server
import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from pydantic import SecretStr

from pmo_assets.configuration import installation, machine, services
from pmo_assets.configuration.findings import Finding, checked
from pmo_assets.configuration.reading import read_configuration
from pmo_assets.settings import Settings
from pmo_assets.storage.data_root import DataRoot
from pmo_assets_tests.storage import conftest

s3_endpoint = conftest.s3_endpoint


def states(findings: list[Finding]) -> list[str]:
    return [item.state for item in findings]


def test_a_check_that_raises_or_hangs_is_a_failure_and_no_more() -> None:
    def raises() -> list[Finding]:
        raise OSError("the disk\nis gone")

    assert checked("disk", raises) == [Finding("disk", "fail", "the disk is gone")]

    def hangs() -> list[Finding]:
        time.sleep(30)
        return []

    start = time.monotonic()
    (hung,) = checked("server", hangs, limit=0.2)
    assert (hung.state, time.monotonic() - start < 5) == ("fail", True)


@pytest.fixture
def distribution(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Three installed distributions, as pip leaves them: one requires the others, one of which is too new."""
    for name, version, lines in (
        ("eyes", "1.0", ["Requires-Dist: optics>=2,<3", "Requires-Dist: absent-lens>=1; extra == 'far'",
                         "Requires-Dist: dream; python_version < '3'", "Provides-Extra: far"]),
        ("optics", "3.1", []),
    ):  # fmt: skip
        folder = tmp_path / f"{name}-{version}.dist-info"
        folder.mkdir()
        text = "\n".join(["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}", *lines])
        (folder / "METADATA").write_text(text + "\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    return "eyes"


def test_a_package_in_a_version_that_is_not_wanted_is_named(distribution: str) -> None:
    (finding,) = installation.packages(distribution)
    assert finding.state == "fail"
    assert finding.found == "optics 3.1 (wanted <3,>=2)"
    assert "pip install" in finding.mend


def test_a_package_that_is_missing_is_named() -> None:
    assert installation.requirement_faults([Requirement("absent-lens>=1")]) == [
        "absent-lens is not installed (wanted >=1)"
    ]


def test_this_installation_is_as_required() -> None:
    assert states(installation.packages()) == ["ok"]
    assert states(installation.python_version()) == ["ok"]
    assert states(installation.python_version((3, 10))) == ["fail"]


def test_an_extra_that_a_setting_needs_is_looked_for(distribution: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert states(installation.extras(Settings(), distribution)) == ["ok"]
    monkeypatch.setattr(installation, "extras_needed", lambda settings: {"far": "PMO_SIGHT"})
    (finding,) = installation.extras(Settings(), distribution)
    assert (finding.name, finding.state) == ("extra far", "fail")
    assert "PMO_SIGHT needs it: absent-lens is not installed" in finding.found


def test_settings_say_which_extra_they_need(tmp_path: Path) -> None:
    assert installation.extras_needed(Settings()) == {}
    settings = Settings(panel_checkpoint=tmp_path, biomedica="hf://owner/name", llm_offline=True, llm_model="m")
    assert installation.extras_needed(settings) == {
        "models": "PMO_PANEL_CHECKPOINT",
        "llm": "PMO_LLM_OFFLINE",
        "biomedica": "PMO_BIOMEDICA",
    }
    assert installation.extras_needed(Settings(region_texts="minilm")) == {"regions": "PMO_REGION_TEXTS=minilm"}
    assert installation.extras_needed(Settings(biomedica=str(tmp_path))) == {}


def test_networks_are_loaded(tmp_path: Path) -> None:
    assert states(installation.networks(Settings())) == ["ok"]
    (tmp_path / "broken.onnx").write_bytes(b"no network")
    (finding,) = installation.networks(Settings(mark_weights=tmp_path / "broken.onnx"))
    assert finding.state == "fail"
    assert "broken.onnx" in finding.found


def test_settings_are_shown_with_their_place_and_without_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text("PMO_MAX_DPI=300\n")
    monkeypatch.setenv("PMO_ENTREZ_API_KEY", "hush")
    monkeypatch.setenv("PMO_SPECIALTY", "dermatology")
    findings = machine.settings_findings(read_configuration())
    text = json.dumps([str(item) for item in findings])
    assert "hush" not in text
    assert f"300 ({tmp_path / '.env'})" in text
    found = {item.name: item.state for item in findings}
    assert (found["PMO_SPECIALTY"], found["PMO_MAX_DPI"], found["PMO_ENTREZ_API_KEY"]) == ("fail", "ok", "ok")


def test_a_data_root_is_tried_and_left_as_it_was(tmp_path: Path) -> None:
    root = tmp_path / "data"
    (finding,) = machine.data_root_findings(Settings(data_root=str(root)))
    assert (finding.state, root.exists()) == ("ok", False)
    root.mkdir()
    (finding,) = machine.data_root_findings(Settings(data_root=str(root)))
    assert (finding.state, list(root.iterdir())) == ("ok", [])


@pytest.mark.parametrize("bucket", ["bucket", "absent"])
def test_a_bucket_is_tried_too(bucket: str, s3_endpoint: str) -> None:
    settings = Settings(data_root=f"s3://{bucket}/eyes", s3_endpoint=s3_endpoint)
    (finding,) = checked("data root", lambda: machine.data_root_findings(settings))
    assert finding.state == {"bucket": "ok", "absent": "fail"}[bucket], finding
    if bucket == "bucket":
        assert DataRoot(settings.data_root, s3_endpoint).tree("") == []


def test_a_data_root_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (finding,) = checked(
        "data root", lambda: machine.data_root_findings(Settings(data_root=str(tmp_path / "file" / "data")))
    )
    assert finding.state == "fail"
    (finding,) = checked("data root", lambda: machine.data_root_findings(Settings(data_root="/proc/nowhere/data")))
    assert finding.state == "fail"


def test_workers_are_held_against_memory_and_processors() -> None:
    settings = Settings(workers=8, worker_memory_mb=4096)
    assert states(machine.memory_findings(settings, 64_000, 16)) == ["ok", "ok"]
    memory, processors = machine.memory_findings(settings, 16_000, 4)
    assert (memory.state, memory.mend.split(",")[0]) == ("warn", "PMO_WORKERS=3")
    assert (processors.state, processors.mend) == ("warn", "PMO_WORKERS=4")


def test_an_e_mail_address_is_only_needed_for_pmc() -> None:
    assert states(machine.entrez_findings(Settings())) == ["warn"]
    assert states(machine.entrez_findings(Settings(entrez_email="me@example.org"))) == ["ok"]


class Endpoint(http.server.BaseHTTPRequestHandler):
    """An endpoint with one model, which asks for a key."""

    def do_GET(self) -> None:
        if self.headers.get("Authorization") != "Bearer key":
            self.send_response(401)
            self.end_headers()
            return
        body = json.dumps({"data": [{"id": "small"}]}).encode() if self.path == "/v1/models" else b"hello"
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.mark.parametrize(
    ("model", "key", "path", "state", "words"),
    [
        ("small", "key", "/v1", "ok", "small at"),
        ("large", "key", "/v1", "fail", "has small, not large"),
        ("small", "other", "/v1", "fail", "refuses the key"),
        ("small", "key", "", "warn", "no list of models"),
    ],
)
def test_an_endpoint_is_asked_for_its_models(
    endpoint: str, model: str, key: str, path: str, state: str, words: str
) -> None:
    settings = Settings(llm_model=model, llm_base_url=f"{endpoint}{path}", llm_api_key=SecretStr(key))
    (finding,) = services.model_findings(settings, "llm")
    assert (finding.state, words in finding.found) == (state, True), finding
    assert key not in finding.mend


def test_the_vision_model_is_asked_for_where_the_language_model_is(endpoint: str) -> None:
    settings = Settings(
        vlm_model="small", llm_model="small", llm_base_url=f"{endpoint}/v1", llm_api_key=SecretStr("key")
    )
    assert states(services.model_findings(settings, "vlm")) == ["ok"]
    assert states(services.model_findings(Settings(), "vlm")) == ["ok"], "none is set"


def test_an_endpoint_that_is_not_there_is_a_failure_and_pmc_that_is_not_there_a_warning() -> None:
    (finding,) = services.model_findings(Settings(llm_model="m", llm_base_url="http://127.0.0.1:9/v1"), "llm")
    assert (finding.state, "PMO_LLM_BASE_URL" in finding.mend) == ("fail", True)
    nowhere = Settings(pmc_endpoint="http://127.0.0.1:9", entrez_url="http://127.0.0.1:9/eutils/")
    assert states(services.pmc_findings(nowhere)) == ["warn", "warn"]
