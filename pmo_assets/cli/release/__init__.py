"""`pmo release …`: what is done with a release."""

from __future__ import annotations

import typer

from pmo_assets.cli.release.compare import compare

release_app = typer.Typer(help="What is done with a release.", no_args_is_help=True)
release_app.command()(compare)
