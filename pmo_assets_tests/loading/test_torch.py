"""PyTorch's data loader takes rows as they are, with workers of both kinds."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from pmo_assets.loading import Panel, Release

torch = pytest.importorskip("torch", reason="PyTorch is in the extra `models` (make test-models)")


def as_arrays(panels: list[Panel]) -> list[tuple[str, np.ndarray, np.ndarray]]:
    return [(panel.panel_id, panel.pixels(), panel.mask("image")) for panel in panels]


@pytest.mark.parametrize(("workers", "method"), [(0, None), (2, "fork"), (2, "spawn")])
def test_a_data_loader_takes_rows(release: Release, workers: int, method: str | None) -> None:
    rows = release.panels.filter(pl.col("subcaption_text").is_not_null())
    loader = torch.utils.data.DataLoader(
        rows,
        batch_size=4,
        collate_fn=as_arrays,
        num_workers=workers,
        multiprocessing_context=method,
        timeout=120 if workers else 0,
    )
    got = [item for _ in range(2) for batch in loader for item in batch]
    expected = as_arrays(list(rows)) * 2
    assert [item[0] for item in got] == [item[0] for item in expected]
    for one, other in zip(got, expected, strict=True):
        assert np.array_equal(one[1], other[1])
        assert np.array_equal(one[2], other[2])


def test_records_travel_from_workers(release: Release) -> None:
    loader = torch.utils.data.DataLoader(
        release.panels, batch_size=8, collate_fn=list, shuffle=True, num_workers=2, timeout=120
    )
    panels = [panel for batch in loader for panel in batch]
    assert sorted(panel.panel_id for panel in panels) == sorted(panel.panel_id for panel in release.panels)
    first = next(panel for panel in panels if panel.subcaption is not None)
    assert first.pixels().shape == (*first.mask().shape, 3)
