"""`pmo settings` and `pmo home`: the options in force and the Dagster home; and a check that libraries can load."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

from dotenv import dotenv_values
from rich.markup import escape
from rich.table import Table

from pmo_assets.cli.console import AsJson, CommandError, console, messages, say_json, settings_from_environment
from pmo_assets.logs import log_to_stderr, printable, set_level
from pmo_assets.settings import Settings
from pmo_assets.settings.listed import secret_options, settings_table


def show_settings(as_json: AsJson = False) -> None:
    """List every setting: environment variable, present value, where it is set, meaning."""
    from pmo_assets.configuration.reading import read_configuration

    here = read_configuration()
    lines = list(zip(settings_table(), Settings.model_fields, strict=True))
    if as_json:
        values = here.settings.model_dump(mode="json")  # of a secret: that there is one
        say_json(
            [
                {"variable": variable, "value": values[name], "set_in": here.origins.get(name), "meaning": text}
                for (variable, _, text), name in lines
            ]
        )
    else:
        table = Table("variable", "value", "set in", "meaning")
        for (variable, _, text), name in lines:
            table.add_row(variable, escape(str(getattr(here.settings, name))), escape(here.origins.get(name, "")), text)
        console.print(table)
    if here.problems:
        raise CommandError("; ".join(map(str, here.problems)))


def log_for_people_or_programs(debug: bool) -> None:
    """Let the log appear on standard error: all of it as JSON lines, or for people, who see progress, what is amiss.

    Settings that make no sense are told by the command that needs them.
    """
    from pmo_assets.configuration.reading import read_configuration

    settings = read_configuration().settings
    _warn_of_open_keys(Path(".env"))
    set_level("DEBUG" if debug else settings.log_level)
    asked_for = debug or settings.log_format == "json" or "log_level" in settings.model_fields_set
    log_to_stderr(settings.log_format, ("DEBUG" if debug else settings.log_level) if asked_for else "WARNING")


def _warn_of_open_keys(file: Path) -> None:
    """Say so when everybody on this machine can read a file with keys; it is read all the same."""
    try:
        if not file.stat().st_mode & stat.S_IROTH:
            return
        named = {name.upper() for name, value in dotenv_values(file).items() if value}
    except (OSError, UnicodeDecodeError):
        return
    if keys := sorted(named & {f"PMO_{name.upper()}" for name in secret_options()}):
        text = f"everybody on this machine can read {', '.join(keys)} in {file.absolute()}: chmod 600 {file}"
        messages.print(f"[yellow]warning[/] {escape(text)}", highlight=False, soft_wrap=True)


def show_home() -> None:
    """Print the folder of the Dagster instance (DAGSTER_HOME), making it, and its pools, if it is new.

    It belongs to the data root: .dagster below a folder, a folder in your state folder for s3://. PMO_DAGSTER_HOME or
    DAGSTER_HOME put it elsewhere.
    """
    from pmo_assets.configuration.home import home_place
    from pmo_assets.defs.instance import open_instance
    from pmo_assets.defs.pools import make_pools

    settings = settings_from_environment()
    with open_instance(settings) as instance:
        make_pools(instance)
    print(printable(str(home_place(settings).path)))


def places_written() -> list[Path]:
    """Return the places that the command writes to: data root, Dagster home, here, and those that its words name."""
    from pmo_assets.configuration.home import home_place
    from pmo_assets.configuration.reading import read_configuration

    settings = read_configuration().settings
    root = [] if settings.data_root.startswith("s3://") else [Path(settings.data_root)]
    named = [Path(word) for word in sys.argv[1:] if not word.startswith("-") and os.sep in word]
    return [*root, home_place(settings).path, Path(), *named]


MINIMUM_ADDRESS_SPACE_MB = 2560
"""Least address space: with less, libraries abort or hang as they are loaded; machines with many cores need more."""


def check_address_space() -> None:
    """Refuse to begin under a limit (`ulimit -v`) in which not even the libraries have room.

    The limit is on addresses, of which polars, NumPy and Arrow reserve far more than they use.
    """
    try:
        import resource
    except ImportError:  # Windows
        return
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit != resource.RLIM_INFINITY and limit < MINIMUM_ADDRESS_SPACE_MB * 2**20:
        raise CommandError(
            f"the address space is limited to {limit // 2**20} MiB, {MINIMUM_ADDRESS_SPACE_MB} are needed at least: "
            "raise it (ulimit -v unlimited); PMO_WORKER_MEMORY_MB limits what articles may take"
        )
