"""`pmo release …`: what is done with a finished release.

What belongs here: one module for each command, which is registered below. What does not: making a release.
"""

from __future__ import annotations

import typer

from pmo_assets.cli.release.push import push
from pmo_assets.cli.release.webdataset import webdataset

release_app = typer.Typer(help="Bring a release to the hub, and turn it into other forms.", no_args_is_help=True)
release_app.command("push")(push)
release_app.command("webdataset")(webdataset)
