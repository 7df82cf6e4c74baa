"""Checkpoints in Detectron2's format load name by name; anything else is refused with a reason."""

from __future__ import annotations

import math
import pickle
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the extra `models` (PyTorch) is not installed: make test-models")

from pmo_assets.pipeline.detection.d2_checkpoint import (  # noqa: E402
    CheckpointError,
    checkpoint_tensors,
    retinanet_from_checkpoint,
)
from pmo_assets.pipeline.detection.detect import detect_images, detect_panels  # noqa: E402
from pmo_assets.pipeline.detection.detections import FigureView  # noqa: E402
from pmo_assets.pipeline.detection.detector_set import detector_set  # noqa: E402
from pmo_assets.pipeline.detection.retinanet import (  # noqa: E402
    RetinaNet,
    TorchNetwork,
    folded,
    level_anchors,
    moved_anchors,
    retinanet_boxes,
    retinanet_input,
)
from pmo_assets.pipeline.stores import SystemicError  # noqa: E402


def detectron2_shapes(classes: int) -> dict[str, tuple[int, ...]]:
    """Names and shapes of a RetinaNet-R50-FPN as Detectron2 saves it, written down from its model definition."""
    shapes: dict[str, tuple[int, ...]] = {}

    def normed(name: str, *shape: int) -> None:
        shapes[f"{name}.weight"] = shape
        for part in ("weight", "bias", "running_mean", "running_var"):
            shapes[f"{name}.norm.{part}"] = (shape[0],)

    def plain(name: str, *shape: int) -> None:
        shapes[f"{name}.weight"], shapes[f"{name}.bias"] = shape, (shape[0],)

    normed("backbone.bottom_up.stem.conv1", 64, 3, 7, 7)
    before = 64
    for stage, blocks in ((2, 3), (3, 4), (4, 6), (5, 3)):
        inner, after = 64 * 2 ** (stage - 2), 256 * 2 ** (stage - 2)
        for block in range(blocks):
            name = f"backbone.bottom_up.res{stage}.{block}"
            if block == 0:
                normed(f"{name}.shortcut", after, before, 1, 1)
            normed(f"{name}.conv1", inner, before, 1, 1)
            normed(f"{name}.conv2", inner, inner, 3, 3)
            normed(f"{name}.conv3", after, inner, 1, 1)
            before = after
    for level, width in ((3, 512), (4, 1024), (5, 2048)):
        plain(f"backbone.fpn_lateral{level}", 256, width, 1, 1)
        plain(f"backbone.fpn_output{level}", 256, 256, 3, 3)
    plain("backbone.top_block.p6", 256, 2048, 3, 3)
    plain("backbone.top_block.p7", 256, 256, 3, 3)
    for k in (0, 2, 4, 6):
        plain(f"head.cls_subnet.{k}", 256, 256, 3, 3)
        plain(f"head.bbox_subnet.{k}", 256, 256, 3, 3)
    plain("head.cls_score", 9 * classes, 256, 3, 3)
    plain("head.bbox_pred", 36, 256, 3, 3)
    return shapes


def generated(classes: int) -> dict[str, np.ndarray]:
    """Random weights under Detectron2's names; scales keep activations of the deep network finite."""
    rng = np.random.default_rng(classes)
    result: dict[str, np.ndarray] = {}
    for name, shape in detectron2_shapes(classes).items():
        if name.endswith(("norm.weight", "running_var")):
            value = np.ones(shape) * (0.3 if "conv3.norm" in name else 1.0)
        elif len(shape) == 1:
            value = rng.normal(0, 0.01, shape) + (-3.0 if "cls_score" in name else 0.0)
        else:
            value = rng.normal(0, math.sqrt(1.0 / np.prod(shape[1:])), shape)
        result[name] = value.astype(np.float32)
    return result


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A `.pth` as Detectron2's checkpointer writes it, with the derived entries of older versions."""
    path = tmp_path_factory.mktemp("d2") / "model_final.pth"
    weights = {name: torch.from_numpy(value) for name, value in generated(2).items()}
    weights |= {"pixel_mean": torch.tensor([103.53, 116.28, 123.675]).view(3, 1, 1), "pixel_std": torch.ones(3, 1, 1)}
    weights |= {f"anchor_generator.cell_anchors.{k}": torch.zeros(9, 4) for k in range(5)}
    torch.save({"model": weights, "iteration": 9999}, path)
    return path


@pytest.mark.parametrize("classes", [2, 4])
def test_the_network_has_detectron2s_names_and_shapes(classes: int) -> None:
    own = {name: tuple(value.shape) for name, value in RetinaNet(classes).state_dict().items()}
    assert own == detectron2_shapes(classes)


def test_a_checkpoint_loads_and_detects(checkpoint: Path) -> None:
    model = retinanet_from_checkpoint(checkpoint, 2)
    value = model.state_dict()["backbone.bottom_up.res4.5.conv2.weight"].numpy()
    assert np.array_equal(value, generated(2)["backbone.bottom_up.res4.5.conv2.weight"])
    pixels = np.random.default_rng(0).integers(0, 256, (120, 160, 3), dtype=np.uint8)
    (found,) = retinanet_boxes(model, [pixels])
    assert 0 < len(found.boxes) == len(found.scores) == len(found.classes) <= 100
    assert (found.boxes >= 0).all()
    assert (found.boxes <= 1).all()
    assert list(found.scores) == sorted(found.scores, reverse=True)


def test_folding_normalisation_into_convolutions_changes_nothing() -> None:
    model = RetinaNet(2)
    model.load_state_dict({name: torch.from_numpy(value) for name, value in generated(2).items()})
    generator = torch.Generator().manual_seed(1)
    for name, buffer in model.named_buffers():  # normalisation that does something
        step = torch.rand(buffer.shape, generator=generator)
        buffer.mul_(0.8 + 0.4 * step) if name.endswith(("weight", "running_var")) else buffer.add_(0.1 * step)
    picture = 255 * torch.rand(1, 3, 64, 96, generator=generator) - 128
    with torch.no_grad():
        expected = model.eval()(picture)
        found = folded(model)(picture)
    for (a, b), (c, d) in zip(expected, found, strict=True):
        assert torch.allclose(a, c, atol=1e-3, rtol=1e-4)
        assert torch.allclose(b, d, atol=1e-3, rtol=1e-4)


def test_pictures_of_one_input_size_share_a_batch_and_keep_their_order(checkpoint: Path) -> None:
    rng = np.random.default_rng(0)
    pictures = [rng.integers(0, 256, (30, width, 3), dtype=np.uint8) for width in (300, 240, 301)]
    network = TorchNetwork(retinanet_from_checkpoint(checkpoint, 2), batch_size=2)
    together = network(pictures)
    for picture, found in zip(pictures, together, strict=True):
        (alone,) = network([picture])
        assert found.scores == pytest.approx(alone.scores, abs=1e-4)
        assert found.boxes == pytest.approx(alone.boxes, abs=1e-3)
    with pytest.raises(ValueError, match="one size"):
        retinanet_boxes(network.model, pictures[:2])


def test_a_checkpoint_detects_alone_and_beside_structure(checkpoint: Path, tmp_path: Path) -> None:
    view = FigureView(np.random.default_rng(0).integers(0, 256, (30, 300, 3), dtype=np.uint8), (), (), ("A", "B"))
    alone = detector_set("network", panel_checkpoint=checkpoint)
    found = detect_panels(view, alone.panels, score_threshold=0.05)
    assert {p.source for p in found} == {"network"}
    detect_panels(view, detector_set("both", panel_checkpoint=checkpoint).panels)
    weights = {name: torch.from_numpy(value) for name, value in generated(4).items()}
    images = tmp_path / "images.pkl"
    images.write_bytes(pickle.dumps({"model": {name: value.numpy() for name, value in weights.items()}}))
    alone = detector_set("network", image_checkpoint=images)
    typed = detect_images(view, (), alone.images, score_threshold=0.05)
    assert typed
    assert all(sum(i.type_scores.values()) == pytest.approx(1) and i.type_reason == "network" for i in typed)
    detect_images(view, (), detector_set("both", image_checkpoint=images).images)


def test_a_checkpoint_of_the_other_kind_fails_the_batch(checkpoint: Path) -> None:
    with pytest.raises(SystemicError, match=r"head\.cls_score"):
        detect_images(
            FigureView(np.zeros((30, 300, 3), np.uint8)),
            (),
            detector_set("network", image_checkpoint=checkpoint).images,
        )


@pytest.mark.skipif(find_spec("detectron2") is not None, reason="Detectron2 is installed here")
def test_without_detectron2_the_message_names_the_other_runtime(checkpoint: Path) -> None:
    detectors = detector_set("network", panel_checkpoint=checkpoint, runtime="detectron2")
    with pytest.raises(SystemicError, match="PMO_DETECTOR_RUNTIME=torch"):
        detect_panels(FigureView(np.zeros((30, 300, 3), np.uint8)), detectors.panels)


@pytest.mark.skipif(torch.cuda.is_available(), reason="PyTorch can use CUDA here")
def test_without_a_cuda_device_the_message_says_so(checkpoint: Path) -> None:
    detectors = detector_set("network", "cuda", panel_checkpoint=checkpoint)
    with pytest.raises(SystemicError, match="no CUDA device"):
        detect_panels(FigureView(np.zeros((30, 300, 3), np.uint8)), detectors.panels)


LIMITED = """
import resource
import numpy as np, torch
from pmo_assets.pipeline.detection.retinanet import RetinaNet, TorchNetwork

torch.set_num_threads(1)
torch.manual_seed(0)
pictures = list(np.random.default_rng(0).integers(0, 256, (4, 40, 400, 3), dtype=np.uint8))
network = TorchNetwork(RetinaNet(2), batch_size=4)
network(pictures[:1])
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
limit = int(status["VmSize"].split()[0]) * 1024 + 100 * 2**20
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
print(len(network(pictures)), network.batches.size)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="address space is limited and measured as on Linux")
def test_less_memory_means_smaller_batches() -> None:
    run = subprocess.run([sys.executable, "-c", LIMITED], capture_output=True, text=True, check=True)
    count, size = map(int, run.stdout.split())
    assert count == 4
    assert 1 <= size < 4


def test_the_model_zoos_pickles_load_without_running_code(tmp_path: Path) -> None:
    good, bad = tmp_path / "zoo.pkl", tmp_path / "evil.pkl"
    good.write_bytes(pickle.dumps({"model": {"a": np.ones((2, 3), np.float32)}, "__author__": "zoo"}, protocol=2))
    assert checkpoint_tensors(good)["a"].shape == (2, 3)

    class Evil:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return print, ("run",)

    bad.write_bytes(pickle.dumps({"model": {"a": Evil()}}))
    with pytest.raises(CheckpointError, match="print"):
        checkpoint_tensors(bad)
    bad.with_suffix(".pth").write_bytes(bad.read_bytes())
    with pytest.raises(CheckpointError):
        checkpoint_tensors(bad.with_suffix(".pth"))


def test_wrong_checkpoints_say_what_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "wrong.pth"
    weights = {name: torch.from_numpy(value) for name, value in generated(4).items()}
    torch.save({"model": weights}, path)
    with pytest.raises(CheckpointError, match=r"head\.cls_score"):
        retinanet_from_checkpoint(path, 2)
    del weights["backbone.top_block.p6.weight"]
    torch.save({"model": weights}, path)
    with pytest.raises(CheckpointError, match=r"missing \['backbone.top_block.p6.weight'\]"):
        retinanet_from_checkpoint(path, 4)
    torch.save({"model": {"pixel_mean": torch.tensor([123.7, 116.3, 103.5])}}, path)
    with pytest.raises(CheckpointError, match="pixel means"):
        retinanet_from_checkpoint(path, 4)
    torch.save({"model": {}}, path)
    with pytest.raises(CheckpointError, match="no weights"):
        retinanet_from_checkpoint(path, 4)


def test_anchors_are_detectron2s() -> None:
    """Values of `DefaultAnchorGenerator` for 32-pixel anchors: sizes 32, 40.3, 50.8, each at ratios 1:2, 1:1, 2:1."""
    anchors = level_anchors(0, 2, 2)
    assert anchors.shape == (36, 4)
    assert anchors[0].tolist() == pytest.approx([-22.6274, -11.3137, 22.6274, 11.3137], abs=1e-3)
    assert anchors[1].tolist() == pytest.approx([-16, -16, 16, 16])
    assert anchors[3].tolist() == pytest.approx([-28.5088, -14.2544, 28.5088, 14.2544], abs=1e-3)
    assert (anchors[9] - anchors[0]).tolist() == pytest.approx([8, 0, 8, 0])
    assert (anchors[18] - anchors[0]).tolist() == pytest.approx([0, 8, 0, 8])


def test_offsets_move_and_scale_anchors() -> None:
    anchors = torch.tensor([[0.0, 0.0, 10.0, 20.0]] * 2)
    moved = moved_anchors(anchors, torch.tensor([[0.1, 0.0, 0.0, 0.0], [0.0, 0.0, math.log(2), 99.0]]))
    assert moved[0].tolist() == pytest.approx([1, 0, 11, 20])
    assert moved[1].tolist() == pytest.approx([-5, 10 - 625, 15, 10 + 625])


def test_figures_are_scaled_to_800_pixels_bgr_and_padded() -> None:
    pixels = np.zeros((100, 150, 3), np.uint8)
    pixels[:, :, 0] = 200
    batch, size = retinanet_input(pixels)
    assert size == (1200, 800)
    assert batch.shape == (1, 3, 800, 1216)
    assert batch[0, 2, 0, 0].item() == pytest.approx(200 - 123.675, abs=0.01)
    assert batch[0, :, 0, 1210].abs().max() == 0
    assert retinanet_input(np.zeros((100, 400, 3), np.uint8))[1] == (1333, 333)
