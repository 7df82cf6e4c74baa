"""The models group: data is made on any machine, training says what it needs."""

from __future__ import annotations

import json
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from typer.testing import CliRunner

from pmo_assets.cli.console import CommandError
from pmo_assets.cli.train import train_app
from pmo_assets.definitions import build_defs
from pmo_assets.defs.assets.models import ModelConfig, _run_name
from pmo_assets.training.synthetic.layouts import split_of


def configured(**values: Any) -> ModelConfig:
    """Return a configuration; mypy does not know the fields, which come from the options of training."""
    return ModelConfig(**values)


def train(op: str, config: ModelConfig) -> dg.ExecuteInProcessResult:
    """Launch one op of the job `train`, as the launchpad does."""
    job = build_defs().resolve_job_def("train")
    return job.execute_in_process(run_config=dg.RunConfig(ops={op: config}), op_selection=[op])


def test_synthetic_figures_are_written_and_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pmo_assets.training.data import training_data

    monkeypatch.setattr(training_data, "SHARD_SIZE", 2)
    config = configured(folder=str(tmp_path), train=4, validation=2, test=2)
    result = train("synthetic_figures", config)
    assert result.success
    (event,) = result.asset_materializations_for_node("synthetic_figures")
    assert event.metadata["train"].value == 4
    assert "data:image/webp" in str(event.metadata["preview"].value)
    made = sorted(path.parent.name for path in (tmp_path / "synthetic" / "train").glob("*/annotations.json"))
    assert made == ["shard_0000", "shard_0001"]


@pytest.mark.skipif(find_spec("torch") is not None, reason="PyTorch is installed here")
@pytest.mark.parametrize("op", ["figure_network", "mark_classifier"])
def test_training_without_pytorch_says_what_is_missing(tmp_path: Path, op: str) -> None:
    with pytest.raises(dg.Failure, match="pmo-assets\\[models\\]"):
        train(op, configured(folder=str(tmp_path)))


needs_torch = pytest.mark.skipif(
    find_spec("torch") is None, reason="the extra `models` (PyTorch) is not installed: make test-models"
)


def need_detr() -> None:
    """Skip where PyTorch or the DETR family of transformers does not load."""
    try:
        import_module("pmo_assets.training.architectures.detr_detectors")
    except (ImportError, RuntimeError) as error:
        pytest.skip(f"the extra `models` is not installed or does not load ({error}): make test-models")


def small_figures(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four figures for each part of the data."""
    from pmo_assets.training.data import training_data

    monkeypatch.setattr(training_data, "SHARD_SIZE", 4)
    for split in ("train", "validation", "test"):
        list(training_data.write_synthetic_shards(folder, split, 4, [], None))  # type: ignore[arg-type]


def test_the_network_is_trained_exported_and_its_curve_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need_detr()
    small_figures(tmp_path / "synthetic", monkeypatch)
    small_figures(tmp_path / "real", monkeypatch)
    config = configured(
        folder=str(tmp_path), architecture="dab_detr", size="tiny", detector_steps=2, batch_size=2, workers=0,
        threads=1, coco=[str(tmp_path / "real" / "train")],
    )  # fmt: skip
    result = train("figure_network", config)
    assert result.success
    for event in result.asset_materializations_for_node("figure_network"):
        assert event.metadata["architecture"].value == "dab_detr"
        held_in = sum(split_of(f"{number:08d}") == "train" for number in range(4))  # their files are their articles
        assert event.metadata["annotated_figures"].value == held_in > 0
        assert "data:image/png;base64" in str(event.metadata["curve"].value)
    assert (tmp_path / "weights" / "figure_detector.onnx").stat().st_size > 100_000
    assert (tmp_path / "runs" / "detector_dab_detr_tiny_fine_tuned" / "curves.csv").exists()


@needs_torch
def test_what_cannot_be_trained_fails_the_asset_at_once(tmp_path: Path) -> None:
    config = configured(folder=str(tmp_path), fine_tune=True, annotations=str(tmp_path))
    with pytest.raises(dg.Failure, match="articles"):
        train("figure_network", config)


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
    from pmo_assets.training.data import training_data

    monkeypatch.setattr(training_data, "SHARD_SIZE", 1)
    command = ["figures", str(tmp_path), "--train", "1", "--validation", "1", "--test", "1"]
    result = CliRunner().invoke(train_app, command)
    assert result.exit_code == 0, result.output
    for part in ("train", "validation", "test"):
        data = json.loads((tmp_path / part / "shard_0000" / "annotations.json").read_text())
        assert len(data["images"]) == 1
        assert data["info"] == {"split": part}


def test_runs_of_another_size_have_a_folder_of_their_own() -> None:
    assert _run_name(configured()) == "detector"
    assert _run_name(configured(size="tiny")) == "detector_tiny"
    assert _run_name(configured(size="tiny", architecture="fcos", coco=["x"])) == "detector_fcos_tiny_fine_tuned"


def refused(*command: str) -> str:
    """What a command says that cannot do what it was asked."""
    result = CliRunner().invoke(train_app, list(command))
    assert isinstance(result.exception, CommandError), result.output
    return str(result.exception)


@pytest.mark.parametrize(
    "option", ["--batch-size", "--steps", "--evaluate-every", "--patience", "--validation-figures"]
)
def test_numbers_that_make_no_sense_are_refused(tmp_path: Path, option: str) -> None:
    result = CliRunner().invoke(train_app, ["detector", str(tmp_path), "--data", str(tmp_path), option, "0"])
    assert result.exit_code == 2
    assert option in result.output


def test_nothing_to_export_is_said(tmp_path: Path) -> None:
    assert refused("export", str(tmp_path / "out")).startswith("nothing to export: ")


@needs_torch
@pytest.mark.parametrize(
    ("given", "missing"),
    [
        ("--annotations", "--articles"),
        ("--articles", "--annotations"),
        ("--label-studio", "--label-studio-images"),
        ("--label-studio-images", "--label-studio"),
    ],
)
def test_half_a_pair_of_options_is_refused(tmp_path: Path, given: str, missing: str) -> None:
    said = refused("detector", str(tmp_path / "run"), "--data", str(tmp_path), given, str(tmp_path))
    assert said == f"{given} needs {missing}"


@needs_torch
def test_a_device_that_is_not_there_is_refused(tmp_path: Path) -> None:
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is a CUDA device here")
    assert "no CUDA device" in refused("marks", str(tmp_path), "--device", "cuda")
    assert CliRunner().invoke(train_app, ["marks", str(tmp_path), "--device", "tpu"]).exit_code == 2


@needs_torch
def test_a_wrong_checkpoint_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    import torch

    out = str(tmp_path / "out")
    weights = {"model": {}, "step": 1}
    (tmp_path / "text.pt").write_text("hello")
    torch.save([1], tmp_path / "list.pt")
    torch.save(weights | {"config": {}, "optimiser": {}}, tmp_path / "last.pt")
    torch.save(weights | {"config": {}, "validation": {"mAP": 0.5}}, tmp_path / "detector.pt")
    torch.save(weights | {"validation": {"accuracy": 0.5}}, tmp_path / "marks.pt")
    for kind, name, what in (
        ("--detector", "missing.pt", "there is no file"),
        ("--detector", "text.pt", "is not a checkpoint of PyTorch"),
        ("--detector", "list.pt", "is not a checkpoint of a run"),
        ("--detector", "last.pt", "is the last state of a run"),
        ("--detector", "marks.pt", "is the checkpoint of a mark classifier, not of a detector"),
        ("--marks", "detector.pt", "is the checkpoint of a detector, not of a mark classifier"),
    ):
        said = refused("export", out, kind, str(tmp_path / name))
        assert what in said
        assert name in said
    detector = ("--detector", str(tmp_path / "detector.pt"))
    assert "nothing to measure" in refused("export", out, *detector, "--data", str(tmp_path))
    assert "nothing to measure" in refused("evaluate", detector[1], "--data", str(tmp_path))
    assert not (tmp_path / "out").exists()


@needs_torch
def test_a_run_with_nothing_left_to_do_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("tensorboard", reason="curves need the extra `models` (tensorboard): make test-models")
    from pmo_assets.training.loop import training_run

    monkeypatch.setattr(training_run, "PROGRESS_SECONDS", 0.0)
    small_figures(tmp_path / "data", monkeypatch)
    command = ["detector", str(tmp_path / "run"), "--data", str(tmp_path / "data"), "--size", "tiny", "--steps", "2",
               "--batch-size", "2", "--workers", "0", "--threads", "1"]  # fmt: skip
    first, second = (CliRunner().invoke(train_app, command) for _ in range(2))
    assert (first.exit_code, second.exit_code) == (0, 0), first.output + second.output
    assert [json.loads(line)["step"] for line in first.stdout.splitlines()] == [2]
    assert "step 1 of 2: loss" in first.stderr
    assert [json.loads(line) for line in second.stdout.splitlines()] == [{"step": 2, "finished": True}]
