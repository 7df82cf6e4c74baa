"""The graph that is worked out of this code, and kept, is the code location's."""

from __future__ import annotations

from pathlib import Path

import pytest

from pmo_assets.definitions import build_defs
from pmo_assets.defs.batch_states import graph_of_this_code
from pmo_assets.defs.staleness import stages_in_force, stages_of_location
from pmo_assets.settings import Settings
from pmo_assets.storage.data_root import DataRoot
from pmo_assets_tests.defs.conftest import settings_below


@pytest.mark.parametrize("changes", [{}, {"score_threshold": 0.5}])
def test_its_stages_are_those_of_the_code_location(tmp_path: Path, changes: dict[str, float]) -> None:
    settings = settings_below(tmp_path, **changes)
    defs = build_defs(settings)
    for _ in range(2):  # worked out or kept
        kept = stages_in_force(graph_of_this_code(), settings)
        loaded = stages_of_location(defs, DataRoot(settings.data_root))
        assert {name: set(parents) for name, parents in kept.parents.items()} == {
            name: set(parents) for name, parents in loaded.parents.items()
        }
        assert list(kept.parents) == list(loaded.parents)
        assert kept.versions == loaded.versions


def test_a_batch_is_made_in_one_run() -> None:
    """Of Materialize all: what waits for an asset that is not partitioned would be made in a second run."""

    def waiting(settings: Settings) -> set[str]:
        graph = build_defs(settings).resolve_asset_graph()
        made = graph.materializable_asset_keys
        return {
            key.path[-1]
            for key in made
            if graph.get(key).is_partitioned
            and any(parent in made and not graph.get(parent).is_partitioned for parent in graph.get(key).parent_keys)
        }

    assert waiting(Settings()) == set()
    assert "reviewed_panels" in waiting(Settings(annotations="truth")), "people's decisions are read before"
