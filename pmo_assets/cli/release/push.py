"""`pmo release push`: bring a release to the Hugging Face hub."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from pmo_assets.cli.console import (
    CommandError,
    console,
    counted,
    data_root_of,
    messages,
    progress_bars,
    settings_from_environment,
)

if TYPE_CHECKING:
    from pmo_assets.release.hub.checking import CheckedFolder
    from pmo_assets.release.hub.pushing import Plan
    from pmo_assets.release.hub.remote import HubRepository, RemoteState

SHOWN = 20
"""Files of one kind that are listed by name."""


def push(
    repo_id: Annotated[str, typer.Argument(metavar="OWNER/NAME", help="Dataset on the hub; it is made if need be.")],
    folder: Annotated[
        Path | None, typer.Option(help="Folder of the release; release/hub below the data root if not given.")
    ] = None,
    revision: Annotated[str, typer.Option(help="Branch.")] = "main",
    private: Annotated[bool, typer.Option("--private", help="Make a new dataset visible to its owner only.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Send it; without, only say what would be sent.")] = False,
) -> None:
    """Bring a release to the Hugging Face hub in one commit, and tag it with its version; a dry run without --yes.

    Needs the extra `hub` and a token that may write in HF_TOKEN. What breaks off is continued by the same command;
    nothing is uploaded twice. HF_ENDPOINT names another hub.
    """
    from pmo_assets.cli.release.shared import release_folder
    from pmo_assets.release.hub.checking import checked_folder
    from pmo_assets.release.hub.markdown import size_text
    from pmo_assets.release.hub.pushing import patience
    from pmo_assets.release.hub.pushing import push as push_release
    from pmo_assets.release.hub.remote import HubRepository
    from pmo_assets.sources.hugging_face import hub_client

    if not re.fullmatch(r"[\w-][\w.-]*/[\w-][\w.-]*", repo_id, re.ASCII):
        raise CommandError(f"{repo_id!r} is no name of a dataset: give OWNER/NAME")
    place = folder or release_folder(data_root_of(settings_from_environment()))
    with progress_bars() as (_, tell):
        release = checked_folder(place, tell)
    console.print(
        f"{place}: release {release.version}, {counted(len(release.files), 'file')}, {size_text(release.size)}; "
        "sums and card are right",
        highlight=False,
        markup=False,
        soft_wrap=True,
    )
    repository = HubRepository(repo_id, revision)
    if not yes:
        _say_what_would_happen(release, repository, private=private)
        return
    hub_client().utils.disable_progress_bars()  # two kinds of bars at once are none
    with progress_bars() as (_, tell):
        done = push_release(
            release,
            repository,
            private=private,
            tell=tell,
            retrying=patience(lambda text: messages.print(f"[yellow]busy[/] {escape(text)}", highlight=False)),
        )
    console.print(
        f"{repository.page}: {counted(done.sent, 'file')} sent, {done.deleted} deleted, commit {done.commit}, "
        f"tag {done.tag}",
        highlight=False,
        markup=False,
        soft_wrap=True,
    )


def _say_what_would_happen(release: CheckedFolder, repository: HubRepository, *, private: bool) -> None:
    from pmo_assets.release.hub.markdown import size_text
    from pmo_assets.release.hub.pushing import check_tag, compared, tag_of
    from pmo_assets.release.hub.remote import NOTHING_THERE, HubBusy

    try:
        state = repository.read()
    except HubBusy as error:
        messages.print(f"[yellow]not compared[/] {escape(str(error))}", highlight=False, soft_wrap=True)
        state = NOTHING_THERE
    else:
        _say_where(repository, state, private=private)
    plan = compared(release.files, state.files)
    _say_plan(plan)
    check_tag(release, repository, state)
    if plan.is_empty and tag_of(release.version) in state.tags:
        console.print("all of it is there already", highlight=False)
        return
    console.print(
        f"{counted(len(plan.sent), 'file')}, {size_text(plan.size)}, would be sent, {len(plan.deleted)} deleted, tag "
        f"{tag_of(release.version)}; nothing was sent (--yes sends it)",
        highlight=False,
        soft_wrap=True,
    )


def _say_where(repository: HubRepository, state: RemoteState, *, private: bool) -> None:
    if state.exists:
        what = f"{counted(len(state.files), 'file')} on {repository.revision}"
    else:
        what = f"not there, or private; it would be made, {'private' if private else 'public'}"
    console.print(f"{repository.page}: {what}", highlight=False, markup=False, soft_wrap=True)


def _say_plan(plan: Plan) -> None:
    from pmo_assets.release.hub.markdown import size_text

    for word, files in (("new", plan.added), ("changed", plan.changed), ("deleted", plan.deleted)):
        for file in files[:SHOWN]:
            console.print(f"  {word:8} {file.name}  {size_text(file.size)}", highlight=False, markup=False)
        if len(files) > SHOWN:
            console.print(f"  {word:8} … and {len(files) - SHOWN} more", highlight=False)
    if plan.same:
        console.print(f"  same     {counted(len(plan.same), 'file')}", highlight=False)
