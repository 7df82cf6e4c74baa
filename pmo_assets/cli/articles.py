"""`pmo articles …`: single articles are taken out of releases and brought back."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from pmo_assets.cli.console import (
    AsJson,
    CommandError,
    console,
    counted,
    data_root_of,
    messages,
    say_columns,
    say_json,
    settings_from_environment,
)

if TYPE_CHECKING:
    from pmo_assets.storage.data_root import DataRoot

articles_app = typer.Typer(help="Take single articles out of releases, and bring them back.", no_args_is_help=True)

_Articles = Annotated[
    list[str], typer.Argument(metavar="ARTICLE…", help="Numbers, or names of packages: PMC4691483, or its folder's.")
]


@articles_app.command("remove")
def articles_remove(articles: _Articles) -> None:
    """Take articles out that should not be there: no release takes them or their copies, whichever batches hold them.

    Nothing is deleted, and their batches stay as they are: `pmo articles restore` brings them back at any time.
    Releases that were made keep them; what the next one loses is said. A whole batch: `pmo batches remove`.
    """
    from pmo_assets.storage.removed import take_article_out

    root = data_root_of(settings_from_environment())
    for number, names in _numbers(root, articles).items():
        take_article_out(root, number)
        said = f"removed {', '.join(names)} (number {number}): {_what_leaves(root, number)}"
        console.print(said, highlight=False, soft_wrap=True, markup=False)
    messages.print("back again: pmo articles restore ARTICLE; next: pmo run makes the release", highlight=False)


@articles_app.command("restore")
def articles_restore(articles: _Articles) -> None:
    """Bring articles back that were taken out: the next release takes them with the rows that they have."""
    from pmo_assets.storage.removed import articles_taken_out, bring_article_back

    root = data_root_of(settings_from_environment())
    found, out = _numbers(root, articles), articles_taken_out(root)
    if there := [name for number, names in found.items() for name in names if number not in out]:
        raise CommandError(f"not removed: {', '.join(there)}; `pmo articles list` shows those that are")
    for number in found:
        bring_article_back(root, number)
    messages.print("next: pmo run", highlight=False)


@articles_app.command("list")
def articles_list(as_json: AsJson = False) -> None:
    """List the articles that were taken out, with the names of their packages."""
    from pmo_assets.storage.removed import articles_taken_out

    root = data_root_of(settings_from_environment())
    names = _names(root)
    rows = [(number, sorted(names.get(number, set()))) for number in sorted(articles_taken_out(root))]
    if as_json:
        say_json([{"article_id": number, "names": found} for number, found in rows])
    elif rows:
        say_columns(["NUMBER", "PACKAGES"], [[str(number), ", ".join(found)] for number, found in rows])
    else:
        console.print("no article was taken out", highlight=False)


def _names(root: DataRoot) -> dict[int, set[str]]:
    """Return the names of the packages of each article that is registered, by its number."""
    from pmo_assets.storage.manifests import manifest_key
    from pmo_assets.storage.parquet import read_columns
    from pmo_assets.storage.registry import BatchRegistry

    files = {batch: manifest_key(batch) for batch in BatchRegistry(root).batches()}
    if not files:
        return {}
    found: dict[int, set[str]] = {}
    for number, name in read_columns(root, files, ["article_id", "name"]).select("article_id", "name").iter_rows():
        found.setdefault(number, set()).add(name)
    return found


def _numbers(root: DataRoot, articles: Sequence[str]) -> dict[int, list[str]]:
    """Return the numbers of the articles that are meant, each with the names of its packages.

    Raises:
        CommandError: if one is not registered, or several have the name.
    """
    registered = _names(root)
    meant: dict[int, list[str]] = {}
    for said in articles:
        found = [
            number for number, names in registered.items() if said == str(number) or said.casefold() in _known(names)
        ]
        if not found:
            raise CommandError(f"no such article: {said}; it is named by its number or its package's name")
        if len(found) > 1:
            raise CommandError(f"several articles are named {said}; say which: {', '.join(map(str, sorted(found)))}")
        meant[found[0]] = sorted(registered[found[0]])
    return meant


def _known(names: set[str]) -> set[str]:
    """Return what packages may be called: a version at PMC (PMC7.2) also without its version."""
    lower = {name.casefold() for name in names}
    return lower | {re.sub(r"^(pmc\d+)\.\d+$", r"\1", name) for name in lower}


def _what_leaves(root: DataRoot, number: int) -> str:
    """Return in words what of an article the newest release has."""
    import polars as pl

    from pmo_assets.release.versions import read_version_table, released_versions

    versions = released_versions(root)
    if not versions:
        return "nothing was released yet"
    rows = read_version_table(root, versions[-1], "rows").filter(pl.col("article_id") == number).height
    if not rows:
        return f"release {versions[-1]} has nothing of it"
    return f"of release {versions[-1]}, which keeps it, {counted(rows, 'panel')} will not be in the next"
