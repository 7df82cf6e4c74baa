"""Batches that fit into memory: a run that fails for lack of it is repeated with half the batch."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Literal, TypeVar

from pmo_assets.records.faults import is_out_of_memory
from pmo_assets.records.stores import SystemicError

Provider = Literal["cpu", "cuda"]
"""The device that a network runs on."""

Item = TypeVar("Item")
Result = TypeVar("Result")

MOST = 16
"""Largest batch on a GPU: beyond, a batch takes longer and no figure less."""

SHARE = 0.25
"""Part of a GPU's free memory that the first batch may take: several worker processes start at the same time."""


class DeviceMemoryExhausted(SystemicError):
    """The GPU has no memory left for a single figure, and figures are brought to one size: none will fit."""


@contextmanager
def loading(what: str, provider: Provider = "cpu", mend: str = "") -> Iterator[None]:
    """Make the block's errors systemic: a network that is loaded once for all figures is no figure's fault.

    Args:
        what: a network, or the library that runs it.
        provider: device that it is loaded on.
        mend: advice for the message.

    Raises:
        MemoryError: when the CPU's memory does not suffice: that is the worker's, whose limit the message is about.
        SystemicError: for any other error, a GPU without memory among them.
    """
    try:
        yield
    except (SystemicError, MemoryError):
        raise
    except Exception as error:
        words = " ".join(str(error).split())[:300]
        if not is_out_of_memory(error):
            failure = f"{what} cannot be loaded ({type(error).__name__}: {words})"
            raise SystemicError(f"{failure}: {mend}" if mend else failure) from error
        if provider == "cpu":
            raise MemoryError(f"not enough memory to load {what}: {words}") from error
        raise SystemicError(
            f"the GPU's memory does not suffice to load {what}; fewer processes share it with "
            f"PMO_DETECTOR_WORKERS=1: {words}"
        ) from error


def free_device_bytes() -> int | None:
    """Return the free memory of the GPU in use; None when nothing here can tell.

    PyTorch is asked where it is loaded already, else `nvidia-smi`, which comes with every driver.
    """
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        return int(torch.cuda.mem_get_info()[0])
    program = shutil.which("nvidia-smi")
    if program is None:
        return None
    # nvidia-smi does not heed the variable, CUDA does.
    chosen = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")[0].strip() or "0"
    command = [program, f"--id={chosen}", "--query-gpu=memory.free", "--format=csv,noheader,nounits"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True).stdout
        return int(answer.split()[0]) * 2**20
    except (OSError, subprocess.SubprocessError, ValueError, IndexError):
        return None


def batch_size_for(provider: Provider, item_bytes: int, usual: int) -> int:
    """Return the size of the first batch.

    Args:
        provider: on "cuda" the size follows from the device's free memory, where it is known.
        item_bytes: memory that one more item in a batch takes.
        usual: the size on the CPU, and where the free memory is not known.
    """
    free = free_device_bytes() if provider == "cuda" else None
    return usual if free is None else min(MOST, max(1, int(free * SHARE) // item_bytes))


class MemoryBatches:
    """Runs a network over items in batches; the size that memory allowed is kept for later calls."""

    def __init__(self, size: Callable[[], int], provider: Provider = "cpu", release: Callable[[], None] | None = None):
        """Start with a size that is asked for at the first call.

        Args:
            size: items per batch.
            provider: device that the network runs on.
            release: gives cached memory back before a batch is repeated.
        """
        self._first, self.provider, self.release = size, provider, release
        self.size: int | None = None

    def __call__(self, items: Sequence[Item], run: Callable[[Sequence[Item]], Sequence[Result]]) -> list[Result]:
        """Return `run`'s results for the items, in their order.

        Raises:
            MemoryError: when the CPU's memory does not suffice for one item.
            DeviceMemoryExhausted: when a GPU's does not.
        """
        results: list[Result] = []
        size = self.size = self.size or max(1, self._first())
        while len(results) < len(items):
            chosen = items[len(results) : len(results) + size]
            try:
                results.extend(run(chosen))
                continue
            except SystemicError:
                raise
            except Exception as error:
                if not is_out_of_memory(error):
                    raise
                if len(chosen) == 1:
                    raise self._exhausted(error) from error
            # Not in the except block: the error's traceback holds on to the arrays of the failed run.
            size = self.size = len(chosen) // 2
            if self.release is not None:
                self.release()
        return results

    def _exhausted(self, error: Exception) -> Exception:
        words = " ".join(str(error).split())[:300]
        if self.provider == "cpu":
            return MemoryError(f"not enough memory for a single figure: {words}")
        return DeviceMemoryExhausted(
            f"the GPU's memory does not suffice for a single figure; fewer processes share it with "
            f"PMO_DETECTOR_WORKERS=1: {words}"
        )
