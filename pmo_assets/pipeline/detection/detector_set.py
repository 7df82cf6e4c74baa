"""Sets of detectors that work together: structure alone, the networks alone, or both (the default of the package)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Protocol

from pmo_assets.pipeline.detection.fusion.image_fusion import EnsembleImageDetector
from pmo_assets.pipeline.detection.fusion.mark_fusion import FusedMarkClassifier
from pmo_assets.pipeline.detection.fusion.panel_fusion import EnsemblePanelDetector
from pmo_assets.pipeline.detection.networks.memory_batches import Provider
from pmo_assets.pipeline.detection.networks.onnx_detectors import (
    FigureNetwork,
    OnnxImageDetector,
    OnnxPanelDetector,
)
from pmo_assets.pipeline.detection.networks.onnx_marks import OnnxMarkNetwork
from pmo_assets.pipeline.detection.networks.retinanet_detectors import (
    IMAGE_CLASSES,
    PANEL_CLASSES,
    CheckpointNetwork,
    RetinaNetBoxes,
    RetinaNetImageDetector,
    RetinaNetPanelDetector,
    Runtime,
)
from pmo_assets.pipeline.detection.networks.type_network import OnnxTypeNetwork
from pmo_assets.pipeline.detection.protocols import (
    WITHOUT_NETWORKS,
    DetectorSource,
    ImageDetector,
    MarkClassifier,
    PanelDetector,
    TypeNetwork,
)
from pmo_assets.pipeline.detection.structure.images import StructureImageDetector
from pmo_assets.pipeline.detection.structure.marks import StructureMarkClassifier
from pmo_assets.pipeline.detection.structure.panels import StructurePanelDetector


class Network(Protocol):
    """A network that is loaded at its first use, or before it by `load`."""

    def load(self) -> object:
        """Load it.

        Raises:
            SystemicError: when that cannot be done.
        """
        ...


@dataclass(frozen=True, slots=True)
class DetectorSet:
    """One detector of each kind.

    Attributes:
        panels: finds panels and identifiers.
        images: finds images and their type.
        marks: tells marked images from unmarked ones.
        panel_networks: networks that `panels` works with.
        types: says what images were made with; None leaves their type to measures and words.
        image_networks: networks that `images`, `marks` and `types` work with.
    """

    panels: PanelDetector
    images: ImageDetector
    marks: MarkClassifier
    types: TypeNetwork | None = None
    panel_networks: tuple[Network, ...] = ()
    image_networks: tuple[Network, ...] = ()


@lru_cache(maxsize=8)
def detector_set(
    source: DetectorSource = "both",
    provider: Provider = "cpu",
    detector_file: Path | None = None,
    marks_file: Path | None = None,
    types_file: Path | None = None,
    *,
    panel_checkpoint: Path | None = None,
    image_checkpoint: Path | None = None,
    runtime: Runtime = "torch",
) -> DetectorSet:
    """Return the detectors of a source, made once per process; networks are loaded at their first use.

    Args:
        source: "structure" needs no weights and does not look at the other arguments.
        provider: device that the networks run on.
        detector_file: weights of the figure network; None for those of the package.
        marks_file: weights of the mark classifier; None for those of the package.
        types_file: weights of the image type network; None for those of the package.
        panel_checkpoint: a RetinaNet that takes the figure network's place for panels and identifiers.
        image_checkpoint: a RetinaNet that takes its place for images; alone it decides their types, too.
        runtime: implementation that runs the checkpoints.
    """
    if source in WITHOUT_NETWORKS:
        return DetectorSet(StructurePanelDetector(), StructureImageDetector(), StructureMarkClassifier())
    figures, marks = FigureNetwork(detector_file, provider), OnnxMarkNetwork(marks_file, provider)
    types = OnnxTypeNetwork(types_file, provider)
    panel_network = panel_checkpoint and CheckpointNetwork(panel_checkpoint, len(PANEL_CLASSES), provider, runtime)
    image_network = image_checkpoint and CheckpointNetwork(image_checkpoint, len(IMAGE_CLASSES), provider, runtime)
    networks: dict[str, tuple[Network, ...]] = {
        "panel_networks": (panel_network or figures,),
        "image_networks": (image_network or figures, marks, types),
    }
    if source == "network":
        return DetectorSet(
            RetinaNetPanelDetector(panel_network) if panel_network else OnnxPanelDetector(figures),
            RetinaNetImageDetector(image_network) if image_network else OnnxImageDetector(figures),
            FusedMarkClassifier(marks),
            types,
            **networks,
        )
    return DetectorSet(
        EnsemblePanelDetector(RetinaNetBoxes(panel_network, panel_network.classes) if panel_network else figures),
        EnsembleImageDetector(RetinaNetBoxes(image_network, image_network.classes) if image_network else figures),
        FusedMarkClassifier(marks),
        types,
        **networks,
    )
