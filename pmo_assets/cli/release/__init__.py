"""`pmo release …`: the commands on a release, one module each."""

from __future__ import annotations

import typer

from pmo_assets.cli.release.compare import compare
from pmo_assets.cli.release.detections import detections
from pmo_assets.cli.release.fill_null import fill_null
from pmo_assets.cli.release.filters import filters
from pmo_assets.cli.release.instructions import instructions
from pmo_assets.cli.release.push import push
from pmo_assets.cli.release.versions import diff, rebuild, versions
from pmo_assets.cli.release.webdataset import webdataset

release_app = typer.Typer(
    help="The dataset that people take away: its versions, and what can be done with it.", no_args_is_help=True
)
release_app.command("list")(versions)
release_app.command()(diff)
release_app.command()(rebuild)
release_app.command("fill-null")(fill_null)
release_app.command()(push)
release_app.command()(webdataset)
release_app.command()(compare)
release_app.command()(filters)
release_app.command()(instructions)
release_app.command()(detections)
