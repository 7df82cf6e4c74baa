"""Documents point at what exists: links, anchors, and the package's paths that they name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

DOCUMENTS = sorted(
    [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("prompts/**/*.md"), *ROOT.glob("pmo_assets/weights/*.md")]
)

LINK = re.compile(r"\]\(([^)\s]+)\)")

NAMED = re.compile(r"(?<![\w/])((?:pmo_assets(?:_tests)?|benchmarks|docs|docker|prompts)/[\w./<>*-]*\w)")
"""A path below the repository's root, in running text or code."""


def _anchors(document: Path) -> set[str]:
    """Return the anchors that GitHub makes of a document's headings."""
    headings = re.findall(r"^#+ (.+)$", document.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def _named_paths(text: str) -> list[str]:
    return [path for path in NAMED.findall(text) if not set("<>*") & set(path)]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(document: Path) -> None:
    for link in LINK.findall(document.read_text(encoding="utf-8")):
        target, _, anchor = link.partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        path = (document.parent / target).resolve() if target else document
        assert path.exists(), f"{link} leads nowhere"
        if anchor:
            assert anchor in _anchors(path), f"{link}: there is no such heading"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_named_paths_exist(document: Path) -> None:
    missing = [path for path in _named_paths(document.read_text(encoding="utf-8")) if not (ROOT / path).exists()]
    assert missing == []


def test_the_readme_lists_every_document() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [path.name for path in DOCUMENTS if path.parent == ROOT / "docs" and f"docs/{path.name}" not in readme] == []
