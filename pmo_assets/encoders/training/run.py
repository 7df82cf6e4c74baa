"""The run that trains a dual encoder: resumable to the bit, chosen by validation retrieval, stopped by nonsense.

What a step does depends on its number, the recipe and the weights alone. `last.pt` has the trained weights, those from
which the bodies were freed, the state of the optimiser and the number of the step, so that a run that was killed goes
on as if it had not been.
"""

from __future__ import annotations

import hashlib
import json
import logging
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor
from torch import distributed as dist

from pmo_assets.encoders.examples.example_sets import Examples
from pmo_assets.encoders.examples.units import ExamplesError, Unit
from pmo_assets.encoders.networks.building import build_encoder
from pmo_assets.encoders.networks.dual_encoder import DualEncoder
from pmo_assets.encoders.networks.saving import save_encoder
from pmo_assets.encoders.training.card import card_of
from pmo_assets.encoders.training.gradients import add_gradients, processes
from pmo_assets.encoders.training.inputs import InputMaker, layout_of
from pmo_assets.encoders.training.losses import LossWeights, training_loss
from pmo_assets.encoders.training.recipes import Recipe
from pmo_assets.encoders.training.sampling import Entry, Sampler
from pmo_assets.encoders.training.validation import chosen_units, validation_numbers
from pmo_assets.records.pairs import PairLevel
from pmo_assets.records.stores import SystemicError
from pmo_assets.system.aside import write_bytes
from pmo_assets.training.loop.curves import add_to_curves, add_to_events, curves_png, forget_after, open_event_writer
from pmo_assets.training.loop.training_run import last_state, save_whole

_LOG = logging.getLogger(__name__)

_SMOOTHING: Final = 0.9


class TrainingFault(SystemicError):
    """A run cannot go on; the message says why, and what is left of it."""


@dataclass(frozen=True)
class RunOptions:
    """What does not change what is learned.

    Attributes:
        device: cpu or cuda.
        at_once: examples that are in memory with a graph at once; 0: the whole batch.
        cache: folder of features of frozen bodies; the run's own if None.
        save_seconds: time between checkpoints.
        save_every: steps between checkpoints, if that comes first; 0: never.
    """

    device: str = "cpu"
    at_once: int = 0
    cache: Path | None = None
    save_seconds: float = 120.0
    save_every: int = 0


def rate_factor(step: int, steps: int, warm_up: int) -> float:
    """Return the learning rate of a step (from 0) as a factor of the highest: linear up, then a cosine to 0."""
    if step < warm_up:
        return (step + 1) / warm_up
    return 0.5 * (1 + math.cos(math.pi * (step - warm_up) / max(1, steps - warm_up)))


def train_encoder(
    folder: Path, train: Examples, validation: Examples, recipe: Recipe, recipe_text: str, options: RunOptions
) -> Iterator[dict[str, Any]]:
    """Train, or go on with a run, yielding a record for each evaluation.

    Under `torchrun` each process embeds its share of every batch; the first one evaluates and writes.

    Args:
        folder: of the run: `last.pt`, `best.pt`, `curves.csv`, `curves.png`, `events/`, `features/`, and at the end
            `model/`, which `open_clip` loads.
        train: units to learn from.
        validation: units of other articles.
        recipe: what is taught.
        recipe_text: its TOML, kept with the model.
        options: how.

    Raises:
        ExamplesError: if there is nothing to train on or to choose by, or a picture is broken.
        EncoderError: if there is no such encoder.
        TrainingFault: if the loss is no number any more, or the folder holds another run.
        OSError: if it cannot be written.
    """
    run = _Run(folder, train, validation, recipe, options)
    try:
        yield from run.go_on()
        if run.leads:
            run.finish(recipe_text)
    finally:
        run.close()
    if dist.is_initialized():
        dist.barrier()


class _Run:
    """A run in its folder."""

    def __init__(
        self, folder: Path, train: Examples, validation: Examples, recipe: Recipe, options: RunOptions
    ) -> None:
        if len(shared := np.intersect1d(train.source_keys(), validation.source_keys())):
            raise ExamplesError(f"{min(train.of_keys(shared).sources())} is in training and validation")
        self.folder, self.recipe, self.options = folder, recipe, options
        self.rank, self.world = processes()
        self.leads = self.rank == 0
        self.sampler = Sampler(train, recipe)
        self.steps = self.sampler.steps()
        self.units = self._validation_units(validation)
        self.counts = {
            "train": {level: len(own) for level, own in self.sampler.units.items()},
            "validation": {level: len(own) for level, own in self.units.items()},
            "articles": len(train.source_keys()),
        }
        torch.manual_seed(recipe.run.seed if recipe.run.weights_seed is None else recipe.run.weights_seed)
        self.encoder: DualEncoder = build_encoder(recipe.encoder)
        self.encoder.model.to(options.device)
        with torch.no_grad():
            self.encoder.model.logit_scale.fill_(math.log(1 / recipe.loss.temperature))
        self.names = self.encoder.train_blocks(recipe.encoder.trained_image_blocks, recipe.encoder.trained_text_blocks)
        named = dict(self.encoder.model.named_parameters())
        self.parameters = [named[name] for name in self.names]
        heads = {id(item) for item in self.encoder.head_parameters()}
        self.of_bodies = [item for item in self.parameters if id(item) not in heads]
        self.first_steps = round(recipe.optimiser.heads_first * self.steps) if self.of_bodies else 0
        self.start: dict[str, Tensor] = {}
        cache = options.cache or folder / "features"
        self.maker = InputMaker(self.encoder, cache, crop=recipe.data.crop, device=options.device)
        self.weights = LossWeights(**{item.name: getattr(recipe.loss, item.name) for item in fields(LossWeights)})
        self.optimiser = self._optimiser(named)
        self.state: dict[str, Any] = {"step": 0, "best": -1.0, "waited": 0, "losses": {}}
        self.identity = self._identity(train)
        self.events: Any = None

    def _validation_units(self, validation: Examples) -> dict[PairLevel, Sequence[Unit]]:
        texts = Sampler.texts_of(validation, self.recipe)
        most, seed = self.recipe.run.validation_units, self.recipe.run.seed
        found = {
            level: chosen_units(level, validation.units.get(level, ()), texts, most, seed)
            for level in self.sampler.units
        }
        self.validation_texts = texts
        found = {level: own for level, own in found.items() if len(own) > 1}
        if not found:
            levels = " or ".join(self.sampler.units)
            raise ExamplesError(f"the validation split has no two units of level {levels} with a text to choose by")
        return found

    def _optimiser(self, named: Mapping[str, Any]) -> torch.optim.Optimizer:
        """Return AdamW; biases, normalisation and the temperature do not decay (CLIP)."""
        part = self.recipe.optimiser
        decayed = [named[name] for name in self.names if named[name].ndim > 1]
        others = [named[name] for name in self.names if named[name].ndim <= 1]
        groups = [{"params": decayed, "weight_decay": part.weight_decay}, {"params": others, "weight_decay": 0.0}]
        return torch.optim.AdamW(
            [group for group in groups if group["params"]], lr=part.learning_rate, betas=part.betas, eps=part.epsilon,
            foreach=False,
        )  # fmt: skip

    def _identity(self, train: Examples) -> str:
        """Return what stands for the recipe and the units: a run goes on only with the same."""
        return hashlib.sha256(f"{self.recipe.model_dump_json()} {train.digest()}".encode()).hexdigest()[:24]

    def _restore(self) -> None:
        saved = last_state(self.folder, self.options.device)
        if saved is None:
            return
        if saved.get("identity") != self.identity:
            raise TrainingFault(
                f"{self.folder} holds a run of another recipe or other pairs: name another folder, or take it away"
            )
        self.encoder.model.load_state_dict(saved["model"], strict=False)
        self.optimiser.load_state_dict(saved["optimiser"])
        self.state |= saved["state"]
        self.start = saved.get("start", {})

    def _trained(self) -> dict[str, Tensor]:
        everything = self.encoder.model.state_dict()
        return {name: everything[name] for name in self.names}

    def save(self) -> None:
        """Write the checkpoint that a killed run goes on from."""
        if self.leads:
            content = {
                "model": self._trained(), "start": self.start, "optimiser": self.optimiser.state_dict(),
                "state": self.state, "identity": self.identity,
            }  # fmt: skip
            save_whole(content, self.folder / "last.pt")
            self.maker.flush()

    def go_on(self) -> Iterator[dict[str, Any]]:
        """Train from where the run is."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._restore()
        curves = self.folder / "curves.csv"
        if self.leads:
            self.events = open_event_writer(self.folder, self.state["step"])
            forget_after(curves, self.state["step"])
        part, run = self.recipe.optimiser, self.recipe.run
        every = run.evaluate_every or max(1, round(self.sampler.batches_an_epoch / part.accumulate))
        saved_at = started = time.monotonic()
        seen = 0
        while self.state["step"] < self.steps and not (run.patience and self.state["waited"] >= run.patience):
            loss, terms = self._step()
            self.state["step"] += 1
            seen += part.batch_size * part.accumulate
            losses = self.state["losses"]
            for name, value in {"loss": loss, **terms}.items():
                losses[name] = _SMOOTHING * losses.get(name, value) + (1 - _SMOOTHING) * value
            step = self.state["step"]
            record = None
            if step % every == 0 or step == self.steps:
                record = self._evaluated(seen / max(time.monotonic() - started, 1e-9))
                if self.leads:
                    add_to_curves(curves, record)
                    add_to_events(self.events, "train", {k: v for k, v in record.items() if k != "step"}, step)
            due = self.options.save_every and step % self.options.save_every == 0
            if record or due or time.monotonic() - saved_at > self.options.save_seconds:
                self.save()
                saved_at = time.monotonic()
            if record:
                yield record
                started, seen = time.monotonic(), 0

    def _rate_factor(self) -> float:
        """Return the rate of the coming step as a factor; free the bodies where their time has come."""
        step, first, warm_up = self.state["step"], self.first_steps, self.recipe.optimiser.warm_up
        for item in self.of_bodies:
            item.requires_grad_(step >= first)
        if step < first:
            return rate_factor(step, first, warm_up)
        if step == first and first:
            self.start = {name: value.clone() for name, value in self._trained().items()}
        return rate_factor(step - first, self.steps - first, warm_up)

    def _step(self) -> tuple[float, dict[str, float]]:
        part, step = self.recipe.optimiser, self.state["step"]
        factor = self._rate_factor()
        for group in self.optimiser.param_groups:
            group["lr"] = part.learning_rate * factor
        self.optimiser.zero_grad(set_to_none=True)
        self.encoder.set_training(True)
        total, terms = 0.0, dict[str, float]()
        for number in range(part.accumulate):
            loss, terms = self._add_batch(step * part.accumulate + number, 1 / part.accumulate)
            total += loss / part.accumulate
        norm = torch.nn.utils.clip_grad_norm_(self._learning(), part.clip or math.inf)
        if not math.isfinite(total) or not math.isfinite(float(norm)):
            what = f"the loss is {total}" if not math.isfinite(total) else f"the gradients are {float(norm)}"
            raise TrainingFault(
                f"{what} at step {step + 1}: the run stops, and {self.folder} keeps what it was before (last.pt); a "
                "smaller optimiser.learning_rate, a longer warm_up or float32 may help"
            )
        self.optimiser.step()
        self.encoder.hold_scale()
        return total, terms

    def _add_batch(self, number: int, share: float) -> tuple[float, dict[str, float]]:
        entries = self.sampler.batch(number)
        layout = layout_of(entries, self.options.device)
        wanted = bool(self.weights.roi or self.weights.consistency)
        if not wanted:
            layout = layout.without_regions()
        own = _share(entries, self.rank, self.world)
        first = len(entries) * self.rank // self.world
        size = self.options.at_once or len(own)
        parts = [own[start : start + size] for start in range(0, len(own), size)]
        seed = hash_seed(self.recipe.run.seed, number)
        made = [
            self.maker.inputs(part, seed=seed + first + k * size, with_regions=wanted) for k, part in enumerate(parts)
        ]
        bfloat = self.recipe.optimiser.precision == "bfloat16"

        def embed(k: int) -> tuple[Tensor, ...]:
            torch.manual_seed(seed + first + k * size)
            with torch.autocast(self.options.device, torch.bfloat16, enabled=bfloat):
                found = self.maker.embed(made[k])
            return tuple(item.float() for item in found)

        def loss(found: tuple[Tensor, ...], scale: Tensor) -> tuple[Tensor, dict[str, float]]:
            images, texts, rois = found
            return training_loss(images, texts, rois, layout, scale, self.weights)

        return add_gradients(embed, len(parts), loss, self.encoder.scale, self._learning(), share)

    def _learning(self) -> list[Tensor]:
        return [item for item in self.parameters if item.requires_grad]

    @contextmanager
    def _as_kept(self) -> Iterator[None]:
        """Have the encoder's weights as they are measured and kept: between the start of the bodies and now."""
        share = self.recipe.optimiser.tuned_share
        if not self.start or share == 1:
            yield
            return
        reached = [item.detach().clone() for item in self.parameters]
        with torch.no_grad():
            for name, item in zip(self.names, self.parameters, strict=True):
                item.copy_(torch.lerp(self.start[name], item, share))
        try:
            yield
        finally:
            with torch.no_grad():
                for item, value in zip(self.parameters, reached, strict=True):
                    item.copy_(value)

    def _evaluated(self, per_second: float) -> dict[str, Any]:
        with self._as_kept():
            return self._measured(per_second)

    def _measured(self, per_second: float) -> dict[str, Any]:
        try:
            numbers = validation_numbers(self.maker, self.units, self.validation_texts) if self.leads else {}
        except FloatingPointError as error:
            raise TrainingFault(f"embeddings are no numbers at step {self.state['step']}: {error}") from error
        if self.world > 1:
            shared: list[Any] = [numbers]
            dist.broadcast_object_list(shared)
            numbers = shared[0]
        better = numbers["score"] > self.state["best"]
        self.state["waited"] = 0 if better else self.state["waited"] + 1
        if better:
            self.state["best"] = numbers["score"]
            if self.leads:
                best = {"model": self._trained(), "step": self.state["step"], "validation": numbers}
                save_whole(best, self.folder / "best.pt")
        rounded = {name: round(value, 5) for name, value in {**self.state["losses"], **numbers}.items()}
        scale = round(float(self.encoder.scale.detach()), 3)
        return {"step": self.state["step"], "per_second": round(per_second, 1), "scale": scale, **rounded}

    def finish(self, recipe_text: str) -> None:
        """Write the best weights as a model that others load, with its card and the picture of the curves."""
        best = torch.load(self.folder / "best.pt", map_location=self.options.device, weights_only=True)
        self.encoder.model.load_state_dict(best["model"], strict=False)
        measured = [name for name in best["validation"] if "recall@10" in name or name.endswith("mrr")]
        write_bytes(self.folder / "curves.png", curves_png(self.folder / "curves.csv", measured))
        card = card_of(self.encoder, self.recipe, best, self.counts, len(self.encoder.cut_texts))
        save_encoder(self.encoder, self.folder / "model", card, recipe_text)
        facts = {"step": best["step"], "steps": self.state["step"], "validation": best["validation"], **self.counts}
        write_bytes(self.folder / "result.json", (json.dumps(facts, indent=1) + "\n").encode())

    def close(self) -> None:
        """Close what is open."""
        if self.events is not None:
            self.events.close()


def _share(entries: Sequence[Entry], rank: int, world: int) -> Sequence[Entry]:
    """Return the entries of a process: neighbours, so that all shares one after the other are the batch."""
    return entries[len(entries) * rank // world : len(entries) * (rank + 1) // world]


def hash_seed(*numbers: int) -> int:
    """Return a seed that depends on all numbers."""
    digest = hashlib.sha256(repr(numbers).encode()).digest()
    return int.from_bytes(digest[:6], "big")
