"""`pmo pages`: gallery, report, quality pages, rejections and metrics of the data root in the browser."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pmo_assets.cli.console import CommandError, data_root_of, messages, settings_from_environment, spinner

if TYPE_CHECKING:
    from pmo_assets.encoders.search.panel_search import PanelSearch
    from pmo_assets.settings import Settings
    from pmo_assets.storage.data_root import DataRoot


def pages(
    host: Annotated[
        str, typer.Option(help="Address to listen on; 0.0.0.0 lets other machines see the pages, without a password.")
    ] = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help="Port; if not given 3001, or a free one when that is taken."),
    ] = None,
    search: Annotated[
        Path | None,
        typer.Option("--search", help="Search panels, too: folder of `pmo encode index`.", metavar="INDEX"),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option("--model", help="By texts and pictures: the run, or folder, of the encoder of the index."),
    ] = None,
) -> None:
    """Serve gallery, report, quality pages, rejections and metrics of the data root, beside the Dagster UI.

    `pmo dev` starts it, too. Only `release/` and pages below `quality/` are served. Ctrl-C ends it.
    """
    from pmo_assets.serving.guard import host_names
    from pmo_assets.serving.server import address_of, listening_socket, serve
    from pmo_assets.serving.site import site

    settings = settings_from_environment()
    root = data_root_of(settings)
    opened = _search(root, search, model)
    with listening_socket(host, port) as listening:
        address = address_of(listening)
        messages.print(f"pages of {root.root} at {address}", highlight=False, markup=False, soft_wrap=True)
        if address != settings.pages_url:
            messages.print(
                f"links in the Dagster UI lead to {settings.pages_url}; they lead here with PMO_PAGES_URL={address}",
                highlight=False,
                markup=False,
                soft_wrap=True,
            )
        with contextlib.suppress(KeyboardInterrupt):
            serve(site(root, _metrics(settings, root), host_names(settings.allowed_hosts), opened), listening)


def _search(root: DataRoot, index: Path | None, model: Path | None) -> PanelSearch | None:
    if index is None:
        if model is not None:
            raise CommandError("--model needs --search, the index that it is asked with")
        return None
    from pmo_assets.encoders.search.panel_search import PanelSearch
    from pmo_assets.loading import load

    if model is not None:
        from pmo_assets.cli.train import need_torch

        need_torch("cpu")
    with spinner("opening the search"):
        return PanelSearch(index, load(root.root), model)


def _metrics(settings: Settings, root: DataRoot) -> Callable[[], bytes]:
    """Return the metrics for Prometheus; slow parts of the first answer (Dagster, tables never read) begin now."""
    from pmo_assets.serving.metrics import Metrics

    def instance() -> Any:
        from pmo_assets.defs.instance_metrics import instance_reader

        if not readers:
            readers.append(instance_reader(settings))
        return readers[0]()

    def warm() -> None:
        with contextlib.suppress(Exception):  # whoever asks for the numbers is told
            metrics()

    readers: list[Any] = []
    metrics = Metrics(root, instance)
    threading.Thread(target=warm, daemon=True).start()
    return metrics
