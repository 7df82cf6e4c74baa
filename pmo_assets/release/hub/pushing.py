"""Bringing a release's folder to the Hugging Face hub: what would change, and the change as one commit with a tag.

`HfApi.create_commit` makes it, of the operations that a comparison by hash gives. Not `upload_folder` or
`upload_large_folder`: they make several commits of a large folder (the former where hf_xet is installed), and who
loads the dataset while it is sent shall get the old release or the new one, never half of each; they say nothing
beforehand; and a commit that was refused for a moment, or whose answer was lost, is asked for again by nobody but
this module. The content of large files goes first and is seen by nobody; the hub knows it by its hash, so that an
upload that broke off goes on where it was.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tenacity import RetryCallState, Retrying, retry_if_exception_type, stop_after_attempt, wait_exponential_jitter

from pmo_assets.release.hub.checking import CheckedFolder, LocalFile
from pmo_assets.release.hub.remote import HubBusy, HubError, HubRepository, RemoteFile, RemoteState

Tell = Callable[[str, int, int], None]
"""Is told what is done, how many of how many."""

ATTEMPTS = 5
"""Number of tries of a push while the hub is busy; the client itself waits and asks again before that."""

LONGEST_WAIT = 300.0
"""Seconds; a hub that asks for more is not waited for."""


@dataclass(frozen=True)
class Plan:
    """Plan of the changes that make the hub's files those of the folder.

    Attributes:
        added: files that are not there yet.
        changed: files with other bytes there.
        same: files that are there as they are here.
        deleted: files that are there and not here; names that begin with a dot (`.gitattributes`) are the hub's own.
    """

    added: tuple[LocalFile, ...]
    changed: tuple[LocalFile, ...]
    same: tuple[LocalFile, ...]
    deleted: tuple[RemoteFile, ...]

    @property
    def sent(self) -> tuple[LocalFile, ...]:
        """The files that are uploaded."""
        return tuple(sorted((*self.added, *self.changed), key=lambda file: file.name))

    @property
    def size(self) -> int:
        """Bytes that are uploaded at most: the hub takes parts that it has already from there."""
        return sum(file.size for file in self.sent)

    @property
    def is_empty(self) -> bool:
        """True if there is nothing to do."""
        return not (self.sent or self.deleted)


def compared(files: Mapping[str, LocalFile], remote: Mapping[str, RemoteFile]) -> Plan:
    """Return the plan that makes the remote files the local ones."""
    there = {name: remote[name].holds(file) for name, file in files.items() if name in remote}
    return Plan(
        added=tuple(file for name, file in files.items() if name not in there),
        changed=tuple(file for name, file in files.items() if there.get(name) is False),
        same=tuple(file for name, file in files.items() if there.get(name) is True),
        deleted=tuple(
            file
            for name, file in sorted(remote.items())
            if name not in files and not any(part.startswith(".") for part in name.split("/"))
        ),
    )


def tag_of(version: str) -> str:
    """Return the tag of a release on the hub."""
    return f"v{version}"


def other_data(plan: Plan) -> list[str]:
    """Return the tables in which two folders differ; the version is theirs, not that of what describes them."""
    names = [*(file.name for file in plan.sent), *(file.name for file in plan.deleted)]
    return sorted(name for name in names if name.endswith(".parquet"))


def check_tag(release: CheckedFolder, repository: HubRepository, state: RemoteState) -> None:
    """Check that a push would not give a version's name to other data, nor bring an older version back.

    The same data may be described anew: by a later version of the software, after a later search of PMC.

    Raises:
        HubError: if the version is on the hub already, and the tables there, or at the revision's end, are others.
    """
    tag = tag_of(release.version)
    tagged = state.tags.get(tag)
    if tagged is None:
        return
    now = other_data(compared(release.files, state.files))
    then = now if tagged == state.head else other_data(compared(release.files, repository.files(tagged)))
    if then:
        raise HubError(
            f"version {release.version} is on the hub already (tag {tag}) with other tables ({then[0]} …): it was made "
            "of another data root; push to another dataset"
        )
    if now:
        raise HubError(
            f"version {release.version} is on the hub already (tag {tag}), and {repository.revision} holds another "
            "release: push the newest one"
        )


@dataclass(frozen=True, slots=True)
class Pushed:
    """Result of a push.

    Attributes:
        commit: the hub's commit that holds the release.
        sent: number of files that were uploaded.
        deleted: number of files that were deleted.
        tag: name of the commit.
    """

    commit: str
    sent: int
    deleted: int
    tag: str


def patience(
    say: Callable[[str], None] = lambda _: None, sleep: Callable[[float], None] = time.sleep, attempts: int = ATTEMPTS
) -> Retrying:
    """Return the retrying after a busy hub: after longer and longer waits, or when the hub wants to be asked.

    Args:
        say: is told the reason and the wait.
        sleep: waits so many seconds.
        attempts: number of tries.
    """
    growing = wait_exponential_jitter(initial=5, max=60)

    def wait(state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome is not None else None
        wanted = error.wait if isinstance(error, HubBusy) else None
        return min(LONGEST_WAIT, max(growing(state), wanted or 0.0))

    def told(state: RetryCallState) -> None:
        if state.outcome is not None and state.next_action is not None:
            say(f"{state.outcome.exception()}; again in {state.next_action.sleep:.0f} s")

    return Retrying(
        stop=stop_after_attempt(attempts),
        wait=wait,
        sleep=sleep,
        before_sleep=told,
        retry=retry_if_exception_type(HubBusy),
        reraise=True,
    )


def push(
    release: CheckedFolder,
    repository: HubRepository,
    *,
    private: bool,
    tell: Tell = lambda *_: None,
    retrying: Retrying | None = None,
) -> Pushed:
    """Make a repository's files those of a release in one commit, and tag it with the version.

    Whatever breaks off can be run again. A repository that another one changes meanwhile is left as it is.

    Args:
        release: the folder.
        repository: the target.
        private: a repository that is not there yet is made to be seen by its owner only.
        tell: is told of the progress.
        retrying: how often, and after how long a wait, it goes on when the hub is busy.

    Raises:
        HubError: if the hub refuses, or was busy for too long; the message says what to do.
    """
    again = retrying or patience()
    begun = again(_begun, release, repository, private=private)
    first = compared(release.files, begun.files)
    check_tag(release, repository, begun)
    commit = again(_sent, release, repository, begun.head, tell)
    return Pushed(commit, len(first.sent), len(first.deleted), tag_of(release.version))


def _begun(release: CheckedFolder, repository: HubRepository, *, private: bool) -> RemoteState:
    """Return the state of the repository; it and its revision are made if they are not there."""
    state = repository.read()
    if state.head is None:
        repository.create(private=private)
        state = repository.read()
    return state


def _sent(release: CheckedFolder, repository: HubRepository, begun_at: str | None, tell: Tell) -> str:
    """Upload, commit and tag what is not there yet, and return the commit.

    Whatever came through of an attempt before, also a commit whose answer was lost, is found there and not done again.
    """
    state = repository.read()
    plan = compared(release.files, state.files)
    if not plan.is_empty:
        if state.head != begun_at:
            raise HubError(f"{repository.page} was changed by somebody else meanwhile; look, and run again")
        additions = repository.additions(plan.sent)
        repository.upload(additions, tell)
        message = f"Release {release.version}"
        repository.commit(additions, [file.name for file in plan.deleted], message, parent=state.head)
        state = repository.read()
        if not compared(release.files, state.files).is_empty:
            raise HubError(f"{repository.page} does not hold what was committed: somebody else changes it; run again")
    if state.head is None:
        raise HubError(f"{repository.page} has no commit on {repository.revision} although files were sent; run again")
    if tag_of(release.version) not in state.tags:
        repository.tag(tag_of(release.version), state.head)
    return state.head
