"""Model cards: description, training data, scores and recipe of a shipped network."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pmo_assets.records.image_types import IMAGE_TYPES
from pmo_assets.training.architectures.recipes import RECIPES
from pmo_assets.training.data.coco import CATEGORIES

POOL = """\
Pictures in the training figures, as far as `pmo train figures` was given them, split by eye, patient or article into
training, validation and test:

| Source | What | Licence |
|---|---|---|
| CHASE_DB1 (Kingston University, data 96), part | colour fundus photographs | CC BY 4.0 |
| IDRiD (IEEE DataPort 10.21227/H25W98), part | colour fundus photographs | CC BY 4.0 |
| HVDROPDB (Mendeley Data), part | colour fundus photographs of prematurity | CC BY 4.0 |
| OCTDL (Mendeley Data), part | OCT B-scans | CC BY 4.0 |
| Foveal avascular zone (Zenodo 10.5281/zenodo.5075194), part | OCT angiography | CC BY 4.0 |
| Open-access articles without retinal pictures | photographs, radiographs, sections (Other) | CC BY |
| PanelSeg (National Library of Medicine) | layouts of real figures: boxes only | – |
| Drawn by `training/synthetic`, `samples` | plots, blots, tables, diagrams, stand-ins | this package |

Grey, inverted and tinted fundus photographs stand in for red-free, autofluorescence, angiography and widefield
pictures."""
"""Sources of the pictures, for the card; SOURCE.txt beside each data set names the origin."""


def _annotated(info: Mapping[str, Any], what: str) -> str:
    """Return the card's paragraph about annotated articles."""
    if info.get("annotated"):
        return f"{info['annotated']:,} {what} of annotated articles were trained on as well."
    return """\
No annotated article was trained on; but the drawings (bars,
thin arrows, masks) and the thresholds of the ensemble were adjusted after looking at failures on annotated articles."""


def _architecture(info: Mapping[str, Any]) -> str:
    name, config = info.get("architecture", "compact"), info["config"]
    if name == "compact":
        widths = list(config["widths"])
        return f"`training/architectures/compact_detector.py`, widths {widths}, pyramid {config['pyramid']}"
    return f"{name}: {RECIPES[name].text} (`training/architectures`)"


def detector_card(info: Mapping[str, Any], test: Mapping[str, Any] | None, size: int) -> str:
    """Return the card of the figure network.

    Args:
        info: facts of its checkpoint: `step`, `architecture`, `config`, `annotated` (figures), `validation` (AP).
        test: AP by category on held-out figures; None when they were not measured.
        size: bytes of the ONNX file.
    """
    names = (*CATEGORIES, "image", "mAP", "mAP75")
    columns = {"validation": info["validation"]} | ({"test": test} if test is not None else {})
    rows = "\n".join(
        f"| {_NAMES.get(name, name)} | " + " | ".join(f"{column[name]:.3f}" for column in columns.values()) + " |"
        for name in names
        if all(name in column for column in columns.values())
    )
    heads = " | ".join(
        f"{part} ({column['figures']} figures)" if "figures" in column else part for part, column in columns.items()
    )
    return f"""\
# Figure network

Finds panels, printed panel identifiers and images ({", ".join(IMAGE_TYPES)}) in a figure in one pass. It works
beside the structural detectors (`detection/fusion`) and is not meant to be used alone.

* Architecture: {_architecture(info)};
  input about 147,000 pixels in one of seven proportions (`detection/networks/input_size.py`);
  ONNX opset 17, {size / 1e6:.1f} MB.
* Trained from {_origin(info)},
  on synthetic figures for {info["step"]:,} steps of {info.get("batch_size", 8)} figures.

## Average precision on synthetic figures

Seeds, pictures and layouts of validation and test figures do not occur in training. IoU 0.5 unless stated.
`pmo train detector` prints the validation, `pmo train export … --data DATA` the test.

| Class | {heads} |
|---|{"---|" * len(columns)}
{rows}

## Data

{POOL} {_annotated(info, "figures")}

## Limits

Very small pictures of a figure may be missed. Images inside diagrams and ultra-widefield pictures are rare in training.
Edges are not exact; the ensemble moves them to the nearest edge of the picture.

## Make it again

    pmo train figures DATA --images IMAGES --articles ARTICLES --annotations ANNOTATIONS --layouts LAYOUTS.csv
    pmo train detector RUN --data DATA{_option(info)}
    pmo train export pmo_assets/weights --detector RUN/best.pt --data DATA
"""


def _origin(info: Mapping[str, Any]) -> str:
    return f"the weights of another network ({info['initial']})" if info.get("initial") else "random weights"


def _initial(info: Mapping[str, Any]) -> str:
    return " --initial WEIGHTS" if info.get("initial") else ""


def _option(info: Mapping[str, Any]) -> str:
    name = info.get("architecture", "compact")
    text = "" if name == "compact" else f" --architecture {name}"
    text += _initial(info)
    return text + (" (and the options that name the annotated figures)" if info.get("annotated") else "")


_NAMES = {"image": "images of any type", "mAP": "mean of the six classes", "mAP75": "mean of the six classes, IoU 0.75"}


def marks_card(info: Mapping[str, Any], size: int) -> str:
    """Return the card of the mark classifier; see `detector_card`."""
    validation = info["validation"]
    real = ""
    if "real_accuracy" in validation:
        real = (
            f"\n* Annotated pictures of real articles, either look, threshold 0.5: accuracy "
            f"{validation['real_accuracy']:.3f}; they were not trained on. The package weighs the looks, and adds the "
            "PDF's vector shapes and the caption's words (`benchmarks/fit_mark_decision.py`)."
        )
    return f"""\
# Mark classifier

Says whether an arrow, arrowhead, circle, box, asterisk or the like points at a region of an image. Scale bars, device
print, axis text and panel identifiers do not count.

* Architecture: `training/architectures/mark_network.py`; input 224 × 224 pixels: a picture as a whole, or four windows
  of it at its own resolution where the first look votes highest; ONNX opset 17, {size / 1e6:.1f} MB.
* Trained from {_origin(info)} for {info["step"]} steps of 32 pictures, drawn while training (`drawn_marks.py`).

## Accuracy

As `pmo train marks` prints them.

* Synthetic pictures of the validation part (half of them marked), either look: {validation["accuracy"]:.3f}.{real}

## Data

{POOL} {_annotated(info, "pictures")}

## Limits

Thin grey arrows on grey scans, and outlines that follow anatomy, are missed most often.

## Make it again

    pmo train marks RUN --images IMAGES --articles ARTICLES --annotations ANNOTATIONS{_initial(info)}
    pmo train export pmo_assets/weights --marks RUN/best.pt
"""


def marks_detector_card(info: Mapping[str, Any], size: int) -> str:
    """Return the card of the marks detector; see `detector_card`."""
    return f"""\
# Marks detector

Finds the boxes of marks that authors draw on images (arrows, arrowheads, circles and outlines, boxes, asterisks, lines)
where the PDF does not tell them (`pipeline/regions`); the [marks reader](marks_reader.md) says what they
show. It does not decide whether an image is marked: that is the mark classifier's.

* Architecture: `training/architectures/marks_detector.py`; input 416 pixels on the long side, a place every fourth
  pixel; ONNX opset 17, weights in half precision, {size / 1e6:.1f} MB.
* Trained from {_origin(info)} for {info["step"]} steps of 16 windows of pictures,
  drawn while training (`drawn_marks.py`).

## Accuracy

On pictures of the validation part, in the styles of training, as `pmo train marks-detector` prints it: average
precision at IoU 0.5 {info["validation"]["AP"]:.3f}. In other styles, and on clean pictures:
`python benchmarks/score_marks.py`, [measurements](../../docs/measurements.md#marks).

## Data

{POOL} {_annotated(info, "pictures")}

## Limits

Marks of less than 2 % of the picture's side, thin outlines that follow anatomy, and marks in the colour of their ground
are missed most often. Plots are not searched. Of two marks with one middle only one is found.

## Make it again

    pmo train marks-detector RUN --images IMAGES --articles ARTICLES --annotations ANNOTATIONS{_initial(info)}
    pmo train export pmo_assets/weights --marks-detector RUN/best.pt
    pmo train quantise pmo_assets/weights/marks_detector.onnx --images IMAGES --articles ARTICLES
    python benchmarks/score_marks.py --fit
"""


def marks_reader_card(info: Mapping[str, Any], size: int) -> str:
    """Return the card of the marks reader; see `detector_card`."""
    validation = info["validation"]
    return f"""\
# Marks reader

Says what a box that the [marks detector](marks_detector.md) finds shows: an arrow, an arrowhead, a circle or outline, a
box, an asterisk, a line, another mark, or none; and where an arrow or arrowhead points. That it shows none is learnt,
but not used: the detector's score decides. A circle with ink in the corners of its box counts as a box (`ink_shapes`);
kinds weigh as much as authors use them, because its examples show rare ones more often.

* Architecture: `training/architectures/marks_detector.py`; input 64 × 64 pixels, the box with what surrounds it;
  ONNX opset 17, weights in half precision, {size / 1e6:.1f} MB.
* Trained from {_origin(info)} for {info["step"]} steps of 8 pictures with up to 12 boxes each, drawn while training
  (`drawn_marks.py`): marks, what the detector finds, places at random.

## Accuracy

On boxes of pictures of the validation part, in the styles of training, as `pmo train marks-reader` prints it: the kind
is right of {validation["kinds"]:.3f} of the marks, {validation["none"]:.3f} of the boxes are known to show a mark or
none, and {validation["tips"]:.3f} of the tips lie within a tenth of the input's side. In other styles:
`python benchmarks/score_marks.py`, [measurements](../../docs/measurements.md#marks).

## Data

Those of the marks detector.

## Limits

Of arrows that are thicker at their tail than behind their head it often takes the tail for the tip; boxes are taken
for circles where the ink does not tell.

## Make it again

    pmo train marks-reader RUN --images IMAGES --articles ARTICLES --annotations ANNOTATIONS{_initial(info)} \\
        --detector pmo_assets/weights/marks_detector.onnx
    pmo train export pmo_assets/weights --marks-reader RUN/best.pt
    python benchmarks/score_marks.py --fit
"""
