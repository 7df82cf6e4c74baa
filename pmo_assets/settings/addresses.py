"""Addresses among the settings: what may be shown of them."""

from __future__ import annotations

from urllib.parse import urlsplit


def plain_address(value: str) -> str:
    """Return an address that may be shown in errors, logs and tables.

    Raises:
        ValueError: if it holds a user name, a password or a query; the message does not repeat them.
    """
    try:
        parts = urlsplit(value)
        _ = parts.port  # read here, so that a number that is no port is refused here
    except ValueError:
        raise ValueError("this is no address") from None
    if "@" in parts.netloc or (not parts.netloc and "@" in value):
        raise ValueError(
            "the address holds a user name or a password, and addresses are shown: leave out what ends in @"
        )
    if parts.query or parts.fragment:
        raise ValueError("the address goes on after ? or #: leave that out")
    return value
