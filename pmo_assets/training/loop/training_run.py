"""The loop that trains every network: seeded, resumable, with early stopping, moving averages and curves.

The learning rate warms up, stays, and falls to nothing over the last part of the steps, so that a run can be made
longer later: the plateau does not depend on where it ends. (A recipe may have a cosine instead.) What is evaluated and
exported is the moving average of the weights.
"""

from __future__ import annotations

import copy
import logging
import math
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

from pmo_assets.records.faults import is_out_of_memory
from pmo_assets.system.aside import path_aside
from pmo_assets.training.loop.curves import add_to_curves, add_to_events, forget_after, open_event_writer
from pmo_assets.training.options import RunOptions

_LOG = logging.getLogger(__name__)

PROGRESS_SECONDS = 60.0
"""Time between two lines of the log that say how far a run is."""


Batch = tuple[Any, ...]
"""Columns of a batch, tensors or lists of equal length."""

Loss = Callable[[Batch], tuple[Tensor, dict[str, float]]]
"""Mean loss of examples, with a graph, and its parts."""


def numbered_batches(
    examples: Callable[[int, int], Dataset[Any]], options: RunOptions
) -> Callable[[dict[str, Any]], Iterator[tuple[Batch, dict[str, Any]]]]:
    """Return the batches of a run whose examples have numbers: those that are left, in their order, from any step on.

    Args:
        examples: gives so many examples from a number on.
        options: of the run; with `workers`, so many processes make the examples.
    """

    def batches(state: dict[str, Any]) -> Iterator[tuple[Batch, dict[str, Any]]]:
        first = state["step"] * options.batch_size
        loaded: DataLoader[Any] = DataLoader(
            examples(first, options.steps * options.batch_size - first), options.batch_size, shuffle=False,
            num_workers=options.workers, prefetch_factor=4 if options.workers else None,
            multiprocessing_context="spawn" if options.workers else None,
        )  # fmt: skip
        for batch in loaded:
            yield tuple(batch), {}

    return batches


def rate_factor(step: int, options: RunOptions) -> float:
    """Return the learning rate at a step as a factor of the plateau's, or of a cosine's start.

    The cosine is `get_cosine_schedule_with_warmup` of transformers: the very first step has no rate.
    """
    if options.schedule == "cosine":
        if step < options.warm_up:
            return step / options.warm_up
        done = (step - options.warm_up) / max(1, options.steps - options.warm_up)
        return max(0.0, 0.5 * (1 + math.cos(math.pi * done)))
    falling = options.steps * options.fall
    return min(1.0, (step + 1) / options.warm_up, max(0.0, (options.steps - step) / max(1.0, falling)))


def last_state(folder: Path, device: str) -> dict[str, Any] | None:
    """Return the last checkpoint of a run, to go on from; None for a new run."""
    path = folder / "last.pt"
    return torch.load(path, map_location=device, weights_only=True) if path.exists() else None


def _go_on(
    folder: Path,
    model: nn.Module,
    averaged: nn.Module,
    optimiser: torch.optim.Optimizer,
    options: RunOptions,
    state: dict[str, Any],
) -> None:
    """Load the last checkpoint of the run in a folder, if there is one, into networks, optimiser and state."""
    saved = last_state(folder, options.device)
    if saved is not None:
        model.load_state_dict(saved["model"])
        averaged.load_state_dict(saved["averaged"])
        optimiser.load_state_dict(saved["optimiser"])
        state |= saved["state"]
        # What was saved before `steps` was kept counts as stopped where it is.
        before = state.get("steps", state["step"])
        if state["waited"] >= options.patience and options.steps > before:
            state["waited"] = 0
    state["steps"] = options.steps


def _smoothed(losses: dict[str, float], parts: Mapping[str, float], step: int) -> dict[str, float]:
    """Return the moving averages of the losses, changed by those of a step; the mean of all of the first fifty."""
    decay = min(0.98, (step - 1) / step)
    for key, value in parts.items():
        losses[key] = decay * losses.get(key, value) + (1 - decay) * value
    return losses


def _log_progress(state: Mapping[str, Any], steps: int, per_second: float) -> None:
    _LOG.info(
        "step %d of %d: loss %.4f, %.1f figures per second", state["step"], steps, state["losses"]["loss"], per_second
    )


def train_network(
    folder: Path,
    model: nn.Module,
    optimiser: torch.optim.Optimizer,
    options: RunOptions,
    *,
    batches: Callable[[dict[str, Any]], Iterator[tuple[Batch, dict[str, Any]]]],
    loss: Loss,
    measured: Callable[[nn.Module, int], dict[str, float]],
    score: Callable[[dict[str, float]], float],
    clip: float,
    described: Mapping[str, Any],
) -> Iterator[dict[str, Any]]:
    """Train, or go on with a run, yielding one record per evaluation; none when nothing is left to do.

    When memory runs out, a step's batch is split in halves whose gradients add up: the step stays the same but for
    what a network or its loss takes from the batch as a whole (batch normalisation, the number of boxes). The size
    is kept for the rest of the run and is `at_once` in the records.

    Args:
        folder: run folder: `last.pt` (everything to resume), `best.pt` (averaged weights), `curves.csv`, `events/`.
        model: on its device, with its first weights.
        optimiser: of the model's parameters.
        options: see there.
        batches: given the state of the run, yields batches from there on, each with what the state says after it.
        loss: of examples, by the model.
        measured: numbers of the averaged model on the validation part, given how many examples fit into memory.
        score: function of these numbers that decides which weights are best; larger is better.
        clip: largest norm of the gradients.
        described: facts of the network that checkpoints hold beside its weights.

    Raises:
        MemoryError: when a single example does not fit into memory.
    """
    folder.mkdir(parents=True, exist_ok=True)
    averaged = copy.deepcopy(model)
    state: dict[str, Any] = {"step": 0, "best": -1.0, "waited": 0, "at_once": options.at_once, "losses": {}}
    _go_on(folder, model, averaged, optimiser, options, state)
    curves, events = folder / "curves.csv", open_event_writer(folder, state["step"])
    forget_after(curves, state["step"])

    def save() -> None:
        everything = {
            "model": model.state_dict(), "averaged": averaged.state_dict(), "optimiser": optimiser.state_dict(),
            "state": state, **described,
        }  # fmt: skip
        save_whole(everything, folder / "last.pt")

    saved_at = logged_at = started = time.monotonic()
    seen = 0
    try:
        if state["step"] >= options.steps or state["waited"] >= options.patience:
            _LOG.info("the run in %s is finished at step %d", folder, state["step"])
            return
        for batch, position in batches(state):
            model.train()
            for group in optimiser.param_groups:
                group["lr"] = options.learning_rate * rate_factor(state["step"], options)
            # Dropout and noise of a step depend on its number alone, so that a resumed run repeats them.
            seed = options.seed + 1_000_003 * (state["step"] + 1)
            parts = _compute_gradients(batch, state, optimiser, loss, seed)
            nn.utils.clip_grad_norm_(model.parameters(), clip)
            optimiser.step()
            state |= position
            state["step"] += 1
            seen += len(batch[0])
            move_average(averaged, model, min(options.average, (1 + state["step"]) / (10 + state["step"])))
            losses = _smoothed(state["losses"], parts, state["step"])
            now = time.monotonic()
            if now - logged_at >= PROGRESS_SECONDS:
                logged_at = now
                _log_progress(state, options.steps, seen / max(now - started, 1e-9))
            done = state["step"] >= options.steps
            record: dict[str, Any] | None = None
            if state["step"] % options.evaluate_every == 0 or done:
                at_once = state["at_once"] or options.batch_size
                averaged.eval()
                result = measured(averaged, at_once)
                better = score(result) > state["best"]
                state["waited"] = 0 if better else state["waited"] + 1
                if better:
                    state["best"] = score(result)
                    best = {"model": averaged.state_dict(), "step": state["step"], "validation": result, **described}
                    save_whole(best, folder / "best.pt")
                speed = {"per_second": round(seen / (time.monotonic() - started), 2), "at_once": at_once}
                rounded = [{k: round(v, 4) for k, v in values.items()} for values in (losses, result)]
                record = {"step": state["step"]} | speed | rounded[0] | rounded[1]
                add_to_curves(curves, record)
                for name, values in (("speed", speed), ("loss", rounded[0]), ("validation", rounded[1])):
                    add_to_events(events, name, values, state["step"])
                done = done or state["waited"] >= options.patience
            due = state["step"] % options.save_every == 0 if options.save_every else None
            if done or (time.monotonic() - saved_at > options.save_seconds if due is None else due):
                save()
                saved_at = time.monotonic()
            if record is not None:
                yield record
                started, seen = time.monotonic(), 0
            if done:
                return
    finally:
        events.close()


def save_whole(content: Mapping[str, Any], path: Path) -> None:
    """Save a checkpoint whole or not at all."""
    with path_aside(path) as partial:
        torch.save(dict(content), partial)


def _compute_gradients(
    batch: Batch, state: dict[str, Any], optimiser: torch.optim.Optimizer, loss: Loss, seed: int
) -> dict[str, float]:
    """Leave the gradients of a batch in the parameters and return its loss and parts; halves `at_once` if it must."""
    count = len(batch[0])
    while True:
        at_once = min(state["at_once"] or count, count)
        optimiser.zero_grad(set_to_none=True)
        torch.manual_seed(seed)
        try:
            return add_gradients(batch, at_once, loss)
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            if at_once == 1:
                optimiser.zero_grad(set_to_none=True)
                raise MemoryError("one example does not fit into memory: take a smaller network or device") from error
        # Outside the except clause: the error's traceback holds on to the tensors of the failed pass.
        state["at_once"] = (at_once + 1) // 2
        _LOG.warning("out of memory with %d examples at once: going on with %d", at_once, state["at_once"])
        if torch.cuda.is_available():
            torch.cuda.empty_cache()


def add_gradients(batch: Batch, at_once: int, loss: Loss) -> dict[str, float]:
    """Add the gradients of a batch's mean loss, `at_once` examples at a time, and return the loss and its parts."""
    count = len(batch[0])
    result: dict[str, float] = {}
    for start in range(0, count, at_once):
        part = tuple(column[start : start + at_once] for column in batch)
        value, parts = loss(part)
        share = len(part[0]) / count
        (value * share).backward()
        for name, number in {"loss": float(value.detach()), **parts}.items():
            result[name] = result.get(name, 0.0) + share * number
    return result


def move_average(averaged: nn.Module, model: nn.Module, decay: float) -> None:
    """Move averaged weights towards a model's, in place; counters are copied."""
    with torch.no_grad():
        # Weights that two modules share appear once in `parameters`, and so move once.
        pairs = [*zip(averaged.parameters(), model.parameters(), strict=True)]
        pairs += zip(averaged.buffers(), model.buffers(), strict=True)
        for mean, value in pairs:
            if mean.dtype.is_floating_point:
                mean.lerp_(value.to(mean.dtype), 1 - decay)
            else:
                mean.copy_(value)
