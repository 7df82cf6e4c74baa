"""Errors of opening and reading a release; their messages say what to do."""

from __future__ import annotations

from pmo_assets.records.stores import SystemicError


class ReleaseError(SystemicError):
    """There is no release, or it is not whole, damaged, or of another form than this version reads."""


class Withheld(Exception):
    """The release has no picture of this row, because its article's licence does not allow to pass it on."""
