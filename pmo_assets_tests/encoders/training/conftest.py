"""One thread for PyTorch: networks this small are slowed down by a second one."""

from __future__ import annotations

from importlib.util import find_spec

import pytest


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> None:
    if find_spec("torch") is not None:
        import torch

        torch.set_num_threads(1)
