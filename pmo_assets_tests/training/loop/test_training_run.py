"""The loop goes on after a kill and when memory runs out, and leaves curves behind."""

from __future__ import annotations

import csv
import logging
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the extra `models` (PyTorch) is not installed: make test-models")
pytest.importorskip("tensorboard", reason="curves need the extra `models` (tensorboard): make test-models")

from torch import Tensor, nn  # noqa: E402

from pmo_assets.records.faults import is_out_of_memory  # noqa: E402
from pmo_assets.training.architectures.compact_detector import CompactDetector  # noqa: E402
from pmo_assets.training.loop import training_run  # noqa: E402
from pmo_assets.training.loop.curves import EVENTS  # noqa: E402
from pmo_assets.training.loop.train_detector import train_detector  # noqa: E402
from pmo_assets.training.loop.training_run import (  # noqa: E402
    Batch,
    Loss,
    add_gradients,
    move_average,
    rate_factor,
    train_network,
)
from pmo_assets.training.options import RunOptions, TrainingOptions  # noqa: E402

SHORT = RunOptions(
    steps=6, batch_size=8, learning_rate=0.05, warm_up=1, evaluate_every=2, save_seconds=0.0, threads=1, seed=3
)

TRUTH = torch.tensor([[1.0], [-2.0], [0.5]])


def line_loss(model: nn.Module, noise: float = 0.0) -> Loss:
    """The mean squared error of a linear model; `noise` stands for dropout."""

    def loss(batch: Batch) -> tuple[Tensor, dict[str, float]]:
        x, y = batch
        value = ((model(x + noise * torch.randn(x.shape)) - y) ** 2).mean()
        return value, {"square": float(value.detach())}

    return loss


def run(folder: Path, options: RunOptions, loss_of: Any = line_loss) -> Any:
    """A run that learns `TRUTH` from random numbers."""
    torch.manual_seed(options.seed)
    model = nn.Linear(3, 1)

    def batches(state: dict[str, Any]) -> Iterator[tuple[Batch, dict[str, Any]]]:
        for number in range(state.get("number", 0), 100):
            x = torch.randn(options.batch_size, 3, generator=torch.Generator().manual_seed(number))
            yield (x, x @ TRUTH), {"number": number + 1}

    def measured(averaged: nn.Module, at_once: int) -> dict[str, float]:
        with torch.no_grad():
            return {"score": 1 / (1 + float((averaged.weight.T - TRUTH).abs().sum())), "seen_at_once": float(at_once)}

    optimiser = torch.optim.AdamW(model.parameters(), lr=options.learning_rate)
    return train_network(
        folder, model, optimiser, options, batches=batches, loss=loss_of(model), measured=measured,
        score=lambda result: result["score"], clip=10.0, described={"config": {"inputs": 3}},
    )  # fmt: skip


def weights(folder: Path) -> dict[str, Any]:
    return torch.load(folder / "last.pt", weights_only=True)


@pytest.mark.parametrize("killed_after", [1, 2])
def test_a_killed_run_ends_as_if_it_had_not_been(tmp_path: Path, killed_after: int) -> None:
    noisy = lambda model: line_loss(model, noise=0.3)  # noqa: E731
    whole = list(run(tmp_path / "whole", SHORT, noisy))
    first = run(tmp_path / "parts", SHORT, noisy)
    records = [next(first) for _ in range(killed_after)]
    first.close()
    records += list(run(tmp_path / "parts", SHORT, noisy))
    drop = {"per_second"}
    assert [{k: v for k, v in r.items() if k not in drop} for r in records] == [
        {k: v for k, v in r.items() if k not in drop} for r in whole
    ]
    for kind in ("model", "averaged"):
        for name, value in weights(tmp_path / "whole")[kind].items():
            assert torch.equal(value, weights(tmp_path / "parts")[kind][name])
    with (tmp_path / "parts" / "curves.csv").open() as file:
        assert [row["step"] for row in csv.DictReader(file)] == ["2", "4", "6"]


def test_a_finished_run_does_nothing_and_a_longer_one_goes_on(tmp_path: Path) -> None:
    list(run(tmp_path, SHORT))
    assert list(run(tmp_path, SHORT)) == []
    assert [record["step"] for record in run(tmp_path, replace(SHORT, steps=8))] == [8]


def test_training_stops_when_nothing_gets_better(tmp_path: Path) -> None:
    options = replace(SHORT, learning_rate=0.0, steps=80, patience=3)
    assert [record["step"] for record in run(tmp_path, options)] == [2, 4, 6, 8]


def test_a_run_that_stopped_early_is_finished_until_it_is_given_more_steps(tmp_path: Path) -> None:
    options = replace(SHORT, learning_rate=0.0, steps=80, patience=3)
    list(run(tmp_path, options))
    assert list(run(tmp_path, options)) == []
    assert list(run(tmp_path, replace(options, steps=40))) == []
    assert weights(tmp_path)["state"]["steps"] == 80
    assert [record["step"] for record in run(tmp_path, replace(options, steps=90))] == [10, 12, 14]
    assert list(run(tmp_path, replace(options, steps=90))) == []


def test_more_patience_lets_a_run_that_stopped_early_go_on(tmp_path: Path) -> None:
    options = replace(SHORT, learning_rate=0.0, steps=80, patience=3)
    list(run(tmp_path, options))
    assert [record["step"] for record in run(tmp_path, replace(options, patience=4))] == [10]


def test_progress_is_logged_between_evaluations(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, training_run.__name__)
    list(run(tmp_path / "seldom", SHORT))
    assert caplog.messages == []
    monkeypatch.setattr(training_run, "PROGRESS_SECONDS", 0.0)
    list(run(tmp_path / "often", SHORT))
    assert len(caplog.messages) == SHORT.steps
    assert caplog.messages[0].startswith("step 1 of 6: loss ")
    assert caplog.messages[0].endswith(" figures per second")


def test_curves_are_written_for_people_and_for_tensorboard(tmp_path: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    records = list(run(tmp_path, SHORT))
    events = EventAccumulator(str(tmp_path / EVENTS))
    events.Reload()
    assert {"loss/loss", "loss/square", "validation/score", "speed/at_once"} <= set(events.Tags()["scalars"])
    assert [(e.step, pytest.approx(e.value)) for e in events.Scalars("validation/score")] == [
        (record["step"], record["score"]) for record in records
    ]


def refusing(most: int) -> Any:
    """A loss of a device whose memory holds `most` examples."""

    def loss_of(model: nn.Module) -> Loss:
        inner = line_loss(model)

        def loss(batch: Batch) -> tuple[Tensor, dict[str, float]]:
            if len(batch[0]) > most:
                raise torch.OutOfMemoryError(f"CUDA out of memory. {len(batch[0])} examples")
            return inner(batch)

        return loss

    return loss_of


def test_out_of_memory_halves_the_batch_and_the_steps_stay_the_same(tmp_path: Path) -> None:
    large = list(run(tmp_path / "large", SHORT))
    small = list(run(tmp_path / "small", SHORT, refusing(3)))
    assert [record["at_once"] for record in large] == [8, 8, 8]
    assert [record["at_once"] for record in small] == [2, 2, 2]
    assert small[-1]["seen_at_once"] == 2
    assert weights(tmp_path / "small")["state"]["at_once"] == 2
    for name, value in weights(tmp_path / "large")["model"].items():
        assert torch.allclose(value, weights(tmp_path / "small")["model"][name], atol=1e-5)


def test_a_resumed_run_remembers_what_fits(tmp_path: Path) -> None:
    first = run(tmp_path, SHORT, refusing(4))
    next(first)
    first.close()
    sizes: list[int] = []

    def watching(model: nn.Module) -> Loss:
        inner = refusing(4)(model)

        def loss(batch: Batch) -> tuple[Tensor, dict[str, float]]:
            sizes.append(len(batch[0]))
            return inner(batch)

        return loss

    list(run(tmp_path, SHORT, watching))
    assert set(sizes) == {4}


def test_one_example_too_large_is_said(tmp_path: Path) -> None:
    with pytest.raises(MemoryError, match="one example does not fit"):
        list(run(tmp_path, SHORT, refusing(0)))


def test_the_message_of_the_allocator_of_the_cpu_is_known() -> None:
    with pytest.raises(RuntimeError) as caught:
        torch.empty(2**60, dtype=torch.uint8)
    assert is_out_of_memory(caught.value)
    assert not is_out_of_memory(RuntimeError("mat1 and mat2 shapes cannot be multiplied"))


def test_another_error_is_not_swallowed(tmp_path: Path) -> None:
    def broken(model: nn.Module) -> Loss:
        def loss(batch: Batch) -> tuple[Tensor, dict[str, float]]:
            raise RuntimeError("shapes do not fit")

        return loss

    with pytest.raises(RuntimeError, match="shapes do not fit"):
        list(run(tmp_path, SHORT, broken))


def test_gradients_of_halves_add_up() -> None:
    model = nn.Linear(3, 1)
    x = torch.randn(5, 3)
    found = []
    for at_once in (5, 2, 1):
        model.zero_grad()
        parts = add_gradients((x, x @ TRUTH), at_once, line_loss(model))
        found.append((model.weight.grad.clone(), parts["loss"], parts["square"]))
    for gradient, loss, square in found[1:]:
        assert torch.allclose(gradient, found[0][0], atol=1e-6)
        assert loss == pytest.approx(found[0][1], rel=1e-5) == square


def test_weights_that_are_shared_move_once() -> None:
    def pair() -> nn.Module:
        module = nn.Sequential(nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False), nn.BatchNorm1d(2))
        module[1].weight = module[0].weight
        return module

    averaged, model = pair(), pair()
    nn.init.zeros_(averaged[0].weight)
    nn.init.ones_(model[0].weight)
    model[2].num_batches_tracked.fill_(5)
    move_average(averaged, model, 0.75)
    assert torch.allclose(averaged[1].weight, torch.full((2, 2), 0.25))
    assert int(averaged[2].num_batches_tracked) == 5


def test_a_detector_that_does_not_fit_trains_on_halves(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = CompactDetector.loss

    def small_memory(self: CompactDetector, pictures: Tensor, targets: list[Any]) -> tuple[Tensor, dict[str, float]]:
        if len(targets) > 1:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return whole(self, pictures, targets)

    monkeypatch.setattr(CompactDetector, "loss", small_memory)
    options = TrainingOptions(
        steps=6, batch_size=4, evaluate_every=6, validation_figures=2, workers=0, threads=1, save_seconds=1e9
    )
    (record,) = train_detector(tmp_path, data / "train", data / "validation", options, size="tiny")
    assert record["at_once"] == 1
    assert record["step"] == 6


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here")
def test_a_run_on_a_cuda_device_can_be_measured_on_the_cpu(data: Path, tmp_path: Path) -> None:
    from pmo_assets.training.architectures.export import load_detector
    from pmo_assets.training.loop.train_detector import coco_rows, evaluated

    options = TrainingOptions(
        steps=3, batch_size=2, evaluate_every=3, validation_figures=2, workers=0, threads=1, device="cuda"
    )
    for architecture in ("compact", "retinanet", "rtdetr_v2"):
        folder = tmp_path / architecture
        (record,) = train_detector(
            folder, data / "train", data / "validation", options, architecture=architecture, size="tiny"
        )
        assert record["loss"] > 0
        model, _ = load_detector(folder / "best.pt")
        assert "mAP" in evaluated(
            model, coco_rows([data / "validation" / "shard_0000"]), replace(options, device="cpu")
        )


def test_the_rate_rises_stays_and_falls_to_zero() -> None:
    options = TrainingOptions(steps=1000, warm_up=100, fall=0.25)
    rates = [rate_factor(step, options) for step in (0, 50, 100, 700, 875, 1000)]
    assert rates[0] == pytest.approx(0.01)
    assert rates[2] == rates[3] == 1.0
    assert rates[4] == pytest.approx(0.5)
    assert rates[5] == 0.0
