"""`pmo …`: the commands put together, and errors turned into one line.

An error is one clear line on standard error and a non-zero status; `pmo --debug …` shows the traceback. Importing the
pipeline takes a second, so every command imports what it needs.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from rich.markup import escape

from pmo_assets import __version__
from pmo_assets.cli.annotate import annotate_app
from pmo_assets.cli.article import article
from pmo_assets.cli.articles import articles_app
from pmo_assets.cli.batches import batches_app
from pmo_assets.cli.captions import captions_app
from pmo_assets.cli.clean import clean
from pmo_assets.cli.console import CommandError, console, messages, one_line
from pmo_assets.cli.dev import dev
from pmo_assets.cli.doctor import doctor
from pmo_assets.cli.encode import encode_app
from pmo_assets.cli.encode_search import index as encode_index
from pmo_assets.cli.encode_search import odd as encode_odd
from pmo_assets.cli.encode_search import search as encode_search
from pmo_assets.cli.encode_training import ablate as encode_ablate
from pmo_assets.cli.encode_training import average as encode_average
from pmo_assets.cli.encode_training import embed as encode_embed
from pmo_assets.cli.encode_training import train as encode_train
from pmo_assets.cli.encode_training import vectors as encode_vectors
from pmo_assets.cli.environment import (
    check_address_space,
    log_for_people_or_programs,
    places_written,
    show_home,
    show_settings,
)
from pmo_assets.cli.gallery import gallery
from pmo_assets.cli.instruct import instruct_app
from pmo_assets.cli.instruct_evaluate import evaluate as instruct_evaluate
from pmo_assets.cli.instruct_evaluate import questions as instruct_questions
from pmo_assets.cli.pages import pages
from pmo_assets.cli.panels import panels
from pmo_assets.cli.pmc import pmc_app
from pmo_assets.cli.quality import quality
from pmo_assets.cli.refresh import refresh
from pmo_assets.cli.release import release_app
from pmo_assets.cli.run import report, run
from pmo_assets.cli.samples import demo, samples
from pmo_assets.cli.train import train_app
from pmo_assets.cli.video import video
from pmo_assets.records.rejections import ArticleError
from pmo_assets.records.stores import SystemicError

_START, _WAY, _LOOK, _OWN, _SET = (
    "Start here",
    "From articles to a dataset",
    "Look closer",
    "Networks of your own",
    "What is set and kept here",
)
"""Under what the help lists the commands."""

app = typer.Typer(
    name="pmo",
    help="Open-access articles in, an ophthalmic panel image-text dataset out. To see it all once: pmo demo, then pmo "
    "dev. With articles of your own: pmo batches add, pmo run. From PubMed Central: pmo refresh.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command(rich_help_panel=_START)(demo)
app.command(rich_help_panel=_START)(dev)
app.command(rich_help_panel=_START)(doctor)
app.command(rich_help_panel=_WAY)(refresh)
app.add_typer(batches_app, name="batches", rich_help_panel=_WAY)
app.add_typer(articles_app, name="articles", rich_help_panel=_WAY)
app.command(rich_help_panel=_WAY)(run)
app.command(rich_help_panel=_WAY)(report)
app.add_typer(release_app, name="release", rich_help_panel=_WAY)
app.command(rich_help_panel=_LOOK)(article)
app.command(rich_help_panel=_LOOK)(video)
app.add_typer(pmc_app, name="pmc", rich_help_panel=_LOOK)
app.add_typer(captions_app, name="captions", rich_help_panel=_LOOK)
app.command(rich_help_panel=_LOOK)(panels)
instruct_app.command("questions")(instruct_questions)
instruct_app.command("evaluate")(instruct_evaluate)
app.add_typer(instruct_app, name="instruct", rich_help_panel=_LOOK)
app.command(rich_help_panel=_LOOK)(quality)
app.add_typer(annotate_app, name="annotate", rich_help_panel=_LOOK)
app.command(rich_help_panel=_LOOK)(pages)
app.command(rich_help_panel=_LOOK)(gallery)
app.command(rich_help_panel=_OWN)(samples)
app.add_typer(train_app, name="train", rich_help_panel=_OWN)
encode_app.command("train")(encode_train)
encode_app.command("average")(encode_average)
encode_app.command("embed")(encode_embed)
encode_app.command("vectors")(encode_vectors)
encode_app.command("ablate")(encode_ablate)
encode_app.command("index")(encode_index)
encode_app.command("search")(encode_search)
encode_app.command("odd")(encode_odd)
app.add_typer(encode_app, name="encode", rich_help_panel=_OWN)
app.command("settings", rich_help_panel=_SET)(show_settings)
app.command("home", rich_help_panel=_SET)(show_home)
app.command(rich_help_panel=_SET)(clean)

INTERRUPTED = 130
"""Exit status after Ctrl-C: Typer returns it, and shells expect it."""


def _version(wanted: bool) -> None:
    if wanted:
        console.print(f"pmo-assets {__version__}")
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks and Dagster's log.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Hold the options of every command."""
    context.obj = {"debug": debug}
    log_for_people_or_programs(debug)


def _say_error(error: BaseException, otherwise: str = "") -> None:
    """Print an error in one line; of a full disk also its mount point, and advice."""
    from pmo_assets.records.faults import full_disk_advice, is_full_disk

    advice = full_disk_advice(error, places_written()) if is_full_disk(error) else ""
    messages.print(f"[red]error:[/] {one_line(error)}{escape(advice) or otherwise}", highlight=False, soft_wrap=True)


def main() -> None:
    """Run `pmo`, turning expected errors into one line and status 1."""
    debug = "--debug" in sys.argv
    try:
        check_address_space()
    except CommandError as error:
        messages.print(f"[red]error:[/] {one_line(error)}", highlight=False, soft_wrap=True)
        sys.exit(1)
    from dataframely.exc import ValidationError as TableError

    try:
        status = app(standalone_mode=False)
    except typer.TyperException as error:  # wrong arguments; nothing to say when the help was shown for want of any
        text = " ".join(getattr(error, "format_message", error.__str__)().split())
        if text:
            messages.print(f"[red]error:[/] {escape(text)} (see `pmo --help`)", highlight=False, soft_wrap=True)
        sys.exit(2)
    except (CommandError, SystemicError, ArticleError, TableError, OSError, ValueError) as error:
        if debug:
            raise
        _say_error(error)
        sys.exit(1)
    except Exception as error:
        if debug:
            raise
        _say_error(error, " (run `pmo --debug …` for the traceback)")
        sys.exit(1)
    if status == INTERRUPTED:
        messages.print("interrupted; run the same command again to continue", highlight=False)
    sys.exit(status or 0)
