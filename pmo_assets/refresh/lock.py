"""One refresh at a time below a data root: the second one says who is at work and ends.

Two refreshes at once would still write right results (batches are claimed, tables are replaced whole); they would only
do the same work twice.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Final

from pmo_assets.records.stores import SystemicError
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.leases import LeaseTaken, holder_of, holding

REFRESH: Final = "refresh"
"""Name of the lease."""


class RefreshBusy(SystemicError):
    """Another refresh of this data root is at work."""


@contextlib.contextmanager
def sole_refresh(data_root: DataRoot) -> Iterator[None]:
    """Hold the lease of a data root's refresh while the block runs; that of a process that died is free.

    A block within such a block has the lease already: what `pmo refresh` calls asks for it again.

    Raises:
        RefreshBusy: if another process holds it.
    """
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(holding(data_root, REFRESH))
        except LeaseTaken as taken:
            raise RefreshBusy(
                f"another refresh of {data_root.root} is at work ({taken.holder}): wait until it has ended"
            ) from None
        yield


def refresh_at_work(data_root: DataRoot) -> str | None:
    """Return who holds the lease of a data root's refresh; None if nobody does."""
    return holder_of(data_root, REFRESH)
