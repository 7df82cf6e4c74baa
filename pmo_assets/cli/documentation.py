"""The parts of the documents that come from code: settings (`docs/settings.md`) and columns (`docs/columns.md`).

    python -m pmo_assets.cli.documentation docs/settings.md docs/columns.md

rewrites what stands between `<!-- settings -->` and `<!-- /settings -->`, and the same for `columns`.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from pmo_assets.settings import settings_table
from pmo_assets.tables.dataset import RELEASE_COLUMNS, PubmedOphtha
from pmo_assets.tables.schemas import column_descriptions

DOCUMENTS = ("docs/settings.md", "docs/columns.md")
"""Documents with a generated part, below the root of the repository."""


def _settings() -> str:
    lines = ["| variable | default | meaning |", "| --- | --- | --- |"]
    return "\n".join(lines + [f"| `{name}` | `{default}` | {text} |" for name, default, text in settings_table()])


def _columns() -> str:
    described = {name: (kind, text) for name, kind, text in column_descriptions(PubmedOphtha)}
    lines = ["| column | type | meaning |", "| --- | --- | --- |"]
    return "\n".join(
        lines + [f"| `{name}` | {described[name][0]} | {described[name][1]} |" for name in RELEASE_COLUMNS]
    )


def documented(text: str) -> str:
    """Return a document with its generated parts renewed."""
    for name, part in (("settings", _settings()), ("columns", _columns())):
        pattern = rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)"
        text = re.sub(pattern, lambda match, part=part: f"{match[1]}{part}\n{match[2]}", text, flags=re.DOTALL)  # type: ignore[misc]
    return text


if __name__ == "__main__":
    for path in map(Path, sys.argv[1:]):
        path.write_text(documented(path.read_text(encoding="utf-8")), encoding="utf-8")
