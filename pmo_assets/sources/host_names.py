"""Whether the name of a server can be resolved at all, said within seconds.

Without a network no name can be. Clients take that for a passing fault and repeat their requests for minutes; a silent
name server holds each of them up, too, as no client's time limit holds while a name is looked up. So the name is looked
up once before the first request. What belongs here: names. What does not: requests, and whether they are repeated.
"""

from __future__ import annotations

import socket
import threading
import time
import urllib.request
from typing import Final
from urllib.parse import urlsplit

PATIENCE: Final = 4.0
"""Seconds in which a look-up that failed is repeated: name servers answer within one, also when they fail once."""

SILENCE: Final = 12.0
"""Seconds after which a look-up counts as unanswered: where the first name server is dead, resolvers ask the second one
after five (resolv.conf(5), `timeout`), and of each twice."""

_PAUSE: Final = 0.5
"""Seconds between two look-ups."""


def name_problem(address: str, patience: float = PATIENCE, silence: float = SILENCE) -> str | None:
    """Return why the server of an address cannot be found, in a sentence without full stop; None if it can.

    Where requests go by a proxy it is the proxy's name that counts.

    Args:
        address: http:// or https:// address.
        patience: seconds in which it is asked again.
        silence: seconds that it may take in all.
    """
    host = urlsplit(_proxy_of(address) or address).hostname
    if not host:
        return None  # whoever asks says what is wrong with such an address
    found: list[str] = []
    looking = threading.Thread(target=_look_up, args=(host, patience, found), daemon=True, name=f"look up {host}")
    looking.start()
    looking.join(silence)
    reason = (found or [f"no answer within {silence:g} s"])[-1]
    if not reason:
        return None
    return f"the name {host} cannot be resolved ({reason}): are you offline, behind a proxy (HTTPS_PROXY)?"


def _proxy_of(address: str) -> str | None:
    """Return the address of the proxy that the environment names for an address; None if it is asked directly."""
    parts = urlsplit(address)
    if urllib.request.proxy_bypass(parts.netloc.rpartition("@")[2]):
        return None
    proxies = urllib.request.getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    return proxy if proxy is None or "://" in proxy else f"http://{proxy}"


def _look_up(host: str, patience: float, found: list[str]) -> None:
    """Look a name up until it is found or the time is over; append the reason of each failure, "" at the success."""
    end = time.monotonic() + patience
    while True:
        try:
            socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        except UnicodeError:
            found.append("it is no name")
            return
        except OSError as error:
            found.append(error.strerror or type(error).__name__)
        else:
            found.append("")
            return
        if time.monotonic() + _PAUSE > end:
            return
        time.sleep(_PAUSE)
