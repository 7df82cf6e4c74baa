"""Documents point at what exists, README begins with what sets everything up, and the site has every page."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[1]

README = (ROOT / "README.md").read_text(encoding="utf-8")

GUIDES = sorted([*ROOT.glob("docs/*.md"), *ROOT.glob("docs/*.ipynb")])

NAV = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2].partition("\nplugins:\n")[0]


def _script(name: str) -> ModuleType:
    """Return a module of `docs/`, which is no package."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


links = _script("links")


@pytest.mark.parametrize("document", links.documents(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_nothing_leads_nowhere(document: Path) -> None:
    assert list(links.faults(document)) == []


def test_what_leads_nowhere_is_found(tmp_path: Path) -> None:
    (tmp_path / "other.md").write_text("# One, and two\n\n```\n# no heading\n```\n")
    document = tmp_path / "page.md"
    document.write_text(
        "[a](other.md#one-and-two) [b](other.md#no-heading) ![c](absent.png) [d](#here) [e](https://example.org)\n"
        "`docs/absent.py`, `docs/<name>.md`\n```\n[f](absent.md)\n```\n# Here\n"
    )
    assert list(links.faults(document, tmp_path)) == [
        "other.md#no-heading: there is no such heading",
        "absent.png leads nowhere",
        "docs/absent.py is named and does not exist",
    ]


def test_the_first_block_of_the_readme_sets_everything_up() -> None:
    first = re.search(r"^```\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    assert first is not None
    assert [line.split("  ")[0] for line in first[1].splitlines()] == ["make demo", "make test"]


def test_the_readme_is_read_in_three_minutes() -> None:
    """At 240 words a minute."""
    assert len(README.split()) <= 720


def test_the_readme_leads_to_every_guide() -> None:
    assert [path.name for path in GUIDES if f"](docs/{path.name})" not in README] == []


def test_the_navigation_of_the_site_lists_every_guide_once() -> None:
    listed = re.findall(r": ([\w/]+\.(?:md|ipynb))\b", NAV)
    assert [path.name for path in GUIDES if listed.count(path.name) != 1] == []


def test_the_navigation_of_the_site_lists_every_model_card() -> None:
    cards = [path.name for path in sorted(ROOT.glob("pmo_assets/weights/*.md"))]
    assert [name for name in cards if f": weights/{name}" not in NAV] == []


def test_the_site_is_built_without_a_warning_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    pytest.importorskip("material", reason="MkDocs is in the extra `docs` (make docs)")
    pytest.importorskip("mkdocstrings_handlers.python", reason="mkdocstrings is in the extra `docs` (make docs)")
    subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", tmp_path / "site"],
        cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, check=True, timeout=600,
    )  # fmt: skip
    pages = {path: path.read_text("utf-8") for path in (tmp_path / "site").rglob("*.html")}
    foreign = r'<(?:script|img|iframe)[^>]* src="(https?:[^"]+)|<link[^>]* href="(https?:[^"]+)|@import[^;]*https?:'
    assert {match[0] for text in pages.values() for match in re.finditer(foreign, text)} == set()
    api = pages[tmp_path / "site" / "api" / "loading.html"]
    assert 'id="pmo_assets.loading.load"' in api or "pmo_assets.loading" in api
