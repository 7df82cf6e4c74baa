"""The bar over all articles of a run: how many are done, and about how long the rest takes."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

from rich.progress import Progress


class WholeRun:
    """Counts the articles of the batches of a run. Those of the batch at work count by the share of its steps.

    Steps take differently long, so that the time that is left is a rough one until a batch is done.
    """

    def __init__(
        self, progress: Progress, sizes: Mapping[str, int], clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Add no bar yet.

        Args:
            progress: gets the bar.
            sizes: number of articles of each batch.
            clock: gives seconds.
        """
        self.progress = progress
        self.steps: Sequence[str] = ()
        """Of the batch at work, in the order in which they are made."""
        self._sizes = sizes
        self._clock = clock
        self._batches: list[str] = []
        self._done: list[str] = []
        self._bar = progress.add_task("articles", total=None, visible=False)
        self._began = 0.0

    def begin(self, batches: Sequence[str]) -> None:
        """Show the bar over the articles of these batches."""
        self._batches, self._began = list(batches), self._clock()
        self.progress.reset(self._bar, total=self._articles(self._batches), visible=True)

    def say(self, text: str) -> None:
        """Say beside the bar what is at work."""
        self.progress.update(self._bar, description=text)

    def tell(self, step: str, done: int, total: int) -> None:
        """Take into account how far a step of the batch at work is."""
        waiting = [batch for batch in self._batches if batch not in self._done]
        if step not in self.steps or not waiting or not total:
            return
        # batches come in any order (what another process holds comes last), but are of about the same size
        share = (list(self.steps).index(step) + done / total) / len(self.steps)
        part = int(share * min(self._sizes[batch] for batch in waiting))
        self.progress.update(self._bar, completed=self._articles(self._done) + part)

    def end(self, batch: str) -> None:
        """Count a batch as done."""
        self._done.append(batch)
        self.progress.update(self._bar, completed=self._articles(self._done))

    def left(self) -> str:
        """Return how many articles are done and how long the rest takes, for the end of a line; "" after the last."""
        done, total = self._articles(self._done), self._articles(self._batches)
        if not 0 < done < total:
            return ""
        minutes = (self._clock() - self._began) / done * (total - done) / 60
        return f"; {done:,} of {total:,} articles, about {_in_words(minutes)} left"

    def _articles(self, batches: Sequence[str]) -> int:
        return sum(self._sizes[batch] for batch in batches)


def _in_words(minutes: float) -> str:
    if minutes < 1:
        return "a minute"
    return f"{minutes:.0f} min" if minutes < 90 else f"{minutes / 60:.0f} h"
