"""Candidates: articles that a search found at PMC, and what has become of them there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from pmo_assets.records.packages import PackageListing


class CandidateState(StrEnum):
    """State of a candidate."""

    FOUND = "found"
    ABSENT = "absent"
    AVAILABLE = "available"
    UNUSABLE = "unusable"
    REMOVED = "removed"


class Event(StrEnum):
    """Event of a candidate at PMC."""

    NEW = "new"
    CHANGED = "changed"
    SUPERSEDED = "superseded"
    RETRACTED = "retracted"
    RESTORED = "restored"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class KnownVersion:
    """A version of a candidate.

    Attributes:
        version: from 1.
        etag: of its metadata file when it was read last.
        last_modified: of the metadata file, UTC.
        present: the bucket still held it when it was looked at last.
    """

    version: int
    etag: str
    last_modified: datetime
    present: bool = True


@dataclass(frozen=True, slots=True)
class Candidate:
    """An article that a search found.

    Attributes:
        article_id: PMC number.
        state: see `CandidateState`.
        found_at: when a search found it first, UTC.
        versions: every version that was ever seen, in order.
        listing: the version that counts; None if there is none, or its metadata was never readable.
        event: its last event.
        event_at: when that was noticed, UTC.
        problem: reason why it cannot be registered.
    """

    article_id: int
    state: CandidateState
    found_at: datetime
    versions: tuple[KnownVersion, ...] = ()
    listing: PackageListing | None = None
    event: Event | None = None
    event_at: datetime | None = None
    problem: str | None = None


def event_between(before: Candidate, after: Candidate) -> Event | None:
    """Return the event of a candidate between two looks at it; None if nothing happened.

    A retraction and a removal count before a change that comes with them.
    """
    old, new = before.listing, after.listing
    if after.state is CandidateState.REMOVED:
        return Event.REMOVED if before.state is not CandidateState.REMOVED else None
    if after.state is not CandidateState.AVAILABLE or new is None:
        return None
    if old is None:
        return Event.RETRACTED if new.is_retracted else Event.NEW
    if new.is_retracted != old.is_retracted:
        return Event.RETRACTED if new.is_retracted else Event.RESTORED
    if before.state is CandidateState.REMOVED:
        return Event.RESTORED
    if new.version != old.version:
        return Event.SUPERSEDED
    return Event.CHANGED if new.digest != old.digest else None


def with_event(before: Candidate, after: Candidate, now: datetime) -> Candidate:
    """Return a candidate as it is now, with what happened to it since it was looked at before."""
    event = event_between(before, after)
    if event is None:
        return replace(after, event=before.event, event_at=before.event_at)
    return replace(after, event=event, event_at=now)
