"""Processes of this machine."""

from __future__ import annotations

import os
import sys


def process_is_alive(pid: int) -> bool:
    """Say whether a process with this number exists."""
    if sys.platform == "win32":  # there, os.kill(pid, 0) would send Ctrl-C to the process
        return _windows_process_is_alive(pid)
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


if sys.platform == "win32":

    def _windows_process_is_alive(pid: int) -> bool:
        import ctypes

        query_limited_information, still_active = 0x1000, 259
        kernel = ctypes.windll.kernel32
        handle = kernel.OpenProcess(query_limited_information, False, pid)
        if not handle:
            return False
        code = ctypes.c_ulong()
        kernel.GetExitCodeProcess(handle, ctypes.byref(code))
        kernel.CloseHandle(handle)
        return code.value == still_active
