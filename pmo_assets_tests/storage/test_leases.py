"""One writer at a time: across processes and machines, on a disk and on S3, whoever is killed, stopped or late."""

from __future__ import annotations

import contextlib
import contextvars
import dataclasses
import datetime
import itertools
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from moto.core import DEFAULT_ACCOUNT_ID as ACCOUNT
from moto.s3.models import s3_backends

from pmo_assets.records.stores import StorageError
from pmo_assets.storage import leases
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.leases import (
    Lease,
    LeaseLost,
    LeaseTaken,
    held_below,
    held_here,
    holder_of,
    holding,
    in_turn,
    take,
)
from pmo_assets.system.processes import ProcessMark, this_process

HOLD = """
import sys
from pmo_assets.storage import leases
from pmo_assets.storage.data_root import DataRoot
with leases.holding(DataRoot(sys.argv[1], sys.argv[2] or None), "batch", "`pmo run`") as lease:
    print("held", flush=True)
    for line in sys.stdin:
        try:
            lease.renew()
            print("held", flush=True)
        except leases.LeaseLost as error:
            print(error, flush=True)
"""


@contextlib.contextmanager
def other_process(root: DataRoot) -> Iterator[subprocess.Popen[str]]:
    """A process that holds the lease, and says on request whether it still does."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, root.root, root.endpoint or ""],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.kill()


def asked(process: subprocess.Popen[str]) -> str:
    """Return what a process says that is to write now."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("\n")
    process.stdin.flush()
    return process.stdout.readline()


def stopped(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGSTOP)
    os.waitpid(process.pid, os.WUNTRACED)


def refused(root: DataRoot, name: str = "batch") -> str:
    """Return who has the lease, as somebody else is told."""

    def ask() -> str:
        with pytest.raises(LeaseTaken) as told, holding(root, name):
            pass
        return told.value.holder

    return contextvars.Context().run(ask)


def entries(root: DataRoot, name: str = "batch") -> list[int]:
    return [int(key.removesuffix(".json")) for key in root.keys(f"leases/{name}")]


def abroad(root: DataRoot, name: str = "batch", seconds: float = 120.0, **facts: object) -> None:
    """Write the next entry as a process of another machine does."""
    process = dataclasses.replace(this_process(), host="elsewhere", pid=7, boot="another")
    said = {"mark": "x", "process": str(process), "purpose": "", "since": "today", "seconds": seconds, "is_free": False}
    number = max(entries(root, name), default=0) + 1
    assert root.create(f"leases/{name}/{number:09d}.json", json.dumps({**said, "note": "", **facts}).encode())


def age(root: DataRoot, seconds: float = 200.0, name: str = "batch") -> None:
    """Let the store say that all entries of a lease were written so much earlier: time passes without waiting."""
    for number in entries(root, name):
        key = f"leases/{name}/{number:09d}.json"
        if not root.root.startswith("s3://"):
            file = Path(root.root, key)
            then = file.stat().st_mtime - seconds
            os.utime(file, (then, then))
            continue
        bucket, _, prefix = root.root.removeprefix("s3://").partition("/")
        stored = s3_backends[ACCOUNT]["aws"].buckets[bucket].keys[f"{prefix}/{key}"]
        stored.last_modified -= datetime.timedelta(seconds=seconds)


def followed(root: DataRoot, number: int) -> None:
    """Wait until an entry has been followed by another one."""
    until = time.monotonic() + 30
    while entries(root)[-1] <= number:
        assert time.monotonic() < until, "it is not renewed"
        time.sleep(0.01)


def test_a_second_one_is_told_who_is_at_work(data_root: DataRoot) -> None:
    assert holder_of(data_root, "batch") is None
    with holding(data_root, "batch", "`pmo run`"):
        assert refused(data_root).startswith(f"`pmo run`, process {os.getpid()} on ")
        assert holder_of(data_root, "batch") == refused(data_root)
        with holding(data_root, "another batch"):
            pass
    assert holder_of(data_root, "batch") is None
    with holding(data_root, "batch"):
        pass


def test_what_is_called_within_has_the_lease_already(data_root: DataRoot) -> None:
    with holding(data_root, "batch") as outer:
        with contextlib.suppress(ZeroDivisionError), holding(data_root, "batch") as inner:
            assert inner is outer is held_here(data_root, "batch")
            raise ZeroDivisionError
        assert "process" in refused(data_root), "the outer block still has it"
    assert held_here(data_root, "batch") is None


def test_all_that_are_held_are_listed(data_root: DataRoot) -> None:
    assert held_below(data_root) == []
    with holding(data_root, "batches/0001", "a test"), holding(data_root, "release", "a test"):
        assert held_below(data_root) == ["batches/0001", "release"]
    assert held_below(data_root) == []


def test_after_an_error_it_is_free(data_root: DataRoot) -> None:
    for _ in range(2):
        with pytest.raises(ValueError, match="wrong"), holding(data_root, "batch"):
            raise ValueError("wrong")


@pytest.mark.slow
def test_the_lease_of_a_process_that_was_killed_here_is_free_at_once(data_root: DataRoot) -> None:
    with other_process(data_root) as process:
        assert f"process {process.pid} on" in refused(data_root)
        process.kill()
        while holder_of(data_root, "batch") is not None:  # nobody has waited for it: it is a zombie
            assert process.returncode is None
            time.sleep(0.01)
        with holding(data_root, "batch"):
            pass


def test_another_process_with_the_same_number_does_not_hold_it(data_root: DataRoot) -> None:
    before = dataclasses.replace(this_process(), start="1")
    abroad(data_root, process=str(before))
    with holding(data_root, "batch"):
        pass


def test_of_another_machine_only_the_time_tells(data_root: DataRoot) -> None:
    abroad(data_root)
    age(data_root, 110)
    assert refused(data_root) == "process 7 on elsewhere since today"
    age(data_root, 15)
    with holding(data_root, "batch"):
        pass


ASK = """
import sys, time
ahead, real = float(sys.argv[3]), time.time
time.time = lambda: real() + ahead
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.leases import holder_of
print(holder_of(DataRoot(sys.argv[1], sys.argv[2] or None), "batch"))
"""


@pytest.mark.parametrize("ahead", [-86_400, 7_200])
def test_clocks_of_machines_may_differ(data_root: DataRoot, ahead: int) -> None:
    abroad(data_root)
    arguments = [sys.executable, "-c", ASK, data_root.root, data_root.endpoint or "", str(ahead)]
    assert subprocess.run(arguments, capture_output=True, text=True, check=True).stdout == (
        "process 7 on elsewhere since today\n"
    )


def test_an_entry_from_the_future_is_a_wrong_clock_of_the_disk(tmp_path: Path) -> None:
    root = DataRoot(str(tmp_path))
    abroad(root)
    soon = time.time() + 3_600
    os.utime(tmp_path / "leases" / "batch" / f"{1:09d}.json", (soon, soon))
    with holding(root, "batch"):
        pass


def test_a_run_that_is_known_to_be_over_holds_nobody_up(data_root: DataRoot) -> None:
    abroad(data_root, mark="run 1")
    with pytest.raises(LeaseTaken):
        take(data_root, "batch", is_over=lambda mark: mark == "run 2")
    take(data_root, "batch", is_over=lambda mark: mark == "run 1").give_back()


def test_it_is_renewed_as_long_as_its_holder_works(data_root: DataRoot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "RENEWALS", leases.LEASE / 0.1)
    with holding(data_root, "batch"):
        for _ in range(3):
            number = entries(data_root)[-1]
            age(data_root, 100)
            followed(data_root, number)
            assert "process" in refused(data_root)
        until = time.monotonic() + 30
        while len(entries(data_root)) > 2:  # for a moment, between two renewals
            assert time.monotonic() < until, "what was followed by others is removed"
            time.sleep(0.01)


@pytest.mark.slow
def test_who_was_stopped_for_too_long_writes_no_more(data_root: DataRoot) -> None:
    with other_process(data_root) as process:
        assert asked(process) == "held\n"
        stopped(process)
        age(data_root)
        with holding(data_root, "batch", "the next") as lease:
            process.send_signal(signal.SIGCONT)
            assert "batch went to the next, process" in asked(process)
            assert "batch went to the next" in asked(process), "for good"
            lease.renew()
        assert holder_of(data_root, "batch") is None
        assert "batch went to" in asked(process)


@pytest.mark.slow
def test_who_was_stopped_finds_its_lease_gone_however_often_it_was_taken_since(data_root: DataRoot) -> None:
    with other_process(data_root) as process:
        stopped(process)
        age(data_root)
        for _ in range(4):
            with holding(data_root, "batch") as lease:
                for _ in range(3):
                    lease.renew()
        with holding(data_root, "batch", "the last") as lease:
            process.send_signal(signal.SIGCONT)
            assert "batch went to the last" in asked(process)
            lease.renew()


@pytest.mark.slow
def test_who_was_stopped_and_whose_lease_nobody_wanted_goes_on(data_root: DataRoot) -> None:
    with other_process(data_root) as process:
        stopped(process)
        age(data_root)
        process.send_signal(signal.SIGCONT)
        assert asked(process) == "held\n"


def test_processes_of_one_run_share_it(data_root: DataRoot) -> None:
    first = take(data_root, "batch", mark="run 1")
    second = take(data_root, "batch", mark="run 1")
    for lease in (first, second, second, first):
        lease.renew()
        assert "process" in refused(data_root)
    first.give_back(between_processes=True)
    second.renew()
    second.give_back(between_processes=True)
    assert refused(data_root).startswith("between two processes")
    third = take(data_root, "batch", mark="run 1")
    third.give_back()
    with holding(data_root, "batch"):
        pass


def test_what_was_given_back_is_not_renewed(data_root: DataRoot) -> None:
    lease = take(data_root, "batch")
    lease.give_back()
    with pytest.raises(LeaseLost, match="given back"):
        lease.renew()
    assert holder_of(data_root, "batch") is None


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"{}", b"\xff", b'{"seconds": "soon"}', b'{"seconds": null}', b'{"seconds": NaN}'],
)
def test_a_damaged_entry_holds_nobody_up(data_root: DataRoot, content: bytes) -> None:
    data_root.write(f"leases/batch/{5:09d}.json", content)
    with holding(data_root, "batch"):
        assert entries(data_root)[-1] == 6


def test_a_lease_without_end_is_none(data_root: DataRoot) -> None:
    abroad(data_root, seconds=1e300)
    with holding(data_root, "batch"):
        pass


def test_who_waits_for_a_sign_of_life_gets_the_lease_of_a_machine_that_is_gone(
    data_root: DataRoot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "RENEWALS", leases.LEASE / 0.1)
    abroad(data_root)
    timer = threading.Timer(0.2, age, (data_root,))
    timer.start()
    take(data_root, "batch", await_sign_of_life=True).give_back()
    timer.join()


def test_who_waits_for_a_sign_of_life_leaves_it_to_who_gives_one(
    data_root: DataRoot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "RENEWALS", leases.LEASE / 0.1)
    abroad(data_root)
    timer = threading.Timer(0.2, abroad, (data_root,))
    timer.start()
    with pytest.raises(LeaseTaken, match="elsewhere"):
        take(data_root, "batch", await_sign_of_life=True)
    timer.join()


def test_an_answer_that_was_lost_on_the_way_loses_no_lease(data_root: DataRoot) -> None:
    @dataclasses.dataclass(frozen=True)
    class Deaf(DataRoot):
        deaf: list[bool] = dataclasses.field(default_factory=list)

        def create(self, key: str, content: bytes) -> bool:
            made = super().create(key, content)
            if self.deaf:
                self.deaf.pop()
                raise StorageError("no answer")
            return made

    root = Deaf(data_root.root, data_root.endpoint)
    lease = take(root, "batch")
    root.deaf.append(True)
    with pytest.raises(StorageError):
        lease.renew()
    lease.renew()
    assert "process" in refused(data_root)
    lease.give_back()
    assert holder_of(data_root, "batch") is None


def test_an_entry_that_was_created_too_late_counts_for_nothing(data_root: DataRoot) -> None:
    """Who saw a free lease, and was stopped before taking it, finds the place of its entry empty again."""
    with holding(data_root, "batch") as lease:
        for _ in range(5):
            lease.renew()
        late = Lease(data_root, "batch", "", "late", _number=1)
        assert 2 not in entries(data_root)
        assert not late._append(late._entry())
        lease.renew()
        assert 2 not in entries(data_root)


def test_work_is_done_under_each_lease_and_what_others_hold_comes_last(
    data_root: DataRoot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "POLL", 0.2)
    done: list[tuple[str, str | None]] = []
    waited: list[str] = []

    def work(name: str, holder: str | None) -> None:
        assert held_here(data_root, name) is not None
        done.append((name, holder))

    other = take(data_root, "b", "another")

    def waiting(name: str, holder: str) -> None:
        waited.append(f"{name}: {holder}")
        if len(waited) == 2:
            other.give_back()

    in_turn(data_root, ["a", "b", "c"], work, purpose="", waiting=waiting)
    assert [name for name, _ in done] == ["a", "c", "b"]
    assert done[0][1] is None
    assert str(done[2][1]).startswith("another, process")
    assert len(waited) == 2
    assert waited[0].startswith("b: another, process")


CONTEND = """
import os, random, sys, time
from pathlib import Path
from pmo_assets.storage import leases
from pmo_assets.storage.data_root import DataRoot
root, endpoint, log, seed, seconds = sys.argv[1:]
leases.LEASE = float(seconds)
chance = random.Random(int(seed))
data_root = DataRoot(root, endpoint or None)
place = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
while True:
    try:
        with leases.holding(data_root, "batch") as lease:
            for _ in range(chance.randrange(1, 4)):
                lease.renew()
                # what a writer does when it may: the shorter, the less can a SIGSTOP come in between
                os.write(place, f"{os.getpid()} {lease._number}\\n".encode())
                time.sleep(chance.uniform(0, 0.05))
    except leases.LeaseTaken:
        time.sleep(chance.uniform(0, 0.02))
    except leases.LeaseLost:
        pass
"""


@pytest.mark.leases
@pytest.mark.parametrize("seed", range(2))
def test_of_processes_that_are_killed_and_stopped_at_random_one_writes_at_a_time(
    data_root: DataRoot, tmp_path: Path, seed: int
) -> None:
    """Each write carries the number of its writer's lease: they never go back, so nobody wrote after its successor."""
    chance, log = random.Random(seed), tmp_path / "log"
    everyone: list[int] = []

    def begun() -> subprocess.Popen[bytes]:
        arguments = [data_root.root, data_root.endpoint or "", str(log), str(chance.random())[2:8], "0.6"]
        process = subprocess.Popen([sys.executable, "-c", CONTEND, *arguments], start_new_session=True)
        everyone.append(process.pid)
        return process

    processes = [begun() for _ in range(4)]
    try:
        until = time.monotonic() + 10
        while time.monotonic() < until:
            time.sleep(chance.uniform(0.05, 0.5))
            number = chance.randrange(len(processes))
            if chance.random() < 0.3:
                processes[number].kill()
                processes[number].wait()
                processes[number] = begun()
            else:
                processes[number].send_signal(signal.SIGSTOP)
                time.sleep(chance.choice([0.05, 1.5]))
                processes[number].send_signal(signal.SIGCONT)
    finally:
        for process in processes:
            process.kill()
            process.wait()
    written = [tuple(map(int, line.split())) for line in log.read_text().splitlines()]
    numbers = [number for _, number in written]
    assert numbers == sorted(numbers), [pair for pair in itertools.pairwise(written) if pair[1][1] < pair[0][1]]
    assert len({pid for pid, _ in written}) > 3, "several had their turn"
    with holding(data_root, "batch"):
        assert len(entries(data_root)) <= 3


# processes


def test_a_process_is_known_by_more_than_its_number() -> None:
    here = this_process()
    assert here.has_ended() is False
    assert ProcessMark.parse(str(here)) == here
    assert dataclasses.replace(here, start="0").has_ended() is True
    assert dataclasses.replace(here, boot="another").has_ended() is None
    assert dataclasses.replace(here, space="another").has_ended() is None


def test_a_process_that_ended_is_gone_also_before_it_was_waited_for() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", "from pmo_assets.system.processes import this_process; print(this_process())"],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    mark = ProcessMark.parse(process.stdout.read().strip())
    assert mark is not None
    until = time.monotonic() + 10
    while mark.has_ended() is False and time.monotonic() < until:
        time.sleep(0.01)
    assert process.returncode is None, "a zombie"
    assert mark.has_ended() is True
    process.wait()
    assert mark.has_ended() is True


@pytest.mark.parametrize("text", ["", "host", "host:", "host:x", ":1", "host:1@", "host:1@a/b"])
def test_what_names_no_process_is_none(text: str) -> None:
    assert ProcessMark.parse(text) is None


def test_a_process_of_which_only_host_and_number_are_known() -> None:
    here = this_process()
    assert ProcessMark(here.host, here.pid).has_ended() is False
    assert ProcessMark("another", here.pid).has_ended() is None
