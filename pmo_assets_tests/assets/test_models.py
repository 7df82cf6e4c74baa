"""The models group: data is made on any machine, training says what it needs."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import dagster as dg
import pytest
from typer.testing import CliRunner

from pmo_assets.assets.models import ModelConfig, figure_network, mark_classifier, synthetic_figures
from pmo_assets.models_cli import train_app


def test_synthetic_figures_are_written_and_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pmo_assets.pipeline.training import training_data

    monkeypatch.setattr(training_data, "SHARD_SIZE", 2)
    config = ModelConfig(folder=str(tmp_path), train=4, validation=2, test=2)
    result = dg.materialize([synthetic_figures], run_config=dg.RunConfig(ops={"synthetic_figures": config}))
    assert result.success
    (event,) = result.asset_materializations_for_node("synthetic_figures")
    assert event.metadata["train"].value == 4
    assert "data:image/jpeg" in str(event.metadata["preview"].value)
    made = sorted(path.parent.name for path in (tmp_path / "synthetic" / "train").glob("*/annotations.json"))
    assert made == ["shard_0000", "shard_0001"]


@pytest.mark.skipif(find_spec("torch") is not None, reason="PyTorch is installed here")
@pytest.mark.parametrize(("asset", "op"), [(figure_network, "figure_network"), (mark_classifier, "mark_classifier")])
def test_training_without_pytorch_says_what_is_missing(tmp_path: Path, asset: dg.AssetsDefinition, op: str) -> None:
    config = dg.RunConfig(ops={op: ModelConfig(folder=str(tmp_path))})
    with pytest.raises(dg.Failure, match="pmo-assets\\[models\\]"):
        dg.materialize([asset], run_config=config)


def test_figures_are_made_from_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pmo_assets.pipeline.training import training_data

    monkeypatch.setattr(training_data, "SHARD_SIZE", 1)
    command = ["figures", str(tmp_path), "--train", "1", "--validation", "1", "--test", "1"]
    result = CliRunner().invoke(train_app, command)
    assert result.exit_code == 0, result.output
    for part in ("train", "validation", "test"):
        data = json.loads((tmp_path / part / "shard_0000" / "annotations.json").read_text())
        assert len(data["images"]) == 1
        assert data["info"] == {"split": part}
