"""The parts of the README that come from code: settings and columns.

    python -m pmo_assets.cli.documentation README.md

rewrites what stands between `<!-- settings -->` and `<!-- /settings -->`, and the same for `columns`.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from pmo_assets.settings import settings_table
from pmo_assets.tables.dataset import RELEASE_COLUMNS, PubmedOphtha
from pmo_assets.tables.schemas import column_descriptions


def settings_from_environment() -> str:
    lines = ["| variable | default | meaning |", "| --- | --- | --- |"]
    return "\n".join(lines + [f"| `{name}` | `{default}` | {text} |" for name, default, text in settings_table()])


def _columns() -> str:
    described = {name: (kind, text) for name, kind, text in column_descriptions(PubmedOphtha)}
    lines = ["| column | type | meaning |", "| --- | --- | --- |"]
    return "\n".join(
        lines + [f"| `{name}` | {described[name][0]} | {described[name][1]} |" for name in RELEASE_COLUMNS]
    )


def documented(readme: str) -> str:
    """Return the README with its generated parts renewed."""
    for name, text in (("settings", settings_from_environment()), ("columns", _columns())):
        pattern = rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)"
        readme = re.sub(pattern, lambda match, text=text: f"{match[1]}{text}\n{match[2]}", readme, flags=re.DOTALL)  # type: ignore[misc]
    return readme


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(documented(path.read_text(encoding="utf-8")), encoding="utf-8")
