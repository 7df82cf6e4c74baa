"""Options that a RetinaNet was trained to run with: Detectron2's `config.yaml` beside the checkpoint, else the paper's.

A checkpoint holds weights, not how pictures are scaled or boxes chosen; Detectron2 writes that into `config.yaml` when
it trains. The file is data here: Detectron2 itself runs what its tags name. Whatever the file says that changes a
result is either followed (`RetinaNetOptions`) or compared with the network that is built here, and refused when it
differs. No PyTorch needed.
"""

from __future__ import annotations

import ast
import reprlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import yaml
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from pmo_assets.records.stores import SystemicError

PIXEL_MEAN = (103.53, 116.28, 123.675)
"""Means of blue, green and red that are subtracted from the pixels (0..255): Detectron2's default."""

PIXEL_STD = (1.0, 1.0, 1.0)
"""Caffe-style weights hold the scale of the pixels themselves; other values go with weights of another ResNet."""

ANCHOR_SIZES = tuple(tuple(x * 2 ** (k / 3) for k in range(3)) for x in (32, 64, 128, 256, 512))
ASPECT_RATIOS = (0.5, 1.0, 2.0)

CONFIG_FILE = "config.yaml"
"""Name under which Detectron2 saves the configuration beside the checkpoints of a training."""

LARGEST_CONFIG = 2**20
"""Bytes; a whole configuration has ten thousand."""

DEEPEST_BASE = 8
"""So many files may build on each other by `_BASE_`."""

ANCHORS_AS_CODE = "[[x,x*2**(1.0/3),x*2**(2.0/3)]forxin[32,64,128,256,512]]"
"""The expression by which Detectron2's `Base-RetinaNet.yaml` writes `ANCHOR_SIZES`, without its blanks."""


class CheckpointError(SystemicError):
    """A checkpoint or its configuration that cannot be run as RetinaNet-R50-FPN; the message names the difference."""


@dataclass(frozen=True, slots=True)
class RetinaNetOptions:
    """Options of running a RetinaNet; the defaults are the paper's training configuration.

    Attributes:
        score_threshold: weaker candidates are dropped.
        candidates: so many of the best per pyramid level go into the suppression.
        nms_iou: of two boxes of one class that overlap more, the weaker one is dropped.
        detections: so many of the best boxes are kept.
        short_side: pixels to which a figure's short side is scaled …
        long_side: … unless the long one would then exceed this.
        channels: order of the colours in the input.
        pixel_mean: subtracted from the pixels (0..255), in the order of `channels`.
    """

    score_threshold: float = 0.05
    candidates: int = 1000
    nms_iou: float = 0.1
    detections: int = 60
    short_side: int = 800
    long_side: int = 1333
    channels: Literal["BGR", "RGB"] = "BGR"
    pixel_mean: tuple[float, float, float] = PIXEL_MEAN


def retinanet_options(checkpoint: Path, classes: int) -> RetinaNetOptions:
    """Return how a checkpoint is to be run, by the configuration beside it; without one, as in the paper.

    A field that a configuration leaves out has Detectron2's default, as when Detectron2 reads it.

    Args:
        checkpoint: its `NAME.yaml` is read for `NAME.pth`, else `config.yaml` in its folder.
        classes: number of classes that are expected.

    Raises:
        CheckpointError: when the file cannot be read, or describes a network or an input that is not built here.
    """
    path = config_beside(checkpoint)
    if path is None:
        return RetinaNetOptions()
    values: dict[str, Any] = {}
    for _, layer in _layers(path):
        values = _merged(layer, values)
    if not {"MODEL", "INPUT", "TEST"} & set(values):
        raise CheckpointError(f"{path} is no configuration of Detectron2 (MODEL, INPUT, TEST …): {_REMEDY}")
    try:
        config = _Config.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"] if isinstance(part, str))
        told = reprlib.repr(first["input"])[:100]  # aliases may make it astronomically long
        raise CheckpointError(f"{path}: {place} is {told}: {first['msg']}; {_REMEDY}") from None
    stated = config.MODEL.RETINANET.NUM_CLASSES
    if stated is not None and stated != classes:
        raise CheckpointError(
            f"{path} describes {stated} classes, {checkpoint.name} is to have {classes}: {_REMEDY}; configurations of "
            f"two checkpoints in one folder are named like these, here {checkpoint.with_suffix('.yaml').name}"
        )
    net = config.MODEL.RETINANET
    return RetinaNetOptions(
        score_threshold=net.SCORE_THRESH_TEST,
        candidates=net.TOPK_CANDIDATES_TEST,
        nms_iou=net.NMS_THRESH_TEST,
        detections=config.TEST.DETECTIONS_PER_IMAGE,
        short_side=config.INPUT.MIN_SIZE_TEST,
        long_side=config.INPUT.MAX_SIZE_TEST,
        channels=config.INPUT.FORMAT,
        pixel_mean=config.MODEL.PIXEL_MEAN,
    )


_REMEDY = "put the configuration there that was written when the checkpoint was trained"


def config_beside(checkpoint: Path) -> Path | None:
    """Return the configuration that belongs to a checkpoint; None when there is none."""
    for path in (checkpoint.with_suffix(".yaml"), checkpoint.with_name(CONFIG_FILE)):
        if path.exists():
            return path
    return None


def config_files(checkpoint: Path) -> tuple[Path, ...]:
    """Return the files on which `retinanet_options` depends besides the checkpoint, also when it refuses them."""
    path = config_beside(checkpoint)
    if path is None:
        return ()
    found = [path]
    with suppress(CheckpointError):  # it is said when the checkpoint is loaded
        found += [base for base, _ in _layers(path) if base != path]
    return tuple(found)


def _layers(path: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Give a configuration, the file it builds on (`_BASE_`), and so on, each with its values."""
    for _ in range(DEEPEST_BASE):
        values = _content(path)
        base = values.pop("_BASE_", None)
        yield path, values
        if base is None:
            return
        if not isinstance(base, str) or "://" in base:
            raise CheckpointError(f"{path}: _BASE_ names no file: {_REMEDY}")
        path = path.parent / Path(base).expanduser()
    raise CheckpointError(f"{path}: more than {DEEPEST_BASE} configurations build on each other")


def _content(path: Path) -> dict[str, Any]:
    try:
        if not path.is_file() or path.stat().st_size > LARGEST_CONFIG:
            raise CheckpointError(f"{path} is no file of at most {LARGEST_CONFIG} bytes: {_REMEDY}")
        # A tag that names Python code is not followed but kept as `_Code`, and refused only where the value counts.
        values = yaml.load(path.read_text(encoding="utf-8"), Loader=_DataLoader)
    except OSError as error:
        raise CheckpointError(f"{path} cannot be read: {error.strerror}") from error
    except yaml.MarkedYAMLError as error:
        line = f" in line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise CheckpointError(f"{path} is no YAML: {error.problem}{line}") from None
    except (yaml.YAMLError, ValueError, TypeError, RecursionError, OverflowError) as error:
        raise CheckpointError(f"{path} is no YAML: {type(error).__name__}") from None
    if not isinstance(values, dict):
        raise CheckpointError(f"{path} is no configuration of Detectron2 (MODEL, INPUT, TEST …): {_REMEDY}")
    return values


def _merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    result = dict(below)
    for key, value in above.items():
        under = result.get(key)
        result[key] = _merged(under, value) if isinstance(under, dict) and isinstance(value, dict) else value
    return result


@dataclass(frozen=True, slots=True)
class _Code:
    """A value that Detectron2 would compute by running code."""

    tag: str
    text: str = ""

    def __repr__(self) -> str:
        return f"{self.tag} {self.text}".strip()


class _DataLoader(yaml.SafeLoader):  # type: ignore[misc]
    """YAML as data: tuples become lists, whatever else would be Python objects becomes `_Code`."""


def _unread(loader: yaml.SafeLoader, suffix: str, node: yaml.Node) -> Any:
    if suffix == "tuple" and isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    inner = node.value[0] if isinstance(node, yaml.SequenceNode) and len(node.value) == 1 else node
    return _Code(f"!!python/{suffix}", inner.value if isinstance(inner, yaml.ScalarNode) else "")


_DataLoader.add_multi_constructor("tag:yaml.org,2002:python/", _unread)
_DataLoader.add_constructor(None, lambda _, node: _Code(str(node.tag)))


def _literal(value: object) -> object:
    """Return the value that a text stands for: as Detectron2 does it, "(1.0, 1.0)" are two numbers and 1e-05 is one."""
    if isinstance(value, str) and len(value) <= 1000:
        try:
            return ast.literal_eval(value)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            return value
    return value


def _anchors_from_code(value: object) -> object:
    if isinstance(value, _Code) and "".join(value.text.split()) == ANCHORS_AS_CODE:
        return ANCHOR_SIZES
    return value


def _sizes(value: list[list[float]]) -> list[list[float]]:
    if [len(sizes) for sizes in value] != [3] * 5 or not np.allclose(value, ANCHOR_SIZES, rtol=1e-4):
        raise ValueError("the anchors of this network are 32 to 512 pixels, three sizes per level")
    return value


def _ratios(value: list[list[float]]) -> list[list[float]]:
    if len(value) not in (1, 5) or any(tuple(ratios) != ASPECT_RATIOS for ratios in value):
        raise ValueError(f"the anchors of this network have the ratios {ASPECT_RATIOS}")
    return value


def _no_scale(value: tuple[float, float, float]) -> tuple[float, float, float]:
    if value != PIXEL_STD:
        raise ValueError("only caffe-style weights are run, whose pixels are not scaled: 1.0 for every colour")
    return value


class _Section(BaseModel):
    """Part of a configuration: `Literal` is what the network here is, other types are followed."""

    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _decoded(cls, values: object) -> object:
        if not isinstance(values, dict):
            return values
        return {str(key): _literal(value) for key, value in values.items()}


_Share = Annotated[float, Field(ge=0, le=1)]
_Count = Annotated[int, Field(ge=1)]
_Colours = tuple[float, float, float]
_Stages = tuple[Literal["res3"], Literal["res4"], Literal["res5"]]
_STAGES: _Stages = ("res3", "res4", "res5")


class _Backbone(_Section):
    NAME: Literal["build_retinanet_resnet_fpn_backbone"] = "build_retinanet_resnet_fpn_backbone"


class _ResNets(_Section):
    DEPTH: Literal[50] = 50
    OUT_FEATURES: _Stages = _STAGES
    NUM_GROUPS: Literal[1] = 1
    NORM: Literal["FrozenBN", "BN", "SyncBN"] = "FrozenBN"  # the same once it is trained
    WIDTH_PER_GROUP: Literal[64] = 64
    STRIDE_IN_1X1: Literal[True] = True
    RES5_DILATION: Literal[1] = 1
    RES2_OUT_CHANNELS: Literal[256] = 256
    STEM_OUT_CHANNELS: Literal[64] = 64
    DEFORM_ON_PER_STAGE: tuple[Literal[False], ...] = ()


class _Pyramid(_Section):
    IN_FEATURES: _Stages = _STAGES
    OUT_CHANNELS: Literal[256] = 256
    NORM: Literal[""] = ""
    FUSE_TYPE: Literal["sum"] = "sum"


class _Anchors(_Section):
    NAME: Literal["DefaultAnchorGenerator"] = "DefaultAnchorGenerator"
    SIZES: Annotated[list[list[float]], BeforeValidator(_anchors_from_code), AfterValidator(_sizes)] | None = None
    ASPECT_RATIOS: Annotated[list[list[float]], AfterValidator(_ratios)] | None = None
    OFFSET: Literal[0, 0.0] = 0  # type: ignore[valid-type]


class _RetinaNet(_Section):
    NUM_CLASSES: int | None = None
    IN_FEATURES: tuple[Literal["p3"], Literal["p4"], Literal["p5"], Literal["p6"], Literal["p7"]] | None = None
    NUM_CONVS: Literal[4] = 4
    NORM: Literal[""] = ""
    BBOX_REG_WEIGHTS: tuple[Literal[1], Literal[1], Literal[1], Literal[1]] = (1, 1, 1, 1)
    SCORE_THRESH_TEST: _Share = 0.05
    TOPK_CANDIDATES_TEST: _Count = 1000
    NMS_THRESH_TEST: _Share = 0.5


class _Model(_Section):
    META_ARCHITECTURE: Literal["RetinaNet"] = "RetinaNet"
    PIXEL_MEAN: _Colours = PIXEL_MEAN
    PIXEL_STD: Annotated[_Colours, AfterValidator(_no_scale)] = PIXEL_STD
    BACKBONE: _Backbone = _Backbone()
    RESNETS: _ResNets = _ResNets()
    FPN: _Pyramid = _Pyramid()
    ANCHOR_GENERATOR: _Anchors = _Anchors()
    RETINANET: _RetinaNet = _RetinaNet()


class _Input(_Section):
    FORMAT: Literal["BGR", "RGB"] = "BGR"
    MIN_SIZE_TEST: _Count = 800
    MAX_SIZE_TEST: _Count = 1333


class _Test(_Section):
    DETECTIONS_PER_IMAGE: _Count = 100


class _Config(_Section):
    VERSION: Literal[2] = 2
    MODEL: _Model = _Model()
    INPUT: _Input = _Input()
    TEST: _Test = _Test()
