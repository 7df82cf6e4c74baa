"""The parts of the documents that come from code: settings, columns, and the targets of `make`.

    python -m pmo_assets.cli.documentation [docs/settings.md docs/columns.md docs/install.md docker/.env.example]

rewrites what stands between `<!-- settings -->` and `<!-- /settings -->`, and the same for `columns of panels` and the
other tables, and for `targets`; in a file of variables, what follows the line `# settings`.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from pmo_assets.settings.listed import settings_table
from pmo_assets.tables.release import release_tables
from pmo_assets.tables.schemas import column_descriptions

DOCUMENTS = ("docs/settings.md", "docs/columns.md", "docs/install.md", "docker/.env.example")
"""Documents with a generated part, below the root of the repository."""

MAKEFILE = Path(__file__).resolve().parents[2] / "Makefile"
"""The Makefile of a clone; an installed package has none, and no documents to renew."""


def _settings() -> str:
    lines = ["| variable | default | meaning |", "| --- | --- | --- |"]
    return "\n".join(lines + [f"| `{name}` | `{default}` | {text} |" for name, default, text in settings_table()])


def _columns(table: str) -> str:
    lines = ["| column | type | meaning |", "| --- | --- | --- |"]
    described = column_descriptions(release_tables()[table])
    return "\n".join(lines + [f"| `{name}` | {kind} | {text} |" for name, kind, text in described])


def _targets() -> str:
    """Return the output of `make help` as a table in Markdown."""
    if not MAKEFILE.is_file():
        return ""
    described = re.findall(r"^([a-z-]+):.*?## (.+)$", MAKEFILE.read_text(encoding="utf-8"), re.MULTILINE)
    lines = ["| command | what it does |", "| --- | --- |"]
    return "\n".join(lines + [f"| `make {name}` | {text} |" for name, text in described])


def _variables(above: str) -> str:
    """Return every setting as a line that does nothing until its # is taken away, but for those that stand above."""
    rows = [(name, "" if default in ("None", "number of cores") else default) for name, default, _ in settings_table()]
    return "\n".join(f"# {name}={_quoted(value)}" for name, value in rows if f"{name}=" not in above)


def _quoted(value: str) -> str:
    return value if re.fullmatch(r"[\w.:/-]*", value) else f"'{value}'"


def documented(text: str) -> str:
    """Return a document with its generated parts renewed."""
    above, line, _ = text.partition("\n# settings\n")
    if line:
        return f"{above}{line}{_variables(above)}\n"
    tables = [(f"columns of {name}", _columns(name)) for name in release_tables()]
    for name, part in (("settings", _settings()), ("targets", _targets()), *tables):
        pattern = rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)"
        text = re.sub(pattern, lambda match, part=part: f"{match[1]}{part}\n{match[2]}", text, flags=re.DOTALL)  # type: ignore[misc]
    return text


if __name__ == "__main__":
    for path in map(Path, sys.argv[1:] or DOCUMENTS):
        path.write_text(documented(path.read_text(encoding="utf-8")), encoding="utf-8")
