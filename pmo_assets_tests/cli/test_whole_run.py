"""The bar over a run counts articles, and says how long the rest takes."""

from __future__ import annotations

import io

from rich.console import Console
from rich.progress import Progress

from pmo_assets.cli.whole_run import WholeRun

SIZES = {"0001-a": 200, "0002-b": 200, "0003-c": 50}


def test_articles_are_counted_and_the_rest_is_reckoned_from_what_was_done() -> None:
    seconds = [0.0]
    progress = Progress(console=Console(file=io.StringIO()))
    run = WholeRun(progress, SIZES, lambda: seconds[0])
    run.begin(list(SIZES))
    (bar,) = progress.tasks
    assert (bar.total, bar.completed, run.left()) == (450, 0, "")
    run.steps = ["articles", "figures"]
    run.tell("articles", 100, 200)
    assert bar.completed == 12, "a quarter of the smallest batch that may be at work: never too many"
    run.tell("figures", 200, 200)
    assert bar.completed == 50
    run.tell("release", 1, 2)
    assert bar.completed == 50, "no step of a batch"
    seconds[0] = 600.0
    run.end("0001-a")
    assert bar.completed == 200
    assert run.left() == "; 200 of 450 articles, about 12 min left"
    run.end("0003-c")
    run.end("0002-b")
    assert (bar.completed, run.left()) == (450, "")
