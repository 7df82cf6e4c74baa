"""`pmo doctor`: checks of settings, installation and machine, with advice for each that fails."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from pmo_assets.cli.console import AsJson, console, counted, say_json, spinner

if TYPE_CHECKING:
    from pmo_assets.configuration.findings import Check, Finding
    from pmo_assets.settings import Settings

_STYLES = {"ok": "green", "warn": "yellow", "fail": "red", "skipped": "dim"}


def doctor(
    as_json: AsJson = False,
    offline: Annotated[bool, typer.Option("--offline", help="Ask no network: neither models nor PMC.")] = False,
) -> None:
    """Say what is set, what is missing and how to mend it; status 1 if something will not work.

    It looks at versions, settings, the data root (where it writes and deletes a file), disk, memory, the Dagster home,
    ports, networks, the endpoints of models and PMC. It changes nothing and shows no secret.
    """
    from pmo_assets.configuration.findings import checked

    findings: list[Finding] = []
    with spinner("looking") as tell:
        for name, check in _checks(offline):
            tell(name)
            findings += checked(name, check)
    failed = sum(item.state == "fail" for item in findings)
    if as_json:
        say_json([asdict(item) for item in findings])
    else:
        table = Table("", "what", "found", "what to do")
        for item in findings:
            state = f"[{_STYLES[item.state]}]{item.state}[/]"
            table.add_row(state, escape(item.name), escape(item.found), escape(item.mend))
        console.print(table)
        warned = sum(item.state == "warn" for item in findings)
        console.print(
            f"{counted(failed, 'thing')} will not work, {counted(warned, 'warning')}"
            if failed
            else f"nothing stands in the way, {counted(warned, 'warning')}",
            highlight=False,
        )
    if failed:
        raise typer.Exit(1)


def _checks(offline: bool) -> Iterator[tuple[str, Check]]:
    """Yield the checks, each after the name of the thing that it looks at, the quick ones first."""
    from pmo_assets.configuration import installation, machine, services
    from pmo_assets.configuration.findings import Finding
    from pmo_assets.configuration.reading import read_configuration
    from pmo_assets.defs.instance_findings import instance_findings

    configuration = read_configuration()
    settings = configuration.settings
    of: Callable[..., Check] = functools.partial
    yield "Python", installation.python_version
    yield "packages", installation.packages
    yield "extras", of(installation.extras, settings)
    yield "settings", of(machine.settings_findings, configuration)
    yield "data root", of(machine.data_root_findings, settings)
    yield "disk", of(machine.disk_findings, settings)
    yield "memory", of(machine.memory_findings, settings)
    yield "address space", _address_space
    yield "Dagster home", of(machine.home_findings, settings)
    yield "Dagster instance", of(instance_findings, settings)
    yield "ports", _ports
    yield "networks", of(installation.networks, settings)
    yield "device", of(installation.device, settings)
    yield "e-mail for Entrez", of(machine.entrez_findings, settings)
    if offline:
        yield "models and PMC", lambda: [Finding("models and PMC", "skipped", "--offline")]
    else:
        yield "language model", of(services.model_findings, settings, "llm")
        yield "vision model", of(services.model_findings, settings, "vlm")
        yield "PMC", of(services.pmc_findings, settings)
    yield "code location", of(_code_location, settings)


def _address_space() -> list[Finding]:
    """Say that the libraries have room; a command under a limit that is too low does not come this far."""
    from pmo_assets.cli.environment import check_address_space
    from pmo_assets.configuration.findings import Finding

    check_address_space()
    return [Finding("address space", "ok", "enough for the libraries")]


def _code_location(settings: Settings) -> list[Finding]:
    """Load the code location as Dagster does."""
    from pmo_assets.configuration.findings import Finding
    from pmo_assets.definitions import build_defs

    repository = build_defs(settings).get_repository_def()
    repository.load_all_definitions()
    count = len(repository.asset_graph.get_all_asset_keys())
    return [Finding("code location", "ok", f"loads, {count} assets")]


def _ports() -> list[Finding]:
    """Say whether `pmo dev` gets its usual ports."""
    from pmo_assets.cli.dev import DEFAULT_PORT, is_taken
    from pmo_assets.configuration.findings import Finding
    from pmo_assets.serving.addresses import DEFAULT_PORT as PAGES_PORT

    taken = [str(port) for port in (DEFAULT_PORT, PAGES_PORT) if is_taken("127.0.0.1", port)]
    if not taken:
        return [Finding("ports", "ok", f"{DEFAULT_PORT} (UI) and {PAGES_PORT} (pages) are free")]
    found = f"taken: {', '.join(taken)}; `pmo dev` may be running, else it takes others and says which"
    return [Finding("ports", "warn", found)]
