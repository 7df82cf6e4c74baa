"""Open-PMC-18M's filters of figures (the paper's data curation): what they would keep, never a gate.

The paper keeps compound figures by BIOMEDICA's primary label: filter 1 clinical imaging, microscopy, immunoassays and
chemical structures; filter 2 clinical imaging and microscopy. Where BIOMEDICA labels a figure, its label counts; else
the class of modality that most of the figure has, by the area of its panels, which cannot tell immunoassays or
structures from other drawings. Filter 3, medical relevance of each picture, is the column `medical`. Add here: filters
by a figure's labels. Keep out: the panels' own modality (`modality`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from pmo_assets.records.context import FigureFilters, ModalityClass

CLINICAL: Final = frozenset({"clinical imaging", "clinical image", "microscopy"})
"""Primary labels that filter 2 keeps, in lower case: the paper's "Clinical Image", the dataset's "Clinical Imaging"."""

LABORATORY: Final = frozenset({"immuno assays", "immunoassays", "chemical structures", "chemical structure"})
"""Primary labels that filter 1 keeps besides."""


def figure_filters(labels: Sequence[str], panels: Sequence[tuple[ModalityClass, float]]) -> FigureFilters:
    """Return what the filters would keep of a figure.

    Args:
        labels: BIOMEDICA's primary labels of it; empty without.
        panels: class and area of each of its panels.
    """
    given = {label.strip().casefold() for label in labels if label.strip()}
    if given:
        is_clinical = bool(given & CLINICAL)
        return FigureFilters(is_clinical or bool(given & LABORATORY), is_clinical)
    areas: dict[ModalityClass, float] = defaultdict(float)
    for modality_class, size in panels:
        if modality_class != "ambiguous":
            areas[modality_class] += size
    if not areas:
        return FigureFilters(None, None)
    imaging = sum(size for name, size in areas.items() if name != "N")
    is_clinical = imaging > areas["N"]
    return FigureFilters(is_clinical, is_clinical)
