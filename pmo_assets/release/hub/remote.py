"""A dataset's repository on the Hugging Face hub: what it holds, and how files come into it (extra `hub`)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from pmo_assets.records.retry_after import retry_after
from pmo_assets.records.stores import SystemicError
from pmo_assets.release.hub.checking import LocalFile
from pmo_assets.sources.hugging_face import causes, headers_of, hub_client, is_of_network, names_of, status_of

REPO_TYPE = "dataset"


class HubError(SystemicError):
    """The hub refuses, or cannot be reached; the message says what to do."""


class HubBusy(HubError):
    """The hub did not answer, or asks to be asked later: the same again may succeed.

    Attributes:
        wait: seconds after which the hub wants to be asked again; None if it did not say.
    """

    def __init__(self, message: str, wait: float | None = None) -> None:
        super().__init__(message)
        self.wait = wait


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file of the repository.

    Attributes:
        name: its path.
        size: in bytes.
        sha256: of a file that is stored apart from git (LFS, Xet); None of others.
        blob_id: git's object id.
    """

    name: str
    size: int
    sha256: str | None
    blob_id: str

    def holds(self, file: LocalFile) -> bool:
        """Say whether it has the same bytes as a local file."""
        if self.size != file.size:
            return False
        return self.sha256 == file.sha256 if self.sha256 is not None else self.blob_id == git_blob_id(file.path)


@dataclass(frozen=True)
class RemoteState:
    """Contents of a revision of the repository.

    Attributes:
        exists: true if there is such a repository.
        head: commit of the revision; None if there is none.
        files: by name.
        tags: commit of each tag.
    """

    exists: bool
    head: str | None
    files: Mapping[str, RemoteFile]
    tags: Mapping[str, str]


NOTHING_THERE = RemoteState(exists=False, head=None, files={}, tags={})


def git_blob_id(path: Path) -> str:
    """Return the id that git gives a file's content."""
    digest = hashlib.sha1(f"blob {path.stat().st_size}\0".encode(), usedforsecurity=False)
    with path.open("rb") as file:
        while part := file.read(1 << 20):
            digest.update(part)
    return digest.hexdigest()


class HubRepository:
    """A dataset's repository, read and written by `huggingface_hub`, with HF_ENDPOINT and HF_TOKEN as that reads them.

    Every method raises `HubBusy` where the same again may succeed, and `HubError` where it will not.
    """

    def __init__(self, name: str, revision: str = "main", endpoint: str | None = None) -> None:
        """Open nothing yet.

        Args:
            name: "owner/name".
            revision: a branch.
            endpoint: address of the hub; None for HF_ENDPOINT, or Hugging Face.

        Raises:
            HubError: if `huggingface_hub` is not installed.
        """
        try:
            self._client = hub_client()
        except ImportError as error:
            raise HubError(
                "the hub is written to by the package huggingface_hub, which is not installed: "
                "pip install 'pmo-assets[hub]'"
            ) from error
        self.name = name
        self.revision = revision
        self._api = self._client.HfApi(endpoint=endpoint)
        self._target = {"repo_id": name, "repo_type": REPO_TYPE}

    @property
    def page(self) -> str:
        """Its address."""
        return f"{self._api.endpoint}/datasets/{self.name}"

    def read(self) -> RemoteState:
        """Return the contents of the revision."""
        with self._failures("be read"):
            try:
                refs = self._api.list_repo_refs(**self._target)
            except self._client.errors.RepositoryNotFoundError:
                if self._client.get_token() is None:
                    self._without_token()
                return NOTHING_THERE
            head = next((branch.target_commit for branch in refs.branches if branch.name == self.revision), None)
            tags = {tag.name: tag.target_commit for tag in refs.tags}
        return RemoteState(True, head, self.files(head) if head is not None else {}, tags)

    def files(self, commit: str) -> dict[str, RemoteFile]:
        """Return the files of a commit, by name."""
        files: dict[str, RemoteFile] = {}
        with self._failures("be read"):
            for item in self._api.list_repo_tree(**self._target, revision=commit, recursive=True):
                if isinstance(item, self._client.hf_api.RepoFile):
                    sha256 = item.lfs.sha256 if item.lfs is not None else None
                    files[item.path] = RemoteFile(item.path, item.size, sha256, item.blob_id)
        return files

    def create(self, *, private: bool) -> None:
        """Make the repository, and the branch if it is another than main; nothing happens to what is there."""
        with self._failures("be made"):
            self._api.create_repo(**self._target, private=private, exist_ok=True)
            if self.revision != "main":
                self._api.create_branch(**self._target, branch=self.revision, exist_ok=True)

    def additions(self, files: Sequence[LocalFile]) -> list[Any]:
        """Return the operations that add files to a commit."""
        return [self._client.CommitOperationAdd(path_in_repo=file.name, path_or_fileobj=file.path) for file in files]

    def upload(self, additions: Sequence[Any], tell: Callable[[str, int, int], None]) -> None:
        """Send the content of files, one after the other, without a commit: nobody sees them yet.

        What the hub has already, also from an upload that broke off, it does not ask for again.
        """
        for done, addition in enumerate(additions):
            tell(f"uploading {addition.path_in_repo}", done, len(additions))
            with self._failures(f"take {addition.path_in_repo}"):
                # its content stays readable: small files are sent with the commit
                self._api.preupload_lfs_files(
                    self.name, [addition], repo_type=REPO_TYPE, revision=self.revision, free_memory=False
                )
        tell("uploading", len(additions), len(additions))

    def commit(self, additions: Sequence[Any], deleted: Sequence[str], message: str, parent: str | None) -> None:
        """Make all changes visible at once, if nothing else has changed the revision since `parent`."""
        removals = [self._client.CommitOperationDelete(path_in_repo=name, is_folder=False) for name in deleted]
        with self._failures("be committed to"):
            self._api.create_commit(
                **self._target,
                operations=[*additions, *removals],
                commit_message=message,
                revision=self.revision,
                parent_commit=parent,
            )

    def tag(self, tag: str, commit: str) -> None:
        """Give a commit a name."""
        with self._failures("be tagged"):
            self._api.create_tag(**self._target, tag=tag, revision=commit)

    def _without_token(self) -> NoReturn:
        raise HubError(
            f"{self.page} is not there, or not to be seen without a token: make one that may write on "
            f"{self._api.endpoint}/settings/tokens and set HF_TOKEN to it"
        )

    @contextmanager
    def _failures(self, what: str) -> Iterator[None]:
        """Turn errors of the client into a `HubError` with advice."""
        try:
            yield
        except HubError:
            raise
        except ValueError as error:  # what the client, or the hub, says of the card, names and operations
            if is_of_network(error):
                raise self._said(error, what) from error
            raise HubError(f"{self.page} cannot {what}: {_reason(error)}") from error
        except Exception as error:
            if not any(is_of_network(item) for item in causes(error)):
                raise
            raise self._said(error, what) from error

    def _said(self, error: Exception, what: str) -> HubError:
        status, names = status_of(error), names_of(error)
        reason = _reason(error)
        if status in (401, 403) and "RepositoryNotFoundError" not in names:
            held = "the token that is used may not" if self._client.get_token() else "there is no token"
            return HubError(
                f"{self.page} cannot {what}: {held}; make a token that may write on "
                f"{self._api.endpoint}/settings/tokens and set HF_TOKEN to it ({reason})"
            )
        if status == 412:
            return HubError(
                f"{self.page} cannot {what}: somebody else has changed {self.revision}; look, and run again"
            )
        if status is None or status in _BUSY:
            return HubBusy(
                f"{self.page} cannot {what} at the moment ({reason}): run the same command again, what the hub has "
                "already is not sent again",
                retry_after(headers_of(error).get("Retry-After")),
            )
        return HubError(f"{self.page} cannot {what}: {reason}")


_BUSY = frozenset({408, 425, 429, 500, 502, 503, 504})
"""Answers after which the same request may succeed."""


def _reason(error: BaseException) -> str:
    return " ".join(str(error).split())[:300] or type(error).__name__
