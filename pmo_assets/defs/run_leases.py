"""One writer per partition: a run holds the lease of a batch, or of the release, from its first step to its end.

A run takes the lease of its batch, or of the release, in its first step that writes there. A second run of the same
partition waits in the queue of its instance (`tag_concurrency_limits` in `dagster.yaml`), which is where people look
for what waits. What no queue sees — `pmo run`, another instance, another machine — meets the lease: its run fails in
the first step, having written nothing, and says who is at work; a run that waited inside a step would block a place in
the queue, and look as if it worked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import dagster as dg
from dagster._core.execution.retries import RetryMode

from pmo_assets.records.stores import SystemicError
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.leases import Lease, LeaseTaken, held_here, take

RELEASE: str = "release"
"""Name of the lease of everything below `release`."""


class PartitionBusy(SystemicError):
    """Another run, command or machine writes the batch, or the release, that this run was to write."""


def batch_lease(batch: str) -> str:
    """Return the name of a batch's lease."""
    return f"batches/{batch}"


def run_is_over(instance: dg.DagsterInstance | None) -> Callable[[str], bool]:
    """Return a test of a lease's mark: true if the run of this id has ended, as far as the instance knows.

    A run that crashed on another machine, and was found dead, holds nobody up any longer.
    """

    def is_over(mark: str) -> bool:
        run = instance.get_run_by_id(mark) if instance is not None else None
        return run is not None and run.is_finished

    return is_over


class RunLeases:
    """The leases that a run holds on the batches, or the release, that it writes.

    With the in-process executor they are kept from step to step and given back at the end of the run. With executors
    that have a process per step the steps of the run share them, and the last step leaves them to expire.
    """

    def __init__(self, data_root: DataRoot, run: dg.DagsterRun | None, instance: dg.DagsterInstance | None) -> None:
        """Keep what runs."""
        self._data_root, self._run, self._instance = data_root, run, instance
        self._own: dict[str, Lease] = {}
        self._is_one_of_several_processes = False

    def begin(self, context: dg.AssetExecutionContext, name: str | None = None) -> None:
        """Take the lease of what a step writes, if the run has not got it yet.

        Args:
            context: of the step.
            name: of the lease; that of the context's batch if None.

        Raises:
            PartitionBusy: if another one is at work there.
        """
        # A process that runs one step leaves retries to the one that has the plan.
        mode = context.get_step_execution_context().plan_data.retry_mode
        self._is_one_of_several_processes = mode is RetryMode.DEFERRED
        self._lease(name or batch_lease(context.partition_key))

    def fence(self, name: str) -> None:
        """Make sure that the lease is still the run's: directly before something appears.

        Raises:
            LeaseLost: if it went to another one meanwhile.
            PartitionBusy: if it was not taken before, and another one is at work.
        """
        self._lease(name).renew()

    def _lease(self, name: str) -> Lease:
        lease = held_here(self._data_root, name) or self._own.get(name)
        if lease is None:
            run = self._run
            purpose = f"run {run.run_id[:8]} ({run.job_name})" if run is not None else ""
            try:
                lease = self._own[name] = take(
                    self._data_root,
                    name,
                    purpose,
                    mark=run.run_id if run is not None else None,
                    is_over=run_is_over(self._instance),
                    await_sign_of_life=True,
                )
            except LeaseTaken as taken:
                what = name.replace("batches/", "batch ")
                raise PartitionBusy(
                    f"{what} is being written by {taken.holder}: nothing was changed; materialise it again when that "
                    "has ended"
                ) from None
        return lease

    def close(self) -> None:
        """Give the leases back."""
        for lease in self._own.values():
            lease.give_back(between_processes=self._is_one_of_several_processes)
        self._own.clear()


def run_leases_resource(data_root: DataRoot) -> dg.ResourceDefinition:
    """Return the leases of a run as a resource: given back when the run, or the process of its step, ends."""

    @dg.resource(description="One writer per batch, and of the release: leases below the data root.")
    def run_leases(context: dg.InitResourceContext) -> Iterator[RunLeases]:
        leases = RunLeases(data_root, context.run, context.instance)
        try:
            yield leases
        finally:
            leases.close()

    return run_leases
