"""The configuration beside a checkpoint is followed or refused, and never run; no PyTorch needed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import yaml

from pmo_assets.pipeline.detection.networks.retinanet_config import (
    CheckpointError,
    RetinaNetOptions,
    config_files,
    retinanet_options,
)

MODEL_ZOO = """
MODEL:
  META_ARCHITECTURE: "RetinaNet"
  BACKBONE:
    NAME: "build_retinanet_resnet_fpn_backbone"
  RESNETS:
    OUT_FEATURES: ["res3", "res4", "res5"]
  ANCHOR_GENERATOR:
    SIZES: !!python/object/apply:eval ["[[x, x * 2**(1.0/3), x * 2**(2.0/3) ] for x in [32, 64, 128, 256, 512 ]]"]
  FPN:
    IN_FEATURES: ["res3", "res4", "res5"]
  RETINANET:
    SMOOTH_L1_LOSS_BETA: 0.0
DATASETS:
  TRAIN: ("coco_2017_train",)
VERSION: 2
"""
"""As Detectron2's model zoo states its RetinaNets, with a tag that Detectron2 evaluates."""


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    """A file of weights in a folder of its own; what it holds does not matter here."""
    path = tmp_path / "panels" / "model_final.pth"
    path.parent.mkdir()
    path.touch()
    return path


def written(checkpoint: Path, text: str, name: str = "config.yaml") -> Path:
    path = checkpoint.parent / name
    path.write_text(text)
    return path


def test_without_a_configuration_the_papers_values_hold(checkpoint: Path) -> None:
    options = retinanet_options(checkpoint, 2)
    assert options == RetinaNetOptions()
    assert (options.nms_iou, options.detections) == (0.1, 60)
    assert (options.score_threshold, options.candidates) == (0.05, 1000)
    assert (options.short_side, options.long_side, options.channels) == (800, 1333, "BGR")
    assert config_files(checkpoint) == ()


def test_what_the_configuration_says_is_taken(checkpoint: Path) -> None:
    written(
        checkpoint,
        yaml.safe_dump(
            {
                "VERSION": 2,
                "MODEL": {
                    "PIXEL_MEAN": [123.675, 116.28, 103.53],
                    "PIXEL_STD": [1.0, 1.0, 1.0],
                    "RETINANET": {
                        "NUM_CLASSES": 2,
                        "SCORE_THRESH_TEST": 0.01,
                        "TOPK_CANDIDATES_TEST": 500,
                        "NMS_THRESH_TEST": 0.3,
                    },
                },
                "INPUT": {"FORMAT": "RGB", "MIN_SIZE_TEST": 640, "MAX_SIZE_TEST": 1000},
                "TEST": {"DETECTIONS_PER_IMAGE": 80},
                "SOLVER": {"MAX_ITER": 100000},
            }
        ),
    )
    assert retinanet_options(checkpoint, 2) == RetinaNetOptions(
        0.01, 500, 0.3, 80, 640, 1000, "RGB", (123.675, 116.28, 103.53)
    )


def test_what_it_leaves_open_is_detectron2s_default(checkpoint: Path) -> None:
    written(checkpoint, "MODEL: {RETINANET: {SCORE_THRESH_TEST: 0.1}}")
    options = retinanet_options(checkpoint, 2)
    assert (options.score_threshold, options.nms_iou, options.detections) == (0.1, 0.5, 100)


def test_two_checkpoints_in_one_folder_have_configurations_of_their_name(checkpoint: Path) -> None:
    written(checkpoint, "MODEL: {RETINANET: {NUM_CLASSES: 4}}")
    with pytest.raises(CheckpointError, match=r"4 classes.*model_final\.yaml"):
        retinanet_options(checkpoint, 2)
    own = written(checkpoint, "MODEL: {RETINANET: {NUM_CLASSES: 2, NMS_THRESH_TEST: 0.2}}", "model_final.yaml")
    assert retinanet_options(checkpoint, 2).nms_iou == 0.2
    assert config_files(checkpoint) == (own,)


def test_the_model_zoos_own_files_are_understood(checkpoint: Path) -> None:
    base = written(checkpoint, MODEL_ZOO, "../Base-RetinaNet.yaml")
    top = written(checkpoint, '_BASE_: "../Base-RetinaNet.yaml"\nMODEL: {RESNETS: {DEPTH: 50}}\nTEST: {AUG: {}}\n')
    assert retinanet_options(checkpoint, 2).nms_iou == 0.5
    assert [path.resolve() for path in config_files(checkpoint)] == [top.resolve(), base.resolve()]


def test_the_upper_file_wins_over_the_one_it_builds_on(checkpoint: Path) -> None:
    written(checkpoint, "TEST: {DETECTIONS_PER_IMAGE: 10}\nMODEL: {RETINANET: {NMS_THRESH_TEST: 0.4}}", "base.yaml")
    written(checkpoint, "_BASE_: base.yaml\nTEST: {DETECTIONS_PER_IMAGE: 20}")
    options = retinanet_options(checkpoint, 2)
    assert (options.detections, options.nms_iou) == (20, 0.4)


@pytest.mark.parametrize(
    "stated",
    [
        "MODEL: {PIXEL_STD: '(1.0, 1.0, 1.0)'}",
        "MODEL: {PIXEL_STD: !!python/tuple [1.0, 1.0, 1.0]}",
        "MODEL: {RETINANET: {SCORE_THRESH_TEST: 1e-05}}",
        "MODEL: {RESNETS: {NORM: BN}}",
        "MODEL: {ANCHOR_GENERATOR: {ASPECT_RATIOS: [[0.5, 1.0, 2.0]], OFFSET: 0.0}}",
        "MODEL: {RETINANET: {BBOX_REG_WEIGHTS: !!python/tuple [1.0, 1.0, 1.0, 1.0]}}",
        "MODEL: {DEVICE: !!python/name:os.system }",
        "MODEL: {1: 2}",
    ],
)
def test_detectron2s_ways_of_writing_are_understood(checkpoint: Path, stated: str) -> None:
    written(checkpoint, stated)
    assert retinanet_options(checkpoint, 2).nms_iou == 0.5


@pytest.mark.parametrize(
    ("stated", "reason"),
    [
        ("MODEL: {META_ARCHITECTURE: GeneralizedRCNN}", "META_ARCHITECTURE is 'GeneralizedRCNN'"),
        ("MODEL: {BACKBONE: {NAME: build_retinanet_swint_fpn_backbone}}", "MODEL.BACKBONE.NAME"),
        ("MODEL: {RESNETS: {DEPTH: 101}}", "MODEL.RESNETS.DEPTH is 101"),
        ("MODEL: {RESNETS: {STRIDE_IN_1X1: false}}", "STRIDE_IN_1X1 is False"),
        ("MODEL: {RESNETS: {RES5_DILATION: 2}}", "RES5_DILATION is 2"),
        ("MODEL: {RESNETS: {DEFORM_ON_PER_STAGE: [false, false, true, true]}}", "DEFORM_ON_PER_STAGE"),
        ("MODEL: {FPN: {FUSE_TYPE: avg}}", "FUSE_TYPE is 'avg'"),
        ("MODEL: {ANCHOR_GENERATOR: {SIZES: [[16], [32], [64], [128], [256]]}}", "anchors of this network"),
        ("MODEL: {ANCHOR_GENERATOR: {SIZES: !!python/object/apply:eval ['[[1, 2, 3]] * 5']}}", "SIZES is !!python"),
        ("MODEL: {ANCHOR_GENERATOR: {ASPECT_RATIOS: [[1.0, 2.0, 3.0]]}}", "ratios"),
        ("MODEL: {ANCHOR_GENERATOR: {OFFSET: 0.5}}", "OFFSET is 0.5"),
        ("MODEL: {PIXEL_STD: [57.375, 57.12, 58.395]}", "PIXEL_STD.*pixels are not scaled"),
        ("MODEL: {PIXEL_MEAN: [.nan, 1, 1]}", "PIXEL_MEAN"),
        ("MODEL: {RETINANET: {NMS_THRESH_TEST: 1.5}}", "NMS_THRESH_TEST is 1.5"),
        ("MODEL: {RETINANET: {NMS_THRESH_TEST: much}}", "NMS_THRESH_TEST is 'much'"),
        ("MODEL: {RETINANET: {NUM_CLASSES: 80}}", "describes 80 classes, model_final.pth is to have 2"),
        ("TEST: {DETECTIONS_PER_IMAGE: 0}", "DETECTIONS_PER_IMAGE is 0"),
        ("INPUT: {MIN_SIZE_TEST: 0}", "MIN_SIZE_TEST is 0"),
        ("INPUT: {FORMAT: L}", "INPUT.FORMAT is 'L'"),
        ("VERSION: 1\nMODEL: {}", "VERSION is 1"),
        ("MODEL: [1, 2]", "MODEL is"),
        ("model: {_target_: detectron2.modeling.RetinaNet}", "no configuration of Detectron2"),
        ("just a text", "no configuration of Detectron2"),
        ("", "no configuration of Detectron2"),
        ("MODEL: {", r"config\.yaml is no YAML"),
        ("[" * 5000, "no YAML"),
        ("_BASE_: https://example.org/base.yaml\nMODEL: {}", "_BASE_ names no file"),
        ("_BASE_: absent.yaml\nMODEL: {}", r"absent\.yaml is no file"),
        ("_BASE_: config.yaml\nMODEL: {}", "build on each other"),
    ],
)
def test_what_cannot_be_run_is_refused_with_its_reason(checkpoint: Path, stated: str, reason: str) -> None:
    written(checkpoint, stated)
    with pytest.raises(CheckpointError, match=reason) as caught:
        retinanet_options(checkpoint, 2)
    assert "config.yaml" in str(caught.value) or "absent.yaml" in str(caught.value)
    assert config_files(checkpoint), "it counts for staleness all the same"


def test_a_configuration_is_never_run(checkpoint: Path, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    for tag in ("object/apply:os.system", "object/new:os.system"):
        written(checkpoint, f"TEST: {{A: !!python/{tag} ['touch {trace}']}}\nMODEL: {{}}")
        assert retinanet_options(checkpoint, 2).nms_iou == 0.5
    written(checkpoint, f"MODEL: {{RETINANET: {{NMS_THRESH_TEST: \"open('{trace}', 'w') or 0.5\"}}}}")
    with pytest.raises(CheckpointError, match="NMS_THRESH_TEST"):
        retinanet_options(checkpoint, 2)
    assert not trace.exists()


def test_what_is_no_readable_file_is_refused(checkpoint: Path) -> None:
    path = checkpoint.with_name("config.yaml")
    path.write_bytes(b"\xff\xfe\x00MODEL")
    with pytest.raises(CheckpointError, match="no YAML"):
        retinanet_options(checkpoint, 2)
    path.write_bytes(b"#" * 2**21)
    with pytest.raises(CheckpointError, match="no file of at most"):
        retinanet_options(checkpoint, 2)
    path.unlink()
    path.mkdir()
    with pytest.raises(CheckpointError, match="no file of at most"):
        retinanet_options(checkpoint, 2)
    path.rmdir()
    if hasattr(os, "mkfifo"):  # reading it would wait for ever
        os.mkfifo(path)
        with pytest.raises(CheckpointError, match="no file of at most"):
            retinanet_options(checkpoint, 2)


def test_a_configuration_of_aliases_of_aliases_is_refused_in_few_words(checkpoint: Path) -> None:
    levels = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    levels += [f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 10)}]" for k in range(1, 14)]
    written(checkpoint, "\n".join([*levels, "MODEL: {RETINANET: {NUM_CLASSES: *a13}}"]))
    with pytest.raises(CheckpointError) as caught:
        retinanet_options(checkpoint, 2)
    assert len(str(caught.value)) < 1000
