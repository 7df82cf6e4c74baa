"""The models group: data is made on any machine, training says what it needs."""

from __future__ import annotations

import json
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import dagster as dg
import pytest
from typer.testing import CliRunner

from pmo_assets.assets.models import ModelConfig, figure_network, mark_classifier, synthetic_figures
from pmo_assets.models_cli import train_app
from pmo_assets.pipeline.training.layouts import split_of


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


needs_torch = pytest.mark.skipif(
    find_spec("torch") is None, reason="the extra `models` (PyTorch) is not installed: make test-models"
)


def need_detr() -> None:
    """Skip where PyTorch or the DETR family of transformers does not load."""
    try:
        import_module("pmo_assets.pipeline.training.detr_detectors")
    except (ImportError, RuntimeError) as error:
        pytest.skip(f"the extra `models` is not installed or does not load ({error}): make test-models")


def small_figures(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four figures for each part of the data."""
    from pmo_assets.pipeline.training import training_data

    monkeypatch.setattr(training_data, "SHARD_SIZE", 4)
    for split in ("train", "validation", "test"):
        list(training_data.write_synthetic_shards(folder, split, 4, [], None))  # type: ignore[arg-type]


def test_the_network_is_trained_exported_and_its_curve_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need_detr()
    small_figures(tmp_path / "synthetic", monkeypatch)
    small_figures(tmp_path / "real", monkeypatch)
    config = ModelConfig(
        folder=str(tmp_path), architecture="dab_detr", size="tiny", detector_steps=2, batch_size=2, workers=0,
        threads=1, coco=[str(tmp_path / "real" / "train")],
    )  # fmt: skip
    result = dg.materialize([figure_network], run_config=dg.RunConfig(ops={"figure_network": config}))
    assert result.success
    for event in result.asset_materializations_for_node("figure_network"):
        assert event.metadata["architecture"].value == "dab_detr"
        held_in = sum(split_of(f"{number:08d}") == "train" for number in range(4))  # their files are their articles
        assert event.metadata["annotated_figures"].value == held_in > 0
        assert "data:image/png;base64" in str(event.metadata["curve"].value)
    assert (tmp_path / "weights" / "figure_detector.onnx").stat().st_size > 100_000
    assert (tmp_path / "runs" / "detector_dab_detr_fine_tuned" / "curves.csv").exists()


@needs_torch
def test_what_cannot_be_trained_fails_the_asset_at_once(tmp_path: Path) -> None:
    config = ModelConfig(folder=str(tmp_path), fine_tune=True, annotations=str(tmp_path))
    with pytest.raises(dg.Failure, match="articles"):
        dg.materialize([figure_network], run_config=dg.RunConfig(ops={"figure_network": config}))


def test_a_detector_is_trained_measured_and_exported_from_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need_detr()
    small_figures(tmp_path / "data", monkeypatch)
    run, data = str(tmp_path / "run"), str(tmp_path / "data")

    def said(*command: str) -> dict[str, object]:
        result = CliRunner().invoke(train_app, list(command))
        assert result.exit_code == 0, result.output
        return json.loads(result.output.splitlines()[-1])

    few = ["--size", "tiny", "--steps", "2", "--batch-size", "2", "--workers", "0", "--threads", "1"]
    record = said("detector", run, "--data", data, "--architecture", "d_fine", *few)
    assert record["step"] == 2
    best = str(tmp_path / "run" / "best.pt")
    assert said("evaluate", best, "--data", f"{data}/test", "--figures", "3")["figures"] == 3
    exported = said("export", str(tmp_path / "out"), "--detector", best, "--data", data)
    assert exported["figures"] == 4
    card = (tmp_path / "out" / "figure_detector.md").read_text("utf-8")
    assert "d_fine: D-FINE" in card
    assert "--architecture d_fine" in card


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
