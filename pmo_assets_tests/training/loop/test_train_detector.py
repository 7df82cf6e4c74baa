"""A detector's run goes on after a kill as if nothing had happened, and measures annotated figures."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the extra `models` (PyTorch) is not installed: make test-models")
pytest.importorskip("onnxscript", reason="ONNX export needs onnx and onnxscript: make test-models")

from pmo_assets.training.architectures.export import load_detector  # noqa: E402
from pmo_assets.training.data.annotated import write_annotated_shards  # noqa: E402
from pmo_assets.training.data.coco import figure_of_coco, read_coco, shards  # noqa: E402
from pmo_assets.training.loop.model_card import detector_card  # noqa: E402
from pmo_assets.training.loop.train_detector import coco_rows, evaluated, mixed, train_detector  # noqa: E402
from pmo_assets.training.options import TrainingOptions  # noqa: E402
from pmo_assets.training.synthetic.layouts import SPLITS, split_of  # noqa: E402

SHORT = TrainingOptions(
    steps=4, batch_size=2, evaluate_every=4, validation_figures=2, workers=0, threads=1, warm_up=2, save_seconds=0.0
)


def test_the_best_weights_are_those_that_were_measured(data: Path, tmp_path: Path) -> None:
    (record,) = train_detector(tmp_path, data / "train", data / "validation", SHORT, size="tiny")
    model, info = load_detector(tmp_path / "best.pt")
    assert info["step"] == SHORT.steps
    again = evaluated(model, coco_rows(shards(data / "validation"))[: SHORT.validation_figures], SHORT)
    assert again["mAP"] == pytest.approx(record["mAP"], abs=1e-4)


def test_a_killed_run_ends_with_the_same_weights(data: Path, tmp_path: Path) -> None:
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    list(train_detector(whole, data / "train", data / "validation", SHORT, size="tiny"))
    # The schedule is that of the whole run; the kill comes after two of four steps.
    often = replace(SHORT, evaluate_every=2)
    stopped: Any = train_detector(parts, data / "train", data / "validation", often, size="tiny")
    next(stopped)
    stopped.close()
    list(train_detector(parts, data / "train", data / "validation", SHORT, size="tiny"))
    first, second = (torch.load(p / "last.pt", weights_only=True) for p in (whole, parts))
    assert first["state"]["step"] == second["state"]["step"] == 4
    for name, value in first["model"].items():
        assert torch.allclose(value, second["model"][name], atol=1e-6), name


def test_an_epoch_has_its_share_of_annotated_figures() -> None:
    def rows(names: str) -> list[Any]:
        return [(Path(name), (1, 1), np.zeros((0, 4)), np.zeros(0)) for name in names]

    synthetic, annotated = rows("abcdefghijklmn"), rows("XYZ")
    epoch = [row[0].name for row in mixed(synthetic, annotated, 0.3, 0)]
    assert epoch[:14] == list("abcdefghijklmn")
    assert sorted(epoch[14:17]) == sorted(epoch[17:20]) == ["X", "Y", "Z"]
    assert len(epoch) == 20
    assert epoch == [row[0].name for row in mixed(synthetic, annotated, 0.3, 0)]
    assert len({tuple(row[0].name for row in mixed(synthetic, annotated, 0.3, seed)) for seed in range(9)}) > 1
    assert mixed(synthetic, annotated, 0.0, 0) == mixed(synthetic, [], 0.3, 0) == synthetic
    assert mixed(synthetic, annotated, 1.0, 0) == mixed([], annotated, 0.3, 0) == annotated


def test_fine_tuning_starts_from_a_run_and_measures_annotated_figures(data: Path, tmp_path: Path) -> None:
    list(train_detector(tmp_path / "first", data / "train", data / "validation", SHORT, size="tiny"))
    figures = [figure_of_coco(*row) for shard in shards(data / "train") for row in read_coco(shard)]
    parts = {split: next(f"PMC{k}" for k in range(99) if split_of(f"PMC{k}") == split) for split in SPLITS}
    write_annotated_shards(tmp_path / "real", list(zip(parts.values(), figures, strict=False)))
    run = train_detector(
        tmp_path / "second", data / "train", data / "validation", replace(SHORT, learning_rate=1e-12), size="tiny",
        initial=tmp_path / "first" / "best.pt", annotated=[tmp_path / "real"],
    )  # fmt: skip
    (record,) = run
    assert {"annotated_mAP", "annotated_mAP75"} <= set(record)
    model, info = load_detector(tmp_path / "second" / "best.pt")
    assert (info["annotated"], info["initial"]) == (1, "best.pt")
    card = detector_card(info, None, 1)
    assert "1 figures of annotated articles" in card
    assert "from the weights of another network (best.pt)" in card
    # With next to no learning rate the weights are those of the first run.
    first, _ = load_detector(tmp_path / "first" / "best.pt")
    for one, other in zip(first.parameters(), model.parameters(), strict=True):
        assert torch.allclose(one, other, atol=1e-6)


def test_a_run_keeps_its_size(data: Path, tmp_path: Path) -> None:
    list(train_detector(tmp_path, data / "train", data / "validation", SHORT, size="tiny"))
    assert torch.load(tmp_path / "last.pt", weights_only=True)["size"] == "tiny"
    with pytest.raises(ValueError, match="is a run of size tiny, not full"):
        list(train_detector(tmp_path, data / "train", data / "validation", SHORT))


def test_training_needs_validation_data(data: Path, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"to validate on in .*nowhere"):
        list(train_detector(tmp_path / "run", data / "train", tmp_path / "nowhere", SHORT, size="tiny"))
    assert not (tmp_path / "run").exists()


def test_annotated_figures_outside_the_training_part_are_an_error(data: Path, tmp_path: Path) -> None:
    figure = figure_of_coco(*next(iter(read_coco(shards(data / "train")[0]))))
    article = next(f"PMC{k}" for k in range(99) if split_of(f"PMC{k}") == "test")
    write_annotated_shards(tmp_path / "real", [(article, figure)])
    run = train_detector(
        tmp_path / "run", data / "train", data / "validation", SHORT, size="tiny", annotated=[tmp_path / "real"]
    )
    with pytest.raises(ValueError, match=rf"training part\. Articles: {article}\. .* hash .* at least some articles"):
        next(run)


def test_annotated_figures_that_cannot_be_measured_are_said(
    data: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    figure = figure_of_coco(*next(iter(read_coco(shards(data / "train")[0]))))
    article = next(f"PMC{k}" for k in range(99) if split_of(f"PMC{k}") == "train")
    write_annotated_shards(tmp_path / "real", [(article, figure)])
    run = train_detector(
        tmp_path / "run", data / "train", data / "validation", SHORT, size="tiny", annotated=[tmp_path / "real"]
    )
    with caplog.at_level(logging.WARNING):
        (record,) = run
    assert "annotated_mAP" not in record
    assert any("no annotated figure falls into the validation part" in message for message in caplog.messages)
