"""The mark classifier's votes."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="the extra `models` (PyTorch) is not installed: make test-models")

from pmo_assets.training.architectures.mark_network import MarkNetwork  # noqa: E402


def test_votes_pool_to_one_answer_per_picture() -> None:
    network = MarkNetwork().eval()
    with torch.no_grad():
        assert network(torch.rand(2, 3, 224, 224)).shape == (2,)
        assert network.votes(torch.rand(1, 3, 224, 224)).shape == (1, 14, 14)
    low, high = torch.full((1, 14, 14), -8.0), torch.full((1, 14, 14), -8.0)
    high[0, 3, 3] = 6.0
    assert float(network.pooled(high)) > float(network.pooled(low)) + 5
