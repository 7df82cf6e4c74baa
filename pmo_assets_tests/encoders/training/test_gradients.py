"""A batch in parts, or in several processes, has the gradients of one batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is in the extra `models` (make test-models)")

from pmo_assets.encoders.training.gradients import add_gradients  # noqa: E402
from pmo_assets.encoders.training.losses import BatchLayout, LossWeights, training_loss  # noqa: E402

if TYPE_CHECKING:
    from torch import Tensor

WEIGHTS = LossWeights(roi=0.5, consistency=0.2)


def towers(dtype: Any, dropout: float = 0.0) -> tuple[Any, Any, Any]:
    torch.manual_seed(0)
    image = torch.nn.Sequential(torch.nn.Linear(12, 8), torch.nn.Tanh(), torch.nn.Dropout(dropout))
    return image.to(dtype), torch.nn.Linear(9, 8).to(dtype), torch.nn.Parameter(torch.tensor(1.5, dtype=dtype))


def batch(count: int, dtype: Any) -> tuple[Tensor, Tensor, Tensor, BatchLayout]:
    """Return inputs of entries, two thirds panels and one third regions, some of one panel."""
    generator = torch.Generator().manual_seed(1)
    pictures, words, maps = (torch.randn(count, width, generator=generator).to(dtype) for width in (12, 9, 12))
    places = torch.arange(count)
    levels = torch.where(places % 3 == 2, 2, 1)
    layout = BatchLayout(
        levels, places // 2, places, -torch.ones_like(places), places >= 0, torch.nonzero(levels == 2)[:, 0]
    )
    return pictures, words, maps, layout


def gradients(count: int, size: int, dtype: Any, dropout: float = 0.0, share: float = 1.0) -> tuple[float, list[Any]]:
    pictures, words, maps, layout = batch(count, dtype)
    image, text, log_scale = towers(dtype, dropout)
    parameters = [*image.parameters(), *text.parameters(), log_scale]

    def embed(number: int) -> tuple[Tensor, ...]:
        torch.manual_seed(100 + number)
        part = slice(number * size, (number + 1) * size)
        return image(pictures[part]), text(words[part]), image(maps[part][layout.levels[part] == 2])

    def loss(found: tuple[Tensor, ...], scale: Tensor) -> Any:
        images, texts, rois = found
        return training_loss(images, texts, rois, layout, scale, WEIGHTS)

    value, _ = add_gradients(embed, -(-count // size), loss, log_scale.exp(), parameters, share)
    return value, [item.grad for item in parameters]


@pytest.mark.parametrize("size", [64, 100, 700])
def test_2048_entries_in_parts_are_one_batch(size: int) -> None:
    whole, expected = gradients(2048, 2048, torch.float32)
    parts, found = gradients(2048, size, torch.float32)
    assert parts == pytest.approx(whole, rel=1e-6)
    for one, other in zip(found, expected, strict=True):
        assert float((one - other).abs().max()) <= 1e-5 * max(1.0, float(other.abs().max()))


def test_in_float64_nothing_is_lost() -> None:
    expected, found = (gradients(60, size, torch.float64)[1] for size in (60, 7))
    assert all(torch.allclose(one, other, atol=1e-13) for one, other in zip(found, expected, strict=True))


def test_noise_of_a_part_is_the_same_both_times() -> None:
    """Else the gradients would belong to other embeddings than the loss: here they are those of one graph."""
    value, found = gradients(40, 10, torch.float64, dropout=0.5)
    pictures, words, maps, layout = batch(40, torch.float64)
    image, text, log_scale = towers(torch.float64, 0.5)
    columns: list[list[Tensor]] = [[], [], []]
    for number in range(4):
        torch.manual_seed(100 + number)
        part = slice(number * 10, (number + 1) * 10)
        for column, output in zip(
            columns,
            (image(pictures[part]), text(words[part]), image(maps[part][layout.levels[part] == 2])),
            strict=True,
        ):
            column.append(output)
    images, texts, rois = (torch.cat(column) for column in columns)
    expected, _ = training_loss(images, texts, rois, layout, log_scale.exp(), WEIGHTS)
    expected.backward()
    assert value == pytest.approx(float(expected.detach()))
    for one, other in zip(found, [*image.parameters(), *text.parameters(), log_scale], strict=True):
        assert torch.allclose(one, other.grad, atol=1e-12)


def test_shares_of_several_batches_add_up() -> None:
    whole = gradients(30, 8, torch.float64)[1]
    half = gradients(30, 8, torch.float64, share=0.5)[1]
    assert all(torch.allclose(one * 2, other, atol=1e-13) for one, other in zip(half, whole, strict=True))


def _in_a_process(rank: int, world: int, folder: str) -> None:
    import os

    from torch import distributed as dist

    os.environ |= {"MASTER_ADDR": "127.0.0.1", "RANK": str(rank), "WORLD_SIZE": str(world)}
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=world)
    pictures, words, maps, layout = batch(31, torch.float64)
    image, text, log_scale = towers(torch.float64)
    parameters = [*image.parameters(), *text.parameters(), log_scale]
    own = torch.arange(31)[:20] if rank == 0 else torch.arange(31)[20:]
    size = -(-len(own) // 2)

    def embed(number: int) -> tuple[Tensor, ...]:
        part = own[number * size : (number + 1) * size]
        return image(pictures[part]), text(words[part]), image(maps[part][layout.levels[part] == 2])

    def loss(found: tuple[Tensor, ...], scale: Tensor) -> Any:
        images, texts, rois = found
        return training_loss(images, texts, rois, layout, scale, WEIGHTS)

    value, _ = add_gradients(embed, 2, loss, log_scale.exp(), parameters)
    torch.save((value, [item.grad for item in parameters]), f"{folder}/{rank}.pt")
    dist.destroy_process_group()


@pytest.mark.slow
def test_two_processes_with_unequal_shares_are_one_batch(tmp_path: Any) -> None:
    torch.multiprocessing.spawn(_in_a_process, args=(2, str(tmp_path)), nprocs=2)
    expected, gradient = gradients(31, 31, torch.float64)
    for rank in range(2):
        value, found = torch.load(tmp_path / f"{rank}.pt", weights_only=True)
        assert value == pytest.approx(expected)
        assert all(torch.allclose(one, other, atol=1e-12) for one, other in zip(found, gradient, strict=True))
