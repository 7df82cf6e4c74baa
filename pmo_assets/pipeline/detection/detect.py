"""Detection in figures: runs the detectors, applies the paper's thresholds, calibrates scores, adds image type
and mark status."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.detection.calibration import probability
from pmo_assets.pipeline.detection.fusion.grid_types import types_in_grids
from pmo_assets.pipeline.detection.fusion.same_pictures import types_of_same_pictures
from pmo_assets.pipeline.detection.image_types.decision import LEAST_PIXELS, classify_image_type
from pmo_assets.pipeline.detection.image_types.heat_overlays import (
    detail_under,
    is_colour_under,
    is_heat_map,
    shares_under,
)
from pmo_assets.pipeline.detection.networks.type_input import reduced_picture
from pmo_assets.pipeline.detection.protocols import (
    ImageDetector,
    MarkClassifier,
    PanelDetector,
    TypeNetwork,
    VectorEvidence,
)
from pmo_assets.pipeline.detection.structure.images import StructureImageDetector
from pmo_assets.pipeline.detection.structure.marks import StructureMarkClassifier
from pmo_assets.pipeline.detection.structure.panels import UNSEPARATED, StructurePanelDetector
from pmo_assets.pipeline.detection.structure.vector_marks import vector_evidence
from pmo_assets.records.defaults import NMS_IOU, SCORE_THRESHOLD
from pmo_assets.records.detections import FigureView, ImageDetection, PanelDetection
from pmo_assets.records.geometry import (
    UNIT_BOX,
    Box,
    clip,
    covered_fraction,
    height,
    non_maximum_suppression,
    reading_order,
    width,
)


def detect_panels(
    view: FigureView,
    detector: PanelDetector | None = None,
    *,
    score_threshold: float = SCORE_THRESHOLD,
) -> tuple[PanelDetection, ...]:
    """Return panels (reading order), then identifiers, of one figure; see `panels_of_figures`."""
    return panels_of_figures([view], detector, score_threshold=score_threshold)[0]


def panels_of_figures(
    views: Sequence[FigureView],
    detector: PanelDetector | None = None,
    *,
    score_threshold: float = SCORE_THRESHOLD,
) -> list[tuple[PanelDetection, ...]]:
    """Return panels (reading order), then identifiers, per figure.

    Args:
        views: the figures; empty pixels give no detections.
        detector: sees all figures at once; None for the structural detector.
        score_threshold: weaker detections are dropped.
    """
    visible = [k for k, view in enumerate(views) if view.pixels.ndim == 3 and view.pixels.size]
    found = (detector or StructurePanelDetector())([views[k] for k in visible]) if visible else []
    result: list[tuple[PanelDetection, ...]] = [()] * len(views)
    for k, panels in zip(visible, found, strict=True):
        chosen = _chosen_panels(panels, score_threshold)
        live = views[k].is_live
        result[k] = tuple(replace(p, probability=probability(p.kind, p.source, p.score, live)) for p in chosen)
    return result


def _chosen_panels(found: Sequence[PanelDetection], score_threshold: float) -> tuple[PanelDetection, ...]:
    result: list[PanelDetection] = []
    for kind in ("panel", "identifier"):
        group = [replace(p, box=clip(p.box, UNIT_BOX)) for p in found if p.kind == kind and p.score >= score_threshold]
        group = [p for p in group if width(p.box) > 0 and height(p.box) > 0]
        kept = non_maximum_suppression([p.box for p in group], [p.score for p in group], NMS_IOU)
        if kind == "panel" and not kept and score_threshold <= UNSEPARATED:
            # A figure whose panels cannot be told apart is not lost: it counts as one.
            result.append(PanelDetection("panel", UNIT_BOX, UNSEPARATED, "figure"))
        shown = [group[i] for i in kept]
        result += [shown[i] for i in reading_order([item.box for item in shown])]
    return tuple(result)


def detect_images(
    view: FigureView,
    panels: tuple[PanelDetection, ...],
    detector: ImageDetector | None = None,
    mark_classifier: MarkClassifier | None = None,
    type_network: TypeNetwork | None = None,
    *,
    words_of_panel: Mapping[int, str] | None = None,
    score_threshold: float = SCORE_THRESHOLD,
) -> tuple[ImageDetection, ...]:
    """Return the images of one figure with type and mark status; see `images_of_figures`."""
    return images_of_figures(
        [view], [panels], detector, mark_classifier, type_network, words_of_panels=[words_of_panel or {}],
        score_threshold=score_threshold,
    )[0]  # fmt: skip


def images_of_figures(
    views: Sequence[FigureView],
    panels: Sequence[tuple[PanelDetection, ...]],
    detector: ImageDetector | None = None,
    mark_classifier: MarkClassifier | None = None,
    type_network: TypeNetwork | None = None,
    *,
    words_of_panels: Sequence[Mapping[int, str]] | None = None,
    labels_of_figures: Sequence[Sequence[str]] | None = None,
    elsewhere: bool = False,
    score_threshold: float = SCORE_THRESHOLD,
) -> list[tuple[ImageDetection, ...]]:
    """Return the images with type and mark status per figure.

    Args:
        views: the figures; empty pixels give no detections.
        panels: per figure the result of `panels_of_figures`.
        detector: sees all figures at once; None for the structural detector.
        mark_classifier: sees the images of all figures at once; None for the structural classifier.
        type_network: sees the images of all figures at once; None leaves the type to measures and words.
        words_of_panels: per figure the caption's words about the i-th panel (identifiers not counted), where known.
        labels_of_figures: per figure the labels that another dataset gives it, where known.
        elsewhere: the article's captions are of another field than the eye (`are_of_another_field`).
        score_threshold: weaker detections are dropped.
    """
    visible = [k for k, view in enumerate(views) if view.pixels.ndim == 3 and view.pixels.size]
    seen = [views[k] for k in visible]
    found = (detector or StructureImageDetector())(seen, [list(panels[k]) for k in visible]) if visible else []
    images: list[ImageDetection] = []
    crops: list[NDArray[np.uint8]] = []
    words: list[str] = []
    drawn: list[VectorEvidence] = []
    labels: list[Sequence[str]] = []
    figures: list[int] = []
    counts = [0] * len(views)
    for k, detections in zip(visible, found, strict=True):
        live = views[k].is_live
        chosen = [
            replace(image, probability=probability("image", image.source, image.score, live))
            for image in _chosen_images(detections, score_threshold)
        ]
        counts[k] = len(chosen)
        images += chosen
        crops += [crop(views[k].pixels, image.box) for image in chosen]
        said = words_of_panels[k] if words_of_panels else {}
        words += [words_of_image(image.box, panels[k], said) for image in chosen]
        drawn += [vector_evidence(views[k], image.box) for image in chosen]
        labels += [labels_of_figures[k] if labels_of_figures else ()] * len(chosen)
        figures += [k] * len(chosen)
    marks = (mark_classifier or StructureMarkClassifier())(crops, words, drawn, figures) if images else []
    looked_at = [reduced_picture(picture) for picture in crops]
    shares = _modality_shares(images, looked_at, type_network)
    as_shown = list(looked_at)
    under = _pictures_under_maps(looked_at, shares, type_network)
    shown = [replace(image, seen_types={}) if k in under else image for k, image in enumerate(images)]
    for k, (detail, own_shares) in under.items():
        looked_at[k], shares[k] = detail, own_shares
    finished = iter(
        replace(_typed(image, picture, text, said_of_figure, own, elsewhere), marked=marked, mark_score=score)
        for image, picture, text, said_of_figure, own, (marked, score) in zip(
            shown, looked_at, words, labels, shares, marks, strict=True
        )
    )
    found_types = [list(islice(finished, count)) for count in counts]
    seen_crops, shown_crops = iter(looked_at), iter(as_shown)
    in_grids = [types_in_grids(own, list(islice(seen_crops, len(own)))) for own in found_types]
    return [tuple(types_of_same_pictures(own, list(islice(shown_crops, len(own))))) for own in in_grids]


def _chosen_images(found: Sequence[ImageDetection], score_threshold: float) -> list[ImageDetection]:
    strong = [replace(i, box=clip(i.box, UNIT_BOX)) for i in found if i.score >= score_threshold]
    strong = [i for i in strong if width(i.box) > 0 and height(i.box) > 0]
    kept = sorted(non_maximum_suppression([i.box for i in strong], [i.score for i in strong], NMS_IOU))
    return [strong[i] for i in kept]


def _modality_shares(
    images: Sequence[ImageDetection], crops: Sequence[NDArray[np.uint8]], network: TypeNetwork | None
) -> list[NDArray[np.float32] | None]:
    """Return the network's shares of modalities for each image whose type is to be decided; None for the others."""
    shares: list[NDArray[np.float32] | None] = [None] * len(images)
    if network is None:
        return shares
    asked = [k for k, i in enumerate(images) if not i.type_scores and min(crops[k].shape[:2]) >= LEAST_PIXELS]
    for k, own in zip(asked, network([crops[k] for k in asked]), strict=True):
        shares[k] = own
    return shares


def _pictures_under_maps(
    crops: Sequence[NDArray[np.uint8]],
    shares: Sequence[NDArray[np.float32] | None],
    network: TypeNetwork | None,
) -> dict[int, tuple[NDArray[np.uint8], NDArray[np.float32]]]:
    """Return, by image that a heat map lies over, the picture's detail and its shares of modalities."""
    if network is None:
        return {}
    maps = [k for k, own in enumerate(shares) if own is not None and is_heat_map(crops[k])]
    details = [detail_under(crops[k]) for k in maps]
    found: dict[int, tuple[NDArray[np.uint8], NDArray[np.float32]]] = {}
    for k, detail, said in zip(maps, details, network(details) if details else (), strict=True):
        own = shares_under(said, colour=is_colour_under(crops[k]))
        if own is not None:
            found[k] = detail, own
    return found


def _typed(
    image: ImageDetection,
    picture: NDArray[np.uint8],
    words: str,
    labels: Sequence[str],
    modality_shares: NDArray[np.float32] | None,
    elsewhere: bool,
) -> ImageDetection:
    """Return an image with its type, which a detector may have decided already."""
    if image.type_scores:
        return image
    decision = classify_image_type(picture, words, image.seen_types, labels, modality_shares, elsewhere=elsewhere)
    return replace(
        image,
        image_type=decision.image_type,
        type_score=decision.score,
        type_scores=decision.scores,
        type_reason=decision.reason,
        modality=decision.modality,
        modality_score=decision.modality_score,
    )


def words_of_image(box: Box, panels: tuple[PanelDetection, ...], words: Mapping[int, str]) -> str:
    """Return the caption's words about the panel that covers most of an image; "" when unknown."""
    boxes = [p.box for p in panels if p.kind == "panel"]
    best = max(range(len(boxes)), key=lambda i: covered_fraction(box, boxes[i]), default=None)
    return words.get(best, "") if best is not None and covered_fraction(box, boxes[best]) > 0 else ""


def crop(pixels: NDArray[np.uint8], box: Box) -> NDArray[np.uint8]:
    """Return the pixels in a normalised box, at least one pixel: crops on which image types and marks were fitted.

    Unlike `crop_box`, which cuts what is published, the left and upper edges take in the pixel that they lie in.
    """
    tall, wide = pixels.shape[:2]
    left, top = min(int(box[0] * wide), wide - 1), min(int(box[1] * tall), tall - 1)
    right, bottom = max(left + 1, round(box[2] * wide)), max(top + 1, round(box[3] * tall))
    return pixels[top:bottom, left:right]
