"""Checkpoints in Detectron2's format load name by name; anything else is refused with a reason."""

from __future__ import annotations

import math
import pickle
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="the extra `models` (PyTorch) is not installed: make test-models")

from torch import Tensor, nn  # noqa: E402

from pmo_assets.pipeline.detection.detect import detect_images, detect_panels  # noqa: E402
from pmo_assets.pipeline.detection.detector_set import detector_set  # noqa: E402
from pmo_assets.pipeline.detection.networks.d2_checkpoint import (  # noqa: E402
    checkpoint_tensors,
    retinanet_from_checkpoint,
)
from pmo_assets.pipeline.detection.networks.network_boxes import ClassBoxes  # noqa: E402
from pmo_assets.pipeline.detection.networks.retinanet import (  # noqa: E402
    STRIDES,
    RetinaNet,
    TorchNetwork,
    folded,
    input_size,
    level_anchors,
    moved_anchors,
    retinanet_boxes,
    retinanet_input,
)
from pmo_assets.pipeline.detection.networks.retinanet_config import CheckpointError, RetinaNetOptions  # noqa: E402
from pmo_assets.pipeline.detection.networks.retinanet_detectors import Runtime, loaded_network  # noqa: E402
from pmo_assets.records.detections import FigureView  # noqa: E402
from pmo_assets.records.stores import SystemicError  # noqa: E402
from pmo_assets_tests.examples import examples  # noqa: E402

needs_detectron2 = pytest.mark.skipif(find_spec("detectron2") is None, reason="Detectron2 is not installed")
RUNTIMES = [pytest.param(name, marks=[needs_detectron2] * (name == "detectron2")) for name in get_args(Runtime)]


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


@lru_cache(maxsize=2)
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


def spoilt(name: str, change: Callable[[Tensor], Tensor]) -> dict[str, Tensor]:
    """Weights of two classes of which one is changed."""
    weights = {key: torch.from_numpy(value) for key, value in generated(2).items()}
    weights[name] = change(weights.get(name, torch.ones(3, 1, 1)))
    return weights


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize(
    ("name", "change", "reason"),
    [
        ("head.cls_score.weight", lambda x: torch.cat([x, x]), r"head\.cls_score\.weight has shape \(36, 256, 3, 3\)"),
        ("head.cls_subnet.1.weight", lambda x: x, "unknown"),
        ("head.bbox_pred.bias", lambda x: x * math.nan, r"head\.bbox_pred\.bias is not finite"),
        ("backbone.fpn_output4.weight", lambda x: x / 0, "is not finite"),
        ("backbone.bottom_up.res4.5.conv2.norm.running_var", lambda x: -x, "is negative"),
        ("pixel_std", lambda x: x * 57.375, r"pixel_std \[57\.375"),
        ("pixel_std", lambda x: torch.ones(1), r"pixel_std \[1\.0\]"),
        ("pixel_mean", lambda x: x * 127.5, r"pixel_mean \[127\.5"),
    ],
)
def test_weights_of_another_network_fail_the_batch(
    tmp_path: Path, runtime: Runtime, name: str, change: Callable[[Tensor], Tensor], reason: str
) -> None:
    path = tmp_path / "panels.pth"
    torch.save({"model": spoilt(name, change)}, path)
    detectors = detector_set("network", panel_checkpoint=path, runtime=runtime)
    with pytest.raises(SystemicError, match=reason):
        detect_panels(FigureView(np.zeros((30, 300, 3), np.uint8)), detectors.panels)


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("suffix", [".pth", ".pkl"])
@pytest.mark.parametrize(
    "content", [b"epoch 1: loss 0.3\n", b"{}", b"", b"PK\x03\x04", b"\x80\x02]q\x00.", b"version https://git-lfs"]
)
def test_a_file_that_holds_no_weights_fails_the_batch(
    tmp_path: Path, runtime: Runtime, suffix: str, content: bytes
) -> None:
    path = tmp_path / f"panels{suffix}"
    path.write_bytes(content)
    detectors = detector_set("network", panel_checkpoint=path, runtime=runtime)
    with pytest.raises(SystemicError, match="panels"):
        detect_panels(FigureView(np.zeros((30, 300, 3), np.uint8)), detectors.panels)


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_a_damaged_copy_fails_the_batch(checkpoint: Path, tmp_path: Path, runtime: Runtime) -> None:
    path = tmp_path / "panels.pth"
    path.write_bytes(checkpoint.read_bytes()[:100_000])
    with pytest.raises(SystemicError, match="panels"):
        loaded_network(path, 2, "cpu", runtime)


def test_weights_that_overflow_fail_the_batch() -> None:
    model = RetinaNet(2)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.fill_(1e20)
    with pytest.raises(CheckpointError, match="no finite numbers"):
        TorchNetwork(model)


SMALL = RetinaNetOptions(0.03, 800, 0.9, 90, 96, 200, "RGB", (123.675, 116.28, 103.53))
"""Options that all differ from the usual ones, with an input that takes little time."""

SMALL_CONFIG = """
MODEL:
  PIXEL_MEAN: [123.675, 116.28, 103.53]
  RETINANET: {NUM_CLASSES: 2, SCORE_THRESH_TEST: 0.03, TOPK_CANDIDATES_TEST: 800, NMS_THRESH_TEST: 0.9}
INPUT: {FORMAT: RGB, MIN_SIZE_TEST: 96, MAX_SIZE_TEST: 200}
TEST: {DETECTIONS_PER_IMAGE: 90}
"""


@pytest.fixture
def small_checkpoint(tmp_path: Path) -> Path:
    """A checkpoint with a configuration beside it."""
    path = tmp_path / "panels.pth"
    weights = {name: torch.from_numpy(value) for name, value in generated(2).items()}
    for name in ("head.cls_score.weight", "head.bbox_pred.weight"):  # scores below 1: equal ones have no order
        weights[name] = weights[name] * 0.03
    torch.save(weights, path)
    path.with_name("config.yaml").write_text(SMALL_CONFIG)
    return path


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_the_configuration_beside_a_checkpoint_is_followed(small_checkpoint: Path, runtime: Runtime) -> None:
    model = retinanet_from_checkpoint(small_checkpoint, 2, SMALL)
    network = loaded_network(small_checkpoint, 2, "cpu", runtime)
    for seed, wide in enumerate((20, 80, 300)):
        picture = np.random.default_rng(seed).integers(0, 256, (60, wide, 3), dtype=np.uint8)
        picture[10:40, 5:15] //= 4
        (found,) = network([picture])
        (expected,) = retinanet_boxes(model, [picture], SMALL)
        (other,) = retinanet_boxes(model, [picture], replace(SMALL, channels="BGR"))
        assert len(found.boxes) > 5
        assert found.classes.tolist() == expected.classes.tolist()
        assert found.scores == pytest.approx(expected.scores, abs=1e-4)
        assert found.boxes == pytest.approx(expected.boxes, abs=1e-3)
        assert other.scores.tolist() != pytest.approx(expected.scores.tolist(), abs=1e-4)


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_a_configuration_that_does_not_fit_fails_the_batch(small_checkpoint: Path, runtime: Runtime) -> None:
    detectors = detector_set("network", panel_checkpoint=small_checkpoint, runtime=runtime)
    small_checkpoint.with_name("config.yaml").write_text("MODEL: {RESNETS: {DEPTH: 101}}")
    with pytest.raises(SystemicError, match="DEPTH is 101"):
        detect_panels(FigureView(np.zeros((30, 300, 3), np.uint8)), detectors.panels)


@pytest.fixture
def broken_detectron2(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package `detectron2` in front of any other, in a folder to which its `engine` is written."""
    package = tmp_path / "site" / "detectron2"
    (package / "config").mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "config" / "__init__.py").write_text("def get_cfg(): ...\n")
    for name in [name for name in sys.modules if name.split(".")[0] == "detectron2"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.syspath_prepend(tmp_path / "site")
    yield package
    for name in [name for name in sys.modules if name.split(".")[0] == "detectron2"]:
        del sys.modules[name]


@pytest.mark.parametrize(
    "failure",
    [
        "import pkg_resources_of_old",
        "raise OSError('libtorch_cuda.so: cannot open shared object file')",
        "raise AttributeError('module PIL.Image has no attribute LINEAR')",
        "raise Exception('Could not deserialize ATN with version 3 (expected 4).')",
        "class DefaultPredictor:\n    def __init__(self, settings): raise RuntimeError('operator torchvision::nms')",
    ],
)
def test_a_detectron2_that_does_not_work_fails_the_batch(
    checkpoint: Path, broken_detectron2: Path, monkeypatch: pytest.MonkeyPatch, failure: str
) -> None:
    (broken_detectron2 / "engine.py").write_text(failure)
    if "class" in failure:
        monkeypatch.setattr(
            "pmo_assets.pipeline.detection.networks.d2_checkpoint._detectron2_settings", lambda *_: None
        )
    loaded_network.cache_clear()
    detectors = detector_set("network", panel_checkpoint=checkpoint, runtime="detectron2")
    with pytest.raises(SystemicError, match=r"cannot be loaded.*PMO_DETECTOR_RUNTIME=torch"):
        detect_panels(FigureView(np.zeros((30, 300, 3), np.uint8)), detectors.panels)


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
from pmo_assets.pipeline.detection.networks.retinanet import RetinaNet, TorchNetwork

torch.set_num_threads(1)
torch.manual_seed(0)
pictures = list(np.random.default_rng(0).integers(0, 256, (4, 40, 400, 3), dtype=np.uint8))
network = TorchNetwork(RetinaNet(2), batch_size=4)
network(pictures[:1])
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
limit = int(status["VmSize"].split()[0]) * 1024 + 150 * 2**20
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
    torch.save({"model": {"a": Evil()}}, bad.with_suffix(".pth"))
    for path in (bad, bad.with_suffix(".pth")):
        with pytest.raises(CheckpointError, match=r"wants to load .*print") as caught:
            checkpoint_tensors(path)
        told = "".join(traceback.format_exception(caught.value))
        assert "weights_only" not in told, "PyTorch advises to load the code all the same"
        assert "safe_globals" not in told


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
    with pytest.raises(CheckpointError, match=r"pixel_mean \[123\.7, 116\.3, 103\.5\], run with \[103\.53"):
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


def detectron2s_size(wide: int, tall: int) -> tuple[int, int]:
    """Size (width, height) of the input, transcribed from `ResizeShortestEdge.get_output_shape`."""
    scale = 800.0 / min(tall, wide)
    height, width = (800.0, scale * wide) if tall < wide else (scale * tall, 800.0)
    if max(height, width) > 1333:
        scale = 1333.0 / max(height, width)
        height, width = height * scale, width * scale
    return max(1, int(width + 0.5)), max(1, int(height + 0.5))


@given(st.integers(1, 1500), st.integers(1, 1500))
@examples(2000)
@example(604, 302)
def test_the_input_has_detectron2s_size(wide: int, tall: int) -> None:
    assert input_size(wide, tall)[0] == detectron2s_size(wide, tall)


def test_the_inputs_size_is_rounded_once_per_factor() -> None:
    assert input_size(604, 302) == ((1333, 666), (1344, 672))
    assert all(input_size(k, 2 * k)[0] == detectron2s_size(k, 2 * k) for k in range(1, 1500))


class Answers(nn.Module):
    """A network that gives prepared logits and offsets for pictures of 800 x 800 pixels."""

    def __init__(self, levels: list[tuple[Tensor, Tensor]]) -> None:
        super().__init__()
        self.levels, self.classes = levels, levels[0][0].shape[2]
        self.device = torch.nn.Parameter(torch.zeros(1))

    def forward(self, _: Tensor) -> list[tuple[Tensor, Tensor]]:
        return self.levels


def answers(classes: int) -> list[tuple[Tensor, Tensor]]:
    """Return logits that see nothing, and offsets that leave the anchors where they are."""
    places = [9 * math.ceil(800 / stride) ** 2 for stride in STRIDES]
    return [(torch.full((1, n, classes), -20.0), torch.zeros(1, n, 4)) for n in places]


def see(levels: list[tuple[Tensor, Tensor]], anchor: int, box: tuple[float, ...], score: float, kind: int = 0) -> None:
    """Let the n-th anchor of the last level become a box of the input with a score."""
    logits, offsets = levels[-1]
    at = level_anchors(4, 7, 7)[anchor]
    size, goal = at[2:] - at[:2], torch.tensor(box)
    middle = (goal[:2] + goal[2:]) / 2 - (at[:2] + at[2:]) / 2
    offsets[0, anchor] = torch.cat([middle / size, torch.log((goal[2:] - goal[:2]) / size)])
    logits[0, anchor, kind] = math.log(score / (1 - score))


def seen(levels: list[tuple[Tensor, Tensor]], options: RetinaNetOptions) -> ClassBoxes:
    (found,) = retinanet_boxes(Answers(levels), [np.zeros((800, 800, 3), np.uint8)], options)  # type: ignore[arg-type]
    return found


def test_boxes_are_suppressed_before_they_are_cut_to_the_figure() -> None:
    """Within the figure both are its left half; beyond it they go different ways."""
    levels = answers(1)
    see(levels, 0, (-800, 0, 400, 800), 0.9)
    see(levels, 1, (0, -1600, 400, 800), 0.8)
    found = seen(levels, RetinaNetOptions(nms_iou=0.5))
    assert found.scores == pytest.approx([0.9, 0.8])
    assert found.boxes == pytest.approx(np.asarray([[0, 0, 0.5, 1]] * 2), abs=1e-4)


def test_boxes_beside_the_figure_take_places_and_are_dropped() -> None:
    levels = answers(2)
    see(levels, 0, (-200, 100, -10, 300), 0.999)
    see(levels, 1, (100, 100, 300, 300), 0.9, 1)
    see(levels, 2, (400, 400, 500, 500), 0.8)
    found = seen(levels, RetinaNetOptions(detections=2))
    assert found.scores == pytest.approx([0.9])
    assert found.classes.tolist() == [1]
    assert len(seen(levels, RetinaNetOptions(detections=3)).boxes) == 2


def overlap(a: list[float], b: list[float]) -> float:
    common = max(0, min(a[2], b[2]) - max(a[0], b[0])) * max(0, min(a[3], b[3]) - max(a[1], b[1]))
    union = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - common
    return common / union


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.1, 0.5]), st.integers(1, 40))
@examples(30)
def test_boxes_are_chosen_in_detectron2s_order(seed: int, iou: float, most: int) -> None:
    """Transcribed: best first within a class, drop what overlaps; keep the best; cut to the figure; drop the empty."""
    rng, levels = np.random.default_rng(seed), answers(2)
    made = []
    for anchor in range(60):
        left, top = rng.uniform(-300, 900, 2)
        box = (left, top, left + rng.uniform(10, 500), top + rng.uniform(10, 500))
        made.append((float(rng.uniform(0.1, 0.99)), int(rng.integers(2)), [float(x) for x in box]))
        see(levels, anchor, box, made[-1][0], made[-1][1])
    kept: list[tuple[float, int, list[float]]] = []
    for score, kind, corners in sorted(made, reverse=True):
        if all(k != kind or overlap(corners, b) <= iou for _, k, b in kept):
            kept.append((score, kind, corners))
    shown = [(score, kind, np.clip(np.asarray(box) / 800, 0, 1)) for score, kind, box in kept[:most]]
    shown = [(score, kind, box) for score, kind, box in shown if box[2] > box[0] and box[3] > box[1]]
    found = seen(levels, RetinaNetOptions(nms_iou=iou, detections=most))
    assert found.classes.tolist() == [kind for _, kind, _ in shown]
    assert found.scores == pytest.approx([score for score, _, _ in shown], abs=1e-5)
    assert found.boxes == pytest.approx(np.asarray([box for _, _, box in shown]).reshape(-1, 4), abs=1e-4)


def test_figures_are_scaled_to_800_pixels_bgr_and_padded() -> None:
    pixels = np.zeros((100, 150, 3), np.uint8)
    pixels[:, :, 0] = 200
    batch, size = retinanet_input(pixels)
    assert size == (1200, 800)
    assert batch.shape == (1, 3, 800, 1216)
    assert batch[0, 2, 0, 0].item() == pytest.approx(200 - 123.675, abs=0.01)
    assert batch[0, :, 0, 1210].abs().max() == 0
    assert retinanet_input(np.zeros((100, 400, 3), np.uint8))[1] == (1333, 333)
