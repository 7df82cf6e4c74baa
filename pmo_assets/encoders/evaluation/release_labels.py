"""Classes of a release's panels: what the release itself says of them.

These are the pipeline's findings, not people's: an encoder is measured against a machine's labels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pmo_assets.encoders.evaluation.embedding_files import EmbeddingTable
from pmo_assets.encoders.evaluation.embeddings import EmbeddingsError
from pmo_assets.encoders.evaluation.labels import LabelSet, label_set
from pmo_assets.loading.opening import load
from pmo_assets.loading.typed_rows import Panel, Split


@dataclass(frozen=True)
class LabelledPanels:
    """Embeddings of panels that have exactly one class.

    Attributes:
        table: of these panels.
        labels: (n,) number of each one's class.
        articles: (n,) article of each.
        left_out: what has no class, in words.
    """

    table: EmbeddingTable
    labels: NDArray[np.intp]
    articles: NDArray[np.intp]
    left_out: tuple[str, ...]


def image_type_of(panel: Panel) -> str | None:
    """Return the one type of a panel's images; None if there are several, or none that is decided."""
    kinds = {image.image_type for image in panel.images}
    kind = kinds.pop() if len(kinds) == 1 else None
    return None if kind is None else str(kind)


def modality_of(panel: Panel) -> str | None:
    """Return the modality of a panel; None if the release has none for it."""
    return getattr(panel, "modality", None)


def disease_of(panel: Panel) -> str | None:
    """Return the one disease group that a panel's diseases lie within; None if there is none, or more than one."""
    return label_set("disease").class_of_diseases(getattr(panel, "diseases", None) or ())


CLASS_OF_PANEL: Final[Mapping[str, Callable[[Panel], str | None]]] = {
    "image_type": image_type_of,
    "modality": modality_of,
    "disease": disease_of,
}
"""How a panel's class is found, by label set."""


def labelled_panels(table: EmbeddingTable, release: Path, name: str, split: Split) -> LabelledPanels:
    """Return the panels of a split that have one class of a label set.

    Args:
        table: embeddings whose ids are the `panel_id` of panels.
        release: data root or release.
        name: image_type, modality or disease.
        split: train, validation or test.

    Raises:
        EmbeddingsError: if there is no such label set for panels, or no such panel.
        ReleaseError: if there is no release.
    """
    if name not in CLASS_OF_PANEL:
        raise EmbeddingsError(f"a release says nothing of the label set {name!r}: {', '.join(CLASS_OF_PANEL)}")
    classes: LabelSet = label_set(name)
    numbers = {label: number for number, label in enumerate(classes.names)}
    rows = {panel_id: row for row, panel_id in enumerate(table.ids)}
    found, without = [], 0
    for panel in load(release, split=split).panels:
        row = rows.get(panel.panel_id)
        if row is None:
            continue
        label = CLASS_OF_PANEL[name](panel)
        if label in numbers:
            found.append((row, numbers[label], panel.article_id))
        else:
            without += 1
    if not found:
        raise EmbeddingsError(
            f"no panel of {table.embeddings.name} in split {split!r} of {release} has one class of {name!r}"
        )
    chosen, labels, articles = (np.array(column) for column in zip(*found, strict=True))
    left_out = (f"{without:,} panels of split {split} have no class, or several",) if without else ()
    return LabelledPanels(table.chosen(chosen.tolist()), labels, articles, left_out)
