"""Which detectors work together: structure alone, the networks alone, or both (the default of the package)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from pmo_assets.pipeline.detection.ensemble import EnsembleImageDetector, EnsemblePanelDetector
from pmo_assets.pipeline.detection.images import StructureImageDetector
from pmo_assets.pipeline.detection.marks import StructureMarkClassifier
from pmo_assets.pipeline.detection.onnx_detectors import (
    FigureNetwork,
    OnnxImageDetector,
    OnnxMarkClassifier,
    OnnxPanelDetector,
    Provider,
)
from pmo_assets.pipeline.detection.panels import StructurePanelDetector
from pmo_assets.pipeline.detection.protocols import ImageDetector, MarkClassifier, PanelDetector

DetectorSource = Literal["structure", "network", "both"]


@dataclass(frozen=True, slots=True)
class DetectorSet:
    """One detector of each kind."""

    panels: PanelDetector
    images: ImageDetector
    marks: MarkClassifier


@lru_cache(maxsize=8)
def detector_set(
    source: DetectorSource = "both",
    provider: Provider = "cpu",
    detector_file: Path | None = None,
    marks_file: Path | None = None,
) -> DetectorSet:
    """Return the detectors of a source, made once per process; networks are loaded at their first use.

    Args:
        source: "structure" needs no weights.
        provider: where the networks run.
        detector_file: weights of the figure network; None for those of the package.
        marks_file: weights of the mark classifier; None for those of the package.
    """
    if source == "structure":
        return DetectorSet(StructurePanelDetector(), StructureImageDetector(), StructureMarkClassifier())
    network = FigureNetwork(detector_file, provider)
    marks = OnnxMarkClassifier(marks_file, provider)
    if source == "network":
        return DetectorSet(OnnxPanelDetector(network), OnnxImageDetector(network), marks)
    return DetectorSet(EnsemblePanelDetector(network), EnsembleImageDetector(network), marks)
