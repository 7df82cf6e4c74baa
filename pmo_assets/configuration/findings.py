"""Findings of the checks of this installation; a check that hangs or raises does not stop the others."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

State = Literal["ok", "warn", "fail", "skipped"]

TIME_LIMIT: Final = 60.0
"""Seconds after which a check counts as failed; those that ask a network have limits of their own, of a few seconds."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Finding of a check.

    Attributes:
        name: of the thing that was checked.
        state: "fail" if it will not work, "warn" if it may not work or if not everybody needs it.
        found: its state, in one line.
        mend: advice; "" when there is nothing to do.
    """

    name: str
    state: State
    found: str
    mend: str = ""


Check = Callable[[], Sequence[Finding]]
"""Looks at one thing; may take its time and may raise."""


def checked(name: str, check: Check, limit: float = TIME_LIMIT) -> list[Finding]:
    """Return the findings of a check; one that it failed, when it raises or takes longer than its limit.

    It runs in a thread of its own, which is left behind when it hangs.

    Args:
        name: of the thing that it looks at.
        check: the check.
        limit: seconds.
    """
    found: list[Finding] = []

    def look() -> None:
        try:
            found.extend(check())
        except Exception as error:
            text = " ".join(str(error).split()) or type(error).__name__
            found.append(Finding(name, "fail", text))

    thread = threading.Thread(target=look, name=f"check of {name}", daemon=True)
    thread.start()
    thread.join(limit)
    return list(found) if not thread.is_alive() else [Finding(name, "fail", f"no answer within {limit:.0f} s")]
