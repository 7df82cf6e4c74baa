"""Processes of this machine."""

from __future__ import annotations

import os


def process_is_alive(pid: int) -> bool:
    """Say whether a process with this number exists."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
