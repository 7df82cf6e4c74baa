"""The client of the Hugging Face hub, which is an extra, and the reading of its errors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_CLIENTS = frozenset({"huggingface_hub", "httpx", "httpx2", "httpcore", "httpcore2", "requests", "urllib3"})
"""Packages whose errors are the network's: `huggingface_hub` has changed its client more than once."""


def hub_client() -> Any:
    """Return the package `huggingface_hub`.

    Raises:
        ImportError: if it is not installed; whoever calls says which extra has it.
    """
    import huggingface_hub
    import huggingface_hub.errors

    return huggingface_hub


def causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and the errors that it was raised from, outermost first."""
    seen: list[BaseException] = []
    while error is not None and error not in seen:
        seen.append(error)
        yield error
        error = error.__cause__ or error.__context__


def is_of_network(error: BaseException) -> bool:
    """Say whether an error is the network's, the hub's or the operating system's, and not one of this program."""
    return any(kind is OSError or kind.__module__.partition(".")[0] in _CLIENTS for kind in type(error).__mro__)


def names_of(error: BaseException) -> set[str]:
    """Return the names of an error's classes and of its causes' classes, e.g. "RepositoryNotFoundError"."""
    return {kind.__name__ for item in causes(error) for kind in type(item).__mro__}


def _response(error: BaseException) -> Any:
    found = (getattr(item, "response", None) for item in causes(error))
    return next((response for response in found if isinstance(getattr(response, "status_code", None), int)), None)


def status_of(error: BaseException) -> int | None:
    """Return the status that the hub answered with; None if it did not answer."""
    response = _response(error)
    return None if response is None else int(response.status_code)


def headers_of(error: BaseException) -> Mapping[str, str]:
    """Return the headers of the hub's answer; none if it did not answer."""
    response = _response(error)
    return {} if response is None else response.headers
