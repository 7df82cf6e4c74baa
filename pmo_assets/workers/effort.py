"""Cost of a step: seconds of each article, memory of the workers, articles that were tried again."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Final

from pmo_assets.logs import FIELDS, log_fields

_LOG = logging.getLogger(__name__)

_MIB: Final = 2**20

SLOW_SHARE: Final = 0.5
"""An article that takes so much of its time limit is worth a line: the next one of its kind may exceed it."""


@dataclass
class Effort:
    """Cost of a step so far.

    Attributes:
        unit: word for the things that the step is put to.
        seconds: of each unit that was worked on to its end or its rejection, by its number.
        peak_bytes: the largest resident memory of a worker that was seen; 0 where articles run in the process itself.
        again: articles that were tried again alone, since their worker ended.
    """

    unit: str = "article"
    seconds: dict[int, float] = field(default_factory=dict)
    peak_bytes: int = 0
    again: int = 0

    def note(self, number: int, seconds: float, limit: float | None = None) -> None:
        """Note how long a unit took; say so if that is near the limit."""
        self.seconds[number] = self.seconds.get(number, 0.0) + seconds
        if limit is not None and seconds > SLOW_SHARE * limit:
            with log_fields(**{self.unit: number}):
                _LOG.warning(
                    "%s %s took %.0f of the %g s that it may take (PMO_ARTICLE_TIMEOUT)",
                    self.unit,
                    number,
                    seconds,
                    limit,
                    extra={FIELDS: {"seconds": round(seconds, 1)}},
                )

    def note_memory(self, resident_bytes: int) -> None:
        """Note the resident memory of a worker."""
        self.peak_bytes = max(self.peak_bytes, resident_bytes)

    @property
    def peak_mb(self) -> int:
        """The largest resident memory of a worker that was seen, in MiB."""
        return round(self.peak_bytes / _MIB)

    def slowest(self, count: int) -> list[tuple[int, float]]:
        """Return (article, seconds) of the slowest articles, the slowest first."""
        return sorted(self.seconds.items(), key=lambda item: (-item[1], item[0]))[:count]


def per_minute(count: int, seconds: float) -> float:
    """Return a rate per minute; 0 for what took no time."""
    return round(count / seconds * 60, 1) if seconds > 0 else 0.0
