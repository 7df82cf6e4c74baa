"""Networks learn, go on after a kill as if nothing had happened, and come out of ONNX as they went in."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the extra `models` (PyTorch) is not installed: make test-models")
pytest.importorskip("onnxscript", reason="ONNX export needs onnx and onnxscript: make test-models")

from pmo_assets.pipeline.detection.networks.input_size import BUCKETS  # noqa: E402
from pmo_assets.pipeline.detection.networks.onnx_detectors import FigureNetwork, OnnxMarkClassifier  # noqa: E402
from pmo_assets.records.detections import FigureView  # noqa: E402
from pmo_assets.training.architectures.compact_detector import (  # noqa: E402
    TINY,
    CompactDetector,
    assigned,
    detection_loss,
    overlap,
    places,
    scores_and_boxes,
)
from pmo_assets.training.architectures.detectors import new_detector  # noqa: E402
from pmo_assets.training.architectures.export import export_detector, export_marks, load_detector  # noqa: E402
from pmo_assets.training.architectures.mark_network import MarkNetwork  # noqa: E402
from pmo_assets.training.data.annotated import write_annotated_shards  # noqa: E402
from pmo_assets.training.data.coco import CATEGORIES, figure_of_coco, read_coco, shards  # noqa: E402
from pmo_assets.training.loop.model_card import detector_card  # noqa: E402
from pmo_assets.training.loop.train_detector import (  # noqa: E402
    FigureBatches,
    batches_of,
    coco_rows,
    evaluated,
    mixed,
    train_detector,
)
from pmo_assets.training.loop.train_marks import MarkExamples, train_marks  # noqa: E402
from pmo_assets.training.loop.training_run import rate_factor  # noqa: E402
from pmo_assets.training.options import MarkOptions, TrainingOptions  # noqa: E402
from pmo_assets.training.synthetic.layouts import SPLITS, split_of  # noqa: E402
from pmo_assets_tests.training.pools import small_pool  # noqa: E402

SHORT = TrainingOptions(
    steps=4, batch_size=2, evaluate_every=4, validation_figures=2, workers=0, threads=1, warm_up=2, save_seconds=0.0
)


@pytest.mark.parametrize("bucket", BUCKETS)
def test_every_place_has_a_score_and_a_box(bucket: tuple[int, int]) -> None:
    model = CompactDetector(TINY).eval()
    with torch.no_grad():
        arrays = scores_and_boxes(model(torch.rand(1, 3, *bucket)))
    for group, classes, k in (("panel", 1, 0), ("label", 1, 2), ("image", 4, 4)):
        points, strides = places(group, *bucket)
        assert arrays[k].shape == (1, len(points), classes)
        assert arrays[k + 1].shape == (1, len(points), 4)
        inside = (arrays[k + 1][0, :, 0] < points[:, 0]) & (arrays[k + 1][0, :, 3] > points[:, 1])
        assert bool(inside.all())
        assert len(strides) == len(points)


def test_every_box_is_stood_for_by_a_place_in_it() -> None:
    rng = np.random.default_rng(0)
    for group, low, high in (("panel", 20, 380), ("image", 12, 380), ("label", 6, 40)):
        points, strides = places(group, 384, 384)
        for _ in range(60):
            w, h = rng.uniform(low, high, 2)
            x, y = rng.uniform(0, 384 - w), rng.uniform(0, 384 - h)
            box = torch.tensor([[x, y, x + w, y + h]], dtype=torch.float32)
            index = assigned(group, points, strides, box)
            chosen = points[index == 0]
            assert len(chosen) > 0, (group, w, h)
            if min(w, h) > 16:
                assert bool(((chosen > box[:, :2]) & (chosen < box[:, 2:])).all())


def test_overlap_of_equal_and_of_separate_boxes() -> None:
    a = torch.tensor([[0.0, 0.0, 2.0, 2.0], [0.0, 0.0, 1.0, 1.0]])
    b = torch.tensor([[0.0, 0.0, 2.0, 2.0], [3.0, 0.0, 4.0, 1.0]])
    iou, giou = overlap(a, b)
    assert iou.tolist() == pytest.approx([1.0, 0.0])
    assert giou.tolist() == pytest.approx([1.0, -0.5])


def test_a_perfect_answer_costs_next_to_nothing() -> None:
    box = torch.tensor([[40.0, 40.0, 140.0, 140.0]])
    output = {}
    for group, classes in (("panel", 1), ("label", 1), ("image", 4)):
        points, strides = places(group, 384, 384)
        index = assigned(group, points, strides, box) if group == "image" else torch.full((len(points),), -1)
        logits = torch.where(index[None, :, None] >= 0, 9.0, -9.0)
        kinds = torch.zeros(1, len(points), classes)
        kinds[..., -1] = 12.0
        output[group] = (logits, box.expand(1, len(points), 4).clone(), kinds)
    loss, parts = detection_loss(output, [(box, torch.tensor([CATEGORIES.index("Other")]))], (384, 384))
    assert float(loss) < 0.01
    wrong, _ = detection_loss(output, [(box, torch.tensor([CATEGORIES.index("CFP")]))], (384, 384))
    assert float(wrong) > 5
    assert set(parts) >= {"image_type", "image_box", "panel_score"}


def test_a_small_network_learns_the_figures_it_sees(data: Path) -> None:
    torch.manual_seed(0)
    rows = coco_rows(shards(data / "train"))
    batches = batches_of(rows, 3, None)
    figures = FigureBatches(rows, batches, 0, augment=False)
    model = CompactDetector(TINY)
    optimiser = torch.optim.AdamW(model.parameters(), lr=5e-3)
    pictures, targets = figures[0]
    losses = []
    for _ in range(60):
        loss, _ = detection_loss(model(pictures.float() / 255), targets, (pictures.shape[2], pictures.shape[3]))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < 0.55 * losses[0]


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
    stopped = train_detector(parts, data / "train", data / "validation", replace(SHORT, evaluate_every=2), size="tiny")
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


def test_an_export_that_differs_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = new_detector("compact", "tiny")
    torch.save({"config": model.settings(), "model": model.state_dict()}, tmp_path / "best.pt")
    whole = CompactDetector.outputs

    def sized_while_traced(self: CompactDetector, pictures: Any) -> tuple[Any, ...]:
        found = whole(self, pictures)
        return (*found[:5], found[5] * float(pictures.shape[2]))  # the height becomes a constant of the graph

    monkeypatch.setattr(CompactDetector, "outputs", sized_while_traced)
    with pytest.raises(ArithmeticError, match="differs from PyTorch"):
        export_detector(tmp_path / "best.pt", tmp_path / "detector.onnx")

    def not_in_onnx(self: CompactDetector, pictures: Any) -> tuple[Any, ...]:
        found = whole(self, pictures)
        return (*found[:5], found[5] + torch.linalg.svdvals(found[5])[..., :1, None])

    monkeypatch.setattr(CompactDetector, "outputs", not_in_onnx)
    with pytest.raises(ValueError, match="compact cannot be written as ONNX"):
        export_detector(tmp_path / "best.pt", tmp_path / "detector.onnx")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["best.pt"]


def test_the_rate_rises_stays_and_falls_to_zero() -> None:
    options = TrainingOptions(steps=1000, warm_up=100, fall=0.25)
    rates = [rate_factor(step, options) for step in (0, 50, 100, 700, 875, 1000)]
    assert rates[0] == pytest.approx(0.01)
    assert rates[2] == rates[3] == 1.0
    assert rates[4] == pytest.approx(0.5)
    assert rates[5] == 0.0


def test_onnx_gives_what_pytorch_gives(data: Path, tmp_path: Path) -> None:
    list(train_detector(tmp_path / "run", data / "train", data / "validation", SHORT, size="tiny"))
    target = tmp_path / "detector.onnx"
    assert export_detector(tmp_path / "run" / "best.pt", target) < 1e-3
    rng = np.random.default_rng(0)
    sizes = ((300, 300, 3), (90, 700, 3), (300, 310, 3), (800, 200, 3))
    views = [FigureView(rng.integers(0, 256, size, dtype=np.uint8)) for size in sizes]
    network = FigureNetwork(target, batch_size=2)
    together, alone = network(views), [FigureNetwork(target)([view])[0] for view in views]
    for a, b in zip(together, alone, strict=True):
        assert a.boxes["image"].shape == b.boxes["image"].shape
        assert np.allclose(a.scores["panel"], b.scores["panel"], atol=1e-5)
    assert network([views[1]])[0] is together[1]


def test_the_mark_classifier_trains_exports_and_reads_words(tmp_path: Path) -> None:
    options = MarkOptions(steps=3, batch_size=4, evaluate_every=3, validation_crops=4, workers=0, threads=1, warm_up=1)
    (record,) = train_marks(tmp_path / "run", small_pool(), small_pool(), options)
    assert 0 <= record["accuracy"] <= 1
    target = tmp_path / "marks.onnx"
    assert export_marks(tmp_path / "run" / "best.pt", target) < 1e-3
    classifier = OnnxMarkClassifier(target)
    crop = np.full((100, 120, 3), 90, np.uint8)
    (_, plain), (_, named), (unknown, _) = classifier([crop, crop, crop[:5]], ["Fundus.", "Fundus (arrow).", ""])
    assert named > plain
    assert unknown is None


def test_places_of_marks_lie_where_marks_were_drawn() -> None:
    examples = MarkExamples(0, 60, small_pool(), (), 0.0)
    for k in range(60):
        _, marked, where, known = examples[k]
        assert known == 1.0
        assert bool(where.any()) == bool(marked)


def test_annotated_pictures_teach_no_places() -> None:
    crop = np.full((80, 80, 3), 120, np.uint8)
    examples = MarkExamples(0, 20, small_pool(), [(crop, True), (crop, False)], 1.0)
    for k in range(20):
        _, marked, where, known = examples[k]
        assert not where.any()
        assert bool(known) != bool(marked)


def test_votes_pool_to_one_answer_per_picture() -> None:
    network = MarkNetwork().eval()
    with torch.no_grad():
        assert network(torch.rand(2, 3, 224, 224)).shape == (2,)
        assert network.votes(torch.rand(1, 3, 224, 224)).shape == (1, 14, 14)
    low, high = torch.full((1, 14, 14), -8.0), torch.full((1, 14, 14), -8.0)
    high[0, 3, 3] = 6.0
    assert float(network.pooled(high)) > float(network.pooled(low)) + 5
