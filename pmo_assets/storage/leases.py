"""Leases below a data root: one writer at a time of a batch, or of the release, whoever and wherever it is.

A lease is a chain of numbered entries, each created exactly once (`DataRoot.create`) and never changed; the newest one
counts::

    leases/<name>/<number>.json     who holds it, since when, and for how many seconds without a further entry

Taking it, renewing it, taking over one whose time has passed and giving it back all create the entry after the newest:
of several that try one succeeds, on a local disk, over NFS and on S3. Who was paused for too long meets the entry of
whoever came after, and knows that the lease is lost: `Lease.renew` directly before a table appears keeps it from
writing. What remains is a process that is paused between that and the renaming of the finished file.

A process that deletes leftovers holds a lease that excludes all others (`clearing`): it is given only while nobody
holds any, and whoever takes another one waits until it is given back, which is a matter of seconds.

How long ago an entry was made is measured by the clock of the store alone, so that machines' clocks may differ. An
entry of a process on this machine says which one (`processes`): when that is gone the lease is free at once.
"""

from __future__ import annotations

import contextlib
import json
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Final

from pmo_assets.records.stores import StorageError, SystemicError
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.system.processes import ProcessMark, this_process

PREFIX: Final = "leases"

LEASE: Final = 120.0
"""Seconds after which a lease that is not renewed is free: a busy machine is never so long without its turn."""

RENEWALS: Final = 4
"""Number of times that a lease is renewed within its seconds."""

CLEARING: Final = "clearing"
"""Name of the lease of a process that deletes leftovers."""

BETWEEN_PROCESSES: Final = 900.0
"""Seconds for which a lease waits for the next process of a run whose last one has ended."""

_DAY: Final = 86_400.0

_held: ContextVar[Mapping[tuple[str, str], Lease]] = ContextVar("held", default=MappingProxyType({}))
"""Leases that a block further out holds, by data root and name: functions that it calls ask for them again."""


class LeaseTaken(SystemicError):
    """Somebody else holds a lease.

    Attributes:
        name: of the lease.
        holder: of the lease, for people.
    """

    def __init__(self, name: str, holder: str) -> None:
        """Say whose it is."""
        super().__init__(f"{name} is held by {holder}: wait until it has ended, then run again")
        self.name = name
        self.holder = holder


class LeaseLost(SystemicError):
    """A lease that this process held has gone to another one: nothing more may be written."""


@dataclass(frozen=True)
class _Entry:
    """The newest entry of a lease; number 0 stands for a lease that nobody ever took.

    Attributes:
        number: place in the chain.
        mark: word that no two holdings share: the holding that the entry belongs to.
        process: process that made it; None for a run that waits for its next process.
        purpose: of the holding, for people.
        since: time when it was taken, by the holder's clock, for people.
        seconds: for which it holds.
        is_free: true if it was given back, or cannot be read.
        note: text that was left when it was given back.
    """

    number: int = 0
    mark: str = ""
    process: ProcessMark | None = None
    purpose: str = ""
    since: str = ""
    seconds: float = LEASE
    is_free: bool = True
    note: str = ""

    @property
    def holder(self) -> str:
        where = f"process {self.process.pid} on {self.process.host}" if self.process else "between two processes"
        return ", ".join(filter(None, [self.purpose, where])) + f" since {self.since}"

    def content(self) -> bytes:
        return json.dumps(
            {
                "mark": self.mark,
                "process": str(self.process) if self.process else "",
                "purpose": self.purpose,
                "since": self.since,
                "seconds": self.seconds,
                "is_free": self.is_free,
                "note": self.note,
            }
        ).encode()


def _key(name: str, number: int) -> str:
    return f"{PREFIX}/{name}/{number:09d}.json"


def _numbers(data_root: DataRoot, name: str) -> list[int]:
    stems = (key.removesuffix(".json") for key in data_root.keys(f"{PREFIX}/{name}", ".json"))
    return sorted(int(stem) for stem in stems if stem.isdigit())


def _entry_of(content: bytes, number: int) -> _Entry:
    """Return an entry; one that is damaged holds nobody up."""
    try:
        said: dict[str, Any] = json.loads(content)
        seconds = float(said["seconds"])
        if not 0 < seconds < _DAY:
            raise ValueError(f"a lease of {seconds} s")
        words = {name: str(said[name]) for name in ("mark", "purpose", "since", "note")}
        return _Entry(
            number, process=ProcessMark.parse(said["process"]), seconds=seconds, is_free=bool(said["is_free"]), **words
        )
    except (ValueError, TypeError, KeyError, OverflowError):
        return _Entry(number)


def _newest(data_root: DataRoot, name: str) -> _Entry:
    while numbers := _numbers(data_root, name):
        key = _key(name, numbers[-1])
        try:
            return _entry_of(data_root.read(key), numbers[-1])
        except StorageError:
            if data_root.exists(key):
                raise
            # It was followed by others, and removed, since the folder was listed.
    return _Entry()


def _is_held(data_root: DataRoot, name: str, entry: _Entry, is_over: Callable[[str], bool]) -> bool:
    if entry.is_free or (entry.process is not None and entry.process.has_ended()):
        return False
    if is_over(entry.mark):
        return False
    age = data_root.age(_key(name, entry.number))
    # One from the future: somebody has set the store's clock. Its holder, if there still is one, finds it lost.
    return age is None or abs(age) <= entry.seconds


def seconds() -> float:
    """Return seconds of a clock that nobody sets, and that goes on while the machine sleeps, where there is one."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()


def _never(_: str) -> bool:
    return False


@dataclass
class Lease:
    """A lease that this process holds, or shares with the other processes of its run.

    Attributes:
        data_root: below which it lies.
        name: of the things that may be written.
        purpose: for people.
        mark: see `take`.
    """

    data_root: DataRoot
    name: str
    purpose: str
    mark: str
    _number: int = 0
    _since: str = field(default_factory=lambda: f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC")
    _ended: threading.Event = field(default_factory=threading.Event)
    _lost: str = ""
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def renew(self) -> None:
        """Show that the holder lives, and make sure that it still is: to be called directly before something appears.

        Raises:
            LeaseLost: if another one has taken the lease over.
            StorageError: if the data root cannot be written.
        """
        self._follow(self._entry())

    def give_back(self, note: str = "", *, between_processes: bool = False) -> None:
        """End the holding; nothing happens if the lease is lost.

        Args:
            note: for whoever takes it next.
            between_processes: keep it for the next process with the same mark.
        """
        with self._lock, contextlib.suppress(LeaseLost):
            if between_processes:
                self._follow(replace(self._entry(), process=None, seconds=BETWEEN_PROCESSES))
            else:
                self._follow(replace(self._entry(), is_free=True, note=note))
            self._lost = f"{self.name} was given back"
            self._ended.set()

    def _entry(self) -> _Entry:
        return _Entry(
            mark=self.mark,
            process=this_process(),
            purpose=self.purpose,
            since=self._since,
            seconds=LEASE,
            is_free=False,
        )

    def _follow(self, entry: _Entry) -> None:
        with self._lock:
            while not self._lost and not self._append_in_time(entry):
                newest = _newest(self.data_root, self.name)
                if newest.mark != self.mark or newest.is_free:
                    self._ended.set()
                    self._lost = (
                        f"{self.name} went to {newest.holder}, because its lease was not renewed for {LEASE:.0f} s "
                        "(was this process stopped, or the machine asleep?): nothing more is written; run again"
                    )
                self._number = newest.number  # another process of the run, or an attempt of which no answer came
            if self._lost:
                raise LeaseLost(self._lost)

    def _append_in_time(self, entry: _Entry) -> bool:
        """Append an entry; False also if that took so long that another one may have come after it."""
        begun = seconds()
        return self._append(entry) and (entry.is_free or seconds() - begun < entry.seconds / 2)

    def _append(self, entry: _Entry) -> bool:
        """Create the entry after the one that was the newest; False if it is the newest no longer."""
        number = self._number + 1
        if not self.data_root.create(_key(self.name, number), entry.content()):
            return False
        numbers = _numbers(self.data_root, self.name)
        if numbers[-1:] != [number]:
            # That place had been taken, and removed: others are far ahead.
            self.data_root.delete(_key(self.name, number))
            return False
        self._number = number
        for old in numbers[:-2]:  # the last but one stays, so that no listing meets an empty folder
            with contextlib.suppress(StorageError):
                self.data_root.delete(_key(self.name, old))
        return True

    def _keep(self) -> None:
        while not self._ended.wait(LEASE / RENEWALS):
            try:
                self.renew()
            except LeaseLost:
                return
            except StorageError:
                continue  # who writes next is told


def take(
    data_root: DataRoot,
    name: str,
    purpose: str = "",
    *,
    mark: str | None = None,
    is_over: Callable[[str], bool] = _never,
    await_sign_of_life: bool = False,
) -> Lease:
    """Take a lease and renew it in a thread until it is given back.

    Args:
        data_root: below which it lies.
        name: what is to be written, e.g. `batches/0001-3f2a9c1d`.
        purpose: what for, for people.
        mark: of a run with several processes, which share the lease; nobody else's if None.
        is_over: says of the mark of a holder whether its run has certainly ended.
        await_sign_of_life: of a holder elsewhere: until it renews its lease, or does not.

    Raises:
        LeaseTaken: if another one holds it.
        StorageError: if the data root cannot be read or written.
    """
    lease = Lease(data_root, name, purpose, mark or uuid.uuid4().hex)
    seen: _Entry | None = None
    while True:
        newest = _newest(data_root, name)
        lease._number = newest.number
        if newest.mark == lease.mark or not _is_held(data_root, name, newest, is_over):
            if lease._append(lease._entry()):
                break
            continue
        lives_here = newest.process is not None and newest.process.has_ended() is False
        shown = seen is not None and (seen.mark, seen.number) != (newest.mark, newest.number)
        if lives_here or shown or not await_sign_of_life:
            raise LeaseTaken(name, newest.holder)
        seen = newest
        time.sleep(min(5.0, LEASE / RENEWALS / 2))
    threading.Thread(target=lease._keep, daemon=True, name=f"lease of {name}").start()
    if name != CLEARING:
        try:
            _await_end_of_clearing(data_root)
        except BaseException:
            lease.give_back()
            raise
    return lease


def _await_end_of_clearing(data_root: DataRoot) -> None:
    """Wait until nobody deletes leftovers; whoever holds another lease already keeps them from going on.

    Raises:
        StorageError: if the data root cannot be read or written.
    """
    while True:
        newest = _newest(data_root, CLEARING)
        if newest.is_free or (newest.process is not None and newest.process.has_ended()):
            return
        if _is_held(data_root, CLEARING, newest, _never):
            time.sleep(0.1)
            continue
        # It was stopped, and may wake up again: it must find its lease gone.
        other = Lease(data_root, CLEARING, "", uuid.uuid4().hex, newest.number)
        if other._append(other._entry()):
            other.give_back()
            return


@contextlib.contextmanager
def holding(
    data_root: DataRoot, name: str, purpose: str = "", *, is_over: Callable[[str], bool] = _never
) -> Iterator[Lease]:
    """Hold a lease while the block runs; a block within such a block has it already (`held_here`).

    Raises:
        LeaseTaken: if another one holds it.
        StorageError: if the data root cannot be read or written.
    """
    if (outer := held_here(data_root, name)) is not None:
        yield outer
        return
    lease = take(data_root, name, purpose, is_over=is_over)
    token = _held.set({**_held.get(), (data_root.root, name): lease})
    try:
        yield lease
    finally:
        _held.reset(token)
        lease.give_back()


@contextlib.contextmanager
def clearing(data_root: DataRoot, purpose: str, *, is_over: Callable[[str], bool] = _never) -> Iterator[Lease]:
    """Hold the lease that excludes all others while the block runs; it should not run for long: others wait.

    Raises:
        LeaseTaken: if anybody holds any lease.
        StorageError: if the data root cannot be read or written.
    """
    with holding(data_root, CLEARING, purpose, is_over=is_over) as lease:
        for name in held_below(data_root, is_over=is_over):
            if name != CLEARING and (holder := holder_of(data_root, name, is_over=is_over)) is not None:
                raise LeaseTaken(name, holder)
        yield lease


def held_here(data_root: DataRoot, name: str) -> Lease | None:
    """Return the lease that a block around this call holds (`holding`)."""
    return _held.get().get((data_root.root, name))


def holder_of(data_root: DataRoot, name: str, *, is_over: Callable[[str], bool] = _never) -> str | None:
    """Return who holds a lease, for people; None if it is free."""
    newest = _newest(data_root, name)
    return newest.holder if _is_held(data_root, name, newest, is_over) else None


def held_below(data_root: DataRoot, *, is_over: Callable[[str], bool] = _never) -> list[str]:
    """Return the names of all leases of a data root that somebody holds, sorted."""
    folders = {file.key.removeprefix(f"{PREFIX}/").rpartition("/")[0] for file in data_root.files(PREFIX)}
    return sorted(name for name in folders if name and holder_of(data_root, name, is_over=is_over) is not None)


POLL: Final = 2.0
"""Seconds between two looks at leases that others hold."""


def in_turn(
    data_root: DataRoot,
    names: Sequence[str],
    work: Callable[[str, str | None], None],
    *,
    purpose: str,
    waiting: Callable[[str, str], None],
    is_over: Callable[[str], bool] = _never,
) -> None:
    """Do something under each of some leases; those that others hold come last, when they are given back.

    Args:
        data_root: below which the leases lie.
        names: of the leases.
        work: is given the lease's name, and who held it when it was wanted first, None if nobody did.
        purpose: what for, for people.
        waiting: told of a lease that is waited for, with its holder, when only such are left.
        is_over: see `take`.

    Raises:
        StorageError: if the data root cannot be read or written.
    """
    left: dict[str, str | None] = dict.fromkeys(names)
    while left:
        taken: list[LeaseTaken] = []
        for name, holder in list(left.items()):
            with contextlib.ExitStack() as stack:
                try:
                    stack.enter_context(holding(data_root, name, purpose, is_over=is_over))
                except LeaseTaken as error:
                    left[name] = error.holder
                    taken.append(error)
                    continue
                work(name, holder)
            del left[name]
        if len(taken) == len(left) > 0:
            waiting(taken[0].name, taken[0].holder)
            time.sleep(POLL)
