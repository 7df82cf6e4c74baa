"""Check that documents point at what exists: links, anchors, and the repository's paths that they name; no network.

    python docs/links.py

`make lint` runs it; the site (`docs/site_pages.py`) and the tests take their documents and links from here. What a link
to another host leads to is not looked at.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

PATTERNS = ("*.md", "docs/*.md", "docs/*.ipynb", "prompts/**/*.md", "pmo_assets/weights/*.md")
"""Where documents lie, below the root of the repository."""

LINK = re.compile(r"(?<=\]\()([^)\s]+)(?=\))")
"""What a Markdown link or picture leads to."""

NAMED = re.compile(r"(?<![\w/])((?:pmo_assets(?:_tests)?|benchmarks|docs|docker|prompts)/[\w./<>*-]*\w)")
"""A path below the repository's root, in running text or code."""

_CODE = re.compile(r"^( *)```.*?^\1```", re.MULTILINE | re.DOTALL)


def documents(root: Path = ROOT) -> list[Path]:
    """Return all documents of the repository."""
    return sorted(path for pattern in PATTERNS for path in root.glob(pattern))


def anchors(document: Path) -> set[str]:
    """Return the anchors that GitHub makes of a document's headings."""
    headings = re.findall(r"^#+ (.+)$", _without_code(document.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def faults(document: Path, root: Path = ROOT) -> Iterator[str]:
    """Yield what is wrong in a document, a sentence each."""
    text = document.read_text(encoding="utf-8")
    for link in LINK.findall(_without_code(text)):
        target, _, anchor = link.partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        path = (document.parent / target).resolve() if target else document
        if not path.exists():
            yield f"{link} leads nowhere"
        elif anchor and anchor not in anchors(path):
            yield f"{link}: there is no such heading"
    for name in NAMED.findall(text):
        if not set("<>*") & set(name) and not (root / name).exists():
            yield f"{name} is named and does not exist"


def _without_code(text: str) -> str:
    return _CODE.sub("", text)


def main() -> None:
    """Print the faults of all documents; the status is 1 if there are any."""
    found = [f"{path.relative_to(ROOT)}: {fault}" for path in documents() for fault in faults(path)]
    print("\n".join(found) or f"links: {len(documents())} documents, nothing leads nowhere")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
