"""What the documentation site has besides `docs/`: a hook of MkDocs (`mkdocs.yml`), run by `make docs`.

README, CONTRIBUTING, CHANGELOG and model cards lie where their readers look for them in the repository; here they
become pages, and links between them and `docs/` are bent to what they are called on the site. The API reference is a
page for each room of the package, made of its docstrings; nothing of the package is imported for it.
"""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from links import LINK, ROOT
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from rooms import Room, floors, read_rooms

PACKAGE = ROOT / "pmo_assets"

ELSEWHERE = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "prompts/README.md": "prompts.md",
    "LICENSE": "LICENSE.txt",
    "CITATION.cff": "CITATION.cff",
    **{f"pmo_assets/weights/{path.name}": f"weights/{path.name}" for path in (PACKAGE / "weights").glob("*.md")},
}
"""Files of the repository outside of `docs/`, and what they are called on the site."""

BEHIND_GUIDES = 0.001
"""Weight of the API and the changelog in the search: a hit in a title counts 1,000 times one in the text, and guides
are what people look for first."""

START = """# API

Made of the docstrings, a page for each room, highest floor first: a room imports only rooms below it
([design](../design.md#rooms)). Where to begin:

* a release in Python: `pmo_assets.load` and its rows, in [loading](loading.md);
* the steps of the pipeline as functions, in `steps` of [articles](pipeline.articles.md),
  [figures](pipeline.figures.md), [captions](pipeline.captions.md), [detection](pipeline.detection.md),
  [assembly](pipeline.assembly.md); all of them for one article, in [pipeline](pipeline.md);
* what a part of your own must look like: protocols in [records](records.md).

| floor | room | what belongs there |
| ---: | --- | --- |
"""


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put a page for each room into the navigation, below the API's first page."""
    rooms = _rooms()
    pages = [{room: f"api/{_page(room)}"} for room in sorted(rooms)]
    config.nav = [_with_api(entry, pages) for entry in config.nav or []]
    return config


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the pages that do not lie in `docs/`."""
    for source, name in ELSEWHERE.items():
        files.append(File.generated(config, name, abs_src_path=str(ROOT / source)))
    rooms = _rooms()
    level = floors(rooms)
    lines = [
        f"| {level[room]} | [{room}]({_page(room)}) | {_first_sentence(room)} |"
        for room in sorted(rooms, key=lambda room: (-level[room], room))
    ]
    files.append(File.generated(config, "api/index.md", content=START + "\n".join(lines) + "\n"))
    for room in rooms:
        parts = "\n\n".join(f"::: {module}" for module in _modules(room, rooms[room]))
        files.append(File.generated(config, f"api/{_page(room)}", content=f"# {room}\n\n{parts}\n"))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Bend links that leave a page's folder in the repository to the same pages on the site."""
    here = _in_repository(page.file.src_uri)

    def on_site(match: re.Match[str]) -> str:
        target, sign, anchor = match[0].partition("#")
        if not target or re.match(r"[a-z]+:", target):
            return match[0]
        path = posixpath.normpath(posixpath.join(posixpath.dirname(here), target))
        name = ELSEWHERE.get(path, path.removeprefix("docs/"))
        return posixpath.relpath(name, posixpath.dirname(page.file.src_uri) or ".") + sign + anchor

    generated = page.file.src_uri.startswith("api/")
    if generated or page.file.src_uri == ELSEWHERE["CHANGELOG.md"]:
        page.meta["search"] = {"boost": BEHIND_GUIDES}
    return markdown if generated else LINK.sub(on_site, markdown)


def on_page_content(html: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let links of a notebook lead to pages: they are Markdown inside JSON, which MkDocs does not look into.

    Raises:
        ValueError: naming a link that leads to no page.
    """

    def to_page(match: re.Match[str]) -> str:
        file = files.get_file_from_path(match[1])
        if file is None:
            raise ValueError(f"{page.file.src_uri}: {match[1]} is no page")
        return f'href="{file.url_relative_to(page.file)}{match[2]}"'

    return re.sub(r'href="([\w./]+\.md)(#[\w-]+)?"', to_page, html) if page.file.src_uri.endswith(".ipynb") else html


def _with_api(entry: object, pages: list[dict[str, str]]) -> object:
    """Return an entry of the navigation with the rooms' pages where it names the API."""
    if isinstance(entry, dict):
        return {
            name: ["api/index.md", *pages] if part == "api/index.md" else _with_api(part, pages)
            for name, part in entry.items()
        }
    return [_with_api(part, pages) for part in entry] if isinstance(entry, list) else entry


def _in_repository(name: str) -> str:
    """Return what a page of the site is called below the repository's root."""
    return next((source for source, on_site in ELSEWHERE.items() if on_site == name), f"docs/{name}")


def _rooms() -> Mapping[str, Room]:
    return read_rooms(PACKAGE)


def _page(room: str) -> str:
    return room.replace("/", ".") + ".md"


def _modules(room: str, contents: Room) -> Iterator[str]:
    """Yield the names of a room's public modules, the room itself first."""
    names = [Path(module).with_suffix("") for module in contents.modules]
    for name in sorted(names, key=lambda path: [part for part in path.parts if part != "__init__"]):
        parts = [part for part in name.parts if part != "__init__"]
        if not any(part.startswith("_") for part in parts):
            yield ".".join((PACKAGE.name, *parts))


def _first_sentence(room: str) -> str:
    """Return how a room's docstring begins, on one line and without bars, which would end a cell."""
    path = PACKAGE / room / "__init__.py"
    text = ast.get_docstring(ast.parse((path if path.is_file() else PACKAGE / f"{room}.py").read_text("utf-8"))) or ""
    return re.split(r"(?<=\.)\s", " ".join(text.split()), maxsplit=1)[0].replace("|", "\\|")
