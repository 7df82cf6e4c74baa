"""Labels of a figure's picture in BIOMEDICA (arXiv 2501.07171), another dataset of PMC's figures."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BiomedicaFigure:
    """A row of BIOMEDICA: a picture of an article with its caption and the labels of its cluster.

    Attributes:
        article_id: PMC number.
        row_id: file of the dataset and place in it; unique in the dataset.
        image_cluster_id: name of the picture's file without extension.
        caption: "" when the dataset has none.
        panel_type: "single" or "multiple"; "" when not stated.
        panel_subtype: e.g. "multiple panels: images & plots"; "" when not stated.
        primary_labels: coarse classes, e.g. "Clinical Imaging".
        secondary_labels: fine classes, e.g. "optical coherence tomography".
        image_hash: as stated: SHA-256 of a PNG that the makers of the dataset encoded; other encoders give other bytes.
        context: paragraphs of the article that mention the figure.
        license: of the article, as stated; None when not.
        perceptual_hash: of the picture, 64 bits as hexadecimal digits; None when the dataset's copy has no picture.
        aspect_ratio: width / height of the picture; None when not known.
    """

    article_id: int
    row_id: str
    image_cluster_id: str
    caption: str
    panel_type: str = ""
    panel_subtype: str = ""
    primary_labels: tuple[str, ...] = ()
    secondary_labels: tuple[str, ...] = ()
    image_hash: str | None = None
    context: tuple[str, ...] = ()
    license: str | None = None
    perceptual_hash: str | None = None
    aspect_ratio: float | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        """All labels, the fine ones first."""
        return (*self.secondary_labels, *self.primary_labels)


@dataclass(frozen=True, slots=True)
class MalformedRow:
    """A row of BIOMEDICA that cannot be used.

    Attributes:
        row_id: as in `BiomedicaFigure`.
        article_id: None when not even the article can be told.
        message: one sentence.
    """

    row_id: str
    article_id: int | None
    message: str
