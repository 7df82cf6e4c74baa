"""Faults of the machinery, told apart from faults of the input.

A rejection is for inputs. An error that says that memory, the disk or the installation gave out says nothing about the
article at hand: code that turns errors into rejections, or tolerates damaged parts of a document, asks here first.
"""

from __future__ import annotations

import errno
import os
import re
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from pmo_assets.records.rejections import ArticleError, Rejection
from pmo_assets.records.stores import SystemicError
from pmo_assets.system.disks import FULL, disk_room, fullest

_MEMORY = re.compile(
    r"failed to allocate|bfc_?arena|out of memory|(?:can'?t|cannot|unable to) allocate|ALLOC_FAILED"
    r"|bad[_ ](?:array_new_length|alloc)|insufficient memory|not enough memory|memory allocation of \d+"
    r"|(?:malloc|calloc|realloc) (?:\([^)]*\) )?(?:of \S+ bytes )?failed"
    r"|failed to map segment|can'?t start new thread",
    re.IGNORECASE,
)
"""Messages for want of memory of OpenCV, ONNX Runtime, PyTorch, MuPDF, the dynamic linker and others, which have no
class of error for it."""

_EXHAUSTED = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM})
"""System errors of a process or machine at its end, whatever the file."""

_FULL_WORDS = re.compile(
    r"no space left on device|disk (?:is )?full|disk quota exceeded|\(os error (?:28|122)\)",
    re.IGNORECASE,
)
"""Messages for a full disk of SQLite, Polars, PyTorch and others, which raise no `OSError`."""

_MACHINE_ERRORS = _EXHAUSTED | FULL | {errno.EROFS, errno.EIO, errno.ENODEV, errno.ESTALE}
"""System errors that no input can cause where pipeline and store work: disk full or broken, no file handles left."""

_POISONED = frozenset({"PanicException", "SystemError"})
"""A panic in Rust or a broken promise inside the interpreter: what the process does next cannot be trusted."""


class SameFault(SystemicError):
    """Many articles failed in the same way: the machinery's fault, not theirs."""


class UnfitProcess(Exception):
    """This process cannot be trusted with further work (memory exhausted, library damaged); the cause is attached."""


def _with_causes(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        following = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        if following is None:
            return
        error = following


_QUOTING = (ArticleError, SyntaxError, LookupError, UnicodeError)
"""Errors whose words may be the input's: our own decisions, lxml's, and those that name a key or text."""


def is_out_of_memory(error: BaseException) -> bool:
    """Say whether an error, or what caused it, means that memory ran out, whichever library raised it."""
    return any(
        isinstance(item, MemoryError)
        or type(item).__name__ == "OutOfMemoryError"
        or (isinstance(item, OSError) and item.errno == errno.ENOMEM)
        or (not isinstance(item, _QUOTING) and bool(_MEMORY.search(str(item))))
        for item in _with_causes(error)
    )


def leaves_process_unfit(error: BaseException) -> bool:
    """Say whether the process should end after this error, and the work be tried again in a fresh one.

    Besides exhausted memory: panics of native libraries, and failed imports, after which a module may be half there.
    """
    return isinstance(error, ImportError | UnfitProcess) or type(error).__name__ in _POISONED or is_out_of_memory(error)


def is_exhausted(error: OSError) -> bool:
    """Say whether a file cannot be read because this process or machine is at its end, and not because of the file."""
    return error.errno in _EXHAUSTED


def is_read_only(error: BaseException) -> bool:
    """Say whether an error, or what caused it, means that a disk or folder may only be read."""
    return any(
        isinstance(item, OSError) and item.errno in (errno.EROFS, errno.EACCES, errno.EPERM)
        for item in _with_causes(error)
    )


def is_full_disk(error: BaseException) -> bool:
    """Say whether an error, or what caused it, means that a disk or quota is full, whichever library raised it.

    For advice alone: what decides about an article (`is_machine_error`) goes by numbers; words may be the input's.
    """
    return any(
        (isinstance(item, OSError) and item.errno in FULL)
        or (not isinstance(item, _QUOTING) and bool(_FULL_WORDS.search(str(item))))
        for item in _with_causes(error)
    )


_HOW_TO_MEND_A_FULL_DISK = "`pmo clean --yes` deletes what nobody needs"


def full_disk_advice(error: BaseException, places: Iterable[Path] = ()) -> str:
    """Return advice on a full disk, as the end of a sentence; empty for another error, or one that has it already.

    Args:
        error: as raised.
        places: where the command writes: of their disks the fullest is named, if the error names no file.
    """
    if not is_full_disk(error) or _HOW_TO_MEND_A_FULL_DISK in str(error):
        return ""
    named = [
        Path(os.fsdecode(item.filename))
        for item in _with_causes(error)
        if isinstance(item, OSError) and item.errno in FULL and isinstance(item.filename, str | bytes)
    ]
    room = disk_room(named[0]) if named else fullest([*places, Path(tempfile.gettempdir())])
    quota = any(isinstance(item, OSError) and item.errno == errno.EDQUOT for item in _with_causes(error))
    where = "; your quota is used up" if quota else f"; {room}" if room is not None else ""
    return (
        f"{where}: make room ({_HOW_TO_MEND_A_FULL_DISK} below the data root), or move the data root to a larger disk "
        "and set PMO_DATA_ROOT (TMPDIR for temporary files), then run again"
    )


def is_machine_error(error: BaseException) -> bool:
    """Say whether an error comes from the machine (disk full, no file handles), so that every article would meet it."""
    return any(isinstance(item, OSError) and item.errno in _MACHINE_ERRORS for item in _with_causes(error))


def raise_fault(error: BaseException) -> None:
    """Raise again what is no fault of the input; return if the error may be rejected or tolerated.

    Every `except Exception` that stands between an article's bytes and a rejection calls this first.

    Raises:
        SystemicError: a systemic error itself, or one made of a machine's error.
        BaseException: `error`, when it leaves the process unfit.
    """
    if isinstance(error, SystemicError) or leaves_process_unfit(error):
        raise error
    if is_machine_error(error):
        advice = full_disk_advice(error) or ": mend it (disk, free space, open files), then run again"
        raise SystemicError(f"{error}{advice}") from error


MANY_ARTICLES = 5
"""So many articles at least must fail in the same way before the machinery is suspected."""

_MACHINE_CLASSES = frozenset({"WorkerDied", "OutOfMemory", "ArticleTimeout"})
"""Rejections that a machine out of order gives to any article, whatever their words."""


def _suspicion(rejection: Rejection) -> tuple[str, str] | None:
    """Return the key by which rejections are the same fault; None for a decision about one input."""
    if rejection.error_class in _MACHINE_CLASSES:
        return rejection.error_class, ""
    if rejection.traceback_tail:
        return rejection.error_class, re.sub(r"0x[0-9a-f]+|\d+(?:\.\d+)?", "#", rejection.message)
    return None


def is_decision(rejection: Rejection) -> bool:
    """Say whether a rejection is a decision about its input, and not what a machine out of order, or a mistake in the
    software, may have brought about."""
    return _suspicion(rejection) is None


def same_fault(
    rejections: Iterable[Rejection], units: int, share: float = 0.5, unit: str = "article"
) -> SameFault | None:
    """Return the error that a stage should raise when many of its units failed unexpectedly in the same way.

    Decisions (`ArticleError`: encrypted, no PDF, …) do not count: a batch may well hold many such articles.

    Args:
        rejections: of one stage; several of one unit count once.
        units: number of articles, or other units, that the stage was given.
        share: part of them from which on it is the machinery's fault.
        unit: name of one, in a word.
    """
    groups: dict[tuple[str, str], dict[int, Rejection]] = defaultdict(dict)
    for rejection in rejections:
        key = _suspicion(rejection)
        if key is not None:
            groups[key].setdefault(rejection.unit_id, rejection)
    for failed in groups.values():
        if len(failed) >= max(MANY_ARTICLES, share * units):
            example = next(iter(failed.values()))
            return SameFault(
                f"{len(failed)} of {units} {unit}s failed in {example.stage} in the same way, which is no fault of "
                f"theirs: {example.error_class}: {example.message} "
                f"(first: {unit} {example.unit_id}; mend it and run again, nothing of this step was kept)"
                + (f"\n{example.traceback_tail}" if example.traceback_tail else "")
            )
    return None
